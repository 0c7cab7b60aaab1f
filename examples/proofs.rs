//! Writes the library of theorems: every file of `proofs/`, its index `README.md`, and the times that
//! this machine takes in `times.md`. Run by `make proofs`.

use std::collections::BTreeSet;
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bubbleproof::files;
use bubbleproof::prove::{ProofFile, index, library};
use bubbleproof::smt::Solver;
use bubbleproof::stop::Stop;

/// Far more than any file takes.
const LIMIT: Duration = Duration::from_secs(300);

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).ok_or("usage: proofs FOLDER")?);
    let files = library(&Stop::default())?.expect("nobody stops it");
    let mut written = BTreeSet::new();
    for file in &files {
        let path = folder.join(format!("{}.smt2", file.name));
        fs::create_dir_all(path.parent().ok_or("a file in a folder")?)?;
        files::write(&path, &file.text)?;
        written.insert(path);
    }
    files::write(&folder.join("README.md"), index(&files))?;
    remove_others(&folder, &written)?;
    let mut solver = Solver::find()?;
    let mut wrong = 0;
    let mut times = Vec::new();
    for file in &files {
        let start = Instant::now();
        let answer = file.answer(&mut solver, &Stop::after(LIMIT))?;
        times.push(start.elapsed());
        if answer != file.expected {
            wrong += 1;
            eprintln!("{}: {answer}, where {} is expected", file.name, file.expected);
        }
    }
    files::write(&folder.join("times.md"), table(&files, &times)?)?;
    let total: Duration = times.iter().sum();
    println!(
        "{} files written to {} and decided in {:.1} s",
        files.len(),
        folder.display(),
        total.as_secs_f64()
    );
    if wrong > 0 { Err(format!("{wrong} answers are not those expected").into()) } else { Ok(()) }
}

/// Removes files of theorems that the library no longer has.
fn remove_others(folder: &Path, written: &BTreeSet<PathBuf>) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            remove_others(&path, written)?;
        } else if path.extension().is_some_and(|ending| ending == "smt2") && !written.contains(&path) {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

/// The times of all files, longest first.
fn table(files: &[ProofFile], times: &[Duration]) -> Result<String, Box<dyn Error>> {
    let total: Duration = times.iter().sum();
    let mut text = format!(
        "# Solver times\n\nMeasured by `make proofs` with {}, one file after another, on a machine with {} cores: \
         {} files in {:.1} s. The slowest:\n\n| file | answer | seconds |\n| --- | --- | ---: |\n",
        bubbleproof::prove::solver_version(),
        std::thread::available_parallelism()?,
        files.len(),
        total.as_secs_f64(),
    );
    let mut slowest: Vec<(&ProofFile, &Duration)> = files.iter().zip(times).collect();
    slowest.sort_by(|a, b| b.1.cmp(a.1).then_with(|| a.0.name.cmp(&b.0.name)));
    for (file, time) in slowest.into_iter().take_while(|(_, time)| time.as_millis() >= 100) {
        writeln!(text, "| [{0}]({0}.smt2) | {1} | {2:.1} |", file.name, file.expected, time.as_secs_f64())?;
    }
    text.push_str("\nEvery other file takes less than 0.1 s.\n");
    Ok(text)
}
