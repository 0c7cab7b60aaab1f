//! The orders of a block: for every device its passes in a circle, and which copy of each stands
//! there.

use crate::encode::Problem;
use crate::model::Kind;

/// The order of every device.
///
/// A device's order has no beginning and no end. Cut into intervals of as many positions as the
/// device has passes, every interval holds one copy of each: pass `p` of repetition `r` stands at
/// position `slot[p] + (r + turn[p]) * passes`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Orders {
    /// By device and slot.
    pub circles: Vec<Vec<usize>>,
    /// By pass.
    slot: Vec<usize>,
    /// By pass.
    pub turn: Vec<i64>,
}

/// Two passes next to each other: the one at a slot of a device, and the one after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Neighbours {
    pub device: usize,
    pub slot: usize,
}

impl Orders {
    /// One microbatch after the other. It holds least of all.
    pub fn serial(problem: &Problem) -> Self {
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
        let circles = problem.groups().iter().map(|group| {
            let mut circle = group.clone();
            circle.sort_unstable_by_key(rank);
            circle
        });
        let circles: Vec<Vec<usize>> = circles.collect();
        let mut slot = vec![0; problem.passes().len()];
        for circle in &circles {
            for (at, &pass) in circle.iter().enumerate() {
                slot[pass] = at;
            }
        }
        Self { circles, slot, turn: vec![0; problem.passes().len()] }
    }

    /// The two passes of a place, and by how many repetitions the second is ahead of the first there:
    /// `o_second - o_first >= duration of first + turns * T`.
    pub fn at(&self, place: Neighbours) -> (usize, usize, i64) {
        let circle = &self.circles[place.device];
        let first = circle[place.slot];
        let wraps = place.slot + 1 == circle.len();
        let second = circle[if wraps { 0 } else { place.slot + 1 }];
        (first, second, self.turn[second] - self.turn[first] - i64::from(wraps))
    }

    /// Lets the two passes of a place change their order. Done twice, it changes nothing.
    pub fn swap(&mut self, place: Neighbours) {
        let (first, second, _) = self.at(place);
        let circle = &mut self.circles[place.device];
        let wraps = place.slot + 1 == circle.len();
        let next = if wraps { 0 } else { place.slot + 1 };
        circle.swap(place.slot, next);
        (self.slot[first], self.slot[second]) = (next, place.slot);
        self.turn[first] += i64::from(wraps);
        self.turn[second] -= i64::from(wraps);
    }

    /// The slot of a pass on its device.
    pub fn slot_of(&self, pass: usize) -> usize {
        self.slot[pass]
    }

    /// The shift of every pair of the problem, as `encode` defines them.
    pub fn shifts(&self, problem: &Problem) -> Vec<i64> {
        let shift =
            |&(a, b): &(usize, usize)| self.turn[a] - self.turn[b] + i64::from(self.slot[b] < self.slot[a]);
        problem.pairs().iter().map(shift).collect()
    }

    /// The most that a device holds; `held` is by pass what it leaves live.
    pub fn peak(&self, device: usize, held: &[i64]) -> i64 {
        let circle = &self.circles[device];
        // Before slot 0 there have been `-turn` more repetitions of a pass than of one without turns.
        let mut live: i64 = circle.iter().map(|&pass| -self.turn[pass] * held[pass]).sum();
        let mut peak = live;
        for &pass in circle {
            live += held[pass];
            peak = peak.max(live);
        }
        peak
    }
}
