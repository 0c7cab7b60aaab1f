//! Expressions of SMT-LIB: words and lists in parentheses, laid out in lines.

/// The most characters of a line that is not a single word.
const WIDTH: usize = 100;

/// A word, or a list of expressions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Expression {
    Word(String),
    List(Vec<Expression>),
}

impl Expression {
    /// An operator with its operands.
    pub fn list(operator: &str, operands: impl IntoIterator<Item = Self>) -> Self {
        Self::List(std::iter::once(operator.into()).chain(operands).collect())
    }

    /// What a list begins with.
    #[cfg(test)]
    pub fn operator(&self) -> Option<&str> {
        match self {
            Self::List(parts) => match parts.first() {
                Some(Self::Word(operator)) => Some(operator),
                _ => None,
            },
            Self::Word(_) => None,
        }
    }

    /// Its characters on one line.
    fn length(&self) -> usize {
        match self {
            Self::Word(word) => word.len(),
            Self::List(parts) => parts.iter().map(|part| part.length() + 1).sum::<usize>() + 1,
        }
    }

    /// Appends it, from a column on. A list that is too long for the line has the operands on lines of
    /// their own.
    pub fn print(&self, column: usize, text: &mut String) {
        match self {
            Self::Word(word) => text.push_str(word),
            Self::List(parts) => {
                let broken = column + self.length() > WIDTH;
                text.push('(');
                for (position, part) in parts.iter().enumerate() {
                    if position > 0 && broken {
                        text.push('\n');
                        text.extend(std::iter::repeat_n(' ', column + 2));
                    } else if position > 0 {
                        text.push(' ');
                    }
                    part.print(if position == 0 { column + 1 } else { column + 2 }, text);
                }
                text.push(')');
            }
        }
    }
}

/// Reads an expression, so that long ones can be written as SMT-LIB has them.
///
/// # Panics
/// When it is not exactly one expression: these texts are all written by this crate.
impl From<&str> for Expression {
    fn from(text: &str) -> Self {
        let mut open: Vec<Vec<Self>> = vec![Vec::new()];
        let spaced = text.replace('(', " ( ").replace(')', " ) ");
        for word in spaced.split_whitespace() {
            let done = match word {
                "(" => {
                    open.push(Vec::new());
                    continue;
                }
                ")" => Self::List(open.pop().expect("the outermost list is never closed")),
                word => Self::Word(word.to_owned()),
            };
            open.last_mut().unwrap_or_else(|| panic!("too many closing parentheses: {text}")).push(done);
        }
        match (open.pop(), open.is_empty()) {
            (Some(mut whole), true) if whole.len() == 1 => whole.remove(0),
            _ => panic!("not one expression: {text}"),
        }
    }
}

impl From<String> for Expression {
    fn from(text: String) -> Self {
        text.as_str().into()
    }
}

impl From<&String> for Expression {
    fn from(text: &String) -> Self {
        text.as_str().into()
    }
}
