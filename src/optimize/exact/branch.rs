//! Branch and bound over the orders of the devices as they grow, each pass as early as it can.
//!
//! **Branching** (after Giffler and Thompson, Operations Research 8, 1960, pages 487 to 503). Among
//! all copies that could come next, take one that would end first, at `c`, on its device. In a best
//! schedule the device starts its next pass before `c`: otherwise that copy would fit in front of it
//! and delay nothing. So the branches are the copies of that device that can start before `c`. Memory
//! makes one exception. An I or W in front only releases sooner, but an F in front of others holds its
//! memory while they run, and where another row's F was to come before it, that may exceed the capacity. If
//! the copy is an F, the device has further rows of forwards and a capacity, each of these rows therefore
//! makes one branch more: nothing starts before `c`, and its F comes before any other.
//!
//! **Dominance.** What can follow depends on how many copies of each row are placed, on when each
//! device is free, and on when what its next copies need from other devices arrives. (Within a device
//! there is no latency: what is placed there has ended when the device is free.) A state that is
//! nowhere earlier than one met before, with the same copies placed, is left.
//!
//! **Bounds** are those of `bounds`, for what is left to do.

mod bounds;

use std::collections::HashMap;

use super::problem::{SequencingProblem, Starts};
use super::race::WorkMeter;
use super::{EngineResult, Task};
use crate::model::Kind;
use bounds::Bounds;

/// The largest time that the memory of states can hold.
const MAX_TIME: i64 = 1 << 31;

/// The most passes times devices. The search is as deep as there are passes; with more, and with more
/// devices sooner, it does not come to an end anyway.
const MAX_SIZE: usize = 8000;

/// The most states that are remembered, in times kept for them.
const MAX_REMEMBERED: usize = 60_000_000;

/// Whether the problem is within the engine's limits. The device span is beyond them: branching and dominance hold
/// where nothing is lost by starting sooner, and the first pass of a device may have to start later.
pub fn accepts(problem: &SequencingProblem, incumbent: i64) -> bool {
    if !problem.first.is_empty() {
        return false;
    }
    let lags: i64 = problem.rows.iter().flat_map(|row| row.needs.iter().map(|&(_, lag)| lag)).sum();
    incumbent + lags < MAX_TIME && problem.rows.len() * problem.copies * problem.devices.len() <= MAX_SIZE
}

/// Enumerates all orders that could be better than the incumbent.
pub fn solve(task: &Task<'_>, meter: &mut WorkMeter<'_>) -> EngineResult {
    let mut search = Search::new(task, meter);
    let ended = search.node();
    let best = search.best_starts.take().map(|starts| (search.best, starts));
    EngineResult { best, is_proved: ended.is_ok() || search.best <= task.lower_bound }
}

/// The meter says to end, or nothing can be better than what is found.
struct Ended;

/// What may be done next.
#[derive(Debug, Clone, Copy)]
enum Move {
    /// A copy of a row starts.
    Place { row: usize, start: i64 },
    /// A device starts nothing before an instant, and its next F is of a certain row.
    Wait { row: usize, until: i64 },
}

struct Search<'a, 'b, 'c> {
    problem: &'a SequencingProblem,
    lower: i64,
    meter: &'b mut WorkMeter<'c>,
    /// What a node counts for: it looks at every row a few times.
    work: u64,
    bounds: Bounds,
    best: i64,
    best_starts: Option<Starts>,
    state: State,
    /// By counts and promises: the earliest times at which they were met, none nowhere later than another.
    met: HashMap<Box<[u16]>, Vec<Box<[u32]>>>,
    remembered: usize,
}

/// Which copies are placed, and when.
#[derive(Debug, Clone)]
struct State {
    /// The starts of the copies placed, by row.
    starts: Starts,
    /// When each device is free.
    free: Vec<i64>,
    /// What is live on each device.
    live: Vec<i64>,
    /// The row whose F has to come next on a device.
    promised: Vec<Option<usize>>,
    /// How many copies are not placed yet.
    left: usize,
}

impl<'a, 'b, 'c> Search<'a, 'b, 'c> {
    fn new(task: &Task<'a>, meter: &'b mut WorkMeter<'c>) -> Self {
        let problem = task.problem;
        let (rows, devices) = (problem.rows.len(), problem.devices.len());
        let state = State {
            starts: vec![Vec::with_capacity(problem.copies); rows],
            free: vec![0; devices],
            live: vec![0; devices],
            promised: vec![None; devices],
            left: rows * problem.copies,
        };
        Self {
            problem,
            lower: task.lower_bound,
            meter,
            work: 1 + u64::try_from(rows).unwrap_or(u64::MAX) / 4,
            bounds: Bounds::new(problem),
            best: task.incumbent,
            best_starts: None,
            state,
            met: HashMap::new(),
            remembered: 0,
        }
    }

    /// Searches everything that can follow the state.
    fn node(&mut self) -> Result<(), Ended> {
        if self.meter.spend(self.work) {
            return Err(Ended);
        }
        if self.state.left == 0 {
            let value = self.problem.value(&self.state.starts);
            if value < self.best {
                self.best = value;
                self.best_starts = Some(self.state.starts.clone());
            }
            return if self.best <= self.lower { Err(Ended) } else { Ok(()) };
        }
        if self.was_met_earlier() {
            return Ok(());
        }
        let mut moves: Vec<(i64, i64, u8, Move)> = Vec::new();
        for next in self.moves() {
            let undo = self.make(next);
            let bound = self.bounds.least(self.problem, &self.state);
            self.take_back(next, undo);
            if bound < self.best {
                let (start, rank) = match next {
                    Move::Place { row, start } => (start, rank(self.problem.rows[row].kind)),
                    Move::Wait { until, .. } => (until, 3),
                };
                moves.push((bound, start, rank, next));
            }
        }
        moves.sort_by_key(|&(bound, start, rank, _)| (bound, start, rank));
        for (bound, _, _, next) in moves {
            if bound >= self.best {
                break;
            }
            let undo = self.make(next);
            let searched = self.node();
            self.take_back(next, undo);
            searched?;
        }
        Ok(())
    }

    /// The branches of the state; none when it leads nowhere.
    fn moves(&self) -> Vec<Move> {
        let ready: Vec<(usize, i64)> =
            (0..self.problem.rows.len()).filter_map(|row| Some((row, self.start_of_next(row)?))).collect();
        let end = |&(row, start): &(usize, i64)| start + self.problem.rows[row].duration;
        let Some(first) = ready.iter().min_by_key(|next| end(next)) else { return Vec::new() };
        let (row, until) = (first.0, end(first));
        let device = self.problem.rows[row].device;
        let mut moves: Vec<Move> = ready
            .iter()
            .filter(|&&(other, start)| self.problem.rows[other].device == device && start < until)
            .map(|&(row, start)| Move::Place { row, start })
            .collect();
        let holds = self.problem.rows[row].acquires > 0 && self.problem.capacities[device].is_some();
        if holds && self.state.promised[device].is_none() {
            let others = self.problem.devices[device].iter().filter(|&&other| {
                other != row
                    && self.problem.rows[other].kind == Kind::F
                    && self.state.starts[other].len() < self.problem.copies
            });
            moves.extend(others.map(|&row| Move::Wait { row, until }));
        }
        moves
    }

    /// When the next copy of a row can start; nothing when it cannot yet, or there is none.
    fn start_of_next(&self, row: usize) -> Option<i64> {
        let (state, problem) = (&self.state, self.problem);
        let copy = state.starts[row].len();
        let it = &problem.rows[row];
        if copy == problem.copies {
            return None;
        }
        if it.kind == Kind::F {
            let full = |capacity| state.live[it.device] + it.acquires > capacity;
            if state.promised[it.device].is_some_and(|promised| promised != row)
                || problem.capacities[it.device].is_some_and(full)
            {
                return None;
            }
        }
        let mut start = state.free[it.device];
        for &(before, lag) in &it.needs {
            let ended = state.starts[before].get(copy)? + problem.rows[before].duration;
            start = start.max(ended + lag);
        }
        Some(start)
    }

    /// Makes a move; gives back what [`take_back`](Self::take_back) needs.
    fn make(&mut self, next: Move) -> (i64, Option<usize>) {
        let row = match next {
            Move::Place { row, .. } | Move::Wait { row, .. } => row,
        };
        let it = &self.problem.rows[row];
        let undo = (self.state.free[it.device], self.state.promised[it.device]);
        match next {
            Move::Place { start, .. } => {
                self.state.starts[row].push(start);
                self.state.free[it.device] = start + it.duration;
                self.state.live[it.device] += it.acquires - it.releases;
                self.state.left -= 1;
                if it.kind == Kind::F {
                    self.state.promised[it.device] = None;
                }
            }
            Move::Wait { until, .. } => {
                self.state.free[it.device] = until;
                self.state.promised[it.device] = Some(row);
            }
        }
        undo
    }

    fn take_back(&mut self, last: Move, (free, promised): (i64, Option<usize>)) {
        let row = match last {
            Move::Place { row, .. } | Move::Wait { row, .. } => row,
        };
        let it = &self.problem.rows[row];
        self.state.free[it.device] = free;
        self.state.promised[it.device] = promised;
        if let Move::Place { .. } = last {
            self.state.starts[row].pop();
            self.state.live[it.device] -= it.acquires - it.releases;
            self.state.left += 1;
        }
    }

    /// Whether the same copies were placed before, no later anywhere; remembers the state otherwise.
    fn was_met_earlier(&mut self) -> bool {
        let mut times: Vec<u32> = self.state.free.iter().map(|&time| moment(time)).collect();
        for (at, row) in self.problem.rows.iter().enumerate() {
            let placed = self.state.starts[at].len();
            for &(before, lag) in &row.needs {
                let needed = &self.problem.rows[before];
                if needed.device == row.device {
                    continue;
                }
                let free = self.state.free[row.device];
                let pending = &self.state.starts[before][placed..];
                times.extend(pending.iter().map(|start| moment((start + needed.duration + lag).max(free))));
            }
        }
        let promised = |row: &Option<usize>| row.map_or(0, |row| row + 1);
        let key: Box<[u16]> = (self.state.starts.iter().map(Vec::len))
            .chain(self.state.promised.iter().map(promised))
            .map(|number| u16::try_from(number).expect("rows and copies are few"))
            .collect();
        let met = self.met.entry(key).or_default();
        let no_later = |one: &[u32], other: &[u32]| one.iter().zip(other).all(|(one, other)| one <= other);
        if met.iter().any(|other| no_later(other, &times)) {
            return true;
        }
        if self.remembered < MAX_REMEMBERED {
            let before = met.len();
            met.retain(|other| !no_later(&times, other));
            self.remembered -= (before - met.len()) * times.len();
            self.remembered += times.len();
            met.push(times.into_boxed_slice());
        }
        false
    }
}

/// What is tried first of moves that promise the same and start together.
const fn rank(kind: Kind) -> u8 {
    match kind {
        Kind::I | Kind::B => 0,
        Kind::F | Kind::R => 1,
        Kind::W => 2,
    }
}

/// A time that [`accepts`] found to fit. Times beyond the incumbent are pruned before they are kept.
fn moment(time: i64) -> u32 {
    u32::try_from(time).unwrap_or(u32::MAX)
}

fn count(copies: usize) -> i64 {
    i64::try_from(copies).expect("microbatches are counted in 32 bits")
}
