//! A column of a drawing of blocks: what panels are drawn on.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use num_rational::Ratio;

use super::steps::Cell;
use super::{BlockPicture, scaled};
use crate::draw::colour::{Colour, Ground};
use crate::draw::scale::axis_step;
use crate::draw::xml::{decimal, escape, width_of};
use crate::model::Kind;

/// What is left free for the names of the devices, and at the right, in pixels.
pub(super) const LEFT: i64 = 62;
pub(super) const RIGHT: i64 = 12;
/// From one line of text to the next.
pub(super) const LINE: i64 = 15;
/// The size of captions and names, and of what is beside bars and in cells.
pub(super) const SMALL: i64 = 11;
pub(super) const TINY: i64 = 9;
/// The height of a pass, and from one row of passes alone to the next.
pub(super) const CELL: i64 = 14;
pub(super) const PITCH: i64 = 17;
/// The colour of lines, of other text, and of the least prominent lines.
pub(super) const FAINT: &str = "#5c6070";
pub(super) const GRID: &str = "#d9d9de";

/// About how many intervals have lines at most.
const MOST_LINES: i64 = 40;

/// The width of a column, and its scale of time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Column {
    /// In pixels, and what is left for passes.
    pub(super) width: i64,
    pub(super) plot: i64,
    /// The ticks that fill the plot.
    pub(super) longest: Ratio<i64>,
}

/// A panel while it is drawn.
pub(super) struct Paper<'a> {
    pub(super) picture: &'a BlockPicture<'a>,
    pub(super) column: &'a Column,
    pub(super) out: String,
    /// Where the next thing goes, in pixels.
    pub(super) y: i64,
}

impl<'a> Paper<'a> {
    pub(super) fn new(picture: &'a BlockPicture<'a>, column: &'a Column) -> Self {
        Self { picture, column, out: String::new(), y: 0 }
    }

    pub(super) fn line(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push('\n');
    }

    pub(super) fn text(&mut self, x: &str, y: &str, more: &str, text: &str) {
        self.line(&format!("<text x=\"{x}\" y=\"{y}\"{more}>{}</text>", escape(text)));
    }

    /// Words on as many lines as they need.
    pub(super) fn paragraph(&mut self, text: &str, size: i64, more: &str) {
        let room = (self.column.width - 16) * 100;
        let mut lines: Vec<String> = Vec::new();
        for word in text.split(' ') {
            match lines.last_mut() {
                Some(line) if width_of(&format!("{line} {word}"), size) <= room => {
                    line.push(' ');
                    line.push_str(word);
                }
                _ => lines.push(word.to_owned()),
            }
        }
        for line in lines {
            self.y += LINE.max(size + 3);
            let y = self.y.to_string();
            self.text("8", &y, &format!(" font-size=\"{size}\"{more}"), &line);
        }
    }

    /// Where an instant lies from the left of the column, in hundredths of a pixel.
    pub(super) fn x(&self, parts: i64) -> i64 {
        LEFT * 100 + scaled(parts, self.column.longest, self.picture.block.parts(), self.column.plot)
    }

    /// Lines at multiples of the interval up to an instant, from here down to a place, with labels below it.
    pub(super) fn intervals(&mut self, to: i64, bottom: i64) {
        let interval = self.picture.block.interval_parts().0;
        let (mut path, mut labels, mut taken) = (String::new(), String::new(), i64::MIN);
        let top = self.y;
        // Of very many intervals, only some have lines.
        let every = axis_step(to / interval / MOST_LINES).0;
        let counts = (0..=to / interval).step_by(usize::try_from(every).unwrap_or(usize::MAX));
        for (count, at) in counts.map(|count| (count, count.saturating_mul(interval))) {
            let x = self.x(at);
            write!(path, "M{} {top}V{bottom}", decimal(x)).expect("writing to a string cannot fail");
            let label = match count {
                0 => "0".to_owned(),
                1 => "T".to_owned(),
                _ => format!("{count}T"),
            };
            let half = width_of(&label, TINY) / 2 + 150;
            if x - half >= taken {
                taken = x + half;
                writeln!(labels, "<text x=\"{}\" y=\"{}\">{label}</text>", decimal(x), bottom + 10)
                    .expect("writing to a string cannot fail");
            }
        }
        self.line(&format!("<path d=\"{path}\" stroke=\"{GRID}\"/>"));
        self.line(&format!("<g font-size=\"{TINY}\" fill=\"{FAINT}\" text-anchor=\"middle\">\n{labels}</g>"));
    }

    /// The name of a device beside a row at this height.
    pub(super) fn device(&mut self, device: usize, y: i64) {
        let (x, y) = ((LEFT - 8).to_string(), (y + 11).to_string());
        self.text(
            &x,
            &y,
            &format!(" font-size=\"{SMALL}\" text-anchor=\"end\""),
            &format!("device {device}"),
        );
    }

    /// Passes of a device in a row at this height, with labels where those of a kind have room.
    pub(super) fn cells(&mut self, cells: &[Shape], y: i64, edged: bool) {
        let chunks = self.picture.chunks();
        let mut shapes: BTreeMap<(Kind, usize), String> = BTreeMap::new();
        let mut labels: BTreeMap<(i64, &'static str), String> = BTreeMap::new();
        let mut frames = String::new();
        for cell in cells {
            let Cell { pass, .. } = cell.cell;
            let chunk = self.picture.block.placement().chunk_of(pass.stage);
            let (x, length) = (decimal(cell.from), decimal(cell.to - cell.from));
            let rectangle = format!("M{x} {y}h{length}v{CELL}h-{length}z");
            shapes.entry((pass.kind, chunk)).or_default().push_str(&rectangle);
            if cell.is_framed {
                frames.push_str(&rectangle);
            }
            if let Some((label, size)) = &cell.label {
                let ink = Colour::of(pass.kind, chunk, chunks, Ground::Light).ink();
                let (x, y) =
                    (decimal(i64::midpoint(cell.from, cell.to)), decimal((y + CELL / 2) * 100 + size * 36));
                writeln!(labels.entry((*size, ink)).or_default(), "<text x=\"{x}\" y=\"{y}\">{label}</text>")
                    .expect("writing to a string cannot fail");
            }
        }
        let edge = if edged { " stroke=\"#fff\" stroke-width=\".7\"" } else { "" };
        for ((kind, chunk), shape) in shapes {
            let fill = Colour::of(kind, chunk, chunks, Ground::Light).hex();
            self.line(&format!("<path fill=\"{fill}\"{edge} d=\"{shape}\"/>"));
        }
        if !frames.is_empty() {
            self.line(&format!("<path fill=\"none\" stroke=\"#000\" stroke-width=\"1.6\" d=\"{frames}\"/>"));
        }
        for ((size, ink), labels) in labels {
            self.line(&format!(
                "<g fill=\"{ink}\" font-size=\"{size}\" text-anchor=\"middle\">\n{labels}</g>"
            ));
        }
    }
}

/// A pass as it is drawn: its ends in hundredths of a pixel, its label with its size, and whether it is framed.
#[derive(Debug, Clone)]
pub(super) struct Shape {
    pub(super) cell: Cell,
    pub(super) from: i64,
    pub(super) to: i64,
    pub(super) label: Option<(String, i64)>,
    pub(super) is_framed: bool,
}

/// The largest size, up to one, at which the widest label fits the narrowest room; nothing where none can be read.
pub(super) fn size_for(widest: &str, room: i64, highest: i64) -> Option<i64> {
    (6..=highest).rev().find(|&size| width_of(widest, size) + 100 <= room)
}
