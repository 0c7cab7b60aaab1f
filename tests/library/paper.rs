//! `docs/paper.md` repeats the experiments of Pipeline Parallelism with Controllable Memory (arXiv 2405.15362). Its tables are
//! computed again, but for rows that take long, of which only the problems are compared unless all tests are to take long; and what
//! the text says of the tables is read off them.

#[path = "../../examples/paper/tables/mod.rs"]
mod tables;

use std::fs;

use num_rational::Ratio;

use tables::{PAGE, Table, all, grid, percent};

use crate::page::{around, path};
use crate::{all_take_long, pages};

fn table(name: &str) -> Table {
    all().into_iter().find(|table| table.name == name).expect("a table of this name")
}

/// One test for each table, so that they are computed side by side.
macro_rules! tables_agree {
    ($($test:ident: $name:literal,)*) => {
        const TESTED: &[&str] = &[$($name),*];
        $(
            #[test]
            fn $test() {
                pages::computed(PAGE, &table($name), all_take_long());
            }
        )*
    };
}

tables_agree! {
    memory_and_bubble_of_pure_pipelines: "memory and bubble",
    ranges_of_table_4: "ranges",
    utilisation_with_512_microbatches: "measured",
    throughput_against_1f1b: "gains",
    the_best_plan_of_each_schedule: "grid",
    the_order_of_the_schedules: "order",
    utilisation_by_degrees: "degrees",
    bubbles_within_a_memory_limit: "adaptive",
}

#[test]
fn every_table_is_on_the_page_and_tested() {
    let names: Vec<&str> = all().iter().map(|table| table.name).collect();
    assert_eq!(names, TESTED);
    let text = fs::read_to_string(path(PAGE)).expect("a page");
    let marked: Vec<&str> =
        text.lines().filter_map(|line| line.strip_prefix("<!-- table: ")?.strip_suffix(" -->")).collect();
    assert_eq!(marked, TESTED);
    assert_eq!(text.lines().filter(|line| line.contains("---:")).count(), TESTED.len() - 1);
    assert!(around(&text, "ranges").is_some());
}

/// The share of the peak is inferred from one plan, and so is that one utilisation.
#[test]
fn the_share_of_the_peak_makes_1f1b_attain_what_is_published() {
    assert_eq!(percent(grid::attained(*grid::SHARE), 1), "49.8");
    let text = fs::read_to_string(path(PAGE)).expect("a page");
    assert!(
        text.contains(&format!("The share, {} %, makes 1F1B", percent(Ratio::new(*grid::SHARE, 10_000), 2)))
    );
}

/// The cells of the rows of a table on the page.
fn cells(text: &str, name: &str) -> Vec<Vec<String>> {
    let (_, lines, _) = around(text, name).expect("a table");
    let row = |line: &&str| line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect();
    lines[2..].iter().map(row).collect()
}

#[test]
fn the_text_says_of_the_tables_what_they_have() {
    let text = fs::read_to_string(path(PAGE)).expect("a page");
    let tenths = |cell: &String| cell.replace('.', "").parse::<i64>().expect("one decimal");
    let gains = |name: &str| {
        let rows = cells(&text, "gains").into_iter().filter(|row| row[1] == name);
        let mut all: Vec<i64> =
            rows.flat_map(|row| row[2..].iter().map(tenths).collect::<Vec<_>>()).collect();
        all.sort_unstable();
        let shown = |tenths: i64| format!("{}.{}", tenths / 10, tenths % 10);
        format!("{} to {} %", shown(all[0]), shown(all[all.len() - 1]))
    };
    let right: Vec<String> = cells(&text, "order").into_iter().map(|row| row[3].clone()).collect();
    let adaptive = cells(&text, "adaptive");
    let tight = adaptive.iter().find(|row| row[..3] == ["3,4,2", "8", "8"]).expect("a row");
    let flowed = text.replace("\n  ", " ");
    for sentence in [
        format!("V-ZB gains {}, V-Half {}.", gains("V-ZB"), gains("V-Half")),
        format!("in {} pairs with 1024 tokens and in {} with 3072", right[0], right[1]),
        format!("is {} %. The search found one with {} %", tight[6], tight[7]),
    ] {
        assert!(flowed.contains(&sentence), "{sentence}");
    }
}
