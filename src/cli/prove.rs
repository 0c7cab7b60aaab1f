//! `prove`: the theorems of block families, for every number of devices.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use itertools::Itertools;
use serde::Serialize;

use super::error::{Error, Status};
use super::input::Input;
use super::optimize::seconds;
use super::output::{Output, Target, note};
use super::progress::Progress;
use super::violations::count;
use crate::prove::{self, Counterexample, Expected, Judgement, ProveError, Theorem, Verdict};

/// The options of `prove`.
#[derive(Debug, Args)]
pub struct ProveArgs {
    /// The block family files; `-` reads standard input
    #[arg(value_name = "FAMILY", required_unless_present = "library")]
    families: Vec<PathBuf>,

    /// Decide the theorems of the documentation too: every file of proofs/, and that its control is false
    #[arg(long)]
    library: bool,

    /// Write every theorem to this directory, as a file of SMT-LIB 2 that any solver for integers can
    /// check
    #[arg(long, value_name = "DIR")]
    emit: Option<PathBuf>,

    /// The most seconds for each theorem
    #[arg(long, value_name = "S", default_value = "60", value_parser = seconds)]
    time_limit: Duration,
}

/// What is known of the theorems, as it is printed.
#[derive(Debug, Serialize)]
struct Report {
    theorems: Vec<Line>,
}

#[derive(Debug, Serialize)]
pub(super) struct Line {
    pub name: String,
    /// The family that it is about, or `library`.
    pub family: String,
    pub statement: String,
    pub status: TheoremStatus,
    pub counterexample: Option<Point>,
    /// Why it is unknown.
    pub reason: Option<String>,
    pub seconds: f64,
    /// The file, or the folder of the files.
    pub file: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum TheoremStatus {
    Proved,
    Refuted,
    Unknown,
}

/// Where a theorem is false.
#[derive(Debug, Serialize)]
pub(super) struct Point {
    devices: u32,
    device: u32,
    passes: Vec<String>,
    message: String,
    /// Whether no smaller number of devices has a counterexample.
    smallest: bool,
    drawing: Option<String>,
    #[serde(skip)]
    interval: i64,
}

/// Decides the theorems of every family and prints them.
///
/// # Errors
/// When a file or an option is wrong, or the solver and the block algebra contradict each other.
pub fn run(args: &ProveArgs, output: Output) -> Result<Status, Error> {
    if !prove::HAS_SOLVER {
        note(
            "this build has no solver (feature smt): theorems are refuted where they fail for few devices, \
             but never proved",
        );
    }
    let mut lines = Vec::new();
    let mut written: BTreeMap<PathBuf, String> = BTreeMap::new();
    for path in &args.families {
        let input = Input::read(path)?;
        let family = input.family()?;
        let progress = Progress::start(format!("evaluating {}", family.name));
        let judgements = prove::prove(&family, args.time_limit, |theorem| {
            progress.step(format!("proving {}", theorem.name));
        })
        .map_err(|error| refused(&family.name, &error))?;
        drop(progress);
        for Judgement { theorem, verdict, spent } in judgements {
            let file = match &args.emit {
                Some(directory) => Some(emit(directory, &theorem, &verdict, &mut written)?),
                None => None,
            };
            lines.push(Line::of(&family.name, &theorem, &verdict, spent, file));
        }
    }
    if args.library {
        lines.extend(super::library::decide(args.time_limit, args.emit.as_deref())?);
    }
    let report = Report { theorems: lines };
    output.print(&report)?;
    Ok(report.status())
}

/// Writes the file of a theorem, with the answer that the verdict lets one expect.
fn emit(
    directory: &Path,
    theorem: &Theorem,
    verdict: &Verdict,
    written: &mut BTreeMap<PathBuf, String>,
) -> Result<String, Error> {
    let expected = match verdict {
        Verdict::Proved => Expected::Unsat,
        Verdict::Refuted(_) => Expected::Sat,
        Verdict::Unknown(_) => Expected::Unknown,
    };
    let path = directory.join(file_name(&theorem.name));
    let file = path.display().to_string();
    if let Some(other) = written.insert(path.clone(), theorem.name.clone()) {
        return Err(Error::usage(
            format!("the theorems {other} and {} would both be written to {file}", theorem.name),
            "give the families names that differ in letters and digits",
        ));
    }
    fs::create_dir_all(directory)
        .map_err(|source| Error::Write { path: directory.display().to_string(), source })?;
    let text = theorem.smt_lib(expected);
    Target::File(path).write(|out| out.write_all(text.as_bytes()))?;
    Ok(file)
}

/// The name of a theorem as that of a file: whatever a family is called, it stays in its directory.
fn file_name(theorem: &str) -> String {
    let plain = |letter: char| if letter.is_alphanumeric() || "-_.".contains(letter) { letter } else { '-' };
    let name: String = theorem.chars().map(plain).collect();
    format!("{}.smt2", name.trim_start_matches('.'))
}

fn refused(family: &str, error: &ProveError) -> Error {
    match error {
        ProveError::Family(_)
        | ProveError::Formula { .. }
        | ProveError::Irregular(_)
        | ProveError::EmptyDomain { .. } => {
            Error::Usage { message: format!("{family} has nothing to prove: {error}"), help: None }
        }
        ProveError::Unconfirmed { .. } | ProveError::NoControl { .. } | ProveError::Unread { .. } => {
            Error::Defect(error.to_string())
        }
    }
}

impl Line {
    fn of(family: &str, theorem: &Theorem, verdict: &Verdict, spent: Duration, file: Option<String>) -> Self {
        let (status, counterexample, reason) = match verdict {
            Verdict::Proved => (TheoremStatus::Proved, None, None),
            Verdict::Refuted(counterexample) => {
                (TheoremStatus::Refuted, Some(Point::of(counterexample)), None)
            }
            Verdict::Unknown(reason) => (TheoremStatus::Unknown, None, Some(reason.to_string())),
        };
        Self {
            name: theorem.name.clone(),
            family: family.to_owned(),
            statement: theorem.statement.clone(),
            status,
            counterexample,
            reason,
            seconds: spent.as_secs_f64(),
            file,
        }
    }
}

impl Point {
    fn of(counterexample: &Counterexample) -> Self {
        Self {
            devices: counterexample.devices,
            device: counterexample.device.0,
            passes: counterexample.violation.passes().iter().map(ToString::to_string).collect(),
            message: counterexample.violation.to_string(),
            smallest: counterexample.smallest,
            drawing: counterexample.drawing(),
            interval: counterexample.interval().0,
        }
    }
}

impl Report {
    fn number(&self, status: TheoremStatus) -> usize {
        self.theorems.iter().filter(|line| line.status == status).count()
    }

    fn status(&self) -> Status {
        if self.number(TheoremStatus::Refuted) > 0 {
            Status::No
        } else if self.number(TheoremStatus::Unknown) > 0 {
            Status::GaveUp
        } else {
            Status::Yes
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (family, lines) in &self.theorems.iter().chunk_by(|line| &line.family) {
            writeln!(out, "{family}")?;
            for line in lines {
                line.fmt(out)?;
            }
            writeln!(out)?;
        }
        let number = |status| self.number(status);
        writeln!(
            out,
            "{}: {} proved, {} refuted, {} unknown",
            count(self.theorems.len(), "theorem", "theorems"),
            number(TheoremStatus::Proved),
            number(TheoremStatus::Refuted),
            number(TheoremStatus::Unknown),
        )
    }
}

impl fmt::Display for Line {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self.status {
            TheoremStatus::Proved => "proved",
            TheoremStatus::Refuted => "REFUTED",
            TheoremStatus::Unknown => "unknown",
        };
        writeln!(out, "  {word:<7}  {} ({:.2} s)", self.statement, self.seconds)?;
        if let Some(reason) = &self.reason {
            writeln!(out, "           {reason}")?;
        }
        let Some(point) = &self.counterexample else { return Ok(()) };
        let Point { devices, device, message, .. } = point;
        let more = if point.smallest { "" } else { " (perhaps not the fewest devices)" };
        writeln!(out, "           d = {devices}, i = {device}{more}: {message}")?;
        match &point.drawing {
            Some(drawing) => {
                writeln!(out, "           device {device} modulo {}: {drawing}", point.interval)
            }
            None => Ok(()),
        }
    }
}
