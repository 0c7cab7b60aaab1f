//! Two pipelines in opposite directions: the named schedules against what is found within their memory.

use std::thread::available_parallelism;

use bubbleproof::catalog;
use bubbleproof::certificate;
use bubbleproof::model::{Kind, Model, Overlap, PairDurations, Placement, Stage, Ticks};
use bubbleproof::optimize::{Options, optimize};
use bubbleproof::replay::{Metrics, Verdict, replay};
use num_rational::Ratio;

use super::{Row, Table, Takes, Times, decimals, limited, listed};

/// A tenth of the usual one.
const EFFORT: usize = 40_000_000;

/// So that half of a pass is whole.
const DURATIONS: [Times; 2] = [[2, 2, 2], [6, 8, 4]];

/// The name of a schedule, devices, microbatches, durations, and whether pairs save time.
type Problem = (&'static str, u32, u32, Times, bool);

fn problems() -> Vec<Problem> {
    let sizes = [(4, 8), (4, 16), (8, 16), (8, 32)];
    let models = sizes.into_iter().flat_map(|size| {
        DURATIONS.into_iter().flat_map(move |times| [false, true].map(|pairs| (size, times, pairs)))
    });
    let problems = models.flat_map(|((devices, microbatches), times, pairs)| {
        // What does not overlap gains nothing from pairs.
        let named = if pairs { &["dualpipe"][..] } else { &["chimera", "dualpipe"] };
        named.iter().map(move |&name| (name, devices, microbatches, times, pairs))
    });
    problems.collect()
}

pub fn table() -> Table {
    let rows = problems().into_iter().map(|problem| {
        let (name, devices, microbatches, times, pairs) = problem;
        let model = model(problem);
        let pair = if pairs { pair(&model).to_string() } else { "-".to_owned() };
        let key = [name.to_owned(), devices.to_string(), microbatches.to_string(), listed(times), pair];
        Row::new(key.to_vec(), Takes::Little, move || row(problem))
    });
    Table {
        name: "two ways",
        head: "| schedule | d | m | F,I,W | pair | its peak | its makespan | shortest found | bound | ratio |\n\
               | --- | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
        rows: rows.collect(),
    }
}

/// Half of the shorter pass is hidden in a pair.
fn pair(model: &Model) -> Ticks {
    let [forward, backward] = [Kind::F, Kind::B].map(|kind| model.duration(Stage(0), kind));
    forward + backward - Ticks(forward.min(backward).0 / 2)
}

fn model((_, devices, microbatches, [forward, input, weight], pairs): Problem) -> Model {
    let placement = Placement::bidirectional(devices).expect("an even number of devices");
    let times = [forward, input, weight, 0];
    let model = Model::equal_stages(placement, microbatches, times).expect("a model");
    if !pairs {
        return model;
    }
    let overlap = Overlap { forward_backward: PairDurations::Uniform(pair(&model)), ..Overlap::default() };
    model.with_overlap(overlap).expect("no shorter than the longer one")
}

fn measured(model: &Model, name: &str) -> (Verdict, Metrics) {
    let schedule = catalog::find(name).expect("a name").generate(model).expect("two directions");
    let verdict = replay(model, &schedule);
    let metrics = verdict.timing.as_ref().expect("it runs").metrics.clone();
    (verdict, metrics)
}

fn row(problem: Problem) -> Vec<String> {
    let model = model(problem);
    let (verdict, metrics) = measured(&model, problem.0);
    let peak = verdict.peak_memory_max();
    let limited = limited(&model, peak.0);
    let options =
        Options { effort: EFFORT, threads: available_parallelism().expect("threads"), ..Options::default() };
    let solution = optimize(&limited, &options, &mut |_| ()).expect("it fits");
    certificate::check(&solution.schedule, Some(&limited)).expect("a certificate");
    if problem.0 == "chimera" {
        // As the page says.
        assert!(solution.schedule.orders().iter().flatten().all(|pass| pass.kind != Kind::B), "{problem:?}");
    }
    let ratio = Ratio::new(i128::from(metrics.makespan.0), i128::from(solution.value().0));
    vec![
        peak.to_string(),
        metrics.makespan.to_string(),
        solution.value().to_string(),
        solution.lower_bound().to_string(),
        decimals(ratio),
    ]
}
