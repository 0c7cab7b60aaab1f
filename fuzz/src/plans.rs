//! The verifier of communication plans against a runtime that carries them out.

use bubbleproof::comm::{self, Action, CommunicationPlan, Message, Payload, Semantics};
use bubbleproof::model::{Device, Kind, Microbatch, Model, Pass, Stage, Ticks};
use bubbleproof::replay::replay;
use bubbleproof::schedule::Schedule;

use super::choices::Choices;
use super::runtime::{self, Failure};
use super::{naive, problems};

/// A plan of a schedule that runs: whatever is made is sent and received at once, in one order over all devices.
fn plan(model: &Model, schedule: &Schedule, starts: &[Vec<Ticks>]) -> CommunicationPlan {
    let placement = schedule.placement();
    let mut waiting: Vec<(Ticks, Pass)> = schedule
        .orders()
        .iter()
        .zip(starts)
        .flat_map(|(order, starts)| starts.iter().copied().zip(order.iter().copied()))
        .collect();
    let mut rows: Vec<Vec<Action>> = vec![Vec::new(); schedule.orders().len()];
    let all: Vec<Pass> = waiting.iter().map(|&(_, pass)| pass).collect();
    let mut next = vec![0; rows.len()];
    // Passes that take no time start with those that they need, so that times alone are no order.
    while !waiting.is_empty() {
        let ready = |&(_, pass): &(Ticks, Pass)| {
            let device = placement.device_of(pass.stage).index();
            schedule.orders()[device].get(next[device]) == Some(&pass)
                && naive::needs(pass, model, &all).all(|need| waiting.iter().all(|&(_, other)| other != need))
        };
        let at = waiting.iter().position(ready).expect("it runs");
        let (_, pass) = waiting.remove(at);
        let device = placement.device_of(pass.stage);
        next[device.index()] += 1;
        rows[device.index()].push(Action::Run(pass));
        let message =
            |payload, boundary| Message { payload, boundary: Stage(boundary), microbatch: pass.microbatch };
        let made = match pass.kind {
            Kind::F if pass.stage.0 + 1 < placement.stages() => message(Payload::Activation, pass.stage.0),
            Kind::I | Kind::B if pass.stage.0 > 0 => message(Payload::Gradient, pass.stage.0 - 1),
            _ => continue,
        };
        let to = placement.device_of(made.to());
        if to != device {
            rows[device.index()].push(Action::Send(made));
            rows[to.index()].push(Action::Receive(made));
        }
    }
    for (row, device) in rows.iter_mut().zip(Device::all(placement.devices())) {
        let sent: Vec<Message> = row
            .iter()
            .filter_map(|action| if let Action::Send(message) = action { Some(*message) } else { None })
            .collect();
        row.extend(sent.into_iter().map(Action::WaitSend));
        for &stage in placement.stages_of(device) {
            row.extend([Action::ReduceGradients(stage), Action::WaitReduce(stage)]);
        }
    }
    CommunicationPlan::new(placement.clone(), schedule.microbatches(), rows)
        .expect("the passes of a schedule")
}

/// The same with the weights of every stage gathered at the begin of its device's row and let go of at the end.
fn sharded(plan: &CommunicationPlan) -> CommunicationPlan {
    let placement = plan.schedule().placement();
    let rows = Device::all(placement.devices()).map(|device| {
        let stages = placement.stages_of(device).iter();
        let begin = stages.clone().map(|&stage| Action::Unshard(stage));
        let end = stages.map(|&stage| Action::Reshard(stage));
        begin.chain(plan.row(device).iter().copied()).chain(end).collect()
    });
    let microbatches = plan.schedule().microbatches();
    CommunicationPlan::new(placement.clone(), microbatches, rows.collect()).expect("the same passes")
}

/// The schedule with microbatches numbered in the order in which the last stage runs their forwards, as PyTorch wants them.
fn numbered(schedule: &Schedule) -> Schedule {
    let last = Stage(schedule.placement().stages() - 1);
    let passes = schedule.orders().iter().flatten();
    let forwards: Vec<Microbatch> = passes
        .filter(|pass| (pass.stage, pass.kind) == (last, Kind::F))
        .map(|pass| pass.microbatch)
        .collect();
    let number = |pass: &Pass| {
        let at = forwards.iter().position(|&microbatch| microbatch == pass.microbatch);
        Pass { microbatch: Microbatch::at(at.expect("every microbatch reaches the last stage")), ..*pass }
    };
    let orders = schedule.orders().iter().map(|order| order.iter().map(number).collect()).collect();
    Schedule::new(schedule.placement().clone(), schedule.microbatches(), orders).expect("the same passes")
}

/// A random plan and the same damaged, where choices make one that the runtime here can carry out: it knows one
/// direction, and stages that recompute nothing.
pub fn pair(input: &[u8]) -> Option<[CommunicationPlan; 2]> {
    let (problem, harm) = input.split_at(input.len() - input.len() / 4);
    let choices = &mut Choices::new(problem);
    let model = problems::model(choices, 16)?;
    let schedule = problems::schedule(&model, choices);
    let recomputes = schedule.orders().iter().flatten().any(|pass| pass.kind == Kind::R);
    if model.placement().directions() > 1 || recomputes {
        return None;
    }
    let schedule = numbered(&schedule);
    let timing = replay(&model, &schedule).timing;
    let mut whole = plan(&model, &schedule, &timing?.starts);
    if choices.below(3) == 1 {
        whole = sharded(&whole);
    }
    Some([damaged(&whole, &mut Choices::new(harm)), whole])
}

/// The plan with actions other than passes dropped, doubled, moved and renamed, as long as there are choices.
fn damaged(plan: &CommunicationPlan, choices: &mut Choices) -> CommunicationPlan {
    let schedule = plan.schedule();
    let mut rows = plan.rows().to_vec();
    while !choices.is_over() {
        let (from, to) = (choices.below(rows.len()), choices.below(rows.len()));
        let candidates: Vec<usize> =
            (0..rows[from].len()).filter(|&at| rows[from][at].passes().is_empty()).collect();
        if candidates.is_empty() {
            continue;
        }
        let at = candidates[choices.below(candidates.len())];
        let action = rows[from][at];
        match choices.below(6) {
            0 => drop(rows[from].remove(at)),
            1 => {
                let place = choices.below(rows[from].len() + 1);
                rows[from].insert(place, action);
            }
            2 => {
                rows[from].remove(at);
                let place = choices.below(rows[from].len() + 1);
                rows[from].insert(place, action);
            }
            3 => {
                rows[from].remove(at);
                let place = choices.below(rows[to].len() + 1);
                rows[to].insert(place, action);
            }
            4 => {
                let other = candidates[choices.below(candidates.len())];
                rows[from].swap(at, other);
            }
            _ => {
                let message = Message {
                    payload: [Payload::Activation, Payload::Gradient][choices.below(2)],
                    boundary: Stage(choices.small(schedule.placement().stages() as usize + 2)),
                    microbatch: Microbatch(choices.small(schedule.microbatches() as usize)),
                };
                rows[from][at] = match action {
                    Action::Send(_) => Action::Send(message),
                    Action::Receive(_) => Action::Receive(message),
                    Action::WaitSend(_) => Action::WaitSend(message),
                    other => other,
                };
            }
        }
    }
    CommunicationPlan::new(schedule.placement().clone(), schedule.microbatches(), rows)
        .expect("the same passes")
}

/// A plan that exchanges everything in one order is accepted, and every plan that is accepted ends with the right
/// gradients wherever it is said to.
pub fn plans(input: &[u8]) {
    let Some([damaged, whole]) = pair(input) else { return };
    assert_eq!(comm::verify(&whole), []);
    for plan in [damaged, whole] {
        let faults = comm::verify(&plan);
        for fault in &faults {
            assert!(!fault.to_string().is_empty());
            if let Some(place) = fault.place() {
                assert!(place.position < plan.row(place.device).len());
            }
        }
        let ends = Semantics::ALL.map(|semantics| comm::deadlock(&plan, semantics).is_none());
        assert!(ends.is_sorted_by(|one, other| one >= other), "each lets less happen than the one before it");
        if !faults.is_empty() {
            continue;
        }
        assert!(ends[0] && ends[1]);
        for (semantics, ends) in Semantics::ALL.into_iter().zip(ends) {
            let expected = if ends { Ok(()) } else { Err(Failure::Hang) };
            assert_eq!(runtime::run(&plan, semantics), expected, "{semantics}");
        }
    }
}
