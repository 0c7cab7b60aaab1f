//! Answers questions about random inputs, one for each function that has a theorem in Rocq, for the program
//! `bubbleproof-functions` to answer them again with the functions that Rocq extracts (`proofs/rocq`, `docs/trust.md`).
//!
//! ```sh
//! cargo run --example rocq_functions -- cases 1000 1 > cases    # a line of JSON for each case: the input, the answers
//! target/rocq/bubbleproof-functions cases claims                # compares; writes claims about bounds
//! cargo run --example rocq_functions -- judge < claims          # whether they hold here, too
//! ```
//!
//! Certificates do not reach these functions, or only some of their cases: `make agree` compares both checkers on
//! certificates, and runs this besides. All inputs are small. Many are wrong on purpose, since the answers to wrong
//! ones must agree as well.

mod blocks;
mod bounds;
mod every;
mod messages;
mod problem;
mod running;

use std::error::Error;
use std::io::{self, BufRead as _, BufWriter, Write as _};
use std::process::ExitCode;

use fastrand::Rng;
use serde_json::Value;

/// Makes a case: an object with the input, and the answers under `rust`.
type Make = fn(&mut Rng) -> Value;

const KINDS: [(&str, Make); 8] = [
    ("replay", running::schedule),
    ("tasks", running::tasks),
    ("block", blocks::block),
    ("family", blocks::family),
    ("weights", blocks::weights),
    ("every m", every::every_m),
    ("messages", messages::messages),
    ("bounds", bounds::bounds),
];

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args.as_slice() {
        ["cases", count, seed] => cases(count.parse()?, seed.parse()?)?,
        ["judge"] => return judge(),
        _ => return Err("usage: rocq_functions cases COUNT SEED, or: rocq_functions judge < CLAIMS".into()),
    }
    Ok(ExitCode::SUCCESS)
}

fn cases(count: u64, seed: u64) -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    for (kind, make) in KINDS {
        for number in 0..count {
            // Each case has a seed of its own, so that it stays the same whatever is asked before it.
            let mut choices = Rng::with_seed(seed ^ number.wrapping_mul(0x9E37_79B9_7F4A_7C15));
            let mut case = make(&mut choices);
            case["case"] = kind.into();
            case["number"] = number.into();
            writeln!(out, "{case}")?;
        }
    }
    out.flush()
}

/// Holds what Rocq says of bounds against what is said here.
fn judge() -> Result<ExitCode, Box<dyn Error>> {
    let mut tally = bounds::Tally::default();
    for line in io::stdin().lock().lines() {
        let line = line?;
        tally.judge(&serde_json::from_str(&line)?, &line);
    }
    print!("{tally}");
    Ok(if tally.is_good() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
