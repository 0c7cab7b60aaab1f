//! How far predictions are off for GPUs that others measured. docs/measured.md has the tables.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::sync::OnceLock;

use bubbleproof::model::{Costs, Model, Pass, Stage, Ticks};
use bubbleproof::schedule::{Schedule, prerequisites};
use bubbleproof::trace::fit::{Profile, profile};
use bubbleproof::trace::matching::{early, findings};
use bubbleproof::trace::statistics::quantile;
use bubbleproof::trace::terms::{Terms, fit_gaps, fit_gaps_of_kinds, simulate_with};
use bubbleproof::trace::{Iteration, Trace};

use crate::traces::published::{entries, numbers, trace};

/// Runs whose errors are one line, each with the iterations that predict one another: a job at one time.
fn runs() -> Vec<(&'static str, Vec<Trace>)> {
    let whole = |name: &str| vec![trace(name)];
    let windows: Vec<Trace> = ["bytedance-st-dp0.json", "bytedance-st-dp1.json"]
        .into_iter()
        .flat_map(|name| {
            let (trace, numbers) = (trace(name), numbers(name));
            [23..=36, 259..=288, 514..=538, 1010..=1048].map(|steps| {
                let iterations = numbers.iter().zip(&trace.iterations);
                let within = iterations.filter(|(number, _)| steps.contains(*number));
                Trace { iterations: within.map(|(_, ran)| ran.clone()).collect(), ..trace.clone() }
            })
        })
        .collect();
    let ar = ["bytedance-ar-dp0.json", "bytedance-ar-dp1.json"].map(trace).to_vec();
    let st = ["bytedance-st-dp0.json", "bytedance-st-dp1.json"].map(trace).to_vec();
    vec![
        ("ByteDance ST, 1F1B", windows),
        (OF_ALL, st),
        ("ByteDance AR, 1F1B", ar),
        ("Primus, 1F1B", whole("primus-1f1b.json")),
        ("Primus, interleaved", whole("primus-interleaved.json")),
        ("MegatronApp, interleaved", whole("megatronapp-interleaved.json")),
    ]
}

/// Steps that are predicted by all others of their job, early ones and late ones.
const OF_ALL: &str = "ByteDance ST, from the whole job";

/// How far a prediction of an iteration is off, in ten-thousandths of the measured makespan.
#[derive(Debug, Clone, Copy)]
pub struct Errors {
    pub measured: Ticks,
    pub predicted: Ticks,
    makespan: i64,
    median_start: i64,
    worst_start: i64,
}

fn errors(
    ran: &Iteration,
    model: &Model,
    schedule: &Schedule,
    terms: &Terms,
    duration: impl Fn(Pass) -> Ticks,
) -> Errors {
    let spans = simulate_with(model, schedule, terms, duration).expect("it runs");
    let predicted: BTreeMap<Pass, Ticks> =
        spans.iter().flatten().map(|span| (span.pass, span.start)).collect();
    let makespan = spans.iter().flatten().map(|span| span.end).max().expect("a pass");
    let measured = ran.last_end() - ran.first_start();
    let share = |ticks: Ticks| {
        let share = i128::from(ticks.0) * 10_000 / i128::from(measured.0);
        i64::try_from(share).expect("a share")
    };
    let mut starts: Vec<i64> = ran
        .passes
        .iter()
        .flatten()
        .map(|span| share(predicted[&span.pass] - (span.start - ran.first_start())).abs())
        .collect();
    starts.sort_unstable();
    Errors {
        measured,
        predicted: makespan,
        makespan: share(makespan - measured),
        median_start: quantile(&starts, 1, 2).expect("a pass"),
        worst_start: *starts.last().expect("a pass"),
    }
}

/// Durations of an iteration, or medians of every pass over several.
fn durations(iterations: &[Iteration]) -> BTreeMap<Pass, Ticks> {
    let mut found: BTreeMap<Pass, Vec<i64>> = BTreeMap::new();
    for span in iterations.iter().flat_map(|ran| ran.passes.iter().flatten()) {
        found.entry(span.pass).or_default().push(span.duration().0);
    }
    let median = |(pass, mut values): (Pass, Vec<i64>)| {
        values.sort_unstable();
        (pass, Ticks(quantile(&values, 1, 2).expect("it ran")))
    };
    found.into_iter().map(median).collect()
}

/// The model without anything between passes.
fn free(model: &Model) -> Model {
    let costs = model.costs();
    let communication = vec![Ticks::ZERO; costs.communication.len()];
    model.with_costs(Costs { communication, ..costs.clone() }).expect("shorter")
}

fn fitted(trace: &Trace, iterations: Vec<Iteration>) -> (Trace, Profile) {
    let others = Trace { iterations, ..trace.clone() };
    let profile = profile("others", std::slice::from_ref(&others)).expect("a model").without_step();
    (others, profile)
}

const OWN: &str = "(a) durations as they were, nothing between passes";
const OWN_FITTED: &str = "(a) durations as they were, delays and launch gaps fitted";
const OWN_KINDS: &str = "(a) the same, launch gaps by kinds";
const MEDIANS: &str = "(b) medians of stages, nothing between passes";
const FITTED: &str = "(c) medians of stages, delays and launch gaps fitted";
const LINKS: &str = "(c) the same, messages on links";
const KINDS: &str = "(c) medians of stages, launch gaps by kinds";
const BY_PASS: &str = "(c) medians of single passes, launch gaps by kinds";
const STALLED: &str = "(c) the same, but stalled passes as they were";
pub const ALL: [&str; 9] = [OWN, OWN_FITTED, OWN_KINDS, MEDIANS, FITTED, LINKS, KINDS, BY_PASS, STALLED];

/// Every prediction of an iteration by the others.
fn predictions(trace: &Trace, at: usize, of: &mut BTreeMap<&'static str, Vec<Errors>>) {
    let mut others = trace.iterations.clone();
    let ran = others.remove(at);
    let (others, on_links) = fitted(trace, others);
    let delayed = on_links.clone().without_messages();
    let none = Terms::none(trace.schedule.devices());
    let gaps = Terms { gaps: fit_gaps(&delayed, std::slice::from_ref(&others)), ..none.clone() };
    let gaps_of_kinds = fit_gaps_of_kinds(&delayed, std::slice::from_ref(&others));
    let kinds = Terms { gaps_of_kinds, ..gaps.clone() };
    let (own, single) = (durations(std::slice::from_ref(&ran)), durations(&others.iterations));
    let (model, schedule) = (&delayed.model, &trace.schedule);
    let nothing = free(model);
    let stage = |pass: Pass| schedule.duration(model, pass);
    let mut add = |name, errors| of.entry(name).or_default().push(errors);
    add(OWN, errors(&ran, &nothing, schedule, &none, |pass| own[&pass]));
    add(OWN_FITTED, errors(&ran, model, schedule, &gaps, |pass| own[&pass]));
    add(OWN_KINDS, errors(&ran, model, schedule, &kinds, |pass| own[&pass]));
    add(MEDIANS, errors(&ran, &nothing, schedule, &none, stage));
    add(FITTED, errors(&ran, model, schedule, &gaps, stage));
    if on_links.model.messages().is_some() {
        add(LINKS, errors(&ran, &on_links.model, schedule, &gaps, stage));
    }
    add(KINDS, errors(&ran, model, schedule, &kinds, stage));
    add(BY_PASS, errors(&ran, model, schedule, &kinds, |pass| single[&pass]));
    // One pass in hundreds takes several times as long as ever.
    let stalled =
        |pass: Pass| if own[&pass] > single[&pass] + single[&pass] { own[&pass] } else { single[&pass] };
    if own.keys().any(|pass| stalled(*pass) != single[pass]) {
        add(STALLED, errors(&ran, model, schedule, &kinds, stalled));
    }
}

/// A line of a table: a run, or several of a job, and every iteration of it predicted in one way.
pub struct Line {
    pub run: &'static str,
    pub prediction: &'static str,
    pub errors: Vec<Errors>,
}

/// A line as the page has it: errors of makespans and of starts, in percent.
fn line(Line { run, prediction, errors }: &Line) -> String {
    let sorted = |of: fn(&Errors) -> i64| {
        let mut values: Vec<i64> = errors.iter().map(of).collect();
        values.sort_unstable();
        values
    };
    let percent = |value: i64| format!("{}.{:02}", value.abs() / 100, value.abs() % 100);
    let signed = |value: i64| format!("{}{}", if value < 0 { "-" } else { "+" }, percent(value));
    let makespans = sorted(|errors| errors.makespan);
    let sizes = sorted(|errors| errors.makespan.abs());
    let (least, most) = (makespans[0], makespans[makespans.len() - 1]);
    let starts = sorted(|errors| errors.median_start);
    let worst = errors.iter().map(|errors| errors.worst_start).max().expect("an iteration");
    format!(
        "| {run} | {prediction} | {} | {} | {} to {} | {} | {} |\n",
        errors.len(),
        percent(quantile(&sizes, 1, 2).expect("an iteration")),
        signed(least),
        signed(most),
        percent(quantile(&starts, 1, 2).expect("an iteration")),
        percent(worst)
    )
}

/// The rows of a table of the page, without its head.
pub fn table(name: &str) -> String {
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/measured.md")).expect("a page");
    let (_, table) = page.split_once(&format!("<!-- table: {name} -->\n")).expect("a table");
    let rows = table.lines().take_while(|line| line.starts_with('|')).skip(2);
    rows.flat_map(|row| [row, "\n"]).collect()
}

/// Every iteration of every run, predicted by the others. Computed once for the table and the picture.
fn of_others() -> &'static [Line] {
    static LINES: OnceLock<Vec<Line>> = OnceLock::new();
    LINES.get_or_init(predicted_by_others)
}

/// Those that the page has.
pub fn of_others_shown() -> impl Iterator<Item = &'static Line> {
    of_others().iter().filter(|line| line.run != OF_ALL || line.prediction == FITTED)
}

fn predicted_by_others() -> Vec<Line> {
    let mut lines = Vec::new();
    for (run, traces) in runs() {
        let mut found = BTreeMap::new();
        for trace in &traces {
            for at in 0..trace.iterations.len() {
                predictions(trace, at, &mut found);
            }
        }
        for name in ALL {
            if let Some(errors) = found.remove(name) {
                lines.push(Line { run, prediction: name, errors });
            }
        }
    }
    lines
}

#[test]
fn published_iterations_are_predicted_by_the_others_as_the_page_says() {
    let report: String = of_others_shown().map(line).collect();
    for Line { run, errors, .. } in of_others().iter().filter(|line| line.prediction == OWN_KINDS) {
        if !run.starts_with("MegatronApp") {
            let worst = errors.iter().map(|errors| errors.makespan.abs()).max().expect("a run");
            assert!(worst <= 50, "{run}: durations as they were give the makespan within 0.5 %");
        }
    }
    insta::assert_snapshot!("errors_gpu", report);
    assert_eq!(report, table("gpu"), "docs/measured.md has other figures");
}

/// The profile of 1F1B, with a stage for each rank, as one of half as many layers in a stage: F and B of half the layers take half
/// the time. What the first and the last stage take beyond the others is not of their layers, and stays.
fn halved(model: &Model, placement: &bubbleproof::model::Placement) -> Model {
    let devices = model.devices();
    let halves = |of: &[Ticks]| -> Vec<Ticks> {
        let mut inner: Vec<i64> = of[1..of.len() - 1].iter().map(|ticks| ticks.0).collect();
        inner.sort_unstable();
        let inner = Ticks(quantile(&inner, 1, 2).expect("inner stages"));
        let half = |ticks: Ticks| Ticks(ticks.0 / 2);
        let last = of.len() - 1;
        let of_stage = |stage: Stage| {
            let rank = (stage.0 % devices) as usize;
            let ends = stage.0 == 0 || stage.0 + 1 == placement.stages();
            match rank {
                _ if ends => of[rank] - half(inner),
                0 => half(inner),
                _ if rank == last => half(inner),
                _ => half(of[rank]),
            }
        };
        Stage::all(placement.stages()).map(of_stage).collect()
    };
    let costs = model.costs();
    let delay = mean(&costs.communication);
    with(
        model,
        placement,
        Costs {
            unit: costs.unit.clone(),
            forward: halves(&costs.forward),
            backward_input: halves(&costs.backward_input),
            backward_weight: vec![Ticks::ZERO; placement.stages() as usize],
            communication: vec![delay; placement.stages() as usize - 1],
        },
    )
}

/// The profile of the interleaved run with both chunks of a rank as one stage.
fn joined(model: &Model, placement: &bubbleproof::model::Placement) -> Model {
    let stages = placement.stages() as usize;
    let sums = |of: &[Ticks]| (0..stages).map(|rank| of[rank] + of[rank + stages]).collect();
    let costs = model.costs();
    with(
        model,
        placement,
        Costs {
            unit: costs.unit.clone(),
            forward: sums(&costs.forward),
            backward_input: sums(&costs.backward_input),
            backward_weight: vec![Ticks::ZERO; stages],
            communication: vec![mean(&costs.communication); stages - 1],
        },
    )
}

fn mean(delays: &[Ticks]) -> Ticks {
    let sum: i64 = delays.iter().map(|ticks| ticks.0).sum();
    Ticks(sum / i64::try_from(delays.len()).expect("a few"))
}

fn with(model: &Model, placement: &bubbleproof::model::Placement, costs: Costs) -> Model {
    let unit = Model::unit(placement.clone(), model.microbatches()).expect("a model");
    unit.with_costs(costs).expect("costs of every stage")
}

/// The two runs of Primus, each predicted by the other. Nothing is fitted to the run that is predicted: only the schedule
/// is its own. Computed once for the table and the picture.
pub fn of_another_schedule() -> &'static [Line] {
    static LINES: OnceLock<Vec<Line>> = OnceLock::new();
    LINES.get_or_init(predicted_by_another_schedule)
}

fn predicted_by_another_schedule() -> Vec<Line> {
    type Change = fn(&Model, &bubbleproof::model::Placement) -> Model;
    let mut lines = Vec::new();
    for (from, to, name, change) in [
        ("primus-1f1b.json", "primus-interleaved.json", "1F1B predicts interleaved", halved as Change),
        ("primus-interleaved.json", "primus-1f1b.json", "interleaved predicts 1F1B", joined as Change),
    ] {
        let (from, to) = (trace(from), trace(to));
        let profile = profile("other schedule", std::slice::from_ref(&from)).expect("a model");
        let none = Terms::none(from.schedule.devices());
        let gaps = Terms { gaps: fit_gaps(&profile, std::slice::from_ref(&from)), ..none.clone() };
        let model = change(&profile.model, to.schedule.placement());
        let nothing = free(&model);
        let duration = |pass: Pass| to.schedule.duration(&model, pass);
        for (prediction, model, terms) in [
            ("(d) nothing between passes", &nothing, &none),
            ("(d) its delays", &model, &none),
            ("(d) its delays and launch gaps", &model, &gaps),
        ] {
            let found = to.iterations.iter().map(|ran| errors(ran, model, &to.schedule, terms, duration));
            lines.push(Line { run: name, prediction, errors: found.collect() });
        }
    }
    lines
}

#[test]
fn one_schedule_of_a_machine_predicts_another_as_the_page_says() {
    let report: String = of_another_schedule().iter().map(line).collect();
    insta::assert_snapshot!("errors_gpu_other_schedule", report);
    assert_eq!(report, table("other schedule"), "docs/measured.md has other figures");
}

/// What did not run as declared, with how many of it, and how far devices overlap or start early by the clock.
#[test]
fn published_runs_held_their_order_but_for_the_resolution_of_their_events() {
    let mut report = String::new();
    for entry in entries() {
        let trace = trace(&entry.file);
        let found = findings(&trace);
        assert!(found.iter().all(|finding| finding.rule() == "overlap"), "{}: {found:?}", entry.file);
        let overlaps = found.iter().filter_map(|finding| match finding {
            bubbleproof::trace::matching::Finding::Overlap { by, .. } => Some(by.0),
            _ => None,
        });
        let early = early(&trace);
        writeln!(
            report,
            "{}: {} overlaps, at most {} ns; {} early, at most {} ns",
            entry.file,
            found.len(),
            overlaps.max().unwrap_or(0),
            early.len(),
            early.iter().map(|early| early.by.0).max().unwrap_or(0)
        )
        .expect("a string");
    }
    insta::assert_snapshot!("order_gpu", report);
}

/// What no model of passes and messages predicts: a rank that idles although its next pass needs nothing.
#[test]
fn a_rank_of_megatronapp_waits_for_what_its_next_pass_does_not_need() {
    let trace = trace("megatronapp-interleaved.json");
    let pass: Pass = "0F6".parse().expect("a pass");
    assert_eq!(prerequisites(pass, trace.schedule.placement(), |_| true).count(), 0);
    for ran in &trace.iterations {
        let row = &ran.passes[0];
        let at = row.iter().position(|span| span.pass == pass).expect("it ran");
        assert!(row[at].start - row[at - 1].end > Ticks(20_000_000));
    }
}
