use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::catalog;
use crate::model::{Device, Kind, Placement};
use crate::optimize::{Options, optimize};

fn capped(placement: Placement, microbatches: u32, times: [i64; 4], cap: i64) -> Model {
    let model = Model::equal_stages(placement, microbatches, times).expect("a model");
    model.with_uniform_capacity(Some(Units(cap))).expect("a cap")
}

/// The steps of a path, its repetitions written out.
fn unrolled(path: &[Step]) -> usize {
    let lengths = stretches(path).into_iter().map(|stretch| match stretch {
        Stretch::Once(steps) => steps.len(),
        Stretch::Cycle { turn, times, .. } => turn.len() * times,
    });
    lengths.sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_critical_path_is_without_gaps_and_as_long_as_the_makespan(
        devices in 1..6_u32,
        microbatches in 1..20_u32,
        times in [0..5_i64, 1..5_i64, 0..5_i64, 0..4_i64],
        chosen in 0..100_usize,
    ) {
        let placement = match chosen % 3 {
            0 => Placement::linear(devices),
            1 => Placement::v(devices),
            _ => Placement::looped(devices, 2),
        };
        let model = Model::equal_stages(placement.expect("a placement"), microbatches, times);
        let model = model.expect("a model");
        let entries = catalog::entries();
        let Ok(schedule) = entries[chosen % entries.len()].generate(&model) else { return Ok(()) };
        let timing = replay(&model, &schedule).timing.expect("the catalogue is valid");
        let path = critical_path(&model, &schedule, &timing);

        prop_assert_eq!(path[0].start, Ticks(0));
        prop_assert_eq!(path[0].waits, Waits::Nothing);
        prop_assert_eq!(path[path.len() - 1].end, timing.metrics.makespan);
        for (before, step) in path.iter().zip(&path[1..]) {
            let latency = match step.waits {
                Waits::Dependency { latency } => latency,
                _ => Ticks::ZERO,
            };
            prop_assert_ne!(step.waits, Waits::Nothing);
            prop_assert_eq!(before.end + latency, step.start);
        }
        prop_assert_eq!(unrolled(&path), path.len());
    }
}

#[test]
fn a_forward_that_waits_for_its_memory_says_so() {
    let model = capped(Placement::linear(1).expect("a placement"), 3, [1, 1, 1, 0], 1);
    let schedule = catalog::find("1f1b").expect("it is there").generate(&model).expect("it fits");
    let timing = replay(&model, &schedule).timing.expect("it is valid");
    let path = critical_path(&model, &schedule, &timing);
    let waits: Vec<Waits> =
        path.iter().filter(|step| step.pass.kind == Kind::F).map(|step| step.waits).collect();
    assert_eq!(waits, [Waits::Nothing, Waits::Memory, Waits::Memory]);
    assert!(matches!(
        stretches(&path).as_slice(),
        [Stretch::Cycle { turn, times: 3, ticks: Ticks(3), microbatches: 1 }] if turn.len() == 2
    ));
}

#[test]
fn overlapped_pairs_are_on_the_critical_path_as_a_whole() {
    for (name, placement) in [("dualpipe-v", Placement::v(4)), ("dualpipe", Placement::bidirectional(4))] {
        for times in [[3, 4, 2, 0], [1, 1, 1, 0], [18_522, 18_086, 9_337, 601]] {
            let placement = placement.clone().expect("a placement");
            let model = Model::equal_stages(placement, 10, times).expect("a model");
            let schedule = catalog::find(name).expect("a name").generate(&model).expect("a schedule");
            assert!(schedule.overlap_count() > 0);
            let timing = crate::replay::replay(&model, &schedule).timing.expect("it runs");
            let path = critical_path(&model, &schedule, &timing);
            assert_eq!(path.first().map(|step| step.start), Some(Ticks::ZERO), "{name} {times:?}");
            assert_eq!(path.last().map(|step| step.end), Some(timing.metrics.makespan));
            for pair in path.windows(2) {
                let latency = match pair[1].waits {
                    Waits::Dependency { latency } => latency,
                    Waits::Device | Waits::Memory => Ticks::ZERO,
                    Waits::Nothing => panic!("only the first waits for nothing"),
                };
                assert_eq!(pair[0].end + latency, pair[1].start, "{name}: {} {}", pair[0].pass, pair[1].pass);
            }
        }
    }
}

#[test]
fn the_critical_cycle_of_a_block_takes_its_interval() {
    for (devices, cap, interval) in [(4, 4, 21), (5, 6, 18), (3, 3, 26)] {
        let model = capped(Placement::v(devices).expect("a placement"), 1, [3, 4, 2, 0], cap);
        let steady = steady(&model, &Stop::default()).expect("a block");
        let Some(Stretch::Cycle { ticks, microbatches, .. }) = steady.cycle else {
            panic!("no cycle at d = {devices}, cap {cap}")
        };
        assert!(steady.interval <= Ratio::from_integer(interval));
        assert_eq!(Ratio::new(ticks.0, i64::from(microbatches)), steady.interval, "d = {devices}, cap {cap}");
    }
}

/// At d = 4, (3,4,2) needs 6 chunk activations for an interval of 18 (found by an exact programme over
/// patterns of passes).
#[test]
fn what_rules_out_a_steady_phase_without_bubble_can_be_lifted() {
    let model = capped(Placement::v(4).expect("a placement"), 1, [3, 4, 2, 0], 5);
    let steady = steady(&model, &Stop::default()).expect("a block");
    assert_eq!(steady.enough, Some(Units(6)));
    let conflict = steady.conflict.expect("five are too few");
    assert!(conflict.smallest && !conflict.limits.is_empty());
    let caps: Vec<Device> = conflict
        .limits
        .iter()
        .map(|limit| match limit {
            Limit::Cap(device, _) => *device,
            Limit::Latency(..) => panic!("there is no latency"),
        })
        .collect();
    let with = |kept: &[Device]| {
        let cap = |device| kept.contains(&device).then_some(Units(5));
        let caps = Device::all(4).map(cap).collect();
        let model = model.with_capacity(caps).expect("caps");
        zone::least_memory(&model, crate::block::Passes::SPLIT, Ratio::from_integer(18), &Stop::default())
            .is_ok()
    };
    assert!(!with(&caps));
    for left_out in &caps {
        let kept: Vec<Device> = caps.iter().copied().filter(|device| device != left_out).collect();
        assert!(with(&kept));
    }
}

#[test]
fn linear_placement_is_explained_too() {
    let model = capped(Placement::linear(4).expect("a placement"), 8, [1, 1, 1, 0], 3);
    let solution =
        optimize(&model, &Options { effort: 1, exact_effort: 0, ..Options::default() }, &mut |_| ());
    assert!(solution.is_ok());
    let steady = steady(&model, &Stop::after(Duration::from_secs(60))).expect("a block");
    assert!(steady.interval > Ratio::from_integer(3));
    assert!(steady.conflict.is_some());
}
