//! A resource that passed every check.

use crate::api::v1alpha2::LlamaStackDistributionSpec;
use serde_json::Value;

/// A v1alpha2 resource that passed every check. Only the verdict makes one, so what has not been checked cannot be
/// generated.
#[derive(Clone, Debug, PartialEq)]
pub struct Validated {
    name: String,
    namespace: Option<String>,
    spec: LlamaStackDistributionSpec,
}

impl Validated {
    /// Reads the typed model of `object`; `None` if it does not have its shape.
    pub(crate) fn read(mut object: Value) -> Option<Self> {
        let spec = object.get_mut("spec")?.take();
        let metadata = object.get("metadata")?;
        Some(Self {
            name: metadata.get("name")?.as_str()?.to_owned(),
            namespace: metadata.get("namespace").and_then(Value::as_str).map(str::to_owned),
            spec: serde_json::from_value(spec).ok()?,
        })
    }

    /// `metadata.name`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The resource's namespace, where it names one.
    #[must_use]
    pub fn namespace(&self) -> Option<&str> {
        self.namespace.as_deref()
    }

    /// What the resource asks for.
    #[must_use]
    pub fn spec(&self) -> &LlamaStackDistributionSpec {
        &self.spec
    }
}
