//! What can be wrong with a CSV, and what a CSV cannot say.

use std::ops::Range;

use crate::model::{Device, Pass, PlacementError, Stage};
use crate::schedule::ScheduleError;
use crate::text::Shown;

/// What is wrong with a CSV, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("row {row}, column {column}: {problem}")]
pub struct CsvError {
    /// What is wrong.
    pub problem: CsvProblem,
    /// The row, from 1; row `r` is rank `r-1`.
    pub row: usize,
    /// The column, from 1.
    pub column: usize,
    /// The bytes of the file it is about.
    pub span: Range<usize>,
}

/// The ways in which a CSV can be wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CsvProblem {
    /// No row at all.
    #[error("the file is empty")]
    Empty,
    /// A rank without a pass.
    #[error("rank {0} runs nothing; every rank needs a stage")]
    EmptyRow(usize),
    /// A cell that does not begin with a stage number.
    #[error("`{0}` is not an action: it does not begin with a stage number, as `3F0` does")]
    NoStage(String),
    /// A cell whose letters PyTorch does not know.
    #[error(
        "`{0}` is not an action: after the stage comes one of F, I, W, B, as in `3F0`, or a word such as SEND_F"
    )]
    UnknownAction(String),
    /// A cell that does not end with a microbatch number.
    #[error(
        "`{0}` is not an action: after the letters comes the microbatch number and nothing else, as in `3F0`"
    )]
    NoMicrobatch(String),
    /// A number that does not fit 32 bits.
    #[error("`{0}` has a number that is too large")]
    TooLarge(String),
    /// A number behind an action that is not of one microbatch.
    #[error("`{0}` is not an action: `{1}` is of a stage and all its microbatches, and ends there")]
    NeedlessMicrobatch(String, String),
    /// A message of the first stage with one before it.
    #[error("`{0}`: there is no stage before the first one to exchange messages with")]
    NoStageBefore(String),
    /// Brackets that do not hold a forward and a backward.
    #[error(
        "`{0}` is not an overlapped pair: it holds a forward and a backward (B or I) and ends in OVERLAP_F_B, as \
         in `(0F4;7B0)OVERLAP_F_B`"
    )]
    NoPair(String),
    /// A blank cell among sends and receives.
    #[error(
        "this cell is blank, but others send and receive: in the compute_comms format every cell is an action"
    )]
    Blank,
    /// Blank cells at the end of a row with sends and receives.
    #[error(
        "the row ends in {}, but others send and receive: in the compute_comms format every cell is an action",
        if *.0 == 1 { "a blank cell".to_owned() } else { format!("{} blank cells", .0) }
    )]
    BlanksAtEnd(usize),
    /// A first line with the names of columns.
    #[error("this is a line of column names, but every line is a rank, from the first one on")]
    Header,
    /// A cell that is several, with something other than commas between them.
    #[error("cells are separated by {}, but PyTorch's CSV separates them by commas", if *.0 == '\t' { "tabs".to_owned() } else { format!("`{}`", .0) })]
    Separator(char),
    /// The letter I, or an overlapped pair, beside a BW, which belong to different dialects.
    #[error(
        "`{0}` and BW, which another cell has, belong to different dialects: with BW, the input gradient is B and \
         nothing is overlapped"
    )]
    MixedDialects(String),
    /// A stage on two ranks.
    #[error("stage {stage} is on rank {first} already, and cannot be on rank {second} too")]
    StageTwice {
        /// The stage.
        stage: u32,
        /// The rank of the row where it appears first.
        first: usize,
        /// The rank of this row.
        second: usize,
    },
    /// A stage number below the largest that no row has.
    #[error("stage {largest} is here, but stage {missing} is in no row")]
    StageMissing {
        /// The smallest stage that is missing.
        missing: u32,
        /// The largest stage there is.
        largest: u32,
    },
    /// The rows are no placement.
    #[error(transparent)]
    Placement(#[from] PlacementError),
    /// The orders are no schedule.
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
}

/// Why a schedule cannot be written as a CSV that would read as the same schedule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// PyTorch has no action for it.
    #[error("device {device}, position {position}: `{pass}` recomputes, for which PyTorch has no action")]
    Recomputation {
        /// The device.
        device: Device,
        /// The position in its order, from 0.
        position: usize,
        /// The recomputation.
        pass: Pass,
    },
    /// An offloaded activation.
    #[error("device {device}: `{pass}` is offloaded, for which PyTorch has no action")]
    Offloaded {
        /// The device.
        device: Device,
        /// The forward whose activation is offloaded.
        pass: Pass,
    },
    /// Two pipelines over the same devices.
    #[error("microbatches go in two directions, and PyTorch's runtime has one pipeline")]
    TwoDirections,
    /// Full backwards that would be read as input gradients.
    #[error(
        "every B has a W of its stage and microbatch, and there is no I: that would be read as the letters of \
         2024, in which B is the input gradient"
    )]
    LooksOld,
    /// A pass on a device that does not hold its stage.
    #[error("device {device}, position {position}: `{pass}` belongs on another device")]
    Misplaced {
        /// The device.
        device: Device,
        /// The position in its order, from 0.
        position: usize,
        /// The pass.
        pass: Pass,
    },
    /// A stage without passes.
    #[error("stage {0} has no pass; the file could not say which rank holds it")]
    StageUnseen(Stage),
    /// The number of microbatches is not one more than the largest microbatch.
    #[error("the schedule has {stated} microbatches, but its passes have {found}")]
    Microbatches {
        /// The number that the schedule states.
        stated: u32,
        /// One more than the largest microbatch of its passes.
        found: u64,
    },
}

/// An error about a part of a file.
pub(super) fn error_at(file: &str, span: Range<usize>, problem: impl Into<CsvProblem>) -> CsvError {
    let before = &file[..span.start];
    let line = before.rfind('\n').map_or(0, |at| at + 1);
    CsvError {
        problem: problem.into(),
        row: before.matches('\n').count() + 1,
        column: before[line..].matches(',').count() + 1,
        span,
    }
}

/// A cell as errors quote it: a file that is no CSV may be one long cell, with control characters.
pub(super) fn shorten(cell: &str) -> String {
    Shown(cell).to_string()
}
