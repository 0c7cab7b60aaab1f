//! What the library decides: laws on random problems, optima and published figures that are known, theorems and
//! their proofs, and the pages of `docs` that are computed. No test here runs the tool.

#[path = "../common/mod.rs"]
mod common;
#[path = "../../examples/grid/mod.rs"]
mod grid;
#[path = "../common/index.rs"]
mod index;
#[path = "../../examples/numbers/mod.rs"]
mod numbers;
#[path = "../../examples/page/mod.rs"]
mod page;
#[path = "../../examples/transformers/mod.rs"]
mod transformers;

mod best_known;
mod budgets;
mod calibrated;
mod cuts;
mod estimated;
mod every_m;
mod findings;
mod gallery;
mod known_optima;
mod laws;
mod measured_layers;
mod optimum;
mod pages;
mod paper;
mod proofs;
mod prove;
mod published;
mod records;

use common::{all_take_long, cases, long};
