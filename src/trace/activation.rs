//! What passes acquire and release, from samples of what is live.

use std::collections::BTreeMap;

use super::{Sample, Span};
use crate::model::{Pass, Ticks, Units};

/// What is live around a pass, less what was live before it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Change {
    /// After it.
    pub after: Units,
    /// At most, while it runs or until the next one starts.
    pub most: Units,
}

impl Change {
    /// What the pass needs besides what it starts with and what it leaves.
    pub fn workspace(self) -> Units {
        self.most - self.after.max(Units::ZERO)
    }
}

/// By pass of a device: what is live after it, and at most, less what was before.
///
/// A change belongs to the pass that runs when it happens, or else to the last one before. At an instant at
/// which one pass ends and the next starts, a release is the first one's and an acquisition the second's, as
/// in replay. What is live when the first pass starts belongs to none.
pub(super) fn changes(spans: &[Span], samples: &[Sample]) -> BTreeMap<Pass, Change> {
    let mut changes: BTreeMap<Pass, Change> =
        spans.iter().map(|span| (span.pass, Change::default())).collect();
    // What is there from the beginning is nobody's.
    let mut live = before(samples);
    for sample in samples {
        let change = sample.live - live;
        live = sample.live;
        let started = spans.partition_point(|span| {
            if change < Units::ZERO { span.start < sample.at } else { span.start <= sample.at }
        });
        if let Some(span) = started.checked_sub(1).map(|at| spans[at]) {
            let of = changes.entry(span.pass).or_default();
            of.after += change;
            of.most = of.most.max(of.after);
        }
    }
    changes
}

/// What is live before the first pass: a sample at time 0 that is the first says so.
pub(super) fn before(samples: &[Sample]) -> Units {
    samples.first().filter(|first| first.at == Ticks::ZERO).map_or(Units::ZERO, |first| first.live)
}

/// The most that is live while a pass runs, and what is left right after it, by the same rule, beside what was
/// there before the first pass.
pub(super) fn around(samples: &[Sample], span: Span) -> (Units, Units) {
    let there = before(samples);
    let before = samples.partition_point(|sample| sample.at < span.start);
    let carried = before.checked_sub(1).map_or(Units::ZERO, |last| samples[last].live);
    let within = samples[before..].iter();
    let within = within.take_while(|sample| sample.at < span.end || sample.at == span.start);
    // What is released right at the start was another pass's.
    let at_start = samples.get(before).is_some_and(|sample| sample.at == span.start);
    let most = within.clone().map(|sample| sample.live).max();
    let during = if at_start { most.unwrap_or(carried) } else { most.unwrap_or(carried).max(carried) };
    let last = within.last().map_or(carried, |sample| sample.live);
    let at_end = samples[before..].iter().filter(|sample| sample.at == span.end && span.end > span.start);
    let after = at_end.map(|sample| sample.live).min().unwrap_or(last).min(last);
    // Before the first sample nothing is known to be live.
    ((during - there).max(Units::ZERO), (after - there).max(Units::ZERO))
}
