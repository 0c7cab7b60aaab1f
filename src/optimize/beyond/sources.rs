//! Schedules to begin with: what the searches for passes alone find for each choice of recomputation levels, and the named ones.

use super::levels::{self, Choice};
use super::memory::{self, Apart};
use super::{EFFORT_PER_REPLAYED_PASS, optimize};
use crate::block::Passes;
use crate::catalog;
use crate::kernel::{IndexedPass, IndexedProblem};
use crate::model::{Kind, Microbatch, Model, Pass, Stage, Units};
use crate::optimize::replayed::ReplayedSchedule;
use crate::optimize::{OptimizeError, Options, Progress, Solution};
use crate::optimize::{starting_points, zone};
use crate::schedule::Schedule;
use crate::stop::Stop;

/// A schedule, which may be over the capacities, and what found it.
pub(super) type Source = (Schedule, String);

/// What is found for each choice of levels, the best under the model first. Choices that do not fit into memory are left out. Where
/// time is limited, a quarter of it shows which is the best, and that one has the rest.
///
/// # Errors
/// When none fits, or replay rejects what a search proposes.
pub(super) fn solutions_of(
    plain: &Model,
    choices: &[Choice],
    options: &Options,
    report: &mut dyn FnMut(&Progress),
) -> Result<Vec<(Choice, Apart)>, OptimizeError> {
    let mut found = Vec::with_capacity(choices.len());
    let mut misfit = None;
    let trial = match choices {
        [_] => options.stop.clone(),
        _ => options.stop.within(options.stop.remaining() / 4),
    };
    let left = (1..=u32::try_from(choices.len()).unwrap_or(u32::MAX)).rev();
    for (left, choice) in left.zip(choices) {
        let options = Options { stop: trial.within(trial.remaining() / left), ..options.clone() };
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
        let is_cut_short = |apart: &Apart| apart.solutions.iter().any(|solution| solution.is_cut_short);
        if is_cut_short(&found[0].1) && !options.stop.is_due() {
            let choice = found[0].0.clone();
            let again = memory::solutions(&choice.of(plain), options, report)?;
            found.insert(0, (choice, again));
        }
    }
    Ok(found)
}

/// What was found for a choice of levels, as schedules of the model.
pub(super) fn found_apart(model: &Model, choice: &Choice, apart: &Apart) -> Vec<(Schedule, String)> {
    let named = |found: &Solution| (choice.named(model, &bare(&found.schedule)), found.engine.clone());
    apart.solutions.iter().map(named).collect()
}

/// Around how many schedules other levels are tried.
const MOST_WITH_OTHER_LEVELS: u32 = 4;

/// What is found with other levels: around the best of these schedules, and in the model of the levels of the best.
pub(super) fn at_better_levels(
    model: &Model,
    plain: &Model,
    options: &Options,
    aside: &Options,
    from: &[ReplayedSchedule],
    report: &mut dyn FnMut(&Progress),
) -> Result<Vec<ReplayedSchedule>, OptimizeError> {
    let passes = options.effort / EFFORT_PER_REPLAYED_PASS / 20;
    let objective = options.objective;
    let better = |from: ReplayedSchedule, stop: &Stop| {
        levels::improved(model, objective, from.without_needless(model, objective), passes, stop)
    };
    let again = |from: &ReplayedSchedule| {
        ReplayedSchedule::new(model, objective, from.schedule.clone(), from.engine.clone())
            .map(|from| from.without_needless(model, objective))
    };
    let mut from = from.iter().map(again).collect::<Result<Vec<_>, _>>()?;
    from.sort_by_key(ReplayedSchedule::rank);
    let mut found = Vec::new();
    for (from, left) in from.into_iter().zip((1..=MOST_WITH_OTHER_LEVELS).rev()) {
        let stop = options.stop.within(options.stop.remaining() / (left + 1));
        found.push(better(from, &stop));
    }
    let best = found.iter().min_by_key(|found| found.rank());
    let mixed = best.and_then(|best| Choice::mixed(model, &best.schedule));
    if let Some(choice) = mixed.filter(|_| !options.stop.is_due()) {
        match optimize(&choice.of(plain).memory_floor(), aside, report) {
            Ok(solution) => {
                let schedule = choice.named(model, &bare(&solution.schedule));
                let replayed = ReplayedSchedule::new(model, options.objective, schedule, solution.engine);
                found.extend(replayed.ok().map(|from| better(from, &options.stop)));
            }
            Err(OptimizeError::Infeasible(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

/// The named schedules that there is time for.
pub(super) fn named(model: &Model, stop: &Stop) -> Vec<Source> {
    let named = catalog::entries().iter().filter_map(|entry| {
        let schedule = entry.generate_until(model, stop).ok()?;
        Some((schedule, entry.name_on(model.placement()).to_owned()))
    });
    named.collect()
}

/// The plain model of a model, with messages that wait for another one as long before they leave.
pub(super) fn with_longer_messages(model: &Model, plain: &Model) -> Model {
    let mut costs = plain.costs().clone();
    for (boundary, latency) in costs.communication.iter_mut().enumerate() {
        *latency += model.occupancy_after(Stage::at(boundary));
    }
    // Where the times do not fit, the plain model is as good.
    plain.with_costs(costs).unwrap_or_else(|_| plain.clone())
}

/// Orders of passes whose forwards are worth scheduling along, with what made them: what was found for passes alone; the named
/// schedules; blocks that need ever less memory; and uniform offsets. Where the model recomputes, some recompute everything.
pub(super) fn guides(plain: &Model, apart: &Apart, stop: &Stop) -> Vec<(Vec<Vec<Pass>>, String)> {
    let mut found: Vec<(Vec<Vec<Pass>>, String)> = Vec::new();
    let mut add = |orders: Vec<Vec<Pass>>, engine: String| {
        if found.iter().all(|(other, _)| *other != orders) {
            found.push((orders, engine));
        }
    };
    for solution in &apart.solutions {
        add(solution.schedule.orders().to_vec(), solution.engine.clone());
    }
    for (schedule, engine) in memory::named(plain, apart, &stop.within(stop.remaining() / 4)) {
        add(schedule.orders().to_vec(), engine);
    }
    let again = plain.memory().checkpoint.is_some();
    let floor = plain.memory_floor();
    // A step is the least that any activation takes.
    let step =
        Stage::all(plain.stages()).map(|stage| plain.activation(stage).0).filter(|&units| units > 0).min();
    let kinds = if again { &[false, true][..] } else { &[false][..] };
    for recompute in kinds {
        for parts in 0..LESS_ROOM {
            let less = Units(step.unwrap_or(0).saturating_mul(parts) / 2);
            let room = floor.with_less_room(&vec![less; plain.devices() as usize]);
            let Some(room) = room.filter(|_| !stop.is_due()) else { break };
            let passes = Passes { recompute: *recompute, ..Passes::SPLIT };
            let Ok(best) = zone::least_interval(&room, passes, &stop.within(stop.remaining() / 2)) else {
                break;
            };
            if let Ok(schedule) = best.block.expand(&room, room.microbatches()) {
                add(schedule.orders().to_vec(), "exact block".to_owned());
            }
        }
    }
    let problem = IndexedProblem::split(plain, &vec![false; plain.stages() as usize]);
    for growth in starting_points::growths(&floor) {
        let forwards = starting_points::uniform(plain, &problem, growth);
        let pass = |pass: &IndexedPass, kind| {
            Pass::new(problem.class(pass.class).stage, kind, Microbatch(pass.microbatch))
        };
        for kinds in [&[Kind::F][..], &[Kind::F, Kind::R][..]].into_iter().take(1 + usize::from(again)) {
            let order = |order: &Vec<IndexedPass>| {
                order.iter().flat_map(|of| kinds.iter().map(move |&kind| pass(of, kind))).collect()
            };
            add(forwards.iter().map(order).collect(), "uniform offsets".to_owned());
        }
    }
    found
}

/// How often blocks with less memory are looked for, each time with room for half an activation less.
const LESS_ROOM: i64 = 8;

/// The schedule without what was said of it under another model.
pub(super) fn bare(schedule: &Schedule) -> Schedule {
    let mut bare = schedule.clone();
    bare.certificate = None;
    bare
}
