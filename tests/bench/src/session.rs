//! One server, one document, measured.

use crate::documents::line_of;
use crate::process;
use llsd_test_client::{Client, at};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// Slower than this is a fault of the measurement.
const PATIENCE: Duration = Duration::from_secs(120);

/// A server that has said nothing for so long has done what it does at the start.
const QUIET: Duration = Duration::from_secs(1);

/// A server and how to talk to it.
#[derive(Clone, Debug)]
pub(crate) struct Server {
    pub(crate) command: Vec<String>,
    /// What it is told when it asks for a section of the settings.
    pub(crate) settings: Value,
}

/// Measured times in milliseconds, in ascending order.
#[derive(Clone, Debug)]
pub(crate) struct Times(Vec<f64>);

impl Times {
    fn new(mut times: Vec<f64>) -> Self {
        times.sort_by(f64::total_cmp);
        Self(times)
    }

    /// The time at this share of all, from 0 to 1, by the nearest rank.
    pub(crate) fn percentile(&self, share: f64) -> f64 {
        let rank = (share * self.0.len() as f64).ceil() as usize;
        self.0.get(rank.saturating_sub(1)).copied().unwrap_or(f64::NAN)
    }
}

/// What one session with a server took in time and memory.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    pub(crate) key: Times,
    pub(crate) completion: Times,
    pub(crate) hover: Times,
    /// Processor time of the server for each edit, in milliseconds.
    pub(crate) cpu: f64,
    /// Memory of the server process, in MB.
    pub(crate) memory: f64,
}

impl Server {
    fn start(&self) -> Client {
        let mut command = Command::new(&self.command[0]);
        command.args(&self.command[1..]);
        let settings = self.settings.clone();
        Client::start_with(
            command,
            Box::new(move |method, params| {
                let section = |item: &Value| settings.get(item["section"].as_str()?).cloned();
                Some(match method {
                    "workspace/configuration" => {
                        let items = params["items"].as_array().into_iter().flatten();
                        items.map(|item| section(item).unwrap_or(Value::Null)).collect()
                    }
                    _ => Value::Null,
                })
            }),
        )
    }

    fn ready(&self, root: &Path) -> Client {
        let mut client = self.start();
        client.request("initialize", parameters(root));
        client.notify("initialized", json!({}));
        client
    }

    /// From the start of the process to the answer to `initialize`, in milliseconds.
    pub(crate) fn startup(&self, root: &Path, runs: usize) -> Times {
        let once = || {
            let started = Instant::now();
            let mut client = self.start();
            let id = client.ask("initialize", parameters(root));
            let (arrived, _) = client.arrival(PATIENCE, |message| message["id"] == id).expect("an answer");
            milliseconds(arrived - started)
        };
        Times::new((0..runs).map(|_| once()).collect())
    }

    /// Opens a document of the workspace `root`, edits it `edits` times, and asks.
    pub(crate) fn measure(&self, root: &Path, text: &str, edits: usize) -> Measured {
        let uri = format!("file://{}/measured.yaml", root.display());
        let mut client = self.ready(root);
        client.open(&uri, text);
        let mut session = Session { client: &mut client, uri: &uri, version: 1 };
        // The second half of a document, so that what stands before it counts too.
        let middle = text.lines().count() / 2;
        let line = line_of(text, "provider: vllm", middle).max(line_of(text, "provider: vllm", 0));
        let column = 8 + "provider: vllm".len();
        session.settle();
        for _ in 0..10 {
            session.key(line, column);
        }
        let process = session.client.process_id();
        let before = process::cpu(process);
        let key = Times::new((0..edits).flat_map(|_| session.key(line, column)).collect());
        let cpu = milliseconds(process::cpu(process) - before) / (2 * edits) as f64;
        let asked = edits.min(100);
        let completion = Times::new((0..asked).map(|_| session.completion(line, column)).collect());
        let hover = Times::new((0..asked).map(|_| session.hover(line, column - 2)).collect());
        Measured { key, completion, hover, cpu, memory: process::peak_memory(process) }
    }

    /// Opens a document right after the start of the process, in a workspace of other files: the time from there to its
    /// first diagnostics, in milliseconds, and the most memory until the server is quiet, in MB.
    pub(crate) fn cold(&self, root: &Path, text: &str, runs: usize) -> (Times, f64) {
        let uri = format!("file://{}/measured.yaml", root.display());
        let once = || {
            let mut client = self.ready(root);
            let opened = Instant::now();
            client.open(&uri, text);
            let published = |message: &Value| is_publication(message, &uri, 0);
            let (arrived, _) = client.arrival(PATIENCE, published).expect("diagnostics");
            while client.arrival(QUIET, |_| true).is_some() {}
            (milliseconds(arrived - opened), process::peak_memory(client.process_id()))
        };
        let (times, memory): (Vec<f64>, Vec<f64>) = (0..runs).map(|_| once()).unzip();
        (Times::new(times), memory.into_iter().fold(0.0, f64::max))
    }

    /// Opens many files and waits for all their diagnostics, in seconds.
    pub(crate) fn open_all(&self, root: &Path, files: &[(String, String)]) -> f64 {
        let started = Instant::now();
        let mut client = self.ready(root);
        for (name, text) in files {
            client.open(&format!("file://{}/{name}", root.display()), text);
        }
        for (name, _) in files {
            let uri = format!("file://{}/{name}", root.display());
            let published = |message: &Value| is_publication(message, &uri, 0);
            client.arrival(PATIENCE, published).expect("diagnostics");
        }
        started.elapsed().as_secs_f64()
    }
}

struct Session<'c> {
    client: &'c mut Client,
    uri: &'c str,
    version: i64,
}

impl Session<'_> {
    /// Waits for the first diagnostics, and until the server has nothing more to say: some publish once before they
    /// know their schema, and some look through the workspace first.
    fn settle(&mut self) {
        let uri = self.uri;
        self.client.arrival(PATIENCE, |message| is_publication(message, uri, 0)).expect("diagnostics");
        while self.client.arrival(QUIET, |_| true).is_some() {}
    }

    /// Types a letter that makes a mistake, and takes it back: the time to the diagnostics of each.
    fn key(&mut self, line: usize, column: usize) -> [f64; 2] {
        let insert = json!({"range": {"start": here(line, column), "end": here(line, column)}, "text": "x"});
        let remove = json!({"range": {"start": here(line, column), "end": here(line, column + 1)}, "text": ""});
        [self.timed_change(insert), self.timed_change(remove)]
    }

    fn timed_change(&mut self, change: Value) -> f64 {
        let started = self.change(change);
        let (uri, version) = (self.uri, self.version);
        let published = |message: &Value| is_publication(message, uri, version);
        let (arrived, _) = self.client.arrival(PATIENCE, published).expect("diagnostics");
        milliseconds(arrived - started)
    }

    fn change(&mut self, change: Value) -> Instant {
        self.version += 1;
        let started = Instant::now();
        self.client.change(self.uri, self.version as i32, json!([change]));
        started
    }

    /// A letter, and completion behind it.
    fn completion(&mut self, line: usize, column: usize) -> f64 {
        self.change(json!({"range": {"start": here(line, column - 1), "end": here(line, column)}, "text": ""}));
        let time = self.timed("textDocument/completion", line, column - 1);
        self.change(json!({"range": {"start": here(line, column - 1), "end": here(line, column - 1)}, "text": "m"}));
        let (uri, version) = (self.uri, self.version);
        let published = |message: &Value| is_publication(message, uri, version);
        self.client.arrival(PATIENCE, published).expect("diagnostics");
        time
    }

    fn hover(&mut self, line: usize, column: usize) -> f64 {
        self.timed("textDocument/hover", line, column)
    }

    fn timed(&mut self, method: &str, line: usize, column: usize) -> f64 {
        let params = json!({"textDocument": {"uri": self.uri}, "position": here(line, column)});
        let started = Instant::now();
        let id = self.client.ask(method, params);
        let is_answer = |message: &Value| message["id"] == id && message.get("method").is_none();
        let (arrived, _) = self.client.arrival(PATIENCE, is_answer).expect("an answer");
        milliseconds(arrived - started)
    }
}

/// Diagnostics of at least this version; a server that names no version has one edit in flight only.
fn is_publication(message: &Value, uri: &str, version: i64) -> bool {
    let params = &message["params"];
    message["method"] == "textDocument/publishDiagnostics"
        && params["uri"] == uri
        && params["version"].as_i64().is_none_or(|found| found >= version)
}

fn here(line: usize, column: usize) -> Value {
    at(line as u32, column as u32)
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

fn parameters(root: &Path) -> Value {
    let uri = format!("file://{}", root.display());
    json!({
        "processId": std::process::id(),
        "rootUri": uri,
        "workspaceFolders": [{"uri": uri, "name": "bench"}],
        "capabilities": {
            "workspace": {"configuration": true, "workspaceFolders": true},
            "textDocument": {
                "publishDiagnostics": {"relatedInformation": true, "versionSupport": true},
                "completion": {"completionItem": {"snippetSupport": true, "documentationFormat": ["markdown"]}},
                "hover": {"contentFormat": ["markdown"]},
            },
        },
    })
}
