//! `docs/budgets.md` says which way to save memory is fastest within a budget. Its tables follow from the plans that are kept in
//! `models/budgets`: every schedule is replayed, every bound is derived anew, and nothing is searched for.

#[path = "../../examples/budgets/kept.rs"]
#[expect(dead_code, reason = "nothing is searched for")]
mod kept;
#[path = "../../examples/budgets/problems.rs"]
mod problems;
#[path = "../../examples/budgets/tables.rs"]
mod tables;

use std::fs;

use bubbleproof::model::Ticks;
use num_rational::Ratio;
use tables::{Known, PAGE, QUICK, Table, Verdict, all, verdict};

use crate::long;
use crate::numbers::decimal;
use crate::page::path;
use crate::pages;
use problems::{BUDGETS, MODELS, Way};

/// The models whose plans are checked: all of them where tests are to take long.
fn models() -> Vec<&'static str> {
    MODELS.into_iter().filter(|model| long() || QUICK.contains(model)).collect()
}

/// Whatever is kept is checked when it is read. One test for each model, so that they are checked side by side.
macro_rules! plans_are_what_they_claim {
    ($($test:ident: $model:literal,)*) => {
        $(
            #[test]
            fn $test() {
                if models().contains(&$model) {
                    assert_eq!(tables::answers($model).len(), BUDGETS.len() * Way::ALL.len());
                }
            }
        )*
        const TESTED: &[&str] = &[$($model),*];
    };
}

plans_are_what_they_claim! {
    plans_of_cm_9_6b: "cm-9.6b",
    plans_of_cm_21b: "cm-21b",
    plans_of_cm_38_5b: "cm-38.5b",
    plans_of_cm_98_5b: "cm-98.5b",
    plans_of_llama_3_8b: "llama-3-8b",
    plans_of_llama_3_70b: "llama-3-70b",
    plans_of_deepseek_moe_16b: "deepseek-moe-16b",
}

#[test]
fn the_page_has_the_tables_and_no_others() {
    assert_eq!(TESTED, MODELS);
    assert!(QUICK.iter().all(|model| MODELS.contains(model)));
    let all: Vec<Table> = all();
    for table in &all {
        let asked = match table.name {
            _ if long() => table.rows.len(),
            "verdicts" => 0,
            _ => QUICK.len() * BUDGETS.len(),
        };
        assert_eq!(pages::computed(PAGE, table, long()), asked, "{}", table.name);
    }
    let text = fs::read_to_string(path(PAGE)).expect("a page");
    let marked = text.lines().filter(|line| line.starts_with("<!-- table: ")).count();
    assert_eq!(marked, all.len());
}

/// It is about all models, so only where tests are to take long.
#[test]
fn the_text_says_of_the_tables_what_they_have() {
    if !long() {
        return;
    }
    let counts = |v: Way, other: Way, budgets: &[i64]| {
        let of_model = |model| {
            let known = tables::answers(model);
            budgets.iter().filter_map(move |&budget| verdict(&known[&(budget, v)], &known[&(budget, other)]))
        };
        let verdicts: Vec<Verdict> = MODELS.into_iter().flat_map(of_model).collect();
        let of = |asked| verdicts.iter().filter(|&&one| one == asked).count();
        (of(Verdict::ProvedFaster), of(Verdict::ProvedSlower), verdicts.len())
    };
    let (ample, _, cases) = counts(Way::V, Way::Recompute, &[64, 80]);
    let (_, scarce, few) = counts(Way::V, Way::Recompute, &[24]);
    let (faster, slower, all) = counts(Way::V, Way::Tensor, &BUDGETS);
    let (late, ..) = counts(Way::V, Way::Tensor, &[64, 80]);
    let (together, _, both) = counts(Way::VTensor, Way::Tensor, &BUDGETS);
    assert_eq!(late, faster, "all with 64 GiB or more");
    let gained = MODELS.into_iter().flat_map(|model| {
        let known = tables::answers(model);
        BUDGETS.into_iter().filter_map(move |budget| {
            let [linear, offload] = [Way::Linear, Way::Offload].map(|way| known[&(budget, way)].best);
            Some(offload?.0 < linear?.0)
        })
    });
    let gained: Vec<bool> = gained.collect();
    let offloads = gained.iter().filter(|&&gained| gained).count();
    let gain = |model, budget, v: Way, other: Way| {
        let known = tables::answers(model);
        let time = |way| known[&(budget, way)].best.expect("a plan").0.0;
        Ratio::new(i128::from(time(other)), i128::from(time(v))) - 1
    };
    let losses: Vec<Ratio<i128>> = ["cm-9.6b", "cm-21b", "cm-38.5b"]
        .into_iter()
        .flat_map(|model| [64, 80].map(|budget| -gain(model, budget, Way::V, Way::Tensor) * 100))
        .collect();
    let most = MODELS.into_iter().flat_map(|model| BUDGETS.map(|budget| (model, budget)));
    let most = most.filter(|&(model, budget)| {
        let known = tables::answers(model);
        [Way::VTensor, Way::Tensor].iter().all(|&way| known[&(budget, way)].best.is_some())
    });
    let most = most.map(|(model, budget)| gain(model, budget, Way::VTensor, Way::Tensor) * 100).max();
    let wide = &tables::answers("llama-3-70b")[&(48, Way::V)];
    let found = wide.best.expect("a plan").0.0 / wide.none_below.expect("it fits").0;
    assert_eq!(found, 5, "nearly six times its bound");
    let times = |way| tables::answers("cm-9.6b")[&(48, way)].best.map(|(_, choice)| choice.tensor);
    let text = fs::read_to_string(path(PAGE)).expect("a page").replace("\n  ", " ");
    for sentence in [
        format!(
            "tensor ranks were {} to {} % slower than assumed.",
            decimal(*losses.iter().min().expect("six"), 1),
            decimal(*losses.iter().max().expect("six"), 1)
        ),
        format!("cases, by up to {} %.", decimal(most.expect("a pair"), 1)),
        format!("plain linear placement was found in {offloads} of {} cases.", gained.len()),
        format!(
            "it is proved faster in {ample} of {cases} cases, within 24 GiB recomputation is proved faster in {scarce} of {few}."
        ),
        format!(
            "V placement alone in {slower} of {all} cases, and proved slower in {faster}, all with 64 GiB"
        ),
        format!("linear placement with it in {together} of {both} cases"),
        format!(
            "within 48 GiB takes {} instead of {}.",
            times(Way::VTensor).expect("a plan"),
            times(Way::Tensor).expect("a plan")
        ),
    ] {
        assert!(text.contains(&sentence), "{sentence}");
    }
}

/// A plan of one way is one of every way that includes it, and more memory rules nothing out.
#[test]
fn more_choices_and_more_memory_are_never_slower() {
    for model in models() {
        let known = tables::answers(model);
        for (at, budget) in BUDGETS.into_iter().enumerate() {
            for way in Way::ALL {
                let one = &known[&(budget, way)];
                let time = |known: &Known| known.best.map(|(time, _)| time);
                if let (Some(time), Some(below)) = (time(one), one.none_below) {
                    assert!(below <= time, "{model} {budget} {way:?}");
                }
                let more = BUDGETS[at..].iter().flat_map(|&budget| Way::ALL.map(|way| (budget, way)));
                for (budget, whole) in more.filter(|(_, whole)| whole.includes(way)) {
                    let other = &known[&(budget, whole)];
                    assert!(time(one).is_none() || time(other) <= time(one), "{model} {budget} {whole:?}");
                    assert!(
                        one.none_below.is_none() || other.none_below <= one.none_below,
                        "{model} {budget}"
                    );
                }
            }
        }
    }
}

#[test]
fn what_is_proved_is_told_from_what_was_found() {
    let choice = tables::answers(MODELS[0])
        .values()
        .find_map(|known| known.best.map(|(_, choice)| choice))
        .expect("a plan");
    let known = |best: Option<i64>, below: Option<i64>| Known {
        best: best.map(|time| (Ticks(time), choice)),
        none_below: below.map(Ticks),
    };
    let v = known(Some(10), Some(8));
    for (best, below, expected) in [
        (None, None, Verdict::ProvedFaster),
        (Some(12), Some(11), Verdict::ProvedFaster),
        (None, Some(11), Verdict::ProvedFaster),
        (Some(12), Some(10), Verdict::Faster),
        (None, Some(9), Verdict::Faster),
        (Some(10), Some(9), Verdict::Slower),
        (Some(8), Some(7), Verdict::Slower),
        (Some(7), Some(7), Verdict::ProvedSlower),
    ] {
        assert_eq!(verdict(&v, &known(best, below)), Some(expected), "{best:?} {below:?}");
    }
    assert_eq!(verdict(&known(None, Some(8)), &known(Some(9), Some(9))), None);
}
