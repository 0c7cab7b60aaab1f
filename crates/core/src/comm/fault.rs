//! Everything that can be wrong with a plan, one variant for each way.

use std::fmt;

use super::{Action, Ending, Message, Semantics};
use crate::model::{Device, Pass, Stage};
use crate::schedule::Place;

/// One action of a cycle of waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ActionWait {
    /// Its place.
    pub at: Place,
    /// The action that cannot be done.
    pub action: Action,
    /// What it waits for.
    pub needs: Action,
    /// The place of `needs`: at the next action of the cycle, or behind it on the same device.
    pub needs_at: Place,
}

/// Something wrong with a plan. Its text says what, where, and with what.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanViolation {
    /// A message to or from a stage that does not exist.
    #[error("{at}: `{action}`: no stage {stage} is next to it in its pipeline", at = action_at(*at))]
    NoNeighbour {
        /// Its place.
        at: Place,
        /// The action.
        action: Action,
        /// The missing stage.
        stage: Stage,
    },
    /// An action of a stage that the device does not hold.
    #[error("{at}: `{action}` belongs on device {belongs}", at = action_at(*at))]
    WrongDevice {
        /// Its place.
        at: Place,
        /// The action.
        action: Action,
        /// The device that holds its stage.
        belongs: Device,
    },
    /// A message between two stages of one device.
    #[error("{at}: `{action}`: both stages are on this device, which hands the message over without sending", at = action_at(*at))]
    Needless {
        /// Its place.
        at: Place,
        /// The action.
        action: Action,
    },
    /// An action that is in the plan more than once.
    #[error("{at}: `{action}` is a duplicate of the one at {first}", at = action_at(*at), first = action_at(*first))]
    Twice {
        /// The place of the duplicate.
        at: Place,
        /// The action.
        action: Action,
        /// The first place.
        first: Place,
    },
    /// A message that is needed and never sent.
    #[error("device {device}: `{send}` is missing, so `{pass}` never receives its input", send = Action::Send(*message))]
    NeverSent {
        /// The device that should send it.
        device: Device,
        /// The message.
        message: Message,
        /// The pass that needs it.
        pass: Pass,
    },
    /// A message that is needed and never received.
    #[error("device {device}: `{receive}` is missing, so `{pass}` would run without its input", receive = Action::Receive(*message))]
    NeverReceived {
        /// The device that should receive it.
        device: Device,
        /// The message.
        message: Message,
        /// The pass that needs it.
        pass: Pass,
    },
    /// A message that is received though nobody sends it, and that no pass of the plan needs.
    #[error("{at}: `{receive}` waits for a message that nobody sends", receive = Action::Receive(*message), at = action_at(*at))]
    NobodySends {
        /// Where it is received.
        at: Place,
        /// The message.
        message: Message,
    },
    /// A message that is sent before the pass that makes it, or without one.
    #[error("{at}: `{send}` comes before the pass that makes the message{}", place_of(*made_at), send = Action::Send(*message), at = action_at(*at))]
    SentBeforeMade {
        /// Where it is sent.
        at: Place,
        /// The message.
        message: Message,
        /// The place of the pass, if there is one.
        made_at: Option<Place>,
    },
    /// A pass that runs before its message is received.
    #[error("{at}: `{pass}` runs before `{receive}` at {received_at}", receive = Action::Receive(*message), at = action_at(*at), received_at = action_at(*received_at))]
    UsedBeforeReceived {
        /// The place of the pass.
        at: Place,
        /// The pass.
        pass: Pass,
        /// The message that it needs.
        message: Message,
        /// Where that is received.
        received_at: Place,
    },
    /// A send that nobody waits for.
    #[error("{at}: `{send}` is never waited for, so its buffer can never be freed safely", send = Action::Send(*message), at = action_at(*at))]
    NeverWaited {
        /// Where it is sent.
        at: Place,
        /// The message.
        message: Message,
    },
    /// A wait for a send that has not been posted.
    #[error("{at}: `{wait}` comes before the send{}", place_of(*sent_at), wait = Action::WaitSend(*message), at = action_at(*at))]
    WaitedBeforeSent {
        /// The place of the wait.
        at: Place,
        /// The message.
        message: Message,
        /// Where it is sent, if anywhere.
        sent_at: Option<Place>,
    },
    /// Messages that are received in another order than they are sent.
    #[error(
        "message {number} from device {} to device {}: `{send}` at {sent_at} is received as `{receive}` at \
         {received_at}; the weight gradients of {} would be wrong",
        sent_at.device, received_at.device, up_to(*last_wrong),
        send = Action::Send(*sent), receive = Action::Receive(*received),
        sent_at = action_at(*sent_at), received_at = action_at(*received_at)
    )]
    Swapped {
        /// Which of the messages between these devices, in this direction, counted from 0.
        number: usize,
        /// What is sent.
        sent: Message,
        /// Where.
        sent_at: Place,
        /// The message as which it is received.
        received: Message,
        /// Where.
        received_at: Place,
        /// The last stage whose weight gradients this mistake and later ones like it between these devices
        /// would make wrong. Those of all stages before it in its pipeline would be wrong as well; fewer only
        /// if messages are swapped back on their way.
        last_wrong: Stage,
    },
    /// Forwards of a last stage that are not in the order of microbatches.
    ///
    /// PyTorch 2.14 and 2.15 append every loss to a list when it is computed, and take the k-th one for that of
    /// microbatch k.
    #[error("{at}: `{pass}` comes after `{later}` at {later_at}: PyTorch would take the loss of one microbatch for that of another", at = action_at(*at), later_at = action_at(*later_at))]
    LossesOutOfOrder {
        /// The place of the forward that comes too late.
        at: Place,
        /// The forward.
        pass: Pass,
        /// The forward of a later microbatch before it.
        later: Pass,
        /// The place of that forward.
        later_at: Place,
    },
    /// Actions that wait for each other in a cycle.
    #[error("{}, {}", under(*semantics), spell_out(waits))]
    Deadlock {
        /// What the runtime would have to be like.
        semantics: Semantics,
        /// The cycle.
        waits: Vec<ActionWait>,
    },
    /// Gradients that are never reduced.
    #[error("device {device}: `{}` is missing: the gradients of stage {stage} stay unscaled and are not summed over replicas", Action::ReduceGradients(*stage))]
    NeverReduced {
        /// The device that holds the stage.
        device: Device,
        /// The stage.
        stage: Stage,
    },
    /// Gradients that are reduced while some are still to come.
    #[error("{at}: `{}` comes before `{pass}` at {pass_at}, whose gradient it leaves out", Action::ReduceGradients(*stage), at = action_at(*at), pass_at = action_at(*pass_at))]
    ReducedEarly {
        /// The place of the reduction.
        at: Place,
        /// The stage.
        stage: Stage,
        /// The last pass that makes a weight gradient of the stage.
        pass: Pass,
        /// The place of that pass.
        pass_at: Place,
    },
    /// A reduction that begins while another one of the device is under way, or that nothing waits for.
    #[error("{at}: nothing waits for `{}`{}", Action::ReduceGradients(*stage), before(*next), at = action_at(*at))]
    ReductionNotWaited {
        /// The place of the reduction.
        at: Place,
        /// The stage.
        stage: Stage,
        /// The reduction that begins meanwhile, if one does.
        next: Option<Stage>,
    },
    /// A wait for a reduction that is not under way.
    #[error("{at}: `{}` waits for a reduction that has not started", Action::WaitReduce(*stage), at = action_at(*at))]
    NoReduction {
        /// The place of the wait.
        at: Place,
        /// The stage.
        stage: Stage,
    },
    /// A pass on weights that have not been gathered, in a plan that gathers weights.
    #[error("{at}: `{pass}` runs while the weights of stage {} are sharded", pass.stage, at = action_at(*at))]
    Sharded {
        /// Its place.
        at: Place,
        /// The pass.
        pass: Pass,
    },
    /// Weights gathered that are there, or let go of that are not.
    #[error("{at}: `{action}` finds the weights {} already", if matches!(action, Action::Unshard(_)) { "gathered" } else { "sharded" }, at = action_at(*at))]
    ShardingTwice {
        /// Its place.
        at: Place,
        /// The action.
        action: Action,
    },
    /// Weights that are let go of, and that no pass has used since they were gathered.
    #[error("{at}: `{}` frees weights that no pass has used since `{}` at {gathered_at}", Action::Reshard(*stage), Action::Unshard(*stage), at = action_at(*at), gathered_at = action_at(*gathered_at))]
    GatheredForNothing {
        /// Where they are let go of.
        at: Place,
        /// The stage.
        stage: Stage,
        /// Where they are gathered.
        gathered_at: Place,
    },
    /// Weights that are gathered and never let go of.
    #[error("{at}: `{}` is never undone", Action::Unshard(*stage), at = action_at(*at))]
    NeverResharded {
        /// Where they are gathered.
        at: Place,
        /// The stage.
        stage: Stage,
    },
}

impl PlanViolation {
    /// Whether a device that comes to the place of this cannot go on, for example because there is nothing to send.
    /// With the other violations, no device notices, or something else waits.
    pub(super) const fn stops(&self) -> bool {
        match self {
            Self::NoNeighbour { .. }
            | Self::WrongDevice { .. }
            | Self::Needless { .. }
            | Self::Twice { .. }
            | Self::SentBeforeMade { .. }
            | Self::UsedBeforeReceived { .. }
            | Self::WaitedBeforeSent { .. }
            | Self::NoReduction { .. }
            | Self::Sharded { .. }
            | Self::ShardingTwice { .. }
            | Self::GatheredForNothing { .. } => true,
            Self::NeverSent { .. }
            | Self::NeverReceived { .. }
            | Self::NobodySends { .. }
            | Self::NeverWaited { .. }
            | Self::Swapped { .. }
            | Self::LossesOutOfOrder { .. }
            | Self::Deadlock { .. }
            | Self::NeverReduced { .. }
            | Self::ReducedEarly { .. }
            | Self::ReductionNotWaited { .. }
            | Self::NeverResharded { .. } => false,
        }
    }

    /// The name of the broken rule, as `--json` gives it.
    #[must_use]
    pub const fn rule(&self) -> &'static str {
        match self {
            Self::NoNeighbour { .. } => "no-neighbour",
            Self::WrongDevice { .. } => "wrong-device",
            Self::Needless { .. } => "needless-message",
            Self::Twice { .. } => "duplicate-action",
            Self::NeverSent { .. } | Self::NobodySends { .. } => "never-sent",
            Self::NeverReceived { .. } => "never-received",
            Self::SentBeforeMade { .. } => "sent-before-made",
            Self::UsedBeforeReceived { .. } => "used-before-received",
            Self::NeverWaited { .. } => "never-waited",
            Self::WaitedBeforeSent { .. } => "waited-before-sent",
            Self::Swapped { .. } => "swapped-messages",
            Self::LossesOutOfOrder { .. } => "losses-out-of-order",
            Self::Deadlock { .. } => "communication-deadlock",
            Self::NeverReduced { .. } => "never-reduced",
            Self::ReducedEarly { .. } => "reduced-early",
            Self::ReductionNotWaited { .. } => "reduction-not-waited",
            Self::NoReduction { .. } => "no-reduction",
            Self::Sharded { .. } => "sharded",
            Self::ShardingTwice { .. } => "sharding-twice",
            Self::GatheredForNothing { .. } => "gathered-for-nothing",
            Self::NeverResharded { .. } => "never-resharded",
        }
    }

    /// Its place; something that is missing has none.
    #[must_use]
    pub fn place(&self) -> Option<Place> {
        match self {
            Self::NeverSent { .. } | Self::NeverReceived { .. } | Self::NeverReduced { .. } => None,
            Self::NoNeighbour { at, .. }
            | Self::WrongDevice { at, .. }
            | Self::Needless { at, .. }
            | Self::Twice { at, .. }
            | Self::NobodySends { at, .. }
            | Self::SentBeforeMade { at, .. }
            | Self::UsedBeforeReceived { at, .. }
            | Self::NeverWaited { at, .. }
            | Self::WaitedBeforeSent { at, .. }
            | Self::LossesOutOfOrder { at, .. }
            | Self::ReducedEarly { at, .. }
            | Self::ReductionNotWaited { at, .. }
            | Self::NoReduction { at, .. }
            | Self::Sharded { at, .. }
            | Self::ShardingTwice { at, .. }
            | Self::GatheredForNothing { at, .. }
            | Self::NeverResharded { at, .. } => Some(*at),
            Self::Swapped { received_at, .. } => Some(*received_at),
            Self::Deadlock { waits, .. } => waits.first().map(|wait| wait.at),
        }
    }

    /// The device on which it is; for a deadlock, the first of the cycle.
    #[must_use]
    pub fn device(&self) -> Option<Device> {
        match self {
            Self::NeverSent { device, .. }
            | Self::NeverReceived { device, .. }
            | Self::NeverReduced { device, .. } => Some(*device),
            _ => self.place().map(|place| place.device),
        }
    }
}

fn place_of(place: Option<Place>) -> String {
    place.map_or_else(|| ", which is missing".to_owned(), |place| format!(" at {}", action_at(place)))
}

/// The place of an action. A position is one among the passes of a device, so this is called something else.
fn action_at(place: Place) -> String {
    format!("device {}, action {}", place.device, place.position)
}

fn before(next: Option<Stage>) -> String {
    next.map(|next| format!(" before `{}` begins", Action::ReduceGradients(next))).unwrap_or_default()
}

fn up_to(stage: Stage) -> String {
    if stage.0 == 0 { "stage 0".to_owned() } else { format!("stages 0 to {stage}") }
}

/// In which case a plan deadlocks. One that deadlocks with buffered messages does so with all others.
fn under(semantics: Semantics) -> String {
    match semantics {
        Semantics::Buffered => format!("even with {semantics}"),
        Semantics::Rendezvous | Semantics::PairStreams | Semantics::DeviceStreams => {
            format!("with {semantics}")
        }
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ends => out.write_str("every device does its whole row"),
            Self::Cycle(waits) => out.write_str(&spell_out(waits)),
            Self::Alone(waits) => {
                let end = waits.last().map(|wait| wait.needs);
                // What it waits for is then said below, and that it is of its own device with it.
                let waits = match waits.split_last() {
                    Some((last, [])) => {
                        format!("device {} waits at `{}` forever", last.at.device, last.action)
                    }
                    _ => spell_out(waits),
                };
                let other = end.map_or_else(String::new, |end| match end {
                    Action::Send(_) => format!(": no receive meets `{end}`"),
                    _ => format!(": no send meets `{end}`"),
                });
                write!(out, "{waits}{other}")
            }
            Self::Fails { at, action } => write!(out, "device {} fails at `{action}`", at.device),
        }
    }
}

fn spell_out(waits: &[ActionWait]) -> String {
    let wait = |wait: &ActionWait| {
        let ActionWait { at, action, needs, needs_at } = wait;
        if needs_at.device == at.device {
            format!("device {} waits at `{action}` for its own `{needs}`", at.device)
        } else {
            format!("device {} waits at `{action}` for `{needs}` of device {}", at.device, needs_at.device)
        }
    };
    let waits: Vec<String> = waits.iter().map(wait).collect();
    waits.join("; ")
}
