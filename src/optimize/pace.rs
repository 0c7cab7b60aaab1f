//! Bounds at a pace: which paces are worth asking about.

use num_rational::Ratio;

use crate::certificate::{Bound, interval_bound, lower_bound_at_pace};
use crate::model::{Model, Ticks};

/// The most stages of a pipeline whose devices are all followed together at a pace. With more of them, no pace that counts is shown
/// within the steps of a check.
const MOST_STAGES: u32 = 16;

/// How many paces below that of the blocks are asked about at a time.
const MOST_TRIES: usize = 3;

/// Paces below this are asked about in quarters of a tick, others in whole ticks.
const QUARTERS_BELOW: i128 = 256;

/// The ticks per microbatch that no schedule is below in the long run, as far as it has been shown.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    /// What work and memory alone show.
    least: Ratio<i64>,
    /// The largest pace at which the makespan is bounded.
    shown: Option<Ratio<i64>>,
}

impl Pace {
    /// None yet; nothing where none can be expected.
    pub(super) fn new(model: &Model) -> Option<Self> {
        (model.stages() <= MOST_STAGES).then(|| Self { least: interval_bound(model), shown: None })
    }

    /// The best bound on the makespan, up to a value, that is found at the pace of the best block known, or else at paces between that
    /// and the one that has been shown, with so many steps for each.
    pub(super) fn bound(
        &mut self,
        model: &Model,
        known: Ratio<i64>,
        value: Ticks,
        steps: u64,
        is_over: &mut dyn FnMut() -> bool,
    ) -> Option<Bound> {
        if self.shown.is_some_and(|shown| shown >= known) {
            return None;
        }
        let mut at = |pace: Ratio<i64>| lower_bound_at_pace(model, pace, value, steps, is_over);
        if let Some(bound) = at(known) {
            self.shown = Some(known);
            return Some(bound);
        }
        let (mut open, mut best) = (known, None);
        for _ in 0..MOST_TRIES {
            let shown = self.shown.unwrap_or(self.least);
            let pace = between(shown, open)?;
            if pace <= shown {
                break;
            }
            match at(pace) {
                Some(bound) => {
                    self.shown = Some(pace);
                    best = Some(bound);
                }
                // Nothing suggests that the next one would be shown.
                None if best.is_none() => break,
                None => open = pace,
            }
        }
        best
    }
}

/// A pace of small denominator, half of the way or less.
fn between(low: Ratio<i64>, high: Ratio<i64>) -> Option<Ratio<i64>> {
    let [low, high] =
        [low, high].map(|pace| Ratio::new(i128::from(*pace.numer()), i128::from(*pace.denom())));
    let middle = (low + high) / 2;
    let parts = if middle < Ratio::from_integer(QUARTERS_BELOW) { 4 } else { 1 };
    Some(Ratio::new(i64::try_from((middle * parts).floor().to_integer()).ok()?, i64::try_from(parts).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certificate::{BoundReason, Objective, holds};
    use crate::model::{Placement, Units};

    /// Four devices in line with room for two microbatches each: no schedule takes less than 16 ticks for each in the long run.
    fn limited() -> Model {
        let model = Model::equal_stages(Placement::linear(4).expect("a placement"), 16, [3, 4, 2, 0]);
        model.expect("a model").with_uniform_activation_capacity(Some(Units(2))).expect("a capacity")
    }

    /// The paces that are shown one after the other, and the bounds.
    fn asked(knowns: &[Ratio<i64>], steps: u64) -> Vec<Option<(Ratio<i64>, Ticks)>> {
        let model = limited();
        let mut pace = Pace::new(&model).expect("it has few stages");
        let ask = |&known: &Ratio<i64>| {
            let bound = pace.bound(&model, known, Ticks(1000), steps, &mut || false)?;
            assert_eq!(holds(&model, Objective::Makespan, &bound), Ok(()));
            let BoundReason::Pace { microbatches, ticks, .. } = bound.reason else {
                panic!("{bound:?}");
            };
            Some((Ratio::new(ticks.0, i64::from(microbatches)), bound.value))
        };
        knowns.iter().map(ask).collect()
    }

    #[test]
    fn the_known_pace_is_shown_or_one_below_it() {
        let least = Some((Ratio::from_integer(16), Ticks(261)));
        let first = |known| asked(&[Ratio::from_integer(known)], 100_000)[0];
        // Of 17 it is half of the way down to what memory shows; of 18 that is too much as well.
        assert_eq!([16, 17, 18].map(first), [least, least, None]);
    }

    #[test]
    fn what_has_been_shown_is_not_asked_again() {
        let known = Ratio::from_integer(16);
        let twice = asked(&[known, known], 100_000);
        assert!(twice[0].is_some());
        assert_eq!(twice[1], None);
    }

    #[test]
    fn nothing_is_shown_without_steps_or_of_many_stages() {
        assert_eq!(asked(&[Ratio::from_integer(16)], 0), [None]);
        let of = |devices| Model::unit(Placement::v(devices).expect("a placement"), 4).expect("a model");
        assert!(Pace::new(&of(8)).is_some() && Pace::new(&of(9)).is_none());
    }

    #[test]
    fn a_pace_in_the_middle_is_whole_or_a_quarter() {
        let of =
            |low: (i64, i64), high: (i64, i64)| between(Ratio::new(low.0, low.1), Ratio::new(high.0, high.1));
        assert_eq!(of((170, 1), (171, 1)), Some(Ratio::new(341, 2)));
        assert_eq!(of((170, 1), (511, 3)), Some(Ratio::new(680, 4)));
        assert_eq!(of((255, 1), (257, 1)), Some(Ratio::from_integer(256)));
        assert_eq!(of((256, 1), (257, 1)), Some(Ratio::from_integer(256)));
        let most = (i64::MAX, 80_000_000_003);
        assert_eq!(of(most, (i64::MAX, 4)), Some(Ratio::from_integer(1_152_921_504_664_493_051)));
    }
}
