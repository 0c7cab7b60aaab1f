//! Orders that grow: a warm-up, a piece repeated as often as one likes, and a cool-down.

use std::collections::BTreeMap;

use num_integer::Integer;

use super::recurring::Recurring as _;
use crate::model::{Device, Kind, Microbatch, Model, Pass, Placement, Stage, Ticks};
use crate::schedule::{Schedule, ScheduleError, prerequisites};

/// Schedules of `microbatches + q*K` microbatches for every q, as the theorem of this module has them.
#[derive(Debug, Clone)]
pub(super) struct Growing {
    placement: Placement,
    /// K.
    period: u32,
    heads: Vec<Vec<Pass>>,
    bodies: Vec<Vec<Pass>>,
    tails: Vec<Tail>,
    /// By slot: its microbatch in the body, `b`.
    first: Vec<Option<Microbatch>>,
}

/// The slots of a stage, for each remainder of microbatches: F, R, I or B, and W.
const SLOTS: usize = 4;

/// A cool-down, in the numbers that it has without any repetition.
#[derive(Debug, Clone)]
pub(super) struct Tail {
    /// How many microbatches there are without any repetition.
    pub microbatches: u32,
    /// The passes of every device.
    pub orders: Vec<Vec<Pass>>,
}

/// Why orders cannot grow as they are.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotRepeatable {
    /// A repetition with two passes where one belongs.
    #[error("device {device}: one repetition has `{pass}` and another pass of its kind")]
    Twice {
        /// The device.
        device: Device,
        /// The second one.
        pass: Pass,
    },
    /// A repetition without a pass that every stage has.
    #[error("device {device}: stage {stage} has no {kind} of every microbatch in one repetition")]
    Missing {
        /// The device.
        device: Device,
        /// The stage.
        stage: Stage,
        /// The kind of pass; I where B would do.
        kind: Kind,
    },
    /// A pass of warm-up or cool-down on the wrong side of the repetition, or none of its kind there.
    #[error("device {device} has `{pass}` in its {part}, where the repetition leaves no place for it")]
    Unlike {
        /// The device.
        device: Device,
        /// The pass.
        pass: Pass,
        /// Its place.
        part: &'static str,
    },
    /// A stage whose activations are recomputed now and then.
    #[error("device {device} recomputes stage {stage} for some microbatches and not for others")]
    Recomputed {
        /// The device.
        device: Device,
        /// The stage.
        stage: Stage,
    },
    /// A pass that needs one of a later repetition.
    #[error("`{pass}` needs `{needs}`, which is in a later repetition")]
    Open {
        /// The pass.
        pass: Pass,
        /// What it needs.
        needs: Pass,
    },
}

/// A pass before a cut that something behind it needs on another device.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pending {
    /// The pass, at cut 0; at cut r its microbatch is `r*K` more. A backward is given as I even where it
    /// is B.
    pub pass: Pass,
    /// The device that needs it.
    pub receiver: Device,
    /// How long the message takes.
    pub latency: Ticks,
}

impl Growing {
    /// Orders that meet conditions 1, 2 and 3 of the theorem.
    ///
    /// # Errors
    /// When they do not.
    pub fn new(
        placement: Placement,
        period: u32,
        heads: Vec<Vec<Pass>>,
        bodies: Vec<Vec<Pass>>,
        tails: Vec<Tail>,
    ) -> Result<Self, NotRepeatable> {
        let slots = placement.stages() as usize * SLOTS * period as usize;
        let mut growing = Self { placement, period, heads, bodies, tails, first: vec![None; slots] };
        for device in Device::all(growing.placement.devices()) {
            growing.check_body(device)?;
        }
        for device in Device::all(growing.placement.devices()) {
            growing.check_sides(device)?;
        }
        growing.check_needs()?;
        Ok(growing)
    }

    /// Condition 1; fills in where every slot begins.
    fn check_body(&mut self, device: Device) -> Result<(), NotRepeatable> {
        let mut fused = Vec::new();
        for &pass in &self.bodies[device.index()] {
            let slot = self.slot(pass);
            if self.first[slot].replace(pass.microbatch).is_some() {
                return Err(NotRepeatable::Twice { device, pass });
            }
            if pass.kind == Kind::B {
                fused.push(pass);
            }
        }
        // Where a body runs B, warm-up and cool-down may still run I and W, and have both on one side.
        for pass in fused {
            let weight = self.slot(pass.with_kind(Kind::W));
            if self.first[weight].replace(pass.microbatch).is_some() {
                return Err(NotRepeatable::Twice { device, pass });
            }
        }
        for &stage in self.placement.stages_of(device) {
            for copy in Microbatch::all(self.period) {
                for kind in [Kind::F, Kind::I, Kind::W] {
                    if self.first_of(Pass::new(stage, kind, copy)).is_none() {
                        return Err(NotRepeatable::Missing { device, stage, kind });
                    }
                }
            }
        }
        Ok(())
    }

    /// Condition 2.
    fn check_sides(&self, device: Device) -> Result<(), NotRepeatable> {
        let stray = |part, passes: &[Pass], belongs: &dyn Fn(Microbatch, Microbatch) -> bool| {
            let lost = passes
                .iter()
                .find(|pass| self.first_of(**pass).is_none_or(|first| !belongs(pass.microbatch, first)));
            lost.map_or(Ok(()), |&pass| Err(NotRepeatable::Unlike { device, pass, part }))
        };
        stray("warm-up", &self.heads[device.index()], &|at, first| at < first)?;
        for tail in &self.tails {
            stray("cool-down", &tail.orders[device.index()], &|at, first| at >= first)?;
            self.check_recomputation(device, tail)?;
        }
        Ok(())
    }

    /// That R is everywhere or nowhere: where the body lacks it, no other part has it by now.
    fn check_recomputation(&self, device: Device, tail: &Tail) -> Result<(), NotRepeatable> {
        let (period, at) = (i64::from(self.period), device.index());
        for &stage in self.placement.stages_of(device) {
            for copy in Microbatch::all(self.period) {
                let slot = Pass::new(stage, Kind::R, copy);
                if self.first_of(slot).is_none() {
                    continue;
                }
                let of_slot = |pass: &&Pass| pass.kind == Kind::R && self.slot(**pass) == self.slot(slot);
                let outside = self.heads[at].iter().chain(&tail.orders[at]).filter(of_slot).count();
                let all = Integer::div_ceil(&(i64::from(tail.microbatches) - i64::from(copy.0)), &period);
                if i64::try_from(outside) != Ok(all) {
                    return Err(NotRepeatable::Recomputed { device, stage });
                }
            }
        }
        Ok(())
    }

    /// Condition 3.
    fn check_needs(&self) -> Result<(), NotRepeatable> {
        for &pass in self.bodies.iter().flatten() {
            for needs in self.needs_of(pass) {
                if self.first_of(needs).is_none_or(|first| first < pass.microbatch) {
                    return Err(NotRepeatable::Open { pass, needs });
                }
            }
        }
        Ok(())
    }

    /// K.
    pub const fn period(&self) -> u32 {
        self.period
    }

    /// The number of microbatches with the first tail and no repetition.
    pub fn microbatches(&self) -> u32 {
        self.tails[0].microbatches
    }

    /// How many passes a repetition has on all devices together.
    pub fn passes(&self) -> usize {
        self.bodies.iter().map(Vec::len).sum()
    }

    /// Whether every device has a warm-up; if not, first starts may change with the first repetition.
    pub fn has_heads(&self) -> bool {
        self.heads.iter().all(|head| !head.is_empty())
    }

    /// How many passes a device has before a cut.
    pub fn before(&self, device: Device, cut: u32) -> usize {
        self.heads[device.index()].len() + cut as usize * self.bodies[device.index()].len()
    }

    /// The schedule with a tail and this many repetitions.
    ///
    /// # Errors
    /// When there are too many microbatches.
    pub fn schedule(&self, tail: usize, repetitions: u32) -> Result<Schedule, ScheduleError> {
        let tail = &self.tails[tail];
        let more = u64::from(self.period) * u64::from(repetitions);
        let stages = self.placement.stages();
        let microbatches = u32::try_from(u64::from(tail.microbatches) + more)
            .map_err(|_| ScheduleError::TooManyPasses { stages, microbatches: u32::MAX })?;
        Schedule::check_size(&self.placement, microbatches)?;
        let orders = Device::all(self.placement.devices()).map(|device| {
            let at = device.index();
            let mut order = Vec::with_capacity(self.before(device, repetitions) + tail.orders[at].len());
            order.extend_from_slice(&self.heads[at]);
            for repetition in 0..repetitions {
                order.extend(self.bodies[at].iter().map(|pass| pass.later(repetition * self.period)));
            }
            order.extend(tail.orders[at].iter().map(|pass| pass.later(repetitions * self.period)));
            order
        });
        Schedule::new(self.placement.clone(), microbatches, orders.collect())
    }

    /// The passes before a cut that bodies or tails behind it need on another device.
    ///
    /// At every cut they are there: the pass that needs the earliest of them has the same microbatch.
    pub fn pending(&self, model: &Model) -> Vec<Pending> {
        // By slot: how many repetitions back its passes are needed, and by whom. A pass is needed on one
        // other device at most: by the next stage forward, or by the stage before backward.
        let mut reach: BTreeMap<usize, (u32, Pending)> = BTreeMap::new();
        let behind = self.bodies.iter().chain(self.tails.iter().flat_map(|tail| &tail.orders)).flatten();
        for &pass in behind {
            let receiver = self.placement.device_of(pass.stage);
            for needs in self.needs_of(pass) {
                let Some(first) = self.first_of(needs).filter(|first| needs.microbatch < *first) else {
                    continue;
                };
                if self.placement.device_of(needs.stage) == receiver {
                    continue;
                }
                let latency = model.latency_after(needs.stage.min(pass.stage));
                let copies = (first.0 - needs.microbatch.0) / self.period;
                let sent = Pending { pass: Pass { microbatch: first, ..needs }, receiver, latency };
                let known = reach.entry(self.slot(needs)).or_insert((copies, sent));
                known.0 = known.0.max(copies);
            }
        }
        let earlier = |pass: Pass, copies| Microbatch(pass.microbatch.0 - copies * self.period);
        reach
            .into_values()
            .flat_map(|(most, sent)| {
                (1..=most).map(move |copies| Pending {
                    pass: Pass { microbatch: earlier(sent.pass, copies), ..sent.pass },
                    ..sent
                })
            })
            .collect()
    }

    /// With how many repetitions no microbatch has passes both in a warm-up and in a cool-down; at least
    /// one.
    pub fn apart(&self) -> u32 {
        let firsts = || self.first.iter().flatten().map(|first| first.0);
        let spread = firsts().max().unwrap_or_default() - firsts().min().unwrap_or_default();
        spread.div_ceil(self.period).max(1)
    }

    /// What a pass needs, as slots: a backward is given as I even where it is B.
    fn needs_of(&self, pass: Pass) -> impl Iterator<Item = Pass> {
        let recomputed = |other: Pass| other.kind == Kind::R && self.first_of(other).is_some();
        prerequisites(pass, &self.placement, recomputed)
    }

    /// The microbatch of a pass's slot in the body.
    fn first_of(&self, pass: Pass) -> Option<Microbatch> {
        self.first[self.slot(pass)]
    }

    fn slot(&self, pass: Pass) -> usize {
        let of_stage = match pass.kind {
            Kind::F => 0,
            Kind::R => 1,
            Kind::I | Kind::B => 2,
            Kind::W => 3,
        };
        let copy = (pass.microbatch.0 % self.period) as usize;
        (pass.stage.index() * SLOTS + of_stage) * self.period as usize + copy
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One device, one microbatch at a time.
    fn grown(head: &[&str], body: &[&str], tail: &[&str]) -> Result<Growing, NotRepeatable> {
        let orders =
            |passes: &[&str]| vec![passes.iter().map(|pass| pass.parse().expect("a pass")).collect()];
        let tails = vec![Tail { microbatches: 1, orders: orders(tail) }];
        Growing::new(Placement::linear(1).expect("a placement"), 1, orders(head), orders(body), tails)
    }

    #[test]
    fn warm_up_and_cool_down_have_what_the_repetition_leaves() {
        assert!(grown(&["0F0"], &["0F1", "0B0"], &["0B0"]).is_ok());
        let unlike = |pass: &str, part| {
            Some(NotRepeatable::Unlike { device: Device(0), pass: pass.parse().expect("a pass"), part })
        };
        assert_eq!(grown(&["0F0"], &["0F0", "0B0"], &["0B0"]).err(), unlike("0F0", "warm-up"));
        assert_eq!(grown(&["0F0"], &["0F1", "0B0"], &["0F0", "0B0"]).err(), unlike("0F0", "cool-down"));
    }

    #[test]
    fn a_repetition_needs_nothing_of_later_ones() {
        let pass = |text: &str| text.parse().expect("a pass");
        let open = NotRepeatable::Open { pass: pass("0B1"), needs: pass("0F1") };
        assert_eq!(grown(&[], &["0F0", "0B1"], &["0F0", "0B1"]).err(), Some(open));
    }

    #[test]
    fn a_warm_up_is_there_or_not() {
        assert!(grown(&["0F0"], &["0F1", "0B0"], &["0B0"]).expect("it grows").has_heads());
        assert!(!grown(&[], &["0F0", "0B0"], &["0F0", "0B0"]).expect("it grows").has_heads());
    }

    #[test]
    fn a_stage_recomputes_every_microbatch_or_none() {
        let recomputed = Some(NotRepeatable::Recomputed { device: Device(0), stage: Stage(0) });
        assert!(grown(&["0F0"], &["0R0", "0F1", "0B0"], &["0R0", "0B0"]).is_ok());
        assert_eq!(grown(&["0F0"], &["0R0", "0F1", "0B0"], &["0B0"]).err(), recomputed);
        assert!(grown(&["0F0"], &["0F1", "0B0"], &["0R0", "0B0"]).is_err());
    }
}
