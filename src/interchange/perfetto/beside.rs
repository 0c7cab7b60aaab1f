//! What runs beside and behind the passes.

use std::io::Write;

use super::{Trace, TraceError};
use crate::analysis::{Engine, Job, Work, lanes, optimizer_steps};
use crate::model::Device;

impl<W: Write> Trace<'_, W> {
    /// The optimiser steps of a device, on the thread of its passes.
    pub(super) fn behind(&mut self, device: Device) -> Result<(), TraceError> {
        for job in optimizer_steps(self.schedule, self.timing, device) {
            self.job((device.0, 0), job)?;
        }
        Ok(())
    }

    /// Every engine with its tasks: a link as a process behind the devices, the others as threads of their devices.
    pub(super) fn lanes(&mut self) -> Result<(), TraceError> {
        let mut process = self.schedule.devices();
        for lane in lanes(self.schedule, self.timing) {
            let place = match lane.engine {
                Engine::Link(link) => {
                    let name = serde_json::Value::from(format!("link: {link}"));
                    self.about("process_name", (process, 0), "name", &name)?;
                    self.about("process_sort_index", (process, 0), "sort_index", &process.into())?;
                    process += 1;
                    (process - 1, 0)
                }
                engine => {
                    let thread = match engine {
                        Engine::ToHost => 2,
                        Engine::FromHost => 3,
                        Engine::Link(_) | Engine::Collective => 4,
                    };
                    let place = (lane.device.0, thread);
                    self.about("thread_name", place, "name", &engine.to_string().into())?;
                    place
                }
            };
            for &job in &lane.jobs {
                self.job(place, job)?;
            }
        }
        Ok(())
    }

    /// What is said of a process or a thread.
    fn about(
        &mut self,
        name: &str,
        (process, thread): (u32, u32),
        key: &str,
        value: &serde_json::Value,
    ) -> Result<(), TraceError> {
        self.event(&format!(
            "{{\"ph\":\"M\",\"name\":\"{name}\",\"pid\":{process},\"tid\":{thread},\"args\":{{\"{key}\":{value}}}}}"
        ))
    }

    fn job(&mut self, (process, thread): (u32, u32), job: Job) -> Result<(), TraceError> {
        let category = match job.work {
            Work::Activation | Work::Gradient => "link",
            Work::ToHost | Work::FromHost => "copy",
            Work::Gather => "gather",
            Work::Reduction => "reduction",
            Work::Optimizer => "optimizer",
        };
        let Job { start, end, .. } = job;
        self.event(&format!(
            "{{\"ph\":\"X\",\"name\":\"{job}\",\"cat\":\"{category}\",\"pid\":{process},\"tid\":{thread},\"ts\":{},\"dur\":{},\
             \"args\":{{\"start_tick\":{start},\"end_tick\":{end}}}}}",
            self.clock.microseconds(start),
            self.clock.microseconds(job.duration()),
        ))
    }
}
