//! Levels of recomputation: in model files, in variants, and in the models of one level.

use super::*;

const LEVELS: &str = r#"name = "levels"
[pipeline]
devices = 2
placement = "linear"
microbatches = 3
[time]
forward = [10, 20]
backward_input = 1
backward_weight = 1
[memory]
activation = 16
[recompute]
fused = true
[[recompute.level]]
checkpoint = 2
[[recompute.level]]
checkpoint = [9, 1]
duration = [4, 30]
"#;

fn model() -> Model {
    parse(LEVELS).expect("a model")
}

#[test]
fn each_level_says_what_is_kept_and_how_long_it_takes() {
    let model = &model();
    assert_eq!((model.recompute_levels(), model.recomputes_in_backward()), (2, true));
    let of = |level: usize| {
        Stage::all(2)
            .map(move |stage| (model.checkpoint_at(stage, level), model.recompute_duration(stage, level)))
    };
    let first: Vec<_> = of(0).collect();
    assert_eq!(first, [(Some(Units(2)), Ticks(10)), (Some(Units(2)), Ticks(20))]);
    let second: Vec<_> = of(1).collect();
    assert_eq!(second, [(Some(Units(9)), Ticks(4)), (Some(Units(1)), Ticks(30))]);
    assert_eq!(model.checkpoint_at(Stage(0), 2), None);
    assert_eq!(model.duration(Stage(1), Kind::R), Ticks(20));
    let named = model.beyond_passes().map(|tables| tables.to_string());
    assert_eq!(named.as_deref(), Some("several levels of [recompute] and `recompute.fused`"));
    assert_eq!(parse(&print(model)).as_ref(), Ok(model));
    // R follows F where it says nothing.
    let costs = Costs { forward: vec![Ticks(7); 2], ..model.costs().clone() };
    let other = model.with_costs(costs).expect("a model");
    assert_eq!(
        (other.duration(Stage(0), Kind::R), other.recompute_duration(Stage(0), 1)),
        (Ticks(7), Ticks(4))
    );
}

#[test]
fn one_level_of_no_duration_is_a_checkpoint() {
    let short = LEVELS.replace("fused = true\n", "");
    let (short, _) = short.split_once("[[recompute.level]]").expect("levels");
    let with = |what: &str| parse(&format!("{short}{what}")).expect("a model");
    let (model, listed) = (with("checkpoint = 2\n"), with("[[recompute.level]]\ncheckpoint = 2\n"));
    assert_eq!(model, listed);
    assert!(print(&listed).ends_with("\n[recompute]\ncheckpoint = 2\n"), "{}", print(&listed));
    assert_eq!((model.recompute_levels(), model.beyond_passes()), (1, None));
    assert_eq!(*model.level_floor(), model);
    let own = with("[[recompute.level]]\ncheckpoint = 2\nduration = 3\n");
    assert_eq!((own.duration(Stage(1), Kind::R), own.beyond_passes()), (Ticks(3), None));
    assert!(own.has_recompute_durations() && !model.has_recompute_durations());
    for model in [model, own] {
        assert_eq!(parse(&print(&model)).as_ref(), Ok(&model));
        assert_eq!(model.with_recompute(model.recompute()).as_ref(), Ok(&model));
    }
}

#[test]
fn models_of_one_level_have_what_is_chosen() {
    let model = model();
    let chosen = model.with_level_of_stages(&[1, 0]).expect("levels");
    assert_eq!(chosen.beyond_passes(), None);
    let of = |model: &Model| {
        Stage::all(2)
            .map(|stage| (model.checkpoint(stage), model.duration(stage, Kind::R)))
            .collect::<Vec<_>>()
    };
    assert_eq!(of(&chosen), [(Some(Units(9)), Ticks(4)), (Some(Units(2)), Ticks(20))]);
    assert_eq!(of(&model.level_floor()), [(Some(Units(2)), Ticks(4)), (Some(Units(1)), Ticks(20))]);
    let first = model.with_level_of_stages(&[0, 0]).expect("levels");
    assert!(!first.has_recompute_durations(), "it takes as long as F");
    let missing = ModelError::NoSuchLevel { level: 2, levels: 2 };
    assert_eq!(model.with_level_of_stages(&[0, 2]), Err(missing));
    let key = "recompute.level";
    let short = ModelError::Length { key, found: 1, expected: 2, of: "stages" };
    assert_eq!(model.with_level_of_stages(&[0]), Err(short));
}

#[test]
fn one_level_that_runs_wherever_a_schedule_has_it_is_what_is_chosen() {
    let level =
        |duration: &[i64]| RecomputeLevel { checkpoint: units(&[2, 2]), duration: Some(ticks(duration)) };
    let with = |levels: &[&[i64]], fused| {
        let levels = levels.iter().map(|&duration| level(duration)).collect();
        model().with_recompute(Some(Recompute { levels, fused })).expect("a model")
    };
    // R is said to take as long as F, which is more than that it follows F.
    let one = with(&[&[10, 20]], false);
    assert_eq!(one.with_level_of_stages(&[0, 0]).as_ref(), Ok(&one));
    assert_eq!(*one.level_floor(), one);
    for other in [with(&[&[10, 20]], true), with(&[&[10, 20], &[30, 40]], false)] {
        let chosen = other.with_level_of_stages(&[0, 0]).expect("levels");
        assert_eq!((chosen.recompute_levels(), chosen.recomputes_in_backward()), (1, false));
        assert_eq!(*other.level_floor(), chosen);
    }
}

#[test]
fn memory_without_a_checkpoint_is_that_of_a_model_without_levels() {
    let model = model();
    let free = Memory { checkpoint: None, ..model.memory().clone() };
    assert_eq!(model.with_plain_memory(free), model.with_recompute(None));
    let kept = Memory { checkpoint: Some(units(&[3, 3])), ..model.memory().clone() };
    let levels = model.with_plain_memory(kept).expect("a model").recompute().expect("levels").levels;
    assert_eq!((levels.len(), &levels[0].checkpoint), (2, &units(&[3, 3])));
}

#[test]
fn every_complaint_about_recomputation_points_at_its_place() {
    let most = "[[recompute.level]]\ncheckpoint = 1\n".repeat(15);
    for (piece, replacement, message, place) in [
        (
            "checkpoint = [9, 1]",
            "checkpoint = [9, 17]",
            "`recompute.level[1].checkpoint` of stage 1 is 17, more than its activation of 16",
            "[9, 17]",
        ),
        (
            "checkpoint = 2",
            "checkpoint = 17",
            "`recompute.level[0].checkpoint` of stage 0 is 17, more than its activation of 16",
            "17",
        ),
        (
            "fused = true",
            "checkpoint = 3",
            "`recompute.checkpoint` is there, but `level` says what is kept at each level; state one of the two",
            "3",
        ),
        ("fused = true", "fused = 1", "`recompute.fused` must be true or false, but is the integer 1", "1"),
        (
            "duration = [4, 30]",
            "duration = [4]",
            "`recompute.level[1].duration` has 1 values, but there are 2 stages",
            "[4]",
        ),
        (
            "duration = [4, 30]",
            "duration = [4, -1]",
            "`recompute.level[1].duration[1]` must not be negative, but is -1",
            "-1",
        ),
        (
            "duration = [4, 30]",
            "duration = { low = 1, high = 2 }",
            "`recompute.level[1].duration` must be a time, such as 13480 or \"3.27 ms\", or a list of times, but is a table",
            "{ low = 1, high = 2 }",
        ),
        ("duration", "time", "unknown key `recompute.level[1].time`", "time"),
        (
            "checkpoint = 2\n",
            "duration = 2\n",
            "missing key `recompute.level[0].checkpoint`",
            "[[recompute.level]]",
        ),
        (
            "duration = [4, 30]",
            "duration = 288230376151711744",
            "the times of all passes together exceed",
            "[time]",
        ),
        (
            "[[recompute.level]]\ncheckpoint = 2\n",
            &format!("[[recompute.level]]\ncheckpoint = 2\n{most}"),
            "`recompute.level` lists 17 levels, but there must be 1 to 16",
            "",
        ),
    ] {
        assert_eq!(LEVELS.matches(piece).count(), 1, "{piece}");
        let text = LEVELS.replace(piece, replacement);
        let error: FileError = parse(&text).expect_err(replacement);
        let (found, at) = (error.to_string(), &text[error.span.clone()]);
        assert!(found.starts_with(message), "{found}");
        assert!(place.is_empty() || at == place, "{found}: {at}");
    }
    let (before, _) = LEVELS.split_once("fused").expect("levels");
    let error = parse(&format!("{before}level = 3\n")).expect_err("no list").to_string();
    assert!(
        error.starts_with("`recompute.level` must be a list of tables, each headed [[recompute.level]]"),
        "{error}"
    );
    let error = parse(&format!("{before}level = []\n")).expect_err("no level").to_string();
    assert_eq!(error, "`recompute.level` lists 0 levels, but there must be 1 to 16");
}

#[test]
fn levels_that_do_not_fit_a_model_are_refused() {
    let good = model();
    let with = |change: &dyn Fn(&mut Recompute)| {
        let mut recompute = good.recompute().expect("levels");
        change(&mut recompute);
        good.with_recompute(Some(recompute))
    };
    let key = "recompute.level.duration";
    let short = ModelError::Length { key, found: 1, expected: 2, of: "stages" };
    assert_eq!(with(&|of| of.levels[1].duration.as_mut().expect("it is said").truncate(1)), Err(short));
    let negative = ModelError::Negative { key, value: -1 };
    assert_eq!(with(&|of| of.levels[0].duration = Some(vec![Ticks(1), Ticks(-1)])), Err(negative));
    let key = "recompute.level.checkpoint";
    let short = ModelError::Length { key, found: 3, expected: 2, of: "stages" };
    assert_eq!(with(&|of| of.levels[1].checkpoint.push(Units(1))), Err(short));
    let negative = ModelError::Negative { key, value: -2 };
    assert_eq!(with(&|of| of.levels[1].checkpoint[0] = Units(-2)), Err(negative));
    assert_eq!(with(&|of| of.levels.clear()), Err(ModelError::Levels { found: 0 }));
    let most = |count: usize| with(&|of| of.levels = vec![of.levels[0].clone(); count]);
    assert_eq!(most(Recompute::MAX_LEVELS).expect("levels").recompute_levels(), Recompute::MAX_LEVELS);
    assert_eq!(most(17), Err(ModelError::Levels { found: 17 }));
    assert_eq!(good.with_recompute(None).expect("a model").recompute(), None);
}

#[test]
fn levels_that_are_the_same_everywhere_have_other_sizes() {
    let same = LEVELS.replace("[10, 20]", "10").replace("[9, 1]", "9").replace("[4, 30]", "4");
    let resized = parse(&same).expect("a model").resized(4).expect("all stages are alike");
    assert_eq!(resized.checkpoint_at(Stage(3), 1), Some(Units(9)));
    assert_eq!(resized.recompute_duration(Stage(3), 1), Ticks(4));
    for (piece, replacement, key) in [
        ("checkpoint = 9", "checkpoint = [9, 8]", "recompute.level.checkpoint"),
        ("duration = 4", "duration = [4, 5]", "recompute.level.duration"),
    ] {
        let model = parse(&same.replace(piece, replacement)).expect("a model");
        assert_eq!(model.resized(4), Err(ModelError::NotResizable { key }));
    }
}
