use super::*;
use crate::certificate;
use crate::job;
use crate::optimize::Options;

const LLAMA: &str = include_str!("../../models/jobs/llama-32.toml");

#[test]
fn the_best_cut_of_a_heavy_head_is_within_a_part_of_a_hundredth_of_the_bound() {
    let job = job::parse(LLAMA).expect("a job");
    let choice = &job.choices().expect("choices")[0];
    let layers = job.layers(choice).expect("layers");
    let options = Options { effort: 4_000_000, exact_effort: 0, ..Options::default() };
    let even = optimize_cut(&layers, &Partition::Even, &options, &mut |_| ()).expect("a plan");
    let best = optimize_cut(&layers, &Partition::Auto, &options, &mut |_| ()).expect("a plan");
    let (value, bound) = (best.solution.value().0, best.no_cut_below.0);
    assert!(value <= even.solution.value().0 * 82 / 100, "{value}");
    assert!((value - bound) * 200 <= bound, "{value} {bound}");
    let schedule = best.certified(LLAMA, choice, None);
    let checked = certificate::check_plan(&schedule, &job).expect("it holds");
    assert!(checked.claims.contains(&certificate::Claim::OverCuts { value: best.no_cut_below }));
    assert_eq!(checked.plan.expect("a plan").2, best.cut);
}

#[test]
fn a_plan_says_of_every_choice_what_became_of_it() {
    let job = job::parse(LLAMA).expect("a job");
    let options = Options { effort: 4_000_000, exact_effort: 0, ..Options::default() };
    let plan = plan(&job, &options, &mut |_| ()).expect("a plan");
    let choices = job.choices().expect("choices");
    assert_eq!(plan.alternatives.len(), choices.len());
    for one in &plan.alternatives {
        assert!(choices.contains(&one.choice));
        match &one.outcome {
            Outcome::Planned { plan: found, .. } => {
                assert!(one.none_below.expect("it fits") <= found.solution.value(), "{}", one.choice);
                assert!(plan.none_below <= one.none_below.expect("it fits"), "{}", one.choice);
            }
            Outcome::Dropped => assert_eq!(one.none_below, plan.alternatives[0].value(), "{}", one.choice),
            other => panic!("{}: {other:?}", one.choice),
        }
    }
    let (_, best) = plan.best().expect("a plan");
    assert!(plan.none_below <= best.solution.value());
    let schedule = plan.certified(LLAMA).expect("a schedule");
    certificate::check_plan(&schedule, &job).expect("it holds");
}
