//! Pages of `docs` with tables that the library computes: what a table says, and where it stands in its page.

use std::path::{Path, PathBuf};

/// A table of a page.
pub struct Table {
    /// How the page refers to it.
    pub name: &'static str,
    /// The columns and their alignment, as two lines of markdown.
    pub head: &'static str,
    pub rows: Vec<Row>,
}

/// A row, computed when it is asked for.
pub struct Row {
    /// The cells that say what is computed.
    pub problem: Vec<String>,
    /// How long that takes.
    pub takes: Takes,
    answer: Box<dyn Fn() -> Vec<String> + Send + Sync>,
}

/// Whether tests compute a row again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// At most a few seconds without optimisation by the compiler.
    Little,
    Long,
}

impl Row {
    pub fn new(
        problem: Vec<String>,
        takes: Takes,
        answer: impl Fn() -> Vec<String> + Send + Sync + 'static,
    ) -> Self {
        Self { problem, takes, answer: Box::new(answer) }
    }

    /// What the row begins with in the page.
    pub fn beginning(&self) -> String {
        format!("| {} |", self.problem.join(" | "))
    }

    /// The whole row.
    pub fn line(&self) -> String {
        format!("{} {} |", self.beginning(), (self.answer)().join(" | "))
    }
}

/// Where a page of this name is.
pub fn path(page: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join(page)
}

/// The text before a table, its lines, and the text after it. It stands after a line `<!-- table: NAME -->`, up to the next
/// empty line.
pub fn around<'a>(text: &'a str, name: &str) -> Option<(&'a str, Vec<&'a str>, &'a str)> {
    let mark = format!("<!-- table: {name} -->\n");
    let begin = text.find(&mark)? + mark.len();
    let end = begin + text[begin..].find("\n\n")? + 1;
    Some((&text[..begin], text[begin..end].lines().collect(), &text[end..]))
}
