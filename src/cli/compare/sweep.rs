//! `compare` for several sizes and memory limits: a table for each combination.

use std::fmt;

use serde::Serialize;

use super::families::Families;
use super::{CompareArgs, Comparison};
use crate::amounts::plural;
use crate::cli::deadline::Deadline;
use crate::cli::error::{Error, Status};
use crate::cli::figures::headline;
use crate::cli::interrupt::on_signals;
use crate::cli::output::Output;
use crate::cli::progress::Progress;
use crate::cli::search::Infeasible;
use crate::cli::size::check_size;
use crate::cli::sweep::{AtSize, Case, Combination, note_each_once};
use crate::estimate::Work;
use crate::model::Model;
use crate::optimize::sweep::tightest_first;
use crate::stop::Stop;

/// The comparisons, in the order of the combinations.
#[derive(Serialize)]
#[serde(transparent)]
struct Comparisons<'a> {
    blocks: Vec<Block<'a>>,
}

/// A comparison, and of which combination.
#[derive(Serialize)]
struct Block<'a> {
    combination: &'a Combination,
    #[serde(flatten)]
    answer: Answer<'a>,
    #[serde(skip)]
    model: &'a Model,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Answer<'a> {
    Compared(Comparison<'a>),
    /// Not even the weights fit.
    Infeasible(Infeasible),
}

/// Compares the schedules under every combination.
///
/// # Errors
/// When a file or an option is wrong, or a search is defective.
pub fn run(args: &CompareArgs, output: Output) -> Result<Status, Error> {
    let progress = Progress::start("reading the model").until(args.search.time_limit());
    let base = args.model.base()?;
    let families = Families::read(&base, args.schedules.as_ref())?;
    let sizes = args.model.all_of(&base)?;
    let combinations: usize = sizes.iter().map(|at| at.cases.len()).sum();
    let time_limit = args.search.time_limit_of(combinations);
    let share = time_limit / u32::try_from(combinations).unwrap_or(u32::MAX);
    for at in &sizes {
        check_size(&at.model, Work::Search, Some(share))?;
    }
    let stop = Stop::on(on_signals()).within(output.left_of(time_limit));
    let limit = Deadline::after(time_limit, output);
    let mut blocks = Vec::with_capacity(combinations);
    for (done, at) in sizes.iter().enumerate() {
        blocks.extend(at_size(args, &families, at, &stop.share(sizes.len() - done), &progress)?);
    }
    drop((progress, limit));
    let comparisons = Comparisons { blocks };
    note_each_once(comparisons.compared().flat_map(|comparison| &comparison.notes));
    output.print(&comparisons)?;
    Ok(comparisons.status())
}

/// The comparisons at one size: made from the tightest memory limit to the loosest, so that what `optimize` finds within
/// more memory is never worse.
fn at_size<'a>(
    args: &CompareArgs,
    families: &Families<'_>,
    at: &'a AtSize,
    stop: &Stop,
    progress: &Progress,
) -> Result<Vec<Block<'a>>, Error> {
    let models: Vec<Model> = at.cases.iter().filter_map(|case| case.model.as_ref().ok().cloned()).collect();
    let fitting: Vec<(&'a Case, &'a Model)> =
        at.cases.iter().filter_map(|case| Some((case, case.model.as_ref().ok()?))).collect();
    let (mut compared, mut known) = (Vec::with_capacity(models.len()), Vec::new());
    for (done, next) in tightest_first(&models).into_iter().enumerate() {
        let (case, model) = fitting[next];
        progress.step(case.combination.words());
        let share = stop.share(models.len() - done);
        let comparison = Comparison::of(args, families, model, &mut known, &share, progress)?;
        let limit = case.combination.limit_words();
        compared.push((next, Answer::Compared(Comparison { limit, ..comparison })));
    }
    compared.sort_by_key(|&(position, _)| position);
    let mut compared = compared.into_iter().map(|(_, answer)| answer);
    let answer = |case: &'a Case| {
        let answer = match &case.model {
            Ok(_) => compared.next(),
            Err(reason) => Some(Answer::Infeasible(Infeasible::because(reason.clone()))),
        };
        answer.map(|answer| Block { combination: &case.combination, answer, model: &at.model })
    };
    Ok(at.cases.iter().filter_map(answer).collect())
}

impl Comparisons<'_> {
    fn compared(&self) -> impl Iterator<Item = &Comparison<'_>> {
        self.blocks.iter().filter_map(|block| match &block.answer {
            Answer::Compared(comparison) => Some(comparison),
            Answer::Infeasible(_) => None,
        })
    }

    /// Unknown if rows are missing; otherwise yes if any schedule is valid under any combination.
    fn status(&self) -> Status {
        let is_missing = self.compared().any(|comparison| !comparison.missing.is_empty());
        if is_missing { Status::GaveUp } else { Status::of(self.compared().any(Comparison::has_valid)) }
    }
}

impl fmt::Display for Comparisons<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut before = "";
        for block in &self.blocks {
            write!(out, "{before}")?;
            before = "\n";
            match &block.answer {
                Answer::Compared(comparison) => comparison.fmt(out)?,
                Answer::Infeasible(infeasible) => {
                    let (of, model) = (block.combination, block.model);
                    let units = [plural(&model.costs().unit), &model.memory().unit];
                    let line = headline(model.name(), [of.devices(), of.microbatches()], units);
                    let limit = of.limit_words().unwrap_or_default();
                    write!(out, "{line}; memory limit {limit}\n\n{infeasible}")?;
                }
            }
        }
        Ok(())
    }
}
