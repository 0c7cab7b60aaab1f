//! What the tables of `docs/findings.md` say, row by row, computed by the library.

pub mod jitter;
pub mod memory;
pub mod messages;
pub mod offloading;
pub mod pairs;
pub mod periods;
pub mod placements;
pub mod profiles;
pub mod published;
pub mod rounding;
pub mod two_ways;
pub mod unequal;
pub mod uniform;
pub mod whole;

use bubbleproof::block::Passes;
use bubbleproof::model::{Model, Placement, Units};
use bubbleproof::optimize::zone;
use bubbleproof::stop::Stop;
use num_rational::Ratio;

pub use crate::page::{Row, Table, Takes};

/// The page that they are on.
pub const PAGE: &str = "findings.md";

/// F, I and W of a stage, in ticks.
pub type Times = [i64; 3];

pub const UNIT: Times = [1, 1, 1];

/// The durations of the figures about unequal passes in arXiv 2405.15362.
pub const UNEQUAL: Times = [3, 4, 2];

/// All tables in the order of the document.
pub fn all() -> Vec<Table> {
    vec![
        published::table(),
        profiles::table(),
        memory::table(),
        uniform::table(),
        rounding::table(),
        placements::memory_table(),
        placements::interval_table(),
        unequal::table(),
        unequal::drawn_table(),
        periods::table(),
        periods::exact_table(),
        whole::table(),
        messages::table(),
        jitter::table(),
        offloading::table(),
        two_ways::table(),
        pairs::table(),
    ]
}

/// All durations from 1 to 6.
pub fn all_times() -> impl Iterator<Item = Times> {
    (0..216).map(|at| [at / 36 + 1, at / 6 % 6 + 1, at % 6 + 1])
}

/// Equal stages without latency, one unit of memory per stage and microbatch.
pub fn model(placement: Placement, [forward, input, weight]: Times) -> Model {
    Model::equal_stages(placement, 1, [forward, input, weight, 0]).expect("a model")
}

/// V placement of equal chunks.
pub fn v(devices: u32, times: Times) -> Model {
    model(Placement::v(devices).expect("a placement"), times)
}

/// Linear placement of equal stages.
pub fn linear(devices: u32, times: Times) -> Model {
    model(Placement::linear(devices).expect("a placement"), times)
}

/// The model with the same capacity on every device.
pub fn limited(model: &Model, capacity: i64) -> Model {
    model.with_uniform_activation_capacity(Some(Units(capacity))).expect("a capacity")
}

/// The least interval of one microbatch, proved by the exact program.
pub fn least_interval(model: &Model) -> Ratio<i64> {
    zone::least_interval(model, Passes::SPLIT, &Stop::default()).expect("the capacity is feasible").interval
}

/// The least memory of a device that needs the most, at an interval of one microbatch, proved likewise.
pub fn least_memory(model: &Model, passes: Passes, interval: i64) -> i64 {
    let interval = Ratio::from_integer(interval);
    zone::least_memory(model, passes, interval, &Stop::default())
        .expect("no capacity, no less than the work")
        .peak_max()
        .0
}

/// A ratio to three decimals.
pub fn decimals(ratio: Ratio<i128>) -> String {
    let thousandths = (ratio * 1000).round().to_integer();
    format!("{}.{:03}", thousandths / 1000, thousandths % 1000)
}

pub fn wide(ratio: Ratio<i64>) -> Ratio<i128> {
    Ratio::new(i128::from(*ratio.numer()), i128::from(*ratio.denom()))
}

pub fn listed([forward, input, weight]: Times) -> String {
    format!("{forward},{input},{weight}")
}

pub fn shown<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| value.to_string())
}
