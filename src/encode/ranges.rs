//! Ranges of the integers `k`, by propagation: what must hold in any feasible block of normal form.
//!
//! **Normal form.** If a link of the chain of all Fs and Is has a slack of T or more, everything
//! behind it can start T earlier: no residue changes, no lifespan grows, and so no device holds more.
//! The same for W after its I. So a slack below T is no loss of generality, and with it every
//! difference of offsets is bounded. (With several microbatches per interval the copies of a pass may
//! then have to be sorted again, first in, first out; that keeps the sum of all offsets, and the step
//! before lowered it, so it comes to an end.)
//!
//! **Area.** Averaged over an interval a device holds `sum units * span / T`, which is at most its
//! limit; and every lifespan is at least its critical path. So no lifespan exceeds what the others
//! leave of `T * limit`.

use num_integer::Integer;
use num_rational::Ratio;

use super::{BlockProblem, EncodeError};
use crate::model::Device;

/// The intervals for which ranges are wanted: all from the least to the most. Differences of
/// offsets are counted in such parts of T that every bound is an integer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Scale {
    /// T, in parts.
    pub interval: i128,
    /// The least and the most parts in a tick.
    parts: (i128, i128),
}

impl Scale {
    /// Largest number of parts that is safe to multiply by copies, stages and units.
    const MAX: i128 = 1 << 90;

    /// A single interval, in ticks.
    pub fn at(problem: &BlockProblem, interval: Ratio<i128>) -> Result<Self, EncodeError> {
        let parts = *interval.denom();
        Self { interval: *interval.numer(), parts: (parts, parts) }.checked(problem)
    }

    /// Every interval from `least` to `most`.
    #[cfg(feature = "milp")]
    pub fn between(
        problem: &BlockProblem,
        least: Ratio<i128>,
        most: Ratio<i128>,
    ) -> Result<Self, EncodeError> {
        let product = |factors: [i128; 2]| factors[0].checked_mul(factors[1]).ok_or(EncodeError::Overflow);
        let (a, b, c, d) = (*least.numer(), *least.denom(), *most.numer(), *most.denom());
        let parts = (product([a, d])?, product([b, c])?);
        Self { interval: product([a, c])?, parts }.checked(problem)
    }

    fn checked(self, problem: &BlockProblem) -> Result<Self, EncodeError> {
        let longest = self.parts.1.checked_mul(i128::from(problem.serial()));
        let fits = |parts: Option<i128>| parts.is_some_and(|parts| parts < Self::MAX);
        if fits(longest) && fits(Some(self.interval)) { Ok(self) } else { Err(EncodeError::Overflow) }
    }

    /// The least number of parts in this many ticks.
    pub fn least(self, ticks: i64) -> i128 {
        self.parts.0 * i128::from(ticks)
    }

    /// The largest number of parts in this many ticks.
    pub fn most(self, ticks: i64) -> i128 {
        self.parts.1 * i128::from(ticks)
    }
}

/// What is known of every feasible block in normal form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ranges {
    /// The least and the most of each `k`, by pair.
    pub shifts: Vec<(i64, i64)>,
    /// The least and the most offset of each pass from the first one's, in parts.
    pub offsets: Vec<(i128, i128)>,
    /// The least length from the first start to the last end, in parts.
    pub length: i128,
}

impl Ranges {
    /// How often bounds of offsets and of shifts are derived from each other.
    const ROUNDS: usize = 8;

    /// The ranges under a limit per device, or nothing when no block is feasible.
    pub fn of(problem: &BlockProblem, scale: Scale, limits: &[Option<i64>]) -> Option<Self> {
        let mut bounds = Bounds::new(problem, scale);
        let any = (i64::MIN, i64::MAX);
        let turns = problem.pairs().iter().map(|&(a, b)| if problem.in_turn(a, b) { (0, 0) } else { any });
        let mut shifts: Vec<(i64, i64)> = turns.collect();
        bounds.close()?;
        for _ in 0..Self::ROUNDS {
            let before = shifts.clone();
            bounds.limit_lifespans(problem, scale, limits)?;
            bounds.narrow(problem, scale, &mut shifts)?;
            limit_copies(problem, limits, &mut shifts)?;
            bounds.widen(problem, scale, &shifts);
            bounds.close()?;
            if shifts == before {
                break;
            }
        }
        let ends = problem.durations().iter().enumerate();
        let length = ends.map(|(pass, &ticks)| scale.least(ticks) - bounds.most(pass, 0)).max()?;
        let offsets =
            (0..problem.passes().len()).map(|pass| (-bounds.most(pass, 0), bounds.most(0, pass))).collect();
        Some(Self { shifts, offsets, length })
    }
}

/// Upper bounds on the differences of all offsets, in parts.
struct Bounds {
    passes: usize,
    most: Vec<i128>,
}

impl Bounds {
    /// No bound; small enough that two of them can be added.
    const NONE: i128 = i128::MAX / 4;

    fn new(problem: &BlockProblem, scale: Scale) -> Self {
        let passes = problem.passes().len();
        let mut bounds = Self { passes, most: vec![Self::NONE; passes * passes] };
        for pass in 0..passes {
            bounds.at_most(pass, pass, 0);
        }
        for link in problem.links() {
            bounds.at_most(link.after, link.before, -scale.least(link.lag));
        }
        for link in problem.chain() {
            bounds.at_most(link.before, link.after, scale.most(link.lag) + scale.interval);
        }
        for link in problem.weight_links() {
            let last = scale.interval - scale.least(problem.durations()[link.after]);
            bounds.at_most(link.before, link.after, last);
        }
        for &(a, b) in problem.pairs().iter().filter(|&&(a, b)| problem.in_turn(a, b)) {
            let ticks = scale.least(problem.durations()[a]);
            bounds.at_most(b, a, -ticks);
            bounds.at_most(a, b, scale.interval - ticks);
        }
        bounds
    }

    /// The bound on `o_b - o_a`.
    fn most(&self, a: usize, b: usize) -> i128 {
        self.most[a * self.passes + b]
    }

    /// Adds the bound `o_b - o_a <= parts`.
    fn at_most(&mut self, a: usize, b: usize, parts: i128) {
        let bound = &mut self.most[a * self.passes + b];
        *bound = parts.min(*bound);
    }

    /// Derives every bound that follows (Floyd and Warshall); nothing when they contradict each other.
    fn close(&mut self) -> Option<()> {
        for via in 0..self.passes {
            let tail: Vec<i128> = self.most[via * self.passes..(via + 1) * self.passes].to_vec();
            // A contradiction would grow from pass to pass without end.
            if self.most(via, via) < 0 {
                return None;
            }
            for row in self.most.chunks_exact_mut(self.passes) {
                let head = row[via];
                if head < Self::NONE {
                    for (bound, rest) in row.iter_mut().zip(&tail) {
                        *bound = head.saturating_add(*rest).min(*bound);
                    }
                }
            }
        }
        (0..self.passes).all(|pass| self.most(pass, pass) >= 0).then_some(())
    }

    /// What limits of memory leave for each lifespan: by area, and by its own copies.
    fn limit_lifespans(
        &mut self,
        problem: &BlockProblem,
        scale: Scale,
        limits: &[Option<i64>],
    ) -> Option<()> {
        for (holds, limit) in problem.holds().iter().zip(limits) {
            let Some(limit) = limit.map(i128::from) else { continue };
            let least: Vec<i128> = holds
                .iter()
                .map(|hold| scale.least(problem.durations()[hold.until]) - self.most(hold.until, hold.from))
                .collect();
            let area = |units: i64, span: i128| i128::from(units).checked_mul(span);
            let total = holds
                .iter()
                .zip(&least)
                .try_fold(0_i128, |sum, (hold, &span)| sum.checked_add(area(hold.units, span)?));
            // Areas too large to be multiplied bound nothing here; the engines still see the limit.
            let (Some(total), Some(most)) = (total, scale.interval.checked_mul(limit)) else { continue };
            if total > most {
                return None;
            }
            for (hold, &span) in holds.iter().zip(&least) {
                let units = i128::from(hold.units);
                let by_area = (most - (total - units * span)) / units;
                let by_copies = (limit / units) * scale.interval;
                let end = scale.least(problem.durations()[hold.until]);
                self.at_most(hold.from, hold.until, by_area.min(by_copies) - end);
            }
        }
        Some(())
    }

    /// The shifts that the differences allow.
    fn narrow(&self, problem: &BlockProblem, scale: Scale, shifts: &mut [(i64, i64)]) -> Option<()> {
        for (&(a, b), range) in problem.pairs().iter().zip(shifts) {
            let durations = problem.durations();
            let (first, second) = (scale.least(durations[a]), scale.least(durations[b]));
            // t_a - T*k <= o_b - o_a <= T - t_b - T*k
            let least = Integer::div_ceil(&(first - self.most(a, b)), &scale.interval);
            let most = Integer::div_floor(&(scale.interval - second + self.most(b, a)), &scale.interval);
            *range = (range.0.max(i64::try_from(least).ok()?), range.1.min(i64::try_from(most).ok()?));
            if range.0 > range.1 {
                return None;
            }
        }
        Some(())
    }

    /// The differences that the shifts allow.
    fn widen(&mut self, problem: &BlockProblem, scale: Scale, shifts: &[(i64, i64)]) {
        for (&(a, b), &(least, most)) in problem.pairs().iter().zip(shifts) {
            let durations = problem.durations();
            let turns = |k: i64| i128::from(k) * scale.interval;
            self.at_most(a, b, scale.interval - scale.least(durations[b]) - turns(least));
            self.at_most(b, a, turns(most) - scale.least(durations[a]));
        }
    }
}

/// Narrows the shifts of each device to what its limit allows, term by term.
fn limit_copies(problem: &BlockProblem, limits: &[Option<i64>], shifts: &mut [(i64, i64)]) -> Option<()> {
    for (position, limit) in limits.iter().enumerate() {
        let Some(limit) = limit.map(i128::from) else { continue };
        for live in problem.live(Device::at(position)) {
            let least = |&(pair, coefficient): &(usize, i128)| {
                let (low, high): (i64, i64) = shifts[pair];
                coefficient * i128::from(if coefficient > 0 { low } else { high })
            };
            let room = limit - live.constant - live.terms.iter().map(least).sum::<i128>();
            if room < 0 {
                return None;
            }
            for &(pair, coefficient) in live.terms.iter().filter(|(_, coefficient)| *coefficient != 0) {
                let steps = i64::try_from(room / coefficient.abs()).unwrap_or(i64::MAX);
                let (low, high) = shifts[pair];
                shifts[pair] = if coefficient > 0 {
                    (low, high.min(low.saturating_add(steps)))
                } else {
                    (low.max(high.saturating_sub(steps)), high)
                };
            }
        }
    }
    Some(())
}

/// The capacities, none above a limit.
pub(super) fn limits(problem: &BlockProblem, limit: Option<i64>) -> Vec<Option<i64>> {
    problem.capacities().iter().map(|capacity| capacity.iter().copied().chain(limit).min()).collect()
}

/// A limit on the peak of all devices, in units, that propagation refutes, while it does not refute
/// one quantum more. The capacities themselves must not be refuted.
pub(super) fn refuted_limit(problem: &BlockProblem, scale: Scale) -> Result<i64, EncodeError> {
    let quantum = problem.quantum();
    let allowed = |count: i64| {
        let limit = count.checked_mul(quantum).ok_or(EncodeError::Overflow)?;
        Ok::<_, EncodeError>(Ranges::of(problem, scale, &limits(problem, Some(limit))).is_some())
    };
    let (mut refuted, mut count) = (0, 1_i64);
    while !allowed(count)? {
        (refuted, count) = (count, count.checked_mul(2).ok_or(EncodeError::Overflow)?);
    }
    while refuted + 1 < count {
        let middle = refuted + (count - refuted) / 2;
        if allowed(middle)? {
            count = middle;
        } else {
            refuted = middle;
        }
    }
    Ok(refuted * quantum)
}

/// A whole number of ticks, at least the most work, below which propagation refutes every interval:
/// a block that exists for an interval exists for every longer one.
#[cfg(feature = "milp")]
pub(super) fn refuted_interval(problem: &BlockProblem) -> Result<i64, EncodeError> {
    let allowed = |ticks: i64| {
        let scale = Scale::at(problem, Ratio::from_integer(i128::from(ticks)))?;
        Ok::<_, EncodeError>(Ranges::of(problem, scale, problem.capacities()).is_some())
    };
    let (mut refuted, mut ticks) = (problem.most_work() - 1, problem.serial());
    while refuted + 1 < ticks {
        let middle = refuted + (ticks - refuted) / 2;
        if allowed(middle)? {
            ticks = middle;
        } else {
            refuted = middle;
        }
    }
    Ok(refuted.max(problem.most_work()))
}

/// An interval below which lies every least interval of a block that is shorter than `interval`.
///
/// A least interval is a ratio `w/h` of a cycle, where w is at most the sum of all durations and
/// latencies and `w/h` at least the most work, so h is at most their quotient. Two different
/// fractions lie at least one over the product of their denominators apart.
pub(super) fn next_below(problem: &BlockProblem, interval: Ratio<i128>) -> Result<Ratio<i128>, EncodeError> {
    let mut waits: Vec<i64> = problem.durations().to_vec();
    for link in problem.links() {
        waits[link.before] = waits[link.before].max(link.lag);
    }
    let weight: i128 = waits.into_iter().map(i128::from).sum();
    let denominator = weight / i128::from(problem.most_work());
    let apart = interval.denom().checked_mul(denominator.max(1)).ok_or(EncodeError::Overflow)?;
    Ok(interval - Ratio::new(1, apart))
}
