//! Whether passes ran as the schedule declares: all of them, once, in order, one at a time, and none before
//! what it needs.

use std::collections::BTreeMap;

use super::{Iteration, Span, Trace};
use crate::model::{Device, Pass, Ticks};
use crate::rise::longest_rise;
use crate::schedule::{Schedule, prerequisites};

/// Something that ran otherwise than declared. Its text says what, where, and by how much.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Finding {
    /// A pass that ran after one which the order puts behind it. Names the smallest set of such passes
    /// without which the others ran in order.
    #[error("iteration {iteration}, device {device}: `{pass}` ran out of order: {}", where_it_ran(*.after, *.declared_after))]
    OutOfOrder {
        /// The iteration, from 0.
        iteration: usize,
        /// The device.
        device: Device,
        /// The pass.
        pass: Pass,
        /// What ran right before it.
        after: Option<Pass>,
        /// What should have run right before it.
        declared_after: Option<Pass>,
    },
    /// Two passes of a device that ran at the same time.
    #[error("{}", self.in_words(|ticks| format!("{ticks} ns")))]
    Overlap {
        /// The iteration, from 0.
        iteration: usize,
        /// The device.
        device: Device,
        /// The pass that was running.
        first: Pass,
        /// The pass that started.
        second: Pass,
        /// For how long both ran.
        by: Ticks,
    },
    /// A pass that did not run.
    #[error("iteration {iteration}, device {device}: `{pass}` did not run")]
    Missing {
        /// The iteration, from 0.
        iteration: usize,
        /// The device on which it should have.
        device: Device,
        /// The pass.
        pass: Pass,
    },
    /// A pass that ran more than once on its device.
    #[error("iteration {iteration}, device {device}: `{pass}` ran {times} times")]
    Doubled {
        /// The iteration, from 0.
        iteration: usize,
        /// The device.
        device: Device,
        /// The pass.
        pass: Pass,
        /// How often.
        times: usize,
    },
    /// A pass that ran on a device whose order has it not.
    #[error("iteration {iteration}, device {device}: `{pass}` ran, which is not in the order of that device")]
    Foreign {
        /// The iteration, from 0.
        iteration: usize,
        /// The device on which it ran.
        device: Device,
        /// The pass.
        pass: Pass,
    },
}

/// In words, where a pass ran and where it should have.
fn where_it_ran(after: Option<Pass>, declared: Option<Pass>) -> String {
    let place =
        |pass: Option<Pass>| pass.map_or_else(|| "first".to_owned(), |pass| format!("after `{pass}`"));
    format!("{} instead of {}", place(after), place(declared))
}

impl Finding {
    /// The name of the broken rule.
    #[must_use]
    pub const fn rule(&self) -> &'static str {
        match self {
            Self::OutOfOrder { .. } => "out-of-order",
            Self::Overlap { .. } => "overlap",
            Self::Missing { .. } => "missing-pass",
            Self::Doubled { .. } => "duplicate-pass",
            Self::Foreign { .. } => "wrong-device",
        }
    }

    /// Its text, with a word for times, which are in nanoseconds.
    #[must_use]
    pub fn in_words(&self, time: impl Fn(Ticks) -> String) -> String {
        match self {
            Self::Overlap { iteration, device, first, second, by } => format!(
                "iteration {iteration}, device {device}: `{second}` started {} before `{first}` ended",
                time(*by)
            ),
            other => other.to_string(),
        }
    }

    /// Iteration, device and pass it is about.
    #[must_use]
    pub const fn place(&self) -> (usize, Device, Pass) {
        match *self {
            Self::OutOfOrder { iteration, device, pass, .. }
            | Self::Overlap { iteration, device, second: pass, .. }
            | Self::Missing { iteration, device, pass }
            | Self::Doubled { iteration, device, pass, .. }
            | Self::Foreign { iteration, device, pass } => (iteration, device, pass),
        }
    }
}

/// A pass that started before what it needs had ended: either the clocks of two devices disagree, or the
/// run was wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Early {
    /// The iteration, from 0.
    pub iteration: usize,
    /// The pass that started early.
    pub pass: Pass,
    /// What it needs.
    pub needs: Pass,
    /// By how much.
    pub by: Ticks,
}

/// Everything that ran otherwise than declared, by iteration and device.
#[must_use]
pub fn findings(trace: &Trace) -> Vec<Finding> {
    let mut found = Vec::new();
    for (iteration, ran) in trace.iterations.iter().enumerate() {
        for device in Device::all(trace.schedule.devices()) {
            inspect(&trace.schedule, iteration, device, &ran.passes[device.index()], &mut found);
        }
    }
    found
}

fn inspect(schedule: &Schedule, iteration: usize, device: Device, ran: &[Span], found: &mut Vec<Finding>) {
    let order = schedule.order(device);
    let place: BTreeMap<Pass, usize> = order.iter().enumerate().map(|(at, &pass)| (pass, at)).collect();
    let mut times: BTreeMap<Pass, usize> = BTreeMap::new();
    // The places in the declared order of what ran, each pass once.
    let mut places: Vec<usize> = Vec::new();
    for span in ran {
        let count = times.entry(span.pass).or_default();
        *count += 1;
        match place.get(&span.pass) {
            None if *count == 1 => found.push(Finding::Foreign { iteration, device, pass: span.pass }),
            Some(&at) if *count == 1 => places.push(at),
            _ => {}
        }
    }
    for &pass in order {
        match times.get(&pass).copied().unwrap_or(0) {
            0 => found.push(Finding::Missing { iteration, device, pass }),
            1 => {}
            times => found.push(Finding::Doubled { iteration, device, pass, times }),
        }
    }
    let in_order = longest_rise(&places);
    let pass_at = |at: usize| order[at];
    for at in (0..places.len()).filter(|&at| !in_order[at]) {
        found.push(Finding::OutOfOrder {
            iteration,
            device,
            pass: pass_at(places[at]),
            after: at.checked_sub(1).map(|before| pass_at(places[before])),
            declared_after: places[at].checked_sub(1).map(pass_at),
        });
    }
    overlaps(schedule, iteration, device, ran, found);
}

/// Reports passes that start while another one runs, but not the two of an overlapped pair.
fn overlaps(schedule: &Schedule, iteration: usize, device: Device, ran: &[Span], found: &mut Vec<Finding>) {
    let order = schedule.order(device);
    let is_pair = |one: Pass, other: Pass| {
        schedule.overlaps(device).iter().any(|&first| {
            let pair = [order[first], order[first + 1]];
            pair == [one, other] || pair == [other, one]
        })
    };
    // The span that ends last, among those that started before.
    let mut running: Option<Span> = None;
    for &span in ran {
        if let Some(first) = running.filter(|first| first.end > span.start)
            && !is_pair(first.pass, span.pass)
        {
            let by = first.end.min(span.end) - span.start;
            // A pass without duration runs at no time.
            if by > Ticks::ZERO {
                found.push(Finding::Overlap { iteration, device, first: first.pass, second: span.pass, by });
            }
        }
        if running.is_none_or(|first| first.end <= span.end) {
            running = Some(span);
        }
    }
}

/// Every pass that started before something it needs had ended, with the largest amounts first.
#[must_use]
pub fn early(trace: &Trace) -> Vec<Early> {
    let mut found = Vec::new();
    for (iteration, ran) in trace.iterations.iter().enumerate() {
        let spans = first_spans(ran);
        for (&pass, span) in &spans {
            for needs in needs(&trace.schedule, &spans, pass) {
                let by = spans[&needs].end - span.start;
                if by > Ticks::ZERO {
                    found.push(Early { iteration, pass, needs, by });
                }
            }
        }
    }
    found.sort_by_key(|early| (std::cmp::Reverse(early.by), early.iteration, early.pass, early.needs));
    found
}

/// By pass: when it ran, the first time.
pub(super) fn first_spans(iteration: &Iteration) -> BTreeMap<Pass, Span> {
    let mut spans = BTreeMap::new();
    for &span in iteration.passes.iter().flatten() {
        spans.entry(span.pass).or_insert(span);
    }
    spans
}

/// What a pass needs, of what ran. The two of an overlapped pair may run at the same time, but they are of
/// different microbatches, so that neither needs the other.
pub(super) fn needs(schedule: &Schedule, spans: &BTreeMap<Pass, Span>, pass: Pass) -> Vec<Pass> {
    let ran = |other: &Pass| spans.contains_key(other);
    prerequisites(pass, schedule.placement(), |other| ran(&other)).filter(ran).collect()
}
