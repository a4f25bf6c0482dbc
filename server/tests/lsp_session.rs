//! A session under load, with faults, and to its end: what the server promises whatever the client does.

use crate::support::{Client, Folder, URI, at, insert, is_publication, large, publication, resource};
use serde_json::{Value, json};
use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

fn hover(uri: &str) -> Value {
    json!({"textDocument": {"uri": uri}, "position": at(9, 20)})
}

#[test]
fn every_answer_belongs_to_the_version_before_its_question() {
    let mut client = Client::ready();
    client.open(URI, &resource("v1"));
    let mut asked = Vec::new();
    for version in 2..=1000 {
        let whole = json!({"text": resource(&format!("v{version}"))});
        // Every other change comes as a piece.
        if version % 2 == 0 {
            client.change(URI, version, json!([whole]));
        } else {
            let name = json!({"range": {"start": at(3, 8), "end": at(3, 80)}, "text": format!("v{version}")});
            client.change(URI, version, json!([name]));
        }
        if version % 10 == 0 {
            asked.push((version, client.ask("llsd/preview", json!({"textDocument": {"uri": URI}}))));
            asked.push((-version, client.ask("textDocument/documentSymbol", json!({"textDocument": {"uri": URI}}))));
        }
    }
    for (version, id) in asked {
        let answer = client.answer(id);
        if version > 0 {
            assert_eq!(answer["result"]["version"], version);
            assert_eq!(answer["result"]["name"], format!("v{version}"));
        } else {
            assert_eq!(answer["result"][0]["name"], format!("v{}", -version));
        }
    }
    assert_eq!(client.diagnostics(URI, 1000), Vec::<Value>::new());
    let published: Vec<_> =
        client.leftovers().iter().filter_map(|message| message["params"]["version"].as_i64()).collect();
    assert!(published.is_sorted(), "{published:?}");
}

#[test]
fn nothing_is_published_for_a_version_that_is_gone() {
    let mut client = Client::ready();
    client.open(URI, &large(200));
    let mut last = 1;
    for version in 2..60 {
        client.change(URI, version, json!([insert(2, 0, "# x\n")]));
        last = version;
        // Whatever arrives until the next change was sent for the version before it, or is late; never earlier than
        // one already shown.
        client.request("textDocument/hover", hover("file:///w/none.yaml"));
    }
    client.diagnostics(URI, last);
    let shown: Vec<_> = client.leftovers().iter().filter_map(|message| message["params"]["version"].as_i64()).collect();
    assert!(shown.is_sorted() && shown.iter().all(|version| *version < i64::from(last)), "{shown:?}");
    // And after the last one: silence.
    assert_eq!(client.try_wait(Duration::from_millis(300), |message| is_publication(message, URI)), None);
}

/// Processor time of a process so far, in clock ticks.
#[cfg(target_os = "linux")]
fn ticks(process: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).expect("it runs");
    let fields: Vec<_> = stat.rsplit_once(')').expect("a name").1.split_whitespace().collect();
    fields[11].parse::<u64>().expect("a number") + fields[12].parse::<u64>().expect("a number")
}

#[test]
#[cfg(target_os = "linux")]
fn cancelling_stops_the_work() {
    let text = large(300);
    let mut client = Client::ready();
    client.open(URI, &text);
    client.diagnostics(URI, 1);
    let whole = ticks(client.process_id());
    assert!(client.shut_down().success());

    let mut client = Client::ready();
    client.open(URI, &text);
    let id = client.ask("textDocument/documentSymbol", json!({"textDocument": {"uri": URI}}));
    client.notify("$/cancelRequest", json!({"id": id}));
    client.notify("textDocument/didClose", json!({"textDocument": {"uri": URI}}));
    assert_eq!(client.answer(id)["error"]["code"], -32800);
    // The process idles: two looks at its clock see the same time.
    let mut before = u64::MAX;
    loop {
        let now = ticks(client.process_id());
        if now == before {
            break;
        }
        before = now;
        std::thread::sleep(Duration::from_millis(200));
    }
    assert!(before * 2 < whole, "{before} ticks with cancelling, {whole} without");
    assert_eq!(client.request("textDocument/hover", hover(URI)), Value::Null);
    assert!(client.shut_down().success());
}

#[test]
#[cfg(debug_assertions)]
fn a_panic_fails_its_request_only() {
    let mut client = Client::ready();
    client.open(URI, &resource("a"));
    let waiting = client.ask("textDocument/hover", hover(URI));
    for params in [json!({}), json!({"textDocument": {"uri": URI}})] {
        let id = client.ask("llsd/panic", params);
        let error = client.answer(id)["error"].clone();
        assert_eq!(error["code"], -32603, "{error}");
        assert_eq!(error["message"], "llsd failed on llsd/panic; its log says more");
    }
    assert!(client.answer(waiting)["result"].is_object());
    assert!(client.request("textDocument/hover", hover(URI)).is_object());
    client.change(URI, 2, json!([insert(9, 22, "x")]));
    assert_eq!(client.diagnostics(URI, 2).len(), 1);
    assert!(client.shut_down().success());
}

#[test]
#[cfg(debug_assertions)]
fn a_panic_is_logged() {
    let mut command = crate::support::llsd();
    let mut process = command
        .arg("lsp")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let initialize = json!({"processId": null, "capabilities": {}});
    let messages = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "llsd/panic", "params": {}}),
    ];
    let mut input = process.stdin.take().expect("stdin is piped");
    for message in messages {
        let body = message.to_string();
        use std::io::Write as _;
        write!(input, "Content-Length: {}\r\n\r\n{body}", body.len()).expect("the server reads");
    }
    drop(input);
    let log = String::from_utf8(process.wait_with_output().expect("it ends").stderr).expect("text");
    assert!(log.contains("a handler panicked") && log.contains("asked to, in a handler"), "{log}");
}

#[test]
fn a_silent_client_is_served() {
    let folder = Folder::new("silent");
    let uri = folder.write("a.yaml", &resource("a").replace("vllm\n", "vlmm\n"));
    let capabilities = json!({
        "workspace": {
            "configuration": true,
            "didChangeWatchedFiles": {"dynamicRegistration": true},
            "didChangeConfiguration": {"dynamicRegistration": true},
        },
        "window": {"workDoneProgress": true},
    });
    // It is asked for settings, for watching, and for progress, and answers nothing.
    let mut client = Client::ready_with(&capabilities, &[&folder.0]).0;
    client.open(URI, &resource("b"));
    assert_eq!(client.diagnostics(URI, 1), Vec::<Value>::new());
    assert_eq!(publication(&mut client, &uri).len(), 1);
    assert!(client.shut_down().success());
}

#[test]
fn a_server_does_not_outlive_its_editor() {
    // An editor that dies, while something else keeps the connection open.
    let mut editor = Command::new("sleep").arg("1000").spawn().expect("sleep runs");
    let mut client = Client::start();
    client.request("initialize", json!({"processId": editor.id(), "capabilities": {}}));
    client.notify("initialized", json!({}));
    assert_eq!(client.request("textDocument/hover", hover(URI)), Value::Null);
    editor.kill().expect("it runs");
    editor.wait().expect("it was ours");
    assert_eq!(client.end().code(), Some(1));
}

#[test]
fn the_trace_says_what_arrives() {
    let mut client = Client::ready();
    client.notify("$/setTrace", json!({"value": "messages"}));
    client.request("textDocument/hover", hover(URI));
    let said = client.wait(|message| message["method"] == "$/logTrace");
    assert_eq!(said["params"], json!({"message": "llsd got the request textDocument/hover"}));
    client.notify("$/setTrace", json!({"value": "off"}));
    client.request("textDocument/hover", hover(URI));
    let said = client.leftovers().into_iter().filter(|message| message["method"] == "$/logTrace");
    let said: Vec<_> = said.map(|message| message["params"]["message"].clone()).collect();
    assert_eq!(said, ["llsd got the notification $/setTrace"], "the one that turned it off");
}

#[test]
fn one_file_is_one_document_however_it_is_spelled() {
    let mut client = Client::ready();
    let spelled = "file:///w/%61%20b.yaml";
    client.open(spelled, &resource("a"));
    assert_eq!(client.diagnostics(spelled, 1), Vec::<Value>::new());
    client.change("file:///w/a%20b.yaml", 2, json!([insert(9, 22, "x")]));
    assert_eq!(client.diagnostics(spelled, 2).len(), 1, "as it was opened");
    let preview = client.request("llsd/preview", json!({"textDocument": {"uri": "file:///w/a%20b.yaml"}}));
    assert_eq!(preview["version"], 2);
}
