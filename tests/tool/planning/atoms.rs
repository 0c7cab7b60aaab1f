//! What the parts of a network take, as a pipeline of them: the model that replay times.

use bubbleproof::analysis::critical_path;
use bubbleproof::catalog;
use bubbleproof::model::{Costs, Kind, Memory, Model, Placement, StepEnd, Ticks, Units};
use bubbleproof::replay::replay;

use super::plans::Plan;

/// Places in [`Atoms`].
pub const LAYER_F: usize = 0;
pub const LAYER_B: usize = 1;
/// The head runs on the last stage, behind its layers.
pub const HEAD_F: usize = 2;
pub const HEAD_B: usize = 3;
/// From a stage to the next one, or back.
pub const MESSAGE: usize = 4;
pub const REDUCE_LAYER: usize = 5;
/// Of a matrix as large as the vocabulary: the first and the last stage have one each, a single stage has one in all.
pub const REDUCE_VOCABULARY: usize = 6;
pub const STEP_LAYER: usize = 7;
pub const STEP_VOCABULARY: usize = 8;

/// A value for each part of the network that takes time, such as ns. A value of a pass is for a microbatch.
pub type Atoms<T> = [T; 9];

/// The model of a plan whose parts take so many ns: the only place where layers become stages.
pub fn model(plan: &Plan, atoms: &Atoms<i64>) -> Model {
    let stages = usize::try_from(plan.pipeline).expect("a degree");
    let layers = plan.layers / plan.pipeline;
    let of_each = |of: &dyn Fn(usize) -> i64| (0..stages).map(|stage| Ticks(of(stage))).collect::<Vec<_>>();
    let is_last = |stage: usize| i64::from(stage + 1 == stages);
    let has_matrix = |stage: usize| i64::from(stage == 0 || stage + 1 == stages);
    let costs = Costs {
        unit: "ns".to_owned(),
        forward: of_each(&|stage| layers * atoms[LAYER_F] + is_last(stage) * atoms[HEAD_F]),
        backward_input: of_each(&|stage| layers * atoms[LAYER_B] + is_last(stage) * atoms[HEAD_B]),
        backward_weight: vec![Ticks::ZERO; stages],
        communication: vec![Ticks(atoms[MESSAGE]); stages - 1],
    };
    let memory = Memory {
        unit: "microbatch".to_owned(),
        activation: vec![Units(1); stages],
        retained_for_weight: vec![Units::ZERO; stages],
        checkpoint: None,
        weights: vec![Units::ZERO; stages],
        capacity: vec![None; stages],
    };
    let end = |layer: usize, matrix: usize| {
        of_each(&|stage| layers * atoms[layer] + has_matrix(stage) * atoms[matrix])
    };
    let step =
        StepEnd { reduce: end(REDUCE_LAYER, REDUCE_VOCABULARY), optimizer: end(STEP_LAYER, STEP_VOCABULARY) };
    let placement = Placement::linear(u32::try_from(stages).expect("a degree")).expect("a placement");
    let microbatches = u32::try_from(plan.microbatches()).expect("a number of microbatches");
    Model::new("plan".to_owned(), None, placement, microbatches, costs, memory)
        .and_then(|model| model.with_step(Some(step)))
        .expect("a model")
}

/// How long 1F1B takes by replay, and how often each part is on its critical path.
pub struct Replayed {
    pub makespan: i64,
    pub counts: Atoms<i64>,
}

pub fn replayed(plan: &Plan, atoms: &Atoms<i64>) -> Replayed {
    let model = model(plan, atoms);
    let schedule = catalog::find("1f1b").expect("a known name").generate(&model).expect("no capacity");
    let verdict = replay(&model, &schedule);
    assert!(verdict.is_valid(), "{:?}", verdict.violations);
    let timing = verdict.timing.expect("it runs");
    let path = critical_path(&model, &schedule, &timing);
    let layers = plan.layers / plan.pipeline;
    let mut counts = [0; 9];
    for step in &path {
        let (layer, head) = match step.pass.kind {
            Kind::F => (LAYER_F, HEAD_F),
            _ => (LAYER_B, HEAD_B),
        };
        counts[layer] += layers;
        counts[head] += i64::from(i64::from(step.pass.stage.0) + 1 == plan.pipeline);
    }
    for pair in path.windows(2) {
        counts[MESSAGE] += i64::from(pair[0].device != pair[1].device);
    }
    let device = i64::from(path.last().expect("a pass").device.0);
    let has_matrix = i64::from(device == 0 || device + 1 == plan.pipeline);
    for (layer, matrix) in [(REDUCE_LAYER, REDUCE_VOCABULARY), (STEP_LAYER, STEP_VOCABULARY)] {
        (counts[layer], counts[matrix]) = (layers, has_matrix);
    }
    let makespan = timing.metrics.makespan.0;
    let along: i64 = counts.iter().zip(atoms).map(|(count, ns)| count * ns).sum();
    assert_eq!(along, makespan, "the critical path is as long as the makespan");
    Replayed { makespan, counts }
}

/// The formula of planners without a replay: every stage once, and the slowest for all other microbatches; messages there and
/// back; then the slowest end of a stage.
pub fn coarse(plan: &Plan, atoms: &Atoms<i64>) -> i64 {
    let model = model(plan, atoms);
    let costs = model.costs();
    let passes = costs.forward.iter().zip(&costs.backward_input).map(|(f, b)| f.0 + b.0);
    let (sum, slowest) = passes.fold((0, 0), |(sum, slowest), stage| (sum + stage, stage.max(slowest)));
    let messages: i64 = costs.communication.iter().map(|message| 2 * message.0).sum();
    let step = model.step().expect("it has one");
    let end = step.reduce.iter().zip(&step.optimizer).map(|(reduce, step)| reduce.0 + step.0).max();
    (plan.microbatches() - 1) * slowest + sum + messages + end.expect("a stage")
}
