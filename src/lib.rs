//! bubbleproof optimises and formally verifies pipeline-parallel training schedules.
//!
//! Load a model, optimise a schedule for it, verify, check, export:
//!
//! ```
//! use bubbleproof::interchange::pytorch;
//! use bubbleproof::model::Units;
//! use bubbleproof::optimize::{Options, optimize};
//! use bubbleproof::{certificate, lowering, model, replay, schedule};
//!
//! let model = model::parse(&std::fs::read_to_string("models/profiles/uneven-342.toml")?)?;
//! let model = model.resized(3)?.with_microbatches(6)?.with_uniform_capacity(Units(5))?;
//! let solution = optimize(&model, &Options::default(), &mut |_| ())?;
//! assert!(replay::replay(&model, &solution.schedule).is_valid());
//! let checked = certificate::check(&solution.schedule, Some(&model))?;
//! println!("{} ticks; no schedule takes less than {}", solution.value(), solution.lower_bound());
//! assert!(checked.claims.iter().any(|claim| claim.is_checked()));
//! let csv = pytorch::print_plan(&lowering::lower(&solution.schedule)?)?;
//! schedule::write(&solution.schedule, &mut std::io::sink())?;
//! # assert!(csv.contains("SEND_F"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`catalog`], [`optimize`] and whoever writes a file propose schedules. [`replay`], [`comm`] and [`certificate`]
//! decide what is true of them; these are part of the crate `bubbleproof-core` and share no code with what proposes.
//! [`prove`] decides properties for every number of devices and of microbatches.
//!
//! Features: `cli` is the command-line tool, `lcg` and `milp` are solvers in pure Rust, `highs` makes integer programs
//! faster and needs a C++ compiler, `store` keeps results of plans in SQLite and needs a C compiler. SMT solvers ([`smt`]) are
//! programs, found when they are needed.

pub use bubbleproof_core::{certificate, comm, job, model, replay, schedule, tasks, text};

pub mod advice;
pub mod amounts;
pub mod analysis;
pub mod block;
pub mod bounds;
pub mod catalog;
#[cfg(feature = "cli")]
pub mod cli;
pub mod draw;
pub mod encode;
pub mod estimate;
pub mod fault;
pub mod files;
pub mod interchange;
mod job_text;
pub mod kernel;
pub mod limit;
pub mod lowering;
pub mod optimize;
pub mod parallel;
pub mod plan;
pub mod prove;
pub mod regress;
mod rise;
pub mod smt;
pub mod stop;
pub mod store;
pub mod trace;
pub mod transformer;
