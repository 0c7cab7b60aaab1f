//! `certify`: an optimal schedule with proofs for third-party checkers.

#[cfg(feature = "lcg")]
mod dossier;

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

#[cfg(feature = "lcg")]
pub use dossier::run;

use super::search::seconds;
use super::size::ModelArgs;

/// The options of `certify`.
#[derive(Debug, Args)]
pub struct CertifyArgs {
    #[command(flatten)]
    model: ModelArgs,

    /// The folder to write to, created if necessary
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,

    /// Time limit for the schedule and its proof in seconds
    #[arg(long, value_name = "S", default_value = "60", value_parser = seconds)]
    time_limit: Duration,
}

/// Says that there is no engine to ask.
///
/// # Errors
/// Always.
#[cfg(not(feature = "lcg"))]
pub fn run(_: &CertifyArgs, _: super::output::Output) -> Result<super::error::Status, super::error::Error> {
    Err(super::error::Error::usage(
        "this build has no engine that logs proofs",
        "build it with the feature `lcg`, which is on by default",
    ))
}
