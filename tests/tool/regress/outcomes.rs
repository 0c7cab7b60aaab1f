//! Every way in which a design can change, and what is said of it.

use std::fmt::Write as _;
use std::fs;
use std::time::Duration;

use bubbleproof::prove::has_solver;
use bubbleproof::regress::{
    Allowances, Cache, Change, CheckOptions, CheckedDesign, DesignOutcome, Record, RecordedVerdict,
    RegressError, Severity, Value, What,
};
use bubbleproof::stop::{Interrupt, Stop};

use crate::regress::scene::{SCHEDULE, Scene, slower};

/// The changes of a severity, as topic and message.
fn changes(checked: &CheckedDesign, severity: Severity) -> Vec<(&str, &str)> {
    let of = checked.changes.iter().filter(|change| change.severity == severity);
    of.map(|change: &Change| (change.topic.as_str(), change.message.as_str())).collect()
}

fn topics(checked: &CheckedDesign, severity: Severity) -> Vec<&str> {
    let mut topics: Vec<&str> = changes(checked, severity).into_iter().map(|(topic, _)| topic).collect();
    topics.dedup();
    topics
}

/// A snapshot for this build: what is proved differs between those with a solver and those without.
fn name(name: &str) -> String {
    if has_solver() { name.to_owned() } else { format!("{name}_without_solver") }
}

#[test]
fn a_broken_v_half_is_caught() {
    let scene = Scene::of_v_half();
    // I of chunk 1 starts a tick earlier where d is even: the gap is too short by one.
    scene.replace("v-half.toml", "3*d + if(d mod 2 = 0, 3, 0) - 1", "3*d + if(d mod 2 = 0, 2, 0) - 1");
    let run = scene.run(&[".", "--no-cache"]);
    assert_eq!(run.status, 1);
    insta::assert_snapshot!(name("broken_v_half"), run.transcript());
    let checked = scene.checked();
    assert_eq!(checked.outcome, DesignOutcome::Worse);
    assert!(topics(&checked, Severity::Worse).contains(&"invalid"));
    assert!(topics(&checked, Severity::Changed).contains(&"moved"));
}

#[test]
fn a_slower_v_half_is_caught() {
    let scene = Scene::of_v_half();
    // I of chunk 0 waits for a whole interval: valid, and free of bubbles, but slower and hungrier.
    scene.replace(
        "v-half.toml",
        "6*d + if(d mod 2 = 0, 3, 0) - 2 - i",
        "6*d + if(d mod 2 = 0, 3, 0) + 4 - i",
    );
    let run = scene.run(&[".", "--no-cache"]);
    assert_eq!(run.status, 1);
    insta::assert_snapshot!(name("slower_v_half"), run.transcript());
    let checked = scene.checked();
    for topic in ["makespan", "peak_memory", "promise"] {
        assert!(topics(&checked, Severity::Worse).contains(&topic), "{topic}");
    }
    assert!(!topics(&checked, Severity::Worse).contains(&"invalid"));
}

#[test]
fn what_is_better_is_no_regression_and_asks_to_be_accepted() {
    let scene = Scene::of_v_half();
    let (good, slow) = ("6*d + if(d mod 2 = 0, 3, 0) - 2 - i", "6*d + if(d mod 2 = 0, 3, 0) + 4 - i");
    scene.replace("v-half.toml", good, slow);
    scene.replace("v-half.toml", "peak = 2*((d + 2) div 2)", "peak <= 2*d + 4");
    scene.replace("regress.toml", "promise = \"2*peak <= peak_1f1b + 4\"\n", "");
    assert_eq!(scene.accept(), ["v-half.record"]);
    scene.replace("v-half.toml", slow, good);
    let checked = scene.checked();
    assert_eq!(checked.outcome, DesignOutcome::Better);
    assert_eq!(changes(&checked, Severity::Worse), []);
    assert!(topics(&checked, Severity::Better).contains(&"makespan"));
    assert!(!checked.fails(false) && checked.fails(true));
    let run = scene.run(&[".", "--no-cache"]);
    assert_eq!(run.status, 0);
    assert!(run.out.contains("run `bubbleproof regress . --accept`"), "{}", run.out);
    assert_eq!(scene.run(&[".", "--no-cache", "--strict"]).status, 1);
    assert_eq!(scene.accept(), ["v-half.record"]);
    assert_eq!(scene.checked().outcome, DesignOutcome::Unchanged);
    assert_eq!(scene.accept(), [] as [&str; 0]);
}

#[test]
fn passes_that_move_and_cost_nothing_are_told_and_no_regression() {
    let scene = Scene::of_v_half();
    // The whole block begins an interval later.
    for (from, to) in [
        ("at = \"2*i\"", "at = \"2*i + 6\""),
        ("3*d - 2 - i", "3*d + 4 - i"),
        ("- 1 + 2*i", "+ 5 + 2*i"),
        ("- 2 - i\"", "+ 4 - i\""),
    ] {
        scene.replace("v-half.toml", from, to);
    }
    let checked = scene.checked();
    assert_eq!((checked.outcome, changes(&checked, Severity::Worse)), (DesignOutcome::Changed, vec![]));
    let first = changes(&checked, Severity::Changed)[0];
    assert_eq!(
        first,
        (
            "moved",
            "F of chunk 0: starts at 6, was 0 (device 0 of 1); 6 ticks later in 23 places (d = 1, 2, 3, 4, 5, 8)"
        )
    );
    assert!(!checked.fails(false) && checked.fails(true));
}

/// Times and memory have units in what is promised and in what is reported, wherever the model has some.
#[test]
fn amounts_of_a_model_with_units_have_them_in_promises_and_reports() {
    let model = "name = \"timed\"\n[pipeline]\ndevices = 2\nplacement = \"linear\"\nmicrobatches = 2\n[time]\nunit = \"ms\"\n\
                 forward = 2.5\nbackward_input = 3\nbackward_weight = 2\n[memory]\nunit = \"GiB\"\nactivation = 3.5\n\
                 capacity = 8\n";
    let manifest = "[[schedule]]\nname = \"ours\"\nfile = \"ours.json\"\nmodel = \"timed.toml\"\n\
                    promise = \"makespan <= 21 ms and peak_memory <= 7.5 GiB\"\n";
    let scene = Scene::new(manifest, &[("ours.json", SCHEDULE), ("timed.toml", model)]);
    scene.accept();
    assert_eq!(scene.run(&[".", "--no-cache"]).status, 0);
    scene.write("ours.json", &slower());
    let slower = scene.run(&[".", "--no-cache"]).transcript();
    scene.replace("timed.toml", "capacity = 8", "capacity = 5");
    let invalid = scene.run(&[".", "--no-cache"]).transcript();
    insta::assert_snapshot!("amounts_with_units", format!("{slower}\n{invalid}"));
}

/// What was recorded under another model may have been counted in other units.
#[test]
fn figures_of_another_model_have_no_units() {
    let model = "name = \"timed\"\n[pipeline]\ndevices = 2\nplacement = \"linear\"\nmicrobatches = 2\n[time]\nunit = \"ms\"\n\
                 forward = 3\nbackward_input = 3\nbackward_weight = 2\n";
    let manifest = "[[schedule]]\nname = \"ours\"\nfile = \"ours.json\"\nmodel = \"timed.toml\"\n";
    let scene = Scene::new(manifest, &[("ours.json", SCHEDULE), ("timed.toml", model)]);
    scene.accept();
    scene.replace("timed.toml", "forward = 3", "forward = 3.5");
    let text = scene.run(&[".", "--no-cache"]).transcript();
    let makespan = text.lines().find(|line| line.contains(" makespan ")).expect("it is longer");
    assert!(makespan.ends_with("23500000, was 22 (the model changed, and perhaps its units)"), "{text}");
}

/// A promise that cannot be compared guards nothing, so it is broken.
#[test]
fn a_promise_with_a_unit_needs_a_model_with_one() {
    let scene = Scene::of_schedule("promise = \"makespan <= 3.2 s\"\n");
    let run = scene.run(&[".", "--no-cache"]);
    assert_eq!(run.status, 1);
    assert!(run.out.contains("`makespan <= 3.2 s`: broken (the model has no unit of time)"), "{}", run.out);
}

#[test]
fn a_design_without_a_record_and_a_record_without_a_design_are_regressions() {
    let scene = Scene::of_schedule("");
    scene.replace("regress.toml", "name = \"ours\"", "name = \"theirs\"");
    let report = scene.check();
    let outcomes: Vec<(&str, DesignOutcome)> =
        report.results.iter().map(|result| (result.design.as_str(), result.outcome)).collect();
    assert_eq!(outcomes, [("theirs", DesignOutcome::New), ("ours", DesignOutcome::Vanished)]);
    assert!(report.fails(false));
    assert_eq!(scene.accept(), ["theirs.record", "ours.record"]);
    assert!(!scene.path("records/ours.record").exists());
    assert!(!scene.check().fails(true));
}

#[test]
fn thresholds_are_kept_or_exceeded() {
    for (allow, outcome) in [
        ("", DesignOutcome::Worse),
        ("allow = { makespan = 1 }", DesignOutcome::Changed),
        ("allow = { makespan = \"12.5%\" }", DesignOutcome::Changed),
        (
            "allow = { makespan = \"12.4%\", device_span = \"any\", bubble_rate = \"any\" }",
            DesignOutcome::Worse,
        ),
        ("allow = { makespan = 1, bubble_rate = \"8%\" }", DesignOutcome::Worse),
        ("allow = { makespan = 1, bubble_rate = \"8.4%\" }", DesignOutcome::Changed),
        ("allow = { makespan = \"any\", device_span = 0 }", DesignOutcome::Worse),
        ("allow = { makespan = \"any\", lifespan = 0 }", DesignOutcome::Worse),
        ("allow = { makespan = \"any\" }", DesignOutcome::Changed),
        ("\n[allow]\nmakespan = 1", DesignOutcome::Changed),
    ] {
        let scene = Scene::of_schedule(allow);
        scene.write("ours.json", &slower());
        let checked = scene.checked();
        assert_eq!(checked.outcome, outcome, "{allow}: {:#?}", checked.changes);
    }
}

#[test]
fn the_first_pass_of_each_device_that_differs_is_named() {
    let scene = Scene::of_schedule("allow = { makespan = \"any\", peak_memory = \"any\" }");
    let other = SCHEDULE.replace("\"1W0\", \"1F1\"", "\"1F1\", \"1W0\"");
    scene.write("ours.json", &other);
    let run = scene.run(&["."]);
    insta::assert_snapshot!("moved_pass", run.transcript());
}

#[test]
fn an_invalid_schedule_is_told_with_its_place() {
    let scene = Scene::of_schedule("");
    scene.write("ours.json", &SCHEDULE.replace("\"1F0\", \"1I0\"", "\"1I0\", \"1F0\""));
    let run = scene.run(&["."]);
    assert_eq!(run.status, 1);
    insta::assert_snapshot!("invalid_schedule", run.transcript());
}

#[test]
fn a_broken_promise_is_a_regression_until_it_is_kept_or_withdrawn() {
    let scene = Scene::of_schedule("promise = [\"peak_memory <= 2\", \"makespan <= 1.5 * bound\"]");
    assert_eq!(scene.checked().outcome, DesignOutcome::Unchanged);
    let (kept, broken) = ("makespan <= 1.5 * bound", "bubble_rate <= 1/10 and m = 2");
    scene.replace("regress.toml", kept, broken);
    let checked = scene.checked();
    assert_eq!(
        changes(&checked, Severity::Worse),
        [
            ("promise", "`bubble_rate <= 1/10 and m = 2`: broken (bubble_rate = 1/4, m = 2)"),
            ("promise", "`makespan <= 1.5 * bound` is not promised any more")
        ]
    );
    let accepted = scene.run(&[".", "--accept"]);
    assert_eq!(accepted.status, 1, "{}", accepted.out);
    assert_eq!(scene.checked().outcome, DesignOutcome::Worse);
    scene.replace("regress.toml", broken, "m = 2");
    assert_eq!(scene.run(&[".", "--accept"]).status, 0);
    assert_eq!(scene.run(&[".", "--strict"]).status, 0);
}

#[test]
fn promises_of_a_family_are_proved_for_all_or_tested_where_it_is_measured() {
    let scene = Scene::of_v_half();
    scene.replace(
        "regress.toml",
        "promise = \"2*peak <= peak_1f1b + 4\"",
        "promise = [\"2*peak <= peak_1f1b + 4\", \"2*peak <= peak_1f1b\", \"makespan <= 6*m + 6*d - 3\", \
         \"bubble = 0 when tW + 2*tI >= 2*tF\", \"bubble = 0 when tF = tI\"]",
    );
    let found = scene.checked().found.expect("it is there");
    let verdict = |text: &str| {
        let fact = found.facts.iter().find(|fact| fact.key.what == What::Promise(text.to_owned()));
        fact.unwrap_or_else(|| panic!("{text}")).value.to_string()
    };
    let proved = if has_solver() { "proved" } else { "undecided holds for d <= 64" };
    assert_eq!(verdict("2*peak <= peak_1f1b + 4"), proved);
    assert_eq!(verdict("2*peak <= peak_1f1b"), "refuted");
    assert_eq!(verdict("makespan <= 6*m + 6*d - 3"), "tested for d = 1, 2, 3, 4, 5, 8; m = 1, 8");
    assert_eq!(verdict("bubble = 0 when tF = tI"), "proved");
    assert_eq!(verdict("bubble = 0 when tW + 2*tI >= 2*tF"), "refuted");
    let text = found.to_string();
    assert!(text.contains("counterexample 2*peak <= peak_1f1b: d = 1, i = 0, passes 1F0: "), "{text}");
    assert!(
        text.contains(
            "counterexample bubble = 0 when tW + 2*tI >= 2*tF: d = 2: with tF = 0, tI = 1, tW = 0 a microbatch takes 4 \
             ticks in the long run, and a device works 2 for it"
        ),
        "{text}"
    );
}

#[test]
fn without_a_solver_what_was_proved_is_neither_passed_nor_lost() {
    let scene = Scene::of_v_half();
    let path = "records/v-half.record";
    // As a build with a solver writes it.
    let proved = scene.read(path).replace("undecided holds for d <= 64", "proved");
    scene.write(path, &proved);
    let checked = scene.checked();
    assert_eq!(checked.outcome, DesignOutcome::Unchanged);
    assert_eq!(checked.undecided > 0, !has_solver());
    assert_eq!(checked.fails(true), !has_solver());
    assert_eq!(topics(&checked, Severity::Undecided).is_empty(), has_solver());
    assert_eq!(scene.run(&["."]).out.contains("no SMT solver (z3 or cvc5) found"), !has_solver());
    scene.accept();
    assert_eq!(scene.read(path), proved, "the verdicts are about the same formulas");
    // About other formulas they say nothing.
    scene.replace("v-half.toml", "at = \"2*i\"", "at = \"i + i\"");
    scene.accept();
    assert_eq!(scene.read(path).contains("undecided"), !has_solver());
}

#[test]
fn what_is_recorded_as_false_is_not_undecided_afterwards() {
    let scene = Scene::of_v_half();
    // As a build with a solver would record what is false only for more devices than are tried without one.
    let verdict = if has_solver() { "proved" } else { "undecided holds for d <= 64" };
    let promise = "promise 2*peak <= peak_1f1b + 4: ";
    let counterexample = "counterexample 2*peak <= peak_1f1b + 4: d = 99, i = 0: as it was found";
    scene.replace(
        "records/v-half.record",
        &format!("{promise}{verdict}"),
        &format!("{promise}refuted\n{counterexample}"),
    );
    let recorded = scene.read("records/v-half.record");
    let checked = scene.checked();
    if has_solver() {
        assert_eq!(checked.outcome, DesignOutcome::Better);
        return;
    }
    assert_eq!(checked.outcome, DesignOutcome::Worse);
    assert_eq!(topics(&checked, Severity::Worse), ["promise"]);
    assert!(checked.breaks_a_promise());
    assert_eq!(scene.run(&[".", "--no-cache"]).status, 1);
    assert_eq!(scene.run(&[".", "--no-cache", "--accept"]).status, 1);
    assert_eq!(scene.read("records/v-half.record"), recorded);
    // The record says nothing about other formulas: that is undecided, and no improvement.
    scene.replace("v-half.toml", "at = \"2*i\"", "at = \"i + i\"");
    let checked = scene.checked();
    assert!(topics(&checked, Severity::Undecided).contains(&"promise"));
    assert_eq!((topics(&checked, Severity::Better), checked.fails(true)), (vec![], true));
}

#[test]
fn a_record_that_says_the_same_in_other_words_is_not_exactly_as_recorded() {
    let scene = Scene::of_schedule("");
    let path = "records/ours.record";
    let good = scene.read(path);
    for other in
        [format!("{good}# mine\n"), good.replacen("\n\n", "\n", 1), good.replace("\nproblem", "\n\nproblem")]
    {
        scene.write(path, &other);
        let checked = scene.checked();
        assert_eq!(
            (checked.outcome, changes(&checked, Severity::Changed)),
            (DesignOutcome::Changed, vec![("record", "its text has changed: --accept writes it")]),
            "{other}"
        );
        assert!(!checked.fails(false) && checked.fails(true));
    }
    assert_eq!(scene.accept(), ["ours.record"]);
    assert_eq!(scene.read(path), good);
    scene.write(path, &good.replace('\n', "\r\n"));
    assert_eq!(scene.checked().outcome, DesignOutcome::Unchanged, "ends of lines are for git");
}

/// A schedule whose first device begins with a backward: it cannot run.
fn deadlocked() -> String {
    SCHEDULE.replace("\"0F0\", \"0F1\", \"0I0\"", "\"0I0\", \"0F0\", \"0F1\"")
}

#[test]
fn what_is_invalid_is_not_accepted_unless_it_is_expected_to_be() {
    let scene = Scene::of_schedule("");
    let good = scene.read("records/ours.record");
    scene.write("ours.json", &deadlocked());
    let run = scene.run(&[".", "--no-cache", "--accept"]);
    assert_eq!(run.status, 1, "{}", run.transcript());
    assert!(run.out.contains("not accepted: ours is invalid"), "{}", run.out);
    assert_eq!(scene.read("records/ours.record"), good, "the record is as it was");
    let run = scene.run(&[".", "--no-cache", "--accept", "--json"]);
    let object: serde_json::Value = serde_json::from_str(&run.out).expect("JSON");
    assert_eq!(object["accepted"]["refused"], serde_json::json!(["ours"]));
    assert_eq!((&object["ok"], run.status), (&serde_json::json!(false), 1));

    scene.replace("regress.toml", "file = \"ours.json\"\n", "file = \"ours.json\"\nexpect = \"invalid\"\n");
    let run = scene.run(&[".", "--no-cache", "--accept"]);
    assert_eq!(run.status, 0, "{}", run.transcript());
    assert!(scene.read("records/ours.record").contains("valid: no"));
    assert_eq!(scene.run(&[".", "--no-cache", "--strict"]).status, 0);

    // A record that says so makes it no better, without the word of the manifest.
    scene.replace("regress.toml", "expect = \"invalid\"\n", "");
    let checked = scene.checked();
    assert_eq!((checked.outcome, checked.fails(false)), (DesignOutcome::Worse, true));
    assert_eq!(topics(&checked, Severity::Worse), ["invalid"]);
    for format in ["human", "github", "junit", "json"] {
        assert_eq!(scene.run(&[".", "--no-cache", "--format", format]).status, 1, "{format}");
        assert_eq!(scene.run(&[".", "--no-cache", "--accept", "--format", format]).status, 1, "{format}");
    }

    // Nor is the word of the manifest true of what is valid.
    scene.replace("regress.toml", "file = \"ours.json\"\n", "file = \"ours.json\"\nexpect = \"invalid\"\n");
    scene.write("ours.json", SCHEDULE);
    let checked = scene.checked();
    assert_eq!(topics(&checked, Severity::Worse), ["expect"]);
    let run = scene.run(&[".", "--no-cache", "--accept"]);
    assert_eq!(run.status, 1, "{}", run.transcript());
    assert!(run.out.contains("not accepted: ours is valid"), "{}", run.out);
}

/// `gpipe` holds all four microbatches and `1f1b` two: where there is room for two or three, one of them is invalid.
#[test]
fn one_example_of_what_is_invalid_does_not_cover_another_of_its_design() {
    let manifest = "[[named]]\nname = \"ours\"\nmodel = \"model.toml\"\nschedules = [\"gpipe\", \"1f1b\"]\n";
    let model = "name = \"small\"\n[pipeline]\ndevices = 2\nplacement = \"linear\"\nmicrobatches = 4\n\
                 [time]\nforward = 1\nbackward_input = 1\nbackward_weight = 1\n\
                 [memory]\nunit = \"unit\"\nactivation = 1\ncapacity = 4\n";
    let scene = Scene::new(manifest, &[("model.toml", model)]);
    scene.accept();
    let invalid = |name: &str| {
        let record = scene.read("records/ours.record");
        let line =
            record.lines().find(|line| line.contains(name) && line.contains(" valid: ")).expect("a line");
        line.ends_with(" no")
    };
    assert!(!invalid("gpipe") && !invalid("1f1b"));

    // With the first invalid one the manifest cannot say which it means.
    scene.replace("model.toml", "capacity = 4", "capacity = 3");
    scene.replace("regress.toml", "name = \"ours\"\n", "name = \"ours\"\nexpect = \"invalid\"\n");
    let all_valid = scene.read("records/ours.record");
    let run = scene.run(&[".", "--no-cache", "--accept"]);
    assert_eq!(run.status, 1, "{}", run.transcript());
    assert!(
        run.out.contains("not accepted: ours is invalid where its record is not: schedule=gpipe"),
        "{}",
        run.out
    );
    assert_eq!(scene.read("records/ours.record"), all_valid);
    fs::remove_file(scene.path("records/ours.record")).expect("it is there");
    assert_eq!(scene.run(&[".", "--no-cache", "--accept"]).status, 0);
    assert!(invalid("gpipe") && !invalid("1f1b"));
    assert_eq!(scene.run(&[".", "--no-cache", "--strict"]).status, 0);

    // Now the second one too: that of both designs one is expected to be invalid says nothing of it.
    let one_invalid = scene.read("records/ours.record");
    scene.replace("model.toml", "capacity = 3", "capacity = 1");
    let checked = scene.checked();
    assert!(checked.is_invalid() && !checked.is_as_expected() && checked.fails_when_accepted());
    assert!(topics(&checked, Severity::Worse).contains(&"invalid"));
    let places: Vec<String> = checked.newly_invalid.iter().map(ToString::to_string).collect();
    assert!(matches!(&places[..], [place] if place.contains("1f1b")), "{places:?}");
    for format in ["human", "github", "junit", "json"] {
        assert_eq!(scene.run(&[".", "--no-cache", "--accept", "--format", format]).status, 1, "{format}");
    }
    assert_eq!(scene.read("records/ours.record"), one_invalid);

    // Nor does it of another one in the place of the first.
    scene.replace("records/ours.record", "schedule=gpipe", "schedule=other");
    scene.replace("records/ours.record", "schedule=1f1b", "schedule=gpipe");
    scene.replace("records/ours.record", "schedule=other", "schedule=1f1b");
    scene.replace("model.toml", "capacity = 1", "capacity = 3");
    let places: Vec<String> = scene.checked().newly_invalid.iter().map(ToString::to_string).collect();
    assert!(matches!(&places[..], [place] if place.contains("gpipe")), "{places:?}");
    fs::remove_file(scene.path("records/ours.record")).expect("it is there");
    assert_eq!(scene.run(&[".", "--no-cache", "--accept"]).status, 0);
}

#[test]
fn a_new_design_that_is_invalid_gets_no_record() {
    let manifest = "[[schedule]]\nname = \"ours\"\nfile = \"ours.csv\"\n";
    let missing_send = include_str!("../../corpus/communication/missing-send.csv");
    let scene = Scene::new(manifest, &[("ours.csv", missing_send)]);
    assert_eq!(scene.accept(), [] as [&str; 0]);
    let checked = scene.checked();
    assert_eq!(checked.outcome, DesignOutcome::New);
    assert!(!checked.is_as_expected() && checked.fails_when_accepted());
}

#[test]
fn figures_as_large_as_records_have_them_are_compared() {
    let scene = Scene::of_schedule("");
    for (from, to) in [
        ("bubble_rate: 1/4", "bubble_rate: 4611686018427387902/4611686018427387903"),
        ("makespan: 8", "makespan: 4611686018427387903"),
        ("peak_memory: 2 1", "peak_memory: -4611686018427387903 4611686018427387903"),
    ] {
        scene.replace("records/ours.record", from, to);
    }
    let checked = scene.checked();
    assert_eq!(checked.outcome, DesignOutcome::Worse, "{:?}", checked.changes);
    assert!(topics(&checked, Severity::Better).contains(&"bubble_rate"));
}

#[test]
fn a_theorem_that_is_lost_is_a_regression() {
    let scene = Scene::of_v_half();
    scene.replace(
        "records/v-half.record",
        "theorem squeezed interval: proved",
        "theorem squeezed interval: unknown the time limit came first",
    );
    assert_eq!(
        changes(&scene.checked(), Severity::Better),
        [("theorem", "squeezed interval: proved, was unknown")]
    );
    let mut old = Record::parse(&scene.read("records/v-half.record")).expect("a record");
    let mut new = old.clone();
    let set = |record: &mut Record, verdict| {
        for fact in &mut record.facts {
            if fact.key.what == What::Theorem("squeezed interval".to_owned()) {
                fact.value = Value::Verdict(verdict, String::new());
            }
        }
    };
    set(&mut old, RecordedVerdict::Proved);
    for (verdict, severity) in [
        (RecordedVerdict::Unknown, Severity::Worse),
        (RecordedVerdict::Refuted, Severity::Worse),
        (RecordedVerdict::Tested, Severity::Worse),
        (RecordedVerdict::Undecided, Severity::Undecided),
    ] {
        set(&mut new, verdict);
        let changes = bubbleproof::regress::compare(&old, &new, &Allowances::default());
        assert_eq!(changes.iter().map(|change| change.severity).collect::<Vec<_>>(), [severity]);
    }
}

#[test]
fn fewer_places_are_a_regression_and_more_are_not() {
    let scene = Scene::of_v_half();
    scene.replace("regress.toml", "[1, 2, 3, 4, 5, 8]", "[1, 2, 3, 4, 8]");
    let checked = scene.checked();
    assert_eq!(topics(&checked, Severity::Worse), ["coverage"]);
    scene.accept();
    scene.replace("regress.toml", "[1, 2, 3, 4, 8]", "[1, 2, 3, 4, 6, 8]");
    let checked = scene.checked();
    assert_eq!(
        (checked.outcome, topics(&checked, Severity::Changed)),
        (DesignOutcome::Changed, vec!["coverage"])
    );
}

#[test]
fn a_cached_finding_is_the_fresh_one_and_every_change_makes_it_stale() {
    let scene = Scene::of_schedule("");
    let cache = || Cache::at(scene.path(".cache"));
    let fresh = scene.check();
    let first = scene.check_with(cache());
    let second = scene.check_with(cache());
    assert!(!first.results[0].cached && second.results[0].cached);
    assert_eq!(
        (&first.results[0].found, &second.results[0].found),
        (&fresh.results[0].found, &fresh.results[0].found)
    );
    assert_eq!(scene.read(".cache/.gitignore"), "*\n");
    // The file, the manifest, the cached text itself.
    scene.write("ours.json", &SCHEDULE.replace("\"1W0\", \"1F1\"", "\"1F1\", \"1W0\""));
    assert!(!scene.check_with(cache()).results[0].cached);
    assert!(scene.check_with(cache()).results[0].cached);
    scene.replace("regress.toml", "name = \"ours\"\n", "name = \"ours\"\npromise = \"m = 2\"\n");
    assert!(!scene.check_with(cache()).results[0].cached);
    scene.replace(".cache/ours.cache", "makespan: ", "makespan: 1");
    let damaged = scene.check_with(cache());
    assert!(!damaged.results[0].cached);
    assert_eq!(damaged.results[0].found, scene.check().results[0].found);
    // The tool itself: another executable has another digest, so that its findings are not taken.
    _ = scene.check_with(cache());
    let run = scene.run(&[".", "--json"]);
    let object: serde_json::Value = serde_json::from_str(&run.out).expect("an object");
    assert_eq!(object["designs"][0]["cached"], false, "{object}");
}

#[test]
fn a_record_reads_as_what_was_printed() {
    let scene = Scene::of_v_half();
    let text = scene.read("records/v-half.record");
    let record = Record::parse(&text).expect("a record");
    assert_eq!(record.to_string(), text);
    assert!(text.contains("\nd=4 i=3 offsets: F0@6 F1@7 I1@20 I0@22 W0@"), "{text}");
}

#[test]
fn a_check_that_is_asked_to_end_gives_no_report_and_keeps_what_it_has_found() {
    const DESIGNS: usize = 200;
    let manifest = (0..DESIGNS).fold(String::new(), |mut text, number| {
        writeln!(text, "[[schedule]]\nname = \"s{number}\"\nfile = \"ours.json\"").expect("texts grow");
        text
    });
    let scene = Scene::new(&manifest, &[("ours.json", SCHEDULE)]);
    let interrupt = Interrupt::default();
    let options = CheckOptions {
        cache: Cache::at(scene.path("kept")),
        limit: Duration::from_secs(60),
        stop: Stop::on(interrupt.clone()),
    };
    let stopped = scene.suite().check(&options, &|_| interrupt.raise());
    assert!(matches!(stopped, Err(RegressError::Stopped)), "{stopped:?}");
    let kept = fs::read_dir(scene.path("kept")).expect("it was made").filter(|entry| {
        entry.as_ref().expect("an entry").path().extension().is_some_and(|ending| ending == "cache")
    });
    let kept = kept.count();
    assert!(0 < kept && kept < DESIGNS, "{kept}");

    let options = CheckOptions { stop: Stop::default(), ..options };
    let report = scene.suite().check(&options, &|_| ()).expect("nothing ends it");
    assert_eq!(report.results.len(), DESIGNS);
    assert_eq!(report.results.iter().filter(|result| result.cached).count(), kept);
}
