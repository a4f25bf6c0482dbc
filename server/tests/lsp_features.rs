//! One workspace of two folders, in which a resource, the Secret and ConfigMap that it refers to, and an older resource
//! lie apart. What a question is about is open; the rest is on disk only.

use crate::support::{Client, Folder, edited};
use serde_json::{Value, json};

const STACK: &str = "apiVersion: llamastack.io/v1alpha2
kind: LlamaStackDistribution
metadata: {name: demo}
spec:
  distribution:
    name: starter
  providers:
    inference:
      - id: fast
        provider: vllm
        endpoint: http://fast:8000/v1
        apiKey:
          secretKeyRef: {name: keys, key: token}
  resources:
    models:
      - {name: granite, provider: fast}
";

const OLDER: &str = "apiVersion: llamastack.io/v1alpha1
kind: LlamaStackDistribution
metadata: {name: old}
spec:
  server:
    distribution: {name: starter}
    containerSpec:
      env:
        - {name: TEAM_URL, value: http://team:8000/v1}
    userConfig: {configMapName: config}
";

const CONFIG: &str = "apiVersion: v1
kind: ConfigMap
metadata: {name: config}
data:
  config.yaml: |
    version: 2
    providers:
      inference:
        - provider_id: team
          provider_type: remote::vllm
          config: {base_url: \"${env.TEAM_URL}\"}
    registered_resources:
      models:
        - {model_id: granite, provider_id: team}
";

const SECRET: &str = "apiVersion: v1\nkind: Secret\nmetadata: {name: keys}\nstringData:\n  token: x\n  spare: y\n";

/// The folders, the client, and the URIs of stack, older resource, config and Secret.
struct Around {
    _folders: [Folder; 2],
    client: Client,
    stack: String,
    older: String,
    config: String,
    secret: String,
}

impl Around {
    fn new(name: &str) -> Self {
        let folders = [Folder::new(&format!("{name}-a")), Folder::new(&format!("{name}-b"))];
        let (stack, older) = (folders[0].write("stack.yaml", STACK), folders[0].write("deep/older.yaml", OLDER));
        let (config, secret) = (folders[1].write("config.yaml", CONFIG), folders[1].write("keys/secret.yaml", SECRET));
        let mut client = Client::start();
        let named = |folder: &Folder| json!({"uri": folder.uri(), "name": "x"});
        client.request(
            "initialize",
            json!({
                "processId": null,
                "capabilities": {
                    "textDocument": {"completion": {"completionItem": {"snippetSupport": true}}},
                    "workspace": {"workspaceEdit": {"documentChanges": true}},
                },
                "workspaceFolders": [named(&folders[0]), named(&folders[1])],
                "initializationOptions": {"virtualDocuments": true, "commands": ["llsd.preview", "llsd.showReferences"]},
            }),
        );
        client.notify("initialized", json!({}));
        let mut around = Self { _folders: folders, client, stack, older, config, secret };
        // all files have been looked at
        let found = |answer: &Value| answer.as_array().is_some_and(|all| all.len() == 2);
        around.until("workspace/symbol", &json!({"query": "granite"}), found);
        let found = |answer: &Value| answer.as_array().is_some_and(|all| all.len() == 1);
        around.until("workspace/symbol", &json!({"query": "keys"}), found);
        around
    }

    fn until(&mut self, method: &str, params: &Value, fits: impl Fn(&Value) -> bool) -> Value {
        loop {
            let answer = self.client.request(method, params.clone());
            if fits(&answer) {
                return answer;
            }
        }
    }

    /// A request about the place where `needle` stands in a text.
    fn ask(&mut self, method: &str, uri: &str, text: &str, needle: &str, more: Value) -> Value {
        let before = &text[..text.find(needle).unwrap_or_else(|| panic!("{needle}"))];
        let column = before.rsplit('\n').next().unwrap().len();
        let position = json!({"line": before.matches('\n').count(), "character": column + 1});
        let mut params = json!({"textDocument": {"uri": uri}, "position": position});
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.client.request(method, params)
    }
}

/// Each location as `file:line`, the line counted from 1.
fn places(answer: &Value) -> Vec<String> {
    let place = |one: &Value| {
        let uri = one["uri"].as_str().unwrap();
        let path = uri.split('?').next().unwrap();
        let name = if uri.starts_with("llsd") { path } else { path.rsplit('/').next().unwrap() };
        format!("{name}:{}", one["range"]["start"]["line"])
    };
    answer.as_array().map(|all| all.iter().map(place).collect()).unwrap_or_default()
}

#[test]
fn names_lead_from_a_resource_to_secrets_and_back() {
    let mut around = Around::new("names");
    let (stack, secret) = (around.stack.clone(), around.secret.clone());
    around.client.open(&stack, STACK);
    let none = || json!({});
    let declared = json!({"context": {"includeDeclaration": true}});
    let mut ask = |method: &str, needle: &str, more: Value| around.ask(method, &stack, STACK, needle, more);
    assert_eq!(places(&ask("textDocument/definition", "keys, key", none())), ["secret.yaml:2"]);
    assert_eq!(places(&ask("textDocument/definition", "token}", none())), ["secret.yaml:4"]);
    assert_eq!(places(&ask("textDocument/references", "token}", declared.clone())), ["stack.yaml:12", "secret.yaml:4"]);
    let places_of_id = ["stack.yaml:8", "stack.yaml:15", "llsd-preview:/demo/config.yaml:"];
    let found = places(&ask("textDocument/references", "fast\n", declared.clone()));
    assert!(found.len() >= 3 && found.iter().zip(places_of_id).all(|(one, start)| one.starts_with(start)), "{found:?}");
    let marked = ask("textDocument/documentHighlight", "fast\n", none());
    assert_eq!(marked.as_array().map(Vec::len), Some(2));
    let hover = ask("textDocument/hover", "keys, key", none());
    assert!(hover["contents"]["value"].as_str().unwrap().contains("spare"), "{hover}");
    let items = ask("textDocument/completion", "token}", none());
    let items = items.get("items").unwrap_or(&items).as_array().unwrap().clone();
    assert!(items.iter().any(|item| item["label"] == "spare"), "{items:?}");
    let rename = ask("textDocument/rename", "token}", json!({"newName": "api"}));
    let changes = rename["documentChanges"].as_array().unwrap();
    let change = |uri: &str| changes.iter().find(|change| change["textDocument"]["uri"] == uri).unwrap();
    assert_eq!(change(&stack)["textDocument"]["version"], 1);
    assert_eq!(change(&secret)["textDocument"]["version"], Value::Null);
    assert_eq!(edited(SECRET, change(&secret)["edits"].as_array().unwrap()), SECRET.replace("token", "api"));
    // and from the Secret to its users
    around.client.open(&secret, SECRET);
    let found = places(&around.ask(
        "textDocument/references",
        &secret,
        SECRET,
        "keys}",
        json!({"context": {"includeDeclaration": false}}),
    ));
    assert_eq!(found, ["stack.yaml:12"]);
}

#[test]
fn names_join_a_resource_and_the_config_that_it_mounts() {
    let mut around = Around::new("mounted");
    let (older, config) = (around.older.clone(), around.config.clone());
    around.client.open(&config, CONFIG);
    let none = || json!({});
    let declared = json!({"context": {"includeDeclaration": true}});
    let mut ask = |method: &str, needle: &str, more: Value| around.ask(method, &config, CONFIG, needle, more);
    assert_eq!(places(&ask("textDocument/definition", "TEAM_URL", none())), ["older.yaml:8"]);
    assert_eq!(
        places(&ask("textDocument/references", "TEAM_URL", declared.clone())),
        ["config.yaml:10", "older.yaml:8"]
    );
    assert_eq!(places(&ask("textDocument/references", "config}", declared.clone())), ["config.yaml:2", "older.yaml:9"]);
    assert_eq!(places(&ask("textDocument/definition", "team}", none())), ["config.yaml:8"]);
    assert_eq!(places(&ask("textDocument/references", "granite", declared)), ["config.yaml:13", "stack.yaml:15"]);
    let rename = ask("textDocument/rename", "TEAM_URL", json!({"newName": "GROUP_URL"}));
    let changes = rename["documentChanges"].as_array().unwrap();
    assert_eq!(changes.len(), 2, "{rename}");
    for change in changes {
        let (uri, text) =
            (&change["textDocument"]["uri"], if change["textDocument"]["uri"] == config { CONFIG } else { OLDER });
        assert_eq!(change["textDocument"]["version"], if *uri == config { json!(1) } else { Value::Null });
        assert_eq!(edited(text, change["edits"].as_array().unwrap()), text.replace("TEAM_URL", "GROUP_URL"));
    }
    let rename = ask("textDocument/rename", "team\n", json!({"newName": "group"}));
    let change = &rename["documentChanges"][0];
    let new = edited(CONFIG, change["edits"].as_array().unwrap());
    assert_eq!(new, CONFIG.replace("provider_id: team", "provider_id: group"));
    // the older resource, from its side
    around.client.open(&older, OLDER);
    assert_eq!(places(&around.ask("textDocument/definition", &older, OLDER, "config}", json!({}))), ["config.yaml:2"]);
}

#[test]
fn every_generated_line_leads_to_its_origin_and_back() {
    let mut around = Around::new("lines");
    let stack = around.stack.clone();
    around.client.open(&stack, STACK);
    let preview = around.client.request("llsd/preview", json!({"textDocument": {"uri": stack}}));
    let to = around.ask("textDocument/implementation", &stack, STACK, "http://fast", json!({}));
    let uri = to[0]["uri"].as_str().unwrap().to_owned();
    let text = preview["text"].as_str().unwrap();
    let mut kinds = std::collections::BTreeMap::new();
    for (number, origin) in preview["lines"].as_array().unwrap().iter().enumerate() {
        let position = json!({"line": number, "character": 0});
        let found = around
            .client
            .request("textDocument/definition", json!({"textDocument": {"uri": uri}, "position": position}));
        let kind = origin["kind"].as_str().unwrap();
        *kinds.entry(kind.to_owned()).or_insert(0) += 1;
        let line = text.lines().nth(number).unwrap();
        match kind {
            "resource" => {
                assert_eq!(found[0]["uri"], stack, "{line}");
                let at = found[0]["range"]["start"].clone();
                assert_eq!(at, origin["range"]["start"], "{line}");
                // and back: the place in the resource leads to this line, among others
                let back = json!({"textDocument": {"uri": stack}, "position": at});
                let back = around.client.request("textDocument/implementation", back);
                let covers = |one: &Value| {
                    let line = |end: &str| one["range"][end]["line"].as_u64().unwrap() as usize;
                    one["uri"] == uri && (line("start")..=line("end")).contains(&number)
                };
                // an item begins where its first key does, and that key produces a line of its own
                let item = origin["path"].as_str().unwrap().ends_with(']');
                assert!(item || back.as_array().is_some_and(|all| all.iter().any(covers)), "{line}: {back}");
            }
            "base" => assert_eq!(found[0]["uri"], "llsd-base:/starter/config.yaml", "{line}"),
            _ => assert_eq!(found, Value::Null, "{line}"),
        }
    }
    assert!(kinds["resource"] >= 4 && kinds["base"] > 50, "{kinds:?}");
    let link = around.client.request("textDocument/documentLink", json!({"textDocument": {"uri": stack}}));
    assert!(link.as_array().is_some_and(|all| !all.is_empty()), "{link}");
    let lenses = around.client.request("textDocument/codeLens", json!({"textDocument": {"uri": stack}}));
    assert!(lenses.to_string().contains("1 reference"), "{lenses}");
}
