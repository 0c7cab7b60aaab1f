//! V placement, from the first device to the last.
//!
//! **Which patterns count.** Take what a pattern reaches within a zone. The pattern with F1, I1 and
//! I0 one interval later reaches just the same with x one larger, which the devices behind can only
//! use; so where the zone and the capacity allow that, the first pattern is not needed. The same with z;
//! and with y the other way round. What is left is: y less than an interval above Y, and either
//! nothing that holds more fits under the capacity and under S, or X and Z are both reached.

use super::pattern::{Figures, NODES, Pattern, Shape};
use super::pipeline::{Pipeline, Scale};
use super::{Time, ZoneError};
use crate::stop::Stop;

/// The nodes of a device: F0, F1, I1, I0.
const F0: usize = 0;
const F1: usize = 1;
const I1: usize = 2;
const I0: usize = 3;

/// What is reachable: `{x <= most_x, y >= least_y, z <= most_z, x+y+z <= most_sum}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Zone<T> {
    least_y: T,
    most_x: T,
    most_z: T,
    most_sum: T,
}

impl<T: Time> Zone<T> {
    /// Whether everything reachable in the other zone is reachable in this one.
    fn contains(&self, other: &Self) -> bool {
        self.least_y <= other.least_y
            && self.most_x >= other.most_x
            && self.most_z >= other.most_z
            && self.most_sum >= other.most_sum
    }

    /// The larger, the more the devices behind can probably choose from. What they need of x and of z
    /// is about the same, so it counts how large the smaller of both can be.
    fn room(&self) -> T {
        self.most_x.min(self.most_z) + self.most_sum - self.least_y
    }
}

/// A zone with the choice that led to it.
#[derive(Debug, Clone, Copy)]
struct State<T> {
    zone: Zone<T>,
    /// Which shape of the device, and the repetition of each node.
    shape: usize,
    copy: [i64; NODES],
    before: usize,
}

/// A shape with its distances at an interval.
struct Scaled<T> {
    /// Which one of the device it is.
    index: usize,
    base: i64,
    /// `after[u][v]`: v starts at least this much after u when both lie in repetition 0.
    after: [[T; NODES]; NODES],
    /// At least this many repetitions between F and I, by chunk.
    least_copies: [i64; 2],
}

/// How many states of a device are tried at first: where there are patterns that go together, the
/// states that leave most room nearly always lead to some.
const FEW: usize = 4;

/// Patterns that go together at an interval, in the order of the devices, if there are any.
pub(super) fn solve<T: Time>(
    pipeline: &Pipeline<'_>,
    scale: Scale<T>,
) -> Result<Option<Vec<Pattern>>, ZoneError> {
    match solve_within(pipeline, scale, FEW)? {
        Sweep::Found(patterns) => Ok(Some(patterns)),
        Sweep::None { all: true } => Ok(None),
        Sweep::None { all: false } => match solve_within(pipeline, scale, usize::MAX)? {
            Sweep::Found(patterns) => Ok(Some(patterns)),
            Sweep::None { .. } => Ok(None),
        },
    }
}

enum Sweep {
    Found(Vec<Pattern>),
    /// Nothing, among all patterns or only those that go on from the states that were kept.
    None {
        all: bool,
    },
}

/// The program with at most this many states of a device: those that leave most room.
fn solve_within<T: Time>(pipeline: &Pipeline<'_>, scale: Scale<T>, width: usize) -> Result<Sweep, ZoneError> {
    let mut all = true;
    let devices = pipeline.figures.len();
    let mut layers: Vec<Vec<State<T>>> = Vec::with_capacity(devices);
    let mut incoming: Vec<Zone<T>> = Vec::new();
    for (device, figures) in pipeline.figures.iter().enumerate() {
        let place = |node| pipeline.position(device, node);
        let least = |from, to| scale.ticks(pipeline.lag(place(from), place(to)));
        let most = |from, to| {
            let links = i64::try_from(place(to) - place(from)).unwrap_or(i64::MAX / 8);
            least(from, to) + scale.turns(links * pipeline.most_wait)
        };
        let (least_x, least_z) = (least(F0, F1), least(I1, I0));
        let (most_x, most_z) = (most(F0, F1), most(I1, I0));
        if device == 0 {
            let (least_y, most_sum) = (least(F1, I1), most(F0, I0));
            let most_sum = pipeline.longest.map_or(most_sum, |longest| most_sum.min(scale.ticks(longest)));
            incoming.push(Zone { least_y, most_x, most_z, most_sum });
        }
        let mut layer = Layer {
            figures,
            scale,
            least_x,
            least_z,
            reached: Vec::new(),
            stop: pipeline.stop,
            is_cut: false,
            asked: 0,
        };
        let shapes: Vec<Scaled<T>> =
            pipeline.shapes[device].iter().enumerate().filter_map(|of| layer.scaled(of)).collect();
        for (before, zone) in incoming.iter_mut().enumerate() {
            if pipeline.stop.is_due() {
                return Err(ZoneError::TimeUp);
            }
            zone.most_x = zone.most_x.min(most_x);
            zone.most_z = zone.most_z.min(most_z);
            for shape in &shapes {
                layer.extend(zone, before, shape);
            }
            if layer.is_cut {
                return Err(ZoneError::TimeUp);
            }
        }
        let mut reached = layer.reached;
        if reached.is_empty() {
            return Ok(Sweep::None { all });
        }
        reached.sort_unstable_by_key(|state| state.zone);
        if reached.len() > width {
            reached.sort_by_key(|state| -state.zone.room());
            reached.truncate(width);
            all = false;
        }
        if device + 1 < devices {
            incoming = reached.iter().map(|state| pushed(pipeline, scale, device, &state.zone)).collect();
        }
        layers.push(reached);
    }
    let mut at = 0;
    let mut patterns: Vec<Pattern> = layers
        .iter()
        .zip(&pipeline.shapes)
        .rev()
        .map(|(layer, shapes)| {
            let State { shape, copy, before, .. } = layer[at];
            at = before;
            Pattern { shape: shapes[shape], copy }
        })
        .collect();
    patterns.reverse();
    Ok(Sweep::Found(patterns))
}

/// The states of a device while they are gathered.
struct Layer<'a, T> {
    figures: &'a Figures,
    scale: Scale<T>,
    least_x: T,
    least_z: T,
    reached: Vec<State<T>>,
    stop: &'a Stop,
    /// Whether it was time to stop before everything had been tried.
    is_cut: bool,
    /// How often that has been asked.
    asked: u32,
}

impl<T: Time> Layer<'_, T> {
    /// A shape at the interval, if it fits into one.
    fn scaled(&self, (index, shape): (usize, &Shape)) -> Option<Scaled<T>> {
        let mut after = [[T::zero(); NODES]; NODES];
        for (from, row) in after.iter_mut().enumerate() {
            for (to, after) in row.iter_mut().enumerate().filter(|(to, _)| *to != from) {
                let distance = shape.distance(from, to);
                *after = self.scale.ticks(distance.length) - self.scale.turns(i64::from(distance.wraps));
            }
        }
        let fits = after[F0][F1] + after[F1][F0] <= T::zero();
        let least_copies = [0, 1].map(|chunk| shape.least_copies(self.figures, chunk));
        fits.then_some(Scaled { index, base: shape.base, after, least_copies })
    }

    /// Adds what a shape reaches from a zone.
    fn extend(&mut self, zone: &Zone<T>, before: usize, shape: &Scaled<T>) {
        let (scale, figures, after) = (self.scale, self.figures, &shape.after);
        let holds = figures.by_forward.map(i128::from);
        let room = i128::from(figures.capacity) - i128::from(shape.base);
        // Along a distance from u to v in n repetitions: after[u][v] + nT to nT - after[v][u].
        let top = |most: T, from: usize, to: usize| scale.floor(most - after[from][to]);
        let bottom = |least: T, from: usize, to: usize| scale.ceil(least + after[to][from]);
        let (top_x, top_z) = (top(zone.most_x, F0, F1), top(zone.most_z, I1, I0));
        let (bottom_x, bottom_z) = (bottom(self.least_x, F0, F1), bottom(self.least_z, I1, I0));
        let top_sum = top(zone.most_sum, F0, I0);
        // One interval more than these would surely still be within the zone.
        let sure = |most: T, from: usize, to: usize| scale.floor(most + after[to][from]) - 1;
        let (sure_x, sure_z) = (sure(zone.most_x, F0, F1), sure(zone.most_z, I1, I0));
        let sure_sum = sure(zone.most_sum, F0, I0);
        let first_y = bottom(zone.least_y, F1, I1).max(shape.least_copies[1]);
        // From here on y is an interval more than it needs to be, or its repetitions for R are.
        let end_y = scale.ceil(zone.least_y + scale.interval - after[F1][I1]).max(shape.least_copies[1] + 1);
        // With recomputation a smaller y may leave no repetition for R of chunk 0, whose F and I then
        // lie one repetition apart at most, and so the others do.
        let end_y = if figures.recompute.is_some() { end_y.max(3) } else { end_y };
        for copies_y in first_y..end_y {
            let room = room - holds[1] * i128::from(copies_y);
            if room < 0 && holds[0] == 0 {
                break;
            }
            let by_memory = if holds[0] == 0 {
                i64::MAX / 8
            } else {
                i64::try_from(room.div_euclid(holds[0])).unwrap_or(if room < 0 {
                    i64::MIN / 8
                } else {
                    i64::MAX / 8
                })
            };
            let highest = top_sum.min(by_memory);
            let lowest = (bottom_x + copies_y + bottom_z).max(shape.least_copies[0]);
            // The sums that cannot be raised: with each, every split between x and z.
            let raisable = sure_sum.min(by_memory - 1);
            for copies_sum in (lowest.max(raisable + 1)..=highest).rev() {
                // With latencies of many intervals, there are as many sums, and as many ways to split each.
                if self.is_cut() {
                    return;
                }
                let split = copies_sum - copies_y;
                for copies_x in bottom_x.max(split - top_z)..=top_x.min(split - bottom_z) {
                    if self.is_cut() {
                        return;
                    }
                    self.reach(zone, before, shape, [copies_x, copies_y, split - copies_x]);
                }
            }
            // Smaller sums count only where neither x nor z can be raised.
            for copies_x in bottom_x.max(sure_x + 1)..=top_x {
                if self.is_cut() {
                    return;
                }
                for copies_z in bottom_z.max(sure_z + 1)..=top_z {
                    let sum = copies_x + copies_y + copies_z;
                    if sum <= raisable.min(highest) && sum >= lowest {
                        self.reach(zone, before, shape, [copies_x, copies_y, copies_z]);
                    }
                }
            }
        }
    }

    /// Adds what a pattern reaches from a zone, if anything.
    fn reach(&mut self, zone: &Zone<T>, before: usize, shape: &Scaled<T>, [x, y, z]: [i64; 3]) {
        let scale = self.scale;
        let turns = |count: i64| scale.turns(count);
        // The closure only shrinks a zone: what is contained before it is so after it.
        let at_most = Zone {
            least_y: zone.least_y.max(shape.after[F1][I1] + turns(y)),
            most_x: zone.most_x.min(turns(x) - shape.after[F1][F0]),
            most_z: zone.most_z.min(turns(z) - shape.after[I0][I1]),
            most_sum: zone.most_sum.min(turns(x + y + z) - shape.after[I0][F0]),
        };
        if self.is_reached(&at_most) {
            return;
        }
        let copy = [0, x, x + y, x + y + z];
        let mut after = shape.after;
        for (from, row) in after.iter_mut().enumerate() {
            for (to, after) in row.iter_mut().enumerate() {
                *after = *after + turns(copy[to] - copy[from]);
            }
        }
        let mut demand = |from: usize, to: usize, least: T| {
            after[from][to] = after[from][to].max(least);
        };
        demand(F0, F1, self.least_x);
        demand(F1, I1, zone.least_y);
        demand(I1, I0, self.least_z);
        demand(F1, F0, -zone.most_x);
        demand(I0, I1, -zone.most_z);
        demand(I0, F0, -zone.most_sum);
        if !close(&mut after) {
            return;
        }
        let zone = Zone {
            least_y: after[F1][I1],
            most_x: -after[F1][F0],
            most_z: -after[I0][I1],
            most_sum: -after[I0][F0],
        };
        if self.is_reached(&zone) {
            return;
        }
        self.reached.retain(|other| !zone.contains(&other.zone));
        self.reached.push(State { zone, shape: shape.index, copy, before });
    }

    /// Whether it is time to stop. The clock is read the first time and then now and again, for that takes longer than most questions.
    fn is_cut(&mut self) -> bool {
        const PERIOD: u32 = 64;
        self.is_cut |= self.asked.is_multiple_of(PERIOD) && self.stop.is_due();
        self.asked = self.asked.wrapping_add(1);
        self.is_cut
    }

    /// Whether a state contains the zone. That state comes to the front: it likely contains the next.
    fn is_reached(&mut self, zone: &Zone<T>) -> bool {
        let by = self.reached.iter().position(|state| state.zone.contains(zone));
        if let Some(at) = by {
            self.reached.swap(0, at);
        }
        by.is_some()
    }
}

/// Derives every distance that follows; whether they do not contradict each other.
fn close<T: Time>(after: &mut [[T; NODES]; NODES]) -> bool {
    for via in 0..NODES {
        let tail = after[via];
        for row in after.iter_mut() {
            let head = row[via];
            for (distance, &rest) in row.iter_mut().zip(&tail) {
                *distance = (*distance).max(head + rest);
            }
        }
    }
    (0..NODES).all(|node| after[node][node] <= T::zero())
}

/// A zone as the next device sees it.
fn pushed<T: Time>(pipeline: &Pipeline<'_>, scale: Scale<T>, device: usize, zone: &Zone<T>) -> Zone<T> {
    let [near, far] = [device, device + 1].map(|device| {
        let place = |node| pipeline.position(device, node);
        [place(F0), place(F1), place(I1), place(I0)]
    });
    let first_forward = scale.ticks(pipeline.lag(near[F0], far[F0]));
    let second_forward = scale.ticks(pipeline.lag(far[F1], near[F1]));
    let second_input = scale.ticks(pipeline.lag(near[I1], far[I1]));
    let first_input = scale.ticks(pipeline.lag(far[I0], near[I0]));
    Zone {
        least_y: zone.least_y + second_forward + second_input,
        most_x: zone.most_x - first_forward - second_forward,
        most_z: zone.most_z - second_input - first_input,
        most_sum: zone.most_sum - first_forward - first_input,
    }
}
