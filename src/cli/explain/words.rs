//! What sets the speed in the long run and why no schedule is shorter, in sentences for readers who know pipelines but not this tool.

use std::fmt::Write as _;

use itertools::Itertools as _;
use num_rational::Ratio;

use super::Explained;
use super::reference::Reference;
use crate::amounts::Amounts;
use crate::analysis::{Section, Step, Waits, critical_path, sections};
use crate::certificate::Optimality;
use crate::cli::figures::percentage;
use crate::model::{Device, Model};
use crate::optimize::explain::{Conflict, Limit, Steady};
use crate::optimize::{Infeasible, Solution};

/// Why not even one microbatch fits.
pub(super) fn of_infeasible(amounts: Amounts<'_>, reason: &Infeasible) -> Explained {
    let message = reason.in_words(|units| amounts.further_memory(units));
    let (devices, passes) = (vec![reason.device.0], vec![reason.at.to_string()]);
    Explained { kind: "infeasible", message, see: None, devices, passes }
}

/// What sets the time for each microbatch of a long run; `pace` is that of the schedule, where it has a steady phase.
pub(super) fn of_steady(
    model: &Model,
    amounts: Amounts<'_>,
    steady: &Steady,
    pace: Option<Ratio<i64>>,
) -> Vec<Explained> {
    let Steady { work, interval, several, bound, cycle, conflict, enough } = steady;
    let spent = amounts.time(*interval);
    let busiest = busiest(model, amounts);
    let own = pace.map_or_else(String::new, |pace| {
        format!(
            "this schedule takes {} for each microbatch between warm-up and cool-down; ",
            amounts.time(pace)
        )
    });
    let message = if *interval == Ratio::from_integer(work.0) {
        format!(
            "{own}in the long run a pattern that repeats every {spent} is possible, and nothing is faster, since {busiest} for each microbatch"
        )
    } else {
        let several = several.map_or_else(String::new, |(period, each)| {
            format!(
                ", one that repeats for every {period} microbatches takes {} for each (found in a short search)",
                amounts.time(each)
            )
        });
        let least = if *bound == *interval {
            "no schedule takes less in the long run".to_owned()
        } else {
            format!("no schedule takes less than {} in the long run", amounts.time(*bound))
        };
        format!(
            "{own}the best pattern found that repeats for every microbatch takes {spent}{several}; {busiest} of that, and idles for the \
             rest; {least}"
        )
    };
    let mut reasons = vec![Explained::new("interval", message, Reference::LONG_RUN)];
    if let Some(conflict) = conflict {
        let mut reason = of_conflict(model, amounts, conflict);
        if let Some(enough) = enough {
            let amount = amounts.memory(*enough);
            _ = write!(reason.message, "; {amount} on every device would be enough");
        }
        reasons.push(reason);
    }
    if let Some(Section::Cycle { turn, ticks, microbatches, .. }) = cycle {
        let counted = match microbatches {
            1 => "microbatch".to_owned(),
            several => format!("{several} microbatches"),
        };
        let message = format!(
            "in the best pattern found, each of these passes starts as soon as the one before it lets it, and after {} they come again, \
             for the next {counted}: {}",
            amounts.time(*ticks),
            chain(turn)
        );
        reasons
            .push(Explained { passes: names(turn), ..Explained::new("cycle", message, Reference::LONG_RUN) });
    }
    reasons
}

/// The devices with the most work, as the subject of a sentence with what they work.
fn busiest(model: &Model, amounts: Amounts<'_>) -> String {
    let most = model.most_work();
    let busiest: Vec<Device> =
        Device::all(model.devices()).filter(|&device| model.work(device) == most).collect();
    let takes = amounts.time(most);
    match busiest.as_slice() {
        all if all.len() == model.devices() as usize => format!("every device works {takes}"),
        [only] => format!("device {only}, the busiest, works {takes}"),
        several => format!("devices {}, the busiest, work {takes}", several.iter().join(", ")),
    }
}

/// Which limits keep the busiest device from working without a pause.
fn of_conflict(model: &Model, amounts: Amounts<'_>, conflict: &Conflict) -> Explained {
    let limits: Vec<String> = conflict
        .limits
        .iter()
        .map(|limit| match limit {
            Limit::Capacity(device, capacity) => {
                format!("the memory limit of device {device} ({})", amounts.memory(*capacity))
            }
            Limit::Latency(stage, latency) => format!(
                "the latency of messages between stages {stage} and {} ({})",
                stage.0 + 1,
                amounts.time(*latency)
            ),
        })
        .collect();
    let devices = conflict.limits.iter().filter_map(|limit| match limit {
        Limit::Capacity(device, _) => Some(device.0),
        Limit::Latency(..) => None,
    });
    let without = format!(
        "a pattern that repeats every {}, in which the busiest device never idles",
        amounts.time(model.most_work())
    );
    let message = match limits.as_slice() {
        [] => format!("even without any memory limit and latency there is no {}", &without[2..]),
        [only] => format!("{only} alone makes it impossible to have {without}"),
        [but_last @ .., last] => {
            let fewer = if conflict.smallest { ", and no smaller set of limits does" } else { "" };
            format!(
                "{} and {last} together make it impossible to have {without}; each of them matters: without any one of them, there is \
                 such a pattern{fewer}",
                but_last.join(", ")
            )
        }
    };
    Explained { devices: devices.collect(), ..Explained::new("conflict", message, Reference::LONG_RUN) }
}

/// Why no schedule is shorter than the lower bound, and how far from it the schedule is.
pub(super) fn of_bound(amounts: Amounts<'_>, solution: &Solution) -> Explained {
    let reason = &solution.bound.reason;
    let why = reason.sentence(|ticks| amounts.time(ticks));
    let found = amounts.time(solution.value());
    let distance = match &solution.optimality {
        Optimality::Bound => "this schedule takes exactly that, so none is better".to_owned(),
        Optimality::Search { engine, .. } => {
            format!("this schedule takes {found}, and exhaustive search ({engine}) found that none is better")
        }
        Optimality::Open => format!(
            "this schedule takes {found}, at most {} above the best one possible",
            percentage(solution.gap())
        ),
    };
    let value = amounts.time(solution.bound.value);
    let message = format!(
        "within these limits no schedule has a {} below {value}, because {why}; {distance}",
        solution.objective
    );
    let devices = reason.devices().iter().map(|device| device.0).collect();
    Explained { devices, ..Explained::new("bound", message, Reference::bound(reason.section())) }
}

/// The chain of passes that is as long as the makespan.
pub(super) fn of_path(model: &Model, amounts: Amounts<'_>, solution: &Solution) -> Option<Explained> {
    let timing = solution.verdict.timing.as_ref()?;
    let path = critical_path(model, &solution.schedule, timing);
    let mut lines = Vec::new();
    for section in sections(&path) {
        lines.push(match section {
            Section::Once(steps) => (amounts.time(steps[0].start), chain(&steps)),
            Section::Cycle { turn, times, ticks, .. } => (
                amounts.time(turn[0].start),
                format!("{times} times, every {}: {}", amounts.time(ticks), chain(&turn)),
            ),
        });
    }
    lines.push((amounts.time(timing.metrics.makespan), "end".to_owned()));
    let width = lines.iter().map(|(at, _)| at.chars().count()).max().unwrap_or(0);
    let mut message =
        "the chain of passes that sets the makespan: each starts as soon as the one before it lets it, from the start of the schedule to \
         its end, so this order is faster only if one of them is; with the times at which they start:"
            .to_owned();
    for (at, passes) in lines {
        _ = write!(message, "\n    {at:>width$}  {passes}");
    }
    Some(Explained { passes: names(&path), ..Explained::new("path", message, Reference::PATH) })
}

/// Passes with what each waits for.
fn chain(steps: &[Step]) -> String {
    let mut text = String::new();
    for (position, step) in steps.iter().enumerate() {
        text.push_str(match step.waits {
            Waits::Nothing => "",
            Waits::Dependency { .. } | Waits::Link { .. } | Waits::Copies { .. } => "> ",
            Waits::Memory => "# ",
            Waits::Device => "| ",
        });
        text.push_str(&step.pass.to_string());
        if position + 1 < steps.len() {
            text.push(' ');
        }
    }
    text
}

fn names(steps: &[Step]) -> Vec<String> {
    steps.iter().map(|step| step.pass.to_string()).collect()
}
