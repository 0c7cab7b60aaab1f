//! `docs/findings.md` says what the library computes: its tables are computed again, row by row, but for
//! those that take long, of which only the problems are compared; and what the text says beyond the
//! tables is tried.
#![cfg(feature = "lcg")]

#[path = "../../examples/findings/tables/mod.rs"]
mod tables;

use std::collections::BTreeMap;
use std::fs;

use bubbleproof::block::Passes;
use bubbleproof::catalog;
use bubbleproof::model::Model;
use num_rational::Ratio;

use tables::published::{Family, settled};
use tables::uniform::{self, Offsets};
use tables::{PAGE, Table, all_times, least_memory, linear, v};

use crate::page::{around, path};
use crate::pages;

fn text() -> String {
    fs::read_to_string(path(PAGE)).expect("the document")
}

fn table(name: &str) -> Table {
    tables::all().into_iter().find(|table| table.name == name).expect("a table of this name")
}

/// Compares a table with the one in the document; says how many rows were computed.
fn computed(name: &str) -> usize {
    pages::computed(PAGE, &table(name), false)
}

/// One test for each table, so that they are computed side by side.
macro_rules! tables_agree {
    ($($test:ident: $name:literal,)*) => {
        const TESTED: &[&str] = &[$($name),*];
        $(
            #[test]
            fn $test() {
                assert!(computed($name) > 0, "not one row");
            }
        )*
    };
}

tables_agree! {
    published_families_at_their_memory: "published",
    published_families_on_measured_durations: "profiles",
    memory_of_families_without_bubbles: "memory",
    uniform_against_free_offsets: "uniform",
    whole_ticks_against_fractions: "rounding",
    least_memory_of_three_placements: "placement memory",
    least_intervals_of_three_placements: "placement interval",
    some_stages_longer: "unequal",
    stages_that_all_differ: "drawn",
    several_microbatches_per_interval: "periods",
    two_and_three_microbatches_per_interval: "exact periods",
    whole_schedules: "whole",
    messages_that_keep_links_busy: "messages",
    orders_under_measured_jitter: "jitter",
    activations_that_go_to_the_host: "offloading",
    two_pipelines_in_opposite_directions: "two ways",
    pairs_with_little_memory: "pairs",
}

#[test]
fn every_table_is_in_the_document_and_tested() {
    let names: Vec<&str> = tables::all().iter().map(|table| table.name).collect();
    assert_eq!(names, TESTED);
    let text = text();
    let marked: Vec<&str> =
        text.lines().filter_map(|line| line.strip_prefix("<!-- table: ")?.strip_suffix(" -->")).collect();
    assert_eq!(marked, TESTED);
    assert_eq!(text.lines().filter(|line| line.contains("---:")).count(), TESTED.len());
}

fn settles_at(name: &str, model: &Model) -> Option<Ratio<i64>> {
    settled(&catalog::block(name, model.placement()).expect("a block"), model)
}

#[test]
fn replay_agrees_with_the_formulas_for_the_intervals_of_the_families() {
    let all = all_times().map(|times| (4, times));
    let some = (5..=8).flat_map(|devices| all_times().step_by(7).map(move |times| (devices, times)));
    for (devices, times) in all.chain(some) {
        let (v, linear) = (v(devices, times), linear(devices, times));
        for family in Family::ALL {
            let formula = Ratio::from_integer(family.interval(times));
            assert_eq!(settles_at(family.name(), &v), Some(formula), "{} {devices} {times:?}", family.name());
        }
        for (name, model) in [("v-zb", &v), ("1f1b", &linear), ("zb-h1", &linear)] {
            let work = Ratio::from_integer(model.most_work().0);
            assert_eq!(settles_at(name, model), Some(work), "{name} {devices} {times:?}");
        }
    }
}

#[test]
fn on_one_device_all_offsets_are_uniform_and_need_the_memory_that_the_exact_program_proves() {
    for times in all_times().filter(|times| times.iter().sum::<i64>() <= 5) {
        let work = 2 * times.iter().sum::<i64>();
        for interval in work..work + 3 {
            let uniform = uniform::least_memory(1, times, interval, Offsets::Uniform);
            let free = least_memory(&v(1, times), Passes::SPLIT, interval);
            assert_eq!(uniform, Some(free), "{times:?} {interval}");
        }
    }
}

#[test]
fn v_half_is_free_of_bubbles_where_the_condition_of_the_paper_holds() {
    for times in all_times() {
        let [forward, input, weight] = times;
        let condition = weight + 2 * input >= 2 * forward && weight + 2 * forward >= 2 * input;
        assert_eq!(Family::VHalf.is_bubble_free(times), condition, "{times:?}");
    }
}

#[test]
fn v_min_is_optimal_with_a_bubble_where_the_text_says() {
    type Condition = fn(i64, i64, i64) -> bool;
    let equal: Condition = |more, less, _| more == less;
    let four: Condition = |more, less, weight| more == less || 4 * less + 2 * weight >= 5 * more;
    let seven: Condition = |more, less, weight| 4 * less + weight >= 3 * more;
    for (devices, condition) in
        [(4, four), (5, |_, _, _| false), (6, equal), (7, seven), (8, equal), (10, seven)]
    {
        for times in all_times() {
            let [forward, input, weight] = times;
            let optimal = Family::VMin.ratio(devices, times) == Ratio::from_integer(1);
            let expected = Family::VMin.is_bubble_free(times)
                || condition(forward.max(input), forward.min(input), weight);
            assert_eq!(optimal, expected, "{devices} {times:?}");
        }
    }
    // Two of the longer durations at which the conditions are wrong.
    assert_eq!(Family::VMin.ratio(4, [9, 8, 6]), Ratio::from_integer(1));
    assert_ne!(Family::VMin.ratio(7, [9, 5, 7]), Ratio::from_integer(1));
}

#[test]
fn the_text_counts_the_problems_of_several_microbatches_as_the_table_has_them() {
    let text = text();
    let (_, lines, _) = around(&text, "periods").expect("a place in the document");
    let rows: Vec<Vec<&str>> =
        lines[2..].iter().map(|line| line.split('|').map(str::trim).collect()).collect();
    let count = |several: bool, verdict: &str| {
        rows.iter().filter(|row| row[5].is_empty() != several && row[8] == verdict).count()
    };
    let [one, more] = [false, true].map(|several| count(several, "optimal"));
    let [open_one, open_more] = [false, true].map(|several| count(several, "open"));
    assert_eq!(one + more + open_one + open_more, rows.len());
    for sentence in [
        format!("In {} of {} problems several microbatches are better", more + open_more, rows.len()),
        format!("In {one} problems the best block of one microbatch meets the bound"),
        format!("in {more} the block of several does. {} problems are open", open_one + open_more),
        format!("The {} open rows of section 6", open_one + open_more),
    ] {
        assert!(text.contains(&sentence), "{sentence}");
    }
}

#[test]
fn the_text_compares_two_and_three_microbatches_as_the_table_has_them() {
    let text = text().replace("\n  ", " ");
    let cells = |name: &str| -> Vec<Vec<String>> {
        let (_, lines, _) = around(&text, name).expect("a place in the document");
        lines[2..].iter().map(|line| line.split('|').map(|cell| cell.trim().to_owned()).collect()).collect()
    };
    let ratio = |cell: &str| cell.parse::<Ratio<i64>>().expect("a proved interval");
    let (all, exact) = (cells("periods"), cells("exact periods"));
    let of = |exact: &Vec<String>| {
        // The same problem, and the same block of one microbatch.
        all.iter().find(|row| row[1..5] == exact[1..5]).unwrap_or_else(|| panic!("{exact:?}"))
    };
    let open = all.iter().filter(|row| row[8] == "open").count();
    assert_eq!(exact.iter().filter(|exact| of(exact)[8] == "open").count(), open, "all of them are here");
    let (mut three, mut two, mut one) = (0, 0, 0);
    for exact in &exact {
        let row = of(exact);
        let [of_one, of_two, of_three, least] = [4, 5, 6, 7].map(|column| ratio(&exact[column]));
        assert_eq!(least, of_one.min(of_two).min(of_three));
        let several = if row[5].is_empty() { of_one } else { ratio(&row[5]) };
        let is_of_more = row[6].parse::<u32>().is_ok_and(|period| period > 3);
        assert!(if is_of_more { several < least } else { several == least }, "{exact:?}");
        three += usize::from(of_three < of_two);
        two += usize::from(of_two < of_three);
        one += usize::from(of_one == least);
    }
    let sentence = format!(
        "In {three} of these {} problems a block of three takes less time per microbatch than any of two, in {two} one of \
         two takes less than any of three, and in {one} neither takes less than a block of one. In the other {} both take \
         the same.",
        exact.len(),
        exact.len() - three - two - one,
    );
    assert!(text.contains(&sentence), "{sentence}");
}

#[test]
fn the_text_counts_the_cases_of_jitter_as_the_table_has_them() {
    let text = text().replace("\n  ", " ");
    let (_, lines, _) = around(&text, "jitter").expect("a place in the document");
    let rows: Vec<Vec<&str>> =
        lines[2..].iter().map(|line| line.split('|').map(str::trim).collect()).collect();
    let micros = |row: &[&str], column: usize| row[column].parse::<i64>().expect("microseconds");
    let hundredths = |row: &[&str], column: usize| {
        row[column].replace([' ', '%', '.'], "").parse::<i64>().expect("a percentage")
    };
    let percent = |hundredths: i64| format!("{}.{:02} %", hundredths / 100, hundredths % 100);
    let all = rows.len();
    let most = |column, sign| rows.iter().map(|row| sign * hundredths(row, column)).max().expect("a row");
    let gains = rows.iter().filter(|row| hundredths(row, 10) > 0).count();
    let regular = rows.iter().filter(|row| micros(row, 6) < micros(row, 7).min(micros(row, 8))).count();
    let longer = rows.iter().filter(|row| micros(row, 5) > micros(row, 7)).count();
    for sentence in [
        format!("the order for the mean gains up to {}**", percent(most(9, 1))),
        format!(
            "On the held-out runs it gains in {gains} of {all} cases**, at most {}",
            percent(most(10, 1))
        ),
        format!("and loses in {}, at most {}", all - gains, percent(most(10, -1))),
        format!("shorter than both on the held-out runs in {regular} of {all} cases"),
        format!("take longer than the order for the medians in {longer} of {all} cases"),
    ] {
        assert!(text.contains(&sentence), "{sentence}");
    }
}

#[test]
fn the_text_says_of_pairs_what_the_table_has() {
    let text = text().replace("\n  ", " ");
    let (_, lines, _) = around(&text, "pairs").expect("a place in the document");
    let tenths = |cell: &str| cell.trim().replace('.', "").parse::<i64>().expect("milliseconds");
    // By room: without pairs, with pairs.
    let rows: BTreeMap<i64, [i64; 2]> = lines[2..]
        .iter()
        .map(|line| line.split('|').collect::<Vec<&str>>())
        .map(|row| (row[1].trim().parse().expect("chunks"), [tenths(row[3]), tenths(row[4])]))
        .collect();
    let percent = |share: Ratio<i64>| {
        let tenths = (share * 1000).round().to_integer();
        format!("{}.{} %", tenths / 10, tenths % 10)
    };
    let ([_, most], [without, less]) = (rows[&18], rows[&16]);
    for sentence in [
        format!("with room for 16 chunks the result takes {} longer", percent(Ratio::new(less - most, most))),
        format!("and {} less than without pairs", percent(Ratio::new(without - less, without))),
    ] {
        assert!(text.contains(&sentence), "{sentence}");
    }
    assert!(rows.values().all(|[without, with]| with <= without));
    let nothing = rows.iter().filter(|(_, [without, with])| with == without).map(|(&room, _)| room);
    assert_eq!(nothing.max(), Some(10), "as the text says");
}

#[test]
fn the_text_counts_the_problems_of_two_directions_as_the_table_has_them() {
    let text = text().replace("\n  ", " ");
    let (_, lines, _) = around(&text, "two ways").expect("a place in the document");
    let rows: Vec<Vec<&str>> =
        lines[2..].iter().map(|line| line.split('|').map(str::trim).collect()).collect();
    let number = |row: &[&str], column: usize| row[column].parse::<i64>().expect("ticks");
    let of = |name: &'static str, with_pairs: bool| {
        rows.iter().filter(move |row| row[1] == name && (row[5] != "-") == with_pairs)
    };
    let is_shorter = |row: &&Vec<&str>| number(row, 8) < number(row, 7);
    let thousandths = |row: &Vec<&str>| row[10].replace('.', "").parse::<i64>().expect("a ratio") - 1000;
    let percent = |thousandths: i64| format!("{}.{} %", thousandths / 10, thousandths % 10);
    let (alone, paired) = (of("dualpipe", false), of("dualpipe", true));
    let all = alone.clone().count();
    assert_eq!(alone.clone().filter(is_shorter).count(), all);
    let most = alone.clone().map(thousandths).max().expect("a row");
    let chimera = of("chimera", false).map(thousandths);
    let (least, longest) = (chimera.clone().min().expect("a row"), chimera.max().expect("a row"));
    for sentence in [
        format!("in all {all} problems it takes longer than what we found, by up to {}", percent(most)),
        format!("In {} of them the bound proves that optimal", alone.filter(|row| row[8] == row[9]).count()),
        format!(
            "in {} of {} problems there is something shorter",
            paired.clone().filter(is_shorter).count(),
            paired.clone().count()
        ),
        format!("**Chimera** takes {} to {} longer", percent(least), percent(longest)),
    ] {
        assert!(text.contains(&sentence), "{sentence}");
    }
    // Those two are of eight devices and equal durations.
    assert!(text.contains("we found nothing shorter, and the bound is 4 ticks below"));
    for row in paired.filter(|row| !is_shorter(row)) {
        assert_eq!((row[2], row[4], number(row, 8) - number(row, 9)), ("8", "2,2,2", 4));
    }
}
