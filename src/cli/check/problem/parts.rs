//! The parts of passes in the lines about a problem.

use std::fmt::{self, Display};

use itertools::Itertools;
use serde::Serialize;

use super::{PairReport, PairsReport, SHOWN};
use crate::model::{Device, Kind, Model, Part, PassParts, Stage};

/// What passes consist of, and what follows from it.
#[derive(Debug, Serialize)]
pub(super) struct PartsReport {
    parts: Vec<TableReport>,
    /// How long the pairs of passes with parts take.
    pairs_of_parts: Derived,
}

/// By sort of pair, in ticks.
#[derive(Debug, Serialize)]
struct Derived {
    forward_backward: Vec<PairReport>,
    forward_input: Vec<PairReport>,
}

/// The parts of some stages.
#[derive(Debug, Serialize)]
struct TableReport {
    /// Null where they are those of all.
    stages: Option<Vec<u32>>,
    forward: Vec<PartReport>,
    /// Null where no part is listed.
    backward: Option<Vec<PartReport>>,
    input: Option<Vec<PartReport>>,
}

/// A part, with the names of those that it needs.
#[derive(Debug, Serialize)]
struct PartReport {
    name: String,
    on: String,
    duration: i64,
    needs: Vec<String>,
    /// Whether it needs just the part before it.
    #[serde(skip)]
    goes_on: bool,
}

impl PartReport {
    fn all(parts: &[Part]) -> Vec<Self> {
        let report = |(position, part): (usize, &Part)| Self {
            name: part.name.clone(),
            on: part.on.to_string(),
            duration: part.duration.0,
            needs: part.needs.iter().map(|&need| parts[need].name.clone()).collect(),
            goes_on: part.needs.iter().copied().eq(position.checked_sub(1)),
        };
        parts.iter().enumerate().map(report).collect()
    }
}

impl Display for PartReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, on, duration, needs, goes_on } = self;
        // In quotes, so that no name looks like further parts.
        write!(out, "{name:?} {duration} {on}")?;
        match needs.as_slice() {
            _ if *goes_on => Ok(()),
            [] => out.write_str(" at once"),
            needs => write!(out, " after {}", needs.iter().map(|need| format!("{need:?}")).join(" and ")),
        }
    }
}

impl PartsReport {
    /// Nothing where no pass has parts.
    pub(super) fn of(model: &Model) -> Option<Self> {
        let tables = &model.overlap().parts;
        let table = |PassParts { stages, forward, backward, input }: &PassParts| TableReport {
            stages: stages.as_ref().map(|stages| stages.iter().map(|stage| stage.0).collect()),
            forward: PartReport::all(forward),
            backward: backward.as_deref().map(PartReport::all),
            input: input.as_deref().map(PartReport::all),
        };
        let derived =
            Derived { forward_backward: derived(model, Kind::B), forward_input: derived(model, Kind::I) };
        let parts = tables.iter().map(table).collect_vec();
        (!parts.is_empty()).then_some(Self { parts, pairs_of_parts: derived })
    }

    /// A line for each list.
    pub(super) fn lines(&self) -> Vec<String> {
        let lines = self.parts.iter().flat_map(|TableReport { stages, forward, backward, input }| {
            let of = stages.as_ref().map_or_else(String::new, |stages| match stages.as_slice() {
                [stage] => format!(" of stage {stage}"),
                stages => format!(" of stages {}", first(stages, " ")),
            });
            let lists = [Some((Kind::F, forward)), backward.as_ref().map(|list| (Kind::B, list))];
            let lists = lists.into_iter().chain([input.as_ref().map(|list| (Kind::I, list))]).flatten();
            lists.map(move |(kind, list)| format!("{kind}{of}: {}", first(list, ", "))).collect_vec()
        });
        lines.collect()
    }
}

/// As many of a list as are shown.
fn first<T: Display>(all: &[T], between: &str) -> String {
    let shown = all.iter().take(SHOWN).join(between);
    match all.len().saturating_sub(SHOWN) {
        0 => shown,
        left => format!("{shown} and {left} more (--json gives them all)"),
    }
}

/// The pairs of a model whose passes have parts.
fn derived(model: &Model, kind: Kind) -> Vec<PairReport> {
    let pairs = Device::all(model.devices()).flat_map(|device| {
        let stages = model.placement().stages_of(device);
        stages.iter().cartesian_product(stages)
    });
    let pair = |(&forward, &backward): (&Stage, &Stage)| {
        model.pair_launches(forward, backward, kind)?;
        let apart = model.duration(forward, Kind::F) + model.duration(backward, kind);
        let duration = (apart - model.pair_saves(forward, backward, kind)).0;
        Some(PairReport { forward: forward.0, backward: backward.0, duration })
    };
    pairs.filter_map(pair).collect()
}

/// What pairs take, by what the model says of them and by their parts.
pub(super) fn with_parts(said: &PairsReport, parts: Option<&PartsReport>, kind: Kind) -> String {
    let derived = parts.map_or(&[][..], |parts| match kind {
        Kind::B => &parts.pairs_of_parts.forward_backward,
        _ => &parts.pairs_of_parts.forward_input,
    });
    if derived.is_empty() {
        return said.to_string();
    }
    let from_parts = match derived.iter().map(|pair| pair.duration).all_equal_value() {
        Ok(duration) => format!("{duration} by their parts"),
        Err(_) => format!("by their parts {}", PairsReport::list(derived)),
    };
    match said {
        PairsReport::Sum => from_parts,
        said => format!("{said}, {from_parts}"),
    }
}
