//! Stage: APIs that are switched off, and whether all that is left can start.

use super::draft::{Draft, plain_id, spec_path};
use super::error::GenerateError;
use super::providers::of_api;
use super::tracked::{Map, Tracked};
use crate::api::v1alpha2::{api_field, api_name};
use crate::catalog::Catalog;
use crate::path::Path;
use std::collections::BTreeMap;

/// The lists of registered resources, each with the API whose providers serve them. A list is a field of
/// `registered_resources`, before 0.4 of the config itself.
pub(super) const RESOURCE_LISTS: [(&str, &str); 9] = [
    ("models", "inference"),
    ("shields", "safety"),
    ("vector_stores", "vector_io"),
    ("vector_dbs", "vector_io"),
    ("tool_groups", "tool_runtime"),
    ("datasets", "datasetio"),
    ("scoring_fns", "scoring"),
    ("benchmarks", "eval"),
    ("connectors", "connectors"),
];

/// Removes the APIs of `spec.disabled`: from `apis`, their providers, all that is registered for them, and the
/// defaults that point there.
///
/// # Errors
/// An API has providers in the resource, or a provider that stays requires it; also when a provider of the resource
/// requires an API that the config does not serve at all.
pub(super) fn remove(draft: &mut Draft<'_>) -> Result<(), GenerateError> {
    let at = spec_path().key("disabled");
    let mut disabled: BTreeMap<String, Path> = BTreeMap::new();
    for (position, written) in draft.spec.disabled.iter().flatten().enumerate() {
        let api = api_name(written);
        conflict(draft, &api, written, &at.index(position))?;
        disabled.entry(api).or_insert_with(|| at.index(position));
    }
    if let Some(catalog) = draft.catalog {
        keeps_what_others_need(&draft.config, catalog, &disabled)?;
    }
    for api in disabled.keys() {
        let table = draft.catalog.and_then(|catalog| catalog.resource_api(api)).map(str::to_owned);
        let root = draft.root();
        if let Some(apis) = root.get_mut("apis").and_then(Tracked::as_list_mut) {
            apis.retain(|name| name.as_text().is_none_or(|name| name != api && Some(name) != table.as_deref()));
        }
        if let Some(providers) = root.get_mut("providers").and_then(Tracked::as_map_mut) {
            providers.shift_remove(api);
        }
        forget(root, api);
    }
    if let Some(catalog) = draft.catalog {
        has_what_new_ones_need(draft, catalog)?;
    }
    Ok(())
}

fn conflict(draft: &Draft<'_>, api: &str, written: &str, path: &Path) -> Result<(), GenerateError> {
    let lists = draft.spec.providers.as_ref();
    let given = lists.is_some_and(|lists| lists.iter().any(|(other, _, list)| other == api && !list.is_empty()));
    if !given {
        return Ok(());
    }
    Err(GenerateError::DisabledConflict {
        path: path.clone(),
        api: api.to_owned(),
        field: api_field(api),
        written: written.to_owned(),
    })
}

/// Whether `required`, an API or the table of one, is `api`.
fn is(catalog: &Catalog, required: &str, api: &str) -> bool {
    required == api || catalog.resource_api(api) == Some(required)
}

fn keeps_what_others_need(
    config: &Tracked,
    catalog: &Catalog,
    disabled: &BTreeMap<String, Path>,
) -> Result<(), GenerateError> {
    let apis = config.get("providers").and_then(Tracked::as_map);
    for api in apis.into_iter().flat_map(Map::keys).filter(|api| !disabled.contains_key(*api)) {
        for (id, entry) in of_api(config, api) {
            let known = entry.text_of("provider_type").and_then(|kind| catalog.provider(api, kind));
            for required in known.into_iter().flat_map(|known| &known.requires) {
                if let Some((gone, path)) = disabled.iter().find(|(gone, _)| is(catalog, required, gone)) {
                    return Err(GenerateError::DisabledRequired {
                        path: path.clone(),
                        api: gone.clone(),
                        id: plain_id(id).to_owned(),
                        dependent: api.clone(),
                    });
                }
            }
        }
    }
    Ok(())
}

/// Only providers of the resource are looked at: what the base lacks for its own is not the user's fault.
fn has_what_new_ones_need(draft: &Draft<'_>, catalog: &Catalog) -> Result<(), GenerateError> {
    let Some(providers) = &draft.spec.providers else { return Ok(()) };
    let served: Vec<&str> = draft
        .config
        .get("apis")
        .and_then(Tracked::as_list)
        .unwrap_or_default()
        .iter()
        .filter_map(Tracked::as_text)
        .collect();
    for (api, field, list) in providers.iter() {
        for (position, provider) in list.iter().enumerate() {
            let merged = of_api(&draft.config, api).find(|(id, _)| plain_id(id) == provider.effective_id());
            let kind = merged.and_then(|(_, entry)| entry.text_of("provider_type"));
            let requires = kind.and_then(|kind| catalog.provider(api, kind)).map(|known| known.requires.as_slice());
            for required in requires.unwrap_or_default() {
                let internal = catalog.internal_apis().any(|other| other == required);
                if !internal && !served.iter().any(|other| is(catalog, required, other)) {
                    return Err(GenerateError::MissingApi {
                        path: spec_path().key("providers").key(field).index(position).key("provider"),
                        id: provider.effective_id().to_owned(),
                        api: api.to_owned(),
                        required: required.clone(),
                    });
                }
            }
        }
    }
    Ok(())
}

/// Removes what is registered for an API and the defaults that name its providers.
fn forget(root: &mut Map, api: &str) {
    for (list, _) in RESOURCE_LISTS.iter().filter(|(_, owner)| *owner == api) {
        // `vector_stores` at the top is a group of defaults, a list only among the registered resources.
        if root.get(*list).is_some_and(|value| value.as_list().is_some()) {
            root.shift_remove(*list);
        }
        if let Some(registered) = root.get_mut("registered_resources").and_then(Tracked::as_map_mut) {
            registered.shift_remove(*list);
        }
    }
    match api {
        "vector_io" => {
            root.shift_remove("vector_stores");
        }
        "safety" => {
            root.shift_remove("safety");
        }
        "inference" => {
            if let Some(defaults) = root.get_mut("vector_stores").and_then(Tracked::as_map_mut) {
                defaults.shift_remove("default_embedding_model");
                defaults.shift_remove("rewrite_query_params");
            }
        }
        _ => {}
    }
}
