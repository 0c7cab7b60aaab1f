//! Which microbatches a schedule recomputes: their F keeps less, and an R runs besides.

use std::collections::BTreeMap;

use crate::model::{Kind, Microbatch, Pass, Stage};
use crate::schedule::Schedule;

/// Passes that do the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Class {
    /// The stage.
    pub stage: Stage,
    /// The kind.
    pub kind: Kind,
    /// The level of recomputation, where that makes a difference.
    pub level: Option<usize>,
}

/// The levels at which stages are recomputed for microbatches.
pub(super) struct Recomputed(BTreeMap<(Stage, Microbatch), usize>);

impl Recomputed {
    /// What a schedule recomputes.
    pub fn of(schedule: &Schedule) -> Self {
        let passes = schedule.orders().iter().flatten().filter(|pass| pass.kind == Kind::R);
        Self(passes.map(|&pass| ((pass.stage, pass.microbatch), schedule.level_of(pass))).collect())
    }

    /// Passes that compute the same: only Rs differ by level.
    pub fn by_time(&self, pass: Pass) -> Class {
        self.class(pass, pass.kind == Kind::R)
    }

    /// Passes that acquire the same: Rs and the Fs before them differ by level.
    pub fn by_memory(&self, pass: Pass) -> Class {
        self.class(pass, matches!(pass.kind, Kind::F | Kind::R))
    }

    fn class(&self, pass: Pass, by_level: bool) -> Class {
        let Pass { stage, kind, microbatch } = pass;
        let level = by_level.then(|| self.0.get(&(stage, microbatch)).copied()).flatten();
        Class { stage, kind, level }
    }
}
