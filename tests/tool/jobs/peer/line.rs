//! What runs on the devices of the peer, and what each action waits for.

use std::fmt;

/// The kinds of actions. Messages are actions, too: a device handles them one after the other, beside its compute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    F,
    B,
    I,
    W,
    SendForward,
    ReceiveForward,
    SendBackward,
    ReceiveBackward,
}

impl Kind {
    pub fn computes(self) -> bool {
        matches!(self, Self::F | Self::B | Self::I | Self::W)
    }
}

/// An action of the device that has the stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Action {
    pub stage: usize,
    pub kind: Kind,
    pub microbatch: usize,
}

impl Action {
    pub fn new(stage: usize, kind: Kind, microbatch: usize) -> Self {
        Self { stage, kind, microbatch }
    }
}

/// As PyTorch writes actions.
impl fmt::Display for Action {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.kind {
            Kind::F => "F",
            Kind::B => "B",
            Kind::I => "I",
            Kind::W => "W",
            Kind::SendForward => "SEND_F",
            Kind::ReceiveForward => "RECV_F",
            Kind::SendBackward => "SEND_B",
            Kind::ReceiveBackward => "RECV_B",
        };
        write!(out, "{}{name}{}", self.stage, self.microbatch)
    }
}

/// Stages on devices, in loops.
#[derive(Debug, Clone, Copy)]
pub struct Line {
    pub devices: usize,
    pub stages: usize,
    /// Which pass yields the gradient for the stage before: B, or I where the backward is split.
    pub gradient: Kind,
}

impl Line {
    pub fn device(self, stage: usize) -> usize {
        stage % self.devices
    }

    /// Neighbours in a loop lie on different devices unless there is one device only.
    fn crosses(self) -> bool {
        self.devices > 1
    }

    /// What an action needs to have ended, apart from what its device runs before it.
    pub fn needs(self, action: Action) -> Vec<Action> {
        let Action { stage, kind, microbatch } = action;
        let of = |stage, kind| Action::new(stage, kind, microbatch);
        match kind {
            Kind::F if stage == 0 => Vec::new(),
            Kind::F if self.crosses() => vec![of(stage, Kind::ReceiveForward)],
            Kind::F => vec![of(stage - 1, Kind::F)],
            Kind::B | Kind::I if stage + 1 == self.stages => vec![of(stage, Kind::F)],
            Kind::B | Kind::I if self.crosses() => {
                vec![of(stage, Kind::F), of(stage, Kind::ReceiveBackward)]
            }
            Kind::B | Kind::I => vec![of(stage, Kind::F), of(stage + 1, self.gradient)],
            Kind::W => vec![of(stage, Kind::I)],
            Kind::SendForward => vec![of(stage, Kind::F)],
            Kind::SendBackward => vec![of(stage, self.gradient)],
            Kind::ReceiveForward => vec![of(stage - 1, Kind::SendForward)],
            Kind::ReceiveBackward => vec![of(stage + 1, Kind::SendBackward)],
        }
    }

    /// The message that a pass causes, if any: its sending and its receiving.
    pub fn message(self, action: Action) -> Option<[Action; 2]> {
        let Action { stage, kind, microbatch } = action;
        let of = |stage, kind| Action::new(stage, kind, microbatch);
        if !self.crosses() {
            None
        } else if kind == Kind::F && stage + 1 < self.stages {
            Some([of(stage, Kind::SendForward), of(stage + 1, Kind::ReceiveForward)])
        } else if kind == self.gradient && stage > 0 {
            Some([of(stage, Kind::SendBackward), of(stage - 1, Kind::ReceiveBackward)])
        } else {
            None
        }
    }
}
