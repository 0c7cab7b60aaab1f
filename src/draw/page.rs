//! A page for a browser: one or several timelines to zoom, pan and look at every pass of. All that it needs
//! is in the one file; it loads nothing.

pub(super) mod data;
mod frame;
mod lanes;

use super::Picture;
use super::xml::escape;
use crate::model::{Costs, Ticks, Units};

/// The frame of the page, and what is set into it.
const PAGE: &str = include_str!("page/page.html");
pub(super) const STYLE: &str = include_str!("page/style.css");
/// Buttons, and what keys do: on every page with timelines.
pub(super) const TOOLBAR: &str = include_str!("page/toolbar.html");
const HELP: &str = include_str!("page/help.html");
/// The parts of the script, in the order in which they need each other.
pub(super) const SCRIPT: [&str; 9] = [
    include_str!("page/lanes.js"),
    include_str!("page/timeline.js"),
    include_str!("page/view.js"),
    include_str!("page/strips.js"),
    include_str!("page/paint.js"),
    include_str!("page/card.js"),
    include_str!("page/keys.js"),
    include_str!("page/panel.js"),
    include_str!("page/main.js"),
];
/// Begins the page, behind all parts.
const START: &str = include_str!("page/start.js");

/// Why there is no page.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PageError {
    /// Nothing to show.
    #[error("a page shows at least one schedule")]
    Empty,
    /// Times that the numbers of a browser do not say exactly.
    #[error("the makespan of {0} ticks is more than a browser counts exactly, which is up to 2^53")]
    TooLong(Ticks),
    /// An amount of memory that they do not.
    #[error("{0} units of memory are more than a browser counts exactly, which is up to 2^53")]
    TooMuch(Units),
    /// Ticks of different lengths, which no axis has in common.
    #[error("one schedule is timed in {one}, another in {other}, and an axis of time has one unit")]
    Units {
        /// The unit of the first.
        one: String,
        /// The unit of the other.
        other: String,
    },
}

/// A page that shows these pictures, one below the other along one axis of time. Where their units differ and
/// are all of `ns`, `us`, `ms` and `s`, times are shown in the finest of them. The same pictures give the
/// same bytes.
///
/// # Errors
/// When there is none, when other units differ, or when times or amounts are too large for the numbers of a
/// browser.
pub fn page(pictures: &[Picture<'_>]) -> Result<String, PageError> {
    let clock = Clock::of(pictures)?;
    let title = match pictures {
        [only] => only.title(),
        several => {
            let name = |picture: &Picture<'_>| picture.schedule.name.clone().unwrap_or("schedule".to_owned());
            several.iter().map(name).collect::<Vec<_>>().join(" and ")
        }
    };
    let mut panels = String::new();
    for (at, picture) in pictures.iter().enumerate() {
        frame::panel(picture, at, pictures.len() > 1, &mut panels);
    }
    let set = [
        ("title", escape(&title)),
        ("style", STYLE.to_owned()),
        ("toolbar", TOOLBAR.to_owned()),
        ("panels", panels),
        ("help", help("The wheel and a pinch zoom")),
        ("data", data::of(pictures, &clock)?),
        ("script", SCRIPT.concat() + START),
    ];
    Ok(filled(PAGE, &set))
}

/// What keys do and words mean, and what zooms.
pub(super) fn help(zooms: &str) -> String {
    filled(HELP, &[("zooms", zooms.to_owned())])
}

/// The unit of the axis of a page.
pub(super) struct Clock {
    unit: String,
    /// The nanoseconds of the unit, where it has any.
    nanoseconds: Option<i64>,
}

impl Clock {
    pub(super) fn of(pictures: &[Picture<'_>]) -> Result<Self, PageError> {
        let costs: Vec<&Costs> = pictures.iter().map(|picture| picture.model.costs()).collect();
        let first = costs.first().ok_or(PageError::Empty)?;
        let lengths: Option<Vec<(i64, &str)>> =
            costs.iter().map(|costs| Some((costs.nanoseconds_per_tick()?, costs.unit.as_str()))).collect();
        if let Some((nanoseconds, unit)) = lengths.and_then(|lengths| lengths.into_iter().min()) {
            return Ok(Self { unit: unit.to_owned(), nanoseconds: Some(nanoseconds) });
        }
        match costs.iter().find(|other| other.unit != first.unit) {
            Some(other) => Err(PageError::Units { one: first.unit.clone(), other: other.unit.clone() }),
            None => Ok(Self { unit: first.unit.clone(), nanoseconds: None }),
        }
    }

    /// How many units a tick of a picture is.
    fn units_per_tick(&self, picture: &Picture<'_>) -> i64 {
        let tick = picture.model.costs().nanoseconds_per_tick();
        self.nanoseconds.zip(tick).map_or(1, |(unit, tick)| tick / unit)
    }
}

/// A frame with `{{name}}` replaced by what is set in there. What was set in is not looked at again.
pub(super) fn filled(frame: &str, set: &[(&str, String)]) -> String {
    let mut out = String::with_capacity(frame.len() + set.iter().map(|(_, text)| text.len()).sum::<usize>());
    let mut rest = frame;
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, behind) = after.split_once("}}").expect("every name in the frame is closed");
        let (_, text) = set.iter().find(|(known, _)| *known == name).expect("every name is known");
        out.push_str(before);
        out.push_str(text);
        rest = behind;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests;
