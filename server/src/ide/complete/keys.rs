//! Keys of a mapping.

use super::offer::Offer;
use super::{Context, settings, skeleton};
use crate::ide::meaning::{Meaning, meaning};
use crate::ide::schema::{Field, Schema};
use crate::ide::types::CompletionKind;
use llsd_generator::path::Path;

/// Keys of which an object takes only one.
const ALTERNATIVES: [(&str, [&str; 2]); 3] = [
    ("distribution", ["name", "image"]),
    ("podDisruptionBudget", ["minAvailable", "maxUnavailable"]),
    ("valueFrom", ["secretKeyRef", "configMapKeyRef"]),
];

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
    let Some(schema) = context.schema.at(container) else { return Vec::new() };
    if schema.is_list() {
        return list_item(schema).into_iter().collect();
    }
    let skipped = excluded(container, existing);
    let mut found: Vec<Offer> = schema
        .fields()
        .into_iter()
        .filter(|field| !existing.iter().any(|key| key == field.name) && !skipped.contains(&field.name))
        .filter(|field| !(container.segments().is_empty() && NOT_WRITTEN.contains(&field.name)))
        .map(|field| offer(container, field))
        .collect();
    if found.is_empty() && schema.values().is_some() {
        found = quantities(container, existing);
    }
    found
}

/// A key with type, default and meaning.
fn offer(container: &Path, field: Field<'_>) -> Offer {
    let body = body(container, field);
    let mut detail = field.schema.type_name();
    if field.required {
        detail.push_str(", required");
    }
    if let Some(default) = field.schema.default_value() {
        detail.push_str(&format!(", default {}", crate::ide::block::inline(default)));
    }
    Offer::key(field.name, body).detail(detail).documentation(field.schema.description())
}

/// Most skeletons follow from the schema; these say more than it can.
fn body(container: &Path, field: Field<'_>) -> Vec<String> {
    let lines = |text: &[&str]| text.iter().map(|line| (*line).to_owned()).collect();
    match (container.to_string().as_str(), field.name) {
        ("", "kind") => lines(&["kind: LlamaStackDistribution"]),
        ("", "apiVersion") => lines(&["apiVersion: llamastack.io/v1alpha2"]),
        ("", "metadata") => lines(&["metadata:", "  name: $1"]),
        _ => skeleton::entry(field.name, field.schema),
    }
}

/// In place of keys, the first item of a list that is still empty.
fn list_item(list: Schema<'_>) -> Option<Offer> {
    let body = skeleton::below(list);
    let label = body.first()?.split(['$', ':']).next()?.trim_end().to_owned();
    let mut offer = Offer::value(label, CompletionKind::Snippet).detail("list item");
    offer.body = body;
    Some(offer)
}

fn excluded(container: &Path, existing: &[String]) -> Vec<&'static str> {
    use llsd_generator::path::Segment;
    let Some(Segment::Key(name)) = container.last() else { return Vec::new() };
    ALTERNATIVES
        .iter()
        .filter(|(object, _)| object == name)
        .flat_map(|(_, alternatives)| alternatives)
        .filter(|_| {
            existing
                .iter()
                .any(|key| ALTERNATIVES.iter().any(|(object, keys)| object == name && keys.contains(&key.as_str())))
        })
        .copied()
        .collect()
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
