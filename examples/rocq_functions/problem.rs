//! Random pipelines, and orders of their passes.

use bubbleproof::model::{
    Costs, Device, Kind, Memory, Microbatch, Model, Pass, Placement, Stage, Ticks, Units,
};
use bubbleproof::schedule::Schedule;
use fastrand::Rng;
use serde::{Deserialize, Serialize};

/// A pipeline as lists, in the order of `Checker.data` in Rocq.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Problem {
    /// By device: its stages.
    pub placement: Vec<Vec<u32>>,
    pub microbatches: u32,
    /// By stage.
    pub forward: Vec<i64>,
    pub input: Vec<i64>,
    pub weight: Vec<i64>,
    /// Between each stage and the next.
    pub latency: Vec<i64>,
    pub activation: Vec<i64>,
    pub retained: Vec<i64>,
    pub resident: Vec<i64>,
    /// By device.
    pub capacity: Vec<Option<i64>>,
}

impl Problem {
    /// Of passes that take at least so long, without capacities.
    pub fn random(choices: &mut Rng, least: i64, most_microbatches: u32) -> Self {
        let placement = placement(choices);
        Self::on(placement, choices, least, most_microbatches)
    }

    /// The same on these devices.
    pub fn on(placement: Vec<Vec<u32>>, choices: &mut Rng, least: i64, most_microbatches: u32) -> Self {
        let stages = placement.iter().map(Vec::len).sum::<usize>();
        let mut list =
            |least: i64, most: i64| (0..stages).map(|_| choices.i64(least..=most)).collect::<Vec<i64>>();
        let mut forward = list(least, 5);
        let (input, weight) = (list(least, 5), list(least, 5));
        let mut latency = list(0, 4);
        latency.pop();
        let activation = list(0, 4);
        let retained = activation.iter().map(|&held| choices.i64(0..=held)).collect();
        for stages in &placement {
            let is_idle = |&stage: &u32| {
                let stage = stage as usize;
                forward[stage] + input[stage] + weight[stage] == 0
            };
            // A device that never works is no model.
            if stages.iter().all(is_idle) {
                forward[stages[0] as usize] = 1;
            }
        }
        let resident = (0..stages).map(|_| choices.i64(0..=1) * choices.i64(0..=2)).collect();
        let capacity = vec![None; placement.len()];
        let microbatches = choices.u32(1..=most_microbatches);
        Self {
            placement,
            microbatches,
            forward,
            input,
            weight,
            latency,
            activation,
            retained,
            resident,
            capacity,
        }
    }

    /// Gives devices capacities: for each, one time in so many none, else room for a microbatch and some more.
    pub fn limit(&mut self, choices: &mut Rng, none_in: u32) {
        for (device, stages) in self.placement.iter().enumerate() {
            let of = |values: &[i64]| stages.iter().map(|&stage| values[stage as usize]).sum::<i64>();
            let (resident, held) = (of(&self.resident), of(&self.activation));
            let limit = resident + (held * choices.i64(1..=3) + choices.i64(-2..=2)).max(0);
            self.capacity[device] = (choices.u32(0..none_in) > 0).then_some(limit);
        }
    }

    pub fn costs(&self) -> Costs {
        let ticks = |values: &[i64]| values.iter().copied().map(Ticks).collect::<Vec<_>>();
        Costs {
            unit: "tick".to_owned(),
            forward: ticks(&self.forward),
            backward_input: ticks(&self.input),
            backward_weight: ticks(&self.weight),
            communication: ticks(&self.latency),
        }
    }

    pub fn model(&self) -> Model {
        let units = |values: &[i64]| values.iter().copied().map(Units).collect::<Vec<_>>();
        let stages = |held: &Vec<u32>| held.iter().copied().map(Stage).collect();
        let placement = Placement::new(self.placement.iter().map(stages).collect()).expect("a placement");
        let memory = Memory {
            unit: "unit".to_owned(),
            activation: units(&self.activation),
            retained_for_weight: units(&self.retained),
            checkpoint: None,
            weights: units(&self.resident),
            capacity: self.capacity.iter().map(|limit| limit.map(Units)).collect(),
        };
        Model::new("random".to_owned(), None, placement, self.microbatches, self.costs(), memory)
            .expect("a model")
    }

    pub fn stages(&self) -> usize {
        self.forward.len()
    }

    pub fn device_of(&self, stage: Stage) -> usize {
        let holds = |stages: &Vec<u32>| stages.contains(&stage.0);
        self.placement.iter().position(holds).expect("every stage is on a device")
    }

    /// The passes of all stages and of so many microbatches.
    pub fn passes(&self, microbatches: u32) -> Vec<Pass> {
        let stages = u32::try_from(self.stages()).expect("a small problem");
        let cells =
            Stage::all(stages).flat_map(|stage| Microbatch::all(microbatches).map(move |of| (stage, of)));
        cells.flat_map(|(stage, of)| KINDS.map(|kind| Pass::new(stage, kind, of))).collect()
    }

    /// The pass that a pass needs, if any.
    pub fn needs(&self, pass: Pass) -> Option<Pass> {
        let last = Stage::at(self.stages() - 1);
        let of = |stage, kind| Some(Pass::new(stage, kind, pass.microbatch));
        match pass.kind {
            Kind::F => pass.stage.0.checked_sub(1).and_then(|before| of(Stage(before), Kind::F)),
            Kind::I if pass.stage == last => of(last, Kind::F),
            Kind::I => of(Stage(pass.stage.0 + 1), Kind::I),
            _ => of(pass.stage, Kind::I),
        }
    }

    /// By device: its passes, in the order of all.
    pub fn by_device(&self, passes: &[Pass]) -> Vec<Vec<Pass>> {
        let mut orders = vec![Vec::new(); self.placement.len()];
        for &pass in passes {
            orders[self.device_of(pass.stage)].push(pass);
        }
        orders
    }

    /// Orders that can run.
    pub fn valid_orders(&self, choices: &mut Rng) -> Vec<Vec<Pass>> {
        let mut passes = self.passes(self.microbatches);
        // Breadth first looks like a pipeline; any order like no schedule that anybody would run.
        if choices.bool() {
            let late = |pass: &Pass| {
                let back = if pass.kind == Kind::F {
                    pass.stage.index()
                } else {
                    2 * self.stages() - pass.stage.index()
                };
                back + 3 * pass.microbatch.index() + usize::from(pass.kind == Kind::W)
            };
            passes.sort_by_key(late);
            for _ in 0..choices.usize(0..8) {
                let (one, other) = (choices.usize(0..passes.len()), choices.usize(0..passes.len()));
                passes.swap(one, other);
            }
            return self.by_device(&self.in_order(&passes));
        }
        choices.shuffle(&mut passes);
        self.by_device(&self.in_order(&passes))
    }

    /// The same passes, each as early as may be behind what it needs of them.
    pub fn in_order(&self, passes: &[Pass]) -> Vec<Pass> {
        let mut waiting = passes.to_vec();
        let mut done: Vec<Pass> = Vec::new();
        while !waiting.is_empty() {
            let is_ready = |pass: &Pass| self.needs(*pass).is_none_or(|need| !waiting.contains(&need));
            let at = waiting.iter().position(is_ready).expect("no pass needs itself");
            done.push(waiting.remove(at));
        }
        done
    }

    pub fn schedule(&self, orders: Vec<Vec<Pass>>) -> Schedule {
        Schedule::new(self.model().placement().clone(), self.microbatches, orders).expect("a schedule")
    }
}

/// The kinds that the theorems are about, in the order of `ExtractionFunctions.kind_number`.
pub const KINDS: [Kind; 3] = [Kind::F, Kind::I, Kind::W];

/// Orders as text, for the reader in OCaml and for people.
pub fn texts(orders: &[Vec<Pass>]) -> Vec<Vec<String>> {
    orders.iter().map(|order| order.iter().map(ToString::to_string).collect()).collect()
}

pub fn devices(model: &Model) -> impl Iterator<Item = Device> + use<> {
    Device::all(model.devices())
}

fn placement(choices: &mut Rng) -> Vec<Vec<u32>> {
    match choices.u32(0..4) {
        0 => (0..choices.u32(1..=4)).map(|device| vec![device]).collect(),
        1 => {
            let devices = choices.u32(1..=3);
            (0..devices).map(|device| vec![device, 2 * devices - 1 - device]).collect()
        }
        2 => {
            let (devices, chunks) = (choices.u32(1..=3), choices.u32(1..=2));
            (0..devices).map(|device| (0..chunks).map(|chunk| chunk * devices + device).collect()).collect()
        }
        _ => {
            let devices = choices.usize(1..=3);
            let mut stages: Vec<u32> = (0..).take(devices + choices.usize(0..=2)).collect();
            choices.shuffle(&mut stages);
            let mut lists = vec![Vec::new(); devices];
            for (position, stage) in stages.into_iter().enumerate() {
                lists[if position < devices { position } else { choices.usize(0..devices) }].push(stage);
            }
            lists
        }
    }
}
