//! What a schedule recomputes.

use std::fmt;

use itertools::Itertools as _;

use crate::model::{Kind, Stage};
use crate::schedule::Schedule;

/// What a schedule recomputes: of which stages the forward, and for how many microbatches.
///
/// ```
/// use bubbleproof::analysis::Recomputation;
/// use bubbleproof::model::Placement;
/// use bubbleproof::schedule::Schedule;
///
/// let order = |text: &str| text.split(' ').map(str::parse).collect::<Result<Vec<_>, _>>();
/// let orders = vec![order("0F0 0F1 0R0 0B0 0B1")?, order("1F0 1B0 1F1 1B1")?];
/// let recomputed = Recomputation::of(&Schedule::new(Placement::linear(2)?, 2, orders)?);
/// assert_eq!(recomputed.to_string(), "stage 0 for 1 of 2 microbatches, 1 pass");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recomputation {
    /// The stages that are recomputed, ascending, each with the number of microbatches for which it is.
    pub stages: Vec<(Stage, u32)>,
    /// The number of microbatches of the schedule.
    pub microbatches: u32,
    /// How many passes recompute at each level other than the first, ascending.
    pub at_levels: Vec<(u32, usize)>,
}

impl Recomputation {
    /// What a schedule recomputes.
    #[must_use]
    pub fn of(schedule: &Schedule) -> Self {
        let passes = schedule.orders().iter().flatten().filter(|pass| pass.kind == Kind::R);
        let counts = passes.counts_by(|pass| pass.stage).into_iter().sorted();
        let count = |passes: usize| u32::try_from(passes).unwrap_or(u32::MAX);
        Self {
            stages: counts.map(|(stage, passes)| (stage, count(passes))).collect(),
            microbatches: schedule.microbatches(),
            at_levels: schedule.levels().values().copied().counts().into_iter().sorted().collect(),
        }
    }

    /// Whether nothing is recomputed.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.stages.is_empty()
    }

    /// How many passes recompute.
    #[must_use]
    pub fn passes(&self) -> u64 {
        self.stages.iter().map(|&(_, microbatches)| u64::from(microbatches)).sum()
    }
}

/// For example `stages 0 to 2 for all microbatches, stage 3 for 5 of 16 microbatches, 53 passes`.
impl fmt::Display for Recomputation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (count, stages) in &self.stages.iter().chunk_by(|(_, microbatches)| *microbatches) {
            out.write_str(&in_words(stages.map(|&(stage, _)| stage)))?;
            if count == self.microbatches {
                out.write_str(" for all microbatches, ")?;
            } else {
                write!(out, " for {count} of {} microbatches, ", self.microbatches)?;
            }
        }
        match self.passes() {
            1 => out.write_str("1 pass")?,
            passes => write!(out, "{passes} passes")?,
        }
        if self.at_levels.is_empty() {
            return Ok(());
        }
        let at_level = |(level, passes): &(u32, usize)| format!("{passes} at level {level}");
        write!(out, ", of which {}", self.at_levels.iter().map(at_level).join(", "))?;
        let named: usize = self.at_levels.iter().map(|&(_, passes)| passes).sum();
        if named as u64 == self.passes() {
            return Ok(());
        }
        out.write_str(", the others at level 0")
    }
}

/// Ascending stages in words, those that follow each other as a range.
fn in_words(stages: impl Iterator<Item = Stage>) -> String {
    let mut runs: Vec<(Stage, Stage)> = Vec::new();
    for stage in stages {
        match runs.last_mut() {
            Some((_, last)) if last.0 + 1 == stage.0 => *last = stage,
            _ => runs.push((stage, stage)),
        }
    }
    let noun = if let [(first, last)] = runs[..]
        && first == last
    {
        "stage"
    } else {
        "stages"
    };
    let run = |&(first, last): &(Stage, Stage)| match last.0 - first.0 {
        0 => first.to_string(),
        1 => format!("{first} and {last}"),
        _ => format!("{first} to {last}"),
    };
    format!("{noun} {}", runs.iter().map(run).join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Placement;

    #[test]
    fn stages_and_counts_are_said_in_words() {
        let of = |stages: &[(u32, u32)]| {
            let stages = stages.iter().map(|&(stage, count)| (Stage(stage), count)).collect();
            Recomputation { stages, microbatches: 16, at_levels: Vec::new() }
        };
        let mixed = Recomputation { at_levels: vec![(1, 5), (2, 1)], ..of(&[(0, 16)]) };
        let words = "stage 0 for all microbatches, 16 passes, of which 5 at level 1, 1 at level 2, the others at level 0";
        assert_eq!(mixed.to_string(), words);
        let all = Recomputation { at_levels: vec![(1, 9), (2, 7)], ..of(&[(0, 16)]) };
        let words = "stage 0 for all microbatches, 16 passes, of which 9 at level 1, 7 at level 2";
        assert_eq!(all.to_string(), words);
        for (stages, words) in [
            (&[(0, 16), (1, 16), (2, 16)][..], "stages 0 to 2 for all microbatches, 48 passes"),
            (&[(0, 16), (2, 16), (3, 16)], "stages 0, 2 and 3 for all microbatches, 48 passes"),
            (&[(0, 16), (1, 3)], "stage 0 for all microbatches, stage 1 for 3 of 16 microbatches, 19 passes"),
            (&[(4, 1)], "stage 4 for 1 of 16 microbatches, 1 pass"),
        ] {
            assert_eq!(of(stages).to_string(), words);
        }
    }

    #[test]
    fn a_schedule_without_r_recomputes_nothing() {
        let placement = Placement::linear(1).expect("a placement");
        let order = ["0F0", "0B0"].map(|pass| pass.parse().expect("a pass")).to_vec();
        let schedule = Schedule::new(placement, 1, vec![order]).expect("a schedule");
        let recomputed = Recomputation::of(&schedule);
        assert!(recomputed.is_empty());
        assert_eq!(recomputed.passes(), 0);
    }
}
