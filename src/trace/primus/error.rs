//! What can be wrong with the dumps of Primus.

use crate::model::{Device, Pass, PlacementError};
use crate::text::Shown;
use crate::trace::gather::GatherError;

/// Why dumps are no trace.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PrimusError {
    /// Not JSON, or not in this form.
    #[error("this looks like {form}, but {message}")]
    Json {
        /// What the file looks like.
        form: &'static str,
        /// What is wrong, without its place.
        message: String,
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
    },
    /// A key that is no iteration.
    #[error("this looks like Primus's dump of a rank, but its key `{}` is not the number of an iteration", Shown(.0))]
    Number(String),
    /// An iteration that is there more than once.
    #[error("iteration {0} is there more than once")]
    Duplicate(u32),
    /// Lists of different lengths.
    #[error("iteration {iteration}: `{key}` has {found} values, but `{other}` has {expected}")]
    Length {
        /// The iteration, as Primus counts.
        iteration: u32,
        /// The list.
        key: &'static str,
        /// How many values it has.
        found: usize,
        /// The list that it belongs to.
        other: &'static str,
        /// How many values that has.
        expected: usize,
    },
    /// A time that is none.
    #[error("iteration {iteration}: value {at} of `{key}` must be milliseconds, but is {}", Shown(.value))]
    Time {
        /// The iteration.
        iteration: u32,
        /// The list.
        key: &'static str,
        /// Which value, from 0.
        at: usize,
        /// What it is.
        value: String,
    },
    /// A pass that ends before it starts.
    #[error(
        "iteration {iteration}: value {at} of `{key}` is before that of `{other}`: a pass ends before it starts"
    )]
    Backwards {
        /// The iteration.
        iteration: u32,
        /// The list of ends.
        key: &'static str,
        /// The list of starts.
        other: &'static str,
        /// Which value, from 0.
        at: usize,
    },
    /// An amount of memory that is none.
    #[error("iteration {iteration}: `memory` must be GiB, but is {}", Shown(.value))]
    Memory {
        /// The iteration.
        iteration: u32,
        /// What it is.
        value: String,
    },
    /// A pass beyond those that the configuration allows.
    #[error(
        "rank {rank}, iteration {iteration}: value {at} of `{key}` is of microbatch {microbatch} and chunk {chunk}, which `config.json` does not have"
    )]
    Beyond {
        /// The rank.
        rank: Device,
        /// The iteration.
        iteration: u32,
        /// The list.
        key: &'static str,
        /// Which value, from 0.
        at: usize,
        /// Its microbatch.
        microbatch: u32,
        /// Its chunk.
        chunk: u32,
    },
    /// Microbatches that do not fill groups.
    #[error(
        "{microbatches} microbatches on {ranks} ranks with {chunks} chunks: without `fwd_minibatch` and `fwd_chunk` the order is Megatron's, which needs a multiple of the ranks"
    )]
    Groups {
        /// How many microbatches.
        microbatches: u32,
        /// How many ranks.
        ranks: u32,
        /// How many chunks.
        chunks: u32,
    },
    /// A pass that ran more than once.
    #[error("rank {rank}, iteration {iteration}: `{pass}` is there more than once")]
    Again {
        /// The rank.
        rank: Device,
        /// The iteration.
        iteration: u32,
        /// The pass.
        pass: Pass,
    },
    /// A pass that did not run.
    #[error("rank {rank}, iteration {iteration}: `{pass}` is missing")]
    Absent {
        /// The rank.
        rank: Device,
        /// The iteration.
        iteration: u32,
        /// The pass.
        pass: Pass,
    },
    /// Not one file for each rank.
    #[error("there are dumps of {files} ranks, but `config.json` says that the pipeline has {ranks}")]
    Ranks {
        /// How many files.
        files: usize,
        /// How many ranks.
        ranks: u32,
    },
    /// An iteration that a rank lacks.
    #[error("rank {rank} has no iteration {iteration}, but another rank has")]
    Missing {
        /// The rank.
        rank: Device,
        /// The iteration.
        iteration: u32,
    },
    /// Nothing at all.
    #[error("the dumps have no iteration")]
    Empty,
    /// Several chunks, and nothing that says on which rank the second one goes on.
    #[error("each rank has {chunks} chunks, and the dumps do not say how they are placed (looped or V)")]
    Placement {
        /// How many chunks.
        chunks: u32,
    },
    /// A pipeline that cannot be.
    #[error("`config.json` describes no pipeline: {0}")]
    NoPipeline(#[from] PlacementError),
    /// No trace all the same.
    #[error("iteration {iteration}: {error}")]
    Gather {
        /// The iteration.
        iteration: u32,
        /// Why.
        error: GatherError,
    },
}
