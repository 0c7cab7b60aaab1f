//! A sign of life for whoever waits at a terminal.

use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget};

/// A line on standard error that says what is being done, from one second on, until dropped. Not
/// shown when standard error is no terminal.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    /// Dropped to end the wait for the first second.
    done: Option<Sender<()>>,
    waiting: Option<JoinHandle<()>>,
}

impl Progress {
    /// Before this, an answer is quick enough to go without.
    const SILENCE: Duration = Duration::from_secs(1);
    const FRAME: Duration = Duration::from_millis(120);

    /// Starts counting the first second.
    pub fn start(step: impl Into<String>) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden()).with_style(style());
        Self::shown_later(bar.with_message(step.into()))
    }

    /// The same as a bar, where it is known how many steps there are.
    pub fn counting(steps: usize) -> Self {
        let bar = ProgressBar::with_draw_target(Some(steps as u64), ProgressDrawTarget::hidden());
        Self::shown_later(bar.with_style(bar_style()))
    }

    /// Says how long the work may take, and that who does not want to wait loses nothing.
    pub fn until(self, limit: Duration) -> Self {
        self.bar.set_prefix(format!(" of {}s, Ctrl-C keeps the best:", limit.as_secs().max(1)));
        self
    }

    fn shown_later(bar: ProgressBar) -> Self {
        let (done, wait) = mpsc::channel::<()>();
        let shown = bar.clone();
        let waiting = thread::spawn(move || {
            if wait.recv_timeout(Self::SILENCE) == Err(RecvTimeoutError::Timeout) {
                shown.set_draw_target(ProgressDrawTarget::stderr());
                shown.enable_steady_tick(Self::FRAME);
            }
        });
        Self { bar, done: Some(done), waiting: Some(waiting) }
    }

    /// Says what is being done now.
    pub fn step(&self, step: impl Into<String>) {
        self.bar.set_message(step.into());
    }

    /// Says what has been done, one of the steps there are.
    pub fn count(&self, step: &str) {
        self.bar.set_message(step.to_owned());
        self.bar.inc(1);
    }
}

fn style() -> indicatif::ProgressStyle {
    indicatif::ProgressStyle::with_template("{spinner} {elapsed:>4}{prefix} {wide_msg}")
        .unwrap_or_else(|_| indicatif::ProgressStyle::default_spinner())
}

fn bar_style() -> indicatif::ProgressStyle {
    indicatif::ProgressStyle::with_template("{bar:30} {pos}/{len} {elapsed:>4}{prefix} {wide_msg}")
        .unwrap_or_else(|_| indicatif::ProgressStyle::default_bar())
}

impl Drop for Progress {
    fn drop(&mut self) {
        drop(self.done.take());
        // Wait for it, so that nothing is drawn after the line is cleared.
        if let Some(waiting) = self.waiting.take() {
            _ = waiting.join();
        }
        self.bar.finish_and_clear();
    }
}
