//! A lower bound for every way to divide the same work among the stages.

use crate::model::{Device, Kind, Model, Stage, Ticks};

/// A lower bound on the makespan of all models that differ from this one only in how the work of a microbatch is divided: the durations
/// of F add up to the same over all stages, those of I as well, and those of W, in whole ticks. Memory plays no part.
///
/// Nothing where pairs save time, since what they save belongs to stages as they are, and nothing for two directions.
///
/// **Theorem.** Let p be the number of devices, m that of microbatches, and T the work of one microbatch, the sum of all durations. Let
/// M be the makespan of a schedule, after dividing the work anew.
///
/// - M is at least what one microbatch takes: all Fs, all Is, and the latency of every message twice.
/// - Device i runs no pass before the Fs of all stages before its first one, and their messages; let that be `h_i`. So it works at
///   most `M - h_i`. The devices work `m T` in all, so `p M >= m T + sum of h_i`.
///
/// A device runs m times its Fs within M, so these take `M / m` at most. The sum of all `h_i` counts the F of stage s once for each
/// device whose first stage comes behind s. It is least where as much F as possible lies on the devices with the stage that is counted
/// least; that is what `heads` computes. It only falls as M grows. So each M for which the inequality is false is too short, and
/// all M from some number on make it true: that number is the bound.
#[must_use]
pub fn balanced_bound(model: &Model) -> Option<Ticks> {
    if model.placement().directions() != 1 || model.has_cheaper_pairs() {
        return None;
    }
    let total =
        |kind| Stage::all(model.stages()).map(|stage| i128::from(model.duration(stage, kind).0)).sum();
    let [forward, input, weight]: [i128; 3] = [Kind::F, Kind::I, Kind::W].map(total);
    let microbatches = i128::from(model.microbatches());
    let devices = i128::from(model.devices());
    let work = microbatches * (forward + input + weight);
    let latencies = i128::from(latency_before(model, Stage(model.stages() - 1)).0);
    let alone = forward + input + 2 * latencies;
    let firsts: Vec<Stage> =
        Device::all(model.devices()).filter_map(|device| first_stage(model, device)).collect();
    let messages: i128 = firsts.iter().map(|&first| i128::from(latency_before(model, first).0)).sum();
    let counts = fewest_counts(model, &firsts);
    // Times m, so that all numbers are whole.
    let is_enough = |makespan: i128| {
        heads(&counts, microbatches * forward, makespan).is_some_and(|heads| {
            devices * makespan * microbatches >= microbatches * (work + messages) + heads
        })
    };
    // With so much time the devices can run one after the other.
    let (mut short, mut enough) = (-1, work + messages);
    while enough - short > 1 {
        let middle = short + (enough - short) / 2;
        if is_enough(middle) {
            enough = middle;
        } else {
            short = middle;
        }
    }
    i64::try_from(enough.max(alone)).ok().map(Ticks)
}

/// m times the least sum of what all devices wait for Fs, where all microbatches have `forwards` of F in all and each device has no
/// more than `most` of it; nothing where that is too little room. `counts` says for each device how many devices wait for its F at
/// the least, in ascending order.
fn heads(counts: &[u32], forwards: i128, most: i128) -> Option<i128> {
    let (mut left, mut heads) = (forwards, 0);
    for &count in counts {
        let here = left.min(most);
        heads += i128::from(count) * here;
        left -= here;
    }
    (left == 0).then_some(heads)
}

/// For each device, how many devices have to wait for an F of its stage that the fewest wait for, in ascending order.
fn fewest_counts(model: &Model, firsts: &[Stage]) -> Vec<u32> {
    let waiting = |stage: &Stage| firsts.iter().filter(|&first| first > stage).count();
    let fewest = |device| model.placement().stages_of(device).iter().map(waiting).min().unwrap_or(0);
    let counts = Device::all(model.devices()).map(|device| u32::try_from(fewest(device)).unwrap_or(u32::MAX));
    let mut counts: Vec<u32> = counts.collect();
    counts.sort_unstable();
    counts
}

fn first_stage(model: &Model, device: Device) -> Option<Stage> {
    model.placement().stages_of(device).iter().copied().min()
}

/// The latencies of all messages on the way from the first stage to this one.
fn latency_before(model: &Model, stage: Stage) -> Ticks {
    Stage::all(stage.0).map(|before| model.latency_after(before)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Costs, Placement};

    fn model(forward: &[i64], microbatches: u32, latency: i64) -> Model {
        let placement = Placement::linear(u32::try_from(forward.len()).expect("few")).expect("a placement");
        let equal = Model::equal_stages(placement, microbatches, [1, 1, 1, latency]).expect("a model");
        let forward = forward.iter().map(|&ticks| Ticks(ticks)).collect();
        equal.with_costs(Costs { forward, ..equal.costs().clone() }).expect("a model")
    }

    #[test]
    fn the_bound_does_not_depend_on_how_the_work_is_divided() {
        for microbatches in [1, 3, 8] {
            let [one, other] = [[7, 1, 1, 3], [3, 3, 3, 3]].map(|forward| model(&forward, microbatches, 2));
            assert_eq!(balanced_bound(&one), balanced_bound(&other));
        }
    }

    /// Four devices, F 3, I 1, W 1, eight microbatches: 40 ticks of work for each device. With equal division the last one waits for
    /// 9 of F, but a device with 12 of F takes 96: so the Fs move towards the last devices only as far as M allows.
    #[test]
    fn devices_wait_for_the_forwards_before_them() {
        let bound = balanced_bound(&model(&[3, 3, 3, 3], 8, 0)).expect("one direction");
        // 4 M >= 160 + heads, and 8 F fits M on each device: 96 of F needs two devices of up to 42 ticks, and a third.
        assert_eq!(bound, Ticks(43));
        assert_eq!(balanced_bound(&model(&[3, 3, 3, 3], 1, 5)), Some(Ticks(12 + 4 + 30)));
    }

    #[test]
    fn one_device_has_nothing_to_wait_for() {
        assert_eq!(balanced_bound(&model(&[4], 5, 0)), Some(Ticks(30)));
    }
}
