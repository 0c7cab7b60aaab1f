//! bubbleproof optimises and formally verifies pipeline-parallel training schedules.

pub use bubbleproof_core::{certificate, comm, model, replay, schedule};

pub mod advice;
pub mod analysis;
pub mod block;
pub mod catalog;
#[cfg(feature = "cli")]
pub mod cli;
pub mod draw;
pub mod encode;
pub mod files;
pub mod interchange;
pub mod kernel;
pub mod optimize;
pub mod prove;
pub mod regress;
pub mod smt;
pub mod stop;
pub mod trace;
