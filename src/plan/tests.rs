use super::*;
use crate::certificate;
use crate::job;
use crate::model::{Device, Units};
use crate::optimize::Options;
use crate::stop::{Interrupt, Stop};

const LLAMA: &str = include_str!("../../models/jobs/llama-32.toml");
const JOB: &str = include_str!("../../tests/data/cli/job.toml");

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
    let job = job::parse(JOB).expect("a job");
    let options = Options { effort: 1_000_000, exact_effort: 0, ..Options::default() };
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
            Outcome::Dropped => assert!(one.none_below >= plan.alternatives[0].value(), "{}", one.choice),
            other => panic!("{}: {other:?}", one.choice),
        }
    }
    let (_, best) = plan.best().expect("a plan");
    assert!(plan.none_below <= best.solution.value());
    let schedule = plan.certified(JOB).expect("a schedule");
    certificate::check_plan(&schedule, &job).expect("it holds");
}

/// With linear placement on two devices, one has three of five blocks, which are too large, though its share of them all is not.
/// The last search may take all the time that there is: what is proved of other choices does not wait for it.
#[test]
fn what_fits_no_cut_says_so_before_the_last_search() {
    let text = JOB.replace("6 block", "5 block").replace("memory = 24", "memory = 26");
    let text = text.replace("retained_for_weight = 1\nweights = 2", "retained_for_weight = 1\nweights = 6");
    let job = job::parse(&text).expect("a job");
    let interrupt = Interrupt::default();
    let stop = Stop::on(interrupt.clone());
    let options = Options { effort: 1_000_000, exact_effort: 0, stop, ..Options::default() };
    let mut searched = false;
    let plan = plan(&job, &options, &mut |state| {
        if state.step.starts_with("searching") {
            searched = true;
            interrupt.raise();
        }
    });
    let plan = plan.expect("a plan");
    assert!(searched && plan.best().is_some());
    let mut found = 0;
    for one in plan.alternatives.iter().filter(|one| one.choice.to_string() == "p2 t1 d2 b1 linear") {
        found += 1;
        assert!(matches!(one.outcome, Outcome::DoesNotFit(_)), "{:?}", one.outcome);
    }
    assert_eq!(found, 1);
}

#[test]
fn of_plans_that_take_equally_long_those_that_recompute_nothing_come_first() {
    let text = JOB
        .replace("activation = 2", "activation = 2\ncheckpoint = 1")
        .replace("activation = 1\nweights", "activation = 1\ncheckpoint = 1\nweights");
    let job = job::parse(&format!("{text}\nrecompute = [\"none\", \"auto\"]\n")).expect("a job");
    let options = Options { effort: 40_000_000, ..Options::default() };
    let plan = plan(&job, &options, &mut |_| ()).expect("a plan");
    let [best, other, ..] = plan.alternatives.as_slice() else {
        panic!("{} choices", plan.alternatives.len())
    };
    assert_eq!(best.value(), other.value());
    // With recomputation, less is proved.
    assert!(best.none_below > other.none_below);
    let names = [best, other].map(|one| one.choice.to_string());
    assert_eq!(names, ["p2 t1 d2 b1 v", "p2 t1 d2 b1 v recompute"]);
}

#[test]
fn choices_that_do_not_divide_the_batch_evenly_are_counted() {
    let job = job::parse(&JOB.replace("global_batch = 8", "global_batch = 9")).expect("a job");
    let undivided = job.undivided();
    // Two replicas with two placements are left out; one replica is not.
    assert_eq!((undivided.choices, job.choices().expect("choices").len()), (2, 2));
    assert_eq!(undivided.degrees.into_iter().collect::<Vec<_>>(), [(2, 1)]);
    assert_eq!(job::parse(JOB).expect("a job").undivided().choices, 0);
}

#[test]
fn the_naive_plan_is_1f1b_of_the_even_cut_and_says_whether_it_fits() {
    let job = job::parse(LLAMA).expect("a job");
    let choices = job.choices().expect("choices");
    let choice = choices.iter().find(|choice| choice.to_string() == "p8 t1 d1 b1 v").expect("it is open");
    let naive = NaivePlan::of(&job, choice).expect("a plan");
    assert_eq!(
        (naive.choice.to_string().as_str(), naive.cut.to_string().as_str()),
        ("p8 t1 d1 b1 linear", "5,5,4,4,4,4,4,4")
    );
    // As docs/jobs.md has it.
    assert_eq!(naive.value().0 / 1_000_000, 4079);
    let holds = naive.verdict.peak_memory.iter().max().copied();
    let capacity = job.machine.memory.map(Units);
    assert_eq!(naive.fits, holds <= capacity, "{holds:?}");
    assert_eq!(naive.model.capacity(Device(0)).is_some(), naive.fits);
    for (memory, fits) in [("200 GiB", true), ("20 GiB", false), ("2 GiB", false)] {
        let job = job::parse(&LLAMA.replace("80 GiB", memory)).expect("a job");
        let other = NaivePlan::of(&job, choice).expect("a plan");
        assert_eq!((other.fits, other.value()), (fits, naive.value()), "{memory}");
        assert_eq!(other.verdict.peak_memory, naive.verdict.peak_memory);
    }
}
