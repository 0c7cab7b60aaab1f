//! torchtitan's configuration: read as TOML, and held against the CSV that it names.

use bubbleproof::catalog;
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

#[test]
fn stages_microbatches_and_modules_are_those_of_the_schedule() {
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
        let files = torchtitan::configuration(&schedule, layers, "runs/a \"b\".csv").expect("it runs");

        let read: toml::Table = files.toml.parse().expect("TOML");
        let parallelism = &read["parallelism"];
        assert_eq!(parallelism["pipeline_parallel_degree"].as_integer(), Some(i64::from(devices)));
        assert_eq!(parallelism["pipeline_parallel_schedule_csv"].as_str(), Some("runs/a \"b\".csv"));
        let batch = read["training"]["local_batch_size"].as_integer().expect("a number");
        let size = parallelism["pipeline_parallel_microbatch_size"].as_integer().expect("a number");
        assert_eq!(batch / size, i64::from(schedule.microbatches()));

        let csv = pytorch::parse(&files.csv).expect("a CSV");
        assert_eq!(csv.schedule().orders(), schedule.orders());
        let named = parallelism["pipeline_parallel_schedule"].as_str().expect("a name");
        let there = placed_there(named, devices, stages);
        for device in Device::all(devices) {
            assert_eq!(csv.schedule().placement().stages_of(device), there[device.index()], "{name}");
        }

        let Some(layers) = layers else { continue };
        let modules = parallelism["module_fqns_per_model_part"].as_array().expect("a list");
        let names: Vec<Vec<&str>> = modules
            .iter()
            .map(|stage| {
                stage.as_array().expect("a list").iter().map(|name| name.as_str().expect("a name")).collect()
            })
            .collect();
        assert_eq!(names.len(), stages as usize);
        let flat: Vec<&str> = names.concat();
        let count: u32 = if let [all] = *layers { all * stages } else { layers.iter().sum() };
        let mut expected = vec!["tok_embeddings".to_owned()];
        expected.extend((0..count).map(|layer| format!("layers.{layer}")));
        expected.extend(["norm".to_owned(), "output".to_owned()]);
        assert_eq!(flat, expected, "every module once, in order");
        let inner = |stage: &[&str]| stage.iter().filter(|name| name.starts_with("layers.")).count();
        for (stage, names) in names.iter().enumerate() {
            let asked = layers.get(stage).or(layers.first()).expect("layers");
            assert_eq!(inner(names), *asked as usize);
        }
    }
}

#[test]
fn the_page_on_runtimes_shows_what_is_written() {
    let page = include_str!("../../../docs/runtimes.md");
    let shown = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("an example");
    let model = Model::unit(Placement::v(2).expect("a placement"), 6).expect("a model");
    let schedule = catalog::find("v-half").expect("a name").generate(&model).expect("it has the placement");
    let files = torchtitan::configuration(&schedule, Some(&[3, 4, 4, 3]), "target/run.csv").expect("it runs");
    assert!(files.toml.ends_with(shown), "{}", files.toml);
}
