//! Offers for the keys of a mapping: the fields of its schema, or the settings of a provider.

use super::offer::Offer;
use super::order::{self, Around};
use super::{Context, settings, skeleton};
use crate::ide::meaning::{Meaning, meaning};
use crate::ide::schema::Field;
use llsd_generator::api::ApiVersion;
use llsd_generator::path::Path;

/// Keys that no user writes.
const NOT_WRITTEN: [&str; 1] = ["status"];

pub(super) fn offers(context: &Context<'_>, container: &Path, existing: &[String]) -> Vec<Offer> {
    match meaning(context.resource.version, &container.key("")) {
        Some(Meaning::Setting { api, provider, inside }) => {
            let above = &inside[..inside.len().saturating_sub(1)];
            return settings::keys(context, api, &provider, above, existing);
        }
        Some(Meaning::SecretSetting { api, provider }) => {
            return settings::secrets(context, api, &provider, existing);
        }
        _ => {}
    }
    let Some(mut schema) = context.schema.at(container) else { return Vec::new() };
    if schema.is_list() {
        if existing.is_empty() {
            return list_items(context, container);
        }
        // the object that older drafts have in place of the list
        let Some(item) = schema.items() else { return Vec::new() };
        schema = item;
    }
    let mut found: Vec<Offer> = schema
        .fields()
        .into_iter()
        .filter(|field| !existing.iter().any(|key| key == field.name))
        .filter(|field| !(container.segments().is_empty() && NOT_WRITTEN.contains(&field.name)))
        .map(|field| {
            offer(context.resource.version, container, field, order::instead_of(container, field.name, existing))
        })
        .collect();
    if found.is_empty() && schema.values().is_some() {
        found = quantities(container, existing);
    }
    let settled = |name: &str| order::instead_of(container, name, existing).is_some();
    Around::of(context, container).sort(&mut found, settled, |name| schema.requires(name));
    found
}

/// A key with type, default and meaning.
fn offer(version: ApiVersion, container: &Path, field: Field<'_>, instead: Option<&str>) -> Offer {
    let body = body(version, container, field);
    let mut detail = field.schema.type_name();
    if field.required {
        detail.push_str(", required");
    }
    if let Some(other) = instead {
        detail.push_str(&format!(", in place of {other}"));
    }
    if let Some(default) = field.schema.default_value() {
        detail.push_str(&format!(", default {}", crate::ide::block::inline(default)));
    }
    Offer::key(field.name, body).detail(detail).documentation(field.schema.description())
}

/// Most skeletons follow from the schema; these say more than it can.
fn body(version: ApiVersion, container: &Path, field: Field<'_>) -> Vec<String> {
    let newest = version.kind().versions().last().copied().unwrap_or(version);
    match (container.to_string().as_str(), field.name) {
        ("", "kind") => vec![format!("kind: {}", version.kind().name())],
        ("", "apiVersion") => vec![format!("apiVersion: {}", newest.api_version())],
        ("", "metadata") => vec!["metadata:".to_owned(), "  name: $1".to_owned()],
        _ => skeleton::entry(field.name, field.schema),
    }
}

/// In place of keys, the first item of a list that is still empty.
fn list_items(context: &Context<'_>, list: &Path) -> Vec<Offer> {
    if !context.starts_line {
        return Vec::new();
    }
    super::item(context, list.index(0)).into_iter().map(Offer::behind_dash).collect()
}

/// The resources that a container may ask for.
fn quantities(container: &Path, existing: &[String]) -> Vec<Offer> {
    let text = container.to_string();
    if !(text.ends_with("resources.requests") || text.ends_with("resources.limits")) {
        return Vec::new();
    }
    [
        ("cpu", "Processors: `2`, or `500m` for half of one."),
        ("memory", "Bytes with a unit: `512Mi`, `8Gi`."),
        ("nvidia.com/gpu", "Whole graphics processors; limits only."),
    ]
    .into_iter()
    .filter(|(name, _)| !existing.iter().any(|key| key == name))
    .map(|(name, words)| Offer::key(name, vec![format!("{name}: $1")]).detail("quantity").documentation(words))
    .collect()
}
