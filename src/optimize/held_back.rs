//! Microbatches that are held back, where recomputation makes room for them.
//!
//! Before the first backward can reach it, a device idles when its memory is full; and after its last forward, when it has done all
//! that it held. A microbatch that is recomputed holds next to nothing in between. So its Fs may run in the idle time at the
//! beginning, and its Rs and backwards in that at the end: it costs only the time of its Rs. `docs/bounds.md` has the
//! bound that this sets (*Work against memory*).
//!
//! The last few microbatches are taken out of a schedule, and put back in that way: into gaps that are long enough, or at places in
//! the orders. Replay says whether the result is valid; it is to be annealed. Models have one direction here, one level of
//! recomputation, and no pairs or copies.

use crate::model::{Kind, Microbatch, Model, Pass, Stage, Ticks};
use crate::replay::replay;
use crate::schedule::Schedule;

/// The schedule with one or a few microbatches held back, in every way; not all of these are valid.
pub(super) fn held_back<'a>(model: &'a Model, schedule: &'a Schedule) -> impl Iterator<Item = Schedule> + 'a {
    let gaps = (1..=MOST_IN_GAPS).flat_map(|count| [Again::Behind, Again::Apart].map(|again| (count, again)));
    let orders = (1..=MOST_IN_ORDER).flat_map(|count| (0..=MOST_BEFORE).map(move |before| (count, before)));
    let in_gaps = gaps.filter_map(move |(count, again)| in_gaps(model, schedule, count, again));
    in_gaps.chain(orders.filter_map(move |(count, before)| in_order(model, schedule, count, before)))
}

/// The most microbatches that are held back in gaps, and at places in the orders; and the most others whose Is come after theirs.
const MOST_IN_GAPS: u32 = 4;
const MOST_IN_ORDER: u32 = 2;
const MOST_BEFORE: u32 = 2;

/// The schedule with so many microbatches held back, each pass in the first gap that it fits into, and every R right before its I, or
/// in a gap of its own; nothing where no other microbatch is left, or where the rest cannot run.
fn in_gaps(model: &Model, schedule: &Schedule, count: u32, again: Again) -> Option<Schedule> {
    let kept = model.microbatches().checked_sub(count).filter(|&kept| kept > 0)?;
    let is_kept = |pass: &&Pass| pass.microbatch.0 < kept;
    let orders = schedule.orders().iter().map(|order| order.iter().filter(is_kept).copied().collect());
    let rest = Schedule::new(model.placement().clone(), kept, orders.collect()).ok()?;
    let starts = replay(&model.with_microbatches(kept).ok()?, &rest).timing?.starts;
    let timed = rest.orders().iter().zip(&starts);
    let mut lines: Vec<Line> = timed.map(|(order, starts)| Line::new(model, order, starts)).collect();
    let along: Vec<Stage> = Stage::all(model.stages()).collect();
    let device = |stage: Stage| model.placement().device_of(stage).index();
    for held in (kept..model.microbatches()).map(Microbatch) {
        let mut ready = Ticks::ZERO;
        for &stage in &along {
            let pass = Pass::new(stage, Kind::F, held);
            let end = lines[device(stage)].put_forward(pass, ready, model.duration(stage, Kind::F));
            ready = end
                + model.placement().stage_after(stage).map_or(Ticks::ZERO, |_| model.latency_after(stage));
        }
        for &stage in along.iter().rev() {
            let [recompute, input, weight] = [Kind::R, Kind::I, Kind::W]
                .map(|kind| (Pass::new(stage, kind, held), model.duration(stage, kind)));
            let line = &mut lines[device(stage)];
            let end = match again {
                Again::Behind => line.put(&[recompute, input], line.last_forward.max(ready - recompute.1)),
                Again::Apart => {
                    let from = line.put(&[recompute], line.last_forward);
                    line.put(&[input], ready.max(from))
                }
            };
            line.put(&[weight], end);
            let before = model.placement().stage_before(stage);
            ready = end + before.map_or(Ticks::ZERO, |before| model.latency_after(before));
        }
    }
    let orders = lines.into_iter().map(|line| line.passes.into_iter().map(|timed| timed.pass).collect());
    Schedule::new(model.placement().clone(), model.microbatches(), orders.collect()).ok()
}

/// Where Rs are put.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Again {
    /// Right before their Is: what they acquire is held for no longer than it must be.
    Behind,
    /// In the first gap after the last forward.
    Apart,
}

/// A pass with its time.
#[derive(Clone, Copy)]
struct Timed {
    pass: Pass,
    start: Ticks,
    end: Ticks,
}

/// What a device runs, in order.
struct Line {
    passes: Vec<Timed>,
    first_backward: Ticks,
    /// When the last forward of those that are not held back ends.
    last_forward: Ticks,
}

impl Line {
    fn new(model: &Model, order: &[Pass], starts: &[Ticks]) -> Self {
        let timed = order.iter().zip(starts).map(|(&pass, &start)| {
            let end = start + model.duration(pass.stage, pass.kind);
            Timed { pass, start, end }
        });
        let passes: Vec<Timed> = timed.collect();
        let of =
            |is_forward: bool| passes.iter().filter(move |timed| (timed.pass.kind == Kind::F) == is_forward);
        let first_backward = of(false).map(|timed| timed.start).min().unwrap_or_default();
        let last_forward = of(true).map(|timed| timed.end).max().unwrap_or_default();
        Self { passes, first_backward, last_forward }
    }

    /// Puts passes that follow each other into the first gap that they fit into, no earlier than `from`, and returns when the last
    /// of them ends.
    fn put(&mut self, passes: &[(Pass, Ticks)], from: Ticks) -> Ticks {
        let takes: Ticks = passes.iter().map(|&(_, takes)| takes).sum();
        let begin = |at: usize| at.checked_sub(1).map_or(from, |before| from.max(self.passes[before].end));
        let fits = |&at: &usize| self.passes.get(at).is_none_or(|next| begin(at) + takes <= next.start);
        let at = (0..=self.passes.len()).find(fits).expect("behind the last pass there is no end of the gap");
        let mut end = begin(at);
        for (behind, &(pass, takes)) in passes.iter().enumerate() {
            let start = end;
            end = start + takes;
            self.passes.insert(at + behind, Timed { pass, start, end });
        }
        end
    }

    /// Puts a forward into the first gap before the first backward that it fits into; where there is none, before the first pass that
    /// begins when it may. Returns when it ends.
    fn put_forward(&mut self, pass: Pass, ready: Ticks, takes: Ticks) -> Ticks {
        let gap = (0..self.passes.len()).any(|at| {
            let before = at.checked_sub(1).map_or(Ticks::ZERO, |before| self.passes[before].end);
            let next = self.passes[at].start;
            next <= self.first_backward && ready.max(before) + takes <= next
        });
        if gap {
            return self.put(&[(pass, takes)], ready);
        }
        let at = self.passes.iter().position(|next| next.start >= ready).unwrap_or(self.passes.len());
        let start = at.checked_sub(1).map_or(ready, |before| ready.max(self.passes[before].end));
        self.passes.insert(at, Timed { pass, start, end: start + takes });
        start + takes
    }
}

/// The schedule with so many microbatches held back: their Fs come first, their Ws last, and their Rs and Is right before the I of the
/// microbatch that is so many before the last of the others. Nothing where there are too few of these.
fn in_order(model: &Model, schedule: &Schedule, count: u32, before: u32) -> Option<Schedule> {
    let last = model.microbatches().checked_sub(count)?.checked_sub(1)?;
    let next = last.checked_sub(before)?;
    let held = || (last + 1..model.microbatches()).map(Microbatch);
    let orders = schedule.orders().iter().map(|order| {
        let mut changed = Vec::with_capacity(order.len() + order.len() / 8);
        let mut weights = Vec::new();
        for &pass in order.iter().filter(|pass| pass.microbatch.0 <= last) {
            let of = |held, kind| Pass { microbatch: held, ..pass.with_kind(kind) };
            if pass.kind == Kind::F && pass.microbatch.0 == 0 {
                changed.extend(held().map(|held| of(held, Kind::F)));
            }
            if matches!(pass.kind, Kind::I | Kind::B) && pass.microbatch.0 == next {
                for held in held() {
                    changed.extend([of(held, Kind::R), of(held, Kind::I)]);
                    weights.push(of(held, Kind::W));
                }
            }
            changed.push(pass);
        }
        changed.extend(weights);
        changed
    });
    Schedule::new(model.placement().clone(), model.microbatches(), orders.collect()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Costs, Memory, Placement, Recompute, RecomputeLevel, Units};
    use crate::optimize::{Options, optimize};

    /// Linear placement on two devices, ten microbatches. The first device takes 2 ticks for F, for I, and for R, and has room for five
    /// microbatches; the other takes 1 tick for each F and I. A message takes 6 ticks.
    fn model() -> Model {
        let plain = Model::equal_stages(Placement::linear(2).expect("a placement"), 10, [1, 1, 0, 6]);
        let plain = plain.expect("a model");
        let both = || vec![Ticks(2), Ticks(1)];
        let costs = Costs { forward: both(), backward_input: both(), ..plain.costs().clone() };
        let memory = Memory { capacity: vec![Some(Units(5)), None], ..plain.memory().clone() };
        let level = RecomputeLevel { checkpoint: vec![Units(0); 2], duration: Some(both()) };
        plain
            .with_costs(costs)
            .and_then(|model| model.with_plain_memory(memory))
            .and_then(|model| model.with_recompute(Some(Recompute { levels: vec![level], fused: false })))
            .expect("a model")
    }

    /// Five at a time, as long as there is room, and then one backward and one forward.
    fn all_kept(model: &Model) -> Schedule {
        let first = (0..5).map(|of| format!("0F{of}"));
        let steady = (0..5).flat_map(|of| [format!("0I{of}"), format!("0W{of}"), format!("0F{}", of + 5)]);
        let last = (5..10).flat_map(|of| [format!("0I{of}"), format!("0W{of}")]);
        let other = (0..10).flat_map(|of| ["F", "I", "W"].map(|kind| format!("1{kind}{of}")));
        let read = |names: Vec<String>| names.iter().map(|name| name.parse().expect("a pass")).collect();
        let orders = vec![read(first.chain(steady).chain(last).collect()), read(other.collect())];
        Schedule::new(model.placement().clone(), 10, orders).expect("a schedule")
    }

    #[test]
    fn a_microbatch_that_is_held_back_costs_no_more_than_its_recomputation() {
        let model = model();
        let makespan = |schedule: &Schedule| {
            let verdict = replay(&model, schedule);
            assert_eq!(verdict.violations, []);
            verdict.timing.expect("it is valid").metrics.makespan
        };
        let kept = all_kept(&model);
        assert_eq!(makespan(&kept), Ticks(52));
        // Without one, it takes 48, and idles for 2 ticks before each of the last Is.
        for (before, value) in [(0, 53), (1, 51), (2, 50)] {
            let held = in_order(&model, &kept, 1, before).expect("nine are left");
            assert_eq!(makespan(&held), Ticks(value), "{before}");
        }
        for (again, value) in [(Again::Apart, 50), (Again::Behind, 52)] {
            let held = in_gaps(&model, &kept, 1, again).expect("nine are left");
            assert_eq!(makespan(&held), Ticks(value), "{again:?}");
        }
        assert_eq!(in_gaps(&model, &kept, 10, Again::Apart), None);
        assert_eq!(in_order(&model, &kept, 10, 0), None);
        assert_eq!(in_order(&model, &kept, 8, 2), None);
        // Annealed, more of them fill both windows.
        let options = Options { effort: 4_000_000, exact_effort: 0, ..Options::default() };
        let solution = optimize(&model, &options, &mut |_| ()).expect("a schedule");
        assert_eq!((solution.lower_bound(), solution.value()), (Ticks(46), Ticks(46)), "{}", solution.engine);
    }

    /// With everything kept, 313 is the least. Where one may be held back, no schedule takes less than 306.
    #[test]
    fn one_is_held_back_where_that_is_shorter_than_to_keep_everything() {
        let plain = Model::equal_stages(Placement::v(4).expect("a placement"), 16, [3, 4, 2, 0]);
        let plain = plain.expect("a model");
        let level = RecomputeLevel { checkpoint: vec![Units(0); 8], duration: Some(vec![Ticks(3); 8]) };
        let model = plain
            .with_plain_memory(Memory { activation: vec![Units(2); 8], ..plain.memory().clone() })
            .and_then(|model| model.with_recompute(Some(Recompute { levels: vec![level], fused: false })))
            .and_then(|model| model.with_uniform_activation_capacity(Some(Units(12))))
            .expect("a model");
        let options = Options { effort: 40_000_000, exact_effort: 0, ..Options::default() };
        let solution = optimize(&model, &options, &mut |_| ()).expect("a schedule");
        assert_eq!(solution.lower_bound(), Ticks(306));
        assert!(solution.value() < Ticks(313), "{} {}", solution.value(), solution.engine);
    }
}
