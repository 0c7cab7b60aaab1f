//! **Recomputation bound.** What a device recomputes takes time, and what it does not recompute takes memory for longer.
//!
//! For a stage and a microbatch there is a choice: to keep everything, or one of the levels of recomputation. Each has
//! its work, which is nothing or the duration of R, and its area: what is held times the least time for which it is
//! held. Let V be the other work of the device, C its capacity, `A(r)` the least area of all microbatches if their Rs
//! take r in all, where choices may be mixed in any shares.
//!
//! **Theorem.** The passes of the device have a span of at least the least T for which there is an r with `V + r <= T` and
//! `A(r) <= C*T`.
//!
//! **Proof.** Take any schedule, r what its Rs take on the device, and T the span of its passes. They run one at a time, so
//! `V + r <= T`. All that is held is held within T, and never more than C of it, so the areas of its own choices are at
//! most C*T in all, and A(r) is no more than they are.
//!
//! A(r) is the sum of convex functions, one for each stage, whose corners are on the lower hull of (work, area) of the
//! choices. So it falls along the segments of all hulls in the order of their slopes, the steepest first, and the least
//! T is where it first meets `C*(V + r)`; or, where it never does, `C*T` meets what is left of it.
//!
//! **Windows.** Before the first backward and after the last forward that a device can meet, it can do no more than what its
//! memory holds, Rs included. So it idles there, as in the [window bound](super::window), and this idle time counts
//! like work.
//!
//! **Until the last I.** All Rs run before the last I of the device, and everything that is held until an I is. So the
//! theorem holds without the Ws and what is held for them, for the time up to the end of the last I; what follows that
//! comes after, as in the [chain bound](super::window).

use std::cmp::Reverse;

use num_rational::Ratio;

use super::path::Paths;
use super::reason::{Bound, BoundReason, Objective, Window};
use super::window;
use crate::model::{Device, Kind, Model, Stage, Ticks, Units};

/// The bounds of a device that may recompute: over all its passes, and up to its last I, for each choice of windows
/// that cannot overlap. From the paths of the model, whose levels count, and of the [relaxed](super::relaxed) one.
pub(super) fn bounds(
    real: &Paths<'_>,
    paths: &Paths<'_>,
    device: Device,
    objective: Objective,
) -> Vec<Bound> {
    let model = paths.model();
    let trade = |part| Trade::new(real.model(), paths, device, part, model.microbatches());
    let Some((all, until_last_input)) = trade(Part::All).zip(trade(Part::UntilLastInput)) else {
        return Vec::new();
    };
    let [firsts, lasts] = window::with_recomputation(real, model, device, objective);
    // Nothing but its tail is left out of what follows the last I.
    let after = window::after_last_input(real, model, device, objective);
    let after = Window { length: after, work: Ticks::ZERO };
    let (head, device_tail) = (firsts[0].length, lasts[0].length);
    let pairs = firsts.into_iter().flat_map(|first| {
        let of_all = lasts.into_iter().map(move |last| (Part::All, first, last, device_tail));
        of_all.chain([(Part::UntilLastInput, first, after, after.length)])
    });
    let bound = |(part, first, last, tail): (Part, Window, Window, Ticks)| {
        let trade = if part == Part::All { &all } else { &until_last_input };
        let work = Ticks(i64::try_from(trade.work).ok()?);
        let idle = first.idle() + last.idle() - head - tail;
        let is_apart = work > first.work + last.work;
        let span = trade.with_idle(idle).least_span().filter(|_| is_apart)?;
        let span = Ticks(i64::try_from(span.ceil().to_integer()).ok()?);
        let value = head.checked_add(span)?.checked_add(tail)?;
        Some(Bound { value, reason: BoundReason::Recomputation { device, work, idle, span, head, tail } })
    };
    pairs.filter_map(bound).collect()
}

/// The least time per microbatch on a device that may recompute, in the long run.
pub(super) fn pace(real: &Model, paths: &Paths<'_>, device: Device) -> Option<Ratio<i64>> {
    let least = Trade::new(real, paths, device, Part::All, 1)?.least_span()?;
    Some(Ratio::new(i64::try_from(*least.numer()).ok()?, i64::try_from(*least.denom()).ok()?))
}

/// What of a device counts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// All its passes.
    All,
    /// What ends no later than its last I.
    UntilLastInput,
}

/// What a choice takes of a device for one microbatch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Choice {
    /// What R takes, in ticks.
    work: i128,
    /// Units times ticks.
    area: i128,
}

/// More work for less area.
#[derive(Clone, Copy)]
struct Segment {
    work: i128,
    saves: i128,
}

/// What a device can trade.
#[derive(Clone)]
struct Trade {
    capacity: i128,
    /// Of all passes that count but Rs, in ticks.
    work: i128,
    /// Without any R that takes time.
    area: i128,
    /// The steepest first.
    segments: Vec<Segment>,
}

impl Trade {
    /// Nothing for a device that has no capacity, or that recomputes nothing; nor where memory may also be had by offloading,
    /// which takes no work.
    fn new(real: &Model, paths: &Paths<'_>, device: Device, part: Part, microbatches: u32) -> Option<Self> {
        let model = paths.model();
        let capacity = model.activation_capacity(device).filter(|&capacity| capacity > Units::ZERO)?;
        if real.recompute_levels() == 0 || real.offload().is_some() {
            return None;
        }
        let microbatches = i128::from(microbatches);
        let (mut work, mut area, mut segments) = (0_i128, 0_i128, Vec::new());
        for &stage in model.placement().stages_of(device) {
            let duration = |kind| model.duration(stage, kind);
            let backward = if part == Part::All { Kind::B } else { Kind::I };
            work += i128::from((duration(Kind::F) + duration(backward)).0) * microbatches;
            let corners = lower_hull(choices(real, paths, stage, part));
            area = area.checked_add(corners.first()?.area.checked_mul(microbatches)?)?;
            for pair in corners.windows(2) {
                segments.push(Segment {
                    work: (pair[1].work - pair[0].work) * microbatches,
                    saves: (pair[0].area - pair[1].area).checked_mul(microbatches)?,
                });
            }
        }
        let slope = |segment: &Segment| Ratio::new(segment.saves, segment.work);
        segments.sort_by_key(|segment| Reverse(slope(segment)));
        Some(Self { capacity: i128::from(capacity.0), work, area, segments })
    }

    /// The same for a device that idles for so long.
    fn with_idle(&self, idle: Ticks) -> Self {
        Self { work: self.work + i128::from(idle.0), ..self.clone() }
    }

    /// The least time within which both work and area fit; nothing where figures are too large to tell.
    fn least_span(&self) -> Option<Ratio<i128>> {
        let (mut work, mut area) = (self.work, self.area);
        for Segment { work: more, saves } in &self.segments {
            if area <= self.capacity.checked_mul(work)? {
                break;
            }
            if area - saves <= self.capacity.checked_mul(work + more)? {
                // Somewhere on this segment: area - (t - work)*saves/more = capacity*t.
                let over = area.checked_mul(*more)?.checked_add(saves.checked_mul(work)?)?;
                return Some(Ratio::new(over, self.capacity.checked_mul(*more)?.checked_add(*saves)?));
            }
            work += more;
            area -= saves;
        }
        Some(Ratio::from_integer(work).max(Ratio::new(area, self.capacity)))
    }
}

/// What can be done with a stage: keep everything, or recompute at each of the levels.
fn choices(real: &Model, paths: &Paths<'_>, stage: Stage, part: Part) -> Vec<Choice> {
    let model = paths.model();
    let [forward, input, weight] = [Kind::F, Kind::I, Kind::W].map(|kind| model.duration(stage, kind));
    let to_input = paths.input_head(stage) + input - paths.forward_head(stage);
    let area = |units: Units, ticks: Ticks| i128::from(units.0) * i128::from(ticks.0);
    let whole = model.activation(stage);
    let for_weight = match part {
        Part::All => area(model.retained_for_weight(stage), weight),
        Part::UntilLastInput => 0,
    };
    let keep = Choice { work: 0, area: area(whole, to_input) + for_weight };
    let level = |level: usize| {
        let again = real.recompute_duration(stage, level);
        let kept = real.checkpoint_at(stage, level).unwrap_or(whole);
        // R comes between F and I, and what it acquires is there until the end of I.
        let long = to_input.max(forward + again + input);
        Choice {
            work: i128::from(again.0),
            area: area(kept, long) + area(whole - kept, again + input) + for_weight,
        }
    };
    std::iter::once(keep).chain((0..real.recompute_levels()).map(level)).collect()
}

/// The corners of the lower hull, as far as more work means less area: the first has no work that takes time.
fn lower_hull(mut choices: Vec<Choice>) -> Vec<Choice> {
    choices.sort_unstable();
    let mut corners: Vec<Choice> = Vec::new();
    let slope = |one: Choice, other: Choice| Ratio::new(one.area - other.area, other.work - one.work);
    for choice in choices {
        // Choices come with ever more work; of those with the same, that with the least area first.
        if corners.last().is_some_and(|last| choice.area >= last.area) {
            continue;
        }
        while let [.., before, last] = corners[..]
            && slope(before, last) <= slope(last, choice)
        {
            corners.pop();
        }
        corners.push(choice);
    }
    corners
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Memory, Placement, Recompute, RecomputeLevel};

    fn hull(choices: &[(i128, i128)]) -> Vec<(i128, i128)> {
        let choices = choices.iter().map(|&(work, area)| Choice { work, area }).collect();
        lower_hull(choices).into_iter().map(|corner| (corner.work, corner.area)).collect()
    }

    #[test]
    fn the_hull_has_the_choices_that_no_mixture_of_others_beats() {
        assert_eq!(hull(&[(0, 10)]), [(0, 10)]);
        // More work for no less area.
        assert_eq!(hull(&[(0, 10), (3, 10), (5, 12)]), [(0, 10)]);
        // An R that takes no time.
        assert_eq!(hull(&[(0, 10), (0, 4), (2, 3)]), [(0, 4), (2, 3)]);
        // Half of (0, 10) and (4, 2) has an area of 6 for a work of 2.
        assert_eq!(hull(&[(0, 10), (2, 7), (4, 2)]), [(0, 10), (4, 2)]);
        assert_eq!(hull(&[(0, 10), (2, 6), (4, 2)]), [(0, 10), (4, 2)]);
        assert_eq!(hull(&[(4, 2), (2, 5), (0, 10)]), [(0, 10), (2, 5), (4, 2)]);
    }

    fn span(capacity: i128, work: i128, area: i128, segments: &[(i128, i128)]) -> Ratio<i128> {
        let segments = segments.iter().map(|&(work, saves)| Segment { work, saves }).collect();
        Trade { capacity, work, area, segments }.least_span().expect("small figures")
    }

    #[test]
    fn as_much_is_recomputed_as_memory_forces() {
        let one = Ratio::from_integer;
        // Everything fits.
        assert_eq!(span(2, 10, 20, &[(5, 10)]), one(10));
        // 30 - 2r = 2(10 + r).
        assert_eq!(span(2, 10, 30, &[(5, 10)]), Ratio::new(25, 2));
        // All of the first segment, 20 of area at 15, and half of the second: 36 - r = 2(15 + r).
        assert_eq!(span(2, 10, 46, &[(5, 10), (10, 10)]), one(17));
        // All of it, and still too much.
        assert_eq!(span(2, 10, 60, &[(5, 10)]), one(25));
        assert_eq!(span(2, 10, 60, &[]), one(30));
    }

    #[test]
    fn a_level_keeps_its_checkpoint_until_r_and_the_activation_from_then_on() {
        // 1 + 10 + 1 + 1 + 10 + 1 = 24 ticks from the start of F to the end of I of stage 0.
        let plain = Model::equal_stages(Placement::linear(2).expect("a placement"), 4, [1, 1, 3, 10]);
        let plain = plain.expect("a model");
        let memory = Memory {
            activation: vec![Units(9); 2],
            retained_for_weight: vec![Units(5); 2],
            ..plain.memory().clone()
        };
        let level = |checkpoint: i64, ticks: i64| RecomputeLevel {
            checkpoint: vec![Units(checkpoint); 2],
            duration: Some(vec![Ticks(ticks); 2]),
        };
        let levels = vec![level(2, 4), level(1, 30)];
        let model = plain
            .with_plain_memory(memory)
            .and_then(|model| model.with_recompute(Some(Recompute { levels, fused: false })))
            .expect("a model");
        let of = |part| {
            choices(&model, &Paths::new(&model), Stage(0), part)
                .into_iter()
                .map(|choice| (choice.work, choice.area))
                .collect::<Vec<_>>()
        };
        // The other 7 units are there for R and I. An R of 30 ticks keeps the checkpoint for 1 + 30 + 1.
        let until_input = [(0, 9 * 24), (4, 2 * 24 + 7 * 5), (30, 32 + 8 * 31)];
        assert_eq!(of(Part::UntilLastInput), until_input);
        // What W needs stays for its 3 ticks.
        assert_eq!(of(Part::All), until_input.map(|(work, area)| (work, area + 5 * 3)));
    }
}
