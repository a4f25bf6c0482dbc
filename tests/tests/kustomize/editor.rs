//! What is built when a file is saved in an editor.

use super::{Tree, programs};
use llsd_test_client::{Client, insert};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// The port comes from another object, by a replacement: only who builds it knows it.
const FIXTURE: &str = "\
#- base/kustomization.yaml
resources: [stack.yaml, service.yaml]
#- base/stack.yaml
apiVersion: llamastack.io/v1alpha2
kind: LlamaStackDistribution
metadata: {name: stack}
spec:
  distribution: {name: starter}
  networking: {port: 8321}
#- base/service.yaml
apiVersion: v1
kind: Service
metadata: {name: front}
spec:
  ports: [{port: 80}]
#- wrong.yaml
apiVersion: llamastack.io/v1alpha2
kind: LlamaStackDistribution
metadata: {name: wrong}
spec:
  distribution: {name: startr}
#- top/kustomization.yaml
resources: [../base]
replacements:
- source: {kind: Service, name: front, fieldPath: spec.ports.0.port}
  targets:
  - select: {kind: LlamaStackDistribution}
    fieldPaths: [spec.networking.port]
";

/// A server with these programs and options, and a client that has the tree as its workspace. All files are known: what is
/// wrong with one of them is told only then.
fn client(tree: &Tree, path: &Path, options: Value) -> Client {
    let mut command = Command::new(llsd_tests::llsd::binary());
    command.arg("lsp").env("PATH", path);
    let mut client = Client::start_with(command, Box::new(|_, _| None));
    let folders = json!([{"uri": format!("file://{}", tree.0.display()), "name": "tree"}]);
    let params =
        json!({"processId": null, "capabilities": {}, "workspaceFolders": folders, "initializationOptions": options});
    client.request("initialize", params);
    client.notify("initialized", json!({}));
    let wrong = json!(uri(tree, "wrong.yaml"));
    client.wait(|message| message["params"]["uri"] == wrong && message["params"]["diagnostics"][0].is_object());
    client
}

fn uri(tree: &Tree, file: &str) -> String {
    format!("file://{}", tree.0.join(file).display())
}

fn save(client: &mut Client, tree: &Tree, file: &str) {
    client.notify("textDocument/didSave", json!({"textDocument": {"uri": uri(tree, file)}}));
}

/// Waits until these are the diagnostics of the resource: line and message.
fn wait(client: &mut Client, tree: &Tree, wanted: &[(u64, &str)]) {
    let uri = uri(tree, "base/stack.yaml");
    client.wait(|message| {
        let params = &message["params"];
        message["method"] == "textDocument/publishDiagnostics"
            && params["uri"] == json!(uri)
            && params["diagnostics"].as_array().is_some_and(|found| {
                let told = found.iter().map(|one| (&one["range"]["start"]["line"], one["message"].as_str().unwrap()));
                told.map(|(line, text)| (line.as_u64().unwrap(), text)).eq(wanted.iter().copied())
            })
    });
}

const SMALL: [(u64, &str); 1] = [(5, "80 is too small: must be at least 1024")];

#[test]
fn what_is_built_is_told_where_it_comes_from_until_it_is_mended() {
    let tree = Tree::new("editor", FIXTURE);
    let on = json!({"llsd": {"buildOnSave": true}});
    let mut client = client(&tree, programs(), on);
    let text = fs::read_to_string(tree.0.join("base/stack.yaml")).unwrap();
    client.open(&uri(&tree, "base/stack.yaml"), &text);
    wait(&mut client, &tree, &[]);
    save(&mut client, &tree, "base/stack.yaml");
    wait(&mut client, &tree, &SMALL);
    // another text was not built
    client.change(&uri(&tree, "base/stack.yaml"), 2, json!([insert(0, 0, "# more\n")]));
    wait(&mut client, &tree, &[]);
    client.change(&uri(&tree, "base/stack.yaml"), 3, json!([{"text": text}]));
    wait(&mut client, &tree, &SMALL);
    // what is saved in a hurry: the last one counts
    for port in [81, 82, 83, 84, 8080] {
        let service =
            format!("apiVersion: v1\nkind: Service\nmetadata: {{name: front}}\nspec: {{ports: [{{port: {port}}}]}}\n");
        fs::write(tree.0.join("base/service.yaml"), service).unwrap();
        save(&mut client, &tree, "base/service.yaml");
    }
    wait(&mut client, &tree, &[]);
}

#[test]
fn a_file_that_is_not_open_is_told_too_unless_a_comment_silences_it() {
    let tree = Tree::new("editor-closed", FIXTURE);
    let mut client = client(&tree, programs(), json!({"llsd": {"buildOnSave": true}}));
    save(&mut client, &tree, "top/kustomization.yaml");
    wait(&mut client, &tree, &SMALL);
    let text = fs::read_to_string(tree.0.join("base/stack.yaml")).unwrap();
    let silenced = text.replace("8321}", "8321} # llsd: ignore[llsd::schema::bounds] on purpose");
    fs::write(tree.0.join("base/stack.yaml"), silenced).unwrap();
    save(&mut client, &tree, "base/stack.yaml");
    let changed = json!({"changes": [{"uri": uri(&tree, "base/stack.yaml"), "type": 2}]});
    client.notify("workspace/didChangeWatchedFiles", changed);
    // the comment silences nothing in the text alone
    client.wait(|message| {
        let found = message["params"]["diagnostics"].as_array();
        message["method"] == "textDocument/publishDiagnostics"
            && message["params"]["uri"] == json!(uri(&tree, "base/stack.yaml"))
            && found.is_some_and(|found| found.iter().all(|one| one["code"] != "llsd::schema::bounds"))
    });
}

/// Whether the client is told that something cannot be built.
fn complains(message: &Value) -> bool {
    let text = message["params"]["message"].as_str().unwrap_or_default();
    message["method"] == "window/showMessage" && text.contains("llsd.buildOnSave is on")
}

#[test]
fn a_kustomization_that_cannot_be_built_is_told_with_the_reason() {
    let tree = Tree::new("editor-broken", FIXTURE);
    let on = || json!({"llsd": {"buildOnSave": true}});
    let mut without = client(&tree, &tree.0, on());
    save(&mut without, &tree, "base/stack.yaml");
    let told = without.wait(complains);
    let told = told["params"]["message"].as_str().unwrap();
    assert!(told.ends_with("top: kubectl or kustomize is not installed: it is not on the PATH"), "{told}");

    let mut with = client(&tree, programs(), on());
    fs::write(tree.0.join("top/kustomization.yaml"), "resources: [../base, ../nowhere]\n").unwrap();
    save(&mut with, &tree, "top/kustomization.yaml");
    let told = with.wait(complains);
    let told = told["params"]["message"].as_str().unwrap();
    assert!(told.contains("top: kubectl refuses it: ") && told.contains("nowhere"), "{told}");
}

#[test]
fn nothing_runs_unless_the_user_wants_it_and_vouches_for_the_files() {
    let project = format!("{FIXTURE}#- llsd.toml\nbuild-on-save = true\nbuildOnSave = true\n");
    for (name, fixture, options) in [
        ("editor-off", FIXTURE, json!({})),
        ("editor-project", project.as_str(), json!({})),
        ("editor-untrusted", FIXTURE, json!({"untrusted": true, "llsd": {"buildOnSave": true}})),
    ] {
        let tree = Tree::new(name, fixture);
        // where it ran, it would miss the program
        let mut client = client(&tree, &tree.0, options);
        save(&mut client, &tree, "base/stack.yaml");
        assert_eq!(client.try_wait(Duration::from_secs(2), complains), None, "{name}");
    }
}
