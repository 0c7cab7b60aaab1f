//! Prints the tables of a page, or writes them into it.

use std::error::Error;
use std::fs;
use std::time::Instant;

use bubbleproof::files;

use crate::page::{self, Table, Takes};

/// Does what the arguments of the program say: prints all tables or those named, the quick rows alone with `--quick`, and writes
/// them into the page with `--write`.
pub fn run(page: &str, tables: Vec<Table>) -> Result<(), Box<dyn Error>> {
    let (options, asked): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|argument| argument.starts_with("--"));
    let has = |name| options.iter().any(|option| option == name);
    let (writes, quick) = (has("--write"), has("--quick"));
    if writes && quick {
        return Err("a page of the quick rows alone is not whole".into());
    }
    for table in tables {
        if !asked.is_empty() && !asked.iter().any(|asked| asked == table.name) {
            continue;
        }
        println!("{}\n{}", table.name, table.head);
        let mut lines = Vec::new();
        for row in table.rows.iter().filter(|row| !quick || row.takes == Takes::Little) {
            let begin = Instant::now();
            let line = row.line();
            println!("{line}");
            eprintln!("{:.2} s", begin.elapsed().as_secs_f64());
            lines.push(line);
        }
        println!();
        if writes {
            let path = page::path(page);
            let text = fs::read_to_string(&path)?;
            let text = with_table(&text, &table, &lines)
                .ok_or_else(|| format!("the page has no place for `{}`", table.name))?;
            files::write(&path, text)?;
        }
    }
    Ok(())
}

/// The page with another table in the place of the one it has.
fn with_table(text: &str, table: &Table, lines: &[String]) -> Option<String> {
    let (before, _, after) = page::around(text, table.name)?;
    Some(format!("{before}{}\n{}\n{after}", table.head, lines.join("\n")))
}
