//! Ctrl-C while a search runs: the first one ends the search with the best found so far, the second one
//! ends the program.

use std::io::{self, Write};

use crate::stop::Interrupt;

/// The exit status of a program that Ctrl-C has ended, as shells count it.
const ENDED: i32 = 130;

/// An interrupt that Ctrl-C raises. Where signals cannot be caught, it is never raised, and Ctrl-C ends
/// the program as usual.
pub fn on_ctrl_c() -> Interrupt {
    let interrupt = Interrupt::default();
    let raised = interrupt.clone();
    _ = ctrlc::set_handler(move || {
        if raised.is_raised() {
            std::process::exit(ENDED);
        }
        raised.raise();
        _ = writeln!(io::stderr(), "note: interrupted: ending with what has been found so far");
    });
    interrupt
}
