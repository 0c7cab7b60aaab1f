//! `verify`, `replay` and `compare`: what they say of schedules.

use std::fs;

use serde_json::Value;

use super::{
    BROKEN, FIGURES, MODEL, RESIZED, Run, SCHEDULE, assert_keys, assert_recorded, assert_recorded_object,
    tool, tool_with_input,
};

#[test]
fn verify_gives_the_keys_that_programs_rely_on() {
    let valid = tool(&["verify", SCHEDULE, "--model", MODEL, "--json"]).json();
    assert_keys(&valid, FIGURES);
    assert_eq!(valid["valid"], true);
    assert_eq!(valid["violations"], serde_json::json!([]));
    assert_recorded_object("verify_gives_the_keys_that_programs_rely_on", &valid);

    let invalid = tool(&["verify", BROKEN, "--json"]).json();
    assert_keys(&invalid, FIGURES);
    assert_eq!(invalid["valid"], false);
    for violation in invalid["violations"].as_array().expect("a list") {
        assert_keys(violation, &["rule", "device", "pass", "position", "message"]);
    }
    assert!(invalid["makespan"].is_null() && invalid["bubble_rate_exact"].is_null());
    assert_recorded_object("verify_gives_the_keys_that_programs_rely_on-2", &invalid);
}

/// As the table shows device 1, it takes from 10 to 133; the device span is that of an execution in which it begins later.
#[test]
fn the_largest_span_that_is_shown_includes_optimiser_steps() {
    let directory = tempfile::tempdir().expect("a directory");
    let write = |name: &str, text: &str| {
        let path = directory.path().join(name);
        std::fs::write(&path, text).expect("a file");
        path.to_str().expect("a plain name").to_owned()
    };
    let model = write(
        "model.toml",
        "name = \"later\"\n[pipeline]\ndevices = 3\nplacement = \"linear\"\nmicrobatches = 2\n[time]\nforward = [10, 1, 2]\n\
         backward_input = [1, 1, 2]\nbackward_weight = [1, 30, 1]\n[step]\noptimizer = [0, 50, 0]\n",
    );
    let schedule = write(
        "schedule.json",
        r#"{"format":"bubbleproof-schedule-1","microbatches":2,"placement":[[0],[1],[2]],"orders":[
        ["0F0","0F1","0I0","0W0","0I1","0W1"],["1F0","1F1","1I0","1W0","1I1","1W1"],
        ["2F0","2I0","2W0","2F1","2I1","2W1"]]}"#,
    );
    let run = tool(&["replay", &schedule, "--model", &model, "--json"]).json();
    assert_eq!((run["largest_span"].as_i64(), run["device_span"].as_i64()), (Some(123), Some(117)), "{run}");
    let shown = tool(&["replay", &schedule, "--model", &model]).out;
    assert!(shown.contains("as shown, the largest span is 123 ticks"), "{shown}");
}

#[test]
fn replay_gives_every_pass_its_time() {
    let run = tool(&["replay", SCHEDULE, "--model", MODEL, "--json"]).json();
    assert_keys(&run, FIGURES);
    let passes = run["passes"].as_array().expect("a list");
    assert_eq!(passes.len(), 8);
    assert_eq!(passes[0], serde_json::json!({"device": 0, "pass": "0F0", "start": 0, "end": 3}));
    let last = passes.iter().map(|pass| pass["end"].as_i64().expect("ticks")).max();
    assert_eq!(last, run["makespan"].as_i64());
    assert!(tool(&["replay", BROKEN, "--json"]).json()["passes"].is_null());
}

#[test]
fn replay_says_where_its_starts_are_not_those_of_the_device_span() {
    const SAYS: &str = "a device begins later than shown";
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("a plain name").to_owned();
    let (model, schedule) = (path("model.toml"), path("schedule.json"));
    fs::copy("tests/differential/fixed/first-starts-later.toml", &model).expect("copied");
    let made = tool(&["convert", &model, "--schedule", "zb-h1", "-o", &schedule]);
    assert_eq!(made.status, 0, "{}", made.transcript());

    let json = tool(&["replay", &schedule, "--model", &model, "--json"]).json();
    let spans = (0..3).map(|device| {
        let passes = json["passes"].as_array().expect("a list").iter();
        let passes = passes.filter(move |pass| pass["device"] == device);
        let times = |key: &'static str| passes.clone().filter_map(move |pass| pass[key].as_i64());
        times("end").max().zip(times("start").min()).map(|(end, start)| end - start)
    });
    assert_eq!(json["largest_span"].as_i64(), spans.max().flatten(), "{json}");
    assert!(json["largest_span"].as_i64() > json["device_span"].as_i64(), "{json}");
    let replayed = tool(&["replay", &schedule, "--model", &model]).out;
    assert!(
        replayed.contains(&format!("{SAYS}; as shown, the largest span is {} ticks", json["largest_span"])),
        "{replayed}"
    );
    assert_recorded("replay_with_a_device_that_begins_later", &replayed);
    assert!(tool(&["render", &schedule, "--model", &model]).out.contains(SAYS));
    for name in ["drawn.svg", "drawn.html"] {
        assert_eq!(tool(&["render", &schedule, "--model", &model, "-o", &path(name)]).status, 0);
        assert!(fs::read_to_string(path(name)).expect("written").contains(SAYS), "{name}");
    }

    // Where the starts have the device span, there is nothing to say.
    let json = tool(&["replay", SCHEDULE, "--model", MODEL, "--json"]).json();
    assert_eq!(json["largest_span"], json["device_span"]);
    for command in ["replay", "render"] {
        let text = tool(&[command, SCHEDULE, "--model", MODEL]).out;
        assert!(text.contains("bubble rate") && !text.contains(SAYS), "{text}");
    }
    assert!(tool(&["replay", BROKEN, "--json"]).json()["largest_span"].is_null());
}

#[test]
fn compare_keeps_the_order_asked_for() {
    let run = tool(&["compare", MODEL, "--schedules", "zb-h1,v-min,1f1b", "--json"]).json();
    let rows = run["schedules"].as_array().expect("a list");
    let names: Vec<&str> = rows.iter().filter_map(|row| row["name"].as_str()).collect();
    assert_eq!(names, ["zb-h1", "v-min", "1f1b"]);
    for row in rows {
        assert_keys(row, FIGURES);
        assert_keys(row, &["valid"]);
    }
    assert_eq!(rows[1]["valid"], false);
    assert!(rows[1]["error"].as_str().expect("a reason").contains("placement"));
}

#[test]
fn compare_leaves_out_what_is_made_for_another_placement_and_says_so() {
    let run = tool(&["compare", MODEL, "--json"]).json();
    let rows = run["schedules"].as_array().expect("a list");
    assert!(rows.iter().any(|row| row["name"] == "1f1b"));
    assert!(rows.iter().all(|row| row["name"] != "v-min"));
    assert!(run["notes"][0].as_str().expect("a note").contains("v-min"), "{}", run["notes"]);
}

#[test]
fn a_schedule_made_for_another_size_finds_its_model() {
    let run = tool(&["verify", RESIZED, "--model", MODEL, "--json"]);
    let object = run.json();
    assert_eq!((run.status, &object["devices"]), (0, &Value::from(3)), "{object}");
    let notes = object["notes"].to_string();
    for word in ["3 devices", "schedule's 1 microbatch ", "--memory 3"] {
        assert!(notes.contains(word) && run.err.contains(word), "{word}: {notes}\n{}", run.err);
    }
}

/// A model of four devices with one stage each, whose weight gradients take `weight` ticks.
fn plain(weight: &str) -> String {
    format!(
        "name = \"plain\"\n[pipeline]\ndevices = 4\nplacement = \"linear\"\nmicrobatches = 8\n\
         [time]\nforward = 3\nbackward_input = 5\nbackward_weight = {weight}\n"
    )
}

#[test]
fn compare_says_that_interleaving_needs_chunks() {
    const CHUNKED: [&str; 3] = ["interleaved-1f1b", "interleaved-1f1b-uniform", "looped-bfs"];
    let model = plain("2");
    let all = tool_with_input(&["compare", "-", "--json"], &model);
    let rows = all.json();
    let names: Vec<&str> =
        rows["schedules"].as_array().expect("a list").iter().filter_map(|row| row["name"].as_str()).collect();
    for name in CHUNKED {
        assert!(!names.contains(&name), "{name} is another schedule by another name here");
    }
    let how = "`placement = \"looped\"` and `chunks = 2`";
    let note = |run: &Run| run.err.lines().find(|line| line.contains(how)).map(str::to_owned);
    let said = note(&all).expect("a note");
    assert!(CHUNKED.iter().all(|name| said.contains(name)), "{said}");
    assert!(
        rows["notes"]
            .as_array()
            .expect("notes")
            .iter()
            .any(|text| text.as_str().is_some_and(|text| text.contains(how)))
    );
    // Asked for by name, they are there, and the note as well.
    let asked = tool_with_input(&["compare", "-", "--schedules", "looped-bfs,1f1b"], &model);
    assert!(
        asked.out.contains("\nlooped-bfs ")
            && note(&asked).is_some_and(|said| said.contains("looped-bfs needs"))
    );
    assert!(note(&tool_with_input(&["compare", "-", "--schedules", "1f1b"], &model)).is_none());
    let frontier = tool_with_input(&["frontier", "-"], &model).out;
    assert!(CHUNKED.iter().all(|name| !frontier.contains(name)), "{frontier}");
    // With chunks they are what their names say.
    let looped =
        tool(&["compare", "models/profiles/unit-looped.toml", "--devices", "4", "--microbatches", "8"]);
    assert!(CHUNKED.iter().all(|name| looped.out.contains(&format!("\n{name} "))), "{}", looped.out);
    assert!(note(&looped).is_none());
    // What the note claims.
    let orders = |name: &str| {
        let run = tool_with_input(&["convert", "-", "--schedule", name, "-o", "-", "--to", "json"], &model);
        assert_eq!(note(&run).is_some(), CHUNKED.contains(&name), "{name}");
        run.json()["orders"].clone()
    };
    assert_eq!(orders("interleaved-1f1b"), orders("eager-1f1b"));
    assert_eq!(orders("looped-bfs"), orders("gpipe"));
}

#[test]
fn figures_of_split_backwards_say_when_no_backward_was_measured_in_two() {
    const SAYS: &str = "the weight gradient (W) takes no time";
    let notes = |run: &Run| -> Vec<String> {
        let notes = run.json()["notes"].as_array().expect("notes").clone();
        notes.iter().filter_map(|note| Some(note.as_str()?.to_owned())).collect()
    };
    for (weight, which) in [
        ("0", Some("on every stage")),
        ("[2, 0, 2, 0]", Some("on stages 1, 3")),
        ("[2, 0, 2, 2]", Some("on stage 1")),
        ("2", None),
    ] {
        let model = plain(weight);
        for command in [
            &["compare", "-", "--json"][..],
            &["compare", "-", "--schedules", "zb-h1", "--json"],
            &["optimize", "-", "--time-limit", "5", "--json"],
            &["explain", "-", "--time-limit", "5", "--json"],
            &["frontier", "-", "--json"],
            &["block", "-", "--json"],
        ] {
            let run = tool_with_input(command, &model);
            let said = notes(&run).into_iter().find(|note| note.contains(SAYS));
            assert_eq!(said.is_some(), which.is_some(), "{command:?}: {}", run.transcript());
            assert!(which.is_none_or(|which| said.is_some_and(|said| said.contains(which))), "{command:?}");
            assert_eq!(run.err.contains(SAYS), which.is_some(), "{command:?}: {}", run.err);
        }
        // One in one piece is as it was measured.
        for command in [&["frontier", "-", "--fused", "--json"][..], &["block", "-", "--fused", "--json"]] {
            assert!(!tool_with_input(command, &model).err.contains(SAYS), "{command:?}");
        }
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("a plain name").to_owned();
    std::fs::write(path("model.toml"), plain("0")).expect("written");
    for (name, splits) in [("1f1b", false), ("zb-h1", true)] {
        let (schedule, model) = (path(&format!("{name}.json")), path("model.toml"));
        tool(&["convert", &model, "--schedule", name, "-o", &schedule]);
        for command in ["verify", "replay", "render"] {
            let run = tool(&[command, &schedule, "--model", &model]);
            assert_eq!(run.err.contains(SAYS), splits, "{command} {name}: {}", run.err);
        }
    }
}

/// One line in place of one for each send; a file that waits for some has a line for each that it does not wait for.
#[test]
fn what_a_whole_file_lacks_is_said_once() {
    const SAYS: &str = "never-waited: 4 sends are never waited for";
    let none = tool(&["verify", "tests/corpus/communication/no-waits-at-all.csv"]);
    assert_eq!(none.out.matches("never-waited").count(), 1, "{}", none.out);
    assert!(none.out.contains(SAYS) && none.out.contains("(--json gives them all)"), "{}", none.out);
    // Two of four, so that there are several, and some that are waited for.
    let file = fs::read_to_string("tests/corpus/communication/missing-wait.csv").expect("readable");
    let wait =
        file.split([',', '\n']).find(|action| action.contains("WAIT_SEND")).expect("others are waited for");
    let two = tool_with_input(&["verify", "-"], &file.replacen(&format!("{wait},"), "", 1));
    assert_eq!(two.out.matches("is never waited for").count(), 2, "{}", two.transcript());
    assert!(!two.out.contains("WAIT_SEND at all"), "{}", two.out);
}

/// The command that mends knows nothing of other limits, so its figures are not those found under them.
#[test]
fn a_repair_under_other_limits_is_offered_without_figures() {
    let file = "tests/corpus/communication/deadlocked-passes.csv";
    let repair = |more: &[&str]| {
        let run = tool(&[&["verify", file], more].concat());
        let line = run.out.lines().find(|line| line.trim_start().starts_with("repair")).map(str::to_owned);
        line.unwrap_or_else(|| panic!("{}", run.transcript()))
    };
    assert!(repair(&[]).contains("makespan"));
    let other = repair(&["--memory", "100"]);
    assert!(!other.contains("makespan") && other.ends_with("under the model as it is"), "{other}");
}
