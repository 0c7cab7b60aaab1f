//! What is kept of the searches of a plan, so that none is done twice.
//!
//! A result is kept under the digest of its layers, of all options that it depends on, and of the version of this crate. What a
//! store says is not believed: its schedule is replayed and its bounds are derived again ([`entry`]); what fails is refused and
//! searched for again. So a store can save time, and can make no plan look better than it is.
//!
//! Where the clock ends a search, its result depends on more than the options. No such result is kept of a quick look. That of a
//! longer search is kept with the time that it took, and is taken only by a search that would have at most twice as much; it is
//! then still one that was cut short. What an exhaustive search has proved cannot be checked without searching again, so it is
//! not kept, but searched for again: only small problems have it.

mod entry;
#[cfg(test)]
mod tests;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

pub use entry::NotBelieved;

use super::cuts::{CutSolution, Look, PlanError};
use crate::certificate::Optimality;
use crate::job::Layers;
use crate::model::Ticks;
use crate::optimize::Options;
use crate::schedule;
use crate::store::{Kept, Key, Store, StoreError};

/// To be raised whenever a search finds something else than before, or an entry has another form: then nothing that was kept
/// before is taken.
const RESULTS: &str = "bubbleproof-results-1";

/// A search whose result may be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Search {
    /// A quick look at the cuts of a choice.
    Quick(Look),
    /// A longer search.
    Deep,
}

impl Search {
    const fn name(self) -> &'static str {
        match self {
            Self::Quick(Look::First) => "first",
            Self::Quick(Look::Best) => "best",
            Self::Quick(Look::Near) => "near",
            Self::Deep => "deep",
        }
    }
}

/// A result that was not taken from the store.
#[derive(Debug)]
#[non_exhaustive]
pub struct Refused {
    /// The job and the choice that it is about.
    pub subject: String,
    /// Why not.
    pub reason: NotBelieved,
}

/// Where the results of a plan came from.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Tally {
    /// How many were taken from the store.
    pub taken: usize,
    /// How many were searched for.
    pub computed: usize,
    /// Those that the store had, but that were not believed.
    pub refused: Vec<Refused>,
    /// The first thing that went wrong with the store. Nothing is kept from there on.
    pub failure: Option<StoreError>,
}

/// The results of a plan: with a [store](Results::kept_in) those that are kept there too.
#[derive(Debug, Default)]
pub struct Results<'a> {
    store: Option<&'a Store>,
    known: Option<&'a Store>,
    tally: Mutex<Tally>,
}

impl<'a> Results<'a> {
    /// Results that are kept in a store, and taken from there.
    #[must_use]
    pub fn kept_in(store: &'a Store) -> Self {
        Self { store: Some(store), ..Self::default() }
    }

    /// The same, where what is not in the store is looked up in another one, in which nothing is kept.
    #[must_use]
    pub fn knowing(self, known: &'a Store) -> Self {
        Self { known: Some(known), ..self }
    }

    /// Where the results came from.
    #[must_use]
    pub fn into_tally(self) -> Tally {
        self.tally.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn tally(&self) -> MutexGuard<'_, Tally> {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a quick look finds, from the store where it has it. The bound over all cuts is what the caller knows.
    ///
    /// # Errors
    /// Those of the look.
    pub(super) fn quick(
        &self,
        layers: &Layers,
        look: Look,
        options: &Options,
        no_cut_below: Ticks,
        search: impl FnOnce() -> Result<CutSolution, PlanError>,
    ) -> Result<Option<CutSolution>, PlanError> {
        // What is there at once is not worth a place.
        let store = self.store.filter(|_| look != Look::First);
        let key = store.map(|_| key(Search::Quick(look), layers, options));
        let (mut is_refused, mut known) = (false, None);
        if let Some(kept) = key.and_then(|key| self.get(&key)) {
            match entry::read(layers, &kept, Some(no_cut_below)) {
                Ok(found) if kept.spent.is_none() => known = Some(found),
                // No quick look is kept that the clock has ended.
                Ok(_) => {}
                Err(reason) => {
                    is_refused = true;
                    self.refuse(layers, reason);
                }
            }
        }
        if let Some(found) = known {
            self.tally().taken += 1;
            return Ok(found);
        }
        let found = match search() {
            Err(PlanError::NoneFound) => None,
            other => Some(other?),
        };
        if look != Look::First {
            self.tally().computed += 1;
        }
        // Whether nothing is found for lack of time, only the clock tells.
        let is_cut_short = found.as_ref().map_or_else(|| options.stop.is_due(), |found| found.is_cut_short);
        if let Some(key) = key.filter(|_| !is_cut_short) {
            self.keep(&key, Search::Quick(look), layers, found.as_ref(), None, is_refused);
        }
        Ok(found)
    }

    /// What a longer search finds, from the store where it has it. A result that the clock ended is taken if it had at least half
    /// of the time that is fair for this one.
    ///
    /// # Errors
    /// Those of the search.
    pub(super) fn deep(
        &self,
        layers: &Layers,
        options: &Options,
        fair: Duration,
        search: impl FnOnce(&Options) -> Result<CutSolution, PlanError>,
    ) -> Result<CutSolution, PlanError> {
        let key = self.store.map(|_| key(Search::Deep, layers, options));
        let (mut is_refused, mut known) = (false, None);
        if let Some(kept) = key.and_then(|key| self.get(&key)) {
            match entry::read(layers, &kept, None) {
                Ok(found) => known = found.map(|found| (found, kept.spent)),
                Err(reason) => {
                    is_refused = true;
                    self.refuse(layers, reason);
                }
            }
        }
        let known = match known {
            Some((found, spent)) if spent.is_none_or(|spent| spent.saturating_mul(2) >= fair) => {
                self.tally().taken += 1;
                return Ok(found);
            }
            // A search that uses all time goes on from there. Any other finds the same whatever was found before.
            other => other.map(|(found, _)| found).filter(|_| options.use_all_time),
        };
        let begun = Instant::now();
        let mut starting = options.clone();
        starting.known.extend(known.iter().map(|found| found.solution.schedule.clone()));
        // The cut of a shorter search may be one that this one has not looked at.
        let found = match (search(&starting), known) {
            (Ok(found), Some(known)) if known.solution.value() < found.solution.value() => known,
            (Err(PlanError::NoneFound), Some(known)) => known,
            (found, _) => found?,
        };
        self.tally().computed += 1;
        let spent = found.is_cut_short.then(|| begun.elapsed());
        // Who interrupts a search does not want to wait, and may want all of it another time.
        let is_partial = spent.is_some() && !options.use_all_time && options.stop.is_interrupted();
        if let Some(key) = key.filter(|_| !is_partial && !rests_on_search(&found)) {
            self.keep(&key, Search::Deep, layers, Some(&found), spent, is_refused);
        }
        Ok(found)
    }

    fn refuse(&self, layers: &Layers, reason: NotBelieved) {
        self.tally().refused.push(Refused { subject: layers.name.clone(), reason });
    }

    fn get(&self, key: &Key) -> Option<Kept> {
        let store = self.working()?;
        let found = store.get(key).and_then(|kept| match (kept, self.known) {
            (None, Some(known)) => known.get(key),
            (kept, _) => Ok(kept),
        });
        found.unwrap_or_else(|error| {
            self.tally().failure = Some(error);
            None
        })
    }

    fn keep(
        &self,
        key: &Key,
        search: Search,
        layers: &Layers,
        found: Option<&CutSolution>,
        spent: Option<Duration>,
        is_refused: bool,
    ) {
        let Some(store) = self.working() else { return };
        let kept = Kept {
            subject: layers.name.clone(),
            search: search.name().to_owned(),
            spent,
            found: found.map(|found| entry::write(found, search == Search::Deep)),
        };
        let written = if is_refused { store.replace(key, &kept) } else { store.put(key, &kept) };
        if let Err(error) = written {
            self.tally().failure = Some(error);
        }
    }

    /// The store, unless it has failed: a plan takes less time with it, but needs it not.
    fn working(&self) -> Option<&'a Store> {
        self.store.filter(|_| self.tally().failure.is_none())
    }
}

/// Whether something is claimed that only another search can tell.
fn rests_on_search(found: &CutSolution) -> bool {
    found.searched.is_some() || matches!(found.solution.optimality, Optimality::Search { .. })
}

/// What this build finds depends on: its version, and the solvers that are in it.
#[must_use]
pub fn build() -> String {
    format!(
        "{} milp={} highs={} lcg={}",
        env!("CARGO_PKG_VERSION"),
        cfg!(feature = "milp"),
        cfg!(feature = "highs"),
        cfg!(feature = "lcg"),
    )
}

/// All that a result depends on. The number of threads is not among it.
fn key(search: Search, layers: &Layers, options: &Options) -> Key {
    let Options { objective, stop: _, seed, effort, exact_effort, use_all_time, threads: _, known } = options;
    let mut parts = vec![
        RESULTS.to_owned(),
        build(),
        search.name().to_owned(),
        format!("{layers:?}"),
        format!("{objective} seed={seed} effort={effort} exact={exact_effort}"),
    ];
    if search == Search::Deep {
        parts.push(format!("all time={use_all_time}"));
        parts.extend(known.iter().map(|known| {
            let mut text = Vec::new();
            schedule::write(known, &mut text).expect("writing to memory cannot fail");
            String::from_utf8_lossy(&text).into_owned()
        }));
    }
    Key::of(&parts)
}
