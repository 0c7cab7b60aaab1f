//! Job files and dimensions of transformers: what is read is cut, and no schedule of any cut is below the bounds.

use bubbleproof::catalog;
use bubbleproof::certificate::{
    fits_some_cut, holds_over_cuts, lower_bound_over_cuts, quick_bound_over_cuts, share_bound_over_cuts,
};
use bubbleproof::job::{self, Job, Layers};
use bubbleproof::model::Ticks;
use bubbleproof::replay::replay;
use bubbleproof::transformer;

/// Of a job with more choices, only the first so many are looked at.
const MOST_CHOICES: usize = 4;

/// Layers with more of these are not cut.
const MOST_LAYERS: usize = 12;

/// Pipelines with more stages or microbatches are not run.
const MOST: u32 = 8;

/// Job files, lists of layers and dimensions of transformers.
pub fn jobs(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    if let Ok((count, name)) = job::layers(text) {
        assert!(count > 0 && !name.is_empty());
    }
    if let Ok(job) = job::parse(text) {
        cut(&job);
    }
    if let Ok(transformer) = transformer::parse(text)
        && let Ok(estimated) = transformer.job()
    {
        job::parse(&estimated).expect("what is estimated reads");
    }
}

fn cut(job: &Job) {
    let Ok(choices) = job.choices() else { return };
    for choice in choices.iter().take(MOST_CHOICES) {
        let Ok(layers) = job.layers(choice) else { continue };
        if layers.atoms.len() <= MOST_LAYERS && choice.pipeline <= MOST && choice.microbatches <= MOST {
            bounds(&layers);
        }
    }
}

/// No bound is above a schedule of the even cut, and what fits no cut has none.
fn bounds(layers: &Layers) {
    let fits = fits_some_cut(layers);
    let Ok(model) = layers.model(&layers.even()) else { return };
    let makespans = catalog::entries().iter().filter_map(|entry| {
        let verdict = replay(&model, &entry.generate(&model).ok()?);
        let timing = verdict.timing.as_ref().filter(|_| verdict.is_valid())?;
        Some(timing.metrics.makespan)
    });
    let Some(best) = makespans.min() else { return };
    fits.expect("it fits, as the schedule shows");
    let never = Ticks(i64::MAX);
    let derived = [
        share_bound_over_cuts(layers),
        quick_bound_over_cuts(layers, never),
        lower_bound_over_cuts(layers, never),
    ];
    for bound in derived {
        let bound = bound.expect("some cut fits");
        assert!(bound <= best, "{bound} > {best}");
        holds_over_cuts(layers, bound).expect("it was derived");
    }
}
