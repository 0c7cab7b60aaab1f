//! Plans whose results are kept: taken again, shared, divided, merged; what is wrong with a store; and what is kept when the
//! tool is killed.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use assert_cmd::cargo::cargo_bin;
use rusqlite::{Connection, OpenFlags};
use serde_json::Value;
use tempfile::TempDir;

use super::{JOB, Run, tool, tool_with_input};

const SPACE: &str = "tests/data/cli/space.toml";

/// Whoever has not ended by then hangs.
const HANGS: Duration = Duration::from_secs(300);

/// A folder for stores, and their names in it.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn file(&self, name: &str) -> String {
        self.path(name).to_str().expect("a plain name").to_owned()
    }
}

fn plan(more: &[&str]) -> Run {
    let run = tool(&[&["plan", SPACE, "--seed", "3"][..], more].concat());
    assert_eq!(run.status, 0, "{more:?}: {}", run.transcript());
    run
}

/// How many results were taken from the store, and how many were searched for.
fn counts(run: &Run) -> (usize, usize) {
    let note = run
        .err
        .lines()
        .find_map(|line| line.strip_prefix("note: ").filter(|note| note.contains(" taken from ")));
    let note = note.unwrap_or_else(|| panic!("no note: {}", run.err));
    let numbers: Vec<usize> = note.split(' ').filter_map(|word| word.parse().ok()).collect();
    (numbers[0], numbers[1])
}

fn rows(path: &Path) -> usize {
    // A reader has to write where it rolls back what a killed process was writing.
    let count = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE).and_then(|store| {
        store.busy_timeout(Duration::from_secs(10))?;
        store.query_row("SELECT count(*) FROM results", [], |row| row.get::<_, u32>(0))
    });
    count.map_or(0, |count| count as usize)
}

fn started(arguments: &[&str]) -> Child {
    Command::new(cargo_bin("bubbleproof"))
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the tool starts")
}

#[test]
fn a_second_run_searches_for_nothing_and_says_the_same() {
    let place = Place::new();
    let store = place.file("results.sqlite");
    let folders = ["without", "first", "second"].map(|name| place.file(name));
    let without = plan(&["-o", &folders[0]]);
    let first = plan(&["--store", &store, "-o", &folders[1]]);
    let (taken, computed) = counts(&first);
    assert!(taken == 0 && computed >= 4, "{}", first.err);
    let second = plan(&["--store", &store, "-o", &folders[2]]);
    assert_eq!(counts(&second), (computed, 0), "{}", second.err);
    let answer = |run: &Run, folder: &str| run.out.replace(folder, "FOLDER");
    assert_eq!(answer(&first, &folders[1]), answer(&without, &folders[0]));
    assert_eq!(answer(&second, &folders[2]), answer(&without, &folders[0]));
    for name in ["schedule.json", "model.toml", "pytorch.csv"] {
        let [without, first, second] =
            folders.each_ref().map(|folder| fs::read_to_string(Path::new(folder).join(name)).expect(name));
        assert!(without == first && without == second, "{name}");
    }
    // The same as an object.
    let mut object = plan(&["--store", &store, "--json"]).json();
    let counted = object.as_object_mut().and_then(|object| object.remove("store"));
    assert_eq!(counted, Some(serde_json::json!({ "taken": computed, "computed": 0, "refused": 0 })));
    assert_eq!(object, plan(&["--json"]).json());
    // Another seed is another search.
    let other = tool(&["plan", SPACE, "--seed", "4", "--store", &store]);
    assert_eq!(counts(&other).0, 0, "{}", other.transcript());
}

#[test]
fn a_larger_space_searches_for_what_is_new() {
    let place = Place::new();
    let store = place.file("results.sqlite");
    let text = fs::read_to_string(SPACE).expect("a job");
    let smaller = text.replace("\"looped 2\", \"looped 3\", \"looped 4\", ", "");
    assert_ne!(smaller, text);
    let arguments = ["plan", "-", "--seed", "3", "--store", &store];
    let smaller = tool_with_input(&arguments, &smaller);
    let whole = tool_with_input(&arguments, &text);
    assert!(counts(&smaller).1 > 0 && counts(&whole).1 > 0, "{}{}", smaller.err, whole.err);
    assert_eq!(whole.out, plan(&[]).out);
}

#[test]
fn parts_bound_only_themselves_and_together_are_the_whole() {
    let place = Place::new();
    let whole = plan(&["--json"]).json();
    let parts: Vec<String> = (1..=3).map(|index| place.file(&format!("part-{index}.sqlite"))).collect();
    let mut choices = Vec::new();
    for (part, index) in parts.iter().zip(1..) {
        let (shard, folder) = (format!("{index}/3"), place.file(&format!("plan-{index}")));
        let run = plan(&["--shard", &shard, "--store", part, "-o", &folder]);
        assert!(
            run.out.contains(&format!("part {index} of 3, ")) && run.out.contains("of this part"),
            "{}",
            run.out
        );
        assert!(!run.out.contains("of this job"), "{}", run.out);
        let checked = tool(&["check", &format!("{folder}/schedule.json")]);
        assert!(checked.status == 0 && checked.out.contains("any cut"), "{}", checked.transcript());
        assert!(!checked.out.contains("no plan with any"), "{}", checked.transcript());
        let object = plan(&["--shard", &shard, "--store", part, "--json"]).json();
        assert_eq!(object["shard"]["index"], index);
        let of_part = object["alternatives"].as_array().expect("a list");
        choices.extend(of_part.iter().map(|one| one["name"].as_str().expect("a name").to_owned()));
    }
    choices.sort();
    let all = whole["alternatives"].as_array().expect("a list");
    let mut all: Vec<&str> = all.iter().filter_map(|one| one["name"].as_str()).collect();
    all.sort_unstable();
    assert_eq!(choices, all, "every choice is in one part");
    let store = place.file("all.sqlite");
    let mut arguments = vec!["--store", &store, "--json", "--merge"];
    arguments.extend(parts.iter().map(String::as_str));
    let merged = plan(&arguments);
    assert_eq!(counts(&merged).1, 0, "{}", merged.err);
    assert!(merged.err.contains("note: 3 stores had "), "{}", merged.err);
    let mut merged = merged.json();
    merged.as_object_mut().expect("an object").remove("store");
    assert_eq!(merged, whole);
    // A part that is missing is searched for.
    let less = place.file("less.sqlite");
    let less = plan(&["--store", &less, "--json", "--merge", &parts[0], &parts[2]]);
    let (taken, computed) = counts(&less);
    assert!(taken > 0 && computed > 0, "{}", less.err);
    let mut less = less.json();
    less.as_object_mut().expect("an object").remove("store");
    assert_eq!(less, whole);
}

#[test]
fn what_was_found_before_the_tool_was_killed_is_not_searched_for_again() {
    let place = Place::new();
    let whole = plan(&["--store", &place.file("undisturbed.sqlite")]);
    let (_, all) = counts(&whole);
    let path = place.path("results.sqlite");
    let store = place.file("results.sqlite");
    let arguments = ["plan", SPACE, "--seed", "3", "--store", &store];
    let mut kept = 0;
    // Each run is killed once it has found something new, until one comes to its end.
    for attempt in 0.. {
        assert!(attempt <= all, "each run finds something");
        let mut run = started(&arguments);
        let begun = Instant::now();
        while rows(&path) <= kept && run.try_wait().expect("it is there").is_none() {
            assert!(begun.elapsed() < HANGS, "nothing is found");
            thread::sleep(Duration::from_millis(1));
        }
        run.kill().expect("it can be killed");
        let ended = run.wait().expect("it has ended");
        let before = kept;
        kept = rows(&path);
        if ended.success() || attempt == 2 {
            assert!(attempt > 0, "nothing was killed");
            break;
        }
        assert!(kept > before, "what was seen is there");
    }
    let last = plan(&["--store", &store]);
    let (taken, computed) = counts(&last);
    assert!(taken >= kept.min(all) && taken + computed == all, "{kept} kept: {}", last.err);
    assert_eq!(last.out, whole.out);
    assert_eq!(counts(&plan(&["--store", &store])), (all, 0));
}

#[test]
fn two_processes_share_a_store() {
    let place = Place::new();
    let store = place.file("results.sqlite");
    let whole = plan(&[]);
    for shards in [[None, None], [Some("1/2"), Some("2/2")]] {
        let running = shards.map(|shard| {
            let mut arguments = vec!["plan", SPACE, "--seed", "3", "--store", &store];
            arguments.extend(shard.into_iter().flat_map(|shard| ["--shard", shard]));
            started(&arguments)
        });
        for run in running {
            let output = run.wait_with_output().expect("it ends");
            let err = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success() && !err.contains("not all results"), "{err}");
        }
        let last = plan(&["--store", &store]);
        assert_eq!(counts(&last).1, 0, "{}", last.err);
        assert_eq!(last.out, whole.out);
        fs::remove_file(place.path("results.sqlite")).expect("removed");
    }
}

#[test]
fn a_forged_result_is_not_believed() {
    let place = Place::new();
    let (path, store) = (place.path("results.sqlite"), place.file("results.sqlite"));
    let whole = plan(&["--store", &store]);
    let (_, all) = counts(&whole);
    for (what, statement) in [
        ("shorter makespans", "UPDATE results SET found = json_set(found, '$.makespan', 1)"),
        (
            "bounds that are too high",
            "UPDATE results SET found = json_set(found, '$.bound.value', json_extract(found, '$.bound.value') + 1)",
        ),
        (
            "schedules of another problem",
            "UPDATE results SET found = (SELECT found FROM before WHERE before.subject <> results.subject)",
        ),
        ("no plans", "UPDATE results SET found = '{\"optimal\": true}'"),
    ] {
        let changed = Connection::open(&path).and_then(|store| {
            store.execute_batch("CREATE TEMP TABLE before AS SELECT * FROM results")?;
            store.execute(statement, [])
        });
        assert_eq!(changed, Ok(rows(&path)), "{what}");
        let run = plan(&["--store", &store]);
        assert_eq!(counts(&run), (0, all), "{what}: {}", run.err);
        assert!(run.err.contains("was searched for again"), "{what}: {}", run.err);
        assert_eq!(run.out, whole.out, "{what}");
        assert_eq!(counts(&plan(&["--store", &store])), (all, 0), "{what}: what was forged is replaced");
    }
}

#[test]
fn a_store_that_fails_on_the_way_costs_time_and_no_answer() {
    let place = Place::new();
    let (path, store) = (place.path("results.sqlite"), place.file("results.sqlite"));
    let whole = plan(&["--store", &store]);
    Connection::open(&path).and_then(|store| store.execute_batch("DROP TABLE results")).expect("changed");
    let run = plan(&["--store", &store]);
    assert_eq!(run.out, whole.out);
    assert!(run.err.contains("not all results were kept: the store"), "{}", run.err);
    let object: Value = plan(&["--store", &store, "--json"]).json();
    assert!(object["store"]["failure"].is_string(), "{object}");
}

#[test]
fn what_is_no_store_is_refused_and_left_as_it_is() {
    // A short name, whose length does not decide where lines are broken.
    let folder = Path::new("target/tmp/refused");
    _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder.join("folder")).expect("made");
    let file = |name: &str| format!("target/tmp/refused/{name}");
    let made = |name: &str, statements: &str| {
        Connection::open(file(name)).and_then(|store| store.execute_batch(statements)).expect("made");
    };
    assert_eq!(tool(&["plan", JOB, "--store", &file("good.sqlite")]).status, 0);
    for name in ["newer.sqlite", "older.sqlite"] {
        fs::copy(file("good.sqlite"), file(name)).expect("copied");
    }
    made("newer.sqlite", "PRAGMA user_version = 2");
    made("older.sqlite", "PRAGMA user_version = 0");
    made("other.sqlite", "CREATE TABLE shop (price)");
    fs::write(file("notes.txt"), "not a database, but worth keeping\n").expect("written");
    let wrong = ["newer.sqlite", "older.sqlite", "other.sqlite", "notes.txt", "folder"];
    let content = || {
        let files = wrong.iter().take(4).chain(&["good.sqlite"]);
        files.map(|name| fs::read(file(name)).expect("there")).collect::<Vec<_>>()
    };
    let before = content();
    let mut all = String::new();
    let mut refused = |arguments: &[&str]| {
        let run = tool(&[&["plan", JOB][..], arguments].concat());
        assert_eq!((run.status, run.out.as_str()), (2, ""), "{arguments:?}: {}", run.transcript());
        _ = writeln!(all, "plan JOB {}\n{}", arguments.join(" "), run.transcript());
    };
    for name in wrong.iter().chain(&["nowhere/results.sqlite"]) {
        refused(&["--store", &file(name)]);
    }
    let good = file("good.sqlite");
    for name in wrong.iter().chain(&["nowhere.sqlite"]) {
        // What is right is not taken in before all is.
        refused(&["--store", &file("new.sqlite"), "--merge", &good, &file(name)]);
    }
    refused(&["--shard", "1/2"]);
    refused(&["--merge", &good]);
    refused(&["--store", &good, "--shard", "3/2"]);
    refused(&["--store", &good, "--shard", "half"]);
    refused(&["--store", &good, "--shard", "5/5"]);
    insta::assert_snapshot!("store_refused", all);
    assert!(!folder.join("new.sqlite").exists() && !folder.join("nowhere.sqlite").exists());
    assert!(content() == before, "all is as it was");
}
