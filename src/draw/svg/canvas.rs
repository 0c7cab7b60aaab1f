//! The drawing itself.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::caption::caption;
use super::layout::Layout;
use super::legend::{SAMPLE, Sample};
use super::measures::{EDGE, LINE, SMALL, TEXT};
use super::time::Visible;
use super::{Part, Svg};
use crate::analysis::Span;
use crate::draw::Picture;
use crate::draw::colour::{Colour, Ground};
use crate::draw::xml::{FONT, decimal, escape};
use crate::model::{Device, Kind};
use crate::replay::Held;

const INK: &str = "#1c1c1f";
pub(super) const GRID: &str = "#d9d9de";
pub(super) const CURVE: &str = "#c9ccd6";
pub(super) const CURVE_EDGE: &str = "#5c6070";
pub(super) const CAPACITY: &str = "#b00020";

/// A picture while it is drawn.
pub(super) struct Canvas<'a> {
    pub(super) picture: &'a Picture<'a>,
    pub(super) how: &'a Svg,
    pub(super) layout: Layout,
    pub(super) out: String,
    /// The marks of the peaks, which lie above everything else.
    pub(super) peaks: String,
}

/// The look of a pass: its kind and its chunk.
type Look = (Kind, usize);

impl<'a> Canvas<'a> {
    pub(super) fn new(picture: &'a Picture<'a>, how: &'a Svg, layout: Layout) -> Self {
        Self { picture, how, layout, out: String::new(), peaks: String::new() }
    }

    pub(super) fn draw(mut self) -> String {
        let Layout { width, height, .. } = self.layout;
        self.line(&format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\" font-family=\"{FONT}\" font-size=\"{TEXT}\" \
             fill=\"{INK}\">"
        ));
        self.head();
        self.legend();
        self.axis();
        if let Some(top) = self.layout.phases_top {
            self.phases(top);
        }
        let memory = self.how.shows(Part::Memory).then(|| self.picture.memory());
        for device in self.picture.devices() {
            self.row(device, memory.as_ref().map(|memory| memory[device.index()].as_slice()));
        }
        if self.how.shows(Part::CriticalPath) {
            self.critical_path();
        }
        let peaks = std::mem::take(&mut self.peaks);
        self.out.push_str(&peaks);
        self.omitted();
        self.line("</svg>");
        self.out
    }

    pub(super) fn line(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push('\n');
    }

    pub(super) fn text(&mut self, x: i64, y: i64, more: &str, text: &str) {
        self.line(&format!("<text x=\"{x}\" y=\"{y}\"{more}>{}</text>", escape(text)));
    }

    fn head(&mut self) {
        let caption = caption(self.picture, self.how, &self.layout);
        self.line(&format!("<title>{}</title>", escape(&self.picture.title())));
        self.line(&format!("<desc>{}</desc>", escape(&caption)));
        let ground = Ground::Light.colour().hex();
        self.line(&format!("<rect width=\"100%\" height=\"100%\" fill=\"{ground}\"/>"));
        let heading = self.layout.heading;
        let look = format!(" font-size=\"{heading}\" font-weight=\"bold\"");
        let mut y = EDGE + heading;
        for title in self.layout.title.clone() {
            self.text(EDGE, y, &look, &title);
            y += heading + 2;
        }
        let mut y = self.layout.facts_top + TEXT;
        for facts in self.layout.facts.clone() {
            self.text(EDGE, y, "", &facts);
            y += LINE;
        }
    }

    fn legend(&mut self) {
        let mut y = self.layout.legend_top;
        for line in self.layout.legend.clone() {
            let mut x = EDGE;
            for entry in line {
                let mut at = x;
                for &sample in &entry.samples {
                    self.sample(sample, at, y + 2);
                    at += SAMPLE;
                }
                let indent = if entry.samples.is_empty() { 0 } else { 3 };
                self.text(at + indent, y + 12, "", &entry.text);
                x += entry.width();
            }
            y += LINE;
        }
    }

    fn sample(&mut self, sample: Sample, x: i64, y: i64) {
        let (right, middle) = (x + 14, y + 6);
        let shape = match sample {
            Sample::Fill(colour) => {
                format!("<rect x=\"{x}\" y=\"{y}\" width=\"14\" height=\"12\" fill=\"{}\"/>", colour.hex())
            }
            Sample::Thin(colour) => format!(
                "<rect x=\"{x}\" y=\"{}\" width=\"14\" height=\"6\" fill=\"{}\"/>",
                y + 3,
                colour.hex()
            ),
            Sample::Curve => format!(
                "<path d=\"M{x} {}v-4h5v-6h5v3h4v7\" fill=\"{CURVE}\" stroke=\"{CURVE_EDGE}\" \
                 stroke-width=\".8\"/>",
                y + 12
            ),
            Sample::Peak => format!("<circle cx=\"{}\" cy=\"{middle}\" r=\"2.5\"/>", x + 10),
            Sample::Capacity => format!(
                "<path d=\"M{x} {middle}H{right}\" stroke=\"{CAPACITY}\" stroke-width=\"1.2\" \
                 stroke-dasharray=\"4 2\"/>"
            ),
            Sample::Pair => format!(
                "<rect x=\"{x}\" y=\"{}\" width=\"13\" height=\"11\" fill=\"none\" stroke=\"{INK}\" \
                 stroke-width=\"1.2\"/>",
                y + 1
            ),
            Sample::Path => format!("<path d=\"M{x} {middle}H{right}\" stroke=\"#000\" stroke-width=\"2\"/>"),
        };
        self.line(&shape);
    }

    fn row(&mut self, device: Device, memory: Option<&[Held]>) {
        let (top, row) = (self.layout.top_of(device), self.layout.row);
        let base = decimal(top + row.cell / 2 + 400);
        let end = " text-anchor=\"end\"";
        let x = self.layout.left - EDGE;
        let size = self.layout.names;
        self.line(&format!("<text x=\"{x}\" y=\"{base}\" font-size=\"{size}\"{end}>device {device}</text>"));
        if self.how.shows(Part::Figures) {
            let x = self.layout.right() + EDGE;
            let curve = self.layout.curve_of(device).map_or(0, |(at, height)| at + height / 2 + 400);
            let ys = [top + row.cell / 2 + 400, top + curve];
            let (figures, size) = (self.layout.figures, self.layout.figures.size());
            let texts = figures.of(self.picture, device, memory.is_some());
            let last = texts.len() - 1;
            for (at, (text, y)) in texts.into_iter().zip(ys).enumerate() {
                let (y, text) = (decimal(y), escape(&text));
                // The last line has the peak.
                let fill = if at == last { self.excess(device) } else { String::new() };
                self.line(&format!("<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\"{fill}>{text}</text>"));
            }
        }
        self.line(&format!("<g transform=\"translate({} {})\">", self.layout.left, decimal(top)));
        self.passes(device);
        self.lanes(device);
        if let Some(((at, height), memory)) = self.layout.curve_of(device).zip(memory) {
            self.memory(device, memory, at, height);
        }
        self.line("</g>");
    }

    /// The fill of what shows a peak: the colour of the limit, where that is exceeded.
    pub(super) fn excess(&self, device: Device) -> String {
        let peak = self.picture.peak_memory[device.index()];
        let is_over = self.picture.capacity(device).is_some_and(|capacity| peak > capacity);
        if is_over { format!(" fill=\"{CAPACITY}\"") } else { String::new() }
    }

    fn passes(&mut self, device: Device) {
        let (picture, layout) = (self.picture, &self.layout);
        let cell = decimal(layout.row.cell);
        // White edges part the passes, unless they would cover them.
        let edged = layout.time.length(picture.typical_duration()) >= 400;
        let mut shapes: BTreeMap<Look, String> = BTreeMap::new();
        let mut labels: BTreeMap<&'static str, String> = BTreeMap::new();
        for Span { pass, start, end } in picture.passes(device) {
            let chunk = picture.chunk(pass);
            let length = layout.time.length(end - start);
            for Visible { from, to, .. } in layout.time.visible(start, end) {
                rectangle(shapes.entry((pass.kind, chunk)).or_default(), from, to, &cell);
                // What a break or an end cuts off takes of the room.
                let room = if to - from + 1 < length { to - from } else { length };
                let Some(numbers) = layout.numbers.filter(|numbers| numbers.fit(pass.kind, room)) else {
                    continue;
                };
                let ink = Colour::of(pass.kind, chunk, picture.chunks(), Ground::Light).ink();
                let middle = decimal(i64::midpoint(from, to));
                let y = decimal(layout.row.cell / 2 + numbers.size * 36);
                let labels = labels.entry(ink).or_default();
                writeln!(labels, "<text x=\"{middle}\" y=\"{y}\">{}</text>", pass.microbatch)
                    .expect("writing to a string cannot fail");
            }
        }
        let mut pairs = String::new();
        for &first in picture.schedule.overlaps(device) {
            let (start, end) = (picture.at((device, first)).start, picture.at((device, first + 1)).end);
            for Visible { from, to, .. } in layout.time.visible(start, end) {
                rectangle(&mut pairs, from, to, &cell);
            }
        }
        let span: Vec<Visible> = picture
            .span(device)
            .into_iter()
            .flat_map(|(start, end)| layout.time.visible(start, end))
            .collect();
        let size = layout.numbers.map_or(SMALL, |numbers| numbers.size);
        for Visible { from, to, .. } in span {
            self.line(&format!(
                "<rect x=\"{}\" width=\"{}\" height=\"{cell}\" fill=\"{}\"/>",
                decimal(from),
                decimal(to - from),
                Ground::Light.bubble().hex()
            ));
        }
        let edge = if edged { " stroke=\"#fff\" stroke-width=\".7\"" } else { "" };
        for ((kind, chunk), shape) in shapes {
            let fill = Colour::of(kind, chunk, picture.chunks(), Ground::Light).hex();
            self.line(&format!("<path fill=\"{fill}\"{edge} d=\"{shape}\"/>"));
        }
        self.steps(device, edge);
        if !pairs.is_empty() {
            self.line(&format!("<path fill=\"none\" stroke=\"{INK}\" stroke-width=\"1.2\" d=\"{pairs}\"/>"));
        }
        for (ink, labels) in labels {
            self.line(&format!("<g fill=\"{ink}\" font-size=\"{size}\" text-anchor=\"middle\">"));
            self.out.push_str(&labels);
            self.line("</g>");
        }
    }

    /// The critical path: a line below its passes, and between them where it changes device.
    fn critical_path(&mut self) {
        let left = self.layout.left * 100;
        let mut path = String::new();
        let mut before = None;
        for &(device, position) in &self.picture.critical {
            let Span { start, end, .. } = self.picture.at((device, position));
            let y = self.layout.top_of(device) + self.layout.path_of(device);
            for Visible { piece, from, to } in self.layout.time.visible(start, end) {
                let (from, to) = (decimal(left + from), decimal(left + to));
                match before {
                    // What leads to the pass is drawn, unless it lies in a break.
                    Some((same, height)) if same == piece && height == y => Ok(()),
                    Some((same, _)) if same == piece => write!(path, "L{from} {}", decimal(y)),
                    _ => write!(path, "M{from} {}", decimal(y)),
                }
                .expect("writing to a string cannot fail");
                write!(path, "H{to}").expect("writing to a string cannot fail");
                before = Some((piece, y));
            }
        }
        if !path.is_empty() {
            let open = "<path fill=\"none\" stroke-linejoin=\"round\" stroke";
            self.line(&format!("{open}=\"#fff\" stroke-width=\"3.5\" d=\"{path}\"/>"));
            self.line(&format!("{open}=\"#000\" stroke-width=\"1.8\" d=\"{path}\"/>"));
        }
    }
}

/// Adds a rectangle from the top of a row to a path, with its ends in hundredths of a pixel.
pub(super) fn rectangle(path: &mut String, from: i64, to: i64, height: &str) {
    let (x, length) = (decimal(from), decimal(to - from));
    write!(path, "M{x} 0h{length}v{height}h-{length}z").expect("writing to a string cannot fail");
}
