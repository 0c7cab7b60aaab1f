//! What would help a schedule, and by how much at most.
//!
//! A [`Change`] turns the model into a *relaxed* one, in which everything is possible that was, and more. Let M be the makespan of
//! a schedule and B a lower bound of the relaxed model.
//!
//! **Theorem.** After the change, with whatever order of passes, a schedule is shorter than the given one by no more than M - B; and
//! M - B is not negative.
//!
//! **Proof.** No schedule of the relaxed model is shorter than B, which is the first claim. The given schedule is one of the relaxed
//! model, where it takes no longer: memory plays no part in when passes run, messages that take less time delay none, and the durations
//! of the model are one way to divide its work. So B is at most M. ∎
//!
//! So every gain includes that of another order of passes. Where the relaxed model has a higher bound than the model, because both are
//! found with limited effort, the lower one counts: it holds for both. Everything is in whole ticks.

use super::balance::balanced_bound;
use crate::bounds::lower_bound_until;
use crate::certificate::{Objective, STEPS};
use crate::model::{Costs, Device, Model, Ticks};
use crate::stop::Stop;

/// Something that could be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Change {
    /// Another order of the passes, all else being the same.
    Order,
    /// No memory limits.
    Memory,
    /// Messages that take no time: neither latencies nor busy links.
    Messages,
    /// The same work divided among the stages in another way, such that each device may have the mean.
    Balance,
}

impl Change {
    /// Its name: `order`, `memory`, `messages` or `balance`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Order => "order",
            Self::Memory => "memory",
            Self::Messages => "messages",
            Self::Balance => "balance",
        }
    }
}

/// What a change could gain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gain {
    /// The change.
    pub change: Change,
    /// No schedule is shorter than this after the change, in ticks.
    pub bound: Ticks,
    /// How much shorter than the given schedule one can be after the change at most, in ticks.
    pub most: Ticks,
}

/// What each change that means something for a model could gain for a schedule with this makespan, the largest gain first; `bound`
/// is the lower bound on the makespan of the model.
///
/// Another order is always there, memory where there is a limit, messages where they take time, and balance where devices have
/// different work and that is [understood](balanced_bound).
#[must_use]
pub fn gains(model: &Model, makespan: Ticks, bound: Ticks, stop: &Stop) -> Vec<Gain> {
    let of =
        |relaxed: Model| lower_bound_until(&relaxed, Objective::Makespan, STEPS, &mut || stop.is_due()).value;
    let bounds = [
        (Change::Memory, without_limits(model).map(of)),
        (Change::Messages, without_messages(model).map(of)),
        (Change::Balance, if is_balanced(model) { None } else { balanced_bound(model) }),
        (Change::Order, Some(bound)),
    ];
    let gain = |(change, after): (Change, Option<Ticks>)| {
        let bound = after?.min(bound);
        Some(Gain { change, bound, most: makespan - bound })
    };
    let mut gains: Vec<Gain> = bounds.into_iter().filter_map(gain).collect();
    gains.sort_by_key(|gain| std::cmp::Reverse(gain.most));
    gains
}

/// The model without memory limits; nothing where it has none.
fn without_limits(model: &Model) -> Option<Model> {
    model.memory().capacity.iter().any(Option::is_some).then_some(())?;
    model.with_uniform_activation_capacity(None).ok()
}

/// The model whose messages take no time; nothing where they take none.
fn without_messages(model: &Model) -> Option<Model> {
    let latencies = &model.costs().communication;
    let take_time = latencies.iter().any(|&latency| latency > Ticks::ZERO) || model.has_busy_links();
    take_time.then_some(())?;
    let costs = Costs { communication: vec![Ticks::ZERO; latencies.len()], ..model.costs().clone() };
    model.with_messages(None).and_then(|model| model.with_costs(costs)).ok()
}

/// Whether all devices have the same work.
fn is_balanced(model: &Model) -> bool {
    Device::all(model.devices()).all(|device| model.work(device) == model.most_work())
}
