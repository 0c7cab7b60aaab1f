//! `render`: a schedule as a picture: timeline in the terminal, SVG, page for a browser, trace.

mod block;
mod extent;

use std::ffi::OsStr;
use std::fmt;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde::Serialize;

use self::extent::ExtentArgs;
use super::error::{Error, Status};
use super::file_name::FileName;
use super::output::{Output, Target, is_coloured, note};
use super::schedule_input::{ScheduleInput, ScheduleInputArgs};
use super::verdict::VerifyReport;
use super::violations::count;
use crate::analysis::critical_path;
use crate::draw::{Extent, PageError, Part, Picture, Svg, SvgError, Terminal, page};
use crate::interchange::perfetto::{self, TraceError};

/// The options of `render`.
#[derive(Debug, Args)]
pub struct RenderArgs {
    #[command(flatten)]
    subject: ScheduleInputArgs,

    /// More schedules, to show below the first along the same axis of time; only on a page. With --block: more families,
    /// to show beside the first
    #[arg(value_name = "MORE")]
    more: Vec<PathBuf>,

    /// The model of the schedules after the first, in place of --model
    #[arg(long, value_name = "MODEL", requires = "more")]
    more_model: Option<PathBuf>,

    /// The file to write; the extension chooses the format [default: draw in the terminal]
    ///
    /// .svg is a drawing. .html is a self-contained page for a browser, to zoom and to inspect every
    /// pass. .json is a trace for the Perfetto UI (ui.perfetto.dev), with a process per device and flows for
    /// messages; `convert` writes schedule files, which end in .json too. .txt is the timeline as
    /// text.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// The width: columns of text (at least 40), or pixels of an SVG
    ///
    /// Default: for text, the variable COLUMNS, the width of the terminal, or 80; for an SVG, wide enough to
    /// read the microbatches.
    #[arg(long, value_name = "N")]
    width: Option<u32>,

    /// The height of an SVG in pixels [default: as high as its devices need]
    #[arg(long, value_name = "N")]
    height: Option<u32>,

    /// Parts to leave out of an SVG
    #[arg(long, value_enum, value_delimiter = ',', value_name = "PART")]
    hide: Vec<Hidden>,

    /// Draw the building block of a family: SCHEDULE is a block family file, --devices the number of devices
    ///
    /// An SVG shows, from top to bottom: one microbatch at its offsets, with the lifespans of its stages; the pattern
    /// modulo the interval, and what each device holds when; the block repeated every interval; the same as soon as
    /// possible; and what the builder of that name makes of it, where there is one. Several families stand side by side.
    /// Without -o, tables give the offsets, the lifespans, the pattern and the peaks.
    #[arg(long)]
    block: bool,

    #[command(flatten)]
    extent: ExtentArgs,

    /// Print a caption for the SVG: what it shows, the figures, what the colours mean, and what is omitted
    ///
    /// The SVG itself always contains the same text as its description, which screen readers read and nobody sees.
    #[arg(long)]
    caption: bool,

    /// Whether to colour text
    #[arg(long, value_enum, default_value_t = Colour::Auto, value_name = "WHEN")]
    color: Colour,
}

/// A part of an SVG that is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Hidden {
    /// Title and figures of the whole
    Title,
    /// What colours and lines mean
    Legend,
    /// Warm-up, steady phase and cool-down
    Phases,
    /// Microbatch numbers
    Numbers,
    /// Memory under each device
    Memory,
    /// The critical path
    CriticalPath,
    /// Idle rate and peak of each device
    Figures,
    /// Links, copies and reductions under each device
    Lanes,
}

impl From<Hidden> for Part {
    fn from(hidden: Hidden) -> Self {
        match hidden {
            Hidden::Title => Self::Title,
            Hidden::Legend => Self::Legend,
            Hidden::Phases => Self::Phases,
            Hidden::Numbers => Self::Numbers,
            Hidden::Memory => Self::Memory,
            Hidden::CriticalPath => Self::CriticalPath,
            Hidden::Figures => Self::Figures,
            Hidden::Lanes => Self::Lanes,
        }
    }
}

/// The formats of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Text,
    Svg,
    Page,
    Trace,
}

impl Form {
    fn of(path: &Path) -> Result<Self, Error> {
        match path.extension().and_then(OsStr::to_str) {
            Some("svg") => Ok(Self::Svg),
            Some("html") => Ok(Self::Page),
            Some("json") => Ok(Self::Trace),
            Some("txt") | None => Ok(Self::Text),
            Some(other) => Err(Error::usage(
                format!("`{}` has the unknown format `.{other}`", FileName::of(path)),
                "`.svg` gives a drawing, `.html` a page for a browser, `.json` a trace for the Perfetto UI, `.txt` \
                 the timeline as text",
            )),
        }
    }
}

/// An SVG with the caption that a paper gives it.
struct Drawing {
    svg: String,
    caption: String,
}

/// When to colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Colour {
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
    Shown {
        timeline: String,
    },
    Written {
        written: FileName,
        #[serde(skip_serializing_if = "Option::is_none")]
        caption: Option<String>,
    },
}

impl fmt::Display for Rendered {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shown { timeline } => out.write_str(timeline),
            Self::Written { written, caption } => {
                writeln!(out, "wrote {written}")?;
                caption.iter().try_for_each(|caption| writeln!(out, "\n{caption}"))
            }
        }
    }
}

/// Replays the schedule and draws it. One that cannot run is answered as `verify` does.
///
/// # Errors
/// When a file or an option is wrong, or the picture cannot be written.
pub fn run(args: &RenderArgs, output: Output) -> Result<Status, Error> {
    let form = args.output.as_deref().map_or(Ok(Form::Text), Form::of)?;
    if args.block {
        return block::run(args, form, output);
    }
    args.check(form)?;
    let mut subjects = vec![args.subject.read()?];
    for schedule in &args.more {
        subjects.push(args.subject.beside(schedule, args.more_model.as_deref()).read()?);
    }
    let judgements: Vec<VerifyReport<'_>> =
        subjects.iter().map(|subject| VerifyReport::of(subject, output)).collect();
    let mut pictures = Vec::new();
    for (subject, judgement) in subjects.iter().zip(&judgements) {
        let Some(picture) = picture(subject, judgement) else {
            output.print(judgement)?;
            return Ok(Status::No);
        };
        pictures.push(picture);
    }
    judgements.iter().for_each(note_invalid);
    let Some(path) = &args.output else {
        output.print(&Rendered::Shown { timeline: pictures[0].terminal(&args.terminal(output)) })?;
        return Ok(Status::Yes);
    };
    let target = output.target(path)?;
    let mut caption = None;
    let text = match form {
        Form::Text => pictures[0].terminal(&Terminal { lines: None, ..args.terminal(output) }),
        Form::Svg => {
            let drawing = args.drawing(&pictures[0])?;
            caption = args.caption.then_some(drawing.caption);
            drawing.svg
        }
        Form::Page => page(&pictures).map_err(|error| {
            let help = match error {
                PageError::Units { .. } => "give the models the same unit, or units of ns, us, ms and s",
                PageError::Empty | PageError::TooLong(_) | PageError::TooMuch(_) => COARSER,
            };
            Error::usage(error.to_string(), help)
        })?,
        Form::Trace => trace(&subjects[0], &judgements[0])?,
    };
    target.write(|out| out.write_all(text.as_bytes()))?;
    if target != Target::Stdout {
        output.print(&Rendered::Written { written: FileName::of(path), caption })?;
    }
    Ok(Status::Yes)
}

/// Advice where numbers are too large for a form.
const COARSER: &str = "choose a coarser unit in the model";

/// Says of a schedule that is drawn, since it can run, that it is invalid all the same.
fn note_invalid(judgement: &VerifyReport<'_>) {
    let [first, others @ ..] = judgement.violations.as_slice() else { return };
    let others = match others.len() {
        0 => String::new(),
        more => format!("; `verify` lists {}", count(more, "more violation", "more violations")),
    };
    let name = judgement.schedule.map_or_else(String::new, |name| format!(" `{name}`"));
    // What is live then may be a long list.
    let first = first.message.split("; live: ").next().unwrap_or_default();
    note(&format!("the schedule{name} is invalid: {first}{others}"));
}

/// The picture of a schedule that runs, with its critical path.
fn picture<'a>(subject: &'a ScheduleInput, judgement: &'a VerifyReport<'_>) -> Option<Picture<'a>> {
    let ScheduleInput { schedule, model, .. } = subject;
    let picture = Picture::of(model, schedule, &judgement.verdict)?;
    let path = critical_path(model, schedule, judgement.verdict.timing.as_ref()?);
    Some(picture.with_critical_path(path.into_iter().map(|step| step.pass)))
}

fn trace(subject: &ScheduleInput, judgement: &VerifyReport<'_>) -> Result<String, Error> {
    let ScheduleInput { schedule, model, .. } = subject;
    let timing = judgement.verdict.timing.as_ref();
    let timing = timing.ok_or_else(|| Error::Defect("a schedule with a picture has no times".to_owned()))?;
    let mut text = Vec::new();
    perfetto::write(model, schedule, timing, &mut text).map_err(|error| match error {
        TraceError::TooLong { .. } | TraceError::TooMuch(_) => Error::usage(error.to_string(), COARSER),
        TraceError::Write(error) => Error::Defect(error.to_string()),
    })?;
    String::from_utf8(text).map_err(|error| Error::Defect(error.to_string()))
}

impl RenderArgs {
    /// Refuses options that have no meaning for a form.
    fn check(&self, form: Form) -> Result<(), Error> {
        if form != Form::Page && !self.more.is_empty() {
            return Err(Error::usage(
                "only a page shows several schedules",
                "give `-o` a name that ends in `.html`",
            ));
        }
        if form != Form::Svg {
            let given = [
                ("--height", self.height.is_some()),
                ("--hide", !self.hide.is_empty()),
                ("--caption", self.caption),
            ];
            let given = given.into_iter().find_map(|(option, given)| given.then_some(option));
            if let Some(option) = given.or(self.extent.given()) {
                return Err(Error::usage(
                    format!("{option} is about SVG alone"),
                    "give `-o` a name that ends in `.svg`",
                ));
            }
        }
        if matches!(form, Form::Page | Form::Trace) && self.width.is_some() {
            return Err(Error::usage(
                "a page and a trace have no width: what shows them chooses it",
                "leave --width out",
            ));
        }
        Ok(())
    }

    /// The drawing of a picture. A note says what it omits.
    fn drawing(&self, picture: &Picture<'_>) -> Result<Drawing, Error> {
        let hidden = self.hide.iter().copied().map(Part::from).collect();
        let extent = self.extent.of(picture.makespan(), picture.model())?;
        let how = Svg { width: self.width, height: self.height, hidden, extent };
        let too_small = |error: SvgError| {
            Error::usage(error.to_string(), "choose a larger one, or leave parts out with --hide")
        };
        let svg = picture.svg(&how).map_err(too_small)?;
        if let Some(omitted) = picture.omitted(&how).map_err(too_small)?
            && extent == Extent::Fitting
        {
            note(&format!("{omitted}; --all draws everything, --from and --to draw a part"));
        }
        Ok(Drawing { svg, caption: picture.caption(&how).map_err(too_small)? })
    }

    fn terminal(&self, output: Output) -> Terminal {
        terminal(self.output.is_none() && !output.is_json(), self.width, self.color)
    }
}

/// How to draw for standard output, or, where the text is not shown there, for a file.
pub fn terminal(shown: bool, width: Option<u32>, color: Colour) -> Terminal {
    let shown = shown && io::stdout().is_terminal();
    let columns = || if shown { console_width() } else { 80 };
    Terminal {
        width: width.map_or_else(columns, |width| width as usize),
        lines: Some(LINES),
        colour: match color {
            Colour::Always => true,
            Colour::Never => false,
            Colour::Auto => shown && is_coloured(),
        },
    }
}

/// As many lines as fit most windows twice over: a long timeline is cut, not scrolled through.
const LINES: usize = 80;

/// The width: the variable COLUMNS, that of the terminal, or 80.
fn console_width() -> usize {
    let told = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let seen = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    told.or_else(seen).unwrap_or(80)
}
