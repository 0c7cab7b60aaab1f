//! Orders for medians against orders for the mean, under durations that were measured: the traces of `tests/data/traces`,
//! which were taken on a CPU.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use bubbleproof::model::{Memory, Model, Ticks, Units};
use bubbleproof::optimize::Options;
use bubbleproof::optimize::mean::{MeanSolution, Measured, shortest_mean};
use bubbleproof::replay::{PassDurations, makespans};
use bubbleproof::schedule::Schedule;
use bubbleproof::trace::Trace;
use bubbleproof::trace::file;
use bubbleproof::trace::fit::profile;
use bubbleproof::trace::runs::runs;
use flate2::read::GzDecoder;
use num_rational::Ratio;

use super::{Row, Table, Takes};

/// A placement: its name, what was run on it, how many activations a device may hold per device of the pipeline, and the
/// two named schedules that are compared.
type Case = (&'static str, &'static [&'static str], i64, [&'static str; 2]);

const LINEAR: Case = ("linear", &["1f1b", "zb-h1"], 1, ["1f1b", "zb-h1"]);
const V: Case = ("v", &["optimised", "v-half", "v-min", "v-zb"], 2, ["v-half", "v-zb"]);

pub fn table() -> Table {
    let mut rows = Vec::new();
    for case in [LINEAR, V] {
        for devices in [2, 4] {
            for network in ["small", "large"] {
                let problem = [case.0.to_owned(), devices.to_string(), network.to_owned()];
                rows.push(Row::new(problem.into(), Takes::Little, move || row(case, devices, network)));
            }
        }
    }
    Table {
        name: "jitter",
        head: "| placement | d | network | fitted, held out | 1F1B, V-Half | ZB-H1, V-ZB | for medians | for the mean | gained on the fitted | gained on the held out |\n\
               | --- | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
        rows,
    }
}

fn row((_, ran, per_device, named): Case, devices: u32, network: &str) -> Vec<String> {
    let traces: Vec<Trace> = ran
        .iter()
        .flat_map(|name| (1..=3).map(move |run| read(&format!("{name}-d{devices}-m16-{network}-{run}"))))
        .collect();
    // Every second run is held out, as a whole.
    let half = |rest| traces.iter().skip(rest).step_by(2).cloned().collect::<Vec<_>>();
    let (fitted, held_out) = (half(0), half(1));
    // The search for the mean knows no links: what messages occupy is part of their latency.
    let measured = profile("measured", &fitted).expect("traces of one pipeline").model.with_own_links();
    let model = with_equal_memory(&measured, per_device * i64::from(devices));
    let [fitted, held_out] = [fitted, held_out].map(|traces| runs(&traces, &measured).expect("whole runs"));
    let options = Options { exact_effort: 0, ..Options::default() };
    let found = shortest_mean(&model, &fitted, &options, &mut |_| ()).expect("schedules");
    let mean = |schedule: &Schedule| mean(&model, schedule, &held_out);
    let microseconds = |mean: Ratio<i128>| (mean / 1000).round().to_integer().to_string();
    let gained = |medians: Ratio<i128>, best: Ratio<i128>| {
        let tenths = ((medians - best) / medians * 10_000).round().to_integer();
        format!("{}{}.{:02} %", if tenths < 0 { "-" } else { "" }, tenths.abs() / 100, tenths.abs() % 100)
    };
    let MeanSolution { best, of_medians, .. } = &found;
    let mut cells = vec![format!("{}, {}", fitted.len(), held_out.len())];
    let schedule = |name: &str| &candidate(&found, name).schedule;
    cells.extend(named.map(|name| microseconds(mean(schedule(name)))));
    cells.extend([of_medians, best].map(|found| microseconds(mean(&found.schedule))));
    cells.push(gained(of_medians.mean(), best.mean()));
    cells.push(gained(mean(&of_medians.schedule), mean(&best.schedule)));
    cells
}

fn candidate<'a>(found: &'a MeanSolution, name: &str) -> &'a Measured {
    found.named.iter().find(|named| named.engine == name).expect("it fits into memory")
}

fn mean(model: &Model, schedule: &Schedule, runs: &[PassDurations]) -> Ratio<i128> {
    let makespans: Vec<Ticks> = makespans(model, schedule, runs).expect("it runs");
    let total: i128 = makespans.iter().map(|makespan| i128::from(makespan.0)).sum();
    Ratio::new(total, makespans.len() as i128)
}

/// The measured times, with one unit of memory for every activation and the same limit on every device.
fn with_equal_memory(measured: &Model, capacity: i64) -> Model {
    let stages = measured.stages() as usize;
    let memory = Memory {
        unit: "stage-activation".to_owned(),
        activation: vec![Units(1); stages],
        retained_for_weight: vec![Units(1); stages],
        checkpoint: None,
        weights: vec![Units(0); stages],
        capacity: vec![Some(Units(capacity)); measured.devices() as usize],
    };
    let (placement, microbatches) = (measured.placement().clone(), measured.microbatches());
    let costs = measured.costs().clone();
    Model::new(measured.name().to_owned(), None, placement, microbatches, costs, memory).expect("a model")
}

fn read(name: &str) -> Trace {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/data/traces/cpu/{name}.json.gz"));
    let mut text = String::new();
    let mut packed = GzDecoder::new(File::open(&path).expect("a trace"));
    packed.read_to_string(&mut text).expect("what gzip wrote");
    file::parse(&text).expect("a trace file")
}
