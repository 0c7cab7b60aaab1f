//! Memory against time: a falling staircase with marks beside it, for the terminal and in SVG.

use std::fmt::Write as _;

use num_integer::Integer;
use num_rational::Ratio;

use super::labels::{Area, place};
use super::xml::{FONT, decimal, escape};

/// A value on each axis: memory in units, time in ticks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spot {
    /// What it is called; nothing for a point of the staircase.
    pub name: String,
    /// Peak memory.
    pub memory: i64,
    /// Interval or makespan.
    pub time: Ratio<i64>,
    /// Drawn full, or hollow.
    pub full: bool,
}

/// What the axes of a curve measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Axes {
    /// The activation peak of building blocks against their interval.
    Blocks,
    /// The peak memory of whole schedules against their makespan.
    Schedules,
}

impl Axes {
    const fn time(self) -> &'static str {
        match self {
            Self::Blocks => "interval",
            Self::Schedules => "makespan",
        }
    }

    const fn memory(self) -> &'static str {
        match self {
            Self::Blocks => "activation peak",
            Self::Schedules => "peak memory",
        }
    }

    /// What the least time is, in a word or two.
    const fn least(self) -> &'static str {
        match self {
            Self::Blocks => "(no bubble)",
            Self::Schedules => "(lower bound)",
        }
    }
}

/// Memory against time.
#[derive(Debug, Clone)]
pub struct Curve<'a> {
    /// What the picture is of.
    pub title: &'a str,
    /// What is measured.
    pub axes: Axes,
    /// The unit of the times.
    pub time_unit: &'a str,
    /// The unit of the memory.
    pub memory_unit: &'a str,
    /// The corners of the staircase, by growing memory.
    pub points: &'a [Spot],
    /// What else is marked.
    pub marks: &'a [Spot],
    /// What no time is below, in ticks: the interval without any bubble, or the lower bound without a memory limit.
    pub least: Ratio<i64>,
}

/// The least and the most of an axis; never the same.
#[derive(Debug, Clone, Copy)]
struct Axis {
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

impl Curve<'_> {
    /// Memory and time.
    fn scales(&self) -> (Axis, Axis) {
        let spots = || self.points.iter().chain(self.marks);
        let memory = Axis::over(spots().map(|spot| i128::from(spot.memory)));
        let least = hundredths(self.least);
        let time = Axis::over(spots().map(|spot| hundredths(spot.time)).chain([least]));
        (memory, time)
    }

    /// The curve in characters, `width` columns wide. Points proved optimal are `o`, others `.`, and the
    /// marks letters from `A` on, `*` past `Z`.
    #[must_use]
    pub fn terminal(&self, width: usize) -> String {
        const ROWS: i64 = 15;
        let (memory, time) = self.scales();
        let label = |value: i128| (value / 100).to_string();
        let room = label(time.most).len().max(label(time.least).len());
        let columns = i64::try_from(width.saturating_sub(room + 3).max(20)).unwrap_or(60) - 1;
        let mut cells = vec![vec![' '; usize::try_from(columns + 1).unwrap_or(1)]; 16];
        let mut put = |spot: &Spot, letter: char| {
            let row = usize::try_from(ROWS - time.place(hundredths(spot.time), ROWS)).unwrap_or(0);
            let column = usize::try_from(memory.place(spot.memory.into(), columns)).unwrap_or(0);
            cells[row][column] = letter;
        };
        for spot in self.points {
            put(spot, if spot.full { 'o' } else { '.' });
        }
        for (spot, letter) in self.marks.iter().zip(letters()) {
            put(spot, letter);
        }
        let mut out = format!("{}, {}\n", self.axes.time(), super::plural(self.time_unit));
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

    /// The curve as SVG. The same curve gives the same bytes.
    #[must_use]
    pub fn svg(&self) -> String {
        const WIDTH: i64 = 760;
        const HEIGHT: i64 = 460;
        const LEFT: i64 = 90;
        const TOP: i64 = 60;
        const RIGHT: i64 = 160;
        const BOTTOM: i64 = 50;
        let (memory, time) = self.scales();
        let (across, down) = ((WIDTH - LEFT - RIGHT) * 100, (HEIGHT - TOP - BOTTOM) * 100);
        let x = |spot: &Spot| decimal(LEFT * 100 + memory.place(spot.memory.into(), across));
        let height = |value: i128| TOP * 100 + down - time.place(value, down);
        let y = |spot: &Spot| decimal(height(hundredths(spot.time)));
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
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        for (value, note) in [(time.most, ""), (hundredths(self.least), self.axes.least())] {
            let at = height(value);
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
        for value in [memory.least, memory.most] {
            let at = decimal(LEFT * 100 + memory.place(value, across));
            line(format!("<path stroke=\"#d9d9de\" d=\"M{at} {TOP}V{bottom}\"/>"));
            line(format!("<text x=\"{at}\" y=\"{}\" text-anchor=\"middle\">{value}</text>", bottom + 18));
        }
        let unit = escape(self.memory_unit);
        let axis = self.axes.memory();
        line(format!("<text x=\"{LEFT}\" y=\"{}\">{axis}, {unit}</text>", bottom + 38));
        let mut stairs = String::new();
        for (at, spot) in self.points.iter().enumerate() {
            if at == 0 {
                write!(stairs, "M{} {TOP}V{}", x(spot), y(spot)).expect("writing to a string cannot fail");
            } else {
                write!(stairs, "H{}V{}", x(spot), y(spot)).expect("writing to a string cannot fail");
            }
        }
        if !stairs.is_empty() {
            line(format!(
                "<path fill=\"none\" stroke=\"#2145c0\" stroke-width=\"2\" d=\"{stairs}H{right}\"/>"
            ));
        }
        let hundredths_of = |spot: &Spot| {
            (LEFT * 100 + memory.place(spot.memory.into(), across), height(hundredths(spot.time)))
        };
        for spot in self.points {
            let fill = if spot.full { "#2145c0" } else { "#fff" };
            let (x, y) = (x(spot), y(spot));
            line(format!("<circle fill=\"{fill}\" stroke=\"#2145c0\" cx=\"{x}\" cy=\"{y}\" r=\"4\"/>"));
        }
        for spot in self.marks {
            line(format!("<circle fill=\"#a64f0c\" cx=\"{}\" cy=\"{}\" r=\"4\"/>", x(spot), y(spot)));
        }
        // Marks at one place share a label.
        let mut named: Vec<((i64, i64), String)> = Vec::new();
        for spot in self.marks {
            let at = hundredths_of(spot);
            match named.iter_mut().find(|(other, _)| *other == at) {
                Some((_, names)) => {
                    names.push_str(", ");
                    names.push_str(&spot.name);
                }
                None => named.push((at, spot.name.clone())),
            }
        }
        let labels: Vec<((i64, i64), &str)> = named.iter().map(|(at, name)| (*at, name.as_str())).collect();
        let bounds =
            Area { left: LEFT * 100, top: 3000, right: (WIDTH - 4) * 100, bottom: bottom * 100 - 200 };
        let points = self.points.iter().chain(self.marks).map(|spot| Area::around(hundredths_of(spot), 500));
        let least_at = height(hundredths(self.least));
        let note =
            Area { left: right * 100, top: least_at - 700, right: WIDTH * 100, bottom: least_at + 700 };
        let rises = self.points.iter().scan(None, |before: &mut Option<(i64, i64)>, spot| {
            let (x, y) = hundredths_of(spot);
            let (_, from) = before.replace((x, y)).unwrap_or((x, TOP * 100));
            Some(Area { left: x - 150, top: from.min(y), right: x + 150, bottom: from.max(y) })
        });
        let flats = self.points.iter().enumerate().map(|(at, spot)| {
            let (x, y) = hundredths_of(spot);
            let to = self.points.get(at + 1).map_or(right * 100, |next| hundredths_of(next).0);
            Area { left: x, top: y - 150, right: to, bottom: y + 150 }
        });
        let taken: Vec<Area> = points.chain(rises).chain(flats).chain([note]).collect();
        for ((&(at, name), place), (x, y)) in
            labels.iter().zip(place(&labels, 12, bounds, taken)).zip(labels.iter().map(|&(at, _)| at))
        {
            if place.is_far {
                let (x, y) = (decimal(x), decimal(y));
                let end = (decimal(place.x.clamp(at.0 - 700, at.0 + 700)), decimal(place.y - 400));
                line(format!(
                    "<path stroke=\"#a64f0c\" stroke-width=\".6\" d=\"M{x} {y}L{} {}\"/>",
                    end.0, end.1
                ));
            }
            let (x, y) = (decimal(place.x), decimal(place.y));
            line(format!("<text x=\"{x}\" y=\"{y}\">{}</text>", escape(name)));
        }
        line("</svg>".to_owned());
        out
    }
}

/// The letters of the marks.
pub fn letters() -> impl Iterator<Item = char> {
    ('A'..='Z').chain(std::iter::repeat('*'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_lie_where_their_values_are() {
        let spot = |name: &str, memory, time| Spot {
            name: name.to_owned(),
            memory,
            time: Ratio::from_integer(time),
            full: true,
        };
        let points = [spot("", 2, 40), spot("", 3, 20), spot("", 6, 10)];
        let marks = [spot("a<b", 4, 25)];
        let curve = Curve {
            title: "x & y",
            axes: Axes::Blocks,
            time_unit: "ms",
            memory_unit: "GiB",
            points: &points,
            marks: &marks,
            least: Ratio::from_integer(10),
        };
        insta::assert_snapshot!(curve.terminal(50));
        let svg = curve.svg();
        assert!(svg.contains("x &amp; y") && svg.contains("a&lt;b"));
        assert_eq!(svg.matches("<circle").count(), 4);
        assert!(svg.contains("d=\"M90 60V60H217.5V293.33H600V410H600\""), "{svg}");
    }
}
