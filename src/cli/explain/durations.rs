//! Which durations matter, as a table: stages for which all figures are the same share a row.

use std::fmt;

use itertools::Itertools as _;
use num_rational::Ratio;
use serde::Serialize;

use crate::amounts::Amounts;
use crate::analysis::{Part, Sensitivity};
use crate::cli::table::Table;

/// What a part means for the makespan, in ticks.
#[derive(Debug, Serialize)]
pub struct DurationReport {
    /// The stage; of a latency, that before the boundary.
    stage: u32,
    /// `F`, `I`, `W` or `latency`.
    kind: String,
    /// How long it is, in ranges at most.
    ticks: i64,
    /// The low end of its range.
    #[serde(skip_serializing_if = "Option::is_none")]
    low: Option<i64>,
    /// How much shorter the makespan is when it is at its low end.
    #[serde(skip_serializing_if = "Option::is_none")]
    saves_at_low: Option<i64>,
    /// How much longer the makespan is when it is 1 % longer, rounded up to a tick.
    costs_at_one_percent: i64,
    /// The same, exact: `"num/den"`.
    costs_at_one_percent_exact: String,
    /// How much longer it may be until the makespan is longer, rounded down to a tick.
    free: i64,
    /// The same, rounded down to a hundredth of a tick: `"num/den"`.
    free_exact: String,
    #[serde(skip)]
    exactly: Exactly,
}

/// What `--json` has as text.
#[derive(Debug)]
struct Exactly {
    costs: Ratio<i64>,
    free: Ratio<i64>,
}

impl From<Sensitivity> for DurationReport {
    fn from(found: Sensitivity) -> Self {
        let (stage, kind) = match found.part {
            Part::Duration(stage, kind) => (stage, kind.letter().to_string()),
            Part::Latency(stage) => (stage, "latency".to_owned()),
        };
        let text = |ticks: Ratio<i64>| format!("{}/{}", ticks.numer(), ticks.denom());
        Self {
            stage: stage.0,
            kind,
            ticks: found.ticks.0,
            low: found.low.map(|ticks| ticks.0),
            saves_at_low: found.saves.map(|ticks| ticks.0),
            costs_at_one_percent: found.costs.ceil().to_integer(),
            costs_at_one_percent_exact: text(found.costs),
            free: found.free.to_integer(),
            free_exact: text(found.free),
            exactly: Exactly { costs: found.costs, free: found.free },
        }
    }
}

impl DurationReport {
    pub const fn is_range(&self) -> bool {
        self.low.is_some()
    }
}

/// The rows, in the order in which they are found.
pub struct DurationTable<'a> {
    /// What was found out.
    pub rows: &'a [DurationReport],
    /// How times are shown.
    pub amounts: Amounts<'a>,
}

impl fmt::Display for DurationTable<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dash = || "-".to_owned();
        let time = |ticks| self.amounts.time_or_count(ticks);
        let figures = |row: &DurationReport| {
            [
                row.kind.clone(),
                row.low
                    .map_or_else(|| time(row.ticks), |low| format!("{} to {}", time(low), time(row.ticks))),
                row.saves_at_low.map_or_else(dash, time),
                self.amounts.time_or_count(row.exactly.costs),
                self.amounts.time_or_count(row.exactly.free),
            ]
        };
        let headings = ["stage", "pass", "takes", "low end saves", "1 % longer costs", "free"];
        let mut table = Table::new(headings);
        for (cells, rows) in &self.rows.iter().chunk_by(|row| figures(row)) {
            let stages: Vec<u32> = rows.map(|row| row.stage).collect();
            let stages = match stages.as_slice() {
                [first, .., last] => format!("{first} to {last}"),
                [only] => only.to_string(),
                [] => String::new(),
            };
            let mut row = vec![stages];
            row.extend(cells);
            table.row(<[String; 6]>::try_from(row).expect("a stage and its five figures"));
        }
        let ranges = self.rows.iter().any(|row| row.low.is_some());
        // What a per cent costs says little where ranges say what can happen.
        write!(out, "{}", table.without(if ranges { 4 } else { 3 }))
    }
}
