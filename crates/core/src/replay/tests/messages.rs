//! Messages that keep links busy.

use std::ops::Range;

use super::*;
use crate::model::{Links, Messages};

fn with_messages(model: &Model, occupancy: &[i64], links: Links) -> Model {
    let occupancy = occupancy.iter().copied().map(Ticks).collect();
    model.with_messages(Some(Messages { occupancy, links })).expect("messages")
}

/// A message by the pass that makes it, and when it keeps its link busy.
type Busy<Name> = (Name, Range<i64>);

/// By link, when each message keeps it busy.
fn busy(timing: &Timing) -> Vec<(String, Vec<Busy<String>>)> {
    let message = |(by, during): &(Pass, Range<Ticks>)| (by.to_string(), during.start.0..during.end.0);
    let link = |times: &LinkTimes| (times.link.to_string(), times.messages.iter().map(message).collect());
    timing.links.iter().map(link).collect()
}

/// What [`busy`] gives for these links.
fn times(links: &[(&str, &[Busy<&str>])]) -> Vec<(String, Vec<Busy<String>>)> {
    let message = |(by, during): &Busy<&str>| ((*by).to_owned(), during.clone());
    links
        .iter()
        .map(|(link, messages)| ((*link).to_owned(), messages.iter().map(message).collect()))
        .collect()
}

#[test]
fn a_link_sends_one_message_after_the_other_and_latency_comes_on_top() {
    let schedule = schedule(TWO, 2, &["0F0 0F1 0B0 0B1", "1F0 1B0 1F1 1B1"]);
    let model = with_costs(&schedule, |costs| costs.communication = vec![Ticks(2)]);
    let model = with_messages(&model, &[3], Links::Pair);
    let timing = replay(&model, &schedule).timing.expect("it is valid");
    // The activation of microbatch 1 is made at 2, and waits for the link until 4.
    let expected = [
        ("device 0 to device 1", &[("0F0", 1..4), ("0F1", 4..7)][..]),
        ("device 1 to device 0", &[("1B0", 9..12), ("1B1", 12..15)]),
    ];
    assert_eq!(busy(&timing), times(&expected));
    assert_eq!(timing.starts, ticks(&[&[0, 1, 14, 17], &[6, 7, 9, 10]]));
    assert_eq!(timing.metrics.makespan, Ticks(19));
    assert_eq!(timing.links.iter().map(LinkTimes::busy).collect::<Vec<_>>(), [Ticks(6); 2]);
}

#[test]
fn a_card_sends_what_leaves_its_node_in_the_order_in_which_it_is_made() {
    let lists: &[&[u32]] = &[&[0], &[1], &[2]];
    let schedule = schedule(lists, 2, &["0F0 0F1 0B0 0B1", "1F0 1F1 1B0 1B1", "2F0 2B0 2F1 2B1"]);
    // Device 1 sends to both sides, and shares its card with device 2 but not the link between the two.
    let nodes = Links::Nodes(vec![vec![Device(0)], vec![Device(1), Device(2)]]);
    let shared = with_messages(&unit(&schedule), &[4, 1], nodes);
    let timing = replay(&shared, &schedule).timing.expect("it is valid");
    let expected = [
        ("device 1 to device 2", &[("1F0", 6..7), ("1F1", 10..11)][..]),
        ("device 2 to device 1", &[("2B0", 10..11), ("2B1", 14..15)]),
        ("network card of node 0", &[("0F0", 1..5), ("0F1", 5..9)]),
        ("network card of node 1", &[("1B0", 13..17), ("1B1", 17..21)]),
    ];
    assert_eq!(busy(&timing), times(&expected));
    // If all three are nodes of their own, device 1 sends activations and gradients through one card.
    let nodes = Links::Nodes(Device::all(3).map(|device| vec![device]).collect());
    let alone = with_messages(&unit(&schedule), &[4, 4], nodes);
    let timing = replay(&alone, &schedule).timing.expect("it is valid");
    let card = &busy(&timing)[1];
    let expected = [("1F0", 6..10), ("1F1", 10..14), ("1B0", 19..23), ("1B1", 23..27)];
    assert_eq!(*card, times(&[("network card of node 1", &expected)])[0]);
}

/// With links of their own, device 0 makes its message to the other node at 1, and device 1 makes its own at 4, but lists it
/// first where passes are counted only.
#[test]
fn times_with_links_of_their_own_decide_the_order_of_a_card() {
    let lists: &[&[u32]] = &[&[1], &[0], &[2, 3]];
    let schedule =
        schedule(lists, 2, &["1F0 1F1 1B0 1B1", "0F0 0F1 0B0 0B1", "2F0 3F0 3B0 2B0 2F1 3F1 3B1 2B1"]);
    let nodes = Links::Nodes(vec![vec![Device(0), Device(1)], vec![Device(2)]]);
    let model = with_messages(&unit(&schedule), &[2, 5, 9], nodes);
    let timing = replay(&model, &schedule).timing.expect("it is valid");
    let links = busy(&timing);
    let card = links.iter().find(|(link, _)| link == "network card of node 0").expect("it sends");
    assert_eq!(card.1.iter().map(|(by, _)| by.as_str()).collect::<Vec<_>>(), ["1F0", "1F1"]);
}

#[test]
fn messages_of_a_pair_leave_at_its_end_in_the_order_of_its_passes() {
    let orders = ["0F0 0F1 3F0 3B0 3F1 3B1 0B0 0B1", "1F0 2F0 1F1 2B0 2F1 1B0 2B1 1B1"];
    let schedule = overlapped(schedule(&[&[0, 3], &[1, 2]], 2, &orders), &[&[], &[4]]);
    let model = with_messages(&unit(&schedule), &[1, 1, 2], Links::Pair);
    let timing = replay(&model, &schedule).timing.expect("it is valid");
    let expected = [
        ("device 0 to device 1", &[("0F0", 1..2), ("0F1", 2..3), ("3B0", 9..11), ("3B1", 21..23)]),
        ("device 1 to device 0", &[("2F0", 4..6), ("2F1", 16..18), ("1B0", 18..19), ("1B1", 27..28)]),
    ]
    .map(|(link, messages)| (link, &messages[..]));
    assert_eq!(busy(&timing), times(&expected));
}

#[test]
fn messages_that_occupy_nothing_pass_no_link() {
    let schedule = schedule(TWO, 2, &["0F0 0F1 0B0 0B1", "1F0 1B0 1F1 1B1"]);
    let plain = unit(&schedule);
    let with = replay(&with_messages(&plain, &[0], Links::Pair), &schedule);
    assert_eq!(with, replay(&plain, &schedule));
}

#[test]
fn orders_that_wait_for_each_other_do_so_with_messages_too() {
    let schedule = schedule(TWO, 2, &["0F0 0B0 0F1 0B1", "1F0 1F1 1B0 1B1"]);
    let plain = unit(&schedule);
    for links in [Links::Pair, Links::Nodes(vec![vec![Device(0)], vec![Device(1)]])] {
        let with = replay(&with_messages(&plain, &[3], links), &schedule);
        assert!(!with.violations.is_empty());
        assert_eq!(with, replay(&plain, &schedule));
    }
}
