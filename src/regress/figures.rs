//! A figure before and after, and how much it grew or shrank.

use super::threshold::{Allowance, Metric};
use crate::replay::Rate;

/// A figure that is not as it was recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Figures {
    /// What it measures, and with that its unit: ticks, units of memory, or a share.
    pub metric: Metric,
    /// Of peak memory, the device; of lifespans, the chunk on the device.
    pub position: Option<usize>,
    /// What was recorded.
    pub before: Rate,
    /// What was found.
    pub after: Rate,
    /// How many other devices or chunks changed the same way.
    pub others: usize,
    /// What is allowed, where it became worse by no more than that.
    pub allowed: Option<Allowance>,
}

impl Figures {
    /// All of it in a sentence, where amounts are written by a function.
    #[must_use]
    pub fn in_words(&self, amount: impl Fn(Rate) -> String) -> String {
        let one = if self.metric == Metric::PeakMemory { "device" } else { "chunk" };
        let on = self.position.map_or_else(String::new, |position| format!(" on {one} {position}"));
        let allowed = self.allowed.map_or_else(String::new, |allowed| format!(", allowed: {allowed}"));
        let others = match self.others {
            0 => String::new(),
            1 => format!("; 1 more {one} changed the same way"),
            others => format!("; {others} more {one}s changed the same way"),
        };
        let [after, before] = [self.after, self.before].map(amount);
        format!("{after}{on}, was {before} ({}{allowed}){others}", self.difference())
    }

    /// How much it grew or shrank, for people: in percent, of shares in points.
    #[must_use]
    pub fn difference(&self) -> String {
        // The numbers of larger fractions could not be multiplied any more.
        const MOST: i128 = 1 << 32;
        let Self { metric, before: old, after: new, .. } = *self;
        let small = |rate: &Rate| rate.numer().abs() < MOST && *rate.denom() < MOST;
        let whole = |rate: &Rate| rate.is_integer();
        if ![old, new].iter().all(small) && ![old, new].iter().all(whole) {
            return if new > old { "larger".to_owned() } else { "smaller".to_owned() };
        }
        let (delta, zero) = (new - old, Rate::from_integer(0));
        if metric.is_share() {
            return format!("{} points", signed(delta * Rate::from_integer(100)));
        }
        if old == zero {
            signed(delta)
        } else {
            format!("{} %", signed(delta * Rate::from_integer(100) / old))
        }
    }
}

/// A number with its sign and two decimals, rounded half away from zero.
fn signed(value: Rate) -> String {
    let zero = Rate::from_integer(0);
    let sign = if value < zero { '-' } else { '+' };
    let size = if value < zero { -value } else { value };
    let hundredths = (size * Rate::from_integer(100) + Rate::new(1, 2)).floor().to_integer();
    format!("{sign}{}.{:02}", hundredths / 100, hundredths % 100)
}
