//! What the core holds itself to, quickly: laws on random problems, against programs that share nothing with it but
//! definitions; and everything that it says of a corpus and of random problems, pinned, so that no change of it goes
//! unseen. The laws here are those that are fuzzed; `fuzz/` says what they are.

// The laws are written for users of the whole library, which hands the core on.
extern crate bubbleproof_core as bubbleproof;

#[path = "../../../../fuzz/src/beyond.rs"]
mod beyond;
#[path = "../../../../fuzz/src/certificates.rs"]
mod certificates;
#[path = "../../../../fuzz/src/choices.rs"]
mod choices;
mod corpus;
mod directions;
mod edges;
#[path = "../../../../fuzz/src/execution.rs"]
mod execution;
#[path = "../../../../fuzz/src/held.rs"]
mod held;
mod jobs;
#[path = "../../../../fuzz/src/machine.rs"]
mod machine;
#[path = "../../../../fuzz/src/machines.rs"]
mod machines;
mod memory;
mod messages;
#[path = "../../../../tests/library/laws/naive.rs"]
mod naive;
mod occupied;
mod offload;
mod overlap;
mod pair;
mod parts;
mod pins;
#[path = "../../../../fuzz/src/plans.rs"]
mod plans;
#[path = "../../../../fuzz/src/problems.rs"]
mod problems;
mod ranges;
mod recompute;
mod recompute_bounds;
mod row;
#[path = "../../../../tests/files/communication/runtime.rs"]
mod runtime;
mod sharding;
mod step;

/// A row of random choices (splitmix64), of which longer ones make larger problems.
fn random(seed: u64, length: u64) -> Vec<u8> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB).to_be_bytes()[0]
    };
    (0..length).map(|_| next()).collect()
}

/// Each input is the beginning of another row; what comes after it takes the first possibility.
fn hold(law: fn(&[u8]), count: u64) {
    for seed in 0..count {
        law(&random(seed, 24 + seed % 200));
    }
}

#[test]
fn replay_is_what_a_naive_executor_says() {
    hold(execution::execution, 500);
}

#[test]
fn replay_is_what_a_naive_machine_says_and_no_bound_is_above_it() {
    hold(machines::machines, 1000);
}

#[test]
fn plans_that_are_accepted_end_with_the_right_gradients() {
    hold(plans::plans, 500);
}

#[test]
fn no_certificate_is_accepted_that_some_order_contradicts() {
    hold(certificates::certificates, 250);
}

#[test]
fn certificates_of_models_with_every_table_are_accepted() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/corpus/certificates");
    let mut checked = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let text = std::fs::read_to_string(&path).expect("a text");
        let schedule = bubbleproof::schedule::parse(&text).expect("a schedule");
        let found = bubbleproof::certificate::check(&schedule, None);
        checked.push(found.unwrap_or_else(|error| panic!("{}: {error}", path.display())).problem);
    }
    let tables: Vec<&str> = checked
        .iter()
        .filter_map(bubbleproof::model::Model::beyond_passes)
        .flat_map(|beyond| beyond.tables().to_vec())
        .collect();
    for table in ["[overlap]", "[messages]", "[step]", "`memory.workspace`", "`memory.receive`"] {
        assert!(tables.contains(&table), "{table}");
    }
    assert!(checked.iter().any(|problem| problem.low_ends().is_some()));
}
