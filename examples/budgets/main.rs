//! The tables of `docs/budgets.md`: which way to save memory is fastest within a budget, for the shipped models.
//!
//! ```sh
//! cargo run --release --example budgets                    # prints the tables from models/budgets
//! cargo run --release --example budgets -- --write         # writes them into the page
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
#[path = "../transformers/mod.rs"]
mod transformers;
#[path = "../page/write.rs"]
mod write;

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    if arguments.next().as_deref() != Some("--search") {
        return write::run(tables::PAGE, tables::all());
    }
    let asked: Vec<String> = arguments.collect();
    let models =
        problems::MODELS.into_iter().filter(|name| asked.is_empty() || asked.iter().any(|one| one == name));
    models.into_iter().try_for_each(kept::search)
}
