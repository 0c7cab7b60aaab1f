//! Signals while a command works: the first one ends the work with what has been found so far, the second one
//! ends the program. Ctrl-C is caught, and so are SIGTERM, which job schedulers send before they kill, and SIGHUP,
//! which a closed terminal sends.
//!
//! One event may send several of them: a terminal that closes sends SIGHUP, and the shell in it sends another; a
//! service manager may send SIGTERM and SIGHUP. So only Ctrl-C, which a person presses, is a second signal at any
//! time; the others are from [`ONE_EVENT`] after the first signal on.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use crate::stop::Interrupt;

/// An interrupt that a signal raises. Where signals cannot be caught, it is never raised, and they end the
/// program as usual.
///
/// Asked for only once everything has been read that may come from a pipe: until then, a signal ends the program
/// at once.
pub fn on_signals() -> Interrupt {
    let interrupt = Interrupt::default();
    let raised = interrupt.clone();
    let mut first: Option<Instant> = None;
    watch(move |Caught { status, name, is_pressed }| match meaning(first, Instant::now(), is_pressed) {
        Meaning::End => {
            first = Some(Instant::now());
            raised.raise();
            _ = writeln!(
                io::stderr(),
                "note: interrupted{name}: ending with what has been found so far; a second signal ends at once"
            );
        }
        Meaning::SameEvent => {}
        Meaning::EndAtOnce => std::process::exit(status),
    });
    interrupt
}

/// Signals that come within this time of the first one may have the same cause.
const ONE_EVENT: Duration = Duration::from_secs(1);

/// What a signal asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meaning {
    /// To end with what has been found.
    End,
    /// Nothing that the first one has not asked for.
    SameEvent,
    /// Not to wait for that.
    EndAtOnce,
}

fn meaning(first: Option<Instant>, now: Instant, is_pressed: bool) -> Meaning {
    match first {
        None => Meaning::End,
        Some(first) if is_pressed || now.duration_since(first) >= ONE_EVENT => Meaning::EndAtOnce,
        Some(_) => Meaning::SameEvent,
    }
}

/// A signal that was caught.
struct Caught {
    /// The exit status of a program that it has ended, as shells count it.
    status: i32,
    /// Which one it was, where that is worth saying.
    name: &'static str,
    /// Whether a person has pressed Ctrl-C.
    is_pressed: bool,
}

/// Tells of every signal.
#[cfg(unix)]
fn watch(mut tell: impl FnMut(Caught) + Send + 'static) {
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
            tell(Caught { status: 128 + signal, name, is_pressed: signal == SIGINT });
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
fn watch(mut tell: impl FnMut(Caught) + Send + 'static) {
    _ = ctrlc::set_handler(move || tell(Caught { status: 130, name: "", is_pressed: true }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_event_sends_is_one_signal_and_what_a_person_presses_is_another() {
        let first = Instant::now();
        let after = |milliseconds| first + Duration::from_millis(milliseconds);
        for is_pressed in [false, true] {
            assert_eq!(meaning(None, first, is_pressed), Meaning::End);
            assert_eq!(meaning(Some(first), after(1000), is_pressed), Meaning::EndAtOnce);
        }
        assert_eq!(meaning(Some(first), after(999), false), Meaning::SameEvent);
        assert_eq!(meaning(Some(first), after(1), true), Meaning::EndAtOnce);
    }
}
