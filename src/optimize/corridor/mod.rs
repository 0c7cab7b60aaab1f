//! A beam search in a corridor around a schedule.
//!
//! Passes, and pairs of them, are placed one after the other in the order of their starts, each as early as its device and its
//! needs allow, as in a dynamic program over states: how many passes of each class have begun, from when on each device is
//! free, and from when on each waiting pass may run. Of two states with the same counts, one that is nowhere later admits every
//! continuation of the other, which is dropped. So is what cannot end before the schedule that is to be beaten. Of the
//! rest only the best few are kept after each pass: those near the states of the given schedule first, which itself is
//! always among them. Where nothing else was dropped, no schedule is better.
//!
//! A state is better if the devices have idled less, or if it is nearer to the given schedule; how much of each counts,
//! varies from run to run.

mod moves;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;

use crate::stop::Stop;
pub(super) use moves::{Moves, Sequence};

/// What states are kept by.
#[derive(Debug, Clone, Copy)]
pub(super) struct Taste {
    /// How many states are kept after each pass.
    pub width: usize,
    /// By how many passes the counts of a state may differ from those of the given schedule before all that differ
    /// by less come first.
    pub reach: u64,
    /// How many ticks of idle time each of these differences is worth.
    pub distance: i64,
    /// Whether idle time that is still to come, until the next pass is ready, counts.
    pub looks_ahead: bool,
}

impl Taste {
    /// Some taste with so many states.
    pub(super) fn random(width: usize, random: &mut fastrand::Rng) -> Self {
        Self {
            width,
            reach: [2, 6, 16, u64::MAX][random.usize(..4)],
            distance: [0, 0, 1, 5][random.usize(..4)],
            looks_ahead: random.bool(),
        }
    }
}

/// About the work of one state and one pass.
pub(super) const WORK_OF_STATE: usize = 300;

/// How many states are kept after each pass, at the least and at the most.
pub(super) const NARROWEST: usize = 4;
pub(super) const WIDEST: usize = 400;

/// A search among schedules of some moves.
pub(super) struct Corridor<'a> {
    moves: &'a Moves,
    /// Passes placed so far: what the work is measured in.
    pub placed: usize,
}

/// What has been placed so far.
#[derive(Clone)]
struct State {
    /// By class: how many passes have begun.
    begun: Vec<u32>,
    /// By device from when on it is free; then, by class, from when on those passes may run, as far as is known, of
    /// which at least one need has begun.
    times: Vec<i64>,
    /// By device: what is live.
    live: Vec<i64>,
    origin: Origin,
    /// The less, the better.
    cost: i64,
    is_given: bool,
}

/// Where a state came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Origin {
    /// How many passes had been placed, and which of the states that were kept then it was.
    passes: usize,
    state: usize,
    /// The move that was placed.
    placed: usize,
}

/// What may be placed next.
struct Choice {
    at: usize,
    start: i64,
    end: i64,
    fills: bool,
    has_room: bool,
}

impl<'a> Corridor<'a> {
    pub(super) const fn new(moves: &'a Moves) -> Self {
        Self { moves, placed: 0 }
    }

    /// A sequence with a shorter makespan than this one, if the search finds some before the work is done or it is time to stop.
    pub(super) fn shorter(
        &mut self,
        given: &Sequence,
        taste: Taste,
        work: usize,
        stop: &Stop,
    ) -> Option<Vec<usize>> {
        let value = given.makespan;
        let limit = self.placed + work;
        let (all, devices) = (self.moves.passes(), self.moves.by_tail.len());
        // By number of passes: the states that were found, and those that were kept.
        let mut found: Vec<Vec<State>> = (0..=all).map(|_| Vec::new()).collect();
        let mut history: Vec<Vec<Origin>> = Vec::with_capacity(all);
        found[0].push(State {
            begun: vec![0; self.moves.classes.len()],
            times: vec![0; devices],
            live: vec![0; devices],
            origin: Origin { passes: 0, state: 0, placed: 0 },
            cost: 0,
            is_given: true,
        });
        // What has begun in the given sequence after at most so many passes, and which moves are next.
        let mut goal = vec![0; self.moves.classes.len()];
        let (mut reached, mut next) = (0, given.moves.iter().copied().peekable());
        for passes in 0..all {
            if stop.is_due() || self.placed > limit {
                return None;
            }
            let level = Self::kept(std::mem::take(&mut found[passes]), &goal, taste);
            let placed = next.next_if(|_| reached == passes);
            for (at, state) in level.iter().enumerate() {
                let given = placed.filter(|_| state.is_given);
                let origin = Origin { passes, state: at, placed: 0 };
                self.continue_from(state, origin, given, value, taste, &mut found);
            }
            history.push(level.iter().map(|state| state.origin).collect());
            for class in placed.into_iter().flat_map(|placed| self.moves.all[placed].classes()) {
                goal[class] += 1;
                reached += 1;
            }
        }
        let end = |state: &State| state.times[..devices].iter().copied().max().unwrap_or_default();
        let last = Self::kept(std::mem::take(&mut found[all]), &goal, taste);
        let best = last.iter().min_by_key(|state| end(state))?;
        if end(best) >= value {
            return None;
        }
        let mut sequence = Vec::with_capacity(given.moves.len());
        let (mut origin, mut passes) = (best.origin, all);
        while passes > 0 {
            sequence.push(origin.placed);
            passes = origin.passes;
            origin = history[passes][origin.state];
        }
        sequence.reverse();
        Some(sequence)
    }

    /// The states to go on from: of those near the goal first, the best, as many as are kept.
    fn kept(found: Vec<State>, goal: &[u32], taste: Taste) -> Vec<State> {
        let mut level = undominated(found);
        for state in &mut level {
            let apart: u64 =
                state.begun.iter().zip(goal).map(|(&one, &other)| u64::from(one.abs_diff(other))).sum();
            let weight = i64::try_from(apart).unwrap_or(i64::MAX / 4);
            state.cost += weight.saturating_mul(taste.distance);
            if apart > taste.reach {
                state.cost = state.cost.saturating_add(i64::MAX / 4);
            }
        }
        level.sort_by(State::compare);
        level.truncate(taste.width.max(1));
        level
    }

    /// Adds all states with one more move that may end before `value`, and the one of the given sequence.
    fn continue_from(
        &mut self,
        state: &State,
        origin: Origin,
        given: Option<usize>,
        value: i64,
        taste: Taste,
        found: &mut [Vec<State>],
    ) {
        let queues = self.queues(&state.begun);
        let moves = self.moves;
        let choices: Vec<Choice> = (0..moves.all.len())
            .filter_map(|at| {
                let moved = &moves.all[at];
                let mut start = state.times[moved.device];
                for &waiting in &moved.ready {
                    let class = &moves.classes[waiting];
                    let index = state.begun[waiting];
                    if index == moves.microbatches
                        || class.needs.iter().any(|&(need, _)| state.begun[need] <= index)
                    {
                        return None;
                    }
                    if !class.needs.is_empty() {
                        start = start.max(state.times[queues[waiting]]);
                    }
                }
                let has_room = moved.acquires <= 0
                    || state.live[moved.device] + moved.acquires <= moves.limits[moved.device];
                Some(Choice {
                    at,
                    start,
                    end: start + moved.duration,
                    fills: moved.fills && has_room,
                    has_room,
                })
            })
            .collect();
        for choice in &choices {
            let is_given = given == Some(choice.at);
            // What room buffers take is not quite known.
            if !choice.has_room && !is_given {
                continue;
            }
            let is_filled = |other: &Choice| {
                other.at != choice.at
                    && other.fills
                    && other.start < choice.start
                    && other.end <= choice.start
            };
            if !is_given && choices.iter().any(is_filled) {
                continue;
            }
            let next = self.after(state, &queues, choice);
            self.placed += next.times.len() / 2 + moves.classes.len();
            let (least, cost) = self.judge(&next, taste);
            if least < value || is_given {
                let passes = origin.passes + moves.all[choice.at].classes().count();
                let origin = Origin { placed: choice.at, ..origin };
                found[passes].push(State { origin, cost, is_given, ..next });
            }
        }
    }

    /// By class: where the times of its waiting passes begin.
    fn queues(&self, begun: &[u32]) -> Vec<usize> {
        let mut at = self.moves.by_tail.len();
        let queues = self.moves.classes.iter().zip(begun).map(|(class, &index)| {
            let begins = at;
            at += class.waiting(begun, index);
            begins
        });
        queues.collect()
    }

    fn after(&self, state: &State, queues: &[usize], choice: &Choice) -> State {
        let moves = self.moves;
        let devices = moves.by_tail.len();
        let moved = &moves.all[choice.at];
        let (mut begun, mut live) = (state.begun.clone(), state.live.clone());
        for class in moved.classes() {
            begun[class] += 1;
            live[moved.device] += moves.classes[class].held;
            if let Some((to, buffer)) = moves.classes[class].sends {
                live[to] += buffer;
            }
        }
        let mut times = Vec::with_capacity(state.times.len() + 2);
        // Passes are placed in the order of their starts: no device starts another before this one.
        times.extend(state.times[..devices].iter().map(|&free| free.max(choice.start)));
        times[moved.device] = choice.end;
        for (at, class) in moves.classes.iter().enumerate() {
            let before = class.waiting(&state.begun, state.begun[at]);
            let mut queue = &state.times[queues[at]..queues[at] + before];
            if before > 0 && moved.classes().any(|placed| placed == at) {
                queue = &queue[1..];
            }
            // None starts before its device is free, nor before those in front of it have run.
            let mut earliest = times[class.device];
            let first = begun[at];
            for place in 0..class.waiting(&begun, first) {
                let known = queue.get(place).copied().unwrap_or(i64::MIN);
                let arrives = |need: usize| {
                    let last = (begun[need] as usize).checked_sub(first as usize + 1);
                    last == Some(place) && moved.classes().any(|placed| placed == need)
                };
                let arrivals = class.needs.iter().filter(|&&(need, _)| arrives(need));
                let arrival = arrivals.map(|&(_, latency)| choice.end + latency).max().unwrap_or(i64::MIN);
                earliest = earliest.max(known).max(arrival);
                times.push(earliest);
                earliest += class.duration;
            }
        }
        State { begun, times, live, origin: state.origin, cost: 0, is_given: false }
    }

    /// The least end of all that follows a state, and what the state costs.
    fn judge(&self, state: &State, taste: Taste) -> (i64, i64) {
        let State { begun, times, .. } = state;
        let (mut least, mut cost) = (0, 0);
        let queues = self.queues(begun);
        for (device, on_device) in self.moves.by_tail.iter().enumerate() {
            let free = times[device];
            let mut work = 0;
            let mut next = i64::MAX;
            for &at in on_device {
                let class = &self.moves.classes[at];
                let left = self.moves.microbatches - begun[at];
                if left == 0 {
                    continue;
                }
                work += class.work * i64::from(left);
                least = least.max(free + work + class.tail);
                let waiting = class.waiting(begun, begun[at]);
                if waiting > 0 {
                    let last = times[queues[at] + waiting - 1];
                    least = least.max(last + class.duration + class.tail);
                    next = next.min(times[queues[at]]);
                } else if class.needs.is_empty() {
                    next = next.min(free);
                }
            }
            cost += free + work;
            if taste.looks_ahead && next != i64::MAX {
                cost += (next - free).max(0);
            }
            least = least.max(free + work);
        }
        (least, cost)
    }
}

impl State {
    /// The given one first, then by cost; what is left decides equals, so that the order is always the same.
    fn compare(&self, other: &Self) -> Ordering {
        other
            .is_given
            .cmp(&self.is_given)
            .then_with(|| self.cost.cmp(&other.cost))
            .then_with(|| self.begun.cmp(&other.begun))
            .then_with(|| self.times.cmp(&other.times))
    }
}

/// The states that are not dominated by others. What dominates the given one takes its place.
fn undominated(mut found: Vec<State>) -> Vec<State> {
    found.sort_by(|one, other| {
        one.begun
            .cmp(&other.begun)
            .then_with(|| one.times.cmp(&other.times))
            .then_with(|| one.origin.cmp(&other.origin))
    });
    let mut kept: Vec<State> = Vec::with_capacity(found.len());
    let mut group = 0;
    for state in found {
        if kept.get(group).is_none_or(|first| first.begun != state.begun) {
            group = kept.len();
        }
        // Sorted by times, none is dominated by a later one.
        let earlier = kept[group..].iter_mut();
        let mut better =
            earlier.filter(|other| other.times.iter().zip(&state.times).all(|(one, other)| one <= other));
        match better.next() {
            Some(better) => better.is_given |= state.is_given,
            None => kept.push(state),
        }
    }
    kept
}
