//! `verify --every-m`: the schedules of every number of microbatches at once.

use std::fmt;
use std::time::Duration;

use num_rational::Ratio;
use serde::Serialize;

use super::deadline::Deadline;
use super::error::{Error, Status};
use super::interrupt::on_signals;
use super::number::Interval;
use super::output::{Output, note};
use super::progress::Progress;
use super::schedule_input::ScheduleInputArgs;
use super::violations::{Complaint, count, list};
use crate::amounts::Amounts;
use crate::amounts::plural;
use crate::model::{Model, Ticks, Units};
use crate::prove::every::{
    EveryError, EveryM, Formula, Listed, Numbers, Proof, Repetition, every_m_of_block, every_m_of_schedule,
};
use crate::replay::Violation;
use crate::stop::Stop;

/// Decides a block family or a schedule for every number of microbatches, within the limit, and prints the answer.
///
/// # Errors
/// When a file or an option is wrong, or replay contradicts the theorem.
pub fn run(args: &ScheduleInputArgs, time_limit: Option<Duration>, output: Output) -> Result<Status, Error> {
    let progress = Progress::start("replaying more and more microbatches");
    let input = args.input()?;
    let stop = &Stop::on(on_signals());
    let stop = &time_limit.map_or(stop.clone(), |limit| stop.within(output.left_of(limit)));
    let limit = time_limit.map(|limit| Deadline::after(limit, output));
    let report = if input.is_family() {
        let family = input.family()?;
        let (block, model) = args.block_of(&family)?;
        let answer = every_m_of_block(&block, &model, stop).map_err(|error| refused(&error))?;
        EveryMReport::of(Some(family.name), &model, EveryMAnswer::of(answer, output.amounts(&model)))
    } else {
        let subject = args.with_schedule(input.schedule()?)?;
        if subject.csv.as_ref().is_some_and(|file| file.plan().is_some()) {
            note(
                "with --every-m the passes alone are proved; without it, sends and receives are verified too",
            );
        }
        let (schedule, model) = (&subject.schedule, &subject.model);
        let answer = if subject.complaints.is_empty() {
            EveryMAnswer::of(
                every_m_of_schedule(schedule, model, stop).map_err(|error| refused(&error))?,
                output.amounts(model),
            )
        } else {
            EveryMAnswer::Refuted(InvalidNumber {
                microbatches: schedule.microbatches(),
                violations: subject.complaints.clone(),
            })
        };
        EveryMReport::of(schedule.name.clone(), model, answer)
    };
    drop((progress, limit));
    output.print(&report)?;
    Ok(report.exit_status())
}

fn refused(error: &EveryError) -> Error {
    let message = error.to_string();
    match error {
        EveryError::Placement | EveryError::Model { .. } | EveryError::Schedule(_) => {
            Error::Usage { message, help: None }
        }
        EveryError::NotTheExtension(_) | EveryError::Unconfirmed { .. } | EveryError::Rejected(_) => {
            Error::Defect(message)
        }
    }
}

/// What is known, as it is printed.
enum EveryMAnswer {
    Proved(Box<Proof>),
    Refuted(InvalidNumber),
    Unknown(String),
}

impl EveryMAnswer {
    fn of(answer: EveryM, amounts: Amounts<'_>) -> Self {
        let complaints =
            |violations: &[Violation]| violations.iter().map(|one| Complaint::of(one, amounts)).collect();
        match answer {
            EveryM::Proved(proof) => Self::Proved(proof),
            EveryM::Refuted(refutation) => Self::Refuted(InvalidNumber {
                microbatches: refutation.microbatches,
                violations: complaints(&refutation.verdict.violations),
            }),
            EveryM::Unknown(reason) => Self::Unknown(reason.to_string()),
        }
    }
}

/// A number of microbatches that is not valid: the fewest.
#[derive(Debug, Serialize)]
struct InvalidNumber {
    microbatches: u32,
    violations: Vec<Complaint>,
}

/// The answer with all that `--json` gives. What is not known is null.
#[derive(Serialize)]
struct EveryMReport {
    status: &'static str,
    /// The least number of microbatches that is proved, and what it grows by.
    first: Option<u32>,
    step: Option<u32>,
    makespan: Option<FormulaInM>,
    device_span: Option<FormulaInM>,
    peak_memory: Option<Vec<i64>>,
    peak_memory_max: Option<i64>,
    /// From how many microbatches on every device has its peak.
    peak_memory_from: Option<u32>,
    /// What each further microbatch adds to the makespan in the long run.
    interval: Option<Interval>,
    repetition: Option<RepetitionObject>,
    /// Up to how many microbatches every schedule was replayed.
    replayed_to: Option<u32>,
    counterexample: Option<InvalidNumber>,
    reason: Option<String>,
    /// The name of the family or of the schedule.
    name: Option<String>,
    model: String,
    devices: u32,
    stages: u32,
    time_unit: String,
    memory_unit: String,
    #[serde(skip)]
    proof: Option<Box<Proof>>,
}

/// A figure as a formula in m.
#[derive(Serialize)]
struct FormulaInM {
    /// In words.
    formula: String,
    /// From how many microbatches on it holds that `period` more add `increase`.
    from: u32,
    period: u32,
    increase: i64,
    /// The values of `from, from + step, ...`, for one period.
    values: Vec<i64>,
    /// The values of fewer microbatches: of `first, first + step, ...`.
    before: Vec<i64>,
}

/// The repetition that the induction rests on.
#[derive(Serialize)]
struct RepetitionObject {
    from: u32,
    microbatches: u32,
    ticks: i64,
}

impl EveryMReport {
    fn of(name: Option<String>, model: &Model, answer: EveryMAnswer) -> Self {
        let report = Self {
            status: "unknown",
            first: None,
            step: None,
            makespan: None,
            device_span: None,
            peak_memory: None,
            peak_memory_max: None,
            peak_memory_from: None,
            interval: None,
            repetition: None,
            replayed_to: None,
            counterexample: None,
            reason: None,
            name,
            model: model.name().to_owned(),
            devices: model.devices(),
            stages: model.stages(),
            time_unit: model.costs().unit.clone(),
            memory_unit: model.memory().unit.clone(),
            proof: None,
        };
        match answer {
            EveryMAnswer::Proved(proof) => report.proved(proof),
            EveryMAnswer::Refuted(counterexample) => {
                Self { status: "refuted", counterexample: Some(counterexample), ..report }
            }
            EveryMAnswer::Unknown(reason) => Self { reason: Some(reason), ..report },
        }
    }

    fn proved(self, proof: Box<Proof>) -> Self {
        let Repetition { from, microbatches, ticks } = proof.repetition;
        Self {
            status: "proved",
            first: Some(proof.first),
            step: Some(proof.step),
            makespan: Some(FormulaInM::of(&proof.makespan)),
            device_span: proof.device_span.as_ref().map(FormulaInM::of),
            peak_memory: Some(proof.peak_memory.iter().map(|units| units.0).collect()),
            peak_memory_max: proof.peak_memory.iter().map(|units| units.0).max(),
            peak_memory_from: Some(proof.peak_from),
            interval: Some(Interval(Ratio::new(ticks.0, i64::from(microbatches)))),
            repetition: Some(RepetitionObject { from, microbatches, ticks: ticks.0 }),
            replayed_to: Some(proof.replayed_to),
            proof: Some(proof),
            ..self
        }
    }

    fn exit_status(&self) -> Status {
        if self.proof.is_some() {
            Status::Yes
        } else if self.counterexample.is_some() {
            Status::No
        } else {
            Status::GaveUp
        }
    }
}

impl FormulaInM {
    fn of(formula: &Formula) -> Self {
        let ticks = |values: &[Ticks]| values.iter().map(|value| value.0).collect();
        Self {
            formula: formula.to_string(),
            from: formula.from(),
            period: formula.period(),
            increase: formula.increase().0,
            values: ticks(formula.cycle()),
            before: ticks(formula.before()),
        }
    }
}

impl fmt::Display for EveryMReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = format!(
            "{}, {}, {}",
            self.name.as_deref().unwrap_or("schedule"),
            count(self.devices as usize, "device", "devices"),
            count(self.stages as usize, "stage", "stages"),
        );
        if let Some(proof) = &self.proof {
            self.fmt_proof(proof, &size, out)
        } else if let Some(InvalidNumber { microbatches, violations }) = &self.counterexample {
            let violated = count(violations.len(), "violation", "violations");
            let number = count(*microbatches as usize, "microbatch", "microbatches");
            writeln!(out, "refuted: {size}: invalid with {number}, {violated}")?;
            list(violations, None, out)
        } else {
            writeln!(out, "unknown: {size}: {}", self.reason.as_deref().unwrap_or_default())
        }
    }
}

impl EveryMReport {
    fn fmt_proof(&self, proof: &Proof, size: &str, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (time, memory) = (&self.time_unit, &self.memory_unit);
        let all = Numbers::from(proof.first, proof.step);
        writeln!(out, "proved: {size}: valid and within memory for {all}")?;
        let amounts = Amounts::new(out.alternate(), time, memory);
        let mut line = |what: &str, value: String| writeln!(out, "  {what:<12}  {value}");
        line("makespan", format!("{} ({})", proof.makespan, plural(time)))?;
        line(
            "device span",
            match &proof.device_span {
                Some(formula) => format!("{formula} ({})", plural(time)),
                None => "not known for every m: some device could begin later than it does".to_owned(),
            },
        )?;
        line("peak memory", format!("{} ({memory})", in_words(proof)))?;
        let Repetition { from, microbatches, ticks } = proof.repetition;
        let ticks = amounts.time(ticks);
        let more = match microbatches {
            1 => format!("each further microbatch takes {ticks}"),
            several => format!("each further {several} microbatches take {ticks}"),
        };
        line("induction", format!("from m = {from} on, {more}"))?;
        let replayed = Numbers::until(proof.first, proof.step, proof.replayed_to);
        line("replayed", format!("{replayed}: replay agrees with the formulas"))
    }
}

/// The peak memory of all numbers of microbatches.
fn in_words(proof: &Proof) -> String {
    let all = &proof.peak_memory;
    let (largest, smallest) = (all.iter().max(), all.iter().min());
    let largest = largest.copied().unwrap_or_default();
    let least = smallest.filter(|&&smallest| smallest < largest);
    let least = least.map_or_else(String::new, |least| format!(" (least on any device: {least})"));
    let steady = format!("{largest}{least} for {}", Numbers::from(proof.peak_from, proof.step));
    if proof.peaks_before.is_empty() {
        return steady;
    }
    let most = |peaks: &Vec<Units>| peaks.iter().copied().max().unwrap_or_default();
    let most: Vec<Units> = proof.peaks_before.iter().map(most).collect();
    let fewer = Numbers::until(proof.first, proof.step, proof.peak_from - proof.step);
    format!("{steady}; {} for {fewer}", Listed(&most))
}
