//! What has been found of a design so far.

use crate::regress::fact::{Fact, Key, Place, Value, What};
use crate::regress::promise::Quantity;
use crate::replay::Rate;
use crate::text::Escaped;

/// The facts found so far.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// In the order in which they were found.
    pub found: Vec<Fact>,
    /// For every schedule that was replayed: its place, and the quantities that promises may use.
    pub runs: Vec<(Place, Vec<(Quantity, Rate)>)>,
    /// Whether more would have been found in more time.
    pub timed_out: bool,
}

impl Facts {
    /// Something that was found somewhere.
    pub fn add(&mut self, place: &Place, what: What, value: Value) {
        // A fact is a line: what files call themselves must not make further ones.
        let value = match value {
            Value::Text(text) => Value::Text(Escaped(&text).to_string()),
            Value::Verdict(verdict, rest) => Value::Verdict(verdict, Escaped(&rest).to_string()),
            value => value,
        };
        self.found.push(Fact { key: Key { place: place.clone(), what }, value });
    }

    /// Something that was found of the design as a whole.
    pub fn whole(&mut self, what: What, value: Value) {
        self.add(&Place::default(), what, value);
    }

    /// That the design is not valid there, and why.
    pub fn invalid(&mut self, place: &Place, why: impl IntoIterator<Item = String>) {
        self.add(place, What::Valid, Value::Truth(false));
        for why in why.into_iter().take(1) {
            self.add(place, What::Why, Value::Text(why));
        }
    }
}
