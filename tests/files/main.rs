//! Files: what is read, what is refused and why, and what is written for the runtimes of others. No test here runs
//! the tool.

#[path = "../common/mod.rs"]
#[expect(dead_code, reason = "nothing here takes minutes")]
mod common;
#[path = "../common/index.rs"]
mod index;

mod communication;
mod corpus;
mod fuzzed;
mod pytorch;
mod runtimes;

use common::cases;
