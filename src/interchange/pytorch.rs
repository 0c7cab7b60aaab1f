//! PyTorch's pipeline schedules (CSV), in the form that it calls `compute_only`.
//!
//! One row per rank, in the order of ranks; one cell per pass, in the order of execution; blank
//! cells mean idle and are skipped. A cell is stage, letters, microbatch: `3F0`. Which rank holds a
//! stage follows from the row it appears in, the number of microbatches from the largest one, and
//! the chunks of a rank are its stages in ascending order.
//!
//! `torch.distributed.pipelining.schedules` reads leniently; this reader refuses everything that is
//! not a pass. Files of 2024 use other letters: see [`Dialect`].

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;

use crate::model::{Device, Kind, Microbatch, Pass, Placement, PlacementError, Stage};
use crate::schedule::{Schedule, ScheduleError};

/// What the letters of a file mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// I is the input gradient, W the weight gradient, B the full backward.
    Current,
    /// The files of 2024: B is the input gradient, W the weight gradient, BW the full backward.
    ///
    /// Recognised by a BW; also by every B having a W of the same stage and microbatch, without any
    /// I: no schedule in the current letters runs both.
    Of2024,
}

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
pub enum CsvProblem {
    /// No row at all.
    #[error("the file is empty")]
    Empty,
    /// A rank without a pass.
    #[error("rank {0} runs nothing; every rank needs a stage")]
    EmptyRow(usize),
    /// A cell that does not begin with a stage number.
    #[error("`{0}` is not a pass: it does not begin with a stage number, as `3F0` does")]
    NoStage(String),
    /// A cell whose letters PyTorch does not know.
    #[error("`{0}` is not a pass: after the stage comes one of F, I, W, B, as in `3F0`")]
    UnknownAction(String),
    /// A cell that does not end with a microbatch number.
    #[error(
        "`{0}` is not a pass: after the letters comes the microbatch number and nothing else, as in `3F0`"
    )]
    NoMicrobatch(String),
    /// A number that does not fit 32 bits.
    #[error("`{0}` has a number that is too large")]
    TooLarge(String),
    /// An action of the `compute_comms` form, or forward and backward overlapped.
    #[error(
        "`{0}` is not supported yet: only the compute_only form, with passes F, I, W and B one at a time, is read"
    )]
    Unsupported(String),
    /// The letter I beside a BW, which belong to different dialects.
    #[error(
        "`{0}` and BW, which another cell has, belong to different dialects: with BW, the input gradient is B"
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

/// The letters of a cell.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Letters {
    F,
    I,
    W,
    B,
    Bw,
}

/// What a cell says, before the dialect is known, and where it begins. There are millions of them:
/// the rest of their place is found again when one is complained about.
struct Action {
    stage: Stage,
    letters: Letters,
    microbatch: Microbatch,
    start: usize,
}

/// An error about a cell.
fn error_at(file: &str, span: Range<usize>, problem: impl Into<CsvProblem>) -> CsvError {
    let before = &file[..span.start];
    let line = before.rfind('\n').map_or(0, |at| at + 1);
    CsvError {
        problem: problem.into(),
        row: before.matches('\n').count() + 1,
        column: before[line..].matches(',').count() + 1,
        span,
    }
}

/// Reads a CSV and tells its dialect. That the schedule can run is not checked here.
///
/// # Errors
/// When a cell is not a pass, a rank runs nothing, or stages are missing or on several ranks. The
/// first such cell is reported.
pub fn parse(text: &str) -> Result<(Schedule, Dialect), CsvError> {
    let mut rows: Vec<Vec<Action>> = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let content = line.strip_suffix('\n').unwrap_or(line);
        let content = content.strip_suffix('\r').unwrap_or(content);
        let row = read_row(text, content, start)?;
        if row.is_empty() {
            return Err(error_at(text, start..start + content.len(), CsvProblem::EmptyRow(rows.len())));
        }
        rows.push(row);
        start += line.len();
    }
    let Some(last) = rows.iter().flatten().max_by_key(|action| action.microbatch) else {
        return Err(error_at(text, 0..0, CsvProblem::Empty));
    };
    let dialect = tell_dialect(text, &rows)?;
    let placement = read_placement(text, &rows)?;
    let microbatches = last
        .microbatch
        .0
        .checked_add(1)
        .ok_or_else(|| error_at(text, last.span(text), CsvProblem::TooLarge(last.cell(text))))?;
    let orders = rows.iter().map(|row| row.iter().map(|action| action.pass(dialect)).collect());
    let schedule = Schedule::new(placement, microbatches, orders.collect())
        .map_err(|error| error_at(text, last.span(text), error))?;
    Ok((schedule, dialect))
}

/// Reads a row that begins at `start` of the file.
fn read_row(file: &str, content: &str, start: usize) -> Result<Vec<Action>, CsvError> {
    const BLANK: [char; 2] = [' ', '\t'];
    let mut actions = Vec::new();
    let mut at = start;
    for whole in content.split(',') {
        let cell = whole.trim_matches(BLANK);
        if !cell.is_empty() {
            let start = at + whole.len() - whole.trim_start_matches(BLANK).len();
            let action = read_action(cell, start)
                .map_err(|problem| error_at(file, start..start + cell.len(), problem))?;
            actions.push(action);
        }
        at += whole.len() + 1;
    }
    Ok(actions)
}

fn read_action(text: &str, start: usize) -> Result<Action, CsvProblem> {
    const COMMUNICATION: [&str; 10] = [
        "SEND_F",
        "RECV_F",
        "SEND_B",
        "RECV_B",
        "WAIT_SEND_F",
        "WAIT_SEND_B",
        "UNSHARD",
        "RESHARD",
        "REDUCE_GRAD",
        "WAIT_REDUCE_GRAD",
    ];
    let quoted = || shorten(text);
    if text.starts_with('(') && text.ends_with(")OVERLAP_F_B") {
        return Err(CsvProblem::Unsupported(quoted()));
    }
    let is_digit = |letter: char| letter.is_ascii_digit();
    let letters_at = text.find(|letter| !is_digit(letter)).unwrap_or(text.len());
    let (stage, rest) = text.split_at(letters_at);
    let microbatch_at =
        rest.find(|letter: char| !letter.is_ascii_uppercase() && letter != '_').unwrap_or(rest.len());
    let (word, microbatch) = rest.split_at(microbatch_at);
    if stage.is_empty() {
        return Err(CsvProblem::NoStage(quoted()));
    }
    if COMMUNICATION.contains(&word) && microbatch.chars().all(is_digit) {
        return Err(CsvProblem::Unsupported(quoted()));
    }
    let letters = match word {
        "F" => Letters::F,
        "I" => Letters::I,
        "W" => Letters::W,
        "B" => Letters::B,
        "BW" => Letters::Bw,
        _ => return Err(CsvProblem::UnknownAction(quoted())),
    };
    if microbatch.is_empty() || !microbatch.chars().all(is_digit) {
        return Err(CsvProblem::NoMicrobatch(quoted()));
    }
    let number = |digits: &str| digits.parse::<u32>().map_err(|_| CsvProblem::TooLarge(quoted()));
    Ok(Action { stage: Stage(number(stage)?), letters, microbatch: Microbatch(number(microbatch)?), start })
}

/// A cell as errors quote it: a file that is no CSV may be one long cell, with control characters.
fn shorten(cell: &str) -> String {
    const LONGEST: usize = 40;
    let visible = |letter: char| if letter.is_control() { '\u{fffd}' } else { letter };
    let mut text: String = cell.chars().take(LONGEST).map(visible).collect();
    if cell.chars().nth(LONGEST).is_some() {
        text.push_str("...");
    }
    text
}

impl Action {
    /// The bytes of the file where it stands.
    fn span(&self, file: &str) -> Range<usize> {
        let rest = &file[self.start..];
        let length = rest.find(|letter: char| !letter.is_ascii_alphanumeric()).unwrap_or(rest.len());
        self.start..self.start + length
    }

    fn cell(&self, file: &str) -> String {
        shorten(&file[self.span(file)])
    }

    fn pass(&self, dialect: Dialect) -> Pass {
        let kind = match (self.letters, dialect) {
            (Letters::F, _) => Kind::F,
            (Letters::W, _) => Kind::W,
            (Letters::I, _) | (Letters::B, Dialect::Of2024) => Kind::I,
            (Letters::Bw, _) | (Letters::B, Dialect::Current) => Kind::B,
        };
        Pass::new(self.stage, kind, self.microbatch)
    }
}

fn tell_dialect(file: &str, rows: &[Vec<Action>]) -> Result<Dialect, CsvError> {
    let actions = || rows.iter().flatten();
    let find = |letters| actions().find(move |action| action.letters == letters);
    let input = find(Letters::I);
    if find(Letters::Bw).is_some() {
        return match input {
            Some(input) => {
                let problem = CsvProblem::MixedDialects(input.cell(file));
                Err(error_at(file, input.span(file), problem))
            }
            None => Ok(Dialect::Of2024),
        };
    }
    if input.is_some() || find(Letters::B).is_none() || find(Letters::W).is_none() {
        return Ok(Dialect::Current);
    }
    let list = |letters| {
        let mut pairs: Vec<(Stage, Microbatch)> = actions()
            .filter(|action| action.letters == letters)
            .map(|action| (action.stage, action.microbatch))
            .collect();
        pairs.sort_unstable();
        pairs
    };
    let weights = list(Letters::W);
    let paired = list(Letters::B).iter().all(|pair| weights.binary_search(pair).is_ok());
    Ok(if paired { Dialect::Of2024 } else { Dialect::Current })
}

fn read_placement(file: &str, rows: &[Vec<Action>]) -> Result<Placement, CsvError> {
    // By stage: the rank of its row, and its first cell.
    let mut held: BTreeMap<Stage, (usize, &Action)> = BTreeMap::new();
    for (rank, row) in rows.iter().enumerate() {
        for action in row {
            let (first, _) = *held.entry(action.stage).or_insert((rank, action));
            if first != rank {
                let problem = CsvProblem::StageTwice { stage: action.stage.0, first, second: rank };
                return Err(error_at(file, action.span(file), problem));
            }
        }
    }
    let Some((&largest, &(_, action))) = held.last_key_value() else {
        return Err(error_at(file, 0..0, CsvProblem::Empty));
    };
    if let Some(missing) = (0..largest.0).find(|&stage| !held.contains_key(&Stage(stage))) {
        let problem = CsvProblem::StageMissing { missing, largest: largest.0 };
        return Err(error_at(file, action.span(file), problem));
    }
    let mut stages_of = vec![Vec::new(); rows.len()];
    for (&stage, &(rank, _)) in &held {
        stages_of[rank].push(stage);
    }
    Placement::new(stages_of).map_err(|error| error_at(file, action.span(file), error))
}

/// The CSV of a schedule, in the current dialect. Reading it gives the same schedule, up to its name
/// and the order in which an explicit placement lists the stages of a device.
///
/// # Errors
/// When the file could not say the same as the schedule.
pub fn print(schedule: &Schedule) -> Result<String, ExportError> {
    let placement = schedule.placement();
    let mut text = String::new();
    let mut seen = vec![false; placement.stages() as usize];
    let mut found = 0;
    for device in Device::all(schedule.devices()) {
        for (position, &pass) in schedule.order(device).iter().enumerate() {
            if pass.kind == Kind::R {
                return Err(ExportError::Recomputation { device, position, pass });
            }
            if !placement.stages_of(device).contains(&pass.stage) {
                return Err(ExportError::Misplaced { device, position, pass });
            }
            seen[pass.stage.index()] = true;
            found = found.max(u64::from(pass.microbatch.0) + 1);
            let comma = if position == 0 { "" } else { "," };
            write!(text, "{comma}{pass}").expect("writing to a string cannot fail");
        }
        text.push_str("\r\n");
    }
    if let Some(unseen) = seen.iter().position(|&seen| !seen) {
        return Err(ExportError::StageUnseen(Stage::at(unseen)));
    }
    let stated = schedule.microbatches();
    if found != u64::from(stated) {
        return Err(ExportError::Microbatches { stated, found });
    }
    Ok(text)
}

#[cfg(test)]
mod tests;
