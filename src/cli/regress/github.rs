//! The report of `regress` as annotations of a GitHub workflow.
//!
//! The syntax is that of "Workflow commands for GitHub Actions" (docs.github.com): a line
//! `::error file=...,line=...,title=...::message` on standard output. The escapes are those of `actions/toolkit`,
//! `packages/core/src/command.ts`. GitHub shows ten errors, ten warnings and ten notices of a step and drops the others,
//! so there are at most [`MOST`] annotations here, and one that says how many more causes there are.

use std::fmt;

use super::human::undecided;
use super::location::Root;
use super::{CheckedSuite, effects, word};

/// How many annotations there are at most, without the one that counts the others.
const MOST: usize = 10;

/// The report as annotations: one for each cause, the worst first.
pub(super) struct Annotations<'a> {
    /// What there is to say.
    pub checked: &'a CheckedSuite<'a>,
    /// What the names of files begin at.
    pub root: Root,
    /// Whether the job summary has all of it.
    pub has_summary: bool,
}

impl fmt::Display for Annotations<'_> {
    /// A command for every cause, at its line: an error for what fails, a notice for the rest.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { checked, root, has_summary } = self;
        let undecided = undecided(checked.report);
        let causes = checked.suite.causes(checked.report);
        let shown = MOST - usize::from(undecided.is_some());
        // What fails comes first, also where all fails that is not as recorded.
        let (failing, others): (Vec<_>, Vec<_>) =
            causes.iter().partition(|cause| effects::fails(checked, cause));
        let is_failing = |position: usize| position < failing.len();
        for (position, cause) in failing.iter().chain(&others).take(shown).enumerate() {
            writeln!(
                out,
                "::{} file={},line={},title={}::{}",
                if is_failing(position) { "error" } else { "notice" },
                property(&root.name(&cause.file)),
                cause.line,
                property(&effects::title(cause)),
                data(&effects::lines(checked, cause).join("\n"))
            )?;
        }
        if let Some(undecided) = undecided {
            let command = if checked.strict { "error" } else { "warning" };
            let manifest = property(&root.name(&checked.suite.manifest_path()));
            writeln!(out, "::{command} file={manifest},title=not decided::{}", data(&undecided))?;
        }
        let more = causes.len().saturating_sub(shown);
        if more > 0 {
            let causes = if more == 1 { "cause" } else { "causes" };
            let place = if *has_summary {
                "the job summary has all of them".to_owned()
            } else {
                format!("`bubbleproof regress {}` prints all of them", word(checked.directory))
            };
            // Neither an error nor a notice: there may be ten of those already.
            writeln!(out, "::warning title={more} more {causes} of changes::{}", data(&place))?;
        }
        Ok(())
    }
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
