//! Plans: what `check_plan` accepts, and what it refuses of forged ones.

use std::fmt::Write as _;

use bubbleproof_core::certificate::{self, Certificate, Claim, JobStatement, Objective, check_plan};
use bubbleproof_core::job::{Cut, Job};
use bubbleproof_core::model::{Device, Kind, Microbatch, Pass, Stage, Ticks};
use bubbleproof_core::replay::replay;
use bubbleproof_core::schedule::Schedule;

use super::{PLAIN, parsed};

/// A schedule of F, I and W of every microbatch in turn, with a certificate of what is claimed over cuts and plans.
fn certified(job: &Job, text: &str, change: impl Fn(&mut JobStatement)) -> Schedule {
    let choices = job.choices().expect("choices");
    let choice = *choices.get(1).unwrap_or(&choices[0]);
    let layers = job.layers(&choice).expect("layers");
    let cut = layers.even();
    let model = layers.model(&cut).expect("a model");
    let orders = Device::all(model.devices()).map(|device| {
        (0..model.microbatches())
            .flat_map(|microbatch| [Kind::F, Kind::I, Kind::W].map(|kind| (kind, Microbatch(microbatch))))
            .map(|(kind, microbatch)| Pass::new(Stage(device.0), kind, microbatch))
            .collect()
    });
    let mut schedule =
        Schedule::new(model.placement().clone(), model.microbatches(), orders.collect()).expect("whole");
    let verdict = replay(&model, &schedule);
    let bound = certificate::lower_bound(&model, Objective::Makespan);
    let all = certificate::lower_bound_over_cuts(&layers, Ticks(i64::MAX)).expect("a bound");
    let mut statement = JobStatement {
        job: text.to_owned(),
        choice,
        cut,
        no_cut_below: all,
        searched: None,
        no_plan_below: Some(Ticks(1)),
    };
    change(&mut statement);
    let certificate = Certificate::of(
        &model,
        &schedule,
        &verdict,
        Objective::Makespan,
        &bound,
        certificate::Optimality::Open,
    );
    schedule.certificate = certificate.map(|certificate| certificate.with_job(statement).to_json());
    schedule
}

#[test]
fn a_plan_is_believed_as_far_as_it_follows_from_its_job() {
    let job = parsed(PLAIN);
    let checked = check_plan(&certified(&job, PLAIN, |_| ()), &job).expect("it holds");
    assert!(checked.claims.contains(&Claim::OverPlans { value: Ticks(1), choices: 3 }));
    let (_, choice, cut) = checked.plan.expect("a plan");
    assert_eq!((choice.pipeline, cut.to_string().as_str()), (2, "2,2"));
    // One device that never idles: no plan is shorter.
    let text = PLAIN.replace("global_batch = 8", "global_batch = 8\npipeline = 1");
    let alone = parsed(&text);
    let best = certified(&alone, &text, |it| it.no_plan_below = Some(it.no_cut_below));
    let checked = check_plan(&best, &alone).expect("it holds");
    let work = Ticks(2 * (3 * 9 + 19));
    assert!(checked.claims.contains(&Claim::OverCuts { value: work }), "{:?}", checked.claims);
    assert!(checked.claims.contains(&Claim::OverPlans { value: work, choices: 1 }));
    // It is a plan of no other job.
    let other = parsed(&PLAIN.replace("\"plain\"", "\"other\""));
    assert!(check_plan(&certified(&job, PLAIN, |_| ()), &other).is_err());
    let rejected = |change: &dyn Fn(&mut JobStatement)| -> String {
        let error = check_plan(&certified(&job, PLAIN, change), &job).expect_err("it is forged");
        error.to_string()
    };
    let mut report = String::new();
    for (what, change) in [
        ("another cut", (|it| it.cut = Cut::new(vec![1, 3])) as fn(&mut JobStatement)),
        ("a cut that does not suit", |it| it.cut = Cut::new(vec![4])),
        ("another choice", |it| it.choice.pipeline = 4),
        ("a choice that is not open", |it| it.choice.tensor = 2),
        ("no job", |it| it.job = "name = 3".to_owned()),
        ("a bound over cuts that is too high", |it| it.no_cut_below += Ticks(1)),
        ("a bound over cuts above the schedule", |it| it.no_cut_below = Ticks(i64::MAX)),
        ("a search that found more than the schedule takes", |it| it.searched = Some(Ticks(i64::MAX))),
        ("a bound over plans that is too high", |it| it.no_plan_below = Some(it.no_cut_below)),
        ("a bound over plans above the schedule", |it| it.no_plan_below = Some(Ticks(i64::MAX))),
    ] {
        writeln!(report, "{what}:\n  {}", rejected(&change)).expect("a string takes everything");
    }
    insta::assert_snapshot!(report);
}
