//! What limits one schedule: work that is not even, when the busiest device idles, messages, and memory.

use itertools::Itertools as _;
use num_rational::Ratio;

use super::Explained;
use super::reference::Reference;
use crate::amounts::Amounts;
use crate::analysis::{Delays, Utilisation, critical_path, optimizer_steps, spans};
use crate::cli::figures::percentage;
use crate::cli::violations::count;
use crate::model::{Device, Model, Ticks};
use crate::optimize::Solution;
use crate::replay::{Rate, Timing};

/// The causes that a schedule has, each with its amount.
pub(super) fn of(model: &Model, amounts: Amounts<'_>, solution: &Solution) -> Vec<Explained> {
    let Some(timing) = solution.verdict.timing.as_ref() else { return Vec::new() };
    let delays = Delays::of(&critical_path(model, &solution.schedule, timing));
    let makespan = timing.metrics.makespan;
    let idle = idle(model, amounts, solution, timing);
    let causes = [
        balance(model, amounts),
        idle,
        messages(amounts, &delays, makespan),
        copies(amounts, &delays, makespan),
        memory(&delays),
    ];
    causes.into_iter().flatten().collect()
}

/// Devices that work more than others.
fn balance(model: &Model, amounts: Amounts<'_>) -> Option<Explained> {
    let works: Vec<Ticks> = Device::all(model.devices()).map(|device| model.work(device)).collect();
    let total: Ticks = works.iter().copied().sum();
    let mean = Ratio::new(total.0, i64::from(model.devices()));
    let most = *works.iter().max()?;
    let busiest: Vec<u32> =
        (0..).zip(&works).filter(|&(_, &work)| work == most).map(|(device, _)| device).collect();
    if busiest.len() == works.len() {
        return None;
    }
    let who = match busiest.as_slice() {
        [only] => format!("device {only} works"),
        several => format!("devices {} work", several.iter().join(", ")),
    };
    let message = format!(
        "{who} {} a microbatch, the mean is {}; the other devices wait for {}",
        amounts.time(most),
        amounts.time(mean),
        if busiest.len() == 1 { "it" } else { "them" }
    );
    Some(Explained { devices: busiest, ..Explained::new("balance", message, Reference::GAINS) })
}

/// When the device with the most work in all idles: it works for a part of the makespan, and idles for the rest.
fn idle(model: &Model, amounts: Amounts<'_>, solution: &Solution, timing: &Timing) -> Option<Explained> {
    let (schedule, makespan) = (&solution.schedule, timing.metrics.makespan);
    let used = |device| {
        let passes = Utilisation::of(spans(model, schedule, timing, device));
        passes.and_then(optimizer_steps(schedule, timing, device))
    };
    let busy = |device: &Device| std::cmp::Reverse(used(*device).busy);
    let device = Device::all(schedule.devices()).min_by_key(busy)?;
    let most = Device::all(schedule.devices()).filter(|other| used(*other).busy == used(device).busy).count();
    let which = if most == 1 { ", which has the most to do," } else { "" };
    let used = used(device);
    let stretches = [
        (used.first_start, "before its first pass"),
        (used.last_end - used.first_start - used.busy, "between its passes"),
        (makespan - used.last_end, "after its last"),
    ];
    let stretches = stretches.into_iter().filter(|&(ticks, _)| ticks > Ticks::ZERO);
    let stretches: Vec<String> =
        stretches.map(|(ticks, when)| format!("{} {when}", amounts.time(ticks))).collect();
    let (works, of) = (amounts.time(used.busy), amounts.time(makespan));
    let message = match stretches.as_slice() {
        [] => format!("device {device} works all of the {of}: it never idles"),
        stretches => {
            format!("device {device}{which} works {works} of the {of}; it idles {}", stretches.join(", "))
        }
    };
    Some(Explained { devices: vec![device.0], ..Explained::new("idle", message, Reference::PATH) })
}

/// Messages that the schedule waits for.
fn messages(amounts: Amounts<'_>, delays: &Delays, makespan: Ticks) -> Option<Explained> {
    let messages = usize::try_from(delays.messages).ok().filter(|&messages| messages > 0)?;
    let takes = if messages == 1 { "takes" } else { "take" };
    let message = format!(
        "{} on the critical path {takes} {}, {} of the makespan",
        count(messages, "message", "messages"),
        amounts.time(delays.message_ticks),
        share(delays.message_ticks, makespan)
    );
    Some(Explained::new("messages", message, Reference::PATH))
}

/// Copies to the host, gathers and reductions that the schedule waits for.
fn copies(amounts: Amounts<'_>, delays: &Delays, makespan: Ticks) -> Option<Explained> {
    (delays.copy_ticks > Ticks::ZERO).then(|| {
        let message = format!(
            "copies, gathers and reductions on the critical path take {}, {} of the makespan",
            amounts.time(delays.copy_ticks),
            share(delays.copy_ticks, makespan)
        );
        Explained::new("copies", message, Reference::PATH)
    })
}

/// Passes that wait for memory.
fn memory(delays: &Delays) -> Option<Explained> {
    let passes: u64 = delays.memory.iter().map(|(_, passes)| passes).sum();
    let passes = usize::try_from(passes).ok().filter(|&passes| passes > 0)?;
    let verb = if passes == 1 { "starts" } else { "start" };
    let where_from = match delays.memory.as_slice() {
        [(device, _)] => format!("on device {device}"),
        several => several.iter().map(|(device, passes)| format!("{passes} on device {device}")).join(", "),
    };
    let message = format!(
        "on the critical path {} {verb} only once the device has freed memory: {where_from}",
        count(passes, "pass", "passes")
    );
    let devices = delays.memory.iter().map(|(device, _)| device.0).collect();
    Some(Explained { devices, ..Explained::new("memory", message, Reference::PATH) })
}

fn share(part: Ticks, whole: Ticks) -> String {
    percentage(Rate::new(part.0.into(), whole.0.max(1).into()))
}
