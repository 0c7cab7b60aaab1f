//! Running a plan without times: who waits for whom, and whether for ever.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::index::{Index, inputs};
use super::{Action, ActionWait, CommunicationPlan, PlanViolation};
use crate::model::Device;
use crate::schedule::Place;

/// When a message arrives, and when its sender is done with it.
///
/// Each is stricter than the one before it: a plan that ends under one ends under all before it.
///
/// Exhaustive on purpose: whoever runs plans has to know when messages arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Semantics {
    /// A message has left when its send is posted, and arrives when both ends are posted. Small messages that a runtime
    /// copies behave so.
    Buffered,
    /// A message has left and arrives when both ends are posted: nothing is copied. Messages of gloo behave so, and of
    /// NCCL with a communicator for each direction between two devices: the messages of a direction go one after the
    /// other, but both sides post them in the order in which they meet.
    Rendezvous,
    /// As rendezvous, but between each pair of devices the messages of both directions go one after the
    /// other, on each side in the order in which that side posts them. Messages of NCCL with a communicator for each
    /// pair behave so.
    PairStreams,
    /// As rendezvous, but all messages of a device go one after the other, in the order in which it posts them.
    /// Messages of NCCL with one communicator for all devices behave so.
    DeviceStreams,
}

impl Semantics {
    /// All of them, from the most permissive to the strictest.
    pub const ALL: [Self; 4] = [Self::Buffered, Self::Rendezvous, Self::PairStreams, Self::DeviceStreams];

    /// Its name, as `--json` gives it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Buffered => "buffered",
            Self::Rendezvous => "rendezvous",
            Self::PairStreams => "pair-streams",
            Self::DeviceStreams => "device-streams",
        }
    }
}

/// The runtimes that have such messages.
impl fmt::Display for Semantics {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Buffered => "buffered messages",
            Self::Rendezvous => "gloo, or NCCL with a communicator for each direction",
            Self::PairStreams => "NCCL with a communicator for each pair of devices",
            Self::DeviceStreams => "NCCL with one communicator for all devices",
        })
    }
}

/// A cycle of actions of a plan that wait for each other, from the least device on; nothing when no
/// action waits for ever, apart from those whose message has only one end, which [`verify`](super::verify)
/// reports.
#[must_use]
pub fn deadlock(plan: &CommunicationPlan, semantics: Semantics) -> Option<Vec<ActionWait>> {
    run(plan, &Index::new(plan), semantics)
}

pub(super) fn run(plan: &CommunicationPlan, index: &Index, semantics: Semantics) -> Option<Vec<ActionWait>> {
    let mut run = Run::new(plan, index, semantics, None);
    while run.sweep() {}
    run.walk().ok()
}

/// What becomes of a plan in a runtime.
///
/// Exhaustive on purpose: whoever says what becomes of a plan has to say it of every end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// Every device does its whole row. [`verify`](super::verify) says whether the messages are the right ones.
    Ends,
    /// Actions that wait for each other in a cycle.
    Cycle(Vec<ActionWait>),
    /// The first of these actions waits for the second one, and so on, and the last one is an end of a message whose
    /// other end nobody posts.
    Alone(Vec<ActionWait>),
    /// A device comes to an action that it cannot do: one of a pass that runs without its input, say.
    Fails {
        /// The place of the action.
        at: Place,
        /// The action.
        action: Action,
    },
}

/// What becomes of a plan in runtimes with such messages, the passes being in an order that can run.
#[must_use]
pub fn ending(plan: &CommunicationPlan, semantics: Semantics) -> Ending {
    let impossible: BTreeSet<Place> =
        super::verify(plan).iter().filter(|fault| fault.stops()).filter_map(PlanViolation::place).collect();
    let index = Index::new(plan);
    // A pass whose input is never received does not wait for it.
    let inputless = index.passes.iter().filter(|&(&pass, _)| {
        inputs(plan, pass).is_some_and(|message| !index.receives.contains_key(&message))
    });
    let impossible = impossible.into_iter().chain(inputless.map(|(_, &at)| at)).collect();
    let mut run = Run::new(plan, &index, semantics, Some(impossible));
    while run.sweep() {}
    run.ending()
}

/// A row of ends of messages that go one after the other.
#[derive(Default)]
struct Stream {
    ends: Vec<Place>,
    /// How many have gone.
    gone: usize,
}

struct Run<'a> {
    plan: &'a CommunicationPlan,
    index: &'a Index,
    semantics: Semantics,
    /// By device: the position of the action it does next.
    next: Vec<usize>,
    /// By device and, where every pair has its own, peer.
    streams: BTreeMap<(Device, Option<Device>), Stream>,
    /// The stream of every end of a message.
    stream_of: BTreeMap<Place, (Device, Option<Device>)>,
    /// The ends that have gone, where messages go in streams.
    gone: BTreeSet<Place>,
    /// As a runtime does it: devices stop at these actions, and what needs an end of a message whose other end
    /// nobody posts waits for ever. Otherwise it goes on, so that what waits beside it is found.
    impossible: Option<BTreeSet<Place>>,
}

impl<'a> Run<'a> {
    fn new(
        plan: &'a CommunicationPlan,
        index: &'a Index,
        semantics: Semantics,
        impossible: Option<BTreeSet<Place>>,
    ) -> Self {
        let mut run = Self {
            plan,
            index,
            semantics,
            next: vec![0; plan.rows().len()],
            streams: BTreeMap::new(),
            stream_of: BTreeMap::new(),
            gone: BTreeSet::new(),
            impossible,
        };
        if semantics < Semantics::PairStreams {
            return run;
        }
        let mut ends: Vec<(Place, Device)> = Vec::new();
        for (&(from, to), sent) in &index.sent {
            ends.extend(sent.iter().map(|&(_, place)| (place, to)));
            debug_assert!(sent.iter().all(|(_, place)| place.device == from));
        }
        for (&(from, _), received) in &index.received {
            ends.extend(received.iter().map(|&(_, place)| (place, from)));
        }
        ends.sort_unstable();
        for (place, peer) in ends {
            let key = (place.device, (semantics == Semantics::PairStreams).then_some(peer));
            run.streams.entry(key).or_default().ends.push(place);
            run.stream_of.insert(place, key);
        }
        run
    }

    /// Lets every device and every stream go on as far as it can; whether anything happened.
    fn sweep(&mut self) -> bool {
        let mut moved = false;
        for device in Device::all(self.plan.schedule().devices()) {
            while self.next[device.index()] < self.plan.row(device).len()
                && !self.fails(self.stands(device))
                && self.blocked(self.stands(device)).is_none()
            {
                self.next[device.index()] += 1;
                moved = true;
            }
        }
        let keys: Vec<_> = self.streams.keys().copied().collect();
        for key in keys {
            while let Some(end) =
                self.front(key).filter(|&end| self.held_up(end).is_none() && !self.waits_alone(end))
            {
                // Both ends go at once; one without a partner goes by itself.
                for end in [Some(end), self.index.partner.get(&end).copied()].into_iter().flatten() {
                    self.gone.insert(end);
                    if let Some(stream) = self.streams.get_mut(&self.stream_of[&end]) {
                        stream.gone += 1;
                    }
                }
                moved = true;
            }
        }
        moved
    }

    /// The position of a device in its row.
    fn stands(&self, device: Device) -> Place {
        Place { device, position: self.next[device.index()] }
    }

    fn is_done(&self, place: Place) -> bool {
        place.position < self.next[place.device.index()]
    }

    fn fails(&self, at: Place) -> bool {
        self.impossible.as_ref().is_some_and(|impossible| impossible.contains(&at))
    }

    /// Whether an end of a message waits for ever because nobody posts the other one.
    fn waits_alone(&self, end: Place) -> bool {
        self.impossible.is_some() && !self.index.partner.contains_key(&end)
    }

    fn front(&self, key: (Device, Option<Device>)) -> Option<Place> {
        let stream = &self.streams[&key];
        stream.ends.get(stream.gone).copied()
    }

    /// What the next action of a device waits for, if it waits.
    fn blocked(&self, at: Place) -> Option<Place> {
        match self.plan.at(at) {
            action @ (Action::Run(_) | Action::Overlap(_)) => action.passes().iter().find_map(|&pass| {
                let message = inputs(self.plan, pass)?;
                let receive = *self.index.receives.get(&message)?;
                // A pass before its receive does not wait: it fails.
                if receive.device == at.device && receive < at { self.arriving(receive) } else { None }
            }),
            Action::WaitSend(message) if self.semantics != Semantics::Buffered => {
                let send = *self.index.sends.get(&message)?;
                if send.device == at.device && send < at { self.arriving(send) } else { None }
            }
            _ => None,
        }
    }

    /// What the message with this end, which has been posted, still waits for.
    fn arriving(&self, end: Place) -> Option<Place> {
        if self.semantics >= Semantics::PairStreams {
            return (!self.gone.contains(&end)).then_some(end);
        }
        if self.waits_alone(end) {
            return Some(end);
        }
        let partner = *self.index.partner.get(&end)?;
        (!self.is_done(partner)).then_some(partner)
    }

    /// What keeps an end of a message from going: it or its partner is not posted, or is not the first of
    /// its stream.
    fn held_up(&self, end: Place) -> Option<Place> {
        let partner = self.index.partner.get(&end).copied();
        for end in [Some(end), partner].into_iter().flatten() {
            if !self.is_done(end) {
                return Some(end);
            }
        }
        // Without streams, an end waits for nothing but its other one.
        for end in [Some(end), partner].into_iter().flatten().filter(|_| !self.streams.is_empty()) {
            if let Some(first) = self.front(self.stream_of[&end]).filter(|&first| first != end) {
                return Some(first);
            }
        }
        None
    }

    /// With nothing moving any more: what became of the plan.
    fn ending(&self) -> Ending {
        let mut devices = Device::all(self.plan.schedule().devices());
        if let Some(at) = devices.clone().map(|device| self.stands(device)).find(|&at| self.fails(at)) {
            return Ending::Fails { at, action: self.plan.at(at) };
        }
        if devices.all(|device| self.next[device.index()] == self.plan.row(device).len()) {
            return Ending::Ends;
        }
        self.walk().map_or_else(Ending::Alone, Ending::Cycle)
    }

    /// With nothing moving any more: a cycle of waits, or else the waits that lead to one for something that nobody
    /// does; none when all have finished.
    fn walk(&self) -> Result<Vec<ActionWait>, Vec<ActionWait>> {
        let mut waits: Vec<ActionWait> = Vec::new();
        let stuck = Device::all(self.plan.schedule().devices())
            .find(|&device| self.next[device.index()] < self.plan.row(device).len());
        let Some(stuck) = stuck else { return Err(waits) };
        let mut at = self.stands(stuck);
        // Whatever is not done waits for something that is not, so the way comes back to itself.
        loop {
            let posted = self.is_done(at);
            let needs_at = if posted { self.held_up(at) } else { self.blocked(at) };
            let Some(needs_at) = needs_at else { return Err(waits) };
            waits.push(ActionWait { at, action: self.plan.at(at), needs: self.plan.at(needs_at), needs_at });
            // What is not posted yet waits for its device to come there.
            at = if self.is_done(needs_at) { needs_at } else { self.stands(needs_at.device) };
            if let Some(begin) = waits.iter().position(|wait| wait.at == at) {
                waits.drain(..begin);
                let least = (0..waits.len()).min_by_key(|&position| waits[position].at).unwrap_or_default();
                waits.rotate_left(least);
                return Ok(waits);
            }
        }
    }
}
