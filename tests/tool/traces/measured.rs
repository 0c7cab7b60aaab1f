//! Every committed trace: the model fitted to it, how far replay's prediction is off, and the verdict.
//!
//! The folders say what the traces are: `cuda` and `cpu` were measured on such devices by
//! `measure/measure.py`, `profiler` by PyTorch's own runtime and `torch.profiler`, and `synthetic` by nobody.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use bubbleproof::catalog;
use bubbleproof::model::{Model, Placement};
use bubbleproof::trace::terms::{Terms, simulate};
use bubbleproof::trace::{Iteration, Origin, Trace, file};
use flate2::read::GzDecoder;
use tempfile::TempDir;

use crate::traces::support::{named, traced, uneven};

/// The kinds of measured traces that are committed, each with a folder of that name.
pub const MEASURED: &[&str] = &["cpu", "cuda"];

pub fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/traces").join(name)
}

/// The measured traces of a kind, which are committed packed, unpacked into a folder of their own.
pub fn unpacked(name: &str) -> TempDir {
    let target = tempfile::tempdir().expect("a folder");
    for entry in fs::read_dir(folder(name)).expect("a folder") {
        let packed = entry.expect("an entry").path();
        let mut reader = GzDecoder::new(File::open(&packed).expect("a file"));
        let plain = target.path().join(packed.file_stem().expect("NAME.json.gz"));
        io::copy(&mut reader, &mut File::create(plain).expect("a new file")).expect("what gzip wrote");
    }
    target
}

/// The output of the tool, run where the traces lie, and its exit status.
fn transcript(folder: &Path, arguments: &[&str]) -> String {
    let run = Command::cargo_bin("bubbleproof")
        .expect("the tool is built")
        .args(arguments)
        .current_dir(folder)
        .env_remove("COLUMNS")
        .output()
        .expect("the tool runs");
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("UTF-8");
    let status = run.status.code().expect("the tool ends by itself");
    format!("{}{}--- exit status {status}\n", text(&run.stdout), text(&run.stderr))
}

/// The traces of a folder; none where there is no such folder.
pub fn traces(folder: &Path) -> Vec<(String, Trace)> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("a plain name"))
        .filter(|name| Path::new(name).extension().is_some_and(|extension| extension == "json"))
        .collect();
    names.sort_unstable();
    let read = |name: String| {
        let text = fs::read_to_string(folder.join(&name)).expect("a file");
        let trace = file::parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        (name, trace)
    };
    names.into_iter().map(read).collect()
}

/// Runs of the same schedule and sizes, by the name of the first.
pub fn groups(traces: Vec<(String, Trace)>) -> BTreeMap<String, Vec<String>> {
    let mut found: Vec<(Trace, Vec<String>)> = Vec::new();
    for (name, trace) in traces {
        let same = |other: &Trace| {
            other.sizes == trace.sizes
                && other.schedule.placement() == trace.schedule.placement()
                && other.schedule.orders() == trace.schedule.orders()
        };
        match found.iter_mut().find(|(other, _)| same(other)) {
            Some((_, names)) => names.push(name),
            None => found.push((trace, vec![name])),
        }
    }
    let stem = |name: &String| name.trim_end_matches(".json").to_owned();
    found.into_iter().map(|(_, names)| (stem(&names[0]), names)).collect()
}

fn check(kind: Origin, name: &str, folder: &Path) -> usize {
    let traces = traces(folder);
    for (file, trace) in &traces {
        assert_eq!(trace.origin, kind, "{file}: the folder says what its traces are");
        let as_told = kind == Origin::Cuda && trace.machine.accelerator.is_none();
        assert!(!as_told, "{file}: a trace of a GPU names it");
    }
    let groups = groups(traces);
    for (first, files) in &groups {
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        let options: [&[&str]; 3] = [
            &["trace", "profile", "-o", "-"],
            &["trace", "profile"],
            &["trace", "compare", "--contention", "--gaps", "-o", "/dev/null"],
        ];
        let report = options.map(|options| transcript(folder, &[options, files.as_slice()].concat()));
        insta::assert_snapshot!(format!("{name}_{first}"), report.join("\n"));
    }
    groups.len()
}

#[test]
fn measured_traces_are_fitted_and_predicted_as_recorded() {
    for &name in MEASURED {
        let kind = if name == "cuda" { Origin::Cuda } else { Origin::Cpu };
        assert!(
            check(kind, name, unpacked(name).path()) >= 20,
            "{name}: six schedules, two sizes, two and four devices"
        );
    }
    let there = |kind: &str| folder(kind).is_dir() == MEASURED.contains(&kind);
    assert!(there("cuda") && there("cpu"), "every folder of measured traces is listed");
}

#[test]
fn synthetic_traces_are_fitted_and_predicted_as_recorded() {
    assert_eq!(check(Origin::Synthetic, "synthetic", &folder("synthetic")), 3);
}

/// The synthetic traces are what their recipe makes. `INSTA_UPDATE=always` writes them anew.
#[test]
fn synthetic_traces_are_what_their_recipe_makes() {
    let v = uneven(Placement::v(3).expect("a placement"), 6, 1);
    let linear = uneven(Placement::linear(4).expect("a placement"), 8, 2);
    let exact = traced(&v, &named("v-half", &v));
    let zb = named("zb-h1", &linear);
    let gaps = vec![bubbleproof::model::Ticks(20); 4];
    let slow = |rates: [i64; 4]| {
        let passes =
            simulate(&linear, &zb, &Terms { gaps: gaps.clone(), rates: rates.to_vec(), ..Terms::none(4) });
        Iteration { passes: passes.expect("it runs"), ..Iteration::default() }
    };
    let iterations =
        vec![slow([1000, 1000, 900, 800]), slow([1000, 990, 900, 790]), slow([1000, 1000, 910, 805])];
    let contended = Trace { iterations, ..traced(&linear, &zb) };
    let mut late = traced(&linear, &named("1f1b", &linear));
    late.iterations[0].passes[1].swap(3, 4);
    let row = &mut late.iterations[0].passes[1];
    (row[3].start, row[3].end, row[4].start, row[4].end) =
        (row[4].start, row[4].end, row[3].start, row[3].end);
    for (name, trace) in
        [("v-half-exact", exact), ("zb-h1-contended", contended), ("1f1b-out-of-order", late)]
    {
        let mut text = Vec::new();
        file::write(&trace, &mut text).expect("writing to memory");
        let path = folder("synthetic").join(format!("{name}.json"));
        let anew = std::env::var_os("INSTA_UPDATE").is_some_and(|value| value == "always");
        // Not while others read it, unless it changes.
        if anew && fs::read(&path).unwrap_or_default() != text {
            fs::write(&path, &text).expect("written");
        }
        let committed = fs::read(&path).unwrap_or_default();
        assert!(committed == text, "{name} is not what its recipe makes");
    }
}

#[test]
fn what_the_profiler_wrote_for_pytorchs_runtime_is_read_and_compared() {
    for name in ["1f1b", "v-half"] {
        let ranks = [format!("{name}-rank0.json"), format!("{name}-rank1.json")];
        let schedule = format!("{name}.csv");
        let files = ["--schedule", &schedule, "--skip", "1", &ranks[1], &ranks[0]];
        let options: [&[&str]; 2] = [&["trace", "profile"], &["trace", "compare", "-o", "/dev/null"]];
        let report =
            options.map(|options| transcript(&folder("profiler"), &[options, files.as_slice()].concat()));
        insta::assert_snapshot!(format!("profiler_{name}"), report.join("\n"));
    }
}

/// The schedule that the runtime was given is the one that its ranges show.
#[test]
fn the_order_of_the_profilers_ranges_is_the_schedule_that_was_run() {
    let read = |name: &str| fs::read_to_string(folder("profiler").join(name)).expect("a file");
    for (name, placement) in [("1f1b", Placement::linear(2)), ("v-half", Placement::v(2))] {
        let recordings = (0..2).map(|rank| {
            bubbleproof::trace::profiler::parse(&read(&format!("{name}-rank{rank}.json")))
                .expect("a recording")
        });
        let choice = bubbleproof::trace::clocks::OffsetChoice::Auto;
        let (trace, _) =
            bubbleproof::trace::gather::gather(recordings.collect(), None, &choice).expect("a trace");
        let model = Model::unit(placement.expect("a placement"), 4).expect("a model");
        let declared = catalog::find(name).expect("a known name").generate(&model).expect("no capacity");
        assert_eq!(trace.schedule.placement(), declared.placement(), "{name}");
        assert_eq!(trace.schedule.orders(), declared.orders(), "{name}");
        assert_eq!(trace.iterations.len(), 3, "{name}");
    }
}

/// The table and the picture of `trace compare` are of one iteration: measured rates and peaks are the same in both.
#[test]
fn all_measured_figures_are_of_the_iteration_that_is_drawn() {
    let mut differing = 0;
    for name in MEASURED {
        for (file, trace) in traces(unpacked(name).path()) {
            let fitted =
                bubbleproof::trace::fit::profile("itself", std::slice::from_ref(&trace)).expect("a model");
            let prediction =
                bubbleproof::trace::compare::predict(&fitted.model, &trace.schedule).expect("it runs");
            let found = bubbleproof::trace::compare::compare(&trace, &prediction).expect("passes in common");
            let drawn = bubbleproof::trace::run::of(&trace, found.typical());
            assert_eq!(found.bubble_rate(), drawn.timing.metrics.bubble_rate, "{file}");
            assert_eq!(found.makespan().median, drawn.timing.metrics.makespan.0, "{file}");
            assert_eq!(found.peak_memory(), drawn.peak_memory.as_ref(), "{file}");
            let mut rates = found.bubble_rates.clone();
            rates.sort_unstable();
            differing += usize::from(rates[(rates.len() - 1) / 2] != found.bubble_rate());
        }
    }
    assert!(differing > 0, "a median of rates would be another figure");

    let folder = unpacked("cpu");
    for run in ["1f1b-d2-m16-small-1.json", "zb-h1-d4-m16-small-2.json", "v-half-d4-m16-large-3.json"] {
        let text = transcript(folder.path(), &["trace", "compare", run]);
        let rates: Vec<&str> = text
            .match_indices("bubble rate ")
            .map(|(at, words)| text[at + words.len()..].split_whitespace().next().expect("a rate"))
            .collect();
        let [table, measured, predicted] = rates[..] else { panic!("{text}") };
        assert_eq!(table, measured, "{text}");
        assert!(text.contains(&format!("{predicted} %")), "{text}");
    }
}
