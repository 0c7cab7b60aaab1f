//! What pictures of memory against time have in common: axes, their labels, and places along them.

use std::fmt::Write as _;

use num_rational::Ratio;

use super::axis::{Axis, Measure};
use super::{Axes, Spot};
use crate::amounts::{self, plural};
use crate::draw::marks;
use crate::draw::xml::{FONT, decimal, escape, width_of};

/// Whole ticks, in hundredths.
fn hundredths(time: Ratio<i64>) -> i128 {
    i128::from(*time.numer()) * 100 / i128::from(*time.denom())
}

/// The width of a drawing, in pixels.
pub(in crate::draw) const WIDTH: i64 = 760;
const HEIGHT: i64 = 460;
/// What is left free on each side of the curves, in pixels.
pub(in crate::draw) const LEFT: i64 = 90;
pub(in crate::draw) const TOP: i64 = 60;
pub(in crate::draw) const RIGHT: i64 = 160;
const BOTTOM: i64 = 50;
/// The rightmost and the lowest place of a curve.
pub(in crate::draw) const RIGHT_END: i64 = WIDTH - RIGHT;
pub(in crate::draw) const LOW_END: i64 = HEIGHT - BOTTOM;

/// The axes of a picture.
#[derive(Debug, Clone, Copy)]
pub(in crate::draw) struct Frame<'a> {
    title: &'a str,
    axes: Axes,
    time_unit: &'a str,
    memory_unit: &'a str,
    least: i128,
    memory: Axis<'a>,
    time: Axis<'a>,
}

impl<'a> Frame<'a> {
    /// Axes around these spots and the least time.
    pub(in crate::draw) fn around<'s>(
        title: &'a str,
        axes: Axes,
        [time_unit, memory_unit]: [&'a str; 2],
        least: Ratio<i64>,
        spots: impl Iterator<Item = &'s Spot> + Clone,
    ) -> Self {
        let least = hundredths(least);
        let memory =
            Axis::over(Measure::Memory(memory_unit), spots.clone().map(|spot| i128::from(spot.memory)));
        let time =
            Axis::over(Measure::Time(time_unit), spots.map(|spot| hundredths(spot.time)).chain([least]));
        Self { title, axes, time_unit, memory_unit, least, memory, time }
    }

    /// The picture in characters, `width` columns wide, with a letter for each spot; the last one at a place is seen.
    pub(in crate::draw) fn terminal<'s>(
        &self,
        width: usize,
        spots: impl Iterator<Item = (&'s Spot, char)>,
    ) -> String {
        const ROWS: i64 = 15;
        let (memory, time) = (self.memory, self.time);
        let is_time = self.is_time();
        let label = |value: i128| match i64::try_from(value / 100) {
            Ok(ticks) if is_time => amounts::time(ticks, self.time_unit),
            _ => (value / 100).to_string(),
        };
        let room = label(time.most).len().max(label(time.least).len());
        let columns = i64::try_from(width.saturating_sub(room + 3).max(20)).unwrap_or(60) - 1;
        let mut cells = vec![vec![' '; usize::try_from(columns + 1).unwrap_or(1)]; 16];
        for (spot, letter) in spots {
            let row = usize::try_from(ROWS - time.cell(hundredths(spot.time), ROWS)).unwrap_or(0);
            let column = usize::try_from(memory.cell(spot.memory.into(), columns)).unwrap_or(0);
            cells[row][column] = letter;
        }
        let unit = if is_time { String::new() } else { format!(", {}", plural(self.time_unit)) };
        let mut out = format!("{}{unit}\n", self.axes.time());
        for (row, cells) in cells.iter().enumerate() {
            let label = match row {
                0 => label(time.most),
                15 => label(time.least),
                _ => String::new(),
            };
            let line: String = cells.iter().collect();
            writeln!(out, "{label:>room$} |{}", line.trim_end()).expect("writing to a string cannot fail");
        }
        let amount = |value| amounts::amount(i64::try_from(value).unwrap_or(i64::MAX), self.memory_unit);
        let (least, most) = (amount(memory.least), amount(memory.most));
        let dashes = "-".repeat(usize::try_from(columns + 1).unwrap_or(1));
        let gap = dashes.len().saturating_sub(least.len() + most.len());
        writeln!(out, "{:>room$} +{dashes}", "").expect("writing to a string cannot fail");
        writeln!(out, "{:>room$}  {least}{}{most}", "", " ".repeat(gap))
            .expect("writing to a string cannot fail");
        writeln!(out, "{:>room$}  {}", "", self.memory_title()).expect("writing to a string cannot fail");
        out
    }

    /// Where a spot lies in a drawing, in hundredths of a pixel.
    pub(in crate::draw) fn at(&self, spot: &Spot) -> (i64, i64) {
        (self.across(spot.memory.into()), self.height(hundredths(spot.time)))
    }

    /// Where the least time lies.
    pub(in crate::draw) fn least_at(&self) -> i64 {
        self.height(self.least)
    }

    fn across(&self, memory: i128) -> i64 {
        LEFT * 100 + self.memory.place(memory, (RIGHT_END - LEFT) * 100)
    }

    fn height(&self, time: i128) -> i64 {
        let down = (LOW_END - TOP) * 100;
        TOP * 100 + down - self.time.place(time, down)
    }

    /// The beginning of a drawing: title, axes and labels, on lines of their own.
    pub(in crate::draw) fn svg(&self) -> String {
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{HEIGHT}\" \
             viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" font-family=\"{FONT}\" font-size=\"12\" \
             fill=\"#1c1c1f\">\n<title>{title}</title>\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
             <text font-size=\"15\" font-weight=\"bold\" x=\"8\" y=\"22\">{title}</text>\n",
            title = escape(self.title)
        );
        let mut line = |text: String| {
            out.push_str(&text);
            out.push('\n');
        };
        let (right, bottom) = (RIGHT_END, LOW_END);
        let (mut grid, mut labels) = (String::new(), String::new());
        // Labels of logarithmic axes may have no room beside each other.
        let mut taken = i64::MAX;
        for (value, label) in self.time.marks() {
            let at = self.height(value);
            write!(grid, "M{LEFT} {}H{right}", decimal(at)).expect("writing to a string cannot fail");
            if taken - at >= 1400 {
                taken = at;
                let (x, y) = (LEFT - 6, decimal(at + 400));
                writeln!(labels, "<text text-anchor=\"end\" x=\"{x}\" y=\"{y}\">{}</text>", escape(&label))
                    .expect("writing to a string cannot fail");
            }
        }
        let mut taken = i64::MIN;
        for (value, label) in self.memory.marks() {
            let at = self.across(value);
            write!(grid, "M{} {TOP}V{bottom}", decimal(at)).expect("writing to a string cannot fail");
            let half = width_of(&label, 12) / 2 + 400;
            if at - half >= taken {
                taken = at + half;
                let (x, y) = (decimal(at), bottom + 18);
                writeln!(
                    labels,
                    "<text x=\"{x}\" y=\"{y}\" text-anchor=\"middle\">{}</text>",
                    escape(&label)
                )
                .expect("writing to a string cannot fail");
            }
        }
        line(format!("<path stroke=\"#d9d9de\" fill=\"none\" d=\"{grid}\"/>"));
        line(format!("<path stroke=\"#5c6070\" fill=\"none\" d=\"M{LEFT} {TOP}V{bottom}H{right}\"/>"));
        out.push_str(&labels);
        let mut line = |text: String| {
            out.push_str(&text);
            out.push('\n');
        };
        let (at, base) = (decimal(self.least_at()), decimal(self.least_at() + 400));
        line(format!("<path stroke=\"#5c6070\" stroke-dasharray=\"4 3\" d=\"M{LEFT} {at}H{right}\"/>"));
        line(format!("<text x=\"{}\" y=\"{base}\">{}</text>", right + 6, escape(&self.least_label())));
        let log = |axis: Axis<'_>| if axis.is_logarithmic { " (logarithmic)" } else { "" };
        let time = if self.is_time() { "" } else { self.time_unit };
        let time = if time.is_empty() { String::new() } else { format!(", {}", plural(time)) };
        line(format!(
            "<text x=\"8\" y=\"{}\">{}{}{}</text>",
            TOP - 14,
            self.axes.time(),
            escape(&time),
            log(self.time)
        ));
        line(format!(
            "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}{}</text>",
            i64::midpoint(LEFT, right),
            bottom + 38,
            escape(&self.memory_title()),
            log(self.memory)
        ));
        out
    }

    /// Whether ticks have a length, so that labels say their unit.
    fn is_time(&self) -> bool {
        marks::unit_sizes(self.time_unit, false) != [("", 1)]
    }

    /// What the axis of memory measures, with the unit where labels do not say it.
    fn memory_title(&self) -> String {
        if marks::is_of_bytes(self.memory_unit) {
            self.axes.memory().to_owned()
        } else {
            format!("{}, {}", self.axes.memory(), self.memory_unit)
        }
    }

    /// What the least time is, and how much.
    fn least_label(&self) -> String {
        let ticks = i64::try_from(self.least / 100).unwrap_or(i64::MAX);
        let is_whole = self.least % 100 == 0;
        let time = if is_whole || self.is_time() {
            amounts::time(ticks, self.time_unit)
        } else {
            let hundredths = i64::try_from(self.least).unwrap_or(i64::MAX);
            format!("{} {}", decimal(hundredths), plural(self.time_unit))
        };
        format!("{} {time}", self.axes.least())
    }

    /// The path of a staircase through these points, from the top to the right; nothing without points.
    pub(in crate::draw) fn stairs(&self, points: &[Spot]) -> String {
        let mut stairs = String::new();
        for (at, spot) in points.iter().enumerate() {
            let (x, y) = self.at(spot);
            let (x, y) = (decimal(x), decimal(y));
            if at == 0 {
                write!(stairs, "M{x} {TOP}V{y}").expect("writing to a string cannot fail");
            } else {
                write!(stairs, "H{x}V{y}").expect("writing to a string cannot fail");
            }
        }
        if !stairs.is_empty() {
            write!(stairs, "H{RIGHT_END}").expect("writing to a string cannot fail");
        }
        stairs
    }
}

/// What hollow points mean, where there are any.
pub(in crate::draw) fn hollow<'s>(mut spots: impl Iterator<Item = &'s Spot>) -> String {
    if spots.all(|spot| spot.full) {
        return String::new();
    }
    let (x, y) = (RIGHT_END + 6, LOW_END + 18);
    format!("<text x=\"{x}\" y=\"{y}\">hollow: not proved optimal</text>\n")
}
