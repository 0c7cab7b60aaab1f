//! A horizon: only what may end before it is followed.
//!
//! A state is left out if something that is still to be done shows that nothing which follows it ends before the horizon:
//! a device with the work that it has left and the window in which it can run no forward; a microbatch with the rest of its
//! way; or the microbatches that have not begun, with what a device alone needs for so many. No state of a schedule that ends
//! before the horizon is left out.

use std::cmp::Reverse;
use std::iter;

use super::chain::Chain;
use super::choose::is_bounded;
use super::program::Layer;
use super::program::Steps;
use super::state::Counts;
use super::{Followed, Subset};
use crate::certificate::bound::of_device;
use crate::certificate::path::Paths;
use crate::certificate::relaxed::relaxed;
use crate::certificate::window;
use crate::certificate::{Bound, BoundReason, Objective, Window};
use crate::model::{Device, Model, Ticks};

/// The most devices that may be kept.
pub(super) const MOST_DEVICES: usize = 16;

/// The most microbatches that are followed one by one.
const MOST_MICROBATCHES: u32 = 1024;

/// The steps for the states of each kept device by itself, and for as many ends.
const STEPS_ALONE: u64 = 400_000;

/// One set of devices may take one part in this many of all steps.
const PARTS: u64 = 4;

/// What a state must leave room for, to lead to an end before the horizon.
pub(super) struct Horizon {
    objective: Objective,
    /// No end is looked for from here on, counted from the start of the first link of the first microbatch.
    pub(super) end: Ticks,
    pub(super) microbatches: u32,
    /// By kept device: the window before the end in which it runs no forward.
    last: Vec<Window>,
    /// By kept device: from the end of its last F or I to the end.
    after_links: Vec<Ticks>,
    /// By number of microbatches: the least time from the start of the first link of the first of them to the end.
    least: Vec<Ticks>,
}

impl Horizon {
    /// The horizon of the kept devices, the end of the whole counted from the beginning of the first pass.
    fn new(alone: &mut Alone<'_>, devices: &[Device], chain: &Chain, end: Ticks) -> Self {
        let Alone { model, relaxed, objective, .. } = *alone;
        let head = match objective {
            Objective::Makespan => chain.head,
            Objective::DeviceSpan => Ticks::ZERO,
        };
        let last =
            devices.iter().map(|&device| window::before_the_end(relaxed, relaxed.model(), device, objective));
        let after = devices
            .iter()
            .map(|&device| window::after_last_input(relaxed, relaxed.model(), device, objective));
        // The span is that of the device which begins first; of the others the first start is not known.
        let measured = devices.iter().enumerate().filter(|&(at, _)| match objective {
            Objective::Makespan => true,
            Objective::DeviceSpan => at == chain.links[0].device,
        });
        let measured: Vec<Device> = measured.map(|(_, &device)| device).collect();
        let mut least = vec![Ticks::ZERO; model.microbatches() as usize + 1];
        for device in measured {
            for (least, &value) in least.iter_mut().zip(alone.of(device)).skip(1) {
                *least = (*least).max(value - head);
            }
        }
        Self {
            objective,
            end: end - head,
            microbatches: model.microbatches(),
            last: last.collect(),
            after_links: after.collect(),
            least,
        }
    }

    /// The horizon of what any number of microbatches have still to run once the last of them has begun, in the times of the states.
    pub(super) fn of_ends(chain: &Chain, end: Ticks) -> Self {
        let nothing = Window { length: Ticks::ZERO, work: Ticks::ZERO };
        let devices = chain.capacity.len();
        Self {
            objective: Objective::Makespan,
            end,
            microbatches: 0,
            last: vec![nothing; devices],
            after_links: vec![Ticks::ZERO; devices],
            least: vec![Ticks::ZERO],
        }
    }

    /// What the states with these counts must be in time for, after so many microbatches have begun. If the last of them has just
    /// begun, `begins` is how long the pass takes that began it.
    pub(super) fn room(&self, chain: &Chain, counts: &Counts, begun: u32, begins: Option<Ticks>) -> Room {
        let left = self.microbatches - begun;
        let first = &chain.links[0];
        let devices = chain.capacity.len();
        let mut too_late = Vec::new();
        if left > 0 {
            too_late.push((first.device, self.end - self.least[left as usize]));
        }
        if let Some(duration) = begins {
            too_late.push((first.device, self.end - self.least[left as usize + 1] + duration));
        }
        let (mut links, mut weights) = ([Ticks::ZERO; MOST_DEVICES], [Ticks::ZERO; MOST_DEVICES]);
        let mut to_run = i64::from(left);
        let mut at = devices;
        for (place, link) in chain.links.iter().enumerate() {
            let waiting = counts.waiting[place];
            to_run += i64::from(waiting);
            links[link.device] += link.work * to_run;
            if !link.is_forward {
                let weight = &chain.weights[chain.stages[link.stage].weight];
                weights[link.device] += weight.work * to_run;
            }
            at += waiting as usize;
            if waiting > 0 && self.objective == Objective::Makespan {
                too_late.push((at - 1, self.end - link.duration - link.tail));
            }
        }
        for (weight, &pending) in chain.weights.iter().zip(&counts.pending) {
            weights[weight.device] += weight.work * i64::from(pending);
        }
        let measured = (0..devices).filter(|&device| match self.objective {
            Objective::Makespan => true,
            Objective::DeviceSpan => device == first.device,
        });
        for device in measured {
            let work = links[device] + weights[device];
            let last = self.last[device];
            let idle = if work > last.work { last.idle() } else { Ticks::ZERO };
            // A device that has nothing left to do is free when the others start something, which says nothing of its end.
            if work > Ticks::ZERO {
                too_late.push((device, self.end - work - idle.max(chain.tails[device])));
            }
            if links[device] > Ticks::ZERO {
                too_late.push((device, self.end - links[device] - self.after_links[device]));
            }
        }
        Room { too_late }
    }
}

/// What states with equal counts must be in time for.
pub(super) struct Room {
    /// Instants of the times, by their position, and when it is too late for each.
    too_late: Vec<(usize, Ticks)>,
}

impl Room {
    /// Whether nothing that follows a state with these times ends before the horizon.
    pub(super) fn is_exceeded(&self, times: &[Ticks]) -> bool {
        self.too_late.iter().any(|&(at, late)| times[at] >= late)
    }
}

/// What each device alone needs for 0, 1, 2 and so on microbatches, at the least; computed once.
struct Alone<'a> {
    model: &'a Model,
    paths: &'a Paths<'a>,
    /// The paths of the model of plain memory and without pairs.
    relaxed: &'a Paths<'a>,
    objective: Objective,
    /// By device, as far as it was asked for.
    known: Vec<Option<Vec<Ticks>>>,
}

impl<'a> Alone<'a> {
    fn new(model: &'a Model, paths: &'a Paths<'a>, relaxed: &'a Paths<'a>, objective: Objective) -> Self {
        Self { model, paths, relaxed, objective, known: vec![None; model.devices() as usize] }
    }

    fn of(&mut self, device: Device) -> &[Ticks] {
        let Self { model, paths, objective, .. } = *self;
        self.known[device.index()].get_or_insert_with(|| alone(model, paths, device, objective))
    }
}

fn alone(model: &Model, paths: &Paths<'_>, device: Device, objective: Objective) -> Vec<Ticks> {
    let closed = |microbatches: u32| {
        let fewer = model.with_microbatches(microbatches).ok()?;
        // The closed forms are of plain memory.
        let fewer = relaxed(&fewer);
        let paths = Paths::new(&fewer);
        of_device(&paths, &paths, device, objective).into_iter().map(|bound| bound.value).max()
    };
    let mut values: Vec<Ticks> = iter::once(Ticks::ZERO)
        .chain((1..=model.microbatches()).map(|count| closed(count).unwrap_or_default()))
        .collect();
    if is_bounded(model, device) {
        let mut steps = Steps(STEPS_ALONE);
        let mut subset = Subset::new(model, paths, &[device]);
        let repetition = match subset.follow(model.microbatches(), &mut steps) {
            Followed::Repeating(repetition) => Some(repetition),
            Followed::Wholly => None,
            Followed::Partly => subset.best_repetition(),
        };
        let states = subset.values(model.microbatches(), repetition, objective, &mut Steps(STEPS_ALONE));
        for (value, states) in values.iter_mut().zip(states) {
            *value = (*value).max(states);
        }
    }
    values
}

/// The least value of the objective for some devices alone that is below `end`, or `end` if there is none; nothing when the
/// steps run out, or for more than [`MOST_DEVICES`] or [`MOST_MICROBATCHES`].
pub(in crate::certificate) fn least_below(
    model: &Model,
    paths: &Paths<'_>,
    devices: &[Device],
    objective: Objective,
    end: Ticks,
    steps: &mut Steps,
) -> Option<Ticks> {
    let relaxed = relaxed(model);
    with(&mut Alone::new(model, paths, &Paths::new(&relaxed), objective), devices, end, steps)
}

/// The same, with what is known of the devices alone.
fn with(alone: &mut Alone<'_>, devices: &[Device], end: Ticks, steps: &mut Steps) -> Option<Ticks> {
    let Alone { model, paths, objective, .. } = *alone;
    if devices.len() > MOST_DEVICES || model.microbatches() > MOST_MICROBATCHES {
        return None;
    }
    let chain = Chain::new(model, paths, devices).with_equal_weights_as_one();
    let horizon = Horizon::new(alone, devices, &chain, end);
    let mut layer = Layer::first(&chain);
    for begun in 0..model.microbatches() {
        layer = layer.next(&chain, Some((&horizon, begun)), steps)?;
    }
    Some(end - horizon.end + layer.drained(&chain, objective, Some(&horizon), steps)?)
}

/// The best bound up to `end` that some devices alone give, as far as the steps reach: from the device that is worth most, always
/// with the one more that raises that most or, of equals, takes the fewest steps.
pub(in crate::certificate) fn best_below(
    model: &Model,
    paths: &Paths<'_>,
    objective: Objective,
    end: Ticks,
    mut steps: Steps,
    is_over: &mut dyn FnMut() -> bool,
) -> Option<Bound> {
    let share = steps.0 / PARTS;
    let relaxed = relaxed(model);
    let relaxed = Paths::new(&relaxed);
    let mut alone = Alone::new(model, paths, &relaxed, objective);
    let mut best: Option<Bound> = None;
    let mut core: Vec<Device> = Vec::new();
    loop {
        let mut found: Option<(Ticks, Reverse<u64>, Vec<Device>)> = None;
        for device in Device::all(model.devices()).rev().filter(|&device| is_bounded(model, device)) {
            if steps.0 == 0 || is_over() {
                break;
            }
            if core.contains(&device) {
                continue;
            }
            let mut devices = core.clone();
            devices.push(device);
            devices.sort_unstable();
            let mut part = steps.part(share);
            let given = part.0;
            if let Some(value) = with(&mut alone, &devices, end, &mut part) {
                let this = (value, Reverse(given - part.0), devices);
                found = found.max(Some(this));
            }
            steps.0 += part.0;
        }
        let Some((value, _, devices)) = found else { return best };
        core.clone_from(&devices);
        if best.as_ref().is_none_or(|best| value > best.value) {
            best = Some(Bound { value, reason: BoundReason::Horizon { devices, end } });
        }
        if value == end {
            return best;
        }
    }
}
