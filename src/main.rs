//! The `bubbleproof` command; everything it does is in [`bubbleproof::cli`].

use std::process::ExitCode;

fn main() -> ExitCode {
    bubbleproof::cli::run(std::env::args_os())
}
