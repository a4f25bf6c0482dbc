//! The `CustomResourceDefinition` of the resource, with both versions.
//!
//! kube derives a definition for each version's types. Here they become one, and the schemas become what an API server
//! takes and controller-gen would write: no `nullable` (an explicit null is dropped and defaulted, as ever), no
//! Rust-only formats, the documentation of enum values folded into their field.
//!
//! Deriving takes longer than a start of the language server may, and leaves most of a program's memory behind. So the
//! result is kept as `crd.json`, and a test finds it when the types say something else.

use super::{ApiVersion, v1alpha1, v1alpha2};
use crate::path::{Path, Segment};
use kube::CustomResourceExt as _;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::sync::LazyLock;

const TEXT: &str = include_str!("crd.json");

static CRD: LazyLock<Value> = LazyLock::new(|| serde_json::from_str(TEXT).unwrap_or_default());

/// The whole definition as JSON.
#[must_use]
pub fn crd() -> &'static Value {
    &CRD
}

/// The whole definition as YAML, as `operator/deploy/crd/` holds it.
#[must_use]
pub fn crd_yaml() -> String {
    to_yaml(crd())
}

/// A definition as YAML, with a word on where it comes from.
#[must_use]
pub fn to_yaml(definition: &Value) -> String {
    let yaml = serde_yaml::to_string(definition).unwrap_or_default();
    format!(
        "\
        # Written by `cargo run -p llsd-generator --example crd`; the types in generator/src/api are the source.\n\
        # Install it with the operator, which converts between the two versions.\n\
        {yaml}"
    )
}

/// The `openAPIV3Schema` of a version.
#[must_use]
pub fn schema(version: ApiVersion) -> &'static Value {
    static V1ALPHA1: LazyLock<Value> = LazyLock::new(|| read_schema(ApiVersion::V1Alpha1));
    static V1ALPHA2: LazyLock<Value> = LazyLock::new(|| read_schema(ApiVersion::V1Alpha2));
    match version {
        ApiVersion::V1Alpha1 => &V1ALPHA1,
        ApiVersion::V1Alpha2 => &V1ALPHA2,
        ApiVersion::OgxV1Beta1 => crate::ogx::crd::schema(),
    }
}

/// Reads one version and passes over the rest of the definition, which few sessions of the language server need.
fn read_schema(wanted: ApiVersion) -> Value {
    #[derive(Deserialize)]
    struct Definition<'t> {
        #[serde(borrow)]
        spec: Spec<'t>,
    }
    #[derive(Deserialize)]
    struct Spec<'t> {
        #[serde(borrow)]
        versions: Vec<Version<'t>>,
    }
    #[derive(Deserialize)]
    struct Version<'t> {
        name: &'t str,
        #[serde(borrow)]
        schema: Schema<'t>,
    }
    #[derive(Deserialize)]
    struct Schema<'t> {
        #[serde(borrow, rename = "openAPIV3Schema")]
        text: &'t RawValue,
    }
    let versions = serde_json::from_str(TEXT).map_or_else(|_| Vec::new(), |found: Definition<'_>| found.spec.versions);
    let version = versions.iter().find(|version| version.name == wanted.name());
    version.and_then(|version| serde_json::from_str(version.schema.text.get()).ok()).unwrap_or_default()
}

/// The schema of the value at `path` in objects of a version: properties, list items and map values are followed.
/// `None` where no field of the version lies there, or nothing is declared (`settings` of a provider).
#[must_use]
pub fn schema_at(version: ApiVersion, path: &Path) -> Option<&'static Value> {
    path.segments().iter().try_fold(schema(version), |schema, step| match step {
        Segment::Key(name) => schema
            .get("properties")
            .and_then(|fields| fields.get(name))
            .or_else(|| schema.get("additionalProperties").filter(|values| values.is_object())),
        Segment::Index(_) => schema.get("items"),
    })
}

/// What the schema says about the field at `path`, in a sentence or two. Fields of Kubernetes' own types, which the
/// definition does not describe (it would be ten times as long), are described as Kubernetes does.
#[must_use]
pub fn description(version: ApiVersion, path: &Path) -> Option<String> {
    let schema = schema_at(version, path)?;
    match schema.get("description").and_then(Value::as_str) {
        Some(text) => Some(text.to_owned()),
        None => match path.to_string().as_str() {
            "metadata" => Some("Name, namespace, labels and annotations.".to_owned()),
            "metadata.name" => Some("Name of the resource, and of its Deployment.".to_owned()),
            _ => super::core::description(path),
        },
    }
}

/// The definition as the types say it: what `crd.json` has to hold. Slow; only for writing that file and comparing.
#[must_use]
pub fn derived() -> Value {
    let older = serde_json::to_value(v1alpha1::LlamaStackDistribution::crd()).unwrap_or_default();
    let mut whole = serde_json::to_value(v1alpha2::LlamaStackDistribution::crd()).unwrap_or_default();
    let mut older = older["spec"]["versions"][0].clone();
    let mut newer = whole["spec"]["versions"][0].clone();
    for version in [&mut older, &mut newer] {
        tidy(&mut version["schema"]["openAPIV3Schema"]);
        describe_root(&mut version["schema"]["openAPIV3Schema"]);
    }

    // The status types are shared; the older schema must not grow.
    if let Some(status) = older["schema"]["openAPIV3Schema"]["properties"]["status"]["properties"].as_object_mut() {
        status.shift_remove("observedGeneration");
        status.shift_remove("resolvedDistribution");
        status.shift_remove("configGeneration");
        status.shift_remove("externalProviders");
    }
    let conditions = &mut newer["schema"]["openAPIV3Schema"]["properties"]["status"]["properties"]["conditions"];
    conditions["x-kubernetes-list-type"] = json!("map");
    conditions["x-kubernetes-list-map-keys"] = json!(["type"]);
    // The rules on the name point at it; a rule can only point at what the schema has.
    newer["schema"]["openAPIV3Schema"]["properties"]["metadata"]["properties"] = json!({"name": {"type": "string"}});
    newer["schema"]["openAPIV3Schema"]["x-kubernetes-validations"] = v1alpha2::name_rules();

    whole["spec"]["versions"] = json!([older, newer]);
    whole["spec"]["names"]["listKind"] = json!("LlamaStackDistributionList");
    whole
}

/// Adds the fields that every object has: the server would add them itself, but editors read this schema too.
fn describe_root(schema: &mut Value) {
    let Some(fields) = schema["properties"].as_object_mut() else { return };
    let rest = std::mem::take(fields);
    fields.insert(
        "apiVersion".to_owned(),
        json!({
            "description": "Group and version of the resource's schema, such as `llamastack.io/v1alpha2`.",
            "type": "string",
        }),
    );
    fields.insert("kind".to_owned(), json!({"description": "Always `LlamaStackDistribution`.", "type": "string"}));
    // The server refuses anything else here, even a description.
    fields.insert("metadata".to_owned(), json!({"type": "object"}));
    fields.extend(rest);
}

/// Brings a derived schema into the form that controller-gen would give it.
fn tidy(schema: &mut Value) {
    let mut open = vec![schema];
    while let Some(schema) = open.pop() {
        let Some(node) = schema.as_object_mut() else { continue };
        // An Option is a field that may be left out, not one that holds null: without this an explicit null would be
        // stored, and defaults would not fill it.
        node.shift_remove("nullable");
        node.shift_remove("title");
        if let Some(Value::String(text)) = node.get_mut("description") {
            // Doc comments wrap; descriptions are sentences.
            *text = text.split("\n\n").map(|part| part.replace('\n', " ")).collect::<Vec<_>>().join("\n\n");
        }
        if node.get("x-kubernetes-int-or-string") == Some(&Value::Bool(true)) {
            // kube's rewriter for Rust enums takes the types out of this one anyOf that the server asks for.
            node.insert("anyOf".to_owned(), json!([{"type": "integer"}, {"type": "string"}]));
            node.shift_remove("type");
        }
        for (name, child) in node {
            match (name.as_str(), child) {
                // k8s-openapi reads bounds as floating point numbers.
                ("minimum" | "maximum", bound) => {
                    if let Some(whole) = bound.as_f64().filter(|bound| bound.fract() == 0.0) {
                        *bound = json!(whole as i64);
                    }
                }
                ("properties", Value::Object(fields)) => open.extend(fields.values_mut()),
                ("items" | "additionalProperties", child) => open.push(child),
                _ => {}
            }
        }
    }
}
