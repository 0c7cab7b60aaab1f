//! The best schedules known for the problems of `docs/records.md`, which are kept in `models/records` with their certificates.
//!
//! ```sh
//! cargo run --release --example records -- search 10               # looks for better ones, ten seconds for each that is not proved
//! cargo run --release --example records -- search 60 looped-       # the same for those whose names contain this
//! cargo run --release --example records -- take NAME mine.json     # takes a schedule for the problem of this name, if it is better
//! cargo run --release --example records -- --write                 # writes the tables of the page; without --write, prints them
//! ```

#[path = "../grid/mod.rs"]
mod grid;
#[path = "../numbers/mod.rs"]
#[expect(dead_code, reason = "no number of these tables has a sign")]
mod numbers;
#[path = "../page/mod.rs"]
mod page;
mod tables;
#[path = "../page/write.rs"]
mod write;

use std::error::Error;
use std::path::Path;
use std::time::Duration;
use std::{fs, thread};

use bubbleproof::certificate::{Bound, Certificate, Objective, Optimality, lower_bound};
use bubbleproof::files;
use bubbleproof::optimize::{Options, Solution, optimize};
use bubbleproof::replay::replay;
use bubbleproof::schedule::{self, Schedule};
use bubbleproof::stop::Stop;

use tables::{Problem, Record};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["search", seconds] => search(seconds.parse()?, ""),
        ["search", seconds, only] => search(seconds.parse()?, only),
        ["take", name, file] => take(name, Path::new(file)),
        [] | ["--write"] => write::run(tables::PAGE, tables::all()),
        _ => {
            Err("usage: records [--write], or: records search SECONDS [TEXT], or: records take NAME FILE"
                .into())
        }
    }
}

/// Optimises every problem that is not proved and whose name contains a text, from its record on.
fn search(seconds: u64, only: &str) -> Result<(), Box<dyn Error>> {
    for problem in tables::problems()?.into_iter().filter(|problem| problem.name.contains(only)) {
        let old = Record::read(&problem)?;
        if old.as_ref().is_some_and(Record::is_proved) {
            continue;
        }
        let known = old.iter().map(|old| old.schedule.clone()).collect();
        improve(&problem, old, known, Duration::from_secs(seconds))?;
    }
    Ok(())
}

/// Takes a schedule that was found elsewhere.
fn take(name: &str, file: &Path) -> Result<(), Box<dyn Error>> {
    let problems = tables::problems()?;
    let problem = problems.iter().find(|problem| problem.name == name);
    let problem = problem.ok_or_else(|| format!("no problem is called `{name}`"))?;
    let schedule = schedule::parse(&fs::read_to_string(file)?)?;
    let verdict = replay(&problem.model, &schedule);
    if let Some(violation) = verdict.violations.first() {
        return Err(format!("the schedule is invalid: {violation}").into());
    }
    let value = verdict.timing.as_ref().expect("a valid schedule has times").metrics.makespan;
    let old = Record::read(problem)?;
    if let Some(old) = old.as_ref().filter(|old| old.value() <= value) {
        return Err(format!("it takes {value}, but the record is {}", old.value()).into());
    }
    match old {
        Some(old) => store(problem, schedule, &old.checked.bound, old.optimality()),
        None => store(problem, schedule, &lower_bound(&problem.model, Objective::Makespan), Optimality::Open),
    }
}

/// Optimises a problem, and stores what is found if it is better than what is known, or if more is proved of it.
fn improve(
    problem: &Problem,
    old: Option<Record>,
    known: Vec<Schedule>,
    limit: Duration,
) -> Result<(), Box<dyn Error>> {
    let options = Options {
        stop: Stop::after(limit),
        threads: thread::available_parallelism()?,
        use_all_time: true,
        known,
        ..Options::default()
    };
    let solution = match optimize(&problem.model, &options, &mut |_| ()) {
        Ok(solution) => solution,
        Err(reason) => {
            println!("{}: {reason}", problem.name);
            return Ok(());
        }
    };
    let Some(old) = old else {
        println!("{}: {}, none below {}", problem.name, solution.value(), solution.lower_bound());
        return store(problem, solution.schedule, &solution.bound, solution.optimality);
    };
    let none_below = solution.lower_bound().max(old.none_below());
    if solution.value() == old.value() && none_below == old.none_below() {
        return Ok(());
    }
    println!(
        "{}: {} (before {}), none below {none_below} (before {})",
        problem.name,
        solution.value(),
        old.value(),
        old.none_below()
    );
    // A schedule that is no better stays that of whoever found it first.
    let is_better = solution.value() < old.value();
    let Solution { schedule: found, bound, optimality, .. } = solution;
    let searched = [optimality, old.optimality()].into_iter().max_by_key(|optimality| match optimality {
        Optimality::Search { none_below, .. } => Some(*none_below),
        Optimality::Open | Optimality::Bound => None,
    });
    let bound = if bound.value > old.checked.bound.value { bound } else { old.checked.bound };
    let schedule = if is_better { found } else { old.schedule };
    store(problem, schedule, &bound, searched.expect("two of them"))
}

/// Writes a record, with the certificate that follows from what is known.
fn store(
    problem: &Problem,
    mut schedule: Schedule,
    bound: &Bound,
    searched: Optimality,
) -> Result<(), Box<dyn Error>> {
    let verdict = replay(&problem.model, &schedule);
    let value = verdict.timing.as_ref().ok_or("the schedule does not run")?.metrics.makespan;
    let none_below = match searched {
        Optimality::Search { none_below, .. } => bound.value.max(none_below),
        Optimality::Open | Optimality::Bound => bound.value,
    };
    if value < none_below {
        return Err(format!(
            "a defect: {value} ticks are possible, and {none_below} were proved to be needed"
        )
        .into());
    }
    let optimality = match searched {
        _ if bound.value == value => Optimality::Bound,
        Optimality::Search { .. } => searched,
        Optimality::Open | Optimality::Bound => Optimality::Open,
    };
    let objective = Objective::Makespan;
    let certificate = Certificate::of(&problem.model, &schedule, &verdict, objective, bound, optimality);
    schedule.certificate = certificate.map(|certificate| certificate.to_json());
    let path = Record::path(problem);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    files::write_with(&path, |out| schedule::write(&schedule, out))?;
    Ok(())
}
