//! Completion over the protocol: small lists, documentation when it is asked for.

use crate::support::Client;
use serde_json::{Value, json};

const TEXT: &str =
    "apiVersion: llamastack.io/v1alpha2\nkind: LlamaStackDistribution\nmetadata:\n  name: demo\nspec:\n  ";

fn offered(client: &mut Client) -> Vec<Value> {
    offered_in(client, "file:///a.yaml", TEXT, 2)
}

/// What is offered at the character of the sixth line.
fn offered_in(client: &mut Client, uri: &str, text: &str, character: usize) -> Vec<Value> {
    let document = json!({"uri": uri, "languageId": "yaml", "version": 1, "text": text});
    client.notify("textDocument/didOpen", json!({"textDocument": document}));
    let place = json!({"textDocument": {"uri": uri}, "position": {"line": 5, "character": character}});
    let answer = client.request("textDocument/completion", place);
    answer["result"].as_array().or_else(|| answer.as_array()).unwrap().clone()
}

fn find<'i>(items: &'i [Value], label: &str) -> &'i Value {
    items.iter().find(|item| item["label"] == label).unwrap_or_else(|| panic!("no {label} in {items:?}"))
}

/// Start and end of what is replaced, and the text.
fn edit(item: &Value) -> (u64, u64, &str) {
    let edit = &item["textEdit"];
    let column = |end: &str| edit["range"][end]["character"].as_u64().unwrap();
    assert_eq!(edit["range"]["start"]["line"], 5);
    assert_eq!(edit["range"]["end"]["line"], 5);
    (column("start"), column("end"), edit["newText"].as_str().unwrap())
}

#[test]
fn edits_fit_what_stands_around() {
    let can = json!({"textDocument": {"completion": {"completionItem": {
        "snippetSupport": true, "insertTextModeSupport": {"valueSet": [1, 2]}}}}});
    let (mut client, _) = Client::ready_with(&can, &[]);
    let mut opened = 0;
    let mut offered = |line: &str, character: usize| {
        opened += 1;
        let uri = format!("file:///{opened}.yaml");
        offered_in(&mut client, &uri, &format!("{}{line}\n", TEXT.trim_end_matches(' ')), character)
    };
    // a name in front of its colon: nothing but the name
    for (line, start, end) in [("  : {name: starter}", 2, 2), ("  dis: {name: starter}", 2, 5)] {
        let items = offered(line, end);
        let item = find(&items, "distribution");
        assert_eq!(edit(item), (start as u64, end as u64, "distribution"));
        assert_eq!((&item["filterText"], item.get("insertTextFormat")), (&json!("distribution"), None));
        assert!(item.get("insertTextMode").is_none());
    }
    // in flow style on one line, with a comma in front of what follows
    let items = offered("  providers: {inference: [{  provider: vllm}]}", 28);
    assert_eq!(edit(find(&items, "apiKey")), (28, 28, "apiKey: {secretKeyRef: {name: $1, key: $2}}, "));
    let items = offered("  workload: {: 2}", 13);
    assert_eq!(edit(find(&items, "replicas")), (13, 13, "replicas"));
    // in block style on several, which the editor indents
    let items = offered("  ", 2);
    let item = find(&items, "distribution");
    assert_eq!(edit(item), (2, 2, "distribution:\n  name: ${1:starter}"));
    assert_eq!((&item["insertTextFormat"], &item["insertTextMode"]), (&json!(2), &json!(2)));
    // the order is that of the list
    let items = offered("  ", 2);
    let sorted: Vec<_> = items.iter().map(|item| item["sortText"].as_str().unwrap()).collect();
    assert!(sorted.is_sorted());
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
