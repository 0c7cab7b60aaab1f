//! What a rank did beside its passes: sends and receives, reductions, optimiser steps.
//!
//! The runtime names its ranges `PP:0SEND_F0`, `PP:1RECV_F0`, `PP:0REDUCE_GRAD`. On the host they only launch; when a message
//! was under way the kernels of NCCL say that were launched within. PyTorch's optimisers name theirs
//! `Optimizer.step#AdamW.step`.

use super::error::ProfilerError;
use super::event::{Event, File};
use super::kernels;
use crate::model::{Microbatch, Stage, Ticks};
use crate::trace::StepWork;
use crate::trace::recording::{Beside, StepRange, Transfer};

/// What a range is about.
#[derive(Clone, Copy)]
enum About {
    Transfer { stage: Stage, gradient: bool, microbatch: Microbatch, received: bool },
    Step { work: StepWork, stage: Option<Stage> },
}

/// A range of the host: what it is about, its start and its end.
type Ranged = (About, (Ticks, Ticks));

/// What a range is about, if it is of interest here. A message is named by the stage that made it.
fn about(name: &str) -> Option<About> {
    if name.starts_with("Optimizer.step#") {
        return Some(About::Step { work: StepWork::Optimizer, stage: None });
    }
    let action = name.strip_prefix("PP:")?;
    let letters = action.find(|letter: char| !letter.is_ascii_digit())?;
    let (stage, action) = action.split_at(letters);
    let stage: u32 = stage.parse().ok()?;
    if action == "REDUCE_GRAD" {
        return Some(About::Step { work: StepWork::Reduce, stage: Some(Stage(stage)) });
    }
    let (what, microbatch) = action.split_at(action.find(|letter: char| letter.is_ascii_digit())?);
    let microbatch = Microbatch(microbatch.parse().ok()?);
    let (made_by, gradient, received) = match what {
        "SEND_F" => (stage, false, false),
        "RECV_F" => (stage.checked_sub(1)?, false, true),
        "SEND_B" => (stage, true, false),
        "RECV_B" => (stage.checked_add(1)?, true, true),
        _ => return None,
    };
    Some(About::Transfer { stage: Stage(made_by), gradient, microbatch, received })
}

/// What the device did beside passes: messages and reductions as long as kernels of NCCL ran for them, optimiser steps as
/// long as others did. Ranges for which nothing ran are left out.
pub(super) fn of_device(file: &File<'_>, text: &str) -> Result<Beside, ProfilerError> {
    let ranges = ranges(file, text)?;
    let places: Vec<(Ticks, Ticks)> = ranges.iter().map(|&(_, range)| range).collect();
    let communicated = kernels::ran(file, text, &places, kernels::communicates)?;
    let computed = kernels::ran(file, text, &places, |event| !kernels::communicates(event))?;
    let mut beside = Beside::default();
    for ((about, _), (communicated, computed)) in
        ranges.into_iter().zip(communicated.into_iter().zip(computed))
    {
        let is_optimizer = matches!(about, About::Step { work: StepWork::Optimizer, .. });
        if let Some(ran) = if is_optimizer { computed } else { communicated } {
            add(&mut beside, about, ran);
        }
    }
    Ok(beside)
}

/// What the host did: its optimiser steps. Its other ranges only begin what they are named after.
pub(super) fn of_host(file: &File<'_>, text: &str) -> Result<Beside, ProfilerError> {
    let mut beside = Beside::default();
    for (about, range) in ranges(file, text)? {
        if matches!(about, About::Step { work: StepWork::Optimizer, .. }) {
            add(&mut beside, about, range);
        }
    }
    Ok(beside)
}

fn add(beside: &mut Beside, about: About, (start, end): (Ticks, Ticks)) {
    match about {
        About::Transfer { stage, gradient, microbatch, received } => {
            beside.transfers.push(Transfer { stage, gradient, microbatch, received, start, end });
        }
        About::Step { work, stage } => beside.step.push(StepRange { work, stage, start, end }),
    }
}

/// The ranges of the host that are of interest, in the order in which they start.
fn ranges(file: &File<'_>, text: &str) -> Result<Vec<Ranged>, ProfilerError> {
    let named = |event: &&Event<'_>| event.is("user_annotation");
    let mut found = Vec::new();
    for event in file.events.iter().filter(named) {
        if let Some(about) = about(&event.name) {
            found.push((about, event.span(file.base, text)?));
        }
    }
    found.sort_by_key(|&(_, range)| range);
    Ok(found)
}
