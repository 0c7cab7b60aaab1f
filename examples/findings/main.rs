//! The tables of `docs/findings.md`: prints all of them or those named, or writes them into the page.
//!
//! ```sh
//! cargo run --release --example findings                      # prints
//! cargo run --release --example findings -- published whole   # prints two of them
//! cargo run --release --example findings -- --quick           # prints the rows that tests compute again
//! cargo run --release --example findings -- --write           # writes all
//! cargo run --release --example findings -- --write drawn     # writes one
//! ```

#[path = "../page/mod.rs"]
mod page;
mod tables;
#[path = "../page/write.rs"]
mod write;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    write::run(tables::PAGE, tables::all())
}
