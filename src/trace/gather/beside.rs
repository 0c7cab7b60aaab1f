//! Messages and the ends of steps, from what ranks recorded beside their passes.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{Device, Kind, Microbatch, Pass, Stage, Ticks};
use crate::schedule::Schedule;
use crate::trace::clocks::Clocks;
use crate::trace::recording::{Recording, StepRange};
use crate::trace::synthetic::destination;
use crate::trace::{Iteration, MAX_INSTANT, Message, StepSpan, StepWork};

/// When something ran, on the clock of all ranks.
type During = (i128, i128);

/// The sends and the receives of a message, one for each iteration.
type Ends = (Vec<During>, Vec<During>);

/// A message: the stage that made it, whether it is a gradient, the microbatch.
type Key = (Stage, bool, Microbatch);

/// Adds messages and the ends of steps to the iterations, which begin at these instants. What was recorded more or less often
/// than there are iterations belongs to none.
pub(super) fn add(
    iterations: &mut [Iteration],
    begun: &[i128],
    recordings: &[Recording],
    clocks: &Clocks,
    schedule: &Schedule,
) {
    let mut transfers: BTreeMap<Key, Ends> = BTreeMap::new();
    for (recording, clock) in recordings.iter().zip(&clocks.ranks) {
        let moved = |at: Ticks| i128::from(at.0) + i128::from(clock.offset);
        for transfer in &recording.beside.transfers {
            let ends = transfers.entry((transfer.stage, transfer.gradient, transfer.microbatch)).or_default();
            let list = if transfer.received { &mut ends.1 } else { &mut ends.0 };
            list.push((moved(transfer.start), moved(transfer.end)));
        }
    }
    let passes: BTreeSet<Pass> = schedule.orders().iter().flatten().copied().collect();
    let count = iterations.len();
    let whole = |list: &[During]| list.len() == count;
    let mut messages: Vec<Vec<Message>> = vec![Vec::new(); iterations.len()];
    for ((stage, gradient, microbatch), (sent, received)) in &transfers {
        if !(whole(sent) && whole(received)) {
            continue;
        }
        let kinds: &[Kind] = if *gradient { &[Kind::I, Kind::B] } else { &[Kind::F] };
        let made_by = kinds.iter().map(|&kind| Pass::new(*stage, kind, *microbatch));
        let Some(pass) = made_by.into_iter().find(|pass| passes.contains(pass)) else { continue };
        let Some((_, to)) = destination(schedule, pass) else { continue };
        for (at, (sent, received)) in sent.iter().zip(received).enumerate() {
            // Whichever end was ready first waited for the other one.
            let during = (sent.0.max(received.0), received.1);
            if let Some((start, end)) = since(begun[at], during) {
                messages[at].push(Message { pass, to, start, end });
            }
        }
    }
    let mut steps: Vec<Vec<StepSpan>> = vec![Vec::new(); iterations.len()];
    for ((device, recording), clock) in Device::all(schedule.devices()).zip(recordings).zip(&clocks.ranks) {
        let moved = |at: Ticks| i128::from(at.0) + i128::from(clock.offset);
        for ((work, stage), ranges) in
            by_stage(&recording.beside.step, schedule.placement().stages_of(device))
        {
            if ranges.len() != iterations.len() {
                continue;
            }
            for (at, range) in ranges.iter().enumerate() {
                if let Some((start, end)) = since(begun[at], (moved(range.start), moved(range.end))) {
                    steps[at].push(StepSpan { work, stage, start, end });
                }
            }
        }
    }
    for ((iteration, mut messages), mut step) in iterations.iter_mut().zip(messages).zip(steps) {
        messages.sort_by_key(|message| (message.start, message.pass));
        step.sort_by_key(|span| (span.start, span.stage, span.work));
        iteration.messages = (!messages.is_empty()).then_some(messages);
        iteration.step = (!step.is_empty()).then_some(step);
    }
}

/// Parts of the end of the step by what they are and by their stage. One that names no stage is of the only stage of its
/// device; where there are several, nothing tells which.
fn by_stage(ranges: &[StepRange], stages: &[Stage]) -> BTreeMap<(StepWork, Stage), Vec<StepRange>> {
    let mut found: BTreeMap<_, Vec<StepRange>> = BTreeMap::new();
    for range in ranges {
        let stage = match (range.stage, stages) {
            (Some(stage), _) if stages.contains(&stage) => stage,
            (None, &[only]) => only,
            _ => continue,
        };
        found.entry((range.work, stage)).or_default().push(*range);
    }
    found
}

/// Times since an instant; nothing where they cannot be those of an iteration that begins then.
fn since(begun: i128, (start, end): During) -> Option<(Ticks, Ticks)> {
    let at = |at: i128| i64::try_from(at - begun).ok().filter(|at| (0..=MAX_INSTANT).contains(at)).map(Ticks);
    at(start).zip(at(end)).filter(|(start, end)| start <= end)
}
