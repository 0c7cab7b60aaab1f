//! The two panels.

use std::fmt::Write as _;

use super::axes::{ErrorAxis, Mark, TimeAxis};
use super::{Group, Row, Scatter};
use crate::draw::colour::{Colour, Ground};
use crate::draw::xml::{FONT, decimal, escape, width_of};
use crate::model::Kind;
use crate::replay::Rate;

const WIDTH: i64 = 760;
const EDGE: i64 = 8;
/// The size of text, and from a line of it to the next.
const TEXT: i64 = 11;
const LINE: i64 = 16;
const INK: &str = "#1c1c1f";
const FAINT: &str = "#5c6070";
const GRID: &str = "#d9d9de";
/// The square of predicted against measured.
const LEFT: i64 = 70;
const TOP: i64 = 58;
const SIDE: i64 = 260;
/// Where the kinds are listed.
const LEGEND: i64 = LEFT + SIDE + 40;
/// The most that the names of rows get.
const NAMES: i64 = 260;
/// From one row of errors to the next, and above the first one of a group.
const PITCH: i64 = 15;
const BEFORE: i64 = 6;
/// What is left of the label of an axis at its end.
const OVERHANG: i64 = 22;

/// A picture while it is drawn.
pub(super) struct Drawing<'a> {
    scatter: &'a Scatter<'a>,
    times: TimeAxis,
    errors: ErrorAxis,
    /// Where the rows of errors have their axis, and how long it is.
    left: i64,
    length: i64,
    out: String,
}

impl<'a> Drawing<'a> {
    pub(super) fn of(scatter: &'a Scatter<'a>) -> Self {
        let points = scatter.points();
        let times = TimeAxis::over(
            points.clone().flat_map(|(point, _)| [point.measured.0, point.predicted.0]),
            SIDE * 100,
        );
        let names = scatter.rows().map(|row| width_of(&row.name, TEXT) / 100 + 1).max().unwrap_or(0);
        let left = 2 * EDGE + names.clamp(40, NAMES);
        let length = WIDTH - left - OVERHANG;
        let goals = scatter.groups.iter().flat_map(|group| &group.goals);
        let goals = goals.flat_map(|goal| [*goal, -*goal]).map(|goal| (*goal.numer(), *goal.denom()));
        let errors = ErrorAxis::over(&points.map(|(_, error)| error).chain(goals), length * 100);
        Self { scatter, times, errors, left, length, out: String::new() }
    }

    pub(super) fn draw(mut self) -> String {
        let top = self.legend_bottom().max(TOP + SIDE + 40) + 2 * LINE;
        let rows = self.scatter.groups.iter().map(height).sum::<i64>();
        let height = top + LINE + rows + BEFORE + LINE + EDGE;
        let (title, ground) = (escape(self.scatter.title), Ground::Light.colour().hex());
        let description = self.scatter.description();
        self.line(&format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
             viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" font-family=\"{FONT}\" font-size=\"{TEXT}\" \
             fill=\"{INK}\">\n<title>{title}</title>\n<desc>{description}</desc>\n\
             <rect width=\"100%\" height=\"100%\" fill=\"{ground}\"/>\n\
             <text font-size=\"15\" font-weight=\"bold\" x=\"{EDGE}\" y=\"22\">{title}</text>"
        ));
        self.square();
        self.legend();
        self.strips(top);
        self.line("</svg>");
        self.out
    }

    fn line(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn text(&mut self, x: i64, y: i64, more: &str, text: &str) {
        self.line(&format!("<text x=\"{x}\" y=\"{y}\"{more}>{}</text>", escape(text)));
    }

    /// Predicted against measured.
    fn square(&mut self) {
        let (right, bottom) = (LEFT + SIDE, TOP + SIDE);
        let across = |at: i64| decimal(LEFT * 100 + at);
        let down = |at: i64| decimal(bottom * 100 - at);
        let marks = self.times.marks(TEXT);
        let mut grid = String::new();
        for Mark { at, .. } in &marks {
            write!(grid, "M{} {TOP}V{bottom}M{LEFT} {}H{right}", across(*at), down(*at))
                .expect("writing to a string cannot fail");
        }
        self.line(&format!("<path d=\"{grid}\" stroke=\"{GRID}\" fill=\"none\"/>"));
        for Mark { at, label } in marks.iter().filter(|mark| !mark.label.is_empty()) {
            let (x, y) = (across(*at), decimal(bottom * 100 - at + 400));
            self.line(&format!(
                "<text text-anchor=\"middle\" x=\"{x}\" y=\"{}\">{label}</text>",
                bottom + 17
            ));
            self.line(&format!("<text text-anchor=\"end\" x=\"{}\" y=\"{y}\">{label}</text>", LEFT - 6));
        }
        let middle = format!(" text-anchor=\"middle\" fill=\"{FAINT}\"");
        self.text(LEFT + SIDE / 2, bottom + 34, &middle, "measured makespan");
        self.text(EDGE, TOP - 12, &format!(" fill=\"{FAINT}\""), "predicted makespan");
        for (thousandths, look) in
            [(1000, ""), (1100, " stroke-dasharray=\"3 3\""), (900, " stroke-dasharray=\"3 3\"")]
        {
            let [from, to] = self.times.line(thousandths);
            let (from, to) = ((across(from.0), down(from.1)), (across(to.0), down(to.1)));
            self.line(&format!(
                "<path d=\"M{} {}L{} {}\" stroke=\"{FAINT}\"{look}/>",
                from.0, from.1, to.0, to.1
            ));
        }
        for (kind, points) in self.scatter.by_kind() {
            let mut path = String::new();
            for point in points {
                let (x, y) = (self.times.place(point.measured.0), self.times.place(point.predicted.0));
                write!(path, "M{} {}h.01", across(x), down(y)).expect("writing to a string cannot fail");
            }
            self.dots(kind, &path, "5");
        }
    }

    /// Dots, each a line of no length.
    fn dots(&mut self, kind: usize, path: &str, size: &str) {
        let (colour, cap) = look(kind);
        self.line(&format!(
            "<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{size}\" stroke-linecap=\"{cap}\" \
             stroke-opacity=\".7\"/>"
        ));
    }

    /// The kinds that fit beside the square, and a line for all others.
    fn listed(&self) -> (usize, usize) {
        const MOST: usize = 14;
        let kinds = self.scatter.kinds.len();
        if kinds <= MOST { (kinds, 0) } else { (MOST - 1, kinds - MOST + 1) }
    }

    fn legend_bottom(&self) -> i64 {
        let (listed, more) = self.listed();
        let lines = i64::try_from(listed).unwrap_or_default() + i64::from(more > 0);
        TOP + lines * LINE + 3 * LINE
    }

    fn legend(&mut self) {
        let (listed, more) = self.listed();
        let by_kind = self.scatter.by_kind();
        let mut y = TOP + 6;
        let kinds = self.scatter.kinds;
        for (kind, name) in kinds.iter().enumerate().take(listed) {
            self.dots(kind, &format!("M{} {}h.01", LEGEND + 4, y - 4), "6");
            let points = by_kind.get(&kind).map_or(0, Vec::len);
            let points = format!(", {points} prediction{}", if points == 1 { "" } else { "s" });
            let room = WIDTH - LEGEND - 14 - EDGE - width_of(&points, TEXT) / 100;
            self.text(LEGEND + 14, y, "", &format!("{}{points}", shortened(name, room)));
            y += LINE;
        }
        if more > 0 {
            self.text(LEGEND + 14, y, "", &format!("and {more} more"));
            y += LINE;
        }
        y += LINE / 2;
        for (look, text) in
            [("", "predicted as measured"), (" stroke-dasharray=\"3 3\"", "10 % more, 10 % less")]
        {
            self.line(&format!("<path d=\"M{} {}h14\" stroke=\"{FAINT}\"{look}/>", LEGEND - 4, y - 4));
            self.text(LEGEND + 14, y, "", text);
            y += LINE;
        }
    }

    /// A row of errors for each row of each group.
    fn strips(&mut self, top: i64) {
        let (left, right) = (self.left, self.left + self.length);
        let across = |at: i64| decimal(left * 100 + at);
        let begin = top + LINE;
        let end = begin + self.scatter.groups.iter().map(height).sum::<i64>() + BEFORE;
        let title =
            "error of the prediction in % of the measured makespan (linear up to 0.1 %, logarithmic beyond)";
        self.text(EDGE, top - LINE + 4, &format!(" fill=\"{FAINT}\""), title);
        self.bands(begin);
        let marks = self.errors.marks(TEXT);
        let mut grid = String::new();
        for mark in &marks {
            write!(grid, "M{} {begin}V{end}", across(mark.at)).expect("writing to a string cannot fail");
        }
        self.line(&format!("<path d=\"{grid}\" stroke=\"{GRID}\" fill=\"none\"/>"));
        let zero = across(self.errors.place((0, 1)));
        self.line(&format!("<path d=\"M{zero} {begin}V{end}\" stroke=\"{FAINT}\"/>"));
        self.line("<g text-anchor=\"middle\">");
        for Mark { at, label } in marks.iter().filter(|mark| !mark.label.is_empty()) {
            for y in [begin - 4, end + 13] {
                self.line(&format!("<text x=\"{}\" y=\"{y}\">{label}</text>", across(*at)));
            }
        }
        self.line("</g>");
        let mut y = begin;
        for group in self.scatter.groups {
            y += BEFORE;
            if !group.name.is_empty() {
                let ground = Ground::Light.colour().hex();
                self.line(&format!(
                    "<rect x=\"0\" y=\"{y}\" width=\"{WIDTH}\" height=\"{LINE}\" fill=\"{ground}\"/>"
                ));
                let goals = goals(group);
                let room = WIDTH - 3 * EDGE - OVERHANG - width_of(&goals, TEXT) / 100;
                self.text(EDGE, y + 12, " font-weight=\"bold\"", &shortened(&group.name, room * 10 / 11));
                self.text(right, y + 12, &format!(" text-anchor=\"end\" fill=\"{FAINT}\""), &goals);
                y += LINE;
            }
            for row in &group.rows {
                self.row(row, y);
                y += PITCH;
            }
        }
    }

    /// What is aimed at, behind the rows.
    fn bands(&mut self, begin: i64) {
        let mut y = begin;
        for group in self.scatter.groups {
            let rows = i64::try_from(group.rows.len()).unwrap_or_default() * PITCH;
            y += height(group);
            for goal in &group.goals {
                let ends = [-*goal, *goal].map(|end| self.errors.place((*end.numer(), *end.denom())));
                let colour = Colour::of(Kind::W, 0, 1, Ground::Light).hex();
                self.line(&format!(
                    "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{rows}\" fill=\"{colour}\" fill-opacity=\".12\"/>",
                    decimal(self.left * 100 + ends[0]),
                    y - rows,
                    decimal(ends[1] - ends[0])
                ));
            }
        }
    }

    fn row(&mut self, row: &Row, y: i64) {
        /// So that dots at one place show how many they are, they lie at several heights.
        const HEIGHTS: [i64; 5] = [0, -200, 200, -400, 400];
        let name = shortened(&row.name, self.left - 2 * EDGE);
        self.text(self.left - EDGE, y + 11, " text-anchor=\"end\"", &name);
        let middle = y * 100 + PITCH * 50;
        let mut path = String::new();
        for ((_, error), dy) in row.drawn().zip(HEIGHTS.into_iter().cycle()) {
            let x = decimal(self.left * 100 + self.errors.place(error));
            write!(path, "M{x} {}h.01", decimal(middle + dy)).expect("writing to a string cannot fail");
        }
        let Some(median) = row.median() else { return };
        self.dots(row.kind, &path, "4");
        let x = decimal(self.left * 100 + self.errors.place(median));
        self.line(&format!("<path d=\"M{x} {}v{}\" stroke=\"{INK}\"/>", y + 1, PITCH - 2));
    }
}

/// From the begin of a group to the next.
fn height(group: &Group) -> i64 {
    let heading = if group.name.is_empty() { 0 } else { LINE };
    BEFORE + heading + i64::try_from(group.rows.len()).unwrap_or_default() * PITCH
}

/// What the bands of a group mean.
fn goals(group: &Group) -> String {
    let percent = |goal: &Rate| {
        let hundredths = (*goal * 10_000).round().to_integer();
        decimal(i64::try_from(hundredths).unwrap_or(i64::MAX))
    };
    let goals: Vec<String> = group.goals.iter().map(|goal| format!("{} %", percent(goal))).collect();
    if goals.is_empty() { String::new() } else { format!("band: within {}", goals.join(" and ")) }
}

/// The colour of a kind and the form of its dots. Colours are those of passes, which readers with each form of colour
/// blindness tell apart.
fn look(kind: usize) -> (String, &'static str) {
    let colours = [Kind::F, Kind::I, Kind::W, Kind::B, Kind::R];
    let colour = Colour::of(colours[kind % colours.len()], 0, 1, Ground::Light).hex();
    (colour, if (kind / colours.len()).is_multiple_of(2) { "round" } else { "square" })
}

/// The end of a name that fits this many pixels: where files have long names, that is what differs.
fn shortened(name: &str, room: i64) -> String {
    if width_of(name, TEXT) <= room * 100 {
        return name.to_owned();
    }
    let starts = name.char_indices().map(|(at, _)| format!("...{}", &name[at..]));
    starts.skip(1).find(|short| width_of(short, TEXT) <= room * 100).unwrap_or_default()
}
