//! The timeline as a plain SVG: no script, no style sheet, no outside reference.
//!
//! Every pass is a rectangle with its edges at the nearest hundredth of a pixel. The rectangles of a
//! device that look the same are the parts of one path, which keeps the file of a hundred thousand
//! passes at a few megabytes. Looks are attributes of the shapes, so that a drawing can be set into a paper
//! or a page without changing, or being changed by, what is around it.

mod axis;
mod canvas;
mod caption;
mod figures;
mod lanes;
mod layout;
mod legend;
mod measures;
mod memory;
mod numbers;
mod omitted;
mod time;

pub use self::time::Extent;

use self::canvas::Canvas;
use self::layout::Layout;
use super::Picture;
use crate::analysis::Lane;
use crate::model::Device;

/// How to draw an SVG.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Svg {
    /// The width in pixels. `None`: wide enough to read the microbatches, within bounds.
    pub width: Option<u32>,
    /// The height in pixels. `None`: as high as the devices need.
    pub height: Option<u32>,
    /// The parts that are left out.
    pub hidden: Vec<Part>,
    /// How much of the time is drawn.
    pub extent: Extent,
}

/// A part of a drawing that can be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Part {
    /// The title and the figures of the whole schedule.
    Title,
    /// What the colours and lines mean.
    Legend,
    /// Warm-up, steady phase and cool-down.
    Phases,
    /// The numbers of the microbatches.
    Numbers,
    /// The curve of memory under each device.
    Memory,
    /// The critical path.
    CriticalPath,
    /// The idle rate and the peak of each device.
    Figures,
    /// The lanes of links, copy engines and collective streams under each device.
    Lanes,
}

/// Why there is no drawing of the size asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SvgError {
    /// Too little width for names, figures and a timeline.
    #[error("a drawing of this schedule needs a width of at least {least} pixels, not {asked}")]
    TooNarrow {
        /// The width asked for, in pixels.
        asked: u32,
        /// The least there is.
        least: i64,
    },
    /// Too little height for the rows of the devices.
    #[error("a drawing of this schedule needs a height of at least {least} pixels, not {asked}")]
    TooLow {
        /// The height asked for, in pixels.
        asked: u32,
        /// The least there is.
        least: i64,
    },
}

impl Svg {
    /// Whether a part is drawn.
    fn shows(&self, part: Part) -> bool {
        !self.hidden.contains(&part)
    }

    /// The lanes that are drawn below a device.
    fn lanes<'a>(&self, picture: &'a Picture<'_>, device: Device) -> &'a [Lane] {
        if self.shows(Part::Lanes) { picture.lanes(device) } else { &[] }
    }
}

impl Picture<'_> {
    /// The timeline as SVG, of exactly the size asked for. The same picture gives the same bytes.
    ///
    /// # Errors
    /// When the size asked for has no room for it.
    pub fn svg(&self, how: &Svg) -> Result<String, SvgError> {
        together(std::slice::from_ref(self), how)
    }

    /// What a paper says below the drawing: what it shows, what that amounts to, what the colours mean, and what is
    /// omitted. The drawing has the same text as its description.
    ///
    /// # Errors
    /// When the size asked for has no room for the drawing.
    pub fn caption(&self, how: &Svg) -> Result<String, SvgError> {
        let layout = Layout::of(self, std::slice::from_ref(self), how)?;
        Ok(caption::caption(self, how, &layout))
    }

    /// What the drawing omits of the steady phase or, with [`Extent::Between`], which part of the time it shows.
    ///
    /// # Errors
    /// When the size asked for has no room for the drawing.
    pub fn omitted(&self, how: &Svg) -> Result<Option<String>, SvgError> {
        let layout = Layout::of(self, std::slice::from_ref(self), how)?;
        Ok(layout.omitted.map(|(omitted, _)| omitted.sentence(self)))
    }
}

/// One drawing of several pictures in the same unit of time, one below the other along one axis of time; a
/// height that is asked for is that of all together.
///
/// # Errors
/// When the size asked for has no room for them.
pub fn together(pictures: &[Picture<'_>], how: &Svg) -> Result<String, SvgError> {
    let layouts = layouts(pictures, how)?;
    let [width, height] = [
        layouts.iter().map(|layout| layout.width).max().unwrap_or_default(),
        layouts.iter().map(|layout| layout.height).sum(),
    ];
    let mut drawings = Vec::new();
    let mut top = 0;
    for (picture, layout) in pictures.iter().zip(layouts) {
        let at = top;
        top += layout.height;
        drawings.push((at, Canvas::new(picture, how, layout).draw()));
    }
    if let [(_, only)] = drawings.as_slice() {
        return Ok(only.clone());
    }
    let drawings =
        drawings.iter().map(|(top, svg)| format!("<g transform=\"translate(0 {top})\">\n{svg}</g>\n"));
    Ok(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} \
         {height}\">\n{}</svg>\n",
        drawings.collect::<String>()
    ))
}

/// The drawings of several pictures in the same unit of time, each by itself, along one axis of time.
///
/// # Errors
/// As [`together`].
pub(super) fn apart(pictures: &[Picture<'_>], how: &Svg) -> Result<Vec<String>, SvgError> {
    let layouts = layouts(pictures, how)?;
    Ok(pictures
        .iter()
        .zip(layouts)
        .map(|(picture, layout)| Canvas::new(picture, how, layout).draw())
        .collect())
}

/// Where everything lies in each of these pictures.
fn layouts(pictures: &[Picture<'_>], how: &Svg) -> Result<Vec<Layout>, SvgError> {
    let count = u32::try_from(pictures.len()).unwrap_or(u32::MAX).max(1);
    let each = Svg { height: how.height.map(|height| height / count), ..how.clone() };
    pictures.iter().map(|picture| Layout::of(picture, pictures, &each)).collect()
}
