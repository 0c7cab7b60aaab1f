//! The figures of a replayed schedule, as every command gives them.

use std::fmt;

use serde::Serialize;

use super::caveats::best_makespan;
use super::violations::count;
use crate::amounts::Amounts;
use crate::analysis::Recomputation;
use crate::model::{Device, Model, Units};
use crate::replay::{Rate, Verdict};
use crate::schedule::Schedule;

/// What replay measured. Times are absent when the schedule cannot run to its end, memory when the
/// model does not describe its pipeline.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figures {
    /// The last end over all devices, the first start being 0, in ticks.
    pub makespan: Option<i64>,
    /// The same with every duration at the low end of its range; absent for a model without ranges.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub best_case_makespan: Option<i64>,
    /// The least time within which every device can run its passes, where a device may begin later than as soon as
    /// possible, in ticks.
    pub device_span: Option<i64>,
    /// The idle share of all devices within `device_span`.
    pub bubble_rate: Option<f64>,
    /// The same, exact: `"num/den"`.
    pub bubble_rate_exact: Option<String>,
    /// The idle share of all devices within `makespan`.
    pub idle_rate: Option<f64>,
    /// The same, exact: `"num/den"`.
    pub idle_rate_exact: Option<String>,
    /// The share of all devices within `device_span` in which they run forwards and backwards, without
    /// recomputation.
    pub useful_rate: Option<f64>,
    /// The same, exact: `"num/den"`.
    pub useful_rate_exact: Option<String>,
    /// How many passes recompute.
    pub recomputed_passes: u64,
    /// The stages that are recomputed, and for how many microbatches each.
    pub recomputed_stages: Vec<RecomputedStage>,
    /// How many activations each device offloads; absent where none does.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub offloaded: Vec<usize>,
    /// The most each device holds at any instant, in units.
    pub peak_memory: Vec<i64>,
    /// The largest of those.
    pub peak_memory_max: Option<i64>,
}

/// A stage that is recomputed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct RecomputedStage {
    /// The stage.
    stage: u32,
    /// For how many microbatches it is.
    microbatches: u32,
}

impl Figures {
    /// The figures of a schedule that could not even be made.
    pub const fn none() -> Self {
        Self {
            makespan: None,
            best_case_makespan: None,
            device_span: None,
            bubble_rate: None,
            bubble_rate_exact: None,
            idle_rate: None,
            idle_rate_exact: None,
            useful_rate: None,
            useful_rate_exact: None,
            recomputed_passes: 0,
            recomputed_stages: Vec::new(),
            offloaded: Vec::new(),
            peak_memory: Vec::new(),
            peak_memory_max: None,
        }
    }

    /// The figures of a schedule that replay has judged.
    pub fn of(model: &Model, schedule: &Schedule, verdict: &Verdict) -> Self {
        let recomputed = Recomputation::of(schedule);
        let stages = recomputed.stages.iter();
        let metrics = verdict.timing.as_ref().map(|timing| &timing.metrics);
        let peaks = verdict.peak_memory.iter().map(|peak| peak.0);
        Self {
            makespan: metrics.map(|metrics| metrics.makespan.0),
            best_case_makespan: best_makespan(model, schedule).map(|makespan| makespan.0),
            device_span: metrics.map(|metrics| metrics.device_span.0),
            bubble_rate: metrics.map(|metrics| decimal(metrics.bubble_rate)),
            bubble_rate_exact: metrics.map(|metrics| fraction(metrics.bubble_rate)),
            idle_rate: metrics.map(|metrics| decimal(metrics.idle_rate)),
            idle_rate_exact: metrics.map(|metrics| fraction(metrics.idle_rate)),
            useful_rate: metrics.map(|metrics| decimal(metrics.useful_rate)),
            useful_rate_exact: metrics.map(|metrics| fraction(metrics.useful_rate)),
            recomputed_passes: recomputed.passes(),
            recomputed_stages: stages
                .map(|&(stage, microbatches)| RecomputedStage { stage: stage.0, microbatches })
                .collect(),
            offloaded: offloaded(schedule),
            peak_memory: peaks.clone().collect(),
            peak_memory_max: peaks.max(),
        }
    }
}

/// How many activations each device offloads; empty where none does.
fn offloaded(schedule: &Schedule) -> Vec<usize> {
    let counts = Device::all(schedule.devices()).map(|device| schedule.offloads(device).len());
    if schedule.offload_count() == 0 { Vec::new() } else { counts.collect() }
}

/// The nearest decimal to an exact rate, for people and for plots.
pub fn decimal(rate: Rate) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "the exact rate is given beside it")]
    let (numerator, denominator) = (*rate.numer() as f64, *rate.denom() as f64);
    numerator / denominator
}

/// An exact rate as `"num/den"`, also where the denominator is 1.
pub fn fraction(rate: Rate) -> String {
    format!("{}/{}", rate.numer(), rate.denom())
}

/// A rate as a percentage with two decimals, rounded half up in integers.
pub fn percentage(rate: Rate) -> String {
    let hundredths = (rate * Rate::from_integer(10_000) + Rate::new(1, 2)).floor().to_integer();
    let sign = if hundredths < 0 { "-" } else { "" };
    let hundredths = hundredths.unsigned_abs();
    format!("{sign}{}.{:02} %", hundredths / 100, hundredths % 100)
}

/// The figures of a verdict as lines of text.
#[derive(Debug)]
pub struct Lines<'a> {
    /// What was replayed.
    pub schedule: &'a Schedule,
    /// What was measured.
    pub verdict: &'a Verdict,
    /// Under what.
    pub model: &'a Model,
    /// How times and memory are shown.
    pub amounts: Amounts<'a>,
}

impl fmt::Display for Lines<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = |what: &str, figure: String| writeln!(out, "  {what:<12}  {figure}");
        if let Some(timing) = &self.verdict.timing {
            let metrics = &timing.metrics;
            if let Some(best) = best_makespan(self.model, self.schedule) {
                line("makespan", format!("{} in the worst case", self.amounts.time(metrics.makespan)))?;
                line("best case", self.amounts.time(best))?;
            } else {
                line("makespan", self.amounts.time(metrics.makespan))?;
            }
            line("device span", self.amounts.time(metrics.device_span))?;
            line("bubble rate", percentage(metrics.bubble_rate))?;
            line("idle rate", percentage(metrics.idle_rate))?;
            // Without recomputation that is what the bubble rate leaves of the whole.
            if metrics.useful < metrics.busy {
                line("useful rate", percentage(metrics.useful_rate))?;
            }
        }
        let recomputed = Recomputation::of(self.schedule);
        if !recomputed.is_empty() {
            line("recomputed", recomputed.to_string())?;
        }
        let offloaded = offloaded(self.schedule);
        if !offloaded.is_empty() {
            let of_device: Vec<String> = offloaded.iter().map(ToString::to_string).collect();
            let all: usize = offloaded.iter().sum();
            let which = if all == 1 { "activation" } else { "activations" };
            line("offloaded", format!("{all} {which}; by device: {}", of_device.join(", ")))?;
        }
        if !self.verdict.peak_memory.is_empty() {
            line("peak memory", peaks(&self.verdict.peak_memory, self.amounts))?;
        }
        Ok(())
    }
}

/// The largest peak, and the smallest where they differ.
pub fn peaks(peaks: &[Units], amounts: Amounts<'_>) -> String {
    let largest = peaks.iter().max().copied().unwrap_or_default();
    let shown = amounts.memory(largest);
    match peaks.iter().min() {
        Some(&smallest) if smallest < largest => {
            format!("{shown} (least on any device: {})", amounts.further_memory(smallest))
        }
        _ => shown,
    }
}

/// The first line above a table of schedules: the model, its devices and microbatches, and the units of time and memory.
pub fn headline(model: &str, [devices, microbatches]: [u32; 2], [time, memory]: [&str; 2]) -> String {
    format!(
        "{model}: {}, {}; times in {time}, memory in {memory}",
        count(devices as usize, "device", "devices"),
        count(microbatches as usize, "microbatch", "microbatches"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_round_half_up_to_hundredths() {
        for (rate, text) in [
            (Rate::new(0, 1), "0.00 %"),
            (Rate::new(1, 3), "33.33 %"),
            (Rate::new(2, 3), "66.67 %"),
            (Rate::new(1, 20_000), "0.01 %"),
            (Rate::new(1, 1), "100.00 %"),
            (Rate::new(-1, 3), "-33.33 %"),
        ] {
            assert_eq!(percentage(rate), text);
        }
    }
}
