//! What the sections of a config say of each other: names that lead nowhere, APIs without what they need.

use super::environment::is_given;
use super::fault::{Fault, Kind};
use super::providers::{Provider, active_id};
use super::schema::replace;
use super::trail::Trail;
use super::versions;
use crate::catalog::Catalog;
use crate::nearest::nearest;
use crate::path::Path;
use serde_json::{Map, Value};
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// The lists of `registered_resources` and the API whose providers they name.
pub(super) const TABLES: [(&str, &str); 7] = [
    ("models", "inference"),
    ("shields", "safety"),
    ("vector_stores", "vector_io"),
    ("datasets", "datasetio"),
    ("scoring_fns", "scoring"),
    ("benchmarks", "eval"),
    ("tool_groups", "tool_runtime"),
];

/// A config, and what a version makes of its providers.
pub(super) struct Sections<'a> {
    pub(super) config: &'a Value,
    pub(super) catalog: &'static Catalog,
    pub(super) providers: &'a [Provider<'a>],
    pub(super) unknown: &'a BTreeSet<Path>,
    /// API and id of each provider that is switched on: looked up for every registered resource.
    pub(super) declared: HashSet<(&'a str, &'a str)>,
    /// The version that reads the config.
    pub(super) version: &'a str,
}

impl<'a> Sections<'a> {
    /// Checks everything that needs more than one section.
    pub(super) fn check(&self, faults: &mut Vec<Fault>) {
        self.name(faults);
        self.served(faults);
        self.registered(faults);
        self.models_twice(faults);
        self.default_models(faults);
        self.storage(faults);
        self.server(faults);
    }

    fn get(&self, path: &str) -> Option<&'a Value> {
        Path::parse(path).find(self.config)
    }

    fn is_known(&self, path: &Path) -> bool {
        !self.unknown.iter().any(|unknown| path.starts_with(unknown))
    }

    /// Whether all of an item of the list at `path` is known.
    fn is_untouched(&self, path: &Path, position: usize) -> bool {
        let all = || {
            let place = path.index(position);
            self.is_known(&place) && !self.unknown.iter().any(|unknown| unknown.starts_with(&place))
        };
        self.unknown.is_empty() || all()
    }

    /// Whether all providers of an API can be told. Not where a template or a variable decides.
    fn knows_providers(&self, api: &str) -> bool {
        let path = Path::root().key("providers").key(api);
        !self.unknown.iter().any(|unknown| unknown.starts_with(&path) || path.starts_with(unknown))
            && self.of(api).all(|provider| provider.id.is_some() || provider.switched_off)
    }

    fn of(&self, api: &str) -> impl Iterator<Item = &Provider<'a>> {
        self.providers.iter().filter(move |provider| provider.api == api)
    }

    fn ids(&self, api: &str) -> impl Iterator<Item = &'a str> {
        self.of(api).filter_map(|provider| provider.id)
    }

    /// APIs that are listed, each with its place. `None`: the list is absent, empty or not known, so that all are
    /// served that have providers.
    fn listed(&self) -> Option<Vec<(usize, &'a str)>> {
        let list = self.get("apis").and_then(Value::as_array).filter(|list| !list.is_empty())?;
        let place = Path::parse("apis");
        if !self.is_known(&place) || self.unknown.iter().any(|unknown| unknown.starts_with(&place)) {
            return None;
        }
        Some(list.iter().enumerate().filter_map(|(position, api)| Some((position, api.as_str()?))).collect())
    }

    fn served(&self, faults: &mut Vec<Fault>) {
        let Some(listed) = self.listed() else { return self.default_shield(&|_| true, faults) };
        let serves = |api: &str| listed.iter().any(|(_, one)| *one == api);
        self.default_shield(&serves, faults);
        let routed = |api: &str| self.catalog.resource_api(api).is_some();
        for (position, api) in &listed {
            let place = Path::parse("apis").index(*position);
            if !self.is_known(&place) || self.ids(api).next().is_some() {
                continue;
            }
            if *api == "connectors" && !versions::serves_connectors(self.version) {
                let message = "knows the API \"connectors\" by its name only, and exits";
                faults.push(Fault::error(Kind::ApiMismatch, place, message));
            } else if let Some(router) = self.catalog.apis().find(|one| self.catalog.resource_api(one) == Some(*api)) {
                if !serves(router) {
                    let message = format!("serves \"{api}\" only together with \"{router}\", and exits without it");
                    faults.push(Fault::error(Kind::ApiMismatch, place, message));
                }
            } else if self.catalog.apis().any(|one| one == *api) && self.knows_providers(api) {
                let message = match (routed(api), versions::warns_of_empty_apis(self.version)) {
                    (true, _) => format!("serves API \"{api}\" without a provider, so that it answers no request"),
                    (false, true) => format!("does not serve API \"{api}\", which has no provider"),
                    (false, false) => format!("exits: API \"{api}\" is listed and has no provider"),
                };
                faults.push(if routed(api) || versions::warns_of_empty_apis(self.version) {
                    Fault::warning(Kind::ApiMismatch, place, message)
                } else {
                    Fault::error(Kind::ApiMismatch, place, message)
                });
            }
        }
        let told: BTreeSet<&str> = self.providers.iter().map(|provider| provider.api).collect();
        for api in told.into_iter().filter(|api| self.catalog.apis().any(|one| one == *api) && !serves(api)) {
            let path = Path::root().key("providers").key(api);
            if self.ids(api).next().is_some() && self.is_known(&path) {
                let message =
                    format!("makes the providers of \"{api}\" and serves them to nobody: the API is not in apis");
                faults.push(Fault::warning(Kind::ApiMismatch, path, message).on_key());
            }
        }
        self.dependencies(&serves, faults);
    }

    fn dependencies(&self, serves: &dyn Fn(&str) -> bool, faults: &mut Vec<Fault>) {
        let internal: BTreeSet<&str> = self.catalog.internal_apis().collect();
        let available = |api: &str| {
            let router = self.catalog.apis().find(|one| self.catalog.resource_api(one) == Some(api)).unwrap_or(api);
            internal.contains(api)
                || if self.catalog.resource_api(router).is_some() {
                    serves(router)
                } else {
                    self.ids(router).next().is_some() || !self.knows_providers(router)
                }
        };
        for provider in self.providers {
            let (Some(known), Some(id)) = (provider.known, provider.id) else { continue };
            let missing: Vec<&str> = known.requires.iter().map(String::as_str).filter(|api| !available(api)).collect();
            if !missing.is_empty() && self.is_known(&provider.path()) {
                let list = missing.join(", ");
                let message = format!("exits: provider \"{id}\" ({}) needs API {list}", known.provider_type);
                faults.push(Fault::error(Kind::ApiMismatch, provider.path().key("provider_type"), message));
            }
        }
    }

    fn registered(&self, faults: &mut Vec<Fault>) {
        for (table, api) in TABLES {
            let path = Path::parse("registered_resources").key(table);
            let entries = path.find(self.config).and_then(Value::as_array);
            if !self.catalog.apis().any(|one| one == api) {
                continue;
            }
            if table == "tool_groups" && versions::drops_tool_groups(self.version) {
                if entries.is_some_and(|entries| !entries.is_empty()) {
                    let message = "ignores \"tool_groups\": it makes tool groups of the providers of tool_runtime";
                    faults.push(Fault::warning(Kind::UnknownKey, path, message).on_key());
                }
                continue;
            }
            for (position, entry) in entries.into_iter().flatten().enumerate() {
                if self.is_untouched(&path, position) {
                    self.entry(table, api, entry, Trail::Index(&Trail::Start(&path), position), faults);
                }
            }
        }
    }

    fn name(&self, faults: &mut Vec<Fault>) {
        let given = |name: &&str| self.get(name).is_some_and(|value| !value.is_null());
        let root = Path::root();
        let open = ["distro_name", "image_name"].iter().any(|name| !self.is_known(&root.key(*name)));
        if versions::has_distro_name(self.version) && !open && !["distro_name", "image_name"].iter().any(given) {
            faults.push(Fault::error(Kind::MissingKey, root, "needs \"distro_name\""));
        }
    }

    /// The shield that requests are checked with where they name none.
    fn default_shield(&self, serves: &dyn Fn(&str) -> bool, faults: &mut Vec<Fault>) {
        let place = Path::parse("safety.default_shield_id");
        let id = place.find(self.config).and_then(Value::as_str).filter(|id| !id.is_empty() && !id.contains("${"));
        let Some(id) = id.filter(|_| self.is_known(&place) && self.catalog.apis().any(|api| api == "safety")) else {
            return;
        };
        if !serves("safety") {
            let message = format!("exits: API \"safety\" is not served, and \"{id}\" is the default shield");
            faults.push(Fault::error(Kind::ApiMismatch, place, message));
            return;
        }
        let shields = Path::parse("registered_resources.shields");
        let entries = shields.find(self.config).and_then(Value::as_array);
        let skips = versions::skips_entries(self.version);
        let entries = entries.into_iter().flatten().filter(|entry| !skips || !entry["shield_id"].is_null());
        let known =
            |entry: &Value| entry.get("shield_id").and_then(Value::as_str).and_then(active_id).map(str::to_owned);
        let ids: Option<Vec<String>> = entries.map(known).collect();
        let open = self.unknown.iter().any(|unknown| unknown.starts_with(&shields) || shields.starts_with(unknown));
        if let Some(ids) = ids.filter(|ids| !open && !ids.is_empty() && !ids.iter().any(|known| known == id)) {
            let fix = nearest(id, ids.iter().map(String::as_str)).map(|near| replace(&place, near));
            let message = format!("exits: no shield has the id \"{id}\"; there are {}", ids.join(", "));
            faults.push(Fault::error(Kind::DanglingName, place, message).with(fix));
        }
    }

    /// Models that are registered twice under the name that clients see, with different fields.
    fn models_twice(&self, faults: &mut Vec<Fault>) {
        let path = Path::parse("registered_resources.models");
        let mut seen: HashMap<String, (usize, [Option<&Value>; 2], &str)> = HashMap::new();
        for (position, entry) in path.find(self.config).and_then(Value::as_array).into_iter().flatten().enumerate() {
            let text = |field: &str| entry.get(field).and_then(Value::as_str).filter(|text| !text.contains("${"));
            let (Some(provider), Some(model)) = (text("provider_id").and_then(active_id), text("model_id")) else {
                continue;
            };
            if !self.is_untouched(&path, position) {
                continue;
            }
            let theirs = text("provider_model_id").unwrap_or(model);
            let name = match (versions::is_ogx(self.version), provider) {
                (true, "all") => model.to_owned(),
                (true, _) => format!("{provider}/{model}"),
                (false, _) => format!("{provider}/{theirs}"),
            };
            let field = |field: &str, is_usual: &dyn Fn(&Value) -> bool| {
                entry.get(field).filter(|value| !value.is_null() && !is_usual(value))
            };
            let upstream = if versions::is_ogx(self.version) { theirs } else { "" };
            let is_empty = |value: &Value| value.as_object().is_some_and(Map::is_empty);
            let fields = [field("model_type", &|value| value == "llm"), field("metadata", &is_empty)];
            match seen.entry(name) {
                Entry::Occupied(known) => {
                    let (first, others, other_upstream) = known.get();
                    if *others != fields || *other_upstream != upstream {
                        let message = format!("exits: models[{first}] registers \"{}\" with other fields", known.key());
                        faults.push(Fault::error(Kind::Duplicate, path.index(position), message));
                    }
                }
                Entry::Vacant(free) => _ = free.insert((position, fields, upstream)),
            }
        }
    }

    /// The models that vector stores use where a request names none.
    fn default_models(&self, faults: &mut Vec<Fault>) {
        for field in ["default_embedding_model", "default_reranker_model"] {
            let place = Path::parse("vector_stores").key(field).key("provider_id");
            if let Some(id) = place.find(self.config).and_then(Value::as_str).and_then(active_id)
                && self.is_known(&place)
            {
                self.provider("inference", id, Trail::Start(&place), faults);
            }
        }
    }

    fn entry(&self, table: &str, api: &str, entry: &Value, place: Trail<'_>, faults: &mut Vec<Fault>) {
        match entry.get("provider_id") {
            None | Some(Value::Null) if table != "tool_groups" && self.ids(api).count() != 1 => {
                let one = table.strip_suffix('s').unwrap_or(table).replace('_', " ");
                let message = format!("skips a {one} without provider_id, in silence");
                faults.push(Fault::warning(Kind::DanglingName, place.path(), message));
            }
            Some(Value::String(written)) => {
                if let Some(id) = active_id(written) {
                    self.provider(api, id, Trail::Key(&place, "provider_id"), faults);
                }
            }
            _ => {}
        }
        let kind = entry.get("model_type").and_then(Value::as_str);
        let dimension = entry.get("metadata").and_then(|metadata| metadata.get("embedding_dimension"));
        if table == "models" && kind == Some("embedding") && dimension.is_none() {
            let message = "exits: an embedding model needs metadata.embedding_dimension";
            faults.push(Fault::error(Kind::MissingKey, place.path(), message));
        }
    }

    fn provider(&self, api: &str, id: &str, place: Trail<'_>, faults: &mut Vec<Fault>) {
        // ogx registers such a model at the first provider that there is.
        if versions::is_ogx(self.version) && id == "all"
            || self.declared.contains(&(api, id))
            || !self.knows_providers(api)
        {
            return;
        }
        let place = place.path();
        let known: Vec<&str> = self.ids(api).collect::<BTreeSet<_>>().into_iter().collect();
        let have = if known.is_empty() { "it has none".to_owned() } else { format!("it has {}", known.join(", ")) };
        let fix = nearest(id, known.iter().copied()).map(|near| replace(&place, near));
        let message = format!("exits: no provider of {api} has the id \"{id}\"; {have}");
        faults.push(Fault::error(Kind::DanglingName, place, message).with(fix));
    }

    fn storage(&self, faults: &mut Vec<Fault>) {
        let backends = self.get("storage.backends").and_then(Value::as_object);
        if !self.is_known(&Path::parse("storage.backends")) {
            return;
        }
        let mut kinds: BTreeMap<&str, Option<&str>> = BTreeMap::new();
        for (name, backend) in backends.into_iter().flatten() {
            let place = Path::parse("storage.backends").key(name.as_str()).key("type");
            let kind = backend.get("type").and_then(Value::as_str);
            let kind = kind.filter(|kind| !kind.contains("${") && self.is_known(&place));
            if kind.is_some_and(|kind| kind.ends_with("_postgres")) && versions::has_connection_strings(self.version) {
                self.postgres(backend, &Path::parse("storage.backends").key(name.as_str()), faults);
            }
            kinds.insert(name, kind);
        }
        if backends.is_none() {
            kinds.extend([("kv_default", Some("kv_sqlite")), ("sql_default", Some("sql_sqlite"))]);
        }
        for store in ["metadata", "inference", "conversations", "prompts", "connectors"] {
            let place = Path::parse("storage.stores").key(store);
            let missing = !versions::skips_entries(self.version)
                && !matches!(store, "prompts" | "connectors")
                && self.get("storage").is_some_and(Value::is_object)
                && self.is_known(&place)
                && place.find(self.config).is_none();
            if missing {
                let message = format!("exits: storage.stores.{store} is missing");
                faults.push(Fault::error(Kind::MissingKey, Path::parse("storage.stores"), message));
            } else if place.find(self.config).is_some_and(Value::is_null)
                && (store != "connectors" || versions::serves_connectors(self.version))
            {
                let message = format!("exits: the store \"{store}\" must not be null; leave it out for its default");
                faults.push(Fault::error(Kind::MissingKey, place, message));
            }
        }
        for section in ["storage.stores", "providers", "server"] {
            let path = Path::parse(section);
            if let Some(value) = path.find(self.config) {
                self.backend_names(value, Trail::Start(&path), &kinds, faults);
            }
        }
        self.shared_files(faults);
    }

    /// A backend is reached by an address in one piece, or by its pieces.
    fn postgres(&self, backend: &Value, at: &Path, faults: &mut Vec<Fault>) {
        let given = |key: &str| is_given(backend.get(key));
        if !self.is_known(at) || self.unknown.iter().any(|unknown| unknown.starts_with(at)) {
            return;
        }
        if !given("connection_string") && !given("user") {
            let message = "exits: needs \"connection_string\" or \"user\" for PostgreSQL";
            faults.push(Fault::error(Kind::MissingKey, at.clone(), message));
        }
        // Even null counts as set.
        let pieces = ["host", "port", "db", "user", "password"].into_iter().filter(|key| backend.get(key).is_some());
        for piece in pieces.filter(|_| given("connection_string")) {
            let message = format!("exits: \"{piece}\" excludes \"connection_string\"; keep one of them");
            faults.push(Fault::error(Kind::WrongValue, at.key(piece), message).on_key());
        }
    }

    /// References to backends: a mapping with `backend` and either `namespace` or `table_name`.
    fn backend_names(
        &self,
        value: &Value,
        at: Trail<'_>,
        kinds: &BTreeMap<&str, Option<&str>>,
        faults: &mut Vec<Fault>,
    ) {
        match value {
            Value::Object(entries) => {
                let family = match () {
                    () if entries.contains_key("table_name") => Some("sql"),
                    () if entries.contains_key("namespace") => Some("kv"),
                    () => None,
                };
                let named = entries.get("backend").and_then(Value::as_str).filter(|name| !name.contains("${"));
                if let (Some(family), Some(name)) = (family, named) {
                    self.backend(family, name, Trail::Key(&at, "backend"), kinds, faults);
                }
                for (name, value) in entries {
                    self.backend_names(value, Trail::Key(&at, name), kinds, faults);
                }
            }
            Value::Array(items) => {
                for (position, item) in items.iter().enumerate() {
                    self.backend_names(item, Trail::Index(&at, position), kinds, faults);
                }
            }
            _ => {}
        }
    }

    fn backend(
        &self,
        family: &str,
        name: &str,
        place: Trail<'_>,
        kinds: &BTreeMap<&str, Option<&str>>,
        faults: &mut Vec<Fault>,
    ) {
        let fitting = |kind: &Option<&str>| kind.is_none_or(|kind| kind.starts_with(family));
        if kinds.get(name).is_some_and(fitting) {
            return;
        }
        let place = place.path();
        if !self.is_known(&place) {
            return;
        }
        let known: Vec<&str> = kinds.iter().filter(|(_, kind)| fitting(kind)).map(|(name, _)| *name).collect();
        let message = match kinds.get(name) {
            Some(kind) => format!(
                "exits: this wants a backend of type {family}_…, and \"{name}\" is {}",
                kind.unwrap_or_default()
            ),
            None if known.is_empty() => format!("exits: storage.backends has no \"{name}\""),
            None => format!("exits: storage.backends has no \"{name}\"; of this kind it has {}", known.join(", ")),
        };
        let fix = nearest(name, known.iter().copied()).or(match known.as_slice() {
            [only] => Some(*only),
            _ => None,
        });
        let fix = fix.map(|near| replace(&place, near));
        faults.push(Fault::error(Kind::DanglingName, place, message).with(fix));
    }

    /// SQLite files that two backends open.
    fn shared_files(&self, faults: &mut Vec<Fault>) {
        let mut files: BTreeMap<&str, &str> = BTreeMap::new();
        for (name, backend) in self.get("storage.backends").and_then(Value::as_object).into_iter().flatten() {
            let Some(file) = backend.get("db_path").and_then(Value::as_str) else { continue };
            let place = Path::parse("storage.backends").key(name.as_str()).key("db_path");
            if let Some(other) = files.insert(file, name)
                && self.is_known(&place)
            {
                let message = format!("opens one file for \"{other}\" and for \"{name}\": each needs its own");
                faults.push(Fault::warning(Kind::SharedStorage, place, message));
            }
        }
    }

    fn server(&self, faults: &mut Vec<Fault>) {
        let file = |key: &str| self.get("server").and_then(|server| server.get(key)).filter(|value| !value.is_null());
        let pair = ["tls_certfile", "tls_keyfile"];
        if !self.is_known(&Path::parse("server")) {
            return;
        }
        for (given, absent) in [(pair[0], pair[1]), (pair[1], pair[0])] {
            if file(given).is_some() && file(absent).is_none() {
                let place = Path::parse("server").key(given);
                let does = if versions::exits_without_tls(self.version) && file("insecure") != Some(&Value::Bool(true))
                {
                    "exits, or serves plain HTTP where it is started with --insecure"
                } else {
                    "serves plain HTTP, in silence"
                };
                let message = format!("{does}: \"{given}\" needs \"{absent}\" beside it");
                faults.push(Fault::error(Kind::MissingKey, place, message).on_key());
            }
        }
    }
}
