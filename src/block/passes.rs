//! Which passes a block runs for every stage.

use crate::model::{Kind, Model, Stage, Ticks};

/// Which passes a block runs for every stage: by default F, I and W.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Passes {
    /// I and W are one full backward, B, which yields its input gradient only when all of it has
    /// ended.
    pub fused: bool,
    /// Every backward is preceded by R on its device: F leaves only the checkpoint of the stage, and R
    /// acquires the rest. A model without checkpoints keeps everything.
    pub recompute: bool,
}

impl Passes {
    /// F, I and W.
    pub const SPLIT: Self = Self { fused: false, recompute: false };
    /// F and B.
    pub const FUSED: Self = Self { fused: true, recompute: false };

    /// The kinds that every stage runs, in the order of their dependencies.
    #[must_use]
    pub const fn kinds(self) -> &'static [Kind] {
        match (self.recompute, self.fused) {
            (false, false) => &[Kind::F, Kind::I, Kind::W],
            (false, true) => &[Kind::F, Kind::B],
            (true, false) => &[Kind::F, Kind::R, Kind::I, Kind::W],
            (true, true) => &[Kind::F, Kind::R, Kind::B],
        }
    }

    /// The kind that passes the gradient to the stage below.
    #[must_use]
    pub const fn backward(self) -> Kind {
        if self.fused { Kind::B } else { Kind::I }
    }

    /// What one microbatch keeps the busiest device busy for: no interval is shorter.
    #[must_use]
    pub fn most_work(self, model: &Model) -> Ticks {
        let of = |&stage: &Stage| self.kinds().iter().map(|&kind| model.duration(stage, kind)).sum::<Ticks>();
        let lists = model.placement().lists().iter();
        lists.map(|stages| stages.iter().map(of).sum()).max().unwrap_or_default()
    }
}
