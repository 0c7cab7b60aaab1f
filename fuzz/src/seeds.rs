//! Where fuzzing begins: the corpora of the tests, the models and records of the repository, and what was found.

use std::fs;
use std::path::Path;

/// Inputs longer than this are no seeds: fuzzing them is slow, and shows nothing that shorter ones do not.
const LONGEST: usize = 20_000;

/// The seeds of a target, always in the same order.
pub fn seeds(target: &str, checkout: &Path) -> Vec<Vec<u8>> {
    let mut seeds = from_folder(&checkout.join("fuzz/finds").join(target), "");
    let folders: &[(&str, &str)] = match target {
        "tables" => &[
            ("tests/corpus/valid", ".toml"),
            ("tests/corpus/invalid", ".toml"),
            ("tests/corpus/families", ".toml"),
            ("models/blocks", ".toml"),
            ("models/profiles", ".toml"),
            ("models/regress", ".toml"),
            ("models/regress/records", ""),
        ],
        "schedules" => &[
            ("tests/corpus/valid", ".json"),
            ("tests/corpus/invalid", ".json"),
            ("tests/corpus/certificates", ".json"),
            ("tests/corpus/communication", ".csv"),
            ("tests/data/pytorch", ".csv"),
            ("tests/data/cli", ".json"),
            ("tests/data/interop", ".json"),
        ],
        "traces" => &[("tests/corpus/traces", ".json"), ("tests/data/traces/profiler", ".json")],
        "jobs" => &[("models/jobs", ".toml"), ("models/transformers", ".toml")],
        _ => &[],
    };
    for (folder, end) in folders {
        seeds.extend(from_folder(&checkout.join(folder), end));
    }
    if target == "jobs" {
        let small = fs::read_to_string(checkout.join("tests/data/cli/job.toml")).expect("a job file");
        seeds.extend(without_a_line(&small));
        seeds.push(small.into_bytes());
    }
    if folders.is_empty() {
        seeds.extend((0..64).map(random));
    }
    seeds
}

/// The files of a folder whose names end so, in the order of their names.
fn from_folder(folder: &Path, end: &str) -> Vec<Vec<u8>> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("a readable folder").path()).collect();
    paths.retain(|path| path.is_file() && path.to_string_lossy().ends_with(end));
    paths.sort_unstable();
    let contents = paths.iter().map(|path| fs::read(path).expect("a readable file"));
    contents.filter(|content| content.len() <= LONGEST).collect()
}

/// A text without one of its lines, for each of them.
fn without_a_line(text: &str) -> impl Iterator<Item = Vec<u8>> {
    let lines: Vec<&str> = text.lines().collect();
    (0..lines.len())
        .map(move |missing| [&lines[..missing], &lines[missing + 1..]].concat().join("\n").into_bytes())
}

/// A row of random choices (splitmix64), of which longer ones make larger problems.
fn random(seed: u64) -> Vec<u8> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB).to_be_bytes()[0]
    };
    (0..16 + 8 * seed).map(|_| next()).collect()
}
