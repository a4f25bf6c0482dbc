//! The language server beside a real cluster: what is there is offered, what is missing is told, and what runs is
//! compared; nothing of it unless it is asked for, and never the value of a Secret.

use super::crd::server;
use llsd_test_client::{Client, PATIENCE};
use llsd_tests::cluster::Request;
use llsd_tests::operator::kubectl_program;
use serde_json::{Value, json};
use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::time::Duration;

const URI: &str = "file:///nowhere/demo.yaml";
const VALUE: &str = "a-value-that-no-editor-sees";
const CONFIG: &str = "version: 2\nimage_name: what-runs-now\n";

fn post(path: &str, object: &Value) {
    let answer = server().send(Request::post(path, object));
    assert!(answer.status == 201 || answer.status == 409, "{path}: {}", answer.message());
}

/// A namespace with a Secret, and a resource that an operator has seen to.
fn populate(namespace: &str) {
    let home = format!("/api/v1/namespaces/{namespace}");
    post("/api/v1/namespaces", &json!({"metadata": {"name": namespace}}));
    post(&format!("{home}/secrets"), &json!({"metadata": {"name": "vllm-token"}, "stringData": {"token": VALUE}}));
    let config = json!({"metadata": {"name": "demo-config-1"}, "data": {"config.yaml": CONFIG}});
    post(&format!("{home}/configmaps"), &config);
    let resources = format!("/apis/llamastack.io/v1alpha2/namespaces/{namespace}/llamastackdistributions");
    let demo = json!({
        "apiVersion": "llamastack.io/v1alpha2",
        "kind": "LlamaStackDistribution",
        "metadata": {"name": "demo"},
        "spec": {"distribution": {"name": "starter"}},
    });
    post(&resources, &demo);
    let status = json!({"status": {
        "phase": "Initializing",
        "conditions": [{
            "type": "DeploymentReady", "status": "False", "reason": "DeploymentFailed",
            "message": "Deployment is pending", "lastTransitionTime": "2026-01-01T00:00:00Z",
        }],
        "configGeneration": {"configMapName": "demo-config-1"},
    }});
    let answer = server().send(Request::merge(format!("{resources}/demo/status"), &status));
    assert_eq!(answer.status, 200, "{}", answer.message());
}

fn text(namespace: &str, secret: &str, key: &str) -> String {
    format!(
        "apiVersion: llamastack.io/v1alpha2\nkind: LlamaStackDistribution\nmetadata:\n  name: demo\n  namespace: \
         {namespace}\nspec:\n  distribution:\n    name: starter\n  providers:\n    inference:\n      - provider: vllm\n        \
         endpoint: http://vllm:8000/v1\n        apiKey:\n          secretKeyRef:\n            name: {secret}\n            \
         key: {key}\n"
    )
}

fn configure(client: &mut Client, cluster: &Value) {
    client.notify("workspace/didChangeConfiguration", json!({"settings": {"llsd": {"cluster": cluster}}}));
}

fn on() -> Value {
    let kubeconfig = server().folder().join("kubeconfig");
    json!({"enabled": true, "kubeconfig": kubeconfig, "kubectl": kubectl_program()})
}

/// The next diagnostics of a version that are as wanted.
fn wait_for(client: &mut Client, version: i32, what: &str, wanted: impl Fn(&[String]) -> bool) {
    let found = client.try_wait(PATIENCE, |message| {
        let params = &message["params"];
        let texts = || -> Vec<String> {
            let all = params["diagnostics"].as_array().into_iter().flatten();
            all.filter_map(|one| one["message"].as_str().map(str::to_owned)).collect()
        };
        message["method"] == "textDocument/publishDiagnostics" && params["version"] == version && wanted(&texts())
    });
    assert!(found.is_some(), "no diagnostics that {what}; left: {:?}", client.leftovers());
}

fn at(line: u32, character: u32) -> Value {
    json!({"textDocument": {"uri": URI}, "position": {"line": line, "character": character}})
}

fn compare(client: &mut Client) -> Value {
    let id = client.ask("llsd/previewDiff", json!({"textDocument": {"uri": URI}, "against": "cluster"}));
    client.answer(id)
}

/// Whether some text is anywhere in the memory of a process.
fn remembers(process: u32, wanted: &[u8]) -> bool {
    let folder = Path::new("/proc").join(process.to_string());
    let maps = fs::read_to_string(folder.join("maps")).expect("a running process");
    let memory = File::open(folder.join("mem")).expect("a process of our own");
    maps.lines().filter(|line| line.contains(" rw")).any(|line| {
        let range = line.split(' ').next().and_then(|range| range.split_once('-')).expect("a range");
        let [start, end] = [range.0, range.1].map(|hex| u64::from_str_radix(hex, 16).expect("an address"));
        let mut bytes = vec![0; usize::try_from(end - start).expect("it fits")];
        // Some parts cannot be read by anybody; nothing is in them.
        memory.read_exact_at(&mut bytes, start).is_ok() && bytes.windows(wanted.len()).any(|part| part == wanted)
    })
}

#[test]
fn shows_what_is_there() {
    let namespace = "editor-shows";
    populate(namespace);
    let (mut client, _) = Client::ready_with(&json!({"workspace": {"inlayHint": {"refreshSupport": true}}}), &[]);
    client.open(URI, &text(namespace, "vllm-tokn", "token"));
    wait_for(&mut client, 1, "are silent about what nobody knows", <[String]>::is_empty);
    let refused = compare(&mut client);
    let sentence = refused["error"]["message"].as_str().expect("a sentence");
    assert!(sentence.contains("llsd.cluster.enabled"), "{sentence}");

    configure(&mut client, &on());
    let missing = format!("Secret \"vllm-tokn\" not found in namespace \"{namespace}\"");
    wait_for(&mut client, 1, "miss the Secret", |all| all.iter().any(|one| one.starts_with(&missing)));
    client.change(URI, 2, json!([{"text": text(namespace, "vllm-token", "tok")}]));
    wait_for(&mut client, 2, "miss the key", |all| all.iter().any(|one| one.contains("has no key \"tok\"")));
    client.change(URI, 3, json!([{"text": text(namespace, "vllm-token", "token")}]));
    wait_for(&mut client, 3, "find everything", <[String]>::is_empty);

    let offers = client.request("textDocument/completion", at(14, 18)).to_string();
    assert!(offers.contains("vllm-token"), "{offers}");
    let range = json!({"start": {"line": 0, "character": 0}, "end": {"line": 20, "character": 0}});
    let hints = client.request("textDocument/inlayHint", json!({"textDocument": {"uri": URI}, "range": range}));
    let label = "Initializing: Deployment is pending";
    let hint = hints.as_array().into_iter().flatten().find(|hint| hint["label"] == label);
    let hint = hint.unwrap_or_else(|| panic!("no hint {label:?} in {hints}"));
    assert_eq!(hint["position"], json!({"line": 3, "character": 12}));
    assert_eq!(hint["tooltip"], "DeploymentReady=False: Deployment is pending");

    let compared = compare(&mut client)["result"].clone();
    assert_eq!(compared["left"]["text"], CONFIG, "{compared}");
    assert!(compared["left"]["title"].as_str().is_some_and(|title| title.starts_with("demo-config-1 (runs in ")));
    assert!(compared["right"]["text"].as_str().is_some_and(|text| text.contains("http://vllm:8000/v1")));

    // The text of the file is remembered, the Secret's value is not.
    assert!(remembers(client.process_id(), b"http://vllm:8000/v1"));
    for hidden in [VALUE.as_bytes(), b"YS12YWx1ZS10aGF0LW5vLWVkaXRvci1zZWVz"] {
        assert!(!remembers(client.process_id(), hidden), "{}", String::from_utf8_lossy(hidden));
    }

    client.change(URI, 4, json!([{"text": text(namespace, "vllm-tokn", "token")}]));
    wait_for(&mut client, 4, "miss the Secret", |all| all.iter().any(|one| one.starts_with(&missing)));
    configure(&mut client, &json!({"enabled": false}));
    wait_for(&mut client, 4, "know nothing of the cluster any more", <[String]>::is_empty);
    assert!(client.shut_down().success());
}

#[test]
fn compares_with_the_live_resource_where_nothing_was_generated() {
    let namespace = "editor-compares";
    post("/api/v1/namespaces", &json!({"metadata": {"name": namespace}}));
    let manifest: Value =
        serde_yaml::from_str(&text(namespace, "vllm-token", "token").replace("8000", "9000")).expect("a manifest");
    post(&format!("/apis/llamastack.io/v1alpha2/namespaces/{namespace}/llamastackdistributions"), &manifest);
    let mut client = Client::ready();
    configure(&mut client, &on());
    client.open(URI, &text(namespace, "vllm-token", "token"));
    let compared = compare(&mut client)["result"].clone();
    let side = |side: &str| compared[side]["text"].as_str().expect("a text").to_owned();
    assert!(side("left").contains("http://vllm:9000/v1") && side("right").contains("http://vllm:8000/v1"));
    assert_eq!(compared["hunks"].as_array().map(Vec::len), Some(1), "{compared}");

    client.change(URI, 2, json!([{"text": text(namespace, "a", "b").replace("name: demo", "name: other")}]));
    let refused = compare(&mut client);
    let sentence = refused["error"]["message"].as_str().expect("a sentence");
    assert!(
        sentence.ends_with("has no LlamaStackDistribution \"other\" in namespace \"editor-compares\""),
        "{sentence}"
    );
    assert!(client.shut_down().success());
}

#[test]
fn says_once_that_the_cluster_does_not_answer() {
    let folder = std::env::temp_dir().join(format!("llsd-no-cluster-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    let kubeconfig = folder.join("kubeconfig");
    // Nothing listens on port 1.
    let config = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "gone",
        "clusters": [{"name": "gone", "cluster": {"server": "http://127.0.0.1:1"}}],
        "contexts": [{"name": "gone", "context": {"cluster": "gone", "user": ""}}],
    });
    fs::write(&kubeconfig, config.to_string()).expect("written");
    let mut client = Client::ready();
    client.open(URI, &text("elsewhere", "vllm-token", "token"));
    wait_for(&mut client, 1, "are silent", <[String]>::is_empty);
    configure(&mut client, &json!({"enabled": true, "kubeconfig": kubeconfig, "kubectl": kubectl_program()}));
    let message = client.wait(|message| message["method"] == "window/showMessage");
    let sentence = message["params"]["message"].as_str().expect("a sentence");
    assert!(sentence.contains("llsd.cluster.enabled is on") && sentence.contains("127.0.0.1:1"), "{sentence}");
    client.open("file:///nowhere/other.yaml", &text("elsewhere", "vllm-token", "token"));
    let again = client.try_wait(Duration::from_secs(3), |message| message["method"] == "window/showMessage");
    assert_eq!(again, None);
    let unknown = client.leftovers().into_iter().filter(|one| one["params"]["diagnostics"][0].is_object());
    assert_eq!(unknown.collect::<Vec<_>>(), Vec::<Value>::new(), "a cluster that is gone makes nothing wrong");
    assert!(client.shut_down().success());
    fs::remove_dir_all(folder).expect("the folder is ours");
}
