//! The best cut of layers into stages, together with its schedule.
//!
//! Cuts to begin with are the even one, one that balances the work, and those whose devices allow the shortest schedules by the
//! bounds. From the best of them, boundaries move as long as that helps. Then the best few are searched for longer, and the
//! best for as long as is asked for. Where few cuts are left that may be better, each is searched exhaustively.

use super::candidates::{Candidate, Candidates, Quick};
use super::seeds;
use super::shard::Shard;
use crate::certificate::{
    CUTS, CutBoundError, Objective, fits_some_cut, lower_bound_over_cuts, lower_bound_within, visit_cuts,
    visit_some_cuts,
};
use crate::job::{ChoiceError, Cut, CutError, Layers};
use crate::model::{Model, Ticks};
use crate::optimize::{OptimizeError, Options, Solution, optimize};

/// Which cuts are looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Partition {
    /// All of them: the best is looked for.
    Auto,
    /// Each stage has as many layers as any other, or one more.
    Even,
    /// This one.
    Given(Cut),
}

/// How far a search over cuts has got.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CutProgress {
    /// What is being tried.
    pub step: String,
    /// The shortest schedule so far, and its cut.
    pub best: Option<(Ticks, Cut)>,
}

/// A cut, its model, and a schedule with what is known of it and of all other cuts.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CutSolution {
    /// How many layers each stage has.
    pub cut: Cut,
    /// The model of that cut.
    pub model: Model,
    /// The schedule, and how far it is from the best of this cut.
    pub solution: Solution,
    /// No schedule of any cut is shorter, in ticks; [`holds_over_cuts`](crate::certificate::holds_over_cuts) derives it anew.
    pub no_cut_below: Ticks,
    /// No schedule of any cut is shorter, as exhaustive searches found, where that is more.
    pub searched: Option<Ticks>,
    /// Whether the search was told to stop before it ended by itself.
    pub is_cut_short: bool,
}

impl CutSolution {
    /// No schedule of any cut is shorter than this, as derived or as searched.
    #[must_use]
    pub fn none_below(&self) -> Ticks {
        self.searched.map_or(self.no_cut_below, |searched| searched.max(self.no_cut_below))
    }

    /// Whether it is proved that no cut has a shorter schedule.
    #[must_use]
    pub fn is_optimal(&self) -> bool {
        self.none_below() == self.solution.value()
    }
}

/// Why there is no plan.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// No cut fits, or the layers are too few.
    #[error(transparent)]
    NoCut(#[from] CutBoundError),
    /// The cut that was asked for does not suit the layers.
    #[error(transparent)]
    Cut(#[from] CutError),
    /// The choices do not suit the job.
    #[error(transparent)]
    Choice(#[from] ChoiceError),
    /// No schedule was found, or a search is defective.
    #[error(transparent)]
    Search(#[from] OptimizeError),
    /// Every cut that was looked at holds too much.
    #[error(
        "no cut was found that has a schedule within the memory limit; whether there is one is not known"
    )]
    NoneFound,
    /// The part of the choices that is asked for has none.
    #[error("part {shard} of the choices is empty: the job has {choices} in all")]
    EmptyShard {
        /// The part.
        shard: Shard,
        /// How many choices there are.
        choices: usize,
    },
    /// Only the makespan is minimised over cuts.
    #[error("the {0} cannot be minimised over cuts, only the makespan")]
    Objective(Objective),
}

/// How many cuts are taken from the bounds to begin with.
const SEEDS: usize = 6;

/// How many times boundaries move at the most.
const MOVES: usize = 40;

/// How many cuts are searched for longer than a quick look.
const LONGER: usize = 3;

/// What part of the effort goes to each of these.
const PART: usize = 20;

/// Up to so many passes, each cut that may be better is searched exhaustively.
const SMALL: u64 = 120;

/// A schedule with a cut that together are as short as could be found.
///
/// Unless the [stop](Options::stop) comes first, the answer is the same every time, with any number of threads, and never longer
/// than that of the even cut with the same options.
///
/// # Errors
/// When no cut fits, the one asked for does not suit the layers, or a search is defective.
pub fn optimize_cut(
    layers: &Layers,
    partition: &Partition,
    options: &Options,
    progress: &mut dyn FnMut(&CutProgress),
) -> Result<CutSolution, PlanError> {
    if options.objective != Objective::Makespan {
        return Err(PlanError::Objective(options.objective));
    }
    let given = match partition {
        Partition::Auto => None,
        Partition::Even => Some(layers.even()),
        Partition::Given(cut) => Some(cut.clone()),
    };
    if let Some(cut) = given {
        let model = layers.model(&cut)?;
        progress(&CutProgress { step: format!("cut {cut}"), best: None });
        let solution = optimize(&model, options, &mut |_| ())?;
        return over_all(layers, Candidate { cut, model, solution }, None, options);
    }
    let mut candidates = Candidates::new(layers, options);
    begin(layers, &mut candidates, progress)?;
    climb(layers, &mut candidates, options, progress)?;
    deepen(layers, &mut candidates, options, progress)?;
    let searched = exhaust(layers, &mut candidates, options, progress)?;
    let is_cut_short = candidates.is_cut_short();
    let best = candidates.into_best().ok_or(PlanError::NoneFound)?;
    let found = over_all(layers, best, searched, options)?;
    Ok(CutSolution { is_cut_short: is_cut_short || found.is_cut_short, ..found })
}

/// How much is looked at for a plan that is not searched for longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    /// The even cut and a balanced one, with named schedules.
    First,
    /// Those, and the one whose devices allow the shortest schedule.
    Best,
    /// A few more, and what moving boundaries leads to.
    Near,
}

/// A plan by a quick look at each of a few cuts. It depends on the layers and the options alone; the caller knows a bound over
/// all cuts.
///
/// # Errors
/// As [`optimize_cut`].
pub(super) fn quick_cut(
    layers: &Layers,
    look: Look,
    options: &Options,
    no_cut_below: Ticks,
) -> Result<CutSolution, PlanError> {
    let mut candidates = Candidates::new(layers, options);
    let how = if look == Look::Near { Quick::Searched } else { Quick::Named };
    candidates.look(&[layers.even(), seeds::balanced(layers)], how)?;
    match look {
        Look::First => {}
        Look::Best => look_by_bound(layers, 1, visit_some_cuts, &mut candidates)?,
        Look::Near => {
            look_by_bound(layers, SEEDS, visit_some_cuts, &mut candidates)?;
            climb(layers, &mut candidates, options, &mut |_| ())?;
        }
    }
    let is_cut_short = options.stop.is_due() || candidates.is_cut_short();
    let Candidate { cut, model, solution } = candidates.into_best().ok_or(PlanError::NoneFound)?;
    Ok(CutSolution { cut, model, solution, no_cut_below, searched: None, is_cut_short })
}

fn tell(step: String, candidates: &Candidates<'_>, progress: &mut dyn FnMut(&CutProgress)) {
    let best = candidates.best().map(|best| (best.solution.value(), best.cut.clone()));
    progress(&CutProgress { step, best });
}

/// Looks at the cuts to begin with.
fn begin(
    layers: &Layers,
    candidates: &mut Candidates<'_>,
    progress: &mut dyn FnMut(&CutProgress),
) -> Result<(), PlanError> {
    tell("first cuts".to_owned(), candidates, progress);
    candidates.look(&[layers.even(), seeds::balanced(layers)], Quick::Searched)?;
    // What fits no cut is said with the reason, here, before anything is searched for.
    if candidates.best().is_none() {
        fits_some_cut(layers)?;
    }
    look_by_bound(layers, SEEDS, visit_cuts, candidates)
}

/// Goes through cuts, those whose devices allow the shortest schedules first.
type Visit = fn(&Layers, Ticks, &mut dyn FnMut(Ticks, &Cut) -> bool) -> bool;

/// Looks at so many cuts whose devices allow the shortest schedules.
fn look_by_bound(
    layers: &Layers,
    count: usize,
    visit: Visit,
    candidates: &mut Candidates<'_>,
) -> Result<(), PlanError> {
    let limit = candidates.best_value().unwrap_or(Ticks(i64::MAX));
    let mut cuts = Vec::new();
    visit(layers, limit, &mut |_, cut| {
        cuts.push(cut.clone());
        cuts.len() < count
    });
    candidates.look(&cuts, Quick::Searched)?;
    Ok(())
}

/// Moves boundaries of the best cut as long as that helps.
fn climb(
    layers: &Layers,
    candidates: &mut Candidates<'_>,
    options: &Options,
    progress: &mut dyn FnMut(&CutProgress),
) -> Result<(), PlanError> {
    for _ in 0..MOVES {
        let Some(best) = candidates.best().map(|best| best.cut.clone()) else { break };
        if options.stop.is_due() {
            break;
        }
        tell(format!("cuts near {best}"), candidates, progress);
        let near: Vec<Cut> = seeds::shifts(best.layers(), layers).map(Cut::new).collect();
        if candidates.look(&near, Quick::Searched)? {
            continue;
        }
        let near: Vec<Cut> = seeds::double_shifts(best.layers(), layers).map(Cut::new).collect();
        if near.len() > NEAR || !candidates.look(&near, Quick::Searched)? {
            break;
        }
    }
    Ok(())
}

/// Up to so many cuts are looked at in which two boundaries have moved.
const NEAR: usize = 64;

/// Searches longer for the best few, and for the best with all of the effort.
fn deepen(
    layers: &Layers,
    candidates: &mut Candidates<'_>,
    options: &Options,
    progress: &mut dyn FnMut(&CutProgress),
) -> Result<(), PlanError> {
    let part = Options {
        effort: options.effort / PART,
        exact_effort: options.exact_effort / PART as u64,
        use_all_time: false,
        ..options.clone()
    };
    for cut in candidates.first(LONGER) {
        tell(format!("schedules of the cut {cut}"), candidates, progress);
        let stop = options.stop.within(options.stop.remaining() / 4);
        candidates.search(&cut, &Options { stop, ..part.clone() })?;
    }
    let Some(best) = candidates.best().map(|best| best.cut.clone()) else { return Ok(()) };
    tell(format!("schedules of the cut {best}"), candidates, progress);
    // Where each cut may be searched exhaustively, the rest of the time is for that.
    let use_all_time = options.use_all_time && !is_small(layers);
    candidates.search(&best, &Options { use_all_time, ..options.clone() })?;
    // Where some device has time to spare, many cuts are as good.
    let mut is_other = false;
    for _ in 0..MOVES {
        if options.stop.is_due() || !candidates.even_out()? {
            break;
        }
        is_other = true;
    }
    if let Some(best) = candidates.best().map(|best| best.cut.clone()).filter(|_| is_other) {
        tell(format!("schedules of the cut {best}"), candidates, progress);
        candidates.search(&best, &part)?;
    }
    Ok(())
}

fn is_small(layers: &Layers) -> bool {
    3 * u64::from(layers.stages()) * u64::from(layers.microbatches) <= SMALL
}

/// Searches each cut that may be better, where these are few and small, and says what no schedule of any cut is below.
fn exhaust(
    layers: &Layers,
    candidates: &mut Candidates<'_>,
    options: &Options,
    progress: &mut dyn FnMut(&CutProgress),
) -> Result<Option<Ticks>, PlanError> {
    let Some(limit) = candidates.best_value().filter(|_| is_small(layers)) else { return Ok(None) };
    let mut open = Vec::new();
    let all = visit_cuts(layers, limit, &mut |bound, cut| {
        open.push((bound, cut.clone()));
        open.len() <= SEARCHED
    });
    if !all || open.len() > SEARCHED {
        return Ok(None);
    }
    let mut none_below = limit;
    for (bound, cut) in open {
        let best = candidates.best_value().unwrap_or(limit);
        let Ok(model) = layers.model(&cut) else { continue };
        let bound = bound.max(lower_bound_within(&model, Objective::Makespan, OWN_STEPS).value);
        if bound >= best {
            continue;
        }
        if options.stop.is_due() {
            return Ok(None);
        }
        tell(format!("all schedules of the cut {cut}"), candidates, progress);
        // The first of them may be searched to the end by the others' time.
        let stop = options.stop.within(options.stop.remaining() / 2);
        let options = Options { stop, ..options.clone() };
        if let Some(found) = candidates.search(&cut, &options)? {
            none_below = none_below.min(found.solution.lower_bound().max(bound));
        }
    }
    let best = candidates.best_value().unwrap_or(limit);
    Ok(Some(none_below.min(best)))
}

/// Up to so many cuts are searched exhaustively.
const SEARCHED: usize = 4 * CUTS;

/// What the bounds of a cut may take before it is searched, in steps.
const OWN_STEPS: u64 = 1_000_000;

/// The answer, with what is known of all cuts, in its certificate too.
fn over_all(
    layers: &Layers,
    best: Candidate,
    searched: Option<Ticks>,
    options: &Options,
) -> Result<CutSolution, PlanError> {
    let Candidate { cut, model, solution } = best;
    let value = solution.value();
    let no_cut_below = lower_bound_over_cuts(layers, value)?;
    // What the bounds say needs no search.
    let searched = searched.filter(|&none_below| none_below > no_cut_below);
    let is_cut_short = options.stop.is_due();
    Ok(CutSolution { cut, model, solution, no_cut_below, searched, is_cut_short })
}
