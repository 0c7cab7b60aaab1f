//! A process with pipes that never fill up: one thread writes, one reads its output, one its errors.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender};
use std::thread;
use std::time::Duration;

#[cfg(unix)]
use rustix::process::{Pid, Signal, kill_process_group};

use super::{Program, SmtError};
use crate::stop::Stop;
use crate::text::Escaped;

/// How long a [`Stop`] may be overlooked at most.
pub const GLANCE: Duration = Duration::from_millis(50);

/// The most bytes of a line; a solver that goes on longer is not answering us.
const LONGEST_LINE: u64 = 8 << 20;

/// How many lines are read ahead: a solver that writes faster than we read has to wait.
const AHEAD: usize = 16;

/// The most bytes of standard error that are kept for a message.
const LAST_WORDS: u64 = 2048;

/// How long a process that has closed its output may take to end by itself, in glances.
const FAREWELL: u32 = 20;

/// How long the last of standard error is waited for: a child of the solver may hold it open.
const ECHO: Duration = Duration::from_millis(200);

/// What is heard next.
pub(super) enum Heard {
    /// A line, without its end.
    Line(String),
    /// It was time to stop before there was one.
    Stopped,
    /// There will be none: the process has ended, or closed its output.
    Ended,
}

/// A running solver. Dropped, it is killed and reaped.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    input: Sender<String>,
    output: Receiver<String>,
    complaints: Receiver<String>,
}

impl Process {
    /// Starts a program, in a group of its own where there are groups: Ctrl-C is ours to handle.
    pub fn start(program: &Program) -> Result<Self, SmtError> {
        let mut command = Command::new(program.path());
        command.args(program.arguments());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let start = |message: String| SmtError::Start {
            program: Escaped(&program.path().to_string_lossy()).to_string(),
            message,
        };
        let mut child = command.spawn().map_err(|error| start(error.to_string()))?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            unreachable!("all three were asked for");
        };
        let (input, texts) = mpsc::channel();
        let (lines, output) = mpsc::sync_channel(AHEAD);
        let (words, complaints) = mpsc::channel();
        thread::spawn(move || write(stdin, &texts));
        thread::spawn(move || read(stdout, &lines));
        thread::spawn(move || listen(stderr, &words));
        Ok(Self { child, input, output, complaints })
    }

    /// Whether it has not ended.
    pub fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Its id.
    #[cfg(test)]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Hands a text over. Whether it was taken shows in what is heard.
    pub fn say(&self, text: String) {
        // The writer is gone where the process is.
        _ = self.input.send(text);
    }

    /// Waits for the next line.
    pub fn hear(&self, stop: &Stop) -> Heard {
        while !stop.is_due() {
            match self.output.recv_timeout(stop.remaining().min(GLANCE)) {
                Ok(line) => return Heard::Line(line),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Heard::Ended,
            }
        }
        Heard::Stopped
    }

    /// How a process ended that has closed its output, and its last words.
    pub fn post_mortem(mut self) -> (String, String) {
        let mut status = None;
        for _ in 0..FAREWELL {
            status = self.child.try_wait().ok().flatten();
            if status.is_some() {
                break;
            }
            thread::sleep(GLANCE);
        }
        let status = status.map_or_else(|| "its output is closed".to_owned(), |status| status.to_string());
        let words = self.complaints.recv_timeout(ECHO).unwrap_or_default();
        (status, words.trim().to_owned())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // What it has started is in its group, and would go on. The group bears the id of its first process,
        // which is not given to another one before that is waited for.
        #[cfg(unix)]
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            _ = kill_process_group(group, Signal::KILL);
        }
        // It may have ended by itself. Waiting for it leaves no zombie.
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

/// Writes whatever comes, until nobody sends or nobody reads.
fn write(mut stdin: ChildStdin, texts: &Receiver<String>) {
    for text in texts {
        if stdin.write_all(text.as_bytes()).and_then(|()| stdin.flush()).is_err() {
            return;
        }
    }
}

/// Passes lines on, until there are no more, one is too long, or nobody wants them.
fn read(stdout: ChildStdout, lines: &SyncSender<String>) {
    let mut stdout = BufReader::new(stdout);
    loop {
        let mut line = Vec::new();
        match (&mut stdout).take(LONGEST_LINE).read_until(b'\n', &mut line) {
            Ok(1..) if line.len() as u64 != LONGEST_LINE => {}
            _ => return,
        }
        let text = String::from_utf8_lossy(&line);
        if lines.send(text.trim_end_matches(['\n', '\r']).to_owned()).is_err() {
            return;
        }
    }
}

/// Keeps the beginning of standard error and reads the rest, so that it never blocks the solver.
fn listen(mut stderr: ChildStderr, words: &Sender<String>) {
    let mut kept = Vec::new();
    _ = (&mut stderr).take(LAST_WORDS).read_to_end(&mut kept);
    _ = std::io::copy(&mut stderr, &mut std::io::sink());
    _ = words.send(String::from_utf8_lossy(&kept).into_owned());
}
