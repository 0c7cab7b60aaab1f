//! Messages in model files, and models with messages.

use super::*;

/// The complete file, in which stages 1 and 2 share device 1 of two, with messages.
fn with_messages(links: &str) -> String {
    format!("{COMPLETE}\n[messages]\noccupancy = [5, 6, 7]\n{links}")
}

fn nodes(lists: &[&[u32]]) -> Links {
    Links::Nodes(lists.iter().map(|node| node.iter().copied().map(Device).collect()).collect())
}

#[test]
fn messages_are_read_and_printed_back() {
    let plain = parse(COMPLETE).expect("a model");
    assert_eq!(plain.messages(), None);
    assert!(!print(&plain).contains("messages"));
    let occupancy = ticks(&[5, 6, 7]);
    for (text, links, printed) in [
        ("", Links::Pair, ""),
        ("link = \"pair\"\n", Links::Pair, ""),
        ("nodes = [[1], [0]]\n", nodes(&[&[1], &[0]]), "nodes = [[1], [0]]\n"),
        ("nodes = [[0, 1]]\n", nodes(&[&[0, 1]]), "nodes = [[0, 1]]\n"),
    ] {
        let model = parse(&with_messages(text)).expect("a model");
        let messages = Messages { occupancy: occupancy.clone(), links };
        assert_eq!(model.messages(), Some(&messages));
        assert_eq!(plain.with_messages(Some(messages)), Ok(model.clone()));
        assert_eq!(model.with_messages(None), Ok(plain.clone()));
        let text = print(&model);
        assert!(text.ends_with(&format!("\n[messages]\noccupancy = [5, 6, 7]\n{printed}")), "{text}");
        assert_eq!(parse(&text), Ok(model));
    }
    let same = parse(&with_messages("").replace("[5, 6, 7]", "4")).expect("a model");
    assert_eq!(same.messages().map(|messages| messages.occupancy.clone()), Some(ticks(&[4; 3])));
    assert!(print(&same).ends_with("\n[messages]\noccupancy = 4\n"));
}

#[test]
fn a_message_is_there_after_what_it_occupies_and_its_latency() {
    let model = parse(&with_messages("")).expect("a model");
    // Stages 1 and 2 are on one device.
    assert_eq!([0, 1, 2].map(|stage| model.delay_after(Stage(stage))), [7 + 5, 0, 9 + 7].map(Ticks));
    let low = Costs { forward: ticks(&[0; 4]), ..model.costs().clone() };
    let ranges = model.with_low_ends(low).expect("low ends");
    assert!(ranges.low_ends().is_some());
    assert_eq!(ranges.with_own_links().low_ends(), None);
}

#[test]
fn every_complaint_about_messages_points_at_its_place() {
    let enough = Model::MAX_TOTAL / 6 - 3;
    let too_much = format!("occupancy = [0, 0, {enough}]");
    let cases = [
        ("occupancy = [5, 6, 7]", "", "missing key `messages.occupancy`", "[messages]"),
        ("occupancy", "bandwidth = 3\noccupancy", "unknown key `messages.bandwidth`", "bandwidth"),
        (
            "[5, 6, 7]",
            "[5, 6]",
            "`messages.occupancy` has 2 values, but there are 3 stage boundaries",
            "[5, 6]",
        ),
        ("[5, 6, 7]", "[5, -6, 7]", "`messages.occupancy[1]` must not be negative, but is -6", "-6"),
        (
            "nodes = [[0], [1]]",
            "link = \"bus\"",
            "`messages.link` must be one of pair, but is \"bus\"",
            "\"bus\"",
        ),
        (
            "nodes",
            "link = \"pair\"\nnodes",
            "`messages.link` is pair, but `nodes` says which devices share a network card; state one of the two",
            "\"pair\"",
        ),
        (
            "[[0], [1]]",
            "2",
            "`messages.nodes` must be the list of each node's devices, but is the integer 2",
            "2",
        ),
        (
            "[[0], [1]]",
            "[0, 1]",
            "`messages.nodes[0]` must be the list of a node's devices, but is the integer 0",
            "0",
        ),
        (
            "[[0], [1]]",
            "[[0], [1, 2]]",
            "`messages.nodes` lists device 2, but the devices are 0 to 1",
            "[[0], [1, 2]]",
        ),
        (
            "[[0], [1]]",
            "[[0, 1], [1]]",
            "`messages.nodes` lists device 1 twice: a device is in one node",
            "[[0, 1], [1]]",
        ),
        (
            "[[0], [1]]",
            "[[1], []]",
            "`messages.nodes` does not list device 0: every device is in a node",
            "[[1], []]",
        ),
        (
            "occupancy = [5, 6, 7]",
            too_much.as_str(),
            "the times of all passes together exceed 288230376151711744 ticks; choose a coarser unit",
            "[time]",
        ),
    ];
    for (piece, replacement, message, place) in cases {
        let text = with_messages("nodes = [[0], [1]]\n").replace(piece, replacement);
        let error = parse(&text).expect_err(replacement);
        assert_eq!((error.to_string(), &text[error.span.clone()]), (message.to_owned(), place));
    }
}

#[test]
fn messages_that_are_none_are_refused() {
    let model = parse(COMPLETE).expect("a model");
    let with =
        |occupancy: &[i64], links| model.with_messages(Some(Messages { occupancy: ticks(occupancy), links }));
    let key = "messages.occupancy";
    let length = |found| Err(ModelError::Length { key, found, expected: 3, of: "stage boundaries" });
    assert_eq!([with(&[1; 2], Links::Pair), with(&[1; 4], Links::Pair)], [length(2), length(4)]);
    assert_eq!(with(&[1, -1, 1], Links::Pair), Err(ModelError::Negative { key, value: -1 }));
    assert_eq!(with(&[i64::MAX; 3], Links::Pair), Err(ModelError::TimeOverflow));
    assert_eq!(with(&[1; 3], nodes(&[])), Err(ModelError::InNoNode(Device(0))));
}

/// The occupancies count where the stages lie on different devices, which in a V of two devices is on both sides of the
/// turn.
#[test]
fn messages_keep_the_links_busy_that_they_cross() {
    let model = parse(&with_messages("")).expect("a model");
    assert_eq!([0, 1, 2].map(|stage| model.occupancy_after(Stage(stage))), [5, 0, 7].map(Ticks));
    assert!(model.has_busy_links());
    let turn_alone = Messages { occupancy: ticks(&[0, 9, 0]), links: Links::Pair };
    let idle = model.with_messages(Some(turn_alone)).expect("messages");
    assert!(!idle.has_busy_links());
    assert_eq!(idle.beyond_passes(), None);
    assert_eq!(model.beyond_passes().map(|tables| tables.to_string()).as_deref(), Some("[messages]"));

    let apart = model.with_own_links();
    assert_eq!(apart.messages(), None);
    let latencies = |model: &Model| [0, 1, 2].map(|stage| model.latency_after(Stage(stage)).0);
    let [first, turn, last] = latencies(&model);
    assert_eq!(latencies(&apart), [first + 5, turn, last + 7]);

    // The two halves of a pipeline in two directions are no neighbours.
    let both = with_messages("").replace("\"v\"", "\"bidirectional\"");
    let both = parse(&both).expect("a model");
    assert_eq!([0, 1, 2].map(|stage| both.occupancy_after(Stage(stage))), [5, 0, 7].map(Ticks));
}

#[test]
fn nodes_share_a_card_for_what_leaves_them() {
    let placement = Placement::linear(4).expect("a placement");
    let model = Model::unit(placement, 2).expect("a model");
    let with = |links| {
        let occupancy = ticks(&[1; 3]);
        model.with_messages(Some(Messages { occupancy, links })).expect("messages")
    };
    let pair = |from, to| Link::Pair { from: Device(from), to: Device(to) };
    let shared = with(nodes(&[&[0, 1], &[3, 2]]));
    let link = |from, to| shared.link(Device(from), Device(to));
    assert_eq!([link(0, 1), link(1, 0), link(2, 3)], [pair(0, 1), pair(1, 0), pair(2, 3)]);
    assert_eq!([link(1, 2), link(0, 3)], [Link::Card { node: 0 }; 2]);
    assert_eq!([link(2, 1), link(3, 0)], [Link::Card { node: 1 }; 2]);
    assert_eq!(with(Links::Pair).link(Device(1), Device(2)), pair(1, 2));
    assert_eq!(
        [link(1, 0), link(1, 2)].map(|link| link.to_string()),
        ["device 1 to device 0", "network card of node 0"]
    );
}

#[test]
fn every_variant_of_a_model_keeps_its_messages() {
    let model = parse(&with_messages("nodes = [[0], [1]]\n")).expect("a model");
    let variants = [
        model.with_microbatches(9),
        model.with_uniform_activation_capacity(Some(Units(7))),
        model.with_costs(model.costs().clone()),
        model.with_overlap(Overlap::default()),
        model.with_step(None),
        Ok(model.without_weights()),
        model.resized(2),
    ];
    for variant in variants {
        assert_eq!(variant.expect("a model").messages(), model.messages());
    }
    let unit = Model::unit(Placement::v(2).expect("a placement"), 2).expect("a model");
    let with = |occupancy: &[i64], links| {
        unit.with_messages(Some(Messages { occupancy: ticks(occupancy), links })).expect("messages")
    };
    let larger = with(&[3; 3], Links::Pair).resized(3).expect("all boundaries are alike");
    assert_eq!(larger.messages(), Some(&Messages { occupancy: ticks(&[3; 5]), links: Links::Pair }));
    let refused = |key| Err(ModelError::NotResizable { key });
    assert_eq!(with(&[3, 3, 4], Links::Pair).resized(3), refused("messages.occupancy"));
    assert_eq!(with(&[3; 3], nodes(&[&[0], &[1]])).resized(3), refused("messages.nodes"));
}
