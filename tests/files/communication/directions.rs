//! Schedules of two directions: each pipeline communicates by itself.

use bubbleproof::comm::{Action, CommunicationPlan, PlanViolation, Semantics, deadlock, verify};
use bubbleproof::lowering::lower;
use bubbleproof::model::{Placement, Stage};

#[test]
fn schedules_of_two_directions_are_lowered_and_each_pipeline_keeps_to_itself() {
    let placement = Placement::bidirectional(4).expect("a placement");
    let model = bubbleproof::model::Model::unit(placement, 8).expect("a model");
    for name in ["chimera", "gems", "dualpipe"] {
        let entry = bubbleproof::catalog::find(name).expect(name);
        let schedule = entry.generate(&model).expect(name);
        let plan = lower(&schedule).expect(name);
        assert_eq!(verify(&plan), [], "{name}");
        for semantics in Semantics::ALL {
            assert_eq!(deadlock(&plan, semantics), None, "{name}, {semantics}");
        }
        // Stages 3 and 4 are the ends of two pipelines.
        let between = plan.actions().any(|(_, action)| match action {
            Action::Send(message) => message.boundary == Stage(3),
            _ => false,
        });
        assert!(!between, "{name}");
        let error = bubbleproof::interchange::pytorch::print(&schedule).expect_err(name).to_string();
        assert!(error.contains("two directions"), "{error}");
    }
}

#[test]
fn a_pipeline_without_microbatches_has_nothing_to_reduce() {
    let placement = Placement::bidirectional(3).expect("a placement");
    let model = bubbleproof::model::Model::unit(placement, 1).expect("a model");
    let schedule =
        bubbleproof::catalog::find("gems").expect("a name").generate(&model).expect("it has the placement");
    let plan = lower(&schedule).expect("it can run");
    assert_eq!(verify(&plan), []);
    let without_reductions = |row: &Vec<Action>| {
        let kept =
            row.iter().filter(|action| !matches!(action, Action::ReduceGradients(_) | Action::WaitReduce(_)));
        kept.copied().collect()
    };
    let rows = plan.rows().iter().map(without_reductions).collect();
    let bare = CommunicationPlan::new(schedule.placement().clone(), 1, rows).expect("a plan");
    let stages: Vec<u32> = verify(&bare)
        .iter()
        .map(|fault| match fault {
            PlanViolation::NeverReduced { stage, .. } => stage.0,
            other => panic!("{other}"),
        })
        .collect();
    assert_eq!(stages, [0, 1, 2], "those of the pipeline that is used");
}
