//! The verdict about a family: its theorems, and what follows for its squeezed order.

use std::time::{Duration, Instant};

use super::decide::{DecidedTheorem, TheoremVerdict, prove};
use super::squeeze::{BubbleFreedom, Irregular, Witness, WitnessClaim, bubble_freedom};
use super::subject::TheoremSubject;
use super::{ProveError, Theorem};
use crate::block::family::{BubbleFree, Family};
use crate::stop::Stop;

/// All that is known of a family, for every number of devices.
#[derive(Debug, Clone)]
pub struct FamilyVerdict {
    /// Its theorems, those about its promises included.
    pub decided: Vec<DecidedTheorem>,
    /// What is known of its squeezed order.
    pub squeezed: SqueezedOrder,
}

/// What is known of the squeezed order of a family.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum SqueezedOrder {
    /// There is no block that could be squeezed: a theorem that it is one is refuted.
    NoBlock,
    /// Nothing is known.
    Unknown(Irregular),
    /// Its theorems, proved without a solver.
    Known(Box<SqueezedTheorems>),
}

/// What is proved of a squeezed order, and from what.
#[derive(Debug, Clone)]
pub struct SqueezedTheorems {
    /// Everything that the claims rest on.
    pub witness: Witness,
    /// What the witness proves. It has been checked.
    pub claims: Vec<WitnessClaim>,
    /// The promises that there is no bubble for all durations, in the order of the family, and what is known of
    /// them.
    pub bubble_free: Vec<(BubbleFree, BubbleFreedom)>,
    /// The time that all of it took.
    pub spent: Duration,
}

impl SqueezedTheorems {
    /// The promises that there is no bubble for all durations: the name and the statement of each, and what is known of it.
    pub fn promises<'a>(
        &'a self,
        family: &'a Family,
    ) -> impl Iterator<Item = (String, String, &'a BubbleFreedom)> {
        self.bubble_free.iter().enumerate().map(|(position, (promise, freedom))| {
            let name = format!("{}.bubble-free-{}", family.name, position + 1);
            let statement = format!("for every d with {}: {promise}, in the squeezed order", family.domain);
            (name, statement, freedom)
        })
    }
}

/// What is being decided.
#[derive(Debug, Clone, Copy)]
pub enum Watched<'a> {
    /// A theorem about the block.
    Theorem(&'a Theorem),
    /// The squeezed order.
    SqueezedOrder,
}

/// Decides everything about a family: each theorem, and the squeezed order as a whole, within the time limit,
/// until it is time to stop. `watch` sees whatever is decided next.
///
/// # Errors
/// When the family is not well formed or nothing is in its domain, the solver fails, or two things that share no
/// logic contradict each other, which is a defect.
pub fn verdict(
    family: &Family,
    stop: &Stop,
    limit: Duration,
    mut watch: impl FnMut(Watched<'_>),
) -> Result<FamilyVerdict, ProveError> {
    let decided = prove(family, stop, limit, |theorem| watch(Watched::Theorem(theorem)))?;
    let squeezed = if decided.iter().any(DecidedTheorem::refutes_the_block) {
        SqueezedOrder::NoBlock
    } else {
        watch(Watched::SqueezedOrder);
        squeezed(family, &stop.within(limit))?
    };
    Ok(FamilyVerdict { decided, squeezed })
}

/// The squeezed order: derived, checked again from its witness, and compared with the promises about it.
fn squeezed(family: &Family, stop: &Stop) -> Result<SqueezedOrder, ProveError> {
    let start = Instant::now();
    let witness = match Witness::of(family, stop) {
        Ok(witness) => witness,
        Err(reason) => return Ok(SqueezedOrder::Unknown(reason)),
    };
    let rejected = |error| ProveError::Witness { family: family.name.clone(), error: Box::new(error) };
    let claims = witness.check().map_err(rejected)?;
    let freedom = |promise: &BubbleFree| {
        Ok((promise.clone(), bubble_freedom(family, promise, &witness.intervals()[0])?))
    };
    let bubble_free = family.bubble_free.iter().map(freedom).collect::<Result<_, ProveError>>()?;
    let spent = start.elapsed();
    Ok(SqueezedOrder::Known(Box::new(SqueezedTheorems { witness, claims, bubble_free, spent })))
}

impl DecidedTheorem {
    /// Whether it says that some number of devices has no block: then there is nothing to squeeze.
    #[must_use]
    pub fn refutes_the_block(&self) -> bool {
        let of_block = [TheoremSubject::Room, TheoremSubject::Dependencies, TheoremSubject::Collisions];
        of_block.contains(&self.theorem.subject) && matches!(self.verdict, TheoremVerdict::Refuted(_))
    }
}
