//! Finding everything about a design anew.

mod error;
mod facts;
mod family;
mod named;
mod run;
mod tested;
mod theorems;

use std::time::Duration;

pub use error::MeasureError;

use self::error::go_on;
use self::facts::Facts;
use self::tested::tested;
use super::fact::{Place, Value, What};
use super::inputs::Inputs;
use super::manifest::{Design, DesignSource, Promise};
use super::record::Record;
use crate::stop::Stop;

/// What was found of a design.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeasuredDesign {
    /// All of it.
    pub record: Record,
    /// Whether it would be found again: nothing in it is the fault of a time limit.
    pub lasting: bool,
}

/// Finds everything about a design. Theorems have so much time each.
///
/// # Errors
/// When its files do not fit each other, this program contradicts itself, or it is asked to end before everything
/// is found.
pub fn measure(
    design: &Design,
    inputs: &Inputs,
    limit: Duration,
    stop: &Stop,
) -> Result<MeasuredDesign, MeasureError> {
    let mut facts = Facts::default();
    match &design.subject {
        DesignSource::Family { .. } => family::measure(design, inputs, limit, stop, &mut facts)?,
        DesignSource::Schedule { .. } => named::schedule(inputs, stop, &mut facts)?,
        DesignSource::Named { schedules, sizes, .. } => {
            named::named(schedules.as_deref(), sizes, inputs, stop, &mut facts)?;
        }
        DesignSource::Model { sizes, .. } => named::model(sizes, inputs, stop, &mut facts)?,
    }
    // What more time would have decided is not known of a search that was ended from outside.
    if facts.timed_out {
        go_on(stop)?;
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
    Ok(MeasuredDesign { record, lasting: !facts.timed_out })
}
