//! Memory, from what was live before and after passes.

use std::collections::BTreeMap;

use serde::Serialize;

use super::note::Note;
use super::paired;
use crate::model::{Kind, Memory, Placement, Stage, Transient, Units, Workspace};
use crate::trace::activation::Change;
use crate::trace::recomputed::{Class, Recomputed};
use crate::trace::statistics::Spread;
use crate::trace::{Trace, activation};

/// What the passes of a stage acquire and release, in bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FittedMemory {
    /// The stage.
    pub stage: Stage,
    /// What F acquires, where nothing is recomputed; if everything is, what remains of that after F.
    pub acquired: Spread,
    /// What remains after F, by the level at which the stage is recomputed.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub kept: BTreeMap<usize, Spread>,
    /// What I leaves for W to release, where the backward is split.
    pub retained: Option<Spread>,
    /// The most that a pass of each kind, by its letter, needs while it runs, where that is more than nothing.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub workspace: BTreeMap<char, i64>,
}

/// What passes hold. What remains where a stage is recomputed is for [`recompute`](super::recompute) to say.
pub(super) fn memory(
    traces: &[Trace],
    placement: &Placement,
    notes: &mut Vec<Note>,
) -> (Vec<FittedMemory>, Memory, Transient) {
    let stages = placement.stages() as usize;
    let changes = changes(traces);
    let mut memory = Memory {
        unit: "stage-activation".to_owned(),
        activation: vec![Units(1); stages],
        retained_for_weight: vec![Units(1); stages],
        checkpoint: None,
        weights: vec![Units::ZERO; stages],
        capacity: vec![None; placement.devices() as usize],
    };
    let forwards: Option<Vec<Forward>> =
        Stage::all(placement.stages()).map(|stage| Forward::of(stage, &changes)).collect();
    let Some(forwards) = forwards else {
        notes.push(Note::NoMemory);
        return (Vec::new(), memory, Transient::default());
    };
    "byte".clone_into(&mut memory.unit);
    let mut held = Vec::new();
    for (stage, Forward { acquired, whole, kept }) in Stage::all(placement.stages()).zip(forwards) {
        let at = stage.index();
        let released = |kind| {
            let values = changes.get(&Class { stage, kind, level: None })?;
            Spread::of(values.iter().map(|change| -change.after.0))
        };
        let retained = released(Kind::W);
        memory.activation[at] = whole;
        memory.retained_for_weight[at] = retained.map_or(whole, |spread| Units(spread.median.max(0)));
        let given_back = match (released(Kind::I), retained, released(Kind::B)) {
            (Some(input), Some(weight), _) => Some(input.median + weight.median),
            (_, _, both) => both.map(|both| both.median),
        };
        if let Some(released) = given_back.map(Units).filter(|&given_back| given_back != whole) {
            notes.push(Note::Unbalanced { stage, acquired: whole, released });
        }
        let needs = Kind::ALL.into_iter().filter_map(|kind| {
            let of_kind = changes.iter().filter(|(class, _)| class.stage == stage && class.kind == kind);
            let most = of_kind.flat_map(|(_, changes)| changes).map(|change| change.workspace().0).max()?;
            (most > 0).then_some((kind.letter(), most))
        });
        held.push(FittedMemory { stage, acquired, kept, retained, workspace: needs.collect() });
    }
    let workspace = workspace(&held);
    (held, memory, Transient { workspace, receive: None })
}

/// What the Fs of a stage leave.
struct Forward {
    /// The activation where all of it stays, or else what stays of it.
    acquired: Spread,
    /// The whole activation: what F and R acquire together, where R runs for every microbatch.
    whole: Units,
    /// What stays, by the level of recomputation.
    kept: BTreeMap<usize, Spread>,
}

impl Forward {
    /// Of a stage; `None` if nothing was sampled.
    fn of(stage: Stage, changes: &BTreeMap<Class, Vec<Change>>) -> Option<Self> {
        let acquired = |kind, level| {
            let changes = changes.get(&Class { stage, kind, level })?;
            Spread::of(changes.iter().map(|change| change.after.0))
        };
        let levels = changes.keys().filter(|class| class.stage == stage && class.kind == Kind::F);
        let levels = levels.filter_map(|class| class.level);
        let kept: BTreeMap<usize, Spread> =
            levels.filter_map(|level| Some((level, acquired(Kind::F, Some(level))?))).collect();
        if let Some(all) = acquired(Kind::F, None) {
            return Some(Self { acquired: all, whole: Units(all.median.max(0)), kept });
        }
        let (&level, &first) = kept.first_key_value()?;
        let again = acquired(Kind::R, Some(level)).map_or(0, |spread| spread.median);
        Some(Self { acquired: first, whole: Units((first.median + again).max(0)), kept })
    }
}

/// What passes need while they run, if any needs something. A B that was not seen needs the larger of what I and W do.
fn workspace(held: &[FittedMemory]) -> Option<Workspace> {
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
    // Where no R was seen, what it needs is what F does.
    let again = held.iter().zip(of(Kind::R)).zip(&forward);
    let recompute =
        again.map(|((held, again), &forward)| if held.kept.is_empty() { forward } else { again }).collect();
    Some(Workspace { forward, backward_input, backward_weight, backward, recompute })
}

/// By class: what is live around a pass, less what was before.
fn changes(traces: &[Trace]) -> BTreeMap<Class, Vec<Change>> {
    let mut found: BTreeMap<Class, Vec<Change>> = BTreeMap::new();
    for trace in traces {
        let (paired, recomputed) = (paired(trace), Recomputed::of(&trace.schedule));
        for iteration in &trace.iterations {
            for (spans, samples) in iteration.passes.iter().zip(iteration.memory.iter().flatten()) {
                for (pass, mut change) in activation::changes(spans, samples) {
                    // Of two passes at a time, nothing tells which one needed more.
                    if paired.contains(&pass) {
                        change.most = change.after.max(Units::ZERO);
                    }
                    found.entry(recomputed.by_memory(pass)).or_default().push(change);
                }
            }
        }
    }
    found
}
