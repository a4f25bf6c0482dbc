//! The ConfigMap of a generated configuration, and the Secrets that it reads.

use super::metadata::{labels, named};
use super::{COMPONENT, Child, Config, Derived, Desired, INSTANCE, Kind, Owner};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use llsd_generator::api::CONFIG_KEY;
use serde_json::{Map, Value, json};

/// The label value that generated configurations are found by.
pub const GENERATED: &str = "generated-config";
/// The label by which ogx-k8s-operator tells generated configurations from other ConfigMaps.
pub const GENERATED_LABEL: &str = "ogx.io/generated-config";
/// The label value that derived Secrets are found by.
pub const DERIVED: &str = "derived-secret";

/// The name of the ConfigMap for a generated configuration with this hash.
#[must_use]
pub fn name(owner: &Owner, hash: &str) -> String {
    format!("{}-{}", Kind::GeneratedConfig.name(&owner.name), hash.get(..owner.served.digits).unwrap_or(hash))
}

/// The user's ConfigMap or the generated one; `None` where the image brings the configuration.
pub(super) fn mounted(desired: &Desired<'_>) -> Option<String> {
    match desired.config {
        Config::Image => None,
        Config::Override { config_map, .. } => Some(config_map.to_owned()),
        Config::Generated { hash, .. } => Some(name(desired.owner, hash)),
    }
}

/// Immutable: a changed configuration is another ConfigMap, so that pods of an older revision keep theirs.
pub(super) fn build(desired: &Desired<'_>) -> Option<Child> {
    let Config::Generated { text, hash, .. } = desired.config else { return None };
    let mark = if desired.owner.served.is_ogx() { (GENERATED_LABEL, "true") } else { (COMPONENT, GENERATED) };
    let labels = labels(desired.owner, [(INSTANCE, &desired.owner.name), mark]);
    let parts = json!({"immutable": true, "data": {CONFIG_KEY: text}});
    Some(named(Kind::GeneratedConfig, name(desired.owner, hash), desired.owner, labels, parts))
}

pub(super) fn derived<'a>(desired: &Desired<'a>) -> impl Iterator<Item = Child> + use<'a> {
    let owner = desired.owner;
    desired.derived.iter().map(move |Derived { name, data }| {
        let labels = labels(owner, [(INSTANCE, &owner.name), (COMPONENT, DERIVED)]);
        let data: Map<String, Value> =
            data.iter().map(|(key, value)| ((*key).to_owned(), json!(STANDARD.encode(value)))).collect();
        named(Kind::DerivedSecret, name.clone(), owner, labels, json!({"type": "Opaque", "data": data}))
    })
}
