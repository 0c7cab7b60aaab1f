use proptest::prelude::*;

use crate::model::{Device, Kind, Microbatch, Model, Pass, Placement, Stage, Ticks};
use crate::replay::{replay, task_graph};
use crate::schedule::Schedule;

/// A model with stages that cost this much, and the schedule with these orders.
fn case(costs: [&[i64]; 4], orders: &[&str]) -> (Model, Schedule) {
    let placement = Placement::linear(u32::try_from(orders.len()).expect("few")).expect("a placement");
    let [forward, backward_input, backward_weight, latency] =
        costs.map(|list| list.iter().copied().map(Ticks).collect::<Vec<_>>());
    let microbatches = orders[0].matches('F').count().try_into().expect("few");
    let unit = Model::unit(placement.clone(), microbatches).expect("a model");
    let mut costs = unit.costs().clone();
    costs.forward = forward;
    costs.backward_input = backward_input;
    costs.backward_weight = backward_weight;
    costs.communication = latency;
    let memory = unit.memory().clone();
    let model =
        Model::new("test".to_owned(), None, placement.clone(), microbatches, costs, memory).expect("a model");
    let read = |order: &&str| order.split_whitespace().map(|pass| pass.parse().expect("a pass")).collect();
    (model, Schedule::new(placement, microbatches, orders.iter().map(read).collect()).expect("a schedule"))
}

fn span((model, schedule): &(Model, Schedule)) -> Ticks {
    replay(model, schedule).timing.expect("it runs").metrics.device_span
}

/// Numbered first in, first out, device 1 could start at 10 ticks, and would then have a span of 72; it does
/// better to begin 5 ticks later.
#[test]
fn the_span_does_not_depend_on_how_microbatches_are_numbered() {
    let costs: [&[i64]; 4] = [&[10, 1, 2], &[1, 1, 2], &[1, 30, 1], &[0, 0]];
    let crossed = ["0F0 0F1 0I1 0W1 0I0 0W0", "1F1 1F0 1I1 1W1 1I0 1W0", "2F1 2I1 2F0 2I0 2W1 2W0"];
    let in_order = ["0F0 0F1 0I0 0W0 0I1 0W1", "1F0 1F1 1I0 1W0 1I1 1W1", "2F0 2I0 2F1 2I1 2W0 2W1"];
    let crossed = span(&case(costs, &crossed));
    assert_eq!(crossed, Ticks(67));
    assert!(span(&case(costs, &in_order)) <= crossed);
}

/// Device 1 alone could do with 12 ticks, device 0 too; together they need more.
#[test]
fn a_device_that_begins_later_may_hold_up_another() {
    let costs: [&[i64]; 4] = [&[1, 1], &[1, 1], &[1, 9], &[0]];
    let case = case(costs, &["0F0 0F1 0I0 0W0 0I1 0W1", "1F0 1I0 1F1 1I1 1W0 1W1"]);
    assert_eq!(replay(&case.0, &case.1).timing.expect("it runs").metrics.makespan, Ticks(23));
    assert_eq!(span(&case), Ticks(22));
    assert_eq!(plainly(&case.0, &case.1), Ticks(22));
}

/// Device 0 takes 88 ticks. From its first pass to the end of device 1 the longest chain, of 104 ticks, does not go through
/// the first pass of device 1; from that pass to the end of device 0 it is 73. Half of their sum is 88.5.
#[test]
fn a_span_that_is_the_mean_of_two_chains_is_rounded_up() {
    let costs: [&[i64]; 4] = [&[7, 1], &[1, 1], &[20, 24], &[8]];
    let orders = ["0F0 0F1 0F2 0I0 0W0 0I1 0W1 0I2 0W2", "1F0 1I0 1F1 1F2 1I1 1I2 1W0 1W1 1W2"];
    let case = case(costs, &orders);
    assert_eq!(span(&case), Ticks(89));
    assert_eq!(plainly(&case.0, &case.1), Ticks(89));
}

/// The least T with a solution of the system of differences, by trying one T after the other. Both passes of a pair
/// wait for whatever one of them needs, and what needs one of them waits for both.
fn plainly(model: &Model, schedule: &Schedule) -> Ticks {
    let passes: Vec<(Device, Pass)> = Device::all(schedule.devices())
        .flat_map(|device| schedule.order(device).iter().map(move |&pass| (device, pass)))
        .collect();
    let time = |pass: Pass| model.duration(pass.stage, pass.kind).0;
    let pairs: Vec<usize> = Device::all(schedule.devices())
        .flat_map(|device| {
            let begin = passes.iter().position(|it| it.0 == device).expect("a pass");
            schedule.overlaps(device).iter().map(move |first| begin + first)
        })
        .collect();
    let lead = |at: usize| if at > 0 && pairs.contains(&(at - 1)) { at - 1 } else { at };
    let tail = |at: usize| if pairs.contains(&at) { at + 1 } else { at };
    // (a, b, w): b starts at least w after a.
    let mut differences = Vec::new();
    let mut ends = Vec::new();
    for (b, &(device, later)) in passes.iter().enumerate() {
        for (a, &(other, earlier)) in passes.iter().enumerate() {
            let latency = if device == other {
                0
            } else {
                model.costs().communication
                    [earlier.stage.min(later.stage).index().min(model.stages() as usize - 2)]
                .0
            };
            if needs(model, later, earlier) {
                differences.push((tail(a), lead(b), time(passes[tail(a)].1) + latency));
            }
        }
        if b > 0 && passes[b - 1].0 == device {
            differences.push((b - 1, b, time(passes[b - 1].1)));
            if lead(b) < b {
                differences.push((b, b - 1, -time(passes[b - 1].1)));
            }
        }
    }
    for device in Device::all(schedule.devices()) {
        let first = passes.iter().position(|it| it.0 == device).expect("a pass");
        let last = passes.iter().rposition(|it| it.0 == device).expect("a pass");
        ends.push((last, first, time(passes[last].1)));
    }
    let has_solution = |span: i64| {
        let mut starts = vec![0; passes.len()];
        let all = || differences.iter().copied().chain(ends.iter().map(|&(a, b, time)| (a, b, time - span)));
        for _ in 0..=passes.len() {
            for (a, b, apart) in all() {
                starts[b] = starts[b].max(starts[a] + apart);
            }
        }
        all().all(|(a, b, apart)| starts[a] + apart <= starts[b])
    };
    let most: i64 = differences.iter().map(|&(_, _, apart)| apart.max(0)).sum::<i64>() + 1_000;
    Ticks((0..most).find(|&span| has_solution(span)).expect("a solution"))
}

fn needs(model: &Model, later: Pass, earlier: Pass) -> bool {
    let above = later.stage.0 + 1 == earlier.stage.0;
    later.microbatch == earlier.microbatch
        && match (later.kind, earlier.kind) {
            (Kind::F, Kind::F) => later.stage.0 == earlier.stage.0 + 1,
            (Kind::I, Kind::F) | (Kind::W, Kind::I) => later.stage == earlier.stage,
            (Kind::I, Kind::I) => above && later.stage.0 + 1 < model.stages(),
            _ => false,
        }
}

/// Orders in which everything runs, each pass picked at random among those that can come next.
fn cases() -> impl Strategy<Value = (Model, Schedule)> {
    let size = prop_oneof![
        (2..=3_u32).prop_map(Placement::linear),
        Just(Placement::v(2)),
        Just(Placement::looped(2, 2)),
    ]
    .prop_map(|placement| placement.expect("a placement"));
    (size, 1..=3_u32).prop_flat_map(|(placement, microbatches)| {
        let stages = placement.stages() as usize;
        let passes = stages * 3 * microbatches as usize;
        (
            proptest::collection::vec(0..=9_i64, 4 * stages),
            proptest::collection::vec(any::<proptest::sample::Index>(), passes),
        )
            .prop_map(move |(times, picks)| {
                let mut times = times.into_iter().map(Ticks);
                let mut list = |number| times.by_ref().take(number).collect::<Vec<_>>();
                let unit = Model::unit(placement.clone(), microbatches).expect("a model");
                let mut costs = unit.costs().clone();
                costs.forward = list(stages).into_iter().map(|it| it + Ticks(1)).collect();
                costs.backward_input = list(stages);
                costs.backward_weight = list(stages);
                costs.communication = list(stages - 1);
                let memory = unit.memory().clone();
                let model =
                    Model::new("random".to_owned(), None, placement.clone(), microbatches, costs, memory)
                        .expect("a model");
                let orders = random_orders(&model, &picks);
                let schedule = Schedule::new(placement.clone(), microbatches, orders).expect("a schedule");
                (model, schedule)
            })
    })
}

fn random_orders(model: &Model, picks: &[proptest::sample::Index]) -> Vec<Vec<Pass>> {
    let mut left: Vec<Pass> = Stage::all(model.stages())
        .flat_map(|stage| [Kind::F, Kind::I, Kind::W].map(|kind| (stage, kind)))
        .flat_map(|(stage, kind)| {
            Microbatch::all(model.microbatches()).map(move |microbatch| Pass::new(stage, kind, microbatch))
        })
        .collect();
    let mut orders = vec![Vec::new(); model.devices() as usize];
    for pick in picks {
        let next: Vec<usize> =
            (0..left.len()).filter(|&at| !left.iter().any(|&other| needs(model, left[at], other))).collect();
        let pass = left.remove(next[pick.index(next.len())]);
        orders[model.placement().device_of(pass.stage).index()].push(pass);
    }
    orders
}

/// Device 0 is slow, and device 1 waits for it between any two of its passes. Only on device 0 does the last pass start
/// when it does because of the first one.
#[test]
fn chains_are_followed_to_the_first_pass_of_their_device() {
    let costs: [&[i64]; 4] = [&[10, 1, 1], &[1, 1, 1], &[0, 0, 1], &[1, 1]];
    let orders = ["0F0 0F1 0B0 0B1", "1F0 1B0 1F1 1B1", "2F0 2B0 2F1 2B1"];
    let comes = |model: &Model, schedule: &Schedule| {
        let graph = task_graph(model, schedule).expect("every pass is in its place");
        let execution = graph.execute().expect("it runs");
        graph.resources().map(|device| graph.comes_from_its_first_task(&execution, device)).collect()
    };
    let (model, apart) = case(costs, &orders);
    let found: Vec<bool> = comes(&model, &apart);
    assert_eq!(found, [true, false, false]);
    // The pair waits for device 0 as well, and longer than for device 2.
    let orders = ["0F0 0F1 0B0 0B1", "1F0 1F1 1B0 1B1", "2F0 2B0 2F1 2B1"];
    let (model, apart) = case(costs, &orders);
    let paired = apart.with_overlaps(vec![vec![], vec![1], vec![]]).expect("a pair");
    let found: Vec<bool> = comes(&model, &paired);
    assert_eq!(found, [true, false, false]);
}

/// The schedule with those pairs of a forward and a backward that are chosen; without any where it then does not run.
fn paired(model: &Model, schedule: &Schedule, chosen: &[bool]) -> Schedule {
    let overlaps = schedule.orders().iter().map(|order| {
        let mut firsts: Vec<usize> = Vec::new();
        for (position, (pair, _)) in
            order.windows(2).zip(chosen).enumerate().filter(|(_, (_, chosen))| **chosen)
        {
            let is_pair = matches!([pair[0].kind, pair[1].kind], [Kind::F, Kind::I] | [Kind::I, Kind::F]);
            if is_pair && firsts.last().is_none_or(|&last| last + 2 <= position) {
                firsts.push(position);
            }
        }
        firsts
    });
    let paired = schedule.clone().with_overlaps(overlaps.collect()).expect("a forward and a backward each");
    if replay(model, &paired).is_valid() { paired } else { schedule.clone() }
}

/// The forward of stage 1 ends with the backward beside it, and only then does device 0 go on.
#[test]
fn a_span_counts_pairs_as_one() {
    let costs: [&[i64]; 4] = [&[7, 1], &[1, 1], &[20, 24], &[8]];
    let orders = ["0F0 0F1 0F2 0I0 0W0 0I1 0W1 0I2 0W2", "1F0 1I0 1F1 1F2 1I1 1I2 1W0 1W1 1W2"];
    let (model, apart) = case(costs, &orders);
    let paired = apart.with_overlaps(vec![vec![2], vec![1, 3]]).expect("pairs");
    let span = span(&(model.clone(), paired.clone()));
    assert_eq!(span, plainly(&model, &paired));
    assert!(span > Ticks(89), "{span}");
}

proptest! {
    #[test]
    fn the_span_is_that_of_the_best_execution((model, schedule) in cases(), chosen in proptest::collection::vec(any::<bool>(), 40)) {
        prop_assert_eq!(span(&(model.clone(), schedule.clone())), plainly(&model, &schedule));
        let paired = paired(&model, &schedule, &chosen);
        prop_assert_eq!(span(&(model.clone(), paired.clone())), plainly(&model, &paired));
    }
}
