//! The real llama-stack and ogx, for the tests: their own reading of a config.yaml, and the server on loopback.
//!
//! Everything here needs a Python environment that `tests/server/setup.sh` builds, for versions other than
//! [`VERSION`] one of its own.

mod program;

pub use program::{Folder, Program, free_port};

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use llsd_test_client::PATIENCE;
use serde::Deserialize;
use serde_json::Value;

/// The folder `tests/server` of the repository.
pub fn scripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("server")
}

/// The version that the distributions pin, and that servers are started with.
pub const VERSION: &str = "0.4.7";

/// The newest version that is known. Its package is there for every run of the tests, as that of [`VERSION`] is; those of
/// others are for `make parity`.
pub const NEWEST: &str = "1.5.0";

/// The Python of the environment with llama-stack [`VERSION`].
///
/// # Panics
///
/// If the environment is not there.
pub fn python() -> &'static Path {
    static PYTHON: OnceLock<PathBuf> = OnceLock::new();
    PYTHON.get_or_init(|| python_of(VERSION))
}

/// The Python of the environment with a version of llama-stack or ogx.
///
/// # Panics
///
/// If the environment is not there.
pub fn python_of(version: &str) -> PathBuf {
    let output = Command::new(scripts().join("setup.sh")).args(["--path", version]).output().expect("setup.sh runs");
    let folder = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    assert!(
        output.status.success() && !folder.is_empty(),
        "the package of {version} is not installed for the tests: run `make test`, or tests/server/setup.sh {version}"
    );
    Path::new(&folder).join("bin/python")
}

/// What llama-stack says of one config.yaml.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
pub struct Verdict {
    /// The config that was given to llama-stack.
    pub file: PathBuf,
    /// Whether the server would start and would read every key.
    pub ok: bool,
    /// Why it would not start.
    pub errors: Vec<Remark>,
    /// What it would pass over in silence.
    pub warnings: Vec<Remark>,
}

/// One reason of a [`Verdict`].
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
pub struct Remark {
    /// Where in the config, as a dotted path; empty for all of it.
    pub path: String,
    /// What llama-stack says is wrong, in its words.
    pub message: String,
}

/// Asks a version about config.yaml files, all in one process (a second and a half). Warnings count, and variables
/// that a config needs count as set. The verdicts come in the order of the files.
///
/// # Errors
///
/// The tool could not be run or did not answer for each file.
pub fn validate(version: &str, files: &[PathBuf]) -> Result<Vec<Verdict>> {
    verdicts(version, files, &["--strict", "--allow-unset-env"])
}

/// The same, where what the server passes over in silence does not count.
///
/// # Errors
///
/// The tool could not be run or did not answer for each file.
pub fn validate_leniently(version: &str, files: &[PathBuf]) -> Result<Vec<Verdict>> {
    verdicts(version, files, &["--allow-unset-env"])
}

fn verdicts(version: &str, files: &[PathBuf], flags: &[&str]) -> Result<Vec<Verdict>> {
    let output = Command::new(python_of(version))
        .arg(scripts().join("validate_config.py"))
        .args(flags)
        .args(files)
        .env_clear()
        .output()?;
    let text = String::from_utf8(output.stdout)?;
    let verdicts: Vec<Verdict> = text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    if verdicts.len() != files.len() {
        bail!("validate_config.py failed:\n{}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(verdicts)
}

/// A fake vLLM server, until it is dropped.
#[derive(Debug)]
pub struct FakeVllm {
    program: Program,
    port: u16,
    _folder: Folder,
}

impl FakeVllm {
    /// Starts one that offers these models.
    ///
    /// # Errors
    ///
    /// It does not answer.
    pub fn start(models: &[&str]) -> Result<Self> {
        let folder = Folder::new("vllm")?;
        let port = free_port()?;
        let mut command = Command::new(python());
        command.arg(scripts().join("fake_vllm.py")).arg(port.to_string()).args(models);
        let mut program = Program::start(command, &folder.path().join("log"), None)?;
        wait_for(&mut program, port, "/health")?;
        Ok(Self { program, port, _folder: folder })
    }

    /// The address for a provider's `endpoint`.
    pub fn endpoint(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    /// The requests so far: method, path and Authorization header (`-` for none), separated by spaces.
    pub fn requests(&self) -> Vec<String> {
        self.program.log().lines().map(str::to_owned).collect()
    }
}

/// A server of llama-stack or ogx, until it is dropped.
#[derive(Debug)]
pub struct Server {
    program: Program,
    port: u16,
    _folder: Folder,
}

impl Server {
    /// Starts llama-stack [`VERSION`] with this config.yaml and only these environment variables, in an empty home.
    ///
    /// # Errors
    ///
    /// It ends or does not answer; the error holds the end of its log.
    pub fn start(config: &str, env: &[(&str, &str)]) -> Result<Self> {
        Self::start_version(VERSION, config, env)
    }

    /// The same with [`VERSION`] or [`NEWEST`], whose environments have what the starter needs.
    ///
    /// # Errors
    ///
    /// It ends or does not answer; the error holds the end of its log.
    pub fn start_version(version: &str, config: &str, env: &[(&str, &str)]) -> Result<Self> {
        let folder = Folder::new("llama-stack")?;
        let file = folder.path().join("config.yaml");
        std::fs::write(&file, config)?;
        let port = free_port()?;
        let ogx = python_of(version).with_file_name("ogx");
        let (program, run) = match ogx.exists() {
            true => (ogx, &["run"][..]),
            false => (ogx.with_file_name("llama"), &["stack", "run"][..]),
        };
        let mut command = Command::new(program);
        command.args(run).arg(&file).args(["--port", &port.to_string()]);
        command.env_clear();
        for name in ["PATH", "LANG"] {
            command.envs(std::env::var_os(name).map(|value| (name, value)));
        }
        command
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env("HOME", folder.path())
            .env("PYTHONPATH", scripts().join("stubs"));
        command.env("NO_COLOR", "1").envs(env.iter().copied());
        let mut program = Program::start(command, &folder.path().join("log"), None)?;
        wait_for(&mut program, port, "/v1/health")?;
        Ok(Self { program, port, _folder: folder })
    }

    /// What the server answers to a GET, as JSON.
    ///
    /// # Errors
    ///
    /// No connection, another status than 200, or no JSON.
    pub fn get(&self, path: &str) -> Result<Value> {
        Ok(serde_json::from_str(&get(self.port, path)?)?)
    }

    /// The strings at `field` of each entry of a list endpoint such as `/v1/models`.
    ///
    /// # Errors
    ///
    /// As [`Self::get`].
    pub fn list(&self, path: &str, field: &str) -> Result<Vec<String>> {
        let answer = self.get(path)?;
        let entries = answer["data"].as_array().with_context(|| format!("{path} is no list: {answer}"))?;
        Ok(entries.iter().filter_map(|entry| entry[field].as_str().map(str::to_owned)).collect())
    }

    /// What the server has written so far.
    pub fn log(&self) -> String {
        self.program.log()
    }
}

fn wait_for(program: &mut Program, port: u16, path: &str) -> Result<()> {
    let end = Instant::now() + PATIENCE;
    while get(port, path).is_err() {
        let ended = program.ended()?.is_some();
        if ended || Instant::now() > end {
            let log = program.log();
            let tail: Vec<&str> = log.lines().rev().take(30).collect();
            let tail: Vec<&str> = tail.into_iter().rev().collect();
            bail!("{}\n{}", if ended { "it ended" } else { "it does not answer" }, tail.join("\n"));
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    Ok(())
}

/// A GET over HTTP/1.0, so that the answer ends with the connection.
fn get(port: u16, path: &str) -> Result<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(PATIENCE))?;
    write!(stream, "GET {path} HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let (head, body) = answer.split_once("\r\n\r\n").context("no HTTP answer")?;
    if head.split(' ').nth(1) != Some("200") {
        bail!("{path}: {head}\n{body}");
    }
    Ok(body.to_owned())
}
