//! Times and memory with units: how they are read, and how they are printed.

use super::{tool, tool_with_input};

/// A profile with decimals and units.
const PROFILE: &str = "tests/data/cli/units.toml";

#[test]
fn amounts_are_read_and_printed_with_their_units() {
    for (name, arguments) in [
        ("compare", &["compare", PROFILE, "--schedules", "1f1b,zb-h1"][..]),
        ("compare_exact", &["compare", PROFILE, "--schedules", "1f1b,zb-h1", "--exact"]),
        ("compare_too_little", &["compare", PROFILE, "--schedules", "1f1b,optimized", "--memory", "40GiB"]),
        ("infeasible", &["optimize", PROFILE, "--memory", "25.5GiB"]),
        ("block", &["block", PROFILE, "--interval", "40ms"]),
        ("block_exact", &["block", PROFILE, "--interval", "40ms", "--exact"]),
        ("frontier", &["frontier", PROFILE, "--whole", "--limits", "1"]),
        ("sweep", &["optimize", PROFILE, "--microbatches", "4,8", "--memory", "45GiB,60GiB"]),
    ] {
        insta::assert_snapshot!(name, tool(arguments).transcript());
    }
}

#[test]
fn one_schedule_has_the_same_figures_everywhere() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("schedule.json");
    let file = file.to_str().expect("a name");
    let run = tool(&["optimize", PROFILE, "-o", file]);
    assert_eq!(run.status, 0, "{}", run.transcript());
    let all = [
        tool(&["verify", file, "--model", PROFILE]),
        tool(&["verify", file, "--model", PROFILE, "--memory", "50GiB"]),
        tool(&["replay", file, "--model", PROFILE]),
        tool(&["replay", file, "--model", PROFILE, "--exact"]),
        tool(&["check", file, "--model", PROFILE]),
        tool(&["check", file, "--exact"]),
    ];
    let shown: Vec<String> = all
        .iter()
        .map(|run| run.transcript().replace(folder.path().to_str().expect("a name"), "…"))
        .collect();
    insta::assert_snapshot!("one_schedule", shown.join("\n"));
}

#[test]
fn exact_amounts_are_those_of_json() {
    let json: serde_json::Value =
        serde_json::from_str(&tool(&["compare", PROFILE, "--schedules", "1f1b", "--json"]).out)
            .expect("JSON");
    let row = &json["schedules"][0];
    assert_eq!((json["time_unit"].as_str(), json["memory_unit"].as_str()), (Some("ns"), Some("byte")));
    let exact = tool(&["compare", PROFILE, "--schedules", "1f1b", "--exact"]).out;
    for key in ["makespan", "peak_memory_max"] {
        let number = row[key].as_i64().expect("an integer").to_string();
        assert!(exact.contains(&format!(" {number}")), "{key}: {exact}");
    }
}

#[test]
fn no_exact_answer_has_an_amount_that_is_rounded() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("schedule.json");
    let file = file.to_str().expect("a name");
    assert_eq!(tool(&["optimize", PROFILE, "-o", file]).status, 0);
    for arguments in [
        &["explain", file, "--model", PROFILE][..],
        &["explain", PROFILE, "--memory", "25.5GiB"],
        &["verify", file, "--model", PROFILE, "--bound"],
        &["verify", file, "--model", PROFILE, "--memory", "30GiB"],
        &["optimize", PROFILE, "--memory", "25.5GiB"],
        &["render", "models/blocks/1f1b.toml", "--devices", "4", "--model", PROFILE, "--block"],
        &["plan", "models/jobs/llama-32.toml", "--time-limit", "1"],
    ] {
        let exact = tool(&[arguments, &["--exact"]].concat()).out;
        assert_eq!(rounded(&exact), None, "{arguments:?}: {exact}");
        let fitting = tool(arguments).out;
        assert!(rounded(&fitting).is_some(), "{arguments:?}: {fitting}");
    }
}

/// The first number with decimals that has a unit of time or of memory behind it.
fn rounded(text: &str) -> Option<(&str, &str)> {
    let words: Vec<&str> =
        text.split(|letter: char| letter.is_whitespace() || "(),;:".contains(letter)).collect();
    let units = ["s", "ms", "us", "GiB", "MiB", "KiB"];
    words.windows(2).map(|pair| (pair[0], pair[1])).find(|(number, unit)| {
        units.contains(unit)
            && number.contains('.')
            && number.starts_with(|letter: char| letter.is_ascii_digit())
    })
}

/// What a note or a rejection advises to type does what it says.
#[test]
fn a_limit_that_is_advised_can_be_typed() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("schedule.json");
    let file = file.to_str().expect("a name");
    assert_eq!(tool(&["optimize", PROFILE, "--memory", "45GiB", "-o", file]).status, 0);
    let note = tool(&["verify", file, "--model", PROFILE]).err;
    let rejection = tool(&["check", file, "--model", PROFILE]).out;
    let (said, advised) =
        note.split_once("a memory limit of ").expect("a note").1.split_once("; ").expect("advice");
    assert_eq!(said, "45 GiB");
    let limit = advised.split("--memory ").nth(1).and_then(|rest| rest.split(' ').next()).expect("a limit");
    assert!(rejection.trim_end().ends_with(&format!("give --memory {limit}")), "{rejection}");
    let again = tool(&["verify", file, "--model", PROFILE, "--memory", limit]);
    assert!(again.status == 0 && !again.err.contains("memory limit"), "{}", again.transcript());
    assert_eq!(tool(&["check", file, "--model", PROFILE, "--memory", limit]).status, 0);
}

#[test]
fn times_and_memory_that_the_model_only_counts_are_refused_with_a_unit() {
    let model = std::fs::read_to_string(super::MODEL).expect("readable").replace("unit = \"us\"\n", "");
    for arguments in [["block", "-", "--interval", "13.08ms"], ["compare", "-", "--memory", "60GiB"]] {
        let run = tool_with_input(&arguments, &model);
        assert_eq!(run.status, 2, "{}", run.transcript());
        insta::assert_snapshot!(format!("refused_{}", arguments[0]), run.err);
    }
}

#[test]
fn manual_pages_are_written_for_every_command() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("man1");
    let run = tool(&["man", "-o", path.to_str().expect("a name")]);
    assert_eq!(run.status, 0, "{}", run.transcript());
    for name in super::commands() {
        let page = path.join(format!("bubbleproof-{}.1", name.replace(' ', "-")));
        let text = std::fs::read_to_string(&page).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(text.contains(".SH SYNOPSIS"), "{name}: {text}");
    }
    let page = std::fs::read_to_string(path.join("bubbleproof.1")).expect("the page of the tool");
    assert_eq!(tool(&["man"]).out, page);
}
