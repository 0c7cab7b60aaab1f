//! Memory against time: a falling staircase with marks beside it, for the terminal and in SVG.

mod axis;
pub(super) mod frame;

use num_rational::Ratio;

use super::labels::{Area, place};
use super::xml::{decimal, escape};
use frame::{Frame, LEFT, LOW_END, RIGHT_END, TOP, WIDTH, hollow};

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
    /// The peak memory of whole schedules against their makespan by the microbatch, for several numbers of microbatches.
    SchedulesPerMicrobatch,
    /// How long a search has taken against the makespan that it has found.
    Makespan,
    /// The same with the device span.
    DeviceSpan,
}

impl Axes {
    const fn time(self) -> &'static str {
        match self {
            Self::Blocks => "interval",
            Self::Schedules | Self::Makespan => "makespan",
            Self::DeviceSpan => "device span",
            Self::SchedulesPerMicrobatch => "makespan per microbatch",
        }
    }

    const fn memory(self) -> &'static str {
        match self {
            Self::Blocks => "activation peak",
            Self::Schedules | Self::SchedulesPerMicrobatch => "peak memory",
            Self::Makespan | Self::DeviceSpan => "time of the search",
        }
    }

    /// What the least time is, in a word or two.
    const fn least(self) -> &'static str {
        match self {
            Self::Blocks => "no bubble",
            Self::Schedules | Self::SchedulesPerMicrobatch | Self::Makespan | Self::DeviceSpan => {
                "lower bound"
            }
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

impl Curve<'_> {
    fn spots(&self) -> impl Iterator<Item = &Spot> + Clone {
        self.points.iter().chain(self.marks)
    }

    fn frame(&self) -> Frame<'_> {
        let units = [self.time_unit, self.memory_unit];
        Frame::around(self.title, self.axes, units, self.least, self.spots())
    }

    /// The curve in characters, `width` columns wide. Points proved optimal are `o`, others `.`, and the
    /// marks letters from `A` on, `*` past `Z`.
    #[must_use]
    pub fn terminal(&self, width: usize) -> String {
        let points = self.points.iter().map(|spot| (spot, if spot.full { 'o' } else { '.' }));
        self.frame().terminal(width, points.chain(self.marks.iter().zip(letters())))
    }

    /// The curve as SVG. The same curve gives the same bytes.
    #[must_use]
    pub fn svg(&self) -> String {
        let frame = self.frame();
        let mut out = frame.svg();
        out.push_str(&hollow(self.points.iter()));
        let mut line = |text: String| {
            out.push_str(&text);
            out.push('\n');
        };
        let x = |spot: &Spot| decimal(frame.at(spot).0);
        let y = |spot: &Spot| decimal(frame.at(spot).1);
        let stairs = frame.stairs(self.points);
        if !stairs.is_empty() {
            line(format!("<path fill=\"none\" stroke=\"#2145c0\" stroke-width=\"2\" d=\"{stairs}\"/>"));
        }
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
            let at = frame.at(spot);
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
            Area { left: LEFT * 100, top: 3000, right: (WIDTH - 4) * 100, bottom: LOW_END * 100 - 200 };
        let points = self.points.iter().chain(self.marks).map(|spot| Area::around(frame.at(spot), 500));
        let least_at = frame.least_at();
        let note =
            Area { left: RIGHT_END * 100, top: least_at - 700, right: WIDTH * 100, bottom: least_at + 700 };
        let rises = self.points.iter().scan(None, |before: &mut Option<(i64, i64)>, spot| {
            let (x, y) = frame.at(spot);
            let (_, from) = before.replace((x, y)).unwrap_or((x, TOP * 100));
            Some(Area { left: x - 150, top: from.min(y), right: x + 150, bottom: from.max(y) })
        });
        let flats = self.points.iter().enumerate().map(|(at, spot)| {
            let (x, y) = frame.at(spot);
            let to = self.points.get(at + 1).map_or(RIGHT_END * 100, |next| frame.at(next).0);
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
        assert!(svg.contains("d=\"M175 60V75.91H260V288.03H515V394.09H600\""), "{svg}");
    }
}
