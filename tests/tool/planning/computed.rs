//! Whether a table of times was measured: a computed one has regularities that no measurement has.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::plans::{Plan, plans};
use super::table;

/// How many times of plans that differ in one number alone there are beyond the first two, and how many of them lie on the line
/// through these two, to the nanosecond.
fn on_a_line(plans: &[Plan], number: fn(&Plan) -> i64, others: fn(&Plan) -> [i64; 7]) -> (usize, usize) {
    let mut groups: BTreeMap<[i64; 7], BTreeMap<i64, i64>> = BTreeMap::new();
    for plan in plans {
        groups.entry(others(plan)).or_default().insert(number(plan), plan.nanoseconds);
    }
    let (mut all, mut exact) = (0, 0);
    for group in groups.values() {
        let points: Vec<(i64, i64)> = group.iter().map(|(&number, &ns)| (number, ns)).collect();
        for &(number, ns) in points.iter().skip(2) {
            let (first, second) = (points[0], points[1]);
            all += 1;
            let is_exact = (second.1 - first.1) * (number - first.0) == (ns - first.1) * (second.0 - first.0);
            exact += usize::from(is_exact);
        }
    }
    (all, exact)
}

#[test]
fn times_of_one_node_lie_on_lines_to_the_nanosecond_as_the_page_says() {
    let mut report = String::new();
    let all = plans("vtrain_single.csv");
    for (replicas, is_one) in [("one", true), ("several", false)] {
        let some: Vec<Plan> = all.iter().filter(|plan| (plan.data == 1) == is_one).cloned().collect();
        let by_layers = on_a_line(
            &some,
            |plan| plan.layers,
            |plan| {
                let Plan { hidden, microbatch, tensor, data, pipeline, gpus, .. } = *plan;
                [hidden, microbatch, tensor, data, pipeline, gpus, plan.microbatches()]
            },
        );
        let by_microbatches = on_a_line(&some, Plan::microbatches, |plan| {
            let Plan { hidden, microbatch, tensor, data, pipeline, gpus, layers, .. } = *plan;
            [hidden, microbatch, tensor, data, pipeline, gpus, layers]
        });
        let of = |(all, exact): (usize, usize)| format!("{exact} of {all}");
        writeln!(report, "| {replicas} | {} | {} | {} |", some.len(), of(by_layers), of(by_microbatches))
            .expect("a string");
    }
    insta::assert_snapshot!("on_a_line", report);
    assert_eq!(report, table("on a line"), "docs/planning.md has other figures");
}
