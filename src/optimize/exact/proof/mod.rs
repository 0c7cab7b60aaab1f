//! A shortest schedule with a proof that a third-party program accepts.
//!
//! "No schedule ends earlier" is stated as linear inequalities without a solution
//! ([`LinearProgram`], with the makespan less one tick as horizon), refuted by lazy clause generation
//! with a log, and written as two pairs of files:
//!
//! | statement | proof | checked by |
//! | --- | --- | --- |
//! | FlatZinc | DRCP log of the solver | `pumpkin-checker` |
//! | OPB | proof in VeriPB's format 3.0 | `veripb` |
//!
//! What is trusted, link by link:
//!
//! - that the schedule runs, keeps to the capacities and ends when it is said to: [`replay`](crate::replay);
//! - that the inequalities say "a schedule within the horizon": the module [`linear`](super::linear), which is short,
//!   and one lemma on paper (microbatches in order). No proof checker looks at that; tests compare with replay over all
//!   orders of small problems, and engines that do not know the inequalities ([`exact`](super)) agree on the optima;
//! - that nothing satisfies them: the checkers. `veripb` shares nothing with the solver, and derives the
//!   narrowed ranges and the implied inequalities instead of taking them from us. `pumpkin-checker` takes
//!   them as part of its statement, shares code with the solver, and accepts false ranges (see the forged log in
//!   `examples/certify.rs`), so its word alone is the weaker one.
//!
//! The solver is asked a question without an objective on purpose: while optimising, its logs have been
//! seen to contain steps that do not follow.

mod search;
mod veripb;

use std::collections::BTreeMap;
use std::fs;
use std::io;

use flate2::read::GzDecoder;

use super::linear::{Binary, LinearError, LinearProgram, Meaning};
use crate::model::{Kind, Model, Pass, Ticks};
use crate::replay::replay;
use crate::schedule::Schedule;
use crate::stop::Stop;
use search::ProofSearchResult;

/// Why there is no proof.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProofError {
    /// The model cannot be written as linear inequalities.
    #[error(transparent)]
    Linear(#[from] LinearError),
    /// The schedule to start from is not valid for the model, or recomputes.
    #[error("the schedule to start from does not serve: {0}")]
    Schedule(String),
    /// The solver proposed a schedule that replay rejects: a defect of this program.
    #[error("internal error: the solver proposed a schedule that replay rejects: {0}")]
    Rejected(String),
    /// The log of the solver is no proof.
    #[error("the log of the solver is not a proof: {0}")]
    Log(String),
    /// The log cannot be written or read.
    #[error("cannot keep the log of the solver: {0}")]
    Io(#[from] io::Error),
}

/// A shortest schedule, and the files that prove it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Certified {
    /// The schedule, which replay finds valid.
    pub schedule: Schedule,
    /// Its makespan: no schedule of F, I and W (or full backward passes) under the capacities ends earlier.
    pub makespan: Ticks,
    /// That a schedule ends earlier, for constraint solvers.
    pub flatzinc: String,
    /// The solver's log (DRCP, packed by gzip), which proves that none does.
    pub log: Vec<u8>,
    /// That a schedule ends earlier, for pseudo-Boolean solvers.
    pub opb: String,
    /// A proof for VeriPB that none does.
    pub pbp: String,
}

/// Proves a schedule shortest, or finds a shortest one from it, with the proof. Nothing when stopped
/// before.
///
/// # Errors
/// When the model has no linear inequalities, the schedule is not valid for it or recomputes, or the solver
/// is defective.
pub fn certify(model: &Model, schedule: &Schedule, stop: &Stop) -> Result<Option<Certified>, ProofError> {
    let mut schedule = schedule.clone();
    let (mut makespan, mut starts) = timed(model, &schedule).map_err(ProofError::Schedule)?;
    loop {
        let horizon = makespan - Ticks(1);
        let program = LinearProgram::new(model, horizon)?;
        let known = program.values(|pass| starts[&pass]);
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("log.drcp.gz");
        match search::solve(&program, &known, &path, stop)? {
            ProofSearchResult::Open => return Ok(None),
            ProofSearchResult::Feasible(values) => {
                schedule = schedule_of(model, &program, &values);
                let found = timed(model, &schedule).map_err(ProofError::Rejected)?;
                if found.0 > horizon {
                    return Err(ProofError::Rejected(format!("it takes {} ticks, not {horizon}", found.0)));
                }
                (makespan, starts) = found;
            }
            ProofSearchResult::Infeasible => {
                let log = fs::read(path)?;
                let binary = Binary::new(&program);
                let pbp = veripb::translate(&binary, io::BufReader::new(GzDecoder::new(log.as_slice())))?;
                let (flatzinc, opb) = (program.flatzinc(), binary.opb());
                return Ok(Some(Certified { schedule, makespan, flatzinc, log, opb, pbp }));
            }
        }
    }
}

/// The makespan of a schedule, and the start of every F, I and W; or why it has none.
fn timed(model: &Model, schedule: &Schedule) -> Result<(Ticks, BTreeMap<Pass, Ticks>), String> {
    let verdict = replay(model, schedule);
    if let Some(violation) = verdict.violations.first() {
        return Err(violation.to_string());
    }
    let timing = verdict.timing.ok_or("it has no times")?;
    let mut starts = BTreeMap::new();
    for (&pass, &start) in schedule.orders().iter().flatten().zip(timing.starts.iter().flatten()) {
        match pass.kind {
            Kind::R => return Err(format!("`{pass}` recomputes")),
            Kind::B => {
                starts.insert(pass.with_kind(Kind::I), start);
                starts.insert(pass.with_kind(Kind::W), start + model.duration(pass.stage, Kind::I));
            }
            Kind::F | Kind::I | Kind::W => {
                starts.insert(pass, start);
            }
        }
    }
    // The inequalities have microbatches in order; relabelled so, nothing else changes.
    let mut rows: BTreeMap<_, Vec<Ticks>> = BTreeMap::new();
    for (pass, &start) in &starts {
        rows.entry((pass.stage, pass.kind)).or_default().push(start);
    }
    for row in rows.values_mut() {
        row.sort_unstable();
    }
    for (pass, start) in &mut starts {
        *start = rows[&(pass.stage, pass.kind)][pass.microbatch.index()];
    }
    Ok((timing.metrics.makespan, starts))
}

/// The schedule whose passes start in this order; a W that takes no time is right behind its I.
fn schedule_of(model: &Model, program: &LinearProgram, values: &[i64]) -> Schedule {
    let mut orders: Vec<Vec<(i64, Pass)>> = vec![Vec::new(); model.devices() as usize];
    for (variable, &value) in program.variables().iter().zip(values) {
        let Meaning::Start(pass) = variable.meaning else { continue };
        let order = &mut orders[model.placement().device_of(pass.stage).index()];
        order.push((value, pass));
        if pass.kind == Kind::I && model.duration(pass.stage, Kind::W) == Ticks::ZERO {
            order.push((value, pass.with_kind(Kind::W)));
        }
    }
    let sorted = orders.into_iter().map(|mut order| {
        order.sort_by_key(|&(start, _)| start);
        order.into_iter().map(|(_, pass)| pass).collect()
    });
    Schedule::new(model.placement().clone(), model.microbatches(), sorted.collect())
        .expect("a model has as many orders as devices and no more passes than a schedule may")
}

impl Certified {
    /// The name and the contents of every file, for a stem to which they belong.
    #[must_use]
    pub fn files(&self, stem: &str) -> [(String, &[u8]); 4] {
        [
            (format!("{stem}.fzn"), self.flatzinc.as_bytes()),
            (format!("{stem}.drcp.gz"), &self.log),
            (format!("{stem}.opb"), self.opb.as_bytes()),
            (format!("{stem}.pbp"), self.pbp.as_bytes()),
        ]
    }

    /// What the files are checked with.
    #[must_use]
    pub fn commands(stem: &str) -> [[String; 3]; 2] {
        let command = |program: &str, statement, proof| {
            [program.to_owned(), format!("{stem}.{statement}"), format!("{stem}.{proof}")]
        };
        [command("pumpkin-checker", "fzn", "drcp.gz"), command("veripb", "opb", "pbp")]
    }
}

#[cfg(test)]
mod tests;
