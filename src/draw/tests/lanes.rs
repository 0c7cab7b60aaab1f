//! Pictures of what runs beside and behind the passes.

use super::*;
use crate::model::{Links, Messages, Offload, Sharding, StepEnd};
use crate::schedule::Offloaded;

/// Two devices and two microbatches, with messages of 2 ticks, copies of 2, reductions of 3 and 2, and optimiser steps of
/// 2. F takes 3 ticks and B 4. By hand:
///
/// - device 0 runs `0F0` 0 to 3, `0F1` 3 to 6, `0B0` 14 to 18, `0B1` 21 to 25, its optimiser step 28 to 30;
/// - it sends 3 to 5 and 6 to 8, copies `0F1` to the host 6 to 8 and back 18 to 20, and reduces 25 to 28;
/// - device 1 runs `1F0` 5 to 8, `1B0` 8 to 12, `1F1` 12 to 15, `1B1` 15 to 19, its optimiser step 21 to 23;
/// - it sends 12 to 14 and 19 to 21, and reduces 19 to 21.
fn whole_machine(scale: i64) -> (Model, Schedule) {
    let placement = Placement::linear(2).expect("a placement");
    let order =
        |text: &str| -> Vec<Pass> { text.split(' ').map(|pass| pass.parse().expect("a pass")).collect() };
    let orders = vec![order("0F0 0F1 0B0 0B1"), order("1F0 1B0 1F1 1B1")];
    let offloaded = Offloaded { pass: "0F1".parse().expect("a pass"), freed: 2, fetched: 3 };
    let schedule = Schedule::new(placement.clone(), 2, orders).expect("a schedule").named("1f1b");
    let schedule = schedule.with_offloads(vec![vec![offloaded], Vec::new()]).expect("offloads");
    let unit = Model::unit(placement.clone(), 2).expect("a model");
    let costs = Costs {
        forward: vec![Ticks(3 * scale); 2],
        backward_input: vec![Ticks(2 * scale); 2],
        backward_weight: vec![Ticks(2 * scale); 2],
        ..unit.costs().clone()
    };
    let model = Model::new("machine".to_owned(), None, placement, 2, costs, unit.memory().clone());
    let messages = Messages { occupancy: vec![Ticks(2)], links: Links::Pair };
    let offload =
        Offload { moved: vec![Units(1); 2], to_host: vec![Ticks(2); 2], from_host: vec![Ticks(2); 2] };
    let step = StepEnd { reduce: vec![Ticks(3), Ticks(2)], optimizer: vec![Ticks(2); 2] };
    let model = model.and_then(|model| model.with_messages(Some(messages)));
    let model = model.and_then(|model| model.with_offload(Some(offload)));
    (model.and_then(|model| model.with_step(Some(step))).expect("a model"), schedule)
}

#[test]
fn what_runs_beside_the_passes_reads_well() {
    let problem = whole_machine(1);
    insta::assert_snapshot!("machine", terminal(&problem, Terminal::default()));
    insta::assert_snapshot!(
        "machine_at_40_columns_in_colour",
        terminal(&problem, Terminal { width: 40, colour: true, ..Terminal::default() })
            .replace('\u{1b}', "ESC")
    );
    let how = Svg { width: Some(720), ..Svg::default() };
    insta::assert_snapshot!("machine_svg", svg(&problem, &how).expect("room"));
}

/// Gathers before each use, and reductions between them, on the collective stream. F takes 3 ticks, B 4.
///
/// The device gathers stage 0 from 0 to 2 and stage 1 from 5 to 8; it runs `0F0` 2 to 5, `1F0` 8 to 11, `1B0` to 15, `0B0` 20 to 24:
/// its gather, 18 to 20, comes behind the reduction of stage 1, 15 to 18.
#[test]
fn gathers_are_drawn_on_the_collective_stream() {
    let placement = Placement::looped(1, 2).expect("a placement");
    let order = "0F0 1F0 1B0 0B0".split(' ').map(|pass| pass.parse().expect("a pass")).collect();
    let schedule = Schedule::new(placement.clone(), 1, vec![order]).expect("a schedule").named("sharded");
    let model = Model::equal_stages(placement, 1, [3, 2, 2, 0]);
    let step = StepEnd { reduce: vec![Ticks(2), Ticks(3)], optimizer: vec![Ticks(1); 2] };
    let sharding = Sharding { gather: vec![Ticks(2), Ticks(3)], gathered: vec![Units::ZERO; 2], stages: 1 };
    let model = model.and_then(|model| model.with_step(Some(step)));
    let problem = (model.and_then(|model| model.with_sharding(Some(sharding))).expect("a model"), schedule);
    insta::assert_snapshot!("gathers", terminal(&problem, Terminal::default()));
    let drawn = svg(&problem, &Svg { width: Some(720), ..Svg::default() }).expect("room");
    assert!(drawn.contains(">gather of weights</text>"), "{drawn}");
}

#[test]
fn what_is_shorter_than_a_column_has_a_mark() {
    let text = terminal(&whole_machine(100), Terminal::default());
    let row = |head: &str| -> Vec<usize> {
        let line = text.lines().find(|line| line.trim_start().starts_with(head)).expect("a row");
        let marks = line.chars().enumerate().filter(|&(_, letter)| letter == '\'');
        marks.map(|(at, _)| at).collect()
    };
    // 70 ticks are a column: 0F0 ends at 300, which is column 4, and 0F1 at 600. Labels take 6 columns.
    assert_eq!(row(">1"), [6 + 4, 6 + 9], "{text}");
    assert_eq!(row(">host"), [6 + 9], "{text}");
    assert!(text.contains("' shorter than a column"), "{text}");
    assert!(text.contains("2 other tasks are too short to be drawn"), "the optimiser steps: {text}");
    assert!(!text.contains("passes are too short"), "{text}");
}

#[test]
fn no_line_of_a_lane_is_too_wide_and_colour_adds_no_character() {
    for scale in [1, 2, 7, 100] {
        let problem = whole_machine(scale);
        for (width, lines) in [(40, Some(48)), (57, Some(1)), (80, None), (200, Some(20))] {
            let how = Terminal { width, lines, colour: false };
            let text = terminal(&problem, how);
            assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
            let coloured = plain(&terminal(&problem, Terminal { colour: true, ..how }));
            let trimmed: Vec<&str> = coloured.lines().map(|line| line.trim_end_matches(' ')).collect();
            assert_eq!(trimmed, text.lines().collect::<Vec<_>>());
        }
    }
}

#[test]
fn every_task_beside_the_passes_is_a_rectangle_of_an_svg() {
    let problem = whole_machine(1);
    let rectangles = |how: &Svg| -> usize {
        let text = svg(&problem, how).expect("room");
        text.lines()
            .filter(|line| line.starts_with("<path fill=\"#"))
            .map(|line| line.matches('z').count())
            .sum()
    };
    // 8 passes and 2 optimiser steps; 4 messages, 2 copies and 2 reductions.
    assert_eq!(rectangles(&Svg::default()), 10 + 8);
    let without = Svg { hidden: vec![Part::Lanes], ..Svg::default() };
    assert_eq!(rectangles(&without), 10);
    let text = svg(&problem, &without).expect("room");
    assert!(text.contains("optimiser step") && !text.contains("activation sent"), "{text}");
}

#[test]
fn an_svg_with_lanes_has_exactly_the_size_asked_for_or_says_what_it_needs() {
    let problem = whole_machine(1);
    for hidden in [Vec::new(), vec![Part::Memory], vec![Part::Memory, Part::Title, Part::Legend]] {
        let sized =
            |height| Svg { width: Some(640), height: Some(height), hidden: hidden.clone(), ..Svg::default() };
        let Err(SvgError::TooLow { asked: 20, least }) = svg(&problem, &sized(20)) else {
            panic!("20 pixels are no height");
        };
        let least = u32::try_from(least).expect("a few");
        assert!(svg(&problem, &sized(least)).is_ok() && svg(&problem, &sized(least - 1)).is_err());
        for height in [least, 400, 801] {
            // Nothing lies below the axis.
            let text = svg(&problem, &sized(height)).expect("room");
            let tops = text.lines().filter_map(|line| line.strip_prefix("<g transform=\"translate("));
            let tops =
                tops.filter_map(|place| place.split_once(' ')?.1.split(['.', ')']).next()?.parse().ok());
            assert!(tops.max() < Some(height - 30), "{height}: {text}");
        }
    }
}

#[test]
fn a_device_works_in_its_optimiser_steps() {
    let (model, schedule) = whole_machine(1);
    let verdict = replay(&model, &schedule);
    let metrics = &verdict.timing.as_ref().expect("it runs").metrics;
    let picture = Picture::of(&model, &schedule, &verdict).expect("it runs");
    assert_eq!(metrics.makespan, Ticks(30));
    let shares: Rate = picture.devices().map(|device| picture.idle_share(device)).sum();
    assert_eq!(shares / 2, metrics.idle_rate);
    assert_eq!(picture.span(Device(0)), Some((Ticks(0), Ticks(30))));
    assert_eq!(picture.span(Device(1)), Some((Ticks(5), Ticks(23))));
    // Both could begin later than they do only where no step follows: nothing is said of it.
    assert!(!picture.facts().concat().contains("begins later") || metrics.device_span < Ticks(30));
}

#[test]
fn what_takes_no_time_is_not_drawn() {
    let (model, schedule) = whole_machine(1);
    let nothing = StepEnd { reduce: vec![Ticks(0); 2], optimizer: vec![Ticks(0); 2] };
    let quick =
        Offload { moved: vec![Units(1); 2], to_host: vec![Ticks(0); 2], from_host: vec![Ticks(0); 2] };
    let model = model.with_step(Some(nothing)).and_then(|model| model.with_messages(None));
    let model = model.and_then(|model| model.with_offload(Some(quick))).expect("a model");
    let text = terminal(&(model, schedule), Terminal::default());
    assert!(!text.contains("coll") && !text.contains("host") && !text.contains("optimiser"), "{text}");
    assert!(text.contains("\n 0 F0"), "{text}");
}
