//! Workspaces, buffers of messages, and Is that leave more than F kept: replay against a count of what is alive, the plain
//! models below and above, and the smallest pools of buffers against every choice of fewer.

use std::collections::{BTreeMap, BTreeSet};

use bubbleproof::certificate::{Objective, holds, lower_bound, steady_bound};
use bubbleproof::model::{self, Device, Kind, Memory, Model, Pass, Transient, Units, Workspace};
use bubbleproof::replay::{Buffer, Violation, buffer_pool, memory_along, receive_buffers, replay};
use bubbleproof::schedule::Schedule;

use crate::choices::Choices;
use crate::{naive, problems, random};

/// The model with amounts of every kind.
fn exact(plain: &Model, choices: &mut Choices) -> Model {
    let stages = plain.stages() as usize;
    let mut list = |count: usize| -> Vec<Units> { (0..count).map(|_| Units(choices.small(5))).collect() };
    let (forward, backward_input, backward_weight, backward) =
        (list(stages), list(stages), list(stages), list(stages));
    let recompute = if plain.memory().checkpoint.is_some() { list(stages) } else { forward.clone() };
    let (receive, more) = (list(stages - 1), list(stages));
    let retained = plain.memory().retained_for_weight.iter().zip(more).map(|(&part, more)| part + more);
    let memory = Memory { retained_for_weight: retained.collect(), ..plain.memory().clone() };
    let has = |choices: &mut Choices| choices.below(4) > 0;
    let transient = Transient {
        workspace: has(choices).then_some(Workspace {
            forward,
            backward_input,
            backward_weight,
            backward,
            recompute,
        }),
        receive: has(choices).then_some(receive),
    };
    let costs = plain.costs().clone();
    let (placement, microbatches) = (plain.placement().clone(), plain.microbatches());
    Model::new("exact".to_owned(), None, placement, microbatches, costs, memory)
        .and_then(|model| model.with_transient(transient))
        .expect("a model")
}

/// The schedule with some of its neighbours as pairs.
pub fn paired(schedule: &Schedule, choices: &mut Choices) -> Schedule {
    let overlaps = schedule.orders().iter().map(|order| {
        let (mut pairs, mut at) = (Vec::new(), 0);
        while at + 1 < order.len() {
            let (one, other) = (order[at], order[at + 1]);
            let is_pair = (one.kind == Kind::F) != (other.kind == Kind::F)
                && [one, other].iter().all(|pass| matches!(pass.kind, Kind::F | Kind::I | Kind::B))
                && (one.stage, one.microbatch) != (other.stage, other.microbatch);
            let taken = is_pair && choices.below(2) == 1;
            if taken {
                pairs.push(at);
            }
            at += 1 + usize::from(taken);
        }
        pairs
    });
    schedule.clone().with_overlaps(overlaps.collect()).expect("pairs of a forward and a backward")
}

/// Runs every random problem with its schedule, with and without pairs.
fn for_each_problem(count: u64, mut each: impl FnMut(&Model, &Schedule)) {
    for seed in 0..count {
        let row = random(seed, 24 + seed % 160);
        let choices = &mut Choices::new(&row);
        let Some(plain) = problems::model(choices, 12) else { continue };
        let schedule = problems::schedule(&plain, choices);
        let row = random(seed + 1_000_000, 160);
        let more = &mut Choices::new(&row);
        let model = exact(&plain, more);
        each(&model, &schedule);
        each(&model, &paired(&schedule, more));
    }
}

/// For every message, by the pass that uses it, how many passes of its device have run when it is posted: in rounds, each
/// device runs one step if it can.
fn posts(model: &Model, schedule: &Schedule) -> BTreeMap<Pass, usize> {
    let all: Vec<Pass> = schedule.orders().iter().flatten().copied().collect();
    let mut steps: Vec<Vec<&[Pass]>> = Device::all(model.devices())
        .map(|device| schedule.steps(device).collect::<Vec<_>>().into_iter().rev().collect())
        .collect();
    let mut run = BTreeSet::new();
    let mut done = vec![0; steps.len()];
    let mut found = BTreeMap::new();
    while steps.iter().any(|steps| !steps.is_empty()) {
        let before = run.len();
        for device in 0..steps.len() {
            let Some(&step) = steps[device].last() else { continue };
            let is_ready =
                step.iter().all(|&pass| naive::needs(pass, model, &all).all(|need| run.contains(&need)));
            if !is_ready {
                continue;
            }
            steps[device].pop();
            run.extend(step.iter().copied());
            done[device] += step.len();
            for &pass in step {
                let users = all.iter().filter(|user| user.stage != pass.stage);
                for &user in users.filter(|&&user| naive::needs(user, model, &all).any(|need| need == pass)) {
                    let to = model.placement().device_of(user.stage).index();
                    if to != device {
                        found.insert(user, done[to]);
                    }
                }
            }
        }
        if run.len() == before {
            break;
        }
    }
    found
}

/// What a device holds during and after each of its passes: everything that is alive, added up anew.
fn held(model: &Model, schedule: &Schedule, device: Device) -> Vec<[i64; 2]> {
    let order = schedule.order(device);
    let posts = posts(model, schedule);
    let pairs = schedule.overlaps(device);
    let start = |at: usize| if at > 0 && pairs.contains(&(at - 1)) { at - 1 } else { at };
    let end = |at: usize| if pairs.contains(&at) { at + 1 } else { at };
    let place = |pass: Pass| order.iter().position(|&other| other == pass);
    let memory = model.memory();
    // Ranges of positions during which an amount is alive, in halves: 2p is during p, and 2p + 1 after it.
    let mut alive: Vec<(usize, usize, Units)> = Vec::new();
    for (at, &pass) in order.iter().enumerate() {
        let stage = pass.stage.index();
        let (whole, rest) = (memory.activation[stage], memory.retained_for_weight[stage]);
        let during = (2 * start(at), 2 * end(at));
        let mut add = |from: usize, to: usize, units: Units| alive.push((from, to, units));
        add(during.0, during.1, model.workspace(pass.stage, pass.kind));
        if let Some(&posted) = posts.get(&pass) {
            let receive = model.transient().receive.as_ref();
            let boundary = if pass.kind == Kind::F { stage - 1 } else { stage };
            add(2 * posted, during.1, receive.map_or(Units::ZERO, |list| list[boundary]));
        }
        match pass.kind {
            Kind::F => {
                let again = place(pass.with_kind(Kind::R));
                let (input, full) = (place(pass.with_kind(Kind::I)), place(pass.with_kind(Kind::B)));
                let last = input.or(full).expect("a backward");
                match again {
                    Some(again) => {
                        let checkpoint = memory.checkpoint.as_ref().expect("recomputed")[stage];
                        add(during.0, 2 * start(again) - 1, checkpoint);
                        add(2 * start(again), 2 * end(last), whole);
                    }
                    None => add(during.0, 2 * end(last), whole),
                }
            }
            // While it runs, there is what F kept; beside it, what is more than that.
            Kind::I => {
                let weight = place(pass.with_kind(Kind::W)).expect("a W");
                add(during.0, during.1, Units((rest - whole).0.max(0)));
                add(during.1 + 1, 2 * end(weight), rest);
            }
            Kind::W | Kind::B | Kind::R => {}
        }
    }
    let resident = model.resident(device).0;
    let at = |half: usize| {
        let there = alive.iter().filter(|&&(from, to, _)| from <= half && half <= to);
        resident + there.map(|&(.., units)| units.0).sum::<i64>()
    };
    // A buffer that is posted before a pass is not there after the one before.
    let after = |position: usize| {
        let ended = 2 * end(position) + 1;
        let there = alive.iter().filter(|&&(from, to, _)| from <= ended && ended <= to);
        if end(position) == position {
            resident + there.map(|&(.., units)| units.0).sum::<i64>()
        } else {
            at(2 * position)
        }
    };
    (0..order.len()).map(|position| [at(2 * position), after(position)]).collect()
}

#[test]
fn replay_holds_what_is_alive() {
    let (mut seen, mut over) = (0, 0);
    for_each_problem(600, |model, schedule| {
        let (verdict, along) = (replay(model, schedule), memory_along(model, schedule));
        if verdict.timing.is_none() {
            return;
        }
        for device in Device::all(model.devices()) {
            let expected = held(model, schedule, device);
            let found: Vec<[i64; 2]> =
                along[device.index()].iter().map(|held| [held.during.0, held.after.0]).collect();
            assert_eq!(found, expected, "{} {:?}", model::print(model), schedule.order(device));
            let peak = expected.iter().map(|held| held[0]).max().unwrap_or(model.resident(device).0);
            assert_eq!(verdict.peak_memory[device.index()].0, peak);
            let is_over = model.capacity(device).is_some_and(|capacity| peak > capacity.0);
            let is_reported = verdict.violations.iter().any(
                |violation| matches!(violation, Violation::OverCapacity { at, .. } if at.device == device),
            );
            assert_eq!(is_over, is_reported);
            over += usize::from(is_over);
        }
        seen += 1;
    });
    assert!(seen > 500 && over > 50, "{seen} {over}");
}

#[test]
fn devices_hold_no_less_than_the_floor_and_no_more_than_the_ceiling() {
    let (mut seen, mut kept) = (0, 0);
    for_each_problem(600, |model, schedule| {
        let free = model.with_uniform_activation_capacity(None).expect("no capacity");
        let headroom = model.memory_headroom();
        let (floor, ceiling) = (free.memory_floor(), free.memory_ceiling().expect("no capacity"));
        assert!(floor.has_plain_memory() && ceiling.has_plain_memory());
        assert_eq!((floor.beyond_passes(), ceiling.beyond_passes()), (None, None));
        let [below, exact, above] = [&*floor, &free, &*ceiling].map(|model| memory_along(model, schedule));
        for device in Device::all(model.devices()).map(Device::index) {
            for ((below, exact), above) in below[device].iter().zip(&exact[device]).zip(&above[device]) {
                assert!(below.during <= exact.during && below.after <= exact.after);
                assert!(exact.during <= above.during + headroom[device]);
                assert!(exact.after <= above.after + headroom[device]);
                seen += 1;
            }
        }
        // So orders that keep to the capacities of the ceiling keep to those of the model, and these to those of the floor.
        let is_valid = |model: &Model| replay(model, schedule).is_valid();
        let ceiling = model.memory_ceiling().is_some_and(|ceiling| is_valid(&ceiling));
        assert!(!ceiling || is_valid(model));
        assert!(!is_valid(model) || is_valid(&model.memory_floor()));
        kept += usize::from(ceiling && model.memory().capacity.iter().any(Option::is_some));
    });
    assert!(seen > 5000 && kept > 20, "{seen} {kept}");
}

#[test]
fn buffers_are_posted_in_turns() {
    let mut seen = 0;
    for_each_problem(400, |model, schedule| {
        if replay(model, schedule).timing.is_none() {
            return;
        }
        let posts = posts(model, schedule);
        let found: BTreeMap<Pass, usize> = receive_buffers(model, schedule)
            .into_iter()
            .flatten()
            .map(|buffer| (buffer.pass, buffer.posted))
            .collect();
        assert_eq!(found, posts);
        seen += found.len();
    });
    assert!(seen > 1000, "{seen}");
}

/// Whether so many places are enough for these buffers: each choice of a place for each is tried.
fn fits(buffers: &[Buffer], places: usize, chosen: &mut Vec<usize>) -> bool {
    let Some(next) = buffers.get(chosen.len()) else { return true };
    (0..places).any(|place| {
        let is_taken = buffers
            .iter()
            .zip(&*chosen)
            .any(|(other, &of)| of == place && other.posted <= next.used && next.posted <= other.used);
        if is_taken {
            return false;
        }
        chosen.push(place);
        let fits = fits(buffers, places, chosen);
        chosen.pop();
        fits
    })
}

#[test]
fn no_smaller_pool_of_buffers_is_enough() {
    let mut seen = 0;
    for_each_problem(300, |model, schedule| {
        for buffers in receive_buffers(model, schedule) {
            let pool = buffer_pool(model, &buffers);
            let mut units = 0;
            for (&size, &count) in &pool.counts {
                let (numbers, of_size): (Vec<usize>, Vec<Buffer>) = pool
                    .assigned
                    .iter()
                    .zip(&buffers)
                    .filter(|(_, buffer)| model.receive_after(buffer.boundary) == size)
                    .map(|(&number, &buffer)| (number, buffer))
                    .unzip();
                for (at, one) in of_size.iter().enumerate() {
                    for (other, number) in of_size[..at].iter().zip(&numbers) {
                        let overlap = one.posted <= other.used && other.posted <= one.used;
                        assert!(!overlap || *number != numbers[at], "{one:?} and {other:?} share a buffer");
                    }
                }
                assert!(numbers.iter().all(|&number| number < count));
                let alive = |at: usize| of_size.iter().filter(|of| of.posted <= at && at <= of.used).count();
                let most = of_size.iter().map(|buffer| alive(buffer.used)).max().unwrap_or(0);
                assert_eq!(count, most, "the most that are alive at once");
                if of_size.len() <= 8 {
                    assert!(fits(&of_size, count, &mut Vec::new()));
                    assert!(!fits(&of_size, count - 1, &mut Vec::new()));
                    seen += 1;
                }
                units += size.0 * i64::try_from(count).expect("few");
            }
            assert_eq!(pool.units().0, units);
            let takes = buffers.iter().any(|buffer| model.receive_after(buffer.boundary) > Units::ZERO);
            assert_eq!(pool.is_empty(), !takes);
        }
    });
    assert!(seen > 200, "{seen}");
}

#[test]
fn no_bound_is_above_a_schedule_of_the_whole_model() {
    let mut seen = 0;
    for_each_problem(300, |model, schedule| {
        assert_eq!(steady_bound(model, 1000), steady_bound(&model.memory_floor(), 1000));
        let verdict = replay(model, schedule);
        let (true, Some(timing)) = (verdict.is_valid(), &verdict.timing) else { return };
        for objective in [Objective::Makespan, Objective::DeviceSpan] {
            let bound = lower_bound(model, objective);
            assert!(bound.value <= objective.of(&timing.metrics), "{bound:?}");
            assert_eq!(holds(model, objective, &bound), Ok(()));
            assert_eq!(bound, lower_bound(&model.memory_floor(), objective));
        }
        seen += 1;
    });
    assert!(seen > 100, "{seen}");
}

#[test]
fn every_amount_is_written_and_read() {
    for_each_problem(200, |model, _| {
        let text = model::print(model);
        assert_eq!(model::parse(&text).as_ref(), Ok(model), "{text}");
        for microbatches in [1, 7] {
            let more = model.with_microbatches(microbatches).expect("a model");
            assert_eq!(more.transient(), model.transient());
        }
        assert_eq!(model.without_weights().transient(), model.transient());
    });
}
