//! What can be wrong with a Chrome trace of MegatronApp.

use crate::model::Ticks;
use crate::text::Shown;

/// An event as errors name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Its name.
    pub name: &'static str,
    /// Its `pid`, as written.
    pub process: String,
    /// Its `ts`, as written.
    pub at: String,
}

impl std::fmt::Display for Place {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "`{}` of pid {}", self.name, Shown(&self.process))
    }
}

/// Why a text is no such trace.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MegatronError {
    /// Not JSON, or not events.
    #[error("this looks like a Chrome trace of MegatronApp, but {message}")]
    Json {
        /// What is wrong, without its place.
        message: String,
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
    },
    /// An event without a time.
    #[error("{event} has no `ts` in microseconds")]
    Time {
        /// The event.
        event: Place,
    },
    /// A pass that begins while another one of its kind runs.
    #[error("{event} begins at {} us, but an earlier one has not ended", Shown(&.event.at))]
    Begun {
        /// The event.
        event: Place,
    },
    /// An end without a begin.
    #[error("{event} ends at {} us, but has not begun", Shown(&.event.at))]
    NotBegun {
        /// The event.
        event: Place,
    },
    /// A pass that does not end.
    #[error("the last `{name}` of pid {} does not end", Shown(.process))]
    NotEnded {
        /// Its name.
        name: &'static str,
        /// Its `pid`, as written.
        process: String,
    },
    /// A pass that ends before it begins.
    #[error("{event} ends at {} us, before it begins, at {start} ns", Shown(&.event.at))]
    Backwards {
        /// The end.
        event: Place,
        /// The begin.
        start: Ticks,
    },
    /// An end that does not say of which pass it is.
    #[error("{event} at {} us has no `{key}` in `args`", Shown(&.event.at))]
    Unlabelled {
        /// The event.
        event: Place,
        /// What is missing.
        key: &'static str,
    },
    /// No pass at all.
    #[error(
        "this looks like a Chrome trace, but has no `forward` and `backward` that begin and end (`ph` B and E), as MegatronApp's have"
    )]
    NoPasses,
    /// A rank that is missing.
    #[error("tid {}: there is a rank {rank}, but no rank {missing}", Shown(.thread))]
    Rank {
        /// The run.
        thread: String,
        /// The first rank after the missing one.
        rank: u32,
        /// The missing one.
        missing: u32,
    },
    /// A pass that is missing, or there twice.
    #[error("tid {}, rank {rank}, iteration {iteration}: the {name} of microbatch {microbatch} in chunk {chunk} is {what}", Shown(.thread))]
    Pass {
        /// The run.
        thread: String,
        /// The rank.
        rank: u32,
        /// The iteration.
        iteration: u32,
        /// What the pass does.
        name: &'static str,
        /// Its microbatch.
        microbatch: u32,
        /// Its chunk.
        chunk: u32,
        /// What is wrong.
        what: &'static str,
    },
    /// More stages than can be counted.
    #[error("rank {rank} has a chunk {chunk}, which makes more stages than are supported")]
    Chunk {
        /// The rank.
        rank: u32,
        /// The chunk.
        chunk: u32,
    },
}
