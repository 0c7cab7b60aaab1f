//! Levels of recomputation, and recomputation in the backward: replay against an execution by fixpoint and a count of what is
//! alive.

use std::collections::BTreeMap;

use bubbleproof::model::{
    self, Device, Kind, Memory, Model, Pass, Placement, Recompute, RecomputeLevel, Ticks, Units,
};
use bubbleproof::replay::{Violation, memory_along, replay};
use bubbleproof::schedule::{self, Schedule, prerequisites_under};

use crate::choices::Choices;
use crate::memory::exceeds;
use crate::problems::paired;
use crate::{naive, problems, random};

/// One to three levels, with durations of their own or those of F.
fn recompute(plain: &Model, fused: bool, choices: &mut Choices) -> Recompute {
    let levels = (0..=choices.below(3)).map(|_| {
        let kept = plain.memory().activation.iter();
        let checkpoint = kept.map(|whole| Units(choices.small(usize::try_from(whole.0).unwrap_or(0) + 1)));
        let checkpoint = checkpoint.collect();
        let own: Vec<Ticks> = (0..plain.stages()).map(|_| Ticks(choices.small(7))).collect();
        RecomputeLevel { checkpoint, duration: (choices.below(3) > 0).then_some(own) }
    });
    Recompute { levels: levels.collect(), fused }
}

/// A level for some of the Rs.
fn levels(schedule: &Schedule, count: usize, choices: &mut Choices) -> BTreeMap<Pass, u32> {
    let again = schedule.orders().iter().flatten().filter(|pass| pass.kind == Kind::R);
    again.map(|&pass| (pass, choices.small(count))).filter(|&(_, level)| level > 0).collect()
}

/// The order with every R before its backward, or before the pair of that.
fn moved(order: &[Pass], pairs: &[usize]) -> (Vec<Pass>, Vec<usize>) {
    let (mut found, mut starts, mut at) = (Vec::new(), Vec::new(), 0);
    while at < order.len() {
        let step = &order[at..at + 1 + usize::from(pairs.contains(&at))];
        at += step.len();
        if step[0].kind == Kind::R {
            continue;
        }
        for pass in step.iter().filter(|pass| matches!(pass.kind, Kind::I | Kind::B)) {
            found.extend(order.iter().copied().filter(|other| *other == pass.with_kind(Kind::R)));
        }
        starts.extend((step.len() == 2).then_some(found.len()));
        found.extend_from_slice(step);
    }
    (found, starts)
}

/// The problems with their schedules: with R anywhere, or in the backward.
pub fn for_each_problem(count: u64, mut each: impl FnMut(&Model, &Schedule)) {
    for seed in 0..count {
        let row = random(seed, 24 + seed % 160);
        let choices = &mut Choices::new(&row);
        let Some(plain) = problems::model(choices, 12) else { continue };
        let row = random(seed + 1_000_000, 300);
        let more = &mut Choices::new(&row);
        let said = recompute(&plain, false, more);
        let model = plain.with_recompute(Some(said.clone())).expect("a model");
        let schedule = paired(&problems::schedule(&model, choices), more);
        let levels = levels(&schedule, said.levels.len(), more);
        let schedule = schedule.with_levels(levels.clone()).expect("Rs at further levels");
        each(&model, &schedule);
        let fused = plain.with_recompute(Some(Recompute { fused: true, ..said })).expect("a model");
        let devices = Device::all(model.devices());
        let (orders, pairs): (Vec<_>, Vec<_>) =
            devices.map(|device| moved(schedule.order(device), schedule.overlaps(device))).unzip();
        let by_hand = Schedule::new(schedule.placement().clone(), schedule.microbatches(), orders)
            .and_then(|schedule| schedule.with_overlaps(pairs))
            .and_then(|schedule| schedule.with_levels(levels))
            .expect("the same passes");
        assert_eq!(schedule.with_recomputation_in_backward(), by_hand);
        each(&fused, &by_hand);
    }
}

/// How long a pass takes.
fn duration(model: &Model, schedule: &Schedule, pass: Pass) -> i64 {
    if pass.kind != Kind::R {
        return naive::duration(model, pass);
    }
    let said = model.recompute().expect("it recomputes");
    let level = &said.levels[schedule.levels().get(&pass).map_or(0, |&level| level as usize)];
    level.duration.as_ref().unwrap_or(&model.costs().forward)[pass.stage.index()].0
}

/// What must end before a pass starts.
fn needs(model: &Model, all: &[Pass], pass: Pass) -> Vec<Pass> {
    let mut needs: Vec<Pass> = naive::needs(pass, model, all).collect();
    if pass.kind == Kind::R && model.recompute().is_some_and(|said| said.fused) {
        for kind in [Kind::I, Kind::B] {
            if all.contains(&pass.with_kind(kind)) {
                needs.extend(naive::needs(pass.with_kind(kind), model, all).filter(|need| *need != pass));
            }
        }
    }
    needs
}

/// Starts and ends of all passes: raised until nothing is too early. Nothing where that never ends.
fn times(model: &Model, schedule: &Schedule) -> Option<BTreeMap<Pass, [i64; 2]>> {
    let all: Vec<Pass> = schedule.orders().iter().flatten().copied().collect();
    let mut times: BTreeMap<Pass, [i64; 2]> = all.iter().map(|&pass| (pass, [0, 0])).collect();
    for _ in 0..=2 * all.len() {
        let before = times.clone();
        for device in Device::all(model.devices()) {
            let mut free = 0;
            for step in schedule.steps(device) {
                let mut start = free;
                for &pass in step {
                    for need in needs(model, &all, pass) {
                        start = start.max(times[&need][1] + naive::latency(model, need, pass));
                    }
                }
                free = start + step.iter().map(|&pass| duration(model, schedule, pass)).sum::<i64>();
                for &pass in step {
                    times.insert(pass, [start, free]);
                }
            }
        }
        if times == before {
            return Some(times);
        }
    }
    None
}

#[test]
fn passes_run_when_a_fixpoint_of_the_rules_says() {
    let (mut seen, mut at_levels, mut waiting) = (0, 0, 0);
    for_each_problem(500, |model, schedule| {
        let verdict = replay(model, schedule);
        let Some(expected) = times(model, schedule) else {
            // Pairs may wait for each other.
            assert!(schedule.overlap_count() > 0 && verdict.timing.is_none());
            return;
        };
        let timing = verdict.timing.unwrap_or_else(|| panic!("{:?}", verdict.violations));
        for (device, order) in Device::all(model.devices()).zip(schedule.orders()) {
            for (position, &pass) in order.iter().enumerate() {
                let [start, end] = expected[&pass];
                let is_second =
                    position > 0 && schedule.overlaps(device).binary_search(&(position - 1)).is_ok();
                let start = if is_second { end - duration(model, schedule, pass) } else { start };
                assert_eq!(timing.starts[device.index()][position].0, start, "{pass}");
            }
        }
        let last = expected.values().map(|times| times[1]).max().expect("a pass");
        assert_eq!(timing.metrics.makespan.0, last);
        let again = expected.keys().filter(|pass| pass.kind == Kind::R);
        let again: i64 = again.map(|&pass| duration(model, schedule, pass)).sum();
        assert_eq!((timing.metrics.busy - timing.metrics.useful).0, again);
        seen += 1;
        at_levels += usize::from(!schedule.levels().is_empty());
        // Elsewhere than in the backward it would have run earlier.
        let free = Recompute { fused: false, ..model.recompute().expect("levels") };
        let free = model.with_recompute(Some(free)).expect("a model");
        let earlier = replay(&free, schedule).timing.expect("less to wait for");
        waiting += usize::from(earlier.starts != timing.starts);
    });
    assert!(seen > 500 && at_levels > 100 && waiting > 20, "{seen} {at_levels} {waiting}");
}

#[test]
fn an_r_in_the_backward_waits_for_all_that_this_waits_for() {
    let placement = Placement::linear(2).expect("a placement");
    let plain = Model::unit(placement, 2).expect("a model");
    let pass = |text: &str| text.parse::<Pass>().expect("a pass");
    let needs = |fused: bool, of: &str, present: &[&str]| -> Vec<String> {
        let levels = vec![RecomputeLevel { checkpoint: vec![Units::ZERO; 2], duration: None }];
        let model = plain.with_recompute(Some(Recompute { levels, fused })).expect("a model");
        let present: Vec<Pass> = present.iter().map(|text| pass(text)).collect();
        let found = prerequisites_under(&model, pass(of), |other| present.contains(&other));
        found.map(|pass| pass.to_string()).collect()
    };
    assert_eq!(needs(false, "0R1", &["0R1", "0I1", "1I1"]), ["0F1"]);
    // Without itself, though the backward waits for it.
    assert_eq!(needs(true, "0R1", &["0R1", "0I1", "1I1"]), ["1I1", "0F1"]);
    assert_eq!(needs(true, "0R1", &["0R1", "0B1", "1B1"]), ["1B1", "0F1"]);
    // All others as ever.
    assert_eq!(needs(true, "0I1", &["0R1", "0I1", "1I1"]), ["1I1", "0F1", "0R1"]);
    assert_eq!(needs(true, "0W1", &["0R1", "0I1"]), ["0I1"]);
}

/// What a device holds during each pass of its order: everything that is alive, added up anew.
fn held(model: &Model, schedule: &Schedule, device: Device) -> Vec<i64> {
    let (order, pairs) = (schedule.order(device), schedule.overlaps(device));
    let start = |at: usize| if at > 0 && pairs.contains(&(at - 1)) { at - 1 } else { at };
    let end = |at: usize| if pairs.contains(&at) { at + 1 } else { at };
    let place = |pass: Pass| order.iter().position(|&other| other == pass);
    let said = model.recompute().expect("levels");
    let mut alive: Vec<(usize, usize, i64)> = Vec::new();
    for (at, &pass) in order.iter().enumerate().filter(|(_, pass)| pass.kind == Kind::F) {
        let stage = pass.stage.index();
        let (whole, rest) = (model.memory().activation[stage].0, model.memory().retained_for_weight[stage].0);
        let full = place(pass.with_kind(Kind::B));
        let last = end(full.or_else(|| place(pass.with_kind(Kind::I))).expect("a backward"));
        match place(pass.with_kind(Kind::R)) {
            None => alive.push((start(at), last, whole)),
            Some(again) => {
                let named = schedule.levels().get(&order[again]).map_or(0, |&level| level as usize);
                alive.push((start(at), again - 1, said.levels[named].checkpoint[stage].0));
                alive.push((again, last, whole));
            }
        }
        if full.is_none() {
            let weight = place(pass.with_kind(Kind::W)).expect("a W");
            alive.push((last + 1, end(weight), rest));
        }
    }
    let resident = model.resident(device).0;
    let at = |position: usize| {
        let there = alive.iter().filter(|&&(from, to, _)| from <= position && position <= to);
        resident + there.map(|&(.., units)| units).sum::<i64>()
    };
    (0..order.len()).map(at).collect()
}

#[test]
fn devices_hold_what_is_alive() {
    let (mut seen, mut over) = (0, 0);
    for_each_problem(500, |model, schedule| {
        let (verdict, along) = (replay(model, schedule), memory_along(model, schedule));
        for device in Device::all(model.devices()) {
            let expected = held(model, schedule, device);
            let found: Vec<i64> = along[device.index()].iter().map(|held| held.during.0).collect();
            assert_eq!(found, expected, "{} {:?}", model::print(model), schedule.order(device));
            let peak = expected.iter().copied().max().unwrap_or(model.resident(device).0);
            over += usize::from(exceeds(model, &verdict, device, peak));
        }
        seen += 1;
    });
    assert!(seen > 500 && over > 50, "{seen} {over}");
}

#[test]
fn under_the_floor_no_pass_is_later_and_no_device_holds_more() {
    for_each_problem(300, |model, schedule| {
        let floor = model.level_floor();
        assert!(floor.recompute_levels() == 1 && !floor.recomputes_in_backward());
        let bare = schedule.clone().with_levels(BTreeMap::new()).expect("no levels");
        let [below, exact] = [replay(&floor, &bare), replay(model, schedule)];
        if let Some(timing) = exact.timing {
            let before = below.timing.expect("less to wait for").starts;
            assert!(
                before
                    .iter()
                    .flatten()
                    .zip(timing.starts.iter().flatten())
                    .all(|(below, exact)| below <= exact)
            );
        }
        assert!(below.peak_memory.iter().zip(&exact.peak_memory).all(|(below, exact)| below <= exact));
        // Files have it all.
        assert_eq!(model::parse(&model::print(model)).as_ref(), Ok(model));
        let text = serde_json::to_string(schedule).expect("JSON");
        assert_eq!(&schedule::parse(&text).expect("a schedule"), schedule);
    });
}

/// One device, F, I and W of 2, 2 and 1 ticks; an activation of 4 units is held for F and I, and nothing for W.
pub fn by_hand(levels: &[(i64, i64)], capacity: i64, communication: i64) -> Model {
    let placement = Placement::linear(2).expect("a placement");
    let plain = Model::equal_stages(placement.clone(), 4, [2, 2, 1, communication]).expect("a model");
    let memory = Memory {
        activation: vec![Units(4); 2],
        retained_for_weight: vec![Units(0); 2],
        capacity: vec![Some(Units(capacity)), None],
        ..plain.memory().clone()
    };
    let costs = plain.costs().clone();
    let model = Model::new("by hand".to_owned(), None, placement, 4, costs, memory).expect("a model");
    let level = |&(kept, ticks): &(i64, i64)| RecomputeLevel {
        checkpoint: vec![Units(kept); 2],
        duration: Some(vec![Ticks(ticks); 2]),
    };
    let levels = levels.iter().map(level).collect();
    model.with_recompute(Some(Recompute { levels, fused: false })).expect("a model")
}

#[test]
fn what_is_wrong_with_levels_is_said_where_it_is() {
    let model = by_hand(&[(1, 1), (0, 3)], 8, 0).with_microbatches(1).expect("a model");
    let read =
        |order: &str| -> Vec<Pass> { order.split(' ').map(|pass| pass.parse().expect("a pass")).collect() };
    let schedule = |order: &str, levels: &[(&str, u32)]| {
        let orders = vec![read(order), read("1F0 1B0")];
        let levels = levels.iter().map(|&(pass, level)| (pass.parse().expect("a pass"), level)).collect();
        Schedule::new(model.placement().clone(), 1, orders).and_then(|schedule| schedule.with_levels(levels))
    };
    let said = |model: &Model, schedule: &Schedule| -> Vec<String> {
        replay(model, schedule).violations.iter().map(Violation::to_string).collect()
    };
    let valid = schedule("0F0 0R0 0I0 0W0", &[("0R0", 1)]).expect("a schedule");
    assert_eq!(said(&model, &valid), Vec::<String>::new());
    let unknown = schedule("0F0 0R0 0B0", &[("0R0", 2)]).expect("a schedule");
    let text =
        "device 0, position 1: `0R0` runs at level 2 of recomputation, but the model has 2, counted from 0";
    assert_eq!(said(&model, &unknown), [text]);
    let nowhere = schedule("0F0 0B0", &[("0R0", 1)]).expect("a schedule");
    assert_eq!(said(&model, &nowhere), ["`levels` names level 1 for `0R0`, which is in no order"]);
    let fused = Recompute { fused: true, ..model.recompute().expect("levels") };
    let fused = model.with_recompute(Some(fused)).expect("a model");
    assert_eq!(said(&fused, &valid), Vec::<String>::new());
    let model = model.with_microbatches(2).expect("a model");
    let fused = fused.with_microbatches(2).expect("a model");
    let orders = vec![read("0F0 0R0 0F1 0B0 0B1"), read("1F0 1B0 1F1 1B1")];
    let early = Schedule::new(model.placement().clone(), 2, orders).expect("a schedule");
    assert_eq!(said(&model, &early), Vec::<String>::new());
    let text = "device 0, position 1: `0R0` is not right before `0B0` (position 3), but the model recomputes within the \
                backward (`recompute.fused`): move it there";
    assert_eq!(said(&fused, &early), [text]);
    assert_eq!(said(&fused, &early.with_recomputation_in_backward()), Vec::<String>::new());
    for (pass, level) in [("0F0", 1), ("0R0", 0)] {
        let error = schedule("0F0 0R0 0B0", &[(pass, level)]).expect_err(pass).to_string();
        assert!(error.starts_with(&format!("`{pass}` has level {level}: only an R has a level")), "{error}");
    }
}
