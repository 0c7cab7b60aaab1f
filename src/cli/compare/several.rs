//! `compare` for several models: one table with the figures of all, side by side.

use std::fmt;

use serde::Serialize;

use super::families::Families;
use super::{CompareArgs, Comparison};
use crate::cli::deadline::Deadline;
use crate::cli::error::{Error, Status};
use crate::cli::family_input::Base;
use crate::cli::figures::headline;
use crate::cli::interrupt::on_signals;
use crate::cli::output::{Output, note};
use crate::cli::progress::Progress;
use crate::cli::size::check_size;

use crate::amounts::Amounts;
use crate::cli::table::Table;
use crate::estimate::Work;
use crate::model::Model;

/// The comparisons of all models, in the order given.
#[derive(Debug, Serialize)]
#[serde(transparent)]
struct SideBySide<'a> {
    models: Vec<Comparison<'a>>,
}

/// Compares the schedules of each model, within equal shares of the time.
///
/// # Errors
/// When a file or an option is wrong, or lists of sizes or memory limits are given too.
pub(super) fn run(args: &CompareArgs, output: Output) -> Result<Status, Error> {
    let Some(only) = args.model.only() else {
        return Err(Error::usage(
            "several models are compared at one size and one memory limit",
            "give one model with lists, or several models with one value for each option",
        ));
    };
    let progress = Progress::start("reading the models").until(args.search.time_limit());
    let first = args.model.base()?;
    let others = args.more.iter().map(|path| Base::read(path)).collect::<Result<Vec<_>, Error>>()?;
    let bases: Vec<&Base> = std::iter::once(&first).chain(&others).collect();
    let families = bases.iter().map(|base| Families::read(base, args.schedules.as_ref()));
    let families = families.collect::<Result<Vec<_>, Error>>()?;
    let models = bases.iter().map(|base| only.of(base)).collect::<Result<Vec<Model>, Error>>()?;
    for model in &models {
        check_size(model, Work::Search, Some(args.search.time_limit()))?;
    }
    let stop = args.search.stop(on_signals(), output);
    let limit = Deadline::after(args.search.time_limit(), output);
    let mut report = SideBySide { models: Vec::new() };
    for (done, (model, families)) in models.iter().zip(&families).enumerate() {
        let left = u32::try_from(models.len() - done).unwrap_or(u32::MAX);
        let share = stop.within(stop.remaining() / left);
        report.models.push(Comparison::of(args, families, model, &mut Vec::new(), &share, &progress)?);
    }
    drop((progress, limit));
    for comparison in &report.models {
        for text in &comparison.notes {
            note(&format!("{}: {text}", comparison.model));
        }
    }
    output.print(&report)?;
    Ok(report.status())
}

impl SideBySide<'_> {
    /// Unknown if rows are missing; otherwise yes if any schedule is valid for any model.
    fn status(&self) -> Status {
        let is_missing = self.models.iter().any(|comparison| !comparison.missing.is_empty());
        if is_missing { Status::GaveUp } else { Status::of(self.models.iter().any(Comparison::has_valid)) }
    }

    /// All schedules, each once, in the order in which the models have them.
    fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for row in self.models.iter().flat_map(|comparison| &comparison.schedules) {
            if !names.contains(&row.name.as_str()) {
                names.push(&row.name);
            }
        }
        names
    }
}

/// What stands for a model in the headings of its columns: A to Z, then 27, 28 and so on.
fn sign(position: usize) -> String {
    let letter = u8::try_from(position).ok().and_then(|position| b'A'.checked_add(position));
    letter
        .filter(u8::is_ascii_uppercase)
        .map_or_else(|| (position + 1).to_string(), |letter| char::from(letter).to_string())
}

impl fmt::Display for SideBySide<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut headings = vec!["schedule".to_owned()];
        let names = self.names();
        let mut rows: Vec<Vec<String>> = names.iter().map(|&name| vec![name.to_owned()]).collect();
        for (position, comparison) in self.models.iter().enumerate() {
            let sign = sign(position);
            let amounts = Amounts::new(out.alternate(), comparison.time_unit, comparison.memory_unit);
            let makespans = comparison.schedules.iter().filter_map(|row| row.figures.makespan);
            let peaks = comparison.schedules.iter().filter_map(|row| row.figures.peak_memory_max);
            let columns = [amounts.times(makespans), amounts.memories(peaks)];
            let size = [comparison.devices, comparison.microbatches];
            let line = headline(comparison.model, size, [columns[0].unit(), columns[1].unit()]);
            writeln!(out, "{sign}: {line}")?;
            headings.extend(["makespan", "bubble rate", "peak memory"].map(|what| format!("{sign} {what}")));
            for (name, cells) in names.iter().zip(&mut rows) {
                let row = comparison.schedules.iter().find(|row| row.name == *name);
                cells.extend(row.map_or_else(
                    || ["-"; 3].map(str::to_owned),
                    |row| row.in_brief([&columns[0], &columns[1]]),
                ));
            }
        }
        let mut table = Table::of_columns(headings);
        for cells in rows {
            table.cells(cells);
        }
        write!(out, "\n{table}")?;
        let mut before = "\n";
        for (position, comparison) in self.models.iter().enumerate() {
            for reason in comparison.schedules.iter().filter_map(|row| row.error.as_ref()) {
                writeln!(out, "{before}{} invalid: {reason}", sign(position))?;
                before = "";
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_called_by_letters_and_then_by_numbers() {
        assert_eq!([0, 1, 25, 26].map(sign), ["A", "B", "Z", "27"]);
    }
}
