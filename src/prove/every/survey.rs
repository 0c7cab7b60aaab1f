//! The numbers of microbatches that are replayed, and what follows from them and a repetition.

use std::collections::BTreeMap;

use super::cycle::{self, Cycle};
use super::growing::Growing;
use super::measured::Measured;
use super::{
    EveryError, EveryM, Formula, MOST_PASSES, Numbers, Proof, Refutation, Repetition, UnknownReason, resized,
};
use crate::model::{Model, Ticks, Units};
use crate::replay::{Metrics, Verdict, replay};
use crate::schedule::Schedule;
use crate::stop::Stop;

/// Makes the schedule of a number of microbatches.
type Make<'a> = Box<dyn Fn(u32) -> Result<Schedule, EveryError> + 'a>;

/// The schedules of `first, first + step, ...` microbatches, replayed one by one.
pub(super) struct Survey<'a> {
    model: &'a Model,
    first: u32,
    step: u32,
    make: Make<'a>,
    stop: &'a Stop,
    measured: Vec<Measured>,
    /// What was measured of larger numbers, in search of a repetition.
    ahead: BTreeMap<u32, Measured>,
}

/// Up to how many microbatches `first, first + step, ...` can be replayed, if each adds this many passes.
pub(super) fn affordable((first, step): (u32, u32), passes: u64) -> u32 {
    // n of them have about n * first + n * n * step / 2 times as many passes as one microbatch.
    let (first, step) = (u64::from(first), u64::from(step));
    let room = MOST_PASSES / passes.max(1);
    let number = ((first * first + 2 * step * room).isqrt() - first) / step;
    u32::try_from(first + step * number.saturating_sub(1)).unwrap_or(u32::MAX)
}

impl<'a> Survey<'a> {
    pub fn new(model: &'a Model, (first, step): (u32, u32), make: Make<'a>, stop: &'a Stop) -> Self {
        Self { model, first, step, make, stop, measured: Vec::new(), ahead: BTreeMap::new() }
    }

    /// The same, going on in other steps with other schedules, where the first is still the first.
    pub fn go_on<'b>(self, step: u32, make: Make<'b>) -> Survey<'b>
    where
        'a: 'b,
    {
        Survey { step, make, ..self }
    }

    /// Replays what is not yet replayed, up to this many microbatches. Nothing, if all of them are valid;
    /// else the first that is not, or that the time came first.
    ///
    /// # Errors
    /// When the model overflows, or there is no schedule.
    pub fn reach(&mut self, most: u32) -> Result<Option<EveryM>, EveryError> {
        while let Some(microbatches) = Some(self.next()).filter(|&next| next <= most) {
            if self.stop.is_due() {
                return Ok(Some(EveryM::Unknown(UnknownReason::of(self.stop))));
            }
            let schedule = (self.make)(microbatches)?;
            if let Some(known) = self.ahead.remove(&microbatches) {
                self.measured.push(known);
                continue;
            }
            let model = resized(self.model, microbatches)?;
            let verdict = replay(&model, &schedule);
            let is_valid = verdict.is_valid();
            match verdict {
                Verdict { timing: Some(timing), peak_memory, .. } if is_valid => {
                    self.measured.push(Measured::of(&model, &schedule, timing, peak_memory));
                }
                verdict => {
                    return Ok(Some(EveryM::Refuted(Box::new(Refutation { microbatches, verdict }))));
                }
            }
        }
        Ok(None)
    }

    /// The least number of microbatches not yet replayed.
    fn next(&self) -> u32 {
        self.number(self.measured.len())
    }

    /// The number of microbatches at a place of the list.
    fn number(&self, place: usize) -> u32 {
        self.first + self.step * u32::try_from(place).expect("as many as were replayed")
    }

    /// The first place with at least this many microbatches.
    fn place(&self, microbatches: u32) -> usize {
        microbatches.saturating_sub(self.first).div_ceil(self.step) as usize
    }

    /// Proves the schedules of this survey, which from [`Growing::microbatches`] on are those of
    /// `growing`, or says why not.
    ///
    /// # Errors
    /// When the model overflows, or replay contradicts the theorem.
    pub fn conclude(mut self, growing: &Growing) -> Result<EveryM, EveryError> {
        let (begin, period) = (growing.microbatches(), growing.period());
        let most = affordable((self.first, self.step), growing.passes() as u64 / u64::from(period));
        // What condition 4 asks, for each tail.
        let needed = (begin + period * growing.apart() + period - 1).max(self.first);
        if needed > most || u64::from(self.first) * growing.passes() as u64 > MOST_PASSES * u64::from(period)
        {
            return Ok(EveryM::Unknown(UnknownReason::TooLarge { microbatches: needed }));
        }
        let some = self.first + self.step * (2 * self.model.devices() + 3);
        let least = needed.max(some.min(most));
        if let Some(end) = self.reach(least)? {
            return Ok(end);
        }
        let copies = (most - begin) / period;
        // More than was replayed, so that nothing is replayed again.
        let least = ((self.next() - 1).saturating_sub(begin) / period).saturating_add(1);
        let Some(cycle) =
            cycle::find(growing, self.model, least..=copies, self.stop, &mut |number, measured| {
                self.ahead.insert(number, measured);
            })?
        else {
            if self.stop.is_due() {
                return Ok(EveryM::Unknown(UnknownReason::of(self.stop)));
            }
            let numbers = Numbers::from(self.first, self.step);
            return Ok(EveryM::Unknown(UnknownReason::NoCycle { numbers, copies }));
        };
        let from = cycle.from.max(u32::from(!growing.has_heads()));
        let last = begin + period * (from + 2 * cycle.copies);
        match self.reach(last)? {
            Some(EveryM::Refuted(_)) => return Err(EveryError::Rejected(self.next())),
            Some(end) => return Ok(end),
            None => {}
        }
        let from = (begin + period * from).max(self.first);
        self.proof(growing, from, cycle).map(|proof| EveryM::Proved(Box::new(proof)))
    }

    fn proof(&self, growing: &Growing, from: u32, cycle: Cycle) -> Result<Proof, EveryError> {
        let microbatches = growing.period() * cycle.copies;
        let length = (microbatches / self.step) as usize;
        let formula = |what, figure: &dyn Fn(&Metrics) -> Ticks| {
            let values: Vec<Ticks> = self.measured.iter().map(|it| figure(&it.metrics)).collect();
            let known = &values[..self.place(from) + length];
            let formula = Formula::new((self.first, self.step), known, length, cycle.ticks);
            self.confirm(what, &formula, &values).map(|()| formula)
        };
        let makespan = formula("the makespan", &|metrics| metrics.makespan)?;
        // One repetition, from the first number of microbatches that the induction covers.
        let covered = &self.measured[self.place(from)..self.place(from) + length];
        let device_span = if covered.iter().all(|it| it.begins_longest) {
            Some(formula("the device span", &|metrics| metrics.device_span)?)
        } else {
            None
        };
        let (peak_memory, peaks_before) = self.peaks(growing)?;
        Ok(Proof {
            first: self.first,
            step: self.step,
            makespan,
            device_span,
            peak_memory,
            peak_from: self.number(peaks_before.len()),
            peaks_before,
            repetition: Repetition { from, microbatches, ticks: cycle.ticks },
            replayed_to: self.number(self.measured.len() - 1),
        })
    }

    /// Holds a formula against every replay.
    fn confirm(&self, what: &'static str, formula: &Formula, values: &[Ticks]) -> Result<(), EveryError> {
        for (place, &replayed) in values.iter().enumerate() {
            let microbatches = self.number(place);
            let stated = formula.at(microbatches).unwrap_or_default();
            if stated != replayed {
                let (formula, replayed) = (stated.0, replayed.0);
                return Err(EveryError::Unconfirmed { what, microbatches, formula, replayed });
            }
        }
        Ok(())
    }

    /// The peaks that all devices have in the end, and those of fewer microbatches. With at least one
    /// repetition the peaks must be the former.
    fn peaks(&self, growing: &Growing) -> Result<(Vec<Units>, Vec<Vec<Units>>), EveryError> {
        let last = &self.measured.last().expect("something was replayed").peaks;
        let other = self.measured.iter().rposition(|it| it.peaks != *last);
        let before = other.map_or(0, |place| place + 1);
        if before > self.place(growing.microbatches() + growing.period()) {
            let peak = |peaks: &[Units]| peaks.iter().max().copied().unwrap_or_default().0;
            return Err(EveryError::Unconfirmed {
                what: "the peak memory",
                microbatches: self.number(before - 1),
                formula: peak(last),
                replayed: peak(&self.measured[before - 1].peaks),
            });
        }
        let earlier = self.measured[..before].iter().map(|it| it.peaks.clone());
        Ok((last.clone(), earlier.collect()))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::{Kind, Microbatch, Pass, Placement, Stage};
    use crate::prove::every::growing::Tail;

    #[test]
    fn what_would_take_too_many_passes_is_not_begun() {
        // A repetition has two microbatches, and none of them is both in a warm-up and a cool-down with three.
        const BEFORE: u32 = 20_000;
        let placement = Placement::linear(1).expect("a placement");
        let model = Model::unit(placement.clone(), 1).expect("a model");
        let pass = |kind, more| Pass::new(Stage(0), kind, Microbatch(BEFORE + more));
        let body = vec![pass(Kind::F, 4), pass(Kind::B, 0), pass(Kind::F, 5), pass(Kind::B, 1)];
        let tail = |more| Tail { microbatches: BEFORE + more, orders: vec![Vec::new()] };
        let growing = Growing::new(placement, 2, vec![Vec::new()], vec![body], vec![tail(0), tail(1)]);
        let growing = growing.expect("they can grow");
        let needed = |first| {
            let make: Make<'_> = Box::new(|microbatches| panic!("{microbatches} microbatches are asked for"));
            match Survey::new(&model, (first, 1), make, &Stop::default()).conclude(&growing) {
                Ok(EveryM::Unknown(UnknownReason::TooLarge { microbatches })) => microbatches,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(needed(1), BEFORE + 3 * 2 + 2 - 1);
        // The least of them alone is too large.
        assert_eq!(needed(200_000_000), 200_000_000);
    }

    /// One microbatch after the other on one device: from `begin` on, one more for every repetition.
    fn serial(begin: u32) -> (Model, Growing, impl Fn(u32) -> Vec<Pass>) {
        let placement = Placement::linear(1).expect("a placement");
        let model = Model::unit(placement.clone(), 1).expect("a model");
        let passes = |microbatches: u32| -> Vec<Pass> {
            let kinds = [Kind::F, Kind::B];
            let of = |at| kinds.map(|kind| Pass::new(Stage(0), kind, Microbatch(at)));
            (0..microbatches).flat_map(of).collect()
        };
        let tail = Tail { microbatches: begin, orders: vec![passes(begin)] };
        let growing = Growing::new(placement, 1, vec![Vec::new()], vec![passes(1)], vec![tail]);
        (model, growing.expect("it grows"), passes)
    }

    /// What is concluded where one schedule is changed, and the most microbatches that a schedule was asked for.
    fn concluded(begin: u32, change: impl Fn(u32, &mut Vec<Pass>)) -> (Result<EveryM, EveryError>, u32) {
        let (model, growing, passes) = serial(begin);
        let largest = std::rc::Rc::new(std::cell::Cell::new(0));
        let seen = largest.clone();
        let make: Make<'_> = Box::new(move |microbatches| {
            seen.set(seen.get().max(microbatches));
            let mut order = passes(microbatches);
            change(microbatches, &mut order);
            Ok(Schedule::new(Placement::linear(1).expect("a placement"), microbatches, vec![order])?)
        });
        let found = Survey::new(&model, (1, 1), make, &Stop::default()).conclude(&growing);
        (found, largest.get())
    }

    #[test]
    fn peaks_may_change_until_the_first_repetition_and_not_after() {
        // The schedule of two microbatches is what is repeated from, and three are a repetition more.
        let at_once = |number: u32| {
            move |microbatches, order: &mut Vec<Pass>| {
                if microbatches == number {
                    order.sort_by_key(|pass| (pass.kind, pass.microbatch));
                }
            }
        };
        let (found, largest) = concluded(2, at_once(2));
        let Ok(EveryM::Proved(proof)) = found else { panic!("{found:?}") };
        assert_eq!((proof.peak_from, proof.replayed_to), (3, largest));
        // Without a warm-up, device 0 starts with the repetition.
        assert_eq!(proof.repetition.from, 3);
        assert_eq!(proof.peaks_before, [vec![Units(1)], vec![Units(2)]]);
        let (found, _) = concluded(2, at_once(5));
        let unlike = matches!(
            found,
            Err(EveryError::Unconfirmed {
                what: "the peak memory",
                microbatches: 5,
                formula: 1,
                replayed: 5
            })
        );
        assert!(unlike, "{found:?}");
    }

    #[test]
    fn every_replay_has_the_makespan_of_the_formula() {
        let recompute = |microbatches, order: &mut Vec<Pass>| {
            if microbatches == 5 {
                order.insert(1, Pass::new(Stage(0), Kind::R, Microbatch(0)));
            }
        };
        let (found, _) = concluded(2, recompute);
        let unlike = matches!(
            found,
            Err(EveryError::Unconfirmed { what: "the makespan", microbatches: 5, formula: 15, replayed: 16 })
        );
        assert!(unlike, "{found:?}");
    }

    proptest! {
        #[test]
        fn as_many_numbers_are_affordable_as_have_no_more_passes_together(
            first in 1..1_500_u32, step in 1..400_u32, passes in 1..2_000_u64,
        ) {
            let most = affordable((first, step), passes);
            prop_assert!(most >= first && (most - first).is_multiple_of(step));
            // So many numbers of microbatches, and one or two more, in halves of a pass.
            let sum = |numbers: u64| passes * numbers * (2 * u64::from(first) + (numbers - 1) * u64::from(step));
            let numbers = u64::from((most - first) / step) + 1;
            prop_assert!(numbers == 1 || sum(numbers) <= 2 * MOST_PASSES);
            prop_assert!(sum(numbers + 2) > 2 * MOST_PASSES, "{} of {} to {}", numbers, first, most);
        }
    }
}
