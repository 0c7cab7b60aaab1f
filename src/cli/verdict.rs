//! What replay says of a schedule: the part that `verify` and `replay` have in common.

use std::fmt;

use serde::Serialize;

use super::communication::{Communication, Offer};
use super::figures::{Figures, Lines};
use super::output::Output;
use super::pool::{Pools, posts_as_counted};
use super::remedy::Remedy;
use super::schedule_input::ScheduleInput;
use super::violations::{Cause, Complaint, complaints, count, list};
use crate::amounts::Amounts;
use crate::comm;
use crate::interchange::pytorch::{self, Form};
use crate::lowering::gathers_by_rule;
use crate::replay::{Verdict, replay};

/// Whether a schedule is valid under its model, and its figures.
#[derive(Debug, Serialize)]
pub struct VerifyReport<'a> {
    /// Whether nothing is wrong.
    pub valid: bool,
    /// Everything that is wrong.
    pub violations: Vec<Complaint>,
    /// What was measured.
    #[serde(flatten)]
    pub figures: Figures,
    /// The number of overlapped pairs.
    pub overlapped_pairs: usize,
    /// How the sends and receives of the file behave, where it has any.
    pub communication: Option<Communication>,
    /// By device: the smallest pool of buffers for received messages, where the model says what they take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receive_pools: Option<Pools>,
    /// Whether the file posts its receives elsewhere than where their buffers are counted from.
    #[serde(skip)]
    pub posts_elsewhere: bool,
    /// Whether the file gathers weights elsewhere than where replay gathers them.
    #[serde(skip)]
    pub gathers_elsewhere: bool,
    /// The nearest orders that can run, where these cannot and others of the same passes can.
    pub nearest: Option<Offer>,
    /// The name of the schedule.
    pub schedule: Option<&'a str>,
    /// The name of the model.
    pub model: &'a str,
    /// The number of devices.
    pub devices: u32,
    /// The number of microbatches.
    pub microbatches: u32,
    /// The unit of every time.
    pub time_unit: &'a str,
    /// The unit of every amount of memory.
    pub memory_unit: &'a str,
    /// Remarks on how the file was read and the model was chosen.
    pub notes: &'a [String],
    #[serde(skip)]
    subject: &'a ScheduleInput,
    /// The verdict itself.
    #[serde(skip)]
    pub verdict: Verdict,
}

impl<'a> VerifyReport<'a> {
    /// Replays a schedule.
    pub fn of(subject: &'a ScheduleInput, output: Output) -> Self {
        let ScheduleInput { schedule, model, complaints: mismatches, csv, notes, .. } = subject;
        let verdict = replay(model, schedule);
        let mut violations = mismatches.clone();
        let of_passes = complaints(schedule, &verdict.violations, output.amounts(model));
        violations.extend(of_passes.into_iter().map(|complaint| complaint.at_pass_in(csv.as_ref())));
        let communication = csv.as_ref().and_then(pytorch::File::plan).map(|plan| {
            let file = csv.as_ref();
            violations.extend(comm::verify(plan).iter().map(|fault| Complaint::in_plan(fault, file)));
            Communication::of(plan, verdict.timing.is_some())
        });
        let plan = csv.as_ref().and_then(pytorch::File::plan);
        let posts_elsewhere = model.has_buffers() && plan.is_some_and(|plan| !posts_as_counted(model, plan));
        let is_sharded = model.has_gathers() || model.has_gathered_memory();
        let gathers_elsewhere =
            is_sharded && plan.is_some_and(|plan| !gathers_by_rule(plan, model.gathered_at_once()));
        let nearest = if verdict.is_valid() { None } else { Offer::of(model, schedule) };
        Self {
            valid: verdict.is_valid() && violations.is_empty(),
            overlapped_pairs: schedule.overlap_count(),
            communication,
            receive_pools: Pools::of(model, schedule),
            posts_elsewhere,
            gathers_elsewhere,
            nearest,
            violations,
            figures: Figures::of(model, schedule, &verdict),
            schedule: schedule.name.as_deref(),
            model: model.name(),
            devices: schedule.devices(),
            microbatches: schedule.microbatches(),
            time_unit: &model.costs().unit,
            memory_unit: &model.memory().unit,
            notes,
            subject,
            verdict,
        }
    }
}

impl VerifyReport<'_> {
    /// The format of `convert` in which the file is.
    fn format(&self) -> &'static str {
        match self.subject.csv.as_ref().map(|file| file.form) {
            None => "json",
            Some(Form::ComputeComms) => "pytorch-comms",
            Some(_) => "pytorch",
        }
    }
}

impl fmt::Display for VerifyReport<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ScheduleInput { schedule, model, .. } = self.subject;
        let size = format!(
            "{}, {}, {}, {}",
            count(schedule.devices() as usize, "device", "devices"),
            count(schedule.placement().stages() as usize, "stage", "stages"),
            count(schedule.microbatches() as usize, "microbatch", "microbatches"),
            count(schedule.len(), "pass", "passes"),
        );
        if self.valid {
            writeln!(out, "valid: {size}")?;
        } else {
            writeln!(out, "invalid, {}: {size}", count(self.violations.len(), "violation", "violations"))?;
            let plan = self.subject.csv.as_ref().and_then(pytorch::File::plan);
            let cause = plan.and_then(|plan| Cause::of(plan, &self.violations));
            list(&self.violations, cause.as_ref(), out)?;
        }
        let amounts = Amounts::new(out.alternate(), self.time_unit, self.memory_unit);
        write!(out, "{}", Lines { schedule, verdict: &self.verdict, model, amounts })?;
        if self.overlapped_pairs > 0 {
            let pairs = count(self.overlapped_pairs, "pair", "pairs");
            let takes = if model.has_cheaper_pairs() {
                "the time that `[overlap]` gives it"
            } else {
                "the sum of both durations"
            };
            writeln!(out, "  overlapped    {pairs}; each pair runs as one pass that takes {takes}")?;
        }
        if let Some(pools) = &self.receive_pools {
            write!(out, "{pools}")?;
        }
        if self.posts_elsewhere {
            writeln!(
                out,
                "  receives      posted elsewhere in this file than where memory counts their buffers from"
            )?;
        }
        if self.gathers_elsewhere {
            writeln!(
                out,
                "  gathers       elsewhere in this file than by the rule that times and memory follow"
            )?;
        }
        if let Some(communication) = &self.communication {
            write!(out, "{communication}")?;
            let is_sound = self.valid && communication.ends_everywhere();
            if self.verdict.is_valid() && !is_sound {
                let command = self.subject.origin.mended(Remedy::Lower, self.format());
                writeln!(
                    out,
                    "  fix           `{command}` regenerates the sends and receives: the file then ends everywhere"
                )?;
            }
        }
        if let Some(nearest) = &self.nearest {
            let command = self.subject.origin.mended(Remedy::Nearest, self.format());
            if self.subject.origin.is_changed {
                writeln!(
                    out,
                    "  repair        `{command}` moves passes so that all can run, under the model as it is"
                )?;
            } else {
                writeln!(out, "  repair        `{command}`: {}", nearest.summary(amounts))?;
                out.write_str(&nearest.changes())?;
            }
        }
        Ok(())
    }
}
