//! Communication plans: those of schedules, and what becomes of them when messages are moved, lost or exchanged.

use std::collections::BTreeSet;

use bubbleproof::comm::{
    Action, CommunicationPlan, Ending, Message, Payload, PlanViolation, Semantics, ending, verify,
};
use bubbleproof::lowering::lower;
use bubbleproof::model::{Kind, Microbatch, Pass, Stage};
use fastrand::Rng;
use serde_json::{Value, json};

use crate::problem::Problem;

/// The rules of `verify` that are about messages. That every send is waited for is no part of the theorems; that none
/// is there twice is compared by itself.
const RULES: [&str; 10] = [
    "no-neighbour",
    "wrong-device",
    "needless-message",
    "never-sent",
    "never-received",
    "sent-before-made",
    "used-before-received",
    "waited-before-sent",
    "swapped-messages",
    "communication-deadlock",
];

/// A plan, whether it ends under each semantics, and whether its messages are right.
pub fn messages(choices: &mut Rng) -> Value {
    let goes_round = choices.u32(0..6) == 0;
    let problem = if goes_round { ring(choices) } else { Problem::random(choices, 1, 4) };
    let orders = if goes_round { by_chunk(&problem) } else { problem.valid_orders(choices) };
    let mut rows = rows(choices, &problem, orders);
    if goes_round || choices.bool() {
        receive_late(&mut rows, &problem);
    }
    if !goes_round && choices.bool() {
        mix(choices, &mut rows, &problem);
    }
    if !goes_round && choices.u32(0..3) == 0 {
        wait_at_once(&mut rows);
    }
    for _ in 0..[0, 0, 0, 1, 1, 2, 8][choices.usize(0..7)] {
        spoil(choices, &mut rows, &problem);
    }
    put_reductions(choices, &mut rows, &problem);
    let placement = problem.model().placement().clone();
    let plan = CommunicationPlan::new(placement, problem.microbatches, rows).expect("a plan");
    let broken: BTreeSet<&str> = verify(&plan).iter().map(PlanViolation::rule).collect();
    let is_twice = broken.contains("duplicate-action");
    let is_right = !RULES.iter().any(|rule| broken.contains(rule));
    let cells: Vec<Vec<Value>> = plan.rows().iter().map(|row| row.iter().map(cell).collect()).collect();
    json!({
        "problem": problem, "rows": cells,
        "rust": {
            "ends": Semantics::ALL.map(|semantics| matches!(ending(&plan, semantics), Ending::Ends)),
            "twice": is_twice,
            // The theorems allow a message that is sent and received twice.
            "right": (!is_twice).then_some(is_right),
        },
    })
}

/// An action as a list: its name, and what it is about. A full backward is an I and a W.
fn cell(action: &Action) -> Value {
    let message = |name: &str, message: Message| {
        json!([name, message.payload == Payload::Gradient, message.boundary.0, message.microbatch.0])
    };
    match *action {
        Action::Run(_) | Action::Overlap(_) => {
            let mut cell = vec!["passes".to_owned()];
            for &pass in action.passes() {
                let kinds: &[Kind] = if pass.kind == Kind::B { &[Kind::I, Kind::W] } else { &[pass.kind] };
                cell.extend(kinds.iter().map(|&kind| pass.with_kind(kind).to_string()));
            }
            json!(cell)
        }
        Action::Send(sent) => message("send", sent),
        Action::Receive(received) => message("receive", received),
        Action::WaitSend(sent) => message("wait", sent),
        _ => json!(["other"]),
    }
}

/// Three devices in a ring. There, one stream for each device holds up what one for each pair of devices does not.
fn ring(choices: &mut Rng) -> Problem {
    Problem::on((0..3).map(|device| vec![device, device + 3]).collect(), choices, 1, 6)
}

/// All microbatches through one chunk of every device, then through the next.
fn by_chunk(problem: &Problem) -> Vec<Vec<Pass>> {
    let mut passes = problem.passes(problem.microbatches);
    passes.sort_by_key(|pass| {
        let chunk = pass.stage.0 / 3;
        (pass.kind, if pass.kind == Kind::F { chunk } else { 1 - chunk }, pass.microbatch)
    });
    problem.by_device(&problem.in_order(&passes))
}

/// The plan of a schedule without gathers and reductions, with some full backwards and some pairs.
fn rows(choices: &mut Rng, problem: &Problem, mut orders: Vec<Vec<Pass>>) -> Vec<Vec<Action>> {
    for order in &mut orders {
        for pass in problem.passes(problem.microbatches) {
            let place = |order: &[Pass], kind| order.iter().position(|&other| other == pass.with_kind(kind));
            if pass.kind == Kind::I
                && choices.u32(0..3) == 0
                && let Some(at) = place(order, Kind::W)
            {
                order.remove(at);
                let input = place(order, Kind::I).expect("a W is behind its I");
                order[input] = pass.with_kind(Kind::B);
            }
        }
    }
    let plan = lower(&problem.schedule(orders)).expect("it can run");
    let has_message = |action: &Action| {
        !matches!(
            action,
            Action::Unshard(_) | Action::Reshard(_) | Action::ReduceGradients(_) | Action::WaitReduce(_)
        )
    };
    let mut rows: Vec<Vec<Action>> =
        plan.rows().iter().map(|row| row.iter().copied().filter(has_message).collect()).collect();
    for row in &mut rows {
        let mut at = 0;
        while at + 1 < row.len() {
            if let (Action::Run(one), Action::Run(other)) = (row[at], row[at + 1])
                && (one.kind == Kind::F) != (other.kind == Kind::F)
                && one.kind != Kind::W
                && other.kind != Kind::W
                && one.microbatch != other.microbatch
                && choices.bool()
            {
                row[at] = Action::Overlap([one, other]);
                row.remove(at + 1);
            }
            at += 1;
        }
    }
    rows
}

/// Moves, drops, doubles or renames an action, or moves messages only.
fn spoil(choices: &mut Rng, rows: &mut [Vec<Action>], problem: &Problem) {
    let of = choices.usize(0..rows.len());
    let row = &mut rows[of];
    if row.is_empty() {
        return;
    }
    let (at, to) = (choices.usize(0..row.len()), choices.usize(0..row.len()));
    let is_message = |action: &Action| action.passes().is_empty();
    match choices.u32(0..12) {
        0 => drop(row.remove(at)),
        1 => row.insert(to, row[at]),
        2 => row.swap(at, to),
        3 => {
            let message = Message {
                payload: if choices.bool() { Payload::Activation } else { Payload::Gradient },
                boundary: Stage(choices.u32(0..=u32::try_from(problem.stages()).expect("few stages"))),
                microbatch: Microbatch(choices.u32(0..problem.microbatches)),
            };
            let named = [Action::Send(message), Action::Receive(message), Action::WaitSend(message)];
            let named = named[choices.usize(0..3)];
            if is_message(&row[at]) && choices.bool() { row[at] = named } else { row.insert(at, named) }
        }
        // The messages of a row in another order, which passes do not see.
        4..=7 => {
            let next = (at + 1).min(row.len() - 1);
            if is_message(&row[at]) && is_message(&row[next]) {
                row.swap(at, next);
            }
        }
        // A message earlier or later.
        _ if is_message(&row[at]) => {
            let moved = row.remove(at);
            let to = to.min(row.len());
            let near = if choices.bool() { to } else { (at + choices.usize(0..4)).saturating_sub(2) };
            row.insert(near.min(row.len()), moved);
        }
        _ => {}
    }
}

/// Every device asks for a message only when a pass needs it.
fn receive_late(rows: &mut [Vec<Action>], problem: &Problem) {
    let placement = problem.model().placement().clone();
    for row in rows {
        let asked: BTreeSet<Action> =
            row.iter().copied().filter(|action| matches!(action, Action::Receive(_))).collect();
        let with_receives = |action: &Action| {
            let needed = action.passes().iter().filter_map(|&pass| Message::into_pass(pass, &placement));
            let mut found: Vec<Action> =
                needed.map(Action::Receive).filter(|receive| asked.contains(receive)).collect();
            found.push(*action);
            found
        };
        row.retain(|action| !asked.contains(action));
        *row = row.iter().flat_map(with_receives).collect();
    }
}

/// Messages in another order, but not those of one direction between two devices; half of the time none between two
/// devices.
fn mix(choices: &mut Rng, rows: &mut [Vec<Action>], problem: &Problem) {
    let peer = |action: Action| match action {
        Action::Send(message) => Some((0, problem.device_of(message.to()))),
        Action::Receive(message) => Some((1, problem.device_of(message.from()))),
        _ => None,
    };
    let between_others = choices.bool();
    for _ in 0..choices.usize(1..80) {
        let of = choices.usize(0..rows.len());
        let row = &mut rows[of];
        let at = choices.usize(0..row.len().max(1));
        let Some(&[one, other]) = row.get(at..at + 2) else { continue };
        let may_swap = match (peer(one), peer(other)) {
            (Some(first), Some(second)) if between_others => first.1 != second.1,
            (Some(first), Some(second)) => first != second,
            // A receive may be posted before any pass, and a send behind any.
            _ => matches!(
                (one, other),
                (Action::Run(_), Action::Receive(_)) | (Action::Send(_), Action::Run(_))
            ),
        };
        if may_swap {
            row.swap(at, at + 1);
        }
    }
}

/// Every device waits until what it sends has left.
fn wait_at_once(rows: &mut [Vec<Action>]) {
    for row in rows {
        row.retain(|action| !matches!(action, Action::WaitSend(_)));
        let with_wait = |action: &Action| match *action {
            Action::Send(message) => vec![*action, Action::WaitSend(message)],
            _ => vec![*action],
        };
        *row = row.iter().flat_map(with_wait).collect();
    }
}

/// Reductions, which wait for nothing.
fn put_reductions(choices: &mut Rng, rows: &mut [Vec<Action>], problem: &Problem) {
    for (row, stages) in rows.iter_mut().zip(&problem.placement) {
        for &stage in stages {
            if choices.u32(0..3) == 0 {
                // At the ends of the row, where no other reduction is under way.
                let at = if choices.bool() { 0 } else { row.len() };
                let reduction = [Action::ReduceGradients(Stage(stage)), Action::WaitReduce(Stage(stage))];
                row.splice(at..at, reduction);
            }
        }
    }
}
