//! Cuts of a schedule: how many passes of each device come before it.

use super::recurring::Recurring as _;
use crate::model::{Device, Kind, Pass};
use crate::schedule::{Schedule, prerequisites};

/// The position of every pass of a complete schedule in the order of its device.
pub(super) struct Places {
    microbatches: usize,
    positions: Vec<Option<u32>>,
}

impl Places {
    pub fn of(schedule: &Schedule) -> Self {
        let microbatches = schedule.microbatches() as usize;
        let classes = schedule.placement().stages() as usize * Kind::COUNT;
        let mut places = Self { microbatches, positions: vec![None; classes * microbatches] };
        for order in schedule.orders() {
            for (position, &pass) in (0..).zip(order) {
                let cell = places.cell(pass);
                places.positions[cell] = Some(position);
            }
        }
        places
    }

    /// The position of a pass, if it is there.
    pub fn find(&self, pass: Pass) -> Option<usize> {
        self.positions[self.cell(pass)].map(|position| position as usize)
    }

    /// The position of a pass; of B in place of I where the backward is not split.
    pub fn find_step(&self, pass: Pass) -> Option<usize> {
        self.find(pass).or_else(|| self.find(pass.with_kind(Kind::B)).filter(|_| pass.kind == Kind::I))
    }

    fn cell(&self, pass: Pass) -> usize {
        pass.class() * self.microbatches + pass.microbatch.index()
    }
}

/// The least cut that has everything before the given one, and with a pass everything that it needs.
pub(super) fn closed(schedule: &Schedule, mut cut: Vec<usize>) -> Vec<usize> {
    let (places, placement) = (Places::of(schedule), schedule.placement());
    let mut seen = vec![0; cut.len()];
    loop {
        let mut moved = false;
        for device in Device::all(schedule.devices()) {
            let at = device.index();
            while seen[at] < cut[at] {
                let pass = schedule.order(device)[seen[at]];
                seen[at] += 1;
                moved = true;
                for needs in prerequisites(pass, placement, |other| places.find(other).is_some()) {
                    if let Some(position) = places.find(needs) {
                        let holder = placement.device_of(needs.stage).index();
                        cut[holder] = cut[holder].max(position + 1);
                    }
                }
            }
        }
        if !moved {
            return cut;
        }
    }
}
