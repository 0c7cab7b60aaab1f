use proptest::prelude::*;

use super::*;

/// What a random graph is made of: by resource and task, the duration and the needs.
type Recipe = Vec<Vec<(i64, Vec<(u32, i64)>)>>;

fn build(recipe: &Recipe) -> Result<TaskGraph, GraphError> {
    let mut graph = TaskGraphBuilder::new();
    for order in recipe {
        let mut resource = graph.resource();
        for (duration, needs) in order {
            let mut task = resource.task(Ticks(*duration));
            for &(needed, latency) in needs {
                task.need(Task(needed), Ticks(latency));
            }
        }
    }
    graph.finish()
}

/// Every inequality `start(later) >= start(earlier) + apart` that an execution has to satisfy.
fn inequalities(recipe: &Recipe) -> Vec<(usize, usize, i64)> {
    let durations: Vec<i64> = recipe.iter().flatten().map(|(duration, _)| *duration).collect();
    let mut all = Vec::new();
    let mut task = 0;
    for order in recipe {
        for (position, (_, needs)) in order.iter().enumerate() {
            if position > 0 {
                all.push((task - 1, task, durations[task - 1]));
            }
            for &(needed, latency) in needs {
                let needed = needed as usize;
                all.push((needed, task, durations[needed] + latency));
            }
            task += 1;
        }
    }
    all
}

/// The least solution, by raising starts until nothing is violated. Nothing where some task waits for itself.
fn least_solution(recipe: &Recipe) -> Option<Vec<i64>> {
    let inequalities = inequalities(recipe);
    let tasks = recipe.iter().flatten().count();
    let mut waits = vec![vec![false; tasks]; tasks];
    for &(earlier, later, _) in &inequalities {
        waits[later][earlier] = true;
    }
    for by in 0..tasks {
        for later in 0..tasks {
            for earlier in 0..tasks {
                waits[later][earlier] |= waits[later][by] && waits[by][earlier];
            }
        }
    }
    if (0..tasks).any(|task| waits[task][task]) {
        return None;
    }
    let mut starts = vec![0; tasks];
    for _ in 0..tasks {
        for &(earlier, later, apart) in &inequalities {
            starts[later] = starts[later].max(starts[earlier] + apart);
        }
    }
    Some(starts)
}

/// Random graphs: `forward` has each task need earlier ones of a random sequence only, so that it runs; else deadlocks
/// are common.
fn recipes() -> impl Strategy<Value = Recipe> {
    let task = (0..=6_i64, proptest::collection::vec((any::<prop::sample::Index>(), 0..=4_i64), 0..3));
    proptest::collection::vec(proptest::collection::vec(task, 0..5), 1..5).prop_map(|orders| {
        let tasks = orders.iter().flatten().count();
        let place = |(duration, needs): (i64, Vec<(prop::sample::Index, i64)>)| {
            let needs = needs
                .into_iter()
                .map(|(index, latency)| (u32::try_from(index.index(tasks)).expect("few"), latency));
            (duration, needs.collect())
        };
        orders.into_iter().map(|order| order.into_iter().map(place).collect()).collect()
    })
}

#[test]
fn resources_and_tasks_are_numbered_as_they_are_added() {
    let mut graph = TaskGraphBuilder::with_capacity(3, 1);
    let mut first = graph.resource();
    assert_eq!(first.id(), Resource(0));
    assert_eq!([first.task(Ticks(1)).id(), first.task(Ticks(1)).id()], [Task(0), Task(1)]);
    let mut second = graph.resource();
    assert_eq!(second.id(), Resource(1));
    let last = second.task(Ticks(1)).needs(Task(1), Ticks(0)).id();
    assert_eq!(last, Task(2));
    let graph = graph.finish().expect("a graph");
    assert_eq!((graph.len(), graph.needs(last).len()), (3, 1));
}

#[test]
fn a_resource_serves_one_task_at_a_time() {
    let graph =
        build(&vec![vec![(3, vec![]), (2, vec![])], vec![(4, vec![(0, 1)]), (1, vec![])]]).expect("a graph");
    let execution = graph.execute().expect("it runs");
    assert_eq!(execution.starts(), [0, 3, 4, 8].map(Ticks));
    assert_eq!(execution.makespan(&graph), Ticks(9));
    assert_eq!(graph.work(Resource(1)), Ticks(5));
    assert_eq!(graph.order(Resource(1)), 2..4);
    assert_eq!((0..4).map(|task| graph.resource_of(Task(task)).0).collect::<Vec<_>>(), [0, 0, 1, 1]);
}

#[test]
fn resources_without_tasks_do_no_harm() {
    let graph =
        build(&vec![vec![], vec![(2, vec![])], vec![], vec![(3, vec![(0, 0)])], vec![]]).expect("a graph");
    assert_eq!((graph.len(), graph.is_empty(), graph.resources().count()), (2, false, 5));
    assert_eq!([graph.resource_of(Task(0)), graph.resource_of(Task(1))], [Resource(1), Resource(3)]);
    let execution = graph.execute().expect("it runs");
    assert_eq!(execution.starts(), [Ticks(0), Ticks(2)]);
    assert_eq!(graph.span(&execution, 5), Ticks(3));

    let nothing = TaskGraphBuilder::new().finish().expect("nothing is a graph");
    assert!(nothing.is_empty());
    let execution = nothing.execute().expect("nothing runs");
    assert_eq!((execution.makespan(&nothing), nothing.span(&execution, 0)), (Ticks(0), Ticks(0)));
}

/// Task 2 is on a resource of its own and may run at any time.
#[test]
fn tasks_on_other_resources_do_not_hold_a_span_down() {
    let graph = build(&vec![vec![(1, vec![]), (1, vec![(2, 0)])], vec![(9, vec![])]]).expect("a graph");
    let execution = graph.execute().expect("it runs");
    assert_eq!(execution.makespan(&graph), Ticks(10));
    assert_eq!(graph.span(&execution, 1), Ticks(2));
    assert_eq!(graph.span(&execution, 2), Ticks(9));
}

#[test]
fn a_deadlock_is_named() {
    let graph = build(&vec![vec![(1, vec![]), (1, vec![(3, 0)])], vec![(1, vec![(1, 0)]), (1, vec![])]]);
    let cycle = graph.expect("a graph").execute().expect_err("it cannot run");
    assert_eq!(cycle, Cycle(vec![Task(1), Task(3), Task(2)]));
    let alone = build(&vec![vec![(1, vec![(0, 0)])]]).expect("a graph");
    assert_eq!(alone.execute(), Err(Cycle(vec![Task(0)])));
}

#[test]
fn what_is_no_graph_is_refused() {
    let cases = [
        (
            vec![vec![(-1, vec![])]],
            GraphError::NegativeTime(Task(0)),
            "task 0 takes or waits for a negative time",
        ),
        (
            vec![vec![(1, vec![]), (1, vec![(0, -1)])]],
            GraphError::NegativeTime(Task(1)),
            "task 1 takes or waits for a negative time",
        ),
        (
            vec![vec![(1, vec![(1, 0)])]],
            GraphError::UnknownTask { task: Task(0), needed: Task(1) },
            "task 0 needs task 1, but there is none",
        ),
        (
            vec![vec![(TaskGraph::MAX_TOTAL, vec![]), (1, vec![])]],
            GraphError::Overflow,
            "all durations and latencies together exceed 1152921504606846976 ticks",
        ),
        (
            vec![vec![(i64::MAX, vec![]), (i64::MAX, vec![])]],
            GraphError::Overflow,
            "all durations and latencies together exceed 1152921504606846976 ticks",
        ),
        (
            vec![vec![(1, vec![]), (1, vec![(0, TaskGraph::MAX_TOTAL)])]],
            GraphError::Overflow,
            "all durations and latencies together exceed 1152921504606846976 ticks",
        ),
    ];
    for (recipe, error, text) in cases {
        assert_eq!(error.to_string(), text);
        assert_eq!(build(&recipe), Err(error));
    }
    assert!(build(&vec![vec![(TaskGraph::MAX_TOTAL, vec![])]]).is_ok());
}

proptest! {
    #[test]
    fn execution_is_the_least_solution_or_names_a_cycle(recipe in recipes()) {
        let graph = build(&recipe).expect("a graph");
        match (graph.execute(), least_solution(&recipe)) {
            (Ok(execution), Some(starts)) => {
                let found: Vec<i64> = execution.starts().iter().map(|start| start.0).collect();
                prop_assert_eq!(&found, &starts);
                let mut at = vec![None; graph.len()];
                for (position, task) in execution.sequence().iter().enumerate() {
                    prop_assert_eq!(at[task.index()].replace(position), None);
                }
                for (earlier, later, _) in inequalities(&recipe) {
                    prop_assert!(at[earlier] < at[later]);
                }
            }
            (Err(Cycle(cycle)), None) => {
                let waits = inequalities(&recipe);
                for (position, task) in cycle.iter().enumerate() {
                    let next = cycle[(position + 1) % cycle.len()];
                    prop_assert!(waits.iter().any(|it| (it.0, it.1) == (next.index(), task.index())));
                }
            }
            (found, expected) => prop_assert!(false, "{:?} but {:?}", found, expected),
        }
    }

    /// A span of T has a solution of the system of differences, and T - 1 has none.
    #[test]
    fn a_span_is_the_least_with_a_solution(recipe in recipes(), resources in 0..=4_usize) {
        let graph = build(&recipe).expect("a graph");
        let Ok(execution) = graph.execute() else { return Ok(()) };
        let resources = resources.min(recipe.len());
        let span = graph.span(&execution, resources);
        let mut ends = Vec::new();
        for resource in graph.resources().take(resources) {
            let order = graph.order(resource);
            if !order.is_empty() {
                ends.push((order.start as usize, order.end as usize - 1));
            }
        }
        let has_solution = |span: i64| {
            let mut all = inequalities(&recipe);
            // last end - span <= first start
            all.extend(ends.iter().map(|&(first, last)| {
                (last, first, graph.duration(Task(u32::try_from(last).expect("few"))).0 - span)
            }));
            let mut starts = vec![0; graph.len()];
            for _ in 0..=graph.len() {
                for &(earlier, later, apart) in &all {
                    starts[later] = starts[later].max(starts[earlier] + apart);
                }
            }
            all.iter().all(|&(earlier, later, apart)| starts[earlier] + apart <= starts[later])
        };
        prop_assert!(has_solution(span.0));
        prop_assert!(span == Ticks::ZERO || !has_solution(span.0 - 1));
    }
}
