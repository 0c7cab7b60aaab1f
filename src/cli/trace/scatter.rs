//! `trace compare --scatter`: predicted against measured makespans of all traces, drawn.

use std::ffi::OsStr;
use std::path::Path;

use super::report::Variant;
use crate::cli::error::Error;
use crate::cli::file_name::FileName;
use crate::cli::output::{Output, Target};
use crate::cli::violations::count;
use crate::draw::{Group, Point, Row, Scatter};
use crate::model::Ticks;
use crate::replay::Rate;

/// Where the picture goes: a file of its own, and only SVG is drawn.
///
/// # Errors
/// When the name asks for another form, or is that of the other picture.
pub fn target(path: &Path, other: Option<&Path>, output: Output) -> Result<(Target, FileName), Error> {
    let name = FileName::of(path);
    if path.extension().and_then(OsStr::to_str) != Some("svg") {
        return Err(Error::usage(
            format!("`{name}` does not end in `.svg`"),
            "errors are drawn as SVG: give `--scatter` a name that ends in `.svg`",
        ));
    }
    let place = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    if other.is_some_and(|other| place(other) == place(path)) {
        return Err(Error::usage(
            format!("`-o` and `--scatter` both write {name}"),
            "give each a name of its own",
        ));
    }
    Ok((output.target(path)?, name))
}

/// What is drawn of the traces that were compared: a group for every way to predict, with a row for every trace.
pub struct Errors {
    goals: Vec<Rate>,
    schedules: Vec<String>,
    groups: Vec<Group>,
}

/// What was measured of a trace, and predicted.
pub struct Measured<'a> {
    /// The name of its file.
    pub name: &'a FileName,
    /// The name of its schedule.
    pub schedule: Option<&'a str>,
    /// Whether it is predicted by what was fitted to it.
    pub in_sample: bool,
    /// The makespan of every iteration.
    pub makespans: &'a [Ticks],
    /// What replay predicts.
    pub predicted: Ticks,
}

impl Errors {
    /// Nothing yet; a tolerance is a band behind the rows.
    pub fn within(tolerance: Option<Rate>) -> Self {
        Self { goals: tolerance.into_iter().collect(), schedules: Vec::new(), groups: Vec::new() }
    }

    /// A trace, and what is predicted of it with terms.
    pub fn add(&mut self, trace: &Measured<'_>, variants: &[Variant]) {
        let schedule = trace.schedule.unwrap_or("schedule");
        let kind = self.schedules.iter().position(|name| name == schedule).unwrap_or_else(|| {
            self.schedules.push(schedule.to_owned());
            self.schedules.len() - 1
        });
        let name = trace.name.to_string();
        let name = if trace.in_sample { format!("{name} (in-sample)") } else { name };
        let with_terms = variants.iter().map(|variant| (variant.with(), variant.makespan()));
        for (what, predicted) in [("replay alone", trace.predicted)].into_iter().chain(with_terms) {
            let points = trace.makespans.iter().map(|&measured| Point { measured, predicted });
            let row = Row { name: name.clone(), kind, points: points.collect() };
            let known = self.groups.iter().position(|group| group.name == what);
            let at = known.unwrap_or_else(|| {
                let (name, goals) = (what.to_owned(), self.goals.clone());
                self.groups.push(Group { name, goals, rows: Vec::new() });
                self.groups.len() - 1
            });
            self.groups[at].rows.push(row);
        }
    }

    /// The picture.
    pub fn svg(&self) -> String {
        let rows = self.groups.first().map_or(&[][..], |group| &group.rows);
        let iterations = rows.iter().map(|row| row.points.len()).sum();
        let title = format!(
            "Predicted and measured: {}, {}",
            count(rows.len(), "trace", "traces"),
            count(iterations, "iteration", "iterations")
        );
        Scatter { title: &title, kinds: &self.schedules, groups: &self.groups }.svg()
    }
}
