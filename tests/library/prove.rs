//! The theorems of block families: those that are shipped, and those that nobody prepared.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bubbleproof::block::family::{self, Family, SHIPPED};
use bubbleproof::prove::{Judgement, Verdict, prove};
use bubbleproof::stop::Stop;
use serde::Deserialize;

/// Far more than any theorem here takes.
const LIMIT: Duration = Duration::from_secs(120);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Index {
    file: Vec<Entry>,
}

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

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/families")
}

fn decide(family: &Family) -> Vec<Judgement> {
    prove(family, &Stop::default(), LIMIT, |_| ()).unwrap_or_else(|error| panic!("{}: {error}", family.name))
}

#[test]
fn every_shipped_family_is_proved_completely() {
    for (name, _) in SHIPPED {
        let family = family::shipped(name).expect("it is shipped");
        for Judgement { theorem, verdict, .. } in decide(&family) {
            assert_eq!(verdict, Verdict::Proved, "{}: {}", theorem.name, theorem.statement);
        }
    }
}

#[test]
fn the_families_of_the_corpus_are_judged_as_its_index_says() {
    let text = fs::read_to_string(folder().join("INDEX.toml")).expect("an index");
    let entries = toml::from_str::<Index>(&text).expect("the form of an index").file;
    let listed: BTreeSet<String> = entries.iter().map(|entry| entry.file.clone()).collect();
    let there: BTreeSet<String> = fs::read_dir(folder())
        .expect("a folder")
        .map(|file| file.expect("a file").file_name().into_string().expect("a plain name"))
        .filter(|file| file != "INDEX.toml")
        .collect();
    assert_eq!(listed, there);
    for Entry { file, about, refuted } in entries {
        let text = fs::read_to_string(folder().join(&file)).expect("a file");
        let family = family::parse(&text).unwrap_or_else(|error| panic!("{file}: {error}"));
        let mut found = Vec::new();
        for Judgement { theorem, verdict, .. } in decide(&family) {
            match verdict {
                Verdict::Proved => {}
                Verdict::Refuted(counterexample) => {
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
                Verdict::Unknown(reason) => panic!("{}: {reason}", theorem.name),
            }
        }
        assert_eq!(found, refuted, "{file}: {about}");
    }
}

#[test]
fn the_waits_of_w_are_known_exactly() {
    let waits = |text: &str| -> Vec<String> {
        let family = family::parse(text).expect("a family");
        let said = decide(&family).into_iter().filter(|judgement| judgement.verdict == Verdict::Proved);
        said.map(|judgement| judgement.theorem.statement)
            .filter(|said| said.contains("ticks after its I"))
            .collect()
    };
    let (_, v_min) = SHIPPED.into_iter().find(|(name, _)| *name == "v-min").expect("it is shipped");
    let late = fs::read_to_string(folder().join("late-wait.toml")).expect("a file");
    insta::assert_snapshot!([waits(v_min), waits(&late)].concat().join("\n"));
}
