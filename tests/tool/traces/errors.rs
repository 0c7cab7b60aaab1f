//! How far predicted makespans are off in all runs of a folder, and where that comes from.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::OnceLock;

use bubbleproof::trace::Trace;
use bubbleproof::trace::compare::{Comparison, compare, of_measured_durations, predict};
use bubbleproof::trace::fit::{Profile, profile};
use bubbleproof::trace::terms::{Terms, fit_contention, fit_gaps, simulate};

use crate::traces::measured::{MEASURED, groups, traces, unpacked};

/// By what was predicted with: all runs.
pub type Table = BTreeMap<&'static str, Vec<Predicted>>;

/// A median makespan, and what was predicted of it, in nanoseconds.
#[derive(Debug, Clone, Copy)]
pub struct Predicted {
    pub measured: i64,
    pub predicted: i64,
}

impl Predicted {
    /// The absolute error, in hundredths of a percent.
    fn error(self) -> i128 {
        (i128::from(self.predicted - self.measured) * 10_000 / i128::from(self.measured)).abs()
    }
}

/// The makespan that a model predicts for a trace, and how the two compare.
fn predicted(fitted: &Profile, trace: &Trace) -> (i64, Comparison) {
    let prediction = predict(&fitted.model, &trace.schedule).expect("it runs");
    let comparison = compare(trace, &prediction).expect("passes in common");
    let peaks = (&prediction.peak_memory, &comparison.highest_peaks());
    assert_eq!(peaks.0, peaks.1, "peaks of memory are predicted exactly");
    (prediction.makespan.0, comparison)
}

/// The same with what replay does not know: launch gaps, and, if asked for, contention.
fn with_terms(fitted: &Profile, trace: &Trace, contention: bool) -> i64 {
    let own = std::slice::from_ref(trace);
    let (rates, model) = if contention {
        fit_contention(fitted, own).expect("rates")
    } else {
        (Terms::none(trace.schedule.devices()).rates, fitted.model.clone())
    };
    let terms = Terms { gaps: fit_gaps(fitted, own), rates, ..Terms::none(trace.schedule.devices()) };
    let spans = simulate(&model, &trace.schedule, &terms).expect("it runs");
    spans.iter().flatten().map(|span| span.end.0).max().expect("a pass")
}

fn add(table: &mut Table, trace: &Trace, others: &[Trace]) {
    let fitted = profile("other runs", others).expect("a model").without_step();
    let itself = profile("itself", std::slice::from_ref(trace)).expect("a model").without_step();
    let (of_others, comparison) = predicted(&fitted, trace);
    let measured = comparison.makespan().median;
    let medians = others.iter().map(|other| predicted(&fitted, other).1.makespan().median);
    let mean = medians.sum::<i64>() / i64::try_from(others.len()).expect("a few");
    let durations = of_measured_durations(trace, comparison.typical(), &fitted.model).expect("no pairs");
    for (about, predicted) in [
        ("1 the mean of the other runs", mean),
        ("2 a model of the other runs", of_others),
        ("3 a model of the run itself", predicted(&itself, trace).0),
        ("4   all delay is latency", predicted(&itself.clone().without_messages(), trace).0),
        ("5   with launch gaps", with_terms(&itself, trace, false)),
        ("6   and contention", with_terms(&itself, trace, true)),
        ("7 all durations as they were", durations.0),
    ] {
        table.entry(about).or_default().push(Predicted { measured, predicted });
    }
}

/// By number of devices and size of the network: what is predicted of all runs of a folder.
fn predictions(name: &str) -> BTreeMap<(u32, &'static str), Table> {
    let all = traces(unpacked(name).path());
    let by_file: BTreeMap<String, Trace> = all.iter().cloned().collect();
    let mut tables: BTreeMap<(u32, &'static str), Table> = BTreeMap::new();
    for files in groups(all).values() {
        for own in files {
            let trace = &by_file[own];
            let size = if own.contains("-small-") { "small" } else { "large" };
            let others: Vec<Trace> =
                files.iter().filter(|&file| file != own).map(|file| by_file[file].clone()).collect();
            add(tables.entry((trace.schedule.devices(), size)).or_default(), trace, &others);
        }
    }
    tables
}

/// Those of all runs of a kind. Computed once for the table and the picture.
pub fn tables(kind: &str) -> &'static BTreeMap<(u32, &'static str), Table> {
    static CPU: OnceLock<BTreeMap<(u32, &'static str), Table>> = OnceLock::new();
    static CUDA: OnceLock<BTreeMap<(u32, &'static str), Table>> = OnceLock::new();
    let tables = if kind == "cuda" { &CUDA } else { &CPU };
    tables.get_or_init(|| predictions(kind))
}

fn report(tables: &BTreeMap<(u32, &'static str), Table>) -> String {
    let percent = |hundredths: i128| format!("{}.{:02} %", hundredths / 100, hundredths % 100);
    let mut text = String::new();
    for ((devices, size), table) in tables {
        let runs = table.values().map(Vec::len).max().unwrap_or_default();
        let about = format!("{devices} devices, {size}, {runs} runs");
        writeln!(text, "{about:<31}  {:>8}  {:>8}  {:>8}", "median", "9 in 10", "worst").expect("a string");
        for (about, runs) in table {
            let mut errors: Vec<i128> = runs.iter().map(|run| run.error()).collect();
            errors.sort_unstable();
            let cells = [5, 9, 10].map(|part| percent(errors[(errors.len() - 1) * part / 10]));
            writeln!(text, "{about:<31}  {:>8}  {:>8}  {:>8}", cells[0], cells[1], cells[2])
                .expect("a string");
        }
        text.push('\n');
    }
    text
}

#[test]
fn errors_of_measured_makespans_are_as_recorded() {
    for &name in MEASURED {
        insta::assert_snapshot!(format!("errors_{name}"), report(tables(name)));
    }
}
