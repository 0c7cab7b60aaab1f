//! **The plain model below a model.** What the closed forms and the states of devices are derived on: passes one by one, and
//! memory that F keeps, of which I releases a part and W the rest.
//!
//! **Theorem.** Every lower bound of this model is one of the model.
//!
//! **Proof.** A schedule of the model is one of its [floor](Model::memory_floor), which has the same times: right after a pass has
//! acquired what makes a device hold the most there, the device holds the workspace and the buffer of that pass,
//! and the gathered weights of its stage, besides. Gathers only delay passes. With one
//! level that keeps the least and takes the least time of all ([`Model::level_floor`]), and with R wherever it is, every R takes no
//! longer and waits for no more, and from each F to its R no more is held. What it offloads holds no less than the checkpoint of the
//! [floor without offloading](Model::offload_floor) between F and I, and is whole while these run; no bound uses more. The rest is
//! [the theorem on pairs](super::pairs).

use std::borrow::Cow;

use super::pairs::shortened;
use crate::model::Model;

/// The model of plain memory, without offloading and without cheaper pairs, of which each lower bound is one of the model. Where there is nothing
/// else, it is the model.
pub(super) fn relaxed(model: &Model) -> Cow<'_, Model> {
    match amounts_below(model) {
        Cow::Borrowed(model) => shortened(model),
        Cow::Owned(floor) => Cow::Owned(shortened(&floor).into_owned()),
    }
}

/// The same with its pairs: amounts are those of the model of which each lower bound is one of the model, and passes take as long as
/// they do there.
fn amounts_below(model: &Model) -> Cow<'_, Model> {
    let floor = model.memory_floor();
    if model.offload().is_some() {
        return Cow::Owned(floor.level_floor().offload_floor());
    }
    match floor {
        Cow::Borrowed(model) => model.level_floor(),
        Cow::Owned(floor) => Cow::Owned(floor.level_floor().into_owned()),
    }
}

/// The models of which the [states](super::subset) of some devices are followed: each bound of one is a bound of the model. In the
/// model itself, which comes first, pairs are passes, and what passes need while they run and what an I leaves beyond what its F kept
/// is counted; but its states may be more. With recomputation or offloading, there is only the [relaxed] one.
pub(super) fn followed(model: &Model) -> Vec<Cow<'_, Model>> {
    let is_followed_itself = model.offload().is_none() && model.memory().checkpoint.is_none();
    let is_simple = model.has_plain_memory() && !model.has_cheaper_pairs();
    let itself = is_followed_itself && !is_simple;
    itself.then_some(Cow::Borrowed(model)).into_iter().chain([relaxed(model)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Offload, Placement, Recompute, RecomputeLevel, Stage, Ticks, Units};

    /// Three units of ten go to the host, and each stage recomputes at two levels.
    #[test]
    fn beside_copies_the_levels_are_one_with_the_least_of_all() {
        let model = Model::equal_stages(Placement::linear(2).expect("a placement"), 4, [6, 5, 4, 1])
            .expect("a model");
        let memory = crate::model::Memory { activation: vec![Units(10); 2], ..model.memory().clone() };
        let model = model.with_plain_memory(memory).expect("a model");
        let offload =
            Offload { moved: vec![Units(3); 2], to_host: vec![Ticks(2); 2], from_host: vec![Ticks(2); 2] };
        let one = |levels: &[[(i64, i64); 2]]| {
            let levels = levels.iter().map(|level| RecomputeLevel {
                checkpoint: level.map(|(kept, _)| Units(kept)).to_vec(),
                duration: Some(level.map(|(_, duration)| Ticks(duration)).to_vec()),
            });
            let recompute = Recompute { levels: levels.collect(), fused: true };
            let model =
                model.with_recompute(Some(recompute)).and_then(|m| m.with_offload(Some(offload.clone())));
            let model = model.expect("a model");
            let relaxed = relaxed(&model);
            assert!(relaxed.offload().is_none() && !relaxed.recomputes_in_backward());
            assert_eq!(relaxed.recompute_levels(), 1);
            [0, 1].map(|stage| {
                let kept = relaxed.checkpoint_at(Stage(stage), 0).expect("a level");
                (kept.0, relaxed.recompute_duration(Stage(stage), 0).0)
            })
        };
        assert_eq!(one(&[[(8, 5), (2, 3)], [(4, 1), (9, 4)]]), [(4, 1), (2, 3)]);
        // Copies leave 7 units, and what is offloaded is whole for the 6 ticks of its F.
        assert_eq!(one(&[[(8, 9), (9, 8)], [(9, 7), (8, 5)]]), [(7, 6), (7, 5)]);
    }
}
