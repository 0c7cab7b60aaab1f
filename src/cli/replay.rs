//! `replay`: when every pass of a schedule runs.

use std::fmt;

use clap::Args;
use serde::{Serialize, Serializer};

use super::error::{Error, Status};
use super::figures::percentage;
use super::output::Output;
use super::progress::Progress;
use super::subject::{Subject, SubjectArgs};
use super::table::Table;
use super::verdict::Judgement;
use crate::model::{Device, Pass, Ticks};
use crate::replay::{Rate, Timing, end_of};

/// The options of `replay`.
#[derive(Debug, Args)]
pub struct ReplayArgs {
    #[command(flatten)]
    subject: SubjectArgs,
}

/// Replays the schedule and gives its times.
///
/// # Errors
/// When a file or an option is wrong.
pub fn run(args: &ReplayArgs, output: Output) -> Result<Status, Error> {
    let progress = Progress::start("reading and replaying the schedule");
    let subject = args.subject.read()?;
    let replayed = Replayed { judgement: Judgement::of(&subject), subject: &subject };
    drop(progress);
    output.print(&replayed)?;
    Ok(Status::of(replayed.judgement.valid))
}

/// A judgement with the times of every pass.
struct Replayed<'a> {
    judgement: Judgement<'a>,
    subject: &'a Subject,
}

/// A pass in time, as `--json` gives it.
#[derive(Serialize)]
struct Timed {
    device: u32,
    pass: Pass,
    start: i64,
    end: i64,
}

impl Replayed<'_> {
    fn timing(&self) -> Option<&Timing> {
        self.judgement.verdict.timing.as_ref()
    }

    fn timed<'a>(&'a self, timing: &'a Timing) -> impl Iterator<Item = Timed> + 'a {
        let Subject { schedule, model, .. } = self.subject;
        Device::all(schedule.devices()).flat_map(move |device| {
            let starts = &timing.starts[device.index()];
            schedule.order(device).iter().zip(starts).map(move |(&pass, &start)| Timed {
                device: device.0,
                pass,
                start: start.0,
                end: end_of(model, pass, start).0,
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
            judgement: &'a Judgement<'a>,
            passes: Option<Passes<'a>>,
        }

        let passes = self.timing().map(|timing| Passes(self, timing));
        Object { judgement: &self.judgement, passes }.serialize(serializer)
    }
}

impl fmt::Display for Replayed<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.judgement)?;
        let Some(timing) = self.timing() else { return Ok(()) };
        let Subject { schedule, model, .. } = self.subject;
        let mut table = Table::new(["device", "passes", "start", "end", "busy", "bubble", "peak memory"]);
        for device in Device::all(schedule.devices()) {
            let (order, starts) = (schedule.order(device), &timing.starts[device.index()]);
            let first = starts.first().copied().unwrap_or_default();
            let end = order.iter().zip(starts).next_back();
            let end = end.map_or(first, |(&pass, &start)| end_of(model, pass, start));
            let busy: Ticks = order.iter().map(|pass| model.duration(pass.stage, pass.kind)).sum();
            table.row([
                device.to_string(),
                order.len().to_string(),
                first.to_string(),
                end.to_string(),
                busy.to_string(),
                percentage(idle_share(busy, end - first)),
                self.judgement.verdict.peak_memory[device.index()].to_string(),
            ]);
        }
        write!(out, "\n{table}")
    }
}

fn idle_share(busy: Ticks, span: Ticks) -> Rate {
    if span == Ticks::ZERO {
        return Rate::from_integer(0);
    }
    Rate::new(i128::from((span - busy).0), i128::from(span.0))
}
