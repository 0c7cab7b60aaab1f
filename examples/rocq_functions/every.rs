//! Formulas for every number of microbatches, of blocks.

use std::ops::Range;

use bubbleproof::model::{Pass, Units};
use bubbleproof::prove::every::{EveryM, Proof, Repetition, every_m_of_block};
use bubbleproof::stop::Stop;
use fastrand::Rng;
use num_integer::Integer;
use serde_json::{Value, json};

use crate::blocks::Offsets;
use crate::problem::{Problem, devices, texts};

/// More microbatches than were ever replayed.
const MANY: u32 = 20_011;

/// What is proved of a block, with the warm-up, the repetition and the cool-downs that the check in Rocq asks for: one
/// for each remainder of microbatches. The library keeps its own to itself, so they are cut out of schedules here, at
/// the same place.
pub fn every_m(choices: &mut Rng) -> Value {
    let mut problem = Problem::random(choices, 1, 1);
    if choices.bool() {
        // A device that ends late has a longer span than the first one.
        let late = choices.usize(0..problem.stages());
        problem.weight[late] += choices.i64(0..12);
    }
    let period = if choices.u32(0..4) == 0 { 2 } else { 1 };
    let offsets = Offsets::valid(choices, &problem, period, 1);
    let peaks = offsets.block(&problem.model()).steady_peak(&problem.model());
    let model = problem.model();
    for (device, peak) in devices(&model).zip(&peaks) {
        // Memory may be short only with few microbatches. Of these the program in OCaml has only blocks of one.
        let short = i64::from(period == 1 && choices.u32(0..8) == 0);
        let limit = model.resident(device) + *peak - Units(short);
        problem.capacity[device.index()] = choices.bool().then_some(limit.0).filter(|_| *peak > Units(0));
    }
    let model = problem.model();
    let block = offsets.block(&model);

    let first = *offsets.at.values().min().expect("there is a pass");
    let last = *offsets.at.values().max().expect("there is a pass");
    let intervals = Integer::div_ceil(&(last - first), &offsets.interval).max(1);
    let base = period * u32::try_from(intervals).expect("few intervals");
    let end = first + intervals * offsets.interval;
    let before: Vec<usize> = problem
        .by_device(&problem.passes(period))
        .iter()
        .map(|passes| {
            let copies =
                passes.iter().map(|pass| Integer::div_ceil(&(end - offsets.at[pass]), &offsets.interval));
            usize::try_from(copies.sum::<i64>()).expect("no offset is later")
        })
        .collect();
    let orders = |microbatches| block.expand(&model, microbatches).expect("few passes").orders().to_vec();
    let next = orders(base + period);
    let part = |orders: &[Vec<Pass>], range: &dyn Fn(usize, usize) -> Range<usize>| {
        let of = |(device, order): (usize, &Vec<Pass>)| order[range(device, order.len())].to_vec();
        texts(&orders.iter().enumerate().map(of).collect::<Vec<_>>())
    };
    let heads = part(&next, &|device, _| 0..before[device]);
    let bodies = part(&next, &|device, _| {
        before[device]..before[device] + 3 * problem.placement[device].len() * period as usize
    });
    let remainders = || 0..period;
    let tails: Vec<_> =
        remainders().map(|more| part(&orders(base + more), &|device, end| before[device]..end)).collect();
    let unrolled: Vec<_> = remainders().map(|more| texts(&orders(base + more + 3 * period))).collect();

    let (cycle, answer) = match every_m_of_block(&block, &model, &Stop::default()) {
        Ok(EveryM::Proved(proof)) => {
            let Repetition { from, microbatches, ticks } = proof.repetition;
            match from.checked_sub(base) {
                Some(more) => {
                    let cycle = json!([more / period, microbatches / period, ticks.0]);
                    (cycle, proved(&proof, base, if period == 1 { 1 } else { base }))
                }
                None => (Value::Null, json!({ "refused": "the repetition begins before it was cut here" })),
            }
        }
        Ok(EveryM::Refuted(refutation)) => (Value::Null, json!({ "refuted": refutation.microbatches })),
        Ok(other) => (Value::Null, json!({ "unknown": format!("{other:?}") })),
        Err(error) => (Value::Null, json!({ "refused": error.to_string() })),
    };
    json!({
        "problem": problem, "period": period, "interval": offsets.interval, "offsets": offsets.by_kind(),
        "base": base, "heads": heads, "bodies": bodies, "tails": tails, "unrolled": unrolled, "cycle": cycle,
        "rust": answer,
    })
}

/// The figures for some numbers of microbatches from the least on, and for many.
fn proved(proof: &Proof, base: u32, least: u32) -> Value {
    let Repetition { from, microbatches, .. } = proof.repetition;
    let upto = from + 2 * microbatches + 2;
    let some = (least..=upto).step_by((upto / 12 + 1) as usize);
    let numbers: Vec<u32> = some.chain([from, from + microbatches, base + MANY]).collect();
    let makespans: Vec<Option<i64>> =
        numbers.iter().map(|&m| proof.makespan.at(m).map(|ticks| ticks.0)).collect();
    let spans = proof
        .device_span
        .as_ref()
        .map(|span| numbers.iter().map(|&m| span.at(m).map(|ticks| ticks.0)).collect::<Vec<Option<i64>>>());
    let peaks = |m: u32| -> Vec<i64> {
        let early = proof.peaks_before.get((m - proof.first) as usize).filter(|_| m < proof.peak_from);
        early.unwrap_or(&proof.peak_memory).iter().map(|units| units.0).collect()
    };
    json!({
        "numbers": numbers,
        "makespans": makespans,
        "spans": spans,
        "peaks": numbers.iter().map(|&m| peaks(m)).collect::<Vec<_>>(),
    })
}
