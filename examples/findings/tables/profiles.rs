//! The published families on measured durations.

use std::fs;
use std::path::Path;

use bubbleproof::catalog;
use bubbleproof::model::{self, Kind, Model, Stage};
use num_rational::Ratio;

use super::published::settled;
use super::{Row, Table, Takes, decimals, least_interval, limited, wide};

/// The shipped profiles that are cut into two chunks per device.
const PROFILES: [&str; 12] = [
    "1.5b-p8-m24",
    "1.5b-p8-m32",
    "1.5b-p8-m64",
    "6.2b-p8-m24",
    "6.2b-p8-m32",
    "6.2b-p8-m64",
    "14.6b-p16-m48",
    "14.6b-p16-m64",
    "14.6b-p16-m128",
    "28.3b-p32-m96",
    "28.3b-p32-m128",
    "28.3b-p32-m256",
];

pub fn table() -> Table {
    let row = |name: &'static str| Row::new(vec![name.to_owned()], Takes::Little, move || row(name));
    Table {
        name: "profiles",
        head: "| profile | work | v-min | least, W holds its part | ratio | least, W holds all | ratio | v-half | v-zb |\n\
               | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
        rows: PROFILES.map(row).into(),
    }
}

fn row(name: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("models/profiles/zb-{name}-v.toml"));
    let text = fs::read_to_string(path).expect("a profile");
    let model = model::parse(&text)
        .expect("a valid profile")
        .with_uniform_activation_capacity(None)
        .expect("no capacity");
    let mut cells = vec![microseconds(Ratio::from_integer(model.most_work().0))];
    let [interval, least] = on_model("v-min", &model);
    cells.extend([microseconds(interval), microseconds(least), decimals(wide(interval / least))]);
    let [interval, least] = on_model("v-min", &held_until_weight(&model));
    cells.extend([microseconds(least), decimals(wide(interval / least))]);
    cells.extend(["v-half", "v-zb"].map(|family| microseconds(on_model(family, &model)[0])));
    cells
}

/// The profiles are in nanoseconds.
fn microseconds(time: Ratio<i64>) -> String {
    let tenths = (time / 100).round().to_integer();
    format!("{}.{}", tenths / 10, tenths % 10)
}

/// The interval of a named block's order under a model's durations, and the least interval of any block
/// of no more memory.
pub fn on_model(name: &str, model: &Model) -> [Ratio<i64>; 2] {
    let block = catalog::block(name, model.placement()).expect("a block for this placement");
    let memory = block.steady_peak(model).into_iter().max().expect("a device");
    let settled = settled(&block, model).expect("the order settles");
    [settled, least_interval(&limited(model, memory.0))]
}

/// The model with chunk activations that stay until W, all alike.
fn held_until_weight(model: &Model) -> Model {
    let stage = Stage(0);
    let [forward, input, weight] = [Kind::F, Kind::I, Kind::W].map(|kind| model.duration(stage, kind).0);
    let times = [forward, input, weight, model.latency_after(stage).0];
    Model::equal_stages(model.placement().clone(), 1, times).expect("a model")
}
