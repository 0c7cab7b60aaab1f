//! What became of a design since its record was accepted.

use std::collections::BTreeMap;

use itertools::Itertools;

use super::change::{Change, Severity};
use super::fact::{Fact, Key, Place, RecordedVerdict, Value, What};
use super::figures::Figures;
use super::moved;
use super::record::Record;
use super::threshold::{Allowance, Allowances, Metric};
use crate::replay::Rate;

/// Everything that is not as it was recorded, the worst first.
#[must_use]
pub fn compare(old: &Record, new: &Record, allow: &Allowances) -> Vec<Change> {
    let comparison = Comparison { old, new, allow, recorded: by_key(old), found: by_key(new) };
    let mut changes = Vec::new();
    for fact in &new.facts {
        match comparison.recorded.get(&fact.key) {
            Some(recorded) => {
                changes.extend(comparison.both(fact, recorded).map(|change| change.about(&fact.key.what)));
            }
            None => changes.extend(comparison.only_new(fact).map(|change| change.about(&fact.key.what))),
        }
    }
    changes.extend(old.facts.iter().filter(|fact| !comparison.found.contains_key(&fact.key)).filter_map(
        |fact| match &fact.key.what {
            // Without a block nothing can be said of its order.
            What::Theorem(_) if !comparison.is_block() => None,
            What::Theorem(name) => Some(Comparison::withdrawn("theorem", name).about(&fact.key.what)),
            What::Promise(name) => Some(Comparison::withdrawn("promise", name).about(&fact.key.what)),
            _ => None,
        },
    ));
    changes.extend(comparison.coverage());
    changes.extend(moved::offsets(old, new));
    changes.sort_by_key(|change| (change.severity, rank(&change.topic)));
    changes
}

/// Topics in the order in which they explain each other.
fn rank(topic: &str) -> usize {
    const ORDER: [&str; 15] = [
        "theorem",
        "promise",
        "invalid",
        "communication",
        "interval",
        "peak_memory",
        "makespan",
        "device_span",
        "bubble_rate",
        "lower_bound",
        "coverage",
        "moved",
        "order",
        "lifespans",
        "gap",
    ];
    ORDER.iter().position(|other| *other == topic).unwrap_or(ORDER.len())
}

fn by_key(record: &Record) -> BTreeMap<&Key, &Value> {
    record.facts.iter().map(|fact| (&fact.key, &fact.value)).collect()
}

struct Comparison<'a> {
    old: &'a Record,
    new: &'a Record,
    allow: &'a Allowances,
    recorded: BTreeMap<&'a Key, &'a Value>,
    found: BTreeMap<&'a Key, &'a Value>,
}

impl Comparison<'_> {
    fn both(&self, fact: &Fact, recorded: &Value) -> Option<Change> {
        let Fact { key: Key { place, what }, value } = fact;
        if let (What::Promise(_), Value::Verdict(RecordedVerdict::Refuted, _)) = (what, value) {
            return self.verdict(place, what, Some(recorded), value);
        }
        if value == recorded {
            return None;
        }
        match (what, recorded, value) {
            (What::Valid, ..) => Some(self.truth(place, "invalid", "", "valid again", value)),
            (What::Communication, ..) => {
                let (bad, good) =
                    ("its sends and receives are not safe any more", "its sends and receives are safe now");
                Some(self.truth(place, "communication", bad, good, value))
            }
            (What::Theorem(_) | What::Promise(_), ..) => self.verdict(place, what, Some(recorded), value),
            (_, Value::Integer(old), Value::Integer(new)) => {
                self.figure(place, what, Rate::from_integer((*old).into()), Rate::from_integer((*new).into()))
            }
            (_, Value::Fraction(old), Value::Fraction(new)) => self.figure(place, what, *old, *new),
            (What::PeakMemory | What::Lifespans, Value::Integers(old), Value::Integers(new)) => {
                Some(self.figures(place, what, old, new))
            }
            (What::Order, Value::Passes(old), Value::Passes(new)) => Some(moved::order(place, old, new)),
            // These are printed with the facts that they explain, or all together.
            (What::Why | What::Counterexample(_) | What::Drawing(_) | What::Offsets | What::Formulas, ..) => {
                None
            }
            _ => {
                let mut change = Change::of(Severity::Changed, "statement", place, format!("{what} changed"));
                change.details = vec![format!("now: {value}"), format!("was: {recorded}")];
                change.values = Some((recorded.to_string(), value.to_string()));
                Some(change)
            }
        }
    }

    /// A change in whether the design is valid, or its communication safe.
    fn truth(&self, place: &Place, topic: &str, bad: &str, good: &str, value: &Value) -> Change {
        if *value == Value::Truth(true) {
            return Change::of(Severity::Better, topic, place, good.to_owned());
        }
        let message = match self.new.get(place, &What::Why) {
            Some(why) if bad.is_empty() => why.to_string(),
            Some(why) => format!("{bad}: {why}"),
            None => bad.to_owned(),
        };
        Change::of(Severity::Worse, topic, place, message)
    }

    fn verdict(&self, place: &Place, what: &What, recorded: Option<&Value>, value: &Value) -> Option<Change> {
        let (Value::Verdict(found, rest), What::Theorem(name) | What::Promise(name)) = (value, what) else {
            return None;
        };
        let before = match recorded {
            Some(Value::Verdict(before, _)) => Some(*before),
            _ => None,
        };
        let is_promise = matches!(what, What::Promise(_));
        let topic = if is_promise { "promise" } else { "theorem" };
        let severity = match (before, *found) {
            (_, RecordedVerdict::Refuted) => Severity::Worse,
            (Some(_), RecordedVerdict::Undecided) => Severity::Undecided,
            (Some(before), found) if found < before => Severity::Worse,
            (Some(before), found) if found > before => Severity::Better,
            _ => Severity::Changed,
        };
        let quoted = if is_promise { format!("`{name}`") } else { name.clone() };
        let word = if is_promise && *found == RecordedVerdict::Refuted { "broken" } else { found.word() };
        let rest = if rest.is_empty() { String::new() } else { format!(" ({rest})") };
        let was = match before {
            Some(before) if before != *found => format!(", was {}", before.word()),
            Some(_) | None => String::new(),
        };
        let mut change = Change::of(severity, topic, place, format!("{quoted}: {word}{rest}{was}"));
        if *found == RecordedVerdict::Refuted {
            for what in [What::Counterexample(name.clone()), What::Drawing(name.clone())] {
                change.details.extend(self.new.get(place, &what).map(ToString::to_string));
            }
        }
        change.values = before.map(|before| (before.word().to_owned(), found.word().to_owned()));
        Some(change)
    }

    fn figure(&self, place: &Place, what: &What, old: Rate, new: Rate) -> Option<Change> {
        let metric = match what {
            What::Interval => Metric::Interval,
            What::Makespan => Metric::Makespan,
            What::DeviceSpan => Metric::DeviceSpan,
            What::BubbleRate => Metric::BubbleRate,
            What::Gap => Metric::Gap,
            What::LowerBound | What::IntervalBound => Metric::LowerBound,
            _ => return None,
        };
        // A bound on another problem, or with other memory, is another bound.
        let comparable = metric != Metric::LowerBound || self.is_same_problem(place);
        let better = if metric == Metric::LowerBound { new > old } else { new < old };
        let severity = match (comparable, better) {
            (false, _) => Severity::Changed,
            (true, true) => Severity::Better,
            (true, false) if self.allow.permit(metric, old, new) => Severity::Changed,
            (true, false) => Severity::Worse,
        };
        let allowance = self.allow.of(metric);
        let is_permitted = severity == Severity::Changed && comparable && allowance != Allowance::Any;
        let allowed = is_permitted.then_some(allowance);
        let figures = Figures { metric, position: None, before: old, after: new, others: 0, allowed };
        let message = figures.in_words(|value| value.to_string());
        let mut change = Change::of(severity, &what.to_string(), place, message);
        change.values = Some((old.to_string(), new.to_string()));
        change.figures = Some(figures);
        Some(change)
    }

    fn is_same_problem(&self, place: &Place) -> bool {
        let same = |place: &Place, what: What| self.old.get(place, &what) == self.new.get(place, &what);
        let of_family = Place { microbatches: None, ..place.clone() };
        same(&Place::default(), What::Problem)
            && same(place, What::PeakMemory)
            && same(&of_family, What::PeakMemory)
    }

    /// One figure for each of several devices or stages.
    fn figures(&self, place: &Place, what: &What, old: &[i64], new: &[i64]) -> Change {
        let (metric, one) = match what {
            What::PeakMemory => (Metric::PeakMemory, "device"),
            _ => (Metric::Lifespan, "chunk"),
        };
        let rate = |value: i64| Rate::from_integer(value.into());
        let pairs = || old.iter().zip(new).enumerate();
        let grown = pairs().filter(|(_, (old, new))| new > old).collect_vec();
        let shrunk = pairs().filter(|(_, (old, new))| new < old).collect_vec();
        let kept = old.len() == new.len()
            && grown.iter().all(|(_, (old, new))| self.allow.permit(metric, rate(**old), rate(**new)));
        let severity = match (kept, grown.is_empty()) {
            (false, _) => Severity::Worse,
            (true, true) if metric == Metric::PeakMemory => Severity::Better,
            (true, _) => Severity::Changed,
        };
        let told = if severity == Severity::Better || grown.is_empty() { &shrunk } else { &grown };
        let most =
            told.iter().max_by_key(|(position, (old, new))| ((*new - *old).abs(), usize::MAX - position));
        let figures = most.map(|(position, (old, new))| Figures {
            metric,
            position: Some(*position),
            before: rate(**old),
            after: rate(**new),
            others: told.len() - 1,
            allowed: None,
        });
        let message = figures.map_or_else(
            || format!("{} {one}s, were {}", new.len(), old.len()),
            |figures| figures.in_words(|value| value.to_string()),
        );
        let mut change = Change::of(severity, &what.to_string(), place, message);
        change.figures = figures;
        let list = |values: &[i64]| values.iter().join(" ");
        change.values = Some((list(old), list(new)));
        change
    }

    /// What was never recorded, as far as it is bad in itself.
    fn only_new(&self, fact: &Fact) -> Option<Change> {
        let Fact { key: Key { place, what }, value } = fact;
        match (what, value) {
            (What::Theorem(_) | What::Promise(_), _) => self.verdict(place, what, None, value),
            (What::Valid, Value::Truth(false)) => Some(self.truth(place, "invalid", "", "", value)),
            (What::Communication, Value::Truth(false)) => {
                let bad = "its sends and receives are not safe";
                Some(self.truth(place, "communication", bad, "", value))
            }
            _ => None,
        }
    }

    /// Whether nothing that makes a block is refuted.
    fn is_block(&self) -> bool {
        ["room", "dependencies", "collisions"].iter().all(|name| {
            let theorem = self.new.get(&Place::default(), &What::Theorem((*name).to_owned()));
            !matches!(theorem, Some(Value::Verdict(RecordedVerdict::Refuted, _)))
        })
    }

    fn withdrawn(topic: &str, name: &str) -> Change {
        let message = if topic == "promise" {
            format!("`{name}` is not promised any more")
        } else {
            format!("{name}: not stated any more")
        };
        Change::of(Severity::Worse, topic, &Place::default(), message)
    }

    /// Places that were measured and are not any more, and those that are new.
    fn coverage(&self) -> Vec<Change> {
        let places = |of: &Record, other: &BTreeMap<&Key, &Value>| -> Vec<(Place, Vec<String>)> {
            let mut lost: Vec<(Place, Vec<String>)> = Vec::new();
            for Fact { key, .. } in &of.facts {
                let is_figure = !matches!(
                    key.what,
                    What::Why
                        | What::Theorem(_)
                        | What::Claim(_)
                        | What::Counterexample(_)
                        | What::Drawing(_)
                        | What::Promise(_)
                );
                if !is_figure || other.contains_key(key) {
                    continue;
                }
                let (place, name) = (key.place.of_all_devices(), key.what.to_string());
                match lost.iter_mut().find(|(other, _)| *other == place) {
                    Some((_, names)) if names.contains(&name) => {}
                    Some((_, names)) => names.push(name),
                    None => lost.push((place, vec![name])),
                }
            }
            lost
        };
        let mut changes = Vec::new();
        for (place, names) in places(self.old, &self.found) {
            // What is not valid there has no figures.
            if !is_invalid(self.new, &place) {
                let message = format!("not measured any more: {}", names.join(", "));
                changes.push(Change::of(Severity::Worse, "coverage", &place, message));
            }
        }
        for (place, names) in places(self.new, &self.recorded) {
            if !is_invalid(self.old, &place) && !is_invalid(self.new, &place) {
                let message = format!("measured for the first time: {}", names.join(", "));
                changes.push(Change::of(Severity::Changed, "coverage", &place, message));
            }
        }
        changes
    }
}

/// Whether a record says that the design is not valid there, or for all numbers of microbatches there.
fn is_invalid(record: &Record, place: &Place) -> bool {
    let of_devices = Place { model: None, microbatches: None, ..place.clone() };
    let of_model = Place { model: None, ..place.clone() };
    [place, &of_devices, &of_model]
        .iter()
        .any(|place| record.get(place, &What::Valid) == Some(&Value::Truth(false)))
}
