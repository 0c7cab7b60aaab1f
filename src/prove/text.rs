//! The file of a theorem about a family.

use super::expected::Expected;
use super::expression::Expression;
use super::residues::{Quotient, Residues};
use super::script::Script;
use super::term::{Definition, Fact, Term};
use super::theorem::Theorem;
use crate::block::family::Comparison;

impl Theorem {
    /// The negation of the theorem in SMT-LIB 2 (logic `QF_LIA`): a solver that answers `unsat` has
    /// proved it, and one that answers `sat` has refuted it. The same theorem always has the same
    /// text.
    #[must_use]
    pub fn smt_lib(&self, expected: Expected) -> String {
        script(self, &[]).text(expected)
    }
}

/// The question whether a theorem has a counterexample; the header has these remarks too.
pub(super) fn script(theorem: &Theorem, remarks: &[String]) -> Script {
    let mut script = Script::new("QF_LIA");
    script.say(format!("Family {}: {}.", theorem.family, theorem.statement));
    for remark in remarks {
        script.say(remark.as_str());
    }
    script.say(
        "This file asks for a counterexample: a number of devices d and a device i for which it is false. \
         The answer unsat proves it, sat refutes it.",
    );
    script.say(
        "F0 is the offset of F of chunk 0 on device i, F0_div and F0_mod its quotient and remainder by the \
         interval. W1_delay, where it occurs, is how long W of chunk 1 waits after its I until there is room \
         for it; F0_live is what is live once F of chunk 0 has started, in stage activations; peak is the \
         largest of those.",
    );
    script.declare("d", "Int");
    script.declare("i", "Int");
    match Residues::of(theorem) {
        Some(residues) => ByResidues { theorem, residues, named: Vec::new() }.ask(&mut script),
        None => ask(theorem, &mut script),
    }
    script
}

/// The question as it is.
fn ask(theorem: &Theorem, script: &mut Script) {
    for Definition { name, body } in &theorem.definitions {
        script.define(name, &["i", "d"], "Int", body.expression());
    }
    for premise in premises(theorem) {
        script.assert(premise.expression());
    }
    script.assert(Expression::list("not", [theorem.claim.expression()]));
}

/// That the device is one of the `d`, the domain, and the premise.
fn premises(theorem: &Theorem) -> impl Iterator<Item = Fact> {
    let device = Fact::all([
        Term::Device.compare(Comparison::AtLeast, 0_i128),
        Term::Device.compare(Comparison::Less, Term::Devices),
    ]);
    [Some(device), Some(theorem.domain.clone()), theorem.premise.clone()].into_iter().flatten()
}

/// The question without quotients. `q0`, `q1`, ... stand for them, which must be shown to be right.
struct ByResidues<'a> {
    theorem: &'a Theorem,
    residues: Residues,
    /// Quotients and remainders by the constants met so far, each with its name.
    named: Vec<(Expression, Expression)>,
}

impl ByResidues<'_> {
    fn ask(mut self, script: &mut Script) {
        let (theorem, period) = (self.theorem, self.residues.period);
        script.say(format!(
            "i = {period}a + r and d = {period}b + s. Every quotient by a constant is written as q0, q1, ...: a \
             multiple of a, one of b, and a number, c0, c1, ..., for which there is a row for each r and s. That \
             they are the quotients is part of what must hold: the rests, q0_rest and so on, are neither negative \
             nor as large as the divisor."
        ));
        for (whole, quotient, rest) in [("i", "a", "r"), ("d", "b", "s")] {
            script.declare(quotient, "Int");
            script.declare(rest, "Int");
            script.assert(format!(
                "(and (= {quotient} (div {whole} {period})) (= {rest} (mod {whole} {period})) \
                 (= {whole} (+ (* {period} {quotient}) {rest})))"
            ));
        }
        for Definition { name, body } in &theorem.definitions {
            body.quotients(&mut |of, divisor| self.define(of, divisor, script));
            script.define(name, &[], "Int", self.resolved(body.expression()));
        }
        let premises: Vec<Fact> = premises(theorem).collect();
        for fact in premises.iter().chain([&theorem.claim]) {
            fact.quotients(&mut |of, divisor| self.define(of, divisor, script));
        }
        self.tell(script);
        for premise in premises {
            script.assert(self.resolved(premise.expression()));
        }
        let rests = self
            .residues
            .quotients
            .iter()
            .enumerate()
            .map(|(number, quotient)| format!("(<= 0 q{number}_rest {})", quotient.divisor - 1).into());
        let claim = self.resolved(theorem.claim.expression());
        script.assert(Expression::list("not", [Expression::list("and", rests.chain([claim]))]));
    }

    /// Defines a quotient, unless it is already.
    fn define(&mut self, of: &Term, divisor: i128, script: &mut Script) {
        let mut all = self.residues.quotients.iter().enumerate();
        let own = all.find(|(_, quotient)| (&quotient.of, quotient.divisor) == (of, divisor));
        let (number, Quotient { per_device, per_devices, .. }) = own.expect("they are those of the theorem");
        if number < self.named.len() / 2 {
            return;
        }
        let (whole, by) = (of.expression(), constant(divisor));
        let quotient = Expression::list("div", [whole.clone(), by.clone()]);
        let multiple = |factor: i128, of: &str| Expression::list("*", [constant(factor), of.into()]);
        let (name, rest, told) = (format!("q{number}"), format!("q{number}_rest"), format!("c{number}"));
        script.declare(&told, "Int");
        let sum = [multiple(*per_device, "a"), multiple(*per_devices, "b"), told.into()];
        script.define(&name, &[], "Int", Expression::list("+", sum));
        let taken = Expression::list("*", [by.clone(), name.clone().into()]);
        script.define(&rest, &[], "Int", Expression::list("-", [self.resolved(whole.clone()), taken]));
        self.named.push((quotient, name.into()));
        self.named.push((Expression::list("mod", [whole, by]), rest.into()));
    }

    /// Asserts the constants of the quotients for each residue.
    fn tell(&self, script: &mut Script) {
        let count = self.residues.quotients.len();
        let parameters: Vec<String> = ["r0", "s0"]
            .map(str::to_owned)
            .into_iter()
            .chain((0..count).map(|number| format!("x{number}")))
            .collect();
        let parameters: Vec<&str> = parameters.iter().map(String::as_str).collect();
        let constants = (0..count).map(|number| format!("(= c{number} x{number})").into());
        let constants = Expression::list("and", constants);
        script.define(
            "row",
            &parameters,
            "Bool",
            Expression::list("=>", ["(and (= r r0) (= s s0))".into(), constants]),
        );
        for (r, s, constants) in self.residues.rows() {
            let numbers = [r, s].into_iter().chain(constants).map(constant);
            script.assert(Expression::list("row", numbers));
        }
    }

    /// An expression with the names of the quotients in their place. Every definition is of device `i`.
    fn resolved(&self, expression: Expression) -> Expression {
        if let Some((_, name)) = self.named.iter().find(|(quotient, _)| *quotient == expression) {
            return name.clone();
        }
        match expression {
            Expression::List(parts) => match parts.as_slice() {
                [Expression::Word(name), Expression::Word(device), _]
                    if device == "i" && self.is_defined(name) =>
                {
                    name.into()
                }
                _ => Expression::List(parts.into_iter().map(|part| self.resolved(part)).collect()),
            },
            word @ Expression::Word(_) => word,
        }
    }

    fn is_defined(&self, name: &str) -> bool {
        self.theorem.definitions.iter().any(|definition| definition.name == name)
    }
}

/// An integer in SMT-LIB.
fn constant(value: i128) -> Expression {
    Term::Integer(value).expression()
}
