//! `man`: manual pages, made of the same descriptions as the help.

use std::fmt;
use std::fs;
use std::path::PathBuf;

use clap::{Args, Command};
use clap_mangen::Man;
use serde::Serialize;

use super::error::{Error, Status};
use super::file_name::FileName;
use super::help;
use super::output::{Output, Target};

/// The options of `man`.
#[derive(Debug, Args)]
pub struct ManArgs {
    /// The folder to write the pages to, such as ~/.local/share/man/man1: one for the tool, and one for each command
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
}

/// The page of the tool itself, or the pages that were written.
#[derive(Serialize)]
#[serde(untagged)]
enum Pages {
    Shown { page: String },
    Written { written: Vec<FileName> },
}

impl fmt::Display for Pages {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shown { page } => out.write_str(page),
            Self::Written { written } => written.iter().try_for_each(|file| writeln!(out, "wrote {file}")),
        }
    }
}

/// Prints the page of the tool, or writes all pages.
///
/// # Errors
/// When a file or standard output cannot be written.
pub fn run(args: &ManArgs, output: Output) -> Result<Status, Error> {
    let mut command = help::command();
    command.build();
    let Some(folder) = &args.output else {
        output.print(&Pages::Shown { page: page(command)? })?;
        return Ok(Status::Yes);
    };
    fs::create_dir_all(folder).map_err(|error| Error::Write { path: FileName::of(folder), error })?;
    let mut written = Vec::new();
    for command in all(command) {
        let path = folder.join(format!("{}.1", command.get_display_name().unwrap_or(command.get_name())));
        let text = page(command)?;
        written.push(FileName::of(&path));
        Target::File(path).write(|out| out.write_all(text.as_bytes()))?;
    }
    output.print(&Pages::Written { written })?;
    Ok(Status::Yes)
}

/// A command and all its own commands, without those that only show help.
fn all(command: Command) -> Vec<Command> {
    let parts: Vec<Command> =
        command.get_subcommands().filter(|part| part.get_name() != "help").cloned().collect();
    std::iter::once(command).chain(parts.into_iter().flat_map(all)).collect()
}

fn page(command: Command) -> Result<String, Error> {
    let mut text = Vec::new();
    Man::new(command).render(&mut text).map_err(|error| Error::Defect(error.to_string()))?;
    String::from_utf8(text).map_err(|error| Error::Defect(error.to_string()))
}
