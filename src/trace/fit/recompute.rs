//! Recomputation, from the Rs that ran and what Fs kept for them.

use std::collections::BTreeMap;

use super::FittedMemory;
use super::note::Note;
use crate::model::{Kind, ModelError, Recompute, RecomputeLevel, Stage, Ticks, Units};
use crate::trace::Trace;
use crate::trace::recomputed::{Class, Recomputed};
use crate::trace::statistics::Spread;

/// The levels that the traces recompute at, if they do and memory was measured: what F keeps, and how long R takes.
///
/// A stage that no trace recomputes at a level keeps everything there, and its R takes as long as its F.
///
/// # Errors
/// When there are more levels than a model may have.
pub(super) fn recompute(
    traces: &[Trace],
    (held, activation): (&[FittedMemory], &[Units]),
    forward: &[Ticks],
    notes: &mut Vec<Note>,
) -> Result<Option<Recompute>, ModelError> {
    let last = held.iter().filter_map(|of| of.kept.last_key_value()).map(|(&level, _)| level).max();
    let Some(last) = last else { return Ok(None) };
    if last >= Recompute::MAX_LEVELS {
        return Err(ModelError::Levels { found: last + 1 });
    }
    let durations = durations(traces);
    let level = |level: usize| {
        let checkpoint = held.iter().zip(activation).map(|(held, &whole)| {
            held.kept.get(&level).map_or(whole, |kept| Units(kept.median.clamp(0, whole.0)))
        });
        let measured = |stage: Stage| durations.get(&Class { stage, kind: Kind::R, level: Some(level) });
        let stages = || held.iter().map(|held| held.stage);
        let duration =
            stages().zip(forward).map(|(stage, &forward)| measured(stage).copied().unwrap_or(forward));
        let unseen: Vec<Stage> = stages().filter(|&stage| measured(stage).is_none()).collect();
        if !unseen.is_empty() {
            notes.push(Note::NotRecomputed { level, stages: unseen });
        }
        RecomputeLevel { checkpoint: checkpoint.collect(), duration: Some(duration.collect()) }
    };
    Ok(Some(Recompute { levels: (0..=last).map(level).collect(), fused: false }))
}

/// The median durations of Rs, by class. None is in an overlapped pair.
fn durations(traces: &[Trace]) -> BTreeMap<Class, Ticks> {
    let mut found: BTreeMap<Class, Vec<i64>> = BTreeMap::new();
    for trace in traces {
        let recomputed = Recomputed::of(&trace.schedule);
        let spans = trace.iterations.iter().flat_map(|iteration| iteration.passes.iter().flatten());
        for span in spans.filter(|span| span.pass.kind == Kind::R) {
            found.entry(recomputed.by_time(span.pass)).or_default().push(span.duration().0);
        }
    }
    let median = |values| Some(Ticks(Spread::of(values)?.median));
    found.into_iter().filter_map(|(class, values)| Some((class, median(values)?))).collect()
}
