//! What a comparison found: for programs here, for people in [`text`].

mod text;

use std::fmt;

use serde::Serialize;

use super::source::Named;
use crate::cli::figures::decimal;
use crate::cli::file_name::FileName;
use crate::cli::violations::count;
use crate::model::{Ticks, Units};
use crate::replay::Rate;
use crate::trace::clocks::Clocks;
use crate::trace::compare::{Comparison, Deviation, Errors, Prediction, PredictionError};
use crate::trace::matching::{Early, Finding};
use crate::trace::statistics::Spread;
use crate::trace::{Machine, Origin, Trace};

/// What predicts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Basis {
    /// A model file.
    Model {
        /// Its name.
        name: String,
        /// What it says of where it comes from.
        source: Option<String>,
    },
    /// A model fitted to other traces that were named for that.
    Fit {
        /// How many.
        traces: usize,
        /// Whether the trace that is predicted is one of them.
        itself: bool,
    },
    /// A model fitted to the other traces of the same schedule.
    Others {
        /// How many.
        traces: usize,
    },
    /// A model fitted to the trace itself.
    Itself,
}

impl Basis {
    const fn kind(&self) -> &'static str {
        match self {
            Self::Model { .. } => "model",
            Self::Fit { .. } => "fit",
            Self::Others { .. } => "other-runs",
            Self::Itself => "itself",
        }
    }

    /// Whether the trace that is predicted is among those that the model is fitted to.
    pub const fn is_in_sample(&self) -> bool {
        matches!(self, Self::Itself | Self::Fit { itself: true, .. })
    }
}

impl fmt::Display for Basis {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let traces = |number: usize| count(number, "trace", "traces");
        match self {
            Self::Model { name, source: Some(source) } => write!(out, "the model {name} ({source})"),
            Self::Model { name, source: None } => write!(out, "the model {name}"),
            Self::Fit { traces: number, itself } => {
                let among = if *itself { ", this one among them (in-sample)" } else { "" };
                write!(out, "a model fitted to {} given for that{among}", traces(*number))
            }
            Self::Others { traces: number } => {
                write!(out, "a model fitted to {} of other runs of this schedule", traces(*number))
            }
            Self::Itself => out.write_str("a model fitted to this trace itself (in-sample)"),
        }
    }
}

/// What was found of all traces.
#[derive(Serialize)]
pub struct ComparisonReport {
    /// Whether everything ran as declared, and was predicted within the tolerance.
    holds: bool,
    traces: Vec<TraceReport>,
    /// Over all traces of which there are several: how far the predicted makespan is from the measured one.
    #[serde(skip_serializing_if = "Option::is_none")]
    makespan_errors: Option<Spans>,
    #[serde(skip_serializing_if = "Option::is_none")]
    written: Option<FileName>,
    /// The picture of the errors.
    #[serde(skip_serializing_if = "Option::is_none")]
    scatter: Option<FileName>,
    #[serde(skip)]
    drawing: Option<String>,
    #[serde(skip)]
    tolerance: Option<Rate>,
}

/// The errors of several predictions.
#[derive(Serialize)]
struct Spans {
    least: f64,
    median: f64,
    most: f64,
    #[serde(skip)]
    exact: [Rate; 3],
}

/// What was found of one trace.
#[derive(Serialize)]
pub struct TraceReport {
    file: FileName,
    schedule: Option<String>,
    origin: Origin,
    machine: Machine,
    devices: u32,
    microbatches: u32,
    iterations: usize,
    /// What the trace does not say.
    absent: Vec<&'static str>,
    gradient_error: Option<String>,
    host_overhead: Option<i64>,
    basis: &'static str,
    basis_text: String,
    in_sample: bool,
    clocks: Option<Clocks>,
    as_declared: bool,
    findings: Vec<FindingReport>,
    early: Vec<EarlyPass>,
    /// Why nothing is predicted.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_predicted: Option<String>,
    #[serde(flatten)]
    figures: Option<Figures>,
    terms: Option<TermsReport>,
    #[serde(skip)]
    makespan_error: Option<Rate>,
}

/// A finding as `--json` gives it.
#[derive(Serialize)]
struct FindingReport {
    rule: &'static str,
    iteration: usize,
    device: u32,
    pass: String,
    message: String,
    #[serde(skip)]
    finding: Finding,
}

/// A pass that started before what it needs had ended.
#[derive(Serialize)]
struct EarlyPass {
    iteration: usize,
    pass: String,
    needs: String,
    by: i64,
}

/// Measured beside predicted.
#[derive(Serialize)]
struct Figures {
    makespan: Pair<Spread, i64>,
    bubble_rate: Pair<f64, f64>,
    activation_peak: Pair<Option<Vec<i64>>, Option<Vec<i64>>>,
    durations: ErrorsReport,
    starts: ErrorsReport,
    /// The iteration that the measured figures are of: the one with the median makespan.
    typical_iteration: usize,
    highest_activation_peaks: Option<Vec<i64>>,
    /// The makespan that replay gives with the durations measured in the typical iteration.
    with_measured_durations: Option<i64>,
    #[serde(skip)]
    rates: [Rate; 2],
}

#[derive(Serialize)]
struct Pair<M, P> {
    measured: M,
    predicted: P,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<f64>,
}

/// Errors of passes as `--json` gives them, in ns; shares of the predicted duration, or makespan.
#[derive(Serialize)]
struct ErrorsReport {
    signed: Spread,
    median: i64,
    p90: i64,
    median_share: f64,
    p90_share: f64,
    worst: Vec<Worst>,
    #[serde(skip)]
    shares: [Rate; 2],
}

#[derive(Serialize)]
struct Worst {
    pass: String,
    iteration: usize,
    measured: i64,
    predicted: i64,
}

impl From<&Errors> for ErrorsReport {
    fn from(errors: &Errors) -> Self {
        let worst = |deviation: &Deviation| Worst {
            pass: deviation.pass.to_string(),
            iteration: deviation.iteration,
            measured: deviation.measured.0,
            predicted: deviation.predicted.0,
        };
        Self {
            signed: errors.signed,
            median: errors.median.0,
            p90: errors.ninth_decile.0,
            median_share: decimal(errors.median_share),
            p90_share: decimal(errors.ninth_decile_share),
            worst: errors.worst.iter().map(worst).collect(),
            shares: [errors.median_share, errors.ninth_decile_share],
        }
    }
}

/// Predictions with terms.
#[derive(Serialize)]
pub struct TermsReport {
    /// By device: the launch gap in ns.
    pub gaps: Option<Vec<i64>>,
    /// By number of busy devices, from one: the rate of each, in thousandths.
    pub rates: Option<Vec<i64>>,
    /// What is predicted with them.
    pub variants: Vec<Variant>,
}

/// A prediction with terms.
#[derive(Serialize)]
pub struct Variant {
    with: &'static str,
    makespan: i64,
    error: Option<f64>,
    bubble_rate: f64,
    durations: Option<ErrorsReport>,
    starts: Option<ErrorsReport>,
    #[serde(skip)]
    exact: Option<Rate>,
    #[serde(skip)]
    rate: Rate,
}

impl Variant {
    /// A prediction and how far it is off.
    pub fn of(with: &'static str, prediction: &Prediction, comparison: Option<&Comparison>) -> Self {
        let exact = comparison.map(|comparison| comparison.makespan_error(prediction.makespan));
        Self {
            with,
            makespan: prediction.makespan.0,
            error: exact.map(decimal),
            bubble_rate: decimal(prediction.bubble_rate),
            durations: comparison.map(|comparison| ErrorsReport::from(&comparison.durations)),
            starts: comparison.map(|comparison| ErrorsReport::from(&comparison.starts)),
            exact,
            rate: prediction.bubble_rate,
        }
    }

    /// What it is predicted with.
    pub const fn with(&self) -> &'static str {
        self.with
    }

    /// The makespan that is predicted.
    pub const fn makespan(&self) -> Ticks {
        Ticks(self.makespan)
    }
}

/// What was found of a trace beside the errors of its prediction.
pub struct TraceFindings {
    /// What ran otherwise than declared.
    pub findings: Vec<Finding>,
    /// What started too early by the clock.
    pub early: Vec<Early>,
    /// The makespan that replay gives with the durations that were measured.
    pub within: Option<Ticks>,
    /// Predictions with terms.
    pub terms: Option<TermsReport>,
}

impl TraceReport {
    /// The report of a trace.
    pub fn of(
        Named { name, trace, clocks }: &Named,
        basis: &Basis,
        outcome: Result<(Prediction, Option<Comparison>), PredictionError>,
        TraceFindings { findings, early, within, terms }: TraceFindings,
    ) -> Self {
        let findings = findings.into_iter().map(|finding| {
            let (iteration, device, pass) = finding.place();
            let (rule, message) = (finding.rule(), finding.to_string());
            FindingReport { rule, iteration, device: device.0, pass: pass.to_string(), message, finding }
        });
        let early = early.iter().map(|early| EarlyPass {
            iteration: early.iteration,
            pass: early.pass.to_string(),
            needs: early.needs.to_string(),
            by: early.by.0,
        });
        let findings: Vec<FindingReport> = findings.collect();
        let (mut figures, mut not_predicted, mut makespan_error) = (None, None, None);
        match outcome {
            Ok((prediction, Some(comparison))) => {
                makespan_error = Some(comparison.makespan_error(prediction.makespan));
                figures = Some(Figures::of(&prediction, &comparison, within));
            }
            Ok((_, None)) => not_predicted = Some("no pass of the schedule ran".to_owned()),
            Err(error) => not_predicted = Some(error.to_string()),
        }
        Self {
            file: name.clone(),
            schedule: trace.schedule.name.clone(),
            origin: trace.origin,
            machine: trace.machine.clone(),
            devices: trace.schedule.devices(),
            microbatches: trace.schedule.microbatches(),
            iterations: trace.iterations.len(),
            absent: absent(trace),
            gradient_error: trace.gradient_error.clone(),
            host_overhead: trace.host_overhead.map(|overhead| overhead.0),
            basis: basis.kind(),
            basis_text: basis.to_string(),
            in_sample: basis.is_in_sample(),
            clocks: clocks.clone(),
            as_declared: findings.is_empty() && not_predicted.is_none(),
            findings,
            early: early.collect(),
            not_predicted,
            figures,
            terms,
            makespan_error,
        }
    }
}

/// What a trace could say and does not.
fn absent(trace: &Trace) -> Vec<&'static str> {
    let every = |has: fn(&crate::trace::Iteration) -> bool| trace.iterations.iter().all(has);
    [
        ("sizes of the network", trace.sizes.is_some()),
        ("gradient error", trace.gradient_error.is_some()),
        ("host overhead", trace.host_overhead.is_some()),
        ("messages", every(|iteration| iteration.messages.is_some())),
        ("memory", every(|iteration| iteration.memory.is_some())),
    ]
    .into_iter()
    .filter_map(|(what, there)| (!there).then_some(what))
    .collect()
}

impl Figures {
    fn of(prediction: &Prediction, comparison: &Comparison, within: Option<Ticks>) -> Self {
        let (measured, predicted) = (comparison.bubble_rate(), prediction.bubble_rate);
        let units = |peaks: Option<&Vec<Units>>| {
            peaks.map(|peaks| peaks.iter().map(|peak| peak.0).collect::<Vec<i64>>())
        };
        Self {
            makespan: Pair {
                measured: comparison.makespan(),
                predicted: prediction.makespan.0,
                error: Some(decimal(comparison.makespan_error(prediction.makespan))),
            },
            bubble_rate: Pair {
                measured: decimal(measured),
                predicted: decimal(predicted),
                error: Some(decimal(predicted - measured)),
            },
            activation_peak: Pair {
                measured: units(comparison.peak_memory()),
                predicted: units(prediction.peak_memory.as_ref()),
                error: None,
            },
            durations: ErrorsReport::from(&comparison.durations),
            starts: ErrorsReport::from(&comparison.starts),
            typical_iteration: comparison.typical(),
            highest_activation_peaks: units(comparison.highest_peaks().as_ref()),
            with_measured_durations: within.map(|within| within.0),
            rates: [measured, predicted],
        }
    }
}

impl ComparisonReport {
    /// The reports of all traces. A makespan further off than the tolerance is a no.
    pub fn of(
        traces: Vec<TraceReport>,
        tolerance: Option<Rate>,
        drawing: Option<String>,
        written: Option<FileName>,
        scatter: Option<FileName>,
    ) -> Self {
        let mut errors: Vec<Rate> = traces.iter().filter_map(|report| report.makespan_error).collect();
        errors.sort_unstable();
        let within = |error: &Rate| tolerance.is_none_or(|most| *error <= most && *error >= -most);
        let holds = traces.iter().all(|report| report.as_declared) && errors.iter().all(within);
        let makespan_errors = (errors.len() > 1).then(|| {
            let exact = [errors[0], errors[(errors.len() - 1) / 2], errors[errors.len() - 1]];
            let [least, median, most] = exact.map(decimal);
            Spans { least, median, most, exact }
        });
        Self { holds, traces, makespan_errors, written, scatter, drawing, tolerance }
    }

    /// Whether the answer is yes.
    pub const fn holds(&self) -> bool {
        self.holds
    }
}
