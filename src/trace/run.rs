//! An iteration in the form in which schedules are drawn: orders, starts and ends.

use super::{Trace, activation};
use crate::analysis::measured_metrics;
use crate::model::{Ticks, Units};
use crate::replay::{Held, Timing};
use crate::schedule::Schedule;

/// What ran in an iteration, the first start being 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// The passes in the order in which they ran, a pass as often as it did; no overlapped pairs.
    pub schedule: Schedule,
    /// When they started, and what that amounts to.
    pub timing: Timing,
    /// When they ended.
    pub ends: Vec<Vec<Ticks>>,
    /// What each device held around every pass, where that was recorded.
    pub held: Option<Vec<Vec<Held>>>,
    /// The most that each device held, where that was recorded.
    pub peak_memory: Option<Vec<Units>>,
}

/// An iteration of a trace.
///
/// # Panics
/// When the trace has no such iteration.
#[must_use]
pub fn of(trace: &Trace, iteration: usize) -> Run {
    let ran = &trace.iterations[iteration];
    let declared = &trace.schedule;
    let orders = ran.passes.iter().map(|row| row.iter().map(|span| span.pass).collect()).collect();
    let mut schedule = Schedule::new(declared.placement().clone(), declared.microbatches(), orders)
        .expect("a checked trace has a list for each device");
    schedule.name.clone_from(&declared.name);
    let begun = ran.first_start();
    let of = |time: fn(&super::Span) -> Ticks| -> Vec<Vec<Ticks>> {
        ran.passes.iter().map(|row| row.iter().map(|span| time(span) - begun).collect()).collect()
    };
    let (starts, ends) = (of(|span| span.start), of(|span| span.end));
    let held = ran.memory.as_ref().map(|memory| {
        let rows = ran.passes.iter().zip(memory);
        rows.map(|(spans, samples)| {
            let held = spans.iter().map(|&span| activation::around(samples, span));
            held.map(|(during, after)| Held { during, after }).collect()
        })
        .collect()
    });
    Run {
        schedule,
        timing: Timing {
            starts,
            links: Vec::new(),
            gathers: Vec::new(),
            copies: Vec::new(),
            step: Vec::new(),
            metrics: measured_metrics(&ran.passes),
        },
        ends,
        held,
        peak_memory: ran.peak_memory(),
    }
}
