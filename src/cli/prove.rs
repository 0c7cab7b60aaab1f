//! `prove`: the theorems of block families, for every number of devices.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;

use super::deadline::Deadline;
use super::error::{Error, Status};
use super::file_name::FileName;
use super::input::Input;
use super::interrupt::on_signals;
use super::output::{Output, Target, note};
use super::progress::Progress;
use super::search::seconds;
use super::theorems::{TheoremLine, TheoremPoint, TheoremReport, TheoremStatus};
use crate::block::family::Family;
use crate::prove::{
    self, BubbleFreedom, DecidedTheorem, Expected, ProveError, SqueezedOrder, SqueezedTheorems,
    TheoremVerdict, Watched,
};
use crate::smt::SmtError;
use crate::stop::Stop;

/// The options of `prove`.
#[derive(Debug, Args)]
pub struct ProveArgs {
    /// The block family files; `-` reads standard input
    #[arg(value_name = "FAMILY", required_unless_present = "library")]
    families: Vec<PathBuf>,

    /// Decide the theorems of docs/theorems.md too, each with all of its files and negative controls
    #[arg(long)]
    library: bool,

    /// Write every theorem to this directory, as a file of SMT-LIB 2 that any solver for integers can
    /// check
    #[arg(long, value_name = "DIR")]
    emit: Option<PathBuf>,

    /// Time limit of the command in seconds [default: 60 for each theorem]
    #[arg(long, value_name = "S", value_parser = seconds)]
    time_limit: Option<Duration>,
}

/// Decides the theorems of every family and prints them. Ctrl-C ends that: what is decided is printed.
///
/// # Errors
/// When a file or an option is wrong, what was chosen is no solver, or it and the block algebra contradict each
/// other.
pub fn run(args: &ProveArgs, output: Output) -> Result<Status, Error> {
    if !prove::has_solver() {
        note(&format!(
            "without a solver, theorems that fail for few devices are refuted, but only those about squeezed \
             orders are proved: {}",
            SmtError::NoSolver
        ));
    }
    let inputs = args.families.iter().map(|path| Input::read(path)).collect::<Result<Vec<Input>, Error>>()?;
    let (stop, limit) = limits(args.time_limit, output);
    let deadline = args.time_limit.map(|limit| Deadline::after(limit, output));
    let mut report = TheoremReport { theorems: Vec::new(), cut_short: false };
    let mut emitted = args.emit.as_deref().map(Emitted::into);
    for input in &inputs {
        let family = input.family()?;
        if stop.is_due() {
            report.cut_short = true;
            note(&format!("no result for {}", family.name));
            continue;
        }
        let progress = Progress::start(format!("evaluating {}", family.name));
        let verdict = prove::verdict(&family, &stop, limit, |watched| {
            progress.step(match watched {
                Watched::Theorem(theorem) => format!("proving {}", theorem.name),
                Watched::SqueezedOrder => format!("squeezing {}", family.name),
            });
        })
        .map_err(|error| refused(&family.name, &error))?;
        drop(progress);
        for DecidedTheorem { theorem, verdict, spent } in verdict.decided {
            let file = emitted
                .as_mut()
                .map(|emitted| emitted.write(&theorem.name, "smt2", &theorem.smt_lib(expected(&verdict))));
            report.theorems.push(TheoremLine::of(&family.name, &theorem, &verdict, spent, file.transpose()?));
        }
        match verdict.squeezed {
            SqueezedOrder::NoBlock => {}
            SqueezedOrder::Unknown(reason) => {
                note(&format!("no result for the squeezed order of {}: {reason}", family.name));
            }
            SqueezedOrder::Known(known) => {
                report.theorems.extend(about_squeezed(&family, &known, emitted.as_mut())?);
            }
        }
    }
    if args.library {
        if let Some(lines) = super::library::decide(&stop, limit, args.emit.as_deref())? {
            report.theorems.extend(lines);
        } else {
            report.cut_short = true;
            note("nothing is said about the library");
        }
    }
    drop(deadline);
    output.print(&report)?;
    Ok(report.status())
}

/// When everything has to end, and how long each theorem may take.
pub(super) fn limits(limit: Option<Duration>, output: Output) -> (Stop, Duration) {
    const FOR_EACH: Duration = Duration::from_secs(60);
    let stop = Stop::on(on_signals());
    (
        limit.map_or_else(|| stop.clone(), |limit| stop.within(output.left_of(limit))),
        limit.unwrap_or(FOR_EACH),
    )
}

/// The theorems about the squeezed order.
fn about_squeezed(
    family: &Family,
    known: &SqueezedTheorems,
    emitted: Option<&mut Emitted<'_>>,
) -> Result<Vec<TheoremLine>, Error> {
    let file = emitted.map(|emitted| {
        let text = serde_json::to_string(&known.witness).expect("a witness is plain data");
        emitted.write(&format!("{}.witness", family.name), "json", &text)
    });
    let file = file.transpose()?;
    let line = |name: String, statement: String| TheoremLine {
        name,
        family: family.name.clone(),
        statement,
        status: TheoremStatus::Proved,
        counterexample: None,
        reason: None,
        seconds: known.spent.as_secs_f64(),
        file: file.clone(),
    };
    let proved = known
        .claims
        .iter()
        .map(|claim| line(format!("{}.{}", family.name, claim.name), claim.statement.clone()));
    let promised = known.promises(family).map(|(name, statement, freedom)| {
        let (status, counterexample, reason) = match freedom {
            BubbleFreedom::Proved => (TheoremStatus::Proved, None, None),
            BubbleFreedom::Refuted(slow) => (TheoremStatus::Refuted, Some(TheoremPoint::slow(slow)), None),
            BubbleFreedom::Unknown(rate) => {
                let reason =
                    format!("{rate} bounds the interval, but no cycle of passes is known to take as long");
                (TheoremStatus::Unknown, None, Some(reason))
            }
        };
        TheoremLine { status, counterexample, reason, ..line(name, statement) }
    });
    Ok(proved.chain(promised).collect())
}

/// The answer that the verdict lets one expect of a file.
const fn expected(verdict: &TheoremVerdict) -> Expected {
    match verdict {
        TheoremVerdict::Proved => Expected::Unsat,
        TheoremVerdict::Refuted(_) => Expected::Sat,
        TheoremVerdict::Unknown(_) => Expected::Unknown,
    }
}

/// The files written to a directory, by their paths, with what each is about.
struct Emitted<'a> {
    directory: &'a Path,
    written: BTreeMap<PathBuf, String>,
}

impl<'a> Emitted<'a> {
    const fn into(directory: &'a Path) -> Self {
        Self { directory, written: BTreeMap::new() }
    }

    /// Writes a file about a theorem.
    fn write(&mut self, name: &str, ending: &str, text: &str) -> Result<FileName, Error> {
        let path = self.directory.join(format!("{}.{ending}", file_stem(name)));
        let file = FileName::of(&path);
        if let Some(other) = self.written.insert(path.clone(), name.to_owned()) {
            return Err(Error::usage(
                format!("the theorems {other} and {name} would both be written to {file}"),
                "give the families names that differ in letters and digits",
            ));
        }
        fs::create_dir_all(self.directory)
            .map_err(|error| Error::Write { path: FileName::of(self.directory), error })?;
        Target::File(path).write(|out| out.write_all(text.as_bytes()))?;
        Ok(file)
    }
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
        ProveError::Solver(error) => Error::Usage { message: error.to_string(), help: None },
        ProveError::Unconfirmed { .. } | ProveError::NoControl { .. } | ProveError::Witness { .. } => {
            Error::Defect(error.to_string())
        }
    }
}
