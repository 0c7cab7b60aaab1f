mod extent;
mod lanes;

use super::*;
use crate::block::{Block, family};
use crate::model::{Costs, Memory, Placement};
use crate::replay::replay;

/// The block of a shipped family, expanded; I and W fused into B where asked.
fn expanded(name: &str, devices: u32, microbatches: u32, fused: bool) -> (Model, Schedule) {
    let family = family::shipped(name).expect("it is shipped");
    let block = family.block(devices).expect("within the domain");
    let block = if fused { fuse(&block) } else { block };
    let model = Model::unit(block.placement().clone(), microbatches).expect("a model");
    let schedule = block.expand(&model, microbatches).expect("a schedule").named(name);
    (model, schedule)
}

fn fuse(block: &Block) -> Block {
    let offsets = block.passes().filter(|(pass, _)| pass.kind != Kind::W).map(|(pass, at)| {
        let kind = if pass.kind == Kind::I { Kind::B } else { pass.kind };
        (pass.stage, kind, at)
    });
    Block::new(block.placement().clone(), block.interval_parts(), offsets).expect("a block")
}

/// The same pipeline with the times of a measured profile (arXiv 2401.10241, 1.5B on 8 devices).
fn timed(model: &Model, unit: &str, scale: i64) -> Model {
    let stages = model.stages() as usize;
    let costs = Costs {
        unit: unit.to_owned(),
        forward: vec![Ticks(18_522 * scale); stages],
        backward_input: vec![Ticks(18_086 * scale); stages],
        backward_weight: vec![Ticks(9337 * scale); stages],
        communication: vec![Ticks(601 * scale); stages - 1],
    };
    let (name, memory) = ("zb-1.5b-p8".to_owned(), model.memory().clone());
    Model::new(name, None, model.placement().clone(), model.microbatches(), costs, memory).expect("a model")
}

fn draw<T>((model, schedule): &(Model, Schedule), how: impl FnOnce(&Picture<'_>) -> T) -> T {
    let verdict = replay(model, schedule);
    assert_eq!(verdict.violations, []);
    how(&Picture::of(model, schedule, &verdict).expect("it runs"))
}

fn terminal(problem: &(Model, Schedule), how: Terminal) -> String {
    draw(problem, |picture| picture.terminal(&how))
}

/// Text without ANSI escapes.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if letter == '\u{1b}' {
            letters.by_ref().find(char::is_ascii_alphabetic);
        } else {
            plain.push(letter);
        }
    }
    plain
}

#[test]
fn terminal_timelines_read_well() {
    let narrow = Terminal::default();
    insta::assert_snapshot!("1f1b_4_by_6", terminal(&expanded("1f1b", 4, 6, true), narrow));
    insta::assert_snapshot!("v_half_4_by_5", terminal(&expanded("v-half", 4, 5, false), narrow));
    insta::assert_snapshot!("zb_h1_8_by_24", terminal(&expanded("zb-h1", 8, 24, false), narrow));
    insta::assert_snapshot!("v_min_16_by_32", terminal(&expanded("v-min", 16, 32, false), narrow));
    let (model, schedule) = expanded("zb-h2", 8, 24, false);
    insta::assert_snapshot!("profile_8_by_24", terminal(&(timed(&model, "us", 1), schedule), narrow));
    insta::assert_snapshot!(
        "1f1b_2_by_3_in_colour",
        terminal(&expanded("1f1b", 2, 3, true), Terminal { colour: true, ..narrow }).replace('\u{1b}', "ESC")
    );
    insta::assert_snapshot!("1f1b_8_by_24", terminal(&expanded("1f1b", 8, 24, true), narrow));
    insta::assert_snapshot!(
        "v_zb_3_by_6_at_40_columns",
        terminal(&expanded("v-zb", 3, 6, false), Terminal { width: 40, ..narrow })
    );
    insta::assert_snapshot!("v_half_8_by_16", terminal(&expanded("v-half", 8, 16, false), narrow));
    insta::assert_snapshot!("looped_2_by_4_with_four_chunks", terminal(&looped(), narrow));
}

/// Two devices with four chunks each: all forwards, then all backwards.
fn looped() -> (Model, Schedule) {
    let placement = Placement::looped(2, 4).expect("a placement");
    let orders = placement.lists().iter().map(|stages| {
        let run = |kind: Kind, stages: Vec<crate::model::Stage>| {
            stages.into_iter().flat_map(move |stage| {
                crate::model::Microbatch::all(4).map(move |microbatch| Pass::new(stage, kind, microbatch))
            })
        };
        run(Kind::F, stages.clone()).chain(run(Kind::B, stages.iter().rev().copied().collect())).collect()
    });
    let schedule = Schedule::new(placement.clone(), 4, orders.collect()).expect("a schedule");
    (Model::unit(placement, 4).expect("a model"), schedule)
}

#[test]
fn no_line_is_wider_than_asked_and_colour_adds_no_character() {
    for name in ["1f1b", "zb-h2", "v-min", "v-half", "v-zb"] {
        for devices in [1, 2, 4, 5, 8, 16] {
            for microbatches in [1, 3, 8, 32, 120] {
                let (model, schedule) = expanded(name, devices, microbatches, false);
                let slow = timed(&model, "a very long unit, \u{1f600}", 1_000_003);
                for (width, lines, model) in [
                    (80, Some(48), &model),
                    (80, Some(1), &model),
                    (80, None, &slow),
                    (40, Some(60), &slow),
                    (41, Some(30), &model),
                    (10, Some(30), &model),
                    (200, Some(48), &slow),
                ] {
                    let problem = (model.clone(), schedule.clone());
                    let how = Terminal { width, lines, colour: false };
                    let text = terminal(&problem, how);
                    for line in text.lines() {
                        // The only character here that takes two columns.
                        let wide = line.matches('\u{1f600}').count();
                        assert!(line.chars().count() + wide <= width.max(Terminal::MIN_WIDTH), "{line}");
                    }
                    let coloured = terminal(&problem, Terminal { colour: true, ..how });
                    let coloured = plain(&coloured);
                    let trimmed: Vec<&str> =
                        coloured.lines().map(|line| line.trim_end_matches(' ')).collect();
                    let text_lines: Vec<&str> = text.lines().collect();
                    assert_eq!(trimmed, text_lines);
                    if lines == Some(48) {
                        let band = devices as usize + 1;
                        let bands = (48 / band).max(2) + 1;
                        assert!(text.lines().count() <= bands * band + 10, "{text}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_folded_timeline_shows_every_pass_once() {
    for name in ["1f1b", "zb-h1", "v-min", "v-zb"] {
        let problem = expanded(name, 4, 30, false);
        let text = terminal(&problem, Terminal { lines: None, ..Terminal::default() });
        assert!(!text.contains("left out"));
        for (device, order) in problem.1.orders().iter().enumerate() {
            let head = format!("{device:>2} ");
            let row: String = text.lines().filter_map(|line| line.strip_prefix(&head)).collect();
            let row = row.split('%').next().expect("the figures come last");
            let letters: String = row.chars().filter(char::is_ascii_alphabetic).collect();
            let expected: String = order
                .iter()
                .map(|pass| {
                    let letter = pass.kind.letter();
                    if pass.stage.0 < 4 { letter } else { letter.to_ascii_lowercase() }
                })
                .collect();
            assert_eq!(letters, expected, "{name}, device {device}");
        }
    }
}

#[test]
fn what_is_left_out_of_a_long_timeline_is_said() {
    let text = terminal(&expanded("1f1b", 8, 500, true), Terminal::default());
    insta::assert_snapshot!(
        text.lines().find(|line| line.starts_with('~')).expect("something is left out"),
        @"~ 57 to 1487 left out, 94.0 % of the makespan: steady phase ~"
    );
}

fn svg(problem: &(Model, Schedule), how: &Svg) -> Result<String, SvgError> {
    draw(problem, |picture| picture.svg(how))
}

fn sized(width: u32, height: u32) -> Svg {
    Svg { width: Some(width), height: Some(height), ..Svg::default() }
}

#[test]
fn svg_timelines_are_exact_and_escaped() {
    let how = Svg { width: Some(600), ..Svg::default() };
    insta::assert_snapshot!("1f1b_3_by_4_svg", svg(&expanded("1f1b", 3, 4, true), &how).expect("room"));
    let (model, schedule) = expanded("v-half", 2, 3, false);
    let limited = model.with_uniform_activation_capacity(Some(Units(5))).expect("a model");
    let verdict = replay(&limited, &schedule);
    let picture = Picture::of(&limited, &schedule, &verdict).expect("it runs");
    let path = ["0F0", "1F0", "2F0", "3F0", "3I0", "9F9"].map(|pass| pass.parse().expect("a pass"));
    let text = picture.with_critical_path(path).svg(&Svg::default()).expect("room");
    insta::assert_snapshot!("v_half_2_by_3_svg", text);
    // The marks of peaks lie above the critical path.
    let [path, peak] = ["stroke=\"#000\"", "<circle"].map(|part| text.rfind(part).expect("it is drawn"));
    assert!(path < peak);
    let (model, schedule) = expanded("1f1b", 2, 2, false);
    let text = svg(&(model, schedule.named("<&>")), &Svg::default()).expect("room");
    assert!(text.contains("<title>&lt;&amp;&gt; on unit: 2 devices, 2 microbatches</title>"));
    assert!(text.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"640\""));
}

#[test]
fn an_svg_has_exactly_the_size_asked_for_or_says_what_it_needs() {
    let problem = expanded("v-half", 4, 9, false);
    for (width, height) in [(320, 300), (640, 400), (777, 333), (5000, 3000)] {
        let text = svg(&problem, &sized(width, height)).expect("room");
        let size = format!("width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\"");
        assert!(text.contains(&size), "{width} x {height}");
    }
    let Err(SvgError::TooNarrow { asked: 20, least }) = svg(&problem, &sized(20, 400)) else {
        panic!("20 pixels are no width");
    };
    let least = u32::try_from(least).expect("a few");
    assert!(svg(&problem, &sized(least, 800)).is_ok() && svg(&problem, &sized(least - 1, 800)).is_err());
    let Err(SvgError::TooLow { asked: 20, least }) = svg(&problem, &sized(640, 20)) else {
        panic!("20 pixels are no height");
    };
    let least = u32::try_from(least).expect("a few");
    assert!(svg(&problem, &sized(640, least)).is_ok() && svg(&problem, &sized(640, least - 1)).is_err());
}

#[test]
fn what_is_left_out_of_an_svg_is_not_in_it() {
    let (model, schedule) = expanded("v-half", 4, 9, false);
    let problem = (model.with_uniform_activation_capacity(Some(Units(9))).expect("a model"), schedule);
    let whole = svg(&problem, &Svg::default()).expect("room");
    for (part, sign) in [
        (Part::Title, ">makespan "),
        (Part::Legend, ">bubble<"),
        (Part::Phases, ">warm-up<"),
        (Part::Numbers, "<g fill=\"#fff\" font-size"),
        (Part::Memory, "stroke-dasharray=\"4 2\""),
        (Part::Figures, " % idle"),
    ] {
        let how = Svg { hidden: vec![part], width: Some(2000), ..Svg::default() };
        let text = svg(&problem, &how).expect("room");
        // The description, which nobody sees, stays.
        let seen = |text: &str| {
            text.lines().filter(|line| !line.starts_with("<desc>")).any(|line| line.contains(sign))
        };
        assert!(seen(&whole) && !seen(&text), "{part:?}");
    }
}

#[test]
fn the_rectangles_of_an_svg_are_the_passes() {
    let problem = expanded("v-min", 5, 17, false);
    let text = svg(&problem, &Svg { width: Some(1000), ..Svg::default() }).expect("room");
    let passes = text.lines().filter(|line| line.starts_with("<path fill=\"#"));
    let rectangles: usize = passes.map(|line| line.matches('z').count()).sum();
    assert_eq!(rectangles, problem.1.len());
}

#[test]
fn the_steady_phase_lies_where_all_stages_work_in_both_directions() {
    for (name, devices, microbatches, list) in [
        ("1f1b", 3, 6, "warm-up 0 to 5, steady phase 5 to 14, cool-down 14 to 22"),
        ("v-half", 4, 9, "warm-up 0 to 19, steady phase 19 to 43, cool-down 43 to 66"),
        ("1f1b", 3, 1, "warm-up 0 to 1, cool-down 1 to 7"),
    ] {
        let found = draw(&expanded(name, devices, microbatches, false), |picture| {
            let phases = picture.phases().list();
            phases.map(|(phase, from, to)| format!("{phase} {from} to {to}")).collect::<Vec<_>>().join(", ")
        });
        assert_eq!(found, list, "{name}");
    }
}

#[test]
fn the_svg_of_a_hundred_thousand_passes_stays_small() {
    let (model, schedule) = expanded("v-min", 16, 1050, false);
    assert!(schedule.len() > 100_000);
    for model in [timed(&model, "us", 1), model] {
        let text = draw(&(model, schedule.clone()), |picture| picture.svg(&Svg::default()).expect("room"));
        assert!(text.len() < 5_000_000, "{} bytes", text.len());
    }
}

#[test]
fn extreme_times_and_amounts_are_drawn() {
    let placement = Placement::v(3).expect("a placement");
    let (unit, schedule) = expanded("v-min", 3, 4, false);
    for (forward, weight, latency, activation) in
        [(0, 1, 0, 1), (1, 0, 1 << 40, 0), (1 << 50, 1, 1 << 48, 1 << 50), (7, 1_000_003, 3, 1 << 53)]
    {
        let costs = Costs {
            unit: "\u{1b}[2J & ".repeat(9),
            forward: vec![Ticks(forward); 6],
            backward_input: vec![Ticks(forward); 6],
            backward_weight: vec![Ticks(weight); 6],
            communication: vec![Ticks(latency); 5],
        };
        let memory = Memory {
            unit: "<".to_owned(),
            activation: vec![Units(activation); 6],
            retained_for_weight: vec![Units(activation); 6],
            ..unit.memory().clone()
        };
        let model = Model::new("x".repeat(90), None, placement.clone(), 4, costs, memory).expect("a model");
        let problem = (model, schedule.clone());
        for width in [40, 57, 80] {
            let text = terminal(&problem, Terminal { width, ..Terminal::default() });
            assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
            assert!(!text.contains('\u{1b}'));
        }
        let text = draw(&problem, |picture| picture.svg(&Svg::default()).expect("room"));
        assert!(text.ends_with("</svg>\n") && !text.contains('\u{1b}') && !text.contains("& "));
    }
}

#[test]
fn a_schedule_that_cannot_run_has_no_picture() {
    let placement = Placement::linear(1).expect("a placement");
    let orders = vec![vec!["0B0".parse().expect("a pass"), "0F0".parse().expect("a pass")]];
    let schedule = Schedule::new(placement.clone(), 1, orders).expect("a schedule");
    let model = Model::unit(placement, 1).expect("a model");
    assert!(Picture::of(&model, &schedule, &replay(&model, &schedule)).is_none());
}

#[test]
fn rates_are_rounded_half_up() {
    for (numerator, denominator, decimals, text) in
        [(0, 1, 1, "0.0"), (1, 1, 2, "100.00"), (1, 3, 2, "33.33"), (2, 3, 1, "66.7"), (1, 2000, 1, "0.1")]
    {
        assert_eq!(percent(Rate::new(numerator, denominator), decimals), text);
    }
}

#[test]
fn a_measurement_that_is_what_replay_says_is_drawn_as_that() {
    const NOT_MEASURED: &str = " (by the model, not measured)";
    let (model, schedule) = expanded("v-half", 4, 6, false);
    let verdict = replay(&model, &schedule);
    let predicted = Picture::of(&model, &schedule, &verdict).expect("it runs");
    let timing = verdict.timing.clone().expect("it runs");
    let ends =
        predicted.devices().map(|device| predicted.passes(device).map(|span| span.end).collect()).collect();
    let peak_memory = verdict.peak_memory.clone();
    for held in [None, Some(memory_along(&model, &schedule))] {
        let run = Measured {
            timing: timing.clone(),
            ends: Vec::clone(&ends),
            held,
            peak_memory: peak_memory.clone(),
        };
        let measured = Picture::of_measured(&model, &schedule, &run);
        let title = predicted.clone().as_predicted_by("a model").title();
        assert!(title.starts_with("v-half as predicted by a model: 4 devices"), "{title}");
        let same = |one: String, other: String| {
            assert_eq!(other.contains(NOT_MEASURED), run.held.is_none());
            assert_eq!(one, other.replace("as measured", "on unit").replace(NOT_MEASURED, ""));
        };
        // Wide enough for all that is said to be in one line.
        let wide = Terminal { width: 200, ..Terminal::default() };
        same(predicted.terminal(&wide), measured.terminal(&wide));
        let wide = Svg { width: Some(2000), ..Svg::default() };
        let svg = |picture: &Picture<'_>| picture.svg(&wide).expect("room enough");
        same(svg(&predicted), svg(&measured));
        let page = |picture: &Picture<'_>| page(std::slice::from_ref(picture)).expect("a page");
        same(page(&predicted), page(&measured));
    }
}

#[test]
fn pictures_that_stand_together_share_their_axis() {
    let (quick, schedule) = expanded("1f1b", 4, 6, true);
    let slow = Model::equal_stages(quick.placement().clone(), 6, [2, 2, 1, 0]).expect("a model");
    let verdicts = [&quick, &slow].map(|model| replay(model, &schedule));
    let pictures = [(&quick, &verdicts[0]), (&slow, &verdicts[1])]
        .map(|(model, verdict)| Picture::of(model, &schedule, verdict).expect("it runs"));
    let all: Vec<&Picture<'_>> = pictures.iter().collect();
    let axes = pictures.each_ref().map(|picture| {
        let text = picture.terminal_beside(&Terminal { lines: None, ..Terminal::default() }, &all);
        let axes = text.lines().filter(|line| line.contains('|'));
        axes.map(str::to_owned).collect::<Vec<_>>()
    });
    assert_eq!(axes[0], axes[1]);
    let svg = together(&pictures, &Svg::default()).expect("room enough");
    assert_eq!(svg.matches("<svg ").count(), 3, "one around two");
    // The labels of the axes are at the same places, and both axes go as far as the slower one.
    let labels = |text: &str| {
        let group = text.split("text-anchor=\"middle\">").find(|part| part.contains(">0</text>"));
        let lines = group.expect("an axis").lines().take_while(|line| !line.starts_with("</g>"));
        let lines = lines.filter(|line| line.starts_with("<text x="));
        lines.map(|line| line.split(" y=").next().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    let halves: Vec<&str> =
        svg.split("<g transform=\"translate(0 ").filter(|part| part.contains("<svg ")).collect();
    let places: Vec<Vec<String>> =
        halves.iter().filter(|part| part.contains("device 0")).map(|part| labels(part)).collect();
    assert_eq!(places.len(), 2);
    assert_eq!(places[0], places[1]);
}
