//! Sharded weights in model files, and models with them.

use super::*;

/// The complete file, of four stages on two devices and three microbatches, with sharded weights.
fn with_sharding(table: &str) -> String {
    format!("{COMPLETE}\n[sharding]\n{table}")
}

fn sharding(gather: [i64; 4], gathered: [i64; 4], stages: u32) -> Sharding {
    Sharding { gather: ticks(&gather), gathered: gathered.map(Units).to_vec(), stages }
}

#[test]
fn sharded_weights_are_read_and_printed_back() {
    let plain = parse(COMPLETE).expect("a model");
    assert_eq!((plain.sharding(), plain.has_gathers(), plain.has_gathered_memory()), (None, false, false));
    assert_eq!((plain.gather(Stage(1)), plain.gathered(Stage(1))), (Ticks::ZERO, Units::ZERO));
    assert_eq!(plain.gathered_at_once(), 3, "as in PyTorch");
    assert!(!print(&plain).contains("shard"));
    for (text, expected) in [
        ("gather = 5\ngathered = [6, 7, 8, 9]\nstages = 2\n", sharding([5; 4], [6, 7, 8, 9], 2)),
        ("gather = [1, 0, 0, 0]\n", sharding([1, 0, 0, 0], [0; 4], 3)),
        ("gathered = [0, 0, 0, 1]\nstages = 1\n", sharding([0; 4], [0, 0, 0, 1], 1)),
    ] {
        let model = parse(&with_sharding(text)).expect("a model");
        assert_eq!(model.sharding(), Some(&expected));
        assert_eq!(plain.with_sharding(Some(expected.clone())), Ok(model.clone()));
        assert_eq!(model.with_sharding(None), Ok(plain.clone()));
        assert_eq!(parse(&print(&model)), Ok(model.clone()), "{}", print(&model));
        assert_eq!(model.beyond_passes().map(|tables| tables.to_string()).as_deref(), Some("[sharding]"));
        assert_eq!(model.gathered_at_once(), expected.stages);
        assert_eq!(model.has_gathers(), expected.gather != ticks(&[0; 4]));
        assert_eq!(model.has_gathered_memory(), expected.gathered != vec![Units::ZERO; 4]);
        assert_eq!(model.has_plain_memory(), !model.has_gathered_memory());
        for stage in 0..4 {
            let here = (model.gather(Stage::at(stage)), model.gathered(Stage::at(stage)));
            assert_eq!(here, (expected.gather[stage], expected.gathered[stage]));
        }
        // What changes something else leaves it as it is.
        for variant in [
            model.with_microbatches(2),
            model.with_step(None),
            model.with_offload(None),
            Ok(model.with_own_links()),
            Ok(model.without_weights()),
            model.resized(2),
        ] {
            assert_eq!(variant.expect("a model").sharding(), Some(&expected));
        }
    }
    let text = print(&parse(&with_sharding("gather = 5\n")).expect("a model"));
    assert!(text.ends_with("\n[sharding]\ngather = 5\ngathered = 0\nstages = 3\n"), "{text}");
    // A table that costs nothing is stated, and changes nothing.
    let nothing = parse(&with_sharding("stages = 1\n")).expect("a model");
    assert_eq!((nothing.beyond_passes(), nothing.has_plain_memory()), (None, true));
}

#[test]
fn every_complaint_about_sharded_weights_points_at_its_place() {
    // R doubles the forwards, and latencies count both ways: 112 ticks for each of 3 microbatches, with 4 gathers each.
    let most = (Model::MAX_TOTAL - 3 * 112) / 12;
    let gathers = |last: i64| format!("[0, 0, 0, {last}]");
    let too_long = format!("gather = {}", gathers(most + 1));
    let too_large = format!("gathered = {}", gathers(Model::MAX_TOTAL));
    let cases = [
        ("gather = 5", "scatter = 1", "unknown key `sharding.scatter`", "scatter"),
        (
            "gather = 5",
            "gather = [5, 5, 5]",
            "`sharding.gather` has 3 values, but there are 4 stages",
            "[5, 5, 5]",
        ),
        ("gathered = 7", "gathered = [7]", "`sharding.gathered` has 1 values, but there are 4 stages", "[7]"),
        ("gather = 5", "gather = -5", "`sharding.gather` must not be negative, but is -5", "-5"),
        (
            "gathered = 7",
            "gathered = [1, 1, -2, 1]",
            "`sharding.gathered[2]` must not be negative, but is -2",
            "-2",
        ),
        ("stages = 2", "stages = 0", "`sharding.stages` must be from 1 to 4294967295, but is 0", "0"),
        (
            "gather = 5",
            too_long.as_str(),
            "the times of all passes and of a gather of weights before each of them together exceed 288230376151711744 \
             ticks; choose a coarser unit",
            "[sharding]",
        ),
        (
            "gathered = 7",
            too_large.as_str(),
            "the activations of all microbatches and the gathered weights of all stages together exceed \
             288230376151711744 units; choose a coarser unit",
            "[sharding]",
        ),
    ];
    let whole = with_sharding("gather = 5\ngathered = 7\nstages = 2\n");
    for (piece, replacement, message, place) in cases {
        let text = whole.replace(piece, replacement);
        let error = parse(&text).expect_err(replacement);
        assert_eq!((error.to_string(), &text[error.span.clone()]), (message.to_owned(), place));
    }
    let text = whole.replace("gather = 5", &format!("gather = {}", gathers(most)));
    let model = parse(&text).expect("it just fits");
    assert_eq!(model.with_microbatches(4), Err(ModelError::GatherOverflow));
}

#[test]
fn sharded_weights_that_are_none_are_refused() {
    let model = parse(COMPLETE).expect("a model");
    let with = |gather: &[i64], gathered: &[i64], stages| {
        let gathered = gathered.iter().copied().map(Units).collect();
        model.with_sharding(Some(Sharding { gather: ticks(gather), gathered, stages }))
    };
    let short = |key, found| Err(ModelError::Length { key, found, expected: 4, of: "stages" });
    assert_eq!(with(&[1; 3], &[1; 4], 1), short("sharding.gather", 3));
    assert_eq!(with(&[1; 4], &[1; 5], 1), short("sharding.gathered", 5));
    let negative = |key| Err(ModelError::Negative { key, value: -1 });
    assert_eq!(with(&[1, 1, 1, -1], &[1; 4], 1), negative("sharding.gather"));
    assert_eq!(with(&[1; 4], &[1, -1, 1, 1], 1), negative("sharding.gathered"));
    assert_eq!(with(&[1; 4], &[1; 4], 0), Err(ModelError::NothingGathered));
    assert_eq!(with(&[i64::MAX; 4], &[1; 4], 1), Err(ModelError::GatherOverflow));
    assert_eq!(with(&[1; 4], &[i64::MAX; 4], 1), Err(ModelError::GatheredOverflow));
    let memory = model.memory();
    let kept = memory.activation.iter().zip(&memory.retained_for_weight).map(|(one, other)| one.max(other).0);
    let held: i64 = kept.sum::<i64>() + memory.weights.iter().map(|units| units.0).sum::<i64>();
    let room = Model::MAX_TOTAL - 3 * held;
    assert!(with(&[1; 4], &[0, 0, 0, room], 1).is_ok());
    assert_eq!(with(&[1; 4], &[0, 0, 1, room], 1), Err(ModelError::GatheredOverflow));
}

#[test]
fn a_model_of_alike_stages_has_sharded_weights_at_any_size() {
    let text = "name = \"n\"\n[pipeline]\ndevices = 2\nplacement = \"v\"\nmicrobatches = 8\n\
                [time]\nforward = 1\nbackward_input = 2\nbackward_weight = 3\n\
                [sharding]\ngather = 4\ngathered = 5\nstages = 2\n";
    let resized = parse(text).expect("a model").resized(3).expect("all stages are alike");
    let expected = Sharding { gather: ticks(&[4; 6]), gathered: vec![Units(5); 6], stages: 2 };
    assert_eq!(resized.sharding(), Some(&expected));
    for (piece, replacement, key) in [
        ("gather = 4", "gather = [4, 4, 4, 3]", "sharding.gather"),
        ("gathered = 5", "gathered = [5, 6, 5, 5]", "sharding.gathered"),
    ] {
        let model = parse(&text.replace(piece, replacement)).expect("a model");
        assert_eq!(model.resized(3), Err(ModelError::NotResizable { key }));
    }
}

#[test]
fn gathered_weights_are_beside_what_is_kept() {
    let placement = Placement::looped(1, 4).expect("a placement");
    let model = Model::unit(placement, 2).expect("a model");
    let with = |stages| {
        let sharded =
            model.with_sharding(Some(sharding([3, 2, 1, 4], [5, 7, 6, 8], stages))).expect("a model");
        sharded.with_uniform_activation_capacity(Some(Units(40))).expect("a model")
    };
    // A pair of two stages has both, however few may be gathered.
    for (stages, most) in [(1, 15), (2, 15), (3, 21), (4, 26), (9, 26)] {
        let model = with(stages);
        assert_eq!(model.most_gathered(Device(0)), Units(most));
        assert_eq!(model.memory_headroom(), [Units(most)]);
        assert_eq!(model.least_beside(Device(0)), Units(5));
        let (floor, ceiling) = (model.memory_floor(), model.memory_ceiling().expect("there is room"));
        assert_eq!(floor.capacity(Device(0)), Some(Units(35)));
        assert_eq!(ceiling.capacity(Device(0)), Some(Units(40 - most)));
        for plain in [&*floor, &*ceiling, &*model.with_kept_memory()] {
            assert!(plain.has_plain_memory());
            assert_eq!(plain.sharding(), Some(&sharding([3, 2, 1, 4], [0; 4], stages)));
            assert_eq!(plain.with_gathers_at_once().beyond_passes(), None);
        }
        let at_once = model.with_gathers_at_once();
        assert_eq!(at_once.sharding(), Some(&sharding([0; 4], [5, 7, 6, 8], stages)));
        let plain = model.with_plain_memory(model.memory().clone()).expect("a model");
        assert!(plain.has_plain_memory() && plain.has_gathers());
    }
}
