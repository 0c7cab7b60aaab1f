//! One curve for all networks and plans, held to the measured times on many nodes.

use std::fmt::Write as _;

use super::atoms::{
    Atoms, HEAD_B, HEAD_F, LAYER_B, LAYER_F, MESSAGE, REDUCE_LAYER, REDUCE_VOCABULARY, STEP_LAYER,
    STEP_VOCABULARY, coarse, replayed,
};
use super::fit::{Terms, atoms, fit, float};
use super::plans::{Plan, plans};
use super::score::{Predicted, errors, hundredths, least_pipeline, rank_correlation, regret, tasks};
use super::table;
use crate::traces::figures::{milliseconds, percent, signed};

/// Words in the vocabulary. The source does not say; this is GPT-2's, padded.
const VOCABULARY: i64 = 51_200;

/// GPUs in a node.
const NODE: i64 = 8;

/// A term of a layer: so much in F, and so many times as much in B.
fn layer(forward: f64, times: f64) -> Atoms<f64> {
    let mut atoms = [0.0; 9];
    (atoms[LAYER_F], atoms[LAYER_B]) = (forward, times * forward);
    atoms
}

/// B of a layer recomputes its F, and then takes twice as long: 3 F in all. It has two all-reductions of tensor parallelism
/// more than F, and those of the recomputed F. B of the head takes 2 F.
const RECOMPUTED: f64 = 3.0;
const REDUCED: f64 = 2.0;

/// The operations of a layer and of the head.
fn work(plan: &Plan) -> Atoms<f64> {
    let [tokens, hidden, sequence] = [plan.microbatch * plan.sequence, plan.hidden, plan.sequence].map(float);
    let tensor = float(plan.tensor);
    let mut work = layer((24.0 * hidden + 4.0 * sequence) * tokens * hidden / tensor, RECOMPUTED);
    work[HEAD_F] = 2.0 * tokens * hidden * float(VOCABULARY) / tensor;
    work[HEAD_B] = 2.0 * work[HEAD_F];
    work
}

/// Nine terms. Coefficients are ns for an operation, for a value, a byte, a layer, or a parameter.
fn terms(plan: &Plan) -> Vec<Atoms<f64>> {
    let [tensor, data] = [plan.tensor, plan.data].map(float);
    let values = float(plan.microbatch * plan.sequence * plan.hidden);
    let scores = float(plan.microbatch * plan.heads * plan.sequence * plan.sequence) / tensor;
    // Two rings in F, two bytes for a value.
    let reduced = 2.0 * 2.0 * values * 2.0 * (tensor - 1.0) / tensor;
    let beyond_node = if plan.tensor > NODE { reduced } else { 0.0 };
    let mut message = [0.0; 9];
    message[MESSAGE] = 2.0 * values;
    let (of_layer, of_matrix) = (12.0 * float(plan.hidden * plan.hidden), float(VOCABULARY * plan.hidden));
    // All GPUs of a tensor group reduce gradients at a time, and share the network of their node: what counts is what all of
    // them send, so it is not divided by the tensor degree.
    let ring = 2.0 * 2.0 * (data - 1.0) / data;
    let mut reduce = [0.0; 9];
    (reduce[REDUCE_LAYER], reduce[REDUCE_VOCABULARY]) = (ring * of_layer, ring * of_matrix);
    let mut step = [0.0; 9];
    (step[STEP_LAYER], step[STEP_VOCABULARY]) = (of_layer / tensor, of_matrix / tensor);
    vec![
        work(plan),
        layer(values, RECOMPUTED),
        layer(scores, RECOMPUTED),
        layer(reduced, REDUCED),
        layer(beyond_node, REDUCED),
        layer(1.0, RECOMPUTED),
        message,
        reduce,
        step,
    ]
}

/// The terms as the page has them, and what makes their coefficients figures of this unit.
const TERMS: [(&str, &str, f64); 9] = [
    ("operations", "ms / TFLOP", 1e6),
    ("values of activations", "ps / value", 1e3),
    ("attention scores", "ps / score", 1e3),
    ("bytes that tensor parallelism reduces", "ps / byte", 1e3),
    ("the same, beyond a node", "ps / byte", 1e3),
    ("a layer", "ms", 1e-6),
    ("bytes of a message", "ps / byte", 1e3),
    ("bytes of gradients", "ps / byte", 1e3),
    ("parameters of the optimiser step", "ps / parameter", 1e3),
];

/// Where the fit starts: 150 TFLOP/s, 100 GB/s in a node and 10 GB/s beyond it, a tenth of a ms for each layer.
const START: [f64; 9] = [1.0 / 150_000.0, 5e-4, 5e-4, 0.01, 0.1, 1e5, 0.05, 0.05, 0.02];

/// The yardstick: all time is operations at one rate.
fn only_work(plan: &Plan) -> Vec<Atoms<f64>> {
    vec![work(plan)]
}

/// What was predicted of plans by fits that had not seen them.
struct HeldOut<'a> {
    replayed: Vec<Predicted<'a>>,
    coarse: Vec<Predicted<'a>>,
    /// The coefficients of each fold.
    coefficients: Vec<Vec<f64>>,
}

/// Each plan predicted by a fit to those of other folds: by replay and by the coarse formula.
fn held_out<'a>(
    plans: &'a [Plan],
    fold: &dyn Fn(&Plan) -> usize,
    terms: Terms,
    start: &[f64],
) -> HeldOut<'a> {
    let mut folds: Vec<usize> = plans.iter().map(fold).collect();
    folds.sort_unstable();
    folds.dedup();
    let mut found = HeldOut { replayed: Vec::new(), coarse: Vec::new(), coefficients: Vec::new() };
    for of in folds {
        let (held, known): (Vec<&Plan>, Vec<&Plan>) = plans.iter().partition(|&plan| fold(plan) == of);
        let coefficients = fit(&known, terms, start);
        for plan in held {
            let atoms = atoms(terms, &coefficients, plan);
            found.replayed.push((plan, replayed(plan, &atoms).makespan));
            found.coarse.push((plan, coarse(plan, &atoms)));
        }
        found.coefficients.push(coefficients);
    }
    found
}

/// The network and its degrees.
const fn degrees(plan: &Plan) -> [i64; 4] {
    [plan.hidden, plan.tensor, plan.data, plan.pipeline]
}

#[test]
fn measured_plans_on_many_nodes_are_predicted_as_the_page_says() {
    let plans = plans("vtrain_multi.csv");
    let mut all: Vec<[i64; 4]> = plans.iter().map(degrees).collect();
    all.sort_unstable();
    all.dedup();
    let other_degrees = |plan: &Plan| all.binary_search(&degrees(plan)).expect("one of all") % 5;
    let other_network = |plan: &Plan| usize::try_from(plan.hidden).expect("a size");
    let HeldOut { replayed: near, coarse: near_coarse, coefficients } =
        held_out(&plans, &other_degrees, terms, &START);
    let HeldOut { replayed: far, coarse: far_coarse, coefficients: far_coefficients } =
        held_out(&plans, &other_network, terms, &START);
    let rate = held_out(&plans, &other_degrees, only_work, &START[..1]).replayed;
    let far_rate = held_out(&plans, &other_network, only_work, &START[..1]).replayed;
    let least: Vec<Predicted<'_>> = plans.iter().map(|plan| (plan, least_pipeline(plan))).collect();

    let mut report = String::new();
    for (held, prediction, predicted) in [
        ("degrees", "nine terms, replay", &near),
        ("degrees", "nine terms, coarse formula", &near_coarse),
        ("degrees", "one rate, replay", &rate),
        ("network", "nine terms, replay", &far),
        ("network", "nine terms, coarse formula", &far_coarse),
        ("network", "one rate, replay", &far_rate),
    ] {
        assert_eq!(predicted.len(), 55);
        writeln!(report, "| {held} | {prediction} | {} |", errors(predicted)).expect("a string");
    }
    // In how many plans the formula is not the makespan, and by how much at most, in 0.01 %.
    let differ = |exact: &[Predicted<'_>], formula: &[Predicted<'_>]| {
        let pairs = exact.iter().zip(formula).filter(|(a, b)| a != b);
        let shares = pairs.map(|((_, exact), (_, formula))| (exact - formula).abs() * 10_000 / exact);
        shares.fold((0, 0), |(count, most), share| (count + 1, share.max(most)))
    };
    assert_eq!([differ(&near, &near_coarse), differ(&far, &far_coarse)], [(6, 157), (4, 371)]);
    insta::assert_snapshot!("many_nodes", report);
    assert_eq!(report, table("many nodes"), "docs/planning.md has other figures");

    let mut report = String::new();
    for (at, name) in ["3.6", "18.4", "39.1", "175"].into_iter().enumerate() {
        let of = |predicted: &[Predicted<'_>]| {
            let plans = &tasks(predicted)[at];
            format!("{} | {}", hundredths(rank_correlation(plans)), percent(regret(plans), 10_000))
        };
        let plans = &tasks(&near)[at];
        let (gpus, count) = (plans[0].0.gpus, plans.len());
        let (near_error, far_error) = (errors(plans), errors(&tasks(&far)[at]));
        let median = |errors: &str| errors.split(' ').next().expect("a median").to_owned();
        writeln!(
            report,
            "| {name} | {gpus} | {count} | {} | {} | {} | {} | {} | {} |",
            median(&near_error),
            of(&near),
            median(&far_error),
            of(&far),
            of(&rate),
            of(&least)
        )
        .expect("a string");
    }
    insta::assert_snapshot!("networks", report);
    assert_eq!(report, table("networks"), "docs/planning.md has other figures");

    let folds = [coefficients, far_coefficients].concat();
    let mut report = String::new();
    for (at, (term, unit, scale)) in TERMS.into_iter().enumerate() {
        let values = || folds.iter().map(|fold| fold[at] * scale);
        let least = values().fold(f64::INFINITY, f64::min);
        let most = values().fold(0.0, f64::max);
        let zeros = values().filter(|&value| value == 0.0).count();
        writeln!(report, "| {term} | {unit} | {least:.2} | {most:.2} | {zeros} of {} |", folds.len())
            .expect("a string");
    }
    insta::assert_snapshot!("coefficients", report);
    assert_eq!(report, table("coefficients"), "docs/planning.md has other figures");

    let mut worst = near.clone();
    worst.sort_by_key(|(plan, ns)| -((ns - plan.nanoseconds).abs() * 10_000 / plan.nanoseconds));
    let mut report = String::new();
    for (plan, ns) in &worst[..8] {
        let Plan { hidden, tensor, data, pipeline, microbatch, .. } = plan;
        let error = signed(ns - plan.nanoseconds, plan.nanoseconds);
        let took = milliseconds(plan.nanoseconds);
        writeln!(report, "| {hidden} | {tensor} | {data} | {pipeline} | {microbatch} | {took} | {error} |")
            .expect("a string");
    }
    insta::assert_snapshot!("worst", report);
    assert_eq!(report, table("worst"), "docs/planning.md has other figures");
}
