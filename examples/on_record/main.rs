//! How near the engines come to what is on record: whole schedules by search, whole schedules by proof, blocks.
//!
//! For work on the engines: it prints tables and takes minutes. Tests hold what must be found.
//!
//! ```sh
//! cargo run --release --example on_record -- search                  # makespans beside the best known ones
//! cargo run --release --example on_record -- search 2                # with two threads
//! cargo run --release --example on_record -- exact                   # proofs of optimality, engine by engine
//! cargo run --release --example on_record -- exact hard 60           # those with `hard` in their name, 60 s each
//! cargo run --release --example on_record -- exact known 10 branch   # one engine
//! cargo run --release --example on_record -- blocks [STEPS]          # several microbatches per interval
//! ```

mod blocks;
mod exact;
mod search;

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.split_first() {
        Some((what, rest)) if what == "search" => search::run(rest),
        Some((what, rest)) if what == "exact" => exact::run(rest),
        Some((what, rest)) if what == "blocks" => blocks::run(rest),
        _ => {
            Err("usage: on_record search [THREADS] | exact [FILTER [SECONDS [ENGINE]]] | blocks [STEPS]"
                .into())
        }
    }
}
