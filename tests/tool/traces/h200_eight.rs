//! What we measured on H200s that were divided into eight devices, with schedules that recompute and others. docs/measured.md has
//! the tables.
//!
//! `cuda-d8-model` has the runs to which the models were fitted, `cuda-d8` those of the schedules that were found for them,
//! in turn with others.

use std::fmt::Write as _;
use std::fs;

use assert_cmd::Command;
use bubbleproof::model::{Kind, Units};
use bubbleproof::replay::replay;
use bubbleproof::schedule;
use bubbleproof::trace::Trace;

use crate::traces::better::{Found, committed};
use crate::traces::figures::{milliseconds, percent, signed};
use crate::traces::gpu::table;
use crate::traces::h200::{Runs, fitted, gibibytes, makespan, peak, predictions, runs};
use crate::traces::measured::unpacked;
use crate::traces::published;

const OF_RUN: &str = "-d8-m16-large";

/// All that ran, by memory: those of the catalogue, one with an R before every B, and those that were found within shares of the
/// memory of 1F1B, with recomputation (`recompute`) and without (`keep`).
const SCHEDULES: [&str; 13] = [
    "1f1b-recomputed",
    "recompute-15",
    "recompute-25",
    "recompute-38",
    "recompute-50",
    "keep-50",
    "v-min",
    "keep-63",
    "v-half",
    "1f1b",
    "zb-h1",
    "keep-100",
    "v-zb",
];

/// What was found, and the bytes that a device might hold: shares of the memory of 1F1B.
const FOUND: [(&str, i64); 7] = [
    ("recompute-15", 986_578_944),
    ("recompute-25", 1_644_298_240),
    ("recompute-38", 2_499_333_324),
    ("recompute-50", 3_288_596_480),
    ("keep-50", 3_288_596_480),
    ("keep-63", 4_143_631_564),
    ("keep-100", 6_577_192_960),
];

/// Two schedules for about the same memory, the second of which was found.
const INSTEAD: [(&str, &str); 6] = [
    ("1f1b-recomputed", "recompute-15"),
    ("v-min", "keep-50"),
    ("v-half", "keep-63"),
    ("v-zb", "keep-100"),
    ("v-min", "recompute-38"),
    ("keep-50", "recompute-50"),
];

/// The runs to which a model was fitted: all with the placement of this one.
fn model_runs(all: &Runs, like: &Trace) -> Vec<Trace> {
    let runs = all.values().flatten();
    runs.filter(|trace| trace.schedule.placement() == like.schedule.placement()).cloned().collect()
}

#[test]
fn eight_devices_of_an_h200_are_predicted_as_the_page_says() {
    let (before, all) = (runs("cuda-d8-model"), runs("cuda-d8"));
    let mut report = String::new();
    for name in SCHEDULES {
        let own = &all[&format!("{name}{OF_RUN}")];
        let (schedule, measured) = (&own[0].schedule, makespan(own));
        let others = model_runs(&before, &own[0]);
        let verdict = replay(&fitted(&others).model, schedule);
        assert!(verdict.is_valid(), "{name}: {:?}", verdict.violations);
        assert_eq!(verdict.peak_memory_max().0, peak(own), "{name}: to the byte");
        let predicted = predictions(&others, schedule);
        let again = schedule.orders().iter().flatten().filter(|pass| pass.kind == Kind::R).count();
        write!(report, "| {name} | {again} | {} | {} |", gibibytes(peak(own)), milliseconds(measured))
            .expect("a string");
        for predicted in predicted {
            write!(report, " {} | {} |", milliseconds(predicted), signed(predicted - measured, measured))
                .expect("a string");
        }
        report.push('\n');
    }
    assert_eq!(report, table("h200-eight"), "docs/measured.md has other figures");
}

/// A share in percent with one decimal, rounded.
fn tenths(part: i64, whole: i64) -> String {
    let tenths = (part * 2000 + whole) / (2 * whole);
    format!("{}.{}", tenths / 10, tenths % 10)
}

/// What was found for the models is what ran, and is as good as the models say.
#[test]
fn schedules_for_eight_devices_are_certified_and_ran_as_they_were_found() {
    let (before, all) = (runs("cuda-d8-model"), runs("cuda-d8"));
    let mut gaps = Vec::new();
    for (name, capacity) in FOUND {
        let own = &all[&format!("{name}{OF_RUN}")];
        let model = fitted(&model_runs(&before, &own[0])).model;
        let model =
            if name.starts_with("keep") { model.with_recompute(None).expect("a model") } else { model };
        let file = format!("h200-eight-{name}");
        let limited = model.with_uniform_capacity(Units(capacity)).expect("a capacity");
        let Found { makespan, bound, is_searched, peak: held } = committed(&file, &limited);
        let path = published::folder().join("better").join(&file).with_extension("json");
        let found = schedule::parse(&fs::read_to_string(path).expect("a schedule file")).expect("a schedule");
        assert!(
            own.iter().all(|ran| ran.schedule.orders() == found.orders()),
            "{name}: what ran is what was found"
        );
        assert_eq!(peak(own), held, "{name}: to the byte");
        assert!(!is_searched, "{name}");
        if makespan > bound {
            gaps.push(format!("{name} {} %", percent(makespan - bound, bound)));
        }
    }
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/measured.md")).expect("a page");
    let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = format!("for the others the bound leaves a gap of at most: {}", gaps.join(", "));
    assert!(page.contains(&text), "docs/measured.md lacks: {text}");
}

#[test]
fn schedules_found_for_eight_devices_are_as_fast_as_the_page_says() {
    let (before, all) = (runs("cuda-d8-model"), runs("cuda-d8"));
    let mut last = [[0, 0]; 3];
    let mut report = String::new();
    for (usual, ours) in INSTEAD {
        let both = [usual, ours].map(|name| &all[&format!("{name}{OF_RUN}")]);
        let [by_replay, contended] = {
            let [usual, ours] = both.map(|own| predictions(&model_runs(&before, &own[0]), &own[0].schedule));
            [0, 1].map(|at| [usual[at], ours[at]])
        };
        let measured = both.map(|own| makespan(own));
        let change = |[usual, ours]: [i64; 2]| signed(ours - usual, usual);
        last = [by_replay, measured, contended];
        writeln!(
            report,
            "| {usual} | {ours} | {} | {} | {} | {} | {} % | {} % | {} % |",
            gibibytes(peak(both[0])),
            gibibytes(peak(both[1])),
            milliseconds(measured[0]),
            milliseconds(measured[1]),
            change(measured),
            change(by_replay),
            change(contended),
        )
        .expect("a string");
    }
    assert_eq!(report, table("h200-eight-better"), "docs/measured.md has other figures");
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/measured.md")).expect("a page");
    let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
    // The last row: by replay shorter, measured and with contention longer.
    let [by_replay, measured, contended] = last.map(|[usual, ours]| tenths((ours - usual).abs(), usual));
    let text = format!(
        "By replay, recompute-50 is {by_replay} % shorter than keep-50; on the GPU it is {measured} % longer."
    );
    assert!(page.contains(&text), "docs/measured.md lacks: {text}");
    let text = format!("contention predicts {contended} % longer");
    assert!(page.contains(&text), "docs/measured.md lacks: {text}");
}

/// So what predictions are off by is not that the second series ran on another GPU.
#[test]
fn what_ran_in_both_series_took_the_same_time_within_what_the_page_says() {
    let (before, all) = (runs("cuda-d8-model"), runs("cuda-d8"));
    let both = before.iter().filter_map(|(name, runs)| Some((makespan(runs), makespan(all.get(name)?))));
    let apart: Vec<i64> = both.map(|(one, other)| ((other - one) * 10_000 / one).abs()).collect();
    assert_eq!(apart.len(), 6);
    let most = percent(*apart.iter().max().expect("a run"), 10_000);
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/measured.md")).expect("a page");
    let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(page.contains(&format!("took the same time within {most} %")), "docs/measured.md: {most}");
}

/// Only what is recomputed has a line for what remains.
#[test]
fn a_profile_prints_what_remains_for_recomputation() {
    let folder = unpacked("cuda-d8-model");
    let profile = |name: &str| {
        let run = Command::cargo_bin("bubbleproof")
            .expect("the tool is built")
            .args(["trace", "profile", &format!("{name}-d8-m16-large-1.json"), "-o", "model.toml"])
            .current_dir(&folder)
            .output()
            .expect("the tool runs");
        String::from_utf8(run.stdout).expect("UTF-8")
    };
    let text = profile("recompute-guess-38");
    let (_, table) = text.split_once("\nstage  level  samples  kept for R  deviation\n").expect("a table");
    let rows: Vec<&str> = table.lines().take_while(|line| !line.is_empty()).collect();
    assert_eq!(rows.len(), 8, "stages 0 to 7: {table}");
    assert!(rows.iter().all(|row| row.ends_with("16 MiB        0 B")), "{table}");
    assert!(!profile("v-min").contains("kept for R"));
}
