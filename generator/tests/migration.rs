//! Migration for good: what is folded, what is said about it, and that the server keeps its config.
use llsd_generator::api::ApiVersion;
use llsd_generator::check::finding::Severity;
use llsd_generator::check::{Facts, Request, verdict};
use llsd_generator::fold::{Class, MigrateError, Migration, migrate};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

fn older(spec: Value) -> Value {
    json!({"apiVersion": "llamastack.io/v1alpha1", "kind": "LlamaStackDistribution", "metadata": {"name": "a"}, "spec": spec})
}

fn with_env(distribution: &str, env: Value) -> Migration {
    let object =
        older(json!({"server": {"distribution": {"name": distribution}, "containerSpec": {"port": 8321, "env": env}}}));
    let migration = migrate(&object, &Facts::default()).unwrap();
    assert_valid(&migration.value);
    migration
}

fn assert_valid(object: &Value) {
    let (facts, unknown) = (Facts::default(), BTreeSet::new());
    let request = Request { version: ApiVersion::V1Alpha2, value: object, old: None, unknown: &unknown, facts: &facts };
    let errors: Vec<_> =
        verdict(&request).findings.into_iter().filter(|finding| finding.severity == Severity::Error).collect();
    assert_eq!(errors, []);
}

/// Everything was compared, and all of it means the same; nothing is there besides.
fn assert_same(migration: &Migration) {
    assert_eq!(migration.report.differences, []);
    assert_eq!(migration.report.refused, []);
    assert!(migration.report.means_the_same());
}

/// What the report says, worst first.
fn lines(migration: &Migration) -> Vec<String> {
    migration.report.lines().iter().map(ToString::to_string).collect()
}

/// Whether nothing was folded.
fn assert_untouched(migration: &Migration) {
    let spec = &migration.value["spec"];
    assert!(spec.get("providers").is_none() && spec.get("resources").is_none(), "{spec:#}");
}

fn moves(migration: &Migration) -> BTreeMap<String, String> {
    migration.moves.iter().map(|(old, new)| (old.to_string(), new.to_string())).collect()
}

#[test]
fn variables_become_the_provider_that_they_switch_on() {
    let migration = with_env(
        "starter",
        json!([
            {"name": "VLLM_URL", "value": "http://vllm:8000/v1"},
            {"name": "LOG_LEVEL", "value": "debug"},
            {"name": "VLLM_API_TOKEN", "valueFrom": {"secretKeyRef": {"name": "vllm", "key": "token"}}},
            {"name": "VLLM_TLS_VERIFY", "value": "false"},
        ]),
    );
    assert_eq!(
        migration.value["spec"],
        json!({
            "distribution": {"name": "starter"},
            "providers": {"inference": [{
                "provider": "vllm",
                "endpoint": "http://vllm:8000/v1",
                "apiKey": {"secretKeyRef": {"name": "vllm", "key": "token"}},
                "settings": {"tls_verify": false},
            }]},
            "networking": {"port": 8321},
            "workload": {"overrides": {"env": [{"name": "LOG_LEVEL", "value": "debug"}]}},
        })
    );
    assert_same(&migration);
    let moves = moves(&migration);
    let env = "spec.server.containerSpec.env";
    assert_eq!(moves[&format!("{env}[0].value")], "spec.providers.inference[0].endpoint");
    assert_eq!(moves[&format!("{env}[1]")], "spec.workload.overrides.env[0]");
    assert_eq!(moves[&format!("{env}[2].valueFrom.secretKeyRef")], "spec.providers.inference[0].apiKey.secretKeyRef");
    assert_eq!(moves["spec.server.distribution"], "spec.distribution");
}

#[test]
fn a_provider_that_stays_off_is_not_folded() {
    let env = json!([{"name": "VLLM_API_TOKEN", "value": "x"}, {"name": "OTHER", "value": "y"}]);
    let migration = with_env("starter", env.clone());
    assert_eq!(migration.value["spec"]["workload"]["overrides"]["env"], env);
    assert_untouched(&migration);
    assert_same(&migration);
}

#[test]
fn a_key_in_plain_text_stays_where_it_is() {
    let migration = with_env(
        "starter",
        json!([
            {"name": "VLLM_URL", "value": "http://vllm:8000/v1"},
            {"name": "VLLM_API_TOKEN", "value": "not-for-eyes"},
        ]),
    );
    let provider = &migration.value["spec"]["providers"]["inference"][0];
    assert_eq!(provider["settings"], json!({"api_token": "${env.VLLM_API_TOKEN:=fake}"}));
    assert_eq!(migration.value["spec"]["workload"]["overrides"]["env"][0]["name"], "VLLM_API_TOKEN");
    assert_same(&migration);
    assert!(!format!("{:?}", migration.report).contains("not-for-eyes"));
}

#[test]
fn every_known_variable_of_the_distributions_is_folded_or_kept_without_a_change() {
    for distribution in ["starter", "remote-vllm", "postgres-demo", "meta-reference-gpu"] {
        let text = llsd_generator::distribution::BaseConfig::embedded(distribution).unwrap();
        let mut names: Vec<&str> =
            text.split("${env.").skip(1).filter_map(|rest| rest.split([':', '}']).next()).collect();
        names.sort_unstable();
        names.dedup();
        for secret in [false, true] {
            let env: Value = names
                .iter()
                .map(|name| match name {
                    _ if name.ends_with("PORT") => json!({"name": name, "value": "5433"}),
                    _ if name.contains("MAX") || name.contains("SIZE") => json!({"name": name, "value": "7"}),
                    _ if name.ends_with("VERIFY") => json!({"name": name, "value": "false"}),
                    _ if name.ends_with("URL") || name.ends_with("BASE") => {
                        json!({"name": name, "value": "http://host:1/v1"})
                    }
                    _ if secret && (name.ends_with("KEY") || name.ends_with("TOKEN") || name.ends_with("PASSWORD")) => {
                        json!({"name": name, "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}})
                    }
                    _ => json!({"name": name, "value": "x"}),
                })
                .collect();
            let migration = with_env(distribution, env);
            assert_eq!(migration.report.differences, [], "{distribution} {secret}");
        }
    }
}

fn with_config(text: &str, env: Value) -> Migration {
    let object = older(json!({
        "server": {
            "distribution": {"name": "starter"},
            "containerSpec": {"env": env},
            "userConfig": {"configMapName": "c"},
        },
    }));
    let data = BTreeMap::from([("config.yaml".to_owned(), text.to_owned())]);
    let facts =
        Facts { config_maps: Some(BTreeMap::from([((String::new(), "c".to_owned()), data)])), ..Facts::default() };
    let migration = migrate(&object, &facts).unwrap();
    assert_valid(&migration.value);
    migration
}

const CONFIG: &str = "\
version: 2
apis: [inference, safety, tool_runtime]
providers:
  inference:
  - provider_id: main
    provider_type: remote::vllm
    config: {base_url: '${env.VLLM_URL:=http://v:8000/v1}', max_tokens: 100}
  tool_runtime:
  - provider_id: tavily-search
    provider_type: remote::tavily-search
    config: {api_key: '${env.TAVILY:=}', max_results: 5}
storage:
  backends:
    kv_default: {type: kv_redis, host: redis, port: 6380}
registered_resources:
  models:
  - {model_id: m, provider_id: main, model_type: llm, metadata: {context_length: 8192}}
  tool_groups:
  - {toolgroup_id: 'builtin::websearch', provider_id: tavily-search}
";

#[test]
fn a_config_map_becomes_fields_and_what_differs_is_listed() {
    let secret = json!([{"name": "TAVILY", "valueFrom": {"secretKeyRef": {"name": "t", "key": "k"}}}]);
    let migration = with_config(CONFIG, secret);
    let spec = &migration.value["spec"];
    assert_eq!(spec.get("overrideConfig"), None);
    assert_eq!(
        spec["providers"]["inference"],
        json!([
            {"id": "main", "provider": "vllm", "endpoint": "http://v:8000/v1", "settings": {"max_tokens": 100}},
        ])
    );
    assert_eq!(
        spec["providers"]["toolRuntime"],
        json!([{
            "provider": "tavily-search",
            "apiKey": {"secretKeyRef": {"name": "t", "key": "k"}},
            "settings": {"max_results": 5},
        }])
    );
    assert_eq!(spec["resources"]["models"], json!([{"name": "m", "contextLength": 8192}]));
    assert_eq!(spec["storage"], json!({"kv": {"type": "redis", "endpoint": "redis:6380"}}));
    let disabled = ["agents", "batches", "datasetio", "eval", "post_training", "scoring"];
    assert_eq!(spec["disabled"], json!(disabled), "files and vector_io are needed by a tool of the distribution");
    assert_eq!(spec.get("workload"), None, "the variable is read by the provider now");
    let differences = &migration.report.differences;
    assert!(differences.iter().all(|difference| difference.class == Class::Added), "{differences:#?}");
    let places: Vec<&str> = differences.iter().map(|difference| difference.place.as_str()).collect();
    assert!(places.contains(&"providers.inference[openai]"), "the distribution's own providers stay: {places:?}");
    assert!(!places.iter().any(|place| place.contains("main") || place.contains("models[m]")), "{places:?}");
}

#[test]
fn a_config_of_an_older_version_is_read_as_it_was_meant() {
    let text = "\
version: 2
apis: [inference]
providers:
  inference:
  - {provider_id: ollama, provider_type: 'remote::ollama', config: {url: 'http://ollama:11434/v1'}}
models:
- {model_id: m, provider_id: ollama}
";
    let migration = with_config(text, json!([]));
    let provider = json!({"provider": "ollama", "endpoint": "http://ollama:11434/v1"});
    assert_eq!(migration.value["spec"]["providers"], json!({"inference": [provider]}));
    assert_eq!(migration.value["spec"]["resources"], json!({"models": [{"name": "m"}]}));
    let lines = lines(&migration);
    let change = "change: providers.inference[ollama].config.base_url: http://ollama:11434/v1 is new (written in a form \
                  that this llama-stack no longer reads)";
    assert_eq!(lines[0], change);
    let passed = "note: llama-stack passes over these parts of the config, and they are left out: models, \
                  providers.inference[ollama].config.url";
    assert!(lines.iter().any(|line| line == passed), "{lines:#?}");
    assert!(!migration.report.means_the_same());
}

#[test]
fn the_config_of_the_distribution_itself_folds_into_nothing() {
    let text = llsd_generator::distribution::BaseConfig::embedded("starter").unwrap();
    let migration = with_config(text, json!([]));
    assert_eq!(migration.value["spec"]["overrideConfig"], json!({"configMapName": "c"}));
    assert_same(&migration);
}

#[test]
fn an_edited_copy_of_the_distribution_folds_without_a_difference() {
    let text = llsd_generator::distribution::BaseConfig::embedded("starter").unwrap();
    let text = text.replacen("${env.VLLM_URL:+vllm}", "vllm", 1).replacen("${env.VLLM_URL:=}", "http://v:8000/v1", 1);
    let migration = with_config(&text, json!([]));
    assert_eq!(migration.value["spec"]["providers"]["inference"][0]["endpoint"], "http://v:8000/v1");
    assert_same(&migration);
}

#[test]
fn an_unknown_or_broken_config_map_stays() {
    let object = older(json!({"server": {"distribution": {"name": "starter"}, "userConfig": {"configMapName": "c"}}}));
    let migration = migrate(&object, &Facts::default()).unwrap();
    assert_eq!(migration.value["spec"]["overrideConfig"], json!({"configMapName": "c"}));
    assert_eq!(migration.report.notes.len(), 1);
    for text in ["", "- a", "a: [", "providers: {inference: text}", "apis: 1\nproviders: 2\nregistered_resources: 3"] {
        let migration = with_config(text, json!([]));
        assert_eq!(migration.value["spec"]["overrideConfig"], json!({"configMapName": "c"}), "{text}");
    }
}

#[test]
fn what_has_no_place_is_told() {
    let object = older(json!({
        "replicas": 1,
        "server": {
            "distribution": {"image": "example.com/x:1"},
            "containerSpec": {"name": "server", "port": 80, "env": []},
            "userConfig": {"configMapName": "c", "configMapNamespace": "elsewhere"},
        },
        "network": {"exposeRoute": false},
    }));
    let migration = migrate(&object, &Facts::default()).unwrap();
    let lines = lines(&migration);
    assert_eq!(
        lines[1..3],
        [
            "loss: spec.server.containerSpec.name: \"server\" is gone",
            "loss: spec.server.userConfig.configMapNamespace: \"elsewhere\" is gone"
        ]
    );
    let port = &migration.value["spec"]["networking"]["port"];
    assert_eq!(*port, 80, "v1alpha2 refuses it, and the author decides");
    assert!(lines[0].starts_with("refused: spec.networking.port: "), "{lines:#?}");
    assert_eq!(migration.value["metadata"], json!({"name": "a"}), "no annotation");
    // the router may connect, as it may while v1alpha1 has `network` at all
    assert_eq!(migration.value["spec"]["networking"]["expose"], json!({"enabled": false}));
}

#[test]
fn places_of_templates_move_too() {
    let object = older(json!({
        "replicas": "{{ .Values.replicas }}",
        "server": {"distribution": {"name": "starter"}, "containerSpec": {"port": "{{ .Values.port }}"}},
        "network": {"exposeRoute": "{{ .Values.expose }}"},
    }));
    let migration = migrate(&object, &Facts::default()).unwrap();
    let expected = json!({
        "distribution": {"name": "starter"},
        "networking": {"port": "{{ .Values.port }}", "expose": {"enabled": "{{ .Values.expose }}"}},
        "workload": {"replicas": "{{ .Values.replicas }}"},
    });
    assert_eq!(migration.value["spec"], expected);
    assert_same(&migration);
}

#[test]
fn templates_do_not_keep_variables_from_being_folded() {
    let object = older(json!({
        "replicas": "{{ .Values.replicas }}",
        "server": {
            "distribution": {"name": "starter"},
            "containerSpec": {"port": 80, "env": [{"name": "VLLM_URL", "value": "http://{{ .Values.host }}:8000/v1"}]},
        },
    }));
    let migration = migrate(&object, &Facts::default()).unwrap();
    let provider = json!({"provider": "vllm", "endpoint": "http://{{ .Values.host }}:8000/v1"});
    let inference = &migration.value["spec"]["providers"]["inference"][0];
    assert_eq!(inference["endpoint"], provider["endpoint"], "{:#?}", migration.report);
    assert_eq!(migration.report.differences, []);
}

#[test]
fn any_valid_resource_migrates_and_the_newer_version_stays() {
    let newer = json!({"apiVersion": "llamastack.io/v1alpha2", "kind": "LlamaStackDistribution", "spec": {"x": 1}});
    assert_eq!(migrate(&newer, &Facts::default()).unwrap().value, newer);
    assert!(migrate(&json!({"kind": "Pod"}), &Facts::default()).is_err());
    for spec in [
        json!(null),
        json!("x"),
        json!({}),
        json!({"server": 1}),
        json!({"server": {"containerSpec": {"env": "x"}}}),
        json!({"server": {"distribution": {"name": "starter"}, "containerSpec": {"env": [1, {"name": 2}, {"name": "VLLM_URL", "value": 3}]}}}),
        json!({"server": {"distribution": {}}}),
        json!({"server": {"distribution": {"name": "starter"}, "containerSpecs": {}}}),
    ] {
        let refused = migrate(&older(spec.clone()), &Facts::default());
        assert!(matches!(refused, Err(MigrateError::Invalid(_))), "{spec}: {refused:#?}");
    }
}

#[test]
fn a_variable_that_kubernetes_expands_stays() {
    for (env, what) in [
        (
            json!([{"name": "HOST", "value": "v.svc"}, {"name": "VLLM_URL", "value": "http://$(HOST):8000/v1"}]),
            "VLLM_URL stays in the environment: Kubernetes expands $ in its value, in env alone",
        ),
        (
            json!([{"name": "VLLM_URL", "value": "http://v:8000/v1?a=$$(X)"}]),
            "VLLM_URL stays in the environment: Kubernetes expands $ in its value, in env alone",
        ),
        (
            json!([{"name": "VLLM_URL", "value": "http://v:8000/v1"}, {"name": "HEALTH", "value": "$(VLLM_URL)/models"}]),
            "VLLM_URL stays in the environment: HEALTH uses it by $(…)",
        ),
        (
            json!([{"name": "VLLM_URL", "value": "${env.OTHER}"}]),
            "VLLM_URL stays in the environment: as a part of the config its text would mean something else",
        ),
    ] {
        let migration = with_env("starter", env.clone());
        assert_eq!(migration.value["spec"]["workload"]["overrides"]["env"], env);
        assert_untouched(&migration);
        assert_same(&migration);
        assert!(lines(&migration).contains(&format!("note: {what}")), "{:#?}", lines(&migration));
    }
    // one that has to stay keeps no other provider from being written
    let migration = with_env(
        "starter",
        json!([
            {"name": "VLLM_URL", "value": "http://v:8000/v1"},
            {"name": "HEALTH", "value": "$(VLLM_URL)/models"},
            {"name": "OLLAMA_URL", "value": "http://o:11434/v1"},
        ]),
    );
    let ollama = json!([{"provider": "ollama", "endpoint": "http://o:11434/v1"}]);
    assert_eq!(migration.value["spec"]["providers"]["inference"], ollama);
    assert_same(&migration);
}

#[test]
fn a_server_that_reads_a_config_of_its_own_keeps_its_environment() {
    let env = json!([{"name": "VLLM_URL", "value": "http://v:8000/v1"}]);
    let chosen =
        json!([{"name": "RUN_CONFIG_PATH", "value": "/x.yaml"}, {"name": "VLLM_URL", "value": "http://v:8000/v1"}]);
    for (container, overrides, place) in [
        (json!({"env": env, "args": ["--config", "/config/own.yaml"]}), json!({}), "spec.server.containerSpec.args"),
        (json!({"env": env, "command": ["llama"]}), json!({}), "spec.server.containerSpec.command"),
        (json!({"env": chosen}), json!({}), "RUN_CONFIG_PATH"),
        (
            json!({"env": env}),
            json!({"volumes": [{"name": "c"}], "volumeMounts": [{"name": "c", "mountPath": "/app/run.yaml"}]}),
            "what is mounted at /app/run.yaml",
        ),
    ] {
        let object = older(json!({"server": {
            "distribution": {"name": "starter"}, "containerSpec": container, "podOverrides": overrides,
        }}));
        let migration = migrate(&object, &Facts::default()).unwrap();
        assert_untouched(&migration);
        assert_same(&migration);
        let why = format!(
            "note: environment variables stay as they are: {place} decides how the server starts and which config it reads"
        );
        assert!(lines(&migration).contains(&why), "{:#?}", lines(&migration));
    }
}

#[test]
fn what_only_the_config_can_say_keeps_it() {
    let with = |part: &str| {
        format!(
            "version: 2\napis: [inference, eval, files]\nproviders:\n  inference:\n  - {{provider_id: v, provider_type: 'remote::vllm', config: {{base_url: 'http://v:1/v1'}}}}\n{part}"
        )
    };
    for (part, place) in [
        (
            "  eval:\n  - {provider_id: e, provider_type: 'remote::own', module: own}\n",
            "providers.eval[e]: remote::own is gone",
        ),
        (
            "storage:\n  backends:\n    kv_default: {type: kv_sqlite, db_path: /data/kv.db}\n",
            "storage.backends[kv_default].db_path: /data/kv.db becomes ~/.llama/distributions/starter/kvstore.db",
        ),
        ("server: {auth: {provider_config: {type: custom}}}\n", "server.auth.provider_config.type: custom is gone"),
        (
            "registered_resources:\n  models:\n  - {model_id: m, provider_id: v, model_type: llm, metadata: {owner: team}}\n",
            "registered_resources.models[m].metadata.owner: team is gone",
        ),
    ] {
        let migration = with_config(&with(part), json!([]));
        assert_eq!(migration.value["spec"]["overrideConfig"], json!({"configMapName": "c"}), "{part}");
        assert_same(&migration);
        let said = lines(&migration);
        assert!(
            said[0].starts_with("note: ConfigMap \"c\" stays as overrideConfig") && said[0].contains(place),
            "{said:#?}"
        );
    }
}

#[test]
fn a_name_from_a_secret_is_never_written_out() {
    let secret = json!([{"name": "CHAT_MODEL", "valueFrom": {"secretKeyRef": {"name": "models", "key": "chat"}}}]);
    let text = "version: 2\napis: [inference]\nproviders:\n  inference:\n  - {provider_id: vllm, provider_type: 'remote::vllm', config: {base_url: 'http://v:1/v1'}}\nregistered_resources:\n  models:\n  - {model_id: '${env.CHAT_MODEL}', provider_id: vllm, model_type: llm}\n";
    let migration = with_config(text, secret.clone());
    assert!(!migration.value.to_string().contains("secret models"), "{:#}", migration.value);
    let spec = &migration.value["spec"];
    assert_eq!(spec["workload"]["overrides"]["env"], secret, "the variable is read where it was");
    let folded = spec["resources"]["models"] == json!([{"name": "${env.CHAT_MODEL}"}]);
    assert!(folded || spec.get("overrideConfig").is_some(), "{spec:#}");
    assert!(migration.report.means_the_same());
}

#[test]
fn variables_that_nothing_reads_any_more_go_and_the_provider_of_a_model_is_written() {
    let text = "version: 2\napis: [inference]\nproviders:\n  inference:\n  - provider_id: vllm\n    provider_type: remote::vllm\n    config: {base_url: '${env.VLLM_URL:=}', max_tokens: '${env.VLLM_MAX_TOKENS:=4096}'}\nregistered_resources:\n  models:\n  - {model_id: '${env.CHAT_MODEL}', provider_id: vllm, model_type: llm}\n";
    let env = json!([
        {"name": "VLLM_URL", "value": "http://v:8000/v1"},
        {"name": "CHAT_MODEL", "value": "m"},
        {"name": "VLLM_MAX_TOKENS", "value": "4096"},
    ]);
    let migration = with_config(text, env);
    let spec = &migration.value["spec"];
    let vllm = json!([{"provider": "vllm", "endpoint": "http://v:8000/v1", "settings": {"max_tokens": 4096}}]);
    assert_eq!(spec["providers"]["inference"], vllm);
    assert_eq!(spec["resources"]["models"], json!([{"name": "m"}]));
    assert_eq!(spec.get("workload"), None, "no variable is left");
    assert!(lines(&migration).contains(&"note: CHAT_MODEL becomes spec.resources.models[0]".to_owned()));
}

#[test]
fn the_older_form_of_a_default_is_written_anew_and_told() {
    let text = "version: 2\napis: [inference]\nproviders:\n  inference:\n  - {provider_id: vllm, provider_type: 'remote::vllm', config: {base_url: '${env.VLLM_URL:http://v:1/v1}'}}\n";
    let migration = with_config(text, json!([]));
    let provider = &migration.value["spec"]["providers"]["inference"][0];
    assert_eq!(provider["endpoint"], "http://v:1/v1", "{:#?}", lines(&migration));
    let said = lines(&migration);
    assert!(said[0].starts_with("change: providers.inference[vllm].config.base_url: "), "{said:#?}");
    let note = "note: ${env.VLLM_URL:http://v:1/v1} is written ${env.VLLM_URL:=http://v:1/v1}, which llama-stack reads";
    assert!(said.contains(&note.to_owned()), "{said:#?}");
}

#[test]
fn what_kubectl_wrote_into_the_file_goes() {
    let mut object = older(json!({"server": {"distribution": {"name": "starter"}}}));
    object["metadata"]["annotations"] = json!({"kubectl.kubernetes.io/last-applied-configuration": "{}"});
    let migration = migrate(&object, &Facts::default()).unwrap();
    assert_eq!(migration.value["metadata"], json!({"name": "a"}));
    assert!(
        lines(&migration)[0]
            .starts_with("note: annotation kubectl.kubernetes.io/last-applied-configuration is dropped")
    );
}

#[test]
fn a_variable_that_is_there_twice_is_there_once() {
    let env = json!([{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]);
    let migration = with_env("starter", env);
    assert_eq!(migration.value["spec"]["workload"]["overrides"]["env"], json!([{"name": "A", "value": "2"}]));
    assert_same(&migration);
}

#[test]
fn what_is_not_known_is_said() {
    let stays = |spec: Value, facts: &Facts| {
        let migration = migrate(&older(spec), facts).unwrap();
        assert_same(&migration);
        lines(&migration).remove(0)
    };
    let server =
        |distribution: Value| json!({"server": {"distribution": distribution, "userConfig": {"configMapName": "c"}}});
    let data = BTreeMap::from([("run.yaml".to_owned(), "version: 2".to_owned())]);
    let key = (String::new(), "c".to_owned());
    let facts = Facts { config_maps: Some(BTreeMap::from([(key, data)])), ..Facts::default() };
    let starter = server(json!({"name": "starter"}));
    let start = "note: ConfigMap \"c\" stays as overrideConfig: ";
    assert_eq!(stays(starter.clone(), &Facts::default()), format!("{start}it is in none of these files"));
    assert_eq!(
        stays(server(json!({"image": "example.com/x:1"})), &Facts::default()),
        format!("{start}it is in none of these files")
    );
    let migration = migrate(&older(starter), &facts).unwrap();
    let said = lines(&migration);
    assert!(said.contains(&format!("{start}it has no key config.yaml, only run.yaml")), "{said:#?}");
}
