//! Files that are no traces, and traces of something else than was declared, each with its reason.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use assert_cmd::Command;
use serde::Deserialize;

use crate::index;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    file: String,
    why: String,
    /// The exit status of `trace compare`: 2 where the file is refused, 1 where it did not run as declared.
    status: i32,
    /// The rules that are broken, where the status is 1.
    #[serde(default)]
    rules: BTreeSet<String>,
}

#[test]
fn every_broken_trace_is_refused_or_found_out_for_its_reason() {
    let entries = index::entries("traces", |entry: &Entry| &entry.file);
    let mut report = String::new();
    for Entry { file, why, status, rules } in entries {
        let run = Command::cargo_bin("bubbleproof")
            .expect("the tool is built")
            .args(["trace", "compare", &file, "--json"])
            .current_dir(index::folder("traces"))
            .output()
            .expect("the tool runs");
        assert_eq!(run.status.code(), Some(status), "{file}: {}", String::from_utf8_lossy(&run.stderr));
        let answer: serde_json::Value = serde_json::from_slice(&run.stdout).expect("one object");
        writeln!(report, "{file}: {why}").expect("writing to a string");
        if status == 2 {
            let place = ["line", "column"].map(|key| answer[key].as_u64().unwrap_or_default());
            let message = answer["error"].as_str().expect("a message");
            writeln!(report, "    {}:{}: {message}", place[0], place[1]).expect("writing to a string");
            continue;
        }
        let findings = answer["traces"][0]["findings"].as_array().expect("a list");
        let broken: BTreeSet<String> =
            findings.iter().map(|finding| finding["rule"].as_str().expect("a rule").to_owned()).collect();
        assert_eq!(broken, rules, "{file}");
        let impossible = answer["traces"][0]["not_predicted"].as_str().map(str::to_owned);
        let messages = findings.iter().map(|finding| finding["message"].as_str().unwrap_or("").to_owned());
        for message in messages.chain(impossible) {
            writeln!(report, "    {message}").expect("writing to a string");
        }
    }
    insta::assert_snapshot!("broken", report);
}
