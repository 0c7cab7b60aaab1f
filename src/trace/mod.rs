//! Measured traces: reading them, fitting a model to them, and comparing them with replay.
//!
//! A [`Trace`] says when every pass of a schedule really ran, on one clock for all devices, in integer
//! nanoseconds; where they were recorded, also the messages and what every device held. It comes from a
//! [trace file](mod@file) or from the files of `torch.profiler`, which [`profiler`] reads, one [`recording`] for each
//! rank; [`clocks`] brings their clocks to one, and [`gather`] makes a trace of them. [`primus`] and [`megatron`] read what
//! two other runtimes write. [`fit`] takes medians and makes a
//! model of them, [`matching`] tells whether the passes ran in the declared order, and [`compare`] says how far
//! replay's prediction is from what was measured. What replay does not know, launch gaps and devices that slow each
//! other down, is in [`terms`], and only there.
//!
//! Times and amounts are integers throughout. Floating point occurs in nothing but shares that are reported.
//!
//! ```
//! use bubbleproof::catalog;
//! use bubbleproof::model::{Model, Placement};
//! use bubbleproof::trace::synthetic;
//!
//! // What replay says, as if it had been measured.
//! let model = Model::unit(Placement::linear(2)?, 4)?;
//! let schedule = catalog::find("1f1b").expect("a name").generate(&model)?;
//! let trace = synthetic::of_replay(&model, &schedule).expect("a valid schedule");
//! assert_eq!(trace.iterations.len(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod clocks;
pub mod compare;
pub mod file;
pub mod fit;
pub mod gather;
pub mod loss;
pub mod matching;
pub mod megatron;
pub mod primus;
pub mod profiler;
pub mod recording;
pub mod run;
pub mod runs;
pub mod statistics;
pub mod synthetic;
pub mod terms;
pub mod whole;

mod activation;
mod decimal;
mod gaps;
mod links;
mod recomputed;
mod step;

use serde::{Deserialize, Serialize};

pub use self::step::{StepSpan, StepWork};

use crate::analysis::Span;
use crate::model::{Device, Model, Pass, Stage, Ticks, Units};
use crate::schedule::Schedule;

/// One run of a schedule, measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// What it was measured on, in one word.
    pub origin: Origin,
    /// What it was measured on.
    pub machine: Machine,
    /// The sizes of the network, where they are known.
    pub sizes: Option<Sizes>,
    /// The schedule that was to be run.
    pub schedule: Schedule,
    /// The largest relative error of a gradient against the model run without a pipeline, as it was written.
    pub gradient_error: Option<String>,
    /// What the host spends per iteration and device outside passes, waits and copies.
    pub host_overhead: Option<Ticks>,
    /// What ran, once for each iteration: at least one.
    pub iterations: Vec<Iteration>,
}

/// On what passes were timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// NVIDIA GPUs, or parts of one, by device events.
    Cuda,
    /// AMD GPUs, by device events.
    Rocm,
    /// GPUs of which the source does not say whose they are, by device events.
    Gpu,
    /// Processes or threads of a CPU.
    Cpu,
    /// Nothing: the times were computed.
    Synthetic,
}

impl std::fmt::Display for Origin {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(match self {
            Self::Cuda => "cuda",
            Self::Rocm => "rocm",
            Self::Gpu => "gpu",
            Self::Cpu => "cpu",
            Self::Synthetic => "synthetic",
        })
    }
}

/// What was measured on. Whatever was not recorded is absent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// The kind of machine, for people.
    pub name: String,
    /// The processor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<String>,
    /// How many cores of it there are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cores: Option<u32>,
    /// The GPU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accelerator: Option<String>,
    /// Its driver.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver: Option<String>,
    /// The version of Python.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub python: Option<String>,
    /// The version of PyTorch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub torch: Option<String>,
    /// What a pipeline device is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub devices: Option<Means>,
    /// By pipeline device: how many multiprocessors it has, where one GPU was divided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub multiprocessors: Option<Vec<u32>>,
    /// How many threads of the CPU compute for a device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads_per_device: Option<u32>,
}

/// The hardware that acts as a pipeline device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Means {
    /// A process of the CPU.
    Processes,
    /// A thread of the CPU.
    Threads,
    /// A GPU.
    Gpus,
    /// A group of multiprocessors of one GPU, disjoint from the others.
    GreenContexts,
    /// A stream of one GPU, which competes with the others for all of it.
    Streams,
}

/// The sizes of the transformer that was run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sizes {
    /// By stage: how many layers it has.
    pub layers: Vec<u32>,
    /// The hidden dimension.
    pub hidden: u32,
    /// The heads of attention.
    pub heads: u32,
    /// The length of a sequence.
    pub sequence: u32,
    /// How many sequences a microbatch is.
    pub microbatch_size: u32,
    /// The type of numbers.
    pub dtype: String,
}

/// What ran in one iteration, timed from its start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Iteration {
    /// By device: its passes, none starting before the one listed before it.
    pub passes: Vec<Vec<Span>>,
    /// The messages, where they were recorded.
    pub messages: Option<Vec<Message>>,
    /// By device: what it holds, after every change, where that was recorded.
    pub memory: Option<Vec<Vec<Sample>>>,
    /// What came before the first passes of stages and followed their last backwards, where that was recorded.
    pub step: Option<Vec<StepSpan>>,
    /// By device: how far off its times may be, where devices had no common clock.
    pub clocks: Option<Vec<ClockRange>>,
    /// By device: the most memory that its allocator had reserved up to the end of the iteration, weights and all, where
    /// that was recorded.
    pub reserved: Option<Vec<Units>>,
}

/// By how much all times of a device could be moved against those of device 0 without a message that arrives before it is
/// sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockRange {
    /// The least, in nanoseconds.
    pub least: i64,
    /// The most.
    pub most: i64,
}

/// A message in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message {
    /// The pass that made it.
    pub pass: Pass,
    /// Where it goes.
    pub to: Device,
    /// When the copy began.
    pub start: Ticks,
    /// When it was there.
    pub end: Ticks,
}

/// What a device holds from an instant on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// The instant.
    pub at: Ticks,
    /// What is live, in bytes.
    pub live: Units,
}

/// Why measurements are no trace of a schedule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// Nothing was measured.
    #[error("there is no iteration")]
    NoIteration,
    /// Not one entry for each device.
    #[error("iteration {iteration} has {found} entries in `{of}`, but the schedule has {devices} devices")]
    Devices {
        /// The iteration, from 0.
        iteration: usize,
        /// The key.
        of: &'static str,
        /// How many entries there are.
        found: usize,
        /// How many devices.
        devices: u32,
    },
    /// A pass of a stage or microbatch that the schedule has not.
    #[error(
        "iteration {iteration}, device {device}: `{pass}` is not of this schedule, which has {stages} stages and {microbatches} microbatches"
    )]
    UnknownPass {
        /// The iteration, from 0.
        iteration: usize,
        /// The device.
        device: Device,
        /// The pass.
        pass: Pass,
        /// The stages of the schedule.
        stages: u32,
        /// Its microbatches.
        microbatches: u32,
    },
    /// A message to a device that does not exist, or from a pass that the schedule does not have.
    #[error(
        "iteration {iteration}: a message of `{pass}` to device {to}, but there are {devices} devices and that pass must be of the schedule"
    )]
    UnknownMessage {
        /// The iteration, from 0.
        iteration: usize,
        /// The pass that made it.
        pass: Pass,
        /// Where it goes.
        to: Device,
        /// How many devices there are.
        devices: u32,
    },
    /// An end of the step of a stage that the schedule does not have.
    #[error("iteration {iteration}: the {work} of stage {stage}, but the schedule has {stages} stages")]
    UnknownStage {
        /// The iteration, from 0.
        iteration: usize,
        /// What ran.
        work: StepWork,
        /// The stage.
        stage: Stage,
        /// The stages of the schedule.
        stages: u32,
    },
    /// Passes that take too long in all.
    #[error("iteration {iteration}: its passes take more than {} ns in all", MAX_INSTANT)]
    TooLong {
        /// The iteration, from 0.
        iteration: usize,
    },
    /// A list of sizes that is not one for each stage or device.
    #[error("`{key}` has {found} values, but there are {expected} {of}")]
    Length {
        /// The key of the file.
        key: &'static str,
        /// How many values there are.
        found: usize,
        /// How many there should be.
        expected: u32,
        /// One for each of what.
        of: &'static str,
    },
}

impl Machine {
    /// Whether times on two machines are to be mixed: versions of software may differ.
    fn is_like(&self, other: &Self) -> bool {
        let hardware = |machine: &Self| {
            (machine.name.clone(), machine.cpu.clone(), machine.cores, machine.accelerator.clone())
        };
        let use_of_it =
            |machine: &Self| (machine.devices, machine.multiprocessors.clone(), machine.threads_per_device);
        hardware(self) == hardware(other) && use_of_it(self) == use_of_it(other)
    }
}

impl Trace {
    /// Whether another trace is a run of the same schedule and network on the same machine, and another run.
    #[must_use]
    pub fn is_sibling_of(&self, other: &Self) -> bool {
        self.origin == other.origin
            && self.machine.is_like(&other.machine)
            && self.sizes == other.sizes
            && self.schedule.placement() == other.schedule.placement()
            && self.schedule.orders() == other.schedule.orders()
            && !self.is_same_run(other)
    }

    /// Whether two traces are of one run, whatever schedule they are compared with.
    #[must_use]
    pub fn is_same_run(&self, other: &Self) -> bool {
        self.iterations == other.iterations && self.machine == other.machine
    }

    /// The same trace, if its parts belong together.
    ///
    /// # Errors
    /// When there is no iteration, or something in one is not of the schedule.
    pub fn checked(self) -> Result<Self, TraceError> {
        let (devices, stages) = (self.schedule.devices(), self.schedule.placement().stages());
        let lists = [
            ("model.layers", self.sizes.as_ref().map(|sizes| sizes.layers.len()), stages, "stages"),
            (
                "machine.multiprocessors",
                self.machine.multiprocessors.as_ref().map(Vec::len),
                devices,
                "devices",
            ),
        ];
        for (key, found, expected, of) in lists {
            if let Some(found) = found.filter(|&found| found != expected as usize) {
                return Err(TraceError::Length { key, found, expected, of });
            }
        }
        if self.iterations.is_empty() {
            return Err(TraceError::NoIteration);
        }
        for (at, iteration) in self.iterations.iter().enumerate() {
            iteration.check(at, &self.schedule)?;
        }
        Ok(self)
    }
}

impl Iteration {
    fn check(&self, iteration: usize, schedule: &Schedule) -> Result<(), TraceError> {
        let devices = schedule.devices();
        let (stages, microbatches) = (schedule.placement().stages(), schedule.microbatches());
        let known = |pass: Pass| pass.stage.0 < stages && pass.microbatch.0 < microbatches;
        let lists = [
            ("passes", Some(self.passes.len())),
            ("memory", self.memory.as_ref().map(Vec::len)),
            ("clocks", self.clocks.as_ref().map(Vec::len)),
            ("reserved", self.reserved.as_ref().map(Vec::len)),
        ];
        for (of, found) in lists {
            if let Some(found) = found.filter(|&found| found != devices as usize) {
                return Err(TraceError::Devices { iteration, of, found, devices });
            }
        }
        for (device, spans) in Device::all(devices).zip(&self.passes) {
            if let Some(&Span { pass, .. }) = spans.iter().find(|span| !known(span.pass)) {
                return Err(TraceError::UnknownPass { iteration, device, pass, stages, microbatches });
            }
        }
        let busy: i128 = self.passes.iter().flatten().map(|span| i128::from(span.duration().0)).sum();
        if busy > i128::from(MAX_INSTANT) {
            return Err(TraceError::TooLong { iteration });
        }
        let mut step = self.step.iter().flatten();
        if let Some(&StepSpan { work, stage, .. }) = step.find(|span| span.stage.0 >= stages) {
            return Err(TraceError::UnknownStage { iteration, work, stage, stages });
        }
        let messages = self.messages.iter().flatten();
        match messages.into_iter().find(|message| message.to.0 >= devices || !known(message.pass)) {
            Some(&Message { pass, to, .. }) => {
                Err(TraceError::UnknownMessage { iteration, pass, to, devices })
            }
            None => Ok(()),
        }
    }

    /// The first start of a pass.
    #[must_use]
    pub fn first_start(&self) -> Ticks {
        self.passes.iter().flatten().map(|span| span.start).min().unwrap_or_default()
    }

    /// The last end of what follows the passes, or of a pass where nothing does.
    #[must_use]
    pub fn step_end(&self) -> Ticks {
        let step = self.step.iter().flatten().map(|span| span.end);
        step.fold(self.last_end(), Ticks::max)
    }

    /// The furthest that the times of a device may be off against those of device 0, where devices had no common clock.
    #[must_use]
    pub fn clock_error(&self) -> Option<Ticks> {
        let ranges = self.clocks.as_ref()?.iter();
        ranges.map(|range| Ticks(range.most.max(range.least.saturating_neg()))).max()
    }

    /// The last end of a pass.
    #[must_use]
    pub fn last_end(&self) -> Ticks {
        self.passes.iter().flatten().map(|span| span.end).max().unwrap_or_default()
    }

    /// The most that every device holds at any instant beside what was there before the first pass, where that
    /// was recorded.
    #[must_use]
    pub fn peak_memory(&self) -> Option<Vec<Units>> {
        let peak = |samples: &Vec<Sample>| {
            let most = samples.iter().map(|sample| sample.live).max().unwrap_or_default();
            most - activation::before(samples)
        };
        self.memory.as_ref().map(|devices| devices.iter().map(peak).collect())
    }
}

/// The limit of every instant, in nanoseconds: more than nine years, and far from overflow.
pub(crate) const MAX_INSTANT: i64 = Model::MAX_TOTAL;
