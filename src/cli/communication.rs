//! What is said of sends and receives: how they behave in a runtime, and the nearest orders that can be
//! lowered.

use std::fmt::{self, Write as _};

use itertools::Itertools;
use serde::Serialize;

use crate::comm::{self, Action, CommunicationPlan, Ending, Semantics};
use crate::lowering::{self, Nearest};
use crate::model::{Model, Pass};
use crate::schedule::Schedule;

/// How the messages of a plan behave.
#[derive(Debug, Serialize)]
pub struct Communication {
    /// How many are sent.
    pub messages: usize,
    /// For each kind of message that a runtime may have: whether the plan ends, and if not, why.
    pub semantics: Vec<Behaviour>,
}

/// Whether a plan ends.
#[derive(Debug, Serialize)]
pub struct Behaviour {
    /// The name of the kind of messages.
    pub name: &'static str,
    /// The runtimes that have such messages, in words.
    pub runtimes: String,
    /// Whether it ends.
    pub ends: bool,
    /// If it does not: who waits for what, or what fails.
    pub waits: Option<String>,
}

impl Communication {
    /// Runs a plan under every kind of messages. `passes_run` is whether replay runs its passes to the end; where it
    /// does not, no runtime does.
    pub fn of(plan: &CommunicationPlan, passes_run: bool) -> Self {
        let messages = plan.actions().filter(|(_, action)| matches!(action, Action::Send(_))).count();
        let semantics = Semantics::ALL.into_iter().map(|semantics| {
            let waits = match comm::ending(plan, semantics) {
                Ending::Ends if passes_run => None,
                Ending::Ends => Some("the passes by themselves cannot run".to_owned()),
                other => Some(other.to_string()),
            };
            Behaviour {
                name: semantics.name(),
                runtimes: semantics.to_string(),
                ends: waits.is_none(),
                waits,
            }
        });
        Self { messages, semantics: semantics.collect() }
    }
}

impl fmt::Display for Communication {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "  messages      {}", self.messages)?;
        for (waits, alike) in &self.semantics.iter().chunk_by(|behaviour| &behaviour.waits) {
            let runtimes = alike.map(|behaviour| &behaviour.runtimes).join("; ");
            match waits {
                None => writeln!(out, "  ends          with {runtimes}")?,
                Some(waits) => writeln!(out, "  never ends    with {runtimes}: {waits}")?,
            }
        }
        Ok(())
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
