//! Start times that meet every constraint at one point, or the cycle that forbids them.

use num_integer::Integer;
use num_rational::Ratio;
use serde::{Deserialize, Serialize};

use super::form::{LinearForm, Point, Rate};
use super::graph::{Constraint, Node, Where};
use crate::stop::Stop;

/// Start times at a point: copy `j` of a pass on device `i` starts at
/// `lambda*(j + o div T) + start + tilt*i`, everything divided by `scale`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Starts {
    pub point: Point,
    pub scale: i128,
    pub lambda: i128,
    pub tilt: i128,
    /// By pass and residue of the device.
    pub by_pass: Vec<Vec<i128>>,
}

impl Starts {
    /// Whether they meet every constraint; the first that they do not.
    pub fn violated<'a>(&self, constraints: &'a [Constraint]) -> Option<&'a Constraint> {
        let start = |(pass, residue): Node| -> Option<i128> {
            self.by_pass.get(pass)?.get(usize::try_from(residue).ok()?).copied()
        };
        constraints.iter().find(|constraint| {
            let weight = constraint.weight(self.point, self.scale, self.lambda, self.tilt);
            let met = start(constraint.from).zip(start(constraint.to)).map(|(from, to)| to - from >= weight);
            met != Some(true)
        })
    }

    /// Moves every start as early as one that is fixed at 0 allows: that of a pass on devices of residue 0.
    pub fn tighten(&mut self, constraints: &[Constraint], first: usize) {
        let residues = self.by_pass[first].len();
        let mut starts: Vec<Vec<Option<i128>>> = vec![vec![None; residues]; self.by_pass.len()];
        starts[first][0] = Some(0);
        let place = |residue: i128| usize::try_from(residue).expect("residues are not negative");
        // All cycles have weights that are not positive, as there are start times.
        loop {
            let mut settled = true;
            for constraint in constraints {
                let Some(from) = starts[constraint.from.0][place(constraint.from.1)] else { continue };
                let earliest = from + constraint.weight(self.point, self.scale, self.lambda, self.tilt);
                let to = &mut starts[constraint.to.0][place(constraint.to.1)];
                if to.is_none_or(|start| start < earliest) {
                    *to = Some(earliest);
                    settled = false;
                }
            }
            if settled {
                break;
            }
        }
        let reached = |start: Option<i128>| start.expect("every pass waits for the first, in the end");
        self.by_pass = starts.into_iter().map(|own| own.into_iter().map(reached).collect()).collect();
    }
}

/// What forbids an interval.
#[derive(Debug, Clone)]
pub(super) enum Obstacle {
    /// A cycle of a larger rate. Where it leads from device to device it is one up the devices and one down,
    /// as far as there are devices, and the rate that they have together.
    Forbidden(Rate),
    /// A cycle without any round: a deadlock.
    Stuck,
    /// It was time to stop.
    Stopped,
}

/// A cycle of constraints in sum.
#[derive(Debug, Clone, Copy)]
struct Sum {
    rate: Rate,
    shift: i128,
}

/// Finds start times for an interval at a point, or what forbids them. The tilt is moved to the nearest one
/// that a cycle allows until all allow it.
pub(super) fn solve(
    constraints: &[Constraint],
    (passes, residues): (usize, i128),
    point: Point,
    lambda: Ratio<i128>,
    stop: &Stop,
) -> Result<Starts, Obstacle> {
    let around = constraints.iter().any(|constraint| matches!(constraint.place, Where::Around { .. }));
    let mut tilt = Ratio::from_integer(0);
    // The last cycles that asked for a tilt: one for no less than that, one for no more.
    let (mut least, mut greatest): (Option<Sum>, Option<Sum>) = (None, None);
    loop {
        if stop.is_due() {
            return Err(Obstacle::Stopped);
        }
        let scale = lambda.denom().lcm(tilt.denom());
        let (interval, slope) = ((lambda * scale).to_integer(), (tilt * scale).to_integer());
        let weight = |constraint: &Constraint| constraint.weight(point, scale, interval, slope);
        let cycle = match longest(constraints, passes, residues, weight) {
            Ok(starts) => return Ok(Starts { point, scale, lambda: interval, tilt: slope, by_pass: starts }),
            Err(cycle) => cycle,
        };
        let sum = sum(constraints, &cycle);
        if sum.shift == 0 || around {
            return Err(forbidden(sum.rate));
        }
        // excess - tilt*shift <= 0
        let excess = Ratio::from_integer(sum.rate.ticks.at(point)) - lambda * sum.rate.copies;
        tilt = excess / sum.shift;
        if sum.shift > 0 {
            least = Some(sum);
        } else {
            greatest = Some(sum);
        }
        // The cycle of the other kind set the tilt that this one forbids, so no tilt suits both.
        if let (Some(up), Some(down)) = (least, greatest) {
            let ticks = up.rate.ticks.times(-down.shift).plus(down.rate.ticks.times(up.shift));
            let copies = up.rate.copies * -down.shift + down.rate.copies * up.shift;
            return Err(forbidden(Rate { ticks, copies }));
        }
    }
}

fn forbidden(rate: Rate) -> Obstacle {
    if rate.copies > 0 { Obstacle::Forbidden(rate) } else { Obstacle::Stuck }
}

/// A cycle that takes longer than an interval allows.
pub(super) fn forbidding(
    constraints: &[Constraint],
    (passes, residues): (usize, i128),
    point: Point,
    lambda: Ratio<i128>,
) -> Option<Vec<usize>> {
    let weight = |constraint: &Constraint| {
        lambda.denom() * constraint.ticks.at(point) - lambda.numer() * constraint.rounds
    };
    longest(constraints, passes, residues, weight).err()
}

/// Ticks, rounds and shift along a cycle.
fn sum(constraints: &[Constraint], cycle: &[usize]) -> Sum {
    let empty = Sum { rate: Rate { ticks: LinearForm::default(), copies: 0 }, shift: 0 };
    cycle.iter().fold(empty, |sum, &position| {
        let constraint = &constraints[position];
        Sum {
            rate: Rate {
                ticks: sum.rate.ticks.plus(constraint.ticks),
                copies: sum.rate.copies + constraint.rounds,
            },
            shift: sum.shift + constraint.shift,
        }
    })
}

/// The rate of a cycle.
pub(super) fn rate_of(constraints: &[Constraint], cycle: &[usize]) -> Rate {
    sum(constraints, cycle).rate.reduced()
}

/// The least starts, none negative, that meet all constraints (Bellman and Ford), or a cycle of
/// positive weight.
fn longest(
    constraints: &[Constraint],
    passes: usize,
    residues: i128,
    weight: impl Fn(&Constraint) -> i128,
) -> Result<Vec<Vec<i128>>, Vec<usize>> {
    let residues = usize::try_from(residues).expect("residues are few");
    let node = |(pass, residue): Node| {
        pass * residues + usize::try_from(residue).expect("residues are not negative")
    };
    let arcs: Vec<(usize, usize, i128)> = constraints
        .iter()
        .map(|constraint| (node(constraint.from), node(constraint.to), weight(constraint)))
        .collect();
    let mut starts = vec![0_i128; passes * residues];
    let mut cause: Vec<Option<usize>> = vec![None; starts.len()];
    let mut last = None;
    for _ in 0..=starts.len() {
        last = None;
        for (position, &(from, to, weight)) in arcs.iter().enumerate() {
            if starts[from] + weight > starts[to] {
                starts[to] = starts[from] + weight;
                cause[to] = Some(position);
                last = Some(to);
            }
        }
        if last.is_none() {
            break;
        }
    }
    let Some(mut at) = last else {
        return Ok(starts.chunks(residues).map(<[i128]>::to_vec).collect());
    };
    // Following the causes for as many steps as there are nodes leads onto a cycle.
    let back = |at: usize| arcs[cause[at].expect("what is moved has a cause")].0;
    for _ in 0..starts.len() {
        at = back(at);
    }
    let first = at;
    let mut cycle = Vec::new();
    loop {
        cycle.push(cause[at].expect("what is moved has a cause"));
        at = back(at);
        if at == first {
            break;
        }
    }
    cycle.reverse();
    Err(cycle)
}
