//! The proofs themselves are for the outside checkers (`make certify`); here is what can be told without.

use super::*;
use crate::certificate::Objective;
use crate::model::{Placement, Units};
use crate::optimize::exact::{Engine, Limits, solve_with};
use crate::optimize::feasible::serial;
use crate::stop::Interrupt;

fn limited(placement: Placement, microbatches: u32, times: [i64; 4], capacity: i64) -> Model {
    let model = Model::equal_stages(placement, microbatches, times).expect("a model");
    model.with_uniform_activation_capacity(Some(Units(capacity))).expect("a capacity")
}

fn v(devices: u32) -> Placement {
    Placement::v(devices).expect("a placement")
}

fn linear(devices: u32) -> Placement {
    Placement::linear(devices).expect("a placement")
}

/// From one microbatch after the other the loop lowers the makespan until it has a proof; branch and bound
/// knows nothing of the inequalities.
#[test]
fn what_is_proved_is_the_optimum_of_branch_and_bound() {
    for model in [
        limited(v(2), 3, [1, 1, 1, 0], 3),
        limited(v(2), 3, [3, 4, 2, 1], 4),
        limited(linear(3), 3, [1, 1, 1, 0], 2),
        limited(linear(2), 4, [2, 3, 0, 1], 2),
        limited(Placement::looped(2, 2).expect("a placement"), 2, [1, 2, 1, 0], 3),
        limited(linear(1), 1, [1, 1, 1, 0], 1),
    ] {
        let start = serial(&model, false);
        let limits = Limits { stop: Stop::default(), effort: u64::MAX };
        let other = solve_with(&[Engine::Branch], &model, Objective::Makespan, &start, &limits);
        let found = certify(&model, &start, &Stop::default()).expect("a search").expect("nothing stops it");
        assert_eq!(found.makespan, other.expect("an exact search").value);
        assert_eq!(replay(&model, &found.schedule).violations, []);
        assert!(found.pbp.ends_with(";\nend pseudo-Boolean proof;\n"), "{}", found.pbp);
    }
}

#[test]
fn the_same_problem_gives_the_same_files() {
    let model = limited(v(2), 3, [3, 4, 2, 0], 3);
    let start = serial(&model, false);
    let certify = || certify(&model, &start, &Stop::default()).expect("a search");
    assert_eq!(certify(), certify());
}

#[test]
fn whoever_is_told_to_stop_proves_nothing() {
    let model = limited(v(3), 6, [1, 1, 1, 0], 4);
    let interrupt = Interrupt::default();
    interrupt.raise();
    let found = certify(&model, &serial(&model, false), &Stop::on(interrupt)).expect("a search");
    assert_eq!(found, None);
}

#[test]
fn a_log_that_proves_nothing_is_not_translated() {
    let model = limited(linear(1), 1, [1, 1, 1, 0], 1);
    let program = LinearProgram::new(&model, Ticks(2)).expect("inequalities");
    let binary = Binary::new(&program);
    for (log, reason) in [
        ("", "it does not conclude"),
        ("c UNSAT\n", "it derives no contradiction"),
        ("a 1 [t_9F9 >= 1]\ni 9 1 0 c:1 l:linear_bounds\n", "there is no variable t_9F9"),
        ("a 1 [t_0F0 >= 1]\ni 9 1 0 c:99 l:linear_bounds\n", "step 9 is from no inequality"),
        ("a 1 [t_0F0 >= 1]\ni 9 1 0 c:1 l:nogood\n", "step 9 is from no deduction"),
        ("a 1 [t_0F0 >= 1]\ni 9 1 0 c:1 l:magic\n", "of an unknown kind"),
    ] {
        let error = veripb::translate(&binary, log.as_bytes()).expect_err(log).to_string();
        assert!(error.contains(reason), "{log}: {error}");
    }
}

#[test]
fn a_schedule_that_does_not_fit_the_model_is_no_start() {
    let model = limited(linear(2), 2, [1, 1, 1, 0], 1);
    let loose = limited(linear(2), 2, [1, 1, 1, 0], 2);
    let found =
        certify(&loose, &serial(&loose, false), &Stop::default()).expect("a search").expect("a proof");
    let error = certify(&model, &found.schedule, &Stop::default()).expect_err("over the capacity");
    assert!(matches!(error, ProofError::Schedule(_)), "{error}");
}
