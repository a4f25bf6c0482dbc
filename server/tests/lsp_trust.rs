//! What neither a workspace nor a client may bring about, and clients that differ from others.

use crate::support::{Client, Folder, publication, resource};
use serde_json::{Value, json};
use std::fs;

fn wrong(name: &str) -> String {
    resource(name).replace("provider: vllm", "provider: vlmm")
}

#[test]
fn an_untrusted_workspace_asks_no_cluster() {
    for (untrusted, said) in [(true, "The workspace is not trusted"), (false, "The cluster could not be asked")] {
        // a program that is not there, so that nobody can be asked in either case
        let options =
            json!({"untrusted": untrusted, "llsd": {"cluster": {"enabled": true, "kubectl": "/no/such/kubectl"}}});
        let mut client = Client::start();
        client.request("initialize", json!({"processId": null, "capabilities": {}, "initializationOptions": options}));
        client.notify("initialized", json!({}));
        client.open("file:///a.yaml", &resource("a"));
        let which = json!({"textDocument": {"uri": "file:///a.yaml"}, "against": "cluster"});
        let asked = client.ask("llsd/previewDiff", which);
        let answer = client.answer(asked);
        assert!(answer["error"]["message"].as_str().unwrap().starts_with(said), "{answer}");
    }
}

#[test]
fn diagnostics_go_away_under_the_name_that_the_client_used() {
    let folder = Folder::new("spelling");
    let plain = folder.write("a+b (x).yaml", &wrong("a"));
    let spelled = format!("{}/a%2Bb%20%28x%29.yaml", folder.uri());
    let mut client = Client::ready_with(&json!({}), &[]).0;
    client.open(&spelled, &wrong("a"));
    assert_eq!(publication(&mut client, &spelled).len(), 1);
    client.notify("textDocument/didClose", json!({"textDocument": {"uri": spelled}}));
    assert_eq!(publication(&mut client, &spelled), Vec::<Value>::new(), "first under the client's name");
    let again = client.wait(|message| message["method"] == "textDocument/publishDiagnostics");
    assert_ne!(again["params"]["uri"], json!(spelled), "{plain}");
    assert_eq!(again["params"]["diagnostics"].as_array().unwrap().len(), 1, "then that of the file");
}

#[test]
fn a_folder_that_is_deleted_elsewhere_takes_its_diagnostics_along() {
    let folder = Folder::new("deleted");
    let (one, two) = (folder.write("deep/er/a.yaml", &wrong("a")), folder.write("deeper.yaml", &wrong("b")));
    let watching = json!({"workspace": {"didChangeWatchedFiles": {"dynamicRegistration": true}}});
    let mut client = Client::ready_with(&watching, &[&folder.0]).0;
    let asked = client.wait(|message| message["method"] == "client/registerCapability");
    let watchers = asked["params"]["registrations"][0]["registerOptions"]["watchers"].as_array().unwrap().clone();
    client.respond(&asked, Value::Null);
    assert!(watchers.contains(&json!({"globPattern": "**/*", "kind": 4})), "{watchers:?}");
    assert_eq!((publication(&mut client, &one).len(), publication(&mut client, &two).len()), (1, 1));
    fs::remove_dir_all(folder.0.join("deep")).unwrap();
    let gone = format!("{}/deep", folder.uri());
    client.notify("workspace/didChangeWatchedFiles", json!({"changes": [{"uri": gone, "type": 3}]}));
    assert_eq!(publication(&mut client, &one), Vec::<Value>::new());
}

#[test]
fn offers_of_several_lines_are_indented_for_clients_that_do_not() {
    let text = "apiVersion: llamastack.io/v1alpha2\nkind: LlamaStackDistribution\nmetadata:\n  name: a\nspec:\n  distribution:\n    \
                name: starter\n  providers:\n    inference:\n      - provider: openai\n        apiK\n";
    for (can, expected) in [
        (json!({"snippetSupport": true}), "apiKey:\n          secretKeyRef:\n"),
        (
            json!({"snippetSupport": true, "insertTextModeSupport": {"valueSet": [1]}}),
            "apiKey:\n          secretKeyRef:\n",
        ),
        (json!({"snippetSupport": true, "insertTextModeSupport": {"valueSet": [1, 2]}}), "apiKey:\n  secretKeyRef:\n"),
    ] {
        let capabilities = json!({"textDocument": {"completion": {"completionItem": can}}});
        let mut client = Client::ready_with(&capabilities, &[]).0;
        client.open("file:///a.yaml", text);
        let place = json!({"textDocument": {"uri": "file:///a.yaml"}, "position": {"line": 10, "character": 12}});
        let answer = client.request("textDocument/completion", place);
        let items = answer["result"].as_array().or_else(|| answer.as_array()).unwrap().clone();
        let item = items.iter().find(|item| item["label"] == "apiKey").unwrap();
        let new = item["textEdit"]["newText"].as_str().unwrap();
        assert!(new.starts_with(expected), "{new:?}");
    }
}

#[cfg(unix)]
#[test]
fn links_out_of_the_workspace_and_pipes_are_left_alone() {
    use std::os::unix::fs::symlink;
    let (outside, folder) = (Folder::new("outside"), Folder::new("inside"));
    outside.write("secret.yaml", &wrong("outside"));
    let own = folder.write("a.yaml", &wrong("a"));
    symlink(outside.0.join("secret.yaml"), folder.0.join("link.yaml")).unwrap();
    symlink(&outside.0, folder.0.join("folder")).unwrap();
    symlink("/dev/zero", folder.0.join("zero.yaml")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(folder.0.join("pipe.yaml")).status().unwrap().success());
    let mut client = Client::ready_with(&json!({}), &[&folder.0]).0;
    assert_eq!(publication(&mut client, &own).len(), 1);
    // told by a watcher, too
    let changes: Vec<_> = ["link.yaml", "zero.yaml", "pipe.yaml", "folder/secret.yaml", "a.yaml"]
        .iter()
        .map(|name| json!({"uri": format!("{}/{name}", folder.uri()), "type": 2}))
        .collect();
    folder.write("a.yaml", &resource("a"));
    client.notify("workspace/didChangeWatchedFiles", json!({"changes": changes}));
    assert_eq!(publication(&mut client, &own), Vec::<Value>::new());
    let others = client.leftovers();
    assert!(others.iter().all(|message| message["method"] != "textDocument/publishDiagnostics"), "{others:?}");
}

/// A repository can hold a link to a device under any name.
#[cfg(unix)]
#[test]
fn rules_of_git_that_are_no_file_hold_nobody_up() {
    let folder = Folder::new("rules");
    let own = folder.write("a.yaml", &wrong("a"));
    let (zero, pipe) = (folder.write("zero/b.yaml", &wrong("b")), folder.write("pipe/c.yaml", &wrong("c")));
    std::os::unix::fs::symlink("/dev/zero", folder.0.join("zero/.gitignore")).unwrap();
    let mkfifo = |name: &str| std::process::Command::new("mkfifo").arg(folder.0.join(name)).status().unwrap().success();
    assert!(mkfifo("pipe/.gitignore") && mkfifo("saved.yaml"));
    let mut client = Client::ready_with(&json!({}), &[&folder.0]).0;
    assert_eq!(publication(&mut client, &own).len(), 1);
    folder.write("a.yaml", &resource("a"));
    let changes: Vec<_> = [&zero, &pipe, &own].map(|uri| json!({"uri": uri, "type": 2})).into();
    client.notify("workspace/didChangeWatchedFiles", json!({"changes": changes}));
    assert_eq!(publication(&mut client, &own), Vec::<Value>::new());
    // Nor does a pipe that takes the place of a file that is open.
    let saved = format!("{}/saved.yaml", folder.uri());
    client.open(&saved, &resource("saved"));
    let asked = client.ask("llsd/previewDiff", json!({"textDocument": {"uri": saved}, "against": "saved"}));
    let answer = client.answer(asked);
    assert!(answer["error"]["message"].as_str().unwrap().contains("no regular file"), "{answer}");
}

#[test]
fn a_project_decides_in_the_editor_as_on_the_command_line() {
    let folder = Folder::new("project");
    folder.write("llsd.toml", "exclude = [\"old/\"]\n[severity]\n\"llsd::provider::unknown-type\" = \"hint\"\n");
    let (one, two) = (folder.write("a.yaml", &wrong("a")), folder.write("old/b.yaml", &wrong("b")));
    let mut client = Client::ready_with(&json!({}), &[&folder.0]).0;
    let found = publication(&mut client, &one);
    assert_eq!(found[0]["severity"], 4, "{found:?}");
    client.open(&two, &wrong("b"));
    assert_eq!(client.diagnostics(&two, 1), Vec::<Value>::new());
    let toml = folder.write("llsd.toml", "[severity]\n\"llsd::provider::unknown-type\" = \"warning\"\n");
    client.notify("workspace/didChangeWatchedFiles", json!({"changes": [{"uri": toml, "type": 2}]}));
    assert_eq!(publication(&mut client, &one)[0]["severity"], 2);
    let toml = folder.write("llsd.toml", "severty = 1\n");
    client.notify("workspace/didChangeWatchedFiles", json!({"changes": [{"uri": toml, "type": 2}]}));
    let told = client.wait(|message| message["method"] == "window/showMessage");
    let text = told["params"]["message"].as_str().unwrap();
    assert!(text.contains("llsd.toml:1:1: unknown field `severty`"), "{text}");
}

#[test]
fn base_configs_of_a_project_count_in_the_editor_and_are_read_again_when_they_change() {
    let folder = Folder::new("bases");
    let config = |id: &str| {
        format!(
            "version: 2\napis: [inference]\nproviders:\n  inference:\n  - {{provider_id: {id}, provider_type: \"remote::openai\", config: {{}}}}\n"
        )
    };
    folder.write("llsd.toml", "[bases]\n\"quay.io/example/stack:0.4.7\" = \"ours.yaml\"\n");
    let base = folder.write("ours.yaml", &config("ours"));
    let stack = "apiVersion: llamastack.io/v1alpha2\nkind: LlamaStackDistribution\nmetadata: {name: own}\nspec:\n  \
                 distribution: {image: \"quay.io/example/stack:0.4.7\"}\n  resources: {models: [{name: a, provider: ours}]}\n";
    let uri = folder.write("a.yaml", stack);
    let mut client = Client::ready_with(&json!({}), &[&folder.0]).0;
    client.open(&uri, stack);
    assert_eq!(client.diagnostics(&uri, 1), Vec::<Value>::new());
    let which = json!({"textDocument": {"uri": uri}, "against": "base"});
    let answer = client.request("llsd/previewDiff", which);
    let answer = answer.get("result").unwrap_or(&answer);
    assert!(answer["left"]["text"].as_str().unwrap().contains("provider_id: ours"), "{answer}");
    let asked = json!({"textDocument": {"uri": uri}, "position": {"line": 5, "character": 46}});
    let hover = client.request("textDocument/hover", asked).to_string();
    assert!(hover.contains("remote::openai"), "{hover}");
    folder.write("ours.yaml", &config("theirs"));
    client.notify("workspace/didChangeWatchedFiles", json!({"changes": [{"uri": base, "type": 2}]}));
    assert_eq!(publication(&mut client, &uri)[0]["code"], "llsd::model::unknown-provider");
    // One that is gone is told, and looked for again.
    std::fs::remove_file(folder.0.join("ours.yaml")).expect("a file");
    client.notify("workspace/didChangeWatchedFiles", json!({"changes": [{"uri": base, "type": 3}]}));
    let told = client.wait(|message| message["method"] == "window/showMessage");
    assert!(told["params"]["message"].as_str().unwrap().contains("\"ours.yaml\" cannot be read"), "{told}");
    folder.write("ours.yaml", &config("theirs"));
    client.notify("workspace/didChangeWatchedFiles", json!({"changes": [{"uri": base, "type": 1}]}));
    client.wait(|message| message.to_string().contains("llsd::model::unknown-provider"));
}

#[test]
fn comparing_with_the_base_shows_no_comments() {
    let mut client = Client::ready_with(&json!({}), &[]).0;
    client.open("file:///a.yaml", &resource("a"));
    let which = json!({"textDocument": {"uri": "file:///a.yaml"}, "against": "base"});
    let answer = client.request("llsd/previewDiff", which);
    let answer = answer.get("result").unwrap_or(&answer);
    let left = answer["left"]["text"].as_str().unwrap();
    assert!(left.lines().all(|line| !line.trim_start().starts_with('#') && !line.is_empty()), "{left}");
    // what the distribution brings is the same on both sides: nothing but what the resource says differs
    let changed: u64 = answer["hunks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hunk| hunk["right"]["end"].as_u64().unwrap() - hunk["right"]["start"].as_u64().unwrap())
        .sum();
    let whole = answer["right"]["text"].as_str().unwrap().lines().count() as u64;
    assert!(changed * 4 < whole, "{changed} of {whole} lines");
    let fold = json!({"textDocument": {"uri": "file:///a.yaml"}, "fold": true});
    let answer = client.request("llsd/preview", fold);
    let answer = answer.get("result").unwrap_or(&answer);
    let text = answer["text"].as_str().unwrap();
    assert!(text.lines().count() < 60 && text.contains("of the distribution"), "{text}");
    assert_eq!(answer["lines"].as_array().unwrap().len(), text.lines().count());
}
