//! A figure before and after, and how much it grew or shrank.

use super::threshold::Metric;
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
}

impl Figures {
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
