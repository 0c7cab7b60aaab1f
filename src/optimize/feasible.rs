//! The least memory in which a pipeline can run at all: one microbatch after the other.

use crate::model::{Device, Kind, Microbatch, Model, Pass, Stage, Units};
use crate::schedule::Schedule;

/// Why no schedule keeps to the capacities.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.in_words(|units| units.to_string()))]
pub struct Infeasible {
    /// The device whose capacity is too small.
    pub device: Device,
    /// Its capacity, in units, weights included.
    pub capacity: Units,
    /// What it needs at the least, in units, weights included.
    pub needed: Units,
    /// The pass at whose start that much is live.
    pub at: Pass,
    /// What is live then: stages, each with what it holds.
    pub held: Vec<(Stage, Units)>,
}

impl Infeasible {
    /// All of it in sentences, where amounts of memory are written by a function.
    #[must_use]
    pub fn in_words(&self, memory: impl Fn(Units) -> String) -> String {
        let Self { device, capacity, needed, at, held } = self;
        let stages: Vec<String> =
            held.iter().map(|&(stage, units)| format!("{} for stage {stage}", memory(units))).collect();
        let reason = match (at.kind, stages.len()) {
            (Kind::F | Kind::R, 1) => ", and the backward that frees it cannot run earlier",
            (Kind::F | Kind::R, _) => ", and the backwards that free it cannot run earlier",
            _ => "",
        };
        let of_activations: Units = held.iter().map(|&(_, units)| units).sum();
        let weights = if *needed > of_activations { "with its weights " } else { "" };
        let [missing, capacity, needed] = [*needed - *capacity, *capacity, *needed].map(&memory);
        format!(
            "no schedule fits: device {device} may hold {capacity}, but {weights}a single microbatch needs {needed} there, \
             {missing} more; when `{at}` starts, the device holds {}{reason}",
            stages.join(" and ")
        )
    }
}

/// Refuses capacities that not even one microbatch at a time fits into.
pub(super) fn check(model: &Model) -> Result<(), Infeasible> {
    Device::all(model.devices()).try_for_each(|device| {
        let Some(capacity) = model.activation_capacity(device) else { return Ok(()) };
        let (needed, at, held) = least_need(model, device);
        if needed <= capacity {
            return Ok(());
        }
        let weights = model.resident(device);
        Err(Infeasible { device, capacity: capacity + weights, needed: needed + weights, at, held })
    })
}

/// The least memory for which a device can run one microbatch, the pass at which it is reached, and
/// what is live then.
///
/// Without recomputation all stages of the device are live when the last of its forwards starts.
/// With it, their checkpoints are, and later, from the highest stage down, the rest of one stage at
/// a time; not recomputing a stage would only hold its rest longer.
fn least_need(model: &Model, device: Device) -> (Units, Pass, Vec<(Stage, Units)>) {
    let mut stages = model.placement().stages_of(device).to_vec();
    stages.sort_unstable();
    let kept = |stage: Stage| model.checkpoint(stage).unwrap_or_else(|| model.activation(stage));
    let highest = stages[stages.len() - 1];
    let at_last_forward: Vec<(Stage, Units)> = stages.iter().map(|&stage| (stage, kept(stage))).collect();
    let mut needs = vec![(Pass::new(highest, Kind::F, Microbatch(0)), at_last_forward)];
    if model.memory().checkpoint.is_some() {
        needs.extend((0..stages.len()).rev().map(|top| {
            let held = stages[..=top].iter().map(|&stage| {
                (stage, if stage == stages[top] { model.activation(stage) } else { kept(stage) })
            });
            (Pass::new(stages[top], Kind::R, Microbatch(0)), held.collect())
        }));
    }
    let total = |held: &[(Stage, Units)]| held.iter().map(|&(_, units)| units).sum::<Units>();
    needs
        .into_iter()
        .map(|(at, held)| (total(&held), at, held))
        .reduce(|most, next| if next.0 > most.0 { next } else { most })
        .expect("a device holds a stage")
}

/// One microbatch after the other, with or without recomputation.
pub(super) fn serial(model: &Model, recompute: bool) -> Schedule {
    let orders = Device::all(model.devices())
        .map(|device| {
            let mut stages = model.placement().stages_of(device).to_vec();
            stages.sort_unstable();
            Microbatch::all(model.microbatches())
                .flat_map(|microbatch| {
                    let forwards = stages.iter().map(move |&stage| Pass::new(stage, Kind::F, microbatch));
                    let backwards = stages.iter().rev().flat_map(move |&stage| {
                        let again = recompute.then(|| Pass::new(stage, Kind::R, microbatch));
                        again
                            .into_iter()
                            .chain([Kind::I, Kind::W].map(|kind| Pass::new(stage, kind, microbatch)))
                    });
                    forwards.chain(backwards).collect::<Vec<_>>()
                })
                .collect()
        })
        .collect();
    Schedule::new(model.placement().clone(), model.microbatches(), orders)
        .expect("a model has as many orders as devices and no more passes than a schedule may")
}
