//! A block, as it is printed.

use std::fmt;

use num_rational::Ratio;
use serde::{Serialize, Serializer};

use crate::amounts::Amounts;
use crate::block::Block;
use crate::cli::block_words::microbatches;
use crate::cli::number::Interval;
use crate::cli::table::Table;
use crate::cli::violations::count;
use crate::encode::BlockBound;
use crate::model::{Device, Model, Pass, Stage, Ticks, Units};

/// A block, as it is printed. Times are in ticks, exact.
#[derive(Serialize)]
pub struct BlockReport<'a> {
    pub interval: Interval,
    pub interval_per_microbatch: Interval,
    /// By device: the most that activations take in the steady phase, weights left out.
    pub activation_peak: Vec<i64>,
    /// The largest of those.
    pub activation_peak_max: Option<i64>,
    /// By device: what lifespans alone would allow (arXiv 2405.15362, Eq. 1).
    pub paper_bound: Vec<i64>,
    pub paper_bound_max: Option<i64>,
    /// By stage: from the start of F to the end of the last backward.
    pub lifespans: Vec<Interval>,
    pub offsets: Offsets<'a>,
    pub proven: bool,
    /// What no block is better than, in what was minimised.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<BoundValue>,
    /// The solver that found no better block, in floating point, which is no proof.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claimed_by: Option<&'static str>,
    /// How good the block is, in words; nothing for a block that was not looked for.
    #[serde(skip)]
    pub optimality: Option<String>,
    pub engine: String,
    /// The name of the model or of the family.
    pub name: Option<&'a str>,
    pub devices: u32,
    /// How many microbatches start in an interval.
    pub period: u32,
    pub time_unit: &'a str,
    pub memory_unit: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub faults: Option<Vec<String>>,
    pub notes: Vec<String>,
}

/// A bound as a number: memory in units, or an interval in ticks.
pub struct BoundValue(pub BlockBound);

impl Serialize for BoundValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            BlockBound::Memory(units) => units.0.serialize(serializer),
            BlockBound::Interval(ticks) => Interval(ticks).serialize(serializer),
        }
    }
}

/// The offset of every pass, by its text form.
pub struct Offsets<'a>(&'a Block);

impl Serialize for Offsets<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.passes().map(|(pass, at)| (pass.to_string(), in_ticks(self.0, at))))
    }
}

fn in_ticks(block: &Block, parts: Ticks) -> Interval {
    Interval(Ratio::new(parts.0, block.parts()))
}

impl<'a> BlockReport<'a> {
    /// What is known of a block by looking at it, with its exact peaks.
    pub fn of(block: &'a Block, model: &'a Model, peak: Vec<Units>, engine: String) -> Self {
        let amounts = |units: Vec<Units>| -> Vec<i64> { units.into_iter().map(|units| units.0).collect() };
        let (activation_peak, paper_bound) = (amounts(peak), amounts(block.paper_bound(model)));
        Self {
            interval: Interval(block.interval()),
            interval_per_microbatch: Interval(block.interval() / i64::from(block.period())),
            activation_peak_max: activation_peak.iter().max().copied(),
            activation_peak,
            paper_bound_max: paper_bound.iter().max().copied(),
            paper_bound,
            lifespans: Stage::all(model.stages())
                .map(|stage| in_ticks(block, block.lifespan(model, stage)))
                .collect(),
            offsets: Offsets(block),
            proven: false,
            bound: None,
            claimed_by: None,
            optimality: None,
            engine,
            name: Some(model.name()),
            devices: model.devices(),
            period: block.period(),
            time_unit: &model.costs().unit,
            memory_unit: &model.memory().unit,
            faults: None,
            notes: Vec::new(),
        }
    }

    /// The offsets of a device, in the order in which it runs the passes of one microbatch.
    fn order(&self, device: Device) -> String {
        let block = self.offsets.0;
        let mut passes: Vec<_> = block.passes_of(device).collect();
        passes.sort_by_key(|&(pass, at)| (at, pass));
        let text = |(pass, at): &(Pass, Ticks)| {
            let copy = if block.period() == 1 { String::new() } else { pass.microbatch.to_string() };
            format!("{}{}{copy}@{}", pass.stage, pass.kind, in_ticks(block, *at))
        };
        passes.iter().map(text).collect::<Vec<_>>().join(" ")
    }
}

impl fmt::Display for BlockReport<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let amounts = Amounts::new(out.alternate(), self.time_unit, self.memory_unit);
        let devices = count(self.devices as usize, "device", "devices");
        let mut line = |what: &str, value: String| writeln!(out, "  {what:<15}  {value}");
        line("block", format!("{}, {devices}", self.name.unwrap_or("unnamed")))?;
        let each = match self.period {
            1 => String::new(),
            _ => format!(
                " for {}, {} for each",
                microbatches(self.period),
                amounts.time(self.interval_per_microbatch.0)
            ),
        };
        line("interval", format!("{}{each}", amounts.time(self.interval.0)))?;
        if let Some(peak) = self.activation_peak_max {
            let bound = self.paper_bound_max.unwrap_or_default();
            let (peak, bound) = (amounts.memory(peak), amounts.further_memory(bound));
            line("activation peak", format!("{peak}; from lifespans alone: {bound}"))?;
        }
        if let Some(optimality) = &self.optimality {
            line("optimality", optimality.clone())?;
        }
        line("engine", self.engine.clone())?;
        let memory = amounts.memories(self.paper_bound.iter().chain(&self.activation_peak).copied());
        let [peaks, bounds] = ["activation peak", "from lifespans"].map(|heading| {
            // A count says what it counts in the lines above.
            if memory.is_scaled() { format!("{heading}, {}", memory.unit()) } else { heading.to_owned() }
        });
        let mut table = Table::new(["device", &peaks, &bounds]);
        for (device, bound) in self.paper_bound.iter().enumerate() {
            let peak =
                self.activation_peak.get(device).map_or_else(|| "-".to_owned(), |&peak| memory.cell(peak));
            table.row([device.to_string(), peak, memory.cell(*bound)]);
        }
        write!(out, "\n{table}\noffsets, as stage, kind @ {}:\n", self.time_unit)?;
        for device in Device::all(self.devices) {
            writeln!(out, "  device {device}: {}", self.order(device))?;
        }
        for fault in self.faults.iter().flatten() {
            writeln!(out, "fault: {fault}")?;
        }
        Ok(())
    }
}
