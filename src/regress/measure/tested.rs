//! Promises over what is measured, compared with what was.

use super::facts::Facts;
use crate::amounts::Amounts;
use crate::regress::fact::{Place, RecordedVerdict};
use crate::regress::promise::{Measurable, Quantity};
use crate::replay::Rate;

/// The verdict about a promise over what was measured, wherever it was; of a family, at its own durations.
pub(super) fn tested(promise: &Measurable, facts: &Facts) -> (RecordedVerdict, String) {
    let mut kept: Vec<&Place> = Vec::new();
    for (place, values) in facts.runs.iter().filter(|(place, _)| place.model.is_none()) {
        let value =
            |quantity: Quantity| values.iter().find(|(other, _)| *other == quantity).map(|(_, value)| *value);
        match promise.holds(&value) {
            Some(true) => kept.push(place),
            Some(false) => {
                let spoken = promise.quantities().into_iter();
                let spoken = spoken
                    .filter_map(|(quantity, name)| Some(format!("{name} = {}", shown(quantity, &value)?)));
                let spoken = spoken.collect::<Vec<_>>().join(", ");
                let at = if *place == Place::default() { String::new() } else { format!("at {place}: ") };
                return (RecordedVerdict::Refuted, format!("{at}{spoken}"));
            }
            None => {}
        }
    }
    if kept.is_empty() {
        return (RecordedVerdict::Unknown, "nothing that it speaks of was measured".to_owned());
    }
    (RecordedVerdict::Tested, scope(&kept))
}

/// What was measured, in units of time or of memory where there are some.
fn shown(quantity: Quantity, value: &impl Fn(Quantity) -> Option<Rate>) -> Option<String> {
    let found = value(quantity)?;
    let amounts = Amounts::new(false, "ns", "byte");
    let shown = match quantity {
        Quantity::Makespan | Quantity::DeviceSpan | Quantity::Interval | Quantity::Bound => {
            value(Quantity::Nanosecond).map(|nanosecond| amounts.time(found / nanosecond))
        }
        Quantity::PeakMemory | Quantity::PeakOf1f1b => {
            value(Quantity::Byte).map(|byte| amounts.memory(found / byte))
        }
        _ => None,
    };
    Some(shown.unwrap_or_else(|| found.to_string()))
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
