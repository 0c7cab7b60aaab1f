//! A conversation with a solver: questions, and answers that are taken only where they are plain.

use std::time::Duration;

use super::process::{Heard, Process};
use super::reply::{Malformed, Reader, Reply};
use super::{Language, Program, SmtError};
use crate::stop::Stop;
use crate::text::Escaped;

/// The most time that the solver itself is allowed beyond a [`Stop`], in case nobody is left to end it.
const GRACE: Duration = Duration::from_secs(2);

/// How long a solver may take to say who it is, where that is all that is asked.
const INTRODUCTION: Duration = Duration::from_secs(10);

/// The most characters of what a solver said that a message repeats.
const QUOTED: usize = 200;

/// How a question is to be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Question<'a> {
    /// The logic of SMT-LIB, such as `QF_LIA`. Z3 is not told: it looks at the assertions itself, and is
    /// faster for it.
    pub logic: &'a str,
    /// What Z3 needs to know to choose the procedure that is many times faster than the others.
    pub arithmetic: Arithmetic,
}

/// What the atoms of a question are about, beside Booleans.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arithmetic {
    /// Differences of two numbers, each compared with a constant.
    Differences,
    /// Sums.
    Sums,
    /// Quotients and remainders by constants, and sums.
    Quotients,
}

impl Arithmetic {
    /// What Z3 calls its procedure: for difference logic, or the newer or the older one of those for all arithmetic.
    const fn of_z3(self) -> u8 {
        match self {
            Self::Differences => 1,
            Self::Sums => 6,
            Self::Quotients => 2,
        }
    }
}

/// What a solver says to a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// All assertions can be met at once.
    Sat,
    /// They cannot.
    Unsat,
    /// It is not known.
    Unknown(Unknown),
}

/// Why an answer is not known.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unknown {
    /// It was time to stop.
    Stopped,
    /// The solver gave up by itself, for this reason.
    GaveUp(String),
}

/// A solver: a program, and the process of it that is running.
#[derive(Debug)]
pub struct Solver {
    program: Program,
    process: Option<Process>,
    version: String,
    /// Commands that are not yet sent.
    commands: String,
    /// Whether a question has begun that no process has heard of yet.
    is_unheard: bool,
    /// The markers sent so far.
    markers: u64,
}

impl Solver {
    /// The solver that [`Program::find`] finds. It is started with its first question.
    ///
    /// # Errors
    /// When there is none.
    pub fn find() -> Result<Self, SmtError> {
        Program::find().map(Self::new)
    }

    /// A solver that is this program.
    #[must_use]
    pub const fn new(program: Program) -> Self {
        Self {
            program,
            process: None,
            version: String::new(),
            commands: String::new(),
            is_unheard: false,
            markers: 0,
        }
    }

    /// What it speaks.
    #[must_use]
    pub const fn language(&self) -> Language {
        self.program.language()
    }

    /// Its name and version, by its own account, such as `Z3 5.4.0`; empty when it takes longer than
    /// ten seconds to say so.
    ///
    /// # Errors
    /// When it cannot be started, or says something else.
    pub fn version(&mut self) -> Result<&str, SmtError> {
        self.start(&Stop::after(INTRODUCTION))?;
        Ok(&self.version)
    }

    /// Begins a question, forgetting the one before. The solver gives up by itself soon after `stop`, should
    /// this program not be there to end it. Where it is time to stop before a process has started,
    /// [`check`](Self::check) starts one.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn begin(&mut self, question: Question<'_>, stop: &Stop) -> Result<(), SmtError> {
        self.commands.clear();
        // One that has ended in the meantime is no loss.
        self.process.take_if(|process| !process.is_running());
        if self.process.is_some() {
            self.commands.push_str("(reset)\n");
        }
        self.start(stop)?;
        self.is_unheard = self.process.is_none();
        let limit = stop.remaining().checked_add(GRACE).and_then(|left| u32::try_from(left.as_millis()).ok());
        match self.program.language() {
            Language::Z3 => {
                // Options outlive a reset, so each is set anew.
                let limit = limit.unwrap_or(u32::MAX);
                let arithmetic = question.arithmetic.of_z3();
                self.tell(&format!(
                    "(set-option :timeout {limit})\n(set-option :smt.random_seed 0)\n\
                     (set-option :smt.arith.solver {arithmetic})\n"
                ));
            }
            Language::Cvc5 => {
                // 0 is for ever.
                let limit = limit.unwrap_or(0);
                self.tell(&format!("(set-option :tlimit-per {limit})\n(set-logic {})\n", question.logic));
            }
        }
        Ok(())
    }

    /// What `ask` finds out; where the solver [fails](SmtError::is_failure), what it finds out from a fresh
    /// process. It has to begin its question itself.
    ///
    /// # Errors
    /// Those of `ask`, the second time.
    pub fn asked_twice<T>(
        &mut self,
        mut ask: impl FnMut(&mut Self) -> Result<T, SmtError>,
    ) -> Result<T, SmtError> {
        match ask(self) {
            Err(error) if error.is_failure() => ask(self),
            said => said,
        }
    }

    /// Adds commands to the question that call for no reply: declarations, definitions, assertions, `push`
    /// and `pop`.
    pub fn tell(&mut self, commands: &str) {
        self.commands.push_str(commands);
        self.commands.push('\n');
    }

    /// Asks whether all assertions can be met at once. After [`Unknown::Stopped`] the process has ended.
    ///
    /// # Errors
    /// When the solver ends, refuses a command, or says anything that is no answer.
    pub fn check(&mut self, stop: &Stop) -> Result<Answer, SmtError> {
        let unknown = || Ok(Answer::Unknown(Unknown::Stopped));
        if stop.is_due() {
            self.process = None;
            return unknown();
        }
        // Only where nothing of the question is lost: another process has not heard what this one was told.
        if std::mem::take(&mut self.is_unheard) && self.process.is_none() {
            self.start(stop)?;
            if self.process.is_none() {
                return unknown();
            }
        }
        // Whatever is said before the marker is about the commands, and not the answer.
        self.markers += 1;
        let marker = format!("bubbleproof-{}", self.markers);
        let commands = std::mem::take(&mut self.commands);
        self.send(format!("{commands}(echo \"{marker}\")\n(check-sat)\n"))?;
        let Some(reply) = self.reply(stop)? else { return unknown() };
        // Z3 echoes a text without its quotes, cvc5 with them.
        if reply.word().or_else(|| reply.text()).is_none_or(|echo| echo != marker) {
            return Err(self.unexpected(&reply, "no reply to assertions"));
        }
        let Some(reply) = self.reply(stop)? else { return unknown() };
        match reply.word() {
            Some("sat") => Ok(Answer::Sat),
            Some("unsat") => Ok(Answer::Unsat),
            Some("unknown") => self.reason(stop),
            _ => Err(self.unexpected(&reply, "sat, unsat or unknown")),
        }
    }

    /// Why the solver does not know.
    fn reason(&mut self, stop: &Stop) -> Result<Answer, SmtError> {
        self.send("(get-info :reason-unknown)\n".to_owned())?;
        let Some(reply) = self.reply(stop)? else { return Ok(Answer::Unknown(Unknown::Stopped)) };
        let reason = reply.value_of(":reason-unknown").unwrap_or("it does not say why");
        // Its own limit is the same as ours.
        let timed_out = ["timeout", "canceled", "cancelled"].contains(&reason);
        Ok(Answer::Unknown(if timed_out { Unknown::Stopped } else { Unknown::GaveUp(reason.to_owned()) }))
    }

    /// The values of Boolean constants in the model of the last answer, [`Answer::Sat`]; nothing where it was
    /// time to stop.
    ///
    /// # Errors
    /// When the solver ends, or gives no values.
    pub fn truths(&mut self, names: &[String], stop: &Stop) -> Result<Option<Vec<bool>>, SmtError> {
        let Some(values) = self.values(names, stop)? else { return Ok(None) };
        let truth = |value: &Reply| value.word().and_then(|word| word.parse::<bool>().ok());
        match values.iter().map(truth).collect::<Option<Vec<bool>>>() {
            Some(truths) => Ok(Some(truths)),
            None => Err(self.unexpected(&Reply::List(values), "true and false")),
        }
    }

    /// The value of an integer constant, likewise.
    ///
    /// # Errors
    /// When the solver ends, or gives no value that fits 128 bits.
    pub fn integer(&mut self, name: &str, stop: &Stop) -> Result<Option<i128>, SmtError> {
        let Some(values) = self.values(&[name.to_owned()], stop)? else { return Ok(None) };
        let number = |value: &Reply| value.word().and_then(|word| word.parse::<i128>().ok());
        let value = values.first().and_then(|value| match value.parts() {
            [sign, number_of] if sign.word() == Some("-") => number(number_of).map(|value| -value),
            _ => number(value),
        });
        match value {
            Some(value) => Ok(Some(value)),
            None => Err(self.unexpected(&Reply::List(values), "an integer of at most 128 bits")),
        }
    }

    fn values(&mut self, names: &[String], stop: &Stop) -> Result<Option<Vec<Reply>>, SmtError> {
        if names.is_empty() {
            return Ok(Some(Vec::new()));
        }
        self.send(format!("(get-value ({}))\n", names.join(" ")))?;
        let Some(reply) = self.reply(stop)? else { return Ok(None) };
        let value = |(pair, name): (&Reply, &String)| match pair.parts() {
            [own, value] if own.word() == Some(name) => Some(value.clone()),
            _ => None,
        };
        let pairs = reply.parts().iter().zip(names);
        match pairs.map(value).collect::<Option<Vec<Reply>>>() {
            Some(values) if reply.parts().len() == names.len() => Ok(Some(values)),
            _ => Err(self.unexpected(&reply, "the values that were asked for")),
        }
    }

    /// Starts a process, if none is running, and asks who it is.
    fn start(&mut self, stop: &Stop) -> Result<(), SmtError> {
        if self.process.is_some() {
            return Ok(());
        }
        self.process = Some(Process::start(&self.program)?);
        let name = self.information(":name", stop)?;
        let version = self.information(":version", stop)?;
        let (Some(name), Some(version)) = (name, version) else { return Ok(()) };
        let known = match self.program.language() {
            Language::Z3 => "Z3",
            Language::Cvc5 => "cvc5",
        };
        if !name.eq_ignore_ascii_case(known) {
            self.process = None;
            return Err(SmtError::Foreign { program: self.name(), said: name });
        }
        self.version = format!("{name} {version}");
        Ok(())
    }

    /// What the solver says of itself; nothing where it was time to stop.
    fn information(&mut self, key: &str, stop: &Stop) -> Result<Option<String>, SmtError> {
        if self.process.is_none() {
            return Ok(None);
        }
        self.send(format!("(get-info {key})\n"))?;
        let program = self.name();
        let foreign = |said: String| SmtError::Foreign { program: program.clone(), said };
        let reply = match self.reply(stop) {
            Ok(Some(reply)) => reply,
            Ok(None) => return Ok(None),
            // Whatever it is that answers like this, it is not a solver.
            Err(SmtError::Refused { message, .. }) => return Err(foreign(message)),
            Err(SmtError::Unexpected { said, .. }) => return Err(foreign(said)),
            Err(error) => return Err(error),
        };
        if let Some(value) = reply.value_of(key) {
            return Ok(Some(value.to_owned()));
        }
        self.process = None;
        Err(foreign(quoted(&reply)))
    }

    fn send(&mut self, text: String) -> Result<(), SmtError> {
        match &self.process {
            Some(process) => {
                process.say(text);
                Ok(())
            }
            None => Err(SmtError::Ended { program: self.name() }),
        }
    }

    /// The next reply; nothing where it was time to stop, which ends the process, as every error does.
    fn reply(&mut self, stop: &Stop) -> Result<Option<Reply>, SmtError> {
        // Taken, so that it is dropped and with that ended, unless all is well.
        let Some(process) = self.process.take() else {
            return Err(SmtError::Ended { program: self.name() });
        };
        let mut reader = Reader::default();
        loop {
            let line = match process.hear(stop) {
                Heard::Line(line) => line,
                Heard::Stopped => return Ok(None),
                Heard::Ended if stop.is_due() => return Ok(None),
                Heard::Ended => {
                    let (status, last_words) = process.post_mortem();
                    return Err(SmtError::Died { program: self.name(), status, last_words });
                }
            };
            let reply = match reader.line(&line) {
                Ok(Some(reply)) => reply,
                Ok(None) => continue,
                Err(Malformed) => {
                    let said = shortened(&line);
                    return Err(SmtError::Unexpected { program: self.name(), said, expected: "one reply" });
                }
            };
            if let Some(message) = reply.error() {
                return Err(SmtError::Refused { program: self.name(), message: shortened(message) });
            }
            self.process = Some(process);
            return Ok(Some(reply));
        }
    }

    /// What was said is no reply: the process is of no use any more.
    fn unexpected(&mut self, said: &Reply, expected: &'static str) -> SmtError {
        self.process = None;
        SmtError::Unexpected { program: self.name(), said: quoted(said), expected }
    }

    /// The process that is running.
    #[cfg(test)]
    pub(super) fn process_id(&self) -> Option<u32> {
        self.process.as_ref().map(Process::id)
    }

    fn name(&self) -> String {
        Escaped(&self.program.path().to_string_lossy()).to_string()
    }
}

/// A reply as a message repeats it.
fn quoted(reply: &Reply) -> String {
    fn write(reply: &Reply, text: &mut String) {
        match reply {
            Reply::Word(word) | Reply::Text(word) => text.push_str(word),
            Reply::List(parts) => {
                text.push('(');
                for (position, part) in parts.iter().enumerate() {
                    if position > 0 {
                        text.push(' ');
                    }
                    // What is cut off need not be written.
                    if text.len() <= QUOTED {
                        write(part, text);
                    }
                }
                text.push(')');
            }
        }
    }
    let mut text = String::new();
    write(reply, &mut text);
    shortened(&text)
}

fn shortened(text: &str) -> String {
    let mut letters = text.trim().chars();
    let kept: String = letters.by_ref().take(QUOTED).collect();
    if letters.next().is_some() { kept + "..." } else { kept }
}
