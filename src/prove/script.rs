//! A file of SMT-LIB 2 in the making: a header for the people who read it, declarations, assertions.

use std::fmt::Write as _;

use super::expected::Expected;
use super::expression::Expression;

/// The most characters of a line of the header.
const WIDTH: usize = 100;

/// A question to a solver: is there a model of all assertions?
#[derive(Debug, Clone)]
pub(in crate::prove) struct Script {
    logic: &'static str,
    header: Vec<String>,
    commands: Vec<Expression>,
}

impl Script {
    /// A question of this logic of SMT-LIB, such as `QF_LIA`.
    pub fn new(logic: &'static str) -> Self {
        Self { logic, header: Vec::new(), commands: Vec::new() }
    }

    /// Adds a paragraph to the header.
    pub fn say(&mut self, words: impl Into<String>) {
        self.header.push(words.into());
    }

    /// Puts paragraphs before the others of the header.
    pub fn head(&mut self, paragraphs: impl IntoIterator<Item = String>) {
        self.header.splice(0..0, paragraphs);
    }

    /// Declares a constant of a sort, `Int`, `Real` or `Bool`.
    pub fn declare(&mut self, name: &str, sort: &str) {
        self.commands.push(Expression::list("declare-const", [name.into(), sort.into()]));
    }

    /// Defines a name for a term, given in SMT-LIB; the parameters are of sort `Int`.
    pub fn define(&mut self, name: &str, parameters: &[&str], sort: &str, body: impl Into<Expression>) {
        let parameter = |name: &&str| Expression::List(vec![(*name).into(), "Int".into()]);
        let parameters = Expression::List(parameters.iter().map(parameter).collect());
        self.commands
            .push(Expression::list("define-fun", [name.into(), parameters, sort.into(), body.into()]));
    }

    /// Asserts a fact, given in SMT-LIB.
    pub fn assert(&mut self, fact: impl Into<Expression>) {
        self.commands.push(Expression::list("assert", [fact.into()]));
    }

    /// Declarations, definitions and assertions, in order.
    #[cfg(test)]
    pub fn commands(&self) -> &[Expression] {
        &self.commands
    }

    /// The file, with the answer that is expected. The same question always has the same text.
    pub fn text(&self, expected: Expected) -> String {
        let mut text = String::new();
        for paragraph in &self.header {
            comment(&mut text, paragraph);
        }
        writeln!(text, "(set-logic {})\n(set-info :status {expected})", self.logic).expect("texts grow");
        for command in &self.commands {
            command.print(0, &mut text);
            text.push('\n');
        }
        text.push_str("(check-sat)\n");
        text
    }
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
