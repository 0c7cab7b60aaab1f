//! Which pass a value in a dump is of.

use super::Config;
use super::error::PrimusError;
use crate::model::{Device, Kind, Microbatch, Pass, Placement};

/// What the passes of a rank in an iteration are named by.
#[derive(Debug, Clone, Copy)]
pub(super) struct Names<'a> {
    pub(super) config: Config,
    pub(super) placement: &'a Placement,
    pub(super) device: Device,
    pub(super) iteration: u32,
}

/// A microbatch and a chunk, as a dump labels a pass.
pub(super) type Label = (u32, u32);

impl Names<'_> {
    /// The pass at a place of a list, by its label or, without one, by Megatron's order.
    pub(super) fn pass(
        &self,
        key: &'static str,
        at: usize,
        kind: Kind,
        label: Option<Label>,
    ) -> Result<Pass, PrimusError> {
        let (microbatch, chunk) = match label {
            Some(label) => label,
            None => self.in_order(at, kind)?,
        };
        let stage = self.placement.stages_of(self.device).get(chunk as usize);
        if let Some(&stage) = stage.filter(|_| microbatch < self.config.microbatches) {
            return Ok(Pass::new(stage, kind, Microbatch(microbatch)));
        }
        let (rank, iteration) = (self.device, self.iteration);
        Err(PrimusError::Beyond { rank, iteration, key, at, microbatch, chunk })
    }

    /// Megatron's order: microbatches in groups of as many as there are ranks, and of each group one chunk after the other,
    /// backwards from the last one. With one chunk, microbatches are in their order.
    fn in_order(&self, at: usize, kind: Kind) -> Result<Label, PrimusError> {
        let Config { ranks, chunks, microbatches } = self.config;
        let at = u32::try_from(at).unwrap_or(u32::MAX);
        if chunks <= 1 {
            return Ok((at, 0));
        }
        if ranks == 0 || microbatches % ranks != 0 {
            return Err(PrimusError::Groups { microbatches, ranks, chunks });
        }
        let (round, within) = (at / ranks, at % ranks);
        let (group, chunk) = (round / chunks, round % chunks);
        let chunk = if kind == Kind::F { chunk } else { chunks - 1 - chunk };
        Ok((group.saturating_mul(ranks).saturating_add(within), chunk))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passes(config: Config, device: u32, kind: Kind, count: usize) -> String {
        let placement = Placement::looped(config.ranks, config.chunks).expect("a placement");
        let names = Names { config, placement: &placement, device: Device(device), iteration: 1 };
        let pass = |at| names.pass("fwd_start", at, kind, None).expect("a pass").to_string();
        (0..count).map(pass).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn passes_without_labels_are_in_megatrons_order() {
        let config = Config { ranks: 2, chunks: 2, microbatches: 4 };
        assert_eq!(passes(config, 1, Kind::F, 8), "1F0 1F1 3F0 3F1 1F2 1F3 3F2 3F3");
        assert_eq!(passes(config, 1, Kind::B, 8), "3B0 3B1 1B0 1B1 3B2 3B3 1B2 1B3");
        let linear = Config { ranks: 3, chunks: 1, microbatches: 4 };
        assert_eq!(passes(linear, 2, Kind::B, 4), "2B0 2B1 2B2 2B3");
    }

    #[test]
    fn what_has_no_place_is_refused() {
        let config = Config { ranks: 2, chunks: 2, microbatches: 4 };
        let placement = Placement::v(2).expect("a placement");
        let names = Names { config, placement: &placement, device: Device(0), iteration: 7 };
        assert_eq!(
            names.pass("fwd_start", 0, Kind::F, Some((3, 1))).map(|pass| pass.to_string()).ok().as_deref(),
            Some("3F3")
        );
        for (at, label) in [(8, None), (0, Some((4, 0))), (0, Some((0, 2)))] {
            let error = names.pass("fwd_start", at, Kind::F, label).expect_err("beyond");
            assert!(matches!(error, PrimusError::Beyond { iteration: 7, .. }), "{error}");
        }
        let odd = Names { config: Config { microbatches: 3, ..config }, ..names };
        let error = odd.pass("fwd_start", 0, Kind::F, None).expect_err("three microbatches in groups of two");
        assert!(matches!(error, PrimusError::Groups { .. }), "{error}");
    }
}
