//! Promises over what is measured, compared with what was.

use std::collections::BTreeSet;

use super::facts::Facts;
use crate::amounts::Amounts;
use crate::regress::fact::{Place, RecordedVerdict};
use crate::regress::promise::{Measurable, Quantity};
use crate::replay::Rate;

/// The verdict about a promise over what was measured, wherever it was; of a family, at its own durations.
pub(super) fn tested(promise: &Measurable, facts: &Facts) -> (RecordedVerdict, String) {
    let measured = facts.runs.iter().flat_map(|(_, values)| values).map(|(quantity, _)| *quantity);
    let measured: BTreeSet<Quantity> = measured.collect();
    let without = |(unit, of): (Quantity, &str)| {
        (promise.has_unit(unit) && !measured.is_empty() && !measured.contains(&unit))
            .then(|| format!("the model has no unit of {of}"))
    };
    let units = [(Quantity::Nanosecond, "time"), (Quantity::Byte, "memory")];
    if let Some(why) = units.into_iter().find_map(without) {
        return (RecordedVerdict::Refuted, why);
    }
    let mut kept: Vec<&Place> = Vec::new();
    for (place, values) in facts.runs.iter().filter(|(place, _)| place.model.is_none()) {
        let value =
            |quantity: Quantity| values.iter().find(|(other, _)| *other == quantity).map(|(_, value)| *value);
        match promise.holds(&value) {
            Some(true) => kept.push(place),
            Some(false) => {
                let spoken = promise.quantities().into_iter();
                let spoken = spoken.filter_map(|(quantity, name)| {
                    Some(format!("{name} = {}", shown(promise, quantity, &value)?))
                });
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

/// What was measured, as the promise counts: with its exact amount in nanoseconds or bytes, where the promise has such units.
fn shown(
    promise: &Measurable,
    quantity: Quantity,
    value: &impl Fn(Quantity) -> Option<Rate>,
) -> Option<String> {
    let found = value(quantity)?;
    let [amounts, exact] = [false, true].map(|exact| Amounts::new(exact, "ns", "byte"));
    let base = |unit| value(unit).filter(|_| promise.has_unit(unit)).map(|base| found / base);
    let shown = match quantity {
        Quantity::Makespan | Quantity::DeviceSpan | Quantity::Interval | Quantity::Bound => {
            base(Quantity::Nanosecond).map(|time| format!("{} ({})", amounts.time(time), exact.time(time)))
        }
        Quantity::PeakMemory | Quantity::PeakOf1f1b => base(Quantity::Byte)
            .map(|memory| format!("{} ({})", amounts.memory(memory), exact.memory(memory))),
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
