//! The dense engines against those of `block`, and what stretching promises.

use super::anneal::Annealing;
use super::dense::{Dense, Orders, Times};
use super::fill::Justifier;
use super::list::{list_schedule, plan_of, rules};
use crate::block::{order_peak, squeeze, stretched};
use crate::catalog;
use crate::model::{Device, Model, Placement};
use crate::replay::replay;
use crate::schedule::Schedule;

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

/// Every named schedule of the model in dense numbers, with the problem it solves.
fn named(model: &Model) -> Vec<(Schedule, Dense, Orders)> {
    let dense = Dense::new(model, vec![false; model.stages() as usize]);
    let entries = catalog::entries().iter().filter_map(|entry| entry.generate(model).ok());
    entries
        .filter_map(|schedule| {
            let orders = dense.orders_of(&schedule)?;
            Some((schedule, dense.clone(), orders))
        })
        .collect()
}

fn length(dense: &Dense, orders: &Orders) -> (i64, i64) {
    let mut times = Times::default();
    assert!(dense.squeeze(orders, &mut times), "the orders run");
    dense.length(orders, &times)
}

#[test]
fn dense_orders_have_the_times_and_the_peak_that_replay_finds() {
    for model in models() {
        for (_, dense, orders) in named(&model) {
            let schedule = dense.schedule(&model, &orders);
            let verdict = replay(&model, &schedule);
            let peak = verdict.peak_memory_max().0;
            let metrics = verdict.timing.expect("it runs").metrics;
            assert_eq!(length(&dense, &orders), (metrics.makespan.0, metrics.device_span.0));
            assert_eq!(dense.peak(&orders), peak);
        }
    }
}

#[test]
fn splitting_a_full_backward_makes_no_schedule_longer_and_lifts_no_peak() {
    for model in models() {
        for (schedule, dense, orders) in named(&model) {
            let timeline = squeeze(&model, &schedule).expect("a named schedule runs");
            assert!(length(&dense, &orders).0 <= timeline.makespan(&model).0);
            let split = dense.schedule(&model, &orders);
            for device in Device::all(model.devices()) {
                let (before, after) = (schedule.order(device), split.order(device));
                assert!(order_peak(&model, after) <= order_peak(&model, before));
            }
        }
    }
}

#[test]
fn a_squeeze_within_a_limit_gives_up_only_beyond_it() {
    for model in models() {
        for (_, dense, orders) in named(&model) {
            let (makespan, _) = length(&dense, &orders);
            let mut times = Times::default();
            assert!(dense.squeeze_within(&orders, &mut times, makespan));
            let work = model.most_work().0 * i64::from(model.microbatches());
            assert!(!dense.squeeze_within(&orders, &mut times, work - 1));
        }
    }
}

/// The problem with the caps that a schedule just keeps to.
fn tight(dense: &Dense, model: &Model, orders: &Orders) -> Dense {
    let schedule = dense.schedule(model, orders);
    let peaks = Device::all(model.devices()).map(|device| order_peak(model, schedule.order(device)).0);
    Dense { limits: peaks.collect(), ..dense.clone() }
}

#[test]
fn filling_and_annealing_keep_to_the_limits_and_never_make_a_schedule_longer() {
    for model in models() {
        for (_, dense, orders) in named(&model) {
            let dense = tight(&dense, &model, &orders);
            let before = length(&dense, &orders);
            let backward = dense.reversed();
            let mut filled = orders.clone();
            let value = |makespan, span| (makespan, span);
            let reached = Justifier::new(&dense, &backward).justify(&mut filled, value, &|| false);
            assert_eq!(reached, Some(length(&dense, &filled)));
            assert!(reached <= Some(before));
            let mut annealing = Annealing::new(&dense, orders, 0.4, 1);
            let annealed = annealing.run(20_000, |makespan, _| makespan, 0, &|| false);
            assert!(length(&dense, &annealed).0 <= before.0);
            for found in [filled, annealed] {
                assert!(replay(&model, &dense.schedule(&model, &found)).is_valid());
                assert!(found.iter().enumerate().all(|(device, order)| dense.fits(device, order)));
            }
        }
    }
}

#[test]
fn list_scheduling_along_the_forwards_of_a_schedule_always_ends_within_its_peaks() {
    for model in models() {
        for (_, dense, orders) in named(&model) {
            let dense = tight(&dense, &model, &orders);
            for rule in rules() {
                let listed =
                    list_schedule(&dense, &plan_of(&orders), &dense.limits, rule).expect("it goes on");
                assert!(replay(&model, &dense.schedule(&model, &listed)).is_valid());
                assert!(listed.iter().enumerate().all(|(device, order)| dense.fits(device, order)));
            }
        }
    }
}

#[test]
fn a_stretched_schedule_has_the_same_peak_and_one_interval_more_for_each_microbatch() {
    let model =
        Model::equal_stages(Placement::v(4).expect("a placement"), 24, [1, 1, 1, 0]).expect("a model");
    let long = model.with_microbatches(60).expect("more");
    for name in ["v-min", "v-half", "v-zb"] {
        let schedule = catalog::find(name).expect("a name").generate(&model).expect("a V");
        let stages = vec![false; model.stages() as usize];
        let dense = Dense::new(&model, stages.clone());
        let orders = dense.orders_of(&schedule).expect("nothing is recomputed");
        let mut times = Times::default();
        assert!(dense.squeeze(&orders, &mut times));
        let piece = dense.piece(&orders, &times).expect("a steady phase");
        assert_eq!((piece.time, piece.period), (6, 1), "{name}");
        let more = stretched(&orders, &piece, 36).expect("first in, first out");
        let longer = Dense::new(&long, stages);
        assert_eq!(longer.peak(&more), dense.peak(&orders));
        assert_eq!(length(&longer, &more).0, length(&dense, &orders).0 + 36 * 6, "{name}");
        assert!(replay(&long, &longer.schedule(&long, &more)).is_valid());
    }
}
