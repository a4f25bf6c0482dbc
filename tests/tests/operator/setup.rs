//! The clusters that the tests share, and what many of them create.

use llsd_generator::api::crd::crd;
use llsd_operator::rbac::WEBHOOK_CONFIGURATION;
use llsd_operator::webhooks::{VALIDATE_PATH, WEBHOOK_NAME};
use llsd_tests::cluster::{Cluster, Request};
use llsd_tests::operator::{Namespace, Operator, StandIn, free_address, grant, path, wait_until};
use serde_json::{Value, json};
use std::sync::OnceLock;

/// A cluster with controllers, pods that become ready, and claims that become bound.
pub(crate) struct World {
    /// The API server that all tests of the program share.
    pub(crate) cluster: &'static Cluster,
    /// Plays the kubelet and the controllers: it makes pods ready.
    pub(crate) stand_in: StandIn,
}

impl World {
    /// A cluster of this kind, for good: it goes with the process.
    pub(crate) fn start(crds: &[Value]) -> Self {
        let cluster: &'static Cluster = Box::leak(Box::new(Cluster::with_controllers()));
        if let Err((_, answer)) = cluster.install_crds(crds) {
            panic!("the API server refuses the CRD: {}", answer.message());
        }
        Self { cluster, stand_in: StandIn::start(cluster) }
    }

    pub(crate) fn namespace(&self, name: &str) -> Namespace {
        Namespace::create(self.cluster, name)
    }

    /// A namespace for an operator to run in, with the roles that it needs there.
    pub(crate) fn operator_namespace(&self, name: &str) -> Namespace {
        let namespace = self.namespace(name);
        grant(self.cluster, name);
        namespace
    }
}

/// The cluster with one operator for all namespaces, with leader election and webhooks.
pub(crate) fn world() -> &'static World {
    static WORLD: OnceLock<(World, Operator)> = OnceLock::new();
    &WORLD
        .get_or_init(|| {
            let world = World::start(std::slice::from_ref(crd()));
            install(&world, "operator-system");
            let operator = start_with_webhooks(&world, "operator-system");
            (world, operator)
        })
        .0
}

/// Makes the namespace of an operator with webhooks, and what the API server needs to know of them.
pub(crate) fn install(world: &World, namespace: &str) -> Namespace {
    let system = world.operator_namespace(namespace);
    let kind = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
    let answer = world.cluster.send(Request::post(kind, &webhook_configuration(namespace)));
    assert!(answer.accepted(), "{}", answer.message());
    system
}

/// Starts an operator with webhooks and waits until the API server uses them.
pub(crate) fn start_with_webhooks(world: &World, namespace: &str) -> Operator {
    let bind = free_address();
    let (address, url) = (format!("--webhook-bind-address={bind}"), format!("--webhook-url=https://{bind}"));
    let mut operator = Operator::start(world.cluster, namespace, &["--leader-elect", &address, &url]);
    operator.wait_ready();
    let probe = json!({
        "apiVersion": "llamastack.io/v1alpha1",
        "kind": "LlamaStackDistribution",
        "metadata": {"name": "probe"},
        "spec": {"server": {"distribution": {"name": "starter"}}},
    });
    wait_until("the API server converts and asks for admission", || {
        world.cluster.send(Request::post(path("default", "v1alpha1"), &probe).dry()).accepted()
    });
    operator
}

fn webhook_configuration(namespace: &str) -> Value {
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": WEBHOOK_CONFIGURATION},
        "webhooks": [{
            "name": WEBHOOK_NAME,
            "admissionReviewVersions": ["v1"],
            "clientConfig": {"service": {"name": "webhook-service", "namespace": namespace, "path": VALIDATE_PATH}},
            "failurePolicy": "Fail",
            "matchPolicy": "Equivalent",
            "sideEffects": "None",
            "rules": [{
                "apiGroups": ["llamastack.io"],
                "apiVersions": ["v1alpha2"],
                "operations": ["CREATE", "UPDATE"],
                "resources": ["llamastackdistributions"],
            }],
        }],
    })
}

/// The cluster without webhooks, where each test starts an operator for its own namespaces. Objects that the admission
/// webhook would refuse can be stored here.
pub(crate) fn bare() -> &'static World {
    static WORLD: OnceLock<World> = OnceLock::new();
    WORLD.get_or_init(|| World::start(std::slice::from_ref(crd())))
}

/// A namespace of [`bare`], and an operator that looks after it alone.
pub(crate) struct Own {
    /// The namespace of the resources.
    pub(crate) namespace: Namespace,
    /// The namespace that the operator runs in.
    pub(crate) system: Namespace,
    /// The operator, which works on resources of this test alone.
    pub(crate) operator: Operator,
}

/// Starts an operator for a new namespace of [`bare`].
pub(crate) fn own(name: &str) -> Own {
    let system = bare().operator_namespace(&format!("{name}-system"));
    let namespace = bare().namespace(name);
    let operator = start_bare(&system, name, &[]);
    Own { namespace, system, operator }
}

/// Starts an operator in a namespace of [`bare`] for the resources of others.
pub(crate) fn start_bare(system: &Namespace, namespaces: &str, arguments: &[&str]) -> Operator {
    let namespaces = format!("--namespaces={namespaces}");
    let arguments = [&["--enable-webhooks=false", &namespaces], arguments].concat();
    let mut operator = Operator::start(system.cluster(), system.name(), &arguments);
    operator.wait_ready();
    operator
}

/// The least that a resource needs.
pub(crate) fn minimal() -> Value {
    json!({"distribution": {"name": "starter"}})
}

/// A resource with a generated configuration.
pub(crate) fn with_vllm(endpoint: &str) -> Value {
    json!({
        "distribution": {"name": "starter"},
        "providers": {"inference": [{"provider": "vllm", "endpoint": endpoint}]},
    })
}

/// A resource that reads the key `key` of a Secret.
pub(crate) fn with_key(secret: &str) -> Value {
    let mut spec = with_vllm("http://vllm:8000/v1");
    spec["providers"]["inference"][0]["apiKey"] = json!({"secretKeyRef": {"name": secret, "key": "key"}});
    spec
}

/// The one container of a Deployment.
pub(crate) fn container(deployment: &Value) -> &Value {
    let containers = deployment["spec"]["template"]["spec"]["containers"].as_array().unwrap();
    assert_eq!(containers.len(), 1, "{containers:#?}");
    &containers[0]
}

/// A variable of the server; null if it is not set.
pub(crate) fn variable<'a>(deployment: &'a Value, name: &str) -> &'a Value {
    let env = container(deployment)["env"].as_array().unwrap();
    env.iter().find(|variable| variable["name"] == name).unwrap_or(&Value::Null)
}

/// A volume of the pods; null if there is none of the name.
pub(crate) fn volume<'a>(deployment: &'a Value, name: &str) -> &'a Value {
    let volumes = deployment["spec"]["template"]["spec"]["volumes"].as_array().unwrap();
    volumes.iter().find(|volume| volume["name"] == name).unwrap_or(&Value::Null)
}

/// The generated ConfigMaps of a resource.
pub(crate) fn generated(namespace: &Namespace, name: &str) -> Vec<Value> {
    let selector = format!("app.kubernetes.io/instance={name},app.kubernetes.io/component=generated-config");
    namespace.list("configmaps", &selector)
}

/// Whether the controller of `object` is `owner`.
pub(crate) fn is_owned(object: &Value, owner: &Value) -> bool {
    let references = object["metadata"]["ownerReferences"].as_array();
    references.into_iter().flatten().any(|reference| {
        reference["uid"] == owner["metadata"]["uid"]
            && reference["controller"] == true
            && reference["kind"] == "LlamaStackDistribution"
    })
}

/// What an object says in all its conditions.
pub(crate) fn messages(object: &Value) -> String {
    let conditions = object["status"]["conditions"].as_array().into_iter().flatten();
    let lines = conditions.map(|condition| {
        format!("{}={} {} {}\n", condition["type"], condition["status"], condition["reason"], condition["message"])
    });
    lines.collect()
}
