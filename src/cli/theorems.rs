//! Theorems with what is known of them, as they are printed.

use std::fmt;
use std::time::Duration;

use itertools::Itertools;
use serde::Serialize;

use super::error::Status;
use super::file_name::FileName;
use super::violations::count;
use crate::prove::{Counterexample, Slow, Theorem, TheoremVerdict};

/// What is known of the theorems, as it is printed.
#[derive(Debug, Serialize)]
pub struct TheoremReport {
    /// Those that were looked at.
    pub theorems: Vec<TheoremLine>,
    /// Whether others were not, as somebody asked to end.
    #[serde(skip)]
    pub cut_short: bool,
}

/// A theorem, and what is known of it.
#[derive(Debug, Serialize)]
pub struct TheoremLine {
    /// Its name: that of its family, and what it is about.
    pub name: String,
    /// The family that it is about, or `library`.
    pub family: String,
    /// The theorem in a sentence.
    pub statement: String,
    /// What is known of it.
    pub status: TheoremStatus,
    /// Where it is false.
    pub counterexample: Option<TheoremPoint>,
    /// Why it is unknown.
    pub reason: Option<String>,
    /// How long that took.
    pub seconds: f64,
    /// The file, or the folder of the files.
    pub file: Option<FileName>,
}

/// What is known of a theorem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TheoremStatus {
    /// It holds.
    Proved,
    /// It does not.
    Refuted,
    /// Neither was shown.
    Unknown,
}

/// Where a theorem is false.
#[derive(Debug, Serialize)]
pub struct TheoremPoint {
    devices: u32,
    device: u32,
    passes: Vec<String>,
    message: String,
    /// Whether no smaller number of devices has a counterexample.
    smallest: bool,
    drawing: Option<String>,
    #[serde(skip)]
    interval: i64,
}

impl TheoremLine {
    /// A theorem about a family, and what is known of it.
    pub fn of(
        family: &str,
        theorem: &Theorem,
        verdict: &TheoremVerdict,
        spent: Duration,
        file: Option<FileName>,
    ) -> Self {
        let (status, counterexample, reason) = match verdict {
            TheoremVerdict::Proved => (TheoremStatus::Proved, None, None),
            TheoremVerdict::Refuted(counterexample) => {
                (TheoremStatus::Refuted, Some(TheoremPoint::of(counterexample)), None)
            }
            TheoremVerdict::Unknown(reason) => (TheoremStatus::Unknown, None, Some(reason.to_string())),
        };
        Self {
            name: theorem.name.clone(),
            family: family.to_owned(),
            statement: theorem.statement.clone(),
            status,
            counterexample,
            reason,
            seconds: spent.as_secs_f64(),
            file,
        }
    }
}

impl TheoremPoint {
    fn of(counterexample: &Counterexample) -> Self {
        Self {
            devices: counterexample.devices,
            device: counterexample.device.0,
            passes: counterexample.violation.passes().iter().map(ToString::to_string).collect(),
            message: counterexample.violation.to_string(),
            smallest: counterexample.smallest,
            drawing: counterexample.drawing(),
            interval: counterexample.interval().0,
        }
    }

    /// Durations for which there is a bubble, on all devices.
    pub fn slow(slow: &Slow) -> Self {
        Self {
            devices: slow.devices,
            device: 0,
            passes: Vec::new(),
            message: slow.to_string(),
            smallest: true,
            drawing: None,
            interval: 0,
        }
    }
}

impl TheoremReport {
    fn number(&self, status: TheoremStatus) -> usize {
        self.theorems.iter().filter(|line| line.status == status).count()
    }

    /// Whether all are proved, one is refuted, or something is unknown.
    pub fn status(&self) -> Status {
        if self.number(TheoremStatus::Refuted) > 0 {
            Status::No
        } else if self.number(TheoremStatus::Unknown) > 0 || self.cut_short {
            Status::GaveUp
        } else {
            Status::Yes
        }
    }
}

impl fmt::Display for TheoremReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (family, lines) in &self.theorems.iter().chunk_by(|line| &line.family) {
            writeln!(out, "{family}")?;
            for line in lines {
                line.fmt(out)?;
            }
            writeln!(out)?;
        }
        let number = |status| self.number(status);
        writeln!(
            out,
            "{}: {} proved, {} refuted, {} unknown",
            count(self.theorems.len(), "theorem", "theorems"),
            number(TheoremStatus::Proved),
            number(TheoremStatus::Refuted),
            number(TheoremStatus::Unknown),
        )
    }
}

impl fmt::Display for TheoremLine {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self.status {
            TheoremStatus::Proved => "proved",
            TheoremStatus::Refuted => "REFUTED",
            TheoremStatus::Unknown => "unknown",
        };
        writeln!(out, "  {word:<7}  {} ({:.2} s)", self.statement, self.seconds)?;
        if let Some(reason) = &self.reason {
            writeln!(out, "           {reason}")?;
        }
        let Some(point) = &self.counterexample else { return Ok(()) };
        let TheoremPoint { devices, device, message, .. } = point;
        let more = if point.smallest { "" } else { " (perhaps not the fewest devices)" };
        writeln!(out, "           d = {devices}, i = {device}{more}: {message}")?;
        match &point.drawing {
            Some(drawing) => {
                writeln!(out, "           device {device} modulo {}: {drawing}", point.interval)
            }
            None => Ok(()),
        }
    }
}
