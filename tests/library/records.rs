//! The whole catalogue of this repository, against its records.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use bubbleproof::block::family::SHIPPED;
use bubbleproof::catalog;
use bubbleproof::prove::has_solver;
use bubbleproof::regress::{CheckOptions, DesignSource, Severity, Suite};
use bubbleproof::stop::Stop;

fn ours() -> Suite {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/regress");
    Suite::read(&directory).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn the_catalogue_is_exactly_as_it_was_recorded() {
    let options = CheckOptions { cache: None, limit: Duration::from_secs(120), stop: Stop::default() };
    let report = ours().check(&options, &|_| ()).unwrap_or_else(|error| panic!("{error}"));
    let mut told = Vec::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/regress/records");
    for result in &report.results {
        let open = |severity| severity == Severity::Undecided && !has_solver();
        let changes = result.changes.iter().filter(|change| !open(change.severity));
        told.extend(changes.map(|change| {
            format!("{}: {} {}: {}", result.design, change.topic, change.place, change.message)
        }));
        if has_solver() {
            let path = folder.join(format!("{}.record", result.design));
            let recorded = std::fs::read_to_string(path).expect("a record");
            let found = result.found.as_ref().map(ToString::to_string);
            let found = found.expect("what was found");
            let lines = |text: &str| text.lines().map(str::to_owned).collect::<BTreeSet<_>>();
            let (old, new) = (lines(&recorded), lines(&found));
            let of = |sign: char, line: &String| format!("{}: {sign} {line}", result.design);
            told.extend(old.difference(&new).map(|line| of('-', line)));
            told.extend(new.difference(&old).map(|line| of('+', line)));
            told.extend(
                (told.is_empty() && recorded != found).then(|| format!("{}: other order", result.design)),
            );
        }
        if result.kind == Some("family") && !has_solver() {
            assert!(result.undecided > 0, "{}: nothing is proved without a solver in silence", result.design);
        }
    }
    assert!(told.is_empty(), "`make regress` records what is meant:\n{}", told.join("\n"));
    assert!(!report.fails(has_solver()));
}

#[test]
fn every_family_and_every_named_schedule_is_under_regression() {
    let suite = ours();
    let families: BTreeSet<&str> = suite
        .manifest
        .designs
        .iter()
        .filter(|design| matches!(design.subject, DesignSource::Family { .. }))
        .map(|design| design.name.as_str())
        .collect();
    assert_eq!(families, SHIPPED.into_iter().map(|(name, _)| name).collect());
    let records = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/regress/records");
    let texts: String = std::fs::read_dir(records)
        .expect("records")
        .map(|file| std::fs::read_to_string(file.expect("a file").path()).expect("a record"))
        .collect();
    for entry in catalog::entries() {
        // It needs a model that says what a checkpoint holds.
        let recomputes = entry.name == "1f1b-r";
        let is_recorded = texts.contains(&format!("schedule={} ", entry.name));
        assert_eq!(is_recorded, !recomputes, "{}: `make regress` records every named schedule", entry.name);
    }
}
