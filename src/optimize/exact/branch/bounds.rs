//! Lower bounds on the value of everything that can follow a state.
//!
//! - **Chains**: no copy starts before what it needs, nor before the earlier copies of its row.
//! - **One device**: whatever is left of some of its rows starts no sooner than the soonest of their
//!   next copies, takes all their time, and is followed by the least of their tails.
//! - **Last window**: once the last F of a device has started, all its backward work to come is of what
//!   is live. The rest of its work comes before the end of that F, and the tail of an F after it.
//! - **Turnover**: a device that holds at most q microbatches of its highest stage starts that stage's
//!   F for the (j+q)-th time at least a turn after the j-th, the time from that F to the first release
//!   of its microbatch (the bound of that name in the `certificate` module, for what is left).

use num_integer::Integer;

use super::State;
use crate::model::Kind;
use crate::optimize::exact::problem::SequencingProblem;

/// What a problem's bounds need to know beforehand.
#[derive(Debug, Clone)]
pub struct Bounds {
    devices: Vec<Device>,
    /// By row: the earliest start of the next copy, and of the last one.
    next: Vec<i64>,
    last: Vec<i64>,
}

#[derive(Debug, Clone, Default)]
struct Device {
    /// The most backward work that is live at once, where a capacity limits it.
    live_work: Option<i64>,
    /// The row of the highest stage's F, how many microbatches are held, and the turn.
    turnover: Option<(usize, i64, i64)>,
}

impl Bounds {
    pub fn new(problem: &SequencingProblem) -> Self {
        let device = |(rows, capacity): (&Vec<usize>, &Option<i64>)| match *capacity {
            Some(capacity) => Device {
                live_work: live_work(problem, rows, capacity),
                turnover: turnover(problem, rows, capacity),
            },
            None => Device::default(),
        };
        let devices = problem.devices.iter().zip(&problem.capacities).map(device).collect();
        Self { devices, next: vec![0; problem.rows.len()], last: vec![0; problem.rows.len()] }
    }

    /// No schedule that begins like the state has a value below this.
    pub fn least(&mut self, problem: &SequencingProblem, state: &State) -> i64 {
        let mut least = self.chains(problem, state);
        for (device, rows) in problem.devices.iter().enumerate() {
            least = least.max(self.one_device(problem, state, rows));
            let Device { live_work, turnover } = self.devices[device];
            if let Some(work) = live_work {
                least = least.max(last_window(problem, state, rows, device, work));
            }
            if let Some((row, held, turn)) = turnover {
                let left = left(problem, state, row);
                if left > 0 {
                    let duration = problem.rows[row].duration;
                    let last = self.next[row] + (left - 1) / held * turn + (left - 1) % held * duration;
                    least = least.max(last + duration + problem.rows[row].tail);
                }
            }
        }
        least
    }

    /// Sets the earliest starts of the next and the last copies.
    fn chains(&mut self, problem: &SequencingProblem, state: &State) -> i64 {
        let mut least = i64::MIN;
        for (at, row) in problem.rows.iter().enumerate() {
            let left = left(problem, state, at);
            if left == 0 {
                let end = state.starts[at][problem.copies - 1] + row.duration;
                least = least.max(end + row.tail);
                continue;
            }
            let copy = state.starts[at].len();
            let (mut next, mut last) = (state.free[row.device], i64::MIN);
            for &(before, lag) in &row.needs {
                let placed = &state.starts[before];
                let distance = problem.rows[before].duration + lag;
                next = next.max(placed.get(copy).copied().unwrap_or(self.next[before]) + distance);
                last =
                    last.max(placed.get(problem.copies - 1).copied().unwrap_or(self.last[before]) + distance);
            }
            self.next[at] = next;
            self.last[at] = last.max(next + (left - 1) * row.duration);
            least = least.max(self.last[at] + row.duration + row.tail);
        }
        least
    }

    fn one_device(&self, problem: &SequencingProblem, state: &State, rows: &[usize]) -> i64 {
        let mut least = i64::MIN;
        for &soonest in rows {
            if left(problem, state, soonest) == 0 {
                continue;
            }
            for &shortest in rows {
                let mut work = 0;
                for &row in rows {
                    let it = &problem.rows[row];
                    if self.next[row] >= self.next[soonest] && it.tail >= problem.rows[shortest].tail {
                        work += left(problem, state, row) * it.duration;
                    }
                }
                if work > 0 {
                    least = least.max(self.next[soonest] + work + problem.rows[shortest].tail);
                }
            }
        }
        least
    }
}

/// How many copies of a row are not placed yet.
fn left(problem: &SequencingProblem, state: &State, row: usize) -> i64 {
    super::count(problem.copies - state.starts[row].len())
}

fn last_window(
    problem: &SequencingProblem,
    state: &State,
    rows: &[usize],
    device: usize,
    live_work: i64,
) -> i64 {
    let forwards =
        rows.iter().filter(|&&row| problem.rows[row].kind == Kind::F && left(problem, state, row) > 0);
    let Some(tail) = forwards.map(|&row| problem.rows[row].tail).min() else { return i64::MIN };
    let work: i64 = rows.iter().map(|&row| left(problem, state, row) * problem.rows[row].duration).sum();
    state.free[device] + (work - live_work) + tail
}

/// The most work of I and W that what is live can stand for: no unit of memory stands for more than
/// the densest stage, held whole or only for its W.
fn live_work(problem: &SequencingProblem, rows: &[usize], capacity: i64) -> Option<i64> {
    let mut most = 0;
    for &forward in rows.iter().filter(|&&row| problem.rows[row].kind == Kind::F) {
        let of_stage = |kind| {
            let mut rows = rows.iter().map(|&row| &problem.rows[row]);
            rows.find(|row| row.stage == problem.rows[forward].stage && row.kind == kind)
        };
        let (input, weight) = (of_stage(Kind::I)?, of_stage(Kind::W));
        let later = weight.map_or(0, |row| row.duration);
        let whole = (input.duration + later, problem.rows[forward].acquires);
        let part = (later, weight.map_or(0, |row| row.releases));
        for (work, held) in [whole, part] {
            if work > 0 {
                let dense = (held > 0).then(|| capacity.checked_mul(work)).flatten()?;
                most = most.max(Integer::div_floor(&dense, &held));
            }
        }
    }
    Some(most)
}

/// How many microbatches a device holds at most, counted at its highest stage, and how long the
/// earliest release of one comes after that stage's F has started.
fn turnover(problem: &SequencingProblem, rows: &[usize], capacity: i64) -> Option<(usize, i64, i64)> {
    let forwards = || rows.iter().copied().filter(|&row| problem.rows[row].kind == Kind::F);
    let highest = forwards().max()?;
    let lightest = forwards().map(|row| problem.rows[row].acquires).min().filter(|&units| units > 0)?;
    let held = capacity / lightest / super::count(forwards().count());
    // The longest chain from the start of that F to the end of every row behind it.
    let mut ends: Vec<Option<i64>> = vec![None; problem.rows.len()];
    ends[highest] = Some(problem.rows[highest].duration);
    for at in highest + 1..problem.rows.len() {
        let chains = problem.rows[at].needs.iter().filter_map(|&(before, lag)| Some(ends[before]? + lag));
        ends[at] = chains.max().map(|start| start + problem.rows[at].duration);
    }
    let releases = rows.iter().filter(|&&row| problem.rows[row].releases > 0);
    let turn = releases.map(|&row| ends[row]).min()??;
    (held > 0).then_some((highest, held, turn))
}
