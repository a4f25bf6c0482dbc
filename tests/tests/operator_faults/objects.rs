//! Resources that are gone, refused, or huge.

use crate::operator_faults::fleet::{Fleet, operator};
use llsd_generator::api::crd::crd;
use llsd_tests::cluster::{CRDS, Cluster, Lent, Request};
use llsd_tests::operator::{Namespace, condition, grant, wait_until};
use serde_json::{Value, json};

const KIND: &str = "llamastackdistributions";

/// A cluster that also deletes what lost its owner.
fn cluster() -> Lent {
    let cluster = Cluster::with_controllers();
    cluster.install_crds(std::slice::from_ref(crd())).unwrap();
    grant(&cluster, "default");
    cluster.lend()
}

/// Puts the CRD's schemas in place, with or without their rules.
fn install(cluster: &Cluster, strict: bool) {
    let mut versions = crd()["spec"]["versions"].clone();
    if !strict {
        for version in versions.as_array_mut().unwrap() {
            version.as_object_mut().unwrap().remove("selectableFields");
            version["schema"]["openAPIV3Schema"] = json!({
                "type": "object",
                "x-kubernetes-preserve-unknown-fields": true,
                "properties": {"status": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
            });
        }
    }
    let path = format!("{CRDS}/{KIND}.llamastack.io");
    let answer = cluster.send(Request::merge(path, &json!({"spec": {"versions": versions}})));
    assert!(answer.accepted(), "{}", answer.message());
}

fn resource(name: &str, spec: &Value) -> Value {
    json!({
        "apiVersion": "llamastack.io/v1alpha2",
        "kind": "LlamaStackDistribution",
        "metadata": {"name": name},
        "spec": spec,
    })
}

fn told(namespace: &Namespace, name: &str) -> bool {
    let object = namespace.get(KIND, name);
    let status = object["status"]["phase"] == "Failed" && condition(&object, "DeploymentReady")["status"] == "False";
    status || !namespace.events(name, "StatusRefused").is_empty()
}

/// What an older CRD without today's rules let in.
#[test]
fn stored_resources_that_todays_rules_refuse_disturb_no_other() {
    let lent = cluster();
    let cluster = lent.cluster();
    let fleet = Fleet::new(cluster, "refused", 3);
    let place = |name: &str| fleet.namespace.path(KIND, name);
    install(cluster, false);
    let refused = [
        ("nothing", json!({})),
        ("text", json!("a text")),
        ("number", json!({"distribution": {"name": 7}})),
        ("unknown", json!({"distribution": {"name": "no-such"}})),
        ("port", json!({"distribution": {"name": "starter"}, "networking": {"port": 99_999_999}})),
        (
            "ids",
            json!({"distribution": {"name": "starter"}, "providers": {
                "inference": [{"id": "a", "provider": "vllm"}, {"id": "a", "provider": "openai"}],
            }}),
        ),
    ];
    let twice = ("twice", json!({"distribution": {"name": "starter", "image": "x"}}));
    for (name, spec) in refused.iter().chain([&twice]) {
        wait_until("the CRD without rules is in use", || {
            cluster.send(Request::apply(place(name), "tests", &resource(name, spec))).accepted()
        });
    }
    install(cluster, true);
    wait_until("the rules are in use again", || {
        let probe = resource("probe", &json!({"distribution": {}}));
        !cluster.send(Request::apply(place("probe"), "tests", &probe).dry()).accepted()
    });

    let operator = operator(cluster, &[], &[]);
    let pid = operator.pid().to_owned();
    fleet.write(8400);
    fleet.converges(8400);
    // Only a new resource may not have both; one that has them runs by its name, as it did.
    fleet.namespace.wait("deployments", "twice", "is there", |_| true);
    fleet.namespace.delete(KIND, "twice");
    for (name, _) in &refused {
        // Where the API server takes no status, because the rest of the object is none, there are an Event and the log.
        fleet.namespace.wait(KIND, name, "is told of", |_| told(&fleet.namespace, name));
        assert!(operator.log().contains(&format!(r#""name":"{name}""#)), "the log tells of {name}");
        assert!(fleet.namespace.try_get("deployments", name).is_none(), "{name} has a Deployment");
    }
    // Mended, one becomes what it asks for.
    fleet.namespace.change("text", json!({"distribution": {"name": "starter"}}));
    fleet.namespace.wait("deployments", "text", "is there", |_| true);
    fleet.write(8500);
    fleet.converges(8500);
    for (name, _) in &refused {
        fleet.namespace.delete(KIND, name);
    }
    fleet.namespace.gone("deployments", "text");
    assert_eq!(operator.pid(), pid);
    fleet.is_quiet(operator, &[], &[]);
}

/// As large as the API server takes them, and what is made of them is larger than that.
#[test]
fn huge_resources_are_carried_out_or_told_of() {
    let lent = cluster();
    let cluster = lent.cluster();
    let fleet = Fleet::new(cluster, "huge", 3);
    let operator = operator(cluster, &[], &[]);
    let pid = operator.pid().to_owned();
    let env = |count: usize| {
        let env: Vec<_> = (0..count).map(|at| json!({"name": format!("V{at}"), "value": "x".repeat(5_500)})).collect();
        json!({"distribution": {"name": "starter"}, "workload": {"overrides": {"env": env}}})
    };
    fleet.namespace.resource(KIND, "huge", env(200));
    let deployment = fleet.namespace.wait("deployments", "huge", "is there", |_| true);
    let variables = deployment["spec"]["template"]["spec"]["containers"][0]["env"].as_array().unwrap();
    assert!(variables.len() >= 200, "{}", variables.len());
    fleet.namespace.wait(KIND, "huge", "has a status", |object| object["status"]["phase"] == "Initializing");
    // A ConfigMap holds a mebibyte.
    let mut spec = Fleet::spec(8000);
    spec["providers"]["inference"][0]["settings"] = json!({"api_base_note": "x".repeat(1_200_000)});
    fleet.namespace.resource(KIND, "config", spec);
    fleet.namespace.wait(KIND, "config", "tells that its configuration is too long", |object| {
        condition(object, "DeploymentReady")["message"].as_str().is_some_and(|message| message.contains("Too long"))
            && object["status"]["phase"] == "Failed"
    });
    assert!(fleet.namespace.try_get("deployments", "config").is_none());
    fleet.write(8500);
    fleet.converges(8500);
    for name in ["huge", "config"] {
        fleet.namespace.delete(KIND, name);
    }
    fleet.namespace.gone("deployments", "huge");
    assert_eq!(operator.pid(), pid);
    fleet.is_quiet(operator, &[], &[]);
}

#[test]
fn resources_that_go_while_they_are_worked_on_leave_nothing_behind() {
    let lent = cluster();
    let cluster = lent.cluster();
    let fleet = Fleet::new(cluster, "deleted", 6);
    let operator = operator(cluster, &[], &[]);
    let pid = operator.pid().to_owned();
    for round in 0..10 {
        fleet.write(8600 + round);
        // In different moments of the work.
        std::thread::sleep(std::time::Duration::from_millis(u64::from(round) * 20));
        for name in fleet.names() {
            fleet.namespace.delete(KIND, &name);
        }
    }
    wait_until("nothing is left over", || fleet.children().is_empty());
    fleet.write(8700);
    fleet.converges(8700);
    assert_eq!(operator.pid(), pid);
    fleet.is_quiet(operator, &[], &[]);
}
