//! The sections of a config besides its providers, and what they say of each other.

use super::draft::Draft;
use super::providers::{Gone, is_an_api};
use super::{Task, changes};
use crate::catalog::Catalog;
use crate::config::fault::Kind;
use crate::config::memory::Entries;
use crate::config::providers::{active_id, providers};
use crate::config::schema::ConfigSchema;
use crate::config::sections::TABLES;
use crate::config::{places, versions};
use crate::fold::Class;
use crate::path::{Path, Segment};
use serde_json::{Value, json};
use std::collections::BTreeSet;

impl Task<'_> {
    /// Moves sections, and removes what the version does not read.
    pub(super) fn sections(&self, draft: &mut Draft) {
        for (old, new) in changes::SECTIONS {
            for (from, to) in [(*old, *new), (*new, *old)] {
                let (from, to) = (Path::parse(from), Path::parse(to));
                // A name that is on its way out gives way, too.
                let old_works = self.schema.at(&from).is_some_and(|schema| schema["deprecated"] != true);
                if draft.get(&from).is_some() && !old_works && self.schema.at(&to).is_some() {
                    self.moved(draft, &from, &to);
                }
            }
        }
        for name in draft.keys(&Path::root()) {
            let from = Path::root().key(name);
            if self.schema.at(&from).is_none()
                && let Some(new) = places::successor(&from).filter(|new| new.exists(self.schema))
                && let Some(to) = new.to
            {
                self.moved(draft, &from, &to);
            }
        }
        self.stores(draft);
        self.tool_groups(draft);
        self.unread(draft);
        for (place, old, new) in changes::WORDS {
            let place = Path::parse(place);
            let (from, to) = if versions::searches_files(self.to) { (old, new) } else { (new, old) };
            let Some(text) = draft.get(&place).and_then(Value::as_str).filter(|text| text.contains(from)) else {
                continue;
            };
            let text = text.replace(from, to);
            draft.note(&place, format!("the tool is called \"{to}\" in {}", self.name()));
            draft.replace(&place, text);
        }
        self.models(draft);
        self.plain_http(draft);
    }

    fn moved(&self, draft: &mut Draft, from: &Path, to: &Path) {
        if draft.get(to).is_some() {
            draft.note(from, format!("{} reads {to} in its place, which is there, too", self.name()));
            draft.remove(from);
        } else {
            draft.note(from, format!("{} reads it as {to}", self.name()));
            draft.move_to(from, to);
        }
    }

    /// Stores that are kept in a backend of another kind.
    fn stores(&self, draft: &mut Draft) {
        let all = Path::parse("storage.stores");
        for name in draft.keys(&all) {
            let path = all.key(name);
            let Some(schema) = self.schema.at(&path).filter(|_| !self.is_open(draft, &path)) else { continue };
            match self.schema.reads(schema, "table_name") {
                true if draft.get(&path.key("table_name")).is_none() => self.store_of(draft, &path, "sql"),
                false if draft.get(&path.key("namespace")).is_none() => self.store_of(draft, &path, "kv"),
                _ => {}
            }
        }
    }

    /// Tool groups, which a version may make of its providers by itself.
    fn tool_groups(&self, draft: &mut Draft) {
        let path = Path::parse("registered_resources.tool_groups");
        if draft.get(&path).is_none() || !versions::drops_tool_groups(self.to) || self.is_open(draft, &path) {
            return;
        }
        for at in 0..draft.count(&path) {
            let item = path.index(at);
            let mut own = ["mcp_endpoint", "args"].into_iter().map(|name| item.key(name));
            let own = own.find(|place| draft.get(place).is_some_and(|value| !value.is_null()));
            if let Some(own) = own {
                let message = format!(
                    "{} takes no tool groups: requests name the tool's server themselves, or one of connectors",
                    self.name()
                );
                draft.tell(Class::Loss, &own, message);
            }
        }
        draft.note(&path, format!("{} makes tool groups of the providers of tool_runtime", self.name()));
        draft.remove(&path);
    }

    /// Removes what another version reads and this one does not.
    fn unread(&self, draft: &mut Draft) {
        let faults = self.schema.faults(&draft.value, &draft.now(self.unknown), &Entries::default());
        let unread = faults.into_iter().filter(|fault| matches!(fault.kind, Kind::UnknownKey | Kind::RenamedKey));
        let mut paths: Vec<Path> = unread.map(|fault| fault.path).filter(was_read).collect();
        paths.sort();
        for path in paths.into_iter().rev() {
            let Some(value) = draft.get(&path) else { continue };
            let place = path.to_string();
            let is_empty = value.is_null() || value.as_array().is_some_and(Vec::is_empty);
            let within = |name: &str| name == place || name.starts_with(&format!("{place}."));
            let mut harmless = changes::WITHOUT_EFFECT.iter().filter(|(name, _)| within(name));
            let alone = |name: &str| {
                let below = Path::parse(name);
                below == path
                    || value.as_object().is_some_and(|entries| entries.len() == 1 && below.find(&draft.value).is_some())
            };
            if is_empty {
                draft.remove(&path);
            } else if let Some((_, without)) = harmless.find(|(name, _)| alone(name)) {
                draft.note(&path, format!("{} does not read it: {without}", self.name()));
                draft.remove(&path);
            } else {
                let message = format!("{} does not read it", self.name());
                let message = changes::reason(&place).map_or(message.clone(), |why| format!("{message}: {why}"));
                draft.tell(Class::Loss, &path, message);
                draft.remove(&path);
            }
        }
    }

    /// The name that clients know a model by: `provider/provider_model_id` in llama-stack, `provider/model_id` in ogx.
    fn models(&self, draft: &mut Draft) {
        let path = Path::parse("registered_resources.models");
        if self.is_open(draft, &path) && self.unknown.contains(&draft.before(&path)) {
            return;
        }
        let from_ogx = self.from.is_some_and(versions::is_ogx);
        if from_ogx == versions::is_ogx(self.to) {
            return;
        }
        for at in (0..draft.count(&path)).rev() {
            let item = path.index(at);
            let text = |name: &str| draft.get(&item.key(name)).and_then(Value::as_str).map(str::to_owned);
            if from_ogx && text("provider_id").as_deref() == Some("all") {
                draft.tell(Class::Loss, &item, format!("{} has no models of all providers", self.name()));
                draft.remove(&item);
                continue;
            }
            let (Some(name), Some(theirs)) = (text("model_id"), text("provider_model_id")) else { continue };
            if name == theirs {
                continue;
            }
            if from_ogx {
                let message = format!("clients of {} know the model as \"{theirs}\", not as \"{name}\"", self.name());
                draft.tell(Class::Change, &item, message);
            } else {
                draft.note(&item.key("model_id"), format!("clients know the model as \"{theirs}\", and go on to"));
                draft.replace(&item.key("model_id"), theirs);
            }
        }
    }

    /// A version that starts without certificates only if that is said.
    fn plain_http(&self, draft: &mut Draft) {
        let path = Path::parse("server.insecure");
        let given =
            |name: &str| Path::parse("server").key(name).find(&draft.value).is_some_and(|value| !value.is_null());
        let open = self.is_open(draft, &path);
        if self.schema.at(&path).is_none() || given("insecure") || given("tls_certfile") || open {
            return;
        }
        draft.insert(&path, json!(true));
        draft.tell(Class::Added, &path, format!("{} serves plain HTTP only where that is said", self.name()));
    }

    /// Removes from `apis` what the version does not serve, and what no provider is left for.
    pub(super) fn apis(&self, draft: &mut Draft, gone: &Gone) {
        let path = Path::root().key("apis");
        for at in (0..draft.count(&path)).rev() {
            let item = path.index(at);
            let Some(api) = draft.get(&item).and_then(Value::as_str).map(str::to_owned) else { continue };
            if self.is_open(draft, &item) || api.contains("${") {
                continue;
            }
            let is_known = |name: &str| self.catalog.api_names().any(|known| known == name);
            if is_known(&api) {
                // It was served, and nothing is left to serve it with.
                let left = Path::root().key("providers").key(api.as_str());
                let routed = self.catalog.resource_api(&api).is_some();
                if !routed && draft.count(&left) == 0 && gone.iter().any(|(of, _)| *of == api) {
                    draft.tell(Class::Loss, &item, format!("no provider of \"{api}\" is left, so it is not served"));
                    draft.remove(&item);
                }
                continue;
            }
            let listed = |name: &str| {
                draft.get(&path).and_then(Value::as_array).is_some_and(|all| all.iter().any(|one| one == name))
            };
            match changes::apis(&api).find(|name| is_known(name)) {
                Some(new) if !listed(new) => draft.replace(&item, new),
                Some(_) => draft.remove(&item),
                None if is_an_api(&api) => {
                    // Told with the providers, if there were any.
                    if !gone.contains(&(api.clone(), String::new())) {
                        draft.tell(Class::Loss, &item, self.without(&format!("API \"{api}\""), &api));
                    }
                    draft.remove(&item);
                }
                None => {}
            }
        }
    }

    /// Removes what names a provider that was removed.
    pub(super) fn dangling(&self, draft: &mut Draft, gone: &Gone) {
        let is_gone = |api: &str, id: Option<&str>| {
            id.and_then(active_id).is_some_and(|id| gone.contains(&(api.to_owned(), id.to_owned())))
        };
        for (table, api) in TABLES {
            let path = Path::parse("registered_resources").key(table);
            for at in (0..draft.count(&path)).rev() {
                let item = path.index(at);
                let id = draft.get(&item.key("provider_id")).and_then(Value::as_str).map(str::to_owned);
                if is_gone(api, id.as_deref()) {
                    draft.tell(Class::Loss, &item, format!("its provider \"{}\" is gone", id.unwrap_or_default()));
                    draft.remove(&item);
                }
            }
        }
        let defaults = [
            ("vector_stores.default_provider_id", "vector_io", ""),
            ("vector_stores.default_embedding_model", "inference", "provider_id"),
            ("vector_stores.default_reranker_model", "inference", "provider_id"),
        ];
        for (place, api, inside) in defaults {
            let path = Path::parse(place);
            let id = path.join(&Path::parse(inside)).find(&draft.value).and_then(Value::as_str).map(str::to_owned);
            if is_gone(api, id.as_deref()) {
                draft.tell(Class::Loss, &path, format!("its provider \"{}\" is gone", id.unwrap_or_default()));
                draft.remove(&path);
            }
        }
    }

    /// Adds the APIs that providers need in this version, with the provider that its starter has.
    pub(super) fn needs(&self, draft: &mut Draft) {
        let all = providers(&draft.value, self.catalog, &BTreeSet::new());
        let internal: BTreeSet<&str> = self.catalog.internal_apis().collect();
        let routed = |api: &str| {
            self.catalog.resource_api(api).is_some()
                || self.catalog.apis().any(|one| self.catalog.resource_api(one) == Some(api))
        };
        let needed: BTreeSet<&str> = all
            .iter()
            .filter(|provider| provider.id.is_some())
            .flat_map(|provider| provider.known.into_iter().flat_map(|known| &known.requires))
            .map(String::as_str)
            .collect();
        let missing: Vec<&str> = needed
            .into_iter()
            .filter(|api| !internal.contains(api) && !routed(api))
            .filter(|api| !all.iter().any(|provider| provider.api == *api))
            .collect();
        for api in missing {
            let place = Path::root().key("providers").key(api);
            let usual = place.find(&self.base).and_then(|list| list.get(0)).cloned();
            let Some(mut provider) = usual.filter(|_| !self.is_open(draft, &Path::root().key("providers"))) else {
                continue;
            };
            self.own_backends(draft, &mut provider);
            draft.insert(&place, Value::Array(vec![provider]));
            draft.tell(Class::Added, &place, format!("other providers need it in {}", self.name()));
            let apis = Path::root().key("apis");
            let listed = draft.get(&apis).and_then(Value::as_array);
            if listed.is_some_and(|all| !all.is_empty() && !all.iter().any(|one| one == api)) {
                let at = draft.count(&apis);
                draft.insert(&apis.index(at), json!(api));
            }
        }
    }
}

/// Whether any version reads the key at a place.
fn was_read(path: &Path) -> bool {
    let mut all = Catalog::versions().iter().filter_map(|version| ConfigSchema::of(version));
    all.any(|schema| match (path.parent(), path.last()) {
        (Some(parent), Some(Segment::Key(name))) => {
            schema.at(&parent).is_some_and(|section| schema.reads(section, name))
        }
        _ => false,
    })
}
