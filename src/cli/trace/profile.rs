//! `trace profile`: a model from traces.

use std::fmt;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::explain::mended as not_replicas;
use super::layers::{LayerArgs, Layered};
use super::source::{Named, SourceArgs};
use crate::amounts::Amounts;
use crate::cli::error::{Error, Status};
use crate::cli::file_name::FileName;
use crate::cli::output::{Output, Target, note};
use crate::cli::progress::Progress;
use crate::cli::table::Table;
use crate::cli::violations::count;
use crate::model::print;
use crate::text::first_control;
use crate::trace::fit::{
    FitError, FittedMemory, Latency, Note, Occupancy, Profile, StageDuration, StepDuration, Together,
    profile_of,
};
use crate::trace::statistics::Spread;
use crate::trace::whole::Replicas;
use crate::trace::{Origin, Trace};

/// The options of `trace profile`.
#[derive(Debug, Args)]
pub struct ProfileArgs {
    #[command(flatten)]
    source: SourceArgs,

    /// The model file to write, or the job file with --layers; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// What to call the model
    #[arg(long, value_name = "NAME", default_value = "measured", value_parser = plain_name)]
    name: String,

    /// Write these tables too, which fewer commands support
    ///
    /// Without `messages`, what messages occupy is part of their latency.
    #[arg(long, value_name = "TABLES", value_delimiter = ',')]
    with: Vec<Extra>,

    #[command(flatten)]
    layers: LayerArgs,

    /// The traces are the data-parallel replicas of one run
    ///
    /// The time that a reduction waits for other replicas then does not count as its own. The times of passes are
    /// medians over all replicas either way.
    #[arg(long)]
    replicas: bool,
}

/// A table of a model beside passes, latencies and memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Extra {
    /// How long messages keep links busy
    Messages,
    /// Reductions of gradients and optimiser steps
    Step,
}

/// What was fitted.
#[derive(Serialize)]
struct Fitted<'a> {
    name: &'a str,
    source: &'a str,
    origin: Origin,
    devices: u32,
    stages: u32,
    traces: usize,
    iterations: usize,
    /// By stage and kind.
    durations: &'a [StageDuration],
    /// By boundary between devices.
    latencies: &'a [Latency],
    /// By boundary between devices.
    messages: &'a [Occupancy],
    /// By stage.
    step: &'a [StepDuration],
    /// By stage.
    memory: &'a [FittedMemory],
    notes: Vec<String>,
    /// The text of the model file.
    model: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    written: Option<FileName>,
}

/// Fits a model and writes it.
///
/// # Errors
/// When a file or an option is wrong, or the traces make no model.
pub fn run(args: &ProfileArgs, output: Output) -> Result<Status, Error> {
    let target = args.output.as_deref().map(|path| output.target(path)).transpose()?;
    let progress = Progress::start("reading the traces");
    let named = args.source.read()?;
    let traces: Vec<Trace> = named.into_iter().map(|Named { trace, .. }| trace).collect();
    if args.replicas {
        // Else a trace of another run would make the answer one of unrelated replicas.
        Replicas::of(&traces).and_then(|replicas| replicas.steps()).map_err(|error| not_replicas(&error))?;
    }
    let together = if args.replicas { Together::Yes } else { Together::No };
    let mut profile = profile_of(&args.name, &traces, together).map_err(|error| mended(&error))?;
    drop(progress);
    let mut left_out = Vec::new();
    if !args.with.contains(&Extra::Messages) {
        left_out.extend(profile.model.messages().map(|_| "messages"));
        profile = profile.without_messages();
    }
    if !args.with.contains(&Extra::Step) {
        left_out.extend(profile.model.step().map(|_| "step"));
        profile = profile.without_step();
    }
    if !left_out.is_empty() && !args.layers.are_given() {
        let tables = left_out.join(",");
        note(&format!("the traces contain more than the model: `--with {tables}` writes that too"));
    }
    for text in &profile.notes {
        note(&in_words(text, output.amounts_of_traces()));
    }
    if let Some(fit) = args.layers.fit(&profile, &traces)? {
        let layered = Layered::of(&profile, fit, args.output.as_ref().map(FileName::of));
        if let Some(target) = &target {
            target.write(|out| out.write_all(layered.job().as_bytes()))?;
        }
        if target != Some(Target::Stdout) {
            output.print(&layered)?;
        }
        return Ok(Status::Yes);
    }
    let model = print(&profile.model);
    if let Some(target) = &target {
        target.write(|out| out.write_all(model.as_bytes()))?;
    }
    if target != Some(Target::Stdout) {
        let Profile { model: fitted, durations, latencies, occupancies, step, memory, notes } = &profile;
        output.print(&Fitted {
            name: fitted.name(),
            source: fitted.source().unwrap_or_default(),
            origin: traces[0].origin,
            devices: fitted.devices(),
            stages: fitted.stages(),
            traces: traces.len(),
            iterations: traces.iter().map(|trace| trace.iterations.len()).sum(),
            durations,
            latencies,
            messages: occupancies,
            step,
            memory,
            notes: notes.iter().map(ToString::to_string).collect(),
            model,
            written: args.output.as_ref().map(FileName::of),
        })?;
    }
    Ok(Status::Yes)
}

/// What a fitted model leaves open, with such times and memory.
pub(super) fn in_words(note: &Note, amounts: Amounts<'_>) -> String {
    note.in_words(|ticks| amounts.time(ticks), |units| amounts.memory(units))
}

/// A name that may be in a file and on a line.
fn plain_name(name: &str) -> Result<String, String> {
    match first_control(name) {
        Some(control) => Err(format!("a name has no control characters, such as {control}")),
        None => Ok(name.to_owned()),
    }
}

/// Why traces make no model, with advice.
pub fn mended(error: &FitError) -> Error {
    let help = match error {
        FitError::Placements(_) => "fit one model for each placement of stages",
        FitError::Origins { .. } | FitError::Sizes(_) | FitError::Machines(_) => "fit one model for each",
        FitError::NotMeasured { .. } => "give a trace in which every pass of the schedule ran",
        FitError::NoTrace | FitError::Model(_) => "see docs/traces.md for what a trace holds",
    };
    Error::usage(error.to_string(), help)
}

impl fmt::Display for Fitted<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            out,
            "{}: {}, {}\n{}\n",
            self.name,
            count(self.devices as usize, "device", "devices"),
            count(self.stages as usize, "stage", "stages"),
            self.source
        )?;
        let amounts = Amounts::new(out.alternate(), "ns", "byte");
        let headings = ["pass", "passes", "median", "deviation", "quartiles", "least", "most"];
        let mut table = Table::new(headings);
        for StageDuration { stage, kind, spread } in self.durations {
            table.row([
                format!("{stage}{kind}"),
                spread.count.to_string(),
                amounts.time(spread.median),
                amounts.time(spread.deviation),
                quartiles(amounts, spread),
                amounts.time(spread.least),
                amounts.time(spread.most),
            ]);
        }
        write!(out, "{table}")?;
        if !self.latencies.is_empty() {
            // Without times of messages all of the delay is latency.
            let what = if self.messages.is_empty() { "latency" } else { "delay" };
            let mut table = Table::new(["boundary", "from", "samples", what, "quartiles", "least", "most"]);
            for Latency { after_stage, delay, method, spread, .. } in self.latencies {
                let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
                let spread = spread.as_ref();
                let of = |value: fn(&Spread) -> i64| spread.map(|spread| amounts.time(value(spread)));
                table.row([
                    format!("{after_stage} to {}", after_stage.0 + 1),
                    method.to_string(),
                    or_dash(spread.map(|spread| spread.count.to_string())),
                    amounts.time(*delay),
                    or_dash(spread.map(|spread| quartiles(amounts, spread))),
                    or_dash(of(|spread| spread.least)),
                    or_dash(of(|spread| spread.most)),
                ]);
            }
            write!(out, "\n{table}")?;
        }
        self.messages_and_step(out)?;
        if !self.memory.is_empty() {
            let mut table =
                Table::new(["stage", "samples", "F acquires", "deviation", "W releases", "deviation"]);
            for FittedMemory { stage, acquired, retained, .. } in self.memory {
                let of =
                    |value: Option<i64>| value.map_or_else(|| "-".to_owned(), |value| amounts.memory(value));
                table.row([
                    stage.to_string(),
                    acquired.count.to_string(),
                    amounts.memory(acquired.median),
                    amounts.memory(acquired.deviation),
                    of(retained.map(|retained| retained.median)),
                    of(retained.map(|retained| retained.deviation)),
                ]);
            }
            write!(out, "\n{table}")?;
        }
        if self.memory.iter().any(|of| !of.kept.is_empty()) {
            let mut table = Table::new(["stage", "level", "samples", "kept for R", "deviation"]);
            for FittedMemory { stage, kept, .. } in self.memory {
                for (level, spread) in kept {
                    table.row([
                        stage.to_string(),
                        level.to_string(),
                        spread.count.to_string(),
                        amounts.memory(spread.median),
                        amounts.memory(spread.deviation),
                    ]);
                }
            }
            write!(out, "\n{table}")?;
        }
        if self.memory.iter().any(|of| !of.workspace.is_empty()) {
            let mut table = Table::new(["stage", "pass", "needs while it runs"]);
            for FittedMemory { stage, workspace, .. } in self.memory {
                for (kind, bytes) in workspace {
                    table.row([stage.to_string(), kind.to_string(), amounts.memory(*bytes)]);
                }
            }
            write!(out, "\n{table}")?;
        }
        match &self.written {
            Some(written) => writeln!(out, "\nwrote {written}"),
            None => Ok(()),
        }
    }
}

impl Fitted<'_> {
    /// What messages occupy, and what follows the passes.
    fn messages_and_step(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let amounts = Amounts::new(out.alternate(), "ns", "byte");
        if !self.messages.is_empty() {
            let mut table = Table::new([
                "boundary",
                "copies",
                "median",
                "deviation",
                "least",
                "most",
                "met",
                "overlapped",
                "occupancy",
                "latency",
            ]);
            for Occupancy { after_stage, occupancy, spread, met, overlapped } in self.messages {
                let latency = self.latencies.iter().find(|latency| latency.after_stage == *after_stage);
                table.row([
                    format!("{after_stage} to {}", after_stage.0 + 1),
                    spread.count.to_string(),
                    amounts.time(spread.median),
                    amounts.time(spread.deviation),
                    amounts.time(spread.least),
                    amounts.time(spread.most),
                    met.to_string(),
                    overlapped.to_string(),
                    amounts.time(*occupancy),
                    latency.map_or_else(|| "-".to_owned(), |latency| amounts.time(latency.latency)),
                ]);
            }
            write!(out, "\n{table}")?;
        }
        if !self.step.is_empty() {
            let mut table =
                Table::new(["stage", "end of the step", "times", "median", "deviation", "least", "most"]);
            for StepDuration { stage, work, spread } in self.step {
                table.row([
                    stage.to_string(),
                    work.to_string(),
                    spread.count.to_string(),
                    amounts.time(spread.median),
                    amounts.time(spread.deviation),
                    amounts.time(spread.least),
                    amounts.time(spread.most),
                ]);
            }
            write!(out, "\n{table}")?;
        }
        Ok(())
    }
}

/// Between which times half of the samples are.
fn quartiles(amounts: Amounts<'_>, spread: &Spread) -> String {
    format!("{} to {}", amounts.time(spread.lower_quartile), amounts.time(spread.upper_quartile))
}
