//! Layers timed by rows of their own: plans without a pipeline predict those with one. The times are those of one node, which
//! were computed, so this compares compositions of layers and not predictions with measurements.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::atoms::{
    Atoms, HEAD_B, HEAD_F, LAYER_B, LAYER_F, REDUCE_LAYER, REDUCE_VOCABULARY, STEP_LAYER, STEP_VOCABULARY,
    coarse, replayed,
};
use super::fit::{atoms, fit, float};
use super::plans::{Plan, plans};
use super::score::{Predicted, choices, errors, least_pipeline, tasks};
use super::table;

/// Six terms in ns: a layer and the head in a microbatch, F and B together; the optimiser step of a layer and of a matrix of the
/// vocabulary; and the reductions of the two over many replicas.
fn terms(plan: &Plan) -> Vec<Atoms<f64>> {
    let ring = float(plan.data - 1) / float(plan.data);
    let of = |parts: &[(usize, f64)]| {
        let mut atoms = [0.0; 9];
        for &(part, value) in parts {
            atoms[part] = value;
        }
        atoms
    };
    vec![
        of(&[(LAYER_F, 0.25), (LAYER_B, 0.75)]),
        of(&[(HEAD_F, 1.0 / 3.0), (HEAD_B, 2.0 / 3.0)]),
        of(&[(STEP_LAYER, 1.0)]),
        of(&[(STEP_VOCABULARY, 1.0)]),
        of(&[(REDUCE_LAYER, ring)]),
        of(&[(REDUCE_VOCABULARY, ring)]),
    ]
}

/// Plans with a pipeline that are not predicted: all those with microbatches of 8.
const LEFT_OUT: usize = 36;

#[test]
fn plans_without_a_pipeline_predict_those_with_one_as_the_page_says() {
    let all = plans("vtrain_single.csv");
    // What a layer takes depends on these.
    let mut kinds: BTreeMap<[i64; 3], (Vec<&Plan>, Vec<&Plan>)> = BTreeMap::new();
    for plan in &all {
        let (known, held) = kinds.entry([plan.hidden, plan.microbatch, plan.tensor]).or_default();
        if plan.pipeline == 1 { known.push(plan) } else { held.push(plan) }
    }
    let (mut replays, mut coarses, mut left_out) = (Vec::new(), Vec::new(), 0);
    for (known, held) in kinds.values() {
        // With one number of microbatches, what recurs in each cannot be told from what ends the step.
        if known.iter().all(|plan| plan.microbatches() == known[0].microbatches()) {
            left_out += held.len();
            continue;
        }
        let coefficients = fit(known, terms, &[1e6; 6]);
        for &plan in held {
            let atoms = atoms(terms, &coefficients, plan);
            replays.push((plan, replayed(plan, &atoms).makespan));
            coarses.push((plan, coarse(plan, &atoms)));
        }
    }
    let least: Vec<Predicted<'_>> = replays.iter().map(|&(plan, _)| (plan, least_pipeline(plan))).collect();
    let mut report = String::new();
    for (prediction, errors, predicted) in [
        ("replay", errors(&replays), &replays),
        ("coarse formula", errors(&coarses), &coarses),
        ("least pipeline", " |  | ".to_owned(), &least),
    ] {
        let choices = choices(&tasks(predicted));
        writeln!(report, "| {prediction} | {} | {errors} | {choices} |", predicted.len()).expect("a string");
    }
    assert_eq!(left_out, LEFT_OUT);
    assert_eq!(
        replays, coarses,
        "with the head on the last stage and no messages, the formula is the makespan"
    );
    insta::assert_snapshot!("one_node", report);
    assert_eq!(report, table("one node"), "docs/planning.md has other figures");
}
