//! What a model or a placement cannot tell about some schedules, printed beside every figure about them.

use crate::catalog::Entry;
use crate::model::{Kind, Model, Stage, Ticks};
use crate::replay::replay;
use crate::schedule::Schedule;

/// That durations are ranges, and which of their ends a figure is about.
pub fn worst_case(model: &Model) -> Option<String> {
    model.low_ends().map(|_| {
        "durations are ranges: all times are for the worst case, with every duration at its high end, unless they are called the best case"
            .to_owned()
    })
}

/// The makespan of a schedule in the best case, in which all durations are at their low ends; `None` for a model without
/// ranges, and where the schedule cannot run.
pub fn best_makespan(model: &Model, schedule: &Schedule) -> Option<Ticks> {
    replay(&model.best_case()?, schedule).timing.map(|timing| timing.metrics.makespan)
}

/// That the weight gradient of some stages takes no time, which is how a model has a backward that was measured in one
/// piece: what it says of schedules that split the backward is then not what such a run would do.
pub fn unsplit(model: &Model) -> Option<String> {
    let is_whole = |stage: &Stage| {
        model.duration(*stage, Kind::W) == Ticks::ZERO && model.duration(*stage, Kind::I) > Ticks::ZERO
    };
    let stages: Vec<Stage> = Stage::all(model.stages()).filter(is_whole).collect();
    let which = match stages.len() {
        0 => return None,
        count if count == model.stages() as usize => "on every stage".to_owned(),
        1 => format!("on stage {}", stages[0]),
        count if count > LISTED => format!("on {count} of {} stages", model.stages()),
        _ => {
            let numbers: Vec<String> = stages.iter().map(ToString::to_string).collect();
            format!("on stages {}", numbers.join(", "))
        }
    };
    Some(format!(
        "the weight gradient (W) takes no time {which}, as happens if the backward is measured in one piece: figures of schedules \
         that split the backward, such as zb-h1, hold for this model, but do not say what splitting would gain; to learn that, \
         profile a run of a schedule that splits it"
    ))
}

/// The same for one schedule, if it splits the backward.
pub fn unsplit_in(model: &Model, schedule: &Schedule) -> Option<String> {
    let splits = schedule.orders().iter().flatten().any(|pass| pass.kind == Kind::W);
    if splits && schedule.placement() == model.placement() { unsplit(model) } else { None }
}

/// How many stages are listed at most.
const LISTED: usize = 8;

/// The note that schedules interleave chunks, of which each device has only one here: they are then other schedules
/// under another name.
pub fn without_chunks(entries: &[&Entry]) -> Option<String> {
    if entries.is_empty() {
        return None;
    }
    let names: Vec<&str> = entries.iter().map(|entry| entry.name).collect();
    Some(format!(
        "{} {} several stages (chunks) on each device, and here each has one, so that nothing is interleaved; for a comparison, \
         write `placement = \"looped\"` and `chunks = 2` in the model, with the times and the memory of the shorter stages",
        names.join(", "),
        if names.len() == 1 { "needs" } else { "need" }
    ))
}
