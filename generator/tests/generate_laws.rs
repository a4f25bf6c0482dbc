//! Laws that generation keeps for every resource.
use llsd_generator::api::ApiVersion;
use llsd_generator::check::{Facts, Request, Validated, verdict};
use llsd_generator::generate::{Base, BaseSource, Generated, Origin, Tracked, generate, render, target};
use llsd_generator::path::Path;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::BTreeSet;

fn model(spec: &Value) -> Option<Validated> {
    let value = json!({
        "apiVersion": "llamastack.io/v1alpha2",
        "kind": "LlamaStackDistribution",
        "metadata": {"name": "law"},
        "spec": spec,
    });
    let request = Request {
        version: ApiVersion::V1Alpha2,
        value: &value,
        old: None,
        unknown: &BTreeSet::new(),
        facts: &Facts::default(),
    };
    verdict(&request).model
}

fn generated(model: &Validated, base: &Base) -> Option<Generated> {
    generate(model, base, target(model.spec()).0).ok()
}

fn given(text: &str) -> Base {
    Base { text: Cow::Owned(text.to_owned()), source: BaseSource::Given }
}

/// A resource with a random choice of providers, models, storage and disabled APIs.
fn specs() -> impl Strategy<Value = Value> {
    let distribution = prop::sample::select(vec!["starter", "remote-vllm", "postgres-demo", "meta-reference-gpu"]);
    let ids = prop::collection::btree_set("[a-z0-9][a-z0-9-]{0,8}", 0..4);
    let settings =
        prop::collection::btree_map("max_tokens|tls_verify", prop::sample::select(vec![json!(1), json!(true)]), 0..2);
    let models = prop::collection::btree_set("[a-zA-Z0-9/.:~=-]{1,12}", 0..4);
    let disabled =
        prop::collection::btree_set(prop::sample::select(vec!["eval", "scoring", "batches", "postTraining"]), 0..3);
    let storage = prop::sample::select(vec![
        json!(null),
        json!({"kv": {"type": "redis", "endpoint": "redis:6379"}}),
        json!({"sql": {"type": "postgres", "connectionString": {"secretKeyRef": {"name": "s", "key": "k"}}}}),
        json!({"kv": {}, "sql": {}}),
    ]);
    (distribution, ids, settings, models, disabled, storage).prop_map(
        |(distribution, ids, settings, models, disabled, storage)| {
            let providers: Vec<Value> = ids
                .iter()
                .map(|id| {
                    json!({"id": id, "provider": "vllm", "endpoint": "http://vllm:8000/v1", "settings": settings,
                           "apiKey": {"secretKeyRef": {"name": id, "key": "token"}}})
                })
                .collect();
            let models: Vec<Value> = models.iter().map(|name| json!({"name": name})).collect();
            let mut spec = json!({"distribution": {"name": distribution}});
            for (field, value, empty) in [
                ("providers", json!({"inference": providers}), ids.is_empty()),
                ("resources", json!({"models": models, "tools": ["websearch"]}), models.is_empty()),
                ("disabled", json!(disabled), disabled.is_empty()),
                ("storage", storage.clone(), storage.is_null()),
            ] {
                if !empty {
                    spec[field] = value;
                }
            }
            spec
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_same_input_gives_the_same_bytes(spec in specs()) {
        if let Some(model) = model(&spec) {
            let base = Base::embedded(&model.spec().distribution, None).unwrap();
            prop_assert_eq!(generated(&model, &base), generated(&model, &base));
        }
    }

    #[test]
    fn generating_over_the_result_changes_nothing(spec in specs()) {
        if let Some(model) = model(&spec) {
            let base = Base::embedded(&model.spec().distribution, None).unwrap();
            if let Some(first) = generated(&model, &base) {
                let second = generated(&model, &given(first.config.text())).unwrap();
                prop_assert_eq!(first.config.text(), second.config.text());
                prop_assert_eq!(first.config.hash(), second.config.hash());
                prop_assert_eq!(first.env, second.env);
            }
        }
    }

    #[test]
    fn lines_and_paths_agree(spec in specs()) {
        if let Some(model) = model(&spec) {
            let base = Base::embedded(&model.spec().distribution, None).unwrap();
            if let Some(Generated { config, .. }) = generated(&model, &base) {
                prop_assert_eq!(config.text().lines().count(), config.lines().len());
                for (path, ranges) in config.produced() {
                    prop_assert!(ranges.windows(2).all(|pair| pair[0].end < pair[1].start), "{}", path);
                    prop_assert!(ranges.iter().all(|range| !range.is_empty() && range.end <= config.lines().len()));
                }
                for (number, origin) in config.lines().iter().enumerate() {
                    if let Origin::Resource(path) = origin {
                        prop_assert!(config.produced()[path].iter().any(|range| range.contains(&number)));
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_written_is_read_back(value in values()) {
        let tree = Tracked::from_json(&value, &Path::root(), &|_| Origin::Rule("test"));
        let rendered = render(&tree);
        prop_assert_eq!(rendered.text.lines().count(), rendered.lines.len());
        // Once by the rules of PyYAML, which llama-stack reads with, once by those of YAML 1.2.
        let document = llsd_yaml::parse_document(&rendered.text);
        prop_assert!(document.strict_error().is_none(), "{:?}\n{}", document.strict_error(), rendered.text);
        let read = pyyaml(document.root().unwrap());
        prop_assert_eq!(&read, &value, "{}", rendered.text);
        let modern: Value = serde_yaml::from_str(&rendered.text).unwrap();
        prop_assert_eq!(&modern, &value, "{}", rendered.text);
    }
}

fn pyyaml(node: llsd_yaml::Node<'_>) -> Value {
    use llsd_yaml::{Kind, Resolved, Rules};
    match node.kind() {
        Kind::Mapping => {
            let entries = node.entries();
            Value::Object(
                entries
                    .map(|entry| {
                        assert_eq!(entry.key.resolve(Rules::PyYaml), Resolved::Str, "{:?}", entry.key.source());
                        (entry.key.value().into_owned(), pyyaml(entry.value))
                    })
                    .collect(),
            )
        }
        Kind::Sequence => Value::Array(node.items().map(pyyaml).collect()),
        _ => match node.resolve(Rules::PyYaml) {
            Resolved::Null => Value::Null,
            Resolved::Bool(flag) => json!(flag),
            Resolved::Int(number) => json!(i64::try_from(number).unwrap()),
            Resolved::Float(number) => json!(number),
            Resolved::Str => json!(node.value()),
        },
    }
}

/// Trees with strings that look like something else.
fn values() -> impl Strategy<Value = Value> {
    let words = prop::sample::select(vec![
        "",
        "yes",
        "No",
        "null",
        "~",
        "1e5",
        "0x1f",
        "017",
        "0o17",
        "1_000",
        "1:30",
        ".inf",
        "-.INF",
        ".nan",
        "2024-01-01",
        "=",
        "<<",
        "- a",
        "a: b",
        "a #b",
        "#c",
        "key:",
        " x",
        "x ",
        "\ttab",
        "a\nb",
        "a\n b\n",
        "\n",
        "\n\na",
        "a\n\n",
        "é",
        "\u{85}",
        "\u{feff}x",
        "\u{2028}",
        "'",
        "\"",
        "\\",
        "{}",
        "[a]",
        "&a",
        "*a",
        "!t",
        "%d",
        "@x",
        "`x`",
        "|",
        ">",
        "?",
        "? a",
        "-",
        "--- a",
        "...",
        "${env.X:=}",
        "remote::vllm",
        "a,b",
        "y",
        "off",
        "+1",
        "-1",
        "0",
        "1.",
        ".5",
        "12e03",
        "a\r\nb",
        "\u{0}",
        "a: |",
        "on\nx",
    ]);
    let leaf = prop_oneof![
        words.prop_map(|word| json!(word)),
        any::<String>().prop_map(|word| json!(word)),
        "[-+0-9.eExob_:T]{1,8}".prop_map(|word| json!(word)),
        any::<i64>().prop_map(|number| json!(number)),
        any::<f64>().prop_filter("finite", |number| number.is_finite()).prop_map(|number| json!(number)),
        any::<bool>().prop_map(|flag| json!(flag)),
        Just(Value::Null),
    ];
    let tree = leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::btree_map("[a-z0-9:#. -]{1,6}|yes|1|~", inner, 0..4)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    });
    prop::collection::btree_map("[a-z]{1,4}", tree, 1..4)
        .prop_map(|entries| Value::Object(entries.into_iter().collect()))
}

#[test]
fn nothing_to_change_changes_nothing() {
    for distribution in ["starter", "remote-vllm", "postgres-demo", "meta-reference-gpu"] {
        let model = model(&json!({"distribution": {"name": distribution}})).unwrap();
        let base = Base::embedded(&model.spec().distribution, None).unwrap();
        let made = generated(&model, &base).unwrap();
        let before: Value = serde_yaml::from_str(&base.text).unwrap();
        let after: Value = serde_yaml::from_str(made.config.text()).unwrap();
        assert_eq!(before, after);
        assert!(made.config.lines().iter().all(|origin| matches!(origin, Origin::Base { .. })));
        assert!(made.env.is_empty() && made.config.produced().is_empty());
    }
}

#[test]
fn unknown_keys_of_the_base_stay_in_order() {
    let base = "version: '2'\nzebra: {b: 1, a: 007}\nproviders: {}\nalpha: [~, 1e5, 0o17]\nlogging:\n  - yes\n";
    let model = model(&json!({"distribution": {"name": "starter"}, "providers": {"inference": [
        {"provider": "vllm", "endpoint": "http://vllm:8000/v1"}]}}))
    .unwrap();
    let made = generated(&model, &given(base)).unwrap();
    let expected = "version: \"2\"\nzebra:\n  b: 1\n  a: 007\nproviders:\n  inference:\n  - provider_id: vllm\n    \
                    provider_type: remote::vllm\n    config:\n      base_url: http://vllm:8000/v1\nalpha:\n- null\n- \"1e5\"\n- \
                    \"0o17\"\nlogging:\n- yes\napis:\n- inference\n";
    assert_eq!(made.config.text(), expected);
    assert_eq!(made.config_version, 2);
}

/// Objects that are broken anywhere: random values at the paths of a real resource, and beside them.
fn broken() -> impl Strategy<Value = Value> {
    let places = prop::sample::select(vec![
        "/spec",
        "/spec/distribution",
        "/spec/distribution/name",
        "/spec/providers",
        "/spec/providers/inference",
        "/spec/providers/inference/0",
        "/spec/providers/inference/0/id",
        "/spec/providers/inference/0/provider",
        "/spec/providers/inference/0/endpoint",
        "/spec/providers/inference/0/apiKey",
        "/spec/providers/inference/0/secretRefs",
        "/spec/providers/inference/0/settings",
        "/spec/resources",
        "/spec/resources/models",
        "/spec/resources/models/0",
        "/spec/resources/tools",
        "/spec/storage",
        "/spec/storage/kv",
        "/spec/storage/sql",
        "/spec/disabled",
        "/spec/networking",
        "/spec/workload",
        "/metadata",
        "/metadata/name",
        "/spec/server",
        "/spec/server/containerSpec",
        "/spec/server/userConfig",
        "/spec/network",
    ]);
    prop::collection::vec((places, values()), 1..4).prop_map(|changes| {
        let mut object = json!({
            "apiVersion": "llamastack.io/v1alpha2", "kind": "LlamaStackDistribution", "metadata": {"name": "law"},
            "spec": {
                "distribution": {"name": "starter"},
                "providers": {"inference": [{"id": "a", "provider": "vllm", "endpoint": "http://x/v1",
                    "apiKey": {"secretKeyRef": {"name": "s", "key": "k"}}, "secretRefs": {}, "settings": {}}]},
                "resources": {"models": [{"name": "m"}], "tools": ["websearch"]},
                "storage": {"kv": {}, "sql": {}}, "disabled": ["batches"], "networking": {}, "workload": {},
                "server": {"containerSpec": {}, "userConfig": {}}, "network": {},
            },
        });
        for (place, value) in changes {
            if let Some(target) = object.pointer_mut(place) {
                *target = value.get("a").cloned().unwrap_or(value);
            }
        }
        object
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn every_object_gets_a_verdict(object in broken()) {
        for version in ApiVersion::LLAMA_STACK {
            let unknown = BTreeSet::from([Path::parse("spec.providers.inference[0].id")]);
            for unknown in [&unknown, &BTreeSet::new()] {
                let request = Request { version, value: &object, old: None, unknown, facts: &Facts::default() };
                prop_assert_eq!(verdict(&request), verdict(&request));
            }
        }
    }
}
