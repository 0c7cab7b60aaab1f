//! The peer's clock: when everything runs, and which stage is to blame.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::PeerSchedule;
use super::line::{Action, Kind, Line};
use super::lowering::{steps, with_messages};
use super::orders::orders;

/// What a stage costs, in ticks.
#[derive(Debug, Clone, Copy)]
pub struct StageCosts {
    pub forward: i64,
    pub backward: i64,
    pub input: i64,
    pub weight: i64,
    /// The message to the next stage, and that from it.
    pub message: i64,
}

/// Actions and what they wait for. An action runs as soon as what it needs has ended, and what comes before it: passes follow
/// the passes of their device, messages its messages. Sending takes as long as the message, receiving takes no time but waits
/// for the sending, so a message that is late holds up the messages after it.
pub struct Graph {
    /// Device by device, in the order of each. Earlier actions win ties.
    actions: Vec<Action>,
    needs: Vec<Vec<usize>>,
    /// The actions, each after what it waits for.
    topological: Vec<usize>,
    /// Whether an action belongs to the steady phase.
    steady: Vec<bool>,
    stages: usize,
}

impl Graph {
    pub fn new(schedule: PeerSchedule, devices: usize, microbatches: usize) -> Self {
        let stages = devices * schedule.chunks();
        let gradient = if schedule.splits() { Kind::I } else { Kind::B };
        let line = Line { devices, stages, gradient };
        let rows = with_messages(&orders(schedule, devices, microbatches), line);
        let actions: Vec<Action> = rows.concat();
        let place: HashMap<Action, usize> = actions.iter().enumerate().map(|(at, &a)| (a, at)).collect();
        let mut needs: Vec<Vec<usize>> = actions
            .iter()
            .map(|&action| line.needs(action).iter().map(|need| place[need]).collect())
            .collect();
        for row in &rows {
            let (passes, messages): (Vec<_>, Vec<_>) = row.iter().partition(|action| action.kind.computes());
            for pair in passes.windows(2).chain(messages.windows(2)) {
                needs[place[&pair[1]]].push(place[&pair[0]]);
            }
        }
        let topological = topological(&needs);
        let steady = steady(&actions, &steps(&rows, line), gradient);
        Self { actions, needs, topological, steady, stages }
    }

    /// The end of the last action, and the critical stage: that with the most time on the critical path within the steady
    /// phase, or on all of it if none of it is steady. Ties go to the first stage.
    pub fn run(&self, costs: &[StageCosts]) -> (i64, usize) {
        assert_eq!(costs.len(), self.stages, "costs for each stage");
        let mut ends = vec![0; self.actions.len()];
        let mut held_by = vec![None; self.actions.len()];
        for &at in &self.topological {
            let last = self.needs[at].iter().copied().max_by_key(|&need| (ends[need], Reverse(need)));
            held_by[at] = last;
            ends[at] = last.map_or(0, |need| ends[need]) + duration(self.actions[at], costs);
        }
        let end = (0..ends.len()).max_by_key(|&at| (ends[at], Reverse(at))).expect("there are passes");
        let path: Vec<usize> = std::iter::successors(Some(end), |&at| held_by[at]).collect();
        let critical = self
            .most(path.iter().copied().filter(|&at| self.steady[at]), costs)
            .or_else(|| self.most(path.iter().copied(), costs));
        (ends[end], critical.expect("a path has actions"))
    }

    fn most(&self, path: impl Iterator<Item = usize>, costs: &[StageCosts]) -> Option<usize> {
        let mut times: Vec<Option<i64>> = vec![None; self.stages];
        for at in path {
            let action = self.actions[at];
            *times[action.stage].get_or_insert(0) += duration(action, costs);
        }
        let there =
            times.iter().enumerate().filter_map(|(stage, time)| time.map(|time| (time, Reverse(stage))));
        there.max().map(|(_, Reverse(stage))| stage)
    }
}

fn duration(action: Action, costs: &[StageCosts]) -> i64 {
    match action.kind {
        Kind::F => costs[action.stage].forward,
        Kind::B => costs[action.stage].backward,
        Kind::I => costs[action.stage].input,
        Kind::W => costs[action.stage].weight,
        Kind::SendForward => costs[action.stage].message,
        Kind::SendBackward => costs[action.stage - 1].message,
        Kind::ReceiveForward | Kind::ReceiveBackward => 0,
    }
}

/// The steady phase is from the step of the first backward to that of the last forward, and at least one step.
fn steady(actions: &[Action], steps: &HashMap<Action, usize>, gradient: Kind) -> Vec<bool> {
    let of = |kind| actions.iter().filter(move |action| action.kind == kind).map(|action| steps[action]);
    let first = of(gradient).min().expect("there are backwards");
    let last = of(Kind::F).max().expect("there are forwards").max(first);
    actions.iter().map(|action| (first..=last).contains(&steps[action])).collect()
}

fn topological(needs: &[Vec<usize>]) -> Vec<usize> {
    let mut open: Vec<usize> = needs.iter().map(Vec::len).collect();
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); needs.len()];
    for (at, its) in needs.iter().enumerate() {
        for &need in its {
            after[need].push(at);
        }
    }
    let mut order: Vec<usize> = (0..needs.len()).filter(|&at| open[at] == 0).collect();
    let mut done = 0;
    while done < order.len() {
        for &at in &after[order[done]] {
            open[at] -= 1;
            if open[at] == 0 {
                order.push(at);
            }
        }
        done += 1;
    }
    assert_eq!(order.len(), needs.len(), "the schedule cannot run");
    order
}
