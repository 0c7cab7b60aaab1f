//! Where everything lies in a drawing, in whole pixels or in hundredths of one.

use super::figures::Figures;
use super::legend::{self, Entry};
use super::measures::{BREAK, EDGE, HEADING, LANE_TEXT, LINE, SMALL, TEXT, TINY};
use super::numbers::{Numbers, number_width, pass_width};
use super::omitted::Omitted;
use super::time::{Piece, Room, Timeline, pieces, typical};
use super::{Part, Svg, SvgError};
use crate::draw::marks::{Mark, memory_marks};
use crate::draw::xml::width_of;
use crate::draw::{Picture, beside};
use crate::model::{Device, Units};

/// The least width, and the largest that is chosen where none is given.
const OWN_WIDTH: (i64, i64) = (640, 12_000);
/// The width of a typical pass that is aimed at where no width is given, and the largest for numbers of many digits.
const PASS_WIDTH: (i64, i64) = (24, 48);
/// The width of a typical pass that is too little to see anything, where there are no numbers.
const LEAST_PASS: i64 = 4;
/// The sizes of numbers that are aimed at: where the width may be chosen, and where it is given.
const NUMBERS: (i64, i64) = (9, 7);
/// The width of a timeline from which on it is worth leaving out a part, where no width is given.
const LONG_PLOT: i64 = 2_000;
/// The least width of a timeline.
const LEAST_PLOT: i64 = 160;
/// What is narrower than this has small letters.
const NARROW: i64 = 520;

/// The height of the axis below the timeline: with a line for what is not shown, or without.
const fn axis(omits: bool) -> i64 {
    if omits { 46 } else { 30 }
}

/// The share of a lane that its tasks fill, in percent.
const LANE: i64 = 80;

/// The heights within the row of a device, in hundredths of a pixel.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    /// From a device without lanes to the next.
    pub(super) pitch: i64,
    /// The passes.
    pub(super) cell: i64,
    /// From the top of the passes to the top of the curve of memory where there are no lanes between, and the height
    /// of that.
    pub(super) curve: Option<(i64, i64)>,
    /// From one lane to the next.
    pub(super) lane: i64,
}

impl Row {
    fn natural(memory: bool) -> Self {
        Self::of(if memory { 5200 } else { 2700 }, memory)
    }

    fn least(memory: bool) -> i64 {
        if memory { 2000 } else { 800 }
    }

    fn of(pitch: i64, memory: bool) -> Self {
        let lane = pitch * Self::lane_share(memory) / 100;
        if memory {
            let part = |hundredths| pitch * hundredths / 100;
            Self { pitch, cell: part(41), curve: Some((part(49), part(36))), lane }
        } else {
            Self { pitch, cell: pitch * 82 / 100, curve: None, lane }
        }
    }

    /// The height of a lane in percent of the pitch.
    const fn lane_share(memory: bool) -> i64 {
        if memory { 25 } else { 48 }
    }

    /// From the top of the passes to the top of the first lane.
    pub(super) fn lanes_at(self) -> i64 {
        self.curve.map_or(i64::midpoint(self.cell, self.pitch), |(at, _)| at)
    }

    /// The height of the tasks in a lane.
    pub(super) const fn lane_cell(self) -> i64 {
        self.lane * LANE / 100
    }
}

/// The places of a drawing, in pixels where nothing else is said.
pub(super) struct Layout {
    pub(super) width: i64,
    pub(super) height: i64,
    /// Where the timeline begins, and how wide it is.
    pub(super) left: i64,
    pub(super) plot: i64,
    /// The title, on lines; none where it is left out.
    pub(super) title: Vec<String>,
    /// The size of the title, and of the names of the devices.
    pub(super) heading: i64,
    pub(super) names: i64,
    /// The lines of facts under it.
    pub(super) facts: Vec<String>,
    /// The lines of the legend.
    pub(super) legend: Vec<Vec<Entry>>,
    /// Where the facts begin, the legend, and the bar of phases.
    pub(super) facts_top: i64,
    pub(super) legend_top: i64,
    pub(super) phases_top: Option<i64>,
    /// Where the first device begins.
    pub(super) top: i64,
    pub(super) row: Row,
    /// By device: how many lanes it has, and those before it have; all of them at the end.
    lanes: Vec<i64>,
    /// The numbers of microbatches, where they are drawn.
    pub(super) numbers: Option<Numbers>,
    /// Where instants lie.
    pub(super) time: Timeline,
    /// What is not shown, and its words below the axis.
    pub(super) omitted: Option<(Omitted, String)>,
    /// How the figures of the devices are written.
    pub(super) figures: Figures,
}

impl Layout {
    /// The layout of a picture above or below others, itself among them, on one axis of time.
    pub(super) fn of(picture: &Picture<'_>, all: &[Picture<'_>], how: &Svg) -> Result<Self, SvgError> {
        let memory = how.shows(Part::Memory);
        let devices = i64::from(picture.schedule.devices());
        let (full, asked) = (margins(picture, all, how, Figures::Full, TEXT), how.width.map(i64::from));
        let is_narrow = asked.is_some_and(|width| width < NARROW.max(full.0 + LEAST_PLOT + full.1));
        let (figures, heading, names) =
            if is_narrow { (Figures::Narrow, TEXT, TINY) } else { (Figures::Full, HEADING, TEXT) };
        let (left, right) = if is_narrow { margins(picture, all, how, figures, names) } else { full };
        let (width, pieces) = width_and_pieces(all, how, left + right)?;
        let plot = width - left - right;
        let time = Timeline::over(pieces, plot);

        let shows_title = how.shows(Part::Title);
        let title = if shows_title { broken(&picture.title(), heading, width) } else { Vec::new() };
        let facts = if shows_title { wrapped(&picture.facts(), width) } else { Vec::new() };
        let legend = if how.shows(Part::Legend) { legend::lines(picture, how, width) } else { Vec::new() };
        let mut y = EDGE;
        if !title.is_empty() {
            y += 3 + (heading + 2) * count(title.len());
        }
        let facts_top = y;
        y += LINE * count(facts.len());
        let legend_top = y;
        y += LINE * count(legend.len());
        let phases_top = how.shows(Part::Phases).then_some(y + 2);
        if phases_top.is_some() {
            y += LINE;
        }
        let top = y + 4;

        let mut lanes = vec![0];
        for device in picture.devices() {
            lanes.push(lanes[device.index()] + count(how.lanes(picture, device).len()));
        }
        let omitted = Omitted::of(picture, &time).map(|omitted| {
            let text = omitted.label(picture);
            (omitted, cut(&text, SMALL, width))
        });
        // The rows together, in hundredths of the pitch.
        let rows = devices * 100 + lanes[lanes.len() - 1] * Row::lane_share(memory);
        let below = axis(omitted.is_some());
        let (row, height) = match how.height {
            None => {
                let row = Row::natural(memory);
                (row, top + (row.pitch * rows / 100 + 99) / 100 + below)
            }
            Some(asked) => {
                let pitch = (i64::from(asked) - top - below) * 10_000 / rows;
                if pitch < Row::least(memory) {
                    let least = top + below + (Row::least(memory) * rows + 9_999) / 10_000;
                    return Err(SvgError::TooLow { asked, least });
                }
                (Row::of(pitch, memory), i64::from(asked))
            }
        };
        let numbers = if how.shows(Part::Numbers) {
            Numbers::of(picture, &time, SMALL.min(row.cell / 100 - 2))
        } else {
            None
        };
        Ok(Self {
            width,
            height,
            left,
            plot,
            title,
            heading,
            names,
            facts,
            legend,
            facts_top,
            legend_top,
            phases_top,
            top,
            row,
            lanes,
            numbers,
            time,
            omitted,
            figures,
        })
    }

    /// Where a device begins, in hundredths of a pixel.
    pub(super) fn top_of(&self, device: Device) -> i64 {
        self.top * 100 + self.row.pitch * i64::from(device.0) + self.row.lane * self.lanes[device.index()]
    }

    /// How many lanes a device has.
    pub(super) fn lanes_of(&self, device: Device) -> i64 {
        self.lanes[device.index() + 1] - self.lanes[device.index()]
    }

    /// The curve of memory of a device: from the top of its passes, and its height.
    pub(super) fn curve_of(&self, device: Device) -> Option<(i64, i64)> {
        self.row.curve.map(|(at, height)| (at + self.row.lane * self.lanes_of(device), height))
    }

    /// How far below the top of a device the line of the critical path runs: right under the passes.
    pub(super) fn path_of(&self, device: Device) -> i64 {
        let Row { cell, pitch, curve, .. } = self.row;
        let below =
            if self.lanes_of(device) > 0 { self.row.lanes_at() } else { curve.map_or(pitch, |(at, _)| at) };
        i64::midpoint(cell, below)
    }

    /// Where the last device ends, in pixels.
    pub(super) fn bottom(&self) -> i64 {
        self.height - axis(self.omitted.is_some())
    }

    pub(super) fn right(&self) -> i64 {
        self.left + self.plot
    }
}

/// What is left free for the names of devices and lanes, and for figures, in pixels.
fn margins(picture: &Picture<'_>, all: &[Picture<'_>], how: &Svg, figures: Figures, size: i64) -> (i64, i64) {
    let memory = how.shows(Part::Memory);
    let pixels = |text: &str, size| width_of(text, size) / 100 + 1;
    let last = picture.schedule.devices() - 1;
    let names = pixels(&format!("device {last}"), size);
    let devices = || all.iter().flat_map(|picture| picture.devices().map(move |device| (picture, device)));
    let lanes = devices().flat_map(|(picture, device)| how.lanes(picture, device));
    let names = lanes.map(|lane| pixels(&beside(lane.engine), LANE_TEXT)).fold(names, i64::max);
    let marks = all.iter().filter(|_| memory).filter_map(memory_mark);
    let names = marks.map(|mark| pixels(&mark.label, TINY)).fold(names, i64::max);
    let left = 2 * EDGE + names;
    if !how.shows(Part::Figures) {
        return (left, 2 * EDGE);
    }
    let figures = devices().flat_map(|(picture, device)| {
        figures.of(picture, device, memory).into_iter().map(move |text| pixels(&text, figures.size()))
    });
    (left, figures.max().unwrap_or(0) + 2 * EDGE)
}

/// The width of a drawing with such margins, and what of the time it shows.
fn width_and_pieces(all: &[Picture<'_>], how: &Svg, margins: i64) -> Result<(i64, Vec<Piece>), SvgError> {
    let least = margins + LEAST_PLOT;
    let numbers = |least: i64, width: fn(&Picture<'_>, i64) -> i64, size: i64| {
        let widths = all.iter().filter(|_| how.shows(Part::Numbers)).map(|picture| width(picture, size));
        widths.fold(least, i64::max)
    };
    if let Some(asked) = how.width {
        let width = i64::from(asked);
        if width < least {
            return Err(SvgError::TooNarrow { asked, least });
        }
        let room = Room::Fixed { pass: numbers(LEAST_PASS, number_width, NUMBERS.1), plot: width - margins };
        return Ok((width, pieces(all, how.extent, room)));
    }
    let pass = numbers(PASS_WIDTH.0, pass_width, NUMBERS.0).min(PASS_WIDTH.1);
    let pieces = pieces(all, how.extent, Room::Natural { pass, plot: LONG_PLOT });
    let shown: i128 = pieces.iter().map(|piece| i128::from(piece.to.0 - piece.from.0)).sum();
    let natural = shown * i128::from(pass) / i128::from(typical(all).0);
    let breaks = BREAK * (count(pieces.len()) - 1);
    let natural = i64::try_from(natural).unwrap_or(i64::MAX).saturating_add(breaks + margins);
    Ok((natural.clamp(OWN_WIDTH.0.max(least), OWN_WIDTH.1), pieces))
}

/// The label of the axes of memory of a picture: a round amount near the most that a device holds or may hold.
pub(super) fn memory_mark(picture: &Picture<'_>) -> Option<Mark> {
    let marks = memory_marks(0, most_memory(picture).0, &picture.model.memory().unit, 3);
    marks.into_iter().next_back().filter(|mark| mark.value > 0)
}

/// The most that a device holds or may hold: the height of the axes of memory.
pub(super) fn most_memory(picture: &Picture<'_>) -> Units {
    let capacities = picture.devices().filter_map(|device| picture.capacity(device));
    capacities.chain(picture.peak_memory.iter().copied()).max().unwrap_or_default()
}

/// A title on as many lines as it needs, two at most.
fn broken(text: &str, size: i64, width: i64) -> Vec<String> {
    let room = (width - 2 * EDGE) * 100;
    if width_of(text, size) <= room {
        return vec![text.to_owned()];
    }
    // At the last place where what stands before it fits.
    let places = text.match_indices(' ').map(|(at, _)| at);
    match places.take_while(|&at| width_of(&text[..at], size) <= room).last() {
        Some(at) => vec![text[..at].to_owned(), cut(&text[at + 1..], size, width)],
        None => vec![cut(text, size, width)],
    }
}

fn count(lines: usize) -> i64 {
    i64::try_from(lines).expect("a drawing has few lines")
}

/// A text cut to a width.
fn cut(text: &str, size: i64, width: i64) -> String {
    let room = (width - 2 * EDGE) * 100;
    if width_of(text, size) <= room {
        return text.to_owned();
    }
    let mut kept = text.to_owned();
    while kept.pop().is_some() && width_of(&format!("{kept}..."), size) > room {}
    format!("{}...", kept.trim_end())
}

/// Facts on as few lines as have room for them.
fn wrapped(facts: &[String], width: i64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for fact in facts {
        match lines.last_mut() {
            Some(line) if width_of(&format!("{line}; {fact}"), TEXT) <= (width - 2 * EDGE) * 100 => {
                line.push_str("; ");
                line.push_str(fact);
            }
            _ => lines.push(fact.clone()),
        }
    }
    lines.into_iter().map(|line| cut(&line, TEXT, width)).collect()
}
