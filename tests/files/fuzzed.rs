//! What is fuzzed holds on the seeds of fuzzing and on everything that fuzzing found, without a fuzzer.

use std::path::Path;

#[path = "../../fuzz/src/lib.rs"]
mod targets;

#[test]
fn every_target_holds_on_its_seeds_and_on_what_was_found() {
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (target, holds) in targets::TARGETS {
        let seeds = targets::seeds(target, checkout);
        assert!(seeds.len() >= 40, "{target} has seeds");
        for (number, seed) in seeds.iter().enumerate() {
            // Shown when it does not hold.
            println!("{target}, seed {number}: {}", String::from_utf8_lossy(&seed[..seed.len().min(300)]));
            holds(seed);
        }
    }
}
