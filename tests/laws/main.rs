//! Laws of the foundation, on random pipelines, schedules and blocks.
//!
//! What the laws compare with is stated here anew, as plainly as possible and without a thought for
//! speed: `naive` runs orders and counts memory.

mod blocks;
mod bounds;
mod executor;
mod files;
mod known_bounds;
mod memory;
mod naive;
mod optimising;
mod random;
mod reordering;
