//! The pair as a model file gives it: the parts of the forward and of the backward, each in the order in which the host launched
//! them, on the two resources. Replay of the pair takes the best merge of the two orders.

use std::fmt::Write as _;

use bubbleproof_core::model::{self, Kind, Launched, Model, Stage};

use super::{COMMUNICATION, Part, Prediction, RESOURCES, alone, elapsed, needed, parts, search};

/// A model with the pair, by its parts. What a backward does beside its chain is that of W.
pub fn model(parts: &[Part]) -> Model {
    let [forward, backward] = [true, false].map(|forward| alone(parts, forward).1);
    let mut text = format!(
        "name = \"pair\"\npipeline = {{ devices = 1, placement = \"linear\", microbatches = 2 }}\n\
         [time]\nunit = \"us\"\nforward = {forward}\nbackward_input = {backward}\nbackward_weight = 0\n\
         [[overlap.parts]]\n"
    );
    for (key, is_forward) in [("forward", true), ("backward", false)] {
        writeln!(text, "{key} = [").expect("a text");
        for part in
            parts.iter().filter(|part| part.is_forward() == is_forward && part.resource <= COMMUNICATION)
        {
            let needs = needed(parts, part).map(|needed| format!("\"{}\"", parts[needed].label()));
            writeln!(
                text,
                "{{ name = \"{}\", on = \"{}\", duration = {}, needs = [{}] }},",
                part.label(),
                RESOURCES[part.resource],
                part.elapsed(),
                needs.unwrap_or_default()
            )
            .expect("a text");
        }
        text.push_str("]\n");
    }
    model::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The least time of all merges.
pub fn least(parts: &[Part]) -> i64 {
    let model = model(parts);
    let apart = model.duration(Stage(0), Kind::F) + model.duration(Stage(0), Kind::B);
    (apart - model.pair_saves(Stage(0), Stage(0), Kind::B)).0
}

#[test]
fn the_best_merge_is_between_the_best_order_and_that_of_the_host() {
    let parts = parts();
    let durations = elapsed(&parts);
    let least = least(&parts);
    let as_launched = Prediction::as_launched(&parts, &durations).makespan();
    // Any order may move gradients of weights behind parts of their backward; a merge may not.
    let (_, of_all_orders) = search::shorter(&parts, &durations).expect("a shorter order");
    assert!((of_all_orders..=as_launched).contains(&least), "{of_all_orders} <= {least} <= {as_launched}");

    let model = model(&parts);
    let launches = model.pair_launches(Stage(0), Stage(0), Kind::B).expect("parts");
    assert_eq!(launches.len(), 40);
    let mut text = format!("{least:>6}  best merge\n{as_launched:>6}  as launched\n\n");
    for Launched { part, start, .. } in launches {
        writeln!(text, "{start:>6}  {:<14} {}", part.name, part.on).expect("a text");
    }
    insta::assert_snapshot!(text);
}
