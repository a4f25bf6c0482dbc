//! Which field of one version is which of the other.

use super::fit::{self, Unfit};
use crate::api::{ApiVersion, crd};
use crate::path::{Path, Segment};
use serde_json::{Map, Value, json};

/// Fields of v1alpha1 and the fields of v1alpha2 that hold the same. `network.exposeRoute` is not among them: it is a
/// boolean there and the presence of `networking.expose` here.
pub const V1ALPHA1_TO_V1ALPHA2: [(&str, &str); 19] = [
    ("spec.server.distribution", "spec.distribution"),
    ("spec.server.containerSpec.port", "spec.networking.port"),
    ("spec.server.tlsConfig.caBundle", "spec.networking.tls.caBundle"),
    ("spec.network.allowedFrom", "spec.networking.allowedFrom"),
    ("spec.replicas", "spec.workload.replicas"),
    ("spec.server.workers", "spec.workload.workers"),
    ("spec.server.containerSpec.resources", "spec.workload.resources"),
    ("spec.server.autoscaling", "spec.workload.autoscaling"),
    ("spec.server.storage", "spec.workload.storage"),
    ("spec.server.podDisruptionBudget", "spec.workload.podDisruptionBudget"),
    ("spec.server.topologySpreadConstraints", "spec.workload.topologySpreadConstraints"),
    ("spec.server.podOverrides.serviceAccountName", "spec.workload.overrides.serviceAccountName"),
    ("spec.server.podOverrides.terminationGracePeriodSeconds", "spec.workload.overrides.terminationGracePeriodSeconds"),
    ("spec.server.containerSpec.env", "spec.workload.overrides.env"),
    ("spec.server.containerSpec.command", "spec.workload.overrides.command"),
    ("spec.server.containerSpec.args", "spec.workload.overrides.args"),
    ("spec.server.podOverrides.volumes", "spec.workload.overrides.volumes"),
    ("spec.server.podOverrides.volumeMounts", "spec.workload.overrides.volumeMounts"),
    ("spec.server.userConfig.configMapName", "spec.overrideConfig.configMapName"),
];

/// The object in `target`, without any default or annotation: only the fields that both versions have, and of those
/// only values that `target` allows. The object must be of the other version.
#[must_use]
pub fn translate(object: &Value, target: ApiVersion) -> Value {
    translate_as(object, target, Unfit::Drop)
}

/// [`translate`], with a say in what becomes of values that `target` does not allow.
pub(crate) fn translate_as(object: &Value, target: ApiVersion, unfit: Unfit) -> Value {
    let mut result = Map::new();
    result.insert("apiVersion".to_owned(), json!(target.api_version()));
    for (name, value) in object.as_object().into_iter().flatten() {
        if !["apiVersion", "spec", "status"].contains(&name.as_str()) {
            result.insert(name.clone(), value.clone());
        }
    }
    let mut result = Value::Object(result);
    match target {
        ApiVersion::V1Alpha2 => to_newer(object, &mut result, unfit),
        _ => to_older(object, &mut result),
    }
    if let Some(status) = object
        .get("status")
        .and_then(|status| fit::fitting(crd::schema(target).get("properties")?.get("status")?, status, unfit))
    {
        result["status"] = status;
    }
    result
}

fn to_newer(object: &Value, result: &mut Value, unfit: Unfit) {
    set(result, &Path::parse("spec.distribution"), json!({}));
    for (from, to) in V1ALPHA1_TO_V1ALPHA2 {
        let to = Path::parse(to);
        let value = Path::parse(from).find(object);
        let fitting = crd::schema_at(ApiVersion::V1Alpha2, &to).zip(value).and_then(|(schema, value)| {
            // The default says the same, without a field.
            if schema.get("default") == Some(value) && to.last() == Some(&Segment::Key("replicas".to_owned())) {
                return None;
            }
            let value = fit::fitting(schema, value, unfit)?;
            if unfit == Unfit::Drop { coherent(&to, value) } else { Some(value) }
        });
        if let Some(value) = fitting {
            set(result, &to, value);
        }
    }
    let expose = match Path::parse("spec.network.exposeRoute").find(object) {
        Some(Value::Bool(true)) => Some(json!({})),
        None | Some(Value::Bool(false) | Value::Null) => None,
        Some(other) => (unfit == Unfit::Keep).then(|| json!({"enabled": other})),
    };
    if let Some(expose) = expose {
        set(result, &Path::parse("spec.networking.expose"), expose);
    }
}

/// The value, if it also keeps v1alpha2's rules between fields; without the offending field where that is optional.
fn coherent(path: &Path, mut value: Value) -> Option<Value> {
    match path.last() {
        Some(Segment::Key(name)) if name == "autoscaling" => {
            let fields = value.as_object_mut()?;
            let bound = |fields: &Map<String, Value>, name| fields.get(name).and_then(Value::as_i64);
            if bound(fields, "minReplicas").is_some_and(|least| Some(least) > bound(fields, "maxReplicas")) {
                fields.shift_remove("minReplicas");
            }
        }
        Some(Segment::Key(name)) if name == "podDisruptionBudget" => {
            let fields = value.as_object()?;
            if fields.contains_key("minAvailable") == fields.contains_key("maxUnavailable") {
                return None;
            }
        }
        Some(Segment::Key(name)) if name == "allowedFrom" => {
            let with_values = |labels: &Value| {
                labels.as_array().is_some_and(|labels| {
                    labels.iter().any(|label| label.as_str().is_some_and(|label| label.contains('=')))
                })
            };
            let fields = value.as_object_mut()?;
            if fields.get("labels").is_some_and(with_values) {
                fields.shift_remove("labels");
            }
        }
        _ => {}
    }
    Some(value)
}

fn to_older(object: &Value, result: &mut Value) {
    set(result, &Path::parse("spec.server.distribution"), json!({}));
    for (to, from) in V1ALPHA1_TO_V1ALPHA2 {
        if let Some(value) = Path::parse(from).find(object) {
            set(result, &Path::parse(to), value.clone());
        }
    }
    if let Some(expose) = Path::parse("spec.networking.expose").find(object) {
        let on = match expose.get("enabled") {
            None | Some(Value::Null) => json!(expose.is_object()),
            Some(enabled) => enabled.clone(),
        };
        set(result, &Path::parse("spec.network.exposeRoute"), on);
    }
}

/// Puts a value at a path of keys, making the objects on the way.
pub(crate) fn set(root: &mut Value, path: &Path, value: Value) {
    let mut place = root;
    for step in path.segments() {
        let Segment::Key(name) = step else { return };
        if !place.is_object() {
            *place = json!({});
        }
        let Some(fields) = place.as_object_mut() else { return };
        place = fields.entry(name.clone()).or_insert(Value::Null);
    }
    *place = value;
}
