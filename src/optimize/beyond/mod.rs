//! Models that say more than what passes take and when their results arrive: overlapped pairs that save time, messages that
//! keep links busy, and the end of the step.
//!
//! The searches know passes that run one by one, messages that each have a link of their own, and nothing behind the passes.
//! So schedules are sought for such models, and replay measures them under the model itself. Where links are busy, one more
//! source is a schedule for messages that take longer, which leaves them time to wait for each other; and all named ones. Where pairs save time, two more sources are those for passes as much
//! [shorter](crate::certificate::shortened) as pairs can make them, which gives orders that are good once pairs are made;
//! and named schedules with pairs. In each schedule forwards and backwards that follow each other become pairs wherever
//! replay says that this helps. In the end the best one is changed at random: its pairs and its orders, which also decide
//! when the gradients of a stage can be reduced.

mod climb;
mod list;
mod paired;

use super::replayed::{ReplayedSchedule, given, with_time_to_check};
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
use paired::Paired;

/// [`optimize`] for a model that says more than passes and latencies.
pub(super) fn optimize_beyond_passes(
    model: &Model,
    options: &Options,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Solution, OptimizeError> {
    let options = &Options { stop: with_time_to_check(model, &options.stop), ..options.clone() };
    let mut bound = lower_bound_until(model, options.objective, 0, &mut || false);
    let best = bound.value;
    let mut report = |told: &Progress| progress(&Progress { bound: best, ..told.clone() });
    let sums = model.with_overlap(Overlap::default()).expect("sums always suit");
    let plain = sums.with_own_links().with_step(None).expect("what ends with its passes takes no longer");
    // What is there at once, whatever the time.
    let named = named(model, &options.stop);
    let mut found: Vec<(ReplayedSchedule, Option<Paired>)> = Vec::new();
    for (schedule, engine) in &named {
        let replayed = ReplayedSchedule::new(model, options.objective, schedule.clone(), engine.clone());
        found.extend(replayed.ok().map(|replayed| (replayed, None)));
    }
    // Half of the time for passes alone, so that more choices cost little where they do not help.
    let apart = Options { stop: options.stop.within(options.stop.remaining() / 2), ..options.clone() };
    let apart = optimize(&plain, &apart, &mut report)?;
    let mut is_cut_short = apart.is_cut_short;
    let mut sources = named;
    sources.push((apart.schedule.clone(), apart.engine.clone()));
    let aside = Options {
        stop: options.stop.within(options.stop.remaining() / 2),
        effort: options.effort / 2,
        exact_effort: 0,
        use_all_time: false,
        known: Vec::new(),
        ..options.clone()
    };
    if model.has_cheaper_pairs() && !options.stop.is_due() {
        let model = shortened(&model.with_own_links()).with_step(None);
        let model = model.expect("what ends with its passes takes no longer");
        let shorter = optimize(&model, &aside, &mut report)?;
        is_cut_short |= shorter.is_cut_short;
        sources.push((shorter.schedule, shorter.engine));
    }
    if model.has_busy_links() && !options.stop.is_due() {
        let patient = optimize(&with_longer_messages(model, &plain), &aside, &mut report)?;
        is_cut_short |= patient.is_cut_short;
        sources.push((patient.schedule, patient.engine));
    }
    if !options.stop.is_due() {
        let steps = STEPS.min(options.effort as u64 / super::EFFORT_PER_STEP);
        let stop = options.stop.within(options.stop.remaining() / 4);
        bound = lower_bound_until(model, options.objective, steps, &mut || stop.is_due());
    }
    progress(&Progress {
        step: "improving under the whole model".to_owned(),
        best: Some(apart.value()),
        bound: bound.value,
    });
    // Memory is the same in both models.
    let without =
        ReplayedSchedule::new(model, options.objective, bare(&apart.schedule), apart.engine.clone())?;
    let mut climb = Climb {
        model,
        objective: options.objective,
        bound: bound.value,
        passes_left: 0,
        stop: options.stop.clone(),
        best: None,
    };
    let effort = options.effort / EFFORT_PER_REPLAYED_PASS;
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
    found.push((without, None));
    found.extend(given(model, options.objective, &options.known).into_iter().map(|known| (known, None)));
    let (mut best, pairs) = found
        .into_iter()
        .min_by_key(|(found, pairs)| (found.rank(), pairs.is_none()))
        .expect("one without pairs is among them");
    if let Some(pairs) = pairs {
        climb.passes_left = if options.use_all_time { usize::MAX } else { effort / 4 };
        best = climb.wandered(pairs, best, options.seed);
    }
    is_cut_short |= options.stop.is_due();
    // A change of orders or pairs may have made a recomputation needless.
    let ReplayedSchedule { schedule, verdict, value, engine } =
        best.without_needless(model, options.objective);
    not_refuted(value, bound.value, None)?;
    let schedule = of_optimize(schedule, model, &engine);
    let optimality = if value == bound.value { Optimality::Bound } else { Optimality::Open };
    let block = apart.block.filter(|_| schedule.overlap_count() == 0 && engine == apart.engine);
    let objective = options.objective;
    let solution = Solution { schedule, verdict, bound, optimality, block, engine, objective, is_cut_short };
    Ok(solution.certified(model))
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
