//! What the times amount to.

use num_rational::Ratio;

use super::{StepTimes, devices, end_of};
use crate::model::{Kind, Model, Ticks};
use crate::schedule::Schedule;

/// An exact share.
pub type Rate = Ratio<i128>;

/// What the times of a schedule amount to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metrics {
    /// The last end over all devices, the first start being time 0, that of a gather of weights included. The optimiser steps
    /// count where the model has an [end of the step](Model::step).
    pub makespan: Ticks,
    /// The least time, in ticks, within which every device can run its passes, and the optimiser steps of its stages, if
    /// it may begin later than as soon as possible. It begins when it posts its first gathers, where weights are
    /// [gathered](Model::has_gathers): the papers' "cost", and the time of an iteration when the next one
    /// follows without a barrier. The starts as soon as possible may have a larger span.
    pub device_span: Ticks,
    /// The time that all devices together are busy, with passes and optimiser steps. An overlapped pair counts once.
    /// Reductions and gathers do not count: they run on the collective streams, while the devices may work or wait.
    pub busy: Ticks,
    /// The part of that in which they do what every schedule has to: forwards, backwards and optimiser steps.
    /// Recomputation is not counted.
    pub useful: Ticks,
    /// `1 - busy / (d * device_span)`. With equal devices this is the papers'
    /// `1 - m*(F+B+W)/cost` (Zero Bubble Pipeline Parallelism, arXiv 2401.10241, section 5.3).
    pub bubble_rate: Rate,
    /// `1 - busy / (d * makespan)`.
    pub idle_rate: Rate,
    /// `useful / (d * device_span)`, and 1 where nothing takes time. Together with `bubble_rate` that is 1, unless
    /// something is recomputed: the rest is the share of recomputation.
    pub useful_rate: Rate,
}

/// Measures a complete run.
pub(super) fn measure(
    model: &Model,
    schedule: &Schedule,
    starts: &[Vec<Ticks>],
    step: &[StepTimes],
    device_span: Ticks,
) -> Metrics {
    let (mut makespan, mut busy, mut recomputing) = (Ticks::ZERO, Ticks::ZERO, Ticks::ZERO);
    for ((device, order), starts) in devices(schedule).zip(starts) {
        let Some((&pass, &last)) = order.last().zip(starts.last()) else { continue };
        makespan = makespan.max(end_of(model, schedule, pass, last));
        busy += schedule.steps(device).map(|step| schedule.step_duration(model, step)).sum();
        let recomputations = order.iter().filter(|pass| pass.kind == Kind::R);
        recomputing += recomputations.map(|&pass| schedule.duration(model, pass)).sum();
    }
    // An optimiser step is the last task of its device, if there is one.
    for StepTimes { optimizer, .. } in step {
        makespan = makespan.max(optimizer.end);
        busy += optimizer.end - optimizer.start;
    }
    // The share of a span that is not worked in.
    let rest = |worked: Ticks, span: Ticks| {
        let room = i128::from(schedule.devices()) * i128::from(span.0);
        if room == 0 { Rate::from_integer(0) } else { Rate::new(room - i128::from(worked.0), room) }
    };
    let useful = busy - recomputing;
    Metrics {
        makespan,
        device_span,
        busy,
        useful,
        bubble_rate: rest(busy, device_span),
        idle_rate: rest(busy, makespan),
        useful_rate: Rate::from_integer(1) - rest(useful, device_span),
    }
}
