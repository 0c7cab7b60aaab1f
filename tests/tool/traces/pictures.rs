//! The pictures of docs/measured, drawn of what the tables of the pages say. `make pictures` writes them.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use bubbleproof::draw::{Group, Point, Row, Scatter};
use bubbleproof::model::Ticks;
use bubbleproof::replay::Rate;

use crate::traces::errors::{Predicted, tables};
use crate::traces::gpu::{ALL, Line, of_another_schedule, of_others_shown};
use crate::traces::published;

/// The pictures of predicted against measured.
const SCATTERS: [&str; 3] = ["gpu.svg", "cpu.svg", "cuda.svg"];

/// Measured above predicted: the file, its trace, how many pixels it is wide, and the exit status of the comparison, which
/// is 1 where passes overlap by microseconds.
const TIMELINES: [(&str, &str, &str, i32); 3] = [
    ("bytedance-st.svg", "bytedance-st-dp0.json", "760", 1),
    ("primus-interleaved.svg", "primus-interleaved.json", "1000", 0),
    ("megatronapp.svg", "megatronapp-interleaved.json", "1000", 0),
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/measured")
}

/// A committed picture is what is drawn today.
fn check(name: &str, drawn: &str) {
    let path = folder().join(name);
    if env::var_os("BUBBLEPROOF_PICTURES").is_some() {
        fs::create_dir_all(folder()).expect("a folder");
        fs::write(&path, drawn).expect("written");
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == drawn, "docs/measured/{name} is stale; draw it again: make pictures");
}

fn thousandths(all: &[i128]) -> Vec<Rate> {
    all.iter().map(|&thousandths| Rate::new(thousandths, 1000)).collect()
}

/// The runs of the page, each with a colour.
const RUNS: [&str; 5] = [
    "ByteDance ST, 1F1B",
    "ByteDance AR, 1F1B",
    "Primus, 1F1B",
    "Primus, interleaved",
    "MegatronApp, interleaved",
];

/// The run that a line of a table is of.
fn run_of(line: &Line) -> usize {
    let run = match line.run {
        "ByteDance ST, from the whole job" => RUNS[0],
        "interleaved predicts 1F1B" => RUNS[2],
        "1F1B predicts interleaved" => RUNS[3],
        run => run,
    };
    RUNS.iter().position(|known| *known == run).expect("a run of the page")
}

#[test]
fn predictions_of_published_iterations_are_drawn_as_the_tables_have_them() {
    let lines = || of_others_shown().chain(of_another_schedule());
    let mut names: Vec<&str> = ALL.to_vec();
    for line in of_another_schedule() {
        if !names.contains(&line.prediction) {
            names.push(line.prediction);
        }
    }
    let groups: Vec<Group> = names
        .into_iter()
        .map(|name| {
            let row = |line: &Line| {
                let points = line.errors.iter();
                let points =
                    points.map(|found| Point { measured: found.measured, predicted: found.predicted });
                Row { name: line.run.to_owned(), kind: run_of(line), points: points.collect() }
            };
            // The goals of the page.
            let goals = match name.get(..3) {
                Some("(a)") => thousandths(&[5]),
                Some("(d)") => thousandths(&[30]),
                _ => thousandths(&[10, 30]),
            };
            let rows = lines().filter(|line| line.prediction == name).map(row).collect();
            Group { name: name.to_owned(), goals, rows }
        })
        .collect();
    assert_eq!(
        groups.iter().map(|group| group.rows.len()).sum::<usize>(),
        lines().count(),
        "every line is drawn"
    );
    let kinds = RUNS.map(str::to_owned);
    let iterations: usize = published::entries().iter().map(|entry| entry.iterations.len()).sum();
    let title = format!("Predicted and measured: {iterations} iterations on GPUs");
    check("gpu.svg", &Scatter { title: &title, kinds: &kinds, groups: &groups }.svg());
}

/// What predicts, in words that need no other line of the snapshot.
fn heading(about: &str) -> String {
    let itself = "a model of the run itself";
    match about {
        "4   all delay is latency" => format!("{itself}, where all delay is latency"),
        "5   with launch gaps" => format!("{itself}, with launch gaps"),
        "6   and contention" => format!("{itself}, with launch gaps and contention"),
        about => about.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == ' ').to_owned(),
    }
}

#[test]
fn predictions_of_our_runs_are_drawn_as_the_snapshots_have_them() {
    for (kind, on) in [("cpu", "a CPU"), ("cuda", "an H200")] {
        draw_predictions(kind, on);
    }
}

fn draw_predictions(kind: &str, on: &str) {
    let tables = tables(kind);
    let kinds: Vec<String> =
        tables.keys().map(|(devices, size)| format!("{devices} devices, {size} network")).collect();
    let abouts: BTreeSet<&str> = tables.values().flat_map(|table| table.keys().copied()).collect();
    let groups: Vec<Group> = abouts
        .into_iter()
        .map(|about| {
            let rows = tables.values().zip(&kinds).enumerate().map(|(kind, (table, name))| {
                let point = |run: &Predicted| Point {
                    measured: Ticks(run.measured),
                    predicted: Ticks(run.predicted),
                };
                let points = table[about].iter().map(point).collect();
                Row { name: name.clone(), kind, points }
            });
            Group { name: heading(about), goals: Vec::new(), rows: rows.collect() }
        })
        .collect();
    let runs: usize = groups[0].rows.iter().map(|row| row.points.len()).sum();
    let title = format!("Predicted and measured: {runs} runs on {on}");
    check(&format!("{kind}.svg"), &Scatter { title: &title, kinds: &kinds, groups: &groups }.svg());
}

fn tool(arguments: &[&str], status: i32) {
    let mut command = Command::cargo_bin("bubbleproof").expect("the tool is built");
    command.args(arguments).assert().code(status);
}

/// The iteration with the median makespan, above what replay predicts with the medians of all iterations.
#[test]
fn typical_iterations_are_drawn_above_their_predictions() {
    let scratch = tempfile::tempdir().expect("a folder");
    let path = |name: &str| scratch.path().join(name).display().to_string();
    let (model, drawing) = (path("model.toml"), path("drawing.svg"));
    for (name, trace, width, status) in TIMELINES {
        let trace = published::folder().join(trace).display().to_string();
        tool(&["trace", "profile", &trace, "--name", "medians of all iterations", "-o", &model], 0);
        tool(&["trace", "compare", &trace, "--model", &model, "--width", width, "-o", &drawing], status);
        check(name, &fs::read_to_string(&drawing).expect("a drawing"));
    }
}

/// Every picture is on a page, and no other one is in the folder.
#[test]
fn pages_show_every_picture() {
    let drawn: BTreeSet<String> =
        SCATTERS.iter().chain(TIMELINES.iter().map(|(name, ..)| name)).map(|&name| name.to_owned()).collect();
    let there = fs::read_dir(folder()).expect("the folder of pictures");
    let there: BTreeSet<String> =
        there.map(|entry| entry.expect("an entry").file_name().display().to_string()).collect();
    assert_eq!(there, drawn);
    let page = |name: &str| fs::read_to_string(folder().with_file_name(name)).expect("a page");
    let pages = page("measured.md") + &page("traces.md");
    for name in drawn {
        assert!(pages.contains(&format!("](measured/{name})")), "no page shows {name}");
    }
}
