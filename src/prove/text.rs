//! The file of a theorem about a family.

use super::expression::Expression;
use super::script::Script;
use super::term::{Definition, Fact, Term};
use super::theorem::Theorem;
use crate::block::family::Comparison;

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
    for Definition { name, body } in &theorem.definitions {
        script.define(name, &["i", "d"], "Int", body.expression());
    }
    for fact in assertions(theorem) {
        script.assert(fact);
    }
    script
}

/// What the file asserts: the device is one of the `d`, the domain, the premise, and that the claim is
/// false.
pub(super) fn assertions(theorem: &Theorem) -> Vec<Expression> {
    let device = Fact::all([
        Term::Device.compare(Comparison::AtLeast, 0_i128),
        Term::Device.compare(Comparison::Less, Term::Devices),
    ]);
    let premises = [Some(&device), Some(&theorem.domain), theorem.premise.as_ref()];
    let mut assertions: Vec<Expression> = premises.into_iter().flatten().map(Fact::expression).collect();
    assertions.push(Expression::list("not", [theorem.claim.expression()]));
    assertions
}
