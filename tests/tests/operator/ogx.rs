//! `OGXServer` resources, beside those of the other kind.

use crate::operator::setup::{World, container, messages, minimal, start_bare, variable, volume};
use llsd_generator::api::ApiVersion;
use llsd_generator::api::crd::crd;
use llsd_generator::check::finding::Severity;
use llsd_generator::check::{Facts, Request, verdict_on};
use llsd_generator::generate::{Base, BaseSource};
use llsd_generator::ogx;
use llsd_tests::cluster;
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

/// The volume and the Service of an old server, while the same operator looks after both kinds.
#[test]
fn what_a_llama_stack_had_is_adopted_and_nothing_is_lost() {
    let own = Own::start("ogx-adopt", &["--ogx-servers"]);
    let namespace = &own.namespace;
    let with_volume = json!({"distribution": {"name": "starter"}, "workload": {"storage": {"size": "5Gi"}}});
    namespace.resource("llamastackdistributions", "old", with_volume.clone());
    namespace.ready("old");
    let bound = |claim: &Value| claim["status"]["phase"] == "Bound";
    let before = namespace.wait("persistentvolumeclaims", "old-pvc", "is bound", bound);
    let service = namespace.get("services", "old-service");
    // A pod that takes its time to go: until then nothing else may mount the volume.
    let pods = namespace.list("pods", "app.kubernetes.io/instance=old");
    let pod = pods[0]["metadata"]["name"].as_str().expect("a name");
    namespace.merge("pods", pod, &json!({"metadata": {"finalizers": ["example.com/wait"]}}));

    let mut new = object("new", &with_volume);
    new["metadata"]["annotations"] = json!({"ogx.io/adopt-storage": "old", "ogx.io/adopt-networking": "old"});
    namespace.post(KIND, &new);
    let waiting = namespace.wait(KIND, "new", "waits for the old pod", |object| {
        text(object, "StorageAdopted").contains("1 pods of \"old\" are still there")
    });
    assert_eq!((&waiting["status"]["phase"], namespace.try_get("deployments", "new")), (&json!("Pending"), None));
    let claim = namespace.get("persistentvolumeclaims", "old-pvc");
    assert!(claim["metadata"]["ownerReferences"].is_null(), "the end of the old resource does not end it any more");
    assert_eq!(namespace.get("services", "old-service")["spec"], service["spec"]);

    namespace.merge("pods", pod, &json!({"metadata": {"finalizers": null}}));
    let ready = own.ready("new");
    assert_eq!(condition(&ready, "StorageAdopted")["status"], "True", "{}", messages(&ready));
    assert_eq!(condition(&ready, "NetworkingAdopted")["status"], "True", "{}", messages(&ready));
    let claim = namespace.get("persistentvolumeclaims", "old-pvc");
    assert_eq!(
        (&claim["metadata"]["uid"], &claim["spec"]["volumeName"]),
        (&before["metadata"]["uid"], &before["spec"]["volumeName"])
    );
    assert_eq!(claim["metadata"]["labels"]["ogx.io/adopted-from"], "old");
    assert_eq!(claim["metadata"]["labels"]["app.kubernetes.io/instance"], "new");
    assert!(claim["metadata"]["annotations"]["ogx.io/adopted-at"].is_string());
    assert!(namespace.try_get("persistentvolumeclaims", "new-pvc").is_none());
    let mounted = || {
        let deployment = namespace.get("deployments", "new");
        volume(&deployment, "ogx-storage")["persistentVolumeClaim"]["claimName"].clone()
    };
    assert_eq!(mounted(), "old-pvc");
    let taken = namespace.get("services", "old-service");
    assert_eq!(taken["metadata"]["uid"], service["metadata"]["uid"]);
    assert_eq!(taken["spec"]["selector"], json!({"app": "ogx", "app.kubernetes.io/instance": "new"}));
    assert_eq!(taken["spec"]["ports"], service["spec"]["ports"]);
    assert_eq!(taken["metadata"]["ownerReferences"][0]["kind"], "OGXServer");

    // The old resource says what became of it, and its pods do not come back.
    let told = namespace.wait_for("old", "tells of it", |object| {
        text(object, "DeploymentReady")
            .contains("PersistentVolumeClaim \"old-pvc\" was handed over to OGXServer \"new\"")
    });
    assert_eq!(told["status"]["phase"], "Failed");
    let _ = Audit::from_now(world().cluster).settled("ogx-adopt");
    assert_eq!(namespace.get("deployments", "old")["spec"]["replicas"], 0);

    // The way that loses the volume otherwise: the old resource goes.
    namespace.delete("llamastackdistributions", "old");
    namespace.gone("deployments", "old");
    let _ = Audit::from_now(world().cluster).settled("ogx-adopt");
    for (plural, name) in [("persistentvolumeclaims", "old-pvc"), ("services", "old-service")] {
        assert!(namespace.get(plural, name)["metadata"]["deletionTimestamp"].is_null(), "{plural}");
    }
    own.ready("new");

    // Without the annotations the volume stays adopted, and the Service goes.
    let none = json!({"metadata": {"annotations": {"ogx.io/adopt-storage": null, "ogx.io/adopt-networking": null}}});
    namespace.merge(KIND, "new", &none);
    namespace.gone("services", "old-service");
    let _ = Audit::from_now(world().cluster).settled("ogx-adopt");
    assert_eq!(mounted(), "old-pvc");
    assert!(namespace.try_get("persistentvolumeclaims", "new-pvc").is_none());

    // What cannot be adopted is told.
    let mut own_name = object("self", &with_volume);
    own_name["metadata"]["annotations"] = json!({"ogx.io/adopt-storage": "self"});
    namespace.post(KIND, &own_name);
    let told = namespace
        .wait(KIND, "self", "is told", |object| condition(object, "AdoptionConfigInvalid")["status"] == "True");
    assert!(text(&told, "AdoptionConfigInvalid").contains("must not equal the CR name"), "{}", messages(&told));
    let mut second = object("second", &with_volume);
    second["metadata"]["annotations"] = json!({"ogx.io/adopt-storage": "old"});
    namespace.post(KIND, &second);
    namespace.wait(KIND, "second", "is refused", |object| {
        text(object, "DeploymentReady").contains("OGXServer \"new\" has adopted it")
    });
    own.was_refused_nothing();
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

/// What ogx-k8s-operator made of a resource is gone on with, and its pods are not restarted.
#[test]
fn what_the_operator_of_ogx_left_behind_is_taken_over() {
    let own_namespace = world().namespace("ogx-take-over");
    let namespace = &own_namespace;
    let config = namespace.config_map("mine", json!({"run.yaml": BASE}));
    let spec = json!({
        "distribution": {"image": "registry.example/ogx:1.5.0"},
        "overrideConfig": {"name": "mine", "key": "run.yaml"},
    });
    let resource = namespace.post(KIND, &object("chat", &spec));
    let labels = json!({
        "app.kubernetes.io/managed-by": "ogx-operator", "app.kubernetes.io/part-of": "ogx", "ogx.io/watch": "true",
    });
    let pods = json!({"app": "ogx", "app.kubernetes.io/instance": "chat"});
    let variable = |name: &str, value: &str| json!({"name": name, "value": value});
    let version = config["metadata"]["resourceVersion"].as_str().expect("a version");
    let template = json!({
        "metadata": {"labels": pods, "annotations": {"configmap.hash/user-config": format!("{version}-mine")}},
        "spec": {
            "serviceAccountName": "chat-sa",
            "securityContext": {"fsGroup": 1001},
            "containers": [{
                "name": "ogx",
                "image": "registry.example/ogx:1.5.0",
                "env": [
                    variable("HF_HOME", "/.ogx"),
                    variable("OGX_WORKERS", "1"),
                    variable("OGX_PORT", "8321"),
                    variable("RUN_CONFIG_PATH", "/etc/ogx/config.yaml"),
                    variable("OGX_CONFIG", "/etc/ogx/config.yaml"),
                    variable("OGX_METRICS_ENDPOINT_ENABLED", "1"),
                    variable("OGX_METRICS_HOST", "0.0.0.0"),
                    variable("OGX_METRICS_PORT", "9464"),
                ],
                "ports": [
                    {"containerPort": 8321, "protocol": "TCP"},
                    {"containerPort": 9464, "name": "metrics", "protocol": "TCP"},
                ],
                "resources": {"requests": {"cpu": "1", "memory": "1Gi"}},
                "startupProbe": {
                    "httpGet": {"path": "/v1/health", "port": 8321},
                    "initialDelaySeconds": 15,
                    "timeoutSeconds": 30,
                    "failureThreshold": 3,
                    "successThreshold": 1,
                },
                "volumeMounts": [
                    {"name": "ogx-storage", "mountPath": "/.ogx"},
                    {"name": "user-config", "mountPath": "/etc/ogx/", "readOnly": true},
                ],
            }],
            "volumes": [
                {"name": "ogx-storage", "emptyDir": {}},
                {
                    "name": "user-config",
                    "configMap": {"name": "mine", "items": [{"key": "run.yaml", "path": "config.yaml"}]},
                },
            ],
        },
    });
    let leave = |plural: &str, api_version: &str, kind: &str, name: &str, parts: Value| {
        let mut child = parts;
        child["apiVersion"] = json!(api_version);
        child["kind"] = json!(kind);
        child["metadata"] = json!({"name": name, "labels": labels, "ownerReferences": [{
            "apiVersion": "ogx.io/v1beta1", "kind": "OGXServer", "name": "chat", "uid": resource["metadata"]["uid"],
            "controller": true, "blockOwnerDeletion": true,
        }]});
        let answer =
            world().cluster.send(cluster::Request::apply(namespace.path(plural, name), "ogx-operator", &child));
        assert!(answer.accepted(), "{}", answer.message());
    };
    leave("serviceaccounts", "v1", "ServiceAccount", "chat-sa", json!({}));
    let ports = json!([{"name": "http", "port": 8321}, {"name": "metrics", "port": 9464}, {"name": "old", "port": 1}]);
    leave("services", "v1", "Service", "chat-service", json!({"spec": {"selector": pods, "ports": ports}}));
    let deployment = json!({"spec": {"replicas": 1, "selector": {"matchLabels": pods}, "template": template}});
    leave("deployments", "apps/v1", "Deployment", "chat", deployment);
    let before = namespace.wait("deployments", "chat", "runs", |now| now["status"]["readyReplicas"] == 1);

    let system = world().operator_namespace("ogx-take-over-system");
    grant_ogx(world().cluster, system.name());
    let operator = start_bare(&system, namespace.name(), &["--ogx-servers"]);
    let own = Own { namespace: own_namespace.clone(), operator };
    own.ready("chat");
    let _ = Audit::from_now(world().cluster).settled("ogx-take-over");
    let after = namespace.get("deployments", "chat");
    assert_eq!(after["metadata"]["uid"], before["metadata"]["uid"]);
    assert_eq!(after["spec"]["template"], before["spec"]["template"]);
    assert_eq!(namespace.list("replicasets", "app.kubernetes.io/instance=chat").len(), 1);
    // What that operator wrote and nobody asks for goes.
    let ports = namespace.get("services", "chat-service")["spec"]["ports"].take();
    assert_eq!(ports.as_array().map(Vec::len), Some(2), "{ports}");
    own.was_refused_nothing();
}
