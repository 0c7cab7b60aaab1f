//! One stage on each device, from the last one to the first.
//!
//! On a device let `y = I - F` be the distance between its two nodes. Whatever was chosen on the
//! devices behind, what is reachable is exactly `{y >= Y}`, and the next device sees `Y` grown by the
//! lags there and back. So a state is one number, the least is the best, and only the best pattern of
//! each device counts.

use super::pattern::{NODES, Pattern};
use super::pipeline::{Pipeline, Scale};
use super::{Time, ZoneError};

/// Patterns that go together at an interval, in the order of the stages, if there are any.
pub(super) fn solve<T: Time>(
    pipeline: &Pipeline<'_>,
    scale: Scale<T>,
) -> Result<Option<Vec<Pattern>>, ZoneError> {
    let end = 2 * pipeline.figures.len() - 1;
    let mut patterns = Vec::with_capacity(pipeline.figures.len());
    let mut least = scale.ticks(pipeline.lag(end / 2, end / 2 + 1));
    for (device, figures) in pipeline.figures.iter().enumerate().rev() {
        if pipeline.stop.is_due() {
            return Err(ZoneError::TimeUp);
        }
        let mut best: Option<(T, Pattern)> = None;
        for &shape in pipeline.shapes[device].iter() {
            // y lies between these, and any number of intervals later.
            let soonest = scale.ticks(shape.distance(0, 1).length);
            let latest = scale.interval - scale.ticks(shape.distance(1, 0).length);
            if soonest > latest {
                continue;
            }
            let copies = scale.ceil(least - latest).max(shape.least_copies(figures, 0));
            let pattern = Pattern { shape, copy: [0, copies, 0, 0] };
            const { assert!(NODES == 4) }
            let reached = least.max(soonest + scale.turns(copies));
            let fits = i128::from(figures.by_forward[0]) * i128::from(copies) + i128::from(shape.base)
                <= i128::from(figures.capacity);
            if fits && best.is_none_or(|(other, _)| reached < other) {
                best = Some((reached, pattern));
            }
        }
        let Some((reached, pattern)) = best else { return Ok(None) };
        patterns.push(pattern);
        if device > 0 {
            let there = pipeline.lag(device - 1, device);
            let back = pipeline.lag(end - device, end + 1 - device);
            least = reached + scale.ticks(there + back);
        }
    }
    patterns.reverse();
    Ok(Some(patterns))
}
