//! Where everything lies in a drawing, in whole pixels or in hundredths of one.

use super::legend::{self, Entry};
use super::measures::{EDGE, HEADING, LANE_TEXT, LINE, SMALL, TEXT};
use super::{Part, Svg, SvgError};
use crate::draw::xml::width_of;
use crate::draw::{Picture, beside, percent};
use crate::model::{Device, Ticks};

/// The least width, and the largest that is chosen where none is given.
const OWN_WIDTH: (i64, i64) = (640, 12_000);
/// The width of a typical pass that is aimed at where no width is given.
const PASS_WIDTH: i64 = 24;
/// The least width of a timeline.
const LEAST_PLOT: i64 = 160;
/// The axis below the timeline.
const AXIS: i64 = 30;
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
    /// The title; empty where it is left out.
    pub(super) title: String,
    /// The lines of facts under it.
    pub(super) facts: Vec<String>,
    /// The lines of the legend.
    pub(super) legend: Vec<Vec<Entry>>,
    /// Where the legend begins, and where the bar of phases.
    pub(super) legend_top: i64,
    pub(super) phases_top: Option<i64>,
    /// Where the first device begins.
    pub(super) top: i64,
    pub(super) row: Row,
    /// By device: how many lanes it has, and those before it have; all of them at the end.
    lanes: Vec<i64>,
    /// The size of the numbers of microbatches, where they are drawn.
    pub(super) numbers: Option<i64>,
    /// The time from end to end of the timeline.
    pub(super) makespan: i64,
}

impl Layout {
    /// The layout of a picture above or below others, itself among them, on one axis of time.
    pub(super) fn of(picture: &Picture<'_>, all: &[Picture<'_>], how: &Svg) -> Result<Self, SvgError> {
        let memory = how.shows(Part::Memory);
        let devices = i64::from(picture.schedule.devices());
        let pixels = |text: &str, size| width_of(text, size) / 100 + 1;
        let unit = shortened(&picture.model.costs().unit);
        let names = pixels(&format!("device {}", devices - 1), TEXT).max(pixels(&unit, SMALL));
        let lanes = all
            .iter()
            .flat_map(|picture| picture.devices().flat_map(move |device| how.lanes(picture, device)));
        let names = lanes.map(|lane| pixels(&beside(lane.engine), LANE_TEXT)).fold(names, i64::max);
        let left = 2 * EDGE + names;
        let figures = all
            .iter()
            .flat_map(|picture| picture.devices().flat_map(move |device| figures(picture, device, memory)));
        let figures = figures.map(|text| pixels(&text, SMALL)).max().unwrap_or(0);
        let right = if how.shows(Part::Figures) { figures + 2 * EDGE } else { 2 * EDGE };

        let makespan = all.iter().map(|picture| picture.makespan().0).max().unwrap_or_default().max(1);
        let width = match how.width {
            Some(asked) if i64::from(asked) < left + LEAST_PLOT + right => {
                return Err(SvgError::TooNarrow { asked, least: left + LEAST_PLOT + right });
            }
            Some(asked) => i64::from(asked),
            None => {
                let typical = all.iter().map(Picture::typical_duration).min().unwrap_or(Ticks(1));
                let typical = i128::from(typical.0);
                let natural = i128::from(makespan) * i128::from(PASS_WIDTH) / typical;
                let natural = i64::try_from(natural).unwrap_or(i64::MAX).saturating_add(left + right);
                natural.clamp(OWN_WIDTH.0.max(left + LEAST_PLOT + right), OWN_WIDTH.1)
            }
        };

        let title =
            if how.shows(Part::Title) { cut(&picture.title(), HEADING, width) } else { String::new() };
        let facts = if how.shows(Part::Title) { wrapped(&picture.facts(), width) } else { Vec::new() };
        let legend = if how.shows(Part::Legend) { legend::lines(picture, how, width) } else { Vec::new() };
        let mut y = EDGE;
        if !title.is_empty() {
            y += LINE + 3 + LINE * count(facts.len());
        }
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
        // The rows together, in hundredths of the pitch.
        let rows = devices * 100 + lanes[lanes.len() - 1] * Row::lane_share(memory);
        let (row, height) = match how.height {
            None => {
                let row = Row::natural(memory);
                (row, top + (row.pitch * rows / 100 + 99) / 100 + AXIS)
            }
            Some(asked) => {
                let pitch = (i64::from(asked) - top - AXIS) * 10_000 / rows;
                if pitch < Row::least(memory) {
                    let least = top + AXIS + (Row::least(memory) * rows + 9_999) / 10_000;
                    return Err(SvgError::TooLow { asked, least });
                }
                (Row::of(pitch, memory), i64::from(asked))
            }
        };
        let plot = width - left - right;
        let mut layout = Self {
            width,
            height,
            left,
            plot,
            title,
            facts,
            legend,
            legend_top,
            phases_top,
            top,
            row,
            lanes,
            numbers: None,
            makespan,
        };
        if how.shows(Part::Numbers) {
            layout.numbers = layout.size_of_numbers(picture);
        }
        Ok(layout)
    }

    /// The largest size at which the last microbatch fits a typical pass; the least that can be read where
    /// none does, for longer passes and lower numbers may have room all the same.
    fn size_of_numbers(&self, picture: &Picture<'_>) -> Option<i64> {
        const LEAST: i64 = 6;
        let highest = SMALL.min(self.row.cell / 100 - 2);
        let last = (picture.schedule.microbatches() - 1).to_string();
        let room = self.across(picture.typical_duration());
        let fitting = (LEAST..=highest).rev().find(|&size| width_of(&last, size) + 100 <= room);
        fitting.or_else(|| (LEAST <= highest).then_some(LEAST))
    }

    /// Where an instant lies from the left of the timeline, in hundredths of a pixel.
    pub(super) fn across(&self, instant: Ticks) -> i64 {
        let scaled = i128::from(instant.0) * i128::from(self.plot) * 100 + i128::from(self.makespan / 2);
        i64::try_from(scaled / i128::from(self.makespan)).expect("no instant lies past the makespan")
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
        self.height - AXIS
    }

    pub(super) fn right(&self) -> i64 {
        self.left + self.plot
    }
}

/// What is said of a device beside its row.
pub(super) fn figures(picture: &Picture<'_>, device: Device, memory: bool) -> Vec<String> {
    let idle = format!("{} % idle", percent(picture.idle_share(device), 1));
    let peak = picture.peak_memory[device.index()];
    let peak = match picture.capacity(device) {
        Some(capacity) => format!("peak {peak} of {capacity}"),
        None => format!("peak {peak}"),
    };
    if memory { vec![idle, peak] } else { vec![format!("{idle}, {peak}")] }
}

/// A unit of a few letters, as it is; of a longer one the beginning.
pub(super) fn shortened(unit: &str) -> String {
    const MOST: usize = 14;
    if unit.chars().count() <= MOST {
        return unit.to_owned();
    }
    unit.chars().take(MOST - 3).chain("...".chars()).collect()
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
