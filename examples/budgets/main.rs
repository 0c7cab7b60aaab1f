//! The tables of `docs/budgets.md`: which way to save memory is fastest within a budget, for the shipped models.
//!
//! ```sh
//! cargo run --release --example budgets                    # prints the tables from models/budgets
//! cargo run --release --example budgets -- --write         # writes them into the page, and fails where its text says otherwise
//! cargo run --release --example budgets -- --search        # searches for all plans anew, a quarter of an hour
//! cargo run --release --example budgets -- --search cm-21b # for those of one model
//! ```

mod kept;
#[path = "../numbers/mod.rs"]
mod numbers;
#[path = "../page/mod.rs"]
mod page;
mod problems;
mod tables;
mod text;
#[path = "../transformers/mod.rs"]
mod transformers;
#[path = "../page/write.rs"]
mod write;

use std::error::Error;
use std::fs;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--search", ref asked @ ..] => {
            let models = problems::MODELS.into_iter();
            models.filter(|name| asked.is_empty() || asked.contains(name)).try_for_each(kept::search)
        }
        [] | ["--write"] => {
            write::run(tables::PAGE, tables::all())?;
            text_is_true()
        }
        _ => write::run(tables::PAGE, tables::all()),
    }
}

/// An error where a number of the page's text is not that of its tables.
fn text_is_true() -> Result<(), Box<dyn Error>> {
    let missing = text::missing(&fs::read_to_string(page::path(tables::PAGE))?);
    if missing.is_empty() { Ok(()) } else { Err(format!("the text does not say: {missing:#?}").into()) }
}
