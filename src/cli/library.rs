//! `prove --library`: the theorems of the documentation, each decided by all of its files.

use std::path::Path;
use std::time::{Duration, Instant};

use super::error::Error;
use super::output::Target;
use super::progress::Progress;
use super::prove::{Line, TheoremStatus};
use crate::prove::{self, Expected, NamedTheorem, ProofFile};

/// Decides every theorem of the library, each of its files within the time limit, and writes the files
/// where that is asked for.
///
/// # Errors
/// When a file cannot be written. When the solver gives the opposite of an answer that a file expects,
/// which is a defect.
pub(super) fn decide(limit: Duration, emit: Option<&Path>) -> Result<Vec<Line>, Error> {
    let defect = |error: prove::ProveError| Error::Defect(error.to_string());
    let progress = Progress::start("writing the library of theorems".to_owned());
    let files = prove::library().map_err(defect)?;
    if let Some(directory) = emit {
        write(directory, "README.md", &prove::index(&files))?;
        for file in &files {
            write(directory, &format!("{}.smt2", file.name), &file.text)?;
        }
    }
    let mut lines = Vec::new();
    for theorem in prove::named() {
        let start = Instant::now();
        let own: Vec<&ProofFile> = files.iter().filter(|file| file.theorem == theorem.name).collect();
        let mut open = Vec::new();
        for file in &own {
            progress.step(format!("proving {}", file.name));
            match file.answer(limit).map_err(defect)? {
                Expected::Unknown => open.push(file.name.as_str()),
                answer if answer == file.expected => {}
                answer => {
                    let message = format!("{}: the solver says {answer}, not {}", file.name, file.expected);
                    return Err(Error::Defect(message));
                }
            }
        }
        lines.push(line(&theorem, &own, &open, start.elapsed(), emit));
    }
    Ok(lines)
}

fn line(
    theorem: &NamedTheorem,
    files: &[&ProofFile],
    open: &[&str],
    spent: Duration,
    emit: Option<&Path>,
) -> Line {
    let folder = files.first().and_then(|file| Path::new(&file.name).parent());
    Line {
        name: theorem.name.to_owned(),
        family: "library".to_owned(),
        statement: format!("{}: {}. {}", theorem.name, theorem.title, theorem.statement),
        status: if open.is_empty() { TheoremStatus::Proved } else { TheoremStatus::Unknown },
        counterexample: None,
        reason: (!open.is_empty()).then(|| format!("undecided: {}", open.join(", "))),
        seconds: spent.as_secs_f64(),
        file: emit.zip(folder).map(|(directory, folder)| directory.join(folder).display().to_string()),
    }
}

fn write(directory: &Path, name: &str, text: &str) -> Result<(), Error> {
    let path = directory.join(name);
    let folder = path.parent().unwrap_or(directory);
    std::fs::create_dir_all(folder)
        .map_err(|source| Error::Write { path: folder.display().to_string(), source })?;
    Target::File(path).write(|out| out.write_all(text.as_bytes()))
}
