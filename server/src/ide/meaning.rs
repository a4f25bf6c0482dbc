//! What the value at a path of a resource stands for, beyond its type.

use llsd_generator::api::ApiVersion;
use llsd_generator::api::v1alpha2::provider_field;
use llsd_generator::path::{Path, Segment};
use llsd_generator::references::{ReferenceKind, key_at, named_at};

/// Which names belong at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// The name of a distribution.
    Distribution,
    /// A provider type of an API (llama-stack's spelling).
    ProviderType(&'static str),
    /// The id of a provider of models.
    ModelProvider,
    /// The name of a model.
    Model,
    /// The name of a tool group.
    ToolGroup,
    /// The id of a shield.
    Shield,
    /// The name of an API.
    Api,
    /// Something inside the settings of the provider at `provider`; `inside` is the way there from `settings`.
    Setting { api: &'static str, provider: Path, inside: Vec<String> },
    /// A key of `secretRefs`: a setting that is a secret.
    SecretSetting { api: &'static str, provider: Path },
    /// The name of a Secret.
    Secret,
    /// A key of the Secret whose name stands at `name`.
    SecretKey { name: Path },
    /// The name of a ConfigMap.
    ConfigMap,
    /// A key of the ConfigMap whose name stands at `name`.
    ConfigMapKey { name: Path },
    /// The name of an environment variable of the server.
    Variable,
}

/// The provider at or above `path`: its API and its own path. Also where an older draft wrote an object for the list.
pub(crate) fn provider_at(path: &Path) -> Option<(&'static str, Path)> {
    let steps = path.segments();
    let [Segment::Key(spec), Segment::Key(providers), Segment::Key(field), rest @ ..] = steps else { return None };
    if spec != "spec" || providers != "providers" {
        return None;
    }
    let (api, _) = provider_field(field)?;
    let length = if matches!(rest.first(), Some(Segment::Index(_))) { 4 } else { 3 };
    Some((api, steps[..length].iter().cloned().collect()))
}

/// What the value at `path` stands for. For a key being written, `path` ends with that key.
pub(crate) fn meaning(version: ApiVersion, path: &Path) -> Option<Meaning> {
    reference(path).or_else(|| match version {
        ApiVersion::V1Alpha1 => match shape(path).as_str() {
            "spec.server.distribution.name" => Some(Meaning::Distribution),
            "spec.server.containerSpec.env[].name" => Some(Meaning::Variable),
            _ => None,
        },
        ApiVersion::V1Alpha2 => provider_meaning(path).or_else(|| match shape(path).as_str() {
            "spec.distribution.name" => Some(Meaning::Distribution),
            "spec.resources.models[].provider" => Some(Meaning::ModelProvider),
            "spec.resources.models[].name" => Some(Meaning::Model),
            "spec.resources.tools[]" => Some(Meaning::ToolGroup),
            "spec.resources.shields[]" => Some(Meaning::Shield),
            "spec.disabled[]" => Some(Meaning::Api),
            "spec.workload.overrides.env[].name" => Some(Meaning::Variable),
            _ => None,
        }),
        ApiVersion::OgxV1Beta1 => ogx(path),
    })
}

fn provider_meaning(path: &Path) -> Option<Meaning> {
    let (api, provider) = provider_at(path)?;
    match &path.segments()[provider.segments().len()..] {
        [Segment::Key(field)] if field == "provider" => Some(Meaning::ProviderType(api)),
        [Segment::Key(field), inside @ ..] if field == "settings" => {
            let inside = inside
                .iter()
                .filter_map(|step| match step {
                    Segment::Key(name) => Some(name.clone()),
                    Segment::Index(_) => None,
                })
                .collect();
            Some(Meaning::Setting { api, provider, inside })
        }
        [Segment::Key(field), _] if field == "secretRefs" => Some(Meaning::SecretSetting { api, provider }),
        _ => None,
    }
}

/// What the value at `path` of an `OGXServer` stands for.
fn ogx(path: &Path) -> Option<Meaning> {
    if let Some((kind, name)) = llsd_generator::ogx::reference_at(path) {
        let is_name = path.last() == Some(&Segment::Key("name".to_owned()));
        return Some(match (kind, is_name) {
            (ReferenceKind::Secret, true) => Meaning::Secret,
            (ReferenceKind::Secret, false) => Meaning::SecretKey { name },
            (ReferenceKind::ConfigMap, true) => Meaning::ConfigMap,
            (ReferenceKind::ConfigMap, false) => Meaning::ConfigMapKey { name },
        });
    }
    match shape(path).as_str() {
        "spec.resources.models[].provider" => Some(Meaning::ModelProvider),
        "spec.resources.models[].name" => Some(Meaning::Model),
        "spec.workload.overrides.env[].name" => Some(Meaning::Variable),
        _ => None,
    }
}

/// References to Secrets and ConfigMaps, wherever they stand.
fn reference(path: &Path) -> Option<Meaning> {
    if let Some(kind) = named_at(path) {
        return Some(match kind {
            ReferenceKind::Secret => Meaning::Secret,
            ReferenceKind::ConfigMap => Meaning::ConfigMap,
        });
    }
    let (kind, name) = key_at(path)?;
    Some(match kind {
        ReferenceKind::Secret => Meaning::SecretKey { name },
        ReferenceKind::ConfigMap => Meaning::ConfigMapKey { name },
    })
}

/// The path without list positions: `spec.resources.models[].name`.
pub(crate) fn shape(path: &Path) -> String {
    let mut text = String::new();
    for step in path.segments() {
        match step {
            Segment::Key(name) => {
                if !text.is_empty() {
                    text.push('.');
                }
                text.push_str(name);
            }
            Segment::Index(_) => text.push_str("[]"),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(path: &str) -> Option<Meaning> {
        meaning(ApiVersion::V1Alpha2, &Path::parse(path))
    }

    #[test]
    fn knows_providers() {
        assert_eq!(of("spec.providers.vectorIo[1].provider"), Some(Meaning::ProviderType("vector_io")));
        assert_eq!(of("spec.providers.inference.provider"), Some(Meaning::ProviderType("inference")));
        assert_eq!(
            of("spec.providers.inference[0].settings.network.tls"),
            Some(Meaning::Setting {
                api: "inference",
                provider: Path::parse("spec.providers.inference[0]"),
                inside: vec!["network".to_owned(), "tls".to_owned()],
            })
        );
    }

    #[test]
    fn knows_references() {
        assert_eq!(of("spec.storage.kv.password.secretKeyRef.name"), Some(Meaning::Secret));
        assert_eq!(
            of("spec.networking.tls.caBundle.configMapKeys[0]"),
            Some(Meaning::ConfigMapKey { name: Path::parse("spec.networking.tls.caBundle.configMapName") })
        );
    }
}
