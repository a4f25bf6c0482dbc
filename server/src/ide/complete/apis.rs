//! Names of APIs to switch off: those that are on come first.

use super::{Context, popularity};
use llsd_generator::api::v1alpha2::{api_name, provider_field};
use llsd_generator::path::{Path, Segment};
use serde_json::Value;

/// The APIs of the resource's llama-stack version for the item of `spec.disabled` at `path`.
pub(super) fn names(context: &Context<'_>, path: &Path) -> Vec<String> {
    let object = &context.resource.value;
    let Some((catalog, _)) = context.resource.catalog() else { return Vec::new() };
    let base = context.resource.declared_by_base();
    // what the distribution does not serve is off already
    let served = |name: &str| base.is_none_or(|base| base.providers.iter().any(|(api, ..)| api == name));
    let off = others(object, path);
    let mut names: Vec<_> = catalog.apis().map(str::to_owned).filter(|name| !off.contains(name)).collect();
    popularity::sort_disabled(&mut names);
    // what is configured is not meant to be switched off
    names.sort_by_key(|name| (is_configured(object, name), !popularity::is_disabled(name), !served(name)));
    names
}

/// The APIs that the other items of the list switch off, in llama-stack's spelling.
fn others(object: &Value, path: &Path) -> Vec<String> {
    let list = path.parent().and_then(|list| list.find(object)?.as_array());
    let others = list.into_iter().flatten().enumerate();
    let others = others.filter(|(number, _)| path.last() != Some(&Segment::Index(*number)));
    others.filter_map(|(_, item)| item.as_str()).map(api_name).collect()
}

/// Whether the resource gives the API providers.
fn is_configured(object: &Value, api: &str) -> bool {
    provider_field(api).is_some_and(|(_, field)| Path::parse("spec.providers").key(field).find(object).is_some())
}

/// The API in the spelling of the resource's fields, which is accepted as well: `postTraining` of `post_training`.
pub(super) fn other_spelling(name: &str) -> Option<String> {
    let (first, rest) = name.split_once('_')?;
    let words = rest.split('_').map(|word| {
        let mut letters = word.chars();
        letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect::<String>()
    });
    Some(std::iter::once(first.to_owned()).chain(words).collect())
}
