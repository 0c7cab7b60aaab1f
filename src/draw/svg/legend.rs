//! What the colours and lines of a drawing mean.

use super::measures::{EDGE, TEXT};
use super::{Part, Svg};
use crate::draw::colour::{Colour, Ground};
use crate::draw::xml::width_of;
use crate::draw::{Picture, meaning};

/// A sample of what is drawn.
#[derive(Debug, Clone, Copy)]
pub(super) enum Sample {
    /// A colour.
    Fill(Colour),
    /// The curve of memory.
    Curve,
    /// The mark of a peak.
    Peak,
    /// The line of a capacity.
    Capacity,
    /// The line of the critical path.
    Path,
    /// The frame of an overlapped pair.
    Pair,
}

/// The width of a sample in pixels, with what is left after it.
pub(super) const SAMPLE: i64 = 15;

/// Samples with what they mean.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) samples: Vec<Sample>,
    pub(super) text: String,
}

impl Entry {
    /// Its width in pixels, with what is left after it.
    pub(super) fn width(&self) -> i64 {
        let samples = i64::try_from(self.samples.len()).expect("a few");
        SAMPLE * samples + 3 + width_of(&self.text, TEXT) / 100 + 14
    }
}

/// The entries on lines no wider than the drawing.
pub(super) fn lines(picture: &Picture<'_>, how: &Svg, width: i64) -> Vec<Vec<Entry>> {
    let mut lines: Vec<Vec<Entry>> = vec![Vec::new()];
    let mut x = EDGE;
    for entry in entries(picture, how) {
        if x + entry.width() > width && x > EDGE {
            lines.push(Vec::new());
            x = EDGE;
        }
        x += entry.width();
        lines.last_mut().expect("there is a line").push(entry);
    }
    lines
}

fn entries(picture: &Picture<'_>, how: &Svg) -> Vec<Entry> {
    let chunks = picture.chunks();
    let mut entries = Vec::new();
    let mut add = |samples: Vec<Sample>, text: String| entries.push(Entry { samples, text });
    for kind in picture.kinds() {
        let shades: Vec<usize> = match chunks {
            0..=4 => (0..chunks).collect(),
            _ => vec![0, chunks - 1],
        };
        let shade = |chunk| Sample::Fill(Colour::of(kind, chunk, chunks, Ground::Light));
        add(shades.into_iter().map(shade).collect(), format!("{kind} {}", meaning(kind)));
    }
    add(vec![Sample::Fill(Ground::Light.bubble())], "bubble".to_owned());
    if picture.schedule.overlap_count() > 0 {
        add(vec![Sample::Pair], "overlapped pair".to_owned());
    }
    if how.shows(Part::CriticalPath) && !picture.critical.is_empty() {
        add(vec![Sample::Path], "critical path".to_owned());
    }
    if how.shows(Part::Memory) {
        add(vec![Sample::Curve], format!("memory, {}", picture.model.memory().unit));
        add(vec![Sample::Peak], "peak".to_owned());
        if picture.devices().any(|device| picture.capacity(device).is_some()) {
            add(vec![Sample::Capacity], "memory limit".to_owned());
        }
    }
    if let Some(shades) = picture.shades() {
        add(Vec::new(), shades);
    }
    entries
}
