//! The schedule file (JSON).

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, BufWriter, Write};

use serde::ser::{Error as _, SerializeMap as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};

use super::{Offloaded, Provenance, Schedule, ScheduleError};
use crate::model::{Device, Pass, Placement, PlacementError, Stage};
use crate::text::Shown;
use crate::text::json::{self, JsonError};

/// The value of `format` in the files of this version.
pub const FORMAT: &str = "bubbleproof-schedule-1";

/// Why a text is not a schedule file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScheduleFileError {
    /// Not JSON, an unknown, missing or duplicate key, a value of the wrong type, a malformed pass, a control
    /// character in a text.
    #[error("{message}")]
    Json {
        /// What is wrong, without its place.
        message: String,
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
    },
    /// A schedule file of another version, or another file altogether.
    #[error("`format` is \"{}\", but only \"{FORMAT}\" is known", Shown(.0))]
    Format(String),
    /// The stages of the devices are no placement.
    #[error("`placement`: {0}")]
    Placement(#[from] PlacementError),
    /// A number of directions that there cannot be.
    #[error("`directions` is {0}, but microbatches go in 1 or 2 directions")]
    Directions(u32),
    /// The orders or the number of microbatches do not fit the rest.
    #[error("`{key}`: {0}", key = key_of(.0))]
    Orders(#[from] ScheduleError),
}

impl From<JsonError> for ScheduleFileError {
    fn from(JsonError { message, line, column }: JsonError) -> Self {
        Self::Json { message, line, column }
    }
}

/// The key that an error is about.
const fn key_of(error: &ScheduleError) -> &'static str {
    match error {
        ScheduleError::Orders { .. } | ScheduleError::NoPair { .. } => "orders",
        ScheduleError::OffloadLists { .. } | ScheduleError::NoOffload { .. } => "offload",
        ScheduleError::NoLevel { .. } => "levels",
        ScheduleError::NoMicrobatch | ScheduleError::TooManyPasses { .. } => "microbatches",
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: String,
    name: Option<String>,
    model: Option<String>,
    provenance: Option<Provenance>,
    placement: Vec<Vec<u32>>,
    directions: Option<u32>,
    microbatches: u32,
    orders: Vec<Vec<Step>>,
    offload: Option<Vec<Vec<Offloaded>>>,
    #[serde(default)]
    levels: BTreeMap<Pass, u32>,
    certificate: Option<serde_json::Value>,
}

/// An entry of an order: a pass, or an overlapped pair such as `(0F4;7B0)`.
enum Step {
    One(Pass),
    Pair([Pass; 2]),
}

impl<'de> Deserialize<'de> for Step {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        /// Parses borrowed text, so that reading millions of passes allocates nothing for each.
        struct Text;

        impl serde::de::Visitor<'_> for Text {
            type Value = Step;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a pass such as \"3F0\"")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Step, E> {
                let pair = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
                match pair.and_then(|pair| pair.split_once(';')) {
                    Some((first, second)) => Ok(Step::Pair([
                        first.parse().map_err(E::custom)?,
                        second.parse().map_err(E::custom)?,
                    ])),
                    None => text.parse().map(Step::One).map_err(E::custom),
                }
            }
        }

        deserializer.deserialize_str(Text)
    }
}

impl AsRef<[Pass]> for Step {
    fn as_ref(&self) -> &[Pass] {
        match self {
            Self::One(pass) => std::slice::from_ref(pass),
            Self::Pair(both) => both,
        }
    }
}

/// The text of an entry.
struct Entry<'a>(&'a [Pass]);

impl fmt::Display for Entry<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [first, second] => write!(out, "({first};{second})"),
            passes => passes.iter().try_for_each(|pass| write!(out, "{pass}")),
        }
    }
}

impl Serialize for Entry<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Reads a schedule file. That the schedule can run is not checked here.
///
/// # Errors
/// When the text has not the form of a schedule file.
pub fn parse(text: &str) -> Result<Schedule, ScheduleFileError> {
    // Serde would read a list of the right length as the fields in a row.
    if let Some(at) = text.find(|letter: char| !letter.is_ascii_whitespace())
        && text[at..].starts_with('[')
    {
        return Err(ScheduleFileError::Json {
            message: "a schedule file is an object, not a list".to_owned(),
            line: text[..at].matches('\n').count() + 1,
            column: at - text[..at].rfind('\n').map_or(0, |newline| newline + 1) + 1,
        });
    }
    let file: File = serde_json::from_str(text).map_err(JsonError::from)?;
    if file.format != FORMAT {
        return Err(ScheduleFileError::Format(file.format));
    }
    // The problem is the text of a model file, whose reader refuses them as well.
    json::strict(
        text,
        &[&["certificate", "statement", "problem"], &["certificate", "statement", "job", "job"]],
    )?;
    let stages_of = file.placement.into_iter().map(|stages| stages.into_iter().map(Stage).collect());
    let placement = Placement::new(stages_of.collect())?;
    let placement = match file.directions {
        None | Some(1) => placement,
        Some(2) => placement.in_two_directions()?,
        Some(other) => return Err(ScheduleFileError::Directions(other)),
    };
    let schedule =
        Schedule::of_steps(placement, file.microbatches, &file.orders)?.with_levels(file.levels)?;
    let schedule = match file.offload {
        Some(offloads) => schedule.with_offloads(offloads)?,
        None => schedule,
    };
    Ok(Schedule {
        name: file.name,
        model: file.model,
        provenance: file.provenance,
        certificate: file.certificate,
        ..schedule
    })
}

/// What a schedule file says before the orders: the keys that it has, in order, each with its value in JSON.
fn head(schedule: &Schedule) -> serde_json::Result<Vec<(&'static str, Box<RawValue>)>> {
    let stages = |stages: &Vec<Stage>| stages.iter().map(|stage| stage.0).collect::<Vec<_>>();
    let placement: Vec<Vec<u32>> = schedule.placement.lists().iter().map(stages).collect();
    let directions = Some(schedule.placement.directions()).filter(|&directions| directions > 1);
    let entries = [
        ("format", Some(to_raw_value(FORMAT)?)),
        ("name", schedule.name.as_ref().map(to_raw_value).transpose()?),
        ("model", schedule.model.as_ref().map(to_raw_value).transpose()?),
        ("provenance", schedule.provenance.as_ref().map(to_raw_value).transpose()?),
        ("placement", Some(to_raw_value(&placement)?)),
        ("directions", directions.as_ref().map(to_raw_value).transpose()?),
        ("microbatches", Some(to_raw_value(&schedule.microbatches)?)),
        ("levels", (!schedule.levels.is_empty()).then(|| to_raw_value(&schedule.levels)).transpose()?),
        ("certificate", schedule.certificate.as_ref().map(to_raw_value).transpose()?),
    ];
    Ok(entries.into_iter().filter_map(|(key, value)| Some((key, value?))).collect())
}

/// The lists of what is offloaded, if anything is.
fn offloads(schedule: &Schedule) -> Option<&[Vec<Offloaded>]> {
    (schedule.offload_count() > 0).then_some(&schedule.offloads)
}

/// Writes a schedule file: one line for each device's order, so that differences read well.
///
/// # Errors
/// When `out` cannot be written to.
pub fn write(schedule: &Schedule, out: impl Write) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    writeln!(out, "{{")?;
    for (key, value) in head(schedule)? {
        writeln!(out, "  \"{key}\": {value},")?;
    }
    write!(out, "  \"orders\": [")?;
    for device in Device::all(schedule.devices()) {
        write!(out, "{}\n    [", if device.0 == 0 { "" } else { "," })?;
        for (place, step) in schedule.steps(device).enumerate() {
            write!(out, "{}\"{}\"", if place == 0 { "" } else { "," }, Entry(step))?;
        }
        write!(out, "]")?;
    }
    write!(out, "\n  ]")?;
    if let Some(offloads) = offloads(schedule) {
        write!(out, ",\n  \"offload\": [")?;
        for (device, list) in offloads.iter().enumerate() {
            let list = serde_json::to_string(list).map_err(io::Error::from)?;
            write!(out, "{}\n    {list}", if device == 0 { "" } else { "," })?;
        }
        write!(out, "\n  ]")?;
    }
    writeln!(out, "\n}}")?;
    out.flush()
}

/// The object that a schedule file holds, for embedding in other JSON.
impl Serialize for Schedule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(None)?;
        for (key, value) in head(self).map_err(S::Error::custom)? {
            object.serialize_entry(key, &value)?;
        }
        let orders = Device::all(self.devices()).map(|device| self.steps(device).map(Entry).collect());
        object.serialize_entry("orders", &orders.collect::<Vec<Vec<Entry<'_>>>>())?;
        if let Some(offloads) = offloads(self) {
            object.serialize_entry("offload", offloads)?;
        }
        object.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Kind, Microbatch};
    use crate::text::is_control;
    use proptest::prelude::*;

    /// Every other forward and backward that are next to each other.
    fn pairs_of(order: &[Pass]) -> Vec<usize> {
        let mut pairs = Vec::new();
        for (position, pair) in order.windows(2).enumerate() {
            let is_pair = pair.iter().any(|pass| pass.kind == Kind::F)
                && pair.iter().any(|pass| pass.kind.yields_input_gradient());
            if is_pair && pairs.last().is_none_or(|&last| last + 2 <= position) {
                pairs.push(position);
            }
        }
        pairs
    }

    /// Every forward with a place, from the one behind it to the last.
    fn offloads_of(order: &[Pass]) -> Vec<Offloaded> {
        let mut found: Vec<Offloaded> = Vec::new();
        for (position, &pass) in order.iter().enumerate() {
            let (freed, fetched) = (position + 1, order.len() - 1);
            if pass.kind == Kind::F && freed < fetched && found.iter().all(|one| one.pass != pass) {
                found.push(Offloaded { pass, freed, fetched });
            }
        }
        found
    }

    #[test]
    fn what_is_offloaded_is_written_where_something_is() {
        let text = |offloads: Vec<Vec<Offloaded>>| {
            let orders =
                vec![["0F0", "0F1", "0B1", "0B0"].map(|pass| pass.parse().expect("a pass")).to_vec()];
            let schedule = Schedule::new(Placement::linear(1).expect("a placement"), 2, orders);
            let schedule =
                schedule.and_then(|schedule| schedule.with_offloads(offloads)).expect("a schedule");
            let mut written = Vec::new();
            write(&schedule, &mut written).expect("memory");
            let object = serde_json::to_value(&schedule).expect("an object");
            let is_named = object.get("offload").is_some();
            let written = String::from_utf8(written).expect("UTF-8");
            assert_eq!(parse(&written).expect("a schedule"), schedule);
            assert_eq!(written.contains("offload"), is_named);
            is_named
        };
        assert!(!text(vec![Vec::new()]));
        let pass = "0F0".parse().expect("a pass");
        assert!(text(vec![vec![Offloaded { pass, freed: 1, fetched: 2 }]]));
    }

    #[test]
    fn what_is_offloaded_is_refused_at_its_place() {
        let text = |offload: &str| {
            format!(
                "{{\"format\": \"{FORMAT}\", \"placement\": [[0]], \"microbatches\": 2, \"orders\": \
                 [[\"0F0\", \"0F1\", \"0B1\", \"0B0\"]], \"offload\": {offload}}}"
            )
        };
        let complaint = |offload: &str| parse(&text(offload)).expect_err(offload).to_string();
        let one = |pass: &str, freed: i64, fetched: i64| {
            format!("{{\"pass\": \"{pass}\", \"freed\": {freed}, \"fetched\": {fetched}}}")
        };
        let wrong = |pass, freed, fetched| {
            format!(
                "`offload`: device 0: `{pass}` is offloaded from position {freed} to {fetched}: a forward is offloaded, once, from \
                 one position of the device's order to a later one"
            )
        };
        let read =
            parse(&text(&format!("[[{}, {}]]", one("0F1", 2, 3), one("0F0", 1, 3)))).expect("a schedule");
        let passes: Vec<String> =
            read.offloads(Device(0)).iter().map(|offloaded| offloaded.pass.to_string()).collect();
        assert_eq!((passes.concat().as_str(), read.offload_count()), ("0F00F1", 2));
        assert_eq!(complaint(&format!("[[{}]]", one("0B0", 1, 2))), wrong("0B0", 1, 2));
        assert_eq!(complaint(&format!("[[{}]]", one("0F0", 2, 2))), wrong("0F0", 2, 2));
        assert_eq!(complaint(&format!("[[{}]]", one("0F0", 1, 4))), wrong("0F0", 1, 4));
        assert_eq!(complaint(&format!("[[{}, {}]]", one("0F0", 1, 2), one("0F0", 1, 3))), wrong("0F0", 1, 3));
        assert_eq!(
            complaint("[]"),
            "`offload`: there are 0 lists of offloaded activations, but the placement has 1 devices"
        );
        assert!(complaint(&format!("[[{}]]", one("0X0", 1, 2))).contains("0X0"));
        assert!(complaint(&format!("[[{}]]", one("0F0", -1, 2))).starts_with("invalid value: integer `-1`"));
        assert!(complaint("[[{\"pass\": \"0F0\", \"freed\": 1}]]").starts_with("missing field `fetched`"));
        assert_eq!(
            parse(&text("[[]]")).expect("nothing is offloaded"),
            parse(&text("null")).expect("nothing")
        );
    }

    /// A text that a schedule file may hold.
    fn plain_text() -> impl Strategy<Value = String> + Clone {
        ".*".prop_map(|text: String| text.chars().filter(|&letter| !is_control(letter)).collect())
    }

    fn any_schedule() -> impl Strategy<Value = Schedule> {
        let pass = (0..9_u32, 0..Kind::COUNT, 0..9_u32).prop_map(|(stage, kind, microbatch)| {
            Pass::new(Stage(stage), Kind::ALL[kind], Microbatch(microbatch))
        });
        let orders = prop::collection::vec(prop::collection::vec(pass, 0..6), 1..4);
        let name = prop::option::of(plain_text());
        (orders, 1..9_u32, name.clone(), name, prop::option::of((0..99_u32, plain_text()))).prop_map(
            |(orders, microbatches, name, model, made)| {
                let devices = u32::try_from(orders.len()).expect("at most three");
                let placement = Placement::looped(devices, microbatches).expect("a small placement");
                let overlaps = orders.iter().map(|order| pairs_of(order)).collect();
                let offloads = orders.iter().map(|order| offloads_of(order)).collect();
                let schedule = Schedule::new(placement, microbatches, orders).expect("one order per device");
                let schedule = schedule.with_overlaps(overlaps).expect("pairs of a forward and a backward");
                let schedule = schedule.with_offloads(offloads).expect("forwards, each once");
                let again = schedule.orders.iter().flatten().filter(|pass| pass.kind == Kind::R);
                let levels = again.map(|&pass| (pass, 1 + pass.microbatch.0)).collect();
                let schedule = schedule.with_levels(levels).expect("Rs at other levels than the first");
                let provenance = made.map(|(seed, engine)| Provenance {
                    tool: "test".to_owned(),
                    engine,
                    settings: [("seed".to_owned(), seed.to_string())].into(),
                    ..Provenance::default()
                });
                let certificate = provenance.as_ref().map(|_| serde_json::json!({ "bound": [1, "2/3"] }));
                Schedule { name, model, provenance, certificate, ..schedule }
            },
        )
    }

    proptest! {
        #[test]
        fn reading_what_was_written_gives_the_same_schedule(schedule in any_schedule()) {
            let mut text = Vec::new();
            write(&schedule, &mut text).expect("writing to memory");
            let text = String::from_utf8(text).expect("JSON is UTF-8");
            prop_assert_eq!(&parse(&text).expect("what was written reads"), &schedule);
            let object = serde_json::to_string(&schedule).expect("a schedule is JSON");
            prop_assert_eq!(parse(&object).expect("the object reads as the file does"), schedule);
        }
    }
}
