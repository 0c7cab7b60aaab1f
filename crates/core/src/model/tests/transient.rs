//! Workspaces, buffers, and what W needs beyond what F kept: in model files, in variants, and in the plain models around.

use super::*;

const TRANSIENT: &str = r#"name = "transient"
[pipeline]
devices = 2
placement = "linear"
microbatches = 3
[time]
forward = 1
backward_input = 1
backward_weight = 1
[memory]
activation = 16
retained_for_weight = [20, 8]
capacity = [100, "none"]
workspace = { forward = 3, backward_input = [4, 0], backward_weight = 2 }
receive = 5
"#;

fn model() -> Model {
    parse(TRANSIENT).expect("a model")
}

#[test]
fn what_a_file_leaves_out_follows_from_the_rest() {
    let model = model();
    let workspace = Workspace {
        forward: units(&[3, 3]),
        backward_input: units(&[4, 0]),
        backward_weight: units(&[2, 2]),
        backward: units(&[4, 2]),
        recompute: units(&[3, 3]),
    };
    let receive = Some(units(&[5]));
    assert_eq!(model.transient(), &Transient { workspace: Some(workspace), receive });
    assert_eq!(model.workspace(Stage(0), Kind::B), Units(4));
    let recomputed = TRANSIENT.replace("backward_weight = 2 }", "recompute = 9, backward = 1 }")
        + "[recompute]\ncheckpoint = 2\n";
    let recomputed = parse(&recomputed).expect("a model");
    let of_kinds =
        [Kind::F, Kind::I, Kind::W, Kind::B, Kind::R].map(|kind| recomputed.workspace(Stage(0), kind).0);
    assert_eq!(of_kinds, [3, 4, 0, 1, 9]);
    // What R needs goes with R.
    let without = parse(&TRANSIENT.replace("backward_weight = 2 }", "backward = 1 }"));
    assert_eq!(recomputed.with_recompute(None), Ok(without.expect("a model")));
    for model in [model, recomputed] {
        assert_eq!(parse(&print(&model)), Ok(model));
    }
}

#[test]
fn every_complaint_about_memory_points_at_its_place() {
    let lists = "workspace = { forward = 3, backward_input = [4, 0], backward_weight = 2 }";
    for (piece, replacement, message, place) in [
        (
            "receive = 5",
            "receive = [5, 5]",
            "`memory.receive` has 2 values, but there are 1 stage boundaries",
            "[5, 5]",
        ),
        ("receive = 5", "receive = -5", "`memory.receive` must not be negative, but is -5", "-5"),
        ("receive = 5", "recieve = 5", "unknown key `memory.recieve`", "recieve"),
        (lists, "workspace = 3", "`memory.workspace` must be a table, but is the integer 3", "3"),
        (
            "forward = 3, ",
            "forward = [1, 2, 3], ",
            "`memory.workspace.forward` has 3 values, but there are 2 stages",
            "[1, 2, 3]",
        ),
        ("forward = 3, ", "forwards = 3, ", "unknown key `memory.workspace.forwards`", "forwards"),
        (
            "forward = 3, ",
            "forward = 3, recompute = 4, ",
            "`memory.workspace` says what a recomputation needs, but there is no `[recompute]`",
            "{ forward = 3, recompute = 4, backward_input = [4, 0], backward_weight = 2 }",
        ),
        (
            "receive = 5",
            "receive = 288230376151711744",
            "the activations of all microbatches, what W needs, workspaces and buffers together exceed 288230376151711744 \
             units; choose a coarser unit",
            "[memory]",
        ),
    ] {
        assert_eq!(TRANSIENT.matches(piece).count(), 1, "{piece}");
        let text = TRANSIENT.replace(piece, replacement);
        let error: FileError = parse(&text).expect_err(replacement);
        let (found, at) = (error.to_string(), &text[error.span.clone()]);
        assert!(found.starts_with(message), "{found}");
        assert_eq!(at, place);
    }
}

#[test]
fn amounts_that_are_the_same_everywhere_have_other_sizes() {
    let same = TRANSIENT.replace("[20, 8]", "20").replace("[4, 0]", "4").replace("[100, \"none\"]", "100");
    let resized = parse(&same).expect("a model").resized(4).expect("all stages are alike");
    assert_eq!(resized.transient().receive, Some(units(&[5; 3])));
    assert_eq!(resized.workspace(Stage(3), Kind::W), Units(2));
    for (piece, replacement, key) in [
        ("forward = 3,", "forward = [3, 4],", "memory.workspace.forward"),
        ("backward_weight = 2 }", "backward_weight = [2, 1] }", "memory.workspace.backward_weight"),
    ] {
        let model = parse(&same.replace(piece, replacement)).expect("a model");
        assert_eq!(model.resized(4), Err(ModelError::NotResizable { key }));
    }
}

#[test]
fn parts_that_do_not_fit_a_model_are_refused() {
    let good = model();
    let with = |change: &dyn Fn(&mut Transient)| {
        let mut transient = good.transient().clone();
        change(&mut transient);
        good.with_transient(transient)
    };
    let key = "memory.receive";
    let short = ModelError::Length { key, found: 2, expected: 1, of: "stage boundaries" };
    assert_eq!(with(&|of| of.receive = Some(units(&[1, 1]))), Err(short));
    assert_eq!(with(&|of| of.receive = Some(units(&[-1]))), Err(ModelError::Negative { key, value: -1 }));
    let workspace =
        |change: &dyn Fn(&mut Workspace)| with(&|of| of.workspace.as_mut().into_iter().for_each(change));
    let key = "memory.workspace.backward";
    let short = ModelError::Length { key, found: 1, expected: 2, of: "stages" };
    assert_eq!(workspace(&|of| of.backward.truncate(1)), Err(short));
    assert_eq!(workspace(&|of| of.recompute[0] = Units(9)), Err(ModelError::WorkspaceWithoutRecompute));
}

#[test]
fn the_plain_models_around_a_model_bound_what_it_holds() {
    let model = model();
    let floor = model.memory_floor();
    assert_eq!(floor.memory().retained_for_weight, units(&[16, 8]));
    // F acquires, and has its workspace.
    assert_eq!(floor.memory().capacity, vec![Some(Units(100 - 3)), None]);
    let kept = model.with_kept_memory();
    assert_eq!(kept.memory().capacity, model.memory().capacity);
    assert_eq!(kept.with_activation_capacity(vec![Some(Units(97)), None]).as_ref(), Ok(&*floor));
    // F and I of stage 0 in a pair, and a gradient of each of three microbatches.
    assert_eq!(model.memory_headroom(), units(&[3 + 4 + 3 * 5, 3 + 2 + 3 * 5]));
    let ceiling = model.memory_ceiling().expect("there is room");
    assert_eq!(ceiling.memory().activation, units(&[20, 16]));
    assert_eq!(ceiling.memory().retained_for_weight, units(&[20, 8]));
    assert_eq!(ceiling.memory().capacity, vec![Some(Units(100 - 22)), None]);
    for plain in [&*floor, &*ceiling] {
        assert!(plain.has_plain_memory() && plain.beyond_passes().is_none());
        assert_eq!(plain.costs(), model.costs());
    }
    let tight = model.with_activation_capacity(vec![Some(Units(21)), None]).expect("a model");
    assert_eq!(tight.memory_ceiling(), None);
    assert!(tight.with_less_room(&[Units(21), Units(7)]).is_some());
    assert_eq!(tight.with_less_room(&[Units(22), Units(7)]), None);
}

#[test]
fn passes_that_acquire_need_something_beside() {
    let beside = |text: &str| {
        let model = parse(text).expect("a model");
        [0, 1].map(|device| model.least_beside(Device(device)).0)
    };
    // The F of stage 1 has a buffer too.
    assert_eq!(beside(TRANSIENT), [3, 3 + 5]);
    let recompute = |needs: u32| {
        let workspace = format!("backward_weight = 2, recompute = {needs} }}");
        TRANSIENT.replace("backward_weight = 2 }", &workspace) + "[recompute]\ncheckpoint = 1\n"
    };
    assert_eq!(beside(&recompute(7)), [3, 7]);
    assert_eq!(beside(&recompute(1)), [1, 1]);
    // What is brought back may be held first while any pass runs: a W, or the last I, which has neither.
    let offload = "[offload]\nmoved = 4\nto_host = 1\nfrom_host = 1\n";
    assert_eq!(beside(&(TRANSIENT.to_owned() + offload)), [2, 0]);
    // There is no less room than none.
    let tight = parse(TRANSIENT).expect("a model").with_activation_capacity(vec![Some(Units(2)), None]);
    let floor = tight.expect("a model").memory_floor().into_owned();
    assert_eq!(floor.activation_capacity(Device(0)), Some(Units::ZERO));
}

#[test]
fn each_table_alone_makes_memory_more_than_plain() {
    let is_plain = |text: &str| parse(text).expect("a model").has_plain_memory();
    let workspace = "workspace = { forward = 3, backward_input = [4, 0], backward_weight = 2 }\n";
    assert!(TRANSIENT.contains(workspace), "{TRANSIENT}");
    let plain = TRANSIENT.replace("[20, 8]", "16").replace("receive = 5\n", "").replace(workspace, "");
    assert!(is_plain(&plain));
    let with = |line: &str| plain.replace("[memory]\n", &format!("[memory]\n{line}\n"));
    assert!(!is_plain(&with(workspace)) && !is_plain(&with("receive = 5")));
    assert!(!is_plain(&TRANSIENT.replace("receive = 5\n", "").replace(workspace, "")));
}

#[test]
fn a_model_takes_the_plain_memory_that_it_is_given() {
    let model = model();
    let memory = Memory { weights: units(&[7, 9]), ..model.memory_floor().memory().clone() };
    let plain = model.with_plain_memory(memory.clone()).expect("a model");
    assert_eq!((plain.memory(), plain.transient()), (&memory, &Transient::default()));
}

#[test]
fn a_model_names_what_goes_beyond_plain_memory() {
    let names = |text: &str| parse(text).expect("a model").beyond_passes().map(|tables| tables.to_string());
    assert_eq!(
        names(TRANSIENT).as_deref(),
        Some(
            "`memory.workspace`, `memory.receive` and `memory.retained_for_weight` above `memory.activation`"
        )
    );
    let plain = TRANSIENT.replace("[20, 8]", "16").replace("receive = 5", "receive = 0");
    assert_eq!(names(&plain).as_deref(), Some("`memory.workspace`"));
    let zeros = plain
        .replace("forward = 3", "forward = 0")
        .replace("[4, 0]", "0")
        .replace("backward_weight = 2 }", "backward_weight = 0 }");
    assert_eq!(names(&zeros), None);
    let one_device = zeros
        .replace("devices = 2", "devices = 1")
        .replace("\"linear\"", "[[0, 1]]")
        .replace("[100, \"none\"]", "100")
        .replace("receive = 0", "receive = 7");
    assert_eq!(names(&one_device), None, "what is sent within a device needs no buffer");
}
