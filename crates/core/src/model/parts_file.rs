//! The parts of passes in model files.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;

use super::quantities::{Quantities, TIME};
use super::reading::{FileError, Table, TomlProblem, Value};
use super::{Part, PartResource, PartsError, PartsPlace, PassParts, Stage};
use crate::text::Shown;

/// What the tables `[[overlap.parts]]` say.
pub(super) fn read(overlap: &Table<'_>, quantities: &Quantities) -> Result<Vec<PassParts>, FileError> {
    let Some(value) = overlap.get("parts") else { return Ok(Vec::new()) };
    let tables =
        value.list().ok_or_else(|| value.wrong_type("a list of tables, each headed [[overlap.parts]]"))?;
    tables.iter().map(|table| read_table(&table.table()?, quantities)).collect()
}

fn read_table(table: &Table<'_>, quantities: &Quantities) -> Result<PassParts, FileError> {
    table.only(&["stages", "forward", "backward", "input"])?;
    let stages = match table.get("stages") {
        Some(value) => Some(
            value
                .one_or_many()
                .iter()
                .map(|stage| stage.count(0).map(Stage))
                .collect::<Result<Vec<_>, _>>()?,
        ),
        None => None,
    };
    Ok(PassParts {
        stages,
        forward: read_list(&table.require("forward")?, quantities)?,
        backward: table.get("backward").map(|value| read_list(&value, quantities)).transpose()?,
        input: table.get("input").map(|value| read_list(&value, quantities)).transpose()?,
    })
}

fn read_list(value: &Value<'_>, quantities: &Quantities) -> Result<Vec<Part>, FileError> {
    let entries = value.list().ok_or_else(|| value.wrong_type("the list of the parts of a pass"))?;
    if !(1..=PassParts::MAX_PARTS).contains(&entries.len()) {
        return Err(value.error(TomlProblem::Contradiction {
            key: value.key(),
            value: format!("a list of {} parts", entries.len()),
            other: format!("a pass has 1 to {}", PassParts::MAX_PARTS),
        }));
    }
    let mut parts: Vec<Part> = Vec::new();
    let mut positions = BTreeMap::new();
    for (position, entry) in entries.iter().enumerate() {
        let part = entry.table()?;
        part.only(&["name", "on", "duration", "needs"])?;
        let name = part.require("name")?;
        let needs = match part.get("needs") {
            Some(value) => read_needs(&value, &positions, &entries)?,
            None => position.checked_sub(1).into_iter().collect(),
        };
        if let Some(other) = positions.insert(name.text()?, position) {
            return Err(name.error(TomlProblem::Contradiction {
                key: name.key(),
                value: format!("\"{}\"", Shown(name.text()?)),
                other: format!(
                    "`{}[{other}]` has this name too: give each part of a list a name of its own",
                    value.key()
                ),
            }));
        }
        parts.push(Part {
            name: name.text()?.to_owned(),
            on: read_resource(&part.require("on")?)?,
            duration: quantities.ticks(&part.require("duration")?, TIME)?,
            needs,
        });
    }
    Ok(parts)
}

fn read_resource(on: &Value<'_>) -> Result<PartResource, FileError> {
    let found = on.text()?;
    let position = PartResource::NAMES.iter().position(|name| *name == found);
    position.map(|position| PartResource::ALL[position]).ok_or_else(|| {
        on.error(TomlProblem::Name { key: on.key(), found: found.to_owned(), known: PartResource::NAMES })
    })
}

/// The positions of the parts before a part whose names it lists.
fn read_needs(
    needs: &Value<'_>,
    before: &BTreeMap<&str, usize>,
    entries: &[Value<'_>],
) -> Result<Vec<usize>, FileError> {
    let names = needs.list().ok_or_else(|| needs.wrong_type("a list of names of parts"))?;
    let mut found = Vec::with_capacity(names.len().min(before.len()));
    for name in &names {
        let wanted = name.text()?;
        let fail = |other: &str| {
            let (key, value) = (name.key(), format!("\"{}\"", Shown(wanted)));
            Err(name.error(TomlProblem::Contradiction { key, value, other: other.to_owned() }))
        };
        match before.get(wanted) {
            Some(position) if found.contains(position) => return fail("it is in the list already"),
            Some(&position) => found.push(position),
            None if entries.iter().any(|entry| is_called(entry, wanted)) => {
                return fail(
                    "that part is not before this one: a part needs parts that are launched before it, so move one of the two",
                );
            }
            None => return fail("no part of this list has this name: name a part that is before this one"),
        }
    }
    Ok(found)
}

fn is_called(entry: &Value<'_>, name: &str) -> bool {
    entry.table().ok().and_then(|part| part.get("name")).is_some_and(|value| value.as_text() == Some(name))
}

/// The bytes of a file that a complaint about parts is about.
pub(super) fn span_of(file: &Table<'_>, error: &PartsError) -> Option<Range<usize>> {
    let tables = file.get("overlap")?.table().ok()?.get("parts")?.list()?;
    let value = tables.get(error.table)?;
    let at = |key| value.table().ok()?.get(key);
    let place = match error.place {
        PartsPlace::Table => None,
        PartsPlace::Key(key) => at(key),
        PartsPlace::Part(key, position) => at(key)?.list()?.into_iter().nth(position),
    };
    Some(place.map_or_else(|| value.span(), |place| place.span()))
}

/// The lines that read as these, with their headings.
pub(super) fn lines(tables: &[PassParts]) -> Vec<String> {
    let mut lines = Vec::new();
    for table in tables {
        lines.push("\n[[overlap.parts]]".to_owned());
        match table.stages.as_deref() {
            None => {}
            Some([stage]) => lines.push(format!("stages = {stage}")),
            Some(stages) => {
                let stages: Vec<String> = stages.iter().map(ToString::to_string).collect();
                lines.push(format!("stages = [{}]", stages.join(", ")));
            }
        }
        for (key, _, parts) in table.lists() {
            lines.push(format!("{key} = ["));
            lines.extend(parts.iter().enumerate().map(|(position, part)| line(position, part, parts)));
            lines.push("]".to_owned());
        }
    }
    lines
}

fn line(position: usize, part: &Part, parts: &[Part]) -> String {
    let quoted = |name: &str| toml::Value::String(name.to_owned()).to_string();
    let Part { name, on, duration, needs } = part;
    let mut line = format!("    {{ name = {}, on = \"{on}\", duration = {duration}", quoted(name));
    // It need not be said where it is the part before.
    if *needs != Vec::from_iter(position.checked_sub(1)) {
        let needs: Vec<String> = needs.iter().map(|&need| quoted(&parts[need].name)).collect();
        write!(line, ", needs = [{}]", needs.join(", ")).expect("writing to a string cannot fail");
    }
    line.push_str(" },");
    line
}
