//! Both directions of time.
//!
//! Seen backwards, a schedule is again one: what waited for a pass comes before it, W acquires what
//! it released, and F releases what it acquired. What shortens the warm-up in one direction shortens
//! the cool-down in the other.

use super::memory::{acquired, released};
use crate::model::{Kind, Model, Pass, Stage, Ticks, Units};
use crate::schedule::prerequisites;

/// A direction of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    /// From the first pass to the last.
    Forward,
    /// From the last pass to the first.
    Backward,
}

/// A few passes, each with the latency between it and the pass asked about.
type Neighbours = std::iter::Flatten<std::array::IntoIter<Option<(Pass, Ticks)>, 4>>;

impl Direction {
    /// The passes that must end, in this direction, before a pass may start; forward, also those
    /// that are nowhere to be found, which keep it from ever starting.
    pub(super) fn before(self, model: &Model, pass: Pass, present: impl Fn(Pass) -> bool) -> Neighbours {
        match self {
            Self::Forward => needs(model, pass, present),
            Self::Backward => dependents(model, pass, present),
        }
    }

    /// The passes that wait, in this direction, for the end of a pass.
    pub(super) fn after(self, model: &Model, pass: Pass, present: impl Fn(Pass) -> bool) -> Neighbours {
        match self {
            Self::Forward => dependents(model, pass, present),
            Self::Backward => needs(model, pass, present),
        }
    }

    /// What a pass acquires at its start in this direction.
    pub(super) fn acquired(self, model: &Model, pass: Pass, recomputed: bool) -> Units {
        match self {
            Self::Forward => acquired(model, pass, recomputed),
            Self::Backward => released(model, pass),
        }
    }

    /// What a pass releases at its end in this direction.
    pub(super) fn released(self, model: &Model, pass: Pass, recomputed: bool) -> Units {
        match self {
            Self::Forward => released(model, pass),
            Self::Backward => acquired(model, pass, recomputed),
        }
    }
}

fn needs(model: &Model, pass: Pass, present: impl Fn(Pass) -> bool) -> Neighbours {
    let mut found: [Option<(Pass, Ticks)>; 4] = [None; 4];
    for (cell, other) in found.iter_mut().zip(prerequisites(pass, model.placement(), present)) {
        let latency = if other.stage == pass.stage {
            Ticks::ZERO
        } else {
            model.latency_after(other.stage.min(pass.stage))
        };
        *cell = Some((other, latency));
    }
    found.into_iter().flatten()
}

fn dependents(model: &Model, pass: Pass, present: impl Fn(Pass) -> bool) -> Neighbours {
    let mut found: [Option<(Pass, Ticks)>; 4] = [None; 4];
    let here = |kind| {
        let other = pass.with_kind(kind);
        present(other).then_some((other, Ticks::ZERO))
    };
    match pass.kind {
        Kind::F => {
            let above = Pass { stage: Stage(pass.stage.0 + 1), ..pass };
            if above.stage.0 < model.stages() && present(above) {
                found[0] = Some((above, model.latency_after(pass.stage)));
            }
            found[1] = here(Kind::R);
            found[2] = here(Kind::I);
            found[3] = here(Kind::B);
        }
        Kind::R => {
            found[0] = here(Kind::I);
            found[1] = here(Kind::B);
        }
        Kind::I | Kind::B => {
            // As in `prerequisites`: beside a full backward its parts are not waited for from below.
            let yields = pass.kind == Kind::B || !present(pass.with_kind(Kind::B));
            if let Some(below) = pass.stage.0.checked_sub(1).map(Stage)
                && yields
            {
                let latency = model.latency_after(below);
                let waiting = |kind| {
                    let other = Pass { stage: below, kind, ..pass };
                    present(other).then_some((other, latency))
                };
                found[0] = waiting(Kind::I);
                found[1] = waiting(Kind::B);
            }
            if pass.kind == Kind::I {
                found[2] = here(Kind::W);
            }
        }
        Kind::W => {}
    }
    found.into_iter().flatten()
}
