//! Models in which microbatches go in two directions. The searches are for one pipeline, so the named schedules of two
//! directions and list scheduling are where [`Climb`] begins, under the model itself.

use std::time::{Duration, Instant};

use super::climb::Climb;
use super::paired::Paired;
use super::sources::bare;
use super::wander::Wander;
use super::{EFFORT_PER_REPLAYED_PASS, list, random_changes};
use crate::bounds::lower_bound_until;
use crate::catalog::{self, Entry};
use crate::model::{Device, Kind, Microbatch, Model, Pass};
use crate::optimize::feasible::Infeasible;
use crate::optimize::replayed::{ReplayedSchedule, given, with_time_to_check};
use crate::optimize::{Optimality, OptimizeError, Options, Progress, Solution, not_refuted, of_optimize};
use crate::schedule::Schedule;

/// [`optimize`](crate::optimize::optimize) for two directions, where [a microbatch fits](check_two_ways). None is recomputed
/// or offloaded.
pub(in crate::optimize) fn optimize_two_ways(
    model: &Model,
    options: &Options,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Solution, OptimizeError> {
    let objective = options.objective;
    let bound = lower_bound_until(model, objective, 0, &mut || false);
    let named = Named::of(model, options);
    let stop = with_time_to_check(model, &options.stop, named.longest);
    let mut found: Vec<(ReplayedSchedule, Option<Paired>)> = Vec::new();
    found.extend(named.replayed.into_iter().map(|named| (named, None)));
    let best = found.iter().map(|(named, _)| named.value).min();
    progress(&Progress {
        step: "improving named schedules".to_owned(),
        best,
        bound: bound.value,
        is_inner: false,
    });
    let mut climb =
        Climb { model, objective, bound: bound.value, passes_left: 0, stop: stop.clone(), best: None };
    let effort = options.effort / EFFORT_PER_REPLAYED_PASS;
    let mut sources: Vec<(Schedule, String)> = Vec::new();
    if best != Some(bound.value) && !stop.is_due() {
        for (named, _) in &found {
            let engine = format!("{}, improved", named.engine);
            sources.extend([(split(&named.schedule), engine.clone()), (bare(&named.schedule), engine)]);
        }
        let effort = list::Effort {
            seed: options.seed,
            passes: effort / 20,
            threads: options.threads,
            stop: &stop.within(stop.remaining() / 8),
        };
        let listed = list::schedules(model, &stop, &effort).into_iter();
        sources.extend(listed.map(|schedule| (schedule, "list scheduling in two directions".to_owned())));
    }
    for (schedule, engine) in sources {
        climb.passes_left = effort / 200;
        let improved = climb.improved(&Paired::of(model, &schedule, &engine));
        found.extend(improved.map(|(pairs, best)| (best, Some(pairs))));
    }
    found.extend(given(model, objective, &options.known).into_iter().map(|known| (known, None)));
    let (mut best, pairs) =
        found.into_iter().min_by_key(|(found, pairs)| (found.rank(), pairs.is_some())).ok_or_else(|| {
            // One microbatch at a time fits, unless memory is more than what F keeps.
            OptimizeError::NoneFound(model.beyond_passes().expect("memory is not plain"))
        })?;
    let pairs = pairs.unwrap_or_else(|| {
        let engine = format!("{}, improved", best.engine.trim_end_matches(", improved"));
        Paired::of(model, &split(&best.schedule), &engine)
    });
    climb.passes_left = if options.use_all_time { usize::MAX } else { effort / 4 };
    let mut tell = |value| progress(&random_changes(Some(value), bound.value));
    tell(best.value);
    let wander =
        Wander { seed: options.seed, threads: options.threads, bound: climb.bound, stop: &climb.stop };
    best = climb.wandered(pairs, best, &wander, &mut tell);
    let ReplayedSchedule { schedule, verdict, value, engine } = best;
    not_refuted(value, bound.value, None)?;
    let schedule = of_optimize(schedule, model, &engine);
    let optimality = if value == bound.value { Optimality::Bound } else { Optimality::Open };
    let is_cut_short = value != bound.value && stop.is_due();
    let solution =
        Solution { schedule, verdict, bound, optimality, block: None, engine, objective, is_cut_short };
    Ok(solution.certified(model))
}

/// The named schedules that replay accepts.
struct Named {
    replayed: Vec<ReplayedSchedule>,
    /// How long it took to make and to replay one at most, where time is limited.
    longest: Option<Duration>,
}

impl Named {
    /// As many as there is time for, the one of least memory first: where it does not fit, no named schedule does.
    fn of(model: &Model, options: &Options) -> Self {
        let is_limited = options.stop.remaining() < Duration::MAX;
        let (mut replayed, mut longest): (Vec<ReplayedSchedule>, _) = (Vec::new(), Duration::ZERO);
        let (least, others): (Vec<&Entry>, Vec<&Entry>) =
            catalog::entries().iter().partition(|entry| entry.name == "gems");
        for entry in least.into_iter().chain(others) {
            if !replayed.is_empty() && options.stop.remaining() < longest * 3 {
                break;
            }
            let begun = Instant::now();
            let Ok(schedule) = entry.generate_until(model, &options.stop) else { continue };
            let engine = entry.name.to_owned();
            replayed.extend(ReplayedSchedule::new(model, options.objective, schedule, engine));
            longest = longest.max(begun.elapsed());
        }
        Self { replayed, longest: is_limited.then_some(longest) }
    }
}

/// The same with an I and its W in place of every B outside pairs, so that they can part.
fn split(schedule: &Schedule) -> Schedule {
    let steps = Device::all(schedule.devices()).map(|device| {
        let (order, pairs) = (schedule.order(device), schedule.overlaps(device));
        let mut steps: Vec<Vec<Pass>> = Vec::with_capacity(order.len());
        let mut position = 0;
        while let Some(&pass) = order.get(position) {
            if pairs.binary_search(&position).is_ok() {
                steps.push(order[position..position + 2].to_vec());
                position += 1;
            } else if pass.kind == Kind::B {
                steps.extend([Kind::I, Kind::W].map(|kind| vec![pass.with_kind(kind)]));
            } else {
                steps.push(vec![pass]);
            }
            position += 1;
        }
        steps
    });
    let (placement, microbatches) = (schedule.placement().clone(), schedule.microbatches());
    Schedule::of_steps(placement, microbatches, steps).expect("a B is an I and its W")
}

/// Refuses capacities that not even one microbatch fits into. A microbatch is on one stage of a device at a time.
///
/// # Errors
/// When what some stage keeps does not fit.
pub(in crate::optimize) fn check_two_ways(model: &Model) -> Result<(), Infeasible> {
    let again = model.memory().checkpoint.is_some();
    for device in Device::all(model.devices()) {
        let Some(capacity) = model.activation_capacity(device) else { continue };
        for &stage in model.placement().stages_of(device) {
            let needed = model.activation(stage);
            let mut through = Microbatch::all(model.microbatches());
            let first = through.find(|&microbatch| model.placement().leads_through(stage, microbatch));
            if let Some(microbatch) = first.filter(|_| needed > capacity) {
                let at = Pass::new(stage, if again { Kind::R } else { Kind::F }, microbatch);
                let weights = model.resident(device);
                let (capacity, held) = (capacity + weights, vec![(stage, needed)]);
                return Err(Infeasible { device, capacity, needed: needed + weights, at, held });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certificate::{self, Objective};
    use crate::model::{Overlap, PairDurations, Placement, Ticks, Units};
    use crate::optimize::optimize;
    use crate::stop::{Interrupt, Stop};

    fn model(devices: u32, microbatches: u32, times: [i64; 4]) -> Model {
        let placement = Placement::bidirectional(devices).expect("a placement");
        Model::equal_stages(placement, microbatches, times).expect("a model")
    }

    fn best_named(model: &Model, objective: Objective) -> Ticks {
        let named = catalog::entries().iter().filter_map(|entry| {
            let schedule = entry.generate(model).ok()?;
            ReplayedSchedule::new(model, objective, schedule, String::new()).ok()
        });
        named.map(|named| named.value).min().expect("one microbatch after the other fits")
    }

    #[test]
    fn it_is_never_worse_than_named_schedules_and_its_certificate_holds() {
        let mut better = 0;
        for (devices, microbatches, times) in
            [(2, 1, [1, 1, 1, 0]), (2, 5, [3, 4, 2, 1]), (4, 8, [3, 4, 2, 0]), (4, 11, [2, 2, 2, 5])]
        {
            let plain = model(devices, microbatches, times);
            let pair = PairDurations::Uniform(Ticks(times[1] + times[2] + 1));
            let overlap = Overlap { forward_backward: pair, ..Overlap::default() };
            let short = plain.with_uniform_activation_capacity(Some(Units(2))).expect("a model");
            for model in [plain.with_overlap(overlap).expect("pairs"), plain, short] {
                for objective in [Objective::Makespan, Objective::DeviceSpan] {
                    let options = Options { objective, effort: 2_000_000, ..Options::default() };
                    let solution = optimize(&model, &options, &mut |_| ()).expect("a schedule");
                    let named = best_named(&model, objective);
                    assert!(solution.value() <= named, "{}", solution.engine);
                    better += usize::from(solution.value() < named);
                    let found = certificate::check(&solution.schedule, Some(&model)).expect("a certificate");
                    assert_eq!(found.objective, objective);
                    let again = optimize(&model, &options, &mut |_| ()).expect("a schedule");
                    assert_eq!(again.schedule, solution.schedule);
                }
            }
        }
        assert!(better > 5, "{better}");
    }

    /// Where the named schedules do not fit but the one of a microbatch at a time.
    #[test]
    fn half_of_the_memory_does_not_end_all_overlap() {
        let model = model(4, 16, [2, 2, 2, 0]).with_uniform_activation_capacity(Some(Units(2)));
        let options = Options { effort: 40_000_000, ..Options::default() };
        let solution = optimize(&model.expect("a model"), &options, &mut |_| ()).expect("a schedule");
        // One after the other takes 24 ticks for each microbatch.
        assert!(solution.value() < Ticks(16 * 24 / 2), "{} {}", solution.engine, solution.value());
        assert_eq!(solution.verdict.peak_memory_max(), Units(2));
    }

    #[test]
    fn a_schedule_is_there_at_once() {
        let interrupt = Interrupt::default();
        interrupt.raise();
        let options = Options { stop: Stop::on(interrupt), ..Options::default() };
        let solution = optimize(&model(4, 8, [3, 4, 2, 0]), &options, &mut |_| ()).expect("a schedule");
        assert!(solution.is_cut_short, "{}", solution.engine);
    }

    #[test]
    fn too_little_memory_is_named() {
        let none = model(2, 1, [1, 1, 1, 0]).with_uniform_activation_capacity(Some(Units::ZERO));
        let none = none.expect("a model");
        let Err(OptimizeError::Infeasible(error)) = optimize(&none, &Options::default(), &mut |_| ()) else {
            panic!("there is no room")
        };
        assert_eq!(
            (error.device, error.needed, error.at.to_string()),
            (Device(0), Units(1), "0F0".to_owned())
        );
    }
}
