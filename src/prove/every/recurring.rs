//! Passes that recur microbatch after microbatch.

use crate::model::{Kind, Microbatch, Pass};

/// A pass as far as repetition is concerned.
pub(super) trait Recurring: Copy {
    /// The number of its stage and kind.
    fn class(self) -> usize;
    /// The same pass of a later microbatch.
    fn later(self, by: u32) -> Self;
}

impl Recurring for Pass {
    fn class(self) -> usize {
        self.stage.index() * Kind::COUNT + self.kind as usize
    }

    fn later(self, by: u32) -> Self {
        Self { microbatch: Microbatch(self.microbatch.0 + by), ..self }
    }
}
