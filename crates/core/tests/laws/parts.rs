//! Overlapped pairs that are given by the parts of their passes: their durations against all merges, each executed as a task
//! graph, and what follows from them against pairs whose durations are listed.

use std::collections::BTreeMap;

use bubbleproof::certificate::{Objective, lower_bound};
use bubbleproof::model::{
    self, Costs, Kind, Launched, Microbatch, Model, Overlap, PairDurations, Part, PartResource, Pass,
    PassParts, Placement, Stage, Ticks,
};
use bubbleproof::replay::replay;
use bubbleproof::schedule::Schedule;
use bubbleproof::tasks::{Task, TaskGraphBuilder};
use proptest::prelude::*;

/// The parts of a list, of which each needs the one before it, or any of those before it.
fn list() -> impl Strategy<Value = Vec<Part>> {
    let part = (any::<bool>(), 0..=6_i64, any::<bool>(), any::<u8>());
    prop::collection::vec(part, 1..=5).prop_map(|parts| {
        let part =
            |(position, (is_compute, duration, is_chain, bits)): (usize, (bool, i64, bool, u8))| Part {
                name: position.to_string(),
                on: PartResource::ALL[usize::from(!is_compute)],
                // Some pass has to take time.
                duration: Ticks(if position == 0 { duration + 1 } else { duration }),
                needs: if is_chain {
                    position.checked_sub(1).into_iter().collect()
                } else {
                    (0..position).filter(|need| bits >> need & 1 == 1).collect()
                },
            };
        parts.into_iter().enumerate().map(part).collect()
    })
}

/// When the parts of two lists start, by list, and when all have ended, launched in this order: a list for each launch.
fn executed(lists: [&[Part]; 2], order: &[usize]) -> ([Vec<Ticks>; 2], Ticks) {
    let mut launched = [0; 2];
    let order: Vec<(usize, usize)> = order
        .iter()
        .map(|&list| {
            launched[list] += 1;
            (list, launched[list] - 1)
        })
        .collect();
    let on = |resource| {
        let parts = order.iter().copied().filter(move |&(list, at)| lists[list][at].on == resource);
        parts.collect::<Vec<_>>()
    };
    let orders = PartResource::ALL.map(on);
    let tasks: BTreeMap<(usize, usize), Task> =
        orders.iter().flatten().copied().zip((0..).map(Task)).collect();
    let mut graph = TaskGraphBuilder::new();
    for order in &orders {
        let mut resource = graph.resource();
        for &(list, at) in order {
            let mut task = resource.task(lists[list][at].duration);
            for &need in &lists[list][at].needs {
                task.need(tasks[&(list, need)], Ticks::ZERO);
            }
        }
    }
    let graph = graph.finish().expect("a graph");
    let execution = graph.execute().expect("each part is launched after those that it needs");
    let starts = [0, 1].map(|list| {
        (0..lists[list].len())
            .filter_map(|at| tasks.get(&(list, at)))
            .map(|&task| execution.start(task))
            .collect()
    });
    (starts, execution.makespan(&graph))
}

/// All merges of so many parts of the two lists.
fn merges(left: [usize; 2]) -> Vec<Vec<usize>> {
    if left == [0, 0] {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for list in 0..2 {
        let mut less = left;
        if let Some(fewer) = left[list].checked_sub(1) {
            less[list] = fewer;
            all.extend(merges(less).into_iter().map(|merge| [vec![list], merge].concat()));
        }
    }
    all
}

/// The least time of all merges.
fn least(lists: [&[Part]; 2]) -> Ticks {
    let times = merges(lists.map(<[Part]>::len)).into_iter().map(|order| executed(lists, &order).1);
    times.min().expect("a merge")
}

fn alone(parts: &[Part]) -> Ticks {
    executed([parts, &[]], &vec![0; parts.len()]).1
}

/// A model of V placement on one device whose stages have the parts of two tables, each a forward, a B and an I.
fn model(lists: &[Vec<Part>]) -> Model {
    let placement = Placement::new(vec![vec![Stage(0), Stage(1)]]).expect("a placement");
    let tables: Vec<PassParts> = (0..)
        .map(Stage)
        .zip(lists.chunks(3))
        .map(|(stage, lists)| PassParts {
            stages: Some(vec![stage]),
            forward: lists[0].clone(),
            // B takes as long as I and W: the shorter list is that of I.
            backward: Some(lists[1..].iter().max_by_key(|list| alone(list)).expect("two").clone()),
            input: Some(lists[1..].iter().min_by_key(|list| alone(list)).expect("two").clone()),
        })
        .collect();
    let plain = Model::unit(placement, 2).expect("a model");
    let times = |of: &dyn Fn(&PassParts) -> Ticks| tables.iter().map(of).collect::<Vec<_>>();
    let full = |table: &PassParts| alone(table.backward.as_ref().expect("parts"));
    let input = |table: &PassParts| alone(table.input.as_ref().expect("parts"));
    let costs = Costs {
        forward: times(&|table| alone(&table.forward)),
        backward_input: times(&input),
        backward_weight: times(&|table| full(table) - input(table)),
        ..plain.costs().clone()
    };
    let overlap = Overlap { parts: tables, ..Overlap::default() };
    plain
        .with_costs(costs)
        .and_then(|model| model.with_overlap(overlap))
        .expect("parts as long as their passes")
}

fn list_of(model: &Model, stage: Stage, kind: Kind) -> &[Part] {
    let table = &model.overlap().parts[stage.index()];
    match kind {
        Kind::F => &table.forward,
        Kind::B => table.backward.as_ref().expect("parts"),
        _ => table.input.as_ref().expect("parts"),
    }
}

/// All pairs of the two stages, with an I and with a B.
fn pairs() -> impl Iterator<Item = (Stage, Stage, Kind)> {
    let stages = [(0, 0), (0, 1), (1, 0), (1, 1)].into_iter();
    stages.flat_map(|(one, other)| [Kind::B, Kind::I].map(|kind| (Stage(one), Stage(other), kind)))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_pair_takes_the_least_time_of_all_merges_and_its_launches_take_it(lists in prop::collection::vec(list(), 6)) {
        let model = model(&lists);
        for (forward, backward, kind) in pairs() {
            let lists = [list_of(&model, forward, Kind::F), list_of(&model, backward, kind)];
            let apart = lists.map(alone);
            let duration = apart[0] + apart[1] - model.pair_saves(forward, backward, kind);
            prop_assert_eq!(duration, least(lists));
            prop_assert!(duration >= apart[0].max(apart[1]));

            let launches = model.pair_launches(forward, backward, kind).expect("parts");
            let order: Vec<usize> = launches.iter().map(|it| usize::from(it.kind != Kind::F)).collect();
            let (starts, end) = executed(lists, &order);
            prop_assert_eq!(end, duration);
            for (list, of) in [Kind::F, kind].into_iter().enumerate() {
                let launched: Vec<&Launched<'_>> = launches.iter().filter(|it| it.kind == of).collect();
                prop_assert!(launched.iter().map(|it| it.part).eq(lists[list]));
                prop_assert!(launched.iter().map(|it| it.start).eq(starts[list].iter().copied()));
            }
        }
    }

    #[test]
    fn parts_mean_what_the_durations_of_their_pairs_mean(lists in prop::collection::vec(list(), 6)) {
        let parts = model(&lists);
        prop_assert_eq!(model::parse(&model::print(&parts)), Ok(parts.clone()));
        let listed = |kind| {
            let pairs = pairs().filter(|&(.., of)| of == kind).map(|(forward, backward, kind)| {
                ((forward, backward), least([list_of(&parts, forward, Kind::F), list_of(&parts, backward, kind)]))
            });
            PairDurations::Listed(pairs.collect())
        };
        let overlap = Overlap { forward_backward: listed(Kind::B), forward_input: listed(Kind::I), parts: vec![] };
        let numbers = parts.with_overlap(overlap).expect("durations that suit");
        for objective in [Objective::Makespan, Objective::DeviceSpan] {
            prop_assert_eq!(lower_bound(&parts, objective), lower_bound(&numbers, objective));
        }
        prop_assert_eq!(parts.has_cheaper_pairs(), numbers.has_cheaper_pairs());
        let pass = |stage, kind, microbatch| Pass::new(Stage(stage), kind, Microbatch(microbatch));
        let steps = [
            vec![pass(0, Kind::F, 0)],
            vec![pass(1, Kind::F, 0)],
            vec![pass(0, Kind::F, 1), pass(1, Kind::I, 0)],
            vec![pass(1, Kind::F, 1), pass(0, Kind::B, 0)],
            vec![pass(1, Kind::W, 0)],
            vec![pass(1, Kind::B, 1)],
            vec![pass(0, Kind::B, 1)],
        ];
        let schedule = Schedule::of_steps(parts.placement().clone(), 2, [steps.iter()]).expect("a schedule");
        let timing = replay(&parts, &schedule).timing;
        prop_assert!(timing.is_some());
        prop_assert_eq!(timing, replay(&numbers, &schedule).timing);
    }
}
