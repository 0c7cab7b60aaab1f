//! Changes in sentences, with their amounts in the units of the model.

use super::CheckedSuite;
use crate::amounts::{Amounts, digits};
use crate::regress::{Change, CheckedDesign, Figures, Metric, Place, UnitNames, What};
use crate::replay::Rate;

impl CheckedSuite<'_> {
    /// A change of a design, with its place.
    pub(super) fn sentence(&self, result: &CheckedDesign, change: &Change) -> String {
        let message = match &change.figures {
            Some(figures) if may_be_in_other_units(result, figures) => format!(
                "{}, was {} (the model changed, and perhaps its units)",
                figures.after, figures.before
            ),
            Some(figures) => {
                let amount = |exact, value| self.amount(result, &change.place, figures.metric, exact, value);
                let [before, after] = [figures.before, figures.after].map(|value| amount(self.exact, value));
                // Figures that differ must not look alike.
                figures.in_words(|value| amount(self.exact || before == after, value))
            }
            None => change.message.clone(),
        };
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
        exact: bool,
        value: Rate,
    ) -> String {
        if metric.is_share() {
            return if exact {
                value.to_string()
            } else {
                format!("{} %", digits(value * Rate::from_integer(100)))
            };
        }
        let units = self.suite.units(&result.design, place);
        let UnitNames { time, memory } = units.unwrap_or_default();
        let amounts = Amounts::new(exact, &time, &memory);
        match metric {
            Metric::PeakMemory => amounts.memory(value),
            _ => amounts.time(value),
        }
    }
}

/// Whether a figure may have been recorded in other units: the model is another one, and the figure so much larger or smaller as
/// units are apart. The record does not say which units it has.
pub(super) fn may_be_in_other_units(result: &CheckedDesign, figures: &Figures) -> bool {
    const APART: Rate = Rate::new_raw(100, 1);
    let is_another = result.changes.iter().any(|change| change.about == Some(What::Problem));
    let zero = Rate::from_integer(0);
    let [less, more] = [figures.before.min(figures.after), figures.before.max(figures.after)];
    is_another && !figures.metric.is_share() && less > zero && more / APART >= less
}
