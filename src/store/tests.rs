use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::Connection;

use super::*;

fn place() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("results.sqlite");
    (folder, path)
}

fn found(text: &str, spent: Option<u64>) -> Kept {
    Kept {
        subject: "job p2".to_owned(),
        search: "quick".to_owned(),
        spent: spent.map(Duration::from_secs),
        found: Some(text.to_owned()),
    }
}

fn key(text: &str) -> Key {
    Key::of(&[text])
}

#[test]
fn what_is_kept_is_there_when_the_store_is_opened_again() {
    let (_folder, path) = place();
    let nothing = Kept { found: None, ..found("", None) };
    let store = Store::open(&path).expect("a new store");
    assert_eq!(store.get(&key("a")).expect("read"), None);
    store.put(&key("a"), &found("1", None)).expect("written");
    store.put(&key("b"), &nothing).expect("written");
    // Two at the same time, too.
    let again = Store::open(&path).expect("the same store");
    assert_eq!(again.get(&key("a")).expect("read"), Some(found("1", None)));
    drop((store, again));
    let again = Store::open(&path).expect("the same store");
    assert_eq!(again.get(&key("b")).expect("read"), Some(nothing));
    assert_eq!(again.get(&key("c")).expect("read"), None);
    assert_eq!(fs::read_dir(path.parent().expect("a folder")).expect("read").count(), 1, "one file");
}

#[test]
fn a_store_that_others_are_making_is_opened() {
    for _ in 0..40 {
        let (_folder, path) = place();
        std::thread::scope(|scope| {
            let openers: Vec<_> = (0..4).map(|_| scope.spawn(|| Store::open(&path).map(drop))).collect();
            for opener in openers {
                opener.join().expect("no panic").expect("a store, new or not");
            }
        });
    }
}

#[test]
fn the_longest_search_is_kept_and_one_that_ended_by_itself_for_good() {
    let (_folder, path) = place();
    let store = Store::open(&path).expect("a new store");
    let put = |text: &str, spent| {
        store.put(&key("a"), &found(text, spent)).expect("written");
        store.get(&key("a")).expect("read").and_then(|kept| kept.found).expect("kept")
    };
    for (text, spent, kept) in [
        ("5 s", Some(5), "5 s"),
        ("3 s", Some(3), "5 s"),
        ("9 s", Some(9), "9 s"),
        ("whole", None, "whole"),
        ("99 s", Some(99), "whole"),
        ("again", None, "whole"),
    ] {
        assert_eq!(put(text, spent), kept);
    }
    store.replace(&key("a"), &found("anew", None)).expect("written");
    assert_eq!(store.get(&key("a")).expect("read"), Some(found("anew", None)));
}

#[test]
fn another_store_is_taken_in_and_stays_as_it_is() {
    let (folder, path) = place();
    let part = folder.path().join("part.sqlite");
    let one = Store::open(&part).expect("a new store");
    for (text, spent) in [("a", None), ("b", Some(9)), ("c", Some(1))] {
        one.put(&key(text), &found("part", spent)).expect("written");
    }
    drop(one);
    let store = Store::open(&path).expect("a new store");
    for (text, spent) in [("a", None), ("b", Some(2)), ("c", Some(2))] {
        store.put(&key(text), &found("whole", spent)).expect("written");
    }
    let before = fs::read(&part).expect("there");
    assert_eq!(store.take_in(&part).expect("taken in"), TakenIn { all: 3, new: 1 });
    assert_eq!(store.take_in(&part).expect("taken in"), TakenIn { all: 3, new: 0 });
    assert_eq!(fs::read(&part).expect("there"), before);
    let of = |text| store.get(&key(text)).expect("read").and_then(|kept| kept.found);
    assert_eq!([of("a"), of("b"), of("c")].map(Option::unwrap_or_default), ["whole", "part", "whole"]);
    // Itself, by whatever name, has nothing new. Nor has an empty file.
    assert_eq!(store.take_in(&path).expect("taken in"), TakenIn::default());
    let empty = folder.path().join("empty");
    fs::write(&empty, "").expect("written");
    assert_eq!(store.take_in(&empty).expect("taken in"), TakenIn::default());
    assert_eq!(fs::read(&empty).expect("there"), b"");
    assert!(matches!(store.take_in(Path::new("/nowhere")), Err(StoreError::Unreadable { .. })));
}

#[test]
fn what_is_no_store_of_this_version_is_refused_and_left_alone() {
    let (folder, path) = place();
    drop(Store::open(&path).expect("a new store"));
    let changed = |name: &str, statement: &str| {
        let path = folder.path().join(name);
        _ = fs::copy(folder.path().join("results.sqlite"), &path);
        Connection::open(&path).and_then(|store| store.execute_batch(statement)).expect("changed");
        path
    };
    let written = |name: &str, content: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, content).expect("written");
        path
    };
    let other = folder.path().join("other.sqlite");
    Connection::open(&other).and_then(|other| other.execute_batch("CREATE TABLE a (b)")).expect("made");
    let good = Store::open(&folder.path().join("good.sqlite")).expect("a new store");
    for (path, reason) in [
        (changed("newer", "PRAGMA user_version = 2"), "a store of version 2, but only version 1"),
        (changed("older", "PRAGMA user_version = 0"), "a store of version 0, but only version 1"),
        (changed("foreign", "PRAGMA application_id = 7"), "an SQLite database of another program"),
        (other, "an SQLite database of another program"),
        (written("text", b"name = \"a job\"\n"), "not an SQLite database"),
        (written("short", b"SQLite format 3"), "not an SQLite database"),
        (written("cut", b"SQLite format 3\0 and no more"), "not an SQLite database"),
        (folder.path().to_owned(), "it is no file"),
        (folder.path().join("nowhere").join("a"), "cannot open the store"),
    ] {
        let before = fs::read(&path).ok();
        for refused in [Store::open(&path).err(), good.take_in(&path).err()] {
            let refused = refused.map(|error| error.to_string());
            assert!(refused.as_ref().is_some_and(|text| text.contains(reason)), "{reason}: {refused:?}");
        }
        assert_eq!(fs::read(&path).ok(), before, "{reason}");
    }
}

/// The locks on a file that processes have, as Linux lists them.
#[cfg(target_os = "linux")]
fn locks(path: &Path) -> Vec<String> {
    use std::os::unix::fs::MetadataExt as _;
    let inode = format!(":{} ", path.metadata().expect("a file").ino());
    let all = fs::read_to_string("/proc/locks").expect("Linux has it");
    all.lines().filter(|line| line.contains(&inode)).map(str::to_owned).collect()
}

#[test]
#[cfg(target_os = "linux")]
fn who_looks_at_a_store_leaves_the_locks_of_others_in_the_process() {
    let (_folder, path) = place();
    drop(Store::open(&path).expect("a new store"));
    let writing = Connection::open(&path).expect("the store");
    writing.execute_batch("BEGIN IMMEDIATE").expect("nobody else writes");
    assert!(!locks(&path).is_empty(), "a transaction has locks");
    let before = locks(&path).len();
    assert!(recognise(&path).expect("a store"));
    assert_eq!(locks(&path).len(), before);
    drop(Store::open(&path).expect("the same store"));
    assert_eq!(locks(&path).len(), before);
    writing.execute_batch("COMMIT").expect("the transaction goes on");
}

#[test]
fn the_name_of_a_store_may_have_any_letters() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["100 %.sqlite", "a?b#c&d", "ä ö", "%41"] {
        let path = folder.path().join(name);
        drop(Store::open(&path).expect("a new store"));
        assert!(recognise(&path).expect("a store"), "{name}");
    }
    assert_eq!(fs::read_dir(folder.path()).expect("read").count(), 4);
}

#[test]
fn a_store_without_its_table_is_an_error_when_it_is_read() {
    let (_folder, path) = place();
    let store = Store::open(&path).expect("a new store");
    Connection::open(&path).and_then(|store| store.execute_batch("DROP TABLE results")).expect("changed");
    let error = store.get(&key("a")).expect_err("no table").to_string();
    assert!(error.contains("cannot be used") && error.contains("no such table"), "{error}");
    assert!(store.put(&key("a"), &found("1", None)).is_err());
}

#[test]
fn keys_tell_where_one_part_ends_and_the_next_begins() {
    assert_ne!(Key::of(&["ab", "c"]), Key::of(&["a", "bc"]));
    assert_ne!(Key::of(&["a"]), Key::of(&["a", ""]));
    assert_eq!(Key::of(&["a", "b"]), Key::of(&["a".to_owned(), "b".to_owned()]));
}
