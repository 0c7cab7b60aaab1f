//! Job files: what each key means, which choices follow, and what a cut makes of the layers. All figures are worked out by hand.

mod believed;
mod counted;

use bubbleproof_core::job::{self, ChoiceError, ChoicePlacement, Cut, CutError, Job, LayersError, Saving};
use bubbleproof_core::model::{self, Stage, Ticks, Units};
use num_rational::Ratio;

/// Every key once, each with an amount of its own.
const EVERY_KEY: &str = r#"
name = "every-key"
source = "by hand"
estimate = true
layers = ["embedding", "2 block", "head", "block"]

[units]
time = "us"
memory = "KiB"

[layer.embedding]
forward = 1
backward_input = 0
backward_weight = "500 ns"
weights = 10

[layer.block]
forward = "0.0031 ms"
backward_input = 4
backward_weight = 2.0005
recompute = 3.5
activation = 7
retained_for_weight = 5
checkpoint = "1.5 KiB"
offload = 4
weights = 20
optimizer_state = "30 KiB"
gradients = 8
optimizer = "9 us"
output = "2 KB"
operations = "2.5 GFLOP"

[layer.head]
forward = 6
backward_input = 7
backward_weight = 8
activation = 3
output = 1

[[profile]]

[[profile]]
tensor = 2
microbatch_size = 3
[profile.layer.block]
forward = 2

[machine]
devices = 24
devices_per_node = 4
memory = "100.0001 KiB"
latency = 10
bandwidth = "2 GB/s"
node_latency = "20 us"
node_bandwidth = "1 GB/s"
host_bandwidth = "4 GB/s"
peak = "3 TFLOP/s"

[choices]
global_batch = 24
pipeline = [4, 2, 2]
tensor = 1
microbatch_size = [1]
placement = ["v", "linear", "looped 2", "v"]
recompute = ["auto", "none"]
offload = "auto"
shard_optimizer = true
empty_stages = true
"#;

fn parsed(text: &str) -> Job {
    job::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn refused(text: &str) -> String {
    job::parse(text).expect_err(text).to_string()
}

#[test]
fn every_key_is_read_in_whole_nanoseconds_and_bytes() {
    let job = parsed(EVERY_KEY);
    assert_eq!(
        (job.name.as_str(), job.source.as_deref(), job.is_estimate),
        ("every-key", Some("by hand"), true)
    );
    assert_eq!((job.time_unit.as_str(), job.memory_unit.as_str()), ("ns", "byte"));
    assert_eq!(job.layers, ["embedding", "block", "block", "head", "block"]);
    assert_eq!(job.profiles.keys().copied().collect::<Vec<_>>(), [(1, 1), (2, 3)]);
    let of = |tensor, size, kind: &str| job.profiles[&(tensor, size)].layers[kind].clone();
    let block = of(1, 1, "block");
    assert_eq!((block.forward, block.backward_input), (3_100, 4_000));
    // Half a nanosecond is rounded up.
    assert_eq!((block.backward_weight, block.recompute), (2_001, Some(3_500)));
    assert_eq!((block.activation, block.retained_for_weight), (7 << 10, Some(5 << 10)));
    assert_eq!((block.checkpoint, block.offload), (Some(1536), 4 << 10));
    assert_eq!((block.weights, block.optimizer_state, block.gradients), (20 << 10, 30 << 10, 8 << 10));
    assert_eq!((block.optimizer, block.output), (9_000, 2_000));
    assert_eq!(block.operations, Ratio::from_integer(2_500_000_000));
    let embedding = of(1, 1, "embedding");
    assert_eq!((embedding.forward, embedding.backward_input, embedding.backward_weight), (1_000, 0, 500));
    assert_eq!((embedding.activation, embedding.retained_for_weight, embedding.checkpoint), (0, None, None));
    assert_eq!((embedding.recompute, embedding.optimizer, embedding.output), (None, 0, 0));
    assert_eq!(embedding.operations, Ratio::from_integer(0));
    // What a profile leaves out, [layer] has.
    let other = of(2, 3, "block");
    assert_eq!((other.forward, other.backward_input), (2_000, 4_000));
    assert_eq!(of(2, 3, "head"), of(1, 1, "head"));
}

#[test]
fn the_machine_and_the_choices_are_read() {
    let Job { machine, choices, .. } = parsed(EVERY_KEY);
    assert_eq!((machine.devices, machine.devices_per_node), (24, 4));
    // A limit is rounded down.
    assert_eq!(machine.memory, Some(102_400));
    assert_eq!((machine.near.latency, machine.far.latency), (10_000, 20_000));
    assert_eq!(machine.near.bandwidth, Some(Ratio::from_integer(2)));
    assert_eq!(machine.far.bandwidth, Some(Ratio::from_integer(1)));
    assert_eq!(machine.host_bandwidth, Some(Ratio::from_integer(4)));
    assert_eq!(machine.peak, Some(Ratio::from_integer(3_000_000_000_000)));
    assert_eq!((choices.global_batch, choices.pipeline), (24, Some(vec![2, 4])));
    assert_eq!((choices.tensor, choices.microbatch_size), (vec![1], vec![1]));
    let placements = [ChoicePlacement::V, ChoicePlacement::Linear, ChoicePlacement::Looped(2)];
    assert_eq!(choices.placement, placements);
    assert_eq!((choices.recompute, choices.offload), (vec![false, true], vec![true]));
    assert!(choices.shard_optimizer && choices.empty_stages);
    // A message of 2001 units at two a tick, and one of 2001 at one.
    assert_eq!(machine.near.message(2001), Some(10_000 + 1001));
    assert_eq!(machine.far.message(2001), Some(20_000 + 2001));
    assert_eq!(machine.near.transfer(Ratio::new(5, 2)), Some(2));
}

/// Plain counts: no unit, and the defaults of all that is left out.
const PLAIN: &str = r#"
name = "plain"
layers = ["3 block", "head"]
[layer.block]
forward = 3
backward_input = 4
backward_weight = 2
activation = 5
output = 9
[layer.head]
forward = 6
backward_input = 7
backward_weight = 6
[machine]
devices = 4
[choices]
global_batch = 8
"#;

#[test]
fn what_is_left_out_has_defaults() {
    let job = parsed(PLAIN);
    assert_eq!((job.time_unit.as_str(), job.memory_unit.as_str(), job.is_estimate), ("tick", "unit", false));
    let Job { machine, choices, .. } = &job;
    assert_eq!((machine.devices_per_node, machine.memory, machine.peak), (4, None, None));
    assert_eq!((machine.near.latency, machine.near.bandwidth, &machine.far), (0, None, &machine.near));
    assert_eq!(
        (choices.pipeline.as_ref(), choices.placement.as_slice()),
        (None, &[ChoicePlacement::Linear][..])
    );
    assert_eq!((&choices.recompute, &choices.offload), (&vec![false], &vec![false]));
    assert!(!choices.shard_optimizer && !choices.empty_stages);
    // Without a bandwidth, size does not matter.
    assert_eq!(machine.near.message(9), Some(0));
    // The network of nodes is that within a node, where nothing else is said.
    let networked = PLAIN.replace("devices = 4", "devices = 4\nlatency = 3");
    assert_eq!(parsed(&networked).machine.far.latency, 3);
}

/// All names of choices.
fn names(job: &Job) -> Vec<String> {
    job.choices().expect("choices").iter().map(ToString::to_string).collect()
}

#[test]
fn degrees_divide_the_devices_and_the_batch() {
    // Four layers: pipelines of 1, 2 and 4 of four devices; replicas take the rest.
    assert_eq!(names(&parsed(PLAIN)), ["p1 t1 d4 b1 linear", "p2 t1 d2 b1 linear", "p4 t1 d1 b1 linear"]);
    let microbatches = |job: &Job| -> Vec<u32> {
        job.choices().expect("choices").iter().map(|choice| choice.microbatches).collect()
    };
    assert_eq!(microbatches(&parsed(PLAIN)), [2, 4, 8]);
    // Six samples are not divided among four replicas.
    let six = PLAIN.replace("global_batch = 8", "global_batch = 6");
    assert_eq!(names(&parsed(&six)), ["p2 t1 d2 b1 linear", "p4 t1 d1 b1 linear"]);
    assert_eq!(microbatches(&parsed(&six)), [3, 6]);
    // Three do not divide four devices, and eight stages are more than four layers.
    let v = PLAIN.replace("global_batch = 8", "global_batch = 8\npipeline = [2, 3, 4]\nplacement = \"v\"");
    assert_eq!(names(&parsed(&v)), ["p2 t1 d2 b1 v"]);
    let empty = v.replace("placement", "empty_stages = true\nplacement");
    assert_eq!(names(&parsed(&empty)), ["p2 t1 d2 b1 v", "p4 t1 d1 b1 v"]);
    let every = parsed(EVERY_KEY);
    assert_eq!(
        names(&every),
        [
            "p2 t1 d12 b1 v offload",
            "p2 t1 d12 b1 v recompute offload",
            "p2 t1 d12 b1 linear offload",
            "p2 t1 d12 b1 linear recompute offload",
            "p2 t1 d12 b1 looped 2 offload",
            "p2 t1 d12 b1 looped 2 recompute offload",
            "p4 t1 d6 b1 v offload",
            "p4 t1 d6 b1 v recompute offload",
            "p4 t1 d6 b1 linear offload",
            "p4 t1 d6 b1 linear recompute offload",
            "p4 t1 d6 b1 looped 2 offload",
            "p4 t1 d6 b1 looped 2 recompute offload",
        ]
    );
    // Both profiles, where nothing is chosen.
    let open = EVERY_KEY.replace("tensor = 1\nmicrobatch_size = [1]\n", "");
    assert!(
        job::parse(&open)
            .expect_err("costs are missing")
            .to_string()
            .contains("tensor = 1 and microbatch_size = 3")
    );
    let tensor = EVERY_KEY.replace("tensor = 1\nmicrobatch_size = [1]", "tensor = 2\nmicrobatch_size = 3");
    let tensor = parsed(&tensor.replace("global_batch = 24", "global_batch = 18"));
    assert_eq!(names(&tensor)[0], "p2 t2 d6 b3 v offload");
    assert_eq!(microbatches(&tensor)[0], 1);
    assert_eq!(names(&tensor).len(), 12);
}

#[test]
fn choices_that_would_leave_samples_over_are_counted() {
    let undivided = |job: &Job| {
        let undivided = job.undivided();
        (undivided.choices, undivided.degrees.into_iter().collect::<Vec<_>>())
    };
    let mut job = parsed(PLAIN);
    job.choices.placement = vec![ChoicePlacement::Linear, ChoicePlacement::V];
    job.choices.recompute = vec![false, true];
    job.choices.offload = vec![false, true];
    assert_eq!(undivided(&job), (0, vec![]));
    let all = job.choices().expect("choices").len();
    // Six samples are not divided among four replicas: a pipeline of one, with both placements and four ways to save memory.
    job.choices.global_batch = 6;
    assert_eq!(undivided(&job), (8, vec![(4, 1)]));
    assert_eq!(job.choices().expect("choices").len() + 8, all);
    // Nor are eight into microbatches of three; a pipeline of four has too few layers for V placement anyway.
    job.choices.global_batch = 8;
    (job.choices.placement, job.choices.pipeline) = (vec![ChoicePlacement::V], Some(vec![2, 4]));
    job.choices.microbatch_size = vec![3];
    assert_eq!(undivided(&job), (4, vec![(2, 3)]));
    // Three devices of four are no pipeline, whatever the batch.
    job.choices.pipeline = Some(vec![3]);
    assert_eq!(undivided(&job), (0, vec![]));
}

#[test]
fn too_few_and_too_many_choices_are_refused() {
    let none = parsed(&PLAIN.replace("global_batch = 8", "global_batch = 8\npipeline = 3"));
    assert_eq!(none.choices(), Err(ChoiceError::None { devices: 4, batch: 8, atoms: 4 }));
    // A file has none of these, but a job may be made otherwise.
    for (devices, batch, pipeline) in [(4, 0, 1), (0, 8, 1), (0, 8, 0), (0, 0, 1), (4, 8, 0)] {
        let mut job = parsed(PLAIN);
        (job.machine.devices, job.choices.global_batch) = (devices, batch);
        job.choices.pipeline = Some(vec![pipeline]);
        assert_eq!(job.choices(), Err(ChoiceError::None { devices, batch, atoms: 4 }));
    }
    let mut job = parsed(PLAIN);
    job.choices.pipeline = Some((1..=50_000).collect());
    job.choices.recompute = vec![false, true];
    // As many as there may be; most of them suit nothing.
    assert_eq!(job.choices().map(|choices| choices.len()), Ok(6));
    job.choices.placement = vec![ChoicePlacement::Linear, ChoicePlacement::V];
    assert_eq!(
        job.choices(),
        Err(ChoiceError::TooMany { found: 200_000, widest: "pipeline", values: 50_000 })
    );
}

#[test]
fn a_cut_adds_up_the_layers_of_each_stage() {
    let job = parsed(EVERY_KEY);
    let choices = job.choices().expect("choices");
    let choice =
        choices.iter().find(|one| one.to_string() == "p2 t1 d12 b1 v recompute offload").expect("open");
    let layers = job.layers(choice).expect("layers");
    assert_eq!(layers.name, "every-key p2 t1 d12 b1 v recompute offload");
    assert_eq!((layers.stages(), layers.microbatches, layers.capacity), (4, 2, Some(Units(102_400))));
    let model = layers.model(&Cut::new(vec![2, 1, 0, 2])).expect("a model");
    assert_eq!(model.name(), "every-key p2 t1 d12 b1 v recompute offload 2,1,0,2");
    assert_eq!(model.source(), Some("by hand"));
    let ticks = |list: [i64; 4]| list.map(Ticks).to_vec();
    let costs = model.costs();
    assert_eq!(costs.forward, ticks([4_100, 3_100, 0, 9_100]));
    assert_eq!(costs.backward_input, ticks([4_000, 4_000, 0, 11_000]));
    assert_eq!(costs.backward_weight, ticks([2_501, 2_001, 0, 10_001]));
    // Ranks of a pipeline are twelve devices apart, on other nodes. After a block goes 2 KB at a byte a tick. In a V the second
    // boundary lies within a device, and the message before the head is that of the block before the empty stage.
    assert_eq!(costs.communication, [22_000, 0, 22_000].map(Ticks));
    assert_eq!(layers.far, [true, false, true]);
    let units = |of: fn(&model::Model, Stage) -> Units| {
        Stage::all(4).map(|stage| of(&model, stage).0).collect::<Vec<i64>>()
    };
    assert_eq!(units(model::Model::activation), [7 << 10, 7 << 10, 0, 10 << 10]);
    // The head keeps all that it has for W.
    assert_eq!(units(model::Model::retained_for_weight), [5 << 10, 5 << 10, 0, 8 << 10]);
    // Twelve replicas share 30 KiB.
    assert_eq!(units(model::Model::weights), [33_280, 23_040, 0, 23_040]);
    let text = model::print(&model);
    for line in [
        // The head has no checkpoint, so it keeps its activation and costs nothing again.
        "checkpoint = [1536, 1536, 0, 4608]",
        "duration = [3500, 3500, 0, 3500]",
        // 4 KiB at four bytes a tick.
        "[4096, 4096, 0, 4096]",
        "[1024, 1024, 0, 1024]",
        // A ring of twelve sends 2 * 11/12 of 8 KiB at a byte a tick.
        "reduce = [15019, 15019, 0, 15019]",
        "optimizer = [9000, 9000, 0, 9000]",
        "capacity = 102400",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let plain = choices.iter().find(|one| one.to_string() == "p4 t1 d6 b1 linear offload").expect("open");
    assert_eq!(plain.saving, Saving { recompute: false, offload: true });
    let layers = job.layers(plain).expect("layers");
    let text = model::print(&layers.model(&Cut::new(vec![1, 2, 1, 1])).expect("a model"));
    assert!(!text.contains("checkpoint"), "{text}");
    // After the embedding, which sends nothing, after a block and after the head.
    assert!(text.contains("communication = [20000, 22000, 21024]"), "{text}");
}

#[test]
fn replicas_reduce_within_a_node_where_they_lie_in_one() {
    let networked = PLAIN
        .replace("activation = 5", "activation = \"5 B\"\ngradients = \"100 B\"")
        .replace("output = 9", "output = \"9 B\"");
    let timed =
        networked.replace("forward = 3", "forward = \"3 ns\"").replace("input = 4", "input = \"4 ns\"");
    let timed = timed.replace("weight = 2", "weight = \"2 ns\"").replace("forward = 6", "forward = \"6 ns\"");
    let timed = timed.replace("input = 7", "input = \"7 ns\"").replace("weight = 6", "weight = \"6 ns\"");
    let of = |machine: &str, choice: usize| {
        let job = parsed(&timed.replace("devices = 4", machine));
        let choices = job.choices().expect("choices");
        job.layers(&choices[choice]).map(|layers| layers.atoms[0].reduce)
    };
    let fast = "devices = 4\nbandwidth = \"2 GB/s\"\nnode_bandwidth = \"1 GB/s\"";
    let nodes = "devices = 4\ndevices_per_node = 2\nbandwidth = \"2 GB/s\"\nnode_bandwidth = \"1 GB/s\"";
    // Four replicas send 2 * 3/4 of 100 bytes, two send all of them, one none.
    assert_eq!([0, 1, 2].map(|choice| of(fast, choice)), [75, 50, 0].map(|ticks| Ok(Ticks(ticks))));
    assert_eq!([0, 1, 2].map(|choice| of(nodes, choice)), [150, 50, 0].map(|ticks| Ok(Ticks(ticks))));
    let slow = "devices = 4\nbandwidth = \"3 GB/s\"";
    assert_eq!(of(slow, 0), Ok(Ticks(50)));
    assert_eq!(of("devices = 4", 0), Err(ChoiceError::NoBandwidth { data: 4 }));
    assert_eq!(of("devices = 4", 2), Ok(Ticks(0)));
}

/// Sixteen devices in nodes of four: pipeline ranks are as far apart as tensor ranks and replicas make them.
#[test]
fn messages_go_between_nodes_where_pipeline_ranks_are_in_different_ones() {
    let text = PLAIN
        .replace(
            "devices = 4",
            "devices = 16\ndevices_per_node = 4\nnode_latency = 7\nlatency = 1\nbandwidth = 100",
        )
        .replace("global_batch = 8", "global_batch = 16\npipeline = [2, 4]\ntensor = [1, 2, 4]")
        .replace("[machine]", "[[profile]]\n[[profile]]\ntensor = 2\n[[profile]]\ntensor = 4\n[machine]");
    let job = parsed(&text);
    let far = |pipeline: u32, tensor: u32| {
        let choices = job.choices().expect("choices");
        let is = |choice: &&job::Choice| (choice.pipeline, choice.tensor) == (pipeline, tensor);
        job.layers(choices.iter().find(is).expect("it is open")).expect("layers").far
    };
    // A pipeline rank has 16 / p devices: eight or four, and the next one begins in another node.
    for tensor in [1, 2, 4] {
        assert_eq!((far(2, tensor), far(4, tensor)), (vec![true], vec![true; 3]), "{tensor}");
    }
    let wide = parsed(&text.replace("devices_per_node = 4", "devices_per_node = 8"));
    let far = |tensor: u32| {
        let choices = wide.choices().expect("choices");
        let is = |choice: &&job::Choice| (choice.pipeline, choice.tensor) == (4, tensor);
        wide.layers(choices.iter().find(is).expect("it is open")).expect("layers").far
    };
    // Two of four ranks lie in each node.
    assert_eq!([1, 2, 4].map(far), [(); 3].map(|()| vec![false, true, false]));
}

#[test]
fn a_bandwidth_without_a_unit_is_one_of_plain_numbers() {
    let near = parsed(&PLAIN.replace("devices = 4", "devices = 4\nbandwidth = 2.5")).machine.near;
    assert_eq!(near.bandwidth, Some(Ratio::new(5, 2)));
    assert_eq!((near.message(5), near.message(6)), (Some(near.latency + 2), Some(near.latency + 3)));
    // What `[units]` names is a size or a time, and neither is a bandwidth; with units elsewhere one is needed here.
    for other in ["[units]\ntime = \"ms\"\n", "[units]\nmemory = \"GiB\"\n"] {
        let text = PLAIN.replace("[machine]\n", &format!("{other}[machine]\nbandwidth = 2\n"));
        assert!(refused(&text).contains("2 has no unit"), "{}", refused(&text));
    }
}

#[test]
fn costs_of_other_degrees_are_missing() {
    let job = parsed(PLAIN);
    let choice = job.choices().expect("choices")[0];
    let other = job::Choice { tensor: 2, ..choice };
    assert_eq!(job.layers(&other), Err(ChoiceError::NoProfile { tensor: 2, microbatch_size: 1 }));
}

#[test]
fn cuts_that_do_not_suit_are_refused() {
    let job = parsed(PLAIN);
    let layers = job.layers(&job.choices().expect("choices")[1]).expect("layers");
    assert_eq!(layers.even().layers(), [2, 2]);
    assert_eq!(Cut::even(7, 3).layers(), [3, 2, 2]);
    assert_eq!(Cut::even(8, 3).to_string(), "3,3,2");
    assert_eq!(Cut::new(vec![2, 0, 1]).ranges().collect::<Vec<_>>(), [0..2, 2..2, 2..3]);
    assert_eq!(layers.model(&Cut::new(vec![4])).err(), Some(CutError::Stages { found: 1, expected: 2 }));
    assert_eq!(layers.model(&Cut::new(vec![2, 3])).err(), Some(CutError::Layers { found: 5, expected: 4 }));
    assert_eq!(layers.model(&Cut::new(vec![2, 1])).err(), Some(CutError::Layers { found: 3, expected: 4 }));
    assert_eq!(layers.model(&Cut::new(vec![4, 0])).err(), Some(CutError::Empty(Stage(1))));
    let model = layers.model(&Cut::new(vec![1, 3])).expect("a model");
    assert_eq!(model.costs().forward, [Ticks(3), Ticks(12)]);
    assert_eq!(layers.atoms.iter().map(|atom| atom.work().0).collect::<Vec<_>>(), [9, 9, 9, 19]);
    // A model without anything to recompute, copy or do at the end says nothing of it.
    let text = model::print(&model);
    assert!(["recompute", "step", "offload"].iter().all(|table| !text.contains(table)), "{text}");
}

#[test]
fn placements_and_layers_are_read_as_they_are_written() {
    for (text, placement, chunks) in [
        ("linear", ChoicePlacement::Linear, 1),
        ("v", ChoicePlacement::V, 2),
        ("looped 2", ChoicePlacement::Looped(2), 2),
        ("looped 64", ChoicePlacement::Looped(64), 64),
    ] {
        assert_eq!(ChoicePlacement::parse(text), Some(placement));
        assert_eq!(ChoicePlacement::try_from(text.to_owned()).ok(), Some(placement));
        assert_eq!((placement.to_string().as_str(), placement.chunks()), (text, chunks));
        assert_eq!(placement.over(3).expect("a placement").stages(), 3 * chunks);
    }
    for text in ["", "looped", "looped 1", "looped 65", "looped two", "V", "zigzag"] {
        assert_eq!(ChoicePlacement::parse(text), None, "{text}");
    }
    assert_eq!(job::layers("head"), Ok((1, "head")));
    assert_eq!(job::layers("32 block"), Ok((32, "block")));
    assert_eq!(job::layers("2  a-b_c.d9"), Ok((2, "a-b_c.d9")));
    assert_eq!(job::layers("many block"), Err(LayersError::Count));
    for text in ["", "3 ", "a,b", "3 a b"] {
        assert_eq!(job::layers(text), Err(LayersError::Name), "{text:?}");
    }
}

/// Each mistake, with what is said of it.
#[test]
fn every_mistake_of_a_job_is_named() {
    let changes: &[(&str, &str, &str)] = &[
        ("name = \"plain\"\n", "", "name"),
        ("layers = [\"3 block\", \"head\"]\n", "", "layers"),
        ("[\"3 block\", \"head\"]", "3", "a list of kinds of layers"),
        ("[\"3 block\", \"head\"]", "[]", "has no layer"),
        ("\"3 block\"", "\"4096 block\"", "has 4097 layers or more, but 4096 are supported"),
        ("\"3 block\"", "\"x block\"", "is not a kind of layer"),
        ("\"head\"]", "\"he,ad\"]", "names no kind of layer"),
        ("\"head\"]", "\"tail\"]", "is a kind that `layers` does not name"),
        ("[layer.head]\nforward = 6\nbackward_input = 7\nbackward_weight = 6\n", "", "head"),
        ("forward = 6\n", "", "forward"),
        ("forward = 6\n", "forward = -6\n", "forward"),
        ("forward = 6\n", "forward = true\n", "a time, such as"),
        ("forward = 6\n", "forward = 6.5\n", "6.5"),
        ("forward = 6\n", "forward = 0x10\n", "a time, such as"),
        ("forward = 6\n", "forward = \"6 ms\"\n", "write all with units"),
        ("forward = 3\n", "forward = \"3 ms\"\n", "has no unit"),
        ("forward = 3\n", "forward = \"3 fortnight\"\n", "fortnight"),
        ("forward = 6\n", "forward = 6\ncolour = 1\n", "colour"),
        ("forward = 6\n", "forward = 99999999999999999999\n", "99999999999999999999"),
        ("forward = 3\n", "forward = \"9999999999999999 s\"\n", "is too large to count"),
        ("activation = 5\n", "activation = \"x\"\n", "activation"),
        ("activation = 5\n", "activation = []\n", "an amount of memory, such as"),
        ("activation = 5\n", "activation = 5\ncheckpoint = 6\n", "is more than the activation"),
        ("activation = 5\n", "activation = 5\noffload = 6\n", "is more than the activation"),
        ("activation = 5\n", "activation = 5\noperations = \"0 FLOP\"\n", "must not be zero"),
        ("activation = 5\n", "activation = 5\noperations = []\n", "an amount of work, such as"),
        ("devices = 4\n", "", "devices"),
        ("devices = 4\n", "devices = 0\n", "devices"),
        ("devices = 4\n", "devices = 4\ndevices_per_node = 3\n", "must divide the 4 devices"),
        ("devices = 4\n", "devices = 4\nbandwidth = \"1 GB/s\"\n", "has a unit, but other amounts"),
        ("devices = 4\n", "devices = 4\nbandwidth = []\n", "a bandwidth, such as"),
        ("devices = 4\n", "devices = 4\nbandwidth = 0\n", "must not be zero"),
        ("devices = 4\n", "devices = 4\npeak = []\n", "a speed, such as"),
        ("devices = 4\n", "devices = 4\npeak = \"0 FLOP/s\"\n", "must not be zero"),
        ("devices = 4\n", "devices = 4\nwheels = 4\n", "wheels"),
        ("global_batch = 8\n", "", "global_batch"),
        ("global_batch = 8\n", "global_batch = 8\npipeline = []\n", "is empty"),
        ("global_batch = 8\n", "global_batch = 8\ntensor = 2\n", "leaves a choice without costs"),
        ("global_batch = 8\n", "global_batch = 8\nplacement = \"zigzag\"\n", "zigzag"),
        ("global_batch = 8\n", "global_batch = 8\nrecompute = \"maybe\"\n", "maybe"),
        (
            "global_batch = 8\n",
            "global_batch = 8\nrecompute = \"auto\"\n",
            "no layer states its `checkpoint`",
        ),
        (
            "global_batch = 8\n",
            "global_batch = 8\noffload = [\"none\", \"auto\"]\n",
            "no layer states its `offload`",
        ),
        ("global_batch = 8\n", "global_batch = 8\nspeed = 1\n", "speed"),
        ("[machine]\n", "[units]\nweight = \"kg\"\n[machine]\n", "weight"),
        ("[machine]\n", "[units]\ntime = \"kg\"\n[machine]\n", "kg"),
        (
            "[machine]\n",
            "[[profile]]\ntensor = 1\n[[profile]]\ntensor = 1\n[machine]\n",
            "is a second profile for tensor = 1",
        ),
        ("[machine]\n", "profile = []\n[machine]\n", "profile"),
    ];
    let mut wrong: Vec<String> = Vec::new();
    for (old, new, expected) in changes {
        let text = PLAIN.replacen(old, new, 1);
        assert_ne!(&text, PLAIN, "{old}");
        let said = refused(&text);
        if !said.contains(expected) {
            wrong.push(format!("{old} -> {new}: {said}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let alone = PLAIN.replace("[layer.", "[other.");
    assert!(refused(&alone).contains("other"));
    // All of an activation may be left out, or go.
    for kept in ["checkpoint = 5", "offload = 5"] {
        parsed(&PLAIN.replace("activation = 5", &format!("activation = 5\n{kept}")));
    }
    // Nodes may have more devices than there are, and a profile may have all costs alone.
    assert_eq!(
        parsed(&PLAIN.replace("devices = 4", "devices = 4\ndevices_per_node = 8")).machine.devices_per_node,
        8
    );
    let own = PLAIN
        .replace("[layer.block]", "[[profile]]\n[profile.layer.block]")
        .replace("[layer.head]", "[profile.layer.head]");
    assert_eq!(parsed(&own).profiles, parsed(PLAIN).profiles);
    assert!(refused(&PLAIN.replace("[layer.block]", "[[profile]]\n[[other.block]]")).contains("other"));
}
