//! The iterations of traces as [runs](crate::replay::makespans): how long every single pass took.

use super::Trace;
use super::fit::paired;
use super::matching::first_spans;
use crate::model::{Kind, Microbatch, Model, Pass, Stage, Ticks};
use crate::replay::PassDurations;

/// Why an iteration does not say how long every pass takes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RunsError {
    /// Overlapped pairs, whose passes share a device.
    #[error("trace {0} overlaps pairs of passes, so it does not show how long a single pass takes")]
    Overlaps(usize),
    /// A pass that did not run.
    #[error("iteration {iteration} of trace {trace} does not show how long `{pass}` took")]
    NotMeasured {
        /// The trace, from 1.
        trace: usize,
        /// Its iteration, from 0.
        iteration: usize,
        /// The pass.
        pass: Pass,
    },
}

/// The durations of the passes of every iteration, in nanoseconds.
///
/// Where a full backward B was measured, I and W share its time as they do in the model, which is in nanoseconds too: one
/// [fitted](super::fit::profile) to the same traces, say.
///
/// # Errors
/// When a trace has overlapped pairs, or a forward or a backward was not measured.
pub fn runs(traces: &[Trace], model: &Model) -> Result<Vec<PassDurations>, RunsError> {
    let mut runs = Vec::new();
    for (trace, at) in traces.iter().zip(1..) {
        if !paired(trace).is_empty() {
            return Err(RunsError::Overlaps(at));
        }
        for iteration in 0..trace.iterations.len() {
            let missing = |pass| RunsError::NotMeasured { trace: at, iteration, pass };
            runs.push(run(trace, iteration, model).map_err(missing)?);
        }
    }
    Ok(runs)
}

/// The durations of an iteration, or a pass that did not run.
fn run(trace: &Trace, iteration: usize, model: &Model) -> Result<PassDurations, Pass> {
    let ran = first_spans(&trace.iterations[iteration]);
    let took = |pass: Pass| ran.get(&pass).map(|span| span.duration());
    let (stages, microbatches) = (trace.schedule.placement().stages(), trace.schedule.microbatches());
    let mut missing = None;
    let durations = PassDurations::new(stages, microbatches, |stage: Stage, microbatch: Microbatch| {
        let [forward, input, weight, both] =
            [Kind::F, Kind::I, Kind::W, Kind::B].map(|kind| took(Pass::new(stage, kind, microbatch)));
        let mut or_missing = |took: Option<Ticks>, kind| {
            took.unwrap_or_else(|| {
                missing.get_or_insert(Pass::new(stage, kind, microbatch));
                Ticks::ZERO
            })
        };
        let forward = or_missing(forward, Kind::F);
        match (input, weight, both) {
            (Some(input), Some(weight), _) => [forward, input, weight],
            (_, _, Some(both)) => {
                let [input, weight] =
                    shared(both, [Kind::I, Kind::W].map(|kind| model.duration(stage, kind)));
                [forward, input, weight]
            }
            (None, _, None) => [forward, or_missing(None, Kind::I), Ticks::ZERO],
            (Some(input), None, None) => [forward, input, or_missing(None, Kind::W)],
        }
    });
    missing.map_or(Ok(durations), Err)
}

/// The time of a backward, in the proportion of its two parts.
fn shared(both: Ticks, [input, weight]: [Ticks; 2]) -> [Ticks; 2] {
    let (part, whole) = (i128::from(input.0), i128::from(input.0) + i128::from(weight.0));
    // Without parts to go by, all of it is the gradient of the input.
    let input = if whole == 0 { i128::from(both.0) } else { i128::from(both.0) * part / whole };
    let input = Ticks(i64::try_from(input).expect("no more than the whole"));
    [input, both - input]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog;
    use crate::model::Placement;
    use crate::replay::{makespans, replay};
    use crate::trace::synthetic::of_replay;

    #[test]
    fn what_replay_says_comes_back_from_its_trace() {
        let placement = Placement::linear(3).expect("a placement");
        let model = Model::equal_stages(placement, 4, [30, 40, 20, 5]).expect("a model");
        for name in ["1f1b", "zb-h1"] {
            let schedule = catalog::find(name).expect("a name").generate(&model).expect("a schedule");
            let trace = of_replay(&model, &schedule).expect("a trace");
            let factor = trace.iterations[0].last_end().0
                / replay(&model, &schedule).timing.expect("it runs").metrics.makespan.0;
            let runs = runs(&[trace], &model).expect("runs");
            let of = |kind| Ticks(model.duration(Stage(1), kind).0 * factor);
            assert_eq!(runs.len(), 1);
            for kind in [Kind::F, Kind::I, Kind::W, Kind::B] {
                assert_eq!(runs[0].of(Pass::new(Stage(1), kind, Microbatch(2))), of(kind), "{name}");
            }
            if factor == 1 {
                let makespan = replay(&model, &schedule).timing.expect("it runs").metrics.makespan;
                assert_eq!(makespans(&model, &schedule, &runs).expect("a run"), [makespan]);
            }
        }
    }

    #[test]
    fn a_backward_is_shared_in_proportion() {
        for (both, parts, shares) in
            [(100, [2, 1], [66, 34]), (100, [0, 0], [100, 0]), (7, [0, 3], [0, 7]), (0, [3, 3], [0, 0])]
        {
            assert_eq!(shared(Ticks(both), parts.map(Ticks)), shares.map(Ticks));
        }
    }

    #[test]
    fn a_pass_that_did_not_run_is_named() {
        let model = Model::unit(Placement::linear(2).expect("a placement"), 2).expect("a model");
        let schedule = catalog::find("1f1b").expect("a name").generate(&model).expect("a schedule");
        let mut trace = of_replay(&model, &schedule).expect("a trace");
        trace.iterations[0].passes[1].retain(|span| span.pass.kind != Kind::B);
        assert_eq!(
            runs(&[trace], &model).expect_err("no backward").to_string(),
            "iteration 0 of trace 1 does not show how long `1I0` took"
        );
    }
}
