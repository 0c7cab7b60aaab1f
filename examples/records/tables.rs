//! The best schedules known for the problems of `docs/records.md`: where they are kept, and what the tables of the page say of them.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{fs, io};

use bubbleproof::certificate::{self, Checked, Claim, Optimality};
use bubbleproof::model::{Model, Ticks, Units};
use bubbleproof::schedule::{self, Schedule};
use num_rational::Ratio;

use crate::grid;
use crate::numbers::decimal;
use crate::page::{Row, Table, Takes};

/// The page that they are on.
pub const PAGE: &str = "records.md";

/// Microbatches of the sizes of the grid that have records: with fewer, engines prove all optima, and with more, files are large.
const MICROBATCHES: std::ops::RangeInclusive<u32> = 16..=64;

/// A problem of the page.
pub struct Problem {
    /// Of the kind of problem: `v-3-4-2-0`.
    kind: String,
    /// With the size and the capacity: `v-3-4-2-0-d8-m32-capacity8`.
    pub name: String,
    pub model: Model,
    capacity: Units,
}

/// All of them, in the order of the page.
///
/// # Errors
/// When the library refuses a model.
pub fn problems() -> Result<Vec<Problem>, Box<dyn Error>> {
    let sizes: Vec<(u32, u32)> = grid::SIZES.into_iter().filter(|(_, m)| MICROBATCHES.contains(m)).collect();
    let mut problems = Vec::new();
    for (kind, model) in grid::equal_stages(&sizes)? {
        for capacity in grid::capacities(&model) {
            let name = grid::name_with_size(&kind, &model, capacity);
            let model = model.with_uniform_activation_capacity(Some(capacity))?;
            problems.push(Problem { kind: kind.clone(), name, model, capacity });
        }
    }
    Ok(problems)
}

/// The best schedule known, with what its certificate proves.
pub struct Record {
    pub schedule: Schedule,
    pub checked: Checked,
}

impl Record {
    /// Where the record of a problem is.
    pub fn path(problem: &Problem) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("models/records").join(format!("{}.json", problem.name))
    }

    /// The record of a problem, with its certificate checked; none if there is none.
    ///
    /// # Errors
    /// When the file is unreadable, or its certificate is not accepted.
    pub fn read(problem: &Problem) -> Result<Option<Self>, Box<dyn Error>> {
        let path = Self::path(problem);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let schedule = schedule::parse(&text)?;
        let checked = certificate::check(&schedule, Some(&problem.model))?;
        Ok(Some(Self { schedule, checked }))
    }

    /// The makespan.
    pub fn value(&self) -> Ticks {
        let timing = self.checked.verdict.timing.as_ref().expect("a checked schedule has times");
        timing.metrics.makespan
    }

    /// What a search is said to have proved.
    pub fn searched(&self) -> Option<(certificate::SearchEngine, Ticks)> {
        self.checked.claims.iter().find_map(|claim| match claim {
            Claim::Searched { engine, none_below } => Some((*engine, *none_below)),
            _ => None,
        })
    }

    /// What is known of how much better any schedule can be.
    pub fn optimality(&self) -> Optimality {
        match self.searched() {
            _ if self.checked.bound.value == self.value() => Optimality::Bound,
            Some((engine, none_below)) => Optimality::Search { engine, none_below },
            None => Optimality::Open,
        }
    }

    /// No schedule is shorter, as the bound says or a search.
    pub fn none_below(&self) -> Ticks {
        let searched = self.searched().map_or(Ticks::ZERO, |(_, none_below)| none_below);
        self.checked.bound.value.max(searched)
    }

    /// Whether it is proved that no schedule is shorter.
    pub fn is_proved(&self) -> bool {
        self.none_below() == self.value()
    }

    /// How much longer it is than the best that is not excluded, as a share of that.
    fn gap(&self) -> Ratio<i128> {
        let (value, least) = (i128::from(self.value().0), i128::from(self.none_below().0.max(1)));
        Ratio::new(value - least, least)
    }

    fn cells(&self) -> Vec<String> {
        let proof = match self.optimality() {
            Optimality::Bound => "bound".to_owned(),
            Optimality::Search { engine, none_below } if none_below == self.value() => engine.to_string(),
            Optimality::Search { .. } | Optimality::Open => "open".to_owned(),
        };
        let by = self.schedule.provenance.as_ref();
        let by = by.map_or_else(String::new, |by| format!("{}, {}", by.engine, by.tool));
        vec![self.value().to_string(), self.none_below().to_string(), percentage(self.gap()), proof, by]
    }
}

/// A share in percent with two decimals.
fn percentage(share: Ratio<i128>) -> String {
    format!("{} %", decimal(share * 100, 2))
}

/// All problems that have a record.
fn on_record() -> impl Iterator<Item = Problem> {
    problems()
        .expect("models that the library accepts")
        .into_iter()
        .filter(|problem| Record::path(problem).exists())
}

/// The record of a problem that has one.
fn of(problem: &Problem) -> Record {
    let record = Record::read(problem).unwrap_or_else(|error| panic!("{}: {error}", problem.name));
    record.expect("the file is there")
}

/// All tables in the order of the page.
pub fn all() -> Vec<Table> {
    vec![summary(), records()]
}

/// How many are proved optimal, and how far from proved the others are, by placement.
fn summary() -> Table {
    let rows = ["linear", "v", "looped"].map(|placement| {
        Row::new(vec![placement.to_owned()], Takes::Long, move || {
            let of_placement = on_record().filter(|problem| problem.kind.starts_with(placement));
            let records: Vec<Record> = of_placement.map(|problem| of(&problem)).collect();
            let proved = records.iter().filter(|record| record.is_proved()).count();
            let gaps: Vec<Ratio<i128>> = records.iter().map(Record::gap).collect();
            // Denominators of many records have no common multiple that fits.
            let millionths: i128 = gaps.iter().map(|gap| (gap * 1_000_000).round().to_integer()).sum();
            let count = i128::try_from(gaps.len()).expect("a count");
            let mean = Ratio::new(millionths, 1_000_000 * count.max(1));
            let largest = gaps.iter().max().copied().unwrap_or_default();
            vec![gaps.len().to_string(), proved.to_string(), percentage(mean), percentage(largest)]
        })
    });
    Table {
        name: "summary",
        head: "| placement | problems | proved optimal | mean gap | largest gap |\n| --- | ---: | ---: | ---: | ---: |",
        rows: rows.into(),
    }
}

fn records() -> Table {
    let rows = on_record().map(|problem| {
        let model = &problem.model;
        let link = format!("[{}](../models/records/{}.json)", problem.kind, problem.name);
        let size =
            [model.devices().to_string(), model.microbatches().to_string(), problem.capacity.to_string()];
        Row::new(std::iter::once(link).chain(size).collect(), Takes::Little, move || of(&problem).cells())
    });
    Table {
        name: "records",
        head: "| problem | d | m | capacity | makespan | no schedule below | gap | proved by | found by |\n\
               | --- | ---: | ---: | ---: | ---: | ---: | ---: | --- | --- |",
        rows: rows.collect(),
    }
}
