//! Memory, from what was live before and after passes.

use std::collections::BTreeMap;

use serde::Serialize;

use super::note::Note;
use crate::model::{Kind, Memory, Placement, Stage, Units};
use crate::trace::statistics::Spread;
use crate::trace::{Trace, activation};

/// What the passes of a stage acquire and release, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct FittedMemory {
    /// The stage.
    pub stage: Stage,
    /// What F acquires.
    pub acquired: Spread,
    /// What I leaves for W to release, where the backward is split.
    pub retained: Option<Spread>,
}

/// What passes hold. Where a stage is recomputed, its checkpoint too.
pub(super) fn memory(
    traces: &[Trace],
    placement: &Placement,
    notes: &mut Vec<Note>,
) -> (Vec<FittedMemory>, Memory) {
    let stages = placement.stages() as usize;
    let changes = changes(traces);
    let median = |stage: Stage, kind: Kind| {
        changes.get(&(stage, kind)).and_then(|values| Spread::of(values.iter().copied()))
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
        return (Vec::new(), memory);
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
            Spread::of(values.iter().map(|change| -change))
        };
        let retained = released(Kind::W);
        memory.activation[at] = Units(whole);
        memory.retained_for_weight[at] =
            Units(retained.map_or(whole, |spread| spread.median.clamp(0, whole)));
        let given_back = match (released(Kind::I), retained, released(Kind::B)) {
            (Some(input), Some(weight), _) => Some(input.median + weight.median),
            (_, _, both) => both.map(|both| both.median),
        };
        if let Some(retained) = retained.filter(|retained| retained.median > whole) {
            notes.push(Note::Grown { stage, by: Units(retained.median - whole) });
        }
        if let Some(given_back) = given_back.filter(|&given_back| given_back != whole) {
            let (acquired, released) = (Units(whole), Units(given_back));
            notes.push(Note::Unbalanced { stage, acquired, released });
        }
        held.push(FittedMemory { stage, acquired: spread, retained });
    }
    if checkpoints != memory.activation {
        memory.checkpoint = Some(checkpoints);
    }
    (held, memory)
}

/// By stage and kind: what is live after a pass less what was before.
fn changes(traces: &[Trace]) -> BTreeMap<(Stage, Kind), Vec<i64>> {
    let mut found: BTreeMap<(Stage, Kind), Vec<i64>> = BTreeMap::new();
    for iteration in traces.iter().flat_map(|trace| &trace.iterations) {
        for (spans, samples) in iteration.passes.iter().zip(iteration.memory.iter().flatten()) {
            for (pass, change) in activation::changes(spans, samples) {
                found.entry((pass.stage, pass.kind)).or_default().push(change.0);
            }
        }
    }
    found
}
