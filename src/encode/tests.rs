use proptest::prelude::*;

use super::*;
use crate::model::{Costs, Kind, Memory, Microbatch, Placement, Stage};

/// A model with values of its own for every stage.
fn model(placement: Placement, times: [Vec<i64>; 4], held: [Vec<i64>; 2], caps: Vec<Option<i64>>) -> Model {
    let [forward, backward_input, backward_weight, communication] =
        times.map(|list| list.into_iter().map(Ticks).collect());
    let [activation, retained_for_weight] = held.map(|list| list.into_iter().map(Units).collect());
    let costs = Costs { unit: "tick".to_owned(), forward, backward_input, backward_weight, communication };
    let memory = Memory {
        unit: "unit".to_owned(),
        activation,
        retained_for_weight,
        checkpoint: None,
        capacity: caps.into_iter().map(|cap| cap.map(Units)).collect(),
    };
    Model::new("test".to_owned(), None, placement, 1, costs, memory).expect("a model")
}

/// A model whose stages are alike, without caps.
fn uniform(placement: &Placement, [forward, input, weight, latency]: [i64; 4]) -> Model {
    let (stages, devices) = (placement.stages() as usize, placement.devices() as usize);
    let times = [vec![forward; stages], vec![input; stages], vec![weight; stages], vec![latency; stages - 1]];
    model(placement.clone(), times, [vec![1; stages], vec![1; stages]], vec![None; devices])
}

fn v(devices: u32) -> Placement {
    Placement::v(devices).expect("a placement")
}

/// The shifts of a block, straight from their definition.
fn shifts_of(problem: &Problem, block: &Block) -> Vec<i64> {
    let offset = |pass: usize| block.offset(problem.passes()[pass]).expect("a pass of the block").0;
    let interval = block.interval_parts().0;
    problem.pairs().iter().map(|&(a, b)| -(offset(b) - offset(a)).div_euclid(interval)).collect()
}

/// 1F1B over two devices at unit times: F0 F1 I1 I0, each W right after its I.
fn one_f_one_b() -> (Model, Block) {
    let placement = Placement::linear(2).expect("a placement");
    let model = uniform(&placement, [1, 1, 1, 0]);
    let offsets = [
        (0, Kind::F, 0),
        (1, Kind::F, 1),
        (1, Kind::I, 2),
        (0, Kind::I, 4),
        (1, Kind::W, 3),
        (0, Kind::W, 5),
    ];
    let offsets = offsets.map(|(stage, kind, at)| (Stage(stage), kind, Ticks(at)));
    (model, Block::new(placement, Ticks(3), offsets).expect("a block"))
}

#[test]
fn shifts_alone_give_back_a_block_with_its_interval_and_peak() {
    let (model, block) = one_f_one_b();
    let problem = Problem::new(&model).expect("a problem");
    let shifts = shifts_of(&problem, &block);
    let found = answer(&model, &problem, &shifts, Claim::default()).expect("an answer");
    assert_eq!(found.interval, Ratio::from_integer(3));
    assert_eq!(found.peak, block.steady_peak(&model));
    assert_eq!(found.block.offset(Pass::new(Stage(0), Kind::F, Microbatch(0))), Some(Ticks(0)));
}

#[test]
fn tampered_shifts_and_false_claims_are_rejected() {
    let (model, block) = one_f_one_b();
    let problem = Problem::new(&model).expect("a problem");
    let right = shifts_of(&problem, &block);
    let at = |interval| Claim { interval: Some(Ratio::from_integer(interval)), peak: None };

    for pair in 0..right.len() {
        for change in [-1, 1] {
            let mut wrong = right.clone();
            wrong[pair] += change;
            let rejected = answer(&model, &problem, &wrong, at(3));
            assert!(
                matches!(rejected, Err(EncodeError::Rejected(Rejection::Interval { .. }))),
                "pair {pair}, {change:+}: {rejected:?}"
            );
        }
    }
    let mut circular = right.clone();
    // A W that ends before its own I starts, whatever the interval.
    let (pair, forward) = problem.pair(1, 2);
    assert!(forward, "I comes before W");
    circular[pair] += 9;
    let (pair, _) = problem.pair(0, 2);
    circular[pair] -= 9;
    assert_eq!(answer(&model, &problem, &circular, Claim::default()), Err(Rejection::Contradiction.into()));
    assert_eq!(
        answer(&model, &problem, &right, at(2)),
        Err(Rejection::Interval { claimed: Ratio::from_integer(2) }.into())
    );
    let low = Claim { peak: Some(Units(1)), ..at(3) };
    let cap = Rejection::Cap { device: Device(0), peak: Units(2), cap: Units(1) };
    assert_eq!(answer(&model, &problem, &right, low), Err(cap.clone().into()));
    let capped = model.with_uniform_capacity(Some(Units(1))).expect("a model");
    assert_eq!(answer(&capped, &problem, &right, at(3)), Err(cap.into()));
}

#[test]
fn a_pass_without_duration_is_refused_but_a_weight_pass_is_fused() {
    let placement = Placement::linear(2).expect("a placement");
    let stage_without = |kind| Pass::new(Stage(0), kind, Microbatch(0));
    for (times, kind) in [([0, 1, 1, 0], Kind::F), ([1, 0, 1, 0], Kind::I)] {
        let refused = Problem::new(&uniform(&placement, times));
        assert_eq!(refused, Err(EncodeError::NoDuration(stage_without(kind))));
    }
    let problem = Problem::new(&uniform(&placement, [1, 2, 0, 0])).expect("a problem");
    let kinds: Vec<Kind> = problem.passes().iter().map(|pass| pass.kind).collect();
    assert_eq!(kinds, [Kind::F, Kind::B, Kind::F, Kind::B]);
}

#[cfg(feature = "smt")]
#[test]
fn the_linked_z3_is_the_one_that_the_project_is_set_up_with() {
    assert!(z3::full_version().starts_with("Z3 5.4"), "{}", z3::full_version());
}

/// Everything by enumeration: an engine so plain that it needs no proof.
mod brute {
    use super::*;

    /// The least largest peak at an interval, under the caps of the model.
    pub fn least_memory(model: &Model, interval: i64) -> Option<i64> {
        let mut search = Search::new(model, interval);
        search.place(0);
        search.best
    }

    /// Whether there are few enough blocks of an interval to enumerate: on a device, about as many as
    /// ways to deal the idle ticks out between its passes, and all shifts of the devices.
    pub fn is_affordable(model: &Model, interval: i64) -> bool {
        let device = |device| {
            let passes = 3 * i64::try_from(model.placement().stages_of(device).len()).expect("few stages");
            let idle = interval - model.work(device).0;
            (1..=passes).map(|pass| pass + idle).fold(1_i64, i64::saturating_mul)
        };
        let ways = Device::all(model.devices()).map(device).fold(1_i64, i64::saturating_mul);
        let shifts = (1..model.devices()).fold(1, |shifts, _| shifts * interval);
        ways.saturating_mul(shifts) <= 300_000
    }

    struct Search<'a> {
        model: &'a Model,
        /// The order in which passes are placed: the chain, then every W.
        order: Vec<Pass>,
        interval: i64,
        starts: Vec<(Pass, i64)>,
        best: Option<i64>,
    }

    impl<'a> Search<'a> {
        fn new(model: &'a Model, interval: i64) -> Self {
            let pass = |stage: u32, kind| Pass::new(Stage(stage), kind, Microbatch(0));
            let stages = model.stages();
            let mut order: Vec<Pass> = (0..stages).map(|stage| pass(stage, Kind::F)).collect();
            order.extend((0..stages).rev().map(|stage| pass(stage, Kind::I)));
            order.extend((0..stages).map(|stage| pass(stage, Kind::W)));
            Self { model, order, interval, starts: Vec::new(), best: None }
        }

        fn start(&self, pass: Pass) -> i64 {
            self.starts.iter().find(|(other, _)| *other == pass).expect("it has been placed").1
        }

        fn length(&self, pass: Pass) -> i64 {
            self.model.duration(pass.stage, pass.kind).0
        }

        /// Puts a pass at every residue that is free, each as early as may be.
        fn place(&mut self, position: usize) {
            let Some(&pass) = self.order.get(position) else { return self.record() };
            let needs = if pass.kind == Kind::W {
                Some(pass.with_kind(Kind::I))
            } else {
                position.checked_sub(1).map(|before| self.order[before])
            };
            let earliest = needs.map_or(0, |needs| {
                let latency = if needs.stage == pass.stage {
                    0
                } else {
                    self.model.latency_after(needs.stage.min(pass.stage)).0
                };
                self.start(needs) + self.length(needs) + latency
            });
            let choices = if position == 0 { 1 } else { self.interval };
            for start in earliest..earliest + choices {
                if self.is_free(pass, start) {
                    self.starts.push((pass, start));
                    self.place(position + 1);
                    self.starts.pop();
                }
            }
        }

        fn is_free(&self, pass: Pass, start: i64) -> bool {
            let device = |pass: Pass| self.model.placement().device_of(pass.stage);
            self.length(pass) <= self.interval
                && self.starts.iter().filter(|(other, _)| device(*other) == device(pass)).all(
                    |&(other, at)| {
                        let ahead = (start - at).rem_euclid(self.interval);
                        let behind = (at - start).rem_euclid(self.interval);
                        // A W without duration fits anywhere but inside another pass.
                        let apart = ahead >= self.length(other) && behind >= self.length(pass);
                        let instant = self.length(pass) == 0 || self.length(other) == 0;
                        apart || (instant && ahead == 0)
                    },
                )
        }

        /// Counts the live copies at the start of every F.
        fn record(&mut self) {
            let mut most = 0;
            for device in Device::all(self.model.devices()) {
                let stages = self.model.placement().stages_of(device);
                let peak = stages.iter().map(|&started| self.live(started, stages)).max().unwrap_or(0);
                if self.model.capacity(device).is_some_and(|cap| peak > cap.0) {
                    return;
                }
                most = most.max(peak);
            }
            self.best = Some(self.best.map_or(most, |best| best.min(most)));
        }

        fn live(&self, started: Stage, stages: &[Stage]) -> i64 {
            let pass = |stage, kind| Pass::new(stage, kind, Microbatch(0));
            let now = self.start(pass(started, Kind::F));
            let mut held = 0;
            for &stage in stages {
                let retained = self.model.retained_for_weight(stage).0;
                for (kind, units) in
                    [(Kind::I, self.model.activation(stage).0 - retained), (Kind::W, retained)]
                {
                    let last = pass(stage, kind);
                    let end = self.start(last) + self.length(last);
                    let copies = (-16..16).filter(|copy| {
                        let shift = copy * self.interval;
                        self.start(pass(stage, Kind::F)) + shift <= now && now < end + shift
                    });
                    held += units * i64::try_from(copies.count()).expect("few copies");
                }
            }
            held
        }
    }
}

/// Small pipelines of every shape, with uneven stages.
fn small_models() -> impl Strategy<Value = Model> {
    let placements = prop_oneof![
        (1..=3_u32).prop_map(|devices| Placement::linear(devices).expect("a placement")),
        (1..=2_u32).prop_map(v),
        Just(Placement::looped(2, 2).expect("a placement")),
        Just(Placement::new(vec![vec![Stage(0), Stage(2)], vec![Stage(1)]]).expect("a placement")),
    ];
    placements.prop_flat_map(|placement| {
        let (stages, devices) = (placement.stages() as usize, placement.devices() as usize);
        let longest = match stages {
            1 | 2 => 4_i64,
            3 => 2,
            _ => 1,
        };
        let times = || prop::collection::vec(1..=longest, stages);
        let weights = prop::collection::vec(0..=longest, stages);
        let latency = prop::collection::vec(0..=2_i64, stages - 1);
        let held = prop::collection::vec((1..=3_i64).prop_flat_map(|all| (Just(all), 0..=all)), stages);
        let spare = prop::collection::vec(prop::option::of(-1..=3_i64), devices);
        (Just(placement), times(), times(), weights, latency, held, spare).prop_map(
            |(placement, forward, input, weight, latency, held, spare)| {
                let (activation, retained): (Vec<i64>, Vec<i64>) = held.into_iter().unzip();
                let caps = placement.lists().iter().zip(spare).map(|(stages, spare)| {
                    let alone: i64 = stages.iter().map(|stage| activation[stage.index()]).sum();
                    spare.map(|spare| (alone + spare).max(0))
                });
                let caps = caps.collect();
                model(placement, [forward, input, weight, latency], [activation, retained], caps)
            },
        )
    })
}

/// The objective that an outcome has reached and proved.
fn proved(outcome: &Outcome, objective: Objective) -> Option<Ratio<i64>> {
    match (outcome, objective) {
        (Outcome::Optimal(answer), Objective::LeastInterval) => Some(answer.interval),
        (Outcome::Optimal(answer), Objective::LeastMemory { .. }) => {
            Some(Ratio::from_integer(answer.peak_max().0))
        }
        (Outcome::Infeasible, _) => None,
        (Outcome::Bounded { .. }, _) => panic!("there is time enough: {outcome:?}"),
    }
}

#[cfg(all(feature = "milp", feature = "smt"))]
mod engines {
    use std::time::Duration;

    use super::*;

    const AMPLE: Duration = Duration::from_secs(60);

    fn both(model: &Model, objective: Objective) -> [Outcome; 2] {
        [milp::solve(model, objective, AMPLE), smt::solve(model, objective, AMPLE)]
            .map(|outcome| outcome.expect("an outcome"))
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

        #[test]
        fn both_engines_find_the_least_memory_that_enumeration_finds(model in small_models(), spare in 0..=1_i64) {
            let interval = model.most_work().0 + spare;
            let objective = Objective::LeastMemory { interval: Ticks(interval) };
            let [milp, smt] = both(&model, objective).map(|outcome| proved(&outcome, objective));
            prop_assert_eq!(milp, smt);
            if brute::is_affordable(&model, interval) {
                prop_assert_eq!(smt, brute::least_memory(&model, interval).map(Ratio::from_integer));
            }
        }

        #[test]
        fn both_engines_find_the_least_interval_that_enumeration_finds(model in small_models()) {
            let [milp, smt] = both(&model, Objective::LeastInterval)
                .map(|outcome| proved(&outcome, Objective::LeastInterval));
            prop_assert_eq!(milp, smt);
            // A whole interval is feasible from the least one on, and no earlier.
            let least = smt.map_or(model.most_work().0, |interval| interval.ceil().to_integer());
            for interval in [least - 1, least] {
                if brute::is_affordable(&model, interval) {
                    let feasible = interval >= model.most_work().0 && brute::least_memory(&model, interval).is_some();
                    prop_assert_eq!(feasible, smt.is_some() && interval == least);
                }
            }
        }
    }

    #[test]
    fn both_engines_find_blocks_of_the_same_shortest_length() {
        let looped = Placement::looped(2, 2).expect("a placement");
        // The second and third were once called optimal by HiGHS three and four ticks too early.
        for (placement, times) in
            [(v(3), [1, 1, 1, 0]), (v(3), [2, 3, 2, 1]), (v(3), [3, 4, 2, 1]), (looped, [3, 4, 2, 1])]
        {
            let model = uniform(&placement, times);
            let objective = Objective::LeastMemory { interval: model.most_work() };
            let [milp, smt] = both(&model, objective).map(|outcome| {
                let answer = outcome.answer().expect("a block");
                (answer.peak_max(), answer.length(&model))
            });
            assert_eq!(milp, smt, "{times:?}");
        }
    }

    #[test]
    fn a_least_interval_need_not_be_whole() {
        for (devices, times, cap, expected) in
            [(2, [1, 1, 1, 1], 2, (7, 2)), (3, [1, 1, 1, 1], 3, (11, 3)), (3, [1, 2, 4, 1], 2, (17, 2))]
        {
            let model = uniform(&Placement::linear(devices).expect("a placement"), times);
            let model = model.with_uniform_capacity(Some(Units(cap))).expect("a model");
            for outcome in both(&model, Objective::LeastInterval) {
                let expected = Ratio::new(expected.0, expected.1);
                assert_eq!(proved(&outcome, Objective::LeastInterval), Some(expected));
                let block = &outcome.answer().expect("a block").block;
                assert_eq!(block.interval(), expected);
            }
        }
    }

    #[test]
    fn amounts_of_bytes_are_as_exact_as_small_ones() {
        // Two sizes without a common divisor, far beyond 32 bits.
        let sizes = vec![30_000_000_001, 20_000_000_003, 30_000_000_001, 20_000_000_003];
        let retained = sizes.iter().map(|size| size - 7).collect();
        let times = [vec![1; 4], vec![1; 4], vec![1; 4], vec![1; 3]];
        let model = model(v(2), times, [sizes, retained], vec![None; 2]);
        let objective = Objective::LeastMemory { interval: Ticks(6) };
        let expected = brute::least_memory(&model, 6).expect("a block");
        let smt = smt::solve(&model, objective, AMPLE).expect("an outcome");
        assert_eq!(proved(&smt, objective), Some(Ratio::from_integer(expected)));
        // HiGHS cannot tell such sizes apart to the byte, and says so.
        match milp::solve(&model, objective, AMPLE).expect("an outcome") {
            Outcome::Bounded { answer: Some(answer), bound: Bound::Memory(bound) } => {
                assert!(bound.0 <= expected && expected <= answer.peak_max().0);
            }
            Outcome::Optimal(answer) => assert_eq!(answer.peak_max(), Units(expected)),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_cannot_be_is_infeasible_for_both() {
        let model = uniform(&v(3), [3, 4, 2, 0]);
        let short = Objective::LeastMemory { interval: Ticks(17) };
        let tight = model.with_uniform_capacity(Some(Units(3))).expect("a model");
        let capped = Objective::LeastMemory { interval: Ticks(18) };
        let overfull = model.with_uniform_capacity(Some(Units(1))).expect("a model");
        for (model, objective) in [(&model, short), (&tight, capped), (&overfull, Objective::LeastInterval)] {
            assert_eq!(both(model, objective), [Outcome::Infeasible, Outcome::Infeasible]);
        }
        let never = Objective::LeastMemory { interval: Ticks(0) };
        for refused in [milp::solve(&model, never, AMPLE), smt::solve(&model, never, AMPLE)] {
            assert_eq!(refused, Err(EncodeError::NotPositive(Ticks(0))));
        }
    }

    #[test]
    fn without_time_there_is_still_a_true_bound() {
        let model = uniform(&v(6), [3, 4, 2, 0]).with_uniform_capacity(Some(Units(8))).expect("a model");
        let memory = Objective::LeastMemory { interval: Ticks(18) };
        for solve in [milp::solve, smt::solve] {
            match solve(&model, memory, Duration::ZERO).expect("an outcome") {
                Outcome::Bounded { bound: Bound::Memory(bound), .. } => assert!(bound <= Units(8)),
                other => panic!("{other:?}"),
            }
            match solve(&model, Objective::LeastInterval, Duration::ZERO).expect("an outcome") {
                Outcome::Bounded { bound: Bound::Interval(bound), .. } => {
                    assert!(bound >= Ratio::from_integer(18) - Ratio::new(1, 100));
                    assert!(bound <= Ratio::from_integer(21));
                }
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn the_same_question_has_the_same_answer() {
        let model = uniform(&v(4), [3, 4, 2, 1]).with_uniform_capacity(Some(Units(4))).expect("a model");
        let [first, second] = [(); 2].map(|()| both(&model, Objective::LeastInterval));
        assert_eq!(first, second);
    }
}
