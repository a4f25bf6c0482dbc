//! Base configs in the labels of ogx's images, from a real registry.

use super::{BASE, KIND, Own, config_of, world};
use crate::operator_oci::labels::encoded;
use crate::operator_oci::registry::{Server, layer};
use llsd_tests::operator::{condition, wait_until};
use serde_json::{Value, json};

fn push(registry: &Server, name: &str, labels: Value) -> String {
    world().cluster.runtime().block_on(registry.push(name, labels, vec![layer(&[("a", b"x")], true)])).0
}

#[test]
fn a_config_is_made_from_the_one_that_the_image_brings() {
    let registry = Server::open();
    let label = "com.ogx.distribution.default-config";
    let image = push(&registry, "small:1.5.0", json!({label: "a.yaml", "com.ogx.config.a.yaml": encoded(BASE)}));
    let insecure = format!("--insecure-registries={}", registry.address);
    let own = Own::start("ogx-labels", &["--ogx-servers", "--registry-lookups=true", &insecure]);
    let spec = |image: &str| json!({"distribution": {"image": image}, "resources": {"models": [{"name": "llama"}]}});
    own.server("chat", &spec(&image));
    let ready = own.ready("chat");
    let (_, config) = config_of(&own.namespace, "chat");
    let text = config["data"]["config.yaml"].as_str().expect("a config");
    let config: Value = serde_yaml::from_str(text).expect("YAML");
    assert_eq!(config["providers"]["inference"][0]["provider_id"], "ollama", "{text}");
    assert_eq!(config["registered_resources"]["models"][0]["provider_id"], "ollama", "{text}");
    let resolved = &ready["status"]["resolvedDistribution"];
    assert_eq!(resolved["configSource"], "oci-label", "{resolved}");
    assert!(resolved["configHash"].as_str().is_some_and(|hash| hash.starts_with("sha256:")), "{resolved}");

    // llama-stack's label is not one that ogx's operator knows
    let other = json!({"io.llamastack.config.base64": encoded(BASE)});
    for (name, labels, words) in [
        ("none", other, "no base config is known for the image"),
        ("broken", json!({label: "a.yaml"}), "com.ogx.config.a.yaml"),
    ] {
        let image = push(&registry, &format!("{name}:1.5.0"), labels);
        own.server(name, &spec(&image));
        let told = |object: &Value| condition(object, "ConfigGenerated")["status"] == "False";
        let object = own.namespace.wait(KIND, name, "its base is not known", told);
        let conditions = object["status"]["conditions"].to_string();
        let is_told =
            || conditions.contains(words) || json!(own.namespace.list("events", "")).to_string().contains(words);
        wait_until(&format!("{words}: {conditions}"), is_told);
    }

    // the ConfigMap that a resource names comes before the image's
    own.namespace.config_map("base", json!({"config.yaml": BASE.replace("ollama", "elsewhere")}));
    let mut named = spec(&image);
    named["baseConfig"] = json!({"name": "base", "key": "config.yaml"});
    own.server("named", &named);
    own.namespace
        .wait(KIND, "named", "it is told", |object| condition(object, "ConfigGenerated")["status"].is_string());
    let object = own.namespace.get(KIND, "named");
    assert_ne!(object["status"]["resolvedDistribution"]["configSource"], "oci-label", "{object}");
    own.was_refused_nothing();
}
