//! Laws of what is proved for every number of microbatches: no replay may contradict it.

use bubbleproof::block::Block;
use bubbleproof::model::{Device, Microbatch, Model, Pass, Ticks, Units};
use bubbleproof::prove::every::{EveryM, Proof, UnknownReason, every_m_of_block, every_m_of_schedule};
use bubbleproof::replay::{Verdict, replay};
use bubbleproof::schedule::Schedule;
use bubbleproof::stop::Stop;
use proptest::prelude::*;

use crate::cases;
use crate::laws::random::{Choices, blocks};

/// Far more microbatches than any warm-up here takes.
const MANY: u32 = 200;

/// Enough for a warm-up, some repetitions and a cool-down.
const SOME: u32 = 90;

fn run(model: &Model, schedule: &Schedule) -> Verdict {
    let model = model.with_microbatches(schedule.microbatches()).expect("a model");
    replay(&model, schedule)
}

fn of_block(model: &Model, block: &Block, microbatches: u32) -> Schedule {
    block.expand(model, microbatches).expect("a schedule")
}

/// Holds a proof against the replay of one number of microbatches.
fn confirm(proof: &Proof, model: &Model, schedule: &Schedule) -> Result<(), TestCaseError> {
    let microbatches = schedule.microbatches();
    let verdict = run(model, schedule);
    prop_assert_eq!(&verdict.violations, &[]);
    let metrics = verdict.timing.expect("it is valid").metrics;
    prop_assert_eq!(proof.makespan.at(microbatches), Some(metrics.makespan), "makespan of {}", microbatches);
    if let Some(span) = &proof.device_span {
        prop_assert_eq!(span.at(microbatches), Some(metrics.device_span), "span of {}", microbatches);
    }
    let before = ((microbatches - proof.first) / proof.step) as usize;
    let peaks = proof.peaks_before.get(before).unwrap_or(&proof.peak_memory);
    prop_assert_eq!(peaks, &verdict.peak_memory, "peaks of {}", microbatches);
    Ok(())
}

/// Holds a refutation against the replay of it and of fewer microbatches.
fn confirm_refuted(refuted: u32, model: &Model, block: &Block) -> Result<(), TestCaseError> {
    for microbatches in 1..=refuted {
        let valid = run(model, &of_block(model, block, microbatches)).is_valid();
        prop_assert_eq!(valid, microbatches < refuted, "{} microbatches", microbatches);
    }
    Ok(())
}

fn proved(answer: EveryM) -> Result<Proof, TestCaseError> {
    match answer {
        EveryM::Proved(proof) => Ok(*proof),
        other => Err(TestCaseError::fail(format!("not proved: {other:?}"))),
    }
}

proptest! {
    #![proptest_config(cases(32))]

    #[test]
    fn every_block_without_faults_is_proved_and_replay_agrees((model, block) in blocks(0)) {
        let proof = proved(every_m_of_block(&block, &model, &Stop::default()).expect("an answer"))?;
        prop_assert_eq!((proof.first, proof.step), (1, 1));
        prop_assert_eq!(&proof.peak_memory, &block.steady_peak(&model));
        for microbatches in 1..=MANY {
            confirm(&proof, &model, &of_block(&model, &block, microbatches))?;
        }
    }

    #[test]
    fn a_block_with_displaced_passes_is_proved_or_refuted_with_the_fewest_microbatches(
        ((model, block), seed) in (blocks(0), any::<u64>()),
    ) {
        let mut choices = Choices::new(seed);
        let interval = block.interval_parts().0;
        let moved = block.passes().map(|(pass, offset)| {
            let by = [0, 0, 0, 0, 0, -4, -3, -1, 1, 2, 4][choices.below(11)];
            (pass, Ticks(offset.0 + by * interval / 2))
        });
        let moved = Block::periodic(
            block.placement().clone(), block.period(), block.parts(), block.interval_parts(), moved,
        ).expect("a block");
        match every_m_of_block(&moved, &model, &Stop::default()).expect("an answer") {
            EveryM::Refuted(refutation) => confirm_refuted(refutation.microbatches, &model, &moved)?,
            answer => {
                let proof = proved(answer)?;
                for microbatches in (1..=proof.replayed_to + 5).chain([MANY - 1, MANY]) {
                    confirm(&proof, &model, &of_block(&model, &moved, microbatches))?;
                }
            }
        }
    }

    #[test]
    fn a_capacity_one_below_the_peak_of_a_device_is_refuted((model, block) in blocks(0)) {
        let peaks = block.steady_peak(&model);
        for (device, &peak) in Device::all(model.devices()).zip(&peaks) {
            let mut capacities: Vec<Option<Units>> = peaks.iter().copied().map(Some).collect();
            let exact = model.with_activation_capacity(capacities.clone()).expect("a model");
            proved(every_m_of_block(&block, &exact, &Stop::default()).expect("an answer"))?;
            if peak > Units::ZERO {
                capacities[device.index()] = Some(peak - Units(1));
                let less = model.with_activation_capacity(capacities).expect("a model");
                let EveryM::Refuted(refutation) = every_m_of_block(&block, &less, &Stop::default()).expect("an answer") else {
                    return Err(TestCaseError::fail("not refuted"));
                };
                let violation = &refutation.verdict.violations[0];
                prop_assert_eq!((violation.rule(), violation.device()), ("over-capacity", Some(device)));
                confirm_refuted(refutation.microbatches, &less, &block)?;
            }
        }
    }

    #[test]
    fn orders_alone_are_extended_as_their_block_would_be((model, block) in blocks(0)) {
        let schedule = of_block(&model, &block, SOME);
        let model = model.with_microbatches(SOME).expect("a model");
        let proof = proved(every_m_of_schedule(&schedule, &model, &Stop::default()).expect("an answer"))?;
        prop_assert_eq!(proof.first, SOME);
        prop_assert_eq!(block.period() % proof.step, 0);
        for repetitions in (0..12).chain([30, 31]) {
            let more = SOME + repetitions * proof.step;
            confirm(&proof, &model, &of_block(&model, &block, more))?;
        }
    }

    #[test]
    fn a_swapped_pair_is_where_the_steady_phase_breaks_or_no_break_of_it(((model, block), seed) in (blocks(1), any::<u64>())) {
        let schedule = of_block(&model, &block, SOME);
        let mut choices = Choices::new(seed);
        let device = choices.below(model.devices() as usize);
        let mut orders = schedule.orders().to_vec();
        let at = orders[device].len() / 2 + choices.below(5);
        orders[device].swap(at, at + 1);
        let swapped = Schedule::new(schedule.placement().clone(), SOME, orders).expect("a schedule");
        let valid = run(&model, &swapped).is_valid();
        let model = model.with_microbatches(SOME).expect("a model");
        match every_m_of_schedule(&swapped, &model, &Stop::default()).expect("an answer") {
            EveryM::Refuted(_) => prop_assert!(!valid),
            EveryM::Unknown(UnknownReason::Broken { first, again, at: place, stands, expected }) => {
                prop_assert!(valid);
                prop_assert_eq!(first.device, again.device);
                prop_assert_eq!(first.device.index(), device);
                prop_assert_eq!(stands, swapped.order(first.device)[place]);
                prop_assert!(place == at || place == at + 1, "broken at {}, not {}", place, at);
                let wanted = schedule.order(first.device)[place];
                prop_assert!(place != at || expected == wanted, "{} is expected, not {}", expected, wanted);
            }
            // A pair that begins or ends what repeats, or leaves another piece repeating on one side of it, is
            // no break; then the proof must hold of the schedule as it stands.
            EveryM::Proved(proof) => confirm(&proof, &model, &swapped)?,
            other => return Err(TestCaseError::fail(format!("{other:?}"))),
        }
    }

    #[test]
    fn microbatches_that_are_passed_on_in_other_numbers_are_extended_only_as_they_stand((model, block) in blocks(1)) {
        // Two microbatches in the middle change places in all passes: valid, but no repetition there.
        let schedule = of_block(&model, &block, SOME);
        let other = |microbatch: Microbatch| match microbatch.0 {
            45 => Microbatch(46),
            46 => Microbatch(45),
            _ => microbatch,
        };
        let rename = |order: &Vec<Pass>| {
            order.iter().map(|pass| Pass { microbatch: other(pass.microbatch), ..*pass }).collect()
        };
        let orders: Vec<Vec<Pass>> = schedule.orders().iter().map(rename).collect();
        let renamed = Schedule::new(schedule.placement().clone(), SOME, orders).expect("a schedule");
        let model = model.with_microbatches(SOME).expect("a model");
        // Where microbatches run one after the other, what comes behind the two repeats by itself. Then the proof must hold of
        // the schedule as it stands.
        if let EveryM::Proved(proof) = every_m_of_schedule(&renamed, &model, &Stop::default()).expect("an answer") {
            prop_assert_eq!(proof.first, SOME);
            confirm(&proof, &model, &renamed)?;
        }
    }
}
