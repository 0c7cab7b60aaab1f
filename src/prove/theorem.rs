//! The theorems of a family: what each says, in words and as a fact about device `i` of `d`.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use super::ProveError;
use super::device::{DeviceTerms, Step};
use super::subject::{Delays, TheoremSubject};
use super::term::{Definition, Fact, Place, Term};
use crate::block::family::{Comparison, Condition, Family, Layout, Variable};
use crate::model::{Device, Kind, Ticks};

/// A statement about every device of the block of a family, for every number of devices in its domain.
#[derive(Debug, Clone)]
pub struct Theorem {
    /// The name of the family and what the theorem is about, such as `v-min.collisions`.
    pub name: String,
    /// The theorem in a sentence.
    pub statement: String,
    /// What it is about.
    pub subject: TheoremSubject,
    pub(super) family: String,
    pub(super) domain: Fact,
    /// Whether it speaks of a W that the family leaves out, and so only of blocks in which that has a
    /// place.
    pub(super) premise: Option<Fact>,
    pub(super) claim: Fact,
    pub(super) definitions: Vec<Definition>,
}

impl Theorem {
    /// Whether its text is true of a device, evaluated exactly. Nothing where it says nothing, for want of
    /// a place for a W, and where a number does not fit 128 bits.
    #[must_use]
    pub fn holds(&self, device: Device, devices: u32) -> Option<bool> {
        let place = Place {
            device: device.0.into(),
            devices: devices.into(),
            definitions: &self.definitions,
            known: &RefCell::new(BTreeMap::new()),
        };
        let premise = self.premise.as_ref().map_or(Some(true), |premise| premise.holds(place))?;
        if premise { self.claim.holds(place) } else { None }
    }
}

/// The theorems of a family, in the order in which they are to be decided.
pub(super) struct Theorems<'a> {
    family: &'a Family,
    terms: DeviceTerms,
    domain: Fact,
}

impl<'a> Theorems<'a> {
    pub fn new(family: &'a Family) -> Result<Self, ProveError> {
        let terms = DeviceTerms::of(family)?;
        let values = |variable| (variable == Variable::Devices).then_some(Term::Devices);
        let domain = Fact::of(&family.domain, &values)
            .map_err(|error| ProveError::Formula { name: "domain".to_owned(), error })?;
        Ok(Self { family, terms, domain })
    }

    /// All of them. `delays` says which waits of the W of a chunk are known.
    pub fn all(&self, delays: impl Fn(u32) -> Option<Delays>) -> Result<Vec<Theorem>, ProveError> {
        let mut theorems = Vec::new();
        if !self.terms.placed.is_empty() {
            theorems.push(self.room());
        }
        theorems.push(self.dependencies());
        theorems.push(self.collisions());
        for w in &self.terms.placed {
            theorems.extend(delays(w.chunk).map(|delays| self.delay(w.chunk, delays)));
        }
        theorems.push(self.lifespans());
        for (position, promise) in self.family.promises.iter().enumerate() {
            theorems.push(self.promise(position, promise)?);
        }
        Ok(theorems)
    }

    fn theorem(&self, name: &str, subject: TheoremSubject, says: &str, claim: Fact) -> Theorem {
        let mut theorem = Theorem {
            name: format!("{}.{name}", self.family.name),
            statement: format!("for every d with {}: {says}", self.family.domain),
            subject,
            family: self.family.name.clone(),
            domain: self.domain.clone(),
            premise: None,
            claim,
            definitions: Vec::new(),
        };
        theorem.definitions = self.used(&theorem.claim);
        let delays: Vec<String> = self.terms.placed.iter().map(|w| format!("{}_delay", w.name())).collect();
        let speaks_of_placed = theorem.definitions.iter().any(|definition| delays.contains(&definition.name));
        if speaks_of_placed && theorem.subject != TheoremSubject::Room {
            let room = self.terms.room();
            theorem.definitions = self.used(&Fact::All(vec![theorem.claim.clone(), room.clone()]));
            theorem.premise = Some(room);
        }
        theorem
    }

    /// The definitions that a fact rests on.
    fn used(&self, fact: &Fact) -> Vec<Definition> {
        let mut names = BTreeSet::new();
        fact.names(&mut |name, _| _ = names.insert(name.to_owned()));
        let mut used = Vec::new();
        // Each definition uses only those before it.
        for definition in self.terms.definitions.iter().rev() {
            if names.contains(&definition.name) {
                definition.body.names(&mut |name, _| _ = names.insert(name.to_owned()));
                used.push(definition.clone());
            }
        }
        used.reverse();
        used
    }

    fn room(&self) -> Theorem {
        let says = "every W that the family leaves out has a place on its device";
        self.theorem("room", TheoremSubject::Room, says, self.terms.room())
    }

    fn dependencies(&self) -> Theorem {
        let steps = self.terms.steps.iter();
        let claim = Fact::all(steps.flat_map(|&step| self.waits(step)));
        let says = "no pass starts before the passes that it needs have ended";
        self.theorem("dependencies", TheoremSubject::Dependencies, says, claim)
    }

    fn collisions(&self) -> Theorem {
        let (steps, terms) = (&self.terms.steps, &self.terms);
        let alone = steps.iter().map(|&step| Fact::constant(terms.length(step) <= terms.interval));
        let pairs = steps
            .iter()
            .enumerate()
            .flat_map(|(position, &first)| steps[position + 1..].iter().map(move |&other| (first, other)));
        let claim = Fact::all(alone.chain(pairs.map(|(first, second)| terms.apart(first, second))));
        let says =
            format!("no two passes of a device overlap modulo the interval of {} ticks", terms.interval);
        self.theorem("collisions", TheoremSubject::Collisions, &says, claim)
    }

    pub fn delay(&self, chunk: u32, delays: Delays) -> Theorem {
        let delay = Step { kind: Kind::W, chunk }.delay();
        let Delays { least, most } = delays;
        let claim = Fact::all([
            delay.clone().compare(Comparison::AtLeast, least.ticks.0),
            delay.compare(Comparison::AtMost, most.ticks.0),
        ]);
        let says = if least.ticks == most.ticks {
            format!("W of chunk {chunk} starts {} ticks after its I has ended", least.ticks)
        } else {
            format!(
                "W of chunk {chunk} starts {} to {} ticks after its I has ended; the one on {least}, the other on {most}",
                least.ticks, most.ticks
            )
        };
        self.theorem(&format!("delay-{chunk}"), TheoremSubject::Delay { chunk, delays }, &says, claim)
    }

    fn lifespans(&self) -> Theorem {
        let terms = &self.terms;
        let mut bounds = Vec::new();
        for chunk in 0..self.family.layout.chunks() {
            let of = |kind| Step { kind, chunk };
            // The last to end of the backward passes.
            let ends = [Kind::I, Kind::W, Kind::B].map(of).into_iter().filter(|&step| terms.has(step));
            let last = ends.map(|step| step.offset().plus(terms.length(step))).reduce(|last, end| {
                Term::when(last.clone().compare(Comparison::AtLeast, end.clone()), last, end)
            });
            let Some(last) = last.filter(|_| terms.has(of(Kind::F))) else { continue };
            let lifespan = last.minus(of(Kind::F).offset());
            let copies = Term::Quotient(Box::new(lifespan.plus(terms.interval - 1)), terms.interval);
            let some = copies.clone().compare(Comparison::AtLeast, 1_i128);
            bounds.push(Term::when(some, copies, 1_i128));
        }
        let claim = Term::named("peak").compare(Comparison::AtMost, Term::Sum(bounds));
        let says = "the peak of a device is at most the sum over its chunks of their lifespans divided by the \
                    interval, rounded up";
        self.theorem("lifespans", TheoremSubject::Lifespans, says, claim)
    }

    fn promise(&self, position: usize, promise: &Condition) -> Result<Theorem, ProveError> {
        let terms = &self.terms;
        let work = |durations: crate::block::family::Durations| {
            let of = |ticks: Ticks| i128::from(ticks.0);
            of(durations.forward) + of(durations.backward_input) + of(durations.backward_weight)
        };
        let bubble = terms.interval - i128::from(self.family.layout.chunks()) * work(self.family.durations);
        let values = |variable| {
            Some(match variable {
                Variable::Device => Term::Device,
                Variable::Devices => Term::Devices,
                Variable::Peak => Term::named("peak"),
                Variable::Interval => Term::Integer(terms.interval),
                Variable::Bubble => Term::Integer(bubble),
                Variable::PeakOf1f1b => {
                    Term::Times(self.family.layout.chunks().into(), Box::new(Term::Devices))
                }
                Variable::Forward | Variable::BackwardInput | Variable::BackwardWeight => return None,
            })
        };
        let number = position + 1;
        let claim = Fact::of(promise, &values)
            .map_err(|error| ProveError::Formula { name: format!("promise {number}"), error })?;
        let says = format!("{promise} on every device i");
        Ok(self.theorem(&format!("promise-{number}"), TheoremSubject::Promise(position), &says, claim))
    }

    /// That a pass starts after everything it needs, wherever its device is.
    fn waits(&self, step: Step) -> Vec<Fact> {
        let terms = &self.terms;
        let after = |needed: Step, device: Term| {
            let end = needed.offset_on(device).plus(terms.length(needed));
            step.offset().compare(Comparison::AtLeast, end)
        };
        let here = |kind| Step { kind, ..step };
        let own = |kind| terms.has(here(kind)).then(|| after(here(kind), Term::Device));
        match step.kind {
            Kind::F => self.neighbours(step.chunk, false, |chunk, device| {
                Some(after(Step { kind: Kind::F, chunk }, device))
            }),
            Kind::R => own(Kind::F).into_iter().collect(),
            Kind::I | Kind::B => {
                let mut facts = self.neighbours(step.chunk, true, |chunk, device| {
                    let kinds = [Kind::B, Kind::I].into_iter();
                    let needed = kinds.map(|kind| Step { kind, chunk }).find(|&step| terms.has(step))?;
                    Some(after(needed, device))
                });
                facts.extend([Kind::F, Kind::R].into_iter().filter_map(own));
                facts
            }
            Kind::W => own(Kind::I).into_iter().collect(),
        }
    }

    /// What `fact` says of the stage after (`up`) or before the one that device `i` holds as this
    /// chunk: under the condition that says where it is, with its chunk and device.
    fn neighbours(&self, chunk: u32, up: bool, fact: impl Fn(u32, Term) -> Option<Fact>) -> Vec<Fact> {
        let (device, first, last) = (Term::Device, Term::Integer(0), Term::Devices.minus(1_i128));
        let next =
            (device.clone().compare(Comparison::Less, last.clone()), chunk, device.clone().plus(1_i128));
        let previous =
            (device.clone().compare(Comparison::Greater, 0_i128), chunk, device.clone().minus(1_i128));
        let at_first = device.clone().compare(Comparison::Equal, 0_i128);
        let at_last = device.compare(Comparison::Equal, last.clone());
        let chunks = self.family.layout.chunks();
        let places = match (self.family.layout, chunk, up) {
            // Up through the chunks: from the last device on to the first.
            (Layout::Looped(_), _, true) if chunk + 1 < chunks => vec![next, (at_last, chunk + 1, first)],
            (Layout::Looped(_), 1.., false) => vec![previous, (at_first, chunk - 1, last)],
            // Chunk 0 goes down the devices and chunk 1 back up; they meet on the last device.
            (Layout::V, 0, true) => vec![next, (at_last, 1, last)],
            (Layout::V, 1.., true) => vec![previous],
            (Layout::V, 1.., false) => vec![next, (at_last, 0, last)],
            (_, _, true) => vec![next],
            (_, _, false) => vec![previous],
        };
        let told = |(there, chunk, device)| Some(Fact::implies(there, fact(chunk, device)?));
        places.into_iter().filter_map(told).collect()
    }
}
