//! bubbleproof optimises and formally verifies pipeline-parallel training schedules.

pub mod block;
pub mod catalog;
pub mod certificate;
pub mod cli;
pub mod encode;
pub mod model;
pub mod optimize;
pub mod replay;
pub mod schedule;
