//! What the colours and lines of a drawing mean.

use super::measures::{EDGE, TEXT};
use super::{Part, Svg};
use crate::analysis::Work;
use crate::draw::colour::{Colour, Ground};
use crate::draw::xml::width_of;
use crate::draw::{Picture, meaning};
use crate::model::Kind;

/// A sample of what is drawn.
#[derive(Debug, Clone, Copy)]
pub(super) enum Sample {
    /// A colour.
    Fill(Colour),
    /// A colour of a lane.
    Thin(Colour),
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
    for work in works(picture, how) {
        let colour = |kind| Colour::of_work(work, kind, 0, chunks, Ground::Light);
        let samples = match work {
            Work::Optimizer => vec![Sample::Fill(colour(Kind::F))],
            Work::Activation => vec![Sample::Thin(colour(Kind::F))],
            Work::Gradient => {
                let kinds = picture.kinds().into_iter().filter(|kind| kind.yields_input_gradient());
                kinds.map(|kind| Sample::Thin(colour(kind))).collect()
            }
            Work::ToHost | Work::FromHost | Work::Gather | Work::Reduction => {
                vec![Sample::Thin(colour(Kind::F))]
            }
        };
        add(samples, work.name().to_owned());
    }
    add(vec![Sample::Fill(Ground::Light.bubble())], "bubble".to_owned());
    if picture.schedule.overlap_count() > 0 {
        add(vec![Sample::Pair], "overlapped pair".to_owned());
    }
    if how.shows(Part::CriticalPath) && !picture.critical.is_empty() {
        add(vec![Sample::Path], "critical path".to_owned());
    }
    if how.shows(Part::Memory) {
        add(vec![Sample::Curve], picture.memory_meaning());
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

/// The kinds of work that are drawn beside and behind the passes.
fn works(picture: &Picture<'_>, how: &Svg) -> impl Iterator<Item = Work> {
    let lanes = how.shows(Part::Lanes);
    picture.works().into_iter().filter(move |&work| lanes || work == Work::Optimizer)
}
