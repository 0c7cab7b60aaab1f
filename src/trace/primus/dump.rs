//! The file of a rank.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::error::PrimusError;
use super::names::{Label, Names};
use crate::model::{Kind, Ticks, Units};
use crate::text::json::JsonError;
use crate::trace::Span;
use crate::trace::decimal::scaled;

/// What a rank ran, by iteration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dump {
    iterations: BTreeMap<u32, Ran>,
}

/// What a rank ran in an iteration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ran {
    lists: Vec<List>,
    pub(super) reserved: Units,
}

/// Passes of one kind, in the order of issue.
#[derive(Debug, Clone, PartialEq, Eq)]
struct List {
    key: &'static str,
    kind: Kind,
    times: Vec<(Ticks, Ticks)>,
    labels: Option<Vec<Label>>,
}

impl Dump {
    /// The numbers of its iterations.
    pub(super) fn numbers(&self) -> impl Iterator<Item = u32> {
        self.iterations.keys().copied()
    }

    /// An iteration.
    pub(super) fn iteration(&self, number: u32) -> Option<&Ran> {
        self.iterations.get(&number)
    }

    /// Whether its passes are labelled with their chunks.
    pub(super) fn says_chunks(&self) -> bool {
        self.iterations.values().flat_map(|ran| &ran.lists).any(|list| list.labels.is_some())
    }
}

impl Ran {
    /// Its passes with their names.
    pub(super) fn spans(&self, names: &Names<'_>) -> Result<Vec<Span>, PrimusError> {
        let mut spans = Vec::new();
        for List { key, kind, times, labels } in &self.lists {
            for (at, &(start, end)) in times.iter().enumerate() {
                let label = labels.as_ref().map(|labels| labels[at]);
                spans.push(Span { pass: names.pass(key, at, *kind, label)?, start, end });
            }
        }
        Ok(spans)
    }
}

/// Whether a text is meant to be such a file.
#[must_use]
pub fn is_dump(text: &str) -> bool {
    let another = text.contains("\"traceEvents\"") || text.contains("bubbleproof-trace-");
    text.trim_start().starts_with('{') && !another && text.contains("\"fwd_start\"")
}

#[derive(Deserialize)]
struct File<'a> {
    #[serde(borrow)]
    memory: &'a RawValue,
    #[serde(borrow)]
    fwd_start: Vec<&'a RawValue>,
    #[serde(borrow)]
    fwd_end: Vec<&'a RawValue>,
    #[serde(default)]
    fwd_minibatch: Vec<u32>,
    #[serde(default)]
    fwd_chunk: Vec<u32>,
    #[serde(borrow)]
    bwd_start: Vec<&'a RawValue>,
    #[serde(borrow)]
    bwd_end: Vec<&'a RawValue>,
    #[serde(default)]
    bwd_minibatch: Vec<u32>,
    #[serde(default)]
    bwd_chunk: Vec<u32>,
    #[serde(borrow, default)]
    wgrad_start: Vec<&'a RawValue>,
    #[serde(borrow, default)]
    wgrad_end: Vec<&'a RawValue>,
    #[serde(default)]
    wgrad_minibatch: Vec<u32>,
    #[serde(default)]
    wgrad_chunk: Vec<u32>,
}

/// The entries of the object in their order, so that none is lost where a key is there twice.
struct Entries<'a>(Vec<(String, File<'a>)>);

impl<'de> Deserialize<'de> for Entries<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pairs;

        impl<'de> Visitor<'de> for Pairs {
            type Value = Entries<'de>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("an object with a key for each iteration")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Entries<'de>, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = entries.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Entries(pairs))
            }
        }

        deserializer.deserialize_map(Pairs)
    }
}

/// Reads the file of a rank.
///
/// # Errors
/// When it is not in this form, or a pass in it has no place in time.
pub fn parse(text: &str) -> Result<Dump, PrimusError> {
    let Entries(entries) = serde_json::from_str(text).map_err(|error| {
        let JsonError { message, line, column } = error.into();
        PrimusError::Json { form: "Primus's dump of a rank", message, line, column }
    })?;
    let mut iterations = BTreeMap::new();
    for (key, file) in entries {
        let number = key.parse().map_err(|_| PrimusError::Number(key))?;
        if iterations.insert(number, ran(number, &file)?).is_some() {
            return Err(PrimusError::Duplicate(number));
        }
    }
    Ok(Dump { iterations })
}

fn ran(iteration: u32, file: &File<'_>) -> Result<Ran, PrimusError> {
    let split = !file.wgrad_start.is_empty();
    let backward = if split { Kind::I } else { Kind::B };
    let mut lists = Vec::new();
    for (kind, keys, starts, ends, microbatches, chunks) in [
        (Kind::F, FORWARD, &file.fwd_start, &file.fwd_end, &file.fwd_minibatch, &file.fwd_chunk),
        (backward, BACKWARD, &file.bwd_start, &file.bwd_end, &file.bwd_minibatch, &file.bwd_chunk),
        (Kind::W, WEIGHT, &file.wgrad_start, &file.wgrad_end, &file.wgrad_minibatch, &file.wgrad_chunk),
    ] {
        let same = |key, found: usize| {
            let (other, expected) = (keys[0], starts.len());
            let error = PrimusError::Length { iteration, key, found, other, expected };
            if found == expected { Ok(()) } else { Err(error) }
        };
        same(keys[1], ends.len())?;
        let labels = if microbatches.is_empty() && chunks.is_empty() {
            None
        } else {
            same(keys[2], microbatches.len())?;
            same(keys[3], chunks.len())?;
            Some(microbatches.iter().copied().zip(chunks.iter().copied()).collect())
        };
        let mut times = Vec::new();
        for (at, (start, end)) in starts.iter().zip(ends).enumerate() {
            let start = milliseconds(iteration, keys[0], at, start)?;
            let end = milliseconds(iteration, keys[1], at, end)?;
            if end < start {
                return Err(PrimusError::Backwards { iteration, key: keys[1], other: keys[0], at });
            }
            times.push((start, end));
        }
        lists.push(List { key: keys[0], kind, times, labels });
    }
    Ok(Ran { lists, reserved: gibibytes(iteration, file.memory)? })
}

/// The keys of starts, ends, microbatches and chunks.
type Keys = [&'static str; 4];

const FORWARD: Keys = ["fwd_start", "fwd_end", "fwd_minibatch", "fwd_chunk"];
const BACKWARD: Keys = ["bwd_start", "bwd_end", "bwd_minibatch", "bwd_chunk"];
const WEIGHT: Keys = ["wgrad_start", "wgrad_end", "wgrad_minibatch", "wgrad_chunk"];

/// A time of the rank's own clock, in nanoseconds.
fn milliseconds(iteration: u32, key: &'static str, at: usize, raw: &RawValue) -> Result<Ticks, PrimusError> {
    let time = scaled(raw.get(), 6).filter(|&time| time >= 0);
    time.map(Ticks).ok_or_else(|| PrimusError::Time { iteration, key, at, value: raw.get().to_owned() })
}

/// An amount in bytes, rounded half up.
fn gibibytes(iteration: u32, raw: &RawValue) -> Result<Units, PrimusError> {
    // Billionths of a GiB: reserved memory comes in multiples of 2 MiB, which have nine decimals.
    let amount = scaled(raw.get(), 9).filter(|&amount| amount >= 0).and_then(|billionths| {
        let bytes = (i128::from(billionths) * (1 << 30) + 500_000_000) / 1_000_000_000;
        i64::try_from(bytes).ok()
    });
    amount.map(Units).ok_or_else(|| PrimusError::Memory { iteration, value: raw.get().to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = r#"{"7": {"total": 9.5, "memory": 0.001953125, "fwd_start": [0.5], "fwd_end": [1.5000004],
        "bwd_start": [2], "bwd_end": [4]}}"#;

    #[test]
    fn times_and_memory_are_read_as_they_are_written() {
        let dump = parse(WHOLE).expect("a dump");
        let ran = dump.iteration(7).expect("an iteration");
        assert_eq!(ran.reserved, Units(2 << 20));
        assert_eq!(ran.lists[0].times, [(Ticks(500_000), Ticks(1_500_000))]);
        assert_eq!(ran.lists[1].kind, Kind::B);
        assert!(!dump.says_chunks());
    }

    #[test]
    fn weight_gradients_of_their_own_split_the_backward() {
        let labels = r#""fwd_minibatch": [0], "fwd_chunk": [1], "wgrad_start": [5], "wgrad_end": [6]"#;
        let dump = parse(&WHOLE.replace(r#""bwd_end""#, &format!(r#"{labels}, "bwd_end""#))).expect("a dump");
        let kinds: Vec<Kind> = dump.iteration(7).expect("one").lists.iter().map(|list| list.kind).collect();
        assert_eq!(kinds, [Kind::F, Kind::I, Kind::W]);
        assert!(dump.says_chunks());
    }

    #[test]
    fn damaged_dumps_are_refused_with_their_place() {
        for (from, to, message) in [
            (r#""7""#, r#""seven""#, "its key `seven` is not the number of an iteration"),
            ("[1.5000004]", "[]", "iteration 7: `fwd_end` has 0 values, but `fwd_start` has 1"),
            ("[1.5000004]", "[0.25]", "value 0 of `fwd_end` is before that of `fwd_start`"),
            ("[0.5]", "[-0.5]", "value 0 of `fwd_start` must be milliseconds, but is -0.5"),
            ("[2]", r#"["2"]"#, "value 0 of `bwd_start` must be milliseconds, but is \"2\""),
            ("0.001953125", "null", "iteration 7: `memory` must be GiB, but is null"),
            (
                r#", "bwd_end": [4]"#,
                "",
                "this looks like Primus's dump of a rank, but missing field `bwd_end`",
            ),
            (r#""bwd_start""#, r#""bwd_chunk": [0, 0], "bwd_start""#, "`bwd_minibatch` has 0 values"),
            (
                "}}",
                r#"}, "7": {"memory": 0, "fwd_start": [], "fwd_end": [], "bwd_start": [], "bwd_end": []}}"#,
                "iteration 7 is there more than once",
            ),
        ] {
            let text = WHOLE.replace(from, to);
            assert_ne!(text, WHOLE, "{from}");
            let error = parse(&text).expect_err(to).to_string();
            assert!(error.contains(message), "{error}");
        }
    }
}
