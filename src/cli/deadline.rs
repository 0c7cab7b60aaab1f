//! The last resort of `--time-limit`: a command that overlooks its limit is ended.
//!
//! Whatever may take long asks [`Stop`](crate::stop::Stop) and ends by itself, with what it has found. This is for what
//! does not ask, or not often enough: no answer is better than one that a job has no time to wait for.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use super::error::{Error, Status};
use super::output::{Output, print_json};

/// A limit on the time of a command, until dropped: once it has an answer, it may print it.
#[derive(Debug)]
pub struct Deadline {
    /// Wakes the thread that waits for the limit.
    _done: Sender<()>,
    /// Whether somebody has the right to the last word: the command with its answer, or the limit.
    is_decided: Arc<AtomicBool>,
}

impl Deadline {
    /// The least that a command may be late.
    const LATE: Duration = Duration::from_millis(900);

    /// Ends the program, with status 3, once the limit has been over for a tenth of itself or for a second, whichever
    /// is longer.
    pub fn after(limit: Duration, output: Output) -> Self {
        let (done, wait) = mpsc::channel();
        let most = output.left_of(limit.saturating_add((limit / 11).max(Self::LATE)));
        let is_decided = Arc::new(AtomicBool::new(false));
        let decide = Arc::clone(&is_decided);
        thread::spawn(move || {
            let is_over = wait.recv_timeout(most) == Err(RecvTimeoutError::Timeout);
            if is_over && !decide.swap(true, Ordering::AcqRel) {
                let error = over(limit);
                _ = io::stderr().write_all(error.render().as_bytes());
                if output.is_json() {
                    _ = print_json(&error.object());
                }
                std::process::exit(Status::GaveUp as i32);
            }
        });
        Self { _done: done, is_decided }
    }
}

impl Drop for Deadline {
    /// From here on the command may write. Does not return where the limit came first: the program is about to end.
    fn drop(&mut self) {
        while self.is_decided.swap(true, Ordering::AcqRel) {
            thread::park();
        }
    }
}

fn over(limit: Duration) -> Error {
    Error::NoAnswer {
        message: format!(
            "the time limit of {} s is over, and there is no answer yet: nothing was written",
            limit.as_secs_f64()
        ),
        help: Some("allow more time with --time-limit, or ask for a smaller size".to_owned()),
    }
}
