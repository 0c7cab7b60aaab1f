//! The tool as its users meet it: what it prints, and with which exit status it ends.
//!
//! Human output, JSON objects and help are snapshots; the keys that other programs rely on are also
//! asserted by name.

mod convert;
mod families;
mod forged;
mod frontier;
mod gap;
mod jobs;
mod levels;
mod memory;
mod mistakes;
mod optimized;
mod parts;
mod prove;
mod ranges;
mod render;
mod search;
#[cfg(feature = "store")]
mod store;
mod sweep;
mod trace;
mod units;
mod verify;

use assert_cmd::Command;
use serde_json::Value;

const MODEL: &str = "tests/data/cli/two-devices.toml";
const JOB: &str = "tests/data/cli/job.toml";
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
const DIMENSIONS: &str = "models/transformers/llama-3-8b.toml";
const CERTIFIED: &str = "tests/corpus/certificates/genuine.json";

/// What a run of the tool left behind.
pub struct Run {
    pub status: i32,
    pub out: String,
    pub err: String,
}

pub fn tool(arguments: &[&str]) -> Run {
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
    pub fn json(&self) -> Value {
        assert!(self.out.ends_with('\n'), "one line: {}", self.out);
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}\n{}", self.out, self.err))
    }

    /// Everything at once, for snapshots.
    pub fn transcript(&self) -> String {
        let mut text = self.out.clone();
        if !self.err.is_empty() {
            text += "--- standard error\n";
            text += &self.err;
        }
        format!("{text}--- exit status {}\n", self.status)
    }
}

/// Asserts that a text is as recorded. All records of these tests lie in one folder, whichever file asks.
fn assert_recorded(name: &str, text: &str) {
    insta::assert_snapshot!(name, text);
}

/// Asserts that an object is as recorded.
fn assert_recorded_object(name: &str, object: &Value) {
    insta::assert_json_snapshot!(name, object);
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
    "useful_rate",
    "useful_rate_exact",
    "recomputed_passes",
    "recomputed_stages",
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
        (&["plan", JOB], 0),
        (&["plan", MODEL], 2),
        (&["plan", JOB, "--store", "no-such-folder/results.sqlite"], 2),
        (&["plan", JOB, "--shard", "1/2"], 2),
        (&["certify", "no-such-model.toml"], 2),
        (&["regress", "models/regress", "--no-cache"], 0),
        (&["compare", MODEL], 0),
        (&["compare", MODEL, "--memory", "0"], 1),
        (&["compare", MODEL, "--schedules", "1f1b"], 0),
        (&["compare", MODEL, "--schedules", "v-min"], 1),
        (&["compare", MODEL, "--schedules", "2f2b"], 2),
        (&["trace", "explain", CONTENDED], 0),
        (&["trace", "explain", TRACE, CONTENDED], 2),
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
        (&["estimate", DIMENSIONS, "-o", "-"], 0),
        (&["estimate", MODEL, "-o", "-"], 2),
        (&["optimize", MODEL], 0),
        (&["optimize", MODEL, "--memory", "0"], 1),
        (&["optimize", MODEL, "--memory", "0,1"], 0),
        (&["optimize", MODEL, "--memory", "0", "--microbatches", "2,3"], 1),
        (&["optimize", MODEL, "--memory", "1,2", "--time-limit", "0.000000001"], 3),
        (&["compare", MODEL, "--memory", "0,2"], 0),
        (&["compare", MODEL, "--memory", "0", "--microbatches", "2,3"], 1),
        (&["frontier", V_MODEL, "--devices", "2,3"], 0),
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
        (&["man"], 0),
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
        &["estimate", DIMENSIONS, "-o", "target/tmp/job.toml"],
        &["optimize", MODEL],
        &["optimize", MODEL, "--memory", "0"],
        &["block", FAMILY, "--devices", "4"],
        &["block", V_MODEL],
        &["block", V_MODEL, "--memory", "1"],
        &["frontier", V_MODEL],
        &["frontier", MODEL, "--whole", "--limits", "1"],
        &["prove", REFUTED],
        &["prove", MODEL],
        &["regress", "models/regress", "--no-cache"],
        &["regress", "no-such-directory"],
        &["explain", MODEL],
        &["explain", MODEL, "--memory", "0"],
        &["check", CERTIFIED],
        &["check", SCHEDULE],
        &["convert", SCHEDULE, "-o", "-"],
        &["convert", SCHEDULE, "-o", "target/tmp/run.args", "--to", "torchtitan"],
        &["convert", BROKEN, "-o", "target/tmp/nodes.json", "--to", "sail-sg"],
        &["render", SCHEDULE],
        &["render", BROKEN],
        &["plan", JOB],
        &["plan", MODEL],
        &["plan", JOB, "--store", "no-such-folder/results.sqlite"],
        &["optimize", JOB, "--pipeline", "2", "--placement", "v"],
        &["optimize", JOB],
        &["certify", "no-such-model.toml"],
        &["trace", "profile", TRACE],
        &["trace", "explain", TRACE],
        &["trace", "compare", TRACE],
        &["completions", "zsh"],
        &["man"],
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
fn files_come_from_standard_input_too() {
    let text = std::fs::read_to_string(SCHEDULE).expect("readable");
    assert_eq!(tool_with_input(&["verify", "-"], &text).status, 0);
    assert_eq!(tool_with_input(&["verify", "-"], "{}").status, 2);
}

#[cfg(unix)]
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
        ("compare_models", &["compare", MODEL, V_MODEL, "--schedules", "1f1b,v-half,optimized"]),
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

/// The commands of the tool, by its own help; a command of two words follows its first.
fn commands() -> Vec<String> {
    let listed = |command: &str| -> Vec<String> {
        let arguments: Vec<&str> = command.split_whitespace().chain(["--help"]).collect();
        let help = tool(&arguments).out;
        // The tool itself has groups of commands before its options.
        let lines = help.lines().skip_while(|line| !line.starts_with("Usage:")).skip(1);
        let lines = lines.skip_while(|line| !command.is_empty() && *line != "Commands:");
        let lines = lines.take_while(|line| *line != "Options:" && *line != "Arguments:");
        let names = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
        names.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
    };
    let mut all = Vec::new();
    for name in listed("").into_iter().filter(|name| name != "help") {
        let parts = listed(&name).into_iter().filter(|part| part != "help");
        let parts: Vec<String> = parts.map(|part| format!("{name} {part}")).collect();
        all.push(name);
        all.extend(parts);
    }
    all
}

#[test]
fn every_command_is_in_the_tables_of_these_tests() {
    let commands = commands();
    assert!(commands.iter().any(|command| command == "trace compare"), "{commands:?}");
    let source = include_str!("cli.rs");
    for table in ["the_answer_decides_the_exit_status", "json_is_one_object_whatever_happens"] {
        let body = source.split_once(&format!("fn {table}")).expect("a test").1;
        let body = body.split_once("\n}\n").expect("its end").0;
        for command in commands.iter().filter(|command| *command != "trace") {
            let first = command.split(' ').map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(", ");
            assert!(body.contains(&format!("[{first}")), "add `{command}` to `{table}`");
        }
    }
}

#[test]
fn every_command_says_what_it_does_and_how_it_is_used() {
    for command in [String::new()].into_iter().chain(commands()) {
        let arguments: Vec<&str> = command.split_whitespace().chain(["--help"]).collect();
        let run = tool(&arguments);
        assert_eq!((run.status, run.err.as_str()), (0, ""), "{command}");
        assert!(run.out.lines().all(|line| line.chars().count() <= 100), "{command} is too wide");
        insta::assert_snapshot!(format!("help_{}", command.replace(' ', "_")), run.out);
    }
}

/// No bound on all schedules is as much as blocks of two need here.
#[test]
fn where_a_search_proves_nothing_of_several_microbatches_it_names_the_engines_that_may() {
    let two = ["block", V_MODEL, "--devices", "4", "--memory", "5", "--microbatches-per-interval", "2"];
    let searched = tool(&[&two[..], &["--engine", "search", "--time-limit", "1"]].concat());
    assert!(searched.out.contains("not proved; no schedule"), "{}", searched.out);
    assert!(searched.err.contains("`--engine lcg` or `--engine smt` can decide it"), "{}", searched.err);
    for engine in [&[][..], &["--engine", "lcg"], &["--engine", "smt"]] {
        let proved = tool(&[&two[..], engine].concat());
        assert!(proved.out.contains("40 ticks for 2 microbatches, 20 ticks for each"), "{}", proved.out);
        assert!(proved.out.contains("proved: no block of F, I and W with 2 microbatches"), "{}", proved.out);
        assert_eq!(proved.err, "", "{engine:?}");
    }
}
