//! `docs/records.md`: every record is accepted with its certificate, and the tables say what the certificates prove.

#[path = "../../examples/records/tables.rs"]
mod tables;

use std::collections::BTreeSet;
use std::fs;

use tables::{PAGE, Record, all, problems};

use crate::page::{Table, around, path};
use crate::pages;

fn table(name: &str) -> Table {
    all().into_iter().find(|table| table.name == name).expect("a table of this name")
}

/// To make a row, the certificate is checked against the problem.
#[test]
fn the_records_are_what_the_certificates_prove() {
    assert!(pages::computed(PAGE, &table("records"), true) > 0);
}

#[test]
fn the_summary_is_that_of_the_records() {
    assert!(pages::computed(PAGE, &table("summary"), true) > 0);
}

#[test]
fn every_record_is_of_a_problem_of_the_page() {
    let problems = problems().expect("problems");
    let known: BTreeSet<_> = problems.iter().map(Record::path).collect();
    let folder = Record::path(&problems[0]).parent().expect("a folder").to_owned();
    let files = fs::read_dir(folder).expect("records").map(|file| file.expect("a file").path());
    for file in files {
        assert!(known.contains(&file), "{} is of no problem", file.display());
    }
}

/// Every problem of the page has a schedule: one microbatch at a time fits.
#[test]
fn every_problem_has_a_record() {
    for problem in problems().expect("problems") {
        assert!(Record::path(&problem).exists(), "{} has no record", problem.name);
    }
}

#[test]
fn every_table_is_on_the_page() {
    let text = fs::read_to_string(path(PAGE)).expect("a page");
    assert!(all().iter().all(|table| around(&text, table.name).is_some()));
    assert_eq!(text.lines().filter(|line| line.contains("---:")).count(), all().len());
}
