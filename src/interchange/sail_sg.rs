//! The lists of nodes that the runtime of `sail-sg/zero-bubble-pipeline-parallelism` executes.
//!
//! Every device has a list of `ScheduledNode`s: passes, sends and receives. The runtime keeps what comes and goes
//! between them in queues, one for each chunk and kind, so passes of a stage have to keep the order of microbatches. It
//! posts neighbouring messages together, sends first; or, where it batches them, as one group over a communicator for
//! all devices. Only on the last device does a chunk hand over to the next one on its own device; elsewhere it hands
//! over to a neighbour. Read from `megatron/core/pipeline_parallel/zerobubble/runtime.py` and `scheduler/graph.py` at
//! commit 0153744904fdf81371e7037d15674123c9b71997; not run here, as it needs GPUs.

mod node;
mod order;

use std::collections::BTreeMap;

pub use node::{Node, print};

use super::limits::{CannotRun, placed, plain};
use crate::comm::{Action, CommunicationPlan, Message, Semantics, deadlock};
use crate::model::{Device, Kind, Microbatch, Model, Placement, Shape, Stage};
use crate::replay::replay;
use crate::schedule::Schedule;

/// A schedule for that runtime.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeLists {
    /// The command-line options that make the runtime place stages as the schedule does. With looped placement
    /// the one that divides the layers is missing: `--num-layers-per-virtual-pipeline-stage`.
    pub options: Vec<String>,
    /// The nodes of every device, in the order in which it carries them out.
    pub devices: Vec<Vec<Node>>,
    /// The same as a plan, with everything waited for and reduced at the end, as that runtime does. Posted
    /// in this order it ends even with one stream for each device, and so, since grouping takes
    /// nothing away, with groups; with sends first and one stream for each pair of devices it ends too.
    pub plan: CommunicationPlan,
}

/// The nodes of a schedule, with its times under the model.
///
/// A send is at the time at which its message is made. Its receive comes before the pass that runs on the
/// receiving device at that time, so that the two overlap. So every device lists messages in the order of the
/// times at which they are made, ties broken alike, and what a pass makes is sent before anything is received
/// behind it.
///
/// # Errors
/// When the schedule is not valid under the model, or that runtime cannot run it.
pub fn node_lists(model: &Model, schedule: &Schedule) -> Result<NodeLists, CannotRun> {
    let placement = schedule.placement();
    placed(placement, &[Shape::Linear, Shape::Looped, Shape::V], "linear, looped or v")?;
    plain(schedule)?;
    let verdict = replay(model, schedule);
    if let Some(violation) = verdict.violations.into_iter().next() {
        return Err(CannotRun::Invalid(violation));
    }
    in_turn(schedule)?;
    let timing = verdict.timing.expect("a valid schedule has times");
    let rows = order::rows(model, schedule, &timing.starts);
    let devices = node::nodes(placement, &rows);
    let received = |pass| Message::into_pass(pass, placement).filter(|message| message.crosses(placement));
    let apart = plan(schedule, order::as_posted(&rows, received));
    if deadlock(&apart, Semantics::PairStreams).is_some() {
        return Err(CannotRun::Circular);
    }
    let rows = rows.iter().map(|row| row.iter().map(|event| event.action).collect()).collect();
    Ok(NodeLists { options: options(placement), devices, plan: plan(schedule, rows) })
}

/// The rows of a schedule as a plan, with everything waited for and reduced at the end.
fn plan(schedule: &Schedule, mut rows: Vec<Vec<Action>>) -> CommunicationPlan {
    let placement = schedule.placement();
    for (device, row) in Device::all(placement.devices()).zip(&mut rows) {
        let sent = |action: &Action| match *action {
            Action::Send(message) => Some(Action::WaitSend(message)),
            _ => None,
        };
        let waits: Vec<Action> = row.iter().filter_map(sent).collect();
        row.extend(waits);
        let reduced = placement.stages_of(device).iter();
        row.extend(reduced.flat_map(|&stage| [Action::ReduceGradients(stage), Action::WaitReduce(stage)]));
    }
    CommunicationPlan::new(placement.clone(), schedule.microbatches(), rows)
        .expect("its passes are those of a schedule")
}

fn options(placement: &Placement) -> Vec<String> {
    let size = format!("--pipeline-model-parallel-size={}", placement.devices());
    let placing = match placement.shape() {
        Shape::Linear => Some("--enable-zero-bubble"),
        Shape::V => Some("--zero-bubble-v-schedule"),
        _ => None,
    };
    [size, "--enable-zb-runtime".to_owned()].into_iter().chain(placing.map(str::to_owned)).collect()
}

/// Whether forwards, backwards and weight gradients of every stage each keep the order of microbatches.
fn in_turn(schedule: &Schedule) -> Result<(), CannotRun> {
    for device in Device::all(schedule.devices()) {
        let mut last: BTreeMap<(Stage, Kind), Microbatch> = BTreeMap::new();
        for (position, &pass) in schedule.order(device).iter().enumerate() {
            // B takes from the queue from which I does.
            let queue = if pass.kind == Kind::B { Kind::I } else { pass.kind };
            let before = last.insert((pass.stage, queue), pass.microbatch);
            if before.is_some_and(|before| before >= pass.microbatch) {
                return Err(CannotRun::OutOfTurn { device, position, pass });
            }
        }
    }
    Ok(())
}
