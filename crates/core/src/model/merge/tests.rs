//! Merges, computed by hand and tried out one by one.

use super::*;
use crate::model::PartResource::{self, Communication, Compute};

fn parts(list: &[(PartResource, i64, &[usize])]) -> Vec<Part> {
    let part = |(position, &(on, duration, needs)): (usize, &(PartResource, i64, &[usize]))| Part {
        name: position.to_string(),
        on,
        duration: Ticks(duration),
        needs: needs.to_vec(),
    };
    list.iter().enumerate().map(part).collect()
}

/// The merge as a text: one letter for each part.
fn merged(forward: &[Part], backward: &[Part]) -> (i64, String) {
    let Merge { duration, is_forward } =
        quickest(forward, backward, &mut 1_000_000).expect("few comparisons");
    (duration.0, is_forward.iter().map(|&is_forward| if is_forward { 'f' } else { 'b' }).collect())
}

#[test]
fn a_merge_lets_each_pass_hide_what_the_other_one_waits_for() {
    // The long message of the forward has to be first: 1 + 10 + 1, and compute is 1 + 10.
    let forward = parts(&[(Compute, 1, &[]), (Communication, 10, &[0])]);
    let backward = parts(&[(Compute, 10, &[]), (Communication, 1, &[0])]);
    assert_eq!(merged(&forward, &backward), (12, "fbfb".to_owned()));
    assert_eq!(merged(&backward, &forward), (12, "bbff".to_owned()));
    // Nothing hides.
    assert_eq!(merged(&parts(&[(Compute, 3, &[])]), &parts(&[(Compute, 4, &[])])), (7, "bf".to_owned()));
    // All hides.
    assert_eq!(
        merged(&parts(&[(Compute, 3, &[])]), &parts(&[(Communication, 4, &[])])),
        (4, "bf".to_owned())
    );
    // What takes no time waits all the same: the compute part comes after the message, 5 + 2.
    let nothing = parts(&[(Communication, 5, &[]), (Communication, 0, &[0]), (Compute, 2, &[1])]);
    assert_eq!(merged(&parts(&[(Compute, 5, &[])]), &nothing).0, 7);
}

#[test]
fn ends_are_kept_while_a_part_of_the_other_resource_needs_them() {
    let list = parts(&[
        (Compute, 1, &[]),
        (Communication, 1, &[]),
        (Compute, 1, &[0]),
        (Communication, 1, &[0, 1]),
        (Compute, 1, &[1]),
    ]);
    let awaited: [&[usize]; 6] = [&[], &[0], &[0, 1], &[0, 1], &[1], &[]];
    assert_eq!(List::new(&list).awaited, awaited);
}

#[test]
fn no_more_is_compared_than_there_is_left() {
    let forward = parts(&[(Compute, 1, &[]), (Communication, 10, &[0])]);
    let backward = parts(&[(Compute, 10, &[]), (Communication, 1, &[0])]);
    let mut left = 1000;
    assert!(quickest(&forward, &backward, &mut left).is_some());
    let enough = 1000 - left;
    assert!(quickest(&forward, &backward, &mut enough.clone()).is_some());
    assert_eq!(quickest(&forward, &backward, &mut (enough - 1)), None);
    // Of one part each: the two times of a beginning against nothing, for either part alone and for the first merge of both;
    // the second merge with the first one, either way.
    let one = parts(&[(Compute, 1, &[])]);
    let mut left = 12;
    assert!(quickest(&one, &one, &mut left).is_some());
    assert_eq!(left, 0);
}
