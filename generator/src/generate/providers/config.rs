//! The `config` of one provider.

use crate::api::v1alpha2::{Provider, SecretKeyRef};
use crate::catalog::{ConfigKey, Endpoint, KeyKind, ProviderType};
use crate::generate::draft::Draft;
use crate::generate::error::GenerateError;
use crate::generate::origin::Origin;
use crate::generate::secrets::{EnvSource, EnvVar, reference, variable_name};
use crate::generate::storage;
use crate::generate::tracked::{Map, Tracked};
use crate::generate::warning::Warning;
use crate::path::Path;

/// Key for the address where no catalog knows the type.
const FALLBACK_ENDPOINT: &str = "url";
/// Key for the API key where no catalog knows the type.
const FALLBACK_API_KEY: &str = "api_key";

/// Builds the `config` mapping: the address, the secrets, the settings, and what the type cannot start without.
///
/// # Errors
/// The type takes no address or no key, the address has the wrong form, or a setting is missing for which there is
/// no sensible default.
pub(super) fn build(
    draft: &mut Draft<'_>,
    api: &str,
    provider_type: &str,
    provider: &Provider,
    path: &Path,
) -> Result<Tracked, GenerateError> {
    let known = draft.catalog.and_then(|catalog| catalog.provider(api, provider_type));
    let id = provider.effective_id();
    let mut config = Map::new();
    if let Some(endpoint) = &provider.endpoint {
        let origin = Origin::Resource(path.key("endpoint"));
        for (key, value) in address(known, provider_type, endpoint, path)? {
            config.insert(key, Tracked::from_json(&value, path, &|_| origin.clone()));
        }
    }
    if let Some(secret) = &provider.api_key {
        let at = path.key("apiKey");
        let key = match known {
            None => FALLBACK_API_KEY.to_owned(),
            Some(known) => known.api_key.clone().ok_or_else(|| GenerateError::NoApiKey {
                path: at.clone(),
                provider_type: provider_type.to_owned(),
                hint: known.api_key_hint.clone(),
            })?,
        };
        config.insert(key, secret_value(draft, id, "API_KEY", secret, at));
    }
    for (key, secret) in provider.secret_refs.iter().flatten() {
        let at = path.key("secretRefs").key(key);
        if config.contains_key(key) {
            draft.warnings.push(Warning::Overridden { path: at, key: key.clone(), by: "apiKey".to_owned() });
            continue;
        }
        let value = secret_value(draft, id, key, secret, at);
        config.insert(key.clone(), value);
    }
    for (key, value) in provider.settings.iter().flatten() {
        let at = path.key("settings").key(key);
        if let Some(winner) = config.get(key) {
            let by = winning_field(&winner.origin, path);
            draft.warnings.push(Warning::Overridden { path: at, key: key.clone(), by });
            continue;
        }
        config.insert(key.clone(), Tracked::from_json(value, &at, &|inner| Origin::Resource(inner.clone())));
    }
    if let Some(known) = known {
        complete(draft, api, known, provider, path, &mut config)?;
    }
    let mut tracked = Tracked::map(Origin::Resource(path.clone()));
    *tracked.map_mut(&Origin::Resource(path.clone())) = config;
    Ok(tracked)
}

/// The keys and values that an address becomes.
fn address(
    known: Option<&ProviderType>,
    provider_type: &str,
    endpoint: &str,
    path: &Path,
) -> Result<Vec<(String, serde_json::Value)>, GenerateError> {
    let at = path.key("endpoint");
    let fallback = Endpoint::Key(FALLBACK_ENDPOINT.to_owned());
    let target = match known {
        None => &fallback,
        Some(known) => known.endpoint.as_ref().ok_or_else(|| GenerateError::NoEndpoint {
            path: at.clone(),
            provider_type: provider_type.to_owned(),
            hint: known.endpoint_hint.clone(),
        })?,
    };
    let assigned = target.assign(endpoint).map_err(|error| GenerateError::Endpoint { path: at, error })?;
    Ok(assigned.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

/// A value that the server reads from its environment.
fn secret_value(draft: &mut Draft<'_>, id: &str, field: &str, secret: &SecretKeyRef, at: Path) -> Tracked {
    let name = variable_name(id, field);
    let value = Tracked::text(Origin::Resource(at.clone()), reference(&name));
    draft.env.push(EnvVar { name, source: EnvSource::Secret(secret.into()), origin: at });
    value
}

/// The provider's field that gave a value its origin.
fn winning_field(origin: &Origin, provider: &Path) -> String {
    let Origin::Resource(path) = origin else { return "another field".to_owned() };
    let below = path.segments().iter().skip(provider.segments().len()).cloned().collect::<Path>();
    below.to_string()
}

/// Adds what the type needs to start and nobody gave: places in the state backends, files below the data folder, and
/// nulls that must be written.
fn complete(
    draft: &mut Draft<'_>,
    api: &str,
    known: &ProviderType,
    provider: &Provider,
    path: &Path,
    config: &mut Map,
) -> Result<(), GenerateError> {
    for (name, key) in known.config.iter().filter(|(_, key)| key.required) {
        if config.contains_key(name) {
            continue;
        }
        let value = match &key.kind {
            KeyKind::Object(keys) if is_store(key) => {
                let place = format!("{api}::{}", provider.effective_id());
                storage::reference(draft, keys, &place)
            }
            _ if key.nullable => Tracked::null(Origin::Default("this key must be written, null is its default")),
            KeyKind::String if matches!(name.as_str(), "db_path" | "path") => {
                let file = format!("{}/{}.db", draft.data_folder(), provider.effective_id());
                Tracked::text(Origin::Default("a file in the server's data folder"), file)
            }
            _ => return Err(missing(known, name, path)),
        };
        config.insert(name.clone(), value);
    }
    Ok(())
}

/// The error for a setting without which the server does not start. An address is asked for by its field.
fn missing(known: &ProviderType, name: &str, path: &Path) -> GenerateError {
    let asks_endpoint = known.endpoint.as_ref().is_some_and(|endpoint| endpoint.keys().contains(&name));
    let path = if asks_endpoint { path.key("endpoint") } else { path.key("settings").key(name) };
    GenerateError::MissingSetting { path, provider_type: known.provider_type.clone(), key: name.to_owned() }
}

/// Whether a key names a place in one of the state backends.
fn is_store(key: &ConfigKey) -> bool {
    matches!(&key.kind, KeyKind::Object(keys) if keys.contains_key("backend"))
}
