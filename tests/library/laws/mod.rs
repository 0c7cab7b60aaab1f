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
mod weighed;

/// Not the file of the function that is asked: then all files would be in the same part.
#[test]
fn the_file_that_asks_decides_whether_it_takes_long() {
    for part in (0..1000).map(|part| format!("{part}/1000")) {
        assert_eq!(crate::common::takes_long(Some(&part)), crate::common::is_asked(&part, file!()), "{part}");
    }
}
