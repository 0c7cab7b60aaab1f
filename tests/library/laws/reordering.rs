//! Laws of reordering.

use bubbleproof::kernel::{asap, fill_gaps};
use bubbleproof::model::{Pass, Units};
use bubbleproof::replay::replay;
use bubbleproof::schedule::Schedule;
use bubbleproof::stop::Stop;
use proptest::prelude::*;

use crate::laws::random::{blocks, schedules};

fn sorted(schedule: &Schedule) -> Vec<Vec<Pass>> {
    let sort = |order: &Vec<Pass>| {
        let mut passes = order.clone();
        passes.sort_unstable();
        passes
    };
    schedule.orders().iter().map(sort).collect()
}

proptest! {
    #[test]
    fn reordering_keeps_passes_validity_and_limits_and_lengthens_nothing(
        (model, schedule) in schedules(0), room in 0..4_i64,
    ) {
        let before = replay(&model, &schedule);
        let limits: Vec<Units> = before.peak_memory.iter().map(|&peak| peak + Units(room)).collect();
        let (better, timeline) = fill_gaps(&model, &schedule, &limits, &Stop::default()).expect("it can run");
        let after = replay(&model, &better);
        prop_assert_eq!(&after.violations, &[]);
        prop_assert_eq!(sorted(&schedule), sorted(&better));
        prop_assert!(after.peak_memory.iter().zip(&limits).all(|(peak, limit)| peak <= limit));
        let (before, after) = (before.timing.expect("valid"), after.timing.expect("valid"));
        prop_assert!(after.metrics.makespan <= before.metrics.makespan);
        prop_assert_eq!(&timeline.starts, &after.starts);
        prop_assert_eq!(&timeline.orders, better.orders());
        prop_assert_eq!(asap(&model, &better), Ok(timeline));
    }

    #[test]
    fn an_expanded_block_only_gains_by_reordering((model, block) in blocks(0), microbatches in 1..10_u32) {
        let model = model.with_microbatches(microbatches).expect("a model");
        let schedule = block.expand(&model, microbatches).expect("a schedule");
        let limits = block.steady_peak(&model);
        let (better, timeline) = fill_gaps(&model, &schedule, &limits, &Stop::default()).expect("it can run");
        let after = replay(&model, &better);
        prop_assert_eq!(&after.violations, &[]);
        prop_assert!(after.peak_memory.iter().zip(&limits).all(|(peak, limit)| peak <= limit));
        let before = asap(&model, &schedule).expect("it can run").makespan(&model);
        prop_assert!(timeline.makespan(&model) <= before);
    }
}
