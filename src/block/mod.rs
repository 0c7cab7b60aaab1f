//! Building blocks: the passes of one microbatch (or of K) with their offsets, repeated every
//! interval T (Pipeline Parallelism with Controllable Memory, arXiv 2405.15362, section 2).
//!
//! Copy `j` of a pass with offset `o` starts at `o + j*T`. Everything here is exact: the least real
//! interval of a block need not be an integer, so a block may divide each tick into equal parts and
//! count its offsets in those.
//!
//! ```
//! use bubbleproof::catalog;
//! use bubbleproof::model::{Model, Placement, Units};
//!
//! let model = Model::unit(Placement::v(4)?, 1)?;
//! let block = catalog::block("v-min", model.placement()).expect("V-Min is for V placement");
//! assert!(block.faults(&model).is_empty());
//! assert_eq!(block.interval(), 6.into());
//! // 1F1B holds 8 chunks on the first of 4 devices.
//! assert_eq!(block.steady_peak(&model).into_iter().max(), Some(Units(4)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod algebra;
mod expand;
pub mod family;
mod passes;

pub use algebra::BlockViolation;
pub use passes::Passes;

use num_rational::Ratio;

use crate::model::{Device, Kind, Microbatch, Model, Pass, Placement, Stage, Ticks};

/// Offsets of the passes of K microbatches and the interval at which they repeat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    placement: Placement,
    period: u32,
    parts: i64,
    interval: Ticks,
    /// By stage, kind and copy.
    offsets: Vec<Option<Ticks>>,
}

/// Why offsets are not a building block.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BlockError {
    /// The interval, the parts of a tick or the microbatches of a block are not positive.
    #[error("a block needs a positive {0}")]
    NotPositive(&'static str),
    /// A pass of a stage or copy that does not exist.
    #[error("the block has no place for `{0}`")]
    UnknownPass(Pass),
    /// A pass with two offsets.
    #[error("`{0}` has two offsets")]
    Twice(Pass),
    /// A pass without an offset.
    #[error("`{0}` has no offset")]
    Missing(Pass),
    /// A full backward beside one of its parts.
    #[error("`{0}` has an offset beside the full backward of its stage")]
    BackwardTwice(Pass),
    /// Numbers too large to be multiplied safely.
    #[error("the offsets or the interval are too large")]
    Overflow,
}

impl Block {
    /// The largest offset, interval, and product with the parts of a tick.
    const MAX_TICKS: i64 = crate::model::Model::MAX_TOTAL;

    /// A block of one microbatch whose offsets are whole ticks.
    ///
    /// # Errors
    /// When a pass is unknown, double or missing, or the interval is not positive.
    pub fn new(
        placement: Placement,
        interval: Ticks,
        offsets: impl IntoIterator<Item = (Stage, Kind, Ticks)>,
    ) -> Result<Self, BlockError> {
        let offsets =
            offsets.into_iter().map(|(stage, kind, at)| (Pass::new(stage, kind, Microbatch(0)), at));
        Self::periodic(placement, 1, 1, interval, offsets)
    }

    /// A block of `period` microbatches; the microbatch of a pass in `offsets` is its copy,
    /// `0..period`. Offsets and interval count `1/parts` of a tick.
    ///
    /// Every stage and copy needs F and either B, or both I and W; R is optional.
    ///
    /// # Errors
    /// When a pass is unknown, double or missing, or a number is not positive or too large.
    pub fn periodic(
        placement: Placement,
        period: u32,
        parts: i64,
        interval: Ticks,
        offsets: impl IntoIterator<Item = (Pass, Ticks)>,
    ) -> Result<Self, BlockError> {
        for (what, positive) in [
            ("interval", interval.0 > 0),
            ("number of parts of a tick", parts > 0),
            ("number of microbatches", period > 0),
        ] {
            if !positive {
                return Err(BlockError::NotPositive(what));
            }
        }
        if u64::from(placement.stages()) * u64::from(period) > Model::MAX_CELLS {
            return Err(BlockError::Overflow);
        }
        let cells = placement.stages() as usize * Kind::COUNT * period as usize;
        let mut block = Self { placement, period, parts, interval, offsets: vec![None; cells] };
        let large = |ticks: Ticks| ticks.0.checked_abs().is_none_or(|size| size > Self::MAX_TICKS);
        if large(interval) || parts > Self::MAX_TICKS {
            return Err(BlockError::Overflow);
        }
        for (pass, offset) in offsets {
            if large(offset) {
                return Err(BlockError::Overflow);
            }
            let cell = block.cell(pass).ok_or(BlockError::UnknownPass(pass))?;
            if block.offsets[cell].replace(offset).is_some() {
                return Err(BlockError::Twice(pass));
            }
        }
        block.check_complete()?;
        Ok(block)
    }

    fn check_complete(&self) -> Result<(), BlockError> {
        for (stage, copy) in self.pairs() {
            let pass = |kind| Pass::new(stage, kind, copy);
            let demand =
                |kind| self.offset(pass(kind)).map_or(Err(BlockError::Missing(pass(kind))), |_| Ok(()));
            demand(Kind::F)?;
            if self.offset(pass(Kind::B)).is_none() {
                demand(Kind::I)?;
                demand(Kind::W)?;
            } else if let Some(kind) =
                [Kind::I, Kind::W].into_iter().find(|&kind| self.offset(pass(kind)).is_some())
            {
                return Err(BlockError::BackwardTwice(pass(kind)));
            }
        }
        Ok(())
    }

    /// Which device holds which stages.
    #[must_use]
    pub const fn placement(&self) -> &Placement {
        &self.placement
    }

    /// The number of microbatches in one interval, K.
    #[must_use]
    pub const fn period(&self) -> u32 {
        self.period
    }

    /// Into how many parts a tick is divided: offsets and [`interval_parts`](Self::interval_parts)
    /// count those.
    #[must_use]
    pub const fn parts(&self) -> i64 {
        self.parts
    }

    /// The interval T, in ticks.
    #[must_use]
    pub fn interval(&self) -> Ratio<i64> {
        Ratio::new(self.interval.0, self.parts)
    }

    /// The interval T, in parts of a tick.
    #[must_use]
    pub const fn interval_parts(&self) -> Ticks {
        self.interval
    }

    /// The offset of a pass in parts of a tick, if the block has the pass. Its microbatch is the
    /// copy, `0..period`.
    #[must_use]
    pub fn offset(&self, pass: Pass) -> Option<Ticks> {
        self.cell(pass).and_then(|cell| self.offsets[cell])
    }

    /// The passes with their offsets in parts of a tick, by stage, copy and kind.
    pub fn passes(&self) -> impl Iterator<Item = (Pass, Ticks)> {
        self.passes_among(Stage::all(self.placement.stages()))
    }

    /// The passes of a device with their offsets in parts of a tick, by stage, copy and kind.
    pub fn passes_of(&self, device: Device) -> impl Iterator<Item = (Pass, Ticks)> {
        let mut stages = self.placement.stages_of(device).to_vec();
        stages.sort_unstable();
        self.passes_among(stages)
    }

    fn passes_among(&self, stages: impl IntoIterator<Item = Stage>) -> impl Iterator<Item = (Pass, Ticks)> {
        let copies = Microbatch::all(self.period);
        let pairs = stages.into_iter().flat_map(move |stage| copies.clone().map(move |copy| (stage, copy)));
        pairs.flat_map(move |(stage, copy)| {
            Kind::ALL.into_iter().filter_map(move |kind| {
                let pass = Pass::new(stage, kind, copy);
                self.offset(pass).map(|offset| (pass, offset))
            })
        })
    }

    /// The same block begun at another instant, so that the first pass of all starts at 0.
    #[must_use]
    pub fn from_zero(mut self) -> Self {
        let first = self.offsets.iter().flatten().min().copied().unwrap_or_default();
        for offset in self.offsets.iter_mut().flatten() {
            *offset -= first;
        }
        self
    }

    fn pairs(&self) -> impl Iterator<Item = (Stage, Microbatch)> + use<> {
        let period = self.period;
        Stage::all(self.placement.stages())
            .flat_map(move |stage| Microbatch::all(period).map(move |copy| (stage, copy)))
    }

    fn cell(&self, pass: Pass) -> Option<usize> {
        (pass.stage.0 < self.placement.stages() && pass.microbatch.0 < self.period).then(|| {
            (pass.stage.index() * Kind::COUNT + pass.kind as usize) * self.period as usize
                + pass.microbatch.index()
        })
    }
}

#[cfg(test)]
mod tests;
