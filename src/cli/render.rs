//! `render`: the timeline of a schedule, for the terminal or as SVG.

use std::ffi::OsStr;
use std::fmt;
use std::io::{self, IsTerminal};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::error::{Error, Status};
use super::output::{Output, Target};
use super::subject::{Subject, SubjectArgs};
use super::verdict::Judgement;
use crate::draw::{Picture, Svg, Terminal};

/// The options of `render`.
#[derive(Debug, Args)]
pub struct RenderArgs {
    #[command(flatten)]
    subject: SubjectArgs,

    /// The file to write, as SVG if it ends in .svg and as text otherwise; without it, the terminal
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// The width: columns of text (at least 40), or pixels of an SVG (at least 640)
    ///
    /// Without it, as many columns as the variable COLUMNS says or the terminal has, else 80; or as wide as
    /// an SVG must be for its microbatches to be read.
    #[arg(long, value_name = "N")]
    width: Option<u32>,

    /// Whether to colour text
    #[arg(long, value_enum, default_value_t = Colour::Auto, value_name = "WHEN")]
    color: Colour,
}

/// When to colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Colour {
    /// On a terminal, unless `NO_COLOR` is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// A timeline as text, or where it was written to.
#[derive(Serialize)]
#[serde(untagged)]
enum Rendered {
    Shown { timeline: String },
    Written { written: String },
}

impl fmt::Display for Rendered {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shown { timeline } => out.write_str(timeline),
            Self::Written { written } => writeln!(out, "wrote {written}"),
        }
    }
}

/// Replays the schedule and draws it. One that cannot run is answered as `verify` does.
///
/// # Errors
/// When a file or an option is wrong, or the picture cannot be written.
pub fn run(args: &RenderArgs, output: Output) -> Result<Status, Error> {
    let subject = args.subject.read()?;
    let judgement = Judgement::of(&subject);
    let Subject { schedule, model, .. } = &subject;
    let Some(picture) = Picture::of(model, schedule, &judgement.verdict) else {
        output.print(&judgement)?;
        return Ok(Status::No);
    };
    let rendered = match &args.output {
        None => Rendered::Shown { timeline: picture.terminal(&args.terminal(output)) },
        Some(path) => {
            let text = match path.extension().and_then(OsStr::to_str) {
                Some("svg") => picture.svg(&Svg { width: args.width }),
                Some("txt") | None => picture.terminal(&Terminal { lines: None, ..args.terminal(output) }),
                Some(other) => {
                    return Err(Error::usage(
                        format!(
                            "`{}` asks for a picture of the form `.{other}`, which is not known",
                            path.display()
                        ),
                        "`.svg` gives a drawing, `.txt` the timeline as text",
                    ));
                }
            };
            let target = output.target(path)?;
            target.write(|out| out.write_all(text.as_bytes()))?;
            if target == Target::Stdout {
                return Ok(Status::Yes);
            }
            Rendered::Written { written: path.display().to_string() }
        }
    };
    output.print(&rendered)?;
    Ok(Status::Yes)
}

impl RenderArgs {
    fn terminal(&self, output: Output) -> Terminal {
        let shown = self.output.is_none() && !output.is_json() && io::stdout().is_terminal();
        let columns = || if shown { console_width() } else { 80 };
        Terminal {
            width: self.width.map_or_else(columns, |width| width as usize),
            lines: Some(LINES),
            colour: match self.color {
                Colour::Always => true,
                Colour::Never => false,
                Colour::Auto => shown && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
            },
        }
    }
}

/// As many lines as fit most windows twice over: a long timeline is cut, not scrolled through.
const LINES: usize = 80;

/// The width that the variable COLUMNS tells, or the terminal where there is one, else 80.
fn console_width() -> usize {
    let told = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let seen = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    told.or_else(seen).unwrap_or(80)
}
