//! One pipeline under several memory limits: what each of them costs.
//!
//! The limits are searched from the tightest to the loosest, and each search knows the schedules of the tighter ones.
//! So more memory never gives a worse schedule, however little luck a search has.
//!
//! ```
//! use bubbleproof::model::{Model, Placement, Units};
//! use bubbleproof::optimize::Options;
//! use bubbleproof::optimize::sweep::{Outcome, sweep};
//!
//! let model = Model::equal_stages(Placement::linear(3)?, 6, [1, 1, 1, 0])?;
//! let limited = |units| model.with_uniform_capacity(Units(units));
//! let outcomes = sweep(&[limited(3)?, limited(0)?, limited(1)?], &Options::default(), &mut |_, _| ())?;
//! let makespans: Vec<_> = outcomes.iter().map(|outcome| outcome.solution().map(|found| found.value().0)).collect();
//! assert_eq!(makespans, [Some(20), None, Some(42)]);
//! assert!(matches!(outcomes[1], Outcome::Infeasible(_)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::{Infeasible, OptimizeError, Options, Progress, Solution, optimize};
use crate::model::{BeyondPasses, Device, Model};
use crate::schedule::Schedule;

/// What came of one of the models.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// A schedule that keeps to its capacities.
    Found(Box<Solution>),
    /// No schedule keeps to them.
    Infeasible(Infeasible),
    /// None was found that keeps to them with all that the model counts; whether there is one is not known.
    NoneFound(BeyondPasses),
    /// The time was over before its search began.
    NoTime,
}

impl Outcome {
    /// The schedule with what is proved of it, where one was found.
    #[must_use]
    pub fn solution(&self) -> Option<&Solution> {
        match self {
            Self::Found(solution) => Some(solution),
            Self::Infeasible(_) | Self::NoneFound(_) | Self::NoTime => None,
        }
    }
}

/// The models from the tightest to the loosest, by their positions: none comes before one whose capacities are all as
/// small or smaller, unless these are the same.
#[must_use]
pub fn tightest_first(models: &[Model]) -> Vec<usize> {
    let room = |model: &Model| -> i128 {
        let rooms = Device::all(model.devices()).map(|device| model.capacity(device));
        rooms.map(|capacity| capacity.map_or(i128::from(i64::MAX), |capacity| i128::from(capacity.0))).sum()
    };
    let mut order: Vec<usize> = (0..models.len()).collect();
    order.sort_by_key(|&at| room(&models[at]));
    order
}

/// Whether no capacity of the first model is larger than that of the second.
fn is_within(tight: &Model, loose: &Model) -> bool {
    tight.devices() == loose.devices()
        && Device::all(tight.devices()).all(|device| match (tight.capacity(device), loose.capacity(device)) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some(tight), Some(loose)) => tight <= loose,
        })
}

/// Searches for a schedule of each of these models, which are one pipeline under different capacities. The outcomes are
/// in the order of the models, the searches [from the tightest to the loosest](tightest_first): they share the time that
/// is left equally, and each knows the schedules found under capacities that are nowhere larger than its own, beside the
/// [known](Options::known) ones. A search that is not told to stop before it begins is therefore never worse than theirs.
/// Models with the same capacities share one search. `progress` receives the position of the model that is searched.
///
/// # Errors
/// When the models are of a kind that [`optimize`] refuses whatever the capacities, or a search is defective.
pub fn sweep(
    models: &[Model],
    options: &Options,
    progress: &mut dyn FnMut(usize, &Progress),
) -> Result<Vec<Outcome>, OptimizeError> {
    let order = tightest_first(models);
    let mut outcomes = vec![Outcome::NoTime; models.len()];
    for (done, &at) in order.iter().enumerate() {
        let model = &models[at];
        if let Some(&same) = order[..done].iter().find(|&&before| models[before] == *model) {
            outcomes[at] = outcomes[same].clone();
            continue;
        }
        if options.stop.is_due() {
            continue;
        }
        let known = known(models, &outcomes, &order[..done], model);
        let known = options.known.iter().cloned().chain(known).collect();
        let options = Options { stop: options.stop.share(order.len() - done), known, ..options.clone() };
        outcomes[at] = match optimize(model, &options, &mut |state| progress(at, state)) {
            Ok(solution) => Outcome::Found(Box::new(solution)),
            Err(OptimizeError::Infeasible(reason)) => Outcome::Infeasible(reason),
            Err(OptimizeError::NoneFound(beyond)) => Outcome::NoneFound(beyond),
            Err(error) => return Err(error),
        };
    }
    Ok(outcomes)
}

/// The schedules that keep to a model's capacities because they keep to tighter ones. One that another of them was
/// searched from adds nothing to it.
fn known(models: &[Model], outcomes: &[Outcome], done: &[usize], model: &Model) -> Vec<Schedule> {
    let mut kept: Vec<usize> = Vec::new();
    for &at in done.iter().rev() {
        let is_covered = kept.iter().any(|&later| is_within(&models[at], &models[later]));
        if outcomes[at].solution().is_some() && !is_covered && is_within(&models[at], model) {
            kept.push(at);
        }
    }
    kept.iter().filter_map(|&at| outcomes[at].solution()).map(|found| found.schedule.clone()).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::model::{Placement, Units};
    use crate::stop::Stop;

    fn under(capacities: &[Option<i64>]) -> Model {
        let placement = Placement::linear(2).expect("a placement");
        let model = Model::equal_stages(placement, 4, [1, 1, 1, 0]).expect("a model");
        let capacities = capacities.iter().map(|capacity| capacity.map(Units)).collect();
        model.with_activation_capacity(capacities).expect("capacities")
    }

    #[test]
    fn capacities_are_ordered_where_each_is_as_small() {
        let models = [
            under(&[None, None]),
            under(&[Some(2), Some(1)]),
            under(&[Some(1), Some(1)]),
            under(&[Some(2), None]),
            under(&[Some(1), Some(2)]),
        ];
        assert_eq!(tightest_first(&models), [2, 1, 4, 3, 0]);
        assert!(!is_within(&models[1], &models[4]) && !is_within(&models[4], &models[1]));
        assert!(is_within(&models[2], &models[4]) && is_within(&models[4], &models[0]));
        assert!(!is_within(&models[0], &models[3]));
    }

    /// Of a chain, the last one found is known; beside each other, both are.
    #[test]
    fn a_search_knows_what_tighter_ones_have_found() {
        let models = [
            under(&[Some(1), Some(1)]),
            under(&[Some(1), Some(2)]),
            under(&[Some(2), Some(1)]),
            under(&[Some(2), Some(2)]),
        ];
        let outcomes = sweep(&models, &Options::default(), &mut |_, _| ()).expect("outcomes");
        let count = |done: &[usize], at: usize| known(&models, &outcomes, done, &models[at]).len();
        assert_eq!((count(&[], 0), count(&[0], 1), count(&[0, 1], 2), count(&[0, 1, 2], 3)), (0, 1, 1, 2));
    }

    #[test]
    fn without_time_nothing_is_searched_and_equals_are_searched_once() {
        let options = Options { stop: Stop::after(Duration::ZERO), ..Options::default() };
        let outcomes = sweep(&[under(&[None, None])], &options, &mut |_, _| ()).expect("outcomes");
        assert_eq!(outcomes, [Outcome::NoTime]);
        let (mut searched, models) = (Vec::new(), [under(&[None, None]), under(&[None, None])]);
        let outcomes = sweep(&models, &Options::default(), &mut |at, _| searched.push(at)).expect("outcomes");
        searched.dedup();
        assert_eq!(searched, [0]);
        assert!(outcomes[0] == outcomes[1] && outcomes[0].solution().is_some());
    }
}
