//! Amounts and sizes that a job may state and that cannot be counted together.

use bubbleproof_core::job::{self, ChoiceError, Job};
use bubbleproof_core::model;
use num_rational::Ratio;

use super::{PLAIN, parsed};

type Field = fn(&mut job::LayerCost) -> &mut i64;

/// Amounts that a file may state one by one, and that are too much together.
#[test]
fn layers_that_cannot_be_counted_are_refused() {
    let first = |job: &Job| job.layers(&job.choices().expect("choices")[0]);
    let with = |change: &dyn Fn(&mut Job)| {
        let mut job = parsed(PLAIN);
        change(&mut job);
        first(&job).map(drop)
    };
    let block = |job: &mut Job, change: &dyn Fn(&mut job::LayerCost)| {
        for profile in job.profiles.values_mut() {
            profile.layers.values_mut().for_each(change);
        }
    };
    let (most, choice) = (model::Model::MAX_TOTAL, parsed(PLAIN).choices().expect("choices")[0]);
    let each = most / (4 * i64::from(choice.microbatches));
    let time = Err(ChoiceError::TooLarge("the time of all microbatches"));
    let memory = Err(ChoiceError::TooLarge("the memory of all microbatches"));
    assert_eq!(with(&|_| ()), Ok(()));
    // Four layers: what they may have together, and one more.
    let fields: [(Field, i64, &Result<(), ChoiceError>); 8] = [
        (|cost| &mut cost.forward, 1, &time),
        (|cost| &mut cost.backward_input, 1, &time),
        (|cost| &mut cost.backward_weight, 1, &time),
        (|cost| &mut cost.optimizer, 1, &time),
        (|cost| cost.recompute.get_or_insert(0), 1, &time),
        (|cost| &mut cost.activation, 1, &memory),
        (|cost| cost.retained_for_weight.get_or_insert(0), 1, &memory),
        (|cost| &mut cost.weights, 1, &memory),
    ];
    for (at, (field, least, expected)) in fields.into_iter().enumerate() {
        let of = |amount: i64| {
            with(&|job| {
                block(job, &|cost| {
                    (cost.forward, cost.backward_input, cost.backward_weight) = (least, 0, 0);
                    (cost.activation, cost.weights, cost.optimizer) = (0, 0, 0);
                    (cost.retained_for_weight, cost.recompute) = (None, Some(0));
                    cost.checkpoint = Some(0);
                    *field(cost) = amount;
                });
            })
        };
        // F takes a tick where it is not what is tried.
        assert_eq!(of(each - 1), Ok(()), "{at}");
        assert_eq!(&of(each + 1), expected, "{at}");
    }
    assert_eq!(with(&|job| job.machine.memory = Some(most)), Ok(()));
    assert_eq!(
        with(&|job| job.machine.memory = Some(most + 1)),
        Err(ChoiceError::TooLarge("the memory of a device"))
    );
    let silent = |cost: &mut job::LayerCost| {
        (cost.forward, cost.backward_input, cost.backward_weight) = (0, 0, 0);
    };
    assert_eq!(with(&|job| block(job, &silent)), Err(ChoiceError::NoWork));
    let offloading = |bandwidth: Option<i128>| {
        with(&|job| {
            job.choices.offload = vec![true];
            job.machine.host_bandwidth = bandwidth.map(Ratio::from_integer);
            block(job, &|cost| cost.offload = cost.activation);
        })
    };
    assert_eq!((offloading(Some(1)), offloading(None)), (Ok(()), Err(ChoiceError::NoHostBandwidth)));
    let nothing = with(&|job| job.choices.offload = vec![true]);
    assert_eq!(nothing, Ok(()), "what does not go needs no bandwidth");
}

/// Messages go down and up the pipeline, once each for every microbatch; and stages times microbatches are limited.
#[test]
fn pipelines_that_cannot_be_counted_are_refused() {
    let pipeline = PLAIN.replace("global_batch = 8", "global_batch = 8\npipeline = 4");
    let with = |change: &dyn Fn(&mut Job)| {
        let mut job = parsed(&pipeline);
        change(&mut job);
        let choices = job.choices().expect("choices");
        job.layers(&choices[0]).map(drop)
    };
    let latency = |latency| with(&|job: &mut Job| job.machine.near.latency = latency);
    let each = model::Model::MAX_TOTAL / (8 * 2 * 3);
    assert_eq!(latency(each - 100), Ok(()));
    assert_eq!(latency(each + 100), Err(ChoiceError::TooLarge("the time of all microbatches")));
    let microbatches = u32::try_from(model::Model::MAX_CELLS / 4).expect("it fits");
    assert_eq!(with(&|job| job.choices.global_batch = microbatches), Ok(()));
    assert_eq!(
        with(&|job| job.choices.global_batch = microbatches + 1),
        Err(ChoiceError::TooManyPasses { stages: 4, microbatches: microbatches + 1 })
    );
}
