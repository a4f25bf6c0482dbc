//! Providers that come as images: installed by init containers, merged into the configuration inside the pod.
//!
//! `docs/external-providers.md` describes the whole; this is the one place that knows its paths.

pub mod merge;
mod package;
pub mod status;

use llsd_generator::api::v1alpha2::LlamaStackDistributionSpec;
use llsd_generator::names::is_label;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

/// The folder that all containers of the pod share.
pub const ROOT: &str = "/opt/llama-stack/external-providers";
/// Below the shared folder: what a provider's image says about it, in a folder per provider.
pub const METADATA: &str = "metadata";
/// Below the shared folder: the provider's Python packages, in a folder per provider.
pub const PYTHON: &str = "python";
/// Below the shared folder: the configuration that the image of the server brings.
pub const BASE: &str = "base/config.yaml";
/// Below the shared folder: the configuration that the server reads.
pub const CONFIG: &str = "config/config.yaml";
/// Below the shared folder: the providers in a file of their own, for people to look at.
pub const EXTRA: &str = "config/extra-providers.yaml";
/// The provider's description in its image.
pub const PACKAGE_FILE: &str = "lls-provider-spec.yaml";
/// The variable with the list of [`Wanted`] providers, as JSON.
pub const WANTED_VARIABLE: &str = "LLSD_EXTERNAL_PROVIDERS";

/// Name of the container that takes the configuration out of the server's image.
pub const EXTRACT_CONTAINER: &str = "extract-distribution-config";
/// Name of the container that merges.
pub const MERGE_CONTAINER: &str = "merge-config";

/// Exit codes of the merge: `1` and those of the system aside, the provider that is at fault, by its place in the list.
const PROVIDER_CODES: std::ops::RangeInclusive<u8> = 10..=99;

/// The exit code of a merge that fails because of provider number `number`.
fn exit_code(number: usize) -> u8 {
    let code = u8::try_from(number).ok().and_then(|number| PROVIDER_CODES.start().checked_add(number));
    code.filter(|code| PROVIDER_CODES.contains(code)).unwrap_or(1)
}

/// The number of the provider that a merge failed of; `None` where it is nobody's fault alone.
fn provider_at_fault(exit_code: i32) -> Option<usize> {
    let code = u8::try_from(exit_code).ok().filter(|code| PROVIDER_CODES.contains(code))?;
    Some(usize::from(code - PROVIDER_CODES.start()))
}

/// A provider that the resource asks for.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Wanted {
    /// The API in llama-stack's spelling.
    pub api: String,
    /// The id that the provider gets in the configuration.
    pub provider_id: String,
    /// The image that it comes from.
    pub image: String,
    /// The settings of the provider, as the resource gives them.
    #[serde(default)]
    pub config: Map<String, Value>,
}

impl Wanted {
    /// Name of the folders with what the provider's image brought.
    #[must_use]
    pub fn folder(&self) -> String {
        slug(&self.provider_id, 63)
    }

    /// Name of the init container that installs the provider.
    #[must_use]
    pub fn container(&self) -> String {
        const PREFIX: &str = "install-provider-";
        format!("{PREFIX}{}", slug(&self.provider_id, 63 - PREFIX.len()))
    }
}

/// The external providers of a resource, in the order of the resource's fields.
#[must_use]
pub fn wanted(spec: &LlamaStackDistributionSpec) -> Vec<Wanted> {
    let lists = spec.external_providers.iter().flat_map(|external| external.iter());
    lists
        .flat_map(|(api, _, list)| list.iter().map(move |provider| (api, provider)))
        .map(|(api, provider)| Wanted {
            api: api.to_owned(),
            provider_id: provider.provider_id.clone(),
            image: provider.image.clone(),
            config: provider.config.clone().unwrap_or_default(),
        })
        .collect()
}

/// The list of providers as the merge reads it from [`WANTED_VARIABLE`].
#[must_use]
pub fn listed(wanted: &[Wanted]) -> String {
    serde_json::to_string(wanted).unwrap_or_default()
}

/// The id as a DNS label of at most `room` characters: itself, where it is one, else something like it with a few
/// letters of its hash, so that two ids never share a name.
fn slug(id: &str, room: usize) -> String {
    let allowed = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
    if is_label(id) && id.len() <= room {
        return id.to_owned();
    }
    let hash: String = Sha256::digest(id.as_bytes()).iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    let like: String =
        id.to_ascii_lowercase().chars().map(|letter| if allowed(letter) { letter } else { '-' }).collect();
    let start: String = like.trim_start_matches('-').chars().take(room - hash.len() - 1).collect();
    let start = if start.is_empty() { "x" } else { &start };
    format!("{start}-{hash}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_labels_and_differ() {
        assert_eq!(slug("my-provider", 46), "my-provider");
        for id in ["My_Provider", "../../etc", "", "-", "ä", &"a".repeat(63), "a.b", "x-"] {
            let name = slug(id, 46);
            assert!(name.len() <= 46 && name != id, "{name}");
            assert!(name.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-'));
            assert!(!name.starts_with('-') && !name.ends_with('-'), "{name}");
        }
        assert_ne!(slug("a_b", 46), slug("a.b", 46));
    }
}
