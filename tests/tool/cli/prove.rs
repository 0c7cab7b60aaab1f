//! `prove`, `check` and `verify --every-m`: theorems and witnesses.

use std::fmt::Write as _;

use super::{
    EXTENSIBLE, FAMILY, REFUTED, SCHEDULE, V_MODEL, assert_keys, assert_recorded, assert_recorded_object,
    tool,
};

/// A transcript of `prove` without the seconds that it took.
fn without_times(transcript: &str) -> String {
    let time = |line: &str| match line.rsplit_once(" (") {
        Some((text, time)) if time.ends_with(" s)") => text.to_owned(),
        _ => line.to_owned(),
    };
    transcript.lines().map(|line| time(line) + "\n").collect()
}

#[test]
fn prove_gives_every_theorem_a_verdict() {
    let run = tool(&["prove", "models/blocks/v-min.toml", REFUTED]);
    assert_recorded("prove", &without_times(&run.transcript()));
}

#[test]
fn prove_gives_the_keys_that_programs_rely_on_and_a_file_for_every_theorem() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("proofs");
    let run = tool(&["prove", REFUTED, "--emit", path.to_str().expect("a plain path"), "--json"]);
    let answer = run.json();
    let theorems = answer["theorems"].as_array().expect("a list");
    assert_eq!(run.status, 1);
    for theorem in theorems {
        assert_keys(theorem, &["name", "statement", "status", "counterexample", "file"]);
        let text = std::fs::read_to_string(theorem["file"].as_str().expect("a path")).expect("a file");
        let expected = match theorem["status"].as_str() {
            Some("proved") => "unsat",
            Some("refuted") => "sat",
            _ => "unknown",
        };
        assert!(text.contains(&format!("(set-info :status {expected})\n")), "{text}");
    }
    let files = std::fs::read_dir(&path).expect("a directory").count();
    assert_eq!(files, theorems.len());
    let collisions = theorems.iter().find(|theorem| theorem["name"] == "v-min-without-gap.collisions");
    let collisions = collisions.expect("it is a theorem of every family");
    assert_eq!(collisions["status"], "refuted");
    assert_recorded_object("prove_counterexample", &collisions["counterexample"]);
}

#[test]
fn the_witness_of_squeezed_orders_is_checked_by_itself_and_an_altered_one_is_rejected() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().to_str().expect("a plain path");
    let run = tool(&["prove", "models/blocks/1f1b.toml", "--emit", path, "--json"]);
    let theorems = run.json()["theorems"].as_array().expect("a list").clone();
    let squeezed =
        theorems.iter().find(|theorem| theorem["name"] == "1f1b.squeezed interval").expect("it is derived");
    assert_eq!(squeezed["status"], "proved");
    let witness = squeezed["file"].as_str().expect("a path");
    let checked = tool(&["check", witness]);
    assert_eq!(checked.status, 0);
    let text = std::fs::read_to_string(witness).expect("a file");
    let altered = text.replacen("\"tilt\":0", "\"tilt\":7", 1);
    assert_ne!(altered, text);
    let false_one = directory.path().join("false.json");
    std::fs::write(&false_one, altered).expect("a file");
    let rejected = tool(&["check", false_one.to_str().expect("a plain path")]);
    assert_eq!(rejected.status, 1);
    assert_recorded("check_witness", &format!("{}\n{}", checked.transcript(), rejected.transcript()));
}

#[test]
fn every_m_is_proved_refuted_or_unknown_and_the_keys_say_which() {
    const KEYS: &[&str] = &[
        "status",
        "first",
        "step",
        "makespan",
        "device_span",
        "peak_memory",
        "peak_memory_max",
        "peak_memory_from",
        "interval",
        "repetition",
        "replayed_to",
        "counterexample",
        "reason",
    ];
    let mut transcripts = String::new();
    for (arguments, status) in [
        (&[FAMILY, "--devices", "4"][..], "proved"),
        (&[EXTENSIBLE, "--model", V_MODEL], "proved"),
        (&[FAMILY, "--devices", "4", "--memory", "5"], "refuted"),
        (&[SCHEDULE], "unknown"),
    ] {
        let arguments = [&["verify", "--every-m"], arguments].concat();
        let run = tool(&arguments);
        writeln!(transcripts, "{}\n{}", arguments.join(" "), run.transcript()).expect("a string");
        let answer = tool(&[&arguments[..], &["--json"]].concat()).json();
        assert_keys(&answer, KEYS);
        assert_eq!(answer["status"], status);
        if status == "proved" {
            for figure in ["makespan", "device_span"] {
                let keys = &["formula", "from", "period", "increase", "values", "before"];
                assert_keys(&answer[figure], keys);
            }
        } else if status == "refuted" {
            assert_keys(&answer["counterexample"], &["microbatches", "violations"]);
        }
    }
    assert_recorded("verify_every_m", &transcripts);
}
