//! The schedules that are compared, by the paper's names.

use bubbleproof::catalog::{self, Entry};
use bubbleproof::job::{ChoicePlacement, Saving};
use bubbleproof::model::{Device, Model, Stage};

/// A schedule of the catalogue with the placement that it is for.
#[derive(Debug, Clone, Copy)]
pub struct Contender {
    /// What the paper calls it.
    pub name: &'static str,
    entry: &'static str,
    /// Where its stages are.
    pub placement: ChoicePlacement,
}

impl Contender {
    /// What the catalogue has under its name.
    pub fn entry(&self) -> &'static Entry {
        catalog::find(self.entry).expect("a known name")
    }

    /// The model in which it may hold no more than the paper lets it: ZB-1P as many activations as 1F1B on its first device, ZB-2P
    /// twice as many. The catalogue would let them hold as much as 1F1B does with its weights.
    pub fn limited(&self, model: Model) -> Model {
        let factor = match self.entry {
            "zb-1p" => 1,
            "zb-2p" => 2,
            _ => return model,
        };
        let stage = Stage::all(model.stages()).map(|stage| model.activation(stage)).max().expect("a stage");
        let limit = stage * (factor * i64::from(model.devices()));
        let capacities = Device::all(model.devices()).map(|device| {
            Some(model.activation_capacity(device).map_or(limit, |capacity| capacity.min(limit)))
        });
        model.with_activation_capacity(capacities.collect()).expect("one for each device")
    }

    /// What it does to save memory.
    pub fn saving(&self) -> Saving {
        Saving { recompute: self.entry == "1f1b-r", offload: false }
    }
}

const fn contender(name: &'static str, entry: &'static str, placement: ChoicePlacement) -> Contender {
    Contender { name, entry, placement }
}

/// All of them. The paper does not measure 1F1B-I, ZB-H1, ZB-2P and 1F1B-V on these models.
pub const ALL: &[Contender] = &[
    contender("1F1B", "1f1b", ChoicePlacement::Linear),
    contender("1F1B-R", "1f1b-r", ChoicePlacement::Linear),
    contender("1F1B-I", "interleaved-1f1b", ChoicePlacement::Looped(2)),
    contender("ZB-H1", "zb-h1", ChoicePlacement::Linear),
    contender("ZB-1P", "zb-1p", ChoicePlacement::Linear),
    contender("ZB-2P", "zb-2p", ChoicePlacement::Linear),
    contender("1F1B-V", "1f1b-v", ChoicePlacement::V),
    contender("V-Min", "v-min", ChoicePlacement::V),
    contender("V-Half", "v-half", ChoicePlacement::V),
    contender("V-ZB", "v-zb", ChoicePlacement::V),
];

/// Those of Table 3.
pub const IN_THE_GRID: [&str; 6] = ["1F1B", "1F1B-R", "ZB-1P", "V-Half", "V-Min", "V-ZB"];

pub fn named(name: &str) -> Contender {
    *ALL.iter().find(|contender| contender.name == name).expect("a known name")
}
