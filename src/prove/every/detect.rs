//! Warm-up, steady phase and cool-down of a schedule of which nothing but the orders is known.

use std::fmt;

use itertools::Itertools as _;

use super::cut::{Places, closed};
use super::growing::{Growing, NotRepeatable, Tail};
use super::recurring::Recurring as _;
use super::survey::Survey;
use super::{EveryError, EveryM, UnknownReason, uncounted};
use crate::model::{Device, Kind, Microbatch, Model, Pass, Stage, StepEnd};
use crate::schedule::Schedule;
use crate::stop::Stop;

/// The longest period that is looked for, in microbatches.
pub const MOST_PERIOD: u32 = 256;

/// A stretch of a device's order in which every pass that has room behind it comes again after so many
/// microbatches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// The device.
    pub device: Device,
    /// Its first position.
    pub begin: usize,
    /// The position behind its last.
    pub end: usize,
    /// After how many passes each comes again.
    pub length: usize,
}

impl fmt::Display for Run {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { device, begin, end, .. } = self;
        write!(out, "device {device} repeats from position {begin} to {}", end - 1)
    }
}

/// Proves a schedule and its extensions by ever more repetitions of its steady phase: those of `m, m +
/// K, m + 2K, ...` microbatches, where the steady phase repeats after K. The time is looked at between replays.
///
/// # Errors
/// When the model overflows with the microbatches that have to be looked at, or replay contradicts the
/// theorem.
pub fn every_m_of_schedule(schedule: &Schedule, model: &Model, stop: &Stop) -> Result<EveryM, EveryError> {
    let microbatches = schedule.microbatches();
    let alone = Box::new(|_| Ok(schedule.clone()));
    let mut survey = Survey::new(model, (microbatches, 1), alone, stop);
    if let Some(end) = survey.reach(microbatches)? {
        return Ok(end);
    }
    if schedule.placement().directions() > 1 {
        return Ok(EveryM::Unknown(UnknownReason::TwoDirections));
    }
    if schedule.overlap_count() > 0 {
        return Ok(EveryM::Unknown(UnknownReason::Overlapped));
    }
    if schedule.offload_count() > 0 {
        return Ok(EveryM::Unknown(UnknownReason::Offloaded));
    }
    if model.has_busy_links() {
        return Ok(EveryM::Unknown(UnknownReason::Messages));
    }
    if model.step().is_some_and(StepEnd::takes_time) {
        return Ok(EveryM::Unknown(UnknownReason::EndOfStep));
    }
    if let Some(beyond) = uncounted(model) {
        return Ok(EveryM::Unknown(UnknownReason::Memory(beyond)));
    }
    let growing = match growing(schedule, stop) {
        Ok(growing) => growing,
        Err(reason) => return Ok(EveryM::Unknown(reason)),
    };
    let period = growing.period();
    let extended = |number: u32| Ok(growing.schedule(0, (number - growing.microbatches()) / period)?);
    // The schedule itself has the two repetitions that were demanded.
    if extended(microbatches)?.orders() != schedule.orders() {
        return Err(EveryError::NotTheExtension(microbatches));
    }
    survey.go_on(period, Box::new(extended)).conclude(&growing)
}

/// How often a repetition must come in a row: once is any piece of any order.
const REPETITIONS: u32 = 2;

/// The parts of a valid schedule, by the shortest period that all devices have.
///
/// A period does not count if its stretch also has a shorter one, by which another stretch repeats: if a
/// steady phase is broken, the longer of its parts must not pass for the whole.
fn growing(schedule: &Schedule, stop: &Stop) -> Result<Growing, UnknownReason> {
    let devices = schedule.devices();
    if schedule.microbatches() == 1 {
        return Err(UnknownReason::OneMicrobatch);
    }
    let most = (schedule.microbatches() / REPETITIONS).min(MOST_PERIOD);
    let mut shorter: Vec<Vec<Vec<Run>>> = Vec::new();
    let places = Places::of(schedule);
    // The reason why the period that explains most of the orders will not do.
    let mut reason: Option<(usize, UnknownReason)> = None;
    for period in 1..=most {
        if stop.is_due() {
            return Err(UnknownReason::of(stop));
        }
        let runs: Vec<Vec<Run>> =
            Device::all(devices).map(|device| runs(schedule, &places, device, period)).collect();
        let whole = |device: Device| match runs[device.index()][..] {
            [run] => {
                let dividing =
                    (1..period).zip(&shorter).filter(|(shorter, _)| period.is_multiple_of(*shorter));
                !dividing.into_iter().any(|(_, runs)| is_part(run, &runs[device.index()]))
            }
            _ => false,
        };
        let why = if Device::all(devices).all(whole) {
            let runs: Vec<Run> = runs.iter().flatten().copied().collect();
            match extend(schedule, &runs, period) {
                Ok(growing) => return Ok(growing),
                Err(why) => Some(why),
            }
        } else {
            let mut twice = runs.iter().flat_map(|runs| runs.iter().tuple_windows());
            twice.find_map(|(&first, &again)| broken(schedule, first, again, period))
        };
        let explained: usize = runs.iter().flatten().map(|run| run.end - run.begin).sum();
        if let Some(why) = why
            && reason.as_ref().is_none_or(|(most, _)| explained > *most)
        {
            reason = Some((explained, why));
        }
        shorter.push(runs);
    }
    let is_silent = |device: &Device| shorter.iter().all(|runs| runs[device.index()].is_empty());
    let silent = Device::all(devices).find(is_silent);
    Err(match (reason, silent) {
        (Some((_, reason)), _) => reason,
        (None, Some(device)) => UnknownReason::NoRepetition { device, most },
        (None, None) => UnknownReason::NoCommonPeriod { most },
    })
}

/// Whether a stretch is the whole of one among these, or less, and there is another one elsewhere.
fn is_part(run: Run, runs: &[Run]) -> bool {
    let within = runs.iter().any(|other| other.begin <= run.begin && run.end <= other.end);
    within && runs.iter().any(|other| other.end <= run.begin || run.end <= other.begin)
}

/// The longest stretches of a device with at least two repetitions.
fn runs(schedule: &Schedule, places: &Places, device: Device, period: u32) -> Vec<Run> {
    let order = schedule.order(device);
    // How far behind a position its pass comes again.
    let distance = |at: usize| -> Option<usize> {
        let again = order.get(at)?.later(period);
        (again.microbatch.0 < schedule.microbatches()).then(|| places.find(again)?.checked_sub(at)).flatten()
    };
    let mut runs = Vec::new();
    let mut begin = 0;
    for end in 1..=order.len() {
        let length = distance(begin);
        // Behind the last position nothing comes again.
        if distance(end) == length {
            continue;
        }
        if let Some(length) = length
            && end - begin >= length * (REPETITIONS as usize - 1)
            && is_whole(schedule, &order[begin..begin + length], device, period)
        {
            runs.push(Run { device, begin, end: end + length, length });
        }
        begin = end;
    }
    runs
}

/// Whether passes are F, I and W, or F and B, of so many microbatches for every stage of a device: in a
/// warm-up that has no W yet, less may come again.
fn is_whole(schedule: &Schedule, passes: &[Pass], device: Device, period: u32) -> bool {
    let stages = schedule.placement().stages_of(device);
    let number = |stage: Stage, kind: Kind| {
        passes.iter().filter(|pass| pass.stage == stage && pass.kind == kind).count()
    };
    stages.iter().all(|&stage| {
        let [forwards, inputs, weights, fused] =
            [Kind::F, Kind::I, Kind::W, Kind::B].map(|kind| number(stage, kind));
        forwards == period as usize && inputs + fused == forwards && weights == inputs
    })
}

/// Where a stretch ends before another one, unless it goes on to the end of the order.
fn broken(schedule: &Schedule, first: Run, again: Run, period: u32) -> Option<UnknownReason> {
    let (order, at) = (schedule.order(first.device), first.end);
    let stands = *order.get(at)?;
    let expected = order[at - first.length].later(period);
    Some(UnknownReason::Broken { first, again, at, stands, expected })
}

/// The schedule cut within its runs such that two repetitions follow on every device.
fn extend(schedule: &Schedule, runs: &[Run], period: u32) -> Result<Growing, UnknownReason> {
    let cut = closed(schedule, runs.iter().map(|run| run.begin).collect());
    let two = |run: &Run| run.length * REPETITIONS as usize;
    for (run, &begin) in runs.iter().zip(&cut) {
        let needed = begin + two(run);
        if needed > run.end {
            return Err(UnknownReason::TooFew { run: *run, needed });
        }
    }
    let less = period * REPETITIONS;
    let (mut heads, mut bodies, mut tails) = (Vec::new(), Vec::new(), Vec::new());
    for (run, &begin) in runs.iter().zip(&cut) {
        let order = schedule.order(run.device);
        heads.push(order[..begin].to_vec());
        bodies.push(order[begin..begin + run.length].to_vec());
        let tail = order[begin + two(run)..].iter().map(|&pass| {
            let microbatch = pass.microbatch.0.checked_sub(less).map(Microbatch);
            let stray = NotRepeatable::Unlike { device: run.device, pass, part: "cool-down" };
            microbatch.map(|microbatch| Pass { microbatch, ..pass }).ok_or(stray)
        });
        tails.push(tail.collect::<Result<Vec<Pass>, NotRepeatable>>()?);
    }
    let tails = vec![Tail { microbatches: schedule.microbatches() - less, orders: tails }];
    Ok(Growing::new(schedule.placement().clone(), period, heads, bodies, tails)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model;

    #[test]
    fn a_stretch_is_part_of_one_where_another_is_elsewhere() {
        let run = |begin, end| Run { device: Device(0), begin, end, length: 2 };
        let whole = run(4, 10);
        for (runs, is_it) in [
            (vec![run(4, 10)], false),
            (vec![run(4, 10), run(10, 14)], true),
            (vec![run(0, 4), run(4, 10)], true),
            (vec![run(0, 3), run(3, 12)], true),
            // Elsewhere is not where both overlap.
            (vec![run(4, 10), run(9, 14)], false),
            (vec![run(0, 5), run(4, 10)], false),
            // Part of none.
            (vec![run(4, 9), run(10, 14)], false),
            (vec![run(5, 10), run(0, 4)], false),
            (vec![run(0, 4), run(10, 14)], false),
        ] {
            assert_eq!(is_part(whole, &runs), is_it, "{runs:?}");
        }
    }

    #[test]
    fn memory_beyond_what_f_keeps_is_left_undecided() {
        let text = "[pipeline]\ndevices = 1\nplacement = \"linear\"\nmicrobatches = 4\n\
             [time]\nforward = 1\nbackward_input = 1\nbackward_weight = 1\n";
        let plain = format!("name = \"plain\"\n{text}");
        let more = format!("{plain}[memory]\nworkspace = {{ forward = 1 }}\n");
        let order = |at: u32| [Kind::F, Kind::B].map(|kind| Pass::new(Stage(0), kind, Microbatch(at)));
        let orders = vec![(0..4).flat_map(order).collect()];
        let [plain, more] = [plain, more].map(|text| model::parse(&text).expect("a model"));
        let schedule = Schedule::new(plain.placement().clone(), 4, orders).expect("a schedule");
        let found = |model| every_m_of_schedule(&schedule, model, &Stop::default()).expect("no overflow");
        assert!(matches!(found(&plain), EveryM::Proved(_)));
        assert!(matches!(found(&more), EveryM::Unknown(UnknownReason::Memory(_))));
    }
}
