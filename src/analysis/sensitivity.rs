//! Which durations matter for the makespan of given orders, and how much longer the others may be.

use std::fmt;

use num_rational::Ratio;

use crate::model::{Costs, Kind, Model, Stage, Ticks};
use crate::replay::replay;
use crate::schedule::Schedule;

/// One value of `[time]`: it holds for every microbatch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// How long F, I or W of a stage takes. An R takes as long as F, a B as long as I and W.
    Duration(Stage, Kind),
    /// The latency between a stage and the next one.
    Latency(Stage),
}

impl fmt::Display for Part {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Duration(stage, kind) => write!(out, "{kind} of stage {stage}"),
            Self::Latency(stage) => write!(out, "the latency between stages {stage} and {}", stage.0 + 1),
        }
    }
}

/// What a part means for the makespan of a schedule, all other parts being as they are in the model. All of it is in ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sensitivity {
    /// The part.
    pub part: Part,
    /// How long it is, in ranges at most.
    pub ticks: Ticks,
    /// Its low end, where it is a range.
    pub low: Option<Ticks>,
    /// How much shorter the makespan is when the part is at its low end; `None` where it is no range.
    pub saves: Option<Ticks>,
    /// How much longer the makespan is when the part is 1 % longer.
    pub costs: Ratio<i64>,
    /// How much longer the part may be until the makespan is longer, rounded down to a hundredth of a tick. Zero: the part is on
    /// the critical path.
    pub free: Ratio<i64>,
}

/// Every part that takes time, or may take time, in a schedule: F of all stages, then I, W, and the latencies between devices.
///
/// A part takes a dozen replays or so; once `is_due` says so, those that are left are left out.
///
/// Every figure is the difference of two replays, so it is exact. That a part costs nothing says nothing of two parts that grow
/// together. Nothing where the schedule is not valid under the model, or where times would become too large to count, or
/// longer passes would not suit the durations of overlapped pairs; and where [times
/// decide](Model::orders_messages_by_time) in which order messages are sent.
#[must_use]
pub fn sensitivities(
    model: &Model,
    schedule: &Schedule,
    is_due: &mut dyn FnMut() -> bool,
) -> Option<Vec<Sensitivity>> {
    if model.orders_messages_by_time() {
        return None;
    }
    let stages = || Stage::all(model.stages());
    let durations = [Kind::F, Kind::I, Kind::W].into_iter();
    let durations = durations.flat_map(|kind| stages().map(move |stage| Part::Duration(stage, kind)));
    let device = |stage| model.placement().device_of(stage);
    let between = stages().skip(1).map(|stage| Stage(stage.0 - 1));
    let between = between.filter(|&stage| device(stage) != device(Stage(stage.0 + 1)));
    let parts = durations.chain(between.map(Part::Latency));
    let parts = parts.filter(|&part| *of(&mut model.costs().clone(), part) > Ticks::ZERO);
    let makespan = makespan(model, schedule)?;
    let parts = parts.take_while(|_| !is_due());
    // One per cent of a tick of the model is one of these.
    let finer = model.in_finer_ticks(100).ok()?;
    parts.map(|part| sensitivity([model, &finer], schedule, part, makespan)).collect()
}

fn sensitivity(
    [model, finer]: [&Model; 2],
    schedule: &Schedule,
    part: Part,
    makespan: Ticks,
) -> Option<Sensitivity> {
    let ticks = *of(&mut model.costs().clone(), part);
    let low = model.low_ends().map(|low| *of(&mut low.clone(), part)).filter(|&low| low < ticks);
    let at = |ticks| with(model, schedule, part, ticks);
    let saves = match low {
        Some(low) => Some(makespan - at(low)?),
        None => None,
    };
    let finely = |hundredths| with(finer, schedule, part, hundredths);
    let costs = Ratio::new(finely(Ticks(101 * ticks.0))?.0, 100) - makespan.0;
    let free = free(Ticks(100 * ticks.0), Ticks(100 * makespan.0), finely)?;
    Some(Sensitivity { part, ticks, low, saves, costs, free: Ratio::new(free.0, 100) })
}

/// How much more than `ticks` a part may take for the makespan to stay what it is.
///
/// The makespan is the longest of all chains of passes, each of which grows linearly with the part. So it is a convex
/// function of it, and lies above the line through its last two values: Newton's method from above never passes by the
/// answer, and each line rules out all beyond the point where it meets the makespan that must not be exceeded.
fn free(ticks: Ticks, makespan: Ticks, at: impl Fn(Ticks) -> Option<Ticks>) -> Option<Ticks> {
    if at(ticks + Ticks(1))? > makespan {
        return Some(Ticks::ZERO);
    }
    // Some pass or message takes so long, then.
    let mut more = makespan.0 + 1;
    loop {
        let excess = (at(ticks + Ticks(more))? - makespan).0;
        if excess == 0 {
            return Some(Ticks(more));
        }
        // It is positive, for the function is convex and has grown.
        let slope = excess - (at(ticks + Ticks(more - 1))? - makespan).0;
        more -= (excess + slope - 1) / slope;
    }
}

/// The makespan with a part of this length.
fn with(model: &Model, schedule: &Schedule, part: Part, ticks: Ticks) -> Option<Ticks> {
    let mut costs = model.costs().clone();
    *of(&mut costs, part) = ticks;
    makespan(&model.with_costs(costs).ok()?, schedule)
}

fn makespan(model: &Model, schedule: &Schedule) -> Option<Ticks> {
    let verdict = replay(model, schedule);
    verdict.timing.filter(|_| verdict.violations.is_empty()).map(|timing| timing.metrics.makespan)
}

fn of(costs: &mut Costs, part: Part) -> &mut Ticks {
    let (list, stage) = match part {
        Part::Duration(stage, Kind::F | Kind::R) => (&mut costs.forward, stage),
        Part::Duration(stage, Kind::I | Kind::B) => (&mut costs.backward_input, stage),
        Part::Duration(stage, Kind::W) => (&mut costs.backward_weight, stage),
        Part::Latency(stage) => (&mut costs.communication, stage),
    };
    &mut list[stage.index()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog;
    use crate::model::Placement;

    #[test]
    fn free_is_the_most_that_costs_nothing() {
        let mut some_are_free = false;
        for (seed, name) in ["1f1b", "zb-h1", "gpipe"].into_iter().enumerate() {
            let equal = Model::equal_stages(Placement::linear(4).expect("a placement"), 5, [30, 40, 20, 3]);
            let equal = equal.expect("a model");
            let mut random = fastrand::Rng::with_seed(seed as u64);
            let mut costs = equal.costs().clone();
            for ticks in costs.forward.iter_mut().chain(&mut costs.backward_weight) {
                *ticks = Ticks(random.i64(10..60));
            }
            let model = equal.with_costs(costs).expect("a model");
            let schedule = catalog::find(name).expect("a name").generate(&model).expect("a schedule");
            let before = makespan(&model, &schedule).expect("it runs");
            let found = sensitivities(&model, &schedule, &mut || false).expect("it runs");
            assert_eq!(found.len(), 15);
            assert!(found.iter().any(|found| found.free == Ratio::ZERO));
            some_are_free |= found.iter().any(|found| found.free > Ratio::ONE);
            let finer = model.in_finer_ticks(100).expect("a model");
            for Sensitivity { part, ticks, low, saves, costs, free } in found {
                let at = |more: i64| with(&model, &schedule, part, ticks + Ticks(more)).expect("it runs");
                // All that are shorter, one by one: no convexity is needed.
                assert!((0..=free.to_integer()).all(|more| at(more) == before), "{part}");
                let hundredths = (free * 100).to_integer();
                let finely = |more: i64| {
                    let longer = Ticks(100 * ticks.0 + hundredths + more);
                    with(&finer, &schedule, part, longer).expect("it runs")
                };
                assert_eq!(finely(0).0, 100 * before.0, "{part}");
                assert!(finely(1).0 > 100 * before.0, "{part}");
                assert_eq!((low, saves), (None, None));
                // The makespan is convex in the part, and constant before it is not.
                let share = Ratio::new(ticks.0, 100);
                assert!(costs <= share * (at(1) - before).0, "{part}");
                assert_eq!(costs > Ratio::ZERO, free < share, "{part}");
            }
        }
        assert!(some_are_free);
    }

    /// However coarse the ticks: W of one stage, with nothing beside it, costs its one per cent in full.
    #[test]
    fn one_per_cent_is_exact_however_coarse_the_ticks() {
        for times in [[1, 1, 1, 0], [20, 20, 20, 0], [1000, 1000, 1000, 0]] {
            let model =
                Model::equal_stages(Placement::linear(1).expect("a placement"), 3, times).expect("a model");
            let schedule = catalog::find("gpipe").expect("a name").generate(&model).expect("a schedule");
            let found = sensitivities(&model, &schedule, &mut || false).expect("it runs");
            assert_eq!(found.len(), 3);
            for part in found {
                assert_eq!(part.costs, Ratio::new(3 * times[0], 100), "{}", part.part);
            }
        }
    }

    #[test]
    fn a_range_saves_what_its_low_end_takes_less() {
        let plain = Model::equal_stages(Placement::linear(2).expect("a placement"), 3, [300, 300, 300, 20]);
        let plain = plain.expect("a model");
        let low = Costs { forward: vec![Ticks(300), Ticks(200)], ..plain.costs().clone() };
        let model = plain.with_low_ends(low.clone()).expect("ranges");
        let schedule = catalog::find("1f1b").expect("a name").generate(&model).expect("a schedule");
        let found = sensitivities(&model, &schedule, &mut || false).expect("it runs");
        let ranges: Vec<&Sensitivity> = found.iter().filter(|found| found.low.is_some()).collect();
        let [one] = ranges.as_slice() else { panic!("one range") };
        assert_eq!((one.part, one.low), (Part::Duration(Stage(1), Kind::F), Some(Ticks(200))));
        let best = makespan(&plain.with_costs(low).expect("a model"), &schedule).expect("it runs");
        assert_eq!(one.saves, makespan(&model, &schedule).map(|worst| worst - best));
    }
}
