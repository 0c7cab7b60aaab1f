//! The help of the tool as a whole: its commands, grouped by what they are for.

use std::ffi::OsString;
use std::fmt::Write as _;

use clap::{Command, CommandFactory as _, FromArgMatches as _};

use super::Cli;
use super::wrap::wrapped_to;

/// The commands by what somebody wants to do, in the order in which they are first needed.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Find a schedule", &["optimize", "plan", "estimate", "compare", "frontier", "explain"]),
    ("Verify a schedule", &["verify", "replay", "check", "certify"]),
    ("Design building blocks", &["block", "prove", "regress"]),
    ("Run and draw a schedule", &["convert", "render"]),
    ("Use measured runs", &["trace"]),
    ("Set up the shell", &["completions", "man", "help"]),
];

/// The width of help where nothing tells that of the terminal, and the most that it has.
const WIDTH: usize = 100;

/// The command line, with its commands in groups.
pub fn command() -> Command {
    let mut command = Cli::command();
    // Only then does it have its own `help`.
    command.build();
    let seen = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    let groups = grouped(&command, seen.unwrap_or(WIDTH).min(WIDTH));
    let header = *command.get_styles().get_header();
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}{header}Options:{header:#}\n{{options}}{{after-help}}"
    );
    Cli::command().help_template(template)
}

/// The arguments, understood.
///
/// # Errors
/// When they ask for help, or cannot be understood.
pub fn parse(arguments: &[OsString]) -> Result<Cli, clap::Error> {
    let mut command = command();
    let matches = command.try_get_matches_from_mut(arguments)?;
    Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
}

/// A list of commands for each group.
fn grouped(command: &Command, width: usize) -> String {
    let header = *command.get_styles().get_header();
    let literal = *command.get_styles().get_literal();
    let longest = GROUPS.iter().flat_map(|(_, names)| *names).map(|name| name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for (title, names) in GROUPS {
        writeln!(text, "{header}{title}:{header:#}").expect("writing to a string cannot fail");
        for &name in names {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let about = wrapped_to(&about, longest + 4, width);
            writeln!(text, "  {literal}{name}{literal:#}{:room$}  {about}", "", room = longest - name.len())
                .expect("writing to a string cannot fail");
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_in_one_group() {
        let mut command = Cli::command();
        command.build();
        let mut there: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        let mut listed: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        there.sort_unstable();
        listed.sort_unstable();
        assert_eq!(there, listed);
    }
}
