//! The best of all orders of all devices, by trying them: no lemma, nothing of the crate, one file.
//!
//! ```sh
//! rustc --edition 2024 -O tests/differential/brute.rs -o target/brute
//! ```
//!
//! Every line of the input is a problem, in integers: objective (0 makespan, 1 device span), d, S, m; for each stage
//! its device, F, I, W; for each boundary its latency; for each stage activation, retained part, weights, checkpoint
//! (-1: it cannot be recomputed); for each device its capacity (-1: none); whether full backward passes are tried
//! (0, 1); a value below which a schedule is asked for (-1: none), and how many choices may be made. The answer is
//! a line too:
//!
//! - `best VALUE CHOICES ORDERS`: no schedule is better than these orders, one per device, `;` between them;
//! - `none CHOICES`: there is no schedule (below the value asked for);
//! - `unfinished CHOICES`.
//!
//! Orders grow pass by pass. A device that has no next pass gets one, the lowest such device first, each pass that is
//! left in turn; when all devices have one, those run whose needs have run. So each tuple of orders comes up once.
//! What is left out: orders that deadlock, that exceed a capacity, and those whose beginnings already exclude a
//! better value: the times of all passes, with every need, the orders as far as they are chosen and the rest of each device
//! after them, are a system of differences without solution.

use std::io::{self, BufRead as _, Write as _};

const FORWARD: usize = 0;
const RECOMPUTE: usize = 1;
const INPUT: usize = 2;
const WEIGHT: usize = 3;

struct Problem {
    span: bool,
    devices: usize,
    stages: usize,
    microbatches: usize,
    device: Vec<usize>,
    time: [Vec<i64>; 3],
    latency: Vec<i64>,
    activation: Vec<i64>,
    retained: Vec<i64>,
    checkpoint: Vec<i64>,
    room: Vec<Option<i64>>,
    fused: bool,
}

struct Search {
    problem: Problem,
    budget: u64,
    choices: u64,
    best: Option<i64>,
    found: Option<Vec<Vec<usize>>>,
    found_fused: Vec<bool>,
    /// Of each pass: whether it is in the schedule, how long it takes, whether it is chosen, whether it has run.
    there: Vec<bool>,
    length: Vec<i64>,
    chosen: Vec<bool>,
    ran: Vec<bool>,
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

    fn hop(&self, lower: usize) -> i64 {
        let p = &self.problem;
        if p.device[lower] == p.device[lower + 1] { 0 } else { p.latency[lower] }
    }

    /// What a pass needs, with the latency after it.
    fn needs(&self, pass: usize) -> [Option<(usize, i64)>; 2] {
        let m = self.problem.microbatches;
        let (stage, microbatch) = (self.stage(pass), pass / 4 % m);
        let of = |stage, kind| self.pass(stage, microbatch, kind);
        match pass % 4 {
            FORWARD => [(stage > 0).then(|| (of(stage - 1, FORWARD), self.hop(stage - 1))), None],
            RECOMPUTE => [Some((of(stage, FORWARD), 0)), None],
            WEIGHT => [Some((of(stage, INPUT), 0)), None],
            _ => {
                let own = if self.there[of(stage, RECOMPUTE)] { RECOMPUTE } else { FORWARD };
                let below = (stage + 1 < self.problem.stages).then(|| (of(stage + 1, INPUT), self.hop(stage)));
                [Some((of(stage, own), 0)), below]
            }
        }
    }

    /// Whether times can be given to all passes with which the value is at most `value`.
    fn is_possible(&mut self, value: i64) -> bool {
        let passes: Vec<usize> = (0..self.there.len()).filter(|&pass| self.there[pass]).collect();
        let mut waits: Vec<(usize, usize, i64)> = Vec::new();
        for &pass in &passes {
            for (need, latency) in self.needs(pass).into_iter().flatten() {
                waits.push((pass, need, self.length[need] + latency));
            }
        }
        let mut left = vec![0; self.problem.devices];
        for (device, order) in self.orders.iter().enumerate() {
            for pair in order.windows(2) {
                waits.push((pair[1], pair[0], self.length[pair[0]]));
            }
            for &pass in &passes {
                if !self.chosen[pass] && self.problem.device[self.stage(pass)] == device {
                    left[device] += self.length[pass];
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
                        waits.push((first, pass, self.length[pass] - value));
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
                let late = passes.iter().any(|&pass| self.begin[pass] + self.length[pass] > value);
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

    /// The value of complete orders, of which it is known that it is at most `high`.
    fn value(&mut self, high: i64) -> i64 {
        let (mut low, mut high) = (0, high);
        while low < high {
            let middle = (low + high) / 2;
            if self.is_possible(middle) { high = middle } else { low = middle + 1 }
        }
        low
    }

    /// Tries everything from here on; whether all was tried.
    fn go(&mut self) -> bool {
        // Runs what can run.
        let mut run = Vec::new();
        let waiting = loop {
            let next = |search: &Self, device: usize| {
                search.orders[device].last().copied().filter(|&pass| !search.ran[pass])
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
                .filter(|&pass| self.needs(pass).into_iter().flatten().all(|(need, _)| self.ran[need]))
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
                    let known = self.best.map_or(i64::MAX / 4, |best| best - 1);
                    let high = known.min(self.length.iter().sum::<i64>() + self.problem.latency.iter().sum::<i64>()
                        * 2 * self.problem.microbatches as i64);
                    let value = self.value(high);
                    self.best = Some(value);
                    self.found = Some(self.orders.clone());
                    self.found_fused = self.is_fused.clone();
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
        for pass in candidates {
            let both = match pass % 4 {
                FORWARD => self.problem.checkpoint[self.stage(pass)] >= 0,
                INPUT => self.problem.fused,
                _ => false,
            };
            for other in [false, true] {
                if (!other || both) && !self.try_pass(device, pass, other) {
                    return false;
                }
            }
        }
        true
    }

    /// Tries one pass next. `other`: a forward that is recomputed, a backward that is full.
    fn try_pass(&mut self, device: usize, pass: usize, other: bool) -> bool {
        self.choices += 1;
        if self.choices > self.budget {
            return false;
        }
        let stage = self.stage(pass);
        let p = &self.problem;
        let (whole, retained, kept) = (p.activation[stage], p.retained[stage], p.checkpoint[stage]);
        let (weight, fused_length) = (pass - pass % 4 + WEIGHT, p.time[1][stage] + p.time[2][stage]);
        let (acquired, released) = match pass % 4 {
            FORWARD => (if other { kept } else { whole }, 0),
            RECOMPUTE => (whole - kept, 0),
            INPUT => (0, if other { whole } else { whole - retained }),
            _ => (0, retained),
        };
        if p.room[device].is_some_and(|room| self.live[device] + acquired > room) {
            return true;
        }
        let split_length = self.length[pass];
        self.live[device] += acquired - released;
        self.orders[device].push(pass);
        self.chosen[pass] = true;
        if other && pass % 4 == FORWARD {
            self.there[pass + RECOMPUTE] = true;
        }
        if other && pass % 4 == INPUT {
            self.there[weight] = false;
            self.is_fused[pass / 4] = true;
            self.length[pass] = fused_length;
        }
        let promising = match self.best {
            Some(best) => self.is_possible(best - 1),
            None => self.is_possible(i64::MAX / 4),
        };
        let finished = !promising || self.go();
        if other && pass % 4 == FORWARD {
            self.there[pass + RECOMPUTE] = false;
        }
        if other && pass % 4 == INPUT {
            self.there[weight] = true;
            self.is_fused[pass / 4] = false;
            self.length[pass] = split_length;
        }
        self.chosen[pass] = false;
        self.orders[device].pop();
        self.live[device] -= acquired - released;
        finished
    }

    fn print(&self, orders: &[Vec<usize>]) -> String {
        let name = |&pass: &usize| {
            let (stage, microbatch) = (self.stage(pass), pass / 4 % self.problem.microbatches);
            let kind = if self.found_fused[pass / 4] && pass % 4 == INPUT { 'B' } else { ['F', 'R', 'I', 'W'][pass % 4] };
            format!("{stage}{kind}{microbatch}")
        };
        let lists: Vec<String> = orders.iter().map(|order| order.iter().map(name).collect::<Vec<_>>().join(" ")).collect();
        lists.join(";")
    }
}

fn answer(line: &str) -> String {
    let mut numbers = line.split_whitespace().map(|word| word.parse::<i64>().expect("an integer"));
    let mut next = || numbers.next().expect("another integer");
    let span = next() == 1;
    let [devices, stages, microbatches] = [next() as usize, next() as usize, next() as usize];
    let mut list = |count: usize| (0..count).map(|_| next()).collect::<Vec<i64>>();
    let device: Vec<usize> = list(stages).into_iter().map(|device| device as usize).collect();
    let time = [list(stages), list(stages), list(stages)];
    let latency = list(stages - 1);
    let (activation, retained, weights, checkpoint) = (list(stages), list(stages), list(stages), list(stages));
    let capacity = list(devices);
    let rest = list(3);
    let room = (0..devices).map(|i| {
        let held: i64 = (0..stages).filter(|&stage| device[stage] == i).map(|stage| weights[stage]).sum();
        (capacity[i] >= 0).then(|| capacity[i] - held)
    });
    let room: Vec<Option<i64>> = room.collect();
    let passes = stages * microbatches * 4;
    let length = (0..passes).map(|pass| time[[0, 0, 1, 2][pass % 4]][pass / 4 / microbatches]).collect();
    let problem = Problem {
        span, devices, stages, microbatches, device, time, latency, activation, retained, checkpoint, room,
        fused: rest[0] == 1,
    };
    let mut search = Search {
        budget: rest[2] as u64,
        choices: 0,
        best: (rest[1] >= 0).then_some(rest[1]),
        found: None,
        found_fused: Vec::new(),
        there: (0..passes).map(|pass| pass % 4 != RECOMPUTE).collect(),
        length,
        chosen: vec![false; passes],
        ran: vec![false; passes],
        is_fused: vec![false; stages * microbatches],
        orders: vec![Vec::new(); devices],
        live: vec![0; devices],
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
