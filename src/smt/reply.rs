//! What a solver says: words, and lists in parentheses.

/// How deep lists may lie in each other. No reply that is asked for has more than four; one level of a list
/// that is dropped takes one call.
const DEEPEST: usize = 64;

/// The most bytes of a reply: far more than the values of all that a question declares.
const LONGEST: usize = 64 << 20;

/// A reply, read whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reply {
    /// A word or a number.
    Word(String),
    /// A text in quotes, without them: never an answer, whatever it says.
    Text(String),
    /// Replies in parentheses.
    List(Vec<Reply>),
}

impl Reply {
    /// The word that it is.
    pub fn word(&self) -> Option<&str> {
        match self {
            Self::Word(word) => Some(word),
            Self::Text(_) | Self::List(_) => None,
        }
    }

    /// The text that it is.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Word(_) | Self::List(_) => None,
        }
    }

    /// The parts that it has.
    pub fn parts(&self) -> &[Self] {
        match self {
            Self::Word(_) | Self::Text(_) => &[],
            Self::List(parts) => parts,
        }
    }

    /// The value of `(:key value)`, a word or a text.
    pub fn value_of(&self, key: &str) -> Option<&str> {
        match self.parts() {
            [name, value] if name.word() == Some(key) => value.word().or_else(|| value.text()),
            _ => None,
        }
    }

    /// What an `(error "...")` says.
    pub fn error(&self) -> Option<&str> {
        match self.parts() {
            [name, words @ ..] if name.word() == Some("error") => {
                Some(words.first().and_then(|said| said.text().or_else(|| said.word())).unwrap_or_default())
            }
            _ => None,
        }
    }
}

/// Lines that become a reply: complete at the end of the first line, or where the parentheses close.
#[derive(Debug, Default)]
pub(super) struct Reader {
    /// The lists that are open, outermost first.
    open: Vec<Vec<Reply>>,
    /// The text that is open, without its quote.
    text: Option<String>,
    /// The replies that are complete.
    done: Vec<Reply>,
    /// The bytes read so far.
    bytes: usize,
}

/// That a line is no part of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Malformed;

impl Reader {
    /// Reads a line: the reply, once it is complete. An empty line is none.
    ///
    /// # Errors
    /// When more is on the line than one reply, less closes than is open, or it is too long or too deep.
    pub fn line(&mut self, line: &str) -> Result<Option<Reply>, Malformed> {
        self.bytes = self.bytes.saturating_add(line.len());
        if self.bytes > LONGEST {
            return Err(Malformed);
        }
        let mut letters = line.chars().peekable();
        if let Some(text) = &mut self.text {
            text.push('\n');
        }
        loop {
            if let Some(mut text) = self.text.take() {
                loop {
                    match letters.next() {
                        // Two quotes are one; one ends the text.
                        Some('"') if letters.next_if_eq(&'"').is_some() => text.push('"'),
                        Some('"') => break self.put(Reply::Text(text)),
                        Some(letter) => text.push(letter),
                        None => {
                            self.text = Some(text);
                            return Ok(None);
                        }
                    }
                }
            }
            match letters.next() {
                None => break,
                Some('"') => self.text = Some(String::new()),
                Some('(') if self.open.len() >= DEEPEST => return Err(Malformed),
                Some('(') => self.open.push(Vec::new()),
                Some(')') => {
                    let parts = self.open.pop().ok_or(Malformed)?;
                    self.put(Reply::List(parts));
                }
                Some(letter) if letter.is_whitespace() => {}
                Some(letter) => {
                    let mut word = String::from(letter);
                    let inside = |letter: &char| !letter.is_whitespace() && !"()\"".contains(*letter);
                    while let Some(letter) = letters.next_if(inside) {
                        word.push(letter);
                    }
                    self.put(Reply::Word(word));
                }
            }
        }
        if !self.open.is_empty() {
            return if self.done.is_empty() { Ok(None) } else { Err(Malformed) };
        }
        match self.done.pop() {
            Some(_) if !self.done.is_empty() => Err(Malformed),
            reply => Ok(reply),
        }
    }

    fn put(&mut self, reply: Reply) {
        self.open.last_mut().unwrap_or(&mut self.done).push(reply);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<Result<Option<String>, Malformed>> {
        let mut reader = Reader::default();
        text.lines().map(|line| reader.line(line).map(|reply| reply.map(|reply| shown(&reply)))).collect()
    }

    fn shown(reply: &Reply) -> String {
        match reply {
            Reply::Word(word) | Reply::Text(word) => word.clone(),
            Reply::List(parts) => format!("({})", parts.iter().map(shown).collect::<Vec<_>>().join(" ")),
        }
    }

    #[test]
    fn a_reply_is_complete_where_its_parentheses_close() {
        let whole = |text: &str| Ok(Some(text.to_owned()));
        assert_eq!(read("sat"), [whole("sat")]);
        assert_eq!(read("  unsat \r"), [whole("unsat")]);
        assert_eq!(read("((a true)\n (b (- 3)))"), [Ok(None), whole("((a true) (b (- 3)))")]);
        assert_eq!(read("(error \"a \"\"b\"\" (\n c\")"), [Ok(None), whole("(error a \"b\" (\n c)")]);
        assert_eq!(read("\n(:version \"5.4.0\")"), [Ok(None), whole("(:version 5.4.0)")]);
    }

    #[test]
    fn what_is_more_than_a_reply_is_none() {
        for text in ["sat sat", "; unsat", "(a) b", ")", "sat (a", "un sat"] {
            assert_eq!(read(text), [Err(Malformed)], "{text}");
        }
    }

    #[test]
    fn a_text_is_no_word() {
        let reply = Reader::default().line("\"unsat\"").expect("a reply").expect("a whole one");
        assert_eq!((reply.word(), reply.text()), (None, Some("unsat")));
    }

    #[test]
    fn lists_that_lie_too_deep_are_no_reply() {
        let nested = |depth: usize| format!("{}a{}", "(".repeat(depth), ")".repeat(depth));
        let mut reader = Reader::default();
        assert!(matches!(reader.line(&nested(DEEPEST)), Ok(Some(_))));
        // So few that a reader without a limit would take them and drop them again without harm.
        assert_eq!(Reader::default().line(&nested(DEEPEST + 1)), Err(Malformed));
    }

    #[test]
    fn a_reply_without_an_end_is_none() {
        let mut reader = Reader { bytes: LONGEST - 3, ..Reader::default() };
        assert_eq!(reader.line("(a"), Ok(None));
        assert_eq!(reader.line(" b"), Err(Malformed));
    }

    #[test]
    fn values_and_errors_are_found_in_their_lists() {
        let reply = |text: &str| Reader::default().line(text).expect("a reply").expect("a whole one");
        assert_eq!(reply("(:name \"Z3\")").value_of(":name"), Some("Z3"));
        assert_eq!(reply("(:name \"Z3\")").value_of(":version"), None);
        assert_eq!(reply("(error \"no\")").error(), Some("no"));
        assert_eq!(reply("(error)").error(), Some(""));
        assert_eq!(reply("error").error(), None);
    }
}
