//! The nodes as that runtime names their fields.

use std::io::{self, Write};

use serde::Serialize;

use super::NodeLists;
use super::order::Event;
use crate::comm::{Action, Message, Payload};
use crate::model::{Device, Kind, Pass, Placement, Stage};
use crate::schedule::Schedule;

/// A `ScheduledNode`. There a device is called a stage, and a stage a layer group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Node {
    /// `F`, `B` (the input gradient), `W`, `BW` (the full backward), or a send or receive of `FORWARD` or
    /// `BACKWARD`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// The device.
    pub stage: u32,
    /// The microbatch.
    pub microbatch: u32,
    /// Which of the device's chunks.
    pub chunk: usize,
    /// Always 0: sequences are not divided.
    pub seq_split_idx: u32,
    /// The stage.
    pub layer_group_idx: u32,
    /// In ticks. A message has the time at which it is made.
    pub start_time: i64,
    /// In ticks.
    pub completion_time: i64,
    /// Of a pass: the device from which it gets its input, if another.
    pub recv_peer_stage: Option<u32>,
    /// Of a pass: the device to which its output goes, if another.
    pub send_peer_stage: Option<u32>,
    /// Of a message: `NEXT` or `PREV`, where the other device is.
    pub comm_direction: Option<&'static str>,
    /// Of a message: the other device.
    pub comm_peer_stage: Option<u32>,
    /// Of a message: its number, the same on both sides.
    pub comm_pair_id: Option<u32>,
    /// Always false: nothing is done twice.
    pub rollback: bool,
}

/// The nodes of every device.
pub(super) fn nodes(placement: &Placement, rows: &[Vec<Event>]) -> Vec<Vec<Node>> {
    rows.iter().map(|row| row.iter().map(|event| node(placement, event)).collect()).collect()
}

fn node(placement: &Placement, event: &Event) -> Node {
    match event.action {
        Action::Send(message) => exchange(placement, event, message, true),
        Action::Receive(message) => exchange(placement, event, message, false),
        _ => computation(placement, event, event.action.passes()[0]),
    }
}

fn computation(placement: &Placement, event: &Event, pass: Pass) -> Node {
    let other = |message: Option<Message>, end: fn(Message) -> Stage| {
        message
            .filter(|message| message.crosses(placement))
            .map(|message| placement.device_of(end(message)).0)
    };
    let kind = match pass.kind {
        Kind::I => "B",
        Kind::B => "BW",
        Kind::W => "W",
        Kind::F | Kind::R => "F",
    };
    Node {
        recv_peer_stage: other(Message::into_pass(pass, placement), Message::from),
        send_peer_stage: other(Message::out_of_pass(pass, placement), Message::to),
        ..blank(placement, event, kind, pass.stage, pass.microbatch.0)
    }
}

fn exchange(placement: &Placement, event: &Event, message: Message, sends: bool) -> Node {
    let (from, to) = (placement.device_of(message.from()), placement.device_of(message.to()));
    let kind = match (message.payload, sends) {
        (Payload::Activation, true) => "SEND_FORWARD",
        (Payload::Activation, false) => "RECV_FORWARD",
        (Payload::Gradient, true) => "SEND_BACKWARD",
        (Payload::Gradient, false) => "RECV_BACKWARD",
    };
    // As that runtime decides it; with two devices each is both before and after the other.
    let onward = from.0 + 1 == to.0 || (to == Device(0) && from.0 + 1 == placement.devices());
    Node {
        comm_direction: Some(if onward == sends { "NEXT" } else { "PREV" }),
        comm_peer_stage: Some(if sends { to.0 } else { from.0 }),
        comm_pair_id: event.message,
        ..blank(
            placement,
            event,
            kind,
            if sends { message.from() } else { message.to() },
            message.microbatch.0,
        )
    }
}

fn blank(placement: &Placement, event: &Event, kind: &'static str, stage: Stage, microbatch: u32) -> Node {
    Node {
        kind,
        stage: placement.device_of(stage).0,
        microbatch,
        chunk: placement.chunk_of(stage),
        seq_split_idx: 0,
        layer_group_idx: stage.0,
        start_time: event.start.0,
        completion_time: event.end.0,
        recv_peer_stage: None,
        send_peer_stage: None,
        comm_direction: None,
        comm_peer_stage: None,
        comm_pair_id: None,
        rollback: false,
    }
}

/// Writes the lists as JSON, one node a line.
///
/// # Errors
/// When `out` cannot be written.
pub fn print(lists: &NodeLists, schedule: &Schedule, out: &mut dyn Write) -> io::Result<()> {
    let options = serde_json::to_string(&lists.options)?;
    let chunks = schedule.placement().chunks();
    let name = serde_json::to_string(&schedule.name)?;
    writeln!(out, "{{\"format\": \"sail-sg-scheduled-nodes-1\", \"name\": {name}, \"options\": {options},")?;
    writeln!(
        out,
        " \"n_stages\": {}, \"max_chunks\": {}, \"n_micro\": {},\n \"nodes\": [",
        schedule.devices(),
        chunks.unwrap_or(1),
        schedule.microbatches(),
    )?;
    for (device, nodes) in lists.devices.iter().enumerate() {
        writeln!(out, "  [")?;
        for (position, node) in nodes.iter().enumerate() {
            let comma = if position + 1 < nodes.len() { "," } else { "" };
            writeln!(out, "   {}{comma}", serde_json::to_string(node)?)?;
        }
        writeln!(out, "  ]{}", if device + 1 < lists.devices.len() { "," } else { "" })?;
    }
    writeln!(out, " ]}}")
}
