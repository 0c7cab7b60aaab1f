//! Plans held to published iteration times: how long an iteration takes under each choice of parallel degrees and
//! microbatch size, as predicted from other plans, and which choice is best. docs/planning.md has the tables.

use std::fs;

mod atoms;
mod computed;
mod curve;
mod fit;
mod non_negative;
mod own;
mod plans;
mod score;

/// The rows of a table of the page, without its head.
fn table(name: &str) -> String {
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/planning.md")).expect("a page");
    let (_, table) = page.split_once(&format!("<!-- table: {name} -->\n")).expect("a table");
    let rows = table.lines().take_while(|line| line.starts_with('|')).skip(2);
    rows.flat_map(|row| [row, "\n"]).collect()
}
