use super::*;
use crate::model::Placement;

const EFFORT: usize = 40_000_000;

/// Runs in which every pass of a model takes up to half as long again.
fn runs(model: &Model, count: usize, seed: u64) -> Vec<PassDurations> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut run = || {
        PassDurations::new(model.stages(), model.microbatches(), |stage, _| {
            [Kind::F, Kind::I, Kind::W].map(|kind| {
                let ticks = model.duration(stage, kind).0;
                Ticks(ticks + random.i64(0..=ticks / 2))
            })
        })
    };
    (0..count).map(|_| run()).collect()
}

fn model() -> Model {
    Model::equal_stages(Placement::linear(3).expect("a placement"), 5, [100, 120, 80, 10]).expect("a model")
}

#[test]
fn no_candidate_has_a_shorter_mean_and_the_result_is_the_same_every_time() {
    let model = model().with_uniform_activation_capacity(Some(crate::model::Units(3))).expect("a model");
    let options = Options { effort: EFFORT, exact_effort: 1000, seed: 7, ..Options::default() };
    let runs = runs(&model, 6, 1);
    let find = || shortest_mean(&model, &runs, &options, &mut |_| ()).expect("a schedule");
    let found = find();
    assert_eq!(found, find());
    assert!(found.named.iter().any(|named| named.engine == "1f1b"));
    // GPipe holds five.
    assert!(found.named.iter().all(|named| named.engine != "gpipe"));
    for other in found.named.iter().chain([&found.of_medians]) {
        assert!(found.best.mean() <= other.mean(), "{}", other.engine);
    }
    assert!(found.best.total() < found.of_medians.total(), "this jitter leaves something to gain");
    assert!(found.best.verdict.is_valid());
    assert_eq!(found.best.engine, found.best.schedule.provenance.expect("an engine").engine);
}

#[test]
fn runs_that_are_all_alike_have_the_optimum_of_their_durations() {
    let model = model();
    let options = Options { effort: EFFORT, ..Options::default() };
    let runs = vec![PassDurations::of_model(&model); 3];
    let found = shortest_mean(&model, &runs, &options, &mut |_| ()).expect("a schedule");
    let solution = optimize(&model, &options, &mut |_| ()).expect("a schedule");
    assert!(solution.is_optimal());
    assert_eq!(found.best.mean(), Ratio::from_integer(i128::from(solution.value().0)));
}

#[test]
fn medians_are_values_that_occur() {
    let model = model();
    let runs = runs(&model, 4, 3);
    let medians = of_medians(&model, &runs).expect("a model");
    for stage in Stage::all(3) {
        let at = |run: &PassDurations, microbatch| run.of(Pass::new(stage, Kind::I, Microbatch(microbatch)));
        let all = runs.iter().flat_map(|run| (0..5).map(move |microbatch| at(run, microbatch)));
        let median = medians.duration(stage, Kind::I);
        assert!(2 * all.clone().filter(|&ticks| ticks <= median).count() >= 20);
        assert!(2 * all.clone().filter(|&ticks| ticks >= median).count() >= 20);
        assert!(all.clone().any(|ticks| ticks == median));
    }
    assert_eq!(medians.costs().communication, model.costs().communication);
}

#[test]
fn what_has_no_mean_says_why() {
    let model = model();
    let find = |runs: &[PassDurations]| shortest_mean(&model, runs, &Options::default(), &mut |_| ());
    assert_eq!(find(&[]).expect_err("no run").to_string(), "there is no measured run to take a mean over");
    let other = model.with_microbatches(4).expect("a model");
    assert_eq!(
        find(&[PassDurations::of_model(&other)]).expect_err("four microbatches").to_string(),
        "run 0 has durations for 3 stages and 4 microbatches, and the schedule has 3 and 5"
    );
}
