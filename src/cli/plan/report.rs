//! The answer of `plan`, as it is printed.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

use super::store::FromStore;
use crate::amounts::{self, Amounts};
use crate::certificate::CutBoundError;
use crate::cli::figures::{decimal, fraction, percentage};
use crate::cli::file_name::FileName;
use crate::cli::job::gap;
use crate::cli::output::Output;
use crate::cli::table::Table;
use crate::cli::violations::count;
use crate::cli::wrap::wrapped;
use crate::draw::names_explained;
use crate::job::{Choice, Job};
use crate::model::Ticks;
use crate::plan::{Alternative, Figures, Outcome, Plan};
use crate::replay::Rate;

/// All choices of a job, with what became of them.
#[derive(Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "they are keys of the JSON object")]
pub struct PlanReport<'a> {
    feasible: bool,
    job: &'a str,
    estimate: bool,
    devices: u32,
    global_batch: u32,
    /// No plan of the job is shorter, in ticks.
    lower_bound: i64,
    gap: Option<f64>,
    gap_exact: Option<String>,
    optimal: bool,
    complete: bool,
    time_unit: &'a str,
    memory_unit: &'a str,
    /// The part of the choices that was looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    shard: Option<Part>,
    alternatives: Vec<Row>,
    written: Vec<FileName>,
    /// Where the results came from.
    #[serde(skip_serializing_if = "Option::is_none")]
    store: Option<FromStore>,
    #[serde(skip)]
    top: usize,
    #[serde(skip)]
    best: Option<Ticks>,
    #[serde(skip)]
    gap_rate: Option<Rate>,
}

/// A part of the choices.
#[derive(Debug, Clone, Copy, Serialize)]
struct Part {
    /// Which, from 1.
    index: usize,
    count: usize,
    /// How many choices there are in all parts.
    choices: usize,
}

/// A choice with its plan, or with the reason why it has none.
#[derive(Serialize)]
struct Row {
    choice: Choice,
    name: String,
    status: &'static str,
    /// Why it is not the best plan, in words.
    because: String,
    cut: Option<Vec<u32>>,
    makespan: Option<i64>,
    /// No plan with this choice is shorter; or none is shorter than the best plan.
    lower_bound: Option<i64>,
    samples_per_second: Option<f64>,
    utilisation: Option<f64>,
    peak_memory_max: Option<i64>,
    engine: Option<String>,
    #[serde(skip)]
    worth: Option<Figures>,
}

impl<'a> PlanReport<'a> {
    /// The report of a plan. As text it lists the `top` shortest alternatives.
    pub fn of(
        job: &'a Job,
        plan: &Plan,
        top: usize,
        written: &[PathBuf],
        store: Option<FromStore>,
        output: Output,
    ) -> Self {
        let best = plan.best().map(|(_, plan)| plan.solution.value());
        let gap_rate = best.map(|best| gap(best, plan.none_below));
        Self {
            feasible: true,
            job: &job.name,
            estimate: job.is_estimate,
            devices: job.machine.devices,
            global_batch: job.choices.global_batch,
            lower_bound: plan.none_below.0,
            gap: gap_rate.map(decimal),
            gap_exact: gap_rate.map(fraction),
            optimal: best == Some(plan.none_below),
            complete: !plan.is_cut_short,
            time_unit: &job.time_unit,
            memory_unit: &job.memory_unit,
            shard: plan.shard.map(|shard| Part {
                index: shard.index(),
                count: shard.count(),
                choices: plan.choices,
            }),
            store,
            alternatives: plan.alternatives.iter().map(|one| Row::of(job, one, best, output)).collect(),
            written: written.iter().map(FileName::of).collect(),
            top,
            best,
            gap_rate,
        }
    }
}

impl Row {
    fn of(job: &Job, one: &Alternative, best: Option<Ticks>, output: Output) -> Self {
        let (status, because) = outcome(output.amounts_of(job), one, best);
        let plan = match &one.outcome {
            Outcome::Planned { plan, .. } => Some(plan),
            _ => None,
        };
        let worth = plan.map(|plan| Figures::of(job, &one.choice, plan.solution.value()));
        let of_worth = |of: fn(&Figures) -> Option<Rate>| worth.as_ref().and_then(of).map(decimal);
        Self {
            choice: one.choice,
            name: one.choice.to_string(),
            status,
            because,
            cut: plan.map(|plan| plan.cut.layers().to_vec()),
            makespan: one.value().map(|value| value.0),
            lower_bound: one.none_below.map(|bound| bound.0),
            samples_per_second: of_worth(|worth| worth.samples_per_second),
            utilisation: of_worth(|worth| worth.utilisation),
            peak_memory_max: plan
                .and_then(|plan| plan.solution.verdict.peak_memory.iter().max().map(|peak| peak.0)),
            engine: plan.map(|plan| plan.solution.engine.clone()),
            worth,
        }
    }
}

/// What became of a choice, in a word or two, and why it is not the best plan.
pub fn outcome(amounts: Amounts<'_>, one: &Alternative, best: Option<Ticks>) -> (&'static str, String) {
    match &one.outcome {
        Outcome::Planned { plan, deep } => {
            let value = plan.solution.value();
            let bound = one.none_below.unwrap_or(value);
            let because = match best {
                Some(best) if value == best => String::new(),
                Some(best) if bound >= best => "no plan with it is shorter than the best".to_owned(),
                _ if *deep => format!("none shorter was found; the bound is {}", amounts.time(bound)),
                _ => format!("a quick search found none shorter; the bound is {}", amounts.time(bound)),
            };
            ("planned", because)
        }
        Outcome::Dropped => ("dropped", "no plan with it is shorter than the best".to_owned()),
        Outcome::DoesNotFit(error) => ("does not fit", does_not_fit(error, amounts)),
        Outcome::NoneFound => ("none found", "no schedule was found within the memory limit".to_owned()),
        _ => ("not reached", "there was no time for it".to_owned()),
    }
}

/// What is missing.
fn does_not_fit(error: &CutBoundError, amounts: Amounts<'_>) -> String {
    match error {
        CutBoundError::NoRoom { need, capacity, .. } => format!(
            "weights and one microbatch need {} of {}",
            amounts.memory(*need),
            amounts.memory(*capacity)
        ),
        other => other.to_string(),
    }
}

/// How many choices without a plan are listed for each reason; JSON lists all.
const LISTED: usize = 5;

impl PlanReport<'_> {
    /// How times and memory are shown.
    fn amounts(&self, out: &fmt::Formatter<'_>) -> Amounts<'_> {
        Amounts::new(out.alternate(), self.time_unit, self.memory_unit)
    }

    /// The choices that have no plan, for one reason.
    fn list(&self, out: &mut fmt::Formatter<'_>, status: &str) -> fmt::Result {
        let rows = self.alternatives.iter().filter(|row| row.status == status);
        for row in rows.clone().take(LISTED) {
            let bound = row.lower_bound.map(|bound| self.amounts(out).time(bound));
            let because = match (status, bound) {
                ("dropped", Some(bound)) => format!("no plan with it is below {bound}"),
                _ => row.because.clone(),
            };
            writeln!(out, "  {status:<12}  {}: {because}", row.name)?;
        }
        let more = rows.count().saturating_sub(LISTED);
        if more > 0 {
            writeln!(out, "  {:<12}  and {}; --json lists them", "", count(more, "choice", "choices"))?;
        }
        Ok(())
    }
}

impl fmt::Display for PlanReport<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let choices = match self.shard {
            Some(Part { index, count, choices }) => {
                format!("part {index} of {count}, {} of {choices} choices", self.alternatives.len())
            }
            None => count(self.alternatives.len(), "choice", "choices"),
        };
        writeln!(
            out,
            "{}: {}, {}; {choices}",
            self.job,
            count(self.devices as usize, "device", "devices"),
            count(self.global_batch as usize, "sample a step", "samples a step"),
        )?;
        let mut table = Table::new([
            "  choice",
            "step",
            "samples/s",
            "utilisation",
            "memory",
            "bound",
            "layers of the stages",
        ]);
        let planned = self.alternatives.iter().filter(|row| row.makespan.is_some());
        let shown = planned.clone().take(self.top);
        let amounts = self.amounts(out);
        let time = |ticks: i64| amounts.time(ticks);
        let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        for row in shown {
            let worth = row.worth.as_ref();
            let cut: Vec<String> = row.cut.iter().flatten().map(ToString::to_string).collect();
            table.row([
                format!("  {}", row.name),
                or_dash(row.makespan.map(time)),
                or_dash(worth.and_then(|worth| worth.samples_per_second).map(amounts::digits)),
                or_dash(worth.and_then(|worth| worth.utilisation).map(percentage)),
                or_dash(row.peak_memory_max.map(|peak| amounts.memory(peak))),
                or_dash(row.lower_bound.map(time)),
                cut.join(","),
            ]);
        }
        write!(out, "{table}")?;
        let left = planned.count().saturating_sub(self.top);
        if left > 0 {
            writeln!(out, "  and {}; --top shows them", count(left, "longer plan", "longer plans"))?;
        }
        let names = names_explained(self.alternatives.iter().map(|row| &row.choice));
        writeln!(out, "  ({})", wrapped(&names, 3))?;
        for status in ["dropped", "does not fit", "none found", "not reached"] {
            self.list(out, status)?;
        }
        let (whole, all) = match self.shard {
            Some(_) => ("this part", "all choices of this part, with all their cuts and schedules"),
            None => ("this job", "all choices, cuts and schedules"),
        };
        writeln!(out, "  {:<12}  {} for any plan of {whole}", "lower bound", time(self.lower_bound))?;
        let gap = match (self.optimal, self.gap_rate) {
            (true, _) => format!("none: no plan of {whole} is shorter"),
            (false, Some(rate)) => format!("{} at most, over {all}", percentage(rate)),
            (false, None) => "not known".to_owned(),
        };
        writeln!(out, "  {:<12}  {gap}", "gap")?;
        debug_assert!(self.best.is_some());
        self.written.iter().try_for_each(|path| writeln!(out, "wrote {path}"))
    }
}
