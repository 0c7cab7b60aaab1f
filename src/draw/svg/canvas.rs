//! The drawing itself.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::layout::{Layout, figures, shortened};
use super::legend::{SAMPLE, Sample};
use super::measures::{EDGE, HEADING, LINE, SMALL, TEXT};
use super::memory::{curve, rise};
use super::{Part, Svg};
use crate::analysis::Span;
use crate::draw::Picture;
use crate::draw::colour::{Colour, Ground};
use crate::draw::scale::{axis_step, readable};
use crate::draw::xml::{FONT, decimal, escape, width_of};
use crate::model::{Device, Kind, Ticks, Units};
use crate::replay::Held;

const INK: &str = "#1c1c1f";
pub(super) const GRID: &str = "#d9d9de";
const CURVE: &str = "#c9ccd6";
const CURVE_EDGE: &str = "#5c6070";
const CAPACITY: &str = "#b00020";

/// A picture while it is drawn.
pub(super) struct Canvas<'a> {
    pub(super) picture: &'a Picture<'a>,
    pub(super) how: &'a Svg,
    pub(super) layout: Layout,
    pub(super) out: String,
}

/// The look of a pass: its kind and its chunk.
type Look = (Kind, usize);

impl<'a> Canvas<'a> {
    pub(super) fn new(picture: &'a Picture<'a>, how: &'a Svg, layout: Layout) -> Self {
        Self { picture, how, layout, out: String::new() }
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
        self.line("</svg>");
        self.out
    }

    pub(super) fn line(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn text(&mut self, x: i64, y: i64, more: &str, text: &str) {
        self.line(&format!("<text x=\"{x}\" y=\"{y}\"{more}>{}</text>", escape(text)));
    }

    fn head(&mut self) {
        let title = self.picture.title();
        let facts = self.picture.facts().join("; ");
        self.line(&format!("<title>{}</title>", escape(&title)));
        self.line(&format!("<desc>{}</desc>", escape(&facts)));
        let ground = Ground::Light.colour().hex();
        self.line(&format!("<rect width=\"100%\" height=\"100%\" fill=\"{ground}\"/>"));
        if !self.layout.title.is_empty() {
            let title = self.layout.title.clone();
            let look = format!(" font-size=\"{HEADING}\" font-weight=\"bold\"");
            self.text(EDGE, EDGE + HEADING, &look, &title);
        }
        let mut y = EDGE + HEADING + LINE;
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

    fn axis(&mut self) {
        let (left, top, bottom, plot) =
            (self.layout.left, self.layout.top, self.layout.bottom(), self.layout.plot);
        let makespan = self.layout.makespan;
        let apart = (width_of(&makespan.to_string(), SMALL) / 100 + 26).max(50);
        let step = i128::from(makespan) * i128::from(apart) / i128::from(plot);
        let step = axis_step(i64::try_from(step).unwrap_or(i64::MAX));
        let (times, unit) = readable(&self.picture.model.costs().unit, step);
        let unit = shortened(unit);
        let (mut lines, mut labels) = (String::new(), String::new());
        let mut instant = Ticks::ZERO;
        while instant.0 <= makespan {
            let x = decimal(left * 100 + self.layout.across(instant));
            write!(lines, "M{x} {top}V{bottom}").expect("writing to a string cannot fail");
            writeln!(labels, "<text x=\"{x}\" y=\"{}\">{}</text>", bottom + 14, instant.0 / times)
                .expect("writing to a string cannot fail");
            match instant.checked_add(step) {
                Some(next) => instant = next,
                None => break,
            }
        }
        self.line(&format!("<path d=\"{lines}\" stroke=\"{GRID}\" fill=\"none\"/>"));
        self.line(&format!("<g font-size=\"{SMALL}\" text-anchor=\"middle\">"));
        self.out.push_str(&labels);
        self.line("</g>");
        self.text(left - EDGE, bottom + 14, &format!(" font-size=\"{SMALL}\" text-anchor=\"end\""), &unit);
    }

    /// The bar above the devices that says where warm-up, steady phase and cool-down lie.
    fn phases(&mut self, top: i64) {
        let (left, bottom) = (self.layout.left, self.layout.bottom());
        let y = top + 10;
        self.line(&format!("<g font-size=\"{SMALL}\" text-anchor=\"middle\" fill=\"{CURVE_EDGE}\">"));
        for (phase, from, to) in self.picture.phases().list() {
            let name = phase.name();
            let (from, to) = (left * 100 + self.layout.across(from), left * 100 + self.layout.across(to));
            let (begin, end, middle) =
                (decimal(from + 100), decimal(to - 100), decimal(i64::midpoint(from, to)));
            let room = to - from - 600;
            let text = width_of(name, SMALL);
            let mut shape = format!("M{begin} {}V{}", y - 4, y + 4);
            if text <= room {
                let (until, again) = (
                    decimal(i64::midpoint(from, to) - text / 2),
                    decimal(i64::midpoint(from, to) + text / 2),
                );
                write!(shape, "M{begin} {y}H{until}M{again} {y}H{end}")
                    .expect("writing to a string cannot fail");
                self.line(&format!("<text x=\"{middle}\" y=\"{}\">{name}</text>", y + 4));
            } else {
                write!(shape, "M{begin} {y}H{end}").expect("writing to a string cannot fail");
            }
            write!(shape, "M{end} {}V{}", y - 4, y + 4).expect("writing to a string cannot fail");
            self.line(&format!("<path d=\"{shape}\" stroke=\"{CURVE_EDGE}\" fill=\"none\"/>"));
            if to < (left + self.layout.plot) * 100 {
                self.line(&format!(
                    "<path d=\"M{} {}V{bottom}\" stroke=\"{CURVE_EDGE}\" stroke-dasharray=\"2 3\"/>",
                    decimal(to),
                    self.layout.top
                ));
            }
        }
        self.line("</g>");
    }

    fn row(&mut self, device: Device, memory: Option<&[Held]>) {
        let (top, row) = (self.layout.top_of(device), self.layout.row);
        let base = decimal(top + row.cell / 2 + 400);
        let end = " text-anchor=\"end\"";
        let x = self.layout.left - EDGE;
        self.line(&format!("<text x=\"{x}\" y=\"{base}\"{end}>device {device}</text>"));
        if self.how.shows(Part::Figures) {
            let x = self.layout.right() + EDGE;
            let curve = self.layout.curve_of(device).map_or(0, |(at, height)| at + height / 2 + 400);
            let ys = [top + row.cell / 2 + 400, top + curve];
            for (text, y) in figures(self.picture, device, memory.is_some()).into_iter().zip(ys) {
                let y = decimal(y);
                self.line(&format!("<text x=\"{x}\" y=\"{y}\" font-size=\"{SMALL}\">{text}</text>"));
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

    fn passes(&mut self, device: Device) {
        let (picture, layout) = (self.picture, &self.layout);
        let cell = decimal(layout.row.cell);
        // White edges part the passes, unless they would cover them.
        let edged = layout.across(picture.typical_duration()) >= 400;
        let mut shapes: BTreeMap<Look, String> = BTreeMap::new();
        let mut labels: BTreeMap<&'static str, String> = BTreeMap::new();
        for Span { pass, start, end } in picture.passes(device) {
            let (from, to) = (layout.across(start), layout.across(end));
            let chunk = picture.chunk(pass);
            let shape = shapes.entry((pass.kind, chunk)).or_default();
            let (x, length) = (decimal(from), decimal(to - from));
            write!(shape, "M{x} 0h{length}v{cell}h-{length}z").expect("writing to a string cannot fail");
            let Some(size) = layout.numbers else { continue };
            let text = pass.microbatch.to_string();
            if width_of(&text, size) + 100 <= to - from {
                let ink = Colour::of(pass.kind, chunk, picture.chunks(), Ground::Light).ink();
                let middle = decimal(i64::midpoint(from, to));
                let y = decimal(layout.row.cell / 2 + size * 36);
                writeln!(labels.entry(ink).or_default(), "<text x=\"{middle}\" y=\"{y}\">{text}</text>")
                    .expect("writing to a string cannot fail");
            }
        }
        let mut pairs = String::new();
        for &first in picture.schedule.overlaps(device) {
            let (start, end) = (picture.at((device, first)).start, picture.at((device, first + 1)).end);
            let (from, to) = (layout.across(start), layout.across(end));
            let (x, length) = (decimal(from), decimal(to - from));
            write!(pairs, "M{x} 0h{length}v{cell}h-{length}z").expect("writing to a string cannot fail");
        }
        let (span, size) = (picture.span(device), layout.numbers.unwrap_or(SMALL));
        if let Some((start, end)) = span {
            let (from, to) = (layout.across(start), layout.across(end));
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

    fn memory(&mut self, device: Device, memory: &[Held], at: i64, height: i64) {
        let picture = self.picture;
        let capacity = picture.capacity(device);
        let capacities = picture.devices().filter_map(|device| picture.capacity(device));
        let most = capacities.chain(picture.peak_memory.iter().copied()).max().unwrap_or_default();
        let passes = picture.passes(device).zip(memory).map(|(span, &held)| (span.start, span.end, held));
        let curve = curve(&self.layout, passes, picture.model.resident(device), height, most);
        self.line(&format!("<g transform=\"translate(0 {})\">", decimal(at)));
        let ground = decimal(height);
        self.line(&format!(
            "<path d=\"M0 {ground}H{}\" stroke=\"{GRID}\"/>",
            decimal(self.layout.across(picture.makespan()))
        ));
        if !curve.path.is_empty() {
            self.line(&format!(
                "<path d=\"{}\" fill=\"{CURVE}\" stroke=\"{CURVE_EDGE}\" stroke-width=\".8\"/>",
                curve.path
            ));
        }
        if let Some(capacity) = capacity {
            let y = decimal(height - rise(capacity, height, most));
            self.line(&format!(
                "<path d=\"M0 {y}H{}\" stroke=\"{CAPACITY}\" stroke-width=\"1.2\" stroke-dasharray=\"4 2\"/>",
                decimal(self.layout.across(picture.makespan()))
            ));
        }
        let peak = picture.peak_memory[device.index()];
        if let Some(x) = curve.peak_at.filter(|_| peak > Units::ZERO) {
            let y = decimal(height - rise(peak, height, most));
            self.line(&format!("<circle cx=\"{}\" cy=\"{y}\" r=\"2.5\"/>", decimal(x)));
        }
        self.line("</g>");
    }

    /// The critical path: a line below its passes, and between them where it changes device.
    fn critical_path(&mut self) {
        let left = self.layout.left * 100;
        let mut path = String::new();
        let mut before = None;
        for &(device, position) in &self.picture.critical {
            let Span { start, end, .. } = self.picture.at((device, position));
            let y = self.layout.top_of(device) + self.layout.path_of(device);
            let (from, to) = (left + self.layout.across(start), left + self.layout.across(end));
            match before {
                None => write!(path, "M{} {}", decimal(from), decimal(y)),
                Some((same, _)) if same == y => Ok(()),
                Some(_) => write!(path, "L{} {}", decimal(from), decimal(y)),
            }
            .expect("writing to a string cannot fail");
            write!(path, "H{}", decimal(to)).expect("writing to a string cannot fail");
            before = Some((y, to));
        }
        if !path.is_empty() {
            let open = "<path fill=\"none\" stroke-linejoin=\"round\" stroke";
            self.line(&format!("{open}=\"#fff\" stroke-width=\"3.5\" d=\"{path}\"/>"));
            self.line(&format!("{open}=\"#000\" stroke-width=\"1.8\" d=\"{path}\"/>"));
        }
    }
}
