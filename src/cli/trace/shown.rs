//! Measured above predicted, drawn.

use std::ffi::OsStr;
use std::path::Path;

use crate::analysis::{Span, measured_metrics, spans};
use crate::cli::error::Error;
use crate::cli::file_name::FileName;
use crate::cli::render::{Colour, terminal};
use crate::draw::{Extent, Measured, PageError, Picture, Svg, Terminal, page, together};
use crate::model::{Device, Model};
use crate::replay::replay;
use crate::schedule::Schedule;
use crate::trace::run::Run;

/// The forms of a picture of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A timeline of characters.
    Text,
    /// A drawing.
    Svg,
    /// A page for a browser.
    Page,
}

impl Form {
    /// The form that a file's name asks for.
    ///
    /// # Errors
    /// When it asks for one that there is not.
    pub fn of(path: &Path) -> Result<Self, Error> {
        match path.extension().and_then(OsStr::to_str) {
            Some("svg") => Ok(Self::Svg),
            Some("html") => Ok(Self::Page),
            Some("txt") | None => Ok(Self::Text),
            Some(other) => Err(Error::usage(
                format!(
                    "`{}` asks for a picture of the format `.{other}`, which is not known",
                    FileName::of(path)
                ),
                "`.svg` gives a drawing, `.html` a page for a browser, `.txt` the timelines as text",
            )),
        }
    }
}

/// How to draw.
#[derive(Debug, Clone, Copy)]
pub struct How {
    /// The form of the file; nothing where the text is for standard output.
    pub form: Option<Form>,
    /// The width, in columns or pixels.
    pub width: Option<u32>,
    /// Whether to colour text.
    pub color: Colour,
    /// Whether the answer is JSON, beside which nothing is drawn unless a file is asked for.
    pub json: bool,
}

/// What was measured, and below it what is predicted by what is called so, if anything is.
///
/// # Errors
/// When the picture cannot be drawn as asked for.
pub fn draw(
    model: &Model,
    declared: &Schedule,
    run: &Run,
    predicted_by: &str,
    how: &How,
) -> Result<Option<String>, Error> {
    if how.json && how.form.is_none() {
        return Ok(None);
    }
    if how.form == Some(Form::Page) && how.width.is_some() {
        return Err(Error::usage("a page has no width: the browser chooses it", "leave --width out"));
    }
    let mut verdict = replay(model, declared);
    if let Some(timing) = &mut verdict.timing {
        // The rates of what is predicted are of these times, as those of what was measured are.
        let predicted: Vec<Vec<Span>> = Device::all(declared.devices())
            .map(|device| spans(model, declared, timing, device).collect())
            .collect();
        timing.metrics = measured_metrics(&predicted);
    }
    let peak_memory = run.peak_memory.clone().unwrap_or_else(|| replay(model, &run.schedule).peak_memory);
    let measured =
        Measured { timing: run.timing.clone(), ends: run.ends.clone(), held: run.held.clone(), peak_memory };
    // A page says how long after a pass its result is there at the earliest: what it occupies its link for is part of that.
    let shown = model.with_own_links();
    let mut pictures = vec![Picture::of_measured(&shown, &run.schedule, &measured)];
    let predicted = Picture::of(&shown, declared, &verdict);
    pictures.extend(predicted.map(|picture| picture.as_predicted_by(predicted_by)));
    // No trace has weights.
    let pictures: Vec<Picture<'_>> = pictures.into_iter().map(Picture::without_weights).collect();
    let text = match how.form {
        Some(Form::Svg) => {
            let svg = Svg { width: how.width, extent: Extent::Whole, ..Svg::default() };
            together(&pictures, &svg)
                .map_err(|error| Error::usage(error.to_string(), "choose a larger one"))?
        }
        Some(Form::Page) => page(&pictures).map_err(|error| unsayable(&error))?,
        Some(Form::Text) => {
            text(&pictures, &Terminal { lines: None, ..terminal(false, how.width, how.color) })
        }
        None => text(&pictures, &terminal(true, how.width, how.color)),
    };
    Ok(Some(text))
}

fn text(pictures: &[Picture<'_>], how: &Terminal) -> String {
    let all: Vec<&Picture<'_>> = pictures.iter().collect();
    let timelines: Vec<String> = all.iter().map(|picture| picture.terminal_beside(how, &all)).collect();
    timelines.join("\n")
}

fn unsayable(error: &PageError) -> Error {
    Error::usage(error.to_string(), "leave iterations that stalled out with --skip")
}
