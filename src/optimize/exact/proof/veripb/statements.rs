//! The statements of the solver's log as bits of the proof, each defined when it is first needed.

use drcp_format::{IntAtomic, IntComparison};

use super::{About, AtLeast, Proof};
use crate::optimize::exact::proof::ProofError;

type Atom<N> = IntAtomic<N, i32>;

/// A statement, once the range of its variable is taken into account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Truth {
    Always(bool),
    Literal(String),
}

impl Proof<'_> {
    /// What a variable being at least a value is called, defined when first needed.
    pub(super) fn at_least(&mut self, (variable, value): AtLeast) -> Truth {
        let range = &self.program.variables()[variable];
        if value <= range.least {
            return Truth::Always(true);
        } else if value > range.most {
            return Truth::Always(false);
        }
        let name = range.name();
        if !self.is_start(variable) {
            return Truth::Literal(name);
        }
        let literal = format!("{name}_ge{value}");
        if !self.reified.contains_key(&(variable, value)) {
            let (up, down) = (self.binary.sum([(1, variable)]), self.binary.sum([(-1, variable)]));
            let highest: i64 = self.binary.bits(variable).map(|(value, _)| value).sum();
            let room = highest - (value - 1);
            let forth = self.add(&format!("red {up}{value} ~{literal} >= {value} : {literal} -> 0"));
            let back = self.add(&format!("red {down}{room} {literal} >= {} : {literal} -> 1", 1 - value));
            self.reified.insert((variable, value), [forth, back]);
        }
        Truth::Literal(literal)
    }

    /// What a start being a value strictly inside its range is called, defined when first needed.
    pub(super) fn equals(&mut self, at: AtLeast) -> String {
        let (variable, value) = at;
        let name = format!("{}_eq{value}", self.program.variables()[variable].name());
        if !self.equal.contains_key(&at) {
            let (low, high) = (self.at_least(at), self.at_least((variable, value + 1)));
            let (Truth::Literal(low), Truth::Literal(high)) = (low, high) else {
                unreachable!("it is strictly inside the range")
            };
            let least = self.add(&format!("red 1 ~{name} 1 {low} >= 1 : {name} -> 0"));
            let most = self.add(&format!("red 1 ~{name} 1 ~{high} >= 1 : {name} -> 0"));
            let both = self.add(&format!("red 1 {name} 1 ~{low} 1 {high} >= 1 : {name} -> 1"));
            self.equal.insert(at, [least, most, both]);
        }
        name
    }

    pub(super) fn variable(&self, name: &str) -> Result<usize, ProofError> {
        self.names.get(name).copied().ok_or_else(|| ProofError::Log(format!("there is no variable {name}")))
    }

    /// The bounds that a statement implies: `(variable, value)` is at least it, or (false) is not.
    pub(super) fn bounds<N: AsRef<str>>(&self, atom: &Atom<N>) -> Result<Vec<(AtLeast, bool)>, ProofError> {
        let (variable, value) = (self.variable(atom.name.as_ref())?, i64::from(atom.value));
        let range = &self.program.variables()[variable];
        Ok(match atom.comparison {
            IntComparison::GreaterEqual => vec![((variable, value), true)],
            IntComparison::LessEqual => vec![((variable, value + 1), false)],
            IntComparison::Equal => vec![((variable, value), true), ((variable, value + 1), false)],
            IntComparison::NotEqual if value == range.least => vec![((variable, value + 1), true)],
            IntComparison::NotEqual if value == range.most => vec![((variable, value), false)],
            IntComparison::NotEqual => Vec::new(),
        })
    }

    /// The negation of a statement as a literal, unless it is false by the range alone; notes what it is
    /// about.
    pub(super) fn negated<N: AsRef<str>>(
        &mut self,
        atom: &Atom<N>,
        about: &mut About,
    ) -> Result<Option<String>, ProofError> {
        let (variable, value) = (self.variable(atom.name.as_ref())?, i64::from(atom.value));
        let range = &self.program.variables()[variable];
        let (least, most) = (range.least, range.most);
        let (bound, holds) = match atom.comparison {
            IntComparison::GreaterEqual => (value, true),
            IntComparison::LessEqual => (value + 1, false),
            IntComparison::Equal | IntComparison::NotEqual => {
                let equal = atom.comparison == IntComparison::Equal;
                if value <= least {
                    // Of a value below the range neither can be told from its lowest end: the line fails.
                    (least + 1, !equal)
                } else if value >= most {
                    (most, equal)
                } else {
                    about.equal.push((variable, value));
                    let literal = self.equals((variable, value));
                    return Ok(Some(if equal { format!("~{literal}") } else { literal }));
                }
            }
        };
        let Truth::Literal(literal) = self.at_least((variable, bound)) else { return Ok(None) };
        about.at_least.push((variable, bound));
        Ok(Some(if holds { format!("~{literal}") } else { literal }))
    }

    /// That a start is at least `high` implies that it is at least `low`.
    pub(super) fn chain(&mut self, variable: usize, low: i64, high: i64) -> usize {
        if let Some(&id) = self.chains.get(&(variable, low, high)) {
            return id;
        }
        let ([forth, _], [_, back]) = (self.reified[&(variable, high)], self.reified[&(variable, low)]);
        let id = self.add(&format!("pol {forth} {back} + s"));
        self.chains.insert((variable, low, high), id);
        id
    }
}
