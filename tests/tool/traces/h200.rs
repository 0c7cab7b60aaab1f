//! What we measured on H200s, each divided into the devices of a pipeline. docs/measured.md has the tables.
//!
//! `cuda` has the runs of one GPU for each size of the network, `cuda-other` those of the large network on another GPU of the
//! same make, and `cuda-streams` runs whose devices shared all of a GPU.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::sync::OnceLock;

use bubbleproof::model::{Model, Units};
use bubbleproof::replay::replay;
use bubbleproof::schedule::{self, Schedule};
use bubbleproof::trace::Trace;
use bubbleproof::trace::fit::{Profile, profile};
use bubbleproof::trace::statistics::quantile;
use bubbleproof::trace::terms::{Terms, fit_contention, fit_gaps, simulate};

use crate::traces::better::{Found, committed};
use crate::traces::figures::{milliseconds, percent, signed};
use crate::traces::gpu::table;
use crate::traces::measured::{traces, unpacked};
use crate::traces::published;

/// The runs of a folder by schedule, number of devices and size: `v-half-d4-m16-large`.
pub type Runs = BTreeMap<String, Vec<Trace>>;

pub fn runs(folder: &str) -> Runs {
    let mut found = Runs::new();
    for (name, trace) in traces(unpacked(folder).path()) {
        let (about, _) = name.rsplit_once('-').expect("NAME-RUN.json");
        found.entry(about.to_owned()).or_default().push(trace);
    }
    found
}

fn first_gpu() -> &'static Runs {
    static RUNS: OnceLock<Runs> = OnceLock::new();
    RUNS.get_or_init(|| runs("cuda-other"))
}

fn second_gpu() -> &'static Runs {
    static RUNS: OnceLock<Runs> = OnceLock::new();
    RUNS.get_or_init(|| runs("cuda"))
}

fn median(mut values: Vec<i64>) -> i64 {
    values.sort_unstable();
    quantile(&values, 1, 2).expect("a value")
}

/// The median makespan of all iterations of all runs, in nanoseconds.
pub fn makespan(runs: &[Trace]) -> i64 {
    let iterations = runs.iter().flat_map(|trace| &trace.iterations);
    median(iterations.map(|ran| (ran.last_end() - ran.first_start()).0).collect())
}

/// The most bytes of activations on any device, in any iteration.
pub fn peak(runs: &[Trace]) -> i64 {
    let iterations = runs.iter().flat_map(|trace| &trace.iterations);
    let peaks = iterations.flat_map(|ran| ran.peak_memory().expect("memory was measured"));
    peaks.map(|peak| peak.0).max().expect("a device")
}

/// Bytes as GiB with two decimals.
pub fn gibibytes(bytes: i64) -> String {
    let hundredths = (bytes * 100 + (1 << 29)) >> 30;
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

const LARGE: &str = "-d4-m16-large";

/// The schedules with 8 stages in a V, by what their files are called.
const IN_A_V: [&str; 7] =
    ["v-min", "v-half", "v-zb", "optimised", "optimised-h200-50", "optimised-h200-75", "optimised-h200-100"];

pub fn fitted(traces: &[Trace]) -> Profile {
    profile("measured", traces).expect("a model").without_step().without_messages()
}

/// The makespan that runs predict for a schedule: by replay, and by a simulation with contention and launch gaps.
pub fn predictions(others: &[Trace], schedule: &Schedule) -> [i64; 2] {
    let fitted = fitted(others);
    let (rates, alone) = fit_contention(&fitted, others).expect("rates");
    let none = Terms::none(schedule.devices());
    let terms = Terms { gaps: fit_gaps(&fitted, others), rates, ..none.clone() };
    let [plain, contended] = [(&fitted.model, &none), (&alone, &terms)].map(|(model, terms)| {
        let spans = simulate(model, schedule, terms).expect("it runs");
        spans.iter().flatten().map(|span| span.end.0).max().expect("a pass")
    });
    assert_eq!(plain, replay(&fitted.model, schedule).timing.expect("it runs").metrics.makespan.0);
    [plain, contended]
}

/// What the other six schedules, which ran on the same GPU, predict for each.
#[test]
fn each_schedule_on_an_h200_is_predicted_by_the_others_as_the_page_says() {
    let all = second_gpu();
    let mut report = String::new();
    let mut sizes = [Vec::new(), Vec::new()];
    for name in IN_A_V {
        let own = &all[&format!("{name}{LARGE}")];
        let others = IN_A_V.iter().filter(|&&other| other != name);
        let others: Vec<Trace> = others.flat_map(|other| all[&format!("{other}{LARGE}")].clone()).collect();
        let measured = makespan(own);
        let predicted = predictions(&others, &own[0].schedule);
        write!(report, "| {name} | {} | {} |", gibibytes(peak(own)), milliseconds(measured))
            .expect("a string");
        for (predicted, sizes) in predicted.into_iter().zip(&mut sizes) {
            write!(report, " {} | {} |", milliseconds(predicted), signed(predicted - measured, measured))
                .expect("a string");
            sizes.push((predicted - measured).abs() * 10_000 / measured);
        }
        report.push('\n');
    }
    assert_eq!(report, table("h200"), "docs/measured.md has other figures");
    let [plain, contended] = sizes.map(median);
    assert!(contended < plain, "{contended} {plain}");
}

/// The model by which the three schedules were sought: runs of V-Min, V-Half and V-ZB on the other GPU, with so much memory.
fn model(capacity: Units) -> Model {
    let all = first_gpu();
    let traces: Vec<Trace> =
        IN_A_V[..3].iter().flat_map(|name| all[&format!("{name}{LARGE}")].clone()).collect();
    fitted(&traces).model.with_uniform_capacity(capacity).expect("a capacity")
}

/// What the catalogue has for half, three quarters and all of the memory of 1F1B, and what was found for it.
const INSTEAD: [(&str, &str, i64); 3] =
    [("v-min", "50", 1_644_298_240), ("v-half", "75", 2_466_447_360), ("v-zb", "100", 3_288_596_480)];

/// Schedules found for times measured on one GPU, run beside those of the catalogue on another one.
#[test]
fn schedules_found_for_measured_times_are_as_fast_as_the_page_says() {
    let all = second_gpu();
    let mut report = String::new();
    for (name, share, capacity) in INSTEAD {
        let model = model(Units(capacity));
        let file = format!("h200-{share}");
        let Found { makespan: predicted, bound, is_searched, peak: held } = committed(&file, &model);
        let path = published::folder().join("better").join(&file).with_extension("json");
        let found = schedule::parse(&fs::read_to_string(path).expect("a schedule file")).expect("a schedule");
        let (usual, ours) = (&all[&format!("{name}{LARGE}")], &all[&format!("optimised-{file}{LARGE}")]);
        assert!(ours[0].schedule.orders() == found.orders(), "{file}: what ran is what was found");
        assert_eq!(peak(ours), held, "{file}: to the byte");
        let usually = replay(&model, &usual[0].schedule);
        assert!(usually.is_valid(), "{name}: {:?}", usually.violations);
        let expected = usually.timing.expect("it runs").metrics.makespan.0;
        let (slow, quick) = (makespan(usual), makespan(ours));
        assert!(!is_searched && bound == predicted, "{file}: optimal for the model, by a bound");
        writeln!(
            report,
            "| {share} % | {name} | {} | {} | {} | {} | {} % | {} % |",
            gibibytes(peak(usual)),
            gibibytes(peak(ours)),
            milliseconds(slow),
            milliseconds(quick),
            signed(quick - slow, slow),
            signed(predicted - expected, expected),
        )
        .expect("a string");
    }
    assert_eq!(report, table("h200-better"), "docs/measured.md has other figures");
}

/// Two GPUs of one make, and devices that share all of a GPU.
#[test]
fn two_h200s_and_streams_differ_as_the_page_says() {
    let (first, second) = (first_gpu(), second_gpu());
    let mut slower: Vec<i64> = Vec::new();
    for (name, runs) in first {
        let (one, other) = (makespan(runs), makespan(&second[name]));
        slower.push((other - one) * 10_000 / one);
    }
    slower.sort_unstable();
    let shared = runs("cuda-streams");
    let (mut divided, mut beside) = (Vec::new(), Vec::new());
    for (name, runs) in shared.iter().filter(|(name, _)| name.ends_with("-small")) {
        divided.push(makespan(&second[name]));
        beside.push(makespan(runs));
    }
    let range = |values: &[i64]| {
        let (least, most) = (values.iter().min().expect("a run"), values.iter().max().expect("a run"));
        format!("{} to {} ms", milliseconds(*least), milliseconds(*most))
    };
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/measured.md")).expect("a page");
    let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
    for text in [
        format!(
            "all {} large runs took {} to {} % longer on the second GPU",
            slower.len(),
            percent(slower[0], 10_000),
            percent(*slower.last().expect("a run"), 10_000)
        ),
        format!("take {} on groups and {} on streams", range(&divided), range(&beside)),
    ] {
        assert!(page.contains(&text), "docs/measured.md lacks: {text}");
    }
}
