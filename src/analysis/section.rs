//! The critical path with its repetitions gathered.

use super::{Step, Waits};
use crate::model::Ticks;

/// A section of the critical path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Section {
    /// Passes that come once.
    Once(Vec<Step>),
    /// Passes that come again and again, each time for later microbatches: a critical cycle, which
    /// sets the time per microbatch.
    Cycle {
        /// The passes of the first turn.
        turn: Vec<Step>,
        /// How often they come.
        times: usize,
        /// How long a turn takes.
        ticks: Ticks,
        /// By how many microbatches a turn moves on; 0 when it does not.
        microbatches: u32,
    },
}

/// The fewest turns that are called a cycle, and the longest turn looked for, in passes.
const TURNS: usize = 3;
const LONGEST_TURN: usize = 4096;

/// The path with its repetitions gathered.
#[must_use]
pub fn sections(path: &[Step]) -> Vec<Section> {
    let mut found = Vec::new();
    let mut once = Vec::new();
    let mut at = 0;
    while at < path.len() {
        let Some((length, times, microbatches)) = repetition(&path[at..]) else {
            once.push(path[at]);
            at += 1;
            continue;
        };
        if !once.is_empty() {
            found.push(Section::Once(std::mem::take(&mut once)));
        }
        let ticks = path[at + length].start - path[at].start;
        found.push(Section::Cycle { turn: path[at..at + length].to_vec(), times, ticks, microbatches });
        at += length * times;
    }
    if !once.is_empty() {
        found.push(Section::Once(once));
    }
    found
}

/// The shortest turn that a path begins with, how often it comes, and by how many microbatches it
/// moves on each time.
fn repetition(path: &[Step]) -> Option<(usize, usize, u32)> {
    (1..=(path.len() / TURNS).min(LONGEST_TURN)).find_map(|length| {
        let moved = path[length].pass.microbatch.0.checked_sub(path[0].pass.microbatch.0)?;
        let ticks = path[length].start - path[0].start;
        let again = |(one, other): (&Step, &Step)| {
            (other.pass.stage, other.pass.kind, other.waits == one.waits || one.waits == Waits::Nothing)
                == (one.pass.stage, one.pass.kind, true)
                && other.pass.microbatch.0.checked_sub(one.pass.microbatch.0) == Some(moved)
                && other.start - one.start == ticks
        };
        let same = path.iter().zip(&path[length..]).take_while(|&pair| again(pair)).count();
        let times = same / length + 1;
        (times >= TURNS).then_some((length, times, moved))
    })
}
