//! Reading an OpenAPI schema: which fields a place has, of which type, with which default.

use llsd_generator::api::{ApiVersion, crd};
use llsd_generator::path::{Path, Segment};
use serde_json::{Map, Value, json};
use std::sync::LazyLock;

/// Fields in the order in which people write them; the schema sorts them by name. Others follow.
#[rustfmt::skip]
const WRITTEN: &[&str] = &[
    "apiVersion", "kind", "metadata", "spec", "id", "name", "namespace", "key", "image", "value", "valueFrom",
    "provider", "providerId", "endpoint", "apiKey", "settings", "secretRefs", "distribution", "replicas", "server",
    "containerSpec", "workers", "providers", "resources", "storage", "networking", "workload", "disabled",
    "overrideConfig", "externalProviders", "inference", "safety", "vectorIo", "toolRuntime", "models", "tools",
    "shields", "contextLength", "modelType", "env", "port", "command", "args", "limits", "requests", "size",
    "mountPath", "userConfig", "tlsConfig", "network", "podOverrides", "volumes", "volumeMounts", "serviceAccountName",
    "terminationGracePeriodSeconds", "kv", "sql", "type", "connectionString", "password", "expose", "tls",
    "allowedFrom", "enabled", "secretName", "caBundle", "hostname", "configMapName", "configMapKeys", "configMap",
    "secret", "persistentVolumeClaim", "emptyDir", "claimName", "items", "readOnly", "subPath", "secretKeyRef",
    "configMapKeyRef", "overrides", "autoscaling", "minReplicas", "maxReplicas", "targetCPUUtilizationPercentage",
    "targetMemoryUtilizationPercentage", "podDisruptionBudget", "minAvailable", "maxUnavailable",
    "topologySpreadConstraints", "maxSkew", "topologyKey", "whenUnsatisfiable", "labelSelector", "matchLabels",
    "labels", "annotations",
];

/// The place of a field in the order in which people write them.
pub(crate) fn written(field: &str) -> Option<usize> {
    WRITTEN.iter().position(|known| *known == field)
}

/// The part of a schema that describes one place. Cheap to copy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Schema<'s> {
    node: &'s Value,
    /// Whether it describes a whole resource. A CRD says nothing about `metadata`, since it is the same for all kinds.
    whole: bool,
}

/// One field of an object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field<'s> {
    /// The key of the field.
    pub(crate) name: &'s str,
    /// The schema of its value.
    pub(crate) schema: Schema<'s>,
    /// Whether the object is refused without it.
    pub(crate) required: bool,
}

/// Fields that every resource needs, whatever its schema says.
const REQUIRED: [&str; 4] = ["apiVersion", "kind", METADATA, "spec"];

const METADATA: &str = "metadata";

/// The schema of a version, with the fields of `metadata` that people write.
pub(crate) fn of(version: ApiVersion) -> Schema<'static> {
    Schema { node: crd::schema(version), whole: true }
}

/// Makes the schema that is asked for most, so that the first question does not wait.
pub(crate) fn preload() {
    of(ApiVersion::V1Alpha2);
}

fn metadata() -> &'static Value {
    static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
        let text = |description: &str| json!({"type": "string", "description": description});
        let map = |description: &str| json!({"type": "object", "description": description, "additionalProperties": {"type": "string"}});
        json!({
            "type": "object",
            "description": "Name, namespace, labels and annotations of the resource.",
            "required": ["name"],
            "properties": {
                "name": text("The resource's name: at most 48 characters, no dots, since names of other objects are made from it."),
                "namespace": text("Where the server runs. Secrets and ConfigMaps are looked up here."),
                "labels": map("Key-value pairs to select by."),
                "annotations": map("Key-value pairs for tools."),
            },
        })
    });
    &SCHEMA
}

impl<'s> Schema<'s> {
    pub(crate) fn new(node: &'s Value) -> Self {
        Self { node, whole: false }
    }

    fn word(self, keyword: &str) -> Option<&'s str> {
        self.node.get(keyword)?.as_str()
    }

    /// The schema of a declared field.
    fn field(self, name: &str) -> Option<Self> {
        let declared = self.properties()?.get(name)?;
        Some(Self::new(if self.whole && name == METADATA { metadata() } else { declared }))
    }

    fn properties(self) -> Option<&'s Map<String, Value>> {
        self.node.get("properties")?.as_object()
    }

    /// The schema of what lies one step inside.
    pub(crate) fn step(self, segment: &Segment) -> Option<Self> {
        match segment {
            Segment::Index(_) => self.items(),
            Segment::Key(name) => self.field(name).or_else(|| self.values()),
        }
    }

    /// The schema at `path`, if the schema says anything about it.
    pub(crate) fn at(self, path: &Path) -> Option<Self> {
        path.segments().iter().try_fold(self, Self::step)
    }

    /// The schema of each item of a list.
    pub(crate) fn items(self) -> Option<Self> {
        self.node.get("items").filter(|items| items.is_object()).map(Self::new)
    }

    /// The schema of each value of a map whose keys the user chooses.
    pub(crate) fn values(self) -> Option<Self> {
        self.node.get("additionalProperties").filter(|values| values.is_object()).map(Self::new)
    }

    /// The fields of an object, required ones first, each group in the order in which people write them.
    pub(crate) fn fields(self) -> Vec<Field<'s>> {
        let required = self.required();
        let mut fields: Vec<_> = self
            .properties()
            .into_iter()
            .flatten()
            .filter_map(|(name, _)| {
                Some(Field { name, schema: self.field(name)?, required: required.contains(&name.as_str()) })
            })
            .collect();
        let place = |name: &str| written(name).unwrap_or(WRITTEN.len());
        fields.sort_by_key(|field| (!field.required, place(field.name)));
        fields
    }

    fn required(self) -> Vec<&'s str> {
        if self.whole {
            return REQUIRED.to_vec();
        }
        self.node.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
    }

    /// Whether `name` is a required field of this object.
    pub(crate) fn requires(self, name: &str) -> bool {
        self.required().contains(&name)
    }

    pub(crate) fn is_object(self) -> bool {
        self.word("type") == Some("object") || self.properties().is_some()
    }

    pub(crate) fn is_list(self) -> bool {
        self.word("type") == Some("array")
    }

    pub(crate) fn is_boolean(self) -> bool {
        self.word("type") == Some("boolean")
    }

    /// The values of an enumeration; empty where there is none.
    pub(crate) fn choices(self) -> Vec<&'s Value> {
        self.node.get("enum").and_then(Value::as_array).into_iter().flatten().filter(|value| !value.is_null()).collect()
    }

    /// What the API server fills in.
    pub(crate) fn default_value(self) -> Option<&'s Value> {
        self.node.get("default")
    }

    /// What the field means, in one or more sentences; empty if the schema does not say.
    pub(crate) fn description(self) -> &'s str {
        self.word("description").unwrap_or_default()
    }

    /// The messages of the rules that hold at this place.
    pub(crate) fn rules(self) -> Vec<&'s str> {
        self.node
            .get("x-kubernetes-validations")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(|rule| rule.get("message").or_else(|| rule.get("rule"))?.as_str())
            .collect()
    }

    /// The type in words: `string`, `list of objects`, `integer, 1024 to 65535`.
    pub(crate) fn type_name(self) -> String {
        if self.node.get("x-kubernetes-int-or-string").and_then(Value::as_bool) == Some(true) {
            return "integer or string".to_owned();
        }
        match self.word("type") {
            Some("array") => match self.items() {
                Some(items) => format!("list of {}", items.plural()),
                None => "list".to_owned(),
            },
            Some("object") => match self.values() {
                Some(values) if self.properties().is_none() => format!("map of {}", values.plural()),
                _ => "object".to_owned(),
            },
            Some(name) => {
                let mut text = name.to_owned();
                if let Some(format) = self.word("format").filter(|format| !matches!(*format, "int32" | "int64")) {
                    text.push_str(&format!(" ({format})"));
                }
                text.push_str(&self.range());
                text
            }
            None => "any value".to_owned(),
        }
    }

    fn plural(self) -> String {
        match self.word("type") {
            Some("array") => "lists".to_owned(),
            Some(name) => format!("{name}s"),
            None => "values".to_owned(),
        }
    }

    fn range(self) -> String {
        let bound = |keyword: &str| self.node.get(keyword).and_then(Value::as_i64);
        match (bound("minimum"), bound("maximum")) {
            (Some(low), Some(high)) => format!(", {low} to {high}"),
            (Some(low), None) => format!(", at least {low}"),
            (None, Some(high)) => format!(", at most {high}"),
            (None, None) => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_types() {
        let name = |schema: Value| Schema::new(&schema).type_name();
        assert_eq!(name(json!({"type": "integer", "minimum": 1, "maximum": 9})), "integer, 1 to 9");
        assert_eq!(name(json!({"type": "array", "items": {"type": "object"}})), "list of objects");
        assert_eq!(name(json!({"type": "object", "additionalProperties": {"type": "string"}})), "map of strings");
        assert_eq!(name(json!({"x-kubernetes-int-or-string": true})), "integer or string");
    }

    #[test]
    fn puts_required_fields_first() {
        let schema = json!({"properties": {"a": {}, "b": {}, "c": {}}, "required": ["c"]});
        let names: Vec<_> = Schema::new(&schema).fields().iter().map(|field| field.name).collect();
        assert_eq!(names, ["c", "a", "b"]);
    }
}
