//! The order of ZBV in Primus (`zbv-formatted`), which is made for equal passes.

use bubbleproof::model::{Device, Kind, Microbatch, Model, Pass, Stage};
use bubbleproof::schedule::Schedule;

/// The passes of a device in turn, by chunk: the next of a kind is that of the next microbatch.
struct Order {
    stages: [Stage; 2],
    /// How many F, I and W of each chunk there are so far.
    ran: [[u32; 2]; 3],
    passes: Vec<Pass>,
}

impl Order {
    fn run(&mut self, kind: Kind, chunk: usize) {
        let of = match kind {
            Kind::F => 0,
            Kind::I => 1,
            _ => 2,
        };
        let next = &mut self.ran[of][chunk];
        self.passes.push(Pass::new(self.stages[chunk], kind, Microbatch(*next)));
        *next += 1;
    }

    fn backward(&mut self, chunk: usize) {
        self.run(Kind::I, chunk);
        self.run(Kind::W, chunk);
    }
}

/// While the pipeline fills, device r of d runs 2(d - r) - 1 forwards of its first chunk, then r of both chunks in turn, then
/// d - r times F, I and W of its second chunk. From there on it runs F, I and W of both chunks in turn. While the pipeline
/// drains, it runs r Is of both chunks in turn, then the other Is of its first chunk, each with a W, and the Ws that are left.
pub fn zbv(model: &Model) -> Schedule {
    let (devices, microbatches) = (model.devices(), model.microbatches());
    assert!(microbatches >= 2 * devices - 1, "fewer would not fill the pipeline");
    let orders = Device::all(devices).map(|device| of_device(device.0, devices, microbatches)).collect();
    Schedule::new(model.placement().clone(), microbatches, orders).expect("an order")
}

fn of_device(rank: u32, devices: u32, microbatches: u32) -> Vec<Pass> {
    let stages = [Stage(rank), Stage(2 * devices - 1 - rank)];
    let mut order = Order { stages, ran: [[0; 2]; 3], passes: Vec::new() };
    for _ in 1..2 * (devices - rank) {
        order.run(Kind::F, 0);
    }
    for _ in 0..rank {
        order.run(Kind::F, 1);
        order.run(Kind::F, 0);
    }
    for _ in rank..devices {
        order.run(Kind::F, 1);
        order.backward(1);
    }
    while order.ran[0][1] < microbatches {
        if order.ran[0][0] < microbatches {
            order.run(Kind::F, 0);
        }
        order.backward(0);
        order.run(Kind::F, 1);
        order.backward(1);
    }
    for _ in 0..rank {
        order.run(Kind::I, 0);
        order.run(Kind::I, 1);
    }
    for _ in rank..devices {
        order.backward(0);
    }
    for chunk in [1, 0] {
        while order.ran[2][chunk] < microbatches {
            order.run(Kind::W, chunk);
        }
    }
    order.passes
}
