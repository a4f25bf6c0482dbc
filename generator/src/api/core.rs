//! Fields whose types are Kubernetes' own: how they are read, and which schema they get.
//!
//! The schemas are the ones that controller-gen writes for these types, kept in one data file for both versions:
//! schemars derives others from k8s-openapi (no list-map keys, no defaults, no quantities), and v1alpha1 must not change.

use crate::path::{Path, Segment};
use k8s_openapi::api::core::v1::{
    EnvVar, PodSecurityContext, ResourceRequirements, SecurityContext, TopologySpreadConstraint, Volume, VolumeMount,
};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use schemars::{Schema, SchemaGenerator};
use serde::Deserialize as _;
use serde::de::{DeserializeOwned, Deserializer, Error as _};
use serde_json::{Value, json};
use std::sync::LazyLock;

static SCHEMAS: LazyLock<Value> = LazyLock::new(|| serde_json::from_str(include_str!("core.json")).unwrap_or_default());

fn named(name: &str) -> Schema {
    SCHEMAS.get(name).and_then(|schema| Schema::try_from(schema.clone()).ok()).unwrap_or_default()
}

/// A list whose items have the schema `name`; `limit` caps its length where the version does so.
fn list(name: &str, limit: Option<usize>) -> Schema {
    let mut schema = json!({"type": "array", "items": named(name)});
    if let Some(limit) = limit {
        schema["minItems"] = json!(1);
        schema["maxItems"] = json!(limit);
    }
    Schema::try_from(schema).unwrap_or_default()
}

pub(super) fn resources(_: &mut SchemaGenerator) -> Schema {
    named("ResourceRequirements")
}

pub(super) fn pod_security_context(_: &mut SchemaGenerator) -> Schema {
    named("PodSecurityContext")
}

pub(super) fn security_context(_: &mut SchemaGenerator) -> Schema {
    named("SecurityContext")
}

pub(super) fn quantity(_: &mut SchemaGenerator) -> Schema {
    named("Quantity")
}

pub(super) fn int_or_string(_: &mut SchemaGenerator) -> Schema {
    named("IntOrString")
}

pub(super) fn condition(_: &mut SchemaGenerator) -> Schema {
    list("Condition", None)
}

pub(super) fn env(_: &mut SchemaGenerator) -> Schema {
    list("EnvVar", None)
}

pub(super) fn volumes(_: &mut SchemaGenerator) -> Schema {
    list("Volume", None)
}

pub(super) fn volume_mounts(_: &mut SchemaGenerator) -> Schema {
    list("VolumeMount", None)
}

pub(super) fn spread(_: &mut SchemaGenerator) -> Schema {
    list("TopologySpreadConstraint", None)
}

pub(super) fn bounded_env(_: &mut SchemaGenerator) -> Schema {
    list("EnvVar", Some(1024))
}

pub(super) fn bounded_volumes(_: &mut SchemaGenerator) -> Schema {
    list("Volume", Some(256))
}

pub(super) fn bounded_volume_mounts(_: &mut SchemaGenerator) -> Schema {
    list("VolumeMount", Some(256))
}

pub(super) fn bounded_spread(_: &mut SchemaGenerator) -> Schema {
    list("TopologySpreadConstraint", Some(64))
}

/// What Kubernetes says about the field at `path` inside one of its types, as k8s-openapi documents it.
pub(super) fn description(path: &Path) -> Option<String> {
    static KINDS: LazyLock<Value> = LazyLock::new(|| {
        let mut generator = SchemaGenerator::default();
        let kinds = json!({
            "resources": generator.subschema_for::<ResourceRequirements>(),
            "env": generator.subschema_for::<Vec<EnvVar>>(),
            "volumes": generator.subschema_for::<Vec<Volume>>(),
            "volumeMounts": generator.subschema_for::<Vec<VolumeMount>>(),
            "topologySpreadConstraints": generator.subschema_for::<Vec<TopologySpreadConstraint>>(),
            "podSecurityContext": generator.subschema_for::<PodSecurityContext>(),
            "securityContext": generator.subschema_for::<SecurityContext>(),
            "conditions": generator.subschema_for::<Vec<Condition>>(),
        });
        json!({"kinds": kinds, "$defs": generator.take_definitions(true)})
    });
    let is_kind = |step: &Segment| matches!(step, Segment::Key(name) if KINDS["kinds"].get(name).is_some());
    let start = path.segments().iter().position(is_kind)?;
    let follow = |schema: &'static Value| match schema.get("$ref").and_then(Value::as_str) {
        Some(target) => KINDS["$defs"].get(target.rsplit('/').next()?),
        None => Some(schema),
    };
    // The description beside a reference is the field's; the one behind it is the type's.
    let (first, rest) = path.segments()[start..].split_first()?;
    let Segment::Key(kind) = first else { return None };
    let found = rest.iter().try_fold(&KINDS["kinds"][kind], |schema, step| {
        let schema = follow(schema)?;
        match step {
            Segment::Key(name) => schema
                .get("properties")
                .and_then(|fields| fields.get(name))
                .or_else(|| schema.get("additionalProperties").filter(|values| values.is_object())),
            Segment::Index(_) => schema.get("items"),
        }
    })?;
    let described = found.get("description").or_else(|| follow(found)?.get("description"))?;
    described.as_str().map(str::to_owned)
}

/// Reads a core type in which quantities may be written as numbers (`cpu: 2`): the API server keeps them as written,
/// k8s-openapi accepts only strings.
pub(super) fn lenient<'de, D: Deserializer<'de>, T: DeserializeOwned>(input: D) -> Result<Option<T>, D::Error> {
    let mut value = Value::deserialize(input)?;
    if value.is_null() {
        return Ok(None);
    }
    spell_quantities(&mut value);
    serde_json::from_value(value).map(Some).map_err(D::Error::custom)
}

/// Reads a quantity that may be written as a number.
pub(super) fn lenient_quantity<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Quantity>, D::Error> {
    match Value::deserialize(input)? {
        Value::Null => Ok(None),
        Value::String(text) => Ok(Some(Quantity(text))),
        Value::Number(number) => Ok(Some(Quantity(number.to_string()))),
        _ => Err(D::Error::custom("a quantity is a string or a number")),
    }
}

/// Turns numbers into strings wherever the core types used here hold a quantity.
fn spell_quantities(value: &mut Value) {
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Value::Array(items) => open.extend(items),
            Value::Object(fields) => {
                for (name, field) in fields {
                    match (name.as_str(), field) {
                        ("limits" | "requests", Value::Object(amounts)) => amounts.values_mut().for_each(spell),
                        ("sizeLimit" | "divisor", field) => spell(field),
                        (_, field) => open.push(field),
                    }
                }
            }
            _ => {}
        }
    }
}

fn spell(value: &mut Value) {
    if let Value::Number(number) = value {
        *value = Value::String(number.to_string());
    }
}
