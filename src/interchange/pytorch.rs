//! PyTorch's pipeline schedules (CSV), in both of its formats.
//!
//! One row per rank, in the order of ranks; one cell per action, in the order of execution. A cell is stage,
//! word, microbatch: `3F0`; or an overlapped pair of a forward and a backward: `(0F4;7B0)OVERLAP_F_B`. Which
//! rank holds a stage follows from the row it appears in, the number of microbatches from the largest one,
//! and the chunks of a rank are its stages in ascending order.
//!
//! The format that PyTorch calls `compute_only` has passes alone, and blank cells, which mean idle. `compute_comms` has
//! sends, receives, waits and reductions as well, and no blanks.
//!
//! `torch.distributed.pipelining.schedules` reads leniently; this reader refuses everything that is
//! not an action. Files of 2024 use other letters: see [`Dialect`].

mod cell;
mod error;
mod write;

use std::collections::BTreeMap;
use std::ops::Range;

use cell::{BLANK, Cell, Letters, Said};
use error::error_at;
pub use error::{CsvError, CsvProblem, ExportError};
pub use write::{print, print_plan};

use crate::comm::CommunicationPlan;
use crate::model::{Microbatch, Placement, Stage};
use crate::schedule::{Place, Schedule};

/// What the letters of a file mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Dialect {
    /// I is the input gradient, W the weight gradient, B the full backward.
    Current,
    /// The files of 2024: B is the input gradient, W the weight gradient, BW the full backward.
    ///
    /// Recognised by a BW; also by every B having a W of the same stage and microbatch, without any
    /// I or overlapped pair: no schedule in the current letters runs both.
    Of2024,
}

/// Which actions a file has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Form {
    /// Passes alone.
    ComputeOnly,
    /// Everything that a rank does.
    ComputeComms,
}

/// A file that has been read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// What its letters mean.
    pub dialect: Dialect,
    /// Which actions it has.
    pub form: Form,
    plan: CommunicationPlan,
    /// By rank, ascending: the columns that are blank, from 0.
    blanks: Vec<Vec<usize>>,
}

impl File {
    /// Its passes.
    #[must_use]
    pub const fn schedule(&self) -> &Schedule {
        self.plan.schedule()
    }

    /// All that it says, where that is more than passes.
    #[must_use]
    pub fn plan(&self) -> Option<&CommunicationPlan> {
        (self.form == Form::ComputeComms).then_some(&self.plan)
    }

    /// The column, from 0, of an action by its place among the actions of its rank.
    #[must_use]
    pub fn column_of_action(&self, at: Place) -> Option<usize> {
        self.plan.rows().get(at.device.index())?.get(at.position)?;
        let mut column = at.position;
        for &blank in self.blanks.get(at.device.index())? {
            column += usize::from(blank <= column);
        }
        Some(column)
    }

    /// The column, from 0, of a pass by its place among the passes of its rank.
    #[must_use]
    pub fn column_of_pass(&self, at: Place) -> Option<usize> {
        let row = self.plan.rows().get(at.device.index())?;
        let mut passes = 0;
        let position = row.iter().position(|action| {
            passes += action.passes().len();
            passes > at.position
        })?;
        self.column_of_action(Place { position, ..at })
    }

    /// The file as PyTorch writes it, in the current letters, blanks included: for a file that PyTorch wrote in
    /// these letters, the same bytes. Where a full backward has a W beside it, which is an error but can be written, the
    /// full backward is BW as in 2024, since B would be read as the input gradient.
    #[must_use]
    pub fn print(&self) -> String {
        let mut text = String::new();
        let dialect = match write::lone_inputs(self.schedule()) {
            Ok(()) => Dialect::Current,
            Err(_) => Dialect::Of2024,
        };
        for (row, blanks) in self.plan.rows().iter().zip(&self.blanks) {
            let (mut actions, mut blanks) = (row.iter().copied(), blanks.iter().peekable());
            let columns = actions.len() + blanks.len();
            write::line(
                (0..columns).map(|column| match blanks.next_if_eq(&&column) {
                    Some(_) => None,
                    None => actions.next(),
                }),
                dialect,
                &mut text,
            );
        }
        text
    }
}

/// Reads a CSV and detects its form and its dialect. That the schedule can run is not checked here.
///
/// # Errors
/// When a cell is not an action, a rank runs nothing, or stages are missing or on several ranks. The
/// first such cell is reported.
pub fn parse(text: &str) -> Result<File, CsvError> {
    let mut rows: Vec<Row> = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let content = line.strip_suffix('\n').unwrap_or(line);
        let content = content.strip_suffix('\r').unwrap_or(content);
        let row = read_row(text, content, start).map_err(|error| {
            let names_columns = rows.is_empty()
                && !matches!(error.problem, CsvProblem::Separator(_))
                && is_header(content, text[line.len()..].lines().next());
            if names_columns {
                error_at(text, start..start + content.len(), CsvProblem::Header)
            } else {
                error
            }
        })?;
        if row.cells.is_empty() {
            return Err(error_at(text, start..start + content.len(), CsvProblem::EmptyRow(rows.len())));
        }
        rows.push(row);
        start += line.len();
    }
    let cells = || rows.iter().flat_map(|row| &row.cells);
    let largest = cells().filter_map(|cell| Some((cell.microbatch()?, cell))).max_by_key(|found| found.0);
    let Some(first) = cells().next() else {
        return Err(error_at(text, 0..0, CsvProblem::Empty));
    };
    let form = if cells().any(|cell| matches!(cell.said, Said::Other(_))) {
        Form::ComputeComms
    } else {
        Form::ComputeOnly
    };
    if form == Form::ComputeComms
        && let Some((row, blank)) = rows.iter().find_map(|row| Some((row, row.first_blank.clone()?)))
    {
        let problem = if row.blanks.first() == Some(&row.cells.len()) {
            CsvProblem::BlanksAtEnd(row.blanks.len())
        } else {
            CsvProblem::Blank
        };
        return Err(error_at(text, blank, problem));
    }
    let dialect = tell_dialect(text, &rows)?;
    let placement = read_placement(text, &rows)?;
    let (microbatches, last) = match largest {
        Some((microbatch, cell)) => (
            microbatch
                .0
                .checked_add(1)
                .ok_or_else(|| error_at(text, cell.span(text), CsvProblem::TooLarge(cell.quoted(text))))?,
            cell,
        ),
        None => (0, first),
    };
    let actions = rows.iter().map(|row| row.cells.iter().map(|cell| cell.action(dialect)).collect());
    let plan = CommunicationPlan::new(placement, microbatches, actions.collect())
        .map_err(|error| error_at(text, last.span(text), error))?;
    Ok(File { dialect, form, plan, blanks: rows.into_iter().map(|row| row.blanks).collect() })
}

/// A row that was read.
struct Row {
    cells: Vec<Cell>,
    /// The columns that are blank.
    blanks: Vec<usize>,
    /// The bytes of the first of them.
    first_blank: Option<Range<usize>>,
}

/// Reads a row that begins at `start` of the file.
fn read_row(file: &str, content: &str, start: usize) -> Result<Row, CsvError> {
    let mut row = Row { cells: Vec::new(), blanks: Vec::new(), first_blank: None };
    let mut at = start;
    for (column, whole) in content.split(',').enumerate() {
        let text = whole.trim_matches(BLANK);
        if text.is_empty() {
            row.blanks.push(column);
            row.first_blank.get_or_insert(at..at + whole.len());
        } else {
            let start = at + whole.len() - whole.trim_start_matches(BLANK).len();
            let cell = Cell::read(text, start).map_err(|problem| match separator(text) {
                Some((at, separator)) => {
                    let at = start + at;
                    error_at(file, at..at + 1, CsvProblem::Separator(separator))
                }
                None => error_at(file, start..start + text.len(), problem),
            })?;
            row.cells.push(cell);
        }
        at += whole.len() + 1;
    }
    Ok(row)
}

/// Whether a cell is an action.
fn is_action(cell: &str) -> bool {
    Cell::read(cell.trim_matches(BLANK), 0).is_ok()
}

/// Whether a first line that is no row of actions, with this one after it, holds the names of columns.
fn is_header(line: &str, next: Option<&str>) -> bool {
    let has_action = |line: &str| line.split(',').any(is_action);
    !has_action(line) && next.is_some_and(has_action)
}

/// What stands in place of a comma in a cell that is two actions or more, and where: a semicolon that belongs to no pair, or
/// a tab.
fn separator(cell: &str) -> Option<(usize, char)> {
    let mut in_pair = false;
    let found = cell.char_indices().find(|&(_, letter)| {
        in_pair = letter == '(' || in_pair && letter != ')';
        letter == ';' && !in_pair || letter == '\t'
    });
    found.filter(|&(at, _)| is_action(&cell[..at]))
}

fn tell_dialect(file: &str, rows: &[Row]) -> Result<Dialect, CsvError> {
    let cells = || rows.iter().flat_map(|row| &row.cells);
    let find = |letters| cells().find(move |cell| cell.passes().iter().any(|pass| pass.letters == letters));
    let newer = cells().find(|cell| match cell.said {
        Said::One(pass) => pass.letters == Letters::I,
        Said::Pair(_) => true,
        Said::Other(_) => false,
    });
    if find(Letters::Bw).is_some() {
        return match newer {
            Some(newer) => {
                let problem = CsvProblem::MixedDialects(newer.quoted(file));
                Err(error_at(file, newer.span(file), problem))
            }
            None => Ok(Dialect::Of2024),
        };
    }
    if newer.is_some() || find(Letters::B).is_none() || find(Letters::W).is_none() {
        return Ok(Dialect::Current);
    }
    let list = |letters| {
        let passes = cells().flat_map(Cell::passes).filter(|pass| pass.letters == letters);
        let mut pairs: Vec<(Stage, Microbatch)> = passes.map(|pass| (pass.stage, pass.microbatch)).collect();
        pairs.sort_unstable();
        pairs
    };
    let weights = list(Letters::W);
    let paired = list(Letters::B).iter().all(|pair| weights.binary_search(pair).is_ok());
    Ok(if paired { Dialect::Of2024 } else { Dialect::Current })
}

fn read_placement(file: &str, rows: &[Row]) -> Result<Placement, CsvError> {
    // By stage: the rank of its row, and its first cell.
    let mut held: BTreeMap<Stage, (usize, &Cell)> = BTreeMap::new();
    for (rank, row) in rows.iter().enumerate() {
        for cell in &row.cells {
            for stage in cell.action(Dialect::Current).stages() {
                let (first, _) = *held.entry(stage).or_insert((rank, cell));
                if first != rank {
                    let problem = CsvProblem::StageTwice { stage: stage.0, first, second: rank };
                    return Err(error_at(file, cell.span(file), problem));
                }
            }
        }
    }
    let Some((&largest, &(_, cell))) = held.last_key_value() else {
        return Err(error_at(file, 0..0, CsvProblem::Empty));
    };
    if let Some(missing) = (0..largest.0).find(|&stage| !held.contains_key(&Stage(stage))) {
        let problem = CsvProblem::StageMissing { missing, largest: largest.0 };
        return Err(error_at(file, cell.span(file), problem));
    }
    let mut stages_of = vec![Vec::new(); rows.len()];
    for (&stage, &(rank, _)) in &held {
        stages_of[rank].push(stage);
    }
    Placement::new(stages_of).map_err(|error| error_at(file, cell.span(file), error))
}

#[cfg(test)]
mod tests;
