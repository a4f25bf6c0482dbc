//! Shapes that earlier proposals of v1alpha2 had, each with its rewrite. The CRD refuses them all.

use super::Rule;
use super::finding::{Finding, Fix, FixEdit};
use super::header::header;
use super::rules::drafts as rules;
use crate::api::v1alpha2::PROVIDER_FIELDS;
use crate::api::{ApiVersion, GROUP};
use crate::path::Path;
use serde_json::{Map, Value, json};

/// The fields of `networking.tls` as released: anything else there comes from a draft.
const TLS_FIELDS: [&str; 2] = ["secretName", "caBundle"];
/// The fields of `networking.tls.caBundle` as released: anything else there comes from a draft.
const CA_FIELDS: [&str; 3] = ["configMapName", "configMapNamespace", "configMapKeys"];

/// Every draft shape of an object, each an error with the fix that rewrites it. The fixes of one object do not
/// overlap, and can be applied together. Nothing for objects of another kind, nor for v1alpha1, which had no drafts.
#[must_use]
pub fn drafts(object: &Value) -> Vec<Finding> {
    let mut found = Vec::new();
    // A wrong group is the header's own finding, and hides no other. Its version says nothing: the proposal that used
    // another group called the new shape v1alpha1.
    let Some(header) = header(object) else { return found };
    let ours = object.get("apiVersion").and_then(Value::as_str).is_some_and(|version| version.starts_with(GROUP));
    if ours && header.version != ApiVersion::V1Alpha2 {
        return found;
    }
    let Some(spec) = object.get("spec").and_then(Value::as_object) else { return found };
    if spec.contains_key("server") {
        return found;
    }
    let at = Path::root().key("spec");
    if let Some(providers) = spec.get("providers").and_then(Value::as_object) {
        self::providers(providers, &at.key("providers"), &mut found);
    }
    if let Some(models) = spec.get("resources").and_then(|resources| resources.get("models")).and_then(Value::as_array)
    {
        self::models(models, &at.key("resources").key("models"), &mut found);
    }
    storage(spec, &at.key("storage"), &mut found);
    networking(spec, &at, &mut found);
    found
}

fn draft(rule: &'static Rule, path: Path, message: &str, title: &str, edits: Vec<FixEdit>) -> Finding {
    Finding::new(rule, path, message).with_fix(Fix { title: title.to_owned(), edits, preferred: true })
}

fn providers(providers: &Map<String, Value>, at: &Path, found: &mut Vec<Finding>) {
    for (_, api) in PROVIDER_FIELDS {
        match providers.get(api) {
            // One edit for the list and for what is wrong inside: edits inside a replaced value would overlap it.
            Some(Value::Object(provider)) => {
                let path = at.key(api);
                let value = json!([rewritten(provider)]);
                found.push(draft(
                    &rules::PROVIDER_OBJECT,
                    path.clone(),
                    &format!("{api} takes a list of providers"),
                    &format!("Make {api} a list"),
                    vec![FixEdit::Replace { path, value }],
                ));
            }
            Some(Value::Array(list)) => {
                for (position, provider) in list.iter().enumerate() {
                    if let Some(provider) = provider.as_object() {
                        self::provider(provider, &at.key(api).index(position), found);
                    }
                }
            }
            _ => {}
        }
    }
}

fn provider(provider: &Map<String, Value>, at: &Path, found: &mut Vec<Finding>) {
    if let Some(endpoint) = host_as_endpoint(provider) {
        let host = at.key("host");
        let mut edits = vec![FixEdit::RenameKey { path: host.clone(), to: "endpoint".to_owned() }];
        if provider.contains_key("port") {
            edits.insert(0, FixEdit::Remove { path: at.key("port") });
            edits.insert(1, FixEdit::Replace { path: host.clone(), value: json!(endpoint) });
        }
        let message = "host became endpoint, which holds the whole address";
        found.push(draft(&rules::PROVIDER_HOST, host, message, "Rename host to endpoint", edits).at_key());
    }
    if let Some(value) = provider.get("apiKey") {
        secret(value, &at.key("apiKey"), found);
    }
    for (name, value) in provider.get("secretRefs").and_then(Value::as_object).into_iter().flatten() {
        secret(value, &at.key("secretRefs").key(name), found);
    }
}

/// The address that `host` and `port` give, for a provider that has `host` and no `endpoint`.
fn host_as_endpoint(provider: &Map<String, Value>) -> Option<String> {
    if provider.contains_key("endpoint") {
        return None;
    }
    let host = provider.get("host")?.as_str()?;
    match provider.get("port") {
        Some(Value::Number(port)) => Some(format!("{host}:{port}")),
        Some(Value::String(port)) => Some(format!("{host}:{port}")),
        _ => Some(host.to_owned()),
    }
}

/// A provider with all that [`provider`] would rewrite.
fn rewritten(provider: &Map<String, Value>) -> Value {
    let endpoint = host_as_endpoint(provider);
    let mut fields = Map::new();
    for (name, value) in provider {
        match (name.as_str(), &endpoint) {
            ("host", Some(endpoint)) => {
                fields.insert("endpoint".to_owned(), json!(endpoint));
            }
            ("port", Some(_)) => {}
            ("apiKey", _) if is_flat_secret(value) => {
                fields.insert(name.clone(), json!({"secretKeyRef": value}));
            }
            ("secretRefs", _) => {
                let wrap =
                    |value: &Value| if is_flat_secret(value) { json!({"secretKeyRef": value}) } else { value.clone() };
                let value = match value {
                    Value::Object(refs) => refs.iter().map(|(key, value)| (key.clone(), wrap(value))).collect(),
                    other => other.clone(),
                };
                fields.insert(name.clone(), value);
            }
            _ => {
                fields.insert(name.clone(), value.clone());
            }
        }
    }
    Value::Object(fields)
}

/// `{name, key}` where `{secretKeyRef: {name, key}}` belongs.
fn is_flat_secret(value: &Value) -> bool {
    value.as_object().is_some_and(|fields| {
        !fields.is_empty()
            && fields.keys().all(|name| name == "name" || name == "key")
            && !fields.contains_key("secretKeyRef")
    })
}

fn secret(value: &Value, path: &Path, found: &mut Vec<Finding>) {
    if is_flat_secret(value) {
        found.push(draft(
            &rules::FLAT_SECRET,
            path.clone(),
            "name and key belong under secretKeyRef",
            "Wrap in secretKeyRef",
            vec![FixEdit::Replace { path: path.clone(), value: json!({"secretKeyRef": value}) }],
        ));
    }
}

fn models(models: &[Value], at: &Path, found: &mut Vec<Finding>) {
    for (position, model) in models.iter().enumerate() {
        if let Value::String(name) = model {
            let path = at.index(position);
            found.push(draft(
                &rules::MODEL_STRING,
                path.clone(),
                "a model is an object with a name",
                &format!("Write name: {name}"),
                vec![FixEdit::Replace { path, value: json!({"name": name}) }],
            ));
        }
    }
}

fn storage(spec: &Map<String, Value>, at: &Path, found: &mut Vec<Finding>) {
    for (part, field) in [("kv", "password"), ("sql", "connectionString")] {
        let value = spec.get("storage").and_then(|storage| storage.get(part)).and_then(|part| part.get(field));
        if let Some(value) = value {
            secret(value, &at.key(part).key(field), found);
        }
    }
}

fn networking(spec: &Map<String, Value>, at: &Path, found: &mut Vec<Finding>) {
    let networking = at.key("networking");
    let tls = networking.key("tls");
    let fields = spec.get("networking").and_then(Value::as_object);
    if let Some(Value::Bool(on)) = fields.and_then(|fields| fields.get("expose")) {
        let path = networking.key("expose");
        let value = if *on { json!({}) } else { json!({"enabled": false}) };
        found.push(draft(
            &rules::EXPOSE_BOOLEAN,
            path.clone(),
            "expose is an object: {} switches it on, {enabled: false} off",
            &format!("Write expose: {}", if *on { "{}" } else { "{enabled: false}" }),
            vec![FixEdit::Replace { path, value }],
        ));
    }
    if spec.get("tls").is_some_and(Value::is_object) && fields.is_none_or(|fields| !fields.contains_key("tls")) {
        found.push(moved(at.key("tls"), tls.clone(), "tls belongs under networking"));
    }
    let Some(fields) = fields else { return };
    let inside = fields.get("tls").and_then(Value::as_object);
    let free = |name: &str| inside.is_none_or(|inside| !inside.contains_key(name));
    let mut misplaced: Vec<&str> = TLS_FIELDS.into_iter().filter(|name| fields.contains_key(*name)).collect();
    // `enabled` alone says nothing about what it enables.
    if fields.contains_key("enabled") && (!misplaced.is_empty() || inside.is_some()) {
        misplaced.insert(0, "enabled");
    }
    for name in misplaced.into_iter().filter(|name| free(name)) {
        found.push(moved(networking.key(name), tls.key(name), &format!("{name} belongs under networking.tls")));
    }
    let Some(inside) = inside else { return };
    let bundle = inside.get("caBundle").and_then(Value::as_object);
    for name in CA_FIELDS {
        if inside.contains_key(name) && bundle.is_none_or(|bundle| !bundle.contains_key(name)) {
            let message = format!("{name} belongs under networking.tls.caBundle");
            found.push(moved(tls.key(name), tls.key("caBundle").key(name), &message));
        }
    }
}

fn moved(from: Path, to: Path, message: &str) -> Finding {
    let title = format!("Move to {to}");
    draft(&rules::MISPLACED, from.clone(), message, &title, vec![FixEdit::Move { from, to }]).at_key()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::api::KIND;

    fn newer(spec: Value) -> Value {
        json!({"apiVersion": "llamastack.io/v1alpha2", "kind": KIND, "spec": spec})
    }

    fn rules(object: &Value) -> Vec<(&'static str, String)> {
        drafts(object).into_iter().map(|finding| (finding.rule.id, finding.path.to_string())).collect()
    }

    #[test]
    fn every_draft_is_seen() {
        let object = newer(json!({
            "providers": {
                "inference": {"provider": "vllm", "host": "http://v", "port": 8000, "apiKey": {"name": "s", "key": "k"}},
                "safety": [{"provider": "x", "host": "h", "apiKey": {"name": "s", "key": "k"}, "secretRefs": {"a": {"name": "s"}}}],
            },
            "resources": {"models": ["m", {"name": "n"}]},
            "storage": {"kv": {"password": {"name": "s", "key": "k"}}, "sql": {"connectionString": {"name": "s", "key": "k"}}},
            "networking": {"expose": true, "enabled": true, "secretName": "s", "tls": {"configMapName": "c"}},
        }));
        let expected = [
            ("llsd::draft::provider-object", "spec.providers.inference"),
            ("llsd::draft::provider-host", "spec.providers.safety[0].host"),
            ("llsd::draft::flat-secret", "spec.providers.safety[0].apiKey"),
            ("llsd::draft::flat-secret", "spec.providers.safety[0].secretRefs.a"),
            ("llsd::draft::model-string", "spec.resources.models[0]"),
            ("llsd::draft::flat-secret", "spec.storage.kv.password"),
            ("llsd::draft::flat-secret", "spec.storage.sql.connectionString"),
            ("llsd::draft::expose-boolean", "spec.networking.expose"),
            ("llsd::draft::misplaced", "spec.networking.enabled"),
            ("llsd::draft::misplaced", "spec.networking.secretName"),
            ("llsd::draft::misplaced", "spec.networking.tls.configMapName"),
        ];
        assert_eq!(rules(&object), expected.map(|(rule, path)| (rule, path.to_owned())));
        let FixEdit::Replace { value, .. } = &drafts(&object)[0].fixes[0].edits[0] else { panic!("a replacement") };
        let secret = json!({"secretKeyRef": {"name": "s", "key": "k"}});
        assert_eq!(*value, json!([{"provider": "vllm", "endpoint": "http://v:8000", "apiKey": secret}]));
    }

    #[test]
    fn the_group_of_a_proposal_hides_nothing() {
        let mut object = newer(json!({"providers": {"inference": {"provider": "vllm"}}}));
        object["apiVersion"] = json!("llama.meta.com/v1alpha1");
        assert_eq!(rules(&object).len(), 1);
        object["apiVersion"] = json!("llamastack.io/v1alpha1");
        assert_eq!(rules(&object), [], "the older version had no drafts");
    }

    #[test]
    fn valid_and_foreign_objects_are_left_alone() {
        let valid = newer(json!({
            "providers": {"inference": [{"provider": "vllm", "settings": {"host": "h"}}]},
            "networking": {"tls": {"caBundle": {"configMapName": "c"}}, "expose": {}},
        }));
        assert_eq!(rules(&valid), []);
        assert_eq!(
            rules(&json!({"apiVersion": "v1", "kind": "ConfigMap", "spec": {"providers": {"inference": {}}}})),
            []
        );
        assert_eq!(rules(&json!(null)), []);
        assert_eq!(rules(&newer(json!("text"))), []);
    }
}
