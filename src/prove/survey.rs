//! What the block algebra says of a family at one number of devices: the judge of every refutation.

use super::counterexample::{Counterexample, TheoremViolation};
use super::subject::{Delay, Delays, TheoremSubject};
use crate::block::family::{BrokenPromise, Family, FamilyError};
use crate::block::{Block, BlockViolation};
use crate::model::{Device, Kind, Microbatch, Model, Pass, Units};

/// A family at one number of devices.
pub(super) struct Sample<'a> {
    family: &'a Family,
    devices: u32,
    block: Result<Measured, FamilyError>,
}

struct Measured {
    block: Block,
    model: Model,
    faults: Vec<BlockViolation>,
    peaks: Vec<Units>,
    bounds: Vec<Units>,
    promises: Result<Vec<BrokenPromise>, FamilyError>,
}

impl<'a> Sample<'a> {
    /// The family at a number of devices; nothing when that is outside its domain.
    pub fn of(family: &'a Family, devices: u32) -> Option<Self> {
        let block = match Measured::of(family, devices) {
            Err(FamilyError::OutsideDomain { .. }) => return None,
            measured => measured,
        };
        Some(Self { family, devices, block })
    }

    /// The number of devices.
    pub const fn devices(&self) -> u32 {
        self.devices
    }

    /// Why there is no block.
    pub fn no_block(&self) -> Option<&FamilyError> {
        self.block.as_ref().err()
    }

    /// The waits of the W of a chunk after their I.
    pub fn delays(&self, chunk: u32) -> Option<Delays> {
        let Measured { block, model, .. } = self.block.as_ref().ok()?;
        let delay = |device: Device| {
            let stage = block.placement().stages_of(device)[chunk as usize];
            let of = |kind| Pass::new(stage, kind, Microbatch(0));
            let ready = block.offset(of(Kind::I))? + block.duration(model, of(Kind::I));
            let ticks = block.offset(of(Kind::W))? - ready;
            Some(Delay { ticks, device, devices: self.devices })
        };
        Device::all(self.devices)
            .filter_map(delay)
            .map(|delay| Delays { least: delay, most: delay })
            .reduce(Delays::and)
    }

    /// The first device on which a theorem about the family is false, and why.
    pub fn violation(&self, subject: &TheoremSubject) -> Option<Counterexample> {
        let measured = match &self.block {
            Ok(measured) => measured,
            Err(error) => {
                let device = match error {
                    FamilyError::NoRoom { device, .. } | FamilyError::Offset { device, .. } => *device,
                    _ => Device(0),
                };
                return Some(self.at(device, TheoremViolation::NoBlock(error.clone())));
            }
        };
        match subject {
            TheoremSubject::Room => None,
            TheoremSubject::Dependencies => {
                self.fault(measured, |fault| matches!(fault, BlockViolation::Dependency { .. }))
            }
            TheoremSubject::Collisions => {
                self.fault(measured, |fault| matches!(fault, BlockViolation::Collision { .. }))
            }
            TheoremSubject::Delay { chunk, delays } => {
                let seen = self.delays(*chunk)?;
                let worse = [
                    (seen.least.ticks < delays.least.ticks).then_some(seen.least),
                    (seen.most.ticks > delays.most.ticks).then_some(seen.most),
                ];
                let delay = worse.into_iter().flatten().min_by_key(|delay| delay.device)?;
                let stage = measured.block.placement().stages_of(delay.device)[*chunk as usize];
                Some(self.at(delay.device, TheoremViolation::Delay { stage, ticks: delay.ticks }))
            }
            TheoremSubject::Lifespans => {
                let pairs = measured.peaks.iter().zip(&measured.bounds);
                let device = Device::at(pairs.clone().position(|(peak, bound)| peak > bound)?);
                let (peak, bound) = (measured.peaks[device.index()], measured.bounds[device.index()]);
                Some(self.at(device, TheoremViolation::Lifespans { peak, bound }))
            }
            TheoremSubject::Promise(position) => match &measured.promises {
                Err(error) => {
                    let device = match error {
                        FamilyError::Promise { device, .. } => *device,
                        _ => Device(0),
                    };
                    Some(self.at(device, TheoremViolation::NoBlock(error.clone())))
                }
                Ok(broken) => {
                    let promise = self.family.promises.get(*position)?;
                    let broken = broken.iter().find(|broken| broken.promise == *promise)?;
                    let start = measured.block.peak_start(&measured.model, broken.device);
                    Some(self.at(broken.device, TheoremViolation::Promise { broken: broken.clone(), start }))
                }
            },
        }
    }

    fn fault(&self, measured: &Measured, wanted: impl Fn(&BlockViolation) -> bool) -> Option<Counterexample> {
        let placement = measured.block.placement();
        let device = |fault: &BlockViolation| match fault {
            BlockViolation::Dependency { pass, .. } => placement.device_of(pass.stage),
            BlockViolation::Collision { device, .. } => *device,
        };
        let first = measured.faults.iter().filter(|fault| wanted(fault)).min_by_key(|fault| device(fault))?;
        Some(self.at(device(first), TheoremViolation::BlockViolation(first.clone())))
    }

    fn at(&self, device: Device, violation: TheoremViolation) -> Counterexample {
        let passes = self.block.as_ref().map_or_else(
            |_| Vec::new(),
            |Measured { block, model, .. }| {
                let passes = block.passes_of(device);
                passes.map(|(pass, at)| (pass, at, block.duration(model, pass))).collect()
            },
        );
        Counterexample {
            devices: self.devices,
            device,
            violation,
            smallest: true,
            interval: self.family.interval,
            passes,
        }
    }
}

impl Measured {
    fn of(family: &Family, devices: u32) -> Result<Self, FamilyError> {
        let (block, model) = (family.block(devices)?, family.model(devices, 1)?);
        let faults = block.faults(&model);
        let (peaks, bounds) = (block.steady_peak(&model), block.paper_bound(&model));
        Ok(Self { promises: family.broken_promises(devices), block, model, faults, peaks, bounds })
    }
}
