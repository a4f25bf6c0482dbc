//! Stored objects that today's rules refuse: they came in before the rules did.

use crate::operator::setup::{bare, messages, minimal, start_bare};
use llsd_generator::api::crd::crd;
use llsd_tests::cluster::{CRDS, Cluster, Request};
use llsd_tests::operator::{Audit, Namespace, StandIn, condition};
use serde_json::{Value, json};

/// The CRD with a schema that takes anything.
pub(crate) fn lenient() -> Value {
    let mut crd = crd().clone();
    for version in crd["spec"]["versions"].as_array_mut().unwrap() {
        version.as_object_mut().unwrap().remove("selectableFields");
        version["schema"]["openAPIV3Schema"] = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    }
    crd
}

#[test]
fn what_runs_goes_on() {
    let own = crate::operator::setup::own("refused-runs");
    let namespace = &own.namespace;
    namespace.resource("llamastackdistributions", "runs", crate::operator::setup::with_vllm("http://vllm:8000/v1"));
    namespace.resource("llamastackdistributions", "other", minimal());
    namespace.ready("runs");
    let before = namespace.get("deployments", "runs");
    // The admission webhook would refuse it; there is none here.
    let spec =
        json!({"resources": {"models": [{"name": "llama3", "provider": "no-such-id"}]}, "workload": {"replicas": 3}});
    namespace.change("runs", spec);
    let failed = namespace.wait_for("runs", "is refused", |object| {
        condition(object, "ConfigGenerated")["status"] == "False" && object["status"]["phase"] == "Failed"
    });
    assert!(messages(&failed).contains("no-such-id"), "{}", messages(&failed));
    let _ = Audit::from_now(bare().cluster).settled("refused-runs");
    let after = namespace.get("deployments", "runs");
    assert_eq!(after["spec"], before["spec"]);
    namespace.ready("other");
}

#[test]
fn what_makes_no_sense_at_all_does_not_stop_the_others() {
    let cluster: &'static Cluster = Box::leak(Box::new(Cluster::with_controllers()));
    let _stand_in = StandIn::start(cluster);
    cluster.install_crds(&[lenient()]).unwrap_or_else(|(_, answer)| panic!("{}", answer.message()));
    let namespace = Namespace::create(cluster, "refused-nonsense");
    for (name, spec) in [
        ("nonsense-number", json!(7)),
        ("nonsense-list", json!({"distribution": ["starter"], "providers": "many"})),
        ("nonsense-deep", json!({"distribution": {"name": "starter"}, "workload": {"replicas": "three"}})),
        ("nonsense-null", Value::Null),
    ] {
        namespace.resource("llamastackdistributions", name, spec);
    }
    namespace.resource("llamastackdistributions", "sense", minimal());
    // Stored objects stay as they are when the schema becomes strict.
    let mut strict = crd().clone();
    let path = format!("{CRDS}/{}", crd()["metadata"]["name"].as_str().unwrap());
    strict["metadata"]["resourceVersion"] =
        cluster.send(Request::get(&path)).body["metadata"]["resourceVersion"].clone();
    let answer = cluster.send(Request::put(&path, &strict));
    assert!(answer.accepted(), "{}", answer.message());

    let system = Namespace::create(cluster, "refused-system");
    llsd_tests::operator::grant(cluster, system.name());
    let mut operator =
        llsd_tests::operator::Operator::start(cluster, system.name(), &["--enable-webhooks=false", "--leader-elect"]);
    operator.wait_ready();
    namespace.ready("sense");
    assert!(namespace.try_get("deployments", "nonsense-deep").is_none());
    let deep = namespace.get("llamastackdistributions", "nonsense-deep");
    assert!(
        !messages(&deep).is_empty() || operator.log().contains("nonsense-deep"),
        "it is told somewhere: {deep:#}\n{}",
        operator.log()
    );
    assert_eq!(operator.health("/healthz").0, 200);
    namespace.resource("llamastackdistributions", "later", minimal());
    namespace.ready("later");
}

#[test]
fn several_namespaces_are_looked_after_and_others_are_not() {
    let system = bare().operator_namespace("refused-scopes-system");
    let [one, two, other] = ["scope-one", "scope-two", "scope-other"].map(|name| bare().namespace(name));
    let operator = start_bare(&system, "scope-one,scope-two", &[]);
    let audit = Audit::from_now(bare().cluster);
    for namespace in [&other, &one, &two] {
        namespace.resource("llamastackdistributions", "scoped", minimal());
    }
    one.ready("scoped");
    two.ready("scoped");
    assert_eq!(audit.settled("scope-other"), []);
    assert!(other.try_get("deployments", "scoped").is_none());
    assert!(other.get("llamastackdistributions", "scoped").get("status").is_none());
    drop(operator);
}
