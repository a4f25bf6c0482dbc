//! The resource's types in both versions, and the `CustomResourceDefinition` made from them.

mod core;
pub mod crd;
mod crd_rule;
pub mod status;
pub mod v1alpha1;
pub mod v1alpha2;

pub use crd_rule::CrdRule;

use std::fmt;

/// The API group of the resource.
pub const GROUP: &str = "llamastack.io";
/// The kind of the resource.
pub const KIND: &str = "LlamaStackDistribution";
/// The key of a ConfigMap that holds a config of the server: where it is generated to, and read first.
pub const CONFIG_KEY: &str = "config.yaml";
/// The key that older guides use in its place.
pub const OLD_CONFIG_KEY: &str = "run.yaml";
/// Both keys, the one that is read first in front.
pub const CONFIG_KEYS: [&str; 2] = [CONFIG_KEY, OLD_CONFIG_KEY];

/// A version of the resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ApiVersion {
    /// The version that the Go operator introduced; served unchanged.
    V1Alpha1,
    /// The storage version, and the hub of conversion.
    V1Alpha2,
}

impl ApiVersion {
    /// Both versions, oldest first; the last is the one that is stored.
    pub const ALL: [Self; 2] = [Self::V1Alpha1, Self::V1Alpha2];

    /// The version's name without the group: `v1alpha2`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::V1Alpha1 => "v1alpha1",
            Self::V1Alpha2 => "v1alpha2",
        }
    }

    /// The value of `apiVersion`: `llamastack.io/v1alpha2`.
    #[must_use]
    pub fn api_version(self) -> &'static str {
        match self {
            Self::V1Alpha1 => "llamastack.io/v1alpha1",
            Self::V1Alpha2 => "llamastack.io/v1alpha2",
        }
    }

    /// The version that an `apiVersion` names; `None` for other groups and unknown versions.
    #[must_use]
    pub fn parse(api_version: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|version| version.api_version() == api_version)
    }

    /// The version of an object of this kind; `None` where `apiVersion` or `kind` say something else.
    #[must_use]
    pub fn of(object: &serde_json::Value) -> Option<Self> {
        if object.get("kind")?.as_str()? != KIND {
            return None;
        }
        Self::parse(object.get("apiVersion")?.as_str()?)
    }
}

impl fmt::Display for ApiVersion {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}
