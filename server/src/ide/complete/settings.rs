//! Keys and values of a provider's settings, from the catalog of the resource's llama-stack version.

use super::Context;
use super::offer::{Offer, escape};
use super::order::Around;
use crate::ide::types::CompletionKind;
use crate::ide::{block, knowledge};
use indexmap::IndexMap;
use llsd_generator::catalog::{ConfigKey, KeyKind, ProviderType};
use llsd_generator::path::Path;
use serde_json::Value;

/// The type of the provider at `provider`.
pub(crate) fn provider_type(context: &Context<'_>, api: &str, provider: &Path) -> Option<&'static ProviderType> {
    let written = provider.key("provider");
    let (catalog, _) = context.resource.catalog()?;
    knowledge::provider_type(catalog, api, written.find(&context.resource.value)?.as_str()?)
}

fn table<'c>(provider: &'c ProviderType, inside: &[String]) -> Option<&'c IndexMap<String, ConfigKey>> {
    inside.iter().try_fold(&provider.config, |keys, name| match &keys.get(name)?.kind {
        KeyKind::Object(below) => Some(below),
        _ => None,
    })
}

/// Keys of the settings, or of a mapping inside them.
pub(super) fn keys(
    context: &Context<'_>,
    api: &str,
    provider: &Path,
    inside: &[String],
    existing: &[String],
) -> Vec<Offer> {
    let Some(provider_type) = provider_type(context, api, provider) else { return Vec::new() };
    let Some(table) = table(provider_type, inside) else { return Vec::new() };
    // a secret belongs into secretRefs or apiKey, an address into endpoint, where they are offered first
    let elsewhere = |name: &str, key: &ConfigKey| key.secret || (inside.is_empty() && is_address(provider_type, name));
    let usual = |name: &str| inside.is_empty() && knowledge::is_usual_setting(api, &provider_type.provider_type, name);
    let mut found: Vec<_> = table.iter().filter(|(name, _)| !existing.contains(*name)).collect();
    found.sort_by_key(|(name, key)| (key.deprecated, elsewhere(name, key), !key.required, !usual(name)));
    let mut found: Vec<_> = found.into_iter().map(|(name, key)| offer(name, key)).collect();
    let above = inside.iter().fold(provider.key("settings"), |path, name| path.key(name));
    Around::of(context, &above).sort(&mut found, |_| false, |_| false);
    found
}

fn is_address(provider: &ProviderType, key: &str) -> bool {
    provider.endpoint.as_ref().is_some_and(|endpoint| endpoint.keys().contains(&key))
}

/// Settings that hold secrets, as keys of `secretRefs`.
pub(super) fn secrets(context: &Context<'_>, api: &str, provider: &Path, existing: &[String]) -> Vec<Offer> {
    let Some(provider_type) = provider_type(context, api, provider) else { return Vec::new() };
    provider_type
        .config
        .iter()
        .filter(|(name, key)| key.secret && !existing.iter().any(|there| there == *name))
        .map(|(name, key)| {
            let body =
                [format!("{}:", escape(name)), "  secretKeyRef:".into(), "    name: $1".into(), "    key: $2".into()];
            Offer::key(name, body.to_vec()).detail("from a Secret").documentation(key.description.clone())
        })
        .collect()
}

/// Offers for the value of a provider's setting: its choices, truth values, and ids that it may name.
pub(super) fn values(context: &Context<'_>, api: &str, provider: &Path, inside: &[String]) -> Vec<Offer> {
    let Some((name, above)) = inside.split_last() else { return Vec::new() };
    let Some(key) = provider_type(context, api, provider).and_then(|found| table(found, above)?.get(name)) else {
        return Vec::new();
    };
    let mut values = key.values.clone();
    if let KeyKind::Boolean = key.kind {
        values = vec![Value::Bool(true), Value::Bool(false)];
    }
    if let Some(default) =
        key.default.as_ref().filter(|default| default.is_boolean() || default.is_number() || default.is_string())
    {
        values.retain(|value| value != default);
        values.insert(0, default.clone());
    }
    values
        .iter()
        .map(|value| {
            let offer = match value {
                Value::String(text) => Offer::value(text, CompletionKind::Enum),
                other => {
                    let mut offer = Offer::value(other.to_string(), CompletionKind::Value);
                    offer.body = vec![escape(&block::inline(other))];
                    offer
                }
            };
            let is_default = key.default.as_ref() == Some(value);
            offer.detail(if is_default { "default" } else { "" }).documentation(key.description.clone())
        })
        .collect()
}

fn offer(name: &str, key: &ConfigKey) -> Offer {
    let written = escape(&llsd_yaml::edit::quote_scalar(name));
    let body = match (&key.kind, &key.default) {
        (KeyKind::Object(_), _) => vec![format!("{written}:"), "  $1".to_owned()],
        (KeyKind::Array, _) => vec![format!("{written}:"), "  - $1".to_owned()],
        (KeyKind::Boolean, Some(Value::Bool(default))) => vec![format!("{written}: ${{1:{}}}", !default)],
        (_, Some(default)) if !default.is_null() && !default.is_object() && !default.is_array() => {
            vec![format!("{written}: ${{1:{}}}", escape(&block::inline(default)))]
        }
        _ => vec![format!("{written}: $1")],
    };
    let mut detail = key.kind.name().to_owned();
    if key.required {
        detail.push_str(", required");
    }
    if key.deprecated {
        detail.push_str(", deprecated");
    }
    if let Some(default) = key.default.as_ref().filter(|default| !default.is_null()) {
        detail.push_str(&format!(", default {}", block::inline(default)));
    }
    Offer::key(name, body).detail(detail).documentation(key.description.clone())
}
