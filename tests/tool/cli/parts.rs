//! Pairs that are given by the parts of their passes, through every command.

use serde_json::{Value, json};

use super::optimized::Optimized;
use super::tool;

const MODEL: &str = "tests/corpus/valid/pair-parts.toml";
const SCHEDULE: &str = "tests/corpus/valid/pair-parts.json";

#[test]
fn what_is_found_is_verified_drawn_and_checked() {
    let found = Optimized::of(MODEL);
    found.assert_replays_to("makespan");
    found.assert_no_worse_than_named();
    found.drawn();
    let checked = tool(&["check", &found.file, "--model", MODEL]);
    assert_eq!(checked.status, 0, "{}", checked.transcript());
    let lines: Vec<&str> = checked.out.lines().filter(|line| line.contains("pa")).collect();
    insta::assert_snapshot!(lines.join("\n"));
    let report = tool(&["check", &found.file, "--model", MODEL, "--json"]).json();
    let overlap = &report["problem"]["overlap"];
    assert_eq!(overlap["parts"][0]["stages"], json!([0]), "{overlap}");
    let weights = json!({ "name": "weights", "on": "compute", "duration": 8, "needs": ["mlp"] });
    assert_eq!(overlap["parts"][0]["backward"][2], weights);
    assert_eq!(overlap["parts"][1]["input"], Value::Null);
    let pair = json!({ "forward": 0, "backward": 0, "duration": 18 });
    assert_eq!(overlap["pairs_of_parts"]["forward_backward"][0], pair);

    // With other parts of the same passes, it is another problem.
    let text = std::fs::read_to_string(&found.file).expect("a schedule");
    let model = std::fs::read_to_string(MODEL).expect("a model");
    let part = |on: &str| format!("\"dispatch\", on = \"{on}\", duration = 3");
    let other = model.replace(&part("communication"), &part("compute"));
    assert_ne!(other, model);
    let changed = found.path("other.toml");
    std::fs::write(&changed, other).expect("a file");
    let refused = tool(&["check", &found.file, "--model", &changed]);
    assert_ne!(refused.status, 0, "{}", refused.transcript());
    assert!(text.contains("overlap.parts"), "the certificate has the model with its parts");
}

#[test]
fn replay_shows_how_the_parts_of_each_pair_are_launched() {
    let run = tool(&["replay", SCHEDULE, "--model", MODEL]);
    assert_eq!(run.status, 0, "{}", run.transcript());
    insta::assert_snapshot!(run.out);
    let run = tool(&["replay", SCHEDULE, "--model", MODEL, "--json"]).json();
    let launches = run["pair_launches"].as_array().expect("a list");
    let pairs: Vec<Value> = launches
        .iter()
        .map(|pair| json!([pair["forward"], pair["backward"], pair["kind"], pair["pairs"], pair["duration"]]))
        .collect();
    // The pair of a forward and an I of stage 1 has a duration, and no parts.
    assert_eq!(pairs, [json!([0, 0, "I", 1, 12]), json!([0, 0, "B", 1, 18]), json!([1, 1, "B", 2, 15])]);
    let last = json!({ "pass": "F", "part": "mlp", "on": "compute", "start": 17, "end": 18 });
    assert_eq!(launches[1]["launches"][6], last);
    let plain = tool(&["replay", SCHEDULE, "--json"]).json();
    assert_eq!(plain.get("pair_launches"), None);
}

#[test]
fn an_order_that_a_format_cannot_express_is_noted() {
    let directory = tempfile::tempdir().expect("a directory");
    let model = directory.path().join("v.toml");
    let text = std::fs::read_to_string("tests/corpus/valid/pair-parts.toml").expect("a model");
    let (head, rest) = text.split_once("[overlap]").expect("pairs");
    let (_, parts) = rest.split_once("stages = 0\n").expect("parts");
    let (parts, _) = parts.split_once("\n[[overlap.parts]]").expect("more of them");
    let head =
        head.replace("linear", "v").replace("[8, 6]", "8").replace("[11, 6]", "11").replace("[2, 5]", "2");
    std::fs::write(&model, format!("{head}[[overlap.parts]]\n{parts}")).expect("a file");
    let model = model.to_str().expect("a plain name");
    for (file, is_noted) in [("pairs.csv", true), ("pairs.json", false)] {
        let file = directory.path().join(file);
        let file = file.to_str().expect("a plain name");
        let run = tool(&["convert", model, "--schedule", "dualpipe-v", "-o", file]);
        assert_eq!(run.status, 0, "{}", run.transcript());
        assert_eq!(
            run.err.contains("the order in which the parts of a pair are launched"),
            is_noted,
            "{}",
            run.err
        );
    }
    for command in ["block", "frontier", "explain"] {
        let refused = tool(&[command, model]);
        assert_eq!(refused.status, 2, "{command}: {}", refused.err);
        assert!(refused.err.contains("[overlap]"), "{command}: {}", refused.err);
    }
}
