//! The search for a schedule and its proof, and the files.

use std::fmt;
use std::fs;

use serde::Serialize;

use super::CertifyArgs;
use crate::amounts::Amounts;
use crate::cli::caveats;
use crate::cli::deadline::Deadline;
use crate::cli::error::{Error, Status};
use crate::cli::file_name::FileName;
use crate::cli::interrupt::on_signals;
use crate::cli::output::{Output, Target, note};
use crate::cli::progress::Progress;
use crate::cli::search::Infeasible;
use crate::cli::size::check_size;
use crate::estimate::Work;
use crate::model::Ticks;
use crate::optimize::exact::proof::{self, Certified, ProofError};
use crate::optimize::{OptimizeError, Options, optimize};
use crate::schedule;
use crate::stop::Stop;

/// What was found, as it is printed.
#[derive(Debug, Serialize)]
struct CertifyReport {
    certified: bool,
    makespan: Option<i64>,
    files: Vec<FileName>,
    commands: Vec<String>,
    #[serde(skip)]
    unit: String,
}

/// Finds a shortest schedule, and writes it with its proofs.
///
/// # Errors
/// When a file or an option is wrong, the model cannot be stated in linear inequalities, a file cannot be
/// written, or the search is defective.
pub fn run(args: &CertifyArgs, output: Output) -> Result<Status, Error> {
    let model = args.model.read_passes_alone()?;
    if let Some(text) = caveats::worst_case(&model) {
        note(&text);
    }
    check_size(&model, Work::Search, Some(args.time_limit))?;
    let stop = Stop::on(on_signals()).within(output.left_of(args.time_limit));
    let limit = Deadline::after(args.time_limit, output);
    let progress = Progress::start("searching");
    let options = Options { stop: stop.clone(), ..Options::default() };
    let start = match optimize(&model, &options, &mut |_| ()) {
        Ok(solution) => solution.schedule,
        Err(OptimizeError::Infeasible(reason)) => {
            drop((progress, limit));
            output.print(&Infeasible::of(&reason, output.amounts(&model)))?;
            return Ok(Status::No);
        }
        Err(error) => return Err(crate::cli::optimize::refused(&error)),
    };
    progress.step("proving that no schedule is shorter");
    let found = proof::certify(&model, &start, &stop).map_err(|error| refused(&error))?;
    drop((progress, limit));
    let unit = model.costs().unit.clone();
    let Some(certified) = found else {
        let (files, commands) = (Vec::new(), Vec::new());
        output.print(&CertifyReport { certified: false, makespan: None, files, commands, unit })?;
        return Ok(Status::GaveUp);
    };
    let files = args.write(&certified)?;
    let directory = FileName::of(&args.output);
    let commands = Certified::commands("makespan")
        .map(|[program, statement, proof]| format!("{program} {directory}/{statement} {directory}/{proof}"));
    let makespan = Some(certified.makespan.0);
    output.print(&CertifyReport { certified: true, makespan, files, commands: commands.to_vec(), unit })?;
    Ok(Status::Yes)
}

impl CertifyArgs {
    /// Writes the schedule, the statements and the proofs; the names of the files.
    fn write(&self, certified: &Certified) -> Result<Vec<FileName>, Error> {
        fs::create_dir_all(&self.output)
            .map_err(|error| Error::Write { path: FileName::of(&self.output), error })?;
        let place = |name: &str| self.output.join(name);
        let mut written = vec![place("schedule.json")];
        Target::File(place("schedule.json")).write(|out| schedule::write(&certified.schedule, out))?;
        for (name, contents) in certified.files("makespan") {
            Target::File(place(&name)).write(|out| out.write_all(contents))?;
            written.push(place(&name));
        }
        Ok(written.iter().map(FileName::of).collect())
    }
}

fn refused(error: &ProofError) -> Error {
    match error {
        ProofError::Linear(_) | ProofError::Schedule(_) => {
            Error::Usage { message: format!("no proof can be made: {error}"), help: None }
        }
        ProofError::Rejected(_) | ProofError::Log(_) | ProofError::Io(_) => Error::Defect(error.to_string()),
    }
}

impl fmt::Display for CertifyReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(makespan) = self.makespan else {
            return writeln!(out, "not proved within the time limit");
        };
        writeln!(
            out,
            "no schedule of F, I and W within these limits ends before {}",
            Amounts::new(out.alternate(), &self.unit, "").time_in_full(Ticks(makespan))
        )?;
        for file in &self.files {
            writeln!(out, "wrote {file}")?;
        }
        writeln!(out, "to check the proofs:")?;
        self.commands.iter().try_for_each(|command| writeln!(out, "  {command}"))
    }
}
