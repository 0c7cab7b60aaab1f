//! The sizes that every part of a drawing keeps to, in pixels.

/// The size of text, and of small text.
pub(super) const TEXT: i64 = 12;
pub(super) const SMALL: i64 = 11;
/// The size of the labels of an axis of memory, and of figures in a narrow drawing.
pub(super) const TINY: i64 = 9;
/// The largest size of text in a lane.
pub(super) const LANE_TEXT: i64 = 9;
/// The size of the title.
pub(super) const HEADING: i64 = 15;
/// From one line of text to the next.
pub(super) const LINE: i64 = 17;
/// The edge of the drawing, and what is left between its parts.
pub(super) const EDGE: i64 = 8;
/// The gap where time is left out.
pub(super) const BREAK: i64 = 20;
