//! Everything that the theorems about a family's squeezed order and peak rest on, as a file, and its
//! check in integers.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::cycle::{Attained, along, rotor_steps};
use super::form::{LinearForm, Rate, rays};
use super::graph::{Classes, Constraint, Where};
use super::interval::{
    SqueezedInterval, SqueezedIntervals, occurring, others, quantities, squeezed_intervals,
};
use super::makespan::{self, LastEnd, Makespan};
use super::peak::peak;
use super::potential::Starts;
use super::quasi::Quasi;
use super::{Irregular, statement};
use crate::block::family::{self, Family};
use crate::stop::Stop;
use crate::text::json::{self, JsonError};
use crate::text::{Shown, message};

/// The value of `format` in witnesses of this version.
pub const WITNESS_FORMAT: &str = "bubbleproof-witness-1";

/// More than any ray has, and any start time needs: what is larger could overflow.
const MOST_SCALED: i128 = 1_000_000_000;
const MOST_TICKS: i128 = 1 << 60;

/// The family, its residue tables, and the start times and cycles that prove its interval, makespan and
/// peak. Nothing in it is believed: [`check`](Witness::check) derives every table again and evaluates
/// every inequality.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Witness {
    format: String,
    /// The text of the family file.
    family: String,
    /// The offset of every pass, by the residues of `d` and `i`.
    offsets: Vec<(String, Quasi)>,
    /// The peak, likewise.
    peak: Quasi,
    #[serde(rename = "periods")]
    pub(super) intervals: Vec<SqueezedIntervals>,
    pub(super) makespans: Vec<Makespan>,
}

/// A statement that a witness proves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WitnessClaim {
    /// What it is about: `interval`, `squeezed interval with latency`, `makespan` or `peak`.
    pub name: &'static str,
    /// The statement, in words.
    pub statement: String,
}

/// Why a witness proves nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WitnessRejection {
    /// It is not of this version.
    #[error("the format is `{}`, not `{WITNESS_FORMAT}`", Shown(.0))]
    Format(String),
    /// Its family cannot be read.
    #[error("the family in it cannot be read: {0}")]
    Family(String),
    /// Its family has no tables.
    #[error("nothing is proved by residues: {0}")]
    Irregular(#[from] Irregular),
    /// Numbers so large that they cannot be counted with.
    #[error("its numbers are too large")]
    Large,
    /// A table is not what the formulas say.
    #[error("the table of {0} is not what the formulas of the family say")]
    Table(String),
    /// Some numbers of devices are left out, or come twice.
    #[error("the cases of {0} are not the residues that occur in the domain")]
    Cases(String),
    /// An interval without any form.
    #[error("there is no form for the interval (d = {residue} mod {residues})")]
    NoTerm {
        /// The residue of `d`.
        residue: i128,
        /// The number P.
        residues: i128,
    },
    /// The start times are not those of the extreme rays.
    #[error(
        "the start times of {rate} (d = {residue} mod {residues}) are not on the extreme rays of its cone"
    )]
    Rays {
        /// The form.
        rate: Rate,
        /// The residue of `d`.
        residue: i128,
        /// The number P.
        residues: i128,
    },
    /// The interval at a ray is not that of the form.
    #[error("the start times of {rate} (d = {residue} mod {residues}) repeat with another interval")]
    Lambda {
        /// The form.
        rate: Rate,
        /// The residue of `d`.
        residue: i128,
        /// The number P.
        residues: i128,
    },
    /// A pass starts too early.
    #[error("{to} starts too early after {from} (d = {residue} mod {residues})")]
    Early {
        /// The pass that waits.
        to: String,
        /// The pass for which it waits.
        from: String,
        /// The residue of `d`.
        residue: i128,
        /// The number P.
        residues: i128,
    },
    /// A cycle is none, or not of the rate that it should have.
    #[error("the cycle of {0} is not one of passes that wait for each other, at that rate")]
    Cycle(String),
    /// The bound on the makespan is not the last end.
    #[error(
        "the bound on the makespan (d = {residue} mod {residues}) is not the last end of the start times"
    )]
    Bound {
        /// The residue of `d`.
        residue: i128,
        /// The number P.
        residues: i128,
    },
}

impl Witness {
    /// Derives everything about a family.
    ///
    /// # Errors
    /// When its formulas are not told by residues, its block is none, or it is time to stop.
    pub fn of(family: &Family, stop: &Stop) -> Result<Self, Irregular> {
        let classes = Classes::of(family)?;
        let intervals =
            vec![squeezed_intervals(family, false, stop)?, squeezed_intervals(family, true, stop)?];
        let makespans = intervals[0]
            .cases
            .iter()
            .map(|case| Makespan::of(family, &classes, case, stop))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            format: WITNESS_FORMAT.to_owned(),
            family: family::print(family),
            offsets: offsets(&classes),
            peak: peak(&classes)?,
            intervals,
            makespans,
        })
    }

    /// Reads a witness. That it proves anything is not checked here.
    ///
    /// # Errors
    /// When the text is not JSON, or has not the form of a witness, which has no key twice and no control characters.
    pub fn parse(text: &str) -> Result<Self, JsonError> {
        let witness = serde_json::from_str(text)?;
        // The family is the text of a file, whose reader refuses control characters as well.
        json::strict(text, &[&["family"]])?;
        Ok(witness)
    }

    /// Checks all of it: what it proves, in words. No solver has a part in it.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn check(&self) -> Result<Vec<WitnessClaim>, WitnessRejection> {
        if self.format != WITNESS_FORMAT {
            return Err(WitnessRejection::Format(self.format.clone()));
        }
        let family = family::parse(&self.family)
            .map_err(|error| WitnessRejection::Family(message(&error.to_string())))?;
        let classes = Classes::of(&family)?;
        if self.offsets != offsets(&classes) {
            return Err(WitnessRejection::Table("the offsets".to_owned()));
        }
        if self.peak != peak(&classes)? {
            return Err(WitnessRejection::Table("the peak".to_owned()));
        }
        let occurring = occurring(&family.domain, classes.residues)?;
        let mut claims = Vec::new();
        for intervals in &self.intervals {
            let name = if intervals.latency { "squeezed interval with latency" } else { "squeezed interval" };
            let residues: Vec<i128> = intervals.cases.iter().map(|case| case.residue).collect();
            if residues != occurring || intervals.residues != classes.residues {
                return Err(WitnessRejection::Cases(name.to_owned()));
            }
            for case in &intervals.cases {
                check_interval(&classes, case, quantities(intervals.latency))?;
            }
            claims.push(WitnessClaim { name, statement: statement::of_intervals(&family, intervals) });
        }
        let residues: Vec<i128> = self.makespans.iter().map(|makespan| makespan.residue).collect();
        if residues != occurring {
            return Err(WitnessRejection::Cases("makespan".to_owned()));
        }
        for makespan in &self.makespans {
            check_makespan(&family, &classes, makespan)?;
        }
        let statement = statement::of_makespans(&family, &self.makespans, classes.residues);
        claims.push(WitnessClaim { name: "makespan", statement });
        Ok(claims)
    }

    /// The intervals: without latency, and with it.
    #[must_use]
    pub fn intervals(&self) -> &[SqueezedIntervals] {
        &self.intervals
    }

    /// The bounds on the makespan, by the residue of `d`.
    #[must_use]
    pub fn makespans(&self) -> &[Makespan] {
        &self.makespans
    }
}

fn offsets(classes: &Classes) -> Vec<(String, Quasi)> {
    classes.passes.iter().map(|pass| (pass.name(), pass.offset.clone())).collect()
}

fn check_interval(
    classes: &Classes,
    case: &SqueezedInterval,
    quantities: usize,
) -> Result<(), WitnessRejection> {
    let (residue, residues) = (case.residue, classes.residues);
    let constraints = classes.constraints(residue)?;
    let rates = case.rates();
    if rates.is_empty() {
        return Err(WitnessRejection::NoTerm { residue, residues });
    }
    if !rates.iter().all(|rate| rate.is_small()) {
        return Err(WitnessRejection::Large);
    }
    for term in &case.terms {
        let rate = term.rate;
        let points: Vec<_> = term.starts.iter().map(|starts| starts.point).collect();
        if rate.copies <= 0 || points != rays(rate, &others(&rates, rate), quantities) {
            return Err(WitnessRejection::Rays { rate, residue, residues });
        }
        for starts in &term.starts {
            check_size(starts, starts.point.into_iter().chain([starts.scale]))?;
            if starts.scale <= 0 || rate.at(starts.point) * starts.scale != starts.lambda.into() {
                return Err(WitnessRejection::Lambda { rate, residue, residues });
            }
            check_starts(classes, residue, &constraints, starts)?;
        }
        if let Some(attained) = &term.attained {
            let found = follow(classes, residue, &constraints, attained);
            if found.map(|found| found.first(quantities).reduced()) != Some(rate.reduced()) {
                return Err(WitnessRejection::Cycle(rate.to_string()));
            }
        }
    }
    Ok(())
}

fn check_size(starts: &Starts, factors: impl IntoIterator<Item = i128>) -> Result<(), WitnessRejection> {
    let Starts { lambda, tilt, by_pass, .. } = starts;
    let mut ticks = by_pass.iter().flatten().chain([lambda, tilt]);
    let small = factors.into_iter().all(|factor| factor <= MOST_SCALED)
        && ticks.all(|value| value.abs() <= MOST_TICKS);
    if small { Ok(()) } else { Err(WitnessRejection::Large) }
}

fn check_starts(
    classes: &Classes,
    residue: i128,
    constraints: &[Constraint],
    starts: &Starts,
) -> Result<(), WitnessRejection> {
    // The way around is as long as there are devices, so that a tilt has no bound there.
    let around = constraints.iter().find(|constraint| matches!(constraint.place, Where::Around { .. }));
    match starts.violated(constraints).or(around.filter(|_| starts.tilt != 0)) {
        None => Ok(()),
        Some(Constraint { from, to, .. }) => Err(WitnessRejection::Early {
            to: classes.passes[to.0].name(),
            from: classes.passes[from.0].name(),
            residue,
            residues: classes.residues,
        }),
    }
}

/// The rate of a cycle each pass of which comes after the one before, on every number of devices from the
/// one given.
fn follow(classes: &Classes, residue: i128, constraints: &[Constraint], attained: &Attained) -> Option<Rate> {
    let steps = along(classes, residue, constraints, attained)?;
    let ticks = steps.iter().fold(LinearForm::default(), |ticks, step| ticks.plus(step.ticks));
    let copies = steps.iter().map(|step| step.rounds).sum();
    (copies > 0).then_some(Rate { ticks, copies })
}

fn check_makespan(family: &Family, classes: &Classes, makespan: &Makespan) -> Result<(), WitnessRejection> {
    let (residue, residues) = (makespan.residue, classes.residues);
    let wrong = || WitnessRejection::Bound { residue, residues };
    let starts = &makespan.starts;
    let constraints = classes.constraints(residue)?;
    if starts.scale <= 0 || starts.point != makespan::point(family.durations) {
        return Err(wrong());
    }
    // The point is that of the family, which limits its durations.
    check_size(starts, [starts.scale])?;
    check_starts(classes, residue, &constraints, starts)?;
    let Makespan { per_devices, constant, fewest, .. } = *makespan;
    if LastEnd::of(classes, residue, starts)? != (LastEnd { per_devices, constant, fewest }) {
        return Err(wrong());
    }
    let Some(rotor) = &makespan.rotor else { return Ok(()) };
    let steps = rotor_steps(classes, residue, rotor).unwrap_or_default();
    let copies: i128 = steps.iter().map(|step| step.rounds).sum();
    let ticks: i128 = steps.iter().map(|step| step.ticks.at(starts.point)).sum();
    let straight = rotor.cycle.iter().any(|(pass, _)| !pass.starts_with(['R', 'W']));
    let whole = copies == 1 && makespan.interval() == ticks.into();
    if straight && whole && makespan.is_straight(family, classes) {
        Ok(())
    } else {
        Err(WitnessRejection::Cycle("the rotor".to_owned()))
    }
}

impl fmt::Display for WitnessClaim {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.statement)
    }
}
