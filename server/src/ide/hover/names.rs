//! What a name stands for: a provider type, a setting, a distribution.

use crate::ide::meaning::{Meaning, meaning, provider_at};
use crate::ide::resource::Resource;
use crate::ide::{block, knowledge};
use llsd_generator::api::v1alpha2::{api_name, implied_id};
use llsd_generator::catalog::{Catalog, ConfigKey, KeyKind, ProviderType};
use llsd_generator::distribution::Distributions;
use llsd_generator::path::Path;
use serde_json::Value;

/// Settings listed at most in the hover of a provider.
const SETTINGS: usize = 20;

pub(super) fn about(resource: &Resource, path: &Path, is_key: bool) -> Option<String> {
    let text = path.find(&resource.value).and_then(Value::as_str);
    match meaning(resource.version, path)? {
        Meaning::ProviderType(api) => provider(resource, api, text?),
        Meaning::Distribution => {
            let found = Distributions::embedded().get(text?).ok()?;
            Some(format!("Image `{}`, llama-stack {}", found.image, found.llama_stack_version))
        }
        Meaning::Setting { inside, .. } => setting(resource, path, &inside),
        Meaning::SecretSetting { .. } if is_key => {
            let name = match path.last()? {
                llsd_generator::path::Segment::Key(name) => name.clone(),
                llsd_generator::path::Segment::Index(_) => return None,
            };
            setting(resource, path, &[name])
        }
        Meaning::Api => disabled(resource, text?),
        Meaning::ModelProvider => provider_of_id(resource, text?),
        Meaning::Variable => {
            let base = resource.declared_by_base()?;
            Some(match base.variables.get(text?)? {
                Some(default) => format!("Read by the config of the distribution, default `{default}`"),
                None => "Read by the config of the distribution".to_owned(),
            })
        }
        _ => None,
    }
}

fn provider(resource: &Resource, api: &str, written: &str) -> Option<String> {
    let (catalog, exact) = resource.catalog()?;
    let found = knowledge::provider_type(catalog, api, written)?;
    let mut text = format!("`{}` for {api}, llama-stack {}", found.provider_type, catalog.version());
    if !exact {
        text.push_str(" (the version of this image is not known)");
    }
    text.push_str(&format!("\n\n{}", found.summary));
    if let Some(instead) = &found.deprecated {
        text.push_str(&format!("\n\nDeprecated: {instead}"));
    }
    if !found.requires.is_empty() {
        text.push_str(&format!("\n\nNeeds {}", found.requires.join(", ")));
    }
    if !found.optional.is_empty() {
        text.push_str(&format!("\n\nUses {} where it is served", found.optional.join(", ")));
    }
    text.push_str(&versions(api, &found.provider_type));
    if let Some(key) = &found.api_key {
        text.push_str(&format!("\n\n`apiKey` goes to `{key}`"));
    }
    text.push_str(&settings(found));
    Some(text)
}

/// Which of the known versions have a provider type; empty if all have.
fn versions(api: &str, provider_type: &str) -> String {
    let (all, with) = (Catalog::versions(), Catalog::versions_with(api, provider_type));
    if with.len() == all.len() { String::new() } else { format!("\n\nOnly in llama-stack {}", with.join(", ")) }
}

/// What switching an API off takes away.
fn disabled(resource: &Resource, written: &str) -> Option<String> {
    let api = api_name(written);
    let base = resource.declared_by_base()?;
    let ids: Vec<_> =
        base.providers.iter().filter(|(known, ..)| *known == api).map(|(_, id, _)| format!("`{id}`")).collect();
    Some(match ids.as_slice() {
        [] => format!("The config of the distribution has no provider of {api}"),
        ids => format!("Leaves out {api}, with the distribution's providers {}", ids.join(", ")),
    })
}

fn settings(provider: &ProviderType) -> String {
    let mut text = String::new();
    for (name, key) in provider.config.iter().take(SETTINGS) {
        text.push_str(&format!("\n- `{name}` {}", key_type(key)));
    }
    if text.is_empty() { text } else { format!("\n\nSettings:{text}") }
}

fn key_type(key: &ConfigKey) -> String {
    let mut text = key.kind.name().to_owned();
    if key.secret {
        text.push_str(", secret");
    }
    if key.required {
        text.push_str(", required");
    }
    if key.deprecated {
        text.push_str(", deprecated");
    }
    if let Some(default) = key.default.as_ref().filter(|default| !default.is_null()) {
        text.push_str(&format!(", default `{}`", block::inline(default)));
    }
    text
}

fn setting(resource: &Resource, path: &Path, inside: &[String]) -> Option<String> {
    let (api, provider) = provider_at(path)?;
    let (catalog, _) = resource.catalog()?;
    let written = provider.key("provider");
    let found = knowledge::provider_type(catalog, api, written.find(&resource.value)?.as_str()?)?;
    let (name, above) = inside.split_last()?;
    let table = above.iter().try_fold(&found.config, |keys, name| match &keys.get(name)?.kind {
        KeyKind::Object(below) => Some(below),
        _ => None,
    })?;
    let key = table.get(name)?;
    let mut text = format!("**{name}** · {}, of `{}`\n\n{}", key_type(key), found.provider_type, key.description);
    if !key.values.is_empty() {
        let list: Vec<_> = key.values.iter().map(|value| format!("`{}`", block::inline(value))).collect();
        text.push_str(&format!("\n\nOne of {}.", list.join(", ")));
    }
    Some(text)
}

fn provider_of_id(resource: &Resource, id: &str) -> Option<String> {
    let list = Path::parse("spec.providers.inference");
    let own = list.find(&resource.value).and_then(Value::as_array).into_iter().flatten().find_map(|provider| {
        let written = provider.get("provider")?.as_str()?;
        let effective = provider.get("id").and_then(Value::as_str).unwrap_or_else(|| implied_id(written));
        (effective == id).then_some(written)
    });
    if let Some(written) = own {
        return provider(resource, "inference", written);
    }
    let base = resource.declared_by_base()?;
    let (.., provider_type) = base.providers.iter().find(|(api, known, _)| api == "inference" && known == id)?;
    Some(format!("`{provider_type}`, from the config of the distribution"))
}
