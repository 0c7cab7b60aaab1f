//! Stages that differ: what the published orders, made for equal ones, lose.

use bubbleproof::block::Passes;
use bubbleproof::catalog;
use bubbleproof::model::{Costs, Device, Kind, Model, Placement, Stage, Ticks};
use bubbleproof::optimize::zone;
use bubbleproof::stop::Stop;
use num_rational::Ratio;

use super::profiles::on_model;
use super::{Row, Table, Takes, decimals, wide};

/// Twice 3,4,2: one and a half times as long is still whole.
const TIMES: [i64; 3] = [6, 8, 4];

/// Which stages take longer than the others, and how many halves of their time.
#[derive(Debug, Clone, Copy)]
enum Longer {
    /// The head and the loss.
    Last(i64),
    /// All stages of the device in the middle.
    Device(i64),
}

impl Longer {
    fn named(self) -> &'static str {
        match self {
            Self::Last(3) => "last stage 1.5 times",
            Self::Last(_) => "last stage twice",
            Self::Device(_) => "device d/2 1.5 times",
        }
    }

    /// The halves that a stage takes.
    fn halves(self, placement: &Placement, stage: Stage) -> i64 {
        let (chosen, halves) = match self {
            Self::Last(halves) => (stage.0 + 1 == placement.stages(), halves),
            Self::Device(halves) => (placement.device_of(stage) == Device(placement.devices() / 2), halves),
        };
        if chosen { halves } else { 2 }
    }

    fn model(self, placement: Placement) -> Model {
        let equal = Model::equal_stages(placement, 1, [TIMES[0], TIMES[1], TIMES[2], 0]).expect("a model");
        let placement = equal.placement();
        let of = |kind| -> Vec<Ticks> {
            let stages = (0..placement.stages()).map(Stage);
            stages
                .map(|stage| Ticks(equal.duration(stage, kind).0 * self.halves(placement, stage) / 2))
                .collect()
        };
        let costs = Costs {
            forward: of(Kind::F),
            backward_input: of(Kind::I),
            backward_weight: of(Kind::W),
            ..equal.costs().clone()
        };
        let memory = equal.memory().clone();
        Model::new("unequal".to_owned(), None, equal.placement().clone(), 1, costs, memory).expect("a model")
    }
}

pub fn table() -> Table {
    let cases = [Longer::Last(3), Longer::Last(4), Longer::Device(3)].into_iter();
    let problems = cases.flat_map(|longer| {
        [4_u32, 8].into_iter().flat_map(move |devices| {
            ["v-min", "v-half", "v-zb", "zb-h1"].map(move |family| (longer, devices, family))
        })
    });
    let rows = problems.map(|(longer, devices, family)| {
        let problem = vec![longer.named().to_owned(), devices.to_string(), family.to_owned()];
        Row::new(problem, Takes::Little, move || row(longer, devices, family))
    });
    Table {
        name: "unequal",
        head: "| longer | d | family | capacity | work | its interval | least | ratio | least memory at its interval |\n\
               | --- | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
        rows: rows.collect(),
    }
}

fn row(longer: Longer, devices: u32, family: &str) -> Vec<String> {
    let placement = if family == "zb-h1" { Placement::linear(devices) } else { Placement::v(devices) };
    let model = longer.model(placement.expect("a placement"));
    let block = catalog::block(family, model.placement()).expect("a block");
    let capacity = block.steady_peak(&model).into_iter().max().expect("a device");
    let [interval, least] = on_model(family, &model);
    let memory = zone::least_memory(&model, Passes::SPLIT, interval, &Stop::default())
        .expect("no capacity")
        .peak_max();
    vec![
        capacity.to_string(),
        model.most_work().to_string(),
        interval.to_string(),
        least.to_string(),
        decimals(wide(interval / least)),
        memory.to_string(),
    ]
}

/// How many models of stages that all differ there are for each number of devices.
const DRAWN: u32 = 100;

pub fn drawn_table() -> Table {
    let problems = [4_u32, 6]
        .into_iter()
        .flat_map(|devices| ["v-min", "v-half", "v-zb", "zb-h1"].map(move |family| (devices, family)));
    let rows = problems.map(|(devices, family)| {
        Row::new(vec![devices.to_string(), family.to_owned()], Takes::Little, move || {
            drawn_row(devices, family)
        })
    });
    Table {
        name: "drawn",
        head: "| d | family | optimal of 100 | mean ratio | worst | least memory at its interval, mean | its own |\n\
               | ---: | --- | ---: | ---: | ---: | ---: | ---: |",
        rows: rows.collect(),
    }
}

/// F, I and W of every stage drawn from 1 to 6.
fn drawn(placement: Placement, random: &mut fastrand::Rng) -> Model {
    let equal = Model::equal_stages(placement, 1, [1, 1, 1, 0]).expect("a model");
    let stages = equal.stages();
    let mut times = || -> Vec<Ticks> { (0..stages).map(|_| Ticks(random.i64(1..=6))).collect() };
    let costs = Costs {
        forward: times(),
        backward_input: times(),
        backward_weight: times(),
        ..equal.costs().clone()
    };
    let memory = equal.memory().clone();
    Model::new("drawn".to_owned(), None, equal.placement().clone(), 1, costs, memory).expect("a model")
}

fn drawn_row(devices: u32, family: &str) -> Vec<String> {
    let mut random = fastrand::Rng::with_seed(u64::from(devices));
    let (mut optimal, mut sum, mut worst) = (0, Ratio::from_integer(0_i128), Ratio::from_integer(1));
    let (mut memory, mut own) = (0, 0);
    for _ in 0..DRAWN {
        let placement = if family == "zb-h1" { Placement::linear(devices) } else { Placement::v(devices) };
        let model = drawn(placement.expect("a placement"), &mut random);
        let [interval, least] = on_model(family, &model);
        let ratio = interval / least;
        optimal += i32::from(ratio == Ratio::from_integer(1));
        sum += wide(ratio);
        worst = worst.max(ratio);
        let best =
            zone::least_memory(&model, Passes::SPLIT, interval, &Stop::default()).expect("no capacity");
        memory += best.peak_max().0;
        let block = catalog::block(family, model.placement()).expect("a block");
        own = block.steady_peak(&model).into_iter().max().expect("a device").0;
    }
    vec![
        optimal.to_string(),
        decimals(sum / i128::from(DRAWN)),
        worst.to_string(),
        decimals(Ratio::new(memory.into(), DRAWN.into())),
        own.to_string(),
    ]
}
