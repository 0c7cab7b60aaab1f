use std::time::Duration;

use super::*;
use crate::certificate;
use crate::job::{self, Cut};
use crate::optimize::Options;
use crate::stop::Stop;

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
    println!("{} {} {} {}", best.cut, value, bound, even.solution.value());
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
    let stop = Stop::after(Duration::from_secs(20));
    let options = Options { effort: 4_000_000, exact_effort: 0, stop, ..Options::default() };
    let plan = plan(&job, &options, &mut |_| ()).expect("a plan");
    for one in &plan.alternatives {
        println!("{} {:?} {:?}", one.choice, one.none_below, one.value());
    }
    let (_, best) = plan.best().expect("a plan");
    assert!(plan.none_below <= best.solution.value());
    let schedule = plan.certified(LLAMA).expect("a schedule");
    certificate::check_plan(&schedule, &job).expect("it holds");
    let _ = Cut::new(vec![]);
}
