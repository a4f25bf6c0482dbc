//! Distribution, configs, network and certificates.

use super::{Class, Draft, is_to_fill};
use crate::api::ApiVersion;
use crate::api::v1alpha2::DEFAULT_PORT;
use crate::distribution::version_of_image;
use crate::ogx::generate::Source;
use crate::ogx::rules::image::{NEW_REPOSITORY, OLD_REPOSITORY};
use serde_json::{Value, json};

/// The operator's namespace, which asks for the server's health.
const OPERATOR: &str = "ogx-k8s-operator-system";

/// The name or image, those of llama-stack's repository as ogx has them.
pub(super) fn distribution(draft: &mut Draft<'_>) {
    let at = match draft.from {
        ApiVersion::V1Alpha1 => "spec.server.distribution",
        _ => "spec.distribution",
    };
    let text =
        |field: &str| draft.get(&format!("{at}.{field}")).and_then(Value::as_str).filter(|text| !text.is_empty());
    let (name, image) = (text("name"), text("image"));
    match (name, image) {
        (Some(name @ ("remote-vllm" | "meta-reference-gpu")), None) => {
            draft.set("distribution.name", "starter".into());
            draft.note_move(at, "distribution");
            let message = format!(
                "\"{name}\" is not made for ogx: \"starter\" is, whose provider for vllm is switched on by VLLM_URL"
            );
            draft.tell(Class::Change, at, message);
        }
        (Some(_), None) => draft.carry(at, "distribution"),
        (_, Some(image)) => {
            draft.note_move(at, "distribution");
            let image = renamed(draft, image, at);
            draft.set("distribution.image", image.into());
        }
        (None, None) => draft.tell(Class::Loss, at, "there is neither a name nor an image: an OGXServer needs one"),
    }
}

/// The image of ogx in place of one of llama-stack.
fn renamed(draft: &mut Draft<'_>, image: &str, at: &str) -> String {
    let ours = image.split_once(OLD_REPOSITORY).filter(|(before, _)| matches!(*before, "" | "docker.io/"));
    let Some((_, rest)) = ours else {
        let tag = version_of_image(image).unwrap_or_default();
        let message = format!(
            "the image is kept: it has to be one of ogx ({}), which reads other variables and paths{}",
            draft.options.version,
            if tag.is_empty() { String::new() } else { format!(" than {tag}") }
        );
        draft.tell(Class::Unknown, format!("{at}.image"), message);
        return image.to_owned();
    };
    let name = rest.split([':', '@']).next().unwrap_or_default();
    let name = if matches!(name, "remote-vllm" | "meta-reference-gpu") { "starter" } else { name };
    let new = format!("{NEW_REPOSITORY}{name}:{}", draft.options.version);
    draft.tell(Class::Change, format!("{at}.image"), format!("{image} becomes {new}: the old repository was deleted"));
    new
}

/// Port, access from outside, and who may connect.
pub(super) fn network(draft: &mut Draft<'_>) {
    let (port, expose, allowed) = match draft.from {
        ApiVersion::V1Alpha1 => {
            ("spec.server.containerSpec.port", "spec.network.exposeRoute", "spec.network.allowedFrom")
        }
        _ => ("spec.networking.port", "spec.networking.expose", "spec.networking.allowedFrom"),
    };
    // 0 is as good as none
    if draft.get(port).is_some_and(|port| is_to_fill(port) || port.as_i64().is_some_and(|port| port > 0)) {
        draft.carry(port, "network.port");
    }
    match draft.get(expose) {
        Some(on) if on.is_boolean() || is_to_fill(on) => draft.carry(expose, "network.externalAccess.enabled"),
        Some(Value::Object(fields)) => {
            let on = fields.get("enabled").filter(|on| !on.is_null()).cloned();
            draft.set("network.externalAccess.enabled", on.unwrap_or(true.into()));
            draft.note_move(expose, "network.externalAccess");
            for (field, value) in fields.iter().filter(|(field, value)| *field != "enabled" && !value.is_null()) {
                let message = format!(
                    "{value} has no effect any more: the operator makes the Ingress without host, class and certificate"
                );
                draft.tell(Class::Loss, format!("{expose}.{field}"), message);
            }
        }
        _ => {}
    }
    policy(draft, allowed);
    // The old operator opened no further port.
    draft.set("monitoring.enabled", false.into());
}

/// The peers of `allowedFrom`, beside those that the operator's own rules have: any rule takes the place of all of them.
fn policy(draft: &mut Draft<'_>, at: &str) {
    let Some(allowed) = draft.get(at) else {
        draft.set("network.policy.enabled", false.into());
        let message = "stays off, as it was by default: the new operator makes policies unless it is told otherwise";
        return draft.tell(Class::Added, "spec.network.policy", message);
    };
    let texts = |field: &str| allowed[field].as_array().into_iter().flatten().filter_map(Value::as_str);
    let by_label = |labels: Value| json!({"namespaceSelector": {"matchLabels": labels}});
    let mut peers = vec![
        json!({"podSelector": {}}),
        by_label(json!({"kubernetes.io/metadata.name": OPERATOR})),
        by_label(json!({"network.openshift.io/policy-group": "ingress"})),
    ];
    for namespace in texts("namespaces") {
        peers.push(match namespace {
            "*" => json!({"namespaceSelector": {}}),
            name => by_label(json!({"kubernetes.io/metadata.name": name})),
        });
    }
    for key in texts("labels") {
        peers.push(json!({"namespaceSelector": {"matchExpressions": [{"key": key, "operator": "Exists"}]}}));
    }
    let port = Some(&draft.spec["network"]["port"]).filter(|port| !port.is_null());
    let port = port.cloned().unwrap_or(DEFAULT_PORT.into());
    draft.set("network.policy.ingress", json!([{"from": peers, "ports": [{"protocol": "TCP", "port": port}]}]));
    draft.note_move(at, "network.policy.ingress");
    let message = "becomes rules of a NetworkPolicy, beside those for the operator and the router, which own rules replace; the \
                   old operator made policies only if its configuration had them switched on";
    draft.tell(Class::Change, at, message);
}

/// Certificates of authorities, one entry for each key, and that of the server.
pub(super) fn certificates(draft: &mut Draft<'_>) {
    let at = match draft.from {
        ApiVersion::V1Alpha1 => "spec.server.tlsConfig.caBundle",
        _ => "spec.networking.tls.caBundle",
    };
    if let Some(bundle) = draft.get(at) {
        let name = bundle["configMapName"].as_str().unwrap_or_default();
        let keys: Vec<&str> =
            bundle["configMapKeys"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let keys = if keys.is_empty() { vec!["ca-bundle.crt"] } else { keys };
        let all: Vec<Value> = keys.iter().map(|key| json!({"name": name, "key": key})).collect();
        draft.set("tls.trust.caCertificates", all.into());
        draft.note_move(at, "tls.trust.caCertificates");
        if let Some(namespace) = bundle["configMapNamespace"].as_str().filter(|namespace| !namespace.is_empty()) {
            let message = format!(
                "ConfigMap \"{name}\" is read from the resource's own namespace alone: copy it from {namespace}"
            );
            draft.tell(Class::Loss, format!("{at}.configMapNamespace"), message);
        }
    }
    let tls = "spec.networking.tls";
    if draft.get(&format!("{tls}.enabled")) == Some(&Value::Bool(true)) {
        let secret = draft.get(&format!("{tls}.secretName")).and_then(Value::as_str).unwrap_or_default();
        let message = format!(
            "the server speaks HTTP from now on: the field for Secret \"{secret}\" has no effect upstream. End TLS at the Ingress or \
             Route, or mount the Secret with workload.overrides and set server.tls_certfile and server.tls_keyfile in the \
             config; the operator's probe then fails"
        );
        draft.tell(Class::Loss, format!("{tls}.enabled"), message);
    }
    if Source::of(&json!({ "spec": draft.spec })) == Source::Generated {
        let message = "the operator reads the base config from labels of the image, which Docker Hub does not give it: put a base \
                       config of ogx into a ConfigMap and name that in baseConfig";
        draft.tell(Class::Unknown, "spec.distribution", message);
    }
}
