//! The problem that a certificate is about, in a few lines: a reader has to see what was proved of what.

use std::fmt::{self, Display};

use itertools::Itertools;
use serde::Serialize;

use crate::amounts::plural;
use crate::amounts::{Amounts, Column};
use crate::model::{
    Device, Kind, Links, Messages, Model, Offload, Overlap, PairDurations, Recompute, RecomputeLevel, Shape,
    Sharding, Ticks, Units,
};

mod parts;

use parts::{PartsReport, with_parts};

/// A problem, as it is printed.
#[derive(Debug, Serialize)]
pub(super) struct ProblemReport<'a> {
    name: &'a str,
    devices: u32,
    /// The name of the placement; `stages_of` says it all.
    placement: String,
    /// The stages of each device.
    stages_of: Vec<Vec<u32>>,
    stages: u32,
    microbatches: u32,
    time_unit: &'a str,
    /// By stage, in ticks, as the other durations.
    forward: Vec<i64>,
    backward_input: Vec<i64>,
    backward_weight: Vec<i64>,
    /// By stage boundary, in ticks.
    communication: Vec<i64>,
    memory_unit: &'a str,
    /// By stage, in units, as the other amounts.
    activation: Vec<i64>,
    retained_for_weight: Vec<i64>,
    checkpoint: Option<Vec<i64>>,
    /// The levels of recomputation, where there is more to say than `checkpoint` does.
    #[serde(skip_serializing_if = "Option::is_none")]
    recompute: Option<RecomputeReport>,
    weights: Vec<i64>,
    /// The low ends of the durations and latencies above; absent where none is a range.
    #[serde(skip_serializing_if = "Option::is_none")]
    low_ends: Option<LowEnds>,
    /// By device, in units; null where there is no limit.
    capacity: Vec<Option<i64>>,
    /// What passes need while they run, where that is stated.
    #[serde(skip_serializing_if = "Option::is_none")]
    workspace: Option<WorkspaceReport>,
    /// By stage boundary, in units: the buffer of a message, where that is stated.
    #[serde(skip_serializing_if = "Option::is_none")]
    receive: Option<Vec<i64>>,
    /// The durations of overlapped pairs, where some are stated.
    overlap: Option<OverlapReport>,
    /// What messages occupy, if that is stated.
    messages: Option<MessagesReport>,
    /// What follows the last backward of each stage, if anything does.
    step: Option<StepReport>,
    /// What may go to the host, where that is stated.
    #[serde(skip_serializing_if = "Option::is_none")]
    offload: Option<OffloadReport>,
    /// What gathers sharded weights, where that is stated.
    #[serde(skip_serializing_if = "Option::is_none")]
    sharding: Option<ShardingReport>,
    /// Whether it was found to be the problem that the reader asked about.
    compared_with_model: bool,
    #[serde(skip)]
    shape: Shape,
}

/// What durations and latencies take at least, in ticks.
#[derive(Debug, Serialize)]
struct LowEnds {
    forward: Vec<i64>,
    backward_input: Vec<i64>,
    backward_weight: Vec<i64>,
    communication: Vec<i64>,
}

/// The levels of recomputation, and whether R runs right before its backward.
#[derive(Debug, Serialize)]
struct RecomputeReport {
    levels: Vec<LevelReport>,
    fused: bool,
}

/// What F keeps, by stage in units, and how long R takes, by stage in ticks; null where that is as long as F.
#[derive(Debug, Serialize)]
struct LevelReport {
    checkpoint: Vec<i64>,
    duration: Option<Vec<i64>>,
}

/// What messages occupy.
#[derive(Debug, Serialize)]
struct MessagesReport {
    /// By stage boundary, in ticks.
    occupancy: Vec<i64>,
    /// The devices of each node that has one network card; null where each pair of devices has its links.
    nodes: Option<Vec<Vec<Device>>>,
}

/// The durations of overlapped pairs, in ticks.
#[derive(Debug, Serialize)]
struct OverlapReport {
    forward_backward: PairsReport,
    forward_input: PairsReport,
    /// What passes consist of, and how long their pairs take that have no duration above; absent where no pass has parts.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    parts: Option<PartsReport>,
}

/// The durations of the pairs of one sort.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum PairsReport {
    /// As long as both passes: null.
    Sum,
    Uniform(i64),
    Listed(Vec<PairReport>),
}

/// A pair, by its stages.
#[derive(Debug, Serialize)]
struct PairReport {
    forward: u32,
    backward: u32,
    duration: i64,
}

impl PairsReport {
    fn of(durations: &PairDurations) -> Self {
        match durations {
            PairDurations::Sum => Self::Sum,
            PairDurations::Uniform(duration) => Self::Uniform(duration.0),
            PairDurations::Listed(listed) => Self::Listed(
                listed
                    .iter()
                    .map(|(&(forward, backward), duration)| PairReport {
                        forward: forward.0,
                        backward: backward.0,
                        duration: duration.0,
                    })
                    .collect(),
            ),
        }
    }
}

impl PairsReport {
    fn list(pairs: &[PairReport]) -> String {
        let pair =
            |pair: &PairReport| format!("{} by stages {} and {}", pair.duration, pair.forward, pair.backward);
        let shown = pairs.iter().take(SHOWN).map(pair).join(", ");
        match pairs.len().saturating_sub(SHOWN) {
            0 => shown,
            left => format!("{shown} and {left} more (--json gives them all)"),
        }
    }
}

impl Display for PairsReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sum => out.write_str("as long as both"),
            Self::Uniform(duration) => write!(out, "{duration}"),
            Self::Listed(pairs) => out.write_str(&Self::list(pairs)),
        }
    }
}

/// By stage, in units.
#[derive(Debug, Serialize)]
struct WorkspaceReport {
    forward: Vec<i64>,
    backward_input: Vec<i64>,
    backward_weight: Vec<i64>,
    backward: Vec<i64>,
    recompute: Vec<i64>,
}

/// How long the weights of stages are gathered and what they then take, by stage, and of how many stages at a time.
#[derive(Debug, Serialize)]
struct ShardingReport {
    gather: Vec<i64>,
    gathered: Vec<i64>,
    stages: u32,
}

/// By stage: what of an activation goes to the host, in units, and how long copies take, in ticks.
#[derive(Debug, Serialize)]
struct OffloadReport {
    moved: Vec<i64>,
    to_host: Vec<i64>,
    from_host: Vec<i64>,
}

/// By stage, in ticks.
#[derive(Debug, Serialize)]
struct StepReport {
    reduce: Vec<i64>,
    optimizer: Vec<i64>,
}

/// What a model says of recomputation, if that is more than one checkpoint.
fn recompute_of(model: &Model) -> Option<RecomputeReport> {
    let Recompute { levels, fused } = model.recompute()?;
    if matches!(levels.as_slice(), [RecomputeLevel { duration: None, .. }]) && !fused {
        return None;
    }
    let level = |level: RecomputeLevel| LevelReport {
        checkpoint: level.checkpoint.iter().map(|units| units.0).collect(),
        duration: level.duration.map(|list| list.iter().map(|ticks| ticks.0).collect()),
    };
    Some(RecomputeReport { levels: levels.into_iter().map(level).collect(), fused })
}

impl<'a> ProblemReport<'a> {
    pub(super) fn of(model: &'a Model, compared_with_model: bool) -> Self {
        let (placement, costs, memory) = (model.placement(), model.costs(), model.memory());
        let ticks = |values: &[Ticks]| values.iter().map(|ticks| ticks.0).collect_vec();
        let units = |values: &[Units]| values.iter().map(|units| units.0).collect_vec();
        let stages_of = placement.lists().iter().map(|stages| stages.iter().map(|stage| stage.0).collect());
        Self {
            name: model.name(),
            devices: model.devices(),
            placement: placement.shape().to_string(),
            stages_of: stages_of.collect(),
            stages: placement.stages(),
            microbatches: model.microbatches(),
            time_unit: &costs.unit,
            forward: ticks(&costs.forward),
            backward_input: ticks(&costs.backward_input),
            backward_weight: ticks(&costs.backward_weight),
            communication: ticks(&costs.communication),
            memory_unit: &memory.unit,
            activation: units(&memory.activation),
            retained_for_weight: units(&memory.retained_for_weight),
            checkpoint: memory.checkpoint.as_deref().map(units),
            recompute: recompute_of(model),
            weights: units(&memory.weights),
            low_ends: model.low_ends().map(|low| LowEnds {
                forward: ticks(&low.forward),
                backward_input: ticks(&low.backward_input),
                backward_weight: ticks(&low.backward_weight),
                communication: ticks(&low.communication),
            }),
            capacity: memory.capacity.iter().map(|capacity| capacity.map(|units| units.0)).collect(),
            workspace: model.transient().workspace.as_ref().map(|workspace| WorkspaceReport {
                forward: units(&workspace.forward),
                backward_input: units(&workspace.backward_input),
                backward_weight: units(&workspace.backward_weight),
                backward: units(&workspace.backward),
                recompute: units(&workspace.recompute),
            }),
            receive: model.transient().receive.as_deref().map(units),
            overlap: (*model.overlap() != Overlap::default()).then(|| OverlapReport {
                forward_backward: PairsReport::of(&model.overlap().forward_backward),
                forward_input: PairsReport::of(&model.overlap().forward_input),
                parts: PartsReport::of(model),
            }),
            messages: model.messages().map(|Messages { occupancy, links }| MessagesReport {
                occupancy: ticks(occupancy),
                nodes: match links {
                    Links::Pair => None,
                    Links::Nodes(nodes) => Some(nodes.clone()),
                },
            }),
            step: model
                .step()
                .map(|step| StepReport { reduce: ticks(&step.reduce), optimizer: ticks(&step.optimizer) }),
            sharding: model.sharding().map(|Sharding { gather, gathered, stages }| ShardingReport {
                gather: ticks(gather),
                gathered: units(gathered),
                stages: *stages,
            }),
            offload: model.offload().map(|Offload { moved, to_host, from_host }| OffloadReport {
                moved: units(moved),
                to_host: ticks(to_host),
                from_host: ticks(from_host),
            }),
            compared_with_model,
            shape: placement.shape(),
        }
    }
}

impl fmt::Display for ProblemReport<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let amounts = Amounts::new(out.alternate(), self.time_unit, self.memory_unit);
        let shown = Shown(amounts);
        let mut line = |what: &str, text: String| writeln!(out, "  {what:<12}  {text}");
        let placement = match self.shape {
            Shape::Explicit => {
                let lists = self.stages_of.iter().map(|stages| format!("[{}]", stages.iter().join(" ")));
                format!("stages {} on the devices in turn", values(&lists.collect_vec()))
            }
            _ => format!("{} placement", self.placement),
        };
        line(
            "problem",
            format!(
                "devices {}, stages {}, microbatches {}, {placement}",
                self.devices, self.stages, self.microbatches
            ),
        )?;
        let ([forward, input, weight], unit) =
            shown.times([&self.forward, &self.backward_input, &self.backward_weight]);
        line("durations", format!("F {forward}; I {input}; W {weight} {unit}"))?;
        if self.communication.iter().any(|&latency| latency > 0) {
            let ([latencies], unit) = shown.times([&self.communication]);
            line("latencies", format!("{latencies} {unit}"))?;
        } else {
            line("latencies", "none".to_owned())?;
        }
        if let Some(LowEnds { forward, backward_input, backward_weight, communication }) = &self.low_ends {
            let ([forward, input, weight, latencies], unit) =
                shown.times([forward, backward_input, backward_weight, communication]);
            let latencies =
                if communication.is_empty() { String::new() } else { format!("; latencies {latencies}") };
            line("low ends", format!("F {forward}; I {input}; W {weight}{latencies} {unit}"))?;
        }
        if let Some(OverlapReport { forward_backward, forward_input, parts }) = &self.overlap {
            let [full, input] = [(forward_backward, Kind::B), (forward_input, Kind::I)]
                .map(|(said, kind)| with_parts(said, parts.as_ref(), kind));
            line("pairs", format!("F beside B {full}; F beside I {input}; in {}", plural(self.time_unit)))?;
            for text in parts.iter().flat_map(PartsReport::lines) {
                line("parts", text)?;
            }
        }
        if let Some(MessagesReport { occupancy, nodes }) = &self.messages {
            let links = nodes.as_ref().map_or_else(
                || "a link from each device to each other one".to_owned(),
                |nodes| {
                    let nodes = nodes.iter().map(|devices| format!("[{}]", devices.iter().join(" ")));
                    format!("one network card for each of the nodes {}", nodes.format(" "))
                },
            );
            let ([occupancy], unit) = shown.times([occupancy]);
            line("messages", format!("occupy {occupancy} {unit}; {links}"))?;
        }
        if let Some(OffloadReport { moved, to_host, from_host }) = &self.offload {
            let ([moved], memory) = shown.memory([moved]);
            let ([to_host, from_host], time) = shown.times([to_host, from_host]);
            line("offload", format!("{moved} {memory}; to the host {to_host}, back {from_host} {time}"))?;
        }
        if let Some(StepReport { reduce, optimizer }) = &self.step {
            let ([reduce, optimizer], unit) = shown.times([reduce, optimizer]);
            line("step", format!("reduction {reduce}; optimiser step {optimizer} {unit}"))?;
        }
        if let Some(ShardingReport { gather, gathered, stages }) = &self.sharding {
            let (([gather], time), ([gathered], memory)) = (shown.times([gather]), shown.memory([gathered]));
            let stages = if *stages == 1 { "1 stage".to_owned() } else { format!("{stages} stages") };
            line("sharding", format!("gather {gather} {time}, {gathered} {memory}; {stages} at a time"))?;
        }
        let single = self.checkpoint.as_deref().filter(|_| self.recompute.is_none());
        let has_weights = self.weights.iter().any(|&weights| weights > 0);
        let weights: &[i64] = if has_weights { &self.weights } else { &[] };
        let ([activation, retained, checkpoint, weights], unit) =
            shown.memory([&self.activation, &self.retained_for_weight, single.unwrap_or_default(), weights]);
        let mut held = format!("F holds {activation}, until W {retained}");
        if single.is_some() {
            held.extend([", a checkpoint ", &checkpoint]);
        }
        if has_weights {
            held.extend([", weights ", &weights]);
        }
        line("memory", format!("{held} {unit}"))?;
        if let Some(RecomputeReport { levels, fused }) = &self.recompute {
            let level = |LevelReport { checkpoint, duration }: &LevelReport| {
                let again = duration.as_deref().map_or_else(
                    || "as F".to_owned(),
                    |duration| {
                        let ([again], unit) = shown.times([duration]);
                        format!("{again} {unit}")
                    },
                );
                let ([checkpoint], unit) = shown.memory([checkpoint]);
                format!("checkpoint {checkpoint} {unit}, R {again}")
            };
            let place = if *fused { "; right before its backward" } else { "" };
            line("recompute", format!("{}{place}", levels.iter().map(level).join("; ")))?;
        }
        if let Some(workspace) = &self.workspace {
            let WorkspaceReport { forward, backward_input, backward_weight, backward, recompute } = workspace;
            let ([forward, input, weight, full, again], unit) =
                shown.memory([forward, backward_input, backward_weight, backward, recompute]);
            let again = if self.checkpoint.is_some() { format!("; R {again}") } else { String::new() };
            line("workspace", format!("F {forward}; I {input}; W {weight}; B {full}{again} {unit}"))?;
        }
        if let Some(receive) = &self.receive {
            let ([receive], unit) = shown.memory([receive]);
            line("buffers", format!("{receive} {unit} for each received message"))?;
        }
        let limits = amounts.memories(self.capacity.iter().flatten().copied());
        let capacities = self
            .capacity
            .iter()
            .map(|capacity| capacity.map_or_else(|| "none".to_owned(), |units| limits.cell(units)));
        let capacities = match self.capacity.iter().all_equal_value() {
            Ok(None) => "none".to_owned(),
            Ok(&Some(units)) => format!("{} on each device", amounts.memory(units)),
            Err(_) => {
                format!("{} {} on the devices in turn", values(&capacities.collect_vec()), limits.unit())
            }
        };
        line("memory limit", capacities)?;
        let compared = if self.compared_with_model {
            "this problem is the one of the model that was given"
        } else {
            "this problem was not compared with yours: --model MODEL does it"
        };
        line("your model", compared.to_owned())
    }
}

/// Lists of amounts, all in one unit.
#[derive(Clone, Copy)]
struct Shown<'a>(Amounts<'a>);

impl Shown<'_> {
    /// Lists of times with all their digits, and their unit.
    fn times<const N: usize>(self, lists: [&[i64]; N]) -> ([String; N], String) {
        Self::listed(lists, &self.0.times_in_full(lists.into_iter().flatten().copied()))
    }

    /// Lists of amounts of memory, and their unit.
    fn memory<const N: usize>(self, lists: [&[i64]; N]) -> ([String; N], String) {
        Self::listed(lists, &self.0.memories(lists.into_iter().flatten().copied()))
    }

    fn listed<const N: usize>(lists: [&[i64]; N], column: &Column) -> ([String; N], String) {
        let list = |list: &[i64]| values(&list.iter().map(|&amount| column.cell(amount)).collect_vec());
        (lists.map(list), column.unit().to_owned())
    }
}

/// How many values are shown at most.
const SHOWN: usize = 16;

/// Values by stage or device: one where all are equal, and runs of equal ones in short.
fn values<T: PartialEq + Display>(all: &[T]) -> String {
    let runs = all.iter().dedup_with_count().collect_vec();
    if let [(_, value)] = runs.as_slice() {
        return value.to_string();
    }
    let run = |&(times, value): &(usize, &T)| match times {
        1 => value.to_string(),
        2 => format!("{value}, {value}"),
        _ => format!("{times} times {value}"),
    };
    let shown = runs.iter().take(SHOWN).map(run).join(", ");
    let left = runs.iter().skip(SHOWN).map(|(times, _)| times).sum::<usize>();
    if left == 0 { shown } else { format!("{shown} and {left} more (--json gives them all)") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_said_as_briefly_as_they_can_be() {
        for (all, text) in [
            (vec![7; 100], "7".to_owned()),
            (vec![1, 2, 3], "1, 2, 3".to_owned()),
            (vec![1, 1, 2], "1, 1, 2".to_owned()),
            ([vec![5; 31], vec![9]].concat(), "31 times 5, 9".to_owned()),
            ((0..20).collect(), format!("{} and 4 more (--json gives them all)", (0..16).join(", "))),
        ] {
            assert_eq!(values(&all), text);
        }
    }
}
