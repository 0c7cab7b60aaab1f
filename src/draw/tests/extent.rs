//! Drawings that omit a part of the time, and the numbers of microbatches.

use std::collections::BTreeMap;

use itertools::Itertools as _;
use num_rational::Ratio;

use super::*;
use crate::draw::xml::width_of;

/// An SVG of a schedule with this name, expanded, drawn like that.
fn drawn(name: &str, devices: u32, microbatches: u32, how: &Svg) -> ((Model, Schedule), String) {
    let problem = expanded(name, devices, microbatches, false);
    let text = svg(&problem, how).expect("room");
    (problem, text)
}

/// The numbers in the passes of a drawing, with how often each occurs.
fn numbers(text: &str) -> BTreeMap<u32, usize> {
    let mut found = BTreeMap::new();
    let mut inside = false;
    for line in text.lines() {
        if line.starts_with("<g fill=\"#") && line.contains("text-anchor=\"middle\"") {
            inside = true;
        } else if line == "</g>" {
            inside = false;
        } else if inside {
            let number = line.split('>').nth(1).and_then(|rest| rest.split('<').next());
            *found.entry(number.and_then(|number| number.parse().ok()).expect("a number")).or_default() += 1;
        }
    }
    found
}

/// A number of hundredths, as an SVG writes them.
fn hundredths(text: &str) -> i64 {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let part = format!("{part:0<2}");
    whole.parse::<i64>().expect("a number") * 100 + part.parse::<i64>().expect("two digits")
}

/// An attribute of an element.
fn attribute<'a>(line: &'a str, name: &str) -> &'a str {
    let rest = line.split(&format!(" {name}=\"")).nth(1).expect("the attribute");
    rest.split('"').next().expect("a value")
}

/// The labels of the axis of time: where each is in hundredths of a pixel, and its number.
fn labels(text: &str) -> Vec<(i64, i64)> {
    let group = text.split("text-anchor=\"middle\">\n").find(|part| part.contains(">0</text>"));
    let lines = group.expect("an axis").lines().take_while(|line| !line.starts_with("</g>"));
    let number = |line: &str| line.split('>').nth(1)?.split('<').next()?.parse().ok();
    lines.filter_map(|line| Some((hundredths(attribute(line, "x")), number(line)?))).collect()
}

/// Where the passes of each device begin, in hundredths of a pixel from the left of the drawing.
fn begins(text: &str) -> Vec<Vec<i64>> {
    let mut rows: Vec<Vec<i64>> = Vec::new();
    let mut left = 0;
    for line in text.lines() {
        if let Some(place) = line.strip_prefix("<g transform=\"translate(") {
            let (x, y) = place.split_once(' ').expect("two numbers");
            if x != "0" {
                left = hundredths(x);
                rows.push(Vec::new());
            }
            assert!(!y.is_empty());
        } else if line.starts_with("<path fill=\"#") {
            let shapes = attribute(line, "d").split('z').filter_map(|shape| shape.strip_prefix('M'));
            let places = shapes.map(|shape| left + hundredths(shape.split(' ').next().expect("a place")));
            rows.last_mut().expect("a device").extend(places);
        }
    }
    rows
}

const LONG: [(&str, u32, u32, Option<u32>); 5] = [
    ("1f1b", 4, 128, None),
    ("zb-h1", 8, 200, None),
    ("v-half", 4, 128, Some(700)),
    ("v-min", 8, 128, Some(1000)),
    ("zb-h2", 3, 500, Some(640)),
];

#[test]
fn every_label_outside_a_break_is_where_passes_of_its_instant_begin() {
    for (name, devices, microbatches, width) in LONG {
        let how = Svg { width, hidden: vec![Part::CriticalPath], ..Svg::default() };
        let ((model, schedule), text) = drawn(name, devices, microbatches, &how);
        assert!(text.contains(" omitted"), "{name} {microbatches}");
        let verdict = replay(&model, &schedule);
        let timing = verdict.timing.as_ref().expect("it runs");
        let begins = begins(&text);
        assert_eq!(begins.len(), devices as usize, "{name}");
        let labels = labels(&text);
        let (mut checked, mut before) = (0, None);
        for &(x, instant) in &labels {
            for (device, starts) in timing.starts.iter().enumerate() {
                if starts.contains(&Ticks(instant)) {
                    let near = begins[device].iter().any(|begin| (begin - x).abs() <= 1);
                    assert!(near, "{name}: device {device} at {instant}, {x}");
                    checked += 1;
                }
            }
            assert!(before.is_none_or(|before| before < (x, instant)), "{labels:?}");
            before = Some((x, instant));
        }
        assert!(checked > 3, "{name}: {labels:?}");
        // The scale is the same on both sides.
        let (first, last) = (&labels[..2], &labels[labels.len() - 2..]);
        let scale = |pair: &[(i64, i64)]| Ratio::new(pair[1].0 - pair[0].0, pair[1].1 - pair[0].1);
        let off = scale(first) - scale(last);
        assert!(off < Ratio::from_integer(2) && off > Ratio::from_integer(-2), "{labels:?}");
    }
}

#[test]
fn the_microbatches_that_are_said_to_be_omitted_are_those_without_a_pass() {
    for (name, devices, microbatches, width) in LONG {
        let how = Svg { width, ..Svg::default() };
        let ((model, schedule), text) = drawn(name, devices, microbatches, &how);
        let verdict = replay(&model, &schedule);
        let picture = Picture::of(&model, &schedule, &verdict).expect("it runs");
        let omitted = picture.omitted(&how).expect("room").expect("something is omitted");
        let (first, last) =
            omitted.rsplit_once("microbatches ").expect("it is said").1.split_once(" to ").expect("a range");
        let range = first.parse::<u32>().expect("a number")..=last.parse().expect("a number");
        assert!(text.contains(&format!("microbatches {first} to {last} \u{2026}")), "{omitted}");
        assert!(picture.caption(&how).expect("room").contains(&omitted), "{omitted}");
        // Numbers are in all cells or, where these are too narrow, in none of them.
        let shown = numbers(&text);
        assert!(shown.keys().all(|number| !range.contains(number)), "{name}: {range:?} {shown:?}");
        if !shown.is_empty() {
            // Of the microbatches next to the break, all that is seen may be a part of a pass.
            let known = shown.len() + range.count();
            assert!(
                (microbatches as usize - 2..=microbatches as usize).contains(&known),
                "{name}: {shown:?}"
            );
        }
    }
}

#[test]
fn numbers_of_two_and_three_digits_are_shown_wherever_those_of_one_are() {
    for (name, devices, microbatches) in
        [("1f1b", 4, 12), ("v-half", 4, 24), ("zb-h1", 8, 128), ("v-zb", 3, 11)]
    {
        let (model, schedule) = expanded(name, devices, microbatches, false);
        for costs in [[1, 1, 1, 0], [2, 2, 1, 0], [10, 14, 5, 1], [9, 30, 4, 0]] {
            let model = Model::equal_stages(model.placement().clone(), microbatches, costs).expect("a model");
            let problem = (model, schedule.clone());
            for width in [None, Some(340), Some(500), Some(700), Some(1200), Some(1900), Some(4000)] {
                let how = Svg { width, extent: Extent::Whole, ..Svg::default() };
                let shown = numbers(&svg(&problem, &how).expect("room"));
                let often: Vec<usize> = shown.values().copied().collect();
                assert!(
                    often.windows(2).all(|pair| pair[0] == pair[1]),
                    "{name} {costs:?} {width:?}: {shown:?}"
                );
                assert!(
                    shown.is_empty() || shown.len() == microbatches as usize,
                    "{name} {costs:?} {width:?}"
                );
                assert!(width.is_some() || !shown.is_empty(), "a drawing of its own width has numbers");
            }
        }
    }
}

#[test]
fn a_part_of_the_time_shows_the_passes_in_it() {
    let extent = Extent::Between { from: Ticks(30), to: Ticks(50) };
    let how = Svg { width: Some(800), extent, ..Svg::default() };
    let ((model, schedule), text) = drawn("1f1b", 4, 24, &how);
    let verdict = replay(&model, &schedule);
    let timing = verdict.timing.as_ref().expect("it runs");
    let picture = Picture::of(&model, &schedule, &verdict).expect("it runs");
    let inside: usize = picture
        .devices()
        .map(|device| {
            picture.passes(device).filter(|span| span.start < Ticks(50) && span.end > Ticks(30)).count()
        })
        .sum();
    let rectangles: usize = begins(&text).iter().map(Vec::len).sum();
    assert_eq!(rectangles, inside);
    let makespan = timing.metrics.makespan;
    assert!(text.contains(&format!(">from 30 ticks to 50 ticks of {makespan} ticks</text>")), "{text}");
    assert!(labels(&text.replace(">30<", ">0<")).iter().all(|&(_, instant)| instant <= 50));
}

#[test]
fn a_short_schedule_is_drawn_whole_and_a_long_one_where_that_is_asked_for() {
    for (microbatches, extent, omits) in
        [(8, Extent::Fitting, false), (128, Extent::Fitting, true), (128, Extent::Whole, false)]
    {
        let (_, text) = drawn("1f1b", 4, microbatches, &Svg { extent, ..Svg::default() });
        assert_eq!(text.contains(" omitted"), omits, "{microbatches} {extent:?}");
    }
    // Without a steady phase, nothing of it is left out.
    let problem = gpipe(4, 64);
    assert!(!svg(&problem, &Svg { width: Some(500), ..Svg::default() }).expect("room").contains(" omitted"));
}

/// All forwards before all backwards.
fn gpipe(devices: u32, microbatches: u32) -> (Model, Schedule) {
    let model = Model::unit(Placement::linear(devices).expect("a placement"), microbatches).expect("a model");
    let schedule = crate::catalog::find("gpipe").expect("a name").generate(&model).expect("a schedule");
    (model, schedule)
}

#[test]
fn a_long_schedule_has_a_break_that_reads_well() {
    let how = Svg { width: Some(340), ..Svg::default() };
    let problem = expanded("1f1b", 2, 60, true);
    let model =
        timed(&problem.0, "us", 1000).with_uniform_activation_capacity(Some(Units(3))).expect("a model");
    insta::assert_snapshot!("break_svg", svg(&(model, problem.1), &how).expect("room"));
}

#[test]
fn the_figures_of_a_device_are_those_of_replay() {
    let (model, schedule) = expanded("v-min", 5, 9, false);
    let verdict = replay(&model, &schedule);
    let timing = verdict.timing.as_ref().expect("it runs");
    let picture = Picture::of(&model, &schedule, &verdict).expect("it runs");
    let texts = [picture.svg(&Svg::default()).expect("room"), picture.terminal(&Terminal::default())];
    for device in picture.devices() {
        let passes = crate::analysis::spans(&model, &schedule, timing, device);
        let idle = percent(Utilisation::of(passes).idle_share(timing.metrics.makespan), 2);
        assert!(
            texts[0].contains(&format!(">{idle} % idle<")) && texts[1].contains(&format!("{idle}%")),
            "{idle}"
        );
    }
}

#[test]
fn the_unit_of_the_axis_stays_clear_of_the_first_label() {
    let problem = expanded("zb-h1", 4, 40, false);
    for unit in ["ms", "units"] {
        let model =
            problem.0.clone().with_costs(Costs { unit: unit.to_owned(), ..problem.0.costs().clone() });
        let problem = (model.expect("a model"), problem.1.clone());
        for (width, from) in [340, 700].into_iter().cartesian_product([0, 100, 101, 105]) {
            let extent = Extent::Between { from: Ticks(from), to: Ticks(from + 20) };
            let text = svg(&problem, &Svg { width: Some(width), extent, ..Svg::default() }).expect("room");
            let axis = text.split("text-anchor=\"middle\">\n").nth(1).expect("an axis");
            let unit = axis.split("</g>\n").nth(1).and_then(|rest| rest.lines().next()).expect("a unit");
            let shown = unit.split('>').nth(1).and_then(|rest| rest.split('<').next()).expect("a text");
            let ends = hundredths(attribute(unit, "x"));
            assert!(ends >= width_of(shown, 11), "{unit}");
            let first = axis.lines().next().expect("a label");
            let label = first.split('>').nth(1).and_then(|rest| rest.split('<').next()).expect("a number");
            let begins = hundredths(attribute(first, "x")) - width_of(label, 11) / 2;
            assert!(ends + 400 <= begins, "{width} {from}: {unit} {first}");
        }
    }
}
