//! How long messages keep links busy.

use serde::{Deserialize, Serialize};

use super::{Device, Model, ModelError, Stage, Ticks};

/// What messages between devices occupy, beside the latency that each of them has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Messages {
    /// How long a message keeps its link busy, one per stage boundary (S-1 values), in ticks. Activation and gradient of a
    /// boundary have the same size. It counts only where the two stages lie on different devices.
    pub occupancy: Vec<Ticks>,
    /// Which messages share a link.
    pub links: Links,
}

/// Which messages share a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Links {
    /// Those from one device to another one: each directed pair of devices has a link of its own.
    Pair,
    /// The devices of each node. Messages from a node to other nodes share the network card of the node, which sends one
    /// message at a time. Between two devices of a node, each direction has a link of its own.
    Nodes(Vec<Vec<Device>>),
}

/// A link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Link {
    /// From one device to another one.
    Pair {
        /// The device that sends.
        from: Device,
        /// The device that receives.
        to: Device,
    },
    /// The network card of a node, as far as it sends; nodes are numbered from 0.
    Card {
        /// The number of the node.
        node: usize,
    },
}

impl std::fmt::Display for Link {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Pair { from, to } => write!(out, "device {from} to device {to}"),
            Self::Card { node } => write!(out, "network card of node {node}"),
        }
    }
}

impl Model {
    /// The same pipeline with these messages, or with messages that occupy nothing.
    ///
    /// # Errors
    /// When there is not one occupancy for each stage boundary, one is negative, the nodes are not all devices once each, or
    /// the whole could overflow.
    pub fn with_messages(&self, messages: Option<Messages>) -> Result<Self, ModelError> {
        Self { messages, ..self.clone() }.checked()
    }

    /// What messages occupy; `None` if the model has no `[messages]` table.
    #[must_use]
    pub const fn messages(&self) -> Option<&Messages> {
        self.messages.as_ref()
    }

    /// How long a message between a stage and the next one keeps its link busy, in ticks, in either direction; zero on one
    /// device.
    ///
    /// # Panics
    /// When `stage` is the last, or there is no such stage.
    #[must_use]
    pub fn occupancy_after(&self, stage: Stage) -> Ticks {
        let Some(messages) = &self.messages else { return Ticks::ZERO };
        let next = Stage(stage.0 + 1);
        let crosses = self.placement.device_of(stage) != self.placement.device_of(next)
            && self.placement.stage_after(stage).is_some();
        if crosses { messages.occupancy[stage.index()] } else { Ticks::ZERO }
    }

    /// The least time in ticks from the end of a pass to the arrival of its result at the next stage, in either direction:
    /// [occupancy](Self::occupancy_after) and [latency](Self::latency_after); zero on one device.
    ///
    /// # Panics
    /// When `stage` is the last, or there is no such stage.
    #[must_use]
    pub fn delay_after(&self, stage: Stage) -> Ticks {
        self.occupancy_after(stage) + self.latency_after(stage)
    }

    /// The link that carries messages from one device to another one. Meant for a model with messages; without, every pair
    /// has its own.
    #[must_use]
    pub fn link(&self, from: Device, to: Device) -> Link {
        self.links_between()(from, to)
    }

    /// [`link`](Self::link) for many pairs of devices.
    pub(crate) fn links_between(&self) -> impl Fn(Device, Device) -> Link + use<> {
        let mut node_of = vec![None; self.devices() as usize];
        if let Some(Messages { links: Links::Nodes(nodes), .. }) = &self.messages {
            for (node, devices) in nodes.iter().enumerate() {
                for device in devices {
                    node_of[device.index()] = Some(node);
                }
            }
        }
        move |from, to| match (node_of[from.index()], node_of[to.index()]) {
            (Some(node), other) if other != Some(node) => Link::Card { node },
            _ => Link::Pair { from, to },
        }
    }

    /// Whether some message keeps a link busy.
    #[must_use]
    pub fn has_busy_links(&self) -> bool {
        self.messages.is_some()
            && Stage::all(self.stages() - 1).any(|stage| self.occupancy_after(stage) > Ticks::ZERO)
    }

    /// The model in which every message has a link of its own: what messages occupy is part of their latency. No schedule is
    /// later under it, since a message arrives at the earliest its occupancy and its latency after it is made. It has no ranges.
    #[must_use]
    #[expect(clippy::missing_panics_doc, reason = "a model counts both among its totals")]
    pub fn with_own_links(&self) -> Self {
        if self.messages.is_none() {
            return self.clone();
        }
        let mut costs = self.costs.clone();
        for (boundary, latency) in costs.communication.iter_mut().enumerate() {
            *latency += self.occupancy_after(Stage::at(boundary));
        }
        Self { costs, low: None, messages: None, ..self.clone() }.checked().expect("it has the same totals")
    }

    /// Checks that there is one occupancy for each boundary, and that the nodes are all devices, once each.
    pub(super) fn check_messages(&self) -> Result<(), ModelError> {
        let Some(Messages { occupancy, links }) = &self.messages else { return Ok(()) };
        let (found, expected) = (occupancy.len(), self.stages() as usize - 1);
        if found != expected {
            return Err(ModelError::Length {
                key: "messages.occupancy",
                found,
                expected,
                of: "stage boundaries",
            });
        }
        if let Some(negative) = occupancy.iter().find(|&&ticks| ticks < Ticks::ZERO) {
            return Err(ModelError::Negative { key: "messages.occupancy", value: negative.0 });
        }
        let Links::Nodes(nodes) = links else { return Ok(()) };
        let mut is_listed = vec![false; self.devices() as usize];
        for &device in nodes.iter().flatten() {
            match is_listed.get_mut(device.index()) {
                None => return Err(ModelError::NodeOfNoDevice { device, devices: self.devices() }),
                Some(true) => return Err(ModelError::InTwoNodes(device)),
                Some(listed) => *listed = true,
            }
        }
        match is_listed.iter().position(|listed| !listed) {
            Some(device) => Err(ModelError::InNoNode(Device::at(device))),
            None => Ok(()),
        }
    }
}
