//! **Turnover bound.** How long a device with little memory waits for what it holds to come back.
//!
//! Count, on one device with v stages, what is *out*: begun by an F, not yet ended by its W. If every
//! stage holds at least h units from F to W and the capacity is C, at most `M = floor(C/h)` are out at any
//! instant. Let `q = floor(M/v)` and `E = v(q+1) - M`, so `1 <= E <= v`. Number the passes of each
//! stage and kind by their starts, k = 0, 1, ...; `F_k` is the k-th forward of the device's highest
//! stage.
//!
//! **Theorem.** `start(F_(k+q)) >= start(F_k) + P` with `P = tF + L + E*(tI + tW) + (E-1)*tF'`, where tF
//! is the duration of that F, L the lag from its end to the I of its own stage, through the last stage
//! and back, and tI + tW and tF' are the least of any stage of the device; and with `P = tF + min(L_s +
//! tI_s + tW_s)` over the device's stages s, `L_s` being the lag to the I of s. So the last of the m
//! forwards starts at least `floor((m-1)/q)*P + ((m-1) mod q)*tF` after the first, and the interval per
//! microbatch is at least P/q in the long run.
//!
//! **Proof.** The first k+q+1 forwards of the highest stage are preceded by as many of every other
//! stage of the device, so when `F_(k+q)` starts, at least `v(k+q+1)` forwards have started, this one
//! included, and at least `v(k+q+1) - M = vk + E` Ws have ended. At most vk of them are numbered below
//! k, so E have numbers of k or more, and their E Is as well, which start after the end of `F_k` and
//! the lag L: their stages are not above the highest, so the lag to them is no less. Go back from
//! `F_(k+q)` over the device's r-th last forward before it: when it starts, at least `vk + E - r` Ws have
//! ended, so for r < E it too comes after a W numbered k or more. All these passes, E Is, E Ws and E-1
//! Fs, run on the device between `end(F_k) + L` and `start(F_(k+q))`, one of the Ws, of some stage s,
//! no earlier than `L_s` and its I after `end(F_k)`.
//!
//! With V placement, equal stages and M chunks on the last device P is L + 2S for even M and L + S for
//! odd M, where S = tF + tI + tW and L = (d-1)(tF + tI + 2c).
//!
//! The same holds with "until I" for "until W": what is out ends with its I, every stage holds at
//! least h units so long, and only the E Is and E-1 Fs run in between.

use num_integer::Integer;
use num_rational::Ratio;

use super::least_held;
use super::path::Paths;
use super::reason::{Bound, BoundReason, Objective};
use crate::model::{Device, Kind, Model, Stage, Ticks, Units};

/// What the theorem says of a device.
#[derive(Clone, Copy)]
pub(super) struct Turn {
    /// How many microbatches later the highest stage's forward waits, q.
    held: i64,
    /// For how long, P.
    length: Ticks,
}

impl Turn {
    /// The least time per microbatch in the long run.
    pub(super) fn pace(self) -> Ratio<i64> {
        Ratio::new(self.length.0, self.held)
    }
}

/// The turns of a device, counted until W and until I; none where memory does not limit it.
pub(super) fn turns(model: &Model, paths: &Paths<'_>, device: Device) -> Vec<Turn> {
    let Some(capacity) = model.activation_capacity(device) else { return Vec::new() };
    let stages = model.placement().stages_of(device);
    let highest = highest(model, device);
    let chunks = i64::try_from(stages.len()).expect("a device holds few stages");
    let lag = |to: Stage| paths.forward_to_weight(highest, to) - model.duration(to, Kind::B);
    let least = |kind| stages.iter().map(|&stage| model.duration(stage, kind)).min().unwrap_or_default();
    let until_weight = |stage: &Stage| least_held(model, *stage).min(model.retained_for_weight(*stage));
    let until_input = |stage: &Stage| least_held(model, *stage);
    let counts =
        [(stages.iter().map(until_weight).min(), Kind::B), (stages.iter().map(until_input).min(), Kind::I)];
    counts
        .into_iter()
        .filter_map(|(holds, backward)| {
            let holds = holds.filter(|&units| units > Units::ZERO)?;
            let (held, over) = Integer::div_mod_floor(&(capacity.0 / holds.0), &chunks);
            let ended = chunks - over;
            let several = lag(highest) + least(backward) * ended + least(Kind::F) * (ended - 1);
            let one = stages.iter().map(|&to| lag(to) + model.duration(to, backward)).min()?;
            let length = model.duration(highest, Kind::F) + several.max(one);
            // A device that holds no microbatch whole runs none.
            (held > 0).then_some(Turn { held, length })
        })
        .collect()
}

/// The turnover bounds of a device.
pub(super) fn bounds(model: &Model, paths: &Paths<'_>, device: Device, objective: Objective) -> Vec<Bound> {
    let stages = model.placement().stages_of(device);
    let highest = highest(model, device);
    let lowest = *stages.iter().min().expect("a device holds a stage");
    let (head, tail) = match objective {
        Objective::Makespan => (paths.forward_head(highest), paths.forward_tail(highest)),
        Objective::DeviceSpan => {
            (paths.forward_head(highest) - paths.forward_head(lowest), paths.forward_to_end(highest, stages))
        }
    };
    let later = i64::from(model.microbatches()) - 1;
    let forward = model.duration(highest, Kind::F);
    turns(model, paths, device)
        .into_iter()
        .map(|Turn { held, length: turn }| {
            // At most all microbatches' own critical paths and the device's work: no sum overflows.
            let value = head + turn * (later / held) + forward * (later % held + 1) + tail;
            Bound { value, reason: BoundReason::Turnover { device, held, turn } }
        })
        .collect()
}

fn highest(model: &Model, device: Device) -> Stage {
    *model.placement().stages_of(device).iter().max().expect("a device holds a stage")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Memory, Placement};

    /// Two devices in a V, of which device 0 has room for three chunks: q = 1 and E = 1.
    fn model(input: [i64; 4], weight: [i64; 4]) -> Model {
        let placement = Placement::v(2).expect("a placement");
        let unit = Model::equal_stages(placement.clone(), 4, [1, 1, 1, 0]).expect("a model");
        let mut costs = unit.costs().clone();
        costs.backward_input = input.map(Ticks).to_vec();
        costs.backward_weight = weight.map(Ticks).to_vec();
        let memory = Memory { capacity: vec![Some(Units(3)), None], ..unit.memory().clone() };
        Model::new("test".to_owned(), None, placement, 4, costs, memory).expect("a model")
    }

    fn first(model: &Model) -> (i64, Ticks) {
        let turns = turns(model, &Paths::new(model), Device(0));
        let Turn { held, length } = turns[0];
        assert_eq!(turns[0].pace(), Ratio::new(length.0, held));
        (held, length)
    }

    #[test]
    fn the_forward_waits_for_the_quickest_backward_of_the_device() {
        // F of stage 3, and at once its I and W.
        assert_eq!(first(&model([1, 1, 1, 1], [1, 1, 1, 1])), (1, Ticks(1 + 2)));
        // W of stage 3 takes long. I and W of stage 0 come after I of stages 3, 2 and 1.
        assert_eq!(first(&model([1, 1, 1, 10], [1, 1, 1, 100])), (1, Ticks(1 + 12 + 2)));
    }
}
