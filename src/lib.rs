//! bubbleproof optimises and formally verifies pipeline-parallel training schedules.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod block;
pub mod catalog;
pub mod certificate;
pub mod draw;
pub mod encode;
pub mod interchange;
pub mod model;
pub mod optimize;
pub mod replay;
pub mod schedule;
