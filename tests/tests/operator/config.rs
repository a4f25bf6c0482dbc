//! Generated configurations: made, changed, kept for a while, and never at the cost of what runs.

use crate::operator::setup::{container, generated, is_owned, minimal, own, variable, volume, with_vllm, world};
use llsd_tests::operator::{Audit, condition, wait_until};
use serde_json::{Value, json};

/// The ConfigMap that the pods of a Deployment mount.
fn mounted(deployment: &Value) -> &str {
    volume(deployment, "user-config")["configMap"]["name"].as_str().unwrap_or_default()
}

#[test]
fn a_configuration_is_generated_and_mounted() {
    let namespace = world().namespace("config-made");
    let mut spec = with_vllm("http://vllm:8000/v1");
    spec["resources"] = json!({"models": [{"name": "llama3"}]});
    let created = namespace.resource("llamastackdistributions", "made", spec);
    let ready = namespace.ready("made");

    let generation = &ready["status"]["configGeneration"];
    let name = generation["configMapName"].as_str().unwrap();
    assert!(name.starts_with("made-config-") && name.len() == "made-config-".len() + 8, "{name}");
    let map = namespace.get("configmaps", name);
    assert!(is_owned(&map, &created));
    assert_eq!(map["immutable"], true);
    assert_eq!(map["metadata"]["labels"]["app.kubernetes.io/instance"], "made");
    assert_eq!(map["metadata"]["labels"]["app.kubernetes.io/component"], "generated-config");
    assert_eq!(map["metadata"]["labels"]["llamastack.io/watch"], "true");
    let text = map["data"]["config.yaml"].as_str().unwrap();
    assert!(text.contains("http://vllm:8000/v1") && text.contains("llama3"), "{text}");

    let deployment = namespace.get("deployments", "made");
    assert_eq!(mounted(&deployment), name);
    assert_eq!(variable(&deployment, "RUN_CONFIG_PATH")["value"], "/etc/llama-stack/config.yaml");
    let (providers, resources) = (&generation["providerCount"], &generation["resourceCount"]);
    let made = condition(&ready, "ConfigGenerated");
    assert_eq!(made["reason"], "ConfigGenerationSucceeded");
    assert_eq!(made["message"], format!("Generated config.yaml with {providers} providers and {resources} resources"));
    let updated = condition(&ready, "DeploymentUpdated");
    assert_eq!(updated["reason"], "DeploymentUpdateSucceeded");
    assert_eq!(updated["message"], format!("Deployment updated with config {name}"));
    let resolved = &ready["status"]["resolvedDistribution"];
    assert_eq!(resolved["configSource"], "embedded");
    assert!(resolved["configHash"].as_str().unwrap().starts_with("sha256:"), "{resolved}");
    assert_eq!(namespace.event("made", "ConfigGenerated")["type"], "Normal");
    assert_eq!(namespace.event("made", "DeploymentUpdated")["type"], "Normal");
}

#[test]
fn image_and_configuration_change_in_one_write() {
    let namespace = world().namespace("config-step");
    namespace.resource("llamastackdistributions", "step", with_vllm("http://vllm:8000/v1"));
    namespace.ready("step");
    let before = namespace.get("deployments", "step");
    let audit = Audit::from_now(world().cluster);
    namespace.change("step", json!({"distribution": {"name": "postgres-demo"}}));
    namespace.ready("step");
    let writes = audit.settled("config-step");

    let after = namespace.get("deployments", "step");
    assert_ne!(container(&after)["image"], container(&before)["image"]);
    assert_ne!(mounted(&after), mounted(&before));
    assert_eq!(after["metadata"]["generation"], 2, "one change of the Deployment: {writes:#?}");
    let sets = namespace.list("replicasets", "app.kubernetes.io/instance=step");
    assert_eq!(sets.len(), 2, "the one before, and the one with both changes");
}

#[test]
fn of_old_configurations_one_is_kept() {
    let namespace = world().namespace("config-kept");
    let other = world().namespace("config-kept-other");
    for namespace in [&namespace, &other] {
        namespace.resource("llamastackdistributions", "kept", with_vllm("http://vllm:1/v1"));
        namespace.ready("kept");
    }
    let first = generated(&other, "kept");
    let mut names = vec![];
    for port in 2..6 {
        let endpoint = format!("http://vllm:{port}/v1");
        let before = mounted(&namespace.get("deployments", "kept")).to_owned();
        namespace.change("kept", json!({"providers": {"inference": [{"provider": "vllm", "endpoint": endpoint}]}}));
        let deployment = namespace.wait("deployments", "kept", "has a new config", |now| mounted(now) != before);
        names.push(mounted(&deployment).to_owned());
        namespace.ready("kept");
    }
    wait_until("two configurations are left", || generated(&namespace, "kept").len() == 2);
    let mut left: Vec<_> = generated(&namespace, "kept").iter().map(|map| map["metadata"]["name"].clone()).collect();
    left.sort_by_key(|name| names.iter().position(|known| *name == **known));
    assert_eq!(left, names[2..]);
    assert_eq!(generated(&other, "kept"), first, "those of the same name elsewhere are none of its business");
}

#[test]
fn a_configuration_that_pods_still_mount_is_kept() {
    let namespace = world().namespace("config-pods");
    namespace.resource("llamastackdistributions", "pods", with_vllm("http://vllm:1/v1"));
    namespace.ready("pods");
    let first = mounted(&namespace.get("deployments", "pods")).to_owned();
    // New pods do not become ready, so the old one stays.
    world().stand_in.hold("config-pods");
    for port in 2..6 {
        let endpoint = format!("http://vllm:{port}/v1");
        let before = mounted(&namespace.get("deployments", "pods")).to_owned();
        namespace.change("pods", json!({"providers": {"inference": [{"provider": "vllm", "endpoint": endpoint}]}}));
        namespace.wait("deployments", "pods", "has a new config", |now| mounted(now) != before);
    }
    let _ = Audit::from_now(world().cluster).settled("config-pods");
    assert!(namespace.try_get("configmaps", &first).is_some(), "the pod that serves needs it");
    world().stand_in.release("config-pods");
    namespace.ready("pods");
    namespace.gone("configmaps", &first);
    wait_until("two configurations are left", || generated(&namespace, "pods").len() == 2);
}

#[test]
fn providers_can_come_and_go() {
    let namespace = world().namespace("config-toggle");
    namespace.resource("llamastackdistributions", "toggle", minimal());
    namespace.ready("toggle");
    namespace.change("toggle", with_vllm("http://vllm:1/v1"));
    namespace.wait("deployments", "toggle", "mounts a config", |now| !mounted(now).is_empty());
    assert_eq!(condition(&namespace.ready("toggle"), "ConfigGenerated")["status"], "True");
    namespace.change("toggle", json!({"providers": null}));
    let deployment = namespace.wait("deployments", "toggle", "mounts no config", |now| mounted(now).is_empty());
    assert!(variable(&deployment, "RUN_CONFIG_PATH").is_null());
    let ready = namespace.ready("toggle");
    assert!(condition(&ready, "ConfigGenerated").is_null(), "{:#}", ready["status"]);
    assert!(ready["status"].get("configGeneration").is_none(), "{:#}", ready["status"]);
}

#[test]
fn a_configmap_of_the_same_name_is_not_used() {
    // The name follows from the content, so another namespace tells it.
    let there = world().namespace("config-squat-there");
    there.resource("llamastackdistributions", "squat", with_vllm("http://vllm:8000/v1"));
    let name = there.ready("squat")["status"]["configGeneration"]["configMapName"].as_str().unwrap().to_owned();

    let namespace = world().namespace("config-squat");
    let squatter = namespace.config_map(&name, json!({"config.yaml": "version: 2\n"}));
    namespace.resource("llamastackdistributions", "squat", with_vllm("http://vllm:8000/v1"));
    let failed = namespace.wait_for("squat", "has failed", |object| object["status"]["phase"] == "Failed");
    assert!(crate::operator::setup::messages(&failed).contains(&name), "{:#}", failed["status"]);
    assert!(namespace.try_get("deployments", "squat").is_none());
    assert_eq!(namespace.get("configmaps", &name)["data"], squatter["data"]);
    namespace.delete("configmaps", &name);
    namespace.ready("squat");
}

#[test]
fn an_update_that_cannot_be_generated_leaves_what_runs() {
    let own = own("config-keeps");
    let namespace = &own.namespace;
    namespace.resource("llamastackdistributions", "keeps", with_vllm("http://vllm:8000/v1"));
    let ready = namespace.ready("keeps");
    let before = namespace.get("deployments", "keeps");

    // Not the admission webhook's business here: there is none in this cluster.
    namespace.change("keeps", json!({"providers": {"inference": [{"provider": "remote::no-such-thing"}]}}));
    let failed = namespace.wait_condition("keeps", "ConfigGenerated", "False", "ConfigGenerationFailed");
    assert_eq!(failed["status"]["phase"], "Failed");
    assert!(condition(&failed, "ConfigGenerated")["message"].as_str().unwrap().contains("no-such-thing"));
    assert_eq!(failed["status"]["configGeneration"], ready["status"]["configGeneration"], "it still runs that one");
    assert_eq!(namespace.event("keeps", "ConfigGenerationFailed")["type"], "Warning");
    let after = namespace.get("deployments", "keeps");
    assert_eq!(after["metadata"]["generation"], before["metadata"]["generation"]);
    assert!(namespace.try_get("configmaps", mounted(&before)).is_some());

    namespace.change("keeps", with_vllm("http://other:8000/v1"));
    let ready = namespace.ready("keeps");
    assert_eq!(condition(&ready, "ConfigGenerated")["status"], "True");
    assert_ne!(mounted(&namespace.get("deployments", "keeps")), mounted(&before));
}

#[test]
fn an_image_without_base_configuration_says_what_is_missing() {
    let own = own("config-image");
    let mut spec = with_vllm("http://vllm:8000/v1");
    spec["distribution"] = json!({"image": "example.com/mine:1"});
    own.namespace.resource("llamastackdistributions", "image", spec);
    let failed = own.namespace.wait_condition("image", "ConfigGenerated", "False", "BaseConfigRequired");
    let text = "Direct image references require either overrideConfig.configMapName or OCI config labels on the image";
    let message = condition(&failed, "ConfigGenerated")["message"].as_str().unwrap().to_owned();
    assert!(message.contains(text), "{message}");
    assert!(own.namespace.try_get("deployments", "image").is_none());
}

#[test]
fn edits_during_a_rollout_end_with_the_last() {
    let namespace = world().namespace("config-last");
    namespace.resource("llamastackdistributions", "last", with_vllm("http://vllm:1/v1"));
    for port in 2..12 {
        let endpoint = format!("http://vllm:{port}/v1");
        namespace.change("last", json!({"providers": {"inference": [{"provider": "vllm", "endpoint": endpoint}]}}));
    }
    let ready = namespace.wait_for("last", "is ready in its last generation", |object| {
        object["status"]["phase"] == "Ready" && condition(object, "DeploymentReady")["observedGeneration"] == 11
    });
    let name = ready["status"]["configGeneration"]["configMapName"].as_str().unwrap();
    assert_eq!(mounted(&namespace.get("deployments", "last")), name);
    let text = namespace.get("configmaps", name)["data"]["config.yaml"].as_str().unwrap().to_owned();
    assert!(text.contains("http://vllm:11/v1"), "{text}");
}
