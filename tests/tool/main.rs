//! The tool as its users meet it: every command, the pages that show it, regression against records, and traces.

#[path = "../common/index.rs"]
mod index;

mod cli;
mod figures;
mod interrupt;
mod jobs;
mod limits;
mod planning;
mod readme;
mod regress;
mod traces;
