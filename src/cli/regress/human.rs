//! The report of `regress` as text.

use std::fmt;

use itertools::Itertools;

use super::location::Root;
use super::{CheckedSuite, word};
use crate::cli::file_name::FileName;
use crate::cli::violations::count;
use crate::regress::{Cause, Change, CheckedDesign, DesignOutcome, Place, Severity, SuiteReport, Tally};

/// How many changes of one kind are shown in full; one, where nothing is worse or better. The rest are listed
/// by place.
const SHOWN: usize = 4;

/// How many of those places are listed; the rest are counted.
const LISTED: usize = 12;

pub(super) struct Text<'a>(pub &'a CheckedSuite<'a>);

impl fmt::Display for Text<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let checked = self.0;
        let CheckedSuite { report, directory, accepted, .. } = checked;
        let causes = checked.suite.causes(report);
        for result in &report.results {
            if !result.changes.is_empty() {
                write!(out, "{}\n{}", title(result), Changes { checked, result })?;
                self.causes(out, &causes, result)?;
                writeln!(out)?;
            }
        }
        let tally = report.tally();
        writeln!(out, "{}: {}", FileName::of(directory), summary(tally))?;
        if let Some(undecided) = undecided(report) {
            writeln!(out, "{undecided}")?;
        }
        let Some(accepted) = accepted else {
            for result in report.results.iter().filter(|result| !result.is_as_expected()) {
                writeln!(out, "cannot be accepted: {}", self.refusal(result))?;
            }
            self.broken_promise(out)?;
            if can_be_accepted(report) {
                writeln!(
                    out,
                    "to accept these changes, run `bubbleproof regress {} --accept`",
                    word(directory)
                )?;
            }
            return Ok(());
        };
        for path in &accepted.written {
            writeln!(out, "wrote {}", FileName::of(path))?;
        }
        for path in &accepted.removed {
            writeln!(out, "removed {}", FileName::of(path))?;
        }
        if accepted.written.is_empty() && accepted.removed.is_empty() {
            writeln!(out, "no record changed")?;
        }
        for name in &accepted.refused {
            let Some(result) = report.results.iter().find(|result| result.design == *name) else { continue };
            writeln!(out, "not accepted: {}", self.refusal(result))?;
        }
        self.broken_promise(out)
    }
}

impl Text<'_> {
    /// Where the changes of a design come from.
    fn causes(
        &self,
        out: &mut fmt::Formatter<'_>,
        causes: &[Cause<'_>],
        result: &CheckedDesign,
    ) -> fmt::Result {
        let is_own =
            |cause: &&Cause<'_>| cause.effects.iter().any(|effect| effect.design.design == result.design);
        // What was accepted needs no cause.
        for cause in causes.iter().filter(is_own).filter(|_| self.0.accepted.is_none()) {
            let place = format!("{}:{}", Root::here().name(&cause.file), cause.line);
            writeln!(out, "  {:<9}  {place}: {}", "cause", cause.what)?;
        }
        Ok(())
    }

    /// Why a design cannot be accepted, and what helps.
    fn refusal(&self, result: &CheckedDesign) -> String {
        let name = &result.design;
        if !result.is_invalid() {
            format!("{name} is valid, but the manifest has `expect = \"invalid\"`")
        } else if result.is_expected_to_be_invalid {
            let places: Vec<String> = result.newly_invalid.iter().map(Place::to_string).collect();
            let record = FileName::of(self.0.suite.record_path(name));
            format!(
                "{name} is invalid where its record is not{}; if it is there as an example of that too, remove {record} and \
                 accept it anew",
                listed(&places)
            )
        } else {
            format!(
                "{name} is invalid; if it is there as an example of that, give it `expect = \"invalid\"` in the manifest"
            )
        }
    }

    /// What becomes of promises that are broken.
    fn broken_promise(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.report.results.iter().any(CheckedDesign::breaks_a_promise) {
            writeln!(
                out,
                "a broken promise remains a regression until the design keeps it or the promise is removed"
            )?;
        }
        Ok(())
    }
}

/// A design with its verdict.
pub(super) fn title(result: &CheckedDesign) -> String {
    let kind = result.kind.map_or_else(String::new, |kind| format!(" ({kind})"));
    format!("{}{kind}: {}", result.design, result.outcome.word())
}

/// All changes of a design, as a table without lines.
pub(super) struct Changes<'a> {
    /// The suite that it is of.
    pub checked: &'a CheckedSuite<'a>,
    /// The design.
    pub result: &'a CheckedDesign,
}

impl<'a> Changes<'a> {
    /// Prints changes of the same severity and topic. Prints details that explain several of them, `told`, once.
    fn several(
        &self,
        out: &mut fmt::Formatter<'_>,
        changes: &[&'a Change],
        told: &mut &'a [String],
    ) -> fmt::Result {
        let shown = match (changes[0].topic.as_str(), changes[0].severity) {
            ("theorem" | "promise" | "moved" | "order", _) => changes.len(),
            (_, Severity::Changed) => 1,
            _ => SHOWN,
        };
        for change in changes.iter().take(shown) {
            writeln!(
                out,
                "  {:<9}  {:<13}  {}",
                change.severity.word(),
                change.topic,
                self.checked.sentence(self.result, change)
            )?;
            if change.details.as_slice() != *told {
                for detail in &change.details {
                    writeln!(out, "  {:<9}  {:<13}  {detail}", "", "")?;
                }
            }
            *told = &change.details;
        }
        if changes.len() > shown {
            let places = changes[shown..]
                .iter()
                .map(|change| &change.place)
                .filter(|place| **place != Place::default());
            let places = places.map(|place| format!("{place}")).unique().collect_vec();
            writeln!(out, "  {:<9}  {:<13}  and {} more{}", "", "", changes.len() - shown, listed(&places))?;
        }
        Ok(())
    }
}

impl fmt::Display for Changes<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Once it is accepted it has a record.
        let is_told = |change: &&Change| self.checked.accepted.is_none() || change.topic != "record";
        let changes = self.result.changes.iter().filter(is_told);
        let mut told: &[String] = &[];
        for (_, changes) in &changes.chunk_by(|change| (change.severity, change.topic.clone())) {
            self.several(out, &changes.collect_vec(), &mut told)?;
        }
        Ok(())
    }
}

/// Places, the first ones by name.
fn listed(places: &[String]) -> String {
    let more = match places.len().saturating_sub(LISTED) {
        0 => String::new(),
        more => format!("; and {}", count(more, "more place", "more places")),
    };
    let named = places.iter().take(LISTED).join("; ");
    if named.is_empty() { named } else { format!(": {named}{more}") }
}

/// The number of designs with each outcome, without those that are zero.
pub(super) fn summary(tally: Tally) -> String {
    let Tally { new, vanished, worse, better, changed, unchanged, .. } = tally;
    let all = new + vanished + worse + better + changed + unchanged;
    let parts = [
        (worse, DesignOutcome::Worse),
        (new, DesignOutcome::New),
        (vanished, DesignOutcome::Vanished),
        (better, DesignOutcome::Better),
        (changed, DesignOutcome::Changed),
        (unchanged, DesignOutcome::Unchanged),
    ];
    let parts = parts.into_iter().filter(|(number, _)| *number > 0);
    let parts = parts.map(|(number, outcome)| format!("{number} {}", outcome.word())).join(", ");
    if parts.is_empty() {
        "no designs".to_owned()
    } else {
        format!("{}, {parts}", count(all, "design", "designs"))
    }
}

/// Whether there is anything that `--accept` would record.
pub(super) fn can_be_accepted(report: &SuiteReport) -> bool {
    // A promise that was broken when the record was made stays broken.
    let is_recorded = |change: &Change| {
        change.topic == "promise" && change.values.as_ref().is_some_and(|(before, after)| before == after)
    };
    let is_to_accept = |result: &CheckedDesign| {
        result.outcome != DesignOutcome::Unchanged
            && result.is_as_expected()
            && !result.changes.iter().all(is_recorded)
    };
    report.fails(true) && report.results.iter().any(is_to_accept)
}

/// That this build has not decided everything, if so.
pub(super) fn undecided(report: &SuiteReport) -> Option<String> {
    let undecided = report.tally().undecided;
    let lost = report.results.iter().flat_map(|result| &result.changes);
    let proved = lost.filter(|change| change.severity == Severity::Undecided).count();
    (undecided > 0).then(|| {
        format!(
            "no SMT solver (z3 or cvc5) found: {} undecided, {proved} of them recorded as proved",
            count(undecided, "theorem or promise", "theorems and promises"),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_is_listed_or_counted() {
        for all in 0..=20 {
            let places = (1..=all).map(|devices| format!("d={devices}")).collect_vec();
            let told = listed(&places);
            let named = told.matches("d=").count();
            let counted = told.split_once("; and ").map_or(0, |(_, rest)| {
                let number = rest.split_once(" more place").expect("a number of places").0;
                number.parse::<usize>().expect("a number")
            });
            assert_eq!((named, named + counted), (all.min(LISTED), all), "{told}");
        }
        assert_eq!(listed(&[]), "");
        assert_eq!(listed(&["d=1".to_owned(), "d=2".to_owned()]), ": d=1; d=2");
    }
}
