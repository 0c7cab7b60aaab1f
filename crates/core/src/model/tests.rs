use super::reading::FileError;
use super::*;

mod messages;
mod offload;
mod pairs;
mod parts;
mod recompute;
mod rescale;
mod sharding;
mod transient;

const COMPLETE: &str = r#"name = "complete"
source = "made up"

[pipeline]
devices = 2
placement = "v"
chunks = 2
microbatches = 3

[time]
unit = "us"
forward = [1, 2, 3, 4]
backward_input = 5
backward_weight = 0x6
communication = [7, 8, 9]

[memory]
unit = "byte"
activation = 1_000
retained_for_weight = [10, 20, 30, 40]
weights = 100
capacity = [2000, 3000]

[recompute]
checkpoint = 1
"#;

fn ticks(values: &[i64]) -> Vec<Ticks> {
    values.iter().copied().map(Ticks).collect()
}

fn units(values: &[i64]) -> Vec<Units> {
    values.iter().copied().map(Units).collect()
}

#[test]
fn every_key_of_a_model_file_is_read() {
    let model = parse(COMPLETE).expect("a model");
    assert_eq!((model.name(), model.source()), ("complete", Some("made up")));
    assert_eq!(model.placement(), &Placement::v(2).expect("a placement"));
    assert_eq!((model.devices(), model.stages(), model.microbatches()), (2, 4, 3));
    let costs = Costs {
        unit: "us".to_owned(),
        forward: ticks(&[1, 2, 3, 4]),
        backward_input: ticks(&[5; 4]),
        backward_weight: ticks(&[6; 4]),
        communication: ticks(&[7, 8, 9]),
    };
    assert_eq!(model.costs(), &costs);
    let memory = Memory {
        unit: "byte".to_owned(),
        activation: units(&[1000; 4]),
        retained_for_weight: units(&[10, 20, 30, 40]),
        checkpoint: Some(units(&[1; 4])),
        weights: units(&[100; 4]),
        capacity: vec![Some(Units(2000)), Some(Units(3000))],
    };
    assert_eq!(model.memory(), &memory);
}

#[test]
fn what_a_model_file_leaves_out_has_its_default() {
    let text = "name = \"least\"\npipeline = { placement = [[0], [1]], microbatches = 1 }\n\
                time = { forward = 1, backward_input = 1, backward_weight = 1 }\n";
    let model = parse(text).expect("a model");
    assert_eq!((model.source(), model.devices()), (None, 2));
    assert_eq!(model.placement().shape(), Shape::Linear);
    assert_eq!((model.costs().unit.as_str(), model.memory().unit.as_str()), ("tick", "stage-activation"));
    assert_eq!(model.costs().communication, ticks(&[0]));
    assert_eq!(model.memory().activation, units(&[1, 1]));
    assert_eq!(model.memory().retained_for_weight, units(&[1, 1]));
    assert_eq!((&model.memory().checkpoint, &model.memory().capacity), (&None, &vec![None, None]));
}

#[test]
fn everything_an_activation_holds_is_retained_for_w_unless_the_file_says_otherwise() {
    let text = COMPLETE.replace("retained_for_weight = [10, 20, 30, 40]\n", "");
    assert_eq!(parse(&text).expect("a model").memory().retained_for_weight, units(&[1000; 4]));
}

/// What the complete file says when one piece of it is exchanged: the message and the text at the
/// place it points at.
fn complaint(piece: &str, replacement: &str) -> (String, String) {
    assert_eq!(COMPLETE.matches(piece).count(), 1, "{piece}");
    let text = COMPLETE.replace(piece, replacement);
    let error: FileError = parse(&text).expect_err(replacement);
    (error.to_string(), text[error.span.clone()].to_owned())
}

#[test]
fn every_complaint_names_its_key_and_points_at_its_place() {
    let cases = [
        ("name = \"complete\"\n", "", "missing key `name`", ""),
        ("\"complete\"", "7", "`name` must be a quoted string, but is the integer 7", "7"),
        ("source =", "sources =", "unknown key `sources`", "sources"),
        ("[recompute]", "[recompote]", "unknown key `recompote`", "recompote"),
        ("devices = 2", "", "missing key `pipeline.devices`", "[pipeline]"),
        ("devices = 2", "devices = 0", "`pipeline.devices` must be from 1 to 4294967295, but is 0", "0"),
        ("devices = 2", "devices = true", "`pipeline.devices` must be an integer, but is true", "true"),
        (
            "devices = 2",
            "devices = 4294967295",
            "`pipeline.placement` is not a placement: 8589934590 stages are more than the 1048576 that are supported",
            "4294967295",
        ),
        (
            "\"v\"",
            "\"w\"",
            "`pipeline.placement` must be one of linear, looped, v, bidirectional, but is \"w\"",
            "\"w\"",
        ),
        (
            "\"v\"",
            "9",
            "`pipeline.placement` must be \"linear\", \"looped\", \"v\", \"bidirectional\" or a list of each device's stages, but is the integer 9",
            "9",
        ),
        (
            "\"v\"",
            "[[0, 3], 1]",
            "`pipeline.placement[1]` must be the list of a device's stages, but is the integer 1",
            "1",
        ),
        ("\"v\"", "[[0, 3], [1, -2]]", "`pipeline.placement[1][1]` must not be negative, but is -2", "-2"),
        (
            "\"v\"",
            "[[0, 3], [1, 3]]",
            "`pipeline.placement` is not a placement: stage 3 is held by device 0 and again by device 1",
            "[[0, 3], [1, 3]]",
        ),
        (
            "\"v\"",
            "[[0, 1, 2], [3]]",
            "`pipeline.chunks` is 2, but the placement lists not equally many stages on each device",
            "2",
        ),
        (
            "\"v\"",
            "[[0, 1], [2, 3], [4, 5]]",
            "`pipeline.devices` is 2, but the placement lists 3 devices",
            "2",
        ),
        (
            "chunks = 2",
            "chunks = 3",
            "`pipeline.chunks` is 3, but v placement has 2 stages on each device",
            "3",
        ),
        (
            "\"v\"",
            "\"linear\"",
            "`pipeline.chunks` is 2, but linear placement has 1 stage on each device",
            "2",
        ),
        ("\"v\"\nchunks = 2", "\"looped\"", "missing key `pipeline.chunks`", "[pipeline]"),
        ("microbatches = 3", "", "missing key `pipeline.microbatches`", "[pipeline]"),
        (
            "microbatches = 3",
            "microbatches = 0",
            "`pipeline.microbatches` must be from 1 to 4294967295, but is 0",
            "0",
        ),
        (
            "microbatches = 3",
            "microbatches = 4294967296",
            "`pipeline.microbatches` must be from 1 to 4294967295, but is 4294967296",
            "4294967296",
        ),
        (
            "microbatches = 3",
            "microbatches = 67108865",
            "4 stages times 67108865 microbatches are more passes than the 268435456 supported",
            "67108865",
        ),
        ("forward = [1, 2, 3, 4]\n", "", "missing key `time.forward`", "[time]"),
        (
            "forward = [1, 2, 3, 4]",
            "forward = [1, 2, 3]",
            "`time.forward` has 3 values, but there are 4 stages",
            "[1, 2, 3]",
        ),
        (
            "forward = [1, 2, 3, 4]",
            "forward = [1, 2, true, 4]",
            "`time.forward[2]` must be a time, such as 13480 or \"3.27 ms\", or a range such as `{ low = 300, high = 320 }`, but is true",
            "true",
        ),
        (
            "forward = [1, 2, 3, 4]",
            "forward = \"long\"",
            "`time.forward` must be a time, such as 13480 or \"3.27 ms\", a range such as `{ low = 300, high = 320 }`, or a list of these, but is the text \"long\"",
            "\"long\"",
        ),
        (
            "backward_input = 5",
            "backward_input = -5",
            "`time.backward_input` must not be negative, but is -5",
            "-5",
        ),
        (
            "backward_input = 5",
            "backward_input = 9223372036854775808",
            "`time.backward_input` must be from 0 to 9223372036854775807, but is 9223372036854775808",
            "9223372036854775808",
        ),
        (
            "backward_input = 5",
            "backward_input = 9223372036854775807",
            "the times of all passes together exceed 288230376151711744 ticks; choose a coarser unit",
            "[time]",
        ),
        (
            "communication = [7, 8, 9]",
            "communication = [7, 8, 9, 10]",
            "`time.communication` has 4 values, but there are 3 stage boundaries",
            "[7, 8, 9, 10]",
        ),
        (
            "forward = [1, 2, 3, 4]\nbackward_input = 5\nbackward_weight = 0x6",
            "forward = [1, 0, 0, 1]\nbackward_input = 0\nbackward_weight = 0",
            "the passes of device 1 take no time: at least one of its durations must be positive",
            "[time]",
        ),
        (
            "activation = 1_000",
            "activation = \"1 ms\"",
            "`memory.activation` is wrong: \"ms\" is no unit of memory: use one of B, byte, bytes, KB, kB, MB, GB, TB, KiB, MiB, GiB, TiB",
            "\"1 ms\"",
        ),
        (
            "checkpoint = 1",
            "checkpoint = [1, 2, 3, 1001]",
            "`recompute.checkpoint` of stage 3 is 1001, more than its activation of 1000",
            "[1, 2, 3, 1001]",
        ),
        (
            "activation = 1_000",
            "activation = 288230376151711744",
            "the activations of all microbatches together exceed 288230376151711744 units; choose a coarser unit",
            "288230376151711744",
        ),
        (
            "capacity = [2000, 3000]",
            "capacity = [2000, 288230376151711745]",
            "`memory.capacity` of 288230376151711745 units exceeds 288230376151711744; choose a coarser unit",
            "[2000, 288230376151711745]",
        ),
        (
            "capacity = [2000, 3000]",
            "capacity = [1, 2, 3]",
            "`memory.capacity` has 3 values, but there are 2 devices",
            "[1, 2, 3]",
        ),
        (
            "checkpoint = 1\n",
            "checkpoint = 1001",
            "`recompute.checkpoint` of stage 0 is 1001, more than its activation of 1000",
            "1001",
        ),
        ("checkpoint = 1\n", "", "missing key `recompute.checkpoint`", "[recompute]"),
        ("checkpoint = 1\n", "checkpoint = 1\nevery = 2", "unknown key `recompute.every`", "every"),
    ];
    for (piece, replacement, message, place) in cases {
        assert_eq!(complaint(piece, replacement), (message.to_owned(), place.to_owned()));
    }
}

/// A change that makes a model wrong.
type Change<'a> = &'a dyn Fn(&mut Costs, &mut Memory);

#[test]
fn parts_that_are_no_model_are_refused() {
    let good = parse(COMPLETE).expect("a model");
    let build = |change: &dyn Fn(&mut Costs, &mut Memory), microbatches| {
        let (mut costs, mut memory) = (good.costs().clone(), good.memory().clone());
        change(&mut costs, &mut memory);
        Model::new("test".to_owned(), None, good.placement().clone(), microbatches, costs, memory)
    };
    let short = |key, found, expected, of| ModelError::Length { key, found, expected, of };
    let negative = |key| ModelError::Negative { key, value: -1 };
    let cases: [(Change, u32, ModelError); 15] = [
        (&|costs, _| costs.forward.truncate(3), 3, short("time.forward", 3, 4, "stages")),
        (
            &|costs, _| costs.communication.push(Ticks(0)),
            3,
            short("time.communication", 4, 3, "stage boundaries"),
        ),
        (&|_, memory| memory.activation.truncate(3), 3, short("memory.activation", 3, 4, "stages")),
        (&|_, memory| memory.checkpoint = Some(vec![]), 3, short("recompute.checkpoint", 0, 4, "stages")),
        (&|_, memory| memory.capacity.clear(), 3, short("memory.capacity", 0, 2, "devices")),
        (&|costs, _| costs.backward_input[2] = Ticks(-1), 3, negative("time.backward_input")),
        (&|costs, _| costs.communication[2] = Ticks(-1), 3, negative("time.communication")),
        (&|_, memory| memory.retained_for_weight[0] = Units(-1), 3, negative("memory.retained_for_weight")),
        (&|_, memory| memory.checkpoint = Some(units(&[1, 1, 1, -1])), 3, negative("recompute.checkpoint")),
        (&|_, memory| memory.capacity[1] = Some(Units(-1)), 3, negative("memory.capacity")),
        (&|_, _| {}, 0, ModelError::NoMicrobatch),
        (&|_, _| {}, u32::MAX, ModelError::TooManyPasses { stages: 4, microbatches: u32::MAX }),
        (&|costs, _| costs.communication[0] = Ticks(i64::MAX), 1, ModelError::TimeOverflow),
        (&|costs, _| costs.forward[0] = Ticks(Model::MAX_TOTAL / 2), 1, ModelError::TimeOverflow),
        (&|_, memory| memory.activation[3] = Units(i64::MAX), 3, ModelError::MemoryOverflow),
    ];
    for (change, microbatches, expected) in cases {
        assert_eq!(build(change, microbatches), Err(expected));
    }
}

#[test]
fn the_largest_times_allowed_can_be_replayed_without_overflow() {
    let placement = Placement::linear(2).expect("a placement");
    let unit = Model::unit(placement.clone(), 2).expect("a model");
    let mut costs = unit.costs().clone();
    // 2 * (2F + 2F) + 2 * (I + I) + 2 * (W + W) + 2 * 2C = MAX_TOTAL with all of them equal.
    let most = Ticks(Model::MAX_TOTAL / 20);
    for list in
        [&mut costs.forward, &mut costs.backward_input, &mut costs.backward_weight, &mut costs.communication]
    {
        list.fill(most);
    }
    let model =
        |costs| Model::new("large".to_owned(), None, placement.clone(), 2, costs, unit.memory().clone());
    let mut larger = costs.clone();
    larger.forward[0] += Ticks(3);
    assert_eq!(model(larger), Err(ModelError::TimeOverflow));
    let read = |order: &str| order.split_whitespace().map(|pass| pass.parse().expect("a pass")).collect();
    let orders = vec![read("0F0 0R0 0B0 0F1 0R1 0B1"), read("1F0 1R0 1B0 1F1 1R1 1B1")];
    let schedule = crate::schedule::Schedule::new(placement.clone(), 2, orders).expect("a schedule");
    let verdict = crate::replay::replay(&model(costs).expect("a model"), &schedule);
    assert_eq!(verdict.violations, []);
    assert_eq!(verdict.timing.expect("valid").metrics.makespan, most * 18);
}

#[test]
fn a_model_of_equal_stages_has_any_other_size() {
    let text = "name = \"n\"\n[pipeline]\ndevices = 4\nplacement = \"v\"\nmicrobatches = 8\n\
                [time]\nforward = 1\nbackward_input = 2\nbackward_weight = 3\ncommunication = 4\n\
                [memory]\nactivation = 5\nretained_for_weight = 2\ncapacity = 40\n[recompute]\ncheckpoint = 1\n";
    let model = parse(text).expect("a model");
    for devices in [1, 2, 3, 4, 64] {
        let resized = model.resized(devices).expect("a model");
        assert_eq!(
            resized,
            parse(&text.replace("devices = 4", &format!("devices = {devices}"))).expect("a model")
        );
        assert_eq!(print(&resized), print(&resized.resized(devices).expect("itself")));
    }
    assert_eq!(model.resized(0), Err(ModelError::Placement(PlacementError::NoDevice)));
}

#[test]
fn a_model_with_values_of_their_own_has_no_other_size() {
    let base = "name = \"n\"\n[pipeline]\ndevices = 2\nplacement = \"linear\"\nmicrobatches = 8\n\
                [time]\nforward = 1\nbackward_input = 2\nbackward_weight = 3\n\
                [memory]\nactivation = 5\ncapacity = 40\n[recompute]\ncheckpoint = 1\n";
    for (piece, replacement, key) in [
        ("\"linear\"", "[[1], [0]]", "pipeline.placement"),
        ("forward = 1", "forward = [1, 2]", "time.forward"),
        ("activation = 5", "activation = [5, 6]", "memory.activation"),
        ("capacity = 40", "capacity = [40, 41]", "memory.capacity"),
        ("checkpoint = 1", "checkpoint = [1, 0]", "recompute.checkpoint"),
    ] {
        let text = base.replacen(piece, replacement, 1);
        let model = parse(&text).expect("a model");
        assert_eq!(model.resized(2), Ok(model.clone()), "{key}");
        let error = model.resized(3).expect_err(key).to_string();
        assert!(error.contains(&format!("`{key}`")), "{error}");
    }
}

#[test]
fn other_microbatches_and_capacities_are_checked_like_those_of_a_file() {
    let model = parse(COMPLETE).expect("a model");
    assert_eq!(model.with_microbatches(9).expect("a model").microbatches(), 9);
    assert_eq!(model.with_microbatches(0), Err(ModelError::NoMicrobatch));
    let limited = model.with_uniform_activation_capacity(Some(Units(7))).expect("a model");
    assert_eq!(
        Device::all(2).map(|device| limited.activation_capacity(device)).collect::<Vec<_>>(),
        [Some(Units(7)); 2]
    );
    assert_eq!(
        model.with_uniform_activation_capacity(Some(Units(-7))),
        Err(ModelError::Negative { key: "memory.capacity", value: -7 })
    );
    assert!(model.with_activation_capacity(vec![None]).is_err());
    assert_eq!(model.work(Device(0)), Ticks(1 + 11 + 4 + 11));
    assert_eq!(model.most_work(), Ticks(27));
}

#[test]
fn capacities_of_some_devices_only_are_written_and_read() {
    let model = parse(COMPLETE)
        .expect("a model")
        .with_activation_capacity(vec![Some(Units(1800)), None])
        .expect("capacities");
    let text = print(&model);
    assert!(text.contains("capacity = [2000, \"none\"]"), "{text}");
    assert_eq!(parse(&text), Ok(model));
    let error = parse(&text.replace("\"none\"", "\"all\"")).expect_err("no capacity").to_string();
    assert_eq!(
        error,
        "`memory.capacity[1]` must be an amount of memory, such as 12 or \"1.5 GiB\", or \"none\", but is the text \"all\""
    );
}

#[test]
fn the_weights_of_a_device_are_taken_from_its_capacity() {
    let model = parse(COMPLETE).expect("a model");
    let capacities =
        |model: &Model| Device::all(2).map(|at| model.activation_capacity(at)).collect::<Vec<_>>();
    assert_eq!(model.with_activation_capacity(capacities(&model)), Ok(model.clone()));
    assert_eq!(
        capacities(&model.with_uniform_capacity(Units(300)).expect("a capacity")),
        [Some(Units(100)); 2]
    );
    assert!(model.with_uniform_capacity(Units(199)).is_err());
    let light = model.without_weights();
    assert_eq!((capacities(&light), light.resident(Device(0))), (capacities(&model), Units(0)));
    assert_eq!((model.weights(Stage(3)), model.resident(Device(1))), (Units(100), Units(200)));
    assert_eq!(
        Device::all(2).map(|at| model.activation_capacity(at)).collect::<Vec<_>>(),
        [1800, 2800].map(|capacity| Some(Units(capacity)))
    );
    assert_eq!(
        complaint("weights = 100", "weights = 1200"),
        (
            "the weights on device 0 take 2400 byte, more than its limit of 2000 byte".to_owned(),
            "[2000, 3000]".to_owned()
        )
    );
}

#[test]
fn a_pipeline_in_two_directions_is_read_and_printed_back() {
    let text = COMPLETE.replace("\"v\"", "\"bidirectional\"");
    let model = parse(&text).expect("a model");
    assert_eq!(model.placement(), &Placement::bidirectional(2).expect("a placement"));
    assert_eq!(parse(&print(&model)), Ok(model));
}

/// The complete file with an end of the step.
fn with_step() -> String {
    format!("{COMPLETE}\n[step]\nreduce = [7, 8, 9, 10]\noptimizer = 11\n")
}

#[test]
fn the_end_of_a_step_is_read_and_printed_back() {
    let model = parse(&with_step()).expect("a model");
    let step = StepEnd { reduce: ticks(&[7, 8, 9, 10]), optimizer: ticks(&[11; 4]) };
    assert_eq!(model.step(), Some(&step));
    let plain = parse(COMPLETE).expect("a model");
    assert_eq!(plain.step(), None);
    assert_eq!(plain.with_step(Some(step)), Ok(model.clone()));
    assert_eq!(model.with_step(None), Ok(plain.clone()));
    assert!(!print(&plain).contains("step"));
    let text = print(&model);
    assert!(text.ends_with("\n[step]\nreduce = [7, 8, 9, 10]\noptimizer = 11\n"), "{text}");
    assert_eq!(parse(&text), Ok(model));

    // What is left out is zero, and a table that is stated is printed.
    let stated = parse(&format!("{COMPLETE}\n[step]\n")).expect("a model");
    assert_eq!(stated.step(), Some(&StepEnd { reduce: ticks(&[0; 4]), optimizer: ticks(&[0; 4]) }));
    let text = print(&stated);
    assert!(text.ends_with("\n[step]\nreduce = 0\noptimizer = 0\n"), "{text}");
    assert_eq!(parse(&text), Ok(stated));
}

#[test]
fn every_complaint_about_the_end_of_a_step_points_at_its_place() {
    let passes_of = |most: i64| format!("[0, 0, 0, {}]", Model::MAX_TOTAL - 3 * 112 + most);
    let [enough, too_much] = [0, 1].map(passes_of);
    let cases = [
        ("reduce = [7, 8, 9, 10]", "scatter = 1", "unknown key `step.scatter`", "scatter"),
        ("[step]", "step = 3\n[other]", "unknown key `other`", "other"),
        ("[7, 8, 9, 10]", "[7, 8, 9]", "`step.reduce` has 3 values, but there are 4 stages", "[7, 8, 9]"),
        (
            "optimizer = 11",
            "optimizer = [11]",
            "`step.optimizer` has 1 values, but there are 4 stages",
            "[11]",
        ),
        ("[7, 8, 9, 10]", "[7, 8, -9, 10]", "`step.reduce[2]` must not be negative, but is -9", "-9"),
        ("optimizer = 11", "optimizer = -1", "`step.optimizer` must not be negative, but is -1", "-1"),
        ("optimizer = 11", "optimizer = -1.5", "`step.optimizer` is wrong: \"-1.5\" is negative", "-1.5"),
        (
            "[7, 8, 9, 10]",
            too_much.as_str(),
            "the times of all passes and of the end of the step together exceed 288230376151711744 ticks; choose a \
             coarser unit",
            "[step]",
        ),
    ];
    for (piece, replacement, message, place) in cases {
        let text = with_step().replace(piece, replacement);
        let error = parse(&text).expect_err(replacement);
        assert_eq!((error.to_string(), &text[error.span.clone()]), (message.to_owned(), place));
    }
    // R doubles the forwards, and latencies count both ways: (2*10 + 20 + 24 + 2*24) * 3 microbatches. The step counts once.
    let text = with_step().replace("[7, 8, 9, 10]", &enough).replace("optimizer = 11", "optimizer = 0");
    let model = parse(&text).expect("it just fits");
    assert_eq!(model.with_microbatches(4), Err(ModelError::StepOverflow));
    let text = with_step().replace("[7, 8, 9, 10]", &too_much).replace("optimizer = 11", "optimizer = 0");
    assert!(matches!(parse(&text), Err(error) if error.to_string().contains("end of the step")));
}

#[test]
fn steps_that_are_none_are_refused() {
    let model = parse(COMPLETE).expect("a model");
    let with = |reduce: &[i64], optimizer: &[i64]| {
        model.with_step(Some(StepEnd { reduce: ticks(reduce), optimizer: ticks(optimizer) }))
    };
    let short = |key, found| Err(ModelError::Length { key, found, expected: 4, of: "stages" });
    assert_eq!(with(&[1; 3], &[1; 4]), short("step.reduce", 3));
    assert_eq!(with(&[1; 4], &[1; 5]), short("step.optimizer", 5));
    let negative = |key| Err(ModelError::Negative { key, value: -1 });
    assert_eq!(with(&[1, 1, 1, -1], &[1; 4]), negative("step.reduce"));
    assert_eq!(with(&[1; 4], &[-1, 1, 1, 1]), negative("step.optimizer"));
    assert_eq!(with(&[i64::MAX; 4], &[1; 4]), Err(ModelError::StepOverflow));
    assert_eq!(with(&[0; 4], &[0, 0, 0, Model::MAX_TOTAL]), Err(ModelError::StepOverflow));
}

#[test]
fn every_variant_of_a_model_keeps_the_end_of_its_step() {
    let model = parse(&with_step()).expect("a model");
    let variants = [
        model.with_microbatches(9),
        model.with_activation_capacity(vec![None; 2]),
        model.with_uniform_activation_capacity(Some(Units(7))),
        model.with_uniform_capacity(Units(300)),
        model.with_costs(model.costs().clone()),
        model.with_overlap(Overlap::default()),
        Ok(model.without_weights()),
        model.resized(2),
    ];
    for variant in variants {
        assert_eq!(variant.expect("a model").step(), model.step());
    }
    let text = "name = \"n\"\n[pipeline]\ndevices = 2\nplacement = \"v\"\nmicrobatches = 8\n\
                [time]\nforward = 1\nbackward_input = 2\nbackward_weight = 3\n[step]\nreduce = 4\noptimizer = 5\n";
    let resized = parse(text).expect("a model").resized(3).expect("all stages are alike");
    assert_eq!(resized.step(), Some(&StepEnd { reduce: ticks(&[4; 6]), optimizer: ticks(&[5; 6]) }));
    for (piece, replacement, key) in [
        ("reduce = 4", "reduce = [4, 4, 4, 3]", "step.reduce"),
        ("optimizer = 5", "optimizer = [5, 6, 5, 5]", "step.optimizer"),
    ] {
        let model = parse(&text.replace(piece, replacement)).expect("a model");
        assert_eq!(model.resized(3), Err(ModelError::NotResizable { key }));
    }
}

#[test]
fn a_model_names_the_tables_that_go_beyond_passes() {
    let plain = parse(COMPLETE).expect("a model");
    let pairs = |duration| {
        let overlap =
            Overlap { forward_backward: PairDurations::Uniform(Ticks(duration)), ..Overlap::default() };
        let mut costs = plain.costs().clone();
        costs.forward = ticks(&[4; 4]);
        plain.with_costs(costs).and_then(|model| model.with_overlap(overlap)).expect("a model")
    };
    let step = |model: &Model, reduce: i64, optimizer: i64| {
        let step = StepEnd { reduce: ticks(&[0, 0, 0, reduce]), optimizer: ticks(&[0, 0, optimizer, 0]) };
        model.with_step(Some(step)).expect("a model")
    };
    let beyond = |model: &Model| model.beyond_passes().map(|tables| tables.to_string());
    assert_eq!(beyond(&plain), None);
    assert_eq!(beyond(&pairs(15)), None, "as long as both");
    assert_eq!(beyond(&step(&plain, 0, 0)), None);
    assert_eq!(beyond(&pairs(14)).as_deref(), Some("[overlap]"));
    assert_eq!(beyond(&step(&plain, 1, 0)).as_deref(), Some("[step]"));
    assert_eq!(beyond(&step(&plain, 0, 1)).as_deref(), Some("[step]"));
    let both = step(&pairs(14), 1, 1).beyond_passes().expect("both");
    assert_eq!(
        (both.to_string().as_str(), both.tables()),
        ("[overlap] and [step]", &["[overlap]", "[step]"][..])
    );
}
