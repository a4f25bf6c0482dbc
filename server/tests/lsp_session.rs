//! A session under load, with faults, and to its end: what the server promises whatever the client does.

mod support;

use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use support::{Client, at, insert};

const URI: &str = "file:///w/resource.yaml";

fn resource(name: &str) -> String {
    format!(
        "apiVersion: llamastack.io/v1alpha2\nkind: LlamaStackDistribution\nmetadata:\n  name: {name}\nspec:\n  \
         distribution:\n    name: starter\n  providers:\n    inference:\n      - provider: vllm\n        \
         endpoint: http://vllm:8000/v1\n"
    )
}

/// A file of many resources: long to analyse.
fn large(count: usize) -> String {
    (0..count).map(|number| format!("---\n{}", resource(&format!("stack-{number}")))).collect()
}

/// An empty folder that goes away with this value.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("llsd-session-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }

    fn write(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(&path, text).expect("a file");
        format!("file://{}", path.display())
    }

    fn uri(&self) -> String {
        format!("file://{}", self.0.display())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn is_publication(message: &Value, uri: &str) -> bool {
    message["method"] == "textDocument/publishDiagnostics" && message["params"]["uri"] == uri
}

fn publication(client: &mut Client, uri: &str) -> Vec<Value> {
    let message = client.wait(|message| is_publication(message, uri));
    message["params"]["diagnostics"].as_array().expect("a list").clone()
}

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
    let mut command = support::llsd();
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

#[test]
fn files_that_are_not_open_have_diagnostics_too() {
    let folder = Folder::new("unopened");
    let wrong = resource("a").replace("provider: vllm", "provider: vlmm");
    let uri = folder.write("deep/a.yaml", &wrong);
    folder.write("b.yaml", &resource("b"));
    folder.write("c.yaml", "kind: Deployment\n");
    let mut client = Client::ready_with(&json!({}), &[&folder.0]).0;
    assert_eq!(publication(&mut client, &uri).len(), 1);
    // Mended on disk.
    folder.write("deep/a.yaml", &resource("a"));
    client.notify("workspace/didChangeWatchedFiles", json!({"changes": [{"uri": uri, "type": 2}]}));
    assert_eq!(publication(&mut client, &uri), Vec::<Value>::new());
    // Opened with a mistake that the file does not have, and closed again.
    client.open(&uri, &wrong);
    assert_eq!(client.diagnostics(&uri, 1).len(), 1);
    client.notify("textDocument/didClose", json!({"textDocument": {"uri": uri}}));
    assert_eq!(publication(&mut client, &uri), Vec::<Value>::new());
    // Another file with the mistake, and then its folder under another name.
    let created = folder.write("deep/d.yaml", &wrong);
    client.notify("workspace/didCreateFiles", json!({"files": [{"uri": created}]}));
    assert_eq!(publication(&mut client, &created).len(), 1);
    fs::rename(folder.0.join("deep"), folder.0.join("other")).expect("it can be renamed");
    let (old, new) = (format!("{}/deep", folder.uri()), format!("{}/other", folder.uri()));
    client.notify("workspace/didRenameFiles", json!({"files": [{"oldUri": old, "newUri": new}]}));
    assert_eq!(publication(&mut client, &created), Vec::<Value>::new());
    let moved = format!("{new}/d.yaml");
    assert_eq!(publication(&mut client, &moved).len(), 1);
    // And deleted.
    fs::remove_dir_all(folder.0.join("other")).expect("it can be deleted");
    client.notify("workspace/didDeleteFiles", json!({"files": [{"uri": new}]}));
    assert_eq!(publication(&mut client, &moved), Vec::<Value>::new());
}

#[test]
fn a_removed_folder_is_forgotten_and_a_new_one_looked_through() {
    let (one, two) = (Folder::new("one"), Folder::new("two"));
    let wrong = resource("a").replace("provider: vllm", "provider: vlmm");
    let (first, second) = (one.write("a.yaml", &wrong), two.write("a.yaml", &wrong));
    let watching = json!({"workspace": {"didChangeWatchedFiles": {
        "dynamicRegistration": true, "relativePatternSupport": true,
    }}});
    let mut client = Client::ready_with(&watching, &[&one.0]).0;
    assert_eq!(publication(&mut client, &first).len(), 1);
    let asked = client.wait(|message| message["method"] == "client/registerCapability");
    let pattern = &asked["params"]["registrations"][0]["registerOptions"]["watchers"][0]["globPattern"];
    assert_eq!(pattern["baseUri"], one.uri());
    client.respond(&asked, Value::Null);
    let folder = |folder: &Folder| json!({"uri": folder.uri(), "name": "x"});
    let event = json!({"added": [folder(&two)], "removed": [folder(&one)]});
    fs::remove_file(one.0.join("a.yaml")).expect("it is there");
    client.notify("workspace/didChangeWorkspaceFolders", json!({"event": event}));
    assert_eq!(publication(&mut client, &first), Vec::<Value>::new());
    assert_eq!(publication(&mut client, &second).len(), 1);
    let dropped = client.wait(|message| message["method"] == "client/unregisterCapability");
    client.respond(&dropped, Value::Null);
    let asked = client.wait(|message| message["method"] == "client/registerCapability");
    let pattern = &asked["params"]["registrations"][0]["registerOptions"]["watchers"][0]["globPattern"];
    assert_eq!(pattern["baseUri"], two.uri());
}

#[test]
fn what_one_file_says_counts_in_others() {
    let folder = Folder::new("facts");
    let key = "        apiKey:\n          secretKeyRef: {name: keys, key: token}\n";
    let user = folder.write("user.yaml", &format!("{}{key}", resource("a")));
    let secret =
        |key: &str| format!("apiVersion: v1\nkind: Secret\nmetadata:\n  name: keys\nstringData:\n  {key}: x\n");
    let keys = folder.write("keys.yaml", &secret("other"));
    let mut client = Client::ready_with(&json!({}), &[&folder.0]).0;
    let found = publication(&mut client, &user);
    assert_eq!(found.len(), 1, "{found:?}");
    // The Secret is edited; the file that refers to it is not open.
    client.open(&keys, &secret("token"));
    assert_eq!(publication(&mut client, &user), Vec::<Value>::new());
    // Now it is.
    client.open(&user, &format!("{}{key}", resource("a")));
    assert_eq!(client.diagnostics(&user, 1), Vec::<Value>::new());
    client.change(&keys, 2, json!([{"text": secret("nothing")}]));
    assert_eq!(publication(&mut client, &user).len(), 1);
}

fn answer_settings(client: &mut Client, settings: &[Value]) {
    let asked = client.wait(|message| message["method"] == "workspace/configuration");
    assert_eq!(asked["params"]["items"].as_array().map(Vec::len), Some(settings.len()), "{asked}");
    client.respond(&asked, json!(settings));
}

#[test]
fn settings_are_asked_for_each_folder_and_again_when_they_change() {
    let (one, two) = (Folder::new("set-one"), Folder::new("set-two"));
    let wrong = resource("a").replace("provider: vllm", "provider: vlmm");
    let (first, second) = (format!("{}/a.yaml", one.uri()), format!("{}/a.yaml", two.uri()));
    let capabilities = json!({"workspace": {
        "configuration": true, "didChangeConfiguration": {"dynamicRegistration": true},
    }});
    let mut client = Client::ready_with(&capabilities, &[&one.0, &two.0]).0;
    let asked = client.wait(|message| message["method"] == "client/registerCapability");
    assert_eq!(asked["params"]["registrations"][0]["method"], "workspace/didChangeConfiguration");
    let off = json!({"severity": {"llsd::provider::unknown-type": "hint"}});
    answer_settings(&mut client, &[json!(null), off, json!({})]);
    client.open(&first, &wrong);
    client.open(&second, &wrong);
    // Before the answer was read the first one may have been shown as an error.
    client.wait(|message| is_publication(message, &first) && message["params"]["diagnostics"][0]["severity"] == 4);
    client.wait(|message| is_publication(message, &second) && message["params"]["diagnostics"][0]["severity"] == 1);
    client.notify("workspace/didChangeConfiguration", json!({"settings": null}));
    answer_settings(&mut client, &[json!(null), json!({}), json!({"exclude": ["*.yaml"]})]);
    client.wait(|message| is_publication(message, &first) && message["params"]["diagnostics"][0]["severity"] == 1);
    client.wait(|message| is_publication(message, &second) && message["params"]["diagnostics"] == json!([]));
}

#[test]
fn settings_that_cannot_be_used_are_told_once() {
    let mut client = Client::start();
    let options = json!({"maxFileSize": "big", "exlude": ["a"]});
    client.request("initialize", json!({"processId": null, "capabilities": {}, "initializationOptions": options}));
    client.notify("initialized", json!({}));
    let told = client.wait(|message| message["method"] == "window/showMessage");
    assert_eq!(told["params"]["type"], 2);
    assert_eq!(
        told["params"]["message"],
        "llsd settings: llsd.maxFileSize: expected a whole number of bytes above 0, got \"big\"; the default is used\n\
         llsd.exlude: there is no such setting, did you mean llsd.exclude?"
    );
    client.notify("workspace/didChangeConfiguration", json!({"settings": {"llsd": options}}));
    client.notify("workspace/didChangeConfiguration", json!({"settings": {"llsd": {"maxFileSize": 0}}}));
    let told = client.wait(|message| message["method"] == "window/showMessage");
    let message = told["params"]["message"].as_str().expect("a message");
    assert!(message.starts_with("llsd settings: llsd.maxFileSize: ") && message.contains("got 0"), "{message}");
}

#[test]
fn an_assumed_version_makes_custom_images_known() {
    let text = resource("a").replace("name: starter", "image: registry.example.com/mine:1");
    let text = text.replace("provider: vllm", "provider: vlmm");
    for (version, count) in [(json!(null), 0), (json!("0.4.7"), 1)] {
        let mut client = Client::start();
        let options = json!({"llamaStackVersion": version});
        let params = json!({"processId": null, "capabilities": {}, "initializationOptions": options});
        client.request("initialize", params);
        client.notify("initialized", json!({}));
        client.open(URI, &text);
        let found = client.diagnostics(URI, 1);
        let unknown = found.iter().filter(|found| found["code"] == "llsd::provider::unknown-type").count();
        assert_eq!(unknown, count, "{found:?}");
    }
}

#[test]
fn long_looks_show_progress_and_can_be_cancelled() {
    let folder = Folder::new("progress");
    for number in 0..3000 {
        folder.write(&format!("{number}.yaml"), &large(3));
    }
    let capabilities = json!({"window": {"workDoneProgress": true}});
    let mut client = Client::ready_with(&capabilities, &[&folder.0]).0;
    let create = client.wait(|message| message["method"] == "window/workDoneProgress/create");
    let token = create["params"]["token"].clone();
    client.respond(&create, Value::Null);
    let progress = |kind: &'static str| {
        let token = token.clone();
        move |message: &Value| {
            message["method"] == "$/progress"
                && message["params"]["token"] == token
                && message["params"]["value"]["kind"] == kind
        }
    };
    let begin = client.wait(progress("begin"));
    assert_eq!(begin["params"]["value"]["cancellable"], true);
    client.notify("window/workDoneProgress/cancel", json!({"token": token}));
    let end = client.wait(progress("end"));
    assert_eq!(end["params"]["value"]["message"], "cancelled");
    // The session goes on.
    client.open(URI, &resource("a"));
    assert_eq!(client.diagnostics(URI, 1), Vec::<Value>::new());
}

fn pulling(folders: &[&Path]) -> Client {
    let mut client = Client::start();
    let folders: Vec<_> =
        folders.iter().map(|path| json!({"uri": format!("file://{}", path.display()), "name": "x"})).collect();
    let capabilities = json!({
        "textDocument": {"diagnostic": {}},
        "workspace": {"diagnostic": {"refreshSupport": true}, "diagnostics": {"refreshSupport": true}},
    });
    client.request(
        "initialize",
        json!({
            "processId": null, "capabilities": capabilities, "workspaceFolders": folders,
            "initializationOptions": {"diagnostics": "pull"},
        }),
    );
    client.notify("initialized", json!({}));
    client
}

#[test]
fn pulled_diagnostics_are_sent_once() {
    let folder = Folder::new("pull");
    let wrong = resource("a").replace("provider: vllm", "provider: vlmm");
    let file = folder.write("a.yaml", &wrong);
    let mut client = pulling(&[&folder.0]);
    client.open(URI, &wrong);
    let ask = |client: &mut Client, id: &Value| {
        client.request("textDocument/diagnostic", json!({"textDocument": {"uri": URI}, "previousResultId": id}))
    };
    let first = ask(&mut client, &Value::Null);
    assert_eq!((&first["kind"], first["items"].as_array().map(Vec::len)), (&json!("full"), Some(1)));
    let again = ask(&mut client, &first["resultId"]);
    assert_eq!(again, json!({"kind": "unchanged", "resultId": first["resultId"]}));
    client.change(URI, 2, json!([{"text": resource("a")}]));
    assert_eq!(ask(&mut client, &first["resultId"])["items"], json!([]));
    // The workspace: asked until the files have been looked at.
    let mut known = json!([]);
    let report = loop {
        let report = client.request("workspace/diagnostic", json!({"previousResultIds": known}));
        let items = report["items"].as_array().expect("items").clone();
        if let Some(item) = items.into_iter().find(|item| item["uri"] == file) {
            break item;
        }
    };
    assert_eq!(report["items"].as_array().map(Vec::len), Some(1), "{report}");
    known = json!([{"uri": file, "value": report["resultId"]}]);
    let again = client.request("workspace/diagnostic", json!({"previousResultIds": known}));
    assert_eq!(again["items"][0]["kind"], "unchanged", "{again}");
    fs::remove_file(folder.0.join("a.yaml")).expect("it is there");
    client.notify("workspace/didChangeWatchedFiles", json!({"changes": [{"uri": file, "type": 3}]}));
    loop {
        let report = client.request("workspace/diagnostic", json!({"previousResultIds": known}));
        if report["items"][0]["kind"] == "full" {
            assert_eq!(report["items"][0]["items"], json!([]));
            break;
        }
    }
    assert!(!client.leftovers().iter().any(|message| message["method"] == "textDocument/publishDiagnostics"));
}
