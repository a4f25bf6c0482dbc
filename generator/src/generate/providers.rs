//! Stage: the resource's providers over those of the base.

mod config;
mod kind;

pub use kind::{ProviderTypeError, resolve_type};

use super::draft::{Draft, plain_id, spec_path};
use super::error::GenerateError;
use super::origin::Origin;
use super::tracked::{Map, Tracked};
use super::warning::Warning;
use crate::api::v1alpha2::Provider;
use crate::path::Path;
use std::collections::BTreeMap;

/// Lays `spec.providers` over the config: the same id replaces in place, new ids append, the others stay. An API that
/// gets its first provider is added to `apis`.
///
/// # Errors
/// Unknown types, settings that the type cannot take or cannot miss, ids that occur twice.
pub(super) fn overlay(draft: &mut Draft<'_>) -> Result<(), GenerateError> {
    let Some(providers) = &draft.spec.providers else { return Ok(()) };
    let mut seen: BTreeMap<&str, Path> = BTreeMap::new();
    for (api, field, list) in providers.iter() {
        let at = spec_path().key("providers").key(field);
        serve(draft, api, &at);
        for (position, provider) in list.iter().enumerate() {
            let path = at.index(position);
            if let Some(first) = seen.insert(provider.effective_id(), path.clone()) {
                let id = provider.effective_id().to_owned();
                return Err(GenerateError::DuplicateProvider { id, first, second: path });
            }
            let entry = entry(draft, api, provider, &path)?;
            place(draft, api, &at, provider.effective_id(), entry);
        }
    }
    Ok(())
}

/// Adds an API to `apis`.
fn serve(draft: &mut Draft<'_>, api: &str, at: &Path) {
    let origin = Origin::Resource(at.clone());
    let served = draft.root().entry("apis".to_owned()).or_insert_with(|| Tracked::list(origin.clone()));
    let served = served.list_mut(&origin);
    if !served.iter().any(|name| name.as_text() == Some(api)) {
        served.push(Tracked::text(origin, api));
    }
}

/// One provider as llama-stack writes it.
fn entry(draft: &mut Draft<'_>, api: &str, provider: &Provider, path: &Path) -> Result<Tracked, GenerateError> {
    let type_path = path.key("provider");
    let provider_type = match resolve_type(draft.catalog, api, &provider.provider) {
        Ok(found) => found,
        Err(error) => return Err(GenerateError::ProviderType { path: type_path, error }),
    };
    if draft.catalog.is_none() {
        let provider_type = provider_type.clone();
        draft.warnings.push(Warning::Unchecked { path: type_path.clone(), provider_type });
    }
    let id_path = if provider.id.is_some() { path.key("id") } else { type_path.clone() };
    let mut entry = Map::new();
    entry.insert("provider_id".to_owned(), Tracked::text(Origin::Resource(id_path), provider.effective_id()));
    entry.insert("provider_type".to_owned(), Tracked::text(Origin::Resource(type_path), provider_type.clone()));
    entry.insert("config".to_owned(), config::build(draft, api, &provider_type, provider, path)?);
    let mut tracked = Tracked::map(Origin::Resource(path.clone()));
    *tracked.map_mut(&Origin::Resource(path.clone())) = entry;
    Ok(tracked)
}

/// Puts a provider where the base has one of its id, else behind the last.
fn place(draft: &mut Draft<'_>, api: &str, at: &Path, id: &str, entry: Tracked) {
    let origin = Origin::Resource(at.clone());
    let list = draft.config.child_map("providers", &origin).map_mut(&origin);
    let list = list.entry(api.to_owned()).or_insert_with(|| Tracked::list(origin.clone())).list_mut(&origin);
    let base = list.iter().position(|other| other.text_of("provider_id").map(plain_id) == Some(id));
    match base {
        Some(position) => list[position] = entry,
        None => list.push(entry),
    }
}

/// Number of providers in a config.
pub(super) fn count(config: &Tracked) -> usize {
    let apis = config.get("providers").and_then(Tracked::as_map);
    apis.map_or(0, |apis| apis.values().filter_map(Tracked::as_list).map(<[Tracked]>::len).sum())
}

/// The providers of an API in a config: the id as written (it may be conditional) and the entry.
pub(crate) fn of_api<'c>(config: &'c Tracked, api: &str) -> impl Iterator<Item = (&'c str, &'c Tracked)> {
    let list = config.get("providers").and_then(|providers| providers.get(api)).and_then(Tracked::as_list);
    list.unwrap_or_default().iter().filter_map(|entry| Some((entry.text_of("provider_id")?, entry)))
}
