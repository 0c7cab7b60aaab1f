//! What changed in the files of a design, as far as its record tells, and in which line.
//!
//! A record has the offsets of a block, its interval and durations, the orders of a schedule and a digest of each model.
//! What differs in them leads to a line. Of a model it is the first: a digest does not tell which of its values changed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::fact::{Fact, Place, Value, What};
use super::inputs::Inputs;
use super::lines;
use super::manifest::{Design, DesignSource};
use super::record::Record;

/// A line of a file, and what is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Spot {
    /// The file.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: usize,
    /// What is there: `the formula of I of chunk 0`.
    pub what: String,
}

/// What changed in the files of a design.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Spots {
    /// The formulas of passes that moved, by kind and chunk. W without a formula follows I.
    pub formulas: BTreeMap<String, Spot>,
    /// The durations or the model.
    pub problem: Option<Spot>,
    /// The first of all that changed.
    pub first: Option<Spot>,
}

/// What changed in the files of a design since it was recorded, which are named from a directory on.
pub(super) fn spots(
    directory: &Path,
    design: &Design,
    inputs: &Inputs,
    old: &Record,
    found: &Record,
) -> Spots {
    let comparison = Comparison { directory, inputs, old, found };
    match &design.subject {
        DesignSource::Family { file, models, .. } => comparison.of_family(file, models),
        DesignSource::Schedule { file, model } => comparison.of_schedule(file, model.as_deref()),
        DesignSource::Named { model: file, .. } | DesignSource::Model { file, .. } => {
            let problem = comparison.has_changed(&What::Problem).then(|| comparison.model(file));
            Spots { first: problem.clone(), problem, ..Spots::default() }
        }
    }
}

struct Comparison<'a> {
    directory: &'a Path,
    inputs: &'a Inputs,
    old: &'a Record,
    found: &'a Record,
}

impl Comparison<'_> {
    fn has_changed(&self, what: &What) -> bool {
        let whole = Place::default();
        self.old.get(&whole, what) != self.found.get(&whole, what)
    }

    /// The place of something in a file of the design; its first line where it is nowhere in particular.
    fn spot(&self, file: &str, line: Option<usize>, what: impl Into<String>) -> Spot {
        Spot { file: self.directory.join(file), line: line.unwrap_or(1), what: what.into() }
    }

    fn text(&self, file: &str) -> &str {
        self.inputs.texts.get(file).map_or("", String::as_str)
    }

    fn model(&self, file: &str) -> Spot {
        self.spot(file, None, "the model")
    }

    fn of_family(&self, file: &str, models: &BTreeMap<String, String>) -> Spots {
        let text = self.text(file);
        let mut formulas = BTreeMap::new();
        for pass in self.moved() {
            let (kind, chunk) = pass.split_at(1);
            let stated = if kind == "W" && lines::of_formula(text, &pass).is_none() {
                format!("I{chunk}")
            } else {
                pass.clone()
            };
            // W may have moved on its own, when only durations changed.
            if let Some(line) =
                lines::of_formula(text, &stated).filter(|_| stated == pass || self.has_moved(&stated))
            {
                let kind = stated.split_at(1).0;
                formulas.insert(
                    pass.clone(),
                    self.spot(file, Some(line), format!("the formula of {kind} of chunk {chunk}")),
                );
            }
        }
        let interval = self
            .has_changed(&What::Interval)
            .then(|| self.spot(file, lines::of_key(text, &["interval"]), "the interval"));
        let problem = self.problem_of_family(file, models);
        let others = self.has_changed(&What::Formulas).then(|| self.spot(file, None, "the family"));
        let first = formulas.values().min_by_key(|spot| spot.line).cloned();
        let first = first.or(interval).or_else(|| problem.clone()).or(others);
        Spots { formulas, problem, first }
    }

    /// The first duration or model of a family that changed.
    fn problem_of_family(&self, file: &str, models: &BTreeMap<String, String>) -> Option<Spot> {
        let text = |record: &Record| match record.get(&Place::default(), &What::Problem) {
            Some(Value::Text(text)) => text.clone(),
            _ => String::new(),
        };
        let (old, new) = (text(self.old), text(self.found));
        let recorded: Vec<&str> = old.split(", ").collect();
        let changed = new.split(", ").position(|part| !recorded.contains(&part))?;
        match ["F", "I", "W"].get(changed) {
            Some(kind) => {
                let line = lines::of_key(self.text(file), &["durations", kind]);
                Some(self.spot(file, line, format!("the duration of {kind}")))
            }
            // The models follow the durations in their order.
            None => Some(self.model(models.values().nth(changed - 3)?)),
        }
    }

    /// The passes of a block that have another offset somewhere, each once.
    fn moved(&self) -> Vec<String> {
        let mut passes: Vec<String> = Vec::new();
        for Fact { key, value } in &self.found.facts {
            let (Value::Offsets(found), Some(Value::Offsets(recorded))) =
                (value, self.old.get(&key.place, &key.what))
            else {
                continue;
            };
            for (pass, at) in found {
                let before = recorded.iter().find(|(other, _)| other == pass);
                if before.is_some_and(|(_, before)| before != at) && !passes.contains(pass) {
                    passes.push(pass.clone());
                }
            }
        }
        passes
    }

    fn has_moved(&self, pass: &str) -> bool {
        self.moved().iter().any(|moved| moved == pass)
    }

    fn of_schedule(&self, file: &str, model: Option<&str>) -> Spots {
        let problem = self.has_changed(&What::Problem).then(|| match model {
            Some(model) => self.model(model),
            // Without a model its times are units, and the problem is the size of the schedule.
            None => self.spot(file, None, "the schedule"),
        });
        let is_order = |fact: &&Fact| fact.key.what == What::Order;
        let order = self.found.facts.iter().filter(is_order).find_map(|Fact { key, value }| {
            let (Value::Passes(new), Some(Value::Passes(old))) = (value, self.old.get(&key.place, &key.what))
            else {
                return None;
            };
            let step =
                (old != new).then(|| new.iter().zip(old).take_while(|(new, old)| new == old).count())?;
            let device = key.place.device?;
            let line = lines::of_step(self.text(file), device as usize, step);
            Some(self.spot(file, line, format!("the order of device {device}")))
        });
        // Orders that are too long to be recorded may have changed.
        let unknown = !self.found.facts.iter().any(|fact| is_order(&fact));
        let unknown =
            unknown.then(|| self.spot(file, None, "the schedule, whose orders are too long to be recorded"));
        let first = order.or_else(|| problem.clone()).or(unknown);
        Spots { formulas: BTreeMap::new(), problem, first }
    }
}
