//! By how much a metric may be worse than its record.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use num_rational::Ratio;

use crate::replay::Rate;

/// What is compared with a record by its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Metric {
    /// The time per microbatch.
    Interval,
    /// The makespan.
    Makespan,
    /// The device span.
    DeviceSpan,
    /// The bubble rate; a percentage is one of points.
    BubbleRate,
    /// The peak memory of every device.
    PeakMemory,
    /// The lifespan of every stage.
    Lifespan,
    /// The lower bound, which is worse when it is smaller.
    LowerBound,
    /// The share by which the makespan is above its bound; a percentage is one of points.
    Gap,
}

impl Metric {
    /// All metrics, by name.
    pub const ALL: [(Self, &'static str); 8] = [
        (Self::Interval, "interval"),
        (Self::Makespan, "makespan"),
        (Self::DeviceSpan, "device_span"),
        (Self::BubbleRate, "bubble_rate"),
        (Self::PeakMemory, "peak_memory"),
        (Self::Lifespan, "lifespan"),
        (Self::LowerBound, "lower_bound"),
        (Self::Gap, "gap"),
    ];

    /// Its name in manifests.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.into_iter().find(|(metric, _)| *metric == self).map_or("", |(_, name)| name)
    }

    /// Whether it is a share, which is compared by points.
    #[must_use]
    pub const fn is_share(self) -> bool {
        matches!(self, Self::BubbleRate | Self::Gap)
    }
}

/// By how much a figure may be worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allowance {
    /// By this many ticks or units.
    Amount(i64),
    /// By this share of the recorded figure; a recorded share, by this many points.
    Share(Ratio<i64>),
    /// By anything.
    Any,
}

impl FromStr for Allowance {
    type Err = ();

    /// `any`, or a percentage such as `1%` and `0.5%`.
    fn from_str(text: &str) -> Result<Self, ()> {
        if text == "any" {
            return Ok(Self::Any);
        }
        let percent = text.strip_suffix('%').ok_or(())?;
        let (whole, parts) = percent.split_once('.').unwrap_or((percent, ""));
        let digits = |text: &str| text.len() <= 6 && text.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || !digits(whole) || !digits(parts) || percent.ends_with('.') {
            return Err(());
        }
        let number: i64 = format!("{whole}{parts}").parse().map_err(|_| ())?;
        let scale = 10_i64.pow(u32::try_from(parts.len()).map_err(|_| ())?);
        Ok(Self::Share(Ratio::new(number, 100 * scale)))
    }
}

impl fmt::Display for Allowance {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Amount(amount) => amount.fmt(out),
            Self::Share(share) => write!(out, "{} %", share * 100),
            Self::Any => out.write_str("any"),
        }
    }
}

/// By how much the figures of a design may be worse.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Allowances(BTreeMap<Metric, Allowance>);

impl Allowances {
    /// Sets what is allowed of a metric.
    pub fn set(&mut self, metric: Metric, allowance: Allowance) {
        self.0.insert(metric, allowance);
    }

    /// These, and those of others for metrics that these do not have.
    #[must_use]
    pub fn or(mut self, others: &Self) -> Self {
        for (&metric, &allowance) in &others.0 {
            self.0.entry(metric).or_insert(allowance);
        }
        self
    }

    /// How much worse a metric may be.
    ///
    /// Without a threshold of its own, the device span may be worse by what the makespan may, and the bubble rate by as
    /// many points as that is a share (by anything, if that is in ticks); lifespans and the gap by anything, because
    /// their cost shows in the memory and in the makespan; everything else by nothing.
    #[must_use]
    pub fn of(&self, metric: Metric) -> Allowance {
        let said = self.0.get(&metric).copied();
        said.unwrap_or_else(|| match metric {
            Metric::DeviceSpan => self.of(Metric::Makespan),
            Metric::BubbleRate => match self.of(Metric::DeviceSpan) {
                // Ticks are no points; the device span, from which the rate follows, is judged itself.
                Allowance::Amount(1..) => Allowance::Any,
                allowance => allowance,
            },
            Metric::Lifespan | Metric::Gap => Allowance::Any,
            _ => Allowance::Amount(0),
        })
    }

    /// Whether a figure is within what is allowed of its record. Smaller figures are better, but for the
    /// lower bound.
    #[must_use]
    pub fn permit(&self, metric: Metric, recorded: Rate, found: Rate) -> bool {
        let worse = if metric == Metric::LowerBound { recorded - found } else { found - recorded };
        let zero = Rate::from_integer(0);
        let share = |share: Ratio<i64>| Rate::new(i128::from(*share.numer()), i128::from(*share.denom()));
        worse <= zero
            || match self.of(metric) {
                Allowance::Any => true,
                Allowance::Amount(amount) => worse <= Rate::from_integer(amount.into()),
                Allowance::Share(points) if metric.is_share() => worse <= share(points),
                Allowance::Share(part) => worse <= recorded * share(part),
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_are_kept_up_to_the_last_tick() {
        let rate = |numerator: i128| Rate::new(numerator, 100);
        for (metric, allowed, recorded, kept, exceeded) in [
            (Metric::Makespan, "1%", rate(10_000), rate(10_100), rate(10_101)),
            (Metric::Makespan, "0.5%", rate(20_000), rate(20_100), rate(20_101)),
            (Metric::BubbleRate, "1%", rate(25), rate(26), rate(27)),
            (Metric::LowerBound, "1%", rate(10_000), rate(9_900), rate(9_899)),
            (Metric::PeakMemory, "0%", rate(600), rate(600), rate(601)),
        ] {
            let mut allowances = Allowances::default();
            allowances.set(metric, allowed.parse().expect("a percentage"));
            assert!(allowances.permit(metric, recorded, kept), "{allowed}");
            assert!(!allowances.permit(metric, recorded, exceeded), "{allowed}");
        }
    }

    #[test]
    fn what_is_said_of_the_makespan_goes_for_what_follows_from_it() {
        let mut allowances = Allowances::default();
        assert_eq!(allowances.of(Metric::BubbleRate), Allowance::Amount(0));
        assert_eq!(allowances.of(Metric::Lifespan), Allowance::Any);
        allowances.set(Metric::Makespan, Allowance::Share(Ratio::new(1, 100)));
        assert_eq!(allowances.of(Metric::DeviceSpan), Allowance::Share(Ratio::new(1, 100)));
        assert_eq!(allowances.of(Metric::BubbleRate), Allowance::Share(Ratio::new(1, 100)));
        allowances.set(Metric::BubbleRate, Allowance::Any);
        assert_eq!(allowances.of(Metric::BubbleRate), Allowance::Any);
        assert_eq!(allowances.of(Metric::PeakMemory), Allowance::Amount(0));
    }

    #[test]
    fn what_is_no_percentage_is_refused() {
        for text in ["", "%", "1", "1.%", ".5%", "-1%", "1 %", "1%%", "1,5%", "9999999%", "anything"] {
            assert_eq!(text.parse::<Allowance>(), Err(()), "{text}");
        }
    }
}
