//! What is said of sends and receives: how they behave in a runtime, and the nearest orders that can be
//! lowered.

use std::fmt::{self, Write as _};

use serde::Serialize;

use crate::comm::{self, Action, CommunicationPlan, Semantics};
use crate::lowering::{self, Nearest};
use crate::model::{Model, Pass};
use crate::schedule::Schedule;

/// How the messages of a plan behave.
#[derive(Debug, Serialize)]
pub struct Communication {
    /// How many are sent.
    pub messages: usize,
    /// For each kind of message that a runtime may have: whether the plan ends, and if not, the cycle
    /// of waits.
    pub semantics: Vec<Behaviour>,
}

/// Whether a plan ends.
#[derive(Debug, Serialize)]
pub struct Behaviour {
    /// The name of the kind of messages.
    pub name: &'static str,
    /// Whether it ends.
    pub ends: bool,
    /// The cycle of waits, if it deadlocks.
    pub waits: Option<String>,
    #[serde(skip)]
    semantics: Semantics,
}

impl Communication {
    /// Runs a plan under every kind of messages.
    pub fn of(plan: &CommunicationPlan) -> Self {
        let messages = plan.actions().filter(|(_, action)| matches!(action, Action::Send(_))).count();
        let semantics = Semantics::ALL.into_iter().map(|semantics| {
            let waits = comm::deadlock(plan, semantics);
            let spelt = waits.map(|waits| comm::PlanViolation::Deadlock { semantics, waits }.to_string());
            Behaviour { name: semantics.name(), ends: spelt.is_none(), waits: spelt, semantics }
        });
        Self { messages, semantics: semantics.collect() }
    }
}

impl fmt::Display for Communication {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "  messages      {}", self.messages)?;
        let ends = self.semantics.iter().filter(|behaviour| behaviour.ends);
        let ends: Vec<String> = ends.map(|behaviour| behaviour.semantics.to_string()).collect();
        if !ends.is_empty() {
            writeln!(out, "  no deadlock   with {}", ends.join(", "))?;
        }
        // A plan that ends with neither is invalid, and the violations say why.
        let violates = |behaviour: &&Behaviour| behaviour.semantics <= Semantics::Rendezvous;
        let only_elsewhere = self.semantics.iter().filter(violates).all(|behaviour| behaviour.ends);
        match self.semantics.iter().find_map(|behaviour| behaviour.waits.as_ref()) {
            Some(waits) if only_elsewhere => writeln!(out, "  deadlocks     {waits}"),
            _ => Ok(()),
        }
    }
}

/// The nearest orders that can run.
#[derive(Debug, Serialize)]
pub struct Offer {
    /// The passes to bring forward, one after the other.
    pub moved: Vec<Move>,
    /// The overlapped pairs to take apart, each by a pass of it.
    pub parted: Vec<Pass>,
}

/// A pass to bring forward.
#[derive(Debug, Serialize)]
pub struct Move {
    device: u32,
    pass: Pass,
    from: usize,
    to: usize,
}

impl Offer {
    /// The nearest orders of the same passes, if they are valid under the model and others than these.
    pub fn of(model: &Model, schedule: &Schedule) -> Option<Self> {
        lowering::nearest_valid(model, schedule).as_ref().map(Self::from)
    }
}

impl From<&Nearest> for Offer {
    fn from(nearest: &Nearest) -> Self {
        let moved = nearest.moved.iter().map(|&(at, pass, to)| Move {
            device: at.device.0,
            pass,
            from: at.position,
            to,
        });
        Self { moved: moved.collect(), parted: nearest.parted.iter().map(|&(_, pass)| pass).collect() }
    }
}

impl Offer {
    /// The changes, one a line.
    pub fn changes(&self) -> String {
        const SHOWN: usize = 8;
        let moved = self.moved.iter().take(SHOWN).map(|Move { device, pass, from, to }| {
            format!("    device {device}: `{pass}` from position {from} to {to}\n")
        });
        let parted = self.parted.iter().take(SHOWN).map(|pass| format!("    `{pass}` is not overlapped\n"));
        let mut text: String = moved.chain(parted).collect();
        let more = self.moved.len().saturating_sub(SHOWN) + self.parted.len().saturating_sub(SHOWN);
        if more > 0 {
            writeln!(text, "    and {more} more").expect("writing to a string cannot fail");
        }
        text
    }
}

impl fmt::Display for Offer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "  repair        `bubbleproof convert --nearest` makes these changes:")?;
        out.write_str(&self.changes())
    }
}
