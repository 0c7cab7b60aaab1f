//! Colours of passes: a hue for each kind, from dark in the first chunk of a device to light in its last. What is sent
//! has the colour of the pass that yields it; other work has colours of its own.
//!
//! Any two kinds, of whatever chunks, stay apart for readers with each form of colour blindness, and so do
//! a pass and a bubble, and other work and either; a test holds the palette to that.

use crate::analysis::{Job, Subject, Work};
use crate::model::Kind;

/// Red, green and blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Colour(pub(super) [u8; 3]);

/// What a picture is drawn on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ground {
    /// White paper.
    Light,
    /// A dark screen.
    Dark,
}

impl Ground {
    /// The colour of the ground itself.
    pub(super) const fn colour(self) -> Colour {
        match self {
            Self::Light => Colour([0xff, 0xff, 0xff]),
            Self::Dark => Colour([0x14, 0x16, 0x1a]),
        }
    }

    /// The colour of a bubble on it.
    pub(super) const fn bubble(self) -> Colour {
        match self {
            Self::Light => Colour([0xee, 0xee, 0xf1]),
            Self::Dark => Colour([0x2a, 0x2d, 0x34]),
        }
    }
}

impl Colour {
    const WHITE: Self = Self([0xff; 3]);

    /// The colour of a pass of this kind in a chunk, given the number of chunks.
    pub(super) fn of(kind: Kind, chunk: usize, chunks: usize, ground: Ground) -> Self {
        let (dark, light) = match kind {
            Kind::F => ([0x21, 0x45, 0xc0], [0x82, 0xa4, 0xfa]),
            Kind::R => ([0x3f, 0x40, 0x44], [0x9a, 0x9b, 0xa2]),
            Kind::I => ([0xa6, 0x4f, 0x0c], [0xf3, 0xa6, 0x3a]),
            Kind::W => ([0x1c, 0x8a, 0x56], [0x5f, 0xe0, 0xa0]),
            Kind::B => ([0x7a, 0x22, 0x76], [0xf2, 0xb8, 0xee]),
        };
        // Against a dark ground the darkest would not stand out.
        let dark = match ground {
            Ground::Light => Self(dark),
            Ground::Dark => Self(dark).mixed(Self::WHITE, 1, 5),
        };
        dark.mixed(Self(light), chunk, chunks.saturating_sub(1).max(1))
    }

    /// The colour of work beside or behind the passes, in a chunk. Of messages it is that of the passes of this kind.
    pub(super) fn of_work(work: Work, sender: Kind, chunk: usize, chunks: usize, ground: Ground) -> Self {
        match (work, ground) {
            (Work::Activation | Work::Gradient, _) => Self::of(sender, chunk, chunks, ground),
            (Work::ToHost, Ground::Light) => Self([0x88, 0x00, 0x11]),
            (Work::ToHost, Ground::Dark) => Self([0xee, 0xee, 0xee]),
            (Work::FromHost, Ground::Light) => Self([0xaa, 0xdd, 0x77]),
            (Work::FromHost, Ground::Dark) => Self([0xaa, 0xff, 0x88]),
            (Work::Gather, Ground::Light) => Self([0xcc, 0x33, 0x44]),
            (Work::Gather, Ground::Dark) => Self([0xaa, 0x44, 0x44]),
            (Work::Reduction, _) => Self([0x88, 0x11, 0xff]),
            (Work::Optimizer, _) => Self([0xee, 0xdd, 0x00]),
        }
    }

    /// The colour of a task beside or behind the passes.
    pub(super) fn of_job(job: Job, chunk: usize, chunks: usize, ground: Ground) -> Self {
        let sender = match job.subject {
            Subject::Pass(pass) => pass.kind,
            Subject::Stage(_) => Kind::F,
        };
        Self::of_work(job.work, sender, chunk, chunks, ground)
    }

    /// A mix with another colour, which has `parts` parts out of `of`.
    fn mixed(self, other: Self, parts: usize, of: usize) -> Self {
        let parts = parts.min(of);
        Self(std::array::from_fn(|at| {
            let sum = usize::from(self.0[at]) * (of - parts) + usize::from(other.0[at]) * parts;
            u8::try_from(sum / of).expect("a mean of bytes is a byte")
        }))
    }

    /// The colour of text on this one that reads better: black or white. One of them always has a contrast of
    /// at least 4.5 (WCAG 2.2, success criterion 1.4.3).
    pub(super) fn ink(self) -> &'static str {
        // The luminance at which black and white have the same contrast is 0.179.
        if self.luminance_in_millionths() < 179_000 { "#fff" } else { "#000" }
    }

    /// The relative luminance of WCAG 2.2 in millionths, from a table of the linear values of sRGB at every
    /// sixteenth level, interpolated: off by less than two thousandths of white.
    fn luminance_in_millionths(self) -> u64 {
        /// The linear value of the levels 0, 17, 34, ... 255, in millionths.
        const LINEAR: [u64; 16] = [
            0, 5_605, 15_996, 33_105, 57_805, 90_842, 132_868, 184_475, 246_201, 318_547, 401_978, 496_933,
            603_827, 723_055, 854_993, 1_000_000,
        ];
        let linear = |level: u8| {
            let (step, rest) = (usize::from(level / 17), u64::from(level % 17));
            let next = LINEAR[(step + 1).min(15)];
            (LINEAR[step] * (17 - rest) + next * rest) / 17
        };
        let [red, green, blue] = self.0;
        (2126 * linear(red) + 7152 * linear(green) + 722 * linear(blue)) / 10_000
    }

    /// As CSS and SVG write it.
    pub(super) fn hex(self) -> String {
        let [red, green, blue] = self.0;
        format!("#{red:02x}{green:02x}{blue:02x}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The linear values of a colour of sRGB.
    fn linear(colour: Colour) -> [f64; 3] {
        colour.0.map(|level| {
            let level = f64::from(level) / 255.0;
            if level <= 0.04045 { level / 12.92 } else { ((level + 0.055) / 1.055).powf(2.4) }
        })
    }

    fn luminance(colour: Colour) -> f64 {
        let [red, green, blue] = linear(colour);
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }

    fn contrast(a: Colour, b: Colour) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    /// How the eye sees linear values: in full, and with complete protanopia, deuteranopia and tritanopia
    /// (Machado, Oliveira and Fernandes, IEEE TVCG 15(6), 2009, table 1).
    const EYES: [[[f64; 3]; 3]; 4] = [
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        [
            [0.152_286, 1.052_583, -0.204_868],
            [0.114_503, 0.786_281, 0.099_216],
            [-0.003_882, -0.048_116, 1.051_998],
        ],
        [
            [0.367_322, 0.860_646, -0.227_968],
            [0.280_085, 0.672_501, 0.047_413],
            [-0.011_820, 0.042_940, 0.968_881],
        ],
        [
            [1.255_528, -0.076_749, -0.178_779],
            [-0.078_411, 0.930_809, 0.147_602],
            [0.004_733, 0.691_367, 0.303_900],
        ],
    ];

    /// CIE L*a*b* of what an eye makes of a colour.
    fn lab(colour: Colour, eye: &[[f64; 3]; 3]) -> [f64; 3] {
        let seen = linear(colour);
        let [red, green, blue] = eye
            .map(|row| row.iter().zip(seen).map(|(part, value)| part * value).sum::<f64>().clamp(0.0, 1.0));
        let root = |value: f64| if value > 0.008_856 { value.cbrt() } else { 7.787 * value + 16.0 / 116.0 };
        let x = root((0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.950_47);
        let y = root(0.2126 * red + 0.7152 * green + 0.0722 * blue);
        let z = root((0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.088_83);
        [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
    }

    fn apart(a: Colour, b: Colour, eye: &[[f64; 3]; 3]) -> f64 {
        lab(a, eye).iter().zip(lab(b, eye)).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
    }

    fn all(ground: Ground) -> Vec<(Kind, usize, usize, Colour)> {
        let chunks = (1..=4).flat_map(|chunks| (0..chunks).map(move |chunk| (chunk, chunks)));
        chunks
            .flat_map(|(chunk, chunks)| {
                Kind::ALL.map(|kind| (kind, chunk, chunks, Colour::of(kind, chunk, chunks, ground)))
            })
            .collect()
    }

    #[test]
    fn kinds_and_bubbles_are_told_apart_by_every_eye() {
        // A difference of 2.3 is just noticeable.
        for ground in [Ground::Light, Ground::Dark] {
            for eye in &EYES {
                let colours = all(ground);
                for &(kind, chunk, chunks, colour) in &colours {
                    let bubble = apart(colour, ground.bubble(), eye);
                    assert!(bubble > 12.0, "{kind}{chunk} and bubble, {ground:?}: {bubble}");
                    for &(other, at, of, beside) in &colours {
                        if chunks == of && kind != other {
                            let apart = apart(colour, beside, eye);
                            assert!(
                                apart > 12.0,
                                "{kind}{chunk} and {other}{at} of {of}, {ground:?}: {apart}"
                            );
                        } else if chunks == of && chunk != at {
                            let apart = apart(colour, beside, eye);
                            assert!(apart > 5.0, "{kind}{chunk} and {kind}{at} of {of}, {ground:?}: {apart}");
                        }
                    }
                }
            }
        }
    }

    /// The colours of work that has colours of its own.
    fn works(ground: Ground) -> Vec<(Work, Colour)> {
        let own = Work::ALL.into_iter().filter(|work| !matches!(work, Work::Activation | Work::Gradient));
        own.map(|work| (work, Colour::of_work(work, Kind::F, 0, 1, ground))).collect()
    }

    #[test]
    fn other_work_is_told_apart_from_passes_and_bubbles_by_every_eye() {
        for ground in [Ground::Light, Ground::Dark] {
            for eye in &EYES {
                for (work, colour) in works(ground) {
                    let grounds = [ground.bubble(), ground.colour()];
                    let passes = all(ground).into_iter().map(|(.., pass)| pass);
                    let works = works(ground).into_iter().filter(|&(other, _)| other != work);
                    for beside in passes.chain(grounds).chain(works.map(|(_, colour)| colour)) {
                        let apart = apart(colour, beside, eye);
                        assert!(apart > 12.0, "{work:?} and {}, {ground:?}: {apart}", beside.hex());
                    }
                }
            }
        }
    }

    #[test]
    fn text_on_other_work_has_the_contrast_of_normal_text_and_stands_out_from_a_dark_ground() {
        for ground in [Ground::Light, Ground::Dark] {
            for (work, colour) in works(ground) {
                let ink = if colour.ink() == "#fff" { Colour::WHITE } else { Colour([0; 3]) };
                assert!(contrast(colour, ink) >= 4.5, "{work:?}");
                assert!(ground == Ground::Light || contrast(colour, ground.colour()) >= 3.0, "{work:?}");
            }
        }
    }

    #[test]
    fn text_on_a_pass_has_the_contrast_of_normal_text() {
        for ground in [Ground::Light, Ground::Dark] {
            for (kind, chunk, chunks, colour) in all(ground) {
                let ink = if colour.ink() == "#fff" { Colour::WHITE } else { Colour([0; 3]) };
                let contrast = contrast(colour, ink);
                assert!(contrast >= 4.5, "{kind}{chunk} of {chunks}: {contrast}");
            }
        }
    }

    #[test]
    fn the_darkest_passes_stand_out_from_a_dark_ground() {
        for (kind, chunk, chunks, colour) in all(Ground::Dark) {
            let contrast = contrast(colour, Ground::Dark.colour());
            assert!(contrast >= 3.0, "{kind}{chunk} of {chunks}: {contrast}");
        }
    }

    #[test]
    fn luminance_in_integers_is_that_of_the_standard() {
        for level in 0..=u8::MAX {
            for colour in [Colour([level; 3]), Colour([level, 0, 90]), Colour([200, level, 10])] {
                let exact = luminance(colour);
                let found = f64::from(u32::try_from(colour.luminance_in_millionths()).expect("small")) / 1e6;
                assert!((exact - found).abs() < 0.002, "{colour:?}: {found} for {exact}");
            }
        }
    }
}
