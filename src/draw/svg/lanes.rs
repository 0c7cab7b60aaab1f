//! The lanes below a device: links, copy engines and collective streams; and its optimiser steps.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::canvas::{Canvas, GRID, rectangle};
use super::measures::{EDGE, LANE_TEXT};
use super::numbers::{FREE, LEAST};
use super::time::Visible;
use crate::analysis::Job;
use crate::draw::colour::{Colour, Ground};
use crate::draw::xml::{decimal, width_of};
use crate::draw::{beside, sign};
use crate::model::Device;

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
        let size = self.layout.numbers.map_or(0, |numbers| numbers.size);
        self.jobs(picture.steps(device), cell, size, edge);
    }

    /// Tasks of a height, with their microbatch or stage where it fits at a size.
    fn jobs(&mut self, jobs: &[Job], height: i64, size: i64, edge: &str) {
        let (picture, layout) = (self.picture, &self.layout);
        let cell = decimal(height);
        let mut shapes: BTreeMap<String, String> = BTreeMap::new();
        let mut labels: BTreeMap<&'static str, String> = BTreeMap::new();
        // Edges part the tasks, unless they would cover them.
        let edged = jobs.iter().all(|job| layout.time.length(job.duration()) >= 300);
        // As with the passes, the widest number decides for all.
        let widest = jobs.iter().map(|&job| sign(job).1).max().unwrap_or_default().to_string();
        let need = width_of(&widest, size) + FREE;
        for &job in jobs {
            let colour = Colour::of_job(job, picture.chunk_of(job), picture.chunks(), Ground::Light);
            for Visible { from, to, .. } in layout.time.visible(job.start, job.end) {
                rectangle(shapes.entry(colour.hex()).or_default(), from, to, &cell);
                if layout.numbers.is_none() || size < LEAST || need > to - from {
                    continue;
                }
                let middle = decimal(i64::midpoint(from, to));
                let y = decimal(height / 2 + size * 36);
                let labels = labels.entry(colour.ink()).or_default();
                writeln!(labels, "<text x=\"{middle}\" y=\"{y}\">{}</text>", sign(job).1)
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
