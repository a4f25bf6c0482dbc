//! A real API server for the tests of one process: started by the first test that asks for it, gone with the process.
//!
//! `tests/cluster/up.sh --attached` starts etcd and kube-apiserver and stops them when its standard input ends. This
//! process holds the other end of that pipe and never writes to it, so the servers stop however the tests end: passed,
//! panicked, interrupted or killed.

mod request;

pub use request::{Answer, CRDS, Cause, Request};

use anyhow::{Context, Result, bail};
use kube::config::{KubeConfigOptions, Kubeconfig};
use llsd_test_client::comes_about;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use tokio::runtime::Runtime;

/// A running API server and a client of it that may do everything.
pub struct Cluster {
    client: kube::Client,
    runtime: Runtime,
    folder: PathBuf,
    // Held for its standard input; see the module's description.
    supervisor: Mutex<Child>,
}

/// A cluster of one test: it may be referred to from anywhere, and stops with this value.
pub struct Lent(&'static Cluster);

impl Lent {
    /// The cluster. Nothing answers any more when the value is dropped.
    #[must_use]
    pub fn cluster(&self) -> &'static Cluster {
        self.0
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        let mut supervisor = self.0.supervisor.lock().unwrap_or_else(PoisonError::into_inner);
        drop(supervisor.stdin.take());
        let _ = supervisor.wait();
    }
}

static SHARED: OnceLock<Cluster> = OnceLock::new();

impl Cluster {
    /// The API server of this process, started if it is not running yet (four seconds).
    ///
    /// # Panics
    ///
    /// If it cannot be started. `up.sh` has then printed why, with the end of the server's log.
    pub fn shared() -> &'static Self {
        SHARED.get_or_init(|| Self::start().expect("no API server; `make setup` installs what it needs"))
    }

    /// An API server of its own, for tests that break it or change what is installed. It stops when it is dropped.
    ///
    /// # Panics
    ///
    /// As [`Cluster::shared`].
    #[must_use]
    pub fn own() -> Self {
        Self::start().expect("no API server; `make setup` installs what it needs")
    }

    /// As [`Cluster::own`], with the controller manager (Deployments make pods, owner references are followed), and a
    /// user `operator` that may only do what roles let it: see [`Cluster::operator_kubeconfig`].
    ///
    /// # Panics
    ///
    /// As [`Cluster::shared`].
    #[must_use]
    pub fn with_controllers() -> Self {
        Self::start_with(&["--controllers"], Some("")).expect("no API server; `make setup` installs what it needs")
    }

    /// This cluster for the time of a test, to be referred to from anywhere.
    #[must_use]
    pub fn lend(self) -> Lent {
        Lent(Box::leak(Box::new(self)))
    }

    fn start() -> Result<Self> {
        Self::start_with(&[], None)
    }

    fn start_with(options: &[&str], operator_groups: Option<&str>) -> Result<Self> {
        let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("cluster");
        let folder = fresh_folder()?;
        let mut command = Command::new(scripts.join("up.sh"));
        command.arg(&folder).args(options).arg("--attached").stdin(Stdio::piped()).stdout(Stdio::piped());
        if let Some(groups) = operator_groups {
            command.env("OPERATOR_GROUPS", groups);
        }
        let mut supervisor = command.spawn().context("tests/cluster/up.sh cannot be run")?;
        let output = supervisor.stdout.take().context("no pipe to up.sh")?;
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        if line.trim() != "ready" {
            let status = supervisor.wait()?;
            bail!("tests/cluster/up.sh ended with {status}; logs in {}", folder.display());
        }
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        let client = runtime.block_on(connect(&folder.join("kubeconfig")))?;
        Ok(Self { client, runtime, folder, supervisor: Mutex::new(supervisor) })
    }

    /// The folder with the servers' logs and the administrator's `kubeconfig`.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// A kubeconfig of the user `operator`, whose requests are in the audit log `audit/log`.
    #[must_use]
    pub fn operator_kubeconfig(&self) -> PathBuf {
        self.folder.join("operator.kubeconfig")
    }

    /// A client that may do everything. It must be used on [`Cluster::runtime`].
    #[must_use]
    pub fn client(&self) -> kube::Client {
        self.client.clone()
    }

    /// The runtime that the client's connections live on.
    #[must_use]
    pub fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// Sends one request and waits for the answer, whatever its status.
    ///
    /// # Panics
    ///
    /// If no answer comes.
    pub fn send(&self, request: Request) -> Answer {
        self.runtime.block_on(request.send(&self.client)).expect("the API server answers")
    }

    /// Sends one request to a server that may be gone.
    ///
    /// # Errors
    ///
    /// If no answer comes within ten seconds.
    pub fn try_send(&self, request: Request) -> Result<Answer> {
        let patience = std::time::Duration::from_secs(10);
        self.runtime.block_on(async { tokio::time::timeout(patience, request.send(&self.client)).await? })
    }

    /// Sends a signal (`KILL`, `STOP`, `CONT`) to one of the servers: `etcd`, `apiserver`, `controllers`.
    ///
    /// # Panics
    ///
    /// If it does not run.
    pub fn signal(&self, server: &str, signal: &str) {
        let pid = fs::read_to_string(self.folder.join(format!("{server}.pid"))).expect("it was started");
        let status = Command::new("kill").args([&format!("-{signal}"), pid.trim()]).status().expect("kill runs");
        assert!(status.success(), "{server} does not run");
        // Its port is free only when it is gone.
        let gone = || !Path::new("/proc").join(pid.trim()).exists();
        assert!(signal != "KILL" || comes_about(gone), "{server} does not end");
    }

    /// Starts one of the servers again after it was killed, and waits until the API server answers.
    ///
    /// # Panics
    ///
    /// If that does not come about.
    pub fn start_again(&self, server: &str) {
        let script = self.folder.join(format!("{server}.sh"));
        let status = Command::new(script).status().expect("its script runs");
        assert!(status.success(), "{server} does not start");
        let answers = || self.try_send(Request::get("/readyz")).is_ok_and(|answer| answer.status == 200);
        assert!(comes_about(answers), "the API server does not come back: {}", self.folder.display());
    }

    /// Sends many requests, some at a time, and returns the answers in the order of the requests.
    ///
    /// # Panics
    ///
    /// If one gets no answer.
    pub fn send_all(&self, requests: Vec<Request>) -> Vec<Answer> {
        self.runtime.block_on(request::send_all(requests, &self.client)).expect("the API server answers")
    }

    /// Creates the given CRDs for good and waits until their resources are served.
    ///
    /// # Errors
    ///
    /// The place of the first CRD that the server refuses, and its answer.
    ///
    /// # Panics
    ///
    /// If the resources do not come to be served.
    pub fn install_crds(&self, crds: &[serde_json::Value]) -> Result<(), (usize, Answer)> {
        let creations = crds.iter().map(|crd| Request::post(CRDS, crd)).collect();
        if let Some(refused) = self.send_all(creations).into_iter().enumerate().find(|(_, answer)| !answer.accepted()) {
            return Err(refused);
        }
        for crd in crds {
            let name = crd["metadata"]["name"].as_str().unwrap_or_default();
            self.runtime.block_on(request::until_served(name, &self.client)).expect("the CRD is served");
        }
        Ok(())
    }
}

/// A folder for the servers of this process. Those of processes that are gone are removed on the way.
fn fresh_folder() -> Result<PathBuf> {
    let parent = std::env::temp_dir().join("llsd-cluster");
    fs::create_dir_all(&parent)?;
    for entry in fs::read_dir(&parent)?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let owner = name.split('-').next().unwrap_or_default();
        if !Path::new("/proc").join(owner).exists() {
            // Its servers first: without the folder nobody would know them as ours. Another test process may be doing
            // the same.
            let down = Path::new(env!("CARGO_MANIFEST_DIR")).join("cluster/down.sh");
            let _ = Command::new(down).arg(entry.path()).stderr(Stdio::null()).status();
            let _ = fs::remove_dir_all(entry.path());
        }
    }
    static STARTED: AtomicU32 = AtomicU32::new(0);
    let number = STARTED.fetch_add(1, Ordering::Relaxed);
    let folder = parent.join(format!("{}-{number}", std::process::id()));
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

async fn connect(kubeconfig: &Path) -> Result<kube::Client> {
    let file = Kubeconfig::read_from(kubeconfig)?;
    let config = kube::Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await?;
    Ok(kube::Client::try_from(config)?)
}
