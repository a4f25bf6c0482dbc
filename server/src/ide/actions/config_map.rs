//! The key under which a ConfigMap holds the server's config.

use super::objects::{self, Changes};
use crate::ide::names::{Query, Symbol};
use crate::ide::rename;
use crate::ide::types::Diagnostic;
use llsd_generator::api::{CONFIG_KEY as NEW, OLD_CONFIG_KEY as OLD};
use llsd_generator::path::Path;
use serde_json::Value;

/// Title and changes that rename the key of the ConfigMap that a finding speaks of, and whatever refers to it.
pub(super) fn rename_key(query: &Query<'_>, diagnostic: &Diagnostic) -> Option<(String, Changes)> {
    let path = Path::parse(&diagnostic.path);
    let resources = query.analysis?.document(diagnostic.document)?.document.resources();
    let named = |name: &Value| name.as_str().map(str::to_owned);
    let (resource, name) =
        resources.iter().find_map(|resource| Some((resource, path.find(&resource.value).and_then(named)?)))?;
    let object = (resource.namespace().to_owned(), name.clone());
    let found = objects::declared(query, &Symbol::ConfigMap(object))?;
    let Symbol::ConfigMap(object) = &found.occurrence.symbol else { return None };
    let data = found.analysis()?.document(found.document)?.document.objects().config_maps.get(object)?;
    if !data.contains_key(OLD) || data.contains_key(NEW) {
        return None;
    }
    let (old, new) =
        (Symbol::ConfigMapKey(object.clone(), OLD.to_owned()), Symbol::ConfigMapKey(object.clone(), NEW.to_owned()));
    let mut key = found.clone();
    key.occurrence.symbol = old;
    let uses = query.uses(&key);
    let mut changes = Changes::default();
    for one in &uses {
        let edits = rename::edits(one.analysis()?, one, &new);
        if edits.is_empty() {
            return None;
        }
        changes.add(query, one, edits)?;
    }
    let title = format!("Rename {OLD} of ConfigMap \"{name}\"{} to {NEW}", objects::in_file(query, &found));
    Some((title, changes)).filter(|(_, changes)| !changes.own.is_empty() || !changes.others.is_empty())
}
