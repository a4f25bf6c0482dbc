//! Values of a key or list item.

use super::offer::{Offer, escape};
use super::{Context, apis, popularity, providers, settings, skeleton};
use crate::ide::meaning::{Meaning, meaning};
use crate::ide::types::CompletionKind;
use crate::ide::{block, knowledge};
use llsd_generator::api::Kind;
use llsd_generator::distribution::Distributions;
use llsd_generator::path::Path;
use llsd_generator::references::ReferenceKind;
use serde_json::Value;
use std::collections::BTreeSet;

pub(super) fn offers(context: &Context<'_>, path: &Path) -> Vec<Offer> {
    match path.to_string().as_str() {
        "apiVersion" => {
            let own = context.resource.version.kind().versions().iter().rev();
            return own.map(|version| Offer::value(version.api_version(), CompletionKind::Enum)).collect();
        }
        "kind" => {
            let own = context.resource.version.kind();
            let all = std::iter::once(own).chain(Kind::ALL.into_iter().filter(|kind| *kind != own));
            return all.map(|kind| Offer::value(kind.name(), CompletionKind::Enum)).collect();
        }
        _ => {}
    }
    let named = match meaning(context.resource.version, path) {
        Some(meaning) => by_meaning(context, path, meaning),
        None => Vec::new(),
    };
    if named.is_empty() { by_schema(context, path) } else { named }
}

fn by_meaning(context: &Context<'_>, path: &Path, meaning: Meaning) -> Vec<Offer> {
    let object = &context.resource.value;
    let base = context.resource.declared_by_base();
    match meaning {
        Meaning::Distribution => Distributions::embedded()
            .iter()
            .map(|found| {
                Offer::value(&found.name, CompletionKind::Enum)
                    .detail(format!("llama-stack {}", found.llama_stack_version))
                    .documentation(format!("Image `{}`", found.image))
            })
            .collect(),
        Meaning::ProviderType(api) => providers::types(context, api, path),
        Meaning::ModelProvider => providers::ids_for_model(context, path),
        Meaning::Model => {
            let mut names = base.map(|base| base.models.clone()).unwrap_or_default();
            // the one being written is registered, too, as far as it goes
            let written = written(context, path);
            names.extend(context.analysis.model_names().into_iter().filter(|name| Some(name.as_str()) != written));
            unused_fields(context, path, names, "model")
        }
        Meaning::ToolGroup => {
            let mut names = vec!["builtin::websearch".to_owned()];
            names.extend(base.map(|base| base.tool_groups.clone()).unwrap_or_default());
            let mut offers = Vec::new();
            for mut offer in unused(context, path, names, "tool group") {
                // the operator reads a bare name as that of a built-in group
                if let Some(bare) = offer.label.strip_prefix("builtin::") {
                    offer = Offer::value(bare, CompletionKind::Reference).detail(offer.label.clone());
                    offer.long = Some(offer.detail.clone());
                }
                offers.push(offer);
            }
            offers
        }
        Meaning::Shield => {
            let mut names = base.map(|base| base.shields.clone()).unwrap_or_default();
            names.extend(providers::ids(context, "safety").into_iter().map(|offer| offer.label));
            unused(context, path, names, "shield")
        }
        Meaning::Api => {
            let mut offers = unused(context, path, apis::names(context, path), "API");
            for offer in &mut offers {
                offer.long = apis::other_spelling(&offer.label);
            }
            offers
        }
        Meaning::Setting { api, provider, inside } => settings::values(context, api, &provider, &inside),
        Meaning::SecretSetting { .. } => Vec::new(),
        Meaning::Secret => {
            let mut offers = references(context.analysis.secret_names(context.resource.namespace()), "Secret");
            let named = context.analysis.referred(ReferenceKind::Secret);
            add_named(context, path, &mut offers, named, "Secret, named elsewhere in this file");
            offers
        }
        Meaning::ConfigMap => {
            let mut offers = references(context.analysis.config_map_names(context.resource.namespace()), "ConfigMap");
            let named = context.analysis.referred(ReferenceKind::ConfigMap);
            add_named(context, path, &mut offers, named, "ConfigMap, named elsewhere in this file");
            offers
        }
        Meaning::SecretKey { name } => {
            let Some(name) = name.find(object).and_then(Value::as_str) else { return Vec::new() };
            let keys = context.analysis.secret_keys(context.resource.namespace(), name);
            references(keys, &format!("key of Secret {name}"))
        }
        Meaning::ConfigMapKey { name } => {
            let Some(name) = name.find(object).and_then(Value::as_str) else { return Vec::new() };
            let keys = context.analysis.config_map_keys(context.resource.namespace(), name);
            references(keys, &format!("key of ConfigMap {name}"))
        }
        Meaning::Variable => variables(context, path),
    }
}

/// Environment variables that the server reads: of its distribution's base config, or of the one that most others are
/// made from.
fn variables(context: &Context<'_>, path: &Path) -> Vec<Offer> {
    let own = context.resource.declared_by_base();
    let Some(base) = own.or(knowledge::usual_base()) else { return Vec::new() };
    let mut names: Vec<_> = base.variables.keys().cloned().collect();
    popularity::sort_variables(&mut names);
    // those of one backend are written one after the other
    let backend = |name: &str| name.split('_').next().unwrap_or_default().to_owned();
    let list = path.parent().and_then(|item| item.parent()?.find(&context.resource.value)?.as_array());
    let written = list.into_iter().flatten().filter_map(|item| item.get("name")?.as_str());
    let begun: BTreeSet<_> = written.filter(|name| base.variables.contains_key(*name)).map(backend).collect();
    // of one that is not begun the first comes first
    let mut seen = BTreeSet::new();
    names.sort_by_cached_key(|name| !begun.contains(&backend(name)) && !seen.insert(backend(name)));
    names.sort_by_key(|name| !begun.contains(&backend(name)));
    let whose = if own.is_some() { "read by the distribution" } else { "read by the starter distribution" };
    let mut offers = unused_fields(context, path, names, whose);
    for offer in &mut offers {
        if let Some(default) = base.variables.get(&offer.label).and_then(Option::as_ref) {
            offer.documentation = format!("Default: `{default}`");
        }
    }
    offers
}

/// What stands at `path` now.
fn written<'a>(context: &Context<'a>, path: &Path) -> Option<&'a str> {
    path.find(&context.resource.value)?.as_str()
}

/// Names that references of this file have, but no object that is known.
fn add_named(context: &Context<'_>, path: &Path, offers: &mut Vec<Offer>, names: BTreeSet<String>, detail: &str) {
    let own = written(context, path);
    let known: BTreeSet<String> = offers.iter().map(|offer| offer.label.clone()).collect();
    let new = names.into_iter().filter(|name| Some(name.as_str()) != own && !known.contains(name));
    offers.extend(new.map(|name| Offer::value(name, CompletionKind::Reference).detail(detail)));
}

/// Values that are few although the schema allows any: of a fixed set, or declared beside.
fn by_habit(context: &Context<'_>, path: &Path) -> Vec<Offer> {
    use llsd_generator::path::Segment;
    let Some(Segment::Key(key)) = path.last() else { return Vec::new() };
    if crate::ide::meaning::shape(path).ends_with("volumeMounts[].name") {
        let pod = path.parent().and_then(|mount| mount.parent()?.parent());
        let volumes = pod.and_then(|pod| pod.key("volumes").find(&context.resource.value)?.as_array());
        let names = volumes.into_iter().flatten().filter_map(|volume| volume.get("name")?.as_str());
        return distinct(names.map(str::to_owned), "volume");
    }
    popularity::values(key).iter().map(|value| Offer::value(*value, CompletionKind::Enum)).collect()
}

/// Names that the list around `path` does not have yet.
fn unused(context: &Context<'_>, path: &Path, names: Vec<String>, detail: &str) -> Vec<Offer> {
    let list = path.parent().and_then(|list| list.find(&context.resource.value)?.as_array());
    let there: BTreeSet<&str> = list
        .into_iter()
        .flatten()
        .enumerate()
        .filter(|(number, _)| path.last() != Some(&llsd_generator::path::Segment::Index(*number)))
        .filter_map(|(_, item)| item.as_str())
        .collect();
    distinct(names.into_iter().filter(|name| !there.contains(name.as_str())), detail)
}

/// Names that no object of the list around the field at `path` has yet.
fn unused_fields(context: &Context<'_>, path: &Path, names: Vec<String>, detail: &str) -> Vec<Offer> {
    let list = path.parent().and_then(|item| item.parent()?.find(&context.resource.value)?.as_array());
    let mine = path.parent().and_then(|item| item.find(&context.resource.value));
    let there: BTreeSet<&str> = list
        .into_iter()
        .flatten()
        .filter(|item| !mine.is_some_and(|mine| std::ptr::eq(mine, *item)))
        .filter_map(|item| item.get("name")?.as_str())
        .collect();
    distinct(names.into_iter().filter(|name| !there.contains(name.as_str())), detail)
}

fn distinct(names: impl Iterator<Item = String>, detail: &str) -> Vec<Offer> {
    let mut seen = BTreeSet::new();
    names
        .filter(|name| seen.insert(name.clone()))
        .map(|name| Offer::value(name, CompletionKind::Reference).detail(detail))
        .collect()
}

fn references(names: Vec<String>, detail: &str) -> Vec<Offer> {
    distinct(names.into_iter(), detail)
}

fn by_schema(context: &Context<'_>, path: &Path) -> Vec<Offer> {
    let Some(schema) = context.schema.at(path) else { return Vec::new() };
    let words = schema.description();
    let value = |value: &Value, kind: CompletionKind| {
        let label = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let mut offer = Offer::value(label, kind).documentation(words);
        offer.body = vec![escape(&block::inline(value))];
        if schema.default_value() == Some(value) { offer.detail("default") } else { offer }
    };
    let mut offers: Vec<_> = schema.choices().into_iter().map(|choice| value(choice, CompletionKind::Enum)).collect();
    if schema.is_boolean() {
        offers.extend([true, false].map(|flag| value(&Value::Bool(flag), CompletionKind::Enum)));
    }
    match schema.default_value() {
        Some(default) if offers.is_empty() && !default.is_object() && !default.is_array() => {
            offers.push(value(default, CompletionKind::Value));
        }
        _ => {}
    }
    if offers.is_empty() {
        offers = by_habit(context, path);
    }
    if offers.is_empty() && (schema.is_object() || schema.is_list()) {
        let mut body = vec![String::new()];
        body.extend(skeleton::below(schema).into_iter().map(|line| format!("  {line}")));
        let mut offer = Offer::value("…", CompletionKind::Snippet).detail(schema.type_name()).documentation(words);
        offer.body = body;
        offers.push(offer);
    }
    offers
}
