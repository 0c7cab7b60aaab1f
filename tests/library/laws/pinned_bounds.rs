//! Small problems, each at a point where a bound would be too high with one of its hypotheses left out,
//! and the values that all bounds give there.

use bubbleproof::certificate::{
    Bound, BoundError, BoundReason, Objective, Repetition, holds, lower_bound, lower_bound_of,
    lower_bound_within,
};
use bubbleproof::model::{Costs, Device, Kind, Memory, Model, Placement, Ticks, Units};

use super::bounds::{ENOUGH, subsets};
use super::every_order::optimum;

struct Case {
    /// What it is about.
    why: &'static str,
    placement: Placement,
    microbatches: u32,
    /// By stage: F, I and W.
    times: &'static [[i64; 3]],
    latency: i64,
    /// By stage: activation, the part retained for W, and the checkpoint.
    held: &'static [[i64; 3]],
    capacities: &'static [i64],
    objective: Objective,
    /// The best of all orders.
    optimum: i64,
    /// What the closed forms alone give.
    closed: i64,
}

impl Case {
    fn model(&self) -> Model {
        let times = |at: usize| self.times.iter().map(|times| Ticks(times[at])).collect();
        let held = |at: usize| self.held.iter().map(|held| Units(held[at])).collect();
        let costs = Costs {
            unit: "tick".to_owned(),
            forward: times(0),
            backward_input: times(1),
            backward_weight: times(2),
            communication: vec![Ticks(self.latency); self.times.len() - 1],
        };
        let memory = Memory {
            unit: "unit".to_owned(),
            activation: held(0),
            retained_for_weight: held(1),
            checkpoint: self.recomputes().then(|| held(2)),
            weights: vec![Units(0); self.times.len()],
            capacity: self.capacities.iter().map(|&capacity| Some(Units(capacity))).collect(),
        };
        Model::new(self.why.to_owned(), None, self.placement.clone(), self.microbatches, costs, memory)
            .expect("a model")
    }

    fn recomputes(&self) -> bool {
        self.held.iter().any(|[all, _, checkpoint]| checkpoint < all)
    }
}

fn cases() -> Vec<Case> {
    let linear = || Placement::linear(2).expect("a placement");
    let single = || Placement::v(1).expect("a placement");
    let (span, makespan) = (Objective::DeviceSpan, Objective::Makespan);
    vec![
        Case {
            why: "a microbatch whose W waits holds only what is retained, so the next F need not wait for W",
            placement: linear(),
            microbatches: 3,
            times: &[[1, 1, 10], [1, 1, 0]],
            latency: 4,
            held: &[[3, 1, 3], [1, 0, 1]],
            capacities: &[4, 9],
            objective: makespan,
            optimum: 46,
            closed: 46,
        },
        Case {
            why: "with recomputation only checkpoints wait for their backward, and the next F need not",
            placement: linear(),
            microbatches: 2,
            times: &[[1, 1, 1], [1, 1, 1]],
            latency: 3,
            held: &[[4, 4, 1], [1, 1, 1]],
            capacities: &[5, 9],
            objective: makespan,
            optimum: 15,
            closed: 13,
        },
        Case {
            why: "microbatches that wait for the same pass run it one right after the other",
            placement: linear(),
            microbatches: 2,
            times: &[[1, 3, 0], [1, 1, 0]],
            latency: 4,
            held: &[[1, 1, 1], [1, 1, 1]],
            capacities: &[9, 9],
            objective: makespan,
            optimum: 17,
            closed: 17,
        },
        Case {
            why: "the span of a device has no head and does not begin with the first start of another",
            placement: linear(),
            microbatches: 2,
            times: &[[1, 1, 1], [1, 1, 10]],
            latency: 0,
            held: &[[1, 1, 1], [1, 1, 1]],
            capacities: &[4, 1],
            objective: span,
            optimum: 24,
            closed: 24,
        },
        Case {
            why: "of two passes that start together and take no time neither is in the way of the other",
            placement: single(),
            microbatches: 1,
            times: &[[1, 0, 1], [1, 1, 0]],
            latency: 0,
            held: &[[1, 1, 1], [1, 1, 1]],
            capacities: &[2],
            objective: makespan,
            optimum: 4,
            closed: 4,
        },
        Case {
            why: "windows that meet are no windows",
            placement: Placement::v(2).expect("a placement"),
            microbatches: 1,
            times: &[[1, 1, 1]; 4],
            latency: 0,
            held: &[[1, 1, 1]; 4],
            capacities: &[2, 2],
            objective: makespan,
            optimum: 9,
            closed: 9,
        },
        Case {
            why: "before the first backward a device runs as many forwards as it holds",
            placement: linear(),
            microbatches: 3,
            times: &[[2, 2, 2], [2, 2, 2]],
            latency: 1,
            held: &[[1, 1, 1], [1, 1, 1]],
            capacities: &[2, 1],
            objective: makespan,
            optimum: 24,
            closed: 24,
        },
    ]
}

#[test]
fn no_bound_exceeds_the_optimum_where_a_hypothesis_matters() {
    for case in cases() {
        let model = case.model();
        let mut best = optimum(&model, &[Kind::F, Kind::I, Kind::W], case.objective);
        if case.recomputes() {
            let recomputed = optimum(&model, &[Kind::F, Kind::R, Kind::I, Kind::W], case.objective);
            assert!(recomputed < best, "{}: recomputation is worth it", case.why);
            best = recomputed;
        }
        assert_eq!(best, Some(case.optimum), "{}", case.why);
        let closed = lower_bound_within(&model, case.objective, 0).value;
        assert_eq!(closed, Ticks(case.closed), "{}", case.why);
        assert!(closed <= lower_bound(&model, case.objective).value, "{}", case.why);
        assert!(lower_bound(&model, case.objective).value <= Ticks(case.optimum), "{}", case.why);
        for devices in subsets(&model) {
            let bound = lower_bound_of(&model, case.objective, &devices, ENOUGH).expect("a small model");
            assert!(bound.value <= Ticks(case.optimum), "{}: {bound:?}", case.why);
            let every = devices.len() == model.devices() as usize;
            if every && case.objective == Objective::Makespan && !case.recomputes() {
                assert_eq!(bound.value, Ticks(case.optimum), "{}", case.why);
            }
        }
    }
}

/// V placement, the 3,4,2 model.
fn v(devices: u32, microbatches: u32, capacity: i64) -> Model {
    let placement = Placement::v(devices).expect("a placement");
    Model::equal_stages(placement, microbatches, [3, 4, 2, 0])
        .and_then(|model| model.with_uniform_activation_capacity(Some(Units(capacity))))
        .expect("a model")
}

#[test]
fn an_exact_repetition_gives_the_very_value_whatever_the_rest_of_the_last_period() {
    let objective = Objective::Makespan;
    let mut periods = Vec::new();
    for (capacity, devices) in [(4, vec![3]), (5, vec![3]), (6, vec![3]), (3, vec![0, 3]), (4, vec![2, 3])] {
        let devices: Vec<Device> = devices.into_iter().map(Device).collect();
        for microbatches in 16..=22 {
            let model = v(4, microbatches, capacity);
            let bound = lower_bound_of(&model, objective, &devices, ENOUGH).expect("enough steps");
            let BoundReason::Subset { repetition: Some(repetition), .. } = bound.reason else {
                panic!("capacity {capacity}, {devices:?}: {bound:?} has been followed to its end")
            };
            periods.push(repetition.period);
            let reason = BoundReason::Subset { devices: devices.clone(), repetition: None };
            let followed = Bound { reason, ..bound };
            assert_eq!(
                holds(&model, objective, &followed),
                Ok(()),
                "capacity {capacity}, m = {microbatches}"
            );
        }
    }
    assert!(periods.iter().any(|&period| period > 1), "a rest of the last period: {periods:?}");
}

#[test]
fn a_repetition_that_is_altered_is_refused() {
    let (model, objective, device) = (v(4, 40, 4), Objective::Makespan, Device(3));
    let bound = lower_bound_of(&model, objective, &[device], ENOUGH).expect("enough steps");
    let BoundReason::Subset { repetition: Some(genuine), .. } = bound.reason else { panic!("{bound:?}") };
    assert_eq!(holds(&model, objective, &bound), Ok(()));
    let Repetition { after, period, growth } = genuine;
    let claiming = |repetition| {
        let reason = BoundReason::Subset { devices: vec![device], repetition: Some(repetition) };
        holds(&model, objective, &Bound { reason, ..bound })
    };
    let one = Ticks(1);
    for altered in [
        Repetition { growth: growth + one, ..genuine },
        Repetition { growth: Ticks(-1), ..genuine },
        Repetition { period: 0, ..genuine },
        Repetition { period: after, ..genuine },
        Repetition { after: 41, ..genuine },
        Repetition { after: 0, ..genuine },
    ] {
        let refused = claiming(altered);
        assert!(matches!(refused, Err(BoundError::Figures(_))), "{altered:?}: {refused:?}");
    }
    // True, but they show less.
    for less in
        [Repetition { growth: growth - one, ..genuine }, Repetition { growth: Ticks::ZERO, ..genuine }]
    {
        let refused = claiming(less);
        assert!(
            matches!(refused, Err(BoundError::Value { claimed, shown }) if shown < claimed),
            "{less:?}: {refused:?}"
        );
    }
    // A period of two is as true as one of one, and of twice the growth.
    let twice = Repetition { after: after + period, period: 2 * period, growth: growth * 2 };
    let told = claiming(twice);
    assert!(matches!(told, Ok(()) | Err(BoundError::Value { .. })), "{told:?}");
    for devices in [vec![], vec![device, device], vec![device, Device(0)]] {
        let reason = BoundReason::Subset { devices, repetition: None };
        assert_eq!(holds(&model, objective, &Bound { reason, ..bound }), Err(BoundError::Order));
    }
}
