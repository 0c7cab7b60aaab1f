//! What would help most, as a table.

use std::fmt;

use serde::Serialize;

use crate::amounts::Amounts;
use crate::cli::figures::{decimal, percentage};
use crate::cli::table::Table;
use crate::model::Ticks;
use crate::optimize::explain::Gain;
use crate::replay::Rate;

/// What a change could gain, as `--json` gives it.
#[derive(Debug, Serialize)]
pub struct GainReport {
    /// `memory`, `messages`, `balance` or `order`.
    change: &'static str,
    /// No schedule is shorter than this after the change, in ticks.
    bound: i64,
    /// How many ticks a schedule can be shorter after the change, at most.
    at_most: i64,
    /// The same as a share of the makespan.
    share: f64,
    #[serde(skip)]
    rate: Rate,
}

impl GainReport {
    /// What a change could gain for a schedule with this makespan.
    pub fn new(gain: Gain, makespan: Ticks) -> Self {
        let rate = Rate::new(gain.most.0.into(), makespan.0.max(1).into());
        let (bound, at_most) = (gain.bound.0, gain.most.0);
        Self { change: gain.change.name(), bound, at_most, share: decimal(rate), rate }
    }

    fn words(&self) -> &'static str {
        match self.change {
            "memory" => "no memory limits",
            "messages" => "messages in no time",
            "balance" => "work divided evenly",
            _ => "another order of the passes",
        }
    }
}

/// The rows, the largest gain first.
pub struct Helps<'a> {
    /// What was found out.
    pub gains: &'a [GainReport],
    /// How times are shown.
    pub amounts: Amounts<'a>,
}

impl fmt::Display for Helps<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = self.amounts.counted().map_or_else(String::new, |unit| format!(", in {unit}"));
        writeln!(out, "\nwhat would help most, each with the best order of passes{unit}:\n")?;
        let mut table = Table::new(["change", "gains at most", "share", "no schedule is below"]);
        for gain in self.gains {
            table.row([
                gain.words().to_owned(),
                self.amounts.time_or_count(gain.at_most),
                percentage(gain.rate),
                self.amounts.time_or_count(gain.bound),
            ]);
        }
        write!(out, "{table}")
    }
}
