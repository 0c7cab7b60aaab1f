//! `replay`: when every pass of a schedule runs.

mod pairs;

use std::fmt;
use std::ops::Range;

use clap::Args;
use serde::{Serialize, Serializer};

use self::pairs::PairLaunches;
use super::error::{Error, Status};
use super::figures::percentage;
use super::output::Output;
use super::progress::Progress;
use super::schedule_input::{ScheduleInput, ScheduleInputArgs};
use super::table::Table;
use super::verdict::VerifyReport;
use crate::amounts::Amounts;
use crate::analysis::{Span, Utilisation, optimizer_steps, spans};
use crate::model::{Device, Link, Pass, Ticks};
use crate::replay::{CopyTimes, GatherTimes, LinkTimes, Rate, Timing};

/// The options of `replay`.
#[derive(Debug, Args)]
pub struct ReplayArgs {
    #[command(flatten)]
    subject: ScheduleInputArgs,
}

/// Replays the schedule and gives its times.
///
/// # Errors
/// When a file or an option is wrong.
pub fn run(args: &ReplayArgs, output: Output) -> Result<Status, Error> {
    let progress = Progress::start("reading and replaying the schedule");
    let subject = args.subject.read()?;
    let replayed = Replayed { judgement: VerifyReport::of(&subject, output), subject: &subject };
    drop(progress);
    output.print(&replayed)?;
    Ok(Status::of(replayed.judgement.valid))
}

/// A judgement with the times of every pass.
struct Replayed<'a> {
    judgement: VerifyReport<'a>,
    subject: &'a ScheduleInput,
}

/// A pass in time, as `--json` gives it.
#[derive(Serialize)]
struct Timed {
    device: u32,
    pass: Pass,
    start: i64,
    end: i64,
}

/// What follows the last backward of a stage: start and end of the reduction of its gradients, and of its optimiser step.
#[derive(Serialize)]
struct StageEnd {
    stage: u32,
    reduce: [i64; 2],
    optimizer: [i64; 2],
}

/// The gathers of weights on the collective stream of a device, in order.
#[derive(Serialize)]
struct GathersReport {
    device: u32,
    busy: i64,
    gathers: Vec<Gather>,
}

/// When the weights of a stage are gathered, and the positions of the first pass that uses them and of that before which the
/// device lets go of them.
#[derive(Serialize)]
struct Gather {
    stage: u32,
    start: i64,
    end: i64,
    used: usize,
    until: usize,
}

/// The gathers of the devices; empty where gathering weights takes no time.
fn gathers(timing: &Timing) -> Vec<GathersReport> {
    let gather = |GatherTimes { gathering, during }: &GatherTimes| Gather {
        stage: gathering.stage.0,
        start: during.start.0,
        end: during.end.0,
        used: gathering.used,
        until: gathering.until,
    };
    let of_device = |(device, gathers): (u32, &Vec<GatherTimes>)| GathersReport {
        device,
        busy: gathers.iter().map(|times| (times.during.end - times.during.start).0).sum(),
        gathers: gathers.iter().map(gather).collect(),
    };
    (0..).zip(&timing.gathers).map(of_device).collect()
}

/// A link that messages keep busy, with the messages in its order.
#[derive(Serialize)]
struct LinkReport {
    link: Link,
    busy: i64,
    messages: Vec<Sent>,
}

/// A message on a link: the pass that makes it, and when it keeps the link busy.
#[derive(Serialize)]
struct Sent {
    pass: Pass,
    start: i64,
    end: i64,
}

/// The copy engines of a device, with the copies in the order of each.
#[derive(Serialize)]
struct CopiesReport {
    device: u32,
    to_host: EngineReport,
    from_host: EngineReport,
}

/// A copy engine; the pass of a copy is the forward whose activation is copied.
#[derive(Serialize)]
struct EngineReport {
    busy: i64,
    copies: Vec<Sent>,
}

/// What runs while no pass does, in time.
fn sent((pass, during): &(Pass, Range<Ticks>)) -> Sent {
    Sent { pass: *pass, start: during.start.0, end: during.end.0 }
}

/// The copy engines of the devices; empty where the schedule offloads no activation.
fn copies(timing: &Timing) -> Vec<CopiesReport> {
    let of_device = |(device, times): (u32, &CopyTimes)| {
        let [down, up] = times.busy();
        let engine = |busy: Ticks, copies: &[_]| EngineReport {
            busy: busy.0,
            copies: copies.iter().map(sent).collect(),
        };
        CopiesReport {
            device,
            to_host: engine(down, &times.to_host),
            from_host: engine(up, &times.from_host),
        }
    };
    (0..).zip(&timing.copies).map(of_device).collect()
}

/// The links that messages keep busy.
fn links(timing: &Timing) -> Vec<LinkReport> {
    let link = |times: &LinkTimes| LinkReport {
        link: times.link,
        busy: times.busy().0,
        messages: times.messages.iter().map(sent).collect(),
    };
    timing.links.iter().map(link).collect()
}

/// What follows the passes of each stage.
fn ends(timing: &Timing) -> Vec<StageEnd> {
    let pair = |times: &Range<Ticks>| [times.start.0, times.end.0];
    let stages = (0..).zip(&timing.step);
    stages
        .map(|(stage, times)| StageEnd {
            stage,
            reduce: pair(&times.reduce),
            optimizer: pair(&times.optimizer),
        })
        .collect()
}

impl Replayed<'_> {
    fn timing(&self) -> Option<&Timing> {
        self.judgement.verdict.timing.as_ref()
    }

    /// The largest span of a device at the starts that are given, in ticks. The device span is less where a device
    /// has to begin later for it.
    fn largest_span(&self, timing: &Timing) -> Ticks {
        let spans =
            Device::all(self.subject.schedule.devices()).map(|device| self.used(timing, device).span());
        spans.max().unwrap_or_default()
    }

    /// What a device does with its time: its passes, and the optimiser steps of its stages.
    fn used(&self, timing: &Timing, device: Device) -> Utilisation {
        let ScheduleInput { schedule, model, .. } = self.subject;
        let passes = Utilisation::of(spans(model, schedule, timing, device));
        passes.and_then(optimizer_steps(schedule, timing, device))
    }

    /// How the parts of its pairs are launched.
    fn pair_launches(&self) -> Vec<PairLaunches<'_>> {
        pairs::launches(&self.subject.model, &self.subject.schedule)
    }

    fn timed<'a>(&'a self, timing: &'a Timing) -> impl Iterator<Item = Timed> + 'a {
        let ScheduleInput { schedule, model, .. } = self.subject;
        Device::all(schedule.devices()).flat_map(move |device| {
            spans(model, schedule, timing, device).map(move |Span { pass, start, end }| Timed {
                device: device.0,
                pass,
                start: start.0,
                end: end.0,
            })
        })
    }
}

impl Serialize for Replayed<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        /// The passes, made one by one: there can be millions.
        struct Passes<'a>(&'a Replayed<'a>, &'a Timing);

        impl Serialize for Passes<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_seq(self.0.timed(self.1))
            }
        }

        #[derive(Serialize)]
        struct Object<'a> {
            #[serde(flatten)]
            judgement: &'a VerifyReport<'a>,
            /// Last end minus first start in `passes`, of the device for which that is the most, in ticks.
            largest_span: Option<i64>,
            passes: Option<Passes<'a>>,
            /// Empty without `[messages]` in the model.
            links: Vec<LinkReport>,
            /// By device; absent where the schedule offloads nothing.
            #[serde(skip_serializing_if = "Vec::is_empty")]
            copies: Vec<CopiesReport>,
            /// By device; absent where gathering weights takes no time.
            #[serde(skip_serializing_if = "Vec::is_empty")]
            gathers: Vec<GathersReport>,
            /// By stage; empty without `[step]` in the model.
            step: Vec<StageEnd>,
            /// By pair of stages; absent where no pair has parts.
            #[serde(skip_serializing_if = "Vec::is_empty")]
            pair_launches: Vec<PairLaunches<'a>>,
        }

        let largest_span = self.timing().map(|timing| self.largest_span(timing).0);
        let passes = self.timing().map(|timing| Passes(self, timing));
        let links = self.timing().map_or_else(Vec::new, links);
        let copies = self.timing().map_or_else(Vec::new, copies);
        let gathers = self.timing().map_or_else(Vec::new, gathers);
        let step = self.timing().map_or_else(Vec::new, ends);
        let pair_launches = self.timing().map_or_else(Vec::new, |_| self.pair_launches());
        let judgement = &self.judgement;
        Object { judgement, largest_span, passes, links, copies, gathers, step, pair_launches }
            .serialize(serializer)
    }
}

impl Replayed<'_> {
    /// Every time that a table shows.
    fn all_times<'a>(&'a self, timing: &'a Timing) -> impl Iterator<Item = Ticks> + 'a {
        let devices = Device::all(self.subject.schedule.devices());
        let used = devices.map(|device| self.used(timing, device));
        let used = used.flat_map(|used| [used.first_start, used.last_end, used.busy]);
        let links = timing.links.iter().map(LinkTimes::busy);
        let copies = timing.copies.iter().flat_map(CopyTimes::busy);
        let gathers = gathers(timing).into_iter().map(|gathers| Ticks(gathers.busy));
        let ends = ends(timing).into_iter().flat_map(|end| [end.reduce, end.optimizer]).flatten().map(Ticks);
        used.chain(links).chain(copies).chain(gathers).chain(ends)
    }
}

impl fmt::Display for Replayed<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.judgement.fmt(out)?;
        let Some(timing) = self.timing() else { return Ok(()) };
        let ScheduleInput { schedule, model, .. } = self.subject;
        let amounts = Amounts::new(out.alternate(), &model.costs().unit, &model.memory().unit);
        let times = amounts.times(self.all_times(timing));
        let memory = amounts.memories(self.judgement.verdict.peak_memory.iter().copied());
        let shown = |ticks: Ticks| times.cell(ticks);
        writeln!(out, "\ntimes in {}, memory in {}", times.unit(), memory.unit())?;
        let mut table = Table::new(["device", "passes", "start", "end", "busy", "idle", "peak memory"]);
        for device in Device::all(schedule.devices()) {
            let used = self.used(timing, device);
            table.row([
                device.to_string(),
                used.passes.to_string(),
                shown(used.first_start),
                shown(used.last_end),
                shown(used.busy),
                percentage(used.idle_share(timing.metrics.makespan)),
                memory.cell(self.judgement.verdict.peak_memory[device.index()]),
            ]);
        }
        write!(out, "\n{table}")?;
        if !timing.links.is_empty() {
            let mut table = Table::new(["link", "messages", "busy", "share of the makespan"]);
            for times in &timing.links {
                let (messages, busy) = (times.messages.len(), times.busy());
                let share = percentage(Rate::new(busy.0.into(), timing.metrics.makespan.0.into()));
                table.row([times.link.to_string(), messages.to_string(), shown(busy), share]);
            }
            write!(out, "\n{table}")?;
        }
        if !timing.copies.is_empty() {
            let mut table =
                Table::new(["device", "copies", "to the host", "share", "from the host", "share"]);
            for (device, times) in timing.copies.iter().enumerate() {
                let [down, up] = times.busy();
                let share =
                    |busy: Ticks| percentage(Rate::new(busy.0.into(), timing.metrics.makespan.0.into()));
                table.row([
                    device.to_string(),
                    times.to_host.len().to_string(),
                    shown(down),
                    share(down),
                    shown(up),
                    share(up),
                ]);
            }
            write!(out, "\n{table}")?;
        }
        if !timing.gathers.is_empty() {
            let mut table = Table::new(["device", "gathers", "busy", "share of the makespan"]);
            for GathersReport { device, busy, gathers } in gathers(timing) {
                let share = percentage(Rate::new(busy.into(), timing.metrics.makespan.0.into()));
                table.row([device.to_string(), gathers.len().to_string(), times.cell(busy), share]);
            }
            write!(out, "\n{table}")?;
        }
        if !timing.step.is_empty() {
            let mut table = Table::new(["stage", "reduction", "optimiser step"]);
            for StageEnd { stage, reduce, optimizer } in ends(timing) {
                let shown = |[start, end]: [i64; 2]| format!("{} to {}", times.cell(start), times.cell(end));
                table.row([stage.to_string(), shown(reduce), shown(optimizer)]);
            }
            write!(out, "\n{table}")?;
        }
        pairs::show(&self.pair_launches(), amounts, out)?;
        let largest = self.largest_span(timing);
        if largest > timing.metrics.device_span {
            let largest = amounts.time(largest);
            writeln!(
                out,
                "device span and bubble rate: a device begins later than shown; as shown, the largest span is {largest}"
            )?;
        }
        Ok(())
    }
}
