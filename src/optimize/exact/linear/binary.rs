//! The inequalities over bits, as OPB: the input form of pseudo-Boolean solvers.
//!
//! A start is `t = t_0 + 2*t_1 + 4*t_2 + ...` with just enough bits for its range, and one more
//! inequality bounds it. What is implied is left out: a proof derives it.

use std::fmt::{self, Write as _};

use super::flatzinc::heading;
use super::{LinearProgram, Meaning, Origin};

/// The inequalities over bits.
#[derive(Debug)]
pub struct Binary<'a> {
    program: &'a LinearProgram,
    /// By variable: the place of the constraint that bounds it, counted from 1.
    bounds: Vec<Option<usize>>,
    /// By inequality: the place of its constraint, counted from 1.
    places: Vec<Option<usize>>,
    constraints: usize,
}

impl<'a> Binary<'a> {
    /// The same inequalities over bits.
    #[must_use]
    pub fn new(program: &'a LinearProgram) -> Self {
        let mut constraints = 0;
        let mut next = |is_there: bool| {
            constraints += usize::from(is_there);
            is_there.then_some(constraints)
        };
        let is_start = |meaning| matches!(meaning, Meaning::Start(_));
        let bounds = program.variables.iter().map(|variable| next(is_start(variable.meaning))).collect();
        let is_stated = |origin: &Origin| !matches!(origin, Origin::Implied(_));
        let places = program.inequalities.iter().map(|it| next(is_stated(&it.origin))).collect();
        Self { program, bounds, places, constraints }
    }

    /// The inequalities.
    #[must_use]
    pub const fn program(&self) -> &LinearProgram {
        self.program
    }

    /// The number of constraints in the file.
    #[must_use]
    pub const fn constraints(&self) -> usize {
        self.constraints
    }

    /// The place, counted from 1, of the constraint that bounds a start; an order has none.
    #[must_use]
    pub fn bound(&self, variable: usize) -> Option<usize> {
        self.bounds[variable]
    }

    /// The place, counted from 1, of the constraint that is an inequality; an implied one has none.
    #[must_use]
    pub fn place(&self, inequality: usize) -> Option<usize> {
        self.places[inequality]
    }

    /// The bits of a variable with their values: of an order, itself.
    pub fn bits(&self, variable: usize) -> impl Iterator<Item = (i64, String)> + use<> {
        let variable = self.program.variables[variable];
        let name = variable.name();
        let width = match variable.meaning {
            Meaning::Start(_) => i64::BITS - variable.stated_most.leading_zeros(),
            Meaning::Before(..) => 1,
        };
        (0..width).map(move |bit| match variable.meaning {
            Meaning::Start(_) => (1 << bit, format!("{name}[{bit}]")),
            Meaning::Before(..) => (1, name.clone()),
        })
    }

    /// A sum over bits, `weight * variable` for each term, with a space behind each.
    #[must_use]
    pub fn sum(&self, terms: impl IntoIterator<Item = (i64, usize)>) -> String {
        let bits = terms.into_iter().flat_map(|(weight, variable)| {
            self.bits(variable).map(move |(value, bit)| format!("{} {bit} ", weight * value))
        });
        bits.collect()
    }

    /// The text of an OPB file.
    #[must_use]
    pub fn opb(&self) -> String {
        let mut text = String::new();
        self.write_opb(&mut text).expect("a string takes everything");
        text
    }

    fn write_opb(&self, out: &mut String) -> fmt::Result {
        let LinearProgram { horizon, variables, inequalities } = self.program;
        let bits: usize = (0..variables.len()).map(|variable| self.bits(variable).count()).sum();
        writeln!(out, "* #variable= {bits} #constraint= {}", self.constraints)?;
        writeln!(
            out,
            "* A schedule that ends by {horizon}: the start of the forward of stage 3 for microbatch 0 is the sum"
        )?;
        writeln!(
            out,
            "* of t_3F0[i] times 2 to the i; o_3F0_0I1 is 1 where 3F0 comes before 0I1 on their device."
        )?;
        writeln!(out, "* every pass ends in time")?;
        for variable in (0..variables.len()).filter(|&variable| self.bounds[variable].is_some()) {
            writeln!(out, "{}>= {} ;", self.sum([(-1, variable)]), -variables[variable].stated_most)?;
        }
        let mut part = "";
        let stated = inequalities.iter().zip(&self.places).filter(|(_, place)| place.is_some());
        for (inequality, _) in stated {
            let next = heading(&inequality.origin);
            if next != part {
                writeln!(out, "* {next}")?;
                part = next;
            }
            let terms = inequality.terms.iter().map(|&(weight, at)| (-weight, at));
            writeln!(out, "{}>= {} ;", self.sum(terms), -inequality.most)?;
        }
        Ok(())
    }
}
