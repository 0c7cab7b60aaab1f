//! The search in numbers against replay, and what unrolling promises.

use std::num::NonZeroUsize;

use super::anneal::Annealing;
use super::dispatch::{dispatch, forwards_of, rules};
use super::justify::Justifier;
use super::thinned::thinned;
use super::{OptimizeError, Options, not_refuted, optimize, zone};
use crate::block::Passes;
use crate::catalog;
use crate::certificate::{Objective, lower_bound_until};
use crate::kernel::{EndTimes, IndexedOrders, IndexedProblem, asap, order_peak, unroll};
use crate::model::{self, Device, Model, Placement, Ticks, Units};
use crate::replay::replay;
use crate::schedule::Schedule;
use crate::stop::{Interrupt, Stop};

/// Models of all placements, with latency and without.
fn models() -> Vec<Model> {
    let placements = [Placement::linear(4), Placement::looped(3, 2), Placement::v(4), Placement::v(1)];
    let times = [[1, 1, 1, 0], [3, 4, 2, 0], [5, 2, 7, 3], [2, 3, 0, 1]];
    placements
        .into_iter()
        .flat_map(|placement| {
            let placement = placement.expect("a placement");
            times.map(|times| Model::equal_stages(placement.clone(), 13, times).expect("a model"))
        })
        .collect()
}

/// Every named schedule of the model in indexed form, with the problem it solves.
fn named(model: &Model) -> Vec<(Schedule, IndexedProblem, IndexedOrders)> {
    let problem = IndexedProblem::split(model, &vec![false; model.stages() as usize]);
    let entries = catalog::entries().iter().filter_map(|entry| entry.generate(model).ok());
    entries
        .filter_map(|schedule| {
            let orders = problem.split_orders(&schedule)?;
            Some((schedule, problem.clone(), orders))
        })
        .collect()
}

fn length(problem: &IndexedProblem, orders: &IndexedOrders) -> (i64, i64) {
    let mut times = EndTimes::default();
    assert!(problem.asap(orders, &mut times), "the orders run");
    problem.makespan_and_span(orders, &times)
}

#[test]
fn indexed_orders_have_the_times_and_the_peak_that_replay_finds() {
    for model in models() {
        for (_, problem, orders) in named(&model) {
            let schedule = problem.schedule(&model, &orders);
            let verdict = replay(&model, &schedule);
            let peak = verdict.peak_memory_max().0;
            let metrics = verdict.timing.expect("it runs").metrics;
            let mut times = EndTimes::default();
            assert!(problem.asap(&orders, &mut times), "the orders run");
            let span = problem.device_span(&orders, &times);
            assert_eq!((length(&problem, &orders).0, span), (metrics.makespan.0, metrics.device_span.0));
            assert_eq!(problem.hold_back(&orders, &mut times), Some(span));
            assert_eq!(problem.makespan_and_span(&orders, &times).1, span);
            assert_eq!(problem.peak(&orders), peak);
        }
    }
}

#[test]
fn splitting_a_full_backward_makes_no_schedule_longer_and_lifts_no_peak() {
    for model in models() {
        for (schedule, problem, orders) in named(&model) {
            let timeline = asap(&model, &schedule).expect("a named schedule runs");
            assert!(length(&problem, &orders).0 <= timeline.makespan(&model).0);
            let split = problem.schedule(&model, &orders);
            for device in Device::all(model.devices()) {
                let (before, after) = (schedule.order(device), split.order(device));
                assert!(order_peak(&model, after) <= order_peak(&model, before));
            }
        }
    }
}

#[test]
fn an_asap_pass_within_a_limit_gives_up_only_beyond_it() {
    for model in models() {
        for (_, problem, orders) in named(&model) {
            let (makespan, _) = length(&problem, &orders);
            let mut times = EndTimes::default();
            assert!(problem.asap_within(&orders, &mut times, makespan));
            let work = model.most_work().0 * i64::from(model.microbatches());
            assert!(!problem.asap_within(&orders, &mut times, work - 1));
        }
    }
}

/// The problem with the capacities that a schedule just keeps to.
fn tight(problem: &IndexedProblem, model: &Model, orders: &IndexedOrders) -> IndexedProblem {
    let schedule = problem.schedule(model, orders);
    let peaks = Device::all(model.devices()).map(|device| order_peak(model, schedule.order(device)));
    problem.clone().within(&peaks.collect::<Vec<_>>())
}

#[test]
fn filling_and_annealing_keep_to_the_limits_and_never_make_a_schedule_longer() {
    for model in models() {
        for (_, problem, orders) in named(&model) {
            let problem = tight(&problem, &model, &orders);
            let before = length(&problem, &orders);
            let backward = problem.reversed();
            let mut filled = orders.clone();
            let reached = Justifier::new(&problem, &backward, Objective::Makespan)
                .justify(&mut filled, &Stop::default());
            assert_eq!(reached, Some(length(&problem, &filled)));
            assert!(reached <= Some(before));
            let mut annealing = Annealing::new(&problem, orders, Objective::Makespan, 0.4, 1);
            let annealed = annealing.run(20_000, 0, &Stop::default());
            assert!(length(&problem, &annealed).0 <= before.0);
            for found in [filled, annealed] {
                assert!(replay(&model, &problem.schedule(&model, &found)).is_valid());
                assert!(problem.fits(&found));
            }
        }
    }
}

#[test]
fn list_scheduling_along_the_forwards_of_a_schedule_always_ends_within_its_peaks() {
    for model in models() {
        for (_, problem, orders) in named(&model) {
            let problem = tight(&problem, &model, &orders);
            for rule in rules() {
                let listed = dispatch(
                    &problem,
                    &forwards_of(&problem, &orders),
                    &problem.limits,
                    rule,
                    &Stop::default(),
                )
                .expect("it goes on");
                assert!(replay(&model, &problem.schedule(&model, &listed)).is_valid());
                assert!(problem.fits(&listed));
            }
        }
    }
}

/// A schedule that recomputes nothing, in numbers, with its ASAP times.
fn timed(model: &Model, schedule: &Schedule) -> (IndexedProblem, IndexedOrders, EndTimes) {
    let problem = IndexedProblem::split(model, &vec![false; model.stages() as usize]);
    let orders = problem.split_orders(schedule).expect("nothing is recomputed");
    let mut times = EndTimes::default();
    assert!(problem.asap(&orders, &mut times));
    (problem, orders, times)
}

#[test]
fn an_unrolled_schedule_has_the_same_peak_and_one_interval_more_for_each_microbatch() {
    let model =
        Model::equal_stages(Placement::v(4).expect("a placement"), 24, [1, 1, 1, 0]).expect("a model");
    let long = model.with_microbatches(60).expect("more");
    for name in ["v-min", "v-half", "v-zb"] {
        let schedule = catalog::find(name).expect("a name").generate(&model).expect("a V");
        let (problem, orders, times) = timed(&model, &schedule);
        let segment = problem.steady_segment(&orders, &times).expect("a steady phase");
        assert_eq!((segment.time, segment.period), (6, 1), "{name}");
        let more = unroll(&orders, &segment, 36).expect("first in, first out");
        let longer = problem.clone().with_microbatches(60);
        assert_eq!(longer.peak(&more), problem.peak(&orders));
        assert_eq!(length(&longer, &more).0, length(&problem, &orders).0 + 36 * 6, "{name}");
        assert!(replay(&long, &longer.schedule(&long, &more)).is_valid());
    }
}

/// Where every repetition of a block that has no room is left out, what is left may follow no short period.
#[test]
fn a_schedule_without_a_short_period_is_unrolled_by_a_long_one() {
    let model =
        Model::equal_stages(Placement::v(16).expect("a placement"), 90, [3, 4, 2, 1]).expect("a model");
    let roomy = model.with_uniform_capacity(Units(16)).expect("a capacity");
    let block = zone::least_interval(&roomy, Passes::SPLIT, &Stop::default()).expect("a block").block;
    let mut periods = Vec::new();
    for capacity in [7, 9, 11] {
        let model = model.with_uniform_capacity(Units(capacity)).expect("a capacity");
        let schedule = thinned(&model, &block, &Stop::default()).expect("a chunk fits");
        let (problem, orders, times) = timed(&model, &schedule);
        let segment = problem.long_segment(&orders, &times).expect("a segment");
        periods.push(segment.period);
        for missing in [1, segment.period, 5 * segment.period + 1, 100] {
            let more = unroll(&orders, &segment, missing).expect("first in, first out");
            let long = model.with_microbatches(90 + missing).expect("more");
            let longer = problem.clone().with_microbatches(90 + missing);
            assert!(replay(&long, &longer.schedule(&long, &more)).is_valid());
            assert_eq!(longer.peak(&more), problem.peak(&orders));
            // The time of a segment is an estimate, but here it is enough.
            let repetitions = i64::from(missing.div_ceil(segment.period));
            let most = length(&problem, &orders).0 + repetitions * segment.time;
            assert!(length(&longer, &more).0 <= most, "{capacity}: {missing} more");
        }
    }
    assert_eq!(periods, [12, 20, 30]);
}

#[test]
fn a_schedule_better_than_what_was_proved_is_a_defect_and_not_optimal() {
    let proved = |value| Some(("engine", Ticks(value)));
    assert_eq!(not_refuted(Ticks(9), Ticks(9), proved(9)), Ok(()));
    assert_eq!(not_refuted(Ticks(9), Ticks(7), None), Ok(()));
    let refuted = OptimizeError::Refuted { engine: "engine", proved: Ticks(9), value: Ticks(8) };
    assert_eq!(not_refuted(Ticks(8), Ticks(7), proved(9)), Err(refuted));
    assert!(not_refuted(Ticks(6), Ticks(7), None).is_err());
}

/// Of what the search for the makespan keeps here, the best one after needless recomputation is left out is not the one
/// that was best before.
#[test]
fn the_span_is_no_longer_than_that_of_the_schedule_of_least_makespan() {
    let model = model::parse(
        "name = \"needless\"\n[pipeline]\ndevices = 2\nplacement = \"linear\"\nmicrobatches = 13\n\
         [time]\nforward = [1, 2]\nbackward_input = 3\nbackward_weight = [5, 3]\ncommunication = 4\n\
         [memory]\nunit = \"unit\"\nactivation = [6, 0]\nretained_for_weight = [5, 0]\ncapacity = [12, 6]\n\
         [recompute]\ncheckpoint = [1, 0]\n",
    );
    let model = model.expect("a model");
    let [shortest, of_span] = [Objective::Makespan, Objective::DeviceSpan].map(|objective| {
        let options = Options { objective, effort: 500, exact_effort: 0, ..Options::default() };
        optimize(&model, &options, &mut |_| ()).expect("it fits")
    });
    let span = shortest.verdict.timing.expect("it is valid").metrics.device_span;
    assert!(of_span.value() <= span, "{} after {span}", of_span.value());
}

/// The effort allows ten steps for a bound, which are not enough for the states of one device.
#[test]
fn with_all_the_time_some_devices_are_followed_as_far_as_a_check_can_follow_them() {
    let model = Model::equal_stages(Placement::v(4).expect("a placement"), 8, [3, 4, 2, 0])
        .and_then(|model| model.with_uniform_capacity(Units(3)))
        .expect("a model");
    let bound = |steps| lower_bound_until(&model, Objective::Makespan, steps, &mut || false).value;
    let (few, many) = (bound(10), bound(1_000_000));
    assert!(few < many, "{few} {many}");
    let mut told = Vec::new();
    let interrupt = Interrupt::default();
    let options = Options {
        stop: Stop::on(interrupt.clone()),
        effort: 1000,
        exact_effort: 0,
        use_all_time: true,
        ..Options::default()
    };
    let solution = optimize(&model, &options, &mut |progress| {
        let has_looked = told.last().is_some_and(|(step, _)| step == "lower bounds");
        if has_looked && progress.step != "lower bounds" {
            interrupt.raise();
        }
        told.push((progress.step.clone(), progress.bound));
    });
    assert_eq!(solution.expect("it fits").bound.value, many, "{told:?}");
}

/// The exact program has no block here, and beyond 64 stages no solver is asked. Where there is no room for a repetition it is left out.
#[test]
fn long_pipelines_in_looped_placement_start_from_thinned_blocks() {
    for (devices, engine, (longer, than)) in
        [(32, "thinned lcg block", (15, 16)), (40, "thinned placed block", (10, 11))]
    {
        let model =
            Model::equal_stages(Placement::looped(devices, 2).expect("a placement"), 220, [1, 1, 1, 0])
                .and_then(|model| model.with_uniform_capacity(Units(devices.into())))
                .expect("a model");
        let options = Options { effort: 4_000_000, exact_effort: 0, ..Options::default() };
        let solution = optimize(&model, &options, &mut |_| ()).expect("it fits");
        assert!(solution.engine == engine || !cfg!(feature = "lcg"), "{}", solution.engine);
        let (value, bound) = (solution.value().0, solution.bound.value.0);
        assert!(value * longer <= bound * than, "{value} by {engine}, bound {bound}");
    }
}

#[test]
fn looped_placement_over_many_devices_comes_close_to_the_bound_with_any_number_of_threads() {
    let model = Model::equal_stages(Placement::looped(24, 2).expect("a placement"), 160, [3, 4, 2, 1])
        .and_then(|model| model.with_uniform_capacity(Units(48)))
        .expect("a model");
    let found = [1, 3].map(|threads| {
        let threads = NonZeroUsize::new(threads).expect("not none");
        let options = Options { effort: 20_000_000, exact_effort: 0, threads, ..Options::default() };
        optimize(&model, &options, &mut |_| ()).expect("it fits")
    });
    assert_eq!(found[0], found[1]);
    let (value, bound) = (found[0].value().0, found[0].bound.value.0);
    assert!(value * 50 <= bound * 51, "{value} by {}, bound {bound}", found[0].engine);
}

/// These list schedules have no short steady phase.
#[test]
fn all_microbatches_are_scheduled_by_list_where_few_do_not_repeat() {
    let model = Model::equal_stages(Placement::v(24).expect("a placement"), 160, [1, 1, 1, 0])
        .and_then(|model| model.with_uniform_capacity(Units(24)))
        .expect("a model");
    let options = Options { effort: 1_000_000, exact_effort: 0, ..Options::default() };
    let solution = optimize(&model, &options, &mut |_| ()).expect("it fits");
    assert_eq!(solution.engine, "list scheduling along uniform offsets");
    let (value, bound) = (solution.value().0, solution.bound.value.0);
    assert!(value * 200 <= bound * 201, "{value}, bound {bound}");
}

/// A device with two stages and one microbatch.
fn narrow(memory: &str) -> Model {
    let text = "name = \"narrow\"\n[pipeline]\ndevices = 1\nplacement = [[0, 1]]\nmicrobatches = 1\n[time]\nforward = 1\n\
                backward_input = 1\nbackward_weight = 1\n[memory]\n";
    model::parse(&format!("{text}{memory}")).expect("a model")
}

/// Without recomputation, or where every stage has the same level, a microbatch does not fit.
#[test]
fn one_microbatch_may_fit_with_few_choices_of_levels() {
    let beside_a_workspace = "activation = [1, 3]\ncapacity = 5\nworkspace = { forward = [0, 3], recompute = 0 }\n\
                              [[recompute.level]]\ncheckpoint = 0\n[[recompute.level]]\ncheckpoint = 0\nduration = 2\n";
    let offloaded = "activation = 4\ncapacity = 6\n[[recompute.level]]\ncheckpoint = [4, 0]\n\
                     [[recompute.level]]\ncheckpoint = [0, 4]\n[offload]\nmoved = [1, 0]\nto_host = 1\nfrom_host = 1\n";
    for memory in [beside_a_workspace, offloaded] {
        let model = narrow(memory);
        let options = Options { effort: 1_000_000, exact_effort: 1000, ..Options::default() };
        let solution = optimize(&model, &options, &mut |_| ());
        let solution = solution.unwrap_or_else(|error| panic!("{memory}: {error}"));
        assert!(replay(&model, &solution.schedule).is_valid());
    }
}

/// The device holds 1 and 1 of what F keeps, and the weights of one stage.
#[test]
fn what_is_missing_counts_gathered_weights() {
    for capacity in 1..=4 {
        let model = narrow(&format!(
            "activation = 1\ncapacity = {capacity}\n[sharding]\ngather = 4\ngathered = 2\nstages = 1\n"
        ));
        let options = Options { effort: 1_000_000, exact_effort: 1000, ..Options::default() };
        match optimize(&model, &options, &mut |_| ()) {
            Ok(_) => assert_eq!(capacity, 4),
            Err(OptimizeError::Infeasible(error)) => {
                assert_eq!((error.capacity.0, error.needed.0), (capacity, 4));
            }
            Err(error) => panic!("{error}"),
        }
    }
}
