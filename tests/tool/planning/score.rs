//! How good predictions of plans are.

use std::collections::BTreeMap;

use bubbleproof::trace::statistics::quantile;

use super::fit::float;
use super::plans::Plan;
use crate::traces::figures::{percent, signed};

/// A plan, and its predicted time in ns.
pub type Predicted<'a> = (&'a Plan, i64);

/// Median and 90th percentile of absolute errors, and the least and the most, in percent of the published time.
pub fn errors(predicted: &[Predicted<'_>]) -> String {
    let share = |&(plan, ns): &Predicted<'_>| {
        let millionths = 1_000_000 * i128::from(ns - plan.nanoseconds) / i128::from(plan.nanoseconds);
        i64::try_from(millionths).expect("a share")
    };
    let mut all: Vec<i64> = predicted.iter().map(share).collect();
    all.sort_unstable();
    let mut sizes: Vec<i64> = all.iter().map(|error| error.abs()).collect();
    sizes.sort_unstable();
    let of = |part, whole| percent(quantile(&sizes, part, whole).expect("a plan"), 1_000_000);
    let [least, most] = [all[0], all[all.len() - 1]].map(|error| signed(error, 1_000_000));
    format!("{} | {} | {least} to {most}", of(1, 2), of(9, 10))
}

/// The plans of each task that has at least three.
pub fn tasks<'a>(predicted: &[Predicted<'a>]) -> Vec<Vec<Predicted<'a>>> {
    let mut tasks: BTreeMap<[i64; 5], Vec<Predicted<'a>>> = BTreeMap::new();
    for &(plan, ns) in predicted {
        tasks.entry(plan.task()).or_default().push((plan, ns));
    }
    tasks.into_values().filter(|plans| plans.len() >= 3).collect()
}

/// How much longer the plan that is predicted to be best took than the best, in 0.01 %.
pub fn regret(plans: &[Predicted<'_>]) -> i64 {
    let (chosen, _) = plans.iter().min_by_key(|(_, ns)| *ns).expect("a plan");
    let best = plans.iter().map(|(plan, _)| plan.nanoseconds).min().expect("a plan");
    (chosen.nanoseconds - best) * 10_000 / best
}

/// What is chosen without any prediction: least pipeline, then least tensor, then the smallest microbatch.
pub fn least_pipeline(plan: &Plan) -> i64 {
    (plan.pipeline * 1000 + plan.tensor) * 1000 + plan.microbatch
}

/// Ranks times 2: equal values share the mean of theirs.
fn ranks(values: &[i64]) -> Vec<i64> {
    let count = |of: &dyn Fn(&&i64) -> bool| i64::try_from(values.iter().filter(of).count()).expect("few");
    values.iter().map(|value| 2 * count(&|other| *other < value) + count(&|other| *other == value)).collect()
}

/// Spearman's rank correlation of predicted and published times, in thousandths.
pub fn rank_correlation(plans: &[Predicted<'_>]) -> i64 {
    let columns = [
        plans.iter().map(|(plan, _)| plan.nanoseconds).collect::<Vec<_>>(),
        plans.iter().map(|(_, ns)| *ns).collect(),
    ];
    let centred = columns.map(|values| {
        let ranks = ranks(&values);
        let mean = i64::try_from(ranks.len()).expect("few");
        ranks.into_iter().map(|rank| rank - mean).collect::<Vec<_>>()
    });
    let product =
        |a: usize, b: usize| -> i64 { centred[a].iter().zip(&centred[b]).map(|(a, b)| a * b).sum() };
    let norm = (float(product(0, 0)) * float(product(1, 1))).sqrt();
    #[expect(clippy::cast_possible_truncation, reason = "it is between -1000 and 1000")]
    let thousandths = if norm == 0.0 { 0 } else { (1000.0 * float(product(0, 1)) / norm).round() as i64 };
    thousandths
}

/// Thousandths as a number with two decimals, rounded half away from zero.
pub fn hundredths(thousandths: i64) -> String {
    let size = (thousandths.abs() + 5) / 10;
    let sign = if thousandths < 0 && size > 0 { "-" } else { "" };
    format!("{sign}{}.{:02}", size / 100, size % 100)
}

/// The median rank correlation within tasks, in how many of them the chosen plan took at most 3 % more than
/// the best, and how much more in the median and at worst.
pub fn choices(tasks: &[Vec<Predicted<'_>>]) -> String {
    let mut correlations: Vec<i64> = tasks.iter().map(|plans| rank_correlation(plans)).collect();
    correlations.sort_unstable();
    let mut regrets: Vec<i64> = tasks.iter().map(|plans| regret(plans)).collect();
    regrets.sort_unstable();
    let near = regrets.iter().filter(|&&regret| regret <= 300).count();
    let middle = |values: &[i64]| quantile(values, 1, 2).expect("a task");
    format!(
        "{} | {near} of {} | {} | {}",
        hundredths(middle(&correlations)),
        tasks.len(),
        percent(middle(&regrets), 10_000),
        percent(regrets[regrets.len() - 1], 10_000)
    )
}

#[test]
fn ranks_that_agree_correlate_by_one_and_opposite_ones_by_minus_one() {
    let plan = super::plans::plans("vtrain_multi.csv").swap_remove(0);
    let took = |ns: i64| Plan { nanoseconds: ns, ..plan.clone() };
    let plans: Vec<Plan> = [10, 40, 30, 20].map(took).into();
    let of = |predicted: [i64; 4]| rank_correlation(&plans.iter().zip(predicted).collect::<Vec<_>>());
    assert_eq!(of([1, 4, 3, 2]), 1000);
    assert_eq!(of([4, 1, 2, 3]), -1000);
    assert_eq!(of([5, 5, 5, 5]), 0);
    // 1 - 6 * 2 / (4 * 15): two neighbours have changed places.
    assert_eq!(of([2, 4, 3, 1]), 800);
    // By hand: ranks 1, 3.5, 3.5, 2 against 1, 4, 3, 2 are 4.5 / sqrt(4.5 * 5).
    assert_eq!(of([1, 3, 3, 2]), 949);
    assert_eq!(hundredths(949), "0.95");
    assert_eq!(regret(&plans.iter().zip([2, 4, 3, 1]).collect::<Vec<_>>()), 10_000);
}
