//! What can be wrong with the file of a rank.

use std::ops::Range;

use crate::text::Shown;

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
    #[error("`{}` is not an action of PyTorch's pipeline runtime", Shown(.name))]
    Action {
        /// Its name.
        name: String,
        /// Its place.
        span: Range<usize>,
    },
    /// A range over two passes.
    #[error("`{}` is an overlapped pair: its two passes are not timed apart", Shown(.0))]
    Overlap(String),
    /// A time that is none.
    #[error("`{key}` of `{}` must be microseconds, but is {}", Shown(.name), Shown(.value))]
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
    #[error("`{}` has no `{key}`", Shown(.name))]
    NoTime {
        /// The key.
        key: &'static str,
        /// The name of the event.
        name: String,
    },
    /// An event that ends beyond what can be counted.
    #[error("`{}` ends later than can be counted: its `dur` is {}", Shown(.name), Shown(.value))]
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
