//! Whole steps of several replicas: executed as they were measured, predicted, and compared with what another simulator says.

use std::collections::BTreeMap;
use std::fs;

use bubbleproof::model::{Device, Ticks};
use bubbleproof::trace::Trace;
use bubbleproof::trace::statistics::quantile;
use bubbleproof::trace::whole::{Durations, Level, Replicas, Step, Task, Times, Typical, What};

use crate::traces::gpu::table;
use crate::traces::published::{entries, folder, numbers, trace};

/// The steps of a published job, of all replicas that are there.
fn job(names: &[&str]) -> (Vec<Trace>, Vec<u32>) {
    (names.iter().map(|name| trace(name)).collect(), numbers(names[0]))
}

fn steps(traces: &[Trace]) -> Vec<(Step, Times)> {
    Replicas::of(traces).expect("replicas").steps().expect("steps")
}

const ST: [&str; 2] = ["bytedance-st-dp0.json", "bytedance-st-dp1.json"];
const AR: [&str; 2] = ["bytedance-ar-dp0.json", "bytedance-ar-dp1.json"];

#[test]
fn executed_with_measured_times_everything_ends_when_it_was_measured_to() {
    let others = entries().into_iter().map(|entry| vec![entry.file]);
    let jobs = [ST, AR].map(|names| names.map(str::to_owned).to_vec());
    for names in others.chain(jobs) {
        let traces: Vec<Trace> = names.iter().map(|name| trace(name)).collect();
        for (iteration, (step, times)) in steps(&traces).iter().enumerate() {
            let mut measured: BTreeMap<Task, Ticks> = BTreeMap::new();
            let mut origin = Ticks(i64::MAX);
            for (replica, trace) in traces.iter().enumerate() {
                let ran = &trace.iterations[iteration];
                for span in ran.passes.iter().flatten() {
                    measured.insert(Task { replica, what: What::Pass(span.pass) }, span.end);
                    origin = origin.min(span.start);
                }
                for span in ran.step.iter().flatten() {
                    let what = What::Work { work: span.work, stage: span.stage, nth: 0 };
                    measured.insert(Task { replica, what }, span.end);
                    origin = origin.min(span.start);
                }
            }
            let ends = step.run(times).expect("it can be counted");
            assert_eq!(ends.len(), measured.len(), "{names:?}");
            for (task, end) in step.tasks().zip(ends) {
                assert_eq!(end + origin, measured[&task], "{names:?}, iteration {iteration}: {task}");
            }
        }
    }
}

/// What ByteDance's simulator made of the job: lengths in seconds, slowdowns by what was left as it was while the rest was levelled.
#[derive(serde::Deserialize)]
struct Simulated {
    step_t_base: BTreeMap<u32, f64>,
    step_t_nodelay: BTreeMap<u32, f64>,
    step_t_noblk: BTreeMap<u32, f64>,
    blocking_decompose_by_stage_per_step: BTreeMap<u32, BTreeMap<u32, f64>>,
    blocking_decompose_by_dp_rank_per_step: BTreeMap<u32, BTreeMap<usize, f64>>,
    blocking_decompose_by_optype_per_step: BTreeMap<u32, BTreeMap<String, f64>>,
}

fn seconds(ticks: Ticks) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "seconds have nine digits")]
    let seconds = ticks.0 as f64 / 1e9;
    seconds
}

#[test]
fn another_simulator_says_the_same_of_a_job_of_bytedance() {
    let (traces, numbers) = job(&ST);
    let text = fs::read_to_string(folder().join("published/bytedance-st-result.json")).expect("a file");
    let theirs: Simulated = serde_json::from_str(&text).expect("their form");
    let steps = steps(&traces);
    let level = Level::of(&steps);
    let mut worst = BTreeMap::<&str, f64>::new();
    for ((step, times), number) in steps.iter().zip(&numbers) {
        let length = |times: &Times| seconds(step.length(times).expect("it can be counted"));
        let alone = |keep: &dyn Fn(Task) -> bool| length(&step.levelled(times, &level, keep));
        let levelled = alone(&|_| false);
        let mut same = |what: &'static str, ours: f64, theirs: f64| {
            let apart = (ours / theirs - 1.0).abs();
            let entry = worst.entry(what).or_default();
            *entry = entry.max(apart);
        };
        same("measured", length(times), theirs.step_t_base[number]);
        same("no launch gaps", length(&step.without_gaps(times, |_, _| true)), theirs.step_t_nodelay[number]);
        same("levelled", levelled, theirs.step_t_noblk[number]);
        for (stage, slowdown) in &theirs.blocking_decompose_by_stage_per_step[number] {
            same("stage", alone(&|task| task.what.stage().0 == *stage) / levelled, *slowdown);
        }
        for (replica, slowdown) in &theirs.blocking_decompose_by_dp_rank_per_step[number] {
            same("replica", alone(&|task| task.replica == *replica) / levelled, *slowdown);
        }
        let _ = &theirs.blocking_decompose_by_optype_per_step;
    }
    panic!("{worst:?}");
}
