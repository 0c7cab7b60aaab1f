//! Lower bounds: the best of those that are closed forms, those of some devices, and whether claims hold.

use std::collections::BTreeMap;
use std::fmt;

use bubbleproof::certificate::{
    Bound, BoundError, BoundReason, Objective, closed_bounds, critical_path, holds, lower_bound_of,
};
use bubbleproof::model::{Device, Ticks};
use fastrand::Rng;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::problem::Problem;

const OBJECTIVES: [Objective; 2] = [Objective::Makespan, Objective::DeviceSpan];

/// As many as the sets of states may take: some problems of a few microbatches have millions of states.
const FEW_STEPS: u64 = 8_000;

/// More than one microbatch takes: what gives nothing with so many steps has no schedule.
const STEPS: u64 = 20_000_000;

/// A problem, its best bound without states, and that of some devices, with the repetition that it rests on.
pub fn bounds(choices: &mut Rng) -> Value {
    let least = choices.i64(0..=1);
    let mut problem = Problem::random(choices, least, 7);
    problem.limit(choices, 8);
    let model = problem.model();
    let devices: Vec<Device> = {
        let all = crate::problem::devices(&model);
        let kept: Vec<Device> = all.filter(|_| choices.bool()).take(2).collect();
        if kept.is_empty() { vec![Device(0)] } else { kept }
    };
    let is_small = |&objective: &Objective| lower_bound_of(&model, objective, &devices, FEW_STEPS).is_some();
    if !OBJECTIVES.iter().all(is_small) {
        problem.microbatches = 1;
    }
    let model = problem.model();
    let of_devices = OBJECTIVES.map(|objective| lower_bound_of(&model, objective, &devices, STEPS));
    let repetitions = of_devices.each_ref().map(|bound| match bound.as_ref().map(|bound| &bound.reason) {
        Some(BoundReason::Subset { repetition, .. }) => *repetition,
        _ => None,
    });
    json!({
        "problem": problem, "devices": devices, "repetitions": repetitions,
        "rust": {
            // What of them Rocq has theorems about.
            "closed": OBJECTIVES.map(|objective| {
                let closed = closed_bounds(&model, objective).into_iter();
                closed.filter(|bound| bound.reason.is_machine_checked()).map(|bound| bound.value.0).max()
            }),
            "alone": critical_path(&model).0,
            "of_devices": of_devices.map(|bound| bound.map(|bound| bound.value.0)),
        },
    })
}

/// A claim of the program in OCaml: the value that follows from a reason, or that nothing does.
#[derive(Deserialize)]
pub struct Claim {
    problem: Problem,
    span: bool,
    reason: BoundReason,
    value: Option<i64>,
}

/// How many claims were held against [`holds`], by reason, objective, and whether there is a value.
#[derive(Default)]
pub struct Tally {
    agree: BTreeMap<(&'static str, bool, bool), usize>,
    disagree: Vec<String>,
}

impl Tally {
    pub fn judge(&mut self, claim: &Claim, line: &str) {
        let model = claim.problem.model();
        let objective = OBJECTIVES[usize::from(claim.span)];
        let found = |value: i64| {
            let reason = claim.reason.clone();
            holds(&model, objective, &Bound { value: Ticks(value), reason })
        };
        let is_same = match claim.value {
            Some(value) => {
                let is_refused = |other: i64| match found(other) {
                    Err(BoundError::Value { claimed, shown }) => (claimed.0, shown.0) == (other, value),
                    _ => false,
                };
                found(value).is_ok() && is_refused(value - 1) && is_refused(value + 1)
            }
            // Whatever the value.
            None => matches!(found(0), Err(error) if !matches!(error, BoundError::Value { .. })),
        };
        let name = match &claim.reason {
            BoundReason::Subset { repetition: Some(_), .. } => "Some devices alone, repeating",
            reason => reason.section(),
        };
        if is_same {
            *self.agree.entry((name, claim.span, claim.value.is_some())).or_default() += 1;
        } else {
            self.disagree.push(format!("here {:?}: {line}", found(claim.value.unwrap_or_default())));
        }
    }

    /// Whether all agree, and there was a claim of each sort.
    pub fn is_good(&self) -> bool {
        self.disagree.is_empty() && self.missing().is_empty()
    }

    fn missing(&self) -> Vec<String> {
        let names = [
            "Alone",
            "Work",
            "Windows",
            "Chain",
            "Area",
            "Turnover",
            "Some devices alone",
            "Some devices alone, repeating",
        ];
        let sorts = names.into_iter().flat_map(|name| {
            [false, true].map(|span| [false, true].map(|has_value| (name, span, has_value)))
        });
        // Everything has a value of Alone.
        let sorts = sorts.flatten().filter(|&(name, _, has_value)| has_value || name != "Alone");
        sorts.filter(|sort| !self.agree.contains_key(sort)).map(|sort| format!("{sort:?}")).collect()
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for one in &self.disagree {
            writeln!(out, "disagree: {one}")?;
        }
        for sort in self.missing() {
            writeln!(out, "no claim of this sort: {sort}")?;
        }
        let sum = |with: &dyn Fn(&(&str, bool, bool)) -> bool| -> usize {
            self.agree.iter().filter(|(sort, _)| with(sort)).map(|(_, count)| count).sum()
        };
        let names: std::collections::BTreeSet<&str> = self.agree.keys().map(|sort| sort.0).collect();
        for name in names {
            let (of, accepted) = (sum(&|sort| sort.0 == name), sum(&|sort| sort.0 == name && sort.2));
            writeln!(
                out,
                "{name}: {of} claims agree ({accepted} have a value, {} have none)",
                of - accepted
            )?;
        }
        writeln!(out, "claims: {} agree, {} disagree", sum(&|_| true), self.disagree.len())
    }
}
