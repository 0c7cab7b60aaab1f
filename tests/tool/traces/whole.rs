//! Whole steps of several replicas: executed as they were measured, predicted, and compared with what another simulator says.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;

use assert_cmd::Command;
use bubbleproof::model::{Kind, Ticks};
use bubbleproof::replay::replay;
use bubbleproof::trace::fit::{Together, profile_of};
use bubbleproof::trace::loss::{Losses, explain, losses};
use bubbleproof::trace::matching::findings;
use bubbleproof::trace::statistics::quantile;
use bubbleproof::trace::whole::{Basis, Instants, Level, Replicas, Step, Task, Timed, Times, What, predict};
use bubbleproof::trace::{Iteration, Origin, StepWork, Trace, file};
use flate2::read::GzDecoder;
use proptest::prelude::*;

use crate::traces::gpu::table;
use crate::traces::published::{entries, folder, numbers, trace};
use crate::traces::support::{pipeline, traced, with_step};

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
    for ((step, times), number) in steps.iter().zip(&numbers) {
        let length = |times: &Times| seconds(step.length(times).expect("it can be counted"));
        let alone = |keep: &dyn Fn(Timed) -> bool| length(&step.levelled(times, &level, keep));
        let levelled = alone(&|_| false);
        let same = |what: &str, ours: f64, theirs: f64| {
            // There a message lasts as long as its copy; here from the end of the pass that makes it, which is some microseconds less.
            assert!((ours / theirs - 1.0).abs() < 1e-5, "step {number}, {what}: {ours} here, {theirs} there");
        };
        same("measured", length(times), theirs.step_t_base[number]);
        same("no launch gaps", length(&step.without_gaps(times, |_, _| true)), theirs.step_t_nodelay[number]);
        same("levelled", levelled, theirs.step_t_noblk[number]);
        for (stage, slowdown) in &theirs.blocking_decompose_by_stage_per_step[number] {
            let keep = |timed| whose(timed).what.stage().0 == *stage;
            same(&format!("stage {stage}"), alone(&keep) / levelled, *slowdown);
        }
        for (replica, slowdown) in &theirs.blocking_decompose_by_dp_rank_per_step[number] {
            let keep = |timed| whose(timed).replica == *replica;
            same(&format!("replica {replica}"), alone(&keep) / levelled, *slowdown);
        }
        for (operation, slowdown) in &theirs.blocking_decompose_by_optype_per_step[number] {
            let keep = |timed| named(timed) == operation;
            same(operation, alone(&keep) / levelled, *slowdown);
        }
    }
}

/// A message belongs to what waits for it.
fn whose(timed: Timed) -> Task {
    match timed {
        Timed::Task(task) | Timed::Message { receiver: task, .. } => task,
    }
}

/// What ByteDance calls it.
fn named(timed: Timed) -> &'static str {
    match timed {
        Timed::Task(Task { what: What::Pass(pass), .. }) => match pass.kind {
            Kind::F => "forward-compute",
            _ => "backward-compute",
        },
        Timed::Task(Task { what: What::Work { work, .. }, .. }) => match work {
            StepWork::Gather => "params-all-gather",
            StepWork::Tensor => "layernorm-grads-all-reduce",
            StepWork::Embedding => "embedding-grads-all-reduce",
            StepWork::Reduce => "grads-reduce-scatter",
            StepWork::Norm => "optimizer-clip-main-grad",
            StepWork::Optimizer => "optimizer",
        },
        Timed::Message { receiver: Task { what, .. }, .. } => match what {
            What::Pass(pass) if pass.kind == Kind::F => "forward-pp-comm",
            _ => "backward-pp-comm",
        },
    }
}

/// Of the other job it published lengths alone. Two of its four replicas are here, the slow one among them.
#[test]
fn the_slow_job_without_launch_gaps_is_as_long_as_another_simulator_says() {
    let (traces, numbers) = job(&AR);
    assert_eq!(numbers, [35, 439, 1222]);
    let (base, no_gaps) = ([45.977_531, 46.573_811, 46.596_188], [45.725_185, 46.320_192, 46.331_908]);
    for (at, (step, times)) in steps(&traces).iter().enumerate() {
        let near = |ours: Ticks, theirs: f64| (seconds(ours) / theirs - 1.0).abs();
        let measured = step.length(times).expect("it can be counted");
        let quick = step.length(&step.without_gaps(times, |_, _| true)).expect("it can be counted");
        assert!(near(measured, base[at]) < 1e-5, "{measured}");
        assert!(near(quick, no_gaps[at]) < 1e-3, "{quick}");
    }
}

/// At which of four times of the job ST a step was recorded.
fn window(number: u32) -> usize {
    [258, 513, 1009].partition_point(|&before| before < number)
}

/// Steps of a job at one time.
type Window = Vec<(Step, Times)>;

/// Jobs, and at what time: iterations predict those of the same time.
fn windows() -> Vec<(&'static str, Vec<Window>)> {
    let (st, numbers) = job(&ST);
    let mut of_st: Vec<Window> = vec![Vec::new(); 4];
    for (step, number) in steps(&st).into_iter().zip(numbers) {
        of_st[window(number)].push(step);
    }
    let alone = |name: &str| vec![steps(&[trace(name)])];
    vec![
        ("ByteDance ST, 2 replicas", of_st),
        ("ByteDance AR, 2 of 4 replicas", vec![steps(&job(&AR).0)]),
        ("Primus, 1F1B", alone("primus-1f1b.json")),
        ("Primus, interleaved", alone("primus-interleaved.json")),
        ("MegatronApp, interleaved", alone("megatronapp-interleaved.json")),
    ]
}

/// An error in ten-thousandths of what was measured, rounded half away from zero.
fn error(predicted: Ticks, measured: Ticks) -> i64 {
    let (part, whole) = (i128::from((predicted - measured).0), i128::from(measured.0));
    let size = (part.abs() * 20_000 + whole) / (2 * whole);
    i64::try_from(if part < 0 { -size } else { size }).expect("a share")
}

/// The median of the sizes of errors, and the least and the largest.
fn spread(mut errors: Vec<i64>) -> String {
    errors.sort_unstable();
    let mut sizes: Vec<i64> = errors.iter().map(|error| error.abs()).collect();
    sizes.sort_unstable();
    let percent = |value: i64| format!("{}.{:02}", value.abs() / 100, value.abs() % 100);
    let signed = |value: i64| format!("{}{}", if value < 0 { "-" } else { "+" }, percent(value));
    let median = quantile(&sizes, 1, 2).expect("an iteration");
    format!("{} | {} to {}", percent(median), signed(errors[0]), signed(errors[errors.len() - 1]))
}

#[test]
fn whole_steps_are_predicted_by_the_others_as_the_page_says() {
    let mut report = String::new();
    for (run, windows) in windows() {
        for basis in Basis::ALL {
            let (mut passes, mut whole) = (Vec::new(), Vec::new());
            for steps in &windows {
                let predicted = predict(steps, basis).expect("there are others");
                for ((step, times), predicted) in steps.iter().zip(predicted) {
                    let measured = Instants::of(step, times).expect("it can be counted");
                    passes.push(error(predicted.passes, measured.passes));
                    whole.push(error(predicted.step, measured.step));
                }
            }
            let cells = [passes, whole].map(spread);
            let iterations: usize = windows.iter().map(Vec::len).sum();
            writeln!(report, "| {run} | {basis} | {iterations} | {} | {} |", cells[0], cells[1])
                .expect("a string");
        }
    }
    insta::assert_snapshot!("errors_gpu_whole", report);
    assert_eq!(report, table("whole"), "docs/measured.md has other figures");
}

/// A model with a `[step]` predicts from the first pass to the end of the step, by replay.
#[test]
fn profiles_with_their_step_predict_the_end_of_it_as_the_page_says() {
    let mut report = String::new();
    for (run, names, together) in [
        ("ByteDance ST, both replicas", &ST[..], Together::Yes),
        ("ByteDance AR, the slow replica", &AR[..1], Together::No),
    ] {
        let (traces, numbers) = job(names);
        let mut errors = Vec::new();
        for at in 0..numbers.len() {
            // AR has too few steps to tell times of the job apart.
            let is_ar = names == &AR[..1];
            let near = |other: usize| is_ar || window(numbers[other]) == window(numbers[at]);
            let others: Vec<usize> = (0..numbers.len()).filter(|&other| other != at && near(other)).collect();
            let of_others = traces.iter().map(|trace| {
                let iterations = others.iter().map(|&other| trace.iterations[other].clone()).collect();
                Trace { iterations, ..trace.clone() }
            });
            let profile = profile_of("others", &of_others.collect::<Vec<_>>(), together).expect("a model");
            let model = profile.without_messages().model;
            let timing = replay(&model, &traces[0].schedule).timing.expect("it runs");
            let ran = || traces.iter().map(|trace| &trace.iterations[at]);
            let first = ran().map(Iteration::first_start).min().expect("a replica");
            let measured = ran().map(Iteration::step_end).max().expect("a replica") - first;
            errors.push(error(timing.metrics.makespan, measured));
        }
        writeln!(report, "| {run} | {} | {} |", errors.len(), spread(errors)).expect("a string");
    }
    insta::assert_snapshot!("errors_gpu_profiled_step", report);
    assert_eq!(report, table("profiled step"), "docs/measured.md has other figures");
}

/// The jobs that are explained, with their traces.
const EXPLAINED: [(&str, &[&str]); 5] = [
    ("ByteDance ST, 1F1B", &ST),
    ("ByteDance AR, 1F1B", &AR),
    ("Primus, 1F1B", &["primus-1f1b.json"]),
    ("Primus, interleaved", &["primus-interleaved.json"]),
    ("MegatronApp, interleaved", &["megatronapp-interleaved.json"]),
];

#[test]
fn where_the_time_of_published_steps_went_is_on_the_page() {
    let (mut lost, mut what_if) = (String::new(), String::new());
    for (run, names) in EXPLAINED {
        let traces: Vec<Trace> = names.iter().map(|name| trace(name)).collect();
        let replicas = Replicas::of(&traces).expect("replicas");
        let found = explain(&replicas, &replicas.steps().expect("steps")).expect("it can be counted");
        let of_step =
            |ticks: Ticks| error(found.lengths[found.typical] + ticks, found.lengths[found.typical]);
        let percent = |value: i64| {
            format!("{}{}.{:02}", if value < 0 { "-" } else { "" }, value.abs() / 100, value.abs() % 100)
        };
        let Losses { passes, bubble, works, stages, replicas, microbatches, messages, gaps } = found.losses;
        let cells = [passes, bubble, works, stages, replicas, microbatches, messages, gaps];
        let cells = cells.map(|ticks| percent(of_step(ticks)));
        writeln!(lost, "| {run} | {} |", cells.join(" | ")).expect("a string");
        for saving in found.savings.iter().take(3) {
            let shares = saving
                .shares(&found.without_gaps)
                .map(|share| percent(i64::try_from((share * 10_000).round().to_integer()).expect("a share")));
            let [least, median, most] = shares;
            writeln!(what_if, "| {run} | {} | {median} | {least} to {most} |", saving.part)
                .expect("a string");
        }
    }
    insta::assert_snapshot!("lost_gpu", format!("{lost}\n{what_if}"));
    assert_eq!(lost, table("lost"), "docs/measured.md has other figures");
    assert_eq!(what_if, table("what if"), "docs/measured.md has other figures");
}

/// What `trace explain` says of every published run.
#[test]
fn every_published_run_is_explained() {
    let mut report = String::new();
    for (_, names) in EXPLAINED {
        let mut command = Command::cargo_bin("bubbleproof").expect("the tool");
        command.current_dir(folder()).args(["trace", "explain", "--top", "8"]).args(names);
        let output = command.assert().success().get_output().stdout.clone();
        writeln!(report, "{}", String::from_utf8(output).expect("text")).expect("a string");
    }
    insta::assert_snapshot!("explained_gpu", report);
}

/// Replicas that the measuring script ran on a CPU, on fewer cores than they had devices, whose times say nothing, and on a GPU
/// divided into four: who waited for whom is the same.
#[test]
fn replicas_of_the_measuring_script_ran_as_declared_and_met_at_the_end() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/traces");
    for (origin, name, works) in [
        (Origin::Cpu, "cpu-replicas/1f1b-d2-m16", 4),
        (Origin::Cpu, "cpu-replicas/v-half-d2-m16", 3),
        (Origin::Cuda, "cuda-replicas/1f1b-d2", 4),
        (Origin::Cuda, "cuda-replicas/v-half-d2", 3),
    ] {
        let traces = ["dp0", "dp1"].map(|replica| {
            let packed = File::open(folder.join(format!("{name}-{replica}.json.gz"))).expect("a file");
            let mut text = String::new();
            GzDecoder::new(packed).read_to_string(&mut text).expect("packed text");
            file::parse(&text).expect("a trace")
        });
        for trace in &traces {
            assert_eq!((trace.origin, findings(trace)), (origin, Vec::new()), "{name}");
        }
        let replicas = Replicas::of(&traces).expect("replicas");
        let steps = replicas.steps().expect("steps that meet");
        for (iteration, (step, times)) in steps.iter().enumerate() {
            let ran = traces.iter().map(|trace| &trace.iterations[iteration]);
            let measured = ran.map(Iteration::step_end).max().expect("a replica");
            assert_eq!(step.length(times), Some(measured), "{name}");
            let seen: BTreeSet<StepWork> = step
                .tasks()
                .filter_map(|task| match task.what {
                    What::Work { work, .. } => Some(work),
                    What::Pass(_) => None,
                })
                .collect();
            assert_eq!(seen.len(), works, "{name}: {seen:?}");
        }
        let explained = explain(&replicas, &steps).expect("it can be counted");
        assert!(explained.without_gaps.iter().zip(&explained.lengths).all(|(quick, length)| quick <= length));
    }
}

/// Where the time goes adds up to the step, of every iteration of every run.
#[test]
fn losses_add_up_to_the_step() {
    for (run, windows) in windows() {
        for (step, times) in windows.iter().flatten() {
            let Losses { passes, bubble, works, stages, replicas, microbatches, messages, gaps } =
                losses(step, times).expect("it can be counted");
            let sum = passes + bubble + works + stages + replicas + microbatches + messages + gaps;
            assert_eq!(Some(sum), step.length(times), "{run}");
        }
    }
}

#[test]
fn traces_that_are_no_replicas_are_refused_with_a_reason() {
    let refused = |names: &[&str]| {
        let mut command = Command::cargo_bin("bubbleproof").expect("the tool");
        command.current_dir(folder()).args(["trace", "explain"]).args(names);
        String::from_utf8(command.assert().code(2).get_output().stderr.clone()).expect("text")
    };
    let mut report = String::new();
    for names in [
        // Two runs in one file, which nothing joins.
        &["published/megatronapp-merged.json.gz"][..],
        &["bytedance-st-dp0.json", "bytedance-ar-dp0.json"],
        &["primus-1f1b.json", "primus-interleaved.json"],
        &["bytedance-st-dp0.json", "published/bytedance-st-result.json"],
    ] {
        writeln!(report, "{}", refused(names)).expect("a string");
    }
    insta::assert_snapshot!("explain_refused", report);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    /// A run as replay says it has no launch gaps, and takes as long as replay says.
    #[test]
    fn a_run_as_replay_says_has_no_gaps((model, schedule) in pipeline()) {
        let trace = traced(&model, &schedule);
        let (step, times) = steps(std::slice::from_ref(&trace)).remove(0);
        let quick = step.without_gaps(&times, |_, _| true);
        let makespan = trace.iterations[0].last_end() - trace.iterations[0].first_start();
        prop_assert_eq!(step.length(&times), Some(makespan));
        prop_assert_eq!(step.length(&quick), Some(makespan));
        let explained = explain(&Replicas::of([&trace]).expect("one"), &[(step, times)]).expect("small");
        prop_assert_eq!(explained.losses.gaps, Ticks::ZERO);
        for saving in explained.savings {
            prop_assert!(saving.lengths[0] < makespan, "{}", saving.part);
        }
    }

    /// A profile has the works of a step that replay says.
    #[test]
    fn a_profile_of_replicas_has_their_step((model, schedule) in pipeline(), seed: u64) {
        let model = with_step(&model, seed);
        let trace = traced(&model, &schedule);
        let found = profile_of("again", &[trace.clone(), trace], Together::Yes).expect("a model").model;
        prop_assert_eq!(found.step(), model.step());
    }
}
