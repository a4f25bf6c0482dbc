//! The providers of a config: whether the version has their API and type, and reads their keys.

use super::environment;
use super::fault::{Fault, Kind};
use super::memory::Entries;
use super::schema::replace;
use crate::catalog::{Catalog, ConfigKey, KeyKind, ProviderType};
use crate::check::finding::{Fix, FixEdit};
use crate::check::rules::plain_secret::is_secret;
use crate::check::rules::settings::{held, wrong};
use crate::document::placeholder;
use crate::nearest::nearest;
use crate::path::Path;
use indexmap::IndexMap;
use serde_json::{Map, Value};
use std::collections::{BTreeSet, HashSet};

/// The id of a provider that is switched off.
const DISABLED: &str = "__disabled__";

/// Keys that need another one beside them: provider type, key, and the other. Source: the validators of the packages'
/// config classes.
const TOGETHER: [(&str, &str, &str); 2] =
    [("remote::gemini", "project", "access_token"), ("remote::gemini", "access_token", "project")];

/// Keys of which one excludes the other: provider type and both. Source: as above.
const EXCLUSIVE: [(&str, &str, &str); 1] = [("remote::gemini", "api_key", "access_token")];

/// How deep a provider's config is compared with the catalog.
const MAX_DEPTH: usize = 8;

/// A provider of a config, as far as it can be told.
#[derive(Clone, Debug)]
pub(super) struct Provider<'a> {
    /// The API that it stands below.
    pub(super) api: &'a str,
    /// Its number in the list of the API.
    pub(super) position: usize,
    /// What is written of it.
    pub(super) entry: &'a Map<String, Value>,
    /// Its id where it is switched on; `None` if it has none, is switched off, or only a variable tells.
    pub(super) id: Option<&'a str>,
    /// Its config; empty where there is none.
    pub(super) config: Option<&'a Map<String, Value>>,
    /// What the version knows of its type.
    pub(super) known: Option<&'static ProviderType>,
    /// Whether the id depends on a variable, so that the provider may be switched off.
    pub(super) conditional: bool,
    /// Whether it is switched off for good: without an id, or with the one that says so.
    pub(super) switched_off: bool,
}

/// The providers of a config, in the order of the text. Entries that are no mapping are left out. `unknown`: places that a
/// template fills in.
pub(super) fn providers<'a>(
    config: &'a Value,
    catalog: &'static Catalog,
    unknown: &BTreeSet<Path>,
) -> Vec<Provider<'a>> {
    let apis = config.get("providers").and_then(Value::as_object).into_iter().flatten();
    apis.flat_map(|(api, list)| {
        let items = list.as_array().into_iter().flatten().enumerate();
        items.filter_map(move |(position, item)| {
            let item = item.as_object()?;
            let kind = item.get("provider_type").and_then(Value::as_str);
            let filled_in = !unknown.is_empty() && unknown.contains(&path(api, position).key("provider_id"));
            let written = item.get("provider_id").and_then(Value::as_str);
            let id = written.filter(|_| !filled_in).and_then(active_id);
            Some(Provider {
                api,
                position,
                entry: item,
                id,
                config: item.get("config").and_then(Value::as_object),
                known: kind.and_then(|kind| catalog.provider(api, kind)),
                conditional: filled_in || written.is_some_and(|written| written.contains("${")),
                switched_off: match item.get("provider_id") {
                    Some(Value::Null) => true,
                    Some(Value::String(id)) => id.is_empty() || id == DISABLED,
                    _ => false,
                },
            })
        })
    })
    .collect()
}

impl Provider<'_> {
    /// The path of its list item in the config.
    pub(super) fn path(&self) -> Path {
        path(self.api, self.position)
    }
}

fn path(api: &str, position: usize) -> Path {
    Path::root().key("providers").key(api).index(position)
}

/// The id that a provider has where it is switched on: that of `${env.KEY:+id}` too. `__disabled__` is how configs
/// switch one off.
pub(super) fn active_id(written: &str) -> Option<&str> {
    let found = environment::expressions(written);
    match found.as_slice() {
        [] => Some(written).filter(|id| !id.is_empty() && *id != DISABLED && !id.contains("${")),
        [one] if one.start == 0 && one.end == written.len() => match one.form {
            environment::Form::IfSet(_, id) | environment::Form::Default(_, id) => {
                Some(id).filter(|id| !id.is_empty() && *id != DISABLED)
            }
            _ => None,
        },
        _ => None,
    }
}

/// Checks APIs, types and keys. `entries`: what is known of the providers; `number`: that of the version among those that
/// have a catalog.
pub(super) fn check(
    config: &Value,
    catalog: &'static Catalog,
    providers: &[Provider<'_>],
    unknown: &BTreeSet<Path>,
    (entries, number): (&Entries, usize),
    faults: &mut Vec<Fault>,
) {
    apis(config, catalog, unknown, faults);
    // A folder of definitions of one's own may add any type.
    let own_types = config.get("external_providers_dir").is_some_and(|dir| !dir.is_null());
    let is_known = |provider: &Provider<'_>| unknown.is_empty() || !unknown.contains(&provider.path());
    let (mut api, mut kept) = ("", None);
    for provider in providers.iter().filter(|provider| is_known(provider)) {
        if provider.api != api {
            (api, kept) = (provider.api, entries.list("providers", provider.api));
        }
        match provider.known {
            Some(known) => {
                let judge = || of_type(catalog, provider, known, unknown);
                let kept = kept.and_then(|kept| kept.get(provider.position)?.as_ref());
                faults.extend(match kept {
                    Some(kept) => kept.of_settings(number, provider.position, judge),
                    None => judge(),
                });
            }
            None if !own_types => faults.extend(of_unknown_type(catalog, provider, unknown)),
            None => {}
        }
    }
    duplicates(providers, faults);
}

/// A type that the version does not have, unless a module or variable brings it.
fn of_unknown_type(catalog: &Catalog, provider: &Provider<'_>, unknown: &BTreeSet<Path>) -> Option<Fault> {
    let module = provider.entry.get("module").is_some_and(|module| !module.is_null());
    let kind = provider.entry.get("provider_type").and_then(Value::as_str).filter(|kind| !kind.contains("${"))?;
    let at = provider.path().key("provider_type");
    let is_told = !module && !unknown.contains(&at) && catalog.apis().any(|api| api == provider.api);
    is_told.then(|| unknown_type(catalog, provider.api, kind, at))
}

fn apis(config: &Value, catalog: &Catalog, unknown: &BTreeSet<Path>, faults: &mut Vec<Fault>) {
    for (api, _) in config.get("providers").and_then(Value::as_object).into_iter().flatten() {
        let path = Path::root().key("providers").key(api.as_str());
        if unknown.contains(&path) || catalog.apis().any(|known| known == api) {
            continue;
        }
        let message = if catalog.api_names().any(|known| known == api) {
            format!("makes the providers of API \"{api}\" itself and takes none")
        } else {
            unknown_api(catalog, api)
        };
        let fix = nearest(api, catalog.apis()).map(|near| Fix {
            title: format!("Rename to \"{near}\""),
            edits: vec![FixEdit::RenameKey { path: path.clone(), to: near.to_owned() }],
            preferred: false,
        });
        faults.push(Fault::error(Kind::UnknownApi, path, message).on_key().with(fix));
    }
    for (position, api) in config.get("apis").and_then(Value::as_array).into_iter().flatten().enumerate() {
        let path = Path::root().key("apis").index(position);
        let Some(api) = api.as_str().filter(|api| !api.contains("${") && !unknown.contains(&path)) else { continue };
        if !catalog.api_names().any(|known| known == api) {
            let fix = nearest(api, catalog.api_names()).map(|near| replace(&path, near));
            faults.push(Fault::error(Kind::UnknownApi, path, unknown_api(catalog, api)).with(fix));
        }
    }
}

fn unknown_api(catalog: &Catalog, api: &str) -> String {
    match nearest(api, catalog.api_names()) {
        Some(near) => format!("has no API \"{api}\" and exits. Did you mean \"{near}\"?"),
        None => match successor_api(api).filter(|new| catalog.api_names().any(|known| known == *new)) {
            Some(new) => format!("has no API \"{api}\" and exits: it is called \"{new}\" there"),
            None => format!("has no API \"{api}\" and exits"),
        },
    }
}

/// The name that an API has in later or earlier versions.
pub(super) fn successor_api(api: &str) -> Option<&'static str> {
    match api {
        "agents" => Some("responses"),
        "responses" => Some("agents"),
        _ => None,
    }
}

fn unknown_type(catalog: &Catalog, api: &str, kind: &str, at: Path) -> Fault {
    let known: Vec<&str> = catalog.providers(api).map(|one| one.provider_type.as_str()).collect();
    let elsewhere = Catalog::versions_with(api, kind);
    let near = nearest(kind, known.iter().copied());
    let fix = near.map(|near| replace(&at, near));
    let message = match (near, elsewhere.as_slice()) {
        (Some(near), []) => {
            format!("has no provider type \"{kind}\" for API {api} and exits. Did you mean \"{near}\"?")
        }
        (_, []) => format!("has no provider type \"{kind}\" for API {api} and exits. Known: {}", known.join(", ")),
        (near, versions) => {
            let instead = near.map_or_else(String::new, |near| format!("; \"{near}\" is close to it"));
            let versions: Vec<String> = versions.iter().map(|version| super::named(version)).collect();
            format!(
                "has no provider type \"{kind}\" for API {api} and exits: only {} have it{instead}",
                versions.join(", ")
            )
        }
    };
    Fault::error(Kind::UnknownType, at, message).with(fix.map(|fix| Fix { preferred: elsewhere.is_empty(), ..fix }))
}

fn of_type(catalog: &Catalog, provider: &Provider<'_>, known: &ProviderType, unknown: &BTreeSet<Path>) -> Vec<Fault> {
    let mut faults = Vec::new();
    if let Some(advice) = &known.deprecated {
        let at = provider.path().key("provider_type");
        let message = format!("has \"{}\" as an older name only: {advice}", known.provider_type);
        faults.push(Fault::warning(Kind::Deprecated, at, message));
    }
    let at = provider.path().key("config");
    let mut walk = Walk { catalog, provider, known, unknown, faults: &mut faults };
    if let Some(config) = provider.config {
        walk.keys(&known.config, config, &at, 0);
    }
    // A provider that is switched off is not made.
    if provider.id.is_some() && !unknown.contains(&at) {
        walk.required(&known.config, provider.config, &at);
        walk.together(&at);
    }
    faults
}

struct Walk<'w, 'a> {
    catalog: &'w Catalog,
    provider: &'w Provider<'a>,
    known: &'w ProviderType,
    unknown: &'w BTreeSet<Path>,
    faults: &'w mut Vec<Fault>,
}

impl Walk<'_, '_> {
    fn keys(&mut self, keys: &IndexMap<String, ConfigKey>, config: &Map<String, Value>, at: &Path, depth: usize) {
        for (name, value) in config {
            let path = at.key(name.as_str());
            // That a value is filled in says nothing about its key.
            let is_filled_in = || value.as_str().is_some_and(|text| placeholder(text).is_some());
            if self.unknown.contains(&path) && (keys.contains_key(name) || !is_filled_in()) {
                continue;
            }
            let Some(key) = keys.get(name) else {
                if !keys.is_empty() && !self.known.open {
                    let fault = self.unknown_key(keys, config, name, path);
                    self.faults.push(fault);
                }
                continue;
            };
            self.key(key, name, value, &path, depth);
        }
    }

    fn key(&mut self, key: &ConfigKey, name: &str, value: &Value, path: &Path, depth: usize) {
        let kind = &self.known.provider_type;
        if key.deprecated {
            let message = format!("will not read \"{name}\" of {kind} much longer. {}", key.description);
            self.faults.push(Fault::warning(Kind::Deprecated, path.clone(), message).on_key());
        }
        if key.secret && value.as_str().is_some_and(is_secret) {
            let message = format!(
                "reads \"{name}\" of {kind} as it stands here, in plain text: write ${{env.NAME}} and set NAME from a Secret"
            );
            self.faults.push(Fault::warning(Kind::PlainSecret, path.clone(), message));
        }
        if let Some(text) = value.as_str().filter(|text| text.contains("${")) {
            self.default(key, name, text, path);
            return;
        }
        if let (KeyKind::Integer | KeyKind::Number, Value::Bool(truth)) = (&key.kind, value) {
            let message = format!("reads \"{name}\" of {kind}, which is {truth}, as {}", u8::from(*truth));
            self.faults.push(Fault::warning(Kind::WrongValue, path.clone(), message));
            return;
        }
        let null = value.is_null() && !key.nullable;
        if let Some(reason) = null.then(|| "must not be null".to_owned()).or_else(|| wrong(key, value)) {
            let message = format!("refuses \"{name}\" of {kind}, which {reason}");
            self.faults.push(Fault::error(Kind::WrongValue, path.clone(), message));
            return;
        }
        if let (KeyKind::Object(inner), Value::Object(entries)) = (&key.kind, value)
            && depth < MAX_DEPTH
        {
            self.keys(inner, entries, path, depth + 1);
            self.required(inner, Some(entries), path);
        }
        if let Some(item) = &key.items {
            for (name, place, value) in held(name, value, path) {
                self.key(item, &name, value, &place, depth + 1);
            }
        }
    }

    /// Keys that need another one beside them, and keys of which one excludes the other.
    fn together(&mut self, at: &Path) {
        let given = |name: &str| environment::is_given(self.provider.config.and_then(|config| config.get(name)));
        for (kind, name, beside) in TOGETHER {
            let applies = self.known.provider_type == kind && self.known.config.contains_key(beside);
            if applies && given(name) && !given(beside) && !self.unknown.contains(&at.key(beside)) {
                let message = format!("needs \"{beside}\" beside \"{name}\" for {kind}, and exits without it");
                self.faults.push(Fault::error(Kind::MissingKey, at.clone(), message));
            }
        }
        for (kind, name, other) in EXCLUSIVE {
            let applies = self.known.provider_type == kind && self.known.config.contains_key(other);
            let known = [name, other].iter().all(|key| !self.unknown.contains(&at.key(*key)));
            if applies && given(name) && given(other) && known {
                let message = format!("refuses \"{name}\" beside \"{other}\" for {kind}: keep one of them");
                self.faults.push(Fault::error(Kind::WrongValue, at.key(other), message).on_key());
            }
        }
    }

    fn default(&mut self, key: &ConfigKey, name: &str, text: &str, path: &Path) {
        let Some((variable, value)) = environment::default_of(text) else { return };
        // Empty means absent, which matters where the key has to be there, unless the same variable switches the provider
        // on.
        if value.is_null() && (!key.required || key.nullable || self.provider.conditional) {
            return;
        }
        let null = value.is_null().then(|| "must not be null".to_owned());
        if let Some(reason) = null.or_else(|| wrong(key, &value)) {
            let kind = &self.known.provider_type;
            let message = format!(
                "does not accept the default of {variable} for \"{name}\" of {kind}, which {reason}: \
                 once it is substituted it is {value}"
            );
            self.faults.push(Fault::warning(Kind::WrongDefault, path.clone(), message));
        }
    }

    fn required(&mut self, keys: &IndexMap<String, ConfigKey>, config: Option<&Map<String, Value>>, at: &Path) {
        let missing = keys.iter().filter(|(name, key)| {
            let given = config.and_then(|config| config.get(*name));
            key.required && given.is_none_or(|value| value.is_null() && !key.nullable)
        });
        for (name, _) in missing {
            // Told as a renamed key, which mends this too.
            let renamed = config.is_some_and(|config| {
                config.keys().any(|old| renamed(self.provider.api, old, keys).is_some_and(|new| new == name))
            });
            if renamed || config.is_some_and(|config| config.get(name).is_some_and(Value::is_null)) {
                continue;
            }
            let message = format!("needs \"{name}\" for {} and exits without it", self.known.provider_type);
            self.faults.push(Fault::error(Kind::MissingKey, at.clone(), message));
        }
    }

    fn unknown_key(
        &self,
        keys: &IndexMap<String, ConfigKey>,
        config: &Map<String, Value>,
        name: &str,
        path: Path,
    ) -> Fault {
        let kind = &self.known.provider_type;
        // A provider that is switched off is not made.
        let is_made = self.provider.id.is_some();
        let rename = |to: &str, preferred| Fix {
            title: format!("Rename to \"{to}\""),
            edits: vec![FixEdit::RenameKey { path: path.clone(), to: to.to_owned() }],
            preferred,
        };
        if let Some(new) = renamed(self.provider.api, name, keys) {
            let fix = (!config.contains_key(new)).then(|| rename(new, true));
            let is_missing = is_made && fix.is_some() && keys.get(new).is_some_and(|key| key.required);
            let fault = if is_missing {
                let message = format!("ignores \"{name}\" of {kind} and exits: the key is \"{new}\"");
                Fault::error(Kind::RenamedKey, path, message)
            } else {
                Fault::warning(Kind::RenamedKey, path, format!("ignores \"{name}\" of {kind}: the key is \"{new}\""))
            };
            return fault.on_key().with(fix);
        }
        if let Some(near) = nearest(name, keys.keys().map(String::as_str)) {
            let message = format!("does not read \"{name}\" of {kind}, it ignores the key. Did you mean \"{near}\"?");
            let fix = (!config.contains_key(near)).then(|| rename(near, true));
            return Fault::warning(Kind::UnknownKey, path, message).on_key().with(fix);
        }
        let known = keys.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
        let message = format!("does not read \"{name}\" of {kind}, it ignores the key. Known: {known}");
        debug_assert!(self.catalog.provider(self.provider.api, kind).is_some());
        Fault::warning(Kind::UnknownKey, path, message).on_key()
    }
}

/// The key that has taken the place of another one, where the version has the new one.
///
/// Source: the catalogs side by side, and the release notes of 0.4, 0.6 and ogx 1.0.
pub(super) fn renamed<'k>(api: &str, name: &str, keys: &'k IndexMap<String, ConfigKey>) -> Option<&'k str> {
    let candidates: &[&str] = match (api, name) {
        ("inference", "url" | "api_base" | "openai_compat_api_base" | "base_url" | "endpoint") => &["base_url", "url"],
        ("inference", "auth_credential" | "api_key" | "api_token") => &["access_token", "api_key", "api_token"],
        ("batches", "kvstore") => &["sqlstore"],
        (_, "kvstore" | "metadata_store") => &["persistence"],
        _ => &[],
    };
    let name = candidates.iter().find(|new| **new != name && keys.contains_key(**new))?;
    keys.get_key_value(*name).map(|(name, _)| name.as_str())
}

fn duplicates(providers: &[Provider<'_>], faults: &mut Vec<Fault>) {
    let mut seen = HashSet::new();
    for provider in providers {
        let Some(id) = provider.id else { continue };
        if !seen.insert((provider.api, id)) && !provider.conditional {
            let message = format!(
                "takes the last of the providers with id \"{id}\" in API {} and forgets the others",
                provider.api
            );
            faults.push(Fault::warning(Kind::Duplicate, provider.path().key("provider_id"), message));
        }
    }
}
