//! The published families against the exact program at their own memory.

use bubbleproof::block::Block;
use bubbleproof::model::Model;
use bubbleproof::replay::replay;
use num_rational::Ratio;

use super::{Row, Table, Takes, Times, all_times, decimals, least_interval, limited, v};

/// A family of arXiv 2405.15362 whose steady phase has bubbles where passes differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    VMin,
    VHalf,
}

impl Family {
    pub const ALL: [Self; 2] = [Self::VMin, Self::VHalf];

    pub const fn name(self) -> &'static str {
        match self {
            Self::VMin => "v-min",
            Self::VHalf => "v-half",
        }
    }

    /// The memory it needs at most, in chunk activations.
    pub fn memory(self, devices: u32) -> i64 {
        let d = i64::from(devices);
        match self {
            Self::VMin => 2 * ((d + 4) / 3),
            Self::VHalf => 2 * (d / 2 + 1),
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

    /// Its interval over the least one at its memory.
    pub fn ratio(self, devices: u32, times: Times) -> Ratio<i64> {
        let least = least_interval(&limited(&v(devices, times), self.memory(devices)));
        Ratio::from_integer(self.interval(times)) / least
    }
}

pub fn table() -> Table {
    let rows = (4..=8).flat_map(|devices| {
        Family::ALL.map(|family| {
            let problem =
                vec![devices.to_string(), family.name().to_owned(), family.memory(devices).to_string()];
            Row::new(problem, Takes::Little, move || row(family, devices))
        })
    });
    Table {
        name: "published",
        head: "| d | family | capacity | no bubble | optimal | optimal with a bubble | mean ratio | worst | at F,I,W |\n\
               | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |",
        rows: rows.collect(),
    }
}

fn row(family: Family, devices: u32) -> Vec<String> {
    let (mut optimal, mut with_bubble) = (0, 0);
    let mut sum = Ratio::from_integer(0_i128);
    let mut worst = (Ratio::from_integer(0), [0; 3]);
    for times in all_times() {
        let ratio = family.ratio(devices, times);
        if ratio == Ratio::from_integer(1) {
            optimal += 1;
            with_bubble += i32::from(!family.is_bubble_free(times));
        }
        if ratio > worst.0 {
            worst = (ratio, times);
        }
        sum += super::wide(ratio);
    }
    let free = all_times().filter(|&times| family.is_bubble_free(times)).count();
    vec![
        free.to_string(),
        optimal.to_string(),
        with_bubble.to_string(),
        decimals(sum / 216),
        worst.0.to_string(),
        super::listed(worst.1),
    ]
}

/// The time per microbatch that the order of a block keeps under the durations of a model once it has
/// settled: by how much the replayed makespan grows over 60 microbatches, if over the next 60 it grows
/// by as much.
pub fn settled(block: &Block, model: &Model) -> Option<Ratio<i64>> {
    const STRETCH: u32 = 60;
    let makespan = |microbatches: u32| {
        let model = model.with_microbatches(microbatches).expect("a number of microbatches");
        let schedule = block.expand(&model, microbatches).expect("not too many passes");
        Some(replay(&model, &schedule).timing?.metrics.makespan)
    };
    let warm_up = 8 * model.devices();
    let [first, second, third] = [0, 1, 2].map(|stretches| makespan(warm_up + stretches * STRETCH));
    let (first, second, third) = (first?, second?, third?);
    (third - second == second - first).then(|| Ratio::new((second - first).0, i64::from(STRETCH)))
}
