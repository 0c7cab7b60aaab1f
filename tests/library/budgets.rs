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
use tables::{Known, PAGE, Table, Verdict, all, verdict};

use crate::page::path;
use crate::pages;
use problems::{BUDGETS, MODELS, Way};

#[test]
fn tables_follow_from_the_plans_that_are_kept() {
    let all: Vec<Table> = all();
    for table in &all {
        assert_eq!(pages::computed(PAGE, table, true), table.rows.len());
    }
    let text = fs::read_to_string(path(PAGE)).expect("a page");
    let marked = text.lines().filter(|line| line.starts_with("<!-- table: ")).count();
    assert_eq!(marked, all.len());
}

/// A plan of one way is one of every way that includes it, and more memory rules nothing out.
#[test]
fn more_choices_and_more_memory_are_never_slower() {
    for model in MODELS {
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
        (None, None, Verdict::AloneFits),
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
