//! `trace explain`: what a measured step lost, and to what.

use std::fmt;

use clap::Args;
use serde::Serialize;

use super::source::{Named, SourceArgs};
use crate::amounts::Amounts;
use crate::cli::error::{Error, Status};
use crate::cli::figures::{decimal, percentage};
use crate::cli::file_name::FileName;
use crate::cli::output::{Output, note};
use crate::cli::progress::Progress;
use crate::cli::table::Table;
use crate::cli::violations::count;
use crate::model::{Device, Ticks};
use crate::replay::Rate;
use crate::trace::loss::{Losses, Part, explain};
use crate::trace::whole::{Basis, Instants, Replicas, ReplicasError, Step, Times, predict};
use crate::trace::{Iteration, Origin};

/// The options of `trace explain`.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    #[command(flatten)]
    source: SourceArgs,

    /// How many parts to list, those first that cost most; `--json` gives all
    #[arg(long, value_name = "N", default_value_t = 12)]
    top: usize,
}

/// Explains the steps of one run.
///
/// # Errors
/// When a file is wrong, or traces are no replicas of one run.
pub fn run(args: &ExplainArgs, output: Output) -> Result<Status, Error> {
    let progress = Progress::start("reading the traces");
    let named = args.source.read()?;
    let replicas = Replicas::of(named.iter().map(|named| &named.trace)).map_err(|error| mended(&error))?;
    let steps = replicas.steps().map_err(|error| mended(&error))?;
    progress.step("executing the steps".to_owned());
    let too_long = || {
        Error::usage("a step takes too long to be counted in nanoseconds", "check the times of the traces")
    };
    let explained = explain(&replicas, &steps).ok_or_else(too_long)?;
    let instants: Vec<Instants> = steps
        .iter()
        .map(|(step, times)| Instants::of(step, times))
        .collect::<Option<_>>()
        .ok_or_else(too_long)?;
    let predicted = predictions(&steps, &instants).ok_or_else(too_long)?;
    drop(progress);
    let typical = explained.typical;
    let step = explained.lengths[typical];
    let without_gaps = explained.without_gaps[typical];
    let early = |(quick, length): (&Ticks, &Ticks)| share(*quick, *length) > Rate::new(1, 1000);
    if explained.without_gaps.iter().zip(&explained.lengths).any(early) {
        note(
            "by their times, tasks began before what they wait for had ended, so that without launch gaps a step takes longer than \
             it did; `trace compare` lists such passes",
        );
    }
    let what_if = explained.savings.iter().map(|saving| {
        let shares = saving.shares(&explained.without_gaps);
        let alone = saving.alone.as_ref().map(|alone| share(alone[typical], explained.levelled[typical]));
        WhatIf {
            part: saving.part,
            step: saving.lengths[typical].0,
            less: decimal(shares[1]),
            less_least: decimal(shares[0]),
            less_most: decimal(shares[2]),
            alone: alone.map(decimal),
            exact: [shares[1], shares[0], shares[2]],
            exact_alone: alone,
        }
    });
    let trace = &named[0].trace;
    let report = Report {
        files: named.iter().map(|Named { name, .. }| name.clone()).collect(),
        schedule: trace.schedule.name.clone(),
        origin: trace.origin,
        machine: trace.machine.name.clone(),
        devices: trace.schedule.devices(),
        microbatches: trace.schedule.microbatches(),
        replicas: replicas.count(),
        iterations: steps.len(),
        typical_iteration: typical,
        step: step.0,
        passes: instants[typical].passes.0,
        lost: explained.losses,
        gaps: explained.gaps.iter().map(|&(device, without)| GapsOf::of(device, without, step)).collect(),
        without_gaps: without_gaps.0,
        levelled: explained.levelled[typical].0,
        what_if: what_if.collect(),
        microbatches_left: explained.microbatches_left,
        predicted,
        untimed: untimed(&replicas),
        top: args.top,
    };
    output.print(&report)?;
    Ok(Status::Yes)
}

/// By how much of `to` a time is longer.
fn share(time: Ticks, to: Ticks) -> Rate {
    Rate::new(i128::from((time - to).0), i128::from(to.0.max(1)))
}

fn predictions(steps: &[(Step, Times)], measured: &[Instants]) -> Option<Vec<Predicted>> {
    let bases = Basis::ALL.into_iter().filter(|basis| steps.len() > 1 || !basis.needs_others());
    bases
        .map(|basis| {
            let found = predict(steps, basis)?;
            let errors = |of: fn(&Instants) -> Ticks| {
                let errors =
                    found.iter().zip(measured).map(|(found, measured)| share(of(found), of(measured)));
                ErrorSpread::of(errors.collect())
            };
            Some(Predicted {
                basis,
                passes_error: errors(|instants| instants.passes),
                step_error: errors(|instants| instants.step),
            })
        })
        .collect()
}

/// What the traces do not tell, and is therefore in something else.
fn untimed(replicas: &Replicas<'_>) -> Vec<&'static str> {
    let iterations = || replicas.traces().iter().flat_map(|trace| &trace.iterations);
    let mut found = Vec::new();
    if iterations().all(|ran| ran.messages.is_none()) {
        found.push("messages: what passed before a pass that found its device idle counts as one");
    } else if iterations().any(|ran| ran.messages.is_none()) {
        found.push(
            "messages of some iterations: what passed before a pass that found its device idle counts as one",
        );
    }
    let has_step = |ran: &Iteration| ran.step.as_ref().is_some_and(|step| !step.is_empty());
    if !iterations().any(has_step) {
        found.push(
            "all-gathers, reductions and optimiser steps: a step goes from its first pass to its last one",
        );
    } else if !iterations().all(has_step) {
        found.push("all-gathers, reductions and optimiser steps of some iterations: nothing waits for those");
    }
    found
}

/// Why traces are no replicas of a run, with advice.
pub(super) fn mended(error: &ReplicasError) -> Error {
    let help = match error {
        ReplicasError::Foreign { .. } => {
            "`trace compare` lists all passes that did not run once on their device; --skip leaves out iterations"
        }
        ReplicasError::Separate { .. } => {
            "explain each trace by itself; of a file of MegatronApp with several runs, keep the events of one `tid`"
        }
        ReplicasError::Pairs { .. } => "give traces of schedules without overlapped pairs",
        ReplicasError::Circle { .. } => {
            "the times contradict each other: check the clocks of the devices, and in which order works of the step began"
        }
        ReplicasError::Apart { .. } => {
            "give the replicas of one run, on one clock, or one trace by itself; --skip leaves out iterations"
        }
        _ => "give the traces of all data-parallel replicas of one run, or one trace by itself",
    };
    Error::usage(error.to_string(), help)
}

#[derive(Serialize)]
struct Report {
    files: Vec<FileName>,
    schedule: Option<String>,
    origin: Origin,
    machine: String,
    devices: u32,
    microbatches: u32,
    replicas: usize,
    iterations: usize,
    /// The iteration with the median step, from 0: what follows is of it.
    typical_iteration: usize,
    /// How long it took, in nanoseconds.
    step: i64,
    /// When its last pass ended.
    passes: i64,
    lost: Losses,
    /// What the launch gaps of each device cost.
    gaps: Vec<GapsOf>,
    /// How long it would take without launch gaps.
    without_gaps: i64,
    /// How long it would take with all passes, works and messages as their like.
    levelled: i64,
    what_if: Vec<WhatIf>,
    /// How many microbatches were not looked at one by one.
    microbatches_left: usize,
    predicted: Vec<Predicted>,
    /// What the traces do not tell.
    untimed: Vec<&'static str>,
    #[serde(skip)]
    top: usize,
}

#[derive(Serialize)]
struct GapsOf {
    device: u32,
    /// How long the step would take without the launch gaps of this device, in nanoseconds.
    step: i64,
    /// By what share it would be shorter.
    less: f64,
    #[serde(skip)]
    exact: Rate,
}

impl GapsOf {
    fn of(device: Device, without: Ticks, step: Ticks) -> Self {
        let exact = -share(without, step);
        Self { device: device.0, step: without.0, less: decimal(exact), exact }
    }
}

#[derive(Serialize)]
struct WhatIf {
    #[serde(flatten)]
    part: Part,
    /// How long the step without launch gaps would take, in nanoseconds.
    step: i64,
    /// By what share it would be shorter, in the median over all iterations.
    less: f64,
    /// The least share.
    less_least: f64,
    /// The largest.
    less_most: f64,
    /// By what share of the levelled step it would be longer with this part as it was and all else levelled.
    alone: Option<f64>,
    #[serde(skip)]
    exact: [Rate; 3],
    #[serde(skip)]
    exact_alone: Option<Rate>,
}

#[derive(Serialize)]
struct Predicted {
    basis: Basis,
    passes_error: ErrorSpread,
    step_error: ErrorSpread,
}

/// Errors over all iterations, as shares of what was measured.
#[derive(Serialize)]
struct ErrorSpread {
    least: f64,
    /// The median of their sizes.
    median_size: f64,
    most: f64,
    #[serde(skip)]
    exact: [Rate; 3],
}

impl ErrorSpread {
    fn of(mut errors: Vec<Rate>) -> Self {
        errors.sort_unstable();
        let mut sizes: Vec<Rate> = errors.iter().map(|&error| error.max(-error)).collect();
        sizes.sort_unstable();
        let exact = [errors[0], sizes[(sizes.len() - 1) / 2], errors[errors.len() - 1]];
        let [least, median_size, most] = exact.map(decimal);
        Self { least, median_size, most, exact }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let files: Vec<String> = self.files.iter().map(ToString::to_string).collect();
        writeln!(
            out,
            "{}: {}, {}, {}, {}, {}; {}, {}",
            files.join(", "),
            self.schedule.as_deref().unwrap_or("schedule"),
            count(self.devices as usize, "device", "devices"),
            count(self.microbatches as usize, "microbatch", "microbatches"),
            count(self.replicas, "replica", "replicas"),
            count(self.iterations, "iteration", "iterations"),
            self.origin,
            self.machine,
        )?;
        for what in &self.untimed {
            writeln!(out, "not in the traces: {what}")?;
        }
        let of_several = if self.iterations > 1 { ", whose step is the median" } else { "" };
        writeln!(out, "\nwhere the time of iteration {} goes{of_several}\n", self.typical_iteration)?;
        self.losses(out)?;
        self.what_ifs(out)?;
        self.predictions(out)
    }
}

impl Report {
    fn losses(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let amounts = Amounts::new(out.alternate(), "ns", "byte");
        let mut table = Table::new(["", "time", "share"]);
        let Losses { passes, bubble, works, stages, replicas, microbatches, messages, gaps } = self.lost;
        let parts = [
            ("passes of the busiest device, at the mean of their kind", passes, true),
            ("bubble, with such passes", bubble, true),
            ("all-gathers, reductions, optimiser steps", works, works != Ticks::ZERO),
            ("stages differ", stages, true),
            ("replicas differ", replicas, self.replicas > 1),
            ("microbatches differ", microbatches, true),
            ("messages", messages, true),
            ("launch gaps, and other waits between tasks", gaps, true),
            ("measured step", Ticks(self.step), true),
        ];
        for (what, ticks, shown) in parts {
            if shown {
                let share = Rate::new(i128::from(ticks.0), i128::from(self.step.max(1)));
                table.row([what.to_owned(), amounts.time(ticks), percentage(share)]);
            }
        }
        write!(out, "{table}")?;
        let shown = |of: &&GapsOf| of.exact >= Rate::new(1, 20_000);
        let mut gaps: Vec<&GapsOf> = self.gaps.iter().filter(shown).collect();
        gaps.sort_by_key(|of| (of.step, of.device));
        let gaps = gaps.iter().take(3);
        let gaps: Vec<String> = gaps
            .map(|of| format!("of device {} the step is {} shorter", of.device, percentage(of.exact)))
            .collect();
        if gaps.is_empty() {
            return Ok(());
        }
        writeln!(out, "(without the launch gaps {})", gaps.join(", "))
    }

    fn what_ifs(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.top == 0 {
            return Ok(());
        }
        if self.what_if.is_empty() {
            return writeln!(out, "\nno part is slower than its like");
        }
        let amounts = Amounts::new(out.alternate(), "ns", "byte");
        let mut table = Table::new(["", "step", "less", "least to most", "alone costs"]);
        for what in self.what_if.iter().take(self.top) {
            let [less, least, most] = what.exact.map(percentage);
            let spread = format!("{least} to {most}");
            let alone = what.exact_alone.map_or_else(|| "-".to_owned(), signed);
            table.row([what.part.to_string(), amounts.time(what.step), less, spread, alone]);
        }
        let table = if self.iterations > 1 { table } else { table.without(3) };
        let step = amounts.time(self.without_gaps);
        write!(out, "\nwithout launch gaps the step takes {step}; what if\n\n{table}")?;
        let more = self.what_if.len().saturating_sub(self.top);
        if more > 0 {
            writeln!(out, "and {more} more that cost less; --top lists them")?;
        }
        if self.microbatches_left > 0 {
            let left = count(self.microbatches_left, "microbatch", "microbatches");
            writeln!(out, "({left} that took least beyond the others were not tried)")?;
        }
        writeln!(
            out,
            "(less: the median over iterations; parts overlap, so what they save does not add up)\n(alone costs: the step takes {} \
             with everything at the average of its kind, and so much longer with this part alone as it was)",
            amounts.time(self.levelled)
        )
    }

    fn predictions(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = Table::new([
            "predicted",
            "passes: median size",
            "least to most",
            "step: median size",
            "least to most",
        ]);
        for Predicted { basis, passes_error, step_error } in &self.predicted {
            let [passes, step] = [passes_error, step_error].map(|errors| {
                let [least, median, most] = errors.exact;
                [percentage(median), format!("{} to {}", signed(least), signed(most))]
            });
            let [passes, of_passes] = passes;
            let [step, of_steps] = step;
            table.row([basis.to_string(), passes, of_passes, step, of_steps]);
        }
        write!(out, "\n{table}")?;
        writeln!(
            out,
            "(errors of the last end of a pass and of the step, in shares of what was measured; sizes are without signs)"
        )?;
        if self.iterations == 1 {
            writeln!(out, "(one iteration has no others that could predict it)")?;
        }
        Ok(())
    }
}

/// A share with its sign.
fn signed(rate: Rate) -> String {
    let text = percentage(rate);
    if text.starts_with('-') { text } else { format!("+{text}") }
}
