//! Warnings of what is beside a resource that is written: its Secrets, its ConfigMaps, the operator's switches. What is
//! missing may be applied a moment later, so nothing of it refuses a write.

use crate::operator_webhooks::hooks::{
    ASKED_BY, collection, configuration, free_address, good, object, server, wait_until,
};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kube::config::{KubeConfigOptions, Kubeconfig};
use llsd_operator::webhooks::{Certificates, Options, Readiness, SECRET_NAME, Surroundings, serve};
use llsd_tests::cluster::{Answer, Request};
use llsd_tests::operator::path;
use serde_json::{Value, json};
use std::fs;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

const MISSING: &str = "llsd::reference::not-found";

/// What the API server says of a resource, without storing it.
fn sent(object: &Value) -> Answer {
    let version = object["apiVersion"].as_str().unwrap();
    let collection = match version.split_once('/').unwrap() {
        ("ogx.io", _) => path("default", "ogxservers"),
        (_, version) => collection(version),
    };
    server().send(Request::post(collection, object).dry())
}

/// The warnings with which a resource would be stored.
fn warnings(object: &Value) -> Vec<String> {
    let answer = sent(object);
    assert!(answer.accepted(), "{}", answer.message());
    answer.warnings
}

/// Those of a rule.
fn of(object: &Value, rule: &str) -> Vec<String> {
    warnings(object).into_iter().filter(|one| one.contains(rule)).collect()
}

fn make(namespace: &str, plural: &str, name: &str, data: &Value) {
    let (kind, field) = if plural == "secrets" { ("Secret", "stringData") } else { ("ConfigMap", "data") };
    let object = json!({
        "apiVersion": "v1", "kind": kind, "metadata": {"name": name, "namespace": namespace}, field: data,
    });
    good(server().send(Request::post(path(namespace, plural), &object)));
}

fn ogx(name: &str, spec: &Value) -> Value {
    let metadata = json!({"name": name, "namespace": "default"});
    json!({"apiVersion": "ogx.io/v1beta1", "kind": "OGXServer", "metadata": metadata, "spec": spec})
}

#[test]
fn what_a_llama_stack_distribution_lacks_is_a_warning() {
    let key = json!({"secretKeyRef": {"name": "beside-token", "key": "token"}});
    let vllm = json!({"provider": "vllm", "endpoint": "http://vllm:8000/v1", "apiKey": key});
    let spec = json!({
        "distribution": {"name": "starter"},
        "providers": {"inference": [vllm]},
        "networking": {"allowedFrom": {"namespaces": ["apps"]}},
    });
    let newer = object("v1alpha2", "beside", spec);
    let missing = of(&newer, MISSING);
    assert!(missing.len() == 1 && missing[0].contains("spec.providers.inference[0].apiKey"), "{missing:?}");
    assert_eq!(of(&newer, "llsd::networking::policies-off").len(), 1);
    let older = json!({
        "server": {
            "distribution": {"name": "starter"},
            "containerSpec": {"env": [{"name": "VLLM_API_TOKEN", "valueFrom": key}]},
        },
    });
    let older = object("v1alpha1", "beside", older);
    let missing = of(&older, MISSING);
    assert!(missing.len() == 1 && missing[0].contains("spec.server.containerSpec.env[0]"), "{missing:?}");

    make("default", "secrets", "beside-token", &json!({"key": "x", "digits": "008154711"}));
    assert_eq!(of(&newer, "llsd::reference::no-key").len(), 1, "the key is another one");
    let digits = |object: &Value| {
        let text = object.to_string().replace("\"key\":\"token\"", "\"key\":\"digits\"");
        // long warnings are cut
        of(&serde_json::from_str(&text).unwrap(), "key \"digits\" of Secret \"beside-token\"")
    };
    for told in [digits(&newer), digits(&older)] {
        assert!(told.len() == 1 && told[0].contains("as a number"), "{told:?}");
        assert!(!told[0].contains("8154711"), "the value is not told: {told:?}");
    }
    let flags = json!({"featureFlags": "enableNetworkPolicy: {enabled: true}"});
    make("default", "configmaps", "llama-stack-operator-config", &flags);
    assert_eq!(of(&newer, "llsd::networking::policies-off"), Vec::<String>::new());

    let own = object(
        "v1alpha2",
        "beside-own",
        json!({
            "distribution": {"name": "starter"},
            "overrideConfig": {"configMapName": "beside-config"},
            "workload": {"workers": 3},
        }),
    );
    make("default", "configmaps", "beside-config", &json!({"run.yaml": "a: b"}));
    assert_eq!(of(&own, "llsd::config::missing-key").len(), 1);
    // an update that does not touch the spec asks for nothing
    let plain = object("v1alpha2", "beside-plain", json!({"distribution": {"name": "starter"}}));
    assert_eq!(warnings(&plain), Vec::<String>::new());
}

/// A server that takes its key from one object, and its base and its certificates from others.
fn with_objects(name: &str) -> Value {
    let openai = json!([{"apiKey": {"name": format!("{name}-openai"), "key": "token"}}]);
    ogx(
        name,
        &json!({
            "distribution": {"image": "registry.example/ogx:1.5.0"},
            "baseConfig": {"name": format!("{name}-base"), "key": "config.yaml"},
            "providers": {"inference": {"remote": {"openai": openai}}},
            "tls": {"trust": {"caCertificates": [{"name": format!("{name}-ca"), "key": "ca.crt"}]}},
        }),
    )
}

#[test]
fn what_an_ogx_server_lacks_is_a_warning() {
    let object = with_objects("lacking");
    let missing = of(&object, MISSING);
    for place in ["spec.baseConfig.name", "spec.providers.inference.remote.openai[0].apiKey.name", "caCertificates[0]"]
    {
        assert!(missing.iter().any(|one| one.contains(place)), "{place}: {missing:?}");
    }
    assert_eq!(missing.len(), 3, "{missing:?}");
    assert_eq!(of(&object, "llsd::networking::policies-off"), Vec::<String>::new(), "it has no such switch");

    // of another namespace: a reference has none, so this is another one
    good(server().send(Request::post(
        "/api/v1/namespaces",
        &json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "lacking-elsewhere"}}),
    )));
    make("lacking-elsewhere", "secrets", "lacking-openai", &json!({"token": "x"}));
    let told = of(&object, MISSING);
    assert!(told.iter().any(|one| one.contains("\"lacking-openai\" not found in namespace \"default\"")), "{told:?}");

    make("default", "secrets", "lacking-openai", &json!({"key": "x"}));
    make("default", "configmaps", "lacking-base", &json!({"base.yaml": "version: 2"}));
    make("default", "configmaps", "lacking-ca", &json!({"ca.crt": ""}));
    assert_eq!(of(&object, MISSING), Vec::<String>::new());
    let keys = of(&object, "llsd::reference::no-key");
    assert!(keys.len() == 2 && keys.iter().any(|one| one.contains("has no key \"token\"")), "{keys:?}");
}

#[test]
fn objects_that_the_other_operator_does_not_see_are_told() {
    const RULE: &str = "llsd::ogx::not-watched";
    let object = with_objects("labels");
    make("default", "secrets", "labels-openai", &json!({"token": "x"}));
    make("default", "configmaps", "labels-base", &json!({"config.yaml": "version: 2\nproviders: {}\n"}));
    make("default", "configmaps", "labels-ca", &json!({"ca.crt": ""}));
    let told = of(&object, RULE);
    assert_eq!(told.len(), 3, "{told:?}");
    let label = |plural: &str, name: &str, value: &str| {
        let labels = json!({"metadata": {"labels": {"ogx.io/watch": value}}});
        good(server().send(Request::merge(format!("{}/{name}", path("default", plural)), &labels)));
    };
    label("secrets", "labels-openai", "true");
    label("configmaps", "labels-base", "false");
    let told = of(&object, RULE);
    assert!(told.len() == 2 && !told.iter().any(|one| one.contains("labels-openai")), "{told:?}");
    label("configmaps", "labels-base", "true");
    label("configmaps", "labels-ca", "true");
    assert_eq!(of(&object, RULE), Vec::<String>::new());
}

/// A resource of each kind with variables from `count` Secrets that do not exist.
fn with_secrets(name: &str, count: usize) -> [Value; 2] {
    let variable = |at: usize| {
        let key = json!({"name": format!("nowhere-{at}"), "key": "key"});
        json!({"name": format!("NAME_{at}"), "valueFrom": {"secretKeyRef": key}})
    };
    let env: Vec<Value> = (0..count).map(variable).collect();
    let workload = json!({"overrides": {"env": env}});
    let spec = |distribution: Value| json!({"distribution": distribution, "workload": workload});
    [
        object("v1alpha2", name, spec(json!({"name": "starter"}))),
        ogx(name, &spec(json!({"image": "registry.example/ogx:1.5.0"}))),
    ]
}

#[test]
fn of_a_resource_with_too_many_references_nothing_is_asked() {
    for (within, beyond) in with_secrets("many", 24).iter().zip(&with_secrets("many", 25)) {
        assert!(!of(within, MISSING).is_empty(), "{}", within["kind"]);
        assert_eq!(of(beyond, MISSING), Vec::<String>::new(), "{}", beyond["kind"]);
    }
}

#[test]
fn what_may_not_be_read_is_not_said_to_be_missing() {
    let mut config = Kubeconfig::read_from(server().folder().join("kubeconfig")).unwrap();
    for user in config.auth_infos.iter_mut().filter_map(|user| user.auth_info.as_mut()) {
        user.impersonate = Some("who-may-read-nothing".to_owned());
    }
    let only = only_asked_by("no-rights", config);
    for object in with_secrets("no-rights", 2) {
        assert_eq!(of(&object, MISSING).len(), 2, "by those who may");
        assert_eq!(of(&only(object), MISSING), Vec::<String>::new());
    }
}

#[test]
fn what_is_not_told_in_time_is_not_waited_for() {
    // Connections are taken by the system, and nobody ever answers.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut config = Kubeconfig::read_from(server().folder().join("kubeconfig")).unwrap();
    for cluster in config.clusters.iter_mut().filter_map(|cluster| cluster.cluster.as_mut()) {
        cluster.server = Some(format!("https://{}", silent.local_addr().unwrap()));
    }
    let only = only_asked_by("silent", config);
    for object in with_secrets("silent", 2) {
        assert_eq!(of(&object, MISSING).len(), 2, "by those who may");
        assert_eq!(of(&only(object), MISSING), Vec::<String>::new());
    }
}

/// Webhooks that ask for surroundings as `config` says. What comes back has a resource judged by them, and by no others.
fn only_asked_by(name: &'static str, config: Kubeconfig) -> impl Fn(Value) -> Value {
    let cluster = server();
    let secret = good(cluster.send(Request::get(format!("{}/{SECRET_NAME}", path("default", "secrets")))));
    let folder = cluster.folder().join(name);
    fs::create_dir(&folder).unwrap();
    let file = |file: &str| STANDARD.decode(secret["data"][file].as_str().unwrap()).unwrap();
    for one in ["tls.crt", "tls.key"] {
        fs::write(folder.join(one), file(one)).unwrap();
    }
    let client = cluster.runtime().block_on(async {
        let config = kube::Config::from_custom_kubeconfig(config, &KubeConfigOptions::default()).await.unwrap();
        kube::Client::try_from(config).unwrap()
    });
    let bind = free_address();
    let options = Options {
        bind,
        certificates: Certificates::Mounted { folder },
        surroundings: Some(Surroundings::new(client, Arc::default(), "default")),
        drain: Duration::ZERO,
    };
    let readiness = Readiness::default();
    cluster.runtime().spawn(serve(options, readiness.clone(), CancellationToken::new()));
    wait_until("the webhooks are ready", || readiness.is_ready());

    let installed = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
    let mut own = configuration();
    own["metadata"]["name"] = json!(name);
    for webhook in own["webhooks"].as_array_mut().unwrap() {
        let path = webhook["clientConfig"]["service"]["path"].as_str().unwrap();
        webhook["clientConfig"] = json!({"url": format!("https://{bind}{path}"), "caBundle": secret["data"]["ca.crt"]});
        webhook["objectSelector"] = json!({"matchLabels": {ASKED_BY: name}});
    }
    good(cluster.send(Request::post(installed, &own)));
    let labelled = move |mut object: Value| {
        object["metadata"]["labels"] = json!({ASKED_BY: name});
        object
    };
    let same_id =
        json!({"inference": {"remote": {"vllm": [{"endpoint": "http://a/v1"}, {"endpoint": "http://b/v1"}]}}});
    let broken = [
        object("v1alpha2", name, json!({"distribution": {"name": "startr"}})),
        ogx(name, &json!({"distribution": {"name": "starter"}, "providers": same_id})),
    ];
    for one in broken.map(labelled) {
        wait_until("the API server asks them", || !sent(&one).accepted());
    }
    labelled
}
