//! A beam search in a corridor around a schedule.
//!
//! Passes are placed one after the other in the order of their starts, each as early as its device and its needs allow,
//! as in a dynamic program over states: how many passes of each class have begun, from when on each device is free, and
//! from when on each waiting pass may run. Of two states with the same counts, one that is nowhere later admits every
//! continuation of the other, which is dropped. So is what cannot end before the schedule that is to be beaten. Of the
//! rest only the best few are kept after each pass: those near the states of the given schedule first, which itself is
//! always among them. Where nothing else was dropped, no schedule is better.
//!
//! A state is better if the devices have idled less, or if it is nearer to the given schedule; how much of each counts,
//! varies from run to run.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use crate::kernel::{EndTimes, IndexedOrders, IndexedPass, IndexedProblem};
use crate::stop::Stop;

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

/// The problem with what is the same in all states.
pub(super) struct Corridor<'a> {
    problem: &'a IndexedProblem,
    /// Whether it is seen from the end of time, where the last microbatch comes first.
    is_reversed: bool,
    /// The classes that have passes.
    classes: Vec<Step>,
    /// By device: its classes, as positions, by what follows them, longest first.
    by_tail: Vec<Vec<usize>>,
    /// Passes placed so far: what the work is measured in.
    pub placed: usize,
}

/// A class, by what a step of the program needs.
struct Step {
    class: u32,
    device: usize,
    duration: i64,
    held: i64,
    /// The classes that it waits for, as positions, with the latencies.
    needs: Vec<(usize, i64)>,
    /// The longest chain of passes that follows, with its latencies.
    tail: i64,
}

impl Step {
    /// How many passes wait, after so many of them, at least one of whose needs has begun.
    fn waiting(&self, begun: &[u32], index: u32) -> usize {
        let most = self.needs.iter().map(|&(need, _)| begun[need]).max().unwrap_or(index);
        most.saturating_sub(index) as usize
    }
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
    /// Where it came from: the state before, and the class that was placed.
    parent: u32,
    placed: u32,
    /// The less, the better.
    cost: i64,
    is_given: bool,
}

/// What may be placed next.
struct Choice {
    at: usize,
    start: i64,
    end: i64,
    releases: bool,
    has_room: bool,
}

impl<'a> Corridor<'a> {
    /// Of a problem in which every microbatch has the same passes, or of one that is [reversed](IndexedProblem::reversed).
    pub(super) fn new(problem: &'a IndexedProblem, is_reversed: bool) -> Self {
        let devices = problem.work().len();
        let numbers: Vec<u32> = (0..devices).flat_map(|device| problem.on_device(device)).copied().collect();
        let place = |number: u32| numbers.iter().position(|&other| other == number);
        let mut classes: Vec<Step> = numbers
            .iter()
            .map(|&number| {
                let class = problem.class(number);
                let needs = class.needs.iter().filter_map(|need| Some((place(need.class)?, need.latency)));
                Step {
                    class: number,
                    device: class.device,
                    duration: class.duration,
                    held: class.held,
                    needs: needs.collect(),
                    tail: 0,
                }
            })
            .collect();
        // Chains are as long as there are classes, at most.
        for _ in 0..classes.len() {
            let mut is_longer = false;
            for at in 0..classes.len() {
                let whole = classes[at].duration + classes[at].tail;
                for (need, latency) in classes[at].needs.clone() {
                    is_longer |= classes[need].tail < latency + whole;
                    classes[need].tail = classes[need].tail.max(latency + whole);
                }
            }
            if !is_longer {
                break;
            }
        }
        let mut by_tail: Vec<Vec<usize>> = vec![Vec::new(); devices];
        for (at, step) in classes.iter().enumerate() {
            by_tail[step.device].push(at);
        }
        for on_device in &mut by_tail {
            on_device.sort_by_key(|&at| (-classes[at].tail, at));
        }
        Self { problem, is_reversed, classes, by_tail, placed: 0 }
    }

    /// Orders with a shorter makespan than these, if the search finds some before the work is done or it is time to stop.
    pub(super) fn shorter(
        &mut self,
        orders: &IndexedOrders,
        taste: Taste,
        work: usize,
        stop: &Stop,
    ) -> Option<IndexedOrders> {
        let (given, value) = self.sequence(orders)?;
        let limit = self.placed + work;
        let devices = self.by_tail.len();
        let mut level = vec![State {
            begun: vec![0; self.classes.len()],
            times: vec![0; devices],
            live: vec![0; devices],
            parent: 0,
            placed: 0,
            cost: 0,
            is_given: true,
        }];
        let mut history: Vec<Vec<(u32, u32)>> = Vec::with_capacity(given.len());
        for &next in &given {
            if stop.is_due() || self.placed > limit {
                return None;
            }
            let mut found = Vec::new();
            for (parent, state) in (0..).zip(&level) {
                let given = state.is_given.then_some(next);
                self.continue_from(state, parent, given, value, taste, &mut found);
            }
            level = undominated(found);
            let goal = level.iter().find(|state| state.is_given)?.begun.clone();
            for state in &mut level {
                let apart: u64 =
                    state.begun.iter().zip(&goal).map(|(&one, &other)| u64::from(one.abs_diff(other))).sum();
                let weight = i64::try_from(apart).unwrap_or(i64::MAX / 4);
                state.cost += weight.saturating_mul(taste.distance);
                if apart > taste.reach {
                    state.cost = state.cost.saturating_add(i64::MAX / 4);
                }
            }
            level.sort_by(State::compare);
            level.truncate(taste.width.max(1));
            history.push(level.iter().map(|state| (state.parent, state.placed)).collect());
        }
        let end = |state: &State| state.times[..devices].iter().copied().max().unwrap_or_default();
        let (mut at, best) = level.iter().enumerate().min_by_key(|(_, state)| end(state))?;
        if end(best) >= value {
            return None;
        }
        let mut placed: Vec<u32> = Vec::with_capacity(history.len());
        for level in history.iter().rev() {
            let (parent, class) = level[at];
            placed.push(class);
            at = parent as usize;
        }
        let mut begun = vec![0; self.classes.len()];
        let mut shorter: IndexedOrders = vec![Vec::new(); devices];
        for at in placed.into_iter().rev().map(|at| at as usize) {
            let Step { class, device, .. } = self.classes[at];
            shorter[device].push(IndexedPass { class, microbatch: self.turn(begun[at]) });
            begun[at] += 1;
        }
        Some(shorter)
    }

    /// Which microbatch comes in a turn, or in which turn a microbatch comes.
    const fn turn(&self, microbatch: u32) -> u32 {
        if self.is_reversed { self.problem.microbatches() - 1 - microbatch } else { microbatch }
    }

    /// The classes of orders by the starts of their passes, and the makespan; nothing where they cannot run, or
    /// microbatches overtake each other.
    fn sequence(&self, orders: &IndexedOrders) -> Option<(Vec<usize>, i64)> {
        let mut times = EndTimes::default();
        if !self.problem.asap(orders, &mut times) {
            return None;
        }
        let makespan = times.ends.iter().copied().max()?;
        let mut needed_by = vec![Vec::new(); self.classes.len()];
        for (at, step) in self.classes.iter().enumerate() {
            for &(need, _) in &step.needs {
                needed_by[need].push(at);
            }
        }
        let mut begun = vec![0; self.classes.len()];
        let mut next = vec![0; orders.len()];
        let mut sequence = Vec::with_capacity(self.problem.passes());
        // The next pass of each device, once all that it needs has begun, by its start.
        let mut ready = BinaryHeap::new();
        let mut is_ready = vec![false; orders.len()];
        let mut devices: Vec<usize> = (0..orders.len()).collect();
        loop {
            for &device in &devices {
                if is_ready[device] {
                    continue;
                }
                let Some(&pass) = orders[device].get(next[device]) else { continue };
                let mut on_device = self.by_tail[device].iter().copied();
                let at = on_device.find(|&at| self.classes[at].class == pass.class)?;
                let turn = self.turn(pass.microbatch);
                if begun[at] == turn && self.classes[at].needs.iter().all(|&(need, _)| begun[need] > turn) {
                    let class = self.problem.class_of(pass);
                    let start = times.ends[class.cell(pass.microbatch)] - class.duration;
                    ready.push(Reverse((start, device, at)));
                    is_ready[device] = true;
                }
            }
            let Some(Reverse((_, device, at))) = ready.pop() else { break };
            is_ready[device] = false;
            begun[at] += 1;
            next[device] += 1;
            sequence.push(at);
            devices.clear();
            devices.push(device);
            devices.extend(needed_by[at].iter().map(|&needing| self.classes[needing].device));
        }
        if sequence.len() < self.problem.passes() {
            return None;
        }
        Some((sequence, makespan))
    }

    /// All states with one more pass that may end before `value`, and the one of the given schedule.
    fn continue_from(
        &mut self,
        state: &State,
        parent: u32,
        given: Option<usize>,
        value: i64,
        taste: Taste,
        found: &mut Vec<State>,
    ) {
        let queues = self.queues(&state.begun);
        let choices: Vec<Choice> = (0..self.classes.len())
            .filter_map(|at| {
                let step = &self.classes[at];
                let index = state.begun[at];
                if index == self.problem.passes_in(step.class)
                    || step.needs.iter().any(|&(need, _)| state.begun[need] <= index)
                {
                    return None;
                }
                let free = state.times[step.device];
                let start = if step.needs.is_empty() { free } else { free.max(state.times[queues[at]]) };
                let has_room =
                    step.held <= 0 || state.live[step.device] + step.held <= self.problem.limits[step.device];
                Some(Choice { at, start, end: start + step.duration, releases: step.held <= 0, has_room })
            })
            .collect();
        for choice in choices.iter().filter(|choice| choice.has_room) {
            let is_given = given == Some(choice.at);
            let is_filled = |other: &Choice| {
                other.at != choice.at
                    && other.releases
                    && other.start < choice.start
                    && other.end <= choice.start
            };
            if !is_given && choices.iter().any(is_filled) {
                continue;
            }
            let next = self.after(state, &queues, choice);
            self.placed += next.times.len() / 2 + self.classes.len();
            let (least, cost) = self.judge(&next, taste);
            if least < value || is_given {
                found.push(State { parent, cost, is_given, ..next });
            }
        }
    }

    /// By class: where the times of its waiting passes begin.
    fn queues(&self, begun: &[u32]) -> Vec<usize> {
        let mut at = self.by_tail.len();
        let queues = self.classes.iter().zip(begun).map(|(step, &index)| {
            let begins = at;
            at += step.waiting(begun, index);
            begins
        });
        queues.collect()
    }

    fn after(&self, state: &State, queues: &[usize], choice: &Choice) -> State {
        let devices = self.by_tail.len();
        let placed = &self.classes[choice.at];
        let mut begun = state.begun.clone();
        begun[choice.at] += 1;
        let mut live = state.live.clone();
        live[placed.device] += placed.held;
        let mut times = Vec::with_capacity(state.times.len() + 2);
        // Passes are placed in the order of their starts: no device starts another before this one.
        times.extend(state.times[..devices].iter().map(|&free| free.max(choice.start)));
        times[placed.device] = choice.end;
        for (at, step) in self.classes.iter().enumerate() {
            let before = step.waiting(&state.begun, state.begun[at]);
            let mut queue = &state.times[queues[at]..queues[at] + before];
            if at == choice.at && before > 0 {
                queue = &queue[1..];
            }
            let arrives = step.needs.iter().find(|&&(need, _)| need == choice.at);
            // None starts before its device is free, nor before those in front of it have run.
            let mut earliest = times[step.device];
            let first = begun[at];
            let arrived =
                arrives.map(|&(_, latency)| ((begun[choice.at] - 1 - first) as usize, choice.end + latency));
            let count = arrived.map_or(queue.len(), |(place, _)| queue.len().max(place + 1));
            for place in 0..count {
                let known = queue.get(place).copied().unwrap_or(i64::MIN);
                let arrival = arrived.filter(|&(there, _)| there == place).map_or(i64::MIN, |(_, time)| time);
                earliest = earliest.max(known).max(arrival);
                times.push(earliest);
                earliest += step.duration;
            }
        }
        let placed = u32::try_from(choice.at).unwrap_or(u32::MAX);
        State { begun, times, live, parent: 0, placed, cost: 0, is_given: false }
    }

    /// The least end of all that follows a state, and what the state costs.
    fn judge(&self, state: &State, taste: Taste) -> (i64, i64) {
        let State { begun, times, .. } = state;
        let (mut least, mut cost) = (0, 0);
        let queues = self.queues(begun);
        for (device, on_device) in self.by_tail.iter().enumerate() {
            let free = times[device];
            let mut work = 0;
            let mut next = i64::MAX;
            for &at in on_device {
                let step = &self.classes[at];
                let left = self.problem.passes_in(step.class) - begun[at];
                if left == 0 {
                    continue;
                }
                work += step.duration * i64::from(left);
                least = least.max(free + work + step.tail);
                let waiting = step.waiting(begun, begun[at]);
                if waiting > 0 {
                    let last = times[queues[at] + waiting - 1];
                    least = least.max(last + step.duration + step.tail);
                    next = next.min(times[queues[at]]);
                } else if step.needs.is_empty() {
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
            .then_with(|| one.parent.cmp(&other.parent))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certificate::Objective;
    use crate::kernel::reverse;
    use crate::model::{Model, Placement, Units};
    use crate::optimize::exact::{self, Limits};
    use crate::optimize::feasible::serial;
    use crate::replay::replay;

    const WIDE: Taste = Taste { width: 100_000, reach: u64::MAX, distance: 0, looks_ahead: false };

    fn models() -> Vec<Model> {
        let mut models = Vec::new();
        for (placement, capacity) in [
            (Placement::v(2), 3),
            (Placement::v(3), 4),
            (Placement::linear(3), 2),
            (Placement::looped(2, 2), 3),
        ] {
            for costs in [[1, 1, 1, 0], [3, 4, 2, 1], [2, 1, 3, 0]] {
                let placement = placement.clone().expect("a placement");
                let model = Model::equal_stages(placement, 4, costs).expect("a model");
                models
                    .push(model.with_uniform_activation_capacity(Some(Units(capacity))).expect("a capacity"));
            }
        }
        models
    }

    /// What the search ends with when it goes on from all that it finds, forwards or backwards in time.
    fn shortest(model: &Model, taste: Taste, is_reversed: bool) -> i64 {
        let forward = IndexedProblem::split(model, &vec![false; model.stages() as usize]);
        let problem = if is_reversed { forward.reversed() } else { forward.clone() };
        let mut orders = forward.split_orders(&serial(model, false)).expect("Fs, Is and Ws");
        if is_reversed {
            reverse(&mut orders);
        }
        let value = |orders: &IndexedOrders| {
            let mut orders = orders.clone();
            if is_reversed {
                reverse(&mut orders);
            }
            let verdict = replay(model, &forward.schedule(model, &orders));
            assert!(verdict.is_valid(), "{:?}", verdict.violations);
            verdict.timing.expect("it is valid").metrics.makespan.0
        };
        let mut best = value(&orders);
        while let Some(shorter) =
            Corridor::new(&problem, is_reversed).shorter(&orders, taste, usize::MAX / 2, &Stop::default())
        {
            let reached = value(&shorter);
            assert!(reached < best, "{reached} is not below {best}");
            (orders, best) = (shorter, reached);
        }
        best
    }

    /// With all states kept, it is an exhaustive search; the engines for whole schedules know nothing of it.
    #[test]
    fn a_corridor_of_any_width_leads_to_the_optimum() {
        for model in models() {
            let known = serial(&model, false);
            let limits = Limits { stop: Stop::default(), effort: 400_000_000 };
            let exact = exact::solve(&model, Objective::Makespan, &known, &limits).expect("it is small");
            assert!(exact.proved_by.is_some());
            for is_reversed in [false, true] {
                assert_eq!(
                    shortest(&model, WIDE, is_reversed),
                    exact.value.0,
                    "{is_reversed} {}",
                    crate::model::print(&model)
                );
            }
        }
    }

    #[test]
    fn a_narrow_corridor_never_leads_astray() {
        for model in models() {
            for is_reversed in [false, true] {
                let optimum = shortest(&model, WIDE, is_reversed);
                for (reach, distance, looks_ahead) in [(0, 0, false), (2, 1, true), (u64::MAX, 5, true)] {
                    let taste = Taste { width: 8, reach, distance, looks_ahead };
                    assert!(shortest(&model, taste, is_reversed) >= optimum);
                }
            }
        }
    }

    #[test]
    fn it_stops_when_the_work_is_done_or_it_is_time() {
        let model = &models()[0];
        let problem = IndexedProblem::split(model, &vec![false; model.stages() as usize]);
        let orders = problem.split_orders(&serial(model, false)).expect("Fs, Is and Ws");
        let mut corridor = Corridor::new(&problem, false);
        assert_eq!(corridor.shorter(&orders, WIDE, 0, &Stop::default()), None);
        assert!(corridor.placed > 0);
        let over = Stop::after(std::time::Duration::ZERO);
        assert_eq!(corridor.shorter(&orders, WIDE, usize::MAX / 2, &over), None);
    }
}
