//! Editing features as a client meets them over the wire: what is covered by tests of `ide` is only touched.

use crate::support::{Client, at, edited, insert};
use serde_json::{Value, json};
use std::fs;

const URI: &str = "file:///w/resource.yaml";

/// A correct resource; its last model stands behind a letter of two UTF-16 units.
const TEXT: &str = "\
apiVersion: llamastack.io/v1alpha2
kind: LlamaStackDistribution
metadata:
  name: minimal
spec:
  distribution:
    name: starter
  providers:
    inference:
      - id: small
        provider: vllm
        endpoint: http://vllm:8000/v1
  resources:
    models:
      - {name: \"\u{1F999}\", provider: small}
";

const OLD: &str = "\
apiVersion: llamastack.io/v1alpha1
kind: LlamaStackDistribution
metadata:
  name: old
spec:
  # few
  replicas: 2
  server:
    distribution:
      name: starter
";

fn document() -> Value {
    json!({"uri": URI})
}

/// A client with these commands of its own, which applies edits.
fn with_commands(commands: Value) -> Client {
    let mut client = Client::start();
    let params = json!({
        "processId": null,
        "capabilities": {"workspace": {"applyEdit": true, "workspaceEdit": {"documentChanges": true}}},
        "initializationOptions": {"commands": commands},
    });
    client.request("initialize", params);
    client.notify("initialized", json!({}));
    client
}

#[test]
fn formats_as_asked() {
    let mut client = Client::ready();
    let messy = TEXT.replace("  name: starter", "      name: starter   ").replace('\n', "\r\n") + "\r\n\r\n";
    client.open(URI, &messy);
    let params = json!({"textDocument": document(), "options": {"tabSize": 2, "insertSpaces": true}});
    let edits = client.request("textDocument/formatting", params);
    assert_eq!(edited(&messy, edits.as_array().unwrap()), TEXT.replace('\n', "\r\n"));
    let only = json!({
        "textDocument": document(),
        "range": {"start": at(6, 0), "end": at(6, 3)},
        "options": {"tabSize": 2, "insertSpaces": true, "trimTrailingWhitespace": false},
    });
    let edits = client.request("textDocument/rangeFormatting", only);
    assert_eq!(edits.as_array().map(Vec::len), Some(1), "{edits}");
    client.change(URI, 2, json!([{"text": TEXT.replace("  resources:\n", "  resources:\n\n")}]));
    let typed = json!({
        "textDocument": document(),
        "position": at(13, 0),
        "ch": "\n",
        "options": {"tabSize": 2, "insertSpaces": true},
    });
    let edits = client.request("textDocument/onTypeFormatting", typed);
    assert_eq!(edits[0]["newText"], "    ");
}

#[test]
fn folds_selects_and_links() {
    let mut client = Client::ready();
    client.open(URI, TEXT);
    let folds = client.request("textDocument/foldingRange", json!({"textDocument": document()}));
    assert!(folds.as_array().unwrap().contains(&json!({"startLine": 7, "endLine": 11})), "{folds}");
    let params = json!({"textDocument": document(), "positions": [at(14, 32), at(0, 3)]});
    let chains = client.request("textDocument/selectionRange", params);
    assert_eq!(chains.as_array().map(Vec::len), Some(2));
    assert_eq!(chains[0]["range"], json!({"start": at(14, 31), "end": at(14, 36)}), "{chains}");
    assert!(chains[0]["parent"]["parent"].is_object());
    let params = json!({"textDocument": document(), "position": at(9, 14)});
    let linked = client.request("textDocument/linkedEditingRange", params);
    let ranges = [json!({"start": at(9, 12), "end": at(9, 17)}), json!({"start": at(14, 31), "end": at(14, 36)})];
    assert_eq!(linked["ranges"], json!(ranges));
}

/// Lines and columns of all tokens, from the relative numbers of the protocol.
fn decoded(data: &[Value]) -> Vec<(u64, u64, u64, u64, u64)> {
    let (mut line, mut column) = (0, 0);
    let numbers: Vec<u64> = data.iter().map(|number| number.as_u64().unwrap()).collect();
    let decode = |token: &[u64]| {
        column = if token[0] == 0 { column + token[1] } else { token[1] };
        line += token[0];
        (line, column, token[2], token[3], token[4])
    };
    numbers.chunks(5).map(decode).collect()
}

#[test]
fn colours_and_tells_only_what_changed() {
    let (mut client, answer) = Client::ready_with(&json!({}), &[]);
    let legend = &answer["capabilities"]["semanticTokensProvider"]["legend"];
    let kind =
        |name: &str| legend["tokenTypes"].as_array().unwrap().iter().position(|known| known == name).unwrap() as u64;
    client.open(URI, TEXT);
    let full = client.request("textDocument/semanticTokens/full", json!({"textDocument": document()}));
    let mut data = full["data"].as_array().unwrap().clone();
    let tokens = decoded(&data);
    assert!(tokens.contains(&(9, 12, 5, kind("variable"), 1)), "{tokens:?}");
    assert!(tokens.contains(&(10, 18, 4, kind("type"), 0)), "{tokens:?}");
    assert!(tokens.contains(&(14, 31, 5, kind("variable"), 0)), "{tokens:?}");
    let range = json!({"start": at(10, 0), "end": at(11, 0)});
    let part = client.request("textDocument/semanticTokens/range", json!({"textDocument": document(), "range": range}));
    assert_eq!(decoded(part["data"].as_array().unwrap()).len(), 2);
    // a key of line 11 is misspelt
    client.change(URI, 2, json!([insert(11, 9, "x")]));
    let params = json!({"textDocument": document(), "previousResultId": full["resultId"]});
    let delta = client.request("textDocument/semanticTokens/full/delta", params);
    let edits = delta["edits"].as_array().unwrap();
    assert_eq!(edits.len(), 1, "{delta}");
    let start = edits[0]["start"].as_u64().unwrap() as usize;
    let count = edits[0]["deleteCount"].as_u64().unwrap() as usize;
    assert!(count <= 10, "{delta}");
    data.splice(start..start + count, edits[0]["data"].as_array().unwrap().iter().cloned());
    assert!(decoded(&data).contains(&(11, 8, 9, kind("unresolvedReference"), 0)));
    let again = client.request("textDocument/semanticTokens/full", json!({"textDocument": document()}));
    assert_eq!(again["data"], json!(data));
    // an answer that nobody remembers is given whole
    let params = json!({"textDocument": document(), "previousResultId": "none"});
    let delta = client.request("textDocument/semanticTokens/full/delta", params);
    assert!(delta["data"].is_array(), "{delta}");
}

#[test]
fn hints_what_is_left_unsaid() {
    let mut client = Client::ready();
    client.open(URI, TEXT);
    let all = json!({"textDocument": document(), "range": {"start": at(0, 0), "end": at(99, 0)}});
    let hints = client.request("textDocument/inlayHint", all);
    let label = |label: &str| hints.as_array().unwrap().iter().find(|hint| hint["label"] == label).cloned();
    let remote = label("remote::").unwrap_or_else(|| panic!("{hints}"));
    assert_eq!(remote["position"], at(10, 18));
    let edits = remote["textEdits"].as_array().unwrap();
    assert!(edited(TEXT, edits).contains("provider: remote::vllm\n"));
}

#[test]
fn lenses_carry_only_commands_that_run() {
    let ask = |client: &mut Client, text: &str| {
        client.open(URI, text);
        client.request("textDocument/codeLens", json!({"textDocument": document()}))
    };
    let commands = |lenses: &Value| -> Vec<String> {
        let lenses = lenses.as_array().unwrap().iter();
        lenses.map(|lens| lens["command"]["command"].as_str().unwrap().to_owned()).collect()
    };
    // an editor without commands of its own, which applies no edits either
    assert_eq!(ask(&mut Client::ready(), TEXT), json!([]));
    assert_eq!(ask(&mut Client::ready(), OLD), json!([]));
    let mut client = with_commands(json!(["llsd.preview", "llsd.showReferences"]));
    let lenses = ask(&mut client, TEXT);
    assert_eq!(commands(&lenses), ["llsd.preview", "llsd.preview", "llsd.showReferences"]);
    assert_eq!(lenses[2]["command"]["title"], "1 reference");
    assert_eq!(lenses[2]["command"]["arguments"][2][0]["range"]["start"], at(14, 31));
    assert_eq!(lenses[0]["command"]["arguments"], json!([URI, at(1, 6)]));
    let mut client = with_commands(json!([]));
    assert_eq!(commands(&ask(&mut client, TEXT)), Vec::<String>::new());
    let lenses = ask(&mut with_commands(json!([])), OLD);
    assert_eq!(commands(&lenses), ["llsd.server.migrate"]);
}

#[test]
fn migration_is_a_command_of_the_server() {
    let mut client = with_commands(json!([]));
    client.open(URI, OLD);
    let lens = client.request("textDocument/codeLens", json!({"textDocument": document()}))[0].clone();
    let command = &lens["command"];
    let params = json!({"command": command["command"], "arguments": command["arguments"]});
    assert_eq!(client.request("workspace/executeCommand", params), Value::Null);
    let asked = client.wait(|message| message["method"] == "workspace/applyEdit");
    let change = &asked["params"]["edit"]["documentChanges"][0];
    assert_eq!(change["textDocument"], json!({"uri": URI, "version": 1}));
    let new = edited(OLD, change["edits"].as_array().unwrap());
    assert!(new.starts_with("apiVersion: llamastack.io/v1alpha2\n"), "{new}");
    assert!(new.contains("    # few\n    replicas: 2\n"), "{new}");
    // the client never answers, and the server goes on; there is nothing more to migrate here
    client.change(URI, 2, json!([{"text": new}]));
    for (name, arguments, words) in [
        ("llsd.server.migrate", json!([URI, 0]), "no v1alpha1 resource"),
        ("llsd.server.migrate", json!([]), "arguments"),
        ("rm", json!([]), "no command"),
    ] {
        let id = client.ask("workspace/executeCommand", json!({"command": name, "arguments": arguments}));
        let answer = client.answer(id);
        assert!(answer["error"]["message"].as_str().is_some_and(|text| text.contains(words)), "{answer}");
    }
}

#[test]
fn the_preview_keeps_the_last_good_config() {
    let mut client = Client::ready();
    client.open(URI, TEXT);
    let params = json!({"textDocument": document(), "position": at(0, 0)});
    let good = client.request("llsd/preview", params.clone());
    assert_eq!((&good["stale"], &good["llamaStackVersion"]), (&json!(false), &json!("0.4.7")));
    assert!(good["image"].as_str().is_some_and(|image| image.contains("starter")), "{good}");
    // two lines above, and a mistake
    client.change(URI, 2, json!([insert(4, 5, "\n\n"), insert(12, 22, "x")]));
    let kept = client.request("llsd/preview", params.clone());
    assert_eq!((&kept["stale"], &kept["text"], &kept["version"]), (&json!(true), &good["text"], &json!(2)));
    assert_eq!(kept["problems"][0]["range"]["start"], at(12, 18), "{}", kept["problems"]);
    let line = |answer: &Value| {
        let line = answer["lines"]
            .as_array()
            .unwrap()
            .iter()
            .find(|line| line["path"] == "spec.providers.inference[0].endpoint");
        line.map(|line| line["range"]["start"]["line"].clone())
    };
    assert_eq!((line(&good), line(&kept)), (Some(json!(11)), Some(json!(13))));
    client.change(URI, 4, json!([{"text": TEXT}]));
    assert_eq!(client.request("llsd/preview", params)["stale"], false);
}

#[test]
fn configs_are_compared() {
    let folder = std::env::temp_dir().join(format!("llsd-diff-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let saved = folder.join("saved.yaml");
    fs::write(&saved, TEXT.replace("8000", "9000")).unwrap();
    let uri = format!("file://{}", saved.display());
    let mut client = Client::ready();
    client.open(&uri, TEXT);
    let compare = |client: &mut Client, uri: &str, against: &str| {
        let params = json!({"textDocument": {"uri": uri}, "position": at(0, 0), "against": against});
        let id = client.ask("llsd/previewDiff", params);
        client.answer(id)
    };
    let diff = compare(&mut client, &uri, "saved")["result"].clone();
    let hunks = diff["hunks"].as_array().unwrap();
    assert_eq!(hunks.len(), 1, "{diff}");
    let lines = |side: &str| -> Vec<String> {
        let (start, end) = (hunks[0][side]["start"].as_u64().unwrap(), hunks[0][side]["end"].as_u64().unwrap());
        let text = diff[side]["text"].as_str().unwrap();
        text.lines().skip(start as usize).take((end - start) as usize).map(|line| line.trim().to_owned()).collect()
    };
    assert_eq!(lines("left"), ["base_url: http://vllm:9000/v1"]);
    assert_eq!(lines("right"), ["base_url: http://vllm:8000/v1"]);
    assert_eq!(hunks[0]["origins"][0]["path"], "spec.providers.inference[0].endpoint");
    let diff = compare(&mut client, &uri, "base")["result"].clone();
    assert_eq!(diff["left"]["title"], "base config of starter");
    assert!(diff["hunks"].as_array().is_some_and(|hunks| !hunks.is_empty()));
    client.open(URI, TEXT);
    let diff = compare(&mut client, URI, &uri)["result"].clone();
    assert_eq!(diff["hunks"], json!([]), "an open file is compared as it is on the screen");
    for (uri, against, words) in [
        (uri.as_str(), "cluster", "Cluster access is off"),
        (URI, "saved", "has not been saved yet"),
        (uri.as_str(), "x", "neither base, saved"),
        (uri.as_str(), "https://example.com/a.yaml", "is not a file"),
        ("file:///none.yaml", "base", "not open"),
    ] {
        let answer = compare(&mut client, uri, against);
        assert!(answer["error"]["message"].as_str().is_some_and(|text| text.contains(words)), "{answer}");
    }
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn migrations_are_made_when_they_are_chosen() {
    let mut client = Client::start();
    let lazily = json!({"dataSupport": true, "resolveSupport": {"properties": ["edit"]}});
    let mut action = json!({"codeActionLiteralSupport": {"codeActionKind": {"valueSet": []}}});
    action.as_object_mut().unwrap().extend(lazily.as_object().unwrap().clone());
    let params = json!({"processId": null, "capabilities": {"textDocument": {"codeAction": action}}});
    let answer = client.request("initialize", params);
    let provider = &answer["capabilities"]["codeActionProvider"];
    assert_eq!(provider["resolveProvider"], true);
    assert!(provider["codeActionKinds"].as_array().unwrap().contains(&json!("source.fixAll.llsd")), "{provider}");
    client.notify("initialized", json!({}));
    client.open(URI, OLD);
    let params = json!({
        "textDocument": document(),
        "range": {"start": at(3, 0), "end": at(3, 0)},
        "context": {"diagnostics": [], "only": ["refactor"]},
    });
    let offered = client.request("textDocument/codeAction", params)[0].clone();
    assert_eq!((&offered["title"], &offered["edit"]), (&json!("Migrate to v1alpha2"), &Value::Null));
    let resolved = client.request("codeAction/resolve", offered.clone());
    let new = edited(OLD, resolved["edit"]["changes"][URI].as_array().unwrap());
    assert!(new.starts_with("apiVersion: llamastack.io/v1alpha2\n"), "{new}");
    let params = json!({
        "textDocument": document(),
        "range": {"start": at(3, 0), "end": at(3, 0)},
        "context": {"diagnostics": [], "only": ["refactor.rewrite.llsd.ogx"]},
    });
    let to_ogx = client.request("textDocument/codeAction", params);
    let titles: Vec<&Value> = to_ogx.as_array().unwrap().iter().map(|action| &action["title"]).collect();
    let title = "Migrate to OGXServer with ogx 1.5.0";
    assert_eq!(titles, [&json!(title), &json!(format!("{title}, keeping the name"))]);
    let resolved = client.request("codeAction/resolve", to_ogx[0].clone());
    let new = edited(OLD, resolved["edit"]["changes"][URI].as_array().unwrap());
    assert!(new.starts_with("apiVersion: ogx.io/v1beta1\n"), "{new}");
    client.change(URI, 2, json!([insert(5, 0, "#")]));
    let id = client.ask("codeAction/resolve", offered);
    let answer = client.answer(id);
    assert!(answer["error"]["message"].as_str().is_some_and(|text| text.contains("has changed")), "{answer}");
}
