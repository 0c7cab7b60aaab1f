//! Deciding the theorems of a family: first by evaluation, then by the solver.

use std::time::{Duration, Instant};

use super::ProveError;
use super::answer::{SolverAnswer, UnknownReason};
use super::counterexample::Counterexample;
use super::solver::Judge;
use super::subject::{Delays, TheoremSubject};
use super::survey::Sample;
use super::theorem::{Theorem, Theorems};
use crate::block::family::{Family, FamilyError};
use crate::model::Device;
use crate::stop::Stop;

/// A family is evaluated up to this many devices before any solver is asked.
pub const SURVEYED: u32 = 64;

/// The first number of devices in the domain is looked for up to this one.
const MOST_FIRST: u32 = 4096;

/// What is known of a theorem.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TheoremVerdict {
    /// It holds for every number of devices in the domain.
    Proved,
    /// It does not hold here.
    Refuted(Counterexample),
    /// Neither could be shown.
    Unknown(UnknownReason),
}

/// A theorem with its verdict.
#[derive(Debug, Clone)]
pub struct DecidedTheorem {
    /// The theorem.
    pub theorem: Theorem,
    /// What is known of it.
    pub verdict: TheoremVerdict,
    /// The time that it took.
    pub spent: Duration,
}

/// The theorems of a family, as they are before any is decided: the waits of W are those met for up
/// to [`SURVEYED`] devices.
///
/// # Errors
/// When the family is not well formed, or nothing is in its domain.
pub fn theorems(family: &Family) -> Result<Vec<Theorem>, ProveError> {
    let samples = survey(family)?;
    Theorems::new(family)?.all(|chunk| delays(&samples, chunk))
}

/// Proves or refutes every theorem of a family, each within the time limit, until it is time to stop: what is
/// then not decided is unknown. `watch` sees every theorem before it is decided.
///
/// # Errors
/// As [`theorems`]; also when the solver fails, or it and the block algebra contradict each other, which is a
/// defect.
pub fn prove(
    family: &Family,
    stop: &Stop,
    limit: Duration,
    mut watch: impl FnMut(&Theorem),
) -> Result<Vec<DecidedTheorem>, ProveError> {
    let samples = survey(family)?;
    let mut judge = Judge::find()?;
    let theorems = Theorems::new(family)?;
    let mut decided: Vec<DecidedTheorem> = Vec::new();
    for theorem in theorems.all(|chunk| delays(&samples, chunk))? {
        watch(&theorem);
        let start = Instant::now();
        let stop = stop.within(limit);
        let room = decided.iter().find(|judgement| judgement.theorem.subject == TheoremSubject::Room);
        let premise = theorem.premise.as_ref().and(room).map(|room| (&room.theorem.name, &room.verdict));
        let mut decision =
            Decision { family, theorems: &theorems, samples: &samples, judge: &mut judge, stop: &stop };
        let (theorem, verdict) = match premise {
            Some((_, TheoremVerdict::Refuted(no_block))) => {
                let counterexample = decision.first_of(&theorem, no_block)?;
                (theorem, TheoremVerdict::Refuted(counterexample))
            }
            Some((name, TheoremVerdict::Unknown(_))) if evaluated(&theorem, &samples).is_none() => {
                (theorem, TheoremVerdict::Unknown(UnknownReason::Premise(name.clone())))
            }
            _ => decision.on(theorem)?,
        };
        decided.push(DecidedTheorem { theorem, verdict, spent: start.elapsed() });
    }
    Ok(decided)
}

/// The family at every number of devices in its domain up to [`SURVEYED`]; at the first one beyond, where
/// there is none.
fn survey(family: &Family) -> Result<Vec<Sample<'_>>, ProveError> {
    let mut samples: Vec<Sample<'_>> =
        (1..=SURVEYED).filter_map(|devices| Sample::of(family, devices)).collect();
    if samples.is_empty() {
        samples.extend((SURVEYED + 1..=MOST_FIRST).find_map(|devices| Sample::of(family, devices)));
    }
    let Some(first) = samples.first() else {
        return Err(ProveError::EmptyDomain { domain: family.domain.clone(), most: MOST_FIRST });
    };
    match first.no_block() {
        // These say that a family has no block where it should; the others, that it is none.
        None | Some(FamilyError::NoRoom { .. } | FamilyError::Offset { .. }) => Ok(samples),
        Some(error) => Err(error.clone().into()),
    }
}

fn delays(samples: &[Sample<'_>], chunk: u32) -> Option<Delays> {
    samples.iter().filter_map(|sample| sample.delays(chunk)).reduce(Delays::and)
}

/// The first counterexample among the samples.
fn evaluated(theorem: &Theorem, samples: &[Sample<'_>]) -> Option<Counterexample> {
    samples.iter().find_map(|sample| sample.violation(&theorem.subject))
}

/// All that deciding a theorem takes.
struct Decision<'a> {
    family: &'a Family,
    theorems: &'a Theorems<'a>,
    samples: &'a [Sample<'a>],
    judge: &'a mut Judge,
    stop: &'a Stop,
}

impl Decision<'_> {
    /// The verdict, and the theorem that it is about: one about waits of W is widened by every wait that
    /// refutes it, until it is proved.
    fn on(&mut self, mut theorem: Theorem) -> Result<(Theorem, TheoremVerdict), ProveError> {
        if let Some(counterexample) = evaluated(&theorem, self.samples) {
            return Ok((theorem, TheoremVerdict::Refuted(counterexample)));
        }
        agreed(&theorem, self.samples)?;
        loop {
            let devices = match self.judge.ask(&theorem, None, self.stop)? {
                SolverAnswer::Unsat => return Ok((theorem, TheoremVerdict::Proved)),
                SolverAnswer::Unknown(reason) => return Ok((theorem, TheoremVerdict::Unknown(reason))),
                SolverAnswer::Sat(devices) => devices,
            };
            let (devices, smallest) = self.least_devices(&theorem, devices)?;
            let sample = match sample(self.family, &theorem, devices)? {
                Ok(sample) => sample,
                Err(reason) => return Ok((theorem, TheoremVerdict::Unknown(reason))),
            };
            let counterexample = Counterexample { smallest, ..confirmed(&theorem, &sample)? };
            let wider = match theorem.subject {
                TheoremSubject::Delay { chunk, delays } => {
                    sample.delays(chunk).map(|seen| self.theorems.delay(chunk, delays.and(seen)))
                }
                _ => None,
            };
            match wider {
                Some(wider) => theorem = wider,
                None => return Ok((theorem, TheoremVerdict::Refuted(counterexample))),
            }
        }
    }

    /// The first counterexample to a theorem about blocks, given a number of devices that has no block: it may well be
    /// false for fewer.
    fn first_of(
        &mut self,
        theorem: &Theorem,
        no_block: &Counterexample,
    ) -> Result<Counterexample, ProveError> {
        if let Some(counterexample) = evaluated(theorem, self.samples) {
            return Ok(counterexample);
        }
        let unsure = Counterexample { smallest: false, ..no_block.clone() };
        let fewer = i128::from(no_block.devices) - 1;
        let (devices, smallest) = match self.judge.ask(theorem, Some(fewer), self.stop)? {
            SolverAnswer::Unsat => return Ok(no_block.clone()),
            SolverAnswer::Unknown(_) => return Ok(unsure),
            SolverAnswer::Sat(devices) => self.least_devices(theorem, devices)?,
        };
        match sample(self.family, theorem, devices)? {
            Ok(sample) => {
                let smallest = smallest && no_block.smallest;
                Ok(Counterexample { smallest, ..confirmed(theorem, &sample)? })
            }
            Err(_) => Ok(unsure),
        }
    }

    /// The smallest number of devices with a counterexample, given one that has one, and whether it is known
    /// to be that.
    fn least_devices(&mut self, theorem: &Theorem, devices: i128) -> Result<(i128, bool), ProveError> {
        let (mut least, mut most) = (i128::from(SURVEYED) + 1, devices);
        while least < most {
            let middle = least + (most - least) / 2;
            match self.judge.ask(theorem, Some(middle), self.stop)? {
                SolverAnswer::Sat(fewer) => most = fewer,
                SolverAnswer::Unsat => least = middle + 1,
                SolverAnswer::Unknown(_) => return Ok((most, false)),
            }
        }
        Ok((most, true))
    }
}

/// Checks that what the solver is to prove is true wherever the block algebra has found nothing wrong.
fn agreed(theorem: &Theorem, samples: &[Sample<'_>]) -> Result<(), ProveError> {
    for devices in samples.iter().map(Sample::devices) {
        if Device::all(devices).any(|device| theorem.holds(device, devices) == Some(false)) {
            return Err(ProveError::Unconfirmed { theorem: theorem.name.clone(), devices });
        }
    }
    Ok(())
}

/// The family at a number of devices that the solver has named.
fn sample<'a>(
    family: &'a Family,
    theorem: &Theorem,
    devices: i128,
) -> Result<Result<Sample<'a>, UnknownReason>, ProveError> {
    let Ok(count) = u32::try_from(devices) else { return Ok(Err(UnknownReason::TooManyDevices(devices))) };
    let sample = Sample::of(family, count)
        .ok_or_else(|| ProveError::Unconfirmed { theorem: theorem.name.clone(), devices: count })?;
    Ok(match sample.no_block() {
        Some(FamilyError::Placement(_) | FamilyError::Model(_)) => {
            Err(UnknownReason::TooManyDevices(devices))
        }
        _ => Ok(sample),
    })
}

/// The counterexample that the block algebra finds at a number of devices that the solver has named.
fn confirmed(theorem: &Theorem, sample: &Sample<'_>) -> Result<Counterexample, ProveError> {
    let unconfirmed = || ProveError::Unconfirmed { theorem: theorem.name.clone(), devices: sample.devices() };
    sample.violation(&theorem.subject).ok_or_else(unconfirmed)
}
