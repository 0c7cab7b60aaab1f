//! From patterns to a block: the constraints they make, the least interval, and the offsets.

use num_rational::Ratio;

use super::ZoneError;
use super::pattern::{Pattern, Step};
use super::pipeline::{Interval, Pipeline};
use super::ratio::{Link, least_ratio, potentials};
use crate::block::{Block, BlockError};
use crate::encode::CheckedBlock;
use crate::model::{Kind, Microbatch, Pass, Ticks, Units};

/// Patterns for all devices, in the order of the pipeline, that go together at an interval.
pub(super) struct Assembly<'p, 'm> {
    pub pipeline: &'p Pipeline<'m>,
    pub patterns: Vec<Pattern>,
    pub interval: Interval,
}

impl Assembly<'_, '_> {
    /// The largest peak over the devices.
    pub(super) fn peak(&self) -> i64 {
        let devices = self.patterns.iter().zip(&self.pipeline.figures);
        devices.map(|(pattern, figures)| pattern.peak(figures)).max().unwrap_or(0)
    }

    /// The same patterns at the least interval at which they go together, which is not below `floor`.
    pub(super) fn tightened(self, floor: Interval) -> Result<Self, ZoneError> {
        let (passes, links) = self.constraints();
        let interval = least_ratio(passes.len(), &links, floor, self.interval, self.pipeline.stop)?;
        Ok(Self { interval, ..self })
    }

    /// The passes, and all difference constraints of the patterns between them.
    fn constraints(&self) -> (Vec<Pass>, Vec<Link>) {
        let pipeline = self.pipeline;
        let (mut passes, mut links) = (Vec::new(), Vec::new());
        let mut chain = vec![0; 2 * pipeline.model.stages() as usize];
        for (device, (pattern, figures)) in self.patterns.iter().zip(&pipeline.figures).enumerate() {
            let steps = pattern.shape.steps(figures);
            let first = passes.len();
            let copies: Vec<i64> =
                steps.iter().map(|&step| pattern.shape.copy(figures, step, &pattern.copy)).collect();
            for (at, &step) in steps.iter().enumerate() {
                let (chunk, kind) = match step {
                    Step::Node(node) if node < figures.chunks => (node, Kind::F),
                    Step::Node(node) => (figures.nodes() - 1 - node, pipeline.passes.backward()),
                    Step::Weight(chunk) => (chunk, Kind::W),
                    Step::Recompute(chunk) => (chunk, Kind::R),
                };
                if let Step::Node(node) = step {
                    chain[pipeline.position(device, node)] = first + at;
                }
                let pass = Pass::new(pipeline.stage(device, chunk), kind, Microbatch(0));
                passes.push(pass);
                let next = (at + 1) % steps.len();
                links.push(Link {
                    from: first + at,
                    to: first + next,
                    length: pipeline.model.duration(pass.stage, kind).0,
                    height: copies[next] - copies[at] - i64::from(next == 0),
                });
            }
        }
        for at in 1..chain.len() {
            let length = pipeline.lag(at - 1, at);
            links.push(Link { from: chain[at - 1], to: chain[at], length, height: 0 });
        }
        (passes, links)
    }

    /// The block of these patterns, as early as it can be, checked by the block algebra.
    pub(super) fn into_block(self) -> Result<CheckedBlock, ZoneError> {
        let (passes, links) = self.constraints();
        let offsets = potentials(passes.len(), &links, self.interval, self.pipeline.stop)?;
        let offsets = offsets.ok_or(ZoneError::Overflow)?;
        let narrow = |value: i128| i64::try_from(value).map_err(|_| ZoneError::Overflow);
        let (parts, length) = (narrow(*self.interval.denom())?, narrow(*self.interval.numer())?);
        let offsets = passes.into_iter().zip(offsets.into_iter().map(Ticks));
        let model = self.pipeline.model;
        let block = Block::periodic(model.placement().clone(), 1, parts, Ticks(length), offsets)
            .map_err(|error| match error {
                BlockError::Overflow => ZoneError::Overflow,
                error => ZoneError::Rejected(error.to_string()),
            })?
            .from_zero();
        let longest = model.costs().forward.iter().chain(&model.costs().backward_input);
        let longest = longest.chain(&model.costs().backward_weight).chain(&model.costs().communication).max();
        if longest.is_some_and(|longest| longest.0.checked_mul(parts.saturating_mul(4)).is_none()) {
            return Err(ZoneError::Overflow);
        }
        if let Some(fault) = block.faults(model).first() {
            return Err(ZoneError::Rejected(fault.to_string()));
        }
        let peak = block.steady_peak(model);
        let best = CheckedBlock { block, interval: Ratio::new(length, parts), peak };
        if best.peak_max() != Units(self.peak()) {
            return Err(ZoneError::Rejected(format!("it holds {}, not {}", best.peak_max(), self.peak())));
        }
        Ok(best)
    }
}
