//! Clients that say what makes no sense, that say too much, or that do not listen.

use crate::support::{Client, URI, insert, large, resource};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::{self, Read, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

/// Methods that ask about a place.
const ASKING: [&str; 18] = [
    "textDocument/hover",
    "textDocument/completion",
    "textDocument/definition",
    "textDocument/implementation",
    "textDocument/references",
    "textDocument/documentHighlight",
    "textDocument/prepareRename",
    "textDocument/rename",
    "textDocument/codeAction",
    "textDocument/inlayHint",
    "textDocument/selectionRange",
    "textDocument/onTypeFormatting",
    "textDocument/rangeFormatting",
    "textDocument/semanticTokens/range",
    "textDocument/linkedEditingRange",
    "llsd/preview",
    "llsd/previewDiff",
    "llsd/version",
];

/// Whether an answer is a result, or says that the question was at fault: not the server.
fn is_in_order(answer: &Value) -> bool {
    answer.get("error").is_none_or(|error| matches!(error["code"].as_i64(), Some(-32602 | -32601 | -32803)))
}

#[test]
fn places_that_do_not_exist_hurt_nobody() {
    let mut client = Client::ready();
    client.open(URI, &resource("a"));
    let most = u32::MAX;
    let numbers = [json!(0), json!(9), json!(most), json!(u64::MAX), json!(-1), json!(1.5), json!("1"), Value::Null];
    for line in &numbers {
        for character in &numbers {
            let place = json!({"line": line, "character": character});
            // From behind to before, too.
            for end in [json!({"line": 0, "character": 0}), json!({"line": most, "character": most}), place.clone()] {
                let range = json!({"start": place, "end": end});
                let params = json!({
                    "textDocument": {"uri": URI}, "position": place, "positions": [place], "range": range,
                    "context": {"diagnostics": [], "includeDeclaration": true}, "newName": "b", "ch": "\n",
                    "options": {"tabSize": most, "insertSpaces": true}, "against": "base",
                });
                let asked: Vec<_> = ASKING.iter().map(|method| (method, client.ask(method, params.clone()))).collect();
                for (method, id) in asked {
                    let answer = client.answer(id);
                    assert!(is_in_order(&answer), "{method} {range}: {answer}");
                }
            }
        }
    }
    // Edits of places that are not there change what is at the nearest one, or nothing; what comes later counts.
    for (at, character) in numbers.iter().enumerate() {
        let place = json!({"line": character, "character": character});
        let change = json!([{"range": {"start": place, "end": {"line": 0, "character": 0}}, "text": "x"}]);
        client.change(URI, 2 + i32::try_from(at).unwrap(), change);
    }
    client.change(URI, 100, json!([{"text": resource("a")}]));
    assert_eq!(client.diagnostics(URI, 100), Vec::<Value>::new());
    assert!(client.shut_down().success());
}

#[test]
fn versions_and_names_that_make_no_sense_hurt_nobody() {
    let mut client = Client::ready();
    client.open(URI, &resource("a"));
    let names = [
        "",
        "a.yaml",
        "file:",
        "file://",
        "file:///",
        "file://host/a.yaml",
        "file:///%00",
        "file:///%ff/%zz",
        "data:,a",
        "untitled:a",
        "http://x/a.yaml",
        "llsd-preview:",
        "llsd-preview:/a?document=x&resource=-1&source=%",
        "\u{0}",
        "file:///../../etc/passwd",
        "file:///a b\nc",
    ];
    for name in names.map(str::to_owned).into_iter().chain([format!("file:///{}", "a/".repeat(20_000))]) {
        let document = json!({"uri": name, "languageId": "yaml", "version": 1, "text": resource("b")});
        client.notify("textDocument/didOpen", json!({"textDocument": document}));
        // Twice, and one that was never opened is closed.
        client.notify("textDocument/didOpen", json!({"textDocument": document}));
        for method in ASKING.into_iter().chain(["textDocument/documentSymbol", "workspace/textDocumentContent"]) {
            let params = json!({
                "textDocument": {"uri": name}, "uri": name, "position": {"line": 9, "character": 20}, "newName": name,
                "against": name,
            });
            let id = client.ask(method, params);
            let answer = client.answer(id);
            assert!(is_in_order(&answer), "{method} {name:?}: {answer}");
        }
        for method in ["textDocument/didClose", "textDocument/didClose", "textDocument/didSave"] {
            client.notify(method, json!({"textDocument": {"uri": name}}));
        }
        client.notify("workspace/didChangeWatchedFiles", json!({"changes": [{"uri": name, "type": 99}]}));
    }
    for version in [json!(-5), json!(0), json!(i64::MAX), json!(1.5), json!("2"), Value::Null] {
        let params = json!({"textDocument": {"uri": URI, "version": version}, "contentChanges": [insert(0, 0, "# ")]});
        client.notify("textDocument/didChange", params);
    }
    client.change(URI, 7, json!([{"text": resource("a")}]));
    assert_eq!(client.diagnostics(URI, 7), Vec::<Value>::new());
    assert!(client.shut_down().success());
}

#[test]
fn a_client_that_floods_is_answered_or_told_to_wait() {
    let mut client = Client::ready();
    client.open(URI, &large(50));
    let mut asked = BTreeSet::new();
    for number in 0..3_000 {
        client.change(URI, number + 2, json!([insert(0, 0, "# again\n")]));
        let place = json!({"textDocument": {"uri": URI}, "position": {"line": 9, "character": 3}});
        asked.insert(client.ask("textDocument/hover", place));
    }
    while !asked.is_empty() {
        let answer = client.wait(|message| message.get("method").is_none());
        assert!(asked.remove(&answer["id"].as_i64().unwrap()), "answered twice: {answer}");
        // The server is busy, or the document has changed meanwhile: ask again.
        let code = answer["error"]["code"].as_i64();
        assert!(matches!(code, None | Some(-32802 | -32801)), "{answer}");
    }
    client.change(URI, 5_000, json!([{"text": resource("a")}]));
    assert_eq!(client.diagnostics(URI, 5_000), Vec::<Value>::new());
    assert!(client.shut_down().success());
}

/// Whether it listens by now, and what it has heard.
type State = (bool, Vec<u8>);

/// A client's end of the connection that does not listen until it is told to.
#[derive(Clone)]
struct Deaf(Arc<(Mutex<State>, Condvar)>);

impl Write for Deaf {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let (state, listens) = &*self.0;
        let mut state = listens.wait_while(state.lock().unwrap(), |(listens, _)| !*listens).unwrap();
        state.1.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Messages that are asked for one at a time, and tell of it.
struct Asking {
    left: u32,
    current: io::Cursor<Vec<u8>>,
    taken: Sender<u32>,
}

impl Read for Asking {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.current.read(buffer)?;
            if read > 0 || self.left == 0 {
                return Ok(read);
            }
            let body = json!({"jsonrpc": "2.0", "id": self.left, "method": "unknown/request"}).to_string();
            self.current = io::Cursor::new(format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes());
            let _ = self.taken.send(self.left);
            self.left -= 1;
        }
    }
}

/// How many messages were taken until none was for a while.
fn settled(taken: &Receiver<u32>) -> u32 {
    let mut count = 0;
    while taken.recv_timeout(Duration::from_secs(2)).is_ok() {
        count += 1;
    }
    count
}

#[test]
fn a_client_that_does_not_listen_is_not_listened_to() {
    const ALL: u32 = 100_000;
    let (taken, counted) = channel();
    let deaf = Deaf(Arc::new((Mutex::new((false, Vec::new())), Condvar::new())));
    let output = deaf.clone();
    let input = Asking { left: ALL, current: io::Cursor::default(), taken };
    let serving = thread::spawn(move || llsd::lsp::run_over(input, output));
    // Otherwise all answers would be held in memory until somebody takes them.
    let before = settled(&counted);
    assert!(before < ALL / 2, "{before} messages were taken in");
    let (state, listens) = &*deaf.0;
    state.lock().unwrap().0 = true;
    listens.notify_all();
    let _ = serving.join().unwrap();
    let answers = String::from_utf8(std::mem::take(&mut state.lock().unwrap().1)).unwrap();
    assert_eq!(answers.matches("Content-Length").count(), ALL as usize);
}
