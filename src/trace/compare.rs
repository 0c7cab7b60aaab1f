//! How far a prediction is from what was measured: per pass, and as a whole.

use std::collections::BTreeMap;

use super::fit::FitError;
use super::matching::first_spans;
use super::statistics::{Spread, quantile};
use super::terms::{Terms, simulate_with};
use super::{Iteration, Span, Trace};
use crate::analysis::{bubble_rate, spans};
use crate::model::{Device, Model, ModelError, Pass, Ticks, Units};
use crate::replay::{Rate, Violation, replay};
use crate::schedule::Schedule;

/// What a schedule is predicted to do, in nanoseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prediction {
    /// By device: its passes in order, the first start over all devices being 0.
    pub spans: Vec<Vec<Span>>,
    /// Last end, the first start being 0.
    pub makespan: Ticks,
    /// As [measured](bubble_rate) in a run at these times, in pictures too. That of replay, for the schedule's best
    /// execution, may be lower.
    pub bubble_rate: Rate,
    /// The most each device holds, in bytes; nothing where the model counts memory otherwise.
    pub peak_memory: Option<Vec<Units>>,
}

/// Why there is no prediction.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PredictionError {
    /// A unit of time that has no length in seconds.
    #[error("the model's unit of time is \"{0}\", which has no length: measured times need ns, us, ms or s")]
    Unit(String),
    /// The schedule cannot run under the model.
    #[error("the declared schedule cannot run: {0}")]
    CannotRun(Box<Violation>),
    /// What was measured makes no model.
    #[error("{0}")]
    Fit(#[from] FitError),
    /// Times too large in nanoseconds, or too many microbatches.
    #[error("the model does not fit: {0}")]
    Model(#[from] ModelError),
}

/// The same model in nanoseconds, with this number of microbatches, and without weights and capacities,
/// which no trace has.
///
/// # Errors
/// When its unit has no length, or its times are too large.
pub fn in_nanoseconds(model: &Model, microbatches: u32) -> Result<Model, PredictionError> {
    let unit = || PredictionError::Unit(model.costs().unit.clone());
    let free = model.in_nanoseconds()?.ok_or_else(unit)?.without_weights();
    Ok(free.with_uniform_activation_capacity(None)?.with_microbatches(microbatches)?)
}

/// What replay predicts under a model [in nanoseconds](in_nanoseconds).
///
/// # Errors
/// When the schedule cannot run.
pub fn predict(model: &Model, schedule: &Schedule) -> Result<Prediction, PredictionError> {
    let verdict = replay(model, schedule);
    let Some(timing) = verdict.timing else {
        let violation = verdict.violations.into_iter().next();
        let violation = violation.expect("what cannot run has a violation");
        return Err(PredictionError::CannotRun(Box::new(violation)));
    };
    let spans = Device::all(schedule.devices())
        .map(|device| spans(model, schedule, &timing, device).collect::<Vec<_>>());
    let spans: Vec<_> = spans.collect();
    let bytes = matches!(model.memory().unit.as_str(), "byte" | "bytes" | "B");
    Ok(Prediction {
        makespan: timing.metrics.makespan,
        bubble_rate: bubble_rate(&spans),
        spans,
        peak_memory: bytes.then_some(verdict.peak_memory),
    })
}

/// The makespan that an iteration would have had if nothing but its passes took time: the schedule run under
/// the model, with its latencies, but with the durations that were measured. What that leaves of the error
/// of a prediction lies between the passes. Nothing where the schedule overlaps pairs.
#[must_use]
pub fn of_measured_durations(trace: &Trace, iteration: usize, model: &Model) -> Option<Ticks> {
    let ran = first_spans(&trace.iterations[iteration]);
    let duration = |pass: Pass| match ran.get(&pass) {
        Some(span) => span.duration(),
        None => trace.schedule.duration(model, pass),
    };
    let none = Terms::none(trace.schedule.devices());
    let spans = simulate_with(model, &trace.schedule, &none, duration).ok()?;
    spans.iter().flatten().map(|span| span.end).max()
}

/// How far a prediction is from a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comparison {
    /// The makespan of every iteration.
    pub makespans: Vec<Ticks>,
    /// The bubble rate of every iteration.
    pub bubble_rates: Vec<Rate>,
    /// For every iteration, by device: the most that it held, where that was recorded.
    pub peaks: Vec<Option<Vec<Units>>>,
    /// Predicted less measured duration of every pass of every iteration.
    pub durations: Errors,
    /// Predicted less measured start of every pass of every iteration.
    pub starts: Errors,
}

/// Errors of passes: predicted less measured, as for the makespan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Errors {
    /// With their signs.
    pub signed: Spread,
    /// The absolute error that half of the passes do not exceed.
    pub median: Ticks,
    /// The absolute error that nine in ten do not exceed.
    pub ninth_decile: Ticks,
    /// The absolute error, as a share, that half of the passes do not exceed: of the predicted duration of the
    /// pass where durations are compared, of the predicted makespan where starts are.
    pub median_share: Rate,
    /// The share that nine in ten do not exceed.
    pub ninth_decile_share: Rate,
    /// The passes with the largest absolute errors, the largest first; those of one pass count once.
    pub worst: Vec<Deviation>,
}

/// A pass that deviates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deviation {
    /// The iteration, from 0.
    pub iteration: usize,
    /// The pass.
    pub pass: Pass,
    /// What was measured, in nanoseconds.
    pub measured: Ticks,
    /// What was predicted.
    pub predicted: Ticks,
}

impl Deviation {
    /// Predicted less measured.
    #[must_use]
    pub fn error(self) -> Ticks {
        self.predicted - self.measured
    }
}

impl Errors {
    /// How many of the worst are named.
    const NAMED: usize = 3;

    /// The errors of some passes, and shares of what `whole` gives for each.
    fn of(deviations: Vec<Deviation>, whole: impl Fn(&Deviation) -> Ticks) -> Option<Self> {
        let signed = Spread::of(deviations.iter().map(|deviation| deviation.error().0))?;
        let mut sizes: Vec<i64> = deviations.iter().map(|deviation| deviation.error().0.abs()).collect();
        sizes.sort_unstable();
        let (median, ninth_decile) = (quantile(&sizes, 1, 2)?, quantile(&sizes, 9, 10)?);
        // A predicted duration of zero has no relative error.
        let share = |deviation: &Deviation| {
            let whole = i128::from(whole(deviation).0);
            (whole > 0).then(|| Rate::new(i128::from(deviation.error().0.abs()), whole))
        };
        let mut shares: Vec<Rate> = deviations.iter().filter_map(share).collect();
        shares.sort_unstable();
        let at = |part: usize, whole: usize| {
            let place = (shares.len() * part).div_ceil(whole).max(1) - 1;
            shares.get(place).copied().unwrap_or_default()
        };
        let (median_share, ninth_decile_share) = (at(1, 2), at(9, 10));
        let mut worst = deviations;
        worst.sort_by_key(|deviation| {
            (std::cmp::Reverse(deviation.error().0.abs()), deviation.iteration, deviation.pass)
        });
        let mut named: Vec<Deviation> = Vec::new();
        for deviation in worst {
            if named.len() < Self::NAMED && named.iter().all(|other| other.pass != deviation.pass) {
                named.push(deviation);
            }
        }
        Some(Self {
            signed,
            median: Ticks(median),
            ninth_decile: Ticks(ninth_decile),
            median_share,
            ninth_decile_share,
            worst: named,
        })
    }
}

impl Prediction {
    /// The prediction that other times of the same passes make.
    #[must_use]
    pub fn retimed(&self, spans: Vec<Vec<Span>>) -> Self {
        let ends = spans.iter().flatten().map(|span| span.end);
        let makespan = ends.max().unwrap_or_default();
        Self { makespan, bubble_rate: bubble_rate(&spans), spans, peak_memory: self.peak_memory.clone() }
    }
}

impl Comparison {
    /// The iteration whose makespan is the median, the first of several: the one whose figures are given and that
    /// is drawn.
    #[must_use]
    pub fn typical(&self) -> usize {
        let median = self.makespan().median;
        self.makespans.iter().position(|makespan| makespan.0 == median).unwrap_or(0)
    }

    /// How the makespans spread.
    #[must_use]
    pub fn makespan(&self) -> Spread {
        Spread::of(self.makespans.iter().map(|makespan| makespan.0)).unwrap_or_default()
    }

    /// The bubble rate of the [typical](Self::typical) iteration.
    #[must_use]
    pub fn bubble_rate(&self) -> Rate {
        self.bubble_rates.get(self.typical()).copied().unwrap_or_default()
    }

    /// By device: the most that it held in the [typical](Self::typical) iteration, where that was recorded.
    #[must_use]
    pub fn peak_memory(&self) -> Option<&Vec<Units>> {
        self.peaks.get(self.typical())?.as_ref()
    }

    /// By device: the most that it held in any iteration, where that was recorded.
    #[must_use]
    pub fn highest_peaks(&self) -> Option<Vec<Units>> {
        let recorded = self.peaks.iter().flatten().cloned();
        recorded
            .reduce(|most, other| most.into_iter().zip(other).map(|(one, other)| one.max(other)).collect())
    }

    /// By how much a predicted makespan exceeds the median one, as a share of that: negative where the
    /// prediction is too short.
    #[must_use]
    pub fn makespan_error(&self, predicted: Ticks) -> Rate {
        let measured = self.makespan().median;
        if measured == 0 {
            return Rate::from_integer(0);
        }
        Rate::new(i128::from(predicted.0 - measured), i128::from(measured))
    }
}

/// Compares what was measured with a prediction, pass by pass. A pass that one of them does not have is left out;
/// nothing where they have none in common.
#[must_use]
pub fn compare(trace: &Trace, prediction: &Prediction) -> Option<Comparison> {
    let predicted: BTreeMap<Pass, Span> =
        prediction.spans.iter().flatten().map(|&span| (span.pass, span)).collect();
    let (mut durations, mut starts) = (Vec::new(), Vec::new());
    for (iteration, ran) in trace.iterations.iter().enumerate() {
        let begun = ran.first_start();
        for (pass, span) in first_spans(ran) {
            let Some(expected) = predicted.get(&pass) else { continue };
            let deviation = |measured, predicted| Deviation { iteration, pass, measured, predicted };
            durations.push(deviation(span.duration(), expected.duration()));
            starts.push(deviation(span.start - begun, expected.start));
        }
    }
    Some(Comparison {
        makespans: trace.iterations.iter().map(|ran| ran.last_end() - ran.first_start()).collect(),
        bubble_rates: trace.iterations.iter().map(|ran| bubble_rate(&ran.passes)).collect(),
        peaks: trace.iterations.iter().map(Iteration::peak_memory).collect(),
        durations: Errors::of(durations, |deviation| deviation.predicted)?,
        starts: Errors::of(starts, |_| prediction.makespan)?,
    })
}
