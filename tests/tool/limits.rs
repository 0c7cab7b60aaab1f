//! Limits that limit: of time, of memory, of what is read. Nothing here is timed but for what hangs: the tool is told
//! to be done within a second or two, and killed only when it has not ended after minutes.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use assert_cmd::cargo::cargo_bin;
use serde_json::Value;

/// Whoever has not ended by then hangs. Builds without optimisation on busy machines are slow.
const HANGS: Duration = Duration::from_secs(120);

/// What the tool says; it is killed where it hangs.
fn run(command: &mut Command) -> Output {
    let mut tool = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the tool starts");
    let pipes = (tool.stdout.take().expect("a pipe"), tool.stderr.take().expect("a pipe"));
    let read = |mut pipe: Box<dyn std::io::Read + Send>| {
        thread::spawn(move || {
            let mut bytes = Vec::new();
            pipe.read_to_end(&mut bytes).map(|_| bytes)
        })
    };
    let (stdout, stderr) = (read(Box::new(pipes.0)), read(Box::new(pipes.1)));
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = tool.try_wait().expect("a child") {
            break status;
        }
        if begun.elapsed() > HANGS {
            tool.kill().expect("it is still there");
            panic!("it hangs: {command:?}");
        }
        thread::sleep(Duration::from_millis(10));
    };
    let text =
        |pipe: thread::JoinHandle<std::io::Result<Vec<u8>>>| pipe.join().expect("it reads").expect("a pipe");
    Output { status, stdout: text(stdout), stderr: text(stderr) }
}

fn tool(arguments: &str) -> Output {
    run(Command::new(cargo_bin("bubbleproof")).args(arguments.split(' ')))
}

fn object(output: &Output) -> Value {
    let errors = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {errors}"))
}

/// What the tool says once it has had time enough to say what is asked for: so many seconds at first, and twice as many each time,
/// since machines are fast and slow.
fn tool_with_time(arguments: &str, seconds: u64, says: impl Fn(&Output) -> bool) -> Output {
    let mut limit = seconds;
    loop {
        let told = tool(&format!("{arguments} --time-limit {limit} --json"));
        if says(&told) || 2 * limit > HANGS.as_secs() {
            return told;
        }
        limit *= 2;
    }
}

#[test]
fn a_good_named_schedule_is_the_first_answer_that_there_is() {
    // One microbatch after the other, V placement with 256 devices takes 3 * 512 * 96 = 147456 ticks.
    for (model, size) in [
        ("unit-v", "--devices 256 --microbatches 96"),
        ("unit-v", "--devices 96 --microbatches 256 --memory 50%"),
        ("unit-linear", "--devices 256 --microbatches 96"),
        ("unit-linear", "--devices 96 --microbatches 256 --memory 50%"),
        ("unit-looped", "--devices 128 --microbatches 96"),
    ] {
        let arguments = format!("optimize models/profiles/{model}.toml {size}");
        let told = tool_with_time(&arguments, 3, |told| told.status.code() != Some(3));
        assert_eq!(told.status.code(), Some(0), "{model} {size}: {}", String::from_utf8_lossy(&told.stderr));
        let told = object(&told);
        assert_ne!(told["engine"], "serial", "{model} {size}");
        let (found, bound) = (told["makespan"].as_i64(), told["lower_bound"].as_i64());
        assert!(found < bound.map(|bound| 4 * bound), "{model} {size}: {found:?}, {bound:?}");
    }
    // Where there is no time at all, there is a named schedule within the time that a command may be late, or nothing.
    let told =
        tool("optimize models/profiles/unit-v.toml --devices 16 --microbatches 48 --time-limit 0.001 --json");
    assert!([Some(0), Some(3)].contains(&told.status.code()), "{:?}", told.status);
    assert_ne!(object(&told)["engine"], "serial");
}

#[test]
fn every_command_with_a_time_limit_ends_at_huge_sizes() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().display();
    for (command, statuses) in [
        ("optimize models/profiles/unit-linear.toml --devices 2048", &[0][..]),
        ("optimize models/profiles/unit-v.toml --devices 1024", &[0]),
        ("optimize models/profiles/unit-linear.toml --devices 1000000", &[2]),
        ("optimize models/profiles/unit-v.toml --devices 64 --microbatches 4096 --memory 40%", &[0, 2, 3]),
        ("compare models/profiles/unit-linear.toml --devices 128 --microbatches 256", &[0, 3]),
        ("compare models/profiles/unit-v.toml --devices 1000000", &[2]),
        ("explain models/profiles/unit-v.toml --devices 256 --memory 40%", &[0, 3]),
        ("explain models/profiles/unit-linear.toml --devices 1000000", &[2]),
        ("frontier models/profiles/unit-linear.toml --devices 1000000", &[2, 3]),
        ("frontier models/profiles/unit-v.toml --devices 256", &[0, 3]),
        ("frontier models/profiles/unit-v.toml --devices 256 --whole", &[0, 3]),
        ("frontier models/profiles/unit-linear.toml --devices 1000000 --whole", &[2]),
        ("frontier models/profiles/unit-looped.toml --devices 128", &[0, 3]),
        ("block models/profiles/unit-v.toml --devices 100000 --memory 60%", &[2, 3]),
        (&format!("certify models/profiles/unit-v.toml --devices 512 -o {place}"), &[2, 3]),
        ("verify models/blocks/v-half.toml --devices 2000 --every-m", &[3]),
        ("block models/profiles/unit-linear.toml --devices 4096", &[0, 3]),
        ("prove models/blocks/v-min.toml models/blocks/v-half.toml --library", &[0, 3]),
        ("regress models/regress --no-cache", &[0, 3]),
        (
            "convert models/profiles/unit-linear.toml --schedule zb-2p --devices 256 --microbatches 512 -o - --to json",
            &[0, 2, 3],
        ),
    ] {
        let told = tool(&format!("{command} --time-limit 1"));
        let status = told.status.code().expect("nothing has killed it");
        let errors = String::from_utf8_lossy(&told.stderr);
        assert!(statuses.contains(&status), "{command}: {status}: {errors}");
        assert!(!told.stdout.is_empty() || !errors.is_empty(), "{command} says nothing");
    }
}

#[test]
fn a_family_with_a_huge_interval_is_given_up_in_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("family.toml");
    let family = fs::read_to_string("models/blocks/interleaved-1f1b-4.toml").expect("a family");
    for interval in ["360", "1000000"] {
        let lines = family.lines().map(|line| match line {
            line if line.starts_with("interval") => format!("interval = {interval}\n"),
            line if line.starts_with("promise") => "promise = [\"bubble >= 0\"]\n".to_owned(),
            line if line.starts_with("    \"") => String::new(),
            line => format!("{line}\n"),
        });
        fs::write(&path, lines.collect::<String>()).expect("written");
        let told = tool_with_time(&format!("prove {}", path.display()), 1, |told| {
            object(told)["theorems"].is_array()
        });
        assert!([Some(0), Some(1), Some(3)].contains(&told.status.code()), "{:?}", told.status);
        assert!(object(&told)["theorems"].is_array());
    }
}

#[test]
fn the_nearest_orders_of_thousands_of_devices_that_wait_for_each_other_are_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("stuck.json");
    let devices = 8000;
    let order = |device: u32| {
        let turns = if device.is_multiple_of(2) { [0, 1] } else { [1, 0] };
        let passes = turns
            .iter()
            .flat_map(|microbatch| ["F", "I", "W"].map(|kind| format!("\"{device}{kind}{microbatch}\"")));
        format!("[{}]", passes.collect::<Vec<_>>().join(","))
    };
    let list = |of: &dyn Fn(u32) -> String| (0..devices).map(of).collect::<Vec<_>>().join(",");
    let (placement, orders) = (list(&|device| format!("[{device}]")), list(&order));
    let text = format!(
        "{{\"format\":\"bubbleproof-schedule-1\",\"placement\":[{placement}],\"microbatches\":2,\"orders\":[{orders}]}}"
    );
    fs::write(&path, text).expect("written");
    let told = tool(&format!("verify {} --json", path.display()));
    assert_eq!(told.status.code(), Some(1));
    assert_eq!(object(&told)["valid"], false);
    let mended = folder.path().join("mended.json");
    let told = tool(&format!("convert {} --nearest -o {}", path.display(), mended.display()));
    assert_eq!(told.status.code(), Some(0), "{}", String::from_utf8_lossy(&told.stderr));
    assert_eq!(tool(&format!("verify {}", mended.display())).status.code(), Some(0));
}

#[test]
fn the_rows_that_were_made_are_shown_when_the_time_is_over() {
    let told = tool(
        "compare models/profiles/unit-linear.toml --schedules zb-1p,1f1b --devices 128 --microbatches 1024 --time-limit 0.5 --json",
    );
    let comparison = object(&told);
    let names = |of: &Value, key: Option<&str>| -> Vec<String> {
        let list = of.as_array().map_or(&[][..], Vec::as_slice);
        let name = |one: &Value| key.map_or(one, |key| &one[key]).as_str().expect("a name").to_owned();
        list.iter().map(name).collect()
    };
    let (rows, missing) =
        (names(&comparison["schedules"], Some("name")), names(&comparison["missing"], None));
    assert!(rows.contains(&"1f1b".to_owned()), "{comparison}");
    assert_eq!(rows.len() + missing.len(), 2, "{comparison}");
    assert!(comparison["notes"].to_string().contains("the time limit was reached"), "{comparison}");
    assert_eq!(told.status.code(), Some(if missing.is_empty() { 0 } else { 3 }));
}

#[cfg(unix)]
mod memory {
    use super::*;

    /// The tool with so many KiB of address space.
    fn within(limit: u64, arguments: &str) -> Output {
        let tool = cargo_bin("bubbleproof");
        run(Command::new("sh")
            .args(["-c", &format!("ulimit -v {limit}; exec \"$0\" \"$@\"")])
            .arg(tool)
            .args(arguments.split(' ')))
    }

    #[test]
    fn too_many_microbatches_are_refused_with_an_estimate_before_the_work() {
        for command in ["optimize", "compare", "explain", "convert --schedule 1f1b -o - --to json"] {
            let told = within(
                3 << 20,
                &format!("{command} models/profiles/unit-linear.toml --devices 2 --microbatches 100000000"),
            );
            let errors = String::from_utf8_lossy(&told.stderr);
            assert_eq!(told.status.code(), Some(2), "{command}: {errors}");
            let words: Vec<&str> = errors.split_whitespace().filter(|&word| word != "|").collect();
            let errors = words.join(" ");
            assert!(errors.contains("600000000 passes, which take about"), "{errors}");
            assert!(errors.contains("microbatches would fit"), "{errors}");
        }
    }

    #[test]
    fn a_latency_of_the_wrong_unit_ends_no_command_for_want_of_memory() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("model.toml");
        let place = folder.path().display();
        for model in ["uneven-342", "uneven-342-linear", "unit-looped"] {
            let text = fs::read_to_string(Path::new("models/profiles").join(format!("{model}.toml")));
            for latency in ["1000000", "100000000"] {
                let text = text.as_ref().expect("a model").lines().map(|line| {
                    if line.starts_with("communication") {
                        format!("communication = {latency}\n")
                    } else {
                        format!("{line}\n")
                    }
                });
                fs::write(&path, text.collect::<String>()).expect("written");
                for command in [
                    "optimize",
                    "compare",
                    "explain --memory 50%",
                    "block",
                    "frontier",
                    &format!("certify -o {place}"),
                ] {
                    let told = within(3 << 20, &format!("{command} {} --time-limit 1", path.display()));
                    let status = told.status.code();
                    let errors = String::from_utf8_lossy(&told.stderr);
                    assert!(
                        matches!(status, Some(0..=3)),
                        "{command}, {model}, {latency}: {status:?}: {errors}"
                    );
                }
            }
        }
    }

    #[test]
    fn endless_inputs_are_given_up_at_a_size_that_the_error_names() {
        for command in ["verify", "replay", "render", "check", "optimize", "prove"] {
            let told = tool(&format!("{command} /dev/zero"));
            let errors = String::from_utf8_lossy(&told.stderr);
            assert_eq!(told.status.code(), Some(2), "{command}: {errors}");
            assert!(errors.contains("is larger than 1024 MiB"), "{command}: {errors}");
        }
        // With less memory than that, there is an error as well.
        assert_eq!(within(1 << 19, "verify /dev/zero").status.code(), Some(2));
    }

    #[test]
    fn a_pipe_that_never_ends_is_given_up() {
        let mut tool = Command::new(cargo_bin("bubbleproof"))
            .args(["verify", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the tool starts");
        let mut pipe = tool.stdin.take().expect("a pipe");
        let block = vec![b' '; 1 << 20];
        // It closes its end when it has read enough.
        while pipe.write_all(&block).is_ok() {}
        drop(pipe);
        let told = tool.wait_with_output().expect("it ends");
        assert_eq!(told.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&told.stderr).contains("1024 MiB"));
    }
}
