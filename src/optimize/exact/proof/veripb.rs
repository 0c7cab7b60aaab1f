//! From the solver's log to a proof that VeriPB checks.
//!
//! The log (DRCP, of the solver) reasons about statements `[t >= v]` of integers; VeriPB (proof format 3.0)
//! about sums of bits. A statement becomes a fresh bit `g`, defined by two reifications,
//! ```text
//! t + v*~g >= v          t - K*g <= v - 1
//! ```
//! and a step of the log one line of the proof:
//!
//! - an inference from an inequality and bounds is their sum (`pol`), in which the bits of the starts cancel
//!   and the `g` stay;
//! - a deduction is a clause that propagation over the inferences before it yields (`rup`), with hints.
//!
//! Before them come the narrowed ranges and the implied inequalities, each derived the way it says: the
//! formula states neither. So this is the simplest way to such a proof, as nothing is searched twice, and
//! the stronger of the two: whatever the log gets wrong, a line here fails.

mod statements;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::BufRead;
use std::num::NonZero;

use drcp_format::reader::ProofReader;
use drcp_format::{Conclusion, Deduction, Inference, Step};
use itertools::Itertools as _;

use self::statements::Truth;
use super::ProofError;
use crate::optimize::exact::linear::{Binary, Derivation, LinearProgram, Meaning, Origin};

/// A variable is at least a value.
type AtLeast = (usize, i64);

/// A step that later ones may name.
#[derive(Debug, Clone)]
struct Known {
    id: usize,
    about: About,
}

/// The statements in a step.
#[derive(Debug, Clone, Default)]
struct About {
    at_least: Vec<AtLeast>,
    /// That a start, strictly inside its range, is this value.
    equal: Vec<AtLeast>,
}

/// The text of a proof that the formula of `binary` is unsatisfiable.
///
/// # Errors
/// When the log is no proof of that, as far as that shows without checking it.
pub fn translate(binary: &Binary<'_>, log: impl BufRead) -> Result<String, ProofError> {
    let mut proof = Proof::new(binary);
    let mut reader = ProofReader::<_, i32>::new(log);
    loop {
        match reader.next_step().map_err(|error| ProofError::Log(error.to_string()))? {
            Some(Step::Inference(inference)) => proof.infer(&inference)?,
            Some(Step::Deduction(deduction)) => proof.deduce(&deduction)?,
            Some(Step::Conclusion(Conclusion::Unsat)) => return proof.conclude(),
            Some(Step::Conclusion(Conclusion::DualBound(_))) => {
                return Err(ProofError::Log("it concludes a bound".to_owned()));
            }
            None => return Err(ProofError::Log("it does not conclude".to_owned())),
        }
    }
}

struct Proof<'a> {
    binary: &'a Binary<'a>,
    program: &'a LinearProgram,
    text: String,
    /// The number of constraints so far: the id of the last one.
    last: usize,
    names: BTreeMap<String, usize>,
    /// By variable: its lower and its upper bound; none for an order.
    ranges: Vec<Option<[usize; 2]>>,
    inequalities: Vec<usize>,
    /// That a `g` implies its statement, and its negation the opposite.
    reified: BTreeMap<AtLeast, [usize; 2]>,
    /// What makes an `e` the statement that a start is a value: it implies both bounds, they imply it.
    equal: BTreeMap<AtLeast, [usize; 3]>,
    /// That the higher statement implies the lower one.
    chains: BTreeMap<(usize, i64, i64), usize>,
    inferences: BTreeMap<u32, Known>,
    /// The lines of `inferences` that no one needs after the next deduction.
    passing: Vec<usize>,
    nogoods: BTreeMap<u32, Known>,
    contradiction: Option<usize>,
}

impl<'a> Proof<'a> {
    fn new(binary: &'a Binary<'a>) -> Self {
        let program = binary.program();
        let names = program.variables().iter().enumerate().map(|(at, variable)| (variable.name(), at));
        let mut proof = Self {
            binary,
            program,
            text: "pseudo-Boolean proof version 3.0\n".to_owned(),
            last: binary.constraints(),
            names: names.collect(),
            ranges: vec![None; program.variables().len()],
            inequalities: Vec::new(),
            reified: BTreeMap::new(),
            equal: BTreeMap::new(),
            chains: BTreeMap::new(),
            inferences: BTreeMap::new(),
            passing: Vec::new(),
            nogoods: BTreeMap::new(),
            contradiction: None,
        };
        let constraints = binary.constraints();
        proof.say(&format!("f {constraints}"));
        proof.derive_ranges();
        proof.derive_inequalities();
        proof
    }

    fn say(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push_str(";\n");
    }

    /// A line that adds a constraint; its id.
    fn add(&mut self, line: &str) -> usize {
        self.say(line);
        self.last += 1;
        self.last
    }

    fn is_start(&self, variable: usize) -> bool {
        matches!(self.program.variables()[variable].meaning, Meaning::Start(_))
    }

    /// The range of every start, each bound behind the one it follows from.
    fn derive_ranges(&mut self) {
        let variables = self.program.variables();
        let starts = (0..variables.len()).filter(|&variable| self.is_start(variable)).collect_vec();
        for upper in [false, true] {
            let by = |variable: usize| {
                if upper { variables[variable].most_by } else { variables[variable].least_by }
            };
            let mut found: BTreeMap<usize, usize> = BTreeMap::new();
            for &start in &starts {
                // Down to a bound that is known or stated, and up again.
                let mut path = vec![];
                let mut next = Some(start);
                while let Some(variable) = next.filter(|variable| !found.contains_key(variable)) {
                    path.push(variable);
                    next = by(variable).map(|(_, other)| other);
                }
                for &variable in path.iter().rev() {
                    let id = match by(variable) {
                        Some((inequality, other)) => {
                            let row = self.binary.place(inequality).expect("precedences are stated");
                            self.add(&format!("pol {row} {} +", found[&other]))
                        }
                        None if upper => self.binary.bound(variable).expect("starts are bounded"),
                        None => self.add(&format!("rup {}>= 0", self.binary.sum([(1, variable)]))),
                    };
                    found.insert(variable, id);
                }
            }
            for (variable, id) in found {
                self.ranges[variable].get_or_insert([0, 0])[usize::from(upper)] = id;
            }
        }
    }

    fn derive_inequalities(&mut self) {
        for (position, inequality) in self.program.inequalities().iter().enumerate() {
            let id = match (&inequality.origin, self.binary.place(position)) {
                (_, Some(place)) => place,
                (Origin::Implied(Derivation::Sum(from)), _) => {
                    let ids = from.iter().map(|&from| self.inequalities[from]).collect_vec();
                    let more = ids[1..].iter().map(|id| format!(" {id} +")).join("");
                    let horizon = self.program.horizon();
                    self.add(&format!("pol {}{more} {horizon} d", ids[0]))
                }
                (Origin::Implied(Derivation::Propagation(from)), _) => {
                    let ids = from.iter().map(|&from| self.inequalities[from]).join(" ");
                    let terms = inequality.terms.iter().map(|&(weight, at)| (-weight, at));
                    self.add(&format!("rup {}>= {} : ~ {ids}", self.binary.sum(terms), -inequality.most))
                }
                _ => unreachable!("what is not implied has a place"),
            };
            self.inequalities.push(id);
        }
    }

    /// An inference: from an inequality by its sum with bounds, from an earlier deduction as it stands.
    fn infer<N: AsRef<str> + Clone, L: AsRef<str>>(
        &mut self,
        inference: &Inference<N, i32, L>,
    ) -> Result<(), ProofError> {
        let id = inference.constraint_id.get();
        let source = inference.generated_by.map(NonZero::get);
        let known = match inference.label.as_ref().map(AsRef::as_ref) {
            // The range is part of every bound already.
            Some("initial_domain") => return Ok(()),
            Some("nogood") => {
                let nogood = source.and_then(|source| self.nogoods.get(&source));
                nogood.cloned().ok_or_else(|| ProofError::Log(format!("step {id} is from no deduction")))?
            }
            Some("linear_bounds") => {
                let place = source.and_then(|source| usize::try_from(source).ok()?.checked_sub(1));
                let place = place.filter(|&place| place < self.inequalities.len());
                let place =
                    place.ok_or_else(|| ProofError::Log(format!("step {id} is from no inequality")))?;
                let mut assumed = Vec::new();
                for premise in &inference.premises {
                    assumed.extend(self.bounds(premise)?);
                }
                if let Some(consequent) = &inference.consequent {
                    assumed.extend(self.bounds(&!consequent.clone())?);
                }
                self.infer_linear(place, &assumed)
            }
            label => return Err(ProofError::Log(format!("step {id} is of an unknown kind, {label:?}"))),
        };
        self.inferences.insert(id, known);
        Ok(())
    }

    /// The sum of an inequality with the bounds that its variables are assumed to have.
    fn infer_linear(&mut self, place: usize, assumed: &[(AtLeast, bool)]) -> Known {
        let program = self.program;
        let mut line = format!("pol {}", self.inequalities[place]);
        let mut about = About::default();
        for &(weight, variable) in &program.inequalities()[place].terms {
            // The smallest value of the term: at the lower bound of the variable, or at the upper one.
            let is_lower = weight > 0;
            let of_variable = assumed.iter().filter(|((of, _), holds)| *of == variable && *holds == is_lower);
            let values = of_variable.map(|&((_, value), _)| value);
            let tightest = if is_lower { values.max() } else { values.min() };
            let literal = tightest.map(|value| (value, self.at_least((variable, value))));
            let factor = if weight.abs() == 1 { String::new() } else { format!(" {} *", weight.abs()) };
            if let Some((value, Truth::Literal(_))) = literal {
                about.at_least.push((variable, value));
                // An assumption about an order is its literal, which stays as it is.
                if let Some(reified) = self.reified.get(&(variable, value)) {
                    let id = reified[usize::from(!is_lower)];
                    write!(line, " {id}{factor} +").expect("a string takes everything");
                }
            } else {
                let bound = self.ranges[variable].map(|range| range[usize::from(!is_lower)].to_string());
                // Whatever an order is: its literal is dropped.
                let dropped = || {
                    let name = program.variables()[variable].name();
                    if is_lower { name } else { format!("~{name}") }
                };
                write!(line, " {}{factor} +", bound.unwrap_or_else(dropped))
                    .expect("a string takes everything");
            }
        }
        let id = self.add(&format!("{line} s"));
        self.passing.push(id);
        Known { id, about }
    }

    /// A deduction: the premises contradict each other, as propagation over the inferences shows.
    fn deduce<N: AsRef<str>>(&mut self, deduction: &Deduction<N, i32>) -> Result<(), ProofError> {
        let mut literals = BTreeSet::new();
        let mut about = About::default();
        for premise in &deduction.premises {
            literals.extend(self.negated(premise, &mut about)?);
        }
        let inferences =
            deduction.sequence.iter().filter_map(|step| self.inferences.get(&step.get())).cloned();
        let inferences = inferences.collect_vec();
        let all = || inferences.iter().map(|known| &known.about).chain([&about]);
        let equal: BTreeSet<AtLeast> = all().flat_map(|about| &about.equal).copied().collect();
        let ends = equal.iter().flat_map(|&(variable, value)| [(variable, value), (variable, value + 1)]);
        let statements = all().flat_map(|about| &about.at_least).copied().chain(ends);
        let statements: BTreeSet<AtLeast> =
            statements.filter(|&(variable, _)| self.is_start(variable)).collect();
        let mut hints: Vec<usize> = equal.iter().flat_map(|at| self.equal[at]).collect();
        for ((one, low), (other, high)) in statements.into_iter().tuple_windows() {
            if one == other {
                hints.push(self.chain(one, low, high));
            }
        }
        hints.extend(inferences.iter().map(|known| known.id));
        let clause = literals.iter().map(|literal| format!("1 {literal} ")).join("");
        let id = self.add(&format!("rup {clause}>= 1 : ~ {}", hints.iter().join(" ")));
        if literals.is_empty() {
            self.contradiction.get_or_insert(id);
        }
        self.nogoods.insert(deduction.constraint_id.get(), Known { id, about });
        self.inferences.clear();
        if !self.passing.is_empty() {
            let ids = std::mem::take(&mut self.passing);
            self.say(&format!("del id {}", ids.iter().join(" ")));
        }
        Ok(())
    }

    fn conclude(mut self) -> Result<String, ProofError> {
        let id =
            self.contradiction.ok_or_else(|| ProofError::Log("it derives no contradiction".to_owned()))?;
        self.say("output NONE");
        self.say(&format!("conclusion UNSAT : {id}"));
        self.say("end pseudo-Boolean proof");
        Ok(self.text)
    }
}
