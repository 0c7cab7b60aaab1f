//! `prove`: the theorems of block families, for every number of devices.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use itertools::Itertools;
use serde::Serialize;

use super::error::{Error, Status};
use super::input::Input;
use super::optimize::seconds;
use super::output::{Output, Target, note};
use super::progress::Progress;
use super::violations::count;
use crate::block::family::Family;
use crate::prove::{
    self, BubbleFreedom, Claim, Counterexample, Expected, Judgement, ProveError, Slow, Subject, Theorem,
    Verdict, Witness,
};

/// The options of `prove`.
#[derive(Debug, Args)]
pub struct ProveArgs {
    /// The block family files; `-` reads standard input
    #[arg(value_name = "FAMILY", required_unless_present = "library")]
    families: Vec<PathBuf>,

    /// Decide the theorems of the documentation too, each with all of its files and controls
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
             but only those about squeezed orders are proved",
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
        let is_no_block = judgements.iter().any(|judgement| {
            let of_block = [Subject::Room, Subject::Dependencies, Subject::Collisions];
            of_block.contains(&judgement.theorem.subject) && matches!(judgement.verdict, Verdict::Refuted(_))
        });
        for Judgement { theorem, verdict, spent } in judgements {
            let file = args.emit.as_deref().map(|directory| {
                let text = theorem.smt_lib(expected(&verdict));
                emit(directory, &theorem.name, "smt2", &text, &mut written)
            });
            lines.push(Line::of(&family.name, &theorem, &verdict, spent, file.transpose()?));
        }
        if !is_no_block {
            progress.step(format!("squeezing {}", family.name));
            lines.extend(squeezed(&family, args.time_limit, args.emit.as_deref(), &mut written)?);
        }
    }
    if args.library {
        lines.extend(super::library::decide(args.time_limit, args.emit.as_deref())?);
    }
    let report = Report { theorems: lines };
    output.print(&report)?;
    Ok(report.status())
}

/// The theorems about the squeezed order, derived without a solver and checked again from their witness.
fn squeezed(
    family: &Family,
    limit: Duration,
    directory: Option<&Path>,
    written: &mut BTreeMap<PathBuf, String>,
) -> Result<Vec<Line>, Error> {
    let start = Instant::now();
    let witness = match Witness::of(family, start.checked_add(limit)) {
        Ok(witness) => witness,
        Err(reason) => {
            note(&format!("nothing is said about the squeezed order of {}: {reason}", family.name));
            return Ok(Vec::new());
        }
    };
    let claims = witness.check().map_err(|error| {
        Error::Defect(format!("internal error: the witness about {} is rejected: {error}", family.name))
    })?;
    let seconds = start.elapsed().as_secs_f64();
    let file = directory.map(|directory| {
        let text = serde_json::to_string(&witness).expect("a witness is plain data");
        emit(directory, &format!("{}.witness", family.name), "json", &text, written)
    });
    let file = file.transpose()?;
    let line = |Claim { name, statement }| Line {
        name: format!("{}.{name}", family.name),
        family: family.name.clone(),
        statement,
        status: TheoremStatus::Proved,
        counterexample: None,
        reason: None,
        seconds,
        file: file.clone(),
    };
    let mut lines: Vec<Line> = claims.into_iter().map(line).collect();
    for (position, promise) in family.bubble_free.iter().enumerate() {
        let found = prove::bubble_freedom(family, promise, &witness.periods()[0])
            .map_err(|error| refused(&family.name, &error))?;
        let (status, counterexample, reason) = match found {
            BubbleFreedom::Proved => (TheoremStatus::Proved, None, None),
            BubbleFreedom::Refuted(slow) => (TheoremStatus::Refuted, Some(Point::slow(&slow)), None),
            BubbleFreedom::Unknown(rate) => {
                let reason =
                    format!("{rate} bounds the period, but no cycle of passes is known to take as long");
                (TheoremStatus::Unknown, None, Some(reason))
            }
        };
        lines.push(Line {
            name: format!("{}.bubble-free-{}", family.name, position + 1),
            family: family.name.clone(),
            statement: format!("for every d with {}: {promise}, in the squeezed order", family.domain),
            status,
            counterexample,
            reason,
            seconds,
            file: file.clone(),
        });
    }
    Ok(lines)
}

/// The answer that the verdict lets one expect of a file.
const fn expected(verdict: &Verdict) -> Expected {
    match verdict {
        Verdict::Proved => Expected::Unsat,
        Verdict::Refuted(_) => Expected::Sat,
        Verdict::Unknown(_) => Expected::Unknown,
    }
}

/// Writes a file about a theorem.
fn emit(
    directory: &Path,
    name: &str,
    ending: &str,
    text: &str,
    written: &mut BTreeMap<PathBuf, String>,
) -> Result<String, Error> {
    let path = directory.join(format!("{}.{ending}", file_stem(name)));
    let file = path.display().to_string();
    if let Some(other) = written.insert(path.clone(), name.to_owned()) {
        return Err(Error::usage(
            format!("the theorems {other} and {name} would both be written to {file}"),
            "give the families names that differ in letters and digits",
        ));
    }
    fs::create_dir_all(directory)
        .map_err(|source| Error::Write { path: directory.display().to_string(), source })?;
    Target::File(path).write(|out| out.write_all(text.as_bytes()))?;
    Ok(file)
}

/// The name of a theorem as that of a file: whatever a family is called, it stays in its directory.
fn file_stem(theorem: &str) -> String {
    let plain = |letter: char| if letter.is_alphanumeric() || "-_.".contains(letter) { letter } else { '-' };
    let name: String = theorem.chars().map(plain).collect();
    name.trim_start_matches('.').to_owned()
}

fn refused(family: &str, error: &ProveError) -> Error {
    match error {
        ProveError::Family(_)
        | ProveError::Formula { .. }
        | ProveError::EmptyDomain { .. }
        | ProveError::Irregular(_) => {
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

    /// Durations for which there is a bubble, on all devices.
    fn slow(slow: &Slow) -> Self {
        Self {
            devices: slow.devices,
            device: 0,
            passes: Vec::new(),
            message: slow.to_string(),
            smallest: true,
            drawing: None,
            interval: 0,
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
