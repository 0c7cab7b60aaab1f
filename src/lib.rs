//! bubbleproof optimises and formally verifies pipeline-parallel training schedules.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod block;
pub mod encode;
pub mod model;
pub mod replay;
pub mod schedule;
