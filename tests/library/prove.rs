//! The theorems of block families: those that are shipped, and those that nobody prepared.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use assert_cmd::cargo::cargo_bin;
use bubbleproof::block::family::{self, Family, SHIPPED};
use bubbleproof::prove::{DecidedTheorem, TheoremVerdict, prove};
use bubbleproof::stop::Stop;
use serde::Deserialize;

use crate::index;

/// Far more than any theorem here takes.
const LIMIT: Duration = Duration::from_secs(120);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    file: String,
    about: String,
    refuted: Vec<Refuted>,
}

/// What a refutation must say: the theorem, d, i, and the passes.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
struct Refuted(String, u32, u32, Vec<String>);

fn decide(family: &Family) -> Vec<DecidedTheorem> {
    prove(family, &Stop::default(), LIMIT, |_| ()).unwrap_or_else(|error| panic!("{}: {error}", family.name))
}

#[test]
fn every_shipped_family_is_proved_completely() {
    for (name, _) in SHIPPED {
        let family = family::shipped(name).expect("it is shipped");
        for DecidedTheorem { theorem, verdict, .. } in decide(&family) {
            assert_eq!(verdict, TheoremVerdict::Proved, "{}: {}", theorem.name, theorem.statement);
        }
    }
}

#[test]
fn the_families_of_the_corpus_are_judged_as_its_index_says() {
    let entries = index::entries("families", |entry: &Entry| &entry.file);
    for Entry { file, about, refuted } in entries {
        let text = fs::read_to_string(index::folder("families").join(&file)).expect("a file");
        let family = family::parse(&text).unwrap_or_else(|error| panic!("{file}: {error}"));
        let mut found = Vec::new();
        for DecidedTheorem { theorem, verdict, .. } in decide(&family) {
            match verdict {
                TheoremVerdict::Proved => {}
                TheoremVerdict::Refuted(counterexample) => {
                    assert!(counterexample.smallest, "{}", theorem.name);
                    let name = theorem.name.strip_prefix(&format!("{}.", family.name));
                    let passes = counterexample.violation.passes();
                    found.push(Refuted(
                        name.expect("named after its family").to_owned(),
                        counterexample.devices,
                        counterexample.device.0,
                        passes.iter().map(ToString::to_string).collect(),
                    ));
                }
                other => panic!("{}: {other:?}", theorem.name),
            }
        }
        assert_eq!(found, refuted, "{file}: {about}");
    }
}

#[test]
fn the_waits_of_w_are_known_exactly() {
    let waits = |text: &str| -> Vec<String> {
        let family = family::parse(text).expect("a family");
        let said =
            decide(&family).into_iter().filter(|judgement| judgement.verdict == TheoremVerdict::Proved);
        said.map(|judgement| judgement.theorem.statement)
            .filter(|said| said.contains("ticks after its I"))
            .collect()
    };
    let (_, v_min) = SHIPPED.into_iter().find(|(name, _)| *name == "v-min").expect("it is shipped");
    let late = fs::read_to_string(index::folder("families").join("late-wait.toml")).expect("a file");
    insta::assert_snapshot!([waits(v_min), waits(&late)].concat().join("\n"));
}

/// The tool, which asks this solver.
fn tool(solver: &OsStr, arguments: &[&str]) -> Command {
    let mut tool = Command::new(cargo_bin("bubbleproof"));
    tool.current_dir(env!("CARGO_MANIFEST_DIR")).args(arguments).env("BUBBLEPROOF_SMT_SOLVER", solver);
    tool
}

/// What a run says: its exit status, standard output, and standard error in one line.
fn said(mut tool: Command) -> (Option<i32>, String, String) {
    let output = tool.output().expect("the tool runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let err = text(&output.stderr).replace(['│', '|'], " ");
    let err: Vec<&str> = err.split_whitespace().collect();
    (output.status.code(), text(&output.stdout), err.join(" "))
}

/// A solver of `tests/solvers`, which is none.
#[cfg(unix)]
fn pretender(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/solvers").join(name)
}

const FAMILY: &str = "models/blocks/zb-h1.toml";
const BLOCK: [&str; 4] = ["block", "models/profiles/unit-linear.toml", "--engine", "smt"];

#[test]
#[ignore = "asks the cvc5 that BUBBLEPROOF_TEST_CVC5 names: `make test-cvc5`"]
fn cvc5_proves_a_family_and_finds_a_block_too() {
    let cvc5 = std::env::var_os("BUBBLEPROOF_TEST_CVC5").expect("BUBBLEPROOF_TEST_CVC5 names a cvc5");
    for arguments in [&["prove", FAMILY][..], &["prove", "models/blocks/v-min.toml"], &BLOCK] {
        let (status, out, err) = said(tool(&cvc5, arguments));
        assert_eq!(status, Some(0), "{arguments:?}: {out}{err}");
    }
}

#[test]
fn a_solver_that_is_named_and_not_there_is_an_error_that_says_how_to_get_one() {
    for arguments in [&["prove", FAMILY][..], &["prove", "--library"], &BLOCK] {
        let (status, out, err) = said(tool(OsStr::new("no-such-solver"), arguments));
        assert_eq!((status, out.as_str()), (Some(2), ""), "{arguments:?}: {err}");
        for word in ["BUBBLEPROOF_SMT_SOLVER", "`no-such-solver`", "pip install z3-solver"] {
            assert!(err.contains(word), "{arguments:?}: {err}");
        }
    }
}

#[test]
fn without_a_solver_a_family_is_evaluated_all_the_same_but_no_block_is_found() {
    let alone = |arguments: &[&str]| {
        let mut tool = tool(OsStr::new(""), arguments);
        tool.env("PATH", "");
        said(tool)
    };
    let (status, out, err) = alone(&["prove", FAMILY]);
    assert_eq!(status, Some(3), "{err}");
    assert!(out.contains("there is no SMT solver to ask") && out.contains("proved   for every d"), "{out}");
    assert!(err.contains("pip install z3-solver"), "{err}");
    let (status, _, err) = alone(&["prove", "tests/corpus/families/v-min-without-gap.toml"]);
    assert_eq!(status, Some(1), "{err}");
    let (status, _, err) = alone(&BLOCK);
    assert_eq!(status, Some(2), "{err}");
    assert!(err.contains("pip install z3-solver") && err.contains("BUBBLEPROOF_SMT_SOLVER"), "{err}");
}

#[cfg(unix)]
#[test]
fn a_solver_that_fails_is_no_answer_and_no_fault_of_the_user() {
    for (name, word) in [("dies", "out of memory"), ("refuses", "unknown constant x"), ("warns", "probably")]
    {
        let (status, out, err) = said(tool(pretender(name).as_os_str(), &["prove", FAMILY]));
        assert_eq!(status, Some(3), "{name}: {err}");
        assert!(out.contains(word) && out.contains("proved   for every d"), "{name}: {out}{err}");
        let (status, out, err) = said(tool(pretender(name).as_os_str(), &BLOCK));
        assert_eq!((status, out.as_str()), (Some(3), ""), "{name}: {err}");
        assert!(err.contains(word) && !err.contains("internal error"), "{name}: {err}");
    }
    let (status, out, err) = said(tool(pretender("gives-up").as_os_str(), &BLOCK));
    assert_eq!((status, out.as_str()), (Some(3), ""), "{err}");
    assert!(err.contains("incomplete") && !err.contains("internal error"), "{err}");
    let (status, out, err) = said(tool(pretender("parrot").as_os_str(), &BLOCK));
    assert_eq!((status, out.as_str()), (Some(2), ""), "{err}");
}

#[cfg(unix)]
#[test]
fn a_block_that_is_proved_is_not_lost_when_the_solver_dies_looking_for_a_shorter_one() {
    let path = bubbleproof::smt::Program::find().expect("a solver").path().to_owned();
    let solver = fs::canonicalize(path).expect("it is there");
    let mut proved = 0;
    for (questions, expected) in [("0", Some(3)), ("1", Some(0)), ("2", Some(0)), ("1000", Some(0))] {
        let mut tool = tool(pretender("leaves").as_os_str(), &BLOCK);
        tool.env("SOLVER", &solver).env("QUESTIONS", questions).arg("--json");
        let (status, out, err) = said(tool);
        assert_eq!(status, expected, "{questions}: {out}{err}");
        proved += u32::from(out.contains("\"proven\":true"));
    }
    assert_eq!(proved, 3);
}

#[cfg(unix)]
#[test]
fn a_solver_that_hangs_is_ended_by_the_time_limit() {
    let hangs = pretender("hangs");
    let (status, out, err) = said(tool(hangs.as_os_str(), &["prove", FAMILY, "--time-limit", "0.5"]));
    assert_eq!(status, Some(3), "{err}");
    assert!(out.contains("the time limit came first") && !out.contains("interrupted"), "{out}");
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_proof_and_prints_what_is_decided() {
    use std::process::Stdio;
    let refuted = "tests/corpus/families/v-min-without-gap.toml";
    let mut tool = tool(pretender("hangs").as_os_str(), &["prove", refuted, FAMILY]);
    let tool = tool.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the tool starts");
    // Long after it has begun to ask.
    std::thread::sleep(Duration::from_secs(3));
    let killed = Command::new("kill").args(["-INT", &tool.id().to_string()]).status().expect("kill runs");
    assert!(killed.success(), "the solver would hang for ever");
    let output = tool.wait_with_output().expect("the tool ends");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert!(out.contains("REFUTED") && out.contains("interrupted"), "{out}");
    assert!(err.contains("note: interrupted") && err.contains("no result for zb-h1"), "{err}");
}
