//! `OGXServer` resources, beside those of the other kind.

mod labels;
mod moving;

use crate::operator::setup::{World, container, messages, minimal, start_bare, variable, volume};
use llsd_generator::api::ApiVersion;
use llsd_generator::api::crd::crd;
use llsd_generator::check::finding::Severity;
use llsd_generator::check::{Facts, Request, verdict_on};
use llsd_generator::generate::{Base, BaseSource};
use llsd_generator::ogx;
use llsd_tests::operator::{Audit, Namespace, Operator, condition, grant_ogx};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::sync::OnceLock;

const KIND: &str = "ogxservers";

const BASE: &str = "\
version: 2
distro_name: small
apis: [inference]
providers:
  inference:
  - {provider_id: ollama, provider_type: 'remote::ollama', config: {base_url: 'http://ollama:11434/v1'}}
server: {insecure: true}
";

/// A cluster with the definitions of both kinds.
fn world() -> &'static World {
    static WORLD: OnceLock<World> = OnceLock::new();
    WORLD.get_or_init(|| World::start(&[crd().clone(), ogx::crd::definition()]))
}

/// A namespace, and an operator that looks after it alone.
struct Own {
    namespace: Namespace,
    operator: Operator,
}

impl Own {
    fn start(name: &str, arguments: &[&str]) -> Self {
        let system = world().operator_namespace(&format!("{name}-system"));
        grant_ogx(world().cluster, system.name());
        let namespace = world().namespace(name);
        let operator = start_bare(&system, name, arguments);
        Self { namespace, operator }
    }

    fn server(&self, name: &str, spec: &Value) -> Value {
        self.namespace.post(KIND, &object(name, spec))
    }

    fn ready(&self, name: &str) -> Value {
        self.namespace.wait(KIND, name, "is ready", |object| {
            object["status"]["phase"] == "Ready"
                && condition(object, "DeploymentReady")["observedGeneration"] == object["metadata"]["generation"]
        })
    }

    /// What the log must not say, whatever happened.
    fn was_refused_nothing(&self) {
        let log = self.operator.log();
        assert!(!log.contains("orbidden"), "{log}");
    }
}

fn object(name: &str, spec: &Value) -> Value {
    json!({"apiVersion": "ogx.io/v1beta1", "kind": "OGXServer", "metadata": {"name": name}, "spec": spec})
}

/// A server with one more provider than its base has.
fn with_vllm(endpoint: &str) -> Value {
    json!({
        "distribution": {"image": "registry.example/ogx:1.5.0"},
        "baseConfig": {"name": "base", "key": "config.yaml"},
        "providers": {"inference": {"remote": {"vllm": [{
            "id": "my-vllm", "endpoint": endpoint, "apiToken": {"name": "creds", "key": "token"},
        }]}}},
        "resources": {"models": [{"name": "llama"}]},
        "network": {"port": 9000},
        "workload": {"storage": {"size": "5Gi"}},
    })
}

fn what_it_names(namespace: &Namespace) {
    namespace.config_map("base", json!({"config.yaml": BASE}));
    namespace.secret("creds", json!({"token": "secret"}));
}

fn config_of(namespace: &Namespace, name: &str) -> (String, Value) {
    let deployment = namespace.get("deployments", name);
    let mounted = volume(&deployment, "user-config")["configMap"]["name"].as_str().expect("a ConfigMap").to_owned();
    let config = namespace.get("configmaps", &mounted);
    (mounted, config)
}

#[test]
fn a_server_gets_what_it_asks_for() {
    let own = Own::start("ogx-creation", &["--ogx-servers"]);
    let namespace = &own.namespace;
    what_it_names(namespace);
    let resource = own.server("chat", &with_vllm("http://vllm:8000/v1"));
    let ready = own.ready("chat");

    let labels = json!({
        "app.kubernetes.io/managed-by": "ogx-operator", "app.kubernetes.io/part-of": "ogx", "ogx.io/watch": "true",
    });
    for (plural, name) in [
        ("deployments", "chat"),
        ("services", "chat-service"),
        ("serviceaccounts", "chat-sa"),
        ("networkpolicies", "chat-network-policy"),
    ] {
        let child = namespace.get(plural, name);
        assert_eq!(child["metadata"]["labels"], labels, "{plural}");
        let owner = &child["metadata"]["ownerReferences"][0];
        assert_eq!(
            (&owner["apiVersion"], &owner["kind"], &owner["uid"], &owner["controller"]),
            (&json!("ogx.io/v1beta1"), &json!("OGXServer"), &resource["metadata"]["uid"], &json!(true)),
            "{plural}"
        );
    }
    let claim = namespace.get("persistentvolumeclaims", "chat-pvc");
    assert_eq!(claim["metadata"]["labels"], labels);
    assert!(claim["metadata"]["ownerReferences"].is_null(), "the volume outlives the resource");
    assert_eq!(claim["spec"]["resources"]["requests"]["storage"], "5Gi");

    let deployment = namespace.get("deployments", "chat");
    let selector = json!({"app": "ogx", "app.kubernetes.io/instance": "chat"});
    assert_eq!(deployment["spec"]["selector"]["matchLabels"], selector);
    assert_eq!(deployment["spec"]["strategy"]["type"], "Recreate");
    let server = container(&deployment);
    assert_eq!((&server["name"], server.get("command")), (&json!("ogx"), None));
    let env = server["env"].as_array().expect("variables");
    let names: Vec<_> = env.iter().map(|variable| variable["name"].as_str().expect("a name")).collect();
    assert_eq!(
        names,
        [
            "HF_HOME",
            "OGX_WORKERS",
            "OGX_PORT",
            "RUN_CONFIG_PATH",
            "OGX_CONFIG",
            "OGX_METRICS_ENDPOINT_ENABLED",
            "OGX_METRICS_HOST",
            "OGX_METRICS_PORT",
            "OGX_MY_VLLM_API_TOKEN",
        ]
    );
    assert_eq!(variable(&deployment, "OGX_PORT")["value"], "9000");
    assert_eq!(variable(&deployment, "RUN_CONFIG_PATH")["value"], "/etc/ogx/config.yaml");
    assert_eq!(volume(&deployment, "ogx-storage")["persistentVolumeClaim"]["claimName"], "chat-pvc");
    let ports = &namespace.get("services", "chat-service")["spec"]["ports"];
    assert_eq!((&ports[0]["port"], &ports[1]["port"]), (&json!(9000), &json!(9464)));

    let (mounted, config) = config_of(namespace, "chat");
    assert_eq!(config["metadata"]["labels"]["ogx.io/generated-config"], "true");
    assert_eq!(config["immutable"], true);
    let digits = mounted.strip_prefix("chat-config-").expect("its name");
    assert!(digits.len() == 16 && digits.bytes().all(|byte| byte.is_ascii_hexdigit()), "{mounted}");
    let text = config["data"]["config.yaml"].as_str().expect("a config");
    assert!(text.contains("${env.OGX_MY_VLLM_API_TOKEN}") && !text.contains("ollama"), "{text}");

    let status = &ready["status"];
    assert_eq!(status["serviceURL"], "http://chat-service.ogx-creation.svc.cluster.local:9000");
    let told = &status["configGeneration"];
    assert_eq!(
        (&told["configMapName"], &told["providerCount"], &told["resourceCount"], &told["observedGeneration"]),
        (&json!(mounted), &json!(1), &json!(1), &json!(1))
    );
    assert_eq!(condition(&ready, "ConfigGenerated")["reason"], "ConfigGenerationSucceeded");
    let stored =
        namespace.wait(KIND, "chat", "has its volume", |object| condition(object, "StorageReady")["status"] == "True");
    assert_eq!(stored["status"]["version"]["operatorVersion"], "1.2.3-test");

    // Once all is in place, nothing is written any more.
    assert_eq!(Audit::from_now(world().cluster).settled("ogx-creation"), []);
    own.was_refused_nothing();
}

#[test]
fn a_change_is_rolled_out_and_a_mistake_is_told() {
    let own = Own::start("ogx-change", &["--ogx-servers"]);
    let namespace = &own.namespace;
    what_it_names(namespace);
    own.server("chat", &with_vllm("http://one:8000/v1"));
    own.ready("chat");
    let (before, _) = config_of(namespace, "chat");

    let endpoint = json!({"spec": with_vllm("http://two:8000/v1")});
    namespace.merge(KIND, "chat", &endpoint);
    namespace.wait("deployments", "chat", "has another config", |deployment| {
        volume(deployment, "user-config")["configMap"]["name"] != json!(before)
    });
    own.ready("chat");
    let (after, config) = config_of(namespace, "chat");
    assert!(config["data"]["config.yaml"].as_str().expect("a config").contains("http://two:8000/v1"));
    assert!(namespace.try_get("configmaps", &before).is_some(), "the config before it stays for a way back");

    // What the server would refuse is told in the words of the check, and what runs goes on.
    let broken = json!({"spec": {"providers": {"responses": {"inline": {"builtin": {}}}}}});
    let stored = namespace.merge(KIND, "chat", &broken);
    let words = errors(&stored);
    assert!(!words.is_empty(), "the check takes it");
    let failed = namespace.wait(KIND, "chat", "is refused", |object| object["status"]["phase"] == "Failed");
    let told = condition(&failed, "ConfigGenerated");
    assert_eq!(told["status"], "False", "{}", messages(&failed));
    for word in &words {
        assert!(told["message"].as_str().expect("a message").contains(word), "{word}\n{}", messages(&failed));
    }
    let _ = Audit::from_now(world().cluster).settled("ogx-change");
    assert_eq!(config_of(namespace, "chat").0, after);

    // A missing ConfigMap is told as upstream tells it.
    let elsewhere = json!({"spec": {"providers": {"responses": null}, "baseConfig": {"name": "nowhere"}}});
    namespace.merge(KIND, "chat", &elsewhere);
    namespace.wait(KIND, "chat", "misses its base", |object| {
        messages(object).contains("failed to find referenced ConfigMap ogx-change/nowhere")
    });
    namespace.merge(KIND, "chat", &json!({"spec": {"baseConfig": {"name": "base"}}}));
    own.ready("chat");
    assert_eq!(config_of(namespace, "chat").0, after);
    own.was_refused_nothing();
}

/// What the check says of a resource with [`BASE`].
fn errors(object: &Value) -> Vec<String> {
    let (facts, unknown) = (Facts::default(), BTreeSet::new());
    let request =
        Request { version: ApiVersion::OgxV1Beta1, value: object, old: None, unknown: &unknown, facts: &facts };
    let base = Base { text: BASE.into(), source: BaseSource::Given };
    let findings = verdict_on(&request, Some(&base)).findings;
    findings.into_iter().filter(|one| one.severity == Severity::Error).map(|one| one.message).collect()
}

#[test]
fn both_kinds_live_side_by_side() {
    let own = Own::start("ogx-both", &["--ogx-servers"]);
    let namespace = &own.namespace;
    own.server("new", &minimal());
    namespace.resource("llamastackdistributions", "old", minimal());
    own.ready("new");
    namespace.ready("old");
    assert!(volume(&namespace.get("deployments", "new"), "user-config").is_null(), "the image brings its config");
    let inactive = namespace.get(KIND, "new");
    assert_eq!(condition(&inactive, "ConfigGenerated")["reason"], "ConfigGenerationInactive");
    let metrics = own.operator.metrics();
    for kind in ["LlamaStackDistribution", "OGXServer"] {
        assert!(metrics.contains(&format!("llsd_operator_resources{{kind=\"{kind}\"}} 1")), "{metrics}");
    }

    // Of the same name only the first has the children; the other one says so.
    own.server("old", &minimal());
    let told = namespace.wait(KIND, "old", "is told", |object| object["status"]["phase"] == "Failed");
    let told = condition(&told, "DeploymentReady")["message"].as_str().expect("a message");
    assert!(told.contains("Service \"old-service\" is controlled by another object"), "{told}");
    namespace.ready("old");

    // What belongs to it goes with it, but for the volume.
    namespace.merge(KIND, "new", &json!({"spec": {"workload": {"storage": {}}}}));
    own.ready("new");
    namespace.delete(KIND, "new");
    namespace.gone("deployments", "new");
    namespace.gone("services", "new-service");
    let claim = namespace.get("persistentvolumeclaims", "new-pvc");
    assert!(claim["metadata"]["deletionTimestamp"].is_null());
    namespace.ready("old");
    own.was_refused_nothing();
}

#[test]
fn without_the_flag_the_kind_is_left_alone() {
    let own = Own::start("ogx-off", &[]);
    let namespace = &own.namespace;
    own.server("new", &minimal());
    namespace.resource("llamastackdistributions", "old", minimal());
    namespace.ready("old");
    let _ = Audit::from_now(world().cluster).settled("ogx-off");
    assert!(namespace.get(KIND, "new").get("status").is_none());
    assert!(namespace.try_get("deployments", "new").is_none());
}

fn text<'a>(object: &'a Value, kind: &str) -> &'a str {
    condition(object, kind)["message"].as_str().unwrap_or_default()
}

fn certificate() -> String {
    fs::read_to_string(world().cluster.folder().join("pki/apiserver.crt")).expect("a certificate")
}

#[test]
fn exposure_policy_certificates_and_scaling_are_as_asked_for() {
    let own = Own::start("ogx-full", &["--ogx-servers"]);
    let namespace = &own.namespace;
    namespace.config_map("ca", json!({"one.crt": certificate(), "two.crt": certificate()}));
    namespace.post("serviceaccounts", &json!({"metadata": {"name": "mine"}}));
    let from = json!([{"namespaceSelector": {"matchLabels": {"team": "x"}}}]);
    let to = json!([{"ipBlock": {"cidr": "10.0.0.0/8"}}]);
    own.server(
        "full",
        &json!({
            "distribution": {"image": "registry.example/ogx:1.5.0"},
            "registryRefreshIntervalSeconds": 30,
            "monitoring": {"metricsPort": 9500},
            "network": {
                "port": 8400,
                "externalAccess": {"enabled": true},
                "policy": {"ingress": [{"from": from}], "egress": [{"to": to}]},
            },
            "tls": {"trust": {"caCertificates": [{"name": "ca", "key": "one.crt"}, {"name": "ca", "key": "two.crt"}]}},
            "workload": {
                "replicas": 2,
                "workers": 3,
                "autoscaling": {"minReplicas": 2, "maxReplicas": 4, "targetCPUUtilizationPercentage": 70},
                "podDisruptionBudget": {"minAvailable": 1},
                "overrides": {
                    "serviceAccountName": "mine",
                    "command": ["ogx"],
                    "volumes": [{"name": "x", "emptyDir": {}}],
                    "volumeMounts": [{"name": "x", "mountPath": "/x"}],
                },
            },
        }),
    );
    let ready = own.ready("full");
    assert_eq!(ready["status"]["externalURL"], "", "nobody has given it an address yet");
    let deployment = namespace.get("deployments", "full");
    for (name, value) in [
        ("SSL_CERT_FILE", "/etc/ssl/certs/ca-bundle/ca-bundle.crt"),
        ("OGX_WORKERS", "3"),
        ("OGX_PORT", "8400"),
        ("OGX_REGISTRY_REFRESH_INTERVAL_SECONDS", "30"),
        ("OGX_METRICS_PORT", "9500"),
    ] {
        assert_eq!(variable(&deployment, name)["value"], value, "{name}");
    }
    assert_eq!(deployment["spec"]["template"]["spec"]["serviceAccountName"], "mine");
    assert_eq!(container(&deployment)["command"], json!(["ogx"]));
    let bundle = namespace.get("configmaps", "full-ca-bundle");
    let count = |pem: &str| pem.matches("BEGIN CERTIFICATE").count();
    let pem = bundle["data"]["ca-bundle.crt"].as_str().expect("PEM");
    assert_eq!(count(pem), 2 * count(&certificate()), "those of both keys");
    let scaler = namespace.get("horizontalpodautoscalers", "full-hpa");
    assert_eq!((&scaler["spec"]["minReplicas"], &scaler["spec"]["maxReplicas"]), (&json!(2), &json!(4)));
    assert_eq!(scaler["metadata"]["labels"]["app"], "ogx");
    assert_eq!(namespace.get("poddisruptionbudgets", "full-pdb")["spec"]["minAvailable"], 1);
    let rule = &namespace.get("ingresses", "full-ingress")["spec"]["rules"][0];
    assert_eq!(
        rule["http"]["paths"][0]["backend"]["service"],
        json!({"name": "full-service", "port": {"number": 8400}})
    );
    let policy = namespace.get("networkpolicies", "full-network-policy");
    assert_eq!(policy["spec"]["ingress"], json!([{"from": from}]));
    assert_eq!(policy["spec"]["egress"], json!([{"to": to}]));
    assert_eq!(policy["spec"]["policyTypes"], json!(["Ingress", "Egress"]));

    // Without rules of its own: the namespace, the operator and routers; monitoring to its port.
    namespace.merge(KIND, "full", &json!({"spec": {"network": {"policy": null}}}));
    let policy = namespace.wait("networkpolicies", "full-network-policy", "has the operator's rules", |policy| {
        policy["spec"]["ingress"].as_array().is_some_and(|rules| rules.len() == 2)
    });
    assert_eq!(policy["spec"]["policyTypes"], json!(["Ingress"]));
    let peers = policy["spec"]["ingress"][0]["from"].as_array().expect("peers");
    assert_eq!(peers.len(), 3, "{peers:?}");
    assert_eq!(peers[1]["namespaceSelector"]["matchLabels"]["kubernetes.io/metadata.name"], "ogx-full-system");
    assert_eq!(policy["spec"]["ingress"][1]["ports"][0]["port"], 9500);
    namespace.merge(KIND, "full", &json!({"spec": {"network": {"policy": {"enabled": false}}}}));
    namespace.gone("networkpolicies", "full-network-policy");

    // A key that is not there is told; what runs goes on.
    let other = json!({"spec": {"tls": {"trust": {"caCertificates": [{"name": "ca", "key": "no.crt"}]}}}});
    namespace.merge(KIND, "full", &other);
    namespace.wait(KIND, "full", "misses a key", |object| {
        messages(object).contains("failed to find CA bundle key 'no.crt' in ConfigMap ogx-full/ca")
    });
    assert!(namespace.try_get("configmaps", "full-ca-bundle").is_some());
    own.was_refused_nothing();
}
