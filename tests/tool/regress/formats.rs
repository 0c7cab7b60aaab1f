//! What machines and their users are told: annotations, code-quality reports, `JUnit`, JSON, and summaries.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use bubbleproof::prove::has_solver;
use bubbleproof::regress::{CheckedDesign, Severity};

use crate::regress::scene::{Run, SCHEDULE, Scene, V_HALF, slower};

const WORKSPACE: &str = "GITHUB_WORKSPACE";
const SUMMARY: &str = "GITHUB_STEP_SUMMARY";

/// V-Half with an I that waits for a whole interval: valid, but slower and hungrier.
fn slower_v_half() -> Scene {
    let scene = Scene::of_v_half();
    let (from, to) = ("6*d + if(d mod 2 = 0, 3, 0) - 2 - i", "6*d + if(d mod 2 = 0, 3, 0) + 4 - i");
    scene.replace("v-half.toml", from, to);
    scene
}

/// A schedule that became slower, and breaks its promise.
fn slower_schedule() -> Scene {
    let scene = Scene::of_schedule("promise = \"bubble_rate <= 0.25\"\n");
    scene.write("ours.json", &slower());
    scene
}

/// The annotations of a run that fails.
fn annotations(scene: &Scene) -> Vec<String> {
    let run = scene.run(&[".", "--no-cache", "--format", "github"]);
    assert_eq!(run.status, 1, "{}", run.transcript());
    run.out.lines().map(str::to_owned).collect()
}

/// The text of the summary that a run appends to.
fn summary(scene: &Scene, arguments: &[&str]) -> (Run, String) {
    scene.write("summary.md", "");
    let run = scene.run_in("", arguments, &[(SUMMARY, "summary.md")]);
    (run, scene.read("summary.md"))
}

#[test]
fn machines_are_told_in_their_formats() {
    let scene = slower_schedule();
    for format in ["github", "gitlab", "junit", "json"] {
        let run = scene.run(&[".", "--no-cache", "--format", format]);
        assert_eq!(run.status, 1, "{}", run.transcript());
        insta::assert_snapshot!(format!("format_{format}"), run.transcript());
    }
    assert_eq!(
        scene.run(&[".", "--no-cache", "--format", "json"]).out,
        scene.run(&[".", "--no-cache", "--json"]).out
    );
    let xml = scene.run(&[".", "--no-cache", "--format", "junit"]).out;
    let report = quick_junit::Report::deserialize_from_str(&xml).expect("valid XML of this form");
    assert_eq!(report.test_suites[0].test_cases.len(), 1);
}

#[test]
fn a_family_is_annotated_at_its_formula_and_drawn_before_and_after() {
    // Without a solver other theorems are decided.
    if !has_solver() {
        return;
    }
    let scene = slower_v_half();
    insta::assert_snapshot!("family_github", annotations(&scene).join("\n"));
    let (run, summary) = summary(&scene, &[".", "--no-cache", "--format", "github"]);
    assert_eq!(run.status, 1);
    insta::assert_snapshot!("family_summary", summary);
}

#[test]
fn a_schedule_is_drawn_before_and_after() {
    let scene = slower_schedule();
    insta::assert_snapshot!(
        "schedule_summary",
        summary(&scene, &[".", "--no-cache", "--format", "github"]).1
    );
    // The same goes to a file, whatever the format; only one place gets it.
    let run = scene.run_in("", &[".", "--no-cache", "--summary", "own.md"], &[(SUMMARY, "summary.md")]);
    assert_eq!(run.status, 1, "{}", run.transcript());
    assert_eq!(scene.read("own.md"), scene.read("summary.md"));
    let run = scene.run(&[".", "--no-cache", "--summary", "gone/own.md"]);
    assert!(run.status == 2 && run.err.contains("gone/own.md"), "{}", run.transcript());
}

#[test]
fn what_cannot_run_any_more_is_told_where_it_would_be_drawn() {
    let scene = Scene::of_schedule("");
    scene.write("ours.json", &SCHEDULE.replace("\"1F0\", \"1I0\"", "\"1I0\", \"1F0\""));
    insta::assert_snapshot!("invalid_summary", summary(&scene, &[".", "--no-cache", "--format", "github"]).1);
}

#[test]
fn without_a_changed_order_nothing_is_drawn() {
    let scene = Scene::of_schedule("");
    scene.replace("records/ours.record", "makespan: 8", "makespan: 7");
    let (run, summary) = summary(&scene, &[".", "--no-cache", "--format", "github"]);
    assert!(!summary.contains("Before"), "{summary}");
    // Nothing in the files of the design explains it: the line of the record is annotated.
    let line =
        scene.read("records/ours.record").lines().position(|line| line == "makespan: 7").expect("there") + 1;
    let place = format!(
        "::error file=records/ours.record,line={line},title=ours%3A worse::worse makespan: 8 ticks, was 7 ticks"
    );
    assert!(run.out.starts_with(&place), "{}", run.out);
    assert_eq!(run.out.lines().count(), 1, "{}", run.out);
    let (_, unchanged) = {
        scene.accept();
        self::summary(&scene, &[".", "--no-cache", "--format", "github"])
    };
    assert_eq!(
        unchanged,
        "### Designs in `.`: 1 design, 1 unchanged\n\n<details><summary>1 unchanged design</summary>\n\n`ours`\n\n</details>\n\n"
    );
}

#[test]
fn a_changed_model_is_one_cause_for_all_its_designs() {
    let model = "name = \"m\"\n[pipeline]\ndevices = 2\nplacement = \"linear\"\nmicrobatches = 2\n[time]\nunit = \"ms\"\n\
                 forward = 1\nbackward_input = 1\nbackward_weight = 1\n";
    let manifest = "[[schedule]]\nname = \"ours\"\nfile = \"ours.json\"\nmodel = \"model.toml\"\n\n[[named]]\nname = \"all\"\n\
                    model = \"model.toml\"\nschedules = \"1f1b\"\n\n[[model]]\nname = \"alone\"\nfile = \"model.toml\"\n";
    let scene = Scene::new(manifest, &[("model.toml", model), ("ours.json", SCHEDULE)]);
    scene.accept();
    scene.replace("model.toml", "forward = 1", "forward = 2");
    let told = annotations(&scene);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0]
            .starts_with("::error file=model.toml,line=1,title=ours and 2 more designs%3A worse::ours:%0A"),
        "{told:?}"
    );
    let (_, summary) = summary(&scene, &[".", "--no-cache", "--format", "github"]);
    assert!(summary.contains("| makespan | `8 ms` | `11 ms` | +37.50 % |"), "{summary}");
    assert!(
        summary
            .contains("Not drawn: the record has the digest of the model that it ran under, not its times."),
        "{summary}"
    );
}

#[test]
fn designs_that_come_and_go_are_annotated_where_they_are_named_or_were() {
    let scene = Scene::of_schedule("");
    scene.replace("regress.toml", "name = \"ours\"", "\nname = \"theirs\"");
    let told = annotations(&scene);
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].starts_with(
        "::error file=regress.toml,line=3,title=theirs%3A worse::worse record: has no record yet"
    ));
    assert!(told[1].starts_with(
        "::error file=records/ours.record,line=1,title=ours%3A worse::worse record: has a record, but"
    ));
}

#[test]
fn promises_are_annotated_where_they_are_made() {
    let scene = Scene::of_schedule("promise = [\n  \"m = 2\",\n  \"m = 2 and d = 2\",\n]\n");
    scene.replace(
        "regress.toml",
        "  \"m = 2\",\n",
        "  \"m = 2\",\n  \"makespan <= 7\",\n  \"makespan <= 6\",\n",
    );
    let told = annotations(&scene);
    assert_eq!(told.len(), 2, "{told:?}");
    for (annotation, start) in told.iter().zip(["file=regress.toml,line=6,", "file=regress.toml,line=7,"]) {
        assert!(annotation.contains(start) && annotation.ends_with("%0Acause: the promise"), "{annotation}");
    }
    let entries = entries(&scene, "");
    let fingerprints: BTreeSet<&str> =
        entries.iter().map(|entry| entry["fingerprint"].as_str().expect("a text")).collect();
    assert_eq!(fingerprints.len(), entries.len(), "{entries:?}");
}

#[test]
fn files_are_named_from_the_root_of_the_repository_on() {
    let scene = slower_schedule();
    for folder in ["sub/designs/records", "other"] {
        std::fs::create_dir_all(scene.path(folder)).expect("made");
    }
    scene.write(
        "sub/designs/regress.toml",
        &scene.read("regress.toml").replace("ours.json", "../../ours.json"),
    );
    scene.write("sub/designs/records/ours.record", &scene.read("records/ours.record"));
    let arguments = ["designs", "--no-cache", "--format", "github"];
    for (variables, file) in [
        (&[(WORKSPACE, "")][..], "file=ours.json,"),
        (&[(WORKSPACE, "other")], "/ours.json,"),
        (&[], "/ours.json,"),
    ] {
        let run = scene.run_in("sub", &arguments, variables);
        assert!(run.out.starts_with("::error file=") && run.out.contains(file), "{}", run.out);
    }
    let run =
        scene.run_in("sub", &["designs", "--no-cache", "--format", "gitlab"], &[("CI_PROJECT_DIR", "")]);
    assert!(run.out.contains("\"path\":\"ours.json\""), "{}", run.out);
}

/// A directory of so many schedules, each with a file of its own, all slower than recorded.
fn many(designs: usize) -> Scene {
    let manifest = (0..designs).fold(String::new(), |mut text, number| {
        writeln!(text, "[[schedule]]\nname = \"s{number}\"\nfile = \"s{number}.json\"").expect("texts grow");
        text
    });
    let scene = Scene::new(&manifest, &[]);
    for number in 0..designs {
        scene.write(&format!("s{number}.json"), SCHEDULE);
    }
    scene.accept();
    for number in 0..designs {
        scene.write(&format!("s{number}.json"), &slower());
    }
    scene
}

#[test]
fn at_most_ten_causes_are_annotated_and_one_annotation_counts_the_others() {
    for (designs, last) in [
        (10, None),
        (11, Some("::warning title=1 more cause of changes::`bubbleproof regress .` prints all of them")),
        (14, Some("::warning title=4 more causes of changes::`bubbleproof regress .` prints all of them")),
    ] {
        let scene = many(designs);
        let told = annotations(&scene);
        assert_eq!(told.iter().filter(|line| line.starts_with("::error ")).count(), 10);
        assert_eq!(told.get(10).map(String::as_str), last);
        assert!(told.len() <= 11);
    }
    let scene = many(12);
    let (run, summary) = summary(&scene, &[".", "--no-cache", "--format", "github"]);
    assert!(
        run.out.ends_with("::warning title=2 more causes of changes::the job summary has all of them\n"),
        "{}",
        run.out
    );
    assert_eq!(summary.matches("<details>").count(), 12);
}

#[test]
fn a_summary_never_exceeds_what_github_takes_and_says_what_it_leaves_out() {
    let scene = many(3);
    for there in [0, 900_000, 980_000, 1 << 20] {
        scene.write("summary.md", &"x".repeat(there));
        let run = scene.run_in("", &[".", "--no-cache", "--format", "github"], &[(SUMMARY, "summary.md")]);
        assert_eq!(run.status, 1);
        let text = scene.read("summary.md");
        assert!(text.len() <= (1 << 20) || there == 1 << 20, "{}", text.len());
        let is_whole = text.matches("<details>").count() == 3;
        assert_eq!(is_whole, !text.contains("left out: GitHub shows no more than 1 MiB"), "{there}");
    }
}

#[test]
fn every_change_has_one_cause() {
    for scene in [slower_v_half(), slower_schedule(), many(2)] {
        let (suite, report) = (scene.suite(), scene.check());
        let causes = suite.causes(&report);
        for result in &report.results {
            let own = causes.iter().flat_map(|cause| &cause.effects).filter(|effect| effect.design == result);
            let told: usize = own.map(|effect| effect.changes.len()).sum();
            let is_told = |result: &CheckedDesign| {
                result.changes.iter().filter(|change| change.severity != Severity::Undecided).count()
            };
            assert_eq!(told, is_told(result));
        }
        for cause in &causes {
            let text = std::fs::read_to_string(&cause.file).expect("the file is there");
            assert!((1..=text.lines().count()).contains(&cause.line), "{cause:?}");
        }
    }
}

/// The entries of a code-quality report.
fn entries(scene: &Scene, folder: &str) -> Vec<serde_json::Value> {
    let run = scene.run_in("", &[&format!("{folder}."), "--no-cache", "--format", "gitlab"], &[]);
    serde_json::from_str(&run.out).unwrap_or_else(|error| panic!("{error}: {}", run.transcript()))
}

#[test]
fn entries_of_gitlab_have_what_it_demands_and_stay_the_same_while_the_regression_stays() {
    let scene = slower_v_half();
    let before = entries(&scene, "");
    let mut fingerprints = BTreeSet::new();
    for entry in &before {
        let text = |pointer: &str| {
            entry.pointer(pointer).and_then(|value| value.as_str()).expect(pointer).to_owned()
        };
        assert!(
            !text("/description").is_empty() && text("/check_name").starts_with("bubbleproof/"),
            "{entry}"
        );
        assert!(
            ["info", "minor", "major", "critical", "blocker"].contains(&text("/severity").as_str()),
            "{entry}"
        );
        assert!(!text("/location/path").starts_with("./"), "{entry}");
        assert!(
            entry.pointer("/location/lines/begin").and_then(serde_json::Value::as_u64) >= Some(1),
            "{entry}"
        );
        assert!(fingerprints.insert(text("/fingerprint")), "{entry}");
    }
    // Lines that move do not make it another one.
    scene.write("v-half.toml", &format!("# one more line\n{}", scene.read("v-half.toml")));
    let after = entries(&scene, "")
        .into_iter()
        .map(|entry| entry["fingerprint"].as_str().expect("a text").to_owned());
    assert_eq!(after.collect::<BTreeSet<_>>(), fingerprints);
    scene.accept();
    scene.replace("v-half.toml", "# one more line\n", "");
    assert!(entries(&scene, "").iter().all(|entry| entry["severity"] != "critical"));
}

/// Names that would be markup, commands or the end of a cell, where a file may have them.
const HOSTILE: &str = "::error::x | ``` </details> <img src=x> @someone %0A::warning::y";

#[test]
fn nothing_in_a_design_is_a_command_or_markup() {
    let manifest = "[[schedule]]\nname = \"ours\"\nfile = \"::error::a,b|`c`.json\"\nmodel = \"m.toml\"\n\
                    promise = \"makespan   <= 8\"\n\n[[family]]\nname = \"half\"\nfile = \"half.toml\"\ndevices = 2\nmicrobatches = 2\n";
    let model = format!(
        "name = \"{HOSTILE}\"\n[pipeline]\ndevices = 2\nplacement = \"linear\"\nmicrobatches = 2\n[time]\nunit = \"{HOSTILE}\"\n\
         forward = 1\nbackward_input = 1\nbackward_weight = 1\n"
    );
    let file = "::error::a,b|`c`.json";
    let scene = Scene::new(manifest, &[("m.toml", &model), (file, SCHEDULE), ("half.toml", V_HALF)]);
    scene.replace("half.toml", "name = \"v-half\"", &format!("name = \"{HOSTILE}\""));
    scene.accept();
    scene.write(file, &slower());
    scene.replace("half.toml", "interval = 6", "interval = 7");
    let (run, summary) = summary(&scene, &[".", "--no-cache", "--format", "github"]);
    assert_eq!(run.status, 1, "{}", run.transcript());
    for line in run.out.lines() {
        let (head, _) = line[2..].split_once("::").expect("a command");
        let (command, properties) = head.split_once(' ').expect("with properties");
        assert!(["error", "notice", "warning"].contains(&command), "{line}");
        for property in properties.split(',') {
            let (key, value) = property.split_once('=').expect("a property");
            assert!(["file", "line", "title"].contains(&key) && !value.contains(':'), "{line}");
        }
    }
    assert!(run.out.contains("file=%3A%3Aerror%3A%3Aa%2Cb|`c`.json,line=2,"), "{}", run.out);
    check_markdown(&summary);
    for format in ["gitlab", "json"] {
        let run = scene.run(&[".", "--no-cache", "--format", format]);
        assert_eq!(run.out.lines().count(), 1);
        serde_json::from_str::<serde_json::Value>(&run.out).expect("JSON");
    }
}

/// Reads a summary with an own small reader: what is outside of code is only what this tool writes.
fn check_markdown(summary: &str) {
    let mut fence: Option<String> = None;
    let (mut opened, mut closed) = (0, 0);
    for line in summary.lines() {
        let ticks: String = line.chars().take_while(|letter| *letter == '`').collect();
        match &fence {
            Some(open) => {
                if ticks.len() >= open.len() && line.len() == ticks.len() {
                    fence = None;
                }
                continue;
            }
            None if ticks.len() >= 3 => {
                assert_eq!(&line[ticks.len()..], "text");
                fence = Some(ticks);
                continue;
            }
            None => {}
        }
        // Code spans of one backtick, which contain none.
        let outside: String = line.split('`').step_by(2).collect();
        assert_eq!(line.matches('`').count() % 2, 0, "{line}");
        if line.starts_with('|') {
            assert_eq!(line.matches('|').count(), 7, "six cells: {line}");
        }
        opened += outside.matches("<details>").count();
        closed += outside.matches("</details>").count();
        let mut rest = outside.as_str();
        while let Some(at) = rest.find('<') {
            let known = ["<details>", "</details>", "<summary>", "</summary>", "<code>", "</code>"];
            assert!(known.iter().any(|tag| rest[at..].starts_with(tag)), "{line}");
            rest = &rest[at + 1..];
        }
        assert!(!outside.contains('@') && !outside.contains("::"), "{line}");
    }
    assert!(fence.is_none() && opened == closed && opened > 0, "{summary}");
}

#[test]
fn a_block_that_is_invalid_is_not_drawn_as_if_it_could_run() {
    let scene = Scene::of_v_half();
    scene.replace("v-half.toml", "interval = 6", "interval = 7");
    let (run, summary) = summary(&scene, &[".", "--no-cache", "--format", "github"]);
    assert_eq!(run.status, 1);
    let (before, after) = summary.split_once("**After** (`d=4 m=8`)").expect("both sides");
    assert!(
        before.contains("**Before** (`d=4 m=8`)\n\n```text\nschedule on v-half: 4 devices, 8 microbatches\n"),
        "{before}"
    );
    assert!(after.contains("Not drawn: the block is invalid for this number of devices."), "{after}");
    // The interval is in the sixth line of the file.
    assert!(run.out.starts_with("::error file=v-half.toml,line=6,"), "{}", run.out);
}
