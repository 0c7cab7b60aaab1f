//! One set of parameters for all throughputs that the Zero Bubble paper timed (ICLR 2024, arXiv 2401.10241, Table 4),
//! fitted on every other line, and what replay predicts with them.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use bubbleproof::catalog;
use bubbleproof::model::{Costs, Model, StepEnd, Ticks};
use bubbleproof::replay::{Rate, replay};
use bubbleproof::schedule::Schedule;

use crate::published::{interleaved, number, percent, profile, profile_name, scaled, table};

/// What the profiled times leave out, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Parameters {
    /// Between two passes of a device: it launches kernels.
    gap: i64,
    /// Behind each forward and each full backward, where a runtime sends and receives before it goes on.
    wait: i64,
    /// At the end of the step of a zero-bubble schedule.
    step: i64,
}

/// No neighbour in steps of 50, or of 5000 for the step, is better on the lines that are fitted.
const FITTED: Parameters = Parameters { gap: 450, wait: 250, step: 55_000 };

/// A schedule of a profile, with orders for the profiled times.
struct Run {
    model: Model,
    schedule: Schedule,
    /// How many ticks of the model a microsecond has.
    ticks: i64,
    splits: bool,
}

impl Run {
    fn new(model: Model, name: &str, ticks: i64) -> Self {
        let schedule = catalog::find(name).expect("a known name").generate(&model).expect("no capacity");
        Self { model, schedule, ticks, splits: name.starts_with("zb") }
    }

    /// The time of an iteration in microseconds: for zero-bubble schedules the longest that a device is at work, for
    /// others the makespan.
    fn time(&self, Parameters { gap, wait, step }: Parameters) -> Rate {
        let [pass, weight] = if self.splits { [gap; 2] } else { [gap + wait, 0] };
        let longer =
            |list: &[Ticks], by: i64| list.iter().map(|ticks| *ticks + Ticks(by * self.ticks)).collect();
        let costs = self.model.costs();
        let costs = Costs {
            forward: longer(&costs.forward, pass),
            backward_input: longer(&costs.backward_input, pass),
            backward_weight: longer(&costs.backward_weight, weight),
            ..costs.clone()
        };
        let stages = self.model.stages() as usize;
        let step = StepEnd { reduce: vec![Ticks(0); stages], optimizer: vec![Ticks(step); stages] };
        let model =
            self.model.with_costs(costs).and_then(|model| model.with_step(self.splits.then_some(step)));
        let timing = replay(&model.expect("a model"), &self.schedule).timing.expect("it runs");
        let time = if self.splits { timing.metrics.device_span } else { timing.metrics.makespan };
        Rate::new(time.0.into(), self.ticks.into())
    }
}

/// A line of the table, against 1F1B of the same profile.
struct Line {
    of: String,
    name: &'static str,
    run: Run,
    /// The number of its profile.
    profile: usize,
    /// How much more throughput than 1F1B was timed.
    timed: Rate,
}

fn lines() -> (Vec<Run>, Vec<Line>) {
    let timed: BTreeMap<[String; 3], i64> = table("zb_throughput_memory.csv")
        .into_iter()
        .map(|row| {
            let key = ["model", "m", "schedule"].map(|column| row[column].clone());
            (key, scaled(&row["samples_per_gpu_per_s"], 2))
        })
        .collect();
    let (mut baselines, mut lines) = (Vec::new(), Vec::new());
    for (profile_number, row) in table("zb_profiled_times.csv").into_iter().enumerate() {
        let linear = profile(&profile_name(&row));
        let of = |name: &str| i128::from(timed[&[row["model"].clone(), row["m"].clone(), name.to_owned()]]);
        baselines.push(Run::new(linear.clone(), "1f1b", 1));
        for name in ["1F1B-I", "ZB-1p", "ZB-2p"] {
            let run = match name {
                "1F1B-I" => {
                    Run::new(interleaved(&row), "interleaved-1f1b", number(&row, "interleave_chunks_v"))
                }
                _ => Run::new(linear.clone(), &name.to_lowercase(), 1),
            };
            lines.push(Line {
                of: format!("{}  {}", row["model"], row["m"]),
                name,
                run,
                profile: profile_number,
                timed: Rate::new(of(name), of("1F1B")),
            });
        }
    }
    (baselines, lines)
}

/// The errors of the predicted ratios.
fn errors(parameters: Parameters, baselines: &[Run], lines: &[&Line]) -> Vec<Rate> {
    let units: Vec<Rate> = baselines.iter().map(|run| run.time(parameters)).collect();
    let error = |line: &&Line| units[line.profile] / line.run.time(parameters) / line.timed - 1;
    lines.iter().map(error).collect()
}

/// The sum of the squares of errors in parts per million.
fn squares(errors: &[Rate]) -> i128 {
    errors.iter().map(|error| (error * 1_000_000).round().to_integer().pow(2)).sum()
}

/// The median and the largest size of errors.
fn median_and_worst(errors: &[Rate]) -> [Rate; 2] {
    let mut sizes: Vec<Rate> =
        errors.iter().map(|&error| if error < Rate::from_integer(0) { -error } else { error }).collect();
    sizes.sort_unstable();
    [sizes[sizes.len() / 2], sizes[sizes.len() - 1]]
}

#[test]
fn throughputs_that_are_held_back_are_predicted_by_parameters_fitted_on_the_others() {
    let (baselines, lines) = lines();
    assert_eq!(lines.len(), 36);
    let half = |which: usize| lines.iter().skip(which).step_by(2).collect::<Vec<_>>();
    let (fitted, held_back) = (half(0), half(1));

    // No neighbour fits better.
    let best = squares(&errors(FITTED, &baselines, &fitted));
    for by in [-1, 1] {
        let Parameters { gap, wait, step } = FITTED;
        for other in [
            Parameters { gap: gap + 50 * by, ..FITTED },
            Parameters { wait: wait + 50 * by, ..FITTED },
            Parameters { step: step + 5_000 * by, ..FITTED },
        ] {
            let other_squares = squares(&errors(other, &baselines, &fitted));
            assert!(other_squares >= best, "{other:?}: {other_squares} below {best}");
        }
    }

    let mut report = String::from("model  m  schedule  timed  error without parameters  error\n");
    let all: Vec<&Line> = lines.iter().collect();
    let none = Parameters { gap: 0, wait: 0, step: 0 };
    let [before, after] = [none, FITTED].map(|parameters| errors(parameters, &baselines, &all));
    for ((line, before), after) in lines.iter().zip(&before).zip(&after) {
        let (timed, before, after) = (percent(line.timed - 1), percent(*before), percent(*after));
        writeln!(report, "{}  {}  {timed} %  {before} %  {after} %", line.of, line.name)
            .expect("writing to a string cannot fail");
    }
    for (name, half) in [("fitted", &fitted), ("held back", &held_back)] {
        let [median, worst] = median_and_worst(&errors(FITTED, &baselines, half));
        writeln!(report, "{name}: median {} %, worst {} %", percent(median), percent(worst))
            .expect("writing to a string cannot fail");
        assert!(median < Rate::new(1, 100) && worst < Rate::new(3, 100), "{report}");
    }
    insta::assert_snapshot!(report);
}
