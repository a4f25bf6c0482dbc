//! What happens when a resource goes.

use crate::operator::setup::{generated, with_vllm, world};
use llsd_tests::operator::Audit;
use serde_json::json;

#[test]
fn everything_goes_with_the_resource() {
    let namespace = world().namespace("deletion-all");
    let mut spec = with_vllm("http://vllm:8000/v1");
    spec["networking"] = json!({"expose": {}});
    spec["workload"] = json!({"replicas": 2, "storage": {}});
    namespace.resource("llamastackdistributions", "all", spec);
    let ready = namespace.ready("all");
    let config = ready["status"]["configGeneration"]["configMapName"].as_str().unwrap().to_owned();
    namespace.delete("llamastackdistributions", "all");
    for (kind, name) in [
        ("llamastackdistributions", "all"),
        ("deployments", "all"),
        ("services", "all-service"),
        ("serviceaccounts", "all-sa"),
        ("persistentvolumeclaims", "all-pvc"),
        ("poddisruptionbudgets", "all-pdb"),
        ("ingresses", "all-ingress"),
        ("configmaps", &config),
    ] {
        namespace.gone(kind, name);
    }
    let _ = Audit::from_now(world().cluster).settled("deletion-all");
    assert!(namespace.try_get("deployments", "all").is_none(), "nothing comes back");
    assert!(generated(&namespace, "all").is_empty());
}

#[test]
fn while_it_goes_nothing_is_made_again() {
    let namespace = world().namespace("deletion-waits");
    let object = json!({
        "apiVersion": "llamastack.io/v1alpha2",
        "kind": "LlamaStackDistribution",
        "metadata": {"name": "waits", "finalizers": ["example.com/wait"]},
        "spec": with_vllm("http://vllm:8000/v1"),
    });
    namespace.post("llamastackdistributions", &object);
    namespace.ready("waits");
    namespace.delete("llamastackdistributions", "waits");
    namespace.wait_for("waits", "is going", |object| object["status"]["phase"] == "Terminating");
    namespace.delete("deployments", "waits");
    namespace.delete("services", "waits-service");
    namespace.gone("deployments", "waits");
    let audit = Audit::from_now(world().cluster);
    namespace.merge("llamastackdistributions", "waits", &json!({"metadata": {"labels": {"touched": "yes"}}}));
    let writes = audit.settled("deletion-waits");
    assert!(writes.iter().all(|entry| entry.resource == "llamastackdistributions/status"), "{writes:#?}");
    assert!(namespace.try_get("deployments", "waits").is_none());
    assert!(namespace.try_get("services", "waits-service").is_none());
    namespace.merge("llamastackdistributions", "waits", &json!({"metadata": {"finalizers": null}}));
    namespace.gone("llamastackdistributions", "waits");
}
