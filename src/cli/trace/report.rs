//! What a comparison found, for people and for programs.

use std::fmt;

use serde::Serialize;

use super::source::Named;
use crate::cli::figures::{decimal, percentage};
use crate::cli::table::Table;
use crate::cli::violations::count;
use crate::model::{Ticks, Units};
use crate::replay::Rate;
use crate::trace::clocks::{Clocks, Method};
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
pub struct Reports {
    /// Whether everything ran as declared, and was predicted within the tolerance.
    holds: bool,
    traces: Vec<Report>,
    /// Over all traces of which there are several: how far the predicted makespan is from the measured one.
    #[serde(skip_serializing_if = "Option::is_none")]
    makespan_errors: Option<Spans>,
    #[serde(skip_serializing_if = "Option::is_none")]
    written: Option<String>,
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
pub struct Report {
    file: String,
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
    peak_memory: Pair<Option<Vec<i64>>, Option<Vec<i64>>>,
    durations: ErrorsReport,
    starts: ErrorsReport,
    /// The makespan that replay gives with the durations measured in the iteration with the median makespan.
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
}

/// What was found of a trace beside the errors of its prediction.
pub struct Found {
    /// What ran otherwise than declared.
    pub findings: Vec<Finding>,
    /// What started too early by the clock.
    pub early: Vec<Early>,
    /// The makespan that replay gives with the durations that were measured.
    pub within: Option<Ticks>,
    /// Predictions with terms.
    pub terms: Option<TermsReport>,
}

impl Report {
    /// The report of a trace.
    pub fn of(
        Named { name, trace, clocks }: &Named,
        basis: &Basis,
        outcome: Result<(Prediction, Option<Comparison>), PredictionError>,
        Found { findings, early, within, terms }: Found,
    ) -> Self {
        let findings = findings.iter().map(|finding| {
            let (iteration, device, pass) = finding.place();
            let (rule, message) = (finding.rule(), finding.to_string());
            FindingReport { rule, iteration, device: device.0, pass: pass.to_string(), message }
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
            in_sample: matches!(basis, Basis::Itself | Basis::Fit { itself: true, .. }),
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
        let units = |peaks: &Option<Vec<Units>>| {
            peaks.as_ref().map(|peaks| peaks.iter().map(|peak| peak.0).collect::<Vec<i64>>())
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
            peak_memory: Pair {
                measured: units(&comparison.peak_memory),
                predicted: units(&prediction.peak_memory),
                error: None,
            },
            durations: ErrorsReport::from(&comparison.durations),
            starts: ErrorsReport::from(&comparison.starts),
            with_measured_durations: within.map(|within| within.0),
            rates: [measured, predicted],
        }
    }
}

impl Reports {
    /// The reports of all traces. A makespan further off than the tolerance is a no.
    pub fn of(
        traces: Vec<Report>,
        tolerance: Option<Rate>,
        drawing: Option<String>,
        written: Option<String>,
    ) -> Self {
        let mut errors: Vec<Rate> = traces.iter().filter_map(|report| report.makespan_error).collect();
        errors.sort_unstable();
        let within =
            |error: &Rate| tolerance.is_none_or(|tolerance| *error <= tolerance && *error >= -tolerance);
        let holds = traces.iter().all(|report| report.as_declared) && errors.iter().all(within);
        let makespan_errors = (errors.len() > 1).then(|| {
            let exact = [errors[0], errors[(errors.len() - 1) / 2], errors[errors.len() - 1]];
            let [least, median, most] = exact.map(decimal);
            Spans { least, median, most, exact }
        });
        Self { holds, traces, makespan_errors, written, drawing, tolerance }
    }

    /// Whether the answer is yes.
    pub const fn holds(&self) -> bool {
        self.holds
    }
}

/// A share with its sign.
fn signed(rate: Rate) -> String {
    let text = percentage(rate);
    if text.starts_with('-') { text } else { format!("+{text}") }
}

/// How many findings of a kind are listed.
const LISTED: usize = 20;

fn list(out: &mut fmt::Formatter<'_>, lines: impl ExactSizeIterator<Item = String>) -> fmt::Result {
    let more = lines.len().saturating_sub(LISTED);
    for line in lines.take(LISTED) {
        writeln!(out, "  {line}")?;
    }
    if more > 0 {
        writeln!(out, "  and {more} more; --json gives them all")?;
    }
    Ok(())
}

impl fmt::Display for Report {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.schedule.as_deref().unwrap_or("schedule");
        writeln!(
            out,
            "{}: {name}, {}, {}, {}; {}, {}",
            self.file,
            count(self.devices as usize, "device", "devices"),
            count(self.microbatches as usize, "microbatch", "microbatches"),
            count(self.iterations, "iteration", "iterations"),
            self.origin,
            self.machine.name,
        )?;
        if !self.absent.is_empty() {
            writeln!(out, "not in the trace: {}", self.absent.join(", "))?;
        }
        if let Some(error) = &self.gradient_error {
            writeln!(out, "gradient error against one device: {error}")?;
        }
        if let Some(overhead) = self.host_overhead {
            writeln!(out, "host overhead per iteration and device: {overhead} ns")?;
        }
        if let Some(clocks) = &self.clocks {
            clock_lines(out, clocks)?;
        }
        self.order_lines(out)?;
        writeln!(out, "\npredicted by {}", self.basis_text)?;
        if let Some(reason) = &self.not_predicted {
            return writeln!(out, "nothing is predicted: {reason}");
        }
        let Some(figures) = &self.figures else { return Ok(()) };
        write!(out, "\n{figures}")?;
        if let Some(terms) = &self.terms {
            write!(out, "\n{}", WithTerms { terms, figures, error: self.makespan_error })?;
        }
        Ok(())
    }
}

impl Report {
    fn order_lines(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.findings.is_empty() {
            writeln!(out, "all passes ran once, in the declared order, one at a time")?;
        } else {
            writeln!(out, "not as declared:")?;
            list(out, self.findings.iter().map(|finding| format!("{}: {}", finding.rule, finding.message)))?;
        }
        if self.early.is_empty() {
            return Ok(());
        }
        writeln!(out, "by the clock, these started before what they need had ended:")?;
        let line = |early: &EarlyPass| {
            let EarlyPass { iteration, pass, needs, by } = early;
            format!("iteration {iteration}: `{pass}` {by} ns before the end of `{needs}`")
        };
        list(out, self.early.iter().map(line))
    }
}

fn clock_lines(out: &mut fmt::Formatter<'_>, clocks: &Clocks) -> fmt::Result {
    let how = match clocks.method {
        Method::Agree => "clocks: no message contradicts that they agree",
        Method::Given => "clocks: offsets as given",
        Method::Estimated => "clocks: offsets in the middle of what messages allow",
    };
    writeln!(out, "{how}")?;
    for (rank, clock) in clocks.ranks.iter().enumerate().skip(1) {
        let limit =
            |limit: Option<i64>| limit.map_or_else(|| "anything".to_owned(), |limit| limit.to_string());
        let possible = match clocks.contradiction {
            Some(_) => "none".to_owned(),
            None => format!("{} to {}", limit(clock.least), limit(clock.most)),
        };
        writeln!(out, "  rank {rank}: {:+} ns against rank 0 (possible: {possible})", clock.offset)?;
    }
    Ok(())
}

impl fmt::Display for Figures {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = Table::new(["", "measured", "predicted", "error"]);
        let spread = &self.makespan.measured;
        let relative = |measured: i64, predicted: i64| {
            if measured == 0 {
                return "-".to_owned();
            }
            signed(Rate::new(i128::from(predicted - measured), i128::from(measured)))
        };
        table.row([
            "makespan, ns".to_owned(),
            spread.median.to_string(),
            self.makespan.predicted.to_string(),
            relative(spread.median, self.makespan.predicted),
        ]);
        if let Some(within) = self.with_measured_durations {
            table.row([
                "  with measured durations".to_owned(),
                String::new(),
                within.to_string(),
                relative(spread.median, within),
            ]);
        }
        let [measured, predicted] = self.rates;
        let points = signed(predicted - measured).replace(" %", " points");
        table.row(["bubble rate".to_owned(), percentage(measured), percentage(predicted), points]);
        let devices = |peaks: &Option<Vec<i64>>| peaks.as_ref().map_or(0, Vec::len);
        let most = devices(&self.peak_memory.measured).max(devices(&self.peak_memory.predicted));
        for device in 0..most {
            let of = |peaks: &Option<Vec<i64>>| peaks.as_ref().and_then(|peaks| peaks.get(device).copied());
            let (measured, predicted) = (of(&self.peak_memory.measured), of(&self.peak_memory.predicted));
            let cell = |peak: Option<i64>| peak.map_or_else(|| "-".to_owned(), |peak| peak.to_string());
            let error = measured.zip(predicted).map_or_else(|| "-".to_owned(), |(m, p)| relative(m, p));
            table.row([format!("peak of device {device}, bytes"), cell(measured), cell(predicted), error]);
        }
        write!(out, "{table}")?;
        if spread.count > 1 {
            writeln!(
                out,
                "makespans of the iterations: {} to {} ns, half of them {} to {}",
                spread.least, spread.most, spread.lower_quartile, spread.upper_quartile
            )?;
        }
        let headings = ["error of a pass", "median ns", "9 in 10 within", "median", "9 in 10", "worst"];
        let mut table = Table::new(headings);
        for (what, errors) in [("duration", &self.durations), ("start", &self.starts)] {
            let worst = errors
                .worst
                .iter()
                .map(|worst| format!("{} {:+}", worst.pass, worst.predicted - worst.measured));
            table.row([
                what.to_owned(),
                errors.median.to_string(),
                errors.p90.to_string(),
                percentage(errors.shares[0]),
                percentage(errors.shares[1]),
                worst.collect::<Vec<_>>().join(", "),
            ]);
        }
        write!(out, "\n{table}")?;
        writeln!(out, "(shares: of the predicted duration of the pass; of the predicted makespan)")
    }
}

/// The table of predictions with terms.
struct WithTerms<'a> {
    terms: &'a TermsReport,
    figures: &'a Figures,
    error: Option<Rate>,
}

impl fmt::Display for WithTerms<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { terms, figures, error } = self;
        if let Some(gaps) = &terms.gaps {
            let gaps: Vec<String> = gaps.iter().map(ToString::to_string).collect();
            writeln!(out, "launch gaps of the devices: {} ns", gaps.join(", "))?;
        }
        if let Some(rates) = &terms.rates {
            let rates: Vec<String> = (1..)
                .zip(rates)
                .map(|(busy, rate)| format!("{busy}: {}.{:03}", rate / 1000, rate % 1000))
                .collect();
            writeln!(out, "rate of a device by number of busy devices: {}", rates.join(", "))?;
        }
        let headings =
            ["predicted with", "makespan ns", "error", "bubble rate", "duration, 9 in 10", "start, 9 in 10"];
        let mut table = Table::new(headings);
        let share = |errors: &ErrorsReport| percentage(errors.shares[1]);
        let maybe = |errors: &Option<ErrorsReport>| errors.as_ref().map_or_else(|| "-".to_owned(), share);
        let off = |error: Option<Rate>| error.map_or_else(|| "-".to_owned(), signed);
        table.row([
            "replay alone".to_owned(),
            figures.makespan.predicted.to_string(),
            off(*error),
            percentage(figures.rates[1]),
            share(&figures.durations),
            share(&figures.starts),
        ]);
        for variant in &terms.variants {
            table.row([
                variant.with.to_owned(),
                variant.makespan.to_string(),
                off(variant.exact),
                percentage(variant.rate),
                maybe(&variant.durations),
                maybe(&variant.starts),
            ]);
        }
        write!(out, "{table}")
    }
}

impl fmt::Display for Reports {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, report) in self.traces.iter().enumerate() {
            write!(out, "{}{report}", if at == 0 { "" } else { "\n" })?;
        }
        if let Some(Spans { exact, .. }) = &self.makespan_errors {
            let [least, median, most] = exact.map(signed);
            writeln!(out, "\nerror of the makespan over all traces: {least} to {most}, median {median}")?;
        }
        if let Some(tolerance) = self.tolerance {
            let verdict = if self.holds { "within" } else { "not all within" };
            writeln!(out, "\nas declared, and the makespan {verdict} {}", percentage(tolerance))?;
        }
        if let Some(drawing) = &self.drawing {
            write!(out, "\n{drawing}")?;
        }
        match &self.written {
            Some(written) => writeln!(out, "\nwrote {written}"),
            None => Ok(()),
        }
    }
}
