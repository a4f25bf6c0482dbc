//! The operator as a process against a real API server, and stand-ins for what such a server lacks: something that runs
//! pods, and something that provides volumes.

mod access;
mod audit;
mod namespace;
mod stand_in;

pub use access::{grant, grant_ogx};
pub use audit::{Audit, Entry};
pub use namespace::{Namespace, condition, path};
pub use stand_in::StandIn;

use crate::cluster::Cluster;
use crate::llama_stack::free_port;
use llsd_test_client::{PATIENCE, comes_about, eventually};
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// The `llsd-operator` that belongs to these tests, built first if need be. `LLSD_OPERATOR_BIN` names another one.
///
/// # Panics
///
/// If it cannot be built.
#[must_use]
pub fn binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| match std::env::var_os("LLSD_OPERATOR_BIN") {
        Some(path) => path.into(),
        None => crate::llsd::build("llsd-operator", "llsd-operator"),
    })
}

/// Runs the operator, tells its process id, and ends with it. When this test process is gone, so is the operator: the
/// shell's standard input ends then.
const SUPERVISOR: &str = r#"
exec 3<&0
log=$1; shift
"$@" </dev/null >"$log" 2>&1 3<&- &
operator=$!
{ cat <&3 >/dev/null; kill -KILL "$operator"; } >/dev/null 2>&1 &
watcher=$!
echo "$operator"
exec >/dev/null 2>&1
wait "$operator"
code=$?
kill "$watcher" 2>/dev/null
exit "$code"
"#;

/// A running operator. It is killed when it is dropped.
pub struct Operator {
    supervisor: Child,
    pid: String,
    metrics: SocketAddr,
    health: SocketAddr,
    log: PathBuf,
}

impl Operator {
    /// Starts an operator whose own namespace is `namespace`, as the user `operator`, without waiting for anything. It
    /// asks no registry and no server unless `arguments` say so.
    ///
    /// # Panics
    ///
    /// If the process cannot be started.
    #[must_use]
    pub fn start(cluster: &Cluster, namespace: &str, arguments: &[&str]) -> Self {
        Self::start_with(cluster, namespace, arguments, &[])
    }

    /// As [`Operator::start`], with variables in its environment.
    ///
    /// # Panics
    ///
    /// As [`Operator::start`].
    #[must_use]
    pub fn start_with(cluster: &Cluster, namespace: &str, arguments: &[&str], env: &[(&str, &str)]) -> Self {
        static STARTED: AtomicU32 = AtomicU32::new(0);
        let (metrics, health) = (free_address(), free_address());
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let log = cluster.folder().join(format!("operator-{number}.log"));
        let defaults = ["--registry-lookups=", "--server-probes="]
            .into_iter()
            .filter(|flag| !arguments.iter().any(|argument| argument.starts_with(flag)))
            .map(|flag| format!("{flag}false"));
        let mut supervisor = Command::new("bash")
            .args(["-c", SUPERVISOR, "supervisor"])
            .arg(&log)
            .arg(binary())
            .arg(format!("--metrics-bind-address={metrics}"))
            .arg(format!("--health-probe-bind-address={health}"))
            .args(defaults)
            .args(arguments)
            .env("KUBECONFIG", cluster.operator_kubeconfig())
            .env("OPERATOR_NAMESPACE", namespace)
            .env("OPERATOR_VERSION", "1.2.3-test")
            .env("OPERATOR_IMAGE", "example.com/operator:test")
            .envs(env.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("bash runs");
        let mut pid = String::new();
        BufReader::new(supervisor.stdout.take().expect("a pipe")).read_line(&mut pid).expect("a process id");
        Self { supervisor, pid: pid.trim().to_owned(), metrics, health, log }
    }

    /// All that the operator has logged so far.
    #[must_use]
    pub fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// The process id, as text for the command line of other programs.
    #[must_use]
    pub fn pid(&self) -> &str {
        &self.pid
    }

    /// Status and body of `/healthz` or `/readyz`; status 0 if nobody answers.
    #[must_use]
    pub fn health(&self, path: &str) -> (u16, String) {
        get(self.health, path).unwrap_or_default()
    }

    /// Where the metrics are served.
    #[must_use]
    pub fn metrics_address(&self) -> SocketAddr {
        self.metrics
    }

    /// The metrics, as text; empty if nobody answers.
    #[must_use]
    pub fn metrics(&self) -> String {
        get(self.metrics, "/metrics").unwrap_or_default().1
    }

    /// The sum of all series of the metric `name`.
    #[must_use]
    pub fn metric(&self, name: &str) -> f64 {
        let text = self.metrics();
        let values = text.lines().filter_map(|line| {
            let rest = line.strip_prefix(name)?;
            (rest.starts_with('{') || rest.starts_with(' ')).then(|| rest.rsplit(' ').next()?.parse::<f64>().ok())?
        });
        values.sum()
    }

    /// Waits until the operator says that it is ready.
    ///
    /// # Panics
    ///
    /// If that does not come about, or the operator ends.
    pub fn wait_ready(&mut self) {
        let ready = comes_about(|| {
            if let Ok(Some(status)) = self.supervisor.try_wait() {
                panic!("the operator ended with {status}:\n{}", self.log());
            }
            self.health("/readyz").0 == 200
        });
        assert!(ready, "the operator is not ready:\n{}", self.log());
    }

    /// Sends it a signal: `TERM`, `STOP`, `CONT`, `KILL`.
    ///
    /// # Panics
    ///
    /// If there is no such process any more.
    pub fn signal(&self, signal: &str) {
        let status = Command::new("kill").args([&format!("-{signal}"), self.pid.as_str()]).status().expect("kill runs");
        assert!(status.success(), "the operator is gone:\n{}", self.log());
    }

    /// Waits until the process has ended.
    ///
    /// # Panics
    ///
    /// If that does not come about.
    pub fn wait_end(&mut self) -> ExitStatus {
        let ended = eventually(|| self.supervisor.try_wait().ok().flatten());
        ended.unwrap_or_else(|| panic!("the operator does not end:\n{}", self.log()))
    }

    /// Asks it to end, and waits for that.
    ///
    /// # Panics
    ///
    /// If it does not end.
    pub fn terminate(&mut self) -> ExitStatus {
        self.signal("TERM");
        self.wait_end()
    }
}

impl Drop for Operator {
    fn drop(&mut self) {
        drop(self.supervisor.stdin.take());
        let _ = self.supervisor.wait();
    }
}

/// An address on loopback that nobody listens on, see [`free_port`].
///
/// # Panics
///
/// If there is none.
#[must_use]
pub fn free_address() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], free_port().expect("a free port")))
}

/// Waits for something that comes about by itself.
///
/// # Panics
///
/// If it does not come about; `what` says what.
pub fn wait_until(what: &str, holds: impl FnMut() -> bool) {
    assert!(comes_about(holds), "waited in vain: {what}");
}

/// The kubectl that belongs to the API server of the tests, built first if need be.
///
/// # Panics
///
/// If it cannot be built.
pub fn kubectl_program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("cluster/build.sh");
        let output = Command::new(script).output().expect("build.sh runs");
        Path::new(String::from_utf8_lossy(&output.stdout).trim()).join("kubectl")
    })
}

/// Runs kubectl as the administrator, and returns its standard output.
///
/// # Errors
///
/// Its standard error, if it fails.
///
/// # Panics
///
/// If it cannot be run.
pub fn kubectl(cluster: &Cluster, arguments: &[&str], input: &str) -> Result<String, String> {
    let mut child = Command::new(kubectl_program())
        .arg("--kubeconfig")
        .arg(cluster.folder().join("kubeconfig"))
        .arg("--cache-dir")
        .arg(cluster.folder().join("kubectl"))
        .args(arguments)
        .env_remove("KUBECONFIG")
        .env("KUBE_EDITOR", "true")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("kubectl runs");
    let mut pipe = child.stdin.take().expect("a pipe");
    pipe.write_all(input.as_bytes()).expect("kubectl reads");
    drop(pipe);
    let output = child.wait_with_output().expect("kubectl ends");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
}

/// Status and body of a plain HTTP GET.
fn get(address: SocketAddr, path: &str) -> Option<(u16, String)> {
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    Some((head.split(' ').nth(1)?.parse().ok()?, body.to_owned()))
}
