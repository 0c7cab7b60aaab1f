//! Complete orders: whether they keep to the capacities, and what they are worth; and what passes hold.

use crate::machine;
use crate::{Chosen, FORWARD, INPUT, RECOMPUTE, Search};

impl Search {
    /// Remembers complete orders that are better than what is known.
    pub fn complete(&mut self) {
        let p = &self.problem;
        let needs: Vec<_> = (0..self.there.len()).map(|pass| self.needs(pass)).collect();
        let leaf = machine::Leaf {
            orders: &self.orders,
            partner: &self.partner,
            length: &self.length,
            needs: &needs,
            device: &p.device,
            latency: &p.latency,
            microbatches: p.microbatches,
        };
        let buffers = p.machine.receive.iter().any(|&amount| amount > 0).then(|| p.machine.buffers(&leaf));
        if buffers.is_some_and(|buffers| !self.fits(&buffers)) {
            return;
        }
        let value = p.machine.value(&leaf, p.span);
        if self.best.is_none_or(|best| value < best) {
            self.best = Some(value);
            self.found = Some(self.orders.clone());
            self.found_partner = self.partner.clone();
            self.found_fused = self.is_fused.clone();
        }
    }

    /// Whether the devices keep to their capacities, with the buffers that there are while each pass runs.
    fn fits(&self, buffers: &[i64]) -> bool {
        self.orders.iter().zip(&self.problem.room).all(|(order, room)| {
            let mut live = 0;
            order.iter().enumerate().all(|(at, &pass)| {
                let second = self.partner[pass].filter(|other| order.get(at + 1) == Some(other));
                if self.partner[pass].is_some() && second.is_none() {
                    return true; // It ran with the one before.
                }
                let step: Vec<Chosen> =
                    [pass].into_iter().chain(second).map(|pass| (pass, self.is_other(pass))).collect();
                let [acquired, released, workspace] = self.amounts(&step);
                let fits = room.is_none_or(|room| live + acquired + workspace + buffers[pass] <= room);
                live += acquired - released;
                fits
            })
        })
    }

    fn is_other(&self, pass: usize) -> bool {
        match pass % 4 {
            FORWARD => self.there[pass + RECOMPUTE],
            INPUT => self.is_fused[pass / 4],
            _ => false,
        }
    }

    /// What a pass or a pair acquires, what it releases, and its workspace.
    pub fn amounts(&self, step: &[Chosen]) -> [i64; 3] {
        let p = &self.problem;
        let mut sums = [0; 3];
        for &(pass, other) in step {
            let stage = self.stage(pass);
            let (whole, retained, kept) = (p.activation[stage], p.retained[stage], p.checkpoint[stage]);
            let [acquired, released] = match pass % 4 {
                FORWARD => [if other { kept } else { whole }, 0],
                RECOMPUTE => [whole - kept, 0],
                INPUT if other => [0, whole],
                INPUT => [(retained - whole).max(0), (whole - retained).max(0)],
                _ => [0, retained],
            };
            let kind = if pass % 4 == INPUT && other { 4 } else { pass % 4 };
            sums[0] += acquired;
            sums[1] += released;
            sums[2] += p.workspace[kind][stage];
        }
        sums
    }
}
