//! What runs beside the passes: links, copy engines and collective streams, each with its tasks in time; and
//! what devices run behind their passes.
//!
//! Every picture and every trace shows this one list.

use std::fmt;
use std::ops::Range;

use crate::model::{Device, Link, Pass, Stage, Ticks};
use crate::replay::{GatherTimes, Timing};
use crate::schedule::Schedule;

/// What runs tasks beside the passes of a device, one at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Engine {
    /// A link from the device to another one, or the network card of its node.
    Link(Link),
    /// The copy engine to the host.
    ToHost,
    /// The copy engine from the host.
    FromHost,
    /// The collective stream.
    Collective,
}

impl fmt::Display for Engine {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Link(link) => link.fmt(out),
            Self::ToHost => out.write_str("copies to the host"),
            Self::FromHost => out.write_str("copies from the host"),
            Self::Collective => out.write_str("collective stream"),
        }
    }
}

/// What kind of work a task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Work {
    /// An activation is sent to another device.
    Activation,
    /// A gradient is sent to another device.
    Gradient,
    /// An activation is copied to the host.
    ToHost,
    /// An activation is copied back.
    FromHost,
    /// The weights of a stage are gathered.
    Gather,
    /// The gradients of a stage are reduced.
    Reduction,
    /// The optimiser step of a stage.
    Optimizer,
}

impl Work {
    /// All kinds of work.
    pub const ALL: [Self; 7] = [
        Self::Activation,
        Self::Gradient,
        Self::ToHost,
        Self::FromHost,
        Self::Gather,
        Self::Reduction,
        Self::Optimizer,
    ];

    /// What it is called.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Activation => "activation sent",
            Self::Gradient => "gradient sent",
            Self::ToHost => "copy to the host",
            Self::FromHost => "copy from the host",
            Self::Gather => "gather of weights",
            Self::Reduction => "reduction of gradients",
            Self::Optimizer => "optimiser step",
        }
    }
}

/// What a task is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// What this pass yields or keeps.
    Pass(Pass),
    /// The parameters or gradients of this stage.
    Stage(Stage),
}

impl Subject {
    /// The stage, or that of the pass.
    #[must_use]
    pub const fn stage(self) -> Stage {
        match self {
            Self::Pass(pass) => pass.stage,
            Self::Stage(stage) => stage,
        }
    }
}

/// A task beside or behind the passes, in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Job {
    /// What kind of work it is.
    pub work: Work,
    /// What it is for.
    pub subject: Subject,
    /// When it starts.
    pub start: Ticks,
    /// When it ends: not before it starts.
    pub end: Ticks,
}

impl Job {
    fn new(work: Work, subject: Subject, during: &Range<Ticks>) -> Self {
        Self { work, subject, start: during.start, end: during.end }
    }

    /// How long it takes.
    #[must_use]
    pub fn duration(self) -> Ticks {
        self.end - self.start
    }
}

impl fmt::Display for Job {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.work, self.subject) {
            (Work::Gradient, Subject::Pass(pass)) => write!(out, "gradient of {pass}"),
            (_, Subject::Pass(pass)) => write!(out, "activation of {pass}"),
            (Work::Optimizer, Subject::Stage(stage)) => write!(out, "optimiser step of stage {stage}"),
            (Work::Gather, Subject::Stage(stage)) => write!(out, "weights of stage {stage}"),
            (_, Subject::Stage(stage)) => write!(out, "gradients of stage {stage}"),
        }
    }
}

/// What one engine does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lane {
    /// The device that it is beside: that which sends or copies. Of a network card that several devices share,
    /// the first one that sends.
    pub device: Device,
    /// What runs the tasks.
    pub engine: Engine,
    /// The tasks in order.
    pub jobs: Vec<Job>,
}

impl Lane {
    /// How long the engine is busy in all, in ticks.
    #[must_use]
    pub fn busy(&self) -> Ticks {
        self.jobs.iter().map(|job| job.duration()).sum()
    }
}

/// The engines that have any task, device by device. Nothing for times that were measured, which say nothing of them.
///
/// # Panics
/// When the times are not those of this schedule.
#[must_use]
pub fn lanes(schedule: &Schedule, timing: &Timing) -> Vec<Lane> {
    let placement = schedule.placement();
    let links = timing.links.iter().filter_map(|times| {
        let device = times.messages.iter().map(|(by, _)| placement.device_of(by.stage)).min()?;
        let message = |(by, during): &(Pass, Range<Ticks>)| {
            let work = if by.kind.yields_input_gradient() { Work::Gradient } else { Work::Activation };
            Job::new(work, Subject::Pass(*by), during)
        };
        let jobs = times.messages.iter().map(message).collect();
        Some(Lane { device, engine: Engine::Link(times.link), jobs })
    });
    let copies = Device::all(schedule.devices()).zip(&timing.copies).flat_map(|(device, times)| {
        [(Engine::ToHost, Work::ToHost, &times.to_host), (Engine::FromHost, Work::FromHost, &times.from_host)]
            .map(|(engine, work, copies)| {
                let copy = |(of, during): &(Pass, _)| Job::new(work, Subject::Pass(*of), during);
                Lane { device, engine, jobs: copies.iter().map(copy).collect() }
            })
    });
    let streams = Device::all(schedule.devices()).map(|device| {
        let gathers = timing.gathers.get(device.index()).into_iter().flatten();
        let gathers = gathers.map(|GatherTimes { gathering, during }| {
            Job::new(Work::Gather, Subject::Stage(gathering.stage), during)
        });
        let mut jobs: Vec<Job> =
            gathers.chain(of_stages(schedule, timing, device, Work::Reduction)).collect();
        jobs.sort_by_key(|job| (job.start, job.end));
        Lane { device, engine: Engine::Collective, jobs }
    });
    let mut lanes: Vec<Lane> =
        links.chain(copies).chain(streams).filter(|lane| !lane.jobs.is_empty()).collect();
    lanes.sort_by_key(|lane| (lane.device, lane.engine));
    lanes
}

/// The optimiser steps that a device runs behind its passes, in order; none without an end of the step.
#[must_use]
pub fn optimizer_steps(schedule: &Schedule, timing: &Timing, device: Device) -> Vec<Job> {
    let mut jobs: Vec<Job> = of_stages(schedule, timing, device, Work::Optimizer).collect();
    jobs.sort_by_key(|job| (job.start, job.end));
    jobs
}

/// What follows the passes of each stage of a device: reductions, or optimiser steps.
fn of_stages<'a>(
    schedule: &'a Schedule,
    timing: &'a Timing,
    device: Device,
    work: Work,
) -> impl Iterator<Item = Job> + 'a {
    schedule.placement().stages_of(device).iter().filter_map(move |&stage| {
        let times = timing.step.get(stage.index())?;
        let during = if work == Work::Optimizer { &times.optimizer } else { &times.reduce };
        Some(Job::new(work, Subject::Stage(stage), during))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Links, Messages, Model, Offload, Placement, Sharding, StepEnd, Units};
    use crate::replay::replay;
    use crate::schedule::Offloaded;

    fn order(text: &str) -> Vec<Pass> {
        text.split(' ').map(|pass| pass.parse().expect("a pass")).collect()
    }

    fn plain(lane: &Lane) -> (u32, String, Vec<(String, i64, i64)>) {
        let job = |job: &Job| (job.to_string(), job.start.0, job.end.0);
        (lane.device.0, lane.engine.to_string(), lane.jobs.iter().map(job).collect())
    }

    /// A V on two devices, where device 0 ends with its stages in the order 3, 0.
    #[test]
    fn lanes_are_what_replay_says_by_device_and_engine() {
        let placement = Placement::v(2).expect("a placement");
        let orders = vec![order("0F0 3F0 3B0 0B0"), order("1F0 2F0 2B0 1B0")];
        let offloaded = Offloaded { pass: "0F0".parse().expect("a pass"), freed: 1, fetched: 3 };
        let schedule = Schedule::new(placement.clone(), 1, orders).expect("a schedule");
        let schedule = schedule.with_offloads(vec![vec![offloaded], Vec::new()]).expect("offloads");
        let step =
            StepEnd { reduce: [5, 0, 0, 1].map(Ticks).to_vec(), optimizer: [1, 2, 3, 4].map(Ticks).to_vec() };
        let offload =
            Offload { moved: vec![Units(1); 4], to_host: vec![Ticks(2); 4], from_host: vec![Ticks(3); 4] };
        let model = Model::unit(placement, 1).and_then(|model| model.with_step(Some(step)));
        let model = model.and_then(|model| {
            model.with_messages(Some(Messages { occupancy: vec![Ticks(1); 3], links: Links::Pair }))
        });
        let model = model.and_then(|model| model.with_offload(Some(offload))).expect("a model");
        let timing = replay(&model, &schedule).timing.expect("it is valid");
        let found: Vec<_> = lanes(&schedule, &timing).iter().map(plain).collect();
        let job = |name: &str, start, end| (name.to_owned(), start, end);
        // 0F0 ends at 1, 1F0 runs 2 to 3, 2F0 to 4, 3F0 5 to 6, 3B0 to 8, 2B0 9 to 11, 1B0 to 13, 0B0 14 to 16.
        let expected = [
            (0, "device 0 to device 1", vec![job("activation of 0F0", 1, 2), job("gradient of 3B0", 8, 9)]),
            (0, "copies to the host", vec![job("activation of 0F0", 1, 3)]),
            (0, "copies from the host", vec![job("activation of 0F0", 8, 11)]),
            (
                0,
                "collective stream",
                vec![job("gradients of stage 3", 8, 9), job("gradients of stage 0", 16, 21)],
            ),
            (1, "device 1 to device 0", vec![job("activation of 2F0", 4, 5), job("gradient of 1B0", 13, 14)]),
            (
                1,
                "collective stream",
                vec![job("gradients of stage 2", 11, 11), job("gradients of stage 1", 13, 13)],
            ),
        ];
        assert_eq!(found, expected.map(|(device, engine, jobs)| (device, engine.to_owned(), jobs)));
        assert_eq!(lanes(&schedule, &timing)[3].busy(), Ticks(6));
        let steps = |device| -> Vec<_> {
            let steps = optimizer_steps(&schedule, &timing, Device(device)).into_iter();
            steps.map(|job| (job.to_string(), job.start.0, job.end.0)).collect()
        };
        assert_eq!(
            steps(0),
            [job("optimiser step of stage 3", 16, 20), job("optimiser step of stage 0", 21, 22)]
        );
        assert_eq!(
            steps(1),
            [job("optimiser step of stage 2", 13, 16), job("optimiser step of stage 1", 16, 18)]
        );
    }

    #[test]
    fn gathers_and_reductions_share_the_lane_of_the_stream() {
        let placement = Placement::looped(1, 2).expect("a placement");
        let schedule = Schedule::new(placement.clone(), 1, vec![order("0F0 1F0 1B0 0B0")]);
        let schedule = schedule.expect("a schedule");
        let step = StepEnd { reduce: vec![Ticks(4), Ticks(1)], optimizer: vec![Ticks(1); 2] };
        let sharding =
            Sharding { gather: vec![Ticks(2), Ticks(3)], gathered: vec![Units::ZERO; 2], stages: 1 };
        let model = Model::unit(placement, 1).and_then(|model| model.with_step(Some(step)));
        let model = model.and_then(|model| model.with_sharding(Some(sharding))).expect("a model");
        let timing = replay(&model, &schedule).timing.expect("it is valid");
        let found: Vec<_> = lanes(&schedule, &timing).iter().map(plain).collect();
        // 0F0 runs 2 to 3, 1F0 6 to 7, 1B0 to 9, 0B0 12 to 14: the reduction of stage 1 is posted before its gather.
        let job = |name: &str, start, end| (name.to_owned(), start, end);
        let jobs = vec![
            job("weights of stage 0", 0, 2),
            job("weights of stage 1", 3, 6),
            job("gradients of stage 1", 9, 10),
            job("weights of stage 0", 10, 12),
            job("gradients of stage 0", 14, 18),
        ];
        assert_eq!(found, [(0, "collective stream".to_owned(), jobs)]);
    }

    #[test]
    fn a_card_is_beside_the_first_device_that_sends_through_it() {
        let placement = Placement::linear(3).expect("a placement");
        let orders = vec![order("0F0 0B0"), order("1F0 1B0"), order("2F0 2B0")];
        let schedule = Schedule::new(placement.clone(), 1, orders).expect("a schedule");
        let nodes = vec![vec![Device(0), Device(1)], vec![Device(2)]];
        let messages = Messages { occupancy: vec![Ticks(1), Ticks(2)], links: Links::Nodes(nodes) };
        let model = Model::unit(placement, 1).and_then(|model| model.with_messages(Some(messages)));
        let timing = replay(&model.expect("a model"), &schedule).timing.expect("it is valid");
        let found: Vec<_> =
            lanes(&schedule, &timing).iter().map(plain).map(|(at, name, _)| (at, name)).collect();
        let expected = [
            (0, "device 0 to device 1"),
            (1, "device 1 to device 0"),
            (1, "network card of node 0"),
            (2, "network card of node 1"),
        ];
        assert_eq!(found, expected.map(|(at, name)| (at, name.to_owned())));
    }

    #[test]
    fn passes_alone_have_no_lanes() {
        let placement = Placement::linear(2).expect("a placement");
        let schedule = Schedule::new(placement.clone(), 1, vec![order("0F0 0B0"), order("1F0 1B0")]);
        let (model, schedule) = (Model::unit(placement, 1).expect("a model"), schedule.expect("a schedule"));
        let timing = replay(&model, &schedule).timing.expect("it is valid");
        assert_eq!(lanes(&schedule, &timing), []);
        assert_eq!(optimizer_steps(&schedule, &timing, Device(0)), []);
    }
}
