//! The bytes of a connection: headers that are none, messages that are no messages, and messages whose positions,
//! versions and names make no sense. The server ends when the stream does, writes whole messages only, and no request
//! fails inside it.

#![no_main]

use arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};
use std::io::{Cursor, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// Methods of every kind, and some that do not exist.
const METHODS: [&str; 16] = [
    "initialize",
    "initialized",
    "textDocument/didOpen",
    "textDocument/didChange",
    "textDocument/didClose",
    "textDocument/didSave",
    "textDocument/completion",
    "textDocument/rename",
    "textDocument/inlayHint",
    "textDocument/codeAction",
    "workspace/didChangeConfiguration",
    "workspace/didChangeWatchedFiles",
    "workspace/executeCommand",
    "llsd/preview",
    "$/cancelRequest",
    "shutdown",
];

/// Names of documents, most of them none.
const URIS: [&str; 10] = [
    "file:///a.yaml",
    "file:///a%2Eyaml",
    "file:///c%3A/a.yaml",
    "file://host/a.yaml",
    "untitled:a",
    "llsd-preview:/a/config.yaml?document=0&resource=0&source=file:///a.yaml",
    "data:,a",
    "a.yaml",
    "",
    "file:///\u{0}%00/%ff",
];

fuzz_target!(|data: &[u8]| {
    let mut bytes = Unstructured::new(data);
    let mut input = Vec::new();
    let _ = play(&mut bytes, &mut input);
    let output = Output::default();
    let _ = llsd::lsp::run_over(Cursor::new(input), output.clone());
    output.check();
});

fn play(bytes: &mut Unstructured<'_>, input: &mut Vec<u8>) -> Result<()> {
    while !bytes.is_empty() {
        let body = match bytes.int_in_range(0..=5)? {
            0 => {
                let length = bytes.int_in_range(0..=40)?;
                bytes.bytes(length.min(bytes.len()))?.to_vec()
            }
            _ => message(bytes)?.to_string().into_bytes(),
        };
        match bytes.int_in_range(0..=9)? {
            0 => input.extend_from_slice(&body),
            1 => write(input, &format!("Content-Length: {}\r\n\r\n", bytes.arbitrary::<u64>()?), &body),
            2 => write(input, &format!("Content-Type: x\r\ncontent-length:{}\n\n", body.len()), &body),
            _ => write(input, &format!("Content-Length: {}\r\n\r\n", body.len()), &body),
        }
    }
    Ok(())
}

fn write(input: &mut Vec<u8>, header: &str, body: &[u8]) {
    input.extend_from_slice(header.as_bytes());
    input.extend_from_slice(body);
}

fn message(bytes: &mut Unstructured<'_>) -> Result<Value> {
    let number = |bytes: &mut Unstructured<'_>| -> Result<Value> {
        Ok(match bytes.int_in_range(0..=4)? {
            0 => json!(bytes.arbitrary::<i64>()?),
            1 => json!(u32::MAX),
            2 => json!(-1),
            3 => Value::Null,
            _ => json!(bytes.int_in_range(0..=20)?),
        })
    };
    let uri = *bytes.choose(&URIS)?;
    let place = json!({"line": number(bytes)?, "character": number(bytes)?});
    let range = json!({"start": place, "end": {"line": number(bytes)?, "character": number(bytes)?}});
    let document =
        json!({"uri": uri, "languageId": "yaml", "version": number(bytes)?, "text": llsd_fuzz::text(bytes)?});
    let params = json!({
        "textDocument": document, "position": place, "range": range, "capabilities": {}, "command": "llsd.migrate",
        "contentChanges": [{"range": range, "text": llsd_fuzz::text(bytes)?}], "context": {"diagnostics": []},
        "changes": [{"uri": uri, "type": number(bytes)?}], "arguments": [uri, number(bytes)?], "newName": uri,
        "settings": {"llsd": number(bytes)?}, "id": number(bytes)?, "document": number(bytes)?, "fold": true,
        "initializationOptions": number(bytes)?,
    });
    let mut message = json!({"jsonrpc": "2.0", "method": bytes.choose(&METHODS)?, "params": params});
    if bytes.arbitrary()? {
        message["id"] = number(bytes)?;
    }
    if bytes.ratio(1, 16)? {
        message["params"] = number(bytes)?;
    }
    Ok(message)
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
    /// Every byte belongs to a message, and no message says that the server is at fault.
    fn check(&self) {
        let bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut rest = std::str::from_utf8(&bytes).expect("text");
        while !rest.is_empty() {
            let (head, behind) = rest.split_once("\r\n\r\n").expect("a header");
            let length: usize =
                head.strip_prefix("Content-Length: ").and_then(|text| text.parse().ok()).expect("a length");
            let message: Value = serde_json::from_str(&behind[..length]).expect("JSON");
            assert_ne!(message["error"]["code"], -32603, "{message}");
            rest = &behind[length..];
        }
    }
}
