//! Finds blocks of several microbatches per interval where memory is too short for one, and prints
//! their intervals per microbatch beside the optimum of one microbatch per interval.
//!
//! V placement, no latency, one unit of memory per chunk activation. `on record` is the least interval
//! per microbatch known from an exact program over all schedules; `one` is proved by the exact program
//! over blocks; `bound` is what the certificate module proves of every schedule in the long run.

use std::error::Error;
use std::time::Instant;

use bubbleproof::block::Passes;
use bubbleproof::certificate::{STEPS, steady_bound};
use bubbleproof::model::{Model, Placement, Units};
use bubbleproof::optimize::periodic::{Effort, least_interval};
use bubbleproof::optimize::zone;
use bubbleproof::stop::Stop;
use num_rational::Ratio;

/// F, I, W; devices, capacity, interval per microbatch on record.
type Problem = ([i64; 3], u32, i64, (i64, i64));

const PROBLEMS: [Problem; 10] = [
    ([1, 1, 1], 5, 4, (7, 1)),
    ([1, 1, 1], 7, 4, (9, 1)),
    ([1, 1, 1], 8, 6, (7, 1)),
    ([1, 1, 1], 7, 5, (17, 2)),
    ([1, 1, 1], 5, 5, (20, 3)),
    ([3, 4, 2], 4, 5, (20, 1)),
    ([3, 4, 2], 5, 4, (25, 1)),
    ([3, 4, 2], 5, 5, (45, 2)),
    ([3, 4, 2], 6, 4, (57, 2)),
    ([3, 4, 2], 6, 5, (51, 2)),
];

pub fn run(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    let steps = arguments.first().map_or(Ok(2_000_000), |steps| steps.parse())?;
    println!("F I W    d  capacity  on record    one  K = 2  K = 3  bound  seconds");
    for ([forward, input, weight], devices, capacity, known) in PROBLEMS {
        let model = Model::equal_stages(Placement::v(devices)?, 1, [forward, input, weight, 0])?;
        let model = model.with_uniform_activation_capacity(Some(Units(capacity)))?;
        let begin = Instant::now();
        let one = zone::least_interval(&model, Passes::SPLIT, &Stop::default())?.interval;
        let mut several = Vec::new();
        for period in 2..=3 {
            let outcome = least_interval(&model, period, Effort { seed: 0, steps }, &Stop::default())?;
            let block = outcome.best().ok_or("a microbatch alone keeps to the capacity")?;
            several.push((block.interval / i64::from(period)).to_string());
        }
        println!(
            "{forward} {input} {weight}  {devices:3}  {capacity:8}  {:>9}  {:>5}  {:>5}  {:>5}  {:>5}  {:7.2}",
            Ratio::new(known.0, known.1).to_string(),
            one.to_string(),
            several[0],
            several[1],
            steady_bound(&model, STEPS).to_string(),
            begin.elapsed().as_secs_f64(),
        );
    }
    Ok(())
}
