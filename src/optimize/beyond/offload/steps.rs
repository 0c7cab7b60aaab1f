//! Walking one device along its order: what goes to the host so that it keeps to its capacity.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::model::{Device, Kind, Model, Pass, Ticks, Units};
use crate::schedule::{Offloaded, Schedule};
use crate::stop::Stop;

/// How a device is walked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rule {
    /// How many activations of room are kept for copies back.
    pub(super) reserve: i64,
    /// Whether that room may delay steps.
    pub(super) may_delay: bool,
}

/// An activation that could be offloaded.
#[derive(Debug, Clone, Copy)]
struct Stay {
    pass: Pass,
    /// The step of its forward.
    forward: usize,
    /// The step of its I or B.
    backward: usize,
    moved: i64,
    to_host: i64,
    from_host: i64,
}

/// One that is: the step from which on it is free, and that from which on it is back.
#[derive(Debug, Clone, Copy)]
pub(super) struct Gone {
    stay: Stay,
    freed: usize,
    fetched: usize,
}

/// The steps of a device.
pub(super) struct Steps {
    /// The position of the first pass of each.
    first: Vec<usize>,
    start: Vec<i64>,
    end: Vec<i64>,
    /// What is held during each, with nothing offloaded.
    held: Vec<i64>,
    stays: Vec<Stay>,
}

impl Steps {
    pub(super) fn new(
        model: &Model,
        bare: &Schedule,
        starts: &[Ticks],
        held: &[Units],
        device: Device,
    ) -> Self {
        let (order, offload) = (bare.order(device), model.offload());
        let mut steps = Self {
            first: Vec::new(),
            start: Vec::new(),
            end: Vec::new(),
            held: Vec::new(),
            stays: Vec::new(),
        };
        let mut step_of = vec![0; order.len()];
        let mut position = 0;
        for (at, step) in bare.steps(device).enumerate() {
            let positions = position..position + step.len();
            step_of[positions.clone()].fill(at);
            steps.first.push(position);
            steps.start.push(starts[position].0);
            steps.end.push(starts[position].0 + model.step_duration(step).0);
            steps.held.push(held[positions].iter().map(|units| units.0).max().unwrap_or_default());
            position += step.len();
        }
        let (mut backwards, mut recomputed) = (BTreeMap::new(), BTreeSet::new());
        for (position, &pass) in order.iter().enumerate() {
            match pass.kind {
                Kind::I | Kind::B => {
                    backwards.insert(pass.with_kind(Kind::F), step_of[position]);
                }
                Kind::R => {
                    recomputed.insert(pass.with_kind(Kind::F));
                }
                Kind::F | Kind::W => {}
            }
        }
        for (position, &pass) in order.iter().enumerate().filter(|(_, pass)| pass.kind == Kind::F) {
            let (Some(offload), Some(&backward)) = (offload, backwards.get(&pass)) else { continue };
            let (forward, stage) = (step_of[position], pass.stage.index());
            let moved = offload.moved[stage].0;
            if moved > 0 && forward + 1 < backward && !recomputed.contains(&pass) {
                let (to_host, from_host) = (offload.to_host[stage].0, offload.from_host[stage].0);
                steps.stays.push(Stay { pass, forward, backward, moved, to_host, from_host });
            }
        }
        steps
    }

    /// How late copies to the host are in all, for the steps that wait for them.
    fn lateness(&self, gone: &[Gone], more: Option<Gone>) -> i64 {
        let mut all: Vec<&Gone> = gone.iter().chain(&more).collect();
        all.sort_unstable_by_key(|gone| gone.stay.forward);
        let (mut free, mut late) = (i64::MIN, 0_i64);
        for gone in all {
            free = free.max(self.end[gone.stay.forward]).saturating_add(gone.stay.to_host);
            late = late.saturating_add((free - self.start[gone.freed]).max(0));
        }
        late
    }

    /// What to offload so that a device keeps to its capacity; nothing where that does not help.
    pub(super) fn chosen(&self, capacity: i64, rule: Rule, stop: &Stop) -> Option<Vec<Gone>> {
        let largest = self.stays.iter().map(|stay| stay.moved).max().unwrap_or_default();
        let narrow = capacity - largest.saturating_mul(rule.reserve);
        let mut held = self.held.clone();
        let mut gone: Vec<Gone> = Vec::new();
        let mut stays: Vec<Stay> = Vec::new();
        let mut begun = 0;
        for step in 0..held.len() {
            while let Some(stay) = self.stays.get(begun).filter(|stay| stay.forward < step) {
                stays.push(*stay);
                begun += 1;
            }
            stays.retain(|stay| stay.backward > step);
            while held[step] > narrow {
                if stop.is_due() {
                    return None;
                }
                let late = self.lateness(&gone, None);
                let cost = |stay: &Stay| {
                    let one = Gone { stay: *stay, freed: step, fetched: stay.backward };
                    let late = self.lateness(&gone, Some(one));
                    let before = self.end[step - 1];
                    let missing = (stay.from_host - (self.start[stay.backward] - before)).max(0);
                    (late.saturating_add(missing), Reverse(stay.backward))
                };
                let best = (0..stays.len()).map(|at| (cost(&stays[at]), at)).min();
                // Room for copies back must not make copies to the host later.
                let is_worth_it = |&((delay, _), _): &((i64, _), _)| rule.may_delay || delay <= late;
                let best = best.filter(|best| held[step] > capacity || is_worth_it(best));
                let Some((_, best)) = best else {
                    if held[step] > capacity {
                        return None;
                    }
                    break;
                };
                let stay = stays.remove(best);
                gone.push(Gone { stay, freed: step, fetched: stay.backward });
                held[step..stay.backward].iter_mut().for_each(|held| *held -= stay.moved);
            }
        }
        self.fetch(&mut gone, &mut held, capacity);
        Some(gone)
    }

    /// Lets copies back start as early as they have to, where memory allows.
    fn fetch(&self, gone: &mut [Gone], held: &mut [i64], capacity: i64) {
        gone.sort_unstable_by_key(|gone| gone.stay.backward);
        let mut next = i64::MAX;
        let mut wanted: Vec<usize> = Vec::with_capacity(gone.len());
        for gone in gone.iter().rev() {
            next = next.min(self.start[gone.stay.backward]).saturating_sub(gone.stay.from_host);
            let before = self.end[..gone.stay.backward].partition_point(|&end| end <= next);
            wanted.push(before.clamp(gone.freed + 1, gone.stay.backward));
        }
        for (gone, wanted) in gone.iter_mut().zip(wanted.into_iter().rev()) {
            let moved = gone.stay.moved;
            while gone.fetched > wanted && held[gone.fetched - 1] + moved <= capacity {
                gone.fetched -= 1;
                held[gone.fetched] += moved;
            }
        }
    }

    pub(super) fn listed(&self, gone: &[Gone]) -> Vec<Offloaded> {
        let one = |gone: &Gone| Offloaded {
            pass: gone.stay.pass,
            freed: self.first[gone.freed],
            fetched: self.first[gone.fetched],
        };
        gone.iter().filter(|gone| gone.freed < gone.fetched).map(one).collect()
    }
}
