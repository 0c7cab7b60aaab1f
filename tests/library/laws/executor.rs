//! Laws of replay and the ASAP pass.

use bubbleproof::kernel::{asap, within_device_span};
use bubbleproof::model::{Costs, Device, Kind, Memory, Model, Pass, Placement, Ticks, Units};
use bubbleproof::replay::{Timing, Violation, Wait, replay};
use bubbleproof::schedule::Schedule;
use proptest::prelude::*;

use crate::laws::naive;
use crate::laws::random::{
    Choices, locally_shuffled, models, schedule_of, schedules, two_way_schedules, vandalised,
};

/// The timing of a schedule that must be valid.
fn timing(model: &Model, schedule: &Schedule) -> Timing {
    let verdict = replay(model, schedule);
    assert_eq!(verdict.violations, []);
    verdict.timing.expect("a valid schedule has times")
}

fn with_costs(model: &Model, change: impl FnOnce(&mut Costs)) -> Model {
    let mut costs = model.costs().clone();
    change(&mut costs);
    Model::new(
        model.name().to_owned(),
        None,
        model.placement().clone(),
        model.microbatches(),
        costs,
        model.memory().clone(),
    )
    .expect("a model")
}

fn times(costs: &mut Costs) -> impl Iterator<Item = &mut Ticks> {
    let Costs { forward, backward_input, backward_weight, communication, .. } = costs;
    forward.iter_mut().chain(backward_input).chain(backward_weight).chain(communication)
}

proptest! {
    #[test]
    fn replay_the_asap_pass_and_a_naive_executor_agree((model, schedule) in schedules(0)) {
        let naive = naive::run(&model, &schedule).expect("it was made to run");
        let shifted = asap(&model, &schedule).expect("it was made to run");
        let Timing { starts, metrics, .. } = timing(&model, &schedule);
        prop_assert_eq!(&starts, &naive);
        prop_assert_eq!(&shifted.starts, &naive);
        prop_assert_eq!(metrics.makespan, shifted.makespan(&model));
        prop_assert!(metrics.device_span <= shifted.largest_span(&model));
        prop_assert_eq!(metrics.device_span.0, naive::device_span(&model, &schedule));
        let (held_back, span) = within_device_span(&model, &schedule).expect("it was made to run");
        prop_assert_eq!((span, held_back.largest_span(&model)), (metrics.device_span, metrics.device_span));

        let spans: Vec<(i64, i64)> = schedule
            .orders()
            .iter()
            .zip(&naive)
            .map(|(order, starts)| {
                let end = |(pass, start): (&Pass, &Ticks)| start.0 + naive::duration(&model, *pass);
                let first = starts.iter().map(|start| start.0).min().expect("a pass");
                (first, order.iter().zip(starts).map(end).max().expect("a pass"))
            })
            .collect();
        let busy: i64 = schedule.orders().iter().flatten().map(|&pass| naive::duration(&model, pass)).sum();
        prop_assert_eq!(metrics.busy.0, busy);
        prop_assert_eq!(Some(metrics.makespan.0), spans.iter().map(|span| span.1).max());
        for (rate, span) in [(metrics.bubble_rate, metrics.device_span), (metrics.idle_rate, metrics.makespan)] {
            let room = i128::from(model.devices()) * i128::from(span.0);
            prop_assert_eq!(rate * room, (room - i128::from(busy)).into());
        }
        let again = schedule.orders().iter().flatten().filter(|pass| pass.kind == Kind::R);
        let recomputing: i64 = again.map(|&pass| naive::duration(&model, pass)).sum();
        prop_assert_eq!(metrics.useful.0, busy - recomputing);
        let room = i128::from(model.devices()) * i128::from(metrics.device_span.0);
        prop_assert_eq!(metrics.useful_rate * room, i128::from(metrics.useful.0).into());
    }

    #[test]
    fn schedules_in_two_directions_run_as_a_naive_executor_says((model, schedule) in two_way_schedules(0)) {
        let naive = naive::run(&model, &schedule).expect("it was made to run");
        prop_assert_eq!(&timing(&model, &schedule).starts, &naive);
        prop_assert_eq!(&asap(&model, &schedule).expect("it was made to run").starts, &naive);
        let peaks = replay(&model, &schedule).peak_memory;
        for ((order, starts), peak) in schedule.orders().iter().zip(&naive).zip(peaks) {
            prop_assert_eq!(naive::peak_of_order(&model, order), peak.0);
            prop_assert!(naive::peak_of_times(&model, order, starts) <= peak.0);
        }
        // In one direction passes are missing.
        let placement = Placement::new(schedule.placement().lists().to_vec()).expect("a placement");
        let one = Schedule::new(placement, schedule.microbatches(), schedule.orders().to_vec()).expect("a schedule");
        prop_assert!(!replay(&Model::unit(one.placement().clone(), 1).expect("a model"), &one).is_valid());
    }

    #[test]
    fn weights_are_held_all_the_time((model, schedule) in schedules(0), weights in 0..9_i64) {
        let weigh = |capacity: Option<i64>| {
            let memory = Memory {
                weights: vec![Units(weights); model.stages() as usize],
                capacity: vec![capacity.map(Units); model.devices() as usize],
                ..model.memory().clone()
            };
            let (placement, costs) = (model.placement().clone(), model.costs().clone());
            Model::new("heavy".to_owned(), None, placement, model.microbatches(), costs, memory)
        };
        let (light, heavy) = (replay(&model, &schedule), replay(&weigh(None).expect("a model"), &schedule));
        for (device, (light, heavy)) in Device::all(model.devices()).zip(light.peak_memory.iter().zip(&heavy.peak_memory)) {
            let copies = model.placement().stages_of(device).len();
            prop_assert_eq!(heavy.0, light.0 + weights * i64::try_from(copies).expect("few"));
        }
        let most = heavy.peak_memory_max().0;
        prop_assert!(replay(&weigh(Some(most)).expect("room"), &schedule).is_valid());
        if let Some(tight) = most.checked_sub(1).and_then(|capacity| weigh(Some(capacity)).ok()) {
            prop_assert!(!replay(&tight, &schedule).is_valid());
        }
    }

    #[test]
    fn scaling_time_scales_every_start_and_no_rate((model, schedule) in schedules(0), factor in 1..1000_i64) {
        let slow = with_costs(&model, |costs| times(costs).for_each(|ticks| *ticks = *ticks * factor));
        let (before, after) = (replay(&model, &schedule), replay(&slow, &schedule));
        prop_assert_eq!(&before.peak_memory, &after.peak_memory);
        let (before, after) = (timing(&model, &schedule), timing(&slow, &schedule));
        let scaled: Vec<Vec<Ticks>> =
            before.starts.iter().map(|starts| starts.iter().map(|&start| start * factor).collect()).collect();
        prop_assert_eq!(scaled, after.starts);
        prop_assert_eq!(before.metrics.makespan * factor, after.metrics.makespan);
        prop_assert_eq!(before.metrics.device_span * factor, after.metrics.device_span);
        prop_assert_eq!(before.metrics.bubble_rate, after.metrics.bubble_rate);
        prop_assert_eq!(before.metrics.idle_rate, after.metrics.idle_rate);
    }

    #[test]
    fn renaming_devices_only_renames_them((model, schedule) in schedules(0), seed: u64) {
        let mut names: Vec<usize> = (0..model.devices() as usize).collect();
        Choices::new(seed).shuffle(&mut names);
        let lists = names.iter().map(|&name| model.placement().lists()[name].clone()).collect();
        let placement = Placement::new(lists).expect("a placement");
        let orders = names.iter().map(|&name| schedule.orders()[name].clone()).collect();
        let renamed = Schedule::new(placement.clone(), schedule.microbatches(), orders).expect("a schedule");
        let renamed_model = Model::new(
            "renamed".to_owned(), None, placement, model.microbatches(), model.costs().clone(),
            model.memory().clone(),
        ).expect("a model");
        let (before, after) = (replay(&model, &schedule), replay(&renamed_model, &renamed));
        let (before_timing, after_timing) = (timing(&model, &schedule), timing(&renamed_model, &renamed));
        prop_assert_eq!(before_timing.metrics, after_timing.metrics);
        for (position, &name) in names.iter().enumerate() {
            prop_assert_eq!(before.peak_memory[name], after.peak_memory[position]);
            prop_assert_eq!(&before_timing.starts[name], &after_timing.starts[position]);
        }
    }

    #[test]
    fn longer_passes_and_latencies_start_nothing_earlier((model, schedule) in schedules(0), seed: u64) {
        let mut choices = Choices::new(seed);
        let slow = with_costs(&model, |costs| {
            times(costs).filter(|_| choices.once_in(3)).for_each(|ticks| *ticks += Ticks(1));
        });
        let (before, after) = (timing(&model, &schedule), timing(&slow, &schedule));
        prop_assert!(before.starts.iter().flatten().zip(after.starts.iter().flatten()).all(|(b, a)| b <= a));
        prop_assert!(before.metrics.makespan <= after.metrics.makespan);
    }

    #[test]
    fn a_schedule_is_deadlocked_exactly_when_a_naive_executor_gets_stuck(
        (model, schedule) in schedules(0), seed: u64,
    ) {
        let shuffled = locally_shuffled(&model, &schedule, seed);
        let verdict = replay(&model, &shuffled);
        let naive = naive::run(&model, &shuffled);
        prop_assert_eq!(verdict.is_valid(), naive.is_some(), "{:?}", verdict.violations);
        prop_assert_eq!(asap(&model, &shuffled).is_ok(), naive.is_some());
        prop_assert_eq!(verdict.timing.map(|timing| timing.starts), naive);
        for violation in &verdict.violations {
            let Violation::Deadlock(cycle) = violation else {
                return Err(TestCaseError::fail(format!("not a deadlock: {violation}")));
            };
            prop_assert!(cycle.len() >= 2);
            prop_assert!(cycle.iter().all(|wait| cycle[0].at.device <= wait.at.device));
            for (wait, next) in cycle.iter().zip(cycle.iter().cycle().skip(1)) {
                check_wait(&model, &shuffled, wait, next)?;
            }
        }
    }

    #[test]
    fn any_shuffle_is_valid_exactly_when_a_naive_executor_runs_it((model, schedule) in schedules(0), seed: u64) {
        let mut choices = Choices::new(seed);
        let mut orders = schedule.orders().to_vec();
        let device = choices.below(orders.len());
        choices.shuffle(&mut orders[device]);
        let shuffled =
            Schedule::new(schedule.placement().clone(), schedule.microbatches(), orders).expect("a schedule");
        let verdict = replay(&model, &shuffled);
        prop_assert_eq!(verdict.is_valid(), naive::run(&model, &shuffled).is_some());
    }

    #[test]
    fn whatever_the_orders_replay_and_the_asap_pass_come_to_an_end((model, schedule) in schedules(0), seed: u64) {
        let broken = vandalised(&schedule, seed);
        let verdict = replay(&model, &broken);
        let shifted = asap(&model, &broken);
        if verdict.is_valid() {
            prop_assert!(naive::run(&model, &broken).is_some());
            prop_assert!(shifted.is_ok());
        }
        let mut places: Vec<_> =
            verdict.violations.iter().map(|found| (found.device(), found.place().map(|at| at.position))).collect();
        // What has no position comes last on its device.
        for place in &mut places {
            place.1 = place.1.or(Some(usize::MAX));
        }
        prop_assert!(places.is_sorted(), "{:?}", verdict.violations);
        for violation in &verdict.violations {
            if let Some(place) = violation.place() {
                prop_assert_eq!(Some(broken.order(place.device)[place.position]), violation.pass());
            }
        }
    }

    #[test]
    fn a_schedule_that_lost_a_pass_it_needs_is_never_valid(model in models(0), seed: u64) {
        let schedule = schedule_of(&model, seed);
        let mut choices = Choices::new(seed);
        let mut orders = schedule.orders().to_vec();
        let device = choices.below(orders.len());
        let at = choices.below(orders[device].len());
        let lost = orders[device].remove(at);
        let less =
            Schedule::new(schedule.placement().clone(), schedule.microbatches(), orders).expect("a schedule");
        let missing = replay(&model, &less).violations.iter().any(|violation| {
            matches!(violation, Violation::MissingPass { device: on, pass }
                if *on == Device::at(device) && pass.stage == lost.stage && pass.microbatch == lost.microbatch)
        });
        // A recomputation is a pass that a schedule may do without.
        prop_assert_eq!(missing, lost.kind.letter() != 'R');
    }
}

/// Checks that a wait of a cycle is one: the pass stands there, it needs the other, and that stands
/// on the next device, not before the place where that one waits in turn.
fn check_wait(model: &Model, schedule: &Schedule, wait: &Wait, next: &Wait) -> Result<(), TestCaseError> {
    let all: Vec<_> = schedule.orders().iter().flatten().copied().collect();
    prop_assert_eq!(schedule.order(wait.at.device)[wait.at.position], wait.pass);
    prop_assert_eq!(schedule.order(wait.needs_at.device)[wait.needs_at.position], wait.needs);
    prop_assert!(naive::needs(wait.pass, model, &all).any(|need| need == wait.needs));
    prop_assert_eq!(wait.needs_at.device, next.at.device);
    prop_assert!(wait.needs_at.position >= next.at.position);
    Ok(())
}
