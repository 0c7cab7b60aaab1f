//! The places of messages between the passes of a device.

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
    for (number, (pass, start)) in as_they_begin(schedule, starts).into_iter().enumerate() {
        while let Some(first) = made.first_entry().filter(|first| first.key().0 <= start) {
            let ((time, _), message) = first.remove_entry();
            post(message, time, sent, schedule, &mut rows);
            sent += 1;
        }
        let end = start + schedule.duration(model, pass);
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
///
/// A pass that ends at that very moment is still running: what it makes is sent after this. What takes no time is
/// never running, since the message could be made from what it makes.
fn post(message: Message, time: Ticks, number: u32, schedule: &Schedule, rows: &mut [Vec<Event>]) {
    let placement = schedule.placement();
    let event = |action| Event { action, start: time, end: time, message: Some(number) };
    rows[placement.device_of(message.from()).index()].push(event(Action::Send(message)));
    let row = &mut rows[placement.device_of(message.to()).index()];
    let running = |last: &Event| last.start < last.end && (last.start..=last.end).contains(&time);
    let at = row.len() - usize::from(row.last().is_some_and(running));
    row.insert(at, event(Action::Receive(message)));
}

/// All passes by their starts. Among those that start together, what another needs comes before it.
fn as_they_begin(schedule: &Schedule, starts: &[Vec<Ticks>]) -> Vec<(Pass, Ticks)> {
    let known: BTreeSet<Pass> = schedule.orders().iter().flatten().copied().collect();
    let mut next = vec![0; starts.len()];
    let mut begun: BTreeSet<Pass> = BTreeSet::new();
    let mut passes = Vec::with_capacity(schedule.len());
    // Devices whose next pass can begin, by its start; and by what it lacks, those whose next pass cannot.
    let mut ready: BTreeSet<(Ticks, Device)> = BTreeSet::new();
    let mut waiting: BTreeMap<Pass, Vec<Device>> = BTreeMap::new();
    let mut to_look_at: Vec<Device> = Device::all(schedule.devices()).collect();
    loop {
        for device in to_look_at.drain(..) {
            let at: usize = next[device.index()];
            let Some(&pass) = schedule.order(device).get(at) else { continue };
            let mut needs = prerequisites(pass, schedule.placement(), |other| known.contains(&other));
            match needs.find(|needed| !begun.contains(needed)) {
                None => _ = ready.insert((starts[device.index()][at], device)),
                Some(lacking) => waiting.entry(lacking).or_default().push(device),
            }
        }
        let Some((start, device)) = ready.pop_first() else { return passes };
        let pass = schedule.order(device)[next[device.index()]];
        next[device.index()] += 1;
        begun.insert(pass);
        passes.push((pass, start));
        to_look_at.push(device);
        to_look_at.extend(waiting.remove(&pass).into_iter().flatten());
    }
}

/// The rows as that runtime posts them without fusing groups: of the messages that it posts together, sends come
/// before receives. It posts what it has gathered before a pass, and once it has what the next pass receives.
pub(super) fn as_posted(
    rows: &[Vec<Event>],
    needed_by: impl Fn(Pass) -> Option<Message>,
) -> Vec<Vec<Action>> {
    let posted = rows.iter().map(|row| {
        let mut actions: Vec<Action> = Vec::with_capacity(row.len());
        let mut group: Vec<Action> = Vec::new();
        // The message that the next pass receives, by position.
        let mut needed = vec![None; row.len()];
        let mut upcoming = None;
        for (position, event) in row.iter().enumerate().rev() {
            if let Action::Run(pass) = event.action {
                upcoming = needed_by(pass);
            }
            needed[position] = upcoming;
        }
        for (position, event) in row.iter().enumerate() {
            let closes = match event.action {
                Action::Run(_) => true,
                Action::Receive(message) => needed[position] == Some(message),
                _ => false,
            };
            let is_pass = matches!(event.action, Action::Run(_));
            if !is_pass {
                group.push(event.action);
            }
            if closes {
                group.sort_by_key(|action| matches!(action, Action::Receive(_)));
                actions.append(&mut group);
            }
            if is_pass {
                actions.push(event.action);
            }
        }
        group.sort_by_key(|action| matches!(action, Action::Receive(_)));
        actions.append(&mut group);
        actions
    });
    posted.collect()
}
