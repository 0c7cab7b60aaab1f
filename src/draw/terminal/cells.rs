//! The cells of a row: characters with their styles.

use std::ops::Range;

use anstyle::{Ansi256Color, Color, Style};

use super::plan::Band;
use super::{Canvas, DIM};
use crate::analysis::{Engine, Job, Lane, Span, Subject, Work};
use crate::draw::{Picture, sign};
use crate::model::{Device, Kind, Link};

/// What marks idle time between a device's passes.
pub(super) const BUBBLE: char = '·';

/// What begins a piece of a pass that goes on from the band above.
pub(super) const GOES_ON: char = '<';

/// What fills a task in a lane behind its label.
pub(super) const ON_ITS_WAY: char = '-';

/// What marks a task that is shorter than a column.
pub(super) const MARK: char = '\'';

/// A character and its style.
pub(super) type Cell = (char, Option<Style>);

/// The name of a lane at the head of its row.
pub(super) fn head(engine: Engine) -> String {
    match engine {
        Engine::Link(Link::Pair { to, .. }) => format!(">{to}"),
        Engine::Link(Link::Card { node }) => format!("card{node}"),
        Engine::Link(_) => "link".to_owned(),
        Engine::ToHost => ">host".to_owned(),
        Engine::FromHost => "<host".to_owned(),
        Engine::Collective => "coll".to_owned(),
    }
}

impl Canvas<'_> {
    /// The characters of a device's row in a band, with their styles.
    pub(super) fn cells(&mut self, device: Device, band: Band) -> Vec<Cell> {
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
            let style = style_of(pass.kind, picture.chunk(pass));
            self.put(&mut cells, band, (from, to), style, ' ', |room| {
                label(picture, pass.kind.letter(), picture.chunk(pass), pass.microbatch.0, room)
            });
        }
        for &step in picture.steps(device) {
            match self.short(step) {
                Some(column) => self.unmarked += usize::from((band.from..band.to).contains(&column)),
                None => self.job(&mut cells, band, step, ' '),
            }
        }
        cells
    }

    /// The characters of a lane's row in a band, with their styles.
    pub(super) fn lane_cells(&mut self, lane: &Lane, band: Band) -> Vec<Cell> {
        let scale = self.plan.scale;
        let mut cells = vec![(' ', None); width_of(band)];
        let first = lane.jobs.partition_point(|job| scale.column(job.start) < band.from).saturating_sub(1);
        let within = lane.jobs[first..].iter().take_while(|job| scale.column(job.start) <= band.to);
        let mut short = Vec::new();
        for &job in within {
            match self.short(job) {
                Some(column) => short.extend(clip(band, column, column + 1)),
                None => self.job(&mut cells, band, job, ON_ITS_WAY),
            }
        }
        for at in short {
            let letter = &mut cells[at.start].0;
            if matches!(*letter, ' ' | MARK) {
                *letter = MARK;
                self.marked = true;
            } else {
                self.unmarked += 1;
            }
        }
        cells
    }

    /// The column of a task that is too short to fill one; the last column stands for the end of all.
    fn short(&self, job: Job) -> Option<i64> {
        let scale = self.plan.scale;
        let column = scale.column(job.start);
        let last = (scale.column(self.picture.makespan()) - 1).max(0);
        (scale.column(job.end) == column).then_some(column.min(last))
    }

    /// Puts a task that is not a pass into a row.
    fn job(&mut self, cells: &mut [Cell], band: Band, job: Job, filler: char) {
        let (picture, scale) = (self.picture, self.plan.scale);
        let ((letter, number), chunk) = (sign(job), picture.chunk_of(job));
        let columns = (scale.column(job.start), scale.column(job.end));
        self.put(cells, band, columns, style_of_job(job, chunk), filler, |room| {
            label(picture, letter, chunk, number, room)
        });
    }

    /// Puts what lies between two columns into a row: a label, and something that fills the rest.
    fn put(
        &mut self,
        cells: &mut [Cell],
        band: Band,
        (from, to): (i64, i64),
        style: Style,
        filler: char,
        label: impl FnOnce(usize) -> String,
    ) {
        let Some(range) = clip(band, from, to) else { return };
        cells[range.clone()].fill((filler, Some(style)));
        let text = if from < band.from {
            self.goes_on = true;
            GOES_ON.to_string()
        } else {
            label(range.len())
        };
        for (cell, letter) in cells[range].iter_mut().zip(text.chars()) {
            cell.0 = letter;
        }
    }
}

/// The longest label that fits: letter, chunk, and the microbatch or the stage.
fn label(picture: &Picture<'_>, letter: char, chunk: usize, number: u32, room: usize) -> String {
    const RAISED: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
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
    let number = number.to_string();
    if used + number.len() <= room {
        label.push_str(&number);
    }
    label
}

/// Dark with white text for even chunks, light with black text for odd ones.
pub(super) fn style_of(kind: Kind, chunk: usize) -> Style {
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
    coloured(ground, if odd { 16 } else { 231 })
}

/// What is sent or copied looks like the pass that yields it.
fn style_of_job(job: Job, chunk: usize) -> Style {
    match job.subject {
        Subject::Pass(pass) => style_of(pass.kind, chunk),
        Subject::Stage(_) => style_of_work(job.work),
    }
}

/// The style of what is done for a whole stage: dark text on yellow on the device, white text on red or dark text on cyan
/// beside it.
pub(super) fn style_of_work(work: Work) -> Style {
    match work {
        Work::Optimizer => coloured(220, 16),
        Work::Gather => coloured(51, 16),
        _ => coloured(88, 231),
    }
}

fn coloured(ground: u8, text: u8) -> Style {
    let colour = |index| Some(Color::Ansi256(Ansi256Color(index)));
    Style::new().bg_color(colour(ground)).fg_color(colour(text))
}

/// How many columns a band has.
pub(super) fn width_of(band: Band) -> usize {
    usize::try_from(band.to - band.from).expect("a band is not wider than a line")
}

/// The part of a range of columns that lies in a band, counted from its left edge.
fn clip(band: Band, from: i64, to: i64) -> Option<Range<usize>> {
    let (from, to) = (from.max(band.from), to.min(band.to));
    let at = |column: i64| usize::try_from(column - band.from).ok();
    if from < to { Some(at(from)?..at(to)?) } else { None }
}
