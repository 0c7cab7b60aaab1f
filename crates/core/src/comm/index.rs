//! The place of every action of a plan, and which send meets which receive.

use std::collections::BTreeMap;

use super::{Action, CommunicationPlan, Message};
use crate::model::{Device, Pass};
use crate::schedule::Place;

/// The first place of every pass and of every end of a message, and the order of messages between devices.
#[derive(Default)]
pub(super) struct Index {
    pub(super) passes: BTreeMap<Pass, Place>,
    pub(super) sends: BTreeMap<Message, Place>,
    pub(super) receives: BTreeMap<Message, Place>,
    pub(super) waits: BTreeMap<Message, Place>,
    /// By sending and receiving device: the sends in their order.
    pub(super) sent: BTreeMap<(Device, Device), Vec<(Message, Place)>>,
    /// The receives likewise.
    pub(super) received: BTreeMap<(Device, Device), Vec<(Message, Place)>>,
    /// The receive that takes the message of every send, and the other way round: the first sent is the
    /// first received, whatever their names.
    pub(super) partner: BTreeMap<Place, Place>,
}

impl Index {
    /// Looks at a plan. Messages between stages that do not exist, or on one device, or on devices that
    /// do not hold their stages, are left out: no runtime could post them.
    pub(super) fn new(plan: &CommunicationPlan) -> Self {
        let mut index = Self::default();
        for (place, action) in plan.actions() {
            for &pass in action.passes() {
                index.passes.entry(pass).or_insert(place);
            }
            match action {
                Action::Send(message) => {
                    if let Some(pair) = Self::route(plan, message).filter(|pair| pair.0 == place.device) {
                        index.sends.entry(message).or_insert(place);
                        index.sent.entry(pair).or_default().push((message, place));
                    }
                }
                Action::Receive(message) => {
                    if let Some(pair) = Self::route(plan, message).filter(|pair| pair.1 == place.device) {
                        index.receives.entry(message).or_insert(place);
                        index.received.entry(pair).or_default().push((message, place));
                    }
                }
                Action::WaitSend(message) if Self::route(plan, message).is_some() => {
                    index.waits.entry(message).or_insert(place);
                }
                _ => {}
            }
        }
        for (pair, sent) in &index.sent {
            let received = index.received.get(pair).map_or(&[][..], Vec::as_slice);
            for (&(_, send), &(_, receive)) in sent.iter().zip(received) {
                index.partner.insert(send, receive);
                index.partner.insert(receive, send);
            }
        }
        index
    }

    /// The devices that a message goes from and to, if it goes anywhere.
    fn route(plan: &CommunicationPlan, message: Message) -> Option<(Device, Device)> {
        let placement = plan.placement();
        (message.is_between_stages(placement) && message.crosses(placement))
            .then(|| (placement.device_of(message.from()), placement.device_of(message.to())))
    }
}

/// The message that a known pass waits for, where one is sent at all.
pub(super) fn inputs(plan: &CommunicationPlan, pass: Pass) -> Option<Message> {
    let placement = plan.placement();
    (pass.stage.0 < placement.stages())
        .then(|| Message::into_pass(pass, placement))
        .flatten()
        .filter(|message| message.crosses(placement))
}
