//! The rules beyond the CRD, each on a small resource: what is found where, and what is not.

use llsd_generator::api::Kind;
use llsd_generator::check::finding::{Finding, FixEdit, Severity};
use llsd_generator::check::header::header;
use llsd_generator::check::{Facts, Outcome, Request, rules, verdict};
use llsd_generator::document::Plain;
use llsd_generator::path::Path;
use std::collections::{BTreeMap, BTreeSet};

fn judge_with(text: &str, facts: &Facts) -> Outcome {
    let plain = Plain::read(&llsd_yaml::parse_document(text));
    let header = header(&plain.value).unwrap();
    let request = Request { version: header.version, value: &plain.value, old: None, unknown: &plain.unknown, facts };
    let mut outcome = verdict(&request);
    outcome.findings.splice(0..0, header.findings);
    outcome
}

/// A v1alpha2 resource with this spec, on the distribution `starter` unless it names another.
fn v2(spec: &str) -> String {
    let distribution = if spec.contains("distribution:") { "" } else { "  distribution: {name: starter}\n" };
    format!(
        "apiVersion: llamastack.io/v1alpha2\nkind: LlamaStackDistribution\nmetadata: {{name: demo}}\nspec:\n{distribution}{spec}"
    )
}

/// A v1alpha1 resource with this `spec.server`, on the distribution `starter` unless it names another.
fn v1(server: &str) -> String {
    let distribution = if server.contains("distribution:") { "" } else { "    distribution: {name: starter}\n" };
    format!(
        "apiVersion: llamastack.io/v1alpha1\nkind: LlamaStackDistribution\nmetadata: {{name: demo, namespace: ns}}\nspec:\n  server:\n{distribution}{server}"
    )
}

fn shown(findings: &[Finding]) -> Vec<String> {
    findings
        .iter()
        .map(|finding| format!("{} {}", finding.rule.id.trim_start_matches("llsd::"), finding.path))
        .collect()
}

#[track_caller]
fn finds(text: &str, expected: &[&str]) {
    let outcome = judge_with(text, &Facts::default());
    let found = shown(&outcome.findings);
    assert_eq!(found, expected, "{text}\n{:#?}", outcome.findings);
}

/// One provider of an API.
fn provider(api: &str, fields: &str) -> String {
    v2(&format!("  providers:\n    {api}:\n      - {{{fields}}}\n"))
}

#[test]
fn names() {
    let long = v2("  disabled: [batches]\n").replace("name: demo", &format!("name: {}", "a".repeat(49)));
    finds(&long, &["metadata::name metadata.name"]);
    finds(&v2("  disabled: [batches]\n").replace("name: demo", "name: a.b"), &["metadata::name metadata.name"]);
    let mut facts = Facts::default();
    facts.resources.insert((Kind::OgxServer, (String::new(), "demo".to_owned())));
    let outcome = judge_with(&v2("  disabled: [batches]\n"), &facts);
    assert_eq!(shown(&outcome.findings), [""; 0], "of another kind");
    facts.resources.insert((Kind::LlamaStackDistribution, (String::new(), "demo".to_owned())));
    let outcome = judge_with(&v2("  disabled: [batches]\n"), &facts);
    assert_eq!(shown(&outcome.findings), ["metadata::duplicate metadata.name"]);
}

#[test]
fn distributions() {
    let text = v2("  distribution: {name: stater}\n");
    finds(&text, &["distribution::unknown spec.distribution.name"]);
    let outcome = judge_with(&text, &Facts::default());
    assert_eq!(
        outcome.findings[0].message,
        "Unknown distribution \"stater\". Available distributions: starter, remote-vllm, meta-reference-gpu, postgres-demo"
    );
    assert!(matches!(&outcome.findings[0].fixes[0].edits[0], FixEdit::Replace { value, .. } if value == "starter"));
    finds(&v1("    distribution: {name: ollama}\n"), &["distribution::unknown spec.server.distribution.name"]);
    finds(&v1("    distribution: {}\n"), &["distribution::missing spec.server.distribution"]);
    // Known to some builds of the operator only: not for us to say, in either version.
    finds(&v1("    distribution: {name: rh-dev}\n"), &["distribution::some-builds spec.server.distribution.name"]);
    finds(&v2("  distribution: {name: rh-dev}\n"), &["distribution::some-builds spec.distribution.name"]);
    finds(&v1("    distribution: {name: \"{{ .Values.name }}\"}\n"), &[]);
}

#[test]
fn provider_types() {
    let text = provider("inference", "provider: vlm, endpoint: 'http://x/v1'");
    finds(&text, &["provider::unknown-type spec.providers.inference[0].provider"]);
    let message = &judge_with(&text, &Facts::default()).findings[0].message;
    assert_eq!(message, "Unknown inference provider \"vlm\" in llama-stack 0.4.7. Did you mean \"vllm\"?");
    finds(
        &provider("safety", "provider: 'remote::llama-guard'"),
        &["provider::unknown-type spec.providers.safety[0].provider"],
    );
    finds(&provider("safety", "provider: llama-guard"), &[]);
    finds(
        &provider("telemetry", "provider: meta-reference"),
        &["provider::unknown-type spec.providers.telemetry[0].provider"],
    );
    finds(&provider("inference", "provider: '${KIND}'"), &[]);
}

#[test]
fn provider_fields() {
    let secret = "apiKey: {secretKeyRef: {name: a, key: b}}";
    finds(
        &provider("inference", "provider: anthropic, endpoint: 'https://x'"),
        &["provider::no-endpoint spec.providers.inference[0].endpoint"],
    );
    finds(
        &provider("inference", &format!("provider: ollama, {secret}")),
        &["provider::no-api-key spec.providers.inference[0].apiKey"],
    );
    finds(
        &provider("vectorIo", "provider: pgvector, endpoint: 'postgresql://a:b@c/d'"),
        &[
            "provider::bad-endpoint spec.providers.vectorIo[0].endpoint",
            "secret::plain-text spec.providers.vectorIo[0].endpoint",
        ],
    );
    finds(
        &provider("inference", "provider: vllm, endpoint: 'vllm:8000/v1'"),
        &["endpoint::no-scheme spec.providers.inference[0].endpoint"],
    );
    finds(
        &provider("inference", "provider: vllm, endpoint: 'http://vllm:8000'"),
        &["endpoint::no-path spec.providers.inference[0].endpoint"],
    );
    finds(&provider("inference", "provider: vllm, endpoint: '${env.VLLM_URL}'"), &[]);
    finds(
        &provider("inference", "provider: vllm"),
        &["provider::missing-setting spec.providers.inference[0].endpoint"],
    );
    finds(
        &provider("inference", "provider: vertexai"),
        &["provider::missing-setting spec.providers.inference[0].settings.project"],
    );
}

#[test]
fn settings() {
    let vllm = |settings: &str| {
        provider("inference", &format!("provider: vllm, endpoint: 'http://x/v1', settings: {{{settings}}}"))
    };
    let at = |rule: &str, key: &str| format!("settings::{rule} spec.providers.inference[0].settings.{key}");
    finds(&vllm("max_tokens: 4096"), &[]);
    finds(&vllm("max_tokens: '4096'"), &[]);
    finds(&vllm("max_tokens: '${env.MAX:=1}'"), &[]);
    finds(&vllm("max_token: 4096"), &[&at("unknown-key", "max_token")]);
    finds(&vllm("max_tokens: many"), &[&at("wrong-type", "max_tokens")]);
    finds(&vllm("max_tokens: [1]"), &[&at("wrong-type", "max_tokens")]);
    finds(&vllm("base_url: 'http://y/v1'"), &[&at("overridden", "base_url")]);
    finds(&vllm("api_token: sk-123"), &["secret::plain-text spec.providers.inference[0].settings.api_token"]);
    finds(&vllm("api_token: fake"), &[]);
}

#[test]
fn ids_and_secrets() {
    let text = v2(
        "  providers:\n    inference:\n      - {provider: vllm, endpoint: 'http://x/v1'}\n    vectorIo:\n      - {id: vllm, provider: faiss}\n",
    );
    let outcome = judge_with(&text, &Facts::default());
    let finding = outcome.findings.iter().find(|finding| finding.message.contains("duplicate provider id")).unwrap();
    let places: Vec<String> = finding.related.iter().map(|related| related.path.to_string()).collect();
    assert!(places.contains(&"spec.providers.inference[0].provider".to_owned()), "{finding:#?}");
    let key = |name: &str| format!("apiKey: {{secretKeyRef: {{name: {name}, key: k}}}}");
    let two = |first: &str, second: &str| {
        v2(&format!(
            "  providers:\n    inference:\n      - {{id: a-b, provider: openai, {first}}}\n      - {{id: a_b, provider: openai, {second}}}\n"
        ))
    };
    finds(&two(&key("s1"), &key("s2")), &["secret::variable-clash spec.providers.inference[1].apiKey"]);
    finds(&two(&key("s1"), &key("s1")), &[]);
}

#[test]
fn models_tools_and_shields() {
    let models = |spec: &str| v2(&format!("{spec}  resources:\n    models:\n      - {{name: m, provider: vlm}}\n"));
    let text = models("  providers:\n    inference:\n      - {provider: vllm, endpoint: 'http://x/v1'}\n");
    finds(&text, &["model::unknown-provider spec.resources.models[0].provider"]);
    let message = &judge_with(&text, &Facts::default()).findings[0].message;
    assert!(
        message.starts_with("Model \"m\" names provider \"vlm\", which does not exist. Available: vllm, "),
        "{message}"
    );
    finds(
        &v2("  resources:\n    models: [{name: m, provider: vllm}]\n"),
        &["model::conditional-provider spec.resources.models[0].provider"],
    );
    finds(
        &v2("  resources:\n    models: [{name: m, modelType: embedding}]\n"),
        &["model::no-dimension spec.resources.models[0].modelType"],
    );
    finds(
        &v2("  disabled: [safety]\n  resources: {shields: [guard]}\n"),
        &["resources::no-provider spec.resources.shields[0]"],
    );
    let outcome = judge_with(&v2("  disabled: [safety]\n  resources: {shields: [guard]}\n"), &Facts::default());
    assert_eq!(outcome.findings[0].message, "resources.shields requires at least one safety provider to be configured");
    finds(
        &v2("  providers:\n    toolRuntime: [{provider: brave-search}]\n  resources: {tools: [websearch, rag]}\n"),
        &["tool::other-provider spec.resources.tools[0]", "tool::other-provider spec.resources.tools[1]"],
    );
}

#[test]
fn tool_groups_of_mcp_servers() {
    finds(&v2("  resources: {tools: ['mcp::files']}\n"), &["tool::no-address spec.resources.tools[0]"]);
    let text = "  providers:\n    toolRuntime: [{id: mcp, provider: model-context-protocol}]\n  resources: {tools: [websearch]}\n";
    finds(&v2(text), &["tool::no-address spec.resources.tools[0]"]);
    let text =
        text.replace("model-context-protocol}", "model-context-protocol}, {id: tavily, provider: tavily-search}");
    finds(&v2(&text), &["tool::other-provider spec.resources.tools[0]"]);
}

#[test]
fn the_resource_can_set_the_variable_of_a_conditional_provider() {
    finds(
        &v2(
            "  resources:\n    models: [{name: m, provider: vllm}]\n  workload: {overrides: {env: [{name: VLLM_URL, value: 'http://x/v1'}]}}\n",
        ),
        &[],
    );
}

#[test]
fn disabled_apis() {
    let text = v2("  disabled: [vectorIo]\n");
    finds(&text, &["disabled::required spec.disabled[0]"]);
    let message = &judge_with(&text, &Facts::default()).findings[0].message;
    assert!(
        message.starts_with("vector_io cannot be disabled: provider \"meta-reference\" of agents requires it"),
        "{message}"
    );
    let outcome = judge_with(
        &v2(
            "  disabled: [batches, inference]\n  providers:\n    inference: [{provider: vllm, endpoint: 'http://x/v1'}]\n",
        ),
        &Facts::default(),
    );
    assert_eq!(
        outcome.findings[0].message,
        "spec.providers.inference conflicts with spec.disabled: inference API is disabled but has providers configured. \
         Remove the provider configuration or remove 'inference' from the disabled list."
    );
}

#[test]
fn storage() {
    finds(
        &v2("  storage: {kv: {type: redis, endpoint: 'rediss://x'}}\n"),
        &["storage::bad-endpoint spec.storage.kv.endpoint"],
    );
    finds(&v2("  storage: {kv: {type: redis, endpoint: 'redis:6379'}}\n"), &[]);
}

#[test]
fn labels() {
    finds(
        &v2("  networking: {allowedFrom: {labels: [team=ai, team]}}\n"),
        &[
            "networking::label-value spec.networking.allowedFrom.labels[0]",
            "networking::policies-off spec.networking.allowedFrom",
        ],
    );
}

#[test]
fn who_may_connect_depends_on_the_operator() {
    let text = v2("  networking: {allowedFrom: {namespaces: [apps]}}\n");
    let found = |network_policies| {
        let facts = Facts { network_policies, ..Facts::default() };
        let outcome = judge_with(&text, &facts);
        outcome.findings.iter().map(|finding| finding.severity).collect::<Vec<_>>()
    };
    assert_eq!(found(Some(true)), []);
    assert_eq!(found(Some(false)), [Severity::Warning]);
    assert_eq!(found(None), [Severity::Hint]);
}

#[test]
fn the_image_that_runs_tells_the_version() {
    // remote::vllm of 0.5 has settings that 0.4 has not.
    let text = v2("  providers: {inference: [{provider: vllm, endpoint: 'http://a:1/v1', settings: {network: {}}}]}\n");
    let found = |image: Option<&str>| {
        let facts = Facts { image: image.map(str::to_owned), ..Facts::default() };
        let outcome = judge_with(&text, &facts);
        (shown(&outcome.findings), outcome.not_checked.len())
    };
    let unknown = "settings::unknown-key spec.providers.inference[0].settings.network".to_owned();
    assert_eq!(found(None), (vec![unknown], 0));
    assert_eq!(found(Some("quay.io/example/llama-stack:0.5.4")), (vec![], 0));
    let (findings, open) = found(Some("quay.io/example/llama-stack:nightly"));
    assert_eq!((findings.len(), open), (0, 1), "an unknown version is not checked, not refused");
}

#[test]
fn every_finding_of_the_crd_has_its_place_and_fix() {
    // Of several ids that are used twice, the API server names the one that is used first.
    let providers = "  providers:\n    inference:\n      - {id: a, provider: vllm, endpoint: 'http://a:1/v1'}\n      \
        - {id: b, provider: vllm, endpoint: 'http://b:1/v1'}\n      - {id: b, provider: vllm, endpoint: 'http://b:1/v1'}\n      \
        - {id: a, provider: vllm, endpoint: 'http://a:1/v1'}\n";
    let outcome = judge_with(&v2(providers), &Facts::default());
    let ids = outcome.findings.iter().filter(|finding| finding.rule.id == "llsd::provider::duplicate-id");
    let places: Vec<_> = ids
        .map(|finding| (finding.path.to_string(), finding.api_server_message.is_some(), finding.fixes.len()))
        .collect();
    assert_eq!(
        places,
        [
            ("spec.providers.inference[3].id".to_owned(), true, 1),
            ("spec.providers.inference[2].id".to_owned(), false, 1),
        ]
    );
}

#[test]
fn environment() {
    let env = |entries: &str| v1(&format!("    containerSpec:\n      env:\n{entries}"));
    let at = |rule: &str, field: &str| format!("{rule} spec.server.containerSpec.env[0].{field}");
    finds(&env("      - {name: VLLM_API_URL, value: 'http://x/v1'}\n"), &[&at("env::unread", "name")]);
    finds(&env("      - {name: VLLM_URL, value: 'http://x'}\n"), &[&at("endpoint::no-path", "value")]);
    finds(&env("      - {name: ORCHESTRATOR_URL, value: 'localhost:8032'}\n"), &[&at("endpoint::no-scheme", "value")]);
    finds(&env("      - {name: OPENAI_API_KEY, value: sk-123}\n"), &[&at("secret::plain-text", "value")]);
    finds(&env("      - {name: OPENAI_API_KEY, value: your-api-key}\n"), &[&at("value::placeholder", "value")]);
    finds(&env("      - {name: OPENAI_API_KEY, value: <api-key>}\n"), &[&at("value::placeholder", "value")]);
    finds(&env("      - {name: OPENAI_API_KEY, value: '${KEY}'}\n"), &[]);
    finds(&env("      - {name: HF_TOKEN, valueFrom: {secretKeyRef: {name: a, key: b}}}\n"), &[]);
    finds(
        &env("      - {name: A, value: one}\n      - {name: A, value: two}\n"),
        &["env::duplicate spec.server.containerSpec.env[1].name"],
    );
}

#[test]
fn files_of_a_config_map() {
    let mut facts = Facts { config_maps: Some(BTreeMap::new()), ..Facts::default() };
    let mut add = |name: &str, key: &str| {
        let data = BTreeMap::from([(key.to_owned(), String::new())]);
        facts.config_maps.as_mut().unwrap().insert(("ns".to_owned(), name.to_owned()), data);
    };
    add("new", "config.yaml");
    add("old", "run.yaml");
    let text = |map: &str, command: &str| {
        v1(&format!("    userConfig: {{configMapName: {map}}}\n    containerSpec: {{{command}}}\n"))
    };
    let found = |map: &str, command: &str| shown(&judge_with(&text(map, command), &facts).findings);
    let run = "command: [sh, -c, llama stack run /etc/llama-stack/run.yaml]";
    assert_eq!(found("new", run), ["config::missing-file spec.server.containerSpec.command[2]"]);
    assert!(found("old", run).is_empty());
    assert!(found("new", "").is_empty());
    assert_eq!(found("old", ""), ["config::missing-key spec.server.userConfig.configMapName"]);
    assert_eq!(found("gone", ""), ["reference::not-found spec.server.userConfig.configMapName"]);
    // Without the ConfigMap at hand nothing is claimed.
    let outcome = judge_with(&text("new", run), &Facts::default());
    assert!(outcome.findings.is_empty() && !outcome.not_checked.is_empty());
}

#[test]
fn other_namespaces() {
    let text =
        |namespace: &str| v1(&format!("    userConfig: {{configMapName: a, configMapNamespace: {namespace}}}\n"));
    let at = "spec.server.userConfig.configMapNamespace";
    finds(&text("ns"), &[&format!("config::same-namespace {at}")]);
    finds(&text("other"), &[&format!("config::other-namespace {at}")]);
    finds(&text("'${NAMESPACE}'"), &[]);
}

#[test]
fn secrets() {
    let text = provider("inference", "provider: openai, apiKey: {secretKeyRef: {name: creds, key: api_key}}")
        .replace("{name: demo}", "{name: demo, namespace: ns}");
    let with = |names: &[(&str, &str)]| Facts {
        secrets: Some(
            names
                .iter()
                .map(|(name, key)| (("ns".to_owned(), (*name).to_owned()), BTreeSet::from([(*key).to_owned()])))
                .collect(),
        ),
        ..Facts::default()
    };
    let at = "spec.providers.inference[0].apiKey.secretKeyRef";
    let outcome = judge_with(&text, &with(&[("cred", "api_key")]));
    assert_eq!(shown(&outcome.findings), [format!("reference::not-found {at}.name")]);
    assert_eq!(
        outcome.findings[0].message,
        format!("Secret \"creds\" not found in namespace \"ns\". Referenced by: {at}.name")
    );
    let outcome = judge_with(&text, &with(&[("creds", "api-key")]));
    assert_eq!(shown(&outcome.findings), [format!("reference::no-key {at}.key")]);
    assert!(judge_with(&text, &with(&[("creds", "api_key")])).findings.is_empty());
    let outcome = judge_with(&text, &Facts::default());
    assert!(outcome.findings.is_empty());
    assert!(outcome.not_checked.iter().any(|skipped| skipped.path == Path::parse(&format!("{at}.name"))));
}

#[test]
fn a_namespace_of_a_template_is_one_namespace() {
    let text = v1("    userConfig: {configMapName: config}\n").replace("namespace: ns", "namespace: '${NAMESPACE}'");
    let with = |namespace: &str| {
        let key = (namespace.to_owned(), "config".to_owned());
        let data = BTreeMap::from([("run.yaml".to_owned(), String::new())]);
        Facts { config_maps: Some(BTreeMap::from([(key, data)])), ..Facts::default() }
    };
    let found = judge_with(&text, &with("${NAMESPACE}"));
    assert_eq!(shown(&found.findings), ["config::missing-key spec.server.userConfig.configMapName"]);
    assert!(judge_with(&text, &with("other")).findings.is_empty());
}

#[test]
fn an_image_is_judged_as_far_as_it_is_known() {
    let text = v2(
        "  distribution: {image: 'quay.io/x/stack:0.4.7'}\n  providers:\n    inference:\n      - {provider: vlm, endpoint: 'http://x/v1'}\n",
    );
    finds(&text, &["provider::unknown-type spec.providers.inference[0].provider"]);
    let outcome = judge_with(&text.replace(":0.4.7", ":latest"), &Facts::default());
    assert!(outcome.findings.is_empty() && outcome.model.is_some() && outcome.generated.is_none());
    assert!(!outcome.not_checked.is_empty());
}

#[test]
fn every_finding_has_a_described_rule() {
    let ids: Vec<&str> = rules::all().iter().map(|rule| rule.id).collect();
    let mut unique = ids.clone();
    unique.dedup();
    assert_eq!(ids, unique, "sorted, and each once");
    let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut used = BTreeSet::new();
    ids_in(&source, &mut used);
    assert!(used.len() > 50);
    let unexplained: Vec<&String> = used.iter().filter(|id| !ids.contains(&id.as_str())).collect();
    assert!(unexplained.is_empty(), "{unexplained:?}");
    for rule in rules::all() {
        assert!(
            rule.id.starts_with("llsd::") && rule.summary.ends_with('.') && !rule.example.is_empty(),
            "{}",
            rule.id
        );
    }
}

#[test]
fn older_drafts_come_with_their_rewrite() {
    let text =
        v2("  providers:\n    inference: {provider: vllm, endpoint: 'http://x/v1'}\n  networking: {expose: true}\n");
    let outcome = judge_with(&text, &Facts::default());
    let drafts: Vec<&Finding> = outcome.findings.iter().filter(|finding| finding.rule.family() == "draft").collect();
    assert_eq!(drafts.len(), 2, "{:#?}", outcome.findings);
    assert!(drafts.iter().all(|finding| finding.fixes.len() == 1));
    assert!(outcome.model.is_none());
}

#[test]
fn misplaced_fields() {
    let text = v1("    containerSpec: {image: 'quay.io/x:1'}\n")
        .replace("spec:\n", "spec:\n  storage: {size: 1Gi}\n  providers: {}\n");
    let outcome = judge_with(&text, &Facts::default());
    let messages: Vec<&str> = outcome
        .findings
        .iter()
        .filter(|finding| finding.rule.id == "llsd::schema::misplaced-field")
        .map(|finding| finding.message.as_str())
        .collect();
    assert_eq!(messages.len(), outcome.findings.len(), "{:#?}", outcome.findings);
    let expected = [
        "unknown field \"storage\": it belongs into spec.server.storage",
        "unknown field \"providers\": only v1alpha2 has it",
        "unknown field \"image\": it belongs into spec.server.distribution.image",
    ];
    assert!(expected.iter().all(|message| messages.contains(message)), "{messages:?}");
    assert!(outcome.findings.iter().all(|finding| finding.api_server_message.is_some()));
    // A model list of another shape is not moved blindly.
    finds(&v2("  models: [{name: m}]\n"), &["schema::misplaced-field spec.models"]);
}

/// Every rule id that the sources name.
fn ids_in(folder: &std::path::Path, found: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            ids_in(&path, found);
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        for (start, _) in text.match_indices("\"llsd::") {
            let id = text[start + 1..].split('"').next().unwrap();
            // Prefixes such as `llsd::draft::` are no ids.
            if id.split("::").filter(|part| !part.is_empty()).count() == 3 {
                found.insert(id.to_owned());
            }
        }
    }
}
