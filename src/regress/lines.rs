//! Which line of a file something is in.

use std::ops::Range;

use super::fact::{Place, What};
use crate::interchange::{Form, detect};
use crate::model::reading::{Table, document, root};

/// The line of a byte of a text, from 1.
pub(super) fn line_at(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

/// The line of a record that has a fact.
pub(super) fn of_fact(record: &str, place: &Place, what: &What) -> Option<usize> {
    let key = if *place == Place::default() { what.to_string() } else { format!("{place} {what}") };
    let is_it = |line: &str| line.strip_prefix(&key).is_some_and(|rest| rest.starts_with(": "));
    Some(record.lines().position(is_it)? + 1)
}

/// The first line that two texts do not share; the last one of the first text where that is only longer.
pub(super) fn first_difference(one: &str, other: &str) -> usize {
    let same = one.lines().zip(other.lines()).take_while(|(one, other)| one == other).count();
    (same + 1).min(one.lines().count().max(1))
}

/// The line of a family file with the formula of a pass, such as `I0`; nothing where the family leaves the pass out.
pub(super) fn of_formula(family: &str, pass: &str) -> Option<usize> {
    let document = document(family).ok()?;
    let root = root(&document);
    let is_it = |table: &Table<'_>| {
        let kind = table.get("kind").and_then(|kind| kind.as_text().map(str::to_owned));
        let chunk = table.get("chunk").map_or(Some(0), |chunk| chunk.count(0).ok());
        kind.zip(chunk).is_some_and(|(kind, chunk)| format!("{kind}{chunk}") == pass)
    };
    let table = root.get("pass")?.list()?.iter().filter_map(|entry| entry.table().ok()).find(is_it)?;
    Some(line_at(family, table.get("at")?.span().start))
}

/// The line of a TOML file with the value that a path of keys leads to.
pub(super) fn of_key(text: &str, path: &[&str]) -> Option<usize> {
    let document = document(text).ok()?;
    let (last, tables) = path.split_last()?;
    let mut table = root(&document);
    for key in tables {
        table = table.get(key)?.table().ok()?;
    }
    Some(line_at(text, table.get(last)?.span().start))
}

/// The line with a promise: of the table of the manifest whose name is at `entry`, else of the root of a family file.
/// Spaces do not matter; of several promises none of which is it, the first.
pub(super) fn of_promise(text: &str, entry: Option<&Range<usize>>, promise: &str) -> Option<usize> {
    let document = document(text).ok()?;
    let root = root(&document);
    let table = match entry {
        Some(name) => entry_at(&root, name)?,
        None => root,
    };
    let promises = table.get("promise")?.one_or_many();
    let plain = |text: &str| text.split_whitespace().collect::<String>();
    let is_it =
        promises.iter().find(|value| value.as_text().is_some_and(|text| plain(text) == plain(promise)));
    let value = is_it.or_else(|| promises.first().filter(|_| entry.is_some()))?;
    Some(line_at(text, value.span().start))
}

/// The line of a key of the table of the manifest whose name is at these bytes.
pub(super) fn of_entry_key(manifest: &str, name: &Range<usize>, key: &str) -> Option<usize> {
    let document = document(manifest).ok()?;
    let table = entry_at(&root(&document), name)?;
    Some(line_at(manifest, table.get(key)?.span().start))
}

/// The table of the manifest whose name is at these bytes.
fn entry_at<'doc>(root: &Table<'doc>, name: &Range<usize>) -> Option<Table<'doc>> {
    let lists =
        ["family", "schedule", "named", "model"].into_iter().filter_map(|kind| root.get(kind)?.list());
    let mut tables = lists.flatten().filter_map(|entry| entry.table().ok());
    tables.find(|table| table.get("name").is_some_and(|value| value.span() == *name))
}

/// The line of a schedule file with a step of the order of a device, both counted from 0: of JSON where the step is, of
/// CSV the row of the device.
pub(super) fn of_step(schedule: &str, device: usize, step: usize) -> Option<usize> {
    match detect(schedule) {
        Form::Schedule => of_json_step(schedule, device, step),
        Form::PyTorch => Some(device + 1).filter(|line| *line <= schedule.lines().count()),
    }
}

/// Goes through a JSON text that is known to be a schedule file, whose orders are lists of texts. A step after the last
/// one is the end of the list.
fn of_json_step(text: &str, device: usize, step: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut depth, mut at) = (0_usize, 0);
    // Where the key `orders` was seen, and which device and step of it comes next.
    let (mut inside, mut next_device, mut next_step) = (false, 0, 0);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => {
                let end = end_of_text(bytes, at)?;
                if inside && depth == 3 {
                    if (next_device, next_step) == (device, step) {
                        return Some(line_at(text, at));
                    }
                    next_step += 1;
                } else if depth == 1 && &text[at..end] == "\"orders\"" && is_key(&bytes[end..]) {
                    inside = true;
                }
                at = end;
                continue;
            }
            b'[' | b'{' => depth += 1,
            b']' | b'}' => {
                if inside && depth == 3 {
                    if next_device == device {
                        return Some(line_at(text, at));
                    }
                    (next_device, next_step) = (next_device + 1, 0);
                }
                if inside && depth == 2 {
                    return None;
                }
                depth = depth.checked_sub(1)?;
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// Whether a colon comes next, as after a key.
fn is_key(rest: &[u8]) -> bool {
    rest.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b':')
}

/// The byte after a text of JSON that begins at a quote.
fn end_of_text(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_of_a_schedule_file_are_found_whatever_its_layout() {
        let text = "{\"name\": \"\\\"orders\\\": [[\",\n\"placement\": [[0], [1]],\n\"orders\"\n: [[\"0F0\",\n\"0B0\"],\n\
                    [\"(1F0;1B0)\"\n]\n]}";
        let found = |device, step| of_step(text, device, step);
        assert_eq!((found(0, 0), found(0, 1), found(0, 2)), (Some(4), Some(5), Some(5)));
        assert_eq!((found(1, 0), found(1, 1), found(2, 0)), (Some(6), Some(7), None));
        assert_eq!(of_step("0F0,0B0\n1F0,1B0\n", 1, 1), Some(2));
        assert_eq!(of_step("0F0,0B0\n", 1, 1), None);
    }

    #[test]
    fn formulas_and_promises_are_found_by_what_they_are_about() {
        let family = include_str!("../../models/blocks/v-half.toml");
        for pass in ["F0", "F1", "I0", "I1"] {
            let line = of_formula(family, pass).expect("it is there");
            assert!(family.lines().nth(line - 1).expect("a line").starts_with("at = "), "{pass}");
        }
        assert_eq!(of_formula(family, "W0"), None);
        let line = of_key(family, &["durations", "I"]).expect("it is there");
        assert!(family.lines().nth(line - 1).expect("a line").starts_with("I = "));

        let manifest = "[[model]]\nname = \"a\"\npromise = \"m = 1\"\n\n[[model]]\nname = \"b\"\npromise = [\n\"m = 1\",\n\
                        \"m  = 2\"]\n";
        let name = manifest.rfind("\"b\"").expect("it is there");
        let at = |promise| of_promise(manifest, Some(&(name..name + 3)), promise);
        assert_eq!((at("m = 2"), at("m = 1"), at("m = 3")), (Some(9), Some(8), Some(8)));
        assert_eq!(of_entry_key(manifest, &(name..name + 3), "promise"), Some(7));
    }

    #[test]
    fn the_first_line_that_differs_is_one_of_the_text() {
        for (one, other, line) in
            [("a\nb\n", "a\nc\n", 2), ("a\nb\n", "a\n", 2), ("a\n", "a\nb\n", 1), ("", "a", 1)]
        {
            assert_eq!(first_difference(one, other), line, "{one:?} {other:?}");
        }
    }

    #[test]
    fn a_fact_is_found_by_its_whole_key() {
        let record =
            "format: x\ntheorem a b: proved\ntheorem a: proved\nd=1 m=1 makespan: 3\nd=1 makespan: 3\n";
        let at = |place: Place, what| of_fact(record, &place, &what);
        assert_eq!(at(Place::default(), What::Theorem("a".to_owned())), Some(3));
        assert_eq!(at(Place::devices(1), What::Makespan), Some(5));
        assert_eq!(at(Place::devices(2), What::Makespan), None);
    }
}
