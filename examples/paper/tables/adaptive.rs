//! Bubbles within a memory limit: the paper's adaptive scheduler beside a search that is not bound to its family of blocks.

use bubbleproof::catalog::V_ADAPTIVE;
use bubbleproof::certificate::Objective;
use bubbleproof::model::{Model, Placement, Ticks, Units};
use bubbleproof::optimize::{Options, optimize};
use bubbleproof::replay::{Rate, replay};

use super::{Row, Table, Takes, percent};

/// Durations F, I, W: equal ones, and those of the paper's Figure 5.
const TIMES: [[i64; 3]; 2] = [[1, 1, 1], [3, 4, 2]];

const DEVICES: [u32; 2] = [4, 8];

/// Microbatches by device.
const PER_DEVICE: [u32; 2] = [2, 4];

/// A bubble in percent of the span.
fn bubble(model: &Model, span: Ticks) -> String {
    let work = model.most_work() * i64::from(model.microbatches());
    percent(Rate::from_integer(1) - Rate::new(i128::from(work.0), i128::from(span.0)), 1)
}

fn model(devices: u32, microbatches: u32, [forward, input, weight]: [i64; 3], chunks: i64) -> Model {
    let placement = Placement::v(devices).expect("a placement");
    let model = Model::equal_stages(placement, microbatches, [forward, input, weight, 0]).expect("a model");
    model.with_uniform_activation_capacity(Some(Units(chunks))).expect("a capacity")
}

/// The bubble of the adaptive scheduler, of the best that was found, and the least that any schedule can have.
fn answer(model: &Model) -> [String; 3] {
    let adaptive = V_ADAPTIVE.generate(model).ok();
    let span = adaptive
        .as_ref()
        .map(|schedule| replay(model, schedule).timing.expect("it runs").metrics.device_span);
    let options = Options {
        objective: Objective::DeviceSpan,
        effort: 20_000_000,
        exact_effort: 0,
        known: adaptive.into_iter().collect(),
        ..Options::default()
    };
    let best = optimize(model, &options, &mut |_| ()).expect("one microbatch fits");
    [
        span.map_or_else(|| "-".to_owned(), |span| bubble(model, span)),
        bubble(model, best.value()),
        bubble(model, best.lower_bound()),
    ]
}

pub fn table() -> Table {
    let problems = TIMES.into_iter().flat_map(|times| {
        DEVICES
            .into_iter()
            .flat_map(move |devices| (2..=2 * i64::from(devices)).map(move |chunks| (times, devices, chunks)))
    });
    let rows = problems.map(|(times, devices, chunks)| {
        let [forward, input, weight] = times;
        let problem = vec![format!("{forward},{input},{weight}"), devices.to_string(), chunks.to_string()];
        let takes = if devices == 4 && times == TIMES[0] { Takes::Little } else { Takes::Long };
        Row::new(problem, takes, move || {
            PER_DEVICE
                .iter()
                .flat_map(|per_device| answer(&model(devices, per_device * devices, times, chunks)))
                .collect()
        })
    });
    Table {
        name: "adaptive",
        head: "| F,I,W | p | chunks | m = 2p: v-adaptive, % | found | none below | m = 4p: v-adaptive, % | found | none below |\n\
               | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
        rows: rows.collect(),
    }
}
