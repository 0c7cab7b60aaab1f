//! The tool as its users meet it: what it prints, and with which exit status it ends.
//!
//! Human output, JSON objects and help are snapshots; the keys that other programs rely on are also
//! asserted by name.

use std::fmt::Write as _;
use std::path::Path;

use assert_cmd::Command;
use serde_json::Value;

use crate::traces::measured::unpacked;

const MODEL: &str = "tests/data/cli/two-devices.toml";
const SCHEDULE: &str = "tests/data/cli/one-f-one-b.json";
const BROKEN: &str = "tests/data/cli/broken.json";
const V_MODEL: &str = "tests/data/cli/v-342.toml";
const FAMILY: &str = "models/blocks/v-half.toml";
const REFUTED: &str = "tests/corpus/families/v-min-without-gap.toml";
const EXTENSIBLE: &str = "tests/data/cli/extensible.json";
const RESIZED: &str = "tests/data/cli/resized.json";
const SWAPPED: &str = "tests/corpus/communication/swapped-gradients.csv";
const DEADLOCKED: &str = "tests/corpus/communication/deadlocked-passes.csv";
const EARLY: &str = "tests/corpus/communication/early-receive.csv";
const OVERLAPPED: &str = "tests/data/pytorch/dualpipev-2x2-6.csv";
const TRACE: &str = "tests/data/traces/synthetic/v-half-exact.json";
const CONTENDED: &str = "tests/data/traces/synthetic/zb-h1-contended.json";
const DISORDERED: &str = "tests/data/traces/synthetic/1f1b-out-of-order.json";
const RANK: &str = "tests/data/traces/profiler/v-half-rank0.json";
const CERTIFIED: &str = "tests/corpus/certificates/genuine.json";

/// What a run of the tool left behind.
struct Run {
    status: i32,
    out: String,
    err: String,
}

fn tool(arguments: &[&str]) -> Run {
    tool_with_input(arguments, "")
}

fn tool_with_input(arguments: &[&str], input: &str) -> Run {
    let output = Command::cargo_bin("bubbleproof")
        .expect("the tool is built")
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env_remove("COLUMNS")
        .env_remove("CLICOLOR_FORCE")
        .write_stdin(input)
        .output()
        .expect("the tool runs");
    let text = |bytes| String::from_utf8(bytes).expect("the tool prints UTF-8");
    Run {
        status: output.status.code().expect("the tool ends by itself"),
        out: text(output.stdout),
        err: text(output.stderr),
    }
}

impl Run {
    fn json(&self) -> Value {
        assert!(self.out.ends_with('\n'), "one line: {}", self.out);
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}\n{}", self.out, self.err))
    }

    /// Everything at once, for snapshots.
    fn transcript(&self) -> String {
        let mut text = self.out.clone();
        if !self.err.is_empty() {
            text += "--- standard error\n";
            text += &self.err;
        }
        format!("{text}--- exit status {}\n", self.status)
    }
}

/// Asserts that an object has these keys, whatever their values.
fn assert_keys(object: &Value, keys: &[&str]) {
    for key in keys {
        assert!(object.get(key).is_some(), "`{key}` is missing in {object}");
    }
}

const FIGURES: &[&str] = &[
    "makespan",
    "device_span",
    "bubble_rate",
    "bubble_rate_exact",
    "idle_rate",
    "idle_rate_exact",
    "peak_memory",
    "peak_memory_max",
];

#[test]
fn the_answer_decides_the_exit_status() {
    for (arguments, status) in [
        (&["verify", SCHEDULE][..], 0),
        (&["verify", SCHEDULE, "--model", MODEL], 0),
        (&["verify", SCHEDULE, "--memory", "1"], 1),
        (&["verify", SCHEDULE, "--memory", "100%"], 0),
        (&["verify", SCHEDULE, "--memory", "50%"], 1),
        (&["verify", SCHEDULE, "--devices", "3"], 1),
        (&["verify", SCHEDULE, "--microbatches", "3"], 1),
        (&["verify", SCHEDULE, "--model", MODEL, "--devices", "3"], 1),
        (&["verify", BROKEN], 1),
        (&["verify", FAMILY], 2),
        (&["verify", FAMILY, "--every-m"], 2),
        (&["verify", FAMILY, "--every-m", "--devices", "4"], 0),
        (&["verify", FAMILY, "--every-m", "--devices", "4", "--time-limit", "60"], 0),
        (&["verify", FAMILY, "--every-m", "--devices", "4", "--time-limit", "0.000000001"], 3),
        (&["verify", FAMILY, "--every-m", "--devices", "4", "--time-limit", "-1"], 2),
        (&["verify", FAMILY, "--devices", "4", "--time-limit", "60"], 2),
        (&["verify", FAMILY, "--every-m", "--devices", "4", "--microbatches", "8"], 2),
        (&["verify", FAMILY, "--every-m", "--devices", "4", "--memory", "6"], 0),
        (&["verify", FAMILY, "--every-m", "--devices", "4", "--memory", "5"], 1),
        (&["verify", FAMILY, "--every-m", "--devices", "4", "--model", V_MODEL], 0),
        (&["verify", FAMILY, "--every-m", "--devices", "4", "--model", MODEL], 2),
        (&["verify", EXTENSIBLE, "--every-m"], 0),
        (&["verify", EXTENSIBLE, "--every-m", "--microbatches", "12"], 0),
        (&["verify", EXTENSIBLE, "--every-m", "--microbatches", "13"], 1),
        (&["verify", SCHEDULE, "--every-m"], 3),
        (&["verify", BROKEN, "--every-m"], 1),
        (&["replay", FAMILY], 2),
        (&["replay", SCHEDULE, "--model", MODEL], 0),
        (&["replay", BROKEN], 1),
        (&["compare", MODEL], 0),
        (&["compare", MODEL, "--memory", "0"], 1),
        (&["compare", MODEL, "--schedules", "1f1b"], 0),
        (&["compare", MODEL, "--schedules", "v-min"], 1),
        (&["compare", MODEL, "--schedules", "2f2b"], 2),
        (&["trace", "compare", TRACE], 0),
        (&["trace", "compare", TRACE, "--tolerance", "0%"], 0),
        (&["trace", "compare", CONTENDED, "--tolerance", "0.1%"], 1),
        (&["trace", "compare", CONTENDED, "--tolerance", "99%"], 0),
        (&["trace", "compare", TRACE, "--tolerance", "-1%"], 2),
        (&["trace", "compare", DISORDERED], 1),
        (&["trace", "compare", TRACE, "--schedule", SCHEDULE], 2),
        (&["trace", "compare", TRACE, "--model", MODEL], 2),
        (&["trace", "compare", TRACE, "--fit", CONTENDED], 2),
        (&["trace", "compare", TRACE, "--offsets", "0,1,2"], 2),
        (&["trace", "compare", TRACE, "--skip", "1"], 2),
        (&["trace", "compare", TRACE, "-o", "picture.png"], 2),
        (&["trace", "compare", SCHEDULE], 2),
        (&["trace", "compare", RANK], 2),
        (&["trace", "profile", TRACE, "-o", "-"], 0),
        (&["trace", "profile", TRACE, CONTENDED], 2),
        (&["optimize", MODEL], 0),
        (&["optimize", MODEL, "--memory", "0"], 1),
        (&["optimize", MODEL, "--time-limit", "0"], 2),
        (&["optimize", MODEL, "-o", "-", "--json"], 2),
        (&["block", FAMILY, "--devices", "4"], 0),
        (&["block", FAMILY], 2),
        (&["block", FAMILY, "--devices", "4", "--interval", "work"], 2),
        (&["block", V_MODEL], 0),
        (&["block", V_MODEL, "--memory", "1"], 1),
        (&["block", V_MODEL, "--interval", "8"], 1),
        (&["block", V_MODEL, "--interval", "9", "--minimize", "interval"], 2),
        (&["block", MODEL, "--engine", "exact"], 0),
        (&["block", V_MODEL, "--memory", "4", "--microbatches-per-interval", "2"], 0),
        (&["block", V_MODEL, "--memory", "1", "--microbatches-per-interval", "2"], 1),
        (&["block", V_MODEL, "--microbatches-per-interval", "2", "--engine", "exact"], 2),
        (&["block", V_MODEL, "--microbatches-per-interval", "0"], 2),
        (&["block", V_MODEL, "--engine", "search", "--minimize", "memory"], 2),
        (&["block", FAMILY, "--devices", "4", "--microbatches-per-interval", "2"], 2),
        (&["prove", "models/blocks/zb-h1.toml"], 0),
        (&["prove", "models/blocks/zb-h1.toml", "--time-limit", "0"], 2),
        (&["prove", REFUTED], 1),
        (&["prove", REFUTED, "models/blocks/zb-h1.toml"], 1),
        (&["prove", REFUTED, REFUTED], 1),
        (&["prove", REFUTED, REFUTED, "--emit", "target/tmp/twice"], 2),
        (&["prove", "models/blocks/v-half.toml", "--time-limit", "0.000001"], 3),
        (&["prove", MODEL], 2),
        (&["prove"], 2),
        (&["frontier", V_MODEL], 0),
        (&["frontier", V_MODEL, "--fused"], 0),
        (&["frontier", MODEL, "--recompute"], 2),
        (&["frontier", V_MODEL, "-o", "picture.png"], 2),
        (&["explain", MODEL], 0),
        (&["explain", MODEL, "--memory", "0"], 1),
        (&["check", CERTIFIED], 0),
        (&["check", CERTIFIED, "--model", V_MODEL], 1),
        (&["check", CERTIFIED, "--memory", "4"], 2),
        (&["check", SCHEDULE], 1),
        (&["render", SCHEDULE], 0),
        (&["render", BROKEN], 1),
        (&["convert", SCHEDULE, "-o", "-", "--to", "json"], 0),
        (&["convert", SCHEDULE, "-o", "-"], 2),
        (&["convert", SCHEDULE, "-o", "-", "--to", "pytorch-comms"], 0),
        (&["convert", SCHEDULE, "-o", "-", "--to", "pytorch-comms", "--nearest"], 0),
        (&["convert", SCHEDULE, "-o", "-", "--to", "pytorch", "--devices", "4"], 2),
        (&["convert", SWAPPED, "-o", "-", "--to", "pytorch-comms"], 0),
        (&["convert", DEADLOCKED, "-o", "-", "--to", "pytorch"], 0),
        (&["convert", DEADLOCKED, "-o", "-", "--to", "pytorch-comms"], 2),
        (&["convert", DEADLOCKED, "-o", "-", "--to", "pytorch-comms", "--nearest"], 0),
        (&["convert", BROKEN, "-o", "-", "--to", "pytorch-comms"], 2),
        (&["convert", MODEL, "-o", "-", "--to", "pytorch", "--schedule", "1f1b"], 0),
        (&["convert", MODEL, "-o", "-", "--to", "pytorch", "--schedule", "2f2b"], 2),
        (&["convert", MODEL, "-o", "-", "--to", "pytorch", "--schedule", "v-min"], 2),
        (&["convert", MODEL, "-o", "-", "--to", "pytorch"], 2),
        (&["convert", SCHEDULE, "-o", "-", "--to", "sail-sg"], 0),
        (&["convert", SCHEDULE, "-o", "-", "--to", "sail-sg", "--model", MODEL], 0),
        (&["convert", SCHEDULE, "-o", "-", "--to", "sail-sg", "--model", V_MODEL], 2),
        (&["convert", SCHEDULE, "-o", "-", "--to", "json", "--model", MODEL], 2),
        (&["convert", SCHEDULE, "-o", "-", "--to", "sail-sg", "--layers", "2"], 2),
        (&["convert", SCHEDULE, "-o", "-", "--to", "torchtitan"], 2),
        (&["convert", SCHEDULE, "-o", "-", "--to", "megatron"], 2),
        (&["convert", SCHEDULE, "-o", "-", "--to", "megatron", "--layers", "3,3"], 0),
        (&["convert", SCHEDULE, "-o", "-", "--to", "megatron", "--layers", "3,3,3"], 2),
        (&["convert", SCHEDULE, "-o", "-", "--to", "megatron", "--layers", "3,"], 2),
        (&["convert", DEADLOCKED, "-o", "-", "--to", "sail-sg"], 2),
        (&["convert", DEADLOCKED, "-o", "-", "--to", "sail-sg", "--nearest"], 0),
        (&["verify", SWAPPED], 1),
        (&["verify", DEADLOCKED], 1),
        (&["verify", EARLY], 0),
        (&["verify", OVERLAPPED], 0),
        (&["verify", OVERLAPPED, "--every-m"], 3),
        (&["verify", "tests/corpus/communication/blank-cell.csv"], 2),
        (&["verify", "no-such-file.json"], 2),
        (&["verify", MODEL], 2),
        (&["verify", SCHEDULE, "--model", SCHEDULE], 2),
        (&["verify", SCHEDULE, "--memory", "half"], 2),
        (&["verify", SCHEDULE, "--devices", "0"], 2),
        (&["verify", "tests"], 2),
        (&["verify"], 2),
        (&["no-such-command"], 2),
        (&[], 2),
        (&["--help"], 0),
        (&["--version"], 0),
        (&["completions", "bash"], 0),
    ] {
        let run = tool(arguments);
        assert_eq!(run.status, status, "{arguments:?}: {}", run.transcript());
    }
}

#[test]
fn json_is_one_object_whatever_happens() {
    for arguments in [
        &["verify", SCHEDULE][..],
        &["verify", BROKEN],
        &["replay", SCHEDULE, "--model", MODEL],
        &["compare", MODEL],
        &["optimize", MODEL],
        &["optimize", MODEL, "--memory", "0"],
        &["block", FAMILY, "--devices", "4"],
        &["block", V_MODEL],
        &["block", V_MODEL, "--memory", "1"],
        &["frontier", V_MODEL],
        &["prove", REFUTED],
        &["prove", MODEL],
        &["regress", "models/regress", "--no-cache"],
        &["regress", "no-such-directory"],
        &["explain", MODEL],
        &["explain", MODEL, "--memory", "0"],
        &["check", CERTIFIED],
        &["check", SCHEDULE],
        &["convert", SCHEDULE, "-o", "-"],
        &["convert", SCHEDULE, "-o", "target/tmp/run.toml", "--to", "torchtitan"],
        &["convert", BROKEN, "-o", "target/tmp/nodes.json", "--to", "sail-sg"],
        &["render", SCHEDULE],
        &["render", BROKEN],
        &["completions", "zsh"],
        &["verify", "no-such-file.json"],
        &["verify", SCHEDULE, "--model", SCHEDULE],
        &["verify", SCHEDULE, "--memory", "half"],
        &["no-such-command"],
    ] {
        let run = tool(&[arguments, &["--json"]].concat());
        let object = run.json();
        assert!(object.is_object(), "{arguments:?}: {object}");
        assert_eq!(object.get("error").is_some(), run.status == 2, "{arguments:?}: {object}");
    }
}

#[test]
fn verify_gives_the_keys_that_programs_rely_on() {
    let valid = tool(&["verify", SCHEDULE, "--model", MODEL, "--json"]).json();
    assert_keys(&valid, FIGURES);
    assert_eq!(valid["valid"], true);
    assert_eq!(valid["violations"], serde_json::json!([]));
    insta::assert_json_snapshot!(valid);

    let invalid = tool(&["verify", BROKEN, "--json"]).json();
    assert_keys(&invalid, FIGURES);
    assert_eq!(invalid["valid"], false);
    for violation in invalid["violations"].as_array().expect("a list") {
        assert_keys(violation, &["rule", "device", "pass", "position", "message"]);
    }
    assert!(invalid["makespan"].is_null() && invalid["bubble_rate_exact"].is_null());
    insta::assert_json_snapshot!(invalid);
}

#[test]
fn replay_gives_every_pass_its_time() {
    let run = tool(&["replay", SCHEDULE, "--model", MODEL, "--json"]).json();
    assert_keys(&run, FIGURES);
    let passes = run["passes"].as_array().expect("a list");
    assert_eq!(passes.len(), 8);
    assert_eq!(passes[0], serde_json::json!({"device": 0, "pass": "0F0", "start": 0, "end": 3}));
    let last = passes.iter().map(|pass| pass["end"].as_i64().expect("ticks")).max();
    assert_eq!(last, run["makespan"].as_i64());
    assert!(tool(&["replay", BROKEN, "--json"]).json()["passes"].is_null());
}

#[test]
fn compare_keeps_the_order_asked_for() {
    let run = tool(&["compare", MODEL, "--schedules", "zb-h1,v-min,1f1b", "--json"]).json();
    let rows = run["schedules"].as_array().expect("a list");
    let names: Vec<&str> = rows.iter().filter_map(|row| row["name"].as_str()).collect();
    assert_eq!(names, ["zb-h1", "v-min", "1f1b"]);
    for row in rows {
        assert_keys(row, FIGURES);
        assert_keys(row, &["valid"]);
    }
    assert_eq!(rows[1]["valid"], false);
    assert!(rows[1]["error"].as_str().expect("a reason").contains("placement"));
}

#[test]
fn compare_leaves_out_what_is_made_for_another_placement_and_says_so() {
    let run = tool(&["compare", MODEL, "--json"]).json();
    let rows = run["schedules"].as_array().expect("a list");
    assert!(rows.iter().any(|row| row["name"] == "1f1b"));
    assert!(rows.iter().all(|row| row["name"] != "v-min"));
    assert!(run["notes"][0].as_str().expect("a note").contains("v-min"), "{}", run["notes"]);
}

#[test]
fn optimize_gives_the_keys_that_programs_rely_on_and_a_schedule_that_verifies() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("schedule.json");
    let file = file.to_str().expect("a plain name");
    let run = tool(&["optimize", V_MODEL, "--memory", "75%", "--devices", "2", "-o", file, "--json"]).json();
    assert_keys(&run, FIGURES);
    assert_keys(
        &run,
        &["lower_bound", "gap", "gap_exact", "optimal", "proof", "interval", "engine", "schedule"],
    );
    let written = std::fs::read_to_string(file).expect("it was written");
    let written: Value = serde_json::from_str(&written).expect("a schedule file");
    assert_eq!(written, run["schedule"]);
    assert_eq!(written["provenance"]["devices"], 2);

    let verified = tool(&["verify", file, "--model", V_MODEL, "--memory", "75%", "--json"]).json();
    assert_eq!(verified["valid"], true, "{verified}");
    for key in FIGURES {
        assert_eq!(verified[key], run[key], "{key}");
    }
    let checked = tool(&["check", file, "--model", V_MODEL, "--memory", "75%", "--devices", "2", "--json"]);
    let checked = checked.json();
    assert_eq!(checked["valid"], true, "{checked}");
    assert_eq!(checked["claims"].as_array().map(Vec::len), Some(if run["optimal"] == true { 3 } else { 2 }));
    for key in FIGURES {
        assert_eq!(checked[key], run[key], "{key}");
    }
    let (value, bound) = (run["makespan"].as_i64(), run["lower_bound"].as_i64());
    assert!(bound <= value);
    assert_eq!(run["optimal"], bound == value);
}

/// The bound is 142; that nothing is below 144 takes a search.
#[cfg(feature = "lcg")]
#[test]
fn optimality_that_only_a_search_could_prove_is_told_from_what_the_bound_proves() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("schedule.json");
    let file = file.to_str().expect("a plain name");
    let problem = ["models/profiles/uneven-342.toml", "--devices", "4", "--microbatches", "6"];
    let limits = ["--memory", "5", "-o", file];
    let arguments: Vec<&str> = ["optimize"].iter().chain(&problem).chain(&limits).copied().collect();
    let said = tool(&arguments).out;
    assert!(said.contains("none: exhaustive search ("), "{said}");
    assert!(said.contains("found no better schedule"), "{said}");
    let run = tool(&[arguments.as_slice(), &["--json"]].concat()).json();
    assert_eq!((run["makespan"].as_i64(), run["lower_bound"].as_i64()), (Some(144), Some(144)));
    assert!(run["certified_bound"].as_i64() < run["lower_bound"].as_i64(), "{run}");
    assert_eq!(run["optimal"], true);
    assert!(run["proof"].as_str().is_some_and(|proof| proof.starts_with("exhaustive search (")), "{run}");
    let checked = tool(&["check", file, "--json"]).json();
    assert_eq!(checked["valid"], true, "{checked}");
}

#[test]
fn the_picture_of_the_readme_is_what_the_tool_draws() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("timeline.svg");
    let file = file.to_str().expect("a plain name");
    let model = "models/profiles/uneven-342.toml";
    assert_eq!(
        tool(&[
            "render",
            "docs/schedule.json",
            "--model",
            model,
            "--memory",
            "4",
            "--width",
            "1000",
            "-o",
            file
        ])
        .status,
        0
    );
    let read = |file: &str| std::fs::read_to_string(file).expect("readable");
    assert!(
        read(file) == read("docs/timeline.svg"),
        "draw it again: bubbleproof render docs/schedule.json --model {model} --memory 4 --width 1000 -o \
         docs/timeline.svg"
    );
}

#[test]
fn what_is_infeasible_comes_with_a_reason() {
    for arguments in
        [&["optimize", MODEL, "--memory", "0", "--json"], &["block", V_MODEL, "--memory", "1", "--json"]]
    {
        let run = tool(arguments);
        let object = run.json();
        assert_eq!((run.status, &object["feasible"]), (1, &Value::Bool(false)), "{object}");
        assert!(!object["reason"].as_str().expect("a reason").is_empty());
    }
}

#[test]
fn block_gives_the_keys_that_programs_rely_on() {
    let keys = [
        "interval",
        "peak_memory",
        "peak_memory_max",
        "paper_bound",
        "lifespans",
        "offsets",
        "proven",
        "engine",
    ];
    let best = tool(&["block", V_MODEL, "--json"]).json();
    assert_keys(&best, &keys);
    assert_eq!((&best["interval"], &best["peak_memory_max"]), (&Value::from(18), &Value::from(4)), "{best}");
    assert_eq!((&best["proven"], &best["engine"]), (&Value::Bool(true), &Value::from("exact")));
    assert_eq!(best["offsets"].as_object().expect("by pass").len(), 18);

    let family = tool(&["block", FAMILY, "--devices", "4", "--json"]).json();
    assert_keys(&family, &keys);
    assert_eq!(family["faults"], serde_json::json!([]));
}

/// Looped placement with times and memory that lie far apart: in floating point, a shortest block of the first
/// has an interval of 7286646 ticks, and the second has none. Both are wrong.
#[cfg(feature = "milp")]
const FAR_APART: [&str; 2] = [
    "name = \"far apart\"\npipeline = { devices = 2, placement = \"looped\", chunks = 2, microbatches = 4 }\n\
     [time]\nforward = [1, 42, 47, 2]\nbackward_input = [49, 3, 6581698, 2]\n\
     backward_weight = [20, 33, 3, 7286473]\ncommunication = 1\n\
     [memory]\nactivation = [542672336265, 2, 7, 847144854]\ncapacity = 543519481127\n",
    "name = \"far apart\"\npipeline = { devices = 3, placement = \"looped\", chunks = 2, microbatches = 4 }\n\
     [time]\nforward = [3, 1, 7, 2, 3, 2]\nbackward_input = [3, 3, 2, 5636678, 6345055, 501846391]\n\
     backward_weight = [23, 2, 7181451261, 1, 19, 2]\ncommunication = 0\n\
     [memory]\nactivation = [2, 98125822125, 20, 677651487703, 989894583, 2]\ncapacity = 776767204413\n",
];

#[cfg(feature = "milp")]
#[test]
fn numbers_too_far_apart_for_floating_point_are_no_answer_and_no_defect() {
    for (model, command) in [
        (FAR_APART[0], &["block", "-", "--minimize", "interval"][..]),
        (FAR_APART[1], &["block", "-", "--minimize", "memory"]),
        (FAR_APART[0], &["frontier", "-"]),
        (FAR_APART[1], &["frontier", "-"]),
    ] {
        let run = tool_with_input(command, model);
        assert_eq!(run.status, 3, "{command:?}: {}", run.transcript());
        assert!(run.out.is_empty(), "{command:?}: {}", run.out);
        assert!(run.err.contains("too far apart") && run.err.contains("--engine smt"), "{}", run.err);
        assert!(!run.err.contains("internal error"), "{}", run.err);
    }
    let run =
        tool_with_input(&["--json", "block", "-", "--minimize", "interval", "--engine", "smt"], FAR_APART[0]);
    let best = run.json();
    assert_eq!((&best["proven"], &best["interval"]), (&Value::Bool(true), &Value::from(7_286_643)), "{best}");
}

#[cfg(feature = "milp")]
#[test]
fn a_solver_in_floating_point_claims_and_what_is_exact_is_proved() {
    let model = "pipeline = { devices = 3, placement = \"looped\", chunks = 2, microbatches = 6 }\n\
                 [time]\nforward = 3\nbackward_input = 4\nbackward_weight = 2\ncommunication = 1\n";
    let block = |memory: &str| tool_with_input(&["block", "-", "--memory", memory, "--json"], model);
    // With room enough the interval is the work of a device, which needs no solver.
    let roomy = block("9").json();
    assert_eq!((&roomy["proven"], roomy.get("claimed_by")), (&Value::Bool(true), None), "{roomy}");
    let tight = block("5");
    let claimed = tight.json();
    assert_eq!(claimed["proven"], Value::Bool(false), "{claimed}");
    assert!(["HiGHS", "microlp"].contains(&claimed["claimed_by"].as_str().expect("a solver")), "{claimed}");
    assert!(claimed["bound"].is_number(), "what is proved without the solver: {claimed}");
    assert!(tight.err.contains("proves nothing") && tight.err.contains("--engine smt"), "{}", tight.err);
    let text = tool_with_input(&["block", "-", "--memory", "5"], model);
    assert!(
        text.out.contains("not proved; ") && text.out.contains("in floating point, found no better block")
    );
    let whole = tool_with_input(&["frontier", "-", "--json"], model);
    let frontier = whole.json();
    for point in frontier["points"].as_array().expect("points") {
        let met = point["bound"] == point["interval"];
        assert!(met || point["proven"] == Value::Bool(false), "{point}");
    }
}

#[test]
fn communication_is_verified_and_what_cannot_run_is_mended() {
    let mut report = String::new();
    for arguments in [
        &["verify", SWAPPED][..],
        &["verify", DEADLOCKED],
        &["verify", EARLY],
        &["verify", OVERLAPPED],
        &["convert", DEADLOCKED, "-o", "-", "--to", "pytorch-comms"],
        &["convert", DEADLOCKED, "-o", "-", "--to", "pytorch-comms", "--nearest"],
        &["verify", "tests/corpus/communication/blank-cell.csv"],
    ] {
        writeln!(report, "$ bubbleproof {}\n{}", arguments.join(" "), tool(arguments).transcript())
            .expect("writing to a string");
    }
    insta::assert_snapshot!("communication", report);
    let json = tool(&["verify", EARLY, "--json"]).json();
    assert_keys(&json, &["communication", "overlapped_pairs", "nearest", "notes"]);
    let ends: Vec<bool> = json["communication"]["semantics"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|behaviour| behaviour["ends"].as_bool().expect("a truth value"))
        .collect();
    assert_eq!(ends, [true, true, false, false]);
    assert_eq!(tool(&["verify", DEADLOCKED, "--json"]).json()["nearest"]["moved"][0]["pass"], "0F1");
}

#[test]
fn torchtitans_two_files_are_named_together_and_overwrite_no_input() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name).to_str().expect("a plain name").to_owned();
    let model = path("model.toml");
    std::fs::copy(MODEL, &model).expect("copied");
    let convert = |output: &str| {
        tool(&["convert", &model, "--schedule", "1f1b", "-o", &path(output), "--to", "torchtitan"])
    };
    for output in ["model.csv", "model.toml", "model", "run.v2", "run.json", ""] {
        let run = convert(output);
        assert_eq!(run.status, 2, "{output}: {}", run.transcript());
        assert!(run.err.contains("help:"), "{output}: {}", run.err);
    }
    assert_eq!(
        std::fs::read(&model).expect("there"),
        std::fs::read(MODEL).expect("there"),
        "the model is as it was"
    );
    for output in ["a run", "b.csv", "c.toml"] {
        assert_eq!(convert(output).status, 0, "{output}");
    }
    for (csv, toml) in [("a run.csv", "a run.toml"), ("b.csv", "b.toml"), ("c.csv", "c.toml")] {
        assert_eq!(tool(&["verify", &path(csv)]).status, 0);
        let configuration = std::fs::read_to_string(path(toml)).expect("written");
        assert!(configuration.contains(&path(csv)), "{configuration}");
    }
    assert_eq!(std::fs::read_dir(&directory).expect("readable").count(), 7, "nothing else is written");
}

#[test]
fn the_dialect_of_a_csv_is_said() {
    let found = tool_with_input(&["verify", "-"], "0F0,0BW0,0F1,0B1,0W1\r\n");
    assert_eq!(found.status, 0, "{}", found.err);
    insta::assert_snapshot!(found.err, @"note: read as PyTorch's CSV, compute_only, in the letters of 2024: B is the input gradient, BW the full backward");
    let written =
        tool_with_input(&["convert", "-", "-o", "-", "--to", "pytorch"], "0F0,0BW0,,0F1,0B1,0W1\r\n");
    assert_eq!(written.out, "0F0,0B0,,0F1,0I1,0W1\r\n");
}

#[test]
fn converting_there_and_back_changes_nothing() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name).to_str().expect("a plain name").to_owned();
    let (csv, json) = (path("schedule.csv"), path("schedule.json"));
    assert_eq!(tool(&["convert", SCHEDULE, "-o", &csv]).status, 0);
    assert_eq!(
        std::fs::read_to_string(&csv).expect("written"),
        tool(&["convert", SCHEDULE, "-o", "-", "--to", "pytorch"]).out
    );
    assert_eq!(tool(&["convert", &csv, "-o", &json]).status, 0);
    let read = |file: &str| -> Value {
        serde_json::from_str(&std::fs::read_to_string(file).expect("readable")).expect("JSON")
    };
    for key in ["placement", "microbatches", "orders"] {
        assert_eq!(read(&json)[key], read(SCHEDULE)[key]);
    }
    assert_eq!(tool(&["verify", &csv]).status, 0);
}

#[test]
fn pictures_have_the_form_that_their_name_says() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name).to_str().expect("a plain name").to_owned();
    let (svg, text) = (path("timeline.svg"), path("timeline.txt"));
    assert_eq!(tool(&["render", SCHEDULE, "-o", &svg]).out, format!("wrote {svg}\n"));
    assert!(std::fs::read_to_string(&svg).expect("written").contains("<svg"));
    assert_eq!(tool(&["render", SCHEDULE, "-o", &text]).status, 0);
    assert_eq!(tool(&["render", SCHEDULE, "-o", "timeline.png"]).status, 2);
    assert_eq!(std::fs::read_to_string(&text).expect("written"), tool(&["render", SCHEDULE]).out);
    assert!(tool(&["render", SCHEDULE, "--color", "always"]).out.contains('\u{1b}'));
    assert!(tool(&["render", SCHEDULE, "--width", "48"]).out.lines().all(|line| line.chars().count() <= 48));
}

#[test]
fn a_page_shows_several_schedules_and_a_trace_is_json() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name).to_str().expect("a plain name").to_owned();
    let (page, trace, svg) = (path("page.html"), path("trace.json"), path("drawing.svg"));
    let read = |file: &str| std::fs::read_to_string(file).expect("written");
    assert_eq!(tool(&["render", SCHEDULE, "-o", &page]).out, format!("wrote {page}\n"));
    assert_eq!(read(&page).matches("<canvas").count(), 1);
    assert_eq!(tool(&["render", SCHEDULE, EXTENSIBLE, "-o", &page]).status, 0);
    assert_eq!(read(&page).matches("<canvas").count(), 2);
    assert!(read(&page).starts_with("<!doctype html>") && read(&page).ends_with("</html>\n"));

    assert_eq!(tool(&["render", SCHEDULE, "--model", MODEL, "-o", &trace]).status, 0);
    let found: Value = serde_json::from_str(&read(&trace)).expect("JSON");
    let events = found["traceEvents"].as_array().expect("a list");
    let passes = tool(&["replay", SCHEDULE, "--model", MODEL, "--json"]).json()["passes"].clone();
    let shown = events.iter().filter(|event| event["ph"] == "X");
    let shown: Vec<_> =
        shown.map(|event| (&event["pid"], &event["name"], &event["args"]["start_tick"])).collect();
    let passes = passes.as_array().expect("a list");
    let expected: Vec<_> =
        passes.iter().map(|pass| (&pass["device"], &pass["pass"], &pass["start"])).collect();
    assert_eq!(shown, expected);

    let size = ["--width", "700", "--height", "300"];
    assert_eq!(
        tool(&[&["render", SCHEDULE, "-o", &svg][..], &size, &["--hide", "title,memory"]].concat()).status,
        0
    );
    assert!(read(&svg).contains("width=\"700\" height=\"300\""));
    assert_eq!(tool(&["render", SCHEDULE, BROKEN, "-o", &page]).status, 1);
}

#[test]
fn options_without_meaning_for_a_picture_are_refused() {
    let mut text = String::new();
    for arguments in [
        &["render", SCHEDULE, "-o", "picture.png"][..],
        &["render", SCHEDULE, EXTENSIBLE],
        &["render", SCHEDULE, "--height", "300"],
        &["render", SCHEDULE, "-o", "page.html", "--hide", "memory"],
        &["render", SCHEDULE, "-o", "trace.json", "--width", "300"],
        &["render", SCHEDULE, "-o", "timeline.svg", "--width", "30"],
        &["render", SCHEDULE, "-o", "timeline.svg", "--height", "30"],
    ] {
        let run = tool(arguments);
        assert_eq!(run.status, 2, "{arguments:?}");
        writeln!(text, "$ bubbleproof {}\n{}", arguments.join(" "), run.err).expect("a text");
    }
    insta::assert_snapshot!(text);
}

#[test]
fn a_schedule_made_for_another_size_finds_its_model() {
    let run = tool(&["verify", RESIZED, "--model", MODEL, "--json"]);
    let object = run.json();
    assert_eq!((run.status, &object["devices"]), (0, &Value::from(3)), "{object}");
    let notes = object["notes"].to_string();
    for word in ["3 devices", "schedule's, 1,", "--memory 3"] {
        assert!(notes.contains(word) && run.err.contains(word), "{word}: {notes}\n{}", run.err);
    }
}

#[test]
fn files_come_from_standard_input_too() {
    let text = std::fs::read_to_string(SCHEDULE).expect("readable");
    assert_eq!(tool_with_input(&["verify", "-"], &text).status, 0);
    assert_eq!(tool_with_input(&["verify", "-"], "{}").status, 2);
}

#[cfg(unix)]
#[cfg(target_os = "linux")]
#[test]
fn standard_output_by_its_other_names_is_written_to_and_not_replaced() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
        let path = folder.path().join("log");
        std::fs::write(&path, "kept\n").expect("written");
        let log = std::fs::OpenOptions::new().append(true).open(&path).expect("a file");
        let status = std::process::Command::new(assert_cmd::cargo::cargo_bin("bubbleproof"))
            .args(["convert", SCHEDULE, "-o", name, "--to", "json"])
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .stdout(log)
            .status();
        assert!(status.expect("the tool runs").success(), "{name}");
        let written = std::fs::read_to_string(&path).expect("a file");
        assert!(written.starts_with("kept\n{"), "{name}: {written}");
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 1, "{name}");
    }
}

#[test]
fn an_error_of_the_system_is_told_once() {
    let run = tool(&["verify", "no-such-file.json"]);
    assert_eq!(run.err.matches("No such file").count(), 1, "{}", run.err);
    let run = tool(&["convert", SCHEDULE, "-o", "target", "--to", "json"]);
    assert_eq!(run.err.matches("is a directory").count(), 1, "{}", run.err);
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    use std::process::{Command as Process, Stdio};
    let mut child = Process::new(env!("CARGO_BIN_EXE_bubbleproof"))
        .args(["completions", "bash"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the tool runs");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn what_people_read() {
    for (name, arguments) in [
        ("verify_valid", &["verify", SCHEDULE, "--model", MODEL][..]),
        ("verify_broken", &["verify", BROKEN]),
        ("verify_over_the_limit", &["verify", SCHEDULE, "--memory", "1"]),
        ("verify_other_size", &["verify", RESIZED, "--model", MODEL]),
        ("replay", &["replay", SCHEDULE, "--model", MODEL]),
        ("compare", &["compare", MODEL]),
        ("compare_over_the_limit", &["compare", MODEL, "--memory", "1"]),
        ("optimize", &["optimize", MODEL]),
        ("optimize_infeasible", &["optimize", MODEL, "--memory", "0"]),
        ("explain", &["explain", V_MODEL, "--devices", "4", "--memory", "4"]),
        ("explain_infeasible", &["explain", MODEL, "--memory", "0"]),
        ("check", &["check", CERTIFIED]),
        ("check_other_problem", &["check", CERTIFIED, "--model", V_MODEL]),
        ("check_without_certificate", &["check", SCHEDULE]),
        ("block_exact", &["block", V_MODEL]),
        ("block_periodic", &["block", V_MODEL, "--memory", "4", "--microbatches-per-interval", "2"]),
        ("block_fused", &["block", V_MODEL, "--fused"]),
        ("block_recompute_without_a_checkpoint", &["block", V_MODEL, "--recompute"]),
        ("frontier", &["frontier", V_MODEL]),
        ("frontier_to_a_file_that_is_no_drawing", &["frontier", V_MODEL, "-o", "frontier.png"]),
        ("block_of_a_family", &["block", FAMILY, "--devices", "4"]),
        ("render", &["render", SCHEDULE, "--model", MODEL]),
        ("unknown_schedule", &["compare", MODEL, "--schedules", "2f2b"]),
        ("no_such_file", &["verify", "no-such-file.json"]),
        ("model_for_a_schedule", &["verify", MODEL]),
        ("schedule_for_a_model", &["verify", SCHEDULE, "--model", SCHEDULE]),
        ("memory_that_is_none", &["verify", SCHEDULE, "--memory", "half"]),
    ] {
        insta::assert_snapshot!(name, tool(arguments).transcript());
    }
}

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
    insta::assert_snapshot!("prove", without_times(&run.transcript()));
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
    insta::assert_json_snapshot!("prove_counterexample", collisions["counterexample"]);
}

#[test]
fn the_witness_of_squeezed_orders_is_checked_by_itself_and_an_altered_one_is_rejected() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().to_str().expect("a plain path");
    let run = tool(&["prove", "models/blocks/1f1b.toml", "--emit", path, "--json"]);
    let theorems = run.json()["theorems"].as_array().expect("a list").clone();
    let squeezed = theorems.iter().find(|theorem| theorem["name"] == "1f1b.period").expect("it is derived");
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
    insta::assert_snapshot!("check_witness", format!("{}\n{}", checked.transcript(), rejected.transcript()));
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
    insta::assert_snapshot!("verify_every_m", transcripts);
}

#[test]
fn traces_are_reported_with_stable_keys() {
    let run = tool(&["trace", "compare", CONTENDED, "--contention", "--gaps", "--json"]);
    assert_eq!(run.status, 0, "{}", run.err);
    let answer = run.json();
    let trace = &answer["traces"][0];
    assert_keys(
        trace,
        &[
            "file",
            "schedule",
            "origin",
            "machine",
            "devices",
            "microbatches",
            "iterations",
            "absent",
            "basis",
            "in_sample",
            "as_declared",
            "findings",
            "early",
            "makespan",
            "bubble_rate",
            "peak_memory",
            "durations",
            "starts",
            "with_measured_durations",
            "terms",
            "clocks",
        ],
    );
    assert_keys(&trace["makespan"], &["measured", "predicted", "error"]);
    assert_keys(&trace["starts"], &["signed", "median", "p90", "median_share", "p90_share", "worst"]);
    assert_keys(&trace["terms"], &["gaps", "rates", "variants"]);
    assert_eq!((trace["in_sample"].as_bool(), trace["basis"].as_str()), (Some(true), Some("itself")));

    // Runs of the same schedule predict each other.
    let folder = unpacked("cpu");
    let run = |run: u32| folder.path().join(format!("1f1b-d2-m16-small-{run}.json")).display().to_string();
    let several = tool(&["trace", "compare", &run(1), &run(2), "--json"]).json();
    assert_eq!(several["traces"][1]["basis"], "other-runs");
    assert_keys(&several, &["holds", "traces", "makespan_errors"]);

    // A model fitted to the trace itself is never passed off as another one.
    let own = tool(&["trace", "compare", CONTENDED, "--fit", CONTENDED, "--json"]).json();
    assert_eq!(
        (own["traces"][0]["basis"].as_str(), own["traces"][0]["in_sample"].as_bool()),
        (Some("fit"), Some(true))
    );

    let found = tool(&["trace", "compare", DISORDERED, "--json"]).json();
    assert_keys(&found["traces"][0]["findings"][0], &["rule", "iteration", "device", "pass", "message"]);
    assert_keys(&found["traces"][0]["early"][0], &["iteration", "pass", "needs", "by"]);

    let profile = tool(&["trace", "profile", TRACE, "--json"]).json();
    assert_keys(
        &profile,
        &["name", "source", "origin", "durations", "latencies", "memory", "notes", "model"],
    );
    assert_keys(
        &profile["durations"][0],
        &["stage", "kind", "count", "median", "deviation", "least", "most"],
    );
    assert_keys(&profile["latencies"][0], &["after_stage", "latency", "method", "spread"]);
}

#[test]
fn every_command_says_what_it_does_and_how_it_is_used() {
    for command in [
        "",
        "optimize",
        "block",
        "frontier",
        "prove",
        "regress",
        "explain",
        "verify",
        "check",
        "certify",
        "replay",
        "compare",
        "render",
        "convert",
        "trace",
        "trace profile",
        "trace compare",
        "completions",
    ] {
        let arguments: Vec<&str> = command.split_whitespace().chain(["--help"]).collect();
        let run = tool(&arguments);
        assert_eq!((run.status, run.err.as_str()), (0, ""), "{command}");
        assert!(run.out.lines().all(|line| line.chars().count() <= 100), "{command} is too wide");
        insta::assert_snapshot!(format!("help_{}", command.replace(' ', "_")), run.out);
    }
}

#[derive(serde::Deserialize)]
struct Index {
    file: Vec<Entry>,
}

/// An entry of the index of invalid files; `tests/files/corpus.rs` reads the rest of it.
#[derive(serde::Deserialize)]
struct Entry {
    file: String,
    why: String,
    status: i32,
    model: Option<String>,
}

#[test]
fn every_invalid_file_is_refused_with_its_status_and_a_located_message() {
    let folder = "tests/corpus/invalid";
    let index = std::fs::read_to_string(format!("{folder}/INDEX.toml")).expect("an index");
    let mut messages = String::new();
    for Entry { file, why, status, model } in toml::from_str::<Index>(&index).expect("its form").file {
        let path = format!("{folder}/{file}");
        let model = model.map(|model| format!("{folder}/{model}"));
        let arguments: Vec<&str> = match &model {
            _ if Path::new(&file).extension() == Some("toml".as_ref()) => {
                vec!["compare", &path, "--schedules", "gpipe"]
            }
            Some(model) => vec!["verify", &path, "--model", model],
            None => vec!["verify", &path],
        };
        let run = tool(&arguments);
        assert_eq!(run.status, status, "{file}: {}", run.transcript());
        assert!(!run.err.contains("panicked"), "{file}: {}", run.err);
        let text = if status == 2 { &run.err } else { &run.out };
        assert!(!text.is_empty(), "{file}");
        writeln!(messages, "{file}: {why}\n{text}").expect("a string takes everything");
    }
    insta::assert_snapshot!("invalid_corpus", messages);
}

/// Messages for single mistakes in files, all in one snapshot.
#[test]
fn mistakes_in_files_are_shown_where_they_are() {
    let model = std::fs::read_to_string(MODEL).expect("readable");
    let schedule = std::fs::read_to_string(SCHEDULE).expect("readable");
    let one_line =
        schedule.replace('\n', "").replace("[[0], [1]]", &format!("[[0], [{}1, 1]]", " ".repeat(3000)));
    let mut messages = String::new();
    for (text, from, to) in [
        (&model, "forward = 3", "forwards = 3"),
        (&model, "forward = 3\n", ""),
        (&model, "forward = 3", "forward = 3.5"),
        (&model, "forward = 3", "forward = [3, 3, 3]"),
        (&model, "capacity = 2", "capacity = -2"),
        (&model, "devices = 2", "devices = 2 2"),
        (&model, "\"linear\"", "\"zigzag\""),
        (&schedule, "\"0F0\"", "\"0X0\""),
        (&schedule, "-1\"", "-9\""),
        (&schedule, "[[0], [1]]", "[[0], [0]]"),
        (&schedule, "[[0], [1]]", "[[0], [1], [2]]"),
        (&schedule, "\"microbatches\": 2", "\"microbatches\": 0"),
        (&schedule, "\"orders\": [", "\"orders\": [}"),
        (&schedule, "{", ""),
        (&one_line, "\"0F0\"", "\"0Fé\""),
        (&one_line, "", ""),
    ] {
        let wrong = text.replacen(from, to, 1);
        let is_model = std::ptr::eq(text, &raw const model);
        let arguments = if is_model { ["compare", "-"] } else { ["verify", "-"] };
        let run = tool_with_input(&arguments, &wrong);
        assert_eq!(run.status, 2, "{from} -> {to}: {}", run.transcript());
        assert!(run.err.lines().all(|line| line.chars().count() <= 200), "{}", run.err);
        writeln!(messages, "`{from}` -> `{to}`\n{}", run.err).expect("a string takes everything");
    }
    insta::assert_snapshot!(messages);
}
