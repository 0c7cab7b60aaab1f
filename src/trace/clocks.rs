//! Clocks of several recordings, brought to one: from what messages say, or as told.
//!
//! A pass cannot start before what it needs was sent. With an offset `o_r` to be added to every time of rank r,
//! each such pair of passes on ranks a and b says `end + o_a <= start + o_b`, a bound on a difference. All
//! of them together have a solution if no cycle of bounds is negative; shortest paths give, for every rank, the
//! interval of the offsets that are possible against rank 0, and two solutions, one at all the lower ends and
//! one at all the upper. What lies in the middle of those two, rounded down, is again a solution.

use std::collections::BTreeMap;

use serde::Serialize;

use super::recording::{Recording, TimeSource};
use crate::model::{Device, Pass, Ticks};
use crate::schedule::{Schedule, prerequisites};

/// The offsets of all clocks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Clocks {
    /// How the offsets were found.
    pub method: ClockMethod,
    /// By rank.
    pub ranks: Vec<Clock>,
    /// What messages say against all offsets, those that were given too; then no clock has an interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contradiction: Option<Contradiction>,
}

/// Messages that no offsets explain: a cycle of ranks round which each pass starts, all in all, before what it
/// needs was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Contradiction {
    /// A rank on the cycle.
    pub rank: Device,
    /// By how many nanoseconds, in all of the cycle.
    pub by: i128,
}

impl Contradiction {
    /// What it amounts to, with a word for times, which are in nanoseconds.
    #[must_use]
    pub fn in_words(&self, time: impl Fn(i128) -> String) -> String {
        format!(
            "no clock offsets make every message arrive after it is sent: in a cycle through rank {} they contradict each \
             other by {}",
            self.rank,
            time(self.by)
        )
    }
}

/// How offsets were found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ClockMethod {
    /// Nothing contradicts that the clocks agree: no offsets.
    Agree,
    /// They were given.
    Given,
    /// In the middle of what messages allow.
    Estimated,
}

/// The clock of a rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Clock {
    /// What is added to its times, in nanoseconds.
    pub offset: i64,
    /// The least that messages allow, against an offset of 0 for rank 0; nothing where they set no limit.
    pub least: Option<i64>,
    /// The most that messages allow.
    pub most: Option<i64>,
}

/// Which offsets to take.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum OffsetChoice {
    /// None if messages allow that, else what they say.
    #[default]
    Auto,
    /// What messages say.
    Estimate,
    /// These, by rank, in nanoseconds.
    Given(Vec<i64>),
}

/// Why clocks cannot be brought together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ClockError {
    /// Not one offset for each rank.
    #[error("there are {offsets} offsets, but {ranks} ranks")]
    Count {
        /// How many offsets.
        offsets: usize,
        /// How many ranks.
        ranks: usize,
    },
    /// Messages that no offsets explain.
    #[error("{}", .0.in_words(|nanoseconds| format!("{nanoseconds} ns")))]
    Contradiction(Contradiction),
    /// A rank of which messages do not say enough.
    #[error("no messages go both ways between rank 0 and rank {0}, so its clock cannot be estimated")]
    Unconnected(Device),
    /// Offsets beyond all reason.
    #[error("the clocks are further apart than can be counted")]
    TooFar,
}

/// Finds the offsets of recordings, one for each rank in order, of runs of a schedule.
///
/// # Errors
/// When offsets are missing, or messages contradict each other or say too little.
pub fn reconcile(
    recordings: &[Recording],
    schedule: &Schedule,
    choice: &OffsetChoice,
) -> Result<Clocks, ClockError> {
    let ranks = recordings.len();
    let bounds = bounds(recordings, schedule);
    let paths = shortest(&bounds);
    let of = |method, offsets: Vec<i64>| {
        let exact = |value: i128| i64::try_from(value).map_err(|_| ClockError::TooFar);
        let clock = |(rank, offset)| -> Result<Clock, ClockError> {
            let between = |from: usize, to: usize| paths.as_ref().ok().and_then(|paths| paths[from][to]);
            let least = between(rank, 0).map(|most| exact(-most)).transpose()?;
            Ok(Clock { offset, least, most: between(0, rank).map(exact).transpose()? })
        };
        let clocks = offsets.into_iter().enumerate().map(clock).collect::<Result<_, _>>()?;
        Ok(Clocks { method, ranks: clocks, contradiction: paths.as_ref().err().copied() })
    };
    match choice {
        OffsetChoice::Given(offsets) if offsets.len() == ranks => of(ClockMethod::Given, offsets.clone()),
        OffsetChoice::Given(offsets) => Err(ClockError::Count { offsets: offsets.len(), ranks }),
        OffsetChoice::Auto if bounds.iter().flatten().flatten().all(|&bound| bound >= 0) => {
            of(ClockMethod::Agree, vec![0; ranks])
        }
        OffsetChoice::Auto | OffsetChoice::Estimate => {
            let paths = paths.as_ref().map_err(|&found| ClockError::Contradiction(found))?;
            let middle = |rank: usize| -> Result<i64, ClockError> {
                let (most, least) = paths[0][rank]
                    .zip(paths[rank][0].map(|most| -most))
                    .ok_or(ClockError::Unconnected(Device::at(rank)))?;
                i64::try_from((most + least).div_euclid(2)).map_err(|_| ClockError::TooFar)
            };
            of(ClockMethod::Estimated, (0..ranks).map(middle).collect::<Result<_, _>>()?)
        }
    }
}

/// From rank b to rank a: the most that the offset of a may be above that of b.
type Bounds = Vec<Vec<Option<i128>>>;

fn bounds(recordings: &[Recording], schedule: &Schedule) -> Bounds {
    let ranks = recordings.len();
    let mut bounds: Bounds = vec![vec![None; ranks]; ranks];
    // By pass: its rank, and when it ran each time.
    let mut ran: BTreeMap<Pass, (usize, Vec<(Ticks, Ticks)>)> = BTreeMap::new();
    for (rank, recording) in recordings.iter().enumerate() {
        for span in recording.spans() {
            let entry = ran.entry(span.pass).or_insert_with(|| (rank, Vec::new()));
            if entry.0 == rank {
                entry.1.push((span.start, span.end));
            }
        }
    }
    for (&pass, (at, times)) in &ran {
        let needed = prerequisites(pass, schedule.placement(), |other| ran.contains_key(&other));
        for needed in needed.filter(|needed| needed.stage != pass.stage) {
            let Some((from, sent)) = ran.get(&needed).filter(|(from, _)| from != at) else { continue };
            for (there, (_, sent)) in times.iter().zip(sent) {
                // Where a pass begins with the wait for its input, only its end is later than that.
                let there = if recordings[*at].timing == TimeSource::HostRanges { there.1 } else { there.0 };
                let slack = i128::from(there.0) - i128::from(sent.0);
                let bound = &mut bounds[*at][*from];
                *bound = Some(bound.map_or(slack, |bound| bound.min(slack)));
            }
        }
    }
    bounds
}

/// The shortest path between any two ranks, or a cycle whose length is negative.
///
/// As long as there is none, shortest paths are simple, so that their lengths fit: each bound is a difference of two
/// numbers of 64 bits. With one, lengths would double with every rank that paths may lead through; therefore cycles
/// are looked for after each. A round through two simple paths may not be simple itself, but then it is made of
/// two rounds, one of which is no longer than it: the shortest is the length of a simple cycle.
fn shortest(bounds: &Bounds) -> Result<Bounds, Contradiction> {
    let mut paths = bounds.clone();
    for (rank, row) in paths.iter_mut().enumerate() {
        row[rank] = Some(0);
    }
    for through in 0..paths.len() {
        for from in 0..paths.len() {
            for to in 0..paths.len() {
                let Some((first, second)) = paths[from][through].zip(paths[through][to]) else { continue };
                let length = first + second;
                if paths[from][to].is_none_or(|known| length < known) {
                    paths[from][to] = Some(length);
                }
            }
        }
        let rounds = paths.iter().enumerate().filter_map(|(rank, row)| Some((row[rank]?, rank)));
        if let Some((round, rank)) = rounds.min().filter(|&(round, _)| round < 0) {
            return Err(Contradiction { rank: Device::at(rank), by: -round });
        }
    }
    Ok(paths)
}
