//! The timeline of a schedule before and after, in Markdown.
//!
//! GitHub removes inline SVG and `data:` images from job summaries, and a picture elsewhere would need a place to upload it to.
//! So the timelines are those of the terminal, without colours, in blocks of code: every viewer shows them, one above the
//! other in the same scale.

use super::markdown::{code, fenced};
use crate::draw::{Picture, Terminal};
use crate::model::Model;
use crate::regress::BeforeAfter;
use crate::replay::{Verdict, replay};
use crate::schedule::Schedule;

/// As wide as GitHub shows code without a scroll bar.
const HOW: Terminal = Terminal { width: 100, lines: Some(24), colour: false };

/// A schedule that was replayed, or why there is none.
type Replayed<'a> = Result<(&'a Model, &'a Schedule, Verdict), &'static str>;

/// Both timelines, each below a line that names it.
pub(super) fn before_after(drawn: &BeforeAfter) -> String {
    let (before, after) = (replayed(&drawn.before), replayed(&drawn.after));
    let (old, new) = (picture(&before), picture(&after));
    let place = code(&drawn.place.to_string());
    let place = if place.is_empty() { place } else { format!(" ({place})") };
    let one =
        |name: &str, replayed: &Replayed<'_>, own: Option<&Picture<'_>>, other: Option<&Picture<'_>>| {
            let told = match (own, replayed) {
                (Some(own), _) => fenced(&own.terminal_beside(&HOW, other.as_slice())),
                (None, Err(why)) => format!("Not drawn: {why}.\n"),
                (None, Ok((_, _, verdict))) => {
                    let why = verdict.violations.first().map(ToString::to_string).unwrap_or_default();
                    format!("It cannot run:\n\n{}", fenced(&why))
                }
            };
            format!("**{name}**{place}\n\n{told}\n")
        };
    one("Before", &before, old.as_ref(), new.as_ref()) + &one("After", &after, new.as_ref(), old.as_ref())
}

fn replayed<'a>(side: &'a Result<(Model, Schedule), &'static str>) -> Replayed<'a> {
    side.as_ref().map(|(model, schedule)| (model, schedule, replay(model, schedule))).map_err(|why| *why)
}

fn picture<'a>(side: &'a Replayed<'a>) -> Option<Picture<'a>> {
    let (model, schedule, verdict) = side.as_ref().ok()?;
    Picture::of(model, schedule, verdict)
}
