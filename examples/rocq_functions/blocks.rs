//! Building blocks, the shipped families, and where a W goes whose offset is left out.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use bubbleproof::block::Block;
use bubbleproof::block::family::{self, Family};
use bubbleproof::model::{Kind, Microbatch, Model, Pass, Stage, Ticks};
use fastrand::Rng;
use serde_json::{Value, json};

use crate::problem::{KINDS, Problem, texts};

/// The families that have a theorem, in the order of `ExtractionFunctions.a_family`.
const FAMILIES: [&str; 9] =
    ["v-min", "v-half", "v-zb", "1f1b", "eager-1f1b", "zb-h1", "zb-h2", "linear-half", "1f1b-v"];

/// The largest number of devices of a family.
const MOST_DEVICES: u32 = 40;

/// The offsets of a block of some microbatches, in parts of a tick.
pub struct Offsets {
    pub period: u32,
    pub parts: i64,
    pub interval: i64,
    pub at: BTreeMap<Pass, i64>,
}

impl Offsets {
    /// Without faults. On each device the passes share the interval in a random order with random gaps; along what they
    /// need, each takes one of the instants at which its share recurs.
    pub fn valid(choices: &mut Rng, problem: &Problem, period: u32, parts: i64) -> Self {
        let model = problem.model();
        let length = |pass: Pass| model.duration(pass.stage, pass.kind).0 * parts;
        let mut passes = problem.passes(period);
        choices.shuffle(&mut passes);
        let shares = problem.by_device(&passes);
        let work = |order: &Vec<Pass>| order.iter().map(|&pass| length(pass)).sum::<i64>();
        // Where there is much room, what is moved breaks no rule but one.
        let most = if choices.bool() { 40 * parts } else { 4 };
        let room = choices.i64(0..most);
        let interval = shares.iter().map(work).max().expect("there is a device") + room;
        let mut residues = BTreeMap::new();
        for order in &shares {
            let mut slack = interval - work(order);
            let mut at = choices.i64(0..interval);
            for &pass in order {
                let gap = choices.i64(0..=slack);
                slack -= gap;
                residues.insert(pass, at + gap);
                at += gap + length(pass);
            }
        }
        let mut at = BTreeMap::new();
        for pass in problem.in_order(&passes) {
            let arrival = arrival(problem, &model, parts, &at, pass);
            let later = [0, 0, 1, interval][choices.usize(0..4)];
            let earliest = arrival.unwrap_or(choices.i64(-10..10)) + later;
            at.insert(pass, earliest + (residues[&pass] - earliest).rem_euclid(interval));
        }
        Self { period, parts, interval, at }
    }

    pub fn block(&self, model: &Model) -> Block {
        let offsets = self.at.iter().map(|(&pass, &at)| (pass, Ticks(at)));
        let (placement, interval) = (model.placement().clone(), Ticks(self.interval));
        Block::periodic(placement, self.period, self.parts, interval, offsets).expect("a block")
    }

    /// Those of the first microbatch, by kind and stage.
    pub fn by_kind(&self) -> [Vec<i64>; 3] {
        KINDS.map(|kind| {
            let of_kind = |pass: &Pass| pass.kind == kind && pass.microbatch == Microbatch(0);
            self.at.iter().filter(|(pass, _)| of_kind(pass)).map(|(_, &at)| at).collect()
        })
    }
}

/// When what a pass needs is there, if it needs anything.
fn arrival(
    problem: &Problem,
    model: &Model,
    parts: i64,
    at: &BTreeMap<Pass, i64>,
    pass: Pass,
) -> Option<i64> {
    let need = problem.needs(pass)?;
    let is_sent = need.stage != pass.stage;
    let latency = if is_sent { model.latency_after(need.stage.min(pass.stage)) } else { Ticks(0) };
    Some(at[&need] + (model.duration(need.stage, need.kind) + latency).0 * parts)
}

/// A block without faults, or one that was without them before something was changed.
pub fn block(choices: &mut Rng) -> Value {
    let problem = Problem::random(choices, 1, 5);
    let model = problem.model();
    let parts = choices.i64(1..=3);
    let mut offsets = Offsets::valid(choices, &problem, 1, parts);
    if choices.bool() {
        let changed = problem.passes(1)[choices.usize(0..3 * problem.stages())];
        let arrival = arrival(&problem, &model, parts, &offsets.at, changed);
        let offset = offsets.at.get_mut(&changed).expect("every pass has an offset");
        if let Some(arrival) = arrival.filter(|_| choices.bool()) {
            // Just in time, or just too early.
            *offset = arrival - choices.i64(0..=1);
        } else {
            *offset += choices.i64(-4..=4);
            offsets.interval = (offsets.interval - choices.i64(0..=1)).max(1);
        }
    }
    let block = offsets.block(&model);
    let is_valid = block.faults(&model).is_empty();
    let schedule = block.expand(&model, problem.microbatches).expect("few passes");
    // Which of two passes of a device comes first that start together is no matter of the theorems.
    let stamp = |pass: &Pass| {
        let first = Pass { microbatch: Microbatch(0), ..*pass };
        offsets.at[&first] + i64::from(pass.microbatch.0) * offsets.interval
    };
    let mut orders = schedule.orders().iter();
    let is_clear = is_valid || orders.all(|order| order.is_sorted_by(|one, other| stamp(one) < stamp(other)));
    let peaks: Vec<i64> = block.steady_peak(&model).iter().map(|units| units.0).collect();
    let by_lifespans: Vec<i64> = block.paper_bound(&model).iter().map(|units| units.0).collect();
    json!({
        "problem": problem, "parts": parts, "interval": offsets.interval, "offsets": offsets.by_kind(),
        "rust": {
            "valid": is_valid,
            "orders": is_clear.then(|| texts(schedule.orders())),
            "peaks": is_valid.then_some(peaks),
            "lifespans": by_lifespans,
        },
    })
}

/// The block of a family at a number of devices, its memory, and whether that is what its promise says.
pub fn family(choices: &mut Rng) -> Value {
    let (number, devices) = (choices.usize(0..FAMILIES.len()), choices.u32(1..=MOST_DEVICES));
    let family = family::shipped(FAMILIES[number]).expect("it is shipped");
    let answer = match family.block(devices) {
        Ok(block) => of_family(&family, &block, devices),
        Err(error) => json!({ "refused": error.to_string() }),
    };
    json!({ "family": number, "name": FAMILIES[number], "devices": devices, "rust": answer })
}

fn of_family(family: &Family, block: &Block, devices: u32) -> Value {
    let model = family.model(devices, 1).expect("a model");
    let found = |kind, stage| block.offset(Pass::new(stage, kind, Microbatch(0)));
    // A full backward is an I, and its W behind that.
    let at = |kind, stage| {
        let in_full = || {
            let inside = if kind == Kind::W { model.duration(stage, Kind::I) } else { Ticks(0) };
            found(Kind::B, stage).map(|at| at + inside)
        };
        found(kind, stage).or_else(in_full).expect("an offset").0
    };
    let offsets: Vec<Vec<i64>> =
        KINDS.iter().map(|&kind| Stage::all(model.stages()).map(|stage| at(kind, stage)).collect()).collect();
    let peaks: Vec<i64> = block.steady_peak(&model).iter().map(|units| units.0).collect();
    let broken = family.broken_promises(devices).expect("promises have values");
    let holders: Vec<u32> =
        Stage::all(model.stages()).map(|stage| model.placement().device_of(stage).0).collect();
    json!({
        "interval": block.interval_parts().0,
        "times": KINDS.map(|kind| model.duration(Stage(0), kind).0),
        "holders": holders,
        "offsets": offsets,
        // The promise gives the memory exactly, so it is kept by the formula of the theorem alone.
        "promised": broken.is_empty().then_some(&peaks),
        "peaks": peaks,
    })
}

/// A family of one device with any offsets, whose Ws are left out.
pub fn weights(choices: &mut Rng) -> Value {
    let is_v = choices.bool();
    let chunks: usize = if is_v { 2 } else { 1 };
    let lasts = [0; 3].map(|_| choices.i64(1..=3));
    let interval = lasts.iter().sum::<i64>() * if is_v { 2 } else { 1 } + choices.i64(-2..=4);
    let interval = interval.max(1);
    let offsets: [Vec<i64>; 2] = [0; 2].map(|_| (0..chunks).map(|_| choices.i64(-5..3 * interval)).collect());
    let layout = if is_v { "v" } else { "linear" };
    let mut text = format!(
        "name = \"random\"\nplacement = \"{layout}\"\ninterval = {interval}\ndomain = \"d >= 1\"\n\
         [durations]\nF = {}\nI = {}\nW = {}\n",
        lasts[0], lasts[1], lasts[2]
    );
    for (kind, values) in ["F", "I"].iter().zip(&offsets) {
        for (chunk, at) in values.iter().enumerate() {
            let chunk = if is_v { format!("chunk = {chunk}\n") } else { String::new() };
            write!(text, "[[pass]]\nkind = \"{kind}\"\n{chunk}at = \"0 + {at}\"\n").expect("text takes all");
        }
    }
    let family = family::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let found = family.block(1).ok().map(|block| {
        let at = |chunk| block.offset(Pass::new(Stage::at(chunk), Kind::W, Microbatch(0))).expect("a W").0;
        (0..chunks).map(at).collect::<Vec<i64>>()
    });
    json!({
        "v": is_v, "interval": interval, "lasts": lasts, "offsets": offsets,
        "rust": { "weights": found },
    })
}
