//! Programs of others, run with a time and an amount of output at most.

use std::io::{self, Read};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How often a running program is looked at: the standard library has no wait with a limit.
const LOOK: Duration = Duration::from_millis(5);

/// What a program may cost.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How long it may take.
    pub patience: Duration,
    /// Bytes that it may print, on each of its two outputs.
    pub output: u64,
}

/// What a program left behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Whether it says that all went well.
    pub well: bool,
    /// All that it wrote to standard output, as UTF-8; bytes that are not are replaced.
    pub output: String,
    /// All that it wrote to standard error, as UTF-8; bytes that are not are replaced.
    pub errors: String,
}

/// Why nothing is known of a program's end.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// It could not be started.
    #[error("{0}")]
    Start(io::Error),
    /// It took too long, and was stopped.
    #[error("took longer than {} s", .0.as_secs())]
    Slow(Duration),
    /// It wrote more than this number of bytes to one of its outputs; the rest was not read.
    #[error("printed more than {} MiB", .0 >> 20)]
    Large(u64),
    /// Nobody wanted to know any more, and it was stopped.
    #[error("was stopped")]
    Stopped,
    /// Its end or its output is not known; the text says why.
    #[error("{0}")]
    Lost(String),
}

/// Runs a program to its end, without anything on standard input. `stop` is asked every few milliseconds.
///
/// # Errors
/// If it cannot be started, does not end in time, is stopped, or prints too much.
pub fn run(command: &mut Command, limits: Limits, stop: &dyn Fn() -> bool) -> Result<Ended, Failure> {
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(Failure::Start)?;
    let reader = |stream: Option<Box<dyn Read + Send>>| {
        thread::spawn(move || {
            let mut bytes = Vec::new();
            // A stream that breaks ends the answer; the exit code says whether it was whole.
            let _ = stream.map(|stream| stream.take(limits.output + 1).read_to_end(&mut bytes));
            bytes
        })
    };
    let output = reader(child.stdout.take().map(|stream| Box::new(stream) as _));
    let errors = reader(child.stderr.take().map(|stream| Box::new(stream) as _));
    let well = wait(&mut child, limits.patience, stop)?;
    let text = |bytes: thread::JoinHandle<Vec<u8>>| match bytes.join() {
        Ok(bytes) if bytes.len() as u64 > limits.output => Err(Failure::Large(limits.output)),
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(_) => Err(Failure::Lost("nothing that can be read".to_owned())),
    };
    Ok(Ended { well, output: text(output)?, errors: text(errors)? })
}

/// Waits for the end, at most `patience`; true if the exit code is 0. A child that takes longer, or that is to stop, is
/// killed.
fn wait(child: &mut Child, patience: Duration, stop: &dyn Fn() -> bool) -> Result<bool, Failure> {
    let started = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status.success()),
            Ok(None) if started.elapsed() < patience && !stop() => thread::sleep(LOOK),
            Ok(None) => {
                // It may have ended meanwhile.
                let _ = child.kill();
                let _ = child.wait();
                return Err(if started.elapsed() < patience { Failure::Stopped } else { Failure::Slow(patience) });
            }
            Err(error) => return Err(Failure::Lost(error.to_string())),
        }
    }
}
