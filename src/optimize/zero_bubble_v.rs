//! ZB-V: V placement, memory of 1F1B, and no bubble at unit times.
//!
//! The order that PyTorch's `ScheduleZBVZeroBubble` runs, of the authors of Pipeline Parallelism with Controllable
//! Memory (arXiv 2405.15362). Unlike the copies of a block it is written out by hand, warm-up and cool-down
//! included, and at unit times every device works from its first start to its last end.

use crate::model::{Device, Kind, Microbatch, Model, Pass, Shape, Stage};
use crate::schedule::Schedule;
use crate::stop::Stop;

/// The schedule for a model; nothing for another placement, or when it is time to stop before it is made.
pub(super) fn zero_bubble_v(model: &Model, stop: &Stop) -> Option<Schedule> {
    if model.placement().shape() != Shape::V {
        return None;
    }
    let order = |device: Device| (!stop.is_due()).then(|| order(model, device.0));
    let orders: Option<Vec<Vec<Pass>>> = Device::all(model.devices()).map(order).collect();
    let schedule = Schedule::new(model.placement().clone(), model.microbatches(), orders?);
    Some(schedule.expect("a model has as many orders as devices and no more passes than a schedule may"))
}

/// What a device has run so far, of its stage down the devices and of the one back up.
struct Row {
    stages: [Stage; 2],
    /// By stage: how many F, I and W there are.
    counts: [[u32; 3]; 2],
    order: Vec<Pass>,
    microbatches: u32,
}

impl Row {
    /// The next passes, each a stage and a kind. Microbatches that the model does not have are left out.
    fn run(&mut self, passes: &[(usize, Kind)]) {
        for &(at, kind) in passes {
            let count = match kind {
                Kind::F => &mut self.counts[at][0],
                Kind::I => &mut self.counts[at][1],
                _ => &mut self.counts[at][2],
            };
            if *count < self.microbatches {
                self.order.push(Pass::new(self.stages[at], kind, Microbatch(*count)));
            }
            *count += 1;
        }
    }

    const fn count(&self, at: usize, kind: Kind) -> u32 {
        self.counts[at][match kind {
            Kind::F => 0,
            Kind::I => 1,
            _ => 2,
        }]
    }
}

fn order(model: &Model, device: u32) -> Vec<Pass> {
    use Kind::{F, I, W};
    const DOWN: usize = 0;
    const UP: usize = 1;
    let devices = model.devices();
    let microbatches = model.microbatches();
    // The order needs enough microbatches to fill the pipeline; those that the model does not have are left out.
    let enough = microbatches.max(2 * devices - 1);
    let stages = [Stage(device), Stage(2 * devices - 1 - device)];
    let mut row = Row { stages, counts: [[0; 3]; 2], order: Vec::new(), microbatches };
    let behind = devices - device;
    (0..2 * behind - 1).for_each(|_| row.run(&[(DOWN, F)]));
    (0..device).for_each(|_| row.run(&[(UP, F), (DOWN, F)]));
    (0..behind).for_each(|_| row.run(&[(UP, F), (UP, I), (UP, W)]));
    while row.count(UP, F) < row.count(DOWN, F) || row.count(DOWN, F) < enough {
        if row.count(DOWN, F) < enough {
            row.run(&[(DOWN, F)]);
        }
        row.run(&[(DOWN, I), (DOWN, W), (UP, F), (UP, I), (UP, W)]);
    }
    (0..device).for_each(|_| row.run(&[(DOWN, I), (UP, I)]));
    (0..behind).for_each(|_| row.run(&[(DOWN, I), (DOWN, W)]));
    for at in [UP, DOWN] {
        while row.count(at, W) < row.count(at, I) {
            row.run(&[(at, W)]);
        }
    }
    row.order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Placement, Ticks, Units};
    use crate::replay::replay;

    #[test]
    fn it_is_valid_within_the_memory_of_1f1b_for_any_number_of_microbatches() {
        for devices in [2, 3, 8] {
            for microbatches in [1, 2, devices, 2 * devices - 1, 5 * devices] {
                let placement = Placement::v(devices).expect("a placement");
                let model = Model::equal_stages(placement, microbatches, [3, 4, 2, 1]).expect("a model");
                let verdict = replay(&model, &zero_bubble_v(&model, &Stop::default()).expect("a V"));
                assert!(verdict.is_valid(), "{devices}, {microbatches}: {:?}", verdict.violations);
                assert!(verdict.peak_memory_max() <= Units(i64::from(2 * devices)));
            }
        }
        let linear = Model::unit(Placement::linear(4).expect("a placement"), 4).expect("a model");
        assert_eq!(zero_bubble_v(&linear, &Stop::default()), None);
    }

    #[test]
    fn it_has_no_bubble_at_unit_times() {
        for (devices, microbatches) in [(4, 8), (8, 64), (16, 32)] {
            let placement = Placement::v(devices).expect("a placement");
            let model = Model::equal_stages(placement, microbatches, [1, 1, 1, 0]).expect("a model");
            let timing = replay(&model, &zero_bubble_v(&model, &Stop::default()).expect("a V"))
                .timing
                .expect("it is valid");
            assert_eq!(timing.metrics.device_span, Ticks(6 * i64::from(microbatches)));
        }
    }
}
