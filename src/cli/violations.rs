//! What is wrong with a schedule, for people and for programs.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

use itertools::Itertools;
use serde::Serialize;

use crate::amounts::Amounts;
use crate::comm::{Action, CommunicationPlan, PlanViolation};
use crate::interchange::pytorch::File;
use crate::model::{Device, Microbatch, Pass};
use crate::replay::Violation;
use crate::schedule::{Place, Schedule};

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
    /// The row of its cell, from 1, if it has one in a CSV.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row: Option<usize>,
    /// The column of its cell, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
    /// All of it in a sentence.
    pub message: String,
}

impl Complaint {
    /// A schedule that is not what the command line or the model says.
    pub fn mismatch(message: String) -> Self {
        Self {
            rule: "model-mismatch",
            device: None,
            pass: None,
            position: None,
            row: None,
            column: None,
            message,
        }
    }

    /// The same, with the cell of the pass at its position.
    pub fn at_pass_in(mut self, csv: Option<&File>) -> Self {
        if let (Some(csv), Some(device), Some(position)) = (csv, self.device, self.position) {
            let place = Place { device: Device(device), position };
            self = self.in_cell(device, csv.column_of_pass(place));
        }
        self
    }

    /// What is wrong with a plan, with the cell of its action.
    pub fn in_plan(fault: &PlanViolation, csv: Option<&File>) -> Self {
        let complaint = Self::from(fault);
        let cell = fault.place().zip(csv).and_then(|(at, csv)| Some((at.device, csv.column_of_action(at)?)));
        match cell {
            Some((device, column)) => complaint.in_cell(device.0, Some(column)),
            None => complaint,
        }
    }

    /// The row of a CSV is that of its device; `column` counts from 0.
    fn in_cell(self, device: u32, column: Option<usize>) -> Self {
        let row = column.map(|_| device as usize + 1);
        Self { row, column: column.map(|column| column + 1), ..self }
    }
}

/// What replay complains about. A microbatch that lacks nearly all of its passes is one complaint, not one for each
/// pass: most likely the passes that it has are misspelt.
pub fn complaints(schedule: &Schedule, violations: &[Violation], amounts: Amounts<'_>) -> Vec<Complaint> {
    let missing = violations.iter().filter_map(|violation| match violation {
        Violation::MissingPass { pass, .. } => Some(pass.microbatch),
        _ => None,
    });
    let strays = strays(schedule, missing.counts());
    let mut told = BTreeSet::new();
    let complaint = |violation: &Violation| {
        let whole = || Some(Complaint::of(violation, amounts));
        let Violation::MissingPass { pass, .. } = violation else { return whole() };
        let first = pass.microbatch;
        let Some(stray) = strays.get(&first) else { return whole() };
        if told.contains(&first) {
            return None;
        }
        // Those without any pass that follow each other are one thing as well.
        let alike = |next: &Microbatch| {
            stray.first.is_none() && strays.get(next).is_some_and(|next| next.first.is_none())
        };
        let next = (first.0 + 1..).map(Microbatch).take_while(alike);
        let all: Vec<Microbatch> = std::iter::once(first).chain(next).collect();
        told.extend(all.iter().copied());
        Some(stray.complaint(&all))
    };
    violations.iter().filter_map(complaint).collect()
}

/// A microbatch that lacks nearly all of its passes.
struct Stray {
    missing: usize,
    /// The passes that it has: how many, and the first.
    passes: usize,
    first: Option<(Place, Pass)>,
}

/// The microbatches without any pass, and those that lack at least four passes for each that they have, of those that lack as many
/// as that.
fn strays(schedule: &Schedule, missing: HashMap<Microbatch, usize>) -> BTreeMap<Microbatch, Stray> {
    /// The most passes of which each is said to be missing.
    const LISTED: usize = 3;
    let stray = |(microbatch, missing)| (microbatch, Stray { missing, passes: 0, first: None });
    let mut strays: BTreeMap<Microbatch, Stray> = missing.into_iter().map(stray).collect();
    if strays.is_empty() {
        return strays;
    }
    for device in Device::all(schedule.devices()) {
        for (position, &pass) in schedule.order(device).iter().enumerate() {
            if let Some(stray) = strays.get_mut(&pass.microbatch) {
                stray.passes += 1;
                stray.first.get_or_insert((Place { device, position }, pass));
            }
        }
    }
    strays
        .retain(|_, stray| stray.passes == 0 || stray.missing > LISTED && 4 * stray.passes <= stray.missing);
    strays
}

impl Stray {
    /// What is wrong with some microbatches that follow each other, all like this one.
    fn complaint(&self, all: &[Microbatch]) -> Complaint {
        let microbatch = all[0];
        let lacks = count(self.missing, "pass is missing", "passes are missing");
        let message = match self.first {
            None if all.len() > 1 => {
                format!("microbatches {microbatch} to {} have no pass at all", all[all.len() - 1])
            }
            None => format!("microbatch {microbatch} has no pass at all"),
            Some((at, pass)) => {
                let alone = if self.passes == 1 {
                    format!("only `{pass}` ({at})")
                } else {
                    format!("only {} passes, the first of them `{pass}` ({at})", self.passes)
                };
                format!(
                    "microbatch {microbatch} has {alone}: {lacks}, unless that is a wrong microbatch number"
                )
            }
        };
        Complaint {
            rule: "missing-pass",
            device: self.first.map(|(at, _)| at.device.0),
            pass: self.first.map(|(_, pass)| pass.to_string()),
            position: self.first.map(|(at, _)| at.position),
            row: None,
            column: None,
            message,
        }
    }
}

impl Complaint {
    /// What replay complains about, with the units of the model.
    pub fn of(violation: &Violation, amounts: Amounts<'_>) -> Self {
        Self {
            rule: violation.rule(),
            device: violation.device().map(|device| device.0),
            pass: violation.pass().map(|pass| pass.to_string()),
            position: violation.place().map(|place| place.position),
            row: None,
            column: None,
            message: violation.in_words(|units| amounts.further_memory(units)),
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
            row: None,
            column: None,
            message: fault.to_string(),
        }
    }
}

/// Whether a broken rule may be explained by another one: devices wait for each other because of an order, say.
fn is_consequence(complaint: &Complaint) -> bool {
    matches!(complaint.rule, "deadlock" | "communication-deadlock")
}

/// The first of many complaints, one a line, and how many more there are: those that may explain others first. What one
/// cause explains is said once.
pub fn list(complaints: &[Complaint], cause: Option<&Cause>, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    const SHOWN: usize = 40;
    /// How many with the same broken rule are too many to read.
    const MANY: usize = 8;
    /// How many of these are shown.
    const OF_MANY: usize = 3;
    let mut left = complaints.len();
    if let Some(Cause { rule, sentence }) = cause {
        writeln!(out, "  {rule}: {sentence}")?;
    }
    let counts = complaints.iter().counts_by(|complaint| complaint.rule);
    let mut seen: HashMap<&str, usize> = HashMap::new();
    let mut shown = 0;
    let (consequences, causes): (Vec<&Complaint>, Vec<&Complaint>) =
        complaints.iter().partition(|complaint| is_consequence(complaint));
    for Complaint { rule, message, row, column, .. } in causes.into_iter().chain(consequences) {
        let number = seen.entry(rule).or_default();
        *number += 1;
        if cause.is_some_and(|cause| cause.rule == *rule) {
            left -= 1;
        } else if counts[rule] <= MANY || *number <= OF_MANY {
            if shown < SHOWN {
                write!(out, "  {rule}: {message}")?;
                match (row, column) {
                    (Some(row), Some(column)) => writeln!(out, " (row {row}, column {column})")?,
                    _ => writeln!(out)?,
                }
                (shown, left) = (shown + 1, left - 1);
            }
        } else if *number == counts[rule] && shown < SHOWN {
            let more = counts[rule] - OF_MANY;
            writeln!(out, "  {rule}: and {more} more")?;
            left -= more;
        }
    }
    if left > 0 {
        writeln!(out, "  and {left} more")?;
    }
    if left > 0 || shown < complaints.len() {
        writeln!(out, "  (--json gives them all)")?;
    }
    Ok(())
}

/// What all violations of a rule come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cause {
    /// The rule.
    pub rule: &'static str,
    /// How many there are, what they come from, and what to do.
    pub sentence: String,
}

impl Cause {
    /// What explains the violations of a plan: a file without any wait for a send, whose sends are all never waited for.
    pub fn of(plan: &CommunicationPlan, complaints: &[Complaint]) -> Option<Self> {
        const RULE: &str = "never-waited";
        let unwaited = complaints.iter().filter(|complaint| complaint.rule == RULE).count();
        let waits = plan.actions().any(|(_, action)| matches!(action, Action::WaitSend(_)));
        (unwaited > 1 && !waits).then(|| Self {
            rule: RULE,
            sentence: format!(
                "{unwaited} sends are never waited for, so their buffers can never be freed safely: the file has no \
                 WAIT_SEND at all, so it comes from a tool, or a version of one, that does not write them"
            ),
        })
    }
}

/// A count with its noun.
pub fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}
