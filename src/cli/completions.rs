//! `completions`: scripts that teach a shell to complete the tool's arguments.

use std::fmt;

use clap::Args;
use clap_complete::Shell;
use serde::Serialize;

use super::error::{Error, Status};
use super::output::Output;

/// The options of `completions`.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell to write a script for
    #[arg(value_enum)]
    shell: Shell,
}

#[derive(Serialize)]
struct Script {
    shell: String,
    script: String,
}

impl fmt::Display for Script {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.script)
    }
}

/// Prints the script.
///
/// # Errors
/// When standard output cannot be written.
pub fn run(args: &CompletionsArgs, output: Output) -> Result<Status, Error> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut super::help::command(), "bubbleproof", &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    output.print(&Script { shell: args.shell.to_string(), script })?;
    Ok(Status::Yes)
}
