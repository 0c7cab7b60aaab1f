//! The panels of a block, from top to bottom.

use std::fmt::Write as _;

use num_integer::Integer;

use super::live::live;
use super::paper::{CELL, Column, FAINT, GRID, LEFT, LINE, PITCH, Paper, SMALL, Shape, TINY, size_for};
use super::steps::{Cell, Step, StepKind};
use super::{BlockPicture, end_of, legend, legend_width};
use crate::amounts::amount;
use crate::draw::xml::{decimal, width_of};
use crate::model::{Device, Pass};

/// The height of a lifespan with its label.
const BAR: i64 = 10;
/// The height of the curve of what is live.
const CURVE: i64 = 22;
/// The width that the shortest pass has in the pattern modulo the interval.
const SHORTEST: i64 = 40;

/// Head and panels of a block: each as SVG, with its height.
pub(super) fn of(picture: &BlockPicture<'_>, column: &Column) -> Vec<(String, i64)> {
    let mut panels = vec![head(picture, column), offsets(picture, column), modulo(picture, column)];
    panels.extend(
        picture.steps.iter().zip('c'..).map(|(step, letter)| self::step(picture, column, step, letter)),
    );
    panels
}

fn head(picture: &BlockPicture<'_>, column: &Column) -> (String, i64) {
    let mut paper = Paper::new(picture, column);
    paper.y = 4;
    paper.paragraph(&picture.title(), 13, " font-weight=\"bold\"");
    for line in legend(picture, column.width - 16) {
        let mut x = 8;
        for (shades, text) in line {
            let mut at = x;
            for shade in &shades {
                let fill = shade.hex();
                paper.line(&format!(
                    "<rect x=\"{at}\" y=\"{}\" width=\"12\" height=\"11\" fill=\"{fill}\"/>",
                    paper.y + 6
                ));
                at += 13;
            }
            let (left, base) = ((at + 4).to_string(), (paper.y + 16).to_string());
            paper.text(&left, &base, &format!(" font-size=\"{SMALL}\""), &text);
            x += legend_width(shades.len(), &text);
        }
        paper.y += LINE;
    }
    (paper.out, paper.y + 8)
}

/// (a): one microbatch, and the lifespans of its stages.
fn offsets(picture: &BlockPicture<'_>, column: &Column) -> (String, i64) {
    let BlockPicture { block, model, .. } = picture;
    let mut paper = Paper::new(picture, column);
    let of = match block.period() {
        1 => "One microbatch".to_owned(),
        period => format!("{period} microbatches"),
    };
    paper.paragraph(
        &format!("(a) {of} at the offsets of the block. Bars are the lifespans of the stages."),
        SMALL,
        "",
    );
    paper.y += 6;
    let chunks = i64::try_from(picture.chunks()).expect("a few");
    let pitch = CELL + 2 + BAR * chunks + 4;
    let devices = i64::from(block.placement().devices());
    let latest = block.passes().map(|(pass, at)| end_of(picture, pass, at.0)).max().unwrap_or(1);
    paper.intervals(latest, paper.y + pitch * devices);
    for device in Device::all(block.placement().devices()) {
        let y = paper.y;
        paper.device(device.index(), y);
        let cells: Vec<Cell> = block
            .passes_of(device)
            .map(|(pass, at)| Cell { pass, start: at.0, end: end_of(picture, pass, at.0) })
            .collect();
        // All letters or none: W is the widest.
        let mut shapes = with_labels(&paper, &cells, |_| "W".to_owned(), |_| false);
        for shape in &mut shapes {
            if let Some((label, _)) = &mut shape.label {
                *label = shape.cell.pass.kind.to_string();
            }
        }
        paper.cells(&shapes, y, true);
        let mut bar = y + CELL + 2;
        for &stage in block.placement().stages_of(device) {
            let lifespan = block.lifespan(model, stage).0;
            let first = cells.iter().filter(|cell| cell.pass.stage == stage).map(|cell| cell.start).min();
            let first = first.unwrap_or(0);
            let (from, to) = (paper.x(first), paper.x(first + lifespan));
            let middle = bar + BAR / 2;
            paper.line(&format!(
                "<path d=\"M{} {}v6M{} {middle}H{}M{} {}v6\" stroke=\"{FAINT}\" stroke-width=\"1.2\"/>",
                decimal(from),
                middle - 3,
                decimal(from),
                decimal(to),
                decimal(to),
                middle - 3
            ));
            let text =
                format!("{} = {} T", picture.time(lifespan), intervals(lifespan, block.interval_parts().0));
            let (x, base) = (decimal(to + 400), decimal(middle * 100 + TINY * 34));
            paper.text(&x, &base, &format!(" font-size=\"{TINY}\" fill=\"{FAINT}\""), &text);
            bar += BAR;
        }
        paper.y += pitch;
    }
    (paper.out, paper.y + 16)
}

/// A number of intervals with two decimals at most.
fn intervals(parts: i64, interval: i64) -> String {
    decimal(Integer::div_floor(&(parts * 200 + interval), &(2 * interval)))
}

/// (b): the passes modulo the interval, and what a device holds at every instant of it.
fn modulo(picture: &BlockPicture<'_>, column: &Column) -> (String, i64) {
    let BlockPicture { block, model, .. } = picture;
    let interval = block.interval_parts().0;
    let mut paper = Paper::new(picture, column);
    let faults = block.faults(model).len();
    let pattern = match faults {
        0 => "no passes collide".to_owned(),
        1 => "the block has a fault".to_owned(),
        faults => format!("the block has {faults} faults"),
    };
    paper.paragraph(
        &format!(
            "(b) Modulo the interval {pattern}. The device works on the microbatch in the cell while microbatch n enters. \
             The curve is what it holds."
        ),
        SMALL,
        "",
    );
    paper.y += 6;
    // The pattern has a scale of its own, at which its labels can be read.
    let durations =
        block.passes().map(|(pass, _)| block.duration(model, pass).0).filter(|&length| length > 0);
    let shortest = i128::from(durations.min().unwrap_or(1));
    let room = (column.plot - 90).max(100);
    let width = (i128::from(interval) * i128::from(SHORTEST) / shortest).min(i128::from(room));
    let width = i64::try_from(width).unwrap_or(room).max(60) * 100;
    let place = |at: i64| {
        let at = i128::from(at) * i128::from(width) / i128::from(interval);
        LEFT * 100 + i64::try_from(at).unwrap_or(width)
    };
    let pitch = CELL + 2 + CURVE + 6;
    let peaks = block.steady_peak(model);
    let most = i128::from(peaks.iter().copied().max().unwrap_or_default().0.max(1));
    for device in Device::all(block.placement().devices()) {
        let y = paper.y;
        paper.device(device.index(), y);
        let (left, right) = (decimal(place(0)), decimal(place(interval)));
        paper.line(&format!(
            "<rect x=\"{left}\" y=\"{y}\" width=\"{}\" height=\"{CELL}\" fill=\"{}\"/>",
            decimal(width),
            crate::draw::colour::Ground::Light.bubble().hex()
        ));
        let mut shapes = Vec::new();
        for (pass, offset) in block.passes_of(device) {
            let (whole, start) = offset.0.div_mod_floor(&interval);
            let end = end_of(picture, pass, start);
            let period = i64::from(block.period());
            let behind = i64::from(pass.microbatch.0) - whole * period;
            let label = match behind {
                0 => "n".to_owned(),
                1.. => format!("n+{behind}"),
                _ => format!("n\u{2212}{}", -behind),
            };
            // What goes past the end of the interval goes on at its beginning.
            for (from, to) in [(start, end.min(interval)), (0, end - interval)] {
                if from < to {
                    let (from, to) = (place(from), place(to.min(interval)));
                    let size = size_for(&label, to - from, 10);
                    let label = size.map(|size| (label.clone(), size));
                    let cell = Cell { pass, start, end };
                    shapes.push(Shape { cell, from, to, label, is_framed: false });
                }
            }
        }
        paper.cells(&shapes, y, true);
        let live = live(block, model, device);
        let (top, ground) = (y + CELL + 3, y + CELL + 3 + CURVE);
        let mut path = format!("M{left} {ground}");
        for (at, &(from, held)) in live.iter().enumerate() {
            let to = live.get(at + 1).map_or(interval, |&(to, _)| to);
            let rise = i64::try_from(held * i128::from(CURVE - 8) * 100 / most).unwrap_or(0);
            let height = ground * 100 - rise;
            write!(path, "V{}H{}", decimal(height), decimal(place(to)))
                .expect("writing to a string cannot fail");
            let text = amount(i64::try_from(held).unwrap_or(i64::MAX), &model.memory().unit);
            if width_of(&text, TINY) <= place(to) - place(from) {
                let x = decimal(i64::midpoint(place(from), place(to)));
                paper.text(
                    &x,
                    &decimal(height - 150),
                    &format!(" font-size=\"{TINY}\" fill=\"{FAINT}\" text-anchor=\"middle\""),
                    &text,
                );
            }
        }
        paper.line(&format!(
            "<path d=\"{path}V{ground}z\" fill=\"#c9ccd6\" fill-opacity=\".6\" stroke=\"{FAINT}\" stroke-width=\".8\"/>"
        ));
        paper.line(&format!("<path d=\"M{right} {y}V{ground}M{left} {y}V{ground}\" stroke=\"{GRID}\"/>"));
        let peak = format!("peak {}", amount(peaks[device.index()].0, &model.memory().unit));
        let (x, base) = (decimal(place(interval) + 600), (top + CURVE - 6).to_string());
        paper.text(&x, &base, &format!(" font-size=\"{SMALL}\""), &peak);
        paper.y += pitch;
    }
    let y = (paper.y + 4).to_string();
    let look = format!(" font-size=\"{TINY}\" fill=\"{FAINT}\" text-anchor=\"middle\"");
    paper.text(&decimal(place(0)), &y, &look, "0");
    paper.text(&decimal(place(interval)), &y, &look, "T");
    (paper.out, paper.y + 14)
}

/// (c) and on: the passes of all microbatches.
fn step(picture: &BlockPicture<'_>, column: &Column, step: &Step, letter: char) -> (String, i64) {
    let mut paper = Paper::new(picture, column);
    let time = picture.time(step.makespan);
    let caption = match &step.kind {
        StepKind::Repeated => {
            format!("{} copies, one interval apart: {time}. Frames mark microbatch 0.", step.microbatches)
        }
        StepKind::LeftShifted => format!("Left-shifted, every pass as soon as possible: {time}."),
        StepKind::Reordered(Some(name)) => {
            format!("Reordered within the peak, by the builder of {name}: {time}.")
        }
        StepKind::Reordered(None) => format!("Reordered: {time}."),
    };
    paper.paragraph(&format!("({letter}) {caption}"), SMALL, "");
    paper.y += 6;
    let rows = i64::try_from(step.rows.len()).expect("a few");
    paper.intervals(step.makespan, paper.y + PITCH * rows);
    let is_framed = step.kind == StepKind::Repeated;
    for (device, row) in step.rows.iter().enumerate() {
        let y = paper.y;
        paper.device(device, y);
        if let (Some(first), Some(last)) = (row.first(), row.last()) {
            let (from, to) = (paper.x(first.start), paper.x(last.end));
            paper.line(&format!(
                "<rect x=\"{}\" y=\"{y}\" width=\"{}\" height=\"{CELL}\" fill=\"{}\"/>",
                decimal(from),
                decimal(to - from),
                crate::draw::colour::Ground::Light.bubble().hex()
            ));
        }
        let last = (step.microbatches - 1).to_string();
        let widest = |_: Pass| last.clone();
        let mut shapes = with_labels(&paper, row, widest, |pass| is_framed && pass.microbatch.0 == 0);
        for shape in &mut shapes {
            if let Some((label, _)) = &mut shape.label {
                *label = shape.cell.pass.microbatch.to_string();
            }
        }
        paper.cells(&shapes, y, true);
        paper.y += PITCH;
    }
    (paper.out, paper.y + 18)
}

/// Passes at their places, with the widest label where it has room.
fn with_labels(
    paper: &Paper<'_>,
    cells: &[Cell],
    widest: impl Fn(Pass) -> String,
    is_framed: impl Fn(Pass) -> bool,
) -> Vec<Shape> {
    cells
        .iter()
        .map(|&cell| {
            let (from, to) = (paper.x(cell.start), paper.x(cell.end));
            let widest = widest(cell.pass);
            let length = paper.x(cell.end - cell.start) - paper.x(0) - 1;
            let label = size_for(&widest, length, 10).map(|size| (widest, size));
            Shape { cell, from, to, label, is_framed: is_framed(cell.pass) }
        })
        .collect()
}
