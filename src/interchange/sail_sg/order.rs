//! Where messages stand between the passes of a device.

use std::collections::{BTreeMap, BTreeSet};

use crate::comm::{Action, Message};
use crate::model::{Device, Model, Pass, Ticks};
use crate::schedule::{Schedule, prerequisites};

/// An action of a device and its time: a pass from its start to its end, a message when it is made.
#[derive(Debug, Clone, Copy)]
pub(super) struct Event {
    pub action: Action,
    pub start: Ticks,
    pub end: Ticks,
    /// The number of the message, from 0, the same on both sides.
    pub message: Option<u32>,
}

/// The events of every device in order. The schedule must be valid and without pairs, and these its starts.
pub(super) fn rows(model: &Model, schedule: &Schedule, starts: &[Vec<Ticks>]) -> Vec<Vec<Event>> {
    let placement = schedule.placement();
    let mut rows: Vec<Vec<Event>> = starts.iter().map(|row| Vec::with_capacity(3 * row.len())).collect();
    // By the time at which it is made and the pass that makes it, in the order in which passes begin.
    let mut made: BTreeMap<(Ticks, usize), Message> = BTreeMap::new();
    let mut sent = 0;
    let passes = as_they_begin(schedule, starts);
    for (number, (pass, start)) in passes.into_iter().enumerate() {
        while let Some(first) = made.first_entry().filter(|first| first.key().0 <= start) {
            let ((time, _), message) = first.remove_entry();
            post(message, time, sent, schedule, &mut rows);
            sent += 1;
        }
        let end = start + model.duration(pass.stage, pass.kind);
        let device = placement.device_of(pass.stage);
        rows[device.index()].push(Event { action: Action::Run(pass), start, end, message: None });
        if let Some(message) =
            Message::out_of_pass(pass, placement).filter(|message| message.crosses(placement))
        {
            made.insert((end, number), message);
        }
    }
    for ((time, _), message) in made {
        post(message, time, sent, schedule, &mut rows);
        sent += 1;
    }
    rows
}

/// Appends a message to the rows of both its devices; on the receiving one before a pass that is running.
fn post(message: Message, time: Ticks, number: u32, schedule: &Schedule, rows: &mut [Vec<Event>]) {
    let placement = schedule.placement();
    let event = |action| Event { action, start: time, end: time, message: Some(number) };
    rows[placement.device_of(message.from()).index()].push(event(Action::Send(message)));
    let row = &mut rows[placement.device_of(message.to()).index()];
    let running = row.iter().rposition(|event| event.start < time && time < event.end);
    row.insert(running.unwrap_or(row.len()), event(Action::Receive(message)));
}

/// All passes by their starts. Among those that start together, what another needs comes before it.
fn as_they_begin(schedule: &Schedule, starts: &[Vec<Ticks>]) -> Vec<(Pass, Ticks)> {
    let known: BTreeSet<Pass> = schedule.orders().iter().flatten().copied().collect();
    let mut next = vec![0; starts.len()];
    let mut begun: BTreeSet<Pass> = BTreeSet::new();
    let mut passes = Vec::with_capacity(schedule.len());
    while passes.len() < schedule.len() {
        let ready = Device::all(schedule.devices()).filter_map(|device| {
            let at = next[device.index()];
            let &pass = schedule.order(device).get(at)?;
            let mut needs = prerequisites(pass, schedule.placement(), |other| known.contains(&other));
            needs.all(|needed| begun.contains(&needed)).then(|| (starts[device.index()][at], device, pass))
        });
        let (start, device, pass) = ready.min().expect("in a valid schedule some device can go on");
        next[device.index()] += 1;
        begun.insert(pass);
        passes.push((pass, start));
    }
    passes
}
