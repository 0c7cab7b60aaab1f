//! Proves whole schedules optimal, engine by engine, and prints value and seconds.
//!
//! `start` is what the search finds without an exact one, `bound` what it proves. The device spans of
//! `known span` are for linear placement, all else are makespans.

use std::error::Error;
use std::time::{Duration, Instant};

use bubbleproof::certificate::Objective;
use bubbleproof::model::{Model, Placement, Units};
use bubbleproof::optimize::exact::{Engine, Limits, solve_with};
use bubbleproof::optimize::{Options, optimize};
use bubbleproof::stop::Stop;

/// Name, placement, devices, microbatches, capacity, `[F, I, W, latency]`, the optimum on record.
type Instance = (&'static str, &'static str, u32, u32, i64, [i64; 4], Option<i64>);

const INSTANCES: &[Instance] = &[
    ("known unit", "v", 2, 8, 3, [1, 1, 1, 0], Some(51)),
    ("known unit", "v", 3, 8, 4, [1, 1, 1, 0], Some(53)),
    ("known unit", "v", 3, 8, 5, [1, 1, 1, 0], Some(51)),
    ("known unit", "v", 3, 8, 6, [1, 1, 1, 0], Some(50)),
    ("known unit", "v", 4, 8, 5, [1, 1, 1, 0], Some(56)),
    ("known unit", "v", 4, 8, 6, [1, 1, 1, 0], Some(53)),
    ("known unit", "v", 4, 8, 7, [1, 1, 1, 0], Some(52)),
    ("known unit", "v", 4, 8, 8, [1, 1, 1, 0], Some(51)),
    ("known 342", "v", 4, 8, 3, [3, 4, 2, 0], Some(286)),
    ("known 342", "v", 4, 8, 4, [3, 4, 2, 0], Some(200)),
    ("known 342", "v", 4, 8, 5, [3, 4, 2, 0], Some(183)),
    ("known 342", "v", 4, 8, 7, [3, 4, 2, 0], Some(160)),
    ("known 342", "v", 8, 8, 8, [3, 4, 2, 0], Some(235)),
    ("known 342", "v", 8, 8, 16, [3, 4, 2, 0], Some(172)),
    ("known span", "linear", 4, 8, 3, [1, 1, 1, 0], Some(31)),
    ("known span", "linear", 4, 8, 3, [3, 4, 2, 0], Some(101)),
    ("known span", "linear", 4, 8, 3, [6, 3, 7, 2], Some(184)),
    ("many", "v", 2, 12, 3, [3, 4, 2, 0], None),
    ("many", "v", 3, 12, 3, [3, 4, 2, 0], None),
    ("many", "v", 3, 12, 4, [3, 4, 2, 0], None),
    ("many", "v", 3, 12, 4, [1, 1, 1, 0], None),
    ("many", "v", 2, 32, 3, [3, 4, 2, 0], None),
    ("hard", "v", 4, 12, 4, [3, 4, 2, 0], None),
    ("hard", "v", 4, 16, 4, [3, 4, 2, 0], None),
    ("hard", "v", 3, 16, 3, [3, 4, 2, 0], None),
    ("hard", "v", 6, 12, 6, [3, 4, 2, 0], None),
    ("hard", "v", 8, 16, 8, [1, 1, 1, 0], None),
    ("hard", "v", 8, 16, 16, [3, 4, 2, 0], None),
    ("big", "v", 8, 16, 6, [1, 1, 1, 0], None),
    ("big", "v", 8, 16, 7, [1, 1, 1, 0], None),
    ("big", "v", 8, 8, 6, [3, 4, 2, 0], None),
    ("big", "v", 6, 8, 5, [3, 4, 2, 0], None),
    ("profile", "v", 4, 8, 4, [9261, 9043, 4669, 601], None),
    ("profile", "v", 4, 8, 8, [9261, 9043, 4669, 601], None),
    ("profile", "linear", 8, 8, 8, [18522, 18086, 9337, 601], None),
];

pub fn run(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    let mut arguments = arguments.iter().cloned();
    let filter = arguments.next().unwrap_or_default();
    let seconds: f64 = arguments.next().map_or(Ok(60.0), |text| text.parse())?;
    let only = arguments.next().unwrap_or_default();
    println!(
        "{:12} {:6}   d   m  capacity  {:26} record   start   bound    best  {:16}  {:16}  seconds",
        "instance", "", "F I W latency", "engine", "proved by"
    );
    for &(name, placement, devices, microbatches, capacity, times, record) in INSTANCES {
        if !name.contains(&filter) {
            continue;
        }
        let shape = match placement {
            "v" => Placement::v(devices)?,
            _ => Placement::linear(devices)?,
        };
        let model = Model::equal_stages(shape, microbatches, times)?
            .with_uniform_activation_capacity(Some(Units(capacity)))?;
        let objective = if name.contains("span") { Objective::DeviceSpan } else { Objective::Makespan };
        let options = Options { objective, effort: 2_000_000, exact_effort: 0, ..Options::default() };
        let start = optimize(&model, &options, &mut |_| ())?;
        let single = Engine::ALL.iter().map(|engine| (engine.name(), std::slice::from_ref(engine)));
        for (label, engines) in single.chain([("side by side", Engine::ALL)]) {
            if !label.contains(&only) {
                continue;
            }
            let limits = Limits { stop: Stop::after(Duration::from_secs_f64(seconds)), effort: u64::MAX };
            let begin = Instant::now();
            let found = solve_with(engines, &model, objective, &start.schedule, &limits);
            let elapsed = begin.elapsed().as_secs_f64();
            print!(
                "{name:12} {placement:6} {devices:3} {microbatches:3}  {capacity:8}  {:26} {:>6} {:7} {:7}",
                format!("{times:?}"),
                record.map_or("-".to_owned(), |record| record.to_string()),
                start.value(),
                start.bound.value,
            );
            match found {
                Ok(found) => println!(
                    " {:7}  {label:16}  {:16} {elapsed:8.3}",
                    found.value,
                    match found.proved_by {
                        Some(engine) => engine.name(),
                        None if found.value == found.lower_bound => "bound",
                        None => "-",
                    },
                ),
                Err(error) => println!("       -  {label:16}  {error}"),
            }
        }
    }
    Ok(())
}
