//! What was found for each problem, kept in `models/budgets` as schedules with their certificates.

use std::error::Error;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use bubbleproof::certificate::{Claim, check_plan, fits_some_cut, holds_over_cuts};
use bubbleproof::files;
use bubbleproof::job::{Choice, Job};
use bubbleproof::model::Ticks;
use bubbleproof::optimize::Options;
use bubbleproof::plan::{PlanError, plan};
use bubbleproof::schedule;
use bubbleproof::stop::Stop;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};

use super::problems::{self, BUDGETS, Way};

/// The effort of each search: that of many choices, not of one.
const EFFORT: usize = 100_000;

/// No search takes longer.
const LIMIT: Duration = Duration::from_secs(12);

/// What is kept of a problem, as a line of its file.
#[derive(Serialize, Deserialize)]
struct Line {
    budget: i64,
    way: String,
    #[serde(flatten)]
    found: Found,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Found {
    /// A schedule file with a certificate.
    Plan(String),
    /// No plan was found, and none is shorter than so many nanoseconds.
    NoneBelow(i64),
    /// No choice has a cut that fits.
    NoRoom(()),
}

/// What is known of a problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// No plan fits.
    NoRoom,
    /// No plan was found, and none is shorter.
    Open { none_below: Ticks },
    /// A plan, and what no plan is shorter than.
    Plan { choice: Choice, makespan: Ticks, none_below: Ticks },
}

fn path(model: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("models/budgets").join(format!("{model}.jsonl.gz"))
}

/// Searches for the plans of a model, and keeps them.
pub fn search(model: &str) -> Result<(), Box<dyn Error>> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    for budget in BUDGETS {
        for way in Way::ALL {
            let text = problems::text(model, way, budget);
            let found = find(&text)?;
            eprintln!("{model}, {budget} GiB, {}: {:?}", way.name(), answer(&text, &found));
            let line = Line { budget, way: way.name().to_owned(), found };
            serde_json::to_writer(&mut packed, &line)?;
            packed.write_all(b"\n")?;
        }
    }
    std::fs::create_dir_all(path(model).parent().expect("a folder"))?;
    Ok(files::write(&path(model), packed.finish()?)?)
}

fn find(text: &str) -> Result<Found, Box<dyn Error>> {
    let job = problems::job(text);
    let options = Options { effort: EFFORT, exact_effort: 0, stop: Stop::after(LIMIT), ..Options::default() };
    match plan(&job, &options, &mut |_| ()) {
        Ok(found) => match found.certified(text) {
            Some(schedule) => {
                let mut bytes = Vec::new();
                schedule::write(&schedule, &mut bytes)?;
                Ok(Found::Plan(String::from_utf8(bytes)?))
            }
            None => Ok(Found::NoneBelow(found.none_below.0)),
        },
        Err(PlanError::NoCut(_)) => Ok(Found::NoRoom(())),
        Err(error) => Err(error.into()),
    }
}

/// All that is known of a model: a line for each budget and way, each derived from its certificate, or for want of one from the
/// job. Nothing of the search is believed.
pub fn answers(model: &str) -> Vec<(i64, Way, Answer)> {
    let file = File::open(path(model)).expect("what was found is kept");
    let lines = BufReader::new(GzDecoder::new(file)).lines();
    let mut known = Vec::new();
    for line in lines {
        let line: Line = serde_json::from_str(&line.expect("a packed file")).expect("a line of JSON");
        let way = Way::ALL.into_iter().find(|way| way.name() == line.way).expect("a way");
        let text = problems::text(model, way, line.budget);
        known.push((line.budget, way, answer(&text, &line.found)));
    }
    let asked = BUDGETS.into_iter().flat_map(|budget| Way::ALL.map(|way| (budget, way)));
    assert!(known.iter().map(|&(budget, way, _)| (budget, way)).eq(asked), "{model}: one line a problem");
    known
}

fn answer(text: &str, found: &Found) -> Answer {
    let job = problems::job(text);
    match found {
        Found::NoRoom(()) => {
            assert!(layers(&job).all(|layers| fits_some_cut(&layers).is_err()), "something fits");
            Answer::NoRoom
        }
        &Found::NoneBelow(claimed) => {
            let none_below = Ticks(claimed);
            for layers in layers(&job).filter(|layers| fits_some_cut(layers).is_ok()) {
                holds_over_cuts(&layers, none_below).expect("no cut is shorter");
            }
            Answer::Open { none_below }
        }
        Found::Plan(schedule) => {
            let schedule = schedule::parse(schedule).expect("a schedule file");
            let checked = check_plan(&schedule, &job).expect("a certificate of this job");
            let none_below = checked.claims.iter().find_map(|claim| match claim {
                Claim::OverPlans { value, .. } => Some(*value),
                _ => None,
            });
            let makespan = checked.verdict.timing.as_ref().expect("it is valid").metrics.makespan;
            let (_, choice, _) = checked.plan.as_ref().expect("it is a plan");
            Answer::Plan { choice: *choice, makespan, none_below: none_below.expect("it says so") }
        }
    }
}

fn layers(job: &Job) -> impl Iterator<Item = bubbleproof::job::Layers> + '_ {
    job.choices().expect("choices").into_iter().map(|choice| job.layers(&choice).expect("layers"))
}
