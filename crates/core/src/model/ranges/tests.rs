use super::super::{Costs, Kind, Model, ModelError, Stage, Ticks, parse, print};
use crate::certificate::problem_digest;

const RANGES: &str = "\
name = \"ranges\"

[pipeline]
devices = 3
placement = \"linear\"
microbatches = 4

[time]
unit = \"us\"
forward = { low = 300, high = 320 }
backward_input = [310, { low = 300, high = 340 }, { low = 5, high = 5 }]
backward_weight = 290
communication = { low = 0, high = 20 }
";

fn ticks(values: &[i64]) -> Vec<Ticks> {
    values.iter().copied().map(Ticks).collect()
}

fn ranges() -> Model {
    parse(RANGES).expect("a model")
}

#[test]
fn a_model_with_ranges_is_that_of_the_high_ends_and_keeps_the_low_ends() {
    let model = ranges();
    let high = Costs {
        unit: "us".to_owned(),
        forward: ticks(&[320; 3]),
        backward_input: ticks(&[310, 340, 5]),
        backward_weight: ticks(&[290; 3]),
        communication: ticks(&[20, 20]),
    };
    let low = Costs {
        forward: ticks(&[300; 3]),
        backward_input: ticks(&[310, 300, 5]),
        communication: ticks(&[0, 0]),
        ..high.clone()
    };
    assert_eq!((model.costs(), model.low_ends()), (&high, Some(&low)));
    let best = model.best_case().expect("ranges");
    assert_eq!((best.costs(), best.low_ends(), best.best_case()), (&low, None, None));
    assert_eq!(best.duration(Stage(1), Kind::B), Ticks(590));
}

#[test]
fn ranges_are_printed_as_they_are_read_and_belong_to_the_digest() {
    let model = ranges();
    let text = print(&model);
    assert!(text.contains("forward = { low = 300, high = 320 }\n"), "{text}");
    assert!(text.contains("backward_input = [310, { low = 300, high = 340 }, 5]\n"), "{text}");
    assert_eq!(parse(&text).expect("a model"), model);
    let plain = model.with_costs(model.costs().clone()).expect("costs");
    assert_eq!(plain.low_ends(), None);
    assert_ne!(problem_digest(&plain), problem_digest(&model));
}

#[test]
fn ranges_of_one_value_are_none() {
    let model = ranges();
    let without = model.with_low_ends(model.costs().clone()).expect("low ends");
    assert_eq!((without.low_ends(), without.best_case()), (None, None));
    // Low ends are in the unit of the model.
    let other = Costs { unit: "fortnight".to_owned(), ..model.costs().clone() };
    assert_eq!(model.with_low_ends(other).expect("low ends").low_ends(), None);
    let text = RANGES.replace("low = 300, high = 320", "low = 320, high = 320");
    assert!(print(&parse(&text).expect("a model")).contains("forward = 320\n"));
}

#[test]
fn ranges_stay_when_something_else_changes() {
    let text = RANGES.replace("[310, { low = 300, high = 340 }, { low = 5, high = 5 }]", "310");
    let model = parse(&text).expect("a model");
    let resized = model.resized(2).and_then(|model| model.with_microbatches(7)).expect("a model");
    let low = resized.low_ends().expect("ranges");
    assert_eq!((&low.forward, &low.communication), (&ticks(&[300, 300]), &ticks(&[0])));
    let free = model.without_weights().with_uniform_activation_capacity(None).expect("a model");
    assert_eq!(free.low_ends(), model.low_ends());
    assert_eq!(
        ranges().resized(2).expect_err("unequal stages"),
        ModelError::NotResizable { key: "time.backward_input" }
    );
}

#[test]
fn every_complaint_about_a_range_names_its_key_and_points_at_its_place() {
    const RANGE: &str = "{ low = 300, high = 320 }";
    let cases = [
        (
            RANGE,
            "{ low = 330, high = 320 }",
            "`time.forward.low` is 330, but `time.forward.high` is only 320: a range begins with its low end",
            "330",
        ),
        (RANGE, "{ low = 330 }", "missing key `time.forward.high`", "{ low = 330 }"),
        (RANGE, "{ low = 3, high = 4, mean = 3 }", "unknown key `time.forward.mean`", "mean"),
        (RANGE, "{ low = -3, high = 4 }", "`time.forward.low` must not be negative, but is -3", "-3"),
        (RANGE, "[300, 320]", "`time.forward` has 2 values, but there are 3 stages", "[300, 320]"),
        (
            RANGE,
            "[[300, 320], 1, 2]",
            "`time.forward[0]` must be a time, such as 13480 or \"3.27 ms\", or a range such as `{ low = 300, high = 320 }`, but is a list",
            "[300, 320]",
        ),
        (
            RANGE,
            "\"300-320\"",
            "`time.forward` is wrong: \"-320\" is no unit of time: use one of ns, us, µs, ms, s",
            "\"300-320\"",
        ),
        (
            "{ low = 300, high = 340 }",
            "{ low = 350, high = 340 }",
            "`time.backward_input[1].low` is 350, but `time.backward_input[1].high` is only 340: a range begins with its low end",
            "350",
        ),
        (
            "microbatches = 4",
            "microbatches = { low = 1, high = 2 }",
            "`pipeline.microbatches` must be an integer, but is a table",
            "{ low = 1, high = 2 }",
        ),
    ];
    for (piece, replacement, message, place) in cases {
        assert_eq!(RANGES.matches(piece).count(), 1, "{piece}");
        let text = RANGES.replace(piece, replacement);
        let error = parse(&text).expect_err(replacement);
        assert_eq!((error.to_string(), &text[error.span.clone()]), (message.to_owned(), place));
    }
}

#[test]
fn ranges_are_refused_where_times_decide_the_order_of_messages() {
    let pair = format!("{RANGES}\n[messages]\noccupancy = 7\n");
    let model = parse(&pair).expect("links between two devices send in the order of passes");
    assert_eq!(model.best_case().expect("ranges").messages(), model.messages());
    let nodes = format!("{pair}nodes = [[0, 1], [2]]\n");
    let error = parse(&nodes).expect_err("a network card");
    assert_eq!(&nodes[error.span.clone()], "[[0, 1], [2]]");
    assert!(error.to_string().starts_with("`messages.nodes` does not go with ranges in `[time]`"), "{error}");
}

#[test]
fn the_low_ends_make_a_model_too() {
    let text = format!("{RANGES}\n[overlap]\nforward_backward = 620\n");
    let text =
        text.replace("[310, { low = 300, high = 340 }, { low = 5, high = 5 }]", "{ low = 10, high = 330 }");
    let error = parse(&text).expect_err("a pair longer than both of its passes at their low ends");
    assert_eq!(&text[error.span.clone()], "620");
    assert_eq!(
        error.to_string(),
        "at the low ends of the ranges of `[time]`: `overlap.forward_backward` is 620 for a forward of stage 0 beside a \
         backward of stage 0: it must be at least 300, what the longer one takes, and at most 600, what both take"
    );
    let model = ranges();
    let low = Costs { forward: ticks(&[321; 3]), ..model.costs().clone() };
    let error = model.with_low_ends(low).expect_err("a low end above its high end");
    assert_eq!(
        error.to_string(),
        "`time.forward` has a range from 321 to 320: the low end must not exceed the high end"
    );
    let short = Costs { forward: ticks(&[1]), ..model.costs().clone() };
    assert!(matches!(model.with_low_ends(short), Err(ModelError::LowEnds(_))));
}
