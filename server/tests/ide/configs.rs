//! Configs of the server: files of their own, and texts in a ConfigMap, at the places of the file around them.

use crate::ide::support::{analyse, apply};
use llsd::ide::{self, Query, Severity, Span};

/// A config with three faults that can be mended, and none that cannot.
const CONFIG: &str = "\
# what the server runs with
version: 2
distro_name: test
apis: [inference]
providers:
  inference:
  - provider_id: vllm
    provider_type: remote::vllm
    config:
      url: http://vllm:8000/v1  # the big one
      max_token: 4096
models:
- model_id: chat
  provider_id: vllm
";

/// The lines of a text, each with this indentation.
fn indented(text: &str, by: usize) -> String {
    text.lines().map(|line| format!("{}{line}\n", " ".repeat(by))).collect()
}

fn config_map(header: &str, body: &str) -> String {
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: config\ndata:\n  run.yaml: {header}\n{body}  other: text\n"
    )
}

/// The same config in each place where it can be mended.
fn places() -> Vec<(&'static str, String)> {
    let list = config_map("|", &indented(CONFIG, 4));
    let list = format!("apiVersion: v1\nkind: List\nitems:\n- {}", indented(&list, 2).trim_start());
    vec![
        ("a file", CONFIG.to_owned()),
        ("a second document", format!("a: 1\n---\n{CONFIG}")),
        ("a literal text", config_map("|", &indented(CONFIG, 4))),
        ("a literal text far to the right", config_map("|-", &indented(CONFIG, 9))),
        ("a literal text with its indentation", config_map("|2", &indented(CONFIG, 4))),
        ("an item of a list", list),
    ]
}

/// Rule and marked text of everything that is told of a text.
fn told(text: &str) -> Vec<(&'static str, String)> {
    let shown = analyse(text).diagnostics().into_iter();
    shown
        .filter(|one| one.severity <= Severity::Warning)
        .map(|one| (one.code, text[one.span.start..one.span.end].to_owned()))
        .collect()
}

#[test]
fn faults_are_told_where_they_stand() {
    for (place, text) in places() {
        let expected = [
            ("llsd::config::renamed-key", "url"),
            ("llsd::config::unknown-key", "max_token"),
            ("llsd::config::renamed-key", "models"),
        ];
        assert_eq!(told(&text), expected.map(|(rule, marked)| (rule, marked.to_owned())), "{place}:\n{text}");
    }
}

#[test]
fn fixes_keep_the_text_around_them() {
    for (place, mut text) in places() {
        for _ in 0..3 {
            let analysis = analyse(&text);
            let actions = ide::quick_fixes(&Query::alone(&analysis), Span::new(0, text.len()));
            let action = actions.first().unwrap_or_else(|| panic!("{place}: no fix for\n{text}"));
            let before = analysis.diagnostics().len();
            text = apply(&text, &action.edits);
            assert!(analyse(&text).diagnostics().len() < before, "{place}, {}:\n{text}", action.title);
        }
        assert_eq!(told(&text), [], "{place}:\n{text}");
        for kept in
            ["# what the server runs with", "# the big one", "base_url: http://vllm:8000/v1", "max_tokens: 4096"]
        {
            assert!(text.contains(kept), "{place}: {kept} is not in\n{text}");
        }
    }
}

#[test]
fn a_quoted_config_is_mended_as_it_is_written() {
    let json = r#"{\"version\": 2, \"distro_name\": \"a\", \"providers\": {\"inference\": [{\"provider_id\": \"v\", \"provider_type\": \"remote::vlm\", \"config\": {\"base_url\": \"http://v\"}}]}}"#;
    let text = config_map(&format!("\"{json}\""), "");
    assert_eq!(told(&text), [("llsd::config::unknown-provider-type", r#"\"remote::vlm\""#.to_owned())]);
    let fixed = apply(&text, &ide::fix_all(&analyse(&text)));
    assert_eq!(told(&fixed), [], "{fixed}");
    let single = config_map(&format!("'{}'", json.replace("\\\"", "\"")), "");
    let fixed = apply(&single, &ide::fix_all(&analyse(&single)));
    assert_eq!(told(&fixed), [], "{fixed}");
}

#[test]
fn a_folded_config_is_checked_as_a_whole() {
    let body = "    {version: 2, distro_name: a,\n    providers: {inference: [{provider_id: v, provider_type: remote::vlm}]}}\n";
    let shown = analyse(&config_map(">", body)).diagnostics();
    let [found] = shown.as_slice() else { panic!("{shown:#?}") };
    assert_eq!(found.code, "llsd::config::unknown-provider-type");
    assert!(found.message.starts_with("providers.inference[0].provider_type: "), "{}", found.message);
}

#[test]
fn other_texts_of_a_config_map_are_left_alone() {
    for body in
        ["    providers:\n      aws: {}\n", "    just: text\n    provider_type: x\n", "    - provider_type: x\n"]
    {
        assert_eq!(told(&config_map("|", body)), [], "{body}");
    }
}

#[test]
fn a_config_under_way_is_survived() {
    for end in (0..CONFIG.len()).filter(|end| CONFIG.is_char_boundary(*end)) {
        told(&CONFIG[..end]);
        told(&config_map("|", &indented(&CONFIG[..end], 4)));
    }
}
