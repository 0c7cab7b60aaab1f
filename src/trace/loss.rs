//! What a measured step lost, and to what: one cause after the other taken away, and what if one part were as fast as its like.
//!
//! Every figure is the length of a [`Step`] executed with other times, so each is as good as that execution: with nothing
//! changed, it is the measured step.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Serialize;

use super::StepWork;
use super::statistics::Spread;
use super::whole::{Level, Replicas, Step, Task, Timed, Times, What};
use crate::model::{Device, Microbatch, Pass, Stage, Ticks};
use crate::replay::Rate;

/// The largest number of microbatches that are looked at one by one.
pub const MICROBATCHES: usize = 16;

/// Where the time of a step goes, in nanoseconds. Causes are taken away from the last field to the first. What the step is shorter
/// by is what a cause cost, so that all of them add up to the step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Losses {
    /// The passes of a device, were all passes of a kind equally long: what cannot be saved but by less work.
    pub passes: Ticks,
    /// The bubble of the schedule with such passes.
    pub bubble: Ticks,
    /// All-gathers, reductions and optimiser steps beside such passes.
    pub works: Ticks,
    /// That stages take more or less than the mean of all stages.
    pub stages: Ticks,
    /// That replicas take more or less than the median replica: of two, the faster one.
    pub replicas: Ticks,
    /// That microbatches take more or less than the median of their stage.
    pub microbatches: Ticks,
    /// Messages.
    pub messages: Ticks,
    /// Launch gaps, and whatever else was between tasks.
    pub gaps: Ticks,
}

/// A part of a run that may be slower than its like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(tag = "part", rename_all = "kebab-case")]
pub enum Part {
    /// All passes of a stage, on all replicas.
    Stage {
        /// Which.
        stage: Stage,
    },
    /// All passes of a device of one replica.
    Worker {
        /// The replica, from 0.
        replica: usize,
        /// The device.
        device: Device,
    },
    /// All passes of a microbatch.
    Microbatch {
        /// Which.
        microbatch: Microbatch,
    },
    /// The messages from one device to another.
    Link {
        /// Where they come from.
        from: Device,
        /// Where they go.
        to: Device,
    },
    /// A work of the step, of all stages.
    Work {
        /// Which.
        work: StepWork,
    },
}

impl fmt::Display for Part {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stage { stage } => write!(out, "stage {stage} as fast as the others"),
            Self::Worker { replica, device } => {
                write!(out, "device {device} of replica {replica} as fast as in the others")
            }
            Self::Microbatch { microbatch } => write!(out, "microbatch {microbatch} as fast as the others"),
            Self::Link { from, to } => write!(out, "messages from device {from} to {to} in no time"),
            Self::Work { work } => write!(out, "{work} in no time"),
        }
    }
}

/// What a step without launch gaps would gain if one part were faster. Without, because a task that started long after it could
/// may have waited for something that the traces do not tell, and would not be late any more if that were earlier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Saving {
    /// The part.
    pub part: Part,
    /// By iteration: how long the step without launch gaps would take, in nanoseconds.
    pub lengths: Vec<Ticks>,
    /// By iteration: how long the step would take if the part were as it was and all else on one [`Level`]. To a stage belong its
    /// works and the messages that it waits for. Nothing for a worker or a microbatch: a level is of all stages.
    pub alone: Option<Vec<Ticks>>,
}

/// What all steps lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explained {
    /// By iteration: how long the step took, in nanoseconds.
    pub lengths: Vec<Ticks>,
    /// By iteration: how long it would have taken without launch gaps.
    pub without_gaps: Vec<Ticks>,
    /// By iteration: how long it would have taken with everything on one [`Level`].
    pub levelled: Vec<Ticks>,
    /// By device: how long the median step would have taken without the launch gaps of that device.
    pub gaps: Vec<(Device, Ticks)>,
    /// The iteration whose step is the median one.
    pub typical: usize,
    /// Where the time of that step goes.
    pub losses: Losses,
    /// What would save something in some iteration, first what saves most in the median.
    pub savings: Vec<Saving>,
    /// How many microbatches were not looked at one by one: those that took least beyond the others.
    pub microbatches_left: usize,
}

/// What the steps of some replicas lost. Nothing where some length is more than can be counted.
///
/// # Panics
/// When there is no step.
#[must_use]
pub fn explain(replicas: &Replicas<'_>, steps: &[(Step, Times)]) -> Option<Explained> {
    let lengths: Vec<Ticks> = steps.iter().map(|(step, times)| step.length(times)).collect::<Option<_>>()?;
    let mut sorted: Vec<usize> = (0..steps.len()).collect();
    sorted.sort_by_key(|&at| (lengths[at], at));
    let typical = sorted[(sorted.len() - 1) / 2];
    let gapless: Vec<Times> =
        steps.iter().map(|(step, times)| step.without_gaps(times, |_, _| true)).collect();
    let quick = || steps.iter().zip(&gapless).map(|((step, _), times)| (step, times));
    let without_gaps: Vec<Ticks> = quick().map(|(step, times)| step.length(times)).collect::<Option<_>>()?;
    let level = Level::of(steps);
    let levelled = |keep: &dyn Fn(Timed) -> bool| -> Option<Vec<Ticks>> {
        steps.iter().map(|(step, times)| step.length(&step.levelled(times, &level, keep))).collect()
    };
    let (parts, microbatches_left) = parts(replicas, steps);
    let mut savings = Vec::new();
    for part in parts {
        let relieved = quick().map(|(step, times)| step.length(&relieved(step, times, part)));
        let saved: Vec<Ticks> = relieved.collect::<Option<_>>()?;
        if saved.iter().zip(&without_gaps).any(|(saved, length)| saved < length) {
            // Devices of one replica and microbatches are compared within their stage, and the level is of all stages.
            let alone = match part {
                Part::Worker { .. } | Part::Microbatch { .. } => None,
                _ => Some(levelled(&|timed| is_of(timed, part))?),
            };
            savings.push(Saving { part, lengths: saved, alone });
        }
    }
    savings.sort_by_cached_key(|saving| (-saving.shares(&without_gaps)[1], saving.part));
    let (step, times) = &steps[typical];
    let losses = losses(step, times)?;
    let gaps = replicas.devices().map(|device| {
        let length = step.length(&step.without_gaps(times, |_, other| other == device));
        Some((device, length?))
    });
    let gaps = gaps.collect::<Option<_>>()?;
    Some(Explained {
        levelled: levelled(&|_| false)?,
        gaps,
        lengths,
        without_gaps,
        typical,
        losses,
        savings,
        microbatches_left,
    })
}

impl Saving {
    /// By how much steps of these lengths, which are without launch gaps, would be shorter: in the least case, the median and the most.
    #[must_use]
    pub fn shares(&self, lengths: &[Ticks]) -> [Rate; 3] {
        let mut shares: Vec<Rate> = self.lengths.iter().zip(lengths).map(less).collect();
        shares.sort_unstable();
        [shares[0], shares[(shares.len() - 1) / 2], shares[shares.len() - 1]]
    }
}

fn less((saved, length): (&Ticks, &Ticks)) -> Rate {
    Rate::new(i128::from((*length - *saved).0), i128::from(length.0.max(1)))
}

/// Everything that may be slower than its like, and how many microbatches are left out.
fn parts(replicas: &Replicas<'_>, steps: &[(Step, Times)]) -> (Vec<Part>, usize) {
    let mut parts: Vec<Part> = replicas.stages().map(|stage| Part::Stage { stage }).collect();
    if replicas.count() > 1 {
        for replica in 0..replicas.count() {
            parts.extend(replicas.devices().map(|device| Part::Worker { replica, device }));
        }
    }
    let (slowest, left) = slowest_microbatches(steps);
    parts.extend(slowest.into_iter().map(|microbatch| Part::Microbatch { microbatch }));
    let (mut links, mut works) = (BTreeSet::new(), BTreeSet::new());
    for (step, times) in steps {
        links.extend(step.messages(times).map(|(_, between, _)| between));
        works.extend(step.tasks().filter_map(|task| match task.what {
            What::Work { work, .. } => Some(work),
            What::Pass(_) => None,
        }));
    }
    parts.extend(links.into_iter().map(|[from, to]| Part::Link { from, to }));
    parts.extend(works.into_iter().map(|work| Part::Work { work }));
    (parts, left)
}

/// The microbatches whose passes took most beyond the median of their stage, and how many are left.
fn slowest_microbatches(steps: &[(Step, Times)]) -> (Vec<Microbatch>, usize) {
    let mut beyond: BTreeMap<Microbatch, i128> = BTreeMap::new();
    for (step, times) in steps {
        let usual = medians(step, times, |replica, pass| Some((replica, pass.stage, pass.kind)));
        for (replica, pass, took) in passes(step, times) {
            let usual = usual[&(replica, pass.stage, pass.kind)];
            *beyond.entry(pass.microbatch).or_default() += i128::from((took - usual).0.max(0));
        }
    }
    let mut sorted: Vec<(i128, Microbatch)> =
        beyond.into_iter().map(|(microbatch, beyond)| (-beyond, microbatch)).collect();
    sorted.sort_unstable();
    let left = sorted.len().saturating_sub(MICROBATCHES);
    (sorted.into_iter().take(MICROBATCHES).map(|(_, microbatch)| microbatch).collect(), left)
}

fn passes<'a>(step: &'a Step, times: &'a Times) -> impl Iterator<Item = (usize, Pass, Ticks)> + 'a {
    step.took(times).filter_map(|(Task { replica, what }, took)| match what {
        What::Pass(pass) => Some((replica, pass, took)),
        What::Work { .. } => None,
    })
}

/// The medians of passes by what `class` says of them; those without a class do not count.
fn medians<K: Ord>(
    step: &Step,
    times: &Times,
    class: impl Fn(usize, Pass) -> Option<K>,
) -> BTreeMap<K, Ticks> {
    let mut values: BTreeMap<K, Vec<i64>> = BTreeMap::new();
    for (replica, pass, took) in passes(step, times) {
        if let Some(class) = class(replica, pass) {
            values.entry(class).or_default().push(took.0);
        }
    }
    let median = |values: Vec<i64>| Ticks(Spread::of(values).map_or(0, |spread| spread.median));
    values.into_iter().map(|(class, values)| (class, median(values))).collect()
}

/// Whether something belongs to a part. Messages belong to what waits for them.
fn is_of(timed: Timed, part: Part) -> bool {
    let task = match timed {
        Timed::Task(task) => task,
        Timed::Message { receiver, .. } => receiver,
    };
    match (part, task.what) {
        (Part::Link { from, to }, _) => {
            matches!(timed, Timed::Message { between, .. } if between == [from, to])
        }
        (Part::Stage { stage }, what) => what.stage() == stage,
        (Part::Work { work }, What::Work { work: other, .. }) => other == work,
        _ => false,
    }
}

/// The times of a step in which a part is as fast as its like, or takes no time: passes are no longer than the median of passes of
/// the same kind of other stages, of other replicas, or of other microbatches.
#[must_use]
pub fn relieved(step: &Step, times: &Times, part: Part) -> Times {
    let faster = |usual: &dyn Fn(Task, Pass) -> Option<Ticks>| {
        step.with_tasks(times, |task, took| match task.what {
            What::Pass(pass) => usual(task, pass).map_or(took, |usual| took.min(usual)),
            What::Work { .. } => took,
        })
    };
    match part {
        Part::Stage { stage } => {
            let others = medians(step, times, |_, pass| (pass.stage != stage).then_some(pass.kind));
            faster(&|_, pass| others.get(&pass.kind).copied().filter(|_| pass.stage == stage))
        }
        Part::Worker { replica, device } => {
            let others =
                medians(step, times, |other, pass| (other != replica).then_some((pass.stage, pass.kind)));
            let on_device: BTreeSet<Task> = step.tasks_of(replica, device).collect();
            faster(&|task, pass| {
                others.get(&(pass.stage, pass.kind)).copied().filter(|_| on_device.contains(&task))
            })
        }
        Part::Microbatch { microbatch } => {
            let others = medians(step, times, |replica, pass| {
                (pass.microbatch != microbatch).then_some((replica, pass.stage, pass.kind))
            });
            faster(&|task, pass| {
                let usual = others.get(&(task.replica, pass.stage, pass.kind)).copied();
                usual.filter(|_| pass.microbatch == microbatch)
            })
        }
        Part::Link { from, to } => step
            .with_messages(times, |_, between, took| if between == [from, to] { Ticks::ZERO } else { took }),
        Part::Work { work } => step.with_tasks(times, |task, took| match task.what {
            What::Work { work: other, .. } if other == work => Ticks::ZERO,
            _ => took,
        }),
    }
}

/// Where the time of a step goes; nothing where some length is more than can be counted.
#[must_use]
pub fn losses(step: &Step, times: &Times) -> Option<Losses> {
    let measured = step.length(times)?;
    let times = step.without_gaps(times, |_, _| true);
    let without_gaps = step.length(&times)?;
    let times = step.with_messages(&times, |_, _, _| Ticks::ZERO);
    let without_messages = step.length(&times)?;
    let usual = medians(step, &times, |replica, pass| Some((replica, pass.stage, pass.kind)));
    let alike = |times: &Times, of: &dyn Fn(usize, Pass) -> Ticks| {
        step.with_tasks(times, |task, took| match task.what {
            What::Pass(pass) => of(task.replica, pass),
            What::Work { .. } => took,
        })
    };
    let times = alike(&times, &|replica, pass| usual[&(replica, pass.stage, pass.kind)]);
    let equal_microbatches = step.length(&times)?;
    let usual = medians(step, &times, |_, pass| Some((pass.stage, pass.kind)));
    let times = alike(&times, &|_, pass| usual[&(pass.stage, pass.kind)]);
    let equal_replicas = step.length(&times)?;
    let level = Level::of([&(step.clone(), times.clone())]);
    let times = alike(&times, &|_, pass| level.passes[&pass.kind]);
    let equal_stages = step.length(&times)?;
    let times = step.with_tasks(&times, |task, took| match task.what {
        What::Pass(_) => took,
        What::Work { .. } => Ticks::ZERO,
    });
    let passes_alone = step.length(&times)?;
    let mut busy: BTreeMap<(usize, Device), Ticks> = BTreeMap::new();
    for (worker, took) in step.on_devices(&times) {
        let sum = busy.entry(worker).or_default();
        *sum = sum.checked_add(took)?;
    }
    let passes = busy.into_values().max().unwrap_or_default();
    Some(Losses {
        passes,
        bubble: passes_alone - passes,
        works: equal_stages - passes_alone,
        stages: equal_replicas - equal_stages,
        replicas: equal_microbatches - equal_replicas,
        microbatches: without_messages - equal_microbatches,
        messages: without_gaps - without_messages,
        gaps: measured - without_gaps,
    })
}
