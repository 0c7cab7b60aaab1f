//! Times none of which is as good as another everywhere.

use super::program::Steps;
use crate::model::Ticks;

/// The times of states with equal counts. All have the same length and lie one behind the other, so that no state has
/// an allocation of its own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Front {
    flat: Vec<Ticks>,
    /// The sum of each: one that is nowhere later has no greater sum. Sums that are too large count as the largest.
    sums: Vec<i64>,
    /// How many have been [taken](Self::take_new); they lie before the others.
    taken: usize,
}

impl Front {
    pub(super) fn one(times: &[Ticks]) -> Self {
        let mut front = Self::default();
        front.push(Summed::new(times));
        front
    }

    pub(super) fn len(&self) -> usize {
        self.sums.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.sums.is_empty()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &[Ticks]> {
        // No times without a device to be free.
        self.flat.chunks_exact(self.width().max(1))
    }

    pub(super) fn has_new(&self) -> bool {
        self.taken < self.len()
    }

    /// Those that have not been taken before.
    pub(super) fn take_new(&mut self) -> Vec<Vec<Ticks>> {
        let new = self.iter().skip(self.taken).map(<[Ticks]>::to_vec).collect();
        self.taken = self.len();
        new
    }

    /// Adds times unless others are as good everywhere, and takes out those that are no better anywhere. Each of the others counts as
    /// compared. Nothing when the steps run out.
    pub(super) fn insert(&mut self, times: &[Ticks], steps: &mut Steps) -> Option<()> {
        steps.take(times.len() + self.len())?;
        let summed = Summed::new(times);
        let (is_late, _) = self.has_as_good(summed);
        if !is_late {
            self.remove_no_better(summed);
            self.push(summed);
        }
        Some(())
    }

    /// Whether some are as good as these everywhere, and how many are compared with them.
    pub(super) fn has_as_good(&self, Summed { times, sum }: Summed<'_>) -> (bool, usize) {
        let mut compared = 0;
        let mut others = self.iter().zip(&self.sums).filter(|&(_, &other)| other <= sum);
        let has = others.any(|(other, _)| {
            compared += 1;
            is_as_good(other, times)
        });
        (has, compared)
    }

    /// Takes out those that are nowhere better than these, and returns how many are compared with them.
    pub(super) fn remove_no_better(&mut self, Summed { times, sum }: Summed<'_>) -> usize {
        let width = times.len();
        let at = |place: usize| place * width..(place + 1) * width;
        let (mut kept, mut taken, mut compared) = (0, 0, 0);
        for place in 0..self.len() {
            if self.sums[place] >= sum {
                compared += 1;
                if is_as_good(times, &self.flat[at(place)]) {
                    continue;
                }
            }
            if kept != place {
                self.sums[kept] = self.sums[place];
                self.flat.copy_within(at(place), kept * width);
            }
            kept += 1;
            taken += usize::from(place < self.taken);
        }
        self.taken = taken;
        self.sums.truncate(kept);
        self.flat.truncate(kept * width);
        compared
    }

    /// Adds times without comparing them: none here may be as good, and they may be as good as none here.
    pub(super) fn push(&mut self, Summed { times, sum }: Summed<'_>) {
        self.sums.push(sum);
        self.flat.extend_from_slice(times);
    }

    /// The same times in ascending order.
    pub(super) fn sorted(&self) -> Self {
        let mut all: Vec<(&[Ticks], i64)> = self.iter().zip(self.sums.iter().copied()).collect();
        all.sort_unstable();
        Self {
            flat: all.iter().flat_map(|(times, _)| times.iter().copied()).collect(),
            sums: all.iter().map(|&(_, sum)| sum).collect(),
            taken: 0,
        }
    }

    /// How many instants each of the times has.
    const fn width(&self) -> usize {
        match self.sums.len() {
            0 => 0,
            len => self.flat.len() / len,
        }
    }
}

fn is_as_good(one: &[Ticks], other: &[Ticks]) -> bool {
    one.iter().zip(other).all(|(a, b)| a <= b)
}

/// Times that are compared with many.
#[derive(Clone, Copy)]
pub(super) struct Summed<'a> {
    times: &'a [Ticks],
    /// Each addition that stops at the largest number grows with both of its terms, and so does the sum with each of the times.
    sum: i64,
}

impl<'a> Summed<'a> {
    pub(super) fn new(times: &'a [Ticks]) -> Self {
        Self { times, sum: times.iter().fold(0, |sum, time| sum.saturating_add(time.0)) }
    }
}
