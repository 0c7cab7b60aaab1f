//! Runs with large vocabularies, as they were and as they could be cut. docs/measured.md has the tables.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use bubbleproof::catalog;
use bubbleproof::certificate::{Objective, lower_bound};
use bubbleproof::model::{Costs, Memory, Model, Placement, Ticks, Units};
use bubbleproof::replay::replay;

use crate::traces::better::committed;
use crate::traces::cut::{Best, Cost, DEVICES, LAYERS, Layers, best_cut, one_f_one_b};
use crate::traces::figures::{field, milliseconds, rows, signed};
use crate::traces::gpu::table;

const MICROBATCHES: u32 = 128;

/// Every stage of `base` has as many layers.
const EVENLY: [i64; DEVICES] = [4; DEVICES];

/// What 1F1B holds on rank 0 of `base`: 8 microbatches of 4 layers.
const MEMORY: i64 = 32;

/// What was published of one run.
struct Run {
    nanoseconds: i64,
    /// The mean F and B of each rank.
    passes: Layers,
}

/// The runs by method and vocabulary.
fn runs() -> BTreeMap<(String, i64), Run> {
    let rows = rows("vocabulary_a100.csv");
    let run = |row: &BTreeMap<String, String>| {
        let pass = |kind: char, rank: usize| 1000 * field(row, &format!("{kind}{rank}_us"), 0);
        let passes = (0..DEVICES).map(|rank| [pass('f', rank), pass('b', rank)]).collect();
        let nanoseconds = 100_000 * field(row, "iteration_ms", 1);
        ((row["method"].clone(), field(row, "vocabulary", 0)), Run { nanoseconds, passes })
    };
    rows.iter().map(run).collect()
}

const VOCABULARIES: [i64; 4] = [32_000, 64_000, 128_000, 256_000];

/// What a layer takes, the median of the inner ranks of `base`, and what its first and last rank take beyond 4 layers.
fn cost(base: &Run) -> Cost {
    let of = |kind: usize| {
        let mut inner: Vec<i64> = base.passes[1..DEVICES - 1].iter().map(|pass| pass[kind]).collect();
        inner.sort_unstable();
        let inner = inner[(inner.len() - 1) / 2];
        assert_eq!(inner % 4, 0, "a layer takes whole ns");
        (inner / 4, base.passes[0][kind] - inner, base.passes[DEVICES - 1][kind] - inner)
    };
    let (forward, backward) = (of(0), of(1));
    Cost {
        layer: [forward.0, backward.0],
        first: [forward.1, backward.1],
        last: [forward.2, backward.2],
        microbatches: i64::from(MICROBATCHES),
    }
}

/// How many layers each rank had, by its passes and the costs of another run. F and B must agree.
fn layers(run: &Run, cost: &Cost) -> Vec<i64> {
    let none = cost.stages(&[0; DEVICES]);
    let of = |rank: usize, kind: usize| {
        let (layer, rest) = (cost.layer[kind], run.passes[rank][kind] - none[rank][kind]);
        (2 * rest + layer).div_euclid(2 * layer)
    };
    let found: Vec<i64> = (0..DEVICES).map(|rank| of(rank, 0)).collect();
    assert_eq!(found, (0..DEVICES).map(|rank| of(rank, 1)).collect::<Vec<_>>(), "F and B tell the same");
    assert_eq!(found.iter().sum::<i64>(), LAYERS);
    found
}

/// The model of a cut: its layers take what they take in `base`, and hold one unit each from F to B.
pub fn model(name: &str, placement: &Placement, cost: &Cost, layers: &[i64]) -> Model {
    let stages = cost.stages(layers);
    let of = |kind: usize| stages.iter().map(|pass| Ticks(pass[kind])).collect();
    let costs = Costs {
        unit: "ns".to_owned(),
        forward: of(0),
        backward_input: of(1),
        backward_weight: vec![Ticks::ZERO; layers.len()],
        communication: vec![Ticks::ZERO; layers.len() - 1],
    };
    let memory = Memory {
        unit: "layer-activation".to_owned(),
        activation: layers.iter().map(|&layers| Units(layers)).collect(),
        retained_for_weight: vec![Units::ZERO; layers.len()],
        checkpoint: None,
        weights: vec![Units::ZERO; layers.len()],
        capacity: vec![Some(Units(MEMORY)); placement.devices() as usize],
    };
    let source = "layers, embedding and head of vocabulary_a100.csv, base";
    Model::new(name.to_owned(), Some(source.to_owned()), placement.clone(), MICROBATCHES, costs, memory)
        .expect("a model")
}

fn linear(cost: &Cost, layers: &[i64]) -> Model {
    let placement = Placement::linear(u32::try_from(DEVICES).expect("8")).expect("a placement");
    model("cut", &placement, cost, layers)
}

/// The makespan of 1F1B by replay, which must be what the search over cuts thinks it is.
fn replayed(model: &Model, stages: &Layers) -> i64 {
    let schedule = catalog::find("1f1b").expect("a known name").generate(model).expect("within memory");
    let verdict = replay(model, &schedule);
    assert!(verdict.is_valid(), "{:?}", verdict.violations);
    let makespan = verdict.timing.expect("it runs").metrics.makespan.0;
    assert_eq!(makespan, one_f_one_b(stages, i64::from(model.microbatches())));
    makespan
}

fn listed(layers: &[i64]) -> String {
    layers.iter().map(i64::to_string).collect::<Vec<_>>().join(" ")
}

#[test]
fn vocabulary_runs_are_predicted_as_the_page_says() {
    let (runs, mut report) = (runs(), String::new());
    let mut with_own = Vec::new();
    for vocabulary in VOCABULARIES {
        let of = |method: &str| &runs[&(method.to_owned(), vocabulary)];
        let cost = cost(of("base"));
        for method in ["base", "redis"] {
            let run = of(method);
            let layers = layers(run, &cost);
            assert!(method == "redis" || layers == EVENLY);
            let own = one_f_one_b(&run.passes, i64::from(MICROBATCHES));
            let predicted = one_f_one_b(&cost.stages(&layers), i64::from(MICROBATCHES));
            let error = |time: i64| signed(time - run.nanoseconds, run.nanoseconds);
            with_own.push((10_000 * (own - run.nanoseconds)) / run.nanoseconds);
            let from_base = if method == "redis" { error(predicted) } else { String::new() };
            writeln!(
                report,
                "| {vocabulary} | {method} | {} | {} | {} | {from_base} |",
                listed(&layers),
                milliseconds(run.nanoseconds),
                error(own),
            )
            .expect("a string");
        }
    }
    assert_eq!([with_own.iter().min(), with_own.iter().max()], [Some(&-154), Some(&-70)], "in 0.01 %");
    // The one stage of 5 layers with the vocabulary of 64000.
    let cost = cost(&runs[&("base".to_owned(), 64_000)]);
    let took: i64 = runs[&("redis".to_owned(), 64_000)].passes[6].iter().sum();
    let layers: i64 = cost.layer.iter().map(|pass| 5 * pass).sum();
    assert_eq!((took - layers) * 1000 / layers, 39, "3.9 % more than 5 layers of base");
    let cost = self::cost(&runs[&("base".to_owned(), 256_000)]);
    let head: i64 = cost.last.iter().sum();
    assert!(head > cost.layer.iter().map(|pass| 7 * pass).sum());
    let took: i64 = runs[&("redis".to_owned(), 256_000)].passes[DEVICES - 1].iter().sum();
    assert_eq!(
        (head - took) * 1000 / head,
        23,
        "its last rank, which has no layer, took 2.3 % less than this head"
    );
    insta::assert_snapshot!("vocabulary", report);
    assert_eq!(report, table("vocabulary"), "docs/measured.md has other figures");
}

/// No schedule on 8 devices is shorter, however the layers are cut into stages and the stages placed: a device runs whole
/// layers, and head and embedding are on one device each; and the head waits for the first microbatch.
fn of_any_placement(cost: &Cost) -> i64 {
    let sum = |pass: [i64; 2]| pass[0] + pass[1];
    let [layer, first, last] = [cost.layer, cost.first, cost.last].map(sum);
    let fits = |most: i64| {
        let room = |rest: i64| if rest < 0 { -LAYERS } else { rest / layer };
        let apart = room(most - last) + room(most - first) + 6 * room(most);
        let together = room(most - last - first) + 7 * room(most);
        apart.max(together) >= LAYERS
    };
    let candidates =
        (0..=LAYERS).flat_map(|layers| [0, first, last, first + last].map(|rest| rest + layers * layer));
    let busiest = candidates.filter(|&most| fits(most)).min().expect("all layers fit somewhere");
    (busiest * cost.microbatches).max(LAYERS * layer + first + last * cost.microbatches)
}

/// Two chunks on each device, as a V: the layers of the 16 stages, as a search over cuts left them.
const CHUNKS: [(i64, [i64; 16]); 3] = [
    (32_000, [2, 1, 2, 2, 1, 2, 3, 2, 2, 0, 2, 3, 3, 3, 3, 1]),
    (64_000, [1, 2, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 1]),
    (128_000, [0, 1, 1, 2, 2, 2, 2, 2, 3, 3, 2, 3, 2, 4, 3, 0]),
];

#[test]
fn vocabulary_runs_could_be_cut_as_the_page_says() {
    let (runs, mut report) = (runs(), String::new());
    for vocabulary in VOCABULARIES {
        let of = |method: &str| &runs[&(method.to_owned(), vocabulary)];
        let redis = of("redis");
        let cost = cost(of("base"));
        let predicted = one_f_one_b(&cost.stages(&layers(redis, &cost)), cost.microbatches);
        let Best { layers, makespan, no_cut_below, cuts } = best_cut(&cost, MEMORY);
        assert_eq!(cuts, 15_380_937, "39 over 7: each way to cut 32 layers into 8 stages, empty ones too");
        let model = linear(&cost, &layers);
        assert_eq!(replayed(&model, &cost.stages(&layers)), makespan);
        let bound = lower_bound(&model, Objective::Makespan).value.0;
        assert_eq!(bound, makespan, "1F1B is optimal for its cut and memory");
        let any = of_any_placement(&cost);
        assert!(any <= makespan && no_cut_below <= makespan);
        let two = CHUNKS.iter().find(|(of, _)| *of == vocabulary).map(|(_, layers)| {
            let placement = Placement::v(model.devices()).expect("a placement");
            let name = format!("vocabulary-{vocabulary}-v");
            let found = committed(&name, &self::model(&name, &placement, &cost, layers));
            assert!((found.makespan - found.bound) * 1000 < 4 * found.bound, "its certificate leaves 0.3 %");
            found.makespan
        });
        assert!(
            two.is_none_or(|two| two >= any && (makespan - two) * 1000 / makespan <= 20),
            "2.0 % at most"
        );
        assert!((makespan - any) * 1000 < 44 * makespan, "4.4 % at most");
        let against = |time: i64, of: i64| signed(time - of, of);
        writeln!(
            report,
            "| {vocabulary} | {} | {} | {} | {} | {} | {} | {} | {} |",
            listed(&layers),
            milliseconds(makespan),
            against(makespan, redis.nanoseconds),
            against(makespan, predicted),
            milliseconds(no_cut_below),
            two.map_or_else(String::new, milliseconds),
            milliseconds(any),
            ["vocab", "synctwice", "interlaced"]
                .map(|method| milliseconds(of(method).nanoseconds))
                .join(", "),
        )
        .expect("a string");
    }
    insta::assert_snapshot!("vocabulary_cut", report);
    assert_eq!(report, table("vocabulary cut"), "docs/measured.md has other figures");
}
