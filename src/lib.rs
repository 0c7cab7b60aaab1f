//! bubbleproof optimises and formally verifies pipeline-parallel training schedules.

pub mod block;
pub mod catalog;
pub mod certificate;
pub mod cli;
pub mod comm;
pub mod draw;
pub mod encode;
pub mod interchange;
pub mod model;
pub mod optimize;
pub mod prove;
pub mod regress;
pub mod replay;
pub mod schedule;
pub mod stop;
pub mod trace;
