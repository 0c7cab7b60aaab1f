//! Overlapped pairs, where the model says that they take less time than their passes.
//!
//! The searches know passes that run one by one. So schedules are sought twice: for the passes as they are, and for
//! passes as much [shorter](crate::certificate::shortened) as pairs can make them, which gives orders that are good once
//! pairs are made. Named schedules with pairs are the third source. In each schedule forwards and backwards that follow
//! each other become pairs wherever replay says that this helps.

mod climb;
mod list;
mod paired;

use super::replayed::{ReplayedSchedule, given};
use super::{
    Optimality, OptimizeError, Options, Progress, STEPS, Solution, lower_bound_until, not_refuted, optimize,
};
use crate::catalog;
use crate::certificate::shortened;
use crate::model::{Model, Overlap};
use crate::schedule::{Provenance, Schedule};
use climb::Climb;
use paired::Paired;

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
    sources.extend(
        list::schedules(model).into_iter().map(|schedule| (schedule, "list scheduling in pairs".to_owned())),
    );
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
        passes_left: 0,
        stop: options.stop.clone(),
        best: None,
    };
    let mut found: Vec<(ReplayedSchedule, Option<Paired>)> = Vec::new();
    let share = options.effort / 20 / sources.len();
    for (schedule, engine) in sources {
        climb.passes_left = share;
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
