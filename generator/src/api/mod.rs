//! The kinds and their versions; the types of `LlamaStackDistribution`, and the `CustomResourceDefinition` made from them.

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
/// The name of its `CustomResourceDefinition`, which is also what `kubectl get` calls the resources.
pub const CRD_NAME: &str = "llamastackdistributions.llamastack.io";
/// The key of a ConfigMap that holds a config of the server: where it is generated to, and read first.
pub const CONFIG_KEY: &str = "config.yaml";
/// The key that older guides use in its place.
pub const OLD_CONFIG_KEY: &str = "run.yaml";
/// Both keys, the one that is read first in front.
pub const CONFIG_KEYS: [&str; 2] = [CONFIG_KEY, OLD_CONFIG_KEY];

/// A kind of resource that this program knows. Each has a group of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// `LlamaStackDistribution` of `llamastack.io`, which runs llama-stack.
    LlamaStackDistribution,
    /// `OGXServer` of `ogx.io`, which runs llama-stack's successor ogx.
    OgxServer,
}

impl Kind {
    /// Every kind, the one that was there first in front.
    pub const ALL: [Self; 2] = [Self::LlamaStackDistribution, Self::OgxServer];

    /// The `kind` that objects of this kind have in the API.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::LlamaStackDistribution => KIND,
            Self::OgxServer => "OGXServer",
        }
    }

    /// The part of `apiVersion` in front of the slash.
    #[must_use]
    pub fn group(self) -> &'static str {
        match self {
            Self::LlamaStackDistribution => GROUP,
            Self::OgxServer => "ogx.io",
        }
    }

    /// The served versions, oldest first.
    #[must_use]
    pub fn versions(self) -> &'static [ApiVersion] {
        match self {
            Self::LlamaStackDistribution => &ApiVersion::LLAMA_STACK,
            Self::OgxServer => &[ApiVersion::OgxV1Beta1],
        }
    }

    /// What a resource of the kind runs, as messages call it.
    #[must_use]
    pub fn server(self) -> &'static str {
        match self {
            Self::LlamaStackDistribution => "llama-stack",
            Self::OgxServer => "ogx",
        }
    }

    /// The kind that `kind` names, whatever its group.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The kind of a group.
    #[must_use]
    pub fn of_group(group: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.group() == group)
    }
}

/// A version of one of the kinds: the rules that apply to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ApiVersion {
    /// The version of `LlamaStackDistribution` that the Go operator introduced; served unchanged.
    V1Alpha1,
    /// The storage version of `LlamaStackDistribution`, and the hub of conversion.
    V1Alpha2,
    /// The only version of `OGXServer`.
    OgxV1Beta1,
}

impl ApiVersion {
    /// Every version of every kind, oldest first.
    pub const ALL: [Self; 3] = [Self::V1Alpha1, Self::V1Alpha2, Self::OgxV1Beta1];
    /// The versions of `LlamaStackDistribution`, which are converted into each other; oldest first.
    pub const LLAMA_STACK: [Self; 2] = [Self::V1Alpha1, Self::V1Alpha2];

    /// The kind that has the version.
    #[must_use]
    pub fn kind(self) -> Kind {
        match self {
            Self::V1Alpha1 | Self::V1Alpha2 => Kind::LlamaStackDistribution,
            Self::OgxV1Beta1 => Kind::OgxServer,
        }
    }

    /// The version's name without the group: `v1alpha2`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::V1Alpha1 => "v1alpha1",
            Self::V1Alpha2 => "v1alpha2",
            Self::OgxV1Beta1 => "v1beta1",
        }
    }

    /// The value of `apiVersion`: `llamastack.io/v1alpha2`.
    #[must_use]
    pub fn api_version(self) -> &'static str {
        match self {
            Self::V1Alpha1 => "llamastack.io/v1alpha1",
            Self::V1Alpha2 => "llamastack.io/v1alpha2",
            Self::OgxV1Beta1 => "ogx.io/v1beta1",
        }
    }

    /// The version that an `apiVersion` names; `None` for other groups and unknown versions.
    #[must_use]
    pub fn parse(api_version: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|version| version.api_version() == api_version)
    }

    /// The version of an object of one of the kinds; `None` where `apiVersion` or `kind` say something else.
    #[must_use]
    pub fn of(object: &serde_json::Value) -> Option<Self> {
        let kind = Kind::named(object.get("kind")?.as_str()?)?;
        Self::parse(object.get("apiVersion")?.as_str()?).filter(|version| version.kind() == kind)
    }
}

impl fmt::Display for ApiVersion {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}
