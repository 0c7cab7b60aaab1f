//! Prints the tables of `docs/findings.md`, all or those named.
//!
//! ```sh
//! cargo run --release --example findings [-- published profiles uniform rounding placements]
//! ```

mod placements;
mod published;
mod rounding;
mod uniform;

use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::Duration;

use bubbleproof::model;
use num_rational::Ratio;

use published::{Family, Times, all_times, capped, compare, on_model, v};
use uniform::Offsets;

const UNIT: Times = [1, 1, 1];
const UNEQUAL: Times = [3, 4, 2];

fn main() -> Result<(), Box<dyn Error>> {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    let wants = |name: &str| asked.is_empty() || asked.iter().any(|asked| asked == name);
    if wants("published") {
        print_published();
    }
    if wants("profiles") {
        print_profiles()?;
    }
    if wants("uniform") {
        print_uniform();
    }
    if wants("rounding") {
        print_rounding();
    }
    if wants("placements") {
        print_placements();
    }
    Ok(())
}

/// A ratio to three decimals.
fn decimals(ratio: Ratio<i128>) -> String {
    let thousandths = (ratio * 1000).round().to_integer();
    format!("{}.{:03}", thousandths / 1000, thousandths % 1000)
}

fn wide(ratio: Ratio<i64>) -> Ratio<i128> {
    Ratio::new(i128::from(*ratio.numer()), i128::from(*ratio.denom()))
}

fn print_published() {
    println!("| d | family | cap | optimal of 216 | without bubble | mean ratio | worst | at F,I,W |");
    println!("| ---: | --- | ---: | ---: | ---: | ---: | ---: | --- |");
    for devices in 4..=8 {
        for family in [Family::VMin, Family::VHalf] {
            let found = compare(family, devices);
            let free = all_times().filter(|&times| family.is_bubble_free(times)).count();
            let (worst, [forward, input, weight]) = found.worst;
            println!(
                "| {devices} | {} | {} | {} | {free} | {} | {worst} | {forward},{input},{weight} |",
                family.name(),
                family.memory(devices),
                found.optimal.len(),
                decimals(found.mean),
            );
            let others = found.optimal.iter().filter(|&&times| !family.is_bubble_free(times));
            let others: Vec<String> = others.map(|times| format!("{times:?}")).collect();
            if !others.is_empty() {
                println!("optimal with a bubble: {}", others.join(" "));
            }
        }
    }
    println!();
}

fn print_profiles() -> Result<(), Box<dyn Error>> {
    println!("| profile | family | interval | least | ratio |");
    println!("| --- | --- | ---: | ---: | ---: |");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/profiles");
    let mut paths: Vec<_> = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<_, std::io::Error>>()?;
    paths.sort();
    for path in paths {
        let name = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        if !(name.starts_with("zb-") && name.ends_with("-v")) {
            continue;
        }
        let model = model::parse(&fs::read_to_string(&path)?)?;
        for family in ["v-min", "v-half", "v-zb"] {
            match on_model(family, &model) {
                Some((interval, least)) => {
                    println!("| {name} | {family} | {interval} | {least} | {} |", decimals(wide(interval / least)));
                }
                None => println!("| {name} | {family} | not settled | | |"),
            }
        }
    }
    println!();
    Ok(())
}

fn print_uniform() {
    println!("| F,I,W | d | cap | free | two values | uniform |");
    println!("| --- | ---: | ---: | ---: | ---: | ---: |");
    for (times, most) in [(UNIT, 6), (UNEQUAL, 5)] {
        for devices in 3..=most {
            for cap in 3..=2 * i64::from(devices) {
                let free = published::least_interval(&capped(&v(devices, times), cap));
                if *free.ceil().numer() > if times == UNIT { 10 } else { 26 } {
                    continue;
                }
                let from = free.ceil().to_integer();
                let uniform = uniform::least_interval(devices as usize, times, cap, from, Offsets::Uniform);
                let two = if times == UNIT && uniform > from && uniform <= 11 {
                    uniform::least_interval(devices as usize, times, cap, from, Offsets::TwoValues).to_string()
                } else if uniform == from {
                    uniform.to_string()
                } else {
                    "-".to_owned()
                };
                let [forward, input, weight] = times;
                println!("| {forward},{input},{weight} | {devices} | {cap} | {free} | {two} | {uniform} |");
                if free == Ratio::from_integer(v(devices, times).most_work().0) && uniform == from {
                    break;
                }
            }
        }
    }
    println!();
}

fn print_rounding() {
    println!("| d | problems | proper fractions | largest denominator | worst loss | at F,I,W | cap |");
    println!("| ---: | ---: | ---: | ---: | ---: | --- | ---: |");
    for devices in 2..=5 {
        let found = rounding::rounding(devices);
        let (worst, [forward, input, weight], cap) = found.worst;
        println!(
            "| {devices} | {} | {} | {} | {worst} | {forward},{input},{weight} | {cap} |",
            found.problems, found.fractions, found.denominator
        );
    }
    println!();
}

fn print_placements() {
    const LIMIT: Duration = Duration::from_secs(20);
    println!("| F,I,W | d | linear | V | looped |");
    println!("| --- | ---: | ---: | ---: | ---: |");
    for times in [UNIT, UNEQUAL] {
        for devices in 2..=8 {
            let linear = 2 * placements::least_memory(&placements::linear(devices, times));
            let v = placements::least_memory(&v(devices, times));
            let looped = if devices <= 4 { placements::looped_least_memory(devices, times, LIMIT) } else { None };
            println!("| {times:?} | {devices} | {linear} | {v} | {} |", shown(looped));
        }
    }
    println!();
    println!("| F,I,W | d | cap | linear | V | looped |");
    println!("| --- | ---: | ---: | ---: | ---: | ---: |");
    for times in [UNIT, UNEQUAL] {
        for devices in 2..=4 {
            for cap in 2..=2 * i64::from(devices) {
                let [linear, v] = placements::at_cap(devices, times, cap);
                let looped = placements::looped_at_cap(devices, times, cap, LIMIT);
                println!("| {times:?} | {devices} | {cap} | {linear} | {v} | {} |", shown(looped));
            }
        }
    }
    println!();
}

fn shown<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| value.to_string())
}
