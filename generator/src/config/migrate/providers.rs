//! The providers of a config: their APIs, types and keys.

use super::draft::Draft;
use super::{Task, changes, versions};
use crate::catalog::{Catalog, ConfigKey, KeyKind, ProviderType};
use crate::config::environment::{self, Form};
use crate::config::providers::active_id;
use crate::fold::Class;
use crate::path::{Path, Segment};
use indexmap::IndexMap;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Providers that were removed: the API by the name that the version has or would have, and the id.
pub(super) type Gone = BTreeSet<(String, String)>;

/// How deep the keys of a provider are followed.
const MAX_DEPTH: usize = 8;

/// One provider while its keys are rewritten.
struct Of<'p> {
    api: &'p str,
    /// Its type before and after.
    types: [&'p str; 2],
    known: &'static ProviderType,
}

impl Task<'_> {
    /// Renames, moves and removes providers and their settings. Returns those that were removed.
    pub(super) fn providers(&self, draft: &mut Draft) -> Gone {
        let (section, mut gone) = (Path::root().key("providers"), Gone::new());
        for api in draft.keys(&section) {
            let path = section.key(api.as_str());
            if self.is_open(draft, &path) && self.unknown.contains(&draft.before(&path)) {
                continue;
            }
            if self.catalog.apis().any(|known| known == api) {
                self.of_api(draft, &api, &path, &mut gone);
                continue;
            }
            let free = |name: &&str| {
                self.catalog.apis().any(|known| known == *name) && draft.get(&section.key(*name)).is_none()
            };
            if let Some(new) = changes::apis(&api).find(free) {
                draft.note(&path, format!("the API is called \"{new}\" in {}", self.name()));
                draft.rename(&path, new);
                self.of_api(draft, new, &section.key(new), &mut gone);
            } else if is_an_api(&api) {
                for at in 0..draft.count(&path) {
                    remember(draft, &api, &path.index(at), &mut gone);
                }
                gone.insert((api.clone(), String::new()));
                draft.tell(Class::Loss, &path, self.without(&format!("API \"{api}\""), &api));
                draft.remove(&path);
            }
        }
        gone
    }

    fn of_api(&self, draft: &mut Draft, api: &str, path: &Path, gone: &mut Gone) {
        for at in (0..draft.count(path)).rev() {
            let item = path.index(at);
            if !self.is_open(draft, &item.key("provider_type")) {
                self.provider(draft, api, &item, gone);
            }
        }
    }

    fn provider(&self, draft: &mut Draft, api: &str, item: &Path, gone: &mut Gone) {
        let at = item.key("provider_type");
        let Some(old) = draft.get(&at).and_then(Value::as_str).filter(|kind| !kind.contains("${")) else { return };
        let old = old.to_owned();
        let known = self.catalog.provider(api, &old).or_else(|| {
            let mut others = changes::types(api, &old);
            others.find_map(|kind| self.catalog.provider(api, kind))
        });
        let Some(known) = known else {
            if origin(draft, item).is_some() {
                return;
            }
            remember(draft, api, item, gone);
            draft.tell(Class::Loss, item, self.without(&format!("provider type \"{old}\" for {api}"), &old));
            draft.remove(item);
            return;
        };
        if known.provider_type != old {
            let new = known.provider_type.as_str();
            let message = format!("provider type \"{old}\" is \"{new}\" in {}", self.name());
            draft.note(&at, message);
            draft.replace(&at, new);
        }
        let of = Of { api, types: [&old, &known.provider_type], known };
        let config = item.key("config");
        if !self.unknown.contains(&draft.before(&config)) {
            self.moved_keys(draft, &of, &config);
            self.keys(draft, &of, &known.config, &config, &Path::root());
            self.required(draft, &of, &config, item);
        }
    }

    /// Tells of the providers that the server does not bring along: nothing is known of them in any version.
    pub(super) fn foreign(&self, draft: &mut Draft) {
        let section = Path::root().key("providers");
        for api in draft.keys(&section) {
            let path = section.key(api.as_str());
            for item in (0..draft.count(&path)).map(|at| path.index(at)) {
                let at = item.key("provider_type");
                let kind = draft.get(&at).and_then(Value::as_str).filter(|_| !self.is_open(draft, &at));
                let Some(kind) = kind.filter(|kind| self.catalog.provider(&api, kind).is_none()) else { continue };
                let Some(origin) = origin(draft, &item) else { continue };
                let name = self.name();
                let message = format!(
                    "provider type \"{kind}\" comes from {origin}, which nothing is known of here: whether that exists \
                     for {name} and takes these settings is for you to see. They stay as they are"
                );
                draft.tell(Class::Unknown, &item, message);
            }
        }
    }

    /// Keys that stand elsewhere, or have another form.
    fn moved_keys(&self, draft: &mut Draft, of: &Of<'_>, config: &Path) {
        let mut before_it = self.from.and_then(Catalog::for_version);
        for (api, kind, old, new) in changes::KEYS {
            if *api != of.api || !(kind.is_empty() || of.types.contains(kind)) {
                continue;
            }
            for (from, to) in [(*old, *new), (*new, *old)] {
                let (before, after) = (config.join(&Path::parse(from)), config.join(&Path::parse(to)));
                let reads = |place: &str| key(&of.known.config, &Path::parse(place)).is_some();
                if draft.get(&before).is_none() || reads(from) || !reads(to) {
                    continue;
                }
                if draft.get(&after).is_some() {
                    draft.note(&before, format!("{} reads \"{to}\" in its place, which is there, too", self.name()));
                    draft.remove(&before);
                    continue;
                }
                draft.note(&before, format!("{} reads it as \"{to}\"", self.name()));
                draft.move_to(&before, &after);
                self.store(draft, &after);
                if ["base_url", "url"].contains(&to) {
                    // The key says which form the address has, whatever version the rest looks like.
                    let mut all = Catalog::versions().iter().rev().filter_map(|version| Catalog::for_version(version));
                    let with_key = all.find(|catalog| {
                        catalog.provider(of.api, of.types[0]).is_some_and(|one| one.config.contains_key(from))
                    });
                    before_it = with_key.or(before_it);
                }
            }
        }
        for name in ["base_url", "url"] {
            if let Some(before) = before_it {
                self.address(draft, of, &config.key(name), before);
            }
        }
    }

    /// Rewrites what a key refers to, where its name tells the kind of store that it takes.
    fn store(&self, draft: &mut Draft, path: &Path) {
        match path.last() {
            Some(Segment::Key(name)) if name == "sqlstore" => self.store_of(draft, path, "sql"),
            Some(Segment::Key(name)) if name == "kvstore" => self.store_of(draft, path, "kv"),
            _ => {}
        }
    }

    /// Rewrites a reference to a storage backend for the other kind of store.
    pub(super) fn store_of(&self, draft: &mut Draft, path: &Path, kind: &str) {
        let (old, new) = if kind == "sql" { ("namespace", "table_name") } else { ("table_name", "namespace") };
        if draft.get(&path.key(old)).is_none() {
            return;
        }
        let message = format!(
            "{} keeps this in a {kind} store: it begins empty, and what was kept stays where it is",
            self.name()
        );
        draft.tell(Class::Loss, path, message);
        draft.rename(&path.key(old), new);
        let backend = self.backend(draft, kind);
        draft.replace(&path.key("backend"), backend);
        for name in draft.keys(path) {
            if ![new, "backend"].contains(&name.as_str()) {
                draft.remove(&path.key(name));
            }
        }
    }

    /// A storage backend of a kind; one is made where the config has none of it.
    pub(super) fn backend(&self, draft: &mut Draft, kind: &str) -> String {
        let usual = format!("{kind}_default");
        let backends = Path::parse("storage.backends");
        let of_kind = |name: &String| {
            let of = backends.key(name.as_str()).key("type").find(&draft.value).and_then(Value::as_str);
            of.is_some_and(|of| of.starts_with(kind))
        };
        let names = draft.keys(&backends);
        if names.is_empty() || names.contains(&usual) && of_kind(&usual) {
            return usual;
        }
        if let Some(found) = names.into_iter().find(of_kind) {
            return found;
        }
        let place = backends.key(usual.as_str());
        if let Some(value) = place.find(&self.base) {
            draft.insert(&place, value.clone());
            draft.tell(Class::Added, &place, format!("{} needs a backend of this kind", self.name()));
        }
        usual
    }

    /// The path of an address, which newer versions want in the address and older ones add by themselves. `before`: a
    /// version that takes it as it is.
    fn address(&self, draft: &mut Draft, of: &Of<'_>, path: &Path, before: &Catalog) {
        let Some(written) = draft.get(path).and_then(Value::as_str).map(str::to_owned) else { return };
        let is_newer = versions::has_new_addresses(self.to);
        if versions::has_new_addresses(before.version()) == is_newer {
            return;
        }
        if let Some(new) = changes::address(of.types[1], is_newer, &written) {
            draft.note(path, format!("{} takes the address as {new}", self.name()));
            draft.replace(path, new);
            return;
        }
        let suffix = |kind: &str| {
            let others = Catalog::versions().iter().filter_map(|version| Catalog::for_version(version));
            others.filter_map(|catalog| catalog.provider(of.api, kind)?.endpoint_path.as_deref()).next_back()
        };
        let Some(suffix) = suffix(of.types[1]) else { return };
        let wants = of.known.endpoint_path.is_some();
        // A type that takes the same form on both sides needs nothing.
        if before.provider(of.api, of.types[0]).is_some_and(|one| one.endpoint_path.is_some() == wants) {
            return;
        }
        let turned = |text: &str| {
            let text = text.trim_end_matches('/');
            match wants {
                true if !text.is_empty() && !text.ends_with(suffix) => Some(format!("{text}{suffix}")),
                false => text.strip_suffix(suffix).map(str::to_owned),
                true => None,
            }
        };
        let found = environment::expressions(&written);
        let new = match found.as_slice() {
            [] => turned(&written),
            [one] if one.start == 0 && one.end == written.len() => match one.form {
                Form::Default(name, default) => turned(default).map(|default| format!("${{env.{name}:={default}}}")),
                _ => None,
            },
            _ => None,
        };
        if let Some(new) = new {
            draft.note(path, format!("{} takes the address as {new}", self.name()));
            draft.replace(path, new);
        }
        if let Some(name) = found.iter().find_map(|one| match one.form {
            Form::Bare(name) | Form::Default(name, _) => Some(name),
            _ => None,
        }) {
            let form = if wants { format!("with {suffix} at its end") } else { format!("without {suffix}") };
            let message = format!("{} takes the address {form}: so {name} has to be set", self.name());
            draft.tell(Class::Change, path, message);
        }
    }

    /// Removes keys that the type read in another version and does not read in this one.
    fn keys(&self, draft: &mut Draft, of: &Of<'_>, keys: &IndexMap<String, ConfigKey>, config: &Path, inside: &Path) {
        let at = config.join(inside);
        for name in draft.keys(&at) {
            let (path, inner) = (at.key(name.as_str()), inside.key(name.as_str()));
            if self.unknown.contains(&draft.before(&path)) {
                continue;
            }
            match keys.get(&name).map(|key| &key.kind) {
                Some(KeyKind::Object(below)) if !below.is_empty() && inner.segments().len() < MAX_DEPTH => {
                    self.keys(draft, of, below, config, &inner);
                }
                None if !keys.is_empty() && !of.known.open && self.was_read(of, &inner) => {
                    let message = format!("{} does not read it for {}", self.name(), of.known.provider_type);
                    draft.tell(Class::Loss, &path, message);
                    draft.remove(&path);
                }
                _ => {}
            }
        }
    }

    /// Whether a version reads a key of the provider.
    fn was_read(&self, of: &Of<'_>, inside: &Path) -> bool {
        let mut all = Catalog::versions().iter().filter_map(|version| Catalog::for_version(version));
        let other_names = changes::apis(of.api).map(str::to_owned);
        let names: Vec<String> = std::iter::once(of.api.to_owned()).chain(other_names).collect();
        all.any(|catalog| {
            names.iter().any(|api| {
                of.types
                    .iter()
                    .filter_map(|kind| catalog.provider(api, kind))
                    .any(|one| key(&one.config, inside).is_some())
            })
        })
    }

    /// Adds keys without which the version does not start, as its starter has them.
    fn required(&self, draft: &mut Draft, of: &Of<'_>, config: &Path, item: &Path) {
        let id = draft.get(&item.key("provider_id")).and_then(Value::as_str).and_then(active_id).map(str::to_owned);
        let Some(id) = id else { return };
        let missing = of
            .known
            .config
            .iter()
            .filter(|(name, key)| key.required && draft.get(&config.key(name.as_str())).is_none());
        let missing: Vec<&String> = missing.map(|(name, _)| name).collect();
        for name in missing {
            let given = self.usual(of.api, of.types[1], name).or_else(|| match name.as_str() {
                "persistence" | "kvstore" => {
                    Some(json!({"namespace": format!("{}::{id}", of.api), "backend": "kv_default"}))
                }
                "sqlstore" | "metadata_store" => {
                    Some(json!({"table_name": format!("{}_{id}", of.api), "backend": "sql_default"}))
                }
                _ => None,
            });
            let Some(mut given) = given else { continue };
            self.own_backends(draft, &mut given);
            let path = config.key(name.as_str());
            draft.insert(&path, given);
            draft.tell(Class::Added, &path, format!("{} needs it for {}", self.name(), of.types[1]));
        }
    }

    /// What the starter gives a key of a provider type.
    fn usual(&self, api: &str, kind: &str, name: &str) -> Option<Value> {
        let all = Path::root().key("providers").key(api).find(&self.base)?.as_array()?;
        let one = all.iter().find(|one| one.get("provider_type").and_then(Value::as_str) == Some(kind))?;
        one.get("config")?.get(name).cloned()
    }

    /// Names the config's own backends in a value that comes from the starter.
    pub(super) fn own_backends(&self, draft: &mut Draft, value: &mut Value) {
        match value {
            Value::Object(entries) => {
                let kind = if entries.contains_key("table_name") { "sql" } else { "kv" };
                if let Some(backend) = entries.get_mut("backend").filter(|backend| backend.is_string()) {
                    *backend = self.backend(draft, kind).into();
                }
                entries.iter_mut().for_each(|(_, value)| self.own_backends(draft, value));
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.own_backends(draft, item)),
            _ => {}
        }
    }

    /// Says that the version has none of something.
    pub(super) fn without(&self, what: &str, name: &str) -> String {
        let message = format!("{} has no {what}", self.name());
        changes::reason(name).map_or(message.clone(), |reason| format!("{message}: {reason}"))
    }
}

/// Whether any version has an API of this name.
pub(super) fn is_an_api(name: &str) -> bool {
    let mut all = Catalog::versions().iter().filter_map(|version| Catalog::for_version(version));
    all.any(|catalog| catalog.api_names().any(|known| known == name))
}

/// Where a provider type comes from that the server does not bring along; `None` where the config names nothing else.
fn origin(draft: &Draft, item: &Path) -> Option<String> {
    let text = |path: &Path| draft.get(path).and_then(Value::as_str).filter(|text| !text.is_empty());
    let module = text(&item.key("module")).map(|module| format!("the module \"{module}\""));
    module.or_else(|| Some(format!("external_providers_dir ({})", text(&Path::root().key("external_providers_dir"))?)))
}

fn remember(draft: &Draft, api: &str, item: &Path, gone: &mut Gone) {
    if let Some(id) = draft.get(&item.key("provider_id")).and_then(Value::as_str).and_then(active_id) {
        gone.insert((api.to_owned(), id.to_owned()));
    }
}

/// The key at a place of a provider's config.
fn key<'k>(keys: &'k IndexMap<String, ConfigKey>, path: &Path) -> Option<&'k ConfigKey> {
    let (first, rest) = path.segments().split_first()?;
    let Segment::Key(name) = first else { return None };
    let found = keys.get(name)?;
    match (&found.kind, rest) {
        (_, []) => Some(found),
        (KeyKind::Object(inner), rest) => key(inner, &rest.iter().cloned().collect::<Path>()),
        _ => None,
    }
}
