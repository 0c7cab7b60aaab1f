//! What is said of sends and receives: how they behave in a runtime, and the nearest orders that can be
//! lowered.

use std::fmt::{self, Write as _};

use itertools::Itertools;
use serde::Serialize;

use super::violations::count;
use crate::amounts::{self, Amounts};
use crate::comm::{self, Action, CommunicationPlan, Ending, Semantics};
use crate::lowering::{self, Displaced, Nearest};
use crate::model::{Model, Pass};
use crate::replay::replay;
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
    /// Whether it does not because a device comes to an action that it cannot do.
    pub fails: bool,
    /// If it does not: who waits for what, or what fails.
    pub waits: Option<String>,
}

impl Communication {
    /// Runs a plan under every kind of messages. `passes_run` is whether replay runs its passes to the end; where it
    /// does not, no runtime does.
    pub fn of(plan: &CommunicationPlan, passes_run: bool) -> Self {
        let messages = plan.actions().filter(|(_, action)| matches!(action, Action::Send(_))).count();
        let semantics = Semantics::ALL.into_iter().map(|semantics| {
            let ending = comm::ending(plan, semantics);
            let waits = match &ending {
                Ending::Ends if passes_run => None,
                Ending::Ends => Some("the passes by themselves cannot run".to_owned()),
                other => Some(other.to_string()),
            };
            Behaviour {
                name: semantics.name(),
                runtimes: semantics.to_string(),
                ends: waits.is_none(),
                fails: matches!(ending, Ending::Fails { .. }),
                waits,
            }
        });
        Self { messages, semantics: semantics.collect() }
    }

    /// Whether the plan ends under every kind of messages.
    pub fn ends_everywhere(&self) -> bool {
        self.semantics.iter().all(|behaviour| behaviour.ends)
    }
}

impl fmt::Display for Communication {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "  messages      {}", self.messages)?;
        for (waits, alike) in &self.semantics.iter().chunk_by(|behaviour| &behaviour.waits) {
            let alike: Vec<&Behaviour> = alike.collect();
            let fails = alike.iter().any(|behaviour| behaviour.fails);
            let everywhere = alike.len() == self.semantics.len();
            let runtimes = alike.iter().map(|behaviour| &behaviour.runtimes).join("; ");
            match waits {
                None if everywhere => {
                    writeln!(out, "  ends          everywhere: with gloo, and with NCCL in every set-up")?;
                }
                None => writeln!(out, "  ends          with {runtimes}")?,
                Some(waits) if fails && everywhere => writeln!(out, "  fails         everywhere: {waits}")?,
                Some(waits) if fails => writeln!(out, "  fails         with {runtimes}: {waits}")?,
                Some(waits) if everywhere => writeln!(out, "  never ends    anywhere: {waits}")?,
                Some(waits) => writeln!(out, "  never ends    with {runtimes}: {waits}")?,
            }
        }
        Ok(())
    }
}

/// The nearest orders that can run.
#[derive(Debug, Serialize)]
pub struct Offer {
    /// The passes to move, one after the other.
    pub moved: Vec<Move>,
    /// The overlapped pairs to take apart, each by a pass of it.
    pub parted: Vec<Pass>,
    /// The same moves as the fewest passes that change their places among the others of their device.
    pub displaced: Vec<Displacement>,
    /// The makespan of the orders, in ticks, if the model fits them.
    pub makespan: Option<i64>,
    /// The most that a device holds then, in units.
    pub peak_memory_max: Option<i64>,
    /// What is still wrong with them under the model, if anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub violation: Option<String>,
}

/// A pass to move, when those before it in the list have been moved.
#[derive(Debug, Serialize)]
pub struct Move {
    device: u32,
    pass: Pass,
    from: usize,
    to: usize,
}

/// A pass that changes its place among the others of its device.
#[derive(Debug, Serialize)]
pub struct Displacement {
    device: u32,
    pass: Pass,
    /// The pass that it comes right after; null if it comes first.
    after: Option<Pass>,
    /// Its position in the orders as they are.
    from: usize,
    /// Its position in the orders that can run.
    to: usize,
}

impl From<Displaced> for Displacement {
    fn from(displaced: Displaced) -> Self {
        let Displaced { device, pass, after, from, to } = displaced;
        Self { device: device.0, pass, after, from, to }
    }
}

impl fmt::Display for Displacement {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { device, pass, after, from, to } = self;
        write!(out, "device {device}: `{pass}` moves ")?;
        match after {
            Some(after) => write!(out, "after `{after}`")?,
            None => out.write_str("to the front")?,
        }
        write!(out, " (from position {from} to {to})")
    }
}

impl Offer {
    /// The nearest orders of the same passes, if they are valid under the model and others than these.
    pub fn of(model: &Model, schedule: &Schedule) -> Option<Self> {
        let nearest = lowering::nearest_valid(model, schedule)?;
        Some(Self::new(model, schedule, &nearest))
    }

    /// Orders that are offered in place of those of a schedule.
    pub fn new(model: &Model, schedule: &Schedule, nearest: &Nearest) -> Self {
        let moved = nearest.moved.iter().map(|&(at, pass, to)| Move {
            device: at.device.0,
            pass,
            from: at.position,
            to,
        });
        let verdict = replay(model, &nearest.schedule);
        let violation = verdict.violations.first();
        let timing = verdict.timing.as_ref();
        Self {
            moved: moved.collect(),
            parted: nearest.parted.iter().map(|&(_, pass)| pass).collect(),
            displaced: nearest.displaced(schedule).into_iter().map(Displacement::from).collect(),
            makespan: timing.map(|timing| timing.metrics.makespan.0),
            peak_memory_max: timing.map(|_| verdict.peak_memory_max().0),
            violation: violation
                .map(|violation| violation.in_words(|units| amounts::amount(units.0, &model.memory().unit))),
        }
    }

    /// The changes, one a line.
    pub fn changes(&self) -> String {
        const SHOWN: usize = 8;
        let moved = self.displaced.iter().take(SHOWN).map(|moved| format!("    {moved}\n"));
        let parted = self.parted.iter().take(SHOWN).map(|pass| format!("    `{pass}` is not overlapped\n"));
        let mut text: String = moved.chain(parted).collect();
        let more = self.displaced.len().saturating_sub(SHOWN) + self.parted.len().saturating_sub(SHOWN);
        if more > 0 {
            writeln!(text, "    and {more} more").expect("writing to a string cannot fail");
        }
        text
    }

    /// How much is changed, and the makespan and the memory after it.
    pub fn summary(&self, amounts: Amounts<'_>) -> String {
        let changed = match (self.displaced.len(), self.parted.len()) {
            (0, pairs) => count(pairs, "pair taken apart", "pairs taken apart"),
            (passes, _) => count(passes, "pass moved", "passes moved"),
        };
        let figures = match (self.makespan, self.peak_memory_max) {
            (Some(makespan), Some(peak)) => {
                format!(", makespan {}, peak memory {}", amounts.time(makespan), amounts.memory(peak))
            }
            _ => String::new(),
        };
        let violation = self.violation.as_ref();
        let still = violation.map_or_else(String::new, |violation| format!("; still not valid: {violation}"));
        format!("{changed}{figures}{still}")
    }
}
