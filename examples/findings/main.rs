//! The tables of `docs/findings.md`: prints all of them or those named, or writes them into the document.
//!
//! ```sh
//! cargo run --release --example findings                      # prints
//! cargo run --release --example findings -- published whole   # prints two of them
//! cargo run --release --example findings -- --quick           # prints the rows that tests compute again
//! cargo run --release --example findings -- --write           # writes all
//! cargo run --release --example findings -- --write drawn     # writes one
//! ```

mod tables;

use std::error::Error;
use std::fs;
use std::time::Instant;

use bubbleproof::files;
use tables::{Table, Takes, document};

fn main() -> Result<(), Box<dyn Error>> {
    let (options, asked): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|argument| argument.starts_with("--"));
    let has = |name| options.iter().any(|option| option == name);
    let (writes, quick) = (has("--write"), has("--quick"));
    if writes && quick {
        return Err("a document of the quick rows alone is not whole".into());
    }
    for table in tables::all() {
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
            let text = fs::read_to_string(document::path())?;
            let text = with_table(&text, &table, &lines)
                .ok_or_else(|| format!("the document has no place for `{}`", table.name))?;
            files::write(&document::path(), text)?;
        }
    }
    Ok(())
}

/// The document with another table in the place of the one it has.
fn with_table(text: &str, table: &Table, lines: &[String]) -> Option<String> {
    let (before, _, after) = document::around(text, table.name)?;
    Some(format!("{before}{}\n{}\n{after}", table.head, lines.join("\n")))
}
