//! Annotations that restart the pods when something that they read has changed.
//!
//! The Go operator wrote `<resourceVersion>-<name>`. Such a value stays while it stands for the same content, because
//! any other would restart pods for nothing: the Deployment's own annotation of the same key notes which content that
//! is. A new value is made of the content itself, so that a label on a ConfigMap restarts nothing.

use super::super::live::{CA_BUNDLE, USER_CONFIG};
use super::super::{Config, Desired, Kind, config, content_digest};
use serde_json::{Map, Value, json};

pub(super) fn of_template(desired: &Desired<'_>) -> Map<String, Value> {
    let mut marks = Map::new();
    if let Some(mark) = user_config(desired) {
        marks.insert(USER_CONFIG.to_owned(), json!(mark));
    }
    if let Some(mark) = ca_bundle(desired) {
        marks.insert(CA_BUNDLE.to_owned(), json!(mark));
    }
    if let Some(digest) = desired.secrets_digest {
        marks.insert(desired.owner.served.secrets_mark.to_owned(), json!(digest));
    }
    marks
}

/// What the template's annotations stand for.
pub(super) fn of_deployment(desired: &Desired<'_>) -> Map<String, Value> {
    let mut own = Map::new();
    if let Config::Override { digest, .. } = desired.config {
        own.insert(USER_CONFIG.to_owned(), json!(digest));
    }
    if let Some(digest) = ca_digest(desired) {
        own.insert(CA_BUNDLE.to_owned(), json!(digest));
    }
    own
}

fn user_config(desired: &Desired<'_>) -> Option<String> {
    match desired.config {
        Config::Image => None,
        Config::Generated { hash, .. } => {
            Some(format!("{}-{}", hash.get(..16).unwrap_or(hash), config::name(desired.owner, hash)))
        }
        Config::Override { config_map, resource_version, digest } => {
            let as_found = format!("{resource_version}-{config_map}");
            let kept = desired.live.and_then(|live| {
                let value = live.user_config.as_ref()?;
                let same = match &live.user_config_digest {
                    Some(noted) => noted == digest && value.ends_with(&format!("-{config_map}")),
                    None => *value == as_found,
                };
                same.then(|| value.clone())
            });
            Some(kept.unwrap_or_else(|| format!("{digest}-{config_map}")))
        }
    }
}

fn ca_bundle(desired: &Desired<'_>) -> Option<String> {
    let bundle = desired.ca_bundle?;
    let digest = ca_digest(desired)?;
    if let Some(live) = desired.live.filter(|live| live.has_bundle) {
        let same = match &live.ca_bundle_digest {
            Some(noted) => *noted == digest,
            None => bundle.live.is_some_and(|live| super::super::ca_bundle::is_same(live, bundle.pem)),
        };
        // Also where there is none: the Go operator left it out for bundles that only Open Data Hub brought.
        if same {
            return live.ca_bundle.clone();
        }
    }
    Some(format!("{digest}-{}", Kind::CaBundle.name(&desired.owner.name)))
}

fn ca_digest(desired: &Desired<'_>) -> Option<String> {
    desired.ca_bundle.map(|bundle| content_digest([(super::super::ca_bundle::BUNDLE_KEY, bundle.pem.as_bytes())]))
}
