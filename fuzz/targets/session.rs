//! Whole sessions: messages of every method with random texts and places, through the server's own loop. Each request
//! is answered once; none fails inside the server.

#![no_main]

use arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{Cursor, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// Requests about a place or the whole of a document.
const REQUESTS: [&str; 16] = [
    "textDocument/completion",
    "textDocument/hover",
    "textDocument/definition",
    "textDocument/references",
    "textDocument/documentHighlight",
    "textDocument/prepareRename",
    "textDocument/documentSymbol",
    "textDocument/documentLink",
    "textDocument/foldingRange",
    "textDocument/codeLens",
    "textDocument/linkedEditingRange",
    "textDocument/semanticTokens/full",
    "textDocument/diagnostic",
    "llsd/preview",
    "llsd/previewDiff",
    "workspace/symbol",
];

fuzz_target!(|data: &[u8]| {
    let mut bytes = Unstructured::new(data);
    let mut session = Session::default();
    session.start();
    let _ = session.play(&mut bytes);
    session.end();
});

#[derive(Default)]
struct Session {
    input: Vec<u8>,
    requests: i64,
    version: i32,
}

impl Session {
    fn send(&mut self, message: &Value) {
        let body = message.to_string();
        self.input.extend(format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes());
    }

    fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    fn request(&mut self, method: &str, params: Value) {
        self.requests += 1;
        let mut message = json!({"jsonrpc": "2.0", "id": self.requests, "method": method});
        if !params.is_null() {
            message["params"] = params;
        }
        self.send(&message);
    }

    fn start(&mut self) {
        let capabilities = json!({
            "general": {"positionEncodings": ["utf-8"]},
            "textDocument": {"completion": {"completionItem": {"snippetSupport": true}}},
        });
        self.request("initialize", json!({"processId": null, "capabilities": capabilities}));
        self.notify("initialized", json!({}));
    }

    fn play(&mut self, bytes: &mut Unstructured<'_>) -> Result<()> {
        while !bytes.is_empty() {
            let uri = *bytes.choose(&["file:///a.yaml", "file:///b.yaml"])?;
            let document = json!({"uri": uri});
            let place = json!({"line": bytes.int_in_range(0..=30)?, "character": bytes.int_in_range(0..=30)?});
            let other = json!({"line": bytes.int_in_range(0..=30)?, "character": bytes.int_in_range(0..=30)?});
            let range = json!({"start": place, "end": other});
            self.version += 1;
            match bytes.int_in_range(0..=9)? {
                0 => {
                    let text = llsd_fuzz::file(bytes)?;
                    let opened = json!({"uri": uri, "languageId": "yaml", "version": self.version, "text": text});
                    self.notify("textDocument/didOpen", json!({"textDocument": opened}));
                }
                1..=3 => {
                    let mut changes = Vec::new();
                    for _ in 0..bytes.int_in_range(1..=3)? {
                        let text = llsd_fuzz::text(bytes)?;
                        changes.push(if bytes.ratio(9, 10)? {
                            json!({"range": range, "text": text})
                        } else {
                            json!({"text": text})
                        });
                    }
                    let document = json!({"uri": uri, "version": self.version});
                    let params = json!({"textDocument": document, "contentChanges": changes});
                    self.notify("textDocument/didChange", params);
                }
                4 => self.notify("textDocument/didClose", json!({"textDocument": document})),
                5 => {
                    let context = json!({"diagnostics": []});
                    let params = json!({"textDocument": document, "range": range, "context": context});
                    self.request("textDocument/codeAction", params);
                }
                6 => {
                    let options = json!({"tabSize": bytes.int_in_range(0..=9)?, "insertSpaces": true});
                    let params = json!({"textDocument": document, "range": range, "options": options,
                        "position": place, "ch": "\n", "newName": "new", "positions": [place]});
                    let method = *bytes.choose(&[
                        "textDocument/formatting",
                        "textDocument/rangeFormatting",
                        "textDocument/onTypeFormatting",
                        "textDocument/selectionRange",
                        "textDocument/inlayHint",
                        "textDocument/rename",
                    ])?;
                    self.request(method, params);
                }
                7 => {
                    let id = bytes.int_in_range(0..=self.requests)?;
                    self.notify("$/cancelRequest", json!({"id": id}));
                }
                _ => {
                    let method = *bytes.choose(&REQUESTS)?;
                    let context = json!({"includeDeclaration": true, "triggerKind": 1});
                    let params = json!({"textDocument": document, "position": place, "context": context,
                        "query": "a", "uri": uri, "with": "base"});
                    self.request(method, params);
                }
            }
        }
        Ok(())
    }

    fn end(mut self) {
        self.request("shutdown", Value::Null);
        self.notify("exit", Value::Null);
        let output = Output::default();
        let _ = llsd::lsp::run_over(Cursor::new(self.input), output.clone());
        let mut answers: HashMap<i64, usize> = HashMap::new();
        for message in output.messages() {
            assert_ne!(message["error"]["code"], -32603, "{message}");
            if message.get("method").is_none()
                && let Some(id) = message["id"].as_i64()
            {
                *answers.entry(id).or_default() += 1;
            }
        }
        for id in 1..=self.requests {
            assert_eq!(answers.get(&id), Some(&1), "request {id}");
        }
    }
}

/// All bytes that the server wrote, to be read when the session has ended.
#[derive(Clone, Default)]
struct Output(Arc<Mutex<Vec<u8>>>);

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Output {
    fn messages(&self) -> Vec<Value> {
        let bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&bytes);
        let mut rest = &*text;
        let mut found = Vec::new();
        while let Some((head, behind)) = rest.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: ")?.trim().parse().ok());
            let Some(body) = length.and_then(|length: usize| behind.get(..length)) else { break };
            found.extend(serde_json::from_str::<Value>(body).ok());
            rest = &behind[body.len()..];
        }
        found
    }
}
