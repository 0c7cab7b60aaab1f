//! The axis of time: its labels, the bar of phases, and the breaks where time is left out.

use std::fmt::Write as _;

use super::canvas::{CURVE_EDGE, Canvas, GRID};
use super::measures::{EDGE, SMALL};
use super::time::Visible;
use crate::draw::colour::Ground;
use crate::draw::scale::{axis_step, readable};
use crate::draw::xml::{decimal, escape, width_of};
use crate::model::Ticks;

/// What is left between two labels, in hundredths of a pixel.
const APART: i64 = 400;

impl Canvas<'_> {
    /// The lines of round instants, with their labels.
    pub(super) fn axis(&mut self) {
        let (left, top, bottom) = (self.layout.left, self.layout.top, self.layout.bottom());
        let time = &self.layout.time;
        let unit = &self.picture.model.costs().unit;
        let step = self.step();
        let (times, unit) = readable(unit, step);
        let unit = shortened(unit);
        let (mut lines, mut labels) = (String::new(), String::new());
        // The unit stands before the first label, which leaves it room.
        let mut unit_ends = (left - EDGE) * 100;
        // Where the label before ends, or the unit as far to the left as it can be.
        let mut taken = unit_ends.min(width_of(&unit, SMALL) + 200) + APART;
        for (at, piece) in time.pieces().iter().enumerate() {
            let mut instant = Ticks(piece.from.0.div_euclid(step.0) * step.0);
            while instant <= piece.to {
                if instant >= piece.from {
                    let x = left * 100 + time.place(at, instant);
                    let text = (instant.0 / times).to_string();
                    write!(lines, "M{} {top}V{bottom}", decimal(x)).expect("writing to a string cannot fail");
                    // Labels on both sides of a break may have no room beside each other.
                    let half = width_of(&text, SMALL) / 2;
                    if x - half >= taken {
                        unit_ends = unit_ends.min(x - half - APART);
                        writeln!(labels, "<text x=\"{}\" y=\"{}\">{text}</text>", decimal(x), bottom + 14)
                            .expect("writing to a string cannot fail");
                        taken = x + half + APART;
                    }
                }
                match instant.checked_add(step) {
                    Some(next) => instant = next,
                    None => break,
                }
            }
        }
        self.line(&format!("<path d=\"{lines}\" stroke=\"{GRID}\" fill=\"none\"/>"));
        self.line(&format!("<g font-size=\"{SMALL}\" text-anchor=\"middle\">"));
        self.out.push_str(&labels);
        self.line("</g>");
        self.line(&format!(
            "<text x=\"{}\" y=\"{}\" font-size=\"{SMALL}\" text-anchor=\"end\">{}</text>",
            decimal(unit_ends),
            bottom + 14,
            escape(&unit)
        ));
    }

    /// The bar above the devices that says where warm-up, steady phase and cool-down lie.
    pub(super) fn phases(&mut self, top: i64) {
        let (left, bottom) = (self.layout.left * 100, self.layout.bottom());
        let y = top + 10;
        let end = self.layout.time.end();
        self.line(&format!("<g font-size=\"{SMALL}\" text-anchor=\"middle\" fill=\"{CURVE_EDGE}\">"));
        for (phase, from, to) in self.picture.phases().list() {
            let name = phase.name();
            let parts: Vec<Visible> = self.layout.time.visible(from, to).collect();
            for Visible { piece, from: begin, to: finish } in parts {
                let piece = self.layout.time.pieces()[piece];
                let (begins, ends) = (piece.from <= from, to <= piece.to);
                let (from, to) = (left + begin + 100, left + finish - if ends { 100 } else { 0 });
                let from = if begins { from } else { from - 100 };
                let middle = i64::midpoint(from, to);
                let text = width_of(name, SMALL);
                let mut shape = String::new();
                if begins {
                    write!(shape, "M{} {}V{}", decimal(from), y - 4, y + 4)
                        .expect("writing to a string cannot fail");
                }
                if text <= to - from - 400 {
                    let (until, again) = (decimal(middle - text / 2), decimal(middle + text / 2));
                    write!(shape, "M{} {y}H{until}M{again} {y}H{}", decimal(from), decimal(to))
                        .expect("writing to a string cannot fail");
                    self.line(&format!("<text x=\"{}\" y=\"{}\">{name}</text>", decimal(middle), y + 4));
                } else {
                    write!(shape, "M{} {y}H{}", decimal(from), decimal(to))
                        .expect("writing to a string cannot fail");
                }
                if ends {
                    write!(shape, "M{} {}V{}", decimal(to), y - 4, y + 4)
                        .expect("writing to a string cannot fail");
                }
                self.line(&format!("<path d=\"{shape}\" stroke=\"{CURVE_EDGE}\" fill=\"none\"/>"));
                if ends && finish < end {
                    self.line(&format!(
                        "<path d=\"M{} {}V{bottom}\" stroke=\"{CURVE_EDGE}\" stroke-dasharray=\"2 3\"/>",
                        decimal(left + finish),
                        self.layout.top
                    ));
                }
            }
        }
        self.line("</g>");
    }

    /// What is not shown: a band torn out of the rows for each break, and the words below the axis.
    pub(super) fn omitted(&mut self) {
        let Some((_, text)) = self.layout.omitted.clone() else { return };
        let left = self.layout.left * 100;
        let breaks: Vec<(i64, i64)> = self.layout.time.breaks().map(|(places, _)| places).collect();
        let mut middle = left + self.layout.plot * 50;
        for &(from, to) in &breaks {
            self.torn(left + from, left + to);
            middle = left + i64::midpoint(from, to);
        }
        let half = width_of(&text, SMALL) / 2;
        let edge = EDGE * 100 + half;
        let x = middle.clamp(edge, (self.layout.width * 100 - edge).max(edge));
        let y = self.layout.bottom() + 31;
        self.line(&format!(
            "<text x=\"{}\" y=\"{y}\" font-size=\"{SMALL}\" text-anchor=\"middle\">{}</text>",
            decimal(x),
            escape(&text)
        ));
    }

    /// A band between two zigzag lines, from above the first device to below the last.
    fn torn(&mut self, from: i64, to: i64) {
        const TOOTH: i64 = 4;
        let (top, bottom) = (self.layout.top - 4, self.layout.bottom() + 2);
        let (from, to) = (from + 200, to - 200);
        let edge = |x: i64| {
            let mut path = format!("M{} {top}", decimal(x));
            let mut y = top;
            let mut side = 1;
            while y < bottom {
                y = (y + 2 * TOOTH).min(bottom);
                write!(path, "L{} {y}", decimal(x + side * TOOTH * 50))
                    .expect("writing to a string cannot fail");
                side = -side;
            }
            path
        };
        let ground = Ground::Light.colour().hex();
        let (x, width) = (decimal(from), decimal(to - from));
        self.line(&format!(
            "<rect x=\"{x}\" y=\"{top}\" width=\"{width}\" height=\"{}\" fill=\"{ground}\"/>",
            bottom - top
        ));
        for x in [from, to] {
            self.line(&format!(
                "<path d=\"{}\" fill=\"none\" stroke=\"{CURVE_EDGE}\" stroke-linejoin=\"round\"/>",
                edge(x)
            ));
        }
    }

    /// From one label of the axis to the next: the closest round step at which the labels have room.
    fn step(&self) -> Ticks {
        let time = &self.layout.time;
        let unit = &self.picture.model.costs().unit;
        let latest = time.pieces().last().map_or(1, |piece| piece.to.0);
        let mut step = Ticks(1);
        loop {
            let (times, _) = readable(unit, step);
            let apart = width_of(&(latest / times).to_string(), SMALL) + 2200;
            if time.length(step) >= apart.max(5000) {
                return step;
            }
            match step.checked_add(Ticks(1)).map(|next| axis_step(next.0)) {
                Some(next) if next > step => step = next,
                _ => return step,
            }
        }
    }
}

/// A unit of a few letters, as it is; of a longer one the beginning.
fn shortened(unit: &str) -> String {
    const MOST: usize = 14;
    if unit.chars().count() <= MOST {
        return unit.to_owned();
    }
    unit.chars().take(MOST - 3).chain("...".chars()).collect()
}
