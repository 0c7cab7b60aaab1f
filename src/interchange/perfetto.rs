//! Times as a trace in the JSON form of Chrome, which the Perfetto UI (<https://ui.perfetto.dev>) opens.
//!
//! - Each device is a process, sorted by number, with a thread whose complete events (`X`) are the passes.
//!   Events of a thread must not overlap. So a pass that starts while the other one of its overlapped pair runs is on a
//!   second thread.
//! - Each message between devices is a flow (`s`, `f`): activations from F to F, gradients from I or B to I or
//!   B. It starts in the last tick of the pass that sends and finishes, bound to the enclosing event, at the
//!   start of the pass that receives. The time that the message waits there is part of the arrow.
//! - Optimiser steps are on the thread of the passes. Copies to the host, copies from it and the collective stream have a
//!   thread each. Each link that messages keep busy is a process behind the devices.
//! - Each device has a counter (`C`) with what it holds, at every instant at which that changes.
//!
//! Trace times are in microseconds. Ticks of `ns`, `us`, `ms` and `s` keep their length; any other tick
//! becomes one microsecond. `otherData` states what a tick is and what became of it, and every event has its
//! start and end in ticks among its arguments.
//!
//! The form is described in "Trace Event Format" of the Chromium project.

mod beside;

use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};

use serde::Serialize;

use crate::model::{Costs, Device, Model, Pass, Stage, Ticks, Units};
use crate::replay::{Held, Timing, end_of, memory_along};
use crate::schedule::{Schedule, prerequisites};

/// The last instant, in nanoseconds, that a trace can have: the Perfetto UI counts in 64-bit nanoseconds, and
/// JSON numbers are exact to 53 bits.
pub const MOST_NANOSECONDS: i64 = 1 << 53;

/// Why times are no trace.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// Times beyond what the form can say exactly.
    #[error(
        "the makespan of {makespan} {unit} is too long for a trace, which counts up to {most} nanoseconds",
        most = MOST_NANOSECONDS
    )]
    TooLong {
        /// The makespan.
        makespan: Ticks,
        /// The unit of a tick.
        unit: String,
    },
    /// An amount of memory beyond what a JSON number says exactly.
    #[error("a peak of {0} units of memory is more than a trace can represent exactly")]
    TooMuch(Units),
    /// What is written to fails.
    #[error(transparent)]
    Write(#[from] io::Error),
}

/// How ticks become microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Clock {
    /// The nanoseconds of a tick.
    nanoseconds: i64,
    /// Whether a tick is really that long.
    true_to_scale: bool,
}

impl Clock {
    fn of(costs: &Costs) -> Self {
        let known = costs.nanoseconds_per_tick();
        Self { nanoseconds: known.unwrap_or(1_000), true_to_scale: known.is_some() }
    }

    /// Ticks as a decimal number of microseconds.
    fn microseconds(self, ticks: Ticks) -> String {
        let nanoseconds = ticks.0 * self.nanoseconds;
        match nanoseconds % 1_000 {
            0 => (nanoseconds / 1_000).to_string(),
            part => format!("{}.{part:03}", nanoseconds / 1_000),
        }
    }

    /// What became of a tick.
    fn statement(self, unit: &str) -> String {
        let shown = self.microseconds(Ticks(1));
        if self.true_to_scale {
            format!("1 tick is 1 {unit}, shown as {shown} us")
        } else {
            format!("1 tick is 1 {unit}, which has no length in seconds; shown as {shown} us")
        }
    }
}

/// What is said of a pass beside its place in time.
#[derive(Serialize)]
struct Arguments {
    stage: u32,
    chunk: usize,
    microbatch: u32,
    start_tick: i64,
    end_tick: i64,
    memory_during: i64,
    memory_after: i64,
}

/// Writes the times of the passes of a schedule as a trace, those of the messages that keep links busy, those of copies to
/// the host and back, and those of gathers, reductions and optimiser steps.
///
/// # Errors
/// When times or amounts are too large for the form, or `out` cannot be written.
pub fn write(model: &Model, schedule: &Schedule, timing: &Timing, out: impl Write) -> Result<(), TraceError> {
    let clock = Clock::of(model.costs());
    let makespan = timing.metrics.makespan;
    if makespan.0.checked_mul(clock.nanoseconds).is_none_or(|last| last > MOST_NANOSECONDS) {
        return Err(TraceError::TooLong { makespan, unit: model.costs().unit.clone() });
    }
    let memory = memory_along(model, schedule);
    let peak = memory.iter().flatten().map(|held| held.during).max().unwrap_or_default();
    if peak.0 > MOST_NANOSECONDS {
        return Err(TraceError::TooMuch(peak));
    }
    let mut trace = Trace {
        model,
        schedule,
        timing,
        clock,
        places: places(schedule),
        out: BufWriter::new(out),
        flows: 0,
        first: true,
    };
    trace.begin()?;
    for (device, held) in Device::all(schedule.devices()).zip(&memory) {
        trace.device(device, held)?;
    }
    trace.lanes()?;
    trace.messages()?;
    writeln!(trace.out, "\n]}}")?;
    trace.out.flush()?;
    Ok(())
}

/// The place of every pass.
fn places(schedule: &Schedule) -> BTreeMap<Pass, (Device, usize)> {
    Device::all(schedule.devices())
        .flat_map(|device| {
            let order = schedule.order(device).iter().enumerate();
            order.map(move |(position, &pass)| (pass, (device, position)))
        })
        .collect()
}

/// A trace while it is written.
struct Trace<'a, W: Write> {
    model: &'a Model,
    schedule: &'a Schedule,
    timing: &'a Timing,
    clock: Clock,
    places: BTreeMap<Pass, (Device, usize)>,
    out: BufWriter<W>,
    flows: u64,
    first: bool,
}

impl<W: Write> Trace<'_, W> {
    /// Everything before the events.
    fn begin(&mut self) -> Result<(), TraceError> {
        let unit = &self.model.costs().unit;
        let other = serde_json::json!({
            "tool": concat!("bubbleproof ", env!("CARGO_PKG_VERSION")),
            "schedule": self.schedule.name,
            "model": self.model.name(),
            "time_unit": unit,
            "ticks": self.clock.statement(unit),
            "memory_unit": self.model.memory().unit,
            "makespan_ticks": self.timing.metrics.makespan,
        });
        write!(self.out, "{{\"displayTimeUnit\":\"ns\",\"otherData\":{other},\"traceEvents\":[")?;
        Ok(())
    }

    /// One event on a line of its own.
    fn event(&mut self, text: &str) -> Result<(), TraceError> {
        let between = if std::mem::take(&mut self.first) { "\n" } else { ",\n" };
        write!(self.out, "{between}{text}")?;
        Ok(())
    }

    fn device(&mut self, device: Device, memory: &[Held]) -> Result<(), TraceError> {
        let about = |name: &str, key: &str, value: serde_json::Value| {
            format!(
                "{{\"ph\":\"M\",\"name\":\"{name}\",\"pid\":{device},\"tid\":0,\"args\":{{\"{key}\":{value}}}}}"
            )
        };
        self.event(&about("process_name", "name", format!("device {device}").into()))?;
        self.event(&about("process_sort_index", "sort_index", device.0.into()))?;
        self.event(&about("thread_name", "name", "passes".into()))?;
        let starts = &self.timing.starts[device.index()];
        let order = self.schedule.order(device);
        if (0..order.len()).any(|position| self.thread(device, position) > 0) {
            self.event(&format!(
                "{{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":{device},\"tid\":1,\"args\":{{\"name\":\"overlapped\"}}}}"
            ))?;
        }
        for (position, ((&pass, &start), &held)) in order.iter().zip(starts).zip(memory).enumerate() {
            self.pass((device, self.thread(device, position)), pass, start, held)?;
        }
        self.behind(device)?;
        self.counter(device, memory)
    }

    fn end_of(&self, pass: Pass, start: Ticks) -> Ticks {
        end_of(self.model, self.schedule, pass, start)
    }

    /// The thread of the pass at a position: the second one if the other pass of its pair still runs.
    fn thread(&self, device: Device, position: usize) -> u32 {
        let (starts, order) = (&self.timing.starts[device.index()], self.schedule.order(device));
        let runs_on = |before: usize| self.end_of(order[before], starts[before]) > starts[position];
        u32::from(position.checked_sub(1).is_some_and(runs_on))
    }

    fn pass(
        &mut self,
        (device, thread): (Device, u32),
        pass: Pass,
        start: Ticks,
        held: Held,
    ) -> Result<(), TraceError> {
        let end = self.end_of(pass, start);
        let arguments = Arguments {
            stage: pass.stage.0,
            chunk: self.schedule.placement().chunk_of(pass.stage),
            microbatch: pass.microbatch.0,
            start_tick: start.0,
            end_tick: end.0,
            memory_during: held.during.0,
            memory_after: held.after.0,
        };
        let arguments = serde_json::to_string(&arguments).map_err(io::Error::from)?;
        self.event(&format!(
            "{{\"ph\":\"X\",\"name\":\"{pass}\",\"cat\":\"{}\",\"pid\":{device},\"tid\":{thread},\"ts\":{},\"dur\":{},\
             \"args\":{arguments}}}",
            pass.kind,
            self.clock.microseconds(start),
            self.clock.microseconds(end - start),
        ))
    }

    /// What a device holds, wherever it changes. What ends at an instant is gone before what starts there is
    /// counted, as in replay.
    fn counter(&mut self, device: Device, memory: &[Held]) -> Result<(), TraceError> {
        let unit = serde_json::Value::from(self.model.memory().unit.as_str());
        let starts = &self.timing.starts[device.index()];
        let order = self.schedule.order(device);
        let mut shown = None;
        let weights = self.model.resident(device);
        if weights > Units::ZERO && starts.first().is_none_or(|&first| first > Ticks::ZERO) {
            shown = Some(weights);
            self.event(&format!(
                "{{\"ph\":\"C\",\"name\":\"memory\",\"pid\":{device},\"ts\":0,\"args\":{{{unit}:{weights}}}}}"
            ))?;
        }
        for (position, (&pass, &held)) in order.iter().zip(memory).enumerate() {
            let (start, end) = (starts[position], self.end_of(pass, starts[position]));
            // At once with the start of the next pass, only what that leaves is seen.
            let is_seen = starts.get(position + 1).is_none_or(|&next| next > end);
            let changes = [(start, held.during, true), (end, held.after, is_seen)];
            for (instant, live, _) in changes.into_iter().filter(|&(.., is_seen)| is_seen) {
                if shown != Some(live) {
                    shown = Some(live);
                    self.event(&format!(
                        "{{\"ph\":\"C\",\"name\":\"memory\",\"pid\":{device},\"ts\":{},\"args\":{{{unit}:{live}}}}}",
                        self.clock.microseconds(instant),
                    ))?;
                }
            }
        }
        Ok(())
    }

    /// The flows, after all passes: an event must follow the pass at the same instant that it binds to.
    fn messages(&mut self) -> Result<(), TraceError> {
        let placement = self.schedule.placement();
        for device in Device::all(self.schedule.devices()) {
            for (position, &pass) in self.schedule.order(device).iter().enumerate() {
                let needs: Vec<Pass> =
                    prerequisites(pass, placement, |other| self.places.contains_key(&other)).collect();
                for sender in needs {
                    let Some(&(from, at)) = self.places.get(&sender) else { continue };
                    if from != device {
                        let sent = self.timing.starts[from.index()][at];
                        let received = self.timing.starts[device.index()][position];
                        let threads = (self.thread(from, at), self.thread(device, position));
                        self.message((from, sender, sent), (device, pass, received), threads)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn message(
        &mut self,
        (from, sender, sent): (Device, Pass, Ticks),
        (to, receiver, received): (Device, Pass, Ticks),
        (sending, receiving): (u32, u32),
    ) -> Result<(), TraceError> {
        let name = if sender.kind.yields_input_gradient() { "gradient" } else { "activation" };
        let (id, latency) = (self.flows, self.latency(sender.stage, receiver.stage));
        self.flows += 1;
        let last_tick = (self.end_of(sender, sent) - Ticks(1)).max(sent);
        let both = format!("\"name\":\"{name}\",\"cat\":\"message\",\"id\":{id}");
        let args =
            format!("\"args\":{{\"from\":\"{sender}\",\"to\":\"{receiver}\",\"latency_ticks\":{latency}}}");
        self.event(&format!(
            "{{\"ph\":\"s\",{both},\"tid\":{sending},\"pid\":{from},\"ts\":{},{args}}}",
            self.clock.microseconds(last_tick)
        ))?;
        self.event(&format!(
            "{{\"ph\":\"f\",\"bp\":\"e\",{both},\"tid\":{receiving},\"pid\":{to},\"ts\":{},{args}}}",
            self.clock.microseconds(received)
        ))
    }

    /// What a message between two neighbouring stages takes.
    fn latency(&self, one: Stage, other: Stage) -> Ticks {
        self.model.latency_after(one.min(other))
    }
}

#[cfg(test)]
mod tests;
