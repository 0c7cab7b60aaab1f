//! What can be wrong with the file of a rank.

use std::ops::Range;

/// Why a text is not a recording.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProfilerError {
    /// Not JSON, or not in the form of Chrome's traces.
    #[error("{message}")]
    Json {
        /// What is wrong, without its place.
        message: String,
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
    },
    /// A range of the runtime that is no action of a pipeline.
    #[error("`{name}` is not an action of PyTorch's pipeline runtime")]
    Action {
        /// Its name.
        name: String,
        /// Its place.
        span: Range<usize>,
    },
    /// A range over two passes.
    #[error("`{0}` is an overlapped pair: its two passes are not timed apart")]
    Overlap(String),
    /// A time that is none.
    #[error("`{key}` of `{name}` must be microseconds, but is {value}")]
    Time {
        /// The key.
        key: &'static str,
        /// The name of the event.
        name: String,
        /// What it is.
        value: String,
        /// Its place.
        span: Range<usize>,
    },
    /// An event that lacks a time.
    #[error("`{name}` has no `{key}`")]
    NoTime {
        /// The key.
        key: &'static str,
        /// The name of the event.
        name: String,
    },
    /// An event that ends beyond what can be counted.
    #[error("`{name}` ends later than can be counted: its `dur` is {value}")]
    End {
        /// The name of the event.
        name: String,
        /// Its duration, as written.
        value: String,
        /// The place of that.
        span: Range<usize>,
    },
    /// Kernels that are of no pass.
    #[error(
        "there are kernels in this file, but none that a `cuda_runtime` or `cuda_driver` event within a pass launched"
    )]
    NoLaunches,
    /// No passes at all.
    #[error(
        "there is no range such as `PP:0F0` in this file: it was not recorded from PyTorch's pipeline runtime"
    )]
    NoPasses,
}
