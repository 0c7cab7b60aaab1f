//! The solvers for the placements of a pipeline, behind one interface.

use super::assembly::Assembly;
use super::pattern::Pattern;
use super::pipeline::{Fold, Interval, Pipeline, Scale};
use super::{ZoneError, linear, v};

impl<'a> Pipeline<'a> {
    /// Patterns that go together at this interval, if there are any.
    pub(super) fn solve(&self, interval: Interval) -> Result<Option<Assembly<'_, 'a>>, ZoneError> {
        let patterns = if self.is_narrow(interval)? {
            self.solve_in::<i64>(interval)?
        } else {
            self.solve_in::<i128>(interval)?
        };
        Ok(patterns.map(|patterns| Assembly { pipeline: self, patterns, interval }))
    }

    fn solve_in<T: super::Time>(&self, interval: Interval) -> Result<Option<Vec<Pattern>>, ZoneError> {
        let scale = Scale::new(interval)?;
        match self.fold {
            Fold::Linear => linear::solve::<T>(self, scale),
            Fold::V => v::solve::<T>(self, scale),
        }
    }
}
