//! `regress`: designs against their records.

mod effects;
mod github;
mod gitlab;
mod human;
mod json;
mod junit;
mod location;
mod markdown;
mod picture;
mod summary;
mod wording;

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};

use self::location::Root;
use super::deadline::Deadline;
use super::error::{Error, Located, Status};
use super::excerpt::Excerpt;
use super::file_name::FileName;
use super::input::Input;
use super::output::{Output, note, print_json, print_text, to_stdout};
use super::progress::Progress;
use super::prove::limits;
use super::search::seconds;
use crate::advice;
use crate::block::family::FormulaFileError;
use crate::regress::{
    Accepted, Cache, Change, CheckOptions, CheckedDesign, FileKind, InitError, InputError, MANIFEST,
    RegressError, Severity, Suite, SuiteReport, initialise,
};

/// The options of `regress`.
#[derive(Debug, Args)]
pub struct RegressArgs {
    /// The directory with the manifest, regress.toml, and the records
    #[arg(value_name = "DIR", required_unless_present = "init")]
    directory: Option<PathBuf>,

    /// Show the changes, then record them
    #[arg(long)]
    accept: bool,

    /// Fail if anything differs from its record, even if it is better, or if this build cannot decide
    /// something
    #[arg(long, conflicts_with = "accept")]
    strict: bool,

    /// The format of the report; github: annotations of a workflow, gitlab: a code-quality report, junit: an XML report
    #[arg(long, value_enum, default_value_t = Format::Human, value_name = "FORMAT")]
    format: Format,

    /// Write a summary in Markdown, with a table of the designs and the changed schedules drawn before and after
    /// [default: with --format github, append it to the file that `GITHUB_STEP_SUMMARY` names]
    #[arg(long, value_name = "FILE")]
    summary: Option<PathBuf>,

    /// Ignore the cache
    #[arg(long)]
    no_cache: bool,

    /// The cache directory [default: .cache in DIR]
    #[arg(long, value_name = "DIR", conflicts_with = "no_cache")]
    cache_dir: Option<PathBuf>,

    /// Time limit of the command in seconds [default: 60 for each theorem]
    #[arg(long, value_name = "S", value_parser = seconds)]
    time_limit: Option<Duration>,

    /// Add these block families, schedules and models to a manifest, creating it if necessary
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with_all = ["directory", "accept", "strict", "format", "summary"])]
    init: Vec<PathBuf>,

    /// The model under which the schedules among these files are judged
    #[arg(long, value_name = "MODEL", requires = "init", conflicts_with = "directory")]
    model: Option<PathBuf>,

    /// The directory of that manifest
    #[arg(
        short,
        long,
        value_name = "DIR",
        default_value = "regress",
        requires = "init",
        conflicts_with = "directory"
    )]
    output: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Human,
    Github,
    Gitlab,
    Junit,
    Json,
}

/// A directory that was checked, for printing.
struct CheckedSuite<'a> {
    suite: &'a Suite,
    directory: &'a Path,
    report: &'a SuiteReport,
    strict: bool,
    accepted: Option<&'a Accepted>,
    /// Whether amounts are shown as they are counted.
    exact: bool,
}

/// Checks the designs of a directory, or enters new ones.
///
/// # Errors
/// When a file or an option is wrong.
pub fn run(args: &RegressArgs, output: Output) -> Result<Status, Error> {
    let Some(directory) = &args.directory else { return init(args, output) };
    let directory = directory_of(directory);
    let format = match (args.format, output.is_json()) {
        (Format::Human | Format::Json, true) => Format::Json,
        (_, true) => {
            return Err(Error::usage("--json conflicts with --format", "leave one of them out"));
        }
        (format, false) => format,
    };
    let suite = Suite::read(directory).map_err(|error| refused(error, None))?;
    let cache = if args.no_cache {
        None
    } else {
        Cache::at(args.cache_dir.clone().unwrap_or_else(|| directory.join(".cache")))
    };
    let progress = Progress::counting(suite.manifest.designs.len());
    let (stop, limit) = limits(args.time_limit, output);
    let deadline = args.time_limit.map(|limit| Deadline::after(limit, output));
    let options = CheckOptions { cache, limit, stop };
    let report = suite.check(&options, &|design| progress.count(design));
    drop(deadline);
    drop(progress);
    let report = report.map_err(|error| refused(error, Some(&suite)))?;
    let accepted = args.accept.then(|| suite.accept(&report)).transpose().map_err(unwritable)?;
    let checked = CheckedSuite {
        suite: &suite,
        directory,
        report: &report,
        strict: args.strict,
        accepted: accepted.as_ref(),
        exact: output.is_exact(),
    };
    let has_summary = summary::write(&checked, args.summary.as_deref(), format == Format::Github)?;
    match format {
        Format::Human => print_text(&human::Text(&checked))?,
        Format::Github => {
            let root = Root::of(location::GITHUB);
            print_text(&github::Annotations { checked: &checked, root, has_summary })?;
        }
        Format::Gitlab => print_json(&gitlab::report(&checked, &Root::of(location::GITLAB)))?,
        Format::Junit => {
            let text = junit::report(&checked)
                .map_err(|error| Error::Defect(format!("the report cannot be written: {error}")))?;
            to_stdout(|out| write!(out, "{text}"))?;
        }
        Format::Json => print_json(&json::object(&checked))?,
    }
    Ok(Status::of(!checked.fails()))
}

impl CheckedSuite<'_> {
    /// Whether the exit status is that of a regression. What has been accepted is none, but a promise that is
    /// broken stays one until it is withdrawn or kept, and what is invalid cannot be accepted.
    fn fails(&self) -> bool {
        self.report.results.iter().any(|result| self.is_failed(result))
    }

    /// Whether a change of a design makes the exit status that of a regression.
    fn is_failing(&self, result: &CheckedDesign, change: &Change) -> bool {
        match self.accepted {
            Some(_) => {
                change.severity == Severity::Worse && (change.topic == "promise" || !result.is_as_expected())
            }
            None => change.severity == Severity::Worse || self.strict,
        }
    }

    /// Whether a design makes it so.
    fn is_failed(&self, result: &CheckedDesign) -> bool {
        match self.accepted {
            Some(_) => result.fails_when_accepted(),
            None => result.fails(self.strict),
        }
    }

    /// The line of the manifest that names a design, from 1.
    fn line(&self, at: usize) -> usize {
        self.suite.text[..at.min(self.suite.text.len())].matches('\n').count() + 1
    }
}

/// The directory that was named, if need be by its manifest.
fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if path.ends_with(MANIFEST) && path.is_file() => {
            if parent.as_os_str().is_empty() {
                Path::new(".")
            } else {
                parent
            }
        }
        _ => path,
    }
}

/// A path as a word of a command line.
fn word(path: &Path) -> String {
    let text = FileName::of(path).to_string();
    let plain = |letter: char| letter.is_alphanumeric() || "/\\.-_:+,@%".contains(letter);
    if !text.is_empty() && text.chars().all(plain) {
        text
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

fn init(args: &RegressArgs, output: Output) -> Result<Status, Error> {
    let made = initialise(&args.init, args.model.as_deref(), &args.output).map_err(|error| match error {
        InitError::File { path, error } => Error::Read { path: FileName::of(path), error },
        InitError::Neither(path) => {
            let message = format!("{} is neither a block family, a model nor a schedule", FileName::of(path));
            Error::usage(
                message,
                "a family has [[pass]] tables, a model a [pipeline] table; `bubbleproof verify` says what is wrong \
                 with a schedule",
            )
        }
        InitError::NotCovered { path, message } => Error::usage(
            format!("{}: {message}", FileName::of(path)),
            "`optimize`, `verify` and `replay` do; to record the design without it, remove it from a copy of the model",
        ),
        InitError::Taken(name) => Error::usage(
            format!("a design is called {name} already"),
            format!("enter it into {} by hand, under another name", FileName::of(args.output.join(MANIFEST))),
        ),
        InitError::Closed(path) => Error::usage(
            format!("{} lists designs in a way that cannot be continued at its end", FileName::of(path)),
            "enter the files by hand; it is as it was",
        ),
        InitError::Manifest { path, text, error } => wrong_manifest(&path, &text, &error),
        InitError::NoSchedule(path) => Error::usage(
            format!("no schedule among these files to judge under {}", FileName::of(path)),
            "name a schedule beside --model; a model is entered as a design of its own without --model",
        ),
        InitError::Placement { schedule, model } => Error::usage(
            format!("{} has another placement than {}", FileName::of(schedule), FileName::of(model)),
            "give the model that the schedule was made for, or change `placement` in a copy of it",
        ),
        InitError::Syntax { path, text, error } | InitError::Model { path, text, error } => {
            let help = advice::for_file(&error.problem);
            located(&path, &text, error.to_string(), error.span, help)
        }
    })?;
    output.print(&json::Made(&made, &args.output))?;
    Ok(Status::Yes)
}

fn located(
    path: &Path,
    text: &str,
    message: String,
    span: std::ops::Range<usize>,
    help: Option<String>,
) -> Error {
    let excerpt = Excerpt::new(FileName::of(path), text);
    Error::Located(Box::new(Located { message, label: "here", span, help, excerpt }))
}

fn wrong_manifest(path: &Path, text: &str, error: &FormulaFileError) -> Error {
    located(path, text, error.to_string(), error.span(), advice::for_formula_file(error))
}

fn unwritable(error: RegressError) -> Error {
    match error {
        RegressError::File { path, error } => Error::Write { path: FileName::of(path), error },
        other => refused(other, None),
    }
}

/// What keeps designs from being looked at, each at its place.
fn refused(error: RegressError, suite: Option<&Suite>) -> Error {
    match error {
        RegressError::File { path, error } => {
            if error.kind() == std::io::ErrorKind::NotFound && path.ends_with(MANIFEST) {
                let message = format!("there is no manifest {}", FileName::of(path));
                return Error::usage(message, "`bubbleproof regress --init FILE... -o DIR` makes one");
            }
            Error::Read { path: FileName::of(path), error }
        }
        RegressError::Manifest { path, text, error } => wrong_manifest(&path, &text, &error),
        RegressError::Record { path, text, error } => {
            let help = "records are written by --accept; remove this one to make it anew".to_owned();
            located(&path, &text, error.to_string(), error.span.clone(), Some(help))
        }
        RegressError::Unreadable { .. } => Error::Defect(error.to_string()),
        RegressError::Solver(_) => Error::Usage { message: error.to_string(), help: None },
        RegressError::Stopped => Error::Stopped(error.to_string()),
        RegressError::Input { error, .. } => malformed(*error),
        RegressError::Design { design, span, error } => {
            let message = format!("{design}: {error}");
            match suite {
                _ if error.is_defect() => Error::Defect(message),
                Some(suite) => located(&suite.manifest_path(), &suite.text, message, span, None),
                None => Error::Usage { message, help: None },
            }
        }
    }
}

/// A file of a design that is wrong, at its place.
fn malformed(error: InputError) -> Error {
    let (path, text, kind, message) = match error {
        InputError::Unreadable { path, error } => {
            return Error::Read { path: FileName::of(path), error };
        }
        InputError::Malformed { path, text, kind, message } => (path, text, kind, message),
    };
    let input = Input::of(FileName::of(&path), text);
    let again = match kind {
        FileKind::Family => input.family().err(),
        FileKind::Model => input.model().err(),
        FileKind::Schedule => input.schedule().err(),
    };
    again
        .unwrap_or_else(|| Error::Usage { message: format!("{}: {message}", FileName::of(path)), help: None })
}

/// Says on standard error what a format for machines has no place for.
fn remark(checked: &CheckedSuite<'_>) {
    if let Some(undecided) = human::undecided(checked.report) {
        note(&undecided);
    }
}
