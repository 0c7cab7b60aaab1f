//! Communication: orders of passes as plans of sends and receives, and the proof that they are safe.
//!
//! Messages between two devices carry no names: the first one that is sent is the first one that is
//! received. So a plan can do two kinds of harm that its passes alone do not show. It can deadlock, and it can silently
//! train on wrong gradients. [`verify`] rules out both, for plans from anywhere.
//!
//! What a device does with its row of actions, one after the other:
//!
//! - *send* and *receive* post a message and go on at once;
//! - a *pass* waits for the messages that it needs, an overlapped pair for those of both passes;
//! - *wait for a send* waits until the message has left;
//! - everything else waits for nothing.
//!
//! When a posted message arrives, and when it has left, depends on the runtime: see [`Semantics`].
//!
//! This is part of the trusted base: it imports the definitions of `model` and `schedule` and nothing else of
//! this crate. [`replay`](crate::replay) of [`CommunicationPlan::schedule`] checks what the passes need of each other
//! on their own device, and that none is missing.
//!
//! ```
//! use bubbleproof_core::comm::{self, Action, CommunicationPlan, Message, Payload};
//! use bubbleproof_core::model::{Microbatch, Placement, Stage};
//!
//! // Stage 1 is to train on the output of stage 0, which nobody sends.
//! let message =
//!     Message { payload: Payload::Activation, boundary: Stage(0), microbatch: Microbatch(0) };
//! let sender = vec![Action::Run("0F0".parse()?)];
//! let receiver = vec![Action::Receive(message), Action::Run("1F0".parse()?)];
//! let plan = CommunicationPlan::new(Placement::linear(2)?, 1, vec![sender, receiver])?;
//!
//! let faults = comm::verify(&plan);
//! assert!(faults.iter().any(|fault| fault.rule() == "never-sent"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod fault;
mod flow;
mod index;
mod verify;

use std::collections::BTreeMap;
use std::fmt;

pub use fault::{ActionWait, PlanViolation};
pub use flow::{Ending, Semantics, deadlock, ending};
pub use verify::verify;

use crate::model::{Device, Kind, Microbatch, Pass, Placement, Stage};
use crate::schedule::{Place, Schedule, ScheduleError};

/// What a message carries.
///
/// Exhaustive on purpose: code that makes or matches messages has to handle every payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Payload {
    /// The output of a forward, for the stage after it.
    Activation,
    /// The gradient of a stage's input, for the stage before it.
    Gradient,
}

/// A message between two neighbouring stages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Message {
    /// What it carries.
    pub payload: Payload,
    /// The earlier of the two stages; the other is the one after it.
    pub boundary: Stage,
    /// The microbatch it is of.
    pub microbatch: Microbatch,
}

impl Message {
    /// The stage that sends it.
    #[must_use]
    pub const fn from(self) -> Stage {
        match self.payload {
            Payload::Activation => self.boundary,
            Payload::Gradient => Stage(self.boundary.0.saturating_add(1)),
        }
    }

    /// The stage that receives it.
    #[must_use]
    pub const fn to(self) -> Stage {
        match self.payload {
            Payload::Activation => Stage(self.boundary.0.saturating_add(1)),
            Payload::Gradient => self.boundary,
        }
    }

    /// What a pass receives from the stage next to it, if anything. Its stage must exist.
    #[must_use]
    pub fn into_pass(pass: Pass, placement: &Placement) -> Option<Self> {
        let message = |payload, boundary| Self { payload, boundary, microbatch: pass.microbatch };
        let (before, after) = (placement.stage_before(pass.stage), placement.stage_after(pass.stage));
        match pass.kind {
            Kind::F => before.map(|boundary| message(Payload::Activation, boundary)),
            Kind::I | Kind::B => after.map(|_| message(Payload::Gradient, pass.stage)),
            Kind::W | Kind::R => None,
        }
    }

    /// What a pass makes for the stage next to it, if anything. Its stage must exist.
    #[must_use]
    pub fn out_of_pass(pass: Pass, placement: &Placement) -> Option<Self> {
        let message = |payload, boundary| Self { payload, boundary, microbatch: pass.microbatch };
        let (before, after) = (placement.stage_before(pass.stage), placement.stage_after(pass.stage));
        match pass.kind {
            Kind::F => after.map(|_| message(Payload::Activation, pass.stage)),
            Kind::I | Kind::B => before.map(|boundary| message(Payload::Gradient, boundary)),
            Kind::W | Kind::R => None,
        }
    }

    /// Whether there are two such stages, next to each other in one pipeline.
    #[must_use]
    pub(crate) fn is_between_stages(self, placement: &Placement) -> bool {
        self.boundary.0 < placement.stages() && placement.stage_after(self.boundary).is_some()
    }

    /// Whether its stages are on different devices, so that it has to be sent at all. Its stages must exist.
    #[must_use]
    pub fn crosses(self, placement: &Placement) -> bool {
        placement.device_of(self.from()) != placement.device_of(self.to())
    }
}

/// One action of a device. Its text form is PyTorch's.
///
/// Exhaustive on purpose: whoever runs or writes plans has to handle every action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// Run a pass.
    Run(Pass),
    /// Run a forward and a backward as one.
    Overlap([Pass; 2]),
    /// Post a send.
    Send(Message),
    /// Post a receive.
    Receive(Message),
    /// Wait until a send that was posted has left.
    WaitSend(Message),
    /// Gather the weights of a stage, where they are sharded over data-parallel replicas.
    Unshard(Stage),
    /// Let go of gathered weights.
    Reshard(Stage),
    /// Scale a stage's weight gradients, and reduce them over data-parallel replicas.
    ReduceGradients(Stage),
    /// Wait for such a reduction.
    WaitReduce(Stage),
}

impl Action {
    /// The passes it runs.
    #[must_use]
    pub const fn passes(&self) -> &[Pass] {
        match self {
            Self::Run(pass) => std::slice::from_ref(pass),
            Self::Overlap(pair) => pair,
            _ => &[],
        }
    }

    /// The stages it is about, which its device must hold.
    pub fn stages(&self) -> impl Iterator<Item = Stage> + use<'_> {
        let single = match *self {
            Self::Run(_) | Self::Overlap(_) => None,
            Self::Send(message) | Self::WaitSend(message) => Some(message.from()),
            Self::Receive(message) => Some(message.to()),
            Self::Unshard(stage)
            | Self::Reshard(stage)
            | Self::ReduceGradients(stage)
            | Self::WaitReduce(stage) => Some(stage),
        };
        self.passes().iter().map(|pass| pass.stage).chain(single)
    }
}

impl fmt::Display for Action {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = |message: Message| match message.payload {
            Payload::Activation => 'F',
            Payload::Gradient => 'B',
        };
        match *self {
            Self::Run(pass) => write!(out, "{pass}"),
            Self::Overlap([first, second]) => write!(out, "({first};{second})OVERLAP_F_B"),
            Self::Send(message) => {
                write!(out, "{}SEND_{}{}", message.from(), letter(message), message.microbatch)
            }
            Self::Receive(message) => {
                write!(out, "{}RECV_{}{}", message.to(), letter(message), message.microbatch)
            }
            Self::WaitSend(message) => {
                write!(out, "{}WAIT_SEND_{}{}", message.from(), letter(message), message.microbatch)
            }
            Self::Unshard(stage) => write!(out, "{stage}UNSHARD"),
            Self::Reshard(stage) => write!(out, "{stage}RESHARD"),
            Self::ReduceGradients(stage) => write!(out, "{stage}REDUCE_GRAD"),
            Self::WaitReduce(stage) => write!(out, "{stage}WAIT_REDUCE_GRAD"),
        }
    }
}

/// A row of actions for every device. It may be wrong in every way; only its form is guaranteed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommunicationPlan {
    actions: Vec<Vec<Action>>,
    schedule: Schedule,
}

impl CommunicationPlan {
    /// The plan of these rows, one per device.
    ///
    /// # Errors
    /// When its passes are not a schedule: not one row for each device, no microbatch or too many, or an
    /// overlapped pair that is not a forward and a backward.
    pub fn new(
        placement: Placement,
        microbatches: u32,
        actions: Vec<Vec<Action>>,
    ) -> Result<Self, ScheduleError> {
        let steps = actions.iter().map(|row| row.iter().map(Action::passes));
        let schedule = Schedule::of_steps(placement, microbatches, steps)?;
        Ok(Self { actions, schedule })
    }

    /// Its passes alone.
    #[must_use]
    pub const fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// The row of a device.
    #[must_use]
    pub fn row(&self, device: Device) -> &[Action] {
        &self.actions[device.index()]
    }

    /// The rows of all devices.
    #[must_use]
    pub fn rows(&self) -> &[Vec<Action>] {
        &self.actions
    }

    /// The messages that a device receives, each with the number of passes that come before its receive: the first one
    /// where there are several.
    #[must_use]
    pub fn receives(&self, device: Device) -> BTreeMap<Message, usize> {
        let (mut found, mut passes) = (BTreeMap::new(), 0);
        for action in self.row(device) {
            passes += action.passes().len();
            if let Action::Receive(message) = action {
                found.entry(*message).or_insert(passes);
            }
        }
        found
    }

    /// Every action with its place, by device and position.
    pub fn actions(&self) -> impl Iterator<Item = (Place, Action)> + use<'_> {
        Device::all(self.schedule.devices()).flat_map(|device| {
            let row = self.row(device).iter().enumerate();
            row.map(move |(position, &action)| (Place { device, position }, action))
        })
    }

    fn placement(&self) -> &Placement {
        self.schedule.placement()
    }

    fn at(&self, place: Place) -> Action {
        self.row(place.device)[place.position]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn receives_come_after_the_passes_before_them() {
        let gradient = |microbatch| Message {
            payload: Payload::Gradient,
            boundary: Stage(0),
            microbatch: Microbatch(microbatch),
        };
        let run = |pass: &str| Action::Run(pass.parse().expect("a pass"));
        let row = vec![
            run("0F0"),
            run("0F1"),
            Action::Receive(gradient(0)),
            run("0B0"),
            Action::Receive(gradient(1)),
            // A second one, which is a fault, does not count.
            Action::Receive(gradient(0)),
            run("0B1"),
        ];
        let placement = Placement::linear(2).expect("a placement");
        let plan = CommunicationPlan::new(placement, 2, vec![row, Vec::new()]).expect("a plan");
        assert_eq!(plan.receives(Device(0)), BTreeMap::from([(gradient(0), 2), (gradient(1), 3)]));
        assert_eq!(plan.receives(Device(1)), BTreeMap::new());
    }
    /// A receive without a send would never end, and hold up all behind it where messages of two devices take turns.
    #[test]
    fn what_no_pass_needs_is_not_received_from_nobody() {
        let activation = |microbatch| Message {
            payload: Payload::Activation,
            boundary: Stage(0),
            microbatch: Microbatch(microbatch),
        };
        let (needed, needless) = (activation(0), activation(1));
        let run = |pass: &str| Action::Run(pass.parse().expect("a pass"));
        let reduce = |stage| [Action::ReduceGradients(Stage(stage)), Action::WaitReduce(Stage(stage))];
        let gradient = Message { payload: Payload::Gradient, boundary: Stage(0), microbatch: Microbatch(0) };
        let first = [
            run("0F0"),
            Action::Send(needed),
            Action::Receive(gradient),
            run("0B0"),
            Action::WaitSend(needed),
        ];
        let last = [
            Action::Receive(needed),
            Action::Receive(needless),
            run("1F0"),
            run("1B0"),
            Action::Send(gradient),
            Action::WaitSend(gradient),
        ];
        let rows =
            vec![first.into_iter().chain(reduce(0)).collect(), last.into_iter().chain(reduce(1)).collect()];
        let placement = Placement::linear(2).expect("a placement");
        let plan = CommunicationPlan::new(placement, 1, rows).expect("a plan");
        let at = Place { device: Device(1), position: 1 };
        assert_eq!(verify(&plan), [PlanViolation::NobodySends { at, message: needless }]);
        assert_eq!(
            verify(&plan)[0].to_string(),
            "device 1, action 1: `1RECV_F1` waits for a message that nobody sends"
        );
        // What is no message between two devices breaks another rule alone.
        for boundary in [Stage(1), Stage(7)] {
            let receive = Action::Receive(Message { boundary, ..needless });
            let placement = Placement::v(2).expect("a placement");
            let plan = CommunicationPlan::new(placement, 1, vec![Vec::new(), vec![receive]]).expect("a plan");
            assert!(verify(&plan).iter().all(|fault| fault.rule() != "never-sent"));
        }
    }
}
