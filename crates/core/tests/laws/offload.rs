//! Offloading: replay against a plain execution and a plain sum of what is held, and bounds against every order of tiny problems
//! with every choice of what is offloaded.

use std::collections::BTreeMap;

use bubbleproof::certificate::{
    Bound, BoundReason, Objective, holds, interval_bound, lower_bound, lower_bound_within, steady_bound,
};
use bubbleproof::model::{Device, Kind, Model, Offload, Pass, Placement, Ticks, Units};
use bubbleproof::replay::{CopyTimes, Violation, memory_along, replay};
use bubbleproof::schedule::{Offloaded, Schedule};

use crate::choices::Choices;
use crate::memory::exceeds;
use crate::{beyond, naive, problems, random, recompute_bounds, step};

/// Some part of every activation, and copies that take from nothing to twice as long as most passes.
pub fn offload(model: &Model, choices: &mut Choices) -> Offload {
    let part = |whole: &Units, choices: &mut Choices| match choices.below(3) {
        0 => Units(choices.small(usize::try_from(whole.0).expect("small") + 1)),
        _ => *whole,
    };
    let moved = model.memory().activation.iter().map(|whole| part(whole, choices)).collect();
    let mut times = || (0..model.stages()).map(|_| Ticks(choices.small(9))).collect();
    Offload { moved, to_host: times(), from_host: times() }
}

/// Where the first and the last pass are that run together with the one at a position.
pub fn step_of(schedule: &Schedule, device: Device, at: usize) -> [usize; 2] {
    let pairs = schedule.overlaps(device);
    if at > 0 && pairs.contains(&(at - 1)) {
        [at - 1, at]
    } else if pairs.contains(&at) {
        [at, at + 1]
    } else {
        [at, at]
    }
}

/// All that can be offloaded, with every place at which it may be freed and fetched.
fn possible(schedule: &Schedule, device: Device) -> Vec<Offloaded> {
    let order = schedule.order(device);
    let place = |pass: Pass| order.iter().position(|&other| other == pass);
    let mut found = Vec::new();
    for (at, &pass) in order.iter().enumerate() {
        if pass.kind != Kind::F || place(pass.with_kind(Kind::R)).is_some() {
            continue;
        }
        let backward = place(pass.with_kind(Kind::I)).or(place(pass.with_kind(Kind::B))).expect("a backward");
        for fetched in 0..=backward {
            let later = |freed: &usize| step_of(schedule, device, *freed)[0] > at;
            found.extend((0..fetched).filter(later).map(|freed| Offloaded { pass, freed, fetched }));
        }
    }
    found
}

/// The schedule with some of what is possible.
pub fn offloaded(schedule: &Schedule, choices: &mut Choices) -> Schedule {
    let lists = Device::all(schedule.devices()).map(|device| {
        let mut chosen: BTreeMap<Pass, Offloaded> = BTreeMap::new();
        let possible = possible(schedule, device);
        for _ in 0..choices.below(6).min(possible.len()) {
            let one = possible[choices.below(possible.len())];
            chosen.insert(one.pass, one);
        }
        chosen.into_values().collect()
    });
    schedule.clone().with_offloads(lists.collect()).expect("offloads of the right form")
}

/// When a pass or a copy runs.
type Times = BTreeMap<Pass, (i64, i64)>;

/// Starts and ends of passes, of copies to the host and of copies back: whatever is too early is put off until nothing is.
fn run(model: &Model, schedule: &Schedule) -> [Times; 3] {
    let all: Vec<Pass> = schedule.orders().iter().flatten().copied().collect();
    let offload = model.offload().expect("a model with offloading");
    let mut passes: Times = all.iter().map(|&pass| (pass, (0, 0))).collect();
    let (mut to_host, mut from_host) = (Times::new(), Times::new());
    loop {
        let before = (passes.clone(), to_host.clone(), from_host.clone());
        for device in Device::all(schedule.devices()) {
            let (order, list) = (schedule.order(device), schedule.offloads(device));
            let place = |pass: Pass| order.iter().position(|&other| other == pass);
            let first = |at: usize| step_of(schedule, device, at)[0];
            let backward = |pass: Pass| place(pass.with_kind(Kind::I)).or(place(pass.with_kind(Kind::B)));
            let (mut free, mut at) = (0, 0);
            while at < order.len() {
                let [_, last] = step_of(schedule, device, at);
                let together = &order[at..=last];
                let mut start = free;
                for &pass in together {
                    start = start.max(passes[&pass].0.min(passes[&together[0]].0));
                    for need in naive::needs(pass, model, &all) {
                        if model.placement().device_of(need.stage) != device {
                            start = start.max(passes[&need].1 + naive::latency(model, need, pass));
                        }
                    }
                }
                for one in list {
                    if first(one.freed) == at {
                        start = start.max(to_host.get(&one.pass).map_or(0, |during| during.1));
                    }
                    if first(backward(one.pass).expect("a backward")) == at {
                        start = start.max(from_host.get(&one.pass).map_or(0, |during| during.1));
                    }
                }
                free = start + together.iter().map(|&pass| naive::duration(model, pass)).sum::<i64>();
                passes.extend(together.iter().map(|&pass| (pass, (start, free))));
                at = last + 1;
            }
            let mut down: Vec<&Offloaded> = list.iter().collect();
            down.sort_by_key(|one| place(one.pass));
            let mut free = 0;
            for one in down {
                let start = free.max(passes[&one.pass].1);
                free = start + offload.to_host[one.pass.stage.index()].0;
                to_host.insert(one.pass, (start, free));
            }
            let mut up: Vec<&Offloaded> = list.iter().collect();
            up.sort_by_key(|one| (one.fetched, backward(one.pass)));
            let mut free = 0;
            for one in up {
                let posted = first(one.fetched);
                let mut start = free.max(passes[&order[posted - 1]].1);
                for other in list.iter().filter(|other| first(other.freed) == posted) {
                    start = start.max(to_host[&other.pass].1);
                }
                free = start + offload.from_host[one.pass.stage.index()].0;
                from_host.insert(one.pass, (start, free));
            }
        }
        if before == (passes.clone(), to_host.clone(), from_host.clone()) {
            return [passes, to_host, from_host];
        }
    }
}

/// What a device holds during each pass, and after it: everything that is there, added up anew.
fn held(model: &Model, schedule: &Schedule, device: Device) -> Vec<[i64; 2]> {
    let order = schedule.order(device);
    let place = |pass: Pass| order.iter().position(|&other| other == pass);
    let (first, last) = (|at| step_of(schedule, device, at)[0], |at: usize| step_of(schedule, device, at)[1]);
    let memory = model.memory();
    let amount = |forward: usize, at: usize, has_ended: bool| {
        let pass = order[forward];
        let stage = pass.stage.index();
        let (whole, rest) = (memory.activation[stage].0, memory.retained_for_weight[stage].0);
        let split = place(pass.with_kind(Kind::I));
        let backward = split.or(place(pass.with_kind(Kind::B))).expect("a backward");
        let is_over = |pass: usize| last(pass) < at || has_ended && last(pass) == at;
        if at < first(forward) {
            return 0;
        }
        if is_over(backward) {
            let weight = place(pass.with_kind(Kind::W));
            return weight.filter(|&weight| !is_over(weight)).map_or(0, |_| rest);
        }
        if let Some(again) = place(pass.with_kind(Kind::R)).filter(|&again| at < again) {
            assert!(again > forward);
            return memory.checkpoint.as_ref().expect("recomputed")[stage].0;
        }
        let away = schedule.offloads(device).iter().find(|one| one.pass == pass);
        let is_away = away.is_some_and(|one| first(one.freed) <= at && at < first(one.fetched));
        whole - if is_away { model.offload().expect("offloading").moved[stage].0 } else { 0 }
    };
    let forwards: Vec<usize> = (0..order.len()).filter(|&at| order[at].kind == Kind::F).collect();
    let total = |at, has_ended| forwards.iter().map(|&forward| amount(forward, at, has_ended)).sum::<i64>();
    (0..order.len())
        .map(|at| {
            let resident = model.resident(device).0;
            [resident + total(at, false), resident + total(at, last(at) == at)]
        })
        .collect()
}

#[test]
fn replay_copies_and_holds_what_a_plain_execution_does() {
    let (mut copies, mut waits, mut over, mut pairs) = (0, 0, 0, 0);
    for seed in 0..1000 {
        let row = random(seed, 24 + seed % 160);
        let choices = &mut Choices::new(&row);
        let Some(plain) = problems::model(choices, 16) else { continue };
        let schedule = problems::schedule(&plain, choices);
        let row = random(seed + 1_000_000, 160);
        let more = &mut Choices::new(&row);
        let model = plain.with_offload(Some(offload(&plain, more))).expect("offloading");
        let schedule = if seed % 3 == 0 { problems::paired(&schedule, more) } else { schedule };
        let without = replay(&plain, &schedule);
        assert_eq!(replay(&model, &schedule), without, "a table alone changes nothing");
        let schedule = offloaded(&schedule, more);
        let verdict = replay(&model, &schedule);
        // Copies keep no schedule from running.
        assert_eq!(verdict.timing.is_some(), without.timing.is_some(), "{:?}", verdict.violations);
        for device in Device::all(model.devices()) {
            let expected = held(&model, &schedule, device);
            let along = &memory_along(&model, &schedule)[device.index()];
            let found: Vec<[i64; 2]> = along.iter().map(|held| [held.during.0, held.after.0]).collect();
            assert_eq!(found, expected, "{schedule:?}");
            let peak = expected.iter().map(|held| held[0]).max().unwrap_or(0).max(model.resident(device).0);
            over += usize::from(exceeds(&model, &verdict, device, peak));
        }
        let (Some(timing), Some(without)) = (verdict.timing, without.timing) else { continue };
        if schedule.offload_count() == 0 {
            assert_eq!(timing.copies, []);
            continue;
        }
        let [passes, to_host, from_host] = run(&model, &schedule);
        for device in Device::all(model.devices()) {
            let mut expected: Vec<Ticks> = Vec::new();
            for (at, pass) in schedule.order(device).iter().enumerate() {
                let (start, end) = passes[pass];
                let is_first = step_of(&schedule, device, at)[0] == at;
                expected.push(Ticks(if is_first { start } else { end - naive::duration(&model, *pass) }));
            }
            assert_eq!(timing.starts[device.index()], expected, "{schedule:?}");
            let CopyTimes { to_host: down, from_host: up } = &timing.copies[device.index()];
            let plain = |copies: &[(Pass, std::ops::Range<Ticks>)]| -> Times {
                copies.iter().map(|(pass, during)| (*pass, (during.start.0, during.end.0))).collect()
            };
            let is_here = |times: &Times| -> Times {
                let here = |pass: &Pass| model.placement().device_of(pass.stage) == device;
                times.iter().filter(|(pass, _)| here(pass)).map(|(&pass, &during)| (pass, during)).collect()
            };
            assert_eq!([plain(down), plain(up)], [is_here(&to_host), is_here(&from_host)]);
            assert!([down, up].iter().all(|list| list.is_sorted_by_key(|(_, during)| during.start)));
        }
        copies += schedule.offload_count();
        pairs += usize::from(schedule.overlap_count() > 0);
        assert!(timing.starts.iter().flatten().ge(without.starts.iter().flatten()));
        waits += usize::from(timing.metrics.makespan > without.metrics.makespan);
        for objective in [Objective::Makespan, Objective::DeviceSpan] {
            let bound = lower_bound(&model, objective);
            if verdict.violations.is_empty() {
                assert!(bound.value <= objective.of(&timing.metrics), "{bound:?}");
            }
            assert_eq!(holds(&model, objective, &bound), Ok(()));
        }
    }
    assert!(
        copies > 400 && waits > 100 && over > 50 && pairs > 50,
        "{copies} copies, {waits} waits, {over} over, {pairs} with pairs"
    );
}

/// What is brought back comes to lie beside the workspace and the buffers of any pass.
#[test]
fn no_bound_is_above_a_schedule_with_workspaces_and_no_more_room_than_it_needs() {
    let (mut seen, mut higher) = (0, 0);
    for seed in 0..1000 {
        let row = random(seed, 24 + seed % 160);
        let choices = &mut Choices::new(&row);
        let Some(plain) = problems::model(choices, 12) else { continue };
        let schedule = problems::schedule(&plain, choices);
        let row = random(seed + 1_000_000, 200);
        let more = &mut Choices::new(&row);
        let model = beyond::memory(&plain, more);
        let model = model.with_offload(Some(offload(&model, more))).expect("offloading");
        let schedule = offloaded(&schedule, more);
        let verdict = replay(&model, &schedule);
        let Some(timing) = &verdict.timing else { continue };
        let peaks = Device::all(model.devices()).zip(&verdict.peak_memory);
        let needed = peaks.map(|(device, &peak)| Some(peak - model.resident(device)));
        let tight = model.with_activation_capacity(needed.collect()).expect("a model");
        assert!(replay(&tight, &schedule).is_valid());
        assert!(replay(&tight.memory_floor(), &schedule).is_valid());
        for objective in [Objective::Makespan, Objective::DeviceSpan] {
            let bound = lower_bound(&tight, objective);
            assert!(bound.value <= objective.of(&timing.metrics), "{bound:?}");
            higher += usize::from(lower_bound(&tight.with_kept_memory(), objective).value < bound.value);
        }
        seen += usize::from(schedule.offload_count() > 0);
    }
    assert!(seen > 200 && higher > 0, "{seen} {higher}");
}

/// Offloads that are none, whatever they are: replay says so of each, and counts none of them.
#[test]
fn what_cannot_be_offloaded_is_reported_and_holds_what_it_held() {
    let mut reported: BTreeMap<&str, usize> = BTreeMap::new();
    for seed in 0..600 {
        let row = random(seed, 24 + seed % 160);
        let choices = &mut Choices::new(&row);
        let Some(plain) = problems::model(choices, 12) else { continue };
        let schedule = problems::schedule(&plain, choices);
        let row = random(seed + 2_000_000, 64);
        let more = &mut Choices::new(&row);
        let model = plain.with_offload(Some(offload(&plain, more))).expect("offloading");
        let device = Device::at(more.below(plain.devices() as usize));
        let passes: Vec<Pass> =
            schedule.orders().iter().flatten().copied().filter(|pass| pass.kind == Kind::F).collect();
        let pass = passes[more.below(passes.len())];
        let positions = schedule.order(device).len();
        let freed = more.below(positions.max(2) - 1);
        let one =
            Offloaded { pass, freed, fetched: freed + 1 + more.below(positions.max(freed + 2) - freed - 1) };
        let mut lists = vec![Vec::new(); plain.devices() as usize];
        lists[device.index()].push(one);
        let Ok(strange) = schedule.clone().with_offloads(lists) else {
            assert!(one.fetched >= positions);
            continue;
        };
        let is_possible = possible(&strange, device).contains(&one);
        let of = |model: &Model, schedule: &Schedule| {
            let verdict = replay(model, schedule);
            let rules = verdict.violations.iter().map(Violation::rule).filter(|&rule| {
                rule.starts_with("offload") || rule.starts_with("freed") || rule.starts_with("fetched")
            });
            (rules.collect::<Vec<_>>(), verdict.peak_memory)
        };
        let (rules, peaks) = of(&model, &strange);
        assert_eq!(rules.is_empty(), is_possible, "{one:?} {rules:?}");
        if !is_possible {
            assert_eq!(peaks, of(&model, &schedule).1);
        }
        assert_eq!(of(&plain, &strange), (vec!["offload-unknown"], of(&plain, &schedule).1));
        for rule in rules {
            *reported.entry(rule).or_default() += 1;
        }
    }
    let often = ["offload-of-nothing", "offload-recomputed", "freed-too-early", "fetched-too-late"]
        .map(|rule| reported.get(rule).copied().unwrap_or_default() > 5);
    assert_eq!(often, [true; 4], "{reported:?}");
}

/// All that a device may do within its capacity: orders in which microbatches keep theirs, with every choice of what is offloaded.
fn within_capacity(model: &Model, device: Device) -> Vec<(Vec<Pass>, Vec<Offloaded>)> {
    let mut found = Vec::new();
    for order in step::orders(model, device) {
        let in_order = |kind| {
            let mut seen = order.iter().filter(|pass| pass.kind == kind && pass.stage == order[0].stage);
            let first = seen.next().map(|pass| pass.microbatch);
            seen.try_fold(first, |before, pass| {
                (before < Some(pass.microbatch)).then_some(Some(pass.microbatch))
            })
            .is_some()
        };
        if ![Kind::F, Kind::I, Kind::W].into_iter().all(in_order) {
            continue;
        }
        let mut orders = vec![Vec::new(); model.devices() as usize];
        orders[device.index()].clone_from(&order);
        let schedule =
            Schedule::new(model.placement().clone(), model.microbatches(), orders).expect("orders");
        let mut choices: Vec<Vec<Offloaded>> = vec![Vec::new()];
        let can_offload = |pass: &&Pass| pass.kind == Kind::F && model.offload().is_some();
        for &pass in order.iter().filter(can_offload) {
            let ways: Vec<Offloaded> =
                possible(&schedule, device).into_iter().filter(|one| one.pass == pass).collect();
            let longer = choices.iter().flat_map(|chosen| {
                ways.iter().map(|&one| chosen.iter().copied().chain([one]).collect::<Vec<_>>())
            });
            let longer: Vec<_> = longer.collect();
            choices.extend(longer);
        }
        for chosen in choices {
            let mut lists = vec![Vec::new(); model.devices() as usize];
            lists[device.index()].clone_from(&chosen);
            let schedule = schedule.clone().with_offloads(lists).expect("offloads");
            let held = held(model, &schedule, device);
            let peak = held.iter().map(|held| held[0]).max().unwrap_or_default();
            if model.capacity(device).is_none_or(|capacity| peak <= capacity.0) {
                found.push((order.clone(), chosen));
            }
        }
    }
    found
}

/// The least makespan and device span; nothing when nothing is valid.
fn optimum(model: &Model) -> Option<[Ticks; 2]> {
    let mut least: Option<[Ticks; 2]> = None;
    let [one, other] = [0, 1].map(|device| within_capacity(model, Device(device)));
    for (first, chosen) in &one {
        for (second, also) in &other {
            let orders = vec![first.clone(), second.clone()];
            let schedule = Schedule::new(model.placement().clone(), model.microbatches(), orders)
                .and_then(|schedule| schedule.with_offloads(vec![chosen.clone(), also.clone()]));
            step::lower(&mut least, model, &schedule.expect("two orders"));
        }
    }
    least
}

#[test]
fn no_bound_is_above_the_best_of_all_orders_and_choices() {
    let (mut valid, mut helped, mut by_offload) = (0, 0, 0);
    for seed in 0..80 {
        let plain = step::tiny(seed);
        let row = random(seed + 77, 64);
        let mut table = offload(&plain, &mut Choices::new(&row));
        if seed % 2 == 0 {
            // Quick copies, which are worth it.
            table.to_host.iter_mut().chain(&mut table.from_host).for_each(|ticks| ticks.0 /= 4);
        }
        // Without a capacity on the second device, every choice there is as good as none.
        let capacity = vec![plain.activation_capacity(Device(0)), None];
        let plain = plain.with_step(None).and_then(|model| model.with_activation_capacity(capacity));
        let plain = plain.expect("a model");
        let model = plain.with_offload(Some(table)).expect("offloading");
        let Some(best) = optimum(&model) else { continue };
        valid += 1;
        helped +=
            usize::from(optimum(&plain.with_offload(None).expect("a model")).is_none_or(|less| less > best));
        for (objective, best) in [Objective::Makespan, Objective::DeviceSpan].into_iter().zip(best) {
            for bound in [lower_bound(&model, objective), lower_bound_within(&model, objective, 0)] {
                assert!(bound.value <= best, "{bound:?} but {best}, {model:?}");
                assert_eq!(holds(&model, objective, &bound), Ok(()));
                by_offload += usize::from(matches!(bound.reason, BoundReason::Offload { .. }));
            }
        }
        assert!(steady_bound(&model, 1000) >= interval_bound(&model));
    }
    assert!(valid > 60 && helped > 5, "{valid} {helped} {by_offload}");
}

/// On the first device an activation stays, is recomputed at some level, or is offloaded. On the second everything stays, in one
/// of all orders.
#[test]
fn no_bound_is_above_the_best_of_all_orders_levels_and_copies() {
    let (mut valid, mut helped, mut by_offload) = (0, [0; 2], 0);
    for seed in 0..160 {
        let plain = recompute_bounds::tiny(seed);
        let row = random(seed + 77, 64);
        let mut table = offload(&plain, &mut Choices::new(&row));
        if seed % 2 == 0 {
            table.to_host.iter_mut().chain(&mut table.from_host).for_each(|ticks| ticks.0 /= 4);
        }
        let model = plain.with_offload(Some(table)).expect("offloading");
        let (mut least, mut of_levels, mut of_copies) = (None, None, None);
        let mut others: Vec<Vec<Pass>> = Vec::new();
        recompute_bounds::for_each_schedule(&model, |schedule| {
            if model.devices() == 2
                && others.len() < 20
                && !others.contains(&schedule.order(Device(1)).to_vec())
            {
                others.push(schedule.order(Device(1)).to_vec());
            }
            let kept = usize::try_from(seed % 20).expect("few");
            if model.devices() == 2 && others.get(kept).is_none_or(|kept| schedule.order(Device(1)) != kept) {
                return;
            }
            step::lower(&mut of_levels, &model, schedule);
            let mut chosen: Vec<Vec<Offloaded>> = vec![Vec::new()];
            let possible = possible(schedule, Device(0));
            for &pass in schedule.order(Device(0)).iter().filter(|pass| pass.kind == Kind::F) {
                let ways = possible.iter().filter(|one| one.pass == pass);
                let more = chosen.iter().flat_map(|list| {
                    ways.clone().map(|&one| list.iter().copied().chain([one]).collect::<Vec<_>>())
                });
                let more: Vec<Vec<Offloaded>> = more.collect();
                chosen.extend(more);
            }
            for list in chosen {
                let mut lists = vec![Vec::new(); model.devices() as usize];
                lists[0] = list;
                let schedule = schedule.clone().with_offloads(lists).expect("offloads");
                step::lower(&mut least, &model, &schedule);
                if schedule.orders().iter().flatten().all(|pass| pass.kind != Kind::R) {
                    step::lower(&mut of_copies, &model, &schedule);
                }
            }
        });
        let Some(best) = least else { continue };
        valid += 1;
        helped[0] += usize::from(of_levels.is_none_or(|other: [Ticks; 2]| other > best));
        helped[1] += usize::from(of_copies.is_none_or(|other: [Ticks; 2]| other > best));
        for (objective, best) in [Objective::Makespan, Objective::DeviceSpan].into_iter().zip(best) {
            for bound in [lower_bound(&model, objective), lower_bound_within(&model, objective, 0)] {
                assert!(bound.value <= best, "{bound:?} but {best}, {}", bubbleproof::model::print(&model));
                assert_eq!(holds(&model, objective, &bound), Ok(()));
                by_offload += usize::from(matches!(bound.reason, BoundReason::Offload { .. }));
            }
        }
    }
    assert!(
        valid > 100 && helped[0] > 5 && helped[1] > 5 && by_offload > 0,
        "{valid} {helped:?} {by_offload}"
    );
}

/// Two devices far apart, the first with room for two of eight microbatches, and copies that take 10 ticks each.
#[test]
fn a_bound_of_copies_can_be_computed_by_hand() {
    let placement = Placement::linear(2).expect("a placement");
    let plain = Model::equal_stages(placement, 8, [1, 1, 1, 10]).expect("a model");
    let plain = plain.with_activation_capacity(vec![Some(Units(2)), None]).expect("a capacity");
    let with = |ticks: i64| {
        let times = vec![Ticks(ticks); 2];
        let offload = Offload { moved: vec![Units(1); 2], to_host: times.clone(), from_host: times };
        plain.with_offload(Some(offload)).expect("offloading")
    };
    // F, to device 1 and back, and I: 24 ticks, and W. Eight microbatches fill 200, two at a time 100. Before the first F has
    // ended one is there, and while the last I and W run: 203 are 102. To wait for its turn takes 101.
    assert_eq!(lower_bound_within(&plain, Objective::Makespan, 0).value, Ticks(102));
    // One that is offloaded is there for 1 + 10 + 10 + 1 ticks and W, which is 2 less. In 93 ticks, 1 + 10 + 2 of which are no time
    // for copies to the host, there are 8 copies: 2*93 + 2*8 = 202. In 92 they are worth 15 at the most: 2*92 + 15 = 199.
    let (model, objective) = (with(10), Objective::Makespan);
    let bound = lower_bound_within(&model, objective, 0);
    assert_eq!(bound, Bound { value: Ticks(93), reason: BoundReason::Offload { device: Device(0) } });
    assert_eq!(holds(&model, objective, &bound), Ok(()));
    assert_eq!(
        bound.reason.to_string(),
        "every microbatch occupies memory of device 0 for some time at least, and all of them together, without what can be copied \
         to the host in the time, fill its memory for this long"
    );
    for (value, device) in [(92, 0), (94, 0), (93, 1), (93, 2)] {
        let other = Bound { value: Ticks(value), reason: BoundReason::Offload { device: Device(device) } };
        assert!(holds(&model, objective, &other).is_err(), "{other:?}");
        assert!(holds(&plain, objective, &other).is_err(), "{other:?}");
    }
    // Copies that take longer than the way to device 1 and back free nothing; quick ones free almost all.
    assert_eq!(lower_bound_within(&with(11), objective, 0).value, Ticks(100));
    assert!(lower_bound_within(&with(1), objective, 0).value < Ticks(50));
}
