//! The strip of what a device holds: a curve, the peak, the capacity and a round amount of the axis.

use std::fmt::Write as _;

use super::canvas::{CAPACITY, CURVE, CURVE_EDGE, Canvas, GRID};
use super::layout::{memory_mark, most_memory};
use super::measures::{EDGE, TINY};
use super::time::{Timeline, Visible};
use crate::draw::xml::{decimal, escape};
use crate::model::{Device, Ticks, Units};
use crate::replay::Held;

/// The curve of a device as paths, one for each piece of the time, and its highest point.
struct Curve {
    /// The paths, open at both ends, from and to the ground line.
    path: String,
    /// Where the peak is first reached in what is shown, from the left of the timeline, in hundredths of a pixel.
    peak_at: Option<i64>,
}

/// Steps that are closer than this, in hundredths of a pixel, are drawn as one, as high as the highest.
const FINEST: i64 = 50;

impl Canvas<'_> {
    /// The strip of a device at a distance from the top of its passes, with a height.
    pub(super) fn memory(&mut self, device: Device, memory: &[Held], at: i64, height: i64) {
        let picture = self.picture;
        let most = most_memory(picture);
        let passes = picture.passes(device).zip(memory);
        let mut changes: Vec<(Ticks, Units)> = Vec::new();
        for (span, held) in passes {
            changes.extend([(span.start, held.during), (span.end, held.after)]);
        }
        let peak = picture.peak_memory[device.index()];
        let curve = curve(&self.layout.time, &changes, picture.model.resident(device), (height, most), peak);
        self.line(&format!("<g transform=\"translate(0 {})\">", decimal(at)));
        let ground = decimal(height);
        let ends: Vec<Visible> = self.layout.time.visible(Ticks::ZERO, picture.makespan()).collect();
        let level = |y: &str| -> String {
            let lines = ends.iter().map(|end| format!("M{} {y}H{}", decimal(end.from), decimal(end.to)));
            lines.collect::<Vec<_>>().concat()
        };
        self.line(&format!("<path d=\"{}\" stroke=\"{GRID}\"/>", level(&ground)));
        if !curve.path.is_empty() {
            self.line(&format!(
                "<path d=\"{}\" fill=\"{CURVE}\" stroke=\"{CURVE_EDGE}\" stroke-width=\".8\"/>",
                curve.path
            ));
        }
        // A label needs some height, and must not cover the name of the device above it.
        if let Some(mark) = memory_mark(picture).filter(|_| height >= 1200) {
            let rise = rise(Units(mark.value), height, most);
            let y = decimal(height - rise);
            self.line(&format!("<path d=\"{}\" stroke=\"{CURVE_EDGE}\" stroke-width=\".4\"/>", level(&y)));
            let y = decimal(height - rise + TINY * 36);
            self.line(&format!(
                "<text x=\"-{EDGE}\" y=\"{y}\" font-size=\"{TINY}\" fill=\"{CURVE_EDGE}\" text-anchor=\"end\">{}</text>",
                escape(&mark.label)
            ));
        }
        if let Some(capacity) = picture.capacity(device) {
            let y = decimal(height - rise(capacity, height, most));
            self.line(&format!(
                "<path d=\"{}\" stroke=\"{CAPACITY}\" stroke-width=\"1.2\" stroke-dasharray=\"4 2\"/>",
                level(&y)
            ));
        }
        if let Some(x) = curve.peak_at.filter(|_| peak > Units::ZERO) {
            let x = decimal(self.layout.left * 100 + x);
            let y = decimal(self.layout.top_of(device) + at + height - rise(peak, height, most));
            let fill = self.excess(device);
            writeln!(self.peaks, "<circle cx=\"{x}\" cy=\"{y}\" r=\"2.5\"{fill}/>")
                .expect("writing to a string cannot fail");
        }
        self.line("</g>");
    }
}

/// The curve of changes to these amounts above what is resident all the time; `height` hundredths of a pixel represent
/// `most`.
fn curve(
    time: &Timeline,
    changes: &[(Ticks, Units)],
    resident: Units,
    (height, most): (i64, Units),
    peak: Units,
) -> Curve {
    let mut path = String::new();
    for (at, piece) in time.pieces().iter().enumerate() {
        // Passes of a pair overlap, so that what changes is not quite in the order of time.
        let before = changes.iter().rfind(|&&(instant, _)| instant < piece.from);
        let before = before.map_or(resident, |&(_, live)| live);
        let mut steps: Vec<(i64, Units)> = Vec::new();
        if before > Units::ZERO {
            steps.push((time.place(at, piece.from), before));
        }
        let seen = changes.iter().filter(|(instant, _)| (piece.from..=piece.to).contains(instant));
        steps_of(&mut steps, before, seen.map(|&(instant, live)| (time.place(at, instant), live)));
        outline(&mut path, &steps, time.place(at, piece.to), height, most);
    }
    let seen = changes.iter().filter(|&&(_, live)| live == peak).find_map(|&(instant, _)| time.at(instant));
    Curve { path, peak_at: seen }
}

/// Adds the steps of a curve at these places, those that are too close to be told apart drawn as one.
fn steps_of(steps: &mut Vec<(i64, Units)>, mut before: Units, changes: impl Iterator<Item = (i64, Units)>) {
    for (at, live) in changes {
        match steps.last_mut() {
            Some((last, high)) if at - *last < FINEST => *high = live.max(*high),
            _ => {
                put_right(steps, before);
                if steps.last().is_none_or(|&(_, high)| high != live) {
                    steps.push((at, live));
                }
            }
        }
        before = live;
    }
    put_right(steps, before);
}

/// Ends a step that was drawn higher than what is live after it.
fn put_right(steps: &mut Vec<(i64, Units)>, live: Units) {
    if let Some(&(at, high)) = steps.last()
        && high != live
    {
        steps.push((at + FINEST, live));
    }
}

/// Adds steps to a path, from the ground line and at the end of a piece back to it.
fn outline(path: &mut String, steps: &[(i64, Units)], end: i64, height: i64, most: Units) {
    let mut before = 0;
    for (position, &(at, live)) in steps.iter().enumerate() {
        let x = decimal(at.min(end));
        if position == 0 {
            write!(path, "M{x} {}", decimal(height)).expect("writing to a string cannot fail");
        } else {
            write!(path, "H{x}").expect("writing to a string cannot fail");
        }
        let to = rise(live, height, most);
        if to != before {
            write!(path, "V{}", decimal(height - to)).expect("writing to a string cannot fail");
        }
        before = to;
    }
    if before > 0 {
        write!(path, "H{}V{}", decimal(end), decimal(height)).expect("writing to a string cannot fail");
    }
}

/// The height of an amount, in hundredths of a pixel, where `height` of them represent `most`.
fn rise(live: Units, height: i64, most: Units) -> i64 {
    let scaled = i128::from(live.0) * i128::from(height) / i128::from(most.0.max(1));
    i64::try_from(scaled).expect("no amount exceeds the most there is")
}
