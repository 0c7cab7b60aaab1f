//! Reads and replays a schedule file and says what that took: wall time, and peak memory where the
//! system tells.
//!
//! `large_schedule write FILE [DEVICES MICROBATCHES]` writes one: a V of F, I and W (6.3 million
//! passes for 256 devices and 4096 microbatches); `large_schedule read FILE` measures.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::Instant;

use bubbleproof::block::Block;
use bubbleproof::model::{Kind, Model, Placement, Stage, Ticks};
use bubbleproof::{files, replay, schedule};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["write", file] => write(file, 256, 4096),
        ["write", file, devices, microbatches] => write(file, devices.parse()?, microbatches.parse()?),
        ["read", file] => read(file),
        _ => Err("usage: large_schedule write FILE [DEVICES MICROBATCHES] | large_schedule read FILE".into()),
    }
}

/// Forwards down and up the V, then backwards, each W right behind its I.
fn write(file: &str, devices: u32, microbatches: u32) -> Result<(), Box<dyn Error>> {
    let stages = 2 * devices;
    let offsets = (0..stages).flat_map(|stage| {
        let at = |offset: u32| Ticks(i64::from(offset));
        // Forward of stage s in even slots, or three later on the way up; backward likewise.
        let up = if stage < devices { 0 } else { 3 };
        let backward = 6 * stages + 6 * (stages - 1 - stage) + up;
        [
            (Stage(stage), Kind::F, at(6 * stage + up)),
            (Stage(stage), Kind::I, at(backward + 1)),
            (Stage(stage), Kind::W, at(backward + 2)),
        ]
    });
    let placement = Placement::v(devices)?;
    let model = Model::unit(placement.clone(), microbatches)?;
    let block = Block::new(placement, Ticks(6), offsets)?;
    if let Some(fault) = block.faults(&model).into_iter().next() {
        return Err(fault.into());
    }
    let schedule = block.expand(&model, microbatches)?;
    files::write_with(Path::new(file), |out| schedule::write(&schedule, out))?;
    Ok(())
}

fn read(file: &str) -> Result<(), Box<dyn Error>> {
    let begin = Instant::now();
    let text = fs::read_to_string(file)?;
    let bytes = text.len();
    let read = begin.elapsed();
    let schedule = schedule::parse(&text)?;
    drop(text);
    let parsed = begin.elapsed();
    let model = Model::unit(schedule.placement().clone(), schedule.microbatches())?;
    let verdict = replay::replay(&model, &schedule);
    let replayed = begin.elapsed();
    println!("{} passes, {bytes} bytes, {} violations", schedule.len(), verdict.violations.len());
    println!("after {read:?} read, after {parsed:?} parsed, after {replayed:?} replayed");
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    println!("{}", status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("peak memory unknown"));
    Ok(())
}
