//! `trace compare`: measured runs compared with the schedule and with the prediction of replay.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;

use super::profile::{in_words, mended};
use super::report::{Basis, ComparisonReport, TermsReport, TraceFindings, TraceReport, Variant};
use super::scatter::{self, Measured};
use super::shown::{self, Form};
use super::source::{Named, SourceArgs};
use crate::cli::caveats;
use crate::cli::error::{Error, Status};
use crate::cli::file_name::FileName;
use crate::cli::input::read_model;
use crate::cli::output::{Output, Target, note};
use crate::cli::progress::Progress;
use crate::cli::render::Colour;
use crate::cli::size::{refuse_offload, refuse_sharding, refuse_step};
use crate::model::Model;
use crate::replay::{Rate, Violation};
use crate::trace::compare::{
    Comparison, Prediction, PredictionError, compare, in_nanoseconds, of_measured_durations, predict,
};
use crate::trace::fit::{FitError, Profile, profile};
use crate::trace::matching::{early, findings};
use crate::trace::terms::{Terms, TermsError, fit_contention, fit_gaps, fit_gaps_of_kinds, scaled, simulate};
use crate::trace::whole::Replicas;
use crate::trace::{Trace, run as ran};

/// The options of `trace compare`.
#[derive(Debug, Args)]
pub struct CompareArgs {
    #[command(flatten)]
    source: SourceArgs,

    /// The model that predicts, in place of one fitted to traces
    #[arg(long, value_name = "MODEL", conflicts_with = "fit")]
    model: Option<PathBuf>,

    /// Other traces to fit the model to
    #[arg(long, value_name = "TRACE,...", value_delimiter = ',')]
    fit: Vec<PathBuf>,

    /// Also predict with devices that slow each other down, at rates fitted to the same traces as the model
    ///
    /// With k busy devices, each runs at a fitted rate r(k), with r(1) = 1 and r non-increasing.
    #[arg(long)]
    contention: bool,

    /// Also predict with launch gaps: what each device needs between two passes
    ///
    /// With one gap for each device, and with one for every two kinds of passes that it ran in turn.
    #[arg(long)]
    gaps: bool,

    /// Largest relative error of the predicted makespan; beyond it the exit status is 1
    #[arg(long, value_name = "P%")]
    tolerance: Option<Tolerance>,

    /// The file to draw measured above predicted in: .svg, .html for a browser, or .txt
    ///
    /// Draws the first trace, in the iteration with the median makespan.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// The file to draw the errors of all traces in: .svg
    ///
    /// Predicted against measured makespans, and below that how far every iteration of every trace is off, with a band
    /// for --tolerance.
    #[arg(long, value_name = "FILE")]
    scatter: Option<PathBuf>,

    /// The width: columns of text (at least 40), or pixels of an SVG
    #[arg(long, value_name = "N")]
    width: Option<u32>,

    /// Whether to colour text
    #[arg(long, value_enum, default_value_t = Colour::Auto, value_name = "WHEN")]
    color: Colour,
}

/// A share in percent, exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Tolerance(Rate);

impl FromStr for Tolerance {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let share = crate::limit::percentage(text.strip_suffix('%').unwrap_or(text));
        share.map(Self).ok_or_else(|| format!("`{text}` is not a percentage, such as 5%"))
    }
}

/// Compares every trace.
///
/// # Errors
/// When a file or an option is wrong.
pub fn run(args: &CompareArgs, output: Output) -> Result<Status, Error> {
    let form = args.output.as_deref().map(Form::of).transpose()?;
    let target = args.output.as_deref().map(|path| output.target(path)).transpose()?;
    let scatter = args.scatter.as_deref().map(|path| scatter::target(path, args.output.as_deref(), output));
    let scatter = scatter.transpose()?;
    let progress = Progress::start("reading the traces");
    let named = args.source.read()?;
    let given = args.model.as_deref().map(read_model).transpose()?;
    if let Some(model) = &given {
        refuse_step(model)?;
        refuse_offload(model)?;
        refuse_sharding(model)?;
    }
    if given.is_none() && args.fit.is_empty() && named.len() > 1 {
        let replicas = Replicas::of(named.iter().map(|named| &named.trace));
        if replicas.is_ok_and(|replicas| replicas.steps().is_ok()) {
            note(
                "these traces are replicas of one run, since they share operations: each is predicted by the others; \
                 --fit predicts them by other traces",
            );
        }
    }
    given.iter().filter_map(caveats::worst_case).for_each(|text| note(&text));
    let others: Vec<Trace> =
        args.source.read_others(&args.fit)?.into_iter().map(|named| named.trace).collect();
    let mut reports = Vec::new();
    let mut drawing = None;
    let tolerance = args.tolerance.map(|tolerance| tolerance.0);
    let mut errors = scatter::Errors::within(tolerance);
    for at in 0..named.len() {
        progress.step(named[at].name.to_string());
        let subject = Subject::of(args, at, &named, given.as_ref(), &others, output)?;
        if at == 0 {
            let how = shown::How { form, width: args.width, color: args.color, json: output.is_json() };
            drawing = subject.draw(&how)?;
        }
        subject.add_to(&mut errors);
        reports.push(subject.report());
    }
    drop(progress);
    let mut written = None;
    if let (Some(target), Some(text)) = (&target, &drawing) {
        target.write(|out| out.write_all(text.as_bytes()))?;
        written = args.output.as_ref().map(FileName::of);
    }
    if let Some((target, _)) = &scatter {
        target.write(|out| out.write_all(errors.svg().as_bytes()))?;
    }
    let scatter = scatter.map(|(_, name)| name);
    let drawing = drawing.filter(|_| target.is_none());
    let reports = ComparisonReport::of(reports, tolerance, drawing, written, scatter);
    if target != Some(Target::Stdout) {
        output.print(&reports)?;
    }
    Ok(Status::of(reports.holds()))
}

/// A trace with its prediction.
struct Subject<'a> {
    named: &'a Named,
    basis: Basis,
    /// The model in nanoseconds; nothing where what was measured makes none.
    model: Option<Model>,
    /// What is predicted, and how far it is off; or why nothing is.
    outcome: Result<(Prediction, Option<Comparison>), PredictionError>,
    terms: Option<TermsReport>,
}

impl<'a> Subject<'a> {
    fn of(
        args: &CompareArgs,
        at: usize,
        named: &'a [Named],
        given: Option<&Model>,
        others: &[Trace],
        output: Output,
    ) -> Result<Self, Error> {
        let trace = &named[at].trace;
        let (basis, fitted_to) = basis(args, at, named, given, others);
        let needs_profile = given.is_none() || args.contention || args.gaps;
        let profile = if needs_profile {
            let profile = match profile("fitted", &fitted_to) {
                Ok(profile) => profile,
                // That passes are missing is what the comparison is to say.
                Err(error @ FitError::NotMeasured { .. }) => {
                    let outcome = Err(error.into());
                    return Ok(Self { named: &named[at], basis, model: None, outcome, terms: None });
                }
                Err(error) => return Err(mended(&error)),
            };
            if given.is_none() && at == 0 {
                for text in profile.notes.iter().filter(|note| note.concerns_predictions()) {
                    note(&in_words(text, output.amounts_of_traces()));
                }
                if profile.model.step().is_some() {
                    note("makespans are those of the passes; `trace explain` is about whole steps");
                }
            }
            // Measured makespans end with the passes, too.
            Some(profile.without_step())
        } else {
            None
        };
        let model = match (given, &profile) {
            (Some(given), _) => given,
            (None, Some(profile)) => &profile.model,
            (None, None) => return Err(Error::Defect("a model is neither given nor fitted".to_owned())),
        };
        if given.is_some()
            && at == 0
            && let Some(text) = caveats::unsplit_in(model, &trace.schedule)
        {
            note(&text);
        }
        let model = in_nanoseconds(model, trace.schedule.microbatches()).map_err(|error| unusable(&error))?;
        let outcome = match predict(&model, &trace.schedule) {
            Ok(prediction) => {
                let comparison = compare(trace, &prediction);
                Ok((prediction, comparison))
            }
            // A model of another pipeline is an error of usage, not a finding about the trace.
            Err(PredictionError::CannotRun(violation)) if !is_mismatch(&violation) => {
                Err(PredictionError::CannotRun(violation))
            }
            Err(error) => return Err(unusable(&error)),
        };
        let terms = match (&profile, &outcome) {
            (Some(profile), Ok((prediction, _))) if args.contention || args.gaps => {
                Some(terms(args, trace, &fitted_to, profile, &model, prediction)?)
            }
            _ => None,
        };
        Ok(Self { named: &named[at], basis, model: Some(model), outcome, terms })
    }

    fn draw(&self, how: &shown::How) -> Result<Option<String>, Error> {
        let trace = &self.named.trace;
        let iteration = match &self.outcome {
            Ok((_, Some(comparison))) => comparison.typical(),
            _ => 0,
        };
        let Some(model) = &self.model else { return Ok(None) };
        let by = match self.basis {
            Basis::Model { .. } => model.name(),
            Basis::Fit { .. } | Basis::Others { .. } | Basis::Itself => "a fitted model",
        };
        shown::draw(model, &trace.schedule, &ran::of(trace, iteration), by, how)
    }

    /// What is predicted, for the picture of errors.
    fn add_to(&self, errors: &mut scatter::Errors) {
        let Ok((prediction, Some(comparison))) = &self.outcome else { return };
        let measured = Measured {
            name: &self.named.name,
            schedule: self.named.trace.schedule.name.as_deref(),
            in_sample: self.basis.is_in_sample(),
            makespans: &comparison.makespans,
            predicted: prediction.makespan,
        };
        errors.add(&measured, self.terms.as_ref().map_or(&[], |terms| &terms.variants));
    }

    fn report(self) -> TraceReport {
        let trace = &self.named.trace;
        let within = match (&self.outcome, &self.model) {
            (Ok((_, Some(comparison))), Some(model)) => {
                of_measured_durations(trace, comparison.typical(), model)
            }
            _ => None,
        };
        let found =
            TraceFindings { findings: findings(trace), early: early(trace), within, terms: self.terms };
        TraceReport::of(self.named, &self.basis, self.outcome, found)
    }
}

/// What predicts a trace, and the traces that it is fitted to.
fn basis(
    args: &CompareArgs,
    at: usize,
    named: &[Named],
    given: Option<&Model>,
    others: &[Trace],
) -> (Basis, Vec<Trace>) {
    let trace = &named[at].trace;
    if let Some(model) = given {
        let source = model.source().map(str::to_owned);
        return (Basis::Model { name: model.name().to_owned(), source }, vec![trace.clone()]);
    }
    if !args.fit.is_empty() {
        let itself = others.iter().any(|other| other.is_same_run(trace));
        return (Basis::Fit { traces: others.len(), itself }, others.to_vec());
    }
    let siblings = named.iter().filter(|other| other.trace.is_sibling_of(trace));
    let siblings: Vec<Trace> = siblings.map(|other| other.trace.clone()).collect();
    if siblings.is_empty() {
        (Basis::Itself, vec![trace.clone()])
    } else {
        (Basis::Others { traces: siblings.len() }, siblings)
    }
}

/// Predictions with terms, beside that of replay.
fn terms(
    args: &CompareArgs,
    trace: &Trace,
    fitted_to: &[Trace],
    profile: &Profile,
    model: &Model,
    prediction: &Prediction,
) -> Result<TermsReport, Error> {
    let unusable = |error: TermsError| Error::usage(error.to_string(), "leave --contention and --gaps out");
    let devices = model.devices();
    let none = Terms::none(devices);
    let gaps = args.gaps.then(|| fit_gaps(profile, fitted_to));
    let contention = if args.contention {
        let (rates, alone) = fit_contention(profile, fitted_to).map_err(unusable)?;
        // A model that is given stays what it is, but for the contention that is taken out of it.
        let alone = if args.model.is_some() {
            scaled(model, &profile.model, &alone).map_err(|error| unusable(error.into()))?
        } else {
            in_nanoseconds(&alone, model.microbatches()).map_err(|error| Error::Defect(error.to_string()))?
        };
        Some((rates, alone))
    } else {
        None
    };
    let mut variants = Vec::new();
    let mut add = |name: &'static str, model: &Model, terms: &Terms| -> Result<(), Error> {
        let spans = simulate(model, &trace.schedule, terms).map_err(unusable)?;
        let prediction = prediction.retimed(spans);
        variants.push(Variant::of(name, &prediction, compare(trace, &prediction).as_ref()));
        Ok(())
    };
    if let Some(gaps) = &gaps {
        add("launch gaps", model, &Terms { gaps: gaps.clone(), ..none.clone() })?;
        let gaps_of_kinds = fit_gaps_of_kinds(profile, fitted_to);
        add("gaps by kinds", model, &Terms { gaps: gaps.clone(), gaps_of_kinds, ..none.clone() })?;
    }
    if let Some((rates, alone)) = &contention {
        add("contention", alone, &Terms { rates: rates.clone(), ..none.clone() })?;
        if let Some(gaps) = &gaps {
            add("both", alone, &Terms { rates: rates.clone(), gaps: gaps.clone(), ..none.clone() })?;
        }
    }
    let rates = contention.map(|(rates, _)| rates);
    Ok(TermsReport { gaps: gaps.map(|gaps| gaps.iter().map(|gap| gap.0).collect()), rates, variants })
}

fn is_mismatch(violation: &Violation) -> bool {
    matches!(violation, Violation::ModelMismatch(_))
}

/// Why a model predicts nothing, with advice.
fn unusable(error: &PredictionError) -> Error {
    let help = match error {
        PredictionError::Unit(_) => "`trace profile` makes a model in ns",
        PredictionError::CannotRun(_) | PredictionError::Model(_) | PredictionError::Fit(_) => {
            "the model must be of the same pipeline: choose another, or leave --model and --fit out"
        }
    };
    Error::usage(error.to_string(), help)
}
