//! Which pass moved: offsets of a block, and orders of a schedule.

use std::fmt::Write as _;

use itertools::Itertools;

use super::change::{Change, Severity};
use super::fact::{Fact, Key, Place, Value, What};
use super::record::Record;

/// A pass of one device that has another offset.
struct Move<'a> {
    pass: &'a str,
    place: &'a Place,
    from: i64,
    to: i64,
}

/// The passes of a block that start at another time, each pass once with the first place where it does and
/// what numbers of devices are like it.
pub(super) fn offsets(old: &Record, new: &Record) -> Vec<Change> {
    let mut moves: Vec<Move<'_>> = Vec::new();
    let mut sizes: Vec<u32> = Vec::new();
    for Fact { key: Key { place, what }, value } in &new.facts {
        let (Value::Offsets(found), Some(Value::Offsets(recorded))) = (value, old.get(place, what)) else {
            continue;
        };
        sizes.extend(place.devices);
        for (pass, to) in found {
            let before = recorded.iter().find(|(other, _)| other == pass);
            if let Some((_, from)) = before.filter(|(_, from)| from != to) {
                moves.push(Move { pass, place, from: *from, to: *to });
            }
        }
    }
    sizes.dedup();
    let passes = moves.iter().map(|one| one.pass).unique().collect_vec();
    passes.into_iter().map(|pass| of_pass(pass, &moves, &sizes)).collect()
}

fn of_pass(pass: &str, moves: &[Move<'_>], sizes: &[u32]) -> Change {
    let own = moves.iter().filter(|one| one.pass == pass).collect_vec();
    let first = own[0];
    let (kind, chunk) = pass.split_at(1);
    let number = |number: Option<u32>| number.unwrap_or_default();
    let there = own.iter().filter_map(|one| one.place.devices).unique().collect_vec();
    let same = own.iter().filter(|one| one.to - one.from == first.to - first.from).count();
    let mut message = format!(
        "{kind} of chunk {chunk}: starts at {}, was {} (device {} of {})",
        first.to,
        first.from,
        number(first.place.device),
        number(first.place.devices)
    );
    if own.len() > 1 {
        let by = match first.to - first.from {
            1 => "1 tick later".to_owned(),
            -1 => "1 tick earlier".to_owned(),
            ticks @ 2.. => format!("{ticks} ticks later"),
            ticks => format!("{} ticks earlier", -ticks),
        };
        let others = if same == own.len() {
            format!("; {by} in {} places", own.len())
        } else {
            format!("; moved in {} places, {by} in {same} of them", own.len())
        };
        message.push_str(&others);
    }
    let still = sizes.iter().filter(|size| !there.contains(size)).collect_vec();
    if there.len() > 1 || !still.is_empty() {
        write!(message, " (d = {}", there.iter().join(", ")).expect("texts grow");
        if !still.is_empty() {
            write!(message, "; not for d = {}", still.iter().join(", ")).expect("texts grow");
        }
        message.push(')');
    }
    let mut change = Change::of(Severity::Changed, "moved", first.place, message).about(&What::Offsets);
    change.pass = Some(pass.to_owned());
    change.values = Some((first.from.to_string(), first.to.to_string()));
    change
}

/// The first pass of a device's order that is another one.
pub(super) fn order(place: &Place, old: &[String], new: &[String]) -> Change {
    let position = old.iter().zip(new).position(|(old, new)| old != new);
    let position = position.unwrap_or(old.len().min(new.len()));
    let word = |order: &[String]| {
        order.get(position).map_or_else(|| "the end".to_owned(), |pass| format!("`{pass}`"))
    };
    let (before, after) = (word(old), word(new));
    let message = format!("position {position} is {after}, was {before}");
    let mut change = Change::of(Severity::Changed, "order", place, message);
    change.values = Some((before, after));
    change
}
