//! Recomputation of single microbatches, where memory forces it.
//!
//! The [search](super::search) recomputes a stage for all microbatches or for none. But where memory is a little too small, to recompute
//! a few of them is enough. Two ways lead there. What they give is annealed as it is, and Rs that nothing needs are left out.
//!
//! - Schedules are sought that recompute nothing and need more memory than there is. An R is put before every backward, and those
//!   that nothing [needs](super::needless) are left out again: the rest are those that memory forces.
//! - A few microbatches are [held back](super::held_back), so that their passes fill idle time.

use super::anneal::Annealing;
use super::held_back::held_back;
use super::replayed::{ReplayedSchedule, improved};
use super::starting_points::{ROOMIER, within_share};
use super::{Found, Objective, Options, Progress, Stop, check_fits, search, searched};
use crate::catalog;
use crate::kernel::{IndexedSchedule, device_peak};
use crate::model::{Device, Kind, Model, Pass, Ticks};
use crate::parallel;
use crate::schedule::Schedule;

/// How many schedules are annealed at a time, and how many are kept for that.
const BATCH: usize = 8;

/// How hot annealing begins, in turn.
const HEATS: [f64; 4] = [0.1, 0.2, 0.4, 0.8];

/// Adds what is found in that way, where the best one is longer than the least that is possible; returns whether time decided
/// what that is.
pub(super) fn add(
    model: &Model,
    options: &Options,
    least: Ticks,
    found: &mut Vec<Found>,
    stop: &Stop,
    progress: &mut dyn FnMut(&Progress),
) -> bool {
    if found.iter().any(|found| found.replayed.value <= least) {
        return false;
    }
    let known = found.iter().map(|found| found.replayed.clone()).collect();
    let (more, is_cut_short) = self::found(model, options, least, known, stop, progress);
    found.extend(more.into_iter().map(Found::known));
    is_cut_short
}

/// What is found in that way, the best first, and whether time decided what that is. Nothing is below the bound.
fn found(
    model: &Model,
    options: &Options,
    bound: Ticks,
    known: Vec<ReplayedSchedule>,
    stop: &Stop,
    progress: &mut dyn FnMut(&Progress),
) -> (Vec<ReplayedSchedule>, bool) {
    let mut pool = Pool::default();
    pool.extend(known);
    let mut is_cut_short = false;
    let Ok(keeping) = model.with_recompute(None) else { return (pool.0, false) };
    for (schedule, engine) in named(&keeping).into_iter().take_while(|_| !stop.is_due()) {
        pool.extend(forced(model, options.objective, &schedule, &engine));
    }
    let within = stop.within(stop.remaining() / 3);
    let held_back = annealed(
        model,
        &Options { effort: options.effort / 4, use_all_time: false, ..options.clone() },
        bound,
        pool.held_back(model, options.objective, &within),
        &within,
        progress,
    );
    pool.extend(held_back);
    is_cut_short |= within.is_due() && !pool.reaches(bound);
    // What keeps everything may need more than that for a single microbatch.
    for roomy in roomier(&keeping).into_iter().filter(|roomy| check_fits(roomy).is_ok()) {
        if stop.is_due() || pool.reaches(bound) {
            break;
        }
        let within = stop.within(stop.remaining() / 8);
        let options = Options {
            effort: options.effort / 32,
            exact_effort: 0,
            use_all_time: false,
            known: Vec::new(),
            ..options.clone()
        };
        let space = search::Space::new(&roomy);
        let inner = &mut |told: &Progress| progress(&Progress { is_inner: true, ..told.clone() });
        let Ok(searched) = searched(&roomy, &space, &options, &within, &[], inner) else { continue };
        is_cut_short |= searched.is_cut_short;
        for orders in searched.kept {
            pool.extend(forced(model, options.objective, &space.schedule(&orders), &orders.engine));
        }
    }
    let found = annealed(model, options, bound, pool, stop, progress);
    is_cut_short |= stop.is_due() && found.iter().all(|found| found.value > bound);
    (found, is_cut_short)
}

/// The best few, best first.
#[derive(Default)]
struct Pool(Vec<ReplayedSchedule>);

impl Pool {
    fn extend(&mut self, found: impl IntoIterator<Item = ReplayedSchedule>) {
        for found in found {
            if self.0.iter().all(|known| known.rank() != found.rank()) {
                self.0.push(found);
            }
        }
        self.0.sort_by_key(ReplayedSchedule::rank);
        self.0.truncate(BATCH);
    }

    /// The same with a few microbatches held back in each.
    fn held_back(&self, model: &Model, objective: Objective, stop: &Stop) -> Self {
        let mut held = Self::default();
        for found in &self.0 {
            let changed = held_back(model, &found.schedule).take_while(|_| !stop.is_due());
            let changed = changed.filter_map(|changed| {
                ReplayedSchedule::new(model, objective, changed, improved(&found.engine)).ok()
            });
            held.extend(changed.map(|changed| changed.without_needless(model, objective)));
        }
        held
    }

    fn reaches(&self, bound: Ticks) -> bool {
        self.0.first().is_some_and(|best| best.value <= bound)
    }
}

/// The named schedules of a model, whatever they hold.
fn named(keeping: &Model) -> Vec<(Schedule, String)> {
    let free = vec![None; keeping.devices() as usize];
    let Ok(free) = keeping.with_activation_capacity(free) else { return Vec::new() };
    let made = |entry: &catalog::Entry| {
        let schedule = entry.unimproved(&free).ok()?.schedule(&free);
        Some((schedule, entry.name_on(free.placement()).to_owned()))
    };
    catalog::entries().iter().filter_map(made).collect()
}

/// The model with more memory, the least first, and with as much as is wanted.
fn roomier(keeping: &Model) -> Vec<Model> {
    let free = vec![None; keeping.devices() as usize];
    let shares = ROOMIER.into_iter().skip(1).filter_map(|share| within_share(keeping, share));
    shares.chain(keeping.with_activation_capacity(free).ok()).collect()
}

/// The schedule with an R before every backward.
fn recomputing(model: &Model, schedule: &Schedule) -> Option<Schedule> {
    let again = |pass: &Pass| {
        let recomputed = matches!(pass.kind, Kind::I | Kind::B).then(|| pass.with_kind(Kind::R));
        recomputed.into_iter().chain([*pass])
    };
    let orders = schedule.orders().iter();
    let orders =
        orders.map(|order| order.iter().filter(|pass| pass.kind != Kind::R).flat_map(again).collect());
    Schedule::new(model.placement().clone(), model.microbatches(), orders.collect()).ok()
}

/// The schedule within the capacities, with the Rs that this needs; nothing where even an R before every backward is not enough.
fn forced(
    model: &Model,
    objective: Objective,
    schedule: &Schedule,
    engine: &str,
) -> Option<ReplayedSchedule> {
    let recomputing = recomputing(model, schedule)?;
    let fits = |device| {
        let capacity = model.activation_capacity(device);
        capacity.is_none_or(|capacity| device_peak(model, &recomputing, device) <= capacity)
    };
    if !Device::all(model.devices()).all(fits) {
        return None;
    }
    let replayed = ReplayedSchedule::new(model, objective, recomputing, improved(engine)).ok()?;
    Some(replayed.without_needless(model, objective))
}

/// Anneals the best and leaves out what nothing needs, as long as a part of the effort and of the time lasts.
fn annealed(
    model: &Model,
    options: &Options,
    bound: Ticks,
    mut pool: Pool,
    stop: &Stop,
    progress: &mut dyn FnMut(&Progress),
) -> Vec<ReplayedSchedule> {
    let mut random = fastrand::Rng::with_seed(options.seed);
    let mut spent = 0;
    while !stop.is_due() && !pool.reaches(bound) && !pool.0.is_empty() {
        if !options.use_all_time && spent >= options.effort / 8 {
            break;
        }
        let best = pool.0.first().map(|best| best.value);
        progress(&Progress { step: "recomputing less".to_owned(), best, bound, is_inner: false });
        let parents = pool.0.len();
        let pieces: Vec<(usize, f64, u64)> = (0..BATCH)
            .map(|at| {
                // Better ones more often.
                let parent = random.usize(..parents).min(random.usize(..parents));
                (parent, HEATS[at % HEATS.len()], random.u64(..))
            })
            .collect();
        let found = parallel::map(options.threads, &pieces, |&(parent, heat, seed)| {
            let parent = &pool.0[parent];
            let IndexedSchedule { problem, orders } = IndexedSchedule::of(model, &parent.schedule).ok()?;
            let work = (options.effort / 6 / BATCH).max(problem.passes() * 50);
            let mut annealing = Annealing::new(&problem, orders, options.objective, heat, seed);
            let orders = annealing.run(work, bound.0, stop);
            let schedule = problem.schedule(model, &orders);
            let engine = improved(&parent.engine);
            let replayed = ReplayedSchedule::new(model, options.objective, schedule, engine).ok()?;
            Some((replayed.without_needless(model, options.objective), annealing.placed))
        });
        for (found, placed) in found.into_iter().flatten() {
            spent += placed;
            pool.extend([found]);
        }
        spent += BATCH;
    }
    pool.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Memory, Placement, Units};
    use crate::optimize::needless::{self, Relief};

    /// Linear placement on four devices, whose first one has room for three of the four activations that it wants to hold. What F
    /// keeps for an R holds next to nothing.
    fn model(capacity: i64) -> Model {
        let model = Model::equal_stages(Placement::linear(4).expect("a placement"), 16, [3, 4, 2, 0])
            .expect("a model");
        let memory = Memory {
            activation: vec![Units(2); 4],
            retained_for_weight: vec![Units(1); 4],
            checkpoint: Some(vec![Units(0); 4]),
            ..model.memory().clone()
        };
        model
            .with_plain_memory(memory)
            .and_then(|model| model.with_uniform_capacity(Units(capacity)))
            .expect("a model")
    }

    fn again(schedule: &Schedule) -> Vec<usize> {
        let of = |order: &Vec<Pass>| order.iter().filter(|pass| pass.kind == Kind::R).count();
        schedule.orders().iter().map(of).collect()
    }

    /// To recompute the first stage for all microbatches takes at least as long as it is busy then: 16 * 12 ticks.
    #[test]
    fn a_stage_is_recomputed_for_as_many_microbatches_as_it_must_be() {
        let model = model(6);
        let keeping = model.with_recompute(None).expect("a model");
        let found = named(&keeping).into_iter();
        let found =
            found.filter_map(|(schedule, engine)| forced(&model, Objective::Makespan, &schedule, &engine));
        let best = found.min_by_key(ReplayedSchedule::rank).expect("a named schedule");
        assert!(best.value < Ticks(16 * 12), "{}", best.value);
        let again = again(&best.schedule);
        assert!((1..16).contains(&again[0]), "{again:?}");
    }

    #[test]
    fn annealing_makes_it_no_longer_and_is_the_same_every_time() {
        let model = model(6);
        let options = Options { effort: 400_000, ..Options::default() };
        let search = || {
            let (found, _) = found(&model, &options, Ticks(0), Vec::new(), &Stop::default(), &mut |_| {});
            found.into_iter().map(|found| (found.value, found.schedule)).collect::<Vec<_>>()
        };
        let one = search();
        assert!(one[0].0 < Ticks(180), "{}", one[0].0);
        assert!(one.is_sorted_by_key(|(value, _)| *value));
        assert!(one == search(), "other schedules");
        let options = Options { threads: 2.try_into().expect("two"), ..options.clone() };
        let (other, _) = found(&model, &options, Ticks(0), Vec::new(), &Stop::default(), &mut |_| {});
        assert!(
            one == other.into_iter().map(|found| (found.value, found.schedule)).collect::<Vec<_>>(),
            "threads"
        );
    }

    #[test]
    fn nothing_is_forced_where_even_all_recomputation_is_too_much() {
        let roomy = model(16);
        let schedule = &named(&roomy.with_recompute(None).expect("a model"))[0].0;
        let forced = |capacity| super::forced(&model(capacity), Objective::Makespan, schedule, "gpipe");
        assert!(forced(1).is_none());
        assert_eq!(forced(64).map(|kept| again(&kept.schedule)), Some(vec![0; 4]), "nothing is needed");
    }

    #[test]
    fn capacities_grow_and_the_last_has_none() {
        let keeping = model(12).with_recompute(None).expect("a model");
        let capacities: Vec<Option<i64>> = roomier(&keeping)
            .iter()
            .map(|roomy| roomy.activation_capacity(Device(0)).map(|units| units.0))
            .collect();
        assert_eq!(capacities, [Some(12), Some(13), Some(15), Some(18), Some(24), None]);
    }

    /// With two stages on a device, to relieve one of them as a whole may take the room of more Rs of the other.
    #[test]
    fn single_microbatches_may_leave_fewer_than_whole_stages() {
        let keeping =
            Model::equal_stages(Placement::v(4).expect("a placement"), 16, [3, 4, 2, 0]).expect("a model");
        let mut counts = Vec::new();
        for capacity in 3..8 {
            let memory = Memory { checkpoint: Some(vec![Units(0); 8]), ..keeping.memory().clone() };
            let model = keeping.with_plain_memory(memory).expect("a model");
            let model = model.with_uniform_capacity(Units(capacity)).expect("a capacity");
            for (schedule, _) in named(&keeping) {
                let all = recomputing(&model, &schedule).expect("a schedule");
                let left = |relief| {
                    let left =
                        needless::without_needless(&model, &all, relief).unwrap_or_else(|| all.clone());
                    again(&left).iter().sum::<usize>()
                };
                counts.push((left(Relief::Single), left(Relief::Stages)));
            }
        }
        assert!(counts.iter().any(|(single, stages)| single < stages), "{counts:?}");
    }

    /// One microbatch fits only if it is recomputed, with twice the memory as well.
    #[test]
    fn more_memory_that_is_not_enough_is_of_no_use() {
        let model = model(6);
        let memory = Memory {
            activation: vec![Units(50); 4],
            retained_for_weight: vec![Units(0); 4],
            capacity: vec![Some(Units(100)), Some(Units(24)), Some(Units(24)), Some(Units(100))],
            ..model.memory().clone()
        };
        let keeping =
            model.with_plain_memory(memory).and_then(|model| model.with_recompute(None)).expect("a model");
        let fits = roomier(&keeping).into_iter().filter(|roomy| check_fits(roomy).is_ok());
        assert_eq!(fits.count(), 1, "only without capacities");
    }
}
