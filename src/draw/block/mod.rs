//! Pictures of a building block: its offsets and lifespans, its pattern modulo the interval, and the steps from there to a
//! schedule, as papers on controllable memory draw them.
//!
//! The steps are panels, one below the other: (a) one microbatch at its offsets, with the lifespans of its stages; (b)
//! the pattern modulo the interval, and what a device holds at every instant of it; (c) the block repeated every
//! interval; (d) the same passes as soon as possible; (e) the order that a builder makes of that, where there is one.
//! Several blocks stand side by side, on one scale of time.
//!
//! ```
//! use bubbleproof::block::family;
//! use bubbleproof::draw::{BlockPicture, blocks};
//!
//! let family = family::shipped("v-half").expect("it is shipped");
//! let (block, model) = (family.block(4)?, family.model(4, 1)?);
//! let picture = BlockPicture::new(&family.name, &block, &model)?;
//! assert!(blocks(&[picture], None)?.contains("<svg"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod live;
mod panels;
mod paper;
mod steps;

use std::fmt::Write as _;

use num_rational::Ratio;

use self::paper::{Column, LEFT};
use self::steps::Step;
use super::colour::{Colour, Ground};
use super::xml::{FONT, escape, width_of};
use super::{counted, meaning};
use crate::amounts;
use crate::amounts::in_unit;
use crate::block::Block;
use crate::model::{Kind, Model, ModelError, Ticks};
use crate::schedule::{Schedule, ScheduleError};

/// A building block, and what becomes of it.
#[derive(Debug, Clone)]
pub struct BlockPicture<'a> {
    name: &'a str,
    block: Block,
    model: &'a Model,
    /// Repeated, left-shifted, and perhaps reordered; none for a block with faults.
    steps: Vec<Step>,
}

/// Why there is no picture of a block.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BlockPictureError {
    /// The model cannot have so many microbatches.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The copies of the block are no schedule.
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
    /// Too little width for names and a timeline.
    #[error("a drawing of {blocks} needs a width of at least {least} pixels, not {asked}")]
    TooNarrow {
        /// How many blocks are drawn side by side.
        blocks: String,
        /// The width asked for, in pixels.
        asked: u32,
        /// The least there is.
        least: i64,
    },
}

/// The width of a drawing of one block, and the least width of one of several.
const WIDTH: i64 = 960;
const LEAST: i64 = 320;
/// Between two blocks.
const BETWEEN: i64 = 24;
/// The size of text.
const TEXT: i64 = 12;

impl<'a> BlockPicture<'a> {
    /// The picture of a block under a model, whatever that says of the number of microbatches.
    ///
    /// # Errors
    /// When the copies of the block are more than a model or a schedule may have.
    pub fn new(name: &'a str, block: &Block, model: &'a Model) -> Result<Self, BlockPictureError> {
        let block = block.clone().from_zero();
        let steps = if block.faults(model).is_empty() { steps::of(&block, model)? } else { Vec::new() };
        Ok(Self { name, block, model, steps })
    }

    /// How many microbatches the steps have: enough to show warm-up, steady phase and cool-down.
    #[must_use]
    pub fn microbatches(&self) -> u32 {
        steps::microbatches(&self.block, self.model)
    }

    /// The picture with what a builder makes of the copies of the block: a schedule with the same passes. One that is not
    /// another order than theirs, or cannot run, is passed over.
    ///
    /// # Errors
    /// When the model cannot have that number of microbatches.
    pub fn with_reordering(mut self, schedule: &Schedule) -> Result<Self, BlockPictureError> {
        if !self.steps.is_empty() {
            self.steps.extend(steps::reordered(&self.block, self.model, schedule)?);
        }
        Ok(self)
    }

    fn chunks(&self) -> usize {
        self.block.placement().lists().iter().map(Vec::len).max().unwrap_or(1)
    }

    /// A number of parts of a tick, as a time.
    fn time(&self, parts: i64) -> String {
        let unit = &self.model.costs().unit;
        let ticks = Ratio::new(parts, self.block.parts());
        if ticks.is_integer() { amounts::time(ticks.to_integer(), unit) } else { in_unit(ticks, unit) }
    }

    /// The latest instant that is drawn, in parts of a tick.
    fn latest(&self) -> i64 {
        let ends = self.block.passes().map(|(pass, at)| (at + self.block.duration(self.model, pass)).0);
        ends.chain(self.steps.iter().map(|step| step.makespan)).max().unwrap_or(1).max(1)
    }

    /// What is drawn, in one line.
    fn title(&self) -> String {
        let devices = self.block.placement().devices();
        let peak = self.block.steady_peak(self.model).into_iter().max().unwrap_or_default();
        let interval = self.time(self.block.interval_parts().0);
        format!(
            "{}: {}, interval T = {interval}, peak {}",
            self.name,
            counted(devices, "device"),
            amounts::memory(peak.0, &self.model.memory().unit)
        )
    }

    fn kinds(&self) -> impl Iterator<Item = Kind> + '_ {
        let occurs = |kind: &Kind| self.block.passes().any(|(pass, _)| pass.kind == *kind);
        Kind::ALL.into_iter().filter(occurs)
    }
}

/// One drawing of these blocks, side by side, their panels on one scale of time. The same blocks give the same bytes.
///
/// # Errors
/// When the width asked for, in pixels, has no room for them.
pub fn blocks(pictures: &[BlockPicture<'_>], width: Option<u32>) -> Result<String, BlockPictureError> {
    let count = i64::try_from(pictures.len()).expect("a few").max(1);
    let least = LEAST * count + BETWEEN * (count - 1);
    let width = match width {
        Some(asked) if i64::from(asked) < least => {
            let blocks = counted(u32::try_from(count).unwrap_or(u32::MAX), "block");
            return Err(BlockPictureError::TooNarrow { blocks, asked, least });
        }
        Some(asked) => i64::from(asked),
        None => WIDTH.max(least * 3 / 2),
    };
    let each = (width - BETWEEN * (count - 1)) / count;
    // Parts of a tick differ from block to block; the scale is that of ticks.
    let longest = pictures.iter().map(|picture| Ratio::new(picture.latest(), picture.block.parts())).max();
    let longest = longest.unwrap_or(Ratio::from_integer(1));
    let columns: Vec<Vec<(String, i64)>> = pictures
        .iter()
        .map(|picture| {
            panels::of(picture, &Column { width: each, plot: each - LEFT - paper::RIGHT, longest })
        })
        .collect();
    let (mut out, mut top) = (String::new(), 0);
    let rows = columns.iter().map(Vec::len).max().unwrap_or(0);
    for row in 0..rows {
        let mut height = 0;
        for (at, column) in (0..).zip(&columns) {
            let Some((svg, own)) = column.get(row) else { continue };
            let x: i64 = at * (each + BETWEEN);
            writeln!(out, "<g transform=\"translate({x} {top})\">\n{svg}</g>")
                .expect("writing to a string cannot fail");
            height = height.max(*own);
        }
        top += height;
    }
    let titles: Vec<String> = pictures.iter().map(BlockPicture::title).collect();
    let head = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{top}\" viewBox=\"0 0 {width} {top}\" \
         role=\"img\" font-family=\"{FONT}\" font-size=\"{TEXT}\" fill=\"#1c1c1f\">\n<title>{}</title>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"{}\"/>\n",
        escape(&titles.join("; ")),
        Ground::Light.colour().hex()
    );
    Ok(format!("{head}{out}</svg>\n"))
}

/// The colours of the kinds of pass, with their meaning.
fn legend(picture: &BlockPicture<'_>, width: i64) -> Vec<Vec<(Vec<Colour>, String)>> {
    let chunks = picture.chunks();
    let mut lines = vec![Vec::new()];
    let mut x = 0;
    for kind in picture.kinds() {
        let shades: Vec<Colour> =
            (0..chunks).map(|chunk| Colour::of(kind, chunk, chunks, Ground::Light)).collect();
        let text = format!("{kind} {}", meaning(kind));
        let needs = legend_width(shades.len(), &text);
        if x + needs > width && x > 0 {
            lines.push(Vec::new());
            x = 0;
        }
        x += needs;
        lines.last_mut().expect("there is a line").push((shades, text));
    }
    lines
}

/// The width of a piece of the legend with what is left free after it.
fn legend_width(shades: usize, text: &str) -> i64 {
    i64::try_from(shades).expect("a few") * 13 + 4 + width_of(text, 11) / 100 + 12
}

/// Whole ticks, where a block counts in parts of them.
fn scaled(parts: i64, longest: Ratio<i64>, of: i64, plot: i64) -> i64 {
    let numerator = i128::from(parts) * i128::from(plot) * 100 * i128::from(*longest.denom());
    let denominator = i128::from(of) * i128::from(*longest.numer());
    i64::try_from((2 * numerator + denominator).div_euclid(2 * denominator)).unwrap_or(i64::MAX)
}

/// A duration of a pass of a block, in parts of a tick.
fn end_of(picture: &BlockPicture<'_>, pass: crate::model::Pass, start: i64) -> i64 {
    (Ticks(start) + picture.block.duration(picture.model, pass)).0
}

#[cfg(test)]
mod tests;
