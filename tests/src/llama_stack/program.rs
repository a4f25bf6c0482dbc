//! Programs that end with the test, and their folders and ports.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context, Result, bail};

use super::{python, scripts};

/// A program in the background. It is stopped when this is dropped, and also when the test process dies: it runs
/// under `attached.py`, which holds the other end of a pipe.
#[derive(Debug)]
pub struct Program {
    supervisor: Child,
    log: PathBuf,
}

impl Program {
    /// Starts `command` with its output going to the file `log`. `stop` is the signal that ends it (`INT`);
    /// otherwise `TERM`.
    ///
    /// # Errors
    ///
    /// The supervisor could not be started.
    pub fn start(command: Command, log: &Path, stop: Option<&str>) -> Result<Self> {
        let mut attached = Command::new(python());
        attached.arg(scripts().join("attached.py"));
        if let Some(signal) = stop {
            attached.args(["--stop", signal]);
        }
        attached.arg(log);
        attached.arg("env");
        if command.get_envs().next().is_some() {
            // The supervisor keeps its own environment; the program gets exactly what `command` says.
            attached.arg("--ignore-environment");
            for (name, value) in command.get_envs() {
                if let Some(value) = value {
                    let mut pair = name.to_owned();
                    pair.push("=");
                    pair.push(value);
                    attached.arg(pair);
                }
            }
        }
        attached.arg(command.get_program()).args(command.get_args());
        let supervisor = attached.stdin(Stdio::piped()).spawn().context("attached.py cannot be run")?;
        Ok(Self { supervisor, log: log.to_owned() })
    }

    /// What it has ended with, if it has ended by itself: its exit code, or 128 and the number of the signal.
    ///
    /// # Errors
    ///
    /// The system does not say.
    pub fn ended(&mut self) -> Result<Option<i32>> {
        // A supervisor that somebody killed has no code of its own.
        Ok(self.supervisor.try_wait()?.map(|status| status.code().unwrap_or(137)))
    }

    /// What it has written so far.
    pub fn log(&self) -> String {
        std::fs::read(&self.log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        drop(self.supervisor.stdin.take());
        // Waiting matters: the folder and the port are free only afterwards.
        let _ = self.supervisor.wait();
    }
}

/// An empty folder that goes away with this value.
#[derive(Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// Makes one. `name` is part of its name.
    ///
    /// # Errors
    ///
    /// The folder cannot be made.
    pub fn new(name: &str) -> Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("llsd-{name}-{}-{count}", std::process::id()));
        std::fs::create_dir(&path).with_context(|| format!("{} cannot be made", path.display()))?;
        Ok(Self(path))
    }

    /// The path of the folder, which is removed with this value.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A port of 127.0.0.1 that nobody listens on and that this process has not given out before. It lies below those
/// that the kernel takes for outgoing connections, so that none of these can take it before the program does.
///
/// # Errors
///
/// There is none.
pub fn free_port() -> Result<u16> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    const FIRST: u32 = 20_000;
    const COUNT: u32 = 12_000;
    // Test programs that run at once start at different places.
    let start = std::process::id().wrapping_mul(97);
    for _ in 0..COUNT {
        let place = start.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed)) % COUNT;
        let port = u16::try_from(FIRST + place)?;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return Ok(port);
        }
    }
    bail!("no port of 127.0.0.1 is free")
}
