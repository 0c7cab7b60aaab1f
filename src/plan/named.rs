//! The best cut for a schedule that is given, for runtimes that have no other.

use super::seeds;
use crate::catalog::Entry;
use crate::certificate::{Objective, lower_bound_within, visit_cuts};
use crate::job::{Cut, Layers};
use crate::model::{Model, Ticks};
use crate::replay::replay;
use crate::schedule::Schedule;
use crate::stop::Stop;

/// How many cuts are taken from the bounds to begin with.
const SEEDS: usize = 32;

/// A cut for which a schedule of the catalogue is as short as could be found, and how long replay says that it is; nothing where no
/// cut that was looked at has such a schedule within the memory. Never longer than at the cuts to begin with, which are `starts`,
/// the even cut and one that balances the work.
#[must_use]
pub fn cut_for(layers: &Layers, entry: &Entry, starts: &[Cut], stop: &Stop) -> Option<(Ticks, Cut)> {
    cut_for_schedule(layers, &|model| entry.generate_until(model, stop).ok(), starts, stop)
}

/// As [`cut_for`], for any rule that makes a schedule of a model, or none.
pub fn cut_for_schedule(
    layers: &Layers,
    rule: &dyn Fn(&Model) -> Option<Schedule>,
    starts: &[Cut],
    stop: &Stop,
) -> Option<(Ticks, Cut)> {
    let value = |cut: &Cut, best: Option<&(Ticks, Cut)>| -> Option<Ticks> {
        let model = layers.model(cut).ok()?;
        let bound = lower_bound_within(&model, Objective::Makespan, 0).value;
        if best.is_some_and(|(best, _)| bound >= *best) {
            return None;
        }
        let schedule = rule(&model)?;
        let verdict = replay(&model, &schedule);
        if !verdict.is_valid() {
            return None;
        }
        Some(verdict.timing?.metrics.makespan)
    };
    let mut cuts = vec![layers.even(), seeds::balanced(layers)];
    cuts.extend(starts.iter().cloned());
    visit_cuts(layers, Ticks(i64::MAX), &mut |_, cut| {
        cuts.push(cut.clone());
        cuts.len() < SEEDS
    });
    let mut best: Option<(Ticks, Cut)> = None;
    loop {
        let found = cuts.iter().filter_map(|cut| Some((value(cut, best.as_ref())?, cut.clone()))).min();
        match (found, &best) {
            (Some(found), None) => best = Some(found),
            (Some(found), Some(known)) if found < *known => best = Some(found),
            _ => return best,
        }
        if stop.is_due() {
            return best;
        }
        let (_, cut) = best.as_ref()?;
        cuts = seeds::shifts(cut.layers(), layers)
            .chain(seeds::double_shifts(cut.layers(), layers))
            .map(Cut::new)
            .collect();
    }
}
