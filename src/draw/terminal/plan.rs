//! What is shown at which scale: the whole schedule if it fits, else its two ends.

use num_integer::Integer;

use crate::analysis::Phases;
use crate::draw::Picture;
use crate::draw::scale::Scale;

/// Columns of the timeline on one line: `from..to`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Band {
    pub(super) from: i64,
    pub(super) to: i64,
}

/// How much room there is.
pub(super) struct Room {
    /// The most columns of a band.
    pub(super) full: i64,
    /// The most columns of the last band, beside the figures of each device.
    pub(super) last: i64,
    /// The most lines of the timeline.
    pub(super) lines: Option<usize>,
    /// The most columns that the label of a pass takes.
    pub(super) label: i64,
    /// Whether the figures of the devices are beside the last band.
    pub(super) figures: bool,
}

/// What is shown at which scale.
pub(super) struct Plan {
    pub(super) scale: Scale,
    pub(super) bands: Vec<Band>,
    pub(super) phases: Phases,
    pub(super) figures: bool,
}

impl Plan {
    /// The plan for a picture.
    ///
    /// The scale is the largest, from labels that fit into passes of typical duration down to one
    /// column for such a pass, at which either the whole fits, or warm-up and cool-down do.
    pub(super) fn of(picture: &Picture<'_>, room: &Room) -> Self {
        let rows = picture.schedule.devices() as usize + picture.lanes.len();
        let bands = room.lines.map_or(i64::MAX, |lines| columns(lines / (rows + 1)).max(2));
        let (typical, phases) = (picture.typical_duration(), picture.phases());
        let plan = |scale, bands| Self { scale, bands, phases, figures: room.figures };
        let total = |scale: Scale| scale.column(picture.makespan()).max(1);
        // A short schedule gets wider cells, as long as it stays on one band.
        for wide in [room.label + 2, room.label + 1] {
            let scale = Scale::fitting(typical, wide);
            if total(scale) <= room.last {
                return plan(scale, vec![Band { from: 0, to: total(scale) }]);
            }
        }
        for wide in (1..=room.label).rev() {
            let scale = Scale::fitting(typical, wide);
            let total = total(scale);
            // One band more is better than leaving out less than a band.
            if let Some(whole) = fold(total, bands.saturating_add(1), scale.columns, room) {
                return plan(scale, whole);
            }
            let (head, tail) = ends(total, bands, scale.columns, room);
            let complete = scale.column(phases.steady_from) <= head && scale.column(phases.steady_to) >= tail;
            if complete || wide == 1 {
                let mut ends = cut(0, head, room.full / scale.columns * scale.columns);
                ends.extend(cut_back(tail, total, room, scale.columns));
                return plan(scale, ends);
            }
        }
        unreachable!("the narrowest scale is always taken")
    }
}

/// A width as a number of columns.
pub(super) fn columns(width: usize) -> i64 {
    i64::try_from(width).unwrap_or(i64::MAX)
}

/// The whole in bands of equal width, if this number of bands suffices. Bands begin at whole ticks.
fn fold(total: i64, bands: i64, tick: i64, room: &Room) -> Option<Vec<Band>> {
    let full = (room.full / tick * tick).max(1);
    let needed = if total <= room.last { 1 } else { 1 + Integer::div_ceil(&(total - room.last), &full) };
    if needed > bands {
        return None;
    }
    let even = Integer::div_ceil(&Integer::div_ceil(&total, &needed), &tick) * tick;
    let fits = |width: i64| width <= full && total - (needed - 1) * width <= room.last;
    let mut whole = cut(0, total, if fits(even) { even } else { full });
    // Whole ticks may fill the bands before the last one, which has less room, with all there is.
    if let Some(end) = whole.last_mut()
        && end.to - end.from > room.last
    {
        let middle = (Integer::div_ceil(&(end.from + end.to), &(2 * tick)) * tick).max(end.to - room.last);
        end.to = middle;
        whole.push(Band { from: middle, to: total });
    }
    Some(whole)
}

/// Where the first part ends and the last begins, when only both ends of the whole are shown.
fn ends(total: i64, bands: i64, tick: i64, room: &Room) -> (i64, i64) {
    let full = (room.full / tick * tick).max(1);
    let head = (bands - bands / 2) * full;
    let tail = (bands / 2 - 1) * full + room.last / tick * tick;
    // Where the whole does not fit, the ends do not meet.
    (head, total - tail)
}

/// Bands of a width, from left to right.
fn cut(from: i64, to: i64, width: i64) -> Vec<Band> {
    let mut bands = Vec::new();
    let mut at = from;
    while at < to {
        bands.push(Band { from: at, to: to.min(at + width.max(1)) });
        at += width.max(1);
    }
    bands
}

/// Bands of full width, and a last one with room for figures.
fn cut_back(from: i64, to: i64, room: &Room, tick: i64) -> Vec<Band> {
    let last = to - room.last / tick * tick;
    let mut bands = cut(from, last, room.full / tick * tick);
    bands.push(Band { from: last, to });
    bands
}
