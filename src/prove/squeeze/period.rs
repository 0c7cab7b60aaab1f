//! Which forms limit the period, found by trial: a period too small is forbidden by a cycle, and the
//! rate of that cycle is another form.

use num_integer::Integer;
use num_rational::Ratio;

use super::Irregular;
use super::form::{Form, Point, Rate, rays};
use super::graph::{Classes, Constraint, Where};
use super::potential::{Obstacle, Starts, forbidding, rate_of, solve};
use crate::block::family::{Family, Variable};

/// More forms than any family needs.
const MOST_FORMS: usize = 64;

/// Up to so many devices are tried to find out which residues of `d` occur.
const MOST_DEVICES: i64 = 4096;

/// So many numbers of devices with the same residue are looked at for a cycle.
const DEVICES_TRIED: i128 = 3;

/// The steady period of the squeezed order of a family, for every number of devices and all durations.
#[derive(Debug, Clone)]
pub struct Periods {
    /// The number P by whose residues numbers of devices are told apart.
    pub residues: u32,
    /// For every residue that occurs in the domain.
    pub cases: Vec<Period>,
}

/// The steady period where `d` has one residue.
///
/// **Theorem.** In the squeezed order of the block (each device runs its passes as the block orders
/// them, each pass as early as its device and its dependencies allow) no microbatch takes longer, in the
/// long run, than the largest of the terms, whatever the durations and, where it is counted, the latency;
/// and it takes as long as the largest of those terms that are attained.
///
/// *Upper side.* Let one term be the largest, `lambda`. The points where it is form a cone, and on each
/// of its extreme rays there are start times for copy `j` of every pass on device `i` of the form
/// `lambda*(j + o div T) + start + tilt*i` that meet the order of every device and every dependency:
/// differences of such times depend on the residues of `i` and `d` alone, so these are finitely many
/// inequalities between integers. Both sides of each are linear in the point as long as the term is the
/// largest, so the same sums of multiples of rays that make up a point make up start times for it.
/// Squeezed times are the earliest, so they are never later than these, up to a shift.
///
/// *Lower side.* A term that is attained is the rate of a cycle of passes each of which waits for the one
/// before: its passes take `ticks` in sum and it comes back `copies` microbatches later.
#[derive(Debug, Clone)]
pub struct Period {
    /// The residue of `d`.
    pub residue: u32,
    /// Each is the largest somewhere.
    pub terms: Vec<Term>,
    pub(super) proofs: Vec<Vec<(Point, Starts)>>,
}

/// One of the forms of which the largest is the period.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term {
    /// The form.
    pub rate: Rate,
    /// Where a cycle has it, if there is one.
    pub attained: Option<Attained>,
}

/// A cycle of passes that takes as long as a term says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attained {
    /// It is there for so many devices, and any more with the same residue.
    pub devices: i128,
    /// The passes, each with the device that it is on; devices that are negative are counted from the
    /// last, which is -1.
    pub cycle: Vec<(String, i128)>,
}

impl Period {
    /// Whether every term is attained: the period is then exactly the largest of them.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.terms.iter().all(|term| term.attained.is_some())
    }
}

/// Derives the period of a family; with the latency between devices counted or not.
///
/// # Errors
/// When its formulas are not told by residues, or its block is none.
pub fn period(family: &Family, latency: bool) -> Result<Periods, Irregular> {
    let classes = Classes::of(family)?;
    let quantities = if latency { 4 } else { 3 };
    let mut cases = Vec::new();
    for s in 0..classes.residues {
        if occurs(family, classes.residues, s) {
            cases.push(of_residue(&classes, s, quantities)?);
        }
    }
    Ok(Periods { residues: u32::try_from(classes.residues).expect("residues are few"), cases })
}

/// Whether some number of devices in the domain has the residue.
fn occurs(family: &Family, residues: i128, s: i128) -> bool {
    (1..=MOST_DEVICES).any(|devices| {
        let values = |variable| (variable == Variable::Devices).then_some(devices);
        i128::from(devices).mod_floor(&residues) == s && family.domain.evaluate(&values) == Ok(true)
    })
}

fn of_residue(classes: &Classes, s: i128, quantities: usize) -> Result<Period, Irregular> {
    let constraints = classes.constraints(s)?;
    let size = (classes.passes.len(), classes.residues);
    let mut rates = vec![work(classes, s)?];
    let (rates, proofs) = loop {
        if rates.len() > MOST_FORMS {
            return Err(Irregular::Forms(MOST_FORMS));
        }
        match prove(&rates, &constraints, size, quantities) {
            Ok(proofs) if rates.len() == needed(&rates, quantities).len() => break (rates, proofs),
            Ok(_) => rates = needed(&rates, quantities),
            Err(Obstacle::Stuck) => return Err(Irregular::Stuck),
            Err(Obstacle::Forbidden(rate)) => rates.push(rate.first(quantities).reduced()),
        }
    };
    let terms = rates.iter().map(|&rate| {
        Term { rate, attained: attained(classes, &constraints, s, rate, inside(&rates, rate, quantities)) }
    });
    Ok(Period { residue: u32::try_from(s).expect("residues are few"), terms: terms.collect(), proofs })
}

/// The passes of a device, one after the other.
fn work(classes: &Classes, s: i128) -> Result<Rate, Irregular> {
    let order = classes.order(s, 0)?;
    let durations = order.iter().map(|&pass| Form::duration(classes.passes[pass].kind));
    Ok(Rate { ticks: durations.fold(Form::default(), Form::plus), copies: 1 })
}

/// Start times on every extreme ray of the cone of every term.
fn prove(
    rates: &[Rate],
    constraints: &[Constraint],
    size: (usize, i128),
    quantities: usize,
) -> Result<Vec<Vec<(Point, Starts)>>, Obstacle> {
    let of_rate = |&rate: &Rate| -> Result<Vec<(Point, Starts)>, Obstacle> {
        let on_ray = |ray: Point| Ok((ray, solve(constraints, size, ray, rate.at(ray))?));
        rays(rate, &others(rates, rate), quantities).into_iter().map(on_ray).collect()
    };
    rates.iter().map(of_rate).collect()
}

fn others(rates: &[Rate], rate: Rate) -> Vec<Rate> {
    rates.iter().copied().filter(|&other| other != rate).collect()
}

/// A point well inside the cone where a rate is the largest.
fn inside(rates: &[Rate], rate: Rate, quantities: usize) -> Point {
    let rays = rays(rate, &others(rates, rate), quantities);
    rays.into_iter().fold([0; 4], |sum, ray| std::array::from_fn(|position| sum[position] + ray[position]))
}

/// The rates that are larger than all others somewhere.
fn needed(rates: &[Rate], quantities: usize) -> Vec<Rate> {
    let mut kept = rates.to_vec();
    for &rate in rates {
        // Where another is as large in the middle of its cone, it is so in all of it.
        let middle = inside(&kept, rate, quantities);
        if others(&kept, rate).iter().any(|other| other.at(middle) >= rate.at(middle)) {
            kept.retain(|&other| other != rate);
        }
    }
    kept
}

/// A cycle that has a rate, if there is one that is there for every number of devices from some one on;
/// `point` is one where the rate is larger than all others.
fn attained(
    classes: &Classes,
    constraints: &[Constraint],
    s: i128,
    rate: Rate,
    point: Point,
) -> Option<Attained> {
    let fewest = 1 + (s - 1).mod_floor(&classes.residues);
    (0..DEVICES_TRIED).map(|more| fewest + more * classes.residues).find_map(|devices| {
        let there = on_devices(constraints, classes.residues, devices);
        let cycle = slowest(&there, (classes.passes.len(), devices), point);
        let of_rate = cycle.filter(|cycle| rate_of(&there, cycle).at(point) == rate.at(point))?;
        lasting(classes, &there, &of_rate, devices)
    })
}

/// The constraints of a number of devices, each with its devices in place of their residues.
fn on_devices(constraints: &[Constraint], residues: i128, devices: i128) -> Vec<Constraint> {
    let mut there = Vec::new();
    for constraint in constraints {
        let to = (0..devices).filter(|device| device.mod_floor(&residues) == constraint.to.1);
        for device in to {
            let (from, to) = match constraint.place {
                Where::Anywhere => (device - constraint.shift, device),
                Where::First => (0, 0),
                Where::Last => (devices - 1, devices - 1),
                Where::Around { from_last: true } => (devices - 1, 0),
                Where::Around { from_last: false } => (0, devices - 1),
            };
            if to == device && (0..devices).contains(&from) {
                there.push(Constraint {
                    from: (constraint.from.0, from),
                    to: (constraint.to.0, to),
                    ..constraint.clone()
                });
            }
        }
    }
    there
}

/// The cycle of the largest rate at a point.
fn slowest(there: &[Constraint], size: (usize, i128), point: Point) -> Option<Vec<usize>> {
    let mut slowest: Option<Vec<usize>> = None;
    let mut lambda = Ratio::from_integer(0);
    while let Some(cycle) = forbidding(there, size, point, lambda) {
        lambda = rate_of(there, &cycle).at(point);
        slowest = Some(cycle);
    }
    slowest
}

/// A cycle as it lies on every larger number of devices too, unless it needs both ends.
fn lasting(classes: &Classes, there: &[Constraint], cycle: &[usize], devices: i128) -> Option<Attained> {
    let mut from_last = false;
    let mut from_first = false;
    let mut passes = Vec::new();
    for &position in cycle {
        let constraint = &there[position];
        if !constraint.exact {
            return None;
        }
        match constraint.place {
            Where::Anywhere => {}
            Where::First => from_first = true,
            Where::Last => from_last = true,
            Where::Around { .. } => return None,
        }
        passes.push((classes.passes[constraint.from.0].name(), constraint.from.1));
    }
    if from_first && from_last {
        return None;
    }
    if from_last {
        for (_, device) in &mut passes {
            *device -= devices;
        }
    }
    Some(Attained { devices, cycle: passes })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::family::{SHIPPED, shipped};

    #[test]
    fn show() {
        for (name, _) in SHIPPED {
            let family = shipped(name).expect("it is shipped");
            for latency in [false, true] {
                match period(&family, latency) {
                    Ok(periods) => {
                        for case in periods.cases {
                            let terms: Vec<String> = case.terms.iter().map(|term| format!("{} ({:?})", term.rate, term.attained.as_ref().map(|a| a.devices))).collect();
                            println!("{name} d = {} mod {}: {}", case.residue, periods.residues, terms.join(", "));
                        }
                    }
                    Err(error) => println!("{name}: {error}"),
                }
            }
        }
    }
}
