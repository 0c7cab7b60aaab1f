//! Plans by the memory of their fullest device and their time, with the frontier.

use std::fmt::Write as _;

use super::axis::{Axis, memory_step, short, time_step};
use super::{Entry, Key, PlanPage, memory, time};
use crate::amounts;
use crate::draw::labels::{Area, place};
use crate::draw::xml::{FONT, decimal, escape, width_of};
use crate::job::Job;
use crate::model::{Ticks, Units};

const WIDTH: i64 = 640;
const HEIGHT: i64 = 420;
const LEFT: i64 = 90;
const RIGHT: i64 = 30;
const TOP: i64 = 34;
const BOTTOM: i64 = 52;
const TEXT: i64 = 12;

/// Up to so many plans, each has its number beside it.
const NUMBERED: usize = 40;

/// How much farther than elsewhere the text beside a point is from it, in hundredths of a pixel.
const BESIDE: i64 = 500;

/// A plan on the chart.
struct Dot {
    key: Key,
    title: String,
    memory: i64,
    time: i64,
    /// Whether no other plan is both as quick and as small.
    is_frontier: bool,
}

/// All plans of a page.
pub(super) struct Chart<'a> {
    job: &'a Job,
    dots: Vec<Dot>,
    none_below: i64,
    memory: Axis,
    time: Axis,
}

impl<'a> Chart<'a> {
    pub(super) fn of(page: &PlanPage<'a>, entries: &[Entry<'_, '_>]) -> Self {
        let job = page.job;
        let frontier = frontier(entries);
        let dots: Vec<Dot> = entries
            .iter()
            .map(|entry| Dot {
                key: entry.key,
                title: format!(
                    "{}: {}, {}",
                    entry.title(),
                    time(job, entry.plan.time()),
                    memory(job, entry.plan.peak())
                ),
                memory: entry.plan.peak().0,
                time: entry.plan.time().0,
                is_frontier: frontier.contains(&entry.key),
            })
            .collect();
        let none_below = page.none_below.0;
        let of_plans =
            |of: fn(&Dot) -> i64| dots.iter().filter(|dot| matches!(dot.key, Key::Number(_))).map(of);
        let naive = dots.iter().find(|dot| matches!(dot.key, Key::Naive(_)));
        let mut memories: Vec<i64> = of_plans(|dot| dot.memory).chain(job.machine.memory).collect();
        let mut times: Vec<i64> = of_plans(|dot| dot.time).chain([none_below]).collect();
        // Where the naive plan is far from all others, these would be one spot: it is at the edge then.
        let is_crowded = dots.len() > 2;
        memories
            .extend(naive.map(|dot| dot.memory).filter(|&naive| !is_crowded || is_near(&memories, naive)));
        times.extend(naive.map(|dot| dot.time).filter(|&naive| !is_crowded || is_near(&times, naive)));
        // No point lies on an axis, and there is room for a line of text below the bound.
        let margin = |values: &[i64], parts: i64| {
            let (least, most) = (values.iter().min().copied(), values.iter().max().copied());
            least.zip(most).map(|(least, most)| (least - ((most - least) / parts).max(1)).max(0))
        };
        memories.extend(margin(&memories, 12));
        times.extend(margin(&times, 8));
        let memory = Axis::over(&memories, 6, memory_step(&job.memory_unit));
        let time = Axis::over(&times, 6, time_step);
        Self { job, dots, none_below, memory, time }
    }

    /// Where a value of memory lies, in hundredths of a pixel.
    fn x(&self, units: i64) -> i64 {
        LEFT * 100 + self.memory.place(units, (WIDTH - LEFT - RIGHT) * 100)
    }

    /// Where a time lies, in hundredths of a pixel.
    fn y(&self, ticks: i64) -> i64 {
        (HEIGHT - BOTTOM) * 100 - self.time.place(ticks, (HEIGHT - TOP - BOTTOM) * 100)
    }

    /// Whether a plan lies beyond an axis, and is drawn at its end.
    fn is_off_scale(&self, dot: &Dot) -> bool {
        let is_on = |axis: Axis, value: i64| (axis.least..=axis.most).contains(&value);
        !is_on(self.memory, dot.memory) || !is_on(self.time, dot.time)
    }

    pub(super) fn svg(&self) -> String {
        let mut out = format!(
            "<svg class=\"chart\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"group\" \
             aria-label=\"Plans by memory and time\" font-family=\"{FONT}\" font-size=\"{TEXT}\">\n"
        );
        self.axes(&mut out);
        let taken = self.lines(&mut out);
        self.stairs(&mut out);
        self.labels(&mut out, taken);
        self.dots(&mut out);
        out + "</svg>\n"
    }

    fn axes(&self, out: &mut String) {
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        for mark in self.time.marks() {
            let at = self.y(mark);
            let label = short(&amounts::time(mark, &self.job.time_unit));
            line(out, &format!("<path class=\"grid\" d=\"M{LEFT} {}H{right}\"/>", decimal(at)));
            let base = decimal(at + 400);
            line(
                out,
                &format!(
                    "<text class=\"mark\" text-anchor=\"end\" x=\"{}\" y=\"{base}\">{}</text>",
                    LEFT - 8,
                    escape(&label)
                ),
            );
        }
        for mark in self.memory.marks() {
            let at = decimal(self.x(mark));
            let label = short(&amounts::memory(mark, &self.job.memory_unit));
            line(out, &format!("<path class=\"grid\" d=\"M{at} {TOP}V{bottom}\"/>"));
            line(
                out,
                &format!(
                    "<text class=\"mark\" text-anchor=\"middle\" x=\"{at}\" y=\"{}\">{}</text>",
                    bottom + 18,
                    escape(&label)
                ),
            );
        }
        line(
            out,
            &format!(
                "<text x=\"{right}\" y=\"{}\" text-anchor=\"end\">memory of the fullest device</text>",
                bottom + 40
            ),
        );
        line(out, "<text x=\"8\" y=\"16\">time of a step</text>");
    }

    /// The memory limit and the bound, with what is written at them; returns where that is.
    fn lines(&self, out: &mut String) -> Vec<Area> {
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        let mut taken = Vec::new();
        let mut text = |out: &mut String, class: &str, (x, y): (i64, i64), anchor: &str, text: &str| {
            let width = width_of(text, TEXT);
            let left = if anchor == "end" { x - width } else { x };
            taken.push(Area { left, top: y - 1100, right: left + width, bottom: y + 300 });
            let (x, y) = (decimal(x), decimal(y));
            line(
                out,
                &format!(
                    "<text class=\"{class}\" text-anchor=\"{anchor}\" x=\"{x}\" y=\"{y}\">{}</text>",
                    escape(text)
                ),
            );
        };
        if let Some(capacity) = self.job.machine.memory {
            let at = self.x(capacity);
            line(out, &format!("<path class=\"capacity\" d=\"M{} {TOP}V{bottom}\"/>", decimal(at)));
            let label = format!("limit {}", short(&amounts::memory(capacity, &self.job.memory_unit)));
            let anchor = if at > WIDTH * 50 { "end" } else { "start" };
            text(out, "limit", (at, TOP * 100 - 700), anchor, &label);
        }
        let at = self.y(self.none_below);
        line(out, &format!("<path class=\"bound\" d=\"M{LEFT} {}H{right}\"/>", decimal(at)));
        let label = format!("no plan below {}", amounts::time(self.none_below, &self.job.time_unit));
        text(out, "least", (LEFT * 100 + 600, at + 1500), "start", &label);
        taken
    }

    /// The plans of the frontier, by growing memory.
    fn corners(&self) -> Vec<&Dot> {
        let mut corners: Vec<&Dot> = self.dots.iter().filter(|dot| dot.is_frontier).collect();
        corners.sort_by_key(|dot| (dot.memory, dot.time));
        corners
    }

    fn stairs(&self, out: &mut String) {
        let mut path = String::new();
        for (at, dot) in self.corners().into_iter().enumerate() {
            let (x, y) = (decimal(self.x(dot.memory)), decimal(self.y(dot.time)));
            let step = if at == 0 { format!("M{x} {TOP}V{y}") } else { format!("H{x}V{y}") };
            path.push_str(&step);
        }
        line(out, &format!("<path class=\"frontier\" d=\"{path}H{}\"/>", decimal(self.end())));
    }

    /// Where the frontier ends: at the memory limit, or at the most memory that is shown.
    fn end(&self) -> i64 {
        self.x(self.job.machine.memory.unwrap_or(self.memory.most))
    }

    fn labels(&self, out: &mut String, mut taken: Vec<Area>) {
        let spots: Vec<(i64, i64)> =
            self.dots.iter().map(|dot| (self.x(dot.memory), self.y(dot.time))).collect();
        taken.extend(spots.iter().map(|&spot| Area::around(spot, 650)));
        let mut above = TOP * 100;
        let corners = self.corners();
        for (at, dot) in corners.iter().enumerate() {
            let (x, y) = (self.x(dot.memory), self.y(dot.time));
            let next = corners.get(at + 1).map_or_else(|| self.end(), |next| self.x(next.memory));
            taken.push(Area { left: x - 150, top: above, right: x + 150, bottom: y });
            taken.push(Area { left: x, top: y - 150, right: next, bottom: y + 150 });
            above = y;
        }
        if let Some(capacity) = self.job.machine.memory {
            let at = self.x(capacity);
            taken.push(Area { left: at - 150, top: TOP * 100, right: at + 150, bottom: HEIGHT * 100 });
        }
        let bound = self.y(self.none_below);
        taken.push(Area {
            left: LEFT * 100,
            top: bound - 100,
            right: (WIDTH - RIGHT) * 100,
            bottom: bound + 100,
        });
        let few = self.dots.len() <= NUMBERED;
        let labelled: Vec<(usize, String)> = self
            .dots
            .iter()
            .enumerate()
            .filter(|(_, dot)| few || dot.is_frontier || matches!(dot.key, Key::Number(1) | Key::Naive(_)))
            .map(|(at, dot)| {
                let label = match dot.key {
                    Key::Number(1) => "1 best".to_owned(),
                    Key::Naive(_) if self.is_off_scale(dot) => "naive, off the scale".to_owned(),
                    Key::Naive(false) => "naive, does not fit".to_owned(),
                    key => key.to_string(),
                };
                (at, label)
            })
            .collect();
        let labels: Vec<((i64, i64), &str)> =
            labelled.iter().map(|(at, label)| (spots[*at], label.as_str())).collect();
        let bounds = Area {
            left: LEFT * 100 + 200,
            top: TOP * 100,
            right: (WIDTH - 4) * 100,
            bottom: (HEIGHT - BOTTOM) * 100 - 200,
        };
        for (mut place, (spot, label)) in place(&labels, TEXT, bounds, taken).into_iter().zip(&labels) {
            // Beside the ring around a point that is chosen, too.
            if !place.is_far {
                place.x += if place.x > spot.0 { BESIDE } else { -BESIDE };
            }
            if place.is_far {
                let end = (place.x.clamp(spot.0 - 700, spot.0 + 700), place.y - 400);
                let (from, to) = ((decimal(spot.0), decimal(spot.1)), (decimal(end.0), decimal(end.1)));
                line(out, &format!("<path class=\"lead\" d=\"M{} {}L{} {}\"/>", from.0, from.1, to.0, to.1));
            }
            line(
                out,
                &format!(
                    "<text x=\"{}\" y=\"{}\">{}</text>",
                    decimal(place.x),
                    decimal(place.y),
                    escape(label)
                ),
            );
        }
    }

    /// The plans, the best on top.
    fn dots(&self, out: &mut String) {
        line(out, "<g id=\"points\" aria-label=\"Plans\">");
        for dot in self.dots.iter().rev() {
            let (x, y) = (decimal(self.x(dot.memory)), decimal(self.y(dot.time)));
            let class = match (dot.key, dot.is_frontier) {
                (Key::Naive(_), _) => "point naive",
                (Key::Number(1), _) => "point frontier best",
                (_, true) => "point frontier",
                (_, false) => "point",
            };
            let shape = match dot.key {
                Key::Naive(_) => "<path d=\"M0 -6L6 0L0 6L-6 0Z\"/>".to_owned(),
                Key::Number(1) => "<circle r=\"6\"/>".to_owned(),
                Key::Number(_) => "<circle r=\"4.5\"/>".to_owned(),
            };
            line(
                out,
                &format!(
                    "<g class=\"{class}\" data-plan=\"{}\" data-memory=\"{}\" data-time=\"{}\" transform=\"translate({x} {y})\"><title>{}</title><circle \
                     class=\"ring\" r=\"10\"/>{shape}</g>",
                    dot.key,
                    dot.memory,
                    dot.time,
                    escape(&dot.title)
                ),
            );
        }
        line(out, "</g>");
    }
}

/// Whether a value is so near to others that they are apart on an axis with it.
fn is_near(values: &[i64], value: i64) -> bool {
    let (least, most) =
        values.iter().fold((i64::MAX, 0), |(least, most), &value| (least.min(value), most.max(value)));
    let (all, span) = (most.max(value) - least.min(value), (most - least).max(least / 50));
    all / 4 <= span
}

/// The plans to which no other one is better in time or memory without being worse in the other; of equal ones the first. The
/// naive plan is none of them.
fn frontier(entries: &[Entry<'_, '_>]) -> Vec<Key> {
    let mut plans: Vec<(Units, Ticks, Key)> = entries
        .iter()
        .filter(|entry| matches!(entry.key, Key::Number(_)))
        .map(|entry| (entry.plan.peak(), entry.plan.time(), entry.key))
        .collect();
    plans.sort_by_key(|&(peak, time, _)| (peak, time));
    let mut found = Vec::new();
    let mut least = None;
    for (_, time, key) in plans {
        if least.is_none_or(|least| time < least) {
            least = Some(time);
            found.push(key);
        }
    }
    found
}

fn line(out: &mut String, text: &str) {
    writeln!(out, "{text}").expect("writing to a string cannot fail");
}
