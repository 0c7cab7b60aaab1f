//! Memory along each device's order. A device runs one pass at a time, so what is live depends on
//! the order alone.

use super::layout::Layout;
use super::violation::{Place, Violation};
use crate::model::{Kind, Model, Pass, Units};
use crate::schedule::Schedule;

/// The peak of every device; every excursion over a cap is reported at the pass that begins it.
pub(super) fn inspect(
    model: &Model,
    schedule: &Schedule,
    layout: &Layout,
    violations: &mut Vec<Violation>,
) -> Vec<Units> {
    super::devices(schedule)
        .map(|(device, order)| {
            let capacity = model.capacity(device);
            let (mut live, mut peak, mut over) = (Units::ZERO, Units::ZERO, false);
            for (position, &pass) in order.iter().enumerate() {
                if !layout.knows(pass) {
                    continue;
                }
                live += acquired(model, layout, pass);
                peak = peak.max(live);
                if let Some(capacity) = capacity {
                    if live > capacity && !over {
                        let at = Place { device, position };
                        let holding = holding(&order[..=position]);
                        violations.push(Violation::OverCapacity { at, pass, live, capacity, holding });
                    }
                    over = live > capacity;
                }
                live -= released(model, pass);
            }
            peak
        })
        .collect()
}

/// What a pass acquires at its start.
fn acquired(model: &Model, layout: &Layout, pass: Pass) -> Units {
    let whole = model.activation(pass.stage);
    let checkpoint = model.checkpoint(pass.stage).unwrap_or(whole);
    match pass.kind {
        Kind::F if layout.has(pass.with_kind(Kind::R)) => checkpoint,
        Kind::F => whole,
        Kind::R => whole - checkpoint,
        Kind::I | Kind::W | Kind::B => Units::ZERO,
    }
}

/// What a pass releases at its end.
fn released(model: &Model, pass: Pass) -> Units {
    let whole = model.activation(pass.stage);
    let retained = model.retained_for_weight(pass.stage);
    match pass.kind {
        Kind::F | Kind::R => Units::ZERO,
        Kind::I => whole - retained,
        Kind::W => retained,
        Kind::B => whole,
    }
}

/// The forwards of an order whose backward has not ended within it.
fn holding(order: &[Pass]) -> Vec<Pass> {
    let mut held: Vec<Pass> = Vec::new();
    for pass in order {
        match pass.kind {
            Kind::F => held.push(*pass),
            Kind::W | Kind::B => {
                let forward = pass.with_kind(Kind::F);
                if let Some(at) = held.iter().position(|&other| other == forward) {
                    held.remove(at);
                }
            }
            Kind::R | Kind::I => {}
        }
    }
    held
}
