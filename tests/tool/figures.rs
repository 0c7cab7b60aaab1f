//! A figure of one name is one figure, whichever command prints it, draws it or gives it as a key.

use std::fs;

use bubbleproof::catalog;
use bubbleproof::model::{self, Model};
use bubbleproof::trace::{file, synthetic};
use serde_json::Value;
use tempfile::TempDir;

use crate::cli::{Run, tool};

/// Linear and V placement, with weights, unequal stages and latencies: devices neither begin nor end together, and
/// neither are the fullest by weights and by activations the same.
const MODELS: [(&str, &str, &str); 2] = [
    (
        "zb-h1",
        "linear",
        "forward = [10, 1, 12, 4]\nbackward_input = [9, 11, 1, 5]\nbackward_weight = [1, 7, 3, 3]\ncommunication = 2\n",
    ),
    (
        "v-half",
        "v",
        "forward = [3, 4, 3, 9, 3, 2, 3, 1]\nbackward_input = 4\nbackward_weight = [2, 2, 5, 2, 2, 2, 2, 6]\n\
         communication = 1\n",
    ),
];

/// What a figure is called as a key, and in text.
const NAMES: [(&str, &str); 5] = [
    ("makespan", "makespan"),
    ("device_span", "device span"),
    ("bubble_rate", "bubble rate"),
    ("idle_rate", "idle rate"),
    ("peak_memory_max", "peak memory"),
];

struct Scene {
    folder: TempDir,
    name: &'static str,
    model: Model,
    /// Whether the schedule is one that `verify` was asked about: what all others are compared with.
    base: Value,
}

impl Scene {
    fn new((name, placement, time): (&'static str, &str, &str)) -> Self {
        let text = format!(
            "name = \"uneven\"\n[pipeline]\ndevices = 4\nplacement = \"{placement}\"\nmicrobatches = 9\n\
             [time]\nunit = \"ns\"\n{time}[memory]\nunit = \"byte\"\nactivation = 10\nretained_for_weight = 4\n\
             weights = {}\n",
            if placement == "v" { "[1, 2, 30, 4, 5, 6, 7, 8]" } else { "[1, 20, 300, 4]" }
        );
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("model.toml"), &text).expect("written");
        let model = model::parse(&text).expect("a model");
        let scene = Self { folder, name, model, base: Value::Null };
        let (model, schedule) = (scene.path("model.toml"), scene.path("schedule.json"));
        assert_eq!(tool(&["convert", &model, "--schedule", name, "-o", &schedule]).status, 0);
        let base = tool(&["verify", &schedule, "--model", &model, "--json"]).json();
        assert_eq!(base["valid"], true, "{base}");
        if placement == "linear" {
            assert_ne!(base["bubble_rate"], base["idle_rate"], "every device begins late or ends early");
        }
        Self { base, ..scene }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().expect("a plain name").to_owned()
    }

    /// Runs the tool on files of the folder, which are written in capitals.
    fn run(&self, arguments: &str) -> Run {
        let files = [
            ("MODEL", "model.toml"),
            ("SCHEDULE", "schedule.json"),
            ("TRACE", "trace.json"),
            ("FOUND", "found.json"),
            ("PICTURE.svg", "picture.svg"),
            ("PICTURE.html", "picture.html"),
        ];
        let arguments: Vec<String> = arguments
            .split(' ')
            .map(|word| match files.iter().find(|(name, _)| *name == word) {
                Some((_, file)) => self.path(file),
                None => word.to_owned(),
            })
            .collect();
        let run = tool(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(run.status == 0 || run.status == 3, "{arguments:?}: {}", run.transcript());
        run
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("written")
    }

    /// Holds every figure in an object against those of `base`, and says how many there are.
    fn hold(base: &Value, object: &Value, about: &str) -> usize {
        let mut held = 0;
        let exact = ["bubble_rate_exact", "idle_rate_exact", "peak_memory"];
        for key in NAMES.iter().map(|(key, _)| *key).chain(exact) {
            if let Some(value) = object.get(key).filter(|value| !value.is_null()) {
                assert_eq!(*value, base[key], "{about}: {key}");
                held += 1;
            }
        }
        assert!(held > 0, "{about} has none of the figures: {object}");
        held
    }

    /// The same for every figure in a text: in a line of its own, among other facts, or as a word in a sentence.
    fn hold_text(base: &Value, text: &str, about: &str) {
        let mut held = 0;
        for (key, words) in NAMES {
            for (at, _) in text.match_indices(words) {
                let rest = text[at + words.len()..].trim_start_matches(' ');
                let number: String =
                    rest.chars().take_while(|letter| letter.is_ascii_digit() || *letter == '.').collect();
                if !number.starts_with(|letter: char| letter.is_ascii_digit()) {
                    continue;
                }
                assert_eq!(number.trim_end_matches('.'), shown(&base[key]), "{about}: {words}\n{text}");
                held += 1;
            }
        }
        assert!(held > 2, "{about}: {held} figures in {text}");
    }
}

/// A figure as texts have it: whole, or in percent with two decimals.
fn shown(value: &Value) -> String {
    match value.as_i64() {
        Some(whole) => whole.to_string(),
        None => format!("{:.2}", value.as_f64().expect("a rate") * 100.0),
    }
}

/// The row of a table that begins with a word, and its headings: cells lie two blanks apart.
fn row<'a>(text: &'a str, heading: &str, first: &str) -> Vec<(&'a str, &'a str)> {
    let cells = |line: &'a str| -> Vec<&'a str> {
        line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect()
    };
    let mut lines = text.lines().skip_while(|line| !line.starts_with(heading));
    let headings = cells(lines.next().expect("a table"));
    let row = lines.map(cells).find(|row| row.first() == Some(&first)).expect("a row");
    assert_eq!(headings.len(), row.len(), "{headings:?}, {row:?}");
    headings.into_iter().zip(row).collect()
}

#[test]
fn every_command_gives_the_same_figures_of_a_schedule() {
    for described in MODELS {
        let scene = Scene::new(described);
        let (name, base) = (scene.name, &scene.base);
        let replayed = scene.run("replay SCHEDULE --model MODEL --json").json();
        assert_eq!(Scene::hold(base, &replayed, "replay"), 8);
        let of_name = |rows: &Value| -> Value {
            let rows = rows["schedules"].as_array().expect("a list").clone();
            rows.into_iter().find(|row| row["name"] == name).expect("the schedule")
        };
        let compared = scene.run(&format!("compare MODEL --schedules {name} --json")).json();
        assert_eq!(Scene::hold(base, &of_name(&compared), "compare"), 8);
        let frontier = scene.run("frontier MODEL --json").json();
        assert_eq!(Scene::hold(base, &of_name(&frontier), "frontier"), 3);
        for point in frontier["points"].as_array().expect("a list") {
            assert!(point.get("bubble_rate").is_none() && point.get("peak_memory_max").is_none(), "{point}");
        }
        let block = scene.run("block MODEL --json").json();
        assert!(block.get("peak_memory").is_none() && block.get("bubble_rate").is_none(), "{block}");
        assert_eq!(
            block["activation_peak_max"],
            frontier["points"].as_array().and_then(|points| points.last()).expect("a point")["activation_peak_max"],
            "without limits, a block with the least interval and the least memory for that ends the frontier"
        );

        Scene::hold_text(base, &scene.run("verify SCHEDULE --model MODEL").out, "verify");
        let replay = scene.run("replay SCHEDULE --model MODEL").out;
        Scene::hold_text(base, &replay, "replay");
        let drawn = scene.run("render SCHEDULE --model MODEL --width 200").out;
        Scene::hold_text(base, &drawn, "render");
        for picture in ["svg", "html"] {
            scene.run(&format!("render SCHEDULE --model MODEL -o PICTURE.{picture}"));
            Scene::hold_text(base, &scene.read(&format!("picture.{picture}")), picture);
        }
        for (command, heading) in [
            (format!("compare MODEL --schedules {name}"), "schedule "),
            ("frontier MODEL".to_owned(), "schedule "),
        ] {
            let text = scene.run(&command).out;
            let row = row(&text, heading, name);
            for (key, words) in NAMES {
                let Some((_, cell)) = row.iter().find(|(heading, _)| *heading == words) else {
                    // Tables have no room for all of them.
                    let there = !command.starts_with("frontier") && key != "idle_rate";
                    assert!(!there, "{command} has no {words}");
                    continue;
                };
                assert_eq!(cell.trim_end_matches(" %"), shown(&base[key]), "{command}: {words}");
            }
        }
        idle_shares(&scene, &replayed, &replay, &drawn);
        let proved = scene.run("verify SCHEDULE --model MODEL --every-m --json").json();
        if proved["peak_memory_from"].as_u64().is_some_and(|from| from <= 9) {
            assert_eq!(proved["peak_memory"], base["peak_memory"], "--every-m");
        }
        recorded(&scene);
    }
}

/// What `regress` records of the schedule.
fn recorded(scene: &Scene) {
    let manifest = "[[schedule]]\nname = \"ours\"\nfile = \"schedule.json\"\nmodel = \"model.toml\"\n";
    fs::write(scene.path("regress.toml"), manifest).expect("written");
    let run = tool(&["regress", &scene.path(""), "--accept", "--no-cache"]);
    assert_eq!(run.status, 0, "{}", run.transcript());
    let record = scene.read("records/ours.record");
    let value = |name: &str| {
        let facts = record.lines().filter_map(|line| line.rsplit_once(": "));
        let found: Vec<&str> = facts
            .filter(|(fact, _)| fact.split(' ').next_back() == Some(name))
            .map(|(_, value)| value)
            .collect();
        let [value] = found[..] else { panic!("{name} in {record}") };
        value.to_owned()
    };
    for key in ["makespan", "device_span"] {
        assert_eq!(value(key), scene.base[key].to_string(), "{key} in {record}");
    }
    assert_eq!(scene.base["bubble_rate_exact"], value("bubble_rate"), "{record}");
    let peaks: Vec<String> =
        scene.base["peak_memory"].as_array().expect("a list").iter().map(Value::to_string).collect();
    assert_eq!(value("peak_memory"), peaks.join(" "), "{record}");
}

/// The idle share of each device, in a table, beside the rows of drawings and on a page.
fn idle_shares(scene: &Scene, replayed: &Value, replay: &str, drawn: &str) {
    let makespan = replayed["makespan"].as_i64().expect("ticks");
    let passes = replayed["passes"].as_array().expect("a list");
    let (svg, html) = (scene.read("picture.svg"), scene.read("picture.html"));
    for device in 0..4 {
        let lasts =
            |pass: &Value| pass["end"].as_i64().zip(pass["start"].as_i64()).map(|(end, start)| end - start);
        let busy: i64 = passes.iter().filter(|pass| pass["device"] == device).filter_map(lasts).sum();
        // Rounded half up in integers: a share of `scale` parts.
        let idle = |scale: i64| ((makespan - busy) * 2 * scale + makespan) / (2 * makespan);
        let share = idle(10_000);
        let share = format!("{}.{:02}", share / 100, share % 100);
        let row = row(replay, "device ", &device.to_string());
        let cell = row.iter().find(|(heading, _)| *heading == "idle").expect("a column");
        assert_eq!(cell.1, format!("{share} %"), "replay, device {device}");
        let of_device = |line: &&str| line.trim_start().starts_with(&format!("{device} "));
        let line = drawn.lines().rfind(of_device).expect("a row");
        assert!(line.contains(&format!("{share}%")), "device {device}: {share} in {line}");
        let beside = svg.matches("% idle").count();
        assert_eq!(beside, 4, "a share beside each row");
        let shares: Vec<&str> =
            svg.split(" % idle").map(|text| text.rsplit('>').next().unwrap_or_default()).collect();
        assert_eq!(shares[device], share, "the drawing, device {device}");
        let cells = html.split(&format!("<th scope=\"row\">{device}</th>")).nth(1).expect("a row");
        assert!(
            cells.split("</tr>").next().is_some_and(|row| row.contains(&format!("<td>{share} %</td>"))),
            "{cells}"
        );
    }
}

#[test]
fn what_was_found_has_the_same_figures_in_every_command() {
    let scene = Scene::new(MODELS[0]);
    let found = scene.run("optimize MODEL --microbatches 3 -o FOUND --json").json();
    let base = scene.run("verify FOUND --model MODEL --json").json();
    assert_eq!(Scene::hold(&base, &found, "optimize"), 8);
    Scene::hold_text(&base, &scene.run("check FOUND").out, "check");
    Scene::hold(&base, &scene.run("check FOUND --json").json(), "check");
    Scene::hold_text(&base, &scene.run("verify FOUND --model MODEL").out, "verify");
}

/// A trace of what replay computes measures what replay computes; it knows nothing of weights.
#[test]
fn a_trace_has_the_figures_of_its_schedule() {
    for described in MODELS {
        let scene = Scene::new(described);
        let light = scene.model.without_weights();
        let schedule = catalog::find(scene.name).expect("a name").generate(&light).expect("a schedule");
        let trace = synthetic::of_replay(&light, &schedule).expect("it runs");
        let mut text = Vec::new();
        file::write(&trace, &mut text).expect("written");
        fs::write(scene.path("trace.json"), text).expect("written");
        let compared = scene.run("trace compare TRACE --json").json();
        let figures = &compared["traces"][0];
        assert!(figures.get("peak_memory").is_none());
        assert_eq!(figures["makespan"]["measured"]["median"], scene.base["makespan"]);
        for side in ["measured", "predicted"] {
            assert_eq!(figures["bubble_rate"][side], scene.base["bubble_rate"], "{side}");
        }
        let text = scene.run("trace compare TRACE").out;
        let mut rates = text.match_indices("bubble rate ").map(|(at, words)| {
            let rest = text[at + words.len()..].trim_start();
            rest.split(' ').next().unwrap_or_default()
        });
        assert!(rates.all(|rate| rate == shown(&scene.base["bubble_rate"])), "{text}");
        assert!(text.contains("activation peak") && !text.contains("peak memory"), "{text}");
    }
}

/// Where replay lets a device begin later than as soon as possible, a run does not: the rate of what is predicted is
/// that of its times, in the table and in pictures.
#[test]
fn a_prediction_has_one_bubble_rate() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("a plain name").to_owned();
    let text = fs::read_to_string("tests/differential/fixed/first-starts-later.toml").expect("a model");
    let model = model::parse(&format!("{text}unit = \"us\"\n")).expect("a model");
    let schedule = catalog::find("zb-h1").expect("a name").generate(&model).expect("a schedule");
    let mut trace = Vec::new();
    file::write(&synthetic::of_replay(&model, &schedule).expect("it runs"), &mut trace).expect("written");
    fs::write(path("trace.json"), trace).expect("written");
    let json = tool(&["trace", "compare", &path("trace.json"), "--json"]).json();
    let figures = &json["traces"][0]["bubble_rate"];
    assert_eq!(figures["measured"], figures["predicted"]);
    let replayed =
        bubbleproof::replay::replay(&model, &schedule).timing.expect("it runs").metrics.bubble_rate;
    let rate = shown(&figures["predicted"]);
    let of_replay = (replayed * 10_000).to_integer();
    assert_ne!(rate.replace('.', ""), of_replay.to_string(), "the device span is less than that of the run");
    for name in ["drawn.svg", "drawn.html", "drawn.txt"] {
        let run = tool(&["trace", "compare", &path("trace.json"), "-o", &path(name)]);
        assert_eq!(run.status, 0, "{}", run.transcript());
        let drawn = fs::read_to_string(path(name)).expect("written");
        let rates: Vec<&str> = drawn
            .match_indices("bubble rate ")
            .map(|(at, words)| drawn[at + words.len()..].split(' ').next().unwrap_or_default())
            .collect();
        assert!(rates.len() >= 2 && rates.iter().all(|each| *each == rate), "{name}: {rates:?}, not {rate}");
        assert!(!drawn.contains("later than shown"), "{name}");
    }
}
