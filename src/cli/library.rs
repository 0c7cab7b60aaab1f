//! `prove --library`: the theorems of the documentation, each decided by all of its files.

use std::path::Path;
use std::time::{Duration, Instant};

use super::error::Error;
use super::file_name::FileName;
use super::output::{Target, note};
use super::progress::Progress;
use super::theorems::{TheoremLine, TheoremStatus};
use crate::prove::{self, Expected, NamedTheorem, ProofFile};
use crate::smt::{SmtError, Solver};
use crate::stop::Stop;

/// Decides every theorem of the library, each of its files within the time limit, until it is time to stop, and
/// writes the files where that is asked for. Without a solver all are unknown. Nothing when it was time to stop before
/// the files were made.
///
/// # Errors
/// When a file cannot be written, or what was chosen is no solver. When it gives the opposite of an answer that a
/// file expects, which is a defect.
pub(super) fn decide(
    stop: &Stop,
    limit: Duration,
    emit: Option<&Path>,
) -> Result<Option<Vec<TheoremLine>>, Error> {
    let progress = Progress::start("writing the library of theorems".to_owned());
    let files = prove::library(stop).map_err(|error| Error::Defect(error.to_string()))?;
    let Some(files) = files else { return Ok(None) };
    if let Some(directory) = emit {
        write(directory, "README.md", &prove::index(&files))?;
        for file in &files {
            write(directory, &format!("{}.smt2", file.name), &file.text)?;
        }
    }
    let mut solver = match Solver::find() {
        Ok(solver) => Some(solver),
        Err(SmtError::NoSolver) => None,
        Err(error) => return Err(Error::Usage { message: error.to_string(), help: None }),
    };
    let mut lines = Vec::new();
    for theorem in prove::named() {
        let start = Instant::now();
        let own: Vec<&ProofFile> = files.iter().filter(|file| file.theorem == theorem.name).collect();
        let mut open = Vec::new();
        for file in &own {
            progress.step(format!("proving {}", file.name));
            if !is_answered(file, solver.as_mut(), &stop.within(limit))? {
                open.push(file.name.as_str());
            }
        }
        lines.push(line(&theorem, &own, &open, start.elapsed(), emit));
    }
    Ok(Some(lines))
}

/// Whether the solver gives the answer that a file expects, and not none, before it is time to stop. That it fails is said at
/// once.
fn is_answered(file: &ProofFile, solver: Option<&mut Solver>, stop: &Stop) -> Result<bool, Error> {
    let Some(solver) = solver.filter(|_| !stop.is_due()) else { return Ok(false) };
    match file.answer(solver, stop) {
        Err(error) if error.is_failure() => {
            note(&format!("{}: {error}", file.name));
            Ok(false)
        }
        Err(error) => Err(Error::Usage { message: format!("{}: {error}", file.name), help: None }),
        Ok(Expected::Unknown) => Ok(false),
        Ok(answer) if answer == file.expected => Ok(true),
        Ok(answer) => {
            let message = format!("{}: the solver says {answer}, not {}", file.name, file.expected);
            Err(Error::Defect(message))
        }
    }
}

fn line(
    theorem: &NamedTheorem,
    files: &[&ProofFile],
    open: &[&str],
    spent: Duration,
    emit: Option<&Path>,
) -> TheoremLine {
    let folder = files.first().and_then(|file| Path::new(&file.name).parent());
    TheoremLine {
        name: theorem.name.to_owned(),
        family: "library".to_owned(),
        statement: format!("{}: {}. {}", theorem.name, theorem.title, theorem.statement),
        status: if open.is_empty() { TheoremStatus::Proved } else { TheoremStatus::Unknown },
        counterexample: None,
        reason: (!open.is_empty()).then(|| format!("undecided: {}", open.join(", "))),
        seconds: spent.as_secs_f64(),
        file: emit.zip(folder).map(|(directory, folder)| FileName::of(directory.join(folder))),
    }
}

fn write(directory: &Path, name: &str, text: &str) -> Result<(), Error> {
    let path = directory.join(name);
    let folder = path.parent().unwrap_or(directory);
    std::fs::create_dir_all(folder).map_err(|error| Error::Write { path: FileName::of(folder), error })?;
    Target::File(path).write(|out| out.write_all(text.as_bytes()))
}
