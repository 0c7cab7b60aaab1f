//! Where the least interval is a proper fraction, and what a whole number of ticks loses.

use bubbleproof::block::Passes;
use bubbleproof::optimize::{Stop, zone};
use num_rational::Ratio;

use crate::published::{Times, all_times, capped, v};

/// What was found over all durations from 1 to 6 and all caps from 2 to 2d chunk activations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rounding {
    /// How many problems there are.
    pub problems: usize,
    /// How many of them have a proper fraction as their least interval.
    pub fractions: usize,
    /// The largest rounded interval over the least one, and the first problem where it is: durations, cap.
    pub worst: (Ratio<i64>, Times, i64),
    /// The largest denominator.
    pub denominator: i64,
}

pub fn rounding(devices: u32) -> Rounding {
    let mut found =
        Rounding { problems: 0, fractions: 0, worst: (Ratio::from_integer(1), [0; 3], 0), denominator: 1 };
    for times in all_times() {
        for cap in 2..=2 * i64::from(devices) {
            let model = capped(&v(devices, times), cap);
            let best = zone::least_interval(&model, Passes::SPLIT, &Stop::default()).expect("a block");
            found.problems += 1;
            if best.interval.is_integer() {
                // The offsets are whole ticks as well: halves or thirds of a tick gain nothing.
                assert_eq!(best.block.parts(), 1);
                continue;
            }
            found.fractions += 1;
            found.denominator = found.denominator.max(*best.interval.denom());
            let loss = best.interval.ceil() / best.interval;
            if loss > found.worst.0 {
                found.worst = (loss, times, cap);
            }
        }
    }
    found
}
