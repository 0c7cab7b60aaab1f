//! The exact program against enumeration, and against the solvers.

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;

use super::*;
use crate::block::Block;
use crate::model::{Costs, Device, Kind, Memory, Microbatch, Pass, Recompute, RecomputeLevel, Stage, Ticks};
use crate::schedule::prerequisites;

const EVERY: [Passes; 4] = [
    Passes::SPLIT,
    Passes::FUSED,
    Passes { fused: false, recompute: true },
    Passes { fused: true, recompute: true },
];

/// Pipelines along a chain, under any names of the devices, with uneven stages and capacities. Some Rs take no time and acquire
/// nothing.
fn models(devices: std::ops::RangeInclusive<u32>, longest: i64) -> impl Strategy<Value = Model> {
    let lists = (devices, any::<bool>(), any::<bool>()).prop_map(|(devices, v, reversed)| {
        let mut lists: Vec<Vec<Stage>> = (0..devices)
            .map(|low| if v { vec![Stage(low), Stage(2 * devices - 1 - low)] } else { vec![Stage(low)] })
            .collect();
        if reversed {
            lists.reverse();
        }
        Placement::new(lists).expect("a placement")
    });
    lists.prop_flat_map(move |placement| {
        let (stages, devices) = (placement.stages() as usize, placement.devices() as usize);
        let times = |least| prop::collection::vec(least..=longest, stages);
        let latency = prop::collection::vec(0..=longest.min(2), stages - 1);
        let held = (1..=3_i64).prop_flat_map(|all| (Just(all), 0..=all, 0..=all));
        let spare = prop::collection::vec(prop::option::weighted(0.75, -1..=3_i64), devices);
        let held = prop::collection::vec(held, stages);
        (Just(placement), times(1), times(1), times(0), times(0), latency, held, spare).prop_map(
            |(placement, forward, input, weight, again, latency, held, spare)| {
                let ticks = |list: Vec<i64>| list.into_iter().map(Ticks).collect();
                let units =
                    |of: &dyn Fn(&(i64, i64, i64)) -> i64| held.iter().map(|h| Units(of(h))).collect();
                let capacity = placement.lists().iter().zip(spare).map(|(stages, spare)| {
                    let alone: i64 = stages.iter().map(|stage| held[stage.index()].0).sum();
                    spare.map(|spare| Units((alone + spare).max(0)))
                });
                let memory = Memory {
                    unit: "unit".to_owned(),
                    activation: units(&|held| held.0),
                    retained_for_weight: units(&|held| held.1),
                    checkpoint: None,
                    weights: units(&|_| 0),
                    capacity: capacity.collect(),
                };
                let costs = Costs {
                    unit: "tick".to_owned(),
                    forward: ticks(forward),
                    backward_input: ticks(input),
                    backward_weight: ticks(weight),
                    communication: ticks(latency),
                };
                let kept =
                    held.iter().zip(&again).map(|(held, &time)| if time == 0 { held.0 } else { held.2 });
                let checkpoint = kept.map(Units).collect();
                let levels = vec![RecomputeLevel { checkpoint, duration: Some(ticks(again)) }];
                let model =
                    Model::new("test".to_owned(), None, placement, 1, costs, memory).expect("a model");
                model.with_recompute(Some(Recompute { levels, fused: false })).expect("a level")
            },
        )
    })
}

/// Every block of an interval, pass by pass.
struct Enumeration<'a> {
    model: &'a Model,
    passes: Passes,
    interval: i64,
    order: Vec<Pass>,
    starts: Vec<(Pass, i64)>,
    least: Option<Least>,
    steps: u32,
}

/// The least of all blocks with an interval, each for itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Least {
    peak: i64,
    /// From the first F to the last backward.
    time: i64,
}

/// The least of any block with this interval; nothing but the effort when that is too much.
fn enumerated(model: &Model, passes: Passes, interval: i64) -> Result<Option<Least>, u32> {
    // Four passes per stage have many more orders.
    let most = if passes.recompute && !passes.fused { 100_000 } else { 20_000 };
    let pass = |stage, kind| Pass::new(stage, kind, Microbatch(0));
    let stages = || Stage::all(model.stages());
    let mut order: Vec<Pass> = stages().map(|stage| pass(stage, Kind::F)).collect();
    order.extend(stages().rev().map(|stage| pass(stage, passes.backward())));
    for kind in passes.kinds().iter().filter(|kind| matches!(kind, Kind::R | Kind::W)) {
        order.extend(stages().map(|stage| pass(stage, *kind)));
    }
    let mut all = Enumeration { model, passes, interval, order, starts: Vec::new(), least: None, steps: 0 };
    all.place(0, most);
    if all.steps >= most { Err(all.steps) } else { Ok(all.least) }
}

impl Enumeration<'_> {
    fn end(&self, pass: Pass) -> Option<i64> {
        let at = self.starts.iter().find(|(other, _)| *other == pass)?.1;
        Some(at + self.model.duration(pass.stage, pass.kind).0)
    }

    fn place(&mut self, position: usize, most: u32) {
        self.steps += 1;
        if self.steps >= most {
            return;
        }
        let Some(&pass) = self.order.get(position) else { return self.record() };
        let kinds = self.passes.kinds();
        let needs = prerequisites(pass, self.model.placement(), |other| kinds.contains(&other.kind));
        let arrivals = needs.filter_map(|other| {
            let latency = if other.stage == pass.stage {
                0
            } else {
                self.model.latency_after(other.stage.min(pass.stage)).0
            };
            Some(self.end(other)? + latency)
        });
        let earliest = arrivals.max().unwrap_or(0);
        // A recomputation ends before the backward, which has been placed: two intervals later if
        // need be, so that there is room for it.
        let (from, to) = match pass.kind {
            _ if position == 0 => (0, 1),
            Kind::R => {
                let backward = pass.with_kind(self.passes.backward());
                let length = |pass: Pass| self.model.duration(pass.stage, pass.kind).0;
                let last = self.end(backward).expect("it has been placed") - length(backward) - length(pass);
                (earliest.max(last - self.interval), last + 1)
            }
            Kind::I | Kind::B if self.passes.recompute => (earliest, earliest + 2 * self.interval),
            _ => (earliest, earliest + self.interval),
        };
        for start in from..to {
            if self.is_free(pass, start) {
                self.starts.push((pass, start));
                self.place(position + 1, most);
                self.starts.pop();
            }
        }
    }

    fn is_free(&self, pass: Pass, start: i64) -> bool {
        let device = |pass: Pass| self.model.placement().device_of(pass.stage);
        let length = |pass: Pass| self.model.duration(pass.stage, pass.kind).0;
        length(pass) <= self.interval
            && self.starts.iter().filter(|(other, _)| device(*other) == device(pass)).all(|&(other, at)| {
                let ahead = (start - at).rem_euclid(self.interval);
                let behind = (at - start).rem_euclid(self.interval);
                let apart = ahead >= length(other) && behind >= length(pass);
                apart || (ahead == 0 && (length(pass) == 0 || length(other) == 0))
            })
    }

    fn record(&mut self) {
        let offsets = self.starts.iter().map(|&(pass, at)| (pass.stage, pass.kind, Ticks(at)));
        let block =
            Block::new(self.model.placement().clone(), Ticks(self.interval), offsets).expect("a block");
        assert_eq!(block.faults(self.model), []);
        let peaks = block.steady_peak(self.model);
        let fits = Device::all(self.model.devices()).zip(&peaks).all(|(device, &peak)| {
            self.model.activation_capacity(device).is_none_or(|capacity| peak <= capacity)
        });
        if fits {
            let peak = peaks.into_iter().max().unwrap_or_default().0;
            let last = Pass::new(Stage(0), self.passes.backward(), Microbatch(0));
            let time = self.starts.iter().find(|(pass, _)| *pass == last).expect("it has been placed").1;
            let least = self.least.unwrap_or(Least { peak, time });
            self.least = Some(Least { peak: least.peak.min(peak), time: least.time.min(time) });
        }
    }
}

fn peak_of(found: Result<CheckedBlock, ZoneError>) -> Option<i64> {
    match found {
        Ok(best) => Some(best.peak_max().0),
        Err(ZoneError::Infeasible(_)) => None,
        Err(error) => panic!("{error}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn no_block_holds_less_than_enumeration_finds(model in models(1..=2, 2), spare in 0..=2_i64) {
        for passes in EVERY {
            let interval = passes.most_work(&model).0 + spare;
            let Ok(expected) = enumerated(&model, passes, interval) else { continue };
            let found = least_memory(&model, passes, Ratio::from_integer(interval), &Stop::default());
            prop_assert_eq!(peak_of(found), expected.map(|least| least.peak), "{:?} at {}", passes, interval);
        }
    }

    #[test]
    fn no_microbatch_is_done_sooner_than_enumeration_finds(model in models(1..=2, 2), spare in 0..=2_i64) {
        let stop = Stop::default();
        for passes in EVERY {
            let interval = passes.most_work(&model).0 + spare;
            let Ok(Some(Least { time, .. })) = enumerated(&model, passes, interval) else { continue };
            let known = least_memory(&model, passes, Ratio::from_integer(interval), &stop);
            let soonest = soonest_done(&model, passes, known.expect("a block"), &stop).expect("a block");
            let pipeline = Pipeline::new(&model, passes, None, &stop).expect("a pipeline");
            prop_assert_eq!(soonest.interval, Ratio::from_integer(interval));
            prop_assert_eq!(pipeline.time_of(&soonest.block), Ok(time), "{:?} at {}", passes, interval);
        }
    }

    #[test]
    fn an_interval_is_least_when_enumeration_finds_none_below(model in models(1..=2, 2)) {
        for passes in EVERY {
            let best = least_interval(&model, passes, &Stop::default());
            let least = best.as_ref().map_or(passes.most_work(&model).0 + 4, |best| best.interval.ceil().to_integer());
            for interval in [least - 1, least] {
                let Ok(expected) = enumerated(&model, passes, interval) else { continue };
                let feasible = expected.is_some() && interval >= passes.most_work(&model).0;
                prop_assert_eq!(feasible, best.is_ok() && interval == least, "{:?} at {}", passes, interval);
            }
        }
    }
}

/// Pipelines along a chain without latency.
fn without_latency(devices: std::ops::RangeInclusive<u32>, longest: i64) -> impl Strategy<Value = Model> {
    models(devices, longest).prop_map(|model| {
        let communication = vec![Ticks(0); model.stages() as usize - 1];
        model.with_costs(Costs { communication, ..model.costs().clone() }).expect("a model")
    })
}

/// The least, over all ways to divide the devices into runs of neighbours, of the most work of a run, where a device in
/// the j-th run from the last holds j microbatches.
fn best_runs(model: &Model) -> Option<i64> {
    let stages = model.stages();
    let (memory, placement) = (model.memory(), model.placement());
    let longest = |cuts: u32| {
        let (mut run, mut work, mut longest) = (1, 0, 0);
        for stage in Stage::all(stages).rev() {
            if cuts >> stage.0 & 1 == 1 {
                (run, work) = (run + 1, 0);
            }
            let held = memory.activation[stage.index()] * run;
            if memory.capacity[placement.device_of(stage).index()].is_some_and(|capacity| held > capacity) {
                return None;
            }
            work += model.duration(stage, Kind::F).0 + model.duration(stage, Kind::B).0;
            longest = longest.max(work);
        }
        Some(longest)
    };
    // A cut is behind a stage, and there is none behind the last.
    (0..1 << (stages - 1)).filter_map(longest).min()
}

proptest! {
    #[test]
    fn without_latency_the_least_interval_is_whole(model in without_latency(1..=8, 20)) {
        for passes in EVERY {
            if let Ok(best) = least_interval(&model, passes, &Stop::default()) {
                prop_assert!(best.interval.is_integer(), "{:?}: {}", passes, best.interval);
            }
        }
    }

    #[test]
    fn the_least_interval_of_full_backwards_is_the_longest_of_the_best_runs(model in without_latency(1..=9, 20)) {
        prop_assume!(model.stages() == model.devices());
        let best = least_interval(&model, Passes::FUSED, &Stop::default()).ok();
        prop_assert_eq!(best.map(|best| best.interval), best_runs(&model).map(Ratio::from_integer));
    }
}

/// What the laws above compare with: were nearly every case too large to enumerate, or without any
/// block, they would hold of nothing.
#[test]
fn enumeration_decides_most_cases_both_ways() {
    let (mut runner, drawn) = (TestRunner::deterministic(), (models(1..=2, 2), 0..=2_i64));
    let cases: Vec<(Model, i64)> =
        (0..80).map(|_| drawn.new_tree(&mut runner).expect("a case").current()).collect();
    for passes in EVERY {
        let [mut blocks, mut none, mut several, mut two_chunks] = [0; 4];
        for (model, spare) in &cases {
            let interval = passes.most_work(model).0 + spare;
            let Ok(found) = enumerated(model, passes, interval) else { continue };
            blocks += u32::from(found.is_some());
            none += u32::from(found.is_none());
            several += u32::from(model.devices() > 1);
            two_chunks += u32::from(model.stages() > model.devices());
        }
        let counts = [blocks, none, several, two_chunks];
        assert!(
            counts.iter().zip([10, 1, 4, 4]).all(|(&count, least)| count >= least),
            "{passes:?}: {counts:?}"
        );
    }
}

#[cfg(all(feature = "milp", feature = "lcg"))]
mod solvers {
    use std::time::Duration;

    use super::*;
    use crate::encode::{BlockBound, BlockObjective, BlockOutcome, CheckedBlock, lcg, milp, smt};

    const AMPLE: Duration = Duration::from_secs(60);

    /// What an outcome says of the optimum: no less than this, no more than that.
    fn between(outcome: &BlockOutcome, objective: BlockObjective) -> Option<(Ratio<i64>, Ratio<i64>)> {
        let value = |answer: &CheckedBlock| match objective {
            BlockObjective::LeastInterval => answer.interval,
            BlockObjective::LeastMemory { .. } => Ratio::from_integer(answer.peak_max().0),
        };
        match outcome {
            BlockOutcome::Optimal(answer) => Some((value(answer), value(answer))),
            BlockOutcome::Infeasible | BlockOutcome::Claimed { best: None, .. } => None,
            BlockOutcome::Bounded { best, bound } | BlockOutcome::Claimed { best, bound, .. } => {
                let least = match *bound {
                    BlockBound::Interval(least) => least,
                    BlockBound::Memory(least) => Ratio::from_integer(least.0),
                };
                Some((least, value(best.as_ref().expect("there is time enough"))))
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

        #[test]
        fn the_solvers_find_the_same_optima(model in models(1..=3, 6), spare in 0..=3_i64) {
            let stop = Stop::default();
            let interval = model.most_work() + Ticks(spare);
            let at = Ratio::from_integer(interval.0);
            let memory = peak_of(least_memory(&model, Passes::SPLIT, at, &stop)).map(Ratio::from_integer);
            let pace = least_interval(&model, Passes::SPLIT, &stop).ok().map(|best| best.interval);
            for (objective, expected) in
                [(BlockObjective::LeastMemory { interval }, memory), (BlockObjective::LeastInterval, pace)]
            {
                // What HiGHS says in floating point is a claim.
                let by_milp = milp::solve(&model, objective, &Stop::after(AMPLE)).expect("an outcome").into();
                let (least, most) = between(&by_milp, objective).unzip();
                prop_assert!(least <= expected, "{:?}, not {:?}", by_milp, expected);
                prop_assert_eq!(most, expected);
                let by_smt = smt::solve(&model, objective, &Stop::after(AMPLE)).expect("an outcome");
                prop_assert_eq!(between(&by_smt, objective), expected.map(|value| (value, value)));
                let by_lcg = lcg::solve_periodic(&model, 1, objective, &Stop::after(AMPLE)).expect("an outcome");
                prop_assert_eq!(between(&by_lcg, objective), expected.map(|value| (value, value)));
            }
        }
    }
}
