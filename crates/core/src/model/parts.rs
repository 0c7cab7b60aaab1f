//! The parts of passes: what a pass launches on a device, which says how long an overlapped pair takes.

use std::fmt;

use super::{Device, Kind, Model, ModelError, PairDurations, Stage, Ticks};
use crate::text::Shown;

/// What a part keeps busy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PartResource {
    /// The compute units of the device.
    Compute,
    /// What carries its messages within the pass, such as those between experts.
    Communication,
}

impl PartResource {
    /// The names of both in model files.
    pub const NAMES: &'static [&'static str] = &["compute", "communication"];

    /// Both, in the order of [`NAMES`](Self::NAMES).
    pub const ALL: [Self; 2] = [Self::Compute, Self::Communication];

    /// The position in lists that have an entry for each.
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The other one.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Compute => Self::Communication,
            Self::Communication => Self::Compute,
        }
    }
}

impl fmt::Display for PartResource {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(Self::NAMES[self.index()])
    }
}

/// A part of a pass. It starts as soon as what is launched before it on its resource has ended, and all that it needs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Part {
    /// What it is called. No other part of its list is called so.
    pub name: String,
    /// What it keeps busy.
    pub on: PartResource,
    /// For how long, in ticks.
    pub duration: Ticks,
    /// The parts whose ends it waits for, by their positions in its list, from 0. All are before its own.
    pub needs: Vec<usize>,
}

/// The parts of the passes of some stages. Each list is in the order in which its pass launches them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassParts {
    /// The stages; `None` for all.
    pub stages: Option<Vec<Stage>>,
    /// The parts of F.
    pub forward: Vec<Part>,
    /// The parts of B, which are those of I and W; `None` where a pair with a B has no parts.
    pub backward: Option<Vec<Part>>,
    /// The parts of I alone; `None` where a pair with an I has no parts.
    pub input: Option<Vec<Part>>,
}

impl PassParts {
    /// How many parts a pass may have.
    pub const MAX_PARTS: usize = 64;

    /// The lists that there are: their key in model files, the kind of their pass, and the parts.
    pub(super) fn lists(&self) -> impl Iterator<Item = (&'static str, Kind, &Vec<Part>)> {
        let backward = self.backward.iter().map(|list| ("backward", Kind::B, list));
        let input = self.input.iter().map(|list| ("input", Kind::I, list));
        [("forward", Kind::F, &self.forward)].into_iter().chain(backward).chain(input)
    }

    /// The parts of a pass of this kind, where they are listed.
    pub(super) fn of(&self, kind: Kind) -> Option<&[Part]> {
        self.lists().find(|&(_, of, _)| of == kind).map(|(_, _, list)| list.as_slice())
    }
}

/// Why parts do not suit their model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`overlap.parts[{table}]{place}` {fault}")]
pub struct PartsError {
    /// The position of the table in `overlap.parts`, from 0.
    pub table: usize,
    /// The place in the table.
    pub place: PartsPlace,
    /// What is wrong there.
    pub fault: PartsFault,
}

/// A place in a table of parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartsPlace {
    /// The table as a whole.
    Table,
    /// A key of it.
    Key(&'static str),
    /// A part: the key of its list, and its position there, from 0.
    Part(&'static str, usize),
}

impl fmt::Display for PartsPlace {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Table => Ok(()),
            Self::Key(key) => write!(out, ".{key}"),
            Self::Part(key, position) => write!(out, ".{key}[{position}]"),
        }
    }
}

/// What is wrong with parts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PartsFault {
    /// No stage.
    #[error("lists no stage: name one, or leave the key out for all stages")]
    NoStages,
    /// A stage that does not exist.
    #[error("names stage {stage}, but the stages are 0 to {last}", last = .stages - 1)]
    NoSuchStage {
        /// The stage.
        stage: Stage,
        /// How many stages there are.
        stages: u32,
    },
    /// A stage that has parts already.
    #[error("is about stage {0}, whose parts are given before: a stage is in one table, once")]
    StageAgain(Stage),
    /// Neither B nor I.
    #[error("has no parts of a backward: list those of B in `backward`, those of I in `input`, or both")]
    NoBackward,
    /// No part, or too many.
    #[error("lists {found} parts, but a pass has 1 to {most}", most = PassParts::MAX_PARTS)]
    Count {
        /// How many there are.
        found: usize,
    },
    /// A name that occurs before.
    #[error("is named \"{}\" as a part before it: give each part of a list a name of its own", Shown(.0))]
    NameAgain(String),
    /// A negative duration.
    #[error("takes a negative time: {0}")]
    Negative(Ticks),
    /// A need that is not launched before.
    #[error(
        "needs part {0}, which is not launched before it: a part needs parts that are before it in its list"
    )]
    NeedsLater(usize),
    /// A part that it is said twice to need.
    #[error("needs part {0} twice: name each need once")]
    NeedAgain(usize),
    /// Another duration than that of the pass.
    #[error(
        "takes {parts} by itself, but {kind} of stage {stage} takes {pass} by `[time]`: make the two equal, since parts say \
         what a pass consists of"
    )]
    Duration {
        /// The pass.
        kind: Kind,
        /// Its stage.
        stage: Stage,
        /// What its parts take.
        parts: Ticks,
        /// What it takes.
        pass: Ticks,
    },
    /// A pass whose duration is a range.
    #[error(
        "gives the parts of {kind} of stage {stage}, whose duration is a range in `[time]`: a pass with parts takes one time, \
         so make the range a number, or leave out the parts"
    )]
    Range {
        /// The pass.
        kind: Kind,
        /// Its stage.
        stage: Stage,
    },
    /// More merges than can be compared.
    #[error(
        "can be merged with the parts of F of stage {forward} in too many ways to find the quickest: list fewer parts, or \
         give the pair of stages {forward} and {backward} a duration in `{key}` in place of the parts"
    )]
    TooManyMerges {
        /// The stage of the forward.
        forward: Stage,
        /// The stage of the backward.
        backward: Stage,
        /// The key for the duration of the pair.
        key: &'static str,
    },
}

/// How long parts take by themselves, launched in the order of their list; as much as 64 bits hold where that is more.
fn alone(parts: &[Part]) -> Ticks {
    let mut free = [0_i64; 2];
    let mut ends: Vec<i64> = Vec::with_capacity(parts.len());
    for part in parts {
        let free = &mut free[part.on.index()];
        let start = part.needs.iter().map(|&need| ends[need]).fold(*free, i64::max);
        *free = start.saturating_add(part.duration.0);
        ends.push(*free);
    }
    Ticks(free[0].max(free[1]))
}

/// That a list is one of parts.
fn check_list(parts: &[Part]) -> Result<(), (Option<usize>, PartsFault)> {
    if !(1..=PassParts::MAX_PARTS).contains(&parts.len()) {
        return Err((None, PartsFault::Count { found: parts.len() }));
    }
    for (position, part) in parts.iter().enumerate() {
        let fail = |fault| Err((Some(position), fault));
        if parts[..position].iter().any(|other| other.name == part.name) {
            return fail(PartsFault::NameAgain(part.name.clone()));
        }
        if part.duration < Ticks::ZERO {
            return fail(PartsFault::Negative(part.duration));
        }
        for (rank, &need) in part.needs.iter().enumerate() {
            if need >= position {
                return fail(PartsFault::NeedsLater(need));
            }
            if part.needs[..rank].contains(&need) {
                return fail(PartsFault::NeedAgain(need));
            }
        }
    }
    Ok(())
}

impl Model {
    /// That parts are what their passes consist of, and that no pair with parts has a duration besides.
    pub(super) fn check_pass_parts(&self) -> Result<(), ModelError> {
        if self.overlap.parts.is_empty() {
            return Ok(());
        }
        let by_stage = self.parts_by_stage()?;
        for (table, parts) in self.overlap.parts.iter().enumerate() {
            let fail = |place, fault| ModelError::from(PartsError { table, place, fault });
            if parts.backward.is_none() && parts.input.is_none() {
                return Err(fail(PartsPlace::Table, PartsFault::NoBackward));
            }
            for (key, kind, list) in parts.lists() {
                check_list(list).map_err(|(part, fault)| {
                    fail(part.map_or(PartsPlace::Key(key), |part| PartsPlace::Part(key, part)), fault)
                })?;
                let taken = alone(list);
                let stages = Stage::all(self.stages()).zip(&by_stage);
                for stage in stages.filter(|(_, of)| **of == Some(table)).map(|(stage, _)| stage) {
                    if self.is_range(stage, kind) {
                        return Err(fail(PartsPlace::Key(key), PartsFault::Range { kind, stage }));
                    }
                    let pass = self.duration(stage, kind);
                    if pass != taken {
                        let fault = PartsFault::Duration { kind, stage, parts: taken, pass };
                        return Err(fail(PartsPlace::Key(key), fault));
                    }
                }
            }
        }
        self.check_pairs_are_said_once(&by_stage)
    }

    /// Whether the duration of a pass is a range.
    fn is_range(&self, stage: Stage, kind: Kind) -> bool {
        self.low_ends().is_some_and(|low| {
            let (high, stage) = (self.costs(), stage.index());
            // Low ends that are too few are refused later.
            let differ = |low: &[Ticks], high: &[Ticks]| low.get(stage) != high.get(stage);
            let input = differ(&low.backward_input, &high.backward_input);
            match kind {
                Kind::F => differ(&low.forward, &high.forward),
                Kind::I => input,
                _ => input || differ(&low.backward_weight, &high.backward_weight),
            }
        })
    }

    /// By stage: the table with its parts, by its position.
    pub(super) fn parts_by_stage(&self) -> Result<Vec<Option<usize>>, ModelError> {
        let mut by_stage = vec![None; self.stages() as usize];
        for (table, parts) in self.overlap.parts.iter().enumerate() {
            let key = if parts.stages.is_some() { PartsPlace::Key("stages") } else { PartsPlace::Table };
            let fail = |fault| ModelError::from(PartsError { table, place: key, fault });
            let mut give = |stage: Stage| match by_stage.get_mut(stage.index()) {
                None => Err(fail(PartsFault::NoSuchStage { stage, stages: self.stages() })),
                Some(Some(_)) => Err(fail(PartsFault::StageAgain(stage))),
                Some(none) => {
                    *none = Some(table);
                    Ok(())
                }
            };
            match &parts.stages {
                Some(stages) if stages.is_empty() => return Err(fail(PartsFault::NoStages)),
                Some(stages) => stages.iter().try_for_each(|&stage| give(stage))?,
                None => Stage::all(self.stages()).try_for_each(give)?,
            }
        }
        Ok(by_stage)
    }

    /// The pairs of a device whose passes have parts, by the stages of the forward and the backward, where the backward is of
    /// this kind.
    pub(super) fn pairs_with_parts<'a>(
        &'a self,
        by_stage: &'a [Option<usize>],
        kind: Kind,
    ) -> impl Iterator<Item = (Stage, Stage)> + 'a {
        let has = move |stage: &Stage, kind| {
            by_stage[stage.index()].is_some_and(|table| self.overlap.parts[table].of(kind).is_some())
        };
        Device::all(self.devices()).flat_map(move |device| {
            let stages = self.placement.stages_of(device);
            let forwards = stages.iter().copied().filter(move |stage| has(stage, Kind::F));
            forwards.flat_map(move |forward| {
                let backwards = stages.iter().copied().filter(move |stage| has(stage, kind));
                backwards.map(move |backward| (forward, backward))
            })
        })
    }

    fn check_pairs_are_said_once(&self, by_stage: &[Option<usize>]) -> Result<(), ModelError> {
        for (key, kind, durations) in self.overlap.sorts() {
            if *durations == PairDurations::Sum {
                continue;
            }
            let mut pairs = self.pairs_with_parts(by_stage, kind);
            let twice = pairs.find(|&(forward, backward)| durations.get(forward, backward).is_some());
            if let Some((forward, backward)) = twice {
                return Err(ModelError::PairSaidTwice { key, forward, backward });
            }
        }
        Ok(())
    }
}
