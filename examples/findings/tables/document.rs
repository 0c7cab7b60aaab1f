//! Where the tables stand in the document: after a line `<!-- table: NAME -->`, up to the next empty line.

use std::path::{Path, PathBuf};

pub fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/findings.md")
}

fn mark(name: &str) -> String {
    format!("<!-- table: {name} -->\n")
}

/// The text before a table, its lines, and the text after it.
pub fn around<'a>(text: &'a str, name: &str) -> Option<(&'a str, Vec<&'a str>, &'a str)> {
    let mark = mark(name);
    let begin = text.find(&mark)? + mark.len();
    let end = begin + text[begin..].find("\n\n")? + 1;
    Some((&text[..begin], text[begin..end].lines().collect(), &text[end..]))
}
