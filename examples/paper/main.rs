//! The tables of `docs/paper.md`: prints all of them or those named, or writes them into the page.
//!
//! ```sh
//! cargo run --release --example paper                    # prints
//! cargo run --release --example paper -- grid order      # prints two of them
//! cargo run --release --example paper -- --quick         # prints the rows that tests compute again
//! cargo run --release --example paper -- --write         # writes all
//! cargo run --release --example paper -- --write grid    # writes one
//! ```

#[path = "../numbers/mod.rs"]
mod numbers;
#[path = "../page/mod.rs"]
mod page;
mod tables;
#[path = "../transformers/mod.rs"]
mod transformers;
#[path = "../page/write.rs"]
mod write;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    write::run(tables::PAGE, tables::all())
}
