//! A cut of layers into stages.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::model::{ModelError, Stage};

/// How many layers each stage has, in the order of the stages.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Cut(Vec<u32>);

/// Why a cut does not suit the layers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CutError {
    /// It is for another number of stages.
    #[error("the cut has {found} stages, the placement {expected}")]
    Stages {
        /// How many it has.
        found: usize,
        /// How many there are.
        expected: u32,
    },
    /// It is for another number of layers.
    #[error("the cut has {found} layers, the model {expected}")]
    Layers {
        /// How many it has.
        found: u64,
        /// How many there are.
        expected: usize,
    },
    /// A stage without a layer, where that is not allowed.
    #[error("stage {0} has no layer: `choices.empty_stages = true` allows that")]
    Empty(Stage),
    /// What follows from the cut is no model.
    #[error(transparent)]
    Model(#[from] ModelError),
}

impl Cut {
    /// The cut with this many layers in each stage.
    #[must_use]
    pub const fn new(layers: Vec<u32>) -> Self {
        Self(layers)
    }

    /// The cut that gives each stage as many layers as any other, the first ones one more where it does not come out even.
    #[must_use]
    pub fn even(layers: u32, stages: u32) -> Self {
        let (each, over) = (layers / stages.max(1), layers % stages.max(1));
        Self((0..stages).map(|stage| each + u32::from(stage < over)).collect())
    }

    /// How many layers each stage has.
    #[must_use]
    pub fn layers(&self) -> &[u32] {
        &self.0
    }

    /// The layers of each stage: from the first to the one behind the last.
    pub fn ranges(&self) -> impl Iterator<Item = std::ops::Range<usize>> + '_ {
        self.0.iter().scan(0_usize, |begin, &layers| {
            let range = *begin..*begin + layers as usize;
            *begin = range.end;
            Some(range)
        })
    }
}

impl fmt::Display for Cut {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut stages = self.0.iter();
        if let Some(first) = stages.next() {
            write!(out, "{first}")?;
        }
        stages.try_for_each(|layers| write!(out, ",{layers}"))
    }
}
