//! The best cut of layers into stages under 1F1B, over all cuts.

/// F and B of every stage, ns.
pub type Layers = Vec<[i64; 2]>;

pub const DEVICES: usize = 8;

pub const LAYERS: i64 = 32;

/// What passes take, F and B in ns.
#[derive(Debug, Clone, Copy)]
pub struct Cost {
    pub layer: [i64; 2],
    /// What the first stage takes beyond its layers: the embedding.
    pub first: [i64; 2],
    /// What the last stage takes beyond its layers: the head.
    pub last: [i64; 2],
    pub microbatches: i64,
}

impl Cost {
    /// F and B of stages with so many layers.
    pub fn stages(&self, layers: &[i64]) -> Layers {
        let of = |stage: usize, kind: usize| {
            let first = if stage == 0 { self.first[kind] } else { 0 };
            let last = if stage + 1 == layers.len() { self.last[kind] } else { 0 };
            layers[stage] * self.layer[kind] + first + last
        };
        (0..layers.len()).map(|stage| [of(stage, 0), of(stage, 1)]).collect()
    }
}

/// The makespan of 1F1B with one stage on each device and no latency, ns.
pub fn one_f_one_b(stages: &Layers, microbatches: i64) -> i64 {
    let (count, microbatches) = (stages.len(), usize::try_from(microbatches).expect("not negative"));
    // When F and B of every microbatch have ended; how many passes of a stage have run, and when the last of them ended.
    let mut ends = vec![[vec![0; microbatches], vec![0; microbatches]]; count];
    let (mut ran, mut free) = (vec![0; count], vec![0; count]);
    let done = |ran: usize, stage: usize, kind: usize, microbatch: usize| {
        let ahead = (count - 1 - stage).min(microbatches);
        // F of a microbatch is at `ahead + 2 (microbatch - ahead)`, and B follows the F of `ahead` microbatches later.
        let at = match kind {
            0 if microbatch < ahead => microbatch,
            0 => ahead + 2 * (microbatch - ahead),
            _ if microbatch + ahead < microbatches => ahead + 2 * microbatch + 1,
            _ => microbatches + microbatch,
        };
        at < ran
    };
    let next = |ran: usize, stage: usize| {
        let ahead = (count - 1 - stage).min(microbatches);
        let last_f = 2 * microbatches - ahead;
        match ran {
            _ if ran < ahead => (0, ran),
            _ if ran >= last_f => (1, ran - microbatches),
            _ if (ran - ahead).is_multiple_of(2) => (0, ahead + (ran - ahead) / 2),
            _ => (1, (ran - ahead) / 2),
        }
    };
    let mut progress = true;
    while progress {
        progress = false;
        for stage in 0..count {
            while ran[stage] < 2 * microbatches {
                let (kind, microbatch) = next(ran[stage], stage);
                let needs = match kind {
                    0 => stage.checked_sub(1).map(|before| (before, 0)),
                    _ if stage + 1 < count => Some((stage + 1, 1)),
                    _ => Some((stage, 0)),
                };
                if needs.is_some_and(|(other, of)| !done(ran[other], other, of, microbatch)) {
                    break;
                }
                let arrived = needs.map_or(0, |(other, of)| ends[other][of][microbatch]);
                free[stage] = arrived.max(free[stage]) + stages[stage][kind];
                ends[stage][kind][microbatch] = free[stage];
                ran[stage] += 1;
                progress = true;
            }
        }
    }
    assert!(ran.iter().all(|&ran| ran == 2 * microbatches), "1F1B has no deadlock");
    free.into_iter().max().unwrap_or(0)
}

/// The best cut, and what it was compared with.
pub struct Best {
    pub layers: Vec<i64>,
    pub makespan: i64,
    /// No schedule with one stage on each device is shorter, whatever the cut and the memory.
    pub no_cut_below: i64,
    /// How many cuts were tried or ruled out.
    pub cuts: u64,
}

struct Search<'a> {
    cost: &'a Cost,
    memory: i64,
    best: Best,
}

/// The cut with the shortest 1F1B of all whose ranks hold no more layers at a time than the memory: rank r of 8 holds
/// 8 - r microbatches. Stages may be empty.
pub fn best_cut(cost: &Cost, memory: i64) -> Best {
    let even = vec![LAYERS / i64::try_from(DEVICES).expect("8"); DEVICES];
    let makespan = one_f_one_b(&cost.stages(&even), cost.microbatches);
    let best = Best { layers: even, makespan, no_cut_below: makespan, cuts: 0 };
    let mut search = Search { cost, memory, best };
    search.extend(&mut Vec::new(), LAYERS);
    let Search { best, .. } = search;
    Best { no_cut_below: best.no_cut_below.min(best.makespan), ..best }
}

impl Search<'_> {
    /// No schedule of a cut that begins so is shorter: a stage has to run all microbatches, after the first has gone down
    /// to it, and before the last one has come back from it.
    fn bound(&self, layers: &[i64]) -> i64 {
        let mut padded = layers.to_vec();
        padded.resize(DEVICES, 0);
        let stages = self.cost.stages(&padded);
        let (mut before, mut bound) = (0, 0);
        for [forward, backward] in &stages[..layers.len()] {
            let work = forward + backward;
            bound = bound.max(before + work * self.cost.microbatches);
            before += work;
        }
        bound
    }

    fn extend(&mut self, layers: &mut Vec<i64>, left: i64) {
        let open = DEVICES - layers.len();
        if !layers.is_empty() && self.bound(layers) >= self.best.makespan {
            self.best.cuts += ways(left, open);
        } else if open == 0 {
            self.best.cuts += 1;
            self.try_cut(layers);
        } else if open == 1 {
            layers.push(left);
            self.extend(layers, 0);
            layers.pop();
        } else {
            // Even cuts first: they are short, and of cuts that are equally short the first one counts.
            let share = i64::try_from(open).expect("few");
            let mut choices: Vec<i64> = (0..=left).collect();
            choices.sort_by_key(|next| (next * share - left).abs());
            for next in choices {
                layers.push(next);
                self.extend(layers, left - next);
                layers.pop();
            }
        }
    }

    fn try_cut(&mut self, layers: &[i64]) {
        self.best.no_cut_below = self.best.no_cut_below.min(self.bound(layers));
        if !self.fits(layers) {
            return;
        }
        let makespan = one_f_one_b(&self.cost.stages(layers), self.cost.microbatches);
        if makespan < self.best.makespan {
            self.best.makespan = makespan;
            self.best.layers = layers.to_vec();
        }
    }

    fn fits(&self, layers: &[i64]) -> bool {
        layers.iter().rev().zip(1..).all(|(layers, held)| layers * held <= self.memory)
    }
}

/// In how many ways so many layers can be cut into so many stages.
fn ways(layers: i64, stages: usize) -> u64 {
    let Some(bars) = stages.checked_sub(1) else { return u64::from(layers == 0) };
    let layers = u64::try_from(layers).expect("not negative");
    (1..=bars as u64).fold(1, |ways, bar| ways * (layers + bar) / bar)
}
