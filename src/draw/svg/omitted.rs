//! What a drawing does not show, in words.

use super::time::Timeline;
use crate::amounts;
use crate::draw::Picture;
use crate::model::Ticks;

/// What a drawing does not show of the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Omitted {
    /// A part of the steady phase, and the microbatches of which no pass is drawn, from the first to the last.
    Middle { from: Ticks, to: Ticks, microbatches: Option<(u32, u32)> },
    /// What lies before an instant and after another one.
    Outside { from: Ticks, to: Ticks },
}

impl Omitted {
    /// What a drawing with this timeline does not show.
    pub(super) fn of(picture: &Picture<'_>, time: &Timeline) -> Option<Self> {
        if let Some((_, (from, to))) = time.breaks().next() {
            return Some(Self::Middle { from, to, microbatches: unseen(picture, time) });
        }
        let &[piece] = time.pieces() else { return None };
        let is_whole = piece.from == Ticks::ZERO && piece.to >= picture.makespan();
        (!is_whole).then_some(Self::Outside { from: piece.from, to: piece.to })
    }

    /// What stands below the axis of the drawing.
    pub(super) fn label(self, picture: &Picture<'_>) -> String {
        let time = |ticks: Ticks| instant(picture, ticks);
        match self {
            Self::Middle { from, to, microbatches: Some((first, last)) } => {
                format!("\u{2026} {} omitted, with microbatches {first} to {last} \u{2026}", time(to - from))
            }
            Self::Middle { from, to, microbatches: None } => {
                format!("\u{2026} {} omitted \u{2026}", time(to - from))
            }
            Self::Outside { from, to } => {
                format!("from {} to {} of {}", time(from), time(to), time(picture.makespan()))
            }
        }
    }

    /// The same as a sentence without a full stop.
    pub(super) fn sentence(self, picture: &Picture<'_>) -> String {
        let time = |ticks: Ticks| instant(picture, ticks);
        match self {
            Self::Middle { from, to, microbatches } => {
                let whole = microbatches
                    .map(|(first, last)| format!(", with all passes of microbatches {first} to {last}"))
                    .unwrap_or_default();
                format!(
                    "{} of the steady phase, from {} to {}, are omitted{whole}",
                    time(to - from),
                    time(from),
                    time(to)
                )
            }
            Self::Outside { from, to } => {
                format!("the drawing shows {} to {} of {}", time(from), time(to), time(picture.makespan()))
            }
        }
    }
}

/// The first and the last of the microbatches of which no pass is drawn, if they follow each other.
fn unseen(picture: &Picture<'_>, time: &Timeline) -> Option<(u32, u32)> {
    let mut seen = vec![false; picture.schedule.microbatches() as usize];
    for span in picture.devices().flat_map(|device| picture.passes(device)) {
        if time.visible(span.start, span.end).next().is_some() {
            seen[span.pass.microbatch.index()] = true;
        }
    }
    let first = seen.iter().position(|seen| !seen)?;
    let last = seen.iter().rposition(|seen| !seen)?;
    let is_run = seen[first..=last].iter().all(|seen| !seen);
    is_run.then_some((u32::try_from(first).ok()?, u32::try_from(last).ok()?))
}

/// An instant or a duration in the unit that suits it; 0 needs none.
fn instant(picture: &Picture<'_>, ticks: Ticks) -> String {
    if ticks == Ticks::ZERO { "0".to_owned() } else { amounts::time(ticks.0, &picture.model.costs().unit) }
}
