//! List scheduling along forwards, where memory is more than what F keeps, in a search for a whole model.

use std::time::Duration;

use super::along::{self, Along};
use super::fit::Fit;
use super::levels::Choice;
use super::memory::Apart;
use super::sources::{Source, guides};
use super::{CLEARLY, Found, Search};
use crate::model::Model;
use crate::optimize::replayed::ReplayedSchedule;
use crate::schedule::Schedule;
use crate::stop::Stop;

/// List scheduling along forwards, with the choice of levels, and what made the guides.
pub(super) struct Guided {
    along: Along,
    choice: Choice,
    engines: Vec<String>,
}

impl Guided {
    fn schedules(&self, model: &Model) -> Vec<Source> {
        const ENGINE: &str = "list scheduling along ";
        let named = |(schedule, guide): (Schedule, usize)| {
            let engine = &self.engines[guide];
            (self.choice.named(model, &schedule), format!("{ENGINE}{}", engine.trim_start_matches(ENGINE)))
        };
        self.along.schedules().into_iter().map(named).collect()
    }
}

impl Search<'_> {
    /// Whether memory is more than what F keeps, and limited.
    pub(super) fn is_scheduled_along(&self) -> bool {
        !self.model.has_plain_memory() && self.plain.memory().capacity.iter().any(Option::is_some)
    }

    /// What list scheduling gives along forwards, with all the memory that passes need. The search among levels that found the
    /// shortest is kept.
    pub(super) fn schedule_along(&mut self, by_choice: &[(Choice, Apart)]) -> Vec<ReplayedSchedule> {
        if !self.is_scheduled_along() {
            return Vec::new();
        }
        // Pairs, copies and corridors need the time.
        let (sixteenths, part) = match (self.model.has_cheaper_pairs(), self.model.can_offload()) {
            (true, _) => (2, 100),
            (false, true) => (1, 20),
            (false, false) if self.around.is_some() => (2, 20),
            (false, false) => (5, 20),
        };
        let passes = self.options.effort / part;
        let stop = self.share(sixteenths);
        let mut found = Vec::new();
        let mut least = None;
        for ((choice, apart), left) in by_choice.iter().zip((1..=by_choice.len()).rev()) {
            let plain = choice.of(&self.plain);
            if stop.is_due() {
                break;
            }
            let stop = &stop.within(stop.remaining() / u32::try_from(left).unwrap_or(u32::MAX));
            let (guides, engines): (Vec<_>, Vec<_>) =
                guides(&plain, apart, &stop.within(stop.remaining() / 4)).into_iter().unzip();
            let mut along = Along::new(&plain, &guides, self.options.seed, self.options.threads, stop);
            let passes = passes / by_choice.len();
            along.improve(&self.effort(passes, stop));
            let guided = Guided { along, choice: choice.clone(), engines };
            found.extend(
                guided.schedules(self.model).into_iter().filter_map(|source| self.fitted(&source, stop)),
            );
            if guided.along.end().is_some_and(|end| least.is_none_or(|least| end < least)) {
                least = guided.along.end();
                self.guided = Some(guided);
            }
        }
        found
    }

    /// A schedule, if it is valid under the model or a few moves make it so.
    fn fitted(&self, source: &Source, stop: &Stop) -> Option<ReplayedSchedule> {
        let mut fit = Fit {
            model: self.model,
            objective: self.options.objective,
            passes_left: self.passes() / 20,
            stop: stop.within(stop.remaining() / 4),
        };
        self.replayed(source.clone()).or_else(|| fit.fitted(&source.0, &source.1))
    }

    /// Goes on with list scheduling along forwards, if what that found is about as short as the best of these schedules.
    pub(super) fn search_along(&mut self, starts: &mut [Found]) {
        let Some(mut guided) = self.guided.take() else { return };
        let Some((best, pairs)) = starts.iter_mut().min_by_key(|(found, _)| found.rank()) else { return };
        let left = self.options.stop.remaining();
        let passes = match self.options.use_all_time {
            true if left == Duration::MAX => self.options.effort,
            true => usize::MAX,
            false => 0,
        };
        let is_near = guided.along.end().is_some_and(|end| end <= best.value.0 + best.value.0 / CLEARLY);
        if is_near && guided.along.improve(&self.effort(passes, &self.options.stop.within(left / 2))) {
            let shorter = guided
                .schedules(self.model)
                .into_iter()
                .filter_map(|source| self.fitted(&source, &self.options.stop));
            if let Some(shorter) =
                shorter.min_by_key(ReplayedSchedule::rank).filter(|shorter| shorter.rank() < best.rank())
            {
                (*best, *pairs) = (shorter, None);
            }
        }
    }

    fn effort<'b>(&self, passes: usize, stop: &'b Stop) -> along::Effort<'b> {
        // What comes behind the passes may let a schedule end later than is known there.
        let enough = if self.model.step().is_some() { 0 } else { self.bound.value.0 };
        along::Effort { passes, enough, threads: self.options.threads, stop }
    }
}
