//! Ranges: whatever passes and latencies take within them, fixed orders take no less than at the low ends and no more than
//! at the high ends.

use bubbleproof::model::{self, Costs, Links, Messages, Model, Placement, StepEnd, Ticks};
use bubbleproof::replay::{PassDurations, makespans, replay};
use bubbleproof::schedule::Schedule;
use proptest::prelude::*;

use crate::choices::Choices;
use crate::{naive, problems, random};

/// Every tick of the costs changed.
fn map(costs: &Costs, mut change: impl FnMut(i64) -> i64) -> Costs {
    let mut list = |list: &[Ticks]| list.iter().map(|ticks| Ticks(change(ticks.0))).collect();
    Costs {
        unit: costs.unit.clone(),
        forward: list(&costs.forward),
        backward_input: list(&costs.backward_input),
        backward_weight: list(&costs.backward_weight),
        communication: list(&costs.communication),
    }
}

/// How many numbers there are from 0 to this one.
fn up_to(most: i64) -> usize {
    usize::try_from(most).expect("not negative") + 1
}

/// A random model with ranges, and one of its schedules.
fn problem(seed: u64) -> Option<(Model, Schedule)> {
    let row = random(seed, 24 + seed % 200);
    let choices = &mut Choices::new(&row);
    let model = problems::model(choices, 12)?;
    let schedule = problems::schedule(&model, choices);
    let more = random(seed.wrapping_add(1), 256);
    let more = &mut Choices::new(&more);
    // One low end in four is the high end.
    let low = map(model.costs(), |high| if more.below(4) == 0 { high } else { more.small(up_to(high)) });
    Some((model.with_low_ends(low).ok()?, schedule))
}

/// Costs within the ranges, and the durations of one microbatch after the other within them.
fn within(model: &Model, seed: u64) -> (Costs, PassDurations) {
    let row = random(seed.wrapping_add(2), 512);
    let choices = &mut Choices::new(&row);
    let low = model.low_ends().unwrap_or(model.costs());
    let lows = low.forward.iter().chain(&low.backward_input).chain(&low.backward_weight);
    let mut lows = lows.chain(&low.communication);
    let mut pick = |low: i64, high: i64| low + choices.small::<i64>(up_to(high - low));
    let costs = map(model.costs(), |high| pick(lows.next().expect("as many").0, high));
    let durations = PassDurations::new(model.stages(), model.microbatches(), |stage, _| {
        let at = stage.index();
        let high = model.costs();
        [
            Ticks(pick(low.forward[at].0, high.forward[at].0)),
            Ticks(pick(low.backward_input[at].0, high.backward_input[at].0)),
            Ticks(pick(low.backward_weight[at].0, high.backward_weight[at].0)),
        ]
    });
    (costs, durations)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 800, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_passes_take_every_start_lies_between_those_of_both_ends(seed: u64) {
        let Some((model, schedule)) = problem(seed) else { return Ok(()) };
        let (costs, durations) = within(&model, seed);
        let between = model.with_costs(costs).expect("costs within the ranges");
        let best = model.best_case().unwrap_or_else(|| model.clone());
        let [best, between, worst] = [&best, &between, &model].map(|model| naive::run(model, &schedule));
        let (Some(best), Some(between), Some(worst)) = (best, between, worst) else {
            panic!("the orders can run");
        };
        for (device, starts) in between.iter().enumerate() {
            for (at, start) in starts.iter().enumerate() {
                prop_assert!(best[device][at] <= *start && *start <= worst[device][at]);
            }
        }
        // Durations that differ between microbatches, under either latencies.
        let verdict = replay(&model, &schedule).timing.expect("the orders can run").metrics.makespan;
        let runs = [PassDurations::of_model(&model), durations.clone()];
        let worst = makespans(&model, &schedule, &runs).expect("runs");
        prop_assert_eq!(worst[0], verdict);
        prop_assert!(worst[1] <= verdict);
        if let Some(best) = model.best_case() {
            let verdict = replay(&best, &schedule).timing.expect("the orders can run").metrics.makespan;
            let runs = makespans(&best, &schedule, &[PassDurations::of_model(&best), durations]).expect("runs");
            prop_assert_eq!(runs[0], verdict);
            prop_assert!(runs[1] >= verdict);
        }
    }

    #[test]
    fn messages_and_the_end_of_the_step_keep_every_start_between_both_ends(seed: u64) {
        let Some((model, schedule)) = problem(seed) else { return Ok(()) };
        let row = random(seed.wrapping_add(3), 64);
        let choices = &mut Choices::new(&row);
        let mut list = |count| (0..count).map(|_| Ticks(choices.small(6))).collect();
        let messages = Messages { occupancy: list(model.stages() - 1), links: Links::Pair };
        let step = StepEnd { reduce: list(model.stages()), optimizer: list(model.stages()) };
        let model = model.with_messages(Some(messages)).and_then(|model| model.with_step(Some(step)));
        let model = model.expect("a model");
        let (costs, _) = within(&model, seed);
        let between = model.with_costs(costs).expect("costs within the ranges");
        let best = model.best_case().unwrap_or_else(|| model.clone());
        let [best, between, worst] =
            [&best, &between, &model].map(|model| replay(model, &schedule).timing.expect("the orders can run"));
        let spans = [&best, &between, &worst].map(|timing| timing.metrics.device_span);
        prop_assert!(spans.is_sorted());
        let makespans = [&best, &between, &worst].map(|timing| timing.metrics.makespan);
        prop_assert!(makespans.is_sorted());
        for ((best, between), worst) in best.starts.iter().zip(&between.starts).zip(&worst.starts) {
            prop_assert!(best.iter().zip(between).zip(worst).all(|((best, between), worst)| best <= between && between <= worst));
        }
    }

    #[test]
    fn runs_take_what_a_naive_executor_says(seed: u64) {
        let Some((model, schedule)) = problem(seed) else { return Ok(()) };
        let (_, durations) = within(&model, seed);
        let mut ends = std::collections::BTreeMap::new();
        let all: Vec<_> = schedule.orders().iter().flatten().copied().collect();
        // As often as there are passes: no chain is longer.
        for _ in &all {
            for order in schedule.orders() {
                let mut free = 0;
                for &pass in order {
                    let arrival = naive::needs(pass, &model, &all)
                        .map(|need| ends.get(&need).copied().unwrap_or(0) + naive::latency(&model, need, pass));
                    free = arrival.fold(free, i64::max) + durations.of(pass).0;
                    ends.insert(pass, free);
                }
            }
        }
        let makespan = ends.into_values().max().unwrap_or_default();
        prop_assert_eq!(makespans(&model, &schedule, &[durations]).expect("a run"), [Ticks(makespan)]);
    }

    #[test]
    fn ranges_survive_printing_and_reading(seed: u64) {
        let Some((model, _)) = problem(seed) else { return Ok(()) };
        let text = model::print(&model);
        prop_assert_eq!(text.contains("low ="), model.low_ends().is_some());
        prop_assert_eq!(model::parse(&text).expect(&text), model);
    }
}

#[test]
fn a_run_that_is_not_one_of_the_schedule_is_refused() {
    let model = Model::unit(Placement::linear(2).expect("a placement"), 2).expect("a model");
    let read = |orders: [&str; 2]| {
        let read = |order: &str| order.split(' ').map(str::parse).collect::<Result<Vec<_>, _>>();
        let orders = orders.map(|order| read(order).expect("passes"));
        Schedule::new(model.placement().clone(), 2, orders.into()).expect("an order for each device")
    };
    let good = read(["0F0 0F1 0B0 0B1", "1F0 1B0 1F1 1B1"]);
    let missing = read(["0F0 0F1 0B0", "1F0 1B0 1F1 1B1"]);
    let deadlock = read(["0F0 0B0 0F1 0B1", "1F0 1F1 1B0 1B1"]);
    let pairs = ["0F0 0F1 0B0 0B1", "1F0 1B0 1F1 1B1"];
    let pairs = Schedule::of_steps(
        model.placement().clone(),
        2,
        read(pairs).orders().iter().enumerate().map(|(device, order)| match device {
            0 => order.iter().map(|&pass| vec![pass]).collect::<Vec<_>>(),
            _ => vec![vec![order[0]], vec![order[1], order[2]], vec![order[3]]],
        }),
    )
    .expect("one pair");
    let run = |microbatches, ticks| PassDurations::new(2, microbatches, |_, _| [Ticks(ticks); 3]);
    let refused = |schedule: &Schedule, runs: &[PassDurations]| {
        makespans(&model, schedule, runs).expect_err("no makespan").to_string()
    };
    assert_eq!(makespans(&model, &good, &[run(2, 1), run(2, 10)]), Ok(vec![Ticks(9), Ticks(90)]));
    assert_eq!(makespans(&model, &good, &[]), Ok(Vec::new()));
    assert_eq!(refused(&missing, &[run(2, 1)]), "the schedule cannot run");
    assert_eq!(refused(&deadlock, &[run(2, 1)]), "the schedule cannot run");
    assert_eq!(
        refused(&pairs, &[run(2, 1)]),
        "the schedule overlaps pairs of passes, and durations of passes do not say how long a pair takes"
    );
    for (run, stages, microbatches) in
        [(run(3, 1), 2, 3), (PassDurations::new(1, 2, |_, _| [Ticks(1); 3]), 1, 2)]
    {
        assert_eq!((run.stages(), run.microbatches()), (stages, microbatches));
        assert_eq!(
            refused(&good, &[PassDurations::of_model(&model), run]),
            format!(
                "run 1 has durations for {stages} stages and {microbatches} microbatches, and the schedule has 2 and 2"
            )
        );
    }
    assert!(refused(&good, &[run(2, -1)]).starts_with("run 0: task "));
    assert!(refused(&good, &[run(2, i64::MAX / 4)]).starts_with("run 0: all durations"));
}
