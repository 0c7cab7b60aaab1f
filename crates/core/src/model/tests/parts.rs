//! The parts of passes in model files, and what follows from them.

use super::*;

/// F takes 8, B 13 (its gradient of weights runs beside a message), I alone 11.
const PARTS: &str = r#"name = "parts"

[pipeline]
devices = 2
placement = "v"
microbatches = 3

[time]
unit = "us"
forward = 8
backward_input = 11
backward_weight = 2
communication = 0

[memory]
unit = "stage-activation"
activation = 1
retained_for_weight = 1

[[overlap.parts]]
forward = [
    { name = "attention", on = "compute", duration = 4 },
    { name = "dispatch", on = "communication", duration = 3 },
    { name = "mlp", on = "compute", duration = 1 },
]
backward = [
    { name = "mlp", on = "compute", duration = 2 },
    { name = "dispatch", on = "communication", duration = 6 },
    { name = "weights", on = "compute", duration = 8, needs = ["mlp"] },
    { name = "attention", on = "compute", duration = 3, needs = ["dispatch"] },
]
input = [
    { name = "mlp", on = "compute", duration = 2 },
    { name = "dispatch", on = "communication", duration = 6 },
    { name = "attention", on = "compute", duration = 3 },
]
"#;

fn part(name: &str, on: PartResource, duration: i64, needs: &[usize]) -> Part {
    Part { name: name.to_owned(), on, duration: Ticks(duration), needs: needs.to_vec() }
}

fn tables() -> Vec<PassParts> {
    use PartResource::{Communication, Compute};
    let forward = vec![
        part("attention", Compute, 4, &[]),
        part("dispatch", Communication, 3, &[0]),
        part("mlp", Compute, 1, &[1]),
    ];
    let backward = vec![
        part("mlp", Compute, 2, &[]),
        part("dispatch", Communication, 6, &[0]),
        part("weights", Compute, 8, &[0]),
        part("attention", Compute, 3, &[1]),
    ];
    let input = vec![
        part("mlp", Compute, 2, &[]),
        part("dispatch", Communication, 6, &[0]),
        part("attention", Compute, 3, &[1]),
    ];
    vec![PassParts { stages: None, forward, backward: Some(backward), input: Some(input) }]
}

/// The model without parts.
fn plain() -> Model {
    parse(PARTS).expect("a model").with_overlap(Overlap::default()).expect("sums")
}

fn with(parts: Vec<PassParts>) -> Result<Model, ModelError> {
    plain().with_overlap(Overlap { parts, ..Overlap::default() })
}

#[test]
fn parts_are_read_and_printed_back() {
    let model = parse(PARTS).expect("a model");
    assert_eq!(model.overlap().parts, tables());
    assert_eq!(with(tables()), Ok(model.clone()));
    assert_eq!(print(&model), PARTS);
    assert_eq!(plain().overlap(), &Overlap::default());
    assert!(!print(&plain()).contains("overlap"));
    assert_ne!(model, plain());

    let some = PARTS.replace("[[overlap.parts]]\n", "[[overlap.parts]]\nstages = 3\n");
    let (head, table) = some.split_once("\n[[overlap.parts]]").expect("a table");
    let text = format!(
        "{head}\n[overlap]\nforward_input = [\n    {{ forward = 1, backward = 1, duration = 11 }},\n]\n\
         \n[[overlap.parts]]{table}\n[[overlap.parts]]{}",
        table.replace("stages = 3", "stages = [0, 2]").replace("dispatch", "say \\\"dispatch\\\"")
    );
    let model = parse(&text).expect("a model");
    let stages: Vec<_> = model.overlap().parts.iter().map(|table| table.stages.clone()).collect();
    assert_eq!(stages, [Some(vec![Stage(3)]), Some(vec![Stage(0), Stage(2)])]);
    assert_eq!(model.overlap().parts[1].forward[1].name, "say \"dispatch\"");
    assert_eq!(parse(&print(&model)), Ok(model.clone()));
    let takes = |forward: u32, backward: u32, kind| model.pair_saves(Stage(forward), Stage(backward), kind);
    // Stage 1 has no parts; stages 0 and 3 are of two tables.
    assert_eq!([takes(0, 3, Kind::B), takes(3, 3, Kind::B), takes(2, 2, Kind::B)], [Ticks(3); 3]);
    assert_eq!([takes(1, 2, Kind::B), takes(2, 1, Kind::B), takes(1, 1, Kind::B)], [Ticks(0); 3]);
    assert_eq!([takes(1, 1, Kind::I), takes(3, 0, Kind::I)], [Ticks(8), Ticks(7)]);
}

#[test]
fn needs_are_printed_where_they_are_not_the_part_before() {
    let mut parts = tables();
    parts[0].input = None;
    let backward = parts[0].backward.as_mut().expect("parts");
    backward[0] = part("mlp", PartResource::Communication, 2, &[]);
    backward[1].needs.clear();
    backward[2].needs = vec![1, 0];
    backward[3].needs = vec![0, 2];
    // 0 to 2, 2 to 8, 8 to 16 and 16 to 19.
    let costs = Costs { backward_weight: ticks(&[8; 4]), ..plain().costs().clone() };
    let model = plain().with_costs(costs).expect("a model");
    let model = model.with_overlap(Overlap { parts, ..Overlap::default() }).expect("a model");
    let text = print(&model);
    for line in [
        "    { name = \"mlp\", on = \"communication\", duration = 2 },\n",
        "    { name = \"dispatch\", on = \"communication\", duration = 6, needs = [] },\n",
        "    { name = \"weights\", on = \"compute\", duration = 8, needs = [\"dispatch\", \"mlp\"] },\n",
        "    { name = \"attention\", on = \"compute\", duration = 3, needs = [\"mlp\", \"weights\"] },\n",
    ] {
        assert!(text.contains(line), "{text}");
    }
    assert_eq!(parse(&text), Ok(model));
}

#[test]
fn pairs_of_passes_with_parts_take_the_least_time_of_all_merges() {
    let model = parse(PARTS).expect("a model");
    assert!(model.has_cheaper_pairs());
    assert_eq!(model.beyond_passes().map(|tables| tables.to_string()).as_deref(), Some("[overlap]"));
    // With B the compute units always work: 18 of 21. With I, F ends after both messages and what is before and after
    // them: 2 + 6 + 3 + 1 of 19.
    for (kind, saved) in [(Kind::B, 3), (Kind::I, 7), (Kind::W, 0), (Kind::R, 0)] {
        assert_eq!(model.pair_saves(Stage(0), Stage(3), kind), Ticks(saved), "{kind}");
    }
    let pass = |text: &str| text.parse().expect("a pass");
    assert_eq!(model.step_duration(&[pass("0F1"), pass("3B0")]), Ticks(18));
    assert_eq!(model.step_duration(&[pass("3I0"), pass("0F1")]), Ticks(12));
    assert_eq!(model.step_duration(&[pass("0F1")]), Ticks(8));

    let launches = |kind| {
        let launches = model.pair_launches(Stage(3), Stage(0), kind)?;
        let shown = |it: &Launched<'_>| format!("{} {} {}", it.start, it.kind, it.part.name);
        Some(launches.iter().map(shown).collect::<Vec<_>>().join(", "))
    };
    assert_eq!(
        launches(Kind::I).as_deref(),
        Some("0 I mlp, 2 I dispatch, 2 F attention, 8 I attention, 8 F dispatch, 11 F mlp")
    );
    assert_eq!(
        launches(Kind::B).as_deref(),
        Some("0 B mlp, 2 B dispatch, 2 F attention, 6 B weights, 14 B attention, 8 F dispatch, 17 F mlp")
    );
    assert_eq!([launches(Kind::W), launches(Kind::F)], [None, None]);
    assert_eq!(plain().pair_launches(Stage(3), Stage(0), Kind::B), None);
}

#[test]
fn every_variant_of_a_model_keeps_its_parts() {
    let model = parse(PARTS).expect("a model");
    let variants = [
        model.with_microbatches(9),
        model.with_costs(model.costs().clone()),
        model.with_step(None),
        model.with_uniform_activation_capacity(Some(Units(7))),
        model.resized(2),
        model.resized(5),
    ];
    for variant in variants {
        let variant = variant.expect("a model");
        assert_eq!(variant.overlap(), model.overlap());
        let last = Stage(variant.stages() - 1);
        assert_eq!(variant.pair_saves(last, last, Kind::I), Ticks(7));
        assert_eq!(parse(&print(&variant)), Ok(variant));
    }
    let mut tables = tables();
    tables[0].stages = Some((0..4).map(Stage).collect());
    let listed = with(tables).expect("a model");
    assert_eq!(listed.resized(3), Err(ModelError::NotResizable { key: "overlap.parts" }));
    let costs = Costs { forward: ticks(&[8, 8, 9, 8]), ..model.costs().clone() };
    let error = model.with_costs(costs).expect_err("F of stage 2 has other parts");
    assert_eq!(
        error.to_string(),
        "`overlap.parts[0].forward` takes 8 by itself, but F of stage 2 takes 9 by `[time]`: make the two equal, since \
         parts say what a pass consists of"
    );
    let apart = model.with_overlap(Overlap::default()).expect("sums");
    assert_eq!(apart.pair_launches(Stage(0), Stage(0), Kind::B), None);
    assert_eq!(apart, plain());
}

/// What the file says when one piece of it is exchanged, where it is first.
fn complaint(piece: &str, replacement: &str) -> (String, String) {
    assert!(PARTS.contains(piece), "{piece}");
    let text = PARTS.replacen(piece, replacement, 1);
    let error: FileError = parse(&text).expect_err(replacement);
    (error.to_string(), text[error.span.clone()].to_owned())
}

#[test]
fn every_complaint_about_parts_points_at_its_place() {
    let many: Vec<String> = (0..65).map(|number| format!("{{ name = \"{number}\" }},")).collect();
    let many = format!("forward = [\n{}", many.concat());
    let stated = |key: &str| format!("[overlap]\n{key}\n[[overlap.parts]]");
    let again = "forward = [{ name = \"a\", on = \"compute\", duration = 8 }]\nbackward = []\n";
    let again = format!("[[overlap.parts]]\nstages = [3, 1]\n{again}[[overlap.parts]]\nstages = [0, 1]");
    let cases = [
        (
            "[[overlap.parts]]",
            "[overlap.parts]",
            "`overlap.parts` must be a list of tables, each headed [[overlap.parts]], but is a table",
            None,
        ),
        (
            "[[overlap.parts]]",
            "[[overlap.parts]]\nstage = 0",
            "unknown key `overlap.parts[0].stage`",
            Some("stage"),
        ),
        (
            "[[overlap.parts]]",
            "[[overlap.parts]]\nstages = -1",
            "`overlap.parts[0].stages` must not be negative, but is -1",
            Some("-1"),
        ),
        (
            "[[overlap.parts]]",
            "[[overlap.parts]]\nstages = []",
            "`overlap.parts[0].stages` lists no stage: name one, or leave the key out for all stages",
            Some("[]"),
        ),
        (
            "[[overlap.parts]]",
            "[[overlap.parts]]\nstages = [0, 4]",
            "`overlap.parts[0].stages` names stage 4, but the stages are 0 to 3",
            Some("[0, 4]"),
        ),
        (
            "[[overlap.parts]]",
            "[[overlap.parts]]\nstages = [1, 1]",
            "`overlap.parts[0].stages` is about stage 1, whose parts are given before: a stage is in one table, once",
            Some("[1, 1]"),
        ),
        ("forward = [\n", "forwards = [\n", "unknown key `overlap.parts[0].forwards`", Some("forwards")),
        (
            "on = \"compute\"",
            "on = \"copy\"",
            "`overlap.parts[0].forward[0].on` must be one of compute, communication, but is \"copy\"",
            Some("\"copy\""),
        ),
        (
            "on = \"compute\", duration = 4",
            "on = \"compute\", duration = -4",
            "`overlap.parts[0].forward[0].duration` must not be negative, but is -4",
            Some("-4"),
        ),
        (
            "on = \"compute\", duration = 4",
            "on = \"compute\", duration = { low = 3, high = 4 }",
            "`overlap.parts[0].forward[0].duration` must be a time, such as 13480 or \"3.27 ms\", but is a table",
            Some("{ low = 3, high = 4 }"),
        ),
        (
            "name = \"mlp\", on",
            "name = \"dispatch\", on",
            "`overlap.parts[0].forward[2].name` is \"dispatch\", but `overlap.parts[0].forward[1]` has this name too: give each part of a list a name of its own",
            Some("\"dispatch\""),
        ),
        (
            "[\"mlp\"]",
            "[\"wlp\"]",
            "`overlap.parts[0].backward[2].needs[0]` is \"wlp\", but no part of this list has this name: name a part that is before this one",
            Some("\"wlp\""),
        ),
        (
            "[\"mlp\"]",
            "[\"attention\"]",
            "`overlap.parts[0].backward[2].needs[0]` is \"attention\", but that part is not before this one: a part needs parts that are launched before it, so move one of the two",
            Some("\"attention\""),
        ),
        (
            "[\"mlp\"]",
            "[\"weights\"]",
            "`overlap.parts[0].backward[2].needs[0]` is \"weights\", but that part is not before this one: a part needs parts that are launched before it, so move one of the two",
            Some("\"weights\""),
        ),
        (
            "[\"mlp\"]",
            "[\"mlp\", \"mlp\"]",
            "`overlap.parts[0].backward[2].needs[1]` is \"mlp\", but it is in the list already",
            Some("\"mlp\""),
        ),
        (
            "[\"mlp\"]",
            "\"mlp\"",
            "`overlap.parts[0].backward[2].needs` must be a list of names of parts, but is the text \"mlp\"",
            Some("\"mlp\""),
        ),
        (
            "backward = [",
            "backward = []\nothers = [",
            "unknown key `overlap.parts[0].others`",
            Some("others"),
        ),
        (
            "duration = 3 },\n    { name",
            "duration = 2 },\n    { name",
            "`overlap.parts[0].forward` takes 7 by itself, but F of stage 0 takes 8 by `[time]`: make the two equal, since parts say what a pass consists of",
            None,
        ),
        (
            "backward_weight = 2",
            "backward_weight = 3",
            "`overlap.parts[0].backward` takes 13 by itself, but B of stage 0 takes 14 by `[time]`: make the two equal, since parts say what a pass consists of",
            None,
        ),
        (
            "backward_input = 11\nbackward_weight = 2",
            "backward_input = [11, 11, 12, 11]\nbackward_weight = [2, 2, 1, 2]",
            "`overlap.parts[0].input` takes 11 by itself, but I of stage 2 takes 12 by `[time]`: make the two equal, since parts say what a pass consists of",
            None,
        ),
        (
            "forward = 8",
            "forward = [8, { low = 7, high = 8 }, 8, 8]",
            "`overlap.parts[0].forward` gives the parts of F of stage 1, whose duration is a range in `[time]`: a pass with parts takes one time, so make the range a number, or leave out the parts",
            None,
        ),
        (
            "backward_weight = 2",
            "backward_weight = { low = 1, high = 2 }",
            "`overlap.parts[0].backward` gives the parts of B of stage 0, whose duration is a range in `[time]`: a pass with parts takes one time, so make the range a number, or leave out the parts",
            None,
        ),
        (
            "backward_input = 11",
            "backward_input = { low = 1, high = 11 }",
            "`overlap.parts[0].backward` gives the parts of B of stage 0, whose duration is a range in `[time]`: a pass with parts takes one time, so make the range a number, or leave out the parts",
            None,
        ),
        (
            "[[overlap.parts]]",
            &stated("forward_backward = 18"),
            "`overlap.forward_backward` gives a duration to a forward of stage 0 beside a backward of stage 0, but the parts of both are in `overlap.parts`, from which it follows: leave out one of the two",
            Some("18"),
        ),
        (
            "[[overlap.parts]]",
            &stated("forward_input = [{ forward = 3, backward = 0, duration = 11 }]"),
            "`overlap.forward_input` gives a duration to a forward of stage 3 beside a backward of stage 0, but the parts of both are in `overlap.parts`, from which it follows: leave out one of the two",
            Some("{ forward = 3, backward = 0, duration = 11 }"),
        ),
        (
            "forward = [\n",
            &many,
            "`overlap.parts[0].forward` is a list of 68 parts, but a pass has 1 to 64",
            None,
        ),
        (
            "[[overlap.parts]]",
            &again,
            "`overlap.parts[0].backward` is a list of 0 parts, but a pass has 1 to 64",
            Some("[]"),
        ),
    ];
    for (piece, replacement, message, place) in cases {
        let (found, at) = complaint(piece, replacement);
        assert_eq!(found, message);
        assert_eq!(place.unwrap_or(&at), at, "{message}");
    }
    let without = |key: &str| {
        let (head, rest) = PARTS.split_once(&format!("{key} = [\n")).expect("a list");
        let (_, rest) = rest.split_once("]\n").expect("its end");
        format!("{head}{rest}")
    };
    let (head, _) = PARTS.split_once("backward = [").expect("parts");
    let error = parse(head).expect_err("no backward");
    assert_eq!(
        error.to_string(),
        "`overlap.parts[0]` has no parts of a backward: list those of B in `backward`, those of I in `input`, or both"
    );
    assert!(head[error.span].starts_with("[[overlap.parts]]"));
    assert_eq!(
        parse(&without("forward")).expect_err("no F").to_string(),
        "missing key `overlap.parts[0].forward`"
    );
    for (key, kind) in [("backward", Kind::B), ("input", Kind::I)] {
        let model = parse(&without(key)).expect("the other one");
        for of in [Kind::B, Kind::I] {
            assert_eq!(model.pair_saves(Stage(0), Stage(0), of) > Ticks::ZERO, of != kind);
            assert_eq!(model.pair_launches(Stage(0), Stage(0), of).is_some(), of != kind);
        }
    }
    // Both tables are for all stages.
    let (_, table) = PARTS.split_once("[[overlap.parts]]").expect("a table");
    let error = parse(&format!("{PARTS}[[overlap.parts]]{table}")).expect_err("twice");
    assert_eq!(
        error.to_string(),
        "`overlap.parts[1]` is about stage 0, whose parts are given before: a stage is in one table, once"
    );
}

/// A change that makes parts wrong.
type Change<'a> = &'a dyn Fn(&mut Vec<Part>);

#[test]
fn lists_that_no_file_can_hold_are_refused() {
    let cases: [(Change<'_>, PartsPlace, PartsFault); 8] = [
        (&|parts| parts.clear(), PartsPlace::Key("forward"), PartsFault::Count { found: 0 }),
        (
            &|parts| parts.resize(65, part("a", PartResource::Compute, 0, &[])),
            PartsPlace::Key("forward"),
            PartsFault::Count { found: 65 },
        ),
        (
            &|parts| parts[2].name = "dispatch".to_owned(),
            PartsPlace::Part("forward", 2),
            PartsFault::NameAgain("dispatch".to_owned()),
        ),
        (
            &|parts| parts[1].duration = Ticks(-1),
            PartsPlace::Part("forward", 1),
            PartsFault::Negative(Ticks(-1)),
        ),
        (&|parts| parts[1].needs = vec![0, 1], PartsPlace::Part("forward", 1), PartsFault::NeedsLater(1)),
        (&|parts| parts[0].needs = vec![7], PartsPlace::Part("forward", 0), PartsFault::NeedsLater(7)),
        (&|parts| parts[2].needs = vec![1, 0, 1], PartsPlace::Part("forward", 2), PartsFault::NeedAgain(1)),
        (
            &|parts| parts.iter_mut().for_each(|part| part.duration = Ticks(i64::MAX)),
            PartsPlace::Key("forward"),
            PartsFault::Duration { kind: Kind::F, stage: Stage(0), parts: Ticks(i64::MAX), pass: Ticks(8) },
        ),
    ];
    for (change, place, fault) in cases {
        let mut parts = tables();
        change(&mut parts[0].forward);
        assert_eq!(with(parts), Err(PartsError { table: 0, place, fault }.into()));
    }
    let mut parts = tables();
    parts[0].forward.resize_with(64, || part("", PartResource::Compute, 0, &[]));
    for (position, part) in parts[0].forward.iter_mut().enumerate().skip(3) {
        part.name = position.to_string();
    }
    assert!(with(parts).is_ok(), "64 parts, most of which take no time");
    let text = PartsError { table: 2, place: PartsPlace::Part("input", 7), fault: PartsFault::NeedsLater(9) };
    assert_eq!(
        text.to_string(),
        "`overlap.parts[2].input[7]` needs part 9, which is not launched before it: a part needs parts that are before it \
         in its list"
    );
}

/// On either resource half of the parts, of which each one on the other resource needs one: so many ends matter at once.
#[test]
fn parts_with_too_many_merges_are_refused() {
    let list = |factor: i64| -> Vec<Part> {
        let one =
            (0..32).map(|rank| part(&format!("a{rank}"), PartResource::Compute, factor << (rank % 20), &[]));
        let other = (0..32).map(|rank: usize| {
            part(&format!("b{rank}"), PartResource::Communication, factor << (rank % 17), &[31 - rank])
        });
        one.chain(other).collect()
    };
    let (forward, backward) = (list(3), list(5));
    let model =
        Model::equal_stages(Placement::linear(1).expect("a placement"), 1, [1, 1, 0, 0]).expect("a model");
    let parts = |forward: Vec<Part>, backward| {
        vec![PassParts { stages: None, forward, backward: None, input: Some(backward) }]
    };
    let duration = |parts: Vec<PassParts>| match model.with_overlap(Overlap { parts, ..Overlap::default() }) {
        Err(ModelError::Parts(PartsError { fault: PartsFault::Duration { parts, .. }, .. })) => parts,
        other => panic!("{other:?}"),
    };
    let one = vec![part("a", PartResource::Compute, 1, &[])];
    let costs = Costs {
        forward: vec![duration(parts(forward.clone(), one.clone()))],
        backward_input: vec![duration(parts(one, backward.clone()))],
        ..model.costs().clone()
    };
    let model = model.with_costs(costs).expect("a model");
    let refused = model.with_overlap(Overlap { parts: parts(forward, backward), ..Overlap::default() });
    assert_eq!(
        refused.expect_err("too many").to_string(),
        "`overlap.parts[0].input` can be merged with the parts of F of stage 0 in too many ways to find the quickest: list \
         fewer parts, or give the pair of stages 0 and 0 a duration in `overlap.forward_input` in place of the parts"
    );
}

#[test]
fn parts_of_an_i_say_nothing_of_its_w_whose_duration_may_be_a_range() {
    let (before, rest) = PARTS.split_once("backward = [\n").expect("parts of B");
    let (_, after) = rest.split_once("]\ninput").expect("parts of I");
    let text = format!("{before}input{after}");
    let ranged = text.replace("backward_weight = 2", "backward_weight = { low = 1, high = 2 }");
    assert_ne!(ranged, text);
    let model = parse(&ranged).expect("a model");
    assert_eq!(model.overlap().parts[0].backward, None);
}
