//! The interval that a replayed schedule keeps in its steady phase.

use num_rational::Ratio;

use crate::model::{Kind, Pass, Ticks};
use crate::replay::Timing;
use crate::schedule::Schedule;

/// The most microbatches after which a steady phase is expected to repeat.
const MOST_PERIOD: u32 = 4;

/// The time per microbatch of the steady phase, if there is one: in the middle third of the
/// microbatches, every pass follows the same pass `k` microbatches before at the same distance, for
/// the least such `k` up to four.
#[must_use]
pub fn steady_interval(schedule: &Schedule, timing: &Timing) -> Option<Ratio<i64>> {
    let microbatches = schedule.microbatches();
    let middle = microbatches / 3..microbatches - microbatches / 3;
    if middle.len() <= 2 * MOST_PERIOD as usize {
        return None;
    }
    // By stage, kind and place within the middle: the starts there.
    let cell = |pass: Pass| {
        let within = (pass.microbatch.0 - middle.start) as usize;
        (pass.stage.index() * Kind::COUNT + pass.kind as usize) * middle.len() + within
    };
    let mut starts: Vec<Option<Ticks>> =
        vec![None; schedule.placement().stages() as usize * Kind::COUNT * middle.len()];
    for (order, times) in schedule.orders().iter().zip(&timing.starts) {
        for (&pass, &start) in order.iter().zip(times) {
            if middle.contains(&pass.microbatch.0) {
                starts[cell(pass)] = Some(start);
            }
        }
    }
    (1..=MOST_PERIOD).find_map(|period| {
        let mut distances = starts.chunks(middle.len()).flat_map(|row| {
            row.iter()
                .zip(&row[period as usize..])
                .filter(|(before, after)| before.is_some() || after.is_some())
        });
        let distance = |(before, after): (&Option<Ticks>, &Option<Ticks>)| Some((*after)? - (*before)?);
        let first = distance(distances.next()?)?;
        distances.all(|pair| distance(pair) == Some(first)).then(|| Ratio::new(first.0, i64::from(period)))
    })
}
