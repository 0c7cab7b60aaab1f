//! How fast schedules are read, checked, timed and built. Items are passes.
//!
//! The schedules are those of V-Min (arXiv 2405.15362, Table 8) for 4d microbatches.

use bubbleproof::block::Block;
use bubbleproof::kernel::{asap, fill_gaps};
use bubbleproof::model::{Kind, Model, Placement, Stage, Ticks};
use bubbleproof::replay::replay;
use bubbleproof::schedule::{self, Schedule};
use bubbleproof::stop::Stop;
use divan::counter::{BytesCount, ItemsCount};
use divan::{AllocProfiler, Bencher};

#[global_allocator]
static ALLOCATIONS: AllocProfiler = AllocProfiler::system();

const DEVICES: [u32; 4] = [8, 32, 128, 256];

fn main() {
    divan::main();
}

/// V-Min with unit times: chunk 0 of device i is stage i, chunk 1 stage 2d-1-i; each W takes the
/// first residue free after its I.
fn v_min(devices: u32) -> Block {
    let placement = Placement::v(devices).expect("a placement");
    let gap = if devices.is_multiple_of(3) { 2 } else { 0 };
    let mut offsets = Vec::new();
    for device in 0..devices {
        let (low, high) = (device, 2 * devices - 1 - device);
        let (inner, outer) = (2 * devices + gap + device, 4 * devices + gap - 1 - device);
        let mut taken: Vec<u32> = [low, high, inner, outer].map(|offset| offset % 6).to_vec();
        let mut weight = |after: u32| {
            let at = (after + 1..after + 7).find(|at| !taken.contains(&(at % 6))).expect("six residues");
            taken.push(at % 6);
            at
        };
        let weights = [weight(inner), weight(outer)];
        for (stage, kind, at) in [
            (low, Kind::F, low),
            (high, Kind::F, high),
            (high, Kind::I, inner),
            (low, Kind::I, outer),
            (high, Kind::W, weights[0]),
            (low, Kind::W, weights[1]),
        ] {
            offsets.push((Stage(stage), kind, Ticks(i64::from(at))));
        }
    }
    Block::new(placement, Ticks(6), offsets).expect("a block")
}

struct Case {
    block: Block,
    model: Model,
    schedule: Schedule,
    text: String,
}

fn case(devices: u32) -> Case {
    let block = v_min(devices);
    let model = Model::unit(block.placement().clone(), 4 * devices).expect("a model");
    let schedule = block.expand(&model, model.microbatches()).expect("a schedule");
    let mut text = Vec::new();
    schedule::write(&schedule, &mut text).expect("writing to memory");
    let text = String::from_utf8(text).expect("JSON is UTF-8");
    Case { block, model, schedule, text }
}

#[divan::bench(args = DEVICES)]
fn replaying(bencher: Bencher, devices: u32) {
    let Case { model, schedule, .. } = case(devices);
    assert!(replay(&model, &schedule).is_valid());
    bencher.counter(ItemsCount::new(schedule.len())).bench_local(|| replay(&model, &schedule));
}

#[divan::bench(args = DEVICES)]
fn asap_pass(bencher: Bencher, devices: u32) {
    let Case { model, schedule, .. } = case(devices);
    bencher.counter(ItemsCount::new(schedule.len())).bench_local(|| asap(&model, &schedule));
}

#[divan::bench(args = [8, 32, 128], sample_count = 10)]
fn gap_filling(bencher: Bencher, devices: u32) {
    let Case { block, model, schedule, .. } = case(devices);
    let limits = block.steady_peak(&model);
    bencher
        .counter(ItemsCount::new(schedule.len()))
        .bench_local(|| fill_gaps(&model, &schedule, &limits, &Stop::default()));
}

#[divan::bench(args = DEVICES)]
fn expanding(bencher: Bencher, devices: u32) {
    let Case { block, model, schedule, .. } = case(devices);
    bencher
        .counter(ItemsCount::new(schedule.len()))
        .bench_local(|| block.expand(&model, model.microbatches()));
}

#[divan::bench(args = DEVICES)]
fn parsing(bencher: Bencher, devices: u32) {
    let Case { schedule, text, .. } = case(devices);
    bencher
        .counter(ItemsCount::new(schedule.len()))
        .counter(BytesCount::of_str(&text))
        .bench_local(|| schedule::parse(&text));
}

#[divan::bench(args = DEVICES)]
fn writing(bencher: Bencher, devices: u32) {
    let Case { schedule, text, .. } = case(devices);
    bencher
        .counter(ItemsCount::new(schedule.len()))
        .counter(BytesCount::of_str(&text))
        .bench_local(|| schedule::write(&schedule, std::io::sink()));
}
