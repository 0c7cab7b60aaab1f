//! What each runtime cannot run, and what is said of it.

use std::fmt::Write as _;

use bubbleproof::catalog;
use bubbleproof::interchange::torchtitan::Release;
use bubbleproof::interchange::{CannotRun, megatron, sail_sg, torchtitan};
use bubbleproof::model::{Model, Placement, Stage};
use bubbleproof::schedule::{self, Schedule};

fn named(name: &str, placement: Placement) -> Schedule {
    let model = Model::unit(placement, 4).expect("a model");
    catalog::find(name).expect("a name").generate(&model).expect("it has the placement")
}

fn written(placement: &str, microbatches: u32, orders: &str) -> Schedule {
    let text = format!(
        "{{\"format\": \"bubbleproof-schedule-1\", \"placement\": {placement}, \"microbatches\": {microbatches}, \
         \"orders\": {orders}}}"
    );
    schedule::parse(&text).expect("a schedule")
}

fn on_sail_sg(schedule: &Schedule) -> Result<(), CannotRun> {
    let model = Model::unit(schedule.placement().clone(), schedule.microbatches()).expect("a model");
    sail_sg::node_lists(&model, schedule).map(drop)
}

#[test]
fn every_runtime_says_plainly_what_it_cannot_run() {
    let linear = || Placement::linear(2).expect("a placement");
    let schedules = [
        ("1f1b", named("1f1b", linear())),
        ("zb-h1", named("zb-h1", linear())),
        ("interleaved", named("interleaved-1f1b", Placement::looped(2, 2).expect("a placement"))),
        ("three chunks", named("interleaved-1f1b", Placement::looped(2, 3).expect("a placement"))),
        ("v-half", named("v-half", Placement::v(2).expect("a placement"))),
        ("overlapped", named("dualpipe-v", Placement::v(2).expect("a placement"))),
        ("two directions", named("chimera", Placement::bidirectional(2).expect("a placement"))),
        (
            "other placement",
            named(
                "gpipe",
                Placement::new(vec![vec![Stage(0), Stage(1)], vec![Stage(2)]]).expect("a placement"),
            ),
        ),
        ("one device", named("1f1b", Placement::linear(1).expect("a placement"))),
        ("recomputing", written("[[0], [1]]", 1, r#"[["0F0", "0R0", "0B0"], ["1F0", "1B0"]]"#)),
        (
            "overtaking",
            written("[[0], [1]]", 2, r#"[["0F1", "0F0", "0B0", "0B1"], ["1F1", "1F0", "1B0", "1B1"]]"#),
        ),
        ("incomplete", written("[[0], [1]]", 1, r#"[["0F0", "0B0"], ["1F0"]]"#)),
        ("deadlocked", written("[[0], [1]]", 1, r#"[["0B0", "0F0"], ["1F0", "1B0"]]"#)),
    ];
    let mut said = String::new();
    for (about, schedule) in &schedules {
        let own = if schedule.placement().chunks() == Some(1) { "1f1b" } else { "interleaved-1f1b" };
        let own = Model::unit(schedule.placement().clone(), schedule.microbatches())
            .ok()
            .and_then(|model| catalog::find(own)?.generate(&model).ok());
        writeln!(said, "{about}").expect("writing to a string");
        for (runtime, outcome) in [
            ("torchtitan", torchtitan::configuration(schedule, None, "a.csv", Release::V0_3).map(drop)),
            ("Megatron-LM", megatron::arguments(schedule, Some(&[3]), own.as_ref()).map(drop)),
            ("sail-sg", on_sail_sg(schedule)),
        ] {
            let outcome = outcome.map_or_else(|error| error.to_string(), |()| "runs".to_owned());
            writeln!(said, "  {runtime}: {outcome}").expect("writing to a string");
        }
    }
    insta::assert_snapshot!(said);
}

#[test]
fn layers_are_for_all_stages_or_for_each() {
    let schedule = named("1f1b", Placement::linear(4).expect("a placement"));
    let refused = |layers: &[u32]| {
        let titan = torchtitan::configuration(&schedule, Some(layers), "a.csv", Release::V0_3).map(drop);
        assert_eq!(titan, megatron::arguments(&schedule, Some(layers), Some(&schedule)).map(drop));
        titan
    };
    assert_eq!(refused(&[3]), Ok(()));
    assert_eq!(refused(&[1, 2, 3, 4]), Ok(()));
    for given in [0, 2, 3, 5] {
        assert_eq!(refused(&vec![2; given]), Err(CannotRun::Layers { given, stages: 4 }));
    }
}

#[test]
fn stages_without_layers_are_megatrons_but_not_torchtitans() {
    let schedule = named("1f1b", Placement::linear(4).expect("a placement"));
    let outcomes = |layers: &[u32]| {
        (
            torchtitan::configuration(&schedule, Some(layers), "a.csv", Release::V0_3).map(drop),
            megatron::arguments(&schedule, Some(layers), Some(&schedule)).map(drop),
        )
    };
    assert_eq!(outcomes(&[0, 3, 3, 0]), (Ok(()), Ok(())));
    assert_eq!(outcomes(&[3, 3, 0, 3]), (Err(CannotRun::NoLayers(Stage(2))), Ok(())));
    assert_eq!(outcomes(&[0]), (Err(CannotRun::NoModel), Err(CannotRun::NoModel)));
}
