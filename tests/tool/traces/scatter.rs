//! `trace compare --scatter`.

use std::fs;

use assert_cmd::Command;

use crate::traces::measured::unpacked;
use crate::traces::published;

/// The exit status of `trace compare`, what it prints, and what it notes.
fn compare(arguments: &[&str]) -> (Option<i32>, String, String) {
    let run = Command::cargo_bin("bubbleproof")
        .expect("the tool is built")
        .args(["trace", "compare"])
        .args(arguments)
        .output()
        .expect("the tool runs");
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("UTF-8");
    (run.status.code(), text(&run.stdout), text(&run.stderr))
}

#[test]
fn every_iteration_of_every_trace_is_drawn() {
    let folder = unpacked("cpu");
    let run = |name: &str| folder.path().join(name).display().to_string();
    let (one, two, other) =
        (run("1f1b-d2-m16-small-1.json"), run("1f1b-d2-m16-small-2.json"), run("v-half-d2-m16-small-1.json"));
    let target = run("errors.svg");
    let arguments = [one.as_str(), &two, &other, "--gaps", "--tolerance", "50%", "--scatter", &target];
    let (status, text, notes) = compare(&arguments);
    assert_eq!(status, Some(0), "{text}{notes}");
    assert!(text.ends_with(&format!("wrote {target}\n")), "{text}");
    let drawn = fs::read_to_string(&target).expect("a drawing");
    let iterations: usize = [&one, &two, &other]
        .map(|name| {
            let text = fs::read_to_string(name).expect("a trace");
            bubbleproof::trace::file::parse(&text).expect("a trace").iterations.len()
        })
        .iter()
        .sum();
    // Two panels, three ways to predict; and a sample of each schedule.
    assert_eq!(drawn.matches("h.01").count(), 2 * 3 * iterations + 2);
    for text in ["1f1b, ", "v-half, ", "replay alone", "launch gaps", "gaps by kinds", "band: within 50 %"] {
        assert!(drawn.contains(text), "{text}");
    }
    assert!(drawn.contains(&format!("3 traces, {iterations} iterations")), "{drawn}");
    // Only the one that no other run predicts is fitted to itself.
    assert_eq!(drawn.matches("(in-sample)").count(), 3);

    let (_, answer, _) = compare(&[&one, &two, "--json", "--scatter", &target]);
    let answer: serde_json::Value = serde_json::from_str(&answer).expect("one object");
    assert_eq!(answer["scatter"], target.as_str());
    assert!(fs::read_to_string(&target).expect("a drawing").contains("2 traces"));
}

#[test]
fn pictures_that_are_no_svg_or_have_one_name_are_refused() {
    let trace = published::folder().join("megatronapp-interleaved.json").display().to_string();
    for (arguments, message) in [
        (["--scatter", "errors.png", "--gaps", "--json"], "`errors.png` does not end in `.svg`"),
        (["--scatter", "-", "--gaps", "--json"], "`-` does not end in `.svg`"),
        (["--scatter", "x.svg", "-o", "x.svg"], "`-o` and `--scatter` both write x.svg"),
        (["--scatter", "x.svg", "-o", "./x.svg"], "`-o` and `--scatter` both write x.svg"),
        (["--scatter", "nowhere/x.svg", "--gaps", "--json"], "there is no folder nowhere"),
    ] {
        let (status, _, text) = compare(&[&[trace.as_str()], &arguments[..]].concat());
        assert_eq!(status, Some(2), "{text}");
        assert!(text.contains(message), "{text}");
    }
}
