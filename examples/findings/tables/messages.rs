//! What messages cost that keep links busy, for schedules of one and of two chunks per device.

use bubbleproof::catalog;
use bubbleproof::model::{self, Links, Messages, Model, Placement, Ticks};
use bubbleproof::replay::replay;
use num_rational::Ratio;

use super::{Row, Table, Takes};

const PROFILES: [(&str, &str, &str); 3] = [
    (
        "1.5B, d = 8, m = 32",
        include_str!("../../../models/profiles/zb-1.5b-p8-m32.toml"),
        include_str!("../../../models/profiles/zb-1.5b-p8-m32-v.toml"),
    ),
    (
        "6.2B, d = 8, m = 32",
        include_str!("../../../models/profiles/zb-6.2b-p8-m32.toml"),
        include_str!("../../../models/profiles/zb-6.2b-p8-m32-v.toml"),
    ),
    (
        "14.6B, d = 16, m = 48",
        include_str!("../../../models/profiles/zb-14.6b-p16-m48.toml"),
        include_str!("../../../models/profiles/zb-14.6b-p16-m48-v.toml"),
    ),
];

/// The messages take the published time of one, or several times as long.
const FACTORS: [i64; 3] = [1, 4, 10];

pub fn table() -> Table {
    let rows = PROFILES.iter().flat_map(|&(name, linear, v)| {
        FACTORS.map(|factor| {
            let share = share(&read(v), factor);
            Row::new(vec![name.to_owned(), share], Takes::Little, move || row(linear, v, factor))
        })
    });
    Table {
        name: "messages",
        head: "| profile | message | 1F1B | ZB-H1 | interleaved 1F1B | V-Min | V-Half | V-ZB |\n\
               | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
        rows: rows.collect(),
    }
}

fn read(text: &str) -> Model {
    model::parse(text).expect("a model")
}

/// How long a message takes, in percent of a chunk's F.
fn share(v: &Model, factor: i64) -> String {
    let costs = v.costs();
    percent(Ratio::new(factor * costs.communication[0].0, costs.forward[0].0))
}

fn row(linear: &str, v: &str, factor: i64) -> Vec<String> {
    let (linear, v) = (read(linear), read(v));
    let looped = Placement::looped(v.devices(), 2).expect("a placement");
    let looped = Model::new(
        "looped".to_owned(),
        None,
        looped,
        v.microbatches(),
        v.costs().clone(),
        v.memory().clone(),
    );
    let looped = looped.expect("a model");
    [
        ("1f1b", &linear),
        ("zb-h1", &linear),
        ("interleaved-1f1b", &looped),
        ("v-min", &v),
        ("v-half", &v),
        ("v-zb", &v),
    ]
    .map(|(name, model)| {
        let free = makespan(name, &with_messages(model, 0));
        let busy = makespan(name, &with_messages(model, factor));
        let sign = if busy < free { "-" } else { "+" };
        format!("{sign}{}", percent(Ratio::new((busy.0 - free.0).abs(), free.0)))
    })
    .to_vec()
}

/// The model in which messages keep links busy for so many times their published latency, which counts no more.
fn with_messages(model: &Model, factor: i64) -> Model {
    let mut costs = model.costs().clone();
    let occupancy = costs.communication.iter().map(|latency| Ticks(factor * latency.0)).collect();
    costs.communication.fill(Ticks::ZERO);
    let model = model.with_costs(costs);
    model
        .and_then(|model| model.with_messages(Some(Messages { occupancy, links: Links::Pair })))
        .expect("a model")
}

fn makespan(name: &str, model: &Model) -> Ticks {
    let schedule = catalog::find(name).expect("a name").generate(model).expect("there is no capacity");
    replay(model, &schedule).timing.expect("the catalogue is valid").metrics.makespan
}

/// A share in percent to one decimal.
fn percent(share: Ratio<i64>) -> String {
    let tenths = (share * 1000).round().to_integer();
    format!("{}.{} %", tenths / 10, tenths % 10)
}
