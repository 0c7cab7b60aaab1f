//! What devices hold, added up anew from what is alive at each position of an order.

use std::collections::{BTreeMap, BTreeSet};

use bubbleproof::model::{Device, Kind, Model, Pass, Units};
use bubbleproof::schedule::Schedule;

use super::{machine, naive};

/// For every message, by the pass that uses it, how many passes of its device have run when it is posted: in rounds, each
/// device runs one step if it can.
pub fn posts(model: &Model, schedule: &Schedule) -> BTreeMap<Pass, usize> {
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
pub fn held(model: &Model, schedule: &Schedule, device: Device) -> Vec<[i64; 2]> {
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
    if let Some(sharding) = model.sharding() {
        for (stage, [posted, _, until]) in machine::gathers(schedule, device, sharding.stages as usize) {
            alive.push((2 * posted, 2 * until - 1, sharding.gathered[stage.index()]));
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
