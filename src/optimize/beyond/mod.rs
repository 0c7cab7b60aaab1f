//! Models that say more than what passes take and when their results arrive: overlapped pairs that save time, messages that
//! keep links busy, the end of the step, offloading, sharded weights, memory beyond what F keeps, and several levels of
//! recomputation.
//!
//! The searches know passes that run one by one, messages that each have a link of their own, and nothing behind the passes. So
//! schedules are sought for such models, and replay measures them under the model itself, as it does all named ones. Where
//! links are busy, one more source is a schedule for messages that take longer, which leaves them time to wait for each other.
//! Where pairs save time, more sources are those for passes as much [shorter](crate::certificate::shortened) as pairs can make
//! them, which gives orders that are good once pairs are made; named schedules with pairs; blocks with pairs ([`rounds`]); and
//! list scheduling in pairs ([`list`]). What is over a capacity by a little is made to [fit]. In each schedule forwards and
//! backwards that follow each other become pairs wherever replay says that this helps. Where pairs and copies are of little
//! use, and time ended the search for passes alone, it goes on with the time that is left. Where there are few passes,
//! corridors [around] the best one lead to better ones. In the end the best one is [changed at random](wander): its pairs and its orders,
//! which also decide when the gradients of a stage can be reduced.
//! Where memory is more than what F keeps, list scheduling [along] the forwards of all this keeps to what each pass needs.
//! What else to do about memory, [`memory`] says, about recomputation, [`levels`], and what to offload, [`offload`]. Two directions,
//! which those searches do not know either, are for [`two_way`].

mod along;
mod around;
mod climb;
mod fit;
mod guided;
mod least;
mod levels;
mod list;
mod memory;
mod offload;
mod paired;
mod rounds;
mod sources;
mod two_way;
mod wander;

use std::time::Duration;

use super::feasible;
use super::replayed::{ReplayedSchedule, given, time_to_replay, with_time_to_check};
use super::{
    EFFORT_PER_STEP_BELOW, Optimality, OptimizeError, Options, Progress, STEPS, STEPS_BELOW, Solution,
    lower_bound_below, most_steps, not_refuted, of_optimize, optimize,
};
use crate::bounds::lower_bound_until;
use crate::certificate::{self, Bound, shortened};
use crate::model::{Model, Overlap, Ticks};
use crate::parallel;
use crate::stop::Stop;
use around::Around;
use climb::Climb;
use fit::Fit;
use guided::Guided;
pub(super) use least::check;
use levels::Choice;
use memory::Apart;
use offload::Offloads;
use paired::{Paired, not_overlapped};
use sources::{Source, at_better_levels, bare, found_apart, named, solutions_of, with_longer_messages};
pub(super) use two_way::{check_two_ways, optimize_two_ways};
use wander::Wander;

/// [`optimize`] for a model that says more than passes and latencies.
pub(super) fn optimize_beyond_passes(
    model: &Model,
    options: &Options,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Solution, OptimizeError> {
    let stop = with_time_to_check(model, &options.stop, time_to_replay(model, &options.stop));
    let options = &Options { stop, ..options.clone() };
    let mut search = Search::new(model, options);
    search.take_named();
    search.tell("searching among passes alone", &[], progress);
    let by_choice = search.apart(progress)?;
    let mut sources = search.with_pairs_named();
    for (choice, apart) in &by_choice {
        sources.extend(found_apart(model, choice, apart));
    }
    let roomier = search.aside(&by_choice[0], &mut sources, progress)?;
    search.raise_bound();
    search.tell("improving under the whole model", &[], progress);
    let without = search.without_pairs(&by_choice, &mut sources)?;
    search.tell("choosing levels, copies and pairs", &without, progress);
    if by_choice.len() > 1 {
        search.change_levels(&without, &mut sources, progress)?;
    }
    search.offload(roomier, &sources, &without);
    search.make_pairs(&by_choice[0].1.room, sources);
    search.tell("searching on among passes alone", &without, progress);
    search.search_on(&by_choice[0], &without, progress)?;
    search.found.extend(without.into_iter().map(|without| (without, None)));
    search.finish(by_choice, progress)
}

/// What is valid under the model, and its pairs where they were chosen here.
type Found = (ReplayedSchedule, Option<Paired>);

/// A search in the middle of its work.
struct Search<'a> {
    model: &'a Model,
    options: &'a Options,
    /// The model of passes alone. Memory is that of the model, without a limit where what fits needs copies.
    plain: Model,
    bound: Bound,
    /// How much time there is in all.
    time: Duration,
    /// When the best has to be there, so that there is time to change it at random.
    until: Stop,
    /// The effort for corridors, where they are worth it.
    around: Option<usize>,
    /// Whether an earlier search had to end before its effort was spent.
    is_cut_short: bool,
    /// The best of what the searches for passes alone found.
    alone: Option<Ticks>,
    /// The best list scheduling along forwards.
    guided: Option<Guided>,
    /// What is valid under the model.
    found: Vec<Found>,
}

impl<'a> Search<'a> {
    fn new(model: &'a Model, options: &'a Options) -> Self {
        let sums = model.with_overlap(Overlap::default()).expect("sums always suit");
        let plain = sums.with_own_links().with_step(None).and_then(|model| model.with_offload(None));
        let plain = plain.expect("what ends with its passes takes no longer");
        let mut plain = plain.with_gathers_at_once();
        if model.can_offload() && !is_feasible(&plain) {
            // What fits needs copies, which are added later.
            plain = plain.with_uniform_activation_capacity(None).expect("without a limit, none is wrong");
        }
        let bound = lower_bound_until(model, options.objective, 0, &mut || false);
        let time = options.stop.remaining();
        let around = Around::effort(model, options.objective, options.effort);
        // With corridors, half of the time is left for them and for random changes.
        let sixteenths = if around.is_some() { 8 } else { 12 };
        let until = options.stop.within(time / 16 * sixteenths);
        Self {
            model,
            options,
            plain,
            bound,
            time,
            until,
            around,
            is_cut_short: false,
            alone: None,
            guided: None,
            found: Vec::new(),
        }
    }

    /// So many sixteenths of all the time, from now on, at most.
    fn share(&self, sixteenths: u32) -> Stop {
        self.until.within(self.time / 16 * sixteenths)
    }

    /// Tells of the best so far, of what was found and of other schedules, and of what comes next.
    fn tell(&self, next: &str, others: &[ReplayedSchedule], progress: &mut dyn FnMut(&Progress)) {
        let found = self.found.iter().map(|(found, _)| found);
        let best = found.chain(others).map(|found| found.value).min();
        progress(&Progress { step: next.to_owned(), best, bound: self.bound.value, is_inner: false });
    }

    /// Options for a search beside the first one.
    fn lesser_options(&self, sixteenths: u32, effort: usize) -> Options {
        Options {
            stop: self.share(sixteenths),
            effort: self.options.effort / effort,
            exact_effort: 0,
            use_all_time: false,
            known: Vec::new(),
            ..self.options.clone()
        }
    }

    /// Whether pairs or copies are to be chosen as well.
    fn has_choices(&self) -> bool {
        self.model.has_cheaper_pairs() || self.model.can_offload()
    }

    /// A schedule, if it is valid under the model.
    fn replayed(&self, (schedule, engine): Source) -> Option<ReplayedSchedule> {
        ReplayedSchedule::new(self.model, self.options.objective, schedule, engine).ok()
    }

    /// Finds every named schedule that is valid, and what was given: they are there at once, whatever the time.
    fn take_named(&mut self) {
        let given = given(self.model, self.options.objective, &self.options.known);
        self.found.extend(given.into_iter().map(|given| (given, None)));
        for source in named(self.model, &self.share(2)) {
            self.found.extend(self.replayed(source).map(|named| (named, None)));
        }
    }

    /// Named schedules that the searches for passes alone do not know, or not as what they are.
    fn with_pairs_named(&self) -> Vec<Source> {
        let named = self
            .found
            .iter()
            .filter(|(found, _)| self.model.has_busy_links() || found.schedule.overlap_count() > 0);
        named.map(|(found, _)| (found.schedule.clone(), found.engine.clone())).collect()
    }

    /// What is found for passes alone, by choice of levels, the best under the model first.
    fn apart(&mut self, progress: &mut dyn FnMut(&Progress)) -> Result<Vec<(Choice, Apart)>, OptimizeError> {
        let choices = Choice::all(&self.plain);
        let sixteenths =
            match (self.around.is_some(), self.model.can_offload(), self.model.has_cheaper_pairs()) {
                (true, ..) => 4,
                (false, true, _) if !self.model.has_plain_memory() => 3,
                (false, true, _) | (false, false, true) => 5,
                // List scheduling with all the memory that passes need finds more.
                (false, false, false) if self.is_scheduled_along() => 5,
                (false, false, false) => 8,
            };
        let options = Options { stop: self.share(sixteenths), ..self.options.clone() };
        let bound = self.bound.value;
        let mut report = |told: &Progress| progress(&Progress { bound, is_inner: true, ..told.clone() });
        let by_choice = solutions_of(&self.plain, &choices, &options, &mut report)?;
        let mut solutions = by_choice.iter().flat_map(|(_, apart)| &apart.solutions);
        self.is_cut_short |= solutions.any(|solution| solution.is_cut_short);
        Ok(by_choice)
    }

    /// Adds what is found where passes are as short as pairs make them, and where messages take longer. Returns what is found
    /// where there is more memory, for schedules that offload.
    fn aside(
        &mut self,
        (choice, apart): &(Choice, Apart),
        sources: &mut Vec<Source>,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Vec<Source>, OptimizeError> {
        let (model, bound) = (self.model, self.bound.value);
        let mut report = |told: &Progress| progress(&Progress { bound, is_inner: true, ..told.clone() });
        let mut others = Vec::new();
        if model.has_cheaper_pairs() {
            // Memory is that in which something was found.
            let memory = apart.room.memory().clone();
            let short = shortened(&choice.of(&model.with_own_links().with_gathers_at_once()))
                .with_step(None)
                .and_then(|model| model.with_offload(None))
                .and_then(|model| model.with_plain_memory(memory));
            others.push(
                short.expect("what ends with its passes takes no longer, and memory is that of a model"),
            );
        }
        if model.has_busy_links() {
            others.push(with_longer_messages(model, &apart.room));
        }
        for other in others {
            if self.until.is_due() {
                break;
            }
            let sixteenths = if self.has_choices() { 1 } else { 2 };
            let found = optimize(&other, &self.lesser_options(sixteenths, 2), &mut report)?;
            self.is_cut_short |= found.is_cut_short;
            sources.push((choice.named(model, &found.schedule), found.engine));
        }
        if !model.can_offload() || self.until.is_due() {
            return Ok(Vec::new());
        }
        offload::roomier(model, &self.plain, &self.lesser_options(2, 8), &mut report)
    }

    /// Proves more of all schedules.
    fn raise_bound(&mut self) {
        if !self.until.is_due() {
            let steps = STEPS.min(self.options.effort as u64 / super::EFFORT_PER_STEP);
            let stop = self.share(1);
            let objective = self.options.objective;
            let bound = certificate::lower_bound_until(self.model, objective, steps, &mut || stop.is_due());
            self.take_bound(Some(bound));
        }
    }

    /// Looks for a better bound up to a value that a schedule has. Where all the time is to be used, it then looks for one with as
    /// many steps as there is time for.
    fn raise_bound_below(&mut self, value: Ticks, progress: &mut dyn FnMut(&Progress)) {
        let (model, options) = (self.model, self.options);
        if self.bound.value >= value {
            return;
        }
        let step = "lower bounds".to_owned();
        progress(&Progress { step, best: Some(value), bound: self.bound.value, is_inner: false });
        let steps = STEPS_BELOW.min(options.effort as u64 / EFFORT_PER_STEP_BELOW);
        let stop = options.stop.within(options.stop.remaining() / 4);
        let below = lower_bound_below(model, options.objective, value, steps, &mut || stop.is_due());
        self.take_bound(below);
        if self.bound.value < value && options.use_all_time {
            let (steps, stop) =
                (most_steps(&options.stop), options.stop.within(options.stop.remaining() / 8));
            let alone =
                certificate::lower_bound_until(model, options.objective, steps, &mut || stop.is_due());
            self.take_bound(Some(alone));
        }
    }

    /// Goes from the best of these schedules to what corridors around it lead to.
    fn search_around(&mut self, starts: &mut [Found], progress: &mut dyn FnMut(&Progress)) {
        let (options, bound) = (self.options, self.bound.value);
        let best = starts.iter_mut().min_by_key(|(found, _)| found.rank());
        let Some((best, effort)) = best.filter(|(best, _)| best.value > bound).zip(self.around) else {
            return;
        };
        let stop = options.stop.within(options.stop.remaining() / 2);
        let (seed, threads) = (options.seed, options.threads);
        let around = Around { model: self.model, bound, effort, seed, threads, stop: &stop };
        let step = "searching in corridors".to_owned();
        progress(&Progress { step, best: Some(best.0.value), bound, is_inner: false });
        if let Some(shorter) = around.shorter(&best.0) {
            *best = (shorter, None);
        }
        self.is_cut_short |= stop.is_due();
    }

    /// Takes another bound if it is better.
    fn take_bound(&mut self, other: Option<Bound>) {
        if let Some(other) = other.filter(|other| other.value > self.bound.value) {
            self.bound = other;
        }
    }

    /// What is found without pairs and copies, the best first: what fits as it is, and what is made to fit. It is a source too.
    ///
    /// # Errors
    /// When replay rejects what a search of the same memory proposes.
    fn without_pairs(
        &mut self,
        by_choice: &[(Choice, Apart)],
        sources: &mut Vec<Source>,
    ) -> Result<Vec<ReplayedSchedule>, OptimizeError> {
        let model = self.model;
        let mut without = Vec::new();
        if model.has_plain_memory() && !model.can_offload() {
            // Memory is the same in both models.
            for (choice, apart) in by_choice {
                let found = &apart.solutions[0];
                let (schedule, engine) = (choice.named(model, &bare(&found.schedule)), found.engine.clone());
                without.push(ReplayedSchedule::new(model, self.options.objective, schedule, engine)?);
            }
            self.alone = without.iter().map(|found| found.value).min();
            return Ok(without);
        }
        // One microbatch may fit with other levels alone.
        let stop = self.share(1);
        let others = by_choice.iter().find_map(|(choice, apart)| {
            let others = memory::others(&choice.of(&self.plain), apart, &stop).ok()?;
            Some(others.into_iter().map(|(other, engine)| (choice.named(model, &other), engine)))
        });
        without.extend(others.into_iter().flatten().filter_map(|other| self.replayed(other)));
        let found: Vec<Source> =
            by_choice.iter().flat_map(|(choice, apart)| found_apart(model, choice, apart)).collect();
        let (stop, objective) = (self.share(2), self.options.objective);
        for (source, left) in found.iter().zip((1..=u32::try_from(found.len()).unwrap_or(u32::MAX)).rev()) {
            let mut fit = Fit {
                model,
                objective,
                passes_left: self.passes() / 20,
                stop: stop.within(stop.remaining() / left),
            };
            without.extend(self.replayed(source.clone()).or_else(|| fit.fitted(&source.0, &source.1)));
        }
        self.alone = without.iter().map(|found| found.value).min();
        let along = self.schedule_along(by_choice);
        without.extend(along);
        without.sort_by_key(ReplayedSchedule::rank);
        // The best of them is worth a search around it.
        sources.extend(without.first().map(|best| (best.schedule.clone(), best.engine.clone())));
        Ok(without)
    }

    /// How many passes may be replayed in all.
    const fn passes(&self) -> usize {
        self.options.effort / EFFORT_PER_REPLAYED_PASS
    }

    fn offloads(&self, passes_left: usize, stop: &Stop) -> Offloads<'a> {
        Offloads { model: self.model, objective: self.options.objective, passes_left, stop: stop.clone() }
    }

    /// Offloads activations of all that was found until it fits.
    fn offload(&mut self, roomier: Vec<Source>, sources: &[Source], without: &[ReplayedSchedule]) {
        if !self.model.can_offload() {
            return;
        }
        let least = Choice::all(self.model).into_iter().filter_map(|choice| {
            let least = least::least(&choice.of(self.model)).ok()?;
            Some(least.map(|least| (choice.named(self.model, &least), "one microbatch at a time".to_owned())))
        });
        let least: Vec<ReplayedSchedule> = least.flatten().filter_map(|least| self.replayed(least)).collect();
        self.found.extend(least.into_iter().map(|least| (least, None)));
        let without = without.iter().map(|found| (found.schedule.clone(), found.engine.clone()));
        let all: Vec<Source> = roomier.into_iter().chain(sources.iter().cloned()).chain(without).collect();
        let found = parallel::map(self.options.threads, &all, |(schedule, engine)| {
            let schedule = bare(schedule);
            let mut offloads = self.offloads(self.passes() / 100, &self.until);
            let fitted = offloads.fitted(&schedule, engine);
            let instead = offloads.instead_of_recomputing(&schedule, engine);
            [fitted, instead]
        });
        self.found.extend(found.into_iter().flatten().flatten().map(|found| (found, None)));
    }

    fn climb(&self, passes_left: usize, stop: &Stop) -> Climb<'a> {
        Climb {
            model: self.model,
            objective: self.options.objective,
            bound: self.bound.value,
            passes_left,
            stop: stop.clone(),
            best: None,
        }
    }

    /// Makes pairs in all sources, and in what blocks with pairs and list scheduling give where pairs save time.
    fn make_pairs(&mut self, room: &Model, mut sources: Vec<Source>) {
        if self.model.has_cheaper_pairs() {
            sources.extend(self.in_blocks(room));
            sources.extend(self.listed());
        }
        for (schedule, engine) in sources {
            let pairs = Paired::of(self.model, &schedule, &engine);
            let improved = self.climb(self.passes() / 200, &self.until).improved(&pairs);
            self.found.extend(improved.map(|(pairs, best)| (best, Some(pairs))));
        }
    }

    /// Schedules of blocks with pairs that need no more memory than there is in the model in which something was found.
    fn in_blocks(&self, room: &Model) -> Vec<Source> {
        let apart = self.model.with_own_links().with_gathers_at_once().with_step(None);
        let apart = apart.and_then(|model| model.with_offload(None));
        let apart = apart.and_then(|model| model.with_plain_memory(room.memory().clone()));
        let apart = apart.and_then(|model| model.with_recompute(None));
        let effort = rounds::Effort {
            objective: self.options.objective,
            seed: self.options.seed,
            passes: self.passes() / 40,
            threads: self.options.threads,
            stop: &self.until.within(self.until.remaining() / 4),
        };
        rounds::schedules(&apart.expect("what ends with its passes takes no longer"), &effort)
    }

    /// What list scheduling in pairs gives.
    fn listed(&self) -> Vec<Source> {
        let effort = list::Effort {
            seed: self.options.seed,
            passes: self.passes() / 20,
            threads: self.options.threads,
            stop: &self.until.within(self.until.remaining() / 3),
        };
        let listed = list::schedules(self.model, &self.until, &effort).into_iter();
        listed.map(|schedule| (schedule, "list scheduling in pairs".to_owned())).collect()
    }

    /// Finds schedules with better levels. The best of them is a source too.
    fn change_levels(
        &mut self,
        without: &[ReplayedSchedule],
        sources: &mut Vec<Source>,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<(), OptimizeError> {
        let (aside, bound) = (self.lesser_options(1, 2), self.bound.value);
        let mut report = |told: &Progress| progress(&Progress { bound, is_inner: true, ..told.clone() });
        let options = Options { stop: self.share(2), ..self.options.clone() };
        let better = at_better_levels(self.model, &self.plain, &options, &aside, without, &mut report)?;
        let best = better.iter().min_by_key(|found| found.rank());
        sources.extend(best.map(|best| (best.schedule.clone(), best.engine.clone())));
        self.found.extend(better.into_iter().map(|better| (better, None)));
        Ok(())
    }

    /// A schedule with random changes for as long as there is effort or time.
    fn wandered(
        &self,
        (best, pairs): Found,
        passes_left: usize,
        stop: &Stop,
        tell: &mut dyn FnMut(Ticks),
    ) -> ReplayedSchedule {
        let (model, options) = (self.model, self.options);
        let wander = Wander { seed: options.seed, threads: options.threads, bound: self.bound.value, stop };
        if best.schedule.offload_count() > 0 {
            return self.offloads(passes_left, stop).wandered(best, &wander, tell);
        }
        let pairs = pairs.unwrap_or_else(|| Paired::of(model, &best.schedule, not_overlapped(&best.engine)));
        self.climb(passes_left, stop).wandered(pairs, best, &wander, tell)
    }

    /// Goes on with the search for passes alone where time ended it, unless the choice of pairs, copies and levels has made
    /// it clearly better: without such choices it would have had that time.
    ///
    /// # Errors
    /// As [`optimize`].
    fn search_on(
        &mut self,
        (choice, apart): &(Choice, Apart),
        without: &[ReplayedSchedule],
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<(), OptimizeError> {
        let last = apart.solutions.last().expect("something was found for passes alone");
        let chosen = self.found.iter().map(|(found, _)| found).chain(without).map(|found| found.value).min();
        let alone = self.alone;
        let is_better = match (alone, chosen) {
            (Some(alone), Some(chosen)) => (alone - chosen).0 > alone.0 / CLEARLY,
            (Some(_), None) => false,
            (None, _) => true,
        };
        if !last.is_cut_short || is_better || self.options.stop.is_due() {
            return Ok(());
        }
        let quarters = if self.around.is_some() { 1 } else { 3 };
        let stop = self.options.stop.within(self.options.stop.remaining() / 4 * quarters);
        let options = Options { stop, known: vec![last.schedule.clone()], ..self.options.clone() };
        let bound = self.bound.value;
        let mut report = |told: &Progress| progress(&Progress { bound, is_inner: true, ..told.clone() });
        let further = optimize(&apart.room, &options, &mut report)?;
        let schedule = choice.named(self.model, &bare(&further.schedule));
        self.found.extend(self.replayed((schedule, further.engine)).map(|found| (found, None)));
        Ok(())
    }

    /// The best of all, changed at random. A search around a schedule that offloads makes
    /// other changes than one around one that does not, so there is a short one of each sort to begin with.
    fn finish(
        mut self,
        by_choice: Vec<(Choice, Apart)>,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Solution, OptimizeError> {
        let (model, options, objective) = (self.model, self.options, self.options.objective);
        let found = std::mem::take(&mut self.found).into_iter();
        let (gone, here): (Vec<_>, Vec<_>) = found.partition(|(found, _)| found.schedule.offload_count() > 0);
        let rank = |(found, pairs): &Found| (found.rank(), pairs.is_none());
        let mut starts: Vec<_> =
            [here, gone].into_iter().filter_map(|found| found.into_iter().min_by_key(rank)).collect();
        self.search_around(&mut starts, progress);
        if let Some(value) = starts.iter().map(|(found, _)| found.value).min() {
            self.raise_bound_below(value, progress);
        }
        self.search_along(&mut starts);
        let passes = if options.use_all_time { usize::MAX } else { self.passes() / 4 };
        let mut least = starts.iter().map(|(found, _)| found.value).min();
        let mut tell = |value: Ticks| {
            least = least.map(|least| least.min(value));
            progress(&random_changes(least, self.bound.value));
        };
        if starts.len() > 1 {
            let short = |start| {
                let stop = options.stop.within(options.stop.remaining() / 4);
                (self.wandered(start, self.passes() / 8, &stop, &mut tell), None)
            };
            starts = starts.into_iter().map(short).collect();
        }
        let best = starts
            .into_iter()
            .min_by_key(rank)
            .ok_or_else(|| OptimizeError::NoneFound(model.beyond_passes().expect("memory is not plain")))?;
        let best = self.wandered(best, passes, &options.stop, &mut tell);
        let is_cut_short = self.is_cut_short || options.stop.is_due();
        // A change of orders or pairs may have made a recomputation needless, and one of orders an offload.
        let best = best.without_needless(model, objective);
        let ReplayedSchedule { schedule, verdict, value, engine } =
            offload::without_needless(model, objective, best);
        let bound = self.bound;
        not_refuted(value, bound.value, None)?;
        let schedule = of_optimize(schedule, model, &engine);
        let optimality = if value == bound.value { Optimality::Bound } else { Optimality::Open };
        let mut solutions = by_choice.into_iter().take(1).flat_map(|(_, apart)| apart.solutions);
        let alike = solutions.find(|apart| schedule.overlap_count() == 0 && engine == apart.engine);
        let block = alike.and_then(|apart| apart.block);
        let solution =
            Solution { schedule, verdict, bound, optimality, block, engine, objective, is_cut_short };
        Ok(solution.certified(model))
    }
}

/// The progress of random changes, with the best value so far.
fn random_changes(best: Option<Ticks>, bound: Ticks) -> Progress {
    let step = "changing orders, levels, copies and pairs at random".to_owned();
    Progress { step, best, bound, is_inner: false }
}

/// Whether some schedule keeps to the capacities of a model of passes alone.
fn is_feasible(plain: &Model) -> bool {
    if plain.has_plain_memory() { feasible::check(plain).is_ok() } else { check(plain).is_ok() }
}

/// What is shorter by more than one part of so many is clearly better.
const CLEARLY: i64 = 50;

/// To replay a pass takes about as long as to place so many.
const EFFORT_PER_REPLAYED_PASS: usize = 10;
