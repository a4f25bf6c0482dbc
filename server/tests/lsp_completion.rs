//! Completion over the protocol: small lists, documentation when it is asked for.

#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use serde_json::{Value, json};
use support::Client;

const TEXT: &str =
    "apiVersion: llamastack.io/v1alpha2\nkind: LlamaStackDistribution\nmetadata:\n  name: demo\nspec:\n  ";

fn offered(client: &mut Client) -> Vec<Value> {
    let document = json!({"uri": "file:///a.yaml", "languageId": "yaml", "version": 1, "text": TEXT});
    client.notify("textDocument/didOpen", json!({"textDocument": document}));
    let place = json!({"textDocument": {"uri": "file:///a.yaml"}, "position": {"line": 5, "character": 2}});
    let answer = client.request("textDocument/completion", place);
    answer["result"].as_array().or_else(|| answer.as_array()).unwrap().clone()
}

#[test]
fn documentation_comes_when_asked_for() {
    let lazy = json!({"textDocument": {"completion": {"completionItem": {
        "snippetSupport": true, "resolveSupport": {"properties": ["documentation"]}}}}});
    let (mut client, _) = Client::ready_with(&lazy, &[]);
    let items = offered(&mut client);
    assert!(items.len() > 3);
    assert!(items.iter().all(|item| item.get("documentation").is_none()));
    // the document may have changed meanwhile
    let document = json!({"uri": "file:///a.yaml", "version": 2});
    client.notify("textDocument/didChange", json!({"textDocument": document, "contentChanges": [{"text": ""}]}));
    let answer = client.request("completionItem/resolve", items[1].clone());
    let resolved = answer.get("result").unwrap_or(&answer);
    assert_eq!(resolved["label"], items[1]["label"]);
    assert!(!resolved["documentation"]["value"].as_str().unwrap().is_empty());
    // an offer of a list that is long gone comes back as it was
    let mut old = items[0].clone();
    old["data"] = json!([0, 0]);
    let answer = client.request("completionItem/resolve", old.clone());
    assert_eq!(*answer.get("result").unwrap_or(&answer), old);
}

#[test]
fn clients_that_cannot_ask_get_it_at_once() {
    let items = offered(&mut Client::ready());
    assert!(items.iter().any(|item| item.get("documentation").is_some()));
    assert!(items.iter().all(|item| item.get("data").is_none()));
}
