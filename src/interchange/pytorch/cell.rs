//! The grammar of a cell.

use std::ops::Range;

use super::Dialect;
use super::error::{CsvProblem, shorten};
use crate::comm::{Action, Message, Payload};
use crate::model::{Kind, Microbatch, Pass, Stage};

/// The characters that may surround a cell, and the parts of a pair.
pub(super) const BLANK: [char; 2] = [' ', '\t'];

/// The letters of a pass, whose meaning depends on the dialect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Letters {
    F,
    I,
    W,
    B,
    Bw,
}

/// A pass before the dialect is known.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lettered {
    pub(super) stage: Stage,
    pub(super) letters: Letters,
    pub(super) microbatch: Microbatch,
}

impl Lettered {
    fn pass(self, dialect: Dialect) -> Pass {
        let kind = match (self.letters, dialect) {
            (Letters::F, _) => Kind::F,
            (Letters::W, _) => Kind::W,
            (Letters::I, _) | (Letters::B, Dialect::Of2024) => Kind::I,
            (Letters::Bw, _) | (Letters::B, Dialect::Current) => Kind::B,
        };
        Pass::new(self.stage, kind, self.microbatch)
    }
}

/// What a cell says, before the dialect is known.
#[derive(Debug, Clone, Copy)]
pub(super) enum Said {
    /// A pass.
    One(Lettered),
    /// An overlapped pair.
    Pair([Lettered; 2]),
    /// Anything but passes: the same in every dialect.
    Other(Action),
}

/// What a cell says and where it begins. There are millions of them: the rest of their place is found again
/// when one is complained about.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cell {
    pub(super) said: Said,
    start: usize,
}

impl Cell {
    pub(super) fn read(text: &str, start: usize) -> Result<Self, CsvProblem> {
        let said = if text.starts_with('(') { read_pair(text)? } else { read_single(text)? };
        Ok(Self { said, start })
    }

    /// Its bytes in the file.
    pub(super) fn span(&self, file: &str) -> Range<usize> {
        let rest = &file[self.start..];
        let cell = rest.split([',', '\r', '\n']).next().unwrap_or_default();
        self.start..self.start + cell.trim_end_matches(BLANK).len()
    }

    pub(super) fn quoted(&self, file: &str) -> String {
        shorten(&file[self.span(file)])
    }

    /// The passes it runs.
    pub(super) const fn passes(&self) -> &[Lettered] {
        match &self.said {
            Said::One(pass) => std::slice::from_ref(pass),
            Said::Pair(pair) => pair,
            Said::Other(_) => &[],
        }
    }

    pub(super) fn action(&self, dialect: Dialect) -> Action {
        match self.said {
            Said::One(pass) => Action::Run(pass.pass(dialect)),
            Said::Pair(pair) => Action::Overlap(pair.map(|pass| pass.pass(dialect))),
            Said::Other(action) => action,
        }
    }

    /// The largest microbatch that it names.
    pub(super) fn microbatch(&self) -> Option<Microbatch> {
        match self.said {
            Said::Other(Action::Send(message) | Action::Receive(message) | Action::WaitSend(message)) => {
                Some(message.microbatch)
            }
            _ => self.passes().iter().map(|pass| pass.microbatch).max(),
        }
    }
}

fn read_pair(text: &str) -> Result<Said, CsvProblem> {
    let broken = || CsvProblem::NoPair(shorten(text));
    let inside =
        text.strip_prefix('(').and_then(|rest| rest.strip_suffix(")OVERLAP_F_B")).ok_or_else(broken)?;
    let (first, second) = inside.split_once(';').ok_or_else(broken)?;
    let one = |part: &str| match read_single(part.trim_matches(BLANK))? {
        Said::One(pass) => Ok(pass),
        _ => Err(broken()),
    };
    let pair = [one(first)?, one(second)?];
    let forwards = pair.iter().filter(|pass| pass.letters == Letters::F).count();
    let backwards =
        pair.iter().filter(|pass| matches!(pass.letters, Letters::I | Letters::B | Letters::Bw)).count();
    if (forwards, backwards) == (1, 1) { Ok(Said::Pair(pair)) } else { Err(broken()) }
}

fn read_single(text: &str) -> Result<Said, CsvProblem> {
    let quoted = || shorten(text);
    let is_digit = |letter: char| letter.is_ascii_digit();
    let word_at = text.find(|letter| !is_digit(letter)).unwrap_or(text.len());
    let (stage, rest) = text.split_at(word_at);
    let microbatch_at =
        rest.find(|letter: char| !letter.is_ascii_uppercase() && letter != '_').unwrap_or(rest.len());
    let (word, microbatch) = rest.split_at(microbatch_at);
    if stage.is_empty() {
        return Err(CsvProblem::NoStage(quoted()));
    }
    let number = |digits: &str| digits.parse::<u32>().map_err(|_| CsvProblem::TooLarge(quoted()));
    if let Some(action) = of_all_microbatches(word) {
        return if microbatch.is_empty() {
            Ok(Said::Other(action(Stage(number(stage)?))))
        } else {
            Err(CsvProblem::NeedlessMicrobatch(quoted(), word.to_owned()))
        };
    }
    let Some(meaning) = meaning(word) else { return Err(CsvProblem::UnknownAction(quoted())) };
    if microbatch.is_empty() || !microbatch.chars().all(is_digit) {
        return Err(CsvProblem::NoMicrobatch(quoted()));
    }
    let (stage, microbatch) = (Stage(number(stage)?), Microbatch(number(microbatch)?));
    let (payload, names_earlier, end) = match meaning {
        Meaning::Pass(letters) => return Ok(Said::One(Lettered { stage, letters, microbatch })),
        Meaning::Message(payload, names_earlier, end) => (payload, names_earlier, end),
    };
    let before = || stage.0.checked_sub(1).map(Stage).ok_or_else(|| CsvProblem::NoStageBefore(quoted()));
    let boundary = if names_earlier { stage } else { before()? };
    Ok(Said::Other(end(Message { payload, boundary, microbatch })))
}

/// The action that a word means which is of a stage and all its microbatches.
fn of_all_microbatches(word: &str) -> Option<fn(Stage) -> Action> {
    match word {
        "UNSHARD" => Some(Action::Unshard),
        "RESHARD" => Some(Action::Reshard),
        "REDUCE_GRAD" => Some(Action::ReduceGradients),
        "WAIT_REDUCE_GRAD" => Some(Action::WaitReduce),
        _ => None,
    }
}

/// What a word before a microbatch means.
enum Meaning {
    Pass(Letters),
    /// What is carried, whether the stage in the cell is the earlier one, and which end it is.
    Message(Payload, bool, fn(Message) -> Action),
}

/// The ends that send name the stage that sends, the one that receives that which receives.
fn meaning(word: &str) -> Option<Meaning> {
    Some(match word {
        "F" => Meaning::Pass(Letters::F),
        "I" => Meaning::Pass(Letters::I),
        "W" => Meaning::Pass(Letters::W),
        "B" => Meaning::Pass(Letters::B),
        "BW" => Meaning::Pass(Letters::Bw),
        "SEND_F" => Meaning::Message(Payload::Activation, true, Action::Send),
        "RECV_F" => Meaning::Message(Payload::Activation, false, Action::Receive),
        "WAIT_SEND_F" => Meaning::Message(Payload::Activation, true, Action::WaitSend),
        "SEND_B" => Meaning::Message(Payload::Gradient, false, Action::Send),
        "RECV_B" => Meaning::Message(Payload::Gradient, true, Action::Receive),
        "WAIT_SEND_B" => Meaning::Message(Payload::Gradient, false, Action::WaitSend),
        _ => return None,
    })
}
