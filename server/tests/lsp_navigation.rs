//! Names over the wire: definition, references, rename and search, in files and in texts that are in no file.

use crate::support::{Client, at, comes_about, edited, insert};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

const RESOURCE: &str = "\
apiVersion: llamastack.io/v1alpha2
kind: LlamaStackDistribution
metadata:
  name: demo
spec:
  distribution:
    name: starter
  providers:
    inference:
      - provider: passthrough
        endpoint: http://a/v1 # \u{1F999}
        apiKey: {secretKeyRef: {name: tokens, key: \"token\"}}
  resources:
    models:
      - name: llama
        provider: passthrough
  workload:
    overrides:
      env:
        - name: CUSTOM
          value: ${env.CUSTOM:=\u{1F999}} # \u{1F999}
";

const SECRET: &str = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: tokens\nstringData:\n  token: x\n";

/// A folder of its own, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("llsd-navigation-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        Self(folder.canonicalize().expect("it exists"))
    }

    fn write(&self, name: &str, text: &str) -> String {
        fs::write(self.0.join(name), text).expect("written");
        self.uri(name)
    }

    fn uri(&self, name: &str) -> String {
        format!("file://{}", self.0.join(name).display())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Line and UTF-16 character of the `count`th `needle`, `inside` units further on.
fn position(text: &str, needle: &str, count: usize, inside: u32) -> Value {
    let (start, _) = text.match_indices(needle).nth(count).expect("it is there");
    let line = text[..start].matches('\n').count() as u32;
    let column = text[..start].rsplit('\n').next().unwrap_or_default().encode_utf16().count() as u32;
    at(line, column + inside)
}

fn place(uri: &str, position: Value) -> Value {
    json!({"textDocument": {"uri": uri}, "position": position})
}

/// Asks until the answer fits: files on disk are read when there is time.
fn until(client: &mut Client, method: &str, params: &Value, fits: impl Fn(&Value) -> bool) -> Value {
    let mut answer = Value::Null;
    let fitted = comes_about(|| {
        answer = client.request(method, params.clone());
        fits(&answer)
    });
    assert!(fitted, "{method}: {answer}");
    answer
}

fn started(more: &Value, folder: &Path) -> Client {
    let mut client = Client::start();
    let folders = json!([{"uri": format!("file://{}", folder.display()), "name": "folder"}]);
    let mut capabilities = json!({
        "workspace": {"workspaceEdit": {"documentChanges": true}},
        "textDocument": {"rename": {"prepareSupport": true}},
    });
    if more.get("plain").is_some() {
        capabilities = json!({});
    }
    let options = more.get("options").cloned().unwrap_or_default();
    let params = json!({
        "processId": null, "capabilities": capabilities, "workspaceFolders": folders, "initializationOptions": options,
    });
    let answer = client.request("initialize", params);
    for provider in ["definition", "implementation", "references", "documentHighlight", "workspaceSymbol"] {
        assert_eq!(answer["capabilities"][format!("{provider}Provider")], true, "{answer}");
    }
    assert_eq!(answer["capabilities"]["documentLinkProvider"]["resolveProvider"], false);
    let rename = &answer["capabilities"]["renameProvider"];
    assert_eq!(*rename == json!({"prepareProvider": true}), more.get("plain").is_none(), "{rename}");
    client.notify("initialized", json!({}));
    client
}

#[test]
fn a_secret_on_disk_is_found_and_renamed() {
    let folder = Folder::new("rename");
    let secret = folder.write("secret.yaml", SECRET);
    let resource = folder.write("resource.yaml", RESOURCE);
    let mut client = started(&json!({}), &folder.0);
    client.open(&resource, RESOURCE);
    let name = place(&resource, position(RESOURCE, "tokens", 0, 2));
    let found = until(&mut client, "textDocument/definition", &name, |answer| {
        answer[0]["uri"].as_str().is_some_and(|uri| uri.ends_with("secret.yaml"))
    });
    let range = json!({"start": at(3, 8), "end": at(3, 14)});
    assert_eq!(found, json!([{"uri": secret, "range": range}]));

    client.change(&resource, 2, json!([insert(0, 0, "# \u{1F999}\n")]));
    let text = format!("# \u{1F999}\n{RESOURCE}");
    let name = place(&resource, position(&text, "tokens", 0, 2));
    let prepared = client.request("textDocument/prepareRename", name.clone());
    let start = position(&text, "tokens", 0, 0);
    assert_eq!(prepared["placeholder"], "tokens");
    assert_eq!(prepared["range"]["start"], start);

    let mut params = name.clone();
    params["newName"] = json!("keys");
    let changes = client.request("textDocument/rename", params)["documentChanges"].clone();
    let of = |uri: &str| changes.as_array().unwrap().iter().find(|one| one["textDocument"]["uri"] == uri).unwrap();
    assert_eq!(changes.as_array().unwrap().len(), 2, "{changes}");
    assert_eq!(of(&resource)["textDocument"]["version"], 2);
    assert_eq!(of(&secret)["textDocument"]["version"], Value::Null);
    let new = edited(&text, of(&resource)["edits"].as_array().unwrap());
    assert_eq!(new, text.replace("name: tokens", "name: keys"));
    let new = edited(SECRET, of(&secret)["edits"].as_array().unwrap());
    assert_eq!(new, SECRET.replace("tokens", "keys"));

    let mut params = name;
    params["newName"] = json!("No Secret");
    let id = client.ask("textDocument/rename", params);
    let error = client.answer(id)["error"].clone();
    assert_eq!(error["code"], -32803);
    assert!(error["message"].as_str().is_some_and(|text| text.contains("cannot be the name of the Secret")), "{error}");
    let nothing = place(&resource, at(0, 1));
    assert_eq!(client.request("textDocument/prepareRename", nothing), Value::Null);
    assert!(client.shut_down().success());
}

#[test]
fn edits_without_versions_for_older_clients() {
    let folder = Folder::new("plain");
    let resource = folder.write("resource.yaml", RESOURCE);
    let mut client = started(&json!({"plain": true}), &folder.0);
    client.open(&resource, RESOURCE);
    let mut params = place(&resource, position(RESOURCE, "CUSTOM", 1, 1));
    params["newName"] = json!("OTHER");
    let edit = client.request("textDocument/rename", params);
    let new = edited(RESOURCE, edit["changes"][&resource].as_array().unwrap());
    assert_eq!(new, RESOURCE.replace("CUSTOM", "OTHER"));
    assert!(client.shut_down().success());
}

#[test]
fn highlights_tell_writing_from_reading() {
    let folder = Folder::new("highlight");
    let resource = folder.uri("resource.yaml");
    let mut client = started(&json!({}), &folder.0);
    client.open(&resource, RESOURCE);
    let asked = place(&resource, position(RESOURCE, "passthrough", 1, 0));
    let found = client.request("textDocument/documentHighlight", asked);
    let kinds: Vec<_> = found.as_array().unwrap().iter().map(|one| (&one["range"]["start"], &one["kind"])).collect();
    let (write, read) = (position(RESOURCE, "passthrough", 0, 0), position(RESOURCE, "passthrough", 1, 0));
    assert_eq!(kinds, [(&write, &json!(3)), (&read, &json!(2))]);
    assert!(client.shut_down().success());
}

#[test]
fn texts_in_no_file_can_be_read_and_asked() {
    let folder = Folder::new("virtual");
    // a name that has to be escaped
    let resource = folder.uri("re%20so&urce%23.yaml");
    let mut client = started(&json!({"options": {"virtualDocuments": true}}), &folder.0);
    client.open(&resource, RESOURCE);
    let endpoint = place(&resource, position(RESOURCE, "endpoint", 0, 1));
    for method in ["textDocument/definition", "textDocument/implementation"] {
        let found = client.request(method, endpoint.clone());
        let uri = found[0]["uri"].as_str().expect("a place").to_owned();
        assert!(uri.starts_with("llsd-preview:/demo/config.yaml?"), "{uri}");
        let document = client.request("llsd/document", json!({"uri": uri}));
        let text = document["text"].as_str().expect("a text").to_owned();
        assert_eq!(document["languageId"], "yaml");
        assert_eq!(client.request("workspace/textDocumentContent", json!({"uri": uri}))["text"], text.as_str());
        let start = &found[0]["range"]["start"];
        let line = text.lines().nth(start["line"].as_u64().unwrap() as usize).unwrap();
        assert_eq!(line.trim(), "base_url: http://a/v1");
        // an editor that opened it keeps asking the server
        client.open(&uri, &text);
        let back = client.request("textDocument/definition", place(&uri, start.clone()));
        assert_eq!(back[0]["uri"], resource);
        assert_eq!(back[0]["range"]["start"], position(RESOURCE, "endpoint", 0, 0));
        let hover = client.request("textDocument/hover", place(&uri, start.clone()));
        assert_eq!(hover["contents"]["value"], "From the resource: `spec.providers.inference[0].endpoint`");
        let base = client.request("textDocument/definition", place(&uri, at(0, 0)));
        assert_eq!(base[0]["uri"], "llsd-base:/starter/config.yaml");
        let named = client.request("textDocument/documentHighlight", place(&uri, position(&text, "passthrough", 0, 0)));
        assert!(named.as_array().unwrap().len() >= 2, "{named}");
    }
    let name = place(&resource, position(RESOURCE, "passthrough", 0, 0));
    let references = |client: &mut Client| {
        let mut params = name.clone();
        params["context"] = json!({"includeDeclaration": true});
        let found = client.request("textDocument/references", params);
        found.as_array().unwrap().iter().map(|one| one["uri"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let uris = references(&mut client);
    assert_eq!(uris.iter().filter(|uri| **uri == resource).count(), 2);
    assert_eq!(uris.iter().filter(|uri| uri.starts_with("llsd-preview:")).count(), 2);
    let distribution = place(&resource, position(RESOURCE, "starter", 0, 0));
    let base = client.request("textDocument/definition", distribution)[0]["uri"].as_str().unwrap().to_owned();
    let text = client.request("llsd/document", json!({"uri": base}))["text"].as_str().unwrap().to_owned();
    let asked = place(&base, position(&text, "tavily-search", 2, 0));
    let declared = client.request("textDocument/definition", asked);
    assert_eq!(declared[0]["uri"], base.as_str());
    assert_eq!(declared[0]["range"]["start"], position(&text, "tavily-search", 0, 0));
    for wrong in ["llsd-base:/none/config.yaml", "llsd-preview:/a/config.yaml", "file:///a"] {
        assert_eq!(client.request("llsd/document", json!({"uri": wrong})), Value::Null);
    }
    assert!(client.shut_down().success());

    // a client that does not say so is shown files only
    let mut client = started(&json!({}), &folder.0);
    client.open(&resource, RESOURCE);
    assert_eq!(references(&mut client), [resource.as_str(), resource.as_str()]);
    assert!(client.shut_down().success());
}

#[test]
fn the_search_follows_the_files() {
    let folder = Folder::new("symbols");
    let secret = folder.write("secret.yaml", SECRET);
    let resource = folder.uri("resource.yaml");
    let mut client = started(&json!({}), &folder.0);
    let query = |text: &str| json!({"query": text});
    let names = |answer: &Value| -> Vec<String> {
        let all = answer.as_array().into_iter().flatten();
        all.map(|one| one["name"].as_str().unwrap_or_default().to_owned()).collect()
    };
    let found = until(&mut client, "workspace/symbol", &query("tok"), |answer| names(answer) == ["tokens"]);
    assert_eq!(found[0]["location"], json!({"uri": secret, "range": {"start": at(3, 8), "end": at(3, 14)}}));

    client.open(&resource, RESOURCE);
    client.diagnostics(&resource, 1);
    let found = client.request("workspace/symbol", query("pass"));
    assert_eq!((names(&found), &found[0]["containerName"]), (vec!["passthrough".to_owned()], &json!("demo")));

    folder.write("secret.yaml", &SECRET.replace("tokens", "renamed"));
    let changed = |kind: u32| json!({"changes": [{"uri": secret, "type": kind}]});
    client.notify("workspace/didChangeWatchedFiles", changed(2));
    until(&mut client, "workspace/symbol", &query("renamed"), |answer| names(answer) == ["renamed"]);
    assert_eq!(names(&client.request("workspace/symbol", query("tokens"))), Vec::<String>::new());
    fs::remove_file(folder.0.join("secret.yaml")).expect("removed");
    client.notify("workspace/didChangeWatchedFiles", changed(3));
    until(&mut client, "workspace/symbol", &query("renamed"), |answer| names(answer).is_empty());
    assert!(client.shut_down().success());
}

#[test]
fn links_lead_to_lines_and_pages() {
    let folder = Folder::new("links");
    let resource = folder.uri("resource.yaml");
    let mut client = started(&json!({}), &folder.0);
    let text = RESOURCE.replace("name: starter", "image: quay.io/a/b:0.4.7 # llsd::provider::unknown-type");
    client.open(&resource, &text);
    let found = client.request("textDocument/documentLink", json!({"textDocument": {"uri": resource}}));
    let shown: Vec<_> = found
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            let start = &one["range"]["start"];
            let target = one["target"].as_str().unwrap().replace(&resource, "FILE");
            format!("{}:{} {target}", start["line"], start["character"])
        })
        .collect();
    assert_eq!(shown[0], "6:11 https://quay.io/repository/a/b?tab=tags&tag=0.4.7");
    assert!(shown[1].ends_with("/docs/findings.md#llsdproviderunknown-type"), "{shown:?}");
    assert_eq!(shown[2], "20:23 FILE#L20,17");
    assert_eq!(shown.len(), 3, "{shown:?}");
    assert!(client.shut_down().success());
}
