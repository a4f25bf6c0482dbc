//! The server as a client meets it: over the wire, in order, to the end.

use crate::support::{Client, at, insert};
use serde_json::{Value, json};
use std::time::Duration;

const URI: &str = "file:///w/resource.yaml";

/// A correct resource of 13 lines.
const CLEAN: &str = "\
apiVersion: llamastack.io/v1alpha2
kind: LlamaStackDistribution
metadata:
  name: minimal
spec:
  distribution:
    name: starter
  providers:
    inference:
      - provider: vllm
        endpoint: http://vllm:8000/v1
  networking:
    port: 8321
";

/// The same with one mistake.
const BROKEN: &str = "\
apiVersion: llamastack.io/v1alpha2
kind: LlamaStackDistribution
metadata:
  name: minimal
spec:
  distribution:
    name: starter
  providers:
    inference:
      - provider: vlmm
        endpoint: http://vllm:8000/v1
  networking:
    port: 8321
";

#[test]
fn positions_count_what_was_agreed() {
    let cases = [
        (json!({}), "utf-16"),
        (json!({"general": {"positionEncodings": ["utf-16"]}}), "utf-16"),
        (json!({"general": {"positionEncodings": ["utf-32", "utf-16", "utf-8"]}}), "utf-8"),
        (json!({"general": {"positionEncodings": []}}), "utf-16"),
    ];
    for (capabilities, expected) in cases {
        let (client, answer) = Client::ready_with(&capabilities, &[]);
        assert_eq!(answer["capabilities"]["positionEncoding"], expected);
        assert_eq!(answer["serverInfo"]["name"], "llsd");
        assert!(client.shut_down().success());
    }
}

#[test]
fn exit_tells_whether_shutdown_came_first() {
    assert_eq!(Client::ready().shut_down().code(), Some(0));

    let mut client = Client::ready();
    client.notify("exit", Value::Null);
    assert_eq!(client.end().code(), Some(1), "exit without shutdown");

    assert_eq!(Client::ready().hang_up().code(), Some(1), "a client that went away");
    assert_eq!(Client::start().hang_up().code(), Some(1), "a client that never spoke");
}

#[test]
fn shutdown_and_exit_may_come_together() {
    let mut client = Client::ready();
    let id = client.ask("shutdown", Value::Null);
    client.notify("exit", Value::Null);
    assert!(client.answer(id).get("error").is_none());
    assert_eq!(client.end().code(), Some(0));
}

#[test]
fn requests_after_shutdown_and_before_initialize_are_refused() {
    let mut client = Client::start();
    let id = client.ask("textDocument/hover", json!({"textDocument": {"uri": URI}, "position": at(0, 0)}));
    assert_eq!(client.answer(id)["error"]["code"], -32002);
    client.initialize(&json!({}), &[]);
    client.request("shutdown", Value::Null);
    let id = client.ask("textDocument/hover", json!({"textDocument": {"uri": URI}, "position": at(0, 0)}));
    assert_eq!(client.answer(id)["error"]["code"], -32600);
}

#[test]
fn a_socket_serves_like_standard_input() {
    let mut client = Client::start_on_socket();
    client.initialize(&json!({}), &[]);
    client.open(URI, CLEAN);
    assert_eq!(client.diagnostics(URI, 1), Vec::<Value>::new());
    assert!(client.shut_down().success());
}

#[test]
fn what_is_not_understood_hurts_nobody() {
    let mut client = Client::ready();
    client.send_raw(b"Content-Length: 9\r\n\r\nnot json!");
    client.notify("$/unknown", json!({}));
    client.notify("unknown", json!({}));
    let id = client.ask("unknown/request", json!({}));
    assert_eq!(client.answer(id)["error"]["code"], -32601);
    let id = client.ask("textDocument/hover", json!({"nonsense": true}));
    assert_eq!(client.answer(id)["error"]["code"], -32602);
    client.change("file:///never-opened.yaml", 5, json!([{"text": "a"}]));
    let params = json!({"textDocument": {"uri": "file:///never-opened.yaml"}, "position": at(9, 9)});
    assert_eq!(client.request("textDocument/hover", params.clone()), Value::Null);
    assert_eq!(client.request("textDocument/completion", params.clone()), Value::Null);
    assert_eq!(client.request("llsd/preview", params), Value::Null);
    assert!(client.shut_down().success());
}

#[test]
fn an_edit_changes_what_is_shown() {
    let mut client = Client::ready();
    client.open(URI, CLEAN);
    assert_eq!(client.diagnostics(URI, 1), Vec::<Value>::new());
    // The provider vllm becomes vllmx.
    client.change(URI, 2, json!([insert(9, 22, "x")]));
    let found = client.diagnostics(URI, 2);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["range"], json!({"start": at(9, 18), "end": at(9, 23)}));
    assert_eq!(found[0]["severity"], 1);
    assert_eq!(found[0]["source"], "llsd");
    let link = found[0]["codeDescription"]["href"].as_str().expect("a link");
    assert!(link.ends_with("/docs/findings.md#llsdproviderunknown-type"), "{link}");
    client.change(URI, 3, json!([{"range": {"start": at(9, 22), "end": at(9, 23)}, "text": ""}]));
    assert_eq!(client.diagnostics(URI, 3), Vec::<Value>::new());
    assert!(client.shut_down().success());
}

#[test]
fn surrogates_before_a_place_move_it() {
    let text = CLEAN.replace("provider: vllm", "\"\u{1F999}\u{1F999}\": 1, provider: vllm");
    let text = text.replace("      - \"", "      - {\"").replace("provider: vllm", "provider: vlmm}");
    let text = text.replace("        endpoint: http://vllm:8000/v1\n", "");
    // `      - {"🦙🦙": 1, provider: vlmm}`: 16 bytes of llama are 4 units.
    for (encodings, start) in [(json!(["utf-16"]), 30), (json!(["utf-8"]), 34)] {
        let mut client = Client::ready_with(&json!({"general": {"positionEncodings": encodings}}), &[]).0;
        client.open(URI, &text);
        let found = client.diagnostics(URI, 1);
        let unknown: Vec<_> =
            found.iter().filter(|found| found["message"].as_str().is_some_and(|text| text.contains("vlmm"))).collect();
        assert_eq!(unknown.len(), 1, "{found:?}");
        assert_eq!(unknown[0]["range"], json!({"start": at(9, start), "end": at(9, start + 4)}));
        // The same place, edited in the same units: vlmm becomes vllm.
        let range = json!({"start": at(9, start + 2), "end": at(9, start + 3)});
        client.change(URI, 2, json!([{"range": range, "text": "l"}]));
        let found = client.diagnostics(URI, 2);
        assert!(!found.iter().any(|found| found["message"].as_str().is_some_and(|text| text.contains("vlmm"))));
    }
}

#[test]
fn a_thousand_edits_end_in_the_last_one() {
    let mut client = Client::ready();
    client.open(URI, CLEAN);
    let mut hovers = Vec::new();
    for number in 0..1000 {
        let change = if number % 2 == 0 {
            insert(9, 22, "x")
        } else {
            json!({"range": {"start": at(9, 22), "end": at(9, 23)}, "text": ""})
        };
        client.change(URI, number + 2, json!([change]));
        if number % 10 == 0 {
            let params = json!({"textDocument": {"uri": URI}, "position": at(9, 20)});
            hovers.push(client.ask("textDocument/hover", params));
        }
    }
    assert_eq!(client.diagnostics(URI, 1001), Vec::<Value>::new());
    for id in hovers {
        assert!(client.answer(id).get("error").is_none());
    }
    let versions: Vec<_> = client
        .leftovers()
        .iter()
        .filter(|message| message["method"] == "textDocument/publishDiagnostics")
        .map(|message| message["params"]["version"].as_i64().expect("a version"))
        .collect();
    assert!(versions.is_sorted(), "{versions:?}");
    // And what comes after it still counts.
    client.change(URI, 2000, json!([insert(9, 22, "x")]));
    assert_eq!(client.diagnostics(URI, 2000).len(), 1);
}

#[test]
fn a_request_sees_the_edits_before_it() {
    let mut client = Client::ready();
    client.open(URI, "");
    client.change(URI, 2, json!([{"text": CLEAN}]));
    let id = client.ask("llsd/preview", json!({"textDocument": {"uri": URI}}));
    client.change(URI, 3, json!([{"text": ""}]));
    let answer = client.answer(id);
    assert_eq!(answer["result"]["version"], 2, "{answer}");
    assert_eq!(answer["result"]["name"], "minimal");
}

#[test]
fn a_client_that_never_answers_is_not_waited_for() {
    let more = json!({"workspace": {"didChangeWatchedFiles": {"dynamicRegistration": true}}});
    let mut client = Client::ready_with(&more, &[]).0;
    let asked = client.wait(|message| message["method"] == "client/registerCapability");
    assert_eq!(asked["params"]["registrations"][0]["method"], "workspace/didChangeWatchedFiles");
    client.open(URI, CLEAN);
    assert_eq!(client.diagnostics(URI, 1), Vec::<Value>::new());
    assert!(client.shut_down().success());
}

#[test]
fn other_files_are_left_alone() {
    let mut client = Client::ready();
    let deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x}\nspec: {replicas: many}\n";
    let others = ["", "a: [", "- 1\n- 2\n", "\u{feff}", "just words", deployment];
    for (number, text) in others.iter().enumerate() {
        client.open(&format!("file:///w/other{number}.yaml"), text);
    }
    client.open(URI, CLEAN);
    client.diagnostics(URI, 1);
    // Wait until the others had their turn too.
    client.request("textDocument/documentSymbol", json!({"textDocument": {"uri": "file:///w/other5.yaml"}}));
    let sent = client.try_wait(Duration::from_millis(200), |message| {
        message["method"] == "textDocument/publishDiagnostics" && message["params"]["uri"] != URI
    });
    assert_eq!(sent, None);
}

#[test]
fn closing_clears_what_was_shown() {
    let mut client = Client::ready();
    client.open(URI, BROKEN);
    assert_eq!(client.diagnostics(URI, 1).len(), 1);
    client.notify("textDocument/didClose", json!({"textDocument": {"uri": URI}}));
    let cleared = client.wait(|message| message["method"] == "textDocument/publishDiagnostics");
    assert_eq!(cleared["params"]["diagnostics"], json!([]));
    // A resource that becomes something else is cleared too.
    client.open(URI, BROKEN);
    assert_eq!(client.diagnostics(URI, 1).len(), 1);
    client.change(URI, 2, json!([{"text": "kind: Other\n"}]));
    assert_eq!(client.diagnostics(URI, 2), Vec::<Value>::new());
}

#[test]
fn clients_that_ask_are_not_told() {
    let mut client = Client::start();
    let params = json!({
        "processId": null,
        "capabilities": {"textDocument": {"diagnostic": {}}},
        "initializationOptions": {"diagnostics": "pull"},
    });
    let answer = client.request("initialize", params);
    assert_eq!(answer["capabilities"]["diagnosticProvider"]["interFileDependencies"], true);
    client.notify("initialized", json!({}));
    client.open(URI, BROKEN);
    let report = client.request("textDocument/diagnostic", json!({"textDocument": {"uri": URI}}));
    assert_eq!(report["kind"], "full");
    assert_eq!(report["items"].as_array().map(Vec::len), Some(1), "{report}");
    assert!(client.leftovers().is_empty());
    // Others get no such offer.
    let (_, answer) = Client::ready_with(&json!({"textDocument": {"diagnostic": {}}}), &[]);
    assert_eq!(answer["capabilities"].get("diagnosticProvider"), None);
}

#[test]
fn the_preview_names_the_origin_of_every_line() {
    let mut client = Client::ready();
    client.open(URI, CLEAN);
    let preview = client.request("llsd/preview", json!({"textDocument": {"uri": URI}, "position": at(9, 3)}));
    let text = preview["text"].as_str().expect("a text");
    let lines = preview["lines"].as_array().expect("lines");
    assert_eq!(lines.len(), text.lines().count());
    let line = text.lines().position(|line| line.contains("http://vllm:8000/v1")).expect("the endpoint");
    assert_eq!(lines[line]["kind"], "resource");
    assert_eq!(lines[line]["path"], "spec.providers.inference[0].endpoint");
    assert_eq!(lines[line]["range"]["start"]["line"], 10);
    assert_eq!(preview["languageId"], "yaml");
    assert_eq!(preview["hash"].as_str().map(str::len), Some(64));
}

#[test]
fn completion_inserts_over_what_was_typed() {
    let mut client = Client::ready();
    let text = CLEAN.replace("provider: vllm", "provider: vll");
    client.open(URI, &text);
    let params = json!({"textDocument": {"uri": URI}, "position": at(9, 21)});
    let items = client.request("textDocument/completion", params);
    let vllm = items.as_array().expect("items").iter().find(|item| item["label"] == "vllm").cloned();
    let vllm = vllm.unwrap_or_else(|| panic!("{items}"));
    let edit = &vllm["textEdit"];
    assert_eq!(crate::support::edited(&text, std::slice::from_ref(edit)), CLEAN);
}

#[test]
fn a_code_action_carries_its_edit_and_its_diagnostic() {
    let mut client = Client::ready();
    let text = BROKEN;
    client.open(URI, text);
    let found = client.diagnostics(URI, 1);
    assert_eq!(found.len(), 1, "{found:?}");
    let params = json!({
        "textDocument": {"uri": URI},
        "range": found[0]["range"],
        "context": {"diagnostics": found, "only": ["quickfix"]},
    });
    let actions = client.request("textDocument/codeAction", params);
    let action = &actions[0];
    assert_eq!(action["kind"], "quickfix", "{actions}");
    assert_eq!(action["diagnostics"][0]["code"], found[0]["code"]);
    let edits = action["edit"]["changes"][URI].as_array().expect("edits");
    assert_eq!(crate::support::edited(text, edits), CLEAN);
}

#[test]
fn everything_is_fixed_at_once_where_asked_for() {
    let mut client = Client::ready();
    let text = CLEAN.replace("distribution:", "distributoin:").replace("networking:", "netwroking:");
    client.open(URI, &text);
    let ask = |only| {
        json!({
            "textDocument": {"uri": URI},
            "range": {"start": at(0, 0), "end": at(0, 0)},
            "context": {"diagnostics": [], "only": only},
        })
    };
    let actions = client.request("textDocument/codeAction", ask(json!(["source.fixAll"])));
    assert_eq!(actions.as_array().map(Vec::len), Some(1), "{actions}");
    let edits = actions[0]["edit"]["changes"][URI].as_array().expect("edits");
    assert_eq!(crate::support::edited(&text, edits), CLEAN);
    assert_eq!(client.request("textDocument/codeAction", ask(json!(["source.organizeImports"]))), json!([]));
}

#[test]
fn the_outline_is_a_tree() {
    let mut client = Client::ready();
    client.open(URI, CLEAN);
    let symbols = client.request("textDocument/documentSymbol", json!({"textDocument": {"uri": URI}}));
    assert_eq!(symbols[0]["name"], "minimal", "{symbols}");
    assert!(symbols[0]["children"].as_array().is_some_and(|children| !children.is_empty()));
}

#[test]
fn a_hover_says_what_a_line_becomes() {
    let mut client = Client::ready();
    client.open(URI, CLEAN);
    let params = json!({"textDocument": {"uri": URI}, "position": at(9, 20)});
    let hover = client.request("textDocument/hover", params);
    assert_eq!(hover["contents"]["kind"], "markdown");
    let text = hover["contents"]["value"].as_str().expect("markdown");
    assert!(text.contains("remote::vllm"), "{text}");
}
