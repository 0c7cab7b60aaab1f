//! `docs/budgets.md` says which way to save memory is fastest within a budget. Its tables follow from the plans that are kept in
//! `models/budgets`: every schedule is replayed, every bound is derived anew, and nothing is searched for.

#[path = "../../examples/budgets/kept.rs"]
#[expect(dead_code, reason = "nothing is searched for")]
mod kept;
#[path = "../../examples/budgets/problems.rs"]
mod problems;
#[path = "../../examples/budgets/tables.rs"]
mod tables;
#[path = "../../examples/budgets/text.rs"]
mod text;

use std::fs;

use bubbleproof::model::Ticks;
use tables::{Known, PAGE, QUICK, Table, Verdict, all, verdict};

use crate::long;
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
    if long() {
        let text = fs::read_to_string(path(PAGE)).expect("a page");
        assert_eq!(text::missing(&text), Vec::<String>::new());
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
