//! The gallery shows what the library draws.

#[path = "../../examples/gallery/pages.rs"]
mod pages;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

#[test]
fn the_gallery_is_what_is_drawn_today() {
    const AGAIN: &str = "write it again: cargo run --no-default-features --example gallery";
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let files = pages::files().expect("a gallery");
    for (path, text) in &files {
        let committed = fs::read_to_string(docs.join(path)).unwrap_or_default();
        assert!(committed == *text, "docs/{path} is stale; {AGAIN}");
    }
    let committed: BTreeSet<String> = fs::read_dir(docs.join(pages::FOLDER))
        .expect("the folder of drawings")
        .map(|entry| format!("{}/{}", pages::FOLDER, entry.expect("an entry").file_name().display()))
        .collect();
    let drawn: BTreeSet<String> = files
        .into_iter()
        .map(|(path, _)| path)
        .filter(|path| path.starts_with(&format!("{}/", pages::FOLDER)))
        .collect();
    assert_eq!(committed, drawn, "{AGAIN}");
}

#[test]
fn every_named_schedule_has_its_drawing_in_the_gallery() {
    let files = pages::files().expect("a gallery");
    for entry in bubbleproof::catalog::entries() {
        let path = format!("{}/{}.svg", pages::FOLDER, entry.name);
        assert!(files.iter().any(|(file, _)| *file == path), "{}", entry.name);
    }
}
