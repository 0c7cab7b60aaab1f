//! Warm-up, steady phase and cool-down of a picture.

use super::Picture;
use crate::model::{Kind, Ticks};

/// Where the steady phase lies: from the instant at which the last stage to do so begins its first
/// backward pass (I or B), to the instant at which the first stage to do so ends its last forward pass. All
/// stages are then at work in both directions. Where the second instant is not after the first, as in
/// `GPipe`, there is no steady phase, and warm-up ends where cool-down begins: at the second instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Phases {
    pub(super) steady_from: Ticks,
    pub(super) steady_to: Ticks,
}

impl Phases {
    /// The phases of a picture.
    pub(super) fn of(picture: &Picture<'_>) -> Self {
        let stages = picture.schedule.placement().stages() as usize;
        let (mut first_backward, mut last_forward) = (vec![None; stages], vec![None; stages]);
        for device in picture.devices() {
            for (pass, start, end) in picture.passes(device) {
                let stage = pass.stage.index();
                match pass.kind {
                    Kind::I | Kind::B => _ = first_backward[stage].get_or_insert(start),
                    Kind::F => last_forward[stage] = Some(end),
                    Kind::R | Kind::W => {}
                }
            }
        }
        let steady_to = last_forward.into_iter().flatten().min().unwrap_or_else(|| picture.makespan());
        let filled = first_backward.into_iter().flatten().max().unwrap_or(Ticks::ZERO);
        Self { steady_from: filled.min(steady_to), steady_to }
    }

    /// Every phase that there is, with its beginning and its end.
    pub(super) fn list(self, makespan: Ticks) -> impl Iterator<Item = (&'static str, Ticks, Ticks)> {
        [
            ("warm-up", Ticks::ZERO, self.steady_from),
            ("steady phase", self.steady_from, self.steady_to),
            ("cool-down", self.steady_to, makespan),
        ]
        .into_iter()
        .filter(|&(_, from, to)| from < to)
    }
}
