//! The published families against the exact programme at their own memory.

use bubbleproof::block::{Block, Passes};
use bubbleproof::catalog;
use bubbleproof::model::{Model, Placement, Units};
use bubbleproof::optimize::{Stop, steady_interval, zone};
use bubbleproof::replay::replay;
use num_rational::Ratio;

/// F, I and W of a chunk, in ticks.
pub type Times = [i64; 3];

/// All durations from 1 to 6.
pub fn all_times() -> impl Iterator<Item = Times> {
    (0..216).map(|at| [at / 36 + 1, at / 6 % 6 + 1, at % 6 + 1])
}

/// V placement of equal chunks, without latency.
pub fn v(devices: u32, [forward, input, weight]: Times) -> Model {
    let placement = Placement::v(devices).expect("a placement");
    Model::equal_stages(placement, 1, [forward, input, weight, 0]).expect("a model")
}

/// The same with a cap in chunk activations on every device.
pub fn capped(model: &Model, cap: i64) -> Model {
    model.with_uniform_capacity(Some(Units(cap))).expect("a cap")
}

/// The least interval of one microbatch, proved by the exact programme.
pub fn least_interval(model: &Model) -> Ratio<i64> {
    zone::least_interval(model, Passes::SPLIT, &Stop::default()).expect("the cap is feasible").interval
}

/// A family of the paper whose steady phase has bubbles where passes differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    VMin,
    VHalf,
}

impl Family {
    pub const fn name(self) -> &'static str {
        match self {
            Self::VMin => "v-min",
            Self::VHalf => "v-half",
        }
    }

    pub fn block(self, devices: u32) -> Block {
        let placement = Placement::v(devices).expect("a placement");
        catalog::block(self.name(), &placement).expect("the families are for V placement")
    }

    /// The memory it needs at most, in chunk activations.
    pub fn memory(self, devices: u32) -> i64 {
        let d = i64::from(devices);
        match self {
            Self::VMin => 2 * ((d + 4) / 3),
            Self::VHalf => 2 * ((d + 2) / 2),
        }
    }

    /// The time per microbatch of its order, each pass as early as it can be.
    pub fn interval(self, [forward, input, weight]: Times) -> i64 {
        let work = 2 * (forward + input + weight);
        match self {
            Self::VMin => work.max(6 * forward).max(6 * input),
            Self::VHalf => work.max(4 * forward + weight).max(4 * input + weight),
        }
    }

    /// Whether no device idles in its steady phase.
    pub fn is_bubble_free(self, times: Times) -> bool {
        self.interval(times) == 2 * times.iter().sum::<i64>()
    }
}

/// A family against the exact programme, over all durations from 1 to 6.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comparison {
    /// The durations where its order is optimal at its memory.
    pub optimal: Vec<Times>,
    /// The mean of its interval over the least one.
    pub mean: Ratio<i128>,
    /// The largest, and the first durations where it is.
    pub worst: (Ratio<i64>, Times),
}

pub fn compare(family: Family, devices: u32) -> Comparison {
    let (mut optimal, mut sum) = (Vec::new(), Ratio::from_integer(0_i128));
    let mut worst = (Ratio::from_integer(0), [0; 3]);
    for times in all_times() {
        let least = least_interval(&capped(&v(devices, times), family.memory(devices)));
        let ratio = Ratio::from_integer(family.interval(times)) / least;
        if ratio == Ratio::from_integer(1) {
            optimal.push(times);
        }
        if ratio > worst.0 {
            worst = (ratio, times);
        }
        sum += Ratio::new(i128::from(*ratio.numer()), i128::from(*ratio.denom()));
    }
    Comparison { optimal, mean: sum / 216, worst }
}

/// The time per microbatch that the order of a block keeps under the durations of a model, if it has
/// settled after so many microbatches.
pub fn settled(block: &Block, model: &Model, microbatches: u32) -> Option<Ratio<i64>> {
    let model = model.with_microbatches(microbatches).expect("a number of microbatches");
    let schedule = block.expand(&model, microbatches).expect("not too many passes");
    steady_interval(&schedule, &replay(&model, &schedule).timing?)
}

/// The interval of a named block's order under a model's durations, and the least interval of any block
/// of no more memory.
pub fn on_model(name: &str, model: &Model) -> Option<(Ratio<i64>, Ratio<i64>)> {
    let free = model.with_uniform_capacity(None).expect("no cap");
    let block = catalog::block(name, free.placement()).expect("a block for V placement");
    let memory = block.steady_peak(&free).into_iter().max().expect("a device");
    let least = least_interval(&capped(&free, memory.0));
    Some((settled(&block, &free, 12 * free.devices())?, least))
}
