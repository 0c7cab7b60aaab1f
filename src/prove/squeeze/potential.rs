//! Start times that meet every constraint at one point, or the cycle that forbids them.

use num_integer::Integer;
use num_rational::Ratio;

use super::form::{Point, Rate};
use super::graph::{Constraint, Where};

/// Start times at a point: copy `j` of a pass on device `i` starts at
/// `lambda*(j + o div T) + start + tilt*i`, everything divided by `scale`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Starts {
    pub scale: i128,
    pub lambda: i128,
    pub tilt: i128,
    /// By pass and residue of the device.
    pub starts: Vec<Vec<i128>>,
}

/// What forbids a period.
#[derive(Debug, Clone)]
pub(super) enum Obstacle {
    /// A cycle of a larger rate. Where it leads from device to device it is one up the devices and one down,
    /// as far as there are devices, and the rate that they have together.
    Forbidden(Rate),
    /// A cycle without any round: a deadlock.
    Stuck,
}

/// A cycle of constraints in sum.
#[derive(Debug, Clone, Copy)]
struct Sum {
    rate: Rate,
    shift: i128,
}

/// Finds start times for a period at a point, or what forbids them. The tilt is moved to the nearest one
/// that a cycle allows until all allow it.
pub(super) fn solve(
    constraints: &[Constraint],
    (passes, residues): (usize, i128),
    point: Point,
    lambda: Ratio<i128>,
) -> Result<Starts, Obstacle> {
    let around = constraints.iter().any(|constraint| matches!(constraint.place, Where::Around { .. }));
    let mut tilt = Ratio::from_integer(0);
    // The least and the greatest tilt so far, with the cycles that set them.
    let (mut least, mut greatest): (Option<(Ratio<i128>, Sum)>, Option<(Ratio<i128>, Sum)>) = (None, None);
    loop {
        let scale = lambda.denom().lcm(tilt.denom());
        let (period, slope) = ((lambda * scale).to_integer(), (tilt * scale).to_integer());
        let weight = |constraint: &Constraint| {
            scale * constraint.ticks.at(point) - period * constraint.rounds - slope * constraint.shift
        };
        let cycle = match longest(constraints, passes, residues, weight) {
            Ok(starts) => return Ok(Starts { scale, lambda: period, tilt: slope, starts }),
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
            least = Some((tilt, sum));
        } else {
            greatest = Some((tilt, sum));
        }
        if let (Some((low, up)), Some((high, down))) = (least, greatest)
            && low > high
        {
            let ticks = up.rate.ticks.times(-down.shift).plus(down.rate.ticks.times(up.shift));
            let copies = up.rate.copies * -down.shift + down.rate.copies * up.shift;
            return Err(forbidden(Rate { ticks, copies }));
        }
    }
}

fn forbidden(rate: Rate) -> Obstacle {
    if rate.copies > 0 { Obstacle::Forbidden(rate) } else { Obstacle::Stuck }
}

/// A cycle that takes longer than a period allows.
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
    let empty = Sum { rate: Rate { ticks: super::form::Form::default(), copies: 0 }, shift: 0 };
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
    let node = |(pass, residue): (usize, i128)| {
        pass * residues + usize::try_from(residue).expect("residues are not negative")
    };
    let arcs: Vec<(usize, usize, i128)> =
        constraints.iter().map(|constraint| (node(constraint.from), node(constraint.to), weight(constraint))).collect();
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
