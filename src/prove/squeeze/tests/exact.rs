//! Makespans that are exact.

use super::*;
use crate::block::family::parse;

/// What is proved of the makespan, which replay must agree with.
fn proved(text: &str) -> String {
    let family = parse(text).expect("a family");
    let witness = Witness::of(&family, &Stop::default()).expect("regular");
    hold_against_replay(&family, &witness, 1..=13, &[1, 2, 3, 4, 7, 12]);
    let mut claims = witness.check().expect("it holds");
    let statement = claims.pop().expect("the last is about the makespan").statement;
    statement.split_once("the makespan of the squeezed order is ").expect("it says so").1.to_owned()
}

#[test]
fn the_makespan_of_1f1b_is_exact_where_the_backward_is_not_split() {
    let text = r#"
        name = "1f1b-fused"
        placement = "linear"
        interval = 3
        durations = { F = 1, I = 1, W = 1 }
        pass = [{ kind = "F", at = "i" }, { kind = "B", at = "3*d - 2 - 2*i" }]
    "#;
    assert_eq!(proved(text), "exactly 3*m + 3*d - 3");
}

/// Chunk 1 of this V splits its backward, and chunk 0 does not: of the straight path of a microbatch, the W of chunk 0 is a
/// part, and that of chunk 1 is not.
#[test]
fn no_makespan_is_said_to_be_exact_that_counts_the_w_of_a_chunk_that_splits_its_backward() {
    let text = r#"
        name = "half-split"
        placement = "v"
        interval = 12
        domain = "d mod 2 = 1"
        durations = { F = 2, I = 2, W = 2 }
        pass = [
            { kind = "F", at = "2*i" },
            { kind = "F", chunk = 1, at = "6*d - 4 - 4*i" },
            { kind = "I", chunk = 1, at = "6*d + 1 + 2*i" },
            { kind = "B", at = "12*d - 2 - 4*i" },
        ]
    "#;
    assert_eq!(makespan(&parse(text).expect("a family"), 3, 1, [2, 2, 2, 0]), 30);
    assert_eq!(proved(text), "at most 12*m + 12*d - 12; for d = 1, at most 12*m + 2");
}
