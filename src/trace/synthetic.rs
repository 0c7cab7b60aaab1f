//! Synthetic traces: the times of replay in the form of a trace, to test what reads traces.

use std::collections::BTreeMap;
use std::ops::Range;

use super::{Iteration, Machine, Message, Origin, Sample, Span, StepSpan, StepWork, Trace};
use crate::model::{Device, Kind, Model, Pass, Stage, Ticks, Units};
use crate::replay::{StepTimes, end_of, memory_along, replay};
use crate::schedule::Schedule;

/// The trace of a schedule that runs exactly as replay says, one iteration long; nothing where replay has no
/// times for it. Units of memory are bytes, ticks are nanoseconds.
#[must_use]
pub fn of_replay(model: &Model, schedule: &Schedule) -> Option<Trace> {
    let timing = replay(model, schedule).timing?;
    let memory = memory_along(model, schedule);
    // Where messages keep links busy: when each leaves, and when its link is free again.
    let on_links: BTreeMap<Pass, Range<Ticks>> =
        timing.links.iter().flat_map(|times| times.messages.iter().cloned()).collect();
    let mut iteration = Iteration { memory: Some(Vec::new()), ..Iteration::default() };
    let mut messages = Vec::new();
    for device in Device::all(schedule.devices()) {
        let starts = &timing.starts[device.index()];
        let spans: Vec<Span> = schedule
            .order(device)
            .iter()
            .zip(starts)
            .map(|(&pass, &start)| Span { pass, start, end: end_of(model, schedule, pass, start) })
            .collect();
        let mut samples = vec![Sample { at: Ticks::ZERO, live: model.resident(device) }];
        let mut note = |at: Ticks, live: Units| {
            if samples.last().is_some_and(|last| last.live != live) {
                samples.push(Sample { at, live });
            }
        };
        for (span, held) in spans.iter().zip(&memory[device.index()]) {
            note(span.start, held.during);
            note(span.end, held.after);
        }
        iteration.memory.get_or_insert_default().push(samples);
        messages.extend(spans.iter().filter_map(|span| message(model, schedule, &on_links, *span)));
        iteration.passes.push(spans);
    }
    messages.sort_by_key(|message| (message.start, message.pass));
    iteration.messages = Some(messages);
    if !timing.step.is_empty() {
        let spans = Stage::all(model.stages()).zip(&timing.step).flat_map(
            |(stage, StepTimes { reduce, optimizer })| {
                let span = |work, during: &Range<Ticks>| StepSpan {
                    work,
                    stage,
                    start: during.start,
                    end: during.end,
                };
                [span(StepWork::Reduce, reduce), span(StepWork::Optimizer, optimizer)]
            },
        );
        iteration.step = Some(spans.collect());
    }
    Some(Trace {
        origin: Origin::Synthetic,
        machine: Machine { name: "replay of a model, not measured".to_owned(), ..Machine::default() },
        sizes: None,
        schedule: schedule.clone(),
        gradient_error: None,
        host_overhead: None,
        iterations: vec![iteration],
    })
}

/// What a pass sends to another device, if it does.
fn message(
    model: &Model,
    schedule: &Schedule,
    on_links: &BTreeMap<Pass, Range<Ticks>>,
    span: Span,
) -> Option<Message> {
    let (to, latency) = destination(schedule, span.pass)
        .map(|(stage, to)| (to, model.latency_after(stage.min(span.pass.stage))))?;
    let sent = on_links.get(&span.pass).cloned().unwrap_or(span.end..span.end);
    Some(Message { pass: span.pass, to, start: sent.start, end: sent.end + latency })
}

/// The stage that waits for what a pass sends, and its device, where that is another one.
pub(super) fn destination(schedule: &Schedule, pass: Pass) -> Option<(Stage, Device)> {
    let placement = schedule.placement();
    let stage = match pass.kind {
        Kind::F => placement.stage_after(pass.stage)?,
        Kind::I | Kind::B => placement.stage_before(pass.stage)?,
        Kind::R | Kind::W => return None,
    };
    let to = placement.device_of(stage);
    (to != placement.device_of(pass.stage)).then_some((stage, to))
}
