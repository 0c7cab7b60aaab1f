//! The schedules of a building block, for every number of microbatches.

use std::ops::Range;

use num_integer::Integer;

use super::cut::closed;
use super::growing::{Growing, Tail};
use super::survey::{Survey, affordable};
use super::{EveryError, EveryM, UnknownReason, uncounted};
use crate::block::Block;
use crate::model::{Device, Model, StepEnd};
use crate::schedule::Schedule;
use crate::stop::Stop;

/// How many intervals after the first whole one a cut is looked for, for each device: enough for blocks
/// whose devices are out of step by several intervals from one to the next.
const INTERVALS_PER_DEVICE: u32 = 4;

/// Proves the schedules that a block [expands](Block::expand) to under a model, for every number of
/// microbatches from 1 on. The number that the model states plays no part. The time is looked at between
/// replays.
///
/// # Errors
/// When the model is of another placement, overflows with the microbatches that have to be looked at, or
/// replay contradicts the theorem.
pub fn every_m_of_block(block: &Block, model: &Model, stop: &Stop) -> Result<EveryM, EveryError> {
    if block.placement() != model.placement() {
        return Err(EveryError::Placement);
    }
    if model.has_busy_links() {
        return Ok(EveryM::Unknown(UnknownReason::Messages));
    }
    if model.step().is_some_and(StepEnd::takes_time) {
        return Ok(EveryM::Unknown(UnknownReason::EndOfStep));
    }
    if let Some(beyond) = uncounted(model) {
        return Ok(EveryM::Unknown(UnknownReason::Memory(beyond)));
    }
    let found = growing(block, model, stop)?;
    let extended = found.as_ref().ok();
    let make = Box::new(|microbatches: u32| {
        let schedule = block.expand(model, microbatches)?;
        if let Some(growing) = extended
            && let Some(more) = microbatches.checked_sub(growing.microbatches())
        {
            let extension = growing.schedule((more % block.period()) as usize, more / block.period())?;
            if extension.orders() != schedule.orders() {
                return Err(EveryError::NotTheExtension(microbatches));
            }
        }
        Ok(schedule)
    });
    let mut survey = Survey::new(model, (1, 1), make, stop);
    match &found {
        Ok(growing) => survey.conclude(growing),
        Err((reason, most)) => Ok(match survey.reach(*most)? {
            Some(end) => end,
            None => EveryM::Unknown(reason.clone()),
        }),
    }
}

/// Why a block has no warm-up, interval and cool-downs, and up to how many microbatches its schedules
/// should be replayed all the same.
type NoGrowth = (UnknownReason, u32);

/// Warm-up, interval and cool-downs of a block.
fn growing(block: &Block, model: &Model, stop: &Stop) -> Result<Result<Growing, NoGrowth>, EveryError> {
    let copies = Copies { block: block.clone().from_zero(), model };
    let (cut, intervals) = match copies.cut(stop)? {
        Ok(found) => found,
        Err(none) => return Ok(Err(none)),
    };
    let (period, devices) = (block.period(), model.devices());
    let base = period * intervals;
    let next = block.expand(model, base + period)?;
    let part =
        |schedule: &Schedule, device: Device, range: Range<usize>| schedule.order(device)[range].to_vec();
    let head = |device: Device| part(&next, device, 0..cut[device.index()]);
    let body = |device: Device| {
        let begin = cut[device.index()];
        part(&next, device, begin..begin + copies.in_one_interval(device))
    };
    let (heads, bodies) =
        (Device::all(devices).map(head).collect(), Device::all(devices).map(body).collect());
    let mut tails = Vec::new();
    for microbatches in base..base + period {
        let schedule = block.expand(model, microbatches)?;
        let tail =
            |device: Device| part(&schedule, device, cut[device.index()]..schedule.order(device).len());
        tails.push(Tail { microbatches, orders: Device::all(devices).map(tail).collect() });
    }
    let growing = Growing::new(model.placement().clone(), period, heads, bodies, tails);
    Ok(growing.map_err(|irregular| (irregular.into(), base + period)))
}

/// The schedule of all copies of a block, the least offset being 0.
struct Copies<'a> {
    block: Block,
    model: &'a Model,
}

impl Copies<'_> {
    /// The first cut found that has everything that its passes need: how many passes of each device it
    /// has, and a number of intervals within which they all start.
    fn cut(&self, stop: &Stop) -> Result<Result<(Vec<usize>, u32), NoGrowth>, EveryError> {
        let (period, devices) = (self.block.period(), self.model.devices());
        let passes = self.block.passes().count() as u64 / u64::from(period);
        let most = affordable((1, 1), passes);
        let latest = self.block.passes().map(|(_, offset)| offset.0).max().unwrap_or_default();
        let whole = Integer::div_ceil(&latest, &self.block.interval_parts().0).max(1);
        let whole = u32::try_from(whole).unwrap_or(u32::MAX);
        let reach = INTERVALS_PER_DEVICE.saturating_mul(devices);
        let mut margin = 0;
        loop {
            if stop.is_due() {
                return Ok(Err((UnknownReason::of(stop), 0)));
            }
            let intervals = whole.saturating_add(margin);
            let microbatches = period.saturating_mul(intervals.saturating_add(1));
            if microbatches > most {
                // What is wrong shows with a few microbatches, if at all.
                return Ok(Err((UnknownReason::TooLarge { microbatches }, (most / 8).max(1))));
            }
            let begin = Device::all(devices).map(|device| self.before(device, whole)).collect();
            let cut = closed(&self.block.expand(self.model, period * intervals)?, begin);
            let inside = |device: Device| cut[device.index()] <= self.before(device, intervals);
            if Device::all(devices).all(inside) {
                return Ok(Ok((cut, intervals)));
            }
            if margin >= reach {
                return Ok(Err((UnknownReason::NoCut { intervals: reach }, period * intervals)));
            }
            margin = (2 * margin).clamp(1, reach);
        }
    }

    /// How many passes of a device start within this many intervals, no offset being larger.
    fn before(&self, device: Device, intervals: u32) -> usize {
        let interval = self.block.interval_parts().0;
        let end = i64::from(intervals) * interval;
        let copies = |offset: i64| Integer::div_ceil(&(end - offset), &interval);
        let count: i64 = self.offsets(device).map(copies).sum();
        usize::try_from(count).expect("no offset is larger")
    }

    /// How many passes of a device start in each later interval.
    fn in_one_interval(&self, device: Device) -> usize {
        self.offsets(device).count()
    }

    fn offsets(&self, device: Device) -> impl Iterator<Item = i64> {
        self.block.passes_of(device).map(|(_, offset)| offset.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::family::shipped;
    use crate::model::{self, Kind, Microbatch, Pass, Stage};

    /// The block of 1F1B on two devices, written for so many microbatches; the second device starts so many intervals late.
    fn late(copies: u32, intervals: i64) -> (Block, Model) {
        let family = shipped("1f1b").expect("it is shipped");
        let (one, model) = (family.block(2).expect("a block"), family.model(2, 1).expect("a model"));
        let interval = one.interval_parts();
        let passes = one.passes().flat_map(|(pass, at)| {
            let is_late = pass.stage == Stage(1) || pass.kind != Kind::F;
            let at = if is_late { at + interval * intervals } else { at };
            Microbatch::all(copies)
                .map(move |microbatch| (Pass { microbatch, ..pass }, at + interval * i64::from(microbatch.0)))
        });
        let interval = interval * i64::from(copies);
        (Block::periodic(model.placement().clone(), copies, 1, interval, passes).expect("a block"), model)
    }

    #[test]
    fn a_block_written_for_more_microbatches_has_the_same_formula() {
        let makespan = |copies: u32| {
            let (block, model) = late(copies, 0);
            match every_m_of_block(&block, &model, &Stop::default()) {
                Ok(EveryM::Proved(proof)) => proof.makespan,
                other => panic!("{copies}: {other:?}"),
            }
        };
        assert_eq!(makespan(64), makespan(1));
    }

    #[test]
    fn memory_beyond_what_f_keeps_is_left_undecided() {
        let (block, plain) = late(1, 0);
        let text = model::print(&plain).replace("[memory]\n", "[memory]\nworkspace = { forward = 1 }\n");
        let more = model::parse(&text).expect("a model");
        let found = |model| every_m_of_block(&block, model, &Stop::default()).expect("no overflow");
        assert!(matches!(found(&plain), EveryM::Proved(_)));
        assert!(matches!(found(&more), EveryM::Unknown(UnknownReason::Memory(_))));
    }

    #[test]
    fn what_is_too_large_does_not_depend_on_how_many_microbatches_a_block_has() {
        // Two stages of F, I and W.
        let most = i64::from(affordable((1, 1), 6));
        for copies in [1, 2, 64] {
            let cut = |intervals: i64| {
                let (block, model) = late(copies, intervals);
                Copies { block: block.from_zero(), model: &model }.cut(&Stop::default()).expect("an answer")
            };
            let room = 3 * i64::from(copies);
            assert!(cut(most - room).is_ok(), "{copies}");
            let large = cut(most + room);
            assert!(matches!(large, Err((UnknownReason::TooLarge { .. }, _))), "{copies}: {large:?}");
        }
    }
}
