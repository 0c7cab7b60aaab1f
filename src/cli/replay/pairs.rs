//! How the parts of overlapped pairs are launched.

use std::collections::BTreeMap;
use std::fmt;

use itertools::Itertools;
use serde::Serialize;

use crate::amounts::Amounts;
use crate::cli::table::Table;
use crate::model::{Device, Kind, Launched, Model, Stage};
use crate::schedule::Schedule;

/// The pairs of two stages, whose passes have parts.
#[derive(Serialize)]
pub(super) struct PairLaunches<'a> {
    /// The stage of the forward.
    forward: u32,
    /// The stage of the backward.
    backward: u32,
    /// Whether that is a B or an I.
    kind: String,
    /// How many of these the schedule has.
    pairs: usize,
    /// In ticks.
    duration: i64,
    /// The parts, in the order in which they are launched.
    launches: Vec<LaunchedPart<'a>>,
}

/// A part of a pair; its times count from the start of the pair, in ticks.
#[derive(Serialize, PartialEq)]
struct LaunchedPart<'a> {
    /// The kind of its pass.
    pass: String,
    part: &'a str,
    on: String,
    start: i64,
    end: i64,
}

/// The pairs of a schedule whose passes have parts, by their stages.
pub(super) fn launches<'a>(model: &'a Model, schedule: &Schedule) -> Vec<PairLaunches<'a>> {
    let mut pairs: BTreeMap<(Stage, Stage, Kind), usize> = BTreeMap::new();
    for step in Device::all(schedule.devices()).flat_map(|device| schedule.steps(device)) {
        if let &[one, other] = step {
            let [forward, backward] = if one.kind == Kind::F { [one, other] } else { [other, one] };
            *pairs.entry((forward.stage, backward.stage, backward.kind)).or_default() += 1;
        }
    }
    let report = |((forward, backward, kind), pairs): ((Stage, Stage, Kind), usize)| {
        let launches = model.pair_launches(forward, backward, kind)?;
        let launches = launches.iter().map(|&Launched { kind, part, start }| LaunchedPart {
            pass: kind.to_string(),
            part: &part.name,
            on: part.on.to_string(),
            start: start.0,
            end: (start + part.duration).0,
        });
        let launches = launches.collect_vec();
        Some(PairLaunches {
            forward: forward.0,
            backward: backward.0,
            kind: kind.to_string(),
            pairs,
            duration: launches.iter().map(|part| part.end).max().unwrap_or_default(),
            launches,
        })
    };
    pairs.into_iter().filter_map(report).collect()
}

/// How many pairs of stages are named at most.
const NAMED: usize = 8;

/// A table for each launch order, with the pairs of stages that have it.
pub(super) fn show(
    all: &[PairLaunches<'_>],
    amounts: Amounts<'_>,
    out: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    let mut left: Vec<&PairLaunches<'_>> = all.iter().collect();
    while let Some(&PairLaunches { ref kind, duration, ref launches, .. }) = left.first().copied() {
        let (alike, others): (Vec<_>, Vec<_>) =
            left.into_iter().partition(|pair| pair.kind == *kind && pair.launches == *launches);
        left = others;
        let named = alike.iter().take(NAMED).map(|pair| format!("{} and {}", pair.forward, pair.backward));
        let more = match alike.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more pairs of stages"),
        };
        writeln!(
            out,
            "\nF beside {kind} of stages {}{more}, {}: parts in the order of their launches",
            named.format(", "),
            amounts.time(duration)
        )?;
        let times = amounts.times(launches.iter().flat_map(|part| [part.start, part.end]));
        let mut table = Table::new(["part", "of", "on", "start", "end"]);
        for LaunchedPart { pass, part, on, start, end } in launches {
            let part = (*part).to_owned();
            table.row([part, pass.clone(), on.clone(), times.cell(*start), times.cell(*end)]);
        }
        write!(out, "{table}")?;
    }
    Ok(())
}
