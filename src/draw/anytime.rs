//! A search as time goes by: the best value found and the lower bound, which come closer.

use std::fmt::Write as _;

use num_rational::Ratio;

use super::curve::frame::{Frame, RIGHT_END};
use super::curve::{Axes, Spot};
use super::xml::{decimal, escape};
use crate::amounts;
use crate::model::Ticks;

/// A value that was reached some time after the beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reached {
    /// When, in milliseconds.
    pub milliseconds: i64,
    /// The value, in ticks.
    pub value: Ticks,
}

/// The height of a line of text, in hundredths of a pixel.
const LINE: i64 = 1400;

/// What a search had found at each time.
#[derive(Debug, Clone)]
pub struct Anytime<'a> {
    /// What the picture is of.
    pub title: &'a str,
    /// What is minimised.
    pub axes: Axes,
    /// The unit of the values.
    pub time_unit: &'a str,
    /// The best value, falling.
    pub best: &'a [Reached],
    /// The lower bound, rising.
    pub bounds: &'a [Reached],
}

impl Anytime<'_> {
    /// The two staircases as SVG. The same ones give the same bytes.
    #[must_use]
    pub fn svg(&self) -> String {
        let spots = |reached: &[Reached]| -> Vec<Spot> { reached.iter().map(spot).collect() };
        let (best, bounds) = (spots(self.best), spots(self.bounds));
        let least = bounds.last().map_or(Ratio::from_integer(0), |last| last.time);
        let units = [self.time_unit, "ms"];
        let frame = Frame::around(self.title, self.axes, units, least, best.iter().chain(&bounds));
        let mut out = frame.svg();
        for (colour, stairs) in [("#2145c0", &best), ("#a64f0c", &bounds)] {
            let mut path = String::new();
            for (at, spot) in stairs.iter().enumerate() {
                let (x, y) = frame.at(spot);
                let (x, y) = (decimal(x), decimal(y));
                let piece = if at == 0 { format!("M{x} {y}") } else { format!("H{x}V{y}") };
                path.push_str(&piece);
            }
            if !path.is_empty() {
                writeln!(
                    out,
                    "<path fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\" d=\"{path}H{RIGHT_END}\"/>"
                )
                .expect("writing to a string cannot fail");
            }
        }
        // Where both have met, the label of the bound says so.
        if let (Some(last), Some(reached)) = (best.last(), self.best.last())
            && (frame.at(last).1 - frame.least_at()).abs() >= LINE
        {
            let (x, y) = (RIGHT_END + 6, decimal(frame.at(last).1 + 400));
            let time = escape(&amounts::time(reached.value.0, self.time_unit));
            writeln!(out, "<text x=\"{x}\" y=\"{y}\">best {time}</text>")
                .expect("writing to a string cannot fail");
        }
        out.push_str("</svg>\n");
        out
    }
}

fn spot(reached: &Reached) -> Spot {
    Spot {
        name: String::new(),
        memory: reached.milliseconds,
        time: Ratio::from_integer(reached.value.0),
        full: true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_falls_and_the_bound_rises_until_the_right_end() {
        let reached = |milliseconds, value| Reached { milliseconds, value: Ticks(value) };
        let anytime = Anytime {
            title: "a search",
            axes: Axes::Makespan,
            time_unit: "tick",
            best: &[reached(2, 120), reached(50, 110), reached(900, 104)],
            bounds: &[reached(1, 90), reached(400, 100)],
        };
        insta::assert_snapshot!(anytime.svg());
    }
}
