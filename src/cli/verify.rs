//! `verify`: everything that can be wrong with a schedule.

use clap::Args;

use super::error::{Error, Status};
use super::output::Output;
use super::progress::Progress;
use super::subject::SubjectArgs;
use super::verdict::Judgement;

/// The options of `verify`.
#[derive(Debug, Args)]
pub struct VerifyArgs {
    #[command(flatten)]
    subject: SubjectArgs,
}

/// Replays the schedule and lists its violations.
///
/// # Errors
/// When a file or an option is wrong.
pub fn run(args: &VerifyArgs, output: Output) -> Result<Status, Error> {
    let progress = Progress::start("reading and replaying the schedule");
    let subject = args.subject.read()?;
    let judgement = Judgement::of(&subject);
    drop(progress);
    output.print(&judgement)?;
    Ok(Status::of(judgement.valid))
}
