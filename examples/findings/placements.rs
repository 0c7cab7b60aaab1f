//! Linear, looped and V placement of the same model at the same memory per device.
//!
//! A chunk of V or looped placement takes F, I and W ticks and one unit; a stage of linear placement is two
//! of them.

use std::time::Duration;

use bubbleproof::block::Passes;
use bubbleproof::encode::{Objective, Outcome, smt};
use bubbleproof::model::{Model, Placement};
use bubbleproof::optimize::{Stop, zone};
use num_rational::Ratio;

use crate::published::{Times, capped, least_interval, v};

/// Two chunks in one stage; a unit of its memory is two.
pub fn linear(devices: u32, times: Times) -> Model {
    let [forward, input, weight] = times.map(|time| 2 * time);
    let placement = Placement::linear(devices).expect("a placement");
    Model::equal_stages(placement, 1, [forward, input, weight, 0]).expect("a model")
}

pub fn looped(devices: u32, [forward, input, weight]: Times) -> Model {
    let placement = Placement::looped(devices, 2).expect("a placement");
    Model::equal_stages(placement, 1, [forward, input, weight, 0]).expect("a model")
}

/// The least memory at which no device idles in the steady phase.
pub fn least_memory(model: &Model) -> i64 {
    let work = Ratio::from_integer(model.most_work().0);
    zone::least_memory(model, Passes::SPLIT, work, &Stop::default()).expect("no cap").peak.0
}

/// The least intervals under a cap in chunk activations with linear and with V placement.
pub fn at_cap(devices: u32, times: Times, cap: i64) -> [Ratio<i64>; 2] {
    [capped(&linear(devices, times), cap / 2), capped(&v(devices, times), cap)].map(|model| least_interval(&model))
}

/// The same with looped placement: what is proved, by Z3 in exact arithmetic, within the time.
pub fn looped_at_cap(devices: u32, times: Times, cap: i64, limit: Duration) -> Option<Ratio<i64>> {
    match smt::solve(&capped(&looped(devices, times), cap), Objective::LeastInterval, limit).ok()? {
        Outcome::Optimal(answer) => Some(answer.interval),
        Outcome::Bounded { .. } | Outcome::Infeasible => None,
    }
}

/// The least memory of looped placement without idling, likewise.
pub fn looped_least_memory(devices: u32, times: Times, limit: Duration) -> Option<i64> {
    let model = looped(devices, times);
    let objective = Objective::LeastMemory { interval: model.most_work() };
    match smt::solve(&model, objective, limit).ok()? {
        Outcome::Optimal(answer) => Some(answer.peak_max().0),
        Outcome::Bounded { .. } | Outcome::Infeasible => None,
    }
}
