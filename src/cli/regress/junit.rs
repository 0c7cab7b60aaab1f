//! The report of `regress` as `JUnit` XML.

use std::fmt::Write as _;

use quick_junit::{NonSuccessKind, Report, SerializeError, TestCase, TestCaseStatus, TestSuite};

use super::human::undecided;
use super::{CheckedSuite, remark};
use crate::cli::file_name::FileName;
use crate::regress::{CheckedDesign, Severity};

/// A suite with a case for every design.
pub(super) fn report(checked: &CheckedSuite<'_>) -> Result<String, SerializeError> {
    let mut suite = TestSuite::new(FileName::of(checked.directory).to_string());
    for design in &checked.report.results {
        let fails = checked.is_failed(design);
        let mut case = TestCase::new(design.design.as_str(), status(checked, design, fails));
        case.set_classname(format!("bubbleproof.regress.{}", design.kind.unwrap_or("vanished")));
        if !fails && !design.changes.is_empty() {
            case.set_system_out(texts(checked, design));
        }
        suite.add_test_case(case);
    }
    if let Some(undecided) = undecided(checked.report) {
        suite.set_system_err(undecided);
        remark(checked);
    }
    let mut report = Report::new("bubbleproof regress");
    report.add_test_suite(suite);
    report.to_string()
}

fn status(checked: &CheckedSuite<'_>, design: &CheckedDesign, fails: bool) -> TestCaseStatus {
    if !fails {
        return TestCaseStatus::success();
    }
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    let first = design.changes.first().map(|change| checked.sentence(design, change));
    let first = first.unwrap_or_else(|| "not everything is decided".to_owned());
    status.set_message(first).set_type(design.outcome.word()).set_description(texts(checked, design));
    status
}

fn texts(checked: &CheckedSuite<'_>, design: &CheckedDesign) -> String {
    let mut text = String::new();
    for change in design.changes.iter().filter(|change| change.severity != Severity::Undecided) {
        let sentence = checked.sentence(design, change);
        writeln!(text, "{} {}: {sentence}", change.severity.word(), change.topic).expect("texts grow");
        for detail in &change.details {
            writeln!(text, "    {detail}").expect("texts grow");
        }
    }
    text
}
