//! Levels of recomputation, and recomputation in the backward, through every command.

use super::optimized::Optimized;
use super::tool;

const MODEL: &str = "tests/corpus/valid/recompute-levels.toml";
const INVALID: &str = "tests/corpus/invalid";

#[test]
fn what_is_found_is_verified_drawn_and_checked() {
    let found = Optimized::of(MODEL);
    found.assert_replays_to("makespan");
    found.assert_no_worse_than_named();
    found.drawn();
    found.assert_undecided_for_every_m("the model has several levels of [recompute]");
    let checked = tool(&["check", &found.file, "--model", MODEL]);
    let line =
        "recompute     checkpoint 4 MiB, R as F; checkpoint 16, 20 MiB, R 3, 4 us; right before its backward";
    assert!(checked.out.contains(line), "{}", checked.transcript());
}

#[test]
fn levels_are_shown_where_a_schedule_uses_them() {
    let run = tool(&["replay", "tests/corpus/valid/recompute-at-levels.json", "--model", MODEL]);
    assert_eq!(run.status, 0, "{}", run.transcript());
    assert!(run.out.contains("3 passes, of which 1 at level 1, the others at level 0"), "{}", run.out);
}

/// The snapshots of the corpus have the messages as a whole.
#[test]
fn what_is_wrong_is_said_at_its_place() {
    for (file, said, shown) in [
        ("level-exceeds-activation.toml", "`recompute.level[1].checkpoint` of stage 1", "[16, 41]"),
        ("checkpoint-beside-levels.toml", "`recompute.checkpoint` is there", "checkpoint = 4"),
    ] {
        let run = tool(&["compare", &format!("{INVALID}/{file}")]);
        assert_eq!(run.status, 2, "{}", run.transcript());
        assert!(run.err.contains(said) && run.err.contains(shown), "{}", run.err);
    }
    for (file, said) in [
        ("level-of-no-pass.json", "level-of-no-pass: `levels` names level 1 for `0R0`"),
        ("level-unknown.json", "unknown-level: device 0, position 1: `0R0` runs at level 2"),
        (
            "recompute-not-in-backward.json",
            "not-in-backward: device 0, position 3: `0R1` is not right before",
        ),
    ] {
        let run = tool(&["verify", &format!("{INVALID}/{file}"), "--model", MODEL]);
        assert_eq!(run.status, 1, "{}", run.transcript());
        assert!(run.out.contains(said), "{}", run.out);
    }
}

#[test]
fn formats_that_cannot_name_levels_refuse_them() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("levels.csv").to_str().expect("a plain name").to_owned();
    let run = tool(&["convert", "tests/corpus/valid/recompute-at-levels.json", "-o", &file]);
    assert_eq!(run.status, 2, "{}", run.transcript());
    assert!(run.err.contains("`0R1` recomputes at level 1, but this format does not say"), "{}", run.err);
}

#[test]
fn commands_that_know_passes_alone_refuse_levels() {
    let directory = tempfile::tempdir().expect("a directory");
    let folder = directory.path().to_str().expect("a plain name");
    for command in ["block", "frontier", "explain", "certify"] {
        let output: &[&str] = if command == "certify" { &["-o", folder] } else { &[] };
        let refused = tool(&[&[command, MODEL], output].concat());
        assert_eq!(refused.status, 2, "{command}: {}", refused.err);
        let named = "several levels of [recompute] and `recompute.fused`";
        assert!(refused.err.contains(named), "{command}: {}", refused.err);
    }
}
