//! The quickest launch order of an overlapped pair.
//!
//! The host launches the parts of a pair one after the other: in a *merge* of the two lists of its passes, which keeps the
//! order of either list. Each resource serves its parts in that order, each part as soon as its resource is free and what it
//! needs has ended. A pair takes the least time of all merges.
//!
//! **Why the result is exact.** A merge is built part by part. Take its beginning, with i parts of the forward and j of the
//! backward, and what comes after it. When the rest starts and ends depends on the beginning only through these times: when
//! either resource is free, and when those of the launched parts end that a later part of their list needs. Every start and
//! end of the rest is the largest of sums of durations and of these times, so none comes later when one of these times is
//! earlier. So of two beginnings with the same i and j, one can be dropped if none of its times is earlier than that of the
//! other: whatever completes it, completes the other no later. All others are kept, so that what is left in the end has the
//! least of all merges.
//!
//! Two remarks make the lists of times short, and change no start. A part that needs one of its own resource waits for it anyway.
//! So only ends count that a part of the other resource needs. It starts when that resource is free or later; so an end that
//! comes before this may count as this.

use std::collections::BTreeMap;

use super::{Kind, Model, ModelError, Part, PartsError, PartsFault, PartsPlace, Stage, Ticks};

/// The quickest merge of two lists of parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Merge {
    pub duration: Ticks,
    /// By position in the merge: whether the part is one of the forward.
    pub is_forward: Vec<bool>,
}

/// The quickest merges of all pairs of a model whose passes have parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Merges {
    /// By stage: the table with its parts.
    by_stage: Vec<Option<usize>>,
    /// By the tables of the forward and of the backward, and the kind of the backward: which one it is of the merges.
    of: BTreeMap<(usize, usize, Kind), usize>,
    all: Vec<Merge>,
}

/// A part of an overlapped pair, as the quickest launch order runs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Launched<'a> {
    /// The pass that it is a part of: F, or the kind of the backward.
    pub kind: Kind,
    /// The part.
    pub part: &'a Part,
    /// How long after the start of the pair it starts, in ticks.
    pub start: Ticks,
}

/// How many comparisons of two times there may be for all pairs of a model.
const MAX_COMPARISONS: u64 = 1 << 27;

/// One of the two lists.
struct List<'a> {
    parts: &'a [Part],
    /// By number of launched parts: those of them that a later part on the other resource needs.
    awaited: Vec<Vec<usize>>,
}

impl<'a> List<'a> {
    fn new(parts: &'a [Part]) -> Self {
        // By part: the position of the last part on the other resource that needs it, or its own.
        let mut last: Vec<usize> = (0..parts.len()).collect();
        for (position, later) in parts.iter().enumerate() {
            for &need in later.needs.iter().filter(|&&need| parts[need].on != later.on) {
                last[need] = position;
            }
        }
        let awaited = |launched| (0..launched).filter(|&part| last[part] >= launched).collect();
        Self { parts, awaited: (0..=parts.len()).map(awaited).collect() }
    }
}

/// The beginning of a merge.
#[derive(Clone)]
struct Beginning {
    /// When either resource is free.
    free: [Ticks; 2],
    /// By list: when the parts end that are awaited.
    ends: [Vec<Ticks>; 2],
    /// The beginning that is shorter by the last part: which one it is of those with as many parts of either list.
    before: usize,
    /// The list of the last part.
    last: usize,
}

impl Beginning {
    /// The beginning that is longer by the next part of a list, of which so many are launched.
    fn with(&self, lists: &[List<'_>; 2], launched: [usize; 2], last: usize, before: usize) -> Self {
        let List { parts, awaited } = &lists[last];
        let position = launched[last];
        let part = &parts[position];
        let end_of = |awaited_part: usize| {
            let rank = awaited[position].iter().position(|&it| it == awaited_part);
            rank.map(|rank| self.ends[last][rank])
        };
        let across = part.needs.iter().filter(|&&need| parts[need].on != part.on);
        let start = across.filter_map(|&need| end_of(need)).fold(self.free[part.on.index()], Ticks::max);
        let end = start + part.duration;
        let mut longer = Self { before, last, ..self.clone() };
        longer.free[part.on.index()] = end;
        longer.ends[last] = awaited[position + 1].iter().map(|&it| end_of(it).unwrap_or(end)).collect();
        let mut launched = launched;
        launched[last] += 1;
        for ((ends, list), launched) in longer.ends.iter_mut().zip(lists).zip(launched) {
            for (end, &part) in ends.iter_mut().zip(&list.awaited[launched]) {
                *end = (*end).max(longer.free[list.parts[part].on.other().index()]);
            }
        }
        longer
    }

    /// Whether none of its times is later than that of another one with as many parts of either list.
    fn is_no_later_than(&self, other: &Self) -> bool {
        let [one, two] = &self.ends;
        let [other_one, other_two] = &other.ends;
        let times = self.free.iter().chain(one).chain(two);
        times.zip(other.free.iter().chain(other_one).chain(other_two)).all(|(one, other)| one <= other)
    }
}

/// The quickest merge of the parts of a forward and of a backward, the first of equals. Nothing when that takes more comparisons
/// than there are left.
fn quickest(forward: &[Part], backward: &[Part], comparisons: &mut u64) -> Option<Merge> {
    let lists = [List::new(forward), List::new(backward)];
    let nothing = Beginning { free: [Ticks::ZERO; 2], ends: [vec![], vec![]], before: 0, last: 0 };
    // By numbers of launched parts.
    let mut kept: Vec<Vec<Vec<Beginning>>> = Vec::new();
    for forwards in 0..=forward.len() {
        let mut row: Vec<Vec<Beginning>> = Vec::new();
        for backwards in 0..=backward.len() {
            let mut cell: Vec<Beginning> = Vec::new();
            if (forwards, backwards) == (0, 0) {
                cell.push(nothing.clone());
            }
            let by_forward = kept.last().and_then(|row| row.get(backwards));
            let by_forward = by_forward.map(|shorter| (shorter, [forwards - 1, backwards], 0));
            let by_backward = row.last().map(|shorter| (shorter, [forwards, backwards - 1], 1));
            for (shorter, launched, last) in by_forward.into_iter().chain(by_backward) {
                for (before, beginning) in shorter.iter().enumerate() {
                    let longer = beginning.with(&lists, launched, last, before);
                    let width = 2 + longer.ends[0].len() + longer.ends[1].len();
                    *comparisons = comparisons.checked_sub((width * (1 + 2 * cell.len())) as u64)?;
                    if cell.iter().any(|other| other.is_no_later_than(&longer)) {
                        continue;
                    }
                    cell.retain(|other| !longer.is_no_later_than(other));
                    cell.push(longer);
                }
            }
            row.push(cell);
        }
        kept.push(row);
    }
    let takes = |beginning: &Beginning| beginning.free[0].max(beginning.free[1]);
    let (mut forwards, mut backwards) = (forward.len(), backward.len());
    let (mut at, best) = kept[forwards][backwards].iter().enumerate().min_by_key(|(_, it)| takes(it))?;
    let duration = takes(best);
    let mut is_forward = Vec::new();
    while forwards + backwards > 0 {
        let &Beginning { before, last, .. } = &kept[forwards][backwards][at];
        is_forward.push(last == 0);
        if last == 0 {
            forwards -= 1;
        } else {
            backwards -= 1;
        }
        at = before;
    }
    is_forward.reverse();
    Some(Merge { duration, is_forward })
}

impl Merges {
    /// The durations, in ticks.
    pub(super) fn times(&mut self) -> impl Iterator<Item = &mut Ticks> {
        self.all.iter_mut().map(|merge| &mut merge.duration)
    }

    fn get(&self, forward: Stage, backward: Stage, kind: Kind) -> Option<&Merge> {
        let table = |stage: Stage| self.by_stage[stage.index()];
        let merge = self.of.get(&(table(forward)?, table(backward)?, kind))?;
        Some(&self.all[*merge])
    }
}

impl Model {
    /// The same model, whose parts are right, with the quickest merges of its pairs.
    pub(super) fn merged(self) -> Result<Self, ModelError> {
        if self.overlap.parts.is_empty() {
            return Ok(Self { merges: None, ..self });
        }
        let by_stage = self.parts_by_stage()?;
        let tables = &self.overlap.parts;
        let (mut of, mut all) = (BTreeMap::new(), Vec::new());
        // By the two lists: which one it is of the merges.
        let mut known: BTreeMap<[&[Part]; 2], usize> = BTreeMap::new();
        let mut comparisons = MAX_COMPARISONS;
        for (key, kind, _) in self.overlap.sorts() {
            for (forward, backward) in self.pairs_with_parts(&by_stage, kind) {
                let [Some(one), Some(other)] = [forward, backward].map(|stage| by_stage[stage.index()])
                else {
                    continue;
                };
                let (Some(parts), Some(beside)) = (tables[one].of(Kind::F), tables[other].of(kind)) else {
                    continue;
                };
                if of.contains_key(&(one, other, kind)) {
                    continue;
                }
                let merge = if let Some(&merge) = known.get(&[parts, beside]) {
                    merge
                } else {
                    let merge = quickest(parts, beside, &mut comparisons).ok_or_else(|| {
                        let place = PartsPlace::Key(if kind == Kind::B { "backward" } else { "input" });
                        let fault = PartsFault::TooManyMerges { forward, backward, key };
                        PartsError { table: other, place, fault }
                    })?;
                    all.push(merge);
                    known.insert([parts, beside], all.len() - 1);
                    all.len() - 1
                };
                of.insert((one, other, kind), merge);
            }
        }
        let merges = Some(Box::new(Merges { by_stage, of, all }));
        Ok(Self { merges, ..self })
    }

    /// The duration of a pair whose passes have parts, in ticks.
    pub(super) fn merged_duration(&self, forward: Stage, backward: Stage, kind: Kind) -> Option<Ticks> {
        Some(self.merges.as_ref()?.get(forward, backward, kind)?.duration)
    }

    /// The quickest launch order of an F beside a backward of this kind, part by part, and when each part starts. Nothing where
    /// the model has no [parts](super::PassParts) of the two.
    ///
    /// # Panics
    /// When there is no such stage.
    #[must_use]
    pub fn pair_launches(&self, forward: Stage, backward: Stage, kind: Kind) -> Option<Vec<Launched<'_>>> {
        let merges = self.merges.as_ref()?;
        let Merge { is_forward, .. } = merges.get(forward, backward, kind)?;
        let tables = [forward, backward].map(|stage| merges.by_stage[stage.index()]);
        let list = |table: Option<usize>, kind| self.overlap.parts[table?].of(kind);
        let lists = [(list(tables[0], Kind::F)?, Kind::F), (list(tables[1], kind)?, kind)];
        let mut free = [Ticks::ZERO; 2];
        let mut ends = [Vec::new(), Vec::new()];
        let launches = is_forward.iter().map(|&is_forward| {
            let number = usize::from(!is_forward);
            let ((parts, kind), ends) = (lists[number], &mut ends[number]);
            let part = &parts[ends.len()];
            let free = &mut free[part.on.index()];
            let start = part.needs.iter().map(|&need| ends[need]).fold(*free, Ticks::max);
            *free = start + part.duration;
            ends.push(*free);
            Launched { kind, part, start }
        });
        Some(launches.collect())
    }
}

#[cfg(test)]
mod tests;
