//! The frontier in words and tables.

use std::fmt;

use super::{FrontierReport, Row};
use crate::amounts::Amounts;
use crate::cli::block_words::blocks;
use crate::cli::figures::percentage;
use crate::cli::table::Table;
use crate::cli::violations::count;
use crate::draw::letters;
use crate::replay::Rate;

/// How much of a point is proved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// Its interval and its memory.
    Both,
    /// Its interval, but not its memory.
    Interval,
    /// Neither.
    Neither,
}

impl Row {
    fn proved(&self) -> Extent {
        match (self.proven, self.bound == self.interval) {
            (true, _) => Extent::Both,
            (false, true) => Extent::Interval,
            (false, false) => Extent::Neither,
        }
    }
}

impl FrontierReport<'_> {
    /// Explains those words of the column `optimality` that the table uses.
    fn legend(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let blocks = blocks(self.passes, 1);
        let means = [
            (
                Extent::Both,
                format!("proved: no {blocks} improves memory or interval without worsening the other"),
            ),
            (
                Extent::Interval,
                format!(
                    "interval proved: no {blocks} has a shorter interval within this memory; one that needs \
                     less memory is not ruled out"
                ),
            ),
            (Extent::Neither, format!("not below T: no {blocks} has an interval below T within this memory")),
        ];
        let mut before = "\n";
        for (extent, text) in means {
            if self.points.iter().any(|row| row.proved() == extent) {
                writeln!(out, "{before}{text}")?;
                before = "";
            }
        }
        Ok(())
    }
}

impl fmt::Display for FrontierReport<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let amounts = Amounts::new(out.alternate(), self.time_unit, self.memory_unit);
        let named = self.schedules.iter();
        let times = amounts.times(
            self.points
                .iter()
                .flat_map(|row| [row.interval.0, row.bound.0])
                .chain(named.clone().filter_map(|row| Some(row.interval?.0))),
        );
        let memory = amounts.memories(
            self.points
                .iter()
                .map(|row| row.activation_peak_max)
                .chain(named.flat_map(|row| [row.activation_peak_max, row.peak_memory_max])),
        );
        writeln!(
            out,
            "{}: {}; times in {}, memory in {}; engine {}\n",
            self.model,
            count(self.devices as usize, "device", "devices"),
            times.unit(),
            memory.unit(),
            self.engine
        )?;
        let headings =
            ["activation peak", "interval", "steady bubble rate", "steady useful rate", "optimality"];
        let mut table = Table::new(headings);
        for row in &self.points {
            let proof = match row.proved() {
                Extent::Both => "proved".to_owned(),
                Extent::Interval => "interval proved".to_owned(),
                Extent::Neither => format!("not below {}", times.cell(row.bound.0)),
            };
            table.row([
                memory.cell(row.activation_peak_max),
                times.cell(row.interval.0),
                percentage(row.rate),
                percentage(row.useful),
                proof,
            ]);
        }
        // Without recomputation it is what the bubble rate leaves of the whole.
        let table = if self.passes.recompute { table } else { table.without(3) };
        write!(out, "{table}")?;
        // Several frontiers are drawn together, below all of them.
        if !self.chart.is_empty() {
            write!(out, "\n{}", self.chart)?;
        }
        self.legend(out)?;
        match self.claimed_by {
            Some(solver) => writeln!(
                out,
                "\n{solver}, in floating point, found no block with less memory; it is not proved that there is none"
            )?,
            None if !self.complete => {
                writeln!(out, "\nthe time limit was reached before smaller memory limits were tried")?;
            }
            None => {}
        }
        if !self.schedules.is_empty() {
            let microbatches = self.microbatches;
            writeln!(
                out,
                "\nnamed schedules, replayed: steady phase; bubble rate and peak memory with {microbatches} microbatches\n"
            )?;
            let mut table = Table::new([
                "schedule",
                "mark",
                "activation peak",
                "interval",
                "over frontier",
                "bubble rate",
                "useful rate",
                "peak memory",
            ]);
            let mut letters = letters();
            for row in &self.schedules {
                let mark = row.interval.and_then(|_| letters.next());
                table.row([
                    row.name.to_owned(),
                    mark.map_or_else(|| "-".to_owned(), |letter| letter.to_string()),
                    memory.cell(row.activation_peak_max),
                    row.interval.map_or_else(|| "-".to_owned(), |interval| times.cell(interval.0)),
                    row.gap.map_or_else(|| "-".to_owned(), percentage),
                    percentage(row.rate),
                    percentage(row.useful),
                    memory.cell(row.peak_memory_max),
                ]);
            }
            let recomputing = self.schedules.iter().any(|row| row.rate + row.useful < Rate::from_integer(1));
            let table = if recomputing { table } else { table.without(6) };
            // Marks are those of a picture of this frontier alone.
            write!(out, "{}", if self.chart.is_empty() { table.without(1) } else { table })?;
        }
        self.written.iter().try_for_each(|written| writeln!(out, "\nwrote {written}"))
    }
}
