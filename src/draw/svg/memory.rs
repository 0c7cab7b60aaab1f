//! The curve of what a device holds.

use std::fmt::Write as _;

use super::layout::Layout;
use crate::draw::xml::decimal;
use crate::model::{Ticks, Units};
use crate::replay::Held;

/// The curve of a device as a path, and its highest point.
pub(super) struct Curve {
    /// The path, open at both ends, from and to the ground line.
    pub(super) path: String,
    /// Where the peak is first reached, from the left of the timeline, in hundredths of a pixel.
    pub(super) peak_at: Option<i64>,
}

/// Steps that are closer than this, in hundredths of a pixel, are drawn as one, as high as the highest.
const FINEST: i64 = 50;

/// The curve of passes with these starts, ends and amounts above what is resident all the time; `height`
/// hundredths of a pixel represent `most`.
pub(super) fn curve(
    layout: &Layout,
    passes: impl Iterator<Item = (Ticks, Ticks, Held)>,
    resident: Units,
    height: i64,
    most: Units,
) -> Curve {
    let mut steps: Vec<(i64, Units)> = Vec::new();
    if resident > Units::ZERO {
        steps.push((0, resident));
    }
    let mut peak: Option<(Units, i64)> = None;
    let mut before = resident;
    for (start, end, held) in passes {
        for (instant, live) in [(start, held.during), (end, held.after)] {
            let at = layout.across(instant);
            if peak.is_none_or(|(highest, _)| live > highest) {
                peak = Some((live, at));
            }
            match steps.last_mut() {
                Some((last, high)) if at - *last < FINEST => *high = live.max(*high),
                _ => {
                    put_right(&mut steps, before);
                    if steps.last().is_none_or(|&(_, high)| high != live) {
                        steps.push((at, live));
                    }
                }
            }
            before = live;
        }
    }
    put_right(&mut steps, before);
    let y = |live: Units| rise(live, height, most);
    let mut path = String::new();
    let mut before = 0;
    for (position, &(at, live)) in steps.iter().enumerate() {
        let x = decimal(at);
        if position == 0 {
            write!(path, "M{x} {}", decimal(height)).expect("writing to a string cannot fail");
        } else {
            write!(path, "H{x}").expect("writing to a string cannot fail");
        }
        let to = y(live);
        if to != before {
            write!(path, "V{}", decimal(height - to)).expect("writing to a string cannot fail");
        }
        before = to;
    }
    if before > 0 {
        write!(path, "H{}V{}", decimal(layout.plot * 100), decimal(height))
            .expect("writing to a string cannot fail");
    }
    Curve { path, peak_at: peak.map(|(_, at)| at) }
}

/// Ends a step that was drawn higher than what is live after it.
fn put_right(steps: &mut Vec<(i64, Units)>, live: Units) {
    if let Some(&(at, high)) = steps.last()
        && high != live
    {
        steps.push((at + FINEST, live));
    }
}

/// The height of an amount, in hundredths of a pixel, where `height` of them represent `most`.
pub(super) fn rise(live: Units, height: i64, most: Units) -> i64 {
    let scaled = i128::from(live.0) * i128::from(height) / i128::from(most.0.max(1));
    i64::try_from(scaled).expect("no amount exceeds the most there is")
}
