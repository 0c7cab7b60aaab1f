//! What a run of the tool ends with: an exit status, and an error where there is one to report.

use std::fmt;
use std::io::{self, IsTerminal};
use std::ops::Range;

use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, SourceCode};
use serde::Serialize;
use textwrap::WordSplitter;

use super::excerpt::Excerpt;
use super::file_name::FileName;

/// The exit statuses of the tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// The answer is yes: valid, found, written.
    Yes = 0,
    /// The answer is no: invalid, infeasible.
    No = 1,
    /// The input or the usage is wrong.
    Wrong = 2,
    /// Gave up within its limits.
    GaveUp = 3,
    /// Two parts of this program contradict each other.
    Defective = 4,
}

impl Status {
    /// Yes or no.
    pub const fn of(yes: bool) -> Self {
        if yes { Self::Yes } else { Self::No }
    }
}

/// Why a command could not answer at all: the input or the usage is wrong.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file that cannot be read.
    #[error("cannot read {path}: {error}")]
    Read {
        /// The file.
        path: FileName,
        /// Why not.
        error: io::Error,
    },
    /// A file that is not text.
    #[error("{path} is not text: its byte {at} is not UTF-8")]
    NotText {
        /// The file.
        path: FileName,
        /// The first byte that is not, from 0.
        at: usize,
    },
    /// A file that says something wrong.
    #[error("{}", .0.message)]
    Located(Box<Located>),
    /// A file, or standard output, that cannot be written.
    #[error("cannot write {path}: {error}")]
    Write {
        /// The file.
        path: FileName,
        /// Why not.
        error: io::Error,
    },
    /// Arguments that do not fit each other or the input.
    #[error("{message}")]
    Usage {
        /// What is wrong.
        message: String,
        /// How to correct it.
        help: Option<String>,
    },
    /// A solver of others has no answer, for reasons of its own.
    #[error("{message}")]
    NoAnswer {
        /// What it says.
        message: String,
        /// What may have one.
        help: Option<String>,
    },
    /// Ended by Ctrl-C before there was an answer.
    #[error("{0}")]
    Stopped(String),
    /// An answer that did not pass the independent check: a defect of this program. The text says so, once.
    #[error("internal error: {}", .0.replacen("internal error: ", "", 1))]
    Defect(String),
}

/// What is wrong with a file, and where.
#[derive(Debug)]
pub struct Located {
    /// What is wrong.
    pub message: String,
    /// What to write at the place: a word or two.
    pub label: &'static str,
    /// The bytes it is about.
    pub span: Range<usize>,
    /// How to correct it.
    pub help: Option<String>,
    /// The file.
    pub excerpt: Excerpt,
}

impl Error {
    /// Arguments that do not fit, with advice.
    pub fn usage(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Usage { message: message.into(), help: Some(help.into()) }
    }

    /// The same with other advice, if arguments do not fit.
    pub fn advising(self, advice: &str) -> Self {
        match self {
            Self::Usage { message, .. } => Self::usage(message, advice),
            error => error,
        }
    }

    /// The exit status of the error.
    pub const fn status(&self) -> Status {
        match self {
            Self::Defect(_) => Status::Defective,
            Self::NoAnswer { .. } | Self::Stopped(_) => Status::GaveUp,
            _ => Status::Wrong,
        }
    }

    /// The text for people: with colours and line drawing on a terminal, in plain ASCII elsewhere.
    pub fn render(&self) -> String {
        let theme = if !io::stderr().is_terminal() {
            GraphicalTheme::none()
        } else if std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()) {
            GraphicalTheme::unicode_nocolor()
        } else {
            GraphicalTheme::unicode()
        };
        self.render_with(theme)
    }

    fn render_with(&self, theme: GraphicalTheme) -> String {
        let mut text = String::new();
        let handler = GraphicalReportHandler::new_themed(theme)
            .with_width(100)
            .with_links(false)
            // Names such as zb-1p stay on one line.
            .with_word_splitter(WordSplitter::NoHyphenation);
        // Only the writing can fail, and a string takes everything; if not, the bare message must do.
        handler.render_report(&mut text, self).map_or_else(|_| format!("{self}\n"), |()| text)
    }

    fn help_text(&self) -> Option<&str> {
        match self {
            Self::Located(located) => located.help.as_deref(),
            Self::Usage { help, .. } | Self::NoAnswer { help, .. } => help.as_deref(),
            Self::NotText { .. } => Some("models are TOML, schedules are JSON or CSV, all in UTF-8"),
            Self::Defect(_) => Some("please report this with the command and the files it was given"),
            Self::Read { .. } | Self::Write { .. } | Self::Stopped(_) => None,
        }
    }

    /// The form that `--json` prints.
    pub fn object(&self) -> ErrorObject {
        let located = match self {
            Self::Located(located) => Some(located),
            _ => None,
        };
        let place = located.map(|located| located.excerpt.place(located.span.start));
        ErrorObject {
            error: self.to_string(),
            help: self.help_text().map(str::to_owned),
            file: located.map(|located| located.excerpt.name().clone()),
            line: place.map(|(line, _)| line + 1),
            column: place.map(|(_, column)| column + 1),
        }
    }
}

impl Diagnostic for Error {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help_text().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        match self {
            Self::Located(located) => Some(&located.excerpt),
            _ => None,
        }
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        match self {
            Self::Located(located) => {
                let span = located.excerpt.clamp(&located.span);
                Some(Box::new(std::iter::once(LabeledSpan::new(
                    Some(located.label.to_owned()),
                    span.start,
                    span.len(),
                ))))
            }
            _ => None,
        }
    }
}

/// An error as `--json` prints it.
#[derive(Debug, Serialize)]
pub struct ErrorObject {
    /// What is wrong.
    pub error: String,
    /// How to correct it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// The file it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<FileName>,
    /// The line there, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The column there, from 1, in characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_on_one_line() {
        let names = ["zb-1p"; 60].join(", ");
        let text = Error::usage("no such schedule", format!("known schedules: {names}"))
            .render_with(GraphicalTheme::none());
        assert!(text.lines().count() > 3 && text.lines().all(|line| !line.ends_with('-')), "{text}");
    }

    #[test]
    fn a_defect_has_a_status_of_its_own_and_says_once_what_it_is() {
        for message in ["two parts disagree", "internal error: two parts disagree"] {
            let error = Error::Defect(message.to_owned());
            assert_eq!(error.to_string(), "internal error: two parts disagree");
            assert_eq!(error.status() as u8, 4);
        }
    }
}
