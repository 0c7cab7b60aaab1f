//! **Some devices alone.** Keep the passes of some devices; those of the others become lags between them, a
//! head before and tails behind. What is left is a relaxation of the whole, so its least makespan is
//! a lower bound; with every device kept it is the optimum.
//!
//! A forward program over states finds it. Microbatches are alike, so without loss of generality each stage runs each
//! kind of pass first in, first out. The program places passes in the order of their starts; a state says how many
//! microbatches wait where, and from when on they and the devices may go on. Of two states with equal counts, one that
//! is nowhere later admits every continuation of the other, which is dropped. So is a sequence of passes with a gap
//! that a W, an I or an F without memory would fill: moving it there delays nothing, holds less, and lowers the sum of
//! the starts.
//!
//! A pass also needs room for what is held beside what microbatches keep while it runs. A B may take the place of an I and its W where
//! that may need less memory, and an F beside a backward the place of both where that takes less time. A B counts as an I and a W that
//! start together, and nothing that may be in a pair is moved into a gap.
//!
//! **Theorem.** Let layer n be the states right after the start of microbatch n. If each of them is later,
//! by at least G, than a state of layer n-K with the same counts, then the same holds for all later layers, because one
//! layer follows from another by a monotone and homogeneous map; with m >= n microbatches the end is at least G times
//! `(m-n)/K + 1`, rounded down, after that of layer `n-K + (m-n) mod K`; and in the long run a microbatch takes at
//! least G/K in *every* schedule, whether it repeats or not.
//!
//! For the device span, the kept device that begins first is measured, without head and without tails on other devices.
//! The end of the step is part of the tails.
//! With a horizon, only what may end before it is followed: then more devices can be kept. If states are closed at a pace, no schedule is
//! faster in the long run; there a state also takes the place of those in which more Ws wait.
//! `docs/bounds.md` has the proofs, and statements that are false although they look true.

mod chain;
mod choose;
mod closed;
mod front;
mod horizon;
mod program;
mod state;
mod states;

use self::chain::Chain;
pub(super) use self::choose::{best_bound, bound_of, bounded, steady};
pub(super) use self::closed::{is_closed, least_beyond_pace};
pub(super) use self::horizon::{best_below, least_below};
use self::program::Layer;
pub(super) use self::program::Steps;

use super::path::Paths;
use super::reason::{Objective, Repetition};
use crate::model::{Device, Model, Ticks};

/// How far the states have been followed.
enum Followed {
    /// To the last microbatch.
    Wholly,
    /// Until they repeated exactly.
    Repeating(Repetition),
    /// Until the steps ran out.
    Partly,
}

/// The longest period that is looked for.
const LONGEST_PERIOD: usize = 24;

/// The sets of states of some devices.
pub(super) struct Subset {
    chain: Chain,
    /// By microbatches begun.
    layers: Vec<Layer>,
}

impl Subset {
    /// With nothing begun. The devices are there and differ.
    pub(super) fn new(model: &Model, paths: &Paths<'_>, devices: &[Device]) -> Self {
        let chain = Chain::new(model, paths, devices);
        let layers = vec![Layer::first(&chain)];
        Self { chain, layers }
    }

    /// Begins microbatches up to this number; nothing when the steps run out first, or the capacities are too
    /// small.
    pub(super) fn begin(&mut self, microbatches: u32, steps: &mut Steps) -> Option<()> {
        while self.begun() < microbatches {
            let next = self.layers.last()?.next(&self.chain, None, steps)?;
            if next.is_empty() {
                return None;
            }
            self.layers.push(next);
        }
        Some(())
    }

    /// Begins microbatches until the states repeat exactly, or this many have begun.
    fn follow(&mut self, microbatches: u32, steps: &mut Steps) -> Followed {
        while self.begun() < microbatches {
            if self.begin(self.begun() + 1, steps).is_none() {
                return Followed::Partly;
            }
            let latest = &self.layers[self.layers.len() - 1];
            for (period, earlier) in (1..).zip(self.earlier_layers()) {
                if let Some(growth) = latest.shift_from(earlier) {
                    return Followed::Repeating(Repetition { after: self.begun(), period, growth });
                }
            }
        }
        Followed::Wholly
    }

    /// The layers before the latest, latest first, as far back as periods are looked for.
    fn earlier_layers(&self) -> impl Iterator<Item = &Layer> {
        self.layers[1..].iter().rev().skip(1).take(LONGEST_PERIOD)
    }

    /// The repetition of the fastest growth that the sets of states so far prove, if any.
    fn best_repetition(&self) -> Option<Repetition> {
        let latest = self.layers.last()?;
        (1..)
            .zip(self.earlier_layers())
            .filter_map(|(period, earlier)| {
                let growth = latest.later_than(earlier).filter(|&growth| growth > Ticks::ZERO)?;
                Some(Repetition { after: self.begun(), period, growth })
            })
            .reduce(|best, other| if other.pace() > best.pace() { other } else { best })
    }

    /// Whether the states repeat as claimed, where their sets have been computed so far.
    pub(super) fn repeats(&self, claim: Repetition) -> bool {
        let Repetition { after, period, growth } = claim;
        let layer = |begun: u32| self.layers.get(begun as usize);
        0 < period
            && period < after
            && growth >= Ticks::ZERO
            && layer(after)
                .zip(layer(after - period))
                .and_then(|(later, earlier)| later.later_than(earlier))
                .is_some_and(|shown| growth <= shown)
    }

    /// By number of microbatches, from 0 to as many as have begun: the least value of the objective, 0 where the steps have
    /// run out; and behind these, up to `microbatches`, what follows from a repetition.
    fn values(
        &self,
        microbatches: u32,
        repetition: Option<Repetition>,
        objective: Objective,
        steps: &mut Steps,
    ) -> Vec<Ticks> {
        let head = self.head(objective);
        let drained = self.layers.iter().enumerate().map(|(begun, layer)| match begun {
            0 => Some(Ticks::ZERO),
            _ => Some(head + layer.drained(&self.chain, objective, None, steps)?),
        });
        let mut values: Vec<Ticks> = drained.map(Option::unwrap_or_default).collect();
        if let Some(Repetition { period, growth, .. }) = repetition {
            for count in values.len()..=microbatches as usize {
                let before = values[count - period as usize];
                values.push(if before == Ticks::ZERO { before } else { before + growth });
            }
        }
        values.truncate(microbatches as usize + 1);
        values
    }

    /// When the first pass of the kept devices begins, as the objective counts.
    const fn head(&self, objective: Objective) -> Ticks {
        match objective {
            Objective::Makespan => self.chain.head,
            Objective::DeviceSpan => Ticks::ZERO,
        }
    }

    /// The least value of the objective with this number of microbatches, all begun, or with the help of a
    /// repetition that has been checked; nothing when the steps run out.
    pub(super) fn value(
        &self,
        microbatches: u32,
        repetition: Option<Repetition>,
        objective: Objective,
        steps: &mut Steps,
    ) -> Option<Ticks> {
        let head = self.head(objective);
        let (begun, growth) = match repetition {
            None => (microbatches, Ticks::ZERO),
            Some(Repetition { after, period, growth }) => {
                let further = microbatches.checked_sub(after)?;
                (after - period + further % period, growth * i64::from(further / period + 1))
            }
        };
        Some(head + growth + self.layers.get(begun as usize)?.drained(&self.chain, objective, None, steps)?)
    }

    fn begun(&self) -> u32 {
        u32::try_from(self.layers.len() - 1).expect("no more than microbatches, which are 32 bits")
    }
}

#[cfg(test)]
mod tests;
