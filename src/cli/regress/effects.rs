//! What a cause brings about, in lines for readers of a review.

use itertools::Itertools;

use super::CheckedSuite;
use crate::regress::{Cause, Change, Effect};

/// How many designs an annotation tells of in full.
const DESIGNS: usize = 3;

/// How many theorems, promises and moved passes of a design it tells of in full; of other changes one.
const SHOWN: usize = 4;

/// What a cause is called: the design and what became of it.
pub(super) fn title(cause: &Cause<'_>) -> String {
    let Some(first) = cause.effects.first() else { return String::new() };
    let worst = cause.severity().word();
    match cause.effects.len() - 1 {
        0 => format!("{}: {worst}", first.design.design),
        1 => format!("{} and 1 more design: {worst}", first.design.design),
        more => format!("{} and {more} more designs: {worst}", first.design.design),
    }
}

/// Whether any of the changes of a cause makes the exit status that of a regression.
pub(super) fn fails(checked: &CheckedSuite<'_>, cause: &Cause<'_>) -> bool {
    let fails =
        |effect: &Effect<'_>| effect.changes.iter().any(|change| checked.is_failing(effect.design, change));
    cause.effects.iter().any(fails)
}

/// All that a cause brings about, as lines: each kind of change once, with its details.
pub(super) fn lines(checked: &CheckedSuite<'_>, cause: &Cause<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    let several = cause.effects.len() > 1;
    for effect in cause.effects.iter().take(DESIGNS) {
        if several {
            lines.push(format!("{}:", effect.design.design));
        }
        for changes in kinds(effect) {
            lines.extend(of_kind(checked, effect, &changes));
        }
    }
    let more = cause.effects.iter().skip(DESIGNS).map(|effect| effect.design.design.as_str()).collect_vec();
    if !more.is_empty() {
        lines.push(format!("and in {}", more.join(", ")));
    }
    lines.push(format!("cause: {}", cause.what));
    lines
}

/// The changes of an effect, those of one kind together.
pub(super) fn kinds<'a>(effect: &Effect<'a>) -> Vec<Vec<&'a Change>> {
    let mut kinds: Vec<Vec<&Change>> = Vec::new();
    for &change in &effect.changes {
        let is_alike = |kind: &&mut Vec<&Change>| {
            (kind[0].severity, kind[0].topic.as_str()) == (change.severity, change.topic.as_str())
        };
        match kinds.iter_mut().find(is_alike) {
            Some(kind) => kind.push(change),
            None => kinds.push(vec![change]),
        }
    }
    kinds
}

fn of_kind(checked: &CheckedSuite<'_>, effect: &Effect<'_>, changes: &[&Change]) -> Vec<String> {
    let shown = match changes[0].topic.as_str() {
        "theorem" | "promise" | "moved" => SHOWN,
        _ => 1,
    };
    let mut lines = Vec::new();
    for change in changes.iter().take(shown) {
        let sentence = checked.sentence(effect.design, change);
        lines.push(format!("{} {}: {sentence}", change.severity.word(), change.topic));
        lines.extend(change.details.iter().map(|detail| format!("    {detail}")));
    }
    if changes.len() > shown {
        lines.push(format!("    and {} more", changes.len() - shown));
    }
    lines
}
