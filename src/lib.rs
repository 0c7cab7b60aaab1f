//! bubbleproof optimises and formally verifies pipeline-parallel training schedules.

pub use bubbleproof_core::{certificate, comm, model, replay, schedule};

pub mod advice;
pub mod block;
pub mod catalog;
pub mod cli;
pub mod draw;
pub mod encode;
pub mod interchange;
pub mod optimize;
pub mod prove;
pub mod regress;
pub mod smt;
pub mod stop;
pub mod trace;
