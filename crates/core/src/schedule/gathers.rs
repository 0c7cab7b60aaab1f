//! Which weights are gathered when: the rule of PyTorch, where the weights of stages are sharded.
//!
//! Before each step of a device, those stages of it have their weights gathered that it uses next: as many as may be, in the
//! order of their next use, the step itself included. What is gathered already stays; what is no longer among them is let go
//! of, then what is missing is gathered, in the order of its next use. A pair of two stages has both, whatever may be, but one
//! that comes later may have only the stage of its first pass gathered: PyTorch 2.15 gathers one stage more than may be then
//! (`docs/pytorch.md`). So this is a function of the order of the device alone. Replay times it, and communication plans write
//! it as `UNSHARD` and `RESHARD`.
//!
//! A stage that is gathered stays so until a pass has used it: as passes run, the others come no later among those that are
//! used next.
//!
//! ```
//! use bubbleproof_core::model::{Device, Placement, Stage};
//! use bubbleproof_core::schedule::{Gathering, Schedule};
//!
//! let order = "0F0 1F0 1B0 0B0".split(' ').map(str::parse).collect::<Result<Vec<_>, _>>()?;
//! let schedule = Schedule::new(Placement::looped(1, 2)?, 1, vec![order])?;
//! // One stage at a time: stage 0 is gathered for its F, and again for its B.
//! let gatherings = schedule.gatherings(Device(0), 1);
//! let expected = [(0, 0, 1), (1, 1, 3), (0, 3, 4)]
//!     .map(|(stage, posted, until)| Gathering { stage: Stage(stage), posted, used: posted, until });
//! assert_eq!(gatherings, expected);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::{BTreeMap, BTreeSet};

use super::Schedule;
use crate::model::{Device, Pass, Stage};

/// From where to where in the order of a device the weights of a stage are gathered. All positions are those of the first
/// pass of a step, or the end of the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gathering {
    /// The stage.
    pub stage: Stage,
    /// The position before which the gather is posted.
    pub posted: usize,
    /// The position of the first step that uses the weights.
    pub used: usize,
    /// The position before which the device lets go of the weights; the length of the order where it keeps them until its end.
    pub until: usize,
}

impl Schedule {
    /// When the weights of the stages of a device are gathered if those of so many stages may be at a time: every gathering,
    /// in the order in which they are posted.
    ///
    /// # Panics
    /// When there is no such device.
    #[must_use]
    pub fn gatherings(&self, device: Device, stages: u32) -> Vec<Gathering> {
        let order = self.order(device);
        let (next, mut waiting) = uses(order);
        // Stages that are gathered, by their next use, and the numbers of their gatherings.
        let mut gathered: BTreeSet<(usize, Stage)> = BTreeSet::new();
        let mut numbers: BTreeMap<Stage, usize> = BTreeMap::new();
        let mut all: Vec<Gathering> = Vec::new();
        // What no later pass uses.
        let mut over: Vec<Stage> = Vec::new();
        let mut position = 0;
        for step in self.steps(device) {
            let needed = if step.iter().all(|pass| pass.stage == step[0].stage) { 1 } else { step.len() };
            let room = needed.max(stages as usize);
            let (mut leaving, mut entering) = (std::mem::take(&mut over), Vec::new());
            while let Some(last) = gathered.last().copied().filter(|_| gathered.len() > room) {
                gathered.remove(&last);
                waiting.insert(last);
                leaving.push(last.1);
            }
            while let Some(first) = waiting.first().copied() {
                if gathered.len() == room {
                    let Some(last) = gathered.last().copied().filter(|last| *last > first) else { break };
                    gathered.remove(&last);
                    waiting.insert(last);
                    leaving.push(last.1);
                }
                waiting.remove(&first);
                gathered.insert(first);
                entering.push(first);
            }
            for number in leaving.iter().filter_map(|stage| numbers.remove(stage)) {
                all[number].until = position;
            }
            for (used, stage) in entering {
                numbers.insert(stage, all.len());
                let used = self.step_at(device, used);
                all.push(Gathering { stage, posted: position, used, until: order.len() });
            }
            for (at, pass) in (position..).zip(step) {
                if gathered.remove(&(at, pass.stage)) {
                    if let Some(again) = next[at] {
                        gathered.insert((again, pass.stage));
                    } else {
                        over.push(pass.stage);
                    }
                }
            }
            position += step.len();
        }
        all
    }
}

/// For each position, the next one with the same stage; and the first position of every stage.
fn uses(order: &[Pass]) -> (Vec<Option<usize>>, BTreeSet<(usize, Stage)>) {
    let mut first: BTreeMap<Stage, usize> = BTreeMap::new();
    let mut next: Vec<Option<usize>> =
        order.iter().enumerate().rev().map(|(at, pass)| first.insert(pass.stage, at)).collect();
    next.reverse();
    (next, first.into_iter().map(|(stage, at)| (at, stage)).collect())
}
