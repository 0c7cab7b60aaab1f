//! The timeline for a terminal: characters and, if wanted, colours that add nothing to them.
//!
//! Every cell begins with the letter of its pass, so that a picture without colours, in a log or for
//! a reader who cannot tell them apart, says the same. A schedule too long for the width is folded
//! into bands; one too long for the height too keeps its warm-up and its cool-down, and says what of
//! the time between is left out. Below the row of a device come its lanes; a band leaves out those in which
//! nothing happens.

mod cells;
mod legend;
mod plan;
mod text;

use std::fmt::Write as _;

use anstyle::{Effects, Style};

use self::cells::{Cell, head, width_of};
use self::plan::{Band, Plan};
use self::text::{Piece, wrap};
use super::scale::{axis_step, readable};
use super::{Picture, percent};
use crate::amounts::{self, in_unit};
use crate::analysis::Lane;
use crate::model::{Device, Ticks};

/// How to draw for a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terminal {
    /// The most columns a line may have; less than [`MIN_WIDTH`](Self::MIN_WIDTH) is taken as that.
    pub width: usize,
    /// The most lines that the timeline should take, title and legend not counted, before a part of
    /// the time is left out. A band is a line for the time, one for each device and at most one for each lane: the
    /// timeline may always take two, and one more than fit, if that shows the whole. `None`: nothing is left out.
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
    /// The width of the device numbers and of the names of lanes.
    label: usize,
    /// The width of the largest peak.
    peak: usize,
    plan: Plan,
    out: String,
    /// Whether some pass goes on from the band above.
    goes_on: bool,
    /// How many passes were too short to draw.
    hidden: usize,
    /// How many other tasks were too short to draw, and had no room for a mark.
    unmarked: usize,
    /// Whether there are such marks.
    marked: bool,
}

impl<'a> Canvas<'a> {
    fn new(picture: &'a Picture<'a>, how: &Terminal, others: &[&Picture<'_>]) -> Self {
        let width = how.width.max(Terminal::MIN_WIDTH);
        let digits = |count: u32| count.saturating_sub(1).to_string().len();
        let heads = picture.lanes.iter().map(|lane| head(lane.engine).len()).max().unwrap_or(0);
        let label = digits(picture.schedule.devices()).max(2).max(heads);
        let all = || std::iter::once(picture).chain(others.iter().copied());
        let longest = all().rev().max_by_key(|picture| picture.makespan()).unwrap_or(picture);
        let peaks =
            all().flat_map(|picture| picture.devices().map(move |device| picture.peak_of(device).len()));
        let peak = peaks.max().unwrap_or(0).max("peak".len());
        let full = width - label - 1;
        // Where memory takes too many digits, the figures of the devices go below the timeline.
        let figures = Some("    idle  ".len() + peak).filter(|&figures| figures + 16 <= full);
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
            unmarked: 0,
            marked: false,
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
                for lane in self.picture.lanes(device) {
                    self.lane(lane, *band);
                }
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
        let digits = self.instant(self.picture.makespan()).len();
        let apart = plan::columns(digits + 3).max(10);
        let step = axis_step(scale.instant(apart).0);
        let unit = &self.picture.model.costs().unit;
        let (times, name) = readable(unit, step);
        // Round instants need no decimals.
        let label = |instant: Ticks| match self.picture.model.costs().nanoseconds_per_tick() {
            Some(_) if instant.0 % times == 0 => in_unit(instant.0 / times, name),
            _ => self.instant(instant),
        };
        let mut line = vec![' '; width_of(band)];
        let mut mark = |instant: Ticks| {
            let text = format!("|{}", label(instant));
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
            format!("    idle  {:>width$}", "peak", width = self.peak)
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
        self.write_cells(&cells);
        if last && self.plan.figures {
            let idle = percent(self.picture.idle_share(device), 2);
            let peak = self.picture.peak_of(device);
            write!(self.out, " {idle:>6}%  {peak:>width$}", width = self.peak)
                .expect("writing to a string cannot fail");
        }
        self.end_line();
    }

    /// The line of a lane in a band; none where nothing happens in it.
    fn lane(&mut self, lane: &Lane, band: Band) {
        let cells = self.lane_cells(lane, band);
        if cells.iter().all(|cell| cell.0 == ' ') {
            return;
        }
        write!(self.out, "{:>width$} ", head(lane.engine), width = self.label)
            .expect("writing to a string cannot fail");
        self.write_cells(&cells);
        self.end_line();
    }

    fn write_cells(&mut self, cells: &[Cell]) {
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
        let text = format!(
            "~ {} to {} left out, {share} % of the makespan: {} ~",
            self.instant(from),
            self.instant(to),
            parts.join(", ")
        );
        self.paragraph([Piece::own(&text)], " ");
    }

    /// An instant: a time with its unit, or a number of ticks where those have no length.
    fn instant(&self, instant: Ticks) -> String {
        let costs = self.picture.model.costs();
        match costs.nanoseconds_per_tick() {
            Some(_) => amounts::time(instant.0, &costs.unit),
            None => instant.to_string(),
        }
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

const DIM: Style = Style::new().effects(Effects::DIMMED);
