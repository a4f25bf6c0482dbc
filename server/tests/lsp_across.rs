//! Actions that change other files, as a client meets them: applied, the diagnostics are gone.

use crate::support::{Client, Folder, edited, publication};
use serde_json::{Value, json};
use std::fs;

const OLD: &str = "apiVersion: llamastack.io/v1alpha1
kind: LlamaStackDistribution
metadata: {name: old}
spec:
  server:
    distribution: {name: starter}
    userConfig: {configMapName: config}
";

/// A ConfigMap under the name that older guides use.
const CONFIG: &str = "# \u{1F999} by hand
apiVersion: v1
kind: ConfigMap
metadata: {name: config}
data:
  run.yaml: |
    version: 2
    providers:
      inference:
        - provider_id: fast # the team's
          provider_type: remote::vllm
          config: {base_url: http://fast:8000/v1}
";

const KEYED: &str = "apiVersion: llamastack.io/v1alpha2
kind: LlamaStackDistribution
metadata: {name: demo}
spec:
  distribution: {name: starter}
  providers:
    inference:
      - provider: vllm
        endpoint: http://v:8000/v1
        apiKey: {secretKeyRef: {name: keys, key: token}}
";

const SECRET: &str = "apiVersion: v1\nkind: Secret\nmetadata: {name: keys}\nstringData:\n  other: x\n";

/// What a client that can do everything says of itself.
fn able() -> Value {
    json!({
        "textDocument": {"codeAction": {"dataSupport": true, "resolveSupport": {"properties": ["edit"]}}},
        "workspace": {"workspaceEdit": {
            "documentChanges": true,
            "resourceOperations": ["create", "rename", "delete"],
            "changeAnnotationSupport": {},
        }},
    })
}

/// The action of a title that begins so, for the whole file.
fn action(client: &mut Client, uri: &str, title: &str) -> Option<Value> {
    let range = json!({"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}});
    let params = json!({"textDocument": {"uri": uri}, "range": range, "context": {"diagnostics": []}});
    let all = client.request("textDocument/codeAction", params);
    all.as_array().unwrap().iter().find(|action| action["title"].as_str().unwrap().starts_with(title)).cloned()
}

fn wait_for_diagnostics(client: &mut Client, uri: &str, codes: &[&str]) {
    loop {
        let found = publication(client, uri);
        if found.iter().map(|found| found["code"].as_str().unwrap()).collect::<Vec<_>>() == codes {
            return;
        }
    }
}

#[test]
fn a_file_of_another_root_that_is_not_open_is_changed_on_disk() {
    let (one, two) = (Folder::new("across-one"), Folder::new("across-two"));
    let (resource, config) = (one.write("stack.yaml", OLD), two.write("deep/config.yaml", CONFIG));
    let mut client = Client::ready_with(&able(), &[&one.0, &two.0]).0;
    client.open(&resource, OLD);
    wait_for_diagnostics(&mut client, &resource, &["llsd::config::missing-key"]);
    let action = action(&mut client, &resource, "Rename run.yaml of ConfigMap \"config\" in config.yaml").unwrap();
    assert_eq!(action["diagnostics"][0]["code"], "llsd::config::missing-key");
    let changes = action["edit"]["documentChanges"].as_array().unwrap();
    assert_eq!(changes.len(), 1, "{action}");
    assert_eq!(changes[0]["textDocument"], json!({"uri": config, "version": null}));
    let annotation = changes[0]["edits"][0]["annotationId"].as_str().unwrap();
    assert_eq!(action["edit"]["changeAnnotations"][annotation]["needsConfirmation"], true);
    let new = edited(CONFIG, changes[0]["edits"].as_array().unwrap());
    assert_eq!(new, CONFIG.replace("run.yaml", "config.yaml"));
    two.write("deep/config.yaml", &new);
    client.notify("workspace/didChangeWatchedFiles", json!({"changes": [{"uri": config, "type": 2}]}));
    wait_for_diagnostics(&mut client, &resource, &[]);
}

#[test]
fn a_file_that_is_open_is_changed_in_its_version() {
    let folder = Folder::new("across-open");
    let (resource, secret) = (folder.write("stack.yaml", KEYED), folder.write("keys.yaml", "kind: Nothing\n"));
    let mut client = Client::ready_with(&able(), &[&folder.0]).0;
    client.open(&resource, KEYED);
    // what is on the screen counts, not what is on disk
    client.open(&secret, "kind: Nothing\n");
    client.change(&secret, 7, json!([{"text": SECRET}]));
    wait_for_diagnostics(&mut client, &resource, &["llsd::reference::no-key"]);
    let action = action(&mut client, &resource, "Add key \"token\" to Secret \"keys\" in keys.yaml").unwrap();
    let change = &action["edit"]["documentChanges"][0];
    assert_eq!(change["textDocument"], json!({"uri": secret, "version": 7}));
    let new = edited(SECRET, change["edits"].as_array().unwrap());
    assert_eq!(new, format!("{SECRET}  token: \"\"\n"));
    client.change(&secret, 8, json!([{"text": new}]));
    wait_for_diagnostics(&mut client, &resource, &[]);
}

#[test]
fn a_client_without_versions_gets_plain_changes_of_all_files() {
    let folder = Folder::new("across-plain");
    let text = KEYED.replace(
        "        apiKey: {secretKeyRef: {name: keys, key: token}}\n",
        "        settings: {api_token: hf_abcdefghijklmnop}\n      - id: b\n        provider: openai\n        apiKey: \
         {secretKeyRef: {name: keys, key: other}}\n",
    );
    let text = text.replace("- provider: vllm", "- id: a\n        provider: vllm");
    let (resource, secret) = (folder.write("stack.yaml", &text), folder.write("keys.yaml", SECRET));
    let mut client = Client::ready_with(&json!({}), &[&folder.0]).0;
    client.open(&resource, &text);
    let action = loop {
        // until the Secret was found on disk
        if let Some(action) = action(&mut client, &resource, "Move it into Secret \"keys\" in keys.yaml") {
            break action;
        }
    };
    assert!(action["edit"].get("documentChanges").is_none() && action["edit"].get("changeAnnotations").is_none());
    let changes = &action["edit"]["changes"];
    let edits = |uri: &str| changes[uri].as_array().unwrap_or_else(|| panic!("{action}")).clone();
    assert_eq!(edited(SECRET, &edits(&secret)), format!("{SECRET}  api-key: hf_abcdefghijklmnop\n"));
    let new = edited(&text, &edits(&resource));
    folder.write("keys.yaml", &format!("{SECRET}  api-key: hf_abcdefghijklmnop\n"));
    client.notify("workspace/didChangeWatchedFiles", json!({"changes": [{"uri": secret, "type": 2}]}));
    client.change(&resource, 2, json!([{"text": new}]));
    wait_for_diagnostics(&mut client, &resource, &[]);
}

#[test]
fn a_config_map_that_nobody_needs_goes_with_its_file() {
    let folder = Folder::new("across-gone");
    let config = CONFIG.replace("run.yaml", "config.yaml");
    let (resource, other) = (folder.write("stack.yaml", OLD), folder.write("config.yaml", &config));
    let title = "Migrate to v1alpha2 and remove ConfigMap \"config\", with the file config.yaml";
    let mut client = Client::ready_with(&able(), &[&folder.0]).0;
    client.open(&resource, OLD);
    let offered = loop {
        if let Some(action) = action(&mut client, &resource, title) {
            break action;
        }
    };
    let resolved = client.request("codeAction/resolve", offered);
    let changes = resolved["edit"]["documentChanges"].as_array().unwrap();
    assert_eq!(changes[0]["textDocument"], json!({"uri": resource, "version": 1}));
    assert!(changes[0]["edits"][0].get("annotationId").is_none(), "{resolved}");
    assert_eq!((&changes[1]["kind"], &changes[1]["uri"]), (&json!("delete"), &json!(other)));
    let annotation = changes[1]["options"]["annotationId"].as_str().unwrap();
    assert_eq!(resolved["edit"]["changeAnnotations"][annotation]["needsConfirmation"], true);
    let told = client.wait(|message| message["method"] == "window/showMessage");
    let told = told["params"]["message"].as_str().unwrap();
    assert!(told.starts_with("note: removed with ConfigMap \"config\": # \u{1F999} by hand\n"), "{told}");
    let new = edited(OLD, changes[0]["edits"].as_array().unwrap());
    assert!(new.contains("- id: fast # the team's\n"), "{new}");
    fs::remove_file(folder.0.join("config.yaml")).unwrap();
    client.notify("workspace/didDeleteFiles", json!({"files": [{"uri": other}]}));
    client.change(&resource, 2, json!([{"text": new}]));
    assert_eq!(client.diagnostics(&resource, 2), Vec::<Value>::new());
    // a client that deletes no files is not asked to
    folder.write("config.yaml", &config);
    let mut able = able();
    able["workspace"]["workspaceEdit"]["resourceOperations"] = json!(["create"]);
    let mut client = Client::ready_with(&able, &[&folder.0]).0;
    client.open(&resource, OLD);
    while action(&mut client, &resource, "Migrate to v1alpha2, keeping the ConfigMap").is_none() {}
    assert_eq!(action(&mut client, &resource, title), None);
}
