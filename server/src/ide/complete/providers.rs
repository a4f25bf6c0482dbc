//! Types and ids of providers.

use super::mention::Mentions;
use super::offer::Offer;
use super::{Context, popularity};
use crate::ide::knowledge;
use crate::ide::types::CompletionKind;
use llsd_generator::api::v1alpha2::{implied_id, provider_field};
use llsd_generator::path::{Path, Segment};
use serde_json::Value;
use std::collections::BTreeSet;

/// Behind so many likelier ones stands a type that the list has already: of the second and later providers of a list
/// one in fourteen has the type of one above it.
const BEHIND: usize = 4;

/// Types of an API by the shortest name that means them, for the provider whose type stands at `path`.
pub(super) fn types(context: &Context<'_>, api: &str, path: &Path) -> Vec<Offer> {
    let Some((catalog, exact)) = context.resource.catalog() else {
        return Vec::new();
    };
    let mut offers: Vec<_> = catalog
        .providers(api)
        .map(|found| {
            let bare = found.provider_type.split_once("::").map_or(found.provider_type.as_str(), |(_, name)| name);
            let short = knowledge::provider_type(catalog, api, bare).is_some_and(|other| std::ptr::eq(other, found));
            let label = if short { bare } else { &found.provider_type };
            let mut words = found.summary.clone();
            if let Some(instead) = &found.deprecated {
                words.push_str(&format!("\n\nDeprecated: {instead}."));
            }
            if !found.requires.is_empty() {
                words.push_str(&format!("\n\nNeeds: {}.", found.requires.join(", ")));
            }
            if !exact {
                words.push_str(&format!("\n\nAs of llama-stack {}.", catalog.version()));
            }
            let mut offer =
                Offer::value(label, CompletionKind::Provider).detail(found.provider_type.clone()).documentation(words);
            offer.long = Some(found.provider_type.clone()).filter(|long| *long != offer.label);
            (found.deprecated.is_some(), !found.is_remote() && api == "inference", offer)
        })
        .collect();
    offers.sort_by_key(|(deprecated, inline, _)| (*deprecated, *inline));
    popularity::sort_types(api, &mut offers, |(.., offer)| offer.label.as_str());
    let mut offers: Vec<_> = offers.into_iter().map(|(.., offer)| offer).collect();
    let mentions = Mentions::around(&context.resource.value, api, path);
    let used = used(context, path);
    let is_used = |offer: &Offer| used.contains(offer.label.as_str()) || used.contains(offer.detail.as_str());
    offers.sort_by_cached_key(|offer| mentions.rank(&offer.label, is_used(offer)));
    let named = offers.iter().filter(|offer| mentions.is_own(&offer.label)).count();
    let (again, mut first): (Vec<_>, Vec<_>) =
        offers.into_iter().enumerate().partition(|(place, offer)| *place >= named && is_used(offer));
    let behind = first.split_off(BEHIND.max(named).min(first.len()));
    first.into_iter().chain(again).chain(behind).map(|(_, offer)| offer).collect()
}

/// The types of the other providers of the list.
fn used<'a>(context: &Context<'a>, path: &Path) -> BTreeSet<&'a str> {
    let Some(item) = path.parent() else { return BTreeSet::new() };
    let list = item.parent().and_then(|list| list.find(&context.resource.value)?.as_array());
    let others = list.into_iter().flatten().enumerate();
    let others = others.filter(|(number, _)| item.last() != Some(&Segment::Index(*number)));
    others.filter_map(|(_, provider)| provider.get("provider")?.as_str()).collect()
}

/// Ids for the provider of the model whose field stands at `path`.
pub(super) fn ids_for_model(context: &Context<'_>, path: &Path) -> Vec<Offer> {
    let mut offers = ids(context, "inference");
    let model = path.parent().and_then(|model| model.find(&context.resource.value));
    let text = |field: &str| model.and_then(|model| model.get(field)?.as_str()).unwrap_or_default();
    let embeds = text("modelType") == "embedding" || text("name").to_lowercase().contains("embed");
    if embeds {
        // the one that every distribution has for this
        offers.sort_by_key(|offer| offer.label != "sentence-transformers");
    }
    offers
}

/// Ids of providers of `api`: of the resource, of its external providers, of the base config.
pub(super) fn ids(context: &Context<'_>, api: &str) -> Vec<Offer> {
    let object = &context.resource.value;
    let mut offers = Vec::new();
    let mut seen = BTreeSet::new();
    let mut add = |id: &str, detail: String| {
        if !id.is_empty() && seen.insert(id.to_owned()) {
            offers.push(Offer::value(id, CompletionKind::Reference).detail(detail));
        }
    };
    let field = provider_field(api).map_or(api, |(_, field)| field);
    let list = |section: &str| {
        Path::parse("spec").key(section).key(field).find(object).and_then(Value::as_array).into_iter().flatten()
    };
    for provider in list("providers") {
        let text = |name: &str| provider.get(name).and_then(Value::as_str);
        let implicit = text("provider").map(implied_id);
        if let Some(id) = text("id").or(implicit) {
            add(id, text("provider").unwrap_or_default().to_owned());
        }
    }
    for provider in list("externalProviders") {
        if let Some(id) = provider.get("providerId").and_then(Value::as_str) {
            add(id, "external provider".to_owned());
        }
    }
    if let Some(base) = context.resource.declared_by_base() {
        let mut of_base: Vec<_> = base.providers.iter().filter(|(of, ..)| of == api).collect();
        popularity::sort_types(api, &mut of_base, |(_, id, _)| id.as_str());
        for (_, id, provider_type) in of_base {
            add(id, format!("{provider_type}, of the distribution"));
        }
    }
    offers
}
