//! The tool as its users meet it: every command, the pages that show it, regression against records, and traces.

#[path = "../common/mod.rs"]
#[expect(dead_code, reason = "no law is tested here")]
mod common;
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
