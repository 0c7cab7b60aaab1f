//! Changes in sentences, with their amounts in the units of the model.

use super::CheckedSuite;
use crate::amounts::{Amounts, digits};
use crate::regress::{Change, CheckedDesign, Metric, Place, UnitNames};
use crate::replay::Rate;

impl CheckedSuite<'_> {
    /// A change of a design, with its place.
    pub(super) fn sentence(&self, result: &CheckedDesign, change: &Change) -> String {
        let message = change.figures.map_or_else(
            || change.message.clone(),
            |figures| figures.in_words(|value| self.amount(result, &change.place, figures.metric, value)),
        );
        // The message of a moved pass contains its place.
        if change.place == Place::default() || change.topic == "moved" {
            return message;
        }
        format!("{}: {message}", change.place)
    }

    /// A figure of a design at a place, in the unit that suits it: a time, an amount of memory, or a share in percent.
    pub(super) fn amount(
        &self,
        result: &CheckedDesign,
        place: &Place,
        metric: Metric,
        value: Rate,
    ) -> String {
        if metric.is_share() {
            return if self.exact {
                value.to_string()
            } else {
                format!("{} %", digits(value * Rate::from_integer(100)))
            };
        }
        let units = self.suite.units(&result.design, place);
        let UnitNames { time, memory } = units.unwrap_or_default();
        let amounts = Amounts::new(self.exact, &time, &memory);
        match metric {
            Metric::PeakMemory => amounts.memory(value),
            _ => amounts.time(value),
        }
    }
}
