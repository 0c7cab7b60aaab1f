//! Warm-up, steady phase and cool-down.

use std::fmt;

use super::Span;
use crate::model::{Kind, Ticks};

/// A part of the time that a schedule takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// The pipeline fills.
    WarmUp,
    /// All stages work in both directions.
    Steady,
    /// The pipeline drains.
    CoolDown,
}

impl Phase {
    /// What it is called.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::WarmUp => "warm-up",
            Self::Steady => "steady phase",
            Self::CoolDown => "cool-down",
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

/// Where the steady phase lies: from the instant at which the last stage to do so begins its first
/// backward pass (I or B), to the instant at which the first stage to do so ends its last forward pass. All
/// stages are then at work in both directions. Where the second instant is not after the first, as in
/// `GPipe`, there is no steady phase, and warm-up ends where cool-down begins: at the second instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Phases {
    /// When warm-up ends and the steady phase begins.
    pub steady_from: Ticks,
    /// When the steady phase ends and cool-down begins.
    pub steady_to: Ticks,
    /// When cool-down ends.
    pub makespan: Ticks,
}

impl Phases {
    /// The phases of passes in time: those of each stage in the order in which they run, on a pipeline of so many
    /// stages, the first start being 0 and the last end the makespan.
    #[must_use]
    pub fn of(stages: u32, makespan: Ticks, spans: impl IntoIterator<Item = Span>) -> Self {
        let stages = stages as usize;
        let (mut first_backward, mut last_forward) = (vec![None; stages], vec![None; stages]);
        for Span { pass, start, end } in spans {
            let stage = pass.stage.index();
            match pass.kind {
                Kind::I | Kind::B => _ = first_backward[stage].get_or_insert(start),
                Kind::F => last_forward[stage] = Some(end),
                Kind::R | Kind::W => {}
            }
        }
        let steady_to = last_forward.into_iter().flatten().min().unwrap_or(makespan);
        let filled = first_backward.into_iter().flatten().max().unwrap_or(Ticks::ZERO);
        Self { steady_from: filled.min(steady_to), steady_to, makespan }
    }

    /// Every phase that there is, with its beginning and its end.
    pub fn list(self) -> impl Iterator<Item = (Phase, Ticks, Ticks)> {
        [
            (Phase::WarmUp, Ticks::ZERO, self.steady_from),
            (Phase::Steady, self.steady_from, self.steady_to),
            (Phase::CoolDown, self.steady_to, self.makespan),
        ]
        .into_iter()
        .filter(|&(_, from, to)| from < to)
    }
}
