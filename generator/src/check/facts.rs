//! What a caller knows of the surroundings of a resource.

use super::part::Part;
use crate::api::{ApiVersion, Kind};
use crate::chart::Put;
use crate::config::mounting::Mount;
use crate::config::reading::Reading;
use crate::generate::Base;
use crate::references::ReferenceKind;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Namespace and name of an object; the namespace is empty where the object names none.
pub type ObjectKey = (String, String);

/// Knowledge that some rules need. `None` is "not known", and makes these rules say "not checked"; an empty map is
/// "there are none".
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// The Secrets, by namespace and name, each with its keys. Never a value.
    pub secrets: Option<BTreeMap<ObjectKey, BTreeSet<String>>>,
    /// The ConfigMaps, by namespace and name, each with its data.
    pub config_maps: Option<BTreeMap<ObjectKey, BTreeMap<String, String>>>,
    /// The keys of Secrets and ConfigMaps whose value the server reads as something else than a text, of all that are known.
    pub readings: BTreeMap<(ReferenceKind, ObjectKey), BTreeMap<String, Reading>>,
    /// Those that the resource names and that do not carry the label by which ogx's operator sees them.
    pub unwatched: BTreeSet<(ReferenceKind, ObjectKey)>,
    /// Those that the resource names and that a kustomization makes with a hash behind the name, each with its file.
    pub hashed: BTreeMap<(ReferenceKind, ObjectKey), String>,
    /// The namespace of a resource that names none.
    pub namespace: Option<String>,
    /// The llama-stack version of images that do not tell theirs.
    pub llama_stack_version: Option<String>,
    /// The image that runs in place of the one that the distribution's name stands for.
    pub image: Option<String>,
    /// The base configs that the caller was given.
    pub bases: Arc<GivenBases>,
    /// Whether the operator makes network policies.
    pub network_policies: Option<bool>,
    /// Other resources of the same file that are called like one that is judged: kind, namespace and name.
    pub resources: BTreeSet<(Kind, ObjectKey)>,
    /// Resources of other files that are applied together with those of the same namespace and name here.
    pub namesakes: BTreeMap<ObjectKey, Namesake>,
    /// For a config of the server in a file of its own: the ConfigMaps that kustomizations and charts make of it.
    pub made_into: Vec<ObjectKey>,
    /// For the values of a Helm chart: what its templates put whole into ConfigMaps of them.
    pub puts: Vec<Put>,
    /// For configs of the server: the resources that mount them.
    pub mounts: Vec<Arc<Mount>>,
    /// Set where the resource is a patch of a kustomization, and so no resource of its own.
    pub part: Option<Part>,
}

/// Base configs that somebody named: those of images are in their labels, which are not read here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GivenBases {
    /// For every resource, whatever it says itself.
    pub of_all: Option<Base>,
    /// By the name or image of a distribution, as resources have it.
    pub by_distribution: BTreeMap<String, Base>,
}

impl GivenBases {
    /// The one that a resource starts from. `None`: none was given for it.
    #[must_use]
    pub fn of(&self, version: ApiVersion, resource: &Value) -> Option<&Base> {
        if self.of_all.is_some() {
            return self.of_all.as_ref();
        }
        let spec = resource.get("spec")?;
        let distribution = match version {
            ApiVersion::V1Alpha1 => spec.get("server")?.get("distribution")?,
            ApiVersion::V1Alpha2 => spec.get("distribution")?,
            // it has a base config of its own
            ApiVersion::OgxV1Beta1 if spec.get("baseConfig").is_some_and(|named| !named.is_null()) => return None,
            ApiVersion::OgxV1Beta1 => spec.get("distribution")?,
        };
        let mut names = ["name", "image"].into_iter().filter_map(|field| distribution.get(field)?.as_str());
        names.find_map(|name| self.by_distribution.get(name))
    }
}

/// A resource of the same namespace and name in another file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Namesake {
    /// The file, as the caller names it.
    pub file: String,
    /// The file, as a person names it.
    pub shown: String,
    /// The kustomization that lists both files.
    pub kustomization: String,
}
