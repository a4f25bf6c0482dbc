//! What the resource has to say to get a given config.

use super::config;
use super::environment::{Source, Variables};
use super::meaning::{Meaning, meaning, shown_name};
use super::provider::{self, Folded};
use crate::api::v1alpha2::{API_NAMES, PROVIDER_FIELDS};
use crate::catalog::Catalog;
use crate::path::Path;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// The order in which a resource is read best.
const ORDER: [&str; 9] = [
    "distribution",
    "providers",
    "resources",
    "storage",
    "disabled",
    "networking",
    "workload",
    "externalProviders",
    "overrideConfig",
];

/// Fields to put into a resource.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Attempt {
    /// The folded providers by field of `spec.providers`, each list in the order of the config.
    providers: Vec<(&'static str, Vec<Folded>)>,
    models: Vec<Value>,
    tools: Vec<Value>,
    shields: Vec<Value>,
    kv: Option<Value>,
    disabled: Vec<String>,
    /// Variables whose values are elsewhere than in providers, with the places that have them.
    taken: Vec<(String, Path)>,
    /// Whether the hand-written config goes.
    replaces_override: bool,
}

impl Attempt {
    /// Whether there is nothing to put in.
    pub(super) fn is_empty(&self) -> bool {
        self.providers.is_empty()
            && self.models.is_empty()
            && self.tools.is_empty()
            && self.shields.is_empty()
            && self.kv.is_none()
            && self.disabled.is_empty()
    }

    /// Whether a hand-written config goes.
    pub(super) fn replaces_override(&self) -> bool {
        self.replaces_override
    }

    /// Disables one API less: the one at this place of the resource. False if it is not the place of one.
    pub(super) fn enable(&mut self, place: &Path) -> bool {
        let at = Path::parse("spec.disabled");
        let position = (0..self.disabled.len()).find(|position| place.starts_with(&at.index(*position)));
        position.map(|position| self.disabled.remove(position)).is_some()
    }

    /// The providers, each with the field and its number there.
    pub(super) fn parts(&self) -> impl Iterator<Item = (&'static str, usize)> + '_ {
        self.providers.iter().flat_map(|(field, list)| (0..list.len()).map(move |position| (*field, position)))
    }

    /// The same with some of the providers alone.
    pub(super) fn only(&self, wanted: &[(&'static str, usize)]) -> Self {
        let lists = self.providers.iter().map(|(field, list)| {
            let kept = list.iter().enumerate().filter(|(position, _)| wanted.contains(&(*field, *position)));
            (*field, kept.map(|(_, folded)| folded.clone()).collect::<Vec<_>>())
        });
        Self { providers: lists.filter(|(_, list)| !list.is_empty()).collect(), ..self.clone() }
    }

    /// The variables whose values are in the resource, with the places that have them.
    pub(super) fn taken(&self) -> impl Iterator<Item = (&str, Path)> {
        let mut found: Vec<(&str, Path)> = Vec::new();
        for (field, list) in &self.providers {
            for (position, folded) in list.iter().enumerate() {
                for (name, part) in &folded.taken {
                    let place = provider::place(field, position, part);
                    match found.iter_mut().find(|(other, _)| other == name) {
                        // The place of the value says more than the provider that the variable switched on.
                        Some((_, known)) if place.starts_with(known) => *known = place,
                        Some(_) => {}
                        None => found.push((name, place)),
                    }
                }
            }
        }
        for (name, place) in &self.taken {
            if !found.iter().any(|(other, _)| other == name) {
                found.push((name, place.clone()));
            }
        }
        found.into_iter()
    }

    /// Adds the fields to a v1alpha2 resource.
    pub(super) fn put_into(&self, object: &mut Value) {
        let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut) else { return };
        if self.replaces_override {
            spec.shift_remove("overrideConfig");
        }
        let mut providers = Map::new();
        for (field, list) in &self.providers {
            let implicit = list.len() == 1;
            let list = list.iter().map(|folded| {
                let mut fields = folded.value.clone();
                if implicit && folded.has_implicit_id() {
                    fields.shift_remove("id");
                }
                Value::Object(fields)
            });
            providers.insert((*field).to_owned(), list.collect());
        }
        let lists = [("models", &self.models), ("tools", &self.tools), ("shields", &self.shields)];
        let resources: Map<String, Value> = lists
            .into_iter()
            .filter(|(_, list)| !list.is_empty())
            .map(|(name, list)| (name.to_owned(), Value::Array(list.clone())))
            .collect();
        for (name, fields) in [("providers", providers), ("resources", resources)] {
            if !fields.is_empty() {
                spec.insert(name.to_owned(), Value::Object(fields));
            }
        }
        if let Some(kv) = &self.kv {
            spec.insert("storage".to_owned(), json!({"kv": kv}));
        }
        if !self.disabled.is_empty() {
            spec.insert("disabled".to_owned(), json!(self.disabled));
        }
        order(object);
    }
}

/// Puts the fields of `spec` into the order in which they are read best.
pub(super) fn order(object: &mut Value) {
    let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut) else { return };
    let mut rest = std::mem::take(spec);
    for name in ORDER {
        if let Some(value) = rest.shift_remove(name) {
            spec.insert(name.to_owned(), value);
        }
    }
    spec.extend(rest);
}

/// Puts a list in place of the container's variables; without any, the list goes, and what only held it.
pub(super) fn set_env(object: &mut Value, list: Vec<Value>) {
    let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut) else { return };
    let Some(workload) = spec.get_mut("workload").and_then(Value::as_object_mut) else { return };
    let Some(overrides) = workload.get_mut("overrides").and_then(Value::as_object_mut) else { return };
    if !list.is_empty() {
        overrides.insert("env".to_owned(), Value::Array(list));
        return;
    }
    overrides.shift_remove("env");
    if overrides.is_empty() {
        workload.shift_remove("overrides");
    }
    if workload.is_empty() {
        spec.shift_remove("workload");
    }
}

/// The providers that variables of the resource switch on or set, out of those of the base config. A provider of which a
/// variable has to stay is left alone as a whole.
pub(super) fn from_env(base: &Value, variables: &Variables, catalog: Option<&Catalog>) -> Attempt {
    let mut attempt = Attempt::default();
    for (api, field) in PROVIDER_FIELDS.into_iter().filter(|(api, _)| serves(base, api)) {
        let is_set = |name: &String| matches!(variables.free.get(name), Some(Source::Text(_) | Source::Secret { .. }));
        let touched = entries(base, "providers", api).iter().filter(|entry| {
            let names = config::variables(entry);
            names.iter().any(is_set) && !names.iter().any(|name| variables.bound.contains_key(name))
        });
        let list: Vec<Folded> = touched
            .filter_map(|entry| provider::fold(api, entry, variables, catalog))
            .filter(|folded| !folded.taken.is_empty())
            .collect();
        if !list.is_empty() {
            attempt.providers.push((field, list));
        }
    }
    attempt
}

/// What turns the base config into a hand-written one, as far as the resource can say it.
pub(super) fn from_config(theirs: &Value, base: &Value, variables: &Variables, catalog: Option<&Catalog>) -> Attempt {
    let mut attempt = Attempt { replaces_override: true, ..Attempt::default() };
    let (wanted, given) = (meaning(theirs, &variables.all, catalog), meaning(base, &variables.all, catalog));
    let is_set = |entry: &Value| config::variables(entry).iter().any(|name| variables.all.contains_key(name));
    let named: BTreeSet<String> = registered(theirs, "models")
        .iter()
        .filter(|entry| is_new(&wanted, &given, "models", &identity(entry, "model_id", variables)))
        .map(|entry| identity(entry, "provider_id", variables))
        .collect();
    for (api, field) in PROVIDER_FIELDS.into_iter().filter(|(api, _)| serves(theirs, api)) {
        let list: Vec<Folded> = entries(theirs, "providers", api)
            .iter()
            .filter_map(|entry| Some((entry, provider::fold(api, entry, variables, catalog)?)))
            .filter(|(entry, folded)| {
                let id = folded.value.get("id").and_then(Value::as_str).unwrap_or_default();
                let name = format!("providers.{api}[{id}]");
                // what variables of the resource make of it, or a model asks for, is seen in the resource too
                wanted.of(&name).is_none()
                    || wanted.of(&name) != given.of(&name)
                    || is_set(entry)
                    || api == "inference" && named.contains(id)
            })
            .map(|(_, folded)| folded)
            .collect();
        if !list.is_empty() {
            attempt.providers.push((field, list));
        }
    }
    let first_inference = attempt.providers.iter().find(|(field, _)| *field == "inference");
    let first_inference = first_inference.and_then(|(_, list)| list.first()?.value.get("id").cloned());
    for (kind, key) in [("models", "model_id"), ("tool_groups", "toolgroup_id"), ("shields", "shield_id")] {
        for written in registered(theirs, kind) {
            if !is_new(&wanted, &given, kind, &identity(written, key, variables)) {
                continue;
            }
            // what is not known before the server starts is left for it to fill in
            let entry = config::known(written, &variables.free).unwrap_or_else(|| written.clone());
            let Some(id) = entry.get(key).and_then(Value::as_str) else { continue };
            let (list, place, value) = match kind {
                "models" => (&mut attempt.models, "models", model(&entry, id, first_inference.as_ref())),
                "shields" => (&mut attempt.shields, "shields", json!(id)),
                _ => (&mut attempt.tools, "tools", json!(id.strip_prefix("builtin::").unwrap_or(id))),
            };
            let place = Path::parse("spec.resources").key(place).index(list.len());
            list.push(value);
            attempt.taken.extend(config::variables(written).into_iter().map(|name| (name, place.clone())));
        }
    }
    attempt.kv = redis(theirs, variables);
    if theirs.get("apis").is_some_and(Value::is_array) {
        let apis = base.get("apis").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        attempt.disabled =
            apis.filter(|api| !serves(theirs, api) && API_NAMES.contains(api)).map(str::to_owned).collect();
    }
    attempt
}

/// The name of an entry, as [`meaning`] knows it.
fn identity(entry: &Value, key: &str, variables: &Variables) -> String {
    let value = entry.get(key).unwrap_or(&Value::Null);
    shown_name(&config::effective(value, &variables.all))
}

/// Whether the base does not register a thing as it is wanted. What the server would not read where it stands is wanted
/// too.
fn is_new(wanted: &Meaning, given: &Meaning, kind: &str, id: &str) -> bool {
    let name = format!("registered_resources.{kind}[{id}]");
    wanted.of(&name).is_none() || wanted.of(&name) != given.of(&name)
}

/// Whether a config serves an API; without a list of APIs it serves those that have providers.
fn serves(config: &Value, api: &str) -> bool {
    match config.get("apis").and_then(Value::as_array) {
        Some(apis) => apis.iter().any(|name| name == api),
        None => config.get("providers").is_some_and(|lists| lists.get(api).is_some()),
    }
}

/// The registered resources of a kind. Older versions had the lists at the top, where the server no longer reads them:
/// a config that has them only there means them.
fn registered<'c>(config: &'c Value, kind: &str) -> &'c [Value] {
    match config.get("registered_resources") {
        Some(_) => entries(config, "registered_resources", kind),
        None => config.get(kind).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default(),
    }
}

fn entries<'c>(config: &'c Value, section: &str, name: &str) -> &'c [Value] {
    let list = config.get(section).and_then(|section| section.get(name)?.as_array());
    list.map(Vec::as_slice).unwrap_or_default()
}

fn model(entry: &Value, name: &str, first_provider: Option<&Value>) -> Value {
    let mut model = Map::from_iter([("name".to_owned(), json!(name))]);
    let mut put = |field: &str, value: Option<&Value>| {
        if let Some(value) = value.filter(|value| !value.is_null()) {
            model.insert(field.to_owned(), value.clone());
        }
    };
    put("provider", entry.get("provider_id").filter(|id| Some(*id) != first_provider));
    let metadata = |key: &str| entry.get("metadata").and_then(|metadata| metadata.get(key));
    put("contextLength", metadata("context_length"));
    put("modelType", entry.get("model_type").filter(|kind| *kind != "llm"));
    put("quantization", metadata("quantization"));
    Value::Object(model)
}

/// A Redis without password as the key-value store. Postgres is not folded: the resource takes its address as one
/// Secret, which does not exist yet.
fn redis(config: &Value, variables: &Variables) -> Option<Value> {
    let backend = config::known(Path::parse("storage.backends.kv_default").find(config)?, &variables.free)?;
    if backend.get("type")?.as_str()? != "kv_redis" {
        return None;
    }
    let host = backend.get("host")?.as_str().filter(|host| !host.contains(['@', '$', ' ']))?;
    let port = match backend.get("port") {
        Some(Value::Number(port)) => port.to_string(),
        Some(Value::String(port)) => port.clone(),
        _ => return Some(json!({"type": "redis", "endpoint": host})),
    };
    Some(json!({"type": "redis", "endpoint": format!("{host}:{port}")}))
}
