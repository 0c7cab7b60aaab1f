//! What pictures of memory against time have in common: axes, their labels, and places along them.

use std::fmt::Write as _;

use num_integer::Integer;
use num_rational::Ratio;

use super::{Axes, Spot};
use crate::draw::plural;
use crate::draw::xml::{FONT, decimal, escape};

/// The least and the most of an axis; never the same.
#[derive(Debug, Clone, Copy)]
pub(in crate::draw) struct Axis {
    least: i128,
    most: i128,
}

impl Axis {
    fn over(values: impl Iterator<Item = i128> + Clone) -> Self {
        let (least, most) = (values.clone().min().unwrap_or(0), values.max().unwrap_or(1));
        Self { least, most: most.max(least + 1) }
    }

    /// The nearest of this many places to a value.
    fn place(self, value: i128, places: i64) -> i64 {
        let twice = 2 * (value - self.least) * i128::from(places) + (self.most - self.least);
        i64::try_from(Integer::div_floor(&twice, &(2 * (self.most - self.least)))).unwrap_or(0)
    }
}

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
    memory: Axis,
    time: Axis,
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
        let memory = Axis::over(spots.clone().map(|spot| i128::from(spot.memory)));
        let time = Axis::over(spots.map(|spot| hundredths(spot.time)).chain([least]));
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
        let label = |value: i128| (value / 100).to_string();
        let room = label(time.most).len().max(label(time.least).len());
        let columns = i64::try_from(width.saturating_sub(room + 3).max(20)).unwrap_or(60) - 1;
        let mut cells = vec![vec![' '; usize::try_from(columns + 1).unwrap_or(1)]; 16];
        for (spot, letter) in spots {
            let row = usize::try_from(ROWS - time.place(hundredths(spot.time), ROWS)).unwrap_or(0);
            let column = usize::try_from(memory.place(spot.memory.into(), columns)).unwrap_or(0);
            cells[row][column] = letter;
        }
        let mut out = format!("{}, {}\n", self.axes.time(), plural(self.time_unit));
        for (row, cells) in cells.iter().enumerate() {
            let label = match row {
                0 => label(time.most),
                15 => label(time.least),
                _ => String::new(),
            };
            let line: String = cells.iter().collect();
            writeln!(out, "{label:>room$} |{}", line.trim_end()).expect("writing to a string cannot fail");
        }
        let (least, most) = (memory.least.to_string(), memory.most.to_string());
        let dashes = "-".repeat(usize::try_from(columns + 1).unwrap_or(1));
        let gap = dashes.len().saturating_sub(least.len() + most.len());
        writeln!(out, "{:>room$} +{dashes}", "").expect("writing to a string cannot fail");
        writeln!(out, "{:>room$}  {least}{}{most}", "", " ".repeat(gap))
            .expect("writing to a string cannot fail");
        writeln!(out, "{:>room$}  {}, {}", "", self.axes.memory(), self.memory_unit)
            .expect("writing to a string cannot fail");
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
        for (value, note) in [(self.time.most, ""), (self.least, self.axes.least())] {
            let at = self.height(value);
            let (at, base) = (decimal(at), decimal(at + 400));
            line(format!("<path stroke=\"#d9d9de\" d=\"M{LEFT} {at}H{right}\"/>"));
            line(format!("<text text-anchor=\"end\" x=\"{}\" y=\"{base}\">{}</text>", LEFT - 6, value / 100));
            if !note.is_empty() {
                line(format!("<text x=\"{}\" y=\"{base}\">{}</text>", right + 6, note));
            }
        }
        line(format!(
            "<text text-anchor=\"end\" x=\"{}\" y=\"44\">{}</text>",
            LEFT - 6,
            escape(self.time_unit)
        ));
        for value in [self.memory.least, self.memory.most] {
            let at = decimal(self.across(value));
            line(format!("<path stroke=\"#d9d9de\" d=\"M{at} {TOP}V{bottom}\"/>"));
            line(format!("<text x=\"{at}\" y=\"{}\" text-anchor=\"middle\">{value}</text>", bottom + 18));
        }
        let unit = escape(self.memory_unit);
        let axis = self.axes.memory();
        line(format!("<text x=\"{LEFT}\" y=\"{}\">{axis}, {unit}</text>", bottom + 38));
        out
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
