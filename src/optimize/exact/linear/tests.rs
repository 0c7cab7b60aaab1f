use itertools::Itertools as _;

use super::*;
use crate::model::{Kind, Microbatch, Model, Placement, StepEnd, Units};

fn model(placement: Placement, microbatches: u32, times: [i64; 4], capacity: i64) -> Model {
    let model = Model::equal_stages(placement, microbatches, times).expect("a model");
    model.with_uniform_activation_capacity(Some(Units(capacity))).expect("a capacity")
}

fn linear(devices: u32) -> Placement {
    Placement::linear(devices).expect("a placement")
}

/// All orders of the passes of rows, each row in turn.
fn interleavings(rows: &[Vec<Pass>]) -> Vec<Vec<Pass>> {
    if rows.iter().all(Vec::is_empty) {
        return vec![Vec::new()];
    }
    let mut found = Vec::new();
    for at in 0..rows.len() {
        let mut rest = rows.to_vec();
        if rest[at].is_empty() {
            continue;
        }
        let first = rest[at].remove(0);
        found.extend(interleavings(&rest).into_iter().map(|order| [vec![first], order].concat()));
    }
    found
}

fn orders_of(model: &Model, device: Device) -> Vec<Vec<Pass>> {
    let stages = model.placement().stages_of(device).iter();
    let rows = stages.cartesian_product([Kind::F, Kind::I, Kind::W]).map(|(&stage, kind)| {
        Microbatch::all(model.microbatches()).map(|microbatch| Pass::new(stage, kind, microbatch)).collect()
    });
    interleavings(&rows.collect_vec())
}

/// When every pass starts, each as early as it can, straight from the definitions: nothing where the orders
/// deadlock or exceed a capacity.
fn starts(model: &Model, orders: &[Vec<Pass>]) -> Option<Vec<(Pass, Ticks)>> {
    let mut done: Vec<(Pass, Ticks)> = Vec::new();
    let end = |done: &[(Pass, Ticks)], pass: Pass| {
        let found = done.iter().find(|(other, _)| *other == pass)?;
        Some(found.1 + model.duration(pass.stage, pass.kind))
    };
    let mut next = vec![0; orders.len()];
    while done.len() < orders.iter().map(Vec::len).sum() {
        let before = done.len();
        for (order, next) in orders.iter().zip(&mut next) {
            let Some(&pass) = order.get(*next) else { continue };
            let (below, above) = (pass.stage.0.checked_sub(1).map(Stage), Stage(pass.stage.0 + 1));
            let last = above.0 == model.stages();
            let needs = match pass.kind {
                Kind::F => below.map(|below| (Pass { stage: below, ..pass }, model.latency_after(below))),
                Kind::I if !last => Some((Pass { stage: above, ..pass }, model.latency_after(pass.stage))),
                Kind::I => Some((pass.with_kind(Kind::F), Ticks::ZERO)),
                _ => Some((pass.with_kind(Kind::I), Ticks::ZERO)),
            };
            let own = (pass.kind == Kind::I).then(|| (pass.with_kind(Kind::F), Ticks::ZERO));
            let ends = needs.into_iter().chain(own).map(|(pass, lag)| Some(end(&done, pass)? + lag));
            let Some(ready) = ends.collect::<Option<Vec<_>>>() else { continue };
            let free = next.checked_sub(1).and_then(|at| end(&done, order[at])).unwrap_or(Ticks::ZERO);
            done.push((pass, ready.into_iter().max().unwrap_or(Ticks::ZERO).max(free)));
            *next += 1;
        }
        if done.len() == before {
            return None;
        }
    }
    for (device, order) in Device::all(model.devices()).zip(orders) {
        let mut live = 0;
        for pass in order {
            live += match pass.kind {
                Kind::F => model.activation(pass.stage).0,
                Kind::I => model.retained_for_weight(pass.stage).0 - model.activation(pass.stage).0,
                _ => -model.retained_for_weight(pass.stage).0,
            };
            if model.activation_capacity(device).is_some_and(|capacity| live > capacity.0) {
                return None;
            }
        }
    }
    Some(done)
}

/// Over all orders of tiny problems: the inequalities hold of exactly those that run within the capacities
/// and the horizon.
#[test]
fn the_inequalities_hold_of_the_schedules_within_the_horizon_and_of_nothing_else() {
    let (mut right, mut wrong) = (0, 0);
    for (model, horizon) in [
        (model(linear(2), 2, [1, 2, 1, 1], 1), 18),
        (model(linear(2), 2, [2, 1, 3, 0], 2), 15),
        (model(linear(1), 3, [1, 1, 1, 0], 2), 9),
        (model(Placement::v(1).expect("a placement"), 1, [2, 1, 1, 0], 2), 9),
        (model(linear(3), 1, [1, 1, 2, 1], 1), 14),
    ] {
        let program = LinearProgram::new(&model, Ticks(horizon)).expect("inequalities");
        for orders in
            Device::all(model.devices()).map(|device| orders_of(&model, device)).multi_cartesian_product()
        {
            let Some(starts) = starts(&model, &orders) else { continue };
            let makespan = starts.iter().map(|&(pass, at)| at + model.duration(pass.stage, pass.kind)).max();
            let fits = makespan <= Some(Ticks(horizon));
            let value = |pass| starts.iter().find(|(other, _)| *other == pass).expect("it runs").1;
            let values = program.values(value);
            let in_range = program.variables().iter().zip(&values).all(|(v, &x)| v.least <= x && x <= v.most);
            let holds = in_range && program.inequalities().iter().all(|it| it.holds(&values));
            assert_eq!(holds, fits, "{orders:?}");
            *(if fits { &mut right } else { &mut wrong }) += 1;
        }
    }
    assert!(right > 9 && wrong > 9, "{right} {wrong}");
}

/// Orders that exceed a capacity break an inequality, whatever the horizon.
#[test]
fn the_inequalities_exclude_what_exceeds_a_capacity() {
    let tight = model(linear(2), 2, [1, 2, 1, 1], 1);
    let loose = model(linear(2), 2, [1, 2, 1, 1], 2);
    let program = LinearProgram::new(&tight, Ticks(100)).expect("inequalities");
    let all = Device::all(2).map(|device| orders_of(&loose, device)).multi_cartesian_product();
    let mut excluded = 0;
    for orders in all {
        let Some(starts) = starts(&loose, &orders) else { continue };
        let value = |pass| starts.iter().find(|(other, _)| *other == pass).expect("it runs").1;
        let values = program.values(value);
        let broken: Vec<&Origin> = program
            .inequalities()
            .iter()
            .filter(|inequality| !inequality.holds(&values))
            .map(|inequality| &inequality.origin)
            .collect();
        let fits = self::starts(&tight, &orders).is_some();
        assert_eq!(broken.is_empty(), fits, "{orders:?}");
        // What is implied says nothing that the statement does not.
        assert_eq!(broken.iter().all(|origin| matches!(origin, Origin::Implied(_))), fits);
        excluded += usize::from(!fits);
    }
    assert!(excluded > 0);
}

#[test]
fn both_files_say_the_same_of_a_small_problem() {
    let program = LinearProgram::new(&model(linear(1), 2, [1, 1, 1, 0], 1), Ticks(5)).expect("inequalities");
    insta::assert_snapshot!(program.flatzinc());
    insta::assert_snapshot!(Binary::new(&program).opb());
}

#[test]
fn what_cannot_be_stated_is_refused() {
    let refuse = |model: Model, horizon| LinearProgram::new(&model, Ticks(horizon)).expect_err("refused");
    let first = Pass::new(Stage(0), Kind::F, Microbatch(0));
    assert_eq!(refuse(model(linear(2), 1, [0, 1, 1, 0], 2), 9), LinearError::NoDuration(first));
    assert!(matches!(refuse(model(linear(2), 1, [3, 1, 1, 0], 2), 2), LinearError::HorizonTooShort { .. }));
    assert_eq!(refuse(model(linear(2), 1, [1, 1, 1, 0], 2), 1 << 40), LinearError::TooLarge(6));
}

#[test]
fn models_that_say_more_are_refused_by_name() {
    let model = model(linear(2), 2, [2, 2, 2, 0], 2);
    let ends = StepEnd { reduce: vec![Ticks(1); 2], optimizer: vec![Ticks(1); 2] };
    let refused = LinearProgram::new(&model.with_step(Some(ends)).expect("a model"), Ticks(20));
    let refused = refused.map(|_| ()).expect_err("it knows nothing of reductions");
    assert!(
        matches!(&refused, LinearError::BeyondPasses(tables) if tables.tables() == ["[step]"]),
        "{refused}"
    );
    assert!(LinearProgram::new(&model, Ticks(20)).is_ok());
}
