//! What a kustomization on top of an overlay changes, it changes everywhere.

use super::installed::{container, find, on_top, rendered};
use llsd_operator::rbac::NAMESPACE;
use serde_json::Value;
use std::path::PathBuf;

const OVERLAYS: [&str; 4] = ["kubernetes", "cert-manager", "openshift", "single-namespace"];

fn folder(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("llsd-on-top-{}-{name}", std::process::id()))
}

fn with(overlay: &str, test: &str, text: &str) -> Vec<Value> {
    let folder = folder(&format!("{test}-{overlay}"));
    let objects = rendered(&on_top(&folder, &format!("resources: ['{{deploy}}/overlays/{overlay}']\n{text}")));
    std::fs::remove_dir_all(folder).expect("the folder goes");
    objects
}

#[test]
fn a_namespace_moves_everything() {
    for overlay in OVERLAYS {
        let objects = with(overlay, "namespace", "namespace: elsewhere\n");
        for object in &objects {
            assert!(!object.to_string().contains(NAMESPACE), "{overlay}: {object}");
        }
        if overlay == "cert-manager" {
            let certificate = find(&objects, "Certificate", "llama-stack-k8s-operator-serving-cert");
            let name = "llama-stack-k8s-operator-webhook-service.elsewhere.svc";
            assert_eq!(certificate["spec"]["dnsNames"][0], name);
            let crd = find(&objects, "CustomResourceDefinition", "llamastackdistributions.llamastack.io");
            assert_eq!(
                crd["metadata"]["annotations"]["cert-manager.io/inject-ca-from"],
                "elsewhere/llama-stack-k8s-operator-serving-cert"
            );
        }
    }
}

/// The pods of resources with external providers run what the operator runs.
#[test]
fn an_image_reaches_the_init_containers() {
    let digest = "sha256:1111111111111111111111111111111111111111111111111111111111111111";
    for overlay in OVERLAYS {
        let text = format!(
            "images:\n- name: quay.io/llamastack/llsd-operator\n  newName: mirror.example.com/llsd\n  digest: {digest}\n"
        );
        let objects = with(overlay, "image", &text);
        let container = container(&objects);
        let image = format!("mirror.example.com/llsd@{digest}");
        assert_eq!(container["image"], image, "{overlay}");
        let variables = container["env"].as_array().expect("variables");
        let told = variables.iter().find(|variable| variable["name"] == "OPERATOR_IMAGE").expect("the variable");
        assert_eq!(told["value"], image, "{overlay}");
    }
}
