//! Chrome traces of MegatronApp, a Megatron-LM whose passes are timed by CUDA events and brought to one clock.
//!
//! The file is a list of events: `forward` and `backward` begin (`ph` B) and end (`ph` E) on a `pid`, which is the pipeline
//! rank. The end says in `args` of which `iteration`, `microbatch`, `model_chunk` and `pp_rank` the pass is. A file may have
//! several runs, which `tid` tells apart; each becomes a trace of its own. Times are microseconds.

mod error;
mod event;

use std::collections::{BTreeMap, BTreeSet};

pub use self::error::MegatronError;

use self::event::{About, Event, File};
use super::Span;
use super::recording::{Recording, TimeSource};
use crate::model::{Kind, Microbatch, Pass, Stage, Ticks};
use crate::text::json::JsonError;

/// A run in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// The `tid` of its events.
    pub thread: String,
    /// What its ranks recorded, in their order.
    pub recordings: Vec<Recording>,
}

/// A pass of a rank: its iteration, its chunk and what it does.
type Key = (u32, u32, Kind, u32);

/// By rank: its passes, each with its start and its end.
type Ranks = BTreeMap<u32, Vec<(Key, Ticks, Ticks)>>;

/// Whether a text is meant to be such a file: Chrome's events as a list, or with the words by which passes are named here.
#[must_use]
pub fn is_trace(text: &str) -> bool {
    let list = text.trim_start().starts_with('[') && text.contains("\"ph\"");
    list || (text.contains("\"traceEvents\"") && text.contains("\"model_chunk\""))
}

/// Reads a file.
///
/// # Errors
/// When it is not in this form, or a run in it is not whole.
pub fn parse(text: &str) -> Result<Vec<Run>, MegatronError> {
    let list = text.trim_start().starts_with('[');
    let events = if list {
        serde_json::from_str(text)
    } else {
        serde_json::from_str(text).map(|File { events }| events)
    };
    let events: Vec<Event<'_>> = events.map_err(|error| {
        let JsonError { message, line, column } = error.into();
        MegatronError::Json { message, line, column }
    })?;
    let mut open: BTreeMap<(&str, &str, Kind), Ticks> = BTreeMap::new();
    let mut runs: BTreeMap<&str, Ranks> = BTreeMap::new();
    for event in &events {
        let Some(kind) = event.kind() else { continue };
        let lane = (event.thread(), event.process(), kind);
        let at = event.time()?;
        if event.begins() {
            if open.insert(lane, at).is_some() {
                return Err(MegatronError::Begun { event: event.place() });
            }
            continue;
        }
        let start = open.remove(&lane).ok_or_else(|| MegatronError::NotBegun { event: event.place() })?;
        if at < start {
            return Err(MegatronError::Backwards { event: event.place(), start });
        }
        let About { iteration, microbatch, chunk, rank } = event.about()?;
        let of = runs.entry(event.thread()).or_default().entry(rank).or_default();
        of.push(((iteration, chunk, kind, microbatch), start, at));
    }
    if let Some((&(_, process, kind), _)) = open.first_key_value() {
        return Err(MegatronError::NotEnded { name: event::name_of(kind), process: process.to_owned() });
    }
    if runs.is_empty() {
        return Err(MegatronError::NoPasses);
    }
    runs.into_iter().map(|(thread, ranks)| run(thread, ranks)).collect()
}

/// A run from the passes of its ranks.
fn run(thread: &str, ranks: Ranks) -> Result<Run, MegatronError> {
    whole(thread, &ranks)?;
    let count = u32::try_from(ranks.len()).unwrap_or(u32::MAX);
    let mut recordings = Vec::new();
    for (rank, passes) in ranks {
        let mut spans = Vec::new();
        for ((_, chunk, kind, microbatch), start, end) in passes {
            let stage = chunk.checked_mul(count).and_then(|stage| stage.checked_add(rank));
            let stage = stage.ok_or(MegatronError::Chunk { rank, chunk })?;
            spans.push(Span { pass: Pass::new(Stage(stage), kind, Microbatch(microbatch)), start, end });
        }
        recordings.push(Recording::new(Some(rank), TimeSource::Events, spans));
    }
    Ok(Run { thread: thread.to_owned(), recordings })
}

/// Refuses a run in which a rank is missing, or a pass is on one rank and not on another, or there twice.
fn whole(thread: &str, ranks: &Ranks) -> Result<(), MegatronError> {
    if let Some((missing, &rank)) = (0..).zip(ranks.keys()).find(|&(expected, &rank)| expected != rank) {
        return Err(MegatronError::Rank { thread: thread.to_owned(), rank, missing });
    }
    let mut there: BTreeMap<u32, BTreeSet<Key>> = BTreeMap::new();
    for (&rank, passes) in ranks {
        let of = there.entry(rank).or_default();
        if let Some(&(key, ..)) = passes.iter().find(|(key, ..)| !of.insert(*key)) {
            return Err(error_of(thread, rank, key, "there more than once"));
        }
    }
    let every: BTreeSet<Key> = there.values().flatten().copied().collect();
    let missing = there.iter().find_map(|(&rank, of)| every.difference(of).next().map(|&key| (rank, key)));
    match missing {
        Some((rank, key)) => Err(error_of(thread, rank, key, "missing")),
        None => Ok(()),
    }
}

fn error_of(thread: &str, rank: u32, key: Key, what: &'static str) -> MegatronError {
    let (iteration, chunk, kind, microbatch) = key;
    MegatronError::Pass {
        thread: thread.to_owned(),
        rank,
        iteration,
        name: event::name_of(kind),
        microbatch,
        chunk,
        what,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The events of a pass.
    fn pass(name: &str, rank: u32, chunk: u32, microbatch: u32, start: u32, end: u32) -> String {
        format!(
            r#"{{"name": "{name}", "ph": "B", "ts": {start}, "pid": {rank}, "tid": 1, "args": {{"iteration": 10}}}},
            {{"name": "{name}", "ph": "E", "ts": {end}, "pid": {rank}, "tid": 1, "args": {{"iteration": 10,
              "microbatch": {microbatch}, "model_chunk": {chunk}, "pp_rank": {rank}}}}}"#
        )
    }

    fn two_ranks() -> Vec<String> {
        let mark = r#"{"name": "iteration begin", "ph": "i", "ts": 0, "pid": 0, "tid": 1, "args": {"iteration": 10}}"#;
        let mut events = vec![mark.to_owned()];
        for (name, rank, chunk, start) in [
            ("forward", 0, 0, 0),
            ("forward", 1, 0, 10),
            ("forward", 0, 1, 20),
            ("forward", 1, 1, 30),
            ("backward", 1, 1, 40),
            ("backward", 0, 1, 50),
            ("backward", 1, 0, 60),
            ("backward", 0, 0, 70),
        ] {
            events.push(pass(name, rank, chunk, 0, start, start + 10));
        }
        events
    }

    fn text(events: &[String]) -> String {
        format!("[{}]", events.join(",\n"))
    }

    #[test]
    fn chunks_of_ranks_are_stages_and_microseconds_nanoseconds() {
        let text = text(&two_ranks());
        assert!(is_trace(&text));
        let runs = parse(&text).expect("a run");
        assert_eq!((runs.len(), runs[0].thread.as_str()), (1, "1"));
        let spans = runs[0].recordings[1].spans();
        let named: Vec<String> = spans.iter().map(|span| span.pass.to_string()).collect();
        assert_eq!(named, ["1F0", "3F0", "3B0", "1B0"]);
        assert_eq!((spans[0].start, spans[0].end), (Ticks(10_000), Ticks(20_000)));
    }

    #[test]
    fn events_that_are_no_run_are_refused_with_their_place() {
        let events = two_ranks();
        let without = |at: usize| {
            let mut events = events.clone();
            events.remove(at);
            text(&events)
        };
        let with = |from: &str, to: &str| {
            let whole = text(&events);
            let changed = whole.replacen(from, to, 1);
            assert_ne!(whole, changed, "{from}");
            changed
        };
        for (text, message) in [
            (without(2), "rank 1, iteration 10: the forward of microbatch 0 in chunk 0 is missing"),
            (
                with(r#""ph": "E""#, r#""ph": "B""#),
                "`forward` of pid 0 begins at 10 us, but an earlier one has not ended",
            ),
            (with(r#""ph": "B""#, r#""ph": "i""#), "`forward` of pid 0 ends at 10 us, but has not begun"),
            (with(r#""ts": 10"#, r#""ts": -10"#), "ends at -10 us, before it begins"),
            (with(r#""microbatch": 0,"#, ""), "`forward` of pid 0 at 10 us has no `microbatch`"),
            (
                with(
                    r#""ts": 0, "pid": 0, "tid": 1, "args": {"iteration": 10}},"#,
                    r#""pid": 0, "tid": 1}, "#,
                ),
                "",
            ),
            ("[{\"ph\": \"X\"}]".to_owned(), "has no `forward` and `backward`"),
            ("[{\"ph\": 3}]".to_owned(), "this looks like a Chrome trace of MegatronApp, but"),
        ] {
            if message.is_empty() {
                // A mark without a time is no pass.
                assert!(parse(&text).is_ok(), "{text}");
                continue;
            }
            let error = parse(&text).expect_err(message).to_string();
            assert!(error.contains(message), "{error}");
        }
        let mut twice = events.clone();
        twice.push(pass("forward", 1, 1, 0, 90, 95));
        let error = parse(&text(&twice)).expect_err("a pass that ran twice").to_string();
        assert!(
            error.contains(
                "rank 1, iteration 10: the forward of microbatch 0 in chunk 1 is there more than once"
            ),
            "{error}"
        );
        let late =
            text(&events).replace(r#""pid": 1"#, r#""pid": 2"#).replace(r#""pp_rank": 1"#, r#""pp_rank": 2"#);
        let error = parse(&late).expect_err("rank 1 is missing").to_string();
        assert!(error.contains("there is a rank 2, but no rank 1"), "{error}");
    }
}
