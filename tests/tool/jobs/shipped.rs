//! Plans of the shipped jobs, kept with their certificates: what a better cut and a better plan are worth.
//!
//! `make plans` searches for them anew, and writes the table of docs/jobs.md.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use bubbleproof::certificate::{Checked, Claim, check_plan};
use bubbleproof::job::{Choice, ChoicePlacement, Job};
use bubbleproof::model::Ticks;
use bubbleproof::optimize::Options;
use bubbleproof::plan::{self, Partition, PlanError, optimize_cut};
use bubbleproof::schedule::{self, Schedule};

use super::compare::{JOBS, percent, read, seconds, table, text};

/// What is kept of a job, in the order of the columns.
const KEPT: [&str; 3] = ["even", "cut", "plan"];

fn path(job: &str, kept: &str) -> PathBuf {
    Path::new("models/plans").join(format!("{job}-{kept}.json"))
}

fn options() -> Options {
    Options { exact_effort: 0, ..Options::default() }
}

fn keep(job: &str, kept: &str, schedule: Option<&Schedule>) {
    let path = path(job, kept);
    let Some(schedule) = schedule else {
        _ = fs::remove_file(path);
        return;
    };
    let mut bytes = Vec::new();
    schedule::write(schedule, &mut bytes).expect("memory takes everything");
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(path, bytes).expect("a file");
}

/// Searches for the plans of a job and keeps them: the best one, and those of the same degrees in a linear pipeline, with the
/// best cut and with the even one. What does not fit is not kept.
fn search(name: &str) {
    let (job, text) = (read(name), text(name));
    let best = plan::plan(&job, &options(), &mut |_| ()).expect("a plan");
    keep(name, "plan", best.certified(&text).as_ref());
    let (choice, _) = best.best().expect("a plan");
    let linear = Choice { placement: ChoicePlacement::Linear, ..*choice };
    let layers = job.layers(&linear).expect("it is open");
    for (kept, partition) in [("even", Partition::Even), ("cut", Partition::Auto)] {
        match optimize_cut(&layers, &partition, &options(), &mut |_| ()) {
            Ok(found) => keep(name, kept, Some(&found.certified(&text, &linear, None))),
            Err(PlanError::Choice(error)) => panic!("{name}: {error}"),
            Err(_) => keep(name, kept, None),
        }
    }
}

/// A plan that is kept, checked against its job.
fn checked(name: &str, kept: &str, job: &Job) -> Option<Checked> {
    let text = fs::read_to_string(path(name, kept)).ok()?;
    let schedule = schedule::parse(&text).expect("a schedule");
    Some(check_plan(&schedule, job).unwrap_or_else(|error| panic!("{name}-{kept}: {error}")))
}

fn makespan(checked: &Checked) -> Ticks {
    checked.verdict.timing.as_ref().expect("it is valid").metrics.makespan
}

#[test]
fn plans_of_the_shipped_jobs_are_what_the_page_says() {
    let is_writing = std::env::var_os("BUBBLEPROOF_PLANS").is_some();
    let mut report = String::new();
    for &(name, _) in JOBS {
        if is_writing {
            search(name);
        }
        let job = read(name);
        let [even, cut, plan] = KEPT.map(|kept| checked(name, kept, &job));
        let plan = plan.expect("every job has a plan");
        let none_below = plan.claims.iter().find_map(|claim| match claim {
            Claim::OverPlans { value, .. } => Some(*value),
            _ => None,
        });
        let none_below = none_below.expect("a plan says what no other plan is below");
        let (_, choice, _) = plan.plan.as_ref().expect("it is a plan");
        let best = makespan(&plan);
        for other in [&even, &cut].into_iter().flatten() {
            assert!(none_below <= makespan(other), "{name}");
            assert!(best <= makespan(other), "{name}: the best plan is no better");
        }
        let shown = |checked: &Option<Checked>| {
            checked.as_ref().map_or_else(|| "does not fit".to_owned(), |checked| seconds(makespan(checked)))
        };
        writeln!(
            report,
            "| `{name}` | {choice} | {} | {} | {} | {} | {} |",
            shown(&even),
            shown(&cut),
            seconds(best),
            seconds(none_below),
            percent(best - none_below, none_below)
        )
        .expect("a string takes everything");
    }
    if is_writing {
        let page = fs::read_to_string("docs/jobs.md").expect("a page");
        fs::write("docs/jobs.md", page.replace(&table("plans"), &report)).expect("a page");
    }
    assert_eq!(report, table("plans"), "docs/jobs.md has other figures");
}
