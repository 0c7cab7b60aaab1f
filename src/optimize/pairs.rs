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
use crate::model::{Device, Kind, Model, Overlap, Pass};
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
    let mut left = Left { passes: options.effort / 4, stop: options.stop.clone() };
    progress(&Progress { step: "overlapped pairs".to_owned(), best: Some(apart.value()), bound: best });
    let mut found = given(model, options.objective, &options.known);
    // Valid in the model as it is: a schedule without pairs takes as long in both.
    found.push(ReplayedSchedule::new(model, options.objective, bare(&apart.schedule), apart.engine.clone())?);
    for (schedule, engine) in sources {
        found.extend(Paired::of(model, &schedule).improved(model, options.objective, &engine, &mut left));
    }
    is_cut_short |= options.stop.is_due();
    if !options.stop.is_due() {
        let steps = STEPS.min(options.effort as u64 / super::EFFORT_PER_STEP);
        bound = lower_bound_until(model, options.objective, steps, &mut || options.stop.is_due());
    }
    let best = found.into_iter().min_by_key(ReplayedSchedule::rank).expect("one without pairs is among them");
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

/// How much may still be tried.
struct Left {
    /// How many passes may still be replayed.
    passes: usize,
    stop: Stop,
}

impl Left {
    fn is_over(&self) -> bool {
        self.passes == 0 || self.stop.is_due()
    }
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
}

impl Paired {
    fn of(model: &Model, schedule: &Schedule) -> Self {
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
        Self { orders, merges, chosen, like: bare(schedule) }
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

    /// The best schedule with these or other pairs that is found; nothing if none is valid.
    fn improved(
        self,
        model: &Model,
        objective: Objective,
        engine: &str,
        left: &mut Left,
    ) -> Option<ReplayedSchedule> {
        let devices = self.orders.len();
        let mut climb = Climb { model, objective, engine, left, best: None };
        climb.consider(&self);
        for begins_with_forward in [true, false] {
            let mut all = self.clone();
            (0..devices).for_each(|device| all.take_all(device, begins_with_forward));
            climb.consider(&all);
        }
        // Device by device, then pair by pair, for as long as something gets better.
        loop {
            let before = climb.best.as_ref()?.1.rank();
            for device in 0..devices {
                for begins_with_forward in [true, false] {
                    climb.change(|pairs| pairs.take_all(device, begins_with_forward));
                }
                climb.change(|pairs| pairs.chosen[device].fill(false));
            }
            for device in 0..devices {
                for position in 0..self.orders[device].len() {
                    if self.merges[device][position].is_some() {
                        climb.change(|pairs| pairs.toggle(device, position));
                    }
                }
            }
            if climb.left.is_over() || climb.best.as_ref()?.1.rank() == before {
                return climb.best.map(|(_, best)| best);
            }
        }
    }
}

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
    engine: &'a str,
    left: &'a mut Left,
    best: Option<(Paired, ReplayedSchedule)>,
}

impl Climb<'_> {
    /// Keeps these pairs if they are valid and better than the best.
    fn consider(&mut self, pairs: &Paired) {
        let Some(schedule) = pairs.schedule() else { return };
        self.left.passes = self.left.passes.saturating_sub(schedule.len());
        let engine = match schedule.overlap_count() {
            0 => self.engine.to_owned(),
            _ => format!("{}, overlapped", self.engine),
        };
        let Ok(replayed) = ReplayedSchedule::new(self.model, self.objective, schedule, engine) else {
            return;
        };
        if self.best.as_ref().is_none_or(|(_, best)| replayed.rank() < best.rank()) {
            self.best = Some((pairs.clone(), replayed));
        }
    }

    /// Considers the best pairs with a change.
    fn change(&mut self, change: impl FnOnce(&mut Paired)) {
        if self.left.is_over() {
            return;
        }
        let Some((best, _)) = &self.best else { return };
        let mut changed = best.clone();
        change(&mut changed);
        if changed.chosen != best.chosen {
            self.consider(&changed);
        }
    }
}
