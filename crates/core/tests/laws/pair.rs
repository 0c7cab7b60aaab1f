//! A forward and a backward chunk of `DeepSeek-V3` that overlap on one GPU, as `DualPipe` runs them: measured on an H800,
//! and predicted as a task graph. Times are in microseconds. `docs/traces.md` shows the figures.

mod merged;
mod search;

use std::fmt::Write as _;
use std::fs;

use bubbleproof_core::model::Ticks;
use bubbleproof_core::tasks::{Execution, Resource, Task, TaskGraph, TaskGraphBuilder};

use crate::random;

const RESOURCES: [&str; 3] = ["compute", "communication", "second compute"];
const COMPUTE: usize = 0;
const COMMUNICATION: usize = 1;

/// What the host launched as one range, on one stream. A part of two streams is two of these.
#[derive(Debug, Clone)]
struct Part {
    name: String,
    layer: usize,
    /// An index of [`RESOURCES`].
    resource: usize,
    start: i64,
    end: i64,
    /// The sum of its kernels.
    busy: i64,
}

impl Part {
    /// The name and the layer of the part that this one needs.
    ///
    /// The layers count through the pair. The forward goes through a layer from attention to combine, the backward from
    /// combine to attention. The gradients of the weights need the gradient of the output of their half, and nothing in
    /// the pair needs them.
    fn needs(&self) -> Option<(&'static str, usize)> {
        let own = |name| Some((name, self.layer));
        let before = |name| Some((name, self.layer.checked_sub(1)?));
        match self.name.as_str() {
            "attn(F)" => before("combine(F)"),
            "dispatch(F)" => own("attn(F)"),
            "mlp(F)" => own("dispatch(F)"),
            "combine(F)" => own("mlp(F)"),
            "combine(B)" => before("attn(B)"),
            "mlp(B)" => own("combine(B)"),
            "mlp(W)" | "dispatch(B)" => own("mlp(B)"),
            "attn(B)" => own("dispatch(B)"),
            "attn(W)" => own("attn(B)"),
            other => panic!("no part of a layer: {other}"),
        }
    }

    fn is_forward(&self) -> bool {
        self.name.ends_with("(F)")
    }

    /// From its first kernel to its last.
    fn elapsed(&self) -> i64 {
        self.end - self.start
    }

    fn label(&self) -> String {
        format!("{} {}", self.name, self.layer)
    }
}

/// The parts, in the order in which the host launched them.
fn parts() -> Vec<Part> {
    let table = include_str!("../data/deepseek-pair.csv");
    let mut rows = table.lines().filter(|line| !line.starts_with('#'));
    assert_eq!(rows.next(), Some("order,part,layer,resource,kernels,start_us,end_us,busy_us"));
    let part = |row: &str| {
        let cells: Vec<&str> = row.split(',').collect();
        let [_, name, layer, resource, _, start, end, busy] = cells[..] else { panic!("a row: {row}") };
        let time = |cell: &str| cell.parse().expect("a time");
        Part {
            name: name.to_owned(),
            layer: layer.parse().expect("a layer"),
            resource: RESOURCES.iter().position(|it| *it == resource).expect("a resource"),
            start: time(start),
            end: time(end),
            busy: time(busy),
        }
    };
    rows.map(part).collect()
}

/// The part that a part needs, if it is among these. It is never the half of one on the second compute stream: nothing
/// needs gradients of weights.
fn needed(parts: &[Part], part: &Part) -> Option<usize> {
    let (name, layer) = part.needs()?;
    parts.iter().position(|it| it.name == name && it.layer == layer)
}

/// A task graph, with the task of each part.
struct Prediction {
    graph: TaskGraph,
    tasks: Vec<Task>,
    execution: Execution,
}

impl Prediction {
    /// Runs the parts in these orders, one for each resource. None if they wait for each other.
    fn of(parts: &[Part], durations: &[i64], orders: &[Vec<usize>]) -> Option<Self> {
        let mut tasks = vec![None; parts.len()];
        for (rank, &part) in (0..).zip(orders.iter().flatten()) {
            assert_eq!(tasks[part].replace(Task(rank)), None, "one task for each part");
        }
        let tasks: Vec<Task> = tasks.into_iter().map(|task| task.expect("a task for each part")).collect();
        let mut graph = TaskGraphBuilder::new();
        for order in orders {
            let mut resource = graph.resource();
            for &part in order {
                let mut task = resource.task(Ticks(durations[part]));
                if let Some(needed) = needed(parts, &parts[part]) {
                    task.need(tasks[needed], Ticks::ZERO);
                }
            }
        }
        let graph = graph.finish().expect("a graph");
        let execution = graph.execute().ok()?;
        Some(Self { graph, tasks, execution })
    }

    /// In the orders in which the host launched the parts.
    fn as_launched(parts: &[Part], durations: &[i64]) -> Self {
        Self::of(parts, durations, &launched(parts)).expect("it ran")
    }

    fn start(&self, part: usize) -> i64 {
        self.execution.start(self.tasks[part]).0
    }

    fn makespan(&self) -> i64 {
        self.execution.makespan(&self.graph).0
    }
}

/// By resource, the parts in the order in which the host launched them.
fn launched(parts: &[Part]) -> Vec<Vec<usize>> {
    let on = |resource| (0..parts.len()).filter(|&part| parts[part].resource == resource).collect();
    (0..RESOURCES.len()).map(on).collect()
}

fn elapsed(parts: &[Part]) -> Vec<i64> {
    parts.iter().map(Part::elapsed).collect()
}

fn busy(parts: &[Part]) -> Vec<i64> {
    parts.iter().map(|part| part.busy).collect()
}

fn measured(parts: &[Part]) -> i64 {
    parts.iter().map(|part| part.end).max().expect("parts")
}

/// A share in percent, rounded half away from zero to one decimal.
fn percent(share: i64, whole: i64) -> String {
    let tenths = (share.abs() * 2000 + whole) / (2 * whole);
    let sign = if share < 0 { "-" } else { "+" };
    format!("{sign}{}.{} %", tenths / 10, tenths % 10)
}

/// How far predicted starts are from measured ones: the largest and the median, the lower of two.
fn largest_and_median(parts: &[Part], prediction: &Prediction) -> (i64, i64) {
    let error = |part| (prediction.start(part) - parts[part].start).abs();
    let mut errors: Vec<i64> = (0..parts.len()).map(error).collect();
    errors.sort_unstable();
    (errors[errors.len() - 1], errors[(errors.len() - 1) / 2])
}

/// By part: how long after everything that it waited for it started, by the measured times alone.
fn delays(parts: &[Part]) -> Vec<i64> {
    let mut delays = vec![0; parts.len()];
    for order in launched(parts) {
        let mut free = 0;
        for part in order {
            let arrived = needed(parts, &parts[part]).map_or(0, |needed| parts[needed].end);
            delays[part] = parts[part].start - arrived.max(free);
            free = parts[part].end;
        }
    }
    delays
}

#[test]
fn the_measured_times_respect_every_need_and_every_order() {
    let parts = parts();
    assert_eq!(parts.len(), 44);
    let needs = parts.iter().filter(|part| needed(&parts, part).is_some()).count();
    assert_eq!(needs, parts.len() - 2, "all but the first of the forward and of the backward");
    for (part, delay) in parts.iter().zip(delays(&parts)) {
        assert!(delay >= 0, "{}", part.label());
    }
}

/// What the prediction lacks: the host launches the first attention late, and one message waits. On these two resources
/// nothing else starts more than 30 us after what it waits for.
#[test]
fn two_delays_are_most_of_what_the_prediction_lacks() {
    let parts = parts();
    let delays = delays(&parts);
    let mut largest: Vec<(i64, String)> = (0..parts.len())
        .filter(|&part| parts[part].resource == COMPUTE || parts[part].resource == COMMUNICATION)
        .map(|part| (delays[part], parts[part].label()))
        .collect();
    largest.sort_unstable_by(|one, other| other.cmp(one));
    assert_eq!(largest[..2], [(475, "attn(F) 0".to_owned()), (339, "dispatch(B) 3".to_owned())]);
    assert!(largest[2].0 <= 30, "{:?}", largest[2]);
}

#[test]
fn predicted_starts_are_close_to_measured_ones() {
    let parts = parts();
    let whole = measured(&parts);
    let by_elapsed = Prediction::as_launched(&parts, &elapsed(&parts));
    let by_busy = Prediction::as_launched(&parts, &busy(&parts));
    assert!((by_elapsed.makespan() - whole).abs() * 100 <= whole, "within 1 %");
    assert_eq!(percent(by_elapsed.makespan() - whole, whole), "-0.7 %");
    assert_eq!(percent(by_busy.makespan() - whole, whole), "-5.6 %");
    assert_eq!(largest_and_median(&parts, &by_elapsed), (1347, 512));
    assert_eq!(largest_and_median(&parts, &by_busy), (7707, 4669));

    let delays = delays(&parts);
    let mut table = format!(
        "{:<14} {:<14} {:>8} {:>5}  {:>9} {:>6}  {:>9} {:>6}\n",
        "part", "resource", "measured", "delay", "elapsed", "error", "busy", "error"
    );
    for (rank, part) in parts.iter().enumerate() {
        let (label, resource, start) = (part.label(), RESOURCES[part.resource], part.start);
        let [elapsed, busy] = [&by_elapsed, &by_busy].map(|prediction| prediction.start(rank));
        let (off_elapsed, off_busy) = (elapsed - start, busy - start);
        let delay = delays[rank];
        writeln!(
            table,
            "{label:<14} {resource:<14} {start:>8} {delay:>5}  {elapsed:>9} {off_elapsed:>6}  {busy:>9} {off_busy:>6}"
        )
        .expect("a text");
    }
    let [elapsed, busy] = [&by_elapsed, &by_busy].map(Prediction::makespan);
    let (off_elapsed, off_busy) = (elapsed - whole, busy - whole);
    writeln!(
        table,
        "{:<14} {:<14} {whole:>8} {:>5}  {elapsed:>9} {off_elapsed:>6}  {busy:>9} {off_busy:>6}",
        "end", "", ""
    )
    .expect("a text");
    insta::assert_snapshot!(table);
}

/// The makespan of the parts of one direction alone, with their durations as they were in the pair.
fn alone(parts: &[Part], forward: bool) -> (Vec<Part>, i64) {
    let mut parts = parts.to_vec();
    parts.retain(|part| part.is_forward() == forward);
    let makespan = Prediction::as_launched(&parts, &elapsed(&parts)).makespan();
    (parts, makespan)
}

#[test]
fn the_forward_alone_is_a_chain_and_the_backward_has_gradients_of_weights_beside_its_messages() {
    let all = parts();
    let (parts, forward) = alone(&all, true);
    assert_eq!((parts.len(), forward), (16, parts.iter().map(Part::elapsed).sum()));
    assert_eq!(forward, 98_693);
    let (parts, backward) = alone(&all, false);
    let on_one_stream = parts.iter().filter(|part| part.resource < 2).map(Part::elapsed).sum::<i64>();
    assert_eq!((parts.len(), backward, on_one_stream), (28, 115_394, 142_856));
}

/// No order is shorter than the work of a resource between the least time before its parts and the least time after
/// them, and none is shorter than a chain of needs.
fn simple_bounds(parts: &[Part], durations: &[i64]) -> [i64; 4] {
    let orders = launched(parts);
    let prediction = Prediction::of(parts, durations, &orders).expect("it ran");
    let need = |part: usize| needed(parts, &parts[part]);
    let head = |part| std::iter::successors(need(part), |&it| need(it)).map(|it| durations[it]).sum::<i64>();
    // The longest chain from a part on is the longest that leads to some part, without what is before the part.
    let leads_to = |end, part| std::iter::successors(Some(end), |&it| need(it)).any(|it| it == part);
    let tail = |part: usize| {
        let ends = (0..parts.len()).filter(|&end| leads_to(end, part));
        ends.map(|end| head(end) + durations[end] - head(part) - durations[part]).max().expect("itself")
    };
    let on = |resource: usize| {
        let head = orders[resource].iter().map(|&part| head(part)).min().expect("parts");
        let tail = orders[resource].iter().map(|&part| tail(part)).min().expect("parts");
        let number = Resource(u32::try_from(resource).expect("few"));
        head + prediction.graph.work(number).0 + tail
    };
    let chain = (0..parts.len()).map(|part| head(part) + durations[part]).max().expect("parts");
    [on(0), on(1), on(2), chain]
}

/// Moves one part at a time to the place of its order where that helps most, until nothing helps.
fn local_search(parts: &[Part], durations: &[i64]) -> i64 {
    let mut best = launched(parts);
    let mut least = i64::MAX;
    loop {
        let mut better = None;
        for resource in 0..best.len() {
            let places = best[resource].len();
            for (from, to) in (0..places * places).map(|it| (it / places, it % places)) {
                let mut orders = best.clone();
                let part = orders[resource].remove(from);
                orders[resource].insert(to, part);
                let Some(prediction) = Prediction::of(parts, durations, &orders) else { continue };
                if prediction.makespan() < least {
                    least = prediction.makespan();
                    better = Some(orders);
                }
            }
        }
        match better {
            Some(orders) => best = orders,
            None => return least,
        }
    }
}

/// The best orders, as the search found them, with the second compute stream in the order of its needs.
fn best(parts: &[Part], durations: &[i64]) -> Option<(Vec<Vec<usize>>, i64)> {
    let (sequence, makespan) = search::shorter(parts, durations)?;
    let mut orders = launched(parts);
    for resource in [COMPUTE, COMMUNICATION] {
        orders[resource] =
            sequence.iter().copied().filter(|&part| parts[part].resource == resource).collect();
    }
    Some((orders, makespan))
}

#[test]
fn another_order_in_the_pair_gains_little() {
    let parts = parts();
    let durations = elapsed(&parts);
    let as_launched = Prediction::as_launched(&parts, &durations).makespan();
    let bounds = simple_bounds(&parts, &durations);
    let (orders, makespan) = best(&parts, &durations).expect("a shorter order");
    let prediction = Prediction::of(&parts, &durations, &orders).expect("it runs");
    // The search does without the second compute stream. As that costs nothing, its result is the least of all orders.
    assert_eq!(prediction.makespan(), makespan);
    assert_eq!(local_search(&parts, &durations), makespan);

    let mut text = String::new();
    for (name, bound) in RESOURCES.iter().copied().chain(["longest chain"]).zip(bounds) {
        writeln!(text, "{name:<17} {bound:>6}  at least, in any order").expect("a text");
    }
    writeln!(text, "{:<17} {makespan:>6}  the least of all orders, by exhaustive search", "best")
        .expect("a text");
    writeln!(text, "{:<17} {as_launched:>6}  predicted", "as launched").expect("a text");
    for resource in [COMPUTE, COMMUNICATION] {
        for (title, orders) in [("as launched", &launched(&parts)), ("best", &orders)] {
            let labels: Vec<String> = orders[resource].iter().map(|&part| parts[part].label()).collect();
            writeln!(text, "\n{}, {title}", RESOURCES[resource]).expect("a text");
            for line in labels.chunks(6) {
                writeln!(text, "  {}", line.join(", ")).expect("a text");
            }
        }
    }
    insta::assert_snapshot!(text);
}

/// All orders of a list.
fn orders_of(list: &[usize]) -> Vec<Vec<usize>> {
    if list.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for &first in list {
        let rest: Vec<usize> = list.iter().copied().filter(|&it| it != first).collect();
        all.extend(orders_of(&rest).into_iter().map(|order| [vec![first], order].concat()));
    }
    all
}

/// One layer with random durations: 6 parts of compute and 4 messages have 17280 pairs of orders.
#[test]
fn the_search_finds_the_least_of_all_orders_of_a_layer() {
    let mut parts = parts();
    parts.retain(|part| part.layer == 0 && part.resource < 2);
    let orders = launched(&parts);
    let [compute, communication] = [COMPUTE, COMMUNICATION].map(|resource| orders_of(&orders[resource]));
    let mut shorter = 0;
    for seed in 0..6 {
        let durations: Vec<i64> = random(seed, 10).iter().map(|byte| i64::from(byte % 9) + 1).collect();
        let pairs =
            compute.iter().flat_map(|one| communication.iter().map(|other| [one.clone(), other.clone()]));
        let least = pairs
            .filter_map(|orders| Some(Prediction::of(&parts, &durations, &orders)?.makespan()))
            .min()
            .expect("as it was launched");
        let as_launched = Prediction::as_launched(&parts, &durations).makespan();
        let found = best(&parts, &durations).map_or(as_launched, |(orders, makespan)| {
            shorter += 1;
            assert_eq!(Prediction::of(&parts, &durations, &orders).expect("it runs").makespan(), makespan);
            makespan
        });
        assert_eq!(found, least, "{durations:?}");
    }
    assert!(shorter > 0, "some order is better than the one of the host");
}

/// The rows of a table of the page, without its head.
fn table(page: &str, name: &str) -> String {
    let (_, table) = page.split_once(&format!("<!-- table: {name} -->\n")).expect("a table");
    table.lines().take_while(|line| line.starts_with('|')).skip(2).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_page_has_these_figures() {
    let page =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/traces.md")).expect("a page");
    let (_, section) = page.split_once("## A pair measured on an H800\n").expect("a section");
    let section = section.split("\n## ").next().expect("its text");

    let parts = parts();
    let whole = measured(&parts);
    let durations = elapsed(&parts);
    let [by_elapsed, by_busy] = [&durations, &busy(&parts)].map(|it| Prediction::as_launched(&parts, it));
    let mut rows = vec![format!("| measured | {whole} | | | |")];
    for (what, prediction) in
        [("from its first to its last kernel", &by_elapsed), ("of its kernels", &by_busy)]
    {
        let makespan = prediction.makespan();
        let error = percent(makespan - whole, whole);
        let (largest, median) = largest_and_median(&parts, prediction);
        rows.push(format!("| a part takes the time {what} | {makespan} | {error} | {median} | {largest} |"));
    }
    assert_eq!(table(section, "pair"), rows.join("\n"));

    let as_launched = by_elapsed.makespan();
    let least = best(&parts, &durations).expect("a shorter order").1;
    let bound = simple_bounds(&parts, &durations)[COMPUTE];
    let [forward, backward] = [true, false].map(|forward| alone(&parts, forward).1);
    let mut rows = vec![format!("| the host's order | {as_launched} | |")];
    for (what, makespan) in [
        ("best order", least),
        ("best merge of the orders of the forward and of the backward", merged::least(&parts)),
        ("work of the compute stream, a lower bound for any order", bound),
        ("forward alone", forward),
        ("backward alone", backward),
    ] {
        rows.push(format!("| {what} | {makespan} | {} |", percent(makespan - as_launched, as_launched)));
    }
    assert_eq!(table(section, "orders"), rows.join("\n"));

    let delays = delays(&parts);
    let delay = |label| delays[parts.iter().position(|it| it.label() == label).expect("a part")];
    let [first, late] = ["attn(F) 0", "dispatch(B) 3"].map(delay);
    let gaps = |part: &Part| if part.resource == COMPUTE { part.elapsed() - part.busy } else { 0 };
    let all_gaps = parts.iter().map(gaps).sum::<i64>();
    let in_weights = parts.iter().filter(|part| part.name == "mlp(W)").map(gaps).sum::<i64>();
    let cost = as_launched - by_busy.makespan();
    let share = percent(cost, whole);
    let sentences = [
        format!("make up {} of the missing {} µs", first + late, whole - as_launched),
        format!("starts {first} µs after time 0, and one `dispatch(B)` starts {late} µs after"),
        format!("cost {cost} µs**, {} of the measured time", share.trim_start_matches('+')),
        format!("has gaps of {all_gaps} µs in all, of which {in_weights} µs are in `mlp(W)`"),
        format!("The host's order is {} µs longer than the optimum", as_launched - least),
        format!("they would take {} µs", forward + backward),
        format!("A gain of {} is", percent(as_launched - least, as_launched).trim_start_matches('+')),
    ];
    let words = section.split_whitespace().collect::<Vec<_>>().join(" ");
    for sentence in sentences {
        assert!(words.contains(&sentence), "{sentence}");
    }
    assert!((0..parts.len()).all(|part| by_elapsed.start(part) <= parts[part].start), "none is too late");
}
