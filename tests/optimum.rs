//! The main job end to end: from a model to a block, a schedule and its replay.

use std::fs;
use std::path::Path;

use bubbleproof::catalog;
use bubbleproof::model::{self, Model, Ticks, Units};
use bubbleproof::optimize::{Options, Stop, optimize, zone};
use bubbleproof::replay::replay;
use num_rational::Ratio;

fn profile(name: &str) -> Model {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/profiles").join(format!("{name}.toml"));
    model::parse(&fs::read_to_string(path).expect("a shipped model")).expect("a shipped model is right")
}

fn capped(model: &Model, units: i64) -> Model {
    model.with_uniform_capacity(Some(Units(units))).expect("a cap")
}

#[test]
fn under_the_memory_of_v_min_unequal_passes_have_shorter_intervals_than_v_min() {
    for (devices, interval) in [(3, 18), (4, 21), (5, 18), (6, 21), (7, 24)] {
        let model = profile("uneven-342").resized(devices).expect("the same on every device");
        let model = capped(&model, 2 * ((i64::from(devices) + 4) / 3));
        let best = zone::least_interval(&model, bubbleproof::block::Passes::SPLIT, &Stop::default())
            .expect("a block");
        assert_eq!(best.interval, Ratio::from_integer(interval), "d = {devices}");
    }
}

#[test]
fn the_optimal_block_of_five_devices_becomes_a_schedule_with_a_steady_phase_of_eighteen_ticks() {
    let model = profile("uneven-342").resized(5).and_then(|model| model.with_microbatches(64));
    let model = capped(&model.expect("the same on every device"), 6);
    let options = Options { effort: 300_000, ..Options::default() };
    let solution = optimize(&model, &options, &mut |_| ()).expect("the cap is feasible");
    assert_eq!(solution.interval(), Some(Ratio::from_integer(18)));
    assert!(solution.verdict.peak_memory_max() <= Units(6));
    let v_min = catalog::find("v-min").and_then(|entry| entry.generate(&model).ok()).expect("v-min fits");
    let published = replay(&model, &v_min).timing.expect("v-min is valid").metrics.makespan;
    assert!(solution.value() + Ticks(64 * 5) < published, "{} against {published}", solution.value());
}

#[test]
fn every_shipped_profile_has_a_schedule_at_every_share_of_the_memory_of_1f1b() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/profiles");
    let mut names: Vec<String> = fs::read_dir(folder)
        .expect("the shipped models")
        .filter_map(|entry| entry.ok()?.path().file_stem()?.to_str().map(str::to_owned))
        .collect();
    names.sort();
    assert!(names.len() >= 24);
    for name in names {
        let model = profile(&name);
        // Enough microbatches for a steady phase; the whole profiles are too much for every test run.
        let model = model.with_microbatches(model.microbatches().min(2 * model.devices())).expect("fewer");
        let whole = catalog::one_f_one_b_memory(&model);
        for (share, of) in [(1, 1), (3, 4), (1, 2), (1, 3)] {
            let model = capped(&model, whole.0 * share / of);
            let options = Options { effort: 1, ..Options::default() };
            let solution = optimize(&model, &options, &mut |_| ()).expect("the cap is feasible");
            assert!(solution.verdict.is_valid());
            assert!(solution.value() >= solution.bound.value);
            for entry in catalog::entries() {
                let Ok(schedule) = entry.generate(&model) else { continue };
                let verdict = replay(&model, &schedule);
                let other = verdict.timing.expect("the catalogue is valid").metrics.makespan;
                assert!(solution.value() <= other, "{name} at {share}/{of}: {} is better", entry.name);
            }
        }
    }
}
