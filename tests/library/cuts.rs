//! Cuts and schedules of tiny jobs, against every cut and every schedule.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use bubbleproof::certificate::{holds_over_cuts, lower_bound_over_cuts};
use bubbleproof::job::{self, Cut, Job, Layers};
use bubbleproof::model::{Kind, Model, Stage, Ticks};
use bubbleproof::optimize::{OptimizeError, Options};
use bubbleproof::plan::{self, Partition, PlanError, optimize_cut};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::cases;

/// All cuts into this many stages, each with a layer or more.
fn all_cuts(layers: u32, stages: u32) -> Vec<Cut> {
    fn extend(left: u32, stages: u32, cut: &mut Vec<u32>, all: &mut Vec<Cut>) {
        if stages == 1 {
            all.push(Cut::new([cut.as_slice(), &[left]].concat()));
            return;
        }
        for taken in 1..=left.saturating_sub(stages - 1) {
            cut.push(taken);
            extend(left - taken, stages - 1, cut, all);
            cut.pop();
        }
    }
    let mut all = Vec::new();
    if layers >= stages {
        extend(layers, stages, &mut Vec::new(), &mut all);
    }
    all
}

/// The least makespan of all schedules of F, I and W within the capacities; none if there is none. Devices append one pass after
/// the other, in every order; of two ways to have run the same passes, one goes on that is later nowhere.
fn least_makespan(model: &Model) -> Option<i64> {
    let (stages, microbatches) = (model.stages() as usize, model.microbatches() as usize);
    let count = 3 * stages * microbatches;
    assert!(count <= 24, "few enough for a set of passes in 32 bits");
    let at =
        |kind: usize, stage: usize, microbatch: usize| (kind * stages + stage) * microbatches + microbatch;
    let kinds = [Kind::F, Kind::I, Kind::W];
    let device_of = |stage: usize| model.placement().device_of(Stage::at(stage)).index();
    let devices = model.devices() as usize;
    // What a pass needs, each with the latency until it has arrived.
    let needs = |kind: usize, stage: usize, microbatch: usize| -> Vec<(usize, i64)> {
        let latency = |boundary: usize| model.latency_after(Stage::at(boundary)).0;
        match kind {
            0 if stage == 0 => Vec::new(),
            0 => vec![(at(0, stage - 1, microbatch), latency(stage - 1))],
            1 if stage + 1 == stages => vec![(at(0, stage, microbatch), 0)],
            1 => vec![(at(0, stage, microbatch), 0), (at(1, stage + 1, microbatch), latency(stage))],
            _ => vec![(at(1, stage, microbatch), 0)],
        }
    };
    let mut waiting = vec![Vec::new(); count];
    for kind in 0..kinds.len() {
        for (stage, microbatch) in (0..stages).flat_map(|stage| (0..microbatches).map(move |m| (stage, m))) {
            for (need, _) in needs(kind, stage, microbatch) {
                waiting[need].push(at(kind, stage, microbatch));
            }
        }
    }
    let holds = |set: u32, device: usize| -> i64 {
        let mut held = 0;
        for stage in (0..stages).filter(|&stage| device_of(stage) == device) {
            for microbatch in 0..microbatches {
                let has = |kind| set >> at(kind, stage, microbatch) & 1 == 1;
                let (stage, all) = (Stage::at(stage), model.activation(Stage::at(stage)).0);
                held += match (has(0), has(1), has(2)) {
                    (true, false, _) => all,
                    (true, true, false) => model.retained_for_weight(stage).0,
                    _ => 0,
                };
            }
        }
        held
    };
    // By set of passes that have run: the ends of all passes so far, where none is later in all than another one.
    let mut layer: BTreeMap<u32, Vec<Vec<i64>>> = BTreeMap::from([(0, vec![vec![0; count + devices]])]);
    for _ in 0..count {
        let mut next: BTreeMap<u32, Vec<Vec<i64>>> = BTreeMap::new();
        for (&set, ways) in &layer {
            for (kind, &of) in kinds.iter().enumerate() {
                for stage in 0..stages {
                    for microbatch in 0..microbatches {
                        let pass = at(kind, stage, microbatch);
                        let needed = needs(kind, stage, microbatch);
                        if set >> pass & 1 == 1 || needed.iter().any(|&(need, _)| set >> need & 1 == 0) {
                            continue;
                        }
                        let (device, after) = (device_of(stage), set | 1 << pass);
                        let capacity =
                            model.activation_capacity(model.placement().device_of(Stage::at(stage)));
                        if kind == 0 && capacity.is_some_and(|capacity| holds(after, device) > capacity.0) {
                            continue;
                        }
                        for way in ways {
                            let arrived = needed.iter().map(|&(need, latency)| way[need] + latency);
                            let start = arrived.max().unwrap_or(0).max(way[count + device]);
                            let end = start + model.duration(Stage::at(stage), of).0;
                            let mut longer = way.clone();
                            (longer[pass], longer[count + device]) = (end, end);
                            // Ends that no pass to come asks for are forgotten, so that more ways are alike.
                            for (end, waiting) in longer.iter_mut().zip(&waiting) {
                                if waiting.iter().all(|&next| after >> next & 1 == 1) {
                                    *end = 0;
                                }
                            }
                            keep(next.entry(after).or_default(), longer);
                        }
                    }
                }
            }
        }
        layer = next;
    }
    let makespan = |way: &Vec<i64>| way[count..].iter().copied().max();
    layer.values().flatten().filter_map(makespan).min()
}

fn keep(ways: &mut Vec<Vec<i64>>, new: Vec<i64>) {
    let no_later = |one: &[i64], other: &[i64]| one.iter().zip(other).all(|(one, other)| one <= other);
    if ways.iter().any(|way| no_later(way, &new)) {
        return;
    }
    ways.retain(|way| !no_later(&new, way));
    ways.push(new);
}

/// A tiny job: layers with F, I, W and memory; microbatches; latency; the memory of a device, if limited; and placements.
fn jobs() -> impl Strategy<Value = (String, Job)> {
    let layer = (0_i64..4, 0_i64..4, 0_i64..4, 1_i64..4, 0_i64..2);
    let shape = prop_oneof![
        3 => Just(("linear", 2_u32, 1_u32..=3)),
        1 => Just(("linear", 3, 1..=2)),
        2 => Just(("v", 2, 1..=2)),
        1 => Just(("looped 2", 2, 1..=2)),
    ];
    let shape = shape
        .prop_flat_map(|(placement, devices, microbatches)| (Just(placement), Just(devices), microbatches));
    (proptest::collection::vec(layer, 4..6), shape, 0_i64..3, proptest::option::of(4_i64..16)).prop_map(
        |(layers, (placement, devices, microbatches), latency, memory)| {
            let names: Vec<String> = (0..layers.len()).map(|at| format!("\"l{at}\"")).collect();
            let mut text = format!("name = \"tiny\"\nlayers = [{}]\n", names.join(", "));
            for (at, (forward, input, weight, activation, weights)) in layers.into_iter().enumerate() {
                _ = write!(
                    text,
                    "[layer.l{at}]\nforward = {}\nbackward_input = {input}\nbackward_weight = {weight}\n\
                     activation = {activation}\nretained_for_weight = {}\nweights = {weights}\n",
                    forward + 1,
                    activation - 1,
                );
            }
            _ = writeln!(text, "[machine]\ndevices = {devices}\nlatency = {latency}");
            if let Some(memory) = memory {
                _ = writeln!(text, "memory = {memory}");
            }
            _ = writeln!(
                text,
                "[choices]\nglobal_batch = {microbatches}\npipeline = {devices}\nplacement = \"{placement}\""
            );
            let job = job::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
            (text, job)
        },
    )
}

/// The least makespan of any cut and schedule, with its cut.
fn least_of_all_cuts(layers: &Layers) -> Option<(i64, Cut)> {
    let count = u32::try_from(layers.atoms.len()).expect("few");
    let of = |cut: Cut| Some((least_makespan(&layers.model(&cut).ok()?)?, cut));
    all_cuts(count, layers.stages()).into_iter().filter_map(of).min()
}

#[test]
fn no_cut_and_schedule_of_a_tiny_job_is_shorter_than_what_is_claimed() {
    let mut runner = TestRunner::new_with_rng(
        cases(800),
        proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha),
    );
    let (count, proved) = (std::cell::Cell::new(0), std::cell::Cell::new(0));
    runner
        .run(&jobs(), |(text, job)| {
            let choice = job.choices().expect("one choice")[0];
            let layers = job.layers(&choice).expect("layers");
            let options = Options { effort: 1_000_000, exact_effort: 100_000, ..Options::default() };
            let found = optimize_cut(&layers, &Partition::Auto, &options, &mut |_| ());
            match (least_of_all_cuts(&layers), found) {
                (Some((least, cut)), Ok(found)) => {
                    let value = found.solution.value().0;
                    prop_assert_eq!(value, least, "{} with the cut {}, not {}", text, cut, found.cut);
                    prop_assert!(found.none_below().0 <= least, "{}: {:?}", text, found.searched);
                    count.set(count.get() + 1);
                    proved.set(proved.get() + u32::from(found.is_optimal()));
                    prop_assert_eq!(holds_over_cuts(&layers, found.no_cut_below), Ok(()));
                    let plan = found.certified(&text, &choice, None);
                    let checked = bubbleproof::certificate::check_plan(&plan, &job);
                    prop_assert!(checked.is_ok(), "{}", checked.expect_err("it is refused"));
                }
                (
                    None,
                    Err(
                        PlanError::NoCut(_)
                        | PlanError::NoneFound
                        | PlanError::Search(OptimizeError::Infeasible(_)),
                    ),
                ) => {}
                (least, found) => {
                    let found = found.map(|found| (found.solution.value(), found.cut));
                    prop_assert!(false, "{}: {:?}, but {:?}", text, least, found);
                }
            }
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
    let (count, proved) = (count.get(), proved.get());
    // The rest is as good, but would take longer to prove.
    assert!(proved * 10 >= count * 9, "{proved} of {count} are proved optimal");
}

#[test]
fn the_bound_over_cuts_is_never_above_the_least_makespan_with_recomputation_or_a_step() {
    // Beyond passes there is no exhaustive engine, but the bounds still have to be true of what is found.
    let text = "
        name = \"beyond\"\nlayers = [\"a\", \"3 b\", \"c\"]\n
        [units]\ntime = \"ms\"\nmemory = \"GiB\"\n
        [layer.a]\nforward = 1\nbackward_input = 1\nbackward_weight = 2\nactivation = 2\ngradients = 4\noptimizer = 1\n
        [layer.b]\nforward = 3\nbackward_input = 4\nbackward_weight = 2\nactivation = 3\ncheckpoint = 1\ngradients = 1\noffload = 1\n
        [layer.c]\nforward = 4\nbackward_input = 4\nbackward_weight = 4\nactivation = 1\n
        [machine]\ndevices = 4\ndevices_per_node = 2\nmemory = 14\nlatency = 0.5\nbandwidth = \"40 GiB/s\"\n
        node_bandwidth = \"10 GiB/s\"\nhost_bandwidth = \"100 GiB/s\"\n
        [choices]\nglobal_batch = 8\npipeline = 2\nplacement = [\"linear\", \"v\"]\nrecompute = [\"none\", \"auto\"]\noffload = [\"none\", \"auto\"]\n";
    let job = job::parse(text).unwrap_or_else(|error| panic!("{error}"));
    let choices = job.choices().expect("choices");
    assert_eq!(choices.len(), 8);
    let mut compared = 0;
    for choice in choices {
        let layers = job.layers(&choice).expect("layers");
        let options = Options { effort: 2_000_000, exact_effort: 0, ..Options::default() };
        let bound = lower_bound_over_cuts(&layers, Ticks(i64::MAX));
        let found = optimize_cut(&layers, &Partition::Auto, &options, &mut |_| ());
        match (bound, found) {
            (Ok(bound), Ok(found)) => {
                assert!(bound <= found.solution.value(), "{choice}");
                compared += 1;
            }
            (
                _,
                Err(
                    PlanError::NoCut(_)
                    | PlanError::NoneFound
                    | PlanError::Search(OptimizeError::Infeasible(_)),
                ),
            ) => {}
            (bound, found) => panic!("{choice}: {bound:?} {:?}", found.map(|found| found.solution.value())),
        }
    }
    assert!(compared >= 6, "{compared} of 8 choices have plans");
    let options = Options { effort: 2_000_000, exact_effort: 0, ..Options::default() };
    let plan = plan::plan(&job, &options, &mut |_| ()).expect("a plan");
    assert_eq!(plan.alternatives.len(), 8);
    let (_, best) = plan.best().expect("a plan");
    assert!(plan.none_below <= best.solution.value());
    let schedule = plan.certified(text).expect("a schedule");
    let checked = bubbleproof::certificate::check_plan(&schedule, &job);
    checked.unwrap_or_else(|error| panic!("{error}"));
}
