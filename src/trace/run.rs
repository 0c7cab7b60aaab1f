//! An iteration in the form in which schedules are drawn: orders, starts and ends.

use super::compare::bubble_rate;
use super::{Trace, activation};
use crate::model::{Ticks, Units};
use crate::replay::{Held, Metrics, Rate, Timing};
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
    let at_work = ran.passes.iter().filter_map(|row| {
        let start = row.iter().map(|span| span.start).min()?;
        row.iter().map(|span| span.end).max().map(|end| end - start)
    });
    let busy: Ticks = ran.passes.iter().flatten().map(|span| span.duration()).sum();
    let makespan = ran.last_end() - begun;
    let room = i128::from(makespan.0) * i128::from(declared.devices());
    let metrics = Metrics {
        makespan,
        device_span: at_work.max().unwrap_or_default(),
        busy,
        bubble_rate: bubble_rate(&ran.passes),
        idle_rate: if room == 0 { Rate::from_integer(0) } else { Rate::new(room - i128::from(busy.0), room) },
    };
    let held = ran.memory.as_ref().map(|memory| {
        let rows = ran.passes.iter().zip(memory);
        rows.map(|(spans, samples)| {
            let held = spans.iter().map(|&span| activation::around(samples, span));
            held.map(|(during, after)| Held { during, after }).collect()
        })
        .collect()
    });
    Run { schedule, timing: Timing { starts, metrics }, ends, held, peak_memory: ran.peak_memory() }
}
