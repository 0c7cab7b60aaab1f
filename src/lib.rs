//! bubbleproof optimises and formally verifies pipeline-parallel training schedules.

pub mod block;
pub mod catalog;
pub mod cli;
pub mod model;
pub mod replay;
pub mod schedule;
