//! The names in an `OGXServer` that `LlamaStackDistribution` writes in another way: objects by name and key, providers by
//! their types, models.

use super::reader::Reader;
use super::{Occurrence, Role, Symbol};
use crate::ide::document::DocumentAnalysis;
use crate::ide::place;
use crate::ide::resource::Resource;
use llsd_generator::check::ReferenceKind;
use llsd_generator::ogx::providers::entries;
use llsd_generator::ogx::reference_places;
use llsd_generator::path::Path;
use llsd_yaml::Node;

/// Notes them. `scope` is that of the resource.
pub(super) fn read<'d>(
    reader: &Reader<'d>,
    document: &'d DocumentAnalysis,
    resource: &Resource,
    scope: usize,
    out: &mut Vec<Occurrence>,
) {
    let node = |path: &Path| -> Option<Node<'d>> { document.tree().find(&place::steps(&resource.base, path)) };
    for (kind, at) in reference_places(&resource.value) {
        let Some(name) = node(&at.key("name")) else { continue };
        let object = (resource.namespace().to_owned(), name.value().into_owned());
        let named = |name| match kind {
            ReferenceKind::Secret => Symbol::Secret((object.0.clone(), name)),
            ReferenceKind::ConfigMap => Symbol::ConfigMap((object.0.clone(), name)),
        };
        reader.note(name, None, Role::Reference, named, out);
        let keyed = |key| match kind {
            ReferenceKind::Secret => Symbol::SecretKey(object.clone(), key),
            ReferenceKind::ConfigMap => Symbol::ConfigMapKey(object.clone(), key),
        };
        if let Some(key) = node(&at.key("key")) {
            reader.note(key, None, Role::Reference, keyed, out);
        }
    }
    for entry in entries(&resource.value) {
        let provider = |id| Symbol::Provider { api: entry.api.name.to_owned(), id };
        if let Some(id) = node(&entry.path.key("id")) {
            reader.note(id, Some(scope), Role::Declaration, provider, out);
        }
    }
    let models = Path::parse("spec.resources.models");
    for number in 0..models.find(&resource.value).and_then(|list| list.as_array()).map_or(0, Vec::len) {
        let model = models.index(number);
        if let Some(name) = node(&model.key("name")) {
            reader.note(name, Some(scope), Role::Declaration, Symbol::Model, out);
        }
        if let Some(id) = node(&model.key("provider")) {
            let provider = |id| Symbol::Provider { api: "inference".to_owned(), id };
            reader.note(id, Some(scope), Role::Reference, provider, out);
        }
    }
    let disabled = Path::parse("spec.disabledAPIs");
    for number in 0..disabled.find(&resource.value).and_then(|list| list.as_array()).map_or(0, Vec::len) {
        if let Some(api) = node(&disabled.index(number)) {
            reader.note(api, Some(scope), Role::Reference, Symbol::Api, out);
        }
    }
}
