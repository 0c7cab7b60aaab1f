//! The smallest pools of buffers for received messages.

use std::fmt;

use serde::Serialize;

use crate::amounts::Amounts;
use crate::comm::{CommunicationPlan, Message};
use crate::model::{Device, Model};
use crate::replay::{BufferPool, buffer_pool, receive_buffers};
use crate::schedule::Schedule;

/// The smallest pool of every device, for runtimes that allocate buffers ahead.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Pools {
    devices: Vec<Pool>,
    #[serde(skip)]
    unit: String,
}

/// The smallest pool of a device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Pool {
    buffers: usize,
    /// What they take together, in units.
    memory: i64,
    /// By size, in units.
    sizes: Vec<Sized>,
}

/// The buffers of one size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
struct Sized {
    size: i64,
    buffers: usize,
}

impl Pools {
    /// The pools of a schedule; nothing where messages need no memory.
    pub fn of(model: &Model, schedule: &Schedule) -> Option<Self> {
        if !model.has_buffers() {
            return None;
        }
        let pool = |pool: BufferPool| Pool {
            buffers: pool.len(),
            memory: pool.units().0,
            sizes: pool.counts.iter().map(|(size, &buffers)| Sized { size: size.0, buffers }).collect(),
        };
        let devices = receive_buffers(model, schedule).into_iter();
        let devices: Vec<Pool> = devices.map(|buffers| pool(buffer_pool(model, &buffers))).collect();
        (!devices.is_empty()).then(|| Self { devices, unit: model.memory().unit.clone() })
    }
}

impl fmt::Display for Pools {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let most = self.devices.iter().max_by_key(|pool| (pool.memory, pool.buffers));
        let Some(Pool { buffers, memory, .. }) = most else { return Ok(()) };
        let noun = if *buffers == 1 { "buffer" } else { "buffers" };
        writeln!(
            out,
            "  receive pool  {buffers} {noun} of {} in all on the fullest device",
            Amounts::new(out.alternate(), "", &self.unit).memory(*memory)
        )
    }
}

/// Whether a plan posts its receives where the model counts their buffers from.
pub fn posts_as_counted(model: &Model, plan: &CommunicationPlan) -> bool {
    let schedule = plan.schedule();
    let counted = receive_buffers(model, schedule);
    Device::all(schedule.devices()).zip(&counted).all(|(device, buffers)| {
        let posted = plan.receives(device);
        let counted = buffers.iter().filter_map(|buffer| {
            Some((Message::into_pass(buffer.pass, schedule.placement())?, buffer.posted))
        });
        counted.into_iter().all(|(message, position)| posted.get(&message) == Some(&position))
    })
}
