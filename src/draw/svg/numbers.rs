//! The numbers of microbatches: one size for the whole drawing, and for each kind of pass all numbers or none.
//!
//! Whether a cell has its number depends on the widest number of the drawing and never on its own: else the numbers up
//! to 9 would stand in cells in which those from 10 on are missing.

use super::time::Timeline;
use crate::analysis::Span;
use crate::draw::Picture;
use crate::draw::xml::width_of;
use crate::model::{Kind, Ticks};

/// The least size of text that can be read.
pub(super) const LEAST: i64 = 6;

/// What is left free beside a number, in hundredths of a pixel.
pub(super) const FREE: i64 = 100;

/// Which passes have numbers, and how large these are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Numbers {
    /// The size, in pixels.
    pub(super) size: i64,
    /// What a cell needs to have its number, in hundredths of a pixel.
    need: i64,
    /// By kind: whether its passes have numbers.
    kinds: [bool; Kind::COUNT],
}

impl Numbers {
    /// The numbers of a picture, at most of a size. Kinds whose passes are too short for the least size have none.
    pub(super) fn of(picture: &Picture<'_>, time: &Timeline, highest: i64) -> Option<Self> {
        let widest = widest(picture);
        let fitting = |room: i64| (LEAST..=highest).rev().find(|&size| need(&widest, size) <= room);
        let mut lengths: Vec<(i64, Kind)> = typical_by_kind(picture)
            .into_iter()
            .map(|(kind, duration)| (time.length(duration), kind))
            .collect();
        lengths.sort_unstable_by_key(|&(length, kind)| (length, kind as usize));
        for (dropped, &(shortest, _)) in lengths.iter().enumerate() {
            let Some(size) = fitting(shortest) else { continue };
            let mut kinds = [false; Kind::COUNT];
            for &(_, kind) in &lengths[dropped..] {
                kinds[kind as usize] = true;
            }
            return Some(Self { size, need: need(&widest, size), kinds });
        }
        // No typical pass has room. Some stages may have longer passes all the same.
        let longest = picture.devices().flat_map(|device| picture.passes(device)).map(Span::duration).max();
        let need = need(&widest, LEAST);
        let has_room = LEAST <= highest && longest.is_some_and(|longest| need <= time.length(longest));
        has_room.then_some(Self { size: LEAST, need, kinds: [true; Kind::COUNT] })
    }

    /// Whether a cell of so many hundredths of a pixel has its number.
    pub(super) const fn fit(&self, kind: Kind, length: i64) -> bool {
        self.kinds[kind as usize] && self.need <= length
    }
}

/// What a number of this size needs, in hundredths of a pixel.
fn need(number: &str, size: i64) -> i64 {
    width_of(number, size) + FREE
}

/// The widest number of a picture. All digits are equally wide.
fn widest(picture: &Picture<'_>) -> String {
    (picture.schedule.microbatches() - 1).to_string()
}

/// The typical duration of each kind of pass that occurs and takes time.
fn typical_by_kind(picture: &Picture<'_>) -> Vec<(Kind, Ticks)> {
    let mut durations: [Vec<Ticks>; Kind::COUNT] = std::array::from_fn(|_| Vec::new());
    for span in picture.devices().flat_map(|device| picture.passes(device)) {
        if span.duration() > Ticks::ZERO {
            durations[span.pass.kind as usize].push(span.duration());
        }
    }
    let median = |durations: &mut Vec<Ticks>| {
        let middle = durations.len().saturating_sub(1) / 2;
        (!durations.is_empty()).then(|| *durations.select_nth_unstable(middle).1)
    };
    Kind::ALL
        .into_iter()
        .filter_map(|kind| median(&mut durations[kind as usize]).map(|duration| (kind, duration)))
        .collect()
}

/// How many pixels a typical pass takes at least for the numbers to be read, so large that those in the shortest kind of
/// pass can be; kinds of less than a third of the typical duration do not count.
pub(super) fn pass_width(picture: &Picture<'_>, size: i64) -> i64 {
    let typical = picture.typical_duration();
    let kinds = typical_by_kind(picture).into_iter().map(|(_, duration)| duration);
    let shortest =
        kinds.filter(|duration| duration.0 >= typical.0 / 3).min().unwrap_or(typical).max(Ticks(1));
    let need = i128::from(need(&widest(picture), size)) * i128::from(typical.0) / i128::from(shortest.0);
    i64::try_from(need / 100).unwrap_or(i64::MAX).saturating_add(1)
}

/// How many pixels the widest number of a picture takes at a size.
pub(super) fn number_width(picture: &Picture<'_>, size: i64) -> i64 {
    need(&widest(picture), size) / 100 + 1
}
