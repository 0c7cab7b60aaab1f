//! The report of `regress` as a summary in Markdown, such as GitHub shows on the page of a run.
//!
//! It follows "Workflow commands for GitHub Actions", section "Adding a job summary" (docs.github.com):
//! GitHub-flavored Markdown, appended to the file that `GITHUB_STEP_SUMMARY` names, of at most 1 MiB for a step. A larger one is
//! refused as a whole, so what does not fit is left out here, and counted.

use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use itertools::Itertools;

use super::effects::kinds;
use super::human::{self, Changes, can_be_accepted, undecided};
use super::location::{GITHUB, Root};
use super::markdown::{code, fenced, html};
use super::wording::may_be_in_other_units;
use super::{CheckedSuite, picture, word};
use crate::cli::error::Error;
use crate::cli::file_name::FileName;
use crate::cli::output::{Target, plain};
use crate::cli::violations::count;
use crate::regress::{Cause, Change, CheckedDesign, DesignOutcome, Effect, Figures, Metric, Severity, What};

/// The variable with the file of the job summary.
const VARIABLE: &str = "GITHUB_STEP_SUMMARY";

/// The most bytes of a summary: what GitHub takes of a step, less some for other tools that write to it.
const MOST: usize = 1 << 20;
const FOR_OTHERS: usize = 1 << 16;

/// How many rows of the table a design has.
const ROWS: usize = 6;

/// The longest value that a cell of the table shows.
const VALUE: usize = 40;

/// Writes the summary where it was asked for, or to where GitHub wants it; whether there was such a place.
///
/// # Errors
/// When the file cannot be written.
pub(super) fn write(checked: &CheckedSuite<'_>, file: Option<&Path>, is_github: bool) -> Result<bool, Error> {
    if let Some(file) = file {
        let text = text(checked, MOST - FOR_OTHERS);
        Target::File(file.to_owned()).write(|out| out.write_all(text.as_bytes()))?;
        return Ok(true);
    }
    let variable = std::env::var_os(VARIABLE).filter(|file| is_github && !file.is_empty());
    let Some(path) = variable.map(PathBuf::from) else { return Ok(false) };
    let there = fs::metadata(&path).map_or(0, |file| usize::try_from(file.len()).unwrap_or(MOST));
    let text = text(checked, MOST.saturating_sub(FOR_OTHERS + there));
    let appended = OpenOptions::new().append(true).create(true).open(&path);
    let appended = appended.and_then(|mut file| file.write_all(text.as_bytes()));
    appended.map_err(|error| Error::Write { path: FileName::of(&path), error })?;
    Ok(true)
}

/// The summary, cut to a number of bytes. The heading is always whole.
fn text(checked: &CheckedSuite<'_>, most: usize) -> String {
    let report = checked.report;
    let mut text = String::new();
    let directory = FileName::of(checked.directory).to_string();
    let tally = human::summary(report.tally());
    write!(text, "### Designs in {}: {tally}\n\n", code(&directory)).expect("texts grow");
    if let Some(undecided) = undecided(report) {
        write!(text, "{}\n\n", html(&undecided)).expect("texts grow");
    }
    if can_be_accepted(report) && checked.accepted.is_none() {
        let command = format!("bubbleproof regress {} --accept", word(checked.directory));
        write!(text, "To accept these changes, run {}.\n\n", code(&command)).expect("texts grow");
    }
    let (changed, unchanged): (Vec<_>, Vec<_>) =
        report.results.iter().partition(|result| result.outcome != DesignOutcome::Unchanged);
    // The worst first: the table may not have room for all of them.
    let changed = changed.into_iter().sorted_by_key(|result| !checked.is_failed(result)).collect_vec();
    let mut left_out = 0;
    if !changed.is_empty() {
        text.push_str("| design | verdict | what changed | before | after | change |\n");
        text.push_str("| --- | --- | --- | ---: | ---: | ---: |\n");
        for result in &changed {
            let rows = rows(checked, result);
            // Half of the room is for the details.
            left_out += usize::from(!fits(&mut text, &rows, most / 2));
        }
        text.push('\n');
    }
    let causes = checked.suite.causes(report);
    let root = Root::of(GITHUB);
    for result in &changed {
        left_out += usize::from(!fits(&mut text, &details(checked, result, &causes, &root), most));
    }
    if !unchanged.is_empty() {
        let names = unchanged.iter().map(|result| code(&result.design)).join(", ");
        let title = count(unchanged.len(), "unchanged design", "unchanged designs");
        let folded = format!("<details><summary>{title}</summary>\n\n{names}\n\n</details>\n\n");
        left_out += usize::from(!fits(&mut text, &folded, most));
    }
    if left_out > 0 {
        let command = format!("bubbleproof regress {}", word(checked.directory));
        let parts = count(left_out, "part is", "parts are");
        let note =
            format!("{parts} left out: GitHub shows no more than 1 MiB. {} prints all.\n\n", code(&command));
        text.push_str(&note);
    }
    text
}

/// Adds a part where it fits.
fn fits(text: &mut String, part: &str, most: usize) -> bool {
    let fits = text.len() + part.len() <= most;
    if fits {
        text.push_str(part);
    }
    fits
}

/// The rows of a design: what is worse or better, and where nothing is, what changed.
fn rows(checked: &CheckedSuite<'_>, result: &CheckedDesign) -> String {
    let all = Effect { design: result, changes: result.changes.iter().collect() };
    let kinds = kinds(&all);
    let is_told = |kind: &&Vec<&Change>| matches!(kind[0].severity, Severity::Worse | Severity::Better);
    let told = kinds.iter().filter(is_told).collect_vec();
    let told = if told.is_empty() { kinds.iter().collect() } else { told };
    let kind = result.kind.map_or_else(String::new, |kind| format!(" ({kind})"));
    let verdict = if checked.is_failed(result) {
        format!("**{}**", result.outcome.word())
    } else {
        result.outcome.word().to_owned()
    };
    let mut rows = String::new();
    let mut head = format!("{}{kind} | {verdict}", code(&result.design));
    for kind in told.iter().take(ROWS) {
        let [before, after, difference] = cells(checked, result, kind[0]);
        let what = what(kind);
        writeln!(rows, "| {head} | {what} | {before} | {after} | {difference} |").expect("texts grow");
        " | ".clone_into(&mut head);
    }
    if told.len() > ROWS {
        let more = count(told.len() - ROWS, "more kind of change", "more kinds of changes");
        writeln!(rows, "| {head} | and {more} | | | |").expect("texts grow");
    }
    rows
}

/// What changed, in a cell: the first of several like it, and how many there are.
fn what(kind: &[&Change]) -> String {
    let first = kind[0];
    let topic = first.topic.replace('_', " ");
    let mut text = match &first.about {
        Some(What::Promise(name) | What::Theorem(name)) => format!("{topic} {}", code(name)),
        _ if first.values.is_none() => format!("{topic}: {}", code(&first.message)),
        _ => topic,
    };
    let place = first.place.to_string();
    if !place.is_empty() {
        write!(text, " at {}", code(&place)).expect("texts grow");
    }
    if let Some(Figures { metric, position: Some(position), .. }) = first.figures {
        let one = if metric == Metric::PeakMemory { "device" } else { "chunk" };
        write!(text, ", {one} {position}").expect("texts grow");
    }
    if kind.len() > 1 {
        write!(text, "; and {} more", kind.len() - 1).expect("texts grow");
    }
    text
}

/// Before, after, and by how much, as cells.
fn cells(checked: &CheckedSuite<'_>, result: &CheckedDesign, change: &Change) -> [String; 3] {
    if let Some(figures) = &change.figures {
        if may_be_in_other_units(result, figures) {
            return [
                code(&figures.before.to_string()),
                code(&figures.after.to_string()),
                "other units?".to_owned(),
            ];
        }
        let amount =
            |value| code(&checked.amount(result, &change.place, figures.metric, checked.exact, value));
        return [amount(figures.before), amount(figures.after), figures.difference()];
    }
    let short = |value: &String| if value.chars().count() > VALUE { "...".to_owned() } else { code(value) };
    change
        .values
        .as_ref()
        .map_or_else(Default::default, |(before, after)| [short(before), short(after), String::new()])
}

/// All changes of a design with their causes and its picture, folded.
fn details(checked: &CheckedSuite<'_>, result: &CheckedDesign, causes: &[Cause<'_>], root: &Root) -> String {
    if result.changes.is_empty() {
        return String::new();
    }
    let changes = Changes { checked, result }.to_string();
    let mut text = format!("<details><summary>{}</summary>\n\n", html(&human::title(result)));
    writeln!(text, "{}", fenced(&plain(&changes))).expect("texts grow");
    let own = |cause: &&Cause<'_>| cause.effects.iter().any(|effect| effect.design.design == result.design);
    for cause in causes.iter().filter(own) {
        let place = format!("{}:{}", root.name(&cause.file), cause.line);
        writeln!(text, "- caused in {}: {}", code(&place), html(&cause.what)).expect("texts grow");
    }
    text.push('\n');
    if let Some(drawn) = checked.suite.before_and_after(result) {
        text.push_str(&picture::before_after(&drawn));
    }
    text.push_str("</details>\n\n");
    text
}
