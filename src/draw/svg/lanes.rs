//! The lanes below a device: links, copy engines and collective streams; and its optimiser steps.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::canvas::{Canvas, GRID};
use super::measures::{EDGE, LANE_TEXT};
use crate::analysis::Job;
use crate::draw::colour::{Colour, Ground};
use crate::draw::xml::{decimal, width_of};
use crate::draw::{beside, sign};
use crate::model::Device;

/// The least size of text that can be read.
const LEAST: i64 = 6;

impl Canvas<'_> {
    /// The lanes of a device, from the top of its passes on.
    pub(super) fn lanes(&mut self, device: Device) {
        let row = self.layout.row;
        let mut top = row.lanes_at();
        for lane in self.how.lanes(self.picture, device) {
            let (cell, below) = (row.lane_cell(), row.lane_cell() + 40);
            self.line(&format!("<g transform=\"translate(0 {})\">", decimal(top)));
            self.line(&format!("<title>{}</title>", lane.engine));
            let size = LANE_TEXT.min(row.lane / 100 - 1);
            if size >= LEAST {
                let y = decimal(cell / 2 + size * 36);
                self.line(&format!(
                    "<text x=\"-{EDGE}\" y=\"{y}\" font-size=\"{size}\" text-anchor=\"end\">{}</text>",
                    beside(lane.engine)
                ));
            }
            let width = decimal(self.layout.plot * 100);
            self.line(&format!(
                "<path d=\"M0 {}H{width}\" stroke=\"{GRID}\" stroke-width=\".6\"/>",
                decimal(below)
            ));
            self.jobs(
                &lane.jobs,
                cell,
                (LANE_TEXT - 1).min(cell / 100 - 1),
                " stroke=\"#fff\" stroke-width=\".5\"",
            );
            self.line("</g>");
            top += row.lane;
        }
    }

    /// The optimiser steps of a device, beside its passes.
    pub(super) fn steps(&mut self, device: Device, edge: &str) {
        let (picture, cell) = (self.picture, self.layout.row.cell);
        let size = self.layout.numbers.unwrap_or_default();
        self.jobs(picture.steps(device), cell, size, edge);
    }

    /// Tasks of a height, with their microbatch or stage where it fits at a size.
    fn jobs(&mut self, jobs: &[Job], height: i64, size: i64, edge: &str) {
        let (picture, layout) = (self.picture, &self.layout);
        let cell = decimal(height);
        let mut shapes: BTreeMap<String, String> = BTreeMap::new();
        let mut labels: BTreeMap<&'static str, String> = BTreeMap::new();
        // Edges part the tasks, unless they would cover them.
        let edged = jobs.iter().all(|job| layout.across(job.end) - layout.across(job.start) >= 300);
        for &job in jobs {
            let (from, to) = (layout.across(job.start), layout.across(job.end));
            let colour = Colour::of_job(job, picture.chunk_of(job), picture.chunks(), Ground::Light);
            let (x, length) = (decimal(from), decimal(to - from));
            write!(shapes.entry(colour.hex()).or_default(), "M{x} 0h{length}v{cell}h-{length}z")
                .expect("writing to a string cannot fail");
            let text = sign(job).1.to_string();
            if layout.numbers.is_some() && size >= LEAST && width_of(&text, size) + 100 <= to - from {
                let middle = decimal(i64::midpoint(from, to));
                let y = decimal(height / 2 + size * 36);
                writeln!(
                    labels.entry(colour.ink()).or_default(),
                    "<text x=\"{middle}\" y=\"{y}\">{text}</text>"
                )
                .expect("writing to a string cannot fail");
            }
        }
        let edge = if edged { edge } else { "" };
        for (fill, shape) in shapes {
            self.line(&format!("<path fill=\"{fill}\"{edge} d=\"{shape}\"/>"));
        }
        for (ink, labels) in labels {
            self.line(&format!("<g fill=\"{ink}\" font-size=\"{size}\" text-anchor=\"middle\">"));
            self.out.push_str(&labels);
            self.line("</g>");
        }
    }
}
