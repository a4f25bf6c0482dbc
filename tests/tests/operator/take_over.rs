//! A cluster that the Go operator worked in until now.

use crate::operator::setup::{World, container, install, is_owned, start_with_webhooks, variable, volume};
use llsd_generator::api::crd::crd;
use llsd_operator::resources::SCRIPT;
use llsd_operator::webhooks::CONVERT_PATH;
use llsd_tests::cluster::{CRDS, Request};
use llsd_tests::operator::{Audit, Namespace, condition, kubectl_program, wait_until};
use serde::Deserialize as _;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The CRD as the Go operator installs it: the older version alone.
fn older_crd() -> Value {
    let mut crd = crd().clone();
    let versions = crd["spec"]["versions"].as_array_mut().unwrap();
    versions.retain(|version| version["name"] == "v1alpha1");
    versions[0]["storage"] = json!(true);
    crd
}

fn plural(kind: &str) -> &'static str {
    match kind {
        "ConfigMap" => "configmaps",
        "Deployment" => "deployments",
        "HorizontalPodAutoscaler" => "horizontalpodautoscalers",
        "Ingress" => "ingresses",
        "LlamaStackDistribution" => "v1alpha1",
        "NetworkPolicy" => "networkpolicies",
        "PersistentVolumeClaim" => "persistentvolumeclaims",
        "PodDisruptionBudget" => "poddisruptionbudgets",
        "Service" => "services",
        "ServiceAccount" => "serviceaccounts",
        _ => panic!("{kind}"),
    }
}

const MANAGED_BY: &str = "app.kubernetes.io/managed-by";

/// Kinds that the Go operator creates and never applies.
const CREATED: [&str; 3] = ["ConfigMap", "Ingress", "PersistentVolumeClaim"];

/// Makes what the Go operator leaves behind: each child created by the manager of its first request, and applied by one
/// of the resource's name. Returns the resources by name.
fn leave_behind(world: &World, namespace: &Namespace) -> BTreeMap<String, Value> {
    let certificate = fs::read_to_string(world.cluster.folder().join("pki/apiserver.crt")).unwrap();
    let text = include_str!("left-behind.yaml");
    let mut owners: BTreeMap<String, Value> = BTreeMap::new();
    let documents = serde_yaml::Deserializer::from_str(text);
    let mut objects: Vec<Value> = documents.map(|document| Value::deserialize(document).unwrap()).collect();
    // Deployments name the versions of ConfigMaps, which have to be there.
    objects.sort_by_key(|object| match object["kind"].as_str().unwrap() {
        "LlamaStackDistribution" => 0,
        "ConfigMap" => 1,
        _ => 2,
    });
    let mut versions = BTreeMap::new();
    for mut object in objects {
        fill_in(&mut object, &certificate, &versions);
        let (kind, name) = (object["kind"].as_str().unwrap().to_owned(), text_of(&object["metadata"]["name"]));
        if kind == "LlamaStackDistribution" {
            let created = namespace.post("v1alpha1", &object);
            owners.insert(name, created);
            continue;
        }
        let is_child = object["metadata"]["labels"]["app.kubernetes.io/managed-by"] == "llama-stack-operator";
        let collection = llsd_tests::operator::path(namespace.name(), plural(&kind));
        if !is_child {
            let made = namespace.post(plural(&kind), &object);
            versions.insert(name, text_of(&made["metadata"]["resourceVersion"]));
            continue;
        }
        let (owner, resource) =
            owners.iter().find(|(owner, _)| name == **owner || name.starts_with(&format!("{owner}-"))).unwrap();
        let mut created = object.clone();
        created["metadata"]["ownerReferences"] = reference(owner, resource);
        let answer = world.cluster.send(Request::post(format!("{collection}?fieldManager=manager"), &created));
        assert!(answer.accepted(), "{kind}/{name}: {}", answer.message());
        versions.insert(name.clone(), text_of(&answer.body["metadata"]["resourceVersion"]));
        if !CREATED.contains(&kind.as_str()) {
            let answer = world.cluster.send(Request::apply(format!("{collection}/{name}"), owner, &object));
            assert!(answer.accepted(), "{kind}/{name}: {}", answer.message());
        }
    }
    owners
}

/// Of a resource as the controller of its children.
fn reference(name: &str, resource: &Value) -> Value {
    json!([{
        "apiVersion": "llamastack.io/v1alpha1",
        "kind": "LlamaStackDistribution",
        "name": name,
        "uid": resource["metadata"]["uid"],
        "controller": true,
        "blockOwnerDeletion": true,
    }])
}

fn text_of(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// Puts the longer texts in place of the words that stand for them.
fn fill_in(value: &mut Value, certificate: &str, versions: &BTreeMap<String, String>) {
    match value {
        Value::String(text) if text.starts_with("VERSION-") => {
            let version = &versions[&text["VERSION-".len()..]];
            *text = text.replace("VERSION", version);
        }
        Value::String(text) if text == "CERTIFICATE" => *text = certificate.to_owned(),
        // Ours stands in for the Go operator's; what matters is that a script is there.
        Value::String(text) if text == "SCRIPT" => *text = SCRIPT.to_owned(),
        Value::Array(items) => items.iter_mut().for_each(|item| fill_in(item, certificate, versions)),
        Value::Object(entries) => entries.values_mut().for_each(|entry| fill_in(entry, certificate, versions)),
        _ => {}
    }
}

/// Those who wrote fields of an object, the controllers of Kubernetes and status writers left out.
fn managers(object: &Value) -> Vec<String> {
    let entries = object["metadata"]["managedFields"].as_array().unwrap().iter();
    let entries =
        entries.filter(|entry| entry["subresource"].is_null() && entry["manager"] != "kube-controller-manager");
    entries.map(|entry| format!("{}:{}", text_of(&entry["manager"]), text_of(&entry["operation"]))).collect()
}

fn children(namespace: &Namespace) -> Vec<(&'static str, Value)> {
    let kinds = [
        "ConfigMap",
        "Deployment",
        "HorizontalPodAutoscaler",
        "Ingress",
        "NetworkPolicy",
        "PersistentVolumeClaim",
        "PodDisruptionBudget",
        "Service",
        "ServiceAccount",
    ];
    let label = "app.kubernetes.io/managed-by=llama-stack-operator";
    kinds
        .iter()
        .flat_map(|kind| namespace.list(plural(kind), label).into_iter().map(|object| (*kind, object)))
        .collect()
}

#[test]
fn what_the_go_operator_left_behind_is_taken_over() {
    let world = World::start(&[older_crd()]);
    let namespace = world.namespace("team-a");
    let owners = leave_behind(&world, &namespace);
    // In later steps of its life: a variable was removed while nobody looked, references were lost in an update, a
    // budget dates from an earlier version, and one name was somebody else's all along.
    namespace.merge("deployments", "with-ca", &json!({"metadata": {"ownerReferences": null}}));
    let env = json!([{"name": "OLLAMA_URL", "value": "http://ollama:11434"}]);
    let deployed = |name: &str| namespace.get("deployments", name);
    wait_until("the Deployments have pods", || {
        owners.keys().all(|name| deployed(name)["status"]["readyReplicas"].as_u64().unwrap_or_default() > 0)
    });
    // The autoscaler takes some seconds to notice that one replica is too few.
    namespace.wait("deployments", "full", "is scaled", |now| {
        now["spec"]["replicas"] == 2 && now["status"]["readyReplicas"] == 2
    });
    let before: BTreeMap<_, _> = owners.keys().map(|name| (name.clone(), deployed(name))).collect();
    let foreign = json!({
        "metadata": {"name": "foreign"},
        "spec": {
            "selector": {"matchLabels": {"app": "theirs"}},
            "template": {
                "metadata": {"labels": {"app": "theirs"}},
                "spec": {"containers": [{"name": "theirs", "image": "example.com/theirs:1"}]},
            },
        },
    });
    let foreign = namespace.post("deployments", &foreign);
    namespace.resource("v1alpha1", "foreign", json!({"server": {"distribution": {"name": "starter"}}}));
    // Another lost the label that it is known by.
    namespace.merge("deployments", "with-config", &json!({"metadata": {"labels": {MANAGED_BY: null}}}));
    // And a budget of v0.8.0, which asked for another bound than later ones.
    let server = json!({"distribution": {"name": "starter"}});
    let spread = namespace.resource("v1alpha1", "spread", json!({"replicas": 2, "server": server}));
    let mut budget = json!({
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "spread-pdb", "labels": {MANAGED_BY: "llama-stack-operator"}},
        "spec": {
            "minAvailable": 1,
            "selector": {"matchLabels": {"app": "llama-stack", "app.kubernetes.io/instance": "spread"}},
        },
    });
    budget["metadata"]["ownerReferences"] = reference("spread", &spread);
    let collection = llsd_tests::operator::path(namespace.name(), "poddisruptionbudgets");
    let answer = world.cluster.send(Request::post(format!("{collection}?fieldManager=manager"), &budget));
    assert!(answer.accepted(), "{}", answer.message());
    let binding = |name: &str, labels: Value, subject: Value| {
        let binding = json!({
            "metadata": {"name": name, "labels": labels},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"},
            "subjects": [subject],
        });
        let path = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";
        assert!(world.cluster.send(Request::post(path, &binding)).accepted());
    };
    let ours = json!({"app.kubernetes.io/managed-by": "llama-stack-operator"});
    let account = json!({"kind": "ServiceAccount", "name": "basic-sa", "namespace": "team-a"});
    binding("basic-crb", ours.clone(), account.clone());
    binding("theirs-crb", json!({}), account);
    binding("group-crb", ours, json!({"kind": "Group", "name": "people", "apiGroup": "rbac.authorization.k8s.io"}));

    // The upgrade: the new CRD, then the new operator, with the settings of the old one.
    let path = format!("{CRDS}/{}", text_of(&crd()["metadata"]["name"]));
    // Its conversion stanza is there from the start: without it, older objects would be read as if they were newer ones.
    let mut newer = crd().clone();
    newer["spec"]["conversion"] = json!({
        "strategy": "Webhook",
        "webhook": {
            "conversionReviewVersions": ["v1"],
            "clientConfig": {"service": {"name": "webhook-service", "namespace": "ops", "path": CONVERT_PATH}},
        },
    });
    newer["metadata"]["resourceVersion"] =
        world.cluster.send(Request::get(&path)).body["metadata"]["resourceVersion"].clone();
    let answer = world.cluster.send(Request::put(&path, &newer));
    assert!(answer.accepted(), "{}", answer.message());
    let system = install(&world, "ops");
    system.config_map(
        "llama-stack-operator-config",
        json!({
            "featureFlags": "enableNetworkPolicy:\n    enabled: true\n",
            "image-overrides": "starter: docker.io/llamastack/distribution-starter:latest\n\
                                remote-vllm: docker.io/llamastack/distribution-remote-vllm:latest\n",
        }),
    );
    let audit = Audit::from_now(world.cluster);
    let mut operator = start_with_webhooks(&world, "ops");
    for name in owners.keys().map(String::as_str).chain(["spread"]) {
        namespace.wait("v1alpha1", name, "is ready", |object| object["status"]["phase"] == "Ready");
    }
    // Claims are bound in their own time, and pods come after them.
    for name in ["basic", "full"] {
        namespace
            .wait("v1alpha1", name, "has its volume", |object| condition(object, "StorageReady")["status"] == "True");
        namespace.wait("deployments", name, "is rolled out", |now| {
            let status = &now["status"];
            status["replicas"] == now["spec"]["replicas"]
                && status["readyReplicas"] == status["replicas"]
                && status["updatedReplicas"] == status["replicas"]
        });
    }
    let writes = audit.settled("team-a");

    for (name, before) in &before {
        let mut after = deployed(name);
        if name == "full" {
            // The Go operator never told the server about another port than 8321. That is mended, at the cost of a
            // restart of a server that nobody could reach.
            let env = after["spec"]["template"]["spec"]["containers"][0]["env"].as_array_mut().unwrap();
            let port = env.iter().position(|variable| variable["name"] == "LLAMA_STACK_PORT");
            assert_eq!(env.remove(port.unwrap())["value"], "9000");
        }
        // Its generation may grow: the API server counts annotations of Deployments too.
        assert_eq!(after["spec"], before["spec"], "{name} is not restarted\n{writes:#?}");
        let sets = namespace.list("replicasets", &format!("app.kubernetes.io/instance={name}"));
        assert_eq!(sets.len(), if name == "full" { 2 } else { 1 }, "{name}");
    }
    for (kind, child) in children(&namespace) {
        let name = text_of(&child["metadata"]["name"]);
        let owner = owners.iter().find(|(owner, _)| name == **owner || name.starts_with(&format!("{owner}-")));
        // Those of the two other resources are new.
        let Some((_, owner)) = owner else { continue };
        assert!(is_owned(&child, owner), "{kind}/{name}");
        let managers = managers(&child);
        if kind == "PersistentVolumeClaim" {
            continue; // never written again
        }
        // Only creations of this operator's own are not an apply.
        let is_ours = |manager: &String| {
            manager == "llama-stack-operator:Apply"
                || (manager == "llama-stack-operator:Update" && child["metadata"]["annotations"].is_object())
        };
        assert!(managers.len() == 1 && managers.iter().all(is_ours), "{kind}/{name}: {managers:?}");
    }
    let budget = namespace.get("poddisruptionbudgets", "spread-pdb");
    assert_eq!((&budget["spec"]["maxUnavailable"], budget["spec"].get("minAvailable")), (&json!(1), None));
    let told = namespace.wait("v1alpha1", "foreign", "is reported", |object| object["status"]["phase"] == "Failed");
    assert!(condition(&told, "DeploymentReady")["message"].as_str().unwrap().contains("foreign"));
    let now = namespace.get("deployments", "foreign");
    assert_eq!(now["metadata"]["uid"], foreign["metadata"]["uid"]);
    assert_eq!(managers(&now).iter().filter(|manager| manager.contains("llama-stack-operator")).count(), 0);
    let bindings = |name: &str| {
        world
            .cluster
            .send(Request::get(format!("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/{name}")))
            .status
    };
    // The operator has no right to clear them up; the script for administrators does, and only when it is told to.
    let clear = |arguments: &[&str]| {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../operator/deploy/after-upgrade.sh");
        let kubeconfig = world.cluster.folder().join("kubeconfig");
        let kubectl = format!("{} --kubeconfig {}", kubectl_program().display(), kubeconfig.display());
        let output = Command::new(script).args(arguments).env("KUBECTL", kubectl).output().expect("the script runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    assert_eq!(clear(&[]), "clusterrolebinding/basic-crb: would be deleted; --yes does it\n");
    assert_eq!(bindings("basic-crb"), 200);
    clear(&["--yes"]);
    assert_eq!(bindings("basic-crb"), 404);
    assert_eq!((bindings("theirs-crb"), bindings("group-crb")), (200, 200));

    // Once it is taken over, there is nothing more to do.
    let statuses = || namespace.list("v1alpha1", "").into_iter().map(|mut object| object["status"].take());
    let told: Vec<_> = statuses().collect();
    assert!(operator.terminate().success());
    let audit = Audit::from_now(world.cluster);
    let mut operator = start_with_webhooks(&world, "ops");
    wait_until("all are looked at", || operator.metric("llsd_operator_reconciles_total") >= (owners.len() + 2) as f64);
    let writes = audit.settled("team-a");
    assert_eq!(statuses().collect::<Vec<_>>(), told);
    assert_eq!(writes, []);

    // Fields that the Go operator wrote go when they are no longer asked for.
    let spec = json!({"spec": {"server": {"containerSpec": {"env": env, "port": 9001}}}});
    namespace.merge("v1alpha1", "basic", &spec);
    let after = namespace
        .wait("deployments", "basic", "is without the variable", |now| variable(now, "INFERENCE_MODEL").is_null());
    assert_eq!(container(&after)["ports"].as_array().unwrap().len(), 1);
    let ports =
        namespace.wait("services", "basic-service", "has the port", |now| now["spec"]["ports"][0]["port"] == 9001);
    assert_eq!(ports["spec"]["ports"].as_array().unwrap().len(), 1);
    let budget = json!({"spec": {"server": {
        "podDisruptionBudget": {"minAvailable": null, "maxUnavailable": 1},
        "containerSpec": {"name": "renamed"},
        "podOverrides": {"volumes": null, "volumeMounts": null},
    }}});
    namespace.merge("v1alpha1", "full", &budget);
    let after = namespace.wait("deployments", "full", "has the new name", |now| {
        now["spec"]["template"]["spec"]["containers"].as_array().unwrap().iter().any(|one| one["name"] == "renamed")
    });
    container(&after);
    assert!(volume(&after, "scratch").is_null());
    let budget = namespace
        .wait("poddisruptionbudgets", "full-pdb", "has the other bound", |now| now["spec"]["maxUnavailable"] == 1);
    assert!(budget["spec"].get("minAvailable").is_none());
    namespace.merge("v1alpha1", "with-config", &json!({"spec": {"server": {"userConfig": null}}}));
    let after =
        namespace.wait("deployments", "with-config", "has no config", |now| volume(now, "user-config").is_null());
    assert!(container(&after).get("command").is_none());
    assert!(is_owned(&after, &owners["with-config"]));
    assert!(operator.terminate().success());
}
