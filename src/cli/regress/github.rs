//! The report of `regress` as annotations of a GitHub workflow.

use std::fmt;

use super::CheckedSuite;
use super::human::{sentence, undecided};
use crate::cli::file_name::FileName;
use crate::regress::{Change, Severity};

pub(super) struct Annotations<'a>(pub &'a CheckedSuite<'a>);

impl fmt::Display for Annotations<'_> {
    /// A command for every change: an error for what fails, a notice for the rest. What they are about is the
    /// line of the manifest that names the design.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let checked = self.0;
        let manifest = FileName::of(checked.suite.manifest_path()).raw().to_owned();
        for result in &checked.report.results {
            let line = checked.line(result.span.start);
            for change in result.changes.iter().filter(|change| change.severity != Severity::Undecided) {
                let fails = match checked.accepted {
                    Some(_) => {
                        change.severity == Severity::Worse
                            && (change.topic == "promise" || !result.is_as_expected())
                    }
                    None => change.severity == Severity::Worse || checked.strict,
                };
                writeln!(
                    out,
                    "::{} file={},line={line},title={}::{}",
                    if fails { "error" } else { "notice" },
                    property(&manifest),
                    property(&format!("{}: {} {}", result.design, change.topic, change.severity.word())),
                    data(&text(change))
                )?;
            }
        }
        match undecided(checked.report) {
            Some(undecided) => {
                let command = if checked.strict { "error" } else { "warning" };
                writeln!(
                    out,
                    "::{command} file={},title=not decided::{}",
                    property(&manifest),
                    data(&undecided)
                )
            }
            None => Ok(()),
        }
    }
}

fn text(change: &Change) -> String {
    let mut text = sentence(change);
    for detail in &change.details {
        text.push('\n');
        text.push_str(detail);
    }
    text
}

/// The text of a command: it ends with its line.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// The value of a property of a command: it ends at a comma or at the two colons.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_ends_the_command_or_begins_another() {
        let text = "100 %: a,b\r\n::error::x";
        assert_eq!(data(text), "100 %25: a,b%0D%0A::error::x");
        assert_eq!(property(text), "100 %25%3A a%2Cb%0D%0A%3A%3Aerror%3A%3Ax");
    }
}
