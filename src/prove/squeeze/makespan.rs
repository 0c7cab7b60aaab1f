//! The makespan of the squeezed order, for every number of microbatches and of devices.

use std::collections::BTreeMap;

use itertools::Itertools;
use num_integer::Integer;
use num_rational::Ratio;
use serde::{Deserialize, Serialize};

use super::Irregular;
use super::cycle::{Attained, microbatch_steps};
use super::form::{LinearForm, Point};
use super::graph::{Classes, Constraint, Node};
use super::interval::SqueezedInterval;
use super::potential::{Obstacle, Starts, solve};
use super::quasi::{End, Quasi};
use crate::block::family::{Durations, Family};
use crate::model::Kind;
use crate::prove::linear::Linear;
use crate::stop::Stop;

/// A bound on the makespan of the squeezed order at the family's own durations, without latency, where
/// `d` has one residue.
///
/// **Theorem.** With `m` microbatches, `m >= 1`, it is at most `interval*(m - 1) + per_devices*b + constant`,
/// where `d = P*b + s` and `b >= 1`, and at most `interval*(m - 1) + fewest` where `d = s`, everything divided
/// by `scale`; and where a rotor is known, it is exactly that.
///
/// *Upper side.* The start times of [`SqueezedInterval`] hold for the copies that there are; a pass that is missing
/// between two others delays neither. All wait for copy 0 of the first pass, so nothing starts later after
/// it than they say, and the bound is their last end.
///
/// *Lower side.* A rotor is a cycle of passes in which each comes after the one before in the order of
/// its device, or needs it, that comes back one microbatch later, never goes to an earlier one, and takes
/// the whole interval. The path from the first F through all F and I or B of microbatch 0 up to the rotor, `m - 1`
/// times around it, and on through the rest to the end of the last W, where the first stage has one, takes the bound, as
/// the straight path through one microbatch takes the constant part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Makespan {
    /// The residue of `d`.
    pub residue: i128,
    pub(super) starts: Starts,
    pub(super) per_devices: i128,
    pub(super) constant: i128,
    pub(super) fewest: i128,
    /// Where the bound is reached, if it is known to be.
    pub rotor: Option<Attained>,
}

impl Makespan {
    /// Derives the bound from the interval.
    pub(super) fn of(
        family: &Family,
        classes: &Classes,
        interval: &SqueezedInterval,
        stop: &Stop,
    ) -> Result<Self, Irregular> {
        let s = interval.residue;
        let point = point(family.durations);
        let rates = interval.rates();
        let lambda = rates.iter().map(|rate| rate.at(point)).max().ok_or(Irregular::Stuck)?;
        let constraints = classes.constraints(s)?;
        let size = (classes.passes.len(), classes.residues);
        let mut starts =
            solve(&constraints, size, point, lambda, stop).map_err(|obstacle| match obstacle {
                Obstacle::Stopped => Irregular::of(stop),
                Obstacle::Stuck | Obstacle::Forbidden(_) => Irregular::Stuck,
            })?;
        starts.tighten(&constraints, classes.first_pass()?);
        let LastEnd { per_devices, constant, fewest } = LastEnd::of(classes, s, &starts)?;
        let bound = Self { residue: s, starts, per_devices, constant, fewest, rotor: None };
        let rotor = if bound.is_straight(family, classes) { rotor(classes, s, point, lambda) } else { None };
        Ok(Self { rotor, ..bound })
    }

    /// The bound for one microbatch as `slope*d + constant`.
    #[must_use]
    pub fn line(&self, residues: i128) -> (Ratio<i128>, Ratio<i128>) {
        let slope = Ratio::new(self.per_devices, self.starts.scale * residues);
        (slope, Ratio::new(self.constant, self.starts.scale) - slope * self.residue)
    }

    /// The bound for one microbatch where `d` is the residue, if that is more than the line says.
    #[must_use]
    pub fn exception(&self) -> Option<Ratio<i128>> {
        (self.fewest > self.constant).then(|| Ratio::new(self.fewest, self.starts.scale))
    }

    /// How much every further microbatch takes.
    #[must_use]
    pub fn interval(&self) -> Ratio<i128> {
        Ratio::new(self.starts.lambda, self.starts.scale)
    }

    /// Whether the bound for one microbatch is the length of its path through all stages.
    pub(super) fn is_straight(&self, family: &Family, classes: &Classes) -> bool {
        let Durations { forward, backward_input, backward_weight } = family.durations;
        let [forward, input, weight] =
            [forward, backward_input, backward_weight].map(|ticks| i128::from(ticks.0) * self.starts.scale);
        // Of two chunks, one may split its backward and the other not.
        let fused =
            |chunk: u32| classes.passes.iter().any(|pass| (pass.kind, pass.chunk) == (Kind::B, chunk));
        let stage = |chunk: u32| forward + input + if fused(chunk) { weight } else { 0 };
        let stages: i128 = (0..family.layout.chunks()).map(stage).sum();
        // The way back ends on stage 0, which is of chunk 0.
        let last = if fused(0) { 0 } else { weight };
        self.per_devices == classes.residues * stages && self.constant == self.residue * stages + last
    }
}

/// The durations of a family as a point, without latency.
pub(super) fn point(durations: Durations) -> Point {
    let Durations { forward, backward_input, backward_weight } = durations;
    [forward.0.into(), backward_input.0.into(), backward_weight.0.into(), 0]
}

/// A bound on the end of the last of all passes with one microbatch, where `d = P*b + s`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LastEnd {
    /// For each further residue cycle of devices.
    pub per_devices: i128,
    /// With it, where `b >= 1`.
    pub constant: i128,
    /// Where `b = 0`, or the same where no device is there then.
    pub fewest: i128,
}

impl LastEnd {
    /// From the start of copy 0 of the first pass.
    pub fn of(classes: &Classes, s: i128, starts: &Starts) -> Result<Self, Irregular> {
        let first = classes.first_pass()?;
        let round = classes.passes[first].round.on_first(s);
        let [slope, start] =
            [round.per_devices * starts.lambda, round.constant * starts.lambda + starts.by_pass[first][0]];
        let (mut ends, mut fewest) = (Vec::new(), i128::MIN);
        for r in 0..classes.residues {
            // A device of the residue is there only from so many further residue cycles of devices on.
            let short = i128::from(r >= s);
            for end in (0..classes.passes.len()).flat_map(|pass| Ends { classes, starts, s, r }.last(pass)) {
                let Linear { per_device, per_devices, constant } = end;
                // Linear in the device, so the last to end is on the first device of a residue or on the last.
                ends.extend([
                    (per_devices, constant),
                    (per_devices + per_device, constant - short * per_device),
                ]);
                if short == 0 {
                    fewest = fewest.max(constant);
                }
            }
        }
        let per_devices = ends.iter().map(|&(slope, _)| slope).max().unwrap_or(0);
        let constant =
            ends.iter().map(|&(slope, constant)| constant + slope - per_devices).max().unwrap_or(0);
        let fewest = if s == 0 { constant } else { fewest };
        Ok(Self { per_devices: per_devices - slope, constant: constant - start, fewest: fewest - start })
    }
}

/// The ends of the passes on devices of one residue.
#[derive(Clone, Copy)]
struct Ends<'a> {
    classes: &'a Classes,
    starts: &'a Starts,
    s: i128,
    r: i128,
}

impl Ends<'_> {
    fn linear(&self, function: &Quasi) -> Linear {
        function.on(self.s, self.r, 0)
    }

    fn duration(&self, pass: usize) -> i128 {
        self.starts.scale * LinearForm::duration(self.classes.passes[pass].kind).at(self.starts.point)
    }

    /// The end of a pass that is run in a round, by its start time.
    fn in_round(&self, pass: usize, round: Linear) -> Linear {
        let Starts { lambda, tilt, .. } = *self.starts;
        let start = self.starts.by_pass[pass][usize::try_from(self.r).expect("residues are not negative")];
        Linear {
            per_device: lambda * round.per_device + tilt * self.classes.residues,
            per_devices: lambda * round.per_devices,
            constant: lambda * round.constant + start + tilt * self.r + self.duration(pass),
        }
    }

    /// Bounds of which the largest is one on the end of the last copy of a pass, as if it were copy 0.
    ///
    /// Nothing waits for a W but the order of its device, and of the passes before it there only those are
    /// left that have a copy: so it starts no later than its I, and the last copies of the others that come
    /// before it, have ended.
    fn last(&self, pass: usize) -> Vec<Linear> {
        let own = &self.classes.passes[pass];
        if own.kind != Kind::W {
            return vec![self.in_round(pass, self.linear(&own.round))];
        }
        let interval = self.classes.interval;
        let residue =
            |pass: usize| self.linear(&self.classes.passes[pass].offset).constant.rem_euclid(interval);
        let mut ends = Vec::new();
        for other in (0..self.classes.passes.len()).filter(|&other| other != pass) {
            let offset = self.linear(&self.classes.passes[other].offset);
            let earlier = self.linear(&own.offset).minus(offset).least((self.r >= self.s).into());
            if earlier.is_some_and(|(least, _)| least > 0) {
                // Its last copy is of the same microbatch.
                ends.extend(self.last(other));
            } else {
                let mut round = self.linear(&own.round);
                round.constant -= i128::from(residue(other) > residue(pass));
                ends.push(self.in_round(other, round));
            }
        }
        let duration = self.duration(pass);
        ends.into_iter().map(|end| Linear { constant: end.constant + duration, ..end }).unique().collect()
    }
}

/// A cycle through an F, I or B that takes the whole interval and advances by one microbatch.
fn rotor(classes: &Classes, s: i128, point: Point, lambda: Ratio<i128>) -> Option<Attained> {
    let fewest = 1 + (s - 1).mod_floor(&classes.residues);
    let kinds = classes.passes.iter().map(|pass| pass.kind);
    let straight = kinds.positions(|kind| matches!(kind, Kind::F | Kind::I | Kind::B)).collect_vec();
    let numbers = (0..3).map(|more| fewest + more * classes.residues);
    numbers.cartesian_product(End::BOTH).find_map(|(devices, end)| {
        let there = microbatch_steps(classes, s, devices, end).ok()?;
        straight.iter().cartesian_product(0..devices).find_map(|(&pass, device)| {
            let around = longest_round(&there, (pass, device), point)?;
            let around = around.into_iter().map(|position| &there[position]).collect_vec();
            let ticks: i128 = around.iter().map(|step| step.ticks.at(point)).sum();
            if lambda == ticks.into() { end.lasting(classes, &around, devices) } else { None }
        })
    })
}

/// The longest way from a pass to its own next copy, never to an earlier microbatch: by the positions of
/// the steps.
fn longest_round(steps: &[Constraint], pass: Node, point: Point) -> Option<Vec<usize>> {
    // By node and copy, 0 or 1: the ticks so far and the last step.
    let mut reached: BTreeMap<(Node, i128), (i128, Option<usize>)> = BTreeMap::new();
    reached.insert((pass, 0), (0, None));
    // Every step leads to a later offset of the block, so this comes to an end.
    let mut settled = false;
    while !settled {
        settled = true;
        for (position, step) in steps.iter().enumerate() {
            for copy in 0..=1 - step.rounds {
                let Some(&(ticks, _)) = reached.get(&(step.from, copy)) else { continue };
                let (to, ticks) = ((step.to, copy + step.rounds), ticks + step.ticks.at(point));
                if to != (pass, 0) && reached.get(&to).is_none_or(|&(most, _)| most < ticks) {
                    reached.insert(to, (ticks, Some(position)));
                    settled = false;
                }
            }
        }
    }
    let (mut at, mut around) = ((pass, 1), Vec::new());
    while let Some(position) = reached.get(&at)?.1 {
        around.push(position);
        at = (steps[position].from, at.1 - steps[position].rounds);
    }
    around.reverse();
    Some(around)
}
