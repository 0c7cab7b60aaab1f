//! Jobs from measured runs: the costs of layers, taken from traces of stages.

use bubbleproof::catalog;
use bubbleproof::job::{self, Cut, Job};
use bubbleproof::model::{Stage, Ticks};
use bubbleproof::trace::fit::{LayerFitError, profile};
use bubbleproof::trace::synthetic::of_replay;
use proptest::prelude::*;

fn job_of(costs: [[i64; 3]; 3], blocks: u32, devices: u32) -> Job {
    let [embedding, block, head] = costs.map(|[forward, input, weight]| {
        format!(
            "forward = \"{forward} ns\"\nbackward_input = \"{input} ns\"\nbackward_weight = \"{weight} ns\"\n\
             activation = \"{} B\"\nretained_for_weight = \"{} B\"\n",
            8 * forward,
            3 * forward
        )
    });
    job::parse(&format!(
        "name = \"known\"\nlayers = [\"embedding\", \"{blocks} block\", \"head\"]\n\
         [layer.embedding]\n{embedding}[layer.block]\n{block}[layer.head]\n{head}\
         [machine]\ndevices = {devices}\nlatency = \"7 ns\"\n[choices]\nglobal_batch = 8\npipeline = {devices}\n"
    ))
    .expect("a job")
}

proptest! {
    /// A run of layers whose costs are known gives these costs back.
    #[test]
    fn layers_cost_what_they_cost_in_the_job_that_ran(
        embedding in [1_i64..40, 0..40, 0..40], block in [1_i64..40, 1..40, 1..40], head in [1_i64..90, 1..90, 1..90],
        counts in proptest::collection::vec(1_u32..5, 3..6),
    ) {
        let devices = u32::try_from(counts.len()).expect("few");
        let job = job_of([embedding, block, head], counts.iter().sum(), devices);
        // The first stage has the embedding too, and the last one the head.
        let mut cut = counts.clone();
        cut[0] += 1;
        cut[counts.len() - 1] += 1;
        let cut = Cut::new(cut);
        let layers = job.layers(&job.choices().expect("one")[0]).expect("layers");
        let model = layers.model(&cut).expect("a model");
        let schedule = catalog::find("zb-h1").expect("its name").generate(&model).expect("a schedule");
        let trace = of_replay(&model, &schedule).expect("it is valid");
        let profile = profile("known", &[trace]).expect("a profile");
        let fit = profile.layers(&job.layers, &cut).expect("the run tells");
        for (found, costs) in fit.layers.iter().zip([embedding, block, head]) {
            prop_assert_eq!([found.forward, found.backward_input, found.backward_weight], costs.map(Ticks));
            prop_assert_eq!(found.activation.map(|units| units.0), Some(8 * costs[0]));
        }
        prop_assert!(fit.stages.iter().all(|stage| stage.fitted == stage.measured));
        // The job that is written has these layers, and the delay of one of the boundaries.
        let again = job::parse(&fit.job).expect("a job");
        prop_assert_eq!(&again.layers, &job.layers);
        prop_assert_eq!(&again.profiles, &job.profiles);
        prop_assert!(profile.latencies.iter().any(|between| between.latency.0 == again.machine.near.latency));
        let choice = again.choices().expect("choices")[0];
        let again = again.layers(&choice).expect("layers").model(&cut).expect("a model");
        prop_assert_eq!(&again.costs().forward, &model.costs().forward);
    }
}

#[test]
fn kinds_that_always_share_a_stage_are_not_told_apart() {
    let job = job_of([[1, 2, 3], [4, 5, 6], [7, 8, 9]], 2, 2);
    let layers = job.layers(&job.choices().expect("one")[0]).expect("layers");
    let cut = Cut::new(vec![2, 2]);
    let model = layers.model(&cut).expect("a model");
    let schedule = catalog::find("1f1b").expect("its name").generate(&model).expect("a schedule");
    let trace = of_replay(&model, &schedule).expect("it is valid");
    let profile = profile("known", &[trace]).expect("a profile");
    let kinds = ["block", "embedding", "head"].map(str::to_owned).to_vec();
    assert_eq!(profile.layers(&job.layers, &cut), Err(LayerFitError::Together(kinds)));
    // With one name for what always lies together, it does.
    let named = ["first", "first", "last", "last"].map(str::to_owned);
    let fit = profile.layers(&named, &cut).expect("the run tells");
    assert_eq!(fit.layers[0].told_by, [Stage(0)]);
    assert_eq!(fit.layers[1].forward, Ticks(5));
    assert!(profile.layers(&named, &Cut::new(vec![2, 1])).is_err());
    assert!(profile.layers(&named, &Cut::new(vec![4])).is_err());
}
