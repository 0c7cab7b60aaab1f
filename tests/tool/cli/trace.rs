//! `trace`: runs that were measured.

use super::{CONTENDED, DISORDERED, TRACE, assert_keys, tool};
use crate::traces::measured::unpacked;

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
            "activation_peak",
            "typical_iteration",
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

/// Traces have no weights, so what is gathered counts in no figure: neither its time nor its memory is left out in silence.
#[test]
fn models_with_sharded_weights_are_refused_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("sharded.toml");
    let run = tool(&["trace", "profile", CONTENDED, "-o", &path.display().to_string()]);
    assert_eq!(run.status, 0, "{}", run.err);
    let text = std::fs::read_to_string(&path).expect("a model");
    for sharding in ["gather = 1\n", "gathered = 1\n"] {
        std::fs::write(&path, format!("{text}\n[sharding]\n{sharding}")).expect("a model");
        let run = tool(&["trace", "compare", CONTENDED, "--model", &path.display().to_string()]);
        assert_eq!(run.status, 2, "{}", run.out);
        assert!(run.err.contains("has [sharding], which this command does not know"), "{}", run.err);
    }
}
