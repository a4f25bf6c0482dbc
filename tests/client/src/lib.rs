//! A small language client for tests and measurements: a real process, real bytes.
//!
//! It fails a test by panicking, and it never answers a request of the server unless told how.

mod binary;
mod patience;

pub use binary::{binary, build, llsd};
pub use patience::{PATIENCE, comes_about, eventually};

use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// What a client says to a request of the server: method and parameters to a result; `None` is no answer at all.
pub type Answers = Box<dyn Fn(&str, &Value) -> Option<Value> + Send>;

type Output = Arc<Mutex<Option<Box<dyn Write + Send>>>>;

/// One session with a server.
pub struct Client {
    process: Child,
    output: Output,
    input: Receiver<(Instant, Value)>,
    waiting: VecDeque<(Instant, Value)>,
    next_id: i64,
}

impl Client {
    /// Starts `llsd` on standard input and output.
    pub fn start() -> Self {
        let mut command = llsd();
        command.arg("lsp");
        Self::start_with(command, Box::new(|_, _| None))
    }

    /// Starts any server on standard input and output.
    pub fn start_with(mut command: Command, answers: Answers) -> Self {
        let mut process = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("the binary starts");
        let output: ChildStdin = process.stdin.take().expect("stdin is piped");
        let input = process.stdout.take().expect("stdout is piped");
        Self::over(process, Box::new(output), input, answers)
    }

    /// Starts `llsd` on a port that this client listens on.
    pub fn start_on_socket() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("bound").port();
        let process = llsd()
            .args(["lsp", "--socket", &port.to_string()])
            .stdin(Stdio::null())
            .spawn()
            .expect("the binary starts");
        let (stream, peer) = listener.accept().expect("the server connects");
        assert!(peer.ip().is_loopback(), "{peer}");
        let input: TcpStream = stream.try_clone().expect("a second handle");
        Self::over(process, Box::new(stream), input, Box::new(|_, _| None))
    }

    fn over(
        process: Child,
        output: Box<dyn Write + Send>,
        input: impl Read + Send + 'static,
        answers: Answers,
    ) -> Self {
        let (sender, receiver) = channel();
        let output: Output = Arc::new(Mutex::new(Some(output)));
        let back = Arc::clone(&output);
        // Reading an answer is the server's time; understanding it is the client's, and must not delay the next reading.
        let (arrive, arrived) = channel();
        thread::spawn(move || {
            let mut input = BufReader::with_capacity(1 << 16, input);
            while let Some(body) = read(&mut input) {
                if arrive.send((Instant::now(), body)).is_err() {
                    break;
                }
            }
        });
        thread::spawn(move || {
            for (arrived, body) in arrived {
                let Ok(message) = serde_json::from_slice::<Value>(&body) else { break };
                if let (Some(id), Some(method)) = (message.get("id"), message["method"].as_str())
                    && let Some(result) = answers(method, &message["params"])
                {
                    write(&back, &json!({"jsonrpc": "2.0", "id": id, "result": result}));
                }
                if sender.send((arrived, message)).is_err() {
                    break;
                }
            }
        });
        Self { process, output, input: receiver, waiting: VecDeque::new(), next_id: 0 }
    }

    /// The id of the server's process.
    pub fn process_id(&self) -> u32 {
        self.process.id()
    }

    /// Starts a server and initializes it as a client that counts in UTF-16 and knows snippets.
    pub fn ready() -> Self {
        Self::ready_with(&json!({}), &[]).0
    }

    /// Starts a server and initializes it with more capabilities and workspace folders. Returns its answer too.
    pub fn ready_with(more: &Value, folders: &[&std::path::Path]) -> (Self, Value) {
        let mut client = Self::start();
        let answer = client.initialize(more, folders);
        (client, answer)
    }

    /// Sends `initialize` and `initialized`, and returns the server's answer.
    pub fn initialize(&mut self, more: &Value, folders: &[&std::path::Path]) -> Value {
        let mut capabilities = json!({
            "textDocument": {
                "completion": {"completionItem": {"snippetSupport": true}},
                "documentSymbol": {"hierarchicalDocumentSymbolSupport": true},
                "codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": []}}},
                "publishDiagnostics": {"relatedInformation": true, "versionSupport": true},
            },
        });
        merge(&mut capabilities, more);
        let folders: Vec<Value> = folders
            .iter()
            .map(|folder| json!({"uri": format!("file://{}", folder.display()), "name": "folder"}))
            .collect();
        let params = json!({"processId": null, "capabilities": capabilities, "workspaceFolders": folders});
        let answer = self.request("initialize", params);
        self.notify("initialized", json!({}));
        answer
    }

    /// Sends bytes as they are.
    pub fn send_raw(&mut self, bytes: &[u8]) {
        let mut output = self.output.lock().expect("no writer panicked");
        let output = output.as_mut().expect("the connection is open");
        output.write_all(bytes).and_then(|()| output.flush()).expect("the server reads");
    }

    fn send(&mut self, message: &Value) {
        assert!(write(&self.output, message), "the server reads");
    }

    /// Answers a request of the server.
    pub fn respond(&mut self, request: &Value, result: Value) {
        self.send(&json!({"jsonrpc": "2.0", "id": request["id"], "result": result}));
    }

    /// Sends a notification, which has no answer.
    pub fn notify(&mut self, method: &str, params: Value) {
        let mut message = json!({"jsonrpc": "2.0", "method": method});
        if !params.is_null() {
            message["params"] = params;
        }
        self.send(&message);
    }

    /// Sends a request without waiting. Returns its id.
    pub fn ask(&mut self, method: &str, params: Value) -> i64 {
        self.next_id += 1;
        let mut message = json!({"jsonrpc": "2.0", "id": self.next_id, "method": method});
        if !params.is_null() {
            message["params"] = params;
        }
        self.send(&message);
        self.next_id
    }

    /// Waits for the answer to `id`: the whole message.
    pub fn answer(&mut self, id: i64) -> Value {
        self.wait(|message| message["id"] == id && message.get("method").is_none())
    }

    /// Sends a request and returns its result. Panics on an error answer.
    pub fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        let answer = self.answer(id);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// Opens a document with version 1.
    pub fn open(&mut self, uri: &str, text: &str) {
        let document = json!({"uri": uri, "languageId": "yaml", "version": 1, "text": text});
        self.notify("textDocument/didOpen", json!({"textDocument": document}));
    }

    /// Sends `textDocument/didChange` with the given list of changes.
    pub fn change(&mut self, uri: &str, version: i32, changes: Value) {
        let document = json!({"uri": uri, "version": version});
        self.notify("textDocument/didChange", json!({"textDocument": document, "contentChanges": changes}));
    }

    /// Waits for the diagnostics of a version.
    pub fn diagnostics(&mut self, uri: &str, version: i32) -> Vec<Value> {
        let message = self.wait(|message| {
            let params = &message["params"];
            message["method"] == "textDocument/publishDiagnostics"
                && params["uri"] == uri
                && params["version"] == version
        });
        message["params"]["diagnostics"].as_array().expect("a list").clone()
    }

    /// The next message for which `wanted` holds; others stay for later.
    pub fn wait(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        self.try_wait(PATIENCE, wanted).unwrap_or_else(|| panic!("no answer; still waiting: {:?}", self.waiting))
    }

    /// As [`Client::wait`], for a limited time.
    pub fn try_wait(&mut self, time: Duration, wanted: impl Fn(&Value) -> bool) -> Option<Value> {
        self.arrival(time, wanted).map(|(_, message)| message)
    }

    /// The next message for which `wanted` holds, and when its last byte arrived.
    pub fn arrival(&mut self, time: Duration, wanted: impl Fn(&Value) -> bool) -> Option<(Instant, Value)> {
        if let Some(at) = self.waiting.iter().position(|(_, message)| wanted(message)) {
            return self.waiting.remove(at);
        }
        let deadline = Instant::now() + time;
        loop {
            match self.input.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok((arrived, message)) if wanted(&message) => return Some((arrived, message)),
                Ok(other) => self.waiting.push_back(other),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return None,
            }
        }
    }

    /// Everything that came and was not waited for.
    pub fn leftovers(&mut self) -> Vec<Value> {
        self.waiting.extend(self.input.try_iter());
        self.waiting.drain(..).map(|(_, message)| message).collect()
    }

    /// `shutdown`, `exit`, and how the process ended.
    pub fn shut_down(mut self) -> ExitStatus {
        self.request("shutdown", Value::Null);
        self.notify("exit", Value::Null);
        self.end()
    }

    /// Closes the connection, as a client that dies does, and how the process ended.
    pub fn hang_up(self) -> ExitStatus {
        *self.output.lock().expect("no writer panicked") = None;
        self.end()
    }

    /// Waits for the process to end, and returns how it ended.
    pub fn end(mut self) -> ExitStatus {
        eventually(|| self.process.try_wait().expect("the process can be asked")).expect("the server ends")
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// False: the server does not read any more.
fn write(output: &Output, message: &Value) -> bool {
    let body = message.to_string();
    let Ok(mut output) = output.lock() else { return false };
    let Some(output) = output.as_mut() else { return false };
    let whole = format!("Content-Length: {}\r\n\r\n{body}", body.len());
    output.write_all(whole.as_bytes()).and_then(|()| output.flush()).is_ok()
}

fn read(input: &mut impl BufRead) -> Option<Vec<u8>> {
    let mut length = None;
    loop {
        let mut line = String::new();
        if input.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim_end() {
            "" => break,
            header => {
                if let Some(value) = header.strip_prefix("Content-Length: ") {
                    length = value.parse().ok();
                }
            }
        }
    }
    let mut body = vec![0; length?];
    input.read_exact(&mut body).ok()?;
    Some(body)
}

fn merge(into: &mut Value, more: &Value) {
    match (into, more) {
        (Value::Object(into), Value::Object(more)) => {
            for (key, value) in more {
                merge(into.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        (into, more) => *into = more.clone(),
    }
}

/// A position in the protocol's words.
pub fn at(line: u32, character: u32) -> Value {
    json!({"line": line, "character": character})
}

/// An insertion at a position.
pub fn insert(line: u32, character: u32, text: &str) -> Value {
    json!({"range": {"start": at(line, character), "end": at(line, character)}, "text": text})
}

/// The text that edits of the protocol make of `text`, counting UTF-16.
pub fn edited(text: &str, edits: &[Value]) -> String {
    let offset = |position: &Value| {
        let line = position["line"].as_u64().expect("a line") as usize;
        let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
        let mut left = position["character"].as_u64().expect("a character") as usize;
        let mut offset = start;
        for character in text[start..].chars() {
            if left == 0 {
                break;
            }
            left -= character.len_utf16();
            offset += character.len_utf8();
        }
        offset
    };
    let mut spans: Vec<_> = edits
        .iter()
        .map(|edit| (offset(&edit["range"]["start"]), offset(&edit["range"]["end"]), edit["newText"].as_str()))
        .collect();
    spans.sort_by_key(|(start, end, _)| (*start, *end));
    let mut result = text.to_owned();
    for (start, end, new) in spans.into_iter().rev() {
        result.replace_range(start..end, new.expect("a text"));
    }
    result
}
