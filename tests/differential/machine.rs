//! What complete orders amount to where messages keep links busy, steps end and messages have buffers.

use std::collections::BTreeMap;

/// What a pass needs, and over which boundary.
pub type Needs = [Option<(usize, Option<usize>)>; 2];

/// The machine beside the devices.
pub struct Machine {
    /// Of each boundary: what a message keeps its link busy for, zero on one device; and its buffer.
    pub occupancy: Vec<i64>,
    pub receive: Vec<i64>,
    node: Vec<i64>,
    reduce: Vec<i64>,
    optimizer: Vec<i64>,
    /// Of each device: all its optimiser steps.
    pub after: Vec<i64>,
    pub has_links: bool,
    has_step: bool,
}

/// Complete orders that run, as passes, of which two may be a pair.
pub struct Leaf<'a> {
    pub orders: &'a [Vec<usize>],
    pub partner: &'a [Option<usize>],
    /// Of a pass in a pair: how long the pair takes.
    pub length: &'a [i64],
    pub needs: &'a [Needs],
    pub device: &'a [usize],
    pub latency: &'a [i64],
    pub microbatches: usize,
}

/// (later, earlier, ticks between their starts at the least).
type Wait = (usize, usize, i64);

impl Leaf<'_> {
    fn stage(&self, pass: usize) -> usize {
        pass / 4 / self.microbatches
    }

    fn device(&self, pass: usize) -> usize {
        self.device[self.stage(pass)]
    }

    /// All messages between devices: the pass that makes it, the boundary, and the pass that needs it.
    fn messages(&self) -> impl Iterator<Item = (usize, usize, usize)> {
        self.orders.iter().flatten().flat_map(move |&later| {
            self.needs[later].into_iter().flatten().filter_map(move |(earlier, boundary)| {
                boundary.filter(|_| self.device(earlier) != self.device(later)).map(|boundary| (earlier, boundary, later))
            })
        })
    }
}

/// The least times that respect all waits, which there are.
fn least(count: usize, waits: &[Wait]) -> Option<Vec<i64>> {
    let mut begin = vec![0; count];
    for _ in 0..=count {
        let mut changed = false;
        for &(later, earlier, ticks) in waits {
            if begin[earlier] + ticks > begin[later] {
                begin[later] = begin[earlier] + ticks;
                changed = true;
            }
        }
        if !changed {
            return Some(begin);
        }
    }
    None
}

impl Machine {
    pub fn new(
        device: &[usize],
        devices: usize,
        occupancy: Vec<i64>,
        node: Vec<i64>,
        reduce: Vec<i64>,
        optimizer: Vec<i64>,
        receive: Vec<i64>,
    ) -> Self {
        let mut after = vec![0; devices];
        for (stage, &ticks) in optimizer.iter().enumerate() {
            after[device[stage]] += ticks;
        }
        let has_links = occupancy.iter().any(|&ticks| ticks > 0);
        let has_step = reduce.iter().chain(&optimizer).any(|&ticks| ticks > 0);
        Self { occupancy, receive, node, reduce, optimizer, after, has_links, has_step }
    }

    /// The makespan or the device span.
    pub fn value(&self, leaf: &Leaf<'_>, span: bool) -> i64 {
        let passes = leaf.needs.len();
        let count = 2 * passes + 2 * leaf.device.len();
        let mut alone: Vec<Wait> = Vec::new();
        for order in leaf.orders {
            for two in order.windows(2) {
                if leaf.partner[two[0]] == Some(two[1]) {
                    alone.extend([(two[1], two[0], 0), (two[0], two[1], 0)]);
                } else {
                    alone.push((two[1], two[0], leaf.length[two[0]]));
                }
            }
            for &later in order {
                for (earlier, _) in leaf.needs[later].into_iter().flatten() {
                    alone.push((later, earlier, leaf.length[earlier]));
                }
            }
        }
        let (mut waits, mut lasts) = (alone.clone(), Vec::new());
        for (earlier, boundary, later) in leaf.messages() {
            let arrives = self.occupancy[boundary] + leaf.latency[boundary];
            alone.push((later, earlier, leaf.length[earlier] + arrives));
            // A message that occupies nothing uses no link.
            if self.occupancy[boundary] == 0 {
                waits.push((later, earlier, leaf.length[earlier] + arrives));
            } else {
                waits.push((passes + earlier, earlier, leaf.length[earlier]));
                waits.push((later, passes + earlier, arrives));
            }
        }
        if self.has_links {
            let begin = least(count, &alone).expect("they run");
            for messages in self.links(leaf, &begin) {
                waits.extend(messages.windows(2).map(|two| (passes + two[1].0, passes + two[0].0, self.occupancy[two[0].1])));
            }
        }
        for (i, order) in leaf.orders.iter().enumerate() {
            let (first, mut last) = (order[0], (order[order.len() - 1], leaf.length[order[order.len() - 1]]));
            for (before, now) in if self.has_step { self.ends(leaf, i) } else { Vec::new() } {
                let (pass, stage) = now;
                let (reduction, step) = (2 * passes + stage, 2 * passes + leaf.device.len() + stage);
                waits.push((reduction, pass, leaf.length[pass]));
                if let Some(before) = before {
                    waits.push((reduction, 2 * passes + before, self.reduce[before]));
                }
                waits.push((step, reduction, self.reduce[stage]));
                waits.push((step, last.0, last.1));
                last = (step, self.optimizer[stage]);
            }
            lasts.push((first, last.0, last.1));
        }
        let begin = least(count, &waits).expect("they run");
        let makespan = lasts.iter().map(|&(_, last, ticks)| begin[last] + ticks).max().unwrap_or(0);
        if !span {
            return makespan;
        }
        let (mut low, mut high) = (0, makespan);
        while low < high {
            let middle = (low + high) / 2;
            let within = lasts.iter().map(|&(first, last, ticks)| (first, last, ticks - middle));
            let all: Vec<Wait> = waits.iter().copied().chain(within).collect();
            if least(count, &all).is_some() { high = middle } else { low = middle + 1 }
        }
        low
    }

    /// The messages of every link in their order: the pass that makes each, and its boundary.
    fn links(&self, leaf: &Leaf<'_>, begin: &[i64]) -> Vec<Vec<(usize, usize)>> {
        let mut links: BTreeMap<(i64, i64), Vec<([i64; 3], usize, usize)>> = BTreeMap::new();
        for (pass, boundary, later) in leaf.messages().filter(|&(_, boundary, _)| self.occupancy[boundary] > 0) {
            let (from, to) = (leaf.device(pass), leaf.device(later));
            let at = leaf.orders[from].iter().position(|&other| other == pass).expect("it is there") as i64;
            // Of a card the messages go by time, on a link of two devices by the order of the passes.
            let (link, key) = if self.node[from] >= 0 && self.node[from] != self.node[to] {
                ((-1, self.node[from]), [begin[pass] + leaf.length[pass], from as i64, at])
            } else {
                ((from as i64, to as i64), [0, 0, at])
            };
            links.entry(link).or_default().push((key, pass, boundary));
        }
        let sorted = links.into_values().map(|mut messages| {
            messages.sort_unstable();
            messages.into_iter().map(|(_, pass, boundary)| (pass, boundary)).collect()
        });
        sorted.collect()
    }

    /// The stages of a device in the order of their last backwards: the stage before, and that pass with its stage.
    fn ends(&self, leaf: &Leaf<'_>, device: usize) -> Vec<(Option<usize>, (usize, usize))> {
        let order = &leaf.orders[device];
        let mut last: BTreeMap<usize, usize> = BTreeMap::new();
        for (at, &pass) in order.iter().enumerate().filter(|(_, pass)| **pass % 4 >= 2) {
            last.insert(leaf.stage(pass), at);
        }
        let mut stages: Vec<(usize, usize)> = last.into_iter().map(|(stage, at)| (at, stage)).collect();
        stages.sort_unstable();
        let before = [None].into_iter().chain(stages.iter().map(|&(_, stage)| Some(stage)));
        before.zip(&stages).map(|(before, &(at, stage))| (before, (order[at], stage))).collect()
    }

    /// Of each pass that is the first of its pair, or in none: what buffers take while it runs.
    ///
    /// Devices take turns, round after round, each runs its next step if it can, and the receive of what a step sends is
    /// posted at once, behind what the receiver has run.
    pub fn buffers(&self, leaf: &Leaf<'_>) -> Vec<i64> {
        let (mut taken, mut ran, mut at) = (vec![0; leaf.needs.len()], vec![false; leaf.needs.len()], vec![0; leaf.orders.len()]);
        let messages: BTreeMap<usize, (usize, usize)> =
            leaf.messages().map(|(earlier, boundary, later)| (earlier, (boundary, later))).collect();
        let mut moved = true;
        while moved {
            moved = false;
            for (i, order) in leaf.orders.iter().enumerate() {
                let Some(&first) = order.get(at[i]) else { continue };
                let step: Vec<usize> = [first].into_iter().chain(leaf.partner[first]).collect();
                if step.iter().any(|&pass| leaf.needs[pass].into_iter().flatten().any(|(need, _)| !ran[need])) {
                    continue;
                }
                moved = true;
                at[i] += step.len();
                for &pass in &step {
                    ran[pass] = true;
                    if let Some(&(boundary, user)) = messages.get(&pass) {
                        let to = &leaf.orders[leaf.device(user)];
                        let used = to.iter().position(|&other| other == user).expect("it is there");
                        for &during in &to[at[leaf.device(user)]..=used] {
                            taken[during] += self.receive[boundary];
                        }
                    }
                }
            }
        }
        taken
    }
}
