//! The operator's own ConfigMap: made, read, followed.

use crate::operator::setup::{container, own, start_bare};
use llsd_tests::operator::{Audit, condition, wait_until};
use serde_json::{Value, json};

const MAP: &str = "llama-stack-operator-config";

fn image(deployment: &Value) -> &str {
    container(deployment)["image"].as_str().unwrap()
}

#[test]
fn overrides_of_images_are_followed_and_end() {
    let own = own("settings-images");
    let (namespace, system) = (&own.namespace, &own.system);
    let made = system.wait("configmaps", MAP, "is made", |_| true);
    assert_eq!(made["metadata"]["labels"]["llamastack.io/watch"], "true");
    assert!(made["data"]["featureFlags"].as_str().unwrap().contains("enableNetworkPolicy"), "{made:#}");
    namespace.resource("llamastackdistributions", "images", crate::operator::setup::minimal());
    namespace.ready("images");
    let before = namespace.get("deployments", "images");

    let overrides = |text: &str| {
        system.merge("configmaps", MAP, &json!({"data": {"image-overrides": text}}));
    };
    overrides("starter: quay.io/example/starter:0.4.7\nnot an image: \"::\"\n");
    let after = namespace.wait("deployments", "images", "has the image", |now| image(now) != image(&before));
    assert_eq!(image(&after), "quay.io/example/starter:0.4.7");
    namespace.wait_for("images", "tells its image", |object| {
        object["status"]["resolvedDistribution"]["image"] == "quay.io/example/starter:0.4.7"
    });
    let _ = Audit::from_now(namespace.cluster()).settled("settings-images");

    // What cannot be read changes nothing.
    let audit = Audit::from_now(namespace.cluster());
    overrides("starter: [");
    wait_until("it is told", || own.operator.log().contains("image-overrides"));
    assert_eq!(audit.settled("settings-images"), []);
    overrides("");
    namespace.wait("deployments", "images", "has its image again", |now| image(now) == image(&before));
}

#[test]
fn the_network_policy_comes_and_goes_with_its_flag() {
    let own = own("settings-flags");
    let (namespace, system) = (&own.namespace, &own.system);
    for name in ["network", "usual"] {
        namespace.resource("llamastackdistributions", name, crate::operator::setup::minimal());
        namespace.ready(name);
    }
    let flag = |text: &str| {
        system.merge("configmaps", MAP, &json!({"data": {"featureFlags": text}}));
    };
    let on = "enableNetworkPolicy:\n    enabled: true\nunknown: 7\n";
    for _ in 0..2 {
        flag(on);
        let policy = namespace.wait("networkpolicies", "usual-network-policy", "is there", |_| true);
        let peers = policy["spec"]["ingress"][0]["from"].as_array().unwrap();
        assert!(peers.iter().any(|peer| {
            peer["namespaceSelector"]["matchLabels"]["kubernetes.io/metadata.name"] == "settings-flags-system"
        }));
        wait_until("both have one", || namespace.list("networkpolicies", "").len() == 2);
        flag("enableNetworkPolicy: [");
        wait_until("it is told", || own.operator.log().contains("featureFlags"));
        assert_eq!(namespace.list("networkpolicies", "").len(), 2, "the flag stays as it was");
        flag("enableNetworkPolicy:\n    enabled: false\n");
        wait_until("both are gone", || namespace.list("networkpolicies", "").is_empty());
    }
}

#[test]
fn an_existing_configmap_gets_the_label_and_nothing_else() {
    let system = crate::operator::setup::bare().operator_namespace("settings-kept-system");
    crate::operator::setup::bare().namespace("settings-kept");
    system.config_map(MAP, json!({"image-overrides": "starter: example.com/mine:0.4.7\n"}));
    let _operator = start_bare(&system, "settings-kept", &[]);
    let map = system
        .wait("configmaps", MAP, "has the label", |now| now["metadata"]["labels"]["llamastack.io/watch"] == "true");
    assert_eq!(map["data"], json!({"image-overrides": "starter: example.com/mine:0.4.7\n"}));
}

#[test]
fn an_image_that_does_not_fit_leaves_what_runs() {
    let own = own("settings-upgrade");
    let (namespace, system) = (&own.namespace, &own.system);
    // llama-stack 0.4.7 has this type of provider, 0.7.3 has it no more.
    let provider = json!({"provider": "remote::tgi", "endpoint": "http://tgi:8080"});
    let spec = json!({"distribution": {"name": "starter"}, "providers": {"inference": [provider]}});
    namespace.resource("llamastackdistributions", "upgrade", spec);
    let ready = namespace.ready("upgrade");
    let before = namespace.get("deployments", "upgrade");
    let overrides = |text: &str| {
        system.merge("configmaps", MAP, &json!({"data": {"image-overrides": text}}));
    };
    overrides("starter: docker.io/llamastack/distribution-starter:0.7.3\n");
    let failed = namespace.wait_condition("upgrade", "ConfigGenerated", "False", "UpgradeConfigFailure");
    assert!(condition(&failed, "ConfigGenerated")["message"].as_str().unwrap().contains("remote::tgi"));
    assert_eq!(failed["status"]["resolvedDistribution"], ready["status"]["resolvedDistribution"], "what runs");
    assert_eq!(failed["status"]["configGeneration"], ready["status"]["configGeneration"]);
    let _ = Audit::from_now(namespace.cluster()).settled("settings-upgrade");
    assert_eq!(namespace.get("deployments", "upgrade")["spec"], before["spec"]);

    overrides("");
    let ready = namespace.wait_condition("upgrade", "ConfigGenerated", "True", "ConfigGenerationSucceeded");
    assert_eq!(ready["status"]["phase"], "Ready");
    assert_eq!(namespace.get("deployments", "upgrade")["metadata"]["generation"], 1);
}
