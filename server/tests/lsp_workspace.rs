//! Files, folders and settings of a workspace, as a client meets them: what is not open counts too.

use crate::support::{Client, Folder, URI, is_publication, large, publication, resource};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

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
    let created = folder.write("deep/d.yaml", &wrong.replace("name: a", "name: d"));
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

/// The code, severity and related places of each diagnostic: `code severity file:line`.
fn told(found: &[Value]) -> Vec<String> {
    let one = |found: &Value| {
        let mut text = format!("{} {}", found["code"].as_str().unwrap(), found["severity"]);
        for related in found["relatedInformation"].as_array().into_iter().flatten() {
            let uri = related["location"]["uri"].as_str().unwrap();
            let file = uri.rsplit('/').next().unwrap();
            text.push_str(&format!(" {file}:{}", related["location"]["range"]["start"]["line"]));
        }
        text
    };
    found.iter().map(one).collect()
}

/// Waits until this is all that is said of a file.
fn until_told(client: &mut Client, uri: &str, expected: &str) {
    client.wait(|message| {
        is_publication(message, uri)
            && told(message["params"]["diagnostics"].as_array().unwrap()) == [expected.to_owned()]
    });
}

#[test]
fn a_name_that_two_files_have_points_at_the_other() {
    let folder = Folder::new("namesakes");
    let (a, b) = (folder.write("k/a.yaml", &resource("x")), folder.write("k/b c.yaml", &resource("other")));
    let b = b.replace(' ', "%20");
    let mut client = Client::ready_with(&json!({}), &[&folder.0]).0;
    client.open(&a, &resource("x"));
    assert_eq!(client.diagnostics(&a, 1), Vec::<Value>::new());
    // a kustomization that is not saved yet lists both
    let kustomization = format!("{}/k/kustomization.yaml", folder.uri());
    let both = "resources:\n- a.yaml\n- b c.yaml\n";
    client.open(&kustomization, both);
    // the other one is edited on disk, and still not open
    folder.write("k/b c.yaml", &format!("# a line more\n{}", resource("x")));
    client.notify("workspace/didChangeWatchedFiles", json!({"changes": [{"uri": b, "type": 2}]}));
    let together = "llsd::metadata::duplicate 1";
    until_told(&mut client, &a, &format!("{together} b%20c.yaml:4"));
    until_told(&mut client, &b, &format!("{together} a.yaml:3"));
    // it lists one of them, and both again
    client.leftovers();
    client.change(&kustomization, 2, json!([{"text": "resources:\n- a.yaml\n"}]));
    assert_eq!(told(&publication(&mut client, &a)), Vec::<String>::new());
    client.change(&kustomization, 3, json!([{"text": both}]));
    until_told(&mut client, &a, &format!("{together} b%20c.yaml:4"));
    until_told(&mut client, &b, &format!("{together} a.yaml:3"));
    // both open, and lines come above one of them: the other hears of it when it is shown anew
    client.open(&b, &resource("x"));
    assert_eq!(told(&client.diagnostics(&b, 1)), [format!("{together} a.yaml:3")]);
    client.change(&a, 2, json!([{"text": format!("#\n#\n{}", resource("x"))}]));
    assert_eq!(told(&client.diagnostics(&a, 2)), [format!("{together} b%20c.yaml:3")]);
    client.change(&b, 2, json!([{"text": format!("#\n{}", resource("x"))}]));
    assert_eq!(told(&client.diagnostics(&b, 2)), [format!("{together} a.yaml:5")]);
    // another name
    client.change(&b, 3, json!([{"text": resource("other")}]));
    assert_eq!(told(&client.diagnostics(&b, 3)), Vec::<String>::new());
    assert_eq!(told(&publication(&mut client, &a)), Vec::<String>::new());
}

#[test]
fn a_name_twice_in_a_file_points_at_the_other_line() {
    let mut client = Client::ready();
    let text = format!("{}---\n{}", resource("x"), resource("x"));
    client.open(URI, &text);
    let duplicate = "llsd::metadata::duplicate 1 resource.yaml";
    assert_eq!(told(&client.diagnostics(URI, 1)), [format!("{duplicate}:15"), format!("{duplicate}:3")]);
    // between the two: what was said about the first one has moved
    client.change(URI, 2, json!([crate::support::insert(11, 0, "#\n#\n")]));
    assert_eq!(told(&client.diagnostics(URI, 2)), [format!("{duplicate}:17"), format!("{duplicate}:3")]);
}

#[test]
fn kustomizations_follow_files_that_get_another_name() {
    let folder = Folder::new("moved");
    let base = "resources:\n  - stack.yaml # ours\n  - ./other.yaml\npatches:\n  - path: \"stack.yaml\"\nconfigMapGenerator:\n  \
                - name: x\n    files: [key=stack.yaml]\n";
    let overlay = "resources: [../base]\n";
    let (stack, base_uri) =
        (folder.write("base/stack.yaml", &resource("x")), folder.write("base/kustomization.yaml", base));
    let overlay_uri = folder.write("prod/kustomization.yaml", overlay);
    let able = json!({"workspace": {"workspaceEdit": {"documentChanges": true}}});
    let (mut client, answer) = Client::ready_with(&able, &[&folder.0]);
    let filters = &answer["capabilities"]["workspace"]["fileOperations"]["willRename"]["filters"];
    assert_eq!(filters.as_array().map(Vec::len), Some(2), "{answer}");
    let ask = |client: &mut Client, old: &str, new: &str| {
        client.request("workspace/willRenameFiles", json!({"files": [{"oldUri": old, "newUri": new}]}))
    };
    let edit = loop {
        // until the files were found
        let edit = ask(&mut client, &stack, &format!("{}/base/deep/a%20b.yaml", folder.uri()));
        if !edit.is_null() {
            break edit;
        }
    };
    let changes = edit["documentChanges"].as_array().unwrap();
    assert_eq!(changes.len(), 1, "{edit}");
    assert_eq!(changes[0]["textDocument"], json!({"uri": base_uri, "version": null}));
    let new = crate::support::edited(base, changes[0]["edits"].as_array().unwrap());
    let expected = base.replace("\"stack.yaml\"", "deep/a b.yaml").replace("- stack.yaml", "- deep/a b.yaml");
    assert_eq!(new, expected.replace("key=stack.yaml", "key=deep/a b.yaml"));
    // a folder, with the text that is on the screen
    client.open(&overlay_uri, &format!("#\n{overlay}"));
    let edit = ask(&mut client, &format!("{}/base", folder.uri()), &format!("{}/bases/one", folder.uri()));
    let change = &edit["documentChanges"][0];
    assert_eq!(change["textDocument"], json!({"uri": overlay_uri, "version": 1}), "{edit}");
    assert_eq!(
        crate::support::edited(&format!("#\n{overlay}"), change["edits"].as_array().unwrap()),
        "#\nresources: [../bases/one]\n"
    );
    assert_eq!(ask(&mut client, &format!("{}/none.yaml", folder.uri()), &stack), Value::Null);
}
