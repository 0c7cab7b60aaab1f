//! Memory, from what was live before and after passes.

use std::collections::BTreeMap;

use serde::Serialize;

use super::note::Note;
use super::paired;
use crate::model::{Kind, Memory, Placement, Stage, Transient, Units, Workspace};
use crate::trace::activation::Change;
use crate::trace::statistics::Spread;
use crate::trace::{Trace, activation};

/// What the passes of a stage acquire and release, in bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FittedMemory {
    /// The stage.
    pub stage: Stage,
    /// What F acquires.
    pub acquired: Spread,
    /// What I leaves for W to release, where the backward is split.
    pub retained: Option<Spread>,
    /// The most that a pass of each kind, by its letter, needs while it runs, where that is more than nothing.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub workspace: BTreeMap<char, i64>,
}

/// What passes hold. Where a stage is recomputed, its checkpoint too.
pub(super) fn memory(
    traces: &[Trace],
    placement: &Placement,
    notes: &mut Vec<Note>,
) -> (Vec<FittedMemory>, Memory, Transient) {
    let stages = placement.stages() as usize;
    let changes = changes(traces);
    let median = |stage: Stage, kind: Kind| {
        let changes = changes.get(&(stage, kind))?;
        Spread::of(changes.iter().map(|change| change.after.0))
    };
    let mut memory = Memory {
        unit: "stage-activation".to_owned(),
        activation: vec![Units(1); stages],
        retained_for_weight: vec![Units(1); stages],
        checkpoint: None,
        weights: vec![Units::ZERO; stages],
        capacity: vec![None; placement.devices() as usize],
    };
    let acquired: Option<Vec<Spread>> =
        Stage::all(placement.stages()).map(|stage| median(stage, Kind::F)).collect();
    let Some(acquired) = acquired else {
        notes.push(Note::NoMemory);
        return (Vec::new(), memory, Transient::default());
    };
    "byte".clone_into(&mut memory.unit);
    let mut held = Vec::new();
    let mut checkpoints = Vec::new();
    for (stage, spread) in Stage::all(placement.stages()).zip(acquired) {
        let at = stage.index();
        let again = median(stage, Kind::R).map_or(0, |spread| spread.median);
        let whole = (spread.median + again).max(0);
        checkpoints.push(Units(if again > 0 { spread.median.clamp(0, whole) } else { whole }));
        let released = |kind| {
            let values = changes.get(&(stage, kind))?;
            Spread::of(values.iter().map(|change| -change.after.0))
        };
        let retained = released(Kind::W);
        memory.activation[at] = Units(whole);
        memory.retained_for_weight[at] = Units(retained.map_or(whole, |spread| spread.median.max(0)));
        let given_back = match (released(Kind::I), retained, released(Kind::B)) {
            (Some(input), Some(weight), _) => Some(input.median + weight.median),
            (_, _, both) => both.map(|both| both.median),
        };
        if let Some(given_back) = given_back.filter(|&given_back| given_back != whole) {
            let (acquired, released) = (Units(whole), Units(given_back));
            notes.push(Note::Unbalanced { stage, acquired, released });
        }
        let needs = Kind::ALL.into_iter().filter_map(|kind| {
            let most = changes.get(&(stage, kind))?.iter().map(|change| change.workspace().0).max()?;
            (most > 0).then_some((kind.letter(), most))
        });
        held.push(FittedMemory { stage, acquired: spread, retained, workspace: needs.collect() });
    }
    if checkpoints != memory.activation {
        memory.checkpoint = Some(checkpoints);
    }
    let workspace = workspace(&held, memory.checkpoint.is_some());
    (held, memory, Transient { workspace, receive: None })
}

/// What passes need while they run, if any needs something. A B that was not seen needs the larger of what I and W do.
fn workspace(held: &[FittedMemory], recomputes: bool) -> Option<Workspace> {
    if held.iter().all(|of| of.workspace.is_empty()) {
        return None;
    }
    let of = |kind: Kind| -> Vec<Units> {
        held.iter()
            .map(|held| Units(held.workspace.get(&kind.letter()).copied().unwrap_or_default()))
            .collect()
    };
    let [forward, backward_input, backward_weight] = [Kind::F, Kind::I, Kind::W].map(of);
    let split = Workspace::larger_of_split(&backward_input, &backward_weight);
    let backward = of(Kind::B).into_iter().zip(split).map(|(full, split)| full.max(split)).collect();
    let recompute = if recomputes { of(Kind::R) } else { forward.clone() };
    Some(Workspace { forward, backward_input, backward_weight, backward, recompute })
}

/// By stage and kind: what is live around a pass, less what was before.
fn changes(traces: &[Trace]) -> BTreeMap<(Stage, Kind), Vec<Change>> {
    let mut found: BTreeMap<(Stage, Kind), Vec<Change>> = BTreeMap::new();
    let iterations = traces.iter().flat_map(|trace| {
        let paired = paired(trace);
        trace.iterations.iter().map(move |iteration| (iteration, paired.clone()))
    });
    for (iteration, paired) in iterations {
        for (spans, samples) in iteration.passes.iter().zip(iteration.memory.iter().flatten()) {
            for (pass, mut change) in activation::changes(spans, samples) {
                // Of two passes at a time, nothing tells which one needed more.
                if paired.contains(&pass) {
                    change.most = change.after.max(Units::ZERO);
                }
                found.entry((pass.stage, pass.kind)).or_default().push(change);
            }
        }
    }
    found
}
