//! Six schedules on eight MI300, of which throughput and memory alone were published. docs/measured.md has the tables.

use std::fmt::Write as _;

use bubbleproof::catalog;
use bubbleproof::model::{Costs, Memory, Model, Placement, Stage, Ticks, Units};
use bubbleproof::replay::replay;

use crate::traces::figures::{field, percent, rows, signed};
use crate::traces::gpu::table;
use crate::traces::zbv::zbv;

const DEVICES: u32 = 8;

/// The names in the source, and what of the catalogue has that order. ZBV has an order of its own.
const SCHEDULES: [(&str, &str); 6] = [
    ("1f1b", "1f1b"),
    ("1f1b-interleaved", "interleaved-1f1b"),
    ("zbb", "zb-h1"),
    ("zbv", "zbv"),
    ("v-half", "v-half"),
    ("v-min", "v-min"),
];

/// What one of two layers on a device takes, F, I and W, and what the head does in addition.
#[derive(Clone, Copy)]
struct Network {
    name: &'static str,
    layer: [i64; 3],
    head: [i64; 3],
}

/// All passes alike.
const EQUAL: Network = Network { name: "equal passes", layer: [10_000; 3], head: [0; 3] };

/// Llama-2 7B at a sequence of 4096, by operations for a token, in units of 10,000: a layer has 202,375,168 weights in
/// matrices, each worth 2 operations in F, I and W, and causal attention does 2 h s in F and twice that in I; the head has
/// 131,072,000 weights. F, I and W are taken to do as many operations in a second.
const OPERATIONS: Network =
    Network { name: "by operations", layer: [43_830, 47_186, 40_475], head: [26_214; 3] };

/// What nobody published: the microbatches, and how long a message takes, in percent of F of a layer.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Guess {
    microbatches: u32,
    message: i64,
}

fn placement(schedule: &str) -> Placement {
    let placement = match schedule {
        "1f1b" | "zb-h1" => Placement::linear(DEVICES),
        "interleaved-1f1b" => Placement::looped(DEVICES, 2),
        _ => Placement::v(DEVICES),
    };
    placement.expect("a placement")
}

/// The model of a schedule: 16 layers, one unit of activations each until W.
fn model(network: &Network, schedule: &str, guess: Guess) -> Model {
    let placement = placement(schedule);
    let stages = placement.stages();
    let layers = i64::from(16 / stages);
    let of = |kind: usize| {
        let head = |stage: Stage| if stage.0 + 1 == stages { network.head[kind] } else { 0 };
        Stage::all(stages).map(|stage| Ticks(layers * network.layer[kind] + head(stage))).collect()
    };
    let costs = Costs {
        unit: "tick".to_owned(),
        forward: of(0),
        backward_input: of(1),
        backward_weight: of(2),
        communication: vec![Ticks(network.layer[0] * guess.message / 100); stages as usize - 1],
    };
    let memory = Memory {
        unit: "layer-activation".to_owned(),
        activation: vec![Units(layers); stages as usize],
        retained_for_weight: vec![Units(layers); stages as usize],
        checkpoint: None,
        weights: vec![Units::ZERO; stages as usize],
        capacity: vec![None; DEVICES as usize],
    };
    Model::new(network.name.to_owned(), None, placement, guess.microbatches, costs, memory).expect("a model")
}

/// The makespan in ticks, and how many layer activations the fullest device holds.
fn run(network: &Network, schedule: &str, guess: Guess) -> (i64, i64) {
    let model = model(network, schedule, guess);
    let schedule = match schedule {
        "zbv" => zbv(&model),
        name => catalog::find(name).expect("a known name").generate(&model).expect("no capacity"),
    };
    let verdict = replay(&model, &schedule);
    assert_eq!(verdict.violations, []);
    let peak = verdict.peak_memory_max().0;
    (verdict.timing.expect("it runs").metrics.makespan.0, peak)
}

/// Throughputs over that of 1F1B, in millionths.
fn predicted(network: &Network, guess: Guess) -> [i64; 6] {
    let makespans = SCHEDULES.map(|(_, schedule)| run(network, schedule, guess).0);
    makespans.map(|makespan| ratio(makespans[0], makespan))
}

fn ratio(part: i64, whole: i64) -> i64 {
    let millionths = i128::from(part) * 1_000_000 / i128::from(whole);
    i64::try_from(millionths).expect("a ratio")
}

/// What was measured, in the order of [`SCHEDULES`]: tenths of a token in a second, hundredths of a GB.
fn measured() -> [(i64, i64); 6] {
    let rows = rows("primus_mi300.csv");
    assert_eq!(rows.len(), SCHEDULES.len());
    SCHEDULES.map(|(name, _)| {
        let row = rows.iter().find(|row| row["schedule"] == name).expect("a row");
        (field(row, "tokens_per_s", 1), field(row, "memory", 2))
    })
}

fn measured_ratios() -> [i64; 6] {
    let measured = measured();
    measured.map(|(tokens, _)| ratio(tokens, measured[0].0))
}

/// The sum of the squares of the errors of some schedules, in parts per million.
fn squares(network: &Network, guess: Guess, of: &[usize]) -> i64 {
    let (predicted, measured) = (predicted(network, guess), measured_ratios());
    of.iter().map(|&at| (ratio(predicted[at], measured[at]) - 1_000_000).pow(2)).sum()
}

/// Interleaved and ZBB tell the microbatches; V-Min, whose order leaves no time for messages, tells what these take.
const ALONE: [usize; 2] = [1, 2];
const BOTH: [usize; 3] = [1, 2, 5];

const FITS: [(Network, &[usize]); 4] =
    [(EQUAL, &ALONE), (OPERATIONS, &ALONE), (EQUAL, &BOTH), (OPERATIONS, &BOTH)];

/// The guess with the least squares over the fitted schedules: no other in steps of 8 microbatches, and, where V-Min is
/// among them, of 5 % fits better.
fn fit(network: &Network, of: &[usize]) -> Guess {
    let mut best = Guess { microbatches: 32, message: 0 };
    let mut least = squares(network, best, of);
    loop {
        let mut near: Vec<Guess> = [best.microbatches - 8, best.microbatches + 8]
            .into_iter()
            .filter(|microbatches| (16..=128).contains(microbatches))
            .map(|microbatches| Guess { microbatches, ..best })
            .collect();
        if of.len() == BOTH.len() {
            let messages = [best.message - 5, best.message + 5];
            near.extend(messages.into_iter().filter(|&by| by >= 0).map(|message| Guess { message, ..best }));
        }
        let Some((other, squares)) =
            near.into_iter().map(|other| (other, squares(network, other, of))).min_by_key(|near| near.1)
        else {
            return best;
        };
        if squares >= least {
            return best;
        }
        (best, least) = (other, squares);
    }
}

#[test]
fn throughputs_on_mi300_are_predicted_as_the_page_says() {
    let measured = measured_ratios();
    let mut report = String::from("| measured | | |");
    measured[1..]
        .iter()
        .for_each(|ratio| write!(report, " {} |", signed(ratio - 1_000_000, 1_000_000)).expect("a string"));
    report.push('\n');
    for (network, fitted) in FITS {
        let guess = fit(&network, fitted);
        let predicted = predicted(&network, guess);
        write!(report, "| {} | {} | {} % |", network.name, guess.microbatches, guess.message)
            .expect("a string");
        for at in 1..SCHEDULES.len() {
            let held = if fitted.contains(&at) { "" } else { "**" };
            let error = signed(ratio(predicted[at], measured[at]) - 1_000_000, 1_000_000);
            let gain = signed(predicted[at] - 1_000_000, 1_000_000);
            write!(report, " {gain} ({held}{error}{held}) |").expect("a string");
        }
        report.push('\n');
    }
    insta::assert_snapshot!("mi300_throughput", report);
    assert_eq!(report, table("mi300 throughput"), "docs/measured.md has other figures");
}

#[test]
fn gains_on_mi300_depend_on_microbatches_as_the_page_says() {
    let mut report = String::new();
    for microbatches in [16, 24, 32, 48, 64, 128] {
        write!(report, "| {microbatches} |").expect("a string");
        for ratio in &predicted(&OPERATIONS, Guess { microbatches, message: 0 })[1..] {
            write!(report, " {} |", signed(ratio - 1_000_000, 1_000_000)).expect("a string");
        }
        report.push('\n');
    }
    insta::assert_snapshot!("mi300_microbatches", report);
    assert_eq!(report, table("mi300 microbatches"), "docs/measured.md has other figures");
}

/// With equal passes a microbatch takes 6 Fs of a layer on each device. What messages of two fifths of that F add:
#[test]
fn messages_lengthen_the_interval_of_v_min_and_of_1f1b_alone() {
    let of = |schedule: &str| {
        let makespan = |microbatches: u32| run(&EQUAL, schedule, Guess { microbatches, message: 40 }).0;
        (makespan(96) - makespan(88)) / 8 - 60_000
    };
    let added = SCHEDULES.map(|(name, schedule)| (name, of(schedule)));
    let expected =
        [("1f1b", 7_000), ("1f1b-interleaved", 0), ("zbb", 0), ("zbv", 0), ("v-half", 0), ("v-min", 22_000)];
    assert_eq!(added, expected, "7/4 and 11/2 messages of 4,000");
}

#[test]
fn v_zb_would_be_faster_than_the_order_of_zbv() {
    let guess = Guess { microbatches: 24, message: 0 };
    let [theirs, ours] = ["zbv", "v-zb"].map(|name| run(&OPERATIONS, name, guess));
    assert_eq!((theirs.0 - ours.0) * 1000 / ours.0, 26, "2.6 %");
    assert_eq!(theirs.1, ours.1, "with as much memory");
}

/// Weights of a layer and of the embedding, as many as of the head.
const LAYER: i64 = 4 * 4096 * 4096 + 3 * 4096 * 11_008;
const EMBEDDING: i64 = 32_000 * 4096;

/// Memory is a static part and a part for each layer activation, both told by 1F1B and interleaved 1F1B. In a V, device 0
/// has the head too: `headed` adds as much for each of its weights as device 0 of 1F1B has for each of its own.
#[test]
fn memory_on_mi300_is_predicted_as_the_page_says() {
    let guess = Guess { microbatches: 32, message: 0 };
    let held = SCHEDULES.map(|(_, schedule)| run(&OPERATIONS, schedule, guess).1);
    let measured = measured().map(|(_, memory)| memory);
    // Hundredths of a GB, times a million.
    let activation = (measured[1] - measured[0]) * 1_000_000 / (held[1] - held[0]);
    let fixed = measured[0] * 1_000_000 - held[0] * activation;
    let on_first = 2 * LAYER + EMBEDDING;
    let head = fixed * EMBEDDING / on_first;
    assert_eq!(fixed / 10_000_000, 45, "4.5 GB");
    assert_eq!(fixed * 100 / on_first, 84, "8.4 bytes for a weight");
    let mut report = String::new();
    for (at, (name, _)) in SCHEDULES.iter().enumerate() {
        let predicted = fixed + held[at] * activation;
        let is_v = at >= 3;
        let hundredths = |value: i64| percent(value, 10_000 * 1_000_000);
        let error = |value: i64| signed(value - measured[at] * 1_000_000, measured[at] * 1_000_000);
        let told = at < 2;
        let of = |value: i64| {
            if told { hundredths(value) } else { format!("{} ({})", hundredths(value), error(value)) }
        };
        writeln!(
            report,
            "| {name} | {} | {} | {} | {} |",
            held[at],
            hundredths(measured[at] * 1_000_000),
            of(predicted),
            if is_v { of(predicted + head) } else { String::new() },
        )
        .expect("a string");
    }
    insta::assert_snapshot!("mi300_memory", report);
    assert_eq!(report, table("mi300 memory"), "docs/measured.md has other figures");
}

/// Operations for a token by Megatron's formula, which counts all of attention, in thousands.
fn operations(layers: i64) -> i64 {
    (6 * (layers * LAYER + EMBEDDING) + 12 * layers * 4096 * 4096) / 1000
}

#[test]
fn what_was_published_of_mi300_fits_16_layers() {
    for row in rows("primus_mi300.csv") {
        let (tokens, tflops) = (field(&row, "tokens_per_s", 1), field(&row, "tflops", 1));
        let for_token = tflops * 1_000_000_000 / tokens;
        let off = |layers: i64| (for_token - operations(layers)).abs() * 1000 / operations(layers);
        assert!(off(16) <= 3, "{}: {for_token}", row["schedule"]);
        assert!(off(32) > 480, "{}: {for_token}", row["schedule"]);
    }
}
