//! The timeline as a plain SVG: no script, no outside reference.
//!
//! Every pass is a rectangle with its edges at the nearest hundredth of a pixel. The rectangles of a
//! device that look the same are the parts of one path, which keeps the file of a hundred thousand
//! passes at one or two megabytes.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::scale::axis_step;
use super::{Picture, meaning, percent};
use crate::model::{Device, Kind, Ticks};

/// How to draw an SVG.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Svg {
    /// The width in pixels; less than [`MIN_WIDTH`](Self::MIN_WIDTH), or than the legend needs, is
    /// taken as that. `None`: wide enough to read the microbatches, within bounds.
    pub width: Option<u32>,
}

impl Svg {
    /// The least width in pixels.
    pub const MIN_WIDTH: u32 = 640;

    /// The largest width that is chosen where none is given.
    const MAX_OWN_WIDTH: i64 = 12_000;

    /// The width of a typical pass that is aimed at where no width is given.
    const PASS_WIDTH: i64 = 24;
}

/// Room for the names of the devices, left of the timeline.
const LEFT: i64 = 76;
/// Room for the figures of the devices, right of it.
const RIGHT: i64 = 150;
/// Room for title, facts and legend, above it.
const TOP: i64 = 84;
/// From one device to the next.
const PITCH: i64 = 26;
/// The height of a pass.
const CELL: i64 = 22;
/// Room for the axis, below the timeline.
const BOTTOM: i64 = 36;
/// A generous width of a digit in a label.
const DIGIT: i64 = 7;

impl Picture<'_> {
    /// The timeline as SVG. The same picture gives the same bytes.
    #[must_use]
    pub fn svg(&self, how: &Svg) -> String {
        let makespan = self.makespan().0.max(1);
        let width = how.width.map_or_else(
            || {
                let natural = i128::from(makespan) * i128::from(Svg::PASS_WIDTH)
                    / i128::from(self.typical_duration().0);
                let natural = i64::try_from(natural).unwrap_or(i64::MAX).saturating_add(LEFT + RIGHT);
                natural.clamp(i64::from(Svg::MIN_WIDTH), Svg::MAX_OWN_WIDTH)
            },
            |width| i64::from(width.max(Svg::MIN_WIDTH)),
        );
        let (legend, legend_end) = self.svg_legend();
        let width = width.max(legend_end + 8);
        let height = TOP + PITCH * i64::from(self.schedule.devices()) + BOTTOM;
        let mut canvas = Canvas { picture: self, plot: width - LEFT - RIGHT, makespan, out: String::new() };
        canvas.line(&format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\">"
        ));
        canvas.head(width);
        canvas.out.push_str(&legend);
        canvas.axis();
        for device in self.devices() {
            canvas.row(device);
        }
        canvas.line("</svg>");
        canvas.out
    }

    /// What the colours mean, and where that ends.
    fn svg_legend(&self) -> (String, i64) {
        let chunks = self.chunks();
        let mut legend = String::new();
        let mut x = 8;
        let mut entry = |swatches: &[String], text: &str| {
            for class in swatches {
                writeln!(legend, "<rect class=\"{class}\" x=\"{x}\" y=\"52\" width=\"14\" height=\"12\"/>")
                    .expect("writing to a string cannot fail");
                x += 15;
            }
            writeln!(legend, "<text x=\"{}\" y=\"62\">{text}</text>", x + 3)
                .expect("writing to a string cannot fail");
            x += 18 + DIGIT * i64::try_from(text.len()).expect("a short text");
        };
        for kind in self.kinds() {
            let first_and_last = if chunks > 1 { vec![0, chunks - 1] } else { vec![0] };
            let swatches: Vec<String> =
                first_and_last.into_iter().map(|chunk| format!("{kind}{chunk}")).collect();
            entry(&swatches, &format!("{kind} {}", meaning(kind)));
        }
        entry(&["i".to_owned()], "bubble");
        if chunks > 1 {
            entry(&[], &format!("dark to light: chunk 0 to {}", chunks - 1));
        }
        (legend, x)
    }
}

/// The picture while it is drawn.
struct Canvas<'a> {
    picture: &'a Picture<'a>,
    /// The width of the timeline in pixels.
    plot: i64,
    makespan: i64,
    out: String,
}

/// The look of a pass: its kind and its chunk.
type Look = (Kind, usize);

impl Canvas<'_> {
    fn line(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push('\n');
    }

    /// Where an instant lies in the timeline, in hundredths of a pixel.
    fn hundredths(&self, instant: Ticks) -> i64 {
        let scaled = i128::from(instant.0) * i128::from(self.plot) * 100 + i128::from(self.makespan / 2);
        i64::try_from(scaled / i128::from(self.makespan)).expect("no instant lies past the makespan")
    }

    fn head(&mut self, width: i64) {
        let picture = self.picture;
        let title = escape(&picture.title());
        self.line(&format!("<title>{title}</title>"));
        let mut style = String::from(
            "text{font:12px sans-serif;fill:#222}.h{font-size:15px;font-weight:bold}.e{text-anchor:end}\
             .m text{font-size:11px;text-anchor:middle}.m .d{fill:#fff}.g{stroke:#ddd}.i{fill:#e9e9ec}",
        );
        // White edges part the passes, unless they would cover them.
        if self.hundredths(picture.typical_duration()) >= 400 {
            style.push_str("path{stroke:#fff;stroke-width:.8}");
        }
        for kind in picture.kinds() {
            for chunk in 0..picture.chunks() {
                let [red, green, blue] = ground(kind, chunk, picture.chunks());
                write!(style, ".{kind}{chunk}{{fill:#{red:02x}{green:02x}{blue:02x}}}")
                    .expect("writing to a string cannot fail");
            }
        }
        self.line(&format!("<style>{style}</style>"));
        self.line("<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>");
        self.line(&format!("<text class=\"h\" x=\"8\" y=\"22\">{title}</text>"));
        let facts = picture.facts().join("; ");
        self.line(&format!("<text x=\"8\" y=\"42\">{}</text>", escape(&facts)));
        let right = width - RIGHT;
        let y = TOP - 8;
        self.line(&format!("<text class=\"e\" x=\"{}\" y=\"{y}\">idle</text>", right + 60));
        self.line(&format!("<text class=\"e\" x=\"{}\" y=\"{y}\">peak</text>", width - 8));
    }

    fn axis(&mut self) {
        let bottom = TOP + PITCH * i64::from(self.picture.schedule.devices());
        let digits = i64::try_from(self.makespan.to_string().len()).expect("a number has few digits");
        let apart = (digits * DIGIT + 30).max(60);
        let step = axis_step(
            i64::try_from(i128::from(self.makespan) * i128::from(apart) / i128::from(self.plot))
                .unwrap_or(i64::MAX),
        );
        let mut instant = Ticks::ZERO;
        while instant.0 <= self.makespan {
            let x = decimal(LEFT * 100 + self.hundredths(instant));
            self.line(&format!("<path class=\"g\" d=\"M{x} {}V{bottom}\"/>", TOP - 4));
            self.line(&format!(
                "<text x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{instant}</text>",
                bottom + 16
            ));
            match instant.checked_add(step) {
                Some(next) => instant = next,
                None => break,
            }
        }
        let unit = escape(&self.picture.model.costs().unit);
        self.line(&format!("<text class=\"e\" x=\"{}\" y=\"{}\">{unit}</text>", LEFT - 12, bottom + 16));
    }

    fn row(&mut self, device: Device) {
        let picture = self.picture;
        let y = TOP + PITCH * i64::from(device.0);
        let base = y + CELL / 2 + 4;
        self.line(&format!("<text class=\"e\" x=\"{}\" y=\"{base}\">device {device}</text>", LEFT - 8));
        let idle = percent(picture.idle_share(device), 1);
        let right = LEFT + self.plot;
        self.line(&format!("<text class=\"e\" x=\"{}\" y=\"{base}\">{idle} %</text>", right + 60));
        let peak = picture.peak_memory[device.index()];
        self.line(&format!("<text class=\"e\" x=\"{}\" y=\"{base}\">{peak}</text>", right + RIGHT - 8));

        let mut shapes: BTreeMap<Look, String> = BTreeMap::new();
        let mut labels = String::new();
        for (pass, start, end) in picture.passes(device) {
            let (from, to) = (self.hundredths(start), self.hundredths(end));
            let chunk = picture.chunk(pass);
            let shape = shapes.entry((pass.kind, chunk)).or_default();
            let (x, length) = (decimal(from), decimal(to - from));
            write!(shape, "M{x} 0h{length}v{CELL}h-{length}z").expect("writing to a string cannot fail");
            let text = pass.microbatch.to_string();
            let room = (to - from) / 100 - 3;
            if i64::try_from(text.len()).is_ok_and(|digits| digits * DIGIT <= room) {
                let dark = is_dark(ground(pass.kind, chunk, picture.chunks()));
                let class = if dark { " class=\"d\"" } else { "" };
                let middle = decimal(i64::midpoint(from, to));
                writeln!(labels, "<text{class} x=\"{middle}\" y=\"15\">{text}</text>")
                    .expect("writing to a string cannot fail");
            }
        }
        self.line(&format!("<g class=\"m\" transform=\"translate({LEFT} {y})\">"));
        if let Some((start, end)) = picture.span(device) {
            let (from, to) = (self.hundredths(start), self.hundredths(end));
            let (x, width) = (decimal(from), decimal(to - from));
            self.line(&format!("<rect class=\"i\" x=\"{x}\" width=\"{width}\" height=\"{CELL}\"/>"));
        }
        for ((kind, chunk), shape) in shapes {
            self.line(&format!("<path class=\"{kind}{chunk}\" d=\"{shape}\"/>"));
        }
        self.out.push_str(&labels);
        self.line("</g>");
    }
}

/// The colour of a pass: a hue for its kind, from dark in chunk 0 to light in the last.
fn ground(kind: Kind, chunk: usize, chunks: usize) -> [u8; 3] {
    let (dark, light): ([u8; 3], [u8; 3]) = match kind {
        Kind::F => ([0x2b, 0x66, 0xad], [0xa4, 0xc8, 0xee]),
        Kind::R => ([0x66, 0x66, 0x70], [0xc4, 0xc4, 0xcc]),
        Kind::I => ([0xc0, 0x6a, 0x10], [0xf7, 0xce, 0x92]),
        Kind::W => ([0x34, 0x80, 0x3d], [0xab, 0xda, 0xa9]),
        Kind::B => ([0xa8, 0x36, 0x5c], [0xee, 0xb2, 0xc8]),
    };
    let last = chunks.saturating_sub(1).max(1);
    std::array::from_fn(|part| {
        let mixed = (usize::from(dark[part]) * (last - chunk) + usize::from(light[part]) * chunk) / last;
        u8::try_from(mixed).expect("a mean of bytes is a byte")
    })
}

/// Whether white text reads better than black (weights of ITU-R BT.601).
fn is_dark([red, green, blue]: [u8; 3]) -> bool {
    299 * u32::from(red) + 587 * u32::from(green) + 114 * u32::from(blue) < 140_000
}

/// Hundredths as a decimal number without needless zeros.
pub(super) fn decimal(hundredths: i64) -> String {
    let (whole, part) = (hundredths / 100, hundredths % 100);
    match (part % 10, part) {
        (_, 0) => whole.to_string(),
        (0, _) => format!("{whole}.{}", part / 10),
        _ => format!("{whole}.{part:02}"),
    }
}

/// A text as XML has it. Control characters, which XML cannot hold, are replaced.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&apos;"),
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            _ if letter.is_control() => escaped.push('\u{fffd}'),
            _ => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_escaped_and_numbers_are_short() {
        assert_eq!(escape("a<b>&\"c'\u{1b}[é"), "a&lt;b&gt;&amp;&quot;c&apos;\u{fffd}[é");
        for (hundredths, text) in [(0, "0"), (5, "0.05"), (50, "0.5"), (100, "1"), (12_345, "123.45")] {
            assert_eq!(decimal(hundredths), text);
        }
    }
}
