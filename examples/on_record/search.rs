//! Optimises problems whose best known makespans are on record, and prints ours beside them, with the
//! bound, the gap, and the best named schedule that keeps to the capacity.
//!
//! No latency, one unit of memory per stage activation. The figures on record were found by earlier
//! searches, or by an exact program over small problems; `bound` is what the certificate module proves,
//! or the value itself where an exhaustive search has ended. Where nothing is on record there is a dash.

use std::error::Error;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use bubbleproof::catalog;
use bubbleproof::model::{Model, Placement, PlacementError, Units};
use bubbleproof::optimize::{Options, optimize};
use bubbleproof::replay::replay;
use bubbleproof::stop::Stop;

/// The most time that a search may take.
const LIMIT: Duration = Duration::from_secs(60);

/// Devices, microbatches, capacity, best makespan on record.
type Problem = (u32, u32, i64, Option<i64>);

const UNIT: &[Problem] = &[
    (2, 8, 3, Some(51)),
    (3, 8, 4, Some(53)),
    (4, 8, 5, Some(56)),
    (4, 8, 8, Some(51)),
    (8, 32, 8, Some(215)),
    (16, 32, 32, Some(207)),
    (16, 64, 24, Some(413)),
    (32, 256, 24, Some(1655)),
    (64, 1024, 44, Some(6395)),
    (64, 1024, 66, Some(6330)),
    (64, 1024, 128, Some(6207)),
];

const UNEQUAL: &[Problem] = &[
    (4, 8, 3, Some(286)),
    (4, 8, 5, Some(183)),
    (4, 8, 7, Some(160)),
    (8, 8, 8, Some(235)),
    (8, 8, 16, Some(172)),
    (8, 32, 10, Some(654)),
    (8, 32, 16, Some(613)),
    (16, 64, 24, Some(1319)),
    (16, 64, 12, Some(1728)),
];

/// Linear and looped placement, where nothing is on record.
const OTHER: &[Problem] =
    &[(4, 8, 3, None), (4, 8, 4, None), (8, 32, 8, None), (8, 32, 16, None), (16, 128, 16, None)];
const LOOPED: &[Problem] = &[(4, 8, 6, None), (4, 16, 8, None), (8, 32, 16, None), (8, 32, 24, None)];

type Place = fn(u32) -> Result<Placement, PlacementError>;

const GROUPS: [(&str, Place, [i64; 3], &[Problem]); 6] = [
    ("v", Placement::v, [1, 1, 1], UNIT),
    ("v", Placement::v, [3, 4, 2], UNEQUAL),
    ("linear", Placement::linear, [1, 1, 1], OTHER),
    ("linear", Placement::linear, [3, 4, 2], OTHER),
    ("looped", looped, [1, 1, 1], LOOPED),
    ("looped", looped, [3, 4, 2], LOOPED),
];

fn looped(devices: u32) -> Result<Placement, PlacementError> {
    Placement::looped(devices, 2)
}

pub fn run(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    let threads = arguments.first().map_or(Ok(NonZeroUsize::MIN), |text| text.parse())?;
    println!(
        "placement  F I W     d     m  capacity  on record    ours   bound    gap  seconds  named              found by"
    );
    for (name, place, durations, problems) in GROUPS {
        for &(devices, microbatches, capacity, known) in problems {
            let [forward, input, weight] = durations;
            let model = Model::equal_stages(place(devices)?, microbatches, [forward, input, weight, 0])?;
            let model = model.with_uniform_activation_capacity(Some(Units(capacity)))?;
            let begin = Instant::now();
            let options = Options { stop: Stop::after(LIMIT), threads, ..Options::default() };
            let found = optimize(&model, &options, &mut |_| ())?;
            let seconds = begin.elapsed().as_secs_f64();
            let gap = (found.gap() * 1000).round().to_integer();
            let gap = format!("{}.{}%", gap / 10, gap % 10);
            let known = known.map_or_else(|| "-".to_owned(), |known| known.to_string());
            println!(
                "{name:9}  {forward} {input} {weight}  {devices:4}  {microbatches:4}  {capacity:8}  {known:>9}  {:6}  {:6}  {gap:>5}  {seconds:7.2}  {:17}  {}",
                found.value(),
                found.lower_bound(),
                best_named(&model),
                found.engine,
            );
        }
    }
    Ok(())
}

/// The shortest schedule of the catalogue that keeps to the capacities.
fn best_named(model: &Model) -> String {
    let named = catalog::entries().iter().filter_map(|entry| {
        let verdict = replay(model, &entry.generate(model).ok()?);
        let timing = verdict.is_valid().then_some(verdict.timing)??;
        Some((timing.metrics.makespan, entry.name))
    });
    named.min().map_or_else(|| "none".to_owned(), |(makespan, name)| format!("{makespan} {name}"))
}
