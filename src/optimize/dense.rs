//! The problem in dense numbers, for the inner loops of the search.
//!
//! A pass is a class (stage and kind) and a microbatch; durations, needs and memory belong to the
//! class. Only F, R, I and W occur: a full backward is an I and the W right behind it, which is never
//! later and never holds more. A problem can be turned round in time (`Dense::reversed`): W then
//! acquires what it releases, and what a pass waits for waits for it.

use crate::block::{Piece, Recurring, acquired, piece, released};
use crate::model::{Device, Kind, Microbatch, Model, Pass, Stage, Units};
use crate::schedule::Schedule;

/// A pass: the number of its class and its microbatch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Item {
    pub class: u32,
    pub microbatch: u32,
}

impl Recurring for Item {
    fn class(self) -> usize {
        self.class as usize
    }

    fn microbatch(self) -> u32 {
        self.microbatch
    }

    fn later(self, by: u32) -> Self {
        Self { microbatch: self.microbatch + by, ..self }
    }
}

/// The order of every device.
pub(super) type Orders = Vec<Vec<Item>>;

/// What all passes of a stage and kind have in common.
#[derive(Debug, Clone)]
pub(super) struct Class {
    pub device: usize,
    pub duration: i64,
    /// What a pass acquires at its start, or, negative, releases at its end.
    pub held: i64,
    /// The classes whose pass of the same microbatch must end before, with the latency from there.
    pub needs: Vec<(u32, i64)>,
    /// The classes that wait for it, likewise.
    pub feeds: Vec<(u32, i64)>,
}

/// A problem in dense numbers.
#[derive(Debug, Clone)]
pub(super) struct Dense {
    pub microbatches: u32,
    pub classes: Vec<Class>,
    /// The most each device may hold.
    pub limits: Vec<i64>,
    /// Whether a stage is recomputed.
    pub recomputed: Vec<bool>,
    /// The classes of each device.
    pub on_device: Vec<Vec<u32>>,
    /// How long each device works in all.
    pub work: Vec<i64>,
}

/// The kinds in the order in which they are numbered.
const KINDS: [Kind; 4] = [Kind::F, Kind::R, Kind::I, Kind::W];

/// The place of a kind among the classes of its stage.
fn rank(kind: Kind) -> u32 {
    match kind {
        Kind::F => 0,
        Kind::R => 1,
        Kind::I | Kind::B => 2,
        Kind::W => 3,
    }
}

/// The class of a stage and kind.
pub(super) fn class(stage: u32, kind: Kind) -> u32 {
    stage * 4 + rank(kind)
}

/// The stage and kind of a class.
pub(super) const fn named(class: u32) -> (u32, Kind) {
    (class / 4, KINDS[(class % 4) as usize])
}

/// Nothing has been found out about a time yet.
pub(super) const UNKNOWN: i64 = i64::MIN;

/// When passes end, by class and microbatch, and how long the whole takes.
#[derive(Debug, Clone, Default)]
pub(super) struct Times {
    pub ends: Vec<i64>,
    /// How far each device has come, and devices to look at: kept to spare allocations.
    next: Vec<usize>,
    waiting: Vec<usize>,
    idle: Vec<i64>,
}

impl Dense {
    /// The problem of a model in which these stages are recomputed.
    pub(super) fn new(model: &Model, recomputed: Vec<bool>) -> Self {
        let stages = model.stages();
        let lag = |below: u32| model.latency_after(Stage(below)).0;
        let mut classes = Vec::with_capacity(stages as usize * KINDS.len());
        for stage in 0..stages {
            let again = recomputed[stage as usize];
            for kind in KINDS {
                let pass = Pass::new(Stage(stage), kind, Microbatch(0));
                let mut needs = Vec::new();
                match kind {
                    Kind::F if stage > 0 => needs.push((class(stage - 1, Kind::F), lag(stage - 1))),
                    Kind::R => needs.push((class(stage, Kind::F), 0)),
                    Kind::I => {
                        needs.push((class(stage, if again { Kind::R } else { Kind::F }), 0));
                        if stage + 1 < stages {
                            needs.push((class(stage + 1, Kind::I), lag(stage)));
                        }
                    }
                    Kind::W => needs.push((class(stage, Kind::I), 0)),
                    Kind::F | Kind::B => {}
                }
                classes.push(Class {
                    device: model.placement().device_of(Stage(stage)).index(),
                    duration: model.duration(Stage(stage), kind).0,
                    held: (acquired(model, pass, again) - released(model, pass)).0,
                    needs,
                    feeds: Vec::new(),
                });
            }
        }
        let on_device = Device::all(model.devices())
            .map(|device| {
                let mut stages = model.placement().stages_of(device).to_vec();
                stages.sort_unstable();
                let kinds = |stage: Stage| {
                    let again = recomputed[stage.index()];
                    let used = move |kind: &Kind| *kind != Kind::R || again;
                    KINDS.into_iter().filter(used).map(move |kind| class(stage.0, kind)).collect::<Vec<_>>()
                };
                stages.into_iter().flat_map(kinds).collect()
            })
            .collect();
        let free = Units(Model::MAX_TOTAL);
        let limits =
            Device::all(model.devices()).map(|device| model.capacity(device).unwrap_or(free).0).collect();
        let on_device: Vec<Vec<u32>> = on_device;
        let work =
            on_device.iter().map(|list| list.iter().map(|&class| classes[class as usize].duration).sum());
        let work: Vec<i64> = work.collect();
        let mut dense =
            Self { microbatches: model.microbatches(), classes, limits, recomputed, on_device, work };
        for work in &mut dense.work {
            *work *= i64::from(dense.microbatches);
        }
        dense.drop_unused_needs();
        dense.connect();
        dense
    }

    /// Passes of classes that no device has are not waited for.
    fn drop_unused_needs(&mut self) {
        for stage in 0..self.recomputed.len() {
            if !self.recomputed[stage] {
                self.classes[stage * 4 + 1].needs.clear();
            }
        }
    }

    fn connect(&mut self) {
        for class in &mut self.classes {
            class.feeds.clear();
        }
        for at in 0..self.classes.len() {
            for (need, lag) in self.classes[at].needs.clone() {
                let waiting = u32::try_from(at).expect("classes are four times the stages");
                self.classes[need as usize].feeds.push((waiting, lag));
            }
        }
    }

    /// The same problem seen from the end of time.
    pub(super) fn reversed(&self) -> Self {
        let mut turned = self.clone();
        for class in &mut turned.classes {
            class.held = -class.held;
            std::mem::swap(&mut class.needs, &mut class.feeds);
        }
        turned
    }

    /// The number of passes.
    pub(super) fn passes(&self) -> usize {
        self.on_device.iter().map(Vec::len).sum::<usize>() * self.microbatches as usize
    }

    pub(super) fn class_of(&self, item: Item) -> &Class {
        &self.classes[item.class as usize]
    }

    pub(super) const fn cell(&self, item: Item) -> usize {
        item.class as usize * self.microbatches as usize + item.microbatch as usize
    }

    /// Whether a device with this order never holds more than it may.
    pub(super) fn fits(&self, device: usize, order: &[Item]) -> bool {
        let mut live = 0;
        order.iter().all(|&item| {
            live += self.class_of(item).held;
            live <= self.limits[device]
        })
    }

    /// The largest peak over all devices.
    pub(super) fn peak(&self, orders: &Orders) -> i64 {
        let peak = |order: &Vec<Item>| {
            let mut live = 0;
            order
                .iter()
                .map(|&item| {
                    live += self.class_of(item).held;
                    live
                })
                .max()
                .unwrap_or(0)
        };
        orders.iter().map(peak).max().unwrap_or(0)
    }

    /// Finds the earliest end of every pass; tells whether every pass can run.
    pub(super) fn squeeze(&self, orders: &Orders, times: &mut Times) -> bool {
        self.squeeze_within(orders, times, i64::MAX)
    }

    /// As [`squeeze`](Self::squeeze), but gives up as soon as some device cannot have ended its passes
    /// by a limit even if it never waits again.
    pub(super) fn squeeze_within(&self, orders: &Orders, times: &mut Times, limit: i64) -> bool {
        let Times { ends, next, waiting, idle } = times;
        ends.clear();
        ends.resize(self.classes.len() * self.microbatches as usize, UNKNOWN);
        next.clear();
        next.resize(orders.len(), 0);
        idle.clear();
        idle.extend(self.work.iter().map(|work| limit - work));
        waiting.clear();
        waiting.extend((0..orders.len()).rev());
        while let Some(device) = waiting.pop() {
            let order = &orders[device];
            let mut at = next[device];
            let mut free = at.checked_sub(1).map_or(0, |before| ends[self.cell(order[before])]);
            'passes: while let Some(&item) = order.get(at) {
                let class = self.class_of(item);
                let mut start = free;
                for &(need, lag) in &class.needs {
                    let end = ends[self.cell(Item { class: need, ..item })];
                    if end == UNKNOWN {
                        break 'passes;
                    }
                    start = start.max(end + lag);
                }
                // What is left of the time in which the device may wait.
                idle[device] -= start - free;
                if idle[device] < 0 {
                    return false;
                }
                free = start + class.duration;
                ends[self.cell(item)] = free;
                at += 1;
                for &(fed, _) in &class.feeds {
                    let other = self.classes[fed as usize].device;
                    if other != device && orders[other].get(next[other]) == Some(&Item { class: fed, ..item })
                    {
                        waiting.push(other);
                    }
                }
            }
            next[device] = at;
        }
        orders.iter().zip(next).all(|(order, &mut at)| at == order.len())
    }

    /// The last end, and the largest time between first start and last end of a device.
    pub(super) fn length(&self, orders: &Orders, times: &Times) -> (i64, i64) {
        let mut length = (0, 0);
        for order in orders {
            let (Some(&first), Some(&last)) = (order.first(), order.last()) else { continue };
            let start = times.ends[self.cell(first)] - self.class_of(first).duration;
            let end = times.ends[self.cell(last)];
            length = (end.max(length.0), (end - start).max(length.1));
        }
        length
    }

    /// The piece of squeezed orders that is best to be repeated, if there is one.
    pub(super) fn piece(&self, orders: &Orders, times: &Times) -> Option<Piece> {
        let start = |item: Item| times.ends[self.cell(item)] - self.class_of(item).duration;
        let entry = |microbatch| start(Item { class: class(0, Kind::F), microbatch });
        let at = |device: usize, at: usize| start(orders[device][at]);
        piece(orders, (self.microbatches, self.classes.len()), entry, at)
    }

    /// The orders of a schedule, if it recomputes just the stages of this problem.
    pub(super) fn orders_of(&self, schedule: &Schedule) -> Option<Orders> {
        let orders: Orders = schedule
            .orders()
            .iter()
            .map(|order| {
                let items = order.iter().flat_map(|pass| {
                    let item =
                        |kind| Item { class: class(pass.stage.0, kind), microbatch: pass.microbatch.0 };
                    let then = (pass.kind == Kind::B).then(|| item(Kind::W));
                    std::iter::once(item(pass.kind)).chain(then)
                });
                items.collect()
            })
            .collect();
        let alike = schedule
            .orders()
            .iter()
            .flatten()
            .all(|pass| pass.kind != Kind::R || self.recomputed[pass.stage.index()]);
        (alike && orders.iter().map(Vec::len).sum::<usize>() == self.passes()).then_some(orders)
    }

    /// The schedule of these orders.
    pub(super) fn schedule(&self, model: &Model, orders: &Orders) -> Schedule {
        let pass = |item: &Item| {
            let (stage, kind) = named(item.class);
            Pass::new(Stage(stage), kind, Microbatch(item.microbatch))
        };
        let orders = orders.iter().map(|order| order.iter().map(pass).collect()).collect();
        Schedule::new(model.placement().clone(), self.microbatches, orders)
            .expect("one order for each device, and no more passes than the model has")
    }
}

/// The orders seen from the end of time.
pub(super) fn turned(orders: &mut Orders) {
    for order in orders {
        order.reverse();
    }
}

impl Dense {
    /// The mean duration of a pass, in ticks.
    #[expect(clippy::cast_precision_loss, reason = "steers the search, decides nothing")]
    pub(super) fn typical_duration(&self) -> f64 {
        self.work.iter().sum::<i64>() as f64 / self.passes() as f64
    }
}
