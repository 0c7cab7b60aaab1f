//! Signals while a command works: the first one ends the work with what has been found so far, the second one
//! ends the program. Those that ask a program to end are all treated alike: Ctrl-C, SIGTERM, which job schedulers
//! send before they kill, and SIGHUP, which a closed terminal sends.

use std::io::{self, Write};

use crate::stop::Interrupt;

/// An interrupt that a signal raises. Where signals cannot be caught, it is never raised, and they end the
/// program as usual.
///
/// Asked for only once everything has been read that may come from a pipe: until then, a signal ends the program
/// at once.
pub fn on_signals() -> Interrupt {
    let interrupt = Interrupt::default();
    let raised = interrupt.clone();
    watch(move |status, name| {
        if raised.is_raised() {
            std::process::exit(status);
        }
        raised.raise();
        _ = writeln!(
            io::stderr(),
            "note: interrupted{name}: ending with what has been found so far; a second signal ends at once"
        );
    });
    interrupt
}

/// Tells of every signal: the exit status of a program that it has ended, as shells count it, and which one it was
/// where that is worth saying.
#[cfg(unix)]
fn watch(mut tell: impl FnMut(i32, &str) + Send + 'static) {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;

    // Whoever started the program may have asked that a signal be ignored: `nohup` does.
    let ignored = ignored();
    let wanted = [(SIGINT, ""), (SIGTERM, " by SIGTERM"), (SIGHUP, " by SIGHUP")];
    let wanted = wanted.map(|(signal, name)| (signal, name, ignored >> (signal - 1) & 1 == 1));
    let caught = wanted.iter().filter(|(.., is_ignored)| !is_ignored).map(|&(signal, ..)| signal);
    let Ok(mut signals) = Signals::new(caught) else { return };
    std::thread::spawn(move || {
        for signal in signals.forever() {
            let name = wanted.iter().find(|(known, ..)| *known == signal).map_or("", |(_, name, _)| *name);
            tell(128 + signal, name);
        }
    });
}

/// The signals that are ignored, a bit for each, as far as the system says so.
#[cfg(unix)]
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    line.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok()).unwrap_or(0)
}

/// Tells of Ctrl-C, which is all that there is here.
#[cfg(not(unix))]
fn watch(mut tell: impl FnMut(i32, &str) + Send + 'static) {
    _ = ctrlc::set_handler(move || tell(130, ""));
}
