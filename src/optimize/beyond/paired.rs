//! Orders with a choice of what runs as a pair.

use super::sources::bare;
use crate::model::{Device, Kind, Model, Pass};
use crate::schedule::Schedule;

/// What may become a pair: from a position on, so many passes in a row.
#[derive(Debug, Clone, Copy)]
struct Merge {
    pair: [Pass; 2],
    /// 3 where an I and its W become the B of the pair.
    passes: usize,
}

/// Orders of single passes, and which of them run as pairs.
#[derive(Clone)]
pub(super) struct Paired {
    orders: Vec<Vec<Pass>>,
    /// By device and position: what may become a pair from there on.
    merges: Vec<Vec<Option<Merge>>>,
    /// By device and position: whether it does.
    chosen: Vec<Vec<bool>>,
    like: Schedule,
    /// Whether each R is right before its backward.
    in_backward: bool,
    pub(super) engine: String,
}

impl Paired {
    pub(super) fn of(model: &Model, schedule: &Schedule, engine: &str) -> Self {
        let orders: Vec<Vec<Pass>> = schedule.orders().to_vec();
        let merges = orders
            .iter()
            .map(|order| (0..order.len()).map(|position| merge(model, &order[position..])).collect())
            .collect();
        let chosen = Device::all(schedule.devices())
            .zip(&orders)
            .map(|(device, order)| {
                let mut chosen = vec![false; order.len()];
                schedule.overlaps(device).iter().for_each(|&first| chosen[first] = true);
                chosen
            })
            .collect();
        let in_backward = model.recomputes_in_backward();
        Self { orders, merges, chosen, like: bare(schedule), in_backward, engine: engine.to_owned() }
    }

    /// The steps of a device.
    fn steps(&self, device: usize) -> Vec<Vec<Pass>> {
        let (order, mut position) = (&self.orders[device], 0);
        let mut steps = Vec::with_capacity(order.len());
        while position < order.len() {
            let merge = self.merges[device][position].filter(|_| self.chosen[device][position]);
            steps.push(merge.map_or_else(|| vec![order[position]], |merge| merge.pair.to_vec()));
            position += merge.map_or(1, |merge| merge.passes);
        }
        steps
    }

    pub(super) fn schedule(&self) -> Option<Schedule> {
        let steps = (0..self.orders.len()).map(|device| self.steps(device));
        let schedule = Schedule::of_steps(self.like.placement().clone(), self.like.microbatches(), steps);
        let schedule = schedule.ok()?.with_levels_of(&self.like);
        Some(if self.in_backward { schedule.with_recomputation_in_backward() } else { schedule })
    }

    /// Takes or drops the pair at a position. One that is taken pushes others out that it shares passes with.
    pub(super) fn toggle(&mut self, device: usize, position: usize) {
        let is_taken = !self.chosen[device][position];
        if let Some(merge) = self.merges[device][position].filter(|_| is_taken) {
            for other in position.saturating_sub(MOST_MERGED - 1)
                ..self.orders[device].len().min(position + merge.passes)
            {
                let end = other + self.merges[device][other].map_or(1, |merge| merge.passes);
                self.chosen[device][other] &= end <= position;
            }
        }
        self.chosen[device][position] = is_taken;
    }

    /// The number of devices.
    pub(super) fn devices(&self) -> usize {
        self.orders.len()
    }

    /// The number of passes on all devices.
    pub(super) fn passes(&self) -> usize {
        self.orders.iter().map(Vec::len).sum()
    }

    /// The positions of a device from which on passes may become a pair.
    pub(super) fn candidates(&self, device: usize) -> Vec<usize> {
        let merges = &self.merges[device];
        (0..merges.len()).filter(|&position| merges[position].is_some()).collect()
    }

    /// Whether the same passes are in pairs.
    pub(super) fn chooses_as(&self, other: &Self) -> bool {
        self.chosen == other.chosen
    }

    /// Takes no pair of a device.
    pub(super) fn drop_all(&mut self, device: usize) {
        self.chosen[device].fill(false);
    }

    /// Takes the pairs of a device that come first, as many as there are: those that begin with a forward, or others.
    pub(super) fn take_all(&mut self, device: usize, begins_with_forward: bool) {
        self.chosen[device].fill(false);
        let mut free = 0;
        for position in 0..self.orders[device].len() {
            let Some(merge) = self.merges[device][position].filter(|_| position >= free) else { continue };
            if (merge.pair[0].kind == Kind::F) == begins_with_forward {
                self.chosen[device][position] = true;
                free = position + merge.passes;
            }
        }
    }

    /// Moves passes of a device forward in its order, so many from a position on, to just before another one. What they
    /// come from and what they come to is in no pair then.
    fn pull(&mut self, model: &Model, device: usize, to: usize, from: usize, passes: usize) {
        let near = to.saturating_sub(MOST_MERGED - 1)..from + passes;
        self.chosen[device][near.clone()].fill(false);
        self.orders[device][to..from + passes].rotate_right(passes);
        for position in near {
            self.merges[device][position] = merge(model, &self.orders[device][position..]);
        }
    }

    /// Brings a pass together with the next one that it saves time with, if that is within reach and passes by nothing of
    /// its microbatch, and makes them a pair.
    fn bring_together(&mut self, model: &Model, device: usize, position: usize, reach: usize) {
        let order = &self.orders[device];
        let first = order[position];
        let mut behind = order.iter().enumerate().skip(position + 1).take(reach);
        let Some((from, &second)) = behind.find(|(_, other)| can_pair(model, first, **other)) else { return };
        if order[position + 1..from].iter().any(|between| between.microbatch == second.microbatch) {
            return;
        }
        // Its W comes along where it is right behind it.
        let with_weight = second.kind == Kind::I && order.get(from + 1) == Some(&second.with_kind(Kind::W));
        self.pull(model, device, position + 1, from, 1 + usize::from(with_weight));
        if self.merges[device][position].is_some() && !self.chosen[device][position] {
            self.toggle(device, position);
        }
    }

    /// Brings together whatever saves time within reach, first passes first, where these pairs begin with a forward, or
    /// those where they do not.
    pub(super) fn bring_all_together(&mut self, model: &Model, reach: usize, begins_with_forward: bool) {
        for device in 0..self.orders.len() {
            self.chosen[device].fill(false);
            let mut position = 0;
            while position < self.orders[device].len() {
                if (self.orders[device][position].kind == Kind::F) == begins_with_forward {
                    self.bring_together(model, device, position, reach);
                }
                let merge = self.merges[device][position].filter(|_| self.chosen[device][position]);
                position += merge.map_or(1, |merge| merge.passes);
            }
        }
    }

    /// Changes something at random.
    pub(super) fn shake(&mut self, model: &Model, random: &mut fastrand::Rng) {
        let device = random.usize(..self.orders.len());
        let positions = self.orders[device].len();
        if positions < 2 {
            return;
        }
        let position = random.usize(..positions - 1);
        match (random.u8(..3), self.merges[device][position]) {
            (0, Some(_)) => self.toggle(device, position),
            (1, _) => self.bring_together(model, device, position, REACH),
            _ => {
                let from = random.usize(position + 1..positions.min(position + REACH));
                self.pull(model, device, position, from, 1);
            }
        }
    }
}

/// How far in an order passes are moved at most.
pub(super) const REACH: usize = 8;

/// How many passes a pair takes the place of at most.
const MOST_MERGED: usize = 3;

/// What may become a pair at the beginning of these passes, and saves time.
fn merge(model: &Model, passes: &[Pass]) -> Option<Merge> {
    let fused = |input: Pass, weight: Option<&Pass>| {
        (input.kind == Kind::I && weight == Some(&input.with_kind(Kind::W))).then(|| input.with_kind(Kind::B))
    };
    let (first, second) = (*passes.first()?, *passes.get(1)?);
    let with_three = match (first.kind, second.kind) {
        (Kind::F, Kind::I) => fused(second, passes.get(2)).map(|backward| [first, backward]),
        (Kind::I, Kind::W) => {
            fused(first, Some(&second)).and_then(|backward| Some([backward, *passes.get(2)?]))
        }
        _ => None,
    };
    let three = with_three.map(|pair| Merge { pair, passes: MOST_MERGED });
    let two = Merge { pair: [first, second], passes: 2 };
    three.into_iter().chain([two]).find(|merge| is_worth_it(model, merge.pair))
}

/// Whether two passes make a pair that saves time, if need be with the W of an I.
fn can_pair(model: &Model, one: Pass, other: Pass) -> bool {
    let full = |pass: Pass| if pass.kind == Kind::I { pass.with_kind(Kind::B) } else { pass };
    is_worth_it(model, [one, other]) || is_worth_it(model, [full(one), full(other)])
}

/// Whether two passes make a pair that saves time.
fn is_worth_it(model: &Model, pair: [Pass; 2]) -> bool {
    let (forward, backward) = match pair.map(|pass| pass.kind) {
        [Kind::F, Kind::B | Kind::I] => (pair[0], pair[1]),
        [Kind::B | Kind::I, Kind::F] => (pair[1], pair[0]),
        _ => return false,
    };
    (forward.stage, forward.microbatch) != (backward.stage, backward.microbatch)
        && model.pair_saves(forward.stage, backward.stage, backward.kind).0 > 0
}

/// What found a schedule, with a word on its pairs.
pub(super) fn overlapped(engine: &str, schedule: &Schedule) -> String {
    if schedule.overlap_count() == 0 { engine.to_owned() } else { format!("{engine}{OVERLAPPED}") }
}

/// The same without that word.
pub(super) fn not_overlapped(engine: &str) -> &str {
    engine.strip_suffix(OVERLAPPED).unwrap_or(engine)
}

const OVERLAPPED: &str = ", overlapped";
