use super::*;
use crate::api::crd::crd;
use serde_json::json;

/// The fields of a schema that speak of a Secret or ConfigMap by their name: the way to each, with list positions.
fn places(schema: &Value, path: &Path, found: &mut Vec<(Path, Value)>) {
    for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
        let path = path.key(name);
        let lower = name.to_lowercase();
        if lower.contains("secret") || lower.contains("configmap") {
            found.push((path.clone(), inner.clone()));
        }
        places(inner, &path, found);
    }
    if let Some(items) = schema.get("items") {
        places(items, &path.index(0), found);
    }
    if let Some(values) = schema.get("additionalProperties").filter(|values| values.is_object()) {
        places(values, &path.key("any"), found);
    }
}

/// An object with `value` at `path`.
fn nested(path: &Path, value: Value) -> Value {
    path.segments().iter().rev().fold(value, |inner, step| match step {
        Segment::Key(name) => json!({name.as_str(): inner}),
        Segment::Index(_) => json!([inner]),
    })
}

/// Fields that speak of a Secret or ConfigMap and name none.
fn names_none(path: &Path, schema: &Value) -> bool {
    let Some(Segment::Key(name)) = path.last() else { return false };
    // beside a name, a map of references, a path in a file system
    ["configMapNamespace", "configMapKeys", "secretRefs", "secretFile"].contains(&name.as_str())
        // a volume, whose secretName stands in it
        || schema["properties"].get("secretName").is_some()
}

#[test]
fn every_field_of_the_schema_is_in_the_table() {
    let mut checked = 0;
    for version in crd()["spec"]["versions"].as_array().expect("versions") {
        let mut found = Vec::new();
        let spec = &version["schema"]["openAPIV3Schema"]["properties"]["spec"];
        places(spec, &Path::parse("spec"), &mut found);
        for (path, schema) in found.into_iter().filter(|(path, schema)| !names_none(path, schema)) {
            let (at, name) = match schema["type"].as_str() {
                Some("string") => (path.clone(), json!("x")),
                _ => (path.key("name"), json!("x")),
            };
            let object = nested(&at, name);
            let named: Vec<Path> = references(&object).into_iter().map(|reference| reference.path).collect();
            assert_eq!(named, std::slice::from_ref(&at), "{} of {}", path, version["name"]);
            assert!(named_at(&at).is_some(), "{at}");
            for key in keys_in(&schema, &path) {
                assert_eq!(key_at(&key).map(|(_, name)| name), Some(at.clone()), "{key}");
            }
            checked += 1;
        }
    }
    assert!(checked > 40, "{checked}");
}

/// Where the schema of a reference has keys.
fn keys_in(schema: &Value, path: &Path) -> Vec<Path> {
    let key = schema["properties"].get("key").map(|_| path.key("key"));
    let items = schema["properties"].get("items").map(|_| path.key("items").index(3).key("key"));
    key.into_iter().chain(items).collect()
}

fn shown(object: &Value) -> String {
    let line = |one: &Reference<'_>| {
        let keys: Vec<_> = one.keys.iter().map(|(key, path)| format!("{key}@{path}")).collect();
        let namespace = one.namespace.as_ref().map(|(name, _)| format!("{name}/")).unwrap_or_default();
        let optional = if one.is_optional { " optional" } else { "" };
        let kind = one.kind.name();
        format!("{:?} {kind} {namespace}{} {}{optional}\n", one.needed_by, one.name, keys.join(" "))
    };
    references(object).iter().map(line).collect()
}

#[test]
fn tells_kind_keys_namespace_and_who_needs_it() {
    let object = json!({"spec": {
        "providers": {"inference": [{
            "apiKey": {"secretKeyRef": {"name": "a", "key": "k"}},
            "settings": {"token": {"secretKeyRef": {"name": "b", "key": "k"}}},
        }]},
        "networking": {
            "tls": {"secretName": "c", "caBundle": {
                "configMapName": "d", "configMapNamespace": "other", "configMapKeys": ["k", "l"],
            }},
            "expose": {"tlsSecretName": "e"},
        },
        "workload": {"overrides": {
            "env": [{"name": "X", "valueFrom": {"configMapKeyRef": {"name": "f", "key": "k", "optional": true}}}],
            "volumes": [
                {"name": "v", "secret": {"secretName": "g", "items": [{"key": "k", "path": "p"}]}},
                {"name": "w", "projected": {"sources": [{"configMap": {"name": "h"}}, {"secret": {"name": "i"}}]}},
            ],
        }},
        "imagePullSecrets": [{"name": "j"}],
    }});
    let expected = "\
        Server Secret a k@spec.providers.inference[0].apiKey.secretKeyRef.key\n\
        Nobody Secret b k@spec.providers.inference[0].settings.token.secretKeyRef.key\n\
        Server Secret c \n\
        Server ConfigMap other/d k@spec.networking.tls.caBundle.configMapKeys[0] \
        l@spec.networking.tls.caBundle.configMapKeys[1]\n\
        Ingress Secret e \n\
        Pod ConfigMap f k@spec.workload.overrides.env[0].valueFrom.configMapKeyRef.key optional\n\
        Pod Secret g k@spec.workload.overrides.volumes[0].secret.items[0].key\n\
        Pod ConfigMap h \n\
        Pod Secret i \n\
        ImagePull Secret j \n";
    assert_eq!(shown(&object), expected);
}

#[test]
fn names_of_other_things_are_left_alone() {
    let object = json!({
        "metadata": {"annotations": {"secretName": "a"}},
        "spec": {
            "distribution": {"name": "starter"},
            "volumes": [{"name": "secret", "configMap": "a", "secret": {"name": "not-a-field"}}],
            "sources": {"configMap": {"name": "no-list"}},
            "secretKeyRef": {"name": 5},
            "secretName": "",
        },
    });
    assert_eq!(shown(&object), "");
}
