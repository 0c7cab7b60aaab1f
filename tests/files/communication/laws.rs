//! The verifier and the runtime agree, on random plans and on damaged ones.

use std::collections::{BTreeMap, BTreeSet};

use bubbleproof::comm::{self, Action, CommunicationPlan, Ending, Message, Semantics};
use bubbleproof::lowering::{self, Nearest};
use bubbleproof::model::{Device, Kind, Microbatch, Model, Pass, Placement, Stage};
use bubbleproof::replay::replay;
use bubbleproof::schedule::{Schedule, prerequisites};
use proptest::prelude::*;

use crate::communication::runtime::{self, Failure};

/// Choices made one after the other (splitmix64): one seed stands for a long row of them.
struct Choices(u64);

impl Choices {
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((mixed ^ (mixed >> 31)) % count as u64).expect("it is below a usize")
    }
}

/// Placements of every shape, explicit ones uneven.
fn placement(choices: &mut Choices) -> Placement {
    let small = |number: usize| u32::try_from(number).expect("a small number");
    let devices = 1 + choices.below(4);
    match choices.below(4) {
        0 => Placement::linear(small(devices)),
        1 => Placement::looped(small(devices), small(1 + choices.below(4))),
        2 => Placement::v(small(devices)),
        _ => {
            let mut lists: Vec<Vec<Stage>> = vec![Vec::new(); devices];
            for stage in 0..devices + choices.below(4) {
                let device = if stage < devices { stage } else { choices.below(devices) };
                lists[device].push(Stage::at(stage));
            }
            Placement::new(lists)
        }
    }
    .expect("a placement")
}

/// A schedule that can run, whose microbatches are numbered in the order in which the last stage runs their forwards.
fn schedule(seed: u64) -> Schedule {
    let schedule = schedule_of_any_numbering(seed);
    let forwards = last_forwards(&schedule);
    let number =
        |microbatch| Microbatch::at(forwards.iter().position(|&one| one == microbatch).expect("one of them"));
    let orders = schedule.orders().iter().map(|order| {
        order.iter().map(|pass| Pass { microbatch: number(pass.microbatch), ..*pass }).collect()
    });
    let overlaps = Device::all(schedule.devices()).map(|device| schedule.overlaps(device).to_vec());
    Schedule::new(schedule.placement().clone(), schedule.microbatches(), orders.collect())
        .and_then(|numbered| numbered.with_overlaps(overlaps.collect()))
        .expect("the same schedule")
}

/// The microbatches in the order of the forwards of the last stage.
fn last_forwards(schedule: &Schedule) -> Vec<Microbatch> {
    let last = Stage(schedule.placement().stages() - 1);
    let passes = schedule.orders().iter().flatten();
    passes.filter(|pass| (pass.stage, pass.kind) == (last, Kind::F)).map(|pass| pass.microbatch).collect()
}

/// A schedule that can run, with overlapped pairs wherever chance puts one that can run too.
fn schedule_of_any_numbering(seed: u64) -> Schedule {
    let mut choices = Choices(seed);
    let placement = placement(&mut choices);
    let microbatches = u32::try_from(1 + choices.below(4)).expect("a small number");
    let mut waiting: Vec<Pass> = Vec::new();
    for stage in Stage::all(placement.stages()) {
        for microbatch in Microbatch::all(microbatches) {
            let kinds: &[Kind] =
                if choices.below(2) == 0 { &[Kind::F, Kind::B] } else { &[Kind::F, Kind::I, Kind::W] };
            waiting.extend(kinds.iter().map(|&kind| Pass::new(stage, kind, microbatch)));
        }
    }
    let all = waiting.clone();
    let mut orders: Vec<Vec<Pass>> = vec![Vec::new(); placement.devices() as usize];
    while !waiting.is_empty() {
        let ready = |pass: &Pass| {
            prerequisites(*pass, &placement, |other| all.contains(&other))
                .all(|need| !waiting.contains(&need))
        };
        let ready: Vec<usize> = (0..waiting.len()).filter(|&at| ready(&waiting[at])).collect();
        let pass = waiting.swap_remove(ready[choices.below(ready.len())]);
        orders[placement.device_of(pass.stage).index()].push(pass);
    }
    let mut schedule = Schedule::new(placement, microbatches, orders).expect("a schedule");
    for device in Device::all(schedule.devices()) {
        for position in 0..schedule.order(device).len() {
            if choices.below(3) > 0 {
                continue;
            }
            let mut overlaps: Vec<Vec<usize>> =
                Device::all(schedule.devices()).map(|device| schedule.overlaps(device).to_vec()).collect();
            overlaps[device.index()].push(position);
            let paired = schedule.clone().with_overlaps(overlaps);
            if let Ok(paired) = paired.filter_runnable() {
                schedule = paired;
            }
        }
    }
    schedule
}

/// A schedule that replay accepts.
trait Runnable {
    fn filter_runnable(self) -> Result<Schedule, ()>;
}

impl<E> Runnable for Result<Schedule, E> {
    fn filter_runnable(self) -> Result<Schedule, ()> {
        self.ok().filter(is_valid).ok_or(())
    }
}

fn unit(schedule: &Schedule) -> Model {
    Model::unit(schedule.placement().clone(), schedule.microbatches()).expect("a model")
}

fn is_valid(schedule: &Schedule) -> bool {
    replay(&unit(schedule), schedule).is_valid()
}

/// The nearest orders under unit times.
fn nearest(schedule: &Schedule) -> Option<Nearest> {
    lowering::nearest(&unit(schedule), schedule)
}

/// The plan with some actions other than passes dropped, doubled, exchanged or moved.
fn damaged(plan: &CommunicationPlan, seed: u64) -> CommunicationPlan {
    let mut choices = Choices(seed);
    let mut rows = plan.rows().to_vec();
    for _ in 0..=choices.below(2) {
        let row = choices.below(rows.len());
        let row = &mut rows[row];
        let of_kind = choices.below(4);
        let movable = |action: &Action| match of_kind {
            0 => matches!(action, Action::Receive(_)),
            1 => matches!(action, Action::Send(_)),
            2 => matches!(action, Action::WaitSend(_)),
            _ => action.passes().is_empty(),
        };
        let candidates: Vec<usize> = (0..row.len()).filter(|&at| movable(&row[at])).collect();
        if candidates.is_empty() {
            continue;
        }
        let at = candidates[choices.below(candidates.len())];
        match choices.below(8) {
            0 => drop(row.remove(at)),
            1 => {
                let to = choices.below(row.len() + 1);
                row.insert(to, row[at]);
            }
            2..=4 => {
                let other = candidates[choices.below(candidates.len())];
                row.swap(at, other);
            }
            _ => {
                let action = row.remove(at);
                row.insert(choices.below(row.len() + 1), action);
            }
        }
    }
    let schedule = plan.schedule();
    CommunicationPlan::new(schedule.placement().clone(), schedule.microbatches(), rows)
        .expect("the same passes")
}

/// How many messages are taken for another one.
fn swaps(plan: &CommunicationPlan) -> usize {
    let placement = plan.schedule().placement();
    let mut ends: BTreeMap<(Device, Device), (Vec<Message>, Vec<Message>)> = BTreeMap::new();
    for (_, action) in plan.actions() {
        let (Action::Send(message) | Action::Receive(message)) = action else { continue };
        let way = (placement.device_of(message.from()), placement.device_of(message.to()));
        let (sent, received) = ends.entry(way).or_default();
        if matches!(action, Action::Send(_)) { sent } else { received }.push(message);
    }
    ends.values().flat_map(|(sent, received)| sent.iter().zip(received)).filter(|(a, b)| a != b).count()
}

#[test]
fn the_laws_meet_every_kind_of_harm() {
    let mut met: BTreeSet<String> = BTreeSet::new();
    for seed in 0..3000 {
        let schedule = if seed % 4 == 0 { schedule_of_any_numbering(seed) } else { schedule(seed) };
        let plan = damaged(&lowering::lower(&schedule).expect("it can run"), seed);
        let faults = comm::verify(&plan);
        met.extend(faults.iter().map(|fault| fault.rule().to_owned()));
        for semantics in Semantics::ALL {
            let end = match runtime::run(&plan, semantics) {
                Ok(()) => "ends",
                Err(Failure::Hang) => "hangs",
                Err(Failure::Refused(_)) => "refuses",
                Err(Failure::WrongGradients(_)) => "has wrong gradients",
            };
            let verdict = if faults.is_empty() { "accepted" } else { "rejected" };
            met.insert(format!("{verdict}: {} {end}", semantics.name()));
        }
    }
    insta::assert_snapshot!(met.into_iter().collect::<Vec<_>>().join("\n"));
}

proptest! {
    #![proptest_config(crate::cases(400))]

    #[test]
    fn every_schedule_is_lowered_to_a_plan_that_is_safe_everywhere(seed: u64) {
        let schedule = schedule(seed);
        let plan = lowering::lower(&schedule).expect("it can run");
        prop_assert_eq!(plan.schedule().orders(), schedule.orders());
        prop_assert_eq!(comm::verify(&plan), []);
        for semantics in Semantics::ALL {
            prop_assert_eq!(comm::deadlock(&plan, semantics), None);
            prop_assert_eq!(runtime::run(&plan, semantics), Ok(()), "{}", semantics);
        }
    }

    #[test]
    fn losses_out_of_order_are_all_that_can_be_wrong_with_a_lowered_schedule(seed: u64) {
        let schedule = schedule_of_any_numbering(seed);
        let plan = lowering::lower(&schedule).expect("it can run");
        let rules: Vec<&str> = comm::verify(&plan).iter().map(comm::PlanViolation::rule).collect();
        let is_in_order = last_forwards(&schedule).is_sorted();
        prop_assert_eq!(rules, if is_in_order { vec![] } else { vec!["losses-out-of-order"] });
        match lowering::verified_plan(&schedule) {
            Ok(verified) => prop_assert!(is_in_order && verified == plan),
            Err(error) => prop_assert!(!is_in_order && !error.is_defect(), "{}", error),
        }
        match lowering::numbered(&schedule) {
            None => prop_assert!(is_in_order),
            Some(numbered) => {
                prop_assert!(!is_in_order && lowering::verified_plan(&numbered).is_ok());
                prop_assert_eq!(lowering::numbered(&numbered), None);
                let [old, new] = [&schedule, &numbered].map(|one| replay(&unit(one), one));
                prop_assert_eq!(old.timing, new.timing);
                prop_assert_eq!(old.peak_memory, new.peak_memory);
            }
        }
    }

    #[test]
    fn verifier_and_runtime_judge_damaged_plans_alike(seed: u64, damage: u64) {
        let schedule = if damage % 4 == 0 { schedule_of_any_numbering(seed) } else { schedule(seed) };
        let plan = damaged(&lowering::lower(&schedule).expect("it can run"), damage);
        let faults = comm::verify(&plan);
        let mut ends = [Semantics::Buffered, Semantics::Rendezvous].map(|semantics| {
            runtime::run(&plan, semantics)
        }).into_iter();
        let failed = ends.find_map(Result::err);
        prop_assert_eq!(faults.is_empty(), failed.is_none(), "{:?}\n{:?}", faults, failed);
        if faults.is_empty() {
            for semantics in [Semantics::PairStreams, Semantics::DeviceStreams] {
                let cycle = comm::deadlock(&plan, semantics);
                let end = runtime::run(&plan, semantics);
                let expected = if cycle.is_some() { Err(Failure::Hang) } else { Ok(()) };
                prop_assert_eq!(end, expected, "{}: {:?}", semantics, cycle);
            }
        }
    }

    #[test]
    fn a_plan_is_said_to_end_where_it_does(seed: u64, damage: u64) {
        let plan = damaged(&lowering::lower(&schedule(seed)).expect("it can run"), damage);
        for semantics in Semantics::ALL {
            let said = comm::ending(&plan, semantics);
            let agrees = match (runtime::run(&plan, semantics), &said) {
                (Ok(()) | Err(Failure::WrongGradients(_)), Ending::Ends) => true,
                // What is not waited for is seen in the end only, and reductions are not messages.
                (Err(Failure::Refused(why)), Ending::Ends) => {
                    ["not waited for", "are left", "REDUCE_GRAD"].iter().any(|part| why.contains(part))
                }
                (Err(Failure::Hang | Failure::Refused(_)), said) => *said != Ending::Ends,
                _ => false,
            };
            prop_assert!(agrees, "{}: {:?}\n{:?}", semantics.name(), said, runtime::run(&plan, semantics));
        }
    }

    #[test]
    fn the_gradients_that_are_said_to_be_wrong_are_those_that_are(seed: u64, damage: u64) {
        let plan = damaged(&lowering::lower(&schedule(seed)).expect("it can run"), damage);
        let faults = comm::verify(&plan);
        let swapped = |fault: &comm::PlanViolation| match fault {
            comm::PlanViolation::Swapped { last_wrong, .. } => Some(*last_wrong),
            _ => None,
        };
        let Some(last) = faults.iter().filter_map(swapped).max() else { return Ok(()) };
        if faults.iter().any(|fault| swapped(fault).is_none()) {
            return Ok(());
        }
        let Err(Failure::WrongGradients(wrong)) = runtime::run(&plan, Semantics::Rendezvous) else {
            panic!("messages were swapped");
        };
        prop_assert!(wrong.iter().all(|&stage| stage <= last));
        // What is swapped on one way may be swapped back on another.
        if faults.len() == 1 && swaps(&plan) == 2 {
            prop_assert_eq!(wrong, Stage::all(last.0 + 1).collect::<Vec<_>>());
        }
    }

    #[test]
    fn every_circle_of_waits_is_one(seed: u64, damage: u64) {
        let plan = damaged(&lowering::lower(&schedule(seed)).expect("it can run"), damage);
        for semantics in Semantics::ALL {
            let Some(waits) = comm::deadlock(&plan, semantics) else { continue };
            for (wait, next) in waits.iter().zip(waits.iter().cycle().skip(1)) {
                prop_assert_eq!(wait.action, plan.row(wait.at.device)[wait.at.position]);
                prop_assert_eq!(wait.needs, plan.row(wait.needs_at.device)[wait.needs_at.position]);
                prop_assert_eq!(wait.needs_at.device, next.at.device, "{:?}", waits);
                prop_assert!(wait.needs_at >= next.at, "{:?}", waits);
            }
        }
    }

    #[test]
    fn the_nearest_orders_of_any_orders_can_run_and_those_of_good_ones_are_the_same(seed: u64, damage: u64) {
        let schedule = schedule(seed);
        let same = nearest(&schedule).expect("it can run");
        prop_assert_eq!((&same.schedule, same.moved.len(), same.parted.len()), (&schedule, 0, 0));
        let mut choices = Choices(damage);
        let mut orders = schedule.orders().to_vec();
        for order in &mut orders {
            for _ in 0..choices.below(4) {
                let (from, to) = (choices.below(order.len()), choices.below(order.len()));
                let pass = order.remove(from);
                order.insert(to, pass);
            }
        }
        let shuffled = Schedule::new(schedule.placement().clone(), schedule.microbatches(), orders).expect("a schedule");
        let nearest = nearest(&shuffled).expect("no pass is missing");
        prop_assert!(is_valid(&nearest.schedule));
        prop_assert_eq!(lowering::lower(&shuffled).is_ok(), nearest.moved.is_empty());
        prop_assert_eq!(lowering::lower(&shuffled).is_ok(), is_valid(&shuffled));
        // Done to the orders one after the other, the moves lead to the orders that are offered.
        let mut moved = shuffled.orders().to_vec();
        for &(at, pass, to) in &nearest.moved {
            let order = &mut moved[at.device.index()];
            prop_assert_eq!(order.remove(at.position), pass);
            order.insert(to, pass);
        }
        prop_assert_eq!(&moved[..], nearest.schedule.orders());
    }
    #[test]
    fn one_displaced_pass_is_mended_by_moving_one(seed: u64, damage: u64) {
        let schedule = schedule(seed);
        let mut choices = Choices(damage);
        let mut orders = schedule.orders().to_vec();
        let device = choices.below(orders.len());
        let order = &mut orders[device];
        let pass = order.remove(choices.below(order.len()));
        order.insert(choices.below(order.len() + 1), pass);
        let displaced = Schedule::new(schedule.placement().clone(), schedule.microbatches(), orders).expect("a schedule");
        let nearest = nearest(&displaced).expect("no pass is missing");
        prop_assert!(is_valid(&nearest.schedule));
        prop_assert_eq!(nearest.displaced(&displaced).len(), usize::from(!is_valid(&displaced)));
        prop_assert_eq!(nearest.moved.len(), usize::from(!is_valid(&displaced)));
    }
}
