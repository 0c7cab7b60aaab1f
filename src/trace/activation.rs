//! What passes acquire and release, from samples of what is live.

use std::collections::BTreeMap;

use super::{Sample, Span};
use crate::model::{Pass, Ticks, Units};

/// By pass of a device: what is live after it less what was before.
///
/// A change belongs to the pass that runs when it happens, or else to the last one before. At an instant at
/// which one pass ends and the next starts, a release is the first one's and an acquisition the second's, as
/// in replay. What is live when the first pass starts belongs to none.
pub(super) fn changes(spans: &[Span], samples: &[Sample]) -> BTreeMap<Pass, Units> {
    let mut changes: BTreeMap<Pass, Units> = spans.iter().map(|span| (span.pass, Units::ZERO)).collect();
    let mut live = Units::ZERO;
    for (position, sample) in samples.iter().enumerate() {
        // What is there from the beginning is nobody's.
        if position == 0 && sample.at == Ticks::ZERO {
            live = sample.live;
            continue;
        }
        let change = sample.live - live;
        live = sample.live;
        let started = spans.partition_point(|span| {
            if change < Units::ZERO { span.start < sample.at } else { span.start <= sample.at }
        });
        if let Some(span) = started.checked_sub(1).map(|at| spans[at]) {
            *changes.entry(span.pass).or_default() += change;
        }
    }
    changes
}

/// What is live at an instant, before anything changes at it, and after.
pub(super) fn around(samples: &[Sample], at: Ticks) -> (Units, Units) {
    let before = samples.partition_point(|sample| sample.at < at);
    let after = samples.partition_point(|sample| sample.at <= at);
    let live = |count: usize| count.checked_sub(1).map_or(Units::ZERO, |last| samples[last].live);
    (live(before), live(after))
}

/// The most that is live from one instant to another, both included.
pub(super) fn most(samples: &[Sample], from: Ticks, to: Ticks) -> Units {
    let begins = samples.partition_point(|sample| sample.at < from);
    let ends = samples.partition_point(|sample| sample.at <= to);
    let within = samples[begins..ends].iter().map(|sample| sample.live).max();
    within.unwrap_or_default().max(around(samples, from).0)
}
