//! What would help: no change gains more than is stated, whatever schedule is found after it, and no gain is negative.

use bubbleproof::certificate::{Objective, lower_bound};
use bubbleproof::model::{Costs, Model, Placement, Ticks, Units};
use bubbleproof::optimize::explain::{Change, Gain, balanced_bound, gains};
use bubbleproof::optimize::{Options, optimize};
use bubbleproof::stop::Stop;
use proptest::prelude::*;

use super::optimising::limited;
use super::random::Choices;

fn quick() -> Options {
    Options { effort: 20_000, exact_effort: 50_000, ..Options::default() }
}

/// The shortest makespan that is found within a small effort: exact for small models, never below the optimum.
fn found(model: &Model) -> Option<Ticks> {
    optimize(model, &quick(), &mut |_| ()).ok().map(|solution| solution.value())
}

/// The same with as much effort as small models need to the end.
fn optimum(model: &Model) -> Ticks {
    let options = Options { effort: 200_000, exact_effort: 5_000_000, ..Options::default() };
    let solution = optimize(model, &options, &mut |_| ()).expect("a schedule");
    assert!(solution.is_optimal());
    solution.value()
}

/// The durations of a kind, divided among the stages in another way.
fn divided(durations: &[Ticks], choices: &mut Choices) -> Vec<Ticks> {
    let mut divided = durations.to_vec();
    for _ in 0..2 * durations.len() {
        let (from, to) = (choices.below(divided.len()), choices.below(divided.len()));
        let most = usize::try_from(divided[from].0).expect("not negative");
        let moved = Ticks(i64::try_from(choices.below(most + 1)).expect("small"));
        divided[from] -= moved;
        divided[to] += moved;
    }
    divided
}

/// The model after a change. Balance has many: one of them, or nothing if a device would have nothing to do.
fn changed(model: &Model, change: Change, choices: &mut Choices) -> Option<Model> {
    let costs = model.costs();
    match change {
        Change::Memory => model.with_uniform_activation_capacity(None).ok(),
        Change::Messages => {
            let communication = vec![Ticks::ZERO; costs.communication.len()];
            model.with_costs(Costs { communication, ..costs.clone() }).ok()
        }
        Change::Balance => {
            let [forward, backward_input, backward_weight] =
                [&costs.forward, &costs.backward_input, &costs.backward_weight]
                    .map(|list| divided(list, choices));
            model.with_costs(Costs { forward, backward_input, backward_weight, ..costs.clone() }).ok()
        }
        _ => Some(model.clone()),
    }
}

proptest! {
    #![proptest_config(crate::cases(48))]

    #[test]
    fn nothing_gains_more_than_is_stated(model in limited(), seed: u64) {
        let Some(makespan) = found(&model) else { return Ok(()) };
        let bound = lower_bound(&model, Objective::Makespan).value;
        let stated = gains(&model, makespan, bound, &Stop::default());
        prop_assert!(stated.iter().any(|gain| gain.change == Change::Order));
        prop_assert!(stated.is_sorted_by(|one, next| one.most >= next.most));
        let mut choices = Choices::new(seed);
        for Gain { change, bound: after, most } in stated {
            prop_assert!(most >= Ticks::ZERO && after + most == makespan && after <= bound);
            if let Some(best) = changed(&model, change, &mut choices).and_then(|relaxed| found(&relaxed)) {
                prop_assert!(best >= after, "{change:?}: {best} is below {after}");
                prop_assert!(makespan - best <= most);
            }
        }
    }

    #[test]
    fn no_division_of_the_work_is_below_the_bound_for_all(model in limited(), seed: u64) {
        let Some(bound) = balanced_bound(&model) else { return Ok(()) };
        let mut choices = Choices::new(seed);
        for _ in 0..4 {
            let Some(other) = changed(&model, Change::Balance, &mut choices) else { continue };
            prop_assert_eq!(balanced_bound(&other), Some(bound));
            let free = other.with_uniform_activation_capacity(None).expect("a model");
            prop_assert!(found(&free).is_none_or(|best| best >= bound));
        }
    }
}

/// Three devices of which the last has twice the work, little memory and slow messages: each change gains something, and what is stated
/// of memory and messages is not far from the truth.
#[test]
fn gains_are_reached_where_the_bounds_are_tight() {
    let placement = Placement::linear(3).expect("a placement");
    let equal = Model::equal_stages(placement, 4, [2, 2, 1, 3]).expect("a model");
    let costs = Costs { forward: vec![Ticks(2), Ticks(2), Ticks(6)], ..equal.costs().clone() };
    let model =
        equal.with_costs(costs).and_then(|model| model.with_uniform_activation_capacity(Some(Units(1))));
    let model = model.expect("a model");
    let makespan = optimum(&model);
    let bound = lower_bound(&model, Objective::Makespan).value;
    let stated = gains(&model, makespan, bound, &Stop::default());
    let most = |change| stated.iter().find(|gain| gain.change == change).map(|gain| gain.most);
    let mut choices = Choices::new(0);
    for change in [Change::Memory, Change::Messages] {
        let gained = makespan - optimum(&changed(&model, change, &mut choices).expect("a model"));
        assert!(gained > Ticks::ZERO);
        assert_eq!(most(change), Some(gained), "{change:?}");
    }
    assert_eq!(most(Change::Order), Some(Ticks::ZERO));
    assert!(most(Change::Balance) > most(Change::Order));
}

#[test]
fn changes_without_meaning_are_left_out() {
    let model =
        Model::equal_stages(Placement::linear(3).expect("a placement"), 4, [1, 1, 1, 0]).expect("a model");
    let bound = lower_bound(&model, Objective::Makespan).value;
    let stated = gains(&model, bound + Ticks(5), bound, &Stop::default());
    assert_eq!(stated, [Gain { change: Change::Order, bound, most: Ticks(5) }]);
}
