//! Finding everything about a design anew.

mod family;
mod named;
mod run;

use std::time::Duration;

use super::fact::{Fact, Key, Place, Value, Verdict, What};
use super::inputs::Inputs;
use super::manifest::{Design, Promise, Subject};
use super::promise::{Measurable, Quantity};
use super::record::Record;
use crate::block::family::FamilyError;
use crate::model::ModelError;
use crate::prove::ProveError;
use crate::replay::Rate;

/// How many steps a lower bound may spend on sets of states: hundredths of a second.
pub const BOUND_STEPS: u64 = 200_000;

/// Why a design could not be looked at.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MeasureError {
    /// The family has no block there.
    #[error("d = {devices}: {error}")]
    Family {
        /// The number of devices.
        devices: u32,
        /// Why not.
        error: FamilyError,
    },
    /// Its theorems cannot be stated or decided.
    #[error("its theorems cannot be stated: {0}")]
    Prove(#[from] ProveError),
    /// The model has no such size.
    #[error("{place}: {error}")]
    Model {
        /// The size.
        place: String,
        /// Why not.
        error: ModelError,
    },
    /// A model of another placement.
    #[error("the placement of the family is not that of the model {0}")]
    Placement(String),
    /// Two that share no logic contradict each other.
    #[error("internal error: the block algebra and replay disagree at {place}: {what}")]
    Disagreement {
        /// Where.
        place: String,
        /// About what.
        what: String,
    },
}

impl MeasureError {
    /// Whether it is a defect of this program, and not of the design.
    #[must_use]
    pub const fn is_defect(&self) -> bool {
        matches!(
            self,
            Self::Disagreement { .. }
                | Self::Prove(
                    ProveError::Unconfirmed { .. }
                        | ProveError::NoControl { .. }
                        | ProveError::Witness { .. }
                )
        )
    }
}

/// What was found of a design.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// All of it.
    pub record: Record,
    /// Whether it would be found again: nothing in it is the fault of a time limit.
    pub lasting: bool,
}

/// Finds everything about a design. Theorems have so much time each.
///
/// # Errors
/// When its files do not fit each other, or this program contradicts itself.
pub fn measure(design: &Design, inputs: &Inputs, limit: Duration) -> Result<Found, MeasureError> {
    let mut facts = Facts::default();
    match &design.subject {
        Subject::Family { .. } => family::measure(design, inputs, limit, &mut facts)?,
        Subject::Schedule { .. } => named::schedule(inputs, &mut facts),
        Subject::Named { schedules, sizes, .. } => {
            named::named(schedules.as_deref(), sizes, inputs, &mut facts)?;
        }
        Subject::Model { sizes, .. } => named::model(sizes, inputs, &mut facts)?,
    }
    for promise in &design.promises {
        if let Promise::Measured(promise) = promise {
            let (verdict, text) = tested(promise, &facts);
            facts.whole(What::Promise(promise.to_string()), Value::Verdict(verdict, text));
        }
    }
    // What is said of the design as a whole comes first.
    facts.found.sort_by_key(|fact| fact.key.place != Place::default());
    let record = Record { design: design.name.clone(), facts: facts.found };
    Ok(Found { record, lasting: !facts.timed_out })
}

/// The facts found so far.
#[derive(Debug, Default)]
struct Facts {
    found: Vec<Fact>,
    /// Of every schedule that was replayed: where, and what promises may speak of.
    runs: Vec<(Place, Vec<(Quantity, Rate)>)>,
    timed_out: bool,
}

impl Facts {
    fn add(&mut self, place: &Place, what: What, value: Value) {
        // A fact is a line: what files call themselves must not make further ones.
        let value = match value {
            Value::Text(text) => Value::Text(in_a_line(&text)),
            Value::Verdict(verdict, rest) => Value::Verdict(verdict, in_a_line(&rest)),
            value => value,
        };
        self.found.push(Fact { key: Key { place: place.clone(), what }, value });
    }

    fn whole(&mut self, what: What, value: Value) {
        self.add(&Place::default(), what, value);
    }

    /// That the design is not valid there, and why.
    fn invalid(&mut self, place: &Place, why: impl IntoIterator<Item = String>) {
        self.add(place, What::Valid, Value::Truth(false));
        for why in why.into_iter().take(1) {
            self.add(place, What::Why, Value::Text(why));
        }
    }
}

/// A text with its control characters escaped.
fn in_a_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter.is_control() {
            line.extend(letter.escape_default());
        } else {
            line.push(letter);
        }
    }
    line
}

/// The verdict about a promise over what was measured, wherever it was; of a family, at its own durations.
fn tested(promise: &Measurable, facts: &Facts) -> (Verdict, String) {
    let mut kept: Vec<&Place> = Vec::new();
    for (place, values) in facts.runs.iter().filter(|(place, _)| place.model.is_none()) {
        let value =
            |quantity: Quantity| values.iter().find(|(other, _)| *other == quantity).map(|(_, value)| *value);
        match promise.holds(&value) {
            Some(true) => kept.push(place),
            Some(false) => {
                let spoken = promise.quantities().into_iter();
                let spoken =
                    spoken.filter_map(|(quantity, name)| Some(format!("{name} = {}", value(quantity)?)));
                let spoken = spoken.collect::<Vec<_>>().join(", ");
                let at = if *place == Place::default() { String::new() } else { format!("at {place}: ") };
                return (Verdict::Refuted, format!("{at}{spoken}"));
            }
            None => {}
        }
    }
    if kept.is_empty() {
        return (Verdict::Unknown, "nothing that it speaks of was measured".to_owned());
    }
    (Verdict::Tested, scope(&kept))
}

/// Where something was tested, in words.
fn scope(places: &[&Place]) -> String {
    let list = |name: &str, of: fn(&Place) -> Option<String>| {
        let mut values: Vec<String> = Vec::new();
        for value in places.iter().filter_map(|place| of(place)) {
            if !values.contains(&value) {
                values.push(value);
            }
        }
        (!values.is_empty()).then(|| format!("{name} = {}", values.join(", ")))
    };
    let parts = [
        list("schedule", |place| place.schedule.clone()),
        list("d", |place| place.devices.map(|devices| devices.to_string())),
        list("m", |place| place.microbatches.map(|microbatches| microbatches.to_string())),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() { "for this schedule".to_owned() } else { format!("for {}", parts.join("; ")) }
}
