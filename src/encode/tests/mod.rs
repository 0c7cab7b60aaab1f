use super::*;
use crate::model::{Costs, Kind, Memory, Microbatch, Placement, Stage};
#[cfg(feature = "milp")]
use crate::stop::Stop;

#[cfg(feature = "milp")]
mod brute;
#[cfg(feature = "milp")]
mod cases;
#[cfg(all(feature = "milp", feature = "lcg"))]
mod engines;
#[cfg(all(feature = "milp", feature = "lcg"))]
mod periodic;
#[cfg(feature = "milp")]
mod solvers;

/// What the MILP engine makes of a model.
#[cfg(feature = "milp")]
fn by_milp(model: &Model, objective: BlockObjective, stop: &Stop) -> Result<BlockOutcome, EncodeError> {
    milp::solve(model, objective, stop).map(BlockOutcome::from)
}

/// The same with several microbatches per interval.
#[cfg(feature = "milp")]
fn by_milp_periodic(
    model: &Model,
    period: u32,
    objective: BlockObjective,
    stop: &Stop,
) -> Result<BlockOutcome, EncodeError> {
    milp::solve_periodic(model, period, objective, stop).map(BlockOutcome::from)
}

/// What lazy clause generation makes of a model.
#[cfg(feature = "lcg")]
fn by_lcg(model: &Model, objective: BlockObjective, stop: &Stop) -> Result<BlockOutcome, EncodeError> {
    lcg::solve_periodic(model, 1, objective, stop)
}

/// The objective of the block that an engine says is optimal, proved or not; nothing where it says that there
/// is none.
#[cfg(feature = "milp")]
fn said(outcome: &BlockOutcome, objective: BlockObjective) -> Option<Ratio<i64>> {
    assert!(!matches!(outcome, BlockOutcome::Bounded { .. }), "there is time enough: {outcome:?}");
    outcome.best().map(|answer| match objective {
        BlockObjective::LeastInterval => answer.interval,
        BlockObjective::LeastMemory { .. } => Ratio::from_integer(answer.peak_max().0),
    })
}

/// A model with values of its own for every stage.
fn model(
    placement: Placement,
    times: [Vec<i64>; 4],
    held: [Vec<i64>; 2],
    capacities: Vec<Option<i64>>,
) -> Model {
    let [forward, backward_input, backward_weight, communication] =
        times.map(|list| list.into_iter().map(Ticks).collect());
    let [activation, retained_for_weight] = held.map(|list| list.into_iter().map(Units).collect());
    let costs = Costs { unit: "tick".to_owned(), forward, backward_input, backward_weight, communication };
    let memory = Memory {
        unit: "unit".to_owned(),
        weights: vec![Units(0); placement.stages() as usize],
        activation,
        retained_for_weight,
        checkpoint: None,
        capacity: capacities.into_iter().map(|capacity| capacity.map(Units)).collect(),
    };
    Model::new("test".to_owned(), None, placement, 1, costs, memory).expect("a model")
}

/// A model whose stages are alike, without capacities.
fn uniform(placement: &Placement, [forward, input, weight, latency]: [i64; 4]) -> Model {
    let (stages, devices) = (placement.stages() as usize, placement.devices() as usize);
    let times = [vec![forward; stages], vec![input; stages], vec![weight; stages], vec![latency; stages - 1]];
    model(placement.clone(), times, [vec![1; stages], vec![1; stages]], vec![None; devices])
}

/// The shifts of a block, straight from their definition.
fn shifts_of(problem: &BlockProblem, block: &Block) -> Vec<i64> {
    let offset = |pass: usize| block.offset(problem.passes()[pass]).expect("a pass of the block").0;
    let interval = block.interval_parts().0;
    problem.pairs().iter().map(|&(a, b)| -(offset(b) - offset(a)).div_euclid(interval)).collect()
}

/// 1F1B over two devices at unit times: F0 F1 I1 I0, each W right after its I.
fn one_f_one_b() -> (Model, Block) {
    let placement = Placement::linear(2).expect("a placement");
    let model = uniform(&placement, [1, 1, 1, 0]);
    let offsets = [
        (0, Kind::F, 0),
        (1, Kind::F, 1),
        (1, Kind::I, 2),
        (0, Kind::I, 4),
        (1, Kind::W, 3),
        (0, Kind::W, 5),
    ];
    let offsets = offsets.map(|(stage, kind, at)| (Stage(stage), kind, Ticks(at)));
    (model, Block::new(placement, Ticks(3), offsets).expect("a block"))
}

#[test]
fn shifts_alone_give_back_a_block_with_its_interval_and_peak() {
    let (model, block) = one_f_one_b();
    let problem = BlockProblem::new(&model).expect("a problem");
    let shifts = shifts_of(&problem, &block);
    let found = checked_block(&model, &problem, &shifts, Claim::default()).expect("an answer");
    assert_eq!(found.interval, Ratio::from_integer(3));
    assert_eq!(found.peak, block.steady_peak(&model));
    assert_eq!(found.block.offset(Pass::new(Stage(0), Kind::F, Microbatch(0))), Some(Ticks(0)));
}

#[test]
fn tampered_shifts_and_false_claims_are_rejected() {
    let (model, block) = one_f_one_b();
    let problem = BlockProblem::new(&model).expect("a problem");
    let right = shifts_of(&problem, &block);
    let at = |interval| Claim { interval: Some(Ratio::from_integer(interval)), peak: None };

    let mut rejected = 0;
    for pair in 0..right.len() {
        for change in [-1, 1] {
            let mut wrong = right.clone();
            wrong[pair] += change;
            match checked_block(&model, &problem, &wrong, at(3)) {
                // Such as a W one interval later: a different block, and just the one described.
                Ok(other) => assert_eq!(shifts_of(&problem, &other.block), wrong),
                Err(EncodeError::Rejected(Rejection::Interval { .. })) => rejected += 1,
                Err(error) => panic!("pair {pair}, {change:+}: {error}"),
            }
        }
    }
    assert_eq!(rejected, 10, "only the W of either stage may be elsewhere");
    let mut circular = right.clone();
    // A W that ends before its own I starts, whatever the interval.
    let (pair, forward) = problem.pair(1, 2);
    assert!(forward, "I comes before W");
    circular[pair] += 9;
    let (pair, _) = problem.pair(0, 2);
    circular[pair] -= 9;
    assert_eq!(
        checked_block(&model, &problem, &circular, Claim::default()),
        Err(Rejection::Contradiction.into())
    );
    assert_eq!(
        checked_block(&model, &problem, &right, at(2)),
        Err(Rejection::Interval { claimed: Ratio::from_integer(2) }.into())
    );
    let low = Claim { peak: Some(Units(1)), ..at(3) };
    let capacity = Rejection::Capacity { device: Device(0), peak: Units(2), capacity: Units(1) };
    assert_eq!(checked_block(&model, &problem, &right, low), Err(capacity.clone().into()));
    let limited = model.with_uniform_activation_capacity(Some(Units(1))).expect("a model");
    assert_eq!(checked_block(&limited, &problem, &right, at(3)), Err(capacity.into()));
}

#[test]
fn a_pass_without_duration_is_refused_but_a_weight_pass_is_fused() {
    let placement = Placement::linear(2).expect("a placement");
    let stage_without = |kind| Pass::new(Stage(0), kind, Microbatch(0));
    for (times, kind) in [([0, 1, 1, 0], Kind::F), ([1, 0, 1, 0], Kind::I)] {
        let refused = BlockProblem::new(&uniform(&placement, times));
        assert_eq!(refused, Err(EncodeError::NoDuration(stage_without(kind))));
    }
    let problem = BlockProblem::new(&uniform(&placement, [1, 2, 0, 0])).expect("a problem");
    let kinds: Vec<Kind> = problem.passes().iter().map(|pass| pass.kind).collect();
    assert_eq!(kinds, [Kind::F, Kind::B, Kind::F, Kind::B]);
}

#[test]
fn the_solver_is_one_of_those_that_the_project_is_tested_with() {
    let mut solver = crate::smt::Solver::find().unwrap_or_else(|error| panic!("{error}"));
    let version = solver.version().unwrap_or_else(|error| panic!("{error}"));
    assert!(["Z3 5.", "Z3 4.", "cvc5 1."].iter().any(|known| version.starts_with(known)), "{version}");
}
