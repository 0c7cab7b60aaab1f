//! How late passes may be.

use super::{Places, latency, spans};
use crate::model::{Device, Model, Pass, Ticks};
use crate::replay::Timing;
use crate::schedule::{Schedule, prerequisites};

/// By device and position: the slack of every pass, which is how much later than replay starts it a pass could
/// start without making the makespan longer, if the orders stay as they are and nothing else is late.
///
/// The end of the step is left out: the makespan meant is the last end of a pass.
///
/// Passes of the critical path have no slack. The two passes of an overlapped pair run as one and have the same.
/// Memory allows every such delay, since what devices hold follows from their orders alone.
///
/// # Panics
/// When the times are not those that replay gives this schedule.
#[must_use]
pub fn slack(model: &Model, schedule: &Schedule, timing: &Timing) -> Vec<Vec<Ticks>> {
    let last = Device::all(schedule.devices()).flat_map(|device| spans(model, schedule, timing, device));
    let last_end = last.map(|span| span.end).max().unwrap_or_default();
    let mut latest = LatestEnds::new(model, schedule, last_end);
    latest.settle();
    let mut ends = latest.ends.into_iter();
    let of_device = |(device, starts): (Device, &Vec<Ticks>)| {
        let mut slack = Vec::with_capacity(starts.len());
        for step in schedule.steps(device) {
            let latest = ends.next().expect("every step has a latest end");
            let late = latest - model.step_duration(step) - starts[slack.len()];
            slack.extend(step.iter().map(|_| late));
        }
        slack
    };
    Device::all(schedule.devices()).zip(&timing.starts).map(of_device).collect()
}

/// A backward pass over the steps of a schedule, from the last to the first: the latest end that each may have.
///
/// A step is what a device runs at a time: a pass, or an overlapped pair. Steps are numbered device by device, in
/// the order in which they run.
struct LatestEnds<'a> {
    model: &'a Model,
    schedule: &'a Schedule,
    places: Places,
    steps: Vec<(Device, &'a [Pass])>,
    /// By rank of a pass in all orders one after another: its step.
    step_of: Vec<usize>,
    /// By step.
    ends: Vec<Ticks>,
}

impl<'a> LatestEnds<'a> {
    fn new(model: &'a Model, schedule: &'a Schedule, last_end: Ticks) -> Self {
        let steps: Vec<(Device, &[Pass])> = Device::all(schedule.devices())
            .flat_map(|device| schedule.steps(device).map(move |step| (device, step)))
            .collect();
        let step_of = steps
            .iter()
            .enumerate()
            .flat_map(|(step, (_, passes))| std::iter::repeat_n(step, passes.len()))
            .collect();
        let ends = vec![last_end; steps.len()];
        Self { model, schedule, places: Places::of(schedule), steps, step_of, ends }
    }

    /// Works out all ends. A step is done once everything that waits for it is done; the waits of a valid
    /// schedule form no cycle, so that all steps are reached.
    fn settle(&mut self) {
        let mut waiting = vec![0_u32; self.steps.len()];
        for step in 0..self.steps.len() {
            self.for_each_need(step, |needed, _| waiting[needed] += 1);
        }
        let mut ready: Vec<usize> = (0..self.steps.len()).filter(|&step| waiting[step] == 0).collect();
        let mut ends = std::mem::take(&mut self.ends);
        while let Some(step) = ready.pop() {
            let start = ends[step] - self.model.step_duration(self.steps[step].1);
            self.for_each_need(step, |needed, latency| {
                ends[needed] = ends[needed].min(start - latency);
                waiting[needed] -= 1;
                if waiting[needed] == 0 {
                    ready.push(needed);
                }
            });
        }
        self.ends = ends;
    }

    /// Calls `each` with every step that must end before a step may start, and the latency between them: the one
    /// before it on its device, and those on other devices that its passes need.
    fn for_each_need(&self, step: usize, mut each: impl FnMut(usize, Ticks)) {
        let (device, passes) = self.steps[step];
        if let Some(before) = step.checked_sub(1).filter(|&before| self.steps[before].0 == device) {
            each(before, Ticks::ZERO);
        }
        for &pass in passes {
            let present = |other| self.places.rank(other).is_some();
            for needed in prerequisites(pass, self.schedule.placement(), present) {
                let Some(rank) = self.places.rank(needed) else { continue };
                let other = self.step_of[rank];
                // The order of the device already says what comes first there.
                if self.steps[other].0 != device {
                    each(other, latency(self.model, needed, pass));
                }
            }
        }
    }
}
