//! Signals while the tool works: what has been found so far is kept, printed and written.
#![cfg(unix)]

use std::fs;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use assert_cmd::cargo::cargo_bin;
use bubbleproof::model::{self, Units};
use bubbleproof::replay::replay;
use bubbleproof::schedule;

/// Long before the work would end by itself, and long after it has begun.
const MEANWHILE: Duration = Duration::from_secs(2);

/// Whoever has not ended by then hangs.
const HANGS: Duration = Duration::from_secs(120);

const MODEL: &str = "models/profiles/uneven-342.toml";

/// What ends a program, by the name that `kill` knows and the exit status of whoever it ends.
const SIGNALS: [(&str, i32); 3] = [("INT", 130), ("TERM", 143), ("HUP", 129)];

fn started(arguments: &[&str]) -> Child {
    let tool = Command::new(cargo_bin("bubbleproof"))
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the tool starts");
    // Once it is caught, a signal is no longer the end of the program.
    let begun = Instant::now();
    while !catches_signals(&tool) && begun.elapsed() < HANGS {
        thread::sleep(Duration::from_millis(20));
    }
    thread::sleep(MEANWHILE);
    tool
}

/// Whether a handler is there for SIGTERM, as far as the system says so.
fn catches_signals(tool: &Child) -> bool {
    let Ok(status) = fs::read_to_string(format!("/proc/{}/status", tool.id())) else { return true };
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    caught.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok()).is_some_and(|bits| bits >> 14 & 1 == 1)
}

fn send(tool: &Child, signal: &str) {
    let killed = Command::new("kill").args([&format!("-{signal}"), &tool.id().to_string()]).status();
    assert!(killed.expect("kill runs").success(), "the work is still going on");
}

/// What the tool has said when it has ended; it is killed where it hangs.
fn ended(mut tool: Child) -> Output {
    let begun = Instant::now();
    let id = tool.id().to_string();
    let watch = thread::spawn(move || {
        while begun.elapsed() < HANGS {
            if fs::metadata(format!("/proc/{id}/exe")).is_err() {
                return;
            }
            thread::sleep(Duration::from_millis(50));
        }
        _ = Command::new("kill").args(["-KILL", &id]).status();
    });
    _ = tool.stdin.take();
    let output = tool.wait_with_output().expect("the tool ends");
    watch.join().expect("it only waits");
    assert!(output.status.code().is_some(), "it hangs: {}", String::from_utf8_lossy(&output.stderr));
    output
}

/// What the tool says after a signal.
fn interrupted_by(tool: Child, signal: &str) -> Output {
    send(&tool, signal);
    let output = ended(tool);
    assert!(String::from_utf8_lossy(&output.stderr).contains("interrupted"));
    output
}

#[test]
fn an_interrupted_search_writes_the_best_schedule_found_so_far() {
    for (signal, _) in SIGNALS {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("schedule.json");
        let place = file.to_str().expect("a plain name");
        let size = ["--devices", "16", "--microbatches", "200", "--memory", "12"];
        let mut arguments = vec!["optimize", MODEL, "--time-limit", "600", "--json", "-o", place];
        arguments.extend(size);
        let tool = started(&arguments);
        assert!(!file.exists(), "nothing is written while the search goes on");
        let output = interrupted_by(tool, signal);
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));

        let written =
            schedule::parse(&fs::read_to_string(&file).expect("the file is there")).expect("a schedule");
        let model = model::parse(&fs::read_to_string(MODEL).expect("the model is there")).expect("a model");
        let model = model.resized(16).and_then(|model| model.with_microbatches(200)).expect("a size");
        let model = model.with_uniform_activation_capacity(Some(Units(12))).expect("a capacity");
        let verdict = replay(&model, &written);
        assert!(verdict.is_valid(), "{:?}", verdict.violations);
        let told: serde_json::Value = serde_json::from_slice(&output.stdout).expect("an object");
        let makespan = verdict.timing.expect("it runs").metrics.makespan;
        assert_eq!(told["makespan"], makespan.0);
    }
}

#[test]
fn an_interrupted_comparison_shows_the_rows_that_it_has_and_names_the_others() {
    for (signal, _) in SIGNALS {
        let tool = started(&[
            "compare",
            "models/profiles/unit-linear.toml",
            "--schedules",
            "zb-2p,optimized,gpipe",
            "--time-limit",
            "6000",
            "--json",
            "--devices",
            "160",
            "--microbatches",
            "800",
        ]);
        let output = interrupted_by(tool, signal);
        let told: serde_json::Value = serde_json::from_slice(&output.stdout).expect("an object");
        let rows: Vec<&str> = told["schedules"]
            .as_array()
            .expect("rows")
            .iter()
            .map(|row| row["name"].as_str().expect("a name"))
            .collect();
        assert!(rows.contains(&"gpipe"), "{told}");
        let missing: Vec<&str> = told["missing"]
            .as_array()
            .expect("names")
            .iter()
            .map(|name| name.as_str().expect("a name"))
            .collect();
        assert_eq!(rows.len() + missing.len(), 3, "{told}");
        assert!(missing.contains(&"optimized"), "{told}");
        assert_eq!(output.status.code(), Some(3), "rows are missing");
        let noted = told["notes"].to_string();
        assert!(noted.contains("the comparison was interrupted: missing: "), "{noted}");
        assert!(rows.len() == 3 || missing.iter().all(|name| noted.contains(name)), "{noted}");
    }
}

#[test]
fn an_interrupted_comparison_shows_the_best_schedule_found_so_far() {
    let tool = started(&[
        "compare",
        MODEL,
        "--schedules",
        "optimized",
        "--time-limit",
        "600",
        "--json",
        "--devices",
        "16",
        "--microbatches",
        "200",
        "--memory",
        "12",
    ]);
    let output = interrupted_by(tool, "INT");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).expect("an object");
    assert_eq!(told["schedules"][0]["valid"], true);
    assert!(told["missing"].is_null(), "{told}");
}

#[test]
fn an_interrupted_plan_keeps_the_best_one_with_its_certificate() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().to_str().expect("a plain name");
    let job = "models/jobs/llama-32.toml";
    let output = interrupted_by(started(&["plan", job, "--time-limit", "600", "--json", "-o", place]), "INT");
    let noted = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{noted}");
    assert!(noted.contains("note: the search was cut short"), "{noted}");
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).expect("an object");
    let best = told["alternatives"][0]["makespan"].as_i64().expect("a plan");
    assert_eq!(told["complete"], false);
    assert!(told["lower_bound"].as_i64().is_some_and(|bound| 0 < bound && bound <= best), "{told}");
    let schedule = format!("{place}/schedule.json");
    let checked = Command::new(cargo_bin("bubbleproof")).args(["check", &schedule, "--model", job]).output();
    let checked = checked.expect("the tool starts");
    assert!(
        String::from_utf8_lossy(&checked.stdout).contains("no plan with any of the 2 choices"),
        "{checked:?}"
    );
}

#[test]
fn every_long_command_ends_with_an_answer_when_it_is_asked_to_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().to_str().expect("a plain name");
    let large = ["--devices", "48", "--microbatches", "300", "--time-limit", "6000", "--json"];
    let commands: [(&[&str], &[i32]); 5] = [
        (&["explain", MODEL, "--memory", "40%"], &[0]),
        (&["certify", "models/profiles/unit-linear.toml", "-o", place], &[2, 3]),
        (&["frontier", MODEL], &[0, 3]),
        (&["frontier", MODEL, "--whole"], &[0, 3]),
        (
            &[
                "convert",
                "models/profiles/unit-linear.toml",
                "--schedule",
                "zb-2p",
                "-o",
                "/dev/null",
                "--to",
                "json",
            ],
            &[0],
        ),
    ];
    for (at, (command, statuses)) in commands.into_iter().enumerate() {
        let mut arguments = command.to_vec();
        arguments.extend(large);
        let mut tool = started(&arguments);
        let (signal, _) = SIGNALS[at % SIGNALS.len()];
        // One that has ended by itself has an answer, too.
        if tool.try_wait().expect("a child").is_none() {
            send(&tool, signal);
        }
        let output = ended(tool);
        let status = output.status.code().expect("it has ended by itself");
        assert!(
            statuses.contains(&status),
            "{command:?}: {status}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        let told: serde_json::Value = serde_json::from_slice(&output.stdout).expect("an object");
        assert!(told.is_object(), "{command:?}");
    }
}

/// A terminal that closes sends SIGHUP twice, and a service manager may send SIGTERM with it.
#[test]
fn several_signals_of_one_event_keep_the_result() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("kept.json");
    let result = path.to_str().expect("a name");
    for signals in [&["TERM", "HUP"][..], &["HUP", "HUP"], &["HUP", "TERM", "TERM"]] {
        let tool = started(&[
            "optimize",
            MODEL,
            "--time-limit",
            "600",
            "--devices",
            "16",
            "--memory",
            "12",
            "-o",
            result,
        ]);
        // Stopped, it meets them all at once when it goes on.
        send(&tool, "STOP");
        for signal in signals {
            send(&tool, signal);
        }
        send(&tool, "CONT");
        let output = ended(tool);
        assert_eq!(output.status.code(), Some(0), "{signals:?}: {}", String::from_utf8_lossy(&output.stderr));
        let text = fs::read_to_string(&path).expect("it is written");
        assert!(schedule::parse(&text).is_ok(), "{signals:?}");
        fs::remove_file(&path).expect("it is there");
    }
}

#[test]
fn ctrl_c_after_another_signal_ends_the_program_at_once() {
    let tool = started(&["optimize", MODEL, "--time-limit", "600", "--devices", "16", "--memory", "12"]);
    // Stopped, it meets both at once when it goes on, SIGHUP first.
    send(&tool, "STOP");
    send(&tool, "INT");
    send(&tool, "HUP");
    send(&tool, "CONT");
    let output = ended(tool);
    assert_eq!(output.status.code(), Some(130));
    assert!(output.stdout.is_empty(), "nothing is printed");
}

#[cfg(target_os = "linux")]
#[test]
fn a_signal_that_whoever_started_the_tool_wants_ignored_is_ignored() {
    let mut tool = Command::new("sh")
        .args(["-c", "trap '' HUP; exec \"$0\" \"$@\""])
        .arg(cargo_bin("bubbleproof"))
        .args(["optimize", MODEL, "--time-limit", "8", "--json", "--devices", "16", "--microbatches", "200"])
        .args(["--memory", "12"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a shell");
    thread::sleep(MEANWHILE);
    send(&tool, "HUP");
    thread::sleep(Duration::from_millis(500));
    assert!(tool.try_wait().expect("a child").is_none(), "the search goes on");
    let output = ended(tool);
    assert_eq!(output.status.code(), Some(0));
    assert!(!String::from_utf8_lossy(&output.stderr).contains("interrupted"));
}

#[cfg(feature = "milp")]
#[test]
fn an_integer_program_is_left_to_itself_when_interrupted() {
    let tool = started(&[
        "block",
        MODEL,
        "--devices",
        "16",
        "--microbatches-per-interval",
        "3",
        "--engine",
        "milp",
        "--time-limit",
        "600",
        "--json",
    ]);
    let output = interrupted_by(tool, "TERM");
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).expect("an object");
    assert_eq!(told["reason"], "milp was interrupted before it found a block, or that there is none");
}
