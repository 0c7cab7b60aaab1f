//! Models that say more than what passes take and when their results arrive: overlapped pairs that save time, messages that
//! keep links busy, the end of the step, offloading, memory beyond what F keeps, and several levels of recomputation.
//!
//! The searches know passes that run one by one, messages that each have a link of their own, and nothing behind the passes.
//! So schedules are sought for such models, and replay measures them under the model itself. Where links are busy, one more
//! source is a schedule for messages that take longer, which leaves them time to wait for each other; and all named ones. Where pairs save time, two more sources are those for passes as much
//! [shorter](crate::certificate::shortened) as pairs can make them, which gives orders that are good once pairs are made;
//! and named schedules with pairs. In each schedule forwards and backwards that follow each other become pairs wherever
//! replay says that this helps. In the end the best one is changed at random: its pairs and its orders, which also decide
//! when the gradients of a stage can be reduced. What to do about memory, [`memory`] says, about recomputation, [`levels`], and what to
//! offload, [`offload`]. Two directions, which those searches do not know either, are for [`two_way`].

mod climb;
mod least;
mod levels;
mod list;
mod memory;
mod offload;
mod paired;
mod two_way;

use super::feasible;
use super::replayed::{ReplayedSchedule, given, time_to_replay, with_time_to_check};
use super::{
    Optimality, OptimizeError, Options, Progress, STEPS, Solution, lower_bound_until, not_refuted,
    of_optimize, optimize,
};
use crate::catalog;
use crate::certificate::shortened;
use crate::model::{Model, Overlap, Stage};
use crate::schedule::Schedule;
use crate::stop::Stop;
use climb::Climb;
pub(super) use least::check;
use levels::Choice;
use memory::Apart;
use offload::Offloads;
use paired::Paired;
pub(super) use two_way::optimize_two_ways;

/// [`optimize`] for a model that says more than passes and latencies.
pub(super) fn optimize_beyond_passes(
    model: &Model,
    options: &Options,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Solution, OptimizeError> {
    let stop = with_time_to_check(model, &options.stop, time_to_replay(model, &options.stop));
    let options = &Options { stop, ..options.clone() };
    let mut bound = lower_bound_until(model, options.objective, 0, &mut || false);
    let best = bound.value;
    let mut report = |told: &Progress| progress(&Progress { bound: best, ..told.clone() });
    let sums = model.with_overlap(Overlap::default()).expect("sums always suit");
    let plain = sums.with_own_links().with_step(None).and_then(|model| model.with_offload(None));
    let mut plain = plain.expect("what ends with its passes takes no longer");
    if model.can_offload() && !is_feasible(&plain) {
        // What fits needs copies, which are added later.
        plain = plain.with_uniform_activation_capacity(None).expect("without a limit, none is wrong");
    }
    let plain = plain;
    // What is there at once, whatever the time.
    let named = named(model, &options.stop);
    let mut found: Vec<(ReplayedSchedule, Option<Paired>)> = Vec::new();
    for (schedule, engine) in &named {
        let replayed = ReplayedSchedule::new(model, options.objective, schedule.clone(), engine.clone());
        found.extend(replayed.ok().map(|replayed| (replayed, None)));
    }
    let choices = Choice::all(&plain);
    let mut by_choice = solutions_of(&plain, &choices, options, &mut report)?;
    let solutions = || by_choice.iter().flat_map(|(_, apart)| &apart.solutions);
    let mut is_cut_short = solutions().any(|apart| apart.is_cut_short);
    let mut sources = named;
    sources.extend(by_choice.iter().flat_map(|(choice, apart)| found_apart(model, choice, apart)));
    let rest = by_choice.split_off(1);
    let (choice, apart) = by_choice.pop().expect("there is a solution for some choice");
    let level = choice.of(&plain);
    let aside = Options {
        stop: options.stop.within(options.stop.remaining() / 2),
        effort: options.effort / 2,
        exact_effort: 0,
        use_all_time: false,
        known: Vec::new(),
        ..options.clone()
    };
    if model.has_cheaper_pairs() && !options.stop.is_due() {
        // Memory is that in which something was found.
        let memory = apart.room.memory().clone();
        let apart = choice.of(&model.with_own_links());
        let one_level = shortened(&apart)
            .with_step(None)
            .and_then(|model| model.with_offload(None))
            .and_then(|model| model.with_plain_memory(memory));
        let one_level =
            one_level.expect("what ends with its passes takes no longer, and memory is that of a model");
        let shorter = optimize(&one_level, &aside, &mut report)?;
        is_cut_short |= shorter.is_cut_short;
        sources.push((choice.named(model, &shorter.schedule), shorter.engine));
    }
    if model.has_busy_links() && !options.stop.is_due() {
        let patient = optimize(&with_longer_messages(model, &apart.room), &aside, &mut report)?;
        is_cut_short |= patient.is_cut_short;
        sources.push((choice.named(model, &patient.schedule), patient.engine));
    }
    let mut roomier = Vec::new();
    if model.can_offload() && !options.stop.is_due() {
        let quarter = Options {
            stop: options.stop.within(options.stop.remaining() / 2),
            effort: options.effort / 4,
            ..aside.clone()
        };
        roomier = offload::roomier(model, &plain, &quarter, &mut report)?;
    }
    if !options.stop.is_due() {
        let steps = STEPS.min(options.effort as u64 / super::EFFORT_PER_STEP);
        let stop = options.stop.within(options.stop.remaining() / 4);
        bound = lower_bound_until(model, options.objective, steps, &mut || stop.is_due());
    }
    progress(&Progress {
        step: "improving under the whole model".to_owned(),
        best: if choices.len() == 1 { apart.solutions.iter().map(Solution::value).max() } else { None },
        bound: bound.value,
    });
    let mut without = Vec::new();
    if model.has_plain_memory() && !model.can_offload() {
        // Memory is the same in both models.
        for (choice, apart) in
            std::iter::once((&choice, &apart)).chain(rest.iter().map(|(of, apart)| (of, apart)))
        {
            let found = &apart.solutions[0];
            let (schedule, engine) = (choice.named(model, &bare(&found.schedule)), found.engine.clone());
            without.push(ReplayedSchedule::new(model, options.objective, schedule, engine)?);
        }
    } else {
        let others = memory::others(&level, &apart, &options.stop)?;
        let others = others.into_iter().map(|(other, engine)| (choice.named(model, &other), engine));
        let rest = rest.iter().flat_map(|(choice, apart)| found_apart(model, choice, apart));
        for (schedule, engine) in found_apart(model, &choice, &apart).into_iter().chain(others).chain(rest) {
            without.extend(ReplayedSchedule::new(model, options.objective, schedule, engine).ok());
        }
        // The best of the others is worth a search around it.
        without.sort_by_key(ReplayedSchedule::rank);
        sources.extend(without.first().map(|best| (best.schedule.clone(), best.engine.clone())));
    }
    let mut climb = Climb {
        model,
        objective: options.objective,
        bound: bound.value,
        passes_left: 0,
        stop: options.stop.clone(),
        best: None,
    };
    let effort = options.effort / EFFORT_PER_REPLAYED_PASS;
    let mut offloads = Offloads {
        model,
        objective: options.objective,
        bound: bound.value,
        passes_left: 0,
        stop: options.stop.clone(),
    };
    if model.can_offload() {
        let mut orders = roomier;
        orders.extend(sources.iter().cloned());
        orders.extend(without.iter().map(|found| (found.schedule.clone(), found.engine.clone())));
        let least = least::least(model)?.map(|least| (least, "one microbatch at a time".to_owned()));
        for (schedule, engine) in least {
            found.extend(
                ReplayedSchedule::new(model, options.objective, schedule, engine)
                    .ok()
                    .map(|least| (least, None)),
            );
        }
        for (schedule, engine) in orders {
            offloads.passes_left = effort / 100;
            found.extend(offloads.fitted(&bare(&schedule), &engine).map(|fitted| (fitted, None)));
        }
    }
    let mut improve = |(schedule, engine): (Schedule, String)| {
        climb.passes_left = effort / 200;
        found.extend(
            climb.improved(&Paired::of(model, &schedule, &engine)).map(|(pairs, best)| (best, Some(pairs))),
        );
    };
    sources.into_iter().for_each(&mut improve);
    if model.has_cheaper_pairs() {
        let listed = list::schedules(model, &options.stop).into_iter();
        listed.map(|schedule| (schedule, "list scheduling in pairs".to_owned())).for_each(&mut improve);
    }
    if choices.len() > 1 {
        let mut report = |told: &Progress| progress(&Progress { bound: bound.value, ..told.clone() });
        let better = at_better_levels(model, &plain, options, &aside, &without, &mut report)?;
        found.extend(better.into_iter().map(|better| (better, None)));
    }
    found.extend(without.into_iter().map(|without| (without, None)));
    found.extend(given(model, options.objective, &options.known).into_iter().map(|known| (known, None)));
    let (mut best, pairs) = found
        .into_iter()
        .min_by_key(|(found, pairs)| (found.rank(), pairs.is_none()))
        .ok_or_else(|| OptimizeError::NoneFound(model.beyond_passes().expect("memory is not plain")))?;
    if let Some(pairs) = pairs {
        climb.passes_left = if options.use_all_time { usize::MAX } else { effort / 4 };
        best = climb.wandered(pairs, best, options.seed);
    } else if best.schedule.offload_count() > 0 {
        offloads.passes_left = if options.use_all_time { usize::MAX } else { effort / 4 };
        best = offloads.wandered(best, options.seed);
    }
    is_cut_short |= options.stop.is_due();
    // A change of orders or pairs may have made a recomputation needless, and one of orders an offload.
    let best = best.without_needless(model, options.objective);
    let ReplayedSchedule { schedule, verdict, value, engine } =
        offload::without_needless(model, options.objective, best);
    not_refuted(value, bound.value, None)?;
    let schedule = of_optimize(schedule, model, &engine);
    let optimality = if value == bound.value { Optimality::Bound } else { Optimality::Open };
    let alike =
        apart.solutions.into_iter().find(|apart| schedule.overlap_count() == 0 && engine == apart.engine);
    let block = alike.and_then(|apart| apart.block);
    let objective = options.objective;
    let solution = Solution { schedule, verdict, bound, optimality, block, engine, objective, is_cut_short };
    Ok(solution.certified(model))
}

/// Whether some schedule keeps to the capacities of a model of passes alone.
fn is_feasible(plain: &Model) -> bool {
    if plain.has_plain_memory() { feasible::check(plain).is_ok() } else { check(plain).is_ok() }
}

/// What is found for each choice of levels, the best under the model first. Choices that do not fit into memory are left out.
///
/// # Errors
/// When none fits, or replay rejects what a search proposes.
fn solutions_of(
    plain: &Model,
    choices: &[Choice],
    options: &Options,
    report: &mut dyn FnMut(&Progress),
) -> Result<Vec<(Choice, Apart)>, OptimizeError> {
    let mut found = Vec::with_capacity(choices.len());
    let mut misfit = None;
    let left = (1..=u32::try_from(choices.len()).unwrap_or(u32::MAX)).rev();
    for (left, choice) in left.zip(choices) {
        let mut options = options.clone();
        if left > 1 {
            options.stop = options.stop.within(options.stop.remaining() / left);
        }
        match memory::solutions(&choice.of(plain), &options, report) {
            Ok(apart) => found.push((choice.clone(), apart)),
            Err(OptimizeError::Infeasible(error)) => misfit = Some(error),
            Err(error) => return Err(error),
        }
    }
    if let (Some(misfit), true) = (misfit, found.is_empty()) {
        return Err(misfit.into());
    }
    if found.len() > 1 {
        found.sort_by_cached_key(|(choice, apart)| {
            let ranks = found_apart(plain, choice, apart).into_iter().filter_map(|(schedule, engine)| {
                ReplayedSchedule::new(plain, options.objective, schedule, engine).ok()
            });
            let least = ranks.map(|found| found.rank()).min();
            (least.is_none(), least)
        });
    }
    Ok(found)
}

/// What was found for a choice of levels, as schedules of the model.
fn found_apart(model: &Model, choice: &Choice, apart: &Apart) -> Vec<(Schedule, String)> {
    let named = |found: &Solution| (choice.named(model, &bare(&found.schedule)), found.engine.clone());
    apart.solutions.iter().map(named).collect()
}

/// What is found with other levels: around each of these schedules, and in the model of the levels of the best.
fn at_better_levels(
    model: &Model,
    plain: &Model,
    options: &Options,
    aside: &Options,
    from: &[ReplayedSchedule],
    report: &mut dyn FnMut(&Progress),
) -> Result<Vec<ReplayedSchedule>, OptimizeError> {
    let passes = options.effort / EFFORT_PER_REPLAYED_PASS / 20;
    let better = |from: ReplayedSchedule| {
        let quick = from.without_needless(model, options.objective);
        levels::improved(model, options.objective, quick, passes, &options.stop)
    };
    let again = |from: &ReplayedSchedule| {
        ReplayedSchedule::new(model, options.objective, from.schedule.clone(), from.engine.clone())
    };
    let mut found = Vec::new();
    for from in from {
        found.push(better(again(from)?));
    }
    let best = found.iter().min_by_key(|found| found.rank());
    let mixed = best.and_then(|best| Choice::mixed(model, &best.schedule));
    if let Some(choice) = mixed.filter(|_| !options.stop.is_due()) {
        match optimize(&choice.of(plain).memory_floor(), aside, report) {
            Ok(solution) => {
                let schedule = choice.named(model, &bare(&solution.schedule));
                let replayed = ReplayedSchedule::new(model, options.objective, schedule, solution.engine);
                found.extend(replayed.ok().map(better));
            }
            Err(OptimizeError::Infeasible(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

/// Named schedules and their names, where those of passes alone are not all: where links are busy all, where pairs save time
/// those with pairs.
fn named(model: &Model, stop: &Stop) -> Vec<(Schedule, String)> {
    if !model.has_busy_links() && !model.has_cheaper_pairs() {
        return Vec::new();
    }
    let named = catalog::entries().iter().filter_map(|entry| {
        let schedule = entry.generate_until(model, stop).ok()?;
        (model.has_busy_links() || schedule.overlap_count() > 0).then(|| (schedule, entry.name.to_owned()))
    });
    named.collect()
}

/// The plain model of a model, with messages that wait for another one as long before they leave.
fn with_longer_messages(model: &Model, plain: &Model) -> Model {
    let mut costs = plain.costs().clone();
    for (boundary, latency) in costs.communication.iter_mut().enumerate() {
        *latency += model.occupancy_after(Stage::at(boundary));
    }
    // Where the times do not fit, the plain model is as good.
    plain.with_costs(costs).unwrap_or_else(|_| plain.clone())
}

/// To replay a pass takes about as long as to place so many.
const EFFORT_PER_REPLAYED_PASS: usize = 10;

/// The schedule without what was said of it under another model.
fn bare(schedule: &Schedule) -> Schedule {
    let mut bare = schedule.clone();
    bare.certificate = None;
    bare
}
