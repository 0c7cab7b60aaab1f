//! A theorem split by residues, so that no quotient is left in it to be reasoned about.
//!
//! With `i = P*a + r` and `d = P*b + s`, where `r` and `s` are residues modulo P, a quotient by a constant in the
//! formulas of a family is the sum of a multiple of `a`, a multiple of `b` and a number that depends on `r` and `s`
//! alone, for a P that suits all of them. A solver that is given these numbers has only linear arithmetic to do, which
//! takes a hundredth of the time. It need not believe them, because it also checks that each quotient is such a sum.

use std::collections::BTreeMap;

use itertools::iproduct;

use super::linear::Linear;
use super::term::{Definition, Fact, Term};
use super::theorem::Theorem;

/// With more residues the table is more work for a solver than the quotients.
const MOST_RESIDUES: i128 = 24;

/// All quotients of a theorem by residues.
#[derive(Debug, Clone)]
pub(super) struct Residues {
    /// The number P of residues.
    pub period: i128,
    /// In such an order that each rests only on those before it.
    pub quotients: Vec<Quotient>,
}

/// A quotient: `per_device*a + per_devices*b` and a constant.
#[derive(Debug, Clone)]
pub(super) struct Quotient {
    pub of: Term,
    pub divisor: i128,
    pub per_device: i128,
    pub per_devices: i128,
    /// The constants, by `s` and `r`.
    pub constants: Vec<i128>,
}

/// Why a term does not grow evenly.
enum Uneven {
    /// It would with this many times as many residues.
    Refine(i128),
    /// It never does, or its numbers are too large.
    Never,
}

impl Residues {
    /// The residues that tell all quotients of a theorem; nothing where there is no quotient, where none or
    /// too many tell them, and where it speaks of other devices too.
    pub fn of(theorem: &Theorem) -> Option<Self> {
        let (quotients, mut period) = (quotients(theorem), 1);
        if !is_of_one_device(theorem) {
            return None;
        }
        while !quotients.is_empty() && period <= MOST_RESIDUES {
            match Self::told(period, &quotients, &theorem.definitions) {
                Ok(quotients) => return Some(Self { period, quotients }),
                Err(Uneven::Refine(times)) => period *= times,
                Err(Uneven::Never) => return None,
            }
        }
        None
    }

    fn told(
        period: i128,
        quotients: &[(Term, i128)],
        definitions: &[Definition],
    ) -> Result<Vec<Quotient>, Uneven> {
        let mut told: Vec<Quotient> = Vec::new();
        for (s, r) in iproduct!(0..period, 0..period) {
            let mut class = Class { period, r, s, definitions, known: BTreeMap::new() };
            for (position, (of, divisor)) in quotients.iter().enumerate() {
                let Linear { per_device, per_devices, constant } = class.quotient(of, *divisor)?;
                if told.len() == position {
                    let (of, divisor, constants) = (of.clone(), *divisor, Vec::new());
                    told.push(Quotient { of, divisor, per_device, per_devices, constants });
                }
                let quotient = &mut told[position];
                if (quotient.per_device, quotient.per_devices) != (per_device, per_devices) {
                    return Err(Uneven::Never);
                }
                quotient.constants.push(constant);
            }
        }
        Ok(told)
    }

    /// Every pair of residues as `r` and `s`, with the constants of the quotients.
    pub fn rows(&self) -> impl Iterator<Item = (i128, i128, Vec<i128>)> {
        iproduct!(0..self.period, 0..self.period).enumerate().map(|(row, (s, r))| {
            (r, s, self.quotients.iter().map(|quotient| quotient.constants[row]).collect())
        })
    }
}

/// What is divided by what in a theorem, each once.
fn quotients(theorem: &Theorem) -> Vec<(Term, i128)> {
    let mut quotients: Vec<(Term, i128)> = Vec::new();
    let mut see = |of: &Term, divisor: i128| {
        if !quotients.iter().any(|(other, by)| (other, *by) == (of, divisor)) {
            quotients.push((of.clone(), divisor));
        }
    };
    theorem.definitions.iter().for_each(|definition| definition.body.quotients(&mut see));
    let facts = [Some(&theorem.domain), theorem.premise.as_ref(), Some(&theorem.claim)];
    facts.into_iter().flatten().for_each(|fact| fact.quotients(&mut see));
    quotients
}

/// Whether a theorem speaks of no device but `i`.
fn is_of_one_device(theorem: &Theorem) -> bool {
    let mut only = true;
    let mut see = |_: &str, device: &Term| only &= *device == Term::Device;
    theorem.definitions.iter().for_each(|definition| definition.body.names(&mut see));
    let facts = [Some(&theorem.domain), theorem.premise.as_ref(), Some(&theorem.claim)];
    facts.into_iter().flatten().for_each(|fact| fact.names(&mut see));
    only
}

/// The devices and numbers of devices of one residue each.
struct Class<'a> {
    period: i128,
    r: i128,
    s: i128,
    definitions: &'a [Definition],
    /// The values of the definitions found so far.
    known: BTreeMap<String, Linear>,
}

impl Class<'_> {
    fn value(&mut self, term: &Term) -> Result<Linear, Uneven> {
        let fits = |value: Option<Linear>| value.ok_or(Uneven::Never);
        match term {
            Term::Integer(value) => Ok(Linear::constant(*value)),
            Term::Device => Ok(Linear { per_device: self.period, ..Linear::constant(self.r) }),
            Term::Devices => Ok(Linear { per_devices: self.period, ..Linear::constant(self.s) }),
            Term::Sum(terms) => terms
                .iter()
                .try_fold(Linear::constant(0), |sum, term| fits(sum.checked_add(self.value(term)?))),
            Term::Difference(left, right) => self.difference(left, right),
            Term::Times(factor, term) => fits(self.value(term)?.checked_times(*factor)),
            Term::Quotient(of, divisor) => self.quotient(of, *divisor),
            Term::Remainder(of, divisor) => {
                let (whole, quotient) = (self.value(of)?, self.quotient(of, *divisor)?);
                let rest = quotient.checked_times(-divisor).and_then(|taken| whole.checked_add(taken));
                fits(rest)
            }
            Term::If(fact, then, otherwise) => {
                if self.holds(fact)? {
                    self.value(then)
                } else {
                    self.value(otherwise)
                }
            }
            Term::Of(name, device) if **device == Term::Device => {
                if let Some(&value) = self.known.get(name) {
                    return Ok(value);
                }
                let definitions = self.definitions;
                let definition = definitions.iter().find(|definition| definition.name == *name);
                let value = self.value(&definition.ok_or(Uneven::Never)?.body)?;
                self.known.insert(name.clone(), value);
                Ok(value)
            }
            Term::Of(..) => Err(Uneven::Never),
        }
    }

    fn difference(&mut self, left: &Term, right: &Term) -> Result<Linear, Uneven> {
        let (left, right) = (self.value(left)?, self.value(right)?);
        right.checked_times(-1).and_then(|less| left.checked_add(less)).ok_or(Uneven::Never)
    }

    fn quotient(&mut self, of: &Term, divisor: i128) -> Result<Linear, Uneven> {
        let whole = self.value(of)?;
        whole.quotient(divisor).ok_or_else(|| Uneven::Refine(whole.refinement(divisor)))
    }

    /// Whether a fact holds, where that is the same for all of the class.
    fn holds(&mut self, fact: &Fact) -> Result<bool, Uneven> {
        match fact {
            Fact::Compare(left, comparison, right) => {
                let difference = self.difference(left, right)?.only().ok_or(Uneven::Never)?;
                Ok(comparison.holds(difference, 0))
            }
            Fact::All(parts) => parts.iter().try_fold(true, |all, part| Ok(all & self.holds(part)?)),
            Fact::Any(parts) => parts.iter().try_fold(false, |any, part| Ok(any | self.holds(part)?)),
        }
    }
}
