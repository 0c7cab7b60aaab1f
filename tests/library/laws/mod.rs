//! Laws of the foundation, on random pipelines, schedules and blocks.
//!
//! What the laws compare with is stated here anew, as plainly as possible and without a thought for
//! speed: `naive` runs orders and counts memory.

mod agreement;
mod blocks;
mod bounds;
mod every_m;
mod every_order;
mod exact_memory;
mod executor;
mod files;
mod gains;
mod known_bounds;
mod large;
mod levels;
mod memory;
mod naive;
mod optimising;
mod overlap;
mod pinned_bounds;
mod random;
mod reordering;
mod slack;
