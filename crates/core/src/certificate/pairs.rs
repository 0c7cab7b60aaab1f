//! **Overlapped pairs.** A model in which every pair takes as long as its passes, and no schedule is later.
//!
//! Let `s(f, b)` be what an F of stage f saves beside a backward of stage b of the same device, and shorten every F of
//! stage f by `x_f` and every backward of stage b by `y_b`, such that `x_f + y_b >= s(f, b)` for all pairs.
//!
//! **Theorem.** For every schedule of the model there is one of the shortened model, without pairs, in which no pass ends
//! later, no device begins later or earlier, and no device ever holds more.
//!
//! **Proof.** Keep all starts, and run every pass that is in no pair for its shortened duration. In place of a pair from t
//! to t + P run its shortened F from t on, and its shortened backward up to t + P. They do not overlap, since their
//! durations are at most `F + B - s(f, b) = P` together. What either needs is there at t; what they yield is there no later
//! than t + P. The F acquires at t what the pair acquires then, and the backward releases at t + P what the pair releases
//! then. If the pair ends with the F of the last pass of its device, that F ends earlier than it did. What follows the
//! passes at the [end of the step](super::step) waits for their ends and keeps its order, so it ends no later either.
//!
//! So every bound of the shortened model is one of the model. Heads, tails and windows may even be those of the model: passes
//! of the shortened schedule start no earlier than in the schedule, and its forwards end no later. Of what follows an I, only
//! that of the last I of a device is used. That I is in no pair, for the F beside it would be followed by an I of its own.
//!
//! There are two simple choices: `x_f = max_b s(f, b)` with `y = 0`, and `x = 0` with `y_b = max_f s(f, b)`. Each device takes
//! the one with the smaller sum. For equal stages that is what a device saves when all its forwards are in pairs. A shortened
//! B is a shortened I and its W: I is shortened by what pairs with an I save, and W by the rest, as far as it is long enough.

use std::borrow::Cow;

use crate::model::{Device, Kind, Model, Overlap, Stage, Ticks};

/// The model without cheaper pairs, but with passes as much shorter as pairs can save: each of its lower bounds is one of
/// the model. Where no pair saves time, it is the model.
#[must_use]
#[expect(clippy::missing_panics_doc, reason = "a pass is shortened by no more than it takes")]
pub fn shortened(model: &Model) -> Cow<'_, Model> {
    if !model.has_cheaper_pairs() {
        return Cow::Borrowed(model);
    }
    let mut costs = model.costs().clone();
    for device in Device::all(model.devices()) {
        let stages = model.placement().stages_of(device);
        let most = |saves: &dyn Fn(Stage) -> Ticks| {
            stages.iter().map(|&other| saves(other)).max().unwrap_or_default()
        };
        let of_forward = |forward: Stage| {
            most(&|backward| {
                let saves = |kind| model.pair_saves(forward, backward, kind);
                saves(Kind::B).max(saves(Kind::I))
            })
        };
        let of_backward = |backward: Stage, kind| most(&|forward| model.pair_saves(forward, backward, kind));
        let by_forwards: Ticks = stages.iter().map(|&stage| of_forward(stage)).sum();
        let by_backwards: Ticks =
            stages.iter().map(|&stage| of_backward(stage, Kind::B).max(of_backward(stage, Kind::I))).sum();
        for &stage in stages {
            let at = stage.index();
            if by_forwards <= by_backwards {
                costs.forward[at] -= of_forward(stage);
                continue;
            }
            let weight = costs.backward_weight[at];
            let (in_all, of_input) = (of_backward(stage, Kind::B), of_backward(stage, Kind::I));
            let from_input = of_input.max(in_all - weight);
            costs.backward_input[at] -= from_input;
            costs.backward_weight[at] -= (in_all - from_input).max(Ticks::ZERO);
        }
    }
    // All else stays, the end of the step included.
    let shortened = model.with_overlap(Overlap::default()).and_then(|apart| apart.with_costs(costs));
    Cow::Owned(
        shortened.expect("a pass is shortened by no more than it takes, and not both of a pair to nothing"),
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::model::{Overlap, PairDurations, Placement};

    /// One device with two stages, F, I, W of 10, 6, 4 ticks, and these pairs of an F and a B.
    fn model(pairs: &[(u32, u32, i64)]) -> Model {
        let placement = Placement::new(vec![vec![Stage(0), Stage(1)]]).expect("a placement");
        let model = Model::equal_stages(placement, 2, [10, 6, 4, 0]).expect("a model");
        let listed = pairs
            .iter()
            .map(|&(forward, backward, duration)| ((Stage(forward), Stage(backward)), Ticks(duration)));
        let forward_backward = PairDurations::Listed(listed.collect::<BTreeMap<_, _>>());
        model.with_overlap(Overlap { forward_backward, ..Overlap::default() }).expect("durations that suit")
    }

    fn durations(pairs: &[(u32, u32, i64)]) -> [Vec<i64>; 3] {
        let shortened = shortened(&model(pairs)).into_owned();
        let costs = shortened.costs();
        [&costs.forward, &costs.backward_input, &costs.backward_weight]
            .map(|list| list.iter().map(|ticks| ticks.0).collect())
    }

    #[test]
    fn the_side_is_shortened_that_loses_less() {
        // F of stage 0 saves 7 beside either B: one F less 7, or two Bs.
        assert_eq!(durations(&[(0, 0, 13), (0, 1, 13)]), [vec![3, 10], vec![6, 6], vec![4, 4]]);
        // Either F saves 7 beside B of stage 0: W bears 4 of them, and I the rest.
        assert_eq!(durations(&[(0, 0, 13), (1, 0, 13)]), [vec![10, 10], vec![3, 6], vec![0, 4]]);
        // Of equals, forwards are shortened.
        assert_eq!(durations(&[(0, 0, 13)]), [vec![3, 10], vec![6, 6], vec![4, 4]]);
        assert_eq!(durations(&[(0, 0, 20)]), [vec![10, 10], vec![6, 6], vec![4, 4]]);
    }
}
