//! What the tables of `docs/paper.md` say, row by row: the experiments of Pipeline Parallelism with Controllable Memory (arXiv
//! 2405.15362), computed by the library from jobs that are estimates.

pub mod adaptive;
pub mod contenders;
pub mod grid;
pub mod pipeline;
pub mod published;

use num_rational::Ratio;

pub use crate::numbers::{decimal, signed};
pub use crate::page::{Row, Table, Takes};

/// The page that they are on.
pub const PAGE: &str = "paper.md";

/// All tables in the order of the page.
pub fn all() -> Vec<Table> {
    vec![
        pipeline::memory_and_bubble(),
        pipeline::ranges(),
        pipeline::measured(),
        pipeline::gains(),
        grid::best(),
        grid::order(),
        grid::degrees(),
        adaptive::table(),
    ]
}

/// A share in percent with so many decimals, rounded half up.
pub fn percent(share: Ratio<i128>, decimals: u32) -> String {
    decimal(share * 100, decimals)
}

/// The same with its sign.
pub fn signed_percent(share: Ratio<i128>, decimals: u32) -> String {
    signed(percent(share, decimals))
}

/// Bytes in units of a thousand million, rounded half up.
pub fn gigabytes(bytes: i64) -> String {
    decimal(Ratio::new(i128::from(bytes), 1_000_000_000), 1)
}
