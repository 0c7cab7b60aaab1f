//! Manifests, records and options that are wrong, each told at its place.

use std::fmt::Write as _;

use crate::regress::scene::{SCHEDULE, Scene, V_HALF};

const GOOD: &str = "[allow]\nmakespan = \"1%\"\n\n[[family]]\nname = \"half\"\nfile = \"half.toml\"\ndevices = [2, 3]\n\
                    microbatches = 4\npromise = \"peak <= peak_1f1b + 2\"\n\n[[schedule]]\nname = \"ours\"\nfile = \"ours.json\"\n";

fn scene(manifest: &str) -> Scene {
    let model = "name = \"m\"\n[pipeline]\ndevices = 2\nplacement = \"linear\"\nmicrobatches = 2\n[time]\nforward = 1\n\
                 backward_input = 1\nbackward_weight = 1\n";
    Scene::new(manifest, &[("half.toml", V_HALF), ("ours.json", SCHEDULE), ("model.toml", model)])
}

#[test]
fn a_manifest_that_is_wrong_is_located() {
    scene(GOOD).suite();
    let mut told = String::new();
    for (from, to) in [
        ("[allow]", "[allows]"),
        ("makespan = \"1%\"", "makespan = \"1\""),
        ("makespan = \"1%\"", "makespan = -1"),
        ("makespan = \"1%\"", "makspan = \"1%\""),
        ("makespan = \"1%\"", "bubble_rate = 1"),
        ("[[family]]", "[family]"),
        ("name = \"half\"", "name = \"../half\""),
        ("name = \"half\"", "name = \"OURS\""),
        ("name = \"half\"\n", ""),
        ("file = \"half.toml\"", "file = \"\""),
        ("file = \"half.toml\"", "flie = \"half.toml\""),
        ("devices = [2, 3]", "devices = [2, 0]"),
        ("devices = [2, 3]", "devices = []"),
        ("devices = [2, 3]", "devices = \"2..3\""),
        ("peak <= peak_1f1b + 2", "peak <= 2*peek"),
        ("peak <= peak_1f1b + 2", "peak"),
        ("peak <= peak_1f1b + 2", "makespan <= 2*peek"),
        ("peak <= peak_1f1b + 2", "bubble = 0 when tF > tI"),
        (
            "[[schedule]]\nname = \"ours\"\nfile = \"ours.json\"",
            "[[named]]\nname = \"n\"\nmodel = \"model.toml\"\nschedules = \"2f2b\"",
        ),
        ("\"peak <= peak_1f1b + 2\"", "[\"peak <= 2*d\", \"peak<=2*d\"]"),
        ("\"peak <= peak_1f1b + 2\"", "[\"makespan <= 1.5*bound\", \"makespan <= 1.50 * bound\"]"),
        (
            "[[schedule]]\nname = \"ours\"\nfile = \"ours.json\"",
            "[[named]]\nname = \"n\"\nmodel = \"model.toml\"\nschedules = []",
        ),
        // These can be read; what they name does not fit.
        ("file = \"half.toml\"", "file = \"gone.toml\""),
        ("file = \"half.toml\"", "file = \"ours.json\""),
        ("file = \"ours.json\"", "file = \"half.toml\""),
        ("devices = [2, 3]", "models = \"model.toml\""),
    ] {
        assert!(GOOD.contains(from), "{from}");
        let run = scene(&GOOD.replace(from, to)).run(&[".", "--no-cache"]);
        assert_eq!(run.status, 2, "{to}: {}", run.transcript());
        writeln!(told, "# {}\n{}", to.replace('\n', " "), run.err).expect("texts grow");
    }
    insta::assert_snapshot!("wrong_manifests", told);
}

#[test]
fn a_record_that_is_wrong_is_located() {
    let mut told = String::new();
    for (from, to) in [
        ("bubbleproof-record-1", "bubbleproof-record-2"),
        ("makespan: 8", "makespan: 08"),
        ("makespan: 8", "makespan: fast"),
        ("makespan: 8", "makspan: 8"),
        ("makespan: 8", "makespan 8"),
        ("makespan: 8", "makespan: 8\nmakespan: 9"),
        ("makespan: 8", "<<<<<<< HEAD\nmakespan: 8"),
        ("valid: yes", "valid: maybe"),
        ("bubble_rate: 1/4", "bubble_rate: 2/8"),
        ("peak_memory: 2 1", "peak_memory: 2,1"),
        ("i=0 lifespans", "i=x lifespans"),
        ("i=0 lifespans", "i=0 i=0 lifespans"),
        ("design: ours", "design: theirs"),
        ("valid: yes", "valid: yes\nbest: 1f\t1b"),
        // Numbers that could not be counted with.
        ("bubble_rate: 1/4", "bubble_rate: 1/170141183460469231731687303715884105727"),
        ("bubble_rate: 1/4", "bubble_rate: -170141183460469231731687303715884105727/4"),
        ("valid: yes", "valid: yes\ninterval: 4611686018427387904"),
        ("valid: yes", "valid: yes\ni=0 offsets: F0@-9223372036854775808"),
        ("peak_memory: 2 1", "peak_memory: -9223372036854775808 1"),
        ("valid: yes", "valid: yes\ni=0 offsets: \u{e9}0@1"),
    ] {
        let scene = Scene::of_schedule("");
        scene.replace("records/ours.record", from, to);
        let run = scene.run(&["."]);
        assert_eq!(run.status, 2, "{to}: {}", run.transcript());
        writeln!(told, "# {}\n{}", to.replace('\n', " "), run.err).expect("texts grow");
    }
    insta::assert_snapshot!("wrong_records", told);
}

#[test]
fn what_is_asked_for_must_make_sense() {
    let scene = scene(GOOD);
    for (arguments, status, told) in [
        (&["elsewhere"][..], 2, "there is no manifest elsewhere"),
        (&[], 2, "required"),
        (&[".", "--strict", "--accept"], 2, "cannot be used with"),
        (&[".", "--json", "--format", "junit"], 2, "--json conflicts with --format"),
        (&[".", "--init", "half.toml"], 2, "cannot be used with"),
        (&["--init", "half.toml", "-o", "."], 2, "a design is called half already"),
        (&["--init", "regress.toml", "-o", "new"], 2, "neither a block family, a model nor a schedule"),
        (&["--init", "gone.toml", "-o", "new"], 2, "cannot read gone.toml"),
        (&[".", "--time-limit", "0"], 2, "time-limit"),
    ] {
        let run = scene.run(arguments);
        assert_eq!(run.status, status, "{arguments:?}: {}", run.transcript());
        assert!(run.err.contains(told), "{arguments:?}: {}", run.err);
    }
    assert!(!scene.path("new").exists(), "what is refused leaves nothing behind");
}

#[test]
fn new_designs_are_entered_without_touching_what_is_there() {
    let scene = scene(GOOD);
    let run = scene.run(&["--init", "model.toml", "-o", ".", "--json"]);
    assert_eq!(run.status, 0, "{}", run.transcript());
    assert_eq!(
        run.out,
        "{\"manifest\":\"./regress.toml\",\"designs\":[{\"name\":\"model\",\"kind\":\"model\"}]}\n"
    );
    let text = scene.read("regress.toml");
    assert!(
        text.starts_with(GOOD) && text.contains("[[model]]\nname = \"model\"\nfile = \"model.toml\"\n"),
        "{text}"
    );
    let run = scene.run(&["--init", "half.toml", "ours.json", "model.toml", "-o", "deep/er"]);
    assert_eq!(run.status, 0, "{}", run.transcript());
    assert!(scene.read("deep/er/regress.toml").contains("file = \"../../half.toml\""));
    assert_eq!(scene.run(&["deep/er", "--accept"]).status, 0);
    assert_eq!(scene.run(&["deep/er"]).status, 0);
}

#[test]
fn a_manifest_that_could_not_be_read_again_is_not_written() {
    // A list in brackets is not continued by a table.
    let closed = "family = [{ name = \"x\", file = \"half.toml\" }]\n";
    let scene = scene(closed);
    let run = scene.run(&["--init", "half.toml", "-o", "."]);
    assert_eq!(run.status, 2, "{}", run.transcript());
    assert!(run.err.contains("cannot be continued at its end") && run.err.contains("by hand"), "{}", run.err);
    assert_eq!(scene.read("regress.toml"), closed);
}

#[test]
fn models_that_records_do_not_cover_are_refused_whether_they_are_entered_or_measured() {
    let times = "forward = 2\nbackward_input = 2\nbackward_weight = 1\n";
    let memory = "[memory]\nactivation = 4\n";
    for (times, more, what) in [
        (times, "[overlap]\nforward_backward = 3", "[overlap]"),
        (times, "[overlap]\nforward_input = 2", "[overlap]"),
        (times, "[messages]\noccupancy = 1", "[messages]"),
        (times, "[messages]\noccupancy = 1\nnodes = [[0], [1]]", "[messages]"),
        (times, "[step]\nreduce = 1", "[step]"),
        (times, "[step]\noptimizer = 1", "[step]"),
        (times, &format!("{memory}workspace = {{ forward = 1 }}"), "workspace"),
        (times, &format!("{memory}receive = 1"), "receive"),
        (times, &format!("{memory}retained_for_weight = 5"), "retained_for_weight"),
        (&times.replace("forward = 2", "forward = { low = 1, high = 2 }"), "", "ranges of durations"),
    ] {
        let text = format!(
            "name = \"m\"\n[pipeline]\ndevices = 2\nplacement = \"linear\"\nmicrobatches = 2\n[time]\n{times}{more}\n"
        );
        let manifest = "[[model]]\nname = \"m\"\nfile = \"m.toml\"\n";
        let scene = Scene::new(manifest, &[("m.toml", &text)]);
        let entered = scene.run(&["--init", "m.toml", "-o", "new"]);
        assert_eq!(entered.status, 2, "{text}{}", entered.transcript());
        let measured = scene.run(&[".", "--no-cache"]);
        assert_eq!(measured.status, 2, "{text}{}", measured.transcript());
        for run in [entered, measured] {
            let said = run.err.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(said.contains("records do not cover") && said.contains(what), "{what}: {said}");
        }
        assert!(!scene.path("new").exists(), "nothing is made");
    }
}

#[test]
fn a_new_design_that_is_not_toml_is_located() {
    let scene = scene(GOOD);
    scene.write("typo.toml", &V_HALF.replace("interval = 6", "interval = "));
    let run = scene.run(&["--init", "typo.toml", "-o", "."]);
    assert_eq!(run.status, 2, "{}", run.transcript());
    assert!(run.err.contains("not a TOML file") && run.err.contains("typo.toml:"), "{}", run.err);
    assert_eq!(scene.read("regress.toml"), GOOD);
}

#[test]
fn a_manifest_stands_for_its_directory_and_commands_can_be_run_as_they_are_printed() {
    let scene = scene(GOOD);
    let run = scene.run(&["--init", "half.toml", "-o", "of ours"]);
    assert!(run.out.contains("`bubbleproof regress 'of ours' --accept` makes"), "{}", run.transcript());
    let run = scene.run(&["of ours/regress.toml", "--accept", "--json"]);
    assert_eq!(run.status, 0, "{}", run.transcript());
    let object: serde_json::Value = serde_json::from_str(&run.out).expect("an object");
    assert_eq!(
        (&object["ok"], &object["designs"][0]["regressed"]),
        (&true.into(), &false.into()),
        "{object}"
    );
    assert_eq!(scene.run(&["of ours"]).status, 0);
}

#[test]
fn a_name_cannot_put_facts_into_a_record() {
    let manifest = "[[model]]\nname = \"m\"\nfile = \"model.toml\"\n";
    let scene = scene(manifest);
    scene.replace("model.toml", "name = \"m\"", "name = \"a\\nbest: x\\nwhy: x\"");
    let run = scene.run(&[".", "--accept"]);
    assert_eq!(run.status, 2, "{}", run.transcript());
    assert!(run.err.contains("`name` has the control character U+000A"), "{}", run.err);
    assert!(!scene.path("records/m.record").exists());
}

#[test]
fn schedules_are_entered_with_their_model() {
    let scene = scene(GOOD);
    scene.replace("model.toml", "forward = 1", "forward = 3");
    let run = scene.run(&["--init", "half.toml", "ours.json", "--model", "model.toml", "-o", "new"]);
    assert_eq!(run.status, 0, "{}", run.transcript());
    let manifest = scene.read("new/regress.toml");
    let entered = "[[schedule]]\nname = \"ours\"\nfile = \"../ours.json\"\nmodel = \"../model.toml\"\n";
    assert!(manifest.contains(entered), "{manifest}");
    assert!(!manifest.contains("[[model]]"), "it is no design of its own: {manifest}");
    assert_eq!(scene.run(&["new", "--accept"]).status, 0);
    let record = scene.read("new/records/ours.record");
    assert!(record.contains("\nproblem: m ") && record.contains("\nmakespan: 14\n"), "{record}");
}

#[test]
fn a_model_that_is_none_of_the_schedules_is_refused() {
    let scene = scene(GOOD);
    scene.write("v.toml", &scene.read("model.toml").replace("\"linear\"", "\"v\""));
    scene.write("wrong.toml", &scene.read("model.toml").replace("forward", "foreward"));
    scene.write("steps.toml", &(scene.read("model.toml") + "[step]\nreduce = 1\n"));
    let mut told = String::new();
    for arguments in [
        &["--init", "half.toml", "--model", "model.toml"][..],
        &["--init", "ours.json", "--model", "v.toml"],
        &["--init", "ours.json", "--model", "wrong.toml"],
        &["--init", "ours.json", "--model", "steps.toml"],
        &["--init", "ours.json", "--model", "gone.toml"],
        &[".", "--model", "model.toml"],
    ] {
        let run = scene.run(&[arguments, &["-o", "new"]].concat());
        assert_eq!(run.status, 2, "{arguments:?}: {}", run.transcript());
        writeln!(told, "# {}\n{}", arguments.join(" "), run.err).expect("texts grow");
    }
    insta::assert_snapshot!("wrong_models", told);
    assert!(!scene.path("new").exists(), "what is refused leaves nothing behind");
}
