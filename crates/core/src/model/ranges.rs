//! Durations and latencies that are known as ranges.
//!
//! A model with ranges *is* the model of their high ends, and keeps the low ends beside it. For fixed orders that is the
//! exact worst case, and [`Model::best_case`] the exact best case: start times are the [least
//! solution](crate::tasks) of inequalities whose right sides grow with every duration and latency, so no start and no end
//! comes earlier when one of them grows. And both ends are times that the ranges allow.
//!
//! That needs fixed orders of messages too. Where [times decide](Model::orders_messages_by_time) about them, ranges are refused.

use super::check::check;
use super::quantities::{Quantities, TIME};
use super::reading::{FileError, Table, TomlProblem, Value};
use super::{Costs, Links, Messages, Model, ModelError, Ticks};

impl Costs {
    /// The lists of ticks: their key in model files, and the values.
    pub(super) const fn lists(&self) -> [(&'static str, &Vec<Ticks>); 4] {
        [
            ("time.forward", &self.forward),
            ("time.backward_input", &self.backward_input),
            ("time.backward_weight", &self.backward_weight),
            ("time.communication", &self.communication),
        ]
    }
}

impl Model {
    /// The same pipeline, where a duration or latency may be anything from its value here, its low end, to
    /// [its value in the model](Self::costs), its high end. Both are in ticks of the model's unit. Where all are equal, there are no
    /// ranges.
    ///
    /// # Errors
    /// When a list has the wrong length, a low end is above its high end, or the low ends alone make no model.
    pub fn with_low_ends(&self, low: Costs) -> Result<Self, ModelError> {
        let low = Costs { unit: self.costs.unit.clone(), ..low };
        let low = (low != self.costs).then(|| Box::new(low));
        Self { low, ..self.clone() }.checked()
    }

    /// The low ends of durations and latencies; `None` for a model without ranges. [`costs`](Self::costs) are the high ends.
    #[must_use]
    pub fn low_ends(&self) -> Option<&Costs> {
        self.low.as_deref()
    }

    /// The model in which everything takes as little time as it can; `None` for a model without ranges. For fixed orders,
    /// replay under it is the exact best case, and replay under this model the exact worst case.
    #[must_use]
    pub fn best_case(&self) -> Option<Self> {
        let costs = self.low_ends()?.clone();
        Some(Self { costs, low: None, ..self.clone() })
    }

    /// Whether times decide in which order a link sends its messages. Then longer passes may make a schedule shorter, since
    /// they may change that order.
    #[must_use]
    pub fn orders_messages_by_time(&self) -> bool {
        let has_cards = |messages: &Messages| matches!(messages.links, Links::Nodes(_));
        self.has_busy_links() && self.messages().is_some_and(has_cards)
    }

    /// That the low ends are below the high ends, and make a model by themselves.
    pub(super) fn check_low_ends(&self) -> Result<(), ModelError> {
        let (Some(low), Some(best)) = (self.low_ends(), self.best_case()) else { return Ok(()) };
        if self.orders_messages_by_time() {
            return Err(ModelError::RangesWithNodes);
        }
        check(&best).map_err(|error| ModelError::LowEnds(Box::new(error)))?;
        for ((key, lows), (_, highs)) in low.lists().into_iter().zip(self.costs.lists()) {
            if let Some((&low, &high)) = lows.iter().zip(highs).find(|(low, high)| low > high) {
                return Err(ModelError::LowAboveHigh { key, low, high });
            }
        }
        Ok(())
    }
}

/// What durations and latencies are, in the words of an error.
const ONE: &str = "a time, such as 13480 or \"3.27 ms\", or a range such as `{ low = 300, high = 320 }`";
const ONE_OR_LIST: &str =
    "a time, such as 13480 or \"3.27 ms\", a range such as `{ low = 300, high = 320 }`, or a list of these";

/// The low and the high end of every value of a list, or of one value for all of `expected` things.
pub(super) fn read(
    value: &Value<'_>,
    expected: usize,
    of: &'static str,
    quantities: &Quantities,
) -> Result<[Vec<Ticks>; 2], FileError> {
    let ends = match value.list() {
        Some(values) => {
            let values = value.listed(&values, expected, of)?;
            values.iter().map(|value| ends(value, ONE, quantities)).collect::<Result<Vec<_>, _>>()?
        }
        None => vec![ends(value, ONE_OR_LIST, quantities)?; expected],
    };
    Ok([0, 1].map(|end| ends.iter().map(|ends| ends[end]).collect()))
}

/// The two ends of a range; of a number, twice the number.
fn ends(value: &Value<'_>, or_else: &'static str, quantities: &Quantities) -> Result<[Ticks; 2], FileError> {
    let Ok(range) = value.table() else { return Ok([quantities.ticks(value, or_else)?; 2]) };
    read_range(&range, quantities)
}

fn read_range(range: &Table<'_>, quantities: &Quantities) -> Result<[Ticks; 2], FileError> {
    range.only(&["low", "high"])?;
    let (low, high) = (range.require("low")?, range.require("high")?);
    let ends = [quantities.low_end(&low)?, quantities.ticks(&high, TIME)?];
    if ends[0] > ends[1] {
        return Err(low.error(TomlProblem::Contradiction {
            key: low.key(),
            value: ends[0].to_string(),
            other: format!("`{}` is only {}: a range begins with its low end", high.key(), ends[1]),
        }));
    }
    Ok(ends)
}

/// A duration as it stands in a model file.
pub(super) fn print((&low, &high): (&Ticks, &Ticks)) -> String {
    if low == high { high.to_string() } else { format!("{{ low = {low}, high = {high} }}") }
}

#[cfg(test)]
mod tests;
