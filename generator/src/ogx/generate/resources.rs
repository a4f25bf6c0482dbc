//! Models, and what the base registers.

use super::{error::Error, list, map};
use crate::generate::{Map, Origin, Tracked};
use crate::path::Path;
use serde_json::Value;

/// The section of registered resources, and how many the resource brings. Any model of the resource replaces all of the
/// base.
///
/// # Errors
/// A model names no provider, and there is none.
pub(super) fn registered(object: &Value, base: &Tracked, providers: &Map) -> Result<(Tracked, usize), Error> {
    let mut section = Map::new();
    let at = Path::parse("spec.resources.models");
    let written = object["spec"]["resources"]["models"].as_array();
    let of_base = base.get("registered_resources");
    match written.filter(|models| !models.is_empty()) {
        Some(models) => {
            let usual = first(providers);
            let each = models.iter().enumerate().map(|(number, one)| model(one, &at.index(number), usual));
            let models = each.collect::<Result<Vec<_>, _>>()?;
            section.insert("models".to_owned(), list(Origin::Resource(at), models));
        }
        None => section.extend(kept(of_base, "models")),
    }
    section.extend(kept(of_base, "vector_stores"));
    let origin = of_base.map_or(Origin::Rule("what is registered"), |section| section.origin.clone());
    Ok((map(origin, section), written.map_or(0, Vec::len)))
}

/// A list of the base, unless it is empty.
fn kept(base: Option<&Tracked>, name: &str) -> Option<(String, Tracked)> {
    let list = base?.get(name)?;
    list.as_list().is_some_and(|items| !items.is_empty()).then(|| (name.to_owned(), list.clone()))
}

/// The inference provider that comes first in alphabetical order.
fn first(providers: &Map) -> Option<&str> {
    let all = providers.get("inference").and_then(Tracked::as_list).unwrap_or_default();
    all.iter().filter_map(|provider| provider.text_of("provider_id")).min()
}

fn model(model: &Value, at: &Path, usual: Option<&str>) -> Result<Tracked, Error> {
    let here = |field: &str| Origin::Resource(at.key(field));
    let text = |field: &str| model[field].as_str();
    let name = text("name").unwrap_or_default();
    let provider = match (text("provider"), usual) {
        (Some(provider), _) => Tracked::text(here("provider"), provider),
        (None, Some(usual)) => Tracked::text(Origin::Rule("the first inference provider"), usual),
        (None, None) => return Err(Error::NoProvider { path: at.clone(), model: name.to_owned() }),
    };
    let kind = match text("modelType") {
        Some(kind) => Tracked::text(here("modelType"), kind),
        None => Tracked::text(Origin::Default("the type of a model"), "llm"),
    };
    let mut entry = Map::new();
    entry.insert("model_id".to_owned(), Tracked::text(here("name"), name));
    entry.insert("provider_id".to_owned(), provider);
    entry.insert("model_type".to_owned(), kind);
    for (field, key) in [("contextLength", "context_length"), ("quantization", "quantization")] {
        if !model[field].is_null() {
            let value = Tracked::from_json(&model[field], &at.key(field), &|path| Origin::Resource(path.clone()));
            entry.insert(key.to_owned(), value);
        }
    }
    Ok(map(Origin::Resource(at.clone()), entry))
}
