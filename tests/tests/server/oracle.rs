//! The tool that asks llama-stack refuses what the real server refuses or passes over.

use llsd_generator::distribution::BaseConfig;
use llsd_tests::llama_stack::{Folder, VERSION, validate};

/// Replacements in the base config of remote-vllm, and what the verdict has to say.
const DAMAGE: &[(&str, &str, &str)] = &[
    ("provider_type: remote::vllm", "provider_type: remote::vlm", "Provider `remote::vlm` is not available"),
    ("base_url: ${env", "url: ${env", "nobody reads this key"),
    ("api_token: ${env", "api_key: ${env", "nobody reads this key"),
    ("max_tokens: ${env.VLLM_MAX_TOKENS:=4096}", "max_tokens: many", "valid integer"),
    ("provider_id: meta-reference-files", "provider_id: ${env.NOT_SET:+files}", "needs the API files"),
    ("provider_id: tavily-search\n    - toolgroup_id", "provider_id: nobody\n    - toolgroup_id", "nobody"),
    ("  - inference\n", "  - inference\n  - telemetry\n", "unknown API telemetry"),
    ("  - inference\n", "  - inference\n  - post_training\n", "post_training has no provider"),
    ("    prompts:\n      namespace: prompts\n      backend: kv_default\n", "    prompts:\n", "storage.stores.prompts"),
    (
        "namespace: vector_io::faiss\n          backend: kv_default",
        "namespace: x\n          backend: other",
        "kv backend",
    ),
    ("  port: 8321", "  port: 9000", "does not read this"),
    ("version: 2", "version: two", "version"),
    ("image_name: remote-vllm", "image_name: remote-vllm\nimage: x", "image"),
    ("provider_id: sentence-transformers", "provider_id: ${env.NOT_SET:+x}", "no inference provider has the id"),
    (
        "provider_type: inline::faiss\n      config:",
        "provider_type: inline::faiss\n      config: null\n      ignored:",
        "config",
    ),
];

#[test]
fn what_the_server_refuses_or_ignores_is_found() {
    let base = BaseConfig::embedded("remote-vllm").unwrap();
    let folder = Folder::new("damage").unwrap();
    let mut files = Vec::new();
    for (number, (from, to, _)) in DAMAGE.iter().enumerate() {
        assert!(base.contains(from), "{from}");
        let file = folder.path().join(format!("{number}.yaml"));
        std::fs::write(&file, base.replacen(from, to, 1)).unwrap();
        files.push(file);
    }
    for (name, text) in [("empty", ""), ("list", "- 1\n"), ("broken", "a: [\n")] {
        let file = folder.path().join(format!("{name}.yaml"));
        std::fs::write(&file, text).unwrap();
        files.push(file);
    }
    let verdicts = validate(VERSION, &files).unwrap();
    for verdict in &verdicts {
        assert!(!verdict.ok, "{verdict:?}");
    }
    for (verdict, (_, to, expected)) in verdicts.iter().zip(DAMAGE) {
        let said: Vec<String> = verdict
            .errors
            .iter()
            .chain(&verdict.warnings)
            .map(|one| format!("{}: {}", one.path, one.message))
            .collect();
        assert!(said.iter().any(|one| one.contains(expected)), "{to}: {said:#?}");
    }
}
