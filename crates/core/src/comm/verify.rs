//! The rules of a plan, one function for each.

use std::collections::{BTreeMap, BTreeSet};

use super::flow::{self, Semantics};
use super::index::{Index, inputs};
use super::{Action, CommunicationPlan, Message, Payload, PlanViolation};
use crate::model::{Device, Kind, Microbatch, Pass, Stage};
use crate::schedule::Place;

/// Everything that is wrong with the communication of a plan, by device and position; empty when it is
/// safe with buffered and with rendezvous messages.
///
/// The passes are not checked here: replay of [`CommunicationPlan::schedule`] checks that none is missing, or before
/// one of its own device that it needs.
#[must_use]
pub fn verify(plan: &CommunicationPlan) -> Vec<PlanViolation> {
    let index = Index::new(plan);
    let mut faults = Vec::new();
    every_action_is_possible(plan, &mut faults);
    no_message_is_handled_twice(plan, &mut faults);
    every_message_that_is_needed_is_exchanged(plan, &index, &mut faults);
    every_message_that_is_received_is_sent(plan, &index, &mut faults);
    messages_are_made_before_they_are_sent(plan, &index, &mut faults);
    every_send_is_waited_for(&index, &mut faults);
    messages_are_received_in_the_order_they_are_sent(plan, &index, &mut faults);
    losses_are_kept_in_the_order_of_microbatches(plan, &mut faults);
    gradients_are_reduced_once_when_all_are_there(plan, &index, &mut faults);
    weights_are_there_when_they_are_used(plan, &mut faults);
    // A plan that deadlocks even with buffers would only be reported twice.
    let cycle = [Semantics::Buffered, Semantics::Rendezvous]
        .into_iter()
        .find_map(|semantics| Some((semantics, flow::run(plan, &index, semantics)?)));
    faults.extend(cycle.map(|(semantics, waits)| PlanViolation::Deadlock { semantics, waits }));
    faults.sort_by_key(|fault| {
        (fault.device(), fault.place().map_or(usize::MAX, |place| place.position), fault.rule())
    });
    faults
}

/// Stages exist, are held by the device, and are on two devices where there is a message between them.
fn every_action_is_possible(plan: &CommunicationPlan, faults: &mut Vec<PlanViolation>) {
    let placement = plan.placement();
    for (at, action) in plan.actions() {
        let message = match action {
            Action::Send(message) | Action::Receive(message) | Action::WaitSend(message) => Some(message),
            _ => None,
        };
        if let Some(message) = message.filter(|message| !message.is_between_stages(placement)) {
            let stage = message.from().max(message.to());
            faults.push(PlanViolation::NoNeighbour { at, action, stage });
            continue;
        }
        // Replay reports a pass on the wrong device.
        let elsewhere = action
            .stages()
            .filter(|stage| action.passes().is_empty() && stage.0 < placement.stages())
            .map(|stage| placement.device_of(stage))
            .find(|&belongs| belongs != at.device);
        if let Some(belongs) = elsewhere {
            faults.push(PlanViolation::WrongDevice { at, action, belongs });
        } else if message.is_some_and(|message| !message.crosses(placement)) {
            faults.push(PlanViolation::Needless { at, action });
        }
    }
}

/// Every send, receive, wait and reduction occurs once.
fn no_message_is_handled_twice(plan: &CommunicationPlan, faults: &mut Vec<PlanViolation>) {
    let mut first_at = BTreeMap::new();
    for (at, action) in plan.actions() {
        let once = matches!(
            action,
            Action::Send(_) | Action::Receive(_) | Action::WaitSend(_) | Action::ReduceGradients(_)
        );
        if once {
            let first = *first_at.entry(action).or_insert(at);
            if first != at {
                faults.push(PlanViolation::Twice { at, action, first });
            }
        }
    }
}

/// What a pass needs from another device is sent there and received here, before the pass.
fn every_message_that_is_needed_is_exchanged(
    plan: &CommunicationPlan,
    index: &Index,
    faults: &mut Vec<PlanViolation>,
) {
    let placement = plan.placement();
    for (&pass, &at) in &index.passes {
        let Some(message) = inputs(plan, pass) else { continue };
        if !index.sends.contains_key(&message) {
            let device = placement.device_of(message.from());
            faults.push(PlanViolation::NeverSent { device, message, pass });
        }
        match index.receives.get(&message) {
            None => {
                let device = placement.device_of(message.to());
                faults.push(PlanViolation::NeverReceived { device, message, pass });
            }
            Some(&received_at) if received_at.device == at.device && received_at > at => {
                faults.push(PlanViolation::UsedBeforeReceived { at, pass, message, received_at });
            }
            Some(_) => {}
        }
    }
}

/// What is received between two devices is sent: the index has no other receives. The rule before reports what a pass needs.
fn every_message_that_is_received_is_sent(
    plan: &CommunicationPlan,
    index: &Index,
    faults: &mut Vec<PlanViolation>,
) {
    let needed: BTreeSet<Message> = index.passes.keys().filter_map(|&pass| inputs(plan, pass)).collect();
    for (&message, &at) in &index.receives {
        if !index.sends.contains_key(&message) && !needed.contains(&message) {
            faults.push(PlanViolation::NobodySends { at, message });
        }
    }
}

fn messages_are_made_before_they_are_sent(
    plan: &CommunicationPlan,
    index: &Index,
    faults: &mut Vec<PlanViolation>,
) {
    for (at, action) in plan.actions() {
        let Action::Send(message) = action else { continue };
        let kinds: &[Kind] = match message.payload {
            Payload::Activation => &[Kind::F],
            Payload::Gradient => &[Kind::I, Kind::B],
        };
        let made = kinds.iter().filter_map(|&kind| {
            index.passes.get(&Pass::new(message.from(), kind, message.microbatch)).copied()
        });
        let made_at = made.min();
        if made_at.is_none_or(|made_at| made_at.device == at.device && made_at > at) {
            faults.push(PlanViolation::SentBeforeMade { at, message, made_at });
        }
    }
}

/// Exactly one wait for every send, after it. A second one is reported as such.
fn every_send_is_waited_for(index: &Index, faults: &mut Vec<PlanViolation>) {
    for (&message, &at) in &index.sends {
        if !index.waits.contains_key(&message) {
            faults.push(PlanViolation::NeverWaited { at, message });
        }
    }
    for (&message, &at) in &index.waits {
        let sent_at = index.sends.get(&message).copied();
        if sent_at.is_none_or(|sent_at| sent_at.device == at.device && sent_at > at) {
            faults.push(PlanViolation::WaitedBeforeSent { at, message, sent_at });
        }
    }
}

/// On every directed pair of devices, the k-th message sent is the k-th received. Reports
/// the first message of each pair that is not, with the stages that it and the others make wrong.
fn messages_are_received_in_the_order_they_are_sent(
    plan: &CommunicationPlan,
    index: &Index,
    faults: &mut Vec<PlanViolation>,
) {
    for (route, sent) in &index.sent {
        let received = index.received.get(route).map_or(&[][..], Vec::as_slice);
        let swapped = || sent.iter().zip(received).enumerate().filter(|(_, (sent, taken))| sent.0 != taken.0);
        let Some((number, (&(sent, sent_at), &(received, received_at)))) = swapped().next() else { continue };
        let last_wrong = swapped().map(|(_, (_, taken))| last_wrong(taken.0, plan)).max();
        let last_wrong = last_wrong.unwrap_or(received.to());
        faults.push(PlanViolation::Swapped { number, sent, sent_at, received, received_at, last_wrong });
    }
}

/// A wrong activation makes the loss wrong, and with it every gradient of its microbatch. A wrong gradient
/// makes those of the stage that takes it wrong, and of all before it.
fn last_wrong(received: Message, plan: &CommunicationPlan) -> Stage {
    let depth = plan.placement().depth();
    match received.payload {
        Payload::Activation => Stage((received.to().0 / depth + 1) * depth - 1),
        Payload::Gradient => received.to(),
    }
}

/// The last stage of every pipeline runs its forwards in the order of microbatches. Reports the first one that comes late.
fn losses_are_kept_in_the_order_of_microbatches(plan: &CommunicationPlan, faults: &mut Vec<PlanViolation>) {
    let placement = plan.placement();
    for stage in Stage::all(placement.stages()).filter(|&stage| placement.stage_after(stage).is_none()) {
        let device = placement.device_of(stage);
        let mut latest: Option<(Pass, Place)> = None;
        for (position, action) in plan.row(device).iter().enumerate() {
            let at = Place { device, position };
            let is_forward = |pass: &&Pass| pass.stage == stage && pass.kind == Kind::F;
            let Some(&pass) = action.passes().iter().find(is_forward) else { continue };
            match latest {
                Some((later, later_at)) if pass.microbatch < later.microbatch => {
                    faults.push(PlanViolation::LossesOutOfOrder { at, pass, later, later_at });
                    break;
                }
                _ => latest = Some((pass, at)),
            }
        }
    }
}

/// Every stage's gradients are reduced once, after its last weight gradient; one reduction of a device at a time, and
/// each is waited for. Another rule excludes duplicates.
fn gradients_are_reduced_once_when_all_are_there(
    plan: &CommunicationPlan,
    index: &Index,
    faults: &mut Vec<PlanViolation>,
) {
    let mut last: BTreeMap<Stage, (Place, Pass)> = BTreeMap::new();
    for (&pass, &at) in &index.passes {
        if matches!(pass.kind, Kind::W | Kind::B) {
            let latest = last.entry(pass.stage).or_insert((at, pass));
            *latest = (*latest).max((at, pass));
        }
    }
    let mut reduced = vec![false; plan.placement().stages() as usize];
    let mut pending: Option<(Place, Stage)> = None;
    for (at, action) in plan.actions() {
        if let Some((place, stage)) = pending.filter(|(place, _)| place.device != at.device) {
            faults.push(PlanViolation::ReductionNotWaited { at: place, stage, next: None });
            pending = None;
        }
        match action {
            Action::ReduceGradients(stage) => {
                if let Some(seen) = reduced.get_mut(stage.index()) {
                    *seen = true;
                }
                if let Some((place, waiting)) = pending.replace((at, stage)) {
                    faults.push(PlanViolation::ReductionNotWaited {
                        at: place,
                        stage: waiting,
                        next: Some(stage),
                    });
                }
                if let Some(&(pass_at, pass)) = last.get(&stage)
                    && pass_at.device == at.device
                    && pass_at > at
                {
                    faults.push(PlanViolation::ReducedEarly { at, stage, pass, pass_at });
                }
            }
            Action::WaitReduce(stage) => {
                if pending.is_some_and(|(_, waiting)| waiting == stage) {
                    pending = None;
                } else {
                    faults.push(PlanViolation::NoReduction { at, stage });
                }
            }
            _ => {}
        }
    }
    faults.extend(pending.map(|(at, stage)| PlanViolation::ReductionNotWaited { at, stage, next: None }));
    let placement = plan.placement();
    // With one microbatch and two directions, one pipeline has nothing to reduce.
    let first_ones = || Microbatch::all(plan.schedule().microbatches().min(placement.directions()));
    let is_used = |&stage: &Stage| first_ones().any(|microbatch| placement.leads_through(stage, microbatch));
    for stage in Stage::all(placement.stages()).filter(is_used) {
        if !reduced[stage.index()] {
            faults.push(PlanViolation::NeverReduced { device: placement.device_of(stage), stage });
        }
    }
}

/// In a plan that gathers weights at all, they are gathered whenever a pass of their stage runs, never
/// twice and never for nothing, and let go of in the end.
fn weights_are_there_when_they_are_used(plan: &CommunicationPlan, faults: &mut Vec<PlanViolation>) {
    let gathers = plan.actions().any(|(_, action)| matches!(action, Action::Unshard(_) | Action::Reshard(_)));
    if !gathers {
        return;
    }
    for device in Device::all(plan.schedule().devices()) {
        // Where weights were gathered, and whether a pass has used them since.
        let mut gathered: BTreeMap<Stage, (Place, bool)> = BTreeMap::new();
        for (position, &action) in plan.row(device).iter().enumerate() {
            let at = Place { device, position };
            match action {
                Action::Unshard(stage) => {
                    let again = gathered.insert(stage, (at, false)).is_some();
                    if again {
                        faults.push(PlanViolation::ShardingTwice { at, action });
                    }
                }
                Action::Reshard(stage) => match gathered.remove(&stage) {
                    None => faults.push(PlanViolation::ShardingTwice { at, action }),
                    Some((gathered_at, false)) => {
                        faults.push(PlanViolation::GatheredForNothing { at, stage, gathered_at });
                    }
                    Some((_, true)) => {}
                },
                _ => {}
            }
            for &pass in action.passes() {
                match gathered.get_mut(&pass.stage) {
                    None => faults.push(PlanViolation::Sharded { at, pass }),
                    Some((_, used)) => *used = true,
                }
            }
        }
        let kept = gathered.into_iter();
        faults.extend(kept.map(|(stage, (at, _))| PlanViolation::NeverResharded { at, stage }));
    }
}
