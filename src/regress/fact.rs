//! What is recorded of a design: facts, each with its place and its value.

use std::fmt;

use crate::replay::Rate;

/// Something that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// Where, and what.
    pub key: Key,
    /// The value.
    pub value: Value,
}

/// What a fact is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// Where it was found.
    pub place: Place,
    /// What was found.
    pub what: What,
}

/// Where something was found: of a family at one number of devices, of its schedule of so many
/// microbatches, and so on. A place without anything is the design as a whole.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The name of the model, where it is not the design's own.
    pub model: Option<String>,
    /// The name of the schedule, where a design has several.
    pub schedule: Option<String>,
    /// The number of devices, d.
    pub devices: Option<u32>,
    /// The number of microbatches, m.
    pub microbatches: Option<u32>,
    /// The device, i.
    pub device: Option<u32>,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum What {
    /// The problem that is solved: a digest of what makes two figures comparable.
    Problem,
    /// A digest of all that the theorems about a family are about.
    Formulas,
    /// Whether the design is valid there.
    Valid,
    /// The first thing that is wrong.
    Why,
    /// The time per microbatch in the steady phase, in ticks.
    Interval,
    /// The offsets of a device's passes.
    Offsets,
    /// The order of a device's passes.
    Order,
    /// How long a microbatch holds the stages of a device, in ticks: from the start of F to the end of the
    /// last backward pass; of a schedule the longest.
    Lifespans,
    /// The most that each device holds, in units.
    PeakMemory,
    /// The makespan in ticks.
    Makespan,
    /// The device span in ticks.
    DeviceSpan,
    /// The bubble rate.
    BubbleRate,
    /// What no schedule with the memory of this one can be shorter than, in ticks.
    LowerBound,
    /// What the makespan is above that, as a share of it.
    Gap,
    /// Whether its sends and receives are safe.
    Communication,
    /// The time per microbatch below which no schedule of the model is in the long run, in ticks.
    IntervalBound,
    /// The shortest schedule of the catalogue.
    Best,
    /// The verdict about a theorem.
    Theorem(String),
    /// What a theorem says where its name does not tell.
    Claim(String),
    /// Where a theorem is false: the smallest number of devices, the first device, and the passes.
    Counterexample(String),
    /// That device, drawn.
    Drawing(String),
    /// The verdict about a promise.
    Promise(String),
}

/// What was found there.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Value {
    /// Yes or no.
    Truth(bool),
    /// Ticks or units.
    Integer(i64),
    /// Ticks or units, of several things.
    Integers(Vec<i64>),
    /// A share or an interval.
    Fraction(Rate),
    /// Passes, as they are written.
    Passes(Vec<String>),
    /// Passes with their offsets.
    Offsets(Vec<(String, i64)>),
    /// A verdict, with what is to be said beside it.
    Verdict(RecordedVerdict, String),
    /// Anything else.
    Text(String),
}

/// What is known of a theorem or of a promise, from the worst to the best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum RecordedVerdict {
    /// It is false.
    Refuted,
    /// Neither could be shown, though this build could have.
    Unknown,
    /// This build cannot decide it. It holds wherever it was tried.
    Undecided,
    /// It holds wherever it was tried, and is not such that it could be proved.
    Tested,
    /// It holds always.
    Proved,
}

impl RecordedVerdict {
    const ALL: [(Self, &'static str); 5] = [
        (Self::Refuted, "refuted"),
        (Self::Unknown, "unknown"),
        (Self::Undecided, "undecided"),
        (Self::Tested, "tested"),
        (Self::Proved, "proved"),
    ];

    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        Self::ALL.into_iter().find(|(verdict, _)| *verdict == self).map_or("", |(_, word)| word)
    }
}

impl Place {
    /// At a number of devices.
    #[must_use]
    pub fn devices(devices: u32) -> Self {
        Self { devices: Some(devices), ..Self::default() }
    }

    /// The same place with a number of microbatches.
    #[must_use]
    pub fn with_microbatches(&self, microbatches: u32) -> Self {
        Self { microbatches: Some(microbatches), ..self.clone() }
    }

    /// The same place, on a device.
    #[must_use]
    pub fn on(&self, device: u32) -> Self {
        Self { device: Some(device), ..self.clone() }
    }

    /// The place without its device and microbatches: facts with the same one are adjacent.
    pub(super) fn section(&self) -> Self {
        Self { device: None, microbatches: None, ..self.clone() }
    }

    /// The place without its device.
    pub(super) fn of_all_devices(&self) -> Self {
        Self { device: None, ..self.clone() }
    }

    fn take(&mut self, word: &str) -> Option<()> {
        fn set<T>(slot: &mut Option<T>, value: Option<T>) -> Option<()> {
            let new = slot.is_none();
            *slot = Some(value?);
            new.then_some(())
        }
        let (name, value) = word.split_once('=')?;
        match name {
            "model" => set(&mut self.model, Some(value.to_owned())),
            "schedule" => set(&mut self.schedule, Some(value.to_owned())),
            "d" => set(&mut self.devices, value.parse().ok()),
            "m" => set(&mut self.microbatches, value.parse().ok()),
            "i" => set(&mut self.device, value.parse().ok()),
            _ => None,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = |number: Option<u32>| number.map(|number| number.to_string());
        let parts = [
            ("model", self.model.clone()),
            ("schedule", self.schedule.clone()),
            ("d", number(self.devices)),
            ("m", number(self.microbatches)),
            ("i", number(self.device)),
        ];
        let parts = parts.into_iter().filter_map(|(name, value)| Some(format!("{name}={}", value?)));
        out.write_str(&parts.collect::<Vec<_>>().join(" "))
    }
}

impl Key {
    /// The key of a fact about the design as a whole.
    #[must_use]
    pub fn whole(what: What) -> Self {
        Self { place: Place::default(), what }
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut place = Place::default();
        let mut rest = text;
        loop {
            let (word, after) = rest.split_once(' ').unwrap_or((rest, ""));
            if let Some(what) = What::parse(word, after) {
                return Some(Self { place, what });
            }
            place.take(word)?;
            rest = after;
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.place != Place::default() {
            write!(out, "{} ", self.place)?;
        }
        self.what.fmt(out)
    }
}

impl What {
    const PLAIN: [(Self, &'static str); 17] = [
        (Self::Problem, "problem"),
        (Self::Formulas, "formulas"),
        (Self::Valid, "valid"),
        (Self::Why, "why"),
        (Self::Interval, "interval"),
        (Self::Offsets, "offsets"),
        (Self::Order, "order"),
        (Self::Lifespans, "lifespans"),
        (Self::PeakMemory, "peak_memory"),
        (Self::Makespan, "makespan"),
        (Self::DeviceSpan, "device_span"),
        (Self::BubbleRate, "bubble_rate"),
        (Self::LowerBound, "lower_bound"),
        (Self::Gap, "gap"),
        (Self::Communication, "communication"),
        (Self::IntervalBound, "interval_bound"),
        (Self::Best, "best"),
    ];

    fn parse(word: &str, after: &str) -> Option<Self> {
        if after.is_empty() {
            return Self::PLAIN.into_iter().find(|(_, name)| *name == word).map(|(what, _)| what);
        }
        let name = after.to_owned();
        Some(match word {
            "theorem" => Self::Theorem(name),
            "claim" => Self::Claim(name),
            "counterexample" => Self::Counterexample(name),
            "drawing" => Self::Drawing(name),
            "promise" => Self::Promise(name),
            _ => return None,
        })
    }

    /// The words before the name of what it is about.
    fn name(&self) -> &'static str {
        match self {
            Self::Theorem(_) => "theorem",
            Self::Claim(_) => "claim",
            Self::Counterexample(_) => "counterexample",
            Self::Drawing(_) => "drawing",
            Self::Promise(_) => "promise",
            plain => Self::PLAIN.iter().find(|(what, _)| what == plain).map_or("", |(_, name)| name),
        }
    }
}

impl fmt::Display for What {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())?;
        match self {
            Self::Theorem(name)
            | Self::Claim(name)
            | Self::Counterexample(name)
            | Self::Drawing(name)
            | Self::Promise(name) => write!(out, " {name}"),
            _ => Ok(()),
        }
    }
}

impl Value {
    /// More than any figure: products of smaller numbers fit 128 bits, and their differences 64.
    const MOST: i128 = 1 << 62;

    /// Reads the value of a fact of this kind; else what it must be.
    pub(super) fn parse(what: &What, text: &str) -> Result<Self, &'static str> {
        let words = || if text == "-" { Vec::new() } else { text.split(' ').collect() };
        let integer = |word: &str| {
            let number = word.parse::<i64>().ok().filter(|number| i128::from(*number).abs() < Self::MOST);
            number.filter(|number| number.to_string() == word)
        };
        let part =
            |word: &str| word.parse::<i128>().ok().filter(|part| (1 - Self::MOST..Self::MOST).contains(part));
        match what {
            What::Valid | What::Communication => match text {
                "yes" => Some(Self::Truth(true)),
                "no" => Some(Self::Truth(false)),
                _ => None,
            }
            .ok_or("yes or no"),
            What::Makespan | What::DeviceSpan | What::LowerBound => {
                integer(text).map(Self::Integer).ok_or("an integer of at most 62 bits")
            }
            What::Lifespans | What::PeakMemory => {
                let numbers = words().into_iter().map(integer).collect::<Option<_>>();
                numbers.map(Self::Integers).ok_or("integers of at most 62 bits with a space between them")
            }
            What::Interval | What::IntervalBound | What::BubbleRate | What::Gap => {
                let parts = text.split_once('/').unwrap_or((text, "1"));
                let rate = match (part(parts.0), part(parts.1)) {
                    (Some(numerator), Some(denominator)) if denominator > 0 => {
                        Some(Rate::new(numerator, denominator))
                    }
                    _ => None,
                };
                rate.filter(|rate| rate.to_string() == text)
                    .map(Self::Fraction)
                    .ok_or("a fraction in lowest terms of integers of at most 62 bits")
            }
            What::Order => Ok(Self::Passes(words().into_iter().map(str::to_owned).collect())),
            What::Offsets => {
                let one = |word: &str| {
                    let (pass, at) = word.split_once('@')?;
                    let mut letters = pass.chars();
                    let named = letters.next().is_some_and(|kind| kind.is_ascii_uppercase())
                        && letters.all(|letter| letter.is_ascii_digit());
                    if !named {
                        return None;
                    }
                    Some((pass.to_owned(), integer(at)?))
                };
                let offsets = words().into_iter().map(one).collect::<Option<_>>();
                offsets.map(Self::Offsets).ok_or("passes with their offsets of at most 62 bits, such as F0@3")
            }
            What::Theorem(_) | What::Promise(_) => {
                let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
                let verdict = RecordedVerdict::ALL.into_iter().find(|(_, name)| *name == word);
                let verdict = verdict.map(|(verdict, _)| Self::Verdict(verdict, rest.to_owned()));
                verdict.ok_or("proved, tested, undecided, unknown or refuted")
            }
            _ => Ok(Self::Text(text.to_owned())),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = |words: Vec<String>| if words.is_empty() { "-".to_owned() } else { words.join(" ") };
        match self {
            Self::Truth(truth) => out.write_str(if *truth { "yes" } else { "no" }),
            Self::Integer(number) => number.fmt(out),
            Self::Integers(numbers) => {
                out.write_str(&words(numbers.iter().map(ToString::to_string).collect()))
            }
            Self::Fraction(rate) => rate.fmt(out),
            Self::Passes(passes) => out.write_str(&words(passes.clone())),
            Self::Offsets(offsets) => {
                out.write_str(&words(offsets.iter().map(|(pass, at)| format!("{pass}@{at}")).collect()))
            }
            Self::Verdict(verdict, rest) if rest.is_empty() => out.write_str(verdict.word()),
            Self::Verdict(verdict, rest) => write!(out, "{} {rest}", verdict.word()),
            Self::Text(text) => out.write_str(text),
        }
    }
}

impl fmt::Display for Fact {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.key, self.value)
    }
}
