//! Runs `kubectl`, which has a time and an amount of output at most.

use crate::subprocess::{self, Limits};
use serde_json::Value;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

/// What `kubectl` may take altogether: helpers that log in may hang.
const LIMITS: Limits = Limits { patience: PATIENCE, output: 64 << 20 };
/// How long the API server may take for one answer, as `kubectl` understands it.
const REQUEST_TIMEOUT: &str = "--request-timeout=10s";
/// How long `kubectl` may take, its login helper and the request together.
const PATIENCE: Duration = Duration::from_secs(20);

/// Which cluster, and how to reach it. What is not set is as in a terminal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kubectl {
    /// The program; `kubectl` of the PATH if there is none.
    pub program: Option<PathBuf>,
    /// The file given to `--kubeconfig`; `None` leaves the choice to kubectl.
    pub kubeconfig: Option<PathBuf>,
    /// The context given to `--context`; `None` takes the current one.
    pub context: Option<String>,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The program cannot be run.
    #[error("{program} cannot be run: {reason}")]
    Program {
        /// The program as it was called.
        program: String,
        /// The error of the operating system, or what the program printed.
        reason: String,
    },
    /// No object can have such a name, so that nobody was asked.
    #[error("{0:?} is no name of an object: small letters, digits, - and . are allowed")]
    Name(String),
    /// It did not come to an end.
    #[error("kubectl took longer than {} s", PATIENCE.as_secs())]
    Slow,
    /// The cluster was not reached, or nobody is logged in.
    #[error("{0}")]
    Unreachable(String),
    /// The API server answered, and refused.
    #[error("{0}")]
    Refused(String),
    /// What came is not what was asked for.
    #[error("kubectl printed something else than was asked for: {0}")]
    Unexpected(String),
}

impl Failure {
    /// Whether the user may not read what was asked for. The words are the API server's, as `kubectl` prints them.
    #[must_use]
    pub fn is_forbidden(&self) -> bool {
        matches!(self, Self::Refused(reason) if reason.starts_with("Error from server (Forbidden)"))
    }
}

impl Kubectl {
    /// As a terminal has it. `kubectl` runs in another folder, so that the file of `KUBECONFIG` is named by its whole path; a
    /// list of files stays as it is.
    #[must_use]
    pub fn of_terminal() -> Self {
        let named = std::env::var_os("KUBECONFIG").unwrap_or_default();
        Self { kubeconfig: only_file(&named), ..Self::default() }
    }

    /// The namespace that is used where none is told.
    ///
    /// # Errors
    /// As [`Kubectl::run`].
    pub fn namespace(&self) -> Result<String, Failure> {
        let found = self.run(&["config", "view", "--minify", "--output", "jsonpath={..namespace}"])?;
        let name = found.split_whitespace().next().unwrap_or("default");
        Ok(name.to_owned())
    }

    /// How people call the cluster: the name of the context.
    ///
    /// # Errors
    /// As [`Kubectl::run`].
    pub fn context(&self) -> Result<String, Failure> {
        match &self.context {
            Some(context) => Ok(context.clone()),
            None => Ok(self.run(&["config", "current-context"])?.trim().to_owned()),
        }
    }

    /// The answer to a question as JSON.
    ///
    /// # Errors
    /// As [`Kubectl::run`].
    pub fn json(&self, arguments: &[&str]) -> Result<Value, Failure> {
        let text = self.run(&[arguments, &["--output", "json"]].concat())?;
        serde_json::from_str(&text).map_err(|error| Failure::Unexpected(error.to_string()))
    }

    /// What `kubectl` prints. It runs outside of every workspace, and is stopped when it takes too long.
    ///
    /// # Errors
    /// If it cannot be run, does not end, or ends with an error.
    pub fn run<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Result<String, Failure> {
        let program = self.program.clone().unwrap_or_else(|| PathBuf::from("kubectl"));
        let mut command = Command::new(&program);
        if let Some(file) = &self.kubeconfig {
            command.arg("--kubeconfig").arg(file);
        }
        if let Some(context) = &self.context {
            command.args(["--context", context]);
        }
        command.arg(REQUEST_TIMEOUT).args(arguments).current_dir(std::env::temp_dir());
        let ended = subprocess::run(&mut command, LIMITS, &|| false).map_err(|failure| match failure {
            subprocess::Failure::Start(error) => {
                Failure::Program { program: program.display().to_string(), reason: error.to_string() }
            }
            subprocess::Failure::Slow(_) => Failure::Slow,
            subprocess::Failure::Large(_) | subprocess::Failure::Stopped | subprocess::Failure::Lost(_) => {
                Failure::Unexpected(failure.to_string())
            }
        })?;
        if ended.well { Ok(ended.output) } else { Err(failure(&ended.errors)) }
    }
}

/// The whole path of the file that `KUBECONFIG` names, if it is one.
fn only_file(named: &OsStr) -> Option<PathBuf> {
    let files: Vec<PathBuf> = std::env::split_paths(named).filter(|file| !file.as_os_str().is_empty()).collect();
    let [one] = files.as_slice() else { return None };
    std::path::absolute(one).ok()
}

/// What a failed `kubectl` means. Its last line says it; those before are attempts and warnings.
fn failure(errors: &str) -> Failure {
    let line = errors.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("kubectl failed without a word");
    let line = line.trim().trim_start_matches("error: ").to_owned();
    // The server's own answers begin so; "the server doesn't have a resource type" is one of them.
    let answered = line.starts_with("Error from server") && !line.contains("(ServiceUnavailable)");
    if answered || line.contains("doesn't have a resource type") {
        Failure::Refused(line)
    } else {
        Failure::Unreachable(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_found_from_another_folder() {
        let here = std::env::current_dir().unwrap();
        assert_eq!(only_file("one.yaml".as_ref()), Some(here.join("one.yaml")));
        assert_eq!(only_file("/etc/one.yaml".as_ref()), Some(PathBuf::from("/etc/one.yaml")));
        for none in ["", "one.yaml:two.yaml"] {
            assert_eq!(only_file(none.as_ref()), None, "{none}");
        }
    }

    #[test]
    fn tells_refusals_from_silence() {
        let refused =
            "Error from server (Forbidden): secrets is forbidden: User \"x\" cannot list resource \"secrets\"";
        assert_eq!(failure(refused), Failure::Refused(refused.to_owned()));
        assert!(failure(refused).is_forbidden());
        let unknown = "error: the server doesn't have a resource type \"llamastackdistributions\"";
        assert!(matches!(failure(unknown), Failure::Refused(_)) && !failure(unknown).is_forbidden());
        let silent = "E1128 memcache.go: x\nThe connection to the server 127.0.0.1:1 was refused - did you specify the right host or port?\n";
        assert!(matches!(failure(silent), Failure::Unreachable(line) if line.starts_with("The connection")));
        assert!(matches!(failure(""), Failure::Unreachable(_)));
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let kubectl = Kubectl { program: Some("/no/such/kubectl".into()), ..Kubectl::default() };
        let error = kubectl.run(&["version"]).unwrap_err().to_string();
        assert!(error.starts_with("/no/such/kubectl cannot be run: "), "{error}");
    }
}
