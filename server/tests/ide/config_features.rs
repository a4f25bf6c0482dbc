//! What the editor offers inside configs of the server, and that it is the same wherever a config stands.

use crate::ide::files::Files;
use crate::ide::support::{apply, cursor};
use expect_test::{Expect, expect};
use llsd::ide::{self, Analysis, FormatOptions, InlaySettings, Query, Span, Workspace};

/// A config of llama-stack 0.4 to 0.7.
pub(super) const CONFIG: &str = "\
version: 2
image_name: demo
apis:
- inference
- vector_io
providers:
  inference:
  - provider_id: vllm
    provider_type: remote::vllm
    config:
      base_url: ${env.VLLM_URL:=http://vllm:8000/v1}
      max_token: 4096
  vector_io:
  - provider_id: faiss
    provider_type: inline::faiss
    config:
      persistence:
        namespace: vectors
        backend: kv_default
storage:
  backends:
    kv_default:
      type: kv_sqlite
      db_path: /data/kv.db
registered_resources:
  models:
  - model_id: chat
    provider_id: vllm
    model_type: llm
";

/// The config in a literal text of a ConfigMap.
fn literal(config: &str) -> String {
    let indented = |line: &str| if line.is_empty() { "\n".to_owned() } else { format!("    {line}\n") };
    let body: String = config.lines().map(indented).collect();
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: config\ndata:\n  config.yaml: |\n{body}")
}

/// The config in a quoted text of a ConfigMap, as `kubectl` writes JSON.
fn quoted(config: &str) -> String {
    let text = serde_json::Value::from(config);
    format!(
        "{{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {{\"name\": \"config\"}}, \"data\": {{\"run.yaml\": {text}}}}}"
    )
}

/// The config as a part of a chart's values.
pub(super) fn values(config: &str) -> String {
    let indented = |line: &str| if line.is_empty() { "\n".to_owned() } else { format!("    {line}\n") };
    let body: String = config.lines().map(indented).collect();
    format!("replicas: 1\nstack:\n  config:\n{body}")
}

/// The template that puts it into a ConfigMap.
pub(super) const TEMPLATE: &str = "\
apiVersion: v1
kind: ConfigMap
metadata:
  name: config
data:
  config.yaml: |
    {{- toYaml .Values.stack.config | nindent 4 }}
";

pub(super) const HEAD: &str = "apiVersion: v2\nname: stack\nversion: 0.1.0\n";

/// The text understood as the values of that chart, which means nothing to other texts.
fn analyse(text: &str) -> Analysis {
    let mut workspace = Workspace::new();
    for (file, text) in [("chart/Chart.yaml", HEAD), ("chart/templates/config.yaml", TEMPLATE)] {
        workspace.set(file, ide::analyse(text.into(), None, &Workspace::new()).objects());
    }
    ide::analyse(text.into(), None, &workspace.seen_by("chart/values.yaml"))
}

/// A cursor in the config, bare, and in each text that holds it, at the same letter.
fn everywhere(at: usize) -> Vec<(&'static str, String, usize)> {
    let mark = '\u{1F4CD}';
    let mut marked = CONFIG.to_owned();
    marked.insert(at, mark);
    let placed = |text: String| {
        let at = text.find(mark).expect("the mark");
        (text.replace(mark, ""), at)
    };
    let all = [
        ("literal", placed(literal(&marked))),
        ("quoted", placed(quoted(&marked))),
        ("values", placed(values(&marked))),
    ];
    all.into_iter().map(|(name, (text, at))| (name, text, at)).collect()
}

/// Every third place of the config.
fn places() -> impl Iterator<Item = usize> {
    (0..CONFIG.len()).step_by(3)
}

#[test]
fn hovers_are_the_same_everywhere() {
    let bare = analyse(CONFIG);
    let mut found = 0;
    for at in places() {
        let said = |analysis: &Analysis, text: &str, at: usize| {
            ide::hover(analysis, at).map(|hover| (text[hover.span.start..hover.span.end].to_owned(), hover.markdown))
        };
        let expected = said(&bare, CONFIG, at);
        found += usize::from(expected.is_some());
        for (place, text, at) in everywhere(at) {
            assert_eq!(said(&analyse(&text), &text, at), expected, "{place} at {at}");
        }
    }
    assert!(found > 50, "{found}");
}

#[test]
fn offers_are_the_same_everywhere() {
    let bare = analyse(CONFIG);
    let mut found = 0;
    for at in places() {
        let labels = |analysis: &Analysis, at: usize| -> Vec<(String, String)> {
            ide::complete(analysis, at).into_iter().map(|item| (item.label, item.insert.new_text)).collect()
        };
        let expected = labels(&bare, at);
        found += usize::from(!expected.is_empty());
        for (place, text, at) in everywhere(at).into_iter().filter(|(place, ..)| *place != "quoted") {
            assert_eq!(labels(&analyse(&text), at), expected, "{place} at {at}:\n{text}");
        }
    }
    assert!(found > 50, "{found}");
}

#[test]
fn names_lead_to_the_same_places_everywhere() {
    let said = |text: &str, at: usize| -> Vec<String> {
        let analysis = analyse(text);
        let question = Query::alone(&analysis);
        let definition = ide::definition(&question, at);
        let references = ide::references(&question, at, true);
        let all = definition.into_iter().chain(references);
        all.map(|one| {
            let before = &text[..one.span.start];
            let nearby: String = before.chars().rev().take(12).collect();
            format!("{} {}", &text[one.span.start..one.span.end], if text == CONFIG { nearby } else { String::new() })
        })
        .collect()
    };
    let names = |found: Vec<String>| -> Vec<String> {
        found.into_iter().map(|one| one.split(' ').next().unwrap_or_default().to_owned()).collect()
    };
    let mut found = 0;
    for at in places() {
        let expected = names(said(CONFIG, at));
        found += usize::from(!expected.is_empty());
        for (place, text, at) in everywhere(at) {
            assert_eq!(names(said(&text, at)), expected, "{place} at {at}");
        }
    }
    assert!(found > 20, "{found}");
}

#[test]
fn outline_and_colours_are_the_same_everywhere() {
    fn names(symbol: &ide::Symbol, text: &str, out: &mut Vec<(String, String)>) {
        out.push((symbol.name.clone(), text[symbol.selection.start..symbol.selection.end].to_owned()));
        symbol.children.iter().for_each(|child| names(child, text, out));
    }
    let outline = |text: &str| {
        let mut out = Vec::new();
        ide::symbols(&analyse(text)).iter().for_each(|symbol| names(symbol, text, &mut out));
        out
    };
    let colours = |text: &str| -> Vec<_> {
        let tokens = ide::tokens(&analyse(text), None).into_iter();
        tokens.map(|token| (token.kind, text[token.span.start..token.span.end].to_owned())).collect()
    };
    let (expected, coloured) = (outline(CONFIG), colours(CONFIG));
    assert!(expected.len() > 20 && coloured.len() > 30, "{expected:?} {coloured:?}");
    assert!(coloured.contains(&(ide::TokenKind::UnknownKey, "max_token".to_owned())), "{coloured:?}");
    for text in [literal(CONFIG), quoted(CONFIG), values(CONFIG)] {
        assert_eq!(outline(&text)[1..], expected[1..], "{text}");
        assert_eq!(colours(&text), coloured, "{text}");
    }
}

#[test]
fn folds_and_selections_follow_the_config() {
    let first_lines = |text: &str| -> Vec<String> {
        let folds = ide::folds(&analyse(text)).into_iter();
        let line = |at: usize| text[..at].matches('\n').count();
        folds.map(|fold| text.lines().nth(line(fold.span.start)).unwrap_or_default().trim().to_owned()).collect()
    };
    for inside in [literal(CONFIG), values(CONFIG)] {
        let inside = first_lines(&inside);
        for fold in first_lines(CONFIG) {
            assert!(inside.contains(&fold), "{fold}: {inside:?}");
        }
    }
    for (_, text, at) in everywhere(CONFIG.find("remote::vllm").unwrap() + 3) {
        let analysis = analyse(&text);
        let grown: Vec<&str> =
            ide::selection_ranges(&analysis, at).iter().map(|span| &text[span.start..span.end]).collect();
        assert_eq!(grown[0], "remote::vllm");
        assert!(grown[1].starts_with("provider_type"), "{grown:?}");
    }
}

#[test]
fn renaming_keeps_to_the_config() {
    for (_, text, at) in everywhere(CONFIG.find("kv_default").unwrap() + 1) {
        let analysis = analyse(&text);
        let edits = ide::rename(&Query::alone(&analysis), at, "main").expect("a backend has a name");
        let changed = apply(&text, &edits[0].edits);
        assert_eq!(changed, text.replace("kv_default", "main"));
    }
    let (text, at) = (CONFIG, CONFIG.find("vllm").unwrap() + 1);
    let analysis = analyse(text);
    let edits = ide::rename(&Query::alone(&analysis), at, "gpu").expect("a provider has a name");
    assert_eq!(apply(text, &edits[0].edits).matches("provider_id: gpu").count(), 2);
    assert_eq!(ide::linked_places(&analysis, at).expect("two places").len(), 2);
}

#[test]
fn formatting_moves_the_lines_of_the_config() {
    let untidy = "version: 2\nimage_name:   demo  \n\n\n\nproviders:\n    inference:\n        - provider_id: a   \n          provider_type: remote::vllm\nstorage: {}\n";
    let formatted = |text: &str| {
        let edits = ide::format(&analyse(text), None, &FormatOptions::default());
        apply(text, &edits)
    };
    let tidy = formatted(untidy);
    assert_ne!(tidy, untidy);
    for place in [literal, values] {
        let inside = formatted(&place(untidy));
        assert_eq!(inside, place(&tidy));
        assert_eq!(formatted(&inside), inside, "a second time");
    }
}

fn offered(text: &str, expected: Expect) {
    let (text, at) = cursor(text);
    let mut shown = String::new();
    for item in ide::complete(&analyse(&text), at).iter().take(5) {
        let typed = &text[item.insert.span.start..item.insert.span.end];
        shown.push_str(&format!("{} | {} | {:?} for {typed:?}\n", item.label, item.detail, item.insert.new_text));
    }
    expected.assert_eq(&shown);
}

#[test]
fn keys_and_values_are_those_of_the_place() {
    offered(
        &CONFIG.replace("max_token: 4096", "max$0"),
        expect![[r#"
        max_tokens | integer, default 4096 | "max_tokens: ${1:4096}" for "max"
        api_token | string | "api_token: $1" for "max"
        allowed_models | list | "allowed_models:\n  - $1" for "max"
        refresh_models | boolean, default false | "refresh_models: ${1:true}" for "max"
        tls_verify | boolean or path, deprecated | "tls_verify: $1" for "max"
    "#]],
    );
    offered(
        &CONFIG.replace("inline::faiss", "$0"),
        expect![[r#"
        inline::chromadb |  | "inline::chromadb" for ""
        inline::faiss |  | "inline::faiss" for ""
        inline::milvus |  | "inline::milvus" for ""
        inline::qdrant |  | "inline::qdrant" for ""
        inline::sqlite-vec |  | "inline::sqlite-vec" for ""
    "#]],
    );
    offered(
        &CONFIG.replace("backend: kv_default", "backend: $0"),
        expect![[r#"
        kv_default | kv_sqlite | "kv_default" for ""
    "#]],
    );
    offered(
        &CONFIG.replace("provider_id: vllm\n    model_type", "provider_id: $0\n    model_type"),
        expect![[r#"
        vllm | remote::vllm | "vllm" for ""
    "#]],
    );
    offered(
        &CONFIG.replace("type: kv_sqlite", "type: $0"),
        expect![[r#"
            kv_redis |  | "kv_redis" for ""
            kv_sqlite |  | "kv_sqlite" for ""
            kv_postgres |  | "kv_postgres" for ""
            kv_mongodb |  | "kv_mongodb" for ""
            sql_sqlite |  | "sql_sqlite" for ""
        "#]],
    );
    offered(
        &CONFIG.replace("- vector_io", "- $0"),
        expect![[r#"
        vector_io |  | "vector_io" for ""
        batches |  | "batches" for ""
        datasetio |  | "datasetio" for ""
        eval |  | "eval" for ""
        file_processors |  | "file_processors" for ""
    "#]],
    );
    offered(
        &CONFIG.replace("env.VLLM_URL:=", "env.VLLM_$0:="),
        expect![[r#"
            VLLM_API_TOKEN | read by the starter distribution | "VLLM_API_TOKEN" for "VLLM_"
            VLLM_MAX_TOKENS | read by the starter distribution | "VLLM_MAX_TOKENS" for "VLLM_"
            VLLM_TLS_VERIFY | read by the starter distribution | "VLLM_TLS_VERIFY" for "VLLM_"
            VLLM_URL | read by the starter distribution | "VLLM_URL" for "VLLM_"
            ANTHROPIC_API_KEY | read by the starter distribution | "ANTHROPIC_API_KEY" for "VLLM_"
        "#]],
    );
    offered(
        &CONFIG.replace("max_token: 4096", "api_token: $0"),
        expect![[r#"
        ${env.VLLM_API_TOKEN} | from a variable | "${env.VLLM_API_TOKEN:=}" for ""
    "#]],
    );
    offered(
        &format!("{CONFIG}$0"),
        expect![[r#"
        vector_stores | mapping | "vector_stores:\n  $1" for ""
        safety | mapping | "safety:\n  $1" for ""
        server | mapping | "server:\n  $1" for ""
        logging | mapping | "logging:\n  $1" for ""
        container_image | string | "container_image: $1" for ""
    "#]],
    );
}

#[test]
fn the_first_provider_is_offered_as_a_whole() {
    let begun = "version: 2\nimage_name: demo\nproviders:\n  inference:\n    $0";
    offered(
        begun,
        expect![[r#"
            - … | a whole entry | "- provider_id: $1\n  provider_type: $2" for ""
            - provider_id | string, required | "- provider_id: $1" for ""
            - provider_type | string, required | "- provider_type: $1" for ""
            - config | mapping, default {} | "- config:\n    $1" for ""
            - module | string | "- module: $1" for ""
        "#]],
    );
    offered(
        &literal(begun),
        expect![[r#"
            - … | a whole entry | "- provider_id: $1\n  provider_type: $2" for ""
            - provider_id | string, required | "- provider_id: $1" for ""
            - provider_type | string, required | "- provider_type: $1" for ""
            - config | mapping, default {} | "- config:\n    $1" for ""
            - module | string | "- module: $1" for ""
        "#]],
    );
}

/// A resource that mounts the ConfigMap `config`.
pub(super) const RESOURCE: &str = "\
apiVersion: llamastack.io/v1alpha1
kind: LlamaStackDistribution
metadata:
  name: demo
spec:
  server:
    distribution:
      image: example.com/llama-stack:0.5.4
    containerSpec:
      env:
      - {name: VLLM_URL, value: \"http://vllm:8000/v1\"}
      - {name: VLLM_TOKEN, valueFrom: {secretKeyRef: {name: keys, key: token}}}
    userConfig: {configMapName: config}
";

#[test]
fn the_resource_that_mounts_a_config_tells_its_version_and_variables() {
    let inside = literal(CONFIG).replace("VLLM_URL", "VLLM$0_URL");
    let beside = format!("{inside}---\n{RESOURCE}");
    let (text, at) = cursor(&beside);
    let hover = ide::hover(&analyse(&text), at).expect("a variable");
    assert!(hover.markdown.contains("`http://vllm:8000/v1` in resource \"demo\""), "{}", hover.markdown);
    assert!(hover.markdown.contains("llama-stack 0.5.4: image example.com/llama-stack:0.5.4 of resource \"demo\""));
    offered(
        &beside.replace("VLLM$0_URL", "$0"),
        expect![[r#"
        VLLM_TOKEN | from Secret keys, key token, in resource "demo" | "VLLM_TOKEN" for ""
        VLLM_URL | `http://vllm:8000/v1` in resource "demo" | "VLLM_URL" for ""
        ANTHROPIC_API_KEY | read by the starter distribution | "ANTHROPIC_API_KEY" for ""
        AWS_BEARER_TOKEN_BEDROCK | read by the starter distribution | "AWS_BEARER_TOKEN_BEDROCK" for ""
        AWS_DEFAULT_REGION | read by the starter distribution | "AWS_DEFAULT_REGION" for ""
    "#]],
    );
    let hints = ide::inlay_hints(&analyse(&text), Span::new(0, text.len()), &InlaySettings::default());
    let labels: Vec<&str> = hints.iter().map(|hint| hint.label.as_str()).collect();
    assert!(labels.contains(&"http://vllm:8000/v1 in resource \"demo\""), "{labels:?}");
    assert!(labels.contains(&"vllm/chat"), "{labels:?}");
}

#[test]
fn a_resource_of_another_file_tells_the_version_too() {
    let files = Files::new(&format!(
        "#- config.yaml\n{}#- stack.yaml\n{RESOURCE}",
        literal(CONFIG).replace("max_token", "max$0_token")
    ));
    let (question, at) = files.asked();
    let hover = ide::hover(question.analysis.expect("a file"), at);
    assert!(hover.is_none(), "an unknown key has no meaning");
    let said = question.analysis.expect("a file").diagnostics();
    assert!(
        said.iter().any(|one| one.message.starts_with("llama-stack 0.5.4 does not read \"max_token\"")),
        "{said:#?}"
    );
}

#[test]
fn a_kustomization_leads_from_a_file_to_the_resource_that_reads_it() {
    let kustomization =
        "resources: [stack.yaml]\nconfigMapGenerator:\n- name: config\n  files: [config.yaml=files/run.yaml]\n";
    let fixture = |kustomization: &str| {
        format!(
            "#- /app/kustomization.yaml\n{kustomization}#- /app/stack.yaml\n{RESOURCE}#- /app/files/run.yaml\n$0{CONFIG}"
        )
    };
    let version = |kustomization: &str| {
        let files = Files::new(&fixture(kustomization));
        let (question, _) = files.asked();
        let said = question.analysis.expect("a file").diagnostics();
        said.iter().any(|one| one.message.starts_with("llama-stack 0.5.4 does not read \"max_token\""))
    };
    assert!(version(kustomization));
    assert!(!version("resources: [stack.yaml]\n"));
}
