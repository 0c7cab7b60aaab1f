//! How far a schedule is above the lower bound of its model, for `verify --bound`.

use std::fmt;

use serde::Serialize;

use super::figures::{decimal, fraction, percentage};
use super::output::Output;
use super::verdict::VerifyReport;
use super::wrap::wrapped;
use crate::amounts::Amounts;
use crate::bounds::lower_bound_until;
use crate::certificate::{Bound, Objective, STEPS};
use crate::model::Model;
use crate::replay::Rate;
use crate::stop::Stop;

/// The lower bound on the makespan, and the gap of a schedule.
#[derive(Debug, Serialize)]
pub struct AboveBound {
    /// No schedule of the model has a shorter makespan, in ticks.
    lower_bound: i64,
    /// Why, in a sentence.
    bound_reason: String,
    /// How far the makespan is above the bound, as a share of the bound; null where the schedule is not valid.
    gap: Option<f64>,
    /// The same, exact: `"num/den"`.
    gap_exact: Option<String>,
    /// Whether the makespan is the bound.
    optimal: Option<bool>,
    #[serde(skip)]
    rate: Option<Rate>,
    #[serde(skip)]
    section: &'static str,
    #[serde(skip)]
    unit: String,
}

impl AboveBound {
    /// Derives the bound, and compares the schedule with it if it is valid.
    pub fn of(model: &Model, judgement: &VerifyReport<'_>, output: Output, stop: &Stop) -> Self {
        let Bound { value, reason } =
            lower_bound_until(model, Objective::Makespan, STEPS, &mut || stop.is_due());
        let amounts = output.amounts(model);
        let makespan = judgement.figures.makespan.filter(|_| judgement.valid);
        let rate = makespan.map(|makespan| {
            Rate::new(i128::from(makespan) - i128::from(value.0), i128::from(value.0.max(1)))
        });
        Self {
            lower_bound: value.0,
            bound_reason: reason.sentence(|ticks| amounts.time(ticks)),
            gap: rate.map(decimal),
            gap_exact: rate.map(fraction),
            optimal: rate.map(|rate| rate == Rate::from_integer(0)),
            rate,
            section: reason.section(),
            unit: model.costs().unit.clone(),
        }
    }
}

impl fmt::Display for AboveBound {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = format!("{} (docs/bounds.md, \"{}\")", self.bound_reason, self.section);
        let bound = Amounts::new(out.alternate(), &self.unit, "").time(self.lower_bound);
        writeln!(out, "  {:<12}  {bound} on the makespan", "lower bound")?;
        writeln!(out, "  {:<12}  {}", "because", wrapped(&why, 16))?;
        let gap = match self.rate {
            None => "unknown: the schedule is not valid".to_owned(),
            Some(rate) if rate == Rate::from_integer(0) => {
                "none: no schedule within these limits is better".to_owned()
            }
            Some(rate) => format!("{} above it at most", percentage(rate)),
        };
        writeln!(out, "  {:<12}  {gap}", "gap")
    }
}
