//! Proves whole schedules optimal, engine by engine, and prints value and seconds.
//!
//! ```sh
//! cargo run --release --example exact_schedules            # all instances
//! cargo run --release --example exact_schedules -- hard 60 # those with `hard` in their name, 60 s each
//! ```

use std::env;
use std::error::Error;
use std::time::{Duration, Instant};

use bubbleproof::model::{Model, Placement, Units};
use bubbleproof::optimize::finite::{Engine, Limits, solve, solve_with};
use bubbleproof::optimize::{Objective, Options, Stop, optimize};

/// Devices, microbatches, cap, `[F, I, W, latency]`, what is on record (0 where nothing is).
type Instance = (&'static str, &'static str, u32, u32, i64, [i64; 4], i64);

const INSTANCES: &[Instance] = &[
    ("known unit", "v", 2, 8, 3, [1, 1, 1, 0], 51),
    ("known unit", "v", 3, 8, 4, [1, 1, 1, 0], 53),
    ("known unit", "v", 3, 8, 5, [1, 1, 1, 0], 51),
    ("known unit", "v", 3, 8, 6, [1, 1, 1, 0], 50),
    ("known unit", "v", 4, 8, 5, [1, 1, 1, 0], 56),
    ("known unit", "v", 4, 8, 6, [1, 1, 1, 0], 53),
    ("known unit", "v", 4, 8, 7, [1, 1, 1, 0], 52),
    ("known unit", "v", 4, 8, 8, [1, 1, 1, 0], 51),
    ("known 342", "v", 4, 8, 3, [3, 4, 2, 0], 286),
    ("known 342", "v", 4, 8, 4, [3, 4, 2, 0], 200),
    ("known 342", "v", 4, 8, 5, [3, 4, 2, 0], 183),
    ("known 342", "v", 4, 8, 7, [3, 4, 2, 0], 160),
    ("known 342", "v", 8, 8, 8, [3, 4, 2, 0], 235),
    ("known 342", "v", 8, 8, 16, [3, 4, 2, 0], 172),
    ("known span", "linear", 4, 8, 3, [1, 1, 1, 0], 31),
    ("known span", "linear", 4, 8, 3, [3, 4, 2, 0], 101),
    ("known span", "linear", 4, 8, 3, [6, 3, 7, 2], 184),
    ("many", "v", 2, 12, 3, [3, 4, 2, 0], 0),
    ("many", "v", 3, 12, 3, [3, 4, 2, 0], 0),
    ("many", "v", 3, 12, 4, [3, 4, 2, 0], 0),
    ("many", "v", 3, 12, 4, [1, 1, 1, 0], 0),
    ("many", "v", 2, 32, 3, [3, 4, 2, 0], 0),
    ("hard", "v", 4, 12, 4, [3, 4, 2, 0], 0),
    ("hard", "v", 4, 16, 4, [3, 4, 2, 0], 0),
    ("hard", "v", 3, 16, 3, [3, 4, 2, 0], 0),
    ("hard", "v", 6, 12, 6, [3, 4, 2, 0], 0),
    ("hard", "v", 8, 16, 8, [1, 1, 1, 0], 0),
    ("hard", "v", 8, 16, 16, [3, 4, 2, 0], 0),
    ("big", "v", 8, 16, 6, [1, 1, 1, 0], 0),
    ("big", "v", 8, 16, 7, [1, 1, 1, 0], 0),
    ("big", "v", 8, 8, 6, [3, 4, 2, 0], 0),
    ("big", "v", 6, 8, 5, [3, 4, 2, 0], 0),
    ("profile", "v", 4, 8, 4, [9261, 9043, 4669, 601], 0),
    ("profile", "v", 4, 8, 8, [9261, 9043, 4669, 601], 0),
    ("profile", "linear", 8, 8, 8, [18522, 18086, 9337, 601], 0),
];

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let filter = arguments.next().unwrap_or_default();
    let seconds: f64 = arguments.next().map_or(Ok(60.0), |text| text.parse())?;
    let only = arguments.next();
    println!(
        "                             d   m  cap  F I W latency          record  start  bound  best  proved by                seconds"
    );
    for &(name, placement, devices, microbatches, cap, times, record) in INSTANCES {
        if !name.contains(&filter) {
            continue;
        }
        let shape = match placement {
            "v" => Placement::v(devices)?,
            _ => Placement::linear(devices)?,
        };
        let model =
            Model::equal_stages(shape, microbatches, times)?.with_uniform_capacity(Some(Units(cap)))?;
        let objective = if name.contains("span") { Objective::Span } else { Objective::Makespan };
        let options = Options { objective, effort: 2_000_000, exact_effort: 0, ..Options::default() };
        let start = optimize(&model, &options, &mut |_| ())?;
        let engines = Engine::ALL.iter().map(|engine| Some(*engine)).chain([None]);
        for engine in engines {
            let label = engine.map_or("both", Engine::name);
            if only.as_ref().is_some_and(|only| !label.contains(only.as_str())) {
                continue;
            }
            let limits = Limits { stop: Stop::after(Duration::from_secs_f64(seconds)), effort: u64::MAX };
            let begin = Instant::now();
            let found = match engine {
                Some(engine) => solve_with(&[engine], &model, objective, &start.schedule, &limits),
                None => solve(&model, objective, &start.schedule, &limits),
            };
            let elapsed = begin.elapsed().as_secs_f64();
            let prefix = format!(
                "{name:12} {placement:6} {devices:10} {microbatches:3} {cap:4}  {times:?}  {record:6}  {:5}  {:5}",
                start.value(),
                start.bound.value
            );
            match found {
                Ok(found) => println!(
                    "{prefix}  {:5}  {:18} of {label:18} {elapsed:8.3}",
                    found.value,
                    found.proved_by.map_or("-", Engine::name),
                ),
                Err(error) => println!("{prefix}  {label}: {error}"),
            }
        }
    }
    Ok(())
}
