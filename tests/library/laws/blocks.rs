//! Laws of building blocks.

use bubbleproof::model::{Microbatch, Pass, Ticks, Units};
use bubbleproof::replay::replay;
use proptest::prelude::*;

use crate::laws::naive;
use crate::laws::random::blocks;

proptest! {
    #[test]
    fn an_expanded_block_runs_no_later_than_its_copies_within_its_exact_peak((model, block) in blocks(0)) {
        prop_assert_eq!(block.faults(&model), []);
        let offsets: Vec<(Pass, i64)> = block.passes().map(|(pass, offset)| (pass, offset.0)).collect();
        let interval = block.interval_parts().0;
        let first = offsets.iter().map(|(_, offset)| *offset).min().expect("a pass");
        let last = offsets.iter().map(|(_, offset)| *offset).max().expect("a pass");
        // Enough repetitions for the last passes of the first to meet the first passes of the last.
        let repetitions = u32::try_from((last - first) / interval + 3).expect("a small block");
        let microbatches = repetitions * block.period();
        let model = model.with_microbatches(microbatches).expect("a model");
        let schedule = block.expand(&model, microbatches).expect("a schedule");
        let verdict = replay(&model, &schedule);
        prop_assert_eq!(&verdict.violations, &[]);

        let steady = block.steady_peak(&model);
        let simulated: Vec<Units> =
            schedule.orders().iter().map(|order| Units(naive::peak_of_order(&model, order))).collect();
        prop_assert_eq!(&steady, &simulated);
        prop_assert_eq!(&steady, &verdict.peak_memory);
        let bound = block.paper_bound(&model);
        prop_assert!(steady.iter().zip(&bound).all(|(exact, bound)| exact <= bound));

        let starts = verdict.timing.expect("it is valid").starts;
        for (order, starts) in schedule.orders().iter().zip(&starts) {
            let mut free = i64::MIN;
            for (&pass, &start) in order.iter().zip(starts) {
                let (repetition, copy) =
                    (pass.microbatch.0 / block.period(), pass.microbatch.0 % block.period());
                let offset =
                    block.offset(Pass { microbatch: Microbatch(copy), ..pass }).expect("a pass of the block");
                let planned = offset.0 - first + i64::from(repetition) * interval;
                prop_assert!(start.0 * block.parts() <= planned, "{pass} starts at {start}");
                prop_assert!(free <= planned, "the order of {pass} is not that of its copy");
                free = planned + naive::duration(&model, pass) * block.parts();
            }
        }
    }

    #[test]
    fn any_number_of_copies_stays_within_the_steady_peak((model, block) in blocks(0)) {
        let steady = block.steady_peak(&model);
        // With every rest of a last repetition that is cut short.
        for microbatches in 1..=3 * block.period() + 1 {
            let model = model.with_microbatches(microbatches).expect("a model");
            let schedule = block.expand(&model, microbatches).expect("a schedule");
            let verdict = replay(&model, &schedule);
            prop_assert_eq!(schedule.microbatches(), microbatches);
            prop_assert_eq!(&verdict.violations, &[]);
            prop_assert!(verdict.peak_memory.iter().zip(&steady).all(|(peak, steady)| peak <= steady));
        }
    }

    #[test]
    fn the_exact_peak_is_what_planned_times_alone_tell_when_every_pass_takes_time((model, block) in blocks(1)) {
        let interval = block.interval_parts().0;
        let offsets: Vec<(Pass, i64)> = block.passes().map(|(pass, offset)| (pass, offset.0)).collect();
        let first = offsets.iter().map(|(_, offset)| *offset).min().expect("a pass");
        let last = offsets.iter().map(|(_, offset)| *offset).max().expect("a pass");
        let repetitions = u32::try_from((last - first) / interval + 3).expect("a small block");
        // In parts of a tick, so that planned times are whole.
        let mut costs = model.costs().clone();
        for list in [&mut costs.forward, &mut costs.backward_input, &mut costs.backward_weight] {
            for ticks in list {
                *ticks = *ticks * block.parts();
            }
        }
        let fine = bubbleproof::model::Model::new(
            "fine".to_owned(), None, model.placement().clone(), 1, costs, model.memory().clone(),
        ).expect("a model");
        for (device, steady) in model.placement().lists().iter().zip(block.steady_peak(&model)) {
            let (mut order, mut starts) = (Vec::new(), Vec::new());
            for &(pass, offset) in offsets.iter().filter(|(pass, _)| device.contains(&pass.stage)) {
                for repetition in 0..repetitions {
                    let microbatch = Microbatch(repetition * block.period() + pass.microbatch.0);
                    order.push(Pass { microbatch, ..pass });
                    starts.push(Ticks(offset + i64::from(repetition) * interval));
                }
            }
            prop_assert_eq!(steady.0, naive::peak_of_times(&fine, &order, &starts));
        }
    }

    #[test]
    fn beginning_a_block_at_another_instant_changes_nothing_else((model, block) in blocks(0)) {
        let moved = block.clone().from_zero();
        prop_assert_eq!(moved.passes().map(|(_, offset)| offset).min(), Some(Ticks::ZERO));
        prop_assert_eq!(moved.faults(&model), []);
        prop_assert_eq!(moved.steady_peak(&model), block.steady_peak(&model));
        prop_assert_eq!(moved.expand(&model, 5), block.expand(&model, 5));
    }

    #[test]
    fn a_pass_moved_into_another_is_a_fault((model, block) in blocks(1), moved: prop::sample::Index, by in 1..9_i64) {
        let passes: Vec<(Pass, Ticks)> = block.passes().collect();
        let moved = moved.index(passes.len());
        let shifted = passes.iter().enumerate().map(|(position, &(pass, offset))| {
            (pass, if position == moved { offset + Ticks(by) } else { offset })
        });
        let shifted = bubbleproof::block::Block::periodic(
            block.placement().clone(), block.period(), block.parts(), block.interval_parts(), shifted,
        ).expect("a block");
        let interval = block.interval_parts().0;
        let spans: Vec<(Pass, i64, i64)> = shifted
            .passes()
            .map(|(pass, at)| (pass, at.0, naive::duration(&model, pass) * block.parts()))
            .collect();
        let all: Vec<Pass> = spans.iter().map(|span| span.0).collect();
        let find = |pass: Pass| spans.iter().find(|span| span.0 == pass).expect("a pass of the block");
        let late = spans.iter().any(|&(pass, at, _)| {
            naive::needs(pass, &model, &all).any(|need| {
                let &(_, start, length) = find(need);
                at < start + length + naive::latency(&model, need, pass) * block.parts()
            })
        });
        // Tick by tick around the interval: does any instant belong to two passes of a device?
        let overlap = model.placement().lists().iter().any(|stages| {
            let mut taken = vec![false; usize::try_from(interval).expect("a small interval")];
            spans.iter().filter(|span| stages.contains(&span.0.stage)).any(|&(_, at, length)| {
                (at..at + length).any(|instant| {
                    let instant = usize::try_from(instant.rem_euclid(interval)).expect("a residue");
                    std::mem::replace(&mut taken[instant], true)
                })
            })
        });
        prop_assert_eq!(shifted.faults(&model).is_empty(), !late && !overlap);
    }
}
