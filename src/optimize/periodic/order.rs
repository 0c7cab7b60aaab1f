//! The orders of a block: for every device the cyclic order of its passes, and the copy of each that is
//! there.

use num_integer::Integer;

use crate::block::Block;
use crate::encode::BlockProblem;
use crate::model::Kind;

/// The order of every device.
///
/// A device's order has no beginning and no end. Cut into stretches of as many positions as the
/// device has passes in an interval, every stretch holds one copy of each: pass `p` of repetition `r`
/// stands at position `slot[p] + (r + turn[p]) * passes`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Orders {
    /// By device and slot.
    cyclic: Vec<Vec<usize>>,
    /// By pass.
    slots: Vec<usize>,
    /// By pass.
    turns: Vec<i64>,
}

/// Two passes next to each other: the one at a slot of a device, and the one after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Neighbours {
    pub device: usize,
    pub slot: usize,
}

impl Orders {
    /// One microbatch after the other. No order holds less.
    pub fn serial(problem: &BlockProblem) -> Self {
        let rank = |&pass: &usize| {
            let pass = problem.passes()[pass];
            let stage = i64::from(pass.stage.0);
            let within = match pass.kind {
                Kind::F | Kind::R => (0, stage, 0),
                Kind::I | Kind::B => (1, -stage, 0),
                Kind::W => (1, -stage, 1),
            };
            (pass.microbatch, within)
        };
        let mut cyclic = problem.groups().to_vec();
        let passes = problem.passes().len();
        let mut slots = vec![0; passes];
        for cyclic_order in &mut cyclic {
            cyclic_order.sort_unstable_by_key(rank);
            for (slot, &pass) in cyclic_order.iter().enumerate() {
                slots[pass] = slot;
            }
        }
        Self { cyclic, slots, turns: vec![0; passes] }
    }

    /// The orders of a block, where it has the passes of the problem and none of them starts with
    /// another one of its device.
    pub fn of(problem: &BlockProblem, block: &Block) -> Option<Self> {
        let mut orders = Self::serial(problem);
        let mut rests = vec![0; problem.passes().len()];
        for (pass, &named) in problem.passes().iter().enumerate() {
            let (whole, rest) = block.offset(named)?.0.div_mod_floor(&block.interval_parts().0);
            (orders.turns[pass], rests[pass]) = (whole, rest);
        }
        for cyclic_order in &mut orders.cyclic {
            cyclic_order.sort_unstable_by_key(|&pass| rests[pass]);
            if cyclic_order.windows(2).any(|next| rests[next[0]] == rests[next[1]]) {
                return None;
            }
            for (slot, &pass) in cyclic_order.iter().enumerate() {
                orders.slots[pass] = slot;
            }
        }
        Some(orders)
    }

    /// The same order, of one microbatch per interval, for a problem of more.
    pub fn repeated(&self, one: &BlockProblem, several: &BlockProblem) -> Self {
        let period = i64::from(several.period());
        let (of_copy, passes) = (one.passes().len(), several.passes().len());
        let mut repeated =
            Self { cyclic: several.groups().to_vec(), slots: vec![0; passes], turns: vec![0; passes] };
        for (device, cyclic_order) in self.cyclic.iter().enumerate() {
            for copy in 0..several.period() as usize {
                for (slot, &pass) in cyclic_order.iter().enumerate() {
                    let stretch = i64::try_from(copy).unwrap_or_default() + self.turns[pass];
                    let within = usize::try_from(stretch.rem_euclid(period)).unwrap_or_default();
                    let (pass, slot) = (copy * of_copy + pass, within * cyclic_order.len() + slot);
                    repeated.turns[pass] = stretch.div_euclid(period);
                    repeated.slots[pass] = slot;
                    repeated.cyclic[device][slot] = pass;
                }
            }
        }
        repeated
    }

    /// How many devices there are.
    pub fn devices(&self) -> usize {
        self.cyclic.len()
    }

    /// How many passes a device has in an interval.
    pub fn passes(&self, device: usize) -> usize {
        self.cyclic[device].len()
    }

    /// The slot of a pass on its device.
    pub fn slot(&self, pass: usize) -> usize {
        self.slots[pass]
    }

    /// The two passes of a place, and by how many repetitions the second's number lies ahead there:
    /// `o_second - o_first >= duration of first + repetitions * T`.
    pub fn at(&self, place: Neighbours) -> (usize, usize, i64) {
        let cyclic_order = &self.cyclic[place.device];
        let wraps = place.slot + 1 == cyclic_order.len();
        let (first, second) =
            (cyclic_order[place.slot], cyclic_order[if wraps { 0 } else { place.slot + 1 }]);
        (first, second, self.turns[second] - self.turns[first] - i64::from(wraps))
    }

    /// The passes of a place and the one before them, in their order.
    pub fn around(&self, place: Neighbours) -> [usize; 3] {
        let cyclic_order = &self.cyclic[place.device];
        let slots = cyclic_order.len();
        [slots - 1, 0, 1].map(|step| cyclic_order[(place.slot + step) % slots])
    }

    /// Lets the two passes of a place change their order. Done twice, it changes nothing.
    pub fn swap(&mut self, place: Neighbours) {
        let (first, second, _) = self.at(place);
        let cyclic_order = &mut self.cyclic[place.device];
        let wraps = place.slot + 1 == cyclic_order.len();
        let next = if wraps { 0 } else { place.slot + 1 };
        cyclic_order.swap(place.slot, next);
        (self.slots[first], self.slots[second]) = (next, place.slot);
        self.turns[first] += i64::from(wraps);
        self.turns[second] -= i64::from(wraps);
    }

    /// The shift of every pair of the problem, as the encodings define it.
    pub fn shifts(&self, problem: &BlockProblem) -> Vec<i64> {
        let shift = |&(a, b): &(usize, usize)| {
            self.turns[a] - self.turns[b] + i64::from(self.slots[b] < self.slots[a])
        };
        problem.pairs().iter().map(shift).collect()
    }

    /// The most that a device holds, in units; `held` is by pass what it leaves live.
    pub fn peak(&self, device: usize, held: &[i64]) -> i128 {
        let cyclic_order = &self.cyclic[device];
        // A pass without turns has run once in each stretch before the first slot; another one
        // `turn` times less. What a copy acquires it releases, so only the difference counts.
        let units = |pass: usize| i128::from(held[pass]);
        let mut live: i128 =
            cyclic_order.iter().map(|&pass| -i128::from(self.turns[pass]) * units(pass)).sum();
        let mut peak = live;
        for &pass in cyclic_order {
            live += units(pass);
            peak = peak.max(live);
        }
        peak
    }
}
