//! Arguments that cannot be understood.

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{CommandFactory as _, Parser as _};

use super::Cli;
use super::error::{ErrorObject, Status};
use super::output::{Output, print_json};
use crate::text::Shown;

/// What is wrong with arguments, in words that quote them without their control characters: the same is wrong with
/// them when these are escaped, and when a long one is cut.
pub fn quoted_plainly(error: clap::Error, arguments: &[OsString]) -> clap::Error {
    let shown: Vec<OsString> = arguments
        .iter()
        .map(|argument| {
            argument.to_str().map_or_else(|| argument.clone(), |text| Shown(text).to_string().into())
        })
        .collect();
    let Some(hostile) = shown.iter().zip(arguments).find(|(shown, argument)| shown != argument) else {
        return error;
    };
    // What is right once it is escaped is wrong for its control characters, or for its length.
    let (hostile, _) = hostile;
    let message =
        format!("an argument has control characters, or is too long: {}", hostile.to_string_lossy());
    Cli::try_parse_from(&shown)
        .err()
        .unwrap_or_else(|| Cli::command().error(ErrorKind::InvalidValue, message))
}

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
