//! Cycles of passes that lie on some number of devices, and on every larger one with the same residue.

use num_integer::Integer;
use serde::{Deserialize, Serialize};

use super::Irregular;
use super::form::LinearForm;
use super::graph::{Classes, Constraint, Where};
use super::quasi::End;

/// More devices than any cycle needs.
const MOST_DEVICES: i128 = 4096;

/// A cycle of passes that takes as long as a term says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attained {
    /// It is there for this number of devices, and any larger one with the same residue.
    pub devices: i128,
    /// The passes, each with the device that it is on; devices that are negative are counted from the
    /// last, which is -1.
    pub cycle: Vec<(String, i128)>,
}

impl End {
    pub const BOTH: [Self; 2] = [Self::First, Self::Last];

    /// Whether a constraint stays as it is with more devices.
    fn lasts(self, place: Where) -> bool {
        match place {
            Where::Anywhere => true,
            Where::First => self == Self::First,
            Where::Last => self == Self::Last,
            Where::Around { .. } => false,
        }
    }

    /// A cycle on some number of devices as it lies on every larger one, if it does.
    pub fn lasting(self, classes: &Classes, cycle: &[&Constraint], devices: i128) -> Option<Attained> {
        let stays = |step: &&Constraint| step.exact && self.lasts(step.place);
        let counted = |device: i128| if self == Self::Last { device - devices } else { device };
        let pass = |step: &&Constraint| (classes.passes[step.from.0].name(), counted(step.from.1));
        cycle.iter().all(stays).then(|| Attained { devices, cycle: cycle.iter().map(pass).collect() })
    }
}

impl Attained {
    /// From which end its devices are counted, if from one only and it is about numbers of devices with
    /// the residue.
    fn end(&self, residue: i128, residues: i128) -> Option<End> {
        let numbered = (1..=MOST_DEVICES).contains(&self.devices) && (self.devices - residue) % residues == 0;
        let (first, last) = (0..self.devices, -self.devices..0);
        let all = |range: std::ops::Range<i128>| self.cycle.iter().all(|(_, device)| range.contains(device));
        match (numbered, all(first), all(last)) {
            (true, true, false) => Some(End::First),
            (true, false, true) => Some(End::Last),
            _ => None,
        }
    }

    /// The steps from each pass to the next, of the fewest rounds where there are several.
    fn steps(&self, classes: &Classes, end: End, there: &[Constraint]) -> Option<Vec<Constraint>> {
        let node = |(name, device): &(String, i128)| {
            let pass = classes.passes.iter().position(|pass| pass.name() == *name)?;
            Some((pass, if end == End::Last { self.devices + device } else { *device }))
        };
        let nodes: Vec<(usize, i128)> = self.cycle.iter().map(node).collect::<Option<_>>()?;
        let step = |(position, &from): (usize, &(usize, i128))| {
            let to = nodes[(position + 1) % nodes.len()];
            let between = |step: &&Constraint| step.from == from && step.to == to;
            let steps = there.iter().filter(between).filter(|step| step.exact && end.lasts(step.place));
            steps.min_by_key(|step| step.rounds).cloned()
        };
        nodes.iter().enumerate().map(step).collect()
    }
}

/// The constraints along a cycle, for every number of devices with the residue from the one given on.
pub(super) fn along(
    classes: &Classes,
    residue: i128,
    constraints: &[Constraint],
    attained: &Attained,
) -> Option<Vec<Constraint>> {
    let end = attained.end(residue, classes.residues)?;
    attained.steps(classes, end, &on_devices(constraints, classes.residues, attained.devices))
}

/// The steps of a rotor: see [`microbatch_steps`].
pub(super) fn rotor_steps(classes: &Classes, residue: i128, rotor: &Attained) -> Option<Vec<Constraint>> {
    let end = rotor.end(residue, classes.residues)?;
    rotor.steps(classes, end, &microbatch_steps(classes, residue, rotor.devices, end).ok()?)
}

/// The constraints of a number of devices, each with its devices in place of their residues.
pub(super) fn on_devices(constraints: &[Constraint], residues: i128, devices: i128) -> Vec<Constraint> {
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

/// What comes after what from a microbatch to itself or the next, on a number of devices and on every
/// larger one with the residue as far as devices are counted from an end: dependencies, and the order of
/// each device. `rounds` is here the number of microbatches, 0 or 1.
pub(super) fn microbatch_steps(
    classes: &Classes,
    s: i128,
    devices: i128,
    end: End,
) -> Result<Vec<Constraint>, Irregular> {
    let constraints = classes.constraints(s)?;
    let waits = constraints.iter().filter(|one| one.wait && end.lasts(one.place));
    let waits: Vec<Constraint> =
        waits.map(|wait| Constraint { rounds: 0, exact: true, ..wait.clone() }).collect();
    let mut steps = on_devices(&waits, classes.residues, devices);
    for device in 0..devices {
        for (from, pass) in classes.passes.iter().enumerate() {
            for (to, other) in classes.passes.iter().enumerate().filter(|(to, _)| *to != from) {
                let later = other.offset.value(device, devices) - pass.offset.value(device, devices);
                let grows = other.offset.growth(end) - pass.offset.growth(end);
                for rounds in [0, 1] {
                    if grows >= 0 && later + rounds * classes.interval > 0 {
                        steps.push(Constraint {
                            from: (from, device),
                            to: (to, device),
                            ticks: LinearForm::duration(pass.kind),
                            rounds,
                            exact: true,
                            shift: 0,
                            place: Where::Anywhere,
                            wait: false,
                        });
                    }
                }
            }
        }
    }
    Ok(steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_at_one_end_lasts_where_devices_are_counted_from_it() {
        for (place, from_first, from_last) in [
            (Where::Anywhere, true, true),
            (Where::First, true, false),
            (Where::Last, false, true),
            (Where::Around { from_last: true }, false, false),
            (Where::Around { from_last: false }, false, false),
        ] {
            assert_eq!(
                [End::First, End::Last].map(|end| end.lasts(place)),
                [from_first, from_last],
                "{place:?}"
            );
        }
    }
}
