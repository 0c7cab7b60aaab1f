//! Several staircases of memory against time in one picture, with a legend.

use std::fmt::Write as _;

use num_rational::Ratio;

use super::curve::frame::{Frame, RIGHT_END, TOP, hollow};
use super::curve::{Axes, Spot, letters};
use super::xml::{decimal, escape};

/// One of several staircases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Series {
    /// What the legend calls it.
    pub name: String,
    /// Its corners, by growing memory.
    pub points: Vec<Spot>,
}

/// Memory against time, several times.
#[derive(Debug, Clone)]
pub struct Curves<'a> {
    /// What the picture is of.
    pub title: &'a str,
    /// What is measured.
    pub axes: Axes,
    /// The unit of the times.
    pub time_unit: &'a str,
    /// The unit of the memory.
    pub memory_unit: &'a str,
    /// The staircases.
    pub series: &'a [Series],
    /// What no time of any of them is below, in ticks.
    pub least: Ratio<i64>,
}

/// The colours of the staircases; where these are used up, they begin again with dashes.
const COLOURS: [&str; 5] = ["#2145c0", "#a64f0c", "#1c8a56", "#7a2276", "#3f4044"];
const DASHES: [&str; 3] = ["", " stroke-dasharray=\"6 3\"", " stroke-dasharray=\"2 2\""];

impl Curves<'_> {
    fn frame(&self) -> Frame<'_> {
        let units = [self.time_unit, self.memory_unit];
        let spots = self.series.iter().flat_map(|series| &series.points);
        Frame::around(self.title, self.axes, units, self.least, spots)
    }

    /// The curves in characters, `width` columns wide, and a legend. Each has a letter, `*` past `Z`: a capital one for
    /// points proved optimal, a small one for others.
    #[must_use]
    pub fn terminal(&self, width: usize) -> String {
        let spots = self.series.iter().zip(letters()).flat_map(|(series, letter)| {
            let of = move |spot: &Spot| if spot.full { letter } else { letter.to_ascii_lowercase() };
            series.points.iter().map(move |spot| (spot, of(spot)))
        });
        let mut out = self.frame().terminal(width, spots);
        out.push('\n');
        for (series, letter) in self.series.iter().zip(letters()) {
            writeln!(out, "{letter}  {}", series.name).expect("writing to a string cannot fail");
        }
        out
    }

    /// The curves as SVG, with a legend at the right. The same curves give the same bytes.
    #[must_use]
    pub fn svg(&self) -> String {
        let frame = self.frame();
        let mut out = frame.svg();
        out.push_str(&hollow(self.series.iter().flat_map(|series| &series.points)));
        let mut line = |text: String| {
            out.push_str(&text);
            out.push('\n');
        };
        // Down to above the label of the least time.
        let room = (frame.least_at() - TOP * 100 - 1200).max(0);
        let step = 1800.min(room / i64::try_from(self.series.len().max(1)).unwrap_or(i64::MAX));
        for ((at, series), row) in self.series.iter().enumerate().zip(0..) {
            let colour = COLOURS[at % COLOURS.len()];
            let dashes = DASHES[at / COLOURS.len() % DASHES.len()];
            let stroke = format!("fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"{dashes}");
            let stairs = frame.stairs(&series.points);
            if !stairs.is_empty() {
                line(format!("<path {stroke} d=\"{stairs}\"/>"));
            }
            for spot in &series.points {
                let fill = if spot.full { colour } else { "#fff" };
                let (x, y) = frame.at(spot);
                let (x, y) = (decimal(x), decimal(y));
                line(format!("<circle fill=\"{fill}\" stroke=\"{colour}\" cx=\"{x}\" cy=\"{y}\" r=\"4\"/>"));
            }
            let y = TOP * 100 + 600 + step * row;
            let (from, to, text) = (RIGHT_END + 8, RIGHT_END + 28, RIGHT_END + 33);
            line(format!("<path {stroke} d=\"M{from} {}H{to}\"/>", decimal(y)));
            line(format!("<text x=\"{text}\" y=\"{}\">{}</text>", decimal(y + 400), escape(&series.name)));
        }
        line("</svg>".to_owned());
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_series_has_its_letter_its_colour_and_a_line_of_the_legend() {
        let spot = |memory, time, full| Spot { name: String::new(), memory, time: Ratio::new(time, 2), full };
        let series = [
            Series { name: "m < 9".to_owned(), points: vec![spot(2, 80, true), spot(6, 45, false)] },
            Series { name: "m = 16".to_owned(), points: vec![spot(2, 70, true), spot(4, 40, true)] },
        ];
        let curves = Curves {
            title: "x & y",
            axes: Axes::SchedulesPerMicrobatch,
            time_unit: "ms",
            memory_unit: "GiB",
            series: &series,
            least: Ratio::from_integer(10),
        };
        insta::assert_snapshot!(curves.terminal(50));
        let svg = curves.svg();
        assert!(
            svg.contains("x &amp; y") && svg.contains(">m &lt; 9</text>") && svg.contains(">lower bound ")
        );
        for (colour, circles) in [("#2145c0", 2), ("#a64f0c", 2)] {
            assert_eq!(svg.matches(&format!("<path fill=\"none\" stroke=\"{colour}\"")).count(), 2, "{svg}");
            assert_eq!(svg.matches(&format!("stroke=\"{colour}\" cx=")).count(), circles);
        }
        // Memory from 1 to 7 on 510 pixels, times from 8.5 to 41.5 on 350.
        assert!(svg.contains("d=\"M175 60V75.91H515V261.52H600\""), "{svg}");
        assert!(svg.contains("d=\"M175 60V128.94H345V288.03H600\""), "{svg}");
    }

    #[test]
    fn many_series_keep_apart_and_inside() {
        let of = |at: i64| Series {
            name: format!("m = {at}"),
            points: vec![Spot {
                name: String::new(),
                memory: at,
                time: Ratio::from_integer(40 - at),
                full: true,
            }],
        };
        let series: Vec<Series> = (1..40).map(of).collect();
        let curves = Curves {
            title: "many",
            axes: Axes::Blocks,
            time_unit: "ms",
            memory_unit: "GiB",
            series: &series,
            least: Ratio::from_integer(1),
        };
        let svg = curves.svg();
        let rows: Vec<&str> = svg.lines().filter(|line| line.contains(">m = ")).collect();
        assert_eq!(rows.len(), 39);
        let height = |row: &str| -> f64 {
            let y = row.split("y=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a place");
            y.parse().expect("a number")
        };
        let heights: Vec<f64> = rows.iter().map(|row| height(row)).collect();
        assert!(heights.windows(2).all(|two| two[0] < two[1]) && heights[38] < 410.0, "{heights:?}");
        assert!(curves.terminal(60).lines().count() == 21 + 39, "{}", curves.terminal(60));
    }
}
