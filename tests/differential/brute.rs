//! The best of all orders of all devices, by trying them: no lemma, nothing of the crate.
//!
//! ```sh
//! rustc --edition 2024 -O tests/differential/brute.rs -o target/brute
//! ```
//!
//! Every line of the input is a problem, in integers: objective (0 makespan, 1 device span), d, S, m; for each stage
//! its device, F, I, W; for each boundary its latency; for each stage activation, retained part, weights, checkpoint
//! (-1: it cannot be recomputed); for each device its capacity (-1: none); for each boundary what a message occupies its
//! link for, for each device its node (-1: none); for each stage its reduction and its optimiser step, its workspaces
//! of F, R, I, W and B, and for each boundary the buffer of a message; how many pairs have a duration, and of each the
//! stage of F, whether it is beside a B (0, 1), the stage of that, and the duration; whether full backward passes are
//! tried (0, 1); a value below which a schedule is asked for (-1: none), and how many choices may be made. The answer is
//! a line too:
//!
//! - `best VALUE CHOICES ORDERS`: no schedule is better than these orders, one per device, `;` between them;
//! - `none CHOICES`: there is no schedule (below the value asked for);
//! - `unfinished CHOICES`.
//!
//! Orders grow pass by pass, or pair by pair where some pair has a duration: any other pair only waits for more, and holds
//! more, than its passes. A device that has no next pass gets one, the lowest such device first, each pass that is
//! left in turn; when all devices have one, those run whose needs have run. So each tuple of orders comes up once.
//! What is left out: orders that deadlock, that exceed a capacity, and those whose beginnings already exclude a
//! better value: the times of all passes, with every need, the orders as far as they are chosen and the rest of each device
//! after them, are a system of differences without solution. There, each message has a link of its own, gradients are
//! reduced in no time and messages need no buffers; machine.rs says of complete orders what they amount to.

mod complete;
mod machine;
mod problem;

use std::io::{self, BufRead as _, Write as _};

use problem::Problem;

const FORWARD: usize = 0;
const RECOMPUTE: usize = 1;
const INPUT: usize = 2;
const WEIGHT: usize = 3;

/// A pass, and whether it is the other sort of it: a forward that is recomputed, a backward that is full.
type Chosen = (usize, bool);

struct Search {
    problem: Problem,
    budget: u64,
    choices: u64,
    best: Option<i64>,
    found: Option<Vec<Vec<usize>>>,
    found_fused: Vec<bool>,
    found_partner: Vec<Option<usize>>,
    /// Of each pass: whether it is in the schedule, how long it takes, whether it is chosen, whether it has run.
    there: Vec<bool>,
    length: Vec<i64>,
    chosen: Vec<bool>,
    ran: Vec<bool>,
    /// The other pass of its pair.
    partner: Vec<Option<usize>>,
    /// Of each stage and microbatch: whether its backward is a full one.
    is_fused: Vec<bool>,
    orders: Vec<Vec<usize>>,
    live: Vec<i64>,
    begin: Vec<i64>,
}

impl Search {
    fn pass(&self, stage: usize, microbatch: usize, kind: usize) -> usize {
        (stage * self.problem.microbatches + microbatch) * 4 + kind
    }

    fn stage(&self, pass: usize) -> usize {
        pass / 4 / self.problem.microbatches
    }

    /// The least latency over a boundary.
    fn hop(&self, boundary: Option<usize>) -> i64 {
        let p = &self.problem;
        boundary.filter(|&low| p.device[low] != p.device[low + 1]).map_or(0, |low| p.latency[low] + p.machine.occupancy[low])
    }

    /// What a pass needs, and over which boundary.
    fn needs(&self, pass: usize) -> [Option<(usize, Option<usize>)>; 2] {
        let m = self.problem.microbatches;
        let (stage, microbatch) = (self.stage(pass), pass / 4 % m);
        let of = |stage, kind| self.pass(stage, microbatch, kind);
        match pass % 4 {
            FORWARD => [(stage > 0).then(|| (of(stage - 1, FORWARD), Some(stage - 1))), None],
            RECOMPUTE => [Some((of(stage, FORWARD), None)), None],
            WEIGHT => [Some((of(stage, INPUT), None)), None],
            _ => {
                let own = if self.there[of(stage, RECOMPUTE)] { RECOMPUTE } else { FORWARD };
                let below = (stage + 1 < self.problem.stages).then(|| (of(stage + 1, INPUT), Some(stage)));
                [Some((of(stage, own), None)), below]
            }
        }
    }

    /// Whether times can be given to all passes with which the value is at most `value`.
    fn is_possible(&mut self, value: i64) -> bool {
        let passes: Vec<usize> = (0..self.there.len()).filter(|&pass| self.there[pass]).collect();
        let mut waits: Vec<(usize, usize, i64)> = Vec::new();
        for &pass in &passes {
            for (need, boundary) in self.needs(pass).into_iter().flatten() {
                waits.push((pass, need, self.length[need] + self.hop(boundary)));
            }
        }
        let mut left = vec![0; self.problem.devices];
        for (device, order) in self.orders.iter().enumerate() {
            // Behind the passes there are the optimiser steps.
            left[device] += self.problem.machine.after[device];
            for pair in order.windows(2) {
                if self.partner[pair[0]] == Some(pair[1]) {
                    waits.extend([(pair[1], pair[0], 0), (pair[0], pair[1], 0)]);
                } else {
                    waits.push((pair[1], pair[0], self.length[pair[0]]));
                }
            }
            for &pass in &passes {
                if !self.chosen[pass] && self.problem.device[self.stage(pass)] == device {
                    left[device] += self.length[pass];
                    if pass % 4 == FORWARD {
                        left[device] -= self.problem.saves[self.stage(pass)];
                    }
                    if let Some(&last) = order.last() {
                        waits.push((pass, last, self.length[last]));
                    }
                }
            }
            if self.problem.span
                && let (Some(&first), Some(&last)) = (order.first(), order.last())
            {
                waits.push((first, last, self.length[last] + left[device] - value));
                for &pass in &passes {
                    if !self.chosen[pass] && self.problem.device[self.stage(pass)] == device {
                        waits.push((first, pass, self.length[pass] + self.problem.machine.after[device] - value));
                    }
                }
            }
        }
        self.begin.fill(0);
        for _ in 0..=passes.len() {
            let mut changed = false;
            for &(later, earlier, ticks) in &waits {
                if self.begin[earlier] + ticks > self.begin[later] {
                    self.begin[later] = self.begin[earlier] + ticks;
                    changed = true;
                }
            }
            if !self.problem.span {
                let late = passes.iter().any(|&pass| {
                    let after = self.problem.machine.after[self.problem.device[self.stage(pass)]];
                    self.begin[pass] + self.length[pass] + after > value
                });
                let crowded = self.orders.iter().zip(&left).any(|(order, left)| {
                    order.last().is_some_and(|&last| self.begin[last] + self.length[last] + left > value)
                });
                if late || crowded {
                    return false;
                }
            }
            if !changed {
                return true;
            }
        }
        false
    }

    /// Tries everything from here on; whether all was tried.
    fn go(&mut self) -> bool {
        // Runs what can run.
        let mut run = Vec::new();
        let waiting = loop {
            let next = |search: &Self, device: usize| {
                search.orders[device].last().copied().filter(|&pass| !search.ran[pass])
            };
            let is_ready = |search: &Self, pass: usize| {
                search.needs(pass).into_iter().flatten().all(|(need, _)| search.ran[need])
            };
            let is_left = |search: &Self, device: usize| {
                (0..search.there.len()).any(|pass| {
                    search.there[pass] && !search.chosen[pass] && search.problem.device[search.stage(pass)] == device
                })
            };
            let free = (0..self.problem.devices).find(|&device| next(self, device).is_none() && is_left(self, device));
            if free.is_some() {
                break free;
            }
            let ready: Vec<usize> = (0..self.problem.devices)
                .filter_map(|device| next(self, device))
                .filter(|&pass| is_ready(self, pass) && self.partner[pass].is_none_or(|other| is_ready(self, other)))
                .flat_map(|pass| self.partner[pass].into_iter().chain([pass]))
                .collect();
            if ready.is_empty() {
                break None;
            }
            for pass in ready {
                self.ran[pass] = true;
                run.push(pass);
            }
        };
        let finished = match waiting {
            Some(device) => self.choose(device),
            None => {
                let is_complete = (0..self.there.len()).all(|pass| !self.there[pass] || self.ran[pass]);
                if is_complete {
                    self.complete();
                }
                true // Or a deadlock.
            }
        };
        for pass in run {
            self.ran[pass] = false;
        }
        finished
    }

    /// Gives a device each pass that is left for it.
    fn choose(&mut self, device: usize) -> bool {
        let mut candidates: Vec<usize> = (0..self.there.len())
            .filter(|&pass| {
                let own = |need: usize| self.problem.device[self.stage(need)] == device && !self.ran[need];
                self.there[pass]
                    && !self.chosen[pass]
                    && self.problem.device[self.stage(pass)] == device
                    // What it needs of its own device can no longer come before it.
                    && !self.needs(pass).into_iter().flatten().any(|(need, _)| own(need))
            })
            .collect();
        // Which comes first decides only how soon a good schedule is found.
        candidates.sort_by_key(|&pass| self.begin[pass]);
        let sorts = |pass: usize| {
            let both = match pass % 4 {
                FORWARD => self.problem.checkpoint[self.stage(pass)] >= 0,
                INPUT => self.problem.fused,
                _ => false,
            };
            [false, true].into_iter().filter(move |&other| !other || both).map(move |other| (pass, other))
        };
        let mut steps: Vec<Vec<Chosen>> = candidates.iter().flat_map(|&pass| sorts(pass)).map(|one| vec![one]).collect();
        let of = |kind| candidates.iter().filter(move |&&pass| pass % 4 == kind).flat_map(|&pass| sorts(pass));
        for forward in of(FORWARD).filter(|_| !self.problem.pairs.is_empty()) {
            for backward in of(INPUT) {
                steps.push(vec![forward, backward]);
                // Which comes first in the pair matters for messages alone.
                if self.problem.machine.has_links {
                    steps.push(vec![backward, forward]);
                }
            }
        }
        steps.iter().all(|step| self.try_step(device, step))
    }

    /// Tries one pass or pair next.
    fn try_step(&mut self, device: usize, step: &[Chosen]) -> bool {
        self.choices += 1;
        if self.choices > self.budget {
            return false;
        }
        let [acquired, released, workspace] = self.amounts(step);
        if self.problem.room[device].is_some_and(|room| self.live[device] + acquired + workspace > room) {
            return true;
        }
        let split_lengths: Vec<i64> = step.iter().map(|&(pass, _)| self.length[pass]).collect();
        self.live[device] += acquired - released;
        for &(pass, other) in step {
            self.orders[device].push(pass);
            self.chosen[pass] = true;
            self.set_sort(pass, other, true);
            if other && pass % 4 == INPUT {
                self.length[pass] += self.problem.time[2][self.stage(pass)];
            }
        }
        if let &[(one, _), (two, _)] = step {
            let [(forward, _), (backward, fused)] = if one % 4 == FORWARD { [step[0], step[1]] } else { [step[1], step[0]] };
            let both = self.length[one] + self.length[two];
            let key = (self.stage(forward), fused, self.stage(backward));
            self.length[one] = self.problem.pairs.get(&key).copied().unwrap_or(both);
            self.length[two] = self.length[one];
            (self.partner[one], self.partner[two]) = (Some(two), Some(one));
        }
        let promising = self.is_possible(self.best.map_or(i64::MAX / 4, |best| best - 1));
        let finished = !promising || self.go();
        for (&(pass, other), length) in step.iter().zip(split_lengths) {
            self.orders[device].pop();
            self.chosen[pass] = false;
            self.set_sort(pass, other, false);
            self.length[pass] = length;
            self.partner[pass] = None;
        }
        self.live[device] -= acquired - released;
        finished
    }

    /// What the other sort of a pass means for other passes.
    fn set_sort(&mut self, pass: usize, other: bool, is_set: bool) {
        if other && pass % 4 == FORWARD {
            self.there[pass + RECOMPUTE] = is_set;
        }
        if other && pass % 4 == INPUT {
            self.there[pass - INPUT + WEIGHT] = !is_set;
            self.is_fused[pass / 4] = is_set;
        }
    }

    fn print(&self, orders: &[Vec<usize>]) -> String {
        let name = |&pass: &usize| {
            let (stage, microbatch) = (self.stage(pass), pass / 4 % self.problem.microbatches);
            let kind = if self.found_fused[pass / 4] && pass % 4 == INPUT { 'B' } else { ['F', 'R', 'I', 'W'][pass % 4] };
            format!("{stage}{kind}{microbatch}")
        };
        let step = |&pass: &usize| match self.found_partner[pass] {
            // A pair is printed where its first pass is.
            Some(other) if orders.iter().any(|order| order.windows(2).any(|two| two == [pass, other])) => {
                format!("({}+{})", name(&pass), name(&other))
            }
            Some(_) => String::new(),
            None => name(&pass),
        };
        let lists: Vec<String> = orders.iter().map(|order| order.iter().map(step).collect::<Vec<_>>().join(" ")).collect();
        lists.join(";")
    }
}

fn answer(line: &str) -> String {
    let (problem, best, budget) = problem::parse(line);
    let passes = problem.stages * problem.microbatches * 4;
    let length = (0..passes).map(|pass| problem.time[[0, 0, 1, 2][pass % 4]][pass / 4 / problem.microbatches]).collect();
    let mut search = Search {
        budget,
        choices: 0,
        best,
        found: None,
        found_fused: Vec::new(),
        found_partner: Vec::new(),
        there: (0..passes).map(|pass| pass % 4 != RECOMPUTE).collect(),
        length,
        chosen: vec![false; passes],
        ran: vec![false; passes],
        partner: vec![None; passes],
        is_fused: vec![false; passes / 4],
        orders: vec![Vec::new(); problem.devices],
        live: vec![0; problem.devices],
        begin: vec![0; passes],
        problem,
    };
    let finished = search.go();
    match (&search.found, search.best) {
        _ if !finished => format!("unfinished {}", search.choices),
        (Some(orders), Some(best)) => format!("best {best} {} {}", search.choices, search.print(orders)),
        _ => format!("none {}", search.choices),
    }
}

fn main() -> io::Result<()> {
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        writeln!(out, "{}", answer(&line?))?;
        out.flush()?;
    }
    Ok(())
}
