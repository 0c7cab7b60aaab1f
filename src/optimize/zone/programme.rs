//! The programme along the chain of devices.

use std::ops::ControlFlow;

use num_rational::Ratio;

use super::pattern::{Apart, F0, F1, Figures, I0, I1, Link, Pattern, for_each};
use super::ratio::{least_ratio, potentials};
use super::{Best, ZoneError};
use crate::block::Block;
use crate::certificate::critical_path;
use crate::model::{Device, Kind, Microbatch, Model, Pass, Stage, Ticks, Units};
use crate::optimize::Stop;

/// Scaled times: ticks multiplied by the denominators of intervals.
type Time = i128;

/// Further than any two passes are ever apart.
const FAR: Time = Time::MAX / 16;

/// How far the passes of the next device are pushed against those of this one, in ticks.
#[derive(Debug, Clone, Copy, Default)]
struct Step {
    first_forward: i64,
    second_forward: i64,
    second_input: i64,
    first_input: i64,
}

/// A V pipeline as the programme sees it.
#[derive(Debug, Clone)]
pub(super) struct Programme {
    devices: Vec<Figures>,
    /// From each device to the next.
    steps: Vec<Step>,
    /// By device: the least x and z that the devices after it still need.
    least_x: Vec<i64>,
    least_z: Vec<i64>,
    /// The least y of device 0.
    turn: i64,
    /// Along the chain of dependencies alone: the least y of each device.
    least_y: Vec<i64>,
    /// No pass lies in a later repetition than this at any interval that is at least the work.
    most_copies: i64,
    stop: Stop,
}

/// What is reachable: `{x <= most_x, y >= least_y, z <= most_z, x+y+z <= most_sum}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Zone {
    least_y: Time,
    most_x: Time,
    most_z: Time,
    most_sum: Time,
}

impl Zone {
    /// Whether everything reachable in the other zone is reachable in this one.
    fn contains(&self, other: &Self) -> bool {
        self.least_y <= other.least_y
            && self.most_x >= other.most_x
            && self.most_z >= other.most_z
            && self.most_sum >= other.most_sum
    }
}

/// A zone with the choice that led to it.
#[derive(Debug, Clone, Copy)]
struct State {
    zone: Zone,
    pattern: Pattern,
    before: usize,
}

/// Patterns for all devices that go together at an interval.
pub(super) struct Found {
    programme: Programme,
    patterns: Vec<Pattern>,
    pub(super) interval: Ratio<i64>,
}

impl Programme {
    pub(super) fn new(model: &Model, caps: &[Option<i64>], stop: &Stop) -> Result<Self, ZoneError> {
        let devices = model.devices();
        let second = |device: u32| Stage(2 * devices - 1 - device);
        let time = |stage, kind| model.duration(stage, kind).0;
        let latency = |stage: Stage| model.latency_after(stage).0;
        // Along the chain from the first F to the last I no pass needs to wait a whole interval: all
        // that come after it could be moved up by one. So a chain of n links is shorter than its
        // durations and n intervals, and the interval is at least the most work.
        let most_copies = critical_path(model).0 / model.most_work().0 + 4 * i64::from(devices) + 2;
        let figures = |device: Device| {
            let stages = [Stage(device.0), second(device.0)];
            let held = |stage| model.activation(stage).0 - model.retained_for_weight(stage).0;
            // With this much nothing is ever held back.
            let everything = stages
                .iter()
                .map(|&stage| model.activation(stage).0)
                .sum::<i64>()
                .checked_mul(most_copies + 2)
                .ok_or(ZoneError::Overflow)?;
            Ok(Figures {
                duration: [
                    time(stages[0], Kind::F),
                    time(stages[1], Kind::F),
                    time(stages[1], Kind::I),
                    time(stages[0], Kind::I),
                ],
                weight: stages.map(|stage| time(stage, Kind::W)),
                until_input: stages.map(held),
                until_weight: stages.map(|stage| model.retained_for_weight(stage).0),
                capacity: caps[device.index()].map_or(everything, |cap| cap.min(everything)),
            })
        };
        let steps: Vec<Step> = (0..devices - 1)
            .map(|device| {
                let (near, far) = (Stage(device), second(device + 1));
                Step {
                    first_forward: time(near, Kind::F) + latency(near),
                    second_forward: time(far, Kind::F) + latency(far),
                    second_input: time(second(device), Kind::I) + latency(far),
                    first_input: time(Stage(device + 1), Kind::I) + latency(near),
                }
            })
            .collect();
        let last = Stage(devices - 1);
        let suffix = |turn: i64, of: &dyn Fn(&Step) -> i64| {
            let mut least = vec![turn; devices as usize];
            for device in (0..steps.len()).rev() {
                least[device] = least[device + 1] + of(&steps[device]);
            }
            least
        };
        let turn = time(second(0), Kind::F);
        let mut least_y = vec![turn];
        for step in &steps {
            least_y.push(least_y[least_y.len() - 1] + step.second_forward + step.second_input);
        }
        Ok(Self {
            devices: Device::all(devices).map(figures).collect::<Result<_, ZoneError>>()?,
            least_x: suffix(time(last, Kind::F), &|step| step.first_forward + step.second_forward),
            least_z: suffix(time(second(devices - 1), Kind::I), &|step| step.second_input + step.first_input),
            turn,
            least_y,
            steps,
            most_copies,
            stop: stop.clone(),
        })
    }

    /// The largest cap: without caps, more than any device can hold.
    pub(super) fn most_capacity(&self) -> i64 {
        self.devices.iter().map(|figures| figures.capacity).max().unwrap_or(0)
    }

    /// How many repetitions a device's passes lie apart at most: less than their chains' durations
    /// and one interval for each link, and one more for where in an interval the two lie.
    fn most_apart(&self, device: usize, interval: Ratio<i64>) -> [i64; 3] {
        let last = self.devices.len() - 1;
        let apart = |durations: i64, links: usize| {
            let whole = Time::from(durations) * Time::from(*interval.denom()) / Time::from(*interval.numer());
            i64::try_from(whole).unwrap_or(self.most_copies) + i64::try_from(links).unwrap_or(0) + 1
        };
        [
            apart(self.least_x[device], 2 * (last - device) + 1),
            apart(self.least_y[device], 2 * device + 1),
            apart(self.least_z[device], 2 * (last - device) + 1),
        ]
    }

    /// At least the height of every cycle of constraints: a cycle meets each node once, and no
    /// constraint leads further than the repetitions go.
    pub(super) fn most_height(&self) -> i64 {
        let nodes = 4 * self.devices.len();
        i64::try_from(nodes).unwrap_or(i64::MAX).saturating_mul(self.most_copies + 1)
    }
}

/// Patterns that go together at this interval, if there are any.
pub(super) fn solve(programme: &Programme, interval: Ratio<i64>) -> Result<Option<Found>, ZoneError> {
    let (length, scale) = (Time::from(*interval.numer()), Time::from(*interval.denom()));
    let mut layers: Vec<Vec<State>> = Vec::with_capacity(programme.devices.len());
    let start = Zone { least_y: Time::from(programme.turn) * scale, most_x: FAR, most_z: FAR, most_sum: FAR };
    let mut incoming = vec![start];
    for (device, figures) in programme.devices.iter().enumerate() {
        let least =
            (Time::from(programme.least_x[device]) * scale, Time::from(programme.least_z[device]) * scale);
        let lowest_y = incoming.iter().map(|zone| zone.least_y).min().expect("there is a zone");
        let apart = [least.0, lowest_y, least.1]
            .map(|distance| i64::try_from(distance.div_euclid(length)).map_err(|_| ZoneError::Overflow));
        let [x, y, z] = apart;
        let least_apart = [x?, y?, z?];
        let most_apart = programme.most_apart(device, interval);
        let mut reached: Vec<State> = Vec::new();
        let mut seen = 0_u32;
        let ended = for_each(figures, Apart { least: least_apart, most: most_apart }, |pattern| {
            seen = seen.wrapping_add(1);
            if seen.is_multiple_of(1024) && programme.stop.is_due() {
                return ControlFlow::Break(());
            }
            let links = pattern.links(figures);
            for (before, zone) in incoming.iter().enumerate() {
                if let Some(zone) = advance(zone, &links, least, length, scale)
                    && !reached.iter().any(|other| other.zone.contains(&zone))
                {
                    reached.retain(|other| !zone.contains(&other.zone));
                    reached.push(State { zone, pattern, before });
                }
            }
            ControlFlow::Continue(())
        });
        if ended.is_break() {
            return Err(ZoneError::TimeUp);
        }
        if reached.is_empty() {
            return Ok(None);
        }
        reached.sort_unstable_by_key(|state| state.zone);
        if let Some(step) = programme.steps.get(device) {
            incoming = reached.iter().map(|state| pushed(&state.zone, step, scale)).collect();
        }
        layers.push(reached);
    }
    let mut at = 0;
    let mut patterns: Vec<Pattern> = layers
        .iter()
        .rev()
        .map(|layer| {
            let state = &layer[at];
            at = state.before;
            state.pattern
        })
        .collect();
    patterns.reverse();
    Ok(Some(Found { programme: programme.clone(), patterns, interval }))
}

/// What a pattern leaves of a zone, if anything: the closure of all difference constraints.
fn advance(
    zone: &Zone,
    links: &[Link; 4],
    (least_x, least_z): (Time, Time),
    interval: Time,
    scale: Time,
) -> Option<Zone> {
    // `after[u][v]`: v starts at least this much after u.
    let mut after = [[-FAR; 4]; 4];
    let mut demand = |from: usize, to: usize, least: Time| {
        after[from][to] = after[from][to].max(least);
    };
    demand(F0, F1, least_x);
    demand(F1, I1, zone.least_y);
    demand(I1, I0, least_z);
    demand(F1, F0, -zone.most_x);
    demand(I0, I1, -zone.most_z);
    demand(I0, F0, -zone.most_sum);
    for link in links {
        demand(link.from, link.to, Time::from(link.length) * scale + Time::from(link.height) * interval);
    }
    for via in 0..4 {
        for from in 0..4 {
            for to in 0..4 {
                after[from][to] = after[from][to].max(after[from][via] + after[via][to]);
            }
        }
    }
    if (0..4).any(|node| after[node][node] > 0) {
        return None;
    }
    Some(Zone {
        least_y: after[F1][I1],
        most_x: -after[F1][F0],
        most_z: -after[I0][I1],
        most_sum: -after[I0][F0],
    })
}

/// A zone as the next device sees it.
fn pushed(zone: &Zone, step: &Step, scale: Time) -> Zone {
    let scaled = |ticks: i64| Time::from(ticks) * scale;
    Zone {
        least_y: zone.least_y + scaled(step.second_forward + step.second_input),
        most_x: zone.most_x - scaled(step.first_forward + step.second_forward),
        most_z: zone.most_z - scaled(step.second_input + step.first_input),
        most_sum: zone.most_sum - scaled(step.first_forward + step.first_input),
    }
}

/// Nodes of a device in the constraints of a whole block: F0, F1, I1, I0, W0, W1.
const NODES: usize = 6;

impl Found {
    /// The largest peak over the devices.
    pub(super) fn peak(&self) -> i64 {
        let devices = self.patterns.iter().zip(&self.programme.devices);
        devices.map(|(pattern, figures)| pattern.peak(figures)).max().unwrap_or(0)
    }

    /// The same patterns at the least interval at which they go together.
    pub(super) fn tightened(self) -> Result<Self, ZoneError> {
        let interval = least_ratio(self.patterns.len() * NODES, &self.constraints(), self.interval)?;
        Ok(Self { interval, ..self })
    }

    /// All difference constraints of the patterns, between nodes `6 * device + node`.
    fn constraints(&self) -> Vec<Link> {
        let mut links = Vec::new();
        for (device, (pattern, figures)) in self.patterns.iter().zip(&self.programme.devices).enumerate() {
            let node = |node: usize| device * NODES + node;
            for (at, &from) in pattern.order.iter().enumerate() {
                // Through the gap: the pass, then the Ws that run there, then the next pass.
                let to = pattern.order[(at + 1) % 4];
                let (mut last, mut length, mut copy) = (from, figures.duration[from], pattern.copy[from]);
                for chunk in [1, 0].into_iter().filter(|&chunk| pattern.gap[chunk] == at) {
                    let weight_copy = pattern.weight_copy(chunk);
                    links.push(Link {
                        from: node(last),
                        to: node(4 + chunk),
                        length,
                        height: weight_copy - copy,
                    });
                    (last, length, copy) = (4 + chunk, figures.weight[chunk], weight_copy);
                }
                let height = pattern.copy[to] - copy - i64::from(at == 3);
                links.push(Link { from: node(last), to: node(to), length, height });
            }
            let plain = |from: usize, to: usize, length: i64| Link { from, to, length, height: 0 };
            if device == 0 {
                links.push(plain(node(F1), node(I1), self.programme.turn));
            }
            let next = |node: usize| (device + 1) * NODES + node;
            if let Some(step) = self.programme.steps.get(device) {
                links.extend([
                    plain(node(F0), next(F0), step.first_forward),
                    plain(next(F1), node(F1), step.second_forward),
                    plain(node(I1), next(I1), step.second_input),
                    plain(next(I0), node(I0), step.first_input),
                ]);
            } else {
                links.push(plain(node(F0), node(F1), self.programme.least_x[device]));
                links.push(plain(node(I1), node(I0), self.programme.least_z[device]));
            }
        }
        links
    }

    /// The block of these patterns, as early as it can be, checked by the block algebra.
    pub(super) fn into_best(self, model: &Model) -> Result<Best, ZoneError> {
        let offsets = potentials(self.patterns.len() * NODES, &self.constraints(), self.interval)
            .ok_or(ZoneError::Overflow)?;
        let devices = model.devices();
        let passes = Device::all(devices).flat_map(|device| {
            let (low, high) = (Stage(device.0), Stage(2 * devices - 1 - device.0));
            let kinds = [
                (low, Kind::F),
                (high, Kind::F),
                (high, Kind::I),
                (low, Kind::I),
                (low, Kind::W),
                (high, Kind::W),
            ];
            let offsets = &offsets[device.index() * NODES..];
            kinds
                .into_iter()
                .zip(offsets)
                .map(|((stage, kind), &offset)| (Pass::new(stage, kind, Microbatch(0)), Ticks(offset)))
                .collect::<Vec<_>>()
        });
        let (parts, interval) = (*self.interval.denom(), Ticks(*self.interval.numer()));
        let block = Block::periodic(model.placement().clone(), 1, parts, interval, passes)
            .map_err(|_| ZoneError::Overflow)?
            .from_zero();
        if let Some(fault) = block.faults(model).first() {
            return Err(ZoneError::Rejected(fault.to_string()));
        }
        let peak = block.steady_peak(model).into_iter().max().unwrap_or_default();
        if peak != Units(self.peak()) {
            return Err(ZoneError::Rejected(format!("it holds {peak}, not {}", self.peak())));
        }
        Ok(Best { block, interval: self.interval, peak })
    }
}
