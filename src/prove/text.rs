//! The file of a theorem: SMT-LIB 2, with a header for the people who read it.

use std::fmt::Write as _;

use super::expression::Expression;
use super::term::{Definition, Fact, Term};
use super::theorem::{Expected, Theorem};
use crate::block::family::Comparison;

/// The most characters of a line of the header.
const WIDTH: usize = 100;

pub(super) fn smt_lib(theorem: &Theorem, expected: Expected) -> String {
    let mut text = String::new();
    comment(&mut text, &format!("Family {}: {}.", theorem.family, theorem.statement));
    comment(
        &mut text,
        "This file asks for a counterexample: a number of devices d and a device i for which it is false. \
         The answer unsat proves it.",
    );
    comment(
        &mut text,
        "F0 is the offset of F of chunk 0 on device i, F0_div and F0_mod its quotient and remainder by the \
         interval. W1_delay, where it occurs, is how long W of chunk 1 waits after its I until there is room \
         for it; F0_live is what is live once F of chunk 0 has started, in stage activations; peak is the \
         largest of those.",
    );
    let status = match expected {
        Expected::Unsat => "unsat",
        Expected::Sat => "sat",
        Expected::Unknown => "unknown",
    };
    text.push_str("(set-logic QF_LIA)\n");
    writeln!(text, "(set-info :status {status})").expect("texts grow");
    text.push_str("(declare-const d Int)\n(declare-const i Int)\n");
    for Definition { name, body } in &theorem.definitions {
        let parameter = |name: &str| Expression::List(vec![name.into(), "Int".into()]);
        let definition = [
            name.as_str().into(),
            Expression::List(vec![parameter("i"), parameter("d")]),
            "Int".into(),
            body.expression(),
        ];
        print(&mut text, &Expression::list("define-fun", definition));
    }
    for fact in assertions(theorem) {
        print(&mut text, &Expression::list("assert", [fact]));
    }
    text.push_str("(check-sat)\n");
    text
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

fn print(text: &mut String, expression: &Expression) {
    expression.print(0, text);
    text.push('\n');
}

/// Appends a paragraph of comment. Whatever the words of a family file hold, no line escapes from it.
fn comment(text: &mut String, words: &str) {
    let mut line = String::from(";");
    for word in words.split(|letter: char| letter.is_whitespace() || letter.is_control()) {
        if word.is_empty() {
            continue;
        }
        if line.len() > 1 && line.len() + 1 + word.len() > WIDTH {
            text.push_str(&line);
            text.push('\n');
            line.truncate(1);
        }
        line.push(' ');
        line.push_str(word);
    }
    text.push_str(&line);
    text.push('\n');
}
