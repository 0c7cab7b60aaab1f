//! The corpus: a folder of files, and an index of them that says what each one shows.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Index<T> {
    file: Vec<T>,
}

/// A folder of the corpus.
pub fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(name)
}

/// The entries of the index of a folder; `file` says which file an entry is about. The index must list every file there once.
pub fn entries<T: DeserializeOwned>(name: &str, file: impl Fn(&T) -> &String) -> Vec<T> {
    let text = fs::read_to_string(folder(name).join("INDEX.toml")).expect("an index");
    let entries = toml::from_str::<Index<T>>(&text).expect("the form of an index").file;
    let mut listed: Vec<String> = entries.iter().map(|entry| file(entry).clone()).collect();
    listed.sort_unstable();
    let mut there: Vec<String> = fs::read_dir(folder(name))
        .expect("a folder")
        .map(|file| file.expect("a file").file_name().into_string().expect("a plain name"))
        .filter(|file| file != "INDEX.toml")
        .collect();
    there.sort_unstable();
    assert_eq!(listed, there, "the index must list every file once");
    entries
}
