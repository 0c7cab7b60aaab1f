//! Traces: laws of reading, fitting and comparing; traces that must be refused; and every committed trace with
//! its fitted model, its comparison and its verdict.

mod beside;
mod better;
mod clocks;
mod corpus;
mod cut;
mod errors;
pub mod figures;
mod fitted;
mod gpu;
mod h200;
mod h200_eight;
mod kernels;
mod laws;
pub mod measured;
mod mi300;
mod pictures;
pub mod published;
mod robust;
mod scatter;
mod support;
mod terms;
mod vocabulary;
mod whole;
mod zbv;
