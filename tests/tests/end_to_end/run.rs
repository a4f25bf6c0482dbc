//! The containers of one pod, one after the other, as processes.

use super::pod::{Pod, State, Waiting};
use llsd_tests::llama_stack::Program;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// How long a container that has failed waits before it is tried again.
const PAUSE: Duration = Duration::from_secs(1);
/// Bytes of a log that become the message of a container that has failed.
const MESSAGE: usize = 2048;

/// How far a pod has got.
#[derive(Default)]
pub(super) struct Run {
    /// The place of the container whose turn it is.
    turn: usize,
    program: Option<Program>,
    states: Vec<State>,
    ready: bool,
    /// Before then nothing is started.
    not_before: Option<Instant>,
}

impl Run {
    /// Starts, restarts or probes the container whose turn it is; the pod's status, if it is another one now.
    pub(super) fn step(&mut self, pod: &Pod<'_>) -> Option<Value> {
        let containers = pod.containers();
        self.states.resize_with(containers.len(), State::default);
        let before = (self.states.clone(), self.ready);
        let container = *containers.get(self.turn)?;
        let is_server = self.turn + 1 == containers.len();
        match &mut self.program {
            None => self.start(pod, container),
            Some(program) => match program.ended().unwrap() {
                Some(code) => {
                    let log = program.log();
                    self.program = None;
                    self.end(code, &log, is_server);
                }
                None => self.ready = self.ready || is_server && probe(container),
            },
        }
        (before != (self.states.clone(), self.ready)).then(|| pod.status(&self.states, self.ready))
    }

    fn start(&mut self, pod: &Pod<'_>, container: &Value) {
        if self.not_before.is_some_and(|moment| Instant::now() < moment) {
            return;
        }
        let state = &mut self.states[self.turn];
        match pod.prepare(container) {
            Ok(folder) => {
                let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("cluster/container.sh");
                let mut command = Command::new(script);
                command.arg(&folder);
                self.program = Some(Program::start(command, &folder.join("log"), None).unwrap());
                state.now = json!({"running": {}});
            }
            Err(Waiting { reason, message }) => {
                self.not_before = Some(Instant::now() + PAUSE);
                state.now = json!({"waiting": {"reason": reason, "message": message}});
            }
        }
    }

    /// An init container that went well makes room for the next one; all else is tried again.
    fn end(&mut self, code: i32, log: &str, is_server: bool) {
        let state = &mut self.states[self.turn];
        let ended = json!({"terminated": {"exitCode": code, "message": tail(log)}});
        if code == 0 && !is_server {
            state.now = ended;
            self.turn += 1;
            return;
        }
        let last = log.lines().last().unwrap_or_default();
        state.now = json!({"waiting": {"reason": "CrashLoopBackOff", "message": last}});
        state.last = ended;
        state.restarts += 1;
        self.ready = false;
        self.not_before = Some(Instant::now() + PAUSE);
    }
}

/// The end of a log, as `FallbackToLogsOnError` takes it.
fn tail(log: &str) -> &str {
    let start = log.ceil_char_boundary(log.len().saturating_sub(MESSAGE));
    &log[start..]
}

/// Whether the container answers its startup probe; a kubelet does not look at the certificate either.
fn probe(container: &Value) -> bool {
    let probe = &container["startupProbe"]["httpGet"];
    let (Some(path), Some(port)) = (probe["path"].as_str(), probe["port"].as_u64()) else { return true };
    let scheme = probe["scheme"].as_str().unwrap_or("HTTP").to_lowercase();
    let url = format!("{scheme}://127.0.0.1:{port}{path}");
    let asked = Command::new("curl").args(["--silent", "--fail", "--insecure", "--max-time", "5", &url]).output();
    asked.is_ok_and(|asked| asked.status.success())
}
