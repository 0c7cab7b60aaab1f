//! The passes of a pipeline by number, for the inner loops of construction and search.
//!
//! A pass is a class and a microbatch; durations, needs and memory belong to the class. A class is numbered by
//! its stage and kind. Where passes of one stage and kind differ, as in a schedule that recomputes some
//! microbatches and not others, each further variety is a class of its own behind all of those.
//!
//! A problem can be [reversed](IndexedProblem::reversed) in time: W then acquires what it releases, and what a pass
//! waits for waits for it.

use super::memory::{acquired, released};
use crate::model::{Device, Kind, Microbatch, Model, Pass, Stage, Units};
use crate::schedule::prerequisites;

/// A pass: the number of its class and its microbatch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct IndexedPass {
    pub class: u32,
    pub microbatch: u32,
}

/// The order of every device.
pub(crate) type IndexedOrders = Vec<Vec<IndexedPass>>;

/// The orders read from their ends, as a [reversed](IndexedProblem::reversed) problem has them; or back again.
pub(crate) fn reverse(orders: &mut IndexedOrders) {
    for order in orders {
        order.reverse();
    }
}

/// The class of a stage and kind.
pub(crate) const fn class(stage: u32, kind: Kind) -> u32 {
    stage * KINDS + kind as u32
}

#[expect(clippy::cast_possible_truncation, reason = "there are five kinds")]
const KINDS: u32 = Kind::COUNT as u32;

/// What passes of a stage and kind have in common.
#[derive(Debug, Clone)]
pub(crate) struct Class {
    pub stage: Stage,
    pub kind: Kind,
    pub device: usize,
    /// In ticks.
    pub duration: i64,
    /// What a pass acquires at its start or, negative, releases at its end, in units.
    pub held: i64,
    /// The classes whose pass of the same microbatch must end before.
    pub needs: Vec<Link>,
    /// The classes whose pass of the same microbatch waits for it.
    pub feeds: Vec<Link>,
    /// How many passes the stage has of this kind, in all its varieties.
    passes: u32,
    /// The cell of microbatch 0. Varieties of one stage and kind share their cells.
    first_cell: usize,
}

impl Class {
    /// The cell of the pass of a microbatch.
    pub const fn cell(&self, microbatch: u32) -> usize {
        self.first_cell + microbatch as usize
    }
}

/// Another class, and the latency between the two in ticks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Link {
    pub class: u32,
    pub device: usize,
    pub latency: i64,
    first_cell: usize,
}

impl Link {
    /// The cell of the pass of a microbatch.
    pub const fn cell(&self, microbatch: u32) -> usize {
        self.first_cell + microbatch as usize
    }
}

/// What distinguishes passes of one stage and kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Variety {
    /// An R of the same stage and microbatch exists.
    pub recomputed: bool,
    /// The stage above has a full backward of the microbatch.
    pub fused_above: bool,
}

/// A problem in numbers.
#[derive(Debug, Clone)]
pub(crate) struct IndexedProblem {
    microbatches: u32,
    /// One for each stage and kind, then further varieties.
    classes: Vec<Class>,
    /// How many stages and kinds there are.
    lines: usize,
    /// How many of them have cells.
    rows: usize,
    /// The classes of each device that have passes, by stage and kind, without further varieties.
    on_device: Vec<Vec<u32>>,
    /// How long each device works in all, in ticks.
    work: Vec<i64>,
    /// The most that activations may hold on each device, in units.
    pub limits: Vec<i64>,
}

impl IndexedProblem {
    /// All microbatches of a model with split backwards, within its capacities. These stages are recomputed.
    pub fn split(model: &Model, recomputed: &[bool]) -> Self {
        let mut problem = Self::empty(model, model.microbatches());
        for (stage, &recomputed) in Stage::all(model.stages()).zip(recomputed) {
            let kinds = [Kind::F, Kind::I, Kind::W].into_iter().chain(recomputed.then_some(Kind::R));
            for kind in kinds {
                let variety = Variety { recomputed, fused_above: false };
                problem.classes[class(stage.0, kind) as usize] =
                    Class { passes: model.microbatches(), ..described(model, stage, kind, variety) };
            }
        }
        problem.connected()
    }

    /// No passes yet, within the capacities of a model.
    pub(super) fn empty(model: &Model, microbatches: u32) -> Self {
        let described =
            |stage| Kind::ALL.into_iter().map(move |kind| described(model, stage, kind, Variety::default()));
        let free = Units(Model::MAX_TOTAL);
        let limit = |device| model.activation_capacity(device).unwrap_or(free).0;
        Self {
            microbatches,
            classes: Stage::all(model.stages()).flat_map(described).collect(),
            lines: model.stages() as usize * Kind::COUNT,
            rows: 0,
            on_device: Vec::new(),
            work: Vec::new(),
            limits: Device::all(model.devices()).map(limit).collect(),
        }
    }

    /// Counts a pass of this stage and kind.
    pub(super) fn count(&mut self, pass: Pass) {
        self.classes[class(pass.stage.0, pass.kind) as usize].passes += 1;
    }

    /// Makes the passes of a stage and kind be of this variety: the first to be described is the class of that
    /// number, further ones are added.
    pub(super) fn describe(&mut self, model: &Model, pass: Pass, variety: Variety, is_first: bool) -> u32 {
        let number = class(pass.stage.0, pass.kind);
        let passes = self.classes[number as usize].passes;
        let described = Class { passes, ..described(model, pass.stage, pass.kind, variety) };
        if is_first {
            self.classes[number as usize] = described;
            return number;
        }
        self.classes.push(described);
        u32::try_from(self.classes.len() - 1).expect("there are at most four varieties of a class")
    }

    /// The same with cells for all passes, and everything that follows from the classes.
    pub(super) fn connected(mut self) -> Self {
        let primary = |of: &Class| class(of.stage.0, of.kind) as usize;
        // A pass that is needed and nowhere to be found has a cell, in which no end is ever entered.
        let mut used: Vec<bool> = self.classes.iter().map(|class| class.passes > 0).collect();
        for of in self.classes.iter().filter(|class| class.passes > 0) {
            for need in &of.needs {
                used[need.class as usize] = true;
            }
        }
        self.rows = 0;
        for (at, is_used) in used.into_iter().enumerate() {
            let first = primary(&self.classes[at]);
            self.classes[at].first_cell = if first < at {
                self.classes[first].first_cell
            } else {
                let row = self.rows;
                self.rows += usize::from(is_used);
                row * self.microbatches as usize
            };
        }
        let cells: Vec<usize> = self.classes.iter().map(|class| class.first_cell).collect();
        let mut feeds: Vec<Vec<Link>> = vec![Vec::new(); self.classes.len()];
        for (at, of) in self.classes.iter_mut().enumerate().filter(|(_, class)| class.passes > 0) {
            for need in &mut of.needs {
                need.first_cell = cells[need.class as usize];
                let class = u32::try_from(at).expect("classes are counted in 32 bits");
                feeds[need.class as usize].push(Link {
                    class,
                    device: of.device,
                    first_cell: of.first_cell,
                    ..*need
                });
            }
        }
        for of in &mut self.classes {
            of.feeds.clone_from(&feeds[primary(of)]);
        }
        self.on_device = vec![Vec::new(); self.limits.len()];
        self.work = vec![0; self.limits.len()];
        for (at, of) in self.classes.iter().enumerate().filter(|(_, class)| class.passes > 0) {
            let number = class(of.stage.0, of.kind);
            if at == number as usize {
                self.on_device[of.device].push(number);
                self.work[of.device] += of.duration * i64::from(of.passes);
            }
        }
        self
    }

    /// The same problem seen from the end of time. Every microbatch must have the same passes.
    pub fn reversed(&self) -> Self {
        let is_even = |class: &Class| class.passes == 0 || class.passes == self.microbatches;
        debug_assert!(self.classes.iter().all(is_even), "microbatches differ");
        let mut turned = self.clone();
        for class in &mut turned.classes {
            class.held = -class.held;
            std::mem::swap(&mut class.needs, &mut class.feeds);
        }
        turned
    }

    /// The same problem within other limits, one per device, in units.
    pub fn within(self, limits: &[Units]) -> Self {
        Self { limits: limits.iter().map(|limit| limit.0).collect(), ..self }
    }

    /// The same problem for another number of microbatches. Every microbatch must have the same passes.
    pub fn with_microbatches(mut self, microbatches: u32) -> Self {
        for class in &mut self.classes {
            debug_assert!(class.passes == 0 || class.passes == self.microbatches, "microbatches differ");
            class.passes = if class.passes == 0 { 0 } else { microbatches };
        }
        self.microbatches = microbatches;
        self.connected()
    }

    pub const fn microbatches(&self) -> u32 {
        self.microbatches
    }

    pub const fn stages(&self) -> usize {
        self.lines / Kind::COUNT
    }

    /// The number of passes.
    pub fn passes(&self) -> usize {
        (0..self.on_device.len()).map(|device| self.passes_of(device)).sum()
    }

    /// The number of passes of a device.
    pub fn passes_of(&self, device: usize) -> usize {
        self.on_device[device].iter().map(|&class| self.classes[class as usize].passes as usize).sum()
    }

    /// The number of passes of a stage and kind.
    pub fn passes_in(&self, class: u32) -> u32 {
        self.classes[class as usize].passes
    }

    /// How long all devices work, in ticks.
    pub fn work(&self) -> &[i64] {
        &self.work
    }

    /// The classes of a device that have passes, by stage and kind.
    pub fn on_device(&self, device: usize) -> &[u32] {
        &self.on_device[device]
    }

    /// How many classes there are, with all varieties.
    pub const fn classes(&self) -> usize {
        self.classes.len()
    }

    pub fn class(&self, class: u32) -> &Class {
        &self.classes[class as usize]
    }

    pub fn class_of(&self, pass: IndexedPass) -> &Class {
        &self.classes[pass.class as usize]
    }

    /// The number of the pass's stage and kind, whatever its variety.
    pub fn line(&self, pass: IndexedPass) -> usize {
        if (pass.class as usize) < self.lines {
            return pass.class as usize;
        }
        let class = self.class_of(pass);
        self::class(class.stage.0, class.kind) as usize
    }

    /// The number of cells: tables with an entry for every pass have this length.
    pub const fn cells(&self) -> usize {
        self.rows * self.microbatches as usize
    }

    pub fn cell(&self, pass: IndexedPass) -> usize {
        self.class_of(pass).cell(pass.microbatch)
    }

    /// The pass as schedules name it.
    pub fn named(&self, pass: IndexedPass) -> Pass {
        let class = self.class_of(pass);
        Pass::new(class.stage, class.kind, Microbatch(pass.microbatch))
    }

    /// The most that an order holds at any instant, in units.
    pub fn peak_of(&self, order: &[IndexedPass]) -> i64 {
        let mut live = 0;
        let live_after = order.iter().map(|&pass| {
            live += self.class_of(pass).held;
            live
        });
        live_after.max().unwrap_or(0).max(0)
    }

    /// Orders of a problem that has all passes of this one and others, without the others.
    pub fn without_absent(&self, orders: &IndexedOrders) -> IndexedOrders {
        let present = |pass: &IndexedPass| self.classes[pass.class as usize].passes > 0;
        orders.iter().map(|order| order.iter().copied().filter(present).collect()).collect()
    }

    /// The largest peak over all devices.
    #[cfg(test)]
    pub fn peak(&self, orders: &IndexedOrders) -> i64 {
        orders.iter().map(|order| self.peak_of(order)).max().unwrap_or(0)
    }

    /// Whether every device keeps to its limit.
    pub fn fits(&self, orders: &IndexedOrders) -> bool {
        orders.iter().zip(&self.limits).all(|(order, &limit)| {
            let mut live = 0;
            order.iter().all(|&pass| {
                live += self.class_of(pass).held;
                live <= limit
            })
        })
    }
}

/// A class of this stage, kind and variety; how many passes it has, and where its cells are, is not known yet.
fn described(model: &Model, stage: Stage, kind: Kind, variety: Variety) -> Class {
    let pass = Pass::new(stage, kind, Microbatch(0));
    let present = |other: Pass| match other.kind {
        Kind::R => variety.recomputed,
        Kind::B => variety.fused_above,
        Kind::F | Kind::I | Kind::W => true,
    };
    let device_of = |stage| model.placement().device_of(stage).index();
    let link = |needs: Pass| Link {
        class: class(needs.stage.0, needs.kind),
        device: device_of(needs.stage),
        latency: if needs.stage == stage { 0 } else { model.delay_after(needs.stage.min(stage)).0 },
        first_cell: 0,
    };
    // R itself waits for F.
    let implied =
        |needs: &Pass| variety.recomputed && needs.kind == Kind::F && needs.stage == stage && kind != Kind::R;
    let mut needs: Vec<Link> =
        prerequisites(pass, model.placement(), present).filter(|needs| !implied(needs)).map(link).collect();
    // What comes from the device itself first.
    needs.reverse();
    Class {
        stage,
        kind,
        device: device_of(stage),
        duration: model.duration(stage, kind).0,
        held: (acquired(model, pass, variety.recomputed) - released(model, pass)).0,
        needs,
        feeds: Vec::new(),
        passes: 0,
        first_cell: 0,
    }
}
