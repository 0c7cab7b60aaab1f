//! From a block to a schedule whose warm-up and cool-down are tight (arXiv 2405.15362, section 3.3 and Appendix A).
//!
//! All of it counts in ticks of unit-time passes. Here i is a device of d, and k the chunks that the block holds.
//!
//! - **Warm-up**, up to the first I of chunk 0: as many forwards as there is room for, `min(i+1, k/2)` of them of chunk 1 and the
//!   rest of chunk 0; those of chunk 1 as late as the devices behind need to send them, one after each of the last `i+1` of
//!   chunk 0. Then I, W and a forward in turn.
//! - **Cool-down**, after the last F of device 0 at time t: the last `(k+1)/2` Is of chunk 0 end the schedule, every second tick
//!   up to `t-i+2d`, and those of chunk 1 before them, `min(i+1, k/2)`, every second tick up to `t+1+i`. Both kinds fit the gaps
//!   of each other. The last k Ws run where neither does.

use crate::kernel::{EndTimes, IndexedOrders, IndexedPass, IndexedProblem, class};
use crate::model::{Device, Kind};

use super::offsets::Starts;

/// A pass of a device without its microbatch: the j-th with a role is that of microbatch j.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    F0,
    F1,
    I1,
    I0,
    W1,
    W0,
}

use Role::{F0, F1, I0, I1, W0, W1};

/// All roles, in the order of [`Starts`].
pub(super) const ROLES: [Role; 6] = [F0, F1, I1, I0, W1, W0];

/// The interval of every block, in ticks.
const INTERVAL: i64 = 6;

/// What each device runs.
pub(super) type Orders = Vec<Vec<Role>>;

impl Role {
    const fn kind(self) -> Kind {
        match self {
            F0 | F1 => Kind::F,
            I0 | I1 => Kind::I,
            W0 | W1 => Kind::W,
        }
    }

    /// Its class on a device of so many.
    fn class(self, device: usize, devices: usize) -> u32 {
        let stage = if matches!(self, F0 | I0 | W0) { device } else { 2 * devices - 1 - device };
        class(Device::at(stage).0, self.kind())
    }
}

/// The copies of a block, one interval apart.
pub(super) fn repeated(starts: &[Starts], microbatches: u32) -> Orders {
    let of_device = |starts: &Starts| {
        let mut timed: Vec<(i64, Role)> = (0..i64::from(microbatches))
            .flat_map(|copy| starts.map(|start| start + copy * INTERVAL).into_iter().zip(ROLES))
            .collect();
        timed.sort_unstable_by_key(|&(start, _)| start);
        timed.into_iter().map(|(_, role)| role).collect()
    };
    starts.iter().map(of_device).collect()
}

/// The orders with microbatches.
pub(super) fn numbered(orders: &Orders) -> IndexedOrders {
    let of_device = |(device, order): (usize, &Vec<Role>)| {
        let mut next = [0; ROLES.len()];
        let pass = |&role: &Role| {
            let microbatch = next[role as usize];
            next[role as usize] += 1;
            IndexedPass { class: role.class(device, orders.len()), microbatch }
        };
        order.iter().map(pass).collect()
    };
    orders.iter().enumerate().map(of_device).collect()
}

/// Whether no order waits for ever.
pub(super) fn runs(unit: &IndexedProblem, orders: &Orders) -> bool {
    unit.asap(&numbered(orders), &mut EndTimes::default())
}

/// The most chunks that a device holds.
fn chunks(orders: &Orders) -> i64 {
    let most = |order: &Vec<Role>| {
        let held = order.iter().scan(0, |held, role| {
            *held += match role.kind() {
                Kind::F => 1,
                Kind::W => -1,
                _ => 0,
            };
            Some(*held)
        });
        held.max().unwrap_or_default()
    };
    orders.iter().map(most).max().unwrap_or_default()
}

/// The schedule of a block that holds so many chunks, with a tight warm-up and a tight cool-down; nothing where that does not
/// run, or holds more. The microbatches are those of `unit`, the passes of the model with one tick each.
pub(super) fn rearranged(unit: &IndexedProblem, starts: &[Starts], chunks: i64) -> Option<IndexedOrders> {
    let microbatches = unit.microbatches() as usize;
    // The rule of the warm-up is for enough microbatches to fill the pipeline. Those that the model lacks are left out afterwards.
    let enough = unit.microbatches().max(Device::at(2 * starts.len()).0);
    let mut orders = repeated(starts, enough);
    for (device, order) in orders.iter_mut().enumerate() {
        warm_up(order, device, starts.len(), room(chunks))?;
        keep(order, microbatches);
    }
    let held = self::chunks(&orders);
    let cooled = cool_down(unit, &orders, room(held))?;
    let filled = fill(unit, &cooled, room(held))?;
    (held <= chunks && self::chunks(&filled) <= held && runs(unit, &filled)).then(|| numbered(&filled))
}

fn room(chunks: i64) -> usize {
    usize::try_from(chunks).expect("a block holds something")
}

/// Leaves out the passes of microbatches beyond so many.
fn keep(order: &mut Vec<Role>, microbatches: usize) {
    let mut seen = [0; ROLES.len()];
    order.retain(|&role| {
        seen[role as usize] += 1;
        seen[role as usize] <= microbatches
    });
}

/// Rewrites what a device runs before its first I of chunk 0. Nothing where a W of chunk 0 comes before it.
fn warm_up(order: &mut Vec<Role>, device: usize, devices: usize, room: usize) -> Option<()> {
    let end = order.iter().position(|&role| role == I0)?;
    let mut left = [0; ROLES.len()];
    for &role in &order[..end] {
        left[role as usize] += 1;
    }
    if left[W0 as usize] > 0 {
        return None;
    }
    let mut begun = Vec::with_capacity(end);
    let mut run = |role: Role| {
        let is_left = left[role as usize] > 0;
        if is_left {
            left[role as usize] -= 1;
            begun.push(role);
        }
        is_left
    };
    // While the first microbatch is on its way, forwards of both chunks fill the room.
    let late = (device + 1).min(room / 2);
    let early = room - late;
    let alone = early.min(2 * (devices - 1 - device));
    for _ in 0..alone {
        run(F0);
    }
    for turn in 0..=device {
        if alone + turn < early {
            run(F0);
        }
        if turn < late {
            run(F1);
        }
    }
    // Then a W makes room for each.
    while [run(I1), run(W1), run(F1) || run(F0)].contains(&true) {}
    order.splice(..end, begun);
    Some(())
}

/// Rewrites the end of what each device runs. Nothing where the passes do not fit each other's gaps.
fn cool_down(unit: &IndexedProblem, orders: &Orders, room: usize) -> Option<Orders> {
    let devices = orders.len();
    let mut all = squeezed(unit, orders)?;
    let turn = all.first()?.0.iter().rposition(|slot| *slot == Some(F1))?;
    let up = room.div_ceil(2).min(unit.microbatches() as usize);
    for (device, slots) in all.iter_mut().enumerate() {
        slots.cool_down(device, devices, turn, [(device + 1).min(room - up), up], room)?;
    }
    Some(ordered(all))
}

/// The orders with each pass as early as it can be; nothing where they wait for ever.
fn squeezed(unit: &IndexedProblem, orders: &Orders) -> Option<Vec<Slots>> {
    let mut times = EndTimes::default();
    let numbered = numbered(orders);
    if !unit.asap(&numbered, &mut times) {
        return None;
    }
    let of_device = |(order, passes): (&Vec<Role>, &Vec<IndexedPass>)| {
        let mut slots = Slots::default();
        for (&role, &pass) in order.iter().zip(passes) {
            let end = times.ends[unit.class_of(pass).cell(pass.microbatch)];
            slots.put(usize::try_from(end - 1).ok()?, role)?;
        }
        Some(slots)
    };
    orders.iter().zip(&numbered).map(of_device).collect()
}

fn ordered(all: Vec<Slots>) -> Orders {
    all.into_iter().map(|slots| slots.0.into_iter().flatten().collect()).collect()
}

/// Fills idle ticks from left to right, each with the first later pass of its device that can run there while all others stay
/// where they are, and that leaves no more than so many chunks.
fn fill(unit: &IndexedProblem, orders: &Orders, room: usize) -> Option<Orders> {
    let mut all = squeezed(unit, orders)?;
    let ticks = all.iter().map(|slots| slots.0.len()).max().unwrap_or_default();
    let mut past = Past { ran: vec![Default::default(); all.len()], held: vec![0; all.len()] };
    for now in 0..ticks {
        for (device, slots) in all.iter_mut().enumerate() {
            if slots.0.get(now) == Some(&None)
                && let Some(later) = past.earlier(device, &slots.0[now..], now, room)
            {
                slots.0.swap(now, now + later);
            }
            if let Some(&Some(role)) = slots.0.get(now) {
                past.run(device, role, now);
            }
        }
    }
    Some(ordered(all))
}

/// What has run so far.
struct Past {
    /// By device and role, the ticks in which its passes have run.
    ran: Vec<[Vec<usize>; ROLES.len()]>,
    /// The chunks that each device holds.
    held: Vec<usize>,
}

impl Past {
    fn run(&mut self, device: usize, role: Role, now: usize) {
        self.ran[device][role as usize].push(now);
        match role.kind() {
            Kind::F => self.held[device] += 1,
            Kind::W => self.held[device] -= 1,
            _ => {}
        }
    }

    /// The place of the first later pass that can run now; `slots` are those of the device from now on.
    fn earlier(&self, device: usize, slots: &[Option<Role>], now: usize, room: usize) -> Option<usize> {
        let mut seen = [false; ROLES.len()];
        let (mut held, mut most) = (self.held[device], self.held[device]);
        for (later, &slot) in slots.iter().enumerate() {
            let Some(role) = slot else { continue };
            let before = most;
            match role.kind() {
                Kind::F => held += 1,
                Kind::W => held -= 1,
                _ => {}
            }
            most = most.max(held);
            if std::mem::replace(&mut seen[role as usize], true) {
                continue;
            }
            let fits = role.kind() != Kind::F || before < room;
            if fits && self.can_run(device, role, now) {
                return Some(later);
            }
            if seen == [true; ROLES.len()] {
                break;
            }
        }
        None
    }

    /// Whether what the next pass of a role needs has run before now.
    fn can_run(&self, device: usize, role: Role, now: usize) -> bool {
        let last = self.ran.len() - 1;
        let (from, needed) = match role {
            F0 if device == 0 => return true,
            F0 | I1 if device > 0 => (device - 1, role),
            F1 | I0 if device < last => (device + 1, role),
            F1 => (device, F0),
            F0 | I1 => (device, F1),
            I0 | W1 => (device, I1),
            W0 => (device, I0),
        };
        let next = self.ran[device][role as usize].len();
        self.ran[from][needed as usize].get(next).is_some_and(|&at| at < now)
    }
}

/// What a device runs, tick by tick.
#[derive(Default)]
struct Slots(Vec<Option<Role>>);

impl Slots {
    /// Takes a free tick.
    fn put(&mut self, at: usize, role: Role) -> Option<()> {
        if self.0.len() <= at {
            self.0.resize(at + 1, None);
        }
        let slot = &mut self.0[at];
        slot.is_none().then(|| *slot = Some(role))
    }

    /// Takes out the last passes of a role, so many at most; says how many there were.
    fn take_last(&mut self, role: Role, most: usize) -> usize {
        let mut taken = 0;
        for slot in self.0.iter_mut().rev().filter(|slot| **slot == Some(role)).take(most) {
            *slot = None;
            taken += 1;
        }
        taken
    }

    /// Rewrites the end. `last` says how many Is of chunk 1 and of chunk 0 are moved at most.
    fn cool_down(
        &mut self,
        device: usize,
        devices: usize,
        turn: usize,
        last: [usize; 2],
        room: usize,
    ) -> Option<()> {
        let down = self.take_last(I1, last[0]);
        let up = self.take_last(I0, last[1]);
        // The last Ws, in any order, but those of the Is that are moved in any case.
        let (mut of_down, mut of_up) = (0, 0);
        for slot in self.0.iter_mut().rev() {
            if of_down >= down && of_up >= up && of_down + of_up >= room {
                break;
            }
            match slot {
                Some(W1) => of_down += 1,
                Some(W0) => of_up += 1,
                _ => continue,
            }
            *slot = None;
        }
        for before in 0..up {
            self.put((turn + 2 * devices).checked_sub(device + 2 * before)?, I0)?;
        }
        for before in 0..down {
            self.put((turn + 1 + device).checked_sub(2 * before)?, I1)?;
        }
        self.fill_with_weights();
        Some(())
    }

    /// Puts Ws that are missing into the gaps after the last one there is, and at the end.
    fn fill_with_weights(&mut self) {
        let begin = self.0.iter().rposition(|slot| matches!(slot, Some(W0 | W1))).map_or(0, |last| last + 1);
        let (mut of_down, mut of_up) = (0_i64, 0_i64);
        for (at, slot) in self.0.iter_mut().enumerate() {
            match slot {
                Some(I1) => of_down += 1,
                Some(I0) => of_up += 1,
                Some(W1) => of_down -= 1,
                Some(W0) => of_up -= 1,
                None if at >= begin && of_down > 0 => {
                    *slot = Some(W1);
                    of_down -= 1;
                }
                None if at >= begin && of_up > 0 => {
                    *slot = Some(W0);
                    of_up -= 1;
                }
                Some(F0 | F1) | None => {}
            }
        }
        let ends = [(W1, of_down), (W0, of_up)];
        self.0.extend(ends.into_iter().flat_map(|(role, count)| (0..count).map(move |_| Some(role))));
    }
}
