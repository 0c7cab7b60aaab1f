//! Arguments that cannot be understood.

use std::ffi::OsString;

use clap::error::ErrorKind;

use super::error::{ErrorObject, Status};
use super::help;
use super::output::{Output, print_json};
use crate::text::{self, Escaped, Shown};

/// What is wrong with arguments, in words that quote them without their control characters, and not at length: the
/// same is wrong with them when these are escaped.
pub fn quoted_plainly(error: clap::Error, arguments: &[OsString]) -> clap::Error {
    let escaped = |argument: &OsString| {
        argument.to_str().map_or_else(|| argument.clone(), |text| Escaped(text).to_string().into())
    };
    let plain: Vec<OsString> = arguments.iter().map(escaped).collect();
    let hostile = plain.iter().zip(arguments).find(|(plain, argument)| plain != argument);
    let error = hostile.map_or(error, |(hostile, _)| {
        // What is right once it is escaped is wrong for its control characters.
        let message = format!("an argument has control characters: {}", Shown(&hostile.to_string_lossy()));
        help::parse(&plain).err().unwrap_or_else(|| help::command().error(ErrorKind::InvalidValue, message))
    });
    if !error.use_stderr() || plain.iter().all(|argument| argument.len() <= LONG) {
        return error;
    }
    let text = error.render().to_string();
    let lines = text.trim_start_matches("error: ").lines().map(text::message);
    clap::Error::raw(error.kind(), lines.map(|line| line + "\n").collect::<String>())
}

/// An argument of more bytes may be one that nobody wants to see whole.
const LONG: usize = 1_000;

/// Prints the help or the version that was asked for, or what is wrong with the arguments.
pub fn refuse(error: &clap::Error, output: Output) -> Status {
    _ = error.print();
    if !error.use_stderr() {
        return Status::Yes;
    }
    if output.is_json() {
        let text = error.to_string();
        let message = text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
        _ = print_json(&ErrorObject { error: message, help: None, file: None, line: None, column: None });
    }
    Status::Wrong
}
