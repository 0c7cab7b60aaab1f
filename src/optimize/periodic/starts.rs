//! Starts of passes at an interval, in whole parts of a tick.

use num_rational::Ratio;

/// A start of every pass at an interval.
#[derive(Clone)]
pub(super) struct Starts {
    pub interval: Ratio<i64>,
    /// By pass, in as many parts of a tick as the denominator of the interval says.
    pub of: Vec<i64>,
}

impl Starts {
    /// The most parts in an interval and in all passes one after another. Between two looks at the
    /// starts each pass raises others a few times, by at most a few thousand intervals.
    pub const MOST_PARTS: i64 = 1 << 40;

    /// The most parts of a start.
    pub const MOST: i64 = 1 << 61;

    /// All at 0.
    pub fn new(passes: usize) -> Self {
        Self { interval: Ratio::from_integer(0), of: vec![0; passes] }
    }

    /// Goes on with about the same starts at another interval.
    pub fn set_interval(&mut self, interval: Ratio<i64>) {
        let (parts, before) = (*interval.denom(), *self.interval.denom());
        if parts != before {
            for start in &mut self.of {
                *start = scaled(*start, parts, before);
            }
        }
        self.interval = interval;
    }

    pub fn copy_from(&mut self, other: &Self) {
        self.interval = other.interval;
        self.of.copy_from_slice(&other.of);
    }

    /// Lets the first pass start at 0.
    pub fn begin_at_zero(&mut self) {
        let first = self.of.iter().copied().min().unwrap_or_default();
        self.of.iter_mut().for_each(|start| *start -= first);
    }

    /// Whether a start is too large to go on.
    pub fn are_too_large(&self) -> bool {
        self.of.iter().any(|start| start.abs() > Self::MOST)
    }
}

/// `value * numer / denom`, about; 0 for what is too large.
fn scaled(value: i64, numer: i64, denom: i64) -> i64 {
    let exact = i128::from(value) * i128::from(numer) / i128::from(denom);
    i64::try_from(exact).ok().filter(|start| start.abs() <= Starts::MOST).unwrap_or_default()
}
