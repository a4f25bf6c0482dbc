//! Resources that are made to hurt: names that are more than names, and more of them than the operator works on at once.
//! They were stored before the CRD had patterns for names.

use crate::operator::refused::lenient;
use crate::operator::setup::{messages, minimal};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use llsd_tests::cluster::{Cluster, Request};
use llsd_tests::operator::{Audit, Namespace, Operator, StandIn, condition, grant, path, wait_until};
use serde_json::{Value, json};

fn world() -> (&'static Cluster, Operator) {
    let cluster: &'static Cluster = Box::leak(Box::new(Cluster::with_controllers()));
    let _stand_in = StandIn::start(cluster);
    cluster.install_crds(&[lenient()]).unwrap_or_else(|(_, answer)| panic!("{}", answer.message()));
    let system = Namespace::create(cluster, "hostile-system");
    grant(cluster, system.name());
    let mut operator = Operator::start(cluster, system.name(), &["--enable-webhooks=false"]);
    operator.wait_ready();
    (cluster, operator)
}

fn with_bundle(namespace: &str, name: &str) -> Value {
    let mut spec = minimal();
    spec["networking"] = json!({"tls": {"caBundle": {"configMapNamespace": namespace, "configMapName": name}}});
    spec
}

#[test]
fn a_name_leads_nowhere_but_to_an_object_of_that_name() {
    let (cluster, operator) = world();
    let victim = Namespace::create(cluster, "victim");
    let values = ["first-confidential-value", "second-confidential-value"];
    for (at, value) in values.iter().enumerate() {
        victim.secret(&format!("secret-{at}"), json!({"key": value}));
    }
    let audit = Audit::from_now(cluster);
    let attacker = Namespace::create(cluster, "attacker");
    // Each of these would list or watch what the operator may read: the first one answers at once with all Secrets, the
    // others never end. There are more than the operator works on at once.
    let mut names = vec![("shows".to_owned(), with_bundle("victim/secrets?watch=1&timeoutSeconds=1&x=", "a"))];
    names.extend((0..20).map(|at| (format!("hangs-{at}"), with_bundle("victim/configmaps?watch=1&x=", "a"))));
    for (at, name) in ["../../victim/secrets?x=", "a?watch=1", "%2e%2e", "a/b", "A_b"].into_iter().enumerate() {
        names.push((format!("bundle-{at}"), with_bundle("attacker", name)));
        let key = json!({"secretKeyRef": {"name": name, "key": "k"}});
        let provider = json!({"provider": "vllm", "endpoint": "http://x/v1", "apiKey": key});
        let mut spec = minimal();
        spec["providers"] = json!({"inference": [provider]});
        names.push((format!("secret-{at}"), spec));
        let mut spec = minimal();
        spec["overrideConfig"] = json!({"configMapName": name});
        names.push((format!("override-{at}"), spec));
    }
    for (name, spec) in &names {
        attacker.resource("llamastackdistributions", name, spec.clone());
    }
    let good = Namespace::create(cluster, "good");
    good.resource("llamastackdistributions", "good", minimal());
    good.ready("good");
    for (name, _) in &names {
        let failed = attacker.wait_for(name, "is refused", |object| condition(object, "Ready")["status"] == "False");
        assert_eq!(failed["status"]["phase"], "Failed", "{name}: {}", messages(&failed));
        assert!(messages(&failed).contains("is not the name of"), "{name}: {}", messages(&failed));
    }
    let log = operator.log();
    for value in values {
        assert!(!log.contains(value) && !log.contains(&STANDARD.encode(value)), "{log}");
    }
    let asked: Vec<_> = audit.entries().into_iter().filter(|entry| entry.namespace == "victim").collect();
    assert_eq!(asked, []);
}

#[test]
fn the_crd_and_its_patterns_keep_such_names_out() {
    let world = crate::operator::setup::bare();
    let namespace = world.namespace("hostile-names");
    for (at, (namespace_of, name)) in [("victim/secrets?x=", "a"), ("victim", "a?watch=1")].into_iter().enumerate() {
        let object = json!({
            "apiVersion": "llamastack.io/v1alpha2",
            "kind": "LlamaStackDistribution",
            "metadata": {"name": format!("bad-{at}")},
            "spec": with_bundle(namespace_of, name),
        });
        let answer = namespace.try_post("llamastackdistributions", &object);
        assert!(!answer.accepted() && answer.message().contains("should match"), "{}", answer.message());
    }
}

/// What refuses may be a quota, a policy or a missing right: nothing tells the operator when that is mended.
#[test]
fn what_a_policy_refuses_is_told_and_tried_again() {
    let own = crate::operator::setup::own("hostile-policy");
    let (namespace, cluster) = (&own.namespace, own.namespace.cluster());
    let api = "/apis/admissionregistration.k8s.io/v1";
    let policy = json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": "hostile-policy"},
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {
                "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "hostile-policy"}},
                "resourceRules": [{
                    "apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["deployments"],
                }],
            },
            "validations": [{"expression": "false", "message": "no Deployments today"}],
        },
    });
    let binding = json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": "hostile-policy"},
        "spec": {"policyName": "hostile-policy", "validationActions": ["Deny"]},
    });
    for (plural, object) in [("validatingadmissionpolicies", policy), ("validatingadmissionpolicybindings", binding)] {
        let answer = cluster.send(Request::post(format!("{api}/{plural}"), &object));
        assert!(answer.accepted(), "{}", answer.message());
    }
    let trial = json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "trial"},
        "spec": {
            "selector": {"matchLabels": {"a": "b"}},
            "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "a", "image": "a"}]}},
        },
    });
    let deployments = path(namespace.name(), "deployments");
    wait_until("the policy refuses", || {
        cluster.send(Request::post(&deployments, &trial).dry()).message().contains("no Deployments today")
    });
    namespace.resource("llamastackdistributions", "denied", minimal());
    let denied = namespace.wait_for("denied", "tells of it", |object| {
        condition(object, "Ready")["message"].as_str().is_some_and(|text| text.contains("no Deployments today"))
    });
    assert_eq!(condition(&denied, "Stalled")["status"], "True");
    assert_eq!(denied["status"]["phase"], "Failed");
    namespace.event("denied", "ReconcileFailed");
    let answer = cluster.send(Request::delete(format!("{api}/validatingadmissionpolicybindings/hostile-policy")));
    assert!(answer.accepted(), "{}", answer.message());
    let ready = namespace.ready("denied");
    assert_eq!(condition(&ready, "Ready")["status"], "True");
    assert!(condition(&ready, "Stalled").is_null());
    assert_eq!(ready["status"]["observedGeneration"], ready["metadata"]["generation"]);
}
