//! What the text of `docs/budgets.md` says of its tables.

use num_rational::Ratio;

use super::problems::{BUDGETS, MODELS, Way};
use super::tables::{Known, Verdict, answers, verdict};
use crate::numbers::decimal;

/// What the tables say in words, and a page with this text does not.
pub fn missing(page: &str) -> Vec<String> {
    let flowed = page.replace("\n  ", " ");
    sentences().into_iter().filter(|sentence| !flowed.contains(sentence)).collect()
}

/// All numbers of the text, with the words around them.
fn sentences() -> Vec<String> {
    let (ample, _, cases) = verdicts(Way::V, Way::Recompute, &[64, 80]);
    let (_, scarce, few) = verdicts(Way::V, Way::Recompute, &[24]);
    let (faster, slower, all) = verdicts(Way::V, Way::Tensor, &BUDGETS);
    let (late, ..) = verdicts(Way::V, Way::Tensor, &[64, 80]);
    assert_eq!(late, faster, "all with 64 GiB or more");
    let (together, _, both) = verdicts(Way::VTensor, Way::Tensor, &BUDGETS);
    let gained: Vec<bool> = cases_of(&MODELS, &BUDGETS)
        .filter_map(|known| Some(known(Way::Offload).best?.0 < known(Way::Linear).best?.0))
        .collect();
    let losses: Vec<Ratio<i128>> = cases_of(&["cm-9.6b", "cm-21b", "cm-38.5b"], &[64, 80])
        .map(|known| -gain(known(Way::V), known(Way::Tensor)).expect("two plans"))
        .collect();
    let most =
        cases_of(&MODELS, &BUDGETS).filter_map(|known| gain(known(Way::VTensor), known(Way::Tensor))).max();
    let wide = &answers("llama-3-70b")[&(48, Way::V)];
    let found = wide.best.expect("a plan").0.0 / wide.none_below.expect("it fits").0;
    assert_eq!(found, 5, "nearly six times its bound");
    let ranks = |way| answers("cm-9.6b")[&(48, way)].best.expect("a plan").1.tensor;
    vec![
        format!(
            "it is proved faster in {ample} of {cases} cases, within 24 GiB recomputation is proved faster in {scarce} of {few}."
        ),
        format!(
            "plain linear placement was found in {} of {} cases.",
            gained.iter().filter(|&&gained| gained).count(),
            gained.len()
        ),
        format!(
            "V placement alone in {slower} of {all} cases, and proved slower in {faster}, all with 64 GiB"
        ),
        format!(
            "tensor ranks were {} to {} % slower than assumed.",
            decimal(*losses.iter().min().expect("six"), 1),
            decimal(*losses.iter().max().expect("six"), 1)
        ),
        format!(
            "linear placement with it in {together} of {both} cases, by up to {} %.",
            decimal(most.expect("a pair"), 1)
        ),
        format!("within 48 GiB takes {} instead of {}.", ranks(Way::VTensor), ranks(Way::Tensor)),
    ]
}

/// What is known of each way, for each of these models and budgets.
fn cases_of(
    models: &'static [&'static str],
    budgets: &[i64],
) -> impl Iterator<Item = impl Fn(Way) -> &'static Known> {
    models
        .iter()
        .flat_map(move |model| budgets.iter().map(move |&budget| move |way| &answers(model)[&(budget, way)]))
}

/// How often a way is proved faster than another within these budgets, how often slower, and how often they were compared.
fn verdicts(way: Way, other: Way, budgets: &[i64]) -> (usize, usize, usize) {
    let all: Vec<Verdict> =
        cases_of(&MODELS, budgets).filter_map(|known| verdict(known(way), known(other))).collect();
    let of = |asked| all.iter().filter(|&&one| one == asked).count();
    (of(Verdict::ProvedFaster), of(Verdict::ProvedSlower), all.len())
}

/// By how many percent more steps a time a way makes than another, as far as found.
fn gain(way: &Known, other: &Known) -> Option<Ratio<i128>> {
    let ((time, _), (others, _)) = (way.best?, other.best?);
    Some((Ratio::new(i128::from(others.0), i128::from(time.0)) - 1) * 100)
}
