//! The jobs that are estimated from dimensions: each is what its dimensions give today, and they agree with what is published.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use bubbleproof::job::{self, Job};
use bubbleproof::transformer::{self, Transformer};

fn models(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("models").join(folder)
}

/// The names of the files of a folder, in order.
fn names(folder: &str) -> BTreeSet<String> {
    fs::read_dir(models(folder))
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("a plain name"))
        .collect()
}

fn dimensions(name: &str) -> Transformer {
    let text = fs::read_to_string(models("transformers").join(name)).expect("dimensions");
    transformer::parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn estimated(name: &str) -> Job {
    job::parse(&dimensions(name).job().expect("it fits")).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn every_estimated_job_is_what_its_dimensions_give_today() {
    let inputs = names("transformers");
    for name in &inputs {
        let model = dimensions(name);
        let committed = fs::read_to_string(models("jobs").join(name)).unwrap_or_default();
        assert!(
            committed == model.job().expect("it fits"),
            "models/jobs/{name} is stale; write it again: bubbleproof estimate models/transformers/{name} -o models/jobs/{name}"
        );
        let job = job::parse(&committed).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(job.choices().is_ok_and(|choices| !choices.is_empty()), "{name}");
    }
    let is_estimate = |name: &String| {
        let text = fs::read_to_string(models("jobs").join(name)).expect("a job");
        job::parse(&text).unwrap_or_else(|error| panic!("{name}: {error}")).is_estimate
    };
    assert_eq!(names("jobs").into_iter().filter(is_estimate).collect::<BTreeSet<_>>(), inputs);
}

#[test]
fn a_shipped_job_leaves_more_than_a_thousand_choices_open() {
    let text = fs::read_to_string(models("jobs").join("llama-3-8b-wide.toml")).expect("a job");
    let choices = job::parse(&text).expect("a job").choices().expect("choices");
    assert_eq!(choices.len(), 1078);
}

/// arXiv 2407.21783, whose models are released with these sizes; 2401.06066, section 5.1; and 2405.15362, Table 2, where the
/// vocabulary is an assumption.
#[test]
fn parameters_are_as_many_as_published() {
    for (name, published, unit) in [
        ("llama-3-8b", 803, 10_000_000),
        ("llama-3-70b", 706, 100_000_000),
        ("deepseek-moe-16b", 164, 100_000_000),
        ("cm-9.6b", 96, 100_000_000),
        ("cm-21b", 21, 1_000_000_000),
        ("cm-38.5b", 385, 100_000_000),
        ("cm-98.5b", 985, 100_000_000),
    ] {
        let found = dimensions(&format!("{name}.toml")).parameters();
        assert_eq!((found + unit / 2) / unit, published, "{name}: {found}");
    }
}

/// arXiv 2405.15362, Table 5: milliseconds of F of a layer with so many samples. The share of the peak is taken from them, so this
/// holds it to its source.
#[test]
fn a_layer_of_9_6b_takes_as_long_as_published() {
    let job = estimated("cm-9.6b.toml");
    for (samples, hundredths) in [(4, 1296), (12, 3945)] {
        let forward = job.profiles[&(1, samples)].layers["block"].forward;
        assert_eq!((forward + 5_000) / 10_000, hundredths, "{forward} ns");
    }
}

/// arXiv 2405.15362, Table 4, over all three models: activations of 1F1B and V-ZB take 35 to 56 GB, and with weights these and two
/// others take 38 to 59. With an even cut the second device has two of the equal layers, and 1F1B keeps a microbatch for it and for
/// each device behind it. The first one has less, for the embedding keeps little.
#[test]
fn memory_of_1f1b_is_as_large_as_published() {
    let gigabytes = |bytes: i64| (bytes + 500_000_000) / 1_000_000_000;
    for (name, samples) in [("cm-9.6b.toml", 4), ("cm-21b.toml", 2), ("cm-38.5b.toml", 1)] {
        let job = estimated(name);
        let block = &job.profiles[&(1, samples)].layers["block"];
        let kept = 2 * i64::from(job.machine.devices - 1) * block.activation;
        assert!((35..=56).contains(&gigabytes(kept)), "{name}: {kept} bytes");
        let all = kept + 2 * (block.weights + block.optimizer_state);
        assert!((38..=59).contains(&gigabytes(all)), "{name}: {all} bytes");
    }
}
