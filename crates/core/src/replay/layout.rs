//! The place of every pass: dense tables in place of hashing.

use crate::model::{Device, Kind, Microbatch, Model, Pass, Stage};
use crate::schedule::{Place, Schedule};

/// A pass of the schedule, by its rank in the concatenation of all orders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Slot(u32);

impl Slot {
    pub(super) const fn index(self) -> usize {
        self.0 as usize
    }

    pub(super) const fn rank(self) -> u32 {
        self.0
    }
}

/// The place of every pass of every stage and microbatch.
pub(super) struct Layout {
    stages: u32,
    /// The first stage behind the first pipeline: that of the second one where there are two directions, else
    /// one more than the last.
    turn: u32,
    microbatches: u32,
    /// The rank of each device's first pass, and the total at the end.
    first: Vec<u32>,
    /// By stage, kind and microbatch: one more than the rank of the pass, or 0 where there is none.
    ranks: Vec<u32>,
    /// Whether an R waits for what its backward waits for.
    in_backward: bool,
}

impl Layout {
    /// If a pass is there twice, the first by device and position counts, but one on the device that holds
    /// its stage counts before any other.
    pub(super) fn new(schedule: &Schedule) -> Self {
        let (stages, microbatches) = (schedule.placement().stages(), schedule.microbatches());
        let mut layout = Self {
            stages,
            turn: stages / schedule.placement().directions(),
            microbatches,
            first: Vec::new(),
            ranks: vec![0; stages as usize * Kind::COUNT * microbatches as usize],
            in_backward: false,
        };
        let mut rank = 0;
        for (device, order) in super::devices(schedule) {
            layout.first.push(rank);
            let own_first = rank;
            for &pass in order {
                rank += 1;
                let Some(cell) = layout.cell(pass) else { continue };
                let counts = match layout.ranks[cell] {
                    0 => true,
                    other => other <= own_first && schedule.placement().device_of(pass.stage) == device,
                };
                if counts {
                    layout.ranks[cell] = rank;
                }
            }
        }
        layout.first.push(rank);
        layout
    }

    /// The same, with what passes wait for under a model.
    pub(super) fn under(model: &Model, schedule: &Schedule) -> Self {
        Self { in_backward: model.recomputes_in_backward(), ..Self::new(schedule) }
    }

    /// The number of passes, duplicates and unknown ones included.
    pub(super) fn len(&self) -> usize {
        self.first[self.first.len() - 1] as usize
    }

    /// The place of a pass, if it has one: among several, the one that counts.
    pub(super) fn find(&self, pass: Pass) -> Option<Slot> {
        let cell = self.cell(pass)?;
        self.ranks[cell].checked_sub(1).map(Slot)
    }

    /// Whether a pass has a place.
    pub(super) fn has(&self, pass: Pass) -> bool {
        self.find(pass).is_some()
    }

    /// Whether stage and microbatch of a pass exist.
    pub(super) const fn knows(&self, pass: Pass) -> bool {
        pass.stage.0 < self.stages && pass.microbatch.0 < self.microbatches
    }

    /// The numbers of stages and microbatches.
    pub(super) const fn size(&self) -> (u32, u32) {
        (self.stages, self.microbatches)
    }

    pub(super) fn slot(&self, place: Place) -> Slot {
        let position = u32::try_from(place.position).expect("an order is no longer than all of them");
        Slot(self.first[place.device.index()] + position)
    }

    pub(super) fn place(&self, slot: Slot) -> Place {
        let device = self.first.partition_point(|&first| first <= slot.0) - 1;
        Place { device: Device::at(device), position: (slot.0 - self.first[device]) as usize }
    }

    /// The slots of a device's order.
    pub(super) fn range(&self, device: Device) -> std::ops::Range<u32> {
        self.first[device.index()]..self.first[device.index() + 1]
    }

    /// By position of a device's order, and for that behind it: the first position from there on whose pass counts. What
    /// changes at a pass that does not count does so at that one.
    pub(super) fn counted(&self, device: Device, order: &[Pass]) -> Vec<usize> {
        let mut counted: Vec<usize> = (0..=order.len()).collect();
        for position in (0..order.len()).rev() {
            if self.find(order[position]) != Some(self.slot(Place { device, position })) {
                counted[position] = counted[position + 1];
            }
        }
        counted
    }

    /// Calls `each` with every pass that must end before a pass may start, with its place.
    /// Passes without a place are left out: they are reported as missing.
    #[inline]
    pub(super) fn for_each_need(&self, pass: Pass, mut each: impl FnMut(Pass, Slot)) {
        let mut need = |pass: Pass| {
            if let Some(slot) = self.find(pass) {
                each(pass, slot);
            }
        };
        match pass.kind {
            Kind::F if pass.stage.0 > 0 && pass.stage.0 != self.turn => {
                need(Pass { stage: Stage(pass.stage.0 - 1), ..pass });
            }
            Kind::F => {}
            Kind::R if !self.in_backward => need(pass.with_kind(Kind::F)),
            Kind::W => need(pass.with_kind(Kind::I)),
            Kind::I | Kind::B | Kind::R => {
                need(pass.with_kind(Kind::F));
                if pass.kind != Kind::R {
                    need(pass.with_kind(Kind::R));
                }
                // Nothing is above the last stage, and nothing has a place there.
                let above = Pass { stage: Stage(pass.stage.0 + 1), ..pass };
                if above.stage.0 != self.turn {
                    need(above.with_kind(Kind::I));
                    need(above.with_kind(Kind::B));
                }
            }
        }
    }

    /// Every stage and microbatch that should be there.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (Stage, Microbatch)> {
        Stage::all(self.stages).flat_map(move |stage| {
            Microbatch::all(self.microbatches)
                .filter(move |&microbatch| self.leads_through(stage, microbatch))
                .map(move |microbatch| (stage, microbatch))
        })
    }

    /// Whether a microbatch goes through a stage: of two pipelines an even one through the first, an odd one
    /// through the second.
    pub(super) const fn leads_through(&self, stage: Stage, microbatch: Microbatch) -> bool {
        self.turn == self.stages || (stage.0 < self.turn) == microbatch.0.is_multiple_of(2)
    }

    fn cell(&self, pass: Pass) -> Option<usize> {
        self.knows(pass).then(|| {
            (pass.stage.index() * Kind::COUNT + pass.kind as usize) * self.microbatches as usize
                + pass.microbatch.index()
        })
    }
}
