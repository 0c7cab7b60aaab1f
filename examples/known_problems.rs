//! Optimises problems whose best known makespans are on record, and prints ours beside them.
//!
//! V placement, no latency, one unit of memory per chunk activation. The figures on record were found
//! while the methods were tried out; `bound` is what the certificate module proves.
//!
//! ```sh
//! cargo run --release --example known_problems
//! ```

use std::error::Error;
use std::time::Instant;

use bubbleproof::model::{Model, Placement, Units};
use bubbleproof::optimize::{Options, optimize};

/// Devices, microbatches, cap, best makespan on record.
type Problem = (u32, u32, i64, i64);

const UNIT: [Problem; 11] = [
    (2, 8, 3, 51),
    (3, 8, 4, 53),
    (4, 8, 5, 56),
    (4, 8, 8, 51),
    (8, 32, 8, 215),
    (16, 32, 32, 207),
    (16, 64, 24, 413),
    (32, 256, 24, 1655),
    (64, 1024, 44, 6395),
    (64, 1024, 66, 6330),
    (64, 1024, 128, 6207),
];

const UNEQUAL: [Problem; 9] = [
    (4, 8, 3, 286),
    (4, 8, 5, 183),
    (4, 8, 7, 160),
    (8, 8, 8, 235),
    (8, 8, 16, 172),
    (8, 32, 10, 654),
    (8, 32, 16, 613),
    (16, 64, 24, 1319),
    (16, 64, 12, 1728),
];

fn main() -> Result<(), Box<dyn Error>> {
    println!("F I W      d     m  cap  on record    ours   bound  seconds  found by");
    for (durations, problems) in [([1, 1, 1], UNIT.as_slice()), ([3, 4, 2], UNEQUAL.as_slice())] {
        for &(devices, microbatches, cap, known) in problems {
            let model = model(devices, microbatches, durations, cap)?;
            let begin = Instant::now();
            let found = optimize(&model, &Options::default(), &mut |_| ())?;
            let [forward, input, weight] = durations;
            println!(
                "{forward} {input} {weight}  {devices:4}  {microbatches:4}  {cap:3}  {known:9}  {:6}  {:6}  {:7.2}  {}",
                found.value(),
                found.bound.value,
                begin.elapsed().as_secs_f64(),
                found.engine,
            );
        }
    }
    Ok(())
}

fn model(devices: u32, microbatches: u32, durations: [i64; 3], cap: i64) -> Result<Model, Box<dyn Error>> {
    let [forward, input, weight] = durations;
    let model = Model::equal_stages(Placement::v(devices)?, microbatches, [forward, input, weight, 0])?;
    Ok(model.with_uniform_capacity(Some(Units(cap)))?)
}
