//! `OGXServer` (`ogx.io/v1beta1`): the resource of ogx-k8s-operator, which runs llama-stack's successor ogx.
//!
//! The kind is upstream's, and so is all that is data here: its CRD, the typed providers and what becomes of them. Source:
//! ogx-ai/ogx-k8s-operator at commit 1784464 (2026-08-21), its CRD installed and its operator run on a real API server.
//! What the ogx server itself takes is in the catalogs and config schemas of its versions, as for llama-stack.

mod base;
pub mod crd;
mod custom;
pub mod generate;
pub mod migrate;
pub mod providers;
pub(crate) mod references;
pub mod rules;
pub(crate) mod verdict;
pub(crate) mod versions;

use crate::api::ApiVersion;
use crate::api::crd::schema_at;
use crate::check::ReferenceKind;
use crate::path::{Path, Segment};

pub use base::of_image as embedded_base;
pub use rules::image::{distributions, image_of as image};
pub use versions::{all as versions_known, resolve as target_version};

pub use references::places as reference_places;

/// The label, with the value `true`, that every Secret and ConfigMap needs which a resource names: the operator's cache
/// holds no others.
pub const WATCH_LABEL: &str = "ogx.io/watch";

/// Places where users' files have a field, and where it belongs: those of `LlamaStackDistribution` that moved, and
/// fields without their section.
pub(crate) const MISPLACED: [(&str, &str); 18] = [
    ("server.distribution", "distribution"),
    ("image", "distribution.image"),
    ("replicas", "workload.replicas"),
    ("workers", "workload.workers"),
    ("env", "workload.overrides.env"),
    ("workload.env", "workload.overrides.env"),
    ("autoscaling", "workload.autoscaling"),
    ("podDisruptionBudget", "workload.podDisruptionBudget"),
    ("port", "network.port"),
    ("networking.port", "network.port"),
    ("externalAccess", "network.externalAccess"),
    ("networking.expose", "network.externalAccess"),
    ("policy", "network.policy"),
    ("caCertificates", "tls.trust.caCertificates"),
    ("models", "resources.models"),
    ("inference", "providers.inference"),
    ("disabled", "disabledAPIs"),
    ("server.workers", "workload.workers"),
];

/// What the value at `path` refers to, if it is the name or the key of a Secret or ConfigMap: the kind of object, and the
/// place of its name.
#[must_use]
pub fn reference_at(path: &Path) -> Option<(ReferenceKind, Path)> {
    let parent = path.parent()?;
    let is = |name: &str| path.last() == Some(&Segment::Key(name.to_owned()));
    if !is("name") && !is("key") {
        return None;
    }
    let schema = schema_at(ApiVersion::OgxV1Beta1, &parent)?;
    references::is_reference(schema).then(|| (references::kind_at(&parent), parent.key("name")))
}
