//! The catalogue and the shipped profiles against the figures that the papers print.
//!
//! `tests/data/` holds copies of the published tables: `zb_bubble_rates.csv`, `zb_profiled_times.csv` and
//! `zb_throughput_memory.csv` (Zero Bubble Pipeline Parallelism, ICLR 2024, arXiv 2401.10241),
//! `cm_table1_blocks.csv` and `cm_table8_9_offsets.csv` (Pipeline Parallelism with Controllable
//! Memory, arXiv 2405.15362).

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use bubbleproof::block::Block;
use bubbleproof::catalog;
use bubbleproof::model::{
    Costs, Device, Kind, Memory, Microbatch, Model, Pass, Placement, Stage, Ticks, Units, parse, print,
};
use bubbleproof::replay::{Metrics, Rate, replay};

/// A row of a table, by column. Only the last quoted string of a row, its source, may contain
/// commas, and tests use it only to tell rows apart.
pub type Row = BTreeMap<String, String>;

pub fn table(name: &str) -> Vec<Row> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
    let text = fs::read_to_string(&path).expect("a copy of the table");
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().expect("a header").split(',').collect();
    let row = |line: &str| {
        let cells = line.splitn(header.len(), ',').map(str::to_owned);
        header.iter().map(|&key| key.to_owned()).zip(cells).collect()
    };
    lines.map(row).collect()
}

pub fn number(row: &Row, column: &str) -> i64 {
    row[column].parse().expect("an integer")
}

/// A decimal number of a table times a power of ten, exactly.
pub fn scaled(text: &str, digits: usize) -> i64 {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    assert!(part.len() <= digits, "{text} has more than {digits} decimals");
    format!("{whole}{part:0<digits$}").parse().expect("a decimal number")
}

pub fn profile(name: &str) -> Model {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/profiles");
    let path = folder.join(format!("{name}.toml"));
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

pub fn profile_name(row: &Row) -> String {
    format!("zb-{}-p{}-m{}", row["model"].to_lowercase(), row["p"], row["m"])
}

fn metrics(model: &Model, schedule: &str) -> Metrics {
    let schedule = catalog::find(schedule).expect("a known name").generate(model).expect("no capacity");
    let verdict = replay(model, &schedule);
    assert_eq!(verdict.violations, []);
    verdict.timing.expect("it runs").metrics
}

/// A rate in ten-thousandths, rounded half up, as tables print it.
fn ten_thousandths(rate: Rate) -> i64 {
    let rounded = (rate * 10_000 + Rate::new(1, 2)).floor().to_integer();
    i64::try_from(rounded).expect("a rate is at most one")
}

#[test]
fn every_shipped_model_parses_prints_and_parses_again() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/profiles");
    let mut count = 0;
    for entry in fs::read_dir(folder).expect("the shipped models") {
        let path = entry.expect("an entry").path();
        let text = fs::read_to_string(&path).expect("a model file");
        let model = parse(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert_eq!(path.file_name().and_then(|name| name.to_str()), Some(&*format!("{}.toml", model.name())));
        assert!(model.source().is_some_and(|source| source.contains("arXiv")), "{}", path.display());
        assert_eq!(parse(&print(&model)).as_ref(), Ok(&model), "{}", path.display());
        count += 1;
    }
    assert_eq!(count, 2 * 12 + 6);
}

#[test]
fn profiles_hold_the_published_times_and_the_memory_of_the_formulas() {
    let rows = table("zb_profiled_times.csv");
    assert_eq!(rows.len(), 12);
    for row in rows {
        let name = profile_name(&row);
        let us = |column: &str| scaled(&row[column], 3);
        let (heads, hidden, length) =
            (number(&row, "heads"), number(&row, "hidden"), number(&row, "seq_len"));
        let (activation, retained) = (34 * hidden + 5 * heads * length, 32 * hidden);
        for (name, parts) in [(name.clone(), 1), (format!("{name}-v"), 2)] {
            let model = profile(&name);
            assert_eq!(i64::from(model.devices()), number(&row, "p"), "{name}");
            assert_eq!(i64::from(model.microbatches()), number(&row, "m"), "{name}");
            // The linear models count microseconds, the V models nanoseconds.
            let scale = if parts == 1 { 1 } else { 1000 };
            for (found, published) in [
                (&model.costs().forward, us("T_F_ms") * scale / parts),
                (&model.costs().backward_input, us("T_B_ms") * scale / parts),
                (&model.costs().backward_weight, us("T_W_ms") * scale / parts),
                (&model.costs().communication, us("T_comm_ms") * scale),
            ] {
                assert!(found.iter().all(|&ticks| ticks == Ticks(published)), "{name}: {found:?}");
            }
            let memory = model.memory();
            assert!(memory.activation.iter().all(|&units| units * parts == Units(activation)), "{name}");
            assert!(
                memory.retained_for_weight.iter().all(|&units| units * parts == Units(retained)),
                "{name}"
            );
            assert_eq!(catalog::one_f_one_b_memory(&model), Units(activation * number(&row, "p")), "{name}");
        }
    }
}

#[test]
fn bubble_rates_of_the_zero_bubble_paper_are_reproduced_or_undercut() {
    let (mut equal, mut at_most) = (0, 0);
    for row in table("zb_bubble_rates.csv") {
        let name = match row["schedule"].as_str() {
            "1F1B" => "1f1b",
            "ZB-H1" => "zb-h1",
            "ZB-H2" => "zb-h2",
            "ZB-1p" => "zb-1p",
            "ZB-2p" => "zb-2p",
            // Not a replay: see `published_interleaved_rates_are_a_closed_form`.
            "1F1B-I" => continue,
            other => panic!("unknown schedule {other}"),
        };
        let published = scaled(&row["bubble_rate"], 4);
        let found = ten_thousandths(metrics(&profile(&profile_name(&row)), name).bubble_rate);
        let what = format!("{name} on {}", profile_name(&row));
        if name.ends_with('p') {
            assert!(found <= published, "{what}: {found} against {published}");
            at_most += 1;
        } else {
            assert_eq!(found, published, "{what}");
            equal += 1;
        }
    }
    assert_eq!((equal, at_most), (18, 12));
}

#[test]
fn memory_limited_schedules_keep_to_p_and_2p_forwards() {
    for row in table("zb_profiled_times.csv").iter().filter(|row| row["p"] == "8") {
        let model = profile(&profile_name(row));
        let forward = model.activation(Stage(0));
        for (name, limit) in [("zb-1p", forward * 8), ("zb-2p", forward * 16)] {
            let schedule = catalog::find(name).expect("a known name").generate(&model).expect("no capacity");
            let peak = replay(&model, &schedule).peak_memory_max();
            assert!(peak <= limit, "{name}: {peak} over {limit}");
        }
    }
}

/// The profile on looped placement: v chunks a device, each with one v-th of a stage's times, counted
/// in v-ths of a microsecond so that they stay integers.
pub fn interleaved(row: &Row) -> Model {
    let linear = profile(&profile_name(row));
    let chunks = u32::try_from(number(row, "interleave_chunks_v")).expect("a few");
    let placement = Placement::looped(linear.devices(), chunks).expect("a placement");
    let (stages, devices) = (placement.stages() as usize, placement.devices() as usize);
    let costs = Costs {
        unit: format!("us/{chunks}"),
        forward: vec![linear.costs().forward[0]; stages],
        backward_input: vec![linear.costs().backward_input[0]; stages],
        backward_weight: vec![linear.costs().backward_weight[0]; stages],
        communication: vec![linear.costs().communication[0] * i64::from(chunks); stages - 1],
    };
    let memory = Memory {
        unit: "chunk-activation".to_owned(),
        activation: vec![Units(1); stages],
        retained_for_weight: vec![Units(1); stages],
        checkpoint: None,
        weights: vec![Units(0); stages],
        capacity: vec![None; devices],
    };
    Model::new("interleaved".to_owned(), None, placement, linear.microbatches(), costs, memory)
        .expect("a model")
}

/// The published values of 1F1B-I follow the closed form `m*S + S(p-1)/v + (p(2v-1)-2)*T_comm` for the
/// cost, S = `T_F+T_B+T_W`. Replaying the order of Megatron-LM takes exactly p latencies more than
/// that, whatever m is, so our rates are a little higher than the printed ones.
#[test]
fn published_interleaved_rates_are_a_closed_form() {
    let published: BTreeMap<(String, String), i64> = table("zb_bubble_rates.csv")
        .into_iter()
        .filter(|row| row["schedule"] == "1F1B-I")
        .map(|row| ((row["model"].clone(), row["m"].clone()), scaled(&row["bubble_rate"], 4)))
        .collect();
    let mut report =
        String::from("model  m  published  closed form  replayed  latencies beyond the closed form\n");
    for row in table("zb_profiled_times.csv") {
        let Some(&published) = published.get(&(row["model"].clone(), row["m"].clone())) else { continue };
        let model = interleaved(&row);
        let (p, m) = (i64::from(model.devices()), i64::from(model.microbatches()));
        let v = number(&row, "interleave_chunks_v");
        // In v-ths of a microsecond: S of a whole stage is v times the times of the chunks.
        let work = model.work(Device(0)).0;
        let latency = model.costs().communication[0].0;
        let cost = m * work + work / v * (p - 1) + (p * (2 * v - 1) - 2) * latency;
        let closed = Rate::new(i128::from(cost - m * work), i128::from(cost));
        assert_eq!(ten_thousandths(closed), published, "{} m = {m}", row["model"]);

        let ours = metrics(&model, "interleaved-1f1b");
        assert_eq!(work % v, 0);
        let beyond = Rate::new(i128::from(ours.device_span.0 - cost), i128::from(latency));
        writeln!(
            report,
            "{}  {m}  0.{published:04}  0.{:04}  0.{:04}  {beyond}",
            row["model"],
            ten_thousandths(closed),
            ten_thousandths(ours.bubble_rate),
        )
        .expect("writing to a string cannot fail");
    }
    insta::assert_snapshot!(report);
}

/// A share in percent with its sign and one decimal, rounded half up.
pub fn percent(rate: Rate) -> String {
    let tenths = (rate * 1000 + Rate::new(1, 2)).floor().to_integer();
    let sign = if tenths < 0 { '-' } else { '+' };
    format!("{sign}{}.{}", tenths.abs() / 10, tenths.abs() % 10)
}

/// How much more throughput than 1F1B: as timed on A100s (Table 4 of the paper), and as replay predicts from
/// the profiled times of the same runs. Throughput goes as one over the time of an iteration. For the
/// zero-bubble schedules, whose optimiser step waits for no other device, that is the longest that a device
/// is at work; for 1F1B and 1F1B-I it is the makespan.
#[test]
fn throughputs_against_1f1b_are_as_timed_or_the_difference_is_on_record() {
    let timed: BTreeMap<(String, String, String), i64> = table("zb_throughput_memory.csv")
        .into_iter()
        .map(|row| {
            let throughput = scaled(&row["samples_per_gpu_per_s"], 2);
            ((row["model"].clone(), row["m"].clone(), row["schedule"].clone()), throughput)
        })
        .collect();
    assert_eq!(timed.len(), 12 * 4);
    let mut report = String::from("model  m  schedule  timed  predicted  error of the ratio\n");
    let mut errors: BTreeMap<&str, Vec<Rate>> = BTreeMap::new();
    for row in table("zb_profiled_times.csv") {
        let linear = profile(&profile_name(&row));
        let unit = Rate::from_integer(i128::from(metrics(&linear, "1f1b").makespan.0));
        for name in ["1F1B-I", "ZB-1p", "ZB-2p"] {
            let of = |name: &str| timed[&(row["model"].clone(), row["m"].clone(), name.to_owned())];
            let measured = Rate::new(i128::from(of(name)), i128::from(of("1F1B")));
            let time = match name {
                "1F1B-I" => {
                    let model = interleaved(&row);
                    let chunks = i128::from(number(&row, "interleave_chunks_v"));
                    Rate::new(i128::from(metrics(&model, "interleaved-1f1b").makespan.0), chunks)
                }
                _ => Rate::from_integer(i128::from(metrics(&linear, &name.to_lowercase()).device_span.0)),
            };
            let predicted = unit / time;
            let error = predicted / measured - 1;
            errors.entry(name).or_default().push(error);
            writeln!(
                report,
                "{}  {}  {name}  {} %  {} %  {} %",
                row["model"],
                row["m"],
                percent(measured - 1),
                percent(predicted - 1),
                percent(error)
            )
            .expect("writing to a string cannot fail");
        }
    }
    for (name, mut errors) in errors {
        errors.sort_unstable();
        let [least, median, most] =
            [0, (errors.len() - 1) / 2, errors.len() - 1].map(|at| percent(errors[at]));
        writeln!(report, "{name}: error {least} % to {most} %, median {median} %")
            .expect("writing to a string cannot fail");
    }
    insta::assert_snapshot!(report);
}

fn offset(block: &Block, stage: i64, kind: Kind) -> i64 {
    let stage = Stage(u32::try_from(stage).expect("a stage"));
    block.offset(Pass::new(stage, kind, Microbatch(0))).expect("a pass of the block").0
}

/// Tables 8 and 9: how far passes advance from device to device, and the gaps where they turn. The
/// papers' "B 0" is the first backward that a device runs, which is that of chunk 1.
#[test]
fn v_blocks_have_the_offsets_of_tables_8_and_9() {
    let mut checked = 0;
    for row in table("cm_table8_9_offsets.csv") {
        let name = row["block"].to_lowercase();
        // Of V-Half the table has two variants; the authors' generator has the one with less memory.
        if name == "v-half" && !row["source"].starts_with("sail-sg") {
            continue;
        }
        let applies = |d: i64| match row["condition"].as_str() {
            "d mod 3 = 0" => d % 3 == 0,
            "d mod 3 != 0" => d % 3 != 0,
            "d mod 2 = 0" => d % 2 == 0,
            "d mod 2 = 1" => d % 2 == 1,
            other => panic!("unknown condition {other}"),
        };
        for d in (2..=64).filter(|&d| applies(d)) {
            let placement = Placement::v(u32::try_from(d).expect("a count")).expect("a placement");
            let block = catalog::block(&name, &placement).expect("a block");
            let at = |kind, chunk, device| {
                offset(&block, if chunk == 0 { device } else { 2 * d - 1 - device }, kind)
            };
            for i in 0..d - 1 {
                assert_eq!(at(Kind::F, 0, i + 1) - at(Kind::F, 0, i), number(&row, "dF0"), "{name} d={d}");
                assert_eq!(at(Kind::F, 1, i) - at(Kind::F, 1, i + 1), number(&row, "dF1"), "{name} d={d}");
                assert_eq!(at(Kind::I, 1, i + 1) - at(Kind::I, 1, i), number(&row, "dB0"), "{name} d={d}");
                assert_eq!(at(Kind::I, 0, i) - at(Kind::I, 0, i + 1), number(&row, "dB1"), "{name} d={d}");
            }
            let turns = [
                (at(Kind::F, 1, d - 1) - at(Kind::F, 0, d - 1), "gap_F0last_to_F1last"),
                (at(Kind::I, 1, 0) - at(Kind::F, 1, 0), "gap_F1first_to_B_first"),
                (at(Kind::I, 0, d - 1) - at(Kind::I, 1, d - 1), "gap_B_last"),
            ];
            for (found, column) in turns {
                assert_eq!(found, number(&row, column), "{name} d={d} {column}");
            }
            checked += 1;
        }
    }
    assert_eq!(checked, 2 * 63);
}

/// Table 1: interval, peak memory, and the growth of the largest sum of lifespans with d.
#[test]
fn blocks_have_the_intervals_peaks_and_lifespans_of_table_1() {
    let mut checked = Vec::new();
    for row in table("cm_table1_blocks.csv") {
        let name = row["block"].to_lowercase();
        if row["interval_T"].is_empty() {
            continue;
        }
        // Table 1 measures in half stages: linear placement has stages of two of them.
        let (linear, per_microbatch) = (name == "1f1b", if name == "1f1b" { 1 } else { 2 });
        for d in 2..=64 {
            let devices = u32::try_from(d).expect("a count");
            let placement = if linear { Placement::linear(devices) } else { Placement::v(devices) };
            let placement = placement.expect("a placement");
            let block = catalog::block(&name, &placement).expect("a block");
            let model = Model::unit(placement.clone(), 1).expect("a model");
            assert_eq!(block.faults(&model), [], "{name} d={d}");
            assert_eq!(block.interval_parts().0 * if linear { 2 } else { 1 }, number(&row, "interval_T"));

            let formula = row["peak_HF_space_microbatches"].as_str();
            let microbatches = match formula {
                "p" => d,
                "floor((p+4)/3)" => (d + 4) / 3,
                "floor((p+2)/2)" => d / 2 + 1,
                other => panic!("unknown formula {other}"),
            };
            let peak = block.steady_peak(&model).into_iter().max();
            assert_eq!(peak, Some(Units(per_microbatch * microbatches)), "{name} d={d}");

            let sum_on = |device: &Vec<Stage>| -> i64 {
                device.iter().map(|&stage| block.lifespan(&model, stage).0).sum()
            };
            let longest = placement.lists().iter().map(sum_on).max().expect("a device");
            let longest = longest * if linear { 2 } else { 1 };
            let growth = row["lifespan_sum_lmax"].split('d').next().expect("a factor");
            // The table leaves constants out: the delay of W and the gaps where the passes turn.
            let constant = match (name.as_str(), d % 3, d % 2) {
                ("1f1b", ..) => 0,
                ("v-min", 1, _) | ("v-half", _, 1) => 6,
                ("v-min", ..) => 10,
                ("v-half", ..) => 12,
                ("v-zb", ..) => -2,
                other => panic!("unknown block {other:?}"),
            };
            let stated = growth.parse::<i64>().expect("a factor") * d;
            assert_eq!(longest, stated + constant, "{name} d={d}");
        }
        checked.push(name);
    }
    assert_eq!(checked, ["1f1b", "v-min", "v-half", "v-zb"]);
}
