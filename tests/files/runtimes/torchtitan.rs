//! torchtitan's configuration: read as its releases read it, and held against the CSV that it names.

use std::collections::BTreeMap;

use bubbleproof::catalog;
use bubbleproof::interchange::torchtitan::Release;
use bubbleproof::interchange::{pytorch, torchtitan};
use bubbleproof::model::{Device, Model, Placement, Stage};

/// Where torchtitan puts stages: by name in a loop or in a V.
fn placed_there(named: &str, devices: u32, stages: u32) -> Vec<Vec<Stage>> {
    let of = |device: u32| match named {
        "ZBVZeroBubble" => vec![Stage(device), Stage(stages - 1 - device)],
        _ => (0..stages / devices).map(|chunk| Stage(device + chunk * devices)).collect(),
    };
    (0..devices).map(of).collect()
}

/// What a configuration sets: by key, without its section; lists of modules apart.
type Settings = (BTreeMap<String, String>, Vec<Vec<String>>);

fn read_toml(text: &str) -> Settings {
    let table: toml::Table = text.parse().expect("TOML");
    let (mut plain, mut modules) = (BTreeMap::new(), Vec::new());
    for (key, value) in table.values().flat_map(|section| section.as_table().expect("a section")) {
        match value {
            toml::Value::Array(stages) => {
                let name = |name: &toml::Value| name.as_str().expect("a name").to_owned();
                let names =
                    |stage: &toml::Value| stage.as_array().expect("a list").iter().map(name).collect();
                modules = stages.iter().map(names).collect();
            }
            toml::Value::String(text) => _ = plain.insert(key.clone(), text.clone()),
            value => _ = plain.insert(key.clone(), value.to_string()),
        }
    }
    (plain, modules)
}

/// Options, one a line. Those of the list of modules follow its key, a stage each.
fn read_options(text: &str) -> Settings {
    let (mut plain, mut modules) = (BTreeMap::new(), Vec::new());
    let mut lines = text.lines();
    for line in lines.by_ref() {
        let (_, option) = line.split_once('.').expect("a section and a key");
        let Some((key, value)) = option.split_once('=') else {
            if option == "disable_cuda_graphs" {
                continue;
            }
            assert_eq!(line, "--parallelism.module_fqns_per_model_part");
            break;
        };
        plain.insert(key.to_owned(), value.to_owned());
    }
    modules.extend(lines.map(|stage| stage.split(',').map(str::to_owned).collect()));
    (plain, modules)
}

#[test]
fn stages_microbatches_and_modules_are_those_of_the_schedule() {
    are_those_of_the_schedule(Release::V0_2, read_toml, "output");
    are_those_of_the_schedule(Release::V0_3, read_options, "lm_head");
}

fn are_those_of_the_schedule(release: Release, read: fn(&str) -> Settings, last_module: &str) {
    for (placement, name, layers) in [
        (Placement::linear(4), "zb-h1", None),
        (Placement::linear(4), "1f1b", Some(&[1, 2, 3, 0][..])),
        (Placement::v(3), "v-half", None),
        (Placement::v(2), "v-min", Some(&[0, 5, 4, 2])),
        (Placement::looped(3, 2), "interleaved-1f1b", None),
        (Placement::looped(2, 3), "interleaved-1f1b", Some(&[2])),
    ] {
        let placement = placement.expect("a placement");
        let (devices, stages) = (placement.devices(), placement.stages());
        let model = Model::unit(placement, 3 * devices).expect("a model");
        let schedule = catalog::find(name).expect("a name").generate(&model).expect("it has the placement");
        let files =
            torchtitan::configuration(&schedule, layers, "runs/a \"b\".csv", release).expect("it runs");

        let (settings, modules) = read(&files.settings);
        assert_eq!(settings["pipeline_parallel_degree"], devices.to_string());
        assert_eq!(settings["pipeline_parallel_schedule_csv"], "runs/a \"b\".csv");
        let number = |key: &str| settings[key].parse::<u32>().expect("a number");
        let size = number("pipeline_parallel_microbatch_size");
        assert_eq!(number("local_batch_size") / size, schedule.microbatches());

        let csv = pytorch::parse(&files.csv).expect("a CSV");
        assert_eq!(csv.schedule().orders(), schedule.orders());
        let there = placed_there(&settings["pipeline_parallel_schedule"], devices, stages);
        for device in Device::all(devices) {
            assert_eq!(csv.schedule().placement().stages_of(device), there[device.index()], "{name}");
        }

        let Some(layers) = layers else {
            assert_eq!(modules, Vec::<Vec<String>>::new());
            continue;
        };
        assert_eq!(modules.len(), stages as usize);
        let count: u32 = if let [all] = *layers { all * stages } else { layers.iter().sum() };
        let mut expected = vec!["tok_embeddings".to_owned()];
        expected.extend((0..count).map(|layer| format!("layers.{layer}")));
        expected.extend(["norm".to_owned(), last_module.to_owned()]);
        assert_eq!(modules.concat(), expected, "every module once, in order");
        let inner = |stage: &[String]| stage.iter().filter(|name| name.starts_with("layers.")).count();
        for (stage, names) in modules.iter().enumerate() {
            let asked = layers.get(stage).or(layers.first()).expect("layers");
            assert_eq!(inner(names), *asked as usize);
        }
    }
}

#[test]
fn the_page_on_runtimes_shows_what_is_written() {
    let page = include_str!("../../../docs/runtimes.md");
    let model = Model::unit(Placement::v(2).expect("a placement"), 6).expect("a model");
    let schedule = catalog::find("v-half").expect("a name").generate(&model).expect("it has the placement");
    for (release, fence) in [(Release::V0_3, "```text"), (Release::V0_2, "```toml")] {
        let shown = page.split(&format!("{fence}\n")).nth(1).and_then(|rest| rest.split("```").next());
        let shown = shown.expect("an example");
        let files = torchtitan::configuration(&schedule, Some(&[3, 4, 4, 3]), "target/run.csv", release);
        let settings = files.expect("it runs").settings;
        assert!(settings.ends_with(shown), "{settings}");
    }
}
