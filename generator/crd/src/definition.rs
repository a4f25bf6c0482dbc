//! A whole `CustomResourceDefinition`: which of its versions validates an object.

use crate::schema::CompiledSchema;
use crate::verdict::Verdict;
use indexmap::IndexMap;
use serde_json::Value;
use thiserror::Error;

/// A `CustomResourceDefinition` (`apiextensions.k8s.io/v1`), with the schema of each of its served versions read once.
#[derive(Debug)]
pub struct Definition {
    group: String,
    kind: String,
    versions: IndexMap<String, CompiledSchema>,
}

/// Why an object cannot be validated with a [`Definition`], or why that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DefinitionError {
    /// The value given as a definition is something else.
    #[error("this is no CustomResourceDefinition of apiextensions.k8s.io/v1")]
    NotADefinition,
    /// A field that a definition needs is missing, or has another type. It is named with its path.
    #[error("the CustomResourceDefinition has no {0}")]
    Missing(&'static str),
    /// The object is of another group or kind, or has none.
    #[error("the object is of {found}, the CustomResourceDefinition is of {wanted}")]
    OtherKind {
        /// `apiVersion` and `kind` of the object.
        found: String,
        /// Group and kind of the definition.
        wanted: String,
    },
    /// The definition does not serve the object's version.
    #[error("the version {found} is not served; there are: {}", served.join(", "))]
    NotServed {
        /// The version of the object's `apiVersion`.
        found: String,
        /// The versions that are served, in the definition's order.
        served: Vec<String>,
    },
}

impl Definition {
    /// Reads a definition as `kubectl get crd NAME -o json` prints it.
    ///
    /// # Errors
    ///
    /// If it is of another `apiVersion` or `kind`, or lacks what every definition has. Versions without a schema, which
    /// the API server does not accept, constrain nothing.
    pub fn read(definition: &Value) -> Result<Self, DefinitionError> {
        if definition["apiVersion"] != "apiextensions.k8s.io/v1" || definition["kind"] != "CustomResourceDefinition" {
            return Err(DefinitionError::NotADefinition);
        }
        let spec = &definition["spec"];
        let text = |value: &Value, what| value.as_str().map(str::to_owned).ok_or(DefinitionError::Missing(what));
        let versions = spec["versions"].as_array().ok_or(DefinitionError::Missing("spec.versions"))?;
        let mut compiled = IndexMap::new();
        for version in versions.iter().filter(|version| version["served"] != false) {
            let name = text(&version["name"], "spec.versions[].name")?;
            compiled.insert(name, CompiledSchema::new(&version["schema"]["openAPIV3Schema"]));
        }
        Ok(Self {
            group: text(&spec["group"], "spec.group")?,
            kind: text(&spec["names"]["kind"], "spec.names.kind")?,
            versions: compiled,
        })
    }

    /// The schema of a served version.
    #[must_use]
    pub fn version(&self, name: &str) -> Option<&CompiledSchema> {
        self.versions.get(name)
    }

    /// Validates an object with the schema of its version, as [`CompiledSchema::validate`] does.
    ///
    /// ```
    /// use crd_validator::Definition;
    /// use serde_json::json;
    ///
    /// let definition = Definition::read(&json!({
    ///     "apiVersion": "apiextensions.k8s.io/v1",
    ///     "kind": "CustomResourceDefinition",
    ///     "metadata": {"name": "shops.example.com"},
    ///     "spec": {
    ///         "group": "example.com",
    ///         "names": {"kind": "Shop", "plural": "shops"},
    ///         "scope": "Namespaced",
    ///         "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
    ///             "type": "object",
    ///             "properties": {"spec": {"type": "object", "properties": {"open": {"type": "boolean"}}}},
    ///         }}}],
    ///     },
    /// }))?;
    /// let object = json!({
    ///     "apiVersion": "example.com/v1", "kind": "Shop", "metadata": {"name": "corner"}, "spec": {"open": "late"},
    /// });
    /// let verdict = definition.validate(&object, None)?;
    /// assert_eq!(verdict.faults[0].message, "expected true or false, found a string");
    /// # Ok::<(), crd_validator::DefinitionError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the object is of another group or kind, or of a version that is not served.
    pub fn validate(&self, object: &Value, old: Option<&Value>) -> Result<Verdict, DefinitionError> {
        let text = |key: &str| object.get(key).and_then(Value::as_str).unwrap_or_default();
        let (group, version) = text("apiVersion").rsplit_once('/').unwrap_or(("", text("apiVersion")));
        if group != self.group || text("kind") != self.kind {
            let found = format!("{} {}", text("apiVersion"), text("kind"));
            return Err(DefinitionError::OtherKind { found, wanted: format!("{} {}", self.group, self.kind) });
        }
        match self.version(version) {
            Some(schema) => Ok(schema.validate(object, old)),
            None => Err(DefinitionError::NotServed {
                found: version.to_owned(),
                served: self.versions.keys().cloned().collect(),
            }),
        }
    }
}
