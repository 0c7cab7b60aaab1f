//! Predicted against measured makespans, and below that how far each prediction is off, in SVG.

mod axes;
mod drawing;

use std::collections::BTreeMap;

use self::axes::Share;
use self::drawing::Drawing;
use super::xml::escape;
use crate::model::Ticks;
use crate::replay::Rate;

/// Measured makespans with their predictions.
#[derive(Debug, Clone)]
pub struct Scatter<'a> {
    /// What the picture is of.
    pub title: &'a str,
    /// What has a colour each: schedules, or machines.
    pub kinds: &'a [String],
    /// The rows of errors, in order.
    pub groups: &'a [Group],
}

/// Rows of errors under one heading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// The heading: what predicts. Nothing for no heading.
    pub name: String,
    /// The errors that are aimed at, as shares of what was measured: a band each.
    pub goals: Vec<Rate>,
    /// The rows.
    pub rows: Vec<Row>,
}

/// A row of errors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// What was measured.
    pub name: String,
    /// Its kind, as a place in the list of them.
    pub kind: usize,
    /// What was measured and predicted. Times that are not positive have no place on a logarithmic axis, and are
    /// left out.
    pub points: Vec<Point>,
}

/// A makespan in nanoseconds, and what was predicted of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Point {
    /// What was measured.
    pub measured: Ticks,
    /// What was predicted.
    pub predicted: Ticks,
}

impl Point {
    /// Predicted less measured, as a share of measured; nothing where a time is not positive.
    fn error(self) -> Option<Share> {
        let (measured, predicted) = (i128::from(self.measured.0), i128::from(self.predicted.0));
        (measured > 0 && predicted > 0).then_some((predicted - measured, measured))
    }
}

impl Row {
    fn drawn(&self) -> impl Iterator<Item = (Point, Share)> + Clone {
        self.points.iter().filter_map(|point| Some((*point, point.error()?)))
    }

    /// The lower of the errors in the middle.
    fn median(&self) -> Option<Share> {
        let mut errors: Vec<Rate> = self.drawn().map(|(_, (part, whole))| Rate::new(part, whole)).collect();
        errors.sort_unstable();
        let middle = errors.get(errors.len().checked_sub(1)? / 2)?;
        Some((*middle.numer(), *middle.denom()))
    }
}

impl Scatter<'_> {
    /// The picture as SVG. The same points give the same bytes.
    #[must_use]
    pub fn svg(&self) -> String {
        Drawing::of(self).draw()
    }

    fn rows(&self) -> impl Iterator<Item = &Row> + Clone {
        self.groups.iter().flat_map(|group| &group.rows)
    }

    fn points(&self) -> impl Iterator<Item = (Point, Share)> + Clone {
        self.rows().flat_map(Row::drawn)
    }

    /// By kind: its points.
    fn by_kind(&self) -> BTreeMap<usize, Vec<Point>> {
        let mut found: BTreeMap<usize, Vec<Point>> = BTreeMap::new();
        for row in self.rows() {
            found.entry(row.kind).or_default().extend(row.drawn().map(|(point, _)| point));
        }
        found
    }

    /// What the picture shows, in words.
    fn description(&self) -> String {
        let (points, rows) = (self.points().count(), self.rows().count());
        escape(&format!(
            "{points} measured makespans, predicted in {rows} rows: predicted against measured on logarithmic axes, \
             and the errors of the predictions in percent"
        ))
    }
}

#[cfg(test)]
mod tests;
