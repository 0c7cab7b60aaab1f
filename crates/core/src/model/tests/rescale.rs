//! Models in nanoseconds: everything that is a time grows, and nothing else.

use super::*;

/// Every table that has times, in three texts, since nodes do not go with ranges, nor parts with durations of pairs. A tilde
/// follows every time.
const TABLES: [&str; 3] = [
    r"
    forward = { low = 1~, high = 4~ }
    backward_input = [5~, 6~, { low = 1~, high = 7~ }, 8~]
    backward_weight = 9~
    communication = [10~, { low = 11~, high = 12~ }, 13~]
    [memory]
    activation = 50
    workspace = { forward = 3 }
    [overlap]
    forward_input = [{ forward = 0, backward = 3, duration = 9~ }]
    [messages]
    occupancy = 3~
    [step]
    reduce = [14~, 15~, 16~, 17~]
    optimizer = 18~
    [[recompute.level]]
    checkpoint = 2
    duration = 19~
    [[recompute.level]]
    checkpoint = 1
    [[recompute.level]]
    checkpoint = 1
    duration = [20~, 21~, 22~, 23~]
    ",
    r"
    forward = 4~
    backward_input = 5~
    backward_weight = 6~
    [memory]
    activation = 50
    capacity = 1000
    [overlap]
    forward_backward = 12~
    [messages]
    occupancy = 3~
    nodes = [[0], [1]]
    [offload]
    moved = 7
    to_host = [1~, 2~, 3~, 4~]
    from_host = 8~
    [sharding]
    gather = [9~, 10~, 11~, 12~]
    gathered = 13
    stages = 2
    ",
    r#"
    forward = 4~
    backward_input = 5~
    backward_weight = 6~
    [memory]
    activation = 50
    [[overlap.parts]]
    forward = [{ name = "a", on = "compute", duration = 3~ }, { name = "b", on = "communication", duration = 1~ }]
    backward = [{ name = "c", on = "communication", duration = 9~ }, { name = "d", on = "compute", duration = 2~ }]
    input = [{ name = "c", on = "communication", duration = 5~ }]
    "#,
];

fn model(unit: &str, zeros: &str, table: &str) -> Model {
    let pipeline = "name = \"n\"\n[pipeline]\ndevices = 2\nplacement = \"v\"\nmicrobatches = 3\n[time]\n";
    let text = format!("{pipeline}unit = \"{unit}\"\n{}", table.replace('~', zeros));
    parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

#[test]
fn everything_that_a_model_says_of_times_is_in_nanoseconds() {
    for table in TABLES {
        for (unit, zeros) in [("ns", ""), ("us", "000"), ("ms", "000000"), ("s", "000000000")] {
            assert_eq!(model(unit, "", table).in_nanoseconds(), Ok(Some(model("ns", zeros, table))));
        }
        assert_eq!(model("tick", "", table).in_nanoseconds(), Ok(None));
    }
}

#[test]
fn times_that_are_too_long_in_nanoseconds_are_refused() {
    for forward in [Model::MAX_TOTAL / 100_000, Model::MAX_TOTAL / 100] {
        let costs = [forward, 1, 1, 0];
        let model =
            Model::equal_stages(Placement::linear(1).expect("a placement"), 1, costs).expect("a model");
        let costs = Costs { unit: "ms".to_owned(), ..model.costs().clone() };
        let model = model.with_costs(costs).expect("a model");
        assert_eq!(model.in_nanoseconds(), Err(ModelError::TimeOverflow));
    }
}
