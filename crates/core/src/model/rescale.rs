//! The same times in nanoseconds.

use super::recompute::Levels;
use super::{
    Costs, Messages, Model, ModelError, Offload, Overlap, PairDurations, PassParts, Sharding, StepEnd, Ticks,
};

impl Model {
    /// The same pipeline with all its times in nanoseconds; nothing where its [unit](Costs::unit) has no length.
    ///
    /// # Errors
    /// When the whole could overflow.
    pub fn in_nanoseconds(&self) -> Result<Option<Self>, ModelError> {
        let Some(factor) = self.costs.nanoseconds_per_tick() else { return Ok(None) };
        let mut model = self.in_finer_ticks(factor)?;
        for costs in [Some(&mut model.costs), model.low.as_deref_mut()].into_iter().flatten() {
            "ns".clone_into(&mut costs.unit);
        }
        Ok(Some(model))
    }

    /// The same pipeline with `factor` ticks for each of its ticks. Its unit stays what it is called.
    ///
    /// # Errors
    /// When the whole could overflow.
    pub fn in_finer_ticks(&self, factor: i64) -> Result<Self, ModelError> {
        let mut model = self.clone();
        for ticks in model.times() {
            ticks.0 = ticks.0.checked_mul(factor).ok_or(ModelError::TimeOverflow)?;
        }
        let one = &mut model.plain_numbers.ticks.one;
        *one = one.and_then(|ticks| ticks.checked_mul(factor));
        model.checked()
    }

    /// Everything that the model counts in ticks. All fields are named here, so that a new one cannot be forgotten.
    fn times(&mut self) -> impl Iterator<Item = &mut Ticks> {
        let Self {
            costs,
            low,
            overlap: Overlap { forward_backward, forward_input, parts },
            merges,
            messages,
            step,
            offload,
            sharding,
            recompute,
            name: _,
            source: _,
            placement: _,
            microbatches: _,
            memory: _,
            transient: _,
            plain_numbers: _,
        } = self;
        let costs = [Some(costs), low.as_deref_mut()].into_iter().flatten();
        let costs = costs.flat_map(|costs| {
            let Costs { unit: _, forward, backward_input, backward_weight, communication } = costs;
            [forward, backward_input, backward_weight, communication].into_iter().flatten()
        });
        let messages = messages.iter_mut().flat_map(|Messages { occupancy, links: _ }| occupancy);
        let step =
            step.iter_mut().flat_map(|StepEnd { reduce, optimizer }| reduce.iter_mut().chain(optimizer));
        let offload = offload
            .iter_mut()
            .flat_map(|Offload { moved: _, to_host, from_host }| to_host.iter_mut().chain(from_host));
        let sharding = sharding.iter_mut().flat_map(|Sharding { gather, gathered: _, stages: _ }| gather);
        let recompute = recompute.iter_mut().flat_map(|levels| {
            let Levels { first, further, fused: _ } = &mut **levels;
            let further = further.iter_mut().map(|level| &mut level.duration);
            [first].into_iter().chain(further).flatten().flatten()
        });
        let pairs = [forward_backward, forward_input].into_iter().flat_map(PairDurations::times);
        let parts = parts.iter_mut().flat_map(PassParts::times);
        // Of sums that are so many times as long, the largest and the least are as well.
        let merges = merges.iter_mut().flat_map(|merges| merges.times());
        costs
            .chain(messages)
            .chain(step)
            .chain(offload)
            .chain(sharding)
            .chain(recompute)
            .chain(pairs)
            .chain(parts)
            .chain(merges)
    }
}

impl PairDurations {
    fn times(&mut self) -> Box<dyn Iterator<Item = &mut Ticks> + '_> {
        match self {
            Self::Sum => Box::new(std::iter::empty()),
            Self::Uniform(duration) => Box::new(std::iter::once(duration)),
            Self::Listed(durations) => Box::new(durations.values_mut()),
        }
    }
}

impl PassParts {
    fn times(&mut self) -> impl Iterator<Item = &mut Ticks> {
        let Self { stages: _, forward, backward, input } = self;
        let parts = forward.iter_mut().chain(backward.iter_mut().flatten()).chain(input.iter_mut().flatten());
        parts.map(|part| &mut part.duration)
    }
}
