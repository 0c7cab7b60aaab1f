//! Schedules that PyTorch made itself: read, verified, replayed, lowered, and written back.
//!
//! `tests/data/pytorch/INDEX.md` says how the files were made.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use bubbleproof::comm::{self, Semantics};
use bubbleproof::interchange::pytorch::{self, Dialect, Form};
use bubbleproof::lowering;
use bubbleproof::model::Model;
use bubbleproof::replay::{Verdict, replay};
use bubbleproof::schedule::{self, Schedule};

/// The files in the folder that the environment names, or the committed ones, by name.
fn dumps() -> Vec<(String, String)> {
    let folder = std::env::var_os("PYTORCH_DUMPS")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/pytorch"), PathBuf::from);
    let mut files: Vec<(String, String)> = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "csv"))
        .map(|path| {
            let name = path.file_name().and_then(|name| name.to_str()).expect("a plain name").to_owned();
            (name, fs::read_to_string(path).expect("a text"))
        })
        .collect();
    files.sort();
    assert!(files.len() > 20, "{} files", files.len());
    files
}

fn under_unit_times(schedule: &Schedule) -> Verdict {
    let model = Model::unit(schedule.placement().clone(), schedule.microbatches()).expect("a unit model");
    replay(&model, schedule)
}

/// PyTorch's generator for 1F1B begins the last rank's forwards at microbatch 1; its own validator
/// refuses that order too.
fn is_pytorchs_mistake(name: &str) -> bool {
    name.starts_with("1f1b-")
}

#[test]
fn every_file_is_written_back_byte_for_byte() {
    for (name, text) in dumps() {
        let file = pytorch::parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let form = if name.ends_with(".comms.csv") { Form::ComputeComms } else { Form::ComputeOnly };
        assert_eq!((file.form, file.dialect), (form, Dialect::Current), "{name}");
        assert_eq!(file.print(), text, "{name}");
        if let Some(plan) = file.plan() {
            assert_eq!(pytorch::print_plan(plan).expect("it came from a file"), text, "{name}");
        }
        let mut json = Vec::new();
        schedule::write(file.schedule(), &mut json).expect("writing to memory");
        let json = String::from_utf8(json).expect("JSON is UTF-8");
        assert_eq!(&schedule::parse(&json).expect("our own file"), file.schedule(), "{name}");
    }
}

#[test]
fn every_schedule_is_verified_and_replayed() {
    let mut report = String::new();
    for (name, text) in dumps() {
        let file = pytorch::parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let schedule = file.schedule();
        let verdict = under_unit_times(schedule);
        assert_eq!(verdict.is_valid(), !is_pytorchs_mistake(&name), "{name}: {:?}", verdict.violations);
        if let Some(plan) = file.plan() {
            assert_eq!(comm::verify(plan), [], "{name}");
            for semantics in Semantics::ALL {
                assert_eq!(comm::deadlock(plan, semantics), None, "{name}, {semantics}");
            }
            continue;
        }
        let pairs = schedule.overlap_count();
        let peaks: Vec<i64> = verdict.peak_memory.iter().map(|peak| peak.0).collect();
        let outcome = match &verdict.timing {
            Some(timing) => {
                format!("makespan {}, bubble rate {}", timing.metrics.makespan, timing.metrics.bubble_rate)
            }
            None => format!("{}", verdict.violations[0]),
        };
        writeln!(report, "{name}: {outcome}, peak memory {peaks:?}, {pairs} overlapped pairs")
            .expect("writing to a string");
    }
    if std::env::var_os("PYTORCH_DUMPS").is_none() {
        insta::assert_snapshot!(report);
    }
}

#[test]
fn our_plan_is_pytorchs_action_for_action() {
    let dumps = dumps();
    let mut compared = 0;
    for (name, text) in &dumps {
        let Some(stem) = name.strip_suffix(".comms.csv") else { continue };
        let (_, passes) =
            dumps.iter().find(|(other, _)| *other == format!("{stem}.csv")).expect("its passes");
        let schedule = pytorch::parse(passes).expect("it reads").schedule().clone();
        let plan = lowering::lower(&schedule).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(&pytorch::print_plan(&plan).expect("every pass has a text"), text, "{name}");
        compared += 1;
    }
    assert!(compared >= 10);
}
