//! Prints the tables of a page, or writes them into it.

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Instant;
use std::{fs, thread};

use bubbleproof::files;

use crate::page::{self, Row, Table, Takes};

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
        let rows: Vec<&Row> = table.rows.iter().filter(|row| !quick || row.takes == Takes::Little).collect();
        let lines = computed(&rows)?;
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

/// The lines of rows, which are computed on all processors, and printed in their order as soon as they are there.
fn computed(rows: &[&Row]) -> Result<Vec<String>, Box<dyn Error>> {
    let processors = thread::available_parallelism()?.get();
    let next = AtomicUsize::new(0);
    let mut lines = Vec::new();
    thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        for _ in 0..processors.min(rows.len()) {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(row) = rows.get(at) else { break };
                    let begin = Instant::now();
                    let line = row.line();
                    sender
                        .send((at, line, begin.elapsed()))
                        .expect("lines are received until all senders are gone");
                }
            });
        }
        drop(sender);
        let mut early = BTreeMap::new();
        for (at, line, took) in receiver {
            early.insert(at, (line, took));
            while let Some((line, took)) = early.remove(&lines.len()) {
                println!("{line}");
                eprintln!("{:.2} s", took.as_secs_f64());
                lines.push(line);
            }
        }
    });
    Ok(lines)
}

/// The page with another table in the place of the one it has.
fn with_table(text: &str, table: &Table, lines: &[String]) -> Option<String> {
    let (before, _, after) = page::around(text, table.name)?;
    Some(format!("{before}{}\n{}\n{after}", table.head, lines.join("\n")))
}
