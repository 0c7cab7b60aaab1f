//! `optimize --curve`: how the best value and the lower bound came closer as the search went on.

use std::path::Path;
use std::time::Instant;

use serde::Serialize;

use super::OptimizeArgs;
use crate::cli::error::Error;
use crate::cli::file_name::FileName;
use crate::cli::output::{Output, Target};
use crate::cli::search::ObjectiveName;
use crate::draw::{Anytime, Axes, Reached};
use crate::model::{Model, Ticks};
use crate::optimize::{Progress, Solution};

/// What a search had reached at some time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CurvePoint {
    /// Since the beginning.
    seconds: f64,
    /// The best value, in ticks; null as long as nothing was found.
    best: Option<i64>,
    /// What nothing was known to be below, in ticks.
    lower_bound: i64,
}

/// What a search has reached, and when.
#[derive(Debug)]
pub struct Curve {
    begin: Instant,
    best: Vec<Reached>,
    bounds: Vec<Reached>,
}

impl Curve {
    /// The search begins now.
    pub fn begin() -> Self {
        Self { begin: Instant::now(), best: Vec::new(), bounds: Vec::new() }
    }

    /// Takes what has been reached by now.
    pub fn take(&mut self, state: &Progress) {
        if !state.is_inner {
            self.reach(state.best, state.bound);
        }
    }

    /// Takes what it ends with.
    pub fn end(&mut self, solution: &Solution) {
        self.reach(Some(solution.value()), solution.lower_bound());
    }

    /// Only what is better than before is a point.
    fn reach(&mut self, best: Option<Ticks>, bound: Ticks) {
        // Nothing is reached at once, and an axis with zero cannot be logarithmic.
        let milliseconds = i64::try_from(self.begin.elapsed().as_millis()).unwrap_or(i64::MAX).max(1);
        if let Some(value) = best.filter(|&best| self.best.last().is_none_or(|last| best < last.value)) {
            self.best.push(Reached { milliseconds, value });
        }
        if self.bounds.last().is_none_or(|last| bound > last.value) {
            self.bounds.push(Reached { milliseconds, value: bound });
        }
    }

    /// The picture.
    pub fn svg(&self, model: &Model, objective: ObjectiveName) -> String {
        let axes = match objective {
            ObjectiveName::Makespan => Axes::Makespan,
            ObjectiveName::Span => Axes::DeviceSpan,
        };
        let title = format!("{}: the search", model.name());
        let (best, bounds) = (&self.best, &self.bounds);
        Anytime { title: &title, axes, time_unit: &model.costs().unit, best, bounds }.svg()
    }

    /// A point for each time at which something changed.
    pub fn points(&self) -> Vec<CurvePoint> {
        let mut times: Vec<i64> =
            self.best.iter().chain(&self.bounds).map(|reached| reached.milliseconds).collect();
        times.sort_unstable();
        times.dedup();
        let by = |reached: &[Reached], time| {
            let until = reached.partition_point(|reached| reached.milliseconds <= time);
            until.checked_sub(1).map(|last| reached[last].value.0)
        };
        let point = |time| CurvePoint {
            seconds: as_seconds(time),
            best: by(&self.best, time),
            lower_bound: by(&self.bounds, time).unwrap_or_default(),
        };
        times.into_iter().map(point).collect()
    }
}

#[expect(clippy::cast_precision_loss, reason = "only for display")]
fn as_seconds(milliseconds: i64) -> f64 {
    milliseconds as f64 / 1e3
}

/// Where the picture goes.
///
/// # Errors
/// When the name is not that of a drawing.
pub fn drawing(path: &Path, output: Output) -> Result<Target, Error> {
    if !path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("svg")) {
        return Err(Error::usage(
            format!("`{}` does not end in `.svg`", FileName::of(path)),
            "`--curve` draws SVG: give it a name that ends in `.svg`",
        ));
    }
    output.target(path)
}

/// Refuses the option where there is more than one search.
///
/// # Errors
/// When it is given.
pub fn refuse(args: &OptimizeArgs, what: &str) -> Result<(), Error> {
    args.curve.as_ref().map_or(Ok(()), |_| {
        Err(Error::usage(format!("--curve is for one search, not for {what}"), "leave it out"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_better_is_a_point() {
        let mut curve = Curve::begin();
        for (best, bound) in [(None, 90), (Some(120), 80), (Some(130), 95), (Some(110), 95)] {
            curve.reach(best.map(Ticks), Ticks(bound));
        }
        let values = |reached: &[Reached]| reached.iter().map(|reached| reached.value.0).collect::<Vec<_>>();
        assert_eq!((values(&curve.best), values(&curve.bounds)), (vec![120, 110], vec![90, 95]));
        let points = curve.points();
        let last = points.last().expect("a point");
        assert_eq!((last.best, last.lower_bound), (Some(110), 95));
    }
}
