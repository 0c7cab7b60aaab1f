//! How long microbatches are live.

use crate::model::{Device, Kind, Model, Pass, Ticks};
use crate::replay::Timing;
use crate::schedule::Schedule;

/// By stage: the longest time, over all microbatches, from the start of F to the end of the last pass of the same
/// stage and microbatch. Microbatches without an F there do not count.
///
/// # Panics
/// When the times are not those of this schedule.
#[must_use]
pub fn longest_lifespans(model: &Model, schedule: &Schedule, timing: &Timing) -> Vec<Ticks> {
    let (stages, microbatches) = (schedule.placement().stages() as usize, schedule.microbatches() as usize);
    let cell = |pass: Pass| pass.stage.index() * microbatches + pass.microbatch.index();
    let (mut begun, mut ended) =
        (vec![None; stages * microbatches], vec![Ticks::ZERO; stages * microbatches]);
    for device in Device::all(schedule.devices()) {
        for span in super::spans(model, schedule, timing, device) {
            if span.pass.kind == Kind::F {
                begun[cell(span.pass)] = Some(span.start);
            }
            let end = &mut ended[cell(span.pass)];
            *end = (*end).max(span.end);
        }
    }
    let longest = |(begun, ended): (&[Option<Ticks>], &[Ticks])| {
        let lived = begun.iter().zip(ended).filter_map(|(&begun, &ended)| Some(ended - begun?));
        lived.max().unwrap_or_default()
    };
    begun.chunks(microbatches).zip(ended.chunks(microbatches)).map(longest).collect()
}
