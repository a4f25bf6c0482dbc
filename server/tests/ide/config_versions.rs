//! Configs of the server rewritten for another version of it: the text, its comments, and what is said.

use crate::ide::support::{analyse, apply};
use llsd::ide::{self, NotMigrated};
use llsd_generator::catalog::Catalog;
use llsd_generator::distribution::BaseConfig;
use llsd_generator::document::Plain;

/// A config of 0.3.5 with something of each kind: renamed, moved, gone, kept.
const OLD: &str = "\
# what the server runs with
version: 2
image_name: test
apis: [inference, agents, safety, vector_io, files, tool_runtime]
providers:
  inference:
  # the big one
  - provider_id: vllm
    provider_type: remote::vllm
    config:
      url: ${env.VLLM_URL:-http://vllm:8000/v1} # in the cluster
      max_tokens: 4096
  - provider_id: ollama
    provider_type: remote::ollama
    config:
      url: http://ollama:11434
  - provider_id: tgi
    provider_type: remote::tgi
    config:
      url: http://tgi:8080
  vector_io:
  - provider_id: faiss
    provider_type: inline::faiss
    config:
      persistence: {namespace: vector_io, backend: kv_default}
  files:
  - provider_id: files
    provider_type: inline::localfs
    config:
      storage_dir: /data/files
      metadata_store: {table_name: files, backend: sql_default}
  # what answers
  agents:
  - provider_id: meta-reference
    provider_type: inline::meta-reference
    config:
      persistence:
        agent_state: {namespace: agents, backend: kv_default}
        responses: {table_name: responses, backend: sql_default}
  safety:
  - provider_id: llama-guard
    provider_type: inline::llama-guard
    config: {}
  tool_runtime:
  - provider_id: rag-runtime
    provider_type: inline::rag-runtime
storage:
  backends:
    kv_default: {type: kv_sqlite, db_path: /data/kv.db}
    sql_default: {type: sql_sqlite, db_path: /data/sql.db}
  stores:
    metadata: {namespace: registry, backend: kv_default}
    inference: {table_name: inference, backend: sql_default}
    conversations: {table_name: conversations, backend: sql_default}
registered_resources:
  models:
  - model_id: chat
    provider_id: vllm
    provider_model_id: meta/chat # as vLLM has it
  - model_id: small
    provider_id: tgi
  shields:
  - shield_id: guard
    provider_id: llama-guard
  tool_groups:
  - toolgroup_id: builtin::rag
    provider_id: rag-runtime
";

/// The text for another version, and the lines that are said of it.
fn migrated(text: &str, to: &str) -> (String, Vec<String>) {
    let all = ide::migrate_configs(&analyse(text), to).unwrap();
    let edits: Vec<_> = all.iter().flat_map(|one| one.edits.clone()).collect();
    let lines = all.iter().flat_map(|one| one.migration.lines()).map(|line| line.to_string());
    (apply(text, &edits), lines.collect())
}

#[test]
fn what_has_another_name_is_renamed_and_what_is_gone_is_told() {
    let (text, lines) = migrated(OLD, "1.5.0");
    for kept in [
        "# what the server runs with\n",
        "distro_name: test\n",
        "  # the big one\n  - provider_id: vllm\n",
        "      base_url: \"${env.VLLM_URL:=http://vllm:8000/v1}\" # in the cluster\n",
        "      base_url: http://ollama:11434/v1\n",
        "  # what answers\n  responses:\n",
        "    provider_type: inline::builtin\n",
        "    provider_type: inline::file-search\n",
        "  - model_id: meta/chat\n",
        "# as vLLM has it\n",
    ] {
        assert!(text.contains(kept), "{kept}{text}");
    }
    for gone in ["safety", "tgi", "agent_state", "shields", "tool_groups", "agents", "image_name"] {
        assert!(!text.contains(gone), "{gone}:\n{text}");
    }
    for said in [
        "loss: providers.safety: ogx 1.5.0 has no API \"safety\"",
        "loss: providers.inference[2]: ogx 1.5.0 has no provider type \"remote::tgi\"",
        "loss: registered_resources.models[1]: its provider \"tgi\" is gone",
        "loss: providers.agents[0].config.persistence.agent_state: ",
        "change: providers.inference[0].config.url: ",
        "added: server.insecure: ",
    ] {
        assert!(lines.iter().any(|line| line.starts_with(said)), "{said}\n{lines:#?}");
    }
    assert!(!lines.iter().any(|line| line.starts_with("not known")), "{lines:#?}");
}

/// What is only known of later versions is told of `tool_groups` where the provider's type is one of theirs.
#[test]
fn tool_groups_are_told_where_they_are_ignored() {
    let text = "version: 2\ndistro_name: demo\napis: [tool_runtime]\nproviders:\n  tool_runtime:\n\
                \x20 - {provider_id: search, provider_type: 'inline::file-search'}\n\
                registered_resources:\n  tool_groups:\n  - {toolgroup_id: 'builtin::file_search', provider_id: search}\n";
    let told = |text: &str| {
        let found = analyse(text).diagnostics().into_iter().filter(|found| found.code == "llsd::config::unknown-key");
        found.map(|found| found.message).collect::<Vec<_>>()
    };
    let message = "The server (llama-stack 0.7.3 to ogx 1.5.0) ignores \"tool_groups\": it makes tool groups of the \
                   providers of tool_runtime";
    assert_eq!(told(text), [message]);
    assert_eq!(told(&text.replace("file-search", "rag-runtime")), Vec::<String>::new());
}

#[test]
fn tool_groups_go_where_a_version_makes_them_itself() {
    let mcp = "  - toolgroup_id: mcp::files\n    provider_id: rag-runtime\n    mcp_endpoint: {uri: http://files/sse}\n";
    for (to, stay) in [("0.6.1", true), ("0.7.3", false), ("1.0.4", false)] {
        let (text, lines) = migrated(&format!("{OLD}{mcp}"), to);
        assert_eq!(text.contains("tool_groups"), stay, "{to}\n{text}");
        let said = |start: &str| lines.iter().any(|line| line.starts_with(start));
        assert_eq!(said("note: registered_resources.tool_groups: "), !stay, "{to}\n{lines:#?}");
        assert_eq!(said("loss: registered_resources.tool_groups[1].mcp_endpoint: "), !stay, "{to}\n{lines:#?}");
    }
}

#[test]
fn the_text_becomes_what_was_worked_out() {
    let bases = BaseConfig::all().iter().map(|base| base.text);
    for text in bases.chain([OLD]) {
        for to in Catalog::versions() {
            let analysis = analyse(text);
            let [one] = &ide::migrate_configs(&analysis, to).unwrap()[..] else { panic!("one config") };
            let plain = Plain::read(&llsd_yaml::parse_document(&apply(text, &one.edits)));
            assert_eq!(plain.value, one.migration.value, "{to}:\n{text}");
        }
    }
}

#[test]
fn a_config_of_the_version_stays_as_it_is() {
    for base in BaseConfig::all() {
        let (text, lines) = migrated(base.text, base.version);
        assert_eq!(text, base.text, "{lines:#?}");
        assert_eq!(lines, Vec::<String>::new());
    }
}

#[test]
fn a_text_in_a_config_map_is_rewritten_in_its_form() {
    let inner = "version: 2\nimage_name: test\nproviders:\n  inference:\n  - provider_id: ollama\n    \
                 provider_type: remote::ollama\n    config:\n      url: http://ollama:11434\n";
    let new = "base_url: http://ollama:11434/v1";
    let head = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: config}\ndata:\n  run.yaml: ";
    let block: String = inner.lines().map(|line| format!("    {line}\n")).collect();
    let (text, _) = migrated(&format!("{head}|\n{block}  other: x\n"), "0.7.3");
    assert!(text.contains(&format!("          {new}\n")) && text.ends_with("  other: x\n"), "{text}");
    let block: String = OLD.lines().map(|line| format!("    {line}\n")).collect();
    for to in Catalog::versions() {
        let text = format!("{head}|\n{block}\n  other: x\n");
        let [one] = &ide::migrate_configs(&analyse(&text), to).unwrap()[..] else { panic!("one config") };
        let map = Plain::read(&llsd_yaml::parse_document(&apply(&text, &one.edits))).value;
        let inner = map["data"]["run.yaml"].as_str().unwrap();
        assert_eq!(Plain::read(&llsd_yaml::parse_document(inner)).value, one.migration.value, "{to}:\n{inner}");
        assert_eq!(map["data"]["other"], "x");
    }
    let quoted = serde_json::to_string(inner).unwrap();
    let (text, _) = migrated(&format!("{head}{quoted}\n  other: x\n"), "0.7.3");
    assert!(text.contains(new) && text.ends_with("\\n\"\n  other: x\n"), "{text}");
}

#[test]
fn what_cannot_be_rewritten_says_why() {
    let broken = OLD.replace("image_name: test", "image_name: [test");
    // A broken text may be no config any more; where it is one, it is refused.
    if let Err(why) = ide::migrate_configs(&analyse(&broken), "1.5.0") {
        assert!(matches!(why, NotMigrated::NotWellFormed { .. }), "{why}");
    }
    let template = OLD.replace("version: 2\n", "{{- if .Values.x }}\nversion: 2\n{{- end }}\n");
    let why = ide::migrate_configs(&analyse(&template), "1.5.0").unwrap_err();
    assert!(matches!(why, NotMigrated::Template { line: 2 }), "{why}");
    assert_eq!(ide::migrate_configs(&analyse("a: 1\n"), "1.5.0").unwrap(), []);
}
