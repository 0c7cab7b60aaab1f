//! The inequalities as FlatZinc, the common input form of constraint solvers.

use std::fmt::{self, Write as _};

use itertools::Itertools as _;

use super::{LinearProgram, Origin};

impl LinearProgram {
    /// The text of a FlatZinc file: the inequalities in turn, implied ones too.
    ///
    /// Proof logs name a constraint by its place in this file, counted from 1.
    #[must_use]
    pub fn flatzinc(&self) -> String {
        let mut text = String::new();
        self.write_flatzinc(&mut text).expect("a string takes everything");
        text
    }

    fn write_flatzinc(&self, out: &mut String) -> fmt::Result {
        writeln!(
            out,
            "% A schedule that ends by {}: t_3F0 is the start of the forward of stage 3 for microbatch 0,",
            self.horizon
        )?;
        writeln!(out, "% o_3F0_0I1 is 1 where 3F0 comes before 0I1 on their device, and 0 where after.")?;
        for variable in &self.variables {
            writeln!(out, "var {}..{}: {};", variable.least, variable.most, variable.name())?;
        }
        let mut part = "";
        for inequality in &self.inequalities {
            let next = heading(&inequality.origin);
            if next != part {
                writeln!(out, "% {next}")?;
                part = next;
            }
            let weights = inequality.terms.iter().map(|(weight, _)| weight).join(", ");
            let names = inequality.terms.iter().map(|&(_, at)| self.variables[at].name()).join(", ");
            writeln!(out, "constraint int_lin_le([{weights}], [{names}], {});", inequality.most)?;
        }
        writeln!(out, "solve satisfy;")
    }
}

/// What the inequalities that follow say, in both forms.
pub(super) const fn heading(origin: &Origin) -> &'static str {
    match origin {
        Origin::Dependency(..) | Origin::InTurn(..) => "passes after those they need, microbatches in order",
        Origin::OneAtATime(..) => "one pass at a time on a device",
        Origin::Memory(_) => "what is live once an F has started is at most the capacity",
        Origin::Implied(_) => "implied by others",
    }
}
