//! Where a W goes whose offset a family leaves out.

use num_integer::Integer;

use super::Durations;
use crate::model::{Kind, Microbatch, Pass, Stage, Ticks};

/// Adds the missing W of a device's stages, the last chunk first: each starts at the first instant
/// at or after the end of its I where it overlaps no other pass modulo the interval.
///
/// # Errors
/// The first W for which there is no room.
pub(super) fn complete(
    offsets: &mut Vec<(Stage, Kind, Ticks)>,
    stages: &[Stage],
    interval: Ticks,
    durations: Durations,
) -> Result<(), Pass> {
    for &stage in stages.iter().rev() {
        let offset = |kind| offsets.iter().find(|pass| pass.0 == stage && pass.1 == kind).map(|pass| pass.2);
        if offset(Kind::W).is_some() {
            continue;
        }
        let Some(input) = offset(Kind::I) else { continue };
        let missing = Pass::new(stage, Kind::W, Microbatch(0));
        let ready = input.checked_add(durations.backward_input).ok_or(missing)?;
        let taken: Vec<(Ticks, Ticks)> =
            offsets.iter().map(|&(_, kind, at)| (at, durations.of(kind))).collect();
        let start = first_room(ready, durations.backward_weight, &taken, interval).ok_or(missing)?;
        offsets.push((stage, Kind::W, start));
    }
    Ok(())
}

/// The first instant from `ready` on at which a pass of this length overlaps none of `taken`, given
/// as start and length, modulo the interval.
fn first_room(ready: Ticks, length: Ticks, taken: &[(Ticks, Ticks)], interval: Ticks) -> Option<Ticks> {
    let after = |from: i64, to: i64| {
        // Widened: offsets are any 64-bit integers until the block has been checked.
        i64::try_from((i128::from(to) - i128::from(from)).mod_floor(&i128::from(interval.0)))
            .expect("a remainder is less than the interval")
    };
    let fits = |start: i64| {
        length.0 <= interval.0
            && taken.iter().filter(|(_, other)| other.0 > 0).all(|&(at, other)| {
                length == Ticks::ZERO
                    || (after(at.0, start) >= other.0 && after(start, at.0) >= length.0)
                    // A pass that starts with it would lie a whole interval ahead of it.
                    && after(start, at.0) > 0
            })
    };
    // The earliest start touches the end of a pass, or nothing at all.
    let ends = taken.iter().filter_map(|&(at, other)| {
        let end = at.checked_add(other)?;
        ready.0.checked_add(after(ready.0, end.0))
    });
    let mut starts: Vec<i64> = ends.chain([ready.0]).collect();
    starts.sort_unstable();
    starts.into_iter().find(|&start| fits(start)).map(Ticks)
}
