//! What rules out an interval: the fewest memory limits and latencies that cannot be kept
//! together.

use itertools::Itertools;

use crate::model::{Costs, Device, Model, Stage, Ticks, Units};

/// A limit that could be lifted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Limit {
    /// The capacity of a device.
    Capacity(Device, Units),
    /// The latency of the boundary after a stage.
    Latency(Stage, Ticks),
}

/// Limits that no block of one microbatch per interval can keep to all at once, at some interval. Without
/// any one of them one can.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// The limits. None when the interval is impossible even without capacities and latencies.
    pub limits: Vec<Limit>,
    /// Whether no other set of limits that conflict is smaller.
    pub smallest: bool,
}

/// How many sets of limits are tried at most in search of a smaller one.
const TRIED: usize = 1000;

/// A set of limits that conflict, of which none can be left out; a smallest one where there are few to
/// choose from. `possible` says whether a model has such a block at the interval, or nothing when it
/// cannot tell: then there is no answer either, as when all limits together do not conflict.
pub(super) fn conflict(model: &Model, mut possible: impl FnMut(&Model) -> Option<bool>) -> Option<Conflict> {
    let all = limits(model);
    let mut conflicts = |kept: &[Limit]| Some(!possible(&only(model, kept)?)?);
    if !conflicts(&all)? {
        return None;
    }
    // Leaving out one after the other, as long as the rest still conflicts.
    let mut kept = all.clone();
    for &limit in &all {
        let without: Vec<Limit> = kept.iter().copied().filter(|&other| other != limit).collect();
        if conflicts(&without)? {
            kept = without;
        }
    }
    let mut left = TRIED;
    for size in 0..kept.len() {
        for fewer in all.iter().copied().combinations(size) {
            if left == 0 {
                return Some(Conflict { limits: kept, smallest: false });
            }
            left -= 1;
            if conflicts(&fewer)? {
                return Some(Conflict { limits: fewer, smallest: true });
            }
        }
    }
    Some(Conflict { limits: kept, smallest: true })
}

fn limits(model: &Model) -> Vec<Limit> {
    let capacities = Device::all(model.devices())
        .filter_map(|device| Some(Limit::Capacity(device, model.capacity(device)?)));
    let boundaries = Stage::all(model.stages() - 1).map(|stage| (stage, model.latency_after(stage)));
    let latencies = boundaries
        .filter(|&(_, latency)| latency > Ticks::ZERO)
        .map(|(stage, latency)| Limit::Latency(stage, latency));
    capacities.chain(latencies).collect()
}

/// The model with these limits and no others.
fn only(model: &Model, kept: &[Limit]) -> Option<Model> {
    let mut memory = model.memory().clone();
    memory.capacity.fill(None);
    let mut communication = vec![Ticks::ZERO; model.costs().communication.len()];
    for limit in kept {
        match *limit {
            Limit::Capacity(device, capacity) => memory.capacity[device.index()] = Some(capacity),
            Limit::Latency(stage, latency) => communication[stage.index()] = latency,
        }
    }
    let costs = Costs { communication, ..model.costs().clone() };
    let (name, placement) = (model.name().to_owned(), model.placement().clone());
    Model::new(name, None, placement, model.microbatches(), costs, memory).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Placement;

    fn model() -> Model {
        let model = Model::equal_stages(Placement::v(3).expect("a placement"), 1, [1, 1, 1, 2]);
        model.and_then(|model| model.with_uniform_activation_capacity(Some(Units(4)))).expect("a model")
    }

    fn limited(model: &Model, device: u32) -> bool {
        model.activation_capacity(Device(device)).is_some()
    }

    #[test]
    fn the_smallest_conflict_is_found_whatever_comes_first() {
        let found = conflict(&model(), |model| {
            Some(
                !(limited(model, 2) && model.latency_after(Stage(3)) > Ticks::ZERO
                    || limited(model, 1) && {
                        Stage::all(5).all(|stage| model.latency_after(stage) > Ticks::ZERO)
                    }),
            )
        });
        let limits = vec![Limit::Capacity(Device(2), Units(4)), Limit::Latency(Stage(3), Ticks(2))];
        assert_eq!(found, Some(Conflict { limits, smallest: true }));
    }

    #[test]
    fn a_conflict_of_many_limits_is_found_whole() {
        let all_limited =
            |model: &Model| Device::all(3).all(|device| model.activation_capacity(device).is_some());
        let slow = |model: &Model| model.latency_after(Stage(0)) > Ticks::ZERO;
        let found = conflict(&model(), |model| Some(!(all_limited(model) && slow(model))));
        assert_eq!(found.map(|conflict| (conflict.limits.len(), conflict.smallest)), Some((4, true)));
    }

    #[test]
    fn without_a_conflict_or_an_answer_there_is_none() {
        assert_eq!(conflict(&model(), |_| Some(true)), None);
        assert_eq!(conflict(&model(), |_| None), None);
        let alone = Some(Conflict { limits: vec![], smallest: true });
        assert_eq!(conflict(&model(), |_| Some(false)), alone);
    }
}
