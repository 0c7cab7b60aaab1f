//! From passes to sends and receives.

use std::collections::{BTreeMap, BTreeSet};

use crate::comm::{Action, CommunicationPlan, Message, Payload};
use crate::model::{Device, Kind, Pass, Placement, Sharding, Stage};
use crate::schedule::{Place, Schedule, prerequisites};

/// Why a schedule has no plan: its devices wait for each other, or for what is nowhere.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no device can go on: {}", spell_out(.0))]
pub struct Unlowerable(
    /// By device that has not finished: its position in its order, the pass it cannot run, and what that
    /// needs first.
    pub Vec<(Place, Pass, Pass)>,
);

fn spell_out(stuck: &[(Place, Pass, Pass)]) -> String {
    const SHOWN: usize = 8;
    let one = |(at, pass, needs): &(Place, Pass, Pass)| {
        format!("device {} waits at `{pass}` for `{needs}`", at.device)
    };
    let mut shown: Vec<String> = stuck.iter().take(SHOWN).map(one).collect();
    if stuck.len() > SHOWN {
        shown.push(format!("and {} more", stuck.len() - SHOWN));
    }
    shown.join("; ")
}

/// The plan of a schedule.
///
/// Device after device takes one step in turn, as long as any can. Right after a pass whose output goes to
/// another device, its send is appended to the row of its own device and its receive to that of the other.
/// So the actions are appended in one order that keeps the order of every row, in which a receive follows its send at
/// once and everything that an action waits for comes before it. That order is a run of the plan even if every send and
/// receive holds up its device until both ends are there: no plan made here can deadlock, under any of
/// [`Semantics`](crate::comm::Semantics), nor can two messages between the same devices be swapped.
///
/// An activation's send is waited for after the backward of its stage and microbatch, before which its
/// receiver has used it; every other send at the end. Gradients are reduced after the last weight gradient
/// of their stage. The weights of up to three stages of a device are gathered, those that it uses next, as
/// [`Schedule::gatherings`] says.
///
/// # Errors
/// When the schedule cannot run to its end. One that replay finds valid always can.
pub fn lower(schedule: &Schedule) -> Result<CommunicationPlan, Unlowerable> {
    lower_gathering(schedule, Sharding::STAGES)
}

/// As [`lower`], where the weights of so many stages of a device may be gathered at a time.
///
/// # Errors
/// As for [`lower`].
pub fn lower_gathering(schedule: &Schedule, stages: u32) -> Result<CommunicationPlan, Unlowerable> {
    let rows: Vec<Vec<Action>> = Device::all(schedule.devices())
        .map(|device| with_reductions(&with_weights(schedule, device, stages)))
        .collect();
    let rows = with_messages(schedule, &rows)?;
    let rows = rows.iter().map(|row| with_waits(row)).collect();
    Ok(CommunicationPlan::new(schedule.placement().clone(), schedule.microbatches(), rows)
        .expect("its passes are those of a schedule"))
}

/// The steps of a device, each with the weights of its stages gathered before it, by the rule of
/// [gatherings](Schedule::gatherings).
fn with_weights(schedule: &Schedule, device: Device, stages: u32) -> Vec<Action> {
    let gatherings = schedule.gatherings(device, stages);
    let mut let_go: BTreeMap<usize, Vec<Stage>> = BTreeMap::new();
    for gathering in &gatherings {
        let_go.entry(gathering.until).or_default().push(gathering.stage);
    }
    let mut gathers = gatherings.iter().peekable();
    let mut row = Vec::new();
    let mut position = 0;
    for step in schedule.steps(device) {
        row.extend(let_go.remove(&position).into_iter().flatten().map(Action::Reshard));
        while let Some(gathering) = gathers.next_if(|gathering| gathering.posted == position) {
            row.push(Action::Unshard(gathering.stage));
        }
        row.push(match *step {
            [first, second] => Action::Overlap([first, second]),
            _ => Action::Run(step[0]),
        });
        position += step.len();
    }
    row.extend(let_go.into_values().flatten().map(Action::Reshard));
    row
}

/// A row with each stage's gradients reduced right after their last part.
fn with_reductions(row: &[Action]) -> Vec<Action> {
    let makes_part = |pass: &&Pass| matches!(pass.kind, Kind::W | Kind::B);
    let mut left: BTreeMap<Stage, u32> = BTreeMap::new();
    for pass in row.iter().flat_map(Action::passes).filter(makes_part) {
        *left.entry(pass.stage).or_default() += 1;
    }
    let mut reduced = Vec::with_capacity(row.len());
    for &action in row {
        reduced.push(action);
        for pass in action.passes().iter().filter(makes_part) {
            if let Some(left) = left.get_mut(&pass.stage) {
                *left -= 1;
                if *left == 0 {
                    reduced.push(Action::ReduceGradients(pass.stage));
                    reduced.push(Action::WaitReduce(pass.stage));
                }
            }
        }
    }
    reduced
}

fn with_messages(schedule: &Schedule, rows: &[Vec<Action>]) -> Result<Vec<Vec<Action>>, Unlowerable> {
    let placement = schedule.placement();
    let known: BTreeSet<Pass> = schedule.orders().iter().flatten().copied().collect();
    let mut lowered: Vec<Vec<Action>> = rows.iter().map(|row| Vec::with_capacity(2 * row.len())).collect();
    let mut next = vec![0; rows.len()];
    let mut run: BTreeSet<Pass> = BTreeSet::new();
    // The devices that may be able to go on, in this round and in the next. Who waits is left out until something
    // has run that it may need.
    let mut round: BTreeSet<Device> = Device::all(schedule.devices()).collect();
    let mut later: BTreeSet<Device> = BTreeSet::new();
    while !round.is_empty() {
        while let Some(device) = round.pop_first() {
            let Some(&action) = rows[device.index()].get(next[device.index()]) else { continue };
            let waits = action.passes().iter().any(|&pass| lacks(pass, schedule, &known, &run).is_some());
            if waits {
                continue;
            }
            later.insert(device);
            next[device.index()] += 1;
            lowered[device.index()].push(action);
            for &pass in action.passes() {
                run.insert(pass);
                for other in beside(pass, placement) {
                    if other > device {
                        round.insert(other)
                    } else {
                        later.insert(other)
                    };
                }
                if let Some(message) = sent_by(pass, placement) {
                    lowered[device.index()].push(Action::Send(message));
                    lowered[placement.device_of(message.to()).index()].push(Action::Receive(message));
                }
            }
        }
        round = std::mem::take(&mut later);
    }
    if rows.iter().zip(&next).all(|(row, &next)| next == row.len()) {
        return Ok(lowered);
    }
    Err(stuck(schedule, rows, &next, &known, &run))
}

/// The devices with passes that may need this one.
pub(super) fn beside(pass: Pass, placement: &Placement) -> impl Iterator<Item = Device> {
    let stages = pass.stage.0.saturating_sub(1)..=pass.stage.0.saturating_add(1);
    stages.filter(|&stage| stage < placement.stages()).map(|stage| placement.device_of(Stage(stage)))
}

/// The message that a pass sends to another device, if it sends one.
fn sent_by(pass: Pass, placement: &Placement) -> Option<Message> {
    (pass.stage.0 < placement.stages())
        .then(|| Message::out_of_pass(pass, placement))
        .flatten()
        .filter(|message| message.crosses(placement))
}

/// The first pass that another needs and that has not run.
pub(super) fn lacks(
    pass: Pass,
    schedule: &Schedule,
    known: &BTreeSet<Pass>,
    run: &BTreeSet<Pass>,
) -> Option<Pass> {
    let needs = prerequisites(pass, schedule.placement(), |other| known.contains(&other));
    let mut needs = needs.filter(|needed| !run.contains(needed));
    needs.next()
}

fn stuck(
    schedule: &Schedule,
    rows: &[Vec<Action>],
    next: &[usize],
    known: &BTreeSet<Pass>,
    run: &BTreeSet<Pass>,
) -> Unlowerable {
    let stuck = Device::all(schedule.devices()).filter_map(|device| {
        let row = &rows[device.index()];
        let at = next[device.index()];
        let passes = row.get(at)?.passes();
        let position = row[..at].iter().map(|action| action.passes().len()).sum();
        passes.iter().find_map(|&pass| {
            let needs = lacks(pass, schedule, known, run)?;
            Some((Place { device, position }, pass, needs))
        })
    });
    Unlowerable(stuck.collect())
}

/// A row with a wait for every send.
fn with_waits(row: &[Action]) -> Vec<Action> {
    let mut waited = Vec::with_capacity(row.len());
    // In the order in which they are sent, and those of them that are still to be waited for.
    let mut sent: Vec<Message> = Vec::new();
    let mut pending: BTreeSet<Message> = BTreeSet::new();
    for &action in row {
        waited.push(action);
        if let Action::Send(message) = action {
            sent.push(message);
            pending.insert(message);
        }
        for pass in action.passes().iter().filter(|pass| pass.kind.yields_input_gradient()) {
            let activation =
                Message { payload: Payload::Activation, boundary: pass.stage, microbatch: pass.microbatch };
            if pending.remove(&activation) {
                waited.push(Action::WaitSend(activation));
            }
        }
    }
    waited.extend(sent.into_iter().filter(|message| pending.contains(message)).map(Action::WaitSend));
    waited
}
