//! What is wrong with a schedule, for people and for programs.

use std::fmt;

use serde::Serialize;

use crate::comm::PlanViolation;
use crate::replay::Violation;

/// One thing that is wrong with a schedule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Complaint {
    /// The name of the broken rule.
    pub rule: &'static str,
    /// The device it is located on, where there is one.
    pub device: Option<u32>,
    /// The pass it is about, such as `3F0`, where there is one.
    pub pass: Option<String>,
    /// Its position in the device's order, from 0, if it has one. In a file with sends and
    /// receives: its position among all actions, if the rule is one of communication.
    pub position: Option<usize>,
    /// All of it in a sentence.
    pub message: String,
}

impl Complaint {
    /// A schedule that is not what the command line or the model says.
    pub fn mismatch(message: String) -> Self {
        Self { rule: "model-mismatch", device: None, pass: None, position: None, message }
    }
}

impl From<&Violation> for Complaint {
    fn from(violation: &Violation) -> Self {
        Self {
            rule: violation.rule(),
            device: violation.device().map(|device| device.0),
            pass: violation.pass().map(|pass| pass.to_string()),
            position: violation.place().map(|place| place.position),
            message: violation.to_string(),
        }
    }
}

impl From<&PlanViolation> for Complaint {
    fn from(fault: &PlanViolation) -> Self {
        Self {
            rule: fault.rule(),
            device: fault.device().map(|device| device.0),
            pass: None,
            position: fault.place().map(|place| place.position),
            message: fault.to_string(),
        }
    }
}

/// The first of many complaints, one a line, and how many more there are.
pub fn list(complaints: &[Complaint], out: &mut fmt::Formatter<'_>) -> fmt::Result {
    const SHOWN: usize = 40;
    for Complaint { rule, message, .. } in complaints.iter().take(SHOWN) {
        writeln!(out, "  {rule}: {message}")?;
    }
    match complaints.len().checked_sub(SHOWN) {
        Some(more @ 1..) => writeln!(out, "  and {more} more; --json gives them all"),
        _ => Ok(()),
    }
}

/// A count with its noun.
pub fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}
