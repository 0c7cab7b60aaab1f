//! The timeline for a terminal: characters and, if wanted, colours that add nothing to them.
//!
//! Every cell begins with the letter of its pass, so that a picture without colours, in a log or for
//! a reader who cannot tell them apart, says the same. A schedule too long for the width is folded
//! into bands; one too long for the height too keeps its warm-up and its cool-down, and says what of
//! the time between is left out.

mod plan;
mod text;

use std::fmt::Write as _;

use anstyle::{Ansi256Color, Color, Effects, Style};

use self::plan::{Band, Plan};
use self::text::{Piece, wrap};
use super::scale::{Scale, axis_step};
use super::{Picture, meaning, percent};
use crate::analysis::Span;
use crate::model::{Device, Kind, Pass, Ticks};

/// How to draw for a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terminal {
    /// The most columns a line may have; less than [`MIN_WIDTH`](Self::MIN_WIDTH) is taken as that.
    pub width: usize,
    /// The most lines that the timeline should take, title and legend not counted, before a part of
    /// the time is left out. A band is a line for the time and one for each device: the timeline may
    /// always take two, and one more than fit, if that shows the whole. `None`: nothing is left out.
    pub lines: Option<usize>,
    /// Whether to colour with ANSI escapes.
    pub colour: bool,
}

impl Terminal {
    /// The least width.
    pub const MIN_WIDTH: usize = 40;
}

impl Default for Terminal {
    /// 80 columns, 48 lines, without colour.
    fn default() -> Self {
        Self { width: 80, lines: Some(48), colour: false }
    }
}

/// What marks idle time between a device's passes.
const BUBBLE: char = '·';

/// What begins a piece of a pass that goes on from the band above.
const GOES_ON: char = '<';

impl Picture<'_> {
    /// The timeline for a terminal. No line is wider than asked for; each ends with a line feed.
    #[must_use]
    pub fn terminal(&self, how: &Terminal) -> String {
        self.terminal_beside(how, &[])
    }

    /// The timeline for a terminal with the same columns for the same time as those of other pictures, in the
    /// same unit, that are drawn likewise.
    #[must_use]
    pub fn terminal_beside(&self, how: &Terminal, others: &[&Picture<'_>]) -> String {
        Canvas::new(self, how, others).draw()
    }
}

/// The picture while it is drawn.
struct Canvas<'a> {
    picture: &'a Picture<'a>,
    colour: bool,
    width: usize,
    /// The width of the device numbers.
    label: usize,
    /// The width of the largest peak.
    peak: usize,
    plan: Plan,
    out: String,
    /// Whether some pass goes on from the band above.
    goes_on: bool,
    /// How many passes were too short to draw.
    hidden: usize,
}

impl<'a> Canvas<'a> {
    fn new(picture: &'a Picture<'a>, how: &Terminal, others: &[&Picture<'_>]) -> Self {
        let width = how.width.max(Terminal::MIN_WIDTH);
        let digits = |count: u32| count.saturating_sub(1).to_string().len();
        let label = digits(picture.schedule.devices()).max(2);
        let all = || std::iter::once(picture).chain(others.iter().copied());
        let longest = all().rev().max_by_key(|picture| picture.makespan()).unwrap_or(picture);
        let peaks = all().flat_map(|picture| picture.peak_memory).map(|peak| peak.to_string().len());
        let peak = peaks.max().unwrap_or(0).max("peak".len());
        let full = width - label - 1;
        // Where memory takes too many digits, the figures of the devices go below the timeline.
        let figures = Some("   idle  ".len() + peak).filter(|&figures| figures + 16 <= full);
        let plan = Plan::of(
            longest,
            &plan::Room {
                full: plan::columns(full),
                last: plan::columns(full - figures.unwrap_or(0)),
                lines: how.lines,
                label: plan::columns(
                    1 + usize::from(picture.chunks() > 2) + digits(picture.schedule.microbatches()),
                ),
                figures: figures.is_some(),
            },
        );
        Self {
            picture,
            colour: how.colour,
            width,
            label,
            peak,
            plan,
            out: String::new(),
            goes_on: false,
            hidden: 0,
        }
    }

    fn draw(mut self) -> String {
        let title = self.picture.title();
        self.paragraph([Piece::foreign(&title)], " ");
        let bands = std::mem::take(&mut self.plan.bands);
        for (position, band) in bands.iter().enumerate() {
            if let Some(before) = position.checked_sub(1).map(|before| bands[before])
                && before.to < band.from
            {
                self.left_out(before.to, band.from);
            }
            let last = position + 1 == bands.len();
            self.axis(*band, last);
            for device in self.picture.devices() {
                self.row(device, *band, last);
            }
        }
        self.out.push('\n');
        self.legend();
        self.facts();
        self.out
    }

    /// The line of instants above a band.
    fn axis(&mut self, band: Band, last: bool) {
        let scale = self.plan.scale;
        let digits = self.picture.makespan().to_string().len();
        let apart = plan::columns(digits + 3).max(10);
        let step = axis_step(scale.instant(apart).0);
        let mut line = vec![' '; width_of(band)];
        let mut mark = |instant: Ticks| {
            let text = format!("|{instant}");
            let Ok(at) = usize::try_from(scale.column(instant) - band.from) else { return };
            // A mark gives way to one that is already there, and to the edge.
            let room = line.get(at..=at + text.len()).or_else(|| line.get(at..at + text.len()));
            if room.is_some_and(|room| room.iter().all(|&place| place == ' ')) {
                for (place, letter) in line[at..].iter_mut().zip(text.chars()) {
                    *place = letter;
                }
            }
        };
        let mut instant = Ticks(scale.instant(band.from).0.div_euclid(step.0) * step.0);
        while scale.column(instant) < band.to {
            mark(instant);
            match instant.checked_add(step) {
                Some(next) => instant = next,
                None => break,
            }
        }
        mark(scale.instant(band.from));
        let line: String = line.into_iter().collect();
        let head = " ".repeat(self.label + 1);
        let figures = if last && self.plan.figures {
            format!("   idle  {:>width$}", "peak", width = self.peak)
        } else {
            String::new()
        };
        self.styled(DIM, &format!("{head}{line}{figures}"));
        self.end_line();
    }

    /// The line of a device in a band.
    fn row(&mut self, device: Device, band: Band, last: bool) {
        write!(self.out, "{device:>width$} ", width = self.label).expect("writing to a string cannot fail");
        let cells = self.cells(device, band);
        let mut from = 0;
        while from < cells.len() {
            let style = cells[from].1;
            let until =
                cells[from..].iter().position(|cell| cell.1 != style).map_or(cells.len(), |at| from + at);
            let text: String = cells[from..until].iter().map(|cell| cell.0).collect();
            match style {
                Some(style) => self.styled(style, &text),
                None => self.out.push_str(&text),
            }
            from = until;
        }
        if last && self.plan.figures {
            let idle = percent(self.picture.idle_share(device), 1);
            let peak = self.picture.peak_memory[device.index()];
            write!(self.out, " {idle:>5}%  {peak:>width$}", width = self.peak)
                .expect("writing to a string cannot fail");
        }
        self.end_line();
    }

    /// The characters of a device's row in a band, with their styles.
    fn cells(&mut self, device: Device, band: Band) -> Vec<(char, Option<Style>)> {
        let (picture, scale) = (self.picture, self.plan.scale);
        let mut cells = vec![(' ', None); width_of(band)];
        if let Some((start, end)) = picture.span(device) {
            for cell in clip(band, scale.column(start), scale.column(end))
                .map(|at| &mut cells[at])
                .into_iter()
                .flatten()
            {
                *cell = (BUBBLE, Some(DIM));
            }
        }
        let starts = &picture.timing.starts[device.index()];
        let first = starts.partition_point(|&start| scale.column(start) < band.from).saturating_sub(1);
        for Span { pass, start, end } in picture.passes(device).skip(first) {
            let (from, to) = (scale.column(start), scale.column(end));
            if from >= band.to {
                break;
            }
            if from == to {
                self.hidden += usize::from(from >= band.from && end > start);
                continue;
            }
            let Some(range) = clip(band, from, to) else { continue };
            let style = Some(style_of(pass.kind, picture.chunk(pass)));
            cells[range.clone()].fill((' ', style));
            let text = if from < band.from {
                self.goes_on = true;
                GOES_ON.to_string()
            } else {
                label(picture, pass, range.len())
            };
            for (cell, letter) in cells[range].iter_mut().zip(text.chars()) {
                cell.0 = letter;
            }
        }
        cells
    }

    /// The line between two bands that says what of the time is not shown.
    fn left_out(&mut self, from: i64, to: i64) {
        let scale = self.plan.scale;
        let (from, to) = (scale.instant(from), scale.instant(to));
        let makespan = self.picture.makespan();
        let share =
            percent(crate::replay::Rate::new(i128::from((to - from).0), i128::from(makespan.0.max(1))), 1);
        let phases = self.plan.phases.list();
        let parts: Vec<&str> = phases
            .filter_map(|(phase, begins, ends)| (from < ends && begins < to).then_some(phase.name()))
            .collect();
        let text = format!("~ {from} to {to} left out, {share} % of the makespan: {} ~", parts.join(", "));
        self.paragraph([Piece::own(&text)], " ");
    }

    fn legend(&mut self) {
        let chunks = self.picture.chunks();
        let mut pieces = Vec::new();
        for kind in self.picture.kinds() {
            let (upper, lower) = (kind.letter(), kind.letter().to_ascii_lowercase());
            let mut swatch = self.in_style(style_of(kind, 0), &upper.to_string());
            let mut width = 1;
            if chunks > 1 {
                swatch.push_str(&self.in_style(style_of(kind, 1), &lower.to_string()));
                width = 2;
            }
            let text = meaning(kind);
            pieces.push(Piece::sized(format!("{swatch} {text}"), width + 1 + text.len()));
        }
        pieces.push(Piece::sized(format!("{BUBBLE} bubble"), "x bubble".len()));
        if self.goes_on {
            pieces.push(Piece::own("< goes on from above"));
        }
        self.paragraph(pieces, "  ");
        match chunks {
            1 => {}
            2 => self.paragraph([Piece::own("upper case: chunk 0, lower case: chunk 1")], " "),
            _ => {
                let text = "upper case: even chunks, lower case: odd chunks; raised figure: the chunk";
                self.paragraph([Piece::own(text)], " ");
            }
        }
    }

    fn facts(&mut self) {
        let picture = self.picture;
        let Scale { columns, ticks } = self.plan.scale;
        let unit = &picture.model.costs().unit;
        let columns = if columns == 1 { "1 column is".to_owned() } else { format!("{columns} columns are") };
        let mut facts = picture.facts();
        facts.push(format!("{columns} {}", super::in_unit(ticks, unit)));
        if self.hidden > 0 {
            facts.push(format!("{} passes are too short to be drawn", self.hidden));
        }
        if !self.plan.figures {
            for device in picture.devices() {
                let idle = percent(picture.idle_share(device), 1);
                let peak = picture.peak_memory[device.index()];
                facts.push(format!("device {device}: idle {idle} %, peak {peak}"));
            }
        }
        let last = facts.len() - 1;
        for fact in &mut facts[..last] {
            fact.push(';');
        }
        let pieces: Vec<Piece> = facts.iter().map(|fact| Piece::foreign(fact)).collect();
        self.paragraph(pieces, " ");
    }

    fn paragraph(&mut self, pieces: impl IntoIterator<Item = Piece>, between: &str) {
        for line in wrap(pieces, between, self.width) {
            self.out.push_str(&line);
            self.end_line();
        }
    }

    fn styled(&mut self, style: Style, text: &str) {
        let text = self.in_style(style, text);
        self.out.push_str(&text);
    }

    fn in_style(&self, style: Style, text: &str) -> String {
        if self.colour { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }

    fn end_line(&mut self) {
        let kept = self.out.trim_end_matches(' ').len();
        self.out.truncate(kept);
        self.out.push('\n');
    }
}

/// The longest label of a pass that fits.
fn label(picture: &Picture<'_>, pass: Pass, room: usize) -> String {
    const RAISED: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let chunk = picture.chunk(pass);
    let letter = pass.kind.letter();
    let mut label = String::from(if chunk.is_multiple_of(2) { letter } else { letter.to_ascii_lowercase() });
    let mut used = 1;
    if picture.chunks() > 2 {
        let digits = chunk.to_string();
        if used + digits.len() > room {
            return label;
        }
        label.extend(digits.bytes().map(|digit| RAISED[usize::from(digit - b'0')]));
        used += digits.len();
    }
    let microbatch = pass.microbatch.to_string();
    if used + microbatch.len() <= room {
        label.push_str(&microbatch);
    }
    label
}

const DIM: Style = Style::new().effects(Effects::DIMMED);

/// Dark with white text for even chunks, light with black text for odd ones.
fn style_of(kind: Kind, chunk: usize) -> Style {
    let odd = !chunk.is_multiple_of(2);
    let ground = match (kind, odd) {
        (Kind::F, false) => 25,
        (Kind::F, true) => 117,
        (Kind::R, false) => 240,
        (Kind::R, true) => 250,
        (Kind::I, false) => 130,
        (Kind::I, true) => 222,
        (Kind::W, false) => 28,
        (Kind::W, true) => 157,
        (Kind::B, false) => 125,
        (Kind::B, true) => 218,
    };
    let text = if odd { 16 } else { 231 };
    let colour = |index| Some(Color::Ansi256(Ansi256Color(index)));
    Style::new().bg_color(colour(ground)).fg_color(colour(text))
}

fn width_of(band: Band) -> usize {
    usize::try_from(band.to - band.from).expect("a band is not wider than a line")
}

/// The part of a range of columns that lies in a band, counted from its left edge.
fn clip(band: Band, from: i64, to: i64) -> Option<std::ops::Range<usize>> {
    let (from, to) = (from.max(band.from), to.min(band.to));
    let at = |column: i64| usize::try_from(column - band.from).ok();
    if from < to { Some(at(from)?..at(to)?) } else { None }
}
