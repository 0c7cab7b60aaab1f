//! Where every pass of a schedule is, in dense tables.

use crate::model::{Device, Kind, Model, Pass, Ticks};
use crate::schedule::Schedule;

/// The place of every pass of a schedule: its device and its position there. If a pass occurs several
/// times, the last one counts.
pub struct Places {
    stages: usize,
    microbatches: usize,
    /// By device: how many passes the devices before it have; and the number of all passes at the end.
    first: Vec<usize>,
    /// By stage, kind and microbatch: one more than the rank of the pass in all orders one after another, or 0
    /// where there is none.
    ranks: Vec<u32>,
}

impl Places {
    /// The places of the passes of a schedule.
    pub fn of(schedule: &Schedule) -> Self {
        let (stages, microbatches) =
            (schedule.placement().stages() as usize, schedule.microbatches() as usize);
        let mut places = Self {
            stages,
            microbatches,
            first: vec![0],
            ranks: vec![0; stages * Kind::COUNT * microbatches],
        };
        let mut rank = 0;
        for order in schedule.orders() {
            for &pass in order {
                rank += 1;
                if let Some(cell) = places.cell(pass) {
                    places.ranks[cell] = rank;
                }
            }
            places.first.push(rank as usize);
        }
        places
    }

    /// The place of a pass; nothing when the schedule does not have it.
    pub fn find(&self, pass: Pass) -> Option<(Device, usize)> {
        let rank = self.rank(pass)?;
        let device = self.first.partition_point(|&first| first <= rank) - 1;
        Some((Device::at(device), rank - self.first[device]))
    }

    /// The position of a pass in the concatenation of all orders; nothing when the schedule does not have it.
    pub fn rank(&self, pass: Pass) -> Option<usize> {
        let rank = self.ranks[self.cell(pass)?].checked_sub(1)?;
        Some(rank as usize)
    }

    fn cell(&self, pass: Pass) -> Option<usize> {
        let (stage, microbatch) = (pass.stage.index(), pass.microbatch.index());
        (stage < self.stages && microbatch < self.microbatches)
            .then(|| (stage * Kind::COUNT + pass.kind as usize) * self.microbatches + microbatch)
    }
}

/// The time between the end of a pass and the start of one of the same or a neighbouring stage that needs it.
pub fn latency(model: &Model, needed: Pass, pass: Pass) -> Ticks {
    if needed.stage == pass.stage {
        return Ticks::ZERO;
    }
    model.latency_after(needed.stage.min(pass.stage))
}
