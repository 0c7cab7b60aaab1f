//! The tool as its users meet it: every command, the pages that show it, regression against records, and traces.

mod cli;
mod interrupt;
mod readme;
mod regress;
mod traces;
