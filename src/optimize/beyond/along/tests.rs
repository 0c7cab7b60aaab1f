use std::num::NonZeroUsize;
use std::sync::Arc;

use proptest::prelude::*;

use super::plan::{Plan, Rule};
use super::run::{Problem, Run};
use super::{Along, Effort};
use crate::catalog;
use crate::model::{self, Model, Pass};
use crate::replay::{memory_along, replay};
use crate::schedule::Schedule;
use crate::stop::Stop;

/// A model without latencies, with this table of memory.
fn with_memory(devices: u32, placement: &str, microbatches: u32, memory: &str) -> Model {
    with_latency(devices, placement, microbatches, 0, memory)
}

fn with_latency(devices: u32, placement: &str, microbatches: u32, latency: i64, memory: &str) -> Model {
    let text = format!(
        "name = \"whole\"\n[pipeline]\ndevices = {devices}\nplacement = \"{placement}\"\nmicrobatches = {microbatches}\n[time]\n\
         forward = 3\nbackward_input = 4\nbackward_weight = 2\ncommunication = {latency}\n[memory]\n{memory}\n"
    );
    model::parse(&text).expect("a model")
}

fn tight(devices: u32, placement: &str, microbatches: u32, capacity: i64) -> Model {
    let memory = format!(
        "activation = 2\nretained_for_weight = 3\nreceive = 1\ncapacity = {capacity}\n\
         workspace = {{ forward = 1, backward_input = 1, backward = 1 }}"
    );
    with_memory(devices, placement, microbatches, &memory)
}

/// The orders of all named schedules for the model without limits.
fn named(model: &Model) -> Vec<Vec<Vec<Pass>>> {
    let free = model.memory_floor().with_uniform_activation_capacity(None).expect("no limit");
    let made = catalog::entries().iter().filter_map(|entry| entry.generate(&free).ok());
    made.map(|schedule| schedule.orders().to_vec()).collect()
}

fn one() -> NonZeroUsize {
    NonZeroUsize::MIN
}

#[test]
fn a_backward_is_whole_where_an_input_gradient_has_no_room() {
    // Room for two activations, a workspace and a buffer: an I would need one more unit for what its W retains.
    let model = tight(2, "linear", 6, 6);
    let along = Along::new(&model, &named(&model), 0, one(), &Stop::default());
    let (schedule, _) = along.schedules().swap_remove(0);
    let verdict = replay(&model, &schedule);
    assert!(verdict.is_valid(), "{:?}", verdict.violations);
    let passes =
        |letter| schedule.orders().iter().flatten().filter(|pass| pass.kind.letter() == letter).count();
    assert!(passes('B') > 0, "{schedule:?}");
    assert_eq!(Some(verdict.timing.expect("it runs").metrics.makespan.0), along.end());
}

#[test]
fn changes_at_random_find_something_shorter_and_the_same_on_any_number_of_threads() {
    let model = tight(4, "v", 8, 12);
    let guides = named(&model);
    let found = [1, 3].map(|threads| {
        let threads = NonZeroUsize::new(threads).expect("not zero");
        let mut along = Along::new(&model, &guides, 7, threads, &Stop::default());
        let before = along.end().expect("some rule goes on");
        let effort = Effort { passes: 300_000, enough: 0, threads, stop: &Stop::default() };
        assert!(along.improve(&effort));
        assert!(along.end().expect("still") < before);
        along.schedules()
    });
    assert_eq!(found[0], found[1]);
    assert!(found[0].iter().all(|(schedule, _)| replay(&model, schedule).is_valid()));
}

#[test]
fn rules_are_as_many_as_is_said() {
    assert_eq!(Rule::all().count(), Rule::COUNT);
}

#[test]
fn what_is_enough_is_not_improved() {
    let model = tight(4, "v", 8, 12);
    let mut along = Along::new(&model, &named(&model), 0, one(), &Stop::default());
    let enough = along.end().expect("some rule goes on");
    assert!(!along.improve(&Effort { passes: 1_000_000, enough, threads: one(), stop: &Stop::default() }));
}

#[test]
fn what_guides_recompute_is_recomputed() {
    // Everything is recomputed, and nothing is kept meanwhile: one activation at a time is there on each device.
    let memory = "activation = 2\nretained_for_weight = 3\nreceive = 1\ncapacity = 4\n\
                  workspace = { forward = 1, backward_input = 1, backward = 1, recompute = 1 }\n[recompute]\ncheckpoint = 0";
    let model = with_memory(4, "linear", 16, memory);
    let orders = |kinds: &[&str]| -> Vec<Vec<Pass>> {
        let order = |stage: u32| {
            let passes = (0..16)
                .flat_map(|microbatch| kinds.iter().map(move |kind| format!("{stage}{kind}{microbatch}")));
            passes.map(|pass| pass.parse().expect("a pass")).collect()
        };
        (0..4).map(order).collect()
    };
    let of = |kinds: &[&str]| Along::new(&model, &[orders(kinds)], 0, one(), &Stop::default());
    let again = of(&["F", "R"]);
    // Without, one microbatch runs after the other: 34 ticks each, as the last W is no part of the chain.
    assert_eq!(of(&["F"]).end(), Some(16 * 34));
    assert!(again.end().expect("it goes on") < 300, "{:?}", again.end());
    let (schedule, _) = again.schedules().swap_remove(0);
    assert!(replay(&model, &schedule).is_valid());
}

proptest! {
    #[test]
    fn what_a_run_holds_is_what_replay_says(
        (devices, placement) in prop_oneof![Just((2, "linear")), Just((3, "linear")), Just((2, "v")), Just((3, "v")), Just((4, "v"))],
        microbatches in 1_u32..7,
        activation in 1_i64..5,
        retained in 0_i64..7,
        receive in 0_i64..3,
        workspaces in prop::array::uniform4(0_i64..3),
        capacity in 4_i64..40,
        rule in 0_usize..200,
        guide in 0_usize..20,
        latency in 0_i64..3,
        again in prop::option::of((0_i64..3, 0_i64..3)),
        seed: u64,
    ) {
        let [forward, input, weight, whole] = workspaces;
        // Checkpoints of some size, and the workspace of R.
        let (checkpoint, recompute) =
            again.map_or_else(Default::default, |(kept, needs)| {
                (format!("\n[recompute]\ncheckpoint = {}", kept.min(activation)), format!(", recompute = {needs}"))
            });
        let memory = format!(
            "activation = {activation}\nretained_for_weight = {retained}\nreceive = {receive}\ncapacity = {capacity}\n\
             workspace = {{ forward = {forward}, backward_input = {input}, backward_weight = {weight}, backward = {whole}{recompute} }}\
             {checkpoint}"
        );
        let model = with_latency(devices, placement, microbatches, latency, &memory);
        let rules: Vec<Rule> = Rule::all().collect();
        let guides = named(&model);
        let mut plan = Plan::new(&model, &guides[guide % guides.len()], rules[rule % rules.len()]);
        let mut random = fastrand::Rng::with_seed(seed);
        (0..3).for_each(|_| plan.change(&mut random));
        if again.is_some() {
            Arc::make_mut(&mut plan.again).iter_mut().flatten().for_each(|again| *again = random.bool());
        }
        let problem = Problem::new(&model);
        let mut run = Run::new(&problem, &plan);
        // Where it gets stuck, there is nothing to compare.
        if let Some(end) = run.end(i64::MAX, &Stop::default()) {
            let held = run.held();
            let orders = run.orders_so_far();
            let schedule = Schedule::new(model.placement().clone(), microbatches, orders).expect("orders");
            let verdict = replay(&model, &schedule);
            prop_assert!(verdict.is_valid(), "{:?}", verdict.violations);
            let of_replay: Vec<Vec<i64>> = memory_along(&model, &schedule)
                .iter()
                .map(|along| along.iter().map(|held| held.during.0).collect())
                .collect();
            prop_assert_eq!(held, of_replay);
            prop_assert!(verdict.timing.expect("it runs").metrics.makespan.0 <= end);
            // Where it may not be later, it ends at the same time, or not at all.
            let until = |most| Run::new(&problem, &plan).end(most, &Stop::default());
            prop_assert_eq!([end - 1, end, end + 1].map(until), [None, Some(end), Some(end)]);
        }
    }
}
