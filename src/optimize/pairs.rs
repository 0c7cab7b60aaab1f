//! Overlapped pairs, where the model says that they take less time than their passes.
//!
//! The searches know passes that run one by one. So schedules are sought twice: for the passes as they are, and for
//! passes as much [shorter](crate::certificate::shortened) as pairs can make them, which gives orders that are good once
//! pairs are made. Named schedules with pairs are the third source. In each schedule forwards and backwards that follow
//! each other become pairs wherever replay says that this helps.

use super::replayed::{ReplayedSchedule, given};
use super::{
    Objective, Optimality, OptimizeError, Options, Progress, STEPS, Solution, lower_bound_until, not_refuted,
    optimize,
};
use crate::catalog;
use crate::certificate::shortened;
use crate::model::{Device, Kind, Model, Overlap, Pass, Ticks};
use crate::schedule::{Provenance, Schedule};
use crate::stop::Stop;

/// [`optimize`] for a model in which pairs save time.
pub(super) fn optimize_with_pairs(
    model: &Model,
    options: &Options,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Solution, OptimizeError> {
    let mut bound = lower_bound_until(model, options.objective, 0, &mut || false);
    let best = bound.value;
    let mut report = |told: &Progress| progress(&Progress { bound: best, ..told.clone() });
    // Half of the time for what can be had without pairs, so that these cost little where they do not help.
    let apart = Options { stop: options.stop.within(options.stop.remaining() / 2), ..options.clone() };
    let apart =
        optimize(&model.with_overlap(Overlap::default()).expect("sums always suit"), &apart, &mut report)?;
    let mut is_cut_short = apart.is_cut_short;
    let mut sources = vec![(apart.schedule.clone(), apart.engine.clone())];
    let shorter = Options {
        stop: options.stop.within(options.stop.remaining() / 2),
        effort: options.effort / 2,
        exact_effort: 0,
        use_all_time: false,
        known: Vec::new(),
        ..options.clone()
    };
    if !options.stop.is_due() {
        let shorter = optimize(&shortened(model), &shorter, &mut report)?;
        is_cut_short |= shorter.is_cut_short;
        sources.push((shorter.schedule, shorter.engine));
    }
    let named = catalog::entries().iter().filter_map(|entry| {
        let schedule = entry.generate_until(model, &options.stop).ok()?;
        (schedule.overlap_count() > 0).then(|| (schedule, entry.name.to_owned()))
    });
    sources.extend(named);
    if !options.stop.is_due() {
        let steps = STEPS.min(options.effort as u64 / super::EFFORT_PER_STEP);
        let stop = options.stop.within(options.stop.remaining() / 4);
        bound = lower_bound_until(model, options.objective, steps, &mut || stop.is_due());
    }
    progress(&Progress {
        step: "overlapped pairs".to_owned(),
        best: Some(apart.value()),
        bound: bound.value,
    });
    // Valid in the model as it is: a schedule without pairs takes as long in both.
    let without =
        ReplayedSchedule::new(model, options.objective, bare(&apart.schedule), apart.engine.clone())?;
    let mut climb = Climb {
        model,
        objective: options.objective,
        bound: bound.value,
        passes_left: options.effort / 4,
        stop: options.stop.clone(),
        best: None,
    };
    let mut found: Vec<(ReplayedSchedule, Option<Paired>)> = Vec::new();
    for (schedule, engine) in sources {
        found.extend(
            climb.improved(Paired::of(model, &schedule, &engine)).map(|(pairs, best)| (best, Some(pairs))),
        );
    }
    found.push((without, None));
    found.extend(given(model, options.objective, &options.known).into_iter().map(|known| (known, None)));
    let (mut best, pairs) =
        found.into_iter().min_by_key(|(found, _)| found.rank()).expect("one without pairs is among them");
    if let Some(pairs) = pairs {
        climb.passes_left = if options.use_all_time { usize::MAX } else { options.effort / 4 };
        best = climb.wandered(pairs, best, options.seed);
    }
    is_cut_short |= options.stop.is_due();
    let ReplayedSchedule { mut schedule, verdict, value, engine } = best;
    not_refuted(value, bound.value, None)?;
    schedule.name = Some("optimized".to_owned());
    schedule.model = Some(model.name().to_owned());
    schedule.provenance = Some(Provenance {
        tool: concat!("bubbleproof ", env!("CARGO_PKG_VERSION")).to_owned(),
        engine: engine.clone(),
        ..Provenance::default()
    });
    let optimality = if value == bound.value { Optimality::Bound } else { Optimality::Open };
    let block = apart.block.filter(|_| schedule.overlap_count() == 0 && engine == apart.engine);
    let objective = options.objective;
    let solution = Solution { schedule, verdict, bound, optimality, block, engine, objective, is_cut_short };
    Ok(solution.certified(model))
}

/// The schedule without what was said of it under another model.
fn bare(schedule: &Schedule) -> Schedule {
    let mut bare = schedule.clone();
    bare.certificate = None;
    bare
}

/// What may become a pair: from a position on, so many passes in a row.
#[derive(Debug, Clone, Copy)]
struct Merge {
    pair: [Pass; 2],
    /// 3 where an I and its W become the B of the pair.
    passes: usize,
}

/// Orders of single passes, and which of them run as pairs.
#[derive(Clone)]
struct Paired {
    orders: Vec<Vec<Pass>>,
    /// By device and position: what may become a pair from there on.
    merges: Vec<Vec<Option<Merge>>>,
    /// By device and position: whether it does.
    chosen: Vec<Vec<bool>>,
    like: Schedule,
    engine: String,
}

impl Paired {
    fn of(model: &Model, schedule: &Schedule, engine: &str) -> Self {
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
        Self { orders, merges, chosen, like: bare(schedule), engine: engine.to_owned() }
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

    fn schedule(&self) -> Option<Schedule> {
        let steps = (0..self.orders.len()).map(|device| self.steps(device));
        Schedule::of_steps(self.like.placement().clone(), self.like.microbatches(), steps).ok()
    }

    /// Takes or drops the pair at a position. One that is taken pushes others out that it shares passes with.
    fn toggle(&mut self, device: usize, position: usize) {
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

    /// Takes the pairs of a device that come first, as many as there are: those that begin with a forward, or others.
    fn take_all(&mut self, device: usize, begins_with_forward: bool) {
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
    fn bring_all_together(&mut self, model: &Model, reach: usize, begins_with_forward: bool) {
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
    fn shake(&mut self, model: &Model, random: &mut fastrand::Rng) {
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
const REACH: usize = 8;

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

/// A search that takes what is better.
struct Climb<'a> {
    model: &'a Model,
    objective: Objective,
    /// What needs no improvement.
    bound: Ticks,
    /// How many passes may still be replayed.
    passes_left: usize,
    stop: Stop,
    best: Option<(Paired, ReplayedSchedule)>,
}

impl Climb<'_> {
    fn is_over(&self) -> bool {
        let is_best = self.best.as_ref().is_some_and(|(_, best)| best.value == self.bound);
        self.passes_left == 0 || is_best || self.stop.is_due()
    }

    /// These pairs replayed; nothing if they are not valid.
    fn replayed(&mut self, pairs: &Paired) -> Option<ReplayedSchedule> {
        let schedule = pairs.schedule()?;
        self.passes_left = self.passes_left.saturating_sub(schedule.len());
        let engine = match schedule.overlap_count() {
            0 => pairs.engine.clone(),
            _ => format!("{}, overlapped", pairs.engine),
        };
        ReplayedSchedule::new(self.model, self.objective, schedule, engine).ok()
    }

    /// Keeps these pairs if they are valid and better than the best.
    fn consider(&mut self, pairs: Paired) {
        let Some(replayed) = self.replayed(&pairs) else { return };
        if self.best.as_ref().is_none_or(|(_, best)| replayed.rank() < best.rank()) {
            self.best = Some((pairs, replayed));
        }
    }

    /// Considers the best pairs with a change.
    fn change(&mut self, change: impl FnOnce(&mut Paired)) {
        if self.is_over() {
            return;
        }
        let Some((best, _)) = &self.best else { return };
        let mut changed = best.clone();
        change(&mut changed);
        if changed.chosen != best.chosen {
            self.consider(changed);
        }
    }

    /// The best choice of pairs that is found for these orders; nothing if none is valid.
    fn improved(&mut self, pairs: Paired) -> Option<(Paired, ReplayedSchedule)> {
        self.best = None;
        let devices = pairs.orders.len();
        for begins_with_forward in [true, false] {
            let mut all = pairs.clone();
            (0..devices).for_each(|device| all.take_all(device, begins_with_forward));
            self.consider(all);
        }
        for reach in 2..=REACH {
            for begins_with_forward in [true, false] {
                let mut all = pairs.clone();
                all.bring_all_together(self.model, reach, begins_with_forward);
                self.consider(all);
            }
        }
        self.consider(pairs);
        // Device by device, then pair by pair, for as long as something gets better.
        loop {
            let before = self.best.as_ref()?.1.rank();
            for device in 0..devices {
                for begins_with_forward in [true, false] {
                    self.change(|pairs| pairs.take_all(device, begins_with_forward));
                }
                self.change(|pairs| pairs.chosen[device].fill(false));
            }
            for device in 0..devices {
                let merges = self.best.as_ref()?.0.merges[device].clone();
                for position in (0..merges.len()).filter(|&position| merges[position].is_some()) {
                    self.change(|pairs| pairs.toggle(device, position));
                }
            }
            if self.is_over() || self.best.as_ref()?.1.rank() == before {
                return self.best.take();
            }
        }
    }

    /// The best of what is met by a few random changes at a time, of pairs and of orders, each from the best so far or
    /// from what is as good.
    fn wandered(&mut self, pairs: Paired, best: ReplayedSchedule, seed: u64) -> ReplayedSchedule {
        let mut random = fastrand::Rng::with_seed(seed);
        self.best = Some((pairs, best));
        while !self.is_over() {
            let (mut pairs, value) =
                self.best.as_ref().map(|(pairs, best)| (pairs.clone(), best.rank())).expect("it is there");
            for _ in 0..random.usize(1..=MOST_CHANGES) {
                pairs.shake(self.model, &mut random);
            }
            if let Some(replayed) = self.replayed(&pairs)
                && replayed.rank() <= value
            {
                self.best = Some((pairs, replayed));
            }
        }
        self.best.take().expect("it is there").1
    }
}

/// How many random changes are made at once at most.
const MOST_CHANGES: usize = 4;
